//! Building a linear layout bit by bit: a tile, its repetition, its clipping, and the blocks of a
//! cluster on top.

use super::few::Few;
use super::{Cga, EncodingError, EncodingField, MAX_RANK};
use crate::axis::AxisId;
use crate::linear::{Dims, Hw, Linear, Logical, MAX_BITS};

/// One input bit: which input dimension it belongs to, and where it goes in each logical dimension.
#[derive(Clone, Copy, Default)]
pub(super) struct BaseVector {
    /// One of the four below, as a word: without padding a list of these is cleared where it lies.
    pub(super) input: u32,
    pub(super) at: [u32; MAX_RANK],
}

/// Input dimensions of a register encoding.
pub(super) const REGISTER: u8 = 0;
/// See [`REGISTER`].
pub(super) const LANE: u8 = 1;
/// See [`REGISTER`].
pub(super) const WARP: u8 = 2;
/// See [`REGISTER`].
pub(super) const BLOCK: u8 = 3;

/// The labels of a register encoding's input dimensions.
pub(super) const DISTRIBUTED: [AxisId; 4] =
    [AxisId::REGISTER, AxisId::LANE, AxisId::WARP, AxisId::BLOCK];
/// The labels of a shared encoding's input dimensions; `block` keeps its number.
pub(super) const SHARED: [AxisId; 4] = [AxisId::M, AxisId::M, AxisId::M, AxisId::BLOCK];
/// Those of tensor memory: rows, columns.
pub(super) const TENSOR: [AxisId; 4] = [AxisId::TLANE, AxisId::TCOL, AxisId::TCOL, AxisId::BLOCK];

/// A shape as powers of two.
#[derive(Clone, Copy)]
pub(super) struct ShapeBits {
    pub(super) of: [u8; MAX_RANK],
    pub(super) rank: u8,
}

impl ShapeBits {
    pub(super) fn new(shape: &[u32]) -> Result<Self, EncodingError> {
        let mut of = [0u8; MAX_RANK];
        let rank = u8::try_from(shape.len()).unwrap_or(u8::MAX);
        if shape.len() > MAX_RANK {
            let expected = MAX_RANK as u8;
            return Err(EncodingError::Rank { field: EncodingField::Shape, expected, found: rank });
        }
        for (k, (slot, value)) in of.iter_mut().zip(shape).enumerate() {
            *slot = log2(EncodingField::Shape, k, *value)?;
        }
        Ok(Self { of, rank })
    }

    pub(super) fn get(&self, dim: usize) -> u8 {
        self.of.get(dim).copied().unwrap_or(0)
    }

    pub(super) fn set(&mut self, dim: usize, bits: u8) {
        if let Some(slot) = self.of.get_mut(dim) {
            *slot = bits;
        }
    }

    pub(super) fn rank(&self) -> usize {
        usize::from(self.rank)
    }

    pub(super) fn total(&self) -> u8 {
        self.of.iter().fold(0u8, |sum, b| sum.saturating_add(*b))
    }

    /// A list must be as long as the rank.
    pub(super) fn fits(&self, field: EncodingField, len: usize) -> Result<(), EncodingError> {
        if len == self.rank() {
            return Ok(());
        }
        Err(EncodingError::Rank {
            field,
            expected: self.rank,
            found: u8::try_from(len).unwrap_or(u8::MAX),
        })
    }

    /// The shape that one block holds.
    pub(super) fn per_block(&self, cga: &Cga) -> Result<Self, EncodingError> {
        let clipped = clipped(cga, self)?;
        let mut out = *self;
        for (d, slot) in out.of.iter_mut().enumerate() {
            *slot = slot.saturating_sub(clipped.bits.get(d));
        }
        Ok(out)
    }
}

/// The exponent of a number that must be a power of two.
pub(super) fn log2(field: EncodingField, at: usize, value: u32) -> Result<u8, EncodingError> {
    if value.is_power_of_two() {
        return Ok(u8::try_from(value.trailing_zeros()).unwrap_or(0));
    }
    Err(EncodingError::NotPowerOfTwo { field, at: u8::try_from(at).unwrap_or(u8::MAX), value })
}

/// Number of bits up to the highest set one.
pub(super) fn width(value: u32) -> u8 {
    u8::try_from(u32::BITS.saturating_sub(value.leading_zeros())).unwrap_or(32)
}

/// `1 << bits`, 0 if that does not fit.
pub(super) fn power(bits: u8) -> u32 {
    1u32.checked_shl(u32::from(bits)).unwrap_or(0)
}

/// Whether the numbers are a permutation of 0 to rank - 1.
pub(super) fn check_order(order: &[u8], rank: usize) -> Result<(), EncodingError> {
    let mut seen = 0u32;
    for (k, dim) in order.iter().enumerate() {
        let bit = power(*dim);
        if usize::from(*dim) >= rank || seen & bit != 0 {
            return Err(EncodingError::NotAnOrder {
                at: u8::try_from(k).unwrap_or(u8::MAX),
                value: *dim,
            });
        }
        seen |= bit;
    }
    Ok(())
}

/// Row-major (`rank - 1` fastest), or with the two fastest exchanged.
pub(super) fn matrix_order(
    rank: usize,
    row_major: bool,
) -> Result<Few<u8, MAX_RANK>, EncodingError> {
    let mut out = Few::new();
    for d in (0..rank.min(MAX_RANK)).rev() {
        out.push(u8::try_from(d).unwrap_or(u8::MAX))?;
    }
    if !row_major && let [first, second, ..] = out.as_mut_slice() {
        core::mem::swap(first, second);
    }
    Ok(out)
}

/// Takes the item at `at` out: what follows moves up, and a 0 comes in at the end.
pub(super) fn take_out<T: Copy + Default>(list: &mut [T], at: usize) {
    let mut last = T::default();
    for slot in list.iter_mut().skip(at).rev() {
        core::mem::swap(slot, &mut last);
    }
}

/// The bits under construction.
pub(super) struct Bases {
    list: [BaseVector; MAX_BITS],
    len: usize,
    /// The extent that the bits reach in each dimension, log2.
    pub(super) bits: ShapeBits,
    /// The dimensions in the order in which a larger shape is filled.
    order: Few<u8, MAX_RANK>,
}

impl Bases {
    /// No bit and no dimension; see [`Bases::begin`]. In a frame of its own: a list is made beside
    /// where it goes.
    #[inline(never)]
    pub(super) fn new() -> Self {
        Self {
            list: [BaseVector::default(); MAX_BITS],
            len: 0,
            bits: ShapeBits { of: [0; MAX_RANK], rank: 0 },
            order: Few::new(),
        }
    }

    /// No bit yet. `order`: which dimension is filled first by repetition. A list is large (2.4
    /// KB), so one is filled where it lies, and never moved.
    pub(super) fn begin(&mut self, rank: usize, order: Few<u8, MAX_RANK>) {
        self.len = 0;
        self.bits = ShapeBits { of: [0; MAX_RANK], rank: u8::try_from(rank).unwrap_or(u8::MAX) };
        self.order = order;
    }

    pub(super) fn all(&self) -> &[BaseVector] {
        self.list.get(..self.len).unwrap_or(&[])
    }

    pub(super) fn all_mut(&mut self) -> &mut [BaseVector] {
        self.list.get_mut(..self.len).unwrap_or(&mut [])
    }

    /// A bit that goes where `at` says; the extents grow to hold it.
    pub(super) fn push(&mut self, input: u8, at: [u32; MAX_RANK]) -> Result<(), EncodingError> {
        let max = MAX_BITS as u16;
        let slot = self.list.get_mut(self.len).ok_or(EncodingError::TooMany { max })?;
        *slot = BaseVector { input: u32::from(input), at };
        self.len = self.len.saturating_add(1);
        for (bits, value) in self.bits.of.iter_mut().zip(&at) {
            *bits = (*bits).max(width(*value));
        }
        Ok(())
    }

    /// A bit that moves bit `exponent` (below 32) of dimension `dim`.
    #[inline]
    pub(super) fn push_bit(
        &mut self,
        input: u8,
        dim: usize,
        exponent: u8,
    ) -> Result<(), EncodingError> {
        let max = MAX_BITS as u16;
        let slot = self.list.get_mut(self.len).ok_or(EncodingError::TooMany { max })?;
        let value = power(exponent);
        if value == 0 {
            return Err(EncodingError::Layout(crate::error::Error::Overflow));
        }
        *slot = BaseVector { input: u32::from(input), at: [0; MAX_RANK] };
        if let Some(place) = slot.at.get_mut(dim) {
            *place = value;
        }
        self.len = self.len.saturating_add(1);
        if let Some(bits) = self.bits.of.get_mut(dim) {
            *bits = (*bits).max(exponent.saturating_add(1));
        }
        Ok(())
    }

    /// `count` bits that extend dimension `dim`.
    pub(super) fn extend(&mut self, input: u8, dim: usize, count: u8) -> Result<(), EncodingError> {
        for _ in 0..count {
            self.push_bit(input, dim, self.bits.get(dim))?;
        }
        Ok(())
    }

    /// `count` bits that change nothing: copies.
    pub(super) fn copies(&mut self, input: u8, count: u8) -> Result<(), EncodingError> {
        for _ in 0..count {
            self.push(input, [0; MAX_RANK])?;
        }
        Ok(())
    }

    /// One group of bits of `input`, `extents` in each dimension, the first of `order` fastest.
    pub(super) fn nested(
        &mut self,
        field: EncodingField,
        input: u8,
        extents: &[u32],
        order: &[u8],
    ) -> Result<(), EncodingError> {
        for dim in order {
            let d = usize::from(*dim);
            let extent = extents.get(d).copied().unwrap_or(1);
            self.extend(input, d, log2(field, d, extent)?)?;
        }
        Ok(())
    }

    /// The same with copies in place of the bits along `shared`.
    pub(super) fn nested_but(
        &mut self,
        field: EncodingField,
        input: u8,
        extents: &[u32],
        order: &[u8],
        shared: usize,
    ) -> Result<(), EncodingError> {
        for dim in order {
            let d = usize::from(*dim);
            let count = log2(field, d, extents.get(d).copied().unwrap_or(1))?;
            if d == shared {
                self.copies(input, count)?;
            } else {
                self.extend(input, d, count)?;
            }
        }
        Ok(())
    }

    /// Bits whose numbers count whole tiles built so far: a product.
    pub(super) fn on_top(
        &mut self,
        input: u8,
        bases: &[[u32; MAX_RANK]],
        tile: &ShapeBits,
    ) -> Result<(), EncodingError> {
        for basis in bases {
            let mut at = [0u32; MAX_RANK];
            for (d, (slot, value)) in at.iter_mut().zip(basis).enumerate() {
                let up = u32::from(tile.get(d));
                *slot = value
                    .checked_shl(up)
                    .filter(|v| v.checked_shr(up) == Some(*value))
                    .ok_or(EncodingError::Layout(crate::error::Error::Overflow))?;
            }
            self.push(input, at)?;
        }
        Ok(())
    }

    /// Repeats in registers (or offsets) until no dimension is smaller than in `shape`.
    pub(super) fn grow(&mut self, shape: &ShapeBits) -> Result<(), EncodingError> {
        let order = self.order;
        for dim in order.iter() {
            let d = usize::from(dim);
            let missing = shape.get(d).saturating_sub(self.bits.get(d));
            self.extend(REGISTER, d, missing)?;
        }
        Ok(())
    }

    /// Clips to `shape`: what lies beyond is cut off, so bits that reach beyond become copies. With
    /// `drop_registers` a register bit of which nothing is left disappears.
    pub(super) fn shrink(&mut self, shape: &ShapeBits, drop_registers: bool) {
        let mut masks = [0u32; MAX_RANK];
        let mut any = false;
        for (d, mask) in masks.iter_mut().enumerate() {
            *mask = power(shape.get(d)).wrapping_sub(1);
            any |= self.bits.get(d) > shape.get(d);
            self.bits.set(d, self.bits.get(d).min(shape.get(d)));
        }
        if !any {
            return;
        }
        let mut kept = 0usize;
        for k in 0..self.len {
            let Some(mut basis) = self.list.get(k).copied() else {
                continue;
            };
            let whole = basis.at;
            for (v, mask) in basis.at.iter_mut().zip(&masks) {
                *v &= mask;
            }
            let gone = basis.at != whole && basis.at.iter().all(|v| *v == 0);
            if drop_registers && gone && basis.input == u32::from(REGISTER) {
                continue;
            }
            if let Some(slot) = self.list.get_mut(kept) {
                *slot = basis;
            }
            kept = kept.saturating_add(1);
        }
        self.len = kept;
    }

    /// Takes out the register bits that change nothing.
    pub(super) fn drop_copies(&mut self) {
        let mut kept = 0usize;
        for k in 0..self.len {
            let Some(basis) = self.list.get(k).copied() else {
                continue;
            };
            if basis.input == u32::from(REGISTER) && basis.at.iter().all(|v| *v == 0) {
                continue;
            }
            if let Some(slot) = self.list.get_mut(kept) {
                *slot = basis;
            }
            kept = kept.saturating_add(1);
        }
        self.len = kept;
    }

    /// Takes a dimension out.
    pub(super) fn project(&mut self, dim: usize) {
        for basis in self.all_mut() {
            take_out(&mut basis.at, dim);
        }
        take_out(&mut self.bits.of, dim);
        self.bits.rank = self.bits.rank.saturating_sub(1);
    }

    /// What the first bit of `input` from `from` on moves is moved by the bit at `to` instead.
    pub(super) fn hand_over(&mut self, input: u8, from: usize, to: usize) {
        let found = self
            .all()
            .iter()
            .enumerate()
            .skip(from)
            .find(|(_, bit)| bit.input == u32::from(input))
            .map(|(k, bit)| (k, bit.at));
        let (Some((k, at)), Some(slot)) = (found, self.all_mut().get_mut(to)) else { return };
        slot.at = at;
        if let Some(behind) = self.all_mut().get_mut(k..).filter(|rest| !rest.is_empty()) {
            behind.rotate_left(1);
            self.len = self.len.saturating_sub(1);
        }
    }

    /// Fits the bits of one block to the shape, and puts the blocks of the cluster on top.
    pub(super) fn combine(&mut self, cga: &Cga, shape: &ShapeBits) -> Result<(), EncodingError> {
        self.combine_with(cga, shape, false)
    }

    /// The same; with `drop_registers` register bits that are clipped disappear.
    pub(super) fn combine_with(
        &mut self,
        cga: &Cga,
        shape: &ShapeBits,
        drop_registers: bool,
    ) -> Result<(), EncodingError> {
        let blocks = clipped(cga, shape)?;
        let mut own = *shape;
        for (d, slot) in own.of.iter_mut().enumerate() {
            *slot = slot.saturating_sub(blocks.bits.get(d));
        }
        self.grow(&own)?;
        self.shrink(&own, drop_registers);
        for basis in blocks.all() {
            self.on_top(BLOCK, core::slice::from_ref(&basis.at), &own)?;
        }
        Ok(())
    }

    /// The linear layout, whose output dimensions have the extents of `shape`.
    #[inline(never)]
    pub(super) fn finish(
        &self,
        labels: &[AxisId; 4],
        shape: &ShapeBits,
    ) -> Result<Linear<Hw, Logical>, EncodingError> {
        let mut ins = Dims::new();
        for (input, label) in (0u8..).zip(labels) {
            if ins.place(*label).is_some() {
                continue;
            }
            let count = self.all().iter().filter(|b| b.input == u32::from(input)).count();
            ins.push(*label, u8::try_from(count).unwrap_or(u8::MAX))?;
        }
        let mut outs = Dims::new();
        let mut shifts = [0u32; MAX_RANK];
        let mut shift = 0u32;
        for (d, slot) in (0u8..shape.rank).zip(shifts.iter_mut()) {
            let bits = shape.get(usize::from(d));
            outs.push(AxisId::dim(d), bits)?;
            *slot = shift;
            shift = shift.saturating_add(u32::from(bits));
        }
        let mut columns = [0u64; MAX_BITS];
        let mut slots = columns.iter_mut();
        for input in 0u8..4 {
            for basis in self.all().iter().filter(|b| b.input == u32::from(input)) {
                let packed =
                    basis.at.iter().zip(&shifts).fold(0u64, |sum, (v, up)| {
                        sum | u64::from(*v).checked_shl(*up).unwrap_or(0)
                    });
                if let Some(slot) = slots.next() {
                    *slot = packed;
                }
            }
        }
        let used = columns.get(..usize::from(ins.bits())).unwrap_or(&[]);
        Ok(Linear::from_columns(ins, outs, used)?)
    }
}

/// The bases of a cluster, clipped to a shape.
struct ClusterBases {
    list: [BaseVector; super::MAX_CGA_BITS],
    len: usize,
    bits: ShapeBits,
}

impl ClusterBases {
    fn all(&self) -> &[BaseVector] {
        self.list.get(..self.len).unwrap_or(&[])
    }
}

fn clipped(cga: &Cga, shape: &ShapeBits) -> Result<ClusterBases, EncodingError> {
    let mut out = ClusterBases {
        list: [BaseVector::default(); super::MAX_CGA_BITS],
        len: cga.bases.len(),
        bits: ShapeBits { of: [0; MAX_RANK], rank: shape.rank },
    };
    for (slot, basis) in out.list.iter_mut().zip(cga.bases.as_slice()) {
        for (d, (to, value)) in slot.at.iter_mut().zip(basis).enumerate() {
            if d >= shape.rank() && *value != 0 {
                return Err(EncodingError::Rank {
                    field: EncodingField::Cga,
                    expected: shape.rank,
                    found: u8::try_from(d).unwrap_or(u8::MAX).saturating_add(1),
                });
            }
            *to = u32::from(*value);
        }
        for (bits, value) in out.bits.of.iter_mut().zip(&slot.at) {
            *bits = (*bits).max(width(*value));
        }
    }
    if out.len > 0 {
        check_blocks(&out)?;
    }
    for d in 0..shape.rank() {
        let mask = power(shape.get(d)).wrapping_sub(1);
        for slot in out.list.iter_mut().filter_map(|b| b.at.get_mut(d)) {
            *slot &= mask;
        }
        out.bits.set(d, out.bits.get(d).min(shape.get(d)));
    }
    Ok(out)
}

/// The bases of a cluster reach every block up to the farthest one.
fn check_blocks(blocks: &ClusterBases) -> Result<(), EncodingError> {
    let mut columns = [0u64; super::MAX_CGA_BITS];
    for (slot, basis) in columns.iter_mut().zip(blocks.all()) {
        let mut shift = 0u32;
        for (v, bits) in basis.at.iter().zip(&blocks.bits.of) {
            *slot |= u64::from(*v).checked_shl(shift).unwrap_or(0);
            shift = shift.saturating_add(u32::from(*bits));
        }
    }
    if crate::linear::Span::of(&columns).rank() >= blocks.bits.total() {
        return Ok(());
    }
    let reach =
        |d: usize| blocks.all().iter().fold(0u32, |sum, b| sum | b.at.get(d).copied().unwrap_or(0));
    let holed = |d: &usize| reach(*d) != power(blocks.bits.get(*d)).wrapping_sub(1);
    let dim = (0..MAX_RANK).find(holed).unwrap_or(0);
    Err(EncodingError::ClusterNotCovered {
        dim: u8::try_from(dim).unwrap_or(u8::MAX),
        bits: blocks.bits.get(dim),
    })
}

//! The linear form: matrices over GF(2) with labelled dimensions, typed by direction.
//!
//! A [`Linear<From, To>`] maps an index to the XOR of the columns at its set bits. Both sides are
//! split into dimensions ([`Dims`]); an index or value is *packed*: the first dimension in the
//! lowest bits. `Linear<Hw, Logical>` is what Triton calls a linear layout (a zero column there is
//! a broadcast); `Linear<Logical, Hw>` is its inverse. The markers have no meaning to the algebra
//! beyond keeping directions apart; use any types.
//!
//! At most [`MAX_BITS`] bits and [`MAX_DIMS`] dimensions on a side. Columns never have bits beyond
//! the output's. A dimension may have 0 bits; it is kept. Nothing here is approximate: an operation
//! is exact or an error.

mod algebra;
mod concat;
mod dims;
mod shape;
mod solve;

use crate::axis::AxisId;
use crate::error::{Error, Limit, Result};
use core::fmt;
use core::marker::PhantomData;

pub use dims::{Dims, MAX_BITS, MAX_DIMS};
pub use solve::Span;

/// Marker: positions in hardware (register, lane, warp, address bits).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hw {}

/// Marker: coordinates of a logical tensor (dimensions [`AxisId::dim`] 0, 1, ...).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logical {}

/// A GF(2)-linear map from `From` to `To`.
///
/// ```
/// use lanebook_layout::{AxisId, Coord, Dims, Hw, Linear, Logical};
///
/// // Two registers side by side in a row, four lanes down the rows: bases as Triton lists them.
/// let ins = Dims::from_slice(&[(AxisId::REGISTER, 1), (AxisId::LANE, 2)]).unwrap();
/// let outs = Dims::from_slice(&[(AxisId::dim(0), 2), (AxisId::dim(1), 1)]).unwrap();
/// let (row, column) = (1, 0b100);
/// let tile: Linear<Hw, Logical> =
///     Linear::from_columns(ins, outs, &[column, row, row << 1]).unwrap();
/// let mut at = Coord::new();
/// tile.apply(&[(AxisId::REGISTER, 1), (AxisId::LANE, 3)], &mut at).unwrap();
/// assert_eq!((at.get(AxisId::dim(0)), at.get(AxisId::dim(1))), (3, 1));
/// // Each element is held once: the inverse says by whom.
/// assert!(tile.is_bijective());
/// let back = tile.invert().unwrap();
/// back.apply(&[(AxisId::dim(0), 3), (AxisId::dim(1), 1)], &mut at).unwrap();
/// assert_eq!((at.get(AxisId::LANE), at.get(AxisId::REGISTER)), (3, 1));
/// ```
///
/// ```
/// use lanebook_layout::{AxisId, Dims, Hw, Linear, Logical};
///
/// // Built from the smallest maps: two registers in a row, four lanes below each other, two warps that hold the same.
/// type Distribution = Linear<Hw, Logical>;
/// let (row, column) = (AxisId::dim(0), AxisId::dim(1));
/// let registers = Distribution::identity1d(1, AxisId::REGISTER, column).unwrap();
/// let lanes = Distribution::identity1d(2, AxisId::LANE, row).unwrap();
/// let warps = Distribution::zeros1d(1, AxisId::WARP, row, 0).unwrap();
/// let tile = registers.product(&lanes).unwrap().product(&warps).unwrap();
/// assert_eq!(Distribution::empty().product(&tile).unwrap(), tile);
/// assert_eq!((tile.rank(), tile.is_surjective(), tile.is_injective()), (3, true, false));
/// // The warp's bit is free: it moves nothing.
/// let free: Vec<_> = tile.free_variable_masks().into_iter().filter(|(_, mask)| *mask != 0).collect();
/// assert_eq!(free, [(AxisId::WARP, 1)]);
/// assert!(tile.is_zero_between(&[AxisId::WARP], &[row, column]));
/// let held_once = tile.remove_zero_bases(AxisId::WARP).unwrap().squeeze_in(AxisId::WARP).unwrap();
/// assert!(held_once.is_bijective());
/// // Factors come off at either end.
/// assert_eq!(tile.divide_left(&registers).unwrap().columns(), lanes.product(&warps).unwrap().columns());
/// assert_eq!(tile.divide_right(&warps).unwrap().ins().bits(), 3);
/// // Strides, and how many neighbours consecutive registers hold: the width of a vector access.
/// let apart = Distribution::strided1d(2, 1, AxisId::REGISTER, column).unwrap();
/// assert_eq!((registers.num_consecutive_in_out(), apart.num_consecutive_in_out()), (2, 1));
/// // A column may be changed; what a bit does to one dimension, and all values at once.
/// let mut swapped = registers.clone();
/// swapped.set_column(AxisId::REGISTER, 0, 0).unwrap();
/// assert_eq!(swapped, Distribution::zero(registers.ins().clone(), registers.outs().clone()));
/// assert_eq!(tile.column_on(AxisId::LANE, 1, row), Some(2));
/// let mut values = [0; 4];
/// assert_eq!((registers.product(&lanes).unwrap().table(&mut values), values[3]), (4, tile.apply_packed(3)));
///
/// // Dimensions are named, ordered, cut and joined; none of that changes the map.
/// let turned = tile.transpose_ins(&[AxisId::WARP, AxisId::LANE, AxisId::REGISTER]).unwrap();
/// assert!(turned.same_map(&tile) && turned != tile);
/// assert!(tile.transpose_outs(&[row, column]).unwrap().same_map(&tile));
/// // Bits of one dimension change places, and back.
/// let crossed = tile.permute_columns(AxisId::LANE, &[1, 0]).unwrap();
/// assert_eq!(crossed.column(AxisId::LANE, 0), tile.column(AxisId::LANE, 1));
/// assert_eq!(crossed.permute_columns(AxisId::LANE, &[1, 0]).unwrap(), tile);
/// let flat = tile.flatten_ins(AxisId::PLACE).unwrap().flatten_outs(AxisId::M).unwrap();
/// assert_eq!(flat.columns(), tile.columns());
/// let back = flat.reshape_ins(tile.ins().clone()).unwrap().reshape_outs(tile.outs().clone()).unwrap();
/// assert_eq!(back, tile);
/// let threads = tile.rename_in(AxisId::LANE, AxisId::TX).unwrap().rename_out(row, AxisId::M).unwrap();
/// assert_eq!(threads.outs().bits_of(AxisId::M), 2);
/// let rows_of_lanes = tile.sublayout(&[AxisId::LANE], &[row]).unwrap();
/// assert!(rows_of_lanes.is_bijective());
/// assert_eq!(rows_of_lanes.resize_in(AxisId::LANE, 3).unwrap().ins().bits(), 3);
/// assert_eq!(rows_of_lanes.resize_out(row, 3).unwrap().outs().bits(), 3);
/// let both = rows_of_lanes.concat_ins(&warps.resize_out(row, 2).unwrap()).unwrap();
/// assert_eq!(both.ins().bits(), 3);
/// assert!(registers.concat_outs(&Distribution::zeros1d(1, AxisId::REGISTER, row, 0).unwrap()).unwrap().squeeze_out(row).is_ok());
///
/// // Composition, and the map from one distribution of a tile to another: who holds what I hold.
/// let other = turned.sublayout(&[AxisId::LANE, AxisId::REGISTER], &[row, column]).unwrap();
/// let moved: Linear<Hw, Hw> = held_once.invert_and_compose(&other).unwrap();
/// assert!(other.compose(&moved).unwrap().same_map(&held_once));
/// let lowest: Linear<Logical, Hw> = tile.pseudo_invert().unwrap();
/// assert_eq!(tile.compose(&lowest).unwrap().rank(), 3);
/// // Trivial over the lanes alone: then they can be taken away.
/// let same: Linear<Hw, Hw> = Linear::identity1d(2, AxisId::LANE, AxisId::LANE).unwrap();
/// assert!(same.is_trivial_over(&[AxisId::LANE]));
/// assert!(same.quotient(&[AxisId::LANE]).unwrap().is_some());
/// // Markers are for the reader.
/// assert_eq!(same.retype::<Logical, Logical>().columns(), same.columns());
/// ```
pub struct Linear<From, To> {
    columns: [u64; MAX_BITS],
    ins: Dims,
    outs: Dims,
    direction: PhantomData<fn(From) -> To>,
}

impl<F, T> Clone for Linear<F, T> {
    fn clone(&self) -> Self {
        Self {
            columns: self.columns,
            ins: self.ins.clone(),
            outs: self.outs.clone(),
            direction: PhantomData,
        }
    }
}

impl<F, T> PartialEq for Linear<F, T> {
    /// Same dimensions in the same order and same columns; see [`Linear::same_map`] for equality as
    /// functions.
    fn eq(&self, other: &Self) -> bool {
        self.ins == other.ins && self.outs == other.outs && self.columns() == other.columns()
    }
}

impl<F, T> Eq for Linear<F, T> {}

impl<F, T> fmt::Debug for Linear<F, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Linear")
            .field("ins", &self.ins)
            .field("outs", &self.outs)
            .field("columns", &self.columns())
            .finish()
    }
}

impl<F, T> Linear<F, T> {
    /// The map between these dimensions that sends everything to zero.
    #[must_use]
    pub fn zero(ins: Dims, outs: Dims) -> Self {
        Self { columns: [0; MAX_BITS], ins, outs, direction: PhantomData }
    }

    /// The map with no dimension at all: the unit of [`Linear::product`].
    #[must_use]
    pub fn empty() -> Self {
        Self::zero(Dims::new(), Dims::new())
    }

    /// A map from its packed columns, one an input bit.
    ///
    /// # Errors
    /// [`Error::DimBits`] if their number differs from the input bits; [`Error::Capacity`] if one
    /// exceeds the outputs.
    pub fn from_columns(ins: Dims, outs: Dims, columns: &[u64]) -> Result<Self> {
        if columns.len() != usize::from(ins.bits()) {
            let found = u8::try_from(columns.len()).unwrap_or(u8::MAX);
            let axis = ins.iter().next().map_or(AxisId::M, |d| d.0);
            return Err(Error::DimBits { axis, expected: ins.bits(), found });
        }
        let mut out = Self::zero(ins, outs);
        let mask = out.outs.mask();
        for (slot, c) in out.columns.iter_mut().zip(columns) {
            if *c & !mask != 0 {
                return Err(Error::Capacity {
                    limit: Limit::Bits,
                    max: u32::from(out.outs.bits()),
                });
            }
            *slot = *c;
        }
        Ok(out)
    }

    /// `bits` bits of `from` onto the same bits of `to`.
    pub fn identity1d(bits: u8, from: AxisId, to: AxisId) -> Result<Self> {
        Self::strided1d(bits, 0, from, to)
    }

    /// `to = from << shift`: the stride is `2^shift`, and `to` has `bits + shift` bits.
    pub fn strided1d(bits: u8, shift: u8, from: AxisId, to: AxisId) -> Result<Self> {
        let total = bits.saturating_add(shift);
        let mut out = Self::zero(Dims::one(from, bits)?, Dims::one(to, total)?);
        for (k, slot) in (0u32..).zip(out.columns.iter_mut().take(usize::from(bits))) {
            *slot = 1u64.wrapping_shl(k.saturating_add(u32::from(shift)));
        }
        Ok(out)
    }

    /// `bits` bits of `from`, none of which moves `to` (which has `to_bits` bits): a broadcast.
    pub fn zeros1d(bits: u8, from: AxisId, to: AxisId, to_bits: u8) -> Result<Self> {
        Ok(Self::zero(Dims::one(from, bits)?, Dims::one(to, to_bits)?))
    }

    /// The input dimensions, low bits first.
    #[must_use]
    pub const fn ins(&self) -> &Dims {
        &self.ins
    }

    /// The output dimensions, low bits first.
    #[must_use]
    pub const fn outs(&self) -> &Dims {
        &self.outs
    }

    /// The packed columns, one an input bit.
    #[must_use]
    pub fn columns(&self) -> &[u64] {
        self.columns.get(..usize::from(self.ins.bits())).unwrap_or(&[])
    }

    /// The packed column of bit `bit` of input dimension `dim`.
    #[must_use]
    pub fn column(&self, dim: AxisId, bit: u8) -> Option<u64> {
        let (shift, bits) = self.ins.place(dim)?;
        if bit >= bits {
            return None;
        }
        self.columns().get(usize::from(shift).checked_add(usize::from(bit))?).copied()
    }

    /// What bit `bit` of input dimension `dim` does to output dimension `out`.
    #[must_use]
    pub fn column_on(&self, dim: AxisId, bit: u8, out: AxisId) -> Option<u64> {
        Some(self.outs.extract(self.column(dim, bit)?, out).unwrap_or(0))
    }

    /// Replaces the packed column of bit `bit` of input dimension `dim`.
    pub fn set_column(&mut self, dim: AxisId, bit: u8, column: u64) -> Result<()> {
        let (shift, bits) = self.ins.place(dim).ok_or(Error::NoDim { axis: dim })?;
        let fault = Error::DimBits { axis: dim, expected: bit.saturating_add(1), found: bits };
        if bit >= bits {
            return Err(fault);
        }
        if column & !self.outs.mask() != 0 {
            return Err(Error::Capacity { limit: Limit::Bits, max: u32::from(self.outs.bits()) });
        }
        let at = usize::from(shift).saturating_add(usize::from(bit));
        *self.columns.get_mut(at).ok_or(fault)? = column;
        Ok(())
    }

    /// The same matrix with other direction markers.
    #[must_use]
    pub fn retype<G, U>(&self) -> Linear<G, U> {
        Linear {
            columns: self.columns,
            ins: self.ins.clone(),
            outs: self.outs.clone(),
            direction: PhantomData,
        }
    }

    /// The packed value at a packed index; index bits beyond the input's are ignored.
    #[inline]
    #[must_use]
    pub fn apply_packed(&self, index: u64) -> u64 {
        let mut value = 0;
        let mut rest = index;
        for c in self.columns() {
            value ^= c & 0u64.wrapping_sub(rest & 1);
            rest >>= 1;
        }
        value
    }

    /// Writes the packed values at the packed indices 0, 1, 2, ..., as many as there are or `out`
    /// holds; how many.
    ///
    /// One exclusive or a value: each doubling is the part before it, moved by the next column.
    pub fn table(&self, out: &mut [u64]) -> usize {
        let Some(first) = out.first_mut() else {
            return 0;
        };
        *first = 0;
        let mut done = 1usize;
        for c in self.columns() {
            let Some((low, high)) = out.split_at_mut_checked(done) else {
                break;
            };
            for (slot, value) in high.iter_mut().zip(low.iter()) {
                *slot = value ^ c;
            }
            done = done.saturating_add(done.min(high.len()));
        }
        done
    }

    /// The value at the index with these dimensions (those left out are 0), as one entry an output
    /// dimension.
    ///
    /// # Errors
    /// [`Error::NoDim`] and [`Error::OutOfRange`] (its mode is the position in `index`).
    pub fn apply(&self, index: &[(AxisId, u64)], out: &mut crate::coord::Coord) -> Result<()> {
        let mut packed = 0u64;
        for (k, (axis, x)) in index.iter().enumerate() {
            let (shift, bits) = self.ins.place(*axis).ok_or(Error::NoDim { axis: *axis })?;
            if *x & !low_mask(bits) != 0 {
                let extent = 1u64.wrapping_shl(u32::from(bits));
                return Err(Error::OutOfRange {
                    mode: crate::iter::position(k),
                    coord: *x,
                    extent,
                });
            }
            packed |= x.wrapping_shl(u32::from(shift));
        }
        let value = self.apply_packed(packed);
        out.clear();
        for (axis, _) in self.outs.iter() {
            let part = self.outs.extract(value, axis).unwrap_or(0);
            out.add(axis, i64::try_from(part).map_err(|_| Error::Overflow)?)?;
        }
        Ok(())
    }

    fn push_columns(&mut self, at: usize, columns: impl Iterator<Item = u64>) {
        for (slot, c) in self.columns.iter_mut().skip(at).zip(columns) {
            *slot = c;
        }
    }
}

/// A mask of the `bits` lowest bits.
pub(crate) const fn low_mask(bits: u8) -> u64 {
    if bits >= 64 { u64::MAX } else { 1u64.wrapping_shl(bits as u32).wrapping_sub(1) }
}

//! Between the strided and the linear form, exactly or not at all.
//!
//! Strided to linear is exact iff extents are powers of two and, on each axis, the contributions of
//! all iters, replicas and the offset occupy disjoint bits, so that no addition carries:
//! `(4,4):(1,2)` has no linear form although all its numbers are powers of two, while `2:3` has one
//! (a column with two bits). Linear to strided is exact for columns that keep to one axis and do
//! not share bits, after undoing at most one swizzle of axis `m`.

use crate::axis::AxisId;
use crate::error::{Error, NotLinear, NotStrided, Result};
use crate::layout::{Iter, Layout, LayoutRef, position};
use crate::linear::{Dims, Hw, Linear, Logical, MAX_BITS};
use crate::ops::tree_of;
use crate::post::{PostMap, Swizzle, Unit};

/// A linear map followed by an XOR with a constant.
///
/// ```
/// # use lanebook_layout::{AxisId, Coord, NoSyms, WellKnown, convert, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// // A swizzle joins the columns: element 8 of rows of 8 lies at 8 ^ 1.
/// let tile = of("S<2,0,3> o 0 o (8,4):(1,8)");
/// let affine: convert::Affine<_, _> = convert::to_affine(&tile.view()).unwrap();
/// assert_eq!(affine.linear.apply_packed(8) ^ affine.offset, 9);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Affine<From, To> {
    /// The linear part.
    pub linear: Linear<From, To>,
    /// The packed value that is XORed to it.
    pub offset: u64,
}

/// The linear form of `l`: input dimension [`AxisId::dim`]`(k)` for each top-level mode `k`, one
/// output dimension an axis, in the order of first mention.
///
/// ```
/// # use lanebook_layout::{AxisId, NoSyms, WellKnown, convert, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// // Rows on lanes, columns in registers: bit 0 of the element is bit 2 of the lane.
/// let linear = convert::to_linear(&of("(8,4):(4@laneid,1@register)").view()).unwrap();
/// assert_eq!(linear.outs().bits_of(AxisId::LANE), 5);
/// // No powers of two, no linear form.
/// assert!(convert::to_linear(&of("24:1").view()).is_err());
/// ```
///
/// # Errors
/// [`Error::NotLinear`] with the offending iter, also for a nonzero offset and for replicas.
pub fn to_linear(l: &LayoutRef<'_>) -> Result<Linear<Logical, Hw>> {
    if let Some((k, it)) = l.replica.iter().enumerate().find(|(_, it)| !it.is_unit()) {
        return Err(refuse(l.shard.len().saturating_add(k), it, NotLinear::Replica));
    }
    let affine = to_affine(l)?;
    if affine.offset != 0 {
        let stride = i64::try_from(affine.offset).unwrap_or(i64::MAX);
        return Err(Error::NotLinear { iter: u8::MAX, extent: 0, stride, why: NotLinear::Offset });
    }
    let Some((_, 0)) = affine.linear.ins().place(AxisId::REPLICA) else {
        return Ok(affine.linear);
    };
    let mut ins = Dims::new();
    for (axis, bits) in affine.linear.ins().iter().filter(|d| d.0 != AxisId::REPLICA) {
        ins.push(axis, bits)?;
    }
    affine.linear.reshape_ins(ins)
}

/// The linear form of `l` with its replicas as a last input dimension [`AxisId::REPLICA`] (absent
/// without replicas) and its offset apart. A swizzle becomes part of the columns and of the offset.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, convert, notation};
/// # let of = |text: &str| notation::tirx::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// // An offset stands beside the matrix, where it is the same as an exclusive or.
/// let affine = convert::to_affine(&of("S[8:1] + 16").view()).unwrap();
/// assert_eq!((affine.offset, affine.linear.apply_packed(5)), (16, 5));
/// ```
///
/// # Errors
/// [`Error::NotLinear`] with the offending iter and the reason.
pub fn to_affine(l: &LayoutRef<'_>) -> Result<Affine<Logical, Hw>> {
    let axes = l.axes()?;
    // First the bits that each axis needs, checking for carries on the way.
    let mut outs = Dims::new();
    for axis in &axes {
        outs.push(*axis, axis_bits(l, *axis)?)?;
    }
    let mut ins = Dims::new();
    for (k, (mode, _)) in l.modes().enumerate() {
        let dim = u8::try_from(k).ok().and_then(AxisId::basis).ok_or(Error::Capacity {
            limit: crate::error::Limit::Dims,
            max: crate::linear::MAX_DIMS as u32,
        })?;
        ins.push(dim, bits_of(mode, 0)?)?;
    }
    if !l.replica.is_empty() {
        ins.push(AxisId::REPLICA, bits_of(l.replica, l.shard.len())?)?;
    }
    let post = |axis: AxisId, v: u64| match l.post.swizzle() {
        Some(s) if axis == AxisId::M => s.apply(v),
        _ => v,
    };
    let mut columns = [0u64; MAX_BITS];
    let mut slots = columns.iter_mut();
    for (k, it) in l.shard.iter().chain(l.replica).enumerate() {
        let stride = positive_stride(k, it)?;
        for bit in 0..log2_extent(k, it)? {
            let column =
                outs.insert(post(it.axis(), stride.wrapping_shl(u32::from(bit))), it.axis())?;
            if let Some(slot) = slots.next() {
                *slot = column;
            }
        }
    }
    let mut offset = 0u64;
    for axis in &axes {
        let value = u64::try_from(l.offset_of(*axis)?.value()?).map_err(|_| Error::Overflow)?;
        offset |= outs.insert(post(*axis, value), *axis)?;
    }
    let used = columns.get(..usize::from(ins.bits())).unwrap_or(&[]);
    Ok(Affine { linear: Linear::from_columns(ins, outs, used)?, offset })
}

/// The linear form of `l` in Triton's direction, from positions to logical coordinates; replicas
/// become zero columns.
///
/// ```
/// # use lanebook_layout::{AxisId, NoSyms, WellKnown, convert, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// // Rows on lanes: the bases of the lanes are rows, as Triton lists them.
/// let linear = convert::to_hw_linear(&of("(8,4):(1@laneid,1@register)").view()).unwrap();
/// assert_eq!(linear.column_on(AxisId::LANE, 1, AxisId::dim(0)), Some(2));
/// // Positions that hold nothing have no coordinate.
/// assert!(convert::to_hw_linear(&of("8:2").view()).is_err());
/// ```
///
/// # Errors
/// [`Error::NotLinear`], also if a position is left out ([`NotLinear::Hole`]);
/// [`Error::NotInvertible`] if two coordinates or copies meet.
pub fn to_hw_linear(l: &LayoutRef<'_>) -> Result<Linear<Hw, Logical>> {
    let affine = to_affine(l)?;
    if affine.offset != 0 {
        let stride = i64::try_from(affine.offset).unwrap_or(i64::MAX);
        return Err(Error::NotLinear { iter: u8::MAX, extent: 0, stride, why: NotLinear::Offset });
    }
    let (ins, outs) = (affine.linear.ins(), affine.linear.outs());
    if affine.linear.is_injective() && ins.bits() < outs.bits() {
        let stride = i64::from(outs.bits());
        return Err(Error::NotLinear {
            iter: u8::MAX,
            extent: u32::from(ins.bits()),
            stride,
            why: NotLinear::Hole,
        });
    }
    let back = affine.linear.invert()?;
    let mut keep: heapless::Vec<AxisId, { crate::linear::MAX_DIMS }> = heapless::Vec::new();
    for (axis, _) in ins.iter().filter(|d| d.0 != AxisId::REPLICA) {
        let _ = keep.push(axis);
    }
    let mut from: heapless::Vec<AxisId, { crate::linear::MAX_DIMS }> = heapless::Vec::new();
    for (axis, _) in outs.iter() {
        let _ = from.push(axis);
    }
    back.sublayout(&from, &keep)
}

/// A strided form of `linear`: mode `k` is input dimension `k`, axes are the output dimensions'
/// labels, with a swizzle of axis `m` if that explains columns of two bits there.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, convert, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let tile = of("(8,4):(4,1)");
/// let linear = convert::to_linear(&tile.view()).unwrap();
/// assert_eq!(convert::to_strided(&linear).unwrap(), tile);
/// ```
///
/// # Errors
/// [`Error::NotStrided`] with the column that stands in the way.
pub fn to_strided<F, T>(linear: &Linear<F, T>) -> Result<Layout> {
    let refusal = match strided(linear, None) {
        Ok(layout) => return Ok(layout),
        Err(e) => e,
    };
    for sign in [1i8, -1] {
        if let Some(sw) = guess_swizzle(linear, sign)
            && let Ok(mut layout) = strided(linear, Some(sw))
        {
            layout.set_post(PostMap::Swizzle(sw))?;
            return Ok(layout);
        }
    }
    Err(refusal)
}

fn strided<F, T>(linear: &Linear<F, T>, undo: Option<Swizzle>) -> Result<Layout> {
    let mut out = Layout::new();
    let scalar = linear.ins().len() == 1;
    if !scalar {
        out.open()?;
    }
    let mut taken = 0u64;
    let first_axis = linear.outs().iter().next().map_or(AxisId::M, |d| d.0);
    for of in linear.ins().iter() {
        let mut iters = crate::ops::Iters::new();
        places_of_bits(linear, of, undo, &mut taken, &mut iters)?;
        push_dim(&mut out, &iters, first_axis)?;
    }
    if !scalar {
        out.close()?;
    }
    out.view().check()?;
    Ok(out)
}

/// Where each bit of a dimension goes.
#[inline(never)] // It is off the stack before trees are made.
fn places_of_bits<F, T>(
    linear: &Linear<F, T>,
    (dim, bits): (AxisId, u8),
    undo: Option<Swizzle>,
    taken: &mut u64,
    iters: &mut crate::ops::Iters,
) -> Result<()> {
    let first_axis = linear.outs().iter().next().map_or(AxisId::M, |d| d.0);
    for bit in 0..bits {
        let packed = linear.column(dim, bit).unwrap_or(0);
        let refuse = |why| Error::NotStrided { dim, bit, column: packed, why };
        let mut moved = (first_axis, 0u64);
        for (axis, _) in linear.outs().iter() {
            let part = linear.outs().extract(packed, axis).unwrap_or(0);
            if part != 0 {
                if moved.1 != 0 {
                    return Err(refuse(NotStrided::TwoAxes));
                }
                moved = (axis, part);
            }
        }
        let (axis, mut part) = moved;
        if let (Some(sw), AxisId::M) = (undo, axis) {
            part = sw.apply(part);
        }
        let shared = refuse(NotStrided::SharedBit);
        let own =
            if part == 0 { 0 } else { linear.outs().insert(part, axis).map_err(|_| shared)? };
        if *taken & own != 0 {
            return Err(shared);
        }
        *taken |= own;
        let stride = i64::try_from(part).map_err(|_| Error::Overflow)?;
        crate::ops::push(iters, Iter::new(2, stride, axis))?;
    }
    Ok(())
}

/// Adds a dimension: what belongs together of its bits as one.
#[inline(never)] // Its lists are not on the stack while bits are looked at.
fn push_dim(out: &mut Layout, iters: &crate::ops::Iters, first_axis: AxisId) -> Result<()> {
    out.push_node(&tree_of(&crate::ops::coalesced(iters)?, &[Iter::new(1, 0, first_axis)])?.view())
}

/// The swizzle that the columns with two bits on axis `m` suggest, if any.
fn guess_swizzle<F, T>(linear: &Linear<F, T>, sign: i8) -> Option<Swizzle> {
    let (mut low, mut high, mut distance) = (u32::MAX, 0u32, None);
    for c in linear.columns() {
        let part = linear.outs().extract(*c, AxisId::M)?;
        if part.count_ones() < 2 {
            continue;
        }
        let (bottom, top) =
            (part.trailing_zeros(), u64::BITS.checked_sub(part.leading_zeros())?.checked_sub(1)?);
        let apart = top.checked_sub(bottom)?;
        if part.count_ones() > 2 || distance.is_some_and(|d| d != apart) {
            return None;
        }
        distance = Some(apart);
        low = low.min(bottom);
        high = high.max(bottom);
    }
    let b = u8::try_from(high.checked_sub(low)?.checked_add(1)?).ok()?;
    let s = i8::try_from(distance?).ok()?.checked_mul(sign)?;
    Swizzle::new(b, u8::try_from(low).ok()?, s, Unit::Codomain).ok()
}

fn refuse(iter: usize, it: &Iter, why: NotLinear) -> Error {
    let extent = it.extent_value().unwrap_or(0);
    Error::NotLinear { iter: position(iter), extent, stride: it.stride().coeff(), why }
}

fn log2_extent(k: usize, it: &Iter) -> Result<u8> {
    let extent = it.extent_value()?;
    if !extent.is_power_of_two() {
        return Err(refuse(k, it, NotLinear::Extent));
    }
    u8::try_from(extent.trailing_zeros()).map_err(|_| Error::Overflow)
}

fn positive_stride(k: usize, it: &Iter) -> Result<u64> {
    u64::try_from(it.stride_value()?).map_err(|_| refuse(k, it, NotLinear::NegativeStride))
}

fn bits_of(iters: &[Iter], first: usize) -> Result<u8> {
    iters.iter().enumerate().try_fold(0u8, |sum, (k, it)| {
        sum.checked_add(log2_extent(first.saturating_add(k), it)?).ok_or(Error::Overflow)
    })
}

/// The bits that positions on `axis` need; refuses carries.
fn axis_bits(l: &LayoutRef<'_>, axis: AxisId) -> Result<u8> {
    let start = l.offset_of(axis)?.value()?;
    let mut taken = u64::try_from(start).map_err(|_| Error::NegativeOffset { offset: start })?;
    for (k, it) in l.shard.iter().chain(l.replica).enumerate().filter(|(_, it)| it.axis() == axis) {
        let bits = log2_extent(k, it)?;
        if it.is_unit() {
            continue;
        }
        let stride = positive_stride(k, it)?;
        for bit in 0..bits {
            let step =
                stride.checked_mul(1u64.wrapping_shl(u32::from(bit))).ok_or(Error::Overflow)?;
            if taken & step != 0 {
                return Err(refuse(k, it, NotLinear::Carry));
            }
            taken |= step;
        }
    }
    if axis == AxisId::M {
        if l.post.padding().is_some_and(|p| p.pads().iter().any(|p| p.pad != 0)) {
            return Err(Error::NotLinear {
                iter: u8::MAX,
                extent: 0,
                stride: 0,
                why: NotLinear::Padding,
            });
        }
        if let Some(s) = l.post.swizzle() {
            // What the swizzle may set: the target bits that lie under set source bits.
            let mut spread = taken;
            for k in 0..64u32 {
                spread |= s.apply(taken & 1u64.wrapping_shl(k));
            }
            taken = spread;
        }
    }
    u8::try_from(u64::BITS.saturating_sub(taken.leading_zeros())).map_err(|_| Error::Overflow)
}

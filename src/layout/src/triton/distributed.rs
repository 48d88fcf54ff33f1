//! Encodings of tensors in registers: blocked, linear, operands of scalar multiplication, and
//! slices of all.

use super::bases::{Bases, DISTRIBUTED, LANE, REGISTER, ShapeBits, WARP, check_order, take_out};
use super::few::Few;
use super::{
    Base, Blocked, DotOp, Encoding, EncodingError, EncodingField, MAX_RANK, MatrixTiles, Order,
    matrix,
};
use crate::axis::AxisId;
use crate::linear::{Hw, Linear, Logical};

/// The bits of a register encoding, and the tensor's shape.
pub(super) fn bases(
    encoding: &Encoding,
    shape: &[u32],
    tiles: &impl MatrixTiles,
    out: &mut Bases,
) -> Result<ShapeBits, EncodingError> {
    if encoding.partition.is_some() {
        return Err(EncodingError::WrongKind);
    }
    // The parent's shape: a 1 put in for each slice, from the outermost to the innermost.
    let mut whole: Few<u32, MAX_RANK> = Few::from_slice(shape)?;
    for dim in encoding.slices.iter().rev() {
        if usize::from(dim) > whole.len() {
            return Err(EncodingError::BadValue {
                field: EncodingField::Dim,
                value: u32::from(dim),
            });
        }
        whole.insert(usize::from(dim), 1)?;
    }
    let mut own = ShapeBits::new(whole.as_slice())?;
    core(encoding, &own, tiles, out)?;
    for dim in encoding.slices.iter() {
        let d = usize::from(dim);
        out.project(d);
        take_out(&mut own.of, d);
        own.rank = own.rank.saturating_sub(1);
        out.drop_copies();
    }
    Ok(own)
}

fn core(
    encoding: &Encoding,
    shape: &ShapeBits,
    tiles: &impl MatrixTiles,
    out: &mut Bases,
) -> Result<(), EncodingError> {
    match (&encoding.base, &encoding.dot) {
        (Base::Blocked(blocked), None) => self::blocked(blocked, shape, out),
        (Base::Blocked(blocked), Some(dot)) => operand(blocked, dot, shape, out),
        (Base::NvidiaMma(mma), dot) => matrix::nvidia(mma, dot.as_ref(), shape, tiles, out),
        (Base::AmdMfma(mfma), dot) => matrix::mfma(mfma, dot.as_ref(), shape, tiles, out),
        (Base::AmdWmma(wmma), dot) => matrix::wmma(wmma, dot.as_ref(), shape, tiles, out),
        (Base::Linear(linear), None) => {
            // The rule is about the tensor: bits beyond its shape are no matter.
            fitted(linear, shape, out)?;
            check_permutation(out)
        }
        (Base::GenericLinear(linear), None) => {
            check_covers(linear)?;
            fitted(linear, shape, out)
        }
        _ => Err(EncodingError::WrongKind),
    }
}

fn check(b: &Blocked, shape: &ShapeBits) -> Result<(), EncodingError> {
    shape.fits(EncodingField::SizePerThread, b.size_per_thread.len())?;
    shape.fits(EncodingField::ThreadsPerWarp, b.threads_per_warp.len())?;
    shape.fits(EncodingField::WarpsPerCta, b.warps_per_cta.len())?;
    shape.fits(EncodingField::Order, b.order.len())?;
    check_order(b.order.as_slice(), shape.rank())
}

fn blocked(b: &Blocked, shape: &ShapeBits, out: &mut Bases) -> Result<(), EncodingError> {
    check(b, shape)?;
    let order = b.order.as_slice();
    out.begin(shape.rank(), b.order);
    let size = b.size_per_thread.as_slice();
    out.nested(EncodingField::SizePerThread, REGISTER, size, order)?;
    let threads = b.threads_per_warp.as_slice();
    out.nested(EncodingField::ThreadsPerWarp, LANE, threads, order)?;
    out.nested(EncodingField::WarpsPerCta, WARP, b.warps_per_cta.as_slice(), order)?;
    // A thread has no more elements than the tensor.
    out.combine_with(&b.cga, shape, true)
}

/// The dimension of k for an operand of a matrix product.
pub(super) fn k_dim(dot: &DotOp, rank: usize) -> Result<usize, EncodingError> {
    let from_end = match dot.op_idx {
        0 => 1usize,
        1 => 2,
        other => {
            return Err(EncodingError::BadValue {
                field: EncodingField::OpIdx,
                value: u32::from(other),
            });
        }
    };
    rank.checked_sub(from_end).ok_or(EncodingError::Rank {
        field: EncodingField::Shape,
        expected: 2,
        found: u8::try_from(rank).unwrap_or(u8::MAX),
    })
}

/// An operand of a product computed by fused multiply-adds: each thread holds all of k.
fn operand(
    b: &Blocked,
    dot: &DotOp,
    shape: &ShapeBits,
    out: &mut Bases,
) -> Result<(), EncodingError> {
    check(b, shape)?;
    if dot.k_width != 0 {
        return Err(EncodingError::BadValue { field: EncodingField::KWidth, value: dot.k_width });
    }
    let (order, k) = (b.order.as_slice(), k_dim(dot, shape.rank())?);
    let mut size = b.size_per_thread;
    if let Some(slot) = size.as_mut_slice().get_mut(k) {
        *slot = super::bases::power(shape.get(k));
    }
    out.begin(shape.rank(), b.order);
    out.nested(EncodingField::SizePerThread, REGISTER, size.as_slice(), order)?;
    let threads = b.threads_per_warp.as_slice();
    out.nested_but(EncodingField::ThreadsPerWarp, LANE, threads, order, k)?;
    let warps = b.warps_per_cta.as_slice();
    out.nested_but(EncodingField::WarpsPerCta, WARP, warps, order, k)?;
    out.combine(&matrix::shared_along(&b.cga, k), shape)
}

/// Without its zero bases the matrix of a `linear` encoding is a permutation.
fn check_permutation(bases: &Bases) -> Result<(), EncodingError> {
    let mut seen = [0u32; MAX_RANK];
    let mut bits = [0u8; 4];
    for basis in bases.all() {
        let at = bits.get_mut(usize::try_from(basis.input).unwrap_or(usize::MAX));
        let bit = at.as_ref().map_or(0, |b| **b);
        if let Some(slot) = at {
            *slot = slot.saturating_add(1);
        }
        let set = basis.at.iter().fold(0, |n: u32, v| n.saturating_add(v.count_ones()));
        let again = basis.at.iter().zip(&seen).any(|(v, s)| v & s != 0);
        if set > 1 || again {
            let input = u8::try_from(basis.input).unwrap_or(u8::MAX);
            return Err(EncodingError::NotAPermutation { input, bit });
        }
        for (slot, v) in seen.iter_mut().zip(&basis.at) {
            *slot |= v;
        }
    }
    for (d, (bits, seen)) in (0u8..).zip(bases.bits.of.iter().zip(&seen)) {
        if *seen != super::bases::power(*bits).wrapping_sub(1) {
            return Err(EncodingError::NotCovered { dim: d, bits: *bits });
        }
    }
    Ok(())
}

fn check_covers(linear: &Linear<Hw, Logical>) -> Result<(), EncodingError> {
    if linear.is_surjective() {
        return Ok(());
    }
    covered(linear, linear.columns().iter().fold(0, |sum, c| sum | c))?;
    let all = linear.outs().bits();
    Err(EncodingError::NotCovered { dim: 0, bits: all })
}

/// Whether every output bit is among those seen.
fn covered(linear: &Linear<Hw, Logical>, seen: u64) -> Result<(), EncodingError> {
    for (dim, bits) in linear.outs().iter() {
        let part = linear.outs().extract(seen, dim).unwrap_or(0);
        if part != crate::linear::low_mask(bits) {
            let dim = dim.as_dim().unwrap_or(u8::MAX);
            return Err(EncodingError::NotCovered { dim, bits });
        }
    }
    Ok(())
}

/// The dimensions in the order in which registers first move along them, then the others, last
/// dimension first.
fn register_order(linear: &Linear<Hw, Logical>, rank: usize) -> Result<Order, EncodingError> {
    let mut out = Order::new();
    for bit in 0..linear.ins().bits_of(AxisId::REGISTER) {
        let moves = |d: u8| linear.column_on(AxisId::REGISTER, bit, AxisId::dim(d));
        let first = (0..rank.min(MAX_RANK))
            .filter_map(|d| u8::try_from(d).ok())
            .find(|d| moves(*d).unwrap_or(0) != 0);
        if let Some(dim) = first.filter(|d| !out.as_slice().contains(d)) {
            out.push(dim)?;
        }
    }
    for dim in (0..rank.min(MAX_RANK)).rev() {
        let dim = u8::try_from(dim).unwrap_or(u8::MAX);
        if !out.as_slice().contains(&dim) {
            out.push(dim)?;
        }
    }
    Ok(out)
}

/// The bits of a linear layout, with the extents of its outputs.
pub(super) fn unpacked(
    linear: &Linear<Hw, Logical>,
    labels: &[AxisId; 4],
    order: Order,
    out: &mut Bases,
) -> Result<(), EncodingError> {
    let rank = linear.outs().len();
    out.begin(rank, order);
    for (axis, _) in linear.ins().iter().filter(|d| d.1 > 0) {
        if !labels.contains(&axis) {
            return Err(EncodingError::Layout(crate::error::Error::NoDim { axis }));
        }
    }
    for (input, label) in (0u8..).zip(labels) {
        // A label that stands twice counts once.
        if labels.iter().position(|l| l == label) != Some(usize::from(input)) {
            continue;
        }
        for bit in 0..linear.ins().bits_of(*label) {
            let mut at = [0u32; MAX_RANK];
            for (d, slot) in (0u8..).zip(at.iter_mut()).take(rank) {
                let value = linear.column_on(*label, bit, AxisId::dim(d)).unwrap_or(0);
                *slot = u32::try_from(value)
                    .map_err(|_| EncodingError::Layout(crate::error::Error::Overflow))?;
            }
            out.push(input, at)?;
        }
    }
    for (dim, bits) in linear.outs().iter() {
        let d =
            dim.as_dim().ok_or(EncodingError::Layout(crate::error::Error::NoDim { axis: dim }))?;
        out.bits.set(usize::from(d), bits);
    }
    Ok(())
}

/// A linear layout at another shape: repeated in registers, or clipped (register bits beyond the
/// shape disappear).
fn fitted(
    linear: &Linear<Hw, Logical>,
    shape: &ShapeBits,
    out: &mut Bases,
) -> Result<(), EncodingError> {
    shape.fits(EncodingField::Bases, linear.outs().len())?;
    let order = register_order(linear, shape.rank())?;
    unpacked(linear, &DISTRIBUTED, order, out)?;
    out.grow(shape)?;
    out.shrink(shape, true);
    Ok(())
}

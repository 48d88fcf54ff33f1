//! Layouts through operations on shapes: transposition, reshaping, reduction, broadcast, and
//! adding, splitting and joining of dimensions.
//!
//! Each works on the linear form, so it is exact for every encoding; where a slice comes off, on
//! the encoding itself.
//!
//! ```
//! use lanebook_layout::notation::ttg;
//! use lanebook_layout::triton::infer;
//! use lanebook_layout::triton::{NoTiles, to_linear};
//!
//! let text = "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [1, 0]}>";
//! let encoding = ttg::parse(text).unwrap();
//! let tile = to_linear(&encoding, &[8, 8], &NoTiles).unwrap();
//! // Each operation on tensors as one on layouts: what a thread holds stays what it holds.
//! let turned = infer::transposed(&tile, &[1, 0]).unwrap();
//! assert_eq!(infer::transposed(&turned, &[1, 0]).unwrap(), tile);
//! assert_eq!(infer::reshaped(&infer::reshaped(&tile, &[64]).unwrap(), &[8, 8]).unwrap(), tile);
//! assert_eq!(infer::expanded(&tile, 0).unwrap().outs().len(), 3);
//! // A join adds a pair of registers, a split takes it away.
//! assert_eq!(infer::split(&infer::join(&tile).unwrap()).unwrap(), tile);
//! assert_eq!(infer::joined(&encoding, &[8, 8], &NoTiles).unwrap().outs().len(), 3);
//! let mut both = encoding.clone();
//! assert!(infer::joined_encoding(&mut both).is_some() && infer::split_encoding(&mut both).is_some());
//! assert_eq!(both, encoding);
//! // Reductions leave a slice, which expands and broadcasts back.
//! let sums = infer::reduced(&encoding, &[8, 8], 1, &NoTiles).unwrap();
//! assert_eq!(sums.outs().len(), 1);
//! let rows = encoding.clone().sliced(1).unwrap();
//! assert_eq!(infer::expand_dims(&rows, &[8], 1, &NoTiles).unwrap().outs().len(), 2);
//! assert_eq!(infer::broadcast(&encoding, &[8, 1], &[8, 8], &NoTiles).unwrap(), tile);
//! // Blocked encodings have a name for their transposed.
//! assert!(infer::transposed_encoding(&encoding, &[1, 0]).is_some());
//! ```

use super::bases::{ShapeBits, check_order};
use super::few::Few;
use super::{Base, Encoding, EncodingError, EncodingField, MAX_RANK, MatrixTiles, to_linear};
use crate::axis::AxisId;
use crate::linear::{Dims, Hw, Linear, Logical};

/// The tensor's dimensions as labels.
fn labels(rank: usize) -> Few<u16, MAX_RANK> {
    let mut out = Few::new();
    for d in 0..rank.min(MAX_RANK) {
        let _ = out.push(AxisId::dim(u8::try_from(d).unwrap_or(u8::MAX)).0);
    }
    out
}

fn numbered(
    linear: &Linear<Hw, Logical>,
    bits: &ShapeBits,
) -> Result<Linear<Hw, Logical>, EncodingError> {
    let mut outs = Dims::new();
    for d in 0..bits.rank {
        outs.push(AxisId::dim(d), bits.get(usize::from(d)))?;
    }
    Ok(linear.reshape_outs(outs)?)
}

/// Dimension `i` of the result is dimension `order[i]` of the operand.
///
/// # Errors
/// [`EncodingError::NotAnOrder`], [`EncodingError::Rank`].
pub fn transposed(
    linear: &Linear<Hw, Logical>,
    order: &[u8],
) -> Result<Linear<Hw, Logical>, EncodingError> {
    let rank = linear.outs().len();
    let mut bits = ShapeBits { of: [0; MAX_RANK], rank: u8::try_from(rank).unwrap_or(u8::MAX) };
    bits.fits(EncodingField::Order, order.len())?;
    check_order(order, rank)?;
    let mut axes: [AxisId; MAX_RANK] = [AxisId::M; MAX_RANK];
    for (d, (slot, from)) in axes.iter_mut().zip(order).enumerate() {
        *slot = AxisId::dim(*from);
        bits.set(d, linear.outs().bits_of(*slot));
    }
    let moved = linear.transpose_outs(axes.get(..rank).unwrap_or(&[]))?;
    numbered(&moved, &bits)
}

/// The row-major element number stays.
///
/// # Errors
/// [`EncodingError::Reshape`] if the numbers of elements differ.
pub fn reshaped(
    linear: &Linear<Hw, Logical>,
    shape: &[u32],
) -> Result<Linear<Hw, Logical>, EncodingError> {
    let bits = ShapeBits::new(shape)?;
    if bits.total() != linear.outs().bits() {
        return Err(EncodingError::Reshape { old: linear.outs().bits(), new: bits.total() });
    }
    // Row-major: the last dimension has the low bits.
    let rank = linear.outs().len();
    let mut order: Few<u8, MAX_RANK> = Few::new();
    for d in (0..rank.min(MAX_RANK)).rev() {
        order.push(u8::try_from(d).unwrap_or(u8::MAX))?;
    }
    let flat = transposed(linear, order.as_slice())?;
    let mut backwards = ShapeBits { of: [0; MAX_RANK], rank: bits.rank };
    for d in 0..bits.rank() {
        backwards.set(d, bits.get(bits.rank().saturating_sub(d).saturating_sub(1)));
    }
    let split = numbered(&flat, &backwards)?;
    let mut order: Few<u8, MAX_RANK> = Few::new();
    for d in (0..bits.rank).rev() {
        order.push(d)?;
    }
    transposed(&split, order.as_slice())
}

/// A dimension of extent 1 before dimension `axis` of a linear layout.
///
/// # Errors
/// [`EncodingError::BadValue`] beyond the rank, [`EncodingError::TooMany`].
pub fn expanded(
    linear: &Linear<Hw, Logical>,
    axis: u8,
) -> Result<Linear<Hw, Logical>, EncodingError> {
    let rank = linear.outs().len();
    if usize::from(axis) > rank || rank >= MAX_RANK {
        return Err(EncodingError::BadValue { field: EncodingField::Dim, value: u32::from(axis) });
    }
    let mut outs = Dims::new();
    let (mut d, mut from) = (0u8, linear.outs().iter());
    for _ in 0..=rank {
        let bits = if d == axis { 0 } else { from.next().map_or(0, |dim| dim.1) };
        outs.push(AxisId::dim(d), bits)?;
        d = d.saturating_add(1);
    }
    Ok(linear.reshape_outs(outs)?)
}

/// The layout after `expand_dims`: a slice along `axis` gives its parent back, with the parent's
/// copies in registers.
///
/// # Errors
/// Those of [`to_linear`] and [`expanded`].
pub fn expand_dims(
    encoding: &Encoding,
    shape: &[u32],
    axis: u8,
    tiles: &impl MatrixTiles,
) -> Result<Linear<Hw, Logical>, EncodingError> {
    let outer = encoding.slices.len().checked_sub(1);
    if let Some(dim) = outer.and_then(|k| encoding.slices.get(k)).filter(|d| *d == axis) {
        let mut parent = encoding.clone();
        parent.slices.remove(outer.unwrap_or(0));
        let mut whole: Few<u32, MAX_RANK> = Few::from_slice(shape)?;
        whole.insert(usize::from(dim), 1)?;
        return to_linear(&parent, whole.as_slice(), tiles);
    }
    expanded(&to_linear(encoding, shape, tiles)?, axis)
}

/// The layout after a reduction along `axis`: the slice of the operand's encoding at what is left
/// of `shape`.
///
/// Lanes and warps that held different elements along `axis` hold copies of the result.
///
/// # Errors
/// [`EncodingError::BadValue`] beyond the rank, [`EncodingError::WrongKind`] unless the tensor is
/// in registers, and those of [`to_linear`].
pub fn reduced(
    encoding: &Encoding,
    shape: &[u32],
    axis: u8,
    tiles: &impl MatrixTiles,
) -> Result<Linear<Hw, Logical>, EncodingError> {
    let mut left: Few<u32, MAX_RANK> = Few::from_slice(shape)?;
    if usize::from(axis) >= left.len() {
        return Err(EncodingError::BadValue { field: EncodingField::Dim, value: u32::from(axis) });
    }
    if !encoding.is_distributed() {
        return Err(EncodingError::WrongKind);
    }
    left.remove(usize::from(axis));
    to_linear(&encoding.clone().sliced(axis)?, left.as_slice(), tiles)
}

/// The layout of a broadcast from shape `from` to shape `to`: that of the same encoding at `to`.
/// Every thread then has each of its elements from an element that it holds, since an encoding at
/// extent 1 is the one at a larger extent with copies.
///
/// # Errors
/// [`EncodingError::NotBroadcast`] if an extent changes that is not 1, [`EncodingError::Rank`],
/// [`EncodingError::WrongKind`] unless the tensor is in registers, and those of [`to_linear`].
pub fn broadcast(
    encoding: &Encoding,
    from: &[u32],
    to: &[u32],
    tiles: &impl MatrixTiles,
) -> Result<Linear<Hw, Logical>, EncodingError> {
    if !encoding.is_distributed() {
        return Err(EncodingError::WrongKind);
    }
    ShapeBits::new(from)?.fits(EncodingField::Shape, to.len())?;
    for (d, (extent, wanted)) in (0u8..).zip(from.iter().zip(to)) {
        if extent != wanted && *extent != 1 {
            return Err(EncodingError::NotBroadcast { dim: d, extent: *extent, wanted: *wanted });
        }
    }
    to_linear(encoding, to, tiles)
}

/// Both halves of a tensor whose last dimension has extent 2, which one register bit must number:
/// that dimension goes, and with it the register bits that moved nothing else.
///
/// # Errors
/// [`EncodingError::CannotSplit`].
pub fn split(linear: &Linear<Hw, Logical>) -> Result<Linear<Hw, Logical>, EncodingError> {
    let last = linear.outs().len().checked_sub(1);
    let last = last.and_then(|d| u8::try_from(d).ok()).map(AxisId::dim);
    let fault = |bits: u8| EncodingError::CannotSplit { extent: super::bases::power(bits) };
    let last = last.ok_or(fault(0))?;
    let bits = linear.outs().bits_of(last);
    let unit = linear.outs().insert(1, last).map_err(|_| fault(bits))?;
    let register = linear.ins().bits_of(AxisId::REGISTER);
    let numbered = (0..register).any(|b| linear.column(AxisId::REGISTER, b) == Some(unit));
    let moves = |c: &&u64| **c & unit != 0;
    if bits != 1 || !numbered || linear.columns().iter().filter(moves).count() != 1 {
        return Err(fault(bits));
    }
    let ins = labels_of(linear.ins());
    let mut keep = labels_of(linear.outs());
    let _ = keep.remove(keep.len().saturating_sub(1));
    let half = linear.sublayout(&axes(&ins)?, &axes(&keep)?)?;
    Ok(half.remove_zero_bases(AxisId::REGISTER)?)
}

fn labels_of(dims: &Dims) -> Few<u16, { crate::linear::MAX_DIMS }> {
    let mut out = Few::new();
    for (axis, _) in dims.iter() {
        let _ = out.push(axis.0);
    }
    out
}

fn axes(
    labels: &Few<u16, { crate::linear::MAX_DIMS }>,
) -> Result<heapless::Vec<AxisId, { crate::linear::MAX_DIMS }>, EncodingError> {
    let mut out = heapless::Vec::new();
    let max = crate::linear::MAX_DIMS as u16;
    for label in labels.iter() {
        out.push(AxisId(label)).map_err(|_| EncodingError::TooMany { max })?;
    }
    Ok(out)
}

/// Two tensors side by side along a new last dimension of extent 2, numbered by the lowest register
/// bit.
///
/// # Errors
/// [`EncodingError::TooMany`] beyond [`MAX_RANK`]; [`EncodingError::Layout`] beyond 64 bits.
pub fn join(linear: &Linear<Hw, Logical>) -> Result<Linear<Hw, Logical>, EncodingError> {
    let rank = linear.outs().len();
    if rank >= MAX_RANK {
        return Err(EncodingError::TooMany { max: MAX_RANK as u16 });
    }
    let last = AxisId::dim(u8::try_from(rank).unwrap_or(u8::MAX));
    let pair = Linear::<Hw, Logical>::identity1d(1, AxisId::REGISTER, last)?;
    let joined = pair.product(linear)?;
    let mut outs: heapless::Vec<AxisId, { crate::linear::MAX_DIMS }> = heapless::Vec::new();
    for label in labels(rank).iter().chain(core::iter::once(last.0)) {
        let _ = outs.push(AxisId(label));
    }
    Ok(joined.transpose_outs(&outs)?)
}

/// The layout after a join of two tensors of this encoding: as [`join`], but a slice along the new
/// dimension gives its parent back if the parent's halves are two registers of one thread and each
/// is laid out like the operands.
///
/// # Errors
/// Those of [`to_linear`] and [`join`].
pub fn joined(
    encoding: &Encoding,
    shape: &[u32],
    tiles: &impl MatrixTiles,
) -> Result<Linear<Hw, Logical>, EncodingError> {
    let own = to_linear(encoding, shape, tiles)?;
    let outer = encoding.slices.len().checked_sub(1);
    if let Some(k) = outer.filter(|k| encoding.slices.get(*k).map(usize::from) == Some(shape.len()))
    {
        let mut parent = encoding.clone();
        parent.slices.remove(k);
        let mut whole: Few<u32, MAX_RANK> = Few::from_slice(shape)?;
        whole.push(2)?;
        let form = to_linear(&parent, whole.as_slice(), tiles)?;
        if split(&form).is_ok_and(|half| half.same_map(&own)) {
            return Ok(form);
        }
    }
    join(&own)
}

/// Makes of nested tiles those of two such tensors side by side: a pair of registers along a new
/// last dimension.
///
/// `None` for other encodings, and for blocks of a cluster.
pub fn joined_encoding(encoding: &mut Encoding) -> Option<()> {
    let b = nested(encoding)?;
    let last = u8::try_from(b.order.len()).ok()?;
    b.size_per_thread.push(2).ok()?;
    b.threads_per_warp.push(1).ok()?;
    b.warps_per_cta.push(1).ok()?;
    b.order.insert(0, last).ok()
}

/// Makes of nested tiles those of the halves along the last dimension, which one pair of registers
/// must number.
///
/// `None` for other encodings, and for blocks of a cluster.
pub fn split_encoding(encoding: &mut Encoding) -> Option<()> {
    let b = nested(encoding)?;
    let last = b.order.len().checked_sub(1)?;
    let pair =
        (b.size_per_thread.get(last)?, b.threads_per_warp.get(last)?, b.warps_per_cta.get(last)?);
    let at = b.order.iter().position(|d| usize::from(d) == last)?;
    if pair != (2, 1, 1) {
        return None;
    }
    b.size_per_thread.remove(last);
    b.threads_per_warp.remove(last);
    b.warps_per_cta.remove(last);
    b.order.remove(at);
    Some(())
}

fn nested(encoding: &mut Encoding) -> Option<&mut super::Blocked> {
    if encoding.dot.is_some() || encoding.partition.is_some() || !encoding.slices.is_empty() {
        return None;
    }
    match &mut encoding.base {
        Base::Blocked(b) if b.cga.bases.iter().next().is_none() => Some(b),
        _ => None,
    }
}

/// Whether the encoding of a transposed tensor has a name of its own: the same kind with permuted
/// parameters.
///
/// Blocked and swizzled encodings do, tiles of TMA if their two dimensions change places, and
/// padded ones, whose linear component is transposed; all others become linear.
#[must_use]
pub fn transposed_encoding(encoding: &Encoding, order: &[u8]) -> Option<Encoding> {
    if encoding.dot.is_some() || encoding.partition.is_some() || !encoding.slices.is_empty() {
        return None;
    }
    let inverse = |dim: u8| {
        let at = order.iter().position(|o| *o == dim)?;
        u8::try_from(at).ok()
    };
    let moved = |dims: &super::Order| {
        let mut out = super::Order::new();
        for d in dims.iter() {
            out.push(inverse(d)?).ok()?;
        }
        Some(out)
    };
    let picked = |list: &super::Extents| {
        let mut out = super::Extents::new();
        for d in order {
            out.push(list.get(usize::from(*d))?).ok()?;
        }
        Some(out)
    };
    let cluster = |cga: &super::Cga| {
        let mut out = super::Cga::default();
        for basis in cga.bases.iter() {
            let mut at = [0u16; MAX_RANK];
            for (slot, d) in at.iter_mut().zip(order) {
                *slot = basis.get(usize::from(*d)).copied()?;
            }
            out.bases.push(at).ok()?;
        }
        Some(out)
    };
    let base = match &encoding.base {
        Base::Blocked(b) => Base::Blocked(super::Blocked {
            size_per_thread: picked(&b.size_per_thread)?,
            threads_per_warp: picked(&b.threads_per_warp)?,
            warps_per_cta: picked(&b.warps_per_cta)?,
            order: moved(&b.order)?,
            cga: cluster(&b.cga)?,
        }),
        Base::Swizzled(s) => {
            Base::Swizzled(super::Swizzled { order: moved(&s.order)?, cga: cluster(&s.cga)?, ..*s })
        }
        Base::Nvmma(n) if order == [1, 0] => Base::Nvmma(super::NvmmaShared {
            transposed: !n.transposed,
            cga: cluster(&n.cga)?,
            ..*n
        }),
        Base::Padded(p) => {
            Base::Padded(super::Padded { linear: transposed(&p.linear, order).ok()?, ..p.clone() })
        }
        _ => return None,
    };
    Some(base.into())
}

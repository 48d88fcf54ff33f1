//! TIRx's forms of evaluation: a coordinate an iter, a coordinate in a shape, and the set with all
//! copies.
//!
//! The linear form is [`LayoutRef::apply_flat`], its set [`LayoutRef::apply_all`]. Unlike TIRx's,
//! every form refuses coordinates outside the layout and shapes of another size.

use super::AxisKinds;
use crate::coord::Coord;
use crate::error::{Error, Result};
use crate::layout::{LayoutRef, position};

/// The position of the coordinate with one number a shard iter, replicas at their first copy.
///
/// ```
/// # use lanebook_layout::{AxisId, Coord, NoSyms, WellKnown, notation, tirx};
/// # let of = |text: &str| notation::tirx::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let mut at = Coord::new();
/// tirx::apply_iters(&of("S[(8,4):(4@laneid,1@laneid)]").view(), &[3, 2], &mut at).unwrap();
/// assert_eq!(at.get(AxisId::LANE), 14);
/// ```
///
/// # Errors
/// [`Error::Rank`], [`Error::OutOfRange`], and those of [`LayoutRef::apply_flat`].
pub fn apply_iters(l: &LayoutRef<'_>, coord: &[u64], out: &mut Coord) -> Result<()> {
    let extents = l.shard.iter().rev().map(|it| it.extent_value());
    let flat = flatten(coord, extents, l.shard.len())?;
    l.apply_flat(flat, out)
}

/// The position of a coordinate of a row-major shape, replicas at their first copy.
///
/// ```
/// # use lanebook_layout::{AxisId, Coord, NoSyms, WellKnown, notation, tirx};
/// # let of = |text: &str| notation::tirx::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let mut at = Coord::new();
/// // Row 1, column 2 of 4 by 16, whatever the iters are.
/// tirx::apply_shaped(&of("S[(2,2,16):(64,32,1)]").view(), &[1, 2], &[4, 16], &mut at).unwrap();
/// assert_eq!(at.get(AxisId::M), 34);
/// ```
///
/// # Errors
/// [`Error::Rank`], [`Error::OutOfRange`], [`Error::BadShape`] if the shape has another number of
/// elements than the layout, and those of [`LayoutRef::apply_flat`].
pub fn apply_shaped(
    l: &LayoutRef<'_>,
    coord: &[u64],
    shape: &[u32],
    out: &mut Coord,
) -> Result<()> {
    let flat = flat_of(l, coord, shape)?;
    l.apply_flat(flat, out)
}

/// Calls `visit` with every position of a coordinate of a row-major shape, one a combination of
/// replica steps.
///
/// ```
/// # use lanebook_layout::{AxisId, Coord, NoSyms, WellKnown, notation, tirx};
/// # let of = |text: &str| notation::tirx::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let (mut at, mut lanes) = (Coord::new(), Vec::new());
/// let tile = of("S[8:1@laneid] + R[2:8@laneid]");
/// tirx::apply_all_shaped(&tile.view(), &[3], &[8], &mut at, |one| Ok(lanes.push(one.get(AxisId::LANE)))).unwrap();
/// assert_eq!(lanes, [3, 11]);
/// ```
///
/// # Errors
/// Those of [`apply_shaped`]; an error of `visit` ends the walk.
pub fn apply_all_shaped(
    l: &LayoutRef<'_>,
    coord: &[u64],
    shape: &[u32],
    out: &mut Coord,
    visit: impl FnMut(&Coord) -> Result<()>,
) -> Result<()> {
    let flat = flat_of(l, coord, shape)?;
    l.apply_all(flat, out, visit)
}

fn flat_of(l: &LayoutRef<'_>, coord: &[u64], shape: &[u32]) -> Result<u64> {
    let (size, held) = (product(shape)?, l.size_value()?);
    if size != held {
        let narrow = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        return Err(Error::BadShape { dim: u8::MAX, found: narrow(size), needed: narrow(held) });
    }
    flatten(coord, shape.iter().map(|e| Ok(*e)), shape.len())
}

fn flatten(coord: &[u64], extents: impl Iterator<Item = Result<u32>>, rank: usize) -> Result<u64> {
    if coord.len() != rank {
        return Err(Error::Rank { expected: position(rank), found: position(coord.len()) });
    }
    let mut flat = 0u64;
    for (k, (x, extent)) in coord.iter().zip(extents).enumerate() {
        let extent = u64::from(extent?);
        if *x >= extent {
            return Err(Error::OutOfRange { mode: position(k), coord: *x, extent });
        }
        flat = flat.checked_mul(extent).and_then(|f| f.checked_add(*x)).ok_or(Error::Overflow)?;
    }
    Ok(flat)
}

/// The number of elements of a shape.
pub(super) fn product(shape: &[u32]) -> Result<u64> {
    shape.iter().try_fold(1u64, |p, e| p.checked_mul(u64::from(*e)).ok_or(Error::Overflow))
}

/// TIRx's `span()` without an axis: how far all memory axes together reach, plus 1. Where several
/// memory axes occur this is no range of addresses. A composed layout's is that of its tile.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, tirx};
/// # let of = |text: &str| notation::tirx::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// assert_eq!(tirx::memory_span(&of("S[(32,4):(1@laneid,2)]").view(), &WellKnown), Ok(7));
/// ```
///
/// # Errors
/// [`Error::UnknownAxis`], [`Error::NeedsValue`], [`Error::Overflow`].
pub fn memory_span(l: &LayoutRef<'_>, kinds: &impl AxisKinds) -> Result<i64> {
    let mut sum = 1i64;
    for axis in &l.axes()? {
        if !kinds.known(*axis)?.is_thread() {
            let steps = l.span(*axis)?.checked_sub(1).ok_or(Error::Overflow)?;
            sum = sum.checked_add(steps).ok_or(Error::Overflow)?;
        }
    }
    Ok(sum)
}

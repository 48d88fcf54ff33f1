//! Tiling: a layout repeated at the places of another, and the direct sum, which is the same
//! without scaling.

use super::canonical::canonical_written;
use super::canonicalize;
use super::group::{CutIters, cut};
use crate::axis::AxisId;
use crate::error::{Error, Result};
use crate::layout::{Iter, Layout, LayoutRef, position};
use crate::num::Int;
use crate::ops::{Iters, push};

/// The width of the window that `l` occupies on `axis`, copies included: greatest less least
/// position, plus 1. The offset moves the window and does not widen it (in TIRx it does).
///
/// ```
/// # use lanebook_layout::{AxisId, NoSyms, WellKnown, notation, tirx};
/// # let of = |text: &str| notation::tirx::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// assert_eq!(tirx::footprint(&of("S[(2,3):(8,1)] + 5").view(), AxisId::M), Ok(11));
/// ```
///
/// # Errors
/// [`Error::NeedsValue`], [`Error::Overflow`].
pub fn footprint(l: &LayoutRef<'_>, axis: AxisId) -> Result<i64> {
    let (low, high) = l.reach(axis)?;
    high.checked_sub(low).and_then(|w| w.checked_add(1)).ok_or(Error::Overflow)
}

/// How far a step of the outer layout goes in a tiling.
///
/// ```
/// # use lanebook_layout::tirx::{TileStep, tile_stepped};
/// # use lanebook_layout::{AxisId, NoSyms, WellKnown, notation};
/// # let of = |text: &str| notation::tirx::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let (inner, outer) = (of("S[4:1] + 2"), of("S[2:1]"));
/// let second = |step| tile_stepped(&inner.view(), &[4], &outer.view(), &[2], step).unwrap().view().offset_on(4, AxisId::M);
/// assert_eq!((second(TileStep::Footprint), second(TileStep::Span)), (Ok(6), Ok(8)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum TileStep {
    /// One [`footprint`] of the inner layout: tiles stand side by side wherever the first begins.
    #[default]
    Footprint,
    /// One [`LayoutRef::span`] of the inner layout, which counts from 0, so that an offset of the
    /// inner layout moves the tiles apart. TIRx's definition.
    Span,
}

impl TileStep {
    /// The length of a step on `axis`.
    pub(super) fn of(self, inner: &LayoutRef<'_>, axis: AxisId) -> Result<i64> {
        match self {
            Self::Footprint => footprint(inner, axis),
            Self::Span => inner.span(axis),
        }
    }
}

/// `inner` repeated at the places that `outer` counts. Dimension by dimension, an outer iter comes
/// before the inner ones; on an axis of both a step of `outer` is a whole [`footprint`] of `inner`.
///
/// Offsets are added and replicas joined as they are, unscaled. The result is canonical and keeps
/// `inner`'s post-map.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, tirx};
/// # let of = |text: &str| notation::tirx::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let (atom, outer) = (of("S[(8,8):(8,1)]"), of("S[(2,4):(4,1)]"));
/// let tiled = tirx::tile(&atom.view(), &[8, 8], &outer.view(), &[2, 4]).unwrap();
/// assert_eq!(tiled, of("S[(2,8,4,8):(256,8,64,1)]"));
/// ```
///
/// # Errors
/// [`Error::Rank`] if the shapes differ in rank; [`Error::CannotGroup`] if one does not fit its
/// layout; [`Error::HasPostMap`] if `outer` has one; [`Error::Capacity`], [`Error::NeedsValue`],
/// [`Error::Overflow`].
pub fn tile(
    inner: &LayoutRef<'_>,
    inner_shape: &[u32],
    outer: &LayoutRef<'_>,
    outer_shape: &[u32],
) -> Result<Layout> {
    tile_stepped(inner, inner_shape, outer, outer_shape, TileStep::Footprint)
}

/// [`tile`] with steps of another length. Errors as there.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, tirx};
/// # let of = |text: &str| notation::tirx::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let made = tirx::tile_stepped(&of("S[4:1] + 2").view(), &[4], &of("S[2:1]").view(), &[2], tirx::TileStep::Span);
/// assert_eq!(made.unwrap(), of("S[(2,4):(6,1)] + 2"));
/// ```
pub fn tile_stepped(
    inner: &LayoutRef<'_>,
    inner_shape: &[u32],
    outer: &LayoutRef<'_>,
    outer_shape: &[u32],
    step: TileStep,
) -> Result<Layout> {
    let mut shard = canonical_written(outer)?;
    scale(&mut shard, inner, step)?;
    interleave(SlowOperand { shard: &shard, rest: outer, shape: outer_shape }, inner, inner_shape)
}

/// `left` and `right` side by side: dimension by dimension the iters of `left`, then those of
/// `right`, as they are.
///
/// Offsets are added and replicas joined. The result is canonical and keeps `right`'s post-map.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, tirx};
/// # let of = |text: &str| notation::tirx::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// // As a tiling, with the steps of the left layout as they are.
/// let made = tirx::direct_sum(&of("S[3:8]").view(), &[3], &of("S[4:1]").view(), &[4]).unwrap();
/// assert_eq!(made, of("S[(3,4):(8,1)]"));
/// ```
///
/// # Errors
/// As [`tile`]; it is `left` that must not have a post-map.
pub fn direct_sum(
    left: &LayoutRef<'_>,
    left_shape: &[u32],
    right: &LayoutRef<'_>,
    right_shape: &[u32],
) -> Result<Layout> {
    interleave(
        SlowOperand { shard: &canonical_written(left)?, rest: left, shape: left_shape },
        right,
        right_shape,
    )
}

/// [`tile`] by a row-major layout on axis `m`, so that `current` becomes `to`.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, tirx};
/// # let of = |text: &str| notation::tirx::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let made = tirx::tile_to(&of("S[(8,8):(8,1)]").view(), &[16, 32], &[8, 8]).unwrap();
/// assert_eq!(made, of("S[(2,8,4,8):(256,8,64,1)]"));
/// ```
///
/// # Errors
/// [`Error::BadShape`] if an extent of `to` is no multiple of `current`'s; else as [`tile`].
pub fn tile_to(l: &LayoutRef<'_>, to: &[u32], current: &[u32]) -> Result<Layout> {
    same_rank(current, to)?;
    let mut shape = ShapeExtents::new();
    for (k, (target, unit)) in to.iter().zip(current).enumerate() {
        let _ = shape.push(quotient(*target, *unit, k)?);
    }
    let mut rows = Iters::new();
    let mut stride = Int::ONE;
    for extent in shape.iter().rev() {
        let extent = Int::known(i64::from(*extent));
        push(&mut rows, Iter::symbolic(extent, stride, AxisId::M)?)?;
        stride = stride.checked_mul(extent)?;
    }
    let outer = LayoutRef::new(&rows);
    outer.check()?;
    tile(l, current, &outer, &shape)
}

/// A shape of as many dimensions as fit.
pub(super) type ShapeExtents = heapless::Vec<u32, { crate::layout::MAX_ITERS }>;

/// `whole / unit`, which must be exact.
pub(super) fn quotient(whole: u32, unit: u32, k: usize) -> Result<u32> {
    let fault = Error::BadShape { dim: position(k), found: whole, needed: unit };
    if whole.checked_rem(unit) != Some(0) {
        return Err(fault);
    }
    whole.checked_div(unit).ok_or(fault)
}

pub(super) fn same_rank(a: &[u32], b: &[u32]) -> Result<()> {
    if a.len() == b.len() && a.len() <= crate::layout::MAX_ITERS {
        return Ok(());
    }
    Err(Error::Rank { expected: position(a.len()), found: position(b.len()) })
}

/// Multiplies the strides by the length of a step on their axis.
pub(super) fn scale(iters: &mut [Iter], inner: &LayoutRef<'_>, step: TileStep) -> Result<()> {
    for it in iters {
        let width = Int::known(step.of(inner, it.axis())?);
        *it = Iter::symbolic(it.extent(), it.stride().checked_mul(width)?, it.axis())?;
    }
    Ok(())
}

/// The slower operand: its canonical iters as written, and what else it has.
struct SlowOperand<'a> {
    shard: &'a [Iter],
    rest: &'a LayoutRef<'a>,
    shape: &'a [u32],
}

fn interleave(slow: SlowOperand<'_>, fast: &LayoutRef<'_>, fast_shape: &[u32]) -> Result<Layout> {
    same_rank(fast_shape, slow.shape)?;
    if !slow.rest.post.is_identity() {
        return Err(Error::HasPostMap);
    }
    let mut merged = Layout::new();
    merge(&mut merged, &slow, fast, fast_shape)?;
    merged.copy_rest(fast)?;
    for it in slow.rest.replica {
        merged.push_replica(*it)?;
    }
    for o in slow.rest.offset {
        merged.add_offset(o.value(), o.axis())?;
    }
    canonicalize(&merged.view())
}

/// Appends the iters of both, dimension by dimension, the slower part's first (as written).
#[inline(never)]
fn merge(
    out: &mut Layout,
    slow: &SlowOperand<'_>,
    fast: &LayoutRef<'_>,
    fast_shape: &[u32],
) -> Result<()> {
    let (mut outer, mut inner) = (CutIters::EMPTY, CutIters::EMPTY);
    cut(&mut outer, slow.shard, slow.shape)?;
    inner.cut_canonical(fast, fast_shape)?;
    for k in (0..slow.shape.len()).rev() {
        for it in outer.dim(k).iter().chain(inner.dim(k)).rev() {
            out.push_shard(*it)?;
        }
    }
    Ok(())
}

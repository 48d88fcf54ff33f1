//! The other factor of a tiling or direct sum, given the whole and one factor. TIRx:
//! `is_tile_inner` and so on.
//!
//! All four are exact: what they return gives the whole again ([`super::tile`],
//! [`super::direct_sum`]), and where no such factor exists the error names the dimension. Iters are
//! compared after joining neighbours, so spelling does not matter; replicas are a multiset.

use super::canonical::canonical_written;
use super::group::{CutIters, cut};
use super::tile::{ShapeExtents, TileStep, quotient, same_rank, scale};
use super::{bare, canonicalize};
use crate::error::{Error, Result};
use crate::layout::{Iter, Layout, LayoutRef, position};
use crate::num::Int;
use crate::ops::{Iters, push, push_merged};
use crate::post::PostMap;

/// The outer layout with `tile(inner, inner_shape, outer, ..) = tiled`; TIRx:
/// `inner.is_tile_inner(tiled, ..)`.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, tirx};
/// # let of = |text: &str| notation::tirx::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let (inner, outer) = (of("S[(2,4):(4,1)]"), of("S[(3,5):(5,1)]"));
/// let tiled = tirx::tile(&inner.view(), &[2, 4], &outer.view(), &[3, 5]).unwrap();
/// assert_eq!(tirx::outer_of_tile(&tiled.view(), &[6, 20], &inner.view(), &[2, 4]), tirx::canonicalize(&outer.view()));
/// ```
///
/// # Errors
/// [`Error::NotDivisible`] with the dimension in which `inner` is not the fastest part (replicas:
/// the number of dimensions; post-maps that differ: [`Error::HasPostMap`]); [`Error::BadShape`] if
/// an extent is no multiple of `inner_shape`'s; else as [`super::tile`].
pub fn outer_of_tile(
    tiled: &LayoutRef<'_>,
    tiled_shape: &[u32],
    inner: &LayoutRef<'_>,
    inner_shape: &[u32],
) -> Result<Layout> {
    outer_of_tile_stepped(tiled, tiled_shape, inner, inner_shape, TileStep::Footprint)
}

/// [`outer_of_tile`] of a tiling with steps of another length. Errors as there.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, tirx};
/// # use lanebook_layout::tirx::TileStep::Span;
/// # let of = |text: &str| notation::tirx::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let (inner, outer) = (of("S[4:1] + 2"), of("S[3:1]"));
/// let tiled = tirx::tile_stepped(&inner.view(), &[4], &outer.view(), &[3], Span).unwrap();
/// assert_eq!(tirx::outer_of_tile_stepped(&tiled.view(), &[12], &inner.view(), &[4], Span).unwrap(), outer);
/// ```
pub fn outer_of_tile_stepped(
    tiled: &LayoutRef<'_>,
    tiled_shape: &[u32],
    inner: &LayoutRef<'_>,
    inner_shape: &[u32],
    step: TileStep,
) -> Result<Layout> {
    let pairs = interleaved(tiled_shape, inner_shape, KnownOperand::Fast)?;
    if tiled.post != inner.post {
        return Err(Error::HasPostMap);
    }
    let slow = other_factor(tiled, &pairs, inner, inner_shape, KnownOperand::Fast)?;
    let mut shard = Iters::new();
    for (k, it) in slow.shard.iter().enumerate() {
        let width = Int::known(step.of(inner, it.axis())?);
        let stride = it.stride().div_exact(width);
        let exact = stride.filter(|_| !it.is_unit());
        let fault = Error::NotDivisible { mode: dim_of(&slow.separators, k), part: position(k) };
        let stride = match exact {
            Some(stride) => stride,
            None if it.is_unit() => Int::ONE,
            None => return Err(fault),
        };
        push(&mut shard, Iter::symbolic(it.extent(), stride, it.axis())?)?;
    }
    finish(&shard, tiled, inner, PostMap::None, tiled_shape.len())
}

/// The inner layout with `tile(inner, .., outer, outer_shape) = tiled`; TIRx:
/// `outer.is_tile_outer(tiled, ..)`.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, tirx};
/// # let of = |text: &str| notation::tirx::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let (inner, outer) = (of("S[4:1]"), of("S[3:1]"));
/// let tiled = tirx::tile(&inner.view(), &[4], &outer.view(), &[3]).unwrap();
/// assert_eq!(tirx::inner_of_tile(&tiled.view(), &[12], &outer.view(), &[3]).unwrap(), inner);
/// ```
///
/// # Errors
/// As [`outer_of_tile`], with `outer` in the place of `inner`; [`Error::NotDivisible`] also if the
/// steps of `outer` in `tiled` are not one footprint of the inner layout.
pub fn inner_of_tile(
    tiled: &LayoutRef<'_>,
    tiled_shape: &[u32],
    outer: &LayoutRef<'_>,
    outer_shape: &[u32],
) -> Result<Layout> {
    inner_of_tile_stepped(tiled, tiled_shape, outer, outer_shape, TileStep::Footprint)
}

/// [`inner_of_tile`] of a tiling with steps of another length. Errors as there.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, tirx};
/// # use lanebook_layout::tirx::TileStep::Span;
/// # let of = |text: &str| notation::tirx::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let (inner, outer) = (of("S[4:1]"), of("S[3:1]"));
/// let tiled = tirx::tile_stepped(&inner.view(), &[4], &outer.view(), &[3], Span).unwrap();
/// assert_eq!(tirx::inner_of_tile_stepped(&tiled.view(), &[12], &outer.view(), &[3], Span).unwrap(), inner);
/// ```
pub fn inner_of_tile_stepped(
    tiled: &LayoutRef<'_>,
    tiled_shape: &[u32],
    outer: &LayoutRef<'_>,
    outer_shape: &[u32],
    step: TileStep,
) -> Result<Layout> {
    let pairs = interleaved(tiled_shape, outer_shape, KnownOperand::Slow)?;
    let rank = tiled_shape.len();
    let mut all = CutIters::EMPTY;
    all.cut_canonical(tiled, &pairs)?;
    let mut fast = Iters::new();
    for k in 0..rank {
        for it in all.dim(odd(k)) {
            push(&mut fast, *it)?;
        }
    }
    let inner = finish(&fast, tiled, outer, tiled.post, rank)?;
    // The outer steps as they must stand in the whole.
    let mut steps = canonical_written(outer)?;
    scale(&mut steps, &inner.view(), step)?;
    same_steps(&all, &steps, outer_shape)?;
    Ok(inner)
}

/// Whether the slower parts of all dimensions are `steps`, cut at `shape`.
#[inline(never)]
fn same_steps(all: &CutIters, steps: &[Iter], shape: &[u32]) -> Result<()> {
    let mut own = CutIters::EMPTY;
    cut(&mut own, steps, shape)?;
    for k in 0..shape.len() {
        same_walk(all.dim(even(k)), own.dim(k), k)?;
    }
    Ok(())
}

/// The left layout with `direct_sum(left, .., right, right_shape) = sum`; TIRx:
/// `right.is_direct_sum_right(sum, ..)`.
///
/// `sum_shape` is the interleaved shape, two extents a dimension: `left`'s and `right`'s.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, tirx};
/// # let of = |text: &str| notation::tirx::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let (left, right) = (of("S[3:8]"), of("S[4:1]"));
/// let sum = tirx::direct_sum(&left.view(), &[3], &right.view(), &[4]).unwrap();
/// assert_eq!(tirx::left_of_sum(&sum.view(), &[3, 4], &right.view(), &[4]).unwrap(), left);
/// ```
///
/// # Errors
/// As [`outer_of_tile`].
pub fn left_of_sum(
    sum: &LayoutRef<'_>,
    sum_shape: &[u32],
    right: &LayoutRef<'_>,
    right_shape: &[u32],
) -> Result<Layout> {
    twice(sum_shape, right_shape)?;
    if sum.post != right.post {
        return Err(Error::HasPostMap);
    }
    let slow = other_factor(sum, sum_shape, right, right_shape, KnownOperand::Fast)?;
    finish(&slow.shard, sum, right, PostMap::None, right_shape.len())
}

/// The right layout with `direct_sum(left, left_shape, right, ..) = sum`; TIRx:
/// `left.is_direct_sum_left(sum, ..)`.
///
/// `sum_shape` is the interleaved shape, as for [`left_of_sum`].
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, tirx};
/// # let of = |text: &str| notation::tirx::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let (left, right) = (of("S[3:8]"), of("S[4:1]"));
/// let sum = tirx::direct_sum(&left.view(), &[3], &right.view(), &[4]).unwrap();
/// assert_eq!(tirx::right_of_sum(&sum.view(), &[3, 4], &left.view(), &[3]).unwrap(), right);
/// ```
///
/// # Errors
/// As [`outer_of_tile`].
pub fn right_of_sum(
    sum: &LayoutRef<'_>,
    sum_shape: &[u32],
    left: &LayoutRef<'_>,
    left_shape: &[u32],
) -> Result<Layout> {
    twice(sum_shape, left_shape)?;
    let fast = other_factor(sum, sum_shape, left, left_shape, KnownOperand::Slow)?;
    finish(&fast.shard, sum, left, sum.post, left_shape.len())
}

/// Which operand is given.
#[derive(Clone, Copy, PartialEq, Eq)]
enum KnownOperand {
    /// The slower part of each dimension.
    Slow,
    /// The faster part.
    Fast,
}

/// Iters of the wanted factor, and how many of them end with each dimension.
struct FactorIters {
    shard: Iters,
    separators: heapless::Vec<u8, { crate::layout::MAX_ITERS }>,
}

fn dim_of(ends: &[u8], iter: usize) -> u8 {
    position(ends.iter().filter(|e| usize::from(**e) <= iter).count())
}

/// The place of dimension `k`'s slower part among the interleaved extents.
fn even(k: usize) -> usize {
    k.saturating_mul(2)
}

/// The place of dimension `k`'s faster part.
fn odd(k: usize) -> usize {
    even(k).saturating_add(1)
}

/// Both extents of each dimension, slower first.
fn interleaved(whole: &[u32], known: &[u32], which: KnownOperand) -> Result<ShapeExtents> {
    same_rank(whole, known)?;
    let mut out = ShapeExtents::new();
    for (k, (w, part)) in whole.iter().zip(known).enumerate() {
        let rest = quotient(*w, *part, k)?;
        let (slow, fast) = match which {
            KnownOperand::Slow => (*part, rest),
            KnownOperand::Fast => (rest, *part),
        };
        if out.push(slow).and_then(|()| out.push(fast)).is_err() {
            return Err(Error::Rank {
                expected: position(known.len()),
                found: position(whole.len()),
            });
        }
    }
    Ok(out)
}

fn twice(pairs: &[u32], shape: &[u32]) -> Result<()> {
    if pairs.len() == even(shape.len()) {
        return Ok(());
    }
    Err(Error::Rank { expected: position(even(shape.len())), found: position(pairs.len()) })
}

/// Checks that `known` is its part of each dimension of `whole` and returns the iters of the other
/// part.
fn other_factor(
    whole: &LayoutRef<'_>,
    pairs: &[u32],
    known: &LayoutRef<'_>,
    shape: &[u32],
    which: KnownOperand,
) -> Result<FactorIters> {
    let (mut all, mut part) = (CutIters::EMPTY, CutIters::EMPTY);
    all.cut_canonical(whole, pairs)?;
    part.cut_canonical(known, shape)?;
    let mut out = FactorIters { shard: Iters::new(), separators: heapless::Vec::new() };
    for k in 0..shape.len() {
        let (given, wanted) = match which {
            KnownOperand::Slow => (even(k), odd(k)),
            KnownOperand::Fast => (odd(k), even(k)),
        };
        same_walk(all.dim(given), part.dim(k), k)?;
        for it in all.dim(wanted) {
            push(&mut out.shard, *it)?;
        }
        let _ = out.separators.push(position(out.shard.len()));
    }
    Ok(out)
}

/// Whether two runs of iters are the same map.
#[inline(never)]
fn same_walk(a: &[Iter], b: &[Iter], k: usize) -> Result<()> {
    let (a, b) = (joined(a)?, joined(b)?);
    let agree = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    if a.len() == b.len() && agree == a.len() {
        return Ok(());
    }
    Err(Error::NotDivisible { mode: position(k), part: position(agree) })
}

/// Joins neighbours of iters that stand slowest first.
fn joined(iters: &[Iter]) -> Result<Iters> {
    let mut fastest_first = Iters::new();
    for it in iters.iter().rev() {
        push_merged(&mut fastest_first, *it)?;
    }
    Ok(fastest_first)
}

/// The wanted factor from its iters: what the whole has beyond the known factor.
#[inline(never)]
fn finish(
    shard: &[Iter],
    whole: &LayoutRef<'_>,
    known: &LayoutRef<'_>,
    post: PostMap,
    rank: usize,
) -> Result<Layout> {
    let mut out = bare(shard)?;
    let mut missing = Iters::new();
    for it in known.replica.iter().filter(|it| !it.is_unit()) {
        push(&mut missing, *it)?;
    }
    for it in whole.replica.iter().filter(|it| !it.is_unit()) {
        let mut found = false;
        missing.retain(|m| {
            let hit = !found && m == it;
            found |= hit;
            !hit
        });
        if !found {
            out.push_replica(*it)?;
        }
    }
    if !missing.is_empty() {
        return Err(Error::NotDivisible { mode: position(rank), part: position(missing.len()) });
    }
    for o in whole.offset {
        out.add_offset(o.value(), o.axis())?;
    }
    for o in known.offset {
        out.add_offset(o.value().checked_mul(Int::known(-1))?, o.axis())?;
    }
    out.set_post(post)?;
    canonicalize(&out.view())
}

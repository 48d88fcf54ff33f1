//! The layout of a region.
//!
//! A region of one dimension is again strided if it takes whole inner iters and then one of these:
//! a run of one iter; two runs of equal length, the first up to the end of an iter and the second
//! from its begin; or such pairs, row after row, if the runs are halves of the iter. (Other cuts
//! have no common stride unless the iters are contiguous, and contiguous iters are joined first.
//! Pairs of halves are found within one iter above, not beyond its end.)

use super::canonical::canonical_into;
use super::group::CutIters;
use super::tile::same_rank;
use crate::error::{Error, Result};
use crate::layout::{Iter, Layout, LayoutRef, position};
use crate::num::Int;
use crate::ops::{Iters, push, push_merged};

/// The map of the elements in `region`, a half-open range a dimension of `shape`, renumbered from
/// 0.
///
/// Replicas and post-map are kept; where the region begins goes into the offset. The result is
/// grouped by the region's extents.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, tirx};
/// # let of = |text: &str| notation::tirx::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// // Rows 2 and 3, columns 4 to 7 of an 8 by 8 tile.
/// let part = tirx::slice(&of("S[(8,8):(8,1)]").view(), &[8, 8], &[(2, 4), (4, 8)]).unwrap();
/// assert_eq!(part, of("S[(2,4):(8,1)] + 20"));
/// ```
///
/// # Errors
/// [`Error::OutOfRange`] if the region leaves the shape; [`Error::CannotSlice`] if it is empty or
/// has no strided form; [`Error::Rank`]; [`Error::CannotGroup`] if `shape` does not fit the layout;
/// [`Error::NeedsValue`].
pub fn slice(l: &LayoutRef<'_>, shape: &[u32], region: &[(u32, u32)]) -> Result<Layout> {
    let mut widths = super::tile::ShapeExtents::new();
    for (k, (begin, end)) in region.iter().enumerate() {
        if let Some(extent) = shape.get(k)
            && end > extent
        {
            return Err(Error::OutOfRange {
                mode: position(k),
                coord: u64::from(*end).saturating_sub(1),
                extent: u64::from(*extent),
            });
        }
        let width = end.checked_sub(*begin).filter(|w| *w > 0);
        let fault = cannot(k, *begin, *end);
        if widths.push(width.ok_or(fault)?).is_err() {
            return Err(fault);
        }
    }
    same_rank(shape, &widths)?;
    let mut cut = CutIters::EMPTY;
    cut.cut_canonical(l, shape)?;
    let mut kept = Iters::new();
    let mut out = Layout::new();
    canonical_into(&mut out, &LayoutRef { shard: &[], ..*l })?;
    for (k, (begin, end)) in region.iter().enumerate() {
        let fault = cannot(k, *begin, *end);
        let group = fastest_first(cut.dim(k))?;
        let run = run(&group, *begin, *end, fault, |value, it| out.add_offset(value, it.axis()))?;
        for it in run.iter().rev() {
            push(&mut kept, *it)?;
        }
    }
    for it in kept.iter().rev() {
        out.push_shard(*it)?;
    }
    Ok(out)
}

fn cannot(k: usize, begin: u32, end: u32) -> Error {
    Error::CannotSlice { dim: position(k), begin, end }
}

fn fastest_first(iters: &[Iter]) -> Result<Iters> {
    let mut out = Iters::new();
    for it in iters.iter().rev() {
        push_merged(&mut out, *it)?;
    }
    Ok(out)
}

/// The iters, fastest first, that walk over coordinates `begin..end` of `group`; `start` gets what
/// `begin` moves.
fn run(
    group: &[Iter],
    begin: u32,
    end: u32,
    fault: Error,
    mut start: impl FnMut(Int, &Iter) -> Result<()>,
) -> Result<Iters> {
    let mut digits: heapless::Vec<(Iter, u32), { crate::layout::MAX_ITERS }> = heapless::Vec::new();
    let mut rest = begin;
    for it in group {
        let extent = it.extent_value()?;
        let digit = rest.checked_rem(extent).ok_or(fault)?;
        rest = rest.checked_div(extent).ok_or(fault)?;
        start(it.stride().checked_mul(int(digit))?, it)?;
        digits.push((*it, digit)).map_err(|_| fault)?;
    }
    let mut out = Iters::new();
    let mut left = end.checked_sub(begin).ok_or(fault)?;
    let mut above = digits.iter();
    for (it, digit) in above.by_ref() {
        if left == 1 {
            return Ok(out);
        }
        let extent = it.extent_value()?;
        if *digit == 0 && left.checked_rem(extent) == Some(0) {
            push(&mut out, *it)?;
            left = left.checked_div(extent).ok_or(fault)?;
            continue;
        }
        // The walk begins inside this iter: it must end here, or cross its end in the middle.
        let room = extent.checked_sub(*digit).ok_or(fault)?;
        if left <= room {
            push(&mut out, Iter::symbolic(int(left), it.stride(), it.axis())?)?;
            return Ok(out);
        }
        let pair = room.checked_mul(2).ok_or(fault)?;
        let pairs = left.checked_div(pair).ok_or(fault)?;
        let even = left.checked_rem(pair) == Some(0);
        if !even || (pairs > 1 && pair != extent) {
            return Err(fault);
        }
        push(&mut out, Iter::symbolic(int(room), it.stride(), it.axis())?)?;
        let back = it.stride().checked_mul(int(*digit))?;
        push(&mut out, carry(it, back, above.as_slice(), fault)?)?;
        if pairs > 1 {
            let (up, digit) = above.next().ok_or(fault)?;
            let last = digit.checked_add(pairs).ok_or(fault)?;
            if last >= up.extent_value()? {
                return Err(fault);
            }
            push(&mut out, Iter::symbolic(int(pairs), up.stride(), up.axis())?)?;
        }
        return Ok(out);
    }
    if left == 1 { Ok(out) } else { Err(fault) }
}

/// The step from the first half to the second: `digit` of `it` falls back to 0 and the digits above
/// count on by one.
fn carry(it: &Iter, back: Int, above: &[(Iter, u32)], fault: Error) -> Result<Iter> {
    let mut step = back.checked_mul(Int::known(-1))?;
    for (up, digit) in above {
        if up.axis() != it.axis() && up.stride() != Int::ZERO {
            return Err(fault);
        }
        let extent = up.extent_value()?;
        if digit.checked_add(1) != Some(extent) {
            step = step.checked_add(up.stride())?;
            return Iter::symbolic(int(2), step, it.axis());
        }
        // This digit is at its last and falls back to 0 too.
        let fall = up.stride().checked_mul(int(*digit))?;
        step = step.checked_add(fall.checked_mul(Int::known(-1))?)?;
    }
    Err(fault)
}

fn int(n: u32) -> Int {
    Int::known(i64::from(n))
}

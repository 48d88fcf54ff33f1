//! Composition: `compose(a, b)(x) = a(b(x))`.
//!
//! `a` is coalesced and its last iter taken as unbounded ([`LayoutRef::apply_extended`]), as in
//! CuTe. Each leaf of `b` walks through the modes of `a`. A leaf that stays within one mode is
//! taken whole; otherwise its stride must divide or be divided by each extent it meets, and its
//! extent must be a multiple of each run it takes. Besides, the leaves together must not carry from
//! one mode of `a` into the next; CuTe does not check this and answers wrongly then.
//!
//! Where `b` only goes down, `a` is taken as mirrored, `a(-x) = -a(x)`, as in CuTe, whose division
//! rounds towards 0; so it is where leaves up and down stay in the first mode of `a` together.
//! Leaves up and down in several modes of `a` are refused, unless an offset of `b` keeps its
//! positions at 0 or above: then they have digits, and leaves go down from the top.
//!
//! A swizzle of `b` becomes one behind the result where `a` moves its bits one by one.

use super::swizzled::pass_outer;
use super::{Iters, continues, push, push_merged, refuse_rest};
use crate::axis::AxisId;
use crate::error::{Error, Result};
use crate::layout::{Iter, Layout, LayoutRef, MAX_ITERS, position};
use crate::num::Int;
use crate::post::PostMap;
use crate::profile::{CLOSE, LEAF, OPEN, Profile};
use core::cmp::Ordering;

/// How far the leaves of `b` reach together in one mode of `a`.
#[derive(Clone, Copy)]
struct Reach {
    /// The sum of the leaves' last steps, or the first number that is not known.
    sum: Int,
    leaves: u8,
    overflow: bool,
}

const STILL: Reach = Reach { sum: Int::ZERO, leaves: 0, overflow: false };

/// `a` after `b`; the profile is `b`'s, each leaf refined to a tuple where it takes several modes
/// of `a`.
///
/// `b`'s iters must lie on axis `m`; `a`'s may lie on any, and its replicas, offset and post-map
/// are kept.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, ops};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// assert_eq!(ops::compose(&of("(6,2):(8,2)").view(), &of("(4,3):(3,1)").view()).unwrap(), of("((2,2),3):((24,2),8)"));
/// ```
///
/// # Errors
/// [`Error::StrideDivisibility`], [`Error::ExtentDivisibility`], [`Error::Carry`],
/// [`Error::NegativeStride`], [`Error::NegativeOffset`], [`Error::NeedsValue`],
/// [`Error::WrongAxis`]; [`Error::NotSwizzle`] for a swizzle of `b` that is none behind `a`; what
/// `b` must not have: [`Error::HasPostMap`] (padding), [`Error::HasReplica`],
/// [`Error::HasOffset`] (on another axis than `m`); [`Error::Capacity`], [`Error::Overflow`].
pub fn compose(a: &LayoutRef<'_>, b: &LayoutRef<'_>) -> Result<Layout> {
    let mut out = Layout::new();
    let split = push_composed(&mut out, a, &LayoutRef { post: PostMap::None, ..*b })?;
    out.copy_rest(a)?;
    if !b.post.is_identity() {
        pass_outer(&mut out, a, b)?;
    }
    if b.profile.is_flat() && !split {
        out.set_profile(Profile::FLAT)?;
    }
    out.view().check()?;
    Ok(out)
}

/// Appends `a` after `b` as one node, without what `a` has beside its shard; whether a leaf was
/// split.
#[inline(never)]
pub(crate) fn push_composed(
    out: &mut Layout,
    a: &LayoutRef<'_>,
    b: &LayoutRef<'_>,
) -> Result<bool> {
    push_pieces(out, a, b).map_err(|e| super::or_symbol(e, a.shard))
}

fn push_pieces(out: &mut Layout, a: &LayoutRef<'_>, b: &LayoutRef<'_>) -> Result<bool> {
    refuse_rest(&LayoutRef { offset: &[], ..*b })?;
    super::refuse_other_axes(b.shard, AxisId::M)?;
    let mut modes = Iters::new();
    push_modes(&mut modes, a)?;
    let mut reach = [STILL; MAX_ITERS];
    let down = match push_start(out, &modes, &mut reach, b)? {
        true => Downward::FromTop,
        false => downward(&modes, b),
    };
    let mut leaves = b.shard.iter().enumerate();
    let mut split = false;
    if b.profile.is_flat() {
        out.open()?;
        for (k, it) in leaves {
            split |= push_leaf(out, &modes, &mut reach, k, it, down)?;
        }
        out.close()?;
    } else {
        for t in b.profile.tokens() {
            match *t {
                OPEN => out.open()?,
                CLOSE => out.close()?,
                LEAF => {
                    let bad = Error::BadProfile {
                        iters: u16::from(position(b.shard.len())),
                        leaves: u16::MAX,
                    };
                    let (k, it) = leaves.next().ok_or(bad)?;
                    split |= push_leaf(out, &modes, &mut reach, k, it, down)?;
                }
                _ => {}
            }
        }
    }
    check_carries(&modes, &reach)?;
    Ok(split)
}

/// The modes that leaves walk through: `a` coalesced.
pub(super) fn push_modes(modes: &mut Iters, a: &LayoutRef<'_>) -> Result<()> {
    for it in a.shard {
        push_merged(modes, *it)?;
    }
    // Coalescing drops extents of 1, but what lies beyond `a` follows its last stride, whatever the
    // extent.
    let end = a.shard.last().copied().unwrap_or(Iter::new(1, 0, AxisId::M));
    if end.is_unit() && !modes.last().is_some_and(|last| continues(last, &end)) {
        push(modes, end)?;
    }
    Ok(())
}

/// What is done with leaves that go down.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Downward {
    /// They have a meaning in a single mode only.
    Plain,
    /// Leaves go down from 0, where `a` is taken as mirrored: all of them, or in one mode.
    Mirrored,
    /// An offset keeps positions at 0 or above: a leaf's digits count down from their greatest.
    FromTop,
}

/// How leaves go down that begin at 0.
fn downward(modes: &Iters, b: &LayoutRef<'_>) -> Downward {
    let down = |it: &Iter| it.stride().coeff() < 0;
    let mut moving = b.shard.iter().filter(|it| !it.is_unit() && it.stride() != Int::ZERO);
    let mirrored = moving.clone().any(down) && (moving.all(down) || stays_in_first(modes, b));
    match modes.len() > 1 && mirrored {
        true => Downward::Mirrored,
        false => Downward::Plain,
    }
}

/// Whether all leaves together are less than the first mode's extent away from 0, up and down: there
/// a mirrored `a` is one step long.
#[inline(never)]
fn stays_in_first(modes: &Iters, b: &LayoutRef<'_>) -> bool {
    let way = |it: &Iter| {
        let steps = it.extent().as_known()?.checked_sub(1)?;
        steps.checked_mul(it.stride().as_known()?.checked_abs()?)
    };
    let far = b.shard.iter().try_fold(0i64, |far, it| far.checked_add(way(it)?));
    let first = modes.first().and_then(|mode| mode.extent().as_known());
    matches!((far, first), (Some(far), Some(first)) if far < first)
}

/// Adds where the offset of `b` lies in `a`; whether leaves go down from their tops.
#[inline(never)]
fn push_start(
    out: &mut Layout,
    modes: &Iters,
    reach: &mut [Reach; MAX_ITERS],
    b: &LayoutRef<'_>,
) -> Result<bool> {
    if let Some(other) = b.offset.iter().find(|o| o.axis() != AxisId::M && o.value() != Int::ZERO) {
        return Err(Error::HasOffset { axis: other.axis() });
    }
    let offset = b.offset_of(AxisId::M)?;
    if offset == Int::ZERO {
        return Ok(false);
    }
    if let [only] = modes.as_slice() {
        out.add_offset(offset.checked_mul(only.stride())?, only.axis())?;
        return Ok(false);
    }
    // The least position of `b`.
    let mut rest = offset.value()?;
    for it in b.shard.iter().filter(|it| it.stride().coeff() < 0) {
        let way = it.extent().value()?.saturating_sub(1).checked_mul(it.stride().value()?);
        rest = way.and_then(|way| rest.checked_add(way)).ok_or(Error::Overflow)?;
    }
    if rest < 0 {
        return Err(Error::NegativeOffset { offset: rest });
    }
    let last = modes.len().saturating_sub(1);
    for (k, mode) in modes.iter().enumerate() {
        let digit = if k == last {
            rest
        } else {
            let extent = mode.extent().value()?;
            let digit = rest.checked_rem(extent).ok_or(Error::Overflow)?;
            rest = rest.checked_div(extent).ok_or(Error::Overflow)?;
            digit
        };
        if digit > 0 {
            note(reach, k, Int::known(digit.saturating_add(1)), Int::ONE);
            out.add_offset(Int::known(digit).checked_mul(mode.stride())?, mode.axis())?;
        }
    }
    Ok(true)
}

/// Appends the pieces of one leaf; whether there are several.
#[inline(never)]
fn push_leaf(
    out: &mut Layout,
    modes: &Iters,
    reach: &mut [Reach; MAX_ITERS],
    leaf: usize,
    it: &Iter,
    down: Downward,
) -> Result<bool> {
    let mut pieces = Iters::new();
    if down != Downward::Plain && it.stride().coeff() < 0 {
        walk(modes, reach, leaf, &turned(it)?, &mut pieces)?;
        for piece in &mut pieces {
            if down == Downward::FromTop {
                let top = Int::known(piece.extent().value()?.saturating_sub(1));
                out.add_offset(top.checked_mul(piece.stride())?, piece.axis())?;
            }
            *piece = turned(piece)?;
        }
    } else {
        walk(modes, reach, leaf, it, &mut pieces)?;
    }
    if let [one] = pieces.as_slice() {
        out.push_leaf(*one)?;
        return Ok(false);
    }
    out.open()?;
    for it in &pieces {
        out.push_leaf(*it)?;
    }
    out.close()?;
    Ok(true)
}

/// The iter in the other direction.
fn turned(it: &Iter) -> Result<Iter> {
    Iter::symbolic(it.extent(), it.stride().checked_mul(Int::known(-1))?, it.axis())
}

/// The pieces of leaf `b` of extent `s` and stride `d`.
fn walk(
    modes: &Iters,
    reach: &mut [Reach; MAX_ITERS],
    leaf: usize,
    b: &Iter,
    pieces: &mut Iters,
) -> Result<()> {
    let leaf = position(leaf);
    let (mut left, mut stride) = (b.extent(), b.stride());
    let first = modes.first().map_or(AxisId::M, Iter::axis);
    if stride == Int::ZERO {
        return push(pieces, Iter::symbolic(left, Int::ZERO, first)?);
    }
    if b.is_unit() {
        return push(pieces, unit_piece(modes, stride)?);
    }
    let last = modes.len().saturating_sub(1);
    if stride.coeff() < 0 && last > 0 {
        return Err(Error::NegativeStride { iter: leaf, stride: stride.coeff() });
    }
    for (k, mode) in modes.iter().enumerate() {
        let step = |run: Int| Iter::symbolic(run, stride.checked_mul(mode.stride())?, mode.axis());
        if k == last {
            return push(pieces, step(left)?);
        }
        let extent = mode.extent();
        let misfit = || match (stride.as_known(), extent.as_known(), left.as_known()) {
            (Some(stride), Some(extent), Some(_)) => {
                Error::StrideDivisibility { leaf, stride, extent }
            }
            // A leaf that is short enough may stay within the mode.
            (Some(_), Some(_), None) => left.needs_value(left),
            _ => stride.needs_value(extent),
        };
        if stride.compare(extent) != Some(Ordering::Less) {
            match (stride.div_exact(extent), stride.compare(extent)) {
                (Some(q), _) => {
                    stride = q;
                    continue;
                }
                (None, Some(_)) => return Err(misfit()),
                (None, None) => {}
            }
        }
        let fits = stays_below(left, stride, extent);
        if fits {
            note(reach, k, left, stride);
            return push(pieces, step(left)?);
        }
        let room = extent.div_exact(stride).ok_or_else(misfit)?;
        let run = match room.compare(left) {
            Some(Ordering::Less | Ordering::Equal) => room,
            Some(Ordering::Greater) => left,
            None => return Err(room.needs_value(left)),
        };
        let rest = left.div_exact(run).ok_or_else(|| match (left.as_known(), run.as_known()) {
            (Some(extent), Some(run)) => Error::ExtentDivisibility { leaf, extent, run },
            _ => left.needs_value(run),
        })?;
        push(pieces, step(run)?)?;
        note(reach, k, run, stride);
        (left, stride) = (rest, Int::ONE);
        if left == Int::ONE {
            return Ok(());
        }
    }
    Ok(())
}

/// What a leaf of extent 1 becomes: it moves nothing, so any stride will do; this is CuTe's.
fn unit_piece(modes: &Iters, stride: Int) -> Result<Iter> {
    let mut rest = stride;
    let last = modes.len().saturating_sub(1);
    for mode in modes.iter().take(last) {
        rest = match (rest.div_exact(mode.extent()), rest.as_known(), mode.extent().as_known()) {
            (Some(q), ..) => q,
            (None, Some(r), Some(e)) if r > 0 => {
                Int::known(r.checked_div(e).map_or(0, |q| q.saturating_add(1)))
            }
            _ => Int::ZERO,
        };
    }
    let end = modes.last().copied().unwrap_or(Iter::new(1, 0, AxisId::M));
    Iter::symbolic(Int::ONE, rest.checked_mul(end.stride())?, end.axis())
}

/// Whether `(run - 1) * stride < extent` for certain.
fn stays_below(run: Int, stride: Int, extent: Int) -> bool {
    match (run.as_known(), stride.as_known(), extent.as_known()) {
        (Some(r), Some(s), Some(e)) => {
            r.saturating_sub(1).checked_mul(s).is_some_and(|top| top < e)
        }
        _ => false,
    }
}

/// Records that a leaf takes `run` steps of `stride` in mode `k`.
fn note(reach: &mut [Reach; MAX_ITERS], k: usize, run: Int, stride: Int) {
    let Some(r) = reach.get_mut(k) else { return };
    r.leaves = r.leaves.saturating_add(1);
    let Some(sum) = r.sum.as_known() else { return };
    match (run.as_known(), stride.as_known()) {
        (None, _) => r.sum = run,
        (_, None) => r.sum = stride,
        (Some(run), Some(stride)) => {
            match run.saturating_sub(1).checked_mul(stride).and_then(|top| sum.checked_add(top)) {
                Some(sum) => r.sum = Int::known(sum),
                None => r.overflow = true,
            }
        }
    }
}

fn check_carries(modes: &Iters, reach: &[Reach; MAX_ITERS]) -> Result<()> {
    let last = modes.len().saturating_sub(1);
    for (k, (mode, r)) in modes.iter().zip(reach).enumerate().take(last) {
        // A single leaf stays below the extent by construction, whatever the symbols are.
        if r.leaves < 2 {
            continue;
        }
        if r.overflow {
            return Err(Error::Overflow);
        }
        let (reach, extent) = (r.sum.value()?, mode.extent().value()?);
        if reach >= extent {
            return Err(Error::Carry { mode: position(k), reach, extent });
        }
    }
    Ok(())
}

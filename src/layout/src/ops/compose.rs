//! Composition: `compose(a, b)(x) = a(b(x))`.
//!
//! `a` is coalesced and its last iter taken as unbounded ([`LayoutRef::apply_extended`]), as in CuTe. Each leaf of `b`
//! walks through the modes of `a`. A leaf that stays within one mode is taken whole; otherwise its stride must divide
//! or be divided by each extent it meets, and its extent must be a multiple of each run it takes. Besides, the leaves
//! together must not carry from one mode of `a` into the next; CuTe does not check this and answers wrongly then.

use super::{Iters, coalesced, continues, push, refuse_rest};
use crate::axis::AxisId;
use crate::error::{Error, Result};
use crate::layout::{Iter, Layout, LayoutRef, MAX_ITERS, position};
use crate::num::Int;
use crate::profile::{CLOSE, LEAF, OPEN, Profile};
use core::cmp::Ordering;

/// How far the leaves of `b` reach together in one mode of `a`.
#[derive(Clone, Copy)]
struct Reach {
    leaves: u32,
    digit: Result<i64>,
}

/// `a` after `b`; the profile is `b`'s, each leaf refined to a tuple where it takes several modes of `a`.
///
/// `b`'s iters must lie on axis `m`; `a`'s may lie on any, and its replicas, offset and post-map are kept.
///
/// # Errors
/// [`Error::StrideDivisibility`], [`Error::ExtentDivisibility`], [`Error::Carry`], [`Error::NegativeStride`],
/// [`Error::NeedsValue`], [`Error::WrongAxis`]; what `b` must not have: [`Error::HasPostMap`],
/// [`Error::HasReplica`], [`Error::HasOffset`]; [`Error::Capacity`], [`Error::Overflow`].
pub fn compose(a: &LayoutRef<'_>, b: &LayoutRef<'_>) -> Result<Layout> {
    refuse_rest(b)?;
    super::refuse_other_axes(b.shard, AxisId::M)?;
    let mut modes = coalesced(a.shard)?;
    // Coalescing drops extents of 1, but what lies beyond `a` follows its last stride, whatever the extent.
    let end = a.shard.last().copied().unwrap_or(Iter::new(1, 0, AxisId::M));
    if end.is_unit() && !modes.last().is_some_and(|last| continues(last, &end)) {
        push(&mut modes, end)?;
    }
    let mut reach = [Reach { leaves: 0, digit: Ok(0) }; MAX_ITERS];
    let mut out = Layout::new();
    let mut leaves = b.shard.iter().enumerate();
    let mut split = false;
    let flat = b.profile.is_flat();
    if flat {
        out.open()?;
        for (k, it) in leaves {
            split |= push_leaf(&mut out, &walk(&modes, &mut reach, k, it)?)?;
        }
        out.close()?;
    } else {
        for t in b.profile.tokens() {
            match *t {
                OPEN => out.open()?,
                CLOSE => out.close()?,
                LEAF => {
                    let bad = Error::BadProfile { iters: u16::from(position(b.shard.len())), leaves: u16::MAX };
                    let (k, it) = leaves.next().ok_or(bad)?;
                    push_leaf(&mut out, &walk(&modes, &mut reach, k, it)?)?;
                }
                _ => {}
            }
        }
    }
    check_carries(&modes, &reach)?;
    out.copy_rest(a)?;
    if flat && !split {
        out.set_profile(Profile::FLAT)?;
    }
    out.view().check()?;
    Ok(out)
}

/// Appends the pieces of one leaf; whether there are several.
fn push_leaf(out: &mut Layout, pieces: &Iters) -> Result<bool> {
    if let [one] = pieces.as_slice() {
        out.push_leaf(*one)?;
        return Ok(false);
    }
    out.open()?;
    for it in pieces {
        out.push_leaf(*it)?;
    }
    out.close()?;
    Ok(true)
}

/// The pieces of leaf `b` of extent `s` and stride `d`.
fn walk(modes: &Iters, reach: &mut [Reach; MAX_ITERS], leaf: usize, b: &Iter) -> Result<Iters> {
    let mut pieces = Iters::new();
    let leaf = position(leaf);
    let (mut left, mut stride) = (b.extent(), b.stride());
    let first = modes.first().map_or(AxisId::M, Iter::axis);
    if stride == Int::ZERO {
        push(&mut pieces, Iter::symbolic(left, Int::ZERO, first)?)?;
        return Ok(pieces);
    }
    if b.is_unit() {
        push(&mut pieces, unit_piece(modes, stride)?)?;
        return Ok(pieces);
    }
    let last = modes.len().saturating_sub(1);
    if stride.coeff() < 0 && last > 0 {
        return Err(Error::NegativeStride { iter: leaf, stride: stride.coeff() });
    }
    for (k, mode) in modes.iter().enumerate() {
        let step = |run: Int| Iter::symbolic(run, stride.checked_mul(mode.stride())?, mode.axis());
        if k == last {
            push(&mut pieces, step(left)?)?;
            return Ok(pieces);
        }
        let extent = mode.extent();
        let misfit = || match (stride.as_known(), extent.as_known()) {
            (Some(stride), Some(extent)) => Error::StrideDivisibility { leaf, stride, extent },
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
            push(&mut pieces, step(left)?)?;
            note(reach, k, left, stride);
            return Ok(pieces);
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
        push(&mut pieces, step(run)?)?;
        note(reach, k, run, stride);
        (left, stride) = (rest, Int::ONE);
        if left == Int::ONE {
            return Ok(pieces);
        }
    }
    Ok(pieces)
}

/// What a leaf of extent 1 becomes: it moves nothing, so any stride will do; this is CuTe's.
fn unit_piece(modes: &Iters, stride: Int) -> Result<Iter> {
    let mut rest = stride;
    let last = modes.len().saturating_sub(1);
    for mode in modes.iter().take(last) {
        rest = match (rest.div_exact(mode.extent()), rest.as_known(), mode.extent().as_known()) {
            (Some(q), ..) => q,
            (None, Some(r), Some(e)) if r > 0 => Int::known(r.checked_div(e).map_or(0, |q| q.saturating_add(1))),
            _ => Int::ZERO,
        };
    }
    let end = modes.last().copied().unwrap_or(Iter::new(1, 0, AxisId::M));
    Iter::symbolic(Int::ONE, rest.checked_mul(end.stride())?, end.axis())
}

/// Whether `(run - 1) * stride < extent` for certain.
fn stays_below(run: Int, stride: Int, extent: Int) -> bool {
    match (run.as_known(), stride.as_known(), extent.as_known()) {
        (Some(r), Some(s), Some(e)) => r.saturating_sub(1).checked_mul(s).is_some_and(|top| top < e),
        _ => false,
    }
}

/// Records that a leaf takes `run` steps of `stride` in mode `k`.
fn note(reach: &mut [Reach; MAX_ITERS], k: usize, run: Int, stride: Int) {
    if let Some(r) = reach.get_mut(k) {
        r.leaves = r.leaves.saturating_add(1);
        r.digit = r.digit.and_then(|sum| {
            let top = run.value()?.saturating_sub(1).checked_mul(stride.value()?).ok_or(Error::Overflow)?;
            sum.checked_add(top).ok_or(Error::Overflow)
        });
    }
}

fn check_carries(modes: &Iters, reach: &[Reach; MAX_ITERS]) -> Result<()> {
    let last = modes.len().saturating_sub(1);
    for (k, (mode, r)) in modes.iter().zip(reach).enumerate().take(last) {
        // A single leaf stays below the extent by construction, whatever the symbols are.
        if r.leaves < 2 {
            continue;
        }
        let (reach, extent) = (r.digit?, mode.extent().value()?);
        if reach >= extent {
            return Err(Error::Carry { mode: position(k), reach, extent });
        }
    }
    Ok(())
}

//! The shortest spelling of a layout, with or without a target's axis relations.

use super::{AxisKind, AxisKinds, AxisRelation, ScopePair, from_written, scope_pair, written};
use crate::axis::AxisId;
use crate::error::{Error, Result};
use crate::layout::{Iter, Layout, LayoutRef};
use crate::num::Int;
use crate::ops::{Iters, coalesced, push};
use crate::order::sort_by;

/// The same map with as few shard iters as possible: extents of 1 dropped, contiguous neighbours on
/// one axis joined.
///
/// If nothing is left of a shard, one iter `1:1` on its first axis stays. Replicas of extent 1 are
/// dropped, the others put in order (by axis, stride, extent) but not joined, so that a factor's
/// replicas can be found again.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, tirx};
/// # let of = |text: &str| notation::tirx::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// assert_eq!(tirx::canonicalize(&of("S[(2,4,8):(32,8,1)]").view()).unwrap(), of("S[64:1]"));
/// ```
pub fn canonicalize(l: &LayoutRef<'_>) -> Result<Layout> {
    let mut out = Layout::new();
    canonical_into(&mut out, l)?;
    Ok(out)
}

/// Appends [`canonicalize`] to an empty layout.
#[inline(never)]
pub(super) fn canonical_into(out: &mut Layout, l: &LayoutRef<'_>) -> Result<()> {
    for it in &canonical_shard(l)? {
        out.push_shard(*it)?;
    }
    let mut replica = Iters::new();
    for it in l.replica.iter().filter(|it| !it.is_unit()) {
        push(&mut replica, *it)?;
    }
    let key = |it: &Iter| (it.axis(), it.stride().coeff(), it.extent().coeff());
    sort_by(&mut replica, |a, b| key(a) < key(b));
    out.copy_rest(&LayoutRef { replica: &replica, ..*l })
}

/// The shard iters of [`canonicalize`], fastest first.
pub(super) fn canonical_shard(l: &LayoutRef<'_>) -> Result<Iters> {
    let mut shard = coalesced(l.shard)?;
    if let (true, Some(first)) = (shard.is_empty(), l.shard.last()) {
        push(&mut shard, Iter::new(1, 1, first.axis()))?;
    }
    Ok(shard)
}

/// The same as written, slowest first.
pub(super) fn canonical_written(l: &LayoutRef<'_>) -> Result<Iters> {
    let mut shard = canonical_shard(l)?;
    shard.reverse();
    Ok(shard)
}

/// As [`canonicalize`], with the thread axes replaced by the one axis that counts the innermost
/// scope's parts of the outermost scope, as far as `relations` say how (`warpid` and `laneid`
/// together become `tx`).
///
/// Offsets of axes that become one are added. With no relations this checks the scopes and nothing
/// more.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, tirx};
/// # let of = |text: &str| notation::tirx::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let tile = of("S[(4,32):(1@warpid,1@laneid)]");
/// let threads = tirx::canonicalize_for(&tile.view(), &WellKnown, tirx::facts::WARP_32).unwrap();
/// assert_eq!(threads, of("S[128:1@tx]"));
/// ```
///
/// # Errors
/// Those of [`scope_pair`]: an ill-formed layout has no canonical form.
pub fn canonicalize_for(
    l: &LayoutRef<'_>,
    kinds: &impl AxisKinds,
    relations: &[AxisRelation],
) -> Result<Layout> {
    let plain = canonicalize(l)?;
    let moving = LayoutRef { shard: plain.view().shard, ..*l };
    match scope_pair(&moving, kinds)? {
        Some(pair) => over(&plain.view(), pair, kinds, relations),
        None => Ok(plain),
    }
}

/// As [`canonicalize_for`], over the scopes of another layout: a part of `whole`, written on the
/// axes of its own scopes, as `whole` is written on the target.
///
/// Parts and factors under a target are those of layouts that are written alike: a slice is
/// [`slice`](super::slice) of [`canonicalize_for`], and what a tile repeats is
/// [`outer_of_tile`](super::outer_of_tile) of a whole and of a tile beside it.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, tirx};
/// # use lanebook_layout::tirx::facts::WARP_32;
/// # let of = |text: &str| notation::tirx::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// // The upper half of one warp and the lower half of the next: one run of threads.
/// let whole = of("S[(4,32):(1@warpid,1@laneid)]");
/// assert!(tirx::slice(&whole.view(), &[128], &[(16, 48)]).is_err());
/// let threads = tirx::canonicalize_for(&whole.view(), &WellKnown, WARP_32).unwrap();
/// assert_eq!(tirx::slice(&threads.view(), &[128], &[(16, 48)]).unwrap(), of("S[32:1@tx] + 16@tx"));
/// // A warp's lanes as those threads, and how they repeat.
/// let lanes = of("S[32:1@laneid]");
/// let lanes = tirx::canonicalize_beside(&lanes.view(), &whole.view(), &WellKnown, WARP_32).unwrap();
/// assert_eq!(lanes, of("S[32:1@tx]"));
/// let outer = tirx::outer_of_tile(&threads.view(), &[128], &lanes.view(), &[32]).unwrap();
/// assert_eq!(outer, of("S[4:1@tx]"));
/// ```
///
/// # Errors
/// Those of [`scope_pair`], of either layout; [`Error::ScopeGap`] for an axis of `l` that is none of
/// `whole`'s scopes, and of which no relation says how it lies in them.
pub fn canonicalize_beside(
    l: &LayoutRef<'_>,
    whole: &LayoutRef<'_>,
    kinds: &impl AxisKinds,
    relations: &[AxisRelation],
) -> Result<Layout> {
    let plain = canonicalize(l)?;
    let moving = LayoutRef { shard: plain.view().shard, ..*l };
    scope_pair(&moving, kinds)?;
    let Some(pair) = scope_pair(whole, kinds)? else {
        return Ok(plain);
    };
    let out = over(&plain.view(), pair, kinds, relations)?;
    let own = whole.axes()?;
    for axis in &out.view().axes()? {
        let at_home = match kinds.known(*axis)? {
            AxisKind::Memory => true,
            kind => {
                kind == AxisKind::Thread { scope: pair.scope, subscope: pair.subscope }
                    || own.contains(axis)
            }
        };
        if !at_home {
            return Err(Error::ScopeGap { axis: *axis });
        }
    }
    Ok(out)
}

/// A canonical layout on the axis that counts the scopes of `pair`, as far as relations say how.
fn over(
    plain: &LayoutRef<'_>,
    pair: ScopePair,
    kinds: &impl AxisKinds,
    relations: &[AxisRelation],
) -> Result<Layout> {
    let over = |axis| replacement(axis, pair, kinds, relations);
    let moved = |it: &Iter| match over(it.axis()) {
        Some((axis, factor)) => Iter::symbolic(it.extent(), it.stride().checked_mul(factor)?, axis),
        None => Ok(*it),
    };
    let mut shard = Iters::new();
    for it in &written(plain)? {
        push(&mut shard, moved(it)?)?;
    }
    let mut replica = Iters::new();
    for it in plain.replica {
        push(&mut replica, moved(it)?)?;
    }
    let mut out = from_written(&shard, &LayoutRef { replica: &replica, offset: &[], ..*plain })?;
    for o in plain.offset {
        let (axis, factor) = over(o.axis()).unwrap_or((o.axis(), Int::ONE));
        out.add_offset(o.value().checked_mul(factor)?, axis)?;
    }
    canonicalize(&out.view())
}

/// The axis with exactly the scopes of `pair` that `axis` is a multiple of, and the factor.
fn replacement(
    axis: AxisId,
    pair: ScopePair,
    kinds: &impl AxisKinds,
    relations: &[AxisRelation],
) -> Option<(AxisId, Int)> {
    let wanted = AxisKind::Thread { scope: pair.scope, subscope: pair.subscope };
    relations
        .iter()
        .find(|r| r.axis == axis && kinds.kind(r.parent) == Some(wanted))
        .map(|r| (r.parent, Int::known(i64::from(r.factor))))
}

/// Whether `l` is the identity onto one memory axis: one iter of stride 1, no replicas, no offset,
/// no post-map.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, tirx};
/// # let of = |text: &str| notation::tirx::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// assert_eq!(tirx::is_trivial(&of("S[(8,8):(8,1)]").view(), &WellKnown), Ok(true));
/// assert_eq!(tirx::is_trivial(&of("S[(8,8):(1,8)]").view(), &WellKnown), Ok(false));
/// ```
///
/// # Errors
/// [`Error::UnknownAxis`].
pub fn is_trivial(l: &LayoutRef<'_>, kinds: &impl AxisKinds) -> Result<bool> {
    let plain = canonicalize(l)?;
    let view = plain.view();
    let line = match view.shard {
        [] => true,
        [one] => one.stride() == Int::ONE && !kinds.known(one.axis())?.is_thread(),
        _ => false,
    };
    Ok(line && view.replica.is_empty() && view.offset.is_empty() && view.post.is_identity())
}

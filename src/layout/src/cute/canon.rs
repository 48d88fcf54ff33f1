//! Layouts as functions: one spelling for each, and equality.

use crate::axis::AxisId;
use crate::convert::to_affine;
use crate::error::{Error, Result};
use crate::layout::{Iter, Layout, LayoutRef};
use crate::num::Int;
use crate::ops::{coalesced, tree_of};
use crate::post::PostMap;

/// The same function of a flat index with one spelling: coalesced, iters of stride 0 on axis `m`,
/// no post-map that does nothing, offsets by axis. Size and domain stay, so an iter of stride 0 is
/// kept (CuTe's `filter` drops it).
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, cute, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// assert_eq!(cute::canonical(&of("((2,2),4):((1,2),4)").view()).unwrap(), of("16:1"));
/// ```
///
/// # Errors
/// [`Error::Capacity`], [`Error::Overflow`].
pub fn canonical(l: &LayoutRef<'_>) -> Result<Layout> {
    let mut iters = crate::ops::Iters::new();
    for it in l.shard {
        let axis = if it.stride() == Int::ZERO { AxisId::M } else { it.axis() };
        crate::ops::push(&mut iters, Iter::symbolic(it.extent(), it.stride(), axis)?)?;
    }
    let mut out = tree_of(&coalesced(&iters)?, &[])?;
    let mut offsets: heapless::Vec<AxisId, { crate::layout::MAX_OFFSETS }> = heapless::Vec::new();
    for o in l.offset {
        if !offsets.contains(&o.axis()) {
            let _ = offsets.push(o.axis());
        }
    }
    crate::order::sort_by(&mut offsets, |a, b| a < b);
    for axis in &offsets {
        out.add_offset(l.offset_of(*axis)?, *axis)?;
    }
    out.copy_rest(&LayoutRef {
        offset: &[],
        post: if does_nothing(l) { PostMap::None } else { l.post },
        ..*l
    })?;
    Ok(out)
}

/// Whether the post-map leaves every position of `l` where it is: it is no map, or its source bits
/// and its first interval's end are never reached.
fn does_nothing(l: &LayoutRef<'_>) -> bool {
    if l.post.is_identity() {
        return true;
    }
    let Ok((low, high)) = l.reach(AxisId::M) else {
        return false;
    };
    let still = l.post.swizzle().is_none_or(|s| {
        let up = if s.s >= 0 { s.s.unsigned_abs() } else { 0 };
        let source = u32::from(s.m).saturating_add(u32::from(up));
        s.b == 0 || high.checked_shr(source) == Some(0)
    });
    let whole = l
        .post
        .padding()
        .is_none_or(|p| p.pads().iter().all(|p| p.pad == 0 || high < i64::from(p.interval)));
    low >= 0 && still && whole
}

/// Whether two layouts are the same function of a flat index, axis for axis. Replicas must be
/// spelled alike.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, cute, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let same = cute::equivalent(&of("((2,2),4):((1,2),4)").view(), &of("16:1").view());
/// assert_eq!(same, Ok(true));
/// ```
///
/// # Errors
/// [`Error::NeedsValue`] where a symbol decides; [`Error::Undecided`] for two different post-maps
/// on layouts without a linear form; [`Error::HasReplica`] for replicas that differ.
pub fn equivalent(a: &LayoutRef<'_>, b: &LayoutRef<'_>) -> Result<bool> {
    let (a, b) = (canonical(a)?, canonical(b)?);
    if a == b {
        return Ok(true);
    }
    let (a, b) = (a.view(), b.view());
    for it in a.shard.iter().chain(b.shard).chain(a.replica).chain(b.replica) {
        it.extent().value()?;
        if let Some(sym) = it.stride().syms().iter().next() {
            return Err(Error::NeedsValue { sym });
        }
    }
    if a.replica != b.replica {
        return Err(Error::HasReplica);
    }
    // The same post-map is injective, and without one the coalesced spelling is the only one.
    if a.post == b.post || a.size()? != b.size()? {
        return Ok(false);
    }
    match (to_affine(&flat(&a)), to_affine(&flat(&b))) {
        (Ok(x), Ok(y)) => Ok(x.offset == y.offset && x.linear.columns() == y.linear.columns()),
        _ => Err(Error::Undecided { steps: 0 }),
    }
}

/// The layout with one mode, so that its linear form has one input.
fn flat<'a>(l: &LayoutRef<'a>) -> LayoutRef<'a> {
    LayoutRef { profile: crate::profile::Profile::FLAT, ..*l }
}

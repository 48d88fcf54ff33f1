//! Parts of a layout: some of its modes seen along some of its axes, without a mode that has an
//! axis to itself, under another axis' name, or with another extent.

use super::{compose, tree_of};
use crate::axis::AxisId;
use crate::error::{Error, Result};
use crate::layout::{Iter, Layout, LayoutRef, Offset, position};
use crate::num::Int;
use crate::post::PostMap;

/// Mode `k`, or that there is none.
fn mode<'a>(l: &LayoutRef<'a>, k: usize) -> Result<LayoutRef<'a>> {
    l.mode(k).ok_or(Error::NoMode {
        mode: i16::try_from(k).unwrap_or(i16::MAX),
        rank: position(l.rank()),
    })
}

/// Appends the tree of `l` with `f` of each of its iters.
fn push_mapped(
    out: &mut Layout,
    l: &LayoutRef<'_>,
    mut f: impl FnMut(&Iter) -> Result<Iter>,
) -> Result<()> {
    for it in l.shard {
        out.push_shard(f(it)?)?;
    }
    for t in l.profile.tokens() {
        out.push_token(*t)?;
    }
    Ok(())
}

/// The layout restricted to these modes, in this order, the coordinate 0 in all others, and seen
/// along these axes alone: an iter on another axis stands still, replicas and offsets there are
/// dropped.
///
/// ```
/// # use lanebook_layout::{AxisId, NoSyms, WellKnown, notation, ops};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// // Where the columns go in registers, whatever the lanes do.
/// let tile = of("(8,4):(1@laneid,1@register)");
/// assert_eq!(ops::sublayout(&tile.view(), &[1], &[AxisId::REGISTER]).unwrap(), of("(4):(1@register)"));
/// ```
///
/// # Errors
/// [`Error::NoMode`], [`Error::NoDim`] for an axis that `l` does not mention, [`Error::Capacity`].
pub fn sublayout(l: &LayoutRef<'_>, modes: &[usize], axes: &[AxisId]) -> Result<Layout> {
    let known = l.axes()?;
    if let Some(axis) = axes.iter().find(|a| !known.contains(a)) {
        return Err(Error::NoDim { axis: *axis });
    }
    let still = axes.first().copied().unwrap_or(AxisId::M);
    let mut out = Layout::new();
    out.open()?;
    for k in modes {
        let own = mode(l, *k)?;
        push_mapped(&mut out, &own, |it| {
            if axes.contains(&it.axis()) {
                Ok(*it)
            } else {
                Iter::symbolic(it.extent(), Int::ZERO, still)
            }
        })?;
    }
    out.close()?;
    for it in l.replica.iter().filter(|it| axes.contains(&it.axis())) {
        out.push_replica(*it)?;
    }
    for o in l.offset.iter().filter(|o| axes.contains(&o.axis())) {
        out.add_offset(o.value(), o.axis())?;
    }
    if axes.contains(&AxisId::M) {
        out.set_post(l.post)?;
    }
    out.view().check()?;
    Ok(out)
}

/// The layout with what lies on axis `from` on axis `to`.
///
/// ```
/// # use lanebook_layout::{AxisId, NoSyms, WellKnown, notation, ops};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let moved = ops::rename_axis(&of("(8,4):(4@laneid,1@laneid)").view(), AxisId::LANE, AxisId::TX).unwrap();
/// assert_eq!(moved, of("(8,4):(4@tx,1@tx)"));
/// ```
///
/// # Errors
/// [`Error::NoDim`] if `l` does not mention `from`, or mentions `to` already; [`Error::HasPostMap`]
/// if one of them is axis `m` and has a post-map.
pub fn rename_axis(l: &LayoutRef<'_>, from: AxisId, to: AxisId) -> Result<Layout> {
    let known = l.axes()?;
    if !known.contains(&from) {
        return Err(Error::NoDim { axis: from });
    }
    if from == to {
        return l.to_owned();
    }
    if known.contains(&to) {
        return Err(Error::NoDim { axis: to });
    }
    if !l.post.is_identity() && (from == AxisId::M || to == AxisId::M) {
        return Err(Error::HasPostMap);
    }
    let moved = |axis: AxisId| if axis == from { to } else { axis };
    let renamed = |it: &Iter| Iter::symbolic(it.extent(), it.stride(), moved(it.axis()));
    let mut out = Layout::new();
    push_mapped(&mut out, l, renamed)?;
    for it in l.replica {
        out.push_replica(renamed(it)?)?;
    }
    for o in l.offset {
        out.add_offset(o.value(), moved(o.axis()))?;
    }
    out.set_post(l.post)?;
    Ok(out)
}

/// Whether mode `k` is the identity onto `axis`, where nothing else moves: then the layout without
/// both, else `None`.
///
/// ```
/// # use lanebook_layout::{AxisId, NoSyms, WellKnown, notation, ops};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// // Mode 0 is the lane, unchanged: what is left is the map of the registers.
/// let rest = ops::quotient(&of("(8,4):(1@laneid,1@register)").view(), 0, AxisId::LANE).unwrap();
/// assert_eq!(rest, Some(of("(4):(1@register)")));
/// assert_eq!(ops::quotient(&of("(8,4):(2@laneid,1@register)").view(), 0, AxisId::LANE), Ok(None));
/// ```
///
/// # Errors
/// [`Error::NoMode`], [`Error::Capacity`].
pub fn quotient(l: &LayoutRef<'_>, k: usize, axis: AxisId) -> Result<Option<Layout>> {
    let own = super::coalesced(mode(l, k)?.shard)?;
    let identity = match own.as_slice() {
        [] => true,
        [one] => one.axis() == axis && one.stride() == Int::ONE,
        _ => false,
    };
    let moves = |it: &Iter| it.axis() == axis && !it.is_unit() && it.stride() != Int::ZERO;
    let others = l.modes().enumerate().filter(|(j, _)| *j != k).flat_map(|(_, (shard, _))| shard);
    let alone = !others.chain(l.replica).any(moves)
        && !l.offset.iter().any(|o: &Offset| o.axis() == axis && o.value() != Int::ZERO);
    if !identity || !alone || (axis == AxisId::M && !l.post.is_identity()) {
        return Ok(None);
    }
    let mut out = Layout::new();
    out.open()?;
    for (_, (shard, profile)) in l.modes().enumerate().filter(|(j, _)| *j != k) {
        out.push_node(&LayoutRef { profile, ..LayoutRef::new(shard) })?;
    }
    out.close()?;
    out.copy_rest(&LayoutRef {
        post: if axis == AxisId::M { PostMap::None } else { l.post },
        ..*l
    })?;
    Ok(Some(out))
}

/// The layout with mode `k` of another extent: a smaller one cuts it, a larger one repeats it in
/// place, with an iter of stride 0.
///
/// ```
/// # use lanebook_layout::{Int, NoSyms, WellKnown, notation, ops};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let tile = of("(8,4):(4,1)");
/// assert_eq!(ops::resize_mode(&tile.view(), 0, Int::known(4)).unwrap(), of("(4,4):(4,1)"));
/// assert_eq!(ops::resize_mode(&tile.view(), 0, Int::known(16)).unwrap(), of("((8,2),4):((4,0),1)"));
/// ```
///
/// # Errors
/// [`Error::NoMode`]; [`Error::ShapeDivisibility`] if the larger extent is no multiple of the
/// smaller one; [`Error::NeedsValue`] if a symbol decides; those of [`compose`] for a cut inside a
/// run.
pub fn resize_mode(l: &LayoutRef<'_>, k: usize, extent: Int) -> Result<Layout> {
    let own = mode(l, k)?;
    let size = own.size()?;
    let fault = Error::ShapeDivisibility {
        leaf: position(k),
        extent: size.coeff(),
        divisor: extent.coeff(),
    };
    if extent.coeff() < 1 {
        return Err(fault);
    }
    let resized = if let Some(times) = extent.div_exact(size) {
        let mut out = Layout::new();
        let axis = own.shard.first().map_or(AxisId::M, Iter::axis);
        if times == Int::ONE {
            out.push_node(&own)?;
        } else {
            out.open()?;
            for it in own.shard {
                out.push_leaf(*it)?;
            }
            out.push_leaf(Iter::symbolic(times, Int::ZERO, axis)?)?;
            out.close()?;
        }
        out
    } else if size.div_exact(extent).is_some() {
        compose(&own, &tree_of(&[Iter::symbolic(extent, Int::ONE, AxisId::M)?], &[])?.view())?
    } else {
        return Err(if size.as_known().is_some() && extent.as_known().is_some() {
            fault
        } else {
            size.needs_value(extent)
        });
    };
    let mut out = Layout::new();
    out.open()?;
    for (j, (shard, profile)) in l.modes().enumerate() {
        let node =
            if j == k { resized.view() } else { LayoutRef { profile, ..LayoutRef::new(shard) } };
        out.push_node(&node)?;
    }
    out.close()?;
    out.copy_rest(l)?;
    out.view().check()?;
    Ok(out)
}

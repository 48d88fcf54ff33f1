//! Layouts on numbered axes (CuTe's scaled bases): positions are coordinates.
//!
//! `v@p0@p1` moves by `v` in sub-mode `p0` of mode `p1`: the path is written innermost first. A
//! layout may be composed with a basis layout (which picks modes by path), and has one-sided
//! inverses that take a coordinate back.

use super::basis_tile::push_nodes;
use super::tuple::IntTuple;
use crate::axis::AxisId;
use crate::coord::{Coord, MAX_AXES};
use crate::error::{Error, Result};
use crate::layout::{Iter, Layout, LayoutRef, MAX_ITERS};
use crate::num::Int;
use crate::ops::{self, compose};
use crate::profile::{CLOSE, LEAF, OPEN};

/// The path of a numbered axis, outermost mode first.
pub(super) fn outermost_first(axis: AxisId) -> heapless::Vec<u8, 3> {
    let mut path = heapless::Vec::new();
    for mode in axis.basis_path() {
        let _ = path.push(mode);
    }
    path.reverse();
    path
}

/// What a walk over the tree of axes meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Branch {
    Open,
    Close,
    /// An axis that is used.
    Axis(AxisId),
    /// A mode number below a used one that nothing mentions.
    Gap,
}

/// Walks over the tree whose leaves are `axes`: modes in order, gaps included, without the outer
/// tuple.
///
/// # Errors
/// [`Error::WrongAxis`] for a named axis, [`Error::NestedAxes`] if one is a prefix of another.
pub(super) fn axis_tree(
    axes: &[AxisId],
    mut visit: impl FnMut(Branch) -> Result<()>,
) -> Result<()> {
    if let Some(axis) = axes.iter().find(|a| !a.is_basis()) {
        return Err(Error::WrongAxis { iter: 0, axis: *axis });
    }
    let mut prefix: heapless::Vec<u8, 4> = heapless::Vec::new();
    let _ = prefix.push(0);
    while let Some((next, above)) = prefix.split_last() {
        let inside = |path: &[u8]| path.starts_with(above) && path.len() > above.len();
        let last = axes
            .iter()
            .map(|a| outermost_first(*a))
            .filter(|p| inside(p))
            .filter_map(|p| p.get(above.len()).copied())
            .max();
        if last.is_none_or(|last| *next > last) {
            prefix.pop();
            if let Some(sibling) = prefix.last_mut() {
                visit(Branch::Close)?;
                *sibling = sibling.saturating_add(1);
            }
            continue;
        }
        let exact = axes.iter().find(|a| outermost_first(**a).as_slice() == prefix.as_slice());
        let deeper = axes.iter().any(|a| {
            let path = outermost_first(*a);
            path.starts_with(&prefix) && path.len() > prefix.len()
        });
        match (exact, deeper) {
            (Some(axis), true) => return Err(Error::NestedAxes { axis: *axis }),
            (None, true) => {
                visit(Branch::Open)?;
                let _ = prefix.push(0);
                continue;
            }
            (Some(axis), false) => visit(Branch::Axis(*axis))?,
            (None, false) => visit(Branch::Gap)?,
        }
        if let Some(sibling) = prefix.last_mut() {
            *sibling = sibling.saturating_add(1);
        }
    }
    Ok(())
}

/// The axes that make up the coordinates of `l`: all it mentions, but for those that never move and
/// stand in the way of another, as prefix or extension.
pub(super) fn used_axes(l: &LayoutRef<'_>) -> Result<heapless::Vec<AxisId, MAX_AXES>> {
    let all = l.axes()?;
    let moves = |axis: AxisId| {
        let own = |it: &&Iter| it.axis() == axis && !it.is_unit() && it.stride() != Int::ZERO;
        l.shard.iter().chain(l.replica).any(|it| own(&it))
            || l.offset.iter().any(|o| o.axis() == axis)
    };
    let mut out = heapless::Vec::new();
    for axis in &all {
        let path = outermost_first(*axis);
        let blocked = all.iter().filter(|other| *other != axis).any(|other| {
            let theirs = outermost_first(*other);
            theirs.starts_with(&path) || (path.starts_with(&theirs) && moves(*other))
        });
        // Extents of 1 and strides of 0 are written without an axis, whose path is before any
        // other.
        if moves(*axis) || !blocked {
            let _ = out.push(*axis);
        }
    }
    Ok(out)
}

/// The position of flat index `x` as a coordinate: the tree of the axes, 0 where nothing moves. The
/// last iter is unbounded.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, cute, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// # let tree = |text: &str| notation::cute::parse_tuple(text, &mut NoSyms).unwrap();
/// // The third element of two rows: row 0, column 1.
/// let made = cute::coordinate(&of("(2,3):(1@0,1@1)").view(), 2).unwrap();
/// assert_eq!(made, tree("(0,1)"));
/// ```
///
/// # Errors
/// [`Error::WrongAxis`] if a named axis is used, [`Error::NestedAxes`] if the positions are no
/// coordinates; those of [`LayoutRef::apply_extended`].
pub fn coordinate(l: &LayoutRef<'_>, x: u64) -> Result<IntTuple> {
    let mut at = Coord::new();
    l.apply_extended(x, &mut at)?;
    let axes = used_axes(l)?;
    let mut out = IntTuple::new();
    out.open()?;
    axis_tree(&axes, |branch| match branch {
        Branch::Open => out.open(),
        Branch::Close => out.close(),
        Branch::Gap => out.push_leaf(Int::ZERO),
        Branch::Axis(axis) => out.push_leaf(Int::known(at.get(axis))),
    })?;
    out.close()?;
    Ok(out)
}

/// The number of positions in the smallest box at 0 that holds the image: the product of the
/// cosizes of all axes. For a layout on axis `m` alone this is its cosize.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, cute, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// assert_eq!(cute::cosize(&of("(8,4):(40,1)").view()).unwrap(), 284);
/// ```
///
/// # Errors
/// [`Error::NestedAxes`] if one numbered axis is the prefix of another; those of
/// [`LayoutRef::cosize`].
pub fn cosize(l: &LayoutRef<'_>) -> Result<i64> {
    let axes = used_axes(l)?;
    if axes.iter().all(|a| a.is_basis()) {
        axis_tree(&axes, |_| Ok(()))?;
    }
    let mut out = 1i64;
    for axis in &axes {
        out = out.checked_mul(l.cosize(*axis)?).ok_or(Error::Overflow)?;
    }
    Ok(out)
}

/// `l` as seen along one axis: that axis becomes `m`, the iters of others stand still.
pub(super) fn along(l: &LayoutRef<'_>, axis: AxisId) -> Result<heapless::Vec<Iter, MAX_ITERS>> {
    let mut out = heapless::Vec::new();
    fill_along(&mut out, l, axis)?;
    Ok(out)
}

/// The same in room of the caller's.
pub(super) fn fill_along(
    out: &mut heapless::Vec<Iter, MAX_ITERS>,
    l: &LayoutRef<'_>,
    axis: AxisId,
) -> Result<()> {
    for it in l.shard {
        let stride = if it.axis() == axis { it.stride() } else { Int::ZERO };
        let _ = out.push(Iter::symbolic(it.extent(), stride, AxisId::M)?);
    }
    Ok(())
}

/// An inverse of each axis, as a tree of modes.
fn by_axis(l: &LayoutRef<'_>, inverse: fn(&LayoutRef<'_>) -> Result<Layout>) -> Result<Layout> {
    ops::refuse_rest(l)?;
    let axes = used_axes(l)?;
    let mut out = Layout::new();
    out.open()?;
    axis_tree(&axes, |branch| match branch {
        Branch::Open => out.open(),
        Branch::Close => out.close(),
        Branch::Gap => out.push_leaf(Iter::new(1, 0, AxisId::M)),
        Branch::Axis(axis) => {
            let own = along(l, axis)?;
            out.push_node(&inverse(&LayoutRef::new(&own))?.view())
        }
    })?;
    out.close()?;
    out.view().check()?;
    Ok(out)
}

/// The right inverse of a basis layout: from the coordinates of the contiguous box at 0 back to
/// indices; on axis `m`
/// [`ops::right_inverse`].
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, cute, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// assert_eq!(cute::right_inverse(&of("(4,8,2):(2,16,1)").view()).unwrap(), of("(2,4):(32,1)"));
/// ```
///
/// # Errors
/// Those of [`ops::right_inverse`]; [`Error::NestedAxes`].
pub fn right_inverse(l: &LayoutRef<'_>) -> Result<Layout> {
    if on_memory(l) {
        return ops::right_inverse(l);
    }
    by_axis(l, ops::right_inverse)
}

/// The left inverse of a basis layout: from its coordinates back to indices; on axis `m`
/// [`ops::left_inverse`].
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, cute, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// assert_eq!(cute::left_inverse(&of("(4,8):(10,1)").view()).unwrap(), of("(10,4):(4,1)"));
/// ```
///
/// # Errors
/// Those of [`ops::left_inverse`]; [`Error::NestedAxes`].
pub fn left_inverse(l: &LayoutRef<'_>) -> Result<Layout> {
    if on_memory(l) {
        return ops::left_inverse(l);
    }
    by_axis(l, ops::left_inverse)
}

fn on_memory(l: &LayoutRef<'_>) -> bool {
    l.shard.iter().all(|it| it.axis() == AxisId::M)
}

/// `a` after a basis layout: a leaf `n:v@p0@p1` of `b` becomes sub-mode `p0` of mode `p1` of `a`,
/// composed with `n:v`.
///
/// Leaves that meet the same mode of `a` are composed together, so that a carry between them is
/// seen.
///
/// # Errors
/// [`Error::NoMode`] for a path that `a` does not have; [`Error::NestedAxes`]; those of
/// [`compose`].
pub(super) fn compose_basis(a: &LayoutRef<'_>, b: &LayoutRef<'_>) -> Result<Layout> {
    let mut out = Layout::new();
    push_composed_basis(&mut out, a, b)?;
    out.copy_rest(a)?;
    out.view().check()?;
    Ok(out)
}

/// Appends [`compose_basis`] as one node, without what `a` has beside its shard.
#[inline(never)]
pub(super) fn push_composed_basis(
    out: &mut Layout,
    a: &LayoutRef<'_>,
    b: &LayoutRef<'_>,
) -> Result<()> {
    ops::refuse_rest(b)?;
    axis_tree(&b.axes()?, |_| Ok(()))?;
    let mut number = 0usize;
    for t in &super::tuple::tokens_of(b)? {
        match *t {
            OPEN => out.open()?,
            CLOSE => out.close()?,
            LEAF => {
                push_leaf_of(out, a, b, number)?;
                number = number.saturating_add(1);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Appends what one leaf of `b` takes of `a`. All leaves on its axis are composed, the others
/// standing still: the carry check sees their sum.
#[inline(never)]
fn push_leaf_of(
    out: &mut Layout,
    a: &LayoutRef<'_>,
    b: &LayoutRef<'_>,
    number: usize,
) -> Result<()> {
    let misfit = Error::NotCongruent { node: 0 };
    let axis = b.shard.get(number).ok_or(misfit)?.axis();
    let mut together = Layout::new();
    ops::push_composed(&mut together, &at_path(a, axis)?, &LayoutRef::new(&along(b, axis)?))?;
    push_nodes(out, &together.view().mode(number).ok_or(misfit)?, Iter::axis)
}

/// The node of `a` that a numbered axis names.
fn at_path<'a>(a: &LayoutRef<'a>, axis: AxisId) -> Result<LayoutRef<'a>> {
    let mut node = LayoutRef { replica: &[], offset: &[], post: crate::post::PostMap::None, ..*a };
    for mode in &outermost_first(axis) {
        node = node.mode(usize::from(*mode)).ok_or(Error::NoMode {
            mode: i16::from(*mode),
            rank: crate::layout::position(node.rank()),
        })?;
    }
    Ok(node)
}

/// CuTe's `nullspace`: the indices that add nothing, from the iters of stride 0: `(4,3):(1,0)`
/// gives `3:4`, none `1:0`. Aliasing between iters that do move is not part of it
/// ([`LayoutRef::is_injective`] sees that).
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, cute, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// assert_eq!(cute::nullspace(&of("(4,8):(0,1)").view()).unwrap(), of("4:1"));
/// ```
pub fn nullspace(l: &LayoutRef<'_>) -> Result<Layout> {
    let mut still = ops::Iters::new();
    let mut before = Int::ONE;
    for it in l.shard {
        if it.stride() == Int::ZERO {
            ops::push(&mut still, Iter::symbolic(it.extent(), before, AxisId::M)?)?;
        }
        before = before.checked_mul(it.extent())?;
    }
    ops::tree_of(&still, &[])
}

/// CuTe's `max_common_layout`: the longest run of indices whose positions both layouts count 0, 1,
/// 2, ... alike. With run-time numbers: one that both count alike whatever the values are; a value
/// may make longer ones possible.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, cute, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// assert_eq!(cute::max_common_layout(&of("(4,8):(1,4)").view(), &of("(4,8):(1,4)").view()).unwrap(), of("32:1"));
/// ```
///
/// # Errors
/// Those of [`ops::right_inverse`] of `b`, and of [`compose`] of `a` with the part of it that
/// decides.
pub fn max_common_layout(a: &LayoutRef<'_>, b: &LayoutRef<'_>) -> Result<Layout> {
    let inverse = ops::right_inverse(b)?;
    let inverse = inverse.view();
    // Mode by mode: what comes after the run that ends need not be composable.
    let (mut run, mut covered) = (None, Int::ONE);
    for (k, it) in inverse.shard.iter().enumerate() {
        let front = inverse.shard.get(..=k).unwrap_or(&[]);
        match compose(a, &LayoutRef::new(front)) {
            Ok(common) => {
                covered = covered.checked_mul(it.extent())?;
                run = ops::coalesce(&common.view())?.view().shard.first().copied();
                if run.is_none_or(|run| run.stride() != Int::ONE || run.extent() != covered) {
                    break;
                }
            }
            // Its first step decides, if that goes elsewhere than to the next position.
            Err(e) => {
                let step = u64::try_from(it.stride_value()?).map_err(|_| e)?;
                let mut at = Coord::new();
                a.apply_extended(step, &mut at)?;
                if at.get(AxisId::M) == covered.value()? {
                    return Err(e);
                }
                break;
            }
        }
    }
    match run {
        Some(run) if run.stride() == Int::ONE && run.axis() == AxisId::M => {
            let run = LayoutRef {
                profile: crate::profile::Profile::SCALAR,
                ..LayoutRef::new(core::slice::from_ref(&run))
            };
            compose(&inverse, &run)
        }
        _ => Layout::leaf(1, 0),
    }
}

/// The size of [`max_common_layout`]: how many elements one copy between the two can move at once.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, cute, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let both = cute::max_common_vector(&of("(4,8):(1,4)").view(), &of("(4,8):(1,8)").view());
/// assert_eq!(both.unwrap().value(), Ok(4));
/// ```
///
/// # Errors
/// As [`max_common_layout`].
pub fn max_common_vector(a: &LayoutRef<'_>, b: &LayoutRef<'_>) -> Result<Int> {
    max_common_layout(a, b)?.view().size()
}

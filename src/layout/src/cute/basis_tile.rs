//! Tilers, complements and products on numbered axes: along each axis as on the integers.
//!
//! The position of a tile `(2,4):(1@0,1@1)` is a coordinate, and so it has no complement up to a
//! number, but one in a box, given as a shape: along each axis the complement up to the extent
//! there, and the whole extent along axes on which nothing moves. A divide takes the shape of what
//! is divided for the box. A product repeats a block at tiles that are coordinates, too.
//!
//! As in CuTe, modes behind the last that a tile names keep their tree, and others are one run.

use super::basis::{along, axis_tree, fill_along, outermost_first, push_composed_basis, used_axes};
use super::tuple::{TupleRef, tokens_of};
use super::walk::Shard;
use crate::axis::AxisId;
use crate::coord::MAX_AXES;
use crate::error::{Error, Limit, Result};
use crate::layout::{Iter, Layout, LayoutRef, position};
use crate::num::Int;
use crate::ops::{self, Iters, or_collision, push_complement, push_composed};
use crate::profile::{CLOSE, OPEN, leaves, split_node};

/// Whether some iter lies on a numbered axis.
pub(super) fn on_basis(l: &LayoutRef<'_>) -> bool {
    l.shard.iter().any(|it| it.axis().is_basis())
}

/// What `l` leaves of the box `(0,...,0)` to `shape`: a layout disjoint from it except at 0 that
/// covers the box together with it, the extents rounded up. The modes of the answer are those of
/// the shape.
///
/// A layout on axis `m` is taken as in [`ops::complement`], up to the size of the shape.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, cute, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// # let tree = |text: &str| notation::cute::parse_tuple(text, &mut NoSyms).unwrap();
/// // Every second row and two of four columns; the other rows, and the next two columns.
/// let made = cute::complement_in(&of("(4,2):(2@0,1@1)").view(), tree("(8,4)").view());
/// assert_eq!(made.unwrap(), of("(2,2):(1@0,2@1)"));
/// ```
///
/// # Errors
/// Along each axis those of [`ops::complement`]; [`Error::NoMode`] for an axis that the shape does
/// not have; [`Error::NestedAxes`]; what `l` must not have.
pub fn complement_in(l: &LayoutRef<'_>, shape: TupleRef<'_>) -> Result<Layout> {
    if !on_basis(l) {
        return ops::complement(l, shape.product()?);
    }
    ops::refuse_rest(l)?;
    let axes = named(&[l])?;
    let mut out = Layout::new();
    let mut extents = shape.leaves().iter();
    over_modes(shape.tokens(), &axes, |mode| match mode {
        BoxMode::Open => out.open(),
        BoxMode::Close => out.close(),
        BoxMode::Behind { tokens, path } => push_identity(&mut out, tokens, path, &mut extents),
        BoxMode::Node { tokens, axis } => {
            let mut own = extents.by_ref().take(leaves(tokens));
            let size = own.try_fold(Int::ONE, |n, extent| n.checked_mul(*extent))?;
            push_rest(&mut out, l, axis, size)
        }
    })?;
    out.view().check()?;
    Ok(out)
}

/// Appends each coordinate of a mode as itself.
fn push_identity(
    out: &mut Layout,
    tokens: &[u8],
    mut path: ModePath,
    extents: &mut core::slice::Iter<'_, Int>,
) -> Result<()> {
    for t in tokens {
        match *t {
            OPEN => {
                out.open()?;
                deeper(&mut path)?;
                continue;
            }
            CLOSE => {
                out.close()?;
                path.pop();
            }
            _ => {
                let extent = *extents.next().ok_or(Error::NotCongruent { node: 0 })?;
                let stride = if extent == Int::ONE { Int::ZERO } else { Int::ONE };
                out.push_leaf(Iter::symbolic(extent, stride, axis_of(&path)?)?)?;
            }
        }
        next(&mut path);
    }
    Ok(())
}

/// Appends the complement of `l` along an axis, up to `size`.
#[inline(never)]
fn push_rest(out: &mut Layout, l: &LayoutRef<'_>, axis: AxisId, size: Int) -> Result<()> {
    let mut rest = Layout::new();
    push_complement(&mut rest, &LayoutRef::new(&only(l, axis)?), size)?;
    push_onto(out, &rest.view(), axis)
}

/// Appends tile and rests of `a`, taken apart by a tile on numbered axes, as a pair, without what
/// `a` has beside its shard.
#[inline(never)]
pub(super) fn push_divided_basis(
    out: &mut Layout,
    a: &LayoutRef<'_>,
    t: &LayoutRef<'_>,
) -> Result<()> {
    let axes = named(&[t])?;
    out.open()?;
    push_composed_basis(out, a, t)?;
    let mut shard = Shard(a.shard);
    over_modes(&whole(a)?, &axes, |mode| match mode {
        BoxMode::Open => out.open(),
        BoxMode::Close => out.close(),
        BoxMode::Behind { tokens, .. } => out.push_node(&shard.node(tokens)?),
        BoxMode::Node { tokens, axis } => push_rest_of(out, &shard.node(tokens)?, t, axis),
    })?;
    out.close()
}

/// Appends what a tile leaves of one mode.
#[inline(never)]
fn push_rest_of(
    out: &mut Layout,
    mode: &LayoutRef<'_>,
    t: &LayoutRef<'_>,
    axis: AxisId,
) -> Result<()> {
    let mut rest = Layout::new();
    push_complement(&mut rest, &LayoutRef::new(&only(t, axis)?), mode.size()?)?;
    push_composed(out, mode, &rest.view()).map(|_| ())
}

/// Appends the starts of `a`, repeated at the tiles whose coordinates `b` counts: along each axis as
/// a product of integers.
pub(super) fn push_repetition_basis(
    out: &mut Layout,
    a: &LayoutRef<'_>,
    b: &LayoutRef<'_>,
) -> Result<()> {
    push_all_starts(out, a, b, None).map_err(|fault| explained(fault, a, b))
}

/// The same as a tuple of so many modes: behind those of `b` there is one of each.
pub(super) fn push_repetitions_basis(
    out: &mut Layout,
    a: &LayoutRef<'_>,
    b: &LayoutRef<'_>,
    rank: usize,
) -> Result<()> {
    push_all_starts(out, a, b, Some(rank)).map_err(|fault| explained(fault, a, b))
}

/// What to refuse with when strides do not nest on some axis: that two coordinates meet, where they
/// do. Asked here, where little stands on the stack.
#[inline(never)]
fn explained(fault: Error, a: &LayoutRef<'_>, b: &LayoutRef<'_>) -> Error {
    for it in b.shard {
        let Ok(own) = only(a, it.axis()) else { return fault };
        let found = or_collision(fault, &own);
        if found != fault {
            return found;
        }
    }
    fault
}

/// Appends the tree of `b` with the starts that its leaves count; with a rank, as a tuple of so many
/// modes.
#[inline(never)]
fn push_all_starts(
    out: &mut Layout,
    a: &LayoutRef<'_>,
    b: &LayoutRef<'_>,
    rank: Option<usize>,
) -> Result<()> {
    ops::refuse_rest(a)?;
    ops::refuse_rest(b)?;
    named(&[a, b])?;
    let becomes_tuple = rank.is_some() && b.profile.is_scalar();
    let more = rank.map_or(0, |rank| rank.saturating_sub(b.rank()));
    if becomes_tuple {
        out.open()?;
    }
    let (mut number, mut open) = (0usize, 0usize);
    for t in &tokens_of(b)? {
        match *t {
            OPEN => {
                open = open.saturating_add(1);
                out.open()?;
            }
            CLOSE => {
                open = open.saturating_sub(1);
                if open == 0 {
                    push_ones(out, more)?;
                }
                out.close()?;
            }
            _ => {
                push_starts(out, a, b, number)?;
                number = number.saturating_add(1);
            }
        }
    }
    if becomes_tuple {
        push_ones(out, more)?;
        out.close()?;
    }
    Ok(())
}

/// Appends so many leaves of extent 1.
fn push_ones(out: &mut Layout, count: usize) -> Result<()> {
    (0..count).try_for_each(|_| out.push_leaf(Iter::new(1, 0, AxisId::M)))
}

/// Appends the starts that one leaf of `b` counts. All of its axis are asked together: a carry
/// between them is seen. In two steps, of which neither has the other's room on the stack.
#[inline(never)]
fn push_starts(
    out: &mut Layout,
    a: &LayoutRef<'_>,
    b: &LayoutRef<'_>,
    number: usize,
) -> Result<()> {
    let misfit = Error::NotCongruent { node: position(number) };
    let axis = b.shard.get(number).ok_or(misfit)?.axis();
    let mut tiles = Layout::new();
    if let Some(cosize) = reach(b, axis)? {
        count_tiles(&mut tiles, a, axis, cosize)?;
    }
    push_start_of(out, &tiles.view(), b, (number, axis))
}

/// How far the leaves of an axis count, plus 1; nothing if none moves.
#[inline(never)]
fn reach(b: &LayoutRef<'_>, axis: AxisId) -> Result<Option<Int>> {
    let iters = along(b, axis)?;
    if ops::is_still(&iters) {
        return Ok(None);
    }
    Ok(Some(ops::counted(&LayoutRef::new(&iters))?))
}

/// Where the repetitions of `a` start along an axis.
#[inline(never)]
fn count_tiles(tiles: &mut Layout, a: &LayoutRef<'_>, axis: AxisId, cosize: Int) -> Result<()> {
    ops::push_counted(tiles, &LayoutRef::new(&only(a, axis)?), cosize)
}

/// Appends the starts that a leaf of `b` counts among those of its axis.
#[inline(never)]
fn push_start_of(
    out: &mut Layout,
    tiles: &LayoutRef<'_>,
    b: &LayoutRef<'_>,
    (number, axis): (usize, AxisId),
) -> Result<()> {
    let mut together = Layout::new();
    push_counting(&mut together, tiles, b, axis)?;
    let misfit = Error::NotCongruent { node: position(number) };
    push_onto(out, &together.view().mode(number).ok_or(misfit)?, axis)
}

/// Appends what the leaves of an axis count, through the tiles' starts.
#[inline(never)]
fn push_counting(
    out: &mut Layout,
    tiles: &LayoutRef<'_>,
    b: &LayoutRef<'_>,
    axis: AxisId,
) -> Result<()> {
    let mut iters = Iters::new();
    fill_along(&mut iters, b, axis)?;
    let counted = LayoutRef::new(&iters);
    if ops::is_still(&iters) {
        return ops::push_still(out, &counted);
    }
    push_composed(out, tiles, &counted)?;
    Ok(())
}

/// The iters of `l` that move on an axis, on axis `m`.
fn only(l: &LayoutRef<'_>, axis: AxisId) -> Result<Iters> {
    let mut out = Iters::new();
    for it in l.shard.iter().filter(|it| it.axis() == axis && moves(it)) {
        ops::push(&mut out, Iter::symbolic(it.extent(), it.stride(), AxisId::M)?)?;
    }
    Ok(out)
}

fn moves(it: &Iter) -> bool {
    !it.is_unit() && it.stride() != Int::ZERO
}

/// Appends a layout on axis `m` as one node on another.
#[inline(never)]
fn push_onto(out: &mut Layout, l: &LayoutRef<'_>, axis: AxisId) -> Result<()> {
    push_nodes(out, l, |_| axis)
}

/// Appends a layout as one node, its iters on these axes; what stays at 0 does so on no axis.
pub(super) fn push_nodes(
    out: &mut Layout,
    l: &LayoutRef<'_>,
    axis: impl Fn(&Iter) -> AxisId,
) -> Result<()> {
    let mut iters = l.shard.iter();
    for t in &tokens_of(l)? {
        match *t {
            OPEN => out.open()?,
            CLOSE => out.close()?,
            _ => {
                let it = iters.next().ok_or(Error::NotCongruent { node: 0 })?;
                let axis = if it.stride() == Int::ZERO { AxisId::M } else { axis(it) };
                out.push_leaf(Iter::symbolic(it.extent(), it.stride(), axis)?)?;
            }
        }
    }
    Ok(())
}

/// The axes that the layouts name, but for those that never move and stand in the way of others;
/// they must be the leaves of a tree.
#[inline(never)]
fn named(layouts: &[&LayoutRef<'_>]) -> Result<heapless::Vec<AxisId, MAX_AXES>> {
    let mut out: heapless::Vec<AxisId, MAX_AXES> = heapless::Vec::new();
    for layout in layouts {
        for axis in &used_axes(layout)? {
            if !out.contains(axis) {
                let full = Error::Capacity { limit: Limit::Axes, max: MAX_AXES as u32 };
                out.push(*axis).map_err(|_| full)?;
            }
        }
    }
    axis_tree(&out, |_| Ok(()))?;
    Ok(out)
}

/// The tree of `a`, in which a leaf is its own only mode.
fn whole(a: &LayoutRef<'_>) -> Result<super::tuple::Tokens> {
    if a.profile.is_scalar() { tokens_of(&LayoutRef::new(a.shard)) } else { tokens_of(a) }
}

/// A mode, outermost first.
type ModePath = heapless::Vec<u8, 4>;

/// What there is in a box.
enum BoxMode<'t> {
    Open,
    Close,
    /// A mode behind the last that an axis names.
    Behind {
        tokens: &'t [u8],
        path: ModePath,
    },
    /// The mode of this axis, below which none is named.
    Node {
        tokens: &'t [u8],
        axis: AxisId,
    },
}

/// Visits a tree of modes down to those that `axes` name. A leaf is its own only mode.
fn over_modes<'t>(
    tree: &'t [u8],
    axes: &[AxisId],
    mut visit: impl FnMut(BoxMode<'t>) -> Result<()>,
) -> Result<()> {
    let mut path = ModePath::new();
    let mut rest = tree;
    while let Some((front, behind)) = rest.split_first() {
        if *front == CLOSE {
            if let Some(count) = path.pop() {
                has_modes(axes, &path, count)?;
            }
            rest = behind;
            visit(BoxMode::Close)?;
            next(&mut path);
            continue;
        }
        if *front == OPEN && (path.is_empty() || names_below(axes, &path)) {
            rest = behind;
            deeper(&mut path)?;
            visit(BoxMode::Open)?;
            continue;
        }
        let (tokens, behind) = split_node(rest).ok_or(Error::NotCongruent { node: 0 })?;
        let mut own = path.clone();
        while own.is_empty() || names_below(axes, &own) {
            has_modes(axes, &own, 1)?;
            deeper(&mut own)?;
            visit(BoxMode::Open)?;
        }
        let around = own.len().saturating_sub(path.len());
        visit(match is_behind(axes, &own) {
            true => BoxMode::Behind { tokens, path: own },
            false => BoxMode::Node { tokens, axis: axis_of(&own)? },
        })?;
        for _ in 0..around {
            visit(BoxMode::Close)?;
        }
        rest = behind;
        next(&mut path);
    }
    Ok(())
}

fn axis_of(mode: &ModePath) -> Result<AxisId> {
    let mut path = mode.clone();
    path.reverse();
    AxisId::path(&path).ok_or(Error::NestedAxes { axis: AxisId::M })
}

fn next(path: &mut ModePath) {
    if let Some(last) = path.last_mut() {
        *last = last.saturating_add(1);
    }
}

fn deeper(path: &mut ModePath) -> Result<()> {
    path.push(0).map_err(|_| Error::NestedAxes { axis: AxisId::M })
}

/// Whether no axis is this mode, or one behind it in its tuple.
fn is_behind(axes: &[AxisId], mode: &[u8]) -> bool {
    let Some((own, tuple)) = mode.split_last() else { return false };
    !axes.iter().any(|axis| {
        let path = outermost_first(*axis);
        path.starts_with(tuple) && path.get(tuple.len()).is_some_and(|k| k >= own)
    })
}

/// Whether an axis is a mode below this one.
fn names_below(axes: &[AxisId], mode: &[u8]) -> bool {
    axes.iter().any(|axis| {
        let path = outermost_first(*axis);
        path.len() > mode.len() && path.starts_with(mode)
    })
}

/// That no axis is another mode of this one than its `count` first.
fn has_modes(axes: &[AxisId], mode: &[u8], count: u8) -> Result<()> {
    for axis in axes {
        let path = outermost_first(*axis);
        if let Some(k) = path.get(mode.len()).filter(|k| path.starts_with(mode) && **k >= count) {
            return Err(Error::NoMode { mode: i16::from(*k), rank: count });
        }
    }
    Ok(())
}

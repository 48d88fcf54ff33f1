//! Tiling: composition with a tiler, the divides and the products, and how they group their modes.
//!
//! A divide cuts a layout into tiles, a product repeats it; `logical`, `zipped`, `tiled` and `flat` differ in grouping:
//!
//! ```text
//!            tiler is one layout                  tiler by mode
//! logical    (tile, rest)                         ((t0,r0), (t1,r1), kept ...)
//! zipped     (tile, rest)                         ((t0,t1), (r0, r1, kept ...))
//! tiled      (tile, rest...)                      ((t0,t1), r0, r1, kept ...)
//! flat       (tile..., rest...)                   (t0, t1, r0, r1, kept ...)
//! ```

use super::tuple::{Tokens, TupleRef, push_token, tokens_of};
use super::walk::{Shard, Step, Walk};
use crate::axis::AxisId;
use crate::error::{Error, Result};
use crate::layout::{Iter, Layout, LayoutRef, MAX_MODES, position};
use crate::num::Int;
use crate::ops::{coalesced, compose, logical_divide as divide_one, tree_of};
use crate::post::PostMap;
use crate::profile::{CLOSE, LEAF, OPEN};

/// By what a layout is composed, divided or repeated.
#[derive(Clone, Copy, Debug)]
pub enum Tiler<'a> {
    /// One layout, for the whole.
    Layout(LayoutRef<'a>),
    /// A layout for each of the first modes.
    Modes(&'a [LayoutRef<'a>]),
    /// An extent `n` for each of the first modes, meaning `n:1`; tuples go on by mode.
    Shape(TupleRef<'a>),
}

/// `a` without what stays outside when its modes are taken apart.
fn bare<'a>(a: &LayoutRef<'a>) -> LayoutRef<'a> {
    LayoutRef { replica: &[], offset: &[], post: PostMap::None, ..*a }
}

/// One mode of a tiler by mode.
fn extent_tile(extent: Int) -> Result<Layout> {
    let stride = if extent == Int::ONE { Int::ZERO } else { Int::ONE };
    if extent.coeff() < 1 {
        return Err(Error::BadExtent { iter: 0 });
    }
    tree_of(&[Iter::symbolic(extent, stride, AxisId::M)?], &[])
}

/// Applies `part` to each mode that the tiler mentions; what it gives becomes a node of the result.
///
/// `keep`: whether the modes that the tiler does not mention follow.
fn by_mode(
    a: &LayoutRef<'_>,
    tiler: &Tiler<'_>,
    keep: bool,
    mut part: impl FnMut(&LayoutRef<'_>, &LayoutRef<'_>, &mut Layout) -> Result<()>,
) -> Result<Layout> {
    let mut out = Layout::new();
    match tiler {
        Tiler::Layout(t) => part(&bare(a), t, &mut out)?,
        Tiler::Modes(tiles) => {
            let rank = a.rank();
            if tiles.len() > rank || rank > MAX_MODES {
                return Err(Error::Rank { expected: position(rank), found: position(tiles.len()) });
            }
            out.open()?;
            for (k, (shard, profile)) in a.modes().enumerate() {
                let mode = LayoutRef { profile, ..LayoutRef::new(shard) };
                match tiles.get(k) {
                    Some(t) => part(&mode, t, &mut out)?,
                    None if keep => out.push_node(&mode)?,
                    None => {}
                }
            }
            out.close()?;
        }
        Tiler::Shape(shape) => {
            // A leaf is its own only mode.
            let tuple = matches!(shape.tokens().first(), Some(&OPEN));
            let tree = if a.profile.is_scalar() && tuple { tokens_of(&LayoutRef::new(a.shard))? } else { tokens_of(a)? };
            let mut shard = Shard(a.shard);
            let mut extents = shape.leaves().iter();
            let mut walk = Walk::partial(shape.tokens(), &tree);
            while let Some(step) = walk.step()? {
                match step {
                    Step::Open => out.open()?,
                    Step::Close => out.close()?,
                    Step::Node(_, node) => {
                        let node = shard.node(node)?;
                        let extent = *extents.next().ok_or(Error::NotCongruent { node: 0 })?;
                        part(&node, &extent_tile(extent)?.view(), &mut out)?;
                    }
                    Step::Rest(node) | Step::Deeper(node) => {
                        let node = shard.node(node)?;
                        if keep {
                            out.push_node(&node)?;
                        }
                    }
                }
            }
        }
    }
    Ok(out)
}

/// `a` after the tiler: by mode, with the modes that the tiler does not mention dropped.
///
/// A single layout on numbered axes (`(12,4):(1@0,1@1)`) selects modes of `a` by their path.
///
/// # Errors
/// Those of [`compose`]; [`Error::Rank`] or [`Error::NotCongruent`] for a tiler with more modes than `a`;
/// [`Error::NoMode`] for a path that `a` does not have.
pub fn composition(a: &LayoutRef<'_>, tiler: &Tiler<'_>) -> Result<Layout> {
    if let Tiler::Layout(b) = tiler {
        return if b.shard.iter().any(|it| it.axis().is_basis()) { super::basis::compose_basis(a, b) } else { compose(a, b) };
    }
    let mut out = by_mode(a, tiler, false, |mode, t, out| out.push_node(&compose(mode, t)?.view()))?;
    out.copy_rest(a)?;
    out.view().check()?;
    Ok(out)
}

/// Tile and rest of each divided mode, as a pair.
fn divided(a: &LayoutRef<'_>, tiler: &Tiler<'_>) -> Result<Layout> {
    by_mode(a, tiler, true, |mode, t, out| out.push_node(&divide_one(mode, t)?.view()))
}

/// How the tile and the rest are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Grouping {
    Zipped,
    Tiled,
    Flat,
}

/// Puts the halves together.
fn grouped(a: &LayoutRef<'_>, tile: &Layout, rest: &Layout, how: Grouping) -> Result<Layout> {
    let mut out = Layout::new();
    out.open()?;
    push_modes(&tile.view(), how == Grouping::Flat, &mut out)?;
    push_modes(&rest.view(), how != Grouping::Zipped, &mut out)?;
    out.close()?;
    out.copy_rest(a)?;
    out.view().check()?;
    Ok(out)
}

/// Appends `l` as one node or, if `spread`, its modes one by one.
fn push_modes(l: &LayoutRef<'_>, spread: bool, out: &mut Layout) -> Result<()> {
    if !spread {
        return out.push_node(l);
    }
    for (shard, profile) in l.modes() {
        out.push_node(&LayoutRef { profile, ..LayoutRef::new(shard) })?;
    }
    Ok(())
}

/// CuTe's `logical_divide`: `a o (t, complement(t, size(a)))` for the whole or for each mode.
///
/// # Errors
/// Those of [`crate::ops::complement`] (of a tile) and [`compose`]; as [`composition`] for the tiler's form.
pub fn logical_divide(a: &LayoutRef<'_>, tiler: &Tiler<'_>) -> Result<Layout> {
    let mut out = divided(a, tiler)?;
    out.copy_rest(a)?;
    out.view().check()?;
    Ok(out)
}

/// [`logical_divide`] as (tiles, rests). Errors as there.
pub fn zipped_divide(a: &LayoutRef<'_>, tiler: &Tiler<'_>) -> Result<Layout> {
    regrouped(a, tiler, Grouping::Zipped, &divided(a, tiler)?, false)
}

/// [`logical_divide`] as (tiles, rest, rest, ...). Errors as there.
pub fn tiled_divide(a: &LayoutRef<'_>, tiler: &Tiler<'_>) -> Result<Layout> {
    regrouped(a, tiler, Grouping::Tiled, &divided(a, tiler)?, false)
}

/// [`logical_divide`] as (tile, tile, ..., rest, rest, ...). Errors as there.
pub fn flat_divide(a: &LayoutRef<'_>, tiler: &Tiler<'_>) -> Result<Layout> {
    regrouped(a, tiler, Grouping::Flat, &divided(a, tiler)?, false)
}

/// Takes the pairs of `both` apart and groups them. `kept_first`: modes that the tiler does not mention go with the
/// first halves.
fn regrouped(a: &LayoutRef<'_>, tiler: &Tiler<'_>, how: Grouping, both: &Layout, kept_first: bool) -> Result<Layout> {
    let mut guide = Tokens::new();
    match tiler {
        Tiler::Layout(_) => push_token(&mut guide, LEAF)?,
        Tiler::Modes(tiles) => {
            push_token(&mut guide, OPEN)?;
            for _ in *tiles {
                push_token(&mut guide, LEAF)?;
            }
            push_token(&mut guide, CLOSE)?;
        }
        Tiler::Shape(shape) => {
            for t in shape.tokens() {
                push_token(&mut guide, *t)?;
            }
        }
    }
    let both = both.view();
    let tree = tokens_of(&both)?;
    let mut shard = Shard(both.shard);
    let (mut first, mut second) = (Layout::new(), Layout::new());
    let mut walk = Walk::partial(&guide, &tree);
    while let Some(step) = walk.step()? {
        match step {
            Step::Open => {
                first.open()?;
                second.open()?;
            }
            Step::Close => {
                first.close()?;
                second.close()?;
            }
            Step::Node(_, node) => {
                let pair = shard.node(node)?;
                let half = |k: usize| pair.mode(k).ok_or(Error::NoMode { mode: 1, rank: 0 });
                first.push_node(&half(0)?)?;
                second.push_node(&half(1)?)?;
            }
            Step::Rest(node) | Step::Deeper(node) => {
                let side = if kept_first { &mut first } else { &mut second };
                side.push_node(&shard.node(node)?)?;
            }
        }
    }
    grouped(a, &first, &second, how)
}

/// Block and repetition of each multiplied mode, as a pair.
fn multiplied(a: &LayoutRef<'_>, tiler: &Tiler<'_>) -> Result<Layout> {
    by_mode(a, tiler, true, |mode, t, out| out.push_node(&crate::ops::logical_product(mode, t)?.view()))
}

/// CuTe's `logical_product`: `(a, complement(a, size(a) * cosize(b)) o b)` for the whole or for each mode: `a` repeated
/// at the tiles that `b` counts.
///
/// # Errors
/// Those of [`crate::ops::complement`] (of `a`) and [`compose`]; as [`composition`] for the tiler's form.
pub fn logical_product(a: &LayoutRef<'_>, tiler: &Tiler<'_>) -> Result<Layout> {
    let mut out = multiplied(a, tiler)?;
    out.copy_rest(a)?;
    out.view().check()?;
    Ok(out)
}

/// [`logical_product`] as (blocks, repetitions). Errors as there.
pub fn zipped_product(a: &LayoutRef<'_>, tiler: &Tiler<'_>) -> Result<Layout> {
    regrouped(a, tiler, Grouping::Zipped, &multiplied(a, tiler)?, true)
}

/// [`logical_product`] as (blocks, repetition, repetition, ...). Errors as there.
pub fn tiled_product(a: &LayoutRef<'_>, tiler: &Tiler<'_>) -> Result<Layout> {
    regrouped(a, tiler, Grouping::Tiled, &multiplied(a, tiler)?, true)
}

/// [`logical_product`] as (block, block, ..., repetition, repetition, ...). Errors as there.
pub fn flat_product(a: &LayoutRef<'_>, tiler: &Tiler<'_>) -> Result<Layout> {
    regrouped(a, tiler, Grouping::Flat, &multiplied(a, tiler)?, true)
}

/// `l` with modes `1:0` appended until it has `rank` modes; a leaf becomes a 1-tuple.
fn appended(l: &LayoutRef<'_>, rank: usize) -> Result<Layout> {
    let mut out = Layout::new();
    out.open()?;
    push_modes(l, true, &mut out)?;
    for _ in l.rank()..rank {
        out.push_leaf(Iter::new(1, 0, AxisId::M))?;
    }
    out.close()?;
    out.view().check()?;
    Ok(out)
}

/// Mode by mode, the modes of `first` and `second` (of the same rank) as pairs.
fn zip(first: &LayoutRef<'_>, second: &LayoutRef<'_>, merge: bool) -> Result<Layout> {
    let mut out = Layout::new();
    out.open()?;
    for ((s0, p0), (s1, p1)) in first.modes().zip(second.modes()) {
        let mut pair = Layout::new();
        pair.open()?;
        for (shard, profile) in [(s0, p0), (s1, p1)] {
            pair.push_node(&LayoutRef { profile, ..LayoutRef::new(shard) })?;
        }
        pair.close()?;
        if merge {
            let iters = coalesced(pair.view().shard)?;
            out.push_node(&tree_of(&iters, pair.view().shard)?.view())?;
        } else {
            out.push_node(&pair.view())?;
        }
    }
    out.close()?;
    out.view().check()?;
    Ok(out)
}

/// The product of `a` and `b`, both brought to the same rank: the modes of `a`, and those of its repetition.
fn paired_product(a: &LayoutRef<'_>, b: &LayoutRef<'_>) -> Result<(Layout, Layout)> {
    let rank = a.rank().max(b.rank());
    let (a, b) = (appended(&bare(a), rank)?, appended(b, rank)?);
    let both = crate::ops::logical_product(&a.view(), &b.view())?;
    let repeat = both.view().mode(1).ok_or(Error::NoMode { mode: 1, rank: 0 })?.to_owned()?;
    Ok((a, repeat))
}

/// CuTe's `blocked_product`: blocks side by side; mode `k` is `(block, repetition)` of both modes `k`.
///
/// # Errors
/// Those of [`logical_product`].
pub fn blocked_product(a: &LayoutRef<'_>, b: &LayoutRef<'_>) -> Result<Layout> {
    let (block, repeat) = paired_product(a, b)?;
    let mut out = zip(&block.view(), &repeat.view(), false)?;
    out.copy_rest(a)?;
    Ok(out)
}

/// CuTe's `raked_product`: blocks interleaved; mode `k` is `(repetition, block)`, coalesced.
///
/// # Errors
/// Those of [`logical_product`].
pub fn raked_product(a: &LayoutRef<'_>, b: &LayoutRef<'_>) -> Result<Layout> {
    let (block, repeat) = paired_product(a, b)?;
    let mut out = zip(&repeat.view(), &block.view(), true)?;
    out.copy_rest(a)?;
    Ok(out)
}

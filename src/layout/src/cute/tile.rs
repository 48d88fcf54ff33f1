//! Tiling: composition with a tiler, the divides and the products, and how they group their modes.
//!
//! A divide cuts a layout into tiles, a product repeats it; `logical`, `zipped`, `tiled` and `flat`
//! differ in grouping:
//!
//! ```text
//!            tiler is one layout                  tiler by mode
//! logical    (tile, rest)                         ((t0,r0), (t1,r1), kept ...)
//! zipped     (tile, rest)                         ((t0,t1), (r0, r1, kept ...))
//! tiled      (tile, rest...)                      ((t0,t1), r0, r1, kept ...)
//! flat       (tile..., rest...)                   (t0, t1, r0, r1, kept ...)
//! ```

use super::basis_tile::{
    on_basis, push_divided_basis, push_repetition_basis, push_repetitions_basis,
};
use super::tuple::{Tokens, TupleRef, push_token, tokens_of};
use super::walk::{Shard, TreeStep, TreeWalk};
use crate::axis::AxisId;
use crate::error::{Error, Result};
use crate::layout::{Iter, Layout, LayoutRef, MAX_MODES, position};
use crate::num::Int;
use crate::ops::{
    Iters, compose, push_composed, push_divided, push_merged, push_multiplied, push_repetition,
    push_tree,
};
use crate::post::PostMap;
use crate::profile::{CLOSE, LEAF, OPEN, Profile};

/// By what a layout is composed, divided or repeated.
///
/// ```
/// # use lanebook_layout::cute::{Tiler, zipped_divide};
/// # use lanebook_layout::{NoSyms, WellKnown, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// # let tree = |text: &str| notation::cute::parse_tuple(text, &mut NoSyms).unwrap();
/// // A tile of 4 by 8, as a shape and as a layout of each mode: the same tile.
/// let (shape, rows, columns) = (tree("(4,8)"), of("4:1"), of("8:1"));
/// let by_mode = [rows.view(), columns.view()];
/// let matrix = of("(16,32):(32,1)");
/// let shaped = zipped_divide(&matrix.view(), &Tiler::Shape(shape.view())).unwrap();
/// assert_eq!(zipped_divide(&matrix.view(), &Tiler::Modes(&by_mode)).unwrap(), shaped);
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Tiler<'a> {
    /// One layout, for the whole.
    Layout(LayoutRef<'a>),
    /// A layout for each of the first modes.
    Modes(&'a [LayoutRef<'a>]),
    /// An extent `n` for each of the first modes, meaning `n:1`; tuples go on by mode.
    Shape(TupleRef<'a>),
    /// A layout for each of the first modes; tuples go on by mode.
    Tree(&'a TileTree),
}

/// Layouts in a tree, each the tile of a mode: CuTe's nested tilers, `(4:1,(2:2,8:1))`.
///
/// ```
/// # use lanebook_layout::cute::{TileTree, Tiler};
/// # use lanebook_layout::{NoSyms, WellKnown, cute, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// // Every second row of two, and all of four columns that have two halves.
/// let mut tree = TileTree::new();
/// tree.open().unwrap();
/// tree.push(&of("2:2").view()).unwrap();
/// tree.open().unwrap();
/// tree.push(&of("4:1").view()).unwrap();
/// tree.close().unwrap();
/// tree.close().unwrap();
/// let whole = of("(4,(8,2)):(1,(4,32))");
/// let made = cute::composition(&whole.view(), &Tiler::Tree(&tree)).unwrap();
/// assert_eq!(made, of("(2,(4)):(2,(4))"));
/// ```
///
/// ```
/// # use lanebook_layout::cute::TileTree;
/// # use lanebook_layout::{NoSyms, WellKnown, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// // The tree as tokens, a leaf for each tile.
/// let mut tree = TileTree::new();
/// tree.push(&of("4:1").view()).unwrap();
/// assert_eq!((tree.guide().len(), tree.tile(0).is_some(), tree.tile(1).is_none()), (1, true, true));
/// ```
#[derive(Clone, Debug, Default)]
pub struct TileTree {
    tiles: Layout,
    guide: Tokens,
}

impl TileTree {
    /// No tile yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { tiles: Layout::new(), guide: Tokens::new() }
    }

    /// Begins a tuple.
    ///
    /// # Errors
    /// [`Error::Capacity`].
    pub fn open(&mut self) -> Result<()> {
        self.tiles.open()?;
        push_token(&mut self.guide, OPEN)
    }

    /// Ends a tuple.
    ///
    /// # Errors
    /// [`Error::Capacity`].
    pub fn close(&mut self) -> Result<()> {
        self.tiles.push_token(CLOSE)?;
        push_token(&mut self.guide, CLOSE)
    }

    /// Appends the tile of the next mode.
    ///
    /// # Errors
    /// [`Error::Capacity`]; [`Error::HasReplica`], [`Error::HasOffset`], [`Error::HasPostMap`].
    pub fn push(&mut self, tile: &LayoutRef<'_>) -> Result<()> {
        crate::ops::refuse_rest(tile)?;
        self.tiles.push_node(tile)?;
        push_token(&mut self.guide, LEAF)
    }

    /// The tree: tokens of a [`Profile`], a leaf for each tile.
    #[must_use]
    pub fn guide(&self) -> &[u8] {
        &self.guide
    }

    /// The tile of this number, in the order of the text.
    #[must_use]
    pub fn tile(&self, number: usize) -> Option<LayoutRef<'_>> {
        let view = self.tiles.view();
        let mut shard = Shard(view.shard);
        let mut walk = TreeWalk::exact(&self.guide, view.profile.tokens());
        let mut found = 0usize;
        while let Ok(Some(step)) = walk.step() {
            if let TreeStep::Node(_, node) = step {
                let tile = shard.node(node).ok()?;
                if found == number {
                    return Some(tile);
                }
                found = found.saturating_add(1);
            }
        }
        None
    }
}

/// The tiles of a tree of modes, one after the other.
struct NextTile<'a> {
    extents: core::slice::Iter<'a, Int>,
    walk: TreeWalk<'a>,
    shard: Shard<'a>,
}

impl<'a> NextTile<'a> {
    /// The next one; `own` holds it where it is an extent.
    fn tile<'s>(&'s mut self, own: &'s mut Iter) -> Result<LayoutRef<'s>> {
        if let Some(extent) = self.extents.next() {
            *own = extent_tile(*extent)?;
            return Ok(LayoutRef {
                profile: Profile::SCALAR,
                ..LayoutRef::new(core::slice::from_ref(own))
            });
        }
        while let Some(step) = self.walk.step()? {
            if let TreeStep::Node(_, node) = step {
                return self.shard.node(node);
            }
        }
        Err(Error::NotCongruent { node: 0 })
    }
}

/// `a` without what stays outside when its modes are taken apart.
fn bare<'a>(a: &LayoutRef<'a>) -> LayoutRef<'a> {
    LayoutRef { replica: &[], offset: &[], post: PostMap::None, ..*a }
}

/// One mode of a tiler by mode.
fn extent_tile(extent: Int) -> Result<Iter> {
    let stride = if extent == Int::ONE { Int::ZERO } else { Int::ONE };
    if extent.coeff() < 1 {
        return Err(Error::BadExtent { iter: 0 });
    }
    Iter::symbolic(extent, stride, AxisId::M)
}

/// Applies `part` to each mode that the tiler mentions; what it appends becomes a node of `out`.
///
/// `keep`: whether the modes that the tiler does not mention follow.
fn by_mode(
    out: &mut Layout,
    a: &LayoutRef<'_>,
    tiler: &Tiler<'_>,
    keep: bool,
    mut part: impl FnMut(&LayoutRef<'_>, &LayoutRef<'_>, &mut Layout) -> Result<()>,
) -> Result<()> {
    match tiler {
        Tiler::Layout(t) => part(&bare(a), t, out)?,
        Tiler::Modes(tiles) => {
            let rank = a.rank();
            if tiles.len() > rank || rank > MAX_MODES {
                return Err(Error::Rank { expected: position(rank), found: position(tiles.len()) });
            }
            out.open()?;
            for (k, (shard, profile)) in a.modes().enumerate() {
                let mode = LayoutRef { profile, ..LayoutRef::new(shard) };
                match tiles.get(k) {
                    Some(t) => part(&mode, t, out)?,
                    None if keep => out.push_node(&mode)?,
                    None => {}
                }
            }
            out.close()?;
        }
        Tiler::Shape(shape) => {
            let tiles = NextTile {
                extents: shape.leaves().iter(),
                walk: TreeWalk::exact(&[], &[]),
                shard: Shard(&[]),
            };
            by_tree(out, a, shape.tokens(), tiles, keep, part)?;
        }
        Tiler::Tree(tree) => {
            let view = tree.tiles.view();
            let tiles = NextTile {
                extents: [].iter(),
                walk: TreeWalk::exact(&tree.guide, view.profile.tokens()),
                shard: Shard(view.shard),
            };
            by_tree(out, a, &tree.guide, tiles, keep, part)?;
        }
    }
    Ok(())
}

/// [`by_mode`] along a tree of modes.
fn by_tree(
    out: &mut Layout,
    a: &LayoutRef<'_>,
    guide: &[u8],
    mut tiles: NextTile<'_>,
    keep: bool,
    mut part: impl FnMut(&LayoutRef<'_>, &LayoutRef<'_>, &mut Layout) -> Result<()>,
) -> Result<()> {
    // A leaf is its own only mode.
    let tuple = matches!(guide.first(), Some(&OPEN));
    let tree = if a.profile.is_scalar() && tuple {
        tokens_of(&LayoutRef::new(a.shard))?
    } else {
        tokens_of(a)?
    };
    let mut shard = Shard(a.shard);
    let mut own = Iter::new(1, 0, AxisId::M);
    let mut walk = TreeWalk::partial(guide, &tree);
    while let Some(step) = walk.step()? {
        match step {
            TreeStep::Open => out.open()?,
            TreeStep::Close => out.close()?,
            TreeStep::Node(_, node) => {
                let node = shard.node(node)?;
                part(&node, &tiles.tile(&mut own)?, out)?;
            }
            TreeStep::Rest(node) | TreeStep::Deeper(node) => {
                let node = shard.node(node)?;
                if keep {
                    out.push_node(&node)?;
                }
            }
        }
    }
    Ok(())
}

/// `a` after the tiler: by mode, with the modes that the tiler does not mention dropped.
///
/// A single layout on numbered axes (`(12,4):(1@0,1@1)`) selects modes of `a` by their path.
///
/// ```
/// # use lanebook_layout::cute::Tiler;
/// # use lanebook_layout::{NoSyms, WellKnown, cute, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// # let tree = |text: &str| notation::cute::parse_tuple(text, &mut NoSyms).unwrap();
/// let tile = tree("(2,2)");
/// let made = cute::composition(&of("(8,8):(8,1)").view(), &Tiler::Shape(tile.view())).unwrap();
/// assert_eq!(made, of("(2,2):(8,1)"));
/// ```
///
/// # Errors
/// Those of [`compose`]; [`Error::Rank`] or [`Error::NotCongruent`] for a tiler with more modes
/// than `a`;
/// [`Error::NoMode`] for a path that `a` does not have.
pub fn composition(a: &LayoutRef<'_>, tiler: &Tiler<'_>) -> Result<Layout> {
    if let Tiler::Layout(b) = tiler {
        return if on_basis(b) { super::basis::compose_basis(a, b) } else { compose(a, b) };
    }
    let mut out = Layout::new();
    by_mode(&mut out, a, tiler, false, |mode, t, out| push_composed(out, mode, t).map(|_| ()))?;
    out.copy_rest(a)?;
    out.view().check()?;
    Ok(out)
}

/// Tile and rest of each divided mode, as a pair.
fn divided(out: &mut Layout, a: &LayoutRef<'_>, tiler: &Tiler<'_>) -> Result<()> {
    if let Tiler::Layout(t) = tiler
        && on_basis(t)
    {
        return push_divided_basis(out, &bare(a), t);
    }
    by_mode(out, a, tiler, true, |mode, t, out| push_divided(out, mode, t))
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
/// ```
/// # use lanebook_layout::cute::Tiler;
/// # use lanebook_layout::{NoSyms, WellKnown, cute, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// # let tree = |text: &str| notation::cute::parse_tuple(text, &mut NoSyms).unwrap();
/// let tile = tree("(2,2)");
/// let made = cute::logical_divide(&of("(8,8):(8,1)").view(), &Tiler::Shape(tile.view())).unwrap();
/// assert_eq!(made, of("((2,4),(2,4)):((8,16),(1,2))"));
/// ```
///
/// # Errors
/// Those of [`crate::ops::complement`] (of a tile) and [`compose`]; as [`composition`] for the
/// tiler's form.
pub fn logical_divide(a: &LayoutRef<'_>, tiler: &Tiler<'_>) -> Result<Layout> {
    let mut out = Layout::new();
    divided(&mut out, a, tiler)?;
    out.copy_rest(a)?;
    out.view().check()?;
    Ok(out)
}

/// [`logical_divide`] as (tiles, rests). Errors as there.
///
/// ```
/// # use lanebook_layout::cute::Tiler;
/// # use lanebook_layout::{NoSyms, WellKnown, cute, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// # let tree = |text: &str| notation::cute::parse_tuple(text, &mut NoSyms).unwrap();
/// let tile = tree("(4,8)");
/// let made = cute::zipped_divide(&of("(16,32):(32,1)").view(), &Tiler::Shape(tile.view())).unwrap();
/// assert_eq!(made, of("((4,8),(4,4)):((32,1),(128,8))"));
/// ```
pub fn zipped_divide(a: &LayoutRef<'_>, tiler: &Tiler<'_>) -> Result<Layout> {
    let mut both = Layout::new();
    divided(&mut both, a, tiler)?;
    regrouped(a, tiler, Grouping::Zipped, &both, false)
}

/// [`logical_divide`] as (tiles, rest, rest, ...). Errors as there.
///
/// ```
/// # use lanebook_layout::cute::Tiler;
/// # use lanebook_layout::{NoSyms, WellKnown, cute, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// # let tree = |text: &str| notation::cute::parse_tuple(text, &mut NoSyms).unwrap();
/// let tile = tree("(4,8)");
/// let made = cute::tiled_divide(&of("(16,32):(32,1)").view(), &Tiler::Shape(tile.view())).unwrap();
/// assert_eq!(made, of("((4,8),4,4):((32,1),128,8)"));
/// ```
pub fn tiled_divide(a: &LayoutRef<'_>, tiler: &Tiler<'_>) -> Result<Layout> {
    let mut both = Layout::new();
    divided(&mut both, a, tiler)?;
    regrouped(a, tiler, Grouping::Tiled, &both, false)
}

/// [`logical_divide`] as (tile, tile, ..., rest, rest, ...). Errors as there.
///
/// ```
/// # use lanebook_layout::cute::Tiler;
/// # use lanebook_layout::{NoSyms, WellKnown, cute, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// # let tree = |text: &str| notation::cute::parse_tuple(text, &mut NoSyms).unwrap();
/// let tile = tree("(4,8)");
/// let made = cute::flat_divide(&of("(16,32):(32,1)").view(), &Tiler::Shape(tile.view())).unwrap();
/// assert_eq!(made, of("(4,8,4,4):(32,1,128,8)"));
/// ```
pub fn flat_divide(a: &LayoutRef<'_>, tiler: &Tiler<'_>) -> Result<Layout> {
    let mut both = Layout::new();
    divided(&mut both, a, tiler)?;
    regrouped(a, tiler, Grouping::Flat, &both, false)
}

/// Takes the pairs of `both` apart and groups them. `kept_first`: modes that the tiler does not
/// mention go with the first halves.
#[inline(never)]
fn regrouped(
    a: &LayoutRef<'_>,
    tiler: &Tiler<'_>,
    how: Grouping,
    both: &Layout,
    kept_first: bool,
) -> Result<Layout> {
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
        Tiler::Tree(tree) => guide.clone_from(&tree.guide),
    }
    let both = both.view();
    let tree = tokens_of(&both)?;
    let mut shard = Shard(both.shard);
    let (mut first, mut second) = (Layout::new(), Layout::new());
    let mut walk = TreeWalk::partial(&guide, &tree);
    while let Some(step) = walk.step()? {
        match step {
            TreeStep::Open => {
                first.open()?;
                second.open()?;
            }
            TreeStep::Close => {
                first.close()?;
                second.close()?;
            }
            TreeStep::Node(_, node) => {
                let pair = shard.node(node)?;
                let half = |k: usize| pair.mode(k).ok_or(Error::NoMode { mode: 1, rank: 0 });
                first.push_node(&half(0)?)?;
                second.push_node(&half(1)?)?;
            }
            TreeStep::Rest(node) | TreeStep::Deeper(node) => {
                let side = if kept_first { &mut first } else { &mut second };
                side.push_node(&shard.node(node)?)?;
            }
        }
    }
    grouped(a, &first, &second, how)
}

/// Block and repetition of each multiplied mode, as a pair.
fn multiplied(out: &mut Layout, a: &LayoutRef<'_>, tiler: &Tiler<'_>) -> Result<()> {
    if let Tiler::Layout(t) = tiler
        && on_basis(t)
    {
        return pair(out, &bare(a), t);
    }
    by_mode(out, a, tiler, true, |mode, t, out| push_multiplied(out, mode, t))
}

/// Block and repetition as one node.
fn pair(out: &mut Layout, a: &LayoutRef<'_>, b: &LayoutRef<'_>) -> Result<()> {
    if !on_basis(b) {
        return push_multiplied(out, a, b);
    }
    out.open()?;
    out.push_node(a)?;
    push_repetition_basis(out, a, b)?;
    out.close()
}

/// CuTe's `logical_product`: `(a, complement(a, size(a) * cosize(b)) o b)` for the whole or for
/// each mode: `a` repeated at the tiles that `b` counts.
///
/// ```
/// # use lanebook_layout::cute::Tiler;
/// # use lanebook_layout::{NoSyms, WellKnown, cute, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let repeated = of("6:1");
/// let made = cute::logical_product(&of("(2,2):(4,1)").view(), &Tiler::Layout(repeated.view())).unwrap();
/// assert_eq!(made, of("((2,2),(2,3)):((4,1),(2,8))"));
/// ```
///
/// # Errors
/// Those of [`crate::ops::complement`] (of `a`) and [`compose`]; as [`composition`] for the tiler's
/// form.
pub fn logical_product(a: &LayoutRef<'_>, tiler: &Tiler<'_>) -> Result<Layout> {
    let mut out = Layout::new();
    multiplied(&mut out, a, tiler)?;
    out.copy_rest(a)?;
    out.view().check()?;
    Ok(out)
}

/// [`logical_product`] as (blocks, repetitions). Errors as there.
///
/// ```
/// # use lanebook_layout::cute::{self, Tiler};
/// # use lanebook_layout::{NoSyms, WellKnown, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let places = of("(3,4):(4,1)");
/// let made = cute::tile::zipped_product(&of("(2,5):(5,1)").view(), &Tiler::Layout(places.view())).unwrap();
/// assert_eq!(made, of("((2,5),(3,4)):((5,1),(40,10))"));
/// ```
pub fn zipped_product(a: &LayoutRef<'_>, tiler: &Tiler<'_>) -> Result<Layout> {
    let mut both = Layout::new();
    multiplied(&mut both, a, tiler)?;
    regrouped(a, tiler, Grouping::Zipped, &both, true)
}

/// [`logical_product`] as (blocks, repetition, repetition, ...). Errors as there.
///
/// ```
/// # use lanebook_layout::cute::{self, Tiler};
/// # use lanebook_layout::{NoSyms, WellKnown, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let places = of("(3,4):(4,1)");
/// let made = cute::tile::tiled_product(&of("(2,5):(5,1)").view(), &Tiler::Layout(places.view())).unwrap();
/// assert_eq!(made, of("((2,5),3,4):((5,1),40,10)"));
/// ```
pub fn tiled_product(a: &LayoutRef<'_>, tiler: &Tiler<'_>) -> Result<Layout> {
    let mut both = Layout::new();
    multiplied(&mut both, a, tiler)?;
    regrouped(a, tiler, Grouping::Tiled, &both, true)
}

/// [`logical_product`] as (block, block, ..., repetition, repetition, ...). Errors as there.
///
/// ```
/// # use lanebook_layout::cute::{self, Tiler};
/// # use lanebook_layout::{NoSyms, WellKnown, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let places = of("(3,4):(4,1)");
/// let made = cute::tile::flat_product(&of("(2,5):(5,1)").view(), &Tiler::Layout(places.view())).unwrap();
/// assert_eq!(made, of("(2,5,3,4):(5,1,40,10)"));
/// ```
pub fn flat_product(a: &LayoutRef<'_>, tiler: &Tiler<'_>) -> Result<Layout> {
    let mut both = Layout::new();
    multiplied(&mut both, a, tiler)?;
    regrouped(a, tiler, Grouping::Flat, &both, true)
}

/// `l` with modes `1:0` appended until it has `rank` modes; a leaf becomes a 1-tuple.
fn appended(out: &mut Layout, l: &LayoutRef<'_>, rank: usize) -> Result<()> {
    out.open()?;
    push_modes(l, true, out)?;
    for _ in l.rank()..rank {
        out.push_leaf(Iter::new(1, 0, AxisId::M))?;
    }
    out.close()?;
    out.view().check()
}

/// Mode by mode, the modes of `first` and `second` (of the same rank) as pairs.
fn zip(out: &mut Layout, first: &LayoutRef<'_>, second: &LayoutRef<'_>, merge: bool) -> Result<()> {
    out.open()?;
    for ((s0, p0), (s1, p1)) in first.modes().zip(second.modes()) {
        if merge {
            push_merged_pair(out, s0, s1)?;
            continue;
        }
        out.open()?;
        for (shard, profile) in [(s0, p0), (s1, p1)] {
            out.push_node(&LayoutRef { profile, ..LayoutRef::new(shard) })?;
        }
        out.close()?;
    }
    out.close()?;
    out.view().check()
}

/// Both runs of iters coalesced, as one node.
#[inline(never)]
fn push_merged_pair(out: &mut Layout, first: &[Iter], second: &[Iter]) -> Result<()> {
    let mut iters = Iters::new();
    for it in first.iter().chain(second) {
        push_merged(&mut iters, *it)?;
    }
    push_tree(out, &iters, first.first().or(second.first()).map_or(AxisId::M, Iter::axis))
}

/// The repetition of `a` by `b`, brought to the rank of both; that of the block follows when nothing of
/// this is on the stack.
#[inline(never)]
fn paired_repetition(out: &mut Layout, a: &LayoutRef<'_>, b: &LayoutRef<'_>) -> Result<()> {
    let rank = a.rank().max(b.rank());
    if on_basis(b) {
        return push_repetitions_basis(out, &bare(a), b, rank);
    }
    push_repetitions(out, &bare(a), b, rank)
}

/// Beside each mode of a block, brought to the same rank, that of its repetition; interleaved, with
/// those in front, coalesced.
#[inline(never)]
fn beside(out: &mut Layout, a: &LayoutRef<'_>, repeat: &LayoutRef<'_>, raked: bool) -> Result<()> {
    let mut block = Layout::new();
    appended(&mut block, &bare(a), repeat.rank())?;
    if raked {
        zip(out, repeat, &block.view(), true)
    } else {
        zip(out, &block.view(), repeat, false)
    }
}

/// Appends the starts of `a`, repeated as the modes of `b` count, as a tuple of so many modes.
#[inline(never)]
fn push_repetitions(
    out: &mut Layout,
    a: &LayoutRef<'_>,
    b: &LayoutRef<'_>,
    rank: usize,
) -> Result<()> {
    let mut tiles = Layout::new();
    appended(&mut tiles, b, rank)?;
    push_repetition(out, a, &tiles.view())
}

/// CuTe's `blocked_product`: blocks side by side; mode `k` is `(block, repetition)` of both modes
/// `k`. A block that is a leaf has the whole of a `b` of one mode beside it: `4:1` by `(8):(1)` is
/// `((4,(8))):((1,(4)))`.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, cute, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// assert_eq!(cute::blocked_product(&of("(2,5):(5,1)").view(), &of("(3,4):(1,3)").view()).unwrap(), of("((2,3),(5,4)):((5,10),(1,30))"));
/// ```
///
/// # Errors
/// Those of [`logical_product`].
pub fn blocked_product(a: &LayoutRef<'_>, b: &LayoutRef<'_>) -> Result<Layout> {
    let mut out = Layout::new();
    push_blocked(&mut out, a, b)?;
    out.copy_rest(a)?;
    Ok(out)
}

/// Appends [`blocked_product`], or [`raked_product`], to a layout of the caller's, so that neither is
/// on the stack twice.
///
/// # Errors
/// Those of [`logical_product`].
#[doc(hidden)]
pub fn append_product(
    out: &mut Layout,
    a: &LayoutRef<'_>,
    b: &LayoutRef<'_>,
    is_raked: bool,
) -> Result<()> {
    if is_raked {
        push_raked(out, a, b)?;
    } else {
        push_blocked(out, a, b)?;
    }
    out.copy_rest(a)
}

/// Appends [`blocked_product`], without what `a` has beside its shard.
#[inline(never)]
pub(super) fn push_blocked(out: &mut Layout, a: &LayoutRef<'_>, b: &LayoutRef<'_>) -> Result<()> {
    if a.profile.is_scalar() && b.rank() <= 1 {
        // A leaf is no tuple of one mode, and so the repetition is one node, be it a tuple.
        out.open()?;
        pair(out, &bare(a), b)?;
        return out.close();
    }
    let mut repeat = Layout::new();
    paired_repetition(&mut repeat, a, b)?;
    beside(out, a, &repeat.view(), false)
}

/// CuTe's `raked_product`: blocks interleaved; mode `k` is `(repetition, block)`, coalesced.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, cute, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// assert_eq!(cute::raked_product(&of("(2,5):(5,1)").view(), &of("(3,4):(1,3)").view()).unwrap(), of("((3,2),(4,5)):((10,5),(30,1))"));
/// ```
///
/// # Errors
/// Those of [`logical_product`].
pub fn raked_product(a: &LayoutRef<'_>, b: &LayoutRef<'_>) -> Result<Layout> {
    let mut out = Layout::new();
    push_raked(&mut out, a, b)?;
    out.copy_rest(a)?;
    Ok(out)
}

/// Appends [`raked_product`], without what `a` has beside its shard.
#[inline(never)]
pub(super) fn push_raked(out: &mut Layout, a: &LayoutRef<'_>, b: &LayoutRef<'_>) -> Result<()> {
    let mut repeat = Layout::new();
    paired_repetition(&mut repeat, a, b)?;
    beside(out, a, &repeat.view(), true)
}

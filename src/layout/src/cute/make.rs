//! Layouts made from shapes: compact, ordered, alike, of coordinates; a tile repeated over a shape;
//! threads and values.

use super::shape::ceil_div;
use super::tile::{push_blocked, push_raked};
use super::tuple::{IntTuple, TupleRef};
use super::walk::{TreeStep, TreeWalk};
use crate::axis::AxisId;
use crate::error::{Error, Limit, Result};
use crate::layout::{Iter, Layout, LayoutRef, MAX_ITERS, position};
use crate::num::Int;
use crate::ops::{push_composed, right_inverse};
use crate::post::PostMap;
use crate::profile::{CLOSE, LEAF, OPEN, Profile};
use core::cmp::Ordering;

/// A layout over the tree of `shape` with one stride a leaf.
fn with_strides(shape: TupleRef<'_>, strides: &[(Int, AxisId)]) -> Result<Layout> {
    let mut out = Layout::new();
    let mut leaves = shape.leaves().iter().zip(strides);
    for t in shape.tokens() {
        match *t {
            OPEN => out.open()?,
            CLOSE => out.close()?,
            _ => {
                let (extent, (stride, axis)) =
                    leaves.next().ok_or(Error::NotCongruent { node: 0 })?;
                if extent.coeff() < 1 {
                    return Err(Error::BadExtent { iter: position(out.view().shard.len()) });
                }
                out.push_leaf(Iter::symbolic(*extent, *stride, *axis)?)?;
            }
        }
    }
    out.view().check()?;
    Ok(out)
}

type Strides = heapless::Vec<(Int, AxisId), MAX_ITERS>;

/// CuTe's `make_layout(shape)`: contiguous, leftmost leaf fastest; extents of 1 get stride 0.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, cute, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// # let tree = |text: &str| notation::cute::parse_tuple(text, &mut NoSyms).unwrap();
/// assert_eq!(cute::make_layout(tree("(4,8)").view()).unwrap(), of("(4,8):(1,4)"));
/// ```
pub fn make_layout(shape: TupleRef<'_>) -> Result<Layout> {
    let mut strides = Strides::new();
    let mut stride = Ok(Int::ONE);
    for extent in shape.leaves() {
        let own = if *extent == Int::ONE { Int::ZERO } else { stride? };
        let _ = strides.push((own, AxisId::M));
        stride = product(stride, *extent)?;
    }
    with_strides(shape, &strides)
}

/// The next stride. What all extents make together need not have a form: it is an error only where
/// it is asked for.
fn product(stride: Result<Int>, extent: Int) -> Result<Result<Int>> {
    match stride.and_then(|stride| stride.checked_mul(extent)) {
        Err(full @ Error::Capacity { .. }) => Ok(Err(full)),
        other => other.map(Ok),
    }
}

/// As [`make_layout`], with the true stride at extents of 1 too, so that coordinates beyond the
/// shape count on.
pub(crate) fn compact(shape: TupleRef<'_>) -> Result<Layout> {
    let mut strides = Strides::new();
    let mut stride = Int::ONE;
    for extent in shape.leaves() {
        let _ = strides.push((stride, AxisId::M));
        stride = stride.checked_mul(*extent)?;
    }
    with_strides(shape, &strides)
}

/// CuTe's `make_ordered_layout`: contiguous, leaves by increasing `order`, equal ones from left to
/// right.
///
/// `order` has an integer for each leaf of `shape`, or for a sub-tree, whose leaves are then
/// contiguous.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, cute, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// # let tree = |text: &str| notation::cute::parse_tuple(text, &mut NoSyms).unwrap();
/// let made = cute::make_ordered_layout(tree("(4,8,2)").view(), tree("(1,0,2)").view());
/// assert_eq!(made.unwrap(), of("(4,8,2):(8,1,32)"));
/// ```
///
/// # Errors
/// [`Error::NotCongruent`], [`Error::NeedsValue`] for symbolic orders.
pub fn make_ordered_layout(shape: TupleRef<'_>, order: TupleRef<'_>) -> Result<Layout> {
    let mut keys: heapless::Vec<(Int, usize, Int), MAX_ITERS> = heapless::Vec::new();
    let mut ranks = order.leaves().iter();
    let mut extents = shape.leaves().iter().enumerate();
    let mut walk = TreeWalk::exact(order.tokens(), shape.tokens());
    while let Some(step) = walk.step()? {
        let TreeStep::Node(_, node) = step else { continue };
        let rank = ranks.next().copied().ok_or(Error::NotCongruent { node: 0 })?;
        for (k, extent) in extents.by_ref().take(crate::profile::leaves(node)) {
            let _ = keys.push((rank, k, *extent));
        }
    }
    by_keys(shape, &mut keys)
}

/// Contiguous strides in the order of the keys `(order, leaf, extent)`; leaves without a key get
/// stride 0.
fn by_keys(
    shape: TupleRef<'_>,
    keys: &mut heapless::Vec<(Int, usize, Int), MAX_ITERS>,
) -> Result<Layout> {
    for (k, a) in keys.iter().enumerate() {
        for b in keys.iter().take(k) {
            if a.0.compare(b.0).is_none() {
                return Err(a.0.needs_value(b.0));
            }
        }
    }
    crate::order::sort_by(keys, |a, b| a.0.compare(b.0) == Some(Ordering::Less));
    let mut strides = Strides::new();
    for _ in shape.leaves() {
        let _ = strides.push((Int::ZERO, AxisId::M));
    }
    let mut stride = Ok(Int::ONE);
    for (_, leaf, extent) in keys.iter() {
        if *extent == Int::ONE {
            continue;
        }
        if let Some(slot) = strides.get_mut(*leaf) {
            slot.0 = stride?;
        }
        stride = product(stride, *extent)?;
    }
    with_strides(shape, &strides)
}

/// CuTe's `make_layout_like`: the same tree, contiguous, leaves in the order of the strides of `l`;
/// strides of 0 stay.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, cute, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// assert_eq!(cute::make_layout_like(&of("(4,8):(16,2)").view()).unwrap(), of("(4,8):(8,1)"));
/// ```
///
/// # Errors
/// [`Error::NeedsValue`] where symbols leave the order of two strides open.
pub fn make_layout_like(l: &LayoutRef<'_>) -> Result<Layout> {
    let shape = IntTuple::shape_of(l)?;
    let mut keys: heapless::Vec<(Int, usize, Int), MAX_ITERS> = heapless::Vec::new();
    for (k, it) in l.shard.iter().enumerate() {
        if it.stride() == Int::ZERO {
            continue;
        }
        let stride = if it.stride().coeff() < 0 {
            it.stride().checked_mul(Int::known(-1))?
        } else {
            it.stride()
        };
        let _ = keys.push((stride, k, it.extent()));
    }
    by_keys(shape.view(), &mut keys)
}

/// CuTe's `make_identity_layout`: each coordinate to itself, as positions on numbered axes
/// (`((1@0@0,1@1@0),1@1)`).
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, cute, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// # let tree = |text: &str| notation::cute::parse_tuple(text, &mut NoSyms).unwrap();
/// let made = cute::make_identity_layout(tree("(4,8)").view()).unwrap();
/// assert_eq!(made, of("(4,8):(1@0,1@1)"));
/// ```
///
/// # Errors
/// [`Error::Capacity`] for a tree deeper than 3 or a mode beyond 15.
pub fn make_identity_layout(shape: TupleRef<'_>) -> Result<Layout> {
    let full = Error::Capacity { limit: Limit::Axes, max: 16 };
    let mut strides = Strides::new();
    // The mode numbers of the node that comes next, outermost first.
    let mut path: heapless::Vec<u8, 4> = heapless::Vec::new();
    for t in shape.tokens() {
        match *t {
            OPEN => path.push(0).map_err(|_| full)?,
            CLOSE => {
                path.pop();
                step(&mut path)?;
            }
            _ => {
                let mut written: heapless::Vec<u8, 4> = heapless::Vec::new();
                for mode in path.iter().rev() {
                    let _ = written.push(*mode);
                }
                let axis = if written.is_empty() {
                    AxisId::M
                } else {
                    AxisId::path(&written).ok_or(full)?
                };
                let _ = strides.push((Int::ONE, axis));
                step(&mut path)?;
            }
        }
    }
    with_strides(shape, &strides)
}

/// On to the next sibling.
fn step(path: &mut heapless::Vec<u8, 4>) -> Result<()> {
    if let Some(mode) = path.last_mut() {
        *mode = mode.checked_add(1).ok_or(Error::Overflow)?;
    }
    Ok(())
}

/// CuTe's `tile_to_shape`: `block` repeated until it covers `shape`, the tiles in the given order.
///
/// Modes stay `((block, tiles), ...)`. The post-map and offset of `block` are kept.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, cute, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// # let tree = |text: &str| notation::cute::parse_tuple(text, &mut NoSyms).unwrap();
/// // Blocks of 8 x 64, down first.
/// let block = of("(8,64):(64,1)");
/// let made = cute::tile_to_shape(&block.view(), tree("(16,128)").view(), tree("(0,1)").view());
/// assert_eq!(made.unwrap(), of("((8,2),(64,2)):((64,512),(1,1024))"));
/// ```
///
/// # Errors
/// [`Error::NotCongruent`] if `block` has more modes than `shape`; those of
/// [`super::blocked_product`].
pub fn tile_to_shape(
    block: &LayoutRef<'_>,
    shape: TupleRef<'_>,
    order: TupleRef<'_>,
) -> Result<Layout> {
    let tiles = tiles_of(block, shape, order)?;
    let plain = LayoutRef { offset: &[], post: PostMap::None, ..*block };
    let mut out = Layout::new();
    push_blocked(&mut out, &plain, &tiles.view())?;
    out.copy_rest(block)?;
    Ok(out)
}

/// How many blocks cover the shape in each mode, in the given order: [`tile_to_shape`] is `block` as blocks of this.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, cute, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// # let tree = |text: &str| notation::cute::parse_tuple(text, &mut NoSyms).unwrap();
/// let block = of("(8,64):(64,1)");
/// let made = cute::tiles_of(&block.view(), tree("(16,256)").view(), tree("(1,0)").view());
/// assert_eq!(made.unwrap(), of("(2,4):(4,1)"));
/// ```
///
/// # Errors
/// [`Error::NotCongruent`] if `block` has more modes than `shape`.
#[inline(never)]
pub fn tiles_of(block: &LayoutRef<'_>, shape: TupleRef<'_>, order: TupleRef<'_>) -> Result<Layout> {
    let tiles = counts(block, shape)?;
    let mut modes = IntTuple::new();
    match order.as_leaf() {
        Some(one) => {
            modes.open()?;
            modes.push_leaf(one)?;
            modes.close()?;
        }
        None => modes.push_node(order)?,
    }
    make_ordered_layout(tiles.view(), modes.view())
}

/// How many blocks cover the shape in each mode.
#[inline(never)]
fn counts(block: &LayoutRef<'_>, shape: TupleRef<'_>) -> Result<IntTuple> {
    let mut own = IntTuple::new();
    own.open()?;
    for (mode, _) in block.modes() {
        own.push_leaf(LayoutRef::new(mode).size()?)?;
    }
    for _ in block.rank()..shape.rank() {
        own.push_leaf(Int::ONE)?;
    }
    own.close()?;
    let mut target = IntTuple::new();
    target.open()?;
    for mode in shape.modes() {
        target.push_leaf(mode.product()?)?;
    }
    target.close()?;
    ceil_div(target.view(), own.view())
}

/// What [`make_layout_tv`] gives.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, cute, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let made: cute::make::ThreadValue = cute::make_layout_tv(&of("4:1").view(), &of("2:1").view()).unwrap();
/// assert_eq!(made.tiler.view().product().unwrap().as_known(), Some(8));
/// assert_eq!(made.layout.view().size_value(), Ok(8));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadValue {
    /// The extents of the tile, a tuple of integers.
    pub tiler: IntTuple,
    /// From (thread, value) to the element of the tile, leftmost mode fastest.
    pub layout: Layout,
}

/// CuTe's `make_layout_tv`: threads and values raked over a tile, and the layout from (thread,
/// value) to its elements.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, cute, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// # let tree = |text: &str| notation::cute::parse_tuple(text, &mut NoSyms).unwrap();
/// // Four threads side by side, two values of each: 8 elements of a row.
/// let made = cute::make_layout_tv(&of("4:1").view(), &of("2:1").view()).unwrap();
/// assert_eq!(made.tiler, tree("(8)"));
/// assert_eq!(made.layout, of("(4,2):(2,1)"));
/// ```
///
/// # Errors
/// Those of [`raked_product`](super::raked_product), [`right_inverse`] and [`crate::ops::compose`].
pub fn make_layout_tv(threads: &LayoutRef<'_>, values: &LayoutRef<'_>) -> Result<ThreadValue> {
    let mut out = ThreadValue { tiler: IntTuple::new(), layout: Layout::new() };
    push_raked(&mut out.layout, threads, values)?;
    out.layout.copy_rest(threads)?;
    by_threads(&mut out, threads.size()?, values.size()?)?;
    Ok(out)
}

/// From the tile that stands in `out` to its tiler and the map from (thread, value).
#[inline(never)] // The tile is not beside what the product needs.
fn by_threads(out: &mut ThreadValue, threads: Int, values: Int) -> Result<()> {
    let tile = core::mem::replace(&mut out.layout, Layout::new());
    elements(&mut out.layout, &tile.view(), threads, values)?;
    out.tiler.open()?;
    for (mode, _) in tile.view().modes() {
        out.tiler.push_leaf(LayoutRef::new(mode).size()?)?;
    }
    out.tiler.close()
}

/// Appends the map from (thread, value) to the element of the tile.
#[inline(never)]
fn elements(out: &mut Layout, tile: &LayoutRef<'_>, threads: Int, values: Int) -> Result<()> {
    let inverse = right_inverse(tile)?;
    let pair = [
        Iter::symbolic(threads, if threads == Int::ONE { Int::ZERO } else { Int::ONE }, AxisId::M)?,
        {
            let stride = if values == Int::ONE { Int::ZERO } else { threads };
            Iter::symbolic(values, stride, AxisId::M)?
        },
    ];
    push_composed(
        out,
        &inverse.view(),
        &LayoutRef {
            profile: Profile::from_tokens(&[OPEN, LEAF, LEAF, CLOSE]),
            ..LayoutRef::new(&pair)
        },
    )?;
    out.view().check()
}

//! Regrouping and picking modes: select, group, slice, dice, filter, coalesce by profile.

use super::tuple::{KEEP, TupleRef, tokens_of};
use super::walk::{Shard, TreeStep, TreeWalk};
use crate::axis::AxisId;
use crate::coord::{Coord, MAX_AXES};
use crate::error::{Error, Result};
use crate::layout::{Iter, Layout, LayoutRef, position};
use crate::num::Int;
use crate::ops::{coalesce, coalesced, tree_of};
use crate::profile::{CLOSE, LEAF, OPEN};

/// The modes with these numbers, in this order, repeated if they occur twice. Offset and post-map
/// are kept.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, cute, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let made = cute::select(&of("(4,8,16):(1,4,32)").view(), &[0, 2]).unwrap();
/// assert_eq!(made, of("(4,16):(1,32)"));
/// ```
///
/// # Errors
/// [`Error::NoMode`], [`Error::Capacity`].
pub fn select(l: &LayoutRef<'_>, modes: &[usize]) -> Result<Layout> {
    let mut out = Layout::new();
    out.open()?;
    for k in modes {
        let mode = l.mode(*k).ok_or(Error::NoMode {
            mode: i16::try_from(*k).unwrap_or(i16::MAX),
            rank: position(l.rank()),
        })?;
        out.push_node(&mode)?;
    }
    out.close()?;
    out.copy_rest(l)?;
    out.view().check()?;
    Ok(out)
}

/// The modes `begin..end` as one. Negative numbers count from the end: -1 is the last mode (as
/// `end` excluded).
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, cute, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let made = cute::group_modes(&of("(4,8,16):(1,4,32)").view(), 0, 2).unwrap();
/// assert_eq!(made, of("((4,8),16):((1,4),32)"));
/// ```
///
/// # Errors
/// [`Error::NoMode`] for an empty range and for one outside the modes.
pub fn group_modes(l: &LayoutRef<'_>, begin: i16, end: i16) -> Result<Layout> {
    let rank = l.rank();
    let count = i16::try_from(rank).map_err(|_| Error::Overflow)?;
    let none = |mode| Error::NoMode { mode, rank: position(rank) };
    let from_end = |k: i16| if k < 0 { k.saturating_add(count) } else { k };
    let (first, last) = (from_end(begin), from_end(end));
    if first < 0 || first >= count {
        return Err(none(begin));
    }
    if last <= first || last > count {
        return Err(none(end));
    }
    let mut out = Layout::new();
    out.open()?;
    for (k, (shard, profile)) in l.modes().enumerate() {
        let k = i16::try_from(k).map_err(|_| Error::Overflow)?;
        if k == first {
            out.open()?;
        }
        out.push_node(&LayoutRef { profile, ..LayoutRef::new(shard) })?;
        if k.saturating_add(1) == last {
            out.close()?;
        }
    }
    out.close()?;
    out.copy_rest(l)?;
    out.view().check()?;
    Ok(out)
}

/// The layout of what `coord` leaves open (`_`), at its place: the fixed coordinates go into the
/// offset.
///
/// The open nodes become the modes of one tuple; `_` alone gives the layout itself. The post-map
/// stays, so a swizzled layout is sliced exactly.
///
/// ```
/// # use lanebook_layout::{AxisId, NoSyms, WellKnown, cute, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// # let tree = |text: &str| notation::cute::parse_tuple(text, &mut NoSyms).unwrap();
/// // Column 3 begins at 3.
/// let column = cute::slice(tree("(_,3)").view(), &of("(4,8):(8,1)").view()).unwrap();
/// assert_eq!(column.view().offset_on(1, AxisId::M), Ok(11));
/// ```
///
/// # Errors
/// [`Error::NotCongruent`], [`Error::BadCoord`] for negative coordinates, [`Error::Overflow`];
/// [`Error::NeedsValue`] where symbols do not add up.
pub fn slice(coord: TupleRef<'_>, l: &LayoutRef<'_>) -> Result<Layout> {
    let (mut out, fixed) = split(coord, l, true)?;
    for (axis, value) in &fixed {
        out.add_offset(*value, *axis)?;
    }
    out.copy_rest(l)?;
    out.view().check()?;
    Ok(out)
}

/// As [`slice()`], with the offset of a layout without post-map handed out instead of kept (only
/// axis `m`).
///
/// Under a post-map the position of a slice is no sum, so the offset stays inside and 0 is handed
/// out.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, cute, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// # let tree = |text: &str| notation::cute::parse_tuple(text, &mut NoSyms).unwrap();
/// let (row, offset) = cute::slice_and_offset(tree("(2,_)").view(), &of("(4,8):(8,1)").view()).unwrap();
/// assert_eq!((row, offset.value()), (of("(8):(1)"), Ok(16)));
/// ```
///
/// # Errors
/// As [`slice()`]; [`Error::HasOffset`] for a fixed coordinate off axis `m`.
pub fn slice_and_offset(coord: TupleRef<'_>, l: &LayoutRef<'_>) -> Result<(Layout, Int)> {
    if !l.post.is_identity() {
        return Ok((slice(coord, l)?, Int::ZERO));
    }
    let (mut out, fixed) = split(coord, l, true)?;
    let mut offset = Int::ZERO;
    for (axis, value) in &fixed {
        if *axis == AxisId::M {
            offset = *value;
        } else if *value != Int::ZERO {
            return Err(Error::HasOffset { axis: *axis });
        }
    }
    out.copy_rest(l)?;
    out.view().check()?;
    Ok((out, offset))
}

/// CuTe's `dice`: the modes that `coord` fixes, without those it leaves open; offset and post-map
/// are dropped.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, cute, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// # let tree = |text: &str| notation::cute::parse_tuple(text, &mut NoSyms).unwrap();
/// let kept = cute::dice(tree("(_,3)").view(), &of("(4,8):(8,1)").view()).unwrap();
/// assert_eq!(kept, of("(8):(1)"));
/// ```
///
/// # Errors
/// [`Error::NotCongruent`].
pub fn dice(coord: TupleRef<'_>, l: &LayoutRef<'_>) -> Result<Layout> {
    let (out, _) = split(coord, l, false)?;
    out.view().check()?;
    Ok(out)
}

type Fixed = heapless::Vec<(AxisId, Int), MAX_AXES>;

/// The nodes that `coord` leaves open (`open`) or fixes, as a tuple, and the position of the fixed
/// coordinates.
fn split(coord: TupleRef<'_>, l: &LayoutRef<'_>, open: bool) -> Result<(Layout, Fixed)> {
    let tree = tokens_of(l)?;
    let mut shard = Shard(l.shard);
    let mut numbers = coord.leaves().iter();
    let mut fixed = Fixed::new();
    let mut out = Layout::new();
    let single = !matches!(coord.tokens().first(), Some(&OPEN));
    if !single {
        out.open()?;
    }
    let mut walk = TreeWalk::exact(coord.tokens(), &tree);
    while let Some(step) = walk.step()? {
        let TreeStep::Node(token, node) = step else {
            continue;
        };
        let node = shard.node(node)?;
        if (token == KEEP) == open {
            out.push_node(&node)?;
        }
        if token != KEEP {
            let x = *numbers.next().ok_or(Error::BadCoord { leaf: 0, value: 0 })?;
            place(x, &node, &mut fixed)?;
        }
    }
    if !single {
        out.close()?;
    } else if out.view().shard.is_empty() && out.view().profile.tokens().is_empty() {
        out.open()?;
        out.close()?;
    }
    Ok((out, fixed))
}

/// Adds the position of `x` in `node`.
fn place(x: Int, node: &LayoutRef<'_>, fixed: &mut Fixed) -> Result<()> {
    let mut add = |axis: AxisId, value: Int| -> Result<()> {
        if let Some(slot) = fixed.iter_mut().find(|f| f.0 == axis) {
            slot.1 = slot.1.checked_add(value)?;
            return Ok(());
        }
        fixed
            .push((axis, value))
            .map_err(|_| Error::Capacity { limit: crate::error::Limit::Axes, max: MAX_AXES as u32 })
    };
    if let [one] = node.shard {
        if x.coeff() < 0 {
            return Err(Error::BadCoord { leaf: 0, value: x.coeff() });
        }
        return add(one.axis(), one.stride().checked_mul(x)?);
    }
    let mut at = Coord::new();
    let coord = super::tuple::IntTuple::leaf(x)?;
    super::coords::evaluate(coord.view(), node, &mut at)?;
    for (axis, value) in at.iter() {
        add(axis, Int::known(value))?;
    }
    Ok(())
}

/// Sets the extent of every iter of stride 0 to 1 and keeps the tree: `((2,3),4):((0,1),3)` gives
/// `((1,3),4):((0,1),3)`.
///
/// The domain changes, so this is no normal form of the layout as a function.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, cute, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// assert_eq!(cute::filter_zeros(&of("(4,8):(0,1)").view()).unwrap(), of("(1,8):(0,1)"));
/// ```
pub fn filter_zeros(l: &LayoutRef<'_>) -> Result<Layout> {
    let mut out = Layout::new();
    let mut iters = l.shard.iter();
    for t in &tokens_of(l)? {
        match *t {
            OPEN => out.open()?,
            CLOSE => out.close()?,
            _ => {
                let it = iters.next().ok_or(Error::NotCongruent { node: 0 })?;
                let one = Iter::new(1, 0, it.axis());
                out.push_leaf(if it.stride() == Int::ZERO { one } else { *it })?;
            }
        }
    }
    out.copy_rest(l)?;
    Ok(out)
}

/// [`filter_zeros`], then [`coalesce`]: the distinct positions (`(4,3):(1,0)` gives `4:1`).
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, cute, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// assert_eq!(cute::filter(&of("(4,1,8):(0,5,1)").view()).unwrap(), of("8:1"));
/// ```
pub fn filter(l: &LayoutRef<'_>) -> Result<Layout> {
    coalesce(&filter_zeros(l)?.view())
}

/// [`coalesce`] of each sub-tree for which `profile` has a leaf; modes that the profile does not
/// mention are kept.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, cute, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// # let tree = |text: &str| notation::cute::parse_tuple(text, &mut NoSyms).unwrap();
/// let made = cute::coalesce_by_profile(&of("((2,2),(4,2)):((1,2),(4,16))").view(), tree("(1,1)").view());
/// assert_eq!(made.unwrap(), of("(4,8):(1,4)"));
/// ```
///
/// # Errors
/// [`Error::NotCongruent`] if the profile has a tuple where the layout has none, or more modes.
pub fn coalesce_by_profile(l: &LayoutRef<'_>, profile: TupleRef<'_>) -> Result<Layout> {
    // A leaf is its own only mode.
    let tuple = matches!(profile.tokens().first(), Some(&OPEN));
    let tree = if l.profile.is_scalar() && tuple {
        tokens_of(&LayoutRef::new(l.shard))?
    } else {
        tokens_of(l)?
    };
    let mut shard = Shard(l.shard);
    let mut out = Layout::new();
    let mut walk = TreeWalk::partial(profile.tokens(), &tree);
    while let Some(step) = walk.step()? {
        match step {
            TreeStep::Open => out.open()?,
            TreeStep::Close => out.close()?,
            TreeStep::Node(LEAF, node) => {
                let node = shard.node(node)?;
                let merged = tree_of(&coalesced(node.shard)?, node.shard)?;
                out.push_node(&merged.view())?;
            }
            TreeStep::Node(_, node) | TreeStep::Rest(node) | TreeStep::Deeper(node) => {
                out.push_node(&shard.node(node)?)?;
            }
        }
    }
    out.copy_rest(l)?;
    out.view().check()?;
    Ok(out)
}

//! Coordinates: from a tree to a position and back.
//!
//! A coordinate may have an integer in place of any sub-tree; it is then split over it, leftmost
//! mode fastest. As in CuTe the last leaf of each such sub-tree is unbounded, so that any
//! non-negative coordinate has a position; what lies inside a layout is the caller's business
//! ([`crate::LayoutRef::apply`] checks it).

use super::tuple::{IntTuple, KEEP, TupleRef, tokens_of};
use super::walk::{Shard, TreeStep, TreeWalk};
use crate::axis::AxisId;
use crate::coord::Coord;
use crate::error::{Error, Result};
use crate::layout::{Iter, LayoutRef, position};
use crate::num::Int;

/// The position of `coord` on axis `m`: the sum of digits times strides, the offset added, the
/// post-map applied.
///
/// Numbers may hold symbols where their values are not needed: a leaf coordinate times a symbolic
/// stride, or the other way round.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, cute, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// # let tree = |text: &str| notation::cute::parse_tuple(text, &mut NoSyms).unwrap();
/// let at = cute::crd2idx(tree("(2,3)").view(), &of("(4,8):(8,1)").view()).unwrap();
/// assert_eq!(at.value(), Ok(19));
/// ```
///
/// # Errors
/// [`Error::NotCongruent`] if `coord` does not fit the tree, [`Error::BadCoord`] for a negative
/// coordinate or a `_`, [`Error::WrongAxis`], [`Error::NeedsValue`], [`Error::Overflow`],
/// [`Error::NegativeOffset`].
pub fn crd2idx(coord: TupleRef<'_>, l: &LayoutRef<'_>) -> Result<Int> {
    let mut sum = l.offset_of(AxisId::M)?;
    let mut iter = 0usize;
    each_digit(coord, l, |it, digit| {
        let own = it.stride().checked_mul(digit)?;
        if it.axis() != AxisId::M && own != Int::ZERO {
            return Err(Error::WrongAxis { iter: position(iter), axis: it.axis() });
        }
        iter = iter.saturating_add(1);
        sum = sum.checked_add(own)?;
        Ok(())
    })?;
    if l.post.is_identity() {
        return Ok(sum);
    }
    Ok(Int::known(l.post.apply(sum.value()?)?))
}

/// The position of `coord` on every axis; all numbers must be known. Clears `out` first; the
/// post-map is applied.
///
/// ```
/// # use lanebook_layout::{AxisId, Coord, NoSyms, WellKnown, cute, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// # let tree = |text: &str| notation::cute::parse_tuple(text, &mut NoSyms).unwrap();
/// let mut at = Coord::new();
/// let fragment = of("((2,4),8):((1@register,8@laneid),1@laneid)");
/// cute::coords::evaluate(tree("((1,2),3)").view(), &fragment.view(), &mut at).unwrap();
/// assert_eq!((at.get(AxisId::REGISTER), at.get(AxisId::LANE)), (1, 19));
/// ```
///
/// # Errors
/// As [`crd2idx`], but for [`Error::WrongAxis`].
pub fn evaluate(coord: TupleRef<'_>, l: &LayoutRef<'_>, out: &mut Coord) -> Result<()> {
    out.clear();
    each_digit(coord, l, |it, digit| out.add(it.axis(), it.stride().checked_mul(digit)?.value()?))?;
    for o in l.offset {
        out.add(o.axis(), o.value().value()?)?;
    }
    out.update(AxisId::M, |x| l.post.apply(x))
}

/// Splits `coord` over the iters of `l`.
fn each_digit(
    coord: TupleRef<'_>,
    l: &LayoutRef<'_>,
    mut digit: impl FnMut(&Iter, Int) -> Result<()>,
) -> Result<()> {
    let tree = tokens_of(l)?;
    let mut shard = Shard(l.shard);
    let mut numbers = coord.leaves().iter().enumerate();
    let mut walk = TreeWalk::exact(coord.tokens(), &tree);
    while let Some(step) = walk.step()? {
        let TreeStep::Node(token, node) = step else {
            continue;
        };
        let open = Error::BadCoord {
            leaf: position(l.shard.len().saturating_sub(shard.0.len())),
            value: 0,
        };
        if token == KEEP {
            return Err(open);
        }
        let (leaf, x) = numbers.next().ok_or(open)?;
        let node = shard.node(node)?;
        split(*x, node.shard.len(), leaf, node.shard.iter().map(Iter::extent), |k, d| {
            node.shard.get(k).map_or(Ok(()), |it| digit(it, d))
        })?;
    }
    Ok(())
}

/// Splits `x` over `count` extents, the last one unbounded, and hands out the digits with their
/// positions.
fn split(
    x: Int,
    count: usize,
    leaf: usize,
    extents: impl Iterator<Item = Int>,
    mut digit: impl FnMut(usize, Int) -> Result<()>,
) -> Result<()> {
    let bad = Error::BadCoord { leaf: position(leaf), value: x.coeff() };
    if x.coeff() < 0 || (count == 0 && x != Int::ZERO) {
        return Err(bad);
    }
    let last = count.saturating_sub(1);
    let mut rest = x;
    for (k, extent) in extents.enumerate() {
        if k == last || rest == Int::ZERO {
            digit(k, rest)?;
            rest = Int::ZERO;
            continue;
        }
        if let Some(quotient) = rest.div_exact(extent) {
            digit(k, Int::ZERO)?;
            rest = quotient;
            continue;
        }
        let (value, by) = (rest.value()?, extent.value()?);
        digit(k, Int::known(value.checked_rem(by).ok_or(bad)?))?;
        rest = Int::known(value.checked_div(by).ok_or(bad)?);
    }
    Ok(())
}

/// The coordinate of index `idx` in `shape`: leftmost leaf fastest, the last one unbounded (13 in
/// `(2,4)` is `(1,6)`).
///
/// ```
/// # use lanebook_layout::{Int, NoSyms, cute, notation};
/// # let tree = |text: &str| notation::cute::parse_tuple(text, &mut NoSyms).unwrap();
/// let at = cute::idx2crd(Int::known(6), tree("(4,8)").view()).unwrap();
/// assert_eq!(at, tree("(2,1)"));
/// ```
///
/// # Errors
/// [`Error::BadCoord`] for a negative index or an empty shape, [`Error::NeedsValue`].
pub fn idx2crd(idx: Int, shape: TupleRef<'_>) -> Result<IntTuple> {
    let mut out = IntTuple::new();
    let mut numbers: heapless::Vec<Int, { crate::layout::MAX_ITERS }> = heapless::Vec::new();
    let leaves = shape.leaves();
    split(idx, leaves.len(), 0, leaves.iter().copied(), |_, d| {
        let _ = numbers.push(d);
        Ok(())
    })?;
    push_like(&mut out, shape.tokens(), &numbers)?;
    Ok(out)
}

/// Appends a tree of the given tokens with these numbers.
fn push_like(out: &mut IntTuple, tokens: &[u8], numbers: &[Int]) -> Result<()> {
    let mut numbers = numbers.iter();
    for t in tokens {
        match *t {
            crate::profile::OPEN => out.open()?,
            crate::profile::CLOSE => out.close()?,
            _ => out.push_leaf(numbers.next().copied().unwrap_or(Int::ZERO))?,
        }
    }
    Ok(())
}

/// The coordinate of shape `to` that names the same element as `coord` does in shape `from`.
///
/// Without `from`, `coord` must have an integer wherever `to` has a tuple, not the other way round.
///
/// ```
/// # use lanebook_layout::{NoSyms, cute, notation};
/// # let tree = |text: &str| notation::cute::parse_tuple(text, &mut NoSyms).unwrap();
/// // The element 13 of 32, as a coordinate of 4 by 8 (leftmost fastest).
/// let at = cute::coords::crd2crd(tree("13").view(), tree("(4,8)").view(), None).unwrap();
/// assert_eq!(at, tree("(1,3)"));
/// // From one shape to another.
/// let (to, from) = (tree("(2,16)"), tree("(4,8)"));
/// let at = cute::coords::crd2crd(at.view(), to.view(), Some(from.view())).unwrap();
/// assert_eq!(at, tree("(1,6)"));
/// ```
///
/// # Errors
/// [`Error::NotCongruent`]; [`Error::OutOfRange`] if `coord` names no element of `to`; as
/// [`idx2crd`].
pub fn crd2crd(
    coord: TupleRef<'_>,
    to: TupleRef<'_>,
    from: Option<TupleRef<'_>>,
) -> Result<IntTuple> {
    let mut out = IntTuple::new();
    if let Some(from) = from {
        let compact = super::make::compact(from)?;
        let idx = crd2idx(coord, &compact.view())?;
        inside(idx, to, 0)?;
        return idx2crd(idx, to);
    }
    let (tokens, mut shape) = (to.tokens(), to.leaves());
    let mut numbers = coord.leaves().iter().enumerate();
    let mut walk = TreeWalk::exact(coord.tokens(), tokens);
    while let Some(step) = walk.step()? {
        match step {
            TreeStep::Open => out.open()?,
            TreeStep::Close => out.close()?,
            TreeStep::Node(KEEP, _) | TreeStep::Rest(_) | TreeStep::Deeper(_) => {
                return Err(Error::BadCoord { leaf: 0, value: 0 });
            }
            TreeStep::Node(_, node) => {
                let missing = Error::BadCoord { leaf: 0, value: 0 };
                let (leaf, x) = numbers.next().ok_or(missing)?;
                let (own, rest) =
                    shape.split_at_checked(crate::profile::leaves(node)).ok_or(missing)?;
                shape = rest;
                let mut part = IntTuple::new();
                push_like(&mut part, node, own)?;
                inside(*x, part.view(), leaf)?;
                out.push_node(idx2crd(*x, part.view())?.view())?;
            }
        }
    }
    Ok(out)
}

/// Refuses an index that is not below the size of `shape`.
fn inside(idx: Int, shape: TupleRef<'_>, leaf: usize) -> Result<()> {
    let size = shape.product()?;
    match idx.compare(size) {
        Some(core::cmp::Ordering::Less) => Ok(()),
        None => Err(idx.needs_value(size)),
        Some(_) => Err(Error::OutOfRange {
            mode: position(leaf),
            coord: u64::try_from(idx.coeff()).unwrap_or(0),
            extent: u64::try_from(size.coeff()).unwrap_or(0),
        }),
    }
}

/// Whether two trees have the same structure; the numbers do not count.
///
/// ```
/// # use lanebook_layout::{NoSyms, cute, notation};
/// # let tree = |text: &str| notation::cute::parse_tuple(text, &mut NoSyms).unwrap();
/// assert!(cute::congruent(tree("(4,(2,2))").view(), tree("(1,(3,4))").view()));
/// assert!(!cute::congruent(tree("(4,4)").view(), tree("(1,(3,4))").view()));
/// ```
#[must_use]
pub fn congruent(a: TupleRef<'_>, b: TupleRef<'_>) -> bool {
    a.tokens() == b.tokens()
}

/// Whether `b` refines `a`: some leaves of `a` may be tuples in `b`.
///
/// ```
/// # use lanebook_layout::{NoSyms, cute, notation};
/// # let tree = |text: &str| notation::cute::parse_tuple(text, &mut NoSyms).unwrap();
/// assert!(cute::weakly_congruent(tree("(4,4)").view(), tree("(1,(3,4))").view()));
/// ```
#[must_use]
pub fn weakly_congruent(a: TupleRef<'_>, b: TupleRef<'_>) -> bool {
    let mut walk = TreeWalk::exact(a.tokens(), b.tokens());
    loop {
        match walk.step() {
            Ok(Some(_)) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}

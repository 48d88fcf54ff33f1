//! Inverses of strided layouts.

use super::swizzled::{Behind, lengthened, pass_inverse, plain_positions};
use super::{
    Iters, Negative, at, by_stride, nest, or_collision, push, push_merged, push_tree,
    refuse_other_axes, refuse_rest, size_before, tree_of,
};
use crate::axis::AxisId;
use crate::coord::MAX_AXES;
use crate::error::{Error, Result};
use crate::layout::{Iter, Layout, LayoutRef, MAX_ITERS, position};
use crate::num::Int;
use crate::post::PostMap;
use core::cmp::Ordering;

/// An exact inverse: from a physical coordinate back to the flat logical coordinate.
///
/// ```
/// # use lanebook_layout::{AxisId, NoSyms, WellKnown, notation, ops};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// // From lane and register to row and column, as one flat coordinate.
/// let back: ops::Inverse = ops::inverse(&of("(8,4):(1@laneid,1@register)").view()).unwrap();
/// assert_eq!(back.axes, [AxisId::LANE, AxisId::REGISTER]);
/// assert_eq!(back.layout.view().offset_on(3 + 8 * 2, AxisId::M), Ok(3 + 8 * 2));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inverse {
    /// Mode `k` takes the position on `axes[k]`; the value on axis `m` is the flat logical
    /// coordinate.
    pub layout: Layout,
    /// The axes, in the order in which the inverted layout first mentions them.
    pub axes: heapless::Vec<AxisId, MAX_AXES>,
}

/// The exact inverse of a layout that covers a box of positions, each from one logical coordinate.
///
/// A replica becomes an iter of stride 0: all copies lead back to the same coordinate. Iters of
/// negative strides are counted from their other end: a layout that has some begins just so far that
/// its least position is 0.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, ops};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let back = ops::inverse(&of("(8,4):(4,1)").view()).unwrap();
/// assert_eq!(back.layout, of("((4,8)):((8,1))"));
/// // Backwards, and back.
/// let turned = notation::tirx::parse("S[8:-1] + 7", &WellKnown, &mut NoSyms).unwrap();
/// let back = ops::inverse(&turned.view()).unwrap();
/// assert_eq!(back.layout.view().offset_on(2, lanebook_layout::AxisId::M), Ok(5));
/// ```
///
/// # Errors
/// [`Error::NotSurjective`] where positions are left out, [`Error::NotInjective`] where two
/// coordinates meet, [`Error::Interleaved`] where steps fall between steps, [`Error::HasOffset`], [`Error::HasPostMap`] (padding), [`Error::NotSwizzle`] where
/// the swizzle undone first is none behind the inverse, [`Error::NegativeStride`], [`Error::NeedsValue`].
pub fn inverse(l: &LayoutRef<'_>) -> Result<Inverse> {
    refuse_rest(&LayoutRef { replica: &[], offset: &[], post: PostMap::None, ..*l })?;
    let axes = l.axes()?;
    let turned = begins(l)?;
    if turned && !l.post.is_identity() {
        return Err(Error::HasPostMap);
    }
    let mut layout = Layout::new();
    layout.open()?;
    let mut memory = (0, 0);
    for axis in &axes {
        let first = layout.view().shard.len();
        push_back(&mut layout, l, *axis)?;
        if *axis == AxisId::M {
            memory = (first, layout.view().shard.len().saturating_sub(first));
        }
    }
    layout.close()?;
    layout.view().check()?;
    if !l.post.is_identity() {
        pass_inverse(&mut layout, memory, None, &l.post)?;
    }
    Ok(Inverse { layout, axes })
}

const MINUS: Int = Int::known(-1);

/// How many steps an iter makes.
fn steps(it: &Iter) -> Result<Int> {
    it.extent().checked_add(MINUS)
}

/// Whether iters go back from where the layout begins. On each axis it must begin just so far that all
/// of them end at 0.
#[inline(never)]
fn begins(l: &LayoutRef<'_>) -> Result<bool> {
    let mut turned = false;
    let mut begin: heapless::Vec<(AxisId, Int), MAX_AXES> = heapless::Vec::new();
    for o in l.offset.iter().filter(|o| o.value() != Int::ZERO) {
        let _ = begin.push((o.axis(), o.value()));
    }
    for (k, it) in l.shard.iter().chain(l.replica).enumerate() {
        if it.stride().coeff() >= 0 || it.is_unit() {
            continue;
        }
        turned = true;
        let fault = Error::NegativeStride { iter: position(k), stride: it.stride().coeff() };
        let found = begin.iter_mut().find(|(axis, _)| *axis == it.axis()).ok_or(fault)?;
        // Strides are negative: what is left becomes less.
        found.1 = found.1.checked_add(it.stride().checked_mul(steps(it)?)?)?;
    }
    match begin.iter().find(|(_, left)| *left != Int::ZERO) {
        Some((axis, _)) => Err(Error::HasOffset { axis: *axis }),
        None => Ok(turned),
    }
}

/// Appends the way back from positions on one axis.
#[inline(never)]
fn push_back(out: &mut Layout, l: &LayoutRef<'_>, axis: AxisId) -> Result<()> {
    // The iters that move on this axis, and what they are worth: the size before them, zero for
    // replicas.
    let mut own = Iters::new();
    let mut worth: heapless::Vec<Int, MAX_ITERS> = heapless::Vec::new();
    let mut last = Int::ZERO;
    for (k, it) in l
        .shard
        .iter()
        .chain(l.replica)
        .enumerate()
        .filter(|(_, it)| it.axis() == axis && !it.is_unit())
    {
        let copy = k >= l.shard.len();
        if it.stride() == Int::ZERO {
            if copy {
                continue;
            }
            return Err(Error::NotInjective { iter: position(k), stride: 0, unit: 1 });
        }
        let mut weight = if copy { Int::ZERO } else { size_before(l.shard, position(k))? };
        let mut stride = it.stride();
        if stride.coeff() < 0 {
            // Counted from its other end.
            last = last.checked_add(weight.checked_mul(steps(it)?)?)?;
            weight = weight.checked_mul(MINUS)?;
            stride = stride.checked_mul(MINUS)?;
        }
        push(&mut own, Iter::symbolic(it.extent(), stride, it.axis())?)?;
        let _ = worth.push(weight);
    }
    out.add_offset(last, AxisId::M)?;
    let mut pieces = Iters::new();
    let mut covered = Int::ONE;
    let order = by_stride(&own, Negative::Refuse)?;
    for (it, k) in at(&own, &order) {
        let gap = match (it.stride().as_known(), covered.as_known()) {
            // A hole, be it a multiple or not.
            (Some(stride), Some(covered)) if stride > covered => it.stride(),
            _ => nest(it.stride(), covered, k).map_err(|e| or_collision(e, &own))?,
        };
        if gap != Int::ONE {
            let (stride, expected) = (it.stride().coeff(), covered.coeff());
            return Err(Error::NotSurjective { axis, stride, expected });
        }
        let weight = worth.get(usize::from(k)).copied().unwrap_or(Int::ZERO);
        push_merged(&mut pieces, Iter::symbolic(it.extent(), weight, AxisId::M)?)?;
        covered = it.stride().checked_mul(it.extent())?;
    }
    push_tree(out, &pieces, AxisId::M)
}

/// CuTe's right inverse: `l(r(i)) = i` for all `i` below its size, which is the contiguous run of
/// positions from 0. Iters of negative stride do not take part.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, ops};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// assert_eq!(ops::right_inverse(&of("(8,4):(4,1)").view()).unwrap(), of("(4,8):(8,1)"));
/// ```
///
/// # Errors
/// [`Error::WrongAxis`], [`Error::NeedsValue`], [`Error::NotSwizzle`] where the swizzle undone
/// first is none behind the inverse, or leaves the run; and what `l` must not have.
pub fn right_inverse(l: &LayoutRef<'_>) -> Result<Layout> {
    refuse_rest(&LayoutRef { post: PostMap::None, ..*l })?;
    refuse_other_axes(l.shard, AxisId::M)?;
    let mut pieces = Iters::new();
    let mut covered = Int::ONE;
    let order = by_stride(l.shard, Negative::Skip)?;
    for (it, k) in at(l.shard, &order) {
        match it.stride().compare(covered) {
            Some(Ordering::Equal) => {}
            // Inside what is covered already: another iter may still go on from its end.
            Some(Ordering::Less) => continue,
            Some(Ordering::Greater) => break,
            None => return Err(it.stride().needs_value(covered)),
        }
        push_merged(
            &mut pieces,
            Iter::symbolic(it.extent(), size_before(l.shard, k)?, AxisId::M)?,
        )?;
        covered = it.stride().checked_mul(it.extent())?;
    }
    let mut made = tree_of(&pieces, &[])?;
    if !l.post.is_identity() {
        pass_inverse(&mut made, (0, pieces.len()), None, &l.post)?;
    }
    Ok(made)
}

/// CuTe's left inverse: `r(l(i)) = i` for all `i`, up to modes of stride 0. What it gives for
/// positions that `l` leaves out is of no meaning.
///
/// By increasing stride, each stride must be a multiple of the one before, by at least that one's
/// extent: then the digits of a position are the digits of the index.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, ops};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// assert_eq!(ops::left_inverse(&of("(4,8):(10,1)").view()).unwrap(), of("(10,4):(4,1)"));
/// ```
///
/// # Errors
/// If strides do not divide so, [`Error::NotInjective`] where two coordinates meet, else
/// [`Error::Interleaved`]; otherwise as [`right_inverse`].
pub fn left_inverse(l: &LayoutRef<'_>) -> Result<Layout> {
    refuse_rest(&LayoutRef { post: PostMap::None, ..*l })?;
    refuse_other_axes(l.shard, AxisId::M)?;
    let mut pieces = Iters::new();
    // What the digit below weighs, its stride and its extent.
    let mut below = (Int::ZERO, Int::ONE, Int::ONE);
    let order = by_stride(l.shard, Negative::Refuse)?;
    for (it, k) in at(l.shard, &order) {
        let ratio = nest(it.stride(), below.1, k).map_err(|e| or_collision(e, l.shard))?;
        match ratio.compare(below.2) {
            Some(Ordering::Less) => {
                let fault = Error::Interleaved {
                    iter: k,
                    stride: it.stride().coeff(),
                    unit: below.1.checked_mul(below.2)?.coeff(),
                };
                return Err(or_collision(fault, l.shard));
            }
            Some(_) => {}
            None => return Err(ratio.needs_value(below.2)),
        }
        push_merged(&mut pieces, Iter::symbolic(ratio, below.0, AxisId::M)?)?;
        below = (size_before(l.shard, k)?, it.stride(), it.extent());
    }
    push_merged(&mut pieces, Iter::symbolic(below.2, below.0, AxisId::M)?)?;
    if l.post.is_identity() {
        return tree_of(&pieces, &[]);
    }
    let positions = plain_positions(l)?;
    let behind = Behind { moved: &[], beside: &[], positions, closed: false };
    lengthened(&mut pieces, behind.needed(&l.post))?;
    let mut made = tree_of(&pieces, &[])?;
    pass_inverse(&mut made, (0, pieces.len()), Some(positions), &l.post)?;
    Ok(made)
}

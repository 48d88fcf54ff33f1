//! Inverses of strided layouts.

use super::{Iters, Negative, by_stride, coalesced, nest, push, refuse_other_axes, refuse_rest, tree_of};
use crate::axis::AxisId;
use crate::coord::MAX_AXES;
use crate::error::{Error, Result};
use crate::layout::{Iter, Layout, LayoutRef, MAX_ITERS};
use crate::num::Int;
use core::cmp::Ordering;

/// An exact inverse: from a physical coordinate back to the flat logical coordinate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inverse {
    /// Mode `k` takes the position on `axes[k]`; the value on axis `m` is the flat logical coordinate.
    pub layout: Layout,
    /// The axes, in the order in which the inverted layout first mentions them.
    pub axes: heapless::Vec<AxisId, MAX_AXES>,
}

/// The exact inverse of a layout that covers a box of positions, each from one logical coordinate.
///
/// A replica becomes an iter of stride 0: all copies lead back to the same coordinate.
///
/// # Errors
/// [`Error::NotSurjective`] where positions are left out, [`Error::NotInjective`] where two coordinates meet,
/// [`Error::HasOffset`], [`Error::HasPostMap`] (a swizzle inverts in the linear form), [`Error::NegativeStride`],
/// [`Error::NeedsValue`].
pub fn inverse(l: &LayoutRef<'_>) -> Result<Inverse> {
    refuse_rest(&LayoutRef { replica: &[], ..*l })?;
    let axes = l.axes()?;
    // The iters of the shard with the size before them, then the replicas with zero.
    let mut all: heapless::Vec<(Iter, Int), MAX_ITERS> = heapless::Vec::new();
    let mut before = Int::ONE;
    for it in l.shard {
        let _ = all.push((*it, before));
        before = before.checked_mul(it.extent())?;
    }
    for it in l.replica {
        let _ = all.push((*it, Int::ZERO));
    }
    let mut layout = Layout::new();
    layout.open()?;
    for axis in &axes {
        let mut own = Iters::new();
        let mut back: heapless::Vec<Int, MAX_ITERS> = heapless::Vec::new();
        for (k, (it, weight)) in all.iter().enumerate().filter(|(_, e)| e.0.axis() == *axis && !e.0.is_unit()) {
            if it.stride() == Int::ZERO {
                if *weight == Int::ZERO {
                    continue;
                }
                let iter = crate::layout::position(k);
                return Err(Error::NotInjective { iter, stride: 0, unit: 1 });
            }
            push(&mut own, *it)?;
            let _ = back.push(*weight);
        }
        let mut pieces = Iters::new();
        let mut covered = Int::ONE;
        for (it, at, _) in &by_stride(&own, Negative::Refuse)? {
            let gap = nest(it.stride(), covered, *at)?;
            if gap != Int::ONE {
                let (stride, expected) = (it.stride().coeff(), covered.coeff());
                return Err(Error::NotSurjective { axis: *axis, stride, expected });
            }
            let weight = back.get(usize::from(*at)).copied().unwrap_or(Int::ZERO);
            push(&mut pieces, Iter::symbolic(it.extent(), weight, AxisId::M)?)?;
            covered = it.stride().checked_mul(it.extent())?;
        }
        layout.push_node(&tree_of(&coalesced(&pieces)?, &[])?.view())?;
    }
    layout.close()?;
    layout.view().check()?;
    Ok(Inverse { layout, axes })
}

/// CuTe's right inverse: `l(r(i)) = i` for all `i` below its size, which is the contiguous run of positions from 0.
/// Iters of negative stride do not take part.
///
/// # Errors
/// [`Error::WrongAxis`], [`Error::NeedsValue`], and what `l` must not have.
pub fn right_inverse(l: &LayoutRef<'_>) -> Result<Layout> {
    refuse_rest(l)?;
    refuse_other_axes(l.shard, AxisId::M)?;
    let mut pieces = Iters::new();
    let mut covered = Int::ONE;
    for (it, _, before) in &by_stride(l.shard, Negative::Skip)? {
        match it.stride().compare(covered) {
            Some(Ordering::Equal) => {}
            // Inside what is covered already: another iter may still go on from its end.
            Some(Ordering::Less) => continue,
            Some(Ordering::Greater) => break,
            None => return Err(it.stride().needs_value(covered)),
        }
        push(&mut pieces, Iter::symbolic(it.extent(), *before, AxisId::M)?)?;
        covered = it.stride().checked_mul(it.extent())?;
    }
    tree_of(&coalesced(&pieces)?, &[])
}

/// CuTe's left inverse: `r(l(i)) = i` for all `i`, up to modes of stride 0. What it gives for positions that `l` leaves
/// out is of no meaning.
///
/// By increasing stride, each stride must be a multiple of the one before, by at least that one's extent: then the
/// digits of a position are the digits of the index.
///
/// # Errors
/// [`Error::NotInjective`] if strides do not divide so; else as [`right_inverse`].
pub fn left_inverse(l: &LayoutRef<'_>) -> Result<Layout> {
    refuse_rest(l)?;
    refuse_other_axes(l.shard, AxisId::M)?;
    let mut pieces = Iters::new();
    // What the digit below weighs, its stride and its extent.
    let mut below = (Int::ZERO, Int::ONE, Int::ONE);
    for (it, at, before) in &by_stride(l.shard, Negative::Refuse)? {
        let ratio = nest(it.stride(), below.1, *at)?;
        match ratio.compare(below.2) {
            Some(Ordering::Less) => {
                return Err(Error::NotInjective { iter: *at, stride: it.stride().coeff(), unit: below.1.checked_mul(below.2)?.coeff() });
            }
            Some(_) => {}
            None => return Err(ratio.needs_value(below.2)),
        }
        push(&mut pieces, Iter::symbolic(ratio, below.0, AxisId::M)?)?;
        below = (*before, it.stride(), it.extent());
    }
    push(&mut pieces, Iter::symbolic(below.2, below.0, AxisId::M)?)?;
    tree_of(&coalesced(&pieces)?, &[])
}

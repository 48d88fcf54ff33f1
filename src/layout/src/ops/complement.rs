//! Complement: the layout of the positions that a layout skips.

use super::{
    Iters, Negative, at, by_stride, nest, or_collision, push_merged, push_tree, refuse_rest,
};
use crate::axis::AxisId;
use crate::error::{Error, Result};
use crate::layout::{Iter, Layout, LayoutRef, position};
use crate::num::Int;

/// The layout `c`, increasing and disjoint from `a` except at 0, with which `a` covers `[0,
/// cotarget)`, the last extent rounded up: sizes multiply to `cotarget` where they divide it, to
/// more where they do not.
///
/// Where a stride is no multiple of the extent times stride before it (`(4,8):(9,1)`, rows padded
/// by one), as many whole steps as fit below it are taken, as in CuTe; what is left over is covered
/// by nothing, like the padding that it is.
///
/// All iters of `a` that move must lie on one axis; the result lies there too. Extents of 1 and
/// strides of 0 do not count.
///
/// ```
/// # use lanebook_layout::{Int, NoSyms, WellKnown, notation, ops};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let rest = ops::complement(&of("(2,2):(1,6)").view(), Int::known(24)).unwrap();
/// assert_eq!(rest, of("(3,2):(2,12)"));
/// ```
///
/// # Errors
/// [`Error::NotInjective`] if two coordinates of `a` meet, [`Error::Interleaved`] if else a stride
/// (by increasing stride) is below the extent times stride before it; [`Error::NegativeStride`], [`Error::WrongAxis`], [`Error::NeedsValue`], and
/// what `a` must not have.
pub fn complement(a: &LayoutRef<'_>, cotarget: Int) -> Result<Layout> {
    let mut out = Layout::new();
    push_complement(&mut out, a, cotarget)?;
    Ok(out)
}

/// Appends [`complement`] as one node.
pub(crate) fn push_complement(out: &mut Layout, a: &LayoutRef<'_>, cotarget: Int) -> Result<()> {
    push_nested(out, a, cotarget).map_err(|fault| or_collision(fault, a.shard))
}

/// The same; where strides do not nest, nobody asks whether coordinates meet.
pub(crate) fn push_nested(out: &mut Layout, a: &LayoutRef<'_>, cotarget: Int) -> Result<()> {
    push_gaps(out, a, GapsEnd::UpTo(cotarget))
}

/// How much is covered behind a layout's last position.
#[derive(Clone, Copy)]
pub(crate) enum GapsEnd {
    /// What is below this.
    UpTo(Int),
    /// So many steps.
    Steps(Int),
}

/// [`push_nested`], with what is behind the layout said in another way.
#[inline(never)]
pub(crate) fn push_gaps(out: &mut Layout, a: &LayoutRef<'_>, behind: GapsEnd) -> Result<()> {
    refuse_rest(a)?;
    let moves = |it: &&Iter| !it.is_unit() && it.stride() != Int::ZERO;
    let axis = a.shard.iter().find(moves).or(a.shard.first()).map_or(AxisId::M, Iter::axis);
    for (k, it) in a.shard.iter().enumerate() {
        if moves(&it) && it.axis() != axis {
            return Err(Error::WrongAxis { iter: position(k), axis: it.axis() });
        }
    }
    let mut gaps = Iters::new();
    let mut covered = Int::ONE;
    let order = by_stride(a.shard, Negative::Refuse)?;
    for (it, k) in at(a.shard, &order) {
        let gap = steps_below(it.stride(), covered, k)?;
        push_merged(&mut gaps, Iter::symbolic(gap, covered, axis)?)?;
        covered = it.stride().checked_mul(it.extent())?;
    }
    let steps = match behind {
        GapsEnd::UpTo(cotarget) => ceil_div(cotarget, covered)?,
        GapsEnd::Steps(steps) => steps,
    };
    push_merged(&mut gaps, Iter::symbolic(steps, covered, axis)?)?;
    push_tree(out, &gaps, axis)
}

/// How many steps of `covered` fit below a stride, at least 1.
fn steps_below(stride: Int, covered: Int, iter: u8) -> Result<Int> {
    match (stride.as_known(), covered.as_known()) {
        (Some(s), Some(c)) if s >= c && c > 0 => {
            Ok(Int::known(s.checked_div(c).ok_or(Error::Overflow)?))
        }
        _ => nest(stride, covered, iter),
    }
}

/// `a / b` rounded up, for positive `b`; at least 1.
fn ceil_div(a: Int, b: Int) -> Result<Int> {
    let q = a.ceil_div(b)?;
    Ok(if q.coeff() < 1 { Int::ONE } else { q })
}

//! The algebra of the strided form: regrouping, composition, complement, inverses, divide and
//! product.
//!
//! What the linear form can do, the strided one can for extents that are no powers of two, and
//! under padding:
//!
//! | [`Linear`](crate::Linear) | strided |
//! | --- | --- |
//! | `compose`, `product` | [`compose`], [`tuple()`] (side by side), [`crate::tirx::tile`] (scaled) |
//! | `invert`, `pseudo_invert` | [`inverse`], [`right_inverse`], [`guarded_inverse`] (any position, with guards) |
//! | `invert_and_compose` | [`between`] |
//! | `divide_left`, `divide_right`, `quotient` | [`divide`], [`divide_right`], [`quotient`] |
//! | `sublayout`, `rename_*`, `transpose_*`, `resize_in` | [`sublayout`], [`rename_axis`], [`crate::cute::select`], [`resize_mode`] |
//! | `reshape_*`, `flatten_*` | [`crate::tirx::group`], [`flatten`] |
//! | `remove_zero_bases` | [`crate::cute::filter`] |
//! | `is_injective`, `is_surjective`, `free_variable_masks` | [`LayoutRef::is_injective`], [`is_surjective`], [`free_iters`] |
//! | `num_consecutive_in_out`, `same_map` | [`consecutive`], [`crate::cute::equivalent`] |
//!
//! Every function is exact: `compose(a, b)(x) = a(b(x))` for all `x`, or an error says which leaf,
//! extent or carry is in the way. Symbols are carried through; where an answer depends on a
//! symbol's value it is [`Error::NeedsValue`]. Results keep CuTe's profiles. None of these
//! functions takes time proportional to an extent.
//!
//! Replicas, offset and post-map belong to the outer layout: `compose`, `coalesce`, `flatten` and
//! `logical_divide` keep those of their first operand and refuse them in the second; the others
//! refuse them. `compose` takes an offset and a swizzle of the second operand, and the inverses a
//! swizzle, where what comes of it is one again.

mod between;
mod complement;
mod compose;
mod divide;
mod guarded;
mod inverse;
mod measure;
mod parts;
mod swizzled;

use crate::axis::AxisId;
use crate::error::{Error, Limit, Result};
use crate::layout::{Iter, Layout, LayoutRef, MAX_ITERS, MAX_MODES, position};
use crate::num::Int;
use crate::profile::Profile;

pub use between::between;
pub use complement::complement;
pub(crate) use complement::push_complement;
pub use compose::compose;
pub(crate) use compose::push_composed;
pub(crate) use divide::{
    counted, is_still, push_counted, push_divided, push_multiplied, push_repetition, push_still,
};
pub use divide::{divide, divide_right, logical_divide, logical_divide_by_mode, logical_product};
pub use guarded::{Element, Guard, GuardedInverse, guarded_inverse};
pub use inverse::{Inverse, inverse, left_inverse, right_inverse};
pub use measure::{consecutive, free_iters, is_surjective};
pub use parts::{quotient, rename_axis, resize_mode, sublayout};

/// Iters on their way into a layout.
pub(crate) type Iters = heapless::Vec<Iter, MAX_ITERS>;

pub(crate) fn push(iters: &mut Iters, it: Iter) -> Result<()> {
    iters.push(it).map_err(|_| Error::Capacity { limit: Limit::Iters, max: MAX_ITERS as u32 })
}

/// The same map of a flat coordinate with as few iters as possible: extents of 1 dropped,
/// contiguous neighbours merged (`stride[i+1] = extent[i] * stride[i]`, same axis). Nothing left
/// gives `1:0`, one iter a leaf.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, ops};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// assert_eq!(ops::coalesce(&of("(2,(1,6)):(1,(6,2))").view()).unwrap(), of("12:1"));
/// ```
pub fn coalesce(l: &LayoutRef<'_>) -> Result<Layout> {
    let mut out = Layout::new();
    push_coalesced(&mut out, l.shard)?;
    out.copy_rest(l)?;
    Ok(out)
}

/// Appends the iters coalesced, as one node.
#[inline(never)]
pub(crate) fn push_coalesced(out: &mut Layout, iters: &[Iter]) -> Result<()> {
    let merged = coalesced(iters)?;
    push_tree(out, &merged, iters.first().map_or(AxisId::M, Iter::axis))
}

/// The same iters without grouping: a tuple of leaves (a single leaf stays one).
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, ops};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let flat = ops::flatten(&of("((2,2),4):((1,2),4)").view()).unwrap();
/// assert_eq!(flat.view().modes().count(), 3);
/// ```
pub fn flatten(l: &LayoutRef<'_>) -> Result<Layout> {
    let profile = if l.profile.is_scalar() { Profile::SCALAR } else { Profile::FLAT };
    Layout::from_ref(LayoutRef { profile, ..*l })
}

/// The layout whose modes are these, in order (CuTe's `make_layout` of layouts). Only shards are
/// taken.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, ops};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let made = ops::tuple(&[of("4:1").view(), of("8:4").view()]).unwrap();
/// assert_eq!(made, of("(4,8):(1,4)"));
/// ```
///
/// # Errors
/// [`Error::Capacity`]; [`Error::HasReplica`], [`Error::HasOffset`], [`Error::HasPostMap`].
pub fn tuple(modes: &[LayoutRef<'_>]) -> Result<Layout> {
    if modes.len() > MAX_MODES {
        return Err(Error::Capacity { limit: Limit::Modes, max: MAX_MODES as u32 });
    }
    let mut out = Layout::new();
    out.open()?;
    for m in modes {
        refuse_rest(m)?;
        out.push_node(m)?;
    }
    out.close()?;
    Ok(out)
}

/// The iters of [`coalesce`].
pub(crate) fn coalesced(iters: &[Iter]) -> Result<Iters> {
    let mut out = Iters::new();
    for it in iters {
        push_merged(&mut out, *it)?;
    }
    Ok(out)
}

/// Appends an iter to coalesced ones: a unit changes nothing, and one that goes on where the last
/// ends makes it longer.
pub(crate) fn push_merged(iters: &mut Iters, it: Iter) -> Result<()> {
    if it.is_unit() {
        return Ok(());
    }
    if let Some(last) = iters.last_mut()
        && let Some(merged) = merge(last, &it)
    {
        *last = merged;
        return Ok(());
    }
    push(iters, it)
}

/// Both iters as one, if they are contiguous and the extent fits.
fn merge(a: &Iter, b: &Iter) -> Option<Iter> {
    if !continues(a, b) {
        return None;
    }
    Iter::symbolic(a.extent().checked_mul(b.extent()).ok()?, a.stride(), a.axis()).ok()
}

/// Whether `b` goes on where `a` ends.
pub(crate) fn continues(a: &Iter, b: &Iter) -> bool {
    a.axis() == b.axis() && a.extent().checked_mul(a.stride()) == Ok(b.stride())
}

/// What to refuse with when iters were coalesced and `fault` came of it: a symbol whose value
/// decides whether two neighbours are contiguous, if there is one.
pub(crate) fn or_symbol(fault: Error, iters: &[Iter]) -> Error {
    if !matches!(
        fault,
        Error::StrideDivisibility { .. }
            | Error::ExtentDivisibility { .. }
            | Error::Carry { .. }
            | Error::NotDivisible { .. }
    ) {
        return fault;
    }
    let mut last: Option<&Iter> = None;
    for it in iters.iter().filter(|it| !it.is_unit()) {
        if let Some(before) = last.filter(|b| b.axis() == it.axis())
            && let Ok(end) = before.extent().checked_mul(before.stride())
            && end.compare(it.stride()).is_none()
        {
            return end.needs_value(it.stride());
        }
        last = Some(it);
    }
    fault
}

/// A leaf or a tuple of leaves; `1:0` (on the axis of `source`) for no iter.
pub(crate) fn tree_of(iters: &[Iter], source: &[Iter]) -> Result<Layout> {
    let mut out = Layout::new();
    push_tree(&mut out, iters, source.first().map_or(AxisId::M, Iter::axis))?;
    Ok(out)
}

/// Appends a leaf or a tuple of leaves; `1:0` on `axis` for no iter.
pub(crate) fn push_tree(out: &mut Layout, iters: &[Iter], axis: AxisId) -> Result<()> {
    match iters {
        [] => out.push_leaf(Iter::new(1, 0, axis)),
        [one] => out.push_leaf(*one),
        many => {
            out.open()?;
            for it in many {
                out.push_leaf(*it)?;
            }
            out.close()
        }
    }
}

/// Refuses replicas, offsets and a post-map that do something.
pub(crate) fn refuse_rest(l: &LayoutRef<'_>) -> Result<()> {
    if !l.post.is_identity() {
        return Err(Error::HasPostMap);
    }
    if l.replica.iter().any(|it| !it.is_unit()) {
        return Err(Error::HasReplica);
    }
    match l.offset.iter().find(|o| o.value() != Int::ZERO) {
        Some(o) => Err(Error::HasOffset { axis: o.axis() }),
        None => Ok(()),
    }
}

/// Refuses iters that move on another axis than `axis`.
pub(crate) fn refuse_other_axes(iters: &[Iter], axis: AxisId) -> Result<()> {
    for (k, it) in iters.iter().enumerate() {
        if it.axis() != axis && !it.is_unit() {
            return Err(Error::WrongAxis { iter: position(k), axis: it.axis() });
        }
    }
    Ok(())
}

/// What to do with negative strides.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Negative {
    /// They are an error.
    Refuse,
    /// They are left out.
    Skip,
}

/// The positions of the iters that move, by increasing stride.
pub(crate) fn by_stride(
    iters: &[Iter],
    negative: Negative,
) -> Result<heapless::Vec<u8, MAX_ITERS>> {
    let mut out: heapless::Vec<u8, MAX_ITERS> = heapless::Vec::new();
    let stride = |k: u8| iters.get(usize::from(k)).map_or(Int::ZERO, Iter::stride);
    for (k, it) in iters.iter().enumerate() {
        let turned = it.stride().coeff() < 0 && negative == Negative::Skip;
        if it.is_unit() || it.stride() == Int::ZERO || turned {
            continue;
        }
        for other in &out {
            if !stride(*other).at_most(it.stride()) && !it.stride().at_most(stride(*other)) {
                return Err(it.stride().needs_value(stride(*other)));
            }
        }
        if it.stride().coeff() < 0 {
            return Err(Error::NegativeStride { iter: position(k), stride: it.stride().coeff() });
        }
        out.push(position(k))
            .map_err(|_| Error::Capacity { limit: Limit::Iters, max: MAX_ITERS as u32 })?;
    }
    // Symbols may be 1, so that two strides are equal: what nests for all values nests in this
    // order.
    crate::order::sort_by(&mut out, |a, b| {
        stride(*a).at_most(stride(*b)) && !stride(*b).at_most(stride(*a))
    });
    Ok(out)
}

/// The iters at these positions, with their positions.
pub(crate) fn at<'a>(iters: &'a [Iter], order: &'a [u8]) -> impl Iterator<Item = (&'a Iter, u8)> {
    order.iter().filter_map(|k| Some((iters.get(usize::from(*k))?, *k)))
}

/// The size of all iters before the one at a position.
pub(crate) fn size_before(iters: &[Iter], at: u8) -> Result<Int> {
    iters.iter().take(usize::from(at)).try_fold(Int::ONE, |size, it| size.checked_mul(it.extent()))
}

/// The quotient, or that strides do not nest.
pub(crate) fn nest(stride: Int, unit: Int, iter: u8) -> Result<Int> {
    match stride.div_exact(unit) {
        Some(q) if q.coeff() > 0 => Ok(q),
        _ if stride.as_known().is_none() || unit.as_known().is_none() => {
            Err(stride.needs_value(unit))
        }
        _ => Err(Error::Interleaved { iter, stride: stride.coeff(), unit: unit.coeff() }),
    }
}

/// What to refuse with when strides do not nest: that two coordinates meet, where they do.
#[inline(never)]
pub(crate) fn or_collision(fault: Error, iters: &[Iter]) -> Error {
    let Error::Interleaved { iter, stride, unit } = fault else { return fault };
    let mut moving = Iters::new();
    for it in iters.iter().filter(|it| !it.is_unit() && it.stride() != Int::ZERO) {
        // No more than there were.
        let _ = moving.push(*it);
    }
    match LayoutRef::new(&moving).is_injective() {
        Ok(false) => Error::NotInjective { iter, stride, unit },
        _ => fault,
    }
}

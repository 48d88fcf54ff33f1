//! Properties of a strided layout that the linear form reads off its columns.

use super::{Iters, Negative, at, by_stride, coalesced, push};
use crate::axis::AxisId;
use crate::error::{Error, Result};
use crate::layout::{Iter, LayoutRef};
use crate::order::gcd;
use core::cmp::Ordering;

/// Whether every position from the least to the greatest is reached on every axis, so that the
/// image is a box.
///
/// Decided by structure: by increasing stride, a step must not be longer than what is covered
/// without a hole so far. Symbols are carried as far as they compare.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, ops};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// assert_eq!(ops::is_surjective(&of("(4,8):(1,4)").view()), Ok(true));
/// assert_eq!(ops::is_surjective(&of("(4,8):(2,8)").view()), Ok(false));
/// ```
///
/// # Errors
/// [`Error::HasPostMap`]; [`Error::NeedsValue`] where a symbol decides; [`Error::Capacity`].
pub fn is_surjective(l: &LayoutRef<'_>) -> Result<bool> {
    if !l.post.is_identity() {
        return Err(Error::HasPostMap);
    }
    for axis in &l.axes()? {
        let mut own = Iters::new();
        for it in l.shard.iter().chain(l.replica).filter(|it| it.axis() == *axis) {
            // Walking backwards leaves the same holes.
            let turned = if it.stride().coeff() < 0 {
                it.stride().checked_mul(crate::num::Int::known(-1))?
            } else {
                it.stride()
            };
            push(&mut own, Iter::symbolic(it.extent(), turned, *axis)?)?;
        }
        let mut covered = crate::num::Int::ONE;
        let order = by_stride(&own, Negative::Refuse)?;
        for (it, _) in at(&own, &order) {
            match it.stride().compare(covered) {
                Some(Ordering::Greater) => return Ok(false),
                // Contiguous: symbols multiply.
                Some(Ordering::Equal) => covered = covered.checked_mul(it.extent())?,
                Some(Ordering::Less) => {
                    let steps = it.extent().value()?.saturating_sub(1);
                    let way = it.stride().value()?.checked_mul(steps).ok_or(Error::Overflow)?;
                    covered = covered.checked_add(crate::num::Int::known(way))?;
                }
                None => return Err(it.stride().needs_value(covered)),
            }
        }
    }
    Ok(true)
}

/// The shard iters (bit `k` for iter `k`) that bring no new freedom: with one of them, positions of
/// those before it are met again. Iters of extent 1 are never free. For a layout that is linear
/// over bits, cut into iters of two, these are the free variables of its matrix.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, ops};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// // The second iter stands still: it is free.
/// assert_eq!(ops::free_iters(&of("(4,2):(1,0)").view()), Ok(0b10));
/// ```
///
/// # Errors
/// [`Error::NeedsValue`], [`Error::Undecided`].
pub fn free_iters(l: &LayoutRef<'_>) -> Result<u32> {
    let mut free = 0u32;
    let mut kept = Iters::new();
    for (k, it) in (0u32..).zip(l.shard) {
        push(&mut kept, *it)?;
        if !LayoutRef::new(&kept).is_injective()? {
            free |= 1u32.wrapping_shl(k);
            kept.pop();
        }
    }
    Ok(free)
}

/// The largest `n` such that every run of `n` consecutive coordinates of mode 0 that starts at a
/// multiple of `n` goes to `n` consecutive positions on `axis` and nowhere else, and those start at
/// a multiple of `n` too, wherever the other coordinates stand: the width of a vector access. At
/// least 1; need not be a power of two.
///
/// Offset, replicas, swizzle and padding are accounted for.
///
/// ```
/// # use lanebook_layout::{AxisId, NoSyms, WellKnown, notation, ops};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// // Runs of 64, but each second one begins at an odd multiple of 16.
/// assert_eq!(ops::consecutive(&of("(64,8):(1,80)").view(), AxisId::M), Ok(16));
/// ```
///
/// # Errors
/// [`Error::NeedsValue`], [`Error::Overflow`].
pub fn consecutive(l: &LayoutRef<'_>, axis: AxisId) -> Result<u64> {
    let Some((first, _)) = l.modes().next() else {
        return Ok(1);
    };
    let run = coalesced(first)?;
    let Some(one) =
        run.first().filter(|it| it.axis() == axis && it.stride() == crate::num::Int::ONE)
    else {
        return Ok(1);
    };
    let mut n = u64::from(one.extent_value()?);
    // Everything else that moves along the axis must move by whole runs.
    let rest = l.shard.get(first.len()..).unwrap_or(&[]);
    for it in run
        .iter()
        .skip(1)
        .chain(rest)
        .chain(l.replica)
        .filter(|it| it.axis() == axis && !it.is_unit())
    {
        n = gcd(n, it.stride_value()?.unsigned_abs());
    }
    n = gcd(n, l.offset_of(axis)?.value()?.unsigned_abs());
    if axis == AxisId::M {
        if let Some(s) = l.post.swizzle().filter(|s| s.b > 0) {
            n = gcd(n, 1u64.wrapping_shl(u32::from(s.m)));
        }
        for p in l.post.padding().map_or(&[][..], |p| p.pads()).iter().filter(|p| p.pad != 0) {
            n = gcd(gcd(n, u64::from(p.interval)), u64::from(p.pad));
        }
    }
    Ok(n.max(1))
}

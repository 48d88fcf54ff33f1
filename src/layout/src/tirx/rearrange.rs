//! Reordering and resizing iters: permutations, packing, broadcasts, and the memory part of a
//! layout.

use super::{AxisKinds, from_written, written};
use crate::axis::AxisId;
use crate::error::{Error, Result};
use crate::layout::{Iter, Layout, LayoutRef, MAX_ITERS, position};
use crate::num::Int;
use crate::ops::{Iters, push};
use crate::post::PostMap;

/// The layout whose iter `k`, as written, is iter `perm[k]` of `l`: the dimensions in another
/// order.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, tirx};
/// # let of = |text: &str| notation::tirx::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let turned = tirx::permute_dims(&of("S[(4,8):(8@laneid,1@laneid)]").view(), &[1, 0]).unwrap();
/// assert_eq!(turned, of("S[(8,4):(1@laneid,8@laneid)]"));
/// ```
///
/// # Errors
/// [`Error::BadPermutation`], [`Error::Rank`].
pub fn permute_dims(l: &LayoutRef<'_>, perm: &[u8]) -> Result<Layout> {
    let shard = written(l)?;
    check_permutation(perm, shard.len())?;
    let mut out = Iters::new();
    for p in perm {
        if let Some(it) = shard.get(usize::from(*p)) {
            push(&mut out, *it)?;
        }
    }
    from_written(&out, l)
}

/// As [`permute_dims`] for groups of iters: group `k` has the iters from `separators[k]` up to
/// `separators[k + 1]`.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, tirx};
/// # let of = |text: &str| notation::tirx::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let turned = tirx::permute_by_groups(&of("S[(2,4,8):(32,8,1)]").view(), &[0, 2, 3], &[1, 0]).unwrap();
/// assert_eq!(turned, of("S[(8,2,4):(1,32,8)]"));
/// ```
///
/// # Errors
/// [`Error::BadPermutation`], also if the separators do not increase from 0 to the iter count;
/// [`Error::Rank`].
pub fn permute_by_groups(l: &LayoutRef<'_>, separators: &[u8], perm: &[u8]) -> Result<Layout> {
    let shard = written(l)?;
    let (mut low, last) = (0u8, position(shard.len()));
    for (k, s) in separators.iter().enumerate() {
        let ends = (k == 0 && *s != 0) || (k.saturating_add(1) == separators.len() && *s != last);
        if *s < low || ends {
            return Err(Error::BadPermutation { at: position(k), value: *s });
        }
        low = *s;
    }
    check_permutation(perm, separators.len().saturating_sub(1))?;
    let mut out = Iters::new();
    for p in perm {
        for it in super::group::dim(&shard, separators, usize::from(*p)) {
            push(&mut out, *it)?;
        }
    }
    from_written(&out, l)
}

fn check_permutation(perm: &[u8], count: usize) -> Result<()> {
    if perm.len() != count {
        return Err(Error::Rank { expected: position(count), found: position(perm.len()) });
    }
    let mut seen = 0u64;
    for (k, p) in perm.iter().enumerate() {
        let bit = 1u64.wrapping_shl(u32::from(*p));
        if usize::from(*p) >= count || seen & bit != 0 {
            return Err(Error::BadPermutation { at: position(k), value: *p });
        }
        seen |= bit;
    }
    Ok(())
}

/// The layout of elements split into `count` parts each, which lie beside each other on `axis`.
///
/// Positions on `axis` are multiplied, of copies and offset too; other axes do not move. (TIRx
/// multiplies the strides of every axis and leaves copies and offset alone.) A swizzle goes on to
/// move whole elements.
///
/// ```
/// # use lanebook_layout::{AxisId, NoSyms, WellKnown, notation, tirx};
/// # let of = |text: &str| notation::tirx::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// // Words of 32 bits as bytes.
/// assert_eq!(tirx::unpack(&of("S[8:2]").view(), 4, AxisId::M).unwrap(), of("S[(8,4):(8,1)]"));
/// ```
///
/// # Errors
/// [`Error::BadExtent`] for a count of 0; [`Error::BadSwizzle`] if there is a swizzle on `axis` and
/// the count is no power of two, or the swizzle leaves its range; [`Error::Capacity`],
/// [`Error::Overflow`].
pub fn unpack(l: &LayoutRef<'_>, count: u32, axis: AxisId) -> Result<Layout> {
    let wide = Int::known(i64::from(count));
    let grown = |it: &Iter| -> Result<Iter> {
        if it.axis() != axis {
            return Ok(*it);
        }
        Iter::symbolic(it.extent(), it.stride().checked_mul(wide)?, axis)
    };
    let mut out = Layout::new();
    out.push_shard(Iter::new(count, 1, axis))?;
    for it in l.shard {
        out.push_shard(grown(it)?)?;
    }
    for it in l.replica {
        out.push_replica(grown(it)?)?;
    }
    for o in l.offset {
        let value = if o.axis() == axis { o.value().checked_mul(wide)? } else { o.value() };
        out.add_offset(value, o.axis())?;
    }
    out.set_post(rescaled(l.post, count, axis, 1)?)?;
    Ok(out)
}

/// The layout of groups of `count` elements that lie beside each other on `axis`: the inverse of
/// [`unpack`].
///
/// ```
/// # use lanebook_layout::{AxisId, NoSyms, WellKnown, notation, tirx};
/// # let of = |text: &str| notation::tirx::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// assert_eq!(tirx::pack(&of("S[(8,4):(8,1)]").view(), 4, AxisId::M).unwrap(), of("S[(8,1):(2,1)]"));
/// assert!(tirx::pack(&of("S[(8,4):(1,8)]").view(), 4, AxisId::M).is_err());
/// ```
///
/// # Errors
/// [`Error::CannotPack`] with the iter that keeps elements from being neighbours: the fastest must
/// have stride 1 on `axis` and an extent divisible by `count`, everything else on `axis` must be
/// divisible (TIRx rounds down); [`Error::NeedsValue`] if a symbol's value decides that;
/// [`Error::BadSwizzle`] if a swizzle would cut a group.
pub fn pack(l: &LayoutRef<'_>, count: u32, axis: AxisId) -> Result<Layout> {
    let wide = Int::known(i64::from(count));
    let iters = l.shard.len();
    let fault = |iter: usize| Error::CannotPack { iter: position(iter), count };
    let last = iters.saturating_sub(1);
    let mut out = Layout::new();
    for (k, it) in l.shard.iter().enumerate() {
        let at = fault(last.saturating_sub(k));
        let packed = if k == 0 {
            if it.axis() != axis || it.stride() != Int::ONE {
                return Err(at);
            }
            Iter::symbolic(quotient(it.extent(), wide, at)?, Int::ONE, axis)?
        } else {
            shrunk(it, wide, axis, at)?
        };
        out.push_shard(packed)?;
    }
    if l.shard.is_empty() && count != 1 {
        return Err(fault(0));
    }
    for (k, it) in l.replica.iter().enumerate() {
        let at = fault(iters.saturating_add(k));
        out.push_replica(shrunk(it, wide, axis, at)?)?;
    }
    for (k, o) in l.offset.iter().enumerate() {
        let at = fault(iters.saturating_add(l.replica.len()).saturating_add(k));
        let value = if o.axis() == axis { quotient(o.value(), wide, at)? } else { o.value() };
        out.add_offset(value, o.axis())?;
    }
    out.set_post(rescaled(l.post, count, axis, -1)?)?;
    Ok(out)
}

fn shrunk(it: &Iter, wide: Int, axis: AxisId, fault: Error) -> Result<Iter> {
    if it.axis() != axis || it.is_unit() {
        return Ok(*it);
    }
    Iter::symbolic(it.extent(), quotient(it.stride(), wide, fault)?, axis)
}

/// `value / wide`; otherwise the symbol whose value decides, or else `fault`.
fn quotient(value: Int, wide: Int, fault: Error) -> Result<Int> {
    value.div_exact(wide).ok_or_else(|| match value.needs_value(wide) {
        symbol @ Error::NeedsValue { .. } => symbol,
        _ => fault,
    })
}

/// The post-map in units `count` times as small (`sign` 1) or as large (-1).
fn rescaled(post: PostMap, count: u32, axis: AxisId, sign: i8) -> Result<PostMap> {
    if post.is_identity() || count == 1 || axis != AxisId::M {
        return Ok(post);
    }
    let (PostMap::Swizzle(s), true) = (post, count.is_power_of_two()) else {
        let s = post.swizzle();
        return Err(s.map_or(Error::HasPostMap, |s| Error::BadSwizzle { b: s.b, m: s.m, s: s.s }));
    };
    let shift = i8::try_from(count.trailing_zeros()).map_err(|_| Error::Overflow)?;
    Ok(PostMap::Swizzle(s.rescaled(shift.wrapping_mul(sign), s.unit)?))
}

/// The layout within one thread: iters, copies and offsets on thread axes are dropped.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, tirx};
/// # let of = |text: &str| notation::tirx::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// assert_eq!(tirx::storage(&of("S[(32,4):(1@laneid,1)]").view(), &WellKnown).unwrap(), of("S[4:1]"));
/// ```
///
/// # Errors
/// [`Error::UnknownAxis`].
pub fn storage(l: &LayoutRef<'_>, kinds: &impl AxisKinds) -> Result<Layout> {
    let mut out = Layout::new();
    for it in l.shard {
        if !kinds.known(it.axis())?.is_thread() {
            out.push_shard(*it)?;
        }
    }
    for it in l.replica {
        if !kinds.known(it.axis())?.is_thread() {
            out.push_replica(*it)?;
        }
    }
    for o in l.offset {
        if !kinds.known(o.axis())?.is_thread() {
            out.add_offset(o.value(), o.axis())?;
        }
    }
    out.set_post(l.post)?;
    Ok(out)
}

/// The layout with a dimension of extent `count` that does not move, on `axis`, put before iter
/// `at` as written; negative positions count from the end, -1 being the end itself (TIRx's, and
/// Python's, way of inserting).
///
/// ```
/// # use lanebook_layout::{AxisId, NoSyms, WellKnown, notation, tirx};
/// # let of = |text: &str| notation::tirx::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// assert_eq!(tirx::broadcast(&of("S[4:1]").view(), 8, -1, AxisId::M).unwrap(), of("S[(4,8):(1,0)]"));
/// ```
///
/// # Errors
/// [`Error::Rank`] if there is no such place; [`Error::BadExtent`], [`Error::Capacity`].
pub fn broadcast(l: &LayoutRef<'_>, count: u32, at: i32, axis: AxisId) -> Result<Layout> {
    let shard = written(l)?;
    let end = i64::try_from(shard.len()).unwrap_or(0);
    let place =
        if at < 0 { end.saturating_add(1).saturating_add(i64::from(at)) } else { i64::from(at) };
    let fault = Error::Rank {
        expected: position(shard.len()),
        found: u8::try_from(at.unsigned_abs()).unwrap_or(u8::MAX),
    };
    let place = usize::try_from(place).map_err(|_| fault)?;
    let (slow, fast) = shard.split_at_checked(place).ok_or(fault)?;
    let mut out: heapless::Vec<Iter, MAX_ITERS> = heapless::Vec::new();
    for it in slow.iter().chain(&[Iter::new(count, 0, axis)]).chain(fast) {
        push(&mut out, *it)?;
    }
    from_written(&out, l)
}

//! A swizzle before a layout, as a swizzle after it.
//!
//! A layout that sends each bit that a swizzle touches to a bit of its own lets the swizzle pass:
//! `a(swizzle(x)) = other(a(x))`. This is what makes inverses of swizzled layouts, and swizzled
//! inner operands, layouts again. A swizzle is taken apart into pairs of bits, each pair is
//! followed through the layout, and what comes out is a swizzle if its pairs stand side by side.

use super::{Iters, push};
use crate::axis::AxisId;
use crate::error::{Error, NotSwizzle, Result};
use crate::layout::{Iter, Layout, LayoutRef};
use crate::order::sort_by;
use crate::post::{PostMap, Swizzle};

/// Bits that go into others.
#[derive(Clone, Copy, PartialEq, Eq)]
struct BitPair {
    /// The bit that is read.
    from: u8,
    /// The bit that it is exclusive-ored into.
    into: u8,
}

/// Most pairs: those of two swizzles, and each of the one through each of the other.
const MAX_PAIRS: usize = 96;

type Pairs = heapless::Vec<BitPair, MAX_PAIRS>;

/// A layout that a swizzle is to pass.
pub(super) struct Behind<'a> {
    /// The iters whose position the swizzle changes, the last one unbounded.
    pub(super) moved: &'a [Iter],
    /// Iters that add to the same positions beside them.
    pub(super) beside: &'a [Iter],
    /// How many positions there are before the swizzle.
    pub(super) positions: u64,
    /// Whether the swizzle must stay inside them.
    pub(super) closed: bool,
}

fn fault(bit: u8, why: NotSwizzle) -> Error {
    Error::NotSwizzle { bit, why }
}

const fn power(bit: u8) -> u64 {
    1u64.wrapping_shl(bit as u32)
}

/// The pairs of a swizzle.
fn pairs_of(swizzle: Swizzle) -> impl Iterator<Item = BitPair> {
    let distance = swizzle.s.unsigned_abs();
    (0..swizzle.b).map(move |k| {
        let low = swizzle.m.saturating_add(k);
        let high = low.saturating_add(distance);
        match swizzle.s >= 0 {
            true => BitPair { from: high, into: low },
            false => BitPair { from: low, into: high },
        }
    })
}

impl Behind<'_> {
    /// The pairs that do something: what is read is not 0 everywhere.
    fn live(&self, swizzle: Swizzle) -> impl Iterator<Item = BitPair> {
        pairs_of(swizzle).filter(|pair| power(pair.from) < self.positions)
    }

    /// One past the greatest position behind the swizzle, or more.
    fn reach(&self, swizzle: Swizzle) -> u64 {
        let (mut into, mut all) = (0u64, self.positions.saturating_sub(1));
        for pair in self.live(swizzle) {
            into |= power(pair.into);
        }
        all |= into;
        // No more than all of them added, nor than all bits that there are.
        let bits = all.checked_add(1).and_then(u64::checked_next_power_of_two).unwrap_or(u64::MAX);
        self.positions.saturating_add(into).min(bits)
    }

    /// How many steps an iter of `moved` takes from `below` positions on.
    fn steps(&self, at: usize, below: u64, reach: u64) -> Result<u64> {
        let extent = self.moved.get(at).map_or(Ok(1), Iter::extent_value)?;
        if at.saturating_add(1) < self.moved.len() {
            return Ok(u64::from(extent));
        }
        Ok(reach.div_ceil(below.max(1)).max(u64::from(extent)))
    }

    /// The bit of the result that shows bit `bit` of the position, and nothing else; none where
    /// the bit changes nothing.
    fn bit_after(&self, bit: u8, reach: u64) -> Result<Option<u8>> {
        let mixed = fault(bit, NotSwizzle::Mixed);
        let at = power(bit);
        let mut below = 1u64;
        let mut own = None;
        for (k, it) in self.moved.iter().enumerate() {
            let extent = u64::from(it.extent_value()?);
            let above = below.checked_mul(extent).ok_or(Error::Overflow)?;
            let last = k.saturating_add(1) == self.moved.len();
            if at >= below && (at < above || last) {
                own = Some((k, it, below, last));
                break;
            }
            below = above;
        }
        let Some((own, it, below, last)) = own else { return Ok(None) };
        let step = at.checked_div(below).filter(|step| step.checked_mul(below) == Some(at));
        let step = step.ok_or(mixed)?;
        let whole = u64::from(it.extent_value()?).checked_rem(step.saturating_mul(2));
        if !last && whole != Some(0) {
            return Err(mixed);
        }
        let stride = it.stride_value()?;
        if stride == 0 {
            return Ok(None);
        }
        let moved = i64::try_from(step).ok().and_then(|step| stride.checked_mul(step));
        let moved = moved.ok_or(Error::Overflow)?;
        let moved = u64::try_from(moved).ok().filter(|m| m.is_power_of_two()).ok_or(mixed)?;
        if it.axis() != AxisId::M {
            return Err(mixed);
        }
        // Below the bit, all others together must not reach it; those above are multiples of it.
        let mut sum = moved.checked_sub(u64::try_from(stride).map_err(|_| mixed)?).ok_or(mixed)?;
        let mut below = 1u64;
        for (k, other) in self.moved.iter().enumerate() {
            let steps = self.steps(k, below, reach)?;
            if k != own {
                sum = Self::added(sum, other, steps, moved, mixed)?;
            }
            below = below.saturating_mul(steps);
        }
        for other in self.beside {
            sum = Self::added(sum, other, u64::from(other.extent_value()?), moved, mixed)?;
        }
        if sum >= moved {
            return Err(mixed);
        }
        u8::try_from(moved.trailing_zeros()).map(Some).map_err(|_| Error::Overflow)
    }

    /// The sum with what an iter reaches below the bit.
    fn added(sum: u64, it: &Iter, steps: u64, bit: u64, mixed: Error) -> Result<u64> {
        let stride = it.stride_value()?;
        if it.axis() != AxisId::M || stride == 0 || steps < 2 {
            return Ok(sum);
        }
        let stride = u64::try_from(stride).map_err(|_| mixed)?;
        // Multiples of twice the bit neither show it nor carry into it.
        let low = stride.checked_rem(bit.saturating_mul(2)).unwrap_or(stride);
        Ok(sum.saturating_add(low.saturating_mul(steps.saturating_sub(1))))
    }

    /// How many positions the iters must have so that the swizzle stays inside.
    pub(super) fn needed(&self, post: &PostMap) -> u64 {
        post.swizzle().map_or(self.positions, |swizzle| self.reach(swizzle))
    }
}

/// `before`, a swizzle of the positions that `behind` takes, and then `after`: as one map after.
///
/// # Errors
/// [`Error::NotSwizzle`]; [`Error::HasPostMap`] for padding before, or where the two count in
/// different units; [`Error::NeedsValue`].
#[inline(never)]
pub(super) fn passed(before: &PostMap, behind: &Behind<'_>, after: &PostMap) -> Result<PostMap> {
    if before.is_identity() {
        return Ok(*after);
    }
    let swizzle = before.swizzle().ok_or(Error::HasPostMap)?;
    let padded = before.padding().is_some_and(|p| p.pads().iter().any(|pad| pad.pad > 0));
    if padded {
        return Err(Error::HasPostMap);
    }
    let reach = behind.reach(swizzle);
    let mut pairs = Pairs::new();
    for pair in behind.live(swizzle) {
        let outside = !behind.positions.is_multiple_of(power(pair.into).saturating_mul(2));
        if behind.closed && outside {
            return Err(fault(pair.into, NotSwizzle::Outside));
        }
        let Some(into) = behind.bit_after(pair.into, reach)? else { continue };
        // What is read must be seen, unless nothing would be changed by it.
        let from = behind.bit_after(pair.from, reach)?;
        let from = from.ok_or(fault(pair.from, NotSwizzle::Mixed))?;
        toggle(&mut pairs, BitPair { from, into })?;
    }
    if let Some(outer) = after.swizzle() {
        if outer.unit != swizzle.unit && outer.b > 0 && !pairs.is_empty() {
            return Err(Error::HasPostMap);
        }
        let inner = pairs.len();
        for pair in pairs_of(outer) {
            for k in 0..inner {
                // The outer one reads a bit that the inner one has changed.
                let Some(first) = pairs.get(k).copied().filter(|first| first.into == pair.from)
                else {
                    continue;
                };
                let through = BitPair { from: first.from, into: pair.into };
                pairs.push(through).map_err(|_| fault(pair.into, NotSwizzle::Apart))?;
            }
            pairs.push(pair).map_err(|_| fault(pair.into, NotSwizzle::Apart))?;
        }
        cancel(&mut pairs);
    }
    let made = joined(&mut pairs, swizzle)?;
    Ok(match (made, after.padding()) {
        (None, None) => PostMap::None,
        (Some(swizzle), None) => PostMap::Swizzle(swizzle),
        (None, Some(padding)) => PostMap::Padding(*padding),
        (Some(swizzle), Some(padding)) => PostMap::SwizzlePadding(swizzle, *padding),
    })
}

fn toggle(pairs: &mut Pairs, pair: BitPair) -> Result<()> {
    pairs.push(pair).map_err(|_| fault(pair.into, NotSwizzle::Apart))
}

/// Removes pairs that stand there twice: they undo each other.
fn cancel(pairs: &mut Pairs) {
    let mut once = Pairs::new();
    for pair in pairs.iter() {
        match once.iter().position(|other| other == pair) {
            Some(k) => {
                once.swap_remove(k);
            }
            // No more than there were.
            None => {
                let _ = once.push(*pair);
            }
        }
    }
    pairs.clone_from(&once);
}

/// The swizzle that has these pairs; none for no pair.
fn joined(pairs: &mut Pairs, like: Swizzle) -> Result<Option<Swizzle>> {
    sort_by(pairs, |a, b| a.into < b.into);
    let Some(first) = pairs.first().copied() else { return Ok(None) };
    for (k, pair) in pairs.iter().enumerate() {
        let shifted = |bit: u8| usize::from(bit).saturating_add(k);
        if usize::from(pair.into) != shifted(first.into)
            || usize::from(pair.from) != shifted(first.from)
        {
            return Err(fault(pair.into, NotSwizzle::Apart));
        }
    }
    let apart = fault(first.into, NotSwizzle::Apart);
    let b = u8::try_from(pairs.len()).map_err(|_| apart)?;
    let distance = i8::try_from(i16::from(first.from).saturating_sub(i16::from(first.into)));
    let m = first.from.min(first.into);
    let made = Swizzle::new(b, m, distance.map_err(|_| apart)?, like.unit);
    made.map(Some).map_err(|_| apart)
}

/// The last iter made long enough that there are `needed` positions.
#[inline(never)]
pub(super) fn lengthened(iters: &mut Iters, needed: u64) -> Result<()> {
    let mut size = 1u64;
    for it in iters.iter() {
        size = size.checked_mul(u64::from(it.extent_value()?)).ok_or(Error::Overflow)?;
    }
    if size >= needed {
        return Ok(());
    }
    let Some(last) = iters.last_mut() else { return Ok(()) };
    let extent = u64::from(last.extent_value()?);
    let below = size.checked_div(extent).ok_or(Error::Overflow)?;
    let steps = u32::try_from(needed.div_ceil(below.max(1))).map_err(|_| Error::Overflow)?;
    *last = Iter::new(steps, last.stride_value()?, last.axis());
    Ok(())
}

/// How many positions there are from 0 to the greatest of `l`, without its post-map.
///
/// # Errors
/// [`Error::NegativeOffset`], [`Error::NeedsValue`].
pub(super) fn plain_positions(l: &LayoutRef<'_>) -> Result<u64> {
    let plain = LayoutRef { post: PostMap::None, ..*l };
    let (span, cosize) = (plain.span(AxisId::M)?, plain.cosize(AxisId::M)?);
    if span != cosize {
        return Err(Error::NegativeOffset { offset: cosize.saturating_sub(span) });
    }
    u64::try_from(cosize).map_err(|_| Error::Overflow)
}

/// Sets the post-map of `out`, which is `a` after `b` but for the post-map of `b`.
#[inline(never)]
pub(super) fn pass_outer(out: &mut Layout, a: &LayoutRef<'_>, b: &LayoutRef<'_>) -> Result<()> {
    let mut moved = Iters::new();
    super::compose::push_modes(&mut moved, a)?;
    let mut beside = Iters::new();
    for it in a.replica {
        push(&mut beside, *it)?;
    }
    for at in a.offset {
        push(&mut beside, Iter::new(2, at.value().value()?, at.axis()))?;
    }
    let positions = plain_positions(b)?;
    let behind = Behind { moved: &moved, beside: &beside, positions, closed: false };
    let post = passed(&b.post, &behind, &a.post)?;
    out.set_post(post)
}

/// Sets the post-map of `inverse`, whose iters from `first` on, `count` of them, take the positions
/// of a layout with this post-map back.
#[inline(never)]
pub(super) fn pass_inverse(
    inverse: &mut Layout,
    (first, count): (usize, usize),
    positions: Option<u64>,
    post: &PostMap,
) -> Result<()> {
    let view = inverse.view();
    let (front, rest) = view.shard.split_at_checked(first).unwrap_or((view.shard, &[]));
    let (moved, back) = rest.split_at_checked(count).unwrap_or((rest, &[]));
    let mut beside = Iters::new();
    for it in front.iter().chain(back) {
        push(&mut beside, *it)?;
    }
    let (positions, closed) = match positions {
        Some(positions) => (positions, false),
        None => (LayoutRef::new(moved).size_value()?, true),
    };
    let behind = Behind { moved, beside: &beside, positions, closed };
    let post = passed(post, &behind, &PostMap::None)?;
    inverse.set_post(post)
}

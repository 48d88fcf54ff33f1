//! Questions about a strided layout: size, rank, reach on an axis, injectivity.
//!
//! All answers are exact and take no time proportional to an extent. The two that are searches
//! ([`LayoutRef::cosize`] under a swizzle, [`LayoutRef::is_injective`]) give [`Error::Undecided`]
//! rather than guess when a fixed number of steps does not suffice; for strides that nest, as in
//! practice, they need a few steps an iter.

use crate::axis::AxisId;
use crate::coord::MAX_AXES;
use crate::error::{Error, Limit, Result};
use crate::layout::{Iter, LayoutRef, MAX_ITERS, position};
use crate::num::Int;
use crate::order::gcd;
use crate::order::sort_by;

/// Steps after which a search gives up.
const FUEL: u32 = 1 << 20;

/// A shard or replica iter on one axis, turned so that its stride is positive.
#[derive(Clone, Copy)]
struct AxisWalk {
    stride: u64,
    extent: u64,
    shard: bool,
    iter: u8,
}

type AxisWalks = heapless::Vec<AxisWalk, MAX_ITERS>;

impl LayoutRef<'_> {
    /// The number of logical coordinates: the product of the shard extents.
    pub fn size(&self) -> Result<Int> {
        product(self.shard.iter())
    }

    /// The number of logical coordinates, if known.
    pub fn size_value(&self) -> Result<u64> {
        let size = self.size()?.value()?;
        u64::try_from(size).map_err(|_| Error::Overflow)
    }

    /// Whether [`crate::tirx::group`] cuts it at the boundaries of these extents, given the fastest
    /// first; it is asked without being cut. Not so where an extent of its own has no value.
    ///
    /// ```
    /// # use lanebook_layout::{NoSyms, WellKnown, notation};
    /// # let of = |text: &str| notation::tirx::parse(text, &WellKnown, &mut NoSyms).unwrap();
    /// let layout = of("S[(2,32):(32,1)]");
    /// assert!(layout.view().is_grouped_by([8, 8]));
    /// assert!(!layout.view().is_grouped_by([8, 3]));
    /// ```
    #[must_use]
    pub fn is_grouped_by(&self, extents: impl IntoIterator<Item = u64>) -> bool {
        let mut extents = extents.into_iter().filter(|extent| *extent != 1);
        // What is left of the extent that is gone through.
        let mut left = 1u64;
        for iter in self.shard {
            let mut digit = iter.extent_value().map_or(0, u64::from);
            while digit > 1 {
                if left == 1 {
                    let Some(next) = extents.next() else { return false };
                    left = next;
                }
                if left.checked_rem(digit) == Some(0) {
                    left = left.checked_div(digit).unwrap_or(0);
                    break;
                }
                if digit.checked_rem(left) != Some(0) {
                    return false;
                }
                digit = digit.checked_div(left).unwrap_or(0);
                left = 1;
            }
            if digit == 0 {
                return false;
            }
        }
        left == 1 && extents.next().is_none()
    }

    /// The number of top-level modes; 1 for a single leaf.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.modes().count()
    }

    /// The product of the extents of the shard iters on `axis` (TIRx's `size(axis)`), 1 if there is
    /// none.
    pub fn size_on(&self, axis: AxisId) -> Result<Int> {
        product(self.shard.iter().filter(|it| it.axis() == axis))
    }

    /// The axes mentioned by shard, replicas and offset, in that order.
    pub fn axes(&self) -> Result<heapless::Vec<AxisId, MAX_AXES>> {
        let mut out = heapless::Vec::new();
        let iters = self.shard.iter().chain(self.replica).map(Iter::axis);
        for axis in iters.chain(self.offset.iter().map(|o| o.axis())) {
            if !out.contains(&axis) {
                out.push(axis)
                    .map_err(|_| Error::Capacity { limit: Limit::Axes, max: MAX_AXES as u32 })?;
            }
        }
        Ok(out)
    }

    /// The sum of the offsets on `axis`.
    pub fn offset_of(&self, axis: AxisId) -> Result<Int> {
        let mut sum = Int::ZERO;
        for o in self.offset.iter().filter(|o| o.axis() == axis) {
            sum = sum.checked_add(o.value())?;
        }
        Ok(sum)
    }

    /// Least and greatest position on `axis` over all coordinates and copies, **before** the
    /// post-map.
    pub fn reach(&self, axis: AxisId) -> Result<(i64, i64)> {
        let start = self.offset_of(axis)?.value()?;
        let (mut low, mut high) = (start, start);
        for it in self.shard.iter().chain(self.replica).filter(|it| it.axis() == axis) {
            let steps = i64::from(it.extent_value()?).wrapping_sub(1).max(0);
            let way = it.stride_value()?.checked_mul(steps).ok_or(Error::Overflow)?;
            low = low.checked_add(way.min(0)).ok_or(Error::Overflow)?;
            high = high.checked_add(way.max(0)).ok_or(Error::Overflow)?;
        }
        Ok((low, high))
    }

    /// The greatest position on `axis` over all coordinates and copies, plus 1; after the post-map.
    /// Exact.
    ///
    /// This is the image's own maximum, also for negative strides (`(2,3):(-1,2)` has 5) and under
    /// a swizzle (`S<3,0,3> o 0 o (3,3):(9,1)` has 23).
    ///
    /// # Errors
    /// [`Error::NegativeOffset`] if a post-map meets a negative position; [`Error::Undecided`].
    pub fn cosize(&self, axis: AxisId) -> Result<i64> {
        let (low, high) = self.reach(axis)?;
        let top = if axis != AxisId::M || self.post.is_identity() {
            high
        } else {
            if low < 0 {
                return Err(Error::NegativeOffset { offset: low });
            }
            let swizzled = self.greatest_swizzled(axis, low)?;
            // Padding is monotone, so the greatest position stays the greatest.
            match self.post.padding() {
                Some(p) => i64::try_from(p.apply(swizzled)?).map_err(|_| Error::Overflow)?,
                None => i64::try_from(swizzled).map_err(|_| Error::Overflow)?,
            }
        };
        top.checked_add(1).ok_or(Error::Overflow)
    }

    /// An upper bound of [`LayoutRef::cosize`] without a search: the reach rounded up to the
    /// swizzle's period.
    pub fn cosize_bound(&self, axis: AxisId) -> Result<i64> {
        let (low, high) = self.reach(axis)?;
        if axis != AxisId::M || self.post.is_identity() {
            return high.checked_add(1).ok_or(Error::Overflow);
        }
        let mut top = u64::try_from(high).map_err(|_| Error::NegativeOffset { offset: low })?;
        if let Some(s) = self.post.swizzle() {
            top |= 1u64.wrapping_shl(s.period_bits()).wrapping_sub(1);
        }
        if let Some(p) = self.post.padding() {
            top = p.apply(top)?;
        }
        i64::try_from(top).ok().and_then(|t| t.checked_add(1)).ok_or(Error::Overflow)
    }

    /// The smallest window that holds 0 and every position on `axis` before the post-map (TIRx's
    /// `span`, which is the same for non-negative strides).
    pub fn span(&self, axis: AxisId) -> Result<i64> {
        let (low, high) = self.reach(axis)?;
        high.max(0).checked_sub(low.min(0)).and_then(|w| w.checked_add(1)).ok_or(Error::Overflow)
    }

    /// Whether different logical coordinates have no position in common. Exact.
    ///
    /// Copies of one coordinate may coincide with each other. The post-map is one-to-one and
    /// changes nothing.
    pub fn is_injective(&self) -> Result<bool> {
        Ok(self.collision()?.is_none())
    }

    /// A shard iter that takes part in a collision of different coordinates, or `None` if there is
    /// no collision.
    ///
    /// # Errors
    /// [`Error::NeedsValue`], and [`Error::Undecided`] when the search takes too long.
    pub fn collision(&self) -> Result<Option<u8>> {
        // Replica steps join the iters of all their axes, but a replica moves along one axis only,
        // so the axes are independent: there is a collision iff some axis alone has one among iters
        // that move nothing elsewhere.
        for axis in &self.axes()? {
            let mut walks = AxisWalks::new();
            if let Some(stuck) = self.walks(*axis, &mut walks)? {
                return Ok(Some(stuck));
            }
            if let Some(iter) = collide(&walks)? {
                return Ok(Some(iter));
            }
        }
        Ok(None)
    }

    /// The iters on `axis` by increasing stride; or a shard iter with stride 0 and extent above 1,
    /// if there is one.
    fn walks(&self, axis: AxisId, out: &mut AxisWalks) -> Result<Option<u8>> {
        for (k, it) in self.shard.iter().chain(self.replica).enumerate() {
            let (extent, shard) = (u64::from(it.extent_value()?), k < self.shard.len());
            let stride = it.stride_value()?.unsigned_abs();
            if it.axis() != axis || extent <= 1 {
                continue;
            }
            if stride == 0 {
                if shard {
                    return Ok(Some(position(k)));
                }
                continue;
            }
            let full = Error::Capacity { limit: Limit::Iters, max: MAX_ITERS as u32 };
            out.push(AxisWalk { stride, extent, shard, iter: position(k) }).map_err(|_| full)?;
        }
        sort_by(out, |a, b| a.stride < b.stride);
        Ok(None)
    }

    /// The greatest swizzled position; all positions are at least `low >= 0`.
    ///
    /// Branch and bound over the iters by decreasing stride: the swizzle moves a position only
    /// within its aligned period, so a partial sum whose reach ends in a lower period than the best
    /// answer is cut off.
    fn greatest_swizzled(&self, axis: AxisId, low: i64) -> Result<u64> {
        let Some(sw) = self.post.swizzle() else {
            return u64::try_from(self.reach(axis)?.1).map_err(|_| Error::Overflow);
        };
        let mut walks = AxisWalks::new();
        for it in self.shard.iter().chain(self.replica).filter(|it| it.axis() == axis) {
            let (extent, stride) =
                (u64::from(it.extent_value()?), it.stride_value()?.unsigned_abs());
            if extent > 1 && stride > 0 {
                let full = Error::Capacity { limit: Limit::Iters, max: MAX_ITERS as u32 };
                walks.push(AxisWalk { stride, extent, shard: true, iter: 0 }).map_err(|_| full)?;
            }
        }
        sort_by(&mut walks, |a, b| a.stride > b.stride);
        // below[k]: how far the iters after k can still go.
        let mut below: heapless::Vec<u64, MAX_ITERS> = heapless::Vec::new();
        let mut far = 0u64;
        for w in walks.iter().rev() {
            let _ = below.push(far);
            far = far.saturating_add(w.stride.saturating_mul(w.extent.saturating_sub(1)));
        }
        below.reverse();
        let period = 1u64.wrapping_shl(sw.period_bits()).wrapping_sub(1);
        let start = u64::try_from(low).map_err(|_| Error::NegativeOffset { offset: low })?;
        let mut best = sw.apply(start);
        // Each level tries its digits from the greatest down.
        let mut digit = [0u64; MAX_ITERS];
        let mut sums = [0u64; MAX_ITERS];
        let (mut level, mut sum, mut fuel) = (0usize, start, FUEL);
        let mut entering = true;
        loop {
            fuel = fuel.checked_sub(1).ok_or(Error::Undecided { steps: FUEL })?;
            let back = match (walks.get(level), digit.get_mut(level), sums.get_mut(level)) {
                (Some(w), Some(d), Some(s)) => {
                    if entering {
                        *d = w.extent;
                        *s = sum;
                    }
                    if *d == 0 {
                        true
                    } else {
                        *d = d.wrapping_sub(1);
                        sum = s.saturating_add(d.saturating_mul(w.stride));
                        let reach = sum.saturating_add(below.get(level).copied().unwrap_or(0));
                        if (reach | period) <= best {
                            true
                        } else {
                            level = level.wrapping_add(1);
                            entering = true;
                            false
                        }
                    }
                }
                _ => {
                    best = best.max(sw.apply(sum));
                    true
                }
            };
            if back {
                let Some(up) = level.checked_sub(1) else {
                    return Ok(best);
                };
                level = up;
                entering = false;
            }
        }
    }
}

fn product<'a>(iters: impl Iterator<Item = &'a Iter>) -> Result<Int> {
    let mut size = Int::ONE;
    for it in iters {
        size = size.checked_mul(it.extent())?;
    }
    Ok(size)
}

/// Looks for digits' differences, not all zero on shard iters, whose weighted sum is zero.
///
/// From the greatest stride down: what is summed so far must be within the reach of the smaller
/// strides and a multiple of their common divisor, which leaves few digits, mostly one.
fn collide(walks: &AxisWalks) -> Result<Option<u8>> {
    let mut reach: heapless::Vec<i128, MAX_ITERS> = heapless::Vec::new();
    let mut unit: heapless::Vec<u64, MAX_ITERS> = heapless::Vec::new();
    let (mut far, mut common) = (0i128, 0u64);
    let mut nested = true;
    for w in walks {
        let _ = reach.push(far);
        let _ = unit.push(common);
        nested = nested && far < i128::from(w.stride);
        far = far.saturating_add(
            i128::from(w.stride).saturating_mul(i128::from(w.extent.saturating_sub(1))),
        );
        common = gcd(common, w.stride);
    }
    if nested {
        return Ok(None);
    }
    // One frame a level, from the last (greatest stride) to the first.
    let mut next = [0i64; MAX_ITERS];
    let mut end = [0i64; MAX_ITERS];
    let mut step = [0i64; MAX_ITERS];
    let mut sums = [0i128; MAX_ITERS];
    let mut fuel = FUEL;
    let Some(top) = walks.len().checked_sub(1) else {
        return Ok(None);
    };
    let (mut level, mut sum, mut entering) = (top, 0i128, true);
    loop {
        fuel = fuel.checked_sub(1).ok_or(Error::Undecided { steps: FUEL })?;
        let (Some(w), Some(n), Some(e), Some(st), Some(s)) = (
            walks.get(level),
            next.get_mut(level),
            end.get_mut(level),
            step.get_mut(level),
            sums.get_mut(level),
        ) else {
            return Ok(None);
        };
        if entering {
            *s = sum;
            let far = reach.get(level).copied().unwrap_or(0);
            let common = unit.get(level).copied().unwrap_or(0);
            (*n, *e, *st) = candidates(sum, far, common, w);
        }
        if *n > *e {
            level = level.wrapping_add(1);
            if level > top {
                return Ok(None);
            }
            entering = false;
            continue;
        }
        let d = *n;
        *n = n.saturating_add(*st);
        sum = s.saturating_add(i128::from(d).saturating_mul(i128::from(w.stride)));
        if level == 0 {
            // sum is 0 here: the candidates of the first level are exact.
            entering = false;
            let moved = |k: usize| -> bool {
                let used = next
                    .get(k)
                    .copied()
                    .unwrap_or(0)
                    .saturating_sub(step.get(k).copied().unwrap_or(0));
                used != 0 && walks.get(k).is_some_and(|w| w.shard)
            };
            if let Some(k) = (0..walks.len()).rev().find(|k| moved(*k)) {
                return Ok(walks.get(k).map(|w| w.iter));
            }
        } else {
            level = level.wrapping_sub(1);
            entering = true;
        }
    }
}

/// The differences `d` with `|d| < extent`, `|sum + d*stride| <= reach` and `sum + d*stride` a
/// multiple of `unit` (0 if `unit` is 0), as first, last and step. Empty: first above last.
fn candidates(sum: i128, reach: i128, unit: u64, w: &AxisWalk) -> (i64, i64, i64) {
    const EMPTY: (i64, i64, i64) = (1, 0, 1);
    let (first, last, step) = differences(sum, reach, unit, w);
    // Extents are numbers of 32 bits: so are differences, and a step beyond them leads past the last.
    match (i64::try_from(first), i64::try_from(last)) {
        (Ok(low), Ok(high)) if low <= high => {
            (low, high, i64::try_from(step).unwrap_or(FAR_STEP).min(FAR_STEP))
        }
        _ => EMPTY,
    }
}

/// A step that is greater than any two differences are apart.
const FAR_STEP: i64 = 1 << 34;

/// The same as wide numbers.
fn differences(sum: i128, reach: i128, unit: u64, w: &AxisWalk) -> (i128, i128, i128) {
    const EMPTY: (i128, i128, i128) = (1, 0, 1);
    let stride = i128::from(w.stride);
    let most = i128::from(w.extent).saturating_sub(1);
    let low = (reach.saturating_neg().saturating_sub(sum)).checked_div_euclid(stride).map(|q| {
        let exact = q.saturating_mul(stride) == reach.saturating_neg().saturating_sub(sum);
        if exact { q } else { q.saturating_add(1) }
    });
    let high = reach.saturating_sub(sum).checked_div_euclid(stride);
    let (Some(low), Some(high)) = (low, high) else {
        return EMPTY;
    };
    let (low, high) = (low.max(most.saturating_neg()), high.min(most));
    if unit <= 1 {
        return (low, high, 1);
    }
    // d * stride = -sum modulo unit: one residue modulo unit/g, if g divides sum.
    let g = gcd(unit, w.stride);
    let (gi, modulus) = (i128::from(g), i128::from(unit.checked_div(g).unwrap_or(1)));
    if sum.checked_rem(gi) != Some(0) {
        return EMPTY;
    }
    let target =
        sum.checked_div(gi).unwrap_or(0).saturating_neg().checked_rem_euclid(modulus).unwrap_or(0);
    let slope =
        i128::from(w.stride.checked_div(g).unwrap_or(1)).checked_rem_euclid(modulus).unwrap_or(0);
    let residue = match inverse_mod(slope, modulus) {
        Some(inv) => match target.checked_mul(inv) {
            Some(p) => p.checked_rem_euclid(modulus).unwrap_or(0),
            None => return (low, high, 1),
        },
        None => 0,
    };
    let ahead = residue.saturating_sub(low).checked_rem_euclid(modulus).unwrap_or(0);
    (low.saturating_add(ahead), high, modulus)
}

/// The inverse of `a` modulo `m`, for coprime `a` and `m`; `None` for `m` = 1.
fn inverse_mod(a: i128, m: i128) -> Option<i128> {
    let (mut r0, mut r1) = (m, a);
    let (mut t0, mut t1) = (0i128, 1i128);
    while r1 != 0 {
        let q = r0.checked_div(r1)?;
        (r0, r1) = (r1, r0.checked_sub(q.checked_mul(r1)?)?);
        (t0, t1) = (t1, t0.checked_sub(q.checked_mul(t1)?)?);
    }
    if r0 == 1 { t0.checked_rem_euclid(m) } else { None }
}

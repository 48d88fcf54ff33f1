//! Exact inverses with guards: from a position back to the element, or the answer that no element
//! lies there.
//!
//! On each axis every stride must exceed all that the smaller ones reach together (as those of any
//! mixed radix do, with or without gaps). A position is then split from the greatest stride down:
//! quotient, remainder, and so on. A quotient that is no digit, or a remainder at the end, means
//! that no element lies there; these conditions are the guards: `thread = 16 * i` inverts to `i = t
//! / 16` where `t % 16 = 0`. Extents and strides may be any integers; an iter of negative stride is
//! walked backwards. A swizzle and padding are undone first; a position that padding leaves out
//! holds no element.

use crate::axis::AxisId;
use crate::coord::{Coord, MAX_AXES};
use crate::error::{Error, Limit, Result};
use crate::layout::{Iter, LayoutRef, MAX_ITERS, position};
use crate::num::Int;
use crate::order::sort_by;
use crate::post::PostMap;

/// A digit of a position: the quotient by `unit` of what the greater units of the axis leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Digit {
    axis: AxisId,
    unit: i64,
    extent: u32,
    /// What a step is worth.
    weight: u64,
    /// Whether the digit belongs to the number of the copy.
    copy: bool,
    /// Whether it counts down: the iter's stride is negative.
    down: bool,
}

/// A condition on positions that hold an element: `(x % above) / unit < extent`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Guard {
    /// The axis of `x`, which counts from the window's start there, after the post-map has been
    /// undone.
    pub axis: AxisId,
    /// The modulus.
    pub above: i64,
    /// The divisor.
    pub unit: i64,
    /// The bound; 1 says that the quotient must be 0.
    pub extent: u32,
}

/// The inverse of a layout: see [`guarded_inverse`].
///
/// ```
/// # use lanebook_layout::ops::{Element, Guard};
/// # use lanebook_layout::{AxisId, Coord, NoSyms, WellKnown, notation, ops};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// // Rows of 12, pitch 16: a position holds something where its column is below 12.
/// let back = ops::guarded_inverse(&of("(12,4):(1,16)").view()).unwrap();
/// let guards: Vec<Guard> = back.guards().collect();
/// assert_eq!((guards.len(), guards[0].above, guards[0].unit, guards[0].extent), (1, 16, 1, 12));
/// assert_eq!((back.window(AxisId::M), back.post().is_identity()), (Some((0, 60)), true));
/// let mut at = Coord::new();
/// at.add(AxisId::M, 17).unwrap();
/// assert_eq!(back.at(&at), Ok(Some(Element { flat: 13, copy: 0 })));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardedInverse {
    /// By axis, and then by decreasing unit.
    digits: heapless::Vec<Digit, MAX_ITERS>,
    /// For each axis where positions begin, and how many there are.
    windows: heapless::Vec<(AxisId, i64, i64), MAX_AXES>,
    post: PostMap,
}

/// An element and which copy of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Element {
    /// Flat coordinate, fastest mode first (row-major in TileLang's dimensions).
    pub flat: u64,
    /// Number of the copy, first replica fastest; 0 where copies coincide.
    pub copy: u64,
}

/// The inverse of `l`. Copies that coincide (stride 0) are told apart no more: they come back as
/// copy 0 of them.
///
/// ```
/// # use lanebook_layout::{AxisId, Coord, NoSyms, WellKnown, notation, ops};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let back = ops::guarded_inverse(&of("(4,8):(16,1)").view()).unwrap();
/// let mut at = Coord::new();
/// at.add(AxisId::M, 35).unwrap();
/// // Position 35 is row 2, column 3; of 12 on there is nothing.
/// assert_eq!(back.at(&at).unwrap().map(|found| found.flat), Some(2 + 4 * 3));
/// at.add(AxisId::M, 9).unwrap();
/// assert_eq!(back.at(&at), Ok(None));
/// ```
///
/// # Errors
/// With the iter whose stride is 0 or does not exceed what the smaller ones reach (`unit` is the
/// least that would do) [`Error::NotInjective`] where elements meet, else [`Error::Interleaved`]; [`Error::NeedsValue`], [`Error::Capacity`],
/// [`Error::Overflow`].
pub fn guarded_inverse(l: &LayoutRef<'_>) -> Result<GuardedInverse> {
    l.post.check()?;
    let mut out = GuardedInverse {
        digits: heapless::Vec::new(),
        windows: heapless::Vec::new(),
        post: l.post,
    };
    let steps = steps(l)?;
    for axis in &l.axes()? {
        let mut start = l.offset_of(*axis)?.value()?;
        let mut covered = 1i64;
        let own = steps.iter().filter(|s| s.it.axis() == *axis);
        for s in own.clone() {
            let stride = s.unit()?;
            if stride < covered {
                let stride = s.it.stride().coeff();
                let fault = Error::Interleaved { iter: s.at, stride, unit: covered };
                return Err(met(l, *axis, fault));
            }
            let last = i64::from(s.it.extent_value()?).saturating_sub(1);
            let way = stride.checked_mul(last).ok_or(Error::Overflow)?;
            if s.down() {
                start = start.checked_sub(way).ok_or(Error::Overflow)?;
            }
            covered = covered.checked_add(way).ok_or(Error::Overflow)?;
        }
        for s in own.rev() {
            let digit = Digit {
                axis: *axis,
                unit: s.unit()?,
                extent: s.it.extent_value()?,
                weight: s.weight,
                copy: s.copy,
                down: s.down(),
            };
            out.digits
                .push(digit)
                .map_err(|_| Error::Capacity { limit: Limit::Iters, max: MAX_ITERS as u32 })?;
        }
        let full = Error::Capacity { limit: Limit::Axes, max: MAX_AXES as u32 };
        out.windows.push((*axis, start, covered)).map_err(|_| full)?;
    }
    Ok(out)
}

/// The fault, or that elements or copies on one axis meet, where they do.
#[inline(never)]
fn met(l: &LayoutRef<'_>, axis: AxisId, fault: Error) -> Error {
    let mut own = super::Iters::new();
    for it in l.shard.iter().chain(l.replica).filter(|it| it.axis() == axis) {
        // No more than a layout holds.
        let _ = own.push(*it);
    }
    super::or_collision(fault, &own)
}

/// An iter that moves, with what a step of it is worth.
struct MovingIter {
    it: Iter,
    at: u8,
    weight: u64,
    copy: bool,
}

impl MovingIter {
    /// The length of a step.
    fn unit(&self) -> Result<i64> {
        self.it.stride_value()?.checked_abs().ok_or(Error::Overflow)
    }

    fn down(&self) -> bool {
        self.it.stride().coeff() < 0
    }
}

/// The iters that move, by the length of their steps.
fn steps(l: &LayoutRef<'_>) -> Result<heapless::Vec<MovingIter, MAX_ITERS>> {
    let mut out: heapless::Vec<MovingIter, MAX_ITERS> = heapless::Vec::new();
    let (mut before, mut copies) = (1u64, 1u64);
    for (k, it) in l.shard.iter().chain(l.replica).enumerate() {
        let copy = k >= l.shard.len();
        let weight = if copy { &mut copies } else { &mut before };
        let step = MovingIter { it: *it, at: position(k), weight: *weight, copy };
        let extent = u64::from(it.extent_value()?);
        *weight = weight.checked_mul(extent).ok_or(Error::Overflow)?;
        let stride = it.stride_value()?;
        if it.is_unit() || (stride == 0 && copy) {
            continue;
        }
        if it.stride() == Int::ZERO {
            return Err(Error::NotInjective { iter: position(k), stride: 0, unit: 1 });
        }
        let full = Error::Capacity { limit: Limit::Iters, max: MAX_ITERS as u32 };
        out.push(step).map_err(|_| full)?;
    }
    sort_by(&mut out, |a, b| {
        a.it.stride().coeff().unsigned_abs() < b.it.stride().coeff().unsigned_abs()
    });
    Ok(out)
}

impl GuardedInverse {
    /// The conditions on a position inside the windows; none if every position there holds an
    /// element.
    pub fn guards(&self) -> impl Iterator<Item = Guard> + '_ {
        self.windows.iter().flat_map(move |(axis, _, size)| {
            let own = self.digits.iter().filter(move |d| d.axis == *axis);
            // Each digit below the next greater unit, and after the last a remainder of 0.
            let above = core::iter::once(*size).chain(own.clone().map(|d| d.unit));
            let digits = own.map(|d| (d.unit, d.extent));
            let all = above.zip(digits.chain([(1, 1)]));
            all.filter_map(move |(above, (unit, extent))| {
                let most = above.saturating_sub(1).checked_div(unit)?;
                (most >= i64::from(extent)).then_some(Guard { axis: *axis, above, unit, extent })
            })
        })
    }

    /// The post-map to undo on axis `m` before the guards are asked.
    #[must_use]
    pub const fn post(&self) -> PostMap {
        self.post
    }

    /// The least position on `axis` before the post-map, and how many there are from it to the
    /// greatest; `None` if the layout does not mention the axis.
    #[must_use]
    pub fn window(&self, axis: AxisId) -> Option<(i64, i64)> {
        let found = self.windows.iter().find(|w| w.0 == axis);
        found.map(|w| (w.1, w.2))
    }

    /// The element at a position, or `None` if there is none. On axes that the layout does not
    /// mention all elements lie at 0.
    ///
    /// # Errors
    /// [`Error::Overflow`].
    pub fn at(&self, at: &Coord) -> Result<Option<Element>> {
        let mut out = Element { flat: 0, copy: 0 };
        if at.iter().any(|(axis, x)| x != 0 && self.window(axis).is_none()) {
            return Ok(None);
        }
        for (axis, start, size) in &self.windows {
            let x = self.offset_in(at.get(*axis), *axis, *start)?;
            let Some(mut rest) = x.filter(|x| *x >= 0 && x < size) else {
                return Ok(None);
            };
            for d in self.digits.iter().filter(|d| d.axis == *axis) {
                let digit = rest.checked_div(d.unit).ok_or(Error::Overflow)?;
                rest = rest.checked_rem(d.unit).ok_or(Error::Overflow)?;
                if digit >= i64::from(d.extent) {
                    return Ok(None);
                }
                let turned = if d.down {
                    i64::from(d.extent).saturating_sub(1).saturating_sub(digit)
                } else {
                    digit
                };
                let digit = u64::try_from(turned).map_err(|_| Error::Overflow)?;
                let sum = if d.copy { &mut out.copy } else { &mut out.flat };
                let worth = digit.checked_mul(d.weight).ok_or(Error::Overflow)?;
                *sum = sum.checked_add(worth).ok_or(Error::Overflow)?;
            }
            if rest != 0 {
                return Ok(None);
            }
        }
        Ok(Some(out))
    }

    /// The position on `axis` before the post-map, from the window's start; `None` if the post-map
    /// leaves it out.
    fn offset_in(&self, x: i64, axis: AxisId, start: i64) -> Result<Option<i64>> {
        let plain = if axis == AxisId::M { self.post.undo(x)? } else { Some(x) };
        Ok(plain.and_then(|plain| plain.checked_sub(start)))
    }
}

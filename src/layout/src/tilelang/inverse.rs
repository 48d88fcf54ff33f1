//! Exact inverses with guards: from a position back to the element, or the answer that no element lies there.
//!
//! The iters on each axis must nest when put in order of stride (each stride a multiple of all that the smaller ones
//! cover). A position is then split into digits; where the strides leave a gap, the digit in the gap must be 0, which
//! is the guard: `thread = 16 * i` inverts to `i = t / 16` where `t % 16 = 0`. Extents may be any integers. A swizzle
//! is undone first.

use crate::axis::AxisId;
use crate::coord::{Coord, MAX_AXES};
use crate::error::{Error, Limit, Result};
use crate::layout::{Iter, LayoutRef, MAX_ITERS, position};
use crate::num::Int;
use crate::order::sort_by;
use crate::post::{PostMap, Swizzle};

/// A digit of a position: `(x / unit) % extent` on `axis`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Digit {
    axis: AxisId,
    unit: i64,
    extent: u32,
    /// What a step is worth; 0 for a guard.
    weight: u64,
    /// Whether the digit belongs to the number of the copy.
    copy: bool,
}

/// A condition on positions that hold an element: `(x / unit) % extent == 0`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Guard {
    /// The axis of `x`, which counts from the layout's offset there.
    pub axis: AxisId,
    /// Positions below the digit.
    pub unit: i64,
    /// The gap.
    pub extent: u32,
}

/// The inverse of a layout: see [`guarded_inverse`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardedInverse {
    digits: heapless::Vec<Digit, { 2 * MAX_ITERS }>,
    /// For each axis where positions begin, and how many there are.
    windows: heapless::Vec<(AxisId, i64, i64), MAX_AXES>,
    swizzle: Option<Swizzle>,
}

/// An element and which copy of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Element {
    /// Flat coordinate, fastest mode first (row-major in TileLang's dimensions).
    pub flat: u64,
    /// Number of the copy, first replica fastest; 0 where copies coincide.
    pub copy: u64,
}

/// The inverse of `l`. Copies that coincide (stride 0) are told apart no more: they come back as copy 0 of them.
///
/// # Errors
/// [`Error::NotInjective`] with the iter whose stride is 0 or does not nest; [`Error::NegativeStride`];
/// [`Error::HasPostMap`] for padding; [`Error::NeedsValue`], [`Error::Capacity`].
pub fn guarded_inverse(l: &LayoutRef<'_>) -> Result<GuardedInverse> {
    let swizzle = match l.post {
        PostMap::None => None,
        PostMap::Swizzle(s) => Some(s),
        _ => return Err(Error::HasPostMap),
    };
    let mut out = GuardedInverse {
        digits: heapless::Vec::new(),
        windows: heapless::Vec::new(),
        swizzle,
    };
    let steps = steps(l)?;
    for axis in &l.axes()? {
        let start = l.offset_of(*axis)?.value()?;
        let mut covered = 1i64;
        for s in steps.iter().filter(|s| s.it.axis() == *axis) {
            let stride = s.it.stride_value()?;
            let gap = stride.checked_div(covered).unwrap_or(0);
            if gap.checked_mul(covered) != Some(stride) || gap < 1 {
                return Err(Error::NotInjective {
                    iter: s.at,
                    stride,
                    unit: covered,
                });
            }
            let guard = u32::try_from(gap).map_err(|_| Error::Overflow)?;
            out.digit(*axis, covered, guard, 0, false)?;
            out.digit(*axis, stride, s.it.extent_value()?, s.weight, s.copy)?;
            let extent = i64::from(s.it.extent_value()?);
            covered = stride.checked_mul(extent).ok_or(Error::Overflow)?;
        }
        let full = Error::Capacity {
            limit: Limit::Axes,
            max: MAX_AXES as u32,
        };
        out.windows
            .push((*axis, start, covered))
            .map_err(|_| full)?;
    }
    Ok(out)
}

/// An iter that moves, with what a step of it is worth.
struct Step {
    it: Iter,
    at: u8,
    weight: u64,
    copy: bool,
}

/// The iters that move, by stride.
fn steps(l: &LayoutRef<'_>) -> Result<heapless::Vec<Step, MAX_ITERS>> {
    let mut out: heapless::Vec<Step, MAX_ITERS> = heapless::Vec::new();
    let (mut before, mut copies) = (1u64, 1u64);
    for (k, it) in l.shard.iter().chain(l.replica).enumerate() {
        let copy = k >= l.shard.len();
        let weight = if copy { &mut copies } else { &mut before };
        let step = Step {
            it: *it,
            at: position(k),
            weight: *weight,
            copy,
        };
        let extent = u64::from(it.extent_value()?);
        *weight = weight.checked_mul(extent).ok_or(Error::Overflow)?;
        let stride = it.stride_value()?;
        if it.is_unit() || (stride == 0 && copy) {
            continue;
        }
        if stride < 0 {
            return Err(Error::NegativeStride {
                iter: position(k),
                stride,
            });
        }
        if it.stride() == Int::ZERO {
            return Err(Error::NotInjective {
                iter: position(k),
                stride: 0,
                unit: 1,
            });
        }
        let full = Error::Capacity {
            limit: Limit::Iters,
            max: MAX_ITERS as u32,
        };
        out.push(step).map_err(|_| full)?;
    }
    sort_by(&mut out, |a, b| {
        a.it.stride().coeff() < b.it.stride().coeff()
    });
    Ok(out)
}

impl GuardedInverse {
    fn digit(
        &mut self,
        axis: AxisId,
        unit: i64,
        extent: u32,
        weight: u64,
        copy: bool,
    ) -> Result<()> {
        if extent == 1 {
            return Ok(());
        }
        let digit = Digit {
            axis,
            unit,
            extent,
            weight,
            copy,
        };
        self.digits.push(digit).map_err(|_| Error::Capacity {
            limit: Limit::Iters,
            max: MAX_ITERS as u32,
        })
    }

    /// The conditions on a position inside the windows; none if every position there holds an element.
    pub fn guards(&self) -> impl Iterator<Item = Guard> + '_ {
        let gaps = self.digits.iter().filter(|d| d.weight == 0);
        gaps.map(|d| Guard {
            axis: d.axis,
            unit: d.unit,
            extent: d.extent,
        })
    }

    /// Where positions on `axis` begin and how many there are; `None` if the layout does not mention it.
    #[must_use]
    pub fn window(&self, axis: AxisId) -> Option<(i64, i64)> {
        let found = self.windows.iter().find(|w| w.0 == axis);
        found.map(|w| (w.1, w.2))
    }

    /// The element at a position, or `None` if there is none. Axes that the layout does not mention are ignored.
    ///
    /// # Errors
    /// [`Error::Overflow`].
    pub fn at(&self, at: &Coord) -> Result<Option<Element>> {
        let mut out = Element { flat: 0, copy: 0 };
        for (axis, start, size) in &self.windows {
            match self.offset_in(at.get(*axis), *axis, *start) {
                Some(x) if x >= 0 && x < *size => {}
                _ => return Ok(None),
            }
        }
        for d in &self.digits {
            let start = self.window(d.axis).map_or(0, |w| w.0);
            let Some(x) = self.offset_in(at.get(d.axis), d.axis, start) else {
                return Ok(None);
            };
            let digit = x
                .checked_div(d.unit)
                .and_then(|q| q.checked_rem(i64::from(d.extent)));
            let digit = digit.and_then(|q| u64::try_from(q).ok());
            let digit = digit.ok_or(Error::Overflow)?;
            if d.weight == 0 && digit != 0 {
                return Ok(None);
            }
            let sum = if d.copy { &mut out.copy } else { &mut out.flat };
            let worth = digit.checked_mul(d.weight).ok_or(Error::Overflow)?;
            *sum = sum.checked_add(worth).ok_or(Error::Overflow)?;
        }
        Ok(Some(out))
    }

    /// The position on `axis` before swizzle and offset.
    fn offset_in(&self, x: i64, axis: AxisId, start: i64) -> Option<i64> {
        let plain = match self.swizzle {
            Some(s) if axis == AxisId::M => {
                // A swizzle is its own inverse.
                i64::try_from(s.apply(u64::try_from(x).ok()?)).ok()?
            }
            _ => x,
        };
        plain.checked_sub(start)
    }
}

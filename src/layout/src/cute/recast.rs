//! Recasting: the same storage seen as elements of another width.
//!
//! To narrower elements (down) the contiguous iter of extent `n` becomes `n * factor` elements,
//! other strides are multiplied. To wider ones (up) strides are divided, and iters that walk inside
//! the wider element become one run of them; an element that is partly used counts whole, so `5:1`
//! of 16 bits is `3:1` of 32. Where CuTe rounds a stride that falls between two of the new
//! elements, or widens several iters of stride 1, this is refused or done once. A run-time stride
//! is never taken for the contiguous one.

use crate::axis::AxisId;
use crate::error::{Error, Result};
use crate::layout::{Iter, Layout, LayoutRef, MAX_ITERS, position};
use crate::num::Int;
use crate::post::{PostMap, Unit};
use crate::profile::{CLOSE, OPEN};

/// The ratio of two widths, reduced.
#[derive(Clone, Copy)]
struct Ratio {
    /// New width.
    num: u16,
    /// Old width.
    den: u16,
}

impl Ratio {
    fn new(new_bits: u16, old_bits: u16) -> Result<Self> {
        let reduced = Int::ratio(i64::from(new_bits), i64::from(old_bits))?;
        let fits = |x: i64| u16::try_from(x).map_err(|_| Error::Overflow);
        let (num, den) = (fits(reduced.coeff())?, fits(i64::from(reduced.den().get()))?);
        if num == 0 {
            return Err(Error::NotIntegral { num: 0, den: 0 });
        }
        Ok(Self { num, den })
    }

    fn fault(self, iter: u8, value: i64) -> Error {
        Error::Recast { iter, value, num: self.num, den: self.den }
    }

    /// A distance in the new unit, if it is a whole number of elements.
    fn distance(self, value: Int, iter: u8) -> Result<Int> {
        let scaled = value.checked_mul(Int::known(i64::from(self.den)))?;
        scaled.div_exact(Int::known(i64::from(self.num))).ok_or_else(|| match scaled.as_known() {
            Some(_) => self.fault(iter, value.coeff()),
            None => scaled.needs_value(Int::known(i64::from(self.num))),
        })
    }

    /// Whether a walk of `extent` steps of `stride` touches every new element between its first and
    /// its last: none lies in a gap between two old ones.
    fn touches_all(self, extent: Int, stride: i64) -> bool {
        let (new, old) = (u64::from(self.num), u64::from(self.den));
        let step = stride.unsigned_abs().saturating_mul(old);
        let gap = step.saturating_sub(old);
        if gap < new {
            return true;
        }
        if gap >= new.saturating_mul(2) {
            return false;
        }
        // In between it depends on where a gap begins, which repeats after at most `new` steps.
        let gaps = extent.as_known().and_then(|n| u64::try_from(n).ok());
        let gaps = gaps.map_or(new, |n| n.saturating_sub(1).min(new));
        (0..gaps).all(|k| {
            let from = k.saturating_mul(step).saturating_add(old);
            let to = k.saturating_add(1).saturating_mul(step);
            let first = from.checked_next_multiple_of(new).unwrap_or(to);
            first.saturating_add(new) > to
        })
    }

    /// How many new elements `extent` old ones touch that follow each other by `step`, without a
    /// hole.
    fn covered(self, extent: Int, step: i64, fault: Error) -> Result<Int> {
        let (num, den) = (i64::from(self.num), i64::from(self.den));
        if step == 1
            && let Some(whole) = extent.checked_mul(Int::known(den))?.div_exact(Int::known(num))
        {
            return Ok(whole);
        }
        // The last bit touched, in units of the widths' common divisor.
        let before = extent.value()?.checked_sub(1).and_then(|n| n.checked_mul(step));
        let last = before
            .and_then(|n| n.checked_mul(den))
            .and_then(|n| n.checked_add(den))
            .and_then(|n| n.checked_sub(1))
            .ok_or(Error::Overflow)?;
        let unit = last.checked_div(num).ok_or(fault)?;
        Ok(Int::known(unit.checked_add(1).ok_or(Error::Overflow)?))
    }

    /// Whether the iter moves by whole new elements.
    fn is_whole(self, it: &Iter) -> bool {
        self.distance(it.stride(), 0).is_ok()
    }

    /// Which iters become runs of new elements; the others move by whole ones.
    ///
    /// # Errors
    /// [`Error::Recast`] if the runs do not add up to one.
    fn runs(self, iters: &[Iter]) -> Result<[bool; MAX_ITERS]> {
        let mut runs = [false; MAX_ITERS];
        // To narrower elements the contiguous iter is widened: one, and one that moves if there is
        // any.
        let contiguous = |it: &&Iter| matches!(it.stride().as_known(), Some(1 | -1));
        let widened = if self.den == 1 {
            None
        } else {
            let moving = iters.iter().position(|it| contiguous(&it) && !it.is_unit());
            moving.or(iters.iter().position(|it| contiguous(&it)))
        };
        let mut count = 0usize;
        // The run that reaches furthest, and how far all reach together.
        let (mut main, mut total) = ((0i64, 0i64, 0u8), 0i64);
        for ((k, it), slot) in iters.iter().enumerate().zip(&mut runs) {
            *slot = widened == Some(k) || (!it.is_unit() && !self.is_whole(it));
            if !*slot {
                continue;
            }
            let stride = it.stride().value()?;
            if stride < 0 || !self.touches_all(it.extent(), stride) {
                // A shorter walk may touch them all.
                let open = stride >= 0 && it.extent().as_known().is_none();
                return Err(if open {
                    it.extent().needs_value(it.extent())
                } else {
                    self.fault(position(k), stride)
                });
            }
            count = count.saturating_add(1);
            let way = match it.extent().as_known() {
                Some(extent) => extent.saturating_sub(1).saturating_mul(stride),
                None => i64::MAX,
            };
            if (stride, way) > (main.0, main.1) {
                main = (stride, way, position(k));
            }
            total = total.saturating_add(way);
        }
        if count < 2 {
            return Ok(runs);
        }
        // Several add up to one only inside the wider element: the others must not carry the
        // furthest on.
        let (stride, way, at) = main;
        let num = i64::from(self.num);
        let ends = |x: i64| x.checked_div(num);
        let inside = total.saturating_sub(way) < num && ends(total) == ends(way);
        if self.den != 1 || num.checked_rem(stride) != Some(0) || !inside || total == i64::MAX {
            // How far a run-time extent reaches decides whether the others stay inside.
            let open =
                iters.iter().zip(&runs).find(|(it, run)| **run && it.extent().as_known().is_none());
            return Err(
                open.map_or(self.fault(at, stride), |(it, _)| it.extent().needs_value(it.extent()))
            );
        }
        Ok(runs)
    }

    /// One iter.
    fn iter(self, k: usize, it: &Iter, run: bool) -> Result<Iter> {
        if !run {
            let stride = match self.distance(it.stride(), position(k)) {
                // What never moves falls between nothing.
                Err(Error::Recast { .. }) if it.is_unit() => Int::ZERO,
                other => other?,
            };
            return Iter::symbolic(it.extent(), stride, AxisId::M);
        }
        let stride = it.stride().value()?;
        let fault = self.fault(position(k), stride);
        let extent = self.covered(it.extent(), stride, fault)?;
        Iter::symbolic(extent, Int::ONE, AxisId::M)
    }
}

/// `l`, whose positions count elements of `old_bits`, as positions of elements of `new_bits`.
/// Swizzle and offset follow.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, cute, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// // Rows of 64 halves are rows of 32 words.
/// let words = cute::recast(&of("(8,64):(64,1)").view(), 32, 16).unwrap();
/// assert_eq!(words, of("(8,32):(32,1)"));
/// ```
///
/// # Errors
/// [`Error::Recast`] if a stride, the offset or the swizzle has no whole equivalent (swizzles need
/// a ratio that is a power of two); [`Error::BadSwizzle`] if its field would start below bit 0;
/// [`Error::WrongAxis`] off axis `m`; [`Error::HasReplica`]; [`Error::NotIntegral`] for a width of
/// 0.
pub fn recast(l: &LayoutRef<'_>, new_bits: u16, old_bits: u16) -> Result<Layout> {
    let ratio = Ratio::new(new_bits, old_bits)?;
    if l.replica.iter().any(|it| !it.is_unit()) {
        return Err(Error::HasReplica);
    }
    if ratio.num == ratio.den {
        return l.to_owned();
    }
    crate::ops::refuse_other_axes(l.shard, AxisId::M)?;
    let runs = ratio.runs(l.shard)?;
    let mut out = Layout::new();
    let mut iters = l.shard.iter().zip(runs).enumerate();
    for t in &super::tuple::tokens_of(l)? {
        match *t {
            OPEN => out.open()?,
            CLOSE => out.close()?,
            _ => {
                let (k, (it, run)) = iters.next().ok_or(Error::NotCongruent { node: 0 })?;
                out.push_leaf(ratio.iter(k, it, run)?)?;
            }
        }
    }
    for o in l.offset {
        if o.axis() != AxisId::M {
            return Err(Error::HasOffset { axis: o.axis() });
        }
        out.add_offset(ratio.distance(o.value(), 255)?, AxisId::M)?;
    }
    match l.post {
        PostMap::None => {}
        PostMap::Swizzle(s) if s.unit == Unit::Byte => out.set_post(l.post)?,
        PostMap::Swizzle(s) => {
            let power = ratio.num.is_power_of_two() && ratio.den.is_power_of_two();
            let fault = ratio.fault(254, i64::from(s.m));
            let up = i8::try_from(ratio.num.trailing_zeros()).map_err(|_| fault)?;
            let down = i8::try_from(ratio.den.trailing_zeros()).map_err(|_| fault)?;
            if !power {
                return Err(fault);
            }
            let shift = down.checked_sub(up).ok_or(fault)?;
            out.set_post(PostMap::Swizzle(s.rescaled(shift, s.unit)?))?;
        }
        PostMap::Padding(_) | PostMap::SwizzlePadding(..) => return Err(Error::HasPostMap),
    }
    out.view().check()?;
    Ok(out)
}

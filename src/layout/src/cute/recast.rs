//! Recasting: the same storage seen as elements of another width.
//!
//! To narrower elements (down) a stride-1 iter of extent `n` becomes `n * factor` elements, other strides are
//! multiplied. To wider ones (up) strides are divided, and an iter that walks within the wider element shrinks; an
//! element that is partly used counts whole, so `5:1` of 16 bits is `3:1` of 32. A stride that falls between two of
//! the new elements has no answer and is refused (CuTe rounds it).

use crate::axis::AxisId;
use crate::error::{Error, Result};
use crate::layout::{Iter, Layout, LayoutRef, position};
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
        let (num, den) = (
            fits(reduced.coeff())?,
            fits(i64::from(reduced.den().get()))?,
        );
        if num == 0 {
            return Err(Error::NotIntegral { num: 0, den: 0 });
        }
        Ok(Self { num, den })
    }

    fn fault(self, iter: u8, value: i64) -> Error {
        Error::Recast {
            iter,
            value,
            num: self.num,
            den: self.den,
        }
    }

    /// A distance in the new unit, if it is a whole number of elements.
    fn distance(self, value: Int, iter: u8) -> Result<Int> {
        let scaled = value.checked_mul(Int::known(i64::from(self.den)))?;
        scaled
            .div_exact(Int::known(i64::from(self.num)))
            .ok_or_else(|| match scaled.as_known() {
                Some(_) => self.fault(iter, value.coeff()),
                None => scaled.needs_value(Int::known(i64::from(self.num))),
            })
    }

    /// One iter.
    fn iter(self, k: usize, it: &Iter) -> Result<Iter> {
        let fault = self.fault(position(k), it.stride().coeff());
        if it.axis() != AxisId::M {
            return Err(Error::WrongAxis {
                iter: position(k),
                axis: it.axis(),
            });
        }
        let (num, den) = (i64::from(self.num), i64::from(self.den));
        let size = it.stride().as_known().map(i64::unsigned_abs);
        let within = size.is_some_and(|s| s > 0 && u64::from(self.num).checked_rem(s) == Some(0));
        // Walks inside the wider element, or is the contiguous run itself.
        let run = match size {
            Some(1) => Some(1),
            Some(s) if within && self.den == 1 && s < u64::from(self.num) => i64::try_from(s).ok(),
            _ => None,
        };
        let Some(step) = run else {
            return Iter::symbolic(
                it.extent(),
                self.distance(it.stride(), position(k))?,
                AxisId::M,
            );
        };
        let units = it
            .extent()
            .checked_mul(Int::known(step.checked_mul(den).ok_or(Error::Overflow)?))?;
        let extent = match units.div_exact(Int::known(num)) {
            Some(extent) => extent,
            None => {
                let whole = units.value()?.checked_div(num).ok_or(fault)?;
                Int::known(whole.checked_add(1).ok_or(Error::Overflow)?)
            }
        };
        let sign = Int::known(it.stride().coeff().signum());
        Iter::symbolic(extent, sign, AxisId::M)
    }
}

/// `l`, whose positions count elements of `old_bits`, as positions of elements of `new_bits`. Swizzle and offset follow.
///
/// # Errors
/// [`Error::Recast`] if a stride, the offset or the swizzle has no whole equivalent (swizzles need a ratio that is a
/// power of two); [`Error::BadSwizzle`] if its field would start below bit 0; [`Error::WrongAxis`] off axis `m`;
/// [`Error::HasReplica`]; [`Error::NotIntegral`] for a width of 0.
pub fn recast(l: &LayoutRef<'_>, new_bits: u16, old_bits: u16) -> Result<Layout> {
    let ratio = Ratio::new(new_bits, old_bits)?;
    if l.replica.iter().any(|it| !it.is_unit()) {
        return Err(Error::HasReplica);
    }
    if ratio.num == ratio.den {
        return l.to_owned();
    }
    let mut out = Layout::new();
    let mut iters = l.shard.iter().enumerate();
    for t in &super::tuple::tokens_of(l)? {
        match *t {
            OPEN => out.open()?,
            CLOSE => out.close()?,
            _ => {
                let (k, it) = iters.next().ok_or(Error::NotCongruent { node: 0 })?;
                out.push_leaf(ratio.iter(k, it)?)?;
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

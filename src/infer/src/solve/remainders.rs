//! Bases of which several remainders are known: by the Chinese remainder theorem.

use crate::arena::{BaseDigit, DigitTerms, FormArena, FormBase, IndexForm};
use crate::error::{FormError, FormResult};
use crate::solve::Known;
use crate::solve::known::inverse_of;
use crate::subst::too_deep;
use lanebook_layout::order::gcd;

impl FormArena<'_> {
    /// A base of which two remainders are known whose moduli share no divisor and together count as
    /// far as it does: of `i` below 15, if `i % 3` and `i % 5` are. Whether there was one.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    pub(super) fn whole_of_remainders(&mut self, known: &mut Known) -> FormResult<bool> {
        for k in 0..known.len() {
            let Some((one, low)) = known.get(k).copied() else { break };
            for other in 0..k {
                let Some((two, high)) = known.get(other).copied() else { break };
                let is_pair = one.base == two.base && (one.unit, two.unit) == (1, 1);
                if !is_pair || gcd(u64::from(one.extent), u64::from(two.extent)) != 1 {
                    continue;
                }
                let (p, q) = (i64::from(one.extent), i64::from(two.extent));
                let extent = self.extent(one.base)?;
                let all = p.checked_mul(q).ok_or(FormError::Overflow)?;
                let whole = BaseDigit { base: one.base, unit: 1, extent };
                if i64::from(extent) > all || self.known_digit(whole, known)?.is_some() {
                    continue;
                }
                let (Some(of_q), Some(of_p)) = (inverse_of(q, p), inverse_of(p, q)) else {
                    continue;
                };
                let first = q.checked_mul(of_q).ok_or(FormError::Overflow)?;
                let second = p.checked_mul(of_p).ok_or(FormError::Overflow)?;
                let sum = self.scale(low, first)?;
                let sum = self.add_scaled(sum, high, second)?;
                let (_, value) = self.div_rem(sum, all)?;
                known.push((whole, value)).map_err(|_| too_deep())?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A digit of a sum of which a remainder is known: the only one left of it by a divisor of that
    /// and of all other strides. Of `(10 * i + 6 * j) % 15` the remainder by 3 is `i`, that by 5 is
    /// `j`. Whether there was one.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    pub(super) fn digit_of_remainder(&mut self, known: &mut Known) -> FormResult<bool> {
        for k in 0..known.len() {
            let Some((digit, _)) = known.get(k).copied() else { break };
            let FormBase::Sum { form, .. } = self.base(digit.base)? else { continue };
            let (low, reached) = self.low_digits(digit.base, known)?;
            if digit.unit != 1 || reached < 2 {
                continue;
            }
            let mut open = DigitTerms::new();
            let minus = self.left_of(IndexForm::constant(0), form, known, &mut open)?;
            let rest = self.add(low, minus)?;
            for at in 0..open.len() {
                let Some(term) = open.get(at).copied() else { break };
                let others = open.iter().enumerate().filter(|(other, _)| *other != at);
                let divisor =
                    others.fold(u64::from(reached), |g, (_, t)| gcd(g, t.stride.unsigned_abs()));
                let divisor = u32::try_from(divisor).map_err(|_| FormError::Overflow)?;
                if divisor < 2 || open.len() < 2 {
                    continue;
                }
                let found = self.congruent_digit(&term, rest, divisor)?;
                let Some(value) = found else { continue };
                known.push((term.digit, value)).map_err(|_| too_deep())?;
                return Ok(true);
            }
        }
        Ok(false)
    }
}

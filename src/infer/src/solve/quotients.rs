//! Sums of which others are the quotients: what the digits of the one tell of the other.

use crate::arena::{BaseDigit, DigitTerm, FormArena, FormBase, IndexForm};
use crate::error::{FormError, FormResult};
use crate::solve::{Equation, Known};
use crate::subst::too_deep;

/// How many sums of one map are put in the place of their quotients.
const MAX_SCALED: usize = 4;

impl FormArena<'_> {
    /// [`Self::take_apart`] of a map with the quotient of a sum whose remainder is known. As often
    /// as the divisor says, the map has the sum itself in that place, whose digits may be told
    /// apart from the map's others: `3 * (i / 2) + (3 * (i % 2) + j) / 2`, twice, is `3 * i + j` less
    /// the remainder.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    pub(super) fn take_apart_scaled(
        &mut self,
        mut value: IndexForm,
        mut map: IndexForm,
        known: &mut Known,
    ) -> FormResult<bool> {
        for _ in 0..MAX_SCALED {
            let Some((t, form, low)) = self.quotient_of_sum(map, known)? else {
                return Ok(false);
            };
            let unit = i64::from(t.digit.unit);
            let digit = self.digit(t.digit)?;
            map =
                self.add_scaled(map, digit, t.stride.checked_neg().ok_or(FormError::Overflow)?)?;
            map = self.scale(map, unit)?;
            map = self.add_scaled(map, form, t.stride)?;
            value = self.scale(value, unit)?;
            value = self.add_scaled(value, low, t.stride)?;
            if self.take_apart(value, map, known)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The first term of a map that is the quotient of a sum, with the sum and its remainder, if
    /// that is known.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn quotient_of_sum(
        &mut self,
        map: IndexForm,
        known: &Known,
    ) -> FormResult<Option<(DigitTerm, IndexForm, IndexForm)>> {
        for k in 0..map.len {
            let Some(t) = self.term(map, k) else { break };
            let FormBase::Sum { form, .. } = self.base(t.digit.base)? else { continue };
            if t.digit.unit < 2 || !self.is_top(t.digit)? {
                continue;
            }
            let (low, reached) = self.low_digits(t.digit.base, known)?;
            if reached == t.digit.unit {
                return Ok(Some((t, form, low)));
            }
        }
        Ok(None)
    }

    /// A digit of a sum that is the quotient of another sum, of which that digit is known: of
    /// `6 * i + j / 4`, if `24 * i + j` is known from 256 on. Whether there was one.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    pub(super) fn quotient_of_other(&mut self, known: &mut Known) -> FormResult<bool> {
        for k in 0..known.len() {
            let Some((digit, value)) = known.get(k).copied() else { break };
            let FormBase::Sum { form, .. } = self.base(digit.base)? else { continue };
            for other in 0..known.len() {
                let Some((own, _)) = known.get(other).copied() else { break };
                let FormBase::Sum { form: part, .. } = self.base(own.base)? else { continue };
                if own.base == digit.base {
                    continue;
                }
                let Some(by) = self.factor_of(form, part)? else { continue };
                let divides = digit.unit.checked_rem(by) == Some(0);
                let unit = digit.unit.checked_div(by).filter(|unit| divides && *unit > 0);
                let Some(unit) = unit else { continue };
                if self.learn(BaseDigit { base: own.base, unit, ..digit }, value, known)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// A digit of a sum of which another one is the quotient, whose digit is known: of `24 * i + j`,
    /// if `6 * i + j / 4` is. Whether there was one.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    pub(super) fn whole_of_quotient(
        &mut self,
        equations: &[Equation],
        known: &mut Known,
    ) -> FormResult<bool> {
        for (_, map) in equations {
            for base in self.bases_under(&[*map])?.iter().copied() {
                let FormBase::Sum { form, .. } = self.base(base)? else { continue };
                for k in 0..known.len() {
                    let Some((own, value)) = known.get(k).copied() else { break };
                    let FormBase::Sum { form: part, .. } = self.base(own.base)? else { continue };
                    if own.base == base {
                        continue;
                    }
                    let by = self.factor_of(form, part)?;
                    let Some(unit) = by.and_then(|by| own.unit.checked_mul(by)) else { continue };
                    if self.learn(BaseDigit { base, unit, ..own }, value, known)? {
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }

    /// Adds a digit to those that are known, if it is none that they tell; its extent ends where its
    /// base does.
    fn learn(&mut self, digit: BaseDigit, value: IndexForm, known: &mut Known) -> FormResult<bool> {
        let all = self.extent(digit.base)?;
        let extent = digit.extent.min(crate::form::ceil_div(all, digit.unit));
        let digit = BaseDigit { extent, ..digit };
        if extent < 2 || self.known_digit(digit, known)?.is_some() {
            return Ok(false);
        }
        known.push((digit, value)).map_err(|_| too_deep())?;
        Ok(true)
    }

    /// The number by which `whole` divides to `part`, if there is one.
    fn factor_of(&mut self, whole: IndexForm, part: IndexForm) -> FormResult<Option<u32>> {
        let stride = |form| {
            let terms: &[DigitTerm] = self.terms_of(form);
            terms.iter().map(|t| t.stride).max().unwrap_or(0)
        };
        let Some(by) = stride(whole).checked_div(stride(part)).filter(|by| *by > 1) else {
            return self.unit_between(whole, part);
        };
        let rest = self.add_scaled(whole, part, by.wrapping_neg())?;
        let (low, high) = self.range(rest)?;
        let number = u32::try_from(by).map_err(|_| FormError::Overflow)?;
        let (quotient, _) = self.div_rem(whole, by)?;
        let divides = low >= 0 && high < by || self.same(quotient, part);
        Ok(divides.then_some(number))
    }

    /// [`Self::factor_of`] of digits of one base, as `i % 12` divides by 2 to `i / 2 % 6`.
    fn unit_between(&mut self, whole: IndexForm, part: IndexForm) -> FormResult<Option<u32>> {
        let (Some(top), Some(own)) = (self.term(whole, 0), self.term(part, 0)) else {
            return Ok(None);
        };
        let by = own.digit.unit.checked_div(top.digit.unit).filter(|by| *by > 1);
        let Some(by) = by.filter(|_| top.digit.base == own.digit.base) else { return Ok(None) };
        let (quotient, _) = self.div_rem(whole, i64::from(by))?;
        Ok(self.same(quotient, part).then_some(by))
    }
}

//! What is known of a base by digits of it that are known: parts of one, several together, the whole.

use crate::arena::{
    BaseDigit, BaseId, DigitTerm, DigitTerms, FormArena, FormBase, IndexForm, VarRole,
};
use crate::error::{FormError, FormResult};
use crate::solve::{Free, Known, MAX_FREE};
use crate::subst::too_deep;
use lanebook_layout::order::gcd;

impl FormArena<'_> {
    /// A digit from digits that are known: part of one, several together, or of the whole base.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    pub(super) fn known_digit(
        &mut self,
        digit: BaseDigit,
        known: &Known,
    ) -> FormResult<Option<IndexForm>> {
        for (k, form) in known.iter().filter(|k| k.0.base == digit.base) {
            // A digit of a remainder is one of the base if the modulus divides by its reach.
            let steps = digit.unit.checked_div(k.unit).unwrap_or(0);
            let span = steps.saturating_mul(digit.extent).max(1);
            let whole = k.extent.checked_rem(span) == Some(0) && steps > 0;
            let inside = k.unit <= digit.unit
                && digit.unit.checked_rem(k.unit) == Some(0)
                && (k == &digit || whole || self.is_top(*k)?);
            if inside {
                let unit = digit.unit.checked_div(k.unit).unwrap_or(1);
                let same = k.unit == digit.unit && k.extent == digit.extent;
                let top = same || self.is_top(digit)?;
                let extent = if top { None } else { Some(digit.extent) };
                return self.digit_of(*form, unit, extent).map(Some);
            }
        }
        let extent = if self.is_top(digit)? { None } else { Some(digit.extent) };
        if let Some(whole) = self.assemble(digit.base, known, None)? {
            return self.digit_of(whole, digit.unit, extent).map(Some);
        }
        let (low, reached) = self.digits_from(digit.base, digit.unit, known)?;
        if reached.checked_rem(digit.extent) != Some(0) {
            return Ok(None);
        }
        self.digit_of(low, 1, Some(digit.extent)).map(Some)
    }

    /// What a derived base is if all its parts are known.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    pub(super) fn value_of_known(
        &mut self,
        base: FormBase,
        known: &Known,
    ) -> FormResult<Option<IndexForm>> {
        match base {
            FormBase::Var { .. } => Ok(None),
            FormBase::Sum { form, .. } => self.known_map(form, known),
            FormBase::Op { op, a, b, min, .. } => {
                let (Some(a), Some(b)) = (self.known_map(a, known)?, self.known_map(b, known)?)
                else {
                    return Ok(None);
                };
                let value = self.op(op, a, b)?;
                self.add_scaled(value, IndexForm::constant(min), -1).map(Some)
            }
            FormBase::Parity { form } => {
                let mut value = IndexForm::constant(0);
                for k in 0..form.len {
                    let Some(t) = self.term(form, k) else { break };
                    let Some(digit) = self.known_digit(t.digit, known)? else { return Ok(None) };
                    value = self.xor(value, digit)?;
                }
                Ok(Some(value))
            }
        }
    }

    /// A map of digits that are known.
    #[inline(never)] // Its buffers leave the stack before the operation on such maps begins.
    pub(super) fn known_map(
        &mut self,
        map: IndexForm,
        known: &Known,
    ) -> FormResult<Option<IndexForm>> {
        let mut open = DigitTerms::new();
        let minus = self.left_of(IndexForm::constant(0), map, known, &mut open)?;
        if open.is_empty() { self.scale(minus, -1).map(Some) } else { Ok(None) }
    }

    /// The value of a sum from its digits. Digits below `m` suffice if the sum has at most `m`
    /// values in a row.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    pub(super) fn sum_value(
        &mut self,
        base: BaseId,
        min: u32,
        extent: u32,
        known: &Known,
    ) -> FormResult<Option<IndexForm>> {
        if let Some(form) = self.assemble(base, known, None)? {
            return Ok(Some(form));
        }
        let (low, reached) = self.low_digits(base, known)?;
        if reached < extent.saturating_sub(min).max(1) {
            return self.turned_sum(base, (low, reached), known);
        }
        let from_min = self.add_scaled(low, IndexForm::constant(i64::from(min)), -1)?;
        let turned = self.div_rem(from_min, i64::from(reached))?.1;
        self.add(turned, IndexForm::constant(i64::from(min))).map(Some)
    }

    /// [`Self::sum_value`] where what is not known of the sum has at most as many values in a row as
    /// the digits below tell apart.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn turned_sum(
        &mut self,
        base: BaseId,
        (low, reached): (IndexForm, u32),
        known: &Known,
    ) -> FormResult<Option<IndexForm>> {
        let FormBase::Sum { form, .. } = self.base(base)? else { return Ok(None) };
        let mut open = DigitTerms::new();
        let minus = self.left_of(IndexForm::constant(0), form, known, &mut open)?;
        let (least, last) = self.range_of(&open, 0)?;
        let count = last.checked_sub(least).ok_or(FormError::Overflow)?;
        let rest = self.add(low, minus)?;
        if count >= i64::from(reached) {
            let Some(value) = self.congruent(&open, rest, reached)? else { return Ok(None) };
            return self.add_scaled(value, minus, -1).map(Some);
        }
        let from_least = self.add_scaled(rest, IndexForm::constant(least), -1)?;
        let turned = self.div_rem(from_least, i64::from(reached))?.1;
        let rest = self.add(turned, IndexForm::constant(least))?;
        self.add_scaled(rest, minus, -1).map(Some)
    }

    /// What the one digit that is not known adds to a sum, of which the remainder by `modulus` is
    /// `rest`: of `6 * r` by 64 what `rest / 2` times 11 is by 32. `None` if several of its values
    /// have that remainder.
    fn congruent(
        &mut self,
        open: &DigitTerms,
        rest: IndexForm,
        modulus: u32,
    ) -> FormResult<Option<IndexForm>> {
        let [term] = open.as_slice() else { return Ok(None) };
        let Some(digit) = self.congruent_digit(term, rest, modulus)? else { return Ok(None) };
        self.scale(digit, term.stride).map(Some)
    }

    /// The digit itself.
    pub(super) fn congruent_digit(
        &mut self,
        term: &DigitTerm,
        rest: IndexForm,
        modulus: u32,
    ) -> FormResult<Option<IndexForm>> {
        let common = gcd(term.stride.unsigned_abs(), u64::from(modulus));
        let common = i64::try_from(common).map_err(|_| FormError::Overflow)?;
        let values = i64::from(modulus).checked_div(common).unwrap_or(0);
        let stride = term.stride.checked_div(common).unwrap_or(0);
        if i64::from(term.digit.extent) > values {
            return Ok(None);
        }
        let Some(inverse) = inverse_of(stride, values) else { return Ok(None) };
        let (quotient, _) = self.div_rem(rest, common)?;
        let digit = self.scale(quotient, inverse)?;
        let (_, digit) = self.div_rem(digit, values)?;
        Ok(Some(digit))
    }

    /// The sum of the known digits of a base from the lowest up without a gap, and how far it goes.
    pub(super) fn low_digits(
        &mut self,
        base: BaseId,
        known: &Known,
    ) -> FormResult<(IndexForm, u32)> {
        self.digits_from(base, 1, known)
    }

    /// The sum of the known digits of a base from a unit up without a gap, in that unit, and how many
    /// values it has.
    fn digits_from(
        &mut self,
        base: BaseId,
        first: u32,
        known: &Known,
    ) -> FormResult<(IndexForm, u32)> {
        let mut out = IndexForm::constant(0);
        let mut values = 1u32;
        let mut unit = first;
        while let Some((digit, form)) = longest(base, unit, known).filter(|one| one.0.extent > 1) {
            out = self.add_scaled(out, form, i64::from(values))?;
            values = values.checked_mul(digit.extent).ok_or(FormError::Overflow)?;
            unit = first.checked_mul(values).ok_or(FormError::Overflow)?;
        }
        Ok((out, values))
    }

    /// The base from its known digits. Gaps become new variables of `free`, or there is no answer.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    pub(super) fn assemble(
        &mut self,
        base: BaseId,
        known: &Known,
        mut free: Option<&mut heapless::Vec<Free, MAX_FREE>>,
    ) -> FormResult<Option<IndexForm>> {
        let extent = self.extent(base)?;
        let mut out = IndexForm::constant(0);
        let mut unit = 1u32;
        while unit < extent {
            if let Some((digit, form)) = longest(base, unit, known) {
                out = self.add_scaled(out, form, i64::from(unit))?;
                unit = unit.saturating_mul(digit.extent.max(2));
                continue;
            }
            let Some(free) = free.as_deref_mut() else {
                return Ok(None);
            };
            let above = known
                .iter()
                .filter(|k| k.0.base == base && k.0.unit > unit)
                .filter(|k| k.0.unit.checked_rem(unit) == Some(0))
                .map(|k| k.0.unit)
                .min();
            let top = crate::form::ceil_div(extent, unit);
            let gap = above.and_then(|a| a.checked_div(unit)).map_or(top, |g| g.min(top));
            let var = self.var(gap, VarRole::Copy)?;
            let digit = BaseDigit { base, unit, extent: gap };
            free.push(Free { digit, var }).map_err(|_| too_deep())?;
            let digit = self.whole(var)?;
            out = self.add_scaled(out, digit, i64::from(unit))?;
            unit = unit.saturating_mul(gap.max(2));
        }
        Ok(Some(out))
    }
}

/// The number by which one has to multiply to undo a multiplication by `factor`, of remainders by
/// `modulus`, with which it has no divisor in common: Euclid's algorithm, extended.
pub(super) fn inverse_of(factor: i64, modulus: i64) -> Option<i64> {
    let (mut last, mut rest) = (modulus, factor.checked_rem_euclid(modulus)?);
    let (mut before, mut times) = (0i64, 1i64);
    while rest > 1 {
        let quotient = last.checked_div(rest)?;
        (last, rest) = (rest, last.checked_rem(rest)?);
        (before, times) = (times, before.checked_sub(quotient.checked_mul(times)?)?);
    }
    times.checked_rem_euclid(modulus)
}

/// The longest known digit of a base with this unit.
pub(super) fn longest(base: BaseId, unit: u32, known: &Known) -> Option<(BaseDigit, IndexForm)> {
    let own = known.iter().filter(|k| k.0.base == base && k.0.unit == unit);
    own.max_by_key(|k| k.0.extent).copied()
}

#[cfg(test)]
mod tests {
    use super::inverse_of;

    #[test]
    fn what_undoes_a_multiplication_does() {
        for modulus in 1..80i64 {
            for factor in -80..80i64 {
                let coprime =
                    lanebook_layout::order::gcd(factor.unsigned_abs(), modulus.unsigned_abs()) == 1;
                let Some(inverse) = inverse_of(factor, modulus).filter(|_| coprime) else {
                    assert!(!coprime || modulus == 1, "{factor} by {modulus}");
                    continue;
                };
                assert_eq!(
                    (factor * inverse).rem_euclid(modulus),
                    1 % modulus,
                    "{factor} by {modulus}"
                );
            }
        }
    }
}

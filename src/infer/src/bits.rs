//! Index maps bit by bit: exclusive or, and masks.

use crate::arena::{
    BaseDigit, DigitTerm, DigitTerms, FormArena, FormBase, FormOp, IndexForm, too_many,
};
use crate::error::{FormError, FormResult};
use crate::form::sort;
use crate::pool::take_out;

/// Bits of a map that is worked on bit by bit.
const MAX_BITS: u32 = 32;

/// Bits, each the parity of digits.
#[derive(Debug, Default)]
struct ParityBits {
    /// Digits with the bit that they move.
    digits: heapless::Vec<(u32, BaseDigit), 40>,
    /// Bits that are turned over.
    flips: u64,
}

impl ParityBits {
    /// Adds a digit to a bit; the same one twice is none. False if there are too many.
    fn toggle(&mut self, place: u32, digit: BaseDigit) -> bool {
        match self.digits.iter().position(|d| *d == (place, digit)) {
            Some(at) => {
                take_out(&mut self.digits, at);
                true
            }
            None => self.digits.push((place, digit)).is_ok(),
        }
    }

    fn flips(&self, place: u32) -> bool {
        self.flips & bit(place) != 0
    }
}

fn bit(place: u32) -> u64 {
    1u64.wrapping_shl(place)
}

#[doc(hidden)]
impl FormArena<'_> {
    /// The bits of two maps that only one has: of powers of two whose bits do not meet, as a sum of
    /// parities; of others as a base of its own.
    ///
    /// # Errors
    /// [`FormError::Full`], [`FormError::Overflow`].
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    pub fn xor(&mut self, a: IndexForm, b: IndexForm) -> FormResult<IndexForm> {
        let mut both = ParityBits::default();
        if !self.add_bits(a, &mut both)? || !self.add_bits(b, &mut both)? {
            return self.derived(FormOp::Xor, a, b);
        }
        let mut terms = DigitTerms::new();
        let mut constant = 0i64;
        for place in 0..MAX_BITS {
            let weight = 1i64.checked_shl(place).ok_or(FormError::Overflow)?;
            if both.flips(place) {
                constant = constant.checked_add(weight).ok_or(FormError::Overflow)?;
            }
            let Some(digit) = self.parity_digit(&both, place)? else { continue };
            let stride = if both.flips(place) { weight.saturating_neg() } else { weight };
            terms.push(DigitTerm { stride, digit }).map_err(|_| too_many())?;
        }
        self.finish(&mut terms, constant)
    }

    /// The digit that is the parity of a bit's digits; `None` if it has none.
    fn parity_digit(&mut self, bits: &ParityBits, place: u32) -> FormResult<Option<BaseDigit>> {
        let mut digits = DigitTerms::new();
        for (_, digit) in bits.digits.iter().filter(|d| d.0 == place) {
            let t = DigitTerm { stride: 1, digit: *digit };
            digits.push(t).map_err(|_| too_many())?;
        }
        if let [] | [_] = digits.as_slice() {
            return Ok(digits.first().map(|t| t.digit));
        }
        sort(&mut digits);
        let form = self.store(&digits, 0)?;
        let base = self.intern(FormBase::Parity { form })?;
        Ok(Some(BaseDigit { base, unit: 1, extent: 2 }))
    }

    /// The bits of `a` that the constant `mask` has.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    pub(crate) fn masked(&mut self, a: IndexForm, mask: IndexForm) -> FormResult<IndexForm> {
        let mut bits = ParityBits::default();
        if mask.constant < 0 || !self.add_bits(a, &mut bits)? {
            return self.derived(FormOp::And, a, mask);
        }
        let mut terms = DigitTerms::new();
        let mut constant = 0i64;
        for place in 0..MAX_BITS {
            let weight = 1i64.checked_shl(place).ok_or(FormError::Overflow)?;
            if mask.constant & weight == 0 {
                continue;
            }
            if bits.flips(place) {
                constant = constant.checked_add(weight).ok_or(FormError::Overflow)?;
            }
            let Some(digit) = self.parity_digit(&bits, place)? else { continue };
            let stride = if bits.flips(place) { weight.saturating_neg() } else { weight };
            terms.push(DigitTerm { stride, digit }).map_err(|_| too_many())?;
        }
        self.finish(&mut terms, constant)
    }

    /// Adds the bits of a map whose terms are powers of two that do not meet; false of another.
    fn add_bits(&self, form: IndexForm, into: &mut ParityBits) -> FormResult<bool> {
        let Ok(flips) = u64::try_from(form.constant) else { return Ok(false) };
        if flips >= bit(MAX_BITS) {
            return Ok(false);
        }
        let mut taken = 0u64;
        for t in self.terms_of(form) {
            // `2^n - 1 - x` turns the bits of `x` over: strides below 0 on a constant's bits.
            let turned = t.stride < 0;
            let even = t.digit.extent.is_power_of_two() || self.is_top(t.digit)?;
            if !t.stride.unsigned_abs().is_power_of_two() || !even {
                return Ok(false);
            }
            let count = t.digit.extent.saturating_sub(1).checked_ilog2().unwrap_or(0);
            for k in 0..=count {
                let place = t.stride.trailing_zeros().saturating_add(k);
                let own = if place < MAX_BITS { bit(place) } else { 0 };
                let meets = taken & own != 0 || (flips & own != 0) != turned;
                if own == 0 || meets {
                    return Ok(false);
                }
                taken |= own;
                let unit = t.digit.unit.checked_shl(k).ok_or(FormError::Overflow)?;
                let digit = BaseDigit { base: t.digit.base, unit, extent: 2 };
                if !self.toggle_digit(place, digit, into)? {
                    return Ok(false);
                }
            }
        }
        into.flips ^= flips;
        Ok(true)
    }

    /// Adds a digit, or those of its parity; false if there are too many.
    fn toggle_digit(
        &self,
        place: u32,
        digit: BaseDigit,
        into: &mut ParityBits,
    ) -> FormResult<bool> {
        let FormBase::Parity { form } = self.base(digit.base)? else {
            return Ok(into.toggle(place, digit));
        };
        Ok(self.terms_of(form).iter().all(|t| into.toggle(place, t.digit)))
    }
}

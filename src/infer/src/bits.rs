//! Index maps bit by bit: exclusive or, and masks.

use crate::arena::{
    BaseDigit, DigitTerm, DigitTerms, FormArena, FormBase, FormOp, IndexForm, too_many,
};
use crate::error::{FormError, FormResult};
use crate::form::sort;
use crate::pool::take_out;
use lanebook_layout::Swizzle;

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
    pub fn xor(&mut self, a: IndexForm, b: IndexForm) -> FormResult<IndexForm> {
        match self.xor_of_bits(a, b)? {
            Some(form) => Ok(form),
            None => self.xor_below(a, b),
        }
    }

    /// The same of maps all of whose bits are apart.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn xor_of_bits(&mut self, a: IndexForm, b: IndexForm) -> FormResult<Option<IndexForm>> {
        let mut both = ParityBits::default();
        match self.add_bits(a, &mut both)? && self.add_bits(b, &mut both)? {
            true => self.parities(&both).map(Some),
            false => Ok(None),
        }
    }

    /// The same of maps whose bits are not all apart: what lies above all bits of the smaller one
    /// stays as it is.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn xor_below(&mut self, a: IndexForm, b: IndexForm) -> FormResult<IndexForm> {
        let ((low_a, high_a), (low_b, high_b)) = (self.range(a)?, self.range(b)?);
        if low_a < 0 || low_b < 0 {
            return self.derived(FormOp::Xor, a, b);
        }
        let (great, small, most) = if high_a < high_b { (b, a, high_a) } else { (a, b, high_b) };
        let above = u64::try_from(most).ok().and_then(|n| n.checked_add(1));
        let unit = above.and_then(u64::checked_next_power_of_two);
        let unit = unit.and_then(|unit| i64::try_from(unit).ok()).ok_or(FormError::Overflow)?;
        // Digits of the sum itself: those of its parts could carry into each other.
        let great = match self.terms_of(great).len() > 1 {
            true => {
                let base = self.sum_base(great)?;
                let extent = self.extent(base)?;
                let digit = BaseDigit { base, unit: 1, extent };
                self.store(&[DigitTerm { stride: 1, digit }], 0)?
            }
            false => great,
        };
        let (high, low) = self.div_rem(great, unit)?;
        let mixed = match self.xor_of_bits(low, small)? {
            Some(mixed) => mixed,
            None => self.derived(FormOp::Xor, low, small)?,
        };
        self.add_scaled(mixed, high, unit)
    }

    /// The sum of bits, each the parity of its digits.
    fn parities(&mut self, both: &ParityBits) -> FormResult<IndexForm> {
        let mut terms = DigitTerms::new();
        let mut constant = 0i64;
        for place in 0..MAX_BITS {
            let weight = 1i64.checked_shl(place).ok_or(FormError::Overflow)?;
            if both.flips(place) {
                constant = constant.checked_add(weight).ok_or(FormError::Overflow)?;
            }
            let Some(digit) = self.parity_digit(both, place)? else { continue };
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

    /// Where the byte at an address goes by a swizzle that counts bytes and takes its bits from above
    /// those that it changes.
    ///
    /// What lies below the bits that change, and above them, stays a sum, so that neighbours stay
    /// neighbours; a number in the bits that change stays apart from what a thread has there.
    ///
    /// # Errors
    /// [`FormError::Full`], [`FormError::Overflow`], also for a swizzle that takes its bits from below.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    pub fn swizzled(&mut self, bytes: IndexForm, by: Swizzle) -> FormResult<IndexForm> {
        let power = |bits: u8| 1i64.checked_shl(u32::from(bits)).ok_or(FormError::Overflow);
        let far = u8::try_from(by.s).map_err(|_| FormError::Overflow)?;
        let (pieces, low) = self.div_rem(bytes, power(by.m)?)?;
        let (high, own) = self.div_rem(pieces, power(by.b)?)?;
        let (above, _) = self.div_rem(pieces, power(far)?)?;
        let (_, key) = self.div_rem(above, power(by.b)?)?;
        let mixed = match key.is_constant() && key.constant == 0 {
            true => own,
            false => self.mixed(own, key)?,
        };
        let place = self.add_scaled(low, mixed, power(by.m)?)?;
        self.add_scaled(place, high, power(by.m.saturating_add(by.b))?)
    }

    /// The exclusive or of two maps below the same power of two, as one base of what varies and one
    /// more with the number.
    fn mixed(&mut self, a: IndexForm, b: IndexForm) -> FormResult<IndexForm> {
        let number = a.constant ^ b.constant;
        let (a_apart, b_apart) = (self.is_apart(a)?, self.is_apart(b)?);
        let plain = |form: IndexForm| IndexForm { constant: 0, ..form };
        if !a_apart || !b_apart {
            return self.derived(FormOp::Xor, a, b);
        }
        let both = match (a.is_constant(), b.is_constant()) {
            (true, true) => return Ok(IndexForm::constant(number)),
            (true, false) => plain(b),
            (false, true) => plain(a),
            (false, false) => self.derived(FormOp::Xor, plain(a), plain(b))?,
        };
        match number {
            0 => Ok(both),
            number => self.derived(FormOp::Xor, both, IndexForm::constant(number)),
        }
    }

    /// Whether no bit of a map's number is one of its terms'.
    fn is_apart(&self, form: IndexForm) -> FormResult<bool> {
        let mut taken = 0u64;
        for t in self.terms_of(form) {
            let Ok(stride) = u64::try_from(t.stride) else { return Ok(false) };
            let last = u64::from(t.digit.extent.saturating_sub(1));
            let most = stride.checked_mul(last).ok_or(FormError::Overflow)?;
            // All bits from the lowest that the stride has to the highest that the sum may have.
            let above = u64::MAX.checked_shr(most.leading_zeros()).unwrap_or(0);
            let own = above & u64::MAX.checked_shl(stride.trailing_zeros()).unwrap_or(0);
            if taken & own != 0 {
                return Ok(false);
            }
            taken |= own;
        }
        Ok(u64::try_from(form.constant).is_ok_and(|number| number & taken == 0))
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

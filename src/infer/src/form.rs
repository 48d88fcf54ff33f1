//! Arithmetic of index maps: sums, products with numbers, quotients, remainders, and bits.
//!
//! A division splits digits where the divisor falls between two of them: `(16 * i + j) / 4` is
//! `4 * i + j / 4`. Where it falls inside a sum that no split serves, `(14 * i + j) / 4`, the sum
//! is kept as a base of its own and digits of that are taken. So every map has a form; nothing is
//! searched for.

use crate::arena::{
    BaseDigit, BaseId, DigitTerm, DigitTerms, FormArena, FormBase, FormOp, IndexForm, floor_div,
    too_many,
};
use crate::error::{FormError, FormResult};
use crate::pool::take_out;
use lanebook_layout::order::{gcd, sort_by};

/// The greatest index.
const MAX_INDEX: i64 = (1 << 31) - 1;

/// Most products of digits that a product of maps is taken apart into.
const MAX_FACTORS: usize = 16;

/// Which of the two that a division gives.
#[derive(Copy, Clone, PartialEq, Eq)]
enum DivisionPart {
    Quotient,
    Rest,
}

impl DivisionPart {
    /// Takes a term of one of the two, if it is this one.
    fn push(self, of: Self, term: DigitTerm, out: &mut DigitTerms) -> FormResult<()> {
        match self == of {
            true => out.push(term).map_err(|_| too_many()),
            false => Ok(()),
        }
    }
}

/// `a / b`, rounded up, of positive numbers.
pub(crate) fn ceil_div(a: u32, b: u32) -> u32 {
    a.div_ceil(b.max(1))
}

#[doc(hidden)]
impl FormArena<'_> {
    /// The base itself as a map.
    pub fn whole(&mut self, base: BaseId) -> FormResult<IndexForm> {
        let extent = self.extent(base)?;
        self.digit(BaseDigit { base, unit: 1, extent })
    }

    /// A digit as a map.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    pub fn digit(&mut self, digit: BaseDigit) -> FormResult<IndexForm> {
        let mut terms = DigitTerms::new();
        let _ = terms.push(DigitTerm { stride: 1, digit });
        self.finish(&mut terms, 0)
    }

    /// The sum of two maps.
    pub fn add(&mut self, a: IndexForm, b: IndexForm) -> FormResult<IndexForm> {
        self.add_scaled(a, b, 1)
    }

    /// `a + k * b`.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    pub fn add_scaled(&mut self, a: IndexForm, b: IndexForm, k: i64) -> FormResult<IndexForm> {
        let constant = b
            .constant
            .checked_mul(k)
            .and_then(|c| c.checked_add(a.constant))
            .ok_or(FormError::Overflow)?;
        if b.is_constant() || k == 0 {
            return Ok(IndexForm { constant, ..a });
        }
        let mut terms = DigitTerms::new();
        terms.extend_from_slice(self.terms_of(a)).map_err(|_| too_many())?;
        for t in self.terms_of(b) {
            let stride = t.stride.checked_mul(k).ok_or(FormError::Overflow)?;
            terms.push(DigitTerm { stride, ..*t }).map_err(|_| too_many())?;
        }
        self.finish(&mut terms, constant)
    }

    /// `k * a`.
    pub fn scale(&mut self, a: IndexForm, k: i64) -> FormResult<IndexForm> {
        if k == 1 {
            return Ok(a);
        }
        self.add_scaled(IndexForm::constant(0), a, k)
    }

    /// The least and the greatest value that the map may have, exact where its digits are
    /// independent.
    pub fn range(&self, form: IndexForm) -> FormResult<(i64, i64)> {
        self.range_of(self.terms_of(form), form.constant)
    }

    pub(crate) fn range_of(&self, terms: &[DigitTerm], constant: i64) -> FormResult<(i64, i64)> {
        let (mut low, mut high) = (constant, constant);
        for t in terms {
            let base = self.base(t.digit.base)?;
            let least = if t.digit.unit == 1 && t.digit.extent >= base.extent() {
                i64::from(base.min())
            } else {
                0
            };
            let last = i64::from(t.digit.extent.saturating_sub(1));
            let a = t.stride.checked_mul(least).ok_or(FormError::Overflow)?;
            let b = t.stride.checked_mul(last).ok_or(FormError::Overflow)?;
            low = low.checked_add(a.min(b)).ok_or(FormError::Overflow)?;
            high = high.checked_add(a.max(b)).ok_or(FormError::Overflow)?;
        }
        // A quotient and what is carried into it are one quotient, which is less than both at most.
        let mut joined = 0u32;
        for carry in terms {
            let Some((quotient, least, less)) = self.carried_into(terms, carry)? else { continue };
            let bit = 1u32.checked_shl(quotient).unwrap_or(u32::MAX);
            if joined & bit != 0 {
                continue;
            }
            joined |= bit;
            let a = carry.stride.checked_mul(least).ok_or(FormError::Overflow)?;
            let b = carry.stride.checked_mul(less).ok_or(FormError::Overflow)?;
            let (up, down) = if carry.stride > 0 { (a, b) } else { (b, a) };
            low = low.checked_add(up.abs()).ok_or(FormError::Overflow)?;
            high = high.checked_sub(down.abs()).ok_or(FormError::Overflow)?;
        }
        Ok((low, high))
    }

    /// Where `(x % d + c) / d` is a term, and `x / d` another one with its stride, which makes
    /// `(x + c) / d`: where that is, how much the two are together at the least, and how much less
    /// than the greatest of each.
    fn carried_into(
        &self,
        terms: &[DigitTerm],
        carry: &DigitTerm,
    ) -> FormResult<Option<(u32, i64, i64)>> {
        let FormBase::Sum { form, .. } = self.base(carry.digit.base)? else { return Ok(None) };
        let [low] = self.terms_of(form) else { return Ok(None) };
        let by = low.digit.extent;
        if low.stride != 1 || carry.digit.unit != by || !self.is_top(carry.digit)? {
            return Ok(None);
        }
        let unit = low.digit.unit.checked_mul(by).ok_or(FormError::Overflow)?;
        for (at, term) in (0u32..).zip(terms) {
            let is_above = (term.stride, term.digit.base, term.digit.unit)
                == (carry.stride, low.digit.base, unit);
            if !is_above || !self.is_top(term.digit)? {
                continue;
            }
            let all = self.extent(low.digit.base)?.saturating_sub(1);
            let greatest = i64::from(all.checked_div(low.digit.unit).unwrap_or(all));
            let sum = greatest.checked_add(form.constant).ok_or(FormError::Overflow)?;
            let both = floor_div(sum, i64::from(by))?;
            let apart = i64::from(term.digit.extent.saturating_sub(1))
                .checked_add(i64::from(carry.digit.extent.saturating_sub(1)))
                .ok_or(FormError::Overflow)?;
            let least = floor_div(form.constant, i64::from(by))?.max(0);
            return Ok(Some((at, least, apart.saturating_sub(both).max(0))));
        }
        Ok(None)
    }

    /// Whether the digit reaches the top of its base, so that it is a quotient alone.
    pub fn is_top(&self, digit: BaseDigit) -> FormResult<bool> {
        let all = u64::from(digit.unit).saturating_mul(u64::from(digit.extent));
        Ok(all >= u64::from(self.extent(digit.base)?))
    }

    /// Brings terms to canonical form and stores them.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    pub(crate) fn finish(
        &mut self,
        terms: &mut DigitTerms,
        constant: i64,
    ) -> FormResult<IndexForm> {
        let mut sum = constant;
        self.canonical(terms)?;
        while let Some(more) = self.open_sum(terms)? {
            sum = sum.checked_add(more).ok_or(FormError::Overflow)?;
            self.canonical(terms)?;
        }
        self.store(terms, sum)
    }

    /// Puts the terms of a sum in the place of the whole of it, so that what its digits join to
    /// joins with others; the number that comes with them. `None` where there is no such term.
    #[inline(never)] // Beside what brings terms to canonical form, not below it.
    fn open_sum(&self, terms: &mut DigitTerms) -> FormResult<Option<i64>> {
        for at in 0..terms.len() {
            let Some(term) = terms.get(at).copied() else { break };
            let base = self.base(term.digit.base)?;
            let FormBase::Sum { form, .. } = base else { continue };
            let count = terms.len().saturating_add(usize::from(form.len));
            if term.digit.unit != 1 || !self.is_top(term.digit)? || count > terms.capacity() {
                continue;
            }
            take_out(terms, at);
            for own in self.terms_of(form) {
                let stride = own.stride.checked_mul(term.stride).ok_or(FormError::Overflow)?;
                terms.push(DigitTerm { stride, ..*own }).map_err(|_| too_many())?;
            }
            let more = form.constant.checked_mul(term.stride);
            return more.map(Some).ok_or(FormError::Overflow);
        }
        Ok(None)
    }

    #[inline(never)] // Its buffers leave the stack before the next step begins.
    pub(crate) fn canonical(&self, terms: &mut DigitTerms) -> FormResult<()> {
        for t in terms.iter_mut() {
            let whole = self.extent(t.digit.base)?;
            t.digit.extent = t.digit.extent.min(ceil_div(whole, t.digit.unit));
        }
        terms.retain(|t| t.stride != 0 && t.digit.extent > 1);
        sort(terms);
        self.disjoin(terms)?;
        terms.retain(|t| t.stride != 0);
        self.join(terms)
    }

    /// Splits digits of one base that overlap, and adds those that are the same.
    fn disjoin(&self, terms: &mut DigitTerms) -> FormResult<()> {
        let mut k = 0;
        while let (Some(a), Some(b)) = (terms.get(k), terms.get(k.saturating_add(1))) {
            let (a, b) = (*a, *b);
            let end = u64::from(a.digit.unit).saturating_mul(u64::from(a.digit.extent));
            let apart = a.digit.base != b.digit.base || u64::from(b.digit.unit) >= end;
            let next = k.saturating_add(1);
            if apart {
                k = next;
                continue;
            }
            if a.digit == b.digit {
                let stride = a.stride.checked_add(b.stride).ok_or(FormError::Overflow)?;
                if let Some(t) = terms.get_mut(k) {
                    t.stride = stride;
                }
                take_out(terms, next);
                continue;
            }
            // The lower begins first, or both begin together and the first is the shorter.
            let (at, cut) = if a.digit.unit == b.digit.unit {
                (next, a.digit.extent)
            } else {
                let fits = b.digit.unit.checked_rem(a.digit.unit) == Some(0);
                (k, if fits { b.digit.unit.checked_div(a.digit.unit).unwrap_or(0) } else { 0 })
            };
            let whole = if at == k { a } else { b };
            match self.split(whole, cut)? {
                Some((low, high)) => {
                    if let Some(t) = terms.get_mut(at) {
                        *t = low;
                    }
                    terms.push(high).map_err(|_| too_many())?;
                    sort(terms);
                }
                None => k = next,
            }
        }
        Ok(())
    }

    /// A term as that of its lower `cut` values and the rest, if the digit splits there.
    pub(crate) fn split(
        &self,
        t: DigitTerm,
        cut: u32,
    ) -> FormResult<Option<(DigitTerm, DigitTerm)>> {
        let BaseDigit { base, unit, extent } = t.digit;
        if cut <= 1 || cut >= extent {
            return Ok(None);
        }
        let even = extent.checked_rem(cut) == Some(0);
        if !even && !self.is_top(t.digit)? {
            return Ok(None);
        }
        let stride = t.stride.checked_mul(i64::from(cut)).ok_or(FormError::Overflow)?;
        let above = unit.checked_mul(cut).ok_or(FormError::Overflow)?;
        let low = DigitTerm { stride: t.stride, digit: BaseDigit { base, unit, extent: cut } };
        let high = BaseDigit { base, unit: above, extent: ceil_div(extent, cut) };
        Ok(Some((low, DigitTerm { stride, digit: high })))
    }

    /// Joins neighbouring digits whose strides continue each other.
    fn join(&self, terms: &mut DigitTerms) -> FormResult<()> {
        let mut k = 0;
        while let (Some(a), Some(b)) = (terms.get(k), terms.get(k.saturating_add(1))) {
            let (a, b) = (*a, *b);
            let next = k.saturating_add(1);
            let reach = a.digit.unit.checked_mul(a.digit.extent);
            let on = a.stride.checked_mul(i64::from(a.digit.extent)) == Some(b.stride);
            if a.digit.base == b.digit.base && reach == Some(b.digit.unit) && on {
                let whole = self.extent(a.digit.base)?;
                let both = a.digit.extent.checked_mul(b.digit.extent).ok_or(FormError::Overflow)?;
                if let Some(t) = terms.get_mut(k) {
                    t.digit.extent = both.min(ceil_div(whole, a.digit.unit));
                }
                take_out(terms, next);
            } else {
                k = next;
            }
        }
        Ok(())
    }

    /// Quotient and remainder by a positive number, toward minus infinity.
    ///
    /// # Errors
    /// [`FormError::Divisor`]; [`FormError::Full`], [`FormError::Overflow`].
    pub fn div_rem(&mut self, form: IndexForm, d: i64) -> FormResult<(IndexForm, IndexForm)> {
        if d <= 0 {
            return Err(FormError::Divisor { found: d });
        }
        match self.div_rem_apart(form, d)? {
            Some(both) => Ok(both),
            None => self.div_rem_carried(form, d),
        }
    }

    /// The same where no remainder of a term carries; `None` where one does.
    #[inline(never)] // Its buffer leaves the stack before the next step begins.
    fn div_rem_apart(
        &mut self,
        form: IndexForm,
        d: i64,
    ) -> FormResult<Option<(IndexForm, IndexForm)>> {
        let mut terms = DigitTerms::new();
        self.divided(form, d, DivisionPart::Rest, &mut terms)?;
        self.canonical(&mut terms)?;
        let (q, c, high) = self.constants(form.constant, d, &terms)?;
        if high >= d {
            return Ok(None);
        }
        let rest = self.store(&terms, c)?;
        terms.clear();
        self.divided(form, d, DivisionPart::Quotient, &mut terms)?;
        Ok(Some((self.finish(&mut terms, q)?, rest)))
    }

    /// What a constant divided adds to the quotient and leaves, such that the rest with these terms is
    /// not below zero, and the greatest that the rest is then.
    #[inline(never)] // Beside what is divided, not in its frame.
    fn constants(&self, constant: i64, d: i64, terms: &DigitTerms) -> FormResult<(i64, i64, i64)> {
        let q = floor_div(constant, d)?;
        let c = constant.checked_rem_euclid(d).ok_or(FormError::Overflow)?;
        let (low, high) = self.range_of(terms, c)?;
        let turns = floor_div(low, d)?;
        let shift = turns.checked_mul(d).ok_or(FormError::Overflow)?;
        let less = |n: i64| n.checked_sub(shift).ok_or(FormError::Overflow);
        Ok((q.checked_add(turns).ok_or(FormError::Overflow)?, less(c)?, less(high)?))
    }

    /// The terms of a map that divide, or those that are left.
    fn divided(
        &mut self,
        form: IndexForm,
        d: i64,
        part: DivisionPart,
        out: &mut DigitTerms,
    ) -> FormResult<()> {
        for k in 0..usize::from(form.len) {
            let Some(t) = self.terms_of(form).get(k).copied() else { break };
            self.divide_term(t, d, part, out)?;
        }
        Ok(())
    }

    /// The same where remainders carry: their sum is a base of its own.
    #[inline(never)] // Its buffer leaves the stack before the next step begins.
    fn div_rem_carried(&mut self, form: IndexForm, d: i64) -> FormResult<(IndexForm, IndexForm)> {
        let mut terms = DigitTerms::new();
        self.divided(form, d, DivisionPart::Rest, &mut terms)?;
        self.canonical(&mut terms)?;
        let (q, c, _) = self.constants(form.constant, d, &terms)?;
        // All strides together divide by `unit`: so does the sum, and the divisor.
        let all = terms.iter().fold(d.unsigned_abs(), |g, t| gcd(g, t.stride.unsigned_abs()));
        let unit = i64::try_from(all).map_err(|_| FormError::Overflow)?;
        for t in terms.iter_mut() {
            t.stride = t.stride.checked_div(unit).ok_or(FormError::Overflow)?;
        }
        let odd = c.checked_rem_euclid(unit).ok_or(FormError::Overflow)?;
        let sum = self.store(&terms, floor_div(c, unit)?)?;
        let by = u32::try_from(floor_div(d, unit)?).map_err(|_| FormError::Overflow)?;
        let base = self.sum_base(sum)?;
        let extent = self.extent(base)?;
        terms.clear();
        self.divided(form, d, DivisionPart::Quotient, &mut terms)?;
        let high = BaseDigit { base, unit: by, extent: ceil_div(extent, by) };
        terms.push(DigitTerm { stride: 1, digit: high }).map_err(|_| too_many())?;
        let q = self.finish(&mut terms, q)?;
        terms.clear();
        let low = BaseDigit { base, unit: 1, extent: by };
        let _ = terms.push(DigitTerm { stride: unit, digit: low });
        Ok((q, self.finish(&mut terms, odd)?))
    }

    /// The part of a term that divides, or the part that is left.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn divide_term(
        &mut self,
        t: DigitTerm,
        d: i64,
        part: DivisionPart,
        out: &mut DigitTerms,
    ) -> FormResult<()> {
        let whole = |stride: i64| stride.checked_div(d).ok_or(FormError::Overflow);
        if t.stride.checked_rem(d) == Some(0) {
            let own = DigitTerm { stride: whole(t.stride)?, ..t };
            return part.push(DivisionPart::Quotient, own, out);
        }
        let common = gcd(t.stride.unsigned_abs(), d.unsigned_abs());
        let cut = d.unsigned_abs().checked_div(common).unwrap_or(0);
        let cut = u32::try_from(cut).unwrap_or(u32::MAX);
        let mut term = t;
        if cut > 1 && cut < t.digit.extent && self.split(t, cut)?.is_none() {
            // A digit that does not split evenly is a base of its own, which does.
            let alone = self.store(&[DigitTerm { stride: 1, ..t }], 0)?;
            let base = self.sum_base(alone)?;
            term = DigitTerm { digit: BaseDigit { base, unit: 1, extent: t.digit.extent }, ..t };
        }
        let Some((low, high)) = self.split(term, cut)? else {
            return part.push(DivisionPart::Rest, term, out);
        };
        part.push(DivisionPart::Rest, low, out)?;
        let own = DigitTerm { stride: whole(high.stride)?, ..high };
        part.push(DivisionPart::Quotient, own, out)
    }

    /// A sum that is never negative as a base.
    pub(crate) fn sum_base(&mut self, form: IndexForm) -> FormResult<BaseId> {
        let (low, high) = self.range(form)?;
        let min = u32::try_from(low).map_err(|_| FormError::Overflow)?;
        let last = u32::try_from(high).map_err(|_| FormError::Overflow)?;
        let extent = last.checked_add(1).ok_or(FormError::Overflow)?;
        self.intern(FormBase::Sum { form, min, extent })
    }

    /// Any operation: as a sum of digits where it is one, else as a base of its own.
    pub fn op(&mut self, op: FormOp, a: IndexForm, b: IndexForm) -> FormResult<IndexForm> {
        if a.is_constant() && b.is_constant() {
            return Ok(IndexForm::constant(op.apply(a.constant, b.constant)?));
        }
        let (low_a, high_a) = self.range(a)?;
        let (low_b, high_b) = self.range(b)?;
        match op {
            FormOp::Mul if b.is_constant() => self.scale(a, b.constant),
            FormOp::Mul if a.is_constant() => self.scale(b, a.constant),
            // Truths: 1 where both hold.
            FormOp::Mul if low_a < 0 || low_b < 0 || high_a > 1 || high_b > 1 => self.product(a, b),
            FormOp::Div if b.is_constant() && b.constant > 0 => Ok(self.div_rem(a, b.constant)?.0),
            FormOp::Rem if b.is_constant() && b.constant > 0 => Ok(self.div_rem(a, b.constant)?.1),
            FormOp::Xor => self.xor(a, b),
            FormOp::And if b.is_constant() => self.masked(a, b),
            FormOp::And if a.is_constant() => self.masked(b, a),
            FormOp::Or => self.either(a, b),
            FormOp::Min | FormOp::Max => match self.least_of(a, b)? {
                Some((least, greatest)) => Ok(if op == FormOp::Min { least } else { greatest }),
                None => self.derived(op, a, b),
            },
            FormOp::And if self.same(a, b) => Ok(a),
            FormOp::Less if high_a < low_b => Ok(IndexForm::constant(1)),
            FormOp::Less if low_a >= high_b => Ok(IndexForm::constant(0)),
            FormOp::Equal if high_a < low_b || low_a > high_b => Ok(IndexForm::constant(0)),
            FormOp::Equal if self.same(a, b) => Ok(IndexForm::constant(1)),
            _ => self.derived(op, a, b),
        }
    }

    /// The smaller and the greater one of two maps, where that is the same at all points.
    fn least_of(
        &mut self,
        a: IndexForm,
        b: IndexForm,
    ) -> FormResult<Option<(IndexForm, IndexForm)>> {
        let ((low_a, high_a), (low_b, high_b)) = (self.range(a)?, self.range(b)?);
        if high_a <= low_b {
            return Ok(Some((a, b)));
        }
        if high_b <= low_a {
            return Ok(Some((b, a)));
        }
        // What both are made of is no matter.
        let apart = self.add_scaled(a, b, -1)?;
        Ok(match self.range(apart)? {
            (_, high) if high <= 0 => Some((a, b)),
            (low, _) if low >= 0 => Some((b, a)),
            _ => None,
        })
    }

    /// Bits of either: the sum of maps whose bits do not meet.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn either(&mut self, a: IndexForm, b: IndexForm) -> FormResult<IndexForm> {
        if self.same(a, b) {
            return Ok(a);
        }
        let (a, b) = if a.is_constant() { (b, a) } else { (a, b) };
        let sum = self.add(a, b)?;
        if b.is_constant() {
            let both = self.masked(a, b)?;
            return self.add_scaled(sum, both, -1);
        }
        let one = self.xor(a, b)?;
        if self.same(one, sum) { Ok(sum) } else { self.derived(FormOp::Or, a, b) }
    }

    /// The product of two maps that vary: of their digits, one by one, so that what these are
    /// multiples of, and what is the same in all threads, is seen.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn product(&mut self, a: IndexForm, b: IndexForm) -> FormResult<IndexForm> {
        let terms = |form| self.terms_of(form).len();
        if terms(a).saturating_mul(terms(b)) > MAX_FACTORS {
            return self.derived(FormOp::Mul, a, b);
        }
        let mut out = self.scale(b, a.constant)?;
        let mut at = (0usize, 0usize);
        while let Some(left) = self.terms_of(a).get(at.0).copied() {
            let own = self.digit(left.digit)?;
            let Some(right) = self.terms_of(b).get(at.1).copied() else {
                let stride = left.stride.checked_mul(b.constant).ok_or(FormError::Overflow)?;
                out = self.add_scaled(out, own, stride)?;
                at = (at.0.saturating_add(1), 0);
                continue;
            };
            let other = self.digit(right.digit)?;
            let order = |term: &DigitTerm| (term.digit.base, term.digit.unit, term.digit.extent);
            let (first, second) =
                if order(&left) <= order(&right) { (own, other) } else { (other, own) };
            let both = self.derived(FormOp::Mul, first, second)?;
            let stride = left.stride.checked_mul(right.stride).ok_or(FormError::Overflow)?;
            out = self.add_scaled(out, both, stride)?;
            at.1 = at.1.saturating_add(1);
        }
        Ok(out)
    }

    /// A base for an operation that no sum of digits says.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    pub(crate) fn derived(
        &mut self,
        op: FormOp,
        a: IndexForm,
        b: IndexForm,
    ) -> FormResult<IndexForm> {
        let (low, mut high) = bounds(op, self.range(a)?, self.range(b)?)?;
        if op == FormOp::Mul && low >= 0 {
            // Indices are below 2^31, whatever their factors could be.
            high = high.min(MAX_INDEX);
        }
        let count =
            high.checked_sub(low).and_then(|n| n.checked_add(1)).ok_or(FormError::Overflow)?;
        let extent = u32::try_from(count).map_err(|_| FormError::Overflow)?;
        let base = self.intern(FormBase::Op { op, a, b, min: low, extent })?;
        let whole = self.whole(base)?;
        Ok(IndexForm {
            constant: whole.constant.checked_add(low).ok_or(FormError::Overflow)?,
            ..whole
        })
    }
}

/// What an operation on numbers of two ranges can give.
fn bounds(op: FormOp, a: (i64, i64), b: (i64, i64)) -> FormResult<(i64, i64)> {
    let all = |f: FormOp| -> FormResult<(i64, i64)> {
        let mut out = (i64::MAX, i64::MIN);
        for x in [a.0, a.1] {
            for y in [b.0, b.1] {
                let v = f.apply(x, y)?;
                out = (out.0.min(v), out.1.max(v));
            }
        }
        Ok(out)
    };
    match op {
        FormOp::Mul | FormOp::Min | FormOp::Max => all(op),
        FormOp::Less | FormOp::Equal => Ok((0, 1)),
        FormOp::Div => {
            let most = a.0.unsigned_abs().max(a.1.unsigned_abs());
            let most = i64::try_from(most).map_err(|_| FormError::Overflow)?;
            Ok((most.saturating_neg().saturating_sub(1), most))
        }
        FormOp::Rem => {
            let most = b.0.unsigned_abs().max(b.1.unsigned_abs());
            let most = i64::try_from(most).map_err(|_| FormError::Overflow)?;
            Ok((if b.0 < 0 { most.saturating_neg() } else { 0 }, most))
        }
        FormOp::And | FormOp::Or | FormOp::Xor => {
            // As many bits as the widest bound has, below 0 only if an operand may be.
            let widest = [a.0, a.1, b.0, b.1].iter().fold(0, |w, x| w | (*x ^ (*x >> 63)));
            let bits = u64::BITS.saturating_sub(widest.leading_zeros());
            let all = 1i64.checked_shl(bits).ok_or(FormError::Overflow)?;
            let low = if a.0 < 0 || b.0 < 0 { all.saturating_neg() } else { 0 };
            Ok((low, all.saturating_sub(1)))
        }
    }
}

/// By base, then by unit, then by extent.
pub(crate) fn sort(terms: &mut [DigitTerm]) {
    let key = |t: &DigitTerm| (t.digit.base, t.digit.unit, t.digit.extent);
    sort_by(terms, |a, b| key(a) < key(b));
}

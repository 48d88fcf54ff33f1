//! Variables from outputs: the inverse of index maps, by structure.
//!
//! A sum whose strides each exceed all that the smaller ones reach is taken apart digit by digit,
//! from the greatest stride down; gaps between the strides are no hindrance (the caller asks who
//! is a member). Digits of a sum that is a base of its own give the base, and the base its own
//! digits; an odd number of bits gives the last of them. What no output tells of a variable stays
//! free: it is a new variable.

use crate::arena::{
    BaseDigit, BaseId, DigitTerm, DigitTerms, FormArena, FormBase, IndexForm, VarRole, too_many,
};
use crate::error::{FormError, FormResult};
use crate::subst::{MAX_BASES, too_deep};
use lanebook_layout::order::{gcd, sort_by};

/// How many variables can be solved for at once.
pub const MAX_VARS: usize = 8;

/// How many digits no output may tell.
pub const MAX_FREE: usize = 24;

/// How many sums of one map are put in the place of their quotients.
const MAX_SCALED: usize = 4;

/// A variable and what it is.
pub type VarForms = heapless::Vec<(BaseId, IndexForm), MAX_VARS>;

/// A digit that no output tells, and the new variable in its place.
#[derive(Clone, Copy, Debug)]
pub struct Free {
    /// The digit.
    pub digit: BaseDigit,
    /// The variable.
    pub var: BaseId,
}

/// Variables by outputs.
#[derive(Clone, Debug, Default)]
pub struct Solution {
    /// Each variable as a map over outputs and new variables.
    pub vars: VarForms,
    /// What the outputs do not tell.
    pub free: heapless::Vec<Free, MAX_FREE>,
}

/// An output and the map that it is of the variables.
pub type Equation = (IndexForm, IndexForm);

/// Digits that are known, with what they are.
type Known = heapless::Vec<(BaseDigit, IndexForm), MAX_BASES>;

#[doc(hidden)]
impl FormArena<'_> {
    /// The variables `vars` by the outputs of `equations`, each given as (output, map), into `out`.
    ///
    /// # Errors
    /// [`FormError::Full`], [`FormError::Overflow`]; `out` then holds a part of it.
    pub fn solve(
        &mut self,
        equations: &[Equation],
        vars: &[BaseId],
        out: &mut Solution,
    ) -> FormResult<()> {
        self.solve_with(equations, vars, true, out)
    }

    /// [`FormArena::solve`]; without `complete` a sum of which only some digits are known tells
    /// nothing.
    pub(crate) fn solve_with(
        &mut self,
        equations: &[Equation],
        vars: &[BaseId],
        complete: bool,
        out: &mut Solution,
    ) -> FormResult<()> {
        out.vars.clear();
        out.free.clear();
        let mut known = Known::new();
        let mut open: heapless::Vec<bool, MAX_VARS> = heapless::Vec::new();
        for _ in equations {
            open.push(true).map_err(|_| too_deep())?;
        }
        let mut done: heapless::Vec<BaseId, MAX_BASES> = heapless::Vec::new();
        loop {
            let mut moved = false;
            for (k, (output, map)) in equations.iter().enumerate() {
                if open.get(k) == Some(&true) && told(self.take_apart(*output, *map, &mut known))? {
                    if let Some(flag) = open.get_mut(k) {
                        *flag = false;
                    }
                    moved = true;
                }
            }
            moved |= self.open_bases(&mut known, &mut done)?;
            for (k, (output, map)) in equations.iter().enumerate() {
                if moved || open.get(k) != Some(&true) {
                    continue;
                }
                if told(self.take_apart_scaled(*output, *map, &mut known))? {
                    if let Some(flag) = open.get_mut(k) {
                        *flag = false;
                    }
                    moved = true;
                } else {
                    moved = told(self.lowest(*output, *map, &mut known))?;
                }
            }
            moved = moved || told(self.base_of_known(equations, &mut known, &mut done))?;
            moved = moved || told(self.quotient_of_other(&mut known))?;
            moved = moved || told(self.whole_of_quotient(equations, &mut known))?;
            moved =
                moved || (complete && self.complete_sum(&mut known, &mut done, &mut out.free)?);
            if !moved {
                break;
            }
        }
        for var in vars {
            let form = self.assemble(*var, &known, Some(&mut out.free))?;
            if let Some(form) = form {
                out.vars.push((*var, form)).map_err(|_| too_deep())?;
            }
        }
        Ok(())
    }

    /// Digits of `map` from its value; false if they cannot be told apart yet.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn take_apart(
        &mut self,
        value: IndexForm,
        map: IndexForm,
        known: &mut Known,
    ) -> FormResult<bool> {
        let mut terms = DigitTerms::new();
        let mut rest = self.left_of(value, map, known, &mut terms)?;
        sort_by(&mut terms, |a, b| a.stride.unsigned_abs() < b.stride.unsigned_abs());
        if !nested(&terms) {
            return Ok(false);
        }
        for t in terms.iter().filter(|t| t.stride < 0) {
            let last = i64::from(t.digit.extent.saturating_sub(1));
            let way = t.stride.checked_mul(last).ok_or(FormError::Overflow)?;
            rest.constant = rest.constant.checked_sub(way).ok_or(FormError::Overflow)?;
        }
        for t in terms.iter().rev() {
            let unit = i64::try_from(t.stride.unsigned_abs()).map_err(|_| FormError::Overflow)?;
            let (quotient, left) = self.div_rem(rest, unit)?;
            rest = left;
            let digit = if t.stride < 0 {
                let last = IndexForm::constant(i64::from(t.digit.extent.saturating_sub(1)));
                self.add_scaled(last, quotient, -1)?
            } else {
                quotient
            };
            known.push((t.digit, digit)).map_err(|_| too_deep())?;
        }
        Ok(true)
    }

    /// What is left of a map's value without the digits that are known; the others go to `terms`.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn left_of(
        &mut self,
        value: IndexForm,
        map: IndexForm,
        known: &Known,
        terms: &mut DigitTerms,
    ) -> FormResult<IndexForm> {
        let constant = map.constant.checked_neg().ok_or(FormError::Overflow)?;
        let mut rest = IndexForm { constant: value.constant.wrapping_add(constant), ..value };
        for k in 0..map.len {
            let Some(t) = self.term(map, k) else { break };
            match self.known_digit(t.digit, known)? {
                Some(digit) => {
                    rest = self.add_scaled(rest, digit, t.stride.wrapping_neg())?;
                }
                None => terms.push(t).map_err(|_| too_many())?,
            }
        }
        Ok(rest)
    }

    /// The digit of `map` below all that its other strides divide by: their remainder. Whether
    /// there is one that was not known.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn lowest(&mut self, value: IndexForm, map: IndexForm, known: &mut Known) -> FormResult<bool> {
        let mut terms = DigitTerms::new();
        let rest = self.left_of(value, map, known, &mut terms)?;
        for (k, t) in terms.iter().enumerate() {
            let others = terms.iter().enumerate().filter(|(other, _)| *other != k);
            let unit = others.fold(0, |g, (_, t)| gcd(g, t.stride.unsigned_abs()));
            let last = u64::from(t.digit.extent.saturating_sub(1));
            let Ok(stride) = u64::try_from(t.stride) else { continue };
            if unit == 0 || stride.saturating_mul(last) >= unit {
                continue;
            }
            let unit = i64::try_from(unit).map_err(|_| FormError::Overflow)?;
            let low = self.div_rem(rest, unit)?.1;
            let digit = self.div_rem(low, t.stride)?.0;
            known.push((t.digit, digit)).map_err(|_| too_deep())?;
            return Ok(true);
        }
        Ok(false)
    }

    /// [`Self::take_apart`] of a map with the quotient of a sum whose remainder is known. As often
    /// as the divisor says, the map has the sum itself in that place, whose digits may be told
    /// apart from the map's others: `3 * (i / 2) + (3 * (i % 2) + j) / 2`, twice, is `3 * i + j` less
    /// the remainder.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn take_apart_scaled(
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

    /// A digit from digits that are known: part of one, several together, or of the whole base.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn known_digit(&mut self, digit: BaseDigit, known: &Known) -> FormResult<Option<IndexForm>> {
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

    /// Digits of bases that became known. Whether any did.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn open_bases(
        &mut self,
        known: &mut Known,
        done: &mut heapless::Vec<BaseId, MAX_BASES>,
    ) -> FormResult<bool> {
        let mut moved = false;
        let mut k = 0;
        while let Some((digit, _)) = known.get(k).copied() {
            k = k.saturating_add(1);
            if done.contains(&digit.base) {
                continue;
            }
            let opened = match self.base(digit.base)? {
                FormBase::Sum { form, min, extent } => {
                    self.digit_below(digit, form, known)?;
                    match self.sum_value(digit.base, min, extent, known)? {
                        Some(value) => {
                            let opened = told(self.take_apart(value, form, known))?
                                || told(self.take_apart_scaled(value, form, known))?;
                            // What its digits leave open of it is known by the value.
                            if opened && self.assemble(digit.base, known, None)?.is_none() {
                                let whole = BaseDigit { base: digit.base, unit: 1, extent };
                                known.push((whole, value)).map_err(|_| too_deep())?;
                            }
                            opened
                        }
                        None => false,
                    }
                }
                FormBase::Parity { form } => self.last_bit(digit.base, form, known)?,
                FormBase::Var { .. } | FormBase::Op { .. } => false,
            };
            if opened {
                done.push(digit.base).map_err(|_| too_deep())?;
                moved = true;
            }
        }
        Ok(moved)
    }

    /// The digit of a sum below one that is known, where the sum's remainder is made of digits that
    /// are known: of `i % 12` the last bit, which is that of `i`.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn digit_below(
        &mut self,
        above: BaseDigit,
        form: IndexForm,
        known: &mut Known,
    ) -> FormResult<()> {
        if above.unit < 2 || longest(above.base, 1, known).is_some() {
            return Ok(());
        }
        let (_, rest) = self.div_rem(form, i64::from(above.unit))?;
        if self.mentions(rest, |id, _| id == above.base)? {
            return Ok(());
        }
        let Some(value) = self.known_map(rest, known)? else { return Ok(()) };
        let digit = BaseDigit { base: above.base, unit: 1, extent: above.unit };
        known.push((digit, value)).map_err(|_| too_deep())
    }

    /// A sum of which some digits are known, with new variables for the others: its own digits.
    /// Whether there was one.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn complete_sum(
        &mut self,
        known: &mut Known,
        done: &mut heapless::Vec<BaseId, MAX_BASES>,
        free: &mut heapless::Vec<Free, MAX_FREE>,
    ) -> FormResult<bool> {
        let mut k = 0;
        while let Some((digit, _)) = known.get(k).copied() {
            k = k.saturating_add(1);
            let FormBase::Sum { form, .. } = self.base(digit.base)? else { continue };
            if done.contains(&digit.base) {
                continue;
            }
            done.push(digit.base).map_err(|_| too_deep())?;
            let value = self.assemble(digit.base, known, Some(free))?;
            if let Some(value) = value
                && told(self.take_apart(value, form, known))?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A base all of whose parts are known, by them. Whether there was one.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn base_of_known(
        &mut self,
        equations: &[Equation],
        known: &mut Known,
        done: &mut heapless::Vec<BaseId, MAX_BASES>,
    ) -> FormResult<bool> {
        for (_, map) in equations {
            let under = self.bases_under(&[*map])?;
            for id in under.iter().copied() {
                if done.contains(&id) {
                    continue;
                }
                let base = self.base(id)?;
                let Some(value) = self.value_of_known(base, known)? else { continue };
                done.push(id).map_err(|_| too_deep())?;
                let whole = BaseDigit { base: id, unit: 1, extent: base.extent() };
                known.push((whole, value)).map_err(|_| too_deep())?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A digit of a sum that is the quotient of another sum, of which that digit is known: of
    /// `6 * i + j / 4`, if `24 * i + j` is known from 256 on. Whether there was one.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn quotient_of_other(&mut self, known: &mut Known) -> FormResult<bool> {
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
    fn whole_of_quotient(&mut self, equations: &[Equation], known: &mut Known) -> FormResult<bool> {
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

    /// What a derived base is if all its parts are known.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn value_of_known(&mut self, base: FormBase, known: &Known) -> FormResult<Option<IndexForm>> {
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
    fn known_map(&mut self, map: IndexForm, known: &Known) -> FormResult<Option<IndexForm>> {
        let mut open = DigitTerms::new();
        let minus = self.left_of(IndexForm::constant(0), map, known, &mut open)?;
        if open.is_empty() { self.scale(minus, -1).map(Some) } else { Ok(None) }
    }

    /// The value of a sum from its digits. Digits below `m` suffice if the sum has at most `m`
    /// values in a row.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn sum_value(
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
        self.scale(digit, term.stride).map(Some)
    }

    /// The one bit of a parity that is not known yet.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn last_bit(&mut self, base: BaseId, form: IndexForm, known: &mut Known) -> FormResult<bool> {
        let Some(mut value) = self.assemble(base, known, None)? else {
            return Ok(false);
        };
        let mut last = None;
        for k in 0..form.len {
            let Some(t) = self.term(form, k) else { break };
            match self.known_digit(t.digit, known)? {
                Some(digit) => value = self.xor(value, digit)?,
                None if last.is_none() => last = Some(t.digit),
                None => return Ok(false),
            }
        }
        if let Some(digit) = last {
            known.push((digit, value)).map_err(|_| too_deep())?;
        }
        Ok(true)
    }

    /// The sum of the known digits of a base from the lowest up without a gap, and how far it goes.
    fn low_digits(&mut self, base: BaseId, known: &Known) -> FormResult<(IndexForm, u32)> {
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
        while let Some((digit, form)) = longest(base, unit, known) {
            out = self.add_scaled(out, form, i64::from(values))?;
            values = values.checked_mul(digit.extent).ok_or(FormError::Overflow)?;
            unit = first.checked_mul(values).ok_or(FormError::Overflow)?;
        }
        Ok((out, values))
    }

    /// The base from its known digits. Gaps become new variables of `free`, or there is no answer.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn assemble(
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

/// Whether digits were told: not where numbers leave their range.
fn told(answer: FormResult<bool>) -> FormResult<bool> {
    match answer {
        Err(FormError::Overflow) => Ok(false),
        other => other,
    }
}

/// The number by which one has to multiply to undo a multiplication by `factor`, of remainders by
/// `modulus`, with which it has no divisor in common: Euclid's algorithm, extended.
fn inverse_of(factor: i64, modulus: i64) -> Option<i64> {
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
fn longest(base: BaseId, unit: u32, known: &Known) -> Option<(BaseDigit, IndexForm)> {
    let own = known.iter().filter(|k| k.0.base == base && k.0.unit == unit);
    own.max_by_key(|k| k.0.extent).copied()
}

/// Whether each stride, from the least on, exceeds all that those before reach.
fn nested(terms: &[DigitTerm]) -> bool {
    let mut covered = 0u64;
    for t in terms {
        let stride = t.stride.unsigned_abs();
        if stride <= covered {
            return false;
        }
        let way = stride.saturating_mul(u64::from(t.digit.extent.saturating_sub(1)));
        covered = covered.saturating_add(way);
    }
    true
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

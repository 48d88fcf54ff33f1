//! Variables from outputs: the inverse of index maps, by structure.
//!
//! A sum whose strides each exceed all that the smaller ones reach is taken apart digit by digit,
//! from the greatest stride down; gaps between the strides are no hindrance (the caller asks who
//! is a member). Digits of a sum that is a base of its own give the base, and the base its own
//! digits; an odd number of bits gives the last of them. What no output tells of a variable stays
//! free: it is a new variable.

mod known;
mod quotients;
mod remainders;

use crate::arena::{
    BaseDigit, BaseId, DigitTerm, DigitTerms, FormArena, FormBase, FormOp, IndexForm, too_many,
};
use crate::error::{FormError, FormResult};
use crate::subst::{MAX_BASES, too_deep};
use lanebook_layout::order::{gcd, sort_by};

/// How many variables can be solved for at once.
pub const MAX_VARS: usize = 8;

/// How many digits no output may tell.
pub const MAX_FREE: usize = 24;

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

    /// [`FormArena::solve`] where the values of other variables are given: those of serial loops
    /// around what is solved for.
    ///
    /// # Errors
    /// Those of [`FormArena::solve`].
    pub fn solve_given(
        &mut self,
        equations: &[Equation],
        vars: &[BaseId],
        given: &[BaseId],
        out: &mut Solution,
    ) -> FormResult<()> {
        self.solve_from(equations, vars, (given, true), out)
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
        self.solve_from(equations, vars, (&[], complete), out)
    }

    fn solve_from(
        &mut self,
        equations: &[Equation],
        vars: &[BaseId],
        (given, complete): (&[BaseId], bool),
        out: &mut Solution,
    ) -> FormResult<()> {
        out.vars.clear();
        out.free.clear();
        let mut known = Known::new();
        for base in given {
            let digit = BaseDigit { base: *base, unit: 1, extent: self.extent(*base)? };
            known.push((digit, self.whole(*base)?)).map_err(|_| too_deep())?;
        }
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
            moved = moved || told(self.whole_of_remainders(&mut known))?;
            moved = moved || told(self.digit_of_remainder(&mut known))?;
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
            if unit == 0 {
                continue;
            }
            let small = stride.saturating_mul(last) < unit;
            let turned = if small { None } else { turn(stride, unit, t.digit.extent) };
            if !small && turned.is_none() {
                continue;
            }
            let unit = i64::try_from(unit).map_err(|_| FormError::Overflow)?;
            let low = self.div_rem(rest, unit)?.1;
            let digit = match turned {
                None => self.div_rem(low, t.stride)?.0,
                // What comes back to itself only behind all values of the digit.
                Some((common, inverse, many)) => {
                    let part = self.div_rem(low, common)?.0;
                    let part = self.scale(part, inverse)?;
                    self.div_rem(part, many)?.1
                }
            };
            known.push((t.digit, digit)).map_err(|_| too_deep())?;
            return Ok(true);
        }
        Ok(false)
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
                FormBase::Op { op: FormOp::Xor, a, b, .. } => {
                    self.other_of_exclusive(digit.base, (a, b), known)?
                }
                FormBase::Var { .. } | FormBase::Op { .. } => false,
            };
            if opened {
                done.push(digit.base).map_err(|_| too_deep())?;
                moved = true;
            }
        }
        Ok(moved)
    }

    /// One side of an exclusive or by its value and the other side, where one is known. Whether it was.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn other_of_exclusive(
        &mut self,
        base: BaseId,
        (a, b): (IndexForm, IndexForm),
        known: &mut Known,
    ) -> FormResult<bool> {
        let FormBase::Op { min, .. } = self.base(base)? else { return Ok(false) };
        let Some(value) = self.assemble(base, known, None)? else { return Ok(false) };
        let constant = value.constant.checked_add(min).ok_or(FormError::Overflow)?;
        let value = IndexForm { constant, ..value };
        for (own, other) in [(a, b), (b, a)] {
            let Some(other) = self.known_map(other, known)? else { continue };
            let own_value = self.xor(value, other)?;
            return Ok(told(self.take_apart(own_value, own, known))?
                || told(self.take_apart_scaled(own_value, own, known))?);
        }
        Ok(false)
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
        let has_lowest = known.iter().any(|k| k.0.base == above.base && k.0.unit == 1);
        if above.unit < 2 || has_lowest {
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
}

/// Whether digits were told: not where numbers leave their range.
fn told(answer: FormResult<bool>) -> FormResult<bool> {
    match answer {
        Err(FormError::Overflow) => Ok(false),
        other => other,
    }
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

/// How multiples of `stride` below `unit` say of which number they are: by what both divide, the
/// inverse of what is left of the stride, and how many there are until they come back; `None` where
/// that is before `extent` of them.
fn turn(stride: u64, unit: u64, extent: u32) -> Option<(i64, i64, i64)> {
    let common = gcd(stride, unit);
    let many = unit.checked_div(common)?;
    if many < u64::from(extent) || many < 2 {
        return None;
    }
    let own = stride.checked_div(common)?.checked_rem(many)?;
    // Euclid's steps, with what each remainder is of the stride.
    let (mut rest, mut next) = (i128::from(many), i128::from(own));
    let (mut of, mut of_next) = (0i128, 1i128);
    while next != 0 {
        let times = rest.checked_div(next)?;
        (rest, next) = (next, rest.checked_sub(times.checked_mul(next)?)?);
        (of, of_next) = (of_next, of.checked_sub(times.checked_mul(of_next)?)?);
    }
    let inverse = of.checked_rem_euclid(i128::from(many)).filter(|_| rest == 1)?;
    Some((i64::try_from(common).ok()?, i64::try_from(inverse).ok()?, i64::try_from(many).ok()?))
}

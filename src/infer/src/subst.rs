//! Index maps with other maps in place of variables.

use crate::arena::{BaseId, FormArena, FormBase, IndexForm, too_many};
use crate::error::{FormError, FormResult, PoolName};
use lanebook_layout::order::sort_by;

/// How many bases may lie under one map.
pub const MAX_BASES: usize = 40;

/// Bases under a map.
pub type BaseSet = heapless::Vec<BaseId, MAX_BASES>;

/// More bases under a map than can be followed.
pub(crate) fn too_deep() -> FormError {
    FormError::Full { pool: PoolName::Scratch, has: MAX_BASES as u32 }
}

/// How many variables a walk over points can have.
pub const MAX_WALK: usize = 16;

/// Variables with their extents.
pub type Variables = heapless::Vec<(BaseId, u32), MAX_WALK>;

/// Bases and what stands for them.
type Values = heapless::Vec<(BaseId, IndexForm), MAX_BASES>;

#[doc(hidden)]
impl FormArena<'_> {
    fn gather(&self, form: IndexForm, set: &mut BaseSet) -> FormResult<()> {
        for t in self.terms_of(form) {
            if !set.contains(&t.digit.base) {
                set.push(t.digit.base).map_err(|_| too_deep())?;
            }
        }
        Ok(())
    }

    /// All bases under the maps, in the order in which they were made: each after those that it is
    /// derived of.
    pub fn bases_under(&self, forms: &[IndexForm]) -> FormResult<BaseSet> {
        let mut set = BaseSet::new();
        for form in forms {
            self.gather(*form, &mut set)?;
        }
        let mut k = 0;
        while let Some(id) = set.get(k).copied() {
            match self.base(id)? {
                FormBase::Var { .. } => {}
                FormBase::Sum { form, .. } | FormBase::Parity { form } => {
                    self.gather(form, &mut set)?
                }
                FormBase::Op { a, b, .. } => {
                    self.gather(a, &mut set)?;
                    self.gather(b, &mut set)?;
                }
            }
            k = k.saturating_add(1);
        }
        sort_by(&mut set, |a, b| a < b);
        Ok(set)
    }

    /// Whether the map asks for an operation that no sum of digits says.
    pub fn is_derived(&self, map: IndexForm) -> FormResult<bool> {
        self.mentions(map, |_, base| matches!(base, FormBase::Op { .. }))
    }

    /// The variables that the maps ask for, with their extents.
    ///
    /// # Errors
    /// [`FormError::Full`] with more than [`MAX_WALK`].
    pub fn variables(&self, maps: &[IndexForm]) -> FormResult<Variables> {
        let mut out = Variables::new();
        for id in &self.bases_under(maps)? {
            if let FormBase::Var { extent, .. } = self.base(*id)? {
                let full = FormError::Full { pool: PoolName::Scratch, has: MAX_WALK as u32 };
                out.push((*id, extent)).map_err(|_| full)?;
            }
        }
        Ok(out)
    }

    /// Whether the map, or a base under it, takes a digit of a base that `wanted` holds for.
    pub(crate) fn mentions(
        &self,
        form: IndexForm,
        wanted: impl Fn(BaseId, &FormBase) -> bool,
    ) -> FormResult<bool> {
        for id in &self.bases_under(&[form])? {
            if wanted(*id, &self.base(*id)?) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The map with `map` in place of variables. The highest digit of a variable is a quotient, so
    /// a map that goes beyond the variable's extent is continued, not cut.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    pub fn substitute(
        &mut self,
        form: IndexForm,
        map: &[(BaseId, IndexForm)],
    ) -> FormResult<IndexForm> {
        if form.is_constant() || map.is_empty() {
            return Ok(form);
        }
        let under = self.bases_under(&[form])?;
        let mut values = Values::new();
        for id in &under {
            let given = map.iter().find(|m| m.0 == *id).map(|m| m.1);
            let value = match (given, self.base(*id)?) {
                (Some(form), _) => form,
                (None, FormBase::Var { .. }) => self.whole(*id)?,
                (None, FormBase::Sum { form, .. }) => self.replaced(form, &values)?,
                (None, FormBase::Parity { form }) => self.parity(form, &values)?,
                (None, FormBase::Op { op, a, b, min, .. }) => {
                    let a = self.replaced(a, &values)?;
                    let b = self.replaced(b, &values)?;
                    let whole = self.op(op, a, b)?;
                    let constant = whole.constant.checked_sub(min).ok_or(FormError::Overflow)?;
                    IndexForm { constant, ..whole }
                }
            };
            values.push((*id, value)).map_err(|_| too_deep())?;
        }
        self.replaced(form, &values)
    }

    /// The sum with each digit taken of what stands for its base.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn replaced(&mut self, form: IndexForm, values: &Values) -> FormResult<IndexForm> {
        let mut out = IndexForm::constant(form.constant);
        for k in 0..form.len {
            let Some(t) = self.term(form, k) else { break };
            let digit = self.digit_in(t.digit, values)?;
            out = self.add_scaled(out, digit, t.stride)?;
        }
        Ok(out)
    }

    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn parity(&mut self, form: IndexForm, values: &Values) -> FormResult<IndexForm> {
        let mut out = IndexForm::constant(0);
        for k in 0..form.len {
            let Some(t) = self.term(form, k) else { break };
            let digit = self.digit_in(t.digit, values)?;
            out = self.xor(out, digit)?;
        }
        Ok(out)
    }

    fn digit_in(
        &mut self,
        digit: crate::arena::BaseDigit,
        values: &Values,
    ) -> FormResult<IndexForm> {
        let value = values.iter().find(|v| v.0 == digit.base).map(|v| v.1).ok_or_else(too_many)?;
        let top = self.is_top(digit)?;
        self.digit_of(value, digit.unit, if top { None } else { Some(digit.extent) })
    }

    /// `(form / unit) % extent`, or the quotient alone.
    pub(crate) fn digit_of(
        &mut self,
        form: IndexForm,
        unit: u32,
        extent: Option<u32>,
    ) -> FormResult<IndexForm> {
        let quotient = self.div_rem(form, i64::from(unit))?.0;
        match extent {
            Some(extent) => Ok(self.div_rem(quotient, i64::from(extent))?.1),
            None => Ok(quotient),
        }
    }
}

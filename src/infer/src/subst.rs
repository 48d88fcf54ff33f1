//! Index maps with other maps in place of variables.

use crate::arena::{Arena, Base, BaseId, Form, too_many};
use crate::error::{Error, PoolName, Result};
use crate::pool::sort_by_key;

/// How many bases may lie under one map.
pub(crate) const MAX_BASES: usize = 64;

/// Bases under a map.
pub(crate) type BaseSet = heapless::Vec<BaseId, MAX_BASES>;

/// More bases under a map than can be followed.
pub(crate) fn too_deep() -> Error {
    Error::Full { pool: PoolName::Scratch, has: MAX_BASES as u32 }
}

/// Bases and what stands for them.
type Values = heapless::Vec<(BaseId, Form), MAX_BASES>;

impl Arena<'_> {
    fn gather(&self, form: Form, set: &mut BaseSet) -> Result<()> {
        for t in self.terms_of(form) {
            if !set.contains(&t.atom.base) {
                set.push(t.atom.base).map_err(|_| too_deep())?;
            }
        }
        Ok(())
    }

    /// All bases under the maps, in the order in which they were made: each after those that it is
    /// derived of.
    pub(crate) fn bases_under(&self, forms: &[Form]) -> Result<BaseSet> {
        let mut set = BaseSet::new();
        for form in forms {
            self.gather(*form, &mut set)?;
        }
        let mut k = 0;
        while let Some(id) = set.get(k).copied() {
            match self.base(id)? {
                Base::Var { .. } => {}
                Base::Sum { form, .. } | Base::Parity { form } => self.gather(form, &mut set)?,
                Base::Op { a, b, .. } => {
                    self.gather(a, &mut set)?;
                    self.gather(b, &mut set)?;
                }
            }
            k = k.saturating_add(1);
        }
        sort_by_key(&mut set, |id| id.0);
        Ok(set)
    }

    /// Whether the map, or a base under it, takes a digit of a base that `wanted` holds for.
    pub fn mentions(&self, form: Form, wanted: impl Fn(BaseId, &Base) -> bool) -> Result<bool> {
        for id in &self.bases_under(&[form])? {
            if wanted(*id, &self.base(*id)?) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The map with `map` in place of variables. The highest digit of a variable is a quotient, so
    /// a map that goes beyond the variable's extent is continued, not cut.
    pub fn substitute(&mut self, form: Form, map: &[(BaseId, Form)]) -> Result<Form> {
        if form.is_constant() || map.is_empty() {
            return Ok(form);
        }
        let under = self.bases_under(&[form])?;
        let mut values = Values::new();
        for id in &under {
            let given = map.iter().find(|m| m.0 == *id).map(|m| m.1);
            let value = match (given, self.base(*id)?) {
                (Some(form), _) => form,
                (None, Base::Var { .. }) => self.whole(*id)?,
                (None, Base::Sum { form, .. }) => self.replaced(form, &values)?,
                (None, Base::Parity { form }) => self.parity(form, &values)?,
                (None, Base::Op { op, a, b, min, .. }) => {
                    let a = self.replaced(a, &values)?;
                    let b = self.replaced(b, &values)?;
                    let whole = self.op(op, a, b)?;
                    let constant = whole.constant.checked_sub(min).ok_or(Error::Overflow)?;
                    Form { constant, ..whole }
                }
            };
            values.push((*id, value)).map_err(|_| too_deep())?;
        }
        self.replaced(form, &values)
    }

    /// The sum with each digit taken of what stands for its base.
    fn replaced(&mut self, form: Form, values: &Values) -> Result<Form> {
        let mut out = Form::constant(form.constant);
        for t in self.load(form)? {
            let digit = self.digit_in(t.atom, values)?;
            out = self.add_scaled(out, digit, t.stride)?;
        }
        Ok(out)
    }

    fn parity(&mut self, form: Form, values: &Values) -> Result<Form> {
        let mut out = Form::constant(0);
        for t in self.load(form)? {
            let digit = self.digit_in(t.atom, values)?;
            out = self.xor(out, digit)?;
        }
        Ok(out)
    }

    fn digit_in(&mut self, atom: crate::arena::Atom, values: &Values) -> Result<Form> {
        let value = values.iter().find(|v| v.0 == atom.base).map(|v| v.1).ok_or_else(too_many)?;
        let top = self.is_top(atom)?;
        self.digit_of(value, atom.unit, if top { None } else { Some(atom.extent) })
    }

    /// `(form / unit) % extent`, or the quotient alone.
    pub(crate) fn digit_of(&mut self, form: Form, unit: u32, extent: Option<u32>) -> Result<Form> {
        let quotient = self.div_rem(form, i64::from(unit))?.0;
        match extent {
            Some(extent) => Ok(self.div_rem(quotient, i64::from(extent))?.1),
            None => Ok(quotient),
        }
    }
}

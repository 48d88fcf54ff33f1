//! Maps evaluated at points, one by one: the exact answer where structure gives none.

use crate::arena::{BaseDigit, BaseId, FormArena, FormBase, IndexForm, floor_div};
use crate::error::{FormError, FormResult};
use crate::subst::{BaseSet, MAX_BASES, MAX_WALK};

/// Values of all bases under some maps.
#[derive(Debug)]
pub struct Tape {
    bases: BaseSet,
    values: heapless::Vec<i64, MAX_BASES>,
}

impl Tape {
    /// A tape for these maps; all variables are 0.
    ///
    /// # Errors
    /// [`FormError::Full`] with more bases than can be followed.
    pub fn new(arena: &FormArena<'_>, forms: &[IndexForm]) -> FormResult<Self> {
        let bases = arena.bases_under(forms)?;
        let mut values = heapless::Vec::new();
        for _ in &bases {
            let _ = values.push(0);
        }
        Ok(Self { bases, values })
    }

    /// Sets a variable, if any map asks for it.
    pub fn set(&mut self, base: BaseId, value: i64) {
        if let Ok(at) = self.bases.binary_search(&base)
            && let Some(slot) = self.values.get_mut(at)
        {
            *slot = value;
        }
    }

    /// Values of what is derived of the variables.
    ///
    /// # Errors
    /// [`FormError::Overflow`], [`FormError::Stale`].
    pub fn derive(&mut self, arena: &FormArena<'_>) -> FormResult<()> {
        for at in 0..self.bases.len() {
            let Some(id) = self.bases.get(at).copied() else { break };
            let value = match arena.base(id)? {
                FormBase::Var { .. } => continue,
                FormBase::Sum { form, .. } => self.value(arena, form)?,
                FormBase::Parity { form } => self.value(arena, form)? & 1,
                FormBase::Op { op, a, b, min, .. } => {
                    let whole = op.apply(self.value(arena, a)?, self.value(arena, b)?)?;
                    whole.checked_sub(min).ok_or(FormError::Overflow)?
                }
            };
            if let Some(slot) = self.values.get_mut(at) {
                *slot = value;
            }
        }
        Ok(())
    }

    /// The value of a map, one of those that the tape was made for, after [`Tape::derive`].
    ///
    /// # Errors
    /// [`FormError::Overflow`], [`FormError::Stale`].
    pub fn value(&self, arena: &FormArena<'_>, form: IndexForm) -> FormResult<i64> {
        let mut sum = form.constant;
        for t in arena.terms_of(form) {
            let digit = self.digit(arena, t.digit)?;
            let way = t.stride.checked_mul(digit).ok_or(FormError::Overflow)?;
            sum = sum.checked_add(way).ok_or(FormError::Overflow)?;
        }
        Ok(sum)
    }

    fn digit(&self, arena: &FormArena<'_>, digit: BaseDigit) -> FormResult<i64> {
        let at = self.bases.binary_search(&digit.base).map_err(|_| FormError::Stale)?;
        let value = self.values.get(at).copied().ok_or(FormError::Stale)?;
        let quotient = floor_div(value, i64::from(digit.unit))?;
        if arena.is_top(digit)? {
            return Ok(quotient);
        }
        quotient.checked_rem_euclid(i64::from(digit.extent)).ok_or(FormError::Overflow)
    }
}

/// A walk over all points of some variables, the last one fastest.
#[derive(Debug)]
pub struct Walk {
    vars: heapless::Vec<(BaseId, u32, u32), MAX_WALK>,
    ended: bool,
}

impl Walk {
    /// A walk over variables with their extents.
    ///
    /// # Errors
    /// [`FormError::Full`] with more than [`MAX_WALK`].
    pub fn new(vars: &[(BaseId, u32)]) -> FormResult<Self> {
        let mut out = heapless::Vec::new();
        for (id, extent) in vars.iter().copied() {
            let full =
                FormError::Full { pool: crate::error::PoolName::Scratch, has: MAX_WALK as u32 };
            out.push((id, extent, 0)).map_err(|_| full)?;
        }
        let ended = out.iter().any(|v| v.1 == 0);
        Ok(Self { vars: out, ended })
    }

    /// Whether all points were seen.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// Puts the point in hand on a tape.
    pub fn put(&self, tape: &mut Tape) {
        for (id, _, at) in &self.vars {
            tape.set(*id, i64::from(*at));
        }
    }

    /// Goes on to the next point.
    pub fn step(&mut self) {
        for (_, extent, at) in self.vars.iter_mut().rev() {
            *at = at.saturating_add(1);
            if *at < *extent {
                return;
            }
            *at = 0;
        }
        self.ended = true;
    }
}

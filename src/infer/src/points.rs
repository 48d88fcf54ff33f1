//! Maps evaluated at points, one by one: the exact answer where structure gives none.

use crate::arena::{BaseDigit, BaseId, FormArena, FormBase, IndexForm, floor_div};
use crate::error::{FormError, FormResult};
use crate::subst::{BaseSet, MAX_BASES, MAX_WALK};

/// Which variables something asks for, by their numbers among those of a tape; the last bit stands
/// for all from there on.
type VariableSet = u16;

/// Values of all bases under some maps.
#[derive(Debug)]
pub struct Tape {
    bases: BaseSet,
    values: heapless::Vec<i64, MAX_BASES>,
    /// The variables under each base.
    asked: heapless::Vec<VariableSet, MAX_BASES>,
    /// The variables that were set since values were derived.
    changed: VariableSet,
}

impl Tape {
    /// A tape for these maps; all variables are 0.
    ///
    /// # Errors
    /// [`FormError::Full`] with more bases than can be followed.
    pub fn new(arena: &FormArena<'_>, forms: &[IndexForm]) -> FormResult<Self> {
        let bases = arena.bases_under(forms)?;
        let (values, asked) = (heapless::Vec::new(), heapless::Vec::new());
        let mut tape = Self { bases, values, asked, changed: VariableSet::MAX };
        let mut variables = 0u32;
        for at in 0..tape.bases.len() {
            let Some(id) = tape.bases.get(at).copied() else { break };
            let own = match arena.base(id)? {
                FormBase::Var { .. } => {
                    let bit = VariableSet::checked_shl(1, variables.min(VariableSet::BITS - 1))
                        .unwrap_or(0);
                    variables = variables.saturating_add(1);
                    bit
                }
                FormBase::Sum { form, .. } | FormBase::Parity { form } => {
                    tape.asked_by(arena, form)?
                }
                FormBase::Op { a, b, .. } => tape.asked_by(arena, a)? | tape.asked_by(arena, b)?,
            };
            let _ = tape.values.push(0);
            let _ = tape.asked.push(own);
        }
        Ok(tape)
    }

    /// The variables that a map asks for, of bases that are on the tape.
    fn asked_by(&self, arena: &FormArena<'_>, form: IndexForm) -> FormResult<VariableSet> {
        let mut all = 0;
        for t in arena.terms_of(form) {
            let at = self.bases.binary_search(&t.digit.base).map_err(|_| FormError::Stale)?;
            all |= self.asked.get(at).copied().ok_or(FormError::Stale)?;
        }
        Ok(all)
    }

    /// Sets a variable, if any map asks for it.
    pub fn set(&mut self, base: BaseId, value: i64) {
        if let Ok(at) = self.bases.binary_search(&base)
            && let (Some(slot), Some(own)) = (self.values.get_mut(at), self.asked.get(at))
            && *slot != value
        {
            *slot = value;
            self.changed |= own;
        }
    }

    /// Values of what is derived of the variables: of those that were set since it was asked last.
    ///
    /// # Errors
    /// [`FormError::Overflow`], [`FormError::Stale`].
    pub fn derive(&mut self, arena: &FormArena<'_>) -> FormResult<()> {
        for at in 0..self.bases.len() {
            let Some(id) = self.bases.get(at).copied() else { break };
            // What asks for no variable has its value once and for all, and is as cheap as the question.
            if self.asked.get(at).is_some_and(|own| *own != 0 && own & self.changed == 0) {
                continue;
            }
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
        self.changed = 0;
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

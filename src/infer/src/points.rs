//! Maps evaluated at points, one by one: the exact answer where structure gives none.

use crate::arena::{Arena, Atom, Base, BaseId, Form, floor_div};
use crate::error::{Error, Result};
use crate::subst::{BaseSet, MAX_BASES};

/// How many variables a walk over points can have.
pub const MAX_WALK: usize = 16;

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
    /// [`Error::Full`] with more bases than can be followed.
    pub fn new(arena: &Arena<'_>, forms: &[Form]) -> Result<Self> {
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
    /// [`Error::Overflow`], [`Error::Stale`].
    pub fn derive(&mut self, arena: &Arena<'_>) -> Result<()> {
        for at in 0..self.bases.len() {
            let Some(id) = self.bases.get(at).copied() else { break };
            let value = match arena.base(id)? {
                Base::Var { .. } => continue,
                Base::Sum { form, .. } => self.value(arena, form)?,
                Base::Parity { form } => self.value(arena, form)? & 1,
                Base::Op { op, a, b, min, .. } => {
                    let whole = op.apply(self.value(arena, a)?, self.value(arena, b)?)?;
                    whole.checked_sub(min).ok_or(Error::Overflow)?
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
    /// [`Error::Overflow`], [`Error::Stale`].
    pub fn value(&self, arena: &Arena<'_>, form: Form) -> Result<i64> {
        let mut sum = form.constant;
        for t in arena.terms_of(form) {
            let digit = self.digit(arena, t.atom)?;
            let way = t.stride.checked_mul(digit).ok_or(Error::Overflow)?;
            sum = sum.checked_add(way).ok_or(Error::Overflow)?;
        }
        Ok(sum)
    }

    fn digit(&self, arena: &Arena<'_>, atom: Atom) -> Result<i64> {
        let at = self.bases.binary_search(&atom.base).map_err(|_| Error::Stale)?;
        let value = self.values.get(at).copied().ok_or(Error::Stale)?;
        let quotient = floor_div(value, i64::from(atom.unit))?;
        if arena.is_top(atom)? {
            return Ok(quotient);
        }
        quotient.checked_rem_euclid(i64::from(atom.extent)).ok_or(Error::Overflow)
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
    /// [`Error::Full`] with more than [`MAX_WALK`].
    pub fn new(vars: impl Iterator<Item = (BaseId, u32)>) -> Result<Self> {
        let mut out = heapless::Vec::new();
        for (id, extent) in vars {
            let full = Error::Full { pool: crate::error::PoolName::Scratch, has: MAX_WALK as u32 };
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

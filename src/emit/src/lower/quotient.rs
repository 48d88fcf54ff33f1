//! Index values that are quotients: a shift of what is divided; where a loop moves it, by how much.

use crate::lower::context::{EmitError, LowerContext};
use lanebook_ir::{Loop, Op, Value};

impl LowerContext<'_, '_, '_, '_> {
    /// What an index is made of: a number, parameter or loop counter, and how many bits it is
    /// shifted right by. Inside `innermost`, its counter stands for the loop's start.
    pub(crate) fn shifted(
        &self,
        op: Op,
        value: Value,
        innermost: Option<&Loop>,
    ) -> Result<(Value, u32), EmitError> {
        let refuse = EmitError::Index(op);
        let quotient = self.program.quotient(value).ok_or(refuse)?;
        let bits =
            quotient.by.is_power_of_two().then(|| quotient.by.trailing_zeros()).ok_or(refuse)?;
        let of =
            innermost.filter(|at| at.induction == quotient.of).map_or(quotient.of, |at| at.lower);
        let plain = self.program.quotient(of).is_some_and(|inner| inner.by == 1);
        if plain { Ok((of, bits)) } else { Err(refuse) }
    }

    /// By how much a loop moves an index in each turn; `None` if it does not. The step must be a
    /// known number, and of a quotient a multiple.
    pub(crate) fn stepped(
        &self,
        op: Op,
        value: Value,
        at: &Loop,
    ) -> Result<Option<u32>, EmitError> {
        let Some(quotient) =
            self.program.quotient(value).filter(|quotient| quotient.of == at.induction)
        else {
            return Ok(None);
        };
        self.program.quotient_step(quotient, at.step).map(Some).ok_or(EmitError::Index(op))
    }

    /// Whether a loop moves an index.
    pub(crate) fn is_stepped(&self, value: Value, at: &Loop) -> bool {
        self.program.quotient(value).is_some_and(|quotient| quotient.of == at.induction)
    }
}

//! One instruction for the next address, over and over: addresses of rows lie one step apart, and
//! what was selected for the first of such steps is right for every other one. Selecting it each
//! time took a third of a whole compile.

use crate::expr::{BitFacts, ExprId, Reg, RegBank};
use crate::lower::context::{EmitError, LowerContext};
use crate::step::slot;
use lanebook_tables::IndexOp;

/// Steps that are remembered at a time: those of the bits of a row's number.
const MOST_STEPS: usize = 8;

/// An instruction that adds a step to an address.
#[derive(Copy, Clone)]
pub(crate) struct AddedStep {
    /// What it adds.
    step: ExprId,
    /// What was known of the address, and where it was.
    from: (BitFacts, Reg),
    /// Where the sum is.
    to: Reg,
    /// Which of the instructions it is.
    at: u16,
}

/// Those of one list of addresses.
pub(crate) type AddedSteps = heapless::Vec<AddedStep, MOST_STEPS>;

impl LowerContext<'_, '_, '_, '_> {
    /// Adds `step` to an address that is there, by the instruction that did so before if one did;
    /// the sum, and where it is.
    pub(crate) fn add_step(
        &mut self,
        (op, from, step): (IndexOp, ExprId, ExprId),
        bank: RegBank,
        before: &mut AddedSteps,
    ) -> Result<(ExprId, Reg), EmitError> {
        let node = self.arena.op(op, &[from, step])?;
        let place = self.selector.computed(from);
        let known = self.arena.facts(from).copied().zip(place);
        if let Some((facts, place)) = known
            && let Some(made) = before.iter().find(|m| m.step == step && m.from.0 == facts)
            && let Some(reg) = self.added_again(*made, place)?
        {
            return Ok((node, reg));
        }
        let (at, first) = (self.steps.here(), self.steps.next_register());
        let to = self.compute(node, bank)?;
        let is_one = self.steps.here().checked_sub(at) == Some(1) && to.first >= first;
        if let (true, Some(from)) = (is_one, known) {
            // A full list costs a selection.
            let _ = before.push(AddedStep { step, from, to, at });
        }
        Ok((node, to))
    }

    /// The same instruction from another address, if that is of the same registers.
    fn added_again(&mut self, made: AddedStep, from: Reg) -> Result<Option<Reg>, EmitError> {
        let (then, to) = (made.from.1, made.to);
        let Some(step) = self.steps.steps.get(usize::from(made.at)).copied() else {
            return Ok(None);
        };
        let count = |reg| step.args.iter().filter(|arg| **arg == slot(reg)).count();
        if (then.class, then.count) != (from.class, from.count)
            || (count(then), count(to)) != (1, 1)
        {
            return Ok(None);
        }
        let reg = self.steps.tuple(to.class, to.count)?;
        let args = step.args.map(|arg| match arg {
            arg if arg == slot(then) => slot(from),
            arg if arg == slot(to) => slot(reg),
            arg => arg,
        });
        self.steps.append(step.atom, &args)?;
        Ok(Some(reg))
    }
}

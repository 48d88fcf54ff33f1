//! One instruction for the next address, over and over: addresses of rows lie one step apart, and
//! what was selected for the first of such steps is right for every other one. Selecting it each
//! time took a third of a whole compile.

use crate::expr::{ExprId, Reg, RegBank};
use crate::lower::context::{EmitError, LowerContext};
use crate::step::slot;
use lanebook_tables::IndexOp;

/// Steps that are remembered at a time: from row to row, and the one before that was longer.
const MOST_STEPS: usize = 2;

/// An instruction that adds a step to an address.
#[derive(Copy, Clone)]
pub(crate) struct AddedStep {
    /// What it adds.
    step: ExprId,
    /// The address, and where it was.
    from: (ExprId, Reg),
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
    #[inline(always)] // Selection is the deepest there is, and stays as deep as it was.
    pub(crate) fn add_step(
        &mut self,
        (op, from, step): (IndexOp, ExprId, ExprId),
        bank: RegBank,
        before: &mut AddedSteps,
    ) -> Result<(ExprId, Reg), EmitError> {
        let node = self.arena.op(op, &[from, step])?;
        let place = self.selector.computed(from);
        if let Some(reg) = self.added_again((from, place), step, before)? {
            return Ok((node, reg));
        }
        let (at, first) = (self.steps.here(), self.steps.next_register());
        let to = self.compute(node, bank)?;
        let is_one = self.steps.here().checked_sub(at) == Some(1) && to.first >= first;
        if let (true, Some(place)) = (is_one, place) {
            if before.is_full() {
                let _ = before.pop();
            }
            let _ = before.push(AddedStep { step, from: (from, place), to, at });
        }
        Ok((node, to))
    }

    /// The same instruction from another address, if one of which as much was known was in the same
    /// registers.
    #[inline(never)] // Beside selection, not below it.
    fn added_again(
        &mut self,
        (from, place): (ExprId, Option<Reg>),
        step: ExprId,
        before: &AddedSteps,
    ) -> Result<Option<Reg>, EmitError> {
        let facts = self.arena.facts(from);
        let alike = |made: &&AddedStep| made.step == step && self.arena.facts(made.from.0) == facts;
        let (Some(from), Some(made)) = (place, before.iter().find(alike)) else { return Ok(None) };
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

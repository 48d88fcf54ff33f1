//! The copies of a loop of stages that go through registers: what a turn loads is stored behind the
//! rest of its body.

use crate::expr::Reg;
use crate::lower::context::{EmitError, LowerContext};
use crate::lower::stages::StagedLoop;
use crate::step::slot;
use crate::sync::order::PendingAccesses;
use lanebook_ir::{Loop, Op};

impl LowerContext<'_, '_, '_, '_> {
    /// Whether a copy of a loop of stages goes through registers.
    pub(crate) fn is_through_registers(&self, op: Op) -> bool {
        self.plan.runs_ahead(op) && self.plan.move_of(op).is_some_and(|m| m.second.is_some())
    }

    /// Registers for all that a turn's copies load that go through registers, one behind the other:
    /// the first of them.
    pub(crate) fn loaded_registers(&mut self, parts: &Loop) -> Result<u16, EmitError> {
        let first = self.steps.next_register();
        for op in self.program.ops(parts.body) {
            if !self.is_through_registers(op) {
                continue;
            }
            self.reserve(op)?;
        }
        Ok(first)
    }

    /// The halves of a turn's copies through registers: their loads, or, where nothing is open, their
    /// stores.
    #[inline(never)]
    pub(crate) fn through_turn(
        &mut self,
        (parts, loaded): (&Loop, u16),
        mut open: Option<&mut PendingAccesses>,
    ) -> Result<(), EmitError> {
        let mut first = loaded;
        for op in self.program.ops(parts.body) {
            if !self.is_through_registers(op) {
                continue;
            }
            let own = (op, Some(parts));
            first = match &mut open {
                Some(open) => {
                    self.prepare_later(op, parts)?;
                    self.load_half(own, first, Some(open))?
                }
                None => self.store_half(op, first)?,
            };
        }
        Ok(())
    }

    /// Behind the rest of the body: what copies have loaded is stored.
    #[inline(never)]
    pub(crate) fn store_turn(
        &mut self,
        (parts, counter): (&Loop, Reg),
        staged: &StagedLoop,
    ) -> Result<(), EmitError> {
        if !self.program.ops(parts.body).any(|op| self.is_through_registers(op)) {
            return Ok(());
        }
        let over = self.fresh_label();
        self.skip_if_less(staged.last, slot(counter), over)?;
        let mark = self.steps.next_register();
        self.through_turn((parts, staged.loaded), None)?;
        self.steps.origin = u16::try_from(parts.op.index()).unwrap_or(u16::MAX);
        self.steps.label(over)?;
        self.forget_since(mark);
        Ok(())
    }
}

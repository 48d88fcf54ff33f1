//! Atomic operations: what their instructions have beside the elements that they move.
//!
//! What memory is compared with is a tile distributed as the one that is moved; an instruction has
//! it in an operand of its own, or behind what it moves in one run of registers. What stood in
//! memory before is a tile distributed so, too: it is 0 where no element is touched.

use crate::expr::Reg;
use crate::lower::context::{EmitError, LowerContext};
use crate::step::{InstKind, Slot, slot};
use lanebook_plan::TransferPlan;
use lanebook_tables::{Atom, Atomic, ClassId, RegisterKind};

impl LowerContext<'_, '_, '_, '_> {
    /// Registers for what an atomic operation answers, if something reads it.
    #[inline(never)] // What it looks at leaves the stack with it.
    pub(crate) fn open_answer(&mut self, plan: &TransferPlan) -> Result<(), EmitError> {
        let Some(answer) = self.program.answer(plan.op) else { return Ok(()) };
        let refuse = EmitError::Unplanned(plan.op);
        let (_, fragment) = self.plan.fragment_of(answer).ok_or(refuse)?;
        let class = self.machine.class(RegisterKind::Vector, 32).ok_or(refuse)?;
        let reg = self.tile(class, fragment)?;
        self.hold(answer, reg)
    }

    /// The operands of an instance that are neither an address nor what is moved.
    #[inline(never)] // What it looks at leaves the stack with it.
    pub(crate) fn combined_with(
        &mut self,
        plan: &TransferPlan,
        atom: &Atom<'_>,
        instance: u32,
        args: &mut [Slot],
    ) -> Result<(), EmitError> {
        let refuse = EmitError::Unplanned(plan.op);
        let movement = atom.movement.ok_or(refuse)?;
        let Some(Atomic { old, compare, .. }) = movement.atomic else { return Ok(()) };
        if let Some(compare) = compare {
            let operand = atom.operands.get(usize::from(compare)).ok_or(refuse)?;
            let tile = self.program.compared_tile(plan.op).ok_or(refuse)?;
            let part = if self.program.constant(tile).is_some() {
                // It has no distribution: whoever reads it makes it.
                let class = self.machine.class(RegisterKind::Vector, 32).ok_or(refuse)?;
                let count = 1u8.checked_shl(plan.tiling.tuple.len() as u32).ok_or(refuse)?;
                let reg = self.steps.tuple(class, u16::from(count))?;
                let purpose = self.steps.purpose;
                self.fill_constant(plan.op, reg, tile)?;
                self.steps.purpose = purpose;
                slot(reg)
            } else {
                let reg = self.tile_of(plan.op, tile)?;
                self.tile_part(plan, reg, instance)?
            };
            let moved = movement.from.operand;
            let place = args.get_mut(usize::from(compare)).ok_or(refuse)?;
            *place = if compare == moved {
                self.behind(plan, *place, part, operand.class, u16::from(operand.registers))?
            } else {
                self.suited_part(plan.op, part, operand)?
            };
        }
        if let Some(old) = old {
            let operand = atom.operands.get(usize::from(old)).ok_or(refuse)?;
            let place = args.get_mut(usize::from(old)).ok_or(refuse)?;
            *place = match self.answer_part(plan, instance)? {
                Some(part) if self.fits(part, operand.class) => part,
                _ => slot(self.steps.tuple(operand.class, u16::from(operand.registers))?),
            };
        }
        Ok(())
    }

    /// The part of the answer's registers that an instance fills.
    fn answer_part(
        &mut self,
        plan: &TransferPlan,
        instance: u32,
    ) -> Result<Option<Slot>, EmitError> {
        let Some(answer) = self.program.answer(plan.op) else { return Ok(None) };
        let reg = self.tile_of(plan.op, answer)?;
        self.tile_part(plan, reg, instance).map(Some)
    }

    fn fits(&self, part: Slot, class: ClassId) -> bool {
        matches!(part, Slot::Reg { class: own, .. } if u16::from(own) == class.0)
    }

    /// Brings what an instance has answered to where it belongs, if it is not there: wide registers
    /// are taken apart.
    #[inline(never)] // What it looks at leaves the stack with it.
    pub(crate) fn keep_answer(
        &mut self,
        plan: &TransferPlan,
        instance: u32,
        found: Slot,
    ) -> Result<(), EmitError> {
        let Some(part) = self.answer_part(plan, instance)?.filter(|part| *part != found) else {
            return Ok(());
        };
        let refuse = EmitError::Unplanned(plan.op);
        let reg = |slot| match slot {
            Slot::Reg { class, count, first } => {
                Ok(Reg { class: ClassId(u16::from(class)), first, count })
            }
            _ => Err(refuse),
        };
        let (from, to) = (reg(found)?, reg(part)?);
        if self.machine.is_twice(from.class, to.class) {
            return self.take_apart(from, to);
        }
        let purpose = self.steps.purpose;
        self.copy_tile(plan.op, from, to)?;
        self.steps.purpose = purpose;
        Ok(())
    }

    /// A run of registers with two parts of tiles, one behind the other.
    fn behind(
        &mut self,
        plan: &TransferPlan,
        first: Slot,
        second: Slot,
        class: ClassId,
        count: u16,
    ) -> Result<Slot, EmitError> {
        let refuse = EmitError::Unplanned(plan.op);
        let run = self.steps.tuple(class, count)?;
        let half = count / 2;
        let purpose = core::mem::replace(&mut self.steps.purpose, InstKind::Fill);
        for (number, part) in [(0u16, first), (1, second)] {
            let Slot::Reg { class: own, count, first } = part else { return Err(refuse) };
            if count != half {
                return Err(refuse);
            }
            let from = Reg { class: ClassId(u16::from(own)), first, count };
            let at = number.checked_mul(half).and_then(|n| run.first.checked_add(n));
            let to = Reg { class, first: at.ok_or(refuse)?, count };
            self.copy_tile(plan.op, from, to)?;
        }
        self.steps.purpose = purpose;
        Ok(slot(run))
    }
}

//! Addresses that a loop advances: what its counter adds to them, turn by turn, in registers that
//! may be changed.

use crate::expr::{ExprId, RegBank};
use crate::lower::context::{Advance, EmitError, LowerContext};
use crate::lower::index::Moved;
use crate::lower::kept::MovementEnd;
use crate::lower::target::SecondOperand;
use crate::pool::EmitPool;
use lanebook_ir::{Loop, Op};
use lanebook_plan::GlobalPlan;
use lanebook_tables::IndexOp;

impl LowerContext<'_, '_, '_, '_> {
    /// Lets the innermost loop advance all addresses of a side.
    pub(crate) fn advance_places(
        &mut self,
        (op, end): (Op, MovementEnd),
        global: &GlobalPlan,
        outer_bytes: ExprId,
        innermost: Option<&Loop>,
    ) -> Result<(), EmitError> {
        let number = u16::try_from(op.index()).unwrap_or(u16::MAX);
        let mut at = 0usize;
        while let Some(address) = self.addresses.get(at).copied() {
            if address.op == number && address.what.is_place_of(end) {
                let reg = self.own(op, address.reg, innermost, global)?;
                if let Some(kept) = self.addresses.get_mut(at) {
                    kept.reg = reg;
                }
                self.advance(op, reg, global, outer_bytes, innermost)?;
            }
            at = at.saturating_add(1);
        }
        Ok(())
    }

    /// Whether the innermost loop moves this tile.
    fn moves(&self, global: &GlobalPlan, innermost: Option<&Loop>) -> bool {
        innermost.is_some_and(|at| global.starts().any(|start| self.is_stepped(start, at)))
    }

    /// A register that may be changed: a copy, if the loop changes it and it stands for something
    /// that others may use, or that a loop around does not compute again for its next turn.
    pub(crate) fn own(
        &mut self,
        op: Op,
        reg: crate::expr::Reg,
        innermost: Option<&Loop>,
        global: &GlobalPlan,
    ) -> Result<crate::expr::Reg, EmitError> {
        if !self.moves(global, innermost) {
            return Ok(reg);
        }
        let number = u16::try_from(op.index()).unwrap_or(u16::MAX);
        let shared = self.addresses.iter().any(|a| a.reg == reg && a.op != number)
            || self.registers.contains(&Some(reg));
        if shared || reg.first < self.made_inside {
            return self.copy(reg);
        }
        self.selector.release(reg);
        Ok(reg)
    }

    /// A copy of a register.
    pub(crate) fn copy(&mut self, reg: crate::expr::Reg) -> Result<crate::expr::Reg, EmitError> {
        use crate::step::{InstError, Missing, slot};
        let missing = InstError::NoAtom(Missing::Move(reg.class));
        let atom = self.machine.copy_into(reg.class, reg.count, reg.class).ok_or(missing)?;
        let fresh = self.steps.tuple(reg.class, reg.count)?;
        self.steps.append(atom, &[slot(fresh), slot(reg)])?;
        Ok(fresh)
    }

    /// Notes that the innermost loop advances an address, computing the step where it is not known.
    pub(crate) fn advance(
        &mut self,
        op: Op,
        reg: crate::expr::Reg,
        global: &GlobalPlan,
        outer_bytes: ExprId,
        innermost: Option<&Loop>,
    ) -> Result<(), EmitError> {
        let Some(at) = innermost.filter(|_| self.moves(global, innermost)) else { return Ok(()) };
        let owner = u16::try_from(at.op.index()).unwrap_or(u16::MAX);
        let capacity = u32::try_from(self.advances.capacity()).unwrap_or(u32::MAX);
        let waits = self.waits_for_turns(at, op);
        let push = |this: &mut Self, by: Option<crate::expr::Reg>, bytes: u32| {
            this.advances
                .push(Advance { owner, reg, by, bytes, waits })
                .map_err(|_| EmitError::full(EmitPool::Advances, capacity))
        };
        let bits = u32::from(global.map.shape.bits / 8);
        let kind = self.machine.kind(reg.class);
        let place = if kind == Some(lanebook_tables::RegisterKind::Scalar) {
            RegBank::Scalar
        } else {
            RegBank::Vector
        };
        let rank = global.rank();
        let inner = match global.is_indexed(rank.saturating_sub(1)) {
            true => None,
            false => self.stepped(op, global.start.1, at)?,
        };
        match inner {
            Some(Moved::By(step)) => {
                push(self, None, step.checked_mul(bits).ok_or(EmitError::Index(op))?)?;
            }
            Some(Moved::Node(step)) => {
                self.steps.purpose = crate::step::InstKind::FirstAddress;
                let bits = self.arena.constant(bits)?;
                let node = self.arena.op(IndexOp::MulWide64, &[step, bits])?;
                let by = self.compute(node, place)?;
                push(self, Some(by), 0)?;
            }
            None => {}
        }
        for (dim, lead) in global.leads().map(Some).chain([None]).enumerate() {
            if global.is_indexed(dim) && (lead.is_some() || global.start.0.is_some()) {
                continue;
            }
            let Some(start) = lead.map_or(global.start.0, |lead| Some(lead.start)) else {
                continue;
            };
            let Some(step) = self.stepped(op, start, at)? else { continue };
            let size = match lead {
                Some(lead) => self.lead_bytes(op, global, dim, lead)?,
                None => outer_bytes,
            };
            self.steps.purpose = crate::step::InstKind::FirstAddress;
            let count = match step {
                Moved::By(step) => self.arena.constant(step)?,
                Moved::Node(step) => step,
            };
            let node = self.arena.op(IndexOp::MulWide64, &[count, size])?;
            let by = self.compute(node, place)?;
            push(self, Some(by), 0)?;
        }
        Ok(())
    }

    /// Advances every address of a loop, at its end; those that wait for the first turn of a loop of
    /// stages, or the others.
    pub(crate) fn advance_all(&mut self, owner: Op, waits: bool) -> Result<(), EmitError> {
        let number = u16::try_from(owner.index()).unwrap_or(u16::MAX);
        let mut at = 0usize;
        while let Some(advance) = self.advances.get(at).copied() {
            at = at.saturating_add(1);
            if advance.owner != number || advance.waits != waits {
                continue;
            }
            // Addresses in global memory have 64 bits, coordinates have 32.
            let class = self.machine.isa.classes.get(advance.reg.class.index());
            let wide = class.is_some_and(|c| c.bits.saturating_mul(advance.reg.count) > 32);
            let op = if wide { IndexOp::Add64 } else { IndexOp::Add };
            let by = match advance.by {
                Some(reg) => SecondOperand::Reg(reg),
                None => match self.machine.binary(
                    op,
                    advance.reg.class,
                    advance.reg.count,
                    SecondOperand::Number(i64::from(advance.bytes)),
                ) {
                    Some(_) => SecondOperand::Number(i64::from(advance.bytes)),
                    None => return Err(EmitError::Unplanned(owner)),
                },
            };
            self.add_in_place(advance.reg, by, op)?;
        }
        Ok(())
    }
}

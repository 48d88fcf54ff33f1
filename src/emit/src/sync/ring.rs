//! Rings of mbarriers: the copies of each turn of a loop of stages complete on the next one.
//!
//! Three registers go on through the whole kernel, whatever loops are around: the object that is
//! announced to next, the one that is waited for next, and the parity of its phase. A loop that is
//! left has waited for all that it has announced, so that the first two are equal when it begins
//! again. The parity changes when the ring has been gone round.

use crate::expr::{Reg, RegBank, Variable};
use crate::lower::context::{EmitError, LowerContext};
use crate::lower::target::SecondOperand;
use crate::pool::EmitPool;
use crate::step::{InstKind, slot};
use crate::sync::mbarrier::{MAX_MBARRIERS, MbarrierRegs};
use lanebook_ir::{Loop, Op};
use lanebook_tables::IndexOp;

impl LowerContext<'_, '_, '_, '_> {
    /// What is kept of an object whose address is in a register. The first of a ring stands for the
    /// one that is waited for next, the second for the one that is announced to next.
    pub(crate) fn keep_completion(
        &mut self,
        number: u8,
        address: Reg,
        parity: impl FnOnce(&mut Self) -> Result<Reg, EmitError>,
    ) -> Result<(), EmitError> {
        let kept = match self.plan.ring_of(number) {
            // Each of the two parts of a kernel keeps its own.
            _ if self.plan.is_handed_over(self.program, number) => {
                MbarrierRegs { address, parity: address }
            }
            Some((first, _)) if first != number => {
                let MbarrierRegs { address, parity } = self.completion(first)?;
                let next = number.checked_sub(first) == Some(1);
                MbarrierRegs { address: if next { self.copy(address)? } else { address }, parity }
            }
            Some(_) => MbarrierRegs { address: self.copy(address)?, parity: parity(self)? },
            None => MbarrierRegs { address, parity: parity(self)? },
        };
        let capacity = MAX_MBARRIERS as u32;
        let full = EmitError::full(EmitPool::Mbarriers, capacity);
        self.mbarriers.push(kept).map_err(|_| full)
    }

    /// The object that copies announce to and complete on, of those that begin with one.
    pub(crate) fn announced_to(&self, number: u8) -> u8 {
        number.saturating_add(u8::from(self.plan.ring_of(number).is_some()))
    }

    /// Behind the copies of a turn: the next ones complete on the next object.
    #[inline(never)]
    pub(crate) fn next_announced(&mut self, around: Op) -> Result<(), EmitError> {
        let Some((first, count)) = self.plan.ring(self.program, around) else { return Ok(()) };
        let at = self.completion(self.announced_to(first))?.address;
        self.next_object(around, (first, count), at).map(|_| ())
    }

    /// Waits for the copies of the turn that is read next.
    #[inline(never)]
    pub(crate) fn wait_in_ring(
        &mut self,
        around: Op,
        first: u8,
        count: u8,
    ) -> Result<(), EmitError> {
        self.wait_for_object(around, first, (first, count))
    }

    /// Waits for the object of a ring that a kept one stands for, and goes on to the next one.
    pub(crate) fn wait_for_object(
        &mut self,
        around: Op,
        kept: u8,
        (first, count): (u8, u8),
    ) -> Result<(), EmitError> {
        let (object, at) = (self.mbarrier()?, self.completion(kept)?);
        self.steps.origin = u16::try_from(around.index()).unwrap_or(u16::MAX);
        self.steps.purpose = InstKind::Sync;
        self.steps.append(object.wait, &[slot(at.address), slot(at.parity)])?;
        // It changes behind the last object.
        let inside = self.next_object(around, (first, count), at.address)?;
        self.add_in_place(at.parity, SecondOperand::Reg(inside), IndexOp::Xor)?;
        self.add_in_place(at.parity, SecondOperand::Number(1), IndexOp::Xor)
    }

    /// Which buffer is next where a loop of stages begins whose copies other warps start, less the
    /// last one's number: the one whose object is waited for next.
    #[inline(never)]
    pub(crate) fn buffer_number(&mut self, parts: &Loop) -> Result<Reg, EmitError> {
        let unplanned = EmitError::Unplanned(parts.op);
        let (first, count) = self.plan.ring(self.program, parts.op).ok_or(unplanned)?;
        let (freed, _) = self.plan.freed_ring(self.program, parts.op).ok_or(unplanned)?;
        let waited = if self.copies_alone { freed } else { first };
        let each = u32::from(self.mbarrier()?.bytes);
        let begin = each.saturating_mul(u32::from(waited));
        let begin = self.shared_address(self.plan.mbarrier_offset.saturating_add(begin))?;
        let at = self.completion(first)?.address;
        let node = self.declare(Variable::word().uniform().level(1), at)?;
        let behind = self.arena.op(IndexOp::Sub, &[node, begin])?;
        let scale = u64::from(each.trailing_zeros());
        let number = self.arena.op_const(IndexOp::Shr, behind, scale)?;
        let last = u64::from(count).saturating_sub(1);
        let number = self.arena.op_const(IndexOp::Sub, number, last)?;
        let number = self.compute(number, self.uniform_bank())?;
        self.copy(number)
    }

    /// Goes on to the next object of a ring, or from the last one to the first; 1 where it goes on,
    /// else 0.
    pub(crate) fn next_object(
        &mut self,
        around: Op,
        (first, count): (u8, u8),
        at: Reg,
    ) -> Result<Reg, EmitError> {
        let each = u32::from(self.mbarrier()?.bytes);
        let place = |number: u8| each.saturating_mul(u32::from(number));
        self.steps.origin = u16::try_from(around.index()).unwrap_or(u16::MAX);
        self.steps.purpose = InstKind::FurtherAddress;
        let last = place(first.saturating_add(count).saturating_sub(1));
        let last = self.shared_address(self.plan.mbarrier_offset.saturating_add(last))?;
        let node = self.declare(Variable::word().uniform().level(1), at)?;
        let behind = self.arena.op(IndexOp::Sub, &[node, last])?;
        let inside = self.arena.op_const(IndexOp::Shr, behind, 31)?;
        let inside = self.compute(inside, RegBank::Vector)?;
        let inside_node = self.declare(Variable::word().uniform().below(2), inside)?;
        let on = self.arena.op_const(IndexOp::Mul, inside_node, u64::from(place(count)))?;
        let back = place(count.saturating_sub(1));
        let on = self.arena.op_const(IndexOp::Sub, on, u64::from(back))?;
        let on = self.compute(on, RegBank::Vector)?;
        self.add_in_place(at, SecondOperand::Reg(on), IndexOp::Add)?;
        Ok(inside)
    }
}

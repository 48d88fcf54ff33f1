//! Mbarriers: made at the kernel's entry by one thread, announced to, waited for by every
//! thread, each with a phase.
//!
//! An object's phase ends once for every announcement, and every thread waits for it exactly once:
//! the parity that a thread waits for stands in a register that its wait flips. So announcement and
//! wait must alternate on every path: whoever announces sees to it that the wait stands in the same
//! block (no loop begins or ends between them).

use crate::expr::{Reg, RegBank};
use crate::lower::context::{EmitError, LowerContext};
use crate::lower::target::SecondOperand;
use crate::pool::EmitPool;
use crate::step::{InstError, InstKind, Missing, Slot, int, slot};
use crate::sync::order::push;
use lanebook_tables::{IndexOp, Mbarrier, RegisterKind};
use lanebook_tile::unit::has;

/// An mbarrier in registers.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct MbarrierRegs {
    /// Its address.
    pub address: Reg,
    /// Parity of the phase that is waited for next.
    pub parity: Reg,
}

/// Most mbarriers of a group.
pub const MAX_MBARRIERS: usize = lanebook_plan::shared_alloc::MAX_MBARRIERS as usize;

impl<'t> LowerContext<'_, 't, '_, '_> {
    /// The architecture's mbarriers.
    pub(crate) fn mbarrier(&self) -> Result<&'t Mbarrier<'t>, EmitError> {
        let arch = self.machine.arch;
        let found = self.machine.tables.units.mbarriers.iter().find(|c| has(arch, c.feature));
        Ok(found.ok_or(InstError::NoAtom(Missing::Frame))?)
    }

    /// Makes the plan's mbarriers: each takes one arrival a phase.
    #[inline(never)]
    pub(crate) fn make_mbarriers(&mut self) -> Result<(), EmitError> {
        if self.plan.mbarriers == 0 {
            return Ok(());
        }
        let object = self.mbarrier()?;
        self.steps.purpose = InstKind::Sync;
        let on = self.first_thread()?;
        for number in 0..self.plan.mbarriers {
            let offset = self
                .plan
                .mbarrier_offset
                .saturating_add(u32::from(object.bytes).saturating_mul(u32::from(number)));
            let node = self.shared_address(offset)?;
            let address = self.compute(node, RegBank::Vector)?;
            self.keep_completion(number, address, |this| {
                let class = this.machine.class(RegisterKind::Vector, 32);
                this.filled(class.ok_or(InstError::NoAtom(Missing::Class))?, 0)
            })?;
            let arrivals = match self.plan.is_freed(self.program, number) {
                true => i32::try_from(self.plan.threads).unwrap_or(i32::MAX),
                false => 1,
            };
            self.steps.append(object.init, &[slot(on), slot(address), Slot::Int(arrivals)])?;
        }
        for step in object.publish {
            push(self.machine.tables, step, &mut self.steps)?;
        }
        Ok(())
    }

    /// The predicate that holds in one thread of the group.
    pub(crate) fn first_thread(&mut self) -> Result<Reg, EmitError> {
        if let Some(on) = self.elected {
            return Ok(on);
        }
        let compare = self.machine.isa.compare_less;
        let thread = self.compute(self.thread, RegBank::Vector)?;
        let on = self.predicate(compare)?.ok_or(InstError::NoAtom(Missing::Frame))?;
        self.frame_step(compare, Some(on), &[slot(thread), Slot::Int(1)])?;
        self.elected = Some(on);
        Ok(on)
    }

    /// A place in the group's shared memory.
    pub(crate) fn shared_address(&mut self, offset: u32) -> Result<crate::expr::ExprId, EmitError> {
        Ok(match (self.shared_base, offset) {
            (Some(base), 0) => base,
            (Some(base), offset) => self.arena.op_const(IndexOp::Add, base, u64::from(offset))?,
            (None, offset) => self.arena.constant(offset)?,
        })
    }

    pub(crate) fn completion(&self, number: u8) -> Result<MbarrierRegs, EmitError> {
        let capacity = u32::from(self.plan.mbarriers);
        self.mbarriers
            .get(usize::from(number))
            .copied()
            .ok_or(EmitError::full(EmitPool::Mbarriers, capacity))
    }

    /// Announces so many bytes to an object, and arrives there.
    pub(crate) fn expect(&mut self, number: u8, bytes: u32) -> Result<(), EmitError> {
        let (object, on, at) = (self.mbarrier()?, self.first_thread()?, self.completion(number)?);
        let refuse = InstError::Operand { atom: object.expect, operand: 2 };
        self.steps.purpose = InstKind::Sync;
        Ok(self.steps.append(
            object.expect,
            &[slot(on), slot(at.address), int(i64::from(bytes)).ok_or(refuse)?],
        )?)
    }

    /// Waits for the end of an object's phase; the next one has the other parity.
    pub(crate) fn wait(&mut self, number: u8) -> Result<(), EmitError> {
        let (object, at) = (self.mbarrier()?, self.completion(number)?);
        self.steps.purpose = InstKind::Sync;
        self.steps.append(object.wait, &[slot(at.address), slot(at.parity)])?;
        self.add_in_place(at.parity, SecondOperand::Number(1), IndexOp::Xor)
    }
}

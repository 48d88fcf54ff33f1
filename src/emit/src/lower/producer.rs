//! Warps that are set aside: they start the copies of loops of stages, turn by turn, and the other
//! warps read what these bring.
//!
//! Behind the kernel's entry the two part, and each goes through the loops by itself. A turn of the
//! copies begins with the wait for a buffer that nobody reads any more, a turn of the readers with
//! the wait for what its buffer was filled with; it ends with an arrival of every thread, which
//! frees the buffer. Both waits go round a ring of mbarriers, one for each buffer: those
//! that copies complete on, and behind them those that readers arrive at.
//!
//! Buffers and objects are gone through in step, through the whole kernel: a loop that begins again
//! goes on with the buffer behind the last one. So what a wait has found free is the buffer that is
//! filled next.
//!
//! What all readers meet at is another barrier than that of all threads of the block.

use crate::expr::RegBank;
use crate::lower::context::{EmitError, LowerContext, full};
use crate::lower::loops::{LoopFrame, MAX_DEPTH};
use crate::lower::stages::StagedLoop;
use crate::pool::EmitPool;
use crate::step::{InstError, InstKind, Missing, Slot, int, slot};
use crate::sync::mbarrier::MbarrierRegs;
use crate::sync::order::{PendingAccesses, RequiredSync, between_kinds, push};
use lanebook_ir::{Loop, Op};
use lanebook_plan::SpecializedWarps;
use lanebook_tables::{AtomId, OpRole, RegisterKind, WarpSpecialization};

/// Where the copying warps' part begins.
#[derive(Copy, Clone)]
pub(crate) struct Parting {
    /// Its label.
    begin: u16,
    /// The first register that the others make.
    mark: u16,
    /// Where both meet again.
    end: u16,
}

impl<'t> LowerContext<'_, 't, '_, '_> {
    /// Warps that are set aside, and what that takes.
    fn apart(&self) -> Result<(SpecializedWarps, &'t WarpSpecialization<'t>), EmitError> {
        let missing = InstError::NoAtom(Missing::Frame);
        let apart = self.plan.specialized.ok_or(missing)?;
        let facts = self.machine.tables.units.specializations;
        Ok((apart, facts.get(usize::from(apart.how)).ok_or(missing)?))
    }

    /// Behind the entry: the branch of the warps that copy, and what the others begin with.
    #[inline(never)]
    pub(crate) fn part_warps(&mut self) -> Result<(), EmitError> {
        if self.plan.specialized.is_none() {
            return Ok(());
        }
        let (apart, fact) = self.apart()?;
        let class = self.counter_class()?;
        let threads = self.plan.threads;
        self.steps.purpose = InstKind::Control;
        let last = self.filled(class, i64::from(threads).saturating_sub(1))?;
        let thread = self.compute(self.thread, RegBank::Vector)?;
        let (begin, end) = (self.fresh_label(), self.fresh_label());
        self.skip_if_less(last, slot(thread), begin)?;
        let mark = self.steps.next_register();
        self.move_registers(fact.resize, (apart.entry, apart.consumer))?;
        let numbers = [i32::from(fact.number), i32::try_from(threads).unwrap_or(i32::MAX)];
        self.steps.meeting = Some((fact.barrier, numbers));
        self.each_ring(|this, first, freed| {
            let full = this.object_copy(first)?;
            let parity = this.parity(0)?;
            let free = this.object_copy(freed)?;
            this.keep_ring(first, (full, parity), free)
        })?;
        self.parting = Some(Parting { begin, mark, end });
        Ok(())
    }

    /// Behind all that the others do: where the warps that copy come to as well.
    pub(crate) fn order_at_end(&mut self) -> Result<(), EmitError> {
        let Some(parting) = self.parting else { return Ok(()) };
        self.steps.origin = u16::MAX;
        self.steps.purpose = InstKind::Control;
        Ok(self.steps.label(parting.end)?)
    }

    /// A thread has so many registers from here on, where that is another number.
    fn move_registers(&mut self, atom: AtomId, (had, has): (u16, u16)) -> Result<(), EmitError> {
        if had == has {
            return Ok(());
        }
        self.steps.purpose = InstKind::Control;
        Ok(self
            .steps
            .append(atom, &[Slot::Int(i32::from(has)), Slot::Int(i32::from(has > had))])?)
    }

    /// For each ring that warps hand buffers over with: its first object that copies complete on,
    /// and the first one that readers arrive at.
    fn each_ring(
        &mut self,
        mut each: impl FnMut(&mut Self, u8, u8) -> Result<(), EmitError>,
    ) -> Result<(), EmitError> {
        for op in self.program.all() {
            if let Some((freed, _)) = self.plan.freed_ring(self.program, op)
                && let Some((first, _)) = self.plan.ring(self.program, op)
            {
                each(self, first, freed)?;
            }
        }
        Ok(())
    }

    /// A register that begins with an object's address.
    fn object_copy(&mut self, number: u8) -> Result<crate::expr::Reg, EmitError> {
        let each = u32::from(self.mbarrier()?.bytes);
        let offset = each.saturating_mul(u32::from(number));
        let node = self.shared_address(self.plan.mbarrier_offset.saturating_add(offset))?;
        self.steps.purpose = InstKind::Sync;
        let address = self.compute(node, RegBank::Vector)?;
        self.copy(address)
    }

    fn parity(&mut self, value: i64) -> Result<crate::expr::Reg, EmitError> {
        let class = self.machine.class(RegisterKind::Vector, 32);
        self.filled(class.ok_or(InstError::NoAtom(Missing::Class))?, value)
    }

    /// What is waited for next, with its parity, and what is arrived at, or announced to, next.
    fn keep_ring(
        &mut self,
        first: u8,
        (waited, parity): (crate::expr::Reg, crate::expr::Reg),
        told: crate::expr::Reg,
    ) -> Result<(), EmitError> {
        let capacity = u32::from(self.plan.mbarriers);
        let short = EmitError::full(EmitPool::Mbarriers, capacity);
        for (number, address) in [(first, waited), (first.saturating_add(1), told)] {
            let kept = self.mbarriers.get_mut(usize::from(number)).ok_or(short)?;
            *kept = MbarrierRegs { address, parity };
        }
        Ok(())
    }

    /// Whether other warps start the copies of a loop.
    pub(crate) fn is_apart(&self, around: Op) -> bool {
        self.plan.specialized.is_some() && self.program.is_warp_specialized(around)
    }

    /// At the end of a turn of the readers: what has to stand between what they have read and what
    /// is copied there next, and the arrival that stands for their meeting.
    #[inline(never)]
    pub(crate) fn free_buffers(&mut self, parts: &Loop) -> Result<(), EmitError> {
        let Some(freed) = self.plan.freed_ring(self.program, parts.op) else { return Ok(()) };
        let (tables, arch) = (self.machine.tables, self.machine.arch);
        let (_, fact) = self.apart()?;
        let pairs = self.buffer_order(parts, false)?;
        let wanted = between_kinds(arch, &pairs)?;
        self.steps.origin = u16::try_from(parts.op.index()).unwrap_or(u16::MAX);
        self.steps.purpose = InstKind::Sync;
        for wanted in &wanted {
            if let RequiredSync::Step(step, _) = wanted
                && !step.barrier
            {
                push(tables, step, &mut self.steps)?;
            }
        }
        let ring = self.plan.ring(self.program, parts.op);
        let (first, _) = ring.ok_or(EmitError::Unplanned(parts.op))?;
        let at = self.completion(first.saturating_add(1))?.address;
        self.steps.append(fact.arrive, &[slot(at)])?;
        self.next_object(parts.op, freed, at).map(|_| ())
    }

    /// Behind the kernel, if it has any: the part of the warps that only copy.
    ///
    /// # Errors
    /// As of [`LowerContext::function`].
    #[inline(never)] // What the others' part kept on the stack is gone.
    pub fn copying_warps(&mut self, function: Op) -> Result<(), EmitError> {
        let Some(Parting { begin, mark, end }) = self.parting else { return Ok(()) };
        let (apart, fact) = self.apart()?;
        self.forget_since(mark);
        self.addresses.clear();
        self.advances.clear();
        self.steps.origin = u16::MAX;
        self.steps.meeting = None;
        self.copies_alone = true;
        self.steps.purpose = InstKind::Control;
        self.steps.label(begin)?;
        self.move_registers(fact.resize, (apart.entry, apart.producer))?;
        // One warp copies, its first lane for all others.
        let class = self.counter_class()?;
        let lanes = 1i64.checked_shl(u32::from(self.plan.wave)).unwrap_or(0);
        let first = i64::from(self.plan.threads);
        let last = first.saturating_add(lanes).saturating_sub(1);
        let last = self.filled(class, last)?;
        let thread = self.compute(self.thread, RegBank::Vector)?;
        self.skip_if_less(last, slot(thread), end)?;
        let compare = self.machine.isa.compare_less;
        let missing = InstError::NoAtom(Missing::Frame);
        let on = self.predicate(compare)?.ok_or(missing)?;
        let behind = int(first.saturating_add(1)).ok_or(missing)?;
        self.frame_step(compare, Some(on), &[slot(thread), behind])?;
        self.elected = Some(on);
        self.each_ring(|this, first, freed| {
            let free = this.object_copy(freed)?;
            // Nobody reads a buffer before it was filled: the phase before the first one is over.
            let parity = this.parity(1)?;
            let full = this.object_copy(first)?;
            this.keep_ring(first, (free, parity), full)
        })?;
        let mut loops: heapless::Vec<(LoopFrame, Option<StagedLoop>), MAX_DEPTH> =
            heapless::Vec::new();
        let mut at = self.program.body(function).and_then(|body| self.program.first(body));
        loop {
            let Some(op) = at else {
                let Some((l, staged)) = loops.pop() else { break };
                self.leave_copies(&l, staged)?;
                at = self.program.next(l.parts.op);
                continue;
            };
            at = self.program.next(op);
            self.steps.origin = u16::try_from(op.index()).unwrap_or(u16::MAX);
            match self.program.role(op) {
                OpRole::Index if self.program.coordinates(op).is_none() => self.define_index(op)?,
                OpRole::For if self.has_copies(op) => {
                    let entered = self.enter_copies(op)?;
                    if self.is_apart(op) {
                        self.turn_of_copies(&entered)?;
                    } else {
                        at = self.program.first(entered.0.parts.body);
                    }
                    loops.push(entered).map_err(|_| full(EmitPool::Nesting, &loops))?;
                    if self.is_apart(op) {
                        at = None;
                    }
                }
                _ => {}
            }
        }
        self.steps.origin = u16::MAX;
        self.steps.purpose = InstKind::Control;
        Ok(self.steps.append(self.machine.isa.branch, &[Slot::Label(end)])?)
    }

    /// Whether other warps start copies in a loop, or in one inside it.
    fn has_copies(&self, op: Op) -> bool {
        self.is_apart(op) || self.program.inside(op).any(|inner| self.is_apart(inner))
    }

    /// Opens a loop of the warps that copy.
    #[inline(never)]
    fn enter_copies(&mut self, op: Op) -> Result<(LoopFrame, Option<StagedLoop>), EmitError> {
        let parts = self.program.counted_loop(op).ok_or(EmitError::Unplanned(op))?;
        self.hoist_indices(op)?;
        let mut staged = None;
        if self.is_apart(op) {
            let begun = self.begin_stages(&parts)?;
            for copy in self.program.ops(parts.body).filter(|op| self.plan.runs_ahead(*op)) {
                let plan = self.plan.move_of(copy).ok_or(EmitError::Unplanned(copy))?;
                self.prepare(plan, Some(&parts))?;
                if let Some(staged) = &begun {
                    self.advance_buffers(plan, &parts, staged)?;
                }
            }
            staged = begun;
        }
        Ok((self.begin_turns(parts, 0)?, staged))
    }

    /// A turn of a loop whose copies these warps start.
    #[inline(never)]
    fn turn_of_copies(
        &mut self,
        (l, _): &(LoopFrame, Option<StagedLoop>),
    ) -> Result<(), EmitError> {
        let op = l.parts.op;
        let unplanned = EmitError::Unplanned(op);
        let (freed, count) = self.plan.freed_ring(self.program, op).ok_or(unplanned)?;
        let (first, _) = self.plan.ring(self.program, op).ok_or(unplanned)?;
        self.wait_for_object(op, first, (freed, count))?;
        let open = &mut PendingAccesses::new(self.objects());
        for copy in self.program.ops(l.parts.body) {
            match self.program.role(copy) {
                OpRole::Index if self.program.coordinates(copy).is_none() => {
                    self.define_index(copy)?;
                }
                _ if self.plan.runs_ahead(copy) => self.movement(copy, Some(&l.parts), open)?,
                _ => {}
            }
        }
        self.next_announced(op)
    }

    /// Closes a loop of the warps that copy.
    #[inline(never)]
    fn leave_copies(&mut self, l: &LoopFrame, staged: Option<StagedLoop>) -> Result<(), EmitError> {
        let op = l.parts.op;
        self.steps.purpose = InstKind::FurtherAddress;
        if let Some(mut staged) = staged {
            self.next_buffers(op, &mut staged)?;
        }
        self.steps.purpose = InstKind::FurtherAddress;
        self.advance_all(op, false)?;
        self.end_turns(l)?;
        self.forget_since(l.mark);
        Ok(())
    }
}

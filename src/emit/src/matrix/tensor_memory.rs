//! Accumulators in tensor memory: the frame of a kernel that has some, and products into them.
//!
//! One thread issues a product's instructions and has them arrive at an mbarrier; all
//! threads wait for it, so that tiles in shared memory are free again and the accumulator is whole.
//! Each warp fetches the lanes that it reaches, and stores what begins there.

use crate::expr::{ExprId, Reg, RegBank, Variable};
use crate::lower::context::{EmitError, LowerContext};
use crate::lower::kept::KeptFor;
use crate::step::{InstError, InstKind, MAX_ARGS, Missing, Slot, slot};
use crate::sync::mbarrier::MbarrierRegs;
use crate::sync::order::{PendingAccesses, behind_barrier, between, push, push_known};
use lanebook_ir::Op;
use lanebook_plan::{InTensor, ProductPlan};
use lanebook_tables::{
    AccessId, Atom, AtomId, FrameOperand, FrameStep, IndexOp, Role, TensorMemory, TensorOperand,
};
use lanebook_tile::product::ProductInput;
use lanebook_tile::unit::tensor;

/// What a kernel with accumulators in tensor memory keeps in registers all along.
#[derive(Copy, Clone, Debug)]
pub struct TensorFrame {
    /// Address of the word for the allocation's start.
    slot: Reg,
    /// The allocation's start, and its register.
    base: Option<(ExprId, Reg)>,
    /// Columns of the allocation.
    columns: u16,
    /// The mbarrier that products arrive at, and its number.
    completion: (MbarrierRegs, u8),
    /// True in one thread.
    one: Reg,
    /// True in one warp.
    warp: Reg,
    /// True.
    always: Reg,
}

impl TensorFrame {
    /// The allocation's start.
    pub(crate) fn base(&self) -> Option<ExprId> {
        self.base.map(|(node, _)| node)
    }

    /// An atom's operand, as the tables say what it is.
    fn operand(&self, steps: &[FrameStep<'_>], atom: AtomId, number: usize) -> Option<Slot> {
        let step = steps.iter().find(|step| step.atom == atom)?;
        Some(match step.operands.get(number)? {
            FrameOperand::Slot => slot(self.slot),
            FrameOperand::Base => slot(self.base?.1),
            FrameOperand::Columns => Slot::Int(i32::from(self.columns)),
            FrameOperand::Barrier => slot(self.completion.0.address),
            FrameOperand::One => slot(self.one),
            FrameOperand::Warp => slot(self.warp),
            FrameOperand::Unknown => return None,
        })
    }
}

impl<'t> LowerContext<'_, 't, '_, '_> {
    pub(crate) fn tensor_memory(&self, op: Op) -> Result<&'t TensorMemory<'t>, EmitError> {
        tensor::memory(self.machine.tables, self.machine.arch).map_err(|_| EmitError::Unplanned(op))
    }

    /// What a kernel begins with that uses tensor memory.
    #[inline(never)]
    pub(crate) fn enter_tensor(&mut self, function: Op) -> Result<(), EmitError> {
        if self.plan.tensor_columns == 0 {
            return Ok(());
        }
        let memory = self.tensor_memory(function)?;
        self.steps.purpose = InstKind::Control;
        let thread = self.compute(self.thread, RegBank::Vector)?;
        let lanes = 1i32.checked_shl(u32::from(self.plan.wave)).unwrap_or(0);
        let one = self.first_thread()?;
        let warp = self.plainly_below(slot(thread), Slot::Int(lanes))?;
        let always = self.plainly_below(Slot::Int(0), Slot::Int(1))?;
        let node = self.shared_address(self.plan.tensor_slot)?;
        let slot_at = self.compute(node, RegBank::Vector)?;
        let number = self.plan.tensor_completion().ok_or(EmitError::Unplanned(function))?;
        let completion = (self.completion(number)?, number);
        self.steps.purpose = InstKind::Sync;
        let mut frame = TensorFrame {
            slot: slot_at,
            base: None,
            columns: self.plan.tensor_columns,
            completion,
            one,
            warp,
            always,
        };
        for step in memory.enter {
            let id = step.atom;
            let atom = self.machine.tables.atom(id).ok_or(InstError::NoAtom(Missing::Frame))?;
            if let Some(start) = atom.operands.iter().find(|o| o.role == Role::Def) {
                let reg = self.steps.tuple(start.class, u16::from(start.registers))?;
                frame.base = Some((self.declare(Variable::word().uniform(), reg)?, reg));
            }
            push_known(self.machine.tables, id, &[], &mut self.steps, |number| {
                frame.operand(memory.enter, id, number)
            })?;
        }
        self.tensor = Some(frame);
        Ok(())
    }

    /// What such a kernel ends with.
    #[inline(never)]
    pub(crate) fn leave_tensor(&mut self, function: Op) -> Result<(), EmitError> {
        let Some(frame) = self.tensor else { return Ok(()) };
        let memory = self.tensor_memory(function)?;
        self.steps.purpose = InstKind::Sync;
        for step in memory.leave {
            push_known(self.machine.tables, step.atom, &[], &mut self.steps, |number| {
                frame.operand(memory.leave, step.atom, number)
            })?;
        }
        Ok(())
    }

    /// A predicate: whether one number without a sign is below another.
    fn plainly_below(&mut self, a: Slot, b: Slot) -> Result<Reg, EmitError> {
        self.is_below(self.machine.isa.compare_less, a, b)
    }

    /// The same by a comparison of its own.
    fn is_below(&mut self, compare: AtomId, a: Slot, b: Slot) -> Result<Reg, EmitError> {
        let predicate = self.predicate(compare)?.ok_or(InstError::NoAtom(Missing::Frame))?;
        self.frame_step(compare, Some(predicate), &[a, b])?;
        Ok(predicate)
    }

    /// Whether a loop that carries an accumulator has gone round before: its counter is above its
    /// start.
    pub(crate) fn is_later(&mut self, carrier: Op) -> Result<Reg, EmitError> {
        let parts = self.program.counted_loop(carrier).ok_or(EmitError::Unplanned(carrier))?;
        let lower = match self.index_value(carrier, parts.lower, None)? {
            Some(node) => slot(self.compute(node, RegBank::Vector)?),
            None => Slot::Int(0),
        };
        let counter =
            self.index_value(carrier, parts.induction, None)?.ok_or(EmitError::Index(carrier))?;
        let counter = self.compute(counter, RegBank::Vector)?;
        let compare = self.compare_of(&parts)?;
        self.is_below(compare, lower, slot(counter))
    }

    /// Addresses of a product's accumulators and its instruction descriptor: they change in no
    /// loop.
    pub(crate) fn prepare_accumulators(&mut self, plan: &ProductPlan) -> Result<(), EmitError> {
        let (Some(loads), Some(place), Some(frame)) =
            (plan.product.tensor, plan.tensor, self.tensor)
        else {
            return Ok(());
        };
        let unplanned = EmitError::Unplanned(plan.op);
        let number = u16::try_from(plan.op.index()).unwrap_or(u16::MAX);
        let (base, _) = frame.base.ok_or(unplanned)?;
        let each = u32::from(plan.product.shape.n);
        let blocks = u32::from(loads.columns.get()).checked_div(each).ok_or(unplanned)?;
        self.prepare_columns((number, KeptFor::Accumulator), base, (place.first, each, blocks))?;
        if let Some(a) = plan.product.tensor_a {
            let memory = self.tensor_memory(plan.op)?;
            let each = plan
                .product
                .blocked_a(memory.cell_bits)
                .and_then(|blocks| blocks.columns())
                .ok_or(unplanned)?;
            let blocks = u32::from(a.columns.get()).checked_div(each).ok_or(unplanned)?;
            let of_a = |block| KeptFor::Block(ProductInput::A, block);
            self.prepare_columns((number, of_a), base, (place.first_a, each, blocks))?;
        }
        self.prepare_transfers(plan)?;
        self.prepare_scales(plan, &place, base)
    }

    /// Addresses of a tile's blocks: from its first column on, so many columns each.
    fn prepare_columns(
        &mut self,
        (op, what): (u16, impl Fn(u32) -> KeptFor),
        base: ExprId,
        (first, each, blocks): (u16, u32, u32),
    ) -> Result<(), EmitError> {
        for block in 0..blocks {
            self.steps.purpose =
                if block == 0 { InstKind::FirstAddress } else { InstKind::FurtherAddress };
            let column = u32::from(first).saturating_add(block.saturating_mul(each));
            let node = if column == 0 {
                base
            } else {
                self.arena.op_const(IndexOp::Add, base, u64::from(column))?
            };
            let reg = self.compute(node, RegBank::Vector)?;
            self.keep(op, what(block), reg)?;
        }
        Ok(())
    }

    /// What a product's end orders: it is waited for at once. Without a barrier before it (`met`)
    /// it brings its own.
    pub(crate) fn completed(&self, op: Op, met: bool, open: &mut PendingAccesses) {
        let own = self
            .plan
            .product_of(op)
            .and_then(|p| self.machine.tables.atom(p.product.atom))
            .and_then(Atom::tensor);
        if let Some(own) = own {
            let steps = self
                .machine
                .arch
                .sync_between(own.reads, own.writes)
                .filter(|_| !met)
                .map_or(&[][..], |r| r.steps);
            open.pass(self.machine.arch, |step| {
                steps.iter().any(|s| s.atom == step.atom && s.immediates == step.immediates)
            });
            open.carried_out(self.machine.arch, own.writes, own.reads);
        }
    }

    /// Whether a product stands in the body of a loop whose copies complete on the objects of a ring.
    fn is_of_ring(&self, op: Op) -> bool {
        let around = self.program.parent(op);
        around.is_some_and(|around| self.plan.ring(self.program, around).is_some())
    }

    /// A product whose accumulators are in tensor memory.
    #[inline(never)]
    pub(crate) fn product_in_tensor(
        &mut self,
        op: Op,
        plan: &ProductPlan,
        place: &InTensor,
        open: &mut PendingAccesses,
    ) -> Result<(), EmitError> {
        let unplanned = EmitError::Unplanned(op);
        let atom = self.machine.tables.atom(plan.product.atom).ok_or(unplanned)?;
        let own: TensorOperand<'_> = *atom.tensor().ok_or(unplanned)?;
        let frame = self.tensor.ok_or(unplanned)?;
        let memory = self.tensor_memory(op)?;
        let (tables, arch) = (self.machine.tables, self.machine.arch);
        self.steps.origin = u16::try_from(op.index()).unwrap_or(u16::MAX);
        self.store_inputs(plan, place, open)?;
        let met = self.meet(op, open, true)?;
        self.steps.origin = u16::try_from(op.index()).unwrap_or(u16::MAX);
        self.steps.purpose = InstKind::Sync;
        if !met {
            // No thread is more than one phase of the object behind.
            between(tables, arch, (own.reads, own.writes), &mut self.steps, |_, _| None)?;
        } else if self.is_of_ring(op) {
            // The loop has left them to the product (`stands_before_products`).
            let rule = arch.sync_between(own.reads, own.writes);
            for step in rule.into_iter().flat_map(behind_barrier) {
                push(tables, step, &mut self.steps)?;
            }
        }
        self.steps.purpose = InstKind::Control;
        let first = match place.carrier {
            _ if place.stored => frame.always,
            Some(carrier) => self.is_later(carrier)?,
            None => self.plainly_below(Slot::Int(0), Slot::Int(0))?,
        };
        self.copy_scales(op, plan, frame.one)?;
        self.steps.purpose = InstKind::Matrix;
        let s = plan.product.shape;
        let (nm, nn, nk) = plan.product.counts();
        for k in 0..nk {
            for m in 0..nm {
                for n in 0..nn {
                    let (ia, ib, ic) = plan.product.blocks((m, n, k));
                    let mut args = [Slot::None; MAX_ARGS];
                    let (word, scales) = self.scales_in_tensor(op, plan, atom, (m, n, k))?;
                    let set = [
                        (s.d, self.kept(op, KeptFor::Accumulator(u32::from(ic)))),
                        (s.a, self.kept(op, KeptFor::Block(ProductInput::A, u32::from(ia)))),
                        (s.b, self.kept(op, KeptFor::Block(ProductInput::B, u32::from(ib)))),
                        (own.word, Some(word)),
                        (own.adds, Some(if k == 0 { first } else { frame.always })),
                        (own.one, Some(frame.one)),
                    ];
                    for (number, reg) in set.into_iter().chain(scales) {
                        *args.get_mut(usize::from(number)).ok_or(unplanned)? =
                            slot(reg.ok_or(unplanned)?);
                    }
                    self.steps.append(plan.product.atom, &args)?;
                }
            }
        }
        self.steps.purpose = InstKind::Sync;
        self.arrive(memory, &frame, (own.writes, own.reads))?;
        if place.carrier.is_none() {
            self.fetch(plan, place, open)?;
        }
        Ok(())
    }

    /// What stands between work of the unit and what comes after it: its arrival, the wait for
    /// that, fences.
    fn arrive(
        &mut self,
        memory: &TensorMemory<'_>,
        frame: &TensorFrame,
        (producer, consumer): (AccessId, AccessId),
    ) -> Result<(), EmitError> {
        let missing =
            InstError::NoAtom(Missing::Sync { producer: producer.0, consumer: consumer.0 });
        let wait = self.mbarrier()?.wait;
        for step in self.machine.arch.sync_between(producer, consumer).ok_or(missing)?.steps {
            self.steps.purpose = InstKind::Sync;
            if step.atom == wait {
                self.wait(frame.completion.1)?;
            } else {
                push_known(
                    self.machine.tables,
                    step.atom,
                    step.immediates,
                    &mut self.steps,
                    |number| frame.operand(memory.around, step.atom, number),
                )?;
            }
        }
        Ok(())
    }
}

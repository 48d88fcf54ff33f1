//! Stages: a loop whose copies run turns ahead of what reads their tiles.
//!
//! One body serves all turns, the first and the last ones too: it is gone through `stages - 1`
//! times more than the loop has turns. The counter is that of the turn whose tiles are read, and
//! begins so many steps before the first. Each time the body waits for all groups of copies but the
//! last `stages - 2`, meets the other threads, starts the copies of the turn `stages - 1` later
//! where there is one, closes their group, and does the rest where its turn has begun. So at every
//! wait the last group but so many is that of the tiles that are read next, and a buffer is filled
//! again behind the barrier that follows its last reader.
//!
//! What is copied through registers is loaded with the other copies, before the rest of the body, and
//! stored behind that.
//!
//! Copies that complete on an object are not waited for in groups: the rest of the body begins with
//! the wait for the object of its own turn, the next one of the ring (`sync/ring.rs`).
//!
//! Addresses in the buffers go on by one buffer a turn, and from the last one back to the first.

use crate::expr::{ExprId, Reg, Variable};
use crate::lower::context::{EmitError, LowerContext};
use crate::lower::kept::MovementEnd;
use crate::lower::target::SecondOperand;
use crate::pool::EmitPool;
use crate::step::{InstError, InstKind, MAX_ARGS, Missing, Slot, int, slot};
use crate::sync::access::TouchedList;
use crate::sync::order::{
    BarrierSide, PendingAccesses, RequiredSync, behind_barrier, between_kinds, push, push_known,
};
use lanebook_ir::{Loop, Op, Value};
use lanebook_plan::{
    CountedWait, End, MAX_STAGED_SIZES, ProductPlan, TransferPlan, closes_group, copies_of_a_turn,
};
use lanebook_tables::{AccessId, Atom, ClassId, IndexOp, OpRole, SyncStep};
use lanebook_tile::product::ProductInput;

/// Most pairs of kinds of accesses to a loop's buffers.
const PAIRS: usize = 16;

/// How far addresses in buffers of one size go on at a turn's end.
#[derive(Copy, Clone)]
struct BufferStep {
    /// Bytes from one buffer to the next, or as much in a descriptor.
    bytes: u32,
    /// The counter's register of those of the copies, or [`NONE`].
    copies: u16,
    /// One that stands for those of the loads, which are computed at the end.
    loads: u16,
}

/// No register.
const NONE: u16 = u16::MAX;

/// A register of a class, by its number.
const fn counted(class: ClassId, first: u16) -> Reg {
    Reg { class, first, count: 1 }
}

/// What a loop of stages keeps.
#[derive(Copy, Clone)]
pub(crate) struct StagedLoop {
    stages: u8,
    /// The number of the buffer that is read, less that of the last one.
    number: Reg,
    node: ExprId,
    steps: [Option<BufferStep>; MAX_STAGED_SIZES],
    /// The last counter with which nothing is copied is above this.
    pub(crate) last: Reg,
    /// The first register of those that copies through registers load.
    pub(crate) loaded: u16,
    /// Behind what is left out before the first turn.
    behind: u16,
    /// The first step of those that go there.
    skip_from: u16,
    /// The first step behind those.
    skip_end: u16,
    /// The first register that is made inside of it.
    mark: u16,
}

/// Copies that a branch leaves out.
struct SkippedCopies {
    /// Behind them.
    over: u16,
    /// The first register that is made among them.
    mark: u16,
}

impl LowerContext<'_, '_, '_, '_> {
    /// Whether an operation of a loop belongs to what waits for the first turn.
    pub(crate) fn waits_for_turns(&self, around: &Loop, op: Op) -> bool {
        self.plan.stages(self.program, around.op) > 1
            && !self.is_apart(around.op)
            && !self.plan.runs_ahead(op)
            && !self.is_lead(op, Some(around))
    }

    /// Whether an operation is a copy that runs ahead of its loop, or says where one begins.
    pub(crate) fn starts_ahead(&self, op: Op, around: Option<&Loop>) -> bool {
        let is_copy = self.program.role(op) == OpRole::Copy;
        is_copy && self.plan.runs_ahead(op) || self.is_lead(op, around)
    }

    /// Whether an operation runs ahead with its loop's copies because it says where they begin.
    #[inline(never)]
    pub(crate) fn is_lead(&self, op: Op, around: Option<&Loop>) -> bool {
        let around = around.filter(|at| self.plan.stages(self.program, at.op) > 1);
        around.is_some_and(|at| self.program.leads(at).contains(&op))
    }

    /// What the copies of a later turn begin at, as far as the loop loads that.
    #[inline(never)]
    fn lead_turn(&mut self, parts: &Loop, open: &mut PendingAccesses) -> Result<(), EmitError> {
        let program = self.program;
        let leads = program.leads(parts);
        for op in program.ops(parts.body).filter(|op| leads.contains(op)) {
            self.steps.origin = u16::try_from(op.index()).unwrap_or(u16::MAX);
            match program.role(op) {
                OpRole::Load => self.movement(op, Some(parts), open)?,
                OpRole::Index => self.define_index(op)?,
                OpRole::Constant => self.constant(op)?,
                OpRole::Reshape => self.rename(op)?,
                _ if program.has_same_bits(op) => self.bits_of(op)?,
                _ => self.elementwise(op)?,
            }
        }
        Ok(())
    }

    /// By how much a loop's copies are ahead, in steps of its counter.
    pub(crate) fn ahead(&self, parts: &Loop) -> Result<u32, EmitError> {
        let turns = u32::from(self.plan.stages(self.program, parts.op).saturating_sub(1));
        if turns == 0 || self.is_apart(parts.op) {
            return Ok(0);
        }
        let step = self.program.int(parts.step).and_then(|n| u32::try_from(n).ok());
        step.and_then(|n| n.checked_mul(turns)).ok_or(EmitError::Unplanned(parts.op))
    }

    /// Before the addresses of a loop of stages are made: what they will go on by.
    #[inline(never)]
    pub(crate) fn begin_stages(&mut self, parts: &Loop) -> Result<Option<StagedLoop>, EmitError> {
        let stages = self.plan.stages(self.program, parts.op);
        if stages < 2 {
            return Ok(None);
        }
        let refuse = EmitError::Unplanned(parts.op);
        self.steps.origin = u16::try_from(parts.op.index()).unwrap_or(u16::MAX);
        self.steps.purpose = InstKind::Control;
        let class = self.counter_class()?;
        // The first turn's loads begin in the first buffer, `stages - 1` times later; where other
        // warps copy, where the kernel is in the ring of buffers.
        let apart = self.is_apart(parts.op);
        let first = if apart { 1i64 } else { 2i64 }.saturating_sub(i64::from(stages));
        let number = match apart && self.depth(parts.op) > 0 {
            true => self.buffer_number(parts)?,
            false => self.filled(class, first)?,
        };
        let node = self.declare(Variable::word().uniform().level(1), number)?;
        let mut steps = [None; MAX_STAGED_SIZES];
        for op in self.program.ops(parts.body) {
            // Where other warps copy, each part has its own addresses alone.
            if apart && self.plan.runs_ahead(op) != self.copies_alone {
                continue;
            }
            let tile = self.plan.move_of(op).and_then(|m| self.plan.staged(m));
            if let Some(bytes) = tile.map(lanebook_plan::AllocPlan::stage_bytes) {
                self.buffer_step(&mut steps, (bytes, !apart), refuse)?;
            }
            let Some(product) = self.plan.product_of(op) else { continue };
            for input in ProductInput::BOTH {
                if let Some(units) = self.descriptor_step(product, input) {
                    self.buffer_step(&mut steps, (units, false), refuse)?;
                }
            }
        }
        let upper = match self.index_value(parts.op, parts.upper, None)? {
            Some(upper) => upper,
            None => self.arena.constant(0)?,
        };
        let last = match apart {
            true => number,
            false => {
                let less = self.ahead(parts)?.checked_add(1).ok_or(refuse)?;
                let last = self.arena.op_const(IndexOp::Sub, upper, u64::from(less))?;
                self.compute(last, self.uniform_bank())?
            }
        };
        let loaded = self.loaded_registers(parts)?;
        self.read_buffers.push((parts.op, node)).map_err(|_| refuse)?;
        Ok(Some(StagedLoop {
            stages,
            number,
            node,
            steps,
            last,
            loaded,
            behind: 0,
            skip_from: 0,
            skip_end: 0,
            mark: 0,
        }))
    }

    /// A step of addresses from buffer to buffer, once for each size.
    fn buffer_step(
        &mut self,
        steps: &mut [Option<BufferStep>; MAX_STAGED_SIZES],
        (bytes, copies): (u32, bool),
        refuse: EmitError,
    ) -> Result<(), EmitError> {
        let class = self.counter_class()?;
        let place = steps.iter_mut().find(|s| s.as_ref().is_none_or(|s| s.bytes == bytes));
        let place = place.ok_or(refuse)?;
        let (old, loads) = match place {
            Some(step) => (step.copies, step.loads),
            None => (NONE, self.steps.tuple(class, 1)?.first),
        };
        let copies = match old {
            NONE if copies => self.filled(class, i64::from(bytes))?.first,
            old => old,
        };
        *place = Some(BufferStep { bytes, copies, loads });
        Ok(())
    }

    /// What a product's descriptors of buffers go on by from turn to turn.
    pub(crate) fn advance_operands(
        &mut self,
        plan: &ProductPlan,
        parts: &Loop,
        staged: &StagedLoop,
    ) -> Result<(), EmitError> {
        let class = self.counter_class()?;
        let step_of = |units: u32| {
            let own = staged.steps.iter().flatten().find(|step| step.bytes == units);
            own.map(|step| counted(class, step.loads))
        };
        self.advance_descriptors(plan, (parts, staged), step_of)
    }

    /// The addresses of a movement in buffers, as registers that go on from turn to turn.
    #[inline(never)]
    pub(crate) fn advance_buffers(
        &mut self,
        plan: &TransferPlan,
        parts: &Loop,
        staged: &StagedLoop,
    ) -> Result<(), EmitError> {
        let Some(tile) = self.plan.staged(plan).copied() else { return Ok(()) };
        let refuse = EmitError::Unplanned(plan.op);
        let copies = self.plan.runs_ahead(plan.op);
        let apart = self.is_apart(parts.op);
        let bytes = tile.stage_bytes();
        let step = staged.steps.iter().flatten().find(|step| step.bytes == bytes).ok_or(refuse)?;
        let by = Some(if copies && !apart { step.copies } else { step.loads });
        let by = by.filter(|by| *by != NONE);
        let by = counted(self.counter_class()?, by.ok_or(refuse)?);
        let end = if copies { MovementEnd::To } else { MovementEnd::From };
        let number = u16::try_from(plan.op.index()).unwrap_or(u16::MAX);
        let owner = u16::try_from(parts.op.index()).unwrap_or(u16::MAX);
        self.steps.origin = number;
        self.steps.purpose = InstKind::FurtherAddress;
        let mut at = 0usize;
        while let Some(address) = self.addresses.get(at).copied() {
            if address.op == number && address.what.is_place_of(end) {
                let reg = self.copy(address.reg)?;
                if apart {
                    self.go_to_buffer(parts, staged, (reg, bytes))?;
                } else if !copies {
                    // `stages - 1` turns behind the copies: one buffer before they come round.
                    let first = SecondOperand::Number(i64::from(bytes));
                    self.add_in_place(reg, first, IndexOp::Add)?;
                }
                if let Some(kept) = self.addresses.get_mut(at) {
                    kept.reg = reg;
                }
                let by = Some(by);
                let capacity = u32::try_from(self.advances.capacity()).unwrap_or(u32::MAX);
                let advance =
                    crate::lower::context::Advance { owner, reg, by, bytes: 0, waits: false };
                self.advances
                    .push(advance)
                    .map_err(|_| EmitError::full(EmitPool::Advances, capacity))?;
            }
            at = at.saturating_add(1);
        }
        Ok(())
    }

    /// An address in the first buffer becomes that in the one which is next, where a loop may begin
    /// with another one: so many bytes, or as much in a descriptor, from buffer to buffer.
    pub(crate) fn go_to_buffer(
        &mut self,
        parts: &Loop,
        staged: &StagedLoop,
        (reg, each): (Reg, u32),
    ) -> Result<(), EmitError> {
        if self.depth(parts.op) == 0 {
            return Ok(());
        }
        let last = u64::from(staged.stages).saturating_sub(1);
        let number = self.arena.op_const(IndexOp::Add, staged.node, last)?;
        let far = self.arena.op_const(IndexOp::Mul, number, u64::from(each))?;
        let far = self.compute(far, self.uniform_bank())?;
        self.add_in_place(reg, SecondOperand::Reg(far), IndexOp::Add)
    }

    /// Where in a tile of several buffers that elements are read of the one of this turn begins.
    pub(crate) fn read_buffer(
        &mut self,
        op: Op,
        value: Value,
    ) -> Result<Option<ExprId>, EmitError> {
        let Some((number, tile)) = self.plan.alloc_of(value).filter(|(_, tile)| tile.stages > 1)
        else {
            return Ok(None);
        };
        let refuse = EmitError::Unplanned(op);
        let (stages, bytes) = (u64::from(tile.stages), u64::from(tile.stage_bytes()));
        let copy = self.plan.transfers.iter().find(|m| m.to == End::Shared(number));
        let around = copy.and_then(|copy| self.program.parent(copy.op));
        let open = self.read_buffers.iter().find(|(open, _)| Some(*open) == around);
        let &(_, node) = open.ok_or(refuse)?;
        let number = self.arena.op_const(IndexOp::Add, node, stages.saturating_sub(1))?;
        Ok(Some(self.arena.op_const(IndexOp::Mul, number, bytes)?))
    }

    /// Operations of a loop of stages that may read what its copies bring: in a function of parallel
    /// loops those of its inner loops and branches, too.
    fn readers_inside(&self, parts: &Loop) -> impl Iterator<Item = Op> + Clone + '_ {
        let inside = self.program.inside(parts.op);
        inside.filter(|op| !self.is_in_nest(*op))
    }

    /// The accesses of an operation to tiles of several buffers.
    fn touched_buffers(&self, op: Op) -> TouchedList {
        let mut out = heapless::Vec::new();
        self.touched_elements(op, true, &mut out);
        if let Some(plan) = self.plan.move_of(op) {
            self.touched_in_shared(plan, true, &mut out);
        }
        if let Some(product) = self.plan.product_of(op) {
            self.touched_by_unit(product, true, &mut out);
        }
        out
    }

    /// Those to the tiles that a loop's own copies fill.
    fn touched_of(&self, around: Op, op: Op) -> TouchedList {
        let mut touched = self.touched_buffers(op);
        touched.retain(|access| {
            let copies = self.plan.transfers.iter();
            let mut own = copies.filter(|m| self.program.parent(m.op) == Some(around));
            own.any(|m| self.plan.staged(m).is_some_and(|tile| tile.offset == access.from))
        });
        touched
    }

    /// Whether what an operation reads has been read when it ends: everybody waits for that.
    fn ends_by_itself(&self, op: Op) -> bool {
        let product = self.plan.product_of(op);
        let atom = product.and_then(|p| self.machine.tables.atom(p.product.atom));
        atom.and_then(Atom::tensor).is_some()
    }

    /// Whether an operation's copies complete on the objects of a ring.
    fn is_in_ring(&self, op: Op) -> bool {
        self.plan.runs_ahead(op) && self.plan.move_of(op).is_some_and(|m| m.tiled.is_some())
    }

    /// Whether a loop is one of stages whose copies the same warps start.
    fn runs_in_one(&self, op: Op) -> bool {
        self.plan.stages(self.program, op) > 1 && !self.is_apart(op)
    }

    /// In front of a loop of stages: what has to stand before its first copies.
    #[inline(never)]
    pub(crate) fn enter_stages(
        &mut self,
        op: Op,
        open: &mut PendingAccesses,
        emit: bool,
    ) -> Result<(), EmitError> {
        let Some(body) = self.program.body(op).filter(|_| self.runs_in_one(op)) else {
            return Ok(());
        };
        for copy in self.program.ops(body).filter(|op| self.plan.runs_ahead(*op)) {
            let touched = self.touched_buffers(copy);
            self.meet_all(&touched, open, emit)?;
        }
        Ok(())
    }

    /// Behind a loop of stages: what it may have left open.
    #[inline(never)]
    pub(crate) fn leave_stages(&self, op: Op, open: &mut PendingAccesses) -> Result<(), EmitError> {
        let Some(parts) = self.program.counted_loop(op).filter(|_| self.runs_in_one(op)) else {
            return Ok(());
        };
        for inner in self.readers_inside(&parts).filter(|inner| !self.ends_by_itself(*inner)) {
            for &touched in &self.touched_of(op, inner) {
                open.reopen(touched)?;
            }
        }
        Ok(())
    }

    /// What has to stand between copies of one turn and loads of another one, and between loads and
    /// copies into the same buffer: behind copies that complete on an object, or behind all others.
    pub(crate) fn buffer_order(
        &self,
        parts: &Loop,
        in_ring: bool,
    ) -> Result<heapless::Vec<(AccessId, AccessId), PAIRS>, EmitError> {
        let capacity = u32::try_from(PAIRS).unwrap_or(u32::MAX);
        let full = EmitError::full(EmitPool::SyncKinds, capacity);
        let mut pairs: heapless::Vec<(AccessId, AccessId), PAIRS> = heapless::Vec::new();
        let mut add = |pair| {
            if pairs.contains(&pair) { Ok(()) } else { pairs.push(pair).map_err(|_| full) }
        };
        // Before a product that ends by itself all threads meet, behind their wait.
        let meets = self.program.ops(parts.body).any(|op| self.ends_by_itself(op));
        if let Some(objects) = self.objects().filter(|_| !in_ring && !meets)
            && self.plan.ring(self.program, parts.op).is_some()
        {
            add((objects.waits, objects.announces))?;
        }
        for a in self.readers_inside(parts) {
            if self.is_in_ring(a) != in_ring || self.ends_by_itself(a) {
                continue;
            }
            for b in self.readers_inside(parts) {
                for from in &self.touched_of(parts.op, a) {
                    for to in self.touched_buffers(b).iter().filter(|to| to.from == from.from) {
                        if from.writes || to.writes {
                            add((from.kind, to.kind))?;
                        }
                    }
                }
            }
        }
        Ok(pairs)
    }

    /// At the beginning of a body of stages: waits, the barrier, the copies of a later turn, and the
    /// branch over the rest before the first turn. What makes other steps than copies has frames
    /// of its own: copies are made deep down.
    #[inline(never)]
    pub(crate) fn stage_head(
        &mut self,
        (parts, counter, node): (&Loop, Reg, ExprId),
        staged: &mut StagedLoop,
        open: &mut PendingAccesses,
    ) -> Result<(), EmitError> {
        if self.is_apart(parts.op) {
            return self.ring_waits(parts);
        }
        self.stage_waits(parts, staged.stages)?;
        let (over, known) = self.later_turn((parts, counter, node), staged.last)?;
        self.lead_turn(parts, open)?;
        // What is waited for in this turn is first: what comes later need not be.
        self.through_turn((parts, staged.loaded), Some(open))?;
        for op in self.program.ops(parts.body) {
            if self.plan.runs_ahead(op) && !self.is_through_registers(op) {
                self.prepare_later(op, parts)?;
                self.movement(op, Some(parts), open)?;
            }
        }
        self.next_announced(parts.op)?;
        self.computed.truncate(known);
        self.stage_rest((parts, counter), staged, over)
    }

    /// What stands between the reads of a buffer and its next writes, and their group before it.
    #[inline(never)]
    fn stage_waits(&mut self, parts: &Loop, stages: u8) -> Result<(), EmitError> {
        let refuse = EmitError::Unplanned(parts.op);
        let (arch, tables) = (self.machine.arch, self.machine.tables);
        let pairs = self.buffer_order(parts, false)?;
        let wanted = between_kinds(arch, &pairs)?;
        self.steps.origin = u16::try_from(parts.op.index()).unwrap_or(u16::MAX);
        self.steps.purpose = InstKind::Sync;
        for pass in 0..3u8 {
            for wanted in &wanted {
                let RequiredSync::Step(step, stand) = wanted else { return Err(refuse) };
                let own = match stand {
                    BarrierSide::Behind => 2,
                    _ => u8::from(step.barrier),
                };
                if own != pass || self.closes(step) {
                    continue;
                }
                match self.left_open(parts, stages, step) {
                    Some((wait, left)) => self.push_wait(step, wait, left)?,
                    None => push(tables, step, &mut self.steps)?,
                }
            }
        }
        Ok(())
    }

    /// Whether a step stands behind the copies of its own turn: what closes their group. What has to
    /// stand behind loads, or behind stores, stands before the next barrier.
    fn closes(&self, step: &SyncStep<'_>) -> bool {
        let counted = self.machine.tables.atom(step.atom).and_then(|atom| atom.counter);
        step.after_producer && counted.is_some()
    }

    /// How many operations a wait of a loop of stages leaves outstanding: the copies of the turns that
    /// come later than the one which is read next, or fewer.
    fn left_open(
        &self,
        parts: &Loop,
        stages: u8,
        step: &SyncStep<'_>,
    ) -> Option<(CountedWait, u32)> {
        let (arch, tables) = (self.machine.arch, self.machine.tables);
        let wait = CountedWait::of(tables, arch, step)?;
        let around = (parts.op, wait.counter);
        let each = copies_of_a_turn((tables, arch), self.program, self.plan, around);
        let turns = u32::from(stages.saturating_sub(2));
        (each > 0).then_some((wait, each.saturating_mul(turns).min(wait.most)))
    }

    /// A wait that leaves so many operations outstanding.
    fn push_wait(
        &mut self,
        step: &SyncStep<'_>,
        wait: CountedWait,
        left: u32,
    ) -> Result<(), EmitError> {
        let mut values: heapless::Vec<i32, MAX_ARGS> = heapless::Vec::new();
        let refuse =
            EmitError::Inst(InstError::Operand { atom: step.atom, operand: wait.immediate });
        values.extend_from_slice(step.immediates).map_err(|_| refuse)?;
        let place = values.get_mut(usize::from(wait.immediate)).ok_or(refuse)?;
        *place = i32::try_from(left).map_err(|_| refuse)?;
        Ok(push_known(self.machine.tables, step.atom, &values, &mut self.steps, |_| None)?)
    }

    /// In times that copy nothing: where copies are counted by themselves, later waits would leave
    /// too many of those on their way that are read next. A branch behind the copies, and what stands
    /// at the label that is branched to without copies.
    #[inline(never)]
    fn without_copies(
        &mut self,
        parts: &Loop,
        stages: u8,
        wanted: &[RequiredSync<'_>],
        over: u16,
    ) -> Result<(), EmitError> {
        let tables = self.machine.tables;
        let grouped = |counter| {
            let closes = |wanted: &RequiredSync<'_>| matches!(wanted, RequiredSync::Step(step, _) if closes_group(tables, step, counter));
            wanted.iter().any(closes)
        };
        let mut behind = None;
        for wanted in wanted {
            let RequiredSync::Step(step, _) = wanted else { continue };
            let Some((wait, 1..)) = self.left_open(parts, stages, step) else { continue };
            if grouped(wait.counter) {
                continue;
            }
            if behind.is_none() {
                let label = self.fresh_label();
                self.steps.purpose = InstKind::Control;
                self.steps.append(self.machine.isa.branch, &[Slot::Label(label)])?;
                self.steps.label(over)?;
                behind = Some(label);
            }
            self.steps.purpose = InstKind::Sync;
            push(tables, step, &mut self.steps)?;
        }
        self.steps.label(behind.unwrap_or(over))?;
        Ok(())
    }

    /// The branch over the copies where there is no such turn, and the turn that they are of: the
    /// branch's label, and how many indices were known before.
    #[inline(never)]
    fn later_turn(
        &mut self,
        (parts, counter, node): (&Loop, Reg, ExprId),
        last: Reg,
    ) -> Result<(SkippedCopies, usize), EmitError> {
        let over = self.fresh_label();
        self.skip_if_less(last, slot(counter), over)?;
        let mark = self.steps.next_register();
        let known = self.computed.len();
        let ahead = self.ahead(parts)?;
        let later = self.arena.op_const(IndexOp::Add, node, u64::from(ahead))?;
        self.remember(parts.induction, later)?;
        Ok((SkippedCopies { over, mark }, known))
    }

    /// Behind the copies: what ends their group, and the rest of the body from the first turn on.
    #[inline(never)]
    fn stage_rest(
        &mut self,
        (parts, counter): (&Loop, Reg),
        staged: &mut StagedLoop,
        copies: SkippedCopies,
    ) -> Result<(), EmitError> {
        let (arch, tables) = (self.machine.arch, self.machine.tables);
        let pairs = self.buffer_order(parts, false)?;
        let wanted = between_kinds(arch, &pairs)?;
        self.steps.origin = u16::try_from(parts.op.index()).unwrap_or(u16::MAX);
        self.without_copies(parts, staged.stages, &wanted, copies.over)?;
        self.forget_since(copies.mark);
        self.steps.purpose = InstKind::Sync;
        for wanted in &wanted {
            if let RequiredSync::Step(step, _) = wanted
                && self.closes(step)
            {
                push(tables, step, &mut self.steps)?;
            }
        }
        let first = match self.program.int(parts.lower) {
            Some(n) => int(n).ok_or(EmitError::Index(parts.op))?,
            None => match self.index_value(parts.op, parts.lower, None)? {
                Some(lower) => slot(self.compute(lower, self.uniform_bank())?),
                None => Slot::Int(0),
            },
        };
        staged.behind = self.fresh_label();
        staged.skip_from = self.steps.here();
        self.skip_if_less(counter, first, staged.behind)?;
        staged.skip_end = self.steps.here();
        staged.mark = self.steps.next_register();
        self.ring_waits(parts)
    }

    /// At the beginning of a turn: the wait for its copies, where they complete on an object, and
    /// what has to stand behind that.
    #[inline(never)]
    fn ring_waits(&mut self, parts: &Loop) -> Result<(), EmitError> {
        let Some((first, count)) = self.plan.ring(self.program, parts.op) else { return Ok(()) };
        let (arch, tables) = (self.machine.arch, self.machine.tables);
        let pairs = self.buffer_order(parts, true)?;
        let wanted = between_kinds(arch, &pairs)?;
        let wait = self.mbarrier()?.wait;
        self.wait_in_ring(parts.op, first, count)?;
        self.steps.purpose = InstKind::Sync;
        for wanted in &wanted {
            if let RequiredSync::Step(step, _) = wanted
                && step.atom != wait
                && !self.stands_before_products(parts, step)
            {
                push(tables, step, &mut self.steps)?;
            }
        }
        Ok(())
    }

    /// Whether a step stands before a product of a loop's body anyhow, behind where all threads meet:
    /// `product_in_tensor` puts all of these there.
    fn stands_before_products(&self, parts: &Loop, step: &SyncStep<'_>) -> bool {
        let own = |op| {
            let product = self.plan.product_of(op)?;
            let own = self.machine.tables.atom(product.product.atom)?.tensor()?;
            self.machine.arch.sync_between(own.reads, own.writes)
        };
        let is = |s: &SyncStep<'_>| s.atom == step.atom && s.immediates == step.immediates;
        self.program.ops(parts.body).filter_map(own).any(|rule| behind_barrier(rule).iter().any(is))
    }

    /// A branch to a label where one number is below another, both with signs.
    pub(crate) fn skip_if_less(&mut self, a: Reg, b: Slot, to: u16) -> Result<(), EmitError> {
        let isa = self.machine.isa;
        self.steps.purpose = InstKind::Control;
        let compare = isa.compare_signed.ok_or(InstError::NoAtom(Missing::Frame))?;
        let predicate = self.predicate(compare)?;
        self.frame_step(compare, predicate, &[slot(a), b])?;
        self.frame_step(isa.branch_if, predicate, &[Slot::Label(to)])
    }

    /// Behind the rest of the body.
    #[inline(never)]
    pub(crate) fn stage_tail(
        &mut self,
        (parts, counter): (&Loop, Reg),
        staged: &mut StagedLoop,
    ) -> Result<(), EmitError> {
        let owner = u16::try_from(parts.op.index()).unwrap_or(u16::MAX);
        if self.is_apart(parts.op) {
            self.free_buffers(parts)?;
            return self.next_buffers(parts.op, staged);
        }
        self.steps.origin = owner;
        self.steps.purpose = InstKind::Control;
        // Where there is nothing to leave out nothing leaves it out.
        match self.steps.here() == staged.skip_end {
            true => self.steps.steps.truncate(usize::from(staged.skip_from)),
            false => self.steps.label(staged.behind)?,
        }
        self.forget_since(staged.mark);
        self.store_turn((parts, counter), staged)?;
        self.next_buffers(parts.op, staged)
    }

    /// At a turn's end: addresses go on by one buffer, or back to the first.
    #[inline(never)]
    pub(crate) fn next_buffers(
        &mut self,
        around: Op,
        staged: &mut StagedLoop,
    ) -> Result<(), EmitError> {
        self.steps.origin = u16::try_from(around.index()).unwrap_or(u16::MAX);
        self.steps.purpose = InstKind::FurtherAddress;
        let count = u64::from(staged.stages);
        // One buffer on, or back to the first.
        let inside = self.arena.op_const(IndexOp::Shr, staged.node, 31)?;
        let on = self.arena.op_const(IndexOp::Mul, inside, count)?;
        let on = self.arena.op_const(IndexOp::Sub, on, count.saturating_sub(1))?;
        let on = self.compute(on, self.uniform_bank())?;
        let on_node = self.declare(Variable::word().uniform(), on)?;
        let class = self.counter_class()?;
        for step in staged.steps.iter_mut().flatten() {
            let stood = Some(counted(class, step.loads));
            let far = self.arena.op_const(IndexOp::Mul, on_node, u64::from(step.bytes))?;
            let far = self.compute(far, self.uniform_bank())?;
            for advance in self.advances.iter_mut().filter(|a| a.by == stood) {
                advance.by = Some(far);
            }
            if far.class != class {
                return Err(InstError::NoAtom(Missing::Class).into());
            }
            step.loads = far.first;
        }
        self.add_in_place(staged.number, SecondOperand::Reg(on), IndexOp::Add)
    }

    /// Behind the addresses' steps: the copies' next step is the loads' last one.
    pub(crate) fn stage_steps(&mut self, staged: &StagedLoop) -> Result<(), EmitError> {
        for step in staged.steps.iter().flatten() {
            if step.copies == NONE {
                continue;
            }
            let class = self.counter_class()?;
            let (to, from) = (counted(class, step.copies), counted(class, step.loads));
            let missing = InstError::NoAtom(Missing::Move(to.class));
            let atom = self.machine.copy_into(to.class, to.count, from.class).ok_or(missing)?;
            self.steps.append(atom, &[slot(to), slot(from)])?;
        }
        Ok(())
    }
}

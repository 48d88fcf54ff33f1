//! Loops and tile operations in place: chunk by chunk of the threads' slots.

use crate::elements::access::REGISTER_BYTES;
use crate::elements::address::{AccessState, ElementSpot, KnownAddress, Place};
use crate::elements::forms::ThreadVar;
use crate::elements::slots::{ExecutingThreads, LANES, WorkSlot};
use crate::elements::{ElementReason, of_form, refused};
use crate::expr::{ExprId, Reg};
use crate::lower::context::{EmitError, LowerContext};
use crate::pool::EmitPool;
use crate::sync::access::{GlobalTile, MemAccess, TOUCHED, TouchedList};
use crate::sync::order::PendingAccesses;
use heapless::VecView;
use lanebook_infer::{
    Access, BufferId, FragmentForm, IndexForm, Kind, MemoryScope, OperatorId, VarRole,
};
use lanebook_ir::{Op, Value, attr_names};
use lanebook_loops::Told;
use lanebook_tables::{AccessId, IndexOp, OpRole, Space};

/// Bytes that one instruction of a thread moves at the most.
const WIDEST: u32 = 16;

/// What is emitted of an operation: its doers and what it remembers.
pub(crate) struct Chunk<'c> {
    pub executing: &'c ExecutingThreads,
    pub slots: &'c mut VecView<WorkSlot>,
    /// Where the elements of an access lie, slot by slot.
    pub spots: &'c mut VecView<ElementSpot>,
    pub state: AccessState<'c>,
}

/// What is known of a chunk, in the caller's storage: in frames it would lie under everything that
/// is called for it.
pub struct ElementLists<'a> {
    /// The slots of a chunk.
    pub slots: &'a mut VecView<WorkSlot>,
    /// Where their elements lie.
    pub spots: &'a mut VecView<ElementSpot>,
    /// Addresses of an operation that are remembered.
    pub known: &'a mut VecView<KnownAddress>,
    /// Its guards.
    pub guards: &'a mut VecView<(ExprId, Reg)>,
}

impl ElementLists<'_> {
    /// The same lists, empty.
    pub(crate) fn again(&mut self) -> ElementLists<'_> {
        self.slots.clear();
        self.spots.clear();
        self.known.clear();
        self.guards.clear();
        ElementLists {
            slots: self.slots,
            spots: self.spots,
            known: self.known,
            guards: self.guards,
        }
    }
}

impl LowerContext<'_, '_, '_, '_> {
    /// A nest of parallel loops, or a tile operation in place.
    #[inline(never)]
    pub(crate) fn in_place(
        &mut self,
        op: Op,
        told: &mut Told<'_>,
        open: &mut PendingAccesses,
    ) -> Result<(), EmitError> {
        if self.program.role(op) == OpRole::ProductInto {
            if self.is_in_branch(op) {
                return Err(refused(op, ElementReason::Condition));
            }
            self.check_touched(op)?;
            let plan = self.plan;
            if let Some(own) = plan.product_of(op)
                && let Some(place) = &own.tensor
            {
                return self.multiply_in_tensor(told, (own, place), open);
            }
            let mark = told.inference.arena.mark();
            let mut room = self.elements.take().ok_or(refused(op, ElementReason::Room))?;
            let done = self.product_in_place(op, told, room.again(), open);
            self.elements = Some(room);
            told.inference.arena.release(mark);
            return done;
        }
        let id = told.operator_for(op).ok_or(refused(op, ElementReason::Operation))?;
        let kind = told.inference.operator_of(id).map_err(of_form(op))?.kind;
        match kind {
            Kind::Parallel => {}
            Kind::Reduce { .. } => return self.reduction_in_place(op, told, id, open),
            Kind::Uniform | Kind::Product => return Err(refused(op, ElementReason::Operation)),
        }
        self.check_touched(op)?;
        self.meet(op, open, true)?;
        told.inference.forget_iterations();
        let mark = told.inference.arena.mark();
        let mut room = self.elements.take().ok_or(refused(op, ElementReason::Room))?;
        let done = self.chunks(op, told, id, room.again());
        self.elements = Some(room);
        told.inference.arena.release(mark);
        done
    }

    /// A reduction.
    fn reduction_in_place(
        &mut self,
        op: Op,
        told: &mut Told<'_>,
        id: OperatorId,
        open: &mut PendingAccesses,
    ) -> Result<(), EmitError> {
        told.inference.forget_iterations();
        let mark = told.inference.arena.mark();
        let mut room = self.elements.take().ok_or(refused(op, ElementReason::Room))?;
        let done = self.reduce_in_place(op, told, id, room.again(), open);
        self.elements = Some(room);
        told.inference.arena.release(mark);
        done
    }

    #[inline(never)]
    fn chunks(
        &mut self,
        op: Op,
        told: &mut Told<'_>,
        id: OperatorId,
        room: ElementLists<'_>,
    ) -> Result<(), EmitError> {
        let executing = self.executing(op, told, id)?;
        let width = self.width(op, told, id, executing.spread.slots)?;
        let alone = self.changes_what_it_reads(op, told, id, executing.spread.copies)?;
        let ElementLists { slots, spots, known, guards } = room;
        let state = AccessState { known, guards };
        let mut chunk = Chunk { executing: &executing, slots, spots, state };
        let mut first = 0u32;
        while first < executing.spread.slots {
            let mark = told.inference.arena.mark();
            let kept = self.held.len();
            chunk.slots.clear();
            told.inference.forget_lookups();
            for number in first..first.saturating_add(width) {
                let full = refused(op, ElementReason::Room);
                fresh(chunk.slots).ok_or(full)?;
                let slot = chunk.slots.last_mut().ok_or(full)?;
                self.slot_at(told, &executing, number, slot)?;
            }
            if alone {
                let _ = self.only_first_copy(op, told, &mut chunk)?;
            }
            if chunk.slots.iter().any(|slot| slot.live) {
                self.chunk(op, told, id, &mut chunk)?;
            }
            self.held.truncate(kept);
            told.inference.forget_lookups();
            told.inference.arena.release(mark);
            self.release_nodes(&mut chunk.state, [executing.thread.node].into_iter());
            first = first.saturating_add(width);
        }
        Ok(())
    }

    /// Whether copies of an iteration would race with the first one, which alone writes memory:
    /// then it is executed alone.
    fn changes_what_it_reads(
        &self,
        op: Op,
        told: &Told<'_>,
        id: OperatorId,
        copies: u32,
    ) -> Result<bool, EmitError> {
        let touched = self.buffers_of(op).unwrap_or_default();
        let changed = touched.iter().any(|(of, writes)| *writes && touched.contains(&(*of, false)));
        if copies <= 1 || !changed {
            return Ok(false);
        }
        let own = told.inference.operator_of(id).map_err(of_form(op))?;
        let mut writes = told.inference.accesses_of(own).iter().filter(|access| access.write);
        let fragment = writes.any(|access| {
            let buffer = told.inference.buffer_of(access.buffer);
            buffer.is_ok_and(|buffer| buffer.scope == MemoryScope::Fragment)
        });
        if fragment { Err(refused(op, ElementReason::Copies)) } else { Ok(true) }
    }

    /// Where there are many, gives back the expressions that only what was emitted until now has
    /// asked for; others that are `held` stay.
    #[inline(never)]
    pub(crate) fn release_nodes(
        &mut self,
        state: &mut AccessState<'_>,
        held: impl Iterator<Item = ExprId>,
    ) {
        if self.arena.len() <= self.arena.capacity() >> 1 {
            return;
        }
        let base = self.tensor.and_then(|frame| frame.base());
        let own = [Some(self.thread), self.shared_base, base].into_iter().flatten();
        let known = self.indices.iter().map(|index| index.node);
        let computed = self.computed.iter().map(|index| index.node);
        let settled = self.settled.iter().flat_map(|pair| [pair.0, pair.1]);
        let buffers = self.read_buffers.iter().map(|(_, node)| *node);
        let all = held.chain(own).chain(buffers).chain(known).chain(computed).chain(settled);
        let kept = all.map(|node| node.index().saturating_add(1)).max().unwrap_or(0);
        self.arena.truncate(kept);
        self.arena.drop_variables();
        self.selector.forget_nodes(kept);
        self.quotients.clear();
        state.known.clear();
        state.guards.clear();
    }

    /// Who holds a fragment.
    pub(crate) fn holders(
        &mut self,
        op: Op,
        told: &mut Told<'_>,
        id: OperatorId,
        spread: FragmentForm,
    ) -> Result<ExecutingThreads, EmitError> {
        let full = of_form(op);
        let (first, count) = told.inference.operator_of(id).map_err(&full)?.threads;
        let threads = (first, count, self.plan.threads);
        let var = told.inference.arena.var(count, VarRole::Output).map_err(&full)?;
        let node = self.among(first)?;
        Ok(ExecutingThreads { op, spread, thread: ThreadVar { var, node }, threads })
    }

    /// A thread's number from a first one on.
    fn among(&mut self, first: u32) -> Result<ExprId, EmitError> {
        Ok(match first {
            0 => self.thread,
            first => self.arena.op_const(IndexOp::Sub, self.thread, u64::from(first))?,
        })
    }

    /// Who executes an operation.
    fn executing(
        &mut self,
        op: Op,
        told: &mut Told<'_>,
        id: OperatorId,
    ) -> Result<ExecutingThreads, EmitError> {
        let full = of_form(op);
        let own = *told.inference.operator_of(id).map_err(&full)?;
        let spread = told.inference.spread(id).ok_or(refused(op, ElementReason::Inverse))?;
        let (first, count) = own.threads;
        let arena = &mut told.inference.arena;
        let var = arena.var(count, VarRole::Output).map_err(&full)?;
        let node = self.among(first)?;
        let threads = (first, count, self.plan.threads);
        Ok(ExecutingThreads { op, spread, thread: ThreadVar { var, node }, threads })
    }

    /// How many slots make a chunk: as many as an instruction can move of the narrowest elements, and
    /// no more than are written to be taken together.
    fn width(&self, op: Op, told: &Told<'_>, id: OperatorId, slots: u32) -> Result<u32, EmitError> {
        let own = told.inference.operator_of(id).map_err(of_form(op))?;
        let mut width = LANES as u32;
        for access in told.inference.accesses_of(own) {
            let buffer = told.inference.buffer_of(access.buffer).map_err(of_form(op))?;
            let bytes = (buffer.bits >> 3).max(1);
            width = width.min(WIDEST.checked_div(bytes).unwrap_or(1).max(1));
        }
        let most = self.program.int_attr(op, attr_names::COALESCED_WIDTH);
        if let Some(most) = most.and_then(|most| u32::try_from(most).ok()) {
            width = width.min(most.checked_ilog2().map_or(1, |bits| 1 << bits));
        }
        while width > 1 && slots.checked_rem(width) != Some(0) {
            width >>= 1;
        }
        Ok(width.max(1))
    }

    #[inline(never)]
    fn chunk(
        &mut self,
        op: Op,
        told: &mut Told<'_>,
        id: OperatorId,
        chunk: &mut Chunk<'_>,
    ) -> Result<(), EmitError> {
        match self.program.role(op) {
            OpRole::Parallel => self.body_of(op, told, chunk),
            OpRole::ElementStore => self.element_op(op, told, chunk),
            OpRole::Fill => {
                let value = self.program.operand(op, 0).ok_or(EmitError::Unplanned(op))?;
                let to = self.access(op, told, id, true)?;
                let buffer = self.program.operand(op, 1).ok_or(EmitError::Unplanned(op))?;
                let from = match self.literal_of(value, buffer)? {
                    Some(reg) => reg,
                    None => self.scalar(op, told, chunk, value)?,
                };
                self.set_elements(op, told, chunk, (to.buffer, to.indices()), from)
            }
            OpRole::Copy => {
                let from = self.access(op, told, id, false)?;
                let to = self.access(op, told, id, true)?;
                let place = (from.buffer, from.indices());
                let there = (to.buffer, to.indices());
                let types = self.converted_types(op)?;
                if types.is_none() && self.copy_packed(op, told, chunk, [place, there])? {
                    return Ok(());
                }
                let value = self.get_elements(op, told, chunk, place, None)?;
                let value = match types {
                    Some(types) => self.cast(op, types, value)?,
                    None => value,
                };
                self.set_elements(op, told, chunk, there, value)
            }
            _ => Err(refused(op, ElementReason::Operation)),
        }
    }

    /// The first access of an operator that writes, or that does not.
    fn access(
        &self,
        op: Op,
        told: &Told<'_>,
        id: OperatorId,
        write: bool,
    ) -> Result<Access, EmitError> {
        let own = told.inference.operator_of(id).map_err(of_form(op))?;
        let found = told.inference.accesses_of(own).iter().find(|a| a.write == write);
        found.copied().ok_or(refused(op, ElementReason::Operation))
    }

    /// Registers with elements of a buffer.
    pub(crate) fn get_elements(
        &mut self,
        op: Op,
        told: &mut Told<'_>,
        chunk: &mut Chunk<'_>,
        (id, indices): (BufferId, &[IndexForm]),
        into: Option<Reg>,
    ) -> Result<Reg, EmitError> {
        let buffer = *told.inference.buffer_of(id).map_err(of_form(op))?;
        if buffer.scope == MemoryScope::Fragment {
            return self.read_fragment(op, told, (chunk.executing, chunk.slots), (id, indices));
        }
        let value = told.value(id).ok_or(refused(op, ElementReason::Foreign))?;
        let place = Place { op, value, indices, buffer: id };
        let before = self.keep_inside(told, chunk, &place)?;
        let loaded = self.load_elements(told, chunk, place, into);
        Self::restore(chunk, &before);
        loaded
    }

    /// Sets elements of a buffer.
    pub(crate) fn set_elements(
        &mut self,
        op: Op,
        told: &mut Told<'_>,
        chunk: &mut Chunk<'_>,
        (id, indices): (BufferId, &[IndexForm]),
        from: Reg,
    ) -> Result<(), EmitError> {
        let buffer = *told.inference.buffer_of(id).map_err(of_form(op))?;
        if buffer.scope == MemoryScope::Fragment {
            return self.write_fragment(
                op,
                told,
                (chunk.executing, chunk.slots),
                (id, indices),
                from,
            );
        }
        let value: Value = told.value(id).ok_or(refused(op, ElementReason::Foreign))?;
        let place = Place { op, value, indices, buffer: id };
        let before = self.only_first_copy(op, told, chunk)?;
        let _ = self.keep_inside(told, chunk, &place)?;
        let stored = self.store_elements(told, chunk, place, from);
        Self::restore(chunk, &before);
        stored
    }

    /// Copies elements from memory to memory in registers that hold several each; whether they lie
    /// on both sides so. Accesses of the one side may be wider than those of the other.
    #[inline(never)]
    fn copy_packed(
        &mut self,
        op: Op,
        told: &mut Told<'_>,
        chunk: &mut Chunk<'_>,
        ends: [(BufferId, &[IndexForm]); 2],
    ) -> Result<bool, EmitError> {
        let mut places: heapless::Vec<Place<'_>, 2> = heapless::Vec::new();
        for (id, indices) in ends {
            let buffer = *told.inference.buffer_of(id).map_err(of_form(op))?;
            if buffer.scope == MemoryScope::Fragment {
                return Ok(false);
            }
            let value = told.value(id).ok_or(refused(op, ElementReason::Foreign))?;
            let place = Place { op, value, indices, buffer: id };
            places.push(place).map_err(|_| refused(op, ElementReason::Room))?;
        }
        let [from, to] = places.as_slice() else { return Ok(false) };
        let before = self.keep_inside(told, chunk, to)?;
        let stores = self.even_runs(told, chunk, to, false);
        Self::restore(chunk, &before);
        let Some(stores) = stores? else { return Ok(false) };
        let before = self.keep_inside(told, chunk, from)?;
        let loads = self.even_runs(told, chunk, from, true);
        Self::restore(chunk, &before);
        let Some(loads) = loads? else { return Ok(false) };
        // The wider ones are made of whole registers of the narrower ones.
        let (wide, narrow) = (loads.1.max(stores.1), loads.1.min(stores.1));
        let fits =
            wide == narrow || narrow >= REGISTER_BYTES && wide.checked_rem(narrow) == Some(0);
        if loads.0 != stores.0 || !fits {
            return Ok(false);
        }
        let before = self.keep_inside(told, chunk, from)?;
        let held = self.load_runs(told, chunk, from, (loads, wide));
        Self::restore(chunk, &before);
        let held = held?;
        let before = self.only_first_copy(op, told, chunk)?;
        let _ = self.keep_inside(told, chunk, to)?;
        let stored = self.store_runs(told, chunk, to, (stores, wide, &held));
        Self::restore(chunk, &before);
        stored.map(|()| true)
    }

    /// Where several threads execute an iteration, the first of them writes memory; what the guards
    /// were before.
    fn only_first_copy(
        &mut self,
        op: Op,
        told: &Told<'_>,
        chunk: &mut Chunk<'_>,
    ) -> Result<heapless::Vec<Option<ExprId>, LANES>, EmitError> {
        let spread = chunk.executing.spread;
        let mut before = heapless::Vec::new();
        for at in 0..chunk.slots.len() {
            let Some(slot) = chunk.slots.get_mut(at) else { break };
            before.push(slot.guard).map_err(|_| refused(op, ElementReason::Room))?;
            if spread.copies <= 1 {
                continue;
            }
            let copy = slot.vars.iter().find(|(var, _)| *var == spread.copy).map(|(_, form)| *form);
            let copy = copy.ok_or(refused(op, ElementReason::Inverse))?;
            let mut guard = slot.guard;
            let node = self.form_node(op, told, copy, chunk.executing.thread)?;
            let zero = self.arena.constant(0)?;
            self.keep_equal(&mut guard, node, zero)?;
            if let Some(slot) = chunk.slots.get_mut(at) {
                slot.guard = guard;
            }
        }
        Ok(before)
    }
}

/// One more slot.
#[inline(never)] // A slot lies on the stack until it is in the list.
pub(crate) fn fresh(slots: &mut VecView<WorkSlot>) -> Option<()> {
    slots.push(WorkSlot::default()).ok()
}

impl LowerContext<'_, '_, '_, '_> {
    /// The buffers in memory that an operation in place reads or writes, each once for either;
    /// `None` if there are too many.
    fn buffers_of(&self, op: Op) -> Option<heapless::Vec<(Value, bool), TOUCHED>> {
        let program = self.program;
        let mut out = heapless::Vec::new();
        let mut add = |value: Option<Value>, writes: bool| {
            let Some(value) = value.map(|value| self.program.storage_of(value)) else {
                return true;
            };
            let space = program.type_of(value).space;
            let memory = matches!(space, Some(Space::Global | Space::Shared));
            !memory || out.contains(&(value, writes)) || out.push((value, writes)).is_ok()
        };
        let fits = match program.role(op) {
            OpRole::Parallel => program.inside(op).all(|inner| match program.role(inner) {
                OpRole::ElementLoad => add(program.operand(inner, 0), false),
                OpRole::ElementStore => add(program.operand(inner, 1), true),
                _ => true,
            }),
            OpRole::Copy | OpRole::ReduceInto => {
                add(program.operand(op, 0), false) && add(program.operand(op, 1), true)
            }
            OpRole::ElementLoad => add(program.operand(op, 0), false),
            OpRole::Fill | OpRole::ElementStore => add(program.operand(op, 1), true),
            OpRole::ProductInto => {
                add(program.operand(op, 0), false) && add(program.operand(op, 1), false)
            }
            _ => true,
        };
        fits.then_some(out)
    }

    /// Whether the function is one of parallel loops.
    fn is_of_loops(&self, op: Op) -> bool {
        let around = core::iter::successors(Some(op), |at| self.program.parent(*at));
        around.last().is_some_and(|function| self.program.has_loops(function))
    }

    /// Whether an operation stands inside of a parallel loop.
    pub(crate) fn is_in_nest(&self, op: Op) -> bool {
        let around = core::iter::successors(self.program.parent(op), |at| self.program.parent(*at));
        around.into_iter().any(|at| self.program.role(at) == OpRole::Parallel)
    }

    /// What an operation in place touches in memory, but for tiles of several buffers, which their
    /// loop orders.
    #[inline(never)]
    pub(crate) fn touched_in_place(&self, op: Op, out: &mut TouchedList) {
        self.touched_elements(op, false, out);
    }

    /// The same, or what it touches of tiles of several buffers.
    #[inline(never)]
    pub(crate) fn touched_elements(&self, op: Op, staged: bool, out: &mut TouchedList) {
        let in_place = matches!(
            self.program.role(op),
            OpRole::Parallel
                | OpRole::Copy
                | OpRole::Fill
                | OpRole::ReduceInto
                | OpRole::ProductInto
                | OpRole::ElementLoad
                | OpRole::ElementStore
        );
        if !in_place || self.is_in_nest(op) || !self.is_of_loops(op) {
            return;
        }
        let ahead = self.plan.move_of(op);
        for (value, writes) in self.buffers_of(op).unwrap_or_default() {
            let touched = match self.plan.alloc_of(value) {
                // The unit reads it by itself; a copy that runs ahead is a movement.
                Some((number, _)) if self.is_given(op, number) || ahead.is_some() => None,
                Some((_, tile)) if (tile.stages > 1) != staged => None,
                Some((_, tile)) => {
                    let kind = self.access_kind(op, value, Space::Shared, writes);
                    kind.map(|kind| MemAccess::shared(tile, kind, writes))
                }
                None if staged => None,
                None => {
                    let kind = match ahead {
                        Some(plan) => self.kind_outside(plan, writes),
                        None => self.access_kind(op, value, Space::Global, writes),
                    };
                    self.touched_tensor(op, (value, kind), writes)
                }
            };
            if let Some(touched) = touched {
                let _ = out.push(touched);
            }
        }
    }

    /// Whether a product's unit reads a shared tile by itself.
    fn is_given(&self, op: Op, number: u16) -> bool {
        let product = self.plan.product_of(op);
        product.is_some_and(|own| own.shared.iter().flatten().any(|given| given.alloc == number))
    }

    /// A tensor that something else in the kernel touches, too, where one of the two writes.
    fn touched_tensor(
        &self,
        op: Op,
        (value, kind): (Value, Option<AccessId>),
        writes: bool,
    ) -> Option<MemAccess> {
        let program = self.program;
        let function = core::iter::successors(Some(op), |at| program.parent(*at)).last()?;
        let repeated = program.parent(op) != Some(function);
        let mut others = program.inside(function).filter(|other| *other != op || repeated);
        let met = others.any(|other| {
            let role = program.role(other);
            let own = matches!(
                role,
                OpRole::Parallel
                    | OpRole::Copy
                    | OpRole::Fill
                    | OpRole::ReduceInto
                    | OpRole::ElementLoad
                    | OpRole::ElementStore
            );
            own && !self.is_in_nest(other)
                && self
                    .buffers_of(other)
                    .is_none_or(|all| all.iter().any(|(v, w)| *v == value && (*w || writes)))
        });
        let tensor = program.parameters(function).position(|of| of == value)?;
        let kind = kind.filter(|_| met)?;
        let tensor = u16::try_from(tensor).unwrap_or(u16::MAX);
        Some(MemAccess::global(GlobalTile { tensor, tile: 0 }, kind, writes))
    }

    /// Refuses an operation that touches more than is followed.
    pub(crate) fn check_touched(&self, op: Op) -> Result<(), EmitError> {
        match self.buffers_of(op) {
            Some(_) => Ok(()),
            None => Err(EmitError::full(EmitPool::Touched, TOUCHED as u32)),
        }
    }
}

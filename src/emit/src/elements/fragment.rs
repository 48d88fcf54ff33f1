//! Elements of fragments: registers by local indices.

use crate::elements::slots::{ExecutingThreads, LANES, WorkSlot};
use crate::elements::storage::Packing;
use crate::elements::{ElementReason, of_form, refused};
use crate::expr::{ExprId, Reg};
use crate::lower::context::{EmitError, LowerContext};
use crate::step::{InstKind, NO_GUARD, Slot as Arg};
use lanebook_infer::{BufferId, FormError, FormResult, IndexForm, MemoryScope};
use lanebook_ir::{Op, Value};
use lanebook_loops::Told;
use lanebook_tables::{OpRole, RegisterKind, Role};

/// Most local indices of a fragment.
const MOST: u32 = 2048;
/// Most registers among which one is chosen when the program runs: each costs a comparison and a copy.
const CHOICES: i64 = 64;

/// The local index of each slot of a chunk; `None` where it is known only when the program runs.
type LocalIndices = heapless::Vec<Option<u16>, LANES>;

/// One of the registers from `low` to before `end`, by its number.
#[derive(Copy, Clone, PartialEq, Eq)]
struct Choice {
    node: ExprId,
    low: u16,
    end: u16,
}

impl LowerContext<'_, '_, '_, '_> {
    /// Gives each fragment its registers, all of them from the start of the function: what loops
    /// leave in them stays.
    #[inline(never)]
    pub(crate) fn make_fragments(&mut self, told: &mut Told<'_>) -> Result<(), EmitError> {
        self.noted = Some(self.steps.steps.len());
        for number in 0..told.inference.counts().0 {
            let id = BufferId(u16::try_from(number).unwrap_or(u16::MAX));
            let buffer = *told.inference.buffer_of(id).map_err(of_form(told.function()))?;
            if buffer.scope == MemoryScope::Fragment && told.inference.layout(id).is_some() {
                let op = told.value(id).and_then(|value| self.program.def_op(value));
                self.check_view(op.unwrap_or(told.function()), told, id)?;
            }
        }
        for (id, value) in told.buffers() {
            let op = self.program.def_op(value).unwrap_or_else(|| told.function());
            let buffer = *told.inference.buffer_of(id).map_err(of_form(op))?;
            let Some(layout) = told.inference.layout(id) else { continue };
            if buffer.scope != MemoryScope::Fragment {
                continue;
            }
            if buffer.storage != id {
                continue;
            }
            let registers = self.packing(op, told, id)?.registers(layout.slots);
            let count = u16::try_from(registers).ok().filter(|_| registers <= MOST);
            let count = count.ok_or(refused(op, ElementReason::Fragment))?;
            let class = self.machine.class(RegisterKind::Vector, 32);
            let class = class.ok_or(refused(op, ElementReason::Element))?;
            let reg = self.steps.tuple(class, count)?;
            self.hold(value, reg)?;
            let shared = self.is_in_parts(op, told, id)?;
            if shared || told.is_read_early(id) || !self.is_written_everywhere(told, id) {
                self.fill(reg, 0)?;
            }
        }
        Ok(())
    }

    /// Whether each loop that writes a fragment has an iteration in each slot of each thread, under
    /// no condition.
    fn is_written_everywhere(&self, told: &Told<'_>, id: BufferId) -> bool {
        let inference = &told.inference;
        let storage = |of: BufferId| inference.buffer_of(of).map(|b| b.storage);
        told.operators().all(|(number, op)| {
            let Ok(own) = inference.operator_of(number) else { return false };
            let mut accesses = inference.accesses_of(own).iter();
            if !accesses.any(|a| a.write && storage(a.buffer) == storage(id)) {
                return true;
            }
            let Some(spread) = inference.spread(number) else { return false };
            let points = spread.vars.iter().try_fold(u64::from(spread.copies), |n, var| {
                Some(n.saturating_mul(u64::from(inference.arena.extent(var).ok()?)))
            });
            let places = u64::from(spread.slots).saturating_mul(u64::from(self.plan.threads));
            let mut inside = self.program.inside(op);
            let branches = inside.any(|o| self.program.role(o) == OpRole::If);
            points == Some(places) && !branches && !self.is_in_branch(op)
        })
    }

    /// The registers of a fragment.
    pub(crate) fn fragment_regs(
        &self,
        op: Op,
        told: &Told<'_>,
        id: BufferId,
    ) -> Result<Reg, EmitError> {
        let refuse = refused(op, ElementReason::Fragment);
        let buffer = told.inference.buffer_of(id).map_err(of_form(op))?;
        let value = told.value(buffer.storage).ok_or(refuse)?;
        self.held_by(value).ok_or(refuse)
    }

    /// The local indices that the slots of a chunk ask for; `None` where a thread's own number, or a
    /// loop's counter, chooses.
    #[inline(never)]
    fn local_indices(
        &mut self,
        op: Op,
        told: &mut Told<'_>,
        (executing, slots): (&ExecutingThreads, &[WorkSlot]),
        (id, indices): (BufferId, &[IndexForm]),
        out: &mut LocalIndices,
    ) -> Result<(), EmitError> {
        let full = of_form(op);
        let layout = told.inference.layout(id).ok_or(refused(op, ElementReason::Fragment))?;
        let local = told.inference.arena.index_at(&layout, indices).map_err(&full)?;
        for slot in slots {
            let mut at = told.inference.arena.substitute(local, &slot.vars).map_err(&full)?;
            let arena = &told.inference.arena;
            let is_own = slot.place.is_some_and(|(place, _)| arena.same(place, at));
            if let Some((_, number)) = slot.place.filter(|_| !is_own && !at.is_constant()) {
                let same = Self::same_in_threads(told, executing, u32::from(number), local);
                at = same.map_err(&full)?.map_or(at, IndexForm::constant);
            }
            let arena = &told.inference.arena;
            let known = u16::try_from(at.constant).ok().filter(|_| at.is_constant());
            // In the threads that execute the slot it is where the work is, if both are spread alike.
            let own = slot.place.filter(|(place, _)| arena.same(*place, at)).map(|(_, at)| at);
            let known = known.or(own).filter(|at| u32::from(*at) < layout.slots);
            let known = match known {
                // No thread does anything with it.
                None if !slot.live => Some(0),
                None if at.is_constant() => return Err(refused(op, ElementReason::LocalIndex)),
                known => known,
            };
            out.push(known).map_err(|_| refused(op, ElementReason::Room))?;
        }
        Ok(())
    }

    /// A map over a loop's variables that is the same in all threads which execute a slot: point by
    /// point, where structure does not tell.
    fn same_in_threads(
        told: &mut Told<'_>,
        executing: &ExecutingThreads,
        slot: u32,
        map: IndexForm,
    ) -> FormResult<Option<i64>> {
        let (_, count, _) = executing.threads;
        match told.inference.tabulate(&executing.spread, count, slot) {
            Ok(true) => told.inference.value_in_slot(slot, map),
            // Then it is chosen when the program runs.
            Ok(false) | Err(FormError::Full { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A local index that is chosen when the program runs.
    #[inline(never)]
    fn choice(
        &mut self,
        told: &mut Told<'_>,
        executing: &ExecutingThreads,
        slot: &WorkSlot,
        (id, indices): (BufferId, &[IndexForm]),
    ) -> Result<Choice, EmitError> {
        let (op, full) = (executing.op, of_form(executing.op));
        let layout = told.inference.layout(id).ok_or(refused(op, ElementReason::Fragment))?;
        let arena = &mut told.inference.arena;
        let local = arena.index_at(&layout, indices).map_err(&full)?;
        let at = arena.substitute(local, &slot.vars).map_err(&full)?;
        let (low, high) = arena.range(at).map_err(&full)?;
        let end = i64::from(layout.slots).min(high.saturating_add(1));
        let refuse = refused(op, ElementReason::LocalIndex);
        let (low, end) = (low.max(0), end.max(0));
        if end.saturating_sub(low) > CHOICES || low >= end {
            return Err(refuse);
        }
        let node = self.form_node(op, told, at, executing.thread)?;
        let number = |at: i64| u16::try_from(at).map_err(|_| refuse);
        Ok(Choice { node, low: number(low)?, end: number(end)? })
    }

    /// Notes which registers the steps since the last call write in all lanes, in a function of
    /// parallel loops.
    #[inline(never)]
    pub(crate) fn note_written(&mut self) {
        let Some(from) = self.noted.replace(self.steps.steps.len()) else {
            self.noted = None;
            return;
        };
        let level = self.turns.saturating_add(1);
        for step in self.steps.steps.iter().skip(from) {
            if step.guard != NO_GUARD || step.purpose == InstKind::Label {
                continue;
            }
            let Some(atom) = self.machine.tables.atom(step.atom) else { continue };
            let defs = atom.operands.iter().zip(&step.args).filter(|(o, _)| o.role == Role::Def);
            for (_, arg) in defs {
                let Arg::Reg { count, first, .. } = *arg else { continue };
                let first = usize::from(first);
                let end = first.saturating_add(usize::from(count)).min(self.written.capacity());
                if self.written.len() < end {
                    let _ = self.written.resize(end, 0);
                }
                for was in self.written.get_mut(first..end).unwrap_or_default() {
                    if *was == 0 || *was > level {
                        *was = level;
                    }
                }
            }
        }
    }

    /// Behind a loop: it may have run no turn.
    pub(crate) fn forget_written(&mut self) {
        self.note_written();
        let level = self.turns;
        self.turns = self.turns.saturating_sub(1);
        for was in self.written.iter_mut().filter(|was| **was > level) {
            *was = 0;
        }
    }

    /// Whether a step so far writes a register in all lanes, on every way to here. Registers of which
    /// that is not kept are said not to be written.
    fn is_written(&self, reg: Reg) -> bool {
        self.written.get(usize::from(reg.first)).is_some_and(|level| *level > 0)
    }

    /// Notes that a register of a fragment is read, which something may not have been written.
    pub(crate) fn note_reader(
        &mut self,
        op: Op,
        told: &mut Told<'_>,
        id: BufferId,
        reg: Reg,
    ) -> Result<(), EmitError> {
        self.note_written();
        if !(0..reg.count).all(|word| self.is_written(reg.member(word))) {
            let buffer = told.inference.buffer_of(id).map_err(of_form(op))?;
            told.read_early(buffer.storage);
        }
        Ok(())
    }

    /// Registers with the elements of a fragment that the slots of a chunk read.
    #[inline(never)]
    pub(crate) fn read_fragment(
        &mut self,
        op: Op,
        told: &mut Told<'_>,
        (executing, slots): (&ExecutingThreads, &[WorkSlot]),
        place: (BufferId, &[IndexForm]),
    ) -> Result<Reg, EmitError> {
        let regs = self.fragment_regs(op, told, place.0)?;
        let mut at = LocalIndices::new();
        self.local_indices(op, told, (executing, slots), place, &mut at)?;
        self.note_written();
        let packing = self.packing(op, told, place.0)?;
        let words = packing.words;
        let element = |k: u16| Reg { count: u16::from(words), ..regs.member(packing.place(k).0) };
        let is_written =
            |k: u16| (0..u16::from(words)).all(|word| self.is_written(element(k).member(word)));
        if at.iter().any(|k| k.is_none_or(|k| !is_written(k))) {
            let buffer = told.inference.buffer_of(place.0).map_err(of_form(op))?;
            told.read_early(buffer.storage);
        }
        let room = refused(op, ElementReason::Room);
        let count = u16::try_from(at.len())
            .ok()
            .and_then(|n| n.checked_mul(u16::from(words)))
            .ok_or(room)?;
        if let Some(Some(first)) = at.first().copied().filter(|_| packing.parts == 1) {
            if at.iter().all(|k| *k == Some(first)) {
                return Ok(element(first));
            }
            if (first..).zip(&at).all(|(want, k)| Some(want) == *k) {
                return Ok(Reg { count, ..element(first) });
            }
        }
        let out = self.steps.tuple(regs.class, count)?;
        let mut before: Option<(Choice, Reg)> = None;
        for ((k, from), slot) in (0u16..).zip(&at).zip(slots) {
            let to =
                Reg { count: u16::from(words), ..out.member(k.saturating_mul(u16::from(words))) };
            let Some(from) = *from else {
                if packing.parts > 1 {
                    return Err(refused(op, ElementReason::View));
                }
                let choice = self.choice(told, executing, slot, place)?;
                // Neighbours often read one element.
                if let Some((known, reg)) = before.filter(|(known, _)| *known == choice) {
                    self.copy_tile(op, reg, to)?;
                    before = Some((known, to));
                    continue;
                }
                before = Some((choice, to));
                // From the last on, each where the number is no greater: one comparison each.
                let last = choice.end.saturating_sub(1);
                self.copy_tile(op, element(last), to)?;
                for number in (choice.low..last).rev() {
                    let mut guard = None;
                    self.keep_below(&mut guard, choice.node, number.saturating_add(1))?;
                    let guard = self.guard_of(op, guard)?;
                    self.copy_guarded(op, guard, element(number), to)?;
                }
                continue;
            };
            if packing.parts > 1 {
                let part = packing.place(from).1;
                self.take_part(op, (element(from), part), packing.bytes, to)?;
                continue;
            }
            self.copy_tile(op, element(from), to)?;
        }
        Ok(out)
    }

    /// Sets elements of a fragment, in the threads that execute the slots.
    #[inline(never)]
    pub(crate) fn write_fragment(
        &mut self,
        op: Op,
        told: &mut Told<'_>,
        (executing, slots): (&ExecutingThreads, &[WorkSlot]),
        place: (BufferId, &[IndexForm]),
        from: Reg,
    ) -> Result<(), EmitError> {
        let regs = self.fragment_regs(op, told, place.0)?;
        let mut at = LocalIndices::new();
        self.local_indices(op, told, (executing, slots), place, &mut at)?;
        let packing = self.packing(op, told, place.0)?;
        let words = packing.words;
        let element = |k: u16| Reg { count: u16::from(words), ..regs.member(packing.place(k).0) };
        for (k, (slot, to)) in (0u16..).zip(slots.iter().zip(&at)) {
            if !slot.live {
                continue;
            }
            let k =
                if from.count == u16::from(words) { 0 } else { k.saturating_mul(u16::from(words)) };
            let from = Reg { count: u16::from(words), first: from.first.wrapping_add(k), ..from };
            let Some(to) = *to else {
                if packing.parts > 1 {
                    return Err(refused(op, ElementReason::View));
                }
                let choice = self.choice(told, executing, slot, place)?;
                for number in choice.low..choice.end {
                    let to = element(number);
                    self.save_readers(op, to)?;
                    self.copy_chosen(op, (choice.node, number, slot.guard), from, to)?;
                }
                continue;
            };
            let (to, part) = (element(to), packing.place(to).1);
            if from == to {
                continue;
            }
            self.save_readers(op, to)?;
            let guard = self.guard_of(op, slot.guard)?;
            if packing.parts > 1 {
                self.put_part(op, from, (to, part), packing.bytes, guard)?;
                continue;
            }
            self.copy_guarded(op, guard, from, to)?;
        }
        Ok(())
    }

    /// A copy in the threads whose number is this one, under a guard.
    #[inline(never)]
    fn copy_chosen(
        &mut self,
        op: Op,
        (node, number, guard): (ExprId, u16, Option<ExprId>),
        from: Reg,
        to: Reg,
    ) -> Result<(), EmitError> {
        let mut guard = guard;
        let wanted = self.arena.constant(u32::from(number))?;
        self.keep_equal(&mut guard, node, wanted)?;
        let guard = self.guard_of(op, guard)?;
        self.copy_guarded(op, guard, from, to)
    }

    pub(crate) fn copy_guarded(
        &mut self,
        op: Op,
        guard: Option<Reg>,
        from: Reg,
        to: Reg,
    ) -> Result<(), EmitError> {
        self.steps.guard = guard;
        let copied = self.copy_tile(op, from, to);
        self.steps.guard = None;
        copied
    }

    /// Values of the chunk that stand in a register of a fragment get registers of their own before
    /// it is written.
    fn save_readers(&mut self, op: Op, target: Reg) -> Result<(), EmitError> {
        for at in 0..self.held.len() {
            let Some(known) = self.held.get(at).copied() else { break };
            let is_buffer = |value: Value| self.program.type_of(value).is_tile();
            let end = known.reg.first.wrapping_add(known.reg.count);
            let target_end = target.first.wrapping_add(target.count);
            let meets = known.reg.class == target.class
                && known.reg.first < target_end
                && target.first < end;
            if !meets || is_buffer(known.value) || !self.is_read_behind(op, known.value) {
                continue;
            }
            let own = self.steps.tuple(known.reg.class, known.reg.count)?;
            self.copy_tile(op, known.reg, own)?;
            if let Some(slot) = self.held.get_mut(at) {
                slot.reg = own;
            }
        }
        Ok(())
    }
}

impl LowerContext<'_, '_, '_, '_> {
    /// Whether a value is read behind an operation: in its block, or where that is not seen.
    fn is_read_behind(&self, op: Op, value: Value) -> bool {
        let program = self.program;
        let behind = |user: Op| {
            core::iter::successors(program.next(op), |at| program.next(*at)).any(|at| at == user)
        };
        let apart = |user: Op| program.block_of(user) != program.block_of(op);
        let mut users = program.uses(value).filter_map(|place| program.user(place));
        users.any(|user| apart(user) || behind(user))
    }

    /// The registers of the fragment into which the one reader of an operation's result stores it,
    /// where nothing stands between that touches the fragment, and all threads do it in all slots.
    #[inline(never)]
    pub(crate) fn stored_at(
        &mut self,
        op: Op,
        told: &mut Told<'_>,
        (executing, slots): (&ExecutingThreads, &[WorkSlot]),
    ) -> Result<Option<Reg>, EmitError> {
        let program = self.program;
        let Some(store) = self.only_store(op) else { return Ok(None) };
        let mut indices = heapless::Vec::new();
        let Ok(id) = self.subscripts(store, told, 1, &mut indices) else { return Ok(None) };
        let buffer = *told.inference.buffer_of(id).map_err(of_form(op))?;
        if buffer.scope != MemoryScope::Fragment
            || slots.iter().any(|s| s.guard.is_some() || !s.live)
        {
            return Ok(None);
        }
        if self.packing(op, told, id)? != Packing::SINGLE {
            return Ok(None);
        }
        let Some(storage) = told.value(buffer.storage) else { return Ok(None) };
        let touches = |other: Op| {
            let number = match program.role(other) {
                OpRole::ElementLoad => 0,
                OpRole::ElementStore => 1,
                OpRole::For | OpRole::If => return true,
                _ => return false,
            };
            program.operand(other, number).is_some_and(|of| self.program.storage_of(of) == storage)
        };
        let mut at = program.next(op);
        while let Some(other) = at.filter(|other| *other != store) {
            if touches(other) {
                return Ok(None);
            }
            at = program.next(other);
        }
        let regs = self.fragment_regs(op, told, id)?;
        let mut local = LocalIndices::new();
        if self.local_indices(op, told, (executing, slots), (id, &indices), &mut local).is_err() {
            return Ok(None);
        }
        let Some(Some(first)) = local.first().copied() else { return Ok(None) };
        let count = u16::try_from(local.len()).unwrap_or(u16::MAX);
        if !(first..).zip(&local).all(|(want, k)| Some(want) == *k) {
            return Ok(None);
        }
        let out = Reg { class: regs.class, first: regs.first.wrapping_add(first), count };
        for k in 0..count {
            self.save_readers(op, out.member(k))?;
        }
        Ok(Some(out))
    }

    /// The store behind an operation in its block that alone reads its result.
    fn only_store(&self, op: Op) -> Option<Op> {
        let program = self.program;
        let result = program.result(op, 0)?;
        let mut uses = program.uses(result);
        let store = program.user(uses.next()?)?;
        let alone = uses.next().is_none() && program.role(store) == OpRole::ElementStore;
        let block = program.block_of(op);
        (alone && program.block_of(store) == block && program.operand(store, 0) == Some(result))
            .then_some(store)
    }
}

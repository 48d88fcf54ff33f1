//! Movements: one instruction an instance, with its address, its immediate and its part of the
//! tile's registers.

use crate::expr::Reg;
use crate::lower::context::{EmitError, LowerContext};
use crate::lower::kept::{KeptFor, MovementEnd};
use crate::memory::address::{SideView, memory_sides, steps_of};
use crate::pool::EmitPool;
use crate::step::{InstKind, Slot, TupleStride, int, slot};
use crate::sync::access::{MemAccess, TouchedList};
use crate::sync::order::{BarrierSide, PendingAccesses, RequiredSync, is_barrier, push};
use lanebook_ir::{Loop, Op};
use lanebook_plan::{AllocPlan, End, ProductPlan, TransferPlan};
use lanebook_tables::{Atom, AtomId, ClassId, Movement, OffsetField, OpRole, Role, Space};
use lanebook_tile::map::MemoryMap;
use lanebook_tile::offset::{AddressOrigin, Delta, delta, immediate_start};
use lanebook_tile::product::ProductInput;

/// Most accesses that loads are looked ahead for.
const AHEAD: usize = 6;

impl LowerContext<'_, '_, '_, '_> {
    /// The shared tiles that an operation touches, as its atoms touch them.
    pub(crate) fn touched(&self, op: Op, out: &mut TouchedList) {
        if let Some(product) = self.plan.product_of(op) {
            self.touched_by_unit(product, false, out);
            for touched in self.touched_in_tensor(product).into_iter().flatten() {
                let _ = out.push(touched);
            }
            // What it loads by itself it reads here, whatever stood before the load.
            for sliced in ProductInput::BOTH.into_iter().filter_map(|input| self.sliced(op, input))
            {
                if let Some(plan) = self.plan.move_of(sliced.load()) {
                    self.touched_by_move(plan, out);
                }
            }
        }
        if let Some(plan) = self.plan.move_of(op) {
            self.touched_by_move(plan, out);
        }
        self.touched_in_place(op, out);
    }

    fn touched_by_move(&self, plan: &TransferPlan, out: &mut TouchedList) {
        self.touched_outside(plan, out);
        // What a loop of stages orders it orders by itself.
        self.touched_in_shared(plan, false, out);
    }

    /// The tiles of several buffers that a movement touches, or the others.
    pub(crate) fn touched_in_shared(
        &self,
        plan: &TransferPlan,
        staged: bool,
        out: &mut TouchedList,
    ) {
        let is_meant = |tile: &&AllocPlan| (tile.stages > 1) == staged;
        if let Some(tiled) = plan.tiled {
            // A loop of stages waits by itself for what it copies ahead.
            let completion = tiled.completion.filter(|_| !self.plan.runs_ahead(plan.op));
            if let (Some(number), Some(objects)) =
                (completion.filter(|_| self.announces(plan)), self.objects())
            {
                let _ = out.push(objects.announcement(number));
            }
            let Some(form) = self.machine.tables.units.tiled_moves.get(usize::from(tiled.form))
            else {
                return;
            };
            for (kind, end, writes) in [(form.from, plan.from, false), (form.to, plan.to, true)] {
                if let End::Shared(alloc) = end
                    && let Some(tile) = self.plan.allocs.get(usize::from(alloc)).filter(is_meant)
                {
                    let touched = MemAccess::shared(tile, kind, writes);
                    let _ = out.push(MemAccess { completion, ..touched });
                }
            }
            return;
        }
        for atom in [Some(plan.atom), plan.second].into_iter().flatten() {
            let Some(movement) = self.machine.tables.atom(atom).and_then(|a| a.movement.as_ref())
            else {
                continue;
            };
            for (side, end, writes) in
                [(&movement.from, plan.from, false), (&movement.to, plan.to, true)]
            {
                if let (Space::Shared, End::Shared(alloc)) = (side.space, end)
                    && let Some(tile) = self.plan.allocs.get(usize::from(alloc)).filter(is_meant)
                {
                    let _ = out.push(MemAccess::shared(tile, side.access, writes));
                }
            }
        }
    }

    /// The tiles of several buffers that a product's unit reads by itself, or the others.
    pub(crate) fn touched_by_unit(
        &self,
        product: &ProductPlan,
        staged: bool,
        out: &mut TouchedList,
    ) {
        let Some(atom) = self.machine.tables.atom(product.product.atom) else { return };
        let is_meant = |tile: &&AllocPlan| (tile.stages > 1) == staged;
        let numbers = [product.product.shape.a, product.product.shape.b];
        for (number, given) in numbers.into_iter().zip(product.shared) {
            if let Some(tile) = given
                .and_then(|given| self.plan.allocs.get(usize::from(given.alloc)).filter(is_meant))
                && let Some(how) = atom.shared(number)
            {
                let _ = out.push(MemAccess::shared(tile, how.access, false));
            }
        }
        for copy in product.copied.into_iter().flatten() {
            if let Some(tile) = self.plan.allocs.get(usize::from(copy.given.alloc)).filter(is_meant)
                && let Some(movement) =
                    self.machine.tables.atom(copy.atom).and_then(|copy| copy.movement)
            {
                let _ = out.push(MemAccess::shared(tile, movement.from.access, false));
            }
        }
    }

    /// Orders an operation after what is open; whether a barrier stands between.
    pub(crate) fn meet(
        &mut self,
        op: Op,
        open: &mut PendingAccesses,
        emit: bool,
    ) -> Result<bool, EmitError> {
        let mut touched = TouchedList::new();
        self.touched(op, &mut touched);
        let own = touched.len();
        self.touched_next(op, &mut touched);
        let barrier = self.meet_ahead((touched.as_slice(), own), open, emit)?;
        self.completed(op, barrier, open);
        self.reopen_together(op, open, &mut touched)?;
        Ok(barrier)
    }

    /// Behind what a load reads, what the loads behind it do, up to a few: between them
    /// nothing writes, so that one barrier serves them all.
    fn touched_next(&self, op: Op, out: &mut TouchedList) {
        let role = |op: Op| self.program.role(op);
        let mut at = self.program.next(op).filter(|_| role(op) == OpRole::Load);
        while let Some(later) = at.filter(|_| out.len() < AHEAD) {
            match role(later) {
                OpRole::Load => {
                    if let Some(plan) = self.plan.move_of(later) {
                        self.touched_in_shared(plan, false, out);
                    }
                }
                OpRole::Transpose | OpRole::Constant | OpRole::Elementwise | OpRole::Index => {}
                _ => break,
            }
            at = self.program.next(later);
        }
    }

    /// Orders accesses after everything open that they conflict with.
    pub(crate) fn meet_all(
        &mut self,
        touched: &[MemAccess],
        open: &mut PendingAccesses,
        emit: bool,
    ) -> Result<bool, EmitError> {
        self.meet_ahead((touched, touched.len()), open, emit)
    }

    /// The same for the first `own` ones, with those that come behind them.
    fn meet_ahead(
        &mut self,
        (touched, own): (&[MemAccess], usize),
        open: &mut PendingAccesses,
        emit: bool,
    ) -> Result<bool, EmitError> {
        if own == 0 {
            return Ok(false);
        }
        let (tables, arch) = (self.machine.tables, self.machine.arch);
        let apart = |a, b| self.lie_apart(a, b);
        let wanted = open.meet_ahead(tables, arch, (touched, own), apart)?;
        let has_barrier = wanted.iter().any(is_barrier);
        if !emit {
            return Ok(has_barrier);
        }
        self.carry_out(&wanted)?;
        Ok(has_barrier)
    }

    /// The steps that have to stand here: barriers behind all that need not stand behind them.
    pub(crate) fn carry_out(&mut self, wanted: &[RequiredSync<'_>]) -> Result<(), EmitError> {
        for pass in 0..3 {
            for wanted in wanted {
                self.steps.purpose = InstKind::Sync;
                match wanted {
                    RequiredSync::Step(step, stand) => {
                        let own = match stand {
                            BarrierSide::Behind => 2,
                            _ => u8::from(step.barrier),
                        };
                        if own == pass {
                            push(self.machine.tables, step, &mut self.steps)?;
                        }
                    }
                    RequiredSync::Wait(number) if pass == 0 => self.wait(*number)?,
                    RequiredSync::Wait(_) => {}
                }
            }
        }
        Ok(())
    }

    /// Waits for everything that is open and completes on an object: no loop begins or ends before
    /// that.
    #[inline(never)]
    pub(crate) fn wait_for_open(&mut self, open: &mut PendingAccesses) -> Result<(), EmitError> {
        for number in open.take_waits()? {
            self.wait(number)?;
        }
        Ok(())
    }

    #[inline(never)]
    pub(crate) fn movement(
        &mut self,
        op: Op,
        innermost: Option<&Loop>,
        open: &mut PendingAccesses,
    ) -> Result<(), EmitError> {
        let plan: TransferPlan = *self.plan.move_of(op).ok_or(EmitError::Unplanned(op))?;
        // What does not go on evenly is made anew in each turn.
        self.prepare(&plan, innermost.filter(|at| self.is_even(&plan, at)))?;
        self.run_at = None;
        self.steps.origin = u16::try_from(op.index()).unwrap_or(u16::MAX);
        if self.is_sliced(op) {
            // The product that reads the tile loads it; what must stand before the load stands
            // here.
            return self.meet(op, open, true).map(|_| ());
        }
        if plan.tiled.is_some() {
            return self.tiled_movement(&plan, open);
        }
        let tile = self.moved_registers(&plan)?;
        self.open_answer(&plan)?;
        self.meet(op, open, true)?;
        let first = self.machine.tables.atom(plan.atom).ok_or(EmitError::Unplanned(op))?;
        let second = match plan.second {
            Some(id) => Some((id, self.machine.tables.atom(id).ok_or(EmitError::Unplanned(op))?)),
            None => None,
        };
        let is_indexed = self.indexed_tile(&plan).is_some();
        if is_indexed {
            self.indexed_start(&plan)?;
        }
        let mut order = heapless::Vec::new();
        self.by_rows(&plan, &mut order);
        let at = |k: u32| order.get(k as usize).map_or(k, |&i| u32::from(i));
        if let (Some((id, _)), Some(transpose)) = (second, plan.transpose) {
            return self.transposed(&plan, &transpose, id);
        }
        match second {
            None => {
                for k in 0..plan.tiling.count() {
                    let i = at(k);
                    let data = match tile {
                        Some(reg) => Some(self.tile_part(&plan, reg, i)?),
                        None => None,
                    };
                    let id = plan.tiling.atom_of(i, plan.atom);
                    let own = self.machine.tables.atom(id).ok_or(EmitError::Unplanned(op))?;
                    let data = match (data, data_operand(own)) {
                        (Some(data), Some(operand)) if matches!(plan.from, End::Registers(_)) => {
                            Some(self.suited_part(op, data, operand)?)
                        }
                        (data, _) => data,
                    };
                    if is_indexed {
                        self.indexed_instance(&plan, (id, own), i, data)?;
                    } else {
                        self.instance(&plan, id, own, i, data)?;
                    }
                }
            }
            Some((id, second)) => {
                self.through_registers(&plan, (plan.atom, first), (id, second), at)?;
            }
        }
        Ok(())
    }

    /// The registers of the tile that a movement fills or empties, if one of its ends is there.
    fn moved_registers(&mut self, plan: &TransferPlan) -> Result<Option<Reg>, EmitError> {
        let refuse = EmitError::Unplanned(plan.op);
        match (plan.from, plan.to) {
            (End::Registers(k), _) => {
                let value = self.plan.fragments.get(usize::from(k)).ok_or(refuse)?.value;
                Ok(Some(self.tile_of(plan.op, value)?))
            }
            (_, End::Registers(k)) => {
                let f = *self.plan.fragments.get(usize::from(k)).ok_or(refuse)?;
                let class = register_class(self.machine.tables.atom(plan.atom)).ok_or(refuse)?;
                let reg = self.tile(class, &f.fragment)?;
                self.hold(f.value, reg)?;
                Ok(Some(reg))
            }
            _ => Ok(None),
        }
    }

    /// A copy through registers: all loads first, so that they overlap, as many at a time as the
    /// tile has instances; `at` is the order of these.
    fn through_registers(
        &mut self,
        plan: &TransferPlan,
        (load, first): (AtomId, &Atom<'_>),
        (store, second): (AtomId, &Atom<'_>),
        at: impl Fn(u32) -> u32,
    ) -> Result<(), EmitError> {
        let class = register_class(Some(first)).ok_or(EmitError::Unplanned(plan.op))?;
        let count = data_operand(first).map_or(1, |o| o.registers);
        let mut stage: heapless::Vec<Reg, 64> = heapless::Vec::new();
        let mut done = 0u32;
        while done < plan.tiling.count() {
            stage.clear();
            let batch =
                (plan.tiling.count().saturating_sub(done)).min(self.in_flight(count.into(), 16));
            for k in 0..batch {
                let reg = self.steps.tuple(class, u16::from(count))?;
                stage.push(reg).map_err(|_| EmitError::full(EmitPool::CopyRegisters, 64))?;
                self.instance(plan, load, first, at(done.saturating_add(k)), Some(slot(reg)))?;
            }
            for (k, reg) in (0u32..).zip(&stage) {
                self.instance(plan, store, second, at(done.saturating_add(k)), Some(slot(*reg)))?;
            }
            done = done.saturating_add(batch);
        }
        Ok(())
    }

    /// The loads of a copy through registers that is stored later, into registers one behind the
    /// other; the next one behind them. With nothing open it has been ordered before.
    #[inline(never)]
    pub(crate) fn load_half(
        &mut self,
        (op, innermost): (Op, Option<&Loop>),
        first: u16,
        open: Option<&mut PendingAccesses>,
    ) -> Result<u16, EmitError> {
        let refuse = EmitError::Unplanned(op);
        let plan: TransferPlan = *self.plan.move_of(op).ok_or(refuse)?;
        self.prepare(&plan, innermost.filter(|at| self.is_even(&plan, at)))?;
        self.run_at = None;
        self.steps.origin = u16::try_from(op.index()).unwrap_or(u16::MAX);
        if let Some(open) = open {
            self.meet(op, open, true)?;
        }
        if self.indexed_tile(&plan).is_some() {
            self.indexed_start(&plan)?;
        }
        self.instances_of(&plan, plan.atom, first)
    }

    /// The stores of such a copy.
    #[inline(never)]
    pub(crate) fn store_half(&mut self, op: Op, first: u16) -> Result<u16, EmitError> {
        let refuse = EmitError::Unplanned(op);
        let plan: TransferPlan = *self.plan.move_of(op).ok_or(refuse)?;
        self.run_at = None;
        self.steps.origin = u16::try_from(op.index()).unwrap_or(u16::MAX);
        let second = plan.second.ok_or(refuse)?;
        match plan.transpose {
            Some(transpose) => self.store_transposed(&plan, &transpose, second, first),
            None => self.instances_of(&plan, second, first),
        }
    }

    /// All instances of one of a copy's two atoms, on registers one behind the other.
    fn instances_of(
        &mut self,
        plan: &TransferPlan,
        id: AtomId,
        first: u16,
    ) -> Result<u16, EmitError> {
        let refuse = EmitError::Unplanned(plan.op);
        let atom = self.machine.tables.atom(id).ok_or(refuse)?;
        let loads = self.machine.tables.atom(plan.atom);
        let (class, count) =
            register_class(loads).zip(loads.and_then(data_operand)).ok_or(refuse)?;
        let mut order = heapless::Vec::new();
        if plan.transpose.is_none() {
            self.by_rows(plan, &mut order);
        }
        let mut next = first;
        for k in 0..plan.tiling.count() {
            let i = order.get(k as usize).map_or(k, |&i| u32::from(i));
            let reg = Reg { class, first: next, count: u16::from(count.registers) };
            next = next.checked_add(u16::from(count.registers)).ok_or(refuse)?;
            self.instance(plan, id, atom, i, Some(slot(reg)))?;
        }
        Ok(next)
    }

    /// The registers of one instance of a tile.
    pub(crate) fn tile_part(
        &mut self,
        plan: &TransferPlan,
        tile: Reg,
        instance: u32,
    ) -> Result<Slot, EmitError> {
        self.part_of(tile, plan.tiling.register(instance), plan.tiling.tuple.as_slice())
    }

    /// The registers from `register` of a tile on, whose numbers' bits stand at `places`.
    pub(crate) fn part_of(
        &mut self,
        tile: Reg,
        register: u32,
        places: &[u8],
    ) -> Result<Slot, EmitError> {
        let first = tile.first.wrapping_add(u16::try_from(register).unwrap_or(0));
        let bits = places.len();
        let count = 1u16.checked_shl(bits as u32).unwrap_or(1);
        let mut pattern: TupleStride = [0; 5];
        for (weight, &place) in pattern.iter_mut().zip(places) {
            *weight = 1u16.checked_shl(u32::from(place)).unwrap_or(0);
        }
        let class = tile.class.0 as u8;
        Ok(match self.steps.pattern(pattern, bits)? {
            None => Slot::Reg { class, count, first },
            Some(pattern) => Slot::Spread { class, count, first, pattern },
        })
    }

    /// A part of a tile that an operand takes: itself, or a copy in a class of the operand's.
    pub(crate) fn suited_part(
        &mut self,
        op: Op,
        part: Slot,
        operand: &lanebook_tables::Operand<'_>,
    ) -> Result<Slot, EmitError> {
        match part {
            Slot::Reg { class, count, first } => {
                let class = ClassId(u16::from(class));
                self.taken(op, Reg { class, count, first }, operand).map(slot)
            }
            // Halves that lie apart are in no register that holds both.
            Slot::Spread { class, .. } if !operand.accepts(ClassId(u16::from(class))) => {
                Err(EmitError::Unplanned(op))
            }
            part => Ok(part),
        }
    }

    /// Keeps an instance to the bounds of its memref: what guards it, or its size among `args`.
    fn within_bounds(
        &mut self,
        plan: &TransferPlan,
        movement: &Movement<'_>,
        instance: u32,
        args: &mut [Slot],
    ) -> Result<Option<Reg>, EmitError> {
        let mut guard = None;
        for (side, end) in [(&movement.from, plan.from), (&movement.to, plan.to)] {
            if side.space != Space::Global {
                continue;
            }
            self.know_bounds(plan, end)?;
            match movement.size {
                Some(size) => {
                    let share = u32::from(side.slot_bytes);
                    let bytes = self.size_within(plan, end, instance, share)?;
                    let place = args.get_mut(usize::from(size));
                    *place.ok_or(EmitError::Unplanned(plan.op))? = slot(bytes);
                }
                None => guard = self.guard(plan, end, instance)?,
            }
        }
        Ok(guard)
    }

    /// Zeros where what a guard leaves out would stand: what is loaded, and what an atomic
    /// operation answers.
    fn fill_what_is_left_out(
        &mut self,
        movement: &Movement<'_>,
        data: Option<Slot>,
        args: &[Slot],
    ) -> Result<(), EmitError> {
        if let Some(data) = data.filter(|_| movement.to.space == Space::Register) {
            self.fill_outside(data)?;
        }
        let answer = movement.atomic.and_then(|atomic| args.get(usize::from(atomic.old?)));
        answer.map_or(Ok(()), |answer| self.fill_outside(*answer))
    }

    /// One instruction of a movement.
    pub(crate) fn instance(
        &mut self,
        plan: &TransferPlan,
        id: lanebook_tables::AtomId,
        atom: &Atom<'_>,
        instance: u32,
        data: Option<Slot>,
    ) -> Result<(), EmitError> {
        let movement = atom.movement.as_ref().ok_or(EmitError::Unplanned(plan.op))?;
        // What the movement is guarded by is no guard of its addresses.
        let outer = self.steps.guard.take();
        let mut args = plain_immediates(atom);
        let refuse = EmitError::Unplanned(plan.op);
        for side in [&movement.from, &movement.to] {
            if side.space == Space::Register {
                set(&mut args, side.operand, data.ok_or(refuse)?);
            }
        }
        let mut special: Option<SpecialStart> = None;
        for view in &memory_sides(atom, plan.from, plan.to) {
            special = self.place_operands(plan, (atom, view), instance, &mut args)?.or(special);
        }
        if let Some((side, bytes, class)) = special {
            self.steps.purpose =
                if instance == 0 { InstKind::FirstAddress } else { InstKind::FurtherAddress };
            self.start_run(plan.op, side, bytes, class)?;
        }
        if movement.atomic.is_some() {
            self.combined_with(plan, atom, instance, &mut args)?;
        }
        let guard = self.within_bounds(plan, movement, instance, &mut args)?;
        if guard.is_some() {
            self.fill_what_is_left_out(movement, data, &args)?;
        }
        self.steps.purpose = InstKind::Move;
        // What else it writes is of no use to anybody: registers of its own.
        for (operand, arg) in atom.operands.iter().zip(&mut args) {
            if operand.role == Role::Def && !operand.implicit && *arg == Slot::None {
                *arg = slot(self.steps.tuple(operand.class, u16::from(operand.registers))?);
            }
        }
        let used = args.get(..atom.operands.len()).ok_or(EmitError::Unplanned(plan.op))?;
        self.steps.guard = guard.or(outer);
        let appended = self.steps.append(id, used);
        self.steps.guard = None;
        appended?;
        match movement.atomic.and_then(|atomic| args.get(usize::from(atomic.old?))) {
            Some(answer) => self.keep_answer(plan, instance, *answer),
            None => Ok(()),
        }
    }

    /// The operands of one side of an instance: its address, its base and what its fields hold;
    /// where it has none of them in the text, what its special register is to hold.
    #[inline(never)] // Its map leaves the stack before bounds are told.
    fn place_operands(
        &mut self,
        plan: &TransferPlan,
        (atom, view): (&Atom<'_>, &SideView<'_>),
        instance: u32,
        args: &mut [Slot; crate::step::MAX_ARGS],
    ) -> Result<Option<SpecialStart>, EmitError> {
        let mut set = |number, arg| set(args, number, arg);
        let e = plan.tiling.element(instance);
        let Some((map, origin)) = self.place_map(plan, view)? else { return Ok(None) };
        let operand = atom
            .operands
            .get(usize::from(view.side.operand))
            .ok_or(EmitError::Unplanned(plan.op))?;
        if operand.implicit {
            // The text does not show it, but hazards do.
            let reg = self.special(operand.class)?;
            set(view.side.operand, slot(reg));
            return Ok(Some((view.at, map.at(e).bytes, operand.class)));
        }
        let d = delta(&map, &plan.tiling, e, origin, view.offset);
        let in_lane = self.in_lane(plan.op, view.at, d);
        let mut address = self
            .kept(plan.op, KeptFor::Lane(view.at, in_lane.key()))
            .ok_or(EmitError::Unplanned(plan.op))?;
        if self.indexed_tile(plan).is_some() {
            address = self.at_index(plan, address)?;
        }
        set(view.side.operand, slot(address));
        if let Some(base) = view.side.base {
            self.steps.purpose = InstKind::FurtherAddress;
            let reg = self.base_at(plan.op, view.at, d.lead.wrapping_sub(in_lane.lead))?;
            set(base, slot(reg));
        }
        if let Some(field) = view.offset {
            set(field.operand, Slot::Int(d.immediate));
        }
        if let Some(field) = view.second {
            let far = second_offset(plan, &map, e, (origin, d), field)?;
            set(field.operand, Slot::Int(far));
        }
        Ok(None)
    }

    /// The map of a side's memory, and what its addresses count from as they were prepared; `None`
    /// of registers.
    fn place_map(
        &self,
        plan: &TransferPlan,
        view: &SideView<'_>,
    ) -> Result<Option<(MemoryMap, AddressOrigin)>, EmitError> {
        let refuse = EmitError::Unplanned(plan.op);
        Ok(match view.end {
            End::Shared(k) => {
                let alloc = self.plan.allocs.get(usize::from(k)).ok_or(refuse)?;
                let map = alloc.map().ok_or(refuse)?;
                let start = immediate_start(alloc.offset, alloc.bytes, view.offset);
                Some((map, AddressOrigin { start, outer_bytes: None }))
            }
            End::Global(k) => {
                let map = self.plan.globals.get(usize::from(k)).ok_or(refuse)?.placed();
                let counted = self.has_strides(plan.op, view.at);
                Some((map, steps_of(&map, counted)))
            }
            End::Registers(_) => None,
        })
    }
}

/// A side whose wave-uniform start stands in a special register, written before each instance; its
/// bytes, and the register's class.
type SpecialStart = (MovementEnd, u32, ClassId);

fn set(args: &mut [Slot], number: u8, arg: Slot) {
    if let Some(place) = args.get_mut(usize::from(number)) {
        *place = arg;
    }
}

/// Operands of an atom whose immediates are zero, or what is nearest to it.
fn plain_immediates(atom: &Atom<'_>) -> [Slot; crate::step::MAX_ARGS] {
    let mut args = [Slot::None; crate::step::MAX_ARGS];
    for (place, operand) in args.iter_mut().zip(atom.operands.iter()) {
        if operand.role == Role::Immediate {
            let value = 0i64.clamp(operand.range.0, operand.range.1.max(operand.range.0));
            *place = int(value).unwrap_or(Slot::Int(0));
        }
    }
    args
}

/// What the offset of an instance's second places holds: their address registers are those of its
/// first ones.
fn second_offset(
    plan: &TransferPlan,
    map: &MemoryMap,
    e: u32,
    (origin, first): (AddressOrigin, Delta),
    field: OffsetField,
) -> Result<i32, EmitError> {
    let far = delta(map, &plan.tiling, e ^ plan.tiling.second, origin, Some(field));
    if far.key() == first.key() { Ok(far.immediate) } else { Err(EmitError::Unplanned(plan.op)) }
}

pub(crate) fn data_operand<'a>(atom: &'a Atom<'a>) -> Option<&'a lanebook_tables::Operand<'a>> {
    let m = atom.movement.as_ref()?;
    let side = [&m.from, &m.to].into_iter().find(|s| s.space == Space::Register)?;
    atom.operands.get(usize::from(side.operand))
}

pub(crate) fn register_class(atom: Option<&Atom<'_>>) -> Option<ClassId> {
    data_operand(atom?).map(|o| o.class)
}

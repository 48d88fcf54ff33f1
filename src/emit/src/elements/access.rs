//! Elements of memory: an address for each thread, and one instruction for as many slots as lie
//! next to each other.
//!
//! An address is what is the same in all threads, what the thread adds to it, never below zero, and
//! a number; the number goes into the instruction's offset field as far as that reaches.

use crate::elements::forms::ThreadVar;
use crate::elements::nest::Chunk;
use crate::elements::slots::WorkSlot;
use crate::elements::{ElementReason, of_form, refused};
use crate::expr::{ExprId, Reg, RegBank};
use crate::lower::context::{EmitError, LowerContext};
use crate::lower::interface::ParamKind;
use crate::step::{MAX_ARGS, Purpose, Slot as Arg, slot};
use heapless::VecView;
use lanebook_infer::{BaseId, FormBase, IndexForm, MAX_RANK, VarRole};
use lanebook_ir::{Op, Value, attr_names};
use lanebook_loops::Told;
use lanebook_tables::{
    AccessId, Atom, AtomId, Capability, ClassId, IndexOp, Movement, OffsetField, Role, Side, Space,
};
use lanebook_tile::copy_atom::{BitPlace, CopyAtom};

/// A buffer in memory with the subscripts of an access.
#[derive(Copy, Clone)]
pub(crate) struct Place<'i> {
    pub op: Op,
    pub value: Value,
    pub indices: &'i [IndexForm],
}

/// Where an element lies.
#[derive(Copy, Clone, Debug, Default)]
pub struct ElementSpot {
    /// Bytes that are the same in all threads, without the number.
    pub outer: IndexForm,
    /// Bytes that the thread adds, without the number.
    pub own: IndexForm,
    /// Subscripts of dimensions whose strides the program does not say.
    pub open: [IndexForm; MAX_RANK],
    /// The number.
    pub bytes: i64,
}

/// A register with an address, without a number that is added.
#[derive(Copy, Clone, Debug)]
pub struct KnownAddress {
    /// The buffer.
    pub value: Value,
    /// What the thread adds, and what all do.
    pub nodes: (Option<ExprId>, Option<ExprId>),
    /// The number that the register has in it.
    pub number: i64,
    /// The address, or what the thread adds.
    pub reg: Reg,
    /// What all threads add, where that has a register.
    pub base: Option<Reg>,
}

/// What an operation knows while it is emitted.
pub(crate) struct AccessState<'a> {
    pub known: &'a mut VecView<KnownAddress>,
    pub guards: &'a mut VecView<(ExprId, Reg)>,
}

/// The instruction that moves neighbouring elements of a thread.
struct Mover<'t> {
    id: AtomId,
    atom: &'t Atom<'t>,
    movement: &'t Movement<'t>,
}

impl<'t> Mover<'t> {
    /// The class of the registers that it fills or empties.
    fn class(&self) -> Option<ClassId> {
        let (_, data, _) = self.memory();
        self.atom.operands.get(usize::from(data.operand)).map(|operand| operand.class)
    }

    fn memory(&self) -> (&'t Side<'t>, &'t Side<'t>, Option<OffsetField>) {
        let m = self.movement;
        let loads = m.to.space == Space::Register;
        let (memory, data) = if loads { (&m.from, &m.to) } else { (&m.to, &m.from) };
        let field =
            |o: &OffsetField| (o.on_from != o.on_to) && (if loads { o.on_from } else { o.on_to });
        (memory, data, m.offsets.iter().copied().find(field))
    }
}

/// Whether each lane moves so many bytes at its own address, in order, from its first register on.
fn is_plain(copy: &CopyAtom, bytes: u32) -> bool {
    let own = |bit: &lanebook_tile::copy_atom::CopyAtomBit| match copy.sides(*bit) {
        (BitPlace::Lane(a), BitPlace::Slot(b)) => a == b,
        (BitPlace::RegisterBit(a), BitPlace::Byte(b)) => Some(a) == b.checked_add(3),
        _ => false,
    };
    !copy.uniform
        && copy.share_bytes == bytes
        && copy.register_base == 0
        && copy.bits.as_slice().iter().all(own)
}

impl<'t> LowerContext<'_, 't, '_, '_> {
    /// The instruction that moves so many bytes a lane between registers and memory.
    fn mover(&self, space: Space, loads: bool, bytes: u32) -> Option<Mover<'t>> {
        let tables = self.machine.tables;
        let (from, to) = if loads { (space, Space::Register) } else { (Space::Register, space) };
        let able = self.machine.arch.dispatch(Capability::Transfer { from, to });
        able.iter().find_map(|id| {
            let atom = tables.atom(*id)?;
            let movement = atom.movement.as_ref()?;
            let copy = CopyAtom::of(*id, atom)?;
            let data = if loads { &movement.to } else { &movement.from };
            let operand = atom.operands.get(usize::from(data.operand))?;
            let whole = matches!(operand.role, Role::Def | Role::Use);
            let memory = if loads { &movement.from } else { &movement.to };
            let fits = is_plain(&copy, bytes)
                && self.is_addressed(atom, memory)
                && whole
                && !movement.crosses_lanes
                && movement.size.is_none()
                && u32::from(operand.registers) == bytes.div_ceil(4);
            fits.then_some(Mover { id: *id, atom, movement })
        })
    }

    /// Whether an instruction's address is what is computed here: 32 bits in shared memory, 64 in
    /// global memory, or a base of 64 bits that is the same in all lanes and 32 bits.
    fn is_addressed(&self, atom: &Atom<'_>, side: &Side<'_>) -> bool {
        let bits = |number: u8| {
            let operand = atom.operands.get(usize::from(number))?;
            let class = self.machine.isa.classes.get(operand.class.index())?;
            Some(u32::from(class.bits).saturating_mul(u32::from(operand.registers)))
        };
        let (lane, base) = (bits(side.operand), side.base.map(bits));
        match (side.space, base) {
            (Space::Shared, None) | (Space::Global, Some(Some(64))) => lane == Some(32),
            (Space::Global, None) => lane == Some(64),
            _ => false,
        }
    }

    /// The kind of access that elements of a buffer have.
    pub(crate) fn access_kind(
        &self,
        op: Op,
        value: Value,
        space: Space,
        writes: bool,
    ) -> Option<AccessId> {
        let bytes = self.element_bytes(op, value).ok()?;
        let mover = self.mover(space, !writes, bytes)?;
        Some(mover.memory().0.access)
    }

    /// The kind of access that so many bytes of a lane are.
    pub(crate) fn access_of(&self, space: Space, bytes: u32, writes: bool) -> Option<AccessId> {
        Some(self.mover(space, !writes, bytes)?.memory().0.access)
    }

    /// One register to or from an address in shared memory.
    #[inline(never)]
    pub(crate) fn part_move(
        &mut self,
        op: Op,
        part: Reg,
        at: ExprId,
        guard: Option<Reg>,
        loads: bool,
    ) -> Result<(), EmitError> {
        let refuse = refused(op, ElementReason::Element);
        let bytes = u32::from(part.count).saturating_mul(4);
        let mover = self.mover(Space::Shared, loads, bytes).ok_or(refuse)?;
        let (side, data, _) = mover.memory();
        let (place, value) = (usize::from(side.operand), usize::from(data.operand));
        let operand = mover.atom.operands.get(value).ok_or(refuse)?;
        self.steps.purpose = Purpose::FirstAddress;
        let address = self.compute(at, RegBank::Vector)?;
        let own = match loads {
            false => self.suited(op, part, operand)?,
            true if operand.class == part.class => part,
            true => self.steps.tuple(operand.class, part.count)?,
        };
        let mut args = [Arg::None; MAX_ARGS];
        for (k, operand) in mover.atom.operands.iter().enumerate() {
            if let Some(arg) = args.get_mut(k).filter(|_| operand.role == Role::Immediate) {
                *arg = Arg::Int(0);
            }
        }
        *args.get_mut(value).ok_or(refuse)? = slot(own);
        *args.get_mut(place).ok_or(refuse)? = slot(address);
        self.steps.purpose = Purpose::Move;
        let used = args.get(..mover.atom.operands.len()).ok_or(refuse)?;
        self.steps.guard = guard;
        let appended = self.steps.append(mover.id, used);
        self.steps.guard = None;
        appended?;
        if own == part { Ok(()) } else { self.copy_tile(op, own, part) }
    }

    /// Bytes of an element of a buffer.
    pub(crate) fn element_bytes(&self, op: Op, value: Value) -> Result<u32, EmitError> {
        let dtype = self.program.type_of(value).dtype.and_then(|d| self.machine.tables.dtype(d));
        let bits = dtype.map_or(0, |d| u32::from(d.bits));
        match bits {
            8 | 16 | 32 => Ok(bits >> 3),
            _ => Err(refused(op, ElementReason::Element)),
        }
    }

    /// A register that keeps an instruction to the threads in which a word is below zero.
    #[inline(never)]
    pub(crate) fn guard_of(
        &mut self,
        op: Op,
        word: Option<ExprId>,
    ) -> Result<Option<Reg>, EmitError> {
        let Some(word) = word else { return Ok(None) };
        let refuse = EmitError::Unplanned(op);
        let purpose = core::mem::replace(&mut self.steps.purpose, Purpose::Control);
        let word = self.compute(word, RegBank::Vector)?;
        let rules = self.machine.isa.guard.ok_or(refuse)?;
        let guard = match rules.test {
            Some(test) => {
                let guard = self.predicate(test)?.ok_or(refuse)?;
                self.frame_step(test, Some(guard), &[slot(word), Arg::Int(0)])?;
                guard
            }
            None => word,
        };
        self.steps.purpose = purpose;
        Ok(Some(guard))
    }

    fn known_guard(
        &mut self,
        op: Op,
        state: &mut AccessState<'_>,
        word: Option<ExprId>,
    ) -> Result<Option<Reg>, EmitError> {
        let Some(node) = word else { return Ok(None) };
        if let Some((_, reg)) = state.guards.iter().find(|g| g.0 == node) {
            return Ok(Some(*reg));
        }
        let reg = self.guard_of(op, word)?;
        if let Some(reg) = reg {
            // A full list only costs a second computation.
            let _ = state.guards.push((node, reg));
        }
        Ok(reg)
    }

    // ---- places
    /// Bytes from one index of a dimension to the next; `None` where only the caller knows.
    fn stride_of(&self, value: Value, dim: usize, element: u32) -> Option<i64> {
        let shape = self.program.type_of(value).shape;
        let inner = dim.checked_add(1)?..shape.rank();
        let mut bytes = i64::from(element);
        for at in inner {
            bytes = bytes.checked_mul(i64::from(shape.extent(at)?))?;
        }
        Some(bytes)
    }

    /// Where the element of a slot lies.
    #[inline(never)]
    fn spot(
        &mut self,
        told: &mut Told<'_>,
        place: &Place<'_>,
        vars: &[(BaseId, IndexForm)],
        (element, thread): (u32, ThreadVar),
    ) -> Result<ElementSpot, EmitError> {
        let full = of_form(place.op);
        let arena = &mut told.inference.arena;
        let mut all = IndexForm::constant(0);
        let mut open = [IndexForm::default(); MAX_RANK];
        for (dim, index) in place.indices.iter().enumerate() {
            let index = arena.substitute(*index, vars).map_err(&full)?;
            match self.stride_of(place.value, dim, element) {
                Some(stride) => all = arena.add_scaled(all, index, stride).map_err(&full)?,
                None => {
                    *open.get_mut(dim).ok_or(refused(place.op, ElementReason::Room))? = index;
                }
            }
        }
        let (mut outer, mut own) = (IndexForm::constant(0), IndexForm::constant(0));
        let mut at = 0usize;
        while let Some(term) = arena.terms_of(all).get(at).copied() {
            at = at.saturating_add(1);
            let is_outer = term.digit.base != thread.var
                && matches!(
                    arena.base(term.digit.base),
                    Ok(FormBase::Var { role: VarRole::Outer | VarRole::Inner, .. })
                )
                && term.stride > 0;
            let digit = arena.digit(term.digit).map_err(&full)?;
            let sum = if is_outer { &mut outer } else { &mut own };
            *sum = arena.add_scaled(*sum, digit, term.stride).map_err(&full)?;
        }
        // What the thread adds is not below zero; the number makes up for it.
        let (low, _) = arena.range(own).map_err(&full)?;
        own.constant = own.constant.saturating_sub(low);
        Ok(ElementSpot { outer, own, open, bytes: all.constant.saturating_add(low) })
    }

    /// What all addresses of a spot are multiples of.
    fn alignment(
        &self,
        told: &Told<'_>,
        place: &Place<'_>,
        spot: &ElementSpot,
        element: u32,
    ) -> u64 {
        let program = self.program;
        let attr = |key: &str| {
            program.int_value_attr(place.value, key).and_then(|n| u64::try_from(n).ok())
        };
        let arena = &told.inference.arena;
        let global = program.type_of(place.value).space == Some(Space::Global);
        let base = match global {
            true => attr(attr_names::ALIGN).unwrap_or(u64::from(element)),
            false => u64::from(self.machine.tables.weights.shared_align),
        };
        let mut all = base | spot.bytes.unsigned_abs();
        for form in [spot.outer, spot.own] {
            all |= form.constant.unsigned_abs();
            for term in arena.terms_of(form) {
                all |= term.stride.unsigned_abs();
            }
        }
        if spot.open.iter().any(|index| *index != IndexForm::default()) {
            let div = attr(attr_names::STRIDE_DIV).unwrap_or(1);
            all |= div.saturating_mul(u64::from(element));
        }
        1u64.checked_shl(all.trailing_zeros()).unwrap_or(1)
    }

    /// Whether two spots are the same but for their numbers.
    fn lie_near(told: &Told<'_>, a: &ElementSpot, b: &ElementSpot) -> bool {
        let arena = &told.inference.arena;
        arena.same(a.outer, b.outer)
            && arena.same(a.own, b.own)
            && a.open.iter().zip(&b.open).all(|(a, b)| arena.same(*a, *b))
    }

    // ---- movements
    /// Registers with the elements that the slots of a chunk load: one where all load the same.
    #[inline(never)]
    pub(crate) fn load_elements(
        &mut self,
        told: &mut Told<'_>,
        chunk: &mut Chunk<'_>,
        place: Place<'_>,
        into: Option<Reg>,
    ) -> Result<Reg, EmitError> {
        let element = self.element_bytes(place.op, place.value)?;
        let thread = chunk.doers.thread;
        let Chunk { slots, spots, state, .. } = chunk;
        self.spots(told, slots, &place, element, thread, spots)?;
        let first = spots.first().ok_or(refused(place.op, ElementReason::Room))?;
        let guards = || slots.iter().map(|slot| (slot.guard, slot.live));
        let own = slots.first().map(|slot| (slot.guard, slot.live));
        let one = spots.iter().all(|s| s.bytes == first.bytes && Self::lie_near(told, s, first))
            && guards().all(|guard| Some(guard) == own);
        let count = if one { 1 } else { spots.len() };
        let space = self.space_of(&place)?;
        let refuse = refused(place.op, ElementReason::Element);
        let mover = self.mover(space, true, element).ok_or(refuse)?;
        let data = usize::from(mover.movement.to.operand);
        let class = mover.atom.operands.get(data).ok_or(refuse)?.class;
        let wide = u8::try_from(count).map_err(|_| refuse)?;
        let out = match into.filter(|into| into.class == class && into.count == wide) {
            Some(into) => into,
            None => self.steps.tuple(class, wide)?,
        };
        let mut at = 0usize;
        while at < count {
            let left = count.saturating_sub(at);
            let many =
                self.run_of(told, &place, slots, spots.get(at..).unwrap_or(&[]), element, true);
            let many = self.even(out, at, many.min(left).max(1));
            let first = out.first.wrapping_add(u16::try_from(at).unwrap_or(0));
            let part = Reg { class, first, count: u8::try_from(many).unwrap_or(1) };
            let spot = spots.get(at).ok_or(refuse)?;
            let own = slots.get(at).ok_or(refuse)?;
            let (guard, live) = (own.guard, own.live);
            self.steps.purpose = Purpose::Fill;
            if guard.is_some() || !live {
                self.fill(part, 0)?;
            }
            if live {
                self.moved_elements(
                    told,
                    state,
                    (&place, spot, thread),
                    (part, guard),
                    (element.saturating_mul(u32::from(part.count)), true),
                )?;
            }
            at = at.saturating_add(many);
        }
        Ok(out)
    }

    /// Registers with several elements each, of so many slots of a chunk that lie next to each other;
    /// whether they do.
    #[inline(never)]
    pub(crate) fn load_words(
        &mut self,
        told: &mut Told<'_>,
        chunk: &mut Chunk<'_>,
        place: &Place<'_>,
        each: usize,
        part: Reg,
    ) -> Result<bool, EmitError> {
        let element = self.element_bytes(place.op, place.value)?;
        let word = element.saturating_mul(u32::try_from(each).unwrap_or(1));
        let space = self.space_of(place)?;
        let thread = chunk.doers.thread;
        let Chunk { slots, spots, state, .. } = chunk;
        self.spots(told, slots, place, element, thread, spots)?;
        let class = self.mover(space, true, word).and_then(|mover| mover.class());
        let apart = |group: &[ElementSpot]| {
            let Some(first) = group.first() else { return true };
            let next = |(k, spot): (i64, &ElementSpot)| {
                spot.bytes != first.bytes.saturating_add(k.saturating_mul(i64::from(element)))
                    || !Self::lie_near(told, spot, first)
            };
            (0i64..).zip(group).any(next)
                || self.alignment(told, place, first, element) < u64::from(word)
        };
        if class != Some(part.class) || spots.chunks(each.max(1)).any(apart) {
            return Ok(false);
        }
        let words = spots.len().checked_div(each).unwrap_or(0);
        for k in 1..words {
            let Some(spot) = spots.get(k.saturating_mul(each)).copied() else { break };
            if let Some(to) = spots.get_mut(k) {
                *to = spot;
            }
        }
        spots.truncate(words);
        let mut at = 0usize;
        while let Some(spot) = spots.get(at) {
            let (slots, rest) = (slots.get(..words), spots.get(at..));
            let many = self.run_of(
                told,
                place,
                slots.unwrap_or_default(),
                rest.unwrap_or_default(),
                word,
                true,
            );
            let many = self.even(part, at, many).max(1);
            let first = part.first.wrapping_add(u16::try_from(at).unwrap_or(0));
            let own = Reg { first, count: u8::try_from(many).unwrap_or(1), ..part };
            let bytes = word.saturating_mul(u32::from(own.count));
            self.moved_elements(told, state, (place, spot, thread), (own, None), (bytes, true))?;
            at = at.saturating_add(many);
        }
        Ok(true)
    }

    /// Stores what the slots of a chunk have.
    #[inline(never)]
    pub(crate) fn store_elements(
        &mut self,
        told: &mut Told<'_>,
        chunk: &mut Chunk<'_>,
        place: Place<'_>,
        from: Reg,
    ) -> Result<(), EmitError> {
        let element = self.element_bytes(place.op, place.value)?;
        let thread = chunk.doers.thread;
        let Chunk { slots, spots, state, .. } = chunk;
        self.spots(told, slots, &place, element, thread, spots)?;
        let refuse = refused(place.op, ElementReason::Element);
        let mut at = 0usize;
        while at < spots.len() {
            let own = slots.get(at).ok_or(refuse)?;
            if !own.live {
                at = at.saturating_add(1);
                continue;
            }
            let guard = own.guard;
            let many =
                self.run_of(told, &place, slots, spots.get(at..).unwrap_or(&[]), element, false);
            let many = if at.checked_add(many) <= Some(spots.len()) { many } else { 1 };
            let many = if from.count > 1 { self.even(from, at, many) } else { many };
            let spot = spots.get(at).ok_or(refuse)?;
            let part = self.neighbours(place.op, from, at, many)?;
            self.moved_elements(
                told,
                state,
                (&place, spot, thread),
                (part, guard),
                (element.saturating_mul(u32::from(part.count)), false),
            )?;
            at = at.saturating_add(many.max(1));
        }
        Ok(())
    }

    /// So many neighbours, where an instruction can take them from a member of a tuple on; one if
    /// its registers would begin in the middle of what the class aligns.
    fn even(&self, tuple: Reg, at: usize, many: usize) -> usize {
        let first = tuple.first.wrapping_add(u16::try_from(at).unwrap_or(0));
        let owners = self.steps.registers.as_slice();
        let behind = owners.partition_point(|owner| owner.first <= first);
        let owner = behind.checked_sub(1).and_then(|k| owners.get(k));
        let class = self.machine.isa.classes.get(tuple.class.index());
        let align = class.map_or(1, |class| u16::from(class.tuple_align.max(1)));
        let apart = owner.map_or(0, |owner| first.wrapping_sub(owner.first));
        if apart.checked_rem(align) == Some(0) { many } else { 1 }
    }

    /// So many neighbouring registers with what slots from `at` on have.
    fn neighbours(&mut self, op: Op, from: Reg, at: usize, many: usize) -> Result<Reg, EmitError> {
        let count = u8::try_from(many).map_err(|_| refused(op, ElementReason::Room))?;
        if from.count > 1 {
            let first = from.first.wrapping_add(u16::try_from(at).unwrap_or(0));
            return Ok(Reg { first, count, ..from });
        }
        if many <= 1 {
            return Ok(from);
        }
        let out = self.steps.tuple(from.class, count)?;
        for k in 0..u16::from(count) {
            let to = Reg { class: out.class, first: out.first.wrapping_add(k), count: 1 };
            self.copy_tile(op, from, to)?;
        }
        Ok(out)
    }

    fn spots(
        &mut self,
        told: &mut Told<'_>,
        slots: &[WorkSlot],
        place: &Place<'_>,
        element: u32,
        thread: ThreadVar,
        out: &mut VecView<ElementSpot>,
    ) -> Result<(), EmitError> {
        out.clear();
        for slot in slots {
            let spot = self.spot(told, place, &slot.vars, (element, thread))?;
            out.push(spot).map_err(|_| refused(place.op, ElementReason::Room))?;
        }
        Ok(())
    }

    fn space_of(&self, place: &Place<'_>) -> Result<Space, EmitError> {
        if self.program.bounds(place.value).is_some() {
            return Err(refused(place.op, ElementReason::Bounds));
        }
        let space = self.program.type_of(place.value).space;
        let memory = space.filter(|space| matches!(space, Space::Global | Space::Shared));
        memory.ok_or(refused(place.op, ElementReason::Element))
    }

    /// How many slots from the first spot on one instruction serves.
    fn run_of(
        &self,
        told: &Told<'_>,
        place: &Place<'_>,
        slots: &[WorkSlot],
        spots: &[ElementSpot],
        element: u32,
        loads: bool,
    ) -> usize {
        let skipped = slots.len().saturating_sub(spots.len());
        let (Some(first), Some(own)) = (spots.first(), slots.get(skipped)) else { return 1 };
        // Narrow elements have a register each.
        if element < 4 {
            return 1;
        }
        let Ok(space) = self.space_of(place) else { return 1 };
        let align = self.alignment(told, place, first, element);
        let mut bytes = i64::from(element);
        let mut run = 1usize;
        for (spot, slot) in spots.iter().zip(slots.iter().skip(skipped)).skip(1) {
            let next = first.bytes.checked_add(bytes) == Some(spot.bytes);
            let same = slot.guard == own.guard && slot.live == own.live;
            if !next || !same || !Self::lie_near(told, first, spot) {
                break;
            }
            run = run.saturating_add(1);
            bytes = bytes.saturating_add(i64::from(element));
        }
        let mut many = 1usize;
        for wide in [2usize, 4] {
            let bytes = element.saturating_mul(u32::try_from(wide).unwrap_or(1));
            let fits = wide <= run && u64::from(bytes) <= align;
            let class = |bytes| self.mover(space, loads, bytes).and_then(|mover| mover.class());
            if fits && class(bytes).is_some() && class(bytes) == class(element) {
                many = wide;
            }
        }
        many
    }

    /// One instruction.
    #[inline(never)]
    fn moved_elements(
        &mut self,
        told: &Told<'_>,
        state: &mut AccessState<'_>,
        (place, spot, thread): (&Place<'_>, &ElementSpot, ThreadVar),
        (part, guard): (Reg, Option<ExprId>),
        (bytes, loads): (u32, bool),
    ) -> Result<(), EmitError> {
        let refuse = refused(place.op, ElementReason::Element);
        let space = self.space_of(place)?;
        let tables = self.machine.tables;
        let mover = self.mover(space, loads, bytes).ok_or(refuse)?;
        let atom = tables.atom(mover.id).ok_or(refuse)?;
        let id = mover.id;
        let (side, data, field) = mover.memory();
        let (base, side_operand, data_operand) =
            (side.base, usize::from(side.operand), usize::from(data.operand));
        let (reg, uniform, number) =
            self.address_of(told, state, (place, spot, thread), field, base.is_some())?;
        let guard = self.known_guard(place.op, state, guard)?;
        let operand = atom.operands.get(data_operand).ok_or(refuse)?;
        let part = self.suited(place.op, part, operand)?;
        let mut args = [Arg::None; MAX_ARGS];
        let mut set = |number: usize, arg: Arg| {
            if let Some(place) = args.get_mut(number) {
                *place = arg;
            }
        };
        for (k, operand) in atom.operands.iter().enumerate() {
            if operand.role == Role::Immediate {
                set(k, Arg::Int(0));
            }
        }
        set(data_operand, slot(part));
        set(side_operand, slot(reg));
        if let (Some(base), Some(uniform)) = (base, uniform) {
            set(usize::from(base), slot(uniform));
        }
        if let Some(field) = field {
            set(usize::from(field.operand), Arg::Int(number));
        }
        self.steps.purpose = Purpose::Move;
        let used = args.get(..atom.operands.len()).ok_or(refuse)?;
        self.steps.guard = guard;
        let appended = self.steps.append(id, used);
        self.steps.guard = None;
        Ok(appended?)
    }

    /// The registers of an address, and what the instruction's field holds.
    #[inline(never)]
    fn address_of(
        &mut self,
        told: &Told<'_>,
        state: &mut AccessState<'_>,
        (place, spot, thread): (&Place<'_>, &ElementSpot, ThreadVar),
        field: Option<OffsetField>,
        split: bool,
    ) -> Result<(Reg, Option<Reg>, i32), EmitError> {
        self.steps.purpose = Purpose::FirstAddress;
        let global = self.space_of(place)? == Space::Global;
        let (own, outer) = if global {
            self.global_nodes(told, (place, spot, thread), split)?
        } else {
            self.shared_nodes(told, (place, spot, thread))?
        };
        let reaches = |bytes: i64| {
            let field = field?;
            let scale = i64::from(field.scale.max(1));
            let units = bytes.checked_div(scale)?;
            let fits = bytes.checked_rem(scale) == Some(0)
                && i64::from(field.min) <= units
                && units <= i64::from(field.max);
            i32::try_from(units).ok().filter(|_| fits)
        };
        for known in state.known.iter() {
            let same = known.value == place.value && known.nodes == (own, outer);
            if same && let Some(units) = reaches(spot.bytes.saturating_sub(known.number)) {
                return Ok((known.reg, known.base, units));
            }
            if same && spot.bytes == known.number && field.is_none() {
                return Ok((known.reg, known.base, 0));
            }
        }
        let (number, units) = match reaches(spot.bytes) {
            Some(units) => (0, units),
            None => (spot.bytes, 0),
        };
        let (reg, base) = self.address_regs((own, outer), number, (global, split))?;
        let known = KnownAddress { value: place.value, nodes: (own, outer), number, reg, base };
        // A full list only costs further registers.
        let _ = state.known.push(known);
        Ok((reg, base, units))
    }

    /// Registers of an address from what the thread adds, what all do, and a number.
    fn address_regs(
        &mut self,
        (own, outer): (Option<ExprId>, Option<ExprId>),
        number: i64,
        (global, split): (bool, bool),
    ) -> Result<(Reg, Option<Reg>), EmitError> {
        let zero = self.arena.constant(0)?;
        if !global {
            let node = self.sum(IndexOp::Add, outer, own)?;
            let node = node.unwrap_or(zero);
            let node = match number as u32 {
                0 => node,
                by => self.arena.op_const(IndexOp::Add, node, u64::from(by))?,
            };
            return Ok((self.compute(node, RegBank::Vector)?, None));
        }
        let bytes = match number {
            0 => None,
            number => Some(self.arena.constant_of(number.cast_unsigned(), 64)?),
        };
        let base = self.sum(IndexOp::Add64, outer, bytes)?.unwrap_or(zero);
        if split {
            let uniform = self.compute(base, RegBank::Scalar)?;
            let lane = self.compute(own.unwrap_or(zero), RegBank::Vector)?;
            return Ok((lane, Some(uniform)));
        }
        let node = match own {
            Some(own) => {
                let wide = self.arena.op(IndexOp::Extend64, &[own])?;
                self.arena.op(IndexOp::Add64, &[base, wide])?
            }
            None => base,
        };
        Ok((self.compute(node, RegBank::Vector)?, None))
    }

    /// What the thread adds to an address in shared memory, and what all do.
    fn shared_nodes(
        &mut self,
        told: &Told<'_>,
        (place, spot, thread): (&Place<'_>, &ElementSpot, ThreadVar),
    ) -> Result<(Option<ExprId>, Option<ExprId>), EmitError> {
        let op = place.op;
        let offset = self.shared_offset(op, place.value)?;
        let own = self.form_node(op, told, spot.own, thread)?;
        let outer = self.form_node(op, told, spot.outer, thread)?;
        let outer = self.sum(IndexOp::Add, self.shared_base, Some(outer))?;
        let outer = match (outer, offset) {
            (Some(outer), 0) => outer,
            (Some(outer), by) => self.arena.op_const(IndexOp::Add, outer, u64::from(by))?,
            (None, by) => self.arena.constant(by)?,
        };
        Ok((Some(own), Some(outer)))
    }

    /// Where a shared tile begins.
    fn shared_offset(&self, op: Op, value: Value) -> Result<u32, EmitError> {
        let tile = self.plan.alloc_of(self.storage_of(value));
        tile.map(|(_, alloc)| alloc.offset).ok_or(EmitError::Unplanned(op))
    }

    /// What the thread adds to an address in global memory (32 bits), and what all do (64 bits).
    #[inline(never)]
    fn global_nodes(
        &mut self,
        told: &Told<'_>,
        (place, spot, thread): (&Place<'_>, &ElementSpot, ThreadVar),
        split: bool,
    ) -> Result<(Option<ExprId>, Option<ExprId>), EmitError> {
        let op = place.op;
        let mut outer = Some(self.parameter(op, place.value, ParamKind::Pointer)?);
        let mut at = 0usize;
        while let Some(term) = told.inference.arena.terms_of(spot.outer).get(at).copied() {
            at = at.saturating_add(1);
            let digit = self.outer_digit(op, told, term.digit)?;
            let size = u32::try_from(term.stride).map_err(|_| refused(op, ElementReason::Sign))?;
            let size = self.arena.constant(size)?;
            let wide = self.arena.op(IndexOp::MulWide64, &[digit, size])?;
            outer = self.sum(IndexOp::Add64, outer, Some(wide))?;
        }
        let mut own = match spot.own.is_constant() && spot.own.constant == 0 {
            true => None,
            false => Some(self.form_node(op, told, spot.own, thread)?),
        };
        let element = u64::from(self.element_bytes(op, place.value)?);
        for (dim, index) in spot.open.iter().enumerate() {
            if *index == IndexForm::default() {
                continue;
            }
            let dim = u8::try_from(dim).map_err(|_| refused(op, ElementReason::Room))?;
            let stride = self.parameter(op, place.value, ParamKind::Stride(dim))?;
            let stride = self.arena.op_const(IndexOp::Mul, stride, element)?;
            let node = self.form_node(op, told, *index, thread)?;
            let varies = self.arena.facts(node).is_none_or(|facts| facts.varying != 0);
            if !split || !varies {
                let wide = self.arena.op(IndexOp::MulWide64, &[node, stride])?;
                outer = self.sum(IndexOp::Add64, outer, Some(wide))?;
                continue;
            }
            self.open_rows(told, (place, *index, thread), stride, (&mut own, &mut outer))?;
        }
        Ok((own, outer))
    }

    /// Rows of a stride that the program does not say: those that the thread adds are few, the
    /// others are the same in all threads.
    fn open_rows(
        &mut self,
        told: &Told<'_>,
        (place, index, thread): (&Place<'_>, IndexForm, ThreadVar),
        stride: ExprId,
        (own, outer): (&mut Option<ExprId>, &mut Option<ExprId>),
    ) -> Result<(), EmitError> {
        let op = place.op;
        let zero = self.arena.constant(0)?;
        let still = ThreadVar { node: zero, ..thread };
        let whole = self.form_node(op, told, index, thread)?;
        let first = self.form_node(op, told, index, still)?;
        let rows = self.arena.op(IndexOp::Sub, &[whole, first])?;
        let (low, _) = told.inference.arena.range(index).map_err(of_form(op))?;
        let arena = &told.inference.arena;
        let rises = arena
            .terms_of(index)
            .iter()
            .all(|t| t.stride > 0 && matches!(arena.base(t.digit.base), Ok(FormBase::Var { .. })));
        if low < 0 || !rises {
            return Err(refused(op, ElementReason::Sign));
        }
        let lanes = self.arena.op(IndexOp::Mul, &[rows, stride])?;
        *own = self.sum(IndexOp::Add, *own, Some(lanes))?;
        let wide = self.arena.op(IndexOp::MulWide64, &[first, stride])?;
        *outer = self.sum(IndexOp::Add64, *outer, Some(wide))?;
        Ok(())
    }
}

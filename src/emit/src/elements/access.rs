//! Elements of memory: one instruction for as many slots as lie next to each other. The number of an
//! address goes into the instruction's offset field as far as that reaches.

use crate::elements::address::{AccessState, ElementSpot, Place};
use crate::elements::element_copy_atom::ElementCopyAtom;
use crate::elements::forms::ThreadVar;
use crate::elements::nest::Chunk;
use crate::elements::product::{BYTES, HALVES};
use crate::elements::slots::{LANES, WorkSlot};
use crate::elements::{ElementReason, refused};
use crate::expr::{ExprId, Reg};
use crate::lower::context::{EmitError, LowerContext};
use crate::step::{InstKind, MAX_ARGS, Slot as Arg, slot};
use lanebook_ir::Op;
use lanebook_loops::Told;
use lanebook_tables::{ClassId, Role};

/// Bytes of a register.
pub(crate) const REGISTER_BYTES: u32 = 4;

/// How many registers so many bytes fill.
fn registers_of(bytes: u32) -> u16 {
    u16::try_from(bytes.div_ceil(REGISTER_BYTES)).unwrap_or(u16::MAX)
}

/// Which slot each access of so many bytes begins at, and its registers, of tuples of `wide` bytes each.
fn runs(
    held: &[Reg],
    (bytes, element): (u32, u32),
    wide: u32,
) -> Option<impl Iterator<Item = (usize, Reg)> + '_> {
    let many = usize::try_from(bytes.checked_div(element)?).ok().filter(|many| *many > 0)?;
    let each = u16::try_from(wide.checked_div(bytes)?).ok().filter(|each| *each > 0)?;
    let count = registers_of(bytes);
    let parts = held.iter().flat_map(move |tuple| {
        (0..each).map(move |k| Reg { count, ..tuple.member(k.saturating_mul(count)) })
    });
    Some(parts.enumerate().map(move |(k, reg)| (k.saturating_mul(many), reg)))
}

impl<'t> LowerContext<'_, 't, '_, '_> {
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
        let thread = chunk.executing.thread;
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
        let words = usize::try_from(element.div_ceil(4)).map_err(|_| refuse)?;
        let wide = count.checked_mul(words).and_then(|n| u16::try_from(n).ok()).ok_or(refuse)?;
        let out = match into.filter(|into| into.class == class && into.count == wide) {
            Some(into) => into,
            None => self.steps.tuple(class, wide)?,
        };
        let mut at = 0usize;
        while at < count {
            let left = count.saturating_sub(at);
            let rest = spots.get(at..).unwrap_or(&[]);
            let packed = self.packed_run(told, &place, slots, rest, element, true);
            if let Some((class, bytes)) = packed.filter(|_| !one) {
                let spot = spots.get(at).ok_or(refuse)?;
                let own = slots.get(at).ok_or(refuse)?;
                let (guard, live) = (own.guard, own.live);
                let held = self.steps.tuple(class, registers_of(bytes))?;
                if guard.is_some() || !live {
                    self.fill(held, 0)?;
                }
                if live {
                    let at = (&place, spot, thread);
                    self.moved_elements(told, state, at, (held, guard), (bytes, true))?;
                }
                let first = out.first.wrapping_add(u16::try_from(at).unwrap_or(0));
                let elements = bytes.checked_div(element).unwrap_or(1);
                let count = u16::try_from(elements).map_err(|_| refuse)?;
                self.unpacked(place.op, held, element, Reg { class: out.class, first, count })?;
                at = at.saturating_add(usize::from(count));
                continue;
            }
            let many =
                self.run_of(told, &place, slots, spots.get(at..).unwrap_or(&[]), element, true);
            let start = at.saturating_mul(words);
            let many = self.even(out, start, many.min(left).max(1));
            let first = out.first.wrapping_add(u16::try_from(start).unwrap_or(0));
            let count = u16::try_from(many.saturating_mul(words)).unwrap_or(1);
            let part = Reg { class, first, count };
            let bytes = element.saturating_mul(u32::try_from(many).unwrap_or(1));
            let spot = spots.get(at).ok_or(refuse)?;
            let own = slots.get(at).ok_or(refuse)?;
            let (guard, live) = (own.guard, own.live);
            self.steps.purpose = InstKind::Fill;
            if guard.is_some() || !live {
                self.fill(part, 0)?;
            }
            if live {
                self.moved_elements(
                    told,
                    state,
                    (&place, spot, thread),
                    (part, guard),
                    (bytes, true),
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
        let thread = chunk.executing.thread;
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
            let own = Reg { first, count: u16::try_from(many).unwrap_or(1), ..part };
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
        let thread = chunk.executing.thread;
        let Chunk { slots, spots, state, .. } = chunk;
        self.spots(told, slots, &place, element, thread, spots)?;
        let refuse = refused(place.op, ElementReason::Element);
        let words = u16::try_from(element.div_ceil(4)).map_err(|_| refuse)?;
        let mut at = 0usize;
        while at < spots.len() {
            let own = slots.get(at).ok_or(refuse)?;
            if !own.live {
                at = at.saturating_add(1);
                continue;
            }
            let guard = own.guard;
            let rest = spots.get(at..).unwrap_or(&[]);
            if let Some((class, bytes)) = self.packed_run(told, &place, slots, rest, element, false)
            {
                let elements = bytes.checked_div(element).unwrap_or(1);
                let count = u16::try_from(elements).map_err(|_| refuse)?;
                let held = self.steps.tuple(class, registers_of(bytes))?;
                let first = match from.count {
                    1 => from.first,
                    _ => from.first.wrapping_add(u16::try_from(at).unwrap_or(0)),
                };
                let step = u16::from(from.count > 1);
                let own = (Reg { first, count: 1, ..from }, step);
                self.packed_of(place.op, own, (element, elements), held)?;
                let spot = spots.get(at).ok_or(refuse)?;
                let own = (&place, spot, thread);
                self.moved_elements(told, state, own, (held, guard), (bytes, false))?;
                at = at.saturating_add(usize::from(count));
                continue;
            }
            let many =
                self.run_of(told, &place, slots, spots.get(at..).unwrap_or(&[]), element, false);
            let many = if at.checked_add(many) <= Some(spots.len()) { many } else { 1 };
            let start = at.saturating_mul(usize::from(words));
            let many = if from.count > words { self.even(from, start, many) } else { many };
            let spot = spots.get(at).ok_or(refuse)?;
            let part = self.neighbours(place.op, (from, words), at, many)?;
            let bytes = element.saturating_mul(u32::try_from(many).unwrap_or(1));
            self.moved_elements(
                told,
                state,
                (&place, spot, thread),
                (part, guard),
                (bytes, false),
            )?;
            at = at.saturating_add(many.max(1));
        }
        Ok(())
    }

    /// So many neighbours, where an instruction can take them from a member of a tuple on; one if
    /// its registers would begin in the middle of what the class aligns.
    pub(crate) fn even(&self, tuple: Reg, at: usize, many: usize) -> usize {
        let first = tuple.first.wrapping_add(u16::try_from(at).unwrap_or(0));
        let owners = self.steps.registers.as_slice();
        let behind = owners.partition_point(|owner| owner.first <= first);
        let owner = behind.checked_sub(1).and_then(|k| owners.get(k));
        let class = self.machine.isa.classes.get(tuple.class.index());
        let align = class.map_or(1, |class| u16::from(class.tuple_align.max(1)));
        let apart = owner.map_or(0, |owner| first.wrapping_sub(owner.first));
        if apart.checked_rem(align) == Some(0) { many } else { 1 }
    }

    /// Neighbouring registers with what so many slots from `at` on have, of so many registers each.
    fn neighbours(
        &mut self,
        op: Op,
        (from, words): (Reg, u16),
        at: usize,
        many: usize,
    ) -> Result<Reg, EmitError> {
        let count = u16::try_from(many).ok().and_then(|many| many.checked_mul(words));
        let count = count.ok_or(refused(op, ElementReason::Room))?;
        if from.count > words {
            let at = at.saturating_mul(usize::from(words));
            let first = from.first.wrapping_add(u16::try_from(at).unwrap_or(0));
            return Ok(Reg { first, count, ..from });
        }
        if many <= 1 {
            return Ok(from);
        }
        let out = self.steps.tuple(from.class, count)?;
        for k in (0..count).step_by(usize::from(words.max(1))) {
            let to = Reg { count: words, ..out.member(k) };
            self.copy_tile(op, from, to)?;
        }
        Ok(out)
    }

    /// The registers' class and the bytes of the widest instruction that moves narrow elements from
    /// the first spot on, several to a register; `None` where there is no such one.
    fn packed_run(
        &self,
        told: &Told<'_>,
        place: &Place<'_>,
        slots: &[WorkSlot],
        spots: &[ElementSpot],
        element: u32,
        loads: bool,
    ) -> Option<(ClassId, u32)> {
        if element >= REGISTER_BYTES {
            return None;
        }
        let (first, skipped) = (spots.first()?, slots.len().checked_sub(spots.len())?);
        let own = slots.get(skipped)?;
        let space = self.space_of(place).ok()?;
        let align = self.alignment(told, place, first, element);
        let mut reach = 0u32;
        for (spot, slot) in spots.iter().zip(slots.iter().skip(skipped)) {
            let next = first.bytes.checked_add(i64::from(reach)) == Some(spot.bytes);
            let same = slot.guard == own.guard && slot.live == own.live;
            if !next || !same || !Self::lie_near(told, first, spot) {
                break;
            }
            reach = reach.saturating_add(element);
        }
        let class = |bytes| self.mover(space, loads, bytes).and_then(|mover| mover.class());
        [16u32, 8, 4, 2].into_iter().filter(|bytes| *bytes > element).find_map(|bytes| {
            let fits = bytes <= reach && u64::from(bytes) <= align;
            class(bytes).filter(|_| fits).map(|class| (class, bytes))
        })
    }

    /// The class of registers and the bytes of the instruction that moves as many elements of a chunk
    /// as lie next to each other, if they are as many from the first slot to the last, several to a
    /// register, and some thread executes each slot.
    #[inline(never)]
    pub(crate) fn even_runs(
        &mut self,
        told: &mut Told<'_>,
        chunk: &mut Chunk<'_>,
        place: &Place<'_>,
        loads: bool,
    ) -> Result<Option<(ClassId, u32)>, EmitError> {
        let element = self.element_bytes(place.op, place.value)?;
        let thread = chunk.executing.thread;
        let Chunk { slots, spots, .. } = chunk;
        self.spots(told, slots, place, element, thread, spots)?;
        let (mut at, mut all) = (0usize, None);
        while at < spots.len() {
            let rest = spots.get(at..).unwrap_or(&[]);
            let run = self.packed_run(told, place, slots, rest, element, loads);
            let Some((class, bytes)) = run.filter(|run| all.is_none_or(|all| all == *run)) else {
                return Ok(None);
            };
            all = Some((class, bytes));
            let many = bytes.checked_div(element).and_then(|many| usize::try_from(many).ok());
            at = at.saturating_add(many.unwrap_or(1).max(1));
        }
        Ok(all.filter(|_| slots.iter().all(|slot| slot.live)))
    }

    /// Loads the runs of a chunk that [`Self::even_runs`] found, into a tuple for each `wide` bytes.
    #[inline(never)]
    pub(crate) fn load_runs(
        &mut self,
        told: &mut Told<'_>,
        chunk: &mut Chunk<'_>,
        place: &Place<'_>,
        ((class, bytes), wide): ((ClassId, u32), u32),
    ) -> Result<heapless::Vec<Reg, LANES>, EmitError> {
        let refuse = refused(place.op, ElementReason::Element);
        let element = self.element_bytes(place.op, place.value)?;
        let thread = chunk.executing.thread;
        let Chunk { slots, spots, state, .. } = chunk;
        let count = u32::try_from(spots.len()).unwrap_or(u32::MAX).saturating_mul(element);
        let mut out: heapless::Vec<Reg, LANES> = heapless::Vec::new();
        for _ in 0..count.checked_div(wide).unwrap_or(0) {
            let held = self.steps.tuple(class, registers_of(wide))?;
            out.push(held).map_err(|_| refused(place.op, ElementReason::Room))?;
        }
        for (at, held) in runs(&out, (bytes, element), wide).ok_or(refuse)? {
            let (spot, slot) = (spots.get(at).ok_or(refuse)?, slots.get(at).ok_or(refuse)?);
            if slot.guard.is_some() {
                self.steps.purpose = InstKind::Fill;
                self.fill(held, 0)?;
            }
            let own = (place, spot, thread);
            self.moved_elements(told, state, own, (held, slot.guard), (bytes, true))?;
        }
        Ok(out)
    }

    /// Stores the runs of a chunk that [`Self::even_runs`] found, of which each tuple has `wide` bytes.
    #[inline(never)]
    pub(crate) fn store_runs(
        &mut self,
        told: &mut Told<'_>,
        chunk: &mut Chunk<'_>,
        place: &Place<'_>,
        ((_, bytes), wide, held): ((ClassId, u32), u32, &[Reg]),
    ) -> Result<(), EmitError> {
        let refuse = refused(place.op, ElementReason::Element);
        let element = self.element_bytes(place.op, place.value)?;
        let thread = chunk.executing.thread;
        let Chunk { slots, spots, state, .. } = chunk;
        self.spots(told, slots, place, element, thread, spots)?;
        for (at, held) in runs(held, (bytes, element), wide).ok_or(refuse)? {
            let (spot, slot) = (spots.get(at).ok_or(refuse)?, slots.get(at).ok_or(refuse)?);
            let own = (place, spot, thread);
            self.moved_elements(told, state, own, (held, slot.guard), (bytes, false))?;
        }
        Ok(())
    }

    /// Elements out of registers that hold several each, a register for each, with zeros above.
    #[inline(never)]
    fn unpacked(&mut self, op: Op, held: Reg, element: u32, out: Reg) -> Result<(), EmitError> {
        let refuse = refused(op, ElementReason::Element);
        let bytes = u8::try_from(element).map_err(|_| refuse)?;
        let each = REGISTER_BYTES.checked_div(element).and_then(|n| u16::try_from(n).ok());
        let each = each.filter(|each| *each > 0).ok_or(refuse)?;
        let zero = self.steps.tuple(held.class, 1)?;
        self.fill(zero, 0)?;
        for k in 0..out.count {
            let (word, part) = (k.checked_div(each), k.checked_rem(each));
            let part = part.and_then(|part| u8::try_from(part).ok()).ok_or(refuse)?;
            let mut chosen = [0u8; 4];
            for (at, byte) in (0u8..).zip(&mut chosen) {
                let own = part.saturating_mul(bytes).saturating_add(at);
                *byte = if at < bytes { own } else { at.saturating_add(4) };
            }
            let from = held.member(word.unwrap_or(0));
            self.choose_parts(op, out.member(k), [from, zero], chosen)?;
        }
        Ok(())
    }

    /// Registers with several elements each out of registers that begin with one each, so many apart.
    #[inline(never)]
    fn packed_of(
        &mut self,
        op: Op,
        (first, step): (Reg, u16),
        (element, count): (u32, u32),
        out: Reg,
    ) -> Result<(), EmitError> {
        let refuse = refused(op, ElementReason::Element);
        let own = |k: u16| Reg { first: first.first.wrapping_add(k.saturating_mul(step)), ..first };
        let bytes =
            if element == 1 && count > 2 { Some(self.steps.tuple(out.class, 2)?) } else { None };
        for word in 0..out.count {
            let to = out.member(word);
            match element {
                1 if count == 2 => self.choose_parts(op, to, [own(0), own(1)], BYTES)?,
                2 => {
                    let k = word.saturating_mul(2);
                    self.choose_parts(op, to, [own(k), own(k.saturating_add(1))], HALVES)?;
                }
                1 => {
                    let k = word.saturating_mul(4);
                    let pairs = bytes.map(|pair| [pair.member(0), pair.member(1)]);
                    let pairs = pairs.ok_or(refuse)?;
                    for (pair, at) in pairs.into_iter().zip([k, k.saturating_add(2)]) {
                        let both = [own(at), own(at.saturating_add(1))];
                        self.choose_parts(op, pair, both, BYTES)?;
                    }
                    self.choose_parts(op, to, pairs, HALVES)?;
                }
                _ => return Err(refuse),
            }
        }
        Ok(())
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
        // Narrow elements have a register each: `packed_run` moves several.
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

    /// Where the rows of tiles that a chunk's slots stand for begin; whether all addresses are
    /// multiples of `align`.
    #[inline(never)]
    pub(crate) fn tile_spots(
        &mut self,
        told: &mut Told<'_>,
        chunk: &mut Chunk<'_>,
        place: &Place<'_>,
        align: u16,
    ) -> Result<bool, EmitError> {
        let element = self.element_bytes(place.op, place.value)?;
        let thread = chunk.executing.thread;
        let Chunk { slots, spots, .. } = chunk;
        self.spots(told, slots, place, element, thread, spots)?;
        let fits =
            |spot: &ElementSpot| self.alignment(told, place, spot, element) >= u64::from(align);
        Ok(spots.iter().all(fits))
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
        let mover = self.mover(self.space_of(place)?, loads, bytes).ok_or(refuse)?;
        self.moved_with(told, state, (place, spot, thread), (part, guard), &mover)
    }

    /// The same by an instruction that is known.
    #[inline(never)]
    pub(crate) fn moved_with(
        &mut self,
        told: &Told<'_>,
        state: &mut AccessState<'_>,
        (place, spot, thread): (&Place<'_>, &ElementSpot, ThreadVar),
        (part, guard): (Reg, Option<ExprId>),
        mover: &ElementCopyAtom<'t>,
    ) -> Result<(), EmitError> {
        let refuse = refused(place.op, ElementReason::Element);
        let (id, atom) = (mover.id, mover.atom);
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
        self.steps.purpose = InstKind::Move;
        let used = args.get(..atom.operands.len()).ok_or(refuse)?;
        self.steps.guard = guard;
        let appended = self.steps.append(id, used);
        self.steps.guard = None;
        Ok(appended?)
    }
}

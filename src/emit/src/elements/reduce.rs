//! Reductions of fragments in place: first what a thread holds, then what the lanes of a row hold,
//! then, through shared memory, what is left.
//!
//! Where the elements of a row lie is read from the operand's layout: the digits of the reduced
//! dimension in the number of the thread. A bit that lanes can exchange is combined by exchanges;
//! of all others each thread of a row leaves its part at the place that they make, and each reads
//! all of them.

use crate::elements::forms::ThreadVar;
use crate::elements::nest::ElementLists;
use crate::elements::slots::Doers;
use crate::elements::storage::Packing;
use crate::elements::{ElementReason, of_form, refused};
use crate::expr::{ExprId, Reg, RegBank};
use crate::lanes::reduce::CombineAtom;
use crate::lower::context::{EmitError, LowerContext};
use crate::step::Purpose;
use crate::sync::order::{MemAccess, PendingAccesses};
use lanebook_infer::{BaseDigit, BufferId, FormBase, FragmentForm, IndexForm, MAX_RANK};
use lanebook_infer::{MemoryScope, OperatorId};
use lanebook_ir::{AttrValue, Op, attr_names};
use lanebook_layout::PostMap;
use lanebook_loops::Told;
use lanebook_plan::select::{lane_exchange, select_elementwise};
use lanebook_plan::{AllocPlan, Plan, PlanError, PlanPool};
use lanebook_tables::{Arch, DtypeKind, IndexOp, OpRole, OpWord, Space, Tables};
use lanebook_tile::map::{SharedLayout, TileShape};

/// Most digits of a dimension in the number of a thread.
const DIGITS: usize = 16;
/// Most results that a thread has; the last number says that there is none.
const MOST: usize = 255;
/// Most sums among which a thread chooses by its number.
const CHOSEN: u16 = 64;
/// No slot.
const NONE: u8 = u8::MAX;
/// Bytes of a part that is left in shared memory.
const PART_BYTES: u32 = 4;

/// A digit of the reduced dimension in the number of a thread.
#[derive(Copy, Clone)]
struct RowDigit {
    digit: BaseDigit,
    /// The lanes that differ in it alone, where they can exchange registers; 0 = through memory.
    lanes: u8,
}

/// The digits of a dimension in the number of a thread.
#[derive(Default)]
struct RowDigits(heapless::Vec<RowDigit, DIGITS>);

impl RowDigits {
    /// Those of a fragment; `None` if its threads are no sum of digits of its coordinates.
    #[inline(never)]
    fn of(
        (tables, arch): (&Tables<'_>, &Arch<'_>),
        told: &Told<'_>,
        whole: &FragmentForm,
        dim: usize,
    ) -> Option<Self> {
        let arena = &told.inference.arena;
        let var = whole.vars.iter().nth(dim)?;
        let terms = arena.terms_of(whole.thread);
        let is_var = |base| matches!(arena.base(base), Ok(FormBase::Var { .. }));
        if !terms.iter().all(|term| is_var(term.digit.base) && term.stride > 0) {
            return None;
        }
        let wave = arch.wave_lanes.first().map_or(0, |lanes| i64::from(*lanes));
        let mut out = Self::default();
        for term in terms.iter().filter(|term| term.digit.base == var) {
            let BaseDigit { unit, extent, .. } = term.digit;
            let end = term.stride.checked_mul(i64::from(extent))?;
            // All others are multiples of more, or end before it.
            let mut below = whole.thread.constant;
            for other in terms.iter().filter(|other| other.stride < term.stride) {
                let last = i64::from(other.digit.extent.saturating_sub(1));
                below = below.saturating_add(other.stride.saturating_mul(last));
            }
            let above = terms.iter().filter(|other| other.stride >= term.stride);
            let mut above = above.filter(|other| *other != term);
            let apart = below < term.stride
                && whole.thread.constant == 0
                && above.all(|other| other.stride.checked_rem(end) == Some(0));
            let bits =
                extent.is_power_of_two() && u64::try_from(term.stride).ok()?.is_power_of_two();
            if !bits || !apart {
                out.0.push(RowDigit { digit: term.digit, lanes: 0 }).ok()?;
                continue;
            }
            for bit in 0..extent.trailing_zeros() {
                let far = term.stride.checked_shl(bit)?;
                let mask = u8::try_from(far).ok().filter(|_| far < wave);
                let lanes = mask.filter(|mask| lane_exchange(tables, arch, *mask).is_some());
                let digit = BaseDigit { base: var, unit: unit.checked_shl(bit)?, extent: 2 };
                out.0.push(RowDigit { digit, lanes: lanes.unwrap_or(0) }).ok()?;
            }
        }
        Some(out)
    }

    /// Those that go through memory.
    fn left(&self) -> impl Iterator<Item = &RowDigit> {
        self.0.iter().filter(|digit| digit.lanes == 0)
    }

    /// How many parts of a row meet in memory.
    fn parts(&self) -> Option<u32> {
        self.left().try_fold(1u32, |n, left| n.checked_mul(left.digit.extent))
    }
}

/// A reduction in place.
struct Reduction {
    from: BufferId,
    to: BufferId,
    whole: FragmentForm,
    /// Where the result lies while it is summed up.
    kept: FragmentForm,
    /// Where it lies then, if fewer threads hold it than have parts of its rows.
    taken: Option<FragmentForm>,
    dim: usize,
}

impl Reduction {
    fn of(told: &Told<'_>, id: OperatorId) -> Option<Self> {
        let inference = &told.inference;
        let own = inference.operator_of(id).ok()?;
        let lanebook_infer::Kind::Reduce { dim } = own.kind else { return None };
        let [from, to] = inference.accesses_of(own) else { return None };
        let (from, to) = (from.buffer, to.buffer);
        let fragment = |id| inference.buffer_of(id).is_ok_and(|b| b.scope == MemoryScope::Fragment);
        if !fragment(from) || !fragment(to) {
            return None;
        }
        let (whole, kept) = (inference.layout(from)?, inference.layout(to)?);
        Some(Self { from, to, whole, kept, taken: None, dim: usize::from(dim) })
    }

    /// Elements of the result.
    fn count(&self, told: &Told<'_>) -> Option<u32> {
        let extents = self.kept.vars.iter();
        extents
            .map(|var| told.inference.arena.extent(var).ok())
            .try_fold(1u32, |n, e| n.checked_mul(e?))
    }

    /// The coordinates of the result, over those of the operand.
    fn coordinates(
        &self,
        told: &mut Told<'_>,
        out: &mut heapless::Vec<IndexForm, MAX_RANK>,
    ) -> Option<()> {
        let same = self.kept.vars.len() == self.whole.vars.len();
        for (k, var) in self.whole.vars.iter().enumerate() {
            if k != self.dim {
                out.push(told.inference.arena.whole(var).ok()?).ok()?;
            } else if same {
                out.push(IndexForm::constant(0)).ok()?;
            }
        }
        (out.len() == self.kept.vars.len()).then_some(())
    }
}

/// Shared memory for what reductions of a function leave there, behind its tiles.
///
/// # Errors
/// [`PlanError::SharedMemory`], [`PlanError::Capacity`].
#[doc(hidden)]
pub fn reserve_reductions(
    tables: &Tables<'_>,
    told: &Told<'_>,
    plan: &mut Plan<'_>,
) -> Result<(), PlanError> {
    let arch = tables.arch(plan.arch).ok_or(PlanError::UnknownArch)?;
    for (id, op) in told.operators() {
        let Some(own) = Reduction::of(told, id) else { continue };
        let Some(digits) = RowDigits::of((tables, arch), told, &own.whole, own.dim) else {
            continue;
        };
        let (Some(parts), Some(count)) = (digits.parts(), own.count(told)) else { continue };
        let Some(value) = told.value(own.to).filter(|_| parts > 1) else { continue };
        let have = arch.shared.max_bytes;
        let full = |need| PlanError::SharedMemory { op, need, have };
        let words = parts.checked_mul(count).and_then(u32::checked_next_power_of_two);
        let words = words.ok_or(full(u32::MAX))?;
        let bytes = words.checked_mul(PART_BYTES).ok_or(full(u32::MAX))?;
        let align = tables.weights.shared_align.max(1);
        let offset = plan.shared_bytes.checked_next_multiple_of(align).ok_or(full(u32::MAX))?;
        let end = offset.checked_add(bytes).ok_or(full(u32::MAX))?;
        let known = plan.allocs.iter_mut().find(|alloc| alloc.value == value);
        if known.as_ref().is_some_and(|alloc| alloc.bytes >= bytes) {
            continue;
        }
        if end > have {
            return Err(full(end));
        }
        let bits = u16::try_from(PART_BYTES.saturating_mul(8)).unwrap_or(32);
        let shape = TileShape::new(1, u64::from(words), bits).ok_or(PlanError::Extents(op))?;
        let layout = SharedLayout { row_major: true, strip: None, turn: None, post: PostMap::None };
        let alloc =
            AllocPlan { value, shape, layout, fixed: true, bytes, stages: 1, align, offset };
        match known {
            Some(known) => *known = alloc,
            None => {
                let capacity = u32::try_from(plan.allocs.capacity()).unwrap_or(u32::MAX);
                let error = PlanError::Capacity { pool: PlanPool::Allocs, capacity, op: Some(op) };
                plan.allocs.push(alloc).map_err(|_| error)?;
            }
        }
        (plan.shared_bytes, plan.shared_align) = (end, plan.shared_align.max(align));
    }
    Ok(())
}

impl<'t> LowerContext<'_, 't, '_, '_> {
    /// A reduction of a fragment into another one.
    #[inline(never)]
    pub(crate) fn reduce_in_place(
        &mut self,
        op: Op,
        told: &mut Told<'_>,
        id: OperatorId,
        mut room: ElementLists<'_>,
        open: &mut PendingAccesses,
    ) -> Result<(), EmitError> {
        let refuse = refused(op, ElementReason::Reduction);
        let mut own = Reduction::of(told, id).ok_or(refuse)?;
        for buffer in [own.from, own.to] {
            let packing = self.packing(op, told, buffer)?;
            if packing != Packing::SINGLE {
                let wide = packing.words > 1;
                let why = if wide { ElementReason::Element } else { ElementReason::View };
                return Err(refused(op, why));
            }
        }
        let digits =
            RowDigits::of((self.machine.tables, self.machine.arch), told, &own.whole, own.dim);
        let digits = digits.ok_or(refuse)?;
        self.lay_rows(op, told, &mut own)?;
        let combine = self.combining(op)?;
        let rows = usize::try_from(own.kept.slots).unwrap_or(usize::MAX);
        if rows >= MOST || own.whole.slots >= u32::from(NONE) {
            return Err(refused(op, ElementReason::Fragment));
        }
        let doers = self.holders(op, told, id, own.whole)?;
        // Lanes exchange by their numbers among all threads: a bit of a row must be the same bit there.
        let moved = |digit: &RowDigit| {
            let pair = u32::from(digit.lanes).saturating_mul(2);
            pair > 0 && doers.threads.0.checked_rem(pair) != Some(0)
        };
        if digits.0.iter().any(moved) {
            return Err(refuse);
        }
        let mut firsts = [NONE; MOST];
        let firsts = firsts.get_mut(..rows).ok_or(refuse)?;
        let count = u8::try_from(rows).map_err(|_| refuse)?;
        let out = self.steps.tuple(combine.class().ok_or(refuse)?, count)?;
        let lists = (room.again(), &mut *firsts);
        let guarded = self.reduce_own(op, told, (&own, &doers), lists, (&combine, out))?;
        for digit in digits.0.iter().filter(|digit| digit.lanes != 0) {
            self.reduce_lanes(op, &combine, digit.lanes, out)?;
        }
        let mut sum = out;
        if digits.parts().is_none_or(|parts| parts > 1) {
            if guarded || firsts.contains(&NONE) {
                return Err(refuse);
            }
            sum = self.reduce_parts(
                op,
                told,
                (&own, &doers),
                (&digits, firsts),
                (&combine, out),
                open,
            )?;
        }
        let to = self.fragment_regs(op, told, own.to)?;
        if let Some(taken) = own.taken {
            return self.take_rows(op, told, (&own, taken, id), (sum, to), room);
        }
        let mut guard = None;
        self.within_branches(op, told, doers.thread, &mut guard)?;
        let guard = self.guard_of(op, guard)?;
        for (k, _) in (0u16..).zip(firsts.iter()) {
            self.copy_guarded(op, guard, sum.member(k), to.member(k))?;
        }
        Ok(())
    }

    /// Lays the rows as all threads of the operand have them, where fewer hold the result.
    ///
    /// # Errors
    /// Threads hold the result that have no part of its rows.
    fn lay_rows(&self, op: Op, told: &mut Told<'_>, own: &mut Reduction) -> Result<(), EmitError> {
        let full = of_form(op);
        let arena = &mut told.inference.arena;
        let rows = arena.reduced(&own.whole, own.kept.vars, own.dim).map_err(&full)?;
        let (have, want) = (arena.threads(&own.kept), arena.threads(&rows));
        if !arena.contains(have, want).map_err(&full)? {
            return Err(refused(op, ElementReason::Reduction));
        }
        if !arena.contains(want, have).map_err(&full)? {
            own.taken = Some(core::mem::replace(&mut own.kept, rows));
        }
        Ok(())
    }

    /// Copies sums of rows to where the result lies, in the threads that hold it.
    #[inline(never)]
    fn take_rows(
        &mut self,
        op: Op,
        told: &mut Told<'_>,
        (own, taken, id): (&Reduction, FragmentForm, OperatorId),
        (sum, to): (Reg, Reg),
        room: ElementLists<'_>,
    ) -> Result<(), EmitError> {
        let refuse = refused(op, ElementReason::Reduction);
        let full = of_form(op);
        let doers = self.holders(op, told, id, taken)?;
        let mut at: heapless::Vec<IndexForm, MAX_RANK> = heapless::Vec::new();
        for var in taken.vars.iter() {
            at.push(told.inference.arena.whole(var).map_err(&full)?).map_err(|_| refuse)?;
        }
        let local = told.inference.arena.index_at(&own.kept, &at).map_err(&full)?;
        crate::elements::nest::fresh(room.slots).ok_or(refuse)?;
        for number in 0..taken.slots {
            let mark = told.inference.arena.mark();
            let work = room.slots.first_mut().ok_or(refuse)?;
            self.slot_at(told, &doers, number, work)?;
            let row = told.inference.arena.substitute(local, &work.vars).map_err(&full)?;
            let (mut guard, live) = (work.guard, work.live);
            if live {
                self.within_branches(op, told, doers.thread, &mut guard)?;
                let to = to.member(u16::try_from(number).map_err(|_| refuse)?);
                self.take_row(op, told, (row, doers.thread), guard, (sum, to))?;
            }
            told.inference.arena.release(mark);
        }
        Ok(())
    }

    /// Copies the sum of one row; where threads differ in which it is, in each its own.
    fn take_row(
        &mut self,
        op: Op,
        told: &mut Told<'_>,
        (row, thread): (IndexForm, ThreadVar),
        guard: Option<ExprId>,
        (sum, to): (Reg, Reg),
    ) -> Result<(), EmitError> {
        let many = refused(op, ElementReason::LocalIndex);
        if row.is_constant() {
            let row = u16::try_from(row.constant).map_err(|_| many)?;
            let guard = self.guard_of(op, guard)?;
            return self.copy_guarded(op, guard, sum.member(row), to);
        }
        if u16::from(sum.count) > CHOSEN {
            return Err(many);
        }
        let node = self.form_node(op, told, row, thread)?;
        for row in 0..u16::from(sum.count) {
            let mut own = guard;
            let number = self.arena.constant(u32::from(row))?;
            self.keep_equal(&mut own, node, number)?;
            let own = self.guard_of(op, own)?;
            self.copy_guarded(op, own, sum.member(row), to)?;
        }
        Ok(())
    }

    /// The instruction that combines two elements.
    fn combining(&self, op: Op) -> Result<CombineAtom<'t>, EmitError> {
        let refuse = refused(op, ElementReason::Operation);
        let operand = self.program.operand(op, 0).ok_or(refuse)?;
        let dtype = self.program.type_of(operand).dtype.ok_or(refuse)?;
        let kind = match self.program.attr(op, attr_names::KIND) {
            Some(AttrValue::Word(word) | AttrValue::Str(word)) => self.program.text(word),
            _ => "",
        };
        let kind = if kind == "sum" { "add" } else { kind };
        let tables = self.machine.tables;
        let word = tables.op_named(kind).map(OpWord::Op).ok_or(refuse)?;
        let found = select_elementwise(tables, self.machine.arch, word, 2, (dtype, dtype), 0);
        let (id, atom, _) = found.ok_or(refuse)?;
        Ok(CombineAtom { id, atom })
    }

    /// Bits of the element that changes nothing.
    fn neutral(&self, op: Op) -> Option<u32> {
        let dtype = self.program.type_of(self.program.operand(op, 0)?).dtype?;
        let dtype = self.machine.tables.dtype(dtype)?;
        let kind = match self.program.attr(op, attr_names::KIND)? {
            AttrValue::Word(word) | AttrValue::Str(word) => self.program.text(word),
            _ => return None,
        };
        let number = |n| self.program.literal_bits(lanebook_ir::Literal::Int(n), dtype);
        let top = 1u64.checked_shl(u32::from(dtype.bits.checked_sub(1)?))?;
        let bits = match (kind, dtype.kind, dtype.format) {
            ("add" | "sum", ..) => number(0)?,
            ("mul", ..) => number(1)?,
            ("min", DtypeKind::Float, Some(format)) => format.infinity()?,
            ("max", DtypeKind::Float, Some(format)) => format.infinity()? | format.sign(),
            ("min", DtypeKind::Signed, _) => top.checked_sub(1)?,
            ("max", DtypeKind::Signed, _) => top,
            _ => return None,
        };
        u32::try_from(bits).ok()
    }

    /// What each thread holds of its rows; the first slot of each row, and whether there is a slot
    /// that not all threads have.
    #[inline(never)]
    fn reduce_own(
        &mut self,
        op: Op,
        told: &mut Told<'_>,
        (own, doers): (&Reduction, &Doers),
        (room, firsts): (ElementLists<'_>, &mut [u8]),
        (combine, out): (&CombineAtom<'t>, Reg),
    ) -> Result<bool, EmitError> {
        let refuse = refused(op, ElementReason::Reduction);
        let full = of_form(op);
        let mut at = heapless::Vec::new();
        own.coordinates(told, &mut at).ok_or(refuse)?;
        let local = told.inference.arena.index_at(&own.kept, &at).map_err(&full)?;
        let from = self.fragment_regs(op, told, own.from)?;
        crate::elements::nest::fresh(room.slots).ok_or(refuse)?;
        let mut guarded = false;
        for number in 0..own.whole.slots {
            let mark = told.inference.arena.mark();
            let work = room.slots.first_mut().ok_or(refuse)?;
            self.slot_at(told, doers, number, work)?;
            let row = told.inference.arena.substitute(local, &work.vars).map_err(&full)?;
            let (guard, live) = (work.guard, work.live);
            told.inference.arena.release(mark);
            if !live {
                guarded = true;
                continue;
            }
            let row = u16::try_from(row.constant).ok().filter(|_| row.is_constant());
            let row = row.ok_or(refused(op, ElementReason::LocalIndex))?;
            let first = firsts.get_mut(usize::from(row)).ok_or(refuse)?;
            let next = from.member(u16::try_from(number).map_err(|_| refuse)?);
            self.note_reader(op, told, own.from, next)?;
            let begins = core::mem::replace(first, u8::try_from(number).unwrap_or(NONE)) == NONE;
            let so_far = out.member(row);
            self.steps.purpose = Purpose::Arithmetic;
            let Some(_) = guard else {
                match begins {
                    true => self.copy_tile(op, next, so_far)?,
                    false => self.combined(op, combine, so_far, (so_far, next))?,
                }
                continue;
            };
            guarded = true;
            if begins {
                let bits = self.neutral(op).ok_or(refuse)?;
                self.fill(so_far, i64::from(bits.cast_signed()))?;
            }
            let both = self.steps.tuple(out.class, 1)?;
            self.combined(op, combine, both, (so_far, next))?;
            let guard = self.guard_of(op, guard)?;
            self.steps.guard = guard;
            let copied = self.copy_tile(op, both, so_far);
            self.steps.guard = None;
            copied?;
        }
        for (k, _) in (0u16..).zip(firsts.iter()).filter(|(_, first)| **first == NONE) {
            self.fill(out.member(k), 0)?;
        }
        Ok(guarded)
    }

    /// `out = a, b` combined.
    fn combined(
        &mut self,
        op: Op,
        combine: &CombineAtom<'t>,
        out: Reg,
        (a, b): (Reg, Reg),
    ) -> Result<(), EmitError> {
        let taken = combine.taken().ok_or(refused(op, ElementReason::Operation))?;
        let (a, b) = (self.suited(op, a, taken)?, self.suited(op, b, taken)?);
        self.steps.purpose = Purpose::Arithmetic;
        self.combine(op, *combine, out, a, b)
    }

    /// Between the lanes that differ in a bit: all exchanges, then what they brought.
    #[inline(never)]
    fn reduce_lanes(
        &mut self,
        op: Op,
        combine: &CombineAtom<'t>,
        mask: u8,
        out: Reg,
    ) -> Result<(), EmitError> {
        let refuse = refused(op, ElementReason::Reduction);
        let found = lane_exchange(self.machine.tables, self.machine.arch, mask).ok_or(refuse)?;
        let sender = match found.2.by {
            None => None,
            Some((_, times)) => {
                self.steps.purpose = Purpose::FirstAddress;
                let other = self.arena.op_const(IndexOp::Xor, self.thread, u64::from(mask))?;
                let places = u64::from(times.max(1).trailing_zeros());
                let scaled = self.arena.op_const(IndexOp::Shl, other, places)?;
                Some(self.compute(scaled, RegBank::Vector)?)
            }
        };
        let others = self.steps.tuple(out.class, out.count)?;
        self.steps.purpose = Purpose::Arithmetic;
        for k in 0..u16::from(out.count) {
            self.between_lanes(op, found, mask, sender, (out.member(k), others.member(k)))?;
        }
        for k in 0..u16::from(out.count) {
            self.combined(op, combine, out.member(k), (out.member(k), others.member(k)))?;
        }
        Ok(())
    }

    /// Through shared memory: each thread leaves its part, behind a barrier each reads all.
    #[inline(never)]
    fn reduce_parts(
        &mut self,
        op: Op,
        told: &mut Told<'_>,
        (own, doers): (&Reduction, &Doers),
        (digits, firsts): (&RowDigits, &[u8]),
        (combine, out): (&CombineAtom<'t>, Reg),
        open: &mut PendingAccesses,
    ) -> Result<Reg, EmitError> {
        let refuse = refused(op, ElementReason::Reduction);
        let (parts, count) = (digits.parts().ok_or(refuse)?, own.count(told).ok_or(refuse)?);
        let row = count.checked_mul(PART_BYTES).ok_or(refuse)?;
        self.meet_parts(op, (true, true), open)?;
        for (k, first) in (0u16..).zip(firsts) {
            let mark = told.inference.arena.mark();
            let (at, guard) =
                self.part_place(op, told, (own, doers), Some(digits), (u32::from(*first), row))?;
            told.inference.arena.release(mark);
            let guard = self.guard_of(op, guard)?;
            self.part_move(op, out.member(k), at, guard, false)?;
        }
        self.meet_parts(op, (false, true), open)?;
        let sum = self.steps.tuple(out.class, out.count)?;
        for (k, first) in (0u16..).zip(firsts) {
            let mark = told.inference.arena.mark();
            let place = self.part_place(op, told, (own, doers), None, (u32::from(*first), row));
            told.inference.arena.release(mark);
            let (at, _) = place?;
            for part in 0..parts {
                let further = u64::from(part.saturating_mul(row));
                let at = self.arena.op_const(IndexOp::Add, at, further)?;
                let next = self.steps.tuple(out.class, 1)?;
                self.part_move(op, next, at, None, true)?;
                match part {
                    0 => self.copy_tile(op, next, sum.member(k))?,
                    _ => self.combined(op, combine, sum.member(k), (sum.member(k), next))?,
                }
            }
        }
        Ok(sum)
    }

    /// Where a thread leaves its part of a row, and which threads do; without `digits` where the
    /// row begins.
    #[inline(never)]
    fn part_place(
        &mut self,
        op: Op,
        told: &mut Told<'_>,
        (own, doers): (&Reduction, &Doers),
        digits: Option<&RowDigits>,
        (number, row): (u32, u32),
    ) -> Result<(ExprId, Option<ExprId>), EmitError> {
        let refuse = refused(op, ElementReason::Reduction);
        let full = of_form(op);
        let mut work = crate::elements::slots::WorkSlot::default();
        self.slot_at(told, doers, number, &mut work)?;
        let mut at = heapless::Vec::new();
        own.coordinates(told, &mut at).ok_or(refuse)?;
        let arena = &mut told.inference.arena;
        let (mut sum, mut stride) = (IndexForm::constant(0), i64::from(PART_BYTES));
        for (var, index) in own.kept.vars.iter().zip(&at).rev() {
            sum = arena.add_scaled(sum, *index, stride).map_err(&full)?;
            stride = stride.saturating_mul(i64::from(arena.extent(var).map_err(&full)?));
        }
        let mut guard = None;
        let mut step = i64::from(row);
        for left in digits.into_iter().flat_map(RowDigits::left) {
            let digit = arena.digit(left.digit).map_err(&full)?;
            sum = arena.add_scaled(sum, digit, step).map_err(&full)?;
            step = step.saturating_mul(i64::from(left.digit.extent));
        }
        let own_sum = arena.substitute(sum, &work.vars).map_err(&full)?;
        // The lanes of a row hold the same by now, and so do copies: the first of them writes.
        let mut zeros: heapless::Vec<IndexForm, { DIGITS + 1 }> = heapless::Vec::new();
        if let Some(digits) = digits {
            for lane in digits.0.iter().filter(|digit| digit.lanes != 0) {
                let digit = arena.digit(lane.digit).map_err(&full)?;
                zeros.push(digit).map_err(|_| refuse)?;
            }
            if own.whole.copies > 1 {
                zeros.push(arena.whole(own.whole.copy).map_err(&full)?).map_err(|_| refuse)?;
            }
        }
        for zero in &zeros {
            let form = told.inference.arena.substitute(*zero, &work.vars).map_err(&full)?;
            let node = self.form_node(op, told, form, doers.thread)?;
            let zero = self.arena.constant(0)?;
            self.keep_equal(&mut guard, node, zero)?;
        }
        let node = self.form_node(op, told, own_sum, doers.thread)?;
        let alloc = self.program.operand(op, 1).and_then(|value| self.plan.alloc_of(value));
        let offset = alloc.map(|(_, alloc)| alloc.offset).ok_or(refuse)?;
        let node = self.sum(IndexOp::Add, self.shared_base, Some(node))?.ok_or(refuse)?;
        Ok((self.arena.op_const(IndexOp::Add, node, u64::from(offset))?, guard))
    }

    /// Orders a reduction's parts after what is open: `(writes, emit)`.
    pub(crate) fn meet_parts(
        &mut self,
        op: Op,
        (writes, emit): (bool, bool),
        open: &mut PendingAccesses,
    ) -> Result<(), EmitError> {
        let alloc = self.program.operand(op, 1).and_then(|value| self.plan.alloc_of(value));
        let Some((_, alloc)) = alloc.filter(|_| self.program.role(op) == OpRole::ReduceInto) else {
            return Ok(());
        };
        let (from, to) = (alloc.offset, alloc.offset.saturating_add(alloc.bytes));
        let kind = self.access_of(Space::Shared, PART_BYTES, writes);
        let kind = kind.ok_or(refused(op, ElementReason::Reduction))?;
        let touched = MemAccess { from, to, dealt: 0, kind, writes, completion: None };
        self.meet_all(&[touched], open, emit).map(|_| ())
    }
}

//! Reductions of fragments in place: first what a thread holds, then what the lanes of a row hold,
//! then, through shared memory, what is left.
//!
//! Where the elements of a row lie is read from the operand's layout: the digits of the reduced
//! dimension in the number of the thread. A bit that lanes can exchange is combined by exchanges;
//! of all others each thread of a row leaves its part at the place that they make, and each reads
//! all of them. Where no digits tell the threads of a row, every element goes that way.

mod combine;
pub(crate) mod rows;

use crate::elements::address::AccessState;
use crate::elements::forms::ThreadVar;
use crate::elements::nest::ElementLists;
use crate::elements::reduce::combine::Combining;
use crate::elements::reduce::rows::{PART_BYTES, Reduction, RowDigit, RowDigits};
use crate::elements::slots::{ExecutingThreads, SlotVars};
use crate::elements::storage::Packing;
use crate::elements::{ElementReason, of_form, refused};
use crate::expr::{ExprId, Reg, RegBank};
use crate::lower::context::{EmitError, LowerContext};
use crate::step::InstKind;
use crate::sync::access::MemAccess;
use crate::sync::order::PendingAccesses;
use lanebook_infer::{FragmentForm, IndexForm, MAX_RANK, OperatorId};
use lanebook_ir::Op;
use lanebook_loops::Told;
use lanebook_plan::select::lane_shuffle;
use lanebook_tables::{IndexOp, OpRole, Space};

/// Most results that a thread has.
const MOST: usize = 256;
/// Most elements of a row that a thread takes from shared memory, one after the other.
const MOST_PARTS: u32 = 1024;
/// Most sums among which a thread chooses by its number.
const CHOSEN: u16 = 64;
/// No slot.
const NONE: u16 = u16::MAX;

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
        let combine = self.combining(op)?;
        let Some(digits) = own.digits((self.machine.tables, self.machine.arch), told) else {
            return self.reduce_elements(op, told, (&own, id), &combine, room, open);
        };
        self.lay_rows(op, told, &mut own)?;
        let how = (&digits, &combine);
        let sum = self.reduce_rows(op, told, (&own, id), how, room.again(), open)?;
        let sum = self.narrowed(op, &combine, sum)?;
        let to = self.fragment_regs(op, told, own.to)?;
        if let Some(taken) = own.taken {
            return self.take_rows(op, told, (&own, taken, id), (sum, to), room);
        }
        let executing = self.holders(op, told, id, own.whole)?;
        let mut guard = None;
        self.within_branches(op, told, executing.thread, &mut guard)?;
        let guard = self.guard_of(op, guard)?;
        for k in 0..sum.count {
            self.copy_guarded(op, guard, sum.member(k), to.member(k))?;
        }
        Ok(())
    }

    /// A reduction whose rows' threads are told by digits.
    #[inline(never)] // Its list of rows is not below elements that go one by one.
    fn reduce_rows(
        &mut self,
        op: Op,
        told: &mut Told<'_>,
        (own, id): (&Reduction, OperatorId),
        (digits, combine): (&RowDigits, &Combining<'t>),
        mut room: ElementLists<'_>,
        open: &mut PendingAccesses,
    ) -> Result<Reg, EmitError> {
        let refuse = refused(op, ElementReason::Reduction);
        let rows = usize::try_from(own.kept.slots).unwrap_or(usize::MAX);
        if rows > MOST || own.whole.slots >= u32::from(NONE) {
            return Err(refused(op, ElementReason::Results));
        }
        let executing = self.holders(op, told, id, own.whole)?;
        // Lanes exchange by their numbers among all threads: a bit of a row must be the same bit there.
        let moved = |digit: &RowDigit| {
            let pair = u32::from(digit.lanes).saturating_mul(2);
            pair > 0 && executing.threads.0.checked_rem(pair) != Some(0)
        };
        if digits.0.iter().any(moved) {
            return Err(refuse);
        }
        let mut firsts = [NONE; MOST];
        let firsts = firsts.get_mut(..rows).ok_or(refuse)?;
        let count = u16::try_from(rows).map_err(|_| refuse)?;
        let out = self.steps.tuple(combine.atom.class().ok_or(refuse)?, count)?;
        let lists = (room.again(), &mut *firsts);
        self.reduce_own(op, told, (own, &executing), lists, (combine, out))?;
        for digit in digits.0.iter().filter(|digit| digit.lanes != 0) {
            self.reduce_lanes(op, combine, digit.lanes, out)?;
        }
        let mut sum = out;
        if digits.parts().is_none_or(|parts| parts > 1) {
            if firsts.contains(&NONE) {
                return Err(refuse);
            }
            sum = self.reduce_parts(
                op,
                told,
                (own, &executing),
                (digits, firsts),
                (combine, out),
                open,
            )?;
        }
        Ok(sum)
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
        let executing = self.holders(op, told, id, taken)?;
        let mut at: heapless::Vec<IndexForm, MAX_RANK> = heapless::Vec::new();
        for var in taken.vars.iter() {
            at.push(told.inference.arena.whole(var).map_err(&full)?).map_err(|_| refuse)?;
        }
        let local = told.inference.arena.index_at(&own.kept, &at).map_err(&full)?;
        crate::elements::nest::fresh(room.slots).ok_or(refuse)?;
        for number in 0..taken.slots {
            let mark = told.inference.arena.mark();
            let work = room.slots.first_mut().ok_or(refuse)?;
            self.slot_alone(told, &executing, number, work)?;
            let row = told.inference.arena.substitute(local, &work.vars).map_err(&full)?;
            let (mut guard, live) = (work.guard, work.live);
            if live {
                self.within_branches(op, told, executing.thread, &mut guard)?;
                let to = to.member(u16::try_from(number).map_err(|_| refuse)?);
                self.take_row(op, told, (row, executing.thread), guard, (sum, to))?;
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
        if sum.count > CHOSEN {
            return Err(many);
        }
        let node = self.form_node(op, told, row, thread)?;
        for row in 0..sum.count {
            let mut own = guard;
            let number = self.arena.constant(u32::from(row))?;
            self.keep_equal(&mut own, node, number)?;
            let own = self.guard_of(op, own)?;
            self.copy_guarded(op, own, sum.member(row), to)?;
        }
        Ok(())
    }

    /// What each thread holds of its rows; the first slot of each row.
    #[inline(never)]
    fn reduce_own(
        &mut self,
        op: Op,
        told: &mut Told<'_>,
        (own, executing): (&Reduction, &ExecutingThreads),
        (room, firsts): (ElementLists<'_>, &mut [u16]),
        (combine, out): (&Combining<'t>, Reg),
    ) -> Result<(), EmitError> {
        let refuse = refused(op, ElementReason::Reduction);
        let full = of_form(op);
        let mut at = heapless::Vec::new();
        own.coordinates(told, &mut at).ok_or(refuse)?;
        let local = told.inference.arena.index_at(&own.kept, &at).map_err(&full)?;
        let from = self.fragment_regs(op, told, own.from)?;
        crate::elements::nest::fresh(room.slots).ok_or(refuse)?;
        for number in 0..own.whole.slots {
            let mark = told.inference.arena.mark();
            let work = room.slots.first_mut().ok_or(refuse)?;
            self.slot_alone(told, executing, number, work)?;
            let mut row = told.inference.arena.substitute(local, &work.vars).map_err(&full)?;
            let (guard, live) = (work.guard, work.live);
            // Of what threads look up it is known point by point.
            if !row.is_constant() && told.inference.lookups().next().is_some() {
                let same = told.inference.value_in_slot(number, local).map_err(&full)?;
                row = same.map_or(row, IndexForm::constant);
            }
            told.inference.arena.release(mark);
            if !live {
                continue;
            }
            let row = u16::try_from(row.constant).ok().filter(|_| row.is_constant());
            let row = row.ok_or(refused(op, ElementReason::LocalIndex))?;
            let first = firsts.get_mut(usize::from(row)).ok_or(refuse)?;
            let next = from.member(u16::try_from(number).map_err(|_| refuse)?);
            self.note_reader(op, told, own.from, next)?;
            let next = self.widened(op, combine, next)?;
            let begins = *first == NONE;
            if begins {
                *first = u16::try_from(number).unwrap_or(NONE);
            }
            let so_far = out.member(row);
            self.steps.purpose = InstKind::Arithmetic;
            let Some(_) = guard else {
                match begins {
                    true => self.copy_tile(op, next, so_far)?,
                    false => self.combined(op, combine, so_far, (so_far, next))?,
                }
                continue;
            };
            if begins {
                let bits = self.neutral(op, combine).ok_or(refuse)?;
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
        Ok(())
    }

    /// Each element through shared memory: where no digits tell the threads of a row.
    #[inline(never)]
    fn reduce_elements(
        &mut self,
        op: Op,
        told: &mut Told<'_>,
        (own, id): (&Reduction, OperatorId),
        combine: &Combining<'t>,
        room: ElementLists<'_>,
        open: &mut PendingAccesses,
    ) -> Result<(), EmitError> {
        let refuse = refused(op, ElementReason::Reduction);
        let full = of_form(op);
        let digits = RowDigits::of_elements(told, own).ok_or(refuse)?;
        let (parts, count) = (digits.parts().ok_or(refuse)?, own.count(told).ok_or(refuse)?);
        let row = count.checked_mul(PART_BYTES).ok_or(refuse)?;
        if parts > MOST_PARTS {
            return Err(refused(op, ElementReason::Rows));
        }
        let from = self.fragment_regs(op, told, own.from)?;
        let executing = self.holders(op, told, id, own.whole)?;
        let ElementLists { slots, known, guards, .. } = room;
        let mut state = AccessState { known, guards };
        self.order_parts(op, (true, true), open)?;
        for number in 0..own.whole.slots {
            self.release_nodes(&mut state, [executing.thread.node].into_iter());
            let mark = told.inference.arena.mark();
            let place = self.part_place(op, told, (own, &executing), Some(&digits), (number, row));
            told.inference.arena.release(mark);
            let Some((at, guard)) = place? else { continue };
            let guard = self.guard_of(op, guard)?;
            let next = from.member(u16::try_from(number).map_err(|_| refuse)?);
            self.note_reader(op, told, own.from, next)?;
            let next = self.widened(op, combine, next)?;
            self.part_move(op, next, at, guard, false)?;
        }
        self.order_parts(op, (false, true), open)?;
        let to = self.fragment_regs(op, told, own.to)?;
        let executing = self.holders(op, told, id, own.kept)?;
        let arena = &mut told.inference.arena;
        let (mut sum, mut stride) = (IndexForm::constant(0), i64::from(PART_BYTES));
        for var in own.kept.vars.iter().rev() {
            let whole = arena.whole(var).map_err(&full)?;
            sum = arena.add_scaled(sum, whole, stride).map_err(&full)?;
            stride = stride.saturating_mul(i64::from(arena.extent(var).map_err(&full)?));
        }
        crate::elements::nest::fresh(slots).ok_or(refuse)?;
        for number in 0..own.kept.slots {
            self.release_nodes(&mut state, [executing.thread.node].into_iter());
            let mark = told.inference.arena.mark();
            let work = slots.first_mut().ok_or(refuse)?;
            self.slot_alone(told, &executing, number, work)?;
            let own_sum = told.inference.arena.substitute(sum, &work.vars).map_err(&full)?;
            let (guard, live) = (work.guard, work.live);
            if live {
                let at = self.part_address(op, told, own_sum, executing.thread)?;
                let guard = self.guard_of(op, guard)?;
                let out = self.steps.tuple(combine.atom.class().ok_or(refuse)?, 1)?;
                self.take_parts(op, (at, parts, row), guard, (combine, out))?;
                let out = self.narrowed(op, combine, out)?;
                let to = to.member(u16::try_from(number).map_err(|_| refuse)?);
                self.copy_guarded(op, guard, out, to)?;
            }
            told.inference.arena.release(mark);
        }
        Ok(())
    }

    /// Takes all parts of a row, in the threads that have it.
    fn take_parts(
        &mut self,
        op: Op,
        (at, parts, row): (ExprId, u32, u32),
        guard: Option<Reg>,
        (combine, out): (&Combining<'t>, Reg),
    ) -> Result<(), EmitError> {
        for part in 0..parts {
            let further = u64::from(part.saturating_mul(row));
            let at = self.arena.op_const(IndexOp::Add, at, further)?;
            let next = self.steps.tuple(out.class, 1)?;
            self.part_move(op, next, at, guard, true)?;
            match part {
                0 => self.copy_tile(op, next, out)?,
                _ => self.combined(op, combine, out, (out, next))?,
            }
        }
        Ok(())
    }

    /// Between the lanes that differ in a bit: all exchanges, then what they brought.
    #[inline(never)]
    fn reduce_lanes(
        &mut self,
        op: Op,
        combine: &Combining<'t>,
        mask: u8,
        out: Reg,
    ) -> Result<(), EmitError> {
        let refuse = refused(op, ElementReason::Reduction);
        let found = lane_shuffle(self.machine.tables, self.machine.arch, mask).ok_or(refuse)?;
        let sender = match found.2.by {
            None => None,
            Some((_, times)) => {
                self.steps.purpose = InstKind::FirstAddress;
                let other = self.arena.op_const(IndexOp::Xor, self.thread, u64::from(mask))?;
                let places = u64::from(times.max(1).trailing_zeros());
                let scaled = self.arena.op_const(IndexOp::Shl, other, places)?;
                Some(self.compute(scaled, RegBank::Vector)?)
            }
        };
        let others = self.steps.tuple(out.class, out.count)?;
        self.steps.purpose = InstKind::Arithmetic;
        for k in 0..out.count {
            self.between_lanes(op, found, mask, sender, (out.member(k), others.member(k)))?;
        }
        for k in 0..out.count {
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
        (own, executing): (&Reduction, &ExecutingThreads),
        (digits, firsts): (&RowDigits, &[u16]),
        (combine, out): (&Combining<'t>, Reg),
        open: &mut PendingAccesses,
    ) -> Result<Reg, EmitError> {
        let refuse = refused(op, ElementReason::Reduction);
        let (parts, count) = (digits.parts().ok_or(refuse)?, own.count(told).ok_or(refuse)?);
        let row = count.checked_mul(PART_BYTES).ok_or(refuse)?;
        self.order_parts(op, (true, true), open)?;
        for (k, first) in (0u16..).zip(firsts) {
            let mark = told.inference.arena.mark();
            let place = self.part_place(
                op,
                told,
                (own, executing),
                Some(digits),
                (u32::from(*first), row),
            )?;
            let (at, guard) = place.ok_or(refuse)?;
            told.inference.arena.release(mark);
            let guard = self.guard_of(op, guard)?;
            self.part_move(op, out.member(k), at, guard, false)?;
        }
        self.order_parts(op, (false, true), open)?;
        let sum = self.steps.tuple(out.class, out.count)?;
        for (k, first) in (0u16..).zip(firsts) {
            let mark = told.inference.arena.mark();
            let place = self.part_place(op, told, (own, executing), None, (u32::from(*first), row));
            told.inference.arena.release(mark);
            let (at, guard) = place?.ok_or(refuse)?;
            let guard = self.guard_of(op, guard)?;
            self.take_parts(op, (at, parts, row), guard, (combine, sum.member(k)))?;
        }
        Ok(sum)
    }

    /// Where a thread leaves its part of a row, and which threads do; without `digits` where the
    /// row begins. `None` of a slot that no thread has.
    #[inline(never)]
    fn part_place(
        &mut self,
        op: Op,
        told: &mut Told<'_>,
        (own, executing): (&Reduction, &ExecutingThreads),
        digits: Option<&RowDigits>,
        (number, row): (u32, u32),
    ) -> Result<Option<(ExprId, Option<ExprId>)>, EmitError> {
        let refuse = refused(op, ElementReason::Reduction);
        let full = of_form(op);
        let mut work = crate::elements::slots::WorkSlot::default();
        self.slot_alone(told, executing, number, &mut work)?;
        if !work.live {
            return Ok(None);
        }
        let mut at = heapless::Vec::new();
        own.coordinates(told, &mut at).ok_or(refuse)?;
        let arena = &mut told.inference.arena;
        let (mut sum, mut stride) = (IndexForm::constant(0), i64::from(PART_BYTES));
        for (var, index) in own.kept.vars.iter().zip(&at).rev() {
            sum = arena.add_scaled(sum, *index, stride).map_err(&full)?;
            stride = stride.saturating_mul(i64::from(arena.extent(var).map_err(&full)?));
        }
        // Threads without a part of the row neither leave nor take one.
        let mut guard = work.guard;
        let mut step = i64::from(row);
        for left in digits.into_iter().flat_map(RowDigits::left) {
            let digit = arena.digit(left.digit).map_err(&full)?;
            sum = arena.add_scaled(sum, digit, step).map_err(&full)?;
            step = step.saturating_mul(i64::from(left.digit.extent));
        }
        let own_sum = arena.substitute(sum, &work.vars).map_err(&full)?;
        // The lanes of a row hold the same by now, and so do copies: the first of them writes.
        if let Some(digits) = digits {
            for lane in digits.0.iter().filter(|digit| digit.lanes != 0) {
                let zero = told.inference.arena.digit(lane.digit).map_err(&full)?;
                self.keep_first(op, told, (&work.vars, executing.thread), zero, &mut guard)?;
            }
            if own.whole.copies > 1 {
                let zero = told.inference.arena.whole(own.whole.copy).map_err(&full)?;
                self.keep_first(op, told, (&work.vars, executing.thread), zero, &mut guard)?;
            }
        }
        let at = self.part_address(op, told, own_sum, executing.thread)?;
        Ok(Some((at, guard)))
    }

    /// Keeps the threads whose part of a row this map counts as 0.
    #[inline(never)] // Its buffers leave the stack before the next part begins.
    fn keep_first(
        &mut self,
        op: Op,
        told: &mut Told<'_>,
        (vars, thread): (&SlotVars, ThreadVar),
        zero: IndexForm,
        guard: &mut Option<ExprId>,
    ) -> Result<(), EmitError> {
        let form = told.inference.arena.substitute(zero, vars).map_err(of_form(op))?;
        let node = self.form_node(op, told, form, thread)?;
        let zero = self.arena.constant(0)?;
        self.keep_equal(guard, node, zero)
    }

    /// A place among the parts of a reduction as an address.
    fn part_address(
        &mut self,
        op: Op,
        told: &Told<'_>,
        place: IndexForm,
        thread: ThreadVar,
    ) -> Result<ExprId, EmitError> {
        let refuse = refused(op, ElementReason::Reduction);
        let node = self.form_node(op, told, place, thread)?;
        let alloc = self.program.operand(op, 1).and_then(|value| self.plan.alloc_of(value));
        let offset = alloc.map(|(_, alloc)| alloc.offset).ok_or(refuse)?;
        let node = self.sum(IndexOp::Add, self.shared_base, Some(node))?.ok_or(refuse)?;
        Ok(self.arena.op_const(IndexOp::Add, node, u64::from(offset))?)
    }

    /// Orders a reduction's parts after what is open: `(writes, emit)`.
    pub(crate) fn order_parts(
        &mut self,
        op: Op,
        (writes, emit): (bool, bool),
        open: &mut PendingAccesses,
    ) -> Result<(), EmitError> {
        let alloc = self.program.operand(op, 1).and_then(|value| self.plan.alloc_of(value));
        let Some((_, alloc)) = alloc.filter(|_| self.program.role(op) == OpRole::ReduceInto) else {
            return Ok(());
        };
        let kind = self.access_of(Space::Shared, PART_BYTES, writes);
        let kind = kind.ok_or(refused(op, ElementReason::Reduction))?;
        self.meet_all(&[MemAccess::shared(alloc, kind, writes)], open, emit).map(|_| ())
    }
}

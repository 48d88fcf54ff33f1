//! Iterations by tables: where no structure inverts a layout, what each thread does in a slot is
//! known point by point, and a thread looks up the bits of each variable by its number.
//!
//! A word has a bit for each of 32 threads; words of further threads are chosen by comparisons, as
//! far as they differ. What a variable was in an earlier slot of the chunk, but for a number, is not
//! looked up again, so that neighbours stay neighbours.

use crate::elements::slots::{ExecutingThreads, WorkSlot};
use crate::elements::{ElementReason, of_form, refused};
use crate::expr::ExprId;
use crate::lower::context::{EmitError, LowerContext};
use lanebook_infer::{BaseId, IndexForm, Inference, LookupVar, VarRole};
use lanebook_layout::order::gcd;
use lanebook_loops::Told;
use lanebook_tables::IndexOp;

/// Threads of a word.
const WORD: u32 = 32;
/// What a quotient without a division is exact below.
const MOST_DIVIDED: u64 = 1 << 15;

/// Digits of an iteration's number that are a variable.
#[derive(Copy, Clone)]
struct NumberDigits {
    unit: u64,
    extent: u64,
}

impl NumberDigits {
    fn of(self, number: u64) -> u64 {
        let above = number.checked_div(self.unit).unwrap_or(0);
        above.checked_rem(self.extent).unwrap_or(0)
    }

    /// The value of a thread's variable in a slot.
    fn at(self, inference: &Inference<'_>, slot: u32, thread: u32) -> Option<u64> {
        inference.iteration_of(slot, thread).map(|number| self.of(number))
    }
}

impl LowerContext<'_, '_, '_, '_> {
    /// The iterations of a slot by tables.
    #[inline(never)]
    pub(crate) fn looked_up(
        &mut self,
        told: &mut Told<'_>,
        executing: &ExecutingThreads,
        number: u32,
        out: &mut WorkSlot,
    ) -> Result<(), EmitError> {
        let ExecutingThreads { op, spread, threads: (_, count, _), .. } = *executing;
        let full = of_form(op);
        let room = refused(op, ElementReason::Room);
        if !told.inference.tabulate(&spread, count, number).map_err(&full)? {
            return Err(refused(op, ElementReason::Inverse));
        }
        (out.guard, out.place) = (None, None);
        out.vars.clear();
        let has = |thread| told.inference.iteration_of(number, thread).is_some();
        out.live = (0..count).any(has);
        let is_whole = (0..count).all(has);
        let mut unit = 1u64;
        let vars = spread.vars.iter().chain([spread.copy]);
        for var in vars.rev() {
            let extent = u64::from(told.inference.arena.extent(var).map_err(&full)?);
            let digits = NumberDigits { unit, extent };
            unit = unit.saturating_mul(extent);
            let form = match out.live {
                true => self.variable_at(told, executing, (number, var), digits)?,
                false => IndexForm::constant(0),
            };
            out.vars.push((var, form)).map_err(|_| room)?;
        }
        if out.live && !is_whole {
            self.executed(told, executing, number, &mut out.guard)?;
        }
        let place = told.inference.arena.substitute(spread.index, &out.vars).map_err(&full)?;
        out.place = u16::try_from(number).ok().map(|number| (place, number));
        Ok(())
    }

    /// Keeps a guard to the threads that execute a slot.
    #[inline(never)] // Before the next one begins it leaves the stack.
    fn executed(
        &mut self,
        told: &Told<'_>,
        executing: &ExecutingThreads,
        slot: u32,
        guard: &mut Option<ExprId>,
    ) -> Result<(), EmitError> {
        let ExecutingThreads { thread, threads: (_, count, _), .. } = *executing;
        let has = |thread| told.inference.iteration_of(slot, thread).is_some();
        let mut all = (0..count).filter(|thread| has(*thread));
        if let (Some(only), None) = (all.next(), all.next()) {
            let only = self.arena.constant(only)?;
            return self.keep_equal(guard, thread.node, only);
        }
        if let Some(bit) = self.bit_of_thread(executing, |thread| Some(has(thread)))? {
            let word = self.arena.op_const(IndexOp::Shl, bit, u64::from(WORD - 1))?;
            self.keep_word(guard, word)?;
        }
        Ok(())
    }

    /// What a variable of a loop is in a slot.
    #[inline(never)] // Before the next one begins it leaves the stack.
    fn variable_at(
        &mut self,
        told: &mut Told<'_>,
        executing: &ExecutingThreads,
        (slot, var): (u32, BaseId),
        digits: NumberDigits,
    ) -> Result<IndexForm, EmitError> {
        let ExecutingThreads { op, threads: (_, count, _), .. } = *executing;
        let full = of_form(op);
        let inference = &told.inference;
        let mut values = (0..count).filter_map(|thread| digits.at(inference, slot, thread));
        let first = values.next().unwrap_or(0);
        if values.all(|value| value == first) {
            return Ok(IndexForm::constant(i64::try_from(first).unwrap_or(0)));
        }
        // The same as before, and a number.
        let known = inference.lookups().filter(|known| known.of == var).find_map(|known| {
            let mut by = None;
            for thread in 0..count {
                let Some(own) = digits.at(inference, slot, thread) else { continue };
                let before = digits.at(inference, u32::from(known.slot), thread)?;
                let more = own.checked_sub(before)?;
                if *by.get_or_insert(more) != more {
                    return None;
                }
            }
            Some((known.var, i64::try_from(by?).ok()?))
        });
        if let Some((known, by)) = known {
            let whole = told.inference.arena.whole(known).map_err(&full)?;
            return told.inference.arena.add(whole, IndexForm::constant(by)).map_err(&full);
        }
        let node = match self.on_a_line(told, executing, slot, digits)? {
            Some(node) => node,
            None => self.by_bits(told, executing, slot, digits)?,
        };
        let extent = u32::try_from(digits.extent).map_err(|_| refused(op, ElementReason::Form))?;
        let own = told.inference.arena.var(extent, VarRole::Output).map_err(&full)?;
        let slot = u16::try_from(slot).map_err(|_| refused(op, ElementReason::Room))?;
        let known = LookupVar { var: own, of: var, slot, node: node.0 };
        if !told.inference.note_lookup(known) {
            return Err(refused(op, ElementReason::Room));
        }
        told.inference.arena.whole(own).map_err(&full)
    }

    /// A variable that moves with the threads that execute a slot by the same step: what that makes
    /// of a thread's number; `None` of another one.
    #[inline(never)] // Before bits are looked up it leaves the stack.
    fn on_a_line(
        &mut self,
        told: &Told<'_>,
        executing: &ExecutingThreads,
        slot: u32,
        digits: NumberDigits,
    ) -> Result<Option<ExprId>, EmitError> {
        let ExecutingThreads { op, thread, threads: (_, count, _), .. } = *executing;
        let inference = &told.inference;
        let of = |thread| Some((i64::from(thread), digits.at(inference, slot, thread)?));
        let mut points = (0..count)
            .filter_map(of)
            .filter_map(|(thread, value)| Some((thread, i64::try_from(value).ok()?)));
        let Some(first) = points.next() else { return Ok(None) };
        let Some(last) = points.clone().next_back() else { return Ok(None) };
        let (rise, run) = (last.1.saturating_sub(first.1), last.0.saturating_sub(first.0));
        let is_on = |(thread, value): (i64, i64)| {
            let up = value.saturating_sub(first.1).saturating_mul(run);
            up == thread.saturating_sub(first.0).saturating_mul(rise)
        };
        let most = run.unsigned_abs().saturating_mul(rise.unsigned_abs());
        let common = gcd(run.unsigned_abs(), rise.unsigned_abs()).max(1);
        let (Some(rises), Some(runs)) =
            (rise.unsigned_abs().checked_div(common), run.unsigned_abs().checked_div(common))
        else {
            return Ok(None);
        };
        let Ok(by) = u32::try_from(runs) else { return Ok(None) };
        if !points.all(is_on) || (by > 1 && most >= MOST_DIVIDED) {
            return Ok(None);
        }
        let far = self.arena.op_const(IndexOp::Sub, thread.node, first.0.unsigned_abs())?;
        let far = self.arena.op_const(IndexOp::Mul, far, rises)?;
        let most = run.unsigned_abs().saturating_mul(rises);
        let steps = self.quotient(op, far, by, most)?;
        let start = self.arena.constant(u32::try_from(first.1).unwrap_or(0))?;
        let word = if rise < 0 { IndexOp::Sub } else { IndexOp::Add };
        Ok(Some(self.arena.op(word, &[start, steps])?))
    }

    /// A variable bit by bit.
    fn by_bits(
        &mut self,
        told: &Told<'_>,
        executing: &ExecutingThreads,
        slot: u32,
        digits: NumberDigits,
    ) -> Result<ExprId, EmitError> {
        let mut node = self.arena.constant(0)?;
        let bits = u64::BITS.saturating_sub(digits.extent.saturating_sub(1).leading_zeros());
        for bit in 0..bits {
            let of = |thread| {
                let value = digits.at(&told.inference, slot, thread)?;
                Some(value.checked_shr(bit).unwrap_or(0) & 1 == 1)
            };
            if let Some(own) = self.bit_of_thread(executing, of)? {
                let own = self.arena.op_const(IndexOp::Shl, own, u64::from(bit))?;
                node = self.arena.op(IndexOp::Add, &[node, own])?;
            }
        }
        Ok(node)
    }

    /// A bit that each thread has, or any where it has none; `None` where it is 0 in all of them.
    fn bit_of_thread(
        &mut self,
        executing: &ExecutingThreads,
        bit: impl Fn(u32) -> Option<bool>,
    ) -> Result<Option<ExprId>, EmitError> {
        let ExecutingThreads { thread, threads: (_, count, _), .. } = *executing;
        // What no thread asks for is as it was for the threads before.
        let word = |first: u32, before: u32| {
            (0..WORD).fold(0u32, |word, at| {
                let place = 1u32.wrapping_shl(at);
                let own = Some(first.saturating_add(at)).filter(|thread| *thread < count);
                match own.and_then(&bit) {
                    Some(true) => word | place,
                    Some(false) => word,
                    None => word | before & place,
                }
            })
        };
        let mut before = word(0, 0);
        let mut chosen = self.arena.constant(before)?;
        let mut is_zero = before == 0;
        for first in (WORD..count).step_by(WORD as usize) {
            let own = word(first, before);
            is_zero &= own == 0;
            if own == before {
                continue;
            }
            // All ones in threads from the first of this word on.
            let apart = self.arena.constant(first.saturating_sub(1))?;
            let apart = self.arena.op(IndexOp::Sub, &[apart, thread.node])?;
            let behind = self.arena.op_const(IndexOp::Shr, apart, u64::from(WORD - 1))?;
            let mask = self.minus(behind)?;
            let change = self.arena.op_const(IndexOp::And, mask, u64::from(own ^ before))?;
            chosen = self.arena.op(IndexOp::Xor, &[chosen, change])?;
            before = own;
        }
        if is_zero {
            return Ok(None);
        }
        let lane = self.arena.op_const(IndexOp::And, thread.node, u64::from(WORD - 1))?;
        let low = self.arena.op(IndexOp::Shr, &[chosen, lane])?;
        Ok(Some(self.arena.op_const(IndexOp::And, low, 1)?))
    }
}

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
use lanebook_loops::Told;
use lanebook_tables::IndexOp;

/// Threads of a word.
const WORD: u32 = 32;

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
            let word = |thread| u64::from(told.inference.iteration_of(number, thread).is_some());
            let bit = self.bit_of_thread(executing, |thread| word(thread))?;
            if let Some(bit) = bit {
                let guard = self.arena.op_const(IndexOp::Shl, bit, u64::from(WORD - 1))?;
                self.keep_word(&mut out.guard, guard)?;
            }
        }
        let place = told.inference.arena.substitute(spread.index, &out.vars).map_err(&full)?;
        out.place = u16::try_from(number).ok().map(|number| (place, number));
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
        let mut node = self.arena.constant(0)?;
        let bits = u64::BITS.saturating_sub(digits.extent.saturating_sub(1).leading_zeros());
        for bit in 0..bits {
            let inference = &told.inference;
            let value = |thread| digits.at(inference, slot, thread).unwrap_or(0);
            let of = |thread| value(thread).checked_shr(bit).unwrap_or(0) & 1;
            if let Some(own) = self.bit_of_thread(executing, of)? {
                let own = self.arena.op_const(IndexOp::Shl, own, u64::from(bit))?;
                node = self.arena.op(IndexOp::Add, &[node, own])?;
            }
        }
        let extent = u32::try_from(digits.extent).map_err(|_| refused(op, ElementReason::Form))?;
        let own = told.inference.arena.var(extent, VarRole::Output).map_err(&full)?;
        let slot = u16::try_from(slot).map_err(|_| refused(op, ElementReason::Room))?;
        let known = LookupVar { var: own, of: var, slot, node: node.0 };
        if !told.inference.note_lookup(known) {
            return Err(refused(op, ElementReason::Room));
        }
        told.inference.arena.whole(own).map_err(&full)
    }

    /// A bit that each thread has; `None` where it is 0 in all of them.
    fn bit_of_thread(
        &mut self,
        executing: &ExecutingThreads,
        bit: impl Fn(u32) -> u64,
    ) -> Result<Option<ExprId>, EmitError> {
        let ExecutingThreads { thread, threads: (_, count, _), .. } = *executing;
        let word = |first: u32| {
            let own = (0..WORD).filter(|at| {
                let thread = first.saturating_add(*at);
                thread < count && bit(thread) == 1
            });
            own.fold(0u32, |word, at| word | 1u32.wrapping_shl(at))
        };
        let mut before = word(0);
        let mut chosen = self.arena.constant(before)?;
        let mut is_zero = before == 0;
        for first in (WORD..count).step_by(WORD as usize) {
            let own = word(first);
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

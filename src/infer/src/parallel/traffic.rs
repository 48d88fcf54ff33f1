//! What a spread loop asks of memory.

use crate::arena::{BaseDigit, BaseId, FormArena, IndexForm, VarRole};
use crate::error::{FormError, FormResult};
use crate::form::ceil_div;
use crate::inference::Inference;
use crate::points::Tape;
use crate::program::{Access, FragmentForm, MemoryScope, Operator};
use crate::solve::{MAX_VARS, Solution};
use lanebook_tables::CostPolicy;

/// Distinct sectors that one access of a wave is told apart by; further ones count as no more.
const MAX_SECTORS: usize = 128;

/// An iteration by its thread and local index.
struct Iteration {
    thread: BaseId,
    index: BaseId,
    solved: Solution,
    /// The thread of that iteration: another one where the thread has none.
    executes: IndexForm,
    /// Which copy of the loop it is.
    copy: BaseId,
}

impl Iteration {
    /// Whether the thread has the iteration that is on the tape: its variables are in their ranges,
    /// and lead back to the thread. Copies but the first leave memory as it is.
    fn is_executed(
        &self,
        arena: &FormArena<'_>,
        tape: &Tape,
        thread: u32,
        write: bool,
    ) -> FormResult<bool> {
        for (var, form) in &self.solved.vars {
            let value = tape.value(arena, *form)?;
            let outside = value < 0 || value >= i64::from(arena.extent(*var)?);
            if outside || write && *var == self.copy && value != 0 {
                return Ok(false);
            }
        }
        Ok(tape.value(arena, self.executes)? == i64::from(thread))
    }
}

impl Inference<'_> {
    /// What a wave of the loop asks of memory, by the prices of a policy.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    pub(crate) fn traffic(
        &mut self,
        op: &Operator,
        spread: &FragmentForm,
        policy: &CostPolicy<'_>,
    ) -> FormResult<u64> {
        let far = self
            .accesses_of(op)
            .iter()
            .any(|a| self.buffer_of(a.buffer).is_ok_and(|b| b.scope != MemoryScope::Fragment));
        if !far {
            return Ok(0);
        }
        let by = self.iteration(op, spread)?;
        let mut sum = 0u64;
        for k in 0..usize::from(op.accesses.1) {
            let Some(access) = self.accesses_of(op).get(k).copied() else { break };
            if self.buffer_of(access.buffer)?.scope != MemoryScope::Fragment {
                let (accesses, sectors) = self.asked(op, spread, &access, &by)?;
                let issued = accesses.saturating_mul(u64::from(policy.access));
                let moved = sectors.saturating_mul(u64::from(policy.sector));
                sum = sum.saturating_add(issued.max(moved));
            }
        }
        Ok(sum)
    }

    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn iteration(&mut self, op: &Operator, spread: &FragmentForm) -> FormResult<Iteration> {
        let arena = &mut self.arena;
        let thread = arena.var(op.threads.1, VarRole::Output)?;
        let index = arena.var(spread.slots, VarRole::Output)?;
        let (t, i) = (arena.whole(thread)?, arena.whole(index)?);
        let vars = op.vars.with(Some(spread.copy));
        let mut solved = Solution::default();
        arena.solve(&[(t, spread.thread), (i, spread.index)], &vars, &mut solved)?;
        let executes = arena.substitute(spread.thread, &solved.vars)?;
        Ok(Iteration { thread, index, solved, executes, copy: spread.copy })
    }

    /// The instructions of an access, and the sectors that they move: none of shared memory.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn asked(
        &mut self,
        op: &Operator,
        spread: &FragmentForm,
        access: &Access,
        by: &Iteration,
    ) -> FormResult<(u64, u64)> {
        let buffer = *self.buffer_of(access.buffer)?;
        let address = self.element_of(access)?;
        let address = self.arena.substitute(address, &by.solved.vars)?;
        let mut vector = self.machine.access_bits.checked_div(buffer.bits).unwrap_or(1).max(1);
        while vector > 1 && !self.runs(address, by.index, spread.slots, vector)? {
            vector >>= 1;
        }
        let times = u64::from(ceil_div(spread.slots, vector));
        if buffer.scope == MemoryScope::Shared {
            return Ok((times, 0));
        }
        let wide = (vector, buffer.bits);
        let sectors = self.sectors((address, access.write), by, wide, op.threads.1)?;
        Ok((times, times.saturating_mul(sectors)))
    }

    /// Whether `vector` neighbouring local indices are neighbours in memory.
    fn runs(
        &mut self,
        address: IndexForm,
        index: BaseId,
        slots: u32,
        vector: u32,
    ) -> FormResult<bool> {
        if slots.checked_rem(vector) != Some(0) {
            return Ok(false);
        }
        let (_, within) = self.arena.div_rem(address, i64::from(vector))?;
        let own = self.arena.digit(BaseDigit { base: index, unit: 1, extent: vector })?;
        Ok(self.arena.same(own, within))
    }

    /// Distinct sectors of a wave's first access, of so many elements of so many bits: of the first and
    /// the last wave in the mean.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn sectors(
        &self,
        (address, write): (IndexForm, bool),
        by: &Iteration,
        (vector, bits): (u32, u32),
        threads: u32,
    ) -> FormResult<u64> {
        let mut maps: heapless::Vec<IndexForm, { MAX_VARS + 2 }> = heapless::Vec::new();
        let forms = by.solved.vars.iter().map(|(_, form)| *form);
        for map in [address, by.executes].into_iter().chain(forms) {
            let _ = maps.push(map);
        }
        let (mut tape, tells) = match Tape::new(&self.arena, &maps) {
            Ok(tape) => (tape, true),
            // Too many maps to follow at once: every thread counts.
            Err(_) => (Tape::new(&self.arena, &[address])?, false),
        };
        // Threads of the first wave and of the last one: those between do as these.
        let wave = self.machine.wave.max(1);
        let last = threads.saturating_sub(1).checked_div(wave).unwrap_or(0).saturating_mul(wave);
        let waves: &[u32] = if last > 0 { &[0, last] } else { &[0] };
        let mut sum = 0usize;
        for start in waves {
            let mut seen: heapless::Vec<i64, MAX_SECTORS> = heapless::Vec::new();
            for thread in *start..threads.min(start.saturating_add(wave)) {
                tape.set(by.thread, i64::from(thread));
                tape.derive(&self.arena)?;
                if tells && !by.is_executed(&self.arena, &tape, thread, write)? {
                    continue;
                }
                let element = tape.value(&self.arena, address)?;
                let first = element.checked_mul(i64::from(bits)).ok_or(FormError::Overflow)? >> 3;
                let span = i64::from(vector.saturating_mul(bits) >> 3).max(1);
                for byte in [first, first.saturating_add(span.saturating_sub(1))] {
                    let sector =
                        byte.checked_div(i64::from(self.machine.sector_bytes)).unwrap_or(0);
                    if !seen.contains(&sector) {
                        let _ = seen.push(sector);
                    }
                }
            }
            sum = sum.saturating_add(seen.len());
        }
        Ok(u64::try_from(sum.div_ceil(waves.len())).unwrap_or(u64::MAX))
    }
}

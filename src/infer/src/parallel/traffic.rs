//! What a spread loop asks of memory.

use crate::arena::{BaseDigit, BaseId, IndexForm, VarRole};
use crate::error::{FormError, FormResult};
use crate::form::ceil_div;
use crate::inference::Inference;
use crate::points::Tape;
use crate::program::{Access, FragmentForm, MemoryScope, Operator};
use crate::solve::Solution;
use lanebook_tables::CostPolicy;

/// Distinct sectors that one access of a wave is told apart by; further ones count as no more.
const MAX_SECTORS: usize = 128;

/// An iteration by its thread and local index.
struct Iteration {
    thread: BaseId,
    index: BaseId,
    solved: Solution,
}

impl Inference<'_> {
    /// What the loop's first wave asks of memory, by the prices of a policy.
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
        Ok(Iteration { thread, index, solved })
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
        let sectors = self.sectors(address, by, vector, buffer.bits, op.threads.1)?;
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

    /// Distinct sectors of the first wave's first access.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn sectors(
        &self,
        address: IndexForm,
        by: &Iteration,
        vector: u32,
        bits: u32,
        threads: u32,
    ) -> FormResult<u64> {
        let mut tape = Tape::new(&self.arena, &[address])?;
        let mut seen: heapless::Vec<i64, MAX_SECTORS> = heapless::Vec::new();
        for thread in 0..threads.min(self.machine.wave) {
            tape.set(by.thread, i64::from(thread));
            tape.derive(&self.arena)?;
            let element = tape.value(&self.arena, address)?;
            let first = element.checked_mul(i64::from(bits)).ok_or(FormError::Overflow)? >> 3;
            let span = i64::from(vector.saturating_mul(bits) >> 3).max(1);
            for byte in [first, first.saturating_add(span.saturating_sub(1))] {
                let sector = byte.checked_div(i64::from(self.machine.sector_bytes)).unwrap_or(0);
                if !seen.contains(&sector) {
                    let _ = seen.push(sector);
                }
            }
        }
        Ok(u64::try_from(seen.len()).unwrap_or(u64::MAX))
    }
}

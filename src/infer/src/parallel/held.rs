//! What threads hold of the fragments that a loop reads: registers chosen by a thread's number, and
//! fragments that every thread holds to read little of them.

use crate::arena::{IndexForm, VarRole};
use crate::error::FormResult;
use crate::inference::Inference;
use crate::program::{BufferId, FragmentForm, MemoryScope, Operator, OperatorId};

/// How many times its reads of a fragment a thread may hold of it, where others hold the same.
const WASTE: u64 = 32;

impl Inference<'_> {
    /// Bits of fragments whose local index, in this loop, depends on the thread.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    pub(crate) fn spills(&mut self, op: &Operator, spread: &FragmentForm) -> FormResult<u64> {
        let mut bits = 0u64;
        for k in 0..usize::from(op.accesses.1) {
            let Some(access) = self.accesses_of(op).get(k).copied() else { break };
            let buffer = *self.buffer_of(access.buffer)?;
            let Some(layout) = self.layout(access.buffer) else { continue };
            if buffer.scope != MemoryScope::Fragment {
                continue;
            }
            let index = self.arena.index_at(&layout, access.indices())?;
            if self.moves_with_thread(op, spread, index)? {
                let own = u64::from(layout.slots).saturating_mul(u64::from(buffer.bits));
                bits = bits.saturating_add(own);
            }
        }
        Ok(bits)
    }

    /// A fragment whose local index, in an operator's loop, depends on the thread, and which it does not write.
    ///
    /// # Errors
    /// [`FormError::Full`](crate::FormError::Full), [`FormError::Overflow`](crate::FormError::Overflow).
    #[doc(hidden)]
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    pub fn spilled(&mut self, id: OperatorId) -> FormResult<Option<BufferId>> {
        let op = *self.operator_of(id)?;
        let Some(spread) = self.spread(id) else { return Ok(None) };
        for k in 0..usize::from(op.accesses.1) {
            let Some(access) = self.accesses_of(&op).get(k).copied() else { break };
            let own = self.accesses_of(&op).iter();
            let written = own.clone().any(|other| other.write && other.buffer == access.buffer);
            let Some(layout) = self.layout(access.buffer) else { continue };
            if written || !self.is_fragment(access.buffer) {
                continue;
            }
            let index = self.arena.index_at(&layout, access.indices())?;
            if self.moves_with_thread(&op, &spread, index)? {
                return Ok(Some(access.buffer));
            }
        }
        Ok(None)
    }

    /// A fragment of which each thread holds more elements than its share of an operator's loop reads,
    /// which does not write it: one that all threads hold, or each many times as much.
    ///
    /// # Errors
    /// [`FormError::Stale`](crate::FormError::Stale).
    #[doc(hidden)]
    pub fn held_by_all(&self, id: OperatorId) -> FormResult<Option<BufferId>> {
        let op = *self.operator_of(id)?;
        let share = self.sizes(&op)?.0.div_ceil(u64::from(op.threads.1.max(1)));
        let own = self.accesses_of(&op);
        for access in own.iter().filter(|access| self.is_fragment(access.buffer)) {
            let Some(layout) = self.layout(access.buffer) else { continue };
            let same = own.iter().filter(|other| other.buffer == access.buffer);
            let written = same.clone().any(|other| other.write);
            let reads = u64::try_from(same.count()).unwrap_or(u64::MAX);
            let most = share.saturating_mul(reads);
            let held = u64::from(layout.slots);
            let is_wasted = layout.copies > 1 && held > most.saturating_mul(WASTE);
            let is_everywhere = layout.copies >= op.threads.1 && held > most;
            if !written && (is_everywhere || is_wasted) {
                return Ok(Some(access.buffer));
            }
        }
        Ok(None)
    }

    fn moves_with_thread(
        &mut self,
        op: &Operator,
        spread: &FragmentForm,
        index: IndexForm,
    ) -> FormResult<bool> {
        if index.is_constant() {
            return Ok(false);
        }
        let whole = self.arena.output(spread.index)?;
        let vars = op.vars.with(None);
        let mut solved = crate::solve::Solution::default();
        self.arena.solve(&[(whole, spread.index)], &vars, &mut solved)?;
        let by_index = self.arena.substitute(index, &solved.vars)?;
        self.arena.asks(by_index, VarRole::Copy)
    }
}

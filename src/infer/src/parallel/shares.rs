//! Rows of a reduction dealt out to groups of threads: where vectors of all iterations, dealt out
//! one after the other, would let rows begin in the middle of the threads.

use crate::error::{FormError, FormResult};
use crate::inference::Inference;
use crate::program::{FragmentForm, MemoryScope, Operator};

/// How a row is dealt out.
struct RowShare {
    /// Elements of a row, and rows.
    row: u32,
    rows: u64,
    /// Neighbours that a thread takes at once, and the threads of a group: a power of two.
    vector: u32,
    group: u32,
}

impl RowShare {
    /// Rows that all groups take at once.
    fn at_once(&self, threads: u32) -> u32 {
        threads.checked_div(self.group).unwrap_or(1).max(1)
    }

    /// Iterations of a thread in one row; the last ones of some threads are none where the group does
    /// not divide it.
    fn each(&self) -> u32 {
        let parts = self.row.checked_div(self.vector).unwrap_or(self.row);
        parts.div_ceil(self.group.max(1)).saturating_mul(self.vector)
    }

    /// Whether all threads of a group take as many.
    fn is_even(&self) -> bool {
        self.each().checked_mul(self.group) == Some(self.row)
    }

    /// Iterations of a thread.
    fn slots(&self, threads: u32) -> u64 {
        let turns = self.rows.div_ceil(u64::from(self.at_once(threads)));
        turns.saturating_mul(u64::from(self.each()))
    }
}

impl Inference<'_> {
    /// Whether a loop writes a fragment without a layout that is reduced, and its own plan lets rows
    /// begin in the middle of the threads.
    pub(crate) fn has_shares(&mut self, op: &Operator) -> FormResult<bool> {
        if op.vars.len() < 2 || self.spread_known(op) {
            return Ok(false);
        }
        let reduced = self.accesses_of(op).iter().filter(|access| access.write).any(|access| {
            let own = self.buffer_of(access.buffer).ok();
            let storage = own.and_then(|own| self.buffer_of(own.storage).ok());
            storage.is_some_and(|own| own.scope == MemoryScope::Fragment && own.is_reduced)
        });
        if !reduced {
            return Ok(false);
        }
        let (total, row) = self.sizes(op)?;
        let vector = self.plan_vector(op, false, (total, row))?;
        let turn = u64::from(op.threads.1.max(1)).saturating_mul(u64::from(vector));
        let divides = |a: u64, b: u64| b.checked_rem(a) == Some(0);
        let even = turn >= total || divides(row, turn) || divides(turn, row);
        Ok(!even && self.share(op)?.is_some())
    }

    /// The share with the fewest iterations a thread, of those the widest vector and the largest group.
    /// Rows of which no vector is shared evenly are shared element by element.
    fn share(&mut self, op: &Operator) -> FormResult<Option<RowShare>> {
        let (total, row) = self.sizes(op)?;
        let threads = op.threads.1.max(1);
        let rows = total.checked_div(row).unwrap_or(0);
        let row = u32::try_from(row).map_err(|_| FormError::Overflow)?;
        let widest = self.bounded_vector(op, false)?.max(1);
        let mut best: Option<RowShare> = None;
        for bit in 0..=widest.ilog2() {
            let vector = widest.checked_shr(bit).unwrap_or(1);
            let parts = row.checked_div(vector).unwrap_or(0);
            let group = 1u32.checked_shl(parts.trailing_zeros().min(threads.trailing_zeros()));
            let whole = parts.checked_mul(vector) == Some(row);
            if let Some(group) = group.filter(|group| whole && *group > 1) {
                keep(&mut best, RowShare { row, rows, vector, group }, threads);
            }
        }
        let mut group = 1u32.checked_shl(threads.trailing_zeros()).unwrap_or(1);
        while best.as_ref().is_none_or(|best| !best.is_even()) && group > 1 {
            if group <= row {
                keep(&mut best, RowShare { row, rows, vector: 1, group }, threads);
            }
            group >>= 1;
        }
        Ok(best)
    }

    /// Neighbouring vectors of a row on neighbouring threads of a group, rows on neighbouring
    /// groups.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    pub(crate) fn plan_shares(&mut self, op: &Operator) -> FormResult<FragmentForm> {
        let Some(share) = self.share(op)? else { return self.plan(op, false) };
        let at_once = share.at_once(op.threads.1.max(1));
        let flat = self.arena.row_major(op.vars)?;
        let (row, inner) = self.arena.div_rem(flat, i64::from(share.row))?;
        let (vector, within) = self.arena.div_rem(inner, i64::from(share.vector))?;
        let (again, member) = self.arena.div_rem(vector, i64::from(share.group))?;
        let (turn, group) = self.arena.div_rem(row, i64::from(at_once))?;
        let thread = self.arena.add_scaled(member, group, i64::from(share.group))?;
        let index = self.arena.add_scaled(within, again, i64::from(share.vector))?;
        let index = self.arena.add_scaled(index, turn, i64::from(share.each()))?;
        let mut out = self.spread_copies(op, thread, index)?;
        out.padded = share.rows.checked_rem(u64::from(at_once)) != Some(0) || !share.is_even();
        Ok(out)
    }
}

/// Keeps a share of fewer iterations than the best.
fn keep(best: &mut Option<RowShare>, own: RowShare, threads: u32) {
    if best.as_ref().is_none_or(|best| own.slots(threads) < best.slots(threads)) {
        *best = Some(own);
    }
}

//! ComputePlanCandidate and GetVectorizeSize: a loop's own plan, neighbouring vectors of iterations on
//! neighbouring threads.

use crate::arena::{BaseId, IndexForm, VarRole};
use crate::error::{FormError, FormResult};
use crate::inference::Inference;
use crate::program::{Access, FragmentForm, MemoryScope, Operator};

impl Inference<'_> {
    /// ComputePlanCandidate: neighbouring vectors of iterations on neighbouring threads.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    pub(super) fn plan(&mut self, op: &Operator, by_rows: bool) -> FormResult<FragmentForm> {
        let threads = op.threads.1.max(1);
        let (total, row) = self.sizes(op)?;
        let vector = self.plan_vector(op, by_rows, (total, row))?;
        let per_turn = u64::from(threads).saturating_mul(u64::from(vector)).max(1);
        let flat = self.arena.row_major(op.vars)?;
        let (group, within) = self.arena.div_rem(flat, i64::from(vector))?;
        let (turn, thread) = self.arena.div_rem(group, i64::from(threads))?;
        let index = self.arena.add_scaled(within, turn, i64::from(vector))?;
        let mut out = self.spread_copies(op, thread, index)?;
        out.padded = total.checked_rem(per_turn) != Some(0);
        Ok(out)
    }

    /// Iterations of a loop, and of its innermost variable.
    pub(super) fn sizes(&self, op: &Operator) -> FormResult<(u64, u64)> {
        let (mut total, mut row) = (1u64, 1u64);
        for var in op.vars.iter() {
            row = u64::from(self.arena.extent(var)?);
            total = total.saturating_mul(row);
        }
        Ok((total, row))
    }

    /// The vector of a loop's own plan.
    pub(super) fn plan_vector(
        &mut self,
        op: &Operator,
        by_rows: bool,
        (total, row): (u64, u64),
    ) -> FormResult<u32> {
        let threads = op.threads.1.max(1);
        let fragments = self.touches_fragment(op);
        let mut vector = self.bounded_vector(op, !fragments)?;
        let per_turn = |v: u32| u64::from(threads).saturating_mul(u64::from(v)).max(1);
        if fragments {
            let whole = if by_rows { row } else { total };
            while vector > 1 && whole.checked_rem(per_turn(vector)) != Some(0) {
                vector >>= 1;
            }
        } else if op.vector.is_none() {
            let padded = |v: u32| total.div_ceil(per_turn(v)).saturating_mul(per_turn(v));
            let mut best = vector;
            let mut v = vector >> 1;
            while v >= 1 {
                if padded(v) < padded(best) {
                    best = v;
                }
                v >>= 1;
            }
            vector = best;
        }
        Ok(vector)
    }

    /// The vector of all accesses of a loop, within what the loop says.
    pub(super) fn bounded_vector(&mut self, op: &Operator, fused: bool) -> FormResult<u32> {
        let mut vector = self.vector(op, fused)?;
        if let Some(most) = op.vector {
            while vector > most.max(1) {
                vector >>= 1;
            }
        }
        Ok(vector)
    }

    /// The points of a loop's outer variables on neighbouring threads; a thread does all of the others.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    pub(super) fn plan_outer(&mut self, op: &Operator, outer: u8) -> FormResult<FragmentForm> {
        let threads = op.threads.1.max(1);
        if outer == 0 {
            return self.arena.on_all_threads(op.vars, threads);
        }
        let flat = self.arena.row_major(op.vars)?;
        let mut each = 1i64;
        for var in op.vars.iter().skip(usize::from(outer)) {
            let extent = i64::from(self.arena.extent(var)?);
            each = each.checked_mul(extent).ok_or(FormError::Overflow)?;
        }
        let (group, within) = self.arena.div_rem(flat, each)?;
        let (turn, thread) = self.arena.div_rem(group, i64::from(threads))?;
        let index = self.arena.add_scaled(within, turn, each)?;
        self.spread_copies(op, thread, index)
    }

    /// A loop's layout from its maps, with as many copies as there are threads for.
    pub(super) fn spread_copies(
        &mut self,
        op: &Operator,
        thread: IndexForm,
        index: IndexForm,
    ) -> FormResult<FragmentForm> {
        let threads = op.threads.1.max(1);
        let (_, last) = self.arena.range(thread)?;
        let used = u32::try_from(last).map_err(|_| FormError::Overflow)?.saturating_add(1);
        let fragments = self.touches_fragment(op);
        let times = if fragments { threads.checked_div(used).unwrap_or(1).max(1) } else { 1 };
        let copy = self.arena.var(times, VarRole::Copy)?;
        let digit = self.arena.whole(copy)?;
        let thread = self.arena.add_scaled(thread, digit, i64::from(used))?;
        self.arena.fragment(op.vars, copy, thread, index)
    }

    /// Whether a loop meets a fragment without a layout at several places in one iteration.
    pub(crate) fn has_forms(&self, op: &Operator) -> bool {
        let own = self.accesses_of(op);
        own.iter().enumerate().any(|(k, access)| {
            let others = own.iter().take(k).filter(|other| other.buffer == access.buffer);
            let same = |other: &Access| {
                let pairs = other.indices().iter().zip(access.indices());
                pairs.into_iter().all(|(a, b)| self.arena.same(*a, *b))
            };
            self.is_fragment(access.buffer)
                && self.layout(access.buffer).is_none()
                && others.into_iter().any(|other| !same(other))
        })
    }

    /// Whether another vector would let all threads together take whole parts of the loop's rows.
    pub(crate) fn has_rows(&mut self, op: &Operator) -> FormResult<bool> {
        let Some(inner) = op.vars.iter().next_back() else { return Ok(false) };
        let row = self.arena.extent(inner)?;
        let even = row.checked_rem(op.threads.1.max(1)) == Some(0);
        if op.vars.len() < 2 || !even || !self.touches_fragment(op) || self.spread_known(op) {
            return Ok(false);
        }
        let vector = self.vector(op, false)?;
        let turn = op.threads.1.max(1).saturating_mul(vector);
        Ok(row.checked_rem(turn) != Some(0))
    }

    pub(crate) fn spread_known(&self, op: &Operator) -> bool {
        let own = self.accesses_of(op).iter().filter(|a| self.is_fragment(a.buffer));
        own.clone().any(|a| self.layout(a.buffer).is_some())
    }

    /// GetVectorizeSize: how many neighbouring iterations one access serves, for all accesses to
    /// memory.
    fn vector(&mut self, op: &Operator, fused: bool) -> FormResult<u32> {
        let mut vector = 0u32;
        let inner = op.vars.iter().next_back();
        for k in 0..usize::from(op.accesses.1) {
            let Some(access) = self.accesses_of(op).get(k).copied() else { break };
            let buffer = *self.buffer_of(access.buffer)?;
            let most = self.machine.access_bits.checked_div(buffer.bits).unwrap_or(1).max(1);
            let here = if buffer.scope == MemoryScope::Fragment {
                most
            } else {
                self.neighbours(op, &access, inner, most, fused)?
            };
            vector = if vector == 0 { here } else { vector.min(here) };
        }
        Ok(vector.max(1))
    }

    /// How many neighbouring iterations an access meets as neighbours, at most `most`.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn neighbours(
        &mut self,
        op: &Operator,
        access: &Access,
        inner: Option<BaseId>,
        most: u32,
        fused: bool,
    ) -> FormResult<u32> {
        let address = self.element_of(access)?;
        let Some(inner) = inner else { return Ok(1) };
        let flat = self.arena.row_major(op.vars)?;
        if fused && self.arena.same(flat, address) {
            let total = op.vars.iter().try_fold(1u32, |n, v| {
                n.checked_mul(self.arena.extent(v)?).ok_or(FormError::Overflow)
            })?;
            return Ok(divisor(most, total));
        }
        let extent = self.arena.extent(inner)?;
        let mut vector = divisor(most, extent);
        while vector > 1 && !self.contiguous(address, inner, vector)? {
            vector >>= 1;
        }
        Ok(vector)
    }

    /// Whether `vector` neighbouring values of `inner` are neighbours at addresses that divide by
    /// it, or the address does not move with them.
    fn contiguous(&mut self, address: IndexForm, inner: BaseId, vector: u32) -> FormResult<bool> {
        let (_, within) = self.arena.div_rem(address, i64::from(vector))?;
        let own =
            self.arena.digit(crate::arena::BaseDigit { base: inner, unit: 1, extent: vector })?;
        if self.arena.same(own, within) {
            return Ok(true);
        }
        let mut moves = false;
        for t in self.arena.terms_of(address) {
            moves |= t.digit.base == inner && t.digit.unit < vector;
        }
        let derived = self.arena.bases_under(&[address])?;
        for id in &derived {
            if !matches!(self.arena.base(*id)?, crate::arena::FormBase::Var { .. }) {
                let form = self.arena.whole(*id)?;
                moves |= self.arena.mentions(form, |b, _| b == inner)?;
            }
        }
        Ok(!moves)
    }
}

/// The greatest power of two up to `most` that divides `n`.
fn divisor(most: u32, n: u32) -> u32 {
    let mut d = most.max(1);
    while d > 1 && n.checked_rem(d) != Some(0) {
        d >>= 1;
    }
    d
}

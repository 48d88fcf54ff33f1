//! Parallel loops: how one is spread over threads, and what that says of its buffers; what it asks
//! of memory (`traffic`); iterations that meet (`race`).

mod race;
mod shares;
mod traffic;

pub use race::Race;

use crate::arena::{BaseId, IndexForm, VarRole};
use crate::error::{FormError, FormResult};
use crate::event::{InferenceEvent, Level, Listener, Reason, SpreadSource};
use crate::inference::{Inference, Stop};
use crate::program::{
    Access, BufferId, FragmentForm, MemoryScope, Operator, OperatorId, PlanShape, VarRange,
};

/// What an operator says when asked: whether a buffer got its layout.
pub(crate) type Answer = core::result::Result<bool, Stop>;

impl Inference<'_> {
    /// Asks a parallel loop.
    pub(crate) fn infer_parallel(
        &mut self,
        id: OperatorId,
        level: Level,
        listener: &mut dyn Listener,
    ) -> Answer {
        let op = *self.operator_of(id)?;
        if level == Level::Strict {
            return self.infer_constant_accesses(id, &op, listener);
        }
        let spread = match self.spread(id) {
            Some(spread) => spread,
            None => match self.choose_spread(id, &op, level, listener)? {
                Some((spread, source)) => {
                    listener.event(self, InferenceEvent::Spread(id, level, source, spread));
                    self.set_loop(id, spread)?;
                    spread
                }
                None => {
                    listener.event(self, InferenceEvent::Waits(id, level));
                    return Ok(false);
                }
            },
        };
        if let Some(reason) = self.check_spread(&op, &spread)? {
            self.reject(listener, (id, level), reason, Some(&spread), None);
            return Err(Stop::Rejected { operator: id, reason });
        }
        self.complete_buffers(id, &op, &spread, level, listener)
    }

    /// A fragment that a loop accesses at constant indices alone lies on all threads, unless it is
    /// left by a reduction: that has it where the rows are.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn infer_constant_accesses(
        &mut self,
        id: OperatorId,
        op: &Operator,
        listener: &mut dyn Listener,
    ) -> Answer {
        let mut changed = false;
        for k in 0..usize::from(op.accesses.1) {
            let Some(access) = self.accesses_of(op).get(k).copied() else { break };
            let buffer = *self.buffer_of(access.buffer)?;
            let open =
                buffer.scope == MemoryScope::Fragment && self.layout(access.buffer).is_none();
            let is_result = self.buffer_of(buffer.storage).is_ok_and(|own| own.is_result);
            if !open || is_result || !self.constant_alone(op, access.buffer) {
                continue;
            }
            let fragment = self.arena.on_all_threads(buffer.dims, op.threads.1)?;
            self.lay(access.buffer, fragment)?;
            listener.event(self, InferenceEvent::Laid(id, Level::Strict, access.buffer, fragment));
            changed = true;
        }
        if !changed {
            listener.event(self, InferenceEvent::Waits(id, Level::Strict));
        }
        Ok(changed)
    }

    /// Whether all accesses to the buffer are at constant indices.
    fn constant_alone(&self, op: &Operator, buffer: BufferId) -> bool {
        let own = self.accesses_of(op).iter().filter(|a| a.buffer == buffer);
        own.clone().all(|a| a.indices().iter().all(IndexForm::is_constant))
    }

    fn is_fragment(&self, buffer: BufferId) -> bool {
        self.buffer_of(buffer).is_ok_and(|b| b.scope == MemoryScope::Fragment)
    }

    pub(crate) fn touches_fragment(&self, op: &Operator) -> bool {
        self.accesses_of(op).iter().any(|a| self.is_fragment(a.buffer))
    }

    /// How the loop is spread, and where that comes from.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn choose_spread(
        &mut self,
        id: OperatorId,
        op: &Operator,
        level: Level,
        listener: &mut dyn Listener,
    ) -> core::result::Result<Option<(FragmentForm, SpreadSource)>, Stop> {
        let sources = self.sources(op);
        if let Some(source) = sources.chosen
            && (sources.propagates || source.write)
        {
            return match self.spread_by_buffer(op, &source)? {
                Ok(spread) => Ok(Some((spread, SpreadSource::Buffer(source.buffer)))),
                Err(reason) => {
                    self.reject(listener, (id, level), reason, None, None);
                    Err(Stop::Rejected { operator: id, reason })
                }
            };
        }
        if level != Level::Free {
            return Ok(None);
        }
        let read = sources.read.filter(|_| sources.propagates);
        self.best_candidate(id, op, read, listener)
    }

    /// The buffers whose layouts could spread the loop.
    fn sources(&self, op: &Operator) -> SpreadSources {
        let mut out = SpreadSources { chosen: None, read: None, propagates: true };
        let (mut fragments, mut constants) = (0u32, 0u32);
        for (k, access) in self.accesses_of(op).iter().enumerate() {
            if !self.is_fragment(access.buffer) {
                continue;
            }
            let before = self.accesses_of(op).get(..k).unwrap_or(&[]);
            if before.iter().all(|a| a.buffer != access.buffer) {
                fragments = fragments.saturating_add(1);
                let constant = self.constant_alone(op, access.buffer);
                constants = constants.saturating_add(u32::from(constant));
            }
            let Some(layout) = self.layout(access.buffer) else { continue };
            if access.write {
                out.chosen = Some(*access);
                continue;
            }
            if out.read.is_none_or(|r| access.rank > r.rank) {
                out.read = Some(*access);
            }
            if layout.copies == 1 && out.chosen.is_none() {
                out.chosen = Some(*access);
            }
        }
        out.propagates = constants == 0 || fragments > constants;
        out
    }

    /// ComputeLoopLayoutFromBuffer: the loop's thread is that of the element it accesses.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn spread_by_buffer(
        &mut self,
        op: &Operator,
        access: &Access,
    ) -> FormResult<core::result::Result<FragmentForm, Reason>> {
        let buffer = access.buffer;
        let Some(layout) = self.layout(buffer) else {
            return Ok(Err(Reason::Nothing));
        };
        let threads = self.arena.threads_at(&layout, access.indices())?;
        if self.arena.asks(threads.map, VarRole::Inner)? {
            return Ok(Err(Reason::InnerVariable { buffer }));
        }
        let index = self.arena.index_at(&layout, access.indices());
        if self.identity(op, access)? {
            let index = index?;
            return self.arena.fragment(op.vars, layout.copy, threads.map, index).map(Ok);
        }
        let spread = self.arena.by_threads(op.vars, layout.copy, threads.map)?;
        let index = index.ok();
        self.in_fewer_places(spread, index).map(Ok)
    }

    /// A layout with another local index, where that has fewer places and still keeps all apart that
    /// lies in the same thread. Where that cannot be told the layout stays.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn in_fewer_places(
        &mut self,
        own: FragmentForm,
        index: Option<IndexForm>,
    ) -> FormResult<FragmentForm> {
        let Some(index) = index else { return Ok(own) };
        for role in [VarRole::Copy, VarRole::Outer, VarRole::Inner] {
            if self.arena.asks(index, role)? {
                return Ok(own);
            }
        }
        let Ok(other) = self.arena.fragment(own.vars, own.copy, own.thread, index) else {
            return Ok(own);
        };
        let fits = other.slots < own.slots;
        let fits = fits && self.arena.injective(&other, self.points) == Ok(true);
        Ok(if fits { other } else { own })
    }

    /// Whether the access is at the loop's variables, in order.
    fn identity(&mut self, op: &Operator, access: &Access) -> FormResult<bool> {
        if op.vars.len() != access.indices().len() {
            return Ok(false);
        }
        for (var, index) in op.vars.iter().zip(access.indices()) {
            let whole = self.arena.whole(var)?;
            if !self.arena.same(whole, *index) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether some access of the loop is at its variables, in order, and reaches all of the buffer.
    fn covers(&mut self, op: &Operator, buffer: BufferId) -> FormResult<bool> {
        let dims = self.buffer_of(buffer)?.dims;
        for k in 0..usize::from(op.accesses.1) {
            let Some(access) = self.accesses_of(op).get(k).copied() else { break };
            if access.buffer != buffer || !self.identity(op, &access)? {
                continue;
            }
            let extents = |vars: VarRange| vars.iter().map(|var| self.arena.extent(var).ok());
            if extents(op.vars).eq(extents(dims)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// ChooseBestCandidate: of the layout by a buffer that is read, and the plan.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn best_candidate(
        &mut self,
        id: OperatorId,
        op: &Operator,
        read: Option<Access>,
        listener: &mut dyn Listener,
    ) -> core::result::Result<Option<(FragmentForm, SpreadSource)>, Stop> {
        let mut by_buffer = None;
        if let Some(access) = read
            && let Ok(spread) = self.spread_by_buffer(op, &access)?
        {
            match self.check_spread(op, &spread)? {
                None => by_buffer = Some((spread, SpreadSource::Buffer(access.buffer))),
                Some(reason) => {
                    self.reject(listener, (id, Level::Free), reason, Some(&spread), None)
                }
            }
        }
        let shape = self.planned.filter(|(root, _)| *root == id).map(|(_, shape)| shape);
        let shape = shape.unwrap_or_default();
        let mut plan = Some(match shape {
            PlanShape::Outer(outer) => self.plan_outer(op, outer)?,
            PlanShape::Shares => self.plan_shares(op)?,
            shape => self.plan(op, shape == PlanShape::Rows)?,
        });
        if let Some(spread) = plan
            && let Some(reason) = self.check_spread(op, &spread)?
        {
            self.reject(listener, (id, Level::Free), reason, Some(&spread), None);
            plan = None;
        }
        let plan = plan.map(|p| (p, SpreadSource::Plan));
        Ok(match (by_buffer, plan) {
            (Some(b), Some(p)) => Some(self.better(op, b, p)?),
            (None, None) => {
                if let Some(by_held) = self.spread_by_held(op)? {
                    return Ok(Some(by_held));
                }
                let vars = op.vars;
                let all = self.arena.on_all_threads(vars, op.threads.1)?;
                Some((all, SpreadSource::EveryThread))
            }
            (b, p) => b.or(p),
        })
    }

    /// A spread by the layout of some fragment that is read, which holds for all that the loop accesses:
    /// where an element at constant indices lies on some threads alone.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn spread_by_held(
        &mut self,
        op: &Operator,
    ) -> FormResult<Option<(FragmentForm, SpreadSource)>> {
        for k in 0..usize::from(op.accesses.1) {
            let Some(access) = self.accesses_of(op).get(k).copied() else { break };
            if !self.is_fragment(access.buffer) || self.layout(access.buffer).is_none() {
                continue;
            }
            if let Ok(spread) = self.spread_by_buffer(op, &access)?
                && self.check_spread(op, &spread)?.is_none()
            {
                return Ok(Some((spread, SpreadSource::Buffer(access.buffer))));
            }
        }
        Ok(None)
    }

    fn better(
        &mut self,
        op: &Operator,
        b: (FragmentForm, SpreadSource),
        p: (FragmentForm, SpreadSource),
    ) -> FormResult<(FragmentForm, SpreadSource)> {
        let (spills_b, spills_p) = (self.spills(op, &b.0)?, self.spills(op, &p.0)?);
        if (spills_b == 0) != (spills_p == 0) {
            return Ok(if spills_b == 0 { b } else { p });
        }
        let (in_b, in_p) = (self.arena.threads(&b.0), self.arena.threads(&p.0));
        let p_in_b = self.arena.contains(in_p, in_b)?;
        let b_in_p = self.arena.contains(in_b, in_p)?;
        if p_in_b != b_in_p {
            return Ok(if p_in_b { p } else { b });
        }
        Ok(if p.0.copies < b.0.copies { p } else { b })
    }

    /// ComputePlanCandidate: neighbouring vectors of iterations on neighbouring threads.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn plan(&mut self, op: &Operator, by_rows: bool) -> FormResult<FragmentForm> {
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
    fn sizes(&self, op: &Operator) -> FormResult<(u64, u64)> {
        let (mut total, mut row) = (1u64, 1u64);
        for var in op.vars.iter() {
            row = u64::from(self.arena.extent(var)?);
            total = total.saturating_mul(row);
        }
        Ok((total, row))
    }

    /// The vector of a loop's own plan.
    fn plan_vector(
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
    fn bounded_vector(&mut self, op: &Operator, fused: bool) -> FormResult<u32> {
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
    fn plan_outer(&mut self, op: &Operator, outer: u8) -> FormResult<FragmentForm> {
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
    fn spread_copies(
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

    /// ValidateCandidateAgainstFragments: a thread reads only what it holds, and who holds an
    /// element writes it.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    pub(crate) fn check_spread(
        &mut self,
        op: &Operator,
        spread: &FragmentForm,
    ) -> FormResult<Option<Reason>> {
        if !self.arena.within(spread.thread, op.threads.1)? {
            return Ok(Some(Reason::Threads { buffer: None }));
        }
        for k in 0..usize::from(op.accesses.1) {
            let Some(access) = self.accesses_of(op).get(k).copied() else { break };
            let buffer = access.buffer;
            if !self.is_fragment(buffer) {
                continue;
            }
            let Some(layout) = self.layout(buffer) else { continue };
            if let Some(reason) = self.refused_access(spread, &access, &layout)? {
                return Ok(Some(reason));
            }
        }
        Ok(None)
    }

    /// Whether who executes an access holds what it asks for, and who holds what it writes executes
    /// it.
    fn refused_access(
        &mut self,
        spread: &FragmentForm,
        access: &Access,
        layout: &FragmentForm,
    ) -> FormResult<Option<Reason>> {
        let buffer = access.buffer;
        let holders = self.arena.threads_at(layout, access.indices())?;
        let doers = self.arena.threads(spread);
        if !self.arena.contains(doers, holders)? {
            return Ok(Some(Reason::NotOwner { buffer }));
        }
        let unwritten = access.write && !self.arena.contains(holders, doers)?;
        Ok(unwritten.then_some(Reason::NotWritten { buffer }))
    }

    /// Gives the loop's fragments without a layout one that its threads can use.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn complete_buffers(
        &mut self,
        id: OperatorId,
        op: &Operator,
        spread: &FragmentForm,
        level: Level,
        listener: &mut dyn Listener,
    ) -> Answer {
        let mut changed = false;
        for k in 0..usize::from(op.accesses.1) {
            let Some(first) = self.accesses_of(op).get(k).copied() else { break };
            let buffer = first.buffer;
            if !self.is_fragment(buffer) || self.layout(buffer).is_some() {
                continue;
            }
            let written = self.accesses_of(op).iter().find(|a| a.buffer == buffer && a.write);
            let access = written.copied().unwrap_or(first);
            let written = access.write || self.writes_storage(op, buffer)?;
            let mut fragment = self.complete_fragment(op, spread, &access)?;
            let mut rejected = self.reject_fragment(op, spread, buffer, &fragment)?;
            if rejected.is_some() {
                let turned = self.complete_in_turn(op, spread, &access)?;
                if self.reject_fragment(op, spread, buffer, &turned)?.is_none() {
                    (fragment, rejected) = (turned, None);
                }
            }
            let mut found = Some(fragment);
            if let Some(reason) = rejected {
                let dims = self.buffer_of(buffer)?.dims;
                let all = self.arena.on_all_threads(dims, op.threads.1)?;
                found = (!written).then_some(all);
                rejected = Some(reason);
            }
            let Some(fragment) = found else {
                let reason = rejected.unwrap_or(Reason::NotOwner { buffer });
                self.reject(listener, (id, level), reason, Some(spread), Some(&fragment));
                return Err(Stop::Rejected { operator: id, reason });
            };
            self.lay(buffer, fragment)?;
            listener.event(self, InferenceEvent::Laid(id, level, buffer, fragment));
            changed = true;
        }
        Ok(changed)
    }

    /// CompleteBufferFragment: an element is held by the threads whose iterations access it.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn complete_fragment(
        &mut self,
        op: &Operator,
        spread: &FragmentForm,
        access: &Access,
    ) -> FormResult<FragmentForm> {
        let dims = self.buffer_of(access.buffer)?.dims;
        if self.identity(op, access)? {
            let mut map = crate::solve::VarForms::new();
            for (var, dim) in op.vars.iter().zip(dims.iter()) {
                let whole = self.arena.whole(dim)?;
                map.push((var, whole)).map_err(|_| crate::arena::too_many())?;
            }
            let thread = self.arena.substitute(spread.thread, &map)?;
            let index = self.arena.substitute(spread.index, &map)?;
            return self.arena.fragment(dims, spread.copy, thread, index);
        }
        let (fragment, index) = self.arena.of_access(spread, dims, access.indices())?;
        self.in_fewer_places(fragment, index)
    }

    /// [`Self::complete_fragment`], with elements beyond those that the loop accesses on its threads
    /// in turn, from the first on.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn complete_in_turn(
        &mut self,
        op: &Operator,
        spread: &FragmentForm,
        access: &Access,
    ) -> FormResult<FragmentForm> {
        let dims = self.buffer_of(access.buffer)?.dims;
        let mut solved = self.arena.solve_access(op.vars, dims, access.indices())?;
        for (var, form) in &mut solved.vars {
            let extent = i64::from(self.arena.extent(*var)?);
            *form = self.arena.div_rem(*form, extent)?.1;
        }
        let thread = self.arena.substitute(spread.thread, &solved.vars)?;
        let (thread, copy) = self.arena.merge_copies(thread)?;
        let (thread, copy) = self.arena.condensed(thread, copy)?;
        self.arena.by_threads(dims, copy, thread)
    }

    /// Why the loop cannot use this layout of the buffer, if it cannot.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn reject_fragment(
        &mut self,
        op: &Operator,
        spread: &FragmentForm,
        buffer: BufferId,
        fragment: &FragmentForm,
    ) -> FormResult<Option<Reason>> {
        for role in [VarRole::Outer, VarRole::Inner] {
            if self.arena.asks(fragment.thread, role)? || self.arena.asks(fragment.index, role)? {
                return Ok(Some(Reason::OuterVariable { buffer }));
            }
        }
        let (low, _) = self.arena.index_range(fragment.index)?;
        if low < 0 || !self.arena.within(fragment.thread, op.threads.1)? {
            return Ok(Some(Reason::Threads { buffer: Some(buffer) }));
        }
        if let Some(reason) = self.view_apart(buffer, fragment)? {
            return Ok(Some(reason));
        }
        // Beyond what the loop accesses nothing of its layout says where elements lie.
        if !self.covers(op, buffer)? && !self.arena.injective(fragment, self.points)? {
            return Ok(Some(Reason::NotInjective { buffer: Some(buffer) }));
        }
        for k in 0..usize::from(op.accesses.1) {
            let Some(access) = self.accesses_of(op).get(k).copied() else { break };
            let seen = if access.buffer == buffer {
                Some(*fragment)
            } else {
                self.seen_through(access.buffer, buffer, fragment)?
            };
            let Some(layout) = seen else { continue };
            if let Some(reason) = self.refused_access(spread, &access, &layout)? {
                return Ok(Some(reason));
            }
        }
        Ok(None)
    }

    /// Whether a loop writes to the storage of a buffer, under any of its names.
    pub(crate) fn writes_storage(&self, op: &Operator, buffer: BufferId) -> FormResult<bool> {
        let storage = self.buffer_of(buffer)?.storage;
        let mut writes = self.accesses_of(op).iter().filter(|access| access.write);
        Ok(writes.any(|access| self.buffer_of(access.buffer).is_ok_and(|b| b.storage == storage)))
    }

    /// The layout that another name of a buffer's storage gets with it; `None` of other storage.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn seen_through(
        &mut self,
        name: BufferId,
        buffer: BufferId,
        fragment: &FragmentForm,
    ) -> FormResult<Option<FragmentForm>> {
        let (other, own) = (*self.buffer_of(name)?, *self.buffer_of(buffer)?);
        if other.storage != own.storage || self.layout(name).is_some() {
            return Ok(None);
        }
        self.arena.reshaped(fragment, own.bits, other.dims, other.bits).map(Some)
    }

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
    /// [`FormError::Full`], [`FormError::Overflow`].
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

    /// A fragment that every thread holds, each more elements of it than its share of an operator's
    /// loop reads, which does not write it.
    ///
    /// # Errors
    /// [`FormError::Stale`].
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
            if !written && layout.copies >= op.threads.1 && u64::from(layout.slots) > most {
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

/// The buffers whose layouts could spread a loop.
struct SpreadSources {
    chosen: Option<Access>,
    read: Option<Access>,
    propagates: bool,
}

/// The greatest power of two up to `most` that divides `n`.
fn divisor(most: u32, n: u32) -> u32 {
    let mut d = most.max(1);
    while d > 1 && n.checked_rem(d) != Some(0) {
        d >>= 1;
    }
    d
}

//! Parallel loops: how one is spread over threads, and what that says of its buffers; what it asks
//! of memory (`traffic`); iterations that meet (`race`). A loop's own plan is `plan`, the layouts of its
//! fragments `complete`, what threads hold of them `held`.

mod complete;
mod held;
mod plan;
mod race;
mod shares;
mod traffic;

pub use race::Race;

use crate::arena::{IndexForm, VarRole};
use crate::error::FormResult;
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

    pub(super) fn is_fragment(&self, buffer: BufferId) -> bool {
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
    pub(super) fn in_fewer_places(
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
    pub(super) fn identity(&mut self, op: &Operator, access: &Access) -> FormResult<bool> {
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
    pub(super) fn covers(&mut self, op: &Operator, buffer: BufferId) -> FormResult<bool> {
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
    pub(super) fn refused_access(
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
}

/// The buffers whose layouts could spread a loop.
struct SpreadSources {
    chosen: Option<Access>,
    read: Option<Access>,
    propagates: bool,
}

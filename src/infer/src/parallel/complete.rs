//! CompleteBufferFragment: the layouts that a loop's threads give its fragments, and why one is none.

use crate::arena::VarRole;
use crate::error::FormResult;
use crate::event::{InferenceEvent, Level, Listener, Reason};
use crate::inference::{Inference, Stop};
use crate::parallel::Answer;
use crate::program::{Access, BufferId, FragmentForm, Operator, OperatorId};

impl Inference<'_> {
    /// Gives the loop's fragments without a layout one that its threads can use.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    pub(super) fn complete_buffers(
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
}

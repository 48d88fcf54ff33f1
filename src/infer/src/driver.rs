//! Levels: who is asked when.

use crate::arena::IndexForm;
use crate::error::{FormError, FormResult};
use crate::event::{InferenceEvent, Level, Listener, Reason};
use crate::inference::{Inference, Stop};
use crate::parallel::Answer;
use crate::program::{BufferId, FragmentForm, Kind, MAX_RANK, MemoryScope, OperatorId};
use crate::queue::Queue;
use lanebook_tables::CostPolicy;

/// The result of inference.
pub type Inferred = core::result::Result<(), Stop>;

impl Inference<'_> {
    /// Infers all layouts: strict, then common, then free, where the cheapest by `policy` is kept.
    ///
    /// # Errors
    /// [`Stop::Rejected`] if a layout that must hold does not; [`Stop::Failed`].
    pub fn run(&mut self, policy: &CostPolicy<'_>, listener: &mut dyn Listener) -> Inferred {
        self.run_to(Level::Free, policy, listener)
    }

    /// Infers layouts up to a level: what it does not decide stays open.
    ///
    /// # Errors
    /// Those of [`Inference::run`].
    pub fn run_to(
        &mut self,
        last: Level,
        policy: &CostPolicy<'_>,
        listener: &mut dyn Listener,
    ) -> Inferred {
        let count = self.operators.len();
        self.clear_queue()?;
        self.check_ranges(listener)?;
        self.check_pinned(listener)?;
        self.lay_aliases_of_pinned()?;
        self.lay_uniform(listener)?;
        listener.event(self, InferenceEvent::Begins(Level::Strict));
        for k in 0..count {
            self.ask(operator(k), Level::Strict, listener)?;
        }
        if last == Level::Strict {
            return Ok(());
        }
        listener.event(self, InferenceEvent::Begins(Level::Common));
        self.forget_laid();
        let mut queue = Queue::default();
        for k in 0..count {
            self.push_back(&mut queue, operator(k));
        }
        self.drain(&mut queue, Level::Common, listener)?;
        if last == Level::Common {
            return Ok(());
        }
        listener.event(self, InferenceEvent::Begins(Level::Free));
        self.infer_free(policy, listener)
    }

    /// Buffers that all threads read outside of operators lie on all threads.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn lay_uniform(&mut self, listener: &mut dyn Listener) -> Inferred {
        for k in 0..self.operators.len() {
            let op = *self.operator_of(operator(k))?;
            if op.kind != Kind::Uniform {
                continue;
            }
            for a in 0..usize::from(op.accesses.1) {
                let Some(access) = self.accesses_of(&op).get(a).copied() else { break };
                let buffer = *self.buffer_of(access.buffer)?;
                if buffer.scope != MemoryScope::Fragment {
                    continue;
                }
                let all = self.arena.on_all_threads(buffer.dims, op.threads.1)?;
                let Some(layout) = self.layout(access.buffer) else {
                    self.lay(access.buffer, all)?;
                    listener.event(
                        self,
                        InferenceEvent::Laid(operator(k), Level::Strict, access.buffer, all),
                    );
                    continue;
                };
                let (have, want) = (self.arena.threads(&layout), self.arena.threads(&all));
                if !self.arena.contains(want, have)? {
                    let reason = Reason::Uniform { buffer: access.buffer };
                    self.reject(listener, (operator(k), Level::Strict), reason, None, None);
                    return Err(Stop::Rejected { operator: operator(k), reason });
                }
            }
        }
        Ok(())
    }

    /// A fragment's threads are counted from the first of those that execute the first operator
    /// which uses it; one whose threads begin elsewhere has other registers under these numbers.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn check_ranges(&mut self, listener: &mut dyn Listener) -> Inferred {
        for k in 0..self.operators.len() {
            let op = *self.operator_of(operator(k))?;
            for a in 0..usize::from(op.accesses.1) {
                let Some(access) = self.accesses_of(&op).get(a).copied() else { break };
                let buffer = access.buffer;
                let own = *self.buffer_of(buffer)?;
                if own.scope != MemoryScope::Fragment {
                    continue;
                }
                let storage = self.buffers.get_mut(usize::from(own.storage.0));
                let begin = &mut storage.ok_or(FormError::Stale)?.begin;
                if *begin.get_or_insert(op.threads.0) == op.threads.0 {
                    continue;
                }
                let reason = Reason::ThreadRange { buffer };
                self.reject(listener, (operator(k), Level::Strict), reason, None, None);
                return Err(Stop::Rejected { operator: operator(k), reason });
            }
        }
        Ok(())
    }

    /// Written layouts: each place once, threads of the operators that use them.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn check_pinned(&mut self, listener: &mut dyn Listener) -> Inferred {
        for k in 0..self.operators.len() {
            let op = *self.operator_of(operator(k))?;
            if op.pinned
                && let Some(fragment) = self.spread(operator(k))
            {
                self.check_written(operator(k), None, &fragment, op.threads.1, listener)?;
            }
            for a in 0..usize::from(op.accesses.1) {
                let Some(access) = self.accesses_of(&op).get(a).copied() else { break };
                if self.buffer_of(access.buffer)?.pinned
                    && let Some(fragment) = self.layout(access.buffer)
                {
                    let threads = op.threads.1;
                    let buffer = Some(access.buffer);
                    self.check_written(operator(k), buffer, &fragment, threads, listener)?;
                }
            }
        }
        Ok(())
    }

    fn check_written(
        &mut self,
        id: OperatorId,
        buffer: Option<BufferId>,
        fragment: &FragmentForm,
        threads: u32,
        listener: &mut dyn Listener,
    ) -> Inferred {
        let copy = fragment.copy;
        let (low, _) = self.arena.index_range(fragment.index)?;
        let reason = if self.arena.mentions(fragment.index, |id, _| id == copy)? {
            Some(Reason::IndexByCopy { buffer })
        } else if low < 0 || !self.arena.within(fragment.thread, threads)? {
            Some(Reason::Threads { buffer })
        } else if !self.arena.injective(fragment, self.points)? {
            Some(Reason::NotInjective { buffer })
        } else if let Some(buffer) = buffer {
            self.view_apart(buffer, fragment)?
        } else {
            None
        };
        let Some(reason) = reason else { return Ok(()) };
        self.reject(listener, (id, Level::Strict), reason, None, Some(fragment));
        Err(Stop::Rejected { operator: id, reason })
    }

    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn lay_aliases_of_pinned(&mut self) -> FormResult<()> {
        for k in 0..self.buffers.len() {
            let id = buffer(k);
            if self.buffer_of(id)?.pinned
                && let Some(fragment) = self.layout(id)
            {
                self.lay(id, fragment)?;
            }
        }
        Ok(())
    }

    /// Asks an operator.
    pub(crate) fn ask(
        &mut self,
        id: OperatorId,
        level: Level,
        listener: &mut dyn Listener,
    ) -> Answer {
        match self.operator_of(id)?.kind {
            Kind::Parallel => self.infer_parallel(id, level, listener),
            Kind::Reduce { dim } => self.infer_reduce(id, usize::from(dim), level, listener),
            Kind::Product => self.tell_product(id, level, listener),
            Kind::Uniform => Ok(false),
        }
    }

    /// A product's fragments lie where its unit wants them from the start on; it is heard in its
    /// turn.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn tell_product(
        &mut self,
        id: OperatorId,
        level: Level,
        listener: &mut dyn Listener,
    ) -> Answer {
        let mut lays = false;
        for k in (0..self.buffers.len()).filter(|_| level == Level::Strict) {
            let own = buffer(k);
            let Some(fragment) = self.layout(own) else { continue };
            if self.laid_by_product(own) == Some(id) {
                listener.event(self, InferenceEvent::Laid(id, level, own, fragment));
                lays = true;
            }
        }
        if !lays {
            listener.event(self, InferenceEvent::Waits(id, level));
        }
        Ok(false)
    }

    /// Asks operators until none is left in the queue.
    pub(crate) fn drain(
        &mut self,
        queue: &mut Queue,
        level: Level,
        listener: &mut dyn Listener,
    ) -> Inferred {
        while let Some(id) = self.pop(queue) {
            if self.ask(id, level, listener)? {
                self.wake(queue, id, listener)?;
            }
        }
        Ok(())
    }

    /// The operand's threads hold the result.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn infer_reduce(
        &mut self,
        id: OperatorId,
        dim: usize,
        level: Level,
        listener: &mut dyn Listener,
    ) -> Answer {
        let op = *self.operator_of(id)?;
        let [source, result] = self.accesses_of(&op) else {
            return Ok(false);
        };
        let (source, result) = (source.buffer, result.buffer);
        let Some(from) = self.layout(source).filter(|_| level != Level::Strict) else {
            if level == Level::Free && self.lay_operand(source, result, dim)? {
                let Some(fragment) = self.layout(source) else { return Ok(false) };
                listener.event(self, InferenceEvent::Laid(id, level, source, fragment));
                return Ok(true);
            }
            listener.event(self, InferenceEvent::Waits(id, level));
            return Ok(false);
        };
        let own = *self.buffer_of(result)?;
        if own.scope != MemoryScope::Fragment {
            return Ok(false);
        }
        let fragment = self.arena.reduced(&from, own.dims, dim)?;
        if let Some(layout) = self.layout(result) {
            let (have, want) = (self.arena.threads(&layout), self.arena.threads(&fragment));
            if !self.arena.contains(have, want)? {
                let reason = Reason::Reduced { buffer: result };
                self.reject(listener, (id, level), reason, None, Some(&fragment));
                return Err(Stop::Rejected { operator: id, reason });
            }
            return Ok(false);
        }
        if let Some(reason) = self.view_apart(result, &fragment)? {
            self.reject(listener, (id, level), reason, None, Some(&fragment));
            return Err(Stop::Rejected { operator: id, reason });
        }
        self.lay(result, fragment)?;
        listener.event(self, InferenceEvent::Laid(id, level, result, fragment));
        Ok(true)
    }

    /// Lays the operand of a reduction on the threads of its result, where these are known: each row on
    /// those that hold what becomes of it.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn lay_operand(&mut self, source: BufferId, result: BufferId, dim: usize) -> FormResult<bool> {
        let (own, from) = (*self.buffer_of(result)?, *self.buffer_of(source)?);
        let Some(layout) = self.layout(result) else { return Ok(false) };
        let kept = own.dims.len() == from.dims.len();
        let mut indices: heapless::Vec<_, MAX_RANK> = heapless::Vec::new();
        for (k, var) in from.dims.iter().enumerate() {
            let index = match (k == dim, kept) {
                (true, false) => continue,
                (true, true) => IndexForm::constant(0),
                (false, _) => self.arena.whole(var)?,
            };
            indices.push(index).map_err(|_| crate::arena::too_many())?;
        }
        let threads = self.arena.threads_at(&layout, &indices)?;
        let fragment = self.arena.by_threads(from.dims, threads.copy, threads.map)?;
        if self.view_apart(source, &fragment)?.is_some() {
            return Ok(false);
        }
        self.lay(source, fragment)?;
        Ok(true)
    }

    /// Why a layout of a buffer is none of its storage: elements of a view that would lie apart.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    pub(crate) fn view_apart(
        &mut self,
        id: BufferId,
        fragment: &FragmentForm,
    ) -> FormResult<Option<Reason>> {
        let own = *self.buffer_of(id)?;
        let mut other = own.next_alias;
        while other != id {
            let theirs = *self.buffer_of(other)?;
            let parts = theirs.bits.checked_div(own.bits).unwrap_or(1);
            if parts > 1 && !self.arena.lies_in_parts(fragment, parts)? {
                return Ok(Some(Reason::View { buffer: other }));
            }
            other = theirs.next_alias;
        }
        Ok(None)
    }

    /// Gives a buffer its layout, and those that share its storage theirs.
    pub(crate) fn lay(&mut self, id: BufferId, fragment: FragmentForm) -> FormResult<()> {
        self.set_buffer(id, fragment)?;
        self.note_laid(id);
        let own = *self.buffer_of(id)?;
        let mut other = own.next_alias;
        while other != id {
            let theirs = *self.buffer_of(other)?;
            if self.layout(other).is_none() {
                let (dims, bits) = (theirs.dims, theirs.bits);
                let reshaped = self.arena.reshaped(&fragment, own.bits, dims, bits)?;
                self.set_buffer(other, reshaped)?;
            }
            other = theirs.next_alias;
        }
        Ok(())
    }
}

pub(crate) fn operator(k: usize) -> OperatorId {
    OperatorId(u16::try_from(k).unwrap_or(u16::MAX))
}

pub(crate) fn buffer(k: usize) -> BufferId {
    BufferId(u16::try_from(k).unwrap_or(u16::MAX))
}

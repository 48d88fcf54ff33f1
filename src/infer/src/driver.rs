//! Levels, queue, components: who is asked when.

use crate::error::{FormError, FormResult, PoolName};
use crate::event::{Cost, CostWeights, InferenceEvent, Level, Listener, Reason};
use crate::inference::{Inference, Stop};
use crate::parallel::Answer;
use crate::program::{BufferId, FragmentForm, Kind, MemoryScope, OperatorId};

/// The result of inference.
pub type Inferred = core::result::Result<(), Stop>;

impl Inference<'_> {
    /// Infers all layouts: strict, then common, then free, where the cheapest by `weights` is kept.
    ///
    /// # Errors
    /// [`Stop::Rejected`] if a layout that must hold does not; [`Stop::Failed`].
    pub fn run(&mut self, weights: CostWeights, listener: &mut dyn Listener) -> Inferred {
        let count = self.operators.len();
        if self.words.len() < count.saturating_mul(3).saturating_add(self.buffers.len()) {
            let has = u32::try_from(self.words.len()).unwrap_or(u32::MAX);
            return Err(FormError::Full { pool: PoolName::Queue, has }.into());
        }
        self.check_pinned(listener)?;
        self.lay_aliases_of_pinned()?;
        self.lay_uniform(listener)?;
        listener.event(InferenceEvent::Begins(Level::Strict));
        for k in 0..count {
            self.ask(operator(k), Level::Strict, listener)?;
        }
        listener.event(InferenceEvent::Begins(Level::Common));
        let mut queue = Queue::default();
        for k in 0..count {
            self.push_back(&mut queue, k);
        }
        self.drain(&mut queue, Level::Common, listener)?;
        listener.event(InferenceEvent::Begins(Level::Free));
        self.infer_free(weights, listener)
    }

    /// Buffers that all threads read outside of operators lie on all threads.
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
                    listener.event(InferenceEvent::Laid(
                        operator(k),
                        Level::Strict,
                        access.buffer,
                        all,
                    ));
                    continue;
                };
                let (have, want) = (self.arena.threads(&layout), self.arena.threads(&all));
                if !self.arena.contains(want, have)? {
                    let reason = Reason::Uniform { buffer: access.buffer };
                    return Err(Stop::Rejected { operator: operator(k), reason });
                }
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
        let (low, _) = self.arena.range(fragment.index)?;
        let reason = if self.arena.mentions(fragment.index, |id, _| id == copy)? {
            Some(Reason::IndexByCopy { buffer })
        } else if low < 0 || !self.arena.within(fragment.thread, threads)? {
            Some(Reason::Threads { buffer })
        } else if !self.arena.injective(fragment, self.points)? {
            Some(Reason::NotInjective { buffer })
        } else {
            None
        };
        let Some(reason) = reason else { return Ok(()) };
        listener.event(InferenceEvent::Rejected(id, Level::Strict, reason));
        Err(Stop::Rejected { operator: id, reason })
    }

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
    fn ask(&mut self, id: OperatorId, level: Level, listener: &mut dyn Listener) -> Answer {
        match self.operator_of(id)?.kind {
            Kind::Parallel => self.infer_parallel(id, level, listener),
            Kind::Reduce { dim } => self.infer_reduce(id, usize::from(dim), level, listener),
            Kind::Uniform => Ok(false),
        }
    }

    /// Asks operators until none is left in the queue.
    fn drain(&mut self, queue: &mut Queue, level: Level, listener: &mut dyn Listener) -> Inferred {
        while let Some(k) = self.pop(queue) {
            if self.ask(operator(k), level, listener)? {
                self.wake(queue, k)?;
            }
        }
        Ok(())
    }

    /// Puts all operators that touch a buffer of operator `k` to the front.
    fn wake(&mut self, queue: &mut Queue, k: usize) -> FormResult<()> {
        let op = *self.operator_of(operator(k))?;
        for other in 0..self.operators.len() {
            if other == k || self.queued(other) {
                continue;
            }
            let theirs = *self.operator_of(operator(other))?;
            let shared = self.accesses_of(&theirs).iter().any(|a| {
                self.accesses_of(&op).iter().any(|b| {
                    self.storage(a.buffer) == self.storage(b.buffer)
                        && self.buffer_of(a.buffer).is_ok_and(|b| b.scope == MemoryScope::Fragment)
                })
            });
            if shared {
                self.push_front(queue, other);
            }
        }
        Ok(())
    }

    pub(crate) fn storage(&self, id: BufferId) -> BufferId {
        self.buffer_of(id).map_or(id, |b| b.storage)
    }

    /// Free mode: each component from each root; the cheapest is kept.
    fn infer_free(&mut self, weights: CostWeights, listener: &mut dyn Listener) -> Inferred {
        let count = self.operators.len();
        self.find_components()?;
        for root_component in 0..count {
            if self.component(root_component) != root_component {
                continue;
            }
            if self.settled(root_component)? {
                continue;
            }
            self.infer_component(root_component, weights, listener)?;
        }
        Ok(())
    }

    /// Whether all of a component is known.
    fn settled(&self, component: usize) -> FormResult<bool> {
        for k in 0..self.operators.len() {
            if self.component(k) != component {
                continue;
            }
            let op = self.operator_of(operator(k))?;
            let open = self.accesses_of(op).iter().any(|a| {
                self.buffer_of(a.buffer).is_ok_and(|b| b.scope == MemoryScope::Fragment)
                    && self.layout(a.buffer).is_none()
            });
            if open || (op.kind == Kind::Parallel && self.spread(operator(k)).is_none()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn infer_component(
        &mut self,
        component: usize,
        weights: CostWeights,
        listener: &mut dyn Listener,
    ) -> Inferred {
        self.copy_state(0, 1);
        let mut best: Option<((u64, u64), usize)> = None;
        let mut last = Stop::Rejected { operator: operator(component), reason: Reason::Nothing };
        let mut safe = self.arena.mark();
        for root in 0..self.operators.len() {
            let kind = self.operator_of(operator(root))?.kind;
            if self.component(root) != component || kind == Kind::Uniform {
                continue;
            }
            for by_rows in [false, true] {
                let op = *self.operator_of(operator(root))?;
                self.copy_state(1, 0);
                if by_rows && !self.has_rows(&op)? {
                    continue;
                }
                self.by_rows = by_rows.then_some(operator(root));
                listener.event(InferenceEvent::Tries(operator(root)));
                match self.attempt(component, root, listener) {
                    Ok(()) => {
                        let cost = self.cost(component)?;
                        listener.event(InferenceEvent::Costs(operator(root), cost));
                        let weighed = cost.weighed(weights);
                        if best.is_none_or(|b| weighed < b.0) {
                            best = Some((weighed, root));
                            self.copy_state(0, 2);
                            safe = self.arena.mark();
                            continue;
                        }
                    }
                    Err(Stop::Rejected { operator, reason }) => {
                        last = Stop::Rejected { operator, reason };
                    }
                    Err(stop) => return Err(stop),
                }
                self.arena.release(safe);
            }
        }
        self.by_rows = None;
        let Some((_, root)) = best else {
            self.copy_state(1, 0);
            return Err(last);
        };
        self.copy_state(2, 0);
        listener.event(InferenceEvent::Keeps(operator(root)));
        Ok(())
    }

    /// Infers `root` first, then what follows, then the other members in order.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn attempt(&mut self, component: usize, root: usize, listener: &mut dyn Listener) -> Inferred {
        let mut queue = Queue::default();
        self.clear_queue();
        if self.ask(operator(root), Level::Free, listener)? {
            self.wake(&mut queue, root)?;
        }
        self.drain(&mut queue, Level::Free, listener)?;
        for k in 0..self.operators.len() {
            if self.component(k) != component || k == root {
                continue;
            }
            if self.ask(operator(k), Level::Free, listener)? {
                self.wake(&mut queue, k)?;
            }
            self.drain(&mut queue, Level::Free, listener)?;
        }
        if self.settled(component)? {
            return Ok(());
        }
        Err(Stop::Rejected { operator: operator(root), reason: Reason::Nothing })
    }

    /// What the component's layouts cost.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn cost(&mut self, component: usize) -> FormResult<Cost> {
        let mut cost = Cost::default();
        for k in 0..self.operators.len() {
            if self.component(k) != component {
                continue;
            }
            let op = *self.operator_of(operator(k))?;
            let Some(spread) = self.spread(operator(k)) else { continue };
            cost.spilled = cost.spilled.saturating_add(self.spills(&op, &spread)?);
            cost.work = cost.work.saturating_add(u64::from(spread.slots));
            cost.memory = cost.memory.saturating_add(self.traffic(&op, &spread)?);
        }
        for b in 0..self.buffers.len() {
            let id = buffer(b);
            let own = *self.buffer_of(id)?;
            if own.scope != MemoryScope::Fragment || !self.in_component(component, id)? {
                continue;
            }
            if let Some(layout) = self.layout(id) {
                let bits = u64::from(layout.slots).saturating_mul(u64::from(own.bits));
                cost.registers = cost.registers.saturating_add(bits.div_ceil(32));
            }
        }
        Ok(cost)
    }

    fn in_component(&self, component: usize, id: BufferId) -> FormResult<bool> {
        for k in 0..self.operators.len() {
            if self.component(k) == component {
                let op = self.operator_of(operator(k))?;
                if self.accesses_of(op).iter().any(|a| a.buffer == id) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
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
            listener.event(InferenceEvent::Waits(id, level));
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
                listener.event(InferenceEvent::Rejected(id, level, reason));
                return Err(Stop::Rejected { operator: id, reason });
            }
            return Ok(false);
        }
        self.lay(result, fragment)?;
        listener.event(InferenceEvent::Laid(id, level, result, fragment));
        Ok(true)
    }

    /// Gives a buffer its layout, and those that share its storage theirs.
    pub(crate) fn lay(&mut self, id: BufferId, fragment: FragmentForm) -> FormResult<()> {
        self.set_buffer(id, fragment)?;
        let own = *self.buffer_of(id)?;
        for k in 0..self.buffers.len() {
            let other = buffer(k);
            let theirs = *self.buffer_of(other)?;
            if other == id || theirs.storage != own.storage || self.layout(other).is_some() {
                continue;
            }
            let reshaped = self.arena.reshaped(&fragment, own.bits, theirs.dims, theirs.bits)?;
            self.set_buffer(other, reshaped)?;
        }
        Ok(())
    }
}

pub(crate) fn operator(k: usize) -> OperatorId {
    OperatorId(u16::try_from(k).unwrap_or(u16::MAX))
}

fn buffer(k: usize) -> BufferId {
    BufferId(u16::try_from(k).unwrap_or(u16::MAX))
}

/// No operator.
const NONE: u16 = u16::MAX;

/// Not in the queue.
const OUT: u16 = u16::MAX - 1;

/// A queue of operators: a list through the words.
#[derive(Clone, Copy, Debug)]
struct Queue {
    first: u16,
    last: u16,
}

impl Default for Queue {
    fn default() -> Self {
        Self { first: NONE, last: NONE }
    }
}

impl Inference<'_> {
    /// The word of operator `k`: the next in the queue, [`NONE`] at its end, [`OUT`] outside.
    fn word(&mut self, k: usize) -> Option<&mut u16> {
        self.words.get_mut(k)
    }

    fn clear_queue(&mut self) {
        let count = self.operators.len();
        if let Some(words) = self.words.get_mut(..count) {
            words.fill(OUT);
        }
    }

    fn queued(&self, k: usize) -> bool {
        self.words.get(k).is_some_and(|w| *w != OUT)
    }

    fn push_back(&mut self, queue: &mut Queue, k: usize) {
        let id = operator(k).0;
        if let Some(word) = self.word(k) {
            *word = NONE;
        }
        if queue.first == NONE {
            queue.first = id;
        } else if let Some(word) = self.word(usize::from(queue.last)) {
            *word = id;
        }
        queue.last = id;
    }

    fn push_front(&mut self, queue: &mut Queue, k: usize) {
        let first = queue.first;
        if let Some(word) = self.word(k) {
            *word = first;
        }
        queue.first = operator(k).0;
        if queue.last == NONE {
            queue.last = queue.first;
        }
    }

    fn pop(&mut self, queue: &mut Queue) -> Option<usize> {
        let at = usize::from(queue.first);
        if queue.first == NONE {
            return None;
        }
        let word = self.word(at)?;
        let next = core::mem::replace(word, OUT);
        queue.first = next;
        if next == NONE {
            queue.last = NONE;
        }
        Some(at)
    }

    /// Components of operators that share fragments: each gets the least of its members.
    fn find_components(&mut self) -> FormResult<()> {
        let count = self.operators.len();
        let base = count;
        let owner = count.saturating_mul(2);
        for k in 0..count {
            self.put(base.saturating_add(k), operator(k).0);
        }
        for b in 0..self.buffers.len() {
            self.put(owner.saturating_add(b), NONE);
        }
        for k in 0..count {
            let op = *self.operator_of(operator(k))?;
            for a in 0..usize::from(op.accesses.1) {
                let Some(access) = self.accesses_of(&op).get(a).copied() else { break };
                if self.buffer_of(access.buffer)?.scope != MemoryScope::Fragment {
                    continue;
                }
                let slot = owner.saturating_add(usize::from(self.storage(access.buffer).0));
                let first = self.words.get(slot).copied().unwrap_or(NONE);
                if first == NONE {
                    self.put(slot, operator(k).0);
                } else {
                    self.join(usize::from(first), k);
                }
            }
        }
        Ok(())
    }

    fn put(&mut self, at: usize, value: u16) {
        if let Some(word) = self.words.get_mut(at) {
            *word = value;
        }
    }

    /// The least member of the component of operator `k`.
    fn component(&self, k: usize) -> usize {
        let base = self.operators.len();
        let mut at = k;
        for _ in 0..base {
            let parent = self.words.get(base.saturating_add(at)).copied().unwrap_or(NONE);
            if usize::from(parent) == at || parent == NONE {
                break;
            }
            at = usize::from(parent);
        }
        at
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.component(a), self.component(b));
        let base = self.operators.len();
        self.put(base.saturating_add(a.max(b)), operator(a.min(b)).0);
    }
}

//! Free mode: operators that share fragments, tried from each root, the cheapest kept.

use crate::driver::{Inferred, buffer, operator};
use crate::error::FormResult;
use crate::event::{Cost, InferenceEvent, Level, Listener, Reason};
use crate::inference::{Inference, Stop};
use crate::program::{BufferId, FragmentForm, Kind, MemoryScope, Operator, OperatorId, PlanShape};
use crate::queue::Queue;
use lanebook_tables::{CostPolicy, CostTerm};

/// States of the layouts of a component.
mod state {
    /// In hand.
    pub(super) const HAND: usize = 0;
    /// As free mode met it.
    pub(super) const BASE: usize = 1;
    /// The cheapest attempt.
    pub(super) const BEST: usize = 2;
    /// One that was not the cheapest, to know it again.
    pub(super) const OTHER: usize = 3;
}

/// What the attempts of a component came to.
struct Attempts {
    /// How many there were.
    count: u32,
    /// The cheapest, its root, and its number.
    best: Option<(Cost, OperatorId, u32)>,
    /// Whether [`state::OTHER`] is one.
    other: bool,
    /// Why the last one failed.
    last: Stop,
}

impl Inference<'_> {
    pub(crate) fn storage(&self, id: BufferId) -> BufferId {
        self.buffer_of(id).map_or(id, |b| b.storage)
    }

    /// Each component from each root; the cheapest is kept.
    pub(crate) fn infer_free(
        &mut self,
        policy: &CostPolicy<'_>,
        listener: &mut dyn Listener,
    ) -> Inferred {
        self.find_components()?;
        for k in 0..self.operators.len() {
            let id = operator(k);
            if self.operator_of(id)?.component == id && !self.settled(id)? {
                self.infer_component(id, policy, listener)?;
            }
        }
        Ok(())
    }

    /// Whether all of a component is known.
    fn settled(&self, component: OperatorId) -> FormResult<bool> {
        let mut member = Some(component);
        while let Some(id) = member {
            let op = self.operator_of(id)?;
            let open = self.accesses_of(op).iter().any(|a| {
                self.buffer_of(a.buffer).is_ok_and(|b| b.scope == MemoryScope::Fragment)
                    && self.layout(a.buffer).is_none()
            });
            if open || (op.kind == Kind::Parallel && self.spread(id).is_none()) {
                return Ok(false);
            }
            member = op.next_member;
        }
        Ok(true)
    }

    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn infer_component(
        &mut self,
        component: OperatorId,
        policy: &CostPolicy<'_>,
        listener: &mut dyn Listener,
    ) -> Inferred {
        self.copy_state(component, state::HAND, state::BASE)?;
        let last = Stop::Rejected { operator: component, reason: Reason::Nothing };
        let mut attempts = Attempts { count: 0, best: None, other: false, last };
        let mut member = Some(component);
        while let Some(root) = member {
            let op = *self.operator_of(root)?;
            member = op.next_member;
            if op.kind == Kind::Uniform {
                continue;
            }
            self.try_root(component, root, &mut attempts, policy, listener)?;
            if self.has_rows(&op)? {
                self.planned = Some((root, PlanShape::Rows));
                self.try_root(component, root, &mut attempts, policy, listener)?;
                self.planned = None;
            }
            if self.has_shares(&op)? {
                self.planned = Some((root, PlanShape::Shares));
                self.try_root(component, root, &mut attempts, policy, listener)?;
                self.planned = None;
            }
            if self.has_forms(&op) {
                self.try_parts(component, root, &mut attempts, policy, listener)?;
            }
        }
        if attempts.best.is_none() && self.nothing_known(component)? {
            let mut member = Some(component);
            while let Some(root) = member.filter(|_| attempts.best.is_none()) {
                member = self.operator_of(root)?.next_member;
                self.try_parts(component, root, &mut attempts, policy, listener)?;
            }
        }
        let Some((_, root, number)) = attempts.best else {
            return Err(attempts.last);
        };
        self.copy_state(component, state::BEST, state::HAND)?;
        listener.event(self, InferenceEvent::Keeps(root, number));
        Ok(())
    }

    /// Tries a root whose threads tell its outer variables alone, and one on every thread: elements
    /// that an iteration meets at several places may lie together there.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn try_parts(
        &mut self,
        component: OperatorId,
        root: OperatorId,
        attempts: &mut Attempts,
        policy: &CostPolicy<'_>,
        listener: &mut dyn Listener,
    ) -> Inferred {
        let op = *self.operator_of(root)?;
        if op.kind != Kind::Parallel || !self.touches_fragment(&op) || self.spread_known(&op) {
            return Ok(());
        }
        for outer in (0..op.vars.count).rev() {
            self.planned = Some((root, PlanShape::Outer(outer)));
            let tried = self.try_root(component, root, attempts, policy, listener);
            self.planned = None;
            tried?;
        }
        Ok(())
    }

    /// Whether no fragment of a component has a layout.
    fn nothing_known(&self, component: OperatorId) -> FormResult<bool> {
        let mut fragment = self.operator_of(component)?.first_buffer;
        while let Some(id) = fragment {
            if self.layout(id).is_some() {
                return Ok(false);
            }
            fragment = self.buffer_of(id)?.next_buffer;
        }
        Ok(true)
    }

    /// Tries a root, unless what it chooses for itself is what an earlier attempt gave it: the same
    /// would follow.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn try_root(
        &mut self,
        component: OperatorId,
        root: OperatorId,
        attempts: &mut Attempts,
        policy: &CostPolicy<'_>,
        listener: &mut dyn Listener,
    ) -> Inferred {
        let before = self.arena.mark();
        attempts.count = attempts.count.saturating_add(1);
        listener.event(self, InferenceEvent::Tries(root));
        let cost = match self.attempt(component, root, attempts, policy, listener) {
            Ok(Some(cost)) => cost,
            Ok(None) => {
                listener.event(self, InferenceEvent::Repeats(root));
                self.arena.release(before);
                return self.forget_own(root);
            }
            Err(Stop::Rejected { operator, reason }) => {
                attempts.last = Stop::Rejected { operator, reason };
                self.arena.release(before);
                return self.copy_state(component, state::BASE, state::HAND).map_err(Stop::Failed);
            }
            Err(stop) => return Err(stop),
        };
        listener.event(self, InferenceEvent::Costs(root, cost));
        if attempts.best.is_none_or(|best| cost.less(&best.0, policy)) {
            if attempts.best.is_some() {
                self.copy_state(component, state::BEST, state::OTHER)?;
                attempts.other = true;
            }
            attempts.best = Some((cost, root, attempts.count));
            self.copy_state(component, state::HAND, state::BEST)?;
        } else if attempts.other {
            self.arena.release(before);
        } else {
            self.copy_state(component, state::HAND, state::OTHER)?;
            attempts.other = true;
        }
        self.copy_state(component, state::BASE, state::HAND).map_err(Stop::Failed)
    }

    /// Takes back what an operator alone was asked: its own layouts, and those of its buffers.
    fn forget_own(&mut self, id: OperatorId) -> Inferred {
        let op = *self.operator_of(id)?;
        self.copy_layout(self.loop_place(id), state::BASE, state::HAND);
        for k in 0..usize::from(op.accesses.1) {
            let Some(access) = self.accesses_of(&op).get(k).copied() else { break };
            let mut at = access.buffer;
            loop {
                self.copy_layout(usize::from(at.0), state::BASE, state::HAND);
                at = self.buffer_of(at)?.next_alias;
                if at == access.buffer {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Infers `root` first, then what follows, then the other members in order. `None` if the root
    /// chooses what an earlier attempt gave it.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn attempt(
        &mut self,
        component: OperatorId,
        root: OperatorId,
        attempts: &Attempts,
        policy: &CostPolicy<'_>,
        listener: &mut dyn Listener,
    ) -> core::result::Result<Option<Cost>, Stop> {
        let mut queue = Queue::default();
        self.forget_laid();
        let done = self.attempt_in(component, root, attempts, &mut queue, listener);
        while self.pop(&mut queue).is_some() {}
        if !done? {
            return Ok(None);
        }
        if self.settled(component)? {
            return self.cost(component, policy).map(Some).map_err(Stop::Failed);
        }
        Err(Stop::Rejected { operator: root, reason: Reason::Nothing })
    }

    fn attempt_in(
        &mut self,
        component: OperatorId,
        root: OperatorId,
        attempts: &Attempts,
        queue: &mut Queue,
        listener: &mut dyn Listener,
    ) -> core::result::Result<bool, Stop> {
        let changed = self.ask(root, Level::Free, listener)?;
        let best = attempts.best.is_some() && self.agrees(root, state::BEST)?;
        if best || (attempts.other && self.agrees(root, state::OTHER)?) {
            return Ok(false);
        }
        if changed {
            self.wake(queue, root, listener)?;
        }
        self.drain(queue, Level::Free, listener)?;
        let mut member = Some(component);
        while let Some(id) = member {
            member = self.operator_of(id)?.next_member;
            if id == root {
                continue;
            }
            if self.ask(id, Level::Free, listener)? {
                self.wake(queue, id, listener)?;
            }
            self.drain(queue, Level::Free, listener)?;
        }
        Ok(true)
    }

    /// Whether an operator and its fragments, as far as they are known, are as in another state.
    fn agrees(&self, id: OperatorId, state: usize) -> FormResult<bool> {
        let op = self.operator_of(id)?;
        if !self.same_layout(self.loop_place(id), state) {
            return Ok(false);
        }
        let mut fragments = self
            .accesses_of(op)
            .iter()
            .map(|a| a.buffer)
            .filter(|b| self.buffer_of(*b).is_ok_and(|b| b.scope == MemoryScope::Fragment));
        Ok(fragments.all(|b| self.same_layout(usize::from(b.0), state)))
    }

    fn same_layout(&self, at: usize, state: usize) -> bool {
        let here = self.layouts.get(at).copied().flatten();
        let there = self.layouts.get(self.place(state, at)).copied().flatten();
        match (here, there) {
            (Some(here), Some(there)) => self.arena.same_fragment(&here, &there),
            (None, _) => true,
            (Some(_), None) => false,
        }
    }

    /// What the component's layouts cost.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn cost(&mut self, component: OperatorId, policy: &CostPolicy<'_>) -> FormResult<Cost> {
        let mut cost = Cost::default();
        let mut member = Some(component);
        while let Some(id) = member {
            let op = *self.operator_of(id)?;
            member = op.next_member;
            cost.iterations = cost.iterations.saturating_add(self.reducing(&op));
            let Some(spread) = self.spread(id) else { continue };
            cost.spilled = cost.spilled.saturating_add(self.spills(&op, &spread)?);
            cost.iterations = cost.iterations.saturating_add(u64::from(spread.slots));
            if policy.counts(CostTerm::Traffic) {
                cost.traffic = cost.traffic.saturating_add(self.traffic(&op, &spread, policy)?);
            }
        }
        let mut fragment = self.operator_of(component)?.first_buffer;
        while let Some(id) = fragment {
            let own = *self.buffer_of(id)?;
            fragment = own.next_buffer;
            if let Some(layout) = self.layout(id) {
                let bits = u64::from(layout.slots).saturating_mul(u64::from(own.bits));
                cost.registers = cost.registers.saturating_add(bits.div_ceil(32));
            }
        }
        Ok(cost)
    }

    /// What a thread does of a reduction: its own elements, and for each result that it holds an exchange
    /// for each halving of the threads that share it. Where these are no power of two nothing halves
    /// them: each reads what all of them have.
    fn reducing(&self, op: &Operator) -> u64 {
        let (Kind::Reduce { .. }, [source, result]) = (op.kind, self.accesses_of(op)) else {
            return 0;
        };
        let layouts = self.layout(source.buffer).zip(self.layout(result.buffer));
        let Some((from, to)) = layouts else { return 0 };
        let sharing = to.copies.max(1);
        let exchanges = if sharing.is_power_of_two() { sharing.trailing_zeros() } else { sharing };
        let results = u64::from(to.slots).saturating_mul(u64::from(exchanges));
        u64::from(from.slots).saturating_add(results)
    }

    /// Copies the layouts of a component from one state to another.
    fn copy_state(&mut self, component: OperatorId, from: usize, to: usize) -> FormResult<()> {
        let mut member = Some(component);
        while let Some(id) = member {
            self.copy_layout(self.loop_place(id), from, to);
            member = self.operator_of(id)?.next_member;
        }
        let mut fragment = self.operator_of(component)?.first_buffer;
        while let Some(id) = fragment {
            self.copy_layout(usize::from(id.0), from, to);
            fragment = self.buffer_of(id)?.next_buffer;
        }
        Ok(())
    }

    /// Components of operators that share fragments: each has the number of its least member, and
    /// lists of its members and buffers in order.
    fn find_components(&mut self) -> FormResult<()> {
        for (k, op) in self.operators.as_mut_slice().iter_mut().enumerate() {
            (op.component, op.next_member, op.first_buffer) = (operator(k), None, None);
        }
        for b in 0..self.buffers.len() {
            let own = *self.buffer_of(buffer(b))?;
            if own.storage != buffer(b) || own.scope != MemoryScope::Fragment {
                continue;
            }
            let mut at = own.uses.map(|(first, _)| first);
            let mut first = None;
            while let Some(access) = at.and_then(|k| self.access_at(k)).copied() {
                self.join(*first.get_or_insert(access.operator), access.operator);
                at = access.next_use;
            }
        }
        for k in 0..self.operators.len() {
            let root = self.root_of(operator(k));
            self.set_component(operator(k), root);
        }
        for k in (0..self.operators.len()).rev() {
            let id = operator(k);
            let root = self.operator_of(id)?.component;
            if root != id {
                let next = self.operator_of(root)?.next_member;
                let ops = self.operators.as_mut_slice();
                if let Some(op) = ops.get_mut(k) {
                    op.next_member = next;
                }
                if let Some(op) = ops.get_mut(usize::from(root.0)) {
                    op.next_member = Some(id);
                }
            }
        }
        for b in (0..self.buffers.len()).rev() {
            let own = *self.buffer_of(buffer(b))?;
            let uses = self.buffer_of(own.storage)?.uses;
            let Some(access) = uses.and_then(|(first, _)| self.access_at(first)) else { continue };
            if own.scope != MemoryScope::Fragment {
                continue;
            }
            let root = usize::from(self.operator_of(access.operator)?.component.0);
            let Some(op) = self.operators.get_mut(root) else { continue };
            let next = op.first_buffer.replace(buffer(b));
            if let Some(own) = self.buffers.get_mut(b) {
                own.next_buffer = next;
            }
        }
        Ok(())
    }

    fn set_component(&mut self, id: OperatorId, root: OperatorId) {
        if let Some(op) = self.operators.get_mut(usize::from(id.0)) {
            op.component = root;
        }
    }

    /// The least member that is known so far; paths to it are halved.
    fn root_of(&mut self, id: OperatorId) -> OperatorId {
        let mut at = id;
        for _ in 0..self.operators.len() {
            let Ok(parent) = self.operator_of(at).map(|op| op.component) else { break };
            let Ok(above) = self.operator_of(parent).map(|op| op.component) else { break };
            if parent == at {
                break;
            }
            self.set_component(at, above);
            at = above;
        }
        at
    }

    fn join(&mut self, a: OperatorId, b: OperatorId) {
        let (a, b) = (self.root_of(a), self.root_of(b));
        self.set_component(a.max(b), a.min(b));
    }
}

#[doc(hidden)]
impl crate::arena::FormArena<'_> {
    /// Whether two layouts of the same coordinates are written alike, but for the names of their
    /// copies.
    pub(crate) fn same_fragment(&self, a: &FragmentForm, b: &FragmentForm) -> bool {
        let alike = |x, y| {
            let (x, y): (&[_], &[_]) = (self.terms_of(x), self.terms_of(y));
            x.len() == y.len()
                && x.iter().zip(y).all(|(x, y)| {
                    let (p, q) = (x.digit.base, y.digit.base);
                    let base = p == q || (p == a.copy && q == b.copy);
                    let shape = (x.stride, x.digit.unit, x.digit.extent);
                    base && shape == (y.stride, y.digit.unit, y.digit.extent)
                })
        };
        a.copies == b.copies
            && (a.slots, a.padded) == (b.slots, b.padded)
            && (a.thread.constant, a.index.constant) == (b.thread.constant, b.index.constant)
            && alike(a.thread, b.thread)
            && alike(a.index, b.index)
    }
}

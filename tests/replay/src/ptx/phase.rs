//! Work of units that arrives at an `mbarrier` when it is done: products, copies.
//!
//! It arrives as late as it can: only when no warp gets anywhere without it. So a kernel that does
//! not wait, or waits for another phase than it should, goes on before the work is done, and is
//! caught by what it touches.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::run::{Machine, Run, Warp};
use crate::shared::Completed;

/// What an arrival says is done.
#[derive(Clone, Default)]
pub(super) struct Done {
    /// Products of a thread, up to this number.
    pub products: BTreeMap<u32, u64>,
    /// (thread, address, bytes) that units have read.
    pub reads: Vec<(u32, u64, u32)>,
    /// What who committed it had done and seen.
    pub clock: Vec<u32>,
    /// Of a copy: what it counts down. It is no arrival.
    pub copied: Option<Completed>,
}

impl Done {
    fn join(&mut self, other: Done) {
        join_map(&mut self.products, &other.products);
        self.reads.extend(other.reads);
        self.clock.resize(self.clock.len().max(other.clock.len()), 0);
        self.clock.iter_mut().zip(&other.clock).for_each(|(a, b)| *a = (*a).max(*b));
    }
}

/// Work that arrives at a block's barriers.
#[derive(Default)]
pub(super) struct Phases {
    /// Not yet arrived, in order.
    late: VecDeque<(u64, Done)>,
    /// Arrived in the phase that runs, and in those that are over.
    here: BTreeMap<u64, Done>,
    over: BTreeMap<u64, Done>,
}

/// Takes over what is greater.
pub(super) fn join_map(into: &mut BTreeMap<u32, u64>, other: &BTreeMap<u32, u64>) {
    for (key, value) in other {
        let slot = into.entry(*key).or_default();
        *slot = (*slot).max(*value);
    }
}

impl Machine<'_, '_> {
    /// The next late arrival arrives, one that is waited for before all others; `false` if there is
    /// none.
    pub fn arrive_late(&mut self, waited: &[u64]) -> bool {
        let first = self.phases.late.iter().position(|(at, _)| waited.contains(at));
        let Some((at, done)) = self.phases.late.remove(first.unwrap_or(0)) else { return false };
        let copied = done.copied;
        self.phases.here.entry(at).or_default().join(done);
        let is_over = match copied {
            Some(copied) => self.world.shared.complete(at, copied),
            None => self.world.shared.arrive(at),
        };
        if is_over {
            let done = self.phases.here.remove(&at).unwrap_or_default();
            self.phases.over.entry(at).or_default().join(done);
        }
        true
    }
}

impl Machine<'_, '_> {
    /// A thread arrives at a barrier now.
    pub(super) fn arrived(&mut self, thread: u32, at: u64, done: Done) -> Run<()> {
        self.phases.here.entry(at).or_default().join(done);
        if self.world.shared.announce(thread, at, 0)? {
            let done = self.phases.here.remove(&at).unwrap_or_default();
            self.phases.over.entry(at).or_default().join(done);
        }
        Ok(())
    }

    /// A copy will complete on the barrier.
    pub(super) fn complete_later(&mut self, at: u64, copied: Completed) {
        self.phases.late.push_back((at, Done { copied: Some(copied), ..Done::default() }));
    }

    /// Barriers of whose phases copies are on their way.
    pub fn barriers_in_flight(&self) -> u32 {
        let copies = self.phases.late.iter().filter(|(_, done)| done.copied.is_some());
        let barriers: BTreeSet<u64> = copies.map(|(at, _)| *at).collect();
        u32::try_from(barriers.len()).unwrap_or(u32::MAX)
    }
}

impl Warp {
    /// A unit will arrive at the barrier once `done` is.
    pub(super) fn arrive_later(
        &mut self,
        m: &mut Machine<'_, '_>,
        lane: usize,
        at: u64,
        done: Done,
    ) -> Run<()> {
        m.world.shared.will_arrive(self.thread(lane), at)?;
        let clock = m.world.shared.release(self.index as usize);
        m.phases.late.push_back((at, Done { clock, ..done }));
        Ok(())
    }

    /// The warp has found a phase of the barrier over.
    pub(super) fn learn(&mut self, m: &mut Machine<'_, '_>, at: u64) {
        let Some(done) = m.phases.over.get_mut(&at) else { return };
        for (thread, address, bytes) in std::mem::take(&mut done.reads) {
            m.world.shared.end_hold(thread, address, bytes);
        }
        m.world.shared.acquire(self.index as usize, &done.clock);
        self.tensor.hear(&done.products);
    }
}

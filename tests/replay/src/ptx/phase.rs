//! Work of the matrix unit that arrives at an `mbarrier` when it is done.
//!
//! It arrives as late as it can: only when no warp gets anywhere without it. So a kernel that does
//! not wait, or waits for another phase than it should, goes on before the work is done, and is
//! caught by what it touches.

use std::collections::{BTreeMap, VecDeque};

use super::run::{Machine, Run, Warp};

/// What an arrival says is done.
#[derive(Clone, Default)]
pub(super) struct Done {
    /// Products of a thread, up to this number.
    pub products: BTreeMap<u32, u64>,
    /// (thread, address, bytes) that units have read.
    pub reads: Vec<(u32, u64, u32)>,
    /// What who committed it had done and seen.
    pub clock: Vec<u32>,
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
    /// The next late arrival arrives; `false` if there is none.
    pub fn arrive_late(&mut self) -> bool {
        let Some((at, done)) = self.phases.late.pop_front() else { return false };
        self.phases.here.entry(at).or_default().join(done);
        if self.world.shared.arrive(at) {
            let done = self.phases.here.remove(&at).unwrap_or_default();
            self.phases.over.entry(at).or_default().join(done);
        }
        true
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

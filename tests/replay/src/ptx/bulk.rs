//! PTX `cp.async.bulk.tensor` out of shared memory: boxes that the unit stores, and the groups in which they are waited for.
//!
//! The unit reads a box at any time up to its group's end: until a wait has found the group over, nothing may write these bytes, and the
//! kernel may not end. What it reads must be ordered before the copy, and fenced by who wrote it. What lies outside the tensor is not stored.
//! What is stored is there at once: a read of it that comes too early is not caught.

use std::collections::VecDeque;

use super::op::{Addr, Src};
use super::run::{Machine, Run, Warp, lanes};
use crate::fault::{Clash, FaultKind};
use crate::report::Space;

/// (address, bytes) that copies read.
type Spans = Vec<(u64, u32)>;

/// What a lane's copies out of shared memory have not finished.
#[derive(Clone, Default)]
pub(super) struct Stores {
    open: Spans,
    groups: VecDeque<Spans>,
}

impl Warp {
    pub(super) fn tensor_store(&mut self, m: &mut Machine<'_, '_>, [src, map]: [Addr; 2], at: &[Src], on: u32) -> Run<()> {
        let line = self.site(m).line;
        for lane in lanes(on) {
            let thread = self.thread(lane);
            let tile = self.address(m, lane, src)?;
            let (map, at) = self.boxed(m, lane, tile, map, at)?;
            let row_bytes = usize::from(map.boxed[0]) * usize::from(map.element_bytes);
            for (number, row) in map.rows(&at).into_iter().enumerate() {
                let mut data = vec![0; row_bytes];
                for (from, address) in map.pieces(tile, number) {
                    m.world.shared.hold(thread, address, 8)?;
                    m.world.shared.read_by_unit(thread, line, address, &mut data[from..from + 8], &mut [])?;
                    self.stores[lane].open.push((address, 8));
                }
                if let Some((address, skip, len)) = row {
                    m.world.memory.write(address, &data[skip..skip + len]).map_err(|c| c.by(thread))?;
                }
            }
            m.world.recorder.access(self.site(m), Space::Global, true, map.box_bytes(), vec![(thread, map.address)]);
        }
        Ok(())
    }

    pub(super) fn commit_stores(&mut self, on: u32) {
        for lane in lanes(on) {
            let group = std::mem::take(&mut self.stores[lane].open);
            self.stores[lane].groups.push_back(group);
        }
    }

    /// All groups but the last `keep` are over.
    pub(super) fn wait_stores(&mut self, m: &mut Machine<'_, '_>, keep: usize, on: u32) {
        let line = self.site(m).line;
        for lane in lanes(on) {
            while self.stores[lane].groups.len() > keep {
                for (address, bytes) in self.stores[lane].groups.pop_front().expect("a group") {
                    m.world.shared.let_go(self.thread(lane), line, address, bytes);
                }
            }
        }
    }

    /// What is wrong with the kernel's end.
    pub(super) fn unread(&self) -> Option<Clash> {
        let lane = self.stores.iter().position(|s| !s.open.is_empty() || s.groups.iter().any(|g| !g.is_empty()))?;
        let sentence = "the kernel ends while a copy may still read shared memory";
        Some(Clash::new(FaultKind::AsyncNotWaited, sentence).by(self.thread(lane)))
    }
}

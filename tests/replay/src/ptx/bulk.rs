//! PTX `cp.async.bulk.tensor` out of shared memory: boxes that the unit stores, and the groups in
//! which they are waited for.
//!
//! The unit reads a box at any time up to its group's end: until a wait has found the group over,
//! nothing may write these bytes, and the kernel may not end. What it reads must be ordered before
//! the copy, and fenced by who wrote it. What lies outside the tensor is not stored, but a row that
//! ends within 16 bytes: the unit writes whole runs of so many (Triton's issue 11583, and an H200).
//! What is stored
//! is there at once, but nobody may touch it before the thread that started the copy has waited for
//! the group as a whole (a wait for its reads alone says nothing of its writes), nor another thread
//! that nothing orders behind that wait.

use std::collections::VecDeque;

use super::op::{Addr, Src};
use super::run::{Machine, Run, Warp, lanes};
use crate::fault::{Clash, FaultKind};
use crate::report::Space;

/// Bytes of a row that the unit writes at once.
const STORED: usize = 16;

/// (address, bytes) that copies read.
type Spans = Vec<(u64, u32)>;

/// Copies that are waited for together: what they read in shared memory, and the numbers of what
/// they write.
#[derive(Clone, Default)]
struct Group {
    reads: Spans,
    writes: Vec<usize>,
}

/// What a lane's copies out of shared memory have not finished.
#[derive(Clone, Default)]
pub(super) struct Stores {
    open: Group,
    groups: VecDeque<Group>,
}

/// A piece of global memory that a copy writes.
struct Piece {
    first: u64,
    end: u64,
    thread: u32,
    line: u32,
    /// When its thread had waited for it.
    over: Option<u32>,
}

/// What a block's copies have written to global memory.
#[derive(Default)]
pub(super) struct Stored(Vec<Piece>);

impl Machine<'_, '_> {
    /// Faults where a thread, or a unit for it, reads or writes what a copy may still be writing,
    /// or has written unseen.
    pub(super) fn check_stored(&self, me: u32, address: u64, bytes: u64, writes: bool) -> Run<()> {
        for piece in self
            .stored
            .0
            .iter()
            .filter(|piece| piece.first < address + bytes && address < piece.end)
        {
            let verb = if writes { "written" } else { "read" };
            let clash = |kind, what: &str| {
                Err(Clash::new(kind, format!("{verb} {what} {} stores here", piece.line))
                    .at(address)
                    .by(me))
            };
            let kinds = if writes {
                (FaultKind::AsyncOverwrite, FaultKind::RaceWriteAfterWrite)
            } else {
                (FaultKind::AsyncNotWaited, FaultKind::RaceReadAfterWrite)
            };
            match piece.over {
                None => return clash(kinds.0, "while nobody has waited for what the copy of line"),
                Some(time) if !self.world.shared.ordered(piece.thread, time, me) => {
                    return clash(
                        kinds.1,
                        "without a barrier after the wait for what the copy of line",
                    );
                }
                Some(_) => {}
            }
        }
        Ok(())
    }
}

impl Warp {
    pub(super) fn tensor_store(
        &mut self,
        m: &mut Machine<'_, '_>,
        [src, map]: [Addr; 2],
        at: &[Src],
        on: u32,
    ) -> Run<()> {
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
                    m.world.shared.read_by_unit(
                        thread,
                        line,
                        address,
                        &mut data[from..from + 8],
                        &mut [],
                    )?;
                    self.stores[lane].open.reads.push((address, 8));
                }
                m.world.recorder.report.clamped +=
                    u64::from(!map.bounded && row.is_none_or(|(.., len)| len < row_bytes));
                let run =
                    |len: usize, skip: usize| len.next_multiple_of(STORED).min(row_bytes - skip);
                if let Some((address, skip, len)) =
                    row.map(|(address, skip, len)| (address, skip, run(len, skip)))
                {
                    m.check_stored(thread, address, len as u64, true)?;
                    self.stores[lane].open.writes.push(m.stored.0.len());
                    m.stored.0.push(Piece {
                        first: address,
                        end: address + len as u64,
                        thread,
                        line,
                        over: None,
                    });
                    m.world.store((thread, line), address, &data[skip..skip + len], true)?;
                }
            }
            m.world.recorder.access(
                self.site(m),
                Space::Global,
                true,
                map.box_bytes(),
                vec![(thread, map.address)],
            );
        }
        Ok(())
    }

    pub(super) fn commit_stores(&mut self, on: u32) {
        for lane in lanes(on) {
            let group = std::mem::take(&mut self.stores[lane].open);
            self.stores[lane].groups.push_back(group);
        }
    }

    /// All groups but the last `keep` are over, or have at least read what they copy.
    pub(super) fn wait_stores(
        &mut self,
        m: &mut Machine<'_, '_>,
        keep: usize,
        read: bool,
        on: u32,
    ) {
        let line = self.site(m).line;
        for lane in lanes(on) {
            let thread = self.thread(lane);
            let count = self.stores[lane].groups.len().saturating_sub(keep);
            for group in self.stores[lane].groups.iter_mut().take(count) {
                for (address, bytes) in std::mem::take(&mut group.reads) {
                    m.world.shared.let_go(thread, line, address, bytes);
                }
            }
            if read {
                continue;
            }
            let time = m.world.shared.time(thread);
            for number in self.stores[lane].groups.drain(..count).flat_map(|group| group.writes) {
                m.stored.0[number].over = Some(time);
            }
        }
    }

    /// What is wrong with the kernel's end.
    pub(super) fn unread(&self) -> Option<Clash> {
        let lane = self.stores.iter().position(|s| {
            !s.open.reads.is_empty() || s.groups.iter().any(|g| !g.reads.is_empty())
        })?;
        let sentence = "the kernel ends while a copy may still read shared memory";
        Some(Clash::new(FaultKind::AsyncNotWaited, sentence).by(self.thread(lane)))
    }
}

//! The shared memory of one block, with a happens-before record for every byte.
//!
//! Time is a vector clock over warps. An access carries the clock of its warp; a barrier moves the
//! clocks of its warps on and lets each see what the others did before. An access by another thread
//! is *ordered* when its time is below what the present warp has seen. Threads of one warp are not
//! ordered among themselves, except on machines whose waves run in lockstep.
//!
//! An asynchronous copy marks its bytes from issue to completion; any use in between is a fault. On
//! completion it counts as a write by the issuing thread at that time.
//!
//! Not modelled: clusters, named barriers across blocks.

use std::collections::BTreeMap;

use crate::fault::{Clash, FaultKind};
use crate::tags::Tag;

const MANY: u32 = 0xff;

#[derive(Clone, Copy, Default)]
struct Write {
    thread: u32,
    time: u32,
    line: u32,
}

/// Readers of a byte in one warp: the time of the last read, the lane (or many), the line.
#[derive(Clone, Copy, Default)]
struct Read {
    time: u32,
    lane: u32,
    line: u32,
}

#[derive(Clone)]
struct Copy {
    thread: u32,
    line: u32,
    spans: Vec<(u32, u32)>,
}

pub(crate) struct Shared {
    base: u32,
    warp_lanes: u32,
    lockstep: bool,
    warps: usize,
    bytes: Vec<u8>,
    initialised: Vec<bool>,
    tags: Vec<Tag>,
    writes: Vec<Write>,
    /// Bytes that several warps wrote with one instruction, all of them the same: the writes before
    /// the last, and whether they were fenced since.
    also: BTreeMap<usize, Vec<(Write, bool)>>,
    reads: Vec<Read>,
    pending: Vec<u32>,
    /// Written through the generic proxy and not fenced since.
    unfenced: Vec<bool>,
    /// Warps that read this through the generic proxy and have not fenced since, one bit each.
    unfenced_reads: Vec<u32>,
    barriers: Vec<bulk::Barrier>,
    /// Reads of matrix units that are not over.
    held: Vec<u16>,
    copies: Vec<Copy>,
    now: Vec<u32>,
    seen: Vec<Vec<u32>>,
    early: Option<(u32, Clash)>,
}

impl Shared {
    /// `base` is the address of byte 0 as instructions see it.
    pub fn new(base: u32, len: u32, threads: u32, warp_lanes: u32, lockstep: bool) -> Self {
        // More warps: a unit that copies for each barrier (see `bulk`). They read nothing here.
        let (len, warps) = (len as usize, threads.div_ceil(warp_lanes) as usize);
        let clocks = warps + bulk::UNITS;
        Shared {
            base,
            warp_lanes,
            lockstep,
            warps,
            bytes: vec![0; len],
            initialised: vec![false; len],
            tags: vec![0; len.div_ceil(2)],
            writes: vec![Write::default(); len],
            also: BTreeMap::new(),
            reads: vec![Read::default(); len * warps],
            pending: vec![0; len],
            unfenced: vec![false; len],
            unfenced_reads: vec![0; len],
            barriers: Vec::new(),
            held: vec![0; len],
            copies: Vec::new(),
            now: vec![1; clocks],
            seen: vec![vec![0; clocks]; clocks],
            early: None,
        }
    }

    fn warp(&self, thread: u32) -> usize {
        (thread / self.warp_lanes) as usize
    }

    /// Number of a thread's warp.
    pub fn warp_of(&self, thread: u32) -> u32 {
        self.warp(thread) as u32
    }

    /// A lane of a warp that is not this thread.
    pub fn other_lane(&self, warp: u32, me: u32) -> u32 {
        let first = warp * self.warp_lanes;
        if first == me { first + 1 } else { first }
    }

    /// Whether what a thread did at a time is done for another.
    pub fn ordered(&self, thread: u32, time: u32, me: u32) -> bool {
        let (theirs, mine) = (self.warp(thread), self.warp(me));
        thread == me || (self.lockstep && theirs == mine) || time < self.seen[mine][theirs]
    }

    fn span(&self, address: u64, len: u32, me: u32) -> Result<usize, Clash> {
        let offset = address.wrapping_sub(u64::from(self.base));
        if offset.saturating_add(u64::from(len)) <= self.bytes.len() as u64 {
            return Ok(offset as usize);
        }
        Err(Clash::new(
            FaultKind::SharedOutOfBounds,
            format!(
                "{len} bytes are not within the block's shared memory, {:#x}..{:#x}",
                self.base,
                self.base as usize + self.bytes.len()
            ),
        )
        .at(address)
        .by(me))
    }

    fn address(&self, byte: usize) -> u64 {
        u64::from(self.base) + byte as u64
    }

    fn check_not_pending(&self, byte: usize, me: u32, verb: &str) -> Result<(), Clash> {
        let Some(index) = self.pending[byte].checked_sub(1) else {
            return Ok(());
        };
        let copy = &self.copies[index as usize];
        let who = if copy.thread == me {
            "this thread".to_string()
        } else {
            format!("thread {}", copy.thread)
        };
        Err(Clash::new(
            FaultKind::AsyncNotWaited,
            format!(
                "{verb} while the copy that {who} issued at line {} has not been waited for",
                copy.line
            ),
        )
        .at(self.address(byte))
        .by(me))
    }

    /// What these threads wrote is visible to matrix units from now on. A copy that has not been
    /// waited for is not.
    pub fn proxy_fence(&mut self, threads: &[u32]) {
        for byte in 0..self.bytes.len() {
            if self.unfenced[byte]
                && self.pending[byte] == 0
                && threads.contains(&self.writes[byte].thread)
            {
                self.unfenced[byte] = false;
            }
        }
        for (write, fenced) in self.also.values_mut().flatten() {
            *fenced |= threads.contains(&write.thread);
        }
        // A warp's reads are fenced when all its lanes fence.
        for warp in 0..self.warps as u32 {
            let lanes = warp * self.warp_lanes..(warp + 1) * self.warp_lanes;
            if lanes.clone().all(|lane| threads.contains(&lane)) {
                self.unfenced_reads.iter_mut().for_each(|warps| *warps &= !(1 << (warp % 32)));
            }
        }
        self.publish(threads);
    }

    /// A write that has not been fenced.
    fn unfenced(&self, byte: usize) -> Option<Write> {
        let last = self.unfenced[byte].then_some(self.writes[byte]);
        last.or_else(|| {
            self.also.get(&byte)?.iter().find(|(_, fenced)| !fenced).map(|(write, _)| *write)
        })
    }

    /// All writes that nothing has replaced: several only where all wrote the same.
    fn last_writes(&self, byte: usize) -> impl Iterator<Item = Write> {
        self.also
            .get(&byte)
            .into_iter()
            .flatten()
            .map(|(write, _)| *write)
            .chain([self.writes[byte]])
    }

    /// A matrix unit reads bytes from now on, until it lets them go.
    pub fn hold(&mut self, me: u32, address: u64, len: u32) -> Result<(), Clash> {
        let start = self.span(address, len, me)?;
        for byte in start..start + len as usize {
            if let Some(write) = self.unfenced(byte) {
                let sentence = format!(
                    "read by a matrix unit, and thread {} has not fenced its write at line {}",
                    write.thread, write.line
                );
                return Err(Clash::new(FaultKind::UnitNotFenced, sentence)
                    .at(self.address(byte))
                    .by(me));
            }
            self.held[byte] += 1;
        }
        Ok(())
    }

    /// A copy of AMD's reads bytes from now on, until it lets them go.
    pub fn hold_by_copy(&mut self, me: u32, address: u64, len: u32) -> Result<(), Clash> {
        let start = self.span(address, len, me)?;
        self.held[start..start + len as usize].iter_mut().for_each(|held| *held += 1);
        Ok(())
    }

    /// The unit has read them.
    pub fn let_go(&mut self, me: u32, line: u32, address: u64, len: u32) {
        let Ok(start) = self.span(address, len, me) else { return };
        for byte in start..start + len as usize {
            self.held[byte] -= 1;
        }
        self.note_read(me, line, start, len as usize);
    }

    /// The same, where what says that the read is over also says who may know it.
    pub fn end_hold(&mut self, me: u32, address: u64, len: u32) {
        let Ok(start) = self.span(address, len, me) else { return };
        self.held[start..start + len as usize].iter_mut().for_each(|held| *held -= 1);
    }

    fn check_not_held(&self, byte: usize, me: u32) -> Result<(), Clash> {
        if self.held[byte] == 0 {
            return Ok(());
        }
        Err(Clash::new(
            FaultKind::AsyncOverwrite,
            "written while a matrix unit or a copy may still read it",
        )
        .at(self.address(byte))
        .by(me))
    }

    fn check_write_order(
        &self,
        byte: usize,
        me: u32,
        kind: FaultKind,
        verb: &str,
    ) -> Result<(), Clash> {
        let early = self
            .last_writes(byte)
            .find(|write| write.time != 0 && !self.ordered(write.thread, write.time, me));
        let Some(write) = early else { return Ok(()) };
        let sentence = format!(
            "{verb} without a barrier after the write by thread {} at line {}",
            write.thread, write.line
        );
        Err(Clash::new(kind, sentence).at(self.address(byte)).by(me))
    }

    fn check_read_order(
        &self,
        byte: usize,
        me: u32,
        kind: FaultKind,
        verb: &str,
    ) -> Result<(), Clash> {
        for warp in 0..self.warps {
            let read = self.reads[byte * self.warps + warp];
            if read.time == 0 {
                continue;
            }
            let mine = warp == self.warp(me);
            let same = mine && (self.lockstep || read.lane == me % self.warp_lanes);
            if !same && read.time >= self.seen[self.warp(me)][warp] {
                let who = if read.lane == MANY {
                    format!("several threads of warp {warp}")
                } else {
                    format!("thread {}", warp as u32 * self.warp_lanes + read.lane)
                };
                let sentence = format!(
                    "{verb} without a barrier after the read by {who} at line {}",
                    read.line
                );
                return Err(Clash::new(kind, sentence).at(self.address(byte)).by(me));
            }
        }
        Ok(())
    }

    /// Reads bytes; `tags` (may be empty) receives one tag for every two bytes from an even
    /// address.
    pub fn read(
        &mut self,
        me: u32,
        line: u32,
        address: u64,
        out: &mut [u8],
        tags: &mut [Tag],
    ) -> Result<(), Clash> {
        self.read_by_unit(me, line, address, out, tags)?;
        let start = self.span(address, out.len() as u32, me)?;
        let warp = self.warp(me) as u32 % 32;
        self.unfenced_reads[start..start + out.len()]
            .iter_mut()
            .for_each(|warps| *warps |= 1 << warp);
        Ok(())
    }

    /// The same through the asynchronous proxy.
    pub fn read_by_unit(
        &mut self,
        me: u32,
        line: u32,
        address: u64,
        out: &mut [u8],
        tags: &mut [Tag],
    ) -> Result<(), Clash> {
        let start = self.span(address, out.len() as u32, me)?;
        for (i, slot) in out.iter_mut().enumerate() {
            let byte = start + i;
            self.check_not_pending(byte, me, "read")?;
            if !self.initialised[byte] && self.early.is_none() {
                let clash = Clash::new(FaultKind::UninitialisedShared, "nothing was written here");
                self.early = Some((line, clash.at(self.address(byte)).by(me)));
            }
            self.check_write_order(byte, me, FaultKind::RaceReadAfterWrite, "read")?;
            *slot = self.bytes[byte];
        }
        self.check_no_barrier(me, start, out.len())?;
        self.note_read(me, line, start, out.len());
        for (i, tag) in tags.iter_mut().enumerate() {
            *tag = if start.is_multiple_of(2) { self.tags[start / 2 + i] } else { 0 };
        }
        Ok(())
    }

    /// Whether something was written to a byte.
    pub fn is_written(&self, me: u32, address: u64) -> Result<bool, Clash> {
        self.span(address, 1, me).map(|byte| self.initialised[byte])
    }

    /// The judgment of a read of unwritten bytes waits until the next barrier: if another warp
    /// writes them before, the fault is the missing barrier.
    pub fn early_read(&mut self) -> Result<(), (u32, Clash)> {
        self.early.take().map_or(Ok(()), Err)
    }

    /// Which of an early read and a later fault to report.
    pub fn choose(&mut self, line: u32, clash: Clash) -> (u32, Clash) {
        use FaultKind::{AsyncOverwrite, RaceWriteAfterRead};
        match self.early.take() {
            Some(early) if !matches!(clash.kind, RaceWriteAfterRead | AsyncOverwrite) => early,
            _ => (line, clash),
        }
    }

    fn note_read(&mut self, me: u32, line: u32, start: usize, len: usize) {
        let (warp, lane) = (self.warp(me), me % self.warp_lanes);
        let time = self.now[warp];
        for byte in start..start + len {
            let read = &mut self.reads[byte * self.warps + warp];
            let lane = if read.time == time && read.lane != lane { MANY } else { lane };
            *read = Read { time, lane, line };
        }
    }

    /// Threads that store the same value to one place with one instruction: whichever is last, the
    /// value is the same. Whoever comes behind must be ordered after all of them.
    fn is_copy(&self, byte: usize, me: u32, line: u32, value: u8) -> bool {
        let now = self.now[self.warp(me)];
        let together = |write: Write| {
            let same = self.warp(write.thread) == self.warp(me) && write.time == now;
            write.line == line && (same || self.warp(write.thread) != self.warp(me))
                || self.ordered(write.thread, write.time, me)
        };
        self.initialised[byte]
            && self.bytes[byte] == value
            && self.pending[byte] == 0
            && self.last_writes(byte).all(together)
    }

    /// Keeps other warps' copies of a byte that `me` writes now.
    fn keep_copies(&mut self, byte: usize, me: u32) {
        let last = self.writes[byte];
        let kept = |write: &Write| {
            write.time != 0
                && self.warp(write.thread) != self.warp(me)
                && !self.ordered(write.thread, write.time, me)
        };
        let mut all: Vec<(Write, bool)> = self
            .also
            .get(&byte)
            .into_iter()
            .flatten()
            .filter(|(write, _)| kept(write))
            .copied()
            .collect();
        if kept(&last) {
            all.push((last, !self.unfenced[byte]));
        }
        if all.is_empty() {
            self.also.remove(&byte)
        } else {
            self.also.insert(byte, all)
        };
    }

    /// Writes bytes with one tag for every two bytes (from an even address).
    pub fn write(
        &mut self,
        me: u32,
        line: u32,
        address: u64,
        data: &[u8],
        tags: &[Tag],
    ) -> Result<(), Clash> {
        let start = self.span(address, data.len() as u32, me)?;
        self.check_no_barrier(me, start, data.len())?;
        for byte in start..start + data.len() {
            self.check_not_pending(byte, me, "write")?;
            self.check_not_held(byte, me)?;
            if !self.is_copy(byte, me, line, data[byte - start]) {
                self.check_write_order(byte, me, FaultKind::RaceWriteAfterWrite, "write")?;
            }
            self.check_read_order(byte, me, FaultKind::RaceWriteAfterRead, "write")?;
        }
        (start..start + data.len()).for_each(|byte| self.keep_copies(byte, me));
        self.store(start, data, tags);
        self.note_write(me, line, start, data.len());
        Ok(())
    }

    fn store(&mut self, start: usize, data: &[u8], tags: &[Tag]) {
        self.bytes[start..start + data.len()].copy_from_slice(data);
        self.initialised[start..start + data.len()].fill(true);
        let whole = start.is_multiple_of(2) && data.len().is_multiple_of(2);
        for unit in start / 2..(start + data.len()).div_ceil(2) {
            self.tags[unit] =
                if whole { tags.get(unit - start / 2).copied().unwrap_or(0) } else { 0 };
        }
    }

    fn note_write(&mut self, me: u32, line: u32, start: usize, len: usize) {
        self.unfenced[start..start + len].fill(true);
        let time = self.now[self.warp(me)];
        self.writes[start..start + len].fill(Write { thread: me, time, line });
    }

    /// Starts a copy into shared memory; each piece is (issuing thread, address, data, tags).
    pub fn begin_copy(
        &mut self,
        line: u32,
        pieces: &[(u32, u64, Vec<u8>, Vec<Tag>)],
    ) -> Result<u32, Clash> {
        let id = self.copies.len() as u32 + 1;
        let mut spans = Vec::with_capacity(pieces.len());
        let thread = pieces.first().map_or(0, |p| p.0);
        self.copies.push(Copy { thread, line, spans: Vec::new() });
        for (me, address, data, tags) in pieces {
            let start = self.span(*address, data.len() as u32, *me)?;
            self.check_no_barrier(*me, start, data.len())?;
            for byte in start..start + data.len() {
                self.check_not_pending(byte, *me, "copy started").map_err(|mut c| {
                    c.kind = FaultKind::AsyncOverwrite;
                    c
                })?;
                self.check_not_held(byte, *me)?;
                self.check_write_order(byte, *me, FaultKind::AsyncOverwrite, "copy started")?;
                self.check_read_order(byte, *me, FaultKind::AsyncOverwrite, "copy started")?;
                self.pending[byte] = id;
            }
            self.store(start, data, tags);
            (start..start + data.len()).for_each(|byte| self.keep_copies(byte, *me));
            spans.push((*me, start as u32, data.len() as u32));
        }
        self.copies[id as usize - 1].spans = spans.iter().map(|s| (s.1, s.2)).collect();
        for (me, start, len) in spans {
            self.note_write(me, line, start as usize, len as usize);
        }
        Ok(id)
    }

    /// The issuing thread (or wave) has waited for the copy.
    pub fn end_copy(&mut self, id: u32) {
        let copy = self.copies[id as usize - 1].clone();
        let time = self.now[self.warp(copy.thread)];
        for (start, len) in copy.spans {
            for byte in start as usize..(start + len) as usize {
                if self.pending[byte] == id {
                    self.pending[byte] = 0;
                    self.unfenced[byte] = true;
                    self.writes[byte].time = time;
                }
            }
        }
    }

    /// The present time of a thread.
    pub fn time(&self, thread: u32) -> u32 {
        self.now[self.warp(thread)]
    }

    /// Accesses of a warp that were issued but not performed when it passed a barrier: they happen
    /// at the new time.
    pub fn carry_over(&mut self, me: u32, line: u32, address: u64, len: u32, is_write: bool) {
        let Ok(start) = self.span(address, len, me) else {
            return;
        };
        if is_write {
            (start..start + len as usize).for_each(|byte| self.keep_copies(byte, me));
            self.note_write(me, line, start, len as usize);
        } else {
            self.note_read(me, line, start, len as usize);
        }
    }

    /// What a warp has done and seen, for those who learn of it; what it does from now on is later.
    pub fn release(&mut self, warp: usize) -> Vec<u32> {
        self.now[warp] += 1;
        let mut clock = self.seen[warp].clone();
        clock[warp] = self.now[warp];
        clock
    }

    /// A warp learns what others have released.
    pub fn acquire(&mut self, warp: usize, clock: &[u32]) {
        self.seen[warp].iter_mut().zip(clock).for_each(|(seen, told)| *seen = (*seen).max(*told));
    }

    /// All threads of these warps have met.
    pub fn barrier(&mut self, warps: &[usize]) {
        let mut merged = vec![0; self.now.len()];
        for &warp in warps {
            self.now[warp] += 1;
            for (most, seen) in merged.iter_mut().zip(&self.seen[warp]) {
                *most = (*most).max(*seen);
            }
        }
        for &warp in warps {
            merged[warp] = self.now[warp];
        }
        for &warp in warps {
            self.seen[warp].clone_from(&merged);
        }
    }
}

#[path = "shared_bulk.rs"]
mod bulk;
pub(crate) use bulk::Completed;

#[cfg(test)]
#[path = "shared_tests.rs"]
mod tests;

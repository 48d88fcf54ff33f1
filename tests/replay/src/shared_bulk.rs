//! Asynchronous copies of a unit, and the barriers in shared memory that they complete on.
//!
//! What completes on one barrier is done by one more warp in the record, behind the block's: what
//! it writes is ordered before a read only in warps that have waited for the phase that the copy
//! belongs to. A copy's data are there at once; it counts the barrier's bytes down as late as it can
//! (see `ptx::phase`). What a warp did before it arrived as a whole is ordered before what waits for
//! that phase; arrivals that announce bytes order nothing (they do in hardware), so that more is
//! refused than must be.
//!
//! A copy goes through the asynchronous proxy: bytes that threads wrote or read must have been
//! fenced by them since.

use super::{Shared, Write};
use crate::fault::{Clash, FaultKind};
use crate::tags::Tag;

/// Bytes of a barrier.
const BARRIER_BYTES: u32 = 8;
/// Most bytes that one announces.
const MOST_BYTES: u64 = (1 << 20) - 1;

/// Warps that stand for units. More barriers than this share them, so that less is refused.
pub(super) const UNITS: usize = 64;

/// A barrier that counts arrivals and bytes.
#[derive(Clone, Debug)]
pub(super) struct Barrier {
    address: u64,
    /// Arrivals of a phase.
    count: u32,
    /// Arrivals that are missing in this one.
    missing: u32,
    /// Bytes announced and not copied.
    bytes: i64,
    /// Phases that are over.
    phases: u64,
    /// Who made it, and whether it has fenced that since.
    maker: u32,
    published: bool,
    /// The unit's time that this phase has seen, and that the phases before it had.
    time: u32,
    over: u32,
}

/// What a copy of a unit counts its barrier down by.
#[derive(Clone, Copy, Debug)]
pub struct Completed {
    bytes: i64,
    /// The unit's time behind it.
    time: u32,
}

impl Shared {
    /// The warp of the unit whose copies complete on a barrier.
    fn unit(&self, barrier: usize) -> usize {
        self.warps + barrier % UNITS
    }

    /// The thread that stands for the unit whose copies complete on the barrier at an address, and its
    /// time.
    pub fn unit_now(&self, barrier: u64) -> (u32, u32) {
        let index = self.barriers.iter().position(|b| b.address == barrier).unwrap_or(0);
        let unit = self.unit(index);
        (unit as u32 * self.warp_lanes, self.now[unit])
    }

    fn find(&mut self, me: u32, address: u64) -> Result<usize, Clash> {
        let start = self.span(address, BARRIER_BYTES, me)?;
        let found = self.barriers.iter().position(|b| b.address == address);
        let index = found.ok_or_else(|| {
            Clash::new(FaultKind::UninitialisedShared, "no barrier was made here")
                .at(address)
                .by(me)
        })?;
        for byte in start..start + BARRIER_BYTES as usize {
            self.check_write_order(byte, me, FaultKind::RaceReadAfterWrite, "the barrier is used")?;
        }
        Ok(index)
    }

    /// Faults where a plain access touches a barrier.
    pub(super) fn check_no_barrier(&self, me: u32, start: usize, len: usize) -> Result<(), Clash> {
        let first = self.address(start);
        let hit = self.barriers.iter().find(|b| {
            b.address < first + len as u64 && first < b.address + u64::from(BARRIER_BYTES)
        });
        match hit {
            None => Ok(()),
            Some(b) => Err(Clash::new(FaultKind::InvalidOperand, "this access touches a barrier")
                .at(b.address)
                .by(me)),
        }
    }

    /// Makes a barrier.
    pub fn make_barrier(
        &mut self,
        me: u32,
        line: u32,
        address: u64,
        count: u64,
    ) -> Result<(), Clash> {
        if !address.is_multiple_of(BARRIER_BYTES.into()) {
            return Err(Clash::new(FaultKind::Misaligned, "a barrier starts at a multiple of 8")
                .at(address)
                .by(me));
        }
        if !(1..=MOST_BYTES).contains(&count) {
            return Err(Clash::new(
                FaultKind::InvalidOperand,
                format!("a barrier for {count} arrivals"),
            )
            .at(address)
            .by(me));
        }
        self.write(me, line, address, &[0; BARRIER_BYTES as usize], &[])?;
        let count = count as u32;
        self.barriers.push(Barrier {
            address,
            count,
            missing: count,
            bytes: 0,
            phases: 0,
            maker: me,
            published: false,
            time: 0,
            over: 0,
        });
        Ok(())
    }

    /// What these threads made is visible to the unit from now on.
    pub fn publish(&mut self, threads: &[u32]) {
        self.barriers
            .iter_mut()
            .filter(|b| threads.contains(&b.maker))
            .for_each(|b| b.published = true);
    }

    /// Arrives at a barrier and announces bytes; whether that ends a phase.
    pub fn announce(&mut self, me: u32, address: u64, bytes: u64) -> Result<bool, Clash> {
        let index = self.find(me, address)?;
        let barrier = &mut self.barriers[index];
        let refuse = |sentence: String| {
            Err(Clash::new(FaultKind::InvalidOperand, sentence).at(address).by(me))
        };
        if bytes > MOST_BYTES {
            return refuse(format!("{bytes} bytes are announced, {MOST_BYTES} is the most"));
        }
        let Some(missing) = barrier.missing.checked_sub(1) else {
            return refuse(format!("all {} arrivals of this phase are there", barrier.count));
        };
        barrier.missing = missing;
        barrier.bytes += bytes as i64;
        let before = barrier.phases;
        barrier.turn();
        Ok(barrier.phases != before)
    }

    /// A copy of the unit into shared memory that thread `me` starts; each piece is (address, data,
    /// tags). How much the barrier is counted down when it completes.
    pub fn unit_copy(
        &mut self,
        me: u32,
        line: u32,
        pieces: &[(u64, &[u8], &[Tag])],
        barrier: u64,
    ) -> Result<Completed, Clash> {
        let index = self.find(me, barrier)?;
        if !self.barriers[index].published {
            let sentence = format!(
                "the unit arrives at this barrier, and thread {} has not fenced its making",
                self.barriers[index].maker
            );
            return Err(Clash::new(FaultKind::UnitNotFenced, sentence).at(barrier).by(me));
        }
        let unit = self.unit(index);
        let (thread, time) = (unit as u32 * self.warp_lanes, self.now[unit]);
        let mut total = 0;
        for (address, data, tags) in pieces {
            let start = self.span(*address, data.len() as u32, me)?;
            self.check_no_barrier(me, start, data.len())?;
            for byte in start..start + data.len() {
                self.check_not_pending(byte, me, "copied to")
                    .map_err(|c| Clash { kind: FaultKind::AsyncOverwrite, ..c })?;
                self.check_not_held(byte, me)?;
                self.check_write_order(byte, me, FaultKind::AsyncOverwrite, "copied to")?;
                self.check_read_order(byte, me, FaultKind::AsyncOverwrite, "copied to")?;
                let written = self.unfenced(byte).is_some();
                if written || self.unfenced_reads[byte] != 0 {
                    let what = if written { "wrote" } else { "read" };
                    let sentence = format!(
                        "copied to by the unit, and a thread that {what} this has not fenced since"
                    );
                    return Err(Clash::new(FaultKind::UnitNotFenced, sentence)
                        .at(self.address(byte))
                        .by(me));
                }
            }
            self.store(start, data, tags);
            (start..start + data.len()).for_each(|byte| drop(self.also.remove(&byte)));
            self.writes[start..start + data.len()].fill(Write { thread, time, line });
            total += data.len() as i64;
        }
        self.now[unit] += 1;
        Ok(Completed { bytes: total, time: time + 1 })
    }

    /// A copy completes; whether this ends a phase of its barrier.
    pub fn complete(&mut self, address: u64, copy: Completed) -> bool {
        let Some(barrier) = self.barriers.iter_mut().find(|b| b.address == address) else {
            return false;
        };
        let before = barrier.phases;
        barrier.bytes -= copy.bytes;
        barrier.time = barrier.time.max(copy.time);
        barrier.turn();
        barrier.phases != before
    }

    /// Whether a unit can arrive at a barrier.
    pub fn will_arrive(&mut self, me: u32, address: u64) -> Result<(), Clash> {
        let index = self.find(me, address)?;
        if self.barriers[index].published {
            return Ok(());
        }
        let sentence = format!(
            "the unit arrives at this barrier, and thread {} has not fenced its making",
            self.barriers[index].maker
        );
        Err(Clash::new(FaultKind::UnitNotFenced, sentence).at(address).by(me))
    }

    /// A unit arrives at a barrier; whether this ends a phase.
    pub fn arrive(&mut self, address: u64) -> bool {
        let Some(barrier) = self.barriers.iter_mut().find(|b| b.address == address) else {
            return false;
        };
        let before = barrier.phases;
        barrier.missing = barrier.missing.saturating_sub(1);
        barrier.turn();
        barrier.phases != before
    }

    /// Whether the phase with this parity is over: it is not the one that runs.
    pub fn is_over(&mut self, me: u32, address: u64, parity: u64) -> Result<bool, Clash> {
        if parity > 1 {
            return Err(Clash::new(FaultKind::InvalidOperand, format!("parity {parity}"))
                .at(address)
                .by(me));
        }
        let index = self.find(me, address)?;
        Ok(self.barriers[index].phases & 1 != parity)
    }

    /// A whole warp has found a barrier's phase over: it sees what the unit did in the phases that
    /// are.
    pub fn see(&mut self, me: u32, address: u64) -> Result<(), Clash> {
        let index = self.find(me, address)?;
        let (unit, warp, over) = (self.unit(index), self.warp(me), self.barriers[index].over);
        self.seen[warp][unit] = self.seen[warp][unit].max(over);
        Ok(())
    }

    /// Announced bytes that no copy has brought, for a fault's sentence.
    pub fn state(&self, address: u64) -> String {
        let Some(b) = self.barriers.iter().find(|b| b.address == address) else {
            return "there is no barrier".to_string();
        };
        format!("phase {}: {} arrivals and {} bytes are missing", b.phases, b.missing, b.bytes)
    }
}

impl Barrier {
    /// The phase ends when nobody and nothing is missing.
    fn turn(&mut self) {
        if self.missing == 0 && self.bytes == 0 {
            self.phases += 1;
            self.missing = self.count;
            self.over = self.over.max(self.time);
        }
    }
}

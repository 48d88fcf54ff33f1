//! gfx1250: copies between global memory and LDS that name an LDS address in each lane and are
//! counted by `asynccnt`.
//!
//! Completion is reported in the order of issue among copies of one direction (AMDGPUUsage, memory
//! model of gfx125x); between the two directions nothing is promised, and nothing orders them with
//! LDS instructions of the same wave but a wait.

use super::op::{Queue, Vmem};
use super::run::Machine;
use super::wave::{Pending, Run, Wave};
use crate::fault::{Clash, FaultKind};
use crate::report::Space;

impl Wave {
    /// Each lane's bytes from global memory to its address in LDS, or the other way; the
    /// instruction's offset moves both.
    pub(super) fn between_memories(
        &mut self,
        m: &mut Machine<'_, '_>,
        f: &Vmem,
        lds: u16,
    ) -> Run<()> {
        self.check_read(lds, super::hazard::User::Memory)?;
        self.hazards.advance(1);
        let (mut pieces, mut global, mut shared) = (Vec::new(), Vec::new(), Vec::new());
        for lane in self.lanes() {
            let thread = self.thread(lane);
            let address = self.vector_address(f, None, lane)?;
            let at = u64::from(self.lane_value(lds, lane, 3)?.value).wrapping_add(f.offset as u64);
            for (what, value) in [("global", address), ("LDS", at)] {
                // HIP's own copies (amd_hip_cooperative_groups) move 16 bytes at a time between
                // addresses of no such alignment.
                let need = u64::from(f.bytes.min(4));
                if !value.is_multiple_of(need) {
                    return Err(Clash::new(
                        FaultKind::Misaligned,
                        format!("the {what} address must be a multiple of {need}"),
                    )
                    .at(value)
                    .by(thread));
                }
            }
            let (mut data, mut tags) = (vec![0; f.bytes as usize], vec![0; f.bytes as usize / 2]);
            if f.store {
                self.check_written(thread, at, f.bytes)?;
                m.world.shared.read_by_unit(thread, self.line, at, &mut data, &mut tags)?;
                m.world.shared.hold_by_copy(thread, at, f.bytes)?;
                m.world.store((thread, self.line), address, &data, false)?;
            } else {
                m.world.load((thread, self.line), address, &mut data, &mut tags)?;
            }
            global.push((thread, address));
            shared.push((thread, at));
            pieces.push((thread, at, data, tags));
        }
        let mut pending = self.pending();
        (pending.global, pending.stores) = (super::vmem::touched(&global, f.bytes), f.store);
        if f.store {
            pending.held = pieces.iter().map(|p| (p.0, p.1, f.bytes)).collect();
        } else {
            self.check_overwrite(&pieces)?;
            pending.copy = Some(m.world.shared.begin_copy(self.line, &pieces)?);
        }
        let (site, lanes) = (self.site(m), self.size as u32);
        let banks: Vec<_> = pieces.iter().map(|p| (p.0 % lanes, p.1, f.bytes)).collect();
        m.world.recorder.access(site, Space::Global, f.store, f.bytes, global);
        m.world.recorder.access(site, Space::Shared, !f.store, f.bytes, shared);
        let rule =
            format!("{}_b{}", if f.store { "ds_read" } else { "ds_write" }, (8 * f.bytes).max(32));
        m.world.recorder.transactions(site.line, &[&rule], &banks);
        self.issue(Queue::Async, pending);
        Ok(())
    }

    /// A copy reads bytes of LDS that an LDS instruction of this wave may not have written yet.
    fn check_written(&self, thread: u32, address: u64, len: u32) -> Run<()> {
        let overlaps = |&(_, start, bytes): &(u32, u64, u32)| {
            start < address + u64::from(len) && address < start + u64::from(bytes)
        };
        match self
            .queue(Queue::Lgkm)
            .iter()
            .find(|p: &&Pending| p.is_write && p.spans.iter().any(overlaps))
        {
            Some(pending) => {
                let sentence = format!(
                    "a copy reads what the LDS write at line {} writes, which has not been waited for",
                    pending.line
                );
                Err(Clash::new(FaultKind::AsyncNotWaited, sentence).at(address).by(thread))
            }
            None => Ok(()),
        }
    }
}

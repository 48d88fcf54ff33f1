//! Loads from tensor memory and stores to it, and what has to be over before a cell is used.

use super::super::op::{Reg, Src};
use super::super::register::Cell;
use super::super::run::{LANES, Machine, Run, Warp};
use super::{Shape, TensorCell};
use crate::fault::{Clash, FaultKind};

impl Warp {
    /// Faults if a product that wrote the cell may not be done yet.
    pub(super) fn check_done(&self, cell: &TensorCell, me: u32, verb: &str) -> Run<()> {
        let (thread, number) = cell.written;
        if number == 0 || self.tensor.known.get(&thread).is_some_and(|known| *known >= number) {
            return Ok(());
        }
        let sentence = format!(
            "a cell of tensor memory is {verb}, and the product of thread {thread} that writes it is not waited for, or no fence follows"
        );
        Err(Clash::new(FaultKind::TensorNotReady, sentence).by(me))
    }

    /// Faults if a load of another warp, or one of this warp that is not waited for, may still read
    /// the cell.
    pub(super) fn check_unread(&self, cell: &TensorCell, verb: &str) -> Run<()> {
        let (warp, number) = cell.read;
        let over = if warp == self.index {
            self.tensor.waited
        } else {
            self.tensor.known_loads.get(&warp).copied().unwrap_or(0)
        };
        if number == 0 || over >= number {
            return Ok(());
        }
        Err(Clash::new(
            FaultKind::TensorOverwrite,
            format!("a cell of tensor memory is {verb}, and warp {warp} may still load it"),
        ))
    }

    /// Faults if a store of another warp that nothing orders before, or one of this warp that is
    /// not waited for, may still fill the cell.
    pub(super) fn check_stored(&self, cell: &TensorCell, verb: &str) -> Run<()> {
        let (warp, number) = cell.stored;
        let over = if warp == self.index {
            self.tensor.stores_waited
        } else {
            self.tensor.known_stores.get(&warp).copied().unwrap_or(0)
        };
        if number == 0 || over >= number {
            return Ok(());
        }
        Err(Clash::new(
            FaultKind::TensorNotReady,
            format!("a cell of tensor memory is {verb}, and warp {warp} may still be storing it"),
        ))
    }

    /// Lane and column of the cell so far from an address: of lanes that this warp reaches, and
    /// allocated.
    pub(super) fn reached(
        &self,
        m: &Machine<'_, '_>,
        (lanes, columns): (u32, u32),
        at: u32,
    ) -> Run<(u32, u32)> {
        let (l, c) = ((at >> 16) + lanes, (at & 0xffff) + columns);
        if l / 32 != self.index % 4 {
            let sentence = format!("warp {} does not reach lane {l} of tensor memory", self.index);
            return Err(Clash::new(FaultKind::TensorReach, sentence));
        }
        m.tensor.check_allocated(c)?;
        Ok((l, c))
    }

    pub(super) fn store_tensor(
        &mut self,
        m: &mut Machine<'_, '_>,
        shape: Shape,
        values: &[Src],
        at: u32,
        split: u32,
    ) -> Run<()> {
        self.tensor.stores += 1;
        let number = self.tensor.stores;
        for lane in 0..LANES {
            let thread = self.thread(lane);
            for (r, source) in (0..).zip(values) {
                let (l, c) = self
                    .reached(m, shape.cell(lane as u32, r, split), at)
                    .map_err(|clash| clash.by(thread))?;
                let cell = *m.tensor.at(l, c);
                // Nothing says in which order two stores, or a load and a store, of one warp reach
                // a cell before the wait for the first.
                self.check_unread(&cell, "stored").map_err(|clash| clash.by(thread))?;
                self.check_stored(&cell, "stored").map_err(|clash| clash.by(thread))?;
                self.check_done(&cell, thread, "stored")?;
                self.check_done(
                    &TensorCell { written: cell.used, ..cell },
                    thread,
                    "stored over what a product reads",
                )?;
                let value = self.get(m, lane, *source)?.value as u32;
                *m.tensor.at(l, c) =
                    TensorCell { value, stored: (self.index, number), ..TensorCell::default() };
            }
        }
        Ok(())
    }

    pub(super) fn load_tensor(
        &mut self,
        m: &mut Machine<'_, '_>,
        shape: Shape,
        dst: &[Reg],
        at: u32,
        split: u32,
    ) -> Run<()> {
        self.tensor.loads += 1;
        for lane in 0..LANES {
            let thread = self.thread(lane);
            for (r, reg) in (0..).zip(dst) {
                let (l, c) = self
                    .reached(m, shape.cell(lane as u32, r, split), at)
                    .map_err(|clash| clash.by(thread))?;
                let cell = *m.tensor.at(l, c);
                if cell.written.1 == 0 && cell.stored.1 == 0 {
                    let sentence =
                        format!("nothing was written to lane {l}, column {c} of tensor memory");
                    return Err(Clash::new(FaultKind::UninitialisedTensor, sentence).by(thread));
                }
                self.check_done(&cell, thread, "loaded")?;
                self.check_stored(&cell, "loaded").map_err(|clash| clash.by(thread))?;
                m.tensor.at(l, c).read = (self.index, self.tensor.loads);
                self.set(lane, *reg, Cell::plain(cell.value.into()));
            }
        }
        self.tensor.loading.extend(dst.iter().map(|reg| reg.cell));
        Ok(())
    }
}

//! Conflicts by another reading of which lanes are served together: sources differ about some
//! accesses, and of exchanges that cost the same by the tables' reading the one is taken that has
//! fewer by the other.
//!
//! The other reading is the oldest one: as many neighbours as want what the fewest banks of the
//! architecture give at once.

use crate::data::HalfPlan;
use crate::select::fragments::exchange::ExchangeForm;
use crate::select::planner::Planner;
use lanebook_tables::{BankModel, Space};
use lanebook_tile::map::{BankAccess, Fragment, MemoryMap, SharedLayout, count_conflicts};

/// Most groups of neighbours: of 64 lanes, eight at a time at the least.
const GROUPS: usize = 16;

impl Planner<'_, '_, '_, '_> {
    /// Bytes that the fewest banks which any access of the architecture meets give at once.
    pub(super) fn row_bytes(&self) -> u32 {
        let bytes = |model: &BankModel<'_>| {
            u32::from(model.banks).saturating_mul(u32::from(model.bank_bytes))
        };
        self.target.arch.banks.iter().map(bytes).filter(|bytes| *bytes > 0).min().unwrap_or(0)
    }

    /// Whether a way is better than the best before it: it costs less, or as much with no more
    /// instructions and fewer conflicts by the other reading.
    #[inline(never)] // Nothing of it stays on the stack while ways are compared.
    pub(super) fn is_clearer(
        &self,
        way: &ExchangeForm,
        best: &ExchangeForm,
        of: &Fragment,
    ) -> bool {
        if way.cost != best.cost {
            return way.cost < best.cost;
        }
        let count = |way: &ExchangeForm| {
            let (stores, loads) = (way.store.figures.count, way.load.figures.count);
            stores.saturating_add(loads)
        };
        if count(way) > count(best) {
            return false;
        }
        let Some(map) = SharedLayout::BY_ROWS.map(of.shape) else { return false };
        let extra = |way: &ExchangeForm| {
            let (store, load) =
                (self.extra(&way.store, true, &map), self.extra(&way.load, false, &map));
            store.saturating_add(load)
        };
        extra(way) < extra(best)
    }

    /// Passes of a half beyond the fewest, by the other reading.
    fn extra(&self, half: &HalfPlan, stores: bool, map: &MemoryMap) -> u32 {
        let mover = self.movers(stores).iter().find(|mover| mover.atom == half.atom);
        let movement = self.target.tables.atom(half.atom).and_then(|atom| atom.movement);
        let (Some(mover), Some(movement)) = (mover, movement) else { return 0 };
        let Some(model) = self.banks(mover) else { return 0 };
        let side = if movement.to.space == Space::Shared { &movement.to } else { &movement.from };
        let each = self.row_bytes().checked_div(u32::from(side.slot_bytes)).unwrap_or(0).min(64);
        let mut groups: heapless::Vec<u64, GROUPS> = heapless::Vec::new();
        let mut lanes = u64::MAX.checked_shr(64u32.saturating_sub(each)).unwrap_or(0);
        while lanes != 0 && groups.push(lanes).is_ok() {
            lanes = lanes.checked_shl(each).unwrap_or(0);
        }
        let banks = self.row_bytes().checked_div(u32::from(model.bank_bytes)).unwrap_or(0);
        let model =
            BankModel { groups: &groups, banks: u16::try_from(banks).unwrap_or(0), ..*model };
        let wave = 1u16.checked_shl(u32::from(self.target.wave)).unwrap_or(0).wrapping_sub(1);
        let access = BankAccess {
            slots: &half.tiling.address_lanes,
            slot_bytes: side.slot_bytes,
            kept: u8::try_from(half.kept & wave).unwrap_or(0),
        };
        let Some(found) = count_conflicts(map, access, &model) else { return 0 };
        let one = found.transactions.saturating_sub(found.least);
        let pair = if mover.pair.is_some() { 2 } else { 1 };
        one.saturating_mul(half.figures.count).saturating_mul(pair)
    }
}

//! One half of an exchange through shared memory: what an instruction costs there, and who carries it
//! out where threads hold copies.

use crate::data::HalfPlan;
use crate::select::planner::Planner;
use lanebook_tables::Space;
use lanebook_tile::copy_atom::CopyAtom;
use lanebook_tile::evaluate::{EndMap, Evaluated, TargetInfo};
use lanebook_tile::map::{Fragment, MemoryMap};
use lanebook_tile::tiling::Reject;

impl Planner<'_, '_, '_, '_> {
    /// One half by an instruction, where elements lie as `fragment` has them: of threads that hold
    /// copies the first stores alone, if that is cheaper.
    pub(super) fn half(
        &self,
        copy_atom: &CopyAtom,
        fragment: &Fragment,
        map: &MemoryMap,
        limit: u32,
    ) -> Result<HalfPlan, Reject> {
        let all = self.half_by(copy_atom, fragment, map, (0, limit));
        let kept = self.first_of_copies(copy_atom, fragment);
        if kept == 0 || matches!(all, Err(reason) if reason != Reject::Dearer) {
            return all;
        }
        let w = &self.target.tables.weights;
        let mut first = self.half_by(copy_atom, fragment, map, (kept, u32::MAX))?;
        let warps = u32::from(kept).checked_shr(u32::from(self.target.wave)).unwrap_or(0);
        first.shared_by = u8::try_from(warps.count_ones()).unwrap_or(0);
        let passes = first.figures.count.saturating_mul(first.figures.conflicts.transactions);
        let passes = passes.saturating_mul(w.shared_transaction);
        let saved = passes.saturating_sub(first.each(passes));
        first.figures.cost =
            first.figures.cost.saturating_sub(saved).saturating_add(self.kept_cost());
        let limit = all.as_ref().map_or(limit, |all| all.cost(w));
        if first.cost(w) < limit { Ok(first) } else { all }
    }

    /// What it costs to keep a list of instructions to some threads.
    fn kept_cost(&self) -> u32 {
        let w = &self.target.tables.weights;
        let steps = self.target.isa.guard.map_or(0, |guard| u32::from(guard.issue));
        w.bound_steps.saturating_add(steps).saturating_mul(w.instruction)
    }

    /// Bits of a thread's number that tell those apart that would store the same: none where all
    /// must, or nothing keeps an instruction to some threads. Where lanes store each other's
    /// elements, whole warps do or do not.
    fn first_of_copies(&self, copy_atom: &CopyAtom, fragment: &Fragment) -> u16 {
        let movement = self.target.tables.atom(copy_atom.atom).and_then(|atom| atom.movement);
        let Some(movement) = movement.filter(|_| copy_atom.from == Space::Register) else {
            return 0;
        };
        if self.target.isa.guard.is_none() {
            return 0;
        }
        let of = |columns: &[u32], bits: u8| {
            let is_copy = |bit: &u8| columns.get(usize::from(*bit)).is_none_or(|e| *e == 0);
            (0..bits).filter(is_copy).fold(0u16, |mask, bit| mask | 1u16.wrapping_shl(bit.into()))
        };
        let own = !movement.crosses_lanes && !copy_atom.is_fixed;
        let lanes = if own { of(fragment.lane.as_slice(), self.target.wave) } else { 0 };
        let warps = of(fragment.warp.as_slice(), self.target.warps);
        lanes | warps.checked_shl(u32::from(self.target.wave)).unwrap_or(0)
    }

    /// One half by the threads in whose numbers the bits `kept` are zero, if it costs less than
    /// `limit`.
    fn half_by(
        &self,
        copy_atom: &CopyAtom,
        fragment: &Fragment,
        map: &MemoryMap,
        (kept, limit): (u16, u32),
    ) -> Result<HalfPlan, Reject> {
        let lanes = 1u16.checked_shl(u32::from(self.target.wave)).unwrap_or(0).wrapping_sub(1);
        let own = u8::try_from(kept & lanes).unwrap_or(0);
        let target = TargetInfo { copies: true, kept: own, ..self.target };
        let shared = EndMap::Shared(map, self.target.tables.weights.shared_align);
        let registers = EndMap::Registers(fragment);
        let (from, to) = if copy_atom.from == Space::Register {
            (registers, shared)
        } else {
            (shared, registers)
        };
        let Evaluated { tiling, figures, bank_status } =
            target.evaluate(copy_atom, from, to, limit)?;
        Ok(HalfPlan { atom: copy_atom.atom, tiling, figures, bank_status, kept, shared_by: 0 })
    }
}

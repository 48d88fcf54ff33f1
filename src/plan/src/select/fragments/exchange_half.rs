//! One half of an exchange through shared memory: what an instruction costs there, and who carries it
//! out where threads hold copies.

use crate::data::HalfPlan;
use crate::select::planner::Planner;
use lanebook_tables::Space;
use lanebook_tile::copy_atom::CopyAtom;
use lanebook_tile::evaluate::{EndMap, Evaluated, TargetInfo};
use lanebook_tile::map::{BankAccess, Conflicts, Fragment, MemoryMap, count_conflicts};
use lanebook_tile::tiling::Reject;

impl Planner<'_, '_, '_, '_> {
    /// One half by an instruction, where elements lie as `fragment` has them, if it costs less than
    /// `limit`: of threads that hold copies the first stores alone, if that is cheaper.
    pub(super) fn half(
        &self,
        copy_atom: &CopyAtom,
        fragment: &Fragment,
        map: &MemoryMap,
        limit: u32,
    ) -> Result<HalfPlan, Reject> {
        // Halves of registers go whole, moved down, or packed before: one by one they take more passes.
        let copy_atom = &CopyAtom { upper: None, ..*copy_atom };
        let kept = self.first_of_copies(copy_atom, fragment);
        let most = if kept == 0 { limit } else { u32::MAX };
        let target = TargetInfo { as_held: true, ..self.target };
        let shared = EndMap::Shared(map, self.target.tables.weights.shared_align);
        let registers = EndMap::Registers(fragment);
        let (from, to) = if copy_atom.from == Space::Register {
            (registers, shared)
        } else {
            (shared, registers)
        };
        let Evaluated { tiling, figures, bank_status } =
            target.evaluate(copy_atom, from, to, most)?;
        let atom = copy_atom.atom;
        let mut half = HalfPlan { atom, tiling, figures, bank_status, kept: 0, shared_by: 0 };
        if kept == 0 {
            return Ok(half);
        }
        self.keep_to_first(&mut half, copy_atom, map, kept);
        if half.cost(&self.target.tables.weights) < limit { Ok(half) } else { Err(Reject::Dearer) }
    }

    /// Keeps a store to the threads in whose numbers the bits `kept` are zero, if that is cheaper.
    #[inline(never)]
    fn keep_to_first(&self, half: &mut HalfPlan, copy_atom: &CopyAtom, map: &MemoryMap, kept: u16) {
        let w = &self.target.tables.weights;
        let Some(conflicts) = self.conflicts_of_first(half, copy_atom, map, kept) else { return };
        let before = (half.cost(w), half.figures, half.shared_by);
        let passes = |half: &HalfPlan| {
            let each = half.figures.conflicts.transactions.saturating_mul(w.shared_transaction);
            half.each(half.figures.count.saturating_mul(each))
        };
        let plain = half.figures.cost.saturating_sub(passes(half));
        half.figures.conflicts = conflicts;
        let warps = u32::from(kept).checked_shr(u32::from(self.target.wave)).unwrap_or(0);
        half.shared_by = u8::try_from(warps.count_ones()).unwrap_or(0);
        half.figures.cost = plain.saturating_add(passes(half)).saturating_add(self.kept_cost());
        half.kept = kept;
        if half.cost(w) >= before.0 {
            (half.figures, half.shared_by, half.kept) = (before.1, before.2, 0);
        }
    }

    /// The passes of an instruction of a store in which only those lanes take part in whose numbers
    /// the bits `kept` are zero.
    fn conflicts_of_first(
        &self,
        half: &HalfPlan,
        copy_atom: &CopyAtom,
        map: &MemoryMap,
        kept: u16,
    ) -> Option<Conflicts> {
        let lanes = 1u16.checked_shl(u32::from(self.target.wave))?.wrapping_sub(1);
        let model = self.banks(copy_atom);
        let (Some(model), 1..) = (model, kept & lanes) else {
            return Some(half.figures.conflicts);
        };
        let movement = self.target.tables.atom(copy_atom.atom)?.movement?;
        let access = BankAccess {
            slots: &half.tiling.address_lanes,
            slot_bytes: movement.to.slot_bytes,
            kept: u8::try_from(kept & lanes).ok()?,
        };
        let one = count_conflicts(map, access, model)?;
        // Each place of a slot is an access of its own.
        let accesses = if copy_atom.pair.is_some() { 2 } else { 1 };
        Some(Conflicts {
            transactions: one.transactions.saturating_mul(accesses),
            least: one.least.saturating_mul(accesses),
        })
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
        // What turns lanes off and on again is no business of a snippet: its caller may have its own.
        let in_snippet = self.program.is_snippet(self.function);
        if self.target.isa.guard.is_none_or(|guard| in_snippet && !guard.after.is_empty()) {
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
}

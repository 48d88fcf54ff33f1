//! Atomic operations: which instruction combines registers with memory, each element in one step.

use crate::select::memory::copy_atom_search::{AtomSearch, CopyForm, wants};
use crate::select::planner::{CopyEnd, CopyOp, Planner};
use lanebook_tables::Capability;
use lanebook_tile::copy_atom::CopyAtom;
use lanebook_tile::evaluate::{EndMap, Evaluated};
use lanebook_tile::map::TileShape;
use lanebook_tile::tiling::Reject;

impl Planner<'_, '_, '_, '_> {
    /// Whether an atomic operation asks for one owner of each element, and has no whole number of
    /// them for each thread.
    pub(super) fn has_few(&self, movement: &CopyOp) -> bool {
        let CopyEnd::Registers(value) = movement.from else { return false };
        let shape = self.plan.fragment_of(value).map(|(_, fragment)| fragment.shape);
        let bits = u32::from(self.target.wave).saturating_add(u32::from(self.target.warps));
        let threads = 1u64.checked_shl(bits).unwrap_or(u64::MAX);
        let elements = |shape: TileShape| shape.row_count().saturating_mul(shape.col_count());
        let is_owned =
            self.program.answer(movement.op).is_some() || self.program.mask(movement.op).is_some();
        is_owned && shape.is_some_and(|s| !elements(s).is_multiple_of(threads))
    }

    /// Whether so many bytes are one element of those that an atomic operation combines.
    pub(super) fn is_one(&self, movement: &CopyOp, bytes: u32) -> bool {
        let CopyEnd::Registers(value) = movement.from else { return false };
        let dtype = self.program.type_of(value).dtype;
        let dtype = dtype.and_then(|dtype| self.target.tables.dtype(dtype));
        dtype.is_some_and(|own| bytes.checked_mul(8) == Some(u32::from(own.bits)))
    }

    /// The instructions that do it to these elements, the first choice first.
    #[inline(never)] // Its figures leave the stack with it.
    pub(super) fn try_atomic(
        &self,
        search: &mut AtomSearch<'_>,
        (from, to): (EndMap<'_>, EndMap<'_>),
    ) {
        let movement = search.movement;
        let dtype = match movement.from {
            CopyEnd::Registers(value) => self.program.type_of(value).dtype,
            _ => None,
        };
        let Some((op, dtype)) = self.program.atomic_op(movement.op).zip(dtype) else { return };
        let indexed = self.program.index_tile(movement.op).is_some();
        let answers = self.program.answer(movement.op).is_some();
        let able = |answers| self.target.arch.dispatch(Capability::Atomic { op, dtype, answers });
        // One that answers does as well where nobody asks.
        let able = match able(answers) {
            [] if !answers => able(true),
            able => able,
        };
        for id in able.iter().filter(|id| wants(movement, **id)) {
            let atom = self.target.tables.atom(*id);
            let Some(copy_atom) = atom.and_then(|atom| CopyAtom::of(*id, atom)) else { continue };
            // Indices of 32 bits reach further than a lane's offset.
            if indexed && copy_atom.is_split {
                continue;
            }
            let what = CopyForm { atom: *id, second: None, transpose: None };
            let found = self.target.evaluate(&copy_atom, from, to, search.limit());
            // An element that a lane holds twice would be combined twice. Of the threads that hold
            // an element one takes part; where a mask says who does, or all are to know what was
            // there, there may be no others.
            let once = |found: &Evaluated| {
                let tiling = &found.tiling;
                let has_copies = tiling.instances.as_slice().contains(&0);
                let has_one_owner = tiling.has_one_owner(self.target.wave, self.target.warps);
                let may_be_others = self.program.mask(movement.op).is_none() && !answers;
                !has_copies && (has_one_owner || may_be_others)
            };
            let found = found.and_then(|it| if once(&it) { Ok(it) } else { Err(Reject::Copies) });
            search.consider(what, found);
        }
    }
}

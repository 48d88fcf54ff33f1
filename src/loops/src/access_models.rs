//! What an architecture's tables say of accesses to shared memory: bank models, and the widest access
//! of a lane.

use lanebook_tables::{Arch, Capability, Name, Space, Tables};
use lanebook_tile::candidates::FamilyFigures;
use lanebook_tile::copy_atom::CopyAtom;

/// What says how memory is accessed.
#[doc(hidden)]
#[derive(Copy, Clone, Debug)]
pub struct AccessModels<'m, 't> {
    pub(crate) tables: &'m Tables<'t>,
    pub(crate) arch: &'m Arch<'t>,
    /// Banks, and the widest access of a lane.
    pub(crate) family: FamilyFigures,
}

impl<'m, 't> AccessModels<'m, 't> {
    /// What an architecture's tables say.
    #[must_use]
    pub fn of(tables: &'m Tables<'t>, arch: &'m Arch<'t>) -> Self {
        let atoms = [(Space::Shared, Space::Register), (Space::Register, Space::Shared)]
            .into_iter()
            .flat_map(|(from, to)| arch.dispatch(Capability::Transfer { from, to }));
        let copies = atoms.filter_map(|id| CopyAtom::of(*id, tables.atom(*id)?));
        Self { tables, arch, family: FamilyFigures::of(tables, arch, copies) }
    }

    /// The bank model of accesses that move so many bytes a lane.
    pub(crate) fn model(&self, bytes: u32, writes: bool) -> Option<u8> {
        let (from, to) = match writes {
            false => (Space::Shared, Space::Register),
            true => (Space::Register, Space::Shared),
        };
        let name = self.arch.dispatch(Capability::Transfer { from, to }).iter().find_map(|id| {
            let movement = self.tables.atom(*id)?.movement.as_ref()?;
            let side = if writes { movement.to } else { movement.from };
            let plain = !movement.crosses_lanes && movement.atomic.is_none();
            (plain && u32::from(side.slot_bytes) == bytes).then_some(side.banks)
        })?;
        self.number_of(name)
    }

    pub(crate) fn number_of(&self, name: Name<'_>) -> Option<u8> {
        u8::try_from(self.arch.banks.iter().position(|model| model.name == name)?).ok()
    }
}

//! The resolved model: every name has become a dense id, inheritance is flattened, texts and
//! layouts are parsed.
//!
//! Resolving reports unknown and doubled names and malformed texts, and goes on with the rest, so
//! that the checks can run on whatever is sound. Everything keeps its place in the files. What the
//! facts *mean* is checked in
//! [`crate::check`], not here.
mod archs;
mod atoms;
mod inherit;
mod isas;
pub(crate) mod means;
mod more;
mod names;
pub mod status;
pub mod units;
mod words;

pub use archs::{Arch, ArchAtom, Bank, Counter, Hazard, Step, SyncRule};
pub use atoms::{Atom, Does, Group, LaneXor, Matrix, Movement, OffsetField, Operand, Side, Vary};
pub use isas::{
    Assembler, FRAME_WORDS, FixedRegister, Frame, Isa, LaneGuard, PARAM_WORDS, REGISTER_WORDS,
    RegisterClass,
};
pub use more::{Broadcast, How, More, Use};
pub use names::Names;
pub use status::Cited;
pub use units::Units;
pub use words::{Access, Axis, Dtype, SourceDoc, Tag};

use crate::diagnostics::Diagnostics;
use crate::load::Loaded;
use lanebook_tables::{AccessId, AtomId, DtypeId, IsaId};

/// Everything that `hw-tables/` and the `isa` parts of `rules/isa/` say.
#[derive(Debug, Default)]
pub struct HwModel {
    /// Documents, by key.
    pub sources: Vec<SourceDoc>,
    /// Element types, in file order.
    pub dtypes: Vec<Dtype>,
    /// Axes, in file order.
    pub axes: Vec<Axis>,
    /// Access kinds, by name.
    pub accesses: Vec<Access>,
    /// Hazard tags, by name.
    pub tags: Vec<Tag>,
    /// Modifiers of matrix instructions.
    pub broadcasts: Vec<Broadcast>,
    /// Instruction sets, in file order.
    pub isas: Vec<Isa>,
    /// Groups, in file order.
    pub groups: Vec<Group>,
    /// Atoms: those of the ledger by their numbers, then the others by name.
    pub atoms: Vec<Atom>,
    /// Instances of atoms with parameters, each with its atom.
    pub instances: Vec<(AtomId, Atom)>,
    /// Matrix units and their memories.
    pub units: Units,
    /// Architectures, in file order.
    pub archs: Vec<Arch>,
    /// Atoms by name.
    pub atom_names: Names,
    /// Element types by name.
    pub dtype_names: Names,
    /// Instruction sets by name.
    pub isa_names: Names,
    /// Access kinds by name.
    pub access_names: Names,
    /// Architectures by name.
    pub arch_names: Names,
}

impl HwModel {
    /// All atoms, then all instances of those with parameters: what checks of single atoms look at.
    pub fn every(&self) -> impl Iterator<Item = &Atom> {
        self.atoms.iter().chain(self.instances.iter().map(|(_, atom)| atom))
    }
    /// The atom with this name.
    #[must_use]
    pub fn atom_named(&self, name: &str) -> Option<AtomId> {
        self.atom_names.get(name).map(AtomId)
    }
    /// The atom of an id.
    ///
    /// # Panics
    /// If the id is not from this model.
    #[must_use]
    pub fn atom(&self, id: AtomId) -> &Atom {
        &self.atoms[id.index()]
    }
    /// The instruction set with this name.
    #[must_use]
    pub fn isa_named(&self, name: &str) -> Option<IsaId> {
        self.isa_names.get(name).map(IsaId)
    }
    /// The instruction set of an id.
    ///
    /// # Panics
    /// If the id is not from this model.
    #[must_use]
    pub fn isa(&self, id: IsaId) -> &Isa {
        &self.isas[id.index()]
    }
    /// Whether an instruction set has the atoms of another: it is that one, or extends it.
    #[must_use]
    pub fn isa_has(&self, isa: IsaId, atoms: IsaId) -> bool {
        let parents = std::iter::successors(Some(isa), |at| {
            self.isas.get(at.index()).and_then(|isa| isa.parent)
        });
        parents.take(self.isas.len()).any(|at| at == atoms)
    }
    /// The element type with this name.
    #[must_use]
    pub fn dtype_named(&self, name: &str) -> Option<DtypeId> {
        self.dtype_names.get(name).map(DtypeId)
    }
    /// The access kind with this name.
    #[must_use]
    pub fn access_named(&self, name: &str) -> Option<AccessId> {
        self.access_names.get(name).map(AccessId)
    }
    /// The architecture with this name.
    #[must_use]
    pub fn arch_named(&self, name: &str) -> Option<&Arch> {
        self.arch_names.get(name).and_then(|id| self.archs.get(usize::from(id)))
    }
}

/// Resolves everything that was loaded. The model is as complete as the inputs allow; `diags` says
/// what is missing.
pub fn resolve(loaded: &Loaded, diags: &mut Diagnostics) -> HwModel {
    let mut model = HwModel::default();
    words::resolve(loaded, &mut model, diags);
    more::declare(loaded, &mut model, diags);
    isas::resolve_classes(loaded, &mut model, diags);
    atoms::resolve(loaded, &mut model, diags);
    isas::resolve_frames(loaded, &mut model, diags);
    units::resolve(loaded, &mut model, diags);
    inherit::resolve(loaded, &mut model, diags);
    model
}

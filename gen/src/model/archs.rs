//! Architectures as they are after resolving: nothing is inherited any more, every reference is an
//! id.
use super::Cited;
use crate::schema::Name;
use crate::source::Span;
use crate::spanned::Spanned;
use lanebook_tables::{AccessId, AtomId, DtypeId, FeatureId, IsaId, SharedLimits, Status, TagId};
use std::collections::BTreeMap;

/// An architecture with everything it inherits.
#[derive(Clone, Debug)]
pub struct Arch {
    /// Its name.
    pub name: Name,
    /// What the assembler calls it.
    pub target: String,
    /// Vendor.
    pub vendor: String,
    /// Instruction set.
    pub isa: IsaId,
    /// Lowest text version.
    pub isa_version: String,
    /// Lanes in a wave, default first.
    pub wave_lanes: Spanned<Vec<u16>>,
    /// Most threads in a group.
    pub max_threads: u16,
    /// Shared memory, with the place that states it.
    pub shared: Spanned<SharedLimits>,
    /// Bank models, by name.
    pub banks: Vec<Bank>,
    /// Atoms, by id.
    pub atoms: Vec<ArchAtom>,
    /// Features of matrix units, ascending.
    pub features: Vec<FeatureId>,
    /// Synchronisation, parents' rules first.
    pub sync: Vec<SyncRule>,
    /// Counters, parents' first.
    pub counters: Vec<Counter>,
    /// Wait states.
    pub hazards: Vec<Hazard>,
    /// No group of it is unknown, or was read in part, and no counter is left out: what it lacks
    /// can be judged.
    pub whole: bool,
    /// Integers that any operand takes.
    pub inline_integers: (i32, i32),
    /// Element types whose subnormal numbers matrix instructions take and give as zero.
    pub flushed: Vec<DtypeId>,
    /// Scalar registers that one vector instruction reads.
    pub scalar_reads: u8,
    /// Where the figures come from.
    pub sources: Cited,
}

/// An atom that an architecture has.
#[derive(Clone, Debug)]
pub struct ArchAtom {
    /// Which.
    pub atom: AtomId,
    /// One machine instruction.
    pub native: bool,
    /// Something says that the machine has it.
    pub documented_for_arch: bool,
    /// Where the architecture (or its parent) says that it has the group.
    pub because: Span,
}

/// A bank model.
#[derive(Clone, Debug)]
pub struct Bank {
    /// Its name.
    pub name: Name,
    /// Number of banks.
    pub banks: u16,
    /// Bytes a bank and cycle.
    pub bank_bytes: u8,
    /// How many lanes or slots there are.
    pub slots: u16,
    /// Lanes served together, each with the place that states it.
    pub groups: Vec<Spanned<u64>>,
    /// Where the groups stand.
    pub groups_span: Span,
    /// How sure it is.
    pub status: Status,
    /// Where it comes from.
    pub sources: Cited,
}

/// What must stand between two kinds of accesses.
#[derive(Clone, Debug)]
pub struct SyncRule {
    /// The whole entry.
    pub span: Span,
    /// Earlier access.
    pub producer: AccessId,
    /// Later access.
    pub consumer: AccessId,
    /// In order.
    pub steps: Vec<Step>,
    /// Where it comes from.
    pub sources: Cited,
}

/// A synchronisation instruction with its immediates.
#[derive(Clone, Debug)]
pub struct Step {
    /// Which, with its place.
    pub atom: Spanned<AtomId>,
    /// Immediates by name.
    pub immediates: BTreeMap<String, i32>,
    /// Right after the producers.
    pub after_producer: bool,
    /// Makes every wave wait.
    pub barrier: bool,
    /// The whole entry.
    pub span: Span,
}

/// A completion counter.
#[derive(Clone, Debug)]
pub struct Counter {
    /// Its name.
    pub name: Name,
    /// Most outstanding operations.
    pub max: u16,
    /// Operations complete in order.
    pub in_order: bool,
    /// The atom that waits, with its place.
    pub wait: Spanned<AtomId>,
    /// The wait's operand, by name: the checks want its place.
    pub operand: Name,
}

/// Wait states between two tags.
#[derive(Clone, Debug)]
pub struct Hazard {
    /// The whole entry.
    pub span: Span,
    /// Tag of the earlier atom.
    pub producer: TagId,
    /// Tag of the later atom.
    pub consumer: TagId,
    /// Operand of the later atom, by name.
    pub operand: Option<Name>,
    /// Which use counts.
    pub on: lanebook_tables::HazardUse,
    /// Operand of the earlier atom, by name.
    pub producer_operand: Option<Name>,
    /// No wait for exactly the earlier atom's tuple.
    pub unless_same: bool,
    /// Wait states.
    pub states: u8,
    /// Tags of the atoms that are wait states.
    pub counts: Vec<TagId>,
    /// What ends it in place of wait states.
    pub wait: Option<AtomId>,
    /// Tag of the atoms one of which must read the register.
    pub after: Option<TagId>,
    /// Where it comes from.
    pub sources: Cited,
    /// It has a note for people.
    pub noted: bool,
}

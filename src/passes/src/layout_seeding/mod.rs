//! Anchors: the layouts that loads, stores and products are given, from which conversions then
//! follow.
//!
//! ```text
//! rules/{anchors,candidates}.ron, hw-tables --> analyses named by rules/passes.ron --> types and
//! attributes in the program
//! ```
//!
//! Guarantees: all or nothing, as with every pass; no recursion, no allocation, no panic; what is
//! made is in a [`SeededLayouts`] that the caller lends, and is printed so that it reads back.
//!
//! Does not: remove conversions, place memory, or emit. No architecture is known by name here: a
//! module's target is looked up in the rules.
//!
//! | file | what |
//! | --- | --- |
//! | `book` | layouts that passes made |
//! | `axis` `runs` | how many neighbours count up, are equal, are multiples: for operations, for programs |
//! | `blocked` `coalesce` `defaults` | nested tiles: for accesses through pointers, for tiles without a layout |
//! | `product` `links` | matrix instructions for products, and what each product has to do with others |
//! | `open` | tiles that the planner cuts up: layouts that reach them |
//! | `tensor` | products whose sums lie in tensor memory |
//! | `scaled` | block scales of products |
//! | `appraise` `worthwhile` | what a program costs as it is planned and emitted; choices that are worth it |
//! | `group` `legal` `score` `assign` | layouts for loads, stores, atomics and copies, group by group |
pub(crate) mod appraise;
pub(crate) mod assign;
pub(crate) mod axis;
pub(crate) mod blocked;
pub(crate) mod coalesce;
pub(crate) mod defaults;
pub(crate) mod group;
pub(crate) mod legal;
pub(crate) mod links;
pub(crate) mod open;
pub(crate) mod product;
pub(crate) mod runs;
pub(crate) mod scaled;
pub(crate) mod score;
pub(crate) mod seeded_layouts;
pub(crate) mod tensor;
pub(crate) mod worthwhile;

pub use crate::layout_seeding::appraise::{Appraiser, ProgramPrice};

// How patterns of addresses, candidates and tiles are weighed.
#[doc(hidden)]
pub use crate::layout_seeding::axis::{AxisInfo, Runs};
#[doc(hidden)]
pub use crate::layout_seeding::blocked::Workers;
#[doc(hidden)]
pub use crate::layout_seeding::coalesce::{Class, PointerTile};
#[doc(hidden)]
pub use crate::layout_seeding::group::GroupNode;
#[doc(hidden)]
pub use crate::layout_seeding::legal::bucket_of;
#[doc(hidden)]
pub use crate::layout_seeding::runs::KnownAxes;
#[doc(hidden)]
pub use crate::layout_seeding::score::{
    CostTerms, SeedingCandidate, TransactionParts, Verdict, pick,
};
#[doc(hidden)]
pub use crate::layout_seeding::seeded_layouts::{
    BitLayout, Core, MemoryTile, NewLayout, SeededLayout, SeededLayouts,
};

use crate::{Analysis, ChoiceError, ChoicePool, PassContext, PassError};
use heapless::VecView;
use lanebook_ir::{AttrValue, Program, attr_names};
use lanebook_tables::{Arch, ArchId, AtomId, Capability, OpId, OpRole, Space, Tables};
use lanebook_tile::copy_atom::CopyAtom;

/// Storage that choosing layouts needs.
#[derive(Debug)]
pub struct SeedingScratch<'r> {
    /// Layouts that are made. Programs refer to them: it must live as long as they do.
    pub book: SeededLayouts<'r>,
    /// What is known of values: one entry for each value (and operation) of the program.
    pub facts: &'r mut VecView<AxisInfo>,
    /// Classes of linked accesses.
    pub classes: &'r mut VecView<Class>,
    /// Groups of values: one entry for each value (and operation) of the program.
    pub nodes: &'r mut VecView<GroupNode>,
    /// The architecture's copy atoms.
    pub copy_atoms: &'r mut VecView<CopyAtom>,
    /// Candidates of the last pass that judged any, with what became of each.
    pub candidates: &'r mut VecView<SeedingCandidate>,
    /// How many there was no room for: they were judged all the same.
    pub dropped: u32,
}

/// What a caller may ask for.
#[derive(Copy, Clone, Debug, Default)]
pub struct SeedingOptions {
    /// The architecture; without it the program's module says it.
    pub arch: Option<ArchId>,
    /// Descriptors are taken wherever they are legal, even where they are dearer.
    pub prefer_bulk: bool,
}

/// An analysis at work.
#[doc(hidden)]
pub struct LayoutSeeding<'w, 'a, 's, 't, 'r> {
    pub cx: &'w mut PassContext<'a, 's, 't>,
    pub tables: &'w Tables<'w>,
    pub room: &'w mut SeedingScratch<'r>,
    pub wishes: SeedingOptions,
    /// Who says what the program costs as it is planned, if anybody does.
    pub appraiser: Option<&'w mut dyn Appraiser>,
}

/// Runs one of the analyses that choose layouts; answers how many operations were given one.
#[doc(hidden)]
pub fn run(
    work: &mut LayoutSeeding<'_, '_, '_, '_, '_>,
    analysis: Analysis,
) -> Result<u32, PassError> {
    work.cx.begin(analysis);
    match analysis {
        Analysis::DefaultLayouts => defaults::run(work)?,
        Analysis::Coalesce => coalesce::run(work)?,
        Analysis::AssignLayouts => assign::run(work)?,
        Analysis::AccelerateMatmul => product::run(work)?,
        _ => {}
    }
    Ok(work.cx.changes())
}

/// Whether an analysis chooses layouts.
#[must_use]
#[doc(hidden)]
pub const fn chooses(analysis: Analysis) -> bool {
    matches!(
        analysis,
        Analysis::AssignLayouts
            | Analysis::DefaultLayouts
            | Analysis::Coalesce
            | Analysis::AccelerateMatmul
    )
}

fn full(pool: ChoicePool, capacity: usize) -> PassError {
    PassError::Choice(ChoiceError::Full {
        pool,
        capacity: u32::try_from(capacity).unwrap_or(u32::MAX),
    })
}

/// An attribute of the module around a program's functions.
fn module_attr(program: &Program<'_, '_>, key: &str) -> Option<AttrValue> {
    program.ops(program.root()).find_map(|op| program.attr(op, key))
}

/// An integer attribute of the module.
fn module_int(program: &Program<'_, '_>, key: &str) -> Option<u32> {
    match module_attr(program, key)? {
        AttrValue::Int(value, _) => u32::try_from(value).ok(),
        _ => None,
    }
}

/// The architecture that the caller wishes, or that the module names.
#[must_use]
pub fn arch_of(
    program: &Program<'_, '_>,
    tables: &Tables<'_>,
    wishes: &SeedingOptions,
) -> Option<ArchId> {
    if wishes.arch.is_some() {
        return wishes.arch;
    }
    let Some(AttrValue::Str(target)) = module_attr(program, "target") else { return None };
    tables.target_named(program.text(target))
}

impl<'w> LayoutSeeding<'w, '_, '_, '_, '_> {
    pub(self) fn arch(&self) -> Result<&'w Arch<'w>, PassError> {
        let arch = arch_of(self.cx.program, self.tables, &self.wishes);
        arch.and_then(|arch| self.tables.arch(arch)).ok_or(PassError::Choice(ChoiceError::NoArch))
    }
    /// Lanes and warps: as the module says, else as the first function's work items.
    pub(self) fn workers(&self) -> Result<Workers, PassError> {
        let program = &*self.cx.program;
        let wave = || {
            self.arch().ok().and_then(|arch| arch.wave_lanes.first()).map(|lanes| u32::from(*lanes))
        };
        let lanes = module_int(program, "threads-per-warp").or_else(wave);
        let threads = || {
            program
                .all()
                .filter(|op| program.role(*op) == OpRole::Function)
                .find_map(|function| program.int_attr(function, attr_names::THREADS))
                .and_then(|n| u32::try_from(n).ok())
        };
        let said = module_int(program, "num-warps").or_else(|| threads()?.checked_div(lanes?));
        let warps =
            said.or_else(|| Some(u32::from(self.tables.seeding.warps)).filter(|warps| *warps > 0));
        if module_int(program, "num-ctas").is_some_and(|blocks| blocks > 1) {
            return Err(PassError::Choice(ChoiceError::Cluster));
        }
        match (lanes, warps) {
            (Some(lanes), Some(warps)) if lanes.is_power_of_two() && warps.is_power_of_two() => {
                Ok(Workers { lanes, warps })
            }
            (Some(lanes), Some(warps)) if lanes.is_power_of_two() && warps > 0 => {
                Err(PassError::Choice(ChoiceError::WarpCount { warps }))
            }
            _ => Err(PassError::Choice(ChoiceError::NoWarps)),
        }
    }
    /// Bits of the widest access of a lane to global memory.
    pub(self) fn widest_bits(&self) -> Result<u32, PassError> {
        let arch = self.arch()?;
        let loads = Capability::Transfer { from: Space::Global, to: Space::Register };
        let widest = |able: &[AtomId]| {
            let movements = able
                .iter()
                .filter_map(|id| self.tables.atom(*id)?.movement)
                .filter(|movement| !movement.crosses_lanes);
            movements.map(|movement| u32::from(movement.from.slot_bytes).saturating_mul(8)).max()
        };
        // Where its table has no such accesses yet, the instruction set's stand for them.
        let kin = || widest(self.tables.isa(arch.isa)?.dispatch(loads));
        let widest = widest(arch.dispatch(loads)).or_else(kin);
        widest.filter(|bits| *bits > 0).ok_or(PassError::Choice(ChoiceError::NoArch))
    }
    pub(self) fn operation(&self, role: OpRole) -> Result<OpId, PassError> {
        self.cx.program.tables().op_of_role(role).ok_or(PassError::Run(
            lanebook_ir::rewrite::RunError::Graph(lanebook_ir::ErrorKind::UnknownOp),
        ))
    }
}

/// Storage for [`SeedingScratch`], by value: layouts, values (and operations), classes of accesses,
/// candidates. An architecture has fewer than 128 copy atoms.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::ir::{Options, SmallStorage, parse};
/// use lanebook::layout_seeding::{SeedingOptions, SeedingScratch, SeedingStorage, arch_of};
/// use lanebook::pipeline::{PassScratch, apply_with};
///
/// let text = "func @f(%x: memref<64x64xf32, #gmem>) {threads = 128} {
///   %a = tiled_load %x[0, 0] : memref<64x64xf32, #gmem> -> tensor<64x64xf32>
///   tiled_store %a, %x[0, 0] : tensor<64x64xf32> -> memref<64x64xf32, #gmem>
/// }";
/// let mut pools = Box::new(SmallStorage::new());
/// let mut program = parse(pools.pools(), &TABLES, text, Options::default()).unwrap();
/// // Nothing in the text names a machine: it is said.
/// assert!(arch_of(&program, &TABLES, &SeedingOptions::default()).is_none());
/// let mut storage = Box::new(SeedingStorage::<16, 64, 64, 64>::new());
/// let mut room: SeedingScratch = storage.room();
/// let wishes = SeedingOptions { arch: TABLES.arch_named("sm_80"), ..SeedingOptions::default() };
/// let (mut work, mut fuel) = (heapless::Vec::<_, 64>::new(), 100);
/// let mut lent = PassScratch { work: work.as_mut_view(), fuel: &mut fuel, room: Some(&mut room), wishes, appraiser: None };
/// assert!(apply_with(&TABLES, "default-layouts", &mut program, &mut lent, |_| {}).is_ok());
/// ```
#[derive(Debug)]
pub struct SeedingStorage<
    const LAYOUTS: usize,
    const VALUES: usize,
    const CLASSES: usize,
    const CANDIDATES: usize,
> {
    book: heapless::Vec<SeededLayout, LAYOUTS>,
    facts: heapless::Vec<AxisInfo, VALUES>,
    classes: heapless::Vec<Class, CLASSES>,
    nodes: heapless::Vec<GroupNode, VALUES>,
    copy_atoms: heapless::Vec<CopyAtom, 128>,
    candidates: heapless::Vec<SeedingCandidate, CANDIDATES>,
}

impl<const LAYOUTS: usize, const VALUES: usize, const CLASSES: usize, const CANDIDATES: usize>
    SeedingStorage<LAYOUTS, VALUES, CLASSES, CANDIDATES>
{
    /// Empty storage.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            book: heapless::Vec::new(),
            facts: heapless::Vec::new(),
            classes: heapless::Vec::new(),
            nodes: heapless::Vec::new(),
            copy_atoms: heapless::Vec::new(),
            candidates: heapless::Vec::new(),
        }
    }
    /// The room; layouts that were made in it before stay.
    pub fn room(&mut self) -> SeedingScratch<'_> {
        SeedingScratch {
            book: SeededLayouts::new(self.book.as_mut_view()),
            facts: self.facts.as_mut_view(),
            classes: self.classes.as_mut_view(),
            nodes: self.nodes.as_mut_view(),
            copy_atoms: self.copy_atoms.as_mut_view(),
            candidates: self.candidates.as_mut_view(),
            dropped: 0,
        }
    }
}

impl<const LAYOUTS: usize, const VALUES: usize, const CLASSES: usize, const CANDIDATES: usize>
    Default for SeedingStorage<LAYOUTS, VALUES, CLASSES, CANDIDATES>
{
    fn default() -> Self {
        Self::new()
    }
}

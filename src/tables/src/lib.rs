//! The plain data types of lanebook's compiled tables.
//!
//! `lanebook-gen` writes values of these types (as Rust statics at build time, or leaked at run
//! time for audits), `lanebook` reads them through `&Tables`. Nothing here computes; the only
//! behaviour is checked look-up. Every reference inside a table is a dense id; a bad id answers
//! `None`.
//!
//! | module | what it holds |
//! | --- | --- |
//! | `arch` | architectures and instruction sets |
//! | `atom` `matrix` `param` `template` | one instruction form: what it does, products' extras, families, its text |
//! | `dispatch` | from a capability to the atoms that have it: the one door (`Arch::dispatch`) |
//! | `tiled` `unit` | copies by a unit, descriptors, swizzle modes, tensor memory and tensor maps |
//! | `op` [`contract`] | operations of the tile IR, and what `compile` takes of them |
//! | [`sequence`] | elementwise operations that are several others |
//! | `rule` `policy` `seeding` | rewrite rules, pipelines, weights; how attempts of inference are compared; how passes give layouts |
//! | `float` | how bits of a number are divided |
//! | `family` `listing` | the atoms that people mean by a part of a name, or by what they are |
//! | `name` `hash` `list` | look-up by name, the perfect hash, references of one word |
//!
//! ```
//! use lanebook::TABLES;
//! use lanebook::tables::{AccessId, Arch, ArchId, ClassId, Dtype, DtypeId, DtypeKind, FeatureId, Isa, IsaId, OpId, RuleId, SourceId, TagId, Tables};
//!
//! // Looking up: names to ids, ids to what they stand for. A bad id answers `None`.
//! let tables: &Tables = &TABLES;
//! let id: ArchId = tables.arch_named("sm_90a").unwrap();
//! let arch: &Arch = tables.arch(id).unwrap();
//! assert_eq!((arch.name, arch.vendor, arch.wave_lanes), ("sm_90a", "nvidia", &[32][..]));
//! let isa_id: IsaId = arch.isa;
//! let isa: &Isa = tables.isa(isa_id).unwrap();
//! assert_eq!((isa.name, tables.isas[isa_id.index()].name), ("ptx", "ptx"));
//! assert!(tables.arch(ArchId(u16::MAX)).is_none());
//! // Element types, also by the names of others.
//! let f16: DtypeId = tables.dtype_named("f16").unwrap();
//! assert_eq!(tables.element_type("float16"), Some(f16));
//! assert_eq!(tables.dtype_of(DtypeKind::Float, 32), tables.dtype_named("f32"));
//! let element: &Dtype = tables.dtype(f16).unwrap();
//! assert_eq!((element.bits, tables.dtypes[f16.index()].name), (16, "f16"));
//! // Operations of the tile IR, by name or alias, or by what they are for.
//! let dot: OpId = tables.op_named("tt.dot").unwrap();
//! assert_eq!(tables.op(dot).map(|op| op.name), tables.op(tables.op_of_role(tables.ops[dot.index()].role).unwrap()).map(|op| op.name));
//! // The other ids number rows of the lists that their documentation names.
//! let (source, feature, class) = (SourceId(0), FeatureId(0), ClassId(0));
//! assert!(!tables.sources[source.index()].key.is_empty() && !tables.units.features[feature.index()].is_empty());
//! assert!(!isa.classes[class.index()].name.is_empty());
//! let (access, tag) = (AccessId(0), TagId(0));
//! assert!(!tables.accesses[access.index()].is_empty() && !tables.tags[tag.index()].is_empty());
//! assert!(!tables.rules.name(RuleId(0)).is_empty());
//! // How layout inference compares attempts, by name.
//! assert!(tables.policy_named("io_aware").is_some() && tables.policy_named("no such policy").is_none());
//! ```
//!
//! ```
//! use lanebook::TABLES;
//! use lanebook::tables::{Atom, AtomClass, AtomCost, AtomId, LaneXor, MatrixShape, Movement, OffsetField, Operand, Operands, Role, Side, Space, Status, OPERAND_PLACES};
//!
//! // An instruction: where its facts come from, its operands, what it moves.
//! let id: AtomId = TABLES.atom_named("ldmatrix.x4").unwrap();
//! let atom: &Atom = TABLES.atom(id).unwrap();
//! assert_eq!((atom.name(), atom.class), ("ldmatrix.x4", AtomClass::Move));
//! assert!(atom.stable() > 0 && !atom.sources().is_empty() && atom.status != Status::Assumed);
//! let operands: Operands = atom.operands;
//! let written: &Operand = operands.first().unwrap();
//! assert_eq!((written.role, written.registers), (Role::Def, 4));
//! assert!(!operands.is_empty() && operands.len() <= OPERAND_PLACES);
//! assert_eq!(operands.get(1).map(|o| o.role), Some(Role::Address));
//! assert_eq!(operands.iter().filter(|o| o.role == Role::Def).count(), 1);
//! let moves: &Movement = atom.movement.unwrap();
//! let (from, to): (&Side, &Side) = (&moves.from, &moves.to);
//! assert_eq!((from.space, to.space, moves.crosses_lanes), (Space::Shared, Space::Register, true));
//! assert_eq!((Space::ALL.len(), Space::pairs().count()), (4, 16));
//! let offset: Option<&OffsetField> = moves.offsets.iter().next();
//! assert!(offset.is_some_and(|field| field.on_from));
//! let cost: AtomCost = atom.cost;
//! assert!(cost.issue > 0);
//!
//! // A product: its shape, and where its operands' elements lie.
//! let mma = TABLES.atom(TABLES.atom_named("mma.m16n8k16.f32.f16").unwrap()).unwrap();
//! let shape: MatrixShape = mma.product().unwrap();
//! assert_eq!((shape.m, shape.n, shape.k), (16, 8, 16));
//! assert!(mma.operands.get(shape.a.into()).unwrap().layout.is_some());
//! // Neither scaled, nor with an operand in shared or tensor memory.
//! assert_eq!((mma.scaled(), mma.scaled_in_tensor(), mma.scaled_run()), (None, None, None));
//! assert!(mma.tensor().is_none() && mma.shared(shape.b).is_none());
//! // Operations between lanes say by which masks.
//! let lanes: &[LaneXor] = mma.does.map_or(&[], |does| does.lanes);
//! assert!(lanes.is_empty());
//! ```
//!
//! ```
//! use lanebook::TABLES;
//! use lanebook::tables::{Instance, MAX_PARAMS, Spelling, Vary};
//!
//! // A family of instructions under one name: its parameters, its instances, and those that a text means.
//! let sm_90a = TABLES.arch_named("sm_90a");
//! let (id, _) = TABLES.family(sm_90a, "wgmma.mma_async").next().unwrap();
//! let wgmma = TABLES.atom(id).unwrap();
//! assert!(wgmma.is_called("wgmma") && !wgmma.is_called("ldmatrix"));
//! let params: Vec<(u8, &Vary)> = wgmma.params().collect();
//! assert!(!params.is_empty() && params.len() <= MAX_PARAMS);
//! let ways: u32 = params.iter().map(|(_, vary)| u32::from(vary.count())).product();
//! assert_eq!(wgmma.instances(), ways);
//! let usual: Instance = wgmma.usual();
//! assert!(wgmma.instance(0).is_some() && wgmma.instance(ways).is_none());
//! // With 64 columns: everything that depends on them follows.
//! let narrow = wgmma.with_columns(64).unwrap();
//! let shape = narrow.shape().unwrap();
//! assert_eq!((shape.n, usual.shape().unwrap().m), (64, 64));
//! assert!(narrow.registers(shape.d) < usual.registers(shape.d));
//! assert!(narrow.scaled_iter(shape.d).is_some());
//! assert_eq!(narrow.layout(shape.d).unwrap().view().size_value(), Ok(64 * 64));
//! assert_eq!(narrow.dtype(shape.d), usual.dtype(shape.d));
//! assert!(wgmma.takes(shape.d, narrow.dtype(shape.d).unwrap()));
//! // What each parameter is: a word or a number.
//! for (param, vary) in params {
//!     let word: Option<Spelling> = narrow.word(param);
//!     assert!(word.is_some() || narrow.value(param).is_some());
//!     assert!(narrow.pick(param).is_some() && narrow.immediate(param).is_some());
//!     assert!(vary.usual() < vary.count());
//!     if let Some(dtype) = word.and_then(|word| word.dtype) {
//!         assert_eq!(wgmma.word_of(param, dtype), narrow.pick(param));
//!     }
//! }
//! // Names are found as they are typed, and one instance by its own.
//! assert!(wgmma.meant("wgmma").is_some());
//! assert!(TABLES.instance_named("ldmatrix.x4").is_some());
//! ```
//!
//! ```
//! use lanebook::TABLES;
//! use lanebook::tables::{ArchAtom, AtomicOp, Capability, CapabilityKey, Dispatch, Factor, IndexOp, OpWord, Second, Space};
//!
//! // What an architecture can do is asked in one way; the answer is a list of instructions, the first choice first.
//! let arch = TABLES.arch(TABLES.arch_named("gfx942").unwrap()).unwrap();
//! let load = Capability::Transfer { from: Space::Global, to: Space::Register };
//! let found = arch.dispatch(load);
//! assert!(!found.is_empty() && found == arch.dispatch.get(load));
//! // What it says of one of them: whether the hardware has it.
//! let own: ArchAtom = arch.own(found[0]).unwrap();
//! assert!(own.native);
//! let isa = TABLES.isa(arch.isa).unwrap();
//! assert!(isa.dispatch(load).len() >= found.len());
//! // Products of these elements, an operand of so many bits, atomics, steps of elementwise work, index arithmetic.
//! let [f16, f32] = ["f16", "f32"].map(|name| TABLES.dtype_named(name).unwrap());
//! assert!(!arch.dispatch(Capability::Product { a: f16, b: f16, c: f32, d: f32 }).is_empty());
//! assert!(!arch.dispatch(Capability::ProductTile { m: 32, n: 32, group: false }).is_empty());
//! let with_bits = Capability::ProductOf { operand: Factor::A, bits: 16 };
//! assert!(arch.dispatch(with_bits).iter().all(|id| TABLES.atom(*id).is_some_and(|atom| atom.matrix.is_some())));
//! assert!(!arch.dispatch(Capability::Atomic { op: AtomicOp::named("add").unwrap(), dtype: f32, answers: false }).is_empty());
//! assert_eq!((AtomicOp::NAMES.len(), AtomicOp::Max.name()), (8, "max"));
//! assert!(OpWord::STEPS.iter().any(|(_, word)| *word == OpWord::ConcatRegs));
//! let [vector, scalar] = [0, 1].map(lanebook::tables::ClassId);
//! let add = |second| Capability::Index { op: IndexOp::Add, class: vector, from: vector, registers: 1, second };
//! assert!(!arch.dispatch(add(Second::Register(vector, 1))).is_empty() || !arch.dispatch(add(Second::Register(scalar, 1))).is_empty());
//! // A capability is a number under a perfect hash; no table answers nothing.
//! let key: CapabilityKey = load.key().unwrap();
//! assert_eq!((Dispatch::EMPTY.get(load), load.key()), (&[][..], Some(key)));
//! ```
//!
//! ```
//! use lanebook::TABLES;
//! use lanebook::tables::{BankModel, Counter, Hazard, HazardUse, LaneGuard, Operandless, RegisterClass, RegisterKind, SharedLimits, Source, SyncRule, SyncStep, TupleStyle};
//!
//! // Memory and order: banks by phases, limits, what one access must wait for before another.
//! let arch = TABLES.arch(TABLES.arch_named("gfx90a").unwrap()).unwrap();
//! let limits: SharedLimits = arch.shared;
//! assert_eq!((limits.max_bytes, arch.max_threads), (65536, 1024));
//! let banks: &BankModel = &arch.banks[0];
//! assert_eq!((banks.banks, banks.bank_bytes), (32, 4));
//! let source: &Source = &TABLES.sources[banks.sources[0].index()];
//! assert!(!source.key.is_empty() && !source.title.is_empty());
//! let rule: &SyncRule = &arch.sync[0];
//! let steps: &[SyncStep] = rule.steps;
//! assert!(steps.iter().all(|step| TABLES.atom(step.atom).is_some()));
//! let counter: &Counter = &arch.counters[0];
//! assert!(counter.max > 0 && !counter.name.is_empty());
//! let hazard: &Hazard = &arch.hazards[0];
//! assert!(hazard.states > 0 && matches!(hazard.on, HazardUse::Read | HazardUse::Write | HazardUse::Any));
//! // How the instruction set writes registers, and keeps an instruction to some lanes.
//! let isa = TABLES.isa(arch.isa).unwrap();
//! assert_eq!(isa.tuples, TupleStyle::Range);
//! let class: &RegisterClass = &isa.classes[0];
//! assert_eq!((class.kind, class.prefix), (RegisterKind::Vector, "v"));
//! let guard: Option<LaneGuard> = isa.guard;
//! assert!(guard.is_some_and(|guard| guard.issue > 0));
//! let thread: Option<Operandless> = isa.thread_register;
//! assert_eq!(thread.map(|register| register.text), Some("v0"));
//! ```
//!
//! ```
//! use lanebook::TABLES;
//! use lanebook::tables::{Amount, Code, Mbarrier, Descriptor, Field, FieldRole, FrameStep, Interleave, Major, MapElement, MapLimit, MatrixMore, OperandTile, OrderLimit, SharedOperand, Steps, SwizzleMode, TensorMap, TensorMemory, TensorMove, TensorTile, TensorUse, TileField, TileIter, TileLayout, TiledMove, UnitShape, Units, WarpSpecialization};
//!
//! // Units that work on whole tiles: descriptors, swizzle modes, tensor memory, tensor maps.
//! let units: &Units = &TABLES.units;
//! let descriptor: &Descriptor = units.descriptors.iter().find(|d| d.bits == 64).unwrap();
//! let field: &Field = descriptor.fields[0];
//! assert!(field.bits > 0 && field.at < descriptor.bits);
//! assert!(descriptor.fields.iter().any(|field| field.role == FieldRole::Start));
//! let mode: &SwizzleMode = units.swizzles.iter().find(|mode| mode.span_bytes == 128).unwrap();
//! let codes: &[Code] = mode.codes;
//! assert!(!codes.is_empty() && !mode.xor.is_empty());
//! // The canonical tiles of operands in shared memory, as layouts with parameters.
//! let tile: &OperandTile = &units.operand_tiles[0];
//! assert!(matches!(tile.major, Major::Depth | Major::Outer));
//! let layout: &TileLayout = &tile.layout;
//! let it: &TileIter = &layout.iters[0];
//! let extent: Amount = it.extent;
//! let fields: &[TileField] = tile.fields;
//! assert!(extent.factor > 0 && fields.iter().all(|field| !field.field.is_empty()));
//! // Which shapes a unit has, and which orders of operands it does not take.
//! let shape: &UnitShape = &units.shapes[0];
//! let columns: Steps = shape.n[0];
//! assert!(columns.low <= columns.high);
//! let orders: &[OrderLimit] = units.order_limits;
//! assert!(orders.iter().all(|limit| !limit.name.is_empty()));
//! // Tensor memory: its size, the tiles in it, what moves them.
//! let memory: &TensorMemory = &units.tensor_memories[0];
//! assert_eq!((memory.lanes, memory.columns), (128, 512));
//! let frame: &[FrameStep] = memory.enter;
//! assert!(!frame.is_empty());
//! let in_tensor: &TensorTile = &units.tensor_tiles[0];
//! assert!(units.tensor_tiles.iter().any(|t| t.purpose == TensorUse::Accumulator) && !in_tensor.name.is_empty());
//! let transfer: &TensorMove = &units.tensor_moves[0];
//! assert!(!transfer.counts.is_empty());
//! // Copies by a unit: the map that says where, and the object that says when.
//! let map: &TensorMap = &units.tensor_maps[0];
//! let element: &MapElement = &map.elements[0];
//! let interleaves: &[Interleave] = map.interleaves;
//! assert!(element.bits > 0 && !interleaves.is_empty() && map.rank.0 <= map.rank.1);
//! let limits: &[MapLimit] = units.map_limits;
//! assert!(limits.iter().all(|limit| !limit.name.is_empty()));
//! let copy: &TiledMove = &units.tiled_moves[0];
//! let done: &Mbarrier = &units.mbarriers[0];
//! let apart: &WarpSpecialization = &units.specializations[0];
//! assert!(!copy.name.is_empty() && done.bytes == 8);
//! // Products that read shared memory say by which descriptor.
//! let more: Option<&MatrixMore> = TABLES.atoms.iter().find_map(|atom| atom.more.filter(|more| !more.shared.is_empty()));
//! let operand: &SharedOperand = &more.unwrap().shared[0];
//! assert!(units.descriptors.iter().any(|d| d.name == operand.descriptor));
//! ```
#![no_std]
#![forbid(unsafe_code)]

mod arch;
mod atom;
#[doc(hidden)]
pub mod contract;
mod dispatch;
mod family;
mod float;
mod hash;
mod list;
mod listing;
mod matrix;
mod op;
mod param;
mod policy;
mod rule;
mod seeding;
#[doc(hidden)]
pub mod sequence;
mod template;
mod tiled;
mod unit;

pub use arch::{
    Arch, ArchAtom, BankModel, Counter, Hazard, HazardUse, Isa, LaneGuard, Operandless,
    RegisterClass, RegisterKind, SharedLimits, SyncRule, SyncStep, TupleStyle,
};
pub use atom::{
    Atom, AtomClass, AtomCost, Atomic, AtomicOp, CounterUse, Elementwise, LaneXor, MatrixShape,
    Movement, OPERAND_PLACES, OffsetField, OpWord, Operand, Operands, Role, Side, Source, Space,
    Status,
};
pub use dispatch::{Capability, CapabilityKey, Dispatch, Factor, Second};
pub use float::{FloatFormat, Specials};
pub use listing::AtomFilter;
pub use matrix::{Broadcast, FieldMove, MatrixMore, SharedOperand, TensorOperand};
pub use op::{IndexWord, LayoutTrait, OpDecl, OpLowering, OpRole, RELATIONS};
pub use param::{Instance, MAX_PARAMS, Spelling, Vary};
pub use policy::{CostPart, CostPolicy, CostTerm};
pub use rule::IndexOp;
pub use tiled::{Mbarrier, TiledMove, WarpSpecialization};
pub use unit::{
    Amount, Code, Descriptor, Field, FieldRole, FrameOperand, FrameStep, Interleave, Major,
    MapElement, MapLimit, OperandTile, OrderLimit, Steps, SwizzleMode, TensorMap, TensorMemory,
    TensorMove, TensorTile, TensorUse, TileField, TileIter, TileLayout, UnitShape, Units,
};

// What the table compiler writes and the engine reads, and nobody else has a use for: how names are hashed and lists are held, terms of
// rules, pieces of texts, what passes and the contract are told.
#[doc(hidden)]
pub use atom::{AtomNote, Piece};
#[doc(hidden)]
pub use contract::{AttrContract, AttrForm, Contract, Elements, OpContract, SlotContract};
#[doc(hidden)]
pub use dispatch::capability_hash;
#[doc(hidden)]
pub use hash::{Divisor, Hashes, NameMap, name_hash};
#[doc(hidden)]
pub use list::{List, Name};
#[doc(hidden)]
pub use rule::{
    ANALYSES, BuildNode, Cond, CondArg, Language, Let, MAX_INSTRUCTIONS, MAX_SLOTS, MAX_TERM,
    NO_SLOT, Number, Pass, PassStep, PatternNode, Rule, RuleSet, Rules, STAGES, TermNode,
    TileBuild, Weights, Word,
};
#[doc(hidden)]
pub use seeding::{
    Accumulators, AtomicWord, AxisWord, Bucket, CandidateRule, DtypeName, Family, LaneElements,
    Meaning, OrderWord, PointerAccess, ProductUnit, ScopeWord, Seeding, SeedingTarget, SubAxis,
    TensorOps,
};
#[doc(hidden)]
#[doc(hidden)]
pub use sequence::shares;
#[doc(hidden)]
pub use sequence::{SEQUENCE_STEPS, Sequence, SequenceOperand, SequenceStep, StepElements};
#[doc(hidden)]
pub use template::{Pieces, Template};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        pub struct $name(pub u16);
        impl $name {
            /// The id as an index into its table.
            #[must_use]
            pub const fn index(self) -> usize { self.0 as usize }
        }
    )*};
}
ids! {
    /// Index of an [`Isa`] in [`Tables::isas`].
    IsaId,
    /// Index of an [`Arch`] in [`Tables::archs`].
    ArchId,
    /// Index of an [`Atom`] in [`Tables::atoms`].
    AtomId,
    /// Index of a [`Dtype`] in [`Tables::dtypes`].
    DtypeId,
    /// Index of an [`OpDecl`] in [`Tables::ops`].
    OpId,
    /// Index of a [`Rule`] in [`Rules::rules`].
    RuleId,
    /// Index of a [`RegisterClass`] in [`Isa::classes`].
    ClassId,
    /// Index of an access kind in [`Tables::accesses`] (who touches memory how: the key of the
    /// synchronisation table).
    AccessId,
    /// Index of a tag in [`Tables::tags`] (groups of atoms that hazards speak of).
    TagId,
    /// Index of a [`Source`] in [`Tables::sources`].
    SourceId,
    /// Index of a name in [`Units::features`].
    FeatureId,
}

/// Everything the engine knows, as plain slices. The build's generated static is one instance.
#[derive(Copy, Clone, Debug)]
pub struct Tables<'a> {
    /// Instruction sets.
    pub isas: &'a [Isa<'a>],
    /// Architectures.
    pub archs: &'a [Arch<'a>],
    /// Instruction forms of every architecture, each once.
    pub atoms: &'a [Atom<'a>],
    /// Element types.
    pub dtypes: &'a [Dtype<'a>],
    /// Operations of the tile IR.
    pub ops: &'a [OpDecl<'a>],
    /// Rewrite rules, in all three term languages.
    pub rules: Rules<'a>,
    /// Names of access kinds.
    pub accesses: &'a [&'a str],
    /// Names of hazard tags.
    pub tags: &'a [&'a str],
    /// Where facts come from.
    pub sources: &'a [Source<'a>],
    /// Matrix units and their memories.
    pub units: Units<'a>,
    /// Cost weights and tie-breaks.
    pub weights: Weights,
    /// How attempts of layout inference are compared; the first where none is named.
    pub policies: &'a [CostPolicy<'a>],
    /// How passes give layouts to operations.
    pub seeding: Seeding<'a>,
    /// What `compile` takes of the operations.
    pub contract: Contract<'a>,
    /// Elementwise operations that are several others.
    pub sequences: &'a [Sequence<'a>],
    /// Architecture names to [`ArchId`].
    pub arch_names: NameMap<'a>,
    /// Atom names to [`AtomId`].
    pub atom_names: NameMap<'a>,
    /// Element type names to [`DtypeId`].
    pub dtype_names: NameMap<'a>,
    /// Operation names and aliases to [`OpId`].
    pub op_names: NameMap<'a>,
    /// Atoms that have a number of the ledger, ascending by it.
    pub numbered_atoms: &'a [AtomId],
    /// Atoms whose names have parameters, in the order of the tables.
    pub named_families: &'a [AtomId],
}

/// Bits of the least elements that are combined as they are.
const COMBINED_BITS: u16 = 32;

impl<'a> Tables<'a> {
    /// The architecture with this name.
    #[must_use]
    pub fn arch_named(&self, name: &str) -> Option<ArchId> {
        self.arch_names
            .get(name, |id| self.archs.get(usize::from(id)).map(|arch| arch.name))
            .map(ArchId)
    }
    /// How layout inference compares attempts, by the policy's name in `rules/cost.ron`.
    #[must_use]
    pub fn policy_named(&self, name: &str) -> Option<&'a CostPolicy<'a>> {
        self.policies.iter().find(|policy| policy.name == name)
    }
    /// The atom with this name.
    #[must_use]
    pub fn atom_named(&self, name: &str) -> Option<AtomId> {
        self.atom_names.get(name, |id| self.atoms.get(usize::from(id)).map(Atom::name)).map(AtomId)
    }
    /// The atom with this number of the ledger.
    ///
    /// ```
    /// use lanebook::TABLES;
    ///
    /// let id = TABLES.atom_named("ldmatrix.x4").unwrap();
    /// let number = TABLES.atom(id).unwrap().stable();
    /// assert_eq!((TABLES.atom_numbered(number), TABLES.atom_numbered(0)), (Some(id), None));
    /// ```
    #[must_use]
    pub fn atom_numbered(&self, stable: u32) -> Option<AtomId> {
        let number = |id: &AtomId| self.atom(*id).map_or(0, Atom::stable);
        let at = self.numbered_atoms.binary_search_by_key(&stable, number).ok()?;
        self.numbered_atoms.get(at).copied()
    }
    /// The element type with this name.
    #[must_use]
    pub fn dtype_named(&self, name: &str) -> Option<DtypeId> {
        self.dtype_names
            .get(name, |id| self.dtypes.get(usize::from(id)).map(|dtype| dtype.name))
            .map(DtypeId)
    }
    /// The first element type of a kind and of so many bits.
    #[must_use]
    pub fn dtype_of(&self, kind: DtypeKind, bits: u16) -> Option<DtypeId> {
        let found =
            self.dtypes.iter().position(|dtype| dtype.kind == kind && dtype.bits == bits)?;
        u16::try_from(found).ok().map(DtypeId)
    }
    /// The element type of 32 bits or more as which elements are combined, rounded once at the end;
    /// `None` where it is their own. What has no sign is, with zeros in front, a number that has one.
    #[doc(hidden)]
    #[must_use]
    pub fn combined_as(&self, dtype: DtypeId) -> Option<DtypeId> {
        let own = self.dtype(dtype)?;
        let kind = match own.kind {
            DtypeKind::Unsigned => DtypeKind::Signed,
            kind => kind,
        };
        let bits = own.bits.max(COMBINED_BITS);
        (bits != own.bits || kind != own.kind).then(|| self.dtype_of(kind, bits))?
    }
    /// The element type with this name, or with one that other systems have for it (`float16`,
    /// `f8E4M3FN`), letters in either case.
    #[must_use]
    pub fn element_type(&self, name: &str) -> Option<DtypeId> {
        let theirs = || {
            let known = |other: &&DtypeName<'_>| other.text.eq_ignore_ascii_case(name);
            self.seeding.dtypes.iter().find(known).map(|other| other.dtype)
        };
        let own = || {
            let known = |dtype: &&Dtype<'_>| dtype.name.eq_ignore_ascii_case(name);
            self.dtypes.iter().find(known).map(|dtype| dtype.name)
        };
        self.dtype_named(name).or_else(|| self.dtype_named(own().or_else(theirs)?))
    }
    /// The operation with this name or alias.
    #[must_use]
    pub fn op_named(&self, name: &str) -> Option<OpId> {
        self.op_names
            .get(name, |id| {
                let decl = self.ops.get(usize::from(id))?;
                // One of its spellings: only that one can be equal.
                Some(decl.aliases.iter().copied().find(|alias| *alias == name).unwrap_or(decl.name))
            })
            .map(OpId)
    }
    /// The first declared operation of a role.
    #[must_use]
    pub fn op_of_role(&self, role: OpRole) -> Option<OpId> {
        let found = self.ops.iter().position(|decl| decl.role == role)?;
        u16::try_from(found).ok().map(OpId)
    }
    /// The operation on parts of tiles that has so many operands: with one a part is taken out, with
    /// two one is put in.
    ///
    /// ```
    /// use lanebook::TABLES;
    ///
    /// let name = |operands| TABLES.op_of_slice(operands).map(|id| TABLES.op(id).unwrap().name);
    /// assert_eq!((name(1), name(2), name(3)), (Some("extract_slice"), Some("insert_slice"), None));
    /// ```
    #[must_use]
    pub fn op_of_slice(&self, operands: usize) -> Option<OpId> {
        let takes = |decl: &OpDecl<'_>| {
            decl.role == OpRole::Slice && usize::from(decl.operands.0) == operands
        };
        u16::try_from(self.ops.iter().position(takes)?).ok().map(OpId)
    }
    /// The operation on indices that computes this.
    ///
    /// ```
    /// use lanebook::TABLES;
    /// use lanebook::tables::IndexWord;
    ///
    /// let sum = TABLES.op_of_index(IndexWord::Add).unwrap();
    /// assert_eq!(TABLES.op(sum).unwrap().name, "index.add");
    /// ```
    #[must_use]
    pub fn op_of_index(&self, word: IndexWord) -> Option<OpId> {
        let computes = |decl: &OpDecl<'_>| decl.role == OpRole::Index && decl.index == Some(word);
        u16::try_from(self.ops.iter().position(computes)?).ok().map(OpId)
    }
    /// The architecture of an id.
    #[must_use]
    #[inline]
    pub fn arch(&self, id: ArchId) -> Option<&'a Arch<'a>> {
        self.archs.get(id.index())
    }
    /// The instruction set of an id.
    #[must_use]
    pub fn isa(&self, id: IsaId) -> Option<&'a Isa<'a>> {
        self.isas.get(id.index())
    }
    /// The atom of an id.
    #[must_use]
    #[inline]
    pub fn atom(&self, id: AtomId) -> Option<&'a Atom<'a>> {
        self.atoms.get(id.index())
    }
    /// The element type of an id.
    #[must_use]
    #[inline]
    pub fn dtype(&self, id: DtypeId) -> Option<&'a Dtype<'a>> {
        self.dtypes.get(id.index())
    }
    /// The type of which an element holds two of another, and the other way round: `e2m1x2` of
    /// `e2m1`.
    ///
    /// ```
    /// use lanebook::TABLES;
    ///
    /// let [single, pair] = ["e2m1", "e2m1x2"].map(|name| TABLES.dtype_named(name).unwrap());
    /// assert_eq!(TABLES.pair_of(single), Some(pair));
    /// assert_eq!(TABLES.dtype(pair).unwrap().pair_of, Some(single));
    /// ```
    #[must_use]
    pub fn pair_of(&self, single: DtypeId) -> Option<DtypeId> {
        let found = self.dtypes.iter().position(|dtype| dtype.pair_of == Some(single))?;
        u16::try_from(found).ok().map(DtypeId)
    }
    /// The operation of an id.
    #[must_use]
    pub fn op(&self, id: OpId) -> Option<&'a OpDecl<'a>> {
        self.ops.get(id.index())
    }
}

/// An element type.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Dtype<'a> {
    /// Its name, e.g. `f16`.
    pub name: &'a str,
    /// Width of one element in bits.
    pub bits: u16,
    /// Bits that an element of a tile has in a lane's registers: more than its own where it stands
    /// there as a mask, all ones or all zeros.
    pub held: u16,
    /// What the bits mean.
    pub kind: DtypeKind,
    /// Of a floating-point number, how its bits are divided; `None` where a modifier says it.
    pub format: Option<FloatFormat>,
    /// Low bits that matrix units do not read: it is a wider type's number with fewer of its bits.
    pub unread: u8,
    /// The type of which it holds two elements, the first one in its lower half: how elements of
    /// less than a byte stand in memory and in registers.
    pub pair_of: Option<DtypeId>,
}

/// What the bits of an element mean.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::tables::DtypeKind;
///
/// let i8 = TABLES.dtype(TABLES.dtype_named("i8").unwrap()).unwrap();
/// assert_eq!((i8.kind, i8.bits, i8.format), (DtypeKind::Signed, 8, None));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum DtypeKind {
    /// A floating-point number.
    Float,
    /// A two's complement integer.
    Signed,
    /// An unsigned integer.
    Unsigned,
    /// Bits without arithmetic meaning.
    Bits,
}

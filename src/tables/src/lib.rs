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
//! | `rule` `policy` `anchor` | rewrite rules, pipelines, weights; how attempts of inference are compared; how passes give layouts |
//! | `float` | how bits of a number are divided |
//! | `family` | the atoms that people mean by a part of a name |
//! | `name` `hash` `list` | look-up by name, the perfect hash, references of one word |
#![no_std]
#![forbid(unsafe_code)]

mod anchor;
mod arch;
mod atom;
pub mod contract;
mod dispatch;
mod family;
mod float;
mod hash;
mod list;
mod matrix;
mod name;
mod op;
mod param;
mod policy;
mod rule;
pub mod sequence;
mod template;
mod tiled;
mod unit;

pub use anchor::{
    Accumulators, AnchorTarget, Anchors, AxisWord, Bucket, CandidateRule, DtypeName, Family,
    LaneElements, Meaning, PointerAccess, ProductUnit, SubAxis, TensorOps,
};
pub use arch::{
    Arch, ArchAtom, BankModel, Counter, Hazard, HazardUse, Isa, LaneGuard, Operandless,
    RegisterClass, RegisterKind, SharedLimits, SyncRule, SyncStep, TupleStyle,
};
pub use atom::{
    Atom, AtomClass, AtomCost, AtomNote, Atomic, AtomicOp, CounterUse, Does, LaneXor, MatrixShape,
    Movement, OPERAND_PLACES, OffsetField, OpWord, Operand, Operands, Piece, Role, Side, Source,
    Space, Status,
};
pub use contract::{AttrContract, AttrForm, Contract, Elements, OpContract, SlotContract};
pub use dispatch::{Capability, CapabilityKey, Dispatch, Factor, Second, capability_hash};
pub use float::{FloatFormat, Specials};
pub use hash::Hashes;
pub use list::{List, Name};
pub use matrix::{Broadcast, FieldMove, MatrixMore, SharedOperand, TensorOperand};
pub use name::{NameMap, name_hash};
pub use op::{IndexWord, LayoutTrait, OpDecl, OpRole, RELATIONS};
pub use param::{Instance, MAX_PARAMS, Spelling, Vary};
pub use policy::{CostPart, CostPolicy, CostTerm};
pub use rule::{
    ANALYSES, BuildNode, Cond, CondArg, IndexOp, Language, Let, MAX_INSTRUCTIONS, MAX_SLOTS,
    MAX_TERM, NO_SLOT, Number, Pass, PassStep, PatternNode, Rule, RuleSet, Rules, TermNode,
    TileBuild, Weights, Word,
};
pub use sequence::{Sequence, SequenceOperand, SequenceStep};
pub use template::{Pieces, Template};
pub use tiled::{CompletionObject, TiledMove};
pub use unit::{
    Amount, Code, Descriptor, Field, FieldRole, FrameOperand, FrameStep, Interleave, Major,
    MapElement, MapLimit, OperandTile, OrderLimit, Steps, SwizzleMode, TensorMap, TensorMemory,
    TensorMove, TensorTile, TensorUse, TileField, TileIter, TileLayout, UnitShape, Units,
};

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
    pub anchors: Anchors<'a>,
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
}

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
    /// The element type with this name, or with one that other systems have for it (`float16`,
    /// `f8E4M3FN`), letters in either case.
    #[must_use]
    pub fn element_type(&self, name: &str) -> Option<DtypeId> {
        let theirs = || {
            let known = |other: &&DtypeName<'_>| other.text.eq_ignore_ascii_case(name);
            self.anchors.dtypes.iter().find(known).map(|other| other.dtype)
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
}

/// What the bits of an element mean.
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

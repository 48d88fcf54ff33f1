//! What `rules/seeding.ron` and `rules/candidates.ron` say: the knowledge with which passes give
//! layouts to operations.
use crate::{ArchId, AtomicOp, DtypeKind, OpRole, Space, Tables};

/// How layouts are given to loads, stores and products.
#[derive(Copy, Clone, Debug)]
pub struct Seeding<'a> {
    /// Warps that work together where a program does not say it; 0: it must.
    pub warps: u16,
    /// Rows of the unit of a product in place, by which fragments lie: one of fewer is taken where no
    /// other divides the product.
    pub unit_rows: u16,
    /// Architectures by the names that other compilers' modules carry.
    pub targets: &'a [SeedingTarget<'a>],
    /// Element types by the names that other compilers give them.
    pub dtypes: &'a [DtypeName<'a>],
    /// Element types of an instruction whose modifiers name the format: a format (`text`), and the
    /// type that stands for it.
    pub formats: &'a [DtypeName<'a>],
    /// What integer operations do to runs of neighbours.
    pub meanings: &'a [Meaning<'a>],
    /// Operations that access memory through tiles of pointers.
    pub accesses: &'a [PointerAccess<'a>],
    /// Which matrix instructions an architecture is asked for, by architecture the best first.
    pub units: &'a [ProductUnit<'a>],
    /// Which candidates an operation has.
    pub candidates: &'a [CandidateRule],
    /// Element types that a matrix unit reads in place of others: the written one (`text`), and the
    /// unit's.
    pub read_as: &'a [DtypeName<'a>],
    /// Words of atomic operations as other compilers print them.
    pub atomics: &'a [AtomicWord<'a>],
    /// Words for the order of such an operation among accesses.
    pub orders: &'a [OrderWord<'a>],
    /// Words for who sees that order.
    pub scopes: &'a [ScopeWord<'a>],
    /// Words of a barrier for whose accesses it is about: a fence orders all of them.
    pub barriers: &'a [&'a str],
    /// Operations by which another compiler orders or feeds the units of one machine by hand: none
    /// is declared, and a program that has one is told so.
    pub by_hand: &'a [&'a str],
}

impl Seeding<'_> {
    /// No knowledge.
    pub const EMPTY: Seeding<'static> = Seeding {
        warps: 0,
        unit_rows: 0,
        targets: &[],
        dtypes: &[],
        formats: &[],
        meanings: &[],
        accesses: &[],
        units: &[],
        candidates: &[],
        read_as: &[],
        atomics: &[],
        orders: &[],
        scopes: &[],
        barriers: &[],
        by_hand: &[],
    };
}

/// An architecture's name in another compiler.
#[derive(Copy, Clone, Debug)]
pub struct SeedingTarget<'a> {
    /// As the module's attribute has it.
    pub text: &'a str,
    /// The architecture's name.
    pub arch: &'a str,
}

impl Tables<'_> {
    /// The architecture that a module's target names: as rules/seeding.ron has it, or by its own
    /// name behind the vendor's (`hip:gfx1201`).
    ///
    /// ```
    /// let tables = &lanebook::TABLES;
    /// assert_eq!(tables.target_named("cuda:80"), tables.arch_named("sm_80"));
    /// assert_eq!(tables.target_named("hip:gfx942"), tables.arch_named("gfx942"));
    /// assert_eq!(tables.target_named("cuda:1"), None);
    /// ```
    #[must_use]
    pub fn target_named(&self, text: &str) -> Option<ArchId> {
        if let Some(known) = self.seeding.targets.iter().find(|known| known.text == text) {
            return self.arch_named(known.arch);
        }
        let colon = text.bytes().position(|byte| byte == b':')?;
        self.arch_named(text.get(colon.checked_add(1)?..)?)
    }
}

/// An element type's name in another compiler.
#[derive(Copy, Clone, Debug)]
pub struct DtypeName<'a> {
    /// As types have it.
    pub text: &'a str,
    /// The element type's name.
    pub dtype: &'a str,
}

/// What an atomic operation does, as another compiler says it.
#[derive(Copy, Clone, Debug)]
pub struct AtomicWord<'a> {
    /// As operations have it in front of their operands.
    pub text: &'a str,
    /// What is done.
    pub op: AtomicOp,
    /// To elements of these kinds.
    pub of: &'a [DtypeKind],
}

/// An order among accesses, as another compiler says it.
#[derive(Copy, Clone, Debug)]
pub struct OrderWord<'a> {
    /// As operations have it.
    pub text: &'a str,
    /// What is behind the operation finds what came before it elsewhere.
    pub releases: bool,
    /// What came before it elsewhere is found by what is behind it here.
    pub acquires: bool,
}

/// Who sees an order, as another compiler says it.
#[derive(Copy, Clone, Debug)]
pub struct ScopeWord<'a> {
    /// As operations have it.
    pub text: &'a str,
    /// The fence's scope; nothing for the block, whose accesses are ordered anyhow.
    pub scope: Option<&'a str>,
}

/// What an operation on integers does to runs of neighbours (contiguity, divisibility, constancy).
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AxisWord {
    /// Numbers in a row, from attribute `start` to attribute `end`.
    Range,
    /// `a + b`.
    Add,
    /// `a - b`.
    Sub,
    /// `a * b`.
    Mul,
    /// `a / b`.
    Div,
    /// `a % b`.
    Rem,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// `a << b`.
    Shl,
    /// `a >> b`.
    Shr,
    /// `a >> b` of numbers with signs: rounded down.
    Ashr,
    /// The greater or the smaller one.
    Extremum,
    /// A comparison.
    Compare,
    /// One of two by a condition.
    Select,
    /// Pointers moved by elements.
    Pointer,
    /// The same numbers.
    Same,
}

/// What an operation means.
#[derive(Copy, Clone, Debug)]
pub struct Meaning<'a> {
    /// The operation, as declared; as written where it is not declared.
    pub op: &'a str,
    /// What it does.
    pub word: AxisWord,
}

/// An operation that accesses memory through a tile of pointers.
#[derive(Copy, Clone, Debug)]
pub struct PointerAccess<'a> {
    /// The operation, as declared; as written where it is not declared.
    pub op: &'a str,
    /// Number of the operand with the pointers.
    pub pointer: u8,
    /// It may write: a lane's share then ends where the widest access does.
    pub writes: bool,
    /// Instruction sets where a lane takes fewer.
    pub most: &'a [LaneElements<'a>],
}

/// The most elements that a lane takes.
#[derive(Copy, Clone, Debug)]
pub struct LaneElements<'a> {
    /// The instruction set's name.
    pub isa: &'a str,
    /// Elements.
    pub elements: u16,
}

/// How accumulators of matrix instructions are written as an encoding.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Accumulators {
    /// Of one warp: operands in registers.
    Warp,
    /// Of a group of warps: operands in shared memory.
    Group,
    /// Of a wave, blocks of rows in a lane.
    Wave,
    /// Of a wave, one row or column in a lane.
    Narrow,
    /// In tensor memory: operands in shared memory, sums are loaded from there.
    Tensor,
}

/// Operations of a product whose sums lie in tensor memory, by their names.
#[derive(Copy, Clone, Debug)]
pub struct TensorOps<'a> {
    /// Reserves the memory and stores what is added to into it: the place, and a token.
    pub alloc: &'a str,
    /// The product of two tiles in shared memory, added to the place; a token before and after.
    pub product: &'a str,
    /// Loads from the place.
    pub load: &'a str,
}

/// A kind of matrix instruction that an architecture is asked for.
#[derive(Copy, Clone, Debug)]
pub struct ProductUnit<'a> {
    /// The architecture's name.
    pub arch: &'a str,
    /// How its accumulators are written.
    pub accumulators: Accumulators,
    /// Version in the encoding: major, minor.
    pub version: (u8, u8),
    /// The instruction is asked for the transposed product, so that a lane's accumulators are
    /// neighbours in a row.
    pub transposes: bool,
    /// Most elements that a lane has in a row along k, as texts order k; 0: as many as fill a
    /// register.
    pub lane: u8,
    /// The same for products with block scales; 0: as for others.
    pub scaled_lane: u8,
    /// Lanes whose block scales an instruction ignores have the next rows'.
    pub fills: bool,
    /// Most warps that share the sums; 0: however many there are.
    pub most_warps: u8,
    /// How a product in tensor memory is written.
    pub ops: Option<TensorOps<'a>>,
}

/// What an operand is to a product.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SubAxis {
    /// The left operand.
    A,
    /// The right operand.
    B,
    /// The accumulator.
    C,
    /// The result.
    D,
    /// Nothing.
    Free,
}

/// Where a candidate leaves the tile.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bucket {
    /// In registers.
    Register,
    /// In memory.
    Memory,
}

/// What kind of layout a candidate has.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// A tile in memory.
    Shared,
    /// Nested tiles over lanes and warps.
    Blocked,
    /// An operand or accumulator of a matrix instruction.
    DotOperand,
    /// A map of bits.
    Linear,
}

/// Candidates that an operation has.
#[derive(Copy, Clone, Debug)]
pub struct CandidateRule {
    /// Operations of this role.
    pub role: OpRole,
    /// Whose memory is of this kind.
    pub memory: Space,
    /// And whose tile is this to a product.
    pub axis: SubAxis,
    /// Where the tile goes.
    pub bucket: Bucket,
    /// In what kind of layout.
    pub family: Family,
    /// By copy atoms from this space.
    pub from: Space,
    /// To this space.
    pub to: Space,
    /// Only with operands described by an address and a swizzle mode, or by a tensor map.
    pub bulk: bool,
    /// Least alignment of the memory in bytes.
    pub align_bytes: u16,
}

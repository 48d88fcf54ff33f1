//! Rewrite rules as compiled: patterns, conditions and replacements in prefix order, and the words
//! they are written in.
//!
//! The words of the index language carry their own meaning here ([`IndexOp::eval`]), so that the
//! engine's folding, the rule compiler's checks and the proofs cannot disagree about it.
use crate::{AtomId, IsaId, List, OpId, OpRole, RuleId};

/// "No slot" in the places where a slot is optional.
pub const NO_SLOT: u8 = u8::MAX;
/// Most slots of one rule.
pub const MAX_SLOTS: usize = 16;
/// Most nodes of one pattern or replacement.
pub const MAX_TERM: usize = 24;
/// Most nodes of one replacement that makes instructions.
pub const MAX_INSTRUCTIONS: usize = 12;

/// Words of the index-expression language. 32-bit unless the name says 64.
///
/// ```
/// use lanebook::tables::IndexOp;
///
/// // Arithmetic of addresses, on 64 bits; what has no answer has none.
/// assert_eq!((IndexOp::Add.eval(5, 3), IndexOp::Xor.eval(5, 3)), (Some(8), Some(6)));
/// assert_eq!((IndexOp::Add.name(), IndexOp::Add.arity(), IndexOp::Add.commutes()), ("add", 2, true));
/// assert!(IndexOp::ALL.iter().all(|op| op.width() >= op.argument_width(0).min(32)));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
pub enum IndexOp {
    /// `a + b` modulo 2^32.
    Add,
    /// `a - b` modulo 2^32.
    Sub,
    /// `a * b` modulo 2^32.
    Mul,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// `a << b`, b below 32 (a greater b has no value).
    Shl,
    /// `a >> b` logical, b below 32 (a greater b has no value).
    Shr,
    /// Product of two 32-bit values as a 64-bit value.
    MulWide64,
    /// 64-bit sum of two 64-bit values.
    Add64,
    /// A 32-bit value zero-extended to 64 bits.
    Extend64,
    /// A 64-bit value shifted left by a 32-bit amount below 64 (a greater one has no value).
    Shl64,
}

impl IndexOp {
    /// Every word, in the order of their numbers.
    pub const ALL: [IndexOp; 12] = [
        IndexOp::Add,
        IndexOp::Sub,
        IndexOp::Mul,
        IndexOp::And,
        IndexOp::Or,
        IndexOp::Xor,
        IndexOp::Shl,
        IndexOp::Shr,
        IndexOp::MulWide64,
        IndexOp::Add64,
        IndexOp::Extend64,
        IndexOp::Shl64,
    ];

    /// How rules spell the word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            IndexOp::Add => "add",
            IndexOp::Sub => "sub",
            IndexOp::Mul => "mul",
            IndexOp::And => "and",
            IndexOp::Or => "or",
            IndexOp::Xor => "xor",
            IndexOp::Shl => "shl",
            IndexOp::Shr => "shr",
            IndexOp::MulWide64 => "mul_wide64",
            IndexOp::Add64 => "add64",
            IndexOp::Extend64 => "extend64",
            IndexOp::Shl64 => "shl64",
        }
    }

    /// Number of arguments.
    #[must_use]
    pub const fn arity(self) -> u8 {
        match self {
            IndexOp::Extend64 => 1,
            _ => 2,
        }
    }

    /// Whether the two arguments may change places.
    #[must_use]
    pub const fn commutes(self) -> bool {
        matches!(
            self,
            IndexOp::Add
                | IndexOp::Mul
                | IndexOp::And
                | IndexOp::Or
                | IndexOp::Xor
                | IndexOp::MulWide64
                | IndexOp::Add64
        )
    }

    /// Width of the value in bits.
    #[must_use]
    pub const fn width(self) -> u8 {
        match self {
            IndexOp::MulWide64 | IndexOp::Add64 | IndexOp::Extend64 | IndexOp::Shl64 => 64,
            _ => 32,
        }
    }

    /// Width of an argument in bits.
    #[must_use]
    pub const fn argument_width(self, argument: u8) -> u8 {
        match (self, argument) {
            (IndexOp::Add64, _) | (IndexOp::Shl64, 0) => 64,
            _ => 32,
        }
    }

    /// The value for given arguments (32-bit ones zero-extended; a missing second argument is
    /// ignored), or `None` where the word has no value: a shift by the width or more.
    #[must_use]
    pub const fn eval(self, a: u64, b: u64) -> Option<u64> {
        let (x, y) = (a as u32, b as u32);
        Some(match self {
            IndexOp::Add => x.wrapping_add(y) as u64,
            IndexOp::Sub => x.wrapping_sub(y) as u64,
            IndexOp::Mul => x.wrapping_mul(y) as u64,
            IndexOp::And => (x & y) as u64,
            IndexOp::Or => (x | y) as u64,
            IndexOp::Xor => (x ^ y) as u64,
            IndexOp::Shl => match x.checked_shl(y) {
                Some(value) => value as u64,
                None => return None,
            },
            IndexOp::Shr => match x.checked_shr(y) {
                Some(value) => value as u64,
                None => return None,
            },
            IndexOp::MulWide64 => (x as u64).wrapping_mul(y as u64),
            IndexOp::Add64 => a.wrapping_add(b),
            IndexOp::Extend64 => x as u64,
            IndexOp::Shl64 => match a.checked_shl(y) {
                Some(value) => value,
                None => return None,
            },
        })
    }
}

/// Which term language a rule speaks.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Language {
    /// Operations of the tile IR.
    Tile,
    /// Index expressions to index expressions.
    Index,
    /// Index expressions to target instructions.
    Target,
}

/// A node of a term in prefix order (the `means` of an arithmetic atom).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum TermNode {
    /// Operand number of the atom.
    Operand(u8),
    /// A constant.
    Const(i64),
    /// A word with its arity; the arguments follow.
    Op(IndexOp, u8),
    /// Three-input bitwise function: truth table in the operand given; three arguments follow (bit
    /// index = 4a + 2b + c).
    Lut3(u8),
    /// Byte permutation: selector operand as the third argument; bytes 0-3 from the second, 4-7
    /// from the first argument.
    BytePermute,
}

/// An integer in nodes of rules: 64 bits that ask for little alignment, so that nodes stay small.
#[derive(Copy, Clone, PartialEq, Eq, Hash)]
pub struct Number([u8; 8]);

impl Number {
    /// The number.
    #[must_use]
    pub const fn new(value: i64) -> Self {
        Self(value.to_ne_bytes())
    }
    /// The number.
    #[must_use]
    #[inline]
    pub const fn get(self) -> i64 {
        i64::from_ne_bytes(self.0)
    }
}

impl core::fmt::Debug for Number {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.get().fmt(f)
    }
}

/// A node of a pattern in prefix order.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum PatternNode {
    /// Binds anything (or must equal what the slot already holds).
    Any(u8),
    /// Binds a constant.
    AnyConst(u8),
    /// A constant of this value (compared modulo 2^width).
    Const(Number),
    /// An index word with its arity; the arguments follow. Binds the node to the slot unless it is
    /// [`NO_SLOT`]. A word that commutes matches in either order.
    Index(IndexOp, u8, u8),
    /// A tile operation with its arity; the arguments follow. Binds the operation itself to the
    /// slot: (op, slot, arity).
    Tile(OpId, u8, u8),
    /// Any tile operation of a role: (role, slot, arity); the arguments follow.
    Role(OpRole, u8, u8),
}

/// A word of the condition vocabulary. `rules/README.md` is its documentation; arguments are slots
/// or constants.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Word {
    /// `(is_const c)`: c is a constant. The compiler puts it into the pattern.
    IsConst,
    /// `(not_const x)`: x is not a constant.
    NotConst,
    /// `(power_of_two c)`: c has exactly one bit set.
    PowerOfTwo,
    /// `(low_mask c)`: c is 2^n - 1, n >= 1.
    LowMask,
    /// `(disjoint x y)`: no bit can be set in both.
    Disjoint,
    /// `(covers c x)`: every bit that can be set in x is set in c.
    Covers,
    /// `(below x c)`: x is less than c, unsigned.
    Below,
    /// `(fits c low high)`: the constant lies between low and high inclusive, read as a signed
    /// number of its width.
    Fits,
    /// `(equal a b)`: two constants are equal.
    Equal,
    /// `(less a b)`: constant a is less than constant b, unsigned.
    Less,
    /// `(no_carry x c)`: `x + c` does not exceed 2^32 - 1.
    NoCarry,
    /// `(single_use x)`: at most one node reads x.
    SingleUse,
    /// `(uniform x)`: equal in all lanes of a wave.
    Uniform,
    /// `(same_layout x y)`: both tiles have the same layout.
    SameLayout,
    /// `(same_space x y)`: both tiles live in the same memory space.
    SameSpace,
    /// `(in_registers x)`: the tile lives in registers.
    InRegisters,
    /// `(in_memory x)`: the tile lives in shared, global or tensor memory.
    InMemory,
    /// `(unpinned x y)`: nothing that orders memory stands between the operation of y and that of
    /// x, and if y reads memory, nothing that writes it.
    Unpinned,
    /// `(narrower x y)`: an element of tile x has fewer bits than one of tile y; a pointer has the
    /// most.
    Narrower,
}

impl Word {
    /// Every word, in the order of their numbers.
    pub const ALL: [Word; 19] = [
        Word::IsConst,
        Word::NotConst,
        Word::PowerOfTwo,
        Word::LowMask,
        Word::Disjoint,
        Word::Covers,
        Word::Below,
        Word::Fits,
        Word::Equal,
        Word::Less,
        Word::NoCarry,
        Word::SingleUse,
        Word::Uniform,
        Word::SameLayout,
        Word::SameSpace,
        Word::InRegisters,
        Word::InMemory,
        Word::Unpinned,
        Word::Narrower,
    ];

    /// How rules spell the word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Word::IsConst => "is_const",
            Word::NotConst => "not_const",
            Word::PowerOfTwo => "power_of_two",
            Word::LowMask => "low_mask",
            Word::Disjoint => "disjoint",
            Word::Covers => "covers",
            Word::Below => "below",
            Word::Fits => "fits",
            Word::Equal => "equal",
            Word::Less => "less",
            Word::NoCarry => "no_carry",
            Word::SingleUse => "single_use",
            Word::Uniform => "uniform",
            Word::SameLayout => "same_layout",
            Word::SameSpace => "same_space",
            Word::InRegisters => "in_registers",
            Word::InMemory => "in_memory",
            Word::Unpinned => "unpinned",
            Word::Narrower => "narrower",
        }
    }

    /// Number of arguments.
    #[must_use]
    pub const fn arity(self) -> u8 {
        match self {
            Word::Fits => 3,
            Word::Disjoint
            | Word::Covers
            | Word::Below
            | Word::Equal
            | Word::Less
            | Word::NoCarry
            | Word::SameLayout
            | Word::SameSpace
            | Word::Unpinned
            | Word::Narrower => 2,
            _ => 1,
        }
    }

    /// Whether the word speaks of tiles (`true`) or of index values.
    #[must_use]
    pub const fn of_tiles(self) -> bool {
        matches!(
            self,
            Word::SameLayout
                | Word::SameSpace
                | Word::InRegisters
                | Word::InMemory
                | Word::Unpinned
                | Word::Narrower
        )
    }
}

/// A condition: a word and its arguments.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Cond<'a> {
    /// The word.
    pub word: Word,
    /// Arguments.
    pub args: List<'a, CondArg>,
}

/// Argument of a condition.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum CondArg {
    /// What a slot holds.
    Slot(u8),
    /// A number.
    Const(Number),
}

/// A constant that a rule computes from the constants it bound, before its conditions are asked.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Let<'a> {
    /// Slot that it fills.
    pub slot: u8,
    /// Its value: `Slot`, `Const`, `Fold`, `TrailingZeros`, `Low32` and `High32` nodes in prefix
    /// order. Without a value (shift too far) the rule does not apply.
    pub term: List<'a, BuildNode>,
}

/// A node of a replacement in prefix order.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum BuildNode {
    /// What a slot holds.
    Slot(u8),
    /// A constant of a width in bits.
    Const(Number, u8),
    /// Constant computed from constants: an index word applied at rewrite time; the arguments
    /// follow.
    Fold(IndexOp, u8),
    /// Constant computed from a constant that follows: how many low bits are 0 (of 0: no value).
    /// Spelt `trailing_zeros`.
    TrailingZeros,
    /// Constant computed from a 64-bit constant that follows: its low 32 bits. Spelt `low32`.
    Low32,
    /// Constant computed from a 64-bit constant that follows: its high 32 bits. Spelt `high32`.
    High32,
    /// An index word; the arguments follow.
    Index(IndexOp, u8),
    /// A target instruction with its argument count (first operand, the result, not counted); the
    /// arguments follow.
    Inst(AtomId, u8),
    /// A tile operation; the arguments follow.
    Tile(TileBuild),
}

/// A tile operation that a replacement makes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TileBuild {
    /// Which operation; `None`: the same as the one in slot `like`.
    pub op: Option<OpId>,
    /// Number of arguments that follow.
    pub arity: u8,
    /// Attributes, shape and element type are those of the operation in this slot; [`NO_SLOT`]: no
    /// attributes, shape and element type of the first argument.
    pub like: u8,
    /// The result's layout is that of the value in this slot; [`NO_SLOT`]: that of `like`.
    pub layout: u8,
    /// The layout is first carried from the result to the first operand of the operation in this
    /// slot (by its layout trait: unchanged, dimensions permuted, reshaped); [`NO_SLOT`]: taken as
    /// it is.
    pub through: u8,
}

/// A compiled rule.
#[derive(Copy, Clone, Debug)]
pub struct Rule<'a> {
    /// Language.
    pub language: Language,
    /// Phase number: rules of one phase run together.
    pub phase: u8,
    /// Higher is tried first.
    pub priority: i16,
    /// Number of slots, at most [`MAX_SLOTS`].
    pub slots: u8,
    /// Left side.
    pub pattern: &'a [PatternNode],
    /// Constants computed from the pattern's.
    pub lets: List<'a, Let<'a>>,
    /// Conditions, all of which must hold.
    pub conditions: List<'a, Cond<'a>>,
    /// Right side.
    pub replacement: &'a [BuildNode],
}

/// All rules with their dispatch.
#[derive(Copy, Clone, Debug)]
pub struct Rules<'a> {
    /// Rules; a [`RuleId`] is an index here.
    pub rules: &'a [Rule<'a>],
    /// Their names, unique; the lean tables do not have them.
    pub names: &'a [&'a str],
    /// What tile rules say, a line of algebra each, by the rules' numbers; empty behind the last of
    /// them, and in the lean tables.
    pub docs: &'a [&'a str],
    /// Rules that run together, one entry for each (language, instruction set, phase) that occurs,
    /// in that order.
    pub sets: &'a [RuleSet<'a>],
    /// Pipelines.
    pub passes: &'a [Pass<'a>],
    /// Names of phases.
    pub phases: &'a [&'a str],
}

impl<'a> Rules<'a> {
    /// No rules.
    pub const EMPTY: Rules<'static> =
        Rules { rules: &[], names: &[], docs: &[], sets: &[], passes: &[], phases: &[] };

    /// The rule of an id.
    #[must_use]
    pub fn rule(&self, id: RuleId) -> Option<&'a Rule<'a>> {
        self.rules.get(id.index())
    }

    /// The name of a rule; `?` where there is none, as in the lean tables.
    #[must_use]
    pub fn name(&self, id: RuleId) -> &'a str {
        self.names.get(id.index()).copied().unwrap_or("?")
    }

    /// What a rule says, in a line; empty where the tables do not have it.
    #[must_use]
    pub fn doc(&self, id: RuleId) -> &'a str {
        self.docs.get(id.index()).copied().unwrap_or("")
    }

    /// The rules of one language and phase (target rules: for one instruction set). Asked once per
    /// pass, not per node.
    #[must_use]
    pub fn set(
        &self,
        language: Language,
        isa: Option<IsaId>,
        phase: u8,
    ) -> Option<&'a RuleSet<'a>> {
        self.sets
            .iter()
            .find(|set| set.language == language && set.isa == isa && set.phase == phase)
    }

    /// The number of the phase with this name.
    #[must_use]
    pub fn phase_named(&self, name: &str) -> Option<u8> {
        self.phases
            .iter()
            .position(|phase| *phase == name)
            .and_then(|number| u8::try_from(number).ok())
    }
}

/// Rules that run together, by the root of their patterns.
#[derive(Copy, Clone, Debug)]
pub struct RuleSet<'a> {
    /// Term language.
    pub language: Language,
    /// Instruction set, for target rules.
    pub isa: Option<IsaId>,
    /// Phase.
    pub phase: u8,
    /// Rules for each root, in the order in which they are tried. Index and target rules: the
    /// number of the [`IndexOp`], then [`RuleSet::ROOT_CONST`], then [`RuleSet::ROOT_ANY`]. Tile
    /// rules: the [`OpId`].
    pub roots: &'a [&'a [RuleId]],
}

impl<'a> RuleSet<'a> {
    /// Root number of patterns that are a constant.
    pub const ROOT_CONST: usize = IndexOp::ALL.len();
    /// Root number of patterns that are a bare slot.
    pub const ROOT_ANY: usize = IndexOp::ALL.len() + 1;

    /// Rules for a root number, best first.
    #[must_use]
    pub fn rules_for(&self, root: usize) -> &'a [RuleId] {
        self.roots.get(root).copied().unwrap_or(&[])
    }
}

/// A pipeline from `rules/passes.ron`.
#[derive(Copy, Clone, Debug)]
pub struct Pass<'a> {
    /// Its name.
    pub name: &'a str,
    /// Steps in order.
    pub steps: &'a [PassStep<'a>],
}

/// Names of analyses that a pipeline may call.
pub const ANALYSES: &[&str] = &[
    "infer",
    "assign",
    "place",
    "emit",
    "check",
    "remove-dead-args",
    "remove-aliases",
    "propagate-buffers",
    "propagate-registers",
    "unify-regions",
    "slice",
    "resolve-agents",
    "weigh-conversions",
    "default-layouts",
    "assign-layouts",
    "coalesce",
    "accelerate-matmul",
];

/// Those of [`ANALYSES`] that are the stages of a compile, in the order in which they follow.
pub const STAGES: &[&str] = &["infer", "assign", "place", "emit", "check"];

/// One step of a pipeline.
#[derive(Copy, Clone, Debug)]
pub enum PassStep<'a> {
    /// Apply a phase's rules, at most so many sweeps.
    Rules {
        /// Phase number.
        phase: u8,
        /// Most sweeps over the program.
        sweeps: u8,
    },
    /// A named analysis of the engine.
    Analysis(&'a str),
}

/// Cost weights and tie-breaks (`rules/cost.ron`).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Weights {
    /// Weight of one shared-memory transaction, in quarters.
    pub shared_transaction: u32,
    /// Weight of one tensor-memory cycle, in quarters.
    pub tensor_cycle: u32,
    /// Weight of one live register, in quarters.
    pub register: u32,
    /// Weight of one issued instruction, in quarters.
    pub instruction: u32,
    /// Weight of one address instruction, in quarters.
    pub address: u32,
    /// Weight of one global-memory segment of `segment_bytes`, in quarters.
    pub global_segment: u32,
    /// Weight of one matrix-unit cycle, in quarters.
    pub matrix_cycle: u32,
    /// Weight of 1024 bytes of padding, in quarters.
    pub pad_kib: u32,
    /// How often a loop's body is taken to run when costs are added up.
    pub loop_trips: u32,
    /// Cost of one byte that changes its layout between threads (see `convert_elements`,
    /// `convert_bits`), in thousandths of a cycle.
    pub convert_byte: u32,
    /// A conversion moves at least so many elements.
    pub convert_elements: u32,
    /// An element of a conversion counts at least so many bits.
    pub convert_bits: u32,
    /// Cost of one byte of an operation's results, times its effort, in thousandths of a cycle.
    pub work_byte: u32,
    /// Cost of one byte that is loaded once more.
    pub load_byte: u32,
    /// Cost of a reduction, times the lanes that hold different parts.
    pub reduce_lane: u32,
    /// Cost of a reduction, times the warps that hold different parts.
    pub reduce_warp: u32,
    /// Instructions that an exchange through shared memory is taken to need for its addresses and
    /// waits, before its layout is chosen.
    pub exchange_addresses: u32,
    /// What a pass over the banks costs more than [`Self::shared_transaction`] where ways to convert
    /// are compared.
    pub exchange_pass: u32,
    /// What an instruction of shared memory costs more than another where ways to convert are
    /// compared.
    pub exchange_access: u32,
    /// The same of one that moves registers between lanes through that memory's crossbar.
    pub exchange_move: u32,
    /// Instructions that a barrier of an exchange is as much as.
    pub exchange_barrier: u32,
    /// Most of a lane's registers, in percent, that a tile may have together with its packed form
    /// ahead of an exchange or behind it.
    pub packed_percent: u32,
    /// Parallel loops with a fragment between them are fused where it would have more than so much of a
    /// lane's registers, in percent.
    pub fused_percent: u32,
    /// Of a product whose factors become wider first, so much of the depth at once.
    pub widened_depth: u32,
    /// The same where each lane multiplies alone.
    pub widened_depth_lanes: u32,
    /// Registers of a thread whose warps only start copies for the others.
    pub producer_registers: u32,
    /// Instructions that tell whether an address is inside of a tensor's bounds.
    pub bound_steps: u32,
    /// Bytes of one global-memory segment.
    pub segment_bytes: u32,
    /// Alignment in bytes, at the least, of whatever stands in shared memory.
    pub shared_align: u32,
    /// Loops inside each other beyond which costs count no further turns.
    pub loop_depth: u32,
    /// What a conversion costs that only renames, and what every value costs at the least, in
    /// thousandths of a cycle.
    pub trifle: u32,
    /// How much dearer than others a register is that its class does not have.
    pub missing_register: u32,
}

impl Weights {
    /// Nothing costs anything: of tables without rules.
    pub const NONE: Self = Self {
        shared_transaction: 0,
        tensor_cycle: 0,
        register: 0,
        instruction: 0,
        address: 0,
        global_segment: 0,
        matrix_cycle: 0,
        pad_kib: 0,
        loop_trips: 0,
        convert_byte: 0,
        convert_elements: 0,
        convert_bits: 0,
        work_byte: 0,
        load_byte: 0,
        reduce_lane: 0,
        reduce_warp: 0,
        exchange_addresses: 0,
        exchange_pass: 0,
        exchange_access: 0,
        exchange_move: 0,
        exchange_barrier: 0,
        packed_percent: 0,
        fused_percent: 0,
        widened_depth: 0,
        widened_depth_lanes: 0,
        producer_registers: 0,
        bound_steps: 0,
        segment_bytes: 0,
        shared_align: 0,
        loop_depth: 0,
        trifle: 0,
        missing_register: 0,
    };

    /// How often something inside so many loops is taken to be executed: `loop_trips` times in each,
    /// of the innermost `loop_depth`.
    #[must_use]
    pub fn executions(&self, depth: usize) -> u32 {
        let deepest = usize::try_from(self.loop_depth).unwrap_or(usize::MAX);
        (0..depth.min(deepest)).fold(1, |all: u32, _| all.saturating_mul(self.loop_trips.max(1)))
    }

    /// `cost` of something inside so many loops.
    #[must_use]
    pub fn inside_loops(&self, cost: u32, depth: usize) -> u32 {
        cost.saturating_mul(self.executions(depth))
    }

    /// A pass over the banks, or through the lanes' crossbar, where ways to convert are compared.
    #[must_use]
    pub fn pass(&self) -> u32 {
        self.shared_transaction.saturating_add(self.exchange_pass)
    }

    /// What an exchange through shared memory needs for addresses and for the barrier between its
    /// store and its load, in quarters.
    #[must_use]
    pub fn exchange(&self) -> u32 {
        self.exchange_addresses
            .saturating_add(self.exchange_barrier)
            .saturating_mul(self.instruction)
    }

    /// What each further round of an exchange costs: two barriers, in quarters.
    #[must_use]
    pub fn round(&self) -> u32 {
        self.exchange_barrier.saturating_mul(self.instruction).saturating_mul(2)
    }
}

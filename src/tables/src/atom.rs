//! Atoms: what one instruction form does.
use crate::template::Template;
use crate::{
    AccessId, ClassId, DtypeId, FeatureId, IsaId, List, MatrixMore, Name, OpId, SharedOperand,
    SourceId, TagId, TensorOperand, TermNode, Vary,
};
use lanebook_layout::{AxisId, Iter, LayoutRef};

/// Operands of an emitted instruction for which there are places; a form with more of them, unless
/// the rest are small numbers, is not chosen.
pub const OPERAND_PLACES: usize = 8;

/// One instruction form.
#[derive(Copy, Clone, Debug)]
pub struct Atom<'a> {
    /// What people and tools read of it; the lean tables have the names of copy atoms, which
    /// programs may say, and no more.
    pub note: Option<&'a AtomNote<'a>>,
    /// What kind of thing it does.
    pub class: AtomClass,
    /// Its instruction set.
    pub isa: IsaId,
    /// Its text.
    pub template: Template<'a>,
    /// Operands in the template's numbering.
    pub operands: Operands<'a>,
    /// For copy atoms: what goes where.
    pub movement: Option<&'a Movement<'a>>,
    /// For matrix instructions: the shape and which operand is which.
    pub matrix: Option<MatrixShape>,
    /// For matrix instructions that are not one product of dense operands: what else they have.
    pub more: Option<&'a MatrixMore<'a>>,
    /// For arithmetic: the value of the first operand as a term over operand numbers, prefix order.
    pub means: List<'a, TermNode>,
    /// For arithmetic on tile elements: which operation it is.
    pub does: Option<&'a Elementwise<'a>>,
    /// Cost facts.
    pub cost: AtomCost,
    /// The counter it advances, if it completes asynchronously.
    pub counter: Option<CounterUse>,
    /// Groups it belongs to, for hazards.
    pub tags: List<'a, TagId>,
    /// How sure the facts are.
    pub status: Status,
}

/// What people and tools read of an atom, and the engine does not.
#[derive(Copy, Clone, Debug)]
pub struct AtomNote<'a> {
    /// lanebook's name, unique.
    pub name: &'a str,
    /// Stable number from the ledger `hw-tables/ids.ron`.
    pub stable: u32,
    /// The group of the tables that it stands in; an architecture has an atom by its group.
    pub feature: FeatureId,
    /// Where its facts come from.
    pub sources: List<'a, SourceId>,
}

/// Kinds of atoms.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum AtomClass {
    /// Moves tile elements between memory spaces or registers.
    Move,
    /// Matrix multiply-accumulate.
    Matrix,
    /// Integer arithmetic for addresses.
    Alu,
    /// Moves registers between lanes.
    CrossLane,
    /// Changes element width.
    Convert,
    /// Orders accesses.
    Sync,
    /// Branches, parameters, frame.
    Control,
}

impl AtomClass {
    /// Every kind, and its word.
    pub const NAMES: [(AtomClass, &'static str); 7] = [
        (AtomClass::Move, "move"),
        (AtomClass::Matrix, "matrix"),
        (AtomClass::CrossLane, "cross_lane"),
        (AtomClass::Convert, "convert"),
        (AtomClass::Alu, "alu"),
        (AtomClass::Sync, "sync"),
        (AtomClass::Control, "control"),
    ];

    /// The kind that a word names.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(_, name)| *name == word).map(|(class, _)| *class)
    }
}

/// A piece of an instruction's or a frame's text.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Text as it stands.
    Text(&'a str),
    /// Operand number, in the instruction set's spelling (register, tuple, integer, label).
    Operand(u8),
    /// Immediate operand number, with a text before it, left out with that text when the value is
    /// zero.
    Optional(u8, &'a str),
    /// The lower (`false`) or upper (`true`) half of a tuple operand, for instructions that are two
    /// lines of text.
    Half(u8, bool),
    /// A named placeholder of a frame (`{target}`, `{params}`, ...); never in an atom.
    Frame(&'a str),
}

/// What an operand is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// Written.
    Def,
    /// Read.
    Use,
    /// Read and written (tied), e.g. a half-register load that keeps the other half.
    UseDef,
    /// An address that is read.
    Address,
    /// A number in the text.
    Immediate,
    /// A label.
    Label,
}

/// One operand of an atom.
#[derive(Copy, Clone, Debug)]
pub struct Operand<'a> {
    /// Its name in the template; the lean tables do not have it.
    pub name: Name<'a>,
    /// What it is.
    pub role: Role,
    /// Register class (for immediates and labels: any value, unused).
    pub class: ClassId,
    /// Further classes it also takes (e.g. scalar for a vector source).
    pub also: List<'a, ClassId>,
    /// Registers of that class in the tuple.
    pub registers: u8,
    /// Element type, for matrix operands.
    pub dtype: Option<DtypeId>,
    /// For matrix operands: (row, column) of the operand's matrix to (laneid, bit), over `extents`.
    pub layout: Option<&'a LayoutRef<'a>>,
    /// Logical extents of `layout`, row first.
    pub extents: (u16, u16),
    /// Immediates: lowest and highest value. Registers: the integers it takes in place of a
    /// register (`min > max` = none; architecture-wide inline integers are in
    /// [`crate::Arch::inline_integers`]).
    pub range: &'a (i64, i64),
    /// Immediates: the multiples of this in the range alone; 1: every number.
    pub multiple: u8,
    /// The operand is a register with a fixed name that the text does not show (it must be set
    /// before).
    pub implicit: bool,
    /// Its part in a family of instances: it is a parameter, or depends on one.
    pub vary: Option<&'a Vary<'a>>,
}

/// The operands of an atom in the template's numbering: references, since many atoms share an
/// operand.
#[derive(Copy, Clone, Debug)]
pub struct Operands<'a>(pub List<'a, &'a Operand<'a>>);

impl Operand<'_> {
    /// Whether it takes registers of a class.
    ///
    /// ```
    /// use lanebook::TABLES;
    ///
    /// let sum = TABLES.atom(TABLES.atom_named("fma.rn.f32").unwrap()).unwrap();
    /// let (to, from) = (sum.operands.get(0).unwrap(), sum.operands.get(1).unwrap());
    /// // Its factors may have been loaded as bits, its result is a float.
    /// assert!(from.accepts(to.class) && from.also.iter().all(|class| from.accepts(*class)));
    /// assert!(from.also.iter().all(|class| !to.accepts(*class)));
    /// ```
    #[must_use]
    pub fn accepts(&self, class: ClassId) -> bool {
        self.class == class || self.also.contains(&class)
    }
}

impl<'a> Atom<'a> {
    /// lanebook's name for it, unique; in the lean tables only copy atoms have one.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.note.map_or("", |note| note.name)
    }

    /// Stable number from the ledger `hw-tables/ids.ron`; 0 in the lean tables.
    #[must_use]
    pub fn stable(&self) -> u32 {
        self.note.map_or(0, |note| note.stable)
    }

    /// The feature that it belongs to; in the lean tables none.
    #[must_use]
    pub fn feature(&self) -> Option<FeatureId> {
        self.note.filter(|note| note.stable > 0).map(|note| note.feature)
    }

    /// Where its facts come from; nothing in the lean tables.
    #[must_use]
    pub fn sources(&self) -> &'a [SourceId] {
        self.note.map_or(&[], |note| note.sources.slice())
    }

    /// Its shape, if it is one product of dense operands as the text shows it: not of several
    /// blocks, sparse or scaled, and not with an accumulator in tensor memory.
    #[must_use]
    #[inline]
    pub fn product(&self) -> Option<MatrixShape> {
        let plain = self.more.is_none_or(|more| {
            more.blocks == 1
                && more.index.is_none()
                && more.scales == (None, None)
                && more.tensor.is_none()
        });
        self.matrix.filter(|_| plain)
    }

    /// Whether it is a product that each lane does alone: a lane has one element of the result, with
    /// the row and the column that it comes from.
    ///
    /// ```
    /// use lanebook::TABLES;
    ///
    /// let of_lanes = |name| TABLES.atom(TABLES.atom_named(name).unwrap()).unwrap().is_of_lanes();
    /// assert!(of_lanes("fma.rn.f32.4x8") && !of_lanes("mma.m16n8k16.f32.f16"));
    /// ```
    #[must_use]
    pub fn is_of_lanes(&self) -> bool {
        let Some(shape) = self.product() else { return false };
        let extents = |iters: &[Iter], of_lanes: bool| {
            iters
                .iter()
                .filter(|it| (it.axis() == AxisId::LANE) == of_lanes)
                .map(|it| it.extent_value().unwrap_or(0))
                .fold(1u32, u32::saturating_mul)
        };
        let (m, n, k) = (u32::from(shape.m), u32::from(shape.n), u32::from(shape.k));
        let all = m.saturating_mul(n);
        [(shape.a, (m, k, n)), (shape.b, (n, k, m)), (shape.d, (all, 1, 1))].into_iter().all(
            |(number, (lanes, own, copies))| {
                let operand = self.operands.get(usize::from(number));
                operand.and_then(|operand| operand.layout).is_some_and(|layout| {
                    extents(layout.shard, true) == lanes
                        && extents(layout.shard, false) == own
                        && extents(layout.replica, true) == copies
                })
            },
        )
    }

    /// How its accumulator stands in tensor memory, if it does, of one product of dense operands.
    #[must_use]
    pub fn tensor(&self) -> Option<&'a TensorOperand<'a>> {
        self.more.filter(|more| more.blocks == 1 && more.index.is_none())?.tensor
    }

    /// The operands that hold the block scales of A and B, of one product of dense operands in
    /// registers.
    #[must_use]
    pub fn scaled(&self) -> Option<[u8; 2]> {
        let more = self
            .more
            .filter(|more| more.blocks == 1 && more.index.is_none() && more.tensor.is_none())?;
        let (Some(a), Some(b)) = more.scales else { return None };
        self.matrix.map(|_| [a, b])
    }

    /// The operands that say where in tensor memory the block scales of A and B stand, of one
    /// product with its accumulator there.
    #[must_use]
    pub fn scaled_in_tensor(&self) -> Option<[u8; 2]> {
        let more = self
            .more
            .filter(|more| more.blocks == 1 && more.index.is_none() && more.tensor.is_some())?;
        let (Some(a), Some(b)) = more.scales else { return None };
        self.matrix.map(|_| [a, b])
    }

    /// How many neighbours along the depth have one scale.
    #[must_use]
    pub fn scaled_run(&self) -> Option<u16> {
        let [number, _] = self.scaled().or_else(|| self.scaled_in_tensor())?;
        self.matrix?.k.checked_div(self.operands.get(usize::from(number))?.extents.1)
    }

    /// How an operand that stands in shared memory is given.
    #[must_use]
    pub fn shared(&self, operand: u8) -> Option<&'a SharedOperand<'a>> {
        self.more?.shared.iter().find(|s| s.operand == operand)
    }
}

impl<'a> Operands<'a> {
    /// An operand by its number.
    #[must_use]
    #[inline]
    pub fn get(&self, number: usize) -> Option<&'a Operand<'a>> {
        self.0.slice().get(number).copied()
    }
    /// Operand 0.
    #[must_use]
    pub fn first(&self) -> Option<&'a Operand<'a>> {
        self.0.slice().first().copied()
    }
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.slice().len()
    }
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.slice().is_empty()
    }
    /// All of them in order.
    pub fn iter(&self) -> core::iter::Copied<core::slice::Iter<'a, &'a Operand<'a>>> {
        self.0.slice().iter().copied()
    }
}

impl<'a> IntoIterator for Operands<'a> {
    type Item = &'a Operand<'a>;
    type IntoIter = core::iter::Copied<core::slice::Iter<'a, &'a Operand<'a>>>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Memory spaces.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Space {
    /// Registers of the lanes.
    Register,
    /// Shared memory, LDS.
    Shared,
    /// Global memory.
    Global,
    /// Tensor memory.
    Tensor,
}

impl Space {
    /// Every space, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Register, Self::Shared, Self::Global, Self::Tensor];

    /// Every space, and its word.
    pub const NAMES: [(Self, &'static str); 4] = [
        (Self::Register, "register"),
        (Self::Shared, "shared"),
        (Self::Global, "global"),
        (Self::Tensor, "tensor"),
    ];

    /// The space that a word names.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(_, name)| *name == word).map(|(space, _)| *space)
    }

    /// Every pair of spaces, by the first and then the second.
    pub fn pairs() -> impl Iterator<Item = (Self, Self)> {
        Self::ALL.into_iter().flat_map(|from| Self::ALL.into_iter().map(move |to| (from, to)))
    }
}

/// What a copy atom moves. Both layouts share one logical coordinate: `extents`, row-major, in
/// units of `unit_bits`.
#[derive(Copy, Clone, Debug)]
pub struct Movement<'a> {
    /// Width of one logical element in bits. A wider tile element is several of them.
    pub unit_bits: u16,
    /// Extents of the logical coordinate, most significant first.
    pub extents: List<'a, u16>,
    /// Source.
    pub from: Side<'a>,
    /// Destination.
    pub to: Side<'a>,
    /// The immediate offset fields.
    pub offsets: List<'a, OffsetField>,
    /// The unit's bits cross lanes inside the instruction: `false` when each lane gets what its own
    /// address fetched.
    pub crosses_lanes: bool,
    /// Operand that says how many bytes of each slot's share are read; zeros stand for the others.
    pub size: Option<u8>,
    /// What stands in memory afterwards is made of what stood there and what is moved, in one step
    /// for each element; `None`: it is what is moved.
    pub atomic: Option<Atomic>,
}

/// How an atomic instruction changes memory.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Atomic {
    /// What it computes.
    pub op: AtomicOp,
    /// Of elements of this type.
    pub dtype: DtypeId,
    /// Operand that receives what stood in memory before; `None`: nothing answers.
    pub old: Option<u8>,
    /// Operand with the elements that those in memory are compared with: where it is the one that
    /// is moved, they stand in its registers behind the elements that are moved.
    pub compare: Option<u8>,
}

/// What an atomic instruction computes of an element in memory and one that is moved.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum AtomicOp {
    /// Their sum.
    Add,
    /// The smaller one.
    Min,
    /// The greater one.
    Max,
    /// The bits that both have.
    And,
    /// The bits that either has.
    Or,
    /// The bits that one of them has.
    Xor,
    /// The one that is moved.
    Exch,
    /// The one that is moved where what stands there has the bits of another one, else what stands
    /// there.
    Cas,
}

impl AtomicOp {
    /// Every one, and how tables and programs spell it.
    pub const NAMES: [(AtomicOp, &str); 8] = [
        (AtomicOp::Add, "add"),
        (AtomicOp::Min, "min"),
        (AtomicOp::Max, "max"),
        (AtomicOp::And, "and"),
        (AtomicOp::Or, "or"),
        (AtomicOp::Xor, "xor"),
        (AtomicOp::Exch, "exch"),
        (AtomicOp::Cas, "cas"),
    ];

    /// The one that a word names.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(_, name)| *name == word).map(|(op, _)| *op)
    }

    /// Whether it compares elements in memory with a third tile's.
    #[must_use]
    pub const fn compares(self) -> bool {
        matches!(self, Self::Cas)
    }

    /// Its word.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(op, _)| *op == self).map_or("", |(_, name)| *name)
    }
}

/// One side of a movement.
#[derive(Copy, Clone, Debug)]
pub struct Side<'a> {
    /// Where.
    pub space: Space,
    /// Register side: logical coordinate to (laneid, bit). Memory side: to (slot, byte); no slot
    /// axis = one wave-uniform address.
    pub layout: &'a LayoutRef<'a>,
    /// The operand that holds the data (register side) or the address (memory side).
    pub operand: u8,
    /// Second address operand (a wave-uniform base), if any.
    pub base: Option<u8>,
    /// Required alignment of each slot's address in bytes (register side: 0).
    pub align_bytes: u16,
    /// Bytes between the shares that one slot's address supplies in a row.
    pub slot_bytes: u16,
    /// Bank model of this access, by name; empty for spaces without banks.
    pub banks: Name<'a>,
    /// Kind of the access, for synchronisation.
    pub access: AccessId,
}

/// An immediate offset added to addresses.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct OffsetField {
    /// Operand number.
    pub operand: u8,
    /// Lowest value.
    pub min: i32,
    /// Highest value.
    pub max: i32,
    /// Bytes one unit stands for.
    pub scale: u16,
    /// Added to the source's addresses.
    pub on_from: bool,
    /// Added to the destination's addresses.
    pub on_to: bool,
    /// Which place of each slot it leads to: a number on the layout's axis `place`, 0 without one.
    pub place: u8,
}

/// Shape of a matrix instruction. Operand layouts are in [`Operand::layout`]: A is (m, k), B is (k,
/// n), C and D are (m, n);
/// [`MatrixMore`] says where it is otherwise.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct MatrixShape {
    /// Rows.
    pub m: u16,
    /// Columns.
    pub n: u16,
    /// Depth.
    pub k: u16,
    /// Operand number of A.
    pub a: u8,
    /// Operand number of B.
    pub b: u8,
    /// Operand number of C.
    pub c: u8,
    /// Operand number of D.
    pub d: u8,
}

/// Cost facts.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct AtomCost {
    /// Issue slots.
    pub issue: u16,
    /// Cycles until the unit takes the next one of its kind (matrix: passes times cycles a pass);
    /// 0 = not known.
    pub cycles: u16,
}

/// What an atom does to tile elements: an elementwise operation of `rules/ops.ron`, or a step that
/// the engine puts together operations and conversions of.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum OpWord {
    /// An elementwise operation, or what a reduction combines two elements by.
    Op(OpId),
    /// Each lane receives a register of the lane whose number differs from its own in a mask.
    ShuffleXor,
    /// Each lane receives a register of the lane whose number stands in a register.
    ShuffleIndex,
    /// Makes a register of any bytes of two.
    BytePermute,
    /// Joins elements, or registers, to a wider register, the lowest first.
    ConcatRegs,
    /// Takes a register apart into narrower ones, the lowest first.
    SplitRegs,
}

impl OpWord {
    /// The words that are no operations, as tables write them.
    pub const STEPS: [(&'static str, Self); 5] = [
        ("shuffle_xor", Self::ShuffleXor),
        ("shuffle_index", Self::ShuffleIndex),
        ("byte_permute", Self::BytePermute),
        ("concat_regs", Self::ConcatRegs),
        ("split_regs", Self::SplitRegs),
    ];
}

/// An operation on tile elements that an atom does register by register. Its element types are
/// those of the operands.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::tables::{CounterUse, Elementwise};
///
/// // Elementwise operations of an instruction, and the counter of one that completes later.
/// let does: Vec<&Elementwise> = TABLES.atoms.iter().filter_map(|atom| atom.does).collect();
/// assert!(does.iter().any(|does| does.ulp == 0));
/// let counted: Vec<CounterUse> = TABLES.atoms.iter().filter_map(|atom| atom.counter).collect();
/// assert!(!counted.is_empty());
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Elementwise<'a> {
    /// What it does.
    pub op: OpWord,
    /// Operand numbers of the operation's operands, in order. Where elements become narrower each
    /// operand stands here once for each element of a result register, the lowest element first.
    pub uses: &'a [u8],
    /// Of an exchange between lanes: between which.
    pub lanes: &'a [LaneXor<'a>],
    /// Where elements become wider and a register of the operand has those of several result
    /// registers: which result register's, counted from the lowest.
    pub part: u8,
    /// Of a choice of bytes: how many bits of its last operand say which byte becomes a byte of the
    /// result, the lowest byte's lowest. Bytes of the first operand count from 0, those of the
    /// second from 4. 0 = it is no such choice.
    pub selector: u8,
    /// By how many units in the last place of the element type a result may be off; 0 = it is exact,
    /// or rounded once.
    pub ulp: u8,
}

/// Lane `l` receives what lane `l ^ mask` has, for one mask or for a run of them.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct LaneXor<'a> {
    /// First and last mask.
    pub masks: (u8, u8),
    /// What the operands hold that are neither the result nor moved, in order, where the mask is
    /// zero.
    pub set: &'a [i32],
    /// What the first of them holds more for each unit of the mask.
    pub step: i32,
    /// An operand that holds, in a register, so many times the number of the lane that is read.
    pub by: Option<(u8, u8)>,
}

/// Which counter an asynchronous atom advances.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct CounterUse {
    /// Index into [`crate::Arch::counters`] by name order of the architecture's list.
    pub counter: u8,
    /// Its operations may complete out of order with others of the counter.
    pub unordered: bool,
}

/// How sure a fact is, by the sources that it cites.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// Two sources of different origin say it.
    Verified,
    /// One document of the vendor says it.
    Documented,
    /// It was measured on hardware.
    Measured,
    /// One source says it, which is no document.
    OneSource,
    /// A source says otherwise.
    Contested,
    /// No source says exactly this.
    Assumed,
}

impl Status {
    /// The status as people read it.
    ///
    /// ```
    /// assert_eq!(lanebook_tables::Status::OneSource.words(), "one source");
    /// ```
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Documented => "documented",
            Self::Measured => "measured",
            Self::OneSource => "one source",
            Self::Contested => "contested",
            Self::Assumed => "assumed",
        }
    }
}

/// Where facts come from.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Source<'a> {
    /// Short name used in tables.
    pub key: &'a str,
    /// Document and version.
    pub title: &'a str,
}

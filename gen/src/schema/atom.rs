//! Atoms as they are written.
use super::{Name, Number, Term};
use crate::spanned::Spanned;
use serde::Deserialize;

/// One instruction form.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "atom")]
pub struct Atom {
    /// Its name, unique over all files.
    pub name: Name,
    /// What kind of thing it does.
    pub class: Class,
    /// Its text.
    pub template: Spanned<String>,
    /// Operands in order.
    #[serde(default)]
    pub operands: Vec<Spanned<Operand>>,
    /// What it moves.
    pub movement: Option<Spanned<Movement>>,
    /// What it multiplies.
    pub matrix: Option<Spanned<Matrix>>,
    /// Value of its first operand.
    pub means: Option<Spanned<Term>>,
    /// Operation on tile elements that it does.
    pub does: Option<Spanned<Does>>,
    /// Cost facts.
    #[serde(default)]
    pub cost: Cost,
    /// Counter that it advances.
    pub counter: Option<Name>,
    /// May complete out of order with others of the counter.
    #[serde(default)]
    pub unordered: bool,
    /// Groups for hazards.
    #[serde(default)]
    pub tags: Vec<Name>,
    /// Typed by hand: `evidence` says what follows instead.
    pub status: Option<Status>,
    /// Where it comes from; else the group's.
    pub sources: Option<Vec<Name>>,
    /// For people.
    pub note: Option<String>,
    /// The test that shows why a value contradicts its document; for people.
    pub override_: Option<String>,
}

/// An operation on tile elements.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "does")]
pub struct Does {
    /// Name in `rules/ops.ron`.
    pub op: Name,
    /// Operands in the operation's order.
    pub uses: Vec<Name>,
    /// Of an exchange between lanes: between which.
    #[serde(default)]
    pub lanes: Vec<LaneXor>,
    /// Of a conversion to wider elements: which of the result registers of one operand register.
    #[serde(default)]
    pub part: u8,
    /// Of a choice of bytes: bits of the selector of one byte.
    #[serde(default)]
    pub selector: u8,
    /// Of a function that is not rounded once: by how many units in the last place it may be off.
    #[serde(default)]
    pub ulp: u8,
}

/// Lane `l` receives what lane `l ^ mask` has.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "lanes")]
pub struct LaneXor {
    /// First and last mask.
    pub masks: (u8, u8),
    /// What the remaining operands hold, in order, where the mask is zero.
    #[serde(default)]
    pub set: Vec<i32>,
    /// What the first of them holds more for each unit of the mask.
    #[serde(default)]
    pub step: i32,
    /// An operand that holds so many times the number of the lane that is read.
    pub by: Option<(Name, u8)>,
}

/// Kinds of atoms.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // the words are those of `lanebook_tables::AtomClass`
pub enum Class {
    Move,
    Matrix,
    Alu,
    CrossLane,
    Convert,
    Sync,
    Control,
}

/// How sure a fact is, where that is typed.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // the words are those of `lanebook_tables::Status`
pub enum Status {
    Verified,
    Documented,
    Measured,
    OneSource,
    Contested,
    Assumed,
}

/// What an operand is.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // the words are those of `lanebook_tables::Role`
pub enum Role {
    Def,
    Use,
    UseDef,
    Address,
    Immediate,
    Label,
}

/// Memory spaces.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // the words are those of `lanebook_tables::Space`
pub enum Space {
    Register,
    Shared,
    Global,
    Tensor,
}

/// What becomes of register bits that a layout does not name.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rest {
    /// There are none: the layout names every bit.
    #[default]
    None,
    /// Written as zero.
    Zero,
    /// Written as copies of the sign bit.
    Sign,
    /// Kept as they were.
    Keep,
    /// Not read.
    Ignored,
}

/// One operand.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "operand")]
pub struct Operand {
    /// Its name in the template.
    pub name: Name,
    /// What it is.
    pub role: Role,
    /// Register class; not for immediates and labels.
    pub class: Option<Name>,
    /// Further classes that it takes.
    #[serde(default)]
    pub also: Vec<Name>,
    /// Registers in the tuple.
    #[serde(default = "one")]
    pub registers: Number<u8>,
    /// Element type of a matrix operand.
    pub dtype: Option<Name>,
    /// Layout of a matrix operand.
    pub layout: Option<Spanned<String>>,
    /// Logical extents; else from the matrix shape.
    pub extents: Option<Spanned<(u16, u16)>>,
    /// Bits that the layout does not name.
    #[serde(default)]
    pub rest: Rest,
    /// Lowest and highest integer.
    pub range: Option<Spanned<(i64, i64)>>,
    /// An immediate takes the multiples of this in its range alone.
    pub multiple: Option<Spanned<u8>>,
    /// Fixed register that the text does not show.
    #[serde(default)]
    pub implicit: bool,
    /// A tuple that may begin at any register, whatever its class says.
    #[serde(default)]
    pub any_register: bool,
    /// Immediates that move the layout.
    #[serde(default)]
    pub moved: Vec<Spanned<Moved>>,
    /// A parameter that is a word of the text: which.
    #[serde(default)]
    pub words: Vec<Name>,
    /// Element types that the words stand for; else each is its own name.
    #[serde(default)]
    pub dtypes: Vec<Name>,
    /// Bits by which an element of the word's type lies above the start of its container; else 0.
    #[serde(default)]
    pub shifts: Vec<u8>,
    /// A parameter that is a number: which values, ascending.
    #[serde(default)]
    pub values: Vec<u16>,
    /// A parameter that is a number: the step of `range`, instead of `values`.
    pub step: Option<Spanned<u16>>,
}

/// An immediate that moves an operand's layout.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "moved")]
pub struct Moved {
    /// The immediate operand.
    pub by: Name,
    /// Bits a unit.
    #[serde(default)]
    pub bits: u16,
    /// Lanes a unit.
    #[serde(default)]
    pub lanes: u16,
}

fn one() -> Number<u8> {
    Number::Plain(1)
}

/// What a mover moves.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "movement")]
pub struct Movement {
    /// Width of a logical element in bits.
    pub unit_bits: u16,
    /// Extents of the logical coordinate.
    pub extents: Spanned<Vec<u16>>,
    /// Source.
    pub from: Spanned<Side>,
    /// Destination.
    pub to: Spanned<Side>,
    /// Immediate offset field.
    pub offset: Option<Spanned<OffsetField>>,
    /// The same, where there are several.
    #[serde(default)]
    pub offsets: Vec<Spanned<OffsetField>>,
    /// Bits cross lanes inside the instruction.
    #[serde(default)]
    pub crosses_lanes: bool,
    /// Operand that says how many bytes of a slot's share are read.
    pub size: Option<Name>,
    /// Of an atomic instruction, how it changes memory.
    pub atomic: Option<Atomic>,
}

/// How an atomic instruction changes memory.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "atomic")]
pub struct Atomic {
    /// What it computes: a word of [`lanebook_tables::AtomicOp::NAMES`].
    pub op: Name,
    /// Of elements of this type.
    pub dtype: Name,
    /// Operand that receives what stood in memory before.
    pub old: Option<Name>,
    /// Operand with the elements that those in memory are compared with.
    pub compare: Option<Name>,
}

/// One side of a movement.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "side")]
pub struct Side {
    /// Where.
    pub space: Space,
    /// To (laneid, bit) or to (slot, byte).
    pub layout: Spanned<String>,
    /// Data or address operand.
    pub operand: Name,
    /// Second, uniform address operand.
    pub base: Option<Name>,
    /// Alignment of each slot's address; 1 if left out.
    pub align_bytes: Option<Spanned<u16>>,
    /// Bytes in a row from one slot's address.
    pub slot_bytes: Option<Spanned<u16>>,
    /// Bank model.
    pub banks: Option<Name>,
    /// Kind of access.
    pub access: Option<Name>,
    /// Bits that the layout does not name.
    #[serde(default)]
    pub rest: Rest,
}

/// Immediate offset field of a movement. Its range is the operand's.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "offset")]
pub struct OffsetField {
    /// The immediate operand.
    pub operand: Name,
    /// Bytes that one unit stands for.
    #[serde(default = "scale_one")]
    pub scale: u16,
    /// Whose addresses it is added to.
    pub on: Spanned<Vec<OffsetSide>>,
    /// Which of a slot's places it leads to, where the layout has an axis `place`.
    #[serde(default)]
    pub place: u8,
}

fn scale_one() -> u16 {
    1
}

/// A side of a movement, by name.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum OffsetSide {
    From,
    To,
}

/// Shape of a matrix instruction.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "matrix")]
pub struct Matrix {
    /// Rows.
    pub m: Number<u16>,
    /// Columns.
    pub n: Number<u16>,
    /// Depth.
    pub k: Number<u16>,
    /// Operand A.
    pub a: Name,
    /// Operand B.
    pub b: Name,
    /// Operand C.
    pub c: Name,
    /// Operand D.
    pub d: Name,
    /// Independent products in one instruction.
    #[serde(default = "one_block")]
    pub blocks: u16,
    /// Operand with the sparsity indices; A then holds k / 2 stored elements a row.
    pub index: Option<Name>,
    /// Operand with the block scales of A.
    pub scale_a: Option<Name>,
    /// Operand with the block scales of B.
    pub scale_b: Option<Name>,
    /// Modifiers that exchange what is read, by name.
    #[serde(default)]
    pub broadcasts: Vec<Name>,
    /// Operands in shared memory, given by a descriptor.
    #[serde(default)]
    pub shared: Vec<Spanned<SharedOperand>>,
    /// Kind of what the unit does to its registers, where it runs beside the lanes.
    pub runs: Option<Name>,
    /// Significant bits that the unit keeps of a sum, where they are fewer than the accumulator has.
    pub sum_bits: Option<Spanned<u8>>,
    /// The accumulator stands in tensor memory.
    pub tensor: Option<Spanned<TensorOperand>>,
}

/// An accumulator in tensor memory.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "tensor")]
pub struct TensorOperand {
    /// The tile that it is.
    pub tile: Name,
    /// The instruction descriptor.
    pub descriptor: Name,
    /// The operand that holds it.
    pub word: Name,
    /// The predicate that says whether the old accumulator is added.
    pub adds: Name,
    /// The predicate that is true in the thread that issues.
    pub one: Name,
    /// Kind of the unit's access.
    pub writes: Name,
    /// Kind of the access of loads.
    pub reads: Name,
    /// Kind of the access to the registers that they fill.
    pub fetched: Name,
    /// Kind of the stores that fill tensor memory.
    pub stores: Name,
    /// A stands there too: kind of the unit's access to it.
    pub a: Option<Name>,
}

/// An operand in shared memory.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "shared")]
pub struct SharedOperand {
    /// The operand; its register holds the descriptor.
    pub operand: Name,
    /// The descriptor.
    pub descriptor: Name,
    /// Kind of the access.
    pub access: Name,
    /// The immediate that says which coordinate is contiguous: 0 depth, 1 the outer one.
    pub along: Option<Name>,
}

fn one_block() -> u16 {
    1
}

/// Cost facts.
#[derive(Copy, Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default, rename = "cost")]
pub struct Cost {
    /// Issue slots.
    pub issue: u16,
    /// Cycles of the unit; 0 = not known.
    pub cycles: u16,
}

impl Default for Cost {
    fn default() -> Self {
        Self { issue: 1, cycles: 0 }
    }
}

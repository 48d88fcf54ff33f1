//! Matrix units and their memories as they are written: parts of a group beside its atoms.
use super::{Name, Status};
use crate::spanned::{Entry, Spanned};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Numbers by name.
pub type Codes = BTreeMap<String, u16>;

/// The facts of a group about matrix units, unread: lists of what the types below describe.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename = "units")]
pub struct Units {
    /// [`Descriptor`] each.
    pub descriptors: Vec<Entry>,
    /// [`SwizzleMode`] each.
    pub swizzles: Vec<Entry>,
    /// [`OperandTile`] each.
    pub operand_tiles: Vec<Entry>,
    /// [`TensorMemory`] each.
    pub tensor_memories: Vec<Entry>,
    /// [`TensorTile`] each.
    pub tensor_tiles: Vec<Entry>,
    /// [`TensorMove`] each.
    pub tensor_moves: Vec<Entry>,
    /// [`UnitShape`] each.
    pub shapes: Vec<Entry>,
    /// [`OrderLimit`] each.
    pub order_limits: Vec<Entry>,
    /// [`MapLimit`] each.
    pub map_limits: Vec<Entry>,
    /// [`TensorMap`] each.
    pub tensor_maps: Vec<Entry>,
    /// [`TiledMove`] each.
    pub tiled_moves: Vec<Entry>,
    /// [`Mbarrier`] each.
    pub mbarriers: Vec<Entry>,
    /// [`WarpSpecialization`] each.
    pub specializations: Vec<Entry>,
}

/// A bit-field table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "descriptor")]
pub struct Descriptor {
    /// Its name.
    pub name: Name,
    /// Width of the word; else that of what it extends.
    pub bits: Option<Spanned<u8>>,
    /// The descriptor whose fields it takes over where it does not restate them.
    pub extends: Option<Name>,
    /// Fields of that one that it has not.
    #[serde(default)]
    pub without: Vec<Name>,
    /// Its fields.
    pub fields: Vec<Spanned<Field>>,
    /// Typed by hand: `evidence` says what follows instead.
    pub status: Option<Status>,
    /// Where it comes from; else the group's.
    pub sources: Option<Vec<Name>>,
    /// For people.
    pub note: Option<String>,
}

/// A field of a descriptor.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "field")]
pub struct Field {
    /// Its name.
    pub name: Name,
    /// Its lowest bit; else that of the field it restates.
    pub at: Option<u8>,
    /// Its width in bits; else that of the field it restates, or 1.
    pub bits: Option<u8>,
    /// What one unit stands for.
    pub scale: Option<u32>,
    /// Its only value.
    pub constant: Option<u32>,
    /// Lowest and highest value.
    pub range: Option<(u32, u32)>,
    /// Its only values, by name.
    pub values: Option<Codes>,
    /// Its values are the swizzle modes that this encoding has.
    pub swizzle: Option<Name>,
    /// What it is for, where that matters to the library.
    pub role: Option<FieldRole>,
}

/// What a field is for.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FieldRole {
    /// Where the tile starts.
    Start,
    /// Where in a swizzle's pattern it starts, in units of so many bytes.
    Pattern(u16),
    /// Rows of a product.
    Rows,
    /// Columns of a product.
    Columns,
    /// Element type of A.
    TypeA,
    /// Element type of B.
    TypeB,
    /// Element type of D.
    TypeD,
    /// Which coordinate of A is contiguous.
    MajorA,
    /// Which coordinate of B is contiguous.
    MajorB,
    /// Which scale of a cell is A's.
    ScaleA,
    /// Which scale of a cell is B's.
    ScaleB,
}

/// A swizzle mode of shared memory.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "swizzle mode")]
pub struct SwizzleMode {
    /// Its name.
    pub name: Name,
    /// XORs on byte addresses: bits, lowest target bit, distance up to the source.
    #[serde(default)]
    pub xor: Vec<Spanned<(u8, u8, i8)>>,
    /// Bytes of a row; 0: any.
    #[serde(default)]
    pub span_bytes: u16,
    /// Bytes that stay together.
    pub atom_bytes: u16,
    /// Numbers of the mode, by encoding.
    pub codes: Spanned<Codes>,
    /// Typed by hand: `evidence` says what follows instead.
    pub status: Option<Status>,
    /// Where it comes from; else the group's.
    pub sources: Option<Vec<Name>>,
    /// For people.
    pub note: Option<String>,
}

/// Along which coordinate neighbours lie side by side.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // the words are those of `lanebook_tables::Major`
pub enum Major {
    Depth,
    Outer,
}

/// A tile of an operand in shared memory.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "operand tile")]
pub struct OperandTile {
    /// Its name.
    pub name: Name,
    /// What lies side by side.
    pub major: Major,
    /// How bytes are permuted afterwards.
    pub swizzle: Name,
    /// Over (outer, depth) to axis `m` in elements; symbols are parameters.
    pub layout: Spanned<String>,
    /// The first so many iters of the layout are the outer coordinate.
    pub outer: u8,
    /// The symbol that stands for the elements of so many bits.
    pub unit: (String, u16),
    /// Symbols that stand for byte offsets, with the field of the descriptor and its value where
    /// the layout does not need it.
    #[serde(default)]
    pub fields: Vec<TileField>,
    /// Widths of elements that units take in this form, by descriptor.
    pub takes: BTreeMap<String, Vec<u8>>,
    /// Typed by hand: `evidence` says what follows instead.
    pub status: Option<Status>,
    /// Where it comes from; else the group's.
    pub sources: Option<Vec<Name>>,
    /// For people.
    pub note: Option<String>,
}

/// A symbol that is a field of the descriptor.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "tile field")]
pub struct TileField {
    /// The symbol; the layout need not mention it.
    pub symbol: String,
    /// The field.
    pub field: String,
    /// Its value in bytes where nothing depends on it.
    pub unused: u32,
}

/// The memory of a matrix unit.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "tensor memory")]
#[allow(missing_docs)] // the fields are those of `lanebook_tables::TensorMemory`
pub struct TensorMemory {
    pub lanes: u16,
    pub columns: u16,
    pub cell_bits: u8,
    pub lane_shift: u8,
    pub lanes_per_warp: u16,
    pub warps: u8,
    pub allocation: (u16, u16),
    #[serde(default)]
    pub enter: Vec<Name>,
    #[serde(default)]
    pub leave: Vec<Name>,
    #[serde(default)]
    pub around: Vec<Name>,
    #[serde(default)]
    pub shared_bytes: u16,
    pub status: Option<Status>,
    pub sources: Option<Vec<Name>>,
    pub note: Option<String>,
}

/// What a tile in tensor memory is for.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // the words are those of `lanebook_tables::TensorUse`
pub enum TensorUse {
    Accumulator,
    Scale,
    Copy,
    Metadata,
}

/// A tile in tensor memory.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "tensor tile")]
pub struct TensorTile {
    /// Its name.
    pub name: Name,
    /// What it is for.
    pub purpose: TensorUse,
    /// Over (row, column) to `TLane`, `TCol`, for scale factors `byte` of a cell, and the block
    /// `cbx` of a pair.
    pub layout: Spanned<String>,
    /// The first so many iters of the layout are the row.
    pub rows: u8,
    /// Lanes to a second place of the tile.
    #[serde(default)]
    pub second_lanes: u8,
    /// Typed by hand: `evidence` says what follows instead.
    pub status: Option<Status>,
    /// Where it comes from; else the group's.
    pub sources: Option<Vec<Name>>,
    /// For people.
    pub note: Option<String>,
}

/// A form of loads from tensor memory and stores to it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "tensor move")]
pub struct TensorMove {
    /// Its name.
    pub name: Name,
    /// What the symbol `n` of both layouts can be.
    pub counts: Vec<u16>,
    /// Registers of a lane for each of them.
    pub registers: u8,
    /// Over (row, column) to `TLane` and `TCol`; a symbol other than `n` is the instruction's
    /// offset.
    pub cells: Spanned<String>,
    /// Over (row, column) to `laneid` and `bit`.
    pub tuple: Spanned<String>,
    /// The first so many iters of both layouts are the row.
    pub rows: u8,
    /// Where cells can be halved: neighbours in a register, and bits of each.
    pub packed: (u8, u8),
    /// The atoms that load: usually, and to one register where that is another.
    pub loads: (Name, String),
    /// The atoms that store.
    pub stores: (Name, String),
    /// Typed by hand: `evidence` says what follows instead.
    pub status: Option<Status>,
    /// Where it comes from; else the group's.
    pub sources: Option<Vec<Name>>,
    /// For people.
    pub note: Option<String>,
}

/// Shapes of a matrix instruction that takes descriptors.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "unit shape")]
pub struct UnitShape {
    /// Its kind.
    pub kind: Name,
    /// Blocks that work together.
    #[serde(default = "one")]
    pub blocks: u8,
    /// B stays in the unit.
    #[serde(default)]
    pub stationary: bool,
    /// A is sparse.
    #[serde(default)]
    pub sparse: bool,
    /// Rows, with the accumulator's tile.
    pub m: Spanned<Vec<(u16, Name)>>,
    /// Columns: lowest, highest, step.
    pub n: Spanned<Vec<(u16, u16, u16)>>,
    /// Depth.
    pub k: Vec<u16>,
    /// The instruction descriptor.
    pub descriptor: Name,
    /// Typed by hand: `evidence` says what follows instead.
    pub status: Option<Status>,
    /// Where it comes from; else the group's.
    pub sources: Option<Vec<Name>>,
    /// For people.
    pub note: Option<String>,
}

/// An operand of a product.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // the operands of a product
pub enum Factor {
    A,
    B,
}

/// Where products take an operand whose neighbours lie along a coordinate.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "order limit")]
pub struct OrderLimit {
    /// Its name, for messages.
    pub name: Name,
    /// Instruction descriptors of the products.
    pub descriptors: Vec<Name>,
    /// Blocks that work together; 0: any number.
    #[serde(default)]
    pub blocks: u8,
    /// The operands that it holds for.
    pub operands: Vec<Factor>,
    /// The order.
    pub major: Major,
    /// Element types of the operand.
    pub types: Vec<Name>,
    /// Columns of the products that take it: lowest, highest, step; none: no product does.
    #[serde(default)]
    pub n: Vec<Spanned<(u16, u16, u16)>>,
    /// Typed by hand: `evidence` says what follows instead.
    pub status: Option<Status>,
    /// Where it comes from; else the group's.
    pub sources: Option<Vec<Name>>,
    /// For people.
    pub note: Option<String>,
}

/// A direction of tiled copies.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // to shared memory, and from it
pub enum TiledCopy {
    Load,
    Store,
}

/// Element types and swizzle modes that tiled copies do not take together.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "map limit")]
pub struct MapLimit {
    /// Its name, for messages.
    pub name: Name,
    /// The element types of tensor maps; none: any.
    #[serde(default)]
    pub elements: Vec<Name>,
    /// The swizzle modes; none: any.
    #[serde(default)]
    pub swizzles: Vec<Name>,
    /// The directions in which they do not go together.
    pub copies: Vec<TiledCopy>,
    /// Typed by hand: `evidence` says what follows instead.
    pub status: Option<Status>,
    /// Where it comes from; else the group's.
    pub sources: Option<Vec<Name>>,
    /// For people.
    pub note: Option<String>,
}

fn one() -> u8 {
    1
}

/// What a tiled copy of a tensor can describe.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "tensor map")]
#[allow(missing_docs)] // the fields are those of `lanebook_tables::TensorMap`
pub struct TensorMap {
    pub name: Name,
    pub encoding: Name,
    pub block: (u8, u8),
    pub rank: (u8, u8),
    pub box_max: u16,
    pub box_bytes: u16,
    pub step_max: u16,
    pub extent_max: u64,
    pub stride_bytes: u16,
    pub stride_limit: u64,
    pub base_bytes: u16,
    pub corner_bytes: u16,
    pub edge_bytes: u16,
    pub shared_bytes: u16,
    pub elements: Vec<Spanned<MapElement>>,
    pub interleaves: Vec<Spanned<Interleave>>,
    pub fills: Codes,
    pub promotions: Codes,
    pub status: Option<Status>,
    pub sources: Option<Vec<Name>>,
    pub note: Option<String>,
}

/// An element type of a tiled copy.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "map element")]
#[allow(missing_docs)] // the fields are those of `lanebook_tables::MapElement`
pub struct MapElement {
    pub name: Name,
    pub bits: u8,
    pub shared_bits: Option<u8>,
    #[serde(default)]
    pub align_bytes: u8,
    #[serde(default)]
    pub box_inner: u16,
    #[serde(default)]
    pub extent_multiple: u16,
    pub codes: Codes,
}

/// An interleaving of a tiled copy.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "interleave")]
#[allow(missing_docs)] // the fields are those of `lanebook_tables::Interleave`
pub struct Interleave {
    pub name: Name,
    #[serde(default = "one")]
    pub rank_min: u8,
    #[serde(default)]
    pub align_bytes: u8,
    pub swizzle: Option<Name>,
    #[serde(default)]
    pub rows: bool,
    pub codes: Codes,
}

/// An instruction that copies a box through a tensor map.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "tiled move")]
pub struct TiledMove {
    /// Its name.
    pub name: Name,
    /// The instruction; one thread starts it.
    pub atom: Name,
    /// The tensor map whose rules hold.
    pub map: Name,
    /// Kind of the access that reads.
    pub from: Name,
    /// Kind of the access that writes.
    pub to: Name,
    /// Operand: the predicate of that thread.
    pub on: Name,
    /// Operand: address in shared memory.
    pub shared: Name,
    /// Operand: address of the tensor map.
    pub tensor: Name,
    /// Operands: coordinates, innermost first.
    pub at: Spanned<Vec<Name>>,
    /// Operand: address of the mbarrier.
    pub signal: Option<Name>,
    /// What stands between the copy and the end of the kernel.
    #[serde(default)]
    pub last: Vec<Spanned<super::Step>>,
    /// Typed by hand: `evidence` says what follows instead.
    pub status: Option<Status>,
    /// Where it comes from; else the group's.
    pub sources: Option<Vec<Name>>,
    /// For people.
    pub note: Option<String>,
}

/// An object in shared memory that work of units completes on.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "completion object")]
pub struct Mbarrier {
    /// Its name.
    pub name: Name,
    /// Size and alignment.
    pub bytes: u16,
    /// Most bytes that a phase counts.
    pub most_bytes: u32,
    /// Makes one: (predicate, address, arrivals).
    pub init: Name,
    /// What stands between the making of all and their first use.
    pub publish: Vec<Spanned<super::Step>>,
    /// Arrives and announces bytes: (predicate, address, bytes).
    pub expect: Name,
    /// Waits for the end of the phase with a parity: (address, parity).
    pub wait: Name,
    /// The kind of access that a wait is to the object.
    pub waits: Name,
    /// The kind of access that an announcement is.
    pub announces: Name,
    /// Typed by hand: `evidence` says what follows instead.
    pub status: Option<Status>,
    /// Where it comes from; else the group's.
    pub sources: Option<Vec<Name>>,
    /// For people.
    pub note: Option<String>,
}

/// Warps that are set aside to copy for the others.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "warp specialization")]
pub struct WarpSpecialization {
    /// Its name.
    pub name: Name,
    /// Threads that are set aside.
    pub threads: u16,
    /// What some of a block's threads meet at: immediates (number, threads).
    pub barrier: Name,
    /// Its number.
    pub number: u8,
    /// Arrives at an mbarrier: (address).
    pub arrive: Name,
    /// Gives registers up or takes them: immediates (registers, one of two words).
    pub resize: Name,
    /// Fewest, most, and of what they are multiples.
    pub registers: (u16, u16, u16),
    /// What says how many a thread begins with.
    pub directive: String,
    /// Registers of a block.
    pub file: u32,
    /// Typed by hand: `evidence` says what follows instead.
    pub status: Option<Status>,
    /// Where it comes from; else the group's.
    pub sources: Option<Vec<Name>>,
    /// For people.
    pub note: Option<String>,
}

//! Matrix units and their memories: descriptors, swizzle modes, operand tiles, tensor memory,
//! tensor maps.
//!
//! A *feature* is a group of the tables; an architecture lists the features that it has
//! ([`crate::Arch::features`]), and a fact belongs to it iff its feature is among them.
//! Layouts have parameters ([`Amount`]) and are never expanded into copies.
use crate::{AtomId, FeatureId, Mbarrier, SourceId, Status, TiledMove, WarpSpecialization};
use lanebook_layout::{AxisId, Swizzle};

/// Everything that tables say about matrix units and their memories. Lists are in the order of
/// their files.
#[derive(Copy, Clone, Debug)]
pub struct Units<'a> {
    /// Names of the features: groups of the tables, those that hold such facts first.
    pub features: &'a [&'a str],
    /// Bit-field tables.
    pub descriptors: &'a [Descriptor<'a>],
    /// Swizzle modes of shared memory.
    pub swizzles: &'a [&'a SwizzleMode<'a>],
    /// Tiles of operands in shared memory.
    pub operand_tiles: &'a [OperandTile<'a>],
    /// Tensor memories.
    pub tensor_memories: &'a [TensorMemory<'a>],
    /// Tiles in tensor memory.
    pub tensor_tiles: &'a [TensorTile<'a>],
    /// Loads from tensor memory and stores to it.
    pub tensor_moves: &'a [TensorMove<'a>],
    /// Shapes of matrix instructions that take descriptors.
    pub shapes: &'a [UnitShape<'a>],
    /// Orders of an operand that products do not take everywhere.
    pub order_limits: &'a [OrderLimit<'a>],
    /// What copies through tensor maps do not take together.
    pub map_limits: &'a [MapLimit<'a>],
    /// Tiled copies.
    pub tensor_maps: &'a [TensorMap<'a>],
    /// Instructions that copy through tensor maps.
    pub tiled_moves: &'a [TiledMove<'a>],
    /// Objects that work of units completes on.
    pub mbarriers: &'a [Mbarrier<'a>],
    /// Ways to set warps aside that copy for the others.
    pub specializations: &'a [WarpSpecialization<'a>],
}

impl Units<'_> {
    /// No facts.
    pub const EMPTY: Self = Self {
        features: &[],
        descriptors: &[],
        swizzles: &[],
        operand_tiles: &[],
        tensor_memories: &[],
        tensor_tiles: &[],
        tensor_moves: &[],
        shapes: &[],
        order_limits: &[],
        map_limits: &[],
        tensor_maps: &[],
        tiled_moves: &[],
        mbarriers: &[],
        specializations: &[],
    };
}

/// A number with a name, where an encoding calls things by numbers.
pub type Code<'a> = (&'a str, u16);

/// A word of up to 64 bits whose fields have meanings.
#[derive(Copy, Clone, Debug)]
pub struct Descriptor<'a> {
    /// Its name.
    pub name: &'a str,
    /// The feature it belongs to.
    pub feature: FeatureId,
    /// Width of the word in bits, at most 64. Bits of no field are zero.
    pub bits: u8,
    /// Its fields, which share no bit.
    pub fields: &'a [&'a Field<'a>],
    /// How sure this is.
    pub status: Status,
    /// Where it comes from.
    pub sources: &'a [SourceId],
}

/// A field of a descriptor. Its value is the bits times `scale`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its lowest bit.
    pub at: u8,
    /// Its width in bits, at most 32.
    pub bits: u8,
    /// What one unit stands for.
    pub scale: u32,
    /// Lowest and highest value; equal for a constant.
    pub range: (u32, u32),
    /// Its only values, by name; empty: every multiple of `scale` in the range.
    pub values: &'a [Code<'a>],
    /// What it is for, where that matters to the library.
    pub role: FieldRole,
}

/// What a field is for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum FieldRole {
    /// Whatever the caller wants.
    Plain,
    /// Where the tile starts.
    Start,
    /// Where in a swizzle's pattern the tile starts, in units of so many bytes of the address; 0
    /// for a tile at the pattern's start.
    Pattern(u16),
    /// The swizzle mode.
    Swizzle,
    /// Rows of a product.
    Rows,
    /// Columns of a product.
    Columns,
    /// Element type of an operand, by its name: 0 = A, 1 = B, 2 = D.
    Type(u8),
    /// Which coordinate of an operand is contiguous, `depth` or `outer`: 0 = A, 1 = B.
    Major(u8),
    /// Which scale of a cell of tensor memory is an operand's: 0 = A, 1 = B.
    Scale(u8),
}

/// How shared memory permutes the bytes of a tile's rows.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct SwizzleMode<'a> {
    /// Its name.
    pub name: &'a str,
    /// The feature it belongs to.
    pub feature: FeatureId,
    /// XORs on byte addresses, all taken from the same address; none: bytes stay.
    pub xor: &'a [Swizzle],
    /// Bytes of a row; 0: rows may have any length.
    pub span_bytes: u16,
    /// Bytes that stay together.
    pub atom_bytes: u16,
    /// Bytes after which the pattern starts again, and to which a tile without base offset is
    /// aligned.
    pub repeat_bytes: u16,
    /// Number of the mode in each encoding that has it, by the encoding's name.
    pub codes: &'a [Code<'a>],
    /// How sure this is.
    pub status: Status,
    /// Where it comes from.
    pub sources: &'a [SourceId],
}

/// A number, or a number times a parameter.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Amount {
    /// The factor.
    pub factor: u32,
    /// Number of the parameter in the list of its tile, plus 1; 0: none.
    pub param: u8,
}

/// A walk along an axis.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TileIter {
    /// Number of steps.
    pub extent: Amount,
    /// Length of a step.
    pub stride: Amount,
    /// The axis.
    pub axis: AxisId,
}

/// A layout over (row, column) or more dimensions, row-major, with parameters.
#[derive(Copy, Clone, Debug)]
pub struct TileLayout<'a> {
    /// The walks of the coordinates, slowest first, dimension after dimension.
    pub iters: &'a [TileIter],
    /// How many of them each dimension has, slowest first.
    pub dims: &'a [u8],
    /// Copies.
    pub replicas: &'a [TileIter],
    /// The names of the parameters.
    pub params: &'a [&'a str],
}

/// Along which coordinate of an operand neighbours lie side by side.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Major {
    /// Along the depth `k`, over which a product is summed.
    Depth,
    /// Along the rows of A, or the columns of B.
    Outer,
}

/// A tile of an operand in shared memory as a descriptor can describe it: over (outer, depth), in
/// elements.
#[derive(Copy, Clone, Debug)]
pub struct OperandTile<'a> {
    /// Its name.
    pub name: &'a str,
    /// The feature it belongs to.
    pub feature: FeatureId,
    /// What lies side by side.
    pub major: Major,
    /// How the bytes are permuted afterwards.
    pub swizzle: &'a SwizzleMode<'a>,
    /// The layout before that; its parameters are the unit, fields, and free extents.
    pub layout: TileLayout<'a>,
    /// The parameter that stands for the elements of so many bits.
    pub unit: (u8, u16),
    /// Parameters that stand for byte offsets in a field of the descriptor.
    pub fields: &'a [TileField<'a>],
    /// Widths in bits of the elements that units take in this form, by descriptor.
    pub takes: &'a [(&'a str, &'a [u8])],
    /// How sure this is.
    pub status: Status,
    /// Where it comes from.
    pub sources: &'a [SourceId],
}

/// A parameter of an operand's tile that is a field of its descriptor.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TileField<'a> {
    /// Number of the parameter plus 1, as in [`Amount::param`]; 0: the layout does not mention it.
    pub param: u8,
    /// The field's name.
    pub field: &'a str,
    /// Its value in bytes where the layout does not need it.
    pub unused: u32,
}

/// An atom whose operands a kernel's frame fills.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct FrameStep<'a> {
    /// The atom.
    pub atom: AtomId,
    /// What each of its operands is.
    pub operands: &'a [FrameOperand],
}

/// What an operand of a [`FrameStep`] is.
#[doc(hidden)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum FrameOperand {
    /// Nothing that the frame knows.
    Unknown,
    /// Address of a word in shared memory for the allocation's start.
    Slot,
    /// The allocation's start.
    Base,
    /// Columns of the allocation.
    Columns,
    /// Address of the mbarrier that completed products arrive at.
    Barrier,
    /// A predicate that is true in one thread of the group.
    One,
    /// A predicate that is true in one warp.
    Warp,
}

/// The memory of a matrix unit.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TensorMemory<'a> {
    /// The feature it belongs to.
    pub feature: FeatureId,
    /// Lanes.
    pub lanes: u16,
    /// Columns.
    pub columns: u16,
    /// Bits of a cell.
    pub cell_bits: u8,
    /// Lowest bit of the lane in an address.
    pub lane_shift: u8,
    /// Lanes that a warp reaches: warp `w` those from `lanes_per_warp * (w % warps)`.
    pub lanes_per_warp: u16,
    /// Warps that share the lanes among them.
    pub warps: u8,
    /// Fewest and most columns of an allocation, which are a power of two.
    pub allocation: (u16, u16),
    /// What a kernel begins with that uses it.
    pub enter: &'a [FrameStep<'a>],
    /// What such a kernel ends with.
    pub leave: &'a [FrameStep<'a>],
    /// Further atoms, of the synchronisation table, whose operands are filled likewise: each one of
    /// them that has
    /// [`FrameOperand::Barrier`] has what came before arrive at the mbarrier, once.
    pub around: &'a [FrameStep<'a>],
    /// Bytes of shared memory for the word.
    pub shared_bytes: u16,
    /// Where it comes from.
    pub sources: &'a [SourceId],
}

/// What a tile in tensor memory is for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum TensorUse {
    /// An accumulator.
    Accumulator,
    /// Scale factors.
    Scale,
    /// Rows that a copy writes.
    Copy,
    /// Sparsity indices: over (row, byte of its indices).
    Metadata,
}

/// A tile in tensor memory: over (row, column).
#[derive(Copy, Clone, Debug)]
pub struct TensorTile<'a> {
    /// Its name.
    pub name: &'a str,
    /// The feature it belongs to.
    pub feature: FeatureId,
    /// What it is for.
    pub purpose: TensorUse,
    /// The layout.
    pub layout: TileLayout<'a>,
    /// Lanes to a second place of the tile, 0: there is none.
    pub second_lanes: u8,
    /// How sure this is.
    pub status: Status,
    /// Where it comes from.
    pub sources: &'a [SourceId],
}

/// A form of loads from tensor memory to a warp's registers, and of stores the other way: over
/// (row, column).
#[derive(Copy, Clone, Debug)]
pub struct TensorMove<'a> {
    /// Its name.
    pub name: &'a str,
    /// The feature it belongs to.
    pub feature: FeatureId,
    /// The values of the parameter `n` of both layouts.
    pub counts: &'a [u16],
    /// Registers of a lane for each of them.
    pub registers: u8,
    /// To lane and column of tensor memory, relative to the address; a parameter other than `n` is
    /// the instruction's offset.
    pub cells: TileLayout<'a>,
    /// To the lane and the bit of its registers.
    pub tuple: TileLayout<'a>,
    /// Where cells can be halved: neighbours in a register, and bits of each.
    pub packed: (u8, u8),
    /// The atoms that load, and with one register, where that is another.
    pub load_atoms: (AtomId, Option<AtomId>),
    /// The atoms that store, alike.
    pub store_atoms: (AtomId, Option<AtomId>),
    /// Names of the atoms that load, without and with one register; the latter empty where there is
    /// none.
    pub loads: (&'a str, &'a str),
    /// The atoms that store.
    pub stores: (&'a str, &'a str),
    /// How sure this is.
    pub status: Status,
    /// Where it comes from.
    pub sources: &'a [SourceId],
}

/// Shapes of a matrix instruction that takes descriptors.
#[derive(Copy, Clone, Debug)]
pub struct UnitShape<'a> {
    /// Its kind, as the instruction spells it.
    pub kind: &'a str,
    /// The feature it belongs to.
    pub feature: FeatureId,
    /// Blocks that work together.
    pub blocks: u8,
    /// Whether B stays in the unit.
    pub stationary: bool,
    /// Whether A is sparse.
    pub sparse: bool,
    /// Rows, and the tile of the accumulator that goes with them.
    pub m: &'a [(u16, &'a str)],
    /// Columns.
    pub n: &'a [Steps],
    /// Depth.
    pub k: &'a [u16],
    /// The instruction descriptor.
    pub descriptor: &'a str,
    /// How sure this is.
    pub status: Status,
    /// Where it comes from.
    pub sources: &'a [SourceId],
}

/// The numbers from `low` to `high` in steps of `step`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Steps {
    /// The first.
    pub low: u16,
    /// The last.
    pub high: u16,
    /// From one to the next.
    pub step: u16,
}

/// Where products take an operand whose neighbours lie along a coordinate: for some columns only,
/// or nowhere.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct OrderLimit<'a> {
    /// Its name, for messages.
    pub name: &'a str,
    /// The feature it belongs to.
    pub feature: FeatureId,
    /// The instruction descriptors of the products.
    pub descriptors: &'a [&'a str],
    /// Blocks that work together; 0: any number.
    pub blocks: u8,
    /// Whether it holds for A, and for B.
    pub operands: (bool, bool),
    /// The order.
    pub major: Major,
    /// Element types of the operand, by name.
    pub types: &'a [&'a str],
    /// Columns of products that take it; none: no product does.
    pub n: &'a [Steps],
    /// How sure this is.
    pub status: Status,
    /// Where it comes from.
    pub sources: &'a [SourceId],
}

/// Element types and swizzle modes that tiled copies do not take together in some direction.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct MapLimit<'a> {
    /// Its name, for messages.
    pub name: &'a str,
    /// The feature it belongs to.
    pub feature: FeatureId,
    /// The element types, by name; none: any.
    pub elements: &'a [&'a str],
    /// The swizzle modes, by name; none: any.
    pub swizzles: &'a [&'a str],
    /// Whether copies to shared memory do not take them, and copies from it.
    pub copies: (bool, bool),
    /// How sure this is.
    pub status: Status,
    /// Where it comes from.
    pub sources: &'a [SourceId],
}

/// What a tiled copy of a tensor can describe.
#[derive(Copy, Clone, Debug)]
pub struct TensorMap<'a> {
    /// Its name.
    pub name: &'a str,
    /// The feature it belongs to.
    pub feature: FeatureId,
    /// The encoding of its swizzle modes and other words.
    pub encoding: &'a str,
    /// Bytes of a map and their alignment, where it is a parameter of a kernel.
    pub block: (u8, u8),
    /// Fewest and most dimensions.
    pub rank: (u8, u8),
    /// Most elements of a box in each dimension.
    pub box_max: u16,
    /// The bytes of a box's innermost dimension are a multiple of this.
    pub box_bytes: u16,
    /// Most steps between the elements of a box in a dimension.
    pub step_max: u16,
    /// Most elements of the tensor in each dimension.
    pub extent_max: u64,
    /// Strides in bytes are a multiple of this and below `stride_limit`.
    pub stride_bytes: u16,
    /// See `stride_bytes`.
    pub stride_limit: u64,
    /// Alignment of the tensor in bytes.
    pub base_bytes: u16,
    /// A box begins so many bytes, or a multiple, behind where a row of the tensor begins: its
    /// innermost coordinate times the element's size.
    pub corner_bytes: u16,
    /// A store writes whole runs of so many bytes of a row: where the rows of the tensor end within
    /// one, what lies behind them is written as well.
    pub edge_bytes: u16,
    /// Alignment of the tile in shared memory in bytes, whatever the swizzle.
    pub shared_bytes: u16,
    /// Element types.
    pub elements: &'a [MapElement<'a>],
    /// Interleavings.
    pub interleaves: &'a [Interleave<'a>],
    /// What elements outside the tensor read as.
    pub fills: &'a [Code<'a>],
    /// Bytes that the second-level cache fetches at once.
    pub promotions: &'a [Code<'a>],
    /// How sure this is.
    pub status: Status,
    /// Where it comes from.
    pub sources: &'a [SourceId],
}

/// An element type of a tiled copy.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct MapElement<'a> {
    /// Its name: of an element type of the tables, or of a packing.
    pub name: &'a str,
    /// Bits of an element in global memory.
    pub bits: u8,
    /// Bits of an element in shared memory.
    pub shared_bits: u8,
    /// Alignment of base and strides in bytes, if more than the map's; else 0.
    pub align_bytes: u8,
    /// The box's innermost extent must be this; 0: any.
    pub box_inner: u16,
    /// The tensor's innermost extent is a multiple of this.
    pub extent_multiple: u16,
    /// Its number in each encoding.
    pub codes: &'a [Code<'a>],
}

/// How channels of a tensor are interleaved in global memory.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Interleave<'a> {
    /// Its name.
    pub name: &'a str,
    /// Fewest dimensions.
    pub rank_min: u8,
    /// Alignment of base and strides in bytes, if more than the map's; else 0.
    pub align_bytes: u8,
    /// The only swizzle mode that goes with it; empty: any.
    pub swizzle: &'a str,
    /// Whether the box's innermost bytes must fit the swizzle's span and be a multiple of
    /// [`TensorMap::box_bytes`].
    pub rows: bool,
    /// Its number in each encoding.
    pub codes: &'a [Code<'a>],
}

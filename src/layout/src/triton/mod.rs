//! Triton's encodings: parameter sets that stand for a layout at any shape.
//!
//! An [`Encoding`] is what `#ttg.blocked<{...}>` and its kin say: a [`Base`] with at most one
//! operand wrapper ([`DotOp`]) or partition wrapper ([`Partition`]), and slices around it.
//! [`to_linear`] gives the linear form at a shape (of powers of two), in Triton's direction: from
//! `register, lane, warp, block` of a tensor in registers, `offset, block`
//! ([`AxisId::M`](crate::AxisId::M), in elements) of one in shared memory, or row and column of
//! tensor memory, to the tensor's dimensions. A tile larger than the shape is clipped (bits become
//! copies), a smaller one repeats in registers or offsets, and the blocks of a cluster come on top.
//! Padded encodings have no linear form; [`address::Addresses`] gives bytes.
//!
//! The tiles of matrix units are not here: [`MatrixTiles`] supplies them (the engine's
//! implementation reads the hardware tables; [`NoTiles`] refuses). [`infer`] carries encodings
//! through transposition, reshaping, splitting, joining and slicing.
//!
//! No recursion: nesting is a list. What Triton refuses is refused, each for a reason of its own
//! ([`EncodingError`]); an instruction whose N is no power of two has no linear form, and a strided
//! one elsewhere.

pub mod address;
mod bases;
mod distributed;
mod error;
pub mod exchange;
mod explain;
mod few;
pub mod infer;
mod matrix;
mod nvmma;
mod shared;
mod tensor;

use crate::axis::AxisId;
use crate::linear::{Hw, Linear, Logical};

pub use error::{EncodingError, EncodingField};
pub use explain::input_name;
pub use few::Few;
pub use matrix::{MatrixTiles, MatrixUnit, NoTiles, TileBit, TileRequest, TileSide, WarpTile};

/// Most dimensions of a tensor.
pub const MAX_RANK: usize = 8;
/// Most blocks of a cluster, log2.
pub const MAX_CGA_BITS: usize = 6;
/// Most slices around an encoding.
pub const MAX_SLICES: usize = 6;
/// Most interval paddings.
pub const MAX_INTERVALS: usize = crate::post::MAX_PADS;
/// Most warps of a block, or tiles of a warp, log2 (WMMA's lists of bases).
pub const MAX_TILE_BASES: usize = 8;

/// One number a dimension, in the tensor's order.
pub type Extents = Few<u32, MAX_RANK>;
/// Dimensions, fastest first.
pub type Order = Few<u8, MAX_RANK>;

/// How a tensor is split over the blocks of a cluster: basis `i` is the coordinate, in blocks, that
/// bit `i` of the block's number moves; a zero basis shares data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cga {
    /// The bases.
    pub bases: Few<[u16; MAX_RANK], MAX_CGA_BITS>,
}

/// Nested tiles: elements of a thread, threads of a warp, warps of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// Elements of a thread.
    pub size_per_thread: Extents,
    /// Threads of a warp.
    pub threads_per_warp: Extents,
    /// Warps of a block.
    pub warps_per_cta: Extents,
    /// Dimensions, fastest first.
    pub order: Order,
    /// The cluster.
    pub cga: Cga,
}

/// Accumulators of a warp-level (`major` 2) or warpgroup-level (`major` 3) matrix instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NvidiaMma {
    /// `versionMajor`.
    pub major: u8,
    /// `versionMinor`.
    pub minor: u8,
    /// Warps of a block.
    pub warps_per_cta: Extents,
    /// `major` 2: (batch,) m, n; 3: m of one warp, n, k.
    pub instr_shape: Extents,
    /// The cluster.
    pub cga: Cga,
}

/// Accumulators of a CDNA matrix instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AmdMfma {
    /// 1 to 4.
    pub version: u8,
    /// Warps of a block.
    pub warps_per_cta: Extents,
    /// m, n, k.
    pub instr_shape: Extents,
    /// The instruction computes the transpose.
    pub is_transposed: bool,
    /// The cluster.
    pub cga: Cga,
    /// Neighbouring tiles of one warp; empty: one everywhere.
    pub tiles_per_warp: Extents,
    /// Bits of an accumulator element: 32 or 64.
    pub element_bits: u16,
}

/// Bases of warps or registers in instruction tiles.
pub type TileBases = Few<[u16; MAX_RANK], MAX_TILE_BASES>;

/// Accumulators of an RDNA matrix instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AmdWmma {
    /// 1 to 3.
    pub version: u8,
    /// The instruction computes the transpose.
    pub is_transposed: bool,
    /// The tile that each bit of the warp's number moves to.
    pub warp_bases: TileBases,
    /// The tile that each bit of the repetition moves to.
    pub reg_bases: TileBases,
    /// m, n, k.
    pub instr_shape: Extents,
    /// The cluster.
    pub cga: Cga,
    /// Dimensions of the tensor: 2, or 3 with a batch.
    pub rank: u8,
}

/// XOR of the vector's number with the row's phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Swizzled {
    /// Elements of a vector.
    pub vec: u32,
    /// Rows of one phase.
    pub per_phase: u32,
    /// Phases.
    pub max_phase: u32,
    /// Dimensions, fastest first: columns, rows, ....
    pub order: Order,
    /// The cluster.
    pub cga: Cga,
}

/// Tiles as TMA and the warpgroup's matrix instructions take them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NvmmaShared {
    /// 0, 32, 64 or 128.
    pub swizzle_bytes: u16,
    /// The first dimension is the contiguous one.
    pub transposed: bool,
    /// Bits of an element.
    pub element_bits: u16,
    /// Eight bytes of data, eight of padding.
    pub fp4_padded: bool,
    /// The cluster.
    pub cga: Cga,
    /// Dimensions of the tensor.
    pub rank: u8,
}

/// How two blocks share a tile of tensor memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CtaMode {
    /// One block, or each its rows.
    #[default]
    Default,
    /// 64 rows a block, copied on the upper lanes (an A operand).
    TwoLhs,
    /// 64 rows a block, the right half of the columns on the upper lanes (an accumulator).
    TwoRhs,
}

/// A tile of tensor memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorMemory {
    /// Rows of the tile: 64 or 128.
    pub block_m: u32,
    /// Columns of the tile.
    pub block_n: u32,
    /// Columns of memory that one element takes.
    pub col_stride: u32,
    /// The cluster.
    pub cga: Cga,
    /// Two blocks work together.
    pub two_ctas: bool,
    /// How.
    pub cta_mode: CtaMode,
    /// Padded fp4 data.
    pub fp4_padded: bool,
}

/// In which order blocks of 128 rows and 4 columns of scale factors follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlockRepOrder {
    /// Down the rows (m or n) first.
    #[default]
    MnThenK,
    /// Along the columns (k) first.
    KThenMn,
}

/// Padding after intervals, on a linear order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Padded {
    /// (interval, pad) in elements.
    pub pads: Few<(u32, u32), MAX_INTERVALS>,
    /// From `offset, block` to the tensor's dimensions.
    pub linear: Linear<Hw, Logical>,
}

/// The encoding at the core.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "there is no heap to box on")]
#[non_exhaustive]
pub enum Base {
    /// `ttg.blocked`.
    Blocked(Blocked),
    /// `ttg.nvidia_mma`.
    NvidiaMma(NvidiaMma),
    /// `ttg.amd_mfma`.
    AmdMfma(AmdMfma),
    /// `ttg.amd_wmma`.
    AmdWmma(AmdWmma),
    /// `ttg.linear`: a permutation of bits, with copies.
    Linear(Linear<Hw, Logical>),
    /// `ttg.generic_linear`: any surjection.
    GenericLinear(Linear<Hw, Logical>),
    /// `ttg.swizzled_shared`.
    Swizzled(Swizzled),
    /// `ttg.amd_rotating_shared`.
    Rotating(Swizzled),
    /// `ttg.shared_linear` with its alignment in bytes.
    SharedLinear(Linear<Hw, Logical>, u32),
    /// `ttg.padded_shared`.
    Padded(Padded),
    /// `ttg.nvmma_shared`.
    Nvmma(NvmmaShared),
    /// `ttng.tensor_memory_encoding`.
    TensorMemory(TensorMemory),
    /// `ttng.tensor_memory_scales_encoding`: the cluster, and which dimension repeats first.
    TensorMemoryScales(Cga, BlockRepOrder),
    /// `gluon.auto_encoding`.
    Auto,
    /// `gluon.coalesced_encoding`.
    Coalesced,
}

/// Operand of a matrix instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DotOp {
    /// 0: A, 1: B.
    pub op_idx: u8,
    /// Consecutive elements of k in one thread (0 with a blocked parent).
    pub k_width: u32,
}

/// Pieces dealt round robin to separate allocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Allocations.
    pub partitions: u32,
    /// Pieces in each.
    pub groups: u32,
    /// The dimension that is cut.
    pub dim: u8,
}

/// An encoding: [`Base`], wrapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoding {
    /// The core.
    pub base: Base,
    /// Operand of the core's instruction.
    pub dot: Option<DotOp>,
    /// The core is cut into pieces (shared encodings).
    pub partition: Option<Partition>,
    /// The dimensions that slices take out, innermost (next to the core) first.
    pub slices: Few<u8, MAX_SLICES>,
}

impl From<Base> for Encoding {
    fn from(base: Base) -> Self {
        Self { base, dot: None, partition: None, slices: Few::new() }
    }
}

impl Encoding {
    /// The operand of a matrix instruction whose accumulators are `base`.
    #[must_use]
    pub fn dot_op(base: Base, op_idx: u8, k_width: u32) -> Self {
        Self { dot: Some(DotOp { op_idx, k_width }), ..Self::from(base) }
    }

    /// This encoding without dimension `dim`.
    ///
    /// # Errors
    /// [`EncodingError::TooMany`].
    pub fn sliced(mut self, dim: u8) -> Result<Self, EncodingError> {
        self.slices.push(dim)?;
        Ok(self)
    }

    /// Whether it says where a tensor is in registers.
    #[must_use]
    pub const fn is_distributed(&self) -> bool {
        matches!(
            self.base,
            Base::Blocked(_)
                | Base::NvidiaMma(_)
                | Base::AmdMfma(_)
                | Base::AmdWmma(_)
                | Base::Linear(_)
                | Base::GenericLinear(_)
        )
    }
}

/// The linear form of `encoding` at `shape`.
///
/// # Errors
/// [`EncodingError`]; those that the encoding itself causes do not depend on `shape`.
pub fn to_linear(
    encoding: &Encoding,
    shape: &[u32],
    tiles: &impl MatrixTiles,
) -> Result<Linear<Hw, Logical>, EncodingError> {
    if let (Base::SharedLinear(linear, _), None, None, true) =
        (&encoding.base, encoding.partition, encoding.dot, encoding.slices.is_empty())
    {
        shared::covers(linear, &bases::ShapeBits::new(shape)?)?;
        return Ok(linear.clone());
    }
    let mut out = bases::Bases::new();
    let (labels, shape) = bits_of(encoding, shape, tiles, &mut out)?;
    out.finish(labels, &shape)
}

/// The bits of any encoding but a shared one that is linear, with the labels of its inputs and the
/// tensor's shape.
fn bits_of(
    encoding: &Encoding,
    shape: &[u32],
    tiles: &impl MatrixTiles,
    out: &mut bases::Bases,
) -> Result<(&'static [AxisId; 4], bases::ShapeBits), EncodingError> {
    if encoding.is_distributed() {
        return Ok((&bases::DISTRIBUTED, distributed::bases(encoding, shape, tiles, out)?));
    }
    if encoding.dot.is_some() || !encoding.slices.is_empty() {
        return Err(EncodingError::WrongKind);
    }
    match (&encoding.base, encoding.partition) {
        (base, Some(partition)) => {
            Ok((&shared::PARTITIONED, shared::partitioned(base, &partition, shape, out)?))
        }
        (Base::TensorMemory(memory), None) => {
            Ok((&bases::TENSOR, tensor::bases(memory, shape, out)?))
        }
        (Base::TensorMemoryScales(cga, order), None) => {
            Ok((&bases::TENSOR, tensor::scales(cga, *order, shape, out)?))
        }
        (base, None) => {
            let bits = bases::ShapeBits::new(shape)?;
            shared::bases(base, &bits, out)?;
            Ok((&bases::SHARED, bits))
        }
    }
}

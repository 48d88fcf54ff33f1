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
//!
//! ```
//! use lanebook_layout::notation::ttg;
//! use lanebook_layout::triton::{self, Base, Encoding, EncodingError, NoTiles, to_linear};
//! use lanebook_layout::{AxisId, Hw, Linear, Logical};
//!
//! let encoding: Encoding = ttg::parse(
//!     "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [2, 1], order = [1, 0]}>",
//! ).unwrap();
//! assert!(encoding.is_distributed() && matches!(encoding.base, Base::Blocked(_)));
//! let linear: Linear<Hw, Logical> = to_linear(&encoding, &[16, 16], &NoTiles).unwrap();
//! // Lane bit 2 moves one row down, warp bit 0 eight rows.
//! assert_eq!(linear.column_on(AxisId::LANE, 2, AxisId::dim(0)), Some(1));
//! assert_eq!(linear.column_on(AxisId::WARP, 0, AxisId::dim(0)), Some(8));
//! // Shapes are powers of two, of few dimensions; a refusal names the list, the place and the number.
//! let refused = to_linear(&encoding, &[16, 12], &NoTiles).unwrap_err();
//! assert!(matches!(refused, EncodingError::NotPowerOfTwo { value: 12, .. }));
//! assert!((triton::MAX_RANK, triton::MAX_CGA_BITS, triton::MAX_SLICES) >= (8, 6, 6));
//! assert!((triton::MAX_INTERVALS, triton::MAX_TILE_BASES) >= (4, 8));
//! ```

pub mod address;
mod bases;
mod distributed;
mod error;
pub mod exchange;
mod exchanged;
mod explain;
mod few;
pub mod infer;
mod matrix;
mod nvmma;
mod scales;
mod shared;
mod tensor;

use crate::axis::AxisId;
use crate::linear::{Hw, Linear, Logical};

pub use error::{EncodingError, EncodingField};
pub use exchanged::addressed;
pub use explain::input_name;
pub use few::Few;
pub use matrix::{MatrixTiles, MatrixUnit, NoTiles, TileBit, TileRequest, TileSide, WarpTile};
pub use scales::{ScaleTile, scales_to_linear};

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
///
/// ```
/// # use lanebook_layout::triton::{Cga, Few};
/// // Two blocks, the second of which has the lower half of the rows.
/// let cga = Cga { bases: Few::from_slice(&[[1, 0, 0, 0, 0, 0, 0, 0]]).unwrap() };
/// assert_eq!(cga.bases.len(), 1);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cga {
    /// The bases.
    pub bases: Few<[u16; MAX_RANK], MAX_CGA_BITS>,
}

/// Nested tiles: elements of a thread, threads of a warp, warps of a block.
///
/// ```
/// # use lanebook_layout::triton::{Base, Blocked, Cga, Extents, NoTiles, Order, to_linear};
/// let of = |extents: &[u32]| Extents::from_slice(extents).unwrap();
/// let blocked = Blocked {
///     size_per_thread: of(&[1, 8]),
///     threads_per_warp: of(&[8, 4]),
///     warps_per_cta: of(&[4, 1]),
///     order: Order::from_slice(&[1, 0]).unwrap(),
///     cga: Cga::default(),
/// };
/// let linear = to_linear(&Base::Blocked(blocked).into(), &[32, 32], &NoTiles).unwrap();
/// assert!(linear.is_bijective());
/// ```
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
///
/// ```
/// # use lanebook_layout::notation::ttg;
/// # use lanebook_layout::triton::{Base, NvidiaMma};
/// let text = "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>";
/// let Base::NvidiaMma(NvidiaMma { major, instr_shape, .. }) = ttg::parse(text).unwrap().base else { panic!() };
/// assert_eq!((major, instr_shape.as_slice()), (2, &[16, 8][..]));
/// ```
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
///
/// ```
/// # use lanebook_layout::notation::ttg;
/// # use lanebook_layout::triton::{AmdMfma, Base};
/// let text = "#ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>";
/// let Base::AmdMfma(AmdMfma { version, is_transposed, .. }) = ttg::parse(text).unwrap().base else { panic!() };
/// assert_eq!((version, is_transposed), (3, true));
/// ```
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
///
/// ```
/// # use lanebook_layout::triton::{MAX_RANK, TileBases};
/// // Warp bit 0 moves one tile down.
/// let mut basis = [0; MAX_RANK];
/// basis[0] = 1;
/// assert_eq!(TileBases::from_slice(&[basis]).unwrap().len(), 1);
/// ```
pub type TileBases = Few<[u16; MAX_RANK], MAX_TILE_BASES>;

/// Accumulators of an RDNA matrix instruction.
///
/// ```
/// # use lanebook_layout::notation::ttg;
/// # use lanebook_layout::triton::{AmdWmma, Base};
/// let text = "#ttg.amd_wmma<{version = 2, isTranspose = true, ctaLayout = {warp = [[0, 1], [1, 0]]}}>";
/// let Base::AmdWmma(AmdWmma { version, warp_bases, .. }) = ttg::parse(text).unwrap().base else { panic!() };
/// assert_eq!((version, warp_bases.len()), (2, 2));
/// ```
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
///
/// ```
/// # use lanebook_layout::notation::ttg;
/// # use lanebook_layout::triton::address::Addresses;
/// # use lanebook_layout::triton::{Base, Swizzled};
/// let encoding = ttg::parse("#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>").unwrap();
/// assert!(matches!(encoding.base, Base::Swizzled(Swizzled { vec: 8, max_phase: 8, .. })));
/// // Row 1 begins with its second vector of 8.
/// assert_eq!(Addresses::new(&encoding, &[8, 64], 16).unwrap().element(&[1, 0]), Ok(72));
/// ```
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
///
/// ```
/// # use lanebook_layout::notation::ttg;
/// # use lanebook_layout::triton::{Base, NvmmaShared};
/// let text = "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>";
/// let encoding = ttg::parse(text).unwrap();
/// assert!(matches!(encoding.base, Base::Nvmma(NvmmaShared { swizzle_bytes: 128, element_bits: 16, .. })));
/// ```
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
///
/// ```
/// # use lanebook_layout::notation::ttg;
/// # use lanebook_layout::triton::{Base, CtaMode, TensorMemory};
/// let encoding = ttg::parse("#ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>").unwrap();
/// assert!(matches!(encoding.base, Base::TensorMemory(TensorMemory { cta_mode: CtaMode::Default, .. })));
/// ```
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
///
/// ```
/// # use lanebook_layout::notation::ttg;
/// # use lanebook_layout::triton::{Base, NoTiles, TensorMemory, to_linear};
/// let encoding = ttg::parse("#ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>").unwrap();
/// assert!(matches!(encoding.base, Base::TensorMemory(TensorMemory { block_m: 128, block_n: 64, .. })));
/// assert!(to_linear(&encoding, &[128, 64], &NoTiles).unwrap().is_bijective());
/// ```
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
///
/// ```
/// # use lanebook_layout::triton::{Base, BlockRepOrder, Cga, NoTiles, to_linear};
/// let scales = Base::TensorMemoryScales(Cga::default(), BlockRepOrder::MnThenK);
/// assert!(to_linear(&scales.into(), &[128, 4], &NoTiles).is_ok());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlockRepOrder {
    /// Down the rows (m or n) first.
    #[default]
    MnThenK,
    /// Along the columns (k) first.
    KThenMn,
}

/// Padding after intervals, on a linear order.
///
/// ```
/// # use lanebook_layout::notation::ttg;
/// # use lanebook_layout::triton::{Base, Padded};
/// let encoding = ttg::parse("#ttg.padded_shared<[64:+8] {order = [1, 0], shape = [64, 64]}>").unwrap();
/// let Base::Padded(Padded { pads, linear }) = encoding.base else { panic!() };
/// assert_eq!((pads.as_slice(), linear.is_bijective()), (&[(64, 8)][..], true));
/// ```
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
///
/// ```
/// # use lanebook_layout::notation::ttg;
/// # use lanebook_layout::triton::{DotOp, Encoding};
/// let parent = ttg::parse("#ttg.amd_mfma<{version = 3, warpsPerCTA = [1, 1], instrShape = [32, 32, 8], isTransposed = false}>");
/// let operand = Encoding::dot_op(parent.unwrap().base, 1, 4);
/// assert_eq!(operand.dot, Some(DotOp { op_idx: 1, k_width: 4 }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DotOp {
    /// 0: A, 1: B.
    pub op_idx: u8,
    /// Consecutive elements of k in one thread (0 with a blocked parent).
    pub k_width: u32,
}

/// Pieces dealt round robin to separate allocations.
///
/// ```
/// # use lanebook_layout::triton::Partition;
/// // Eight pieces of the rows, dealt to two allocations.
/// let pieces = Partition { partitions: 2, groups: 4, dim: 0 };
/// assert_eq!(pieces.partitions * pieces.groups, 8);
/// ```
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
///
/// ```
/// # use lanebook_layout::notation::ttg;
/// # use lanebook_layout::triton::{NoTiles, to_linear};
/// let text = "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [1, 0]}>";
/// // A row statistic: the layout of the tile without its columns, lanes of one row hold copies.
/// let rows = ttg::parse(text).unwrap().sliced(1).unwrap();
/// let linear = to_linear(&rows, &[8], &NoTiles).unwrap();
/// assert_eq!((linear.rank(), linear.is_injective()), (3, false));
/// ```
///
/// ```
/// # use lanebook_layout::notation::ttg;
/// # use lanebook_layout::triton::Encoding;
/// let text = "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>";
/// let a = Encoding::dot_op(ttg::parse(text).unwrap().base, 0, 2);
/// assert_eq!(a.dot.map(|dot| dot.k_width), Some(2));
/// ```
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

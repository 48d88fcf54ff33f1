//! Why an encoding has no linear form, or is no encoding at all.

use crate::error::Error;

/// A list or number of an encoding, for errors.
///
/// ```
/// # use lanebook_layout::triton::EncodingField;
/// assert_eq!(EncodingField::Order.describe(), "order");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum EncodingField {
    /// The tensor's shape.
    Shape,
    /// `sizePerThread`.
    SizePerThread,
    /// `threadsPerWarp`.
    ThreadsPerWarp,
    /// `warpsPerCTA`.
    WarpsPerCta,
    /// `order`.
    Order,
    /// `CGALayout`.
    Cga,
    /// `instrShape`.
    InstrShape,
    /// `tilesPerWarp`.
    TilesPerWarp,
    /// `elementBitWidth`.
    ElementBitWidth,
    /// `kWidth`.
    KWidth,
    /// `opIdx`.
    OpIdx,
    /// `dim` of a slice, or an axis.
    Dim,
    /// `version` or `versionMajor`.
    Version,
    /// Bases of a linear layout, of warps or of registers.
    Bases,
    /// `vec`.
    Vec,
    /// `perPhase`.
    PerPhase,
    /// `maxPhase`.
    MaxPhase,
    /// `swizzlingByteWidth`.
    SwizzlingByteWidth,
    /// `blockM`.
    BlockM,
    /// `blockN`.
    BlockN,
    /// `colStride`.
    ColStride,
    /// An interval of padding.
    Interval,
    /// `numPartitions`, `numGroups`.
    Partitions,
}

/// Why an encoding is refused. Extents and positions are those of the tensor, as written.
///
/// ```
/// # use lanebook_layout::triton::{EncodingError, EncodingField, input_name};
/// let refused = EncodingError::NotPowerOfTwo { field: EncodingField::ThreadsPerWarp, at: 1, value: 12 };
/// let mut text = String::new();
/// refused.write_text(&mut text).unwrap();
/// assert!(text.contains("12") && text.contains(EncodingField::ThreadsPerWarp.describe()), "{text}");
/// assert_eq!(input_name(1), "lane");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum EncodingError {
    /// More items than a list holds.
    TooMany {
        /// How many it holds.
        max: u16,
    },
    /// A number must be a power of two: GF(2) has no other extents.
    NotPowerOfTwo {
        /// Which number.
        field: EncodingField,
        /// Its position in its list.
        at: u8,
        /// Its value.
        value: u32,
    },
    /// A list has not the length of the tensor's rank (or a matrix has not rank 2 or 3).
    Rank {
        /// Which list.
        field: EncodingField,
        /// Its length should be this.
        expected: u8,
        /// Its length.
        found: u8,
    },
    /// A number is outside its choices.
    BadValue {
        /// Which number.
        field: EncodingField,
        /// Its value.
        value: u32,
    },
    /// The numbers are no permutation of 0 to rank - 1.
    NotAnOrder {
        /// The position of the offending number.
        at: u8,
        /// The number.
        value: u8,
    },
    /// A `linear` encoding is no permutation matrix after its zero bases are taken out: this basis
    /// has several bits, or an earlier one has the same.
    NotAPermutation {
        /// Input dimension: 0 register, 1 lane, 2 warp, 3 block.
        input: u8,
        /// The basis.
        bit: u8,
    },
    /// The bases of an encoding do not reach all of its extent along a dimension.
    NotCovered {
        /// The dimension.
        dim: u8,
        /// Its extent, log2.
        bits: u8,
    },
    /// The bases of a cluster leave out a block below the farthest one that they reach.
    ClusterNotCovered {
        /// The dimension.
        dim: u8,
        /// The bits that the bases reach there.
        bits: u8,
    },
    /// A 64 x 4 result is only delivered transposed.
    MustBeTransposed {
        /// Rows of the instruction.
        m: u16,
        /// Columns of the instruction.
        n: u16,
    },
    /// The instruction's N is no power of two: its tile has a strided form, but no linear one.
    OddInstruction {
        /// The N.
        n: u16,
    },
    /// The matrix unit takes this operand from shared memory, never from registers.
    OperandInMemory {
        /// The operand: 0 is A, 1 is B.
        operand: u8,
    },
    /// The tables at hand have no matrix instruction of this shape.
    NoInstruction {
        /// Rows.
        m: u16,
        /// Columns.
        n: u16,
        /// Depth (0: any).
        k: u16,
        /// Bits of an accumulator element.
        bits: u16,
    },
    /// The instruction's operand layout is no permutation of bits.
    OddTile,
    /// A swizzled tile is a matrix: rank 1 has no rows.
    SwizzleNeedsRows {
        /// The rank.
        rank: u8,
    },
    /// The contiguous extent of one CTA is shorter than the swizzle's span, or than 16 bytes
    /// without one.
    SpanTooShort {
        /// Elements needed.
        needed: u32,
        /// Elements there.
        found: u32,
    },
    /// Fewer than eight rows remain when the other dimensions are collapsed.
    TooFewRows {
        /// Rows needed.
        needed: u32,
        /// Rows there.
        found: u32,
    },
    /// The tile of tensor memory is larger than the tensor of one CTA.
    BlockTooLarge {
        /// The dimension.
        dim: u8,
        /// The tile's extent.
        block: u32,
        /// The tensor's extent.
        extent: u32,
    },
    /// Padded fp4 fills every column of tensor memory: its column stride is 1.
    Fp4ColStride {
        /// The stride given.
        found: u32,
    },
    /// Padding is no XOR: ask for byte addresses.
    Padded,
    /// The encoding is of another kind than the operation needs (a register encoding, a shared one,
    /// a slice, ...).
    WrongKind,
    /// The last dimension cannot be split: its extent is not 2, or its halves are not two registers
    /// of one thread.
    CannotSplit {
        /// Its extent.
        extent: u32,
    },
    /// A dimension cannot be broadcast: its extent is neither 1 nor the one asked for.
    NotBroadcast {
        /// The dimension.
        dim: u8,
        /// Its extent.
        extent: u32,
        /// The extent asked for.
        wanted: u32,
    },
    /// The two shapes have different numbers of elements.
    Reshape {
        /// Bits of the old shape.
        old: u8,
        /// Bits of the new shape.
        new: u8,
    },
    /// A placeholder (`auto`, `coalesced`) says nothing yet.
    Placeholder,
    /// The algebra refuses.
    Layout(Error),
}

impl From<Error> for EncodingError {
    fn from(error: Error) -> Self {
        Self::Layout(error)
    }
}

const _: () = assert!(core::mem::size_of::<EncodingError>() <= 40);

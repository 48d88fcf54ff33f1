//! What errors of encodings say to a person.

use super::error::{EncodingError, EncodingField};

impl EncodingField {
    /// Its name where people write it.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Shape => "the shape",
            Self::SizePerThread => "sizePerThread",
            Self::ThreadsPerWarp => "threadsPerWarp",
            Self::WarpsPerCta => "warpsPerCTA",
            Self::Order => "order",
            Self::Cga => "CGALayout",
            Self::InstrShape => "instrShape",
            Self::TilesPerWarp => "tilesPerWarp",
            Self::ElementBitWidth => "elementBitWidth",
            Self::KWidth => "kWidth",
            Self::OpIdx => "opIdx",
            Self::Dim => "the dimension",
            Self::Version => "the version",
            Self::Bases => "the bases",
            Self::Vec => "vec",
            Self::PerPhase => "perPhase",
            Self::MaxPhase => "maxPhase",
            Self::SwizzlingByteWidth => "swizzlingByteWidth",
            Self::BlockM => "blockM",
            Self::BlockN => "blockN",
            Self::ColStride => "colStride",
            Self::Interval => "an interval of padding",
            Self::Partitions => "the partitions",
        }
    }
}

/// The name of an input of a linear encoding by its number: register, lane, warp, block.
#[must_use]
pub const fn input_name(input: u8) -> &'static str {
    match input {
        0 => "register",
        1 => "lane",
        2 => "warp",
        3 => "block",
        _ => "an input",
    }
}

crate::sentences! { EncodingError, sink;
    TooMany { max } => ("a list has more than ~ entries", max);
    NotPowerOfTwo { field, value } => ("~ has ~, which is no power of two; encodings and their shapes have no other numbers", field.describe(), value);
    Rank { field, expected, found } => ("~ has ~ numbers, and ~ are needed; give one for each dimension", field.describe(), found, expected);
    BadValue { field, value } => ("~ cannot be ~", field.describe(), value);
    NotAnOrder { at, value } => ("entry ~ of the order, ~, is there twice or is no dimension", at, value);
    NotAPermutation { input, bit } => ("basis ~ of ~ has several bits, or those of an earlier one", bit, input_name(input));
    NotCovered { dim } => ("the encoding does not reach all of dimension ~; give it more bases or a smaller shape", dim);
    ClusterNotCovered { dim } => ("the bases of the cluster leave out a block along dimension ~", dim);
    MustBeTransposed { m, n } => ("a result of ~ x ~ is delivered transposed only", m, n);
    OddInstruction { n } => ("the instruction's N = ~ is no power of two, so that it has no form by bits", n);
    OperandInMemory {} => ("the matrix unit takes this operand from shared memory, never from registers");
    NoInstruction { m, n, k } => ("the architecture has no matrix instruction of ~x~x~; name another architecture", m, n, k);
    OddTile => ("the instruction's operand is no permutation of bits");
    SwizzleNeedsRows { rank } => ("a swizzled tile is a matrix, and this one has ~ dimensions", rank);
    SpanTooShort { needed, found } => ("a row has ~ elements, and the swizzle needs ~", found, needed);
    TooFewRows { needed, found } => ("there are ~ rows, and ~ are needed", found, needed);
    BlockTooLarge { dim, block, extent } => ("the tile of tensor memory has ~ along dimension ~, and the tensor of a block ~", block, dim, extent);
    Fp4ColStride { found } => ("padded fp4 fills every column of tensor memory, and colStride is ~; write 1", found);
    Padded => ("padding is no exclusive or; ask for byte addresses");
    WrongKind => ("the encoding is of another kind; registers, shared and tensor memory have their own");
    CannotSplit { extent } => ("the last dimension, of extent ~, is not two registers of one thread, and cannot be split", extent);
    NotBroadcast { dim, extent, wanted } => ("dimension ~ is ~, which is neither 1 nor ~, and cannot be repeated", dim, extent, wanted);
    Reshape { old, new } => ("the shapes have 2^~ and 2^~ elements; both have to have as many", old, new);
    Placeholder => ("a placeholder says nothing yet; write an encoding");
    Layout(error) => { error.write_text(sink) };
}

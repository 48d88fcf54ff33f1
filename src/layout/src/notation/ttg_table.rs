//! What Triton's attributes may and must say: their keys, and the forms of their values.
//!
//! Data alone; [`super::ttg`] reads by it and [`super::ttg_print`] prints by it.

/// Parameters of attributes.
///
/// ```
/// # use lanebook_layout::notation::{Expected, ttg};
/// // A key that is missing is named.
/// let refused = ttg::parse("#ttg.blocked<{sizePerThread = [1]}>").unwrap_err();
/// assert!(matches!(refused.expected, Expected::Parameter(ttg::Key::ThreadsPerWarp)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[allow(missing_docs, reason = "each is the parameter that its spelling in KEYS names")]
#[repr(u8)]
pub enum Key {
    SizePerThread,
    ThreadsPerWarp,
    WarpsPerCta,
    Order,
    InstrShape,
    TilesPerWarp,
    Shape,
    BlockRepOrder,
    Register,
    Lane,
    Warp,
    Block,
    Offset,
    CgaLayout,
    Dim,
    OpIdx,
    KWidth,
    VersionMajor,
    VersionMinor,
    Version,
    IsTransposed,
    /// How texts of `amd_wmma` spell it.
    IsTranspose,
    ElementBitWidth,
    CtaLayout,
    Vec,
    PerPhase,
    MaxPhase,
    Alignment,
    SwizzlingByteWidth,
    Transposed,
    Fp4Padded,
    Rank,
    BlockM,
    BlockN,
    ColStride,
    TwoCtas,
    CtaMode,
    NumPartitions,
    NumGroups,
    PartitionDim,
    PartitionLayout,
    Parent,
}

use Key as K;

/// What a parameter's value looks like.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Integer,
    Flag,
    List,
    Bases,
    /// `{register = [[...]], warp = [[...]]}`.
    Tiles,
    Attribute,
}

/// Spelling and form of every key; a key's number is its position.
pub(super) const KEYS: [(&str, Key); 42] = [
    ("sizePerThread", K::SizePerThread),
    ("threadsPerWarp", K::ThreadsPerWarp),
    ("warpsPerCTA", K::WarpsPerCta),
    ("order", K::Order),
    ("instrShape", K::InstrShape),
    ("tilesPerWarp", K::TilesPerWarp),
    ("shape", K::Shape),
    ("blockRepOrder", K::BlockRepOrder),
    ("register", K::Register),
    ("lane", K::Lane),
    ("warp", K::Warp),
    ("block", K::Block),
    ("offset", K::Offset),
    ("CGALayout", K::CgaLayout),
    ("dim", K::Dim),
    ("opIdx", K::OpIdx),
    ("kWidth", K::KWidth),
    ("versionMajor", K::VersionMajor),
    ("versionMinor", K::VersionMinor),
    ("version", K::Version),
    ("isTransposed", K::IsTransposed),
    ("isTranspose", K::IsTranspose),
    ("elementBitWidth", K::ElementBitWidth),
    ("ctaLayout", K::CtaLayout),
    ("vec", K::Vec),
    ("perPhase", K::PerPhase),
    ("maxPhase", K::MaxPhase),
    ("alignment", K::Alignment),
    ("swizzlingByteWidth", K::SwizzlingByteWidth),
    ("transposed", K::Transposed),
    ("fp4Padded", K::Fp4Padded),
    ("rank", K::Rank),
    ("blockM", K::BlockM),
    ("blockN", K::BlockN),
    ("colStride", K::ColStride),
    ("twoCTAs", K::TwoCtas),
    ("ctaMode", K::CtaMode),
    ("numPartitions", K::NumPartitions),
    ("numGroups", K::NumGroups),
    ("partitionDim", K::PartitionDim),
    ("partitionLayout", K::PartitionLayout),
    ("parent", K::Parent),
];

/// Keys below this have a list of numbers.
pub(super) const LISTS: usize = 8;

/// The form of a key's value.
pub(super) const fn form(key: Key) -> Form {
    match key {
        K::SizePerThread | K::ThreadsPerWarp | K::WarpsPerCta | K::Order => Form::List,
        K::InstrShape | K::TilesPerWarp | K::Shape => Form::List,
        K::Register | K::Lane | K::Warp | K::Block | K::Offset | K::CgaLayout => Form::Bases,
        K::CtaLayout => Form::Tiles,
        K::IsTransposed | K::IsTranspose | K::Transposed | K::Fp4Padded | K::TwoCtas => Form::Flag,
        K::Parent | K::PartitionLayout => Form::Attribute,
        _ => Form::Integer,
    }
}

/// An attribute: dialect, mnemonic, keys that it must have, keys that it may have.
pub(super) struct Attribute {
    pub(super) dialect: &'static str,
    pub(super) name: &'static str,
    /// Keys that it must have.
    pub(super) needs: &'static [Key],
    /// Keys that it may have.
    pub(super) may: &'static [Key],
}

const fn attribute(
    dialect: &'static str,
    name: &'static str,
    needs: &'static [Key],
    may: &'static [Key],
) -> Attribute {
    Attribute { dialect, name, needs, may }
}

/// Every attribute, in the order of [`super::ttg_print`]'s numbers.
pub(super) const ATTRIBUTES: [Attribute; 19] = [
    attribute(
        "ttg",
        "blocked",
        &[K::SizePerThread, K::ThreadsPerWarp, K::WarpsPerCta, K::Order],
        &[K::CgaLayout],
    ),
    attribute(
        "ttg",
        "nvidia_mma",
        &[K::VersionMajor, K::WarpsPerCta, K::InstrShape],
        &[K::VersionMinor, K::CgaLayout],
    ),
    attribute(
        "ttg",
        "amd_mfma",
        &[K::Version, K::WarpsPerCta, K::InstrShape, K::IsTransposed],
        &[K::CgaLayout, K::TilesPerWarp, K::ElementBitWidth],
    ),
    attribute(
        "ttg",
        "amd_wmma",
        &[K::Version, K::CtaLayout],
        &[K::IsTranspose, K::IsTransposed, K::CgaLayout, K::InstrShape, K::Rank],
    ),
    attribute("ttg", "linear", &[K::Register, K::Lane, K::Warp, K::Block], &[]),
    attribute("ttg", "generic_linear", &[K::Register, K::Lane, K::Warp, K::Block], &[]),
    attribute(
        "ttg",
        "swizzled_shared",
        &[K::Vec, K::PerPhase, K::MaxPhase, K::Order],
        &[K::CgaLayout],
    ),
    attribute(
        "ttg",
        "amd_rotating_shared",
        &[K::Vec, K::PerPhase, K::MaxPhase, K::Order],
        &[K::CgaLayout],
    ),
    attribute("ttg", "shared_linear", &[K::Offset], &[K::Block, K::Alignment]),
    attribute(
        "ttg",
        "padded_shared",
        &[],
        &[K::Offset, K::Block, K::Order, K::Shape, K::CgaLayout],
    ),
    attribute(
        "ttg",
        "nvmma_shared",
        &[K::SwizzlingByteWidth, K::Transposed, K::ElementBitWidth],
        &[K::Fp4Padded, K::CgaLayout, K::Rank],
    ),
    attribute(
        "ttng",
        "tensor_memory_encoding",
        &[K::BlockM, K::BlockN],
        &[K::ColStride, K::CgaLayout, K::TwoCtas, K::CtaMode, K::Fp4Padded],
    ),
    attribute("ttng", "tensor_memory_scales_encoding", &[], &[K::CgaLayout, K::BlockRepOrder]),
    attribute("gluon", "auto_encoding", &[], &[]),
    attribute("gluon", "coalesced_encoding", &[], &[]),
    attribute("ttg", "slice", &[K::Dim, K::Parent], &[]),
    attribute("ttg", "dot_op", &[K::OpIdx, K::Parent], &[K::KWidth]),
    attribute(
        "ttg",
        "partitioned_shared",
        &[K::NumPartitions, K::NumGroups, K::PartitionDim, K::PartitionLayout],
        &[],
    ),
    // The name of older texts for swizzled_shared.
    attribute("ttg", "shared", &[K::Vec, K::PerPhase, K::MaxPhase, K::Order], &[K::CgaLayout]),
];

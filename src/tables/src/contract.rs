//! What `compile` takes of the tile IR, declared in `rules/contract.ron`: everything else that a
//! program writes is refused.

use crate::{List, Name};

/// What may stand in a place, as bits of [`SlotContract::kinds`].
pub mod kind {
    /// A tile in registers: a tensor without a memory.
    pub const REGISTERS: u8 = 1;
    /// A tile in shared memory: a tensor in `#smem`.
    pub const SHARED: u8 = 2;
    /// A tensor in global memory: a memref in `#gmem`, with one subscript a dimension.
    pub const GLOBAL: u8 = 4;
    /// An index: an argument, a loop's counter, a whole number.
    pub const INDEX: u8 = 8;
    /// A whole number that the program says.
    pub const NUMBER: u8 = 16;
    /// A number, or a word such as `inf`, that stands in the operation itself.
    pub const LITERAL: u8 = 32;
    /// A number of 32 bits that is an argument.
    pub const SCALAR: u8 = 64;
    /// A tile in tensor memory: a tensor in `#tmem`.
    pub const TENSOR: u8 = 128;
    /// Each with its name, as the contract and messages have it.
    pub const NAMES: [(u8, &str); 8] = [
        (REGISTERS, "registers"),
        (SHARED, "shared"),
        (GLOBAL, "global"),
        (INDEX, "index"),
        (NUMBER, "number"),
        (LITERAL, "literal"),
        (SCALAR, "scalar"),
        (TENSOR, "tensor"),
    ];
}

/// Notations of written layouts, as bits of [`SlotContract::layouts`].
pub mod notation {
    /// TIRx, over lanes: `S[(8,4,2):(4@laneid,1@laneid,32@bit)]`.
    pub const LANES: u8 = 1;
    /// TIRx, over memory: `S[(64,64):(72,1)]`.
    pub const TIRX: u8 = 2;
    /// CuTe: `(64,64):(1,72)`, with a swizzle `S<3,4,3> o 0 o (64,64):(64,1)`.
    pub const CUTE: u8 = 4;
    /// A TileAS descriptor: `<(64,64),(64,1)>`.
    pub const TILEAS: u8 = 8;
    /// Triton: `#ttg.blocked<{..}>`.
    pub const TRITON: u8 = 16;
    /// Anything else.
    pub const OTHER: u8 = 32;
    /// TileLang: `T.Fragment(..)`, `{thread = .., index = ..}`.
    pub const TILELANG: u8 = 64;
    /// Each with its name, as the contract and messages have it.
    pub const NAMES: [(u8, &str); 7] = [
        (LANES, "lanes"),
        (TIRX, "tirx"),
        (CUTE, "cute"),
        (TILEAS, "tileas"),
        (TRITON, "triton"),
        (TILELANG, "tilelang"),
        (OTHER, "other"),
    ];
}

/// The contract of all operations.
#[derive(Copy, Clone, Debug)]
pub struct Contract<'a> {
    /// Prefixes that the key of an attribute may have.
    pub prefixes: &'a [&'a str],
    /// Fewest and most dimensions of a memref.
    pub memref_ranks: (u8, u8),
    /// Hints that any operation of a kernel may have that makes something and has no region.
    pub hints: List<'a, AttrContract<'a>>,
    /// One for each of [`Tables::ops`](crate::Tables::ops).
    pub ops: &'a [OpContract<'a>],
}

impl Contract<'_> {
    /// Nothing is taken.
    pub const EMPTY: Self =
        Self { prefixes: &[], memref_ranks: (0, 0), hints: List::EMPTY, ops: &[] };
}

/// The contract of an operation.
#[derive(Copy, Clone, Debug)]
pub struct OpContract<'a> {
    /// `compile` takes it.
    pub compiled: bool,
    /// Why not, where it does not.
    pub refusal: Name<'a>,
    /// What to write instead; may be empty.
    pub instead: Name<'a>,
    /// Its main operands, in order.
    pub operands: List<'a, SlotContract<'a>>,
    /// Its results, in order.
    pub results: List<'a, SlotContract<'a>>,
    /// Arguments of its region, in order.
    pub arguments: List<'a, SlotContract<'a>>,
    /// Its attributes.
    pub attrs: List<'a, AttrContract<'a>>,
    /// What it does, for the reference.
    pub does: Name<'a>,
    /// What it does in functions of parallel loops, if it is taken there alone; for the reference.
    pub in_loops: Name<'a>,
}

/// What may stand in a place of an operation: an operand, a result, an argument.
#[derive(Copy, Clone, Debug)]
pub struct SlotContract<'a> {
    /// What it is called.
    pub name: Name<'a>,
    /// Bits of [`kind`]; one of them holds.
    pub kinds: u8,
    /// How often it stands there (`u8::MAX` = any number).
    pub count: (u8, u8),
    /// Fewest and most dimensions of a tile. Memrefs have their own.
    pub ranks: (u8, u8),
    /// Elements of a tile.
    pub elements: Elements,
    /// Bits of [`notation`]: written layouts that are obeyed. Those of operands are said where they
    /// are defined.
    pub layouts: u8,
    /// Attributes of an argument.
    pub attrs: List<'a, AttrContract<'a>>,
}

/// Which elements a tile has. Which of them an architecture has instructions for is in its tables.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Elements {
    /// A whole number of bytes each.
    Bytes,
    /// 32 bits each.
    Words,
    /// 8, 16 or 32 bits each.
    Narrow,
    /// A whole number of bytes each, or truths (`i1`).
    Held,
    /// Truths.
    Truths,
}

impl Elements {
    /// Which elements a tile has, in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Bytes => "of a whole number of bytes each",
            Self::Words => "of 32 bits each",
            Self::Narrow => "of 8, 16, 32 or 64 bits each",
            Self::Held => "of a whole number of bytes each, or i1",
            Self::Truths => "i1",
        }
    }
}

/// An attribute.
#[derive(Copy, Clone, Debug)]
pub struct AttrContract<'a> {
    /// Its key.
    pub key: &'a str,
    /// What its value may be.
    pub form: AttrForm<'a>,
    /// It must be there.
    pub required: bool,
    /// It may be there only where the first operand and the first result have so many dimensions;
    /// zeros: always.
    pub ranks: (u8, u8),
    /// A permission, or a promise that need not be used: it goes away where a kernel is read, and
    /// nothing follows from it.
    pub hint: bool,
    /// What holds without it; empty where it is required.
    pub default: Name<'a>,
    /// What it means.
    pub doc: Name<'a>,
}

/// What the value of an attribute may be.
#[derive(Copy, Clone, Debug)]
pub enum AttrForm<'a> {
    /// None.
    Unit,
    /// A whole number in a range.
    Int(i64, i64),
    /// A power of two in a range.
    Power(i64, i64),
    /// One of these words.
    Word(List<'a, &'a str>),
    /// A text in quotes.
    Text,
    /// A name, `@f`.
    Symbol,
    /// A list of exactly these numbers.
    Ints(List<'a, u8>),
    /// A layout in one of these notations (bits of [`notation`]).
    Layout(u8),
    /// One to three numbers or expressions over arguments, in round brackets.
    Grid,
    /// Of each dimension of a memref an index argument, a number or `_`, in round brackets.
    Bounds,
    /// An affine map with one result and as many names as there are operands.
    Map,
    /// A whole number above 0, or one of each dimension, as MLIR writes dense attributes.
    Dense,
}

//! Why a query has no answer.

use crate::functions::QueryFunction;
use crate::text;
use lanebook_infer::notation::NotationFault;
use lanebook_layout::Error;
use lanebook_layout::notation::Expected;
use lanebook_layout::triton::EncodingError;
use lanebook_tile::unit::UnitError;

/// Kinds of values.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum KindOfValue {
    /// None at all.
    Nothing,
    /// A number.
    Number,
    /// Yes or no.
    Truth,
    /// A tree of numbers.
    Tuple,
    /// A layout.
    Layout,
    /// A swizzle.
    Swizzle,
    /// An encoding without a shape.
    Encoding,
    /// An instruction.
    Instruction,
    /// A word.
    Word,
}

/// What the grammar of queries needs at a place.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Needed {
    /// A layout, encoding, instruction, call, number or name.
    Operand,
    /// A closing bracket for the one that is open.
    CloseBracket,
    /// `,` or `)`.
    CommaOrClose,
    /// The end, `at`, `where` or `o`.
    End,
    /// A name after `let`.
    Name,
    /// `=` after a name.
    Equals,
    /// `;`.
    Semicolon,
    /// `.A`, `.B`, `.C` or `.D`.
    Operands,
    /// The name of an axis or of a part, after `where`.
    Part,
    /// A number.
    Number,
    /// A coordinate.
    Coordinate,
}

/// Why a query has no answer.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Why {
    /// The text of a notation goes on in another way.
    Notation(Expected),
    /// The query goes on in another way.
    Needed(Needed),
    /// Nothing has this name.
    UnknownName,
    /// There is no such function.
    UnknownFunction,
    /// The architecture has no such instruction.
    UnknownInstruction,
    /// Nothing is known of this architecture.
    UnknownArch,
    /// No element type has this name.
    UnknownType,
    /// The answer depends on the architecture, and none is said.
    NeedsArch,
    /// An encoding says where elements are once it has a shape.
    NeedsShape,
    /// A family's name where one instruction is needed.
    Family,
    /// The instruction has no such operand, or none with a layout.
    NoOperand,
    /// The layout has neither lanes nor threads: it lies in memory.
    NoRegisters,
    /// The instruction does not do what is asked about: a movement, a product.
    WrongInstruction,
    /// A word that is none of the choices.
    BadWord,
    /// An argument says what another has said.
    Again,
    /// A value of another kind is needed.
    Kind {
        /// What is needed.
        wanted: KindOfValue,
        /// What is there.
        found: KindOfValue,
    },
    /// A function takes another number of arguments.
    Arguments {
        /// The function.
        function: QueryFunction,
        /// How many there are.
        found: u8,
    },
    /// The number of coordinates is not the layout's, or one of them is outside.
    Coordinate {
        /// Coordinates that the layout has.
        rank: u8,
    },
    /// A question stands inside of an expression.
    Nested {
        /// The question.
        function: QueryFunction,
    },
    /// More values wait than there is room for.
    TooDeep,
    /// More names than there is room for, or a longer one.
    TooManyNames,
    /// The model of the banks cannot be used, or the architecture has none for this access.
    NoBankModel,
    /// The bytes of a slot do not lie side by side in the tile.
    RunsApart,
    /// The two are not of the same elements.
    OtherElements {
        /// Elements of the first.
        first: u64,
        /// Elements of the second.
        second: u64,
    },
    /// More elements than are looked at one by one.
    TooLarge {
        /// The most.
        most: u32,
    },
    /// No notation says this layout.
    NoNotation,
    /// The bits of an element are not known.
    NeedsBits,
    /// The layout algebra refuses.
    Layout(Error),
    /// An encoding is refused.
    Encoding(EncodingError),
    /// A fragment of TileLang, or of parallel loops, is refused.
    Fragment(NotationFault),
    /// A matrix unit's tables refuse.
    Unit(UnitError),
}

impl From<Error> for Why {
    fn from(error: Error) -> Self {
        Self::Layout(error)
    }
}

impl From<EncodingError> for Why {
    fn from(error: EncodingError) -> Self {
        match error {
            EncodingError::Layout(error) => Self::Layout(error),
            error => Self::Encoding(error),
        }
    }
}

impl From<UnitError> for Why {
    fn from(error: UnitError) -> Self {
        match error {
            UnitError::Layout(error) => Self::Layout(error),
            error => Self::Unit(error),
        }
    }
}

/// Why a query has no answer, and where it is written.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct QueryError {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Why.
    pub why: Why,
}

impl QueryError {
    /// An error at a byte of a query.
    pub(crate) fn at(query: &str, byte: u32, why: Why) -> Self {
        let (line, column) = text::place(query, byte);
        Self { line, column, why }
    }
}

const _: () = assert!(core::mem::size_of::<Why>() <= 40);

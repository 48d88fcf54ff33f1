//! Layouts as text: parsing with exact positions of errors, and printing that parses back.
//!
//! [`cute`] is `shape:stride` with composed swizzles, [`basis`] its basis vectors alone, [`tileas`]
//! the descriptor `<shape,stride,swizzle<B,M,S>,elem=name>`, [`tirx`] is `S[...] + R[...] + offset`
//! and `ComposeLayout(...)`, [`ttg`] Triton's attributes. Axis names come from an
//! [`crate::AxisNames`], symbols from a [`crate::SymNames`]. Blanks, tabs and line ends may stand
//! between any two tokens. Malformed text is a [`ParseError`], never a default layout. Both parsers
//! keep a counter, not a stack. Printing uses `write_str` alone; integers are spelled by a routine
//! of this crate.
//!
//! ```
//! use lanebook_layout::notation::{self, Expected, ParseError, Part, PrintError};
//! use lanebook_layout::{NoSyms, WellKnown};
//!
//! // A text that is no layout: where, what was needed, and the same as a sentence.
//! let refused: ParseError = notation::cute::parse("(8,4):(4,1", &WellKnown, &mut NoSyms).unwrap_err();
//! assert_eq!((refused.line, refused.col, refused.expected), (1, 11, Expected::CloseParen));
//! assert!(refused.expected.words().is_some());
//! let mut sentence = String::new();
//! refused.write_text(&mut sentence).unwrap();
//! assert_eq!(sentence, "line 1, column 11: expected `)`; close the tuple");
//! // A layout that a notation cannot say: copies have no place in CuTe's text.
//! let copies = notation::tirx::parse("S[8:1] + R[2:8]", &WellKnown, &mut NoSyms).unwrap();
//! let refused = notation::cute::print(&copies.view(), &WellKnown, &NoSyms, &mut String::new()).unwrap_err();
//! assert_eq!(refused, PrintError::NotExpressible(Part::Replica));
//! assert!(!Part::Replica.describe().is_empty());
//! // The axes that texts may name, as an error lists them.
//! let mut axes = String::new();
//! notation::write_axes(&mut axes).unwrap();
//! assert!(axes.contains("laneid"));
//! ```

pub mod basis;
mod cursor;
pub mod cute;
mod explain;
mod sums;
pub mod tileas;
pub mod tirx;
mod tirx_composed;
mod tirx_iters;
mod tree;
pub mod ttg;
pub mod ttg_print;
mod ttg_table;
mod ttg_values;
mod write;

use crate::axis::AxisId;
use crate::error::Error;
use crate::num::SymId;

pub use explain::write_axes;

/// What the parser needed where it stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Expected {
    /// `(`.
    OpenParen,
    /// `)`.
    CloseParen,
    /// `[`.
    OpenBracket,
    /// `]`.
    CloseBracket,
    /// `>`.
    CloseAngle,
    /// `,`.
    Comma,
    /// `,` or `)`.
    CommaOrClose,
    /// `:`.
    Colon,
    /// The `o` between the parts of a composed layout.
    Compose,
    /// The end of the text, or `+` in TIRx text.
    End,
    /// An integer or the name of a symbol.
    Number,
    /// A known integer, no symbol.
    Integer,
    /// A number of fewer bits: strides and offsets have 64 signed, extents 32 unsigned.
    SmallerNumber,
    /// An extent of at least 1.
    PositiveExtent,
    /// A leaf: a number, or `(` for a tuple.
    NumberOrOpen,
    /// The name of an axis, or the number of a mode.
    Axis,
    /// An axis that the resolver knows.
    KnownAxis,
    /// A symbol that the resolver accepts.
    KnownSymbol,
    /// A mode number 0..=15, at most three in a path.
    BasisNumber,
    /// An `S[...]` or `R[...]`: offsets alone are no layout.
    Shard,
    /// No second `S[...]`.
    OneShard,
    /// No second `R[...]`.
    OneReplica,
    /// Swizzle fields that do not overlap: `|S| >= B`, `M + B + |S| <= 63`.
    ValidSwizzle,
    /// `True` or `False`.
    Boolean,
    /// `=` after the name of an argument.
    Equals,
    /// The quote that ends a name.
    CloseQuote,
    /// A layout within the limits of this crate.
    Fits(Error),
    /// `<`.
    OpenAngle,
    /// `S<`.
    Swizzle,
    /// `}`.
    CloseBrace,
    /// `@`: in a basis every number has a path, and a fraction always.
    At,
    /// `div=` and a positive integer.
    Divisor,
    /// A denominator other than 0.
    Denominator,
    /// `swizzle<...>`, `elem=...` or `>`.
    Clause,
    /// The name of an element type that the registry knows.
    KnownElement,
    /// A stride tree of the same structure as the shape; bases of one length.
    Congruent,
    /// `{`.
    OpenBrace,
    /// `#` and the name of an attribute that is known.
    Attribute,
    /// A key that the attribute has.
    Key,
    /// No key twice.
    KeyOnce,
    /// This key before the attribute ends.
    Parameter(ttg::Key),
    /// An encoding within the limits of this crate.
    Encoding(crate::triton::EncodingError),
}

/// Why a text is no layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ParseError {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub col: u32,
    /// What was needed there.
    pub expected: Expected,
}

const _: () = assert!(core::mem::size_of::<ParseError>() <= 40);

/// What a notation cannot say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Part {
    /// Replicas.
    Replica,
    /// Offsets (in CuTe text: other than one on axis `m` inside a swizzle).
    Offset,
    /// The post-map.
    PostMap,
    /// A tree deeper than a flat tuple.
    Tree,
}

/// Why a layout could not be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum PrintError {
    /// The sink refused.
    Sink,
    /// The resolver has no name for this axis.
    UnnamedAxis(AxisId),
    /// The resolver has no name for this symbol.
    UnnamedSymbol(SymId),
    /// The notation cannot say this part.
    NotExpressible(Part),
    /// The layout is not well formed.
    Invalid(Error),
}

impl From<core::fmt::Error> for PrintError {
    fn from(_: core::fmt::Error) -> Self {
        Self::Sink
    }
}

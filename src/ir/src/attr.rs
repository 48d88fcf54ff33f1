//! Attributes and literals.
use crate::handle::{TextRef, TypeRef, Value};

/// A literal operand.
///
/// ```
/// use lanebook::ir::Literal;
///
/// assert_eq!((Literal::Int(3).to_f64(), Literal::Int(3).to_int(), Literal::Int(0).is_zero()), (Some(3.0), Some(3), true));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Literal {
    /// An integer, also hexadecimal in the text.
    Int(i64),
    /// A decimal integer that no `i64` holds: 2^63 or more.
    Large(u64),
    /// `digits * 10^exponent`, exactly as written (`0.0` is `0 * 10^-1`).
    Decimal {
        /// All digits, with the sign.
        digits: i64,
        /// Power of ten.
        exponent: i16,
    },
    /// Zero with a sign, `-0.0`.
    MinusZero,
    /// Hexadecimal digits, `0xFF800000`: an integer; of a float, its bits.
    Hex(u64),
    /// A word: `true`, `false`, `inf`, `-inf`, `nan`.
    Word(TextRef),
}

impl Literal {
    /// The number as a double, rounded once; infinite where it is too large. `None` for a word, and
    /// for hexadecimal digits other than 0, whose meaning depends on the type.
    #[must_use]
    pub fn to_f64(self) -> Option<f64> {
        match self {
            Self::Int(value) => Some(value as f64),
            Self::Large(value) => Some(value as f64),
            Self::Decimal { digits, exponent } => Some(crate::number::double(digits, exponent)),
            Self::MinusZero => Some(-0.0),
            Self::Hex(0) => Some(0.0),
            Self::Hex(_) | Self::Word(_) => None,
        }
    }
    /// Whether it is zero without a sign.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        matches!(self, Self::Int(0) | Self::Decimal { digits: 0, .. } | Self::Hex(0))
    }
    /// The integer; a decimal counts when it is whole and zero (`0.0`).
    #[must_use]
    pub const fn to_int(self) -> Option<i64> {
        match self {
            Self::Int(value) | Self::Decimal { digits: value @ 0, .. } => Some(value),
            Self::MinusZero => Some(0),
            Self::Hex(value) => Some(value as i64),
            Self::Decimal { .. } | Self::Large(_) | Self::Word(_) => None,
        }
    }
}

/// An attribute's value.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::ir::{Attr, AttrRef, AttrValue, Options, SmallStorage, parse};
///
/// let mut storage = Box::new(SmallStorage::new());
/// let program = parse(storage.pools(), &TABLES, "func @f(%n: index) {threads = 64} {\n}", Options::default()).unwrap();
/// let threads: Attr = program.attrs(program.function("f").unwrap()).find(|a| program.text(a.key) == "threads").unwrap();
/// assert_eq!(threads.value, AttrValue::Int(64, None));
/// let place: Option<AttrRef> = AttrRef::at(0);
/// assert!(place.is_some());
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum AttrValue {
    /// No value: `{mask}`.
    Unit,
    /// An integer with its type, if written.
    Int(i64, Option<TypeRef>),
    /// A decimal number with its type, if written.
    Number(Literal, Option<TypeRef>),
    /// A string, without its quotes, escapes as written.
    Str(TextRef),
    /// A bare word, also `true` and `false`.
    Word(TextRef),
    /// `@name`, without `@`.
    Symbol(TextRef),
    /// `#name`, without `#`.
    Alias(TextRef),
    /// Layout text: `<(128,64),(64,1)>`, `S[...]`, `(8,4):(1,8)`.
    Layout(TextRef),
    /// `[...]`, the whole text with brackets; read integers with
    /// [`Program::list`](crate::Program::list).
    List(TextRef),
    /// Any other balanced text, kept as it is.
    Text(TextRef),
    /// A value of the program: it is also an operand of the operation, after the main ones.
    Operand(Value),
    /// A number the client gave; only the client knows what it means.
    Handle(u32),
}

/// An attribute: `key = value`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Attr {
    /// Key as written, maybe with a prefix (`nv_tileas.layout`).
    pub key: TextRef,
    /// Value.
    pub value: AttrValue,
}

//! Small `Copy` handles into a [`Program`](crate::Program)'s pools.
//!
//! A handle is two bytes, and so is an `Option` of one. Handles stay valid while the program is
//! edited, until the thing they name is erased. Asking a program about a stale or foreign handle is
//! safe: the answer is empty, never a panic.
use core::num::NonZeroU16;

/// The most things one pool can hold.
pub const MAX_HANDLES: usize = u16::MAX as usize;

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        pub struct $name(NonZeroU16);
        impl $name {
            /// The handle of a pool index below [`MAX_HANDLES`].
            #[must_use]
            pub const fn at(index: usize) -> Option<Self> {
                if index >= MAX_HANDLES { return None; }
                match NonZeroU16::new((index as u16).wrapping_add(1)) {
                    Some(number) => Some(Self(number)),
                    None => None,
                }
            }
            /// The pool index: dense, and usable as an index into the caller's own side tables.
            #[must_use]
            pub const fn index(self) -> usize {
                (self.0.get() as usize).wrapping_sub(1)
            }
        }
    )*};
}
handles! {
    /// An operation.
    Op,
    /// A value: a result, a block argument or a literal.
    Value,
    /// One place where an operation uses a value.
    Use,
    /// A block: a list of operations with arguments.
    Block,
    /// A region: a list of blocks that belongs to an operation.
    Region,
    /// An interned type: two handles of one program are equal exactly when the types are.
    TypeRef,
    /// One attribute's cell.
    AttrRef,
}

impl Block {
    /// The outermost block: the first of every program.
    pub(crate) const ROOT: Self = Self(NonZeroU16::MIN);
}

/// A piece of text: a span of the program's source, or one of the library's own
/// [words](crate::attr_names).
///
/// Six bytes; resolve it with [`Program::text`](crate::Program::text).
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::ir::{Block, MAX_HANDLES, Op, Options, Region, SmallStorage, TextRef, TypeRef, Use, Value, parse};
///
/// let mut storage = Box::new(SmallStorage::new());
/// let text = "func @f(%n: index) {threads = 64} {\n}";
/// let program = parse(storage.pools(), &TABLES, text, Options::default()).unwrap();
/// // Handles are small numbers into the program's pools; words are places in its text.
/// let (op, value, block, region) = (Op::at(0), Value::at(0), Block::at(0), Region::at(0));
/// assert_eq!([op.map(Op::index), value.map(Value::index), block.map(Block::index), region.map(Region::index)], [Some(0); 4]);
/// assert!(Op::at(MAX_HANDLES).is_none() && TypeRef::at(0).map(TypeRef::index) == Some(0) && Use::at(0).map(Use::index) == Some(0));
/// let name: TextRef = program.attrs(program.function("f").unwrap()).next().unwrap().key;
/// assert!(!name.is_empty() && TextRef::EMPTY.is_empty());
/// let threads = "threads";
/// assert!(program.text(name).len() <= text.len() && program.place_of(name).line <= 1);
/// # let _ = (threads, name.place());
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct TextRef {
    low: u16,
    high: u16,
    len: u16,
}

/// Bit of a name's start that says that it is a word, not a span.
const WORD: u32 = 1 << 31;

impl TextRef {
    /// No text.
    pub const EMPTY: Self = Self { low: 0, high: 0, len: 0 };

    /// `len` bytes of the source from `start`; `None` past 2^31 bytes or a length over 65535.
    #[must_use]
    pub(crate) fn span(start: usize, len: usize) -> Option<Self> {
        let start = u32::try_from(start).ok().filter(|start| *start < WORD)?;
        Some(Self { low: start as u16, high: (start >> 16) as u16, len: u16::try_from(len).ok()? })
    }
    /// A word of [`words`](crate::attr_names) by its number.
    pub(crate) const fn word(number: u16) -> Self {
        Self { low: number, high: (WORD >> 16) as u16, len: 1 }
    }
    pub(crate) const fn from_parts(low: u16, high: u16, len: u16) -> Self {
        Self { low, high, len }
    }
    pub(crate) const fn parts(self) -> [u16; 4] {
        [self.low, self.high, self.len, 0]
    }
    const fn start(self) -> u32 {
        (self.high as u32) << 16 | self.low as u32
    }
    /// Whether there is no text.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }
    /// Byte offset in the source and length in bytes, for a span.
    #[must_use]
    pub const fn place(self) -> Option<(u32, u16)> {
        if self.start() & WORD == 0 { Some((self.start(), self.len)) } else { None }
    }
    /// Number of the word, for a word.
    pub(crate) const fn word_number(self) -> Option<u16> {
        if self.start() & WORD == 0 { None } else { Some(self.low) }
    }
}

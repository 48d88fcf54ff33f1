//! The basis-vector grammar: `((1@0, 8@1), 1@2)`, `(1/2@0, 4@1)`, `(1@0@1)`.
//!
//! ```text
//! text  = entry
//! entry = group | basis
//! group = "(" [ entry { "," entry } ] ")"
//! basis = count "@" mode { "@" mode }             count = int [ "/" int ]
//! ```
//!
//! Blanks may stand between any two tokens. Counts are reduced, with the sign on the numerator:
//! `3/6@0` is `1/2@0`, `1/-2@0` is `-1/2@0`; a denominator of 0 is refused. Modes are 0..=15, at
//! most three a path, innermost first. Every number needs its `@` ([`parse`]); CuTe's own stride
//! text may mix in bare integers ([`parse_strides`]).

use super::cursor::{Cursor, Parsed};
use super::tree::{self, TreeSink};
use super::{Expected, ParseError, PrintError, write};
use crate::axis::{AxisId, WellKnown};
use crate::cute::tuple::{Tokens, TupleRef, push_token};
use crate::error::{Error, Limit};
use crate::layout::{Iter, Layout, MAX_ITERS};
use crate::num::{Int, NoSyms, SymNames};
use crate::profile::{CLOSE, LEAF, OPEN};
use core::fmt::Write;

/// One parsed entry. It lives only while a text is read; what comes out is a [`Basis`].
struct Simple {
    /// Numerator and denominator, reduced.
    count: Int,
    /// The dimensions.
    axis: AxisId,
}

/// A tree of basis vectors, that is, of strides without a shape.
///
/// ```
/// # use lanebook_layout::notation::basis::{self, Basis};
/// # use lanebook_layout::{Int, NoSyms, WellKnown, notation};
/// // Strides without a shape: one step of the first leaf is one row, of the second two columns.
/// let strides = basis::parse("(1@0,2@1)").unwrap();
/// assert_eq!((strides.entries().len(), strides.tokens().len()), (2, 4));
/// assert_eq!(strides.entries()[1].0, Int::known(2));
/// let shape = notation::cute::parse_tuple("(8,4)", &mut NoSyms).unwrap();
/// let layout = strides.over(shape.view()).unwrap();
/// assert_eq!(layout, notation::cute::parse("(8,4):(1@0,2@1)", &WellKnown, &mut NoSyms).unwrap());
/// assert_eq!(Basis::of(&layout.view()).unwrap(), strides);
/// // What is printed is read again; without `@` a stride is one in memory.
/// let mut text = String::new();
/// basis::print(&strides, &NoSyms, &mut text).unwrap();
/// assert_eq!(text, "(1@0,2@1)");
/// assert_eq!(basis::parse_strides("(1,8)", &mut NoSyms).unwrap().entries().len(), 2);
/// assert!(basis::parse("(1,8)").is_err());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Basis {
    tokens: Tokens,
    entries: heapless::Vec<(Int, AxisId), MAX_ITERS, u8>,
}

impl Basis {
    /// Counts with their axes, from left to right.
    #[must_use]
    pub fn entries(&self) -> &[(Int, AxisId)] {
        self.entries.as_slice()
    }

    /// The tokens of the tree.
    #[must_use]
    pub fn tokens(&self) -> &[u8] {
        self.tokens.as_slice()
    }

    /// The basis with the strides of a layout.
    pub fn of(l: &crate::LayoutRef<'_>) -> crate::error::Result<Self> {
        let mut out =
            Self { tokens: crate::cute::tuple::tokens_of(l)?, entries: heapless::Vec::new() };
        for it in l.shard {
            let _ = out.entries.push((it.stride(), it.axis()));
        }
        Ok(out)
    }

    /// The layout of `shape` with these strides.
    ///
    /// # Errors
    /// [`Error::NotCongruent`] if the trees differ; [`Error::BadExtent`].
    pub fn over(&self, shape: TupleRef<'_>) -> crate::error::Result<Layout> {
        if shape.tokens() != self.tokens.as_slice() {
            let same = shape.tokens().iter().zip(&self.tokens).take_while(|(a, b)| a == b);
            return Err(Error::NotCongruent { node: crate::layout::position(same.count()) });
        }
        let mut out = Layout::new();
        let mut leaves = shape.leaves().iter().zip(&self.entries);
        for t in &self.tokens {
            match *t {
                OPEN => out.open()?,
                CLOSE => out.close()?,
                _ => {
                    let (extent, (stride, axis)) =
                        leaves.next().ok_or(Error::NotCongruent { node: 0 })?;
                    out.push_leaf(Iter::symbolic(*extent, *stride, *axis)?)?;
                }
            }
        }
        out.view().check()?;
        Ok(out)
    }
}

/// What a basis is read into.
struct Entries<'s, S> {
    out: Basis,
    syms: &'s mut S,
    strict: bool,
}

impl<S: SymNames> TreeSink for Entries<'_, S> {
    fn leaf(&mut self, c: &mut Cursor<'_>) -> Parsed<()> {
        let at = c.mark();
        if !matches!(c.peek(), Some(b'-' | b'?' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_')) {
            return Err(c.error(Expected::NumberOrOpen));
        }
        let (count, axis) = c.strided(&WellKnown, self.syms, false)?;
        if self.strict && !axis.is_basis() {
            return Err(c.error(Expected::At));
        }
        let entry = Simple { count, axis };
        let full = Error::Capacity { limit: Limit::Iters, max: MAX_ITERS as u32 };
        let stored = push_token(&mut self.out.tokens, LEAF).and_then(|()| {
            let entry = (entry.count, entry.axis);
            self.out.entries.push(entry).map_err(|_| full)
        });
        c.fits(at, stored)
    }

    fn token(&mut self, token: u8) -> Result<(), Error> {
        push_token(&mut self.out.tokens, token)
    }
}

/// The basis that `text` spells.
///
/// # Errors
/// [`ParseError`] with line, column and what was needed there.
pub fn parse(text: &str) -> Result<Basis, ParseError> {
    whole(text, &mut NoSyms, true)
}

/// CuTe's stride text: as [`parse`], where integers without `@` count on axis `m`, and symbols are
/// taken.
///
/// # Errors
/// As [`parse`].
pub fn parse_strides(text: &str, syms: &mut impl SymNames) -> Result<Basis, ParseError> {
    whole(text, syms, false)
}

fn whole(text: &str, syms: &mut impl SymNames, strict: bool) -> Result<Basis, ParseError> {
    let mut c = Cursor::cute(text);
    let mut sink = Entries { out: Basis::default(), syms, strict };
    tree::read(&mut c, &mut sink)?;
    c.end()?;
    Ok(sink.out)
}

/// Writes a basis so that [`parse_strides`] (and [`parse`], if every entry has an `@`) gives it
/// back.
///
/// # Errors
/// [`PrintError::UnnamedAxis`], [`PrintError::UnnamedSymbol`]; [`PrintError::Sink`].
pub fn print(b: &Basis, syms: &impl SymNames, out: &mut impl Write) -> Result<(), PrintError> {
    let mut entries = b.entries.iter();
    tree::write(&b.tokens, out, |out, _| match entries.next() {
        Some((count, axis)) => write::strided(out, *count, *axis, &WellKnown, syms),
        None => Ok(()),
    })
}

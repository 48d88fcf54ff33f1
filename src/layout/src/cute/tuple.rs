//! Trees of numbers: shapes, strides without axes, coordinates, orders, profiles.
//!
//! As a layout's [`Profile`], the tree is a string of tokens, with one token more: [`KEEP`], the
//! `_` of a coordinate, which has no number. An integer is a leaf; `(4)` and `4` differ.

use crate::error::{Error, Limit, Result};
use crate::layout::{LayoutRef, MAX_ITERS, MAX_PROFILE};
use crate::num::Int;
use crate::profile::{CLOSE, LEAF, OPEN, Profile, split_node};

/// A token: a mode that a coordinate leaves open (`_`).
pub const KEEP: u8 = 3;

/// The tokens of a tree.
pub(crate) type Tokens = heapless::Vec<u8, MAX_PROFILE, u8>;

/// A tree of numbers that owns them, of at most [`MAX_ITERS`] leaves.
///
/// ```
/// use lanebook_layout::cute::IntTuple;
/// use lanebook_layout::{NoSyms, notation};
///
/// let mut shape = IntTuple::new();
/// shape.open().unwrap();
/// shape.push_leaf(8.into()).unwrap();
/// shape.push_node(IntTuple::flat(&[2, 4]).unwrap().view()).unwrap();
/// shape.close().unwrap();
/// assert_eq!(shape, notation::cute::parse_tuple("(8,(2,4))", &mut NoSyms).unwrap());
/// ```
///
/// ```
/// # use lanebook_layout::cute::tuple::IntTuple;
/// # use lanebook_layout::{Int, NoSyms, SymNames, SymTable, WellKnown, notation};
/// // The shape of a layout with a run-time extent, and with a number for it.
/// let mut syms = SymTable::new();
/// let tile = notation::cute::parse("(M,(2,4)):(8,(1,2))", &WellKnown, &mut syms).unwrap();
/// let mut shape = IntTuple::shape_of(&tile.view()).unwrap();
/// let m = syms.sym("M").unwrap();
/// shape.substitute(m, 96).unwrap();
/// assert_eq!(shape.view().product().unwrap(), Int::known(768));
/// // The tree that is one number, and a tuple with a mode left as it is.
/// assert_eq!(IntTuple::leaf(8).unwrap().view().as_leaf(), Some(Int::known(8)));
/// let mut tiler = IntTuple::new();
/// tiler.open().unwrap();
/// tiler.push_keep().unwrap();
/// tiler.push_leaf(Int::known(4)).unwrap();
/// tiler.close().unwrap();
/// assert_eq!(tiler, notation::cute::parse_tuple("(_,4)", &mut NoSyms).unwrap());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntTuple {
    tokens: Tokens,
    leaves: heapless::Vec<Int, MAX_ITERS, u8>,
}

impl IntTuple {
    /// Nothing yet: no node. Not a tree until something is pushed; `()` is [`IntTuple::open`] and
    /// [`IntTuple::close`].
    #[must_use]
    pub const fn new() -> Self {
        Self { tokens: heapless::Vec::new(), leaves: heapless::Vec::new() }
    }

    /// The tree that is one number.
    pub fn leaf(value: impl Into<Int>) -> Result<Self> {
        let mut out = Self::new();
        out.push_leaf(value.into())?;
        Ok(out)
    }

    /// The tuple of these integers.
    pub fn flat(values: &[i64]) -> Result<Self> {
        let mut out = Self::new();
        out.open()?;
        for v in values {
            out.push_leaf(Int::known(*v))?;
        }
        out.close()?;
        Ok(out)
    }

    /// The shape of a layout.
    pub fn shape_of(l: &LayoutRef<'_>) -> Result<Self> {
        let mut out = Self { tokens: tokens_of(l)?, leaves: heapless::Vec::new() };
        for it in l.shard {
            out.push_number(it.extent())?;
        }
        Ok(out)
    }

    /// The tree as plain slices.
    #[must_use]
    pub fn view(&self) -> TupleRef<'_> {
        TupleRef { tokens: self.tokens.as_slice(), leaves: self.leaves.as_slice() }
    }

    /// Puts a number in the place of a symbol.
    ///
    /// # Errors
    /// [`Error::Overflow`] where a product is too large.
    pub fn substitute(&mut self, sym: crate::num::SymId, value: i64) -> Result<()> {
        for leaf in &mut self.leaves {
            *leaf = leaf.substitute(sym, value)?;
        }
        Ok(())
    }

    /// Appends a number.
    pub fn push_leaf(&mut self, value: Int) -> Result<()> {
        self.push_token(LEAF)?;
        self.push_number(value)
    }

    /// Appends a `_`.
    pub fn push_keep(&mut self) -> Result<()> {
        self.push_token(KEEP)
    }

    /// Begins a tuple.
    pub fn open(&mut self) -> Result<()> {
        self.push_token(OPEN)
    }

    /// Ends a tuple.
    pub fn close(&mut self) -> Result<()> {
        self.push_token(CLOSE)
    }

    /// Appends a whole tree as one node.
    pub fn push_node(&mut self, node: TupleRef<'_>) -> Result<()> {
        for t in node.tokens {
            self.push_token(*t)?;
        }
        for v in node.leaves {
            self.push_number(*v)?;
        }
        Ok(())
    }

    fn push_token(&mut self, token: u8) -> Result<()> {
        push_token(&mut self.tokens, token)
    }

    fn push_number(&mut self, value: Int) -> Result<()> {
        self.leaves
            .push(value)
            .map_err(|_| Error::Capacity { limit: Limit::Iters, max: MAX_ITERS as u32 })
    }
}

/// A borrowed tree of numbers.
///
/// ```
/// use lanebook_layout::{NoSyms, notation};
///
/// let shape = notation::cute::parse_tuple("(8,(2,4))", &mut NoSyms).unwrap();
/// let shape = shape.view();
/// assert_eq!((shape.rank(), shape.depth(), shape.product().unwrap().value()), (2, 2, Ok(64)));
/// ```
///
/// ```
/// # use lanebook_layout::cute::tuple::{IntTuple, KEEP, TupleModes, TupleRef};
/// # use lanebook_layout::{Int, NoSyms, notation};
/// # let tree = |text: &str| notation::cute::parse_tuple(text, &mut NoSyms).unwrap();
/// let shape = tree("(8,(2,4),_)");
/// let view: TupleRef<'_> = shape.view();
/// assert_eq!(view.leaves(), [8, 2, 4].map(Int::known));
/// // `_` stands for a whole mode; it has a token and no number.
/// assert!(view.has_keep() && view.tokens().contains(&KEEP));
/// let mut modes: TupleModes<'_> = view.modes();
/// assert_eq!(modes.next().and_then(|mode| mode.as_leaf()), Some(Int::known(8)));
/// assert_eq!(modes.next().and_then(|mode| mode.as_leaf()), None);
/// assert_eq!(tree("(8,(2,4))").view().product_each().unwrap(), tree("(8,8)"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TupleRef<'a> {
    tokens: &'a [u8],
    leaves: &'a [Int],
}

impl<'a> TupleRef<'a> {
    /// The tokens: [`LEAF`], [`OPEN`], [`CLOSE`], [`KEEP`].
    #[must_use]
    pub const fn tokens(self) -> &'a [u8] {
        self.tokens
    }

    /// The numbers, from left to right.
    #[must_use]
    pub const fn leaves(self) -> &'a [Int] {
        self.leaves
    }

    /// The number, if the tree is one.
    #[must_use]
    pub fn as_leaf(self) -> Option<Int> {
        match (self.tokens, self.leaves) {
            ([LEAF], [one]) => Some(*one),
            _ => None,
        }
    }

    /// Whether a mode is left open somewhere.
    #[must_use]
    pub fn has_keep(self) -> bool {
        self.tokens.contains(&KEEP)
    }

    /// The modes of a tuple; a leaf is its own only mode.
    #[must_use]
    pub fn modes(self) -> TupleModes<'a> {
        let tokens = match self.tokens {
            [OPEN, inner @ .., CLOSE] => inner,
            other => other,
        };
        TupleModes { rest: Self { tokens, ..self } }
    }

    /// The number of modes; 1 for a leaf.
    #[must_use]
    pub fn rank(self) -> usize {
        self.modes().count()
    }

    /// Depth of the tree: 0 for a leaf.
    #[must_use]
    pub fn depth(self) -> usize {
        Profile::from_tokens(self.tokens).depth()
    }

    /// The product of all numbers.
    pub fn product(self) -> Result<Int> {
        let mut out = Int::ONE;
        for v in self.leaves {
            out = out.checked_mul(*v)?;
        }
        Ok(out)
    }

    /// The product of each mode, as a tuple of integers (a leaf stays a leaf): CuTe's
    /// `product_each`.
    pub fn product_each(self) -> Result<IntTuple> {
        if let Some(one) = self.as_leaf() {
            return IntTuple::leaf(one);
        }
        let mut out = IntTuple::new();
        out.open()?;
        for mode in self.modes() {
            out.push_leaf(mode.product()?)?;
        }
        out.close()?;
        Ok(out)
    }
}

/// Iterates over the modes of a [`TupleRef`].
#[derive(Clone, Debug)]
pub struct TupleModes<'a> {
    rest: TupleRef<'a>,
}

impl<'a> Iterator for TupleModes<'a> {
    type Item = TupleRef<'a>;

    fn next(&mut self) -> Option<TupleRef<'a>> {
        let (tokens, after) = split_node(self.rest.tokens)?;
        let (leaves, behind) = self.rest.leaves.split_at_checked(crate::profile::leaves(tokens))?;
        self.rest = TupleRef { tokens: after, leaves: behind };
        Some(TupleRef { tokens, leaves })
    }
}

/// The profile of a layout with the flat one spelled out.
pub(crate) fn tokens_of(l: &LayoutRef<'_>) -> Result<Tokens> {
    let mut out = Tokens::new();
    if l.profile.is_flat() {
        push_token(&mut out, OPEN)?;
        for _ in l.shard {
            push_token(&mut out, LEAF)?;
        }
        push_token(&mut out, CLOSE)?;
    } else {
        for t in l.profile.tokens() {
            push_token(&mut out, *t)?;
        }
    }
    Ok(out)
}

/// Appends a token.
pub(crate) fn push_token(tokens: &mut Tokens, token: u8) -> Result<()> {
    tokens
        .push(token)
        .map_err(|_| Error::Capacity { limit: Limit::Profile, max: MAX_PROFILE as u32 })
}

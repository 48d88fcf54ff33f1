//! The tree of a layout: how its shard iters are grouped into modes.
//!
//! A [`Profile`] is a string of tokens, one a leaf or parenthesis, so that a walk needs a counter
//! and no stack. 1-tuples are kept (`(20):(2)` is not `20:2`). The empty string means *flat*: one
//! tuple with every iter a mode, which is what TIRx layouts are. A malformed string is never
//! followed out of bounds; [`Profile::check`] reports it.

use crate::error::{Error, Result};
use crate::iter::Iter;

/// A token: the next shard iter.
pub const LEAF: u8 = 0;
/// A token: a tuple begins.
pub const OPEN: u8 = 1;
/// A token: a tuple ends.
pub const CLOSE: u8 = 2;

/// The tree over the shard iters of a layout.
///
/// ```
/// use lanebook_layout::{NoSyms, WellKnown, notation};
///
/// let tile = notation::cute::parse("((2,2),4):((1,2),4)", &WellKnown, &mut NoSyms).unwrap();
/// let profile = tile.view().profile;
/// assert_eq!((profile.depth(), profile.is_flat(), profile.check(3)), (2, false, Ok(())));
/// ```
///
/// ```
/// use lanebook_layout::profile::{CLOSE, LEAF, Modes, OPEN, Profile};
/// use lanebook_layout::{AxisId, Iter};
///
/// // ((_,_),_): two modes, the first of two leaves.
/// let tree = Profile::from_tokens(&[OPEN, OPEN, LEAF, LEAF, CLOSE, LEAF, CLOSE]);
/// assert_eq!((tree.tokens().len(), tree.check(3)), (7, Ok(())));
/// let iters = [Iter::new(2, 1, AxisId::M), Iter::new(2, 2, AxisId::M), Iter::new(4, 4, AxisId::M)];
/// let leaves: Vec<usize> = Modes::new(&iters, tree).map(|(shard, _)| shard.len()).collect();
/// assert_eq!(leaves, [2, 1]);
/// assert_eq!((Profile::FLAT.is_flat(), Profile::SCALAR.is_scalar()), (true, true));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Profile<'a>(&'a [u8]);

impl<'a> Profile<'a> {
    /// One tuple in which every iter is a mode of its own.
    pub const FLAT: Profile<'static> = Profile(&[]);
    /// A single leaf that is not in a tuple: `4:1`.
    pub const SCALAR: Profile<'static> = Profile(&[LEAF]);

    /// A profile from its tokens ([`LEAF`], [`OPEN`], [`CLOSE`]); see [`Profile::check`].
    #[must_use]
    pub const fn from_tokens(tokens: &'a [u8]) -> Self {
        Self(tokens)
    }

    /// The tokens; empty for [`Profile::FLAT`].
    #[must_use]
    pub const fn tokens(self) -> &'a [u8] {
        self.0
    }

    /// Whether the profile is the flat one.
    #[must_use]
    pub const fn is_flat(self) -> bool {
        self.0.is_empty()
    }

    /// Whether the layout is a single leaf outside any tuple.
    #[must_use]
    pub fn is_scalar(self) -> bool {
        self.0 == [LEAF]
    }

    /// Depth of the tree: 0 for a leaf, 1 for a flat tuple.
    #[must_use]
    pub fn depth(self) -> usize {
        if self.is_flat() {
            return 1;
        }
        let (mut now, mut most) = (0usize, 0usize);
        for t in self.0 {
            match *t {
                OPEN => now = now.saturating_add(1),
                CLOSE => now = now.saturating_sub(1),
                _ => {}
            }
            most = most.max(now);
        }
        most
    }

    /// Checks that the tokens are one node with exactly `iters` leaves.
    pub fn check(self, iters: usize) -> Result<()> {
        if self.is_flat() {
            return Ok(());
        }
        let leaves = self.0.iter().filter(|t| **t == LEAF).count();
        let bad = Error::BadProfile {
            iters: u16::try_from(iters).unwrap_or(u16::MAX),
            leaves: u16::try_from(leaves).unwrap_or(u16::MAX),
        };
        let mut rest = Nodes { tokens: self.0 };
        let one = rest.next().is_some() && rest.tokens.is_empty();
        if one && leaves == iters && self.0.iter().all(|t| *t <= CLOSE) { Ok(()) } else { Err(bad) }
    }

    /// The tokens inside the outer tuple; a leaf stands for itself.
    fn children(self) -> Nodes<'a> {
        let tokens = match self.0 {
            [OPEN, inner @ .., CLOSE] => inner,
            other => other,
        };
        Nodes { tokens }
    }
}

/// Iterates over sibling nodes of a token string.
#[derive(Clone, Debug)]
struct Nodes<'a> {
    tokens: &'a [u8],
}

impl<'a> Iterator for Nodes<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (node, rest) = split_node(self.tokens)?;
        self.tokens = rest;
        Some(node)
    }
}

/// The first node of a token string, and what follows it; `None` at the end and before a [`CLOSE`].
pub(crate) fn split_node(tokens: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut depth = 0usize;
    for (k, t) in tokens.iter().enumerate() {
        match *t {
            OPEN => depth = depth.checked_add(1)?,
            CLOSE => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return tokens.split_at_checked(k.checked_add(1)?);
        }
    }
    None
}

/// How many leaves a token string has.
pub(crate) fn leaves(tokens: &[u8]) -> usize {
    tokens.iter().filter(|t| **t == LEAF).count()
}

/// Iterates over the top-level modes: the iters of each with their own profile.
///
/// ```
/// use lanebook_layout::profile::{Modes, Profile};
/// use lanebook_layout::{AxisId, Iter};
///
/// // Flat: each iter is a mode.
/// let iters = [Iter::new(2, 1, AxisId::M), Iter::new(4, 2, AxisId::M)];
/// assert_eq!(Modes::new(&iters, Profile::FLAT).count(), 2);
/// ```
#[derive(Clone, Debug)]
pub struct Modes<'a> {
    shard: &'a [Iter],
    nodes: Nodes<'a>,
    flat: bool,
}

impl<'a> Modes<'a> {
    /// The modes of a tree over `shard`.
    #[must_use]
    pub fn new(shard: &'a [Iter], profile: Profile<'a>) -> Self {
        Self { shard, nodes: profile.children(), flat: profile.is_flat() }
    }
}

impl<'a> Iterator for Modes<'a> {
    type Item = (&'a [Iter], Profile<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let (leaves, profile) = if self.flat {
            (1, Profile::SCALAR)
        } else {
            let node = self.nodes.next()?;
            (node.iter().filter(|t| **t == LEAF).count(), Profile(node))
        };
        let (mode, rest) = self.shard.split_at_checked(leaves)?;
        self.shard = rest;
        Some((mode, profile))
    }
}

//! Walking two trees at once: a *guide* (coordinate, profile, tiler, order) over a *tree* (a
//! layout, a shape).
//!
//! Where the guide has a leaf, the tree may have any node. No stack is needed: tuples must open and
//! close together.

use crate::error::{Error, Result};
use crate::layout::{Iter, LayoutRef, position};
use crate::profile::{CLOSE, LEAF, OPEN, Profile, split_node};

/// What the walk meets next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TreeStep<'t> {
    /// Both trees begin a tuple.
    Open,
    /// Both trees end a tuple.
    Close,
    /// The guide has this leaf token, the tree this node.
    Node(u8, &'t [u8]),
    /// The guide's tuple is over, and the tree's goes on with this node.
    Rest(&'t [u8]),
    /// The guide has this tuple, the tree a leaf.
    Deeper(&'t [u8]),
}

/// The walk.
#[derive(Clone, Debug)]
pub(crate) struct TreeWalk<'t> {
    guide: &'t [u8],
    tree: &'t [u8],
    partial: bool,
    either: bool,
    at: usize,
}

impl<'t> TreeWalk<'t> {
    /// A walk in which tuples must have the same number of modes.
    pub(crate) const fn exact(guide: &'t [u8], tree: &'t [u8]) -> Self {
        Self { guide, tree, partial: false, either: false, at: 0 }
    }

    /// A walk in which the guide's tuples may be shorter.
    pub(crate) const fn partial(guide: &'t [u8], tree: &'t [u8]) -> Self {
        Self { partial: true, ..Self::exact(guide, tree) }
    }

    /// The walk, in which the guide may also be the deeper of the two.
    pub(crate) const fn or_deeper(self) -> Self {
        Self { either: true, ..self }
    }

    /// The next step; `None` at the end of both.
    pub(crate) fn step(&mut self) -> Result<Option<TreeStep<'t>>> {
        let misfit = Error::NotCongruent { node: position(self.at) };
        let Some((front, rest)) = self.guide.split_first() else {
            return if self.tree.is_empty() { Ok(None) } else { Err(misfit) };
        };
        let step = match (*front, self.tree.split_first()) {
            (OPEN, Some((&OPEN, tree))) => {
                self.tree = tree;
                TreeStep::Open
            }
            (CLOSE, Some((&CLOSE, tree))) => {
                self.tree = tree;
                TreeStep::Close
            }
            (CLOSE, _) if self.partial => {
                let (node, tree) = split_node(self.tree).ok_or(misfit)?;
                self.tree = tree;
                return Ok(Some(TreeStep::Rest(node)));
            }
            (OPEN, Some((&LEAF, tree))) if self.either => {
                let (node, guide) = split_node(self.guide).ok_or(misfit)?;
                self.guide = guide;
                self.tree = tree;
                self.at = self.at.saturating_add(node.len());
                return Ok(Some(TreeStep::Deeper(node)));
            }
            (OPEN | CLOSE, _) => return Err(misfit),
            (leaf, _) => {
                let (node, tree) = split_node(self.tree).ok_or(misfit)?;
                self.tree = tree;
                TreeStep::Node(leaf, node)
            }
        };
        self.guide = rest;
        self.at = self.at.saturating_add(1);
        Ok(Some(step))
    }
}

/// Hands out the iters of a layout, node by node.
#[derive(Clone, Debug)]
pub(crate) struct Shard<'a>(pub(crate) &'a [Iter]);

impl<'a> Shard<'a> {
    /// The next node as a layout.
    pub(crate) fn node<'n>(&mut self, tokens: &'n [u8]) -> Result<LayoutRef<'n>>
    where
        'a: 'n,
    {
        let leaves = crate::profile::leaves(tokens);
        let bad = Error::BadProfile {
            iters: u16::from(position(self.0.len())),
            leaves: u16::from(position(leaves)),
        };
        let (own, rest) = self.0.split_at_checked(leaves).ok_or(bad)?;
        self.0 = rest;
        Ok(LayoutRef { profile: Profile::from_tokens(tokens), ..LayoutRef::new(own) })
    }
}

//! Trees in parentheses, as CuTe and TileAS write them. A counter, no stack.

use super::cursor::{Cursor, Parsed};
use super::{Expected, PrintError};
use crate::cute::tuple::IntTuple;
use crate::num::SymNames;
use crate::profile::{CLOSE, OPEN};
use core::fmt::Write;

/// Where a tree's tokens go.
pub(super) trait TreeSink {
    /// Reads one leaf and stores it.
    fn leaf(&mut self, c: &mut Cursor<'_>) -> Parsed<()>;
    /// Stores [`OPEN`] or [`CLOSE`].
    fn token(&mut self, token: u8) -> Result<(), crate::Error>;
}

/// Reads one tree.
pub(super) fn read(c: &mut Cursor<'_>, sink: &mut impl TreeSink) -> Parsed<()> {
    let mut depth = 0usize;
    let mut opened = false;
    loop {
        // A node begins here, or an empty tuple ends.
        let at = c.mark();
        let mut done = true;
        if c.eat(b'(') {
            let stored = sink.token(OPEN);
            c.fits(at, stored)?;
            depth = depth.saturating_add(1);
            (opened, done) = (true, false);
        } else if opened && c.eat(b')') {
            let stored = sink.token(CLOSE);
            c.fits(at, stored)?;
            depth = depth.saturating_sub(1);
            opened = false;
        } else {
            sink.leaf(c)?;
            opened = false;
        }
        // After a node: close tuples, or go on with a sibling.
        while done && depth > 0 {
            let at = c.mark();
            if c.eat(b',') {
                done = false;
            } else if c.eat(b')') {
                let stored = sink.token(CLOSE);
                c.fits(at, stored)?;
                depth = depth.saturating_sub(1);
            } else {
                return Err(c.error(Expected::CommaOrClose));
            }
        }
        if done {
            return Ok(());
        }
        if !opened && c.peek() == Some(b')') {
            return Err(c.error(Expected::NumberOrOpen));
        }
    }
}

/// Numbers of one kind.
struct Numbers<'s, S> {
    out: IntTuple,
    syms: &'s mut S,
    /// Whether leaves must be positive extents; else they may be negative, or `_`.
    extents: bool,
}

impl<S: SymNames> TreeSink for Numbers<'_, S> {
    fn leaf(&mut self, c: &mut Cursor<'_>) -> Parsed<()> {
        let at = c.mark();
        let stored = if self.extents {
            self.out.push_leaf(c.extent(self.syms, Expected::NumberOrOpen)?)
        } else if c.eat_name("_") {
            self.out.push_keep()
        } else {
            self.out.push_leaf(c.number(self.syms, Expected::NumberOrOpen)?)
        };
        c.fits(at, stored)
    }

    fn token(&mut self, token: u8) -> Result<(), crate::Error> {
        if token == OPEN { self.out.open() } else { self.out.close() }
    }
}

/// A tree of extents.
pub(super) fn shape(c: &mut Cursor<'_>, syms: &mut impl SymNames) -> Parsed<IntTuple> {
    let mut sink = Numbers { out: IntTuple::new(), syms, extents: true };
    read(c, &mut sink)?;
    Ok(sink.out)
}

/// A tree of integers and `_`.
pub(super) fn numbers(c: &mut Cursor<'_>, syms: &mut impl SymNames) -> Parsed<IntTuple> {
    let mut sink = Numbers { out: IntTuple::new(), syms, extents: false };
    read(c, &mut sink)?;
    Ok(sink.out)
}

/// Writes a tree; `leaf` gets the token of each leaf.
pub(super) fn write<W: Write>(
    tokens: &[u8],
    out: &mut W,
    mut leaf: impl FnMut(&mut W, u8) -> Result<(), PrintError>,
) -> Result<(), PrintError> {
    let mut sibling = false;
    for t in tokens {
        if sibling && *t != CLOSE {
            out.write_str(",")?;
        }
        match *t {
            OPEN => out.write_str("(")?,
            CLOSE => out.write_str(")")?,
            token => leaf(out, token)?,
        }
        sibling = *t != OPEN;
    }
    Ok(())
}

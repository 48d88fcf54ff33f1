//! TIRx's `TileLayout.from_iters(...)`, whose grammar is in [`super::tirx`].

use super::Expected;
use super::cursor::{Cursor, Parsed};
use super::tirx::axis_of;
use crate::axis::{AxisId, AxisNames};
use crate::layout::{Iter, Layout, MAX_ITERS};
use crate::num::{Int, SymNames};

/// The arguments, in the order in which they stand where they have no names.
const ARGUMENTS: [&str; 3] = ["shard", "replica", "offset"];
/// Those of an iter.
const OF_ITER: [&str; 3] = ["extent", "stride", "axis"];

type WrittenIters = heapless::Vec<Iter, MAX_ITERS>;

/// What follows `from_iters`, with its parentheses.
#[inline(never)]
pub(super) fn from_iters(
    c: &mut Cursor<'_>,
    axes: &impl AxisNames,
    syms: &mut impl SymNames,
    out: &mut Layout,
) -> Parsed<()> {
    c.need(b'(', Expected::OpenParen)?;
    let (mut shard, mut replica) = (WrittenIters::new(), WrittenIters::new());
    let mut given = [false; ARGUMENTS.len()];
    while !c.eat(b')') {
        match argument(c, &ARGUMENTS, &mut given)? {
            0 => iters(c, axes, syms, &mut shard)?,
            1 => iters(c, axes, syms, &mut replica)?,
            _ => offsets(c, axes, syms, out)?,
        }
        if !c.eat(b',') {
            c.need(b')', Expected::CommaOrClose)?;
            break;
        }
    }
    let at = c.mark();
    for it in shard.iter().rev() {
        let pushed = out.push_shard(*it);
        c.fits(at, pushed)?;
    }
    for it in replica.iter().rev() {
        let pushed = out.push_replica(*it);
        c.fits(at, pushed)?;
    }
    Ok(())
}

/// The number of the argument that follows, by its name, or the first that was not given; it is given
/// then.
fn argument(c: &mut Cursor<'_>, names: &[&str], given: &mut [bool]) -> Parsed<usize> {
    let at = c.mark();
    let named = names.iter().position(|name| c.eat_keyword(name));
    let next = named.or_else(|| given.iter().position(|known| !*known));
    let number = next.ok_or_else(|| c.error(Expected::CloseParen))?;
    match given.get_mut(number) {
        Some(known) if !*known => *known = true,
        _ => return Err(c.error_at(at, Expected::KeyOnce)),
    }
    Ok(number)
}

/// `[Iter(8, 4, "laneid"), ...]`, also between parentheses.
fn iters(
    c: &mut Cursor<'_>,
    axes: &impl AxisNames,
    syms: &mut impl SymNames,
    out: &mut WrittenIters,
) -> Parsed<()> {
    let close = if c.eat(b'(') {
        (b')', Expected::CloseParen)
    } else {
        c.need(b'[', Expected::OpenBracket)?;
        (b']', Expected::CloseBracket)
    };
    while !c.eat(close.0) {
        let at = c.mark();
        let one = iter(c, axes, syms)?;
        if out.push(one).is_err() {
            let limit = crate::error::Limit::Iters;
            let full = crate::error::Error::Capacity { limit, max: MAX_ITERS as u32 };
            return Err(c.error_at(at, Expected::Fits(full)));
        }
        if !c.eat(b',') {
            return c.need(close.0, close.1);
        }
    }
    Ok(())
}

fn iter(c: &mut Cursor<'_>, axes: &impl AxisNames, syms: &mut impl SymNames) -> Parsed<Iter> {
    c.eat_module("T");
    let at = c.mark();
    if !c.eat_name("Iter") {
        return Err(c.error_at(at, Expected::Shard));
    }
    c.need(b'(', Expected::OpenParen)?;
    let (mut extent, mut stride, mut axis) = (Int::ONE, Int::ONE, AxisId::M);
    let mut given = [false; OF_ITER.len()];
    for k in 0..OF_ITER.len() {
        if k > 0 {
            c.need(b',', Expected::Comma)?;
        }
        match argument(c, &OF_ITER, &mut given)? {
            0 => extent = c.extent(syms, Expected::Number)?,
            1 => stride = c.total(syms, Expected::Number)?,
            _ => axis = axis_of(c, axes)?,
        }
    }
    c.need(b')', Expected::CloseParen)?;
    let made = Iter::symbolic(extent, stride, axis);
    c.fits(at, made)
}

/// `{"warpid": 5, ...}` or `None`.
fn offsets(
    c: &mut Cursor<'_>,
    axes: &impl AxisNames,
    syms: &mut impl SymNames,
    out: &mut Layout,
) -> Parsed<()> {
    if c.eat_name("None") {
        return Ok(());
    }
    c.need(b'{', Expected::OpenBrace)?;
    while !c.eat(b'}') {
        let at = c.mark();
        let axis = axis_of(c, axes)?;
        c.need(b':', Expected::Colon)?;
        let value = c.total(syms, Expected::Number)?;
        let added = out.add_offset(value, axis);
        c.fits(at, added)?;
        if !c.eat(b',') {
            return c.need(b'}', Expected::CloseBrace);
        }
    }
    Ok(())
}

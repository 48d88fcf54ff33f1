//! TIRx's `ComposeLayout(...)` and `SwizzleLayout(...)`, whose grammar is in [`super::tirx`].

use super::Expected;
use super::cursor::{Cursor, Parsed};
use super::tirx::tile;
use crate::axis::AxisNames;
use crate::error::{Error, Result};
use crate::layout::Layout;
use crate::num::SymNames;
use crate::tirx::{bare_swizzle, swizzle_in_place};

/// The arguments of a swizzle as written.
#[derive(Clone, Copy)]
struct Arguments {
    /// Where they begin.
    at: usize,
    /// `per_element`, `swizzle_len`, `atom_len`.
    three: [u8; 3],
    /// `swizzle_inner`.
    inner: bool,
}

/// What follows the word `ComposeLayout`.
#[inline(never)]
pub(super) fn composed(
    c: &mut Cursor<'_>,
    axes: &impl AxisNames,
    syms: &mut impl SymNames,
    out: &mut Layout,
) -> Parsed<()> {
    c.need(b'(', Expected::OpenParen)?;
    c.eat_module("T");
    let mut arguments = if c.eat_name("SwizzleLayout") { swizzle(c)? } else { three(c)? };
    c.need(b',', Expected::Comma)?;
    keyword(c, "tile_layout")?;
    let tile_at = c.mark();
    tile(c, axes, syms, out)?;
    if c.eat(b',') {
        arguments.inner = inner(c)?;
    }
    c.need(b')', Expected::CloseParen)?;
    let composed = swizzle_in_place(out, arguments.three, arguments.inner);
    valid(c, arguments.at, tile_at, composed)
}

/// What follows the word `SwizzleLayout`.
#[inline(never)]
pub(super) fn bare(c: &mut Cursor<'_>, out: &mut Layout) -> Parsed<()> {
    let arguments = swizzle(c)?;
    let [per_element, swizzle_len, atom_len] = arguments.three;
    let made = bare_swizzle(per_element, swizzle_len, atom_len, arguments.inner);
    *out = valid(c, arguments.at, arguments.at, made)?;
    Ok(())
}

fn valid<T>(c: &Cursor<'_>, swizzle_at: usize, tile_at: usize, result: Result<T>) -> Parsed<T> {
    if let Err(Error::BadSwizzle { .. }) = result {
        return Err(c.error_at(swizzle_at, Expected::ValidSwizzle));
    }
    c.fits(tile_at, result)
}

fn swizzle(c: &mut Cursor<'_>) -> Parsed<Arguments> {
    c.need(b'(', Expected::OpenParen)?;
    let mut out = three(c)?;
    if c.eat(b',') {
        out.inner = inner(c)?;
    }
    c.need(b')', Expected::CloseParen)?;
    Ok(out)
}

fn three(c: &mut Cursor<'_>) -> Parsed<Arguments> {
    let mut out = Arguments { at: c.mark(), three: [0; 3], inner: true };
    let names = ["per_element", "swizzle_len", "atom_len"];
    for (k, (slot, name)) in out.three.iter_mut().zip(names).enumerate() {
        if k > 0 {
            c.need(b',', Expected::Comma)?;
        }
        keyword(c, name)?;
        let at = c.mark();
        let value = u8::try_from(c.integer()?);
        *slot = value.map_err(|_| c.error_at(at, Expected::ValidSwizzle))?;
    }
    Ok(out)
}

fn inner(c: &mut Cursor<'_>) -> Parsed<bool> {
    keyword(c, "swizzle_inner")?;
    if c.eat_name("True") {
        Ok(true)
    } else if c.eat_name("False") {
        Ok(false)
    } else {
        Err(c.error(Expected::Boolean))
    }
}

/// Takes `word=` if the word is next.
fn keyword(c: &mut Cursor<'_>, word: &str) -> Parsed<()> {
    if c.eat_name(word) {
        c.need(b'=', Expected::Equals)?;
    }
    Ok(())
}

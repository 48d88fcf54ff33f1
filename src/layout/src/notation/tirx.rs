//! TIRx's notation: `S[(8,2,4,2):(4@laneid,1@warpid,1@laneid,1)] + R[2:4@warpid] + 5@warpid`.
//!
//! ```text
//! text   = sum | "TileLayout(" sum ")" | "TileLayout.from_iters(" lists ")" | composed | bare
//! sum    = terms { "+" terms }                    (an S or R at least, each at most once)
//! terms  = term | "(" terms { "+" terms } ")"
//! term   = "S[" spec "]" | "R[" spec "]" | number [ "@" axis ]
//! spec   = extents [ ":" strides ]                (no strides: row-major on axis m)
//! extents = total { "," total } | "(" [ total { "," total } [ "," ] ] ")"
//! total  = number { "+" number }                  (one that is no product is a symbol of its own)
//! strides = stride | "(" [ entry { "," entry } [ "," ] ] ")"
//! entry  = stride | "(" number "," named ")"      (a pair: stride and axis)
//! stride = number [ "@" axis ] | named            (no axis: m; an axis alone: stride 1)
//! named  = axis | "'" axis "'"                    (either kind of quote)
//! composed = "ComposeLayout(" swizzle "," tile [ "," inner ] ")"       tile = sum | "TileLayout(" sum ")"
//! bare   = "SwizzleLayout(" three [ "," inner ] ")"
//! swizzle = three | bare                          three = per_element "," swizzle_len "," atom_len
//! inner  = "True" | "False"
//! lists  = [ "shard=" ] iters [ "," [ "replica=" ] iters [ "," [ "offset=" ] places ] ]
//! iters  = "[" { "Iter(" total "," total "," named ")" } "]"   places = "None" | "{" { named ":" total } "}"
//! ```
//!
//! What TVM prints is taken as well: `T.` before `TileLayout`, `ComposeLayout`, `SwizzleLayout`,
//! `Iter`, `S` and `R`, `Axis.` before an axis, and the width of a number, `T.int64(8)`.
//!
//! The arguments of `composed` and `bare` may be preceded by their names (`per_element=3`,
//! `tile_layout=...`, `swizzle_inner=False`). A bare swizzle acts on one period of elements.
//!
//! The text is row-major, its first iter the slowest; the strided form is fastest first, so parser
//! and printer reverse the iters. As many strides as extents are required. Offsets on one axis are
//! added up, an offset of 0 is dropped. Refused, where TIRx takes the text and drops something: a
//! second `S` or `R`, and strides fewer or more than extents. Refused, where TIRx builds an object
//! that cannot be used: extents below 1, and a swizzle over another axis than `m`.

use super::cursor::{Cursor, Parsed};
use super::{Expected, ParseError, Part, PrintError, tirx_composed, tirx_iters, write};
use crate::axis::{AxisId, AxisNames};
use crate::error::{Error, Limit};
use crate::layout::{Iter, Layout, LayoutRef, MAX_ITERS};
use crate::num::{Int, SymNames};
use crate::post::{PostMap, Swizzle, Unit};
use core::fmt::Write;

type Spec = heapless::Vec<Iter, MAX_ITERS>;

/// The layout that `text` spells; its profile is flat.
///
/// ```
/// use lanebook_layout::{AxisId, Coord, NoSyms, WellKnown, notation::tirx};
///
/// let text = "S[(8,2,4,2):(4@laneid,1@warpid,1@laneid,1)] + 5@warpid";
/// let tile = tirx::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let mut at = Coord::new();
/// tile.view().apply_flat(16 * 3 + 9, &mut at).unwrap();
/// assert_eq!((at.get(AxisId::LANE), at.get(AxisId::WARP), at.get(AxisId::M)), (12, 6, 1));
/// ```
///
/// # Errors
/// [`ParseError`] with line, column and what was needed there.
#[inline(never)]
pub fn parse(
    text: &str,
    axes: &impl AxisNames,
    syms: &mut impl SymNames,
) -> Result<Layout, ParseError> {
    let mut out = Layout::new();
    parse_into(text, axes, syms, &mut out)?;
    Ok(out)
}

/// [`parse`] where the layout will stand, for callers whose stack is short.
///
/// ```
/// # use lanebook_layout::{Layout, NoSyms, WellKnown, notation};
/// // Into a layout that is there already, so that nothing large is returned.
/// let mut layout = Layout::new();
/// notation::tirx::parse_into("S[(8,4):(4@laneid,1@laneid)]", &WellKnown, &mut NoSyms, &mut layout).unwrap();
/// assert_eq!(layout.view().size_value(), Ok(32));
/// ```
///
/// # Errors
/// The same; the layout is then a part of what was meant.
#[inline(never)]
pub fn parse_into(
    text: &str,
    axes: &impl AxisNames,
    syms: &mut impl SymNames,
    out: &mut Layout,
) -> Result<(), ParseError> {
    let mut c = Cursor::new(text);
    *out = Layout::new();
    c.eat_module("T");
    if c.eat_name("ComposeLayout") {
        tirx_composed::composed(&mut c, axes, syms, out)?;
    } else if c.eat_name("SwizzleLayout") {
        tirx_composed::bare(&mut c, out)?;
    } else {
        tile(&mut c, axes, syms, out)?;
    }
    c.end()
}

/// A sum of terms, with or without `TileLayout(...)` around it, appended to an empty layout.
pub(super) fn tile(
    c: &mut Cursor<'_>,
    axes: &impl AxisNames,
    syms: &mut impl SymNames,
    out: &mut Layout,
) -> Parsed<()> {
    c.eat_module("T");
    if !c.eat_name("TileLayout") {
        return sum(c, axes, syms, out);
    }
    if c.eat(b'.') {
        return match c.eat_name("from_iters") {
            true => tirx_iters::from_iters(c, axes, syms, out),
            false => Err(c.error(Expected::Attribute)),
        };
    }
    c.need(b'(', Expected::OpenParen)?;
    sum(c, axes, syms, out)?;
    c.need(b')', Expected::CloseParen)
}

fn sum(
    c: &mut Cursor<'_>,
    axes: &impl AxisNames,
    syms: &mut impl SymNames,
    out: &mut Layout,
) -> Parsed<()> {
    let start = c.mark();
    let (mut sharded, mut replicated) = (false, false);
    let mut open = 0usize;
    loop {
        if c.eat(b'(') {
            open = open.saturating_add(1);
            continue;
        }
        c.eat_module("T");
        let at = c.mark();
        if c.eat_pair(b'S', b'[') {
            if core::mem::replace(&mut sharded, true) {
                return Err(c.error_at(at, Expected::OneShard));
            }
            for it in spec(c, axes, syms)?.iter().rev() {
                let pushed = out.push_shard(*it);
                c.fits(at, pushed)?;
            }
        } else if c.eat_pair(b'R', b'[') {
            if core::mem::replace(&mut replicated, true) {
                return Err(c.error_at(at, Expected::OneReplica));
            }
            for it in spec(c, axes, syms)?.iter().rev() {
                let pushed = out.push_replica(*it);
                c.fits(at, pushed)?;
            }
        } else {
            let (value, axis) = c.strided(axes, syms, false)?;
            let added = out.add_offset(value, axis);
            c.fits(at, added)?;
        }
        while open > 0 && c.eat(b')') {
            open = open.saturating_sub(1);
        }
        if !c.eat(b'+') {
            break;
        }
    }
    if open > 0 {
        return Err(c.error(Expected::CloseParen));
    }
    if !sharded && !replicated {
        return Err(c.error_at(start, Expected::Shard));
    }
    Ok(())
}

/// What stands between the brackets, and the closing one; iters in the order of the text.
fn spec(c: &mut Cursor<'_>, axes: &impl AxisNames, syms: &mut impl SymNames) -> Parsed<Spec> {
    let at = c.mark();
    let full = Expected::Fits(Error::Capacity { limit: Limit::Iters, max: MAX_ITERS as u32 });
    let mut extents: heapless::Vec<Int, MAX_ITERS> = heapless::Vec::new();
    let tuple = c.eat(b'(');
    while !(tuple && c.eat(b')')) {
        let room = c.error(full);
        extents.push(c.extent(syms, Expected::Number)?).map_err(|_| room)?;
        if c.eat(b',') {
            continue;
        }
        if tuple {
            c.need(b')', Expected::CommaOrClose)?;
        }
        break;
    }
    let mut out = Spec::new();
    if c.eat(b':') {
        if !tuple && extents.len() != 1 {
            return Err(c.error_at(at, Expected::OpenParen));
        }
        strides(c, axes, syms, &extents, tuple, &mut out)?;
    } else {
        let mut stride = Int::ONE;
        for extent in extents.iter().rev() {
            let pushed = Iter::symbolic(*extent, stride, AxisId::M);
            let _ = out.push(c.fits(at, pushed)?);
            let next = stride.checked_mul(*extent);
            stride = c.fits(at, next)?;
        }
        out.reverse();
    }
    c.need(b']', Expected::CloseBracket)?;
    Ok(out)
}

fn strides(
    c: &mut Cursor<'_>,
    axes: &impl AxisNames,
    syms: &mut impl SymNames,
    extents: &[Int],
    tuple: bool,
    out: &mut Spec,
) -> Parsed<()> {
    let listed = c.eat(b'(');
    if !listed && (tuple && extents.len() != 1) {
        return Err(c.error(Expected::OpenParen));
    }
    for (k, extent) in extents.iter().enumerate() {
        if k > 0 {
            c.need(b',', Expected::Comma)?;
        }
        let at = c.mark();
        let (stride, axis) = entry(c, axes, syms, listed)?;
        let iter = Iter::symbolic(*extent, stride, axis);
        let _ = out.push(c.fits(at, iter)?);
    }
    if listed {
        if !extents.is_empty() {
            c.eat(b',');
        }
        c.need(b')', Expected::CloseParen)?;
    }
    Ok(())
}

/// One stride: alone, or in a list also a pair of stride and axis.
fn entry(
    c: &mut Cursor<'_>,
    axes: &impl AxisNames,
    syms: &mut impl SymNames,
    listed: bool,
) -> Parsed<(Int, AxisId)> {
    if let Some(axis) = quoted(c, axes)? {
        return Ok((Int::ONE, axis));
    }
    if !listed || !c.eat(b'(') {
        return c.strided(axes, syms, true);
    }
    let stride = c.total(syms, Expected::Number)?;
    // A sum in parentheses, with its axis behind them.
    if c.eat(b')') {
        let axis = if c.eat(b'@') { c.axis(axes)? } else { AxisId::M };
        return Ok((stride, axis));
    }
    c.need(b',', Expected::Comma)?;
    let axis = axis_of(c, axes)?;
    c.need(b')', Expected::CloseParen)?;
    Ok((stride, axis))
}

/// An axis, between quotes or not.
pub(super) fn axis_of(c: &mut Cursor<'_>, axes: &impl AxisNames) -> Parsed<AxisId> {
    match quoted(c, axes)? {
        Some(axis) => Ok(axis),
        None => c.axis(axes),
    }
}

/// An axis between quotes, if a quote is next.
pub(super) fn quoted(c: &mut Cursor<'_>, axes: &impl AxisNames) -> Parsed<Option<AxisId>> {
    for quote in [b'\'', b'"'] {
        if c.eat(quote) {
            let axis = c.axis(axes)?;
            c.need(quote, Expected::CloseQuote)?;
            return Ok(Some(axis));
        }
    }
    Ok(None)
}

/// Writes `l` so that [`parse`] gives it back (a leaf outside a tuple comes back as a flat layout
/// of one iter).
///
/// A swizzle that counts in [`Unit::Element`] over a tile on axis `m` is written as
/// `ComposeLayout(...)`.
///
/// ```
/// use lanebook_layout::{NoSyms, WellKnown, notation::tirx};
///
/// let tile = tirx::parse("S[(8, 4) : (4@laneid, 1)]", &WellKnown, &mut NoSyms).unwrap();
/// let mut text = String::new();
/// tirx::print(&tile.view(), &WellKnown, &NoSyms, &mut text).unwrap();
/// assert_eq!(text, "S[(8,4):(4@laneid,1)]");
/// ```
///
/// # Errors
/// [`PrintError::NotExpressible`] for any other post-map and for a tree that is not flat;
/// [`PrintError::UnnamedAxis`], [`PrintError::UnnamedSymbol`]; [`PrintError::Sink`].
pub fn print(
    l: &LayoutRef<'_>,
    axes: &impl AxisNames,
    syms: &impl SymNames,
    out: &mut impl Write,
) -> Result<(), PrintError> {
    l.check().map_err(PrintError::Invalid)?;
    if !l.profile.is_flat()
        && (l.profile.depth() > 1 || l.profile.tokens().len() > l.shard.len().saturating_add(2))
    {
        return Err(PrintError::NotExpressible(Part::Tree));
    }
    let swizzle = match l.post {
        PostMap::None => return print_sum(l, axes, syms, out),
        PostMap::Swizzle(s) if s.unit == Unit::Element && is_memory(l) => s,
        _ => return Err(PrintError::NotExpressible(Part::PostMap)),
    };
    out.write_str("ComposeLayout(")?;
    let Swizzle { b, m, s, .. } = swizzle;
    for number in [m, b, s.unsigned_abs()] {
        write::integer(out, i64::from(number))?;
        out.write_str(", ")?;
    }
    out.write_str("TileLayout(")?;
    print_sum(l, axes, syms, out)?;
    Ok(out.write_str(if s < 0 { "), swizzle_inner=False)" } else { "))" })?)
}

fn is_memory(l: &LayoutRef<'_>) -> bool {
    let iters = l.shard.iter().chain(l.replica).map(Iter::axis);
    iters.chain(l.offset.iter().map(|o| o.axis())).all(|axis| axis == AxisId::M)
}

fn print_sum(
    l: &LayoutRef<'_>,
    axes: &impl AxisNames,
    syms: &impl SymNames,
    out: &mut impl Write,
) -> Result<(), PrintError> {
    let mut joined = false;
    if !l.shard.is_empty() || l.replica.is_empty() {
        group(out, "S[", l.shard, axes, syms)?;
        joined = true;
    }
    if !l.replica.is_empty() {
        group(out, if joined { " + R[" } else { "R[" }, l.replica, axes, syms)?;
    }
    for o in l.offset {
        out.write_str(" + ")?;
        write::strided(out, o.value(), o.axis(), axes, syms)?;
    }
    Ok(())
}

fn group(
    out: &mut impl Write,
    open: &str,
    iters: &[Iter],
    axes: &impl AxisNames,
    syms: &impl SymNames,
) -> Result<(), PrintError> {
    out.write_str(open)?;
    match iters {
        [] => out.write_str("()")?,
        [one] => {
            write::number(out, one.extent(), syms)?;
            out.write_str(":")?;
            write::strided(out, one.stride(), one.axis(), axes, syms)?;
        }
        many => {
            let mut open = "(";
            for it in many.iter().rev() {
                out.write_str(open)?;
                write::number(out, it.extent(), syms)?;
                open = ",";
            }
            open = "):(";
            for it in many.iter().rev() {
                out.write_str(open)?;
                write::strided(out, it.stride(), it.axis(), axes, syms)?;
                open = ",";
            }
            out.write_str(")")?;
        }
    }
    Ok(out.write_str("]")?)
}

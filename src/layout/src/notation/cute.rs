//! CuTe's notation: `((2,2),4):((1,2),4)`, `S<3,4,3> o 0 o (8,8):(8,1)`.
//!
//! ```text
//! text   = [ "S<" int "," int "," int ">" "o" number "o" ] layout
//! layout = shape ":" stride                       (congruent trees)
//! shape  = number | "(" [ shape { "," shape } ] ")"
//! stride = number [ [ "/" int ] "@" axis ] | "(" [ stride { "," stride } ] ")"
//! axis   = mode { "@" mode } | name               (modes 0..=15, innermost first, at most three)
//! number = [ "-" ] factor { "*" factor }          factor = [ "_" ] digits | symbol | "?" [ "{" [ "i32" | "i64" ] "div=" int "}" ]
//!                                                        | "ceil_div(" product "," product ")"
//! ```
//!
//! A 1-tuple is not a leaf: `(20):(2)` and `20:2` differ and print as they were. The number between
//! the `o` is added before the swizzle, whose unit is [`Unit::Codomain`]. Names after `@` are an
//! extension: CuTe has mode numbers only. Fractions are reduced (`3/6@0` is `1/2@0`, `6/3@0` is
//! `2@0`) and scale a basis only; a denominator of 0 is refused. Each `?` is a symbol of its own
//! ([`SymNames::fresh`]) and prints with a letter, `?a`. Strides have no default and no trailing
//! commas are taken: malformed text is never a layout.

use super::cursor::{Cursor, Parsed};
use super::{Expected, ParseError, Part, PrintError, tree, write};
use crate::axis::{AxisId, AxisNames};
use crate::cute::TileTree;
use crate::cute::tuple::{IntTuple, KEEP, TupleRef, tokens_of};
use crate::layout::{Iter, Layout, LayoutRef};
use crate::num::{Int, SymNames};
use crate::post::{PostMap, Swizzle, Unit};
use crate::profile::{CLOSE, LEAF, OPEN};
use core::fmt::Write;

/// The layout that `text` spells.
///
/// ```
/// use lanebook_layout::{AxisId, NoSyms, WellKnown, notation::cute};
///
/// let tile = cute::parse("S<3,3,3> o 0 o (8,64):(64,1)", &WellKnown, &mut NoSyms).unwrap();
/// // Row 1, column 0: 64, whose chunk of 8 is exchanged with the next.
/// assert_eq!(tile.view().offset_on(1, AxisId::M), Ok(72));
/// assert!(cute::parse("(8,64):(64;1)", &WellKnown, &mut NoSyms).is_err());
/// ```
///
/// # Errors
/// [`ParseError`] with line, column and what was needed there.
pub fn parse(
    text: &str,
    axes: &impl AxisNames,
    syms: &mut impl SymNames,
) -> Result<Layout, ParseError> {
    let mut c = Cursor::cute(text);
    let mut out = Layout::new();
    if c.eat_pair(b'S', b'<') {
        swizzle(&mut c, syms, &mut out)?;
    }
    let start = c.mark();
    let shape = tree::shape(&mut c, syms)?;
    c.need(b':', Expected::Colon)?;
    let mut extents = shape.view().leaves().iter();
    let mut sibling = false;
    for t in shape.view().tokens() {
        if sibling && *t != CLOSE {
            c.need(b',', Expected::Comma)?;
        }
        match *t {
            OPEN => c.need(b'(', Expected::OpenParen)?,
            CLOSE => c.need(b')', Expected::CloseParen)?,
            _ => {
                let at = c.mark();
                let (stride, axis) = c.strided(axes, syms, false)?;
                let extent = *extents.next().ok_or_else(|| c.error_at(at, Expected::End))?;
                let iter = Iter::symbolic(extent, stride, axis);
                let iter = c.fits(at, iter)?;
                let pushed = out.push_leaf(iter);
                c.fits(at, pushed)?;
            }
        }
        if *t != LEAF {
            let pushed = out.push_token(*t);
            c.fits(start, pushed)?;
        }
        sibling = *t != OPEN;
    }
    c.end()?;
    let checked = out.view().check();
    c.fits(start, checked)?;
    Ok(out)
}

/// `S<B,M,S>`, from after its `<`.
fn triple(c: &mut Cursor<'_>) -> Parsed<Swizzle> {
    let start = c.mark();
    let b = c.integer()?;
    c.need(b',', Expected::Comma)?;
    let m = c.integer()?;
    c.need(b',', Expected::Comma)?;
    let s = c.integer()?;
    c.need(b'>', Expected::CloseAngle)?;
    let invalid = c.error_at(start, Expected::ValidSwizzle);
    let (Ok(b), Ok(m), Ok(s)) = (u8::try_from(b), u8::try_from(m), i8::try_from(s)) else {
        return Err(invalid);
    };
    Swizzle::new(b, m, s, Unit::Codomain).map_err(|_| invalid)
}

/// The swizzle that `S<B,M,S>` spells, in codomain units.
///
/// ```
/// use lanebook_layout::notation::cute;
///
/// let swizzle = cute::parse_swizzle("S<3,4,3>").unwrap();
/// assert_eq!((swizzle.b, swizzle.m, swizzle.s), (3, 4, 3));
/// ```
///
/// # Errors
/// [`ParseError`] with line, column and what was needed there.
pub fn parse_swizzle(text: &str) -> Result<Swizzle, ParseError> {
    let mut c = Cursor::cute(text);
    if !c.eat_pair(b'S', b'<') {
        return Err(c.error(Expected::Swizzle));
    }
    let out = triple(&mut c)?;
    c.end()?;
    Ok(out)
}

/// Writes a swizzle, whatever its unit, as `S<B,M,S>`.
///
/// ```
/// # use lanebook_layout::{Swizzle, Unit, notation};
/// let mut text = String::new();
/// notation::cute::print_swizzle(Swizzle::new(3, 4, 3, Unit::Codomain).unwrap(), &mut text).unwrap();
/// assert_eq!(text, "S<3,4,3>");
/// ```
///
/// # Errors
/// [`PrintError::Sink`].
pub fn print_swizzle(s: Swizzle, out: &mut impl Write) -> Result<(), PrintError> {
    out.write_str("S<")?;
    write::integer(out, i64::from(s.b))?;
    out.write_str(",")?;
    write::integer(out, i64::from(s.m))?;
    out.write_str(",")?;
    write::integer(out, i64::from(s.s))?;
    Ok(out.write_str(">")?)
}

fn swizzle(c: &mut Cursor<'_>, syms: &mut impl SymNames, out: &mut Layout) -> Parsed<()> {
    let post = triple(c)?;
    c.need(b'o', Expected::Compose)?;
    let at = c.mark();
    let offset = c.number(syms, Expected::Number)?;
    c.need(b'o', Expected::Compose)?;
    let set = out.set_post(PostMap::Swizzle(post)).and_then(|()| out.add_offset(offset, AxisId::M));
    c.fits(at, set)
}

/// Writes `l` so that [`parse`] gives it back.
///
/// A flat profile is written as a tuple of leaves.
///
/// ```
/// use lanebook_layout::{NoSyms, WellKnown, notation::cute};
///
/// let tile = cute::parse("((2, 2), 4) : ((1, 2), 4)", &WellKnown, &mut NoSyms).unwrap();
/// let mut text = String::new();
/// cute::print(&tile.view(), &WellKnown, &NoSyms, &mut text).unwrap();
/// assert_eq!(text, "((2,2),4):((1,2),4)");
/// ```
///
/// # Errors
/// [`PrintError::NotExpressible`] for replicas, offsets outside a swizzle or off axis `m`, padding,
/// and swizzles that do not count in [`Unit::Codomain`]; [`PrintError::UnnamedAxis`],
/// [`PrintError::UnnamedSymbol`]; [`PrintError::Sink`].
pub fn print(
    l: &LayoutRef<'_>,
    axes: &impl AxisNames,
    syms: &impl SymNames,
    out: &mut impl Write,
) -> Result<(), PrintError> {
    l.check().map_err(PrintError::Invalid)?;
    if !l.replica.is_empty() {
        return Err(PrintError::NotExpressible(Part::Replica));
    }
    let offset = match l.offset {
        [] => Int::ZERO,
        [one] if one.axis() == AxisId::M => one.value(),
        _ => return Err(PrintError::NotExpressible(Part::Offset)),
    };
    match l.post {
        PostMap::None if offset != Int::ZERO => {
            return Err(PrintError::NotExpressible(Part::Offset));
        }
        PostMap::None => {}
        PostMap::Swizzle(s) if s.unit == Unit::Codomain => {
            print_swizzle(s, out)?;
            out.write_str(" o ")?;
            write::number(out, offset, syms)?;
            out.write_str(" o ")?;
        }
        _ => return Err(PrintError::NotExpressible(Part::PostMap)),
    }
    let tokens = tokens_of(l).map_err(PrintError::Invalid)?;
    let mut iters = l.shard.iter();
    tree::write(&tokens, out, |out, _| match iters.next() {
        Some(it) => write::number(out, it.extent(), syms),
        None => Ok(()),
    })?;
    out.write_str(":")?;
    let mut iters = l.shard.iter();
    tree::write(&tokens, out, |out, _| match iters.next() {
        Some(it) => write::strided(out, it.stride(), it.axis(), axes, syms),
        None => Ok(()),
    })
}

/// Writes a tree of tiles, `(4:1,(2:2,8:1))`.
///
/// ```
/// # use lanebook_layout::cute::TileTree;
/// # use lanebook_layout::{NoSyms, WellKnown, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let mut tree = TileTree::new();
/// tree.open().unwrap();
/// tree.push(&of("4:1").view()).unwrap();
/// tree.push(&of("8:2").view()).unwrap();
/// tree.close().unwrap();
/// let mut text = String::new();
/// notation::cute::print_tiles(&tree, &WellKnown, &NoSyms, &mut text).unwrap();
/// // Two tiles in a tuple.
/// assert_eq!((text.as_str(), tree.guide().len()), ("(4:1,8:2)", 4));
/// ```
///
/// # Errors
/// As [`print`].
pub fn print_tiles(
    tree: &TileTree,
    axes: &impl AxisNames,
    syms: &impl SymNames,
    out: &mut impl Write,
) -> Result<(), PrintError> {
    let mut number = 0usize;
    tree::write(tree.guide(), out, |out, _| {
        let tile = tree.tile(number);
        number = number.saturating_add(1);
        tile.map_or(Ok(()), |tile| print(&tile, axes, syms, out))
    })
}

/// A tree of numbers: a shape, a profile, an order, or a coordinate, in which `_` leaves a mode
/// open.
///
/// ```
/// use lanebook_layout::{NoSyms, notation::cute};
///
/// let shape = cute::parse_tuple("(4,(2,_8))", &mut NoSyms).unwrap();
/// assert_eq!(shape.view().product().unwrap().value(), Ok(64));
/// ```
///
/// # Errors
/// [`ParseError`] with line, column and what was needed there.
pub fn parse_tuple(text: &str, syms: &mut impl SymNames) -> Result<IntTuple, ParseError> {
    let mut c = Cursor::cute(text);
    let out = tree::numbers(&mut c, syms)?;
    c.end()?;
    Ok(out)
}

/// Writes a tree of numbers so that [`parse_tuple`] gives it back.
///
/// ```
/// # use lanebook_layout::{NoSyms, notation};
/// let tree = notation::cute::parse_tuple("( 8, (2 ,_))", &mut NoSyms).unwrap();
/// let mut text = String::new();
/// notation::cute::print_tuple(tree.view(), &NoSyms, &mut text).unwrap();
/// assert_eq!(text, "(8,(2,_))");
/// ```
///
/// # Errors
/// [`PrintError::UnnamedSymbol`]; [`PrintError::Sink`].
pub fn print_tuple(
    t: TupleRef<'_>,
    syms: &impl SymNames,
    out: &mut impl Write,
) -> Result<(), PrintError> {
    let mut numbers = t.leaves().iter();
    tree::write(t.tokens(), out, |out, token| {
        if token == KEEP {
            return Ok(out.write_str("_")?);
        }
        match numbers.next() {
            Some(x) => write::number(out, *x, syms),
            None => Ok(()),
        }
    })
}

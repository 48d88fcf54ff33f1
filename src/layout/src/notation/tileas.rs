//! The TileAS layout descriptor: `<(128,64),(64,1),swizzle<3,4,3>,elem=nvfp4>`.
//!
//! ```text
//! text    = "<" tree "," tree [ "," "swizzle" "<" uint "," uint "," uint ">" ] [ "," "elem" "=" name ] ">"
//! tree    = uint | "(" tree { "," tree } ")"
//! ```
//!
//! The first tree is the shape, the second the strides in elements; both must have the same
//! structure. The triple is kept as written, (B, M, S) counting **bytes**. What is odd about a
//! well-formed descriptor (aliasing, units, row width, a triple that no hardware has) is a
//! [`Finding`], not a parse error. Element names come from a registry; an unknown one is refused
//! before anything else is looked at.
//!
//! ```
//! use lanebook_layout::notation::tileas::{self, ElementId, ElementNames, Finding, MAX_FINDINGS, Mode, TileAsDescriptor, Triple};
//!
//! // A registry of elements: names with bits. Modes are those of the hardware at hand.
//! let elements: &[(&str, u16)] = &[("f16", 16), ("f8", 8)];
//! assert_eq!(elements.element("f8"), Some(ElementId(1)));
//! assert_eq!((elements.name(ElementId(0)), elements.bits(ElementId(0))), (Some("f16"), Some(16)));
//! let tile: TileAsDescriptor = tileas::parse("<(128,64),(64,1),swizzle<3,4,3>,elem=f16>", elements).unwrap();
//! assert_eq!(tile.swizzle, Some(Triple { b: 3, m: 4, s: 3 }));
//! // The map on bytes: element (1, 0) lies 128 bytes on, and the swizzle moves it by 16.
//! let bytes = tile.on_bytes(16).unwrap();
//! assert_eq!(bytes.view().size_value(), Ok(128 * 64 * 2));
//! // Odd, but no error of the text: the triple counts bytes, the strides elements.
//! let modes = [Mode { triple: Triple { b: 3, m: 4, s: 3 }, row_bytes: 128 }];
//! let odd = tile.findings(elements, None, &modes);
//! assert!(odd.len() <= MAX_FINDINGS && odd.iter().any(|f| matches!(f, Finding::MixedUnits { .. })));
//! let mut text = String::new();
//! tileas::print(&tile, elements, &mut text).unwrap();
//! assert_eq!(text, "<(128,64),(64,1),swizzle<3,4,3>,elem=f16>");
//! ```

use super::cursor::{Cursor, Parsed};
use super::{Expected, ParseError, Part, PrintError, tree, write};
use crate::axis::AxisId;
use crate::cute::tuple::{IntTuple, tokens_of};
use crate::error::{Error, Result as Answer};
use crate::layout::{Iter, Layout, LayoutRef};
use crate::num::{Int, NoSyms};
use crate::ops::coalesced;
use crate::post::{PostMap, Swizzle, Unit};
use crate::profile::{CLOSE, OPEN};
use core::fmt::Write;

/// An element type: a number in the registry that named it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ElementId(pub u16);

/// A registry of element types.
pub trait ElementNames {
    /// The element called `name`.
    fn element(&self, name: &str) -> Option<ElementId>;
    /// Its name.
    fn name(&self, id: ElementId) -> Option<&str>;
    /// The width of one element in bits, without scales.
    fn bits(&self, id: ElementId) -> Option<u16>;
}

/// Names with widths in bits; the number of an element is its place.
impl ElementNames for [(&str, u16)] {
    fn element(&self, name: &str) -> Option<ElementId> {
        let at = self.iter().position(|e| e.0 == name)?;
        u16::try_from(at).ok().map(ElementId)
    }

    fn name(&self, id: ElementId) -> Option<&str> {
        self.get(usize::from(id.0)).map(|e| e.0)
    }

    fn bits(&self, id: ElementId) -> Option<u16> {
        self.get(usize::from(id.0)).map(|e| e.1)
    }
}

/// A swizzle as a descriptor writes it; any three numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Triple {
    /// Bits that are XORed.
    pub b: u8,
    /// Low bits left alone.
    pub m: u8,
    /// Distance of source from target.
    pub s: u8,
}

/// A parsed descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TileAsDescriptor {
    /// Shape and strides, in elements, on axis `m`; no post-map.
    pub layout: Layout,
    /// The swizzle clause.
    pub swizzle: Option<Triple>,
    /// The element clause; without it the type is that of the value that carries the descriptor.
    pub element: Option<ElementId>,
}

/// A swizzle mode that hardware has, from the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Mode {
    /// The triple, on byte offsets.
    pub triple: Triple,
    /// The bytes of one row of its atom; 0 for any.
    pub row_bytes: u32,
}

/// What is odd about a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Finding {
    /// Two coordinates have the same position.
    Aliasing,
    /// Whether coordinates alias was not found out in a fixed number of steps.
    AliasingUndecided,
    /// The triple counts bytes, the strides elements of another width: on elements it is this one.
    MixedUnits {
        /// The triple that does on element positions what the written one does on bytes; `None`:
        /// there is none.
        elements: Option<Triple>,
    },
    /// The triple is none that hardware has on bytes, but the same on element positions is this
    /// mode: wrong unit.
    WrongUnit {
        /// The mode's triple, on bytes.
        bytes: Triple,
    },
    /// No hardware mode has this triple.
    OutsideSet,
    /// The fields of the triple overlap, so that it is not its own inverse.
    Overlap,
    /// A row does not have the width of the mode's atom.
    RowWidth {
        /// Bytes of one row: the contiguous run in the mode that has stride 1.
        row_bytes: u32,
        /// Bytes of a row of the mode's atom.
        mode_bytes: u32,
    },
    /// There is a swizzle, and neither the descriptor nor the caller says how wide an element is.
    UnknownElement,
}

/// How many findings there can be at once.
pub const MAX_FINDINGS: usize = 8;

/// The descriptor that `text` spells.
///
/// # Errors
/// [`ParseError`] with line, column and what was needed there.
pub fn parse(
    text: &str,
    elements: &(impl ElementNames + ?Sized),
) -> Result<TileAsDescriptor, ParseError> {
    let mut c = Cursor::new(text);
    c.need(b'<', Expected::OpenAngle)?;
    let shape_at = c.mark();
    let shape = tree::shape(&mut c, &mut NoSyms)?;
    c.need(b',', Expected::Comma)?;
    let strides_at = c.mark();
    let strides = tree::numbers(&mut c, &mut NoSyms)?;
    let mut swizzle = None;
    let mut element = None;
    while element.is_none() && c.eat(b',') {
        let at = c.mark();
        match c.name() {
            Some("swizzle") if swizzle.is_none() => swizzle = Some(triple(&mut c)?),
            Some("elem") => {
                c.need(b'=', Expected::Clause)?;
                let at = c.mark();
                let id = c.name().and_then(|name| elements.element(name));
                element = Some(id.ok_or_else(|| c.error_at(at, Expected::KnownElement))?);
            }
            _ => return Err(c.error_at(at, Expected::Clause)),
        }
    }
    c.need(b'>', Expected::Clause)?;
    c.end()?;
    if strides.view().tokens() != shape.view().tokens() {
        return Err(c.error_at(strides_at, Expected::Congruent));
    }
    if strides.view().leaves().iter().any(|d| d.coeff() < 0) {
        return Err(c.error_at(strides_at, Expected::Number));
    }
    let layout = joined(&shape, &strides);
    Ok(TileAsDescriptor { layout: c.fits(shape_at, layout)?, swizzle, element })
}

fn triple(c: &mut Cursor<'_>) -> Parsed<Triple> {
    c.need(b'<', Expected::OpenAngle)?;
    let b = small(c)?;
    c.need(b',', Expected::Comma)?;
    let m = small(c)?;
    c.need(b',', Expected::Comma)?;
    let s = small(c)?;
    c.need(b'>', Expected::CloseAngle)?;
    Ok(Triple { b, m, s })
}

fn small(c: &mut Cursor<'_>) -> Parsed<u8> {
    let at = c.mark();
    if c.peek() == Some(b'-') {
        return Err(c.error_at(at, Expected::Integer));
    }
    let value = c.integer()?;
    u8::try_from(value).map_err(|_| c.error_at(at, Expected::SmallerNumber))
}

/// Shape and strides of the same structure as a layout.
fn joined(shape: &IntTuple, strides: &IntTuple) -> Answer<Layout> {
    let mut out = Layout::new();
    let mut leaves = shape.view().leaves().iter().zip(strides.view().leaves());
    for t in shape.view().tokens() {
        match *t {
            OPEN => out.open()?,
            CLOSE => out.close()?,
            _ => {
                let (extent, stride) = leaves.next().ok_or(Error::NotCongruent { node: 0 })?;
                out.push_leaf(Iter::symbolic(*extent, *stride, AxisId::M)?)?;
            }
        }
    }
    out.view().check()?;
    Ok(out)
}

/// Writes a descriptor so that [`parse`] with the same registry gives it back.
///
/// # Errors
/// [`PrintError::NotExpressible`] for symbols, negative strides, other axes than `m`, replicas,
/// offsets and a post-map; [`PrintError::Invalid`] for an element that the registry does not have;
/// [`PrintError::Sink`].
pub fn print(
    d: &TileAsDescriptor,
    elements: &(impl ElementNames + ?Sized),
    out: &mut impl Write,
) -> Result<(), PrintError> {
    let l = d.layout.view();
    l.check().map_err(PrintError::Invalid)?;
    if !l.replica.is_empty() {
        return Err(PrintError::NotExpressible(Part::Replica));
    }
    if !l.offset.is_empty() {
        return Err(PrintError::NotExpressible(Part::Offset));
    }
    if l.post != PostMap::None {
        return Err(PrintError::NotExpressible(Part::PostMap));
    }
    let plain = |it: &Iter| {
        it.axis() == AxisId::M
            && it.extent_value().is_ok()
            && it.stride_value().is_ok_and(|d| d >= 0)
    };
    if !l.shard.iter().all(plain) {
        return Err(PrintError::NotExpressible(Part::Tree));
    }
    let tokens = tokens_of(&l).map_err(PrintError::Invalid)?;
    let numbers = |out: &mut _, number: fn(&Iter) -> Int| {
        let mut iters = l.shard.iter();
        tree::write(&tokens, out, |out, _| match iters.next() {
            Some(it) => write::number(out, number(it), &NoSyms),
            None => Ok(()),
        })
    };
    out.write_str("<")?;
    numbers(out, Iter::extent)?;
    out.write_str(",")?;
    numbers(out, Iter::stride)?;
    if let Some(t) = d.swizzle {
        out.write_str(",swizzle<")?;
        write::integer(out, i64::from(t.b))?;
        out.write_str(",")?;
        write::integer(out, i64::from(t.m))?;
        out.write_str(",")?;
        write::integer(out, i64::from(t.s))?;
        out.write_str(">")?;
    }
    if let Some(id) = d.element {
        out.write_str(",elem=")?;
        let missing = PrintError::Invalid(Error::Capacity {
            limit: crate::error::Limit::Symbols,
            max: u32::from(id.0),
        });
        out.write_str(elements.name(id).ok_or(missing)?)?;
    }
    Ok(out.write_str(">")?)
}

impl TileAsDescriptor {
    /// The layout on byte positions, with the swizzle: what the hardware sees.
    ///
    /// # Errors
    /// [`Error::BadSwizzle`] for fields that overlap; those of [`crate::cute::recast()`].
    pub fn on_bytes(&self, element_bits: u16) -> Answer<Layout> {
        let mut out = crate::cute::recast(&self.layout.view(), 8, element_bits)?;
        if let Some(t) = self.swizzle {
            let s = i8::try_from(t.s).map_err(|_| Error::Overflow)?;
            out.set_post(PostMap::Swizzle(Swizzle::new(t.b, t.m, s, Unit::Byte)?))?;
        }
        Ok(out)
    }

    /// What is odd about the descriptor. `inherited_bits` is the element width where there is no
    /// element clause, `modes` the hardware's closed set.
    #[must_use]
    pub fn findings(
        &self,
        elements: &(impl ElementNames + ?Sized),
        inherited_bits: Option<u16>,
        modes: &[Mode],
    ) -> heapless::Vec<Finding, MAX_FINDINGS> {
        let mut out = heapless::Vec::new();
        let mut add = |finding| {
            let _ = out.push(finding);
        };
        let l = self.layout.view();
        match l.is_injective() {
            Ok(true) => {}
            Ok(false) => add(Finding::Aliasing),
            Err(_) => add(Finding::AliasingUndecided),
        }
        let Some(triple) = self.swizzle else {
            return out;
        };
        if triple.s < triple.b {
            add(Finding::Overlap);
        }
        let bits = match self.element {
            Some(id) => elements.bits(id),
            None => inherited_bits,
        };
        let mode = modes.iter().find(|m| m.triple == triple);
        let Some(bits) = bits.filter(|b| *b > 0) else {
            add(Finding::UnknownElement);
            if mode.is_none() {
                add(Finding::OutsideSet);
            }
            return out;
        };
        if bits != 8 && triple.b > 0 {
            add(Finding::MixedUnits { elements: shifted(triple, 8, bits) });
        }
        let Some(mode) = mode else {
            let bytes = shifted(triple, bits, 8).filter(|t| modes.iter().any(|m| m.triple == *t));
            add(bytes.map_or(Finding::OutsideSet, |bytes| Finding::WrongUnit { bytes }));
            return out;
        };
        if let Some(row_bytes) = row_bytes(&l, bits)
            && mode.row_bytes != 0
            && row_bytes != mode.row_bytes
        {
            let mode_bytes = mode.row_bytes;
            add(Finding::RowWidth { row_bytes, mode_bytes });
        }
        out
    }
}

/// The triple that does on positions of `to` bits what `t` does on those of `from` bits.
fn shifted(t: Triple, from: u16, to: u16) -> Option<Triple> {
    if !from.is_power_of_two() || !to.is_power_of_two() {
        return None;
    }
    let by = i32::try_from(from.trailing_zeros())
        .ok()?
        .checked_sub(i32::try_from(to.trailing_zeros()).ok()?)?;
    let m = i32::from(t.m).checked_add(by)?;
    Some(Triple { m: u8::try_from(m).ok()?, ..t })
}

/// The bytes of the contiguous run in the mode that has stride 1, if there is one.
fn row_bytes(l: &LayoutRef<'_>, bits: u16) -> Option<u32> {
    for (mode, _) in l.modes() {
        let run = coalesced(mode).ok()?;
        for it in &run {
            if it.stride_value() == Ok(1) {
                let bits = u64::from(it.extent_value().ok()?).checked_mul(u64::from(bits))?;
                return u32::try_from(bits.checked_div(8)?).ok();
            }
        }
    }
    None
}

//! Tiles of operands in shared memory, and the descriptor that describes a given one.
//!
//! Coordinates are (outer, depth), row-major: (m, k) of A, (n, k) of B. Layouts count elements.
//!
//! ```
//! use lanebook::TABLES;
//! use lanebook::layout::PostMap;
//! use lanebook::tables::Major;
//! use lanebook::unit::operand::{DescribedTile, MAX_FIELDS, describe, layout, of, takes, tiles};
//!
//! let arch = TABLES.arch(TABLES.arch_named("sm_90a").unwrap()).unwrap();
//! // The canonical tile of an operand that is contiguous along the depth, swizzled over 128 bytes.
//! let tile = of(&TABLES, arch, Major::Depth, "128B").unwrap();
//! assert!(tiles(&TABLES, arch).any(|one| one.name == tile.name) && takes(tile, "wgmma.shared", 16));
//! assert!(tile.fields.len() <= MAX_FIELDS);
//! // As a layout, with a kilobyte from one group of eight rows to the next; and back to the descriptor's fields.
//! let made = layout(tile, (64, 64), 16, &[("stride_byte_offset", 1024)]).unwrap();
//! assert!(matches!(made.view().post, PostMap::Swizzle(_)));
//! let found: DescribedTile = describe(&TABLES, arch, "wgmma.shared", &made.view(), (64, 64), 16, Some(Major::Depth)).unwrap();
//! assert_eq!(found.value("stride_byte_offset"), Some(1024));
//! let word = found.word(&TABLES, arch, "wgmma.shared", 0x400).unwrap();
//! assert_eq!(word.get("start_address"), Ok(0x400));
//! ```

use crate::unit::descriptor::DescriptorWord;
use crate::unit::tile::{self, ParamValues};
use crate::unit::{UnitError, descriptor_named, has, swizzle};
use lanebook_layout::{Layout, LayoutRef, PostMap};
use lanebook_tables::{Arch, FieldRole, Major, OperandTile, Tables};

/// Most fields of a descriptor that a tile fills.
pub const MAX_FIELDS: usize = 4;

/// A layout in shared memory as a descriptor describes it.
#[derive(Copy, Clone, Debug)]
pub struct DescribedTile<'a> {
    /// The tile that it is.
    pub tile: &'a OperandTile<'a>,
    /// Values of the tile's fields in bytes, in their order.
    pub bytes: [u32; MAX_FIELDS],
    /// Which of the fields the layout does not depend on.
    pub free: [bool; MAX_FIELDS],
}

impl<'a> DescribedTile<'a> {
    /// The value of a field in bytes, if the tile fills it.
    #[must_use]
    pub fn value(&self, field: &str) -> Option<u32> {
        let at = self.tile.fields.iter().position(|f| f.field == field)?;
        self.bytes.get(at).copied()
    }

    /// The descriptor's word for a tile at `address` in shared memory: start, mode, offsets, and
    /// where in the swizzle's pattern the tile starts.
    ///
    /// # Errors
    /// [`UnitError::Absent`] if the architecture has no such descriptor; [`UnitError::Step`] or
    /// [`UnitError::Range`] for an address or offset that its field does not hold; [`UnitError::Unaligned`]
    /// if the start is inside the pattern and the descriptor cannot say so.
    pub fn word(
        &self,
        tables: &Tables<'a>,
        arch: &Arch<'_>,
        descriptor: &str,
        address: u64,
    ) -> Result<DescriptorWord<'a>, UnitError> {
        let table = descriptor_named(tables, arch, descriptor)?;
        let mut word = DescriptorWord::new(table);
        for (number, field) in (0u8..).zip(table.fields) {
            match field.role {
                FieldRole::Plain
                | FieldRole::Rows
                | FieldRole::Columns
                | FieldRole::Type(_)
                | FieldRole::Major(_)
                | FieldRole::Scale(_) => {}
                FieldRole::Start => word.set_at(number, address)?,
                FieldRole::Swizzle => word.set_word(field.name, self.tile.swizzle.name)?,
                FieldRole::Pattern(unit) => word.set_at(
                    number,
                    pattern(address, self.tile.swizzle.repeat_bytes, unit, field.bits)?,
                )?,
            }
        }
        for (field, bytes) in self.tile.fields.iter().zip(self.bytes) {
            word.set(field.field, u64::from(bytes))?;
        }
        Ok(word)
    }
}

/// The start of a tile in units of the pattern, 0 at the pattern's start.
fn pattern(address: u64, repeat: u16, unit: u16, bits: u8) -> Result<u64, UnitError> {
    let unaligned = UnitError::Unaligned { address, needed: u32::from(repeat) };
    if address.checked_rem(u64::from(repeat)) == Some(0) {
        return Ok(0);
    }
    let steps = address.checked_div(u64::from(unit)).ok_or(unaligned)?;
    let most = 1u64.checked_shl(bits.into()).ok_or(unaligned)?;
    steps.checked_rem(most).ok_or(unaligned)
}

/// The architecture's tiles, in the order of the tables.
pub fn tiles<'a, 't>(
    tables: &Tables<'a>,
    arch: &'t Arch<'_>,
) -> impl Iterator<Item = &'a OperandTile<'a>> + use<'a, 't> {
    tables.units.operand_tiles.iter().filter(|tile| has(arch, tile.feature))
}

/// The tile of a major order and swizzle mode.
///
/// # Errors
/// [`UnitError::Absent`].
pub fn of<'a>(
    tables: &Tables<'a>,
    arch: &Arch<'_>,
    major: Major,
    mode: &str,
) -> Result<&'a OperandTile<'a>, UnitError> {
    tiles(tables, arch)
        .find(|tile| tile.major == major && tile.swizzle.name == mode)
        .ok_or(UnitError::Absent)
}

/// Whether a unit takes elements of so many bits in this form.
#[must_use]
pub fn takes(tile: &OperandTile<'_>, descriptor: &str, element_bits: u16) -> bool {
    let widths = tile.takes.iter().filter(|(name, _)| *name == descriptor);
    widths.flat_map(|(_, widths)| widths.iter()).any(|w| u16::from(*w) == element_bits)
}

fn with_unit(tile: &OperandTile<'_>, element_bits: u16) -> Result<ParamValues, UnitError> {
    let width = UnitError::Width { bits: element_bits };
    let mut values = ParamValues::default();
    let per = tile
        .unit
        .1
        .checked_div(element_bits)
        .filter(|per| per.checked_mul(element_bits) == Some(tile.unit.1))
        .ok_or(width)?;
    if !values.set(tile.unit.0, u64::from(per)) {
        return Err(width);
    }
    Ok(values)
}

/// The layout of a tile over `shape` = (outer, depth), in elements, with its swizzle. `offsets` are
/// the fields' values in bytes, by the name of the field; those that the shape does not need may be
/// left out.
///
/// # Errors
/// [`UnitError::Width`] for elements that do not divide the unit; [`UnitError::NoField`] for an offset that
/// the tile does not have; [`UnitError::NoValue`] for one that is missing; [`UnitError::Extent`] for a
/// shape that the tile does not have; [`UnitError::Step`] for an offset of no whole number of elements.
pub fn layout(
    tile: &OperandTile<'_>,
    shape: (u32, u32),
    element_bits: u16,
    offsets: &[(&str, u32)],
) -> Result<Layout, UnitError> {
    let mut values = with_unit(tile, element_bits)?;
    for (name, bytes) in offsets {
        let number = tile.fields.iter().position(|f| f.field == *name).ok_or(UnitError::NoField)?;
        let field = tile.fields.get(number).ok_or(UnitError::NoField)?;
        let value = u64::from(*bytes);
        let step = UnitError::Step {
            field: u8::try_from(number).unwrap_or(u8::MAX),
            value,
            scale: u32::from(element_bits.div_ceil(8)),
        };
        let bits = value.checked_mul(8).ok_or(step)?;
        if field.param == 0 {
            continue; // the layout does not depend on it
        }
        let elements = bits
            .checked_div(u64::from(element_bits))
            .filter(|e| e.checked_mul(u64::from(element_bits)) == Some(bits))
            .ok_or(step)?;
        if !values.set(field.param, elements) {
            return Err(step);
        }
    }
    let mut out = tile::make(&tile.layout, &[shape.0, shape.1], &mut values)?;
    out.set_post(swizzle::post_map(tile.swizzle, element_bits)?)?;
    Ok(out)
}

/// How a descriptor of the architecture describes `layout` over `shape` = (outer, depth), which
/// counts elements of so many bits. `major` restricts the order, where the instruction fixes it.
///
/// A depth that is a part of a swizzled row is fine: one instruction reads a part.
///
/// # Errors
/// [`UnitError::Absent`] if the architecture has no such descriptor; [`UnitError::NoMode`] if no mode that
/// it encodes permutes like the layout; [`UnitError::Width`] if no order that it takes has such
/// elements; else why the tile that went furthest is not the layout.
pub fn describe<'a>(
    tables: &Tables<'a>,
    arch: &Arch<'_>,
    descriptor: &str,
    layout: &LayoutRef<'_>,
    shape: (u32, u32),
    element_bits: u16,
    major: Option<Major>,
) -> Result<DescribedTile<'a>, UnitError> {
    descriptor_named(tables, arch, descriptor)?;
    let named = |tile: &&OperandTile<'_>| {
        tile.takes.iter().any(|(name, _)| *name == descriptor)
            && major.is_none_or(|m| m == tile.major)
    };
    let mut permuted = false;
    let mut best: Option<(u8, UnitError)> = None;
    for tile in tiles(tables, arch).filter(named) {
        if !same_swizzle(tile, &layout.post, element_bits) {
            continue;
        }
        permuted = true;
        let find = |values: &mut ParamValues| {
            tile::find(&tile.layout, &[shape.0, shape.1], layout, values)
        };
        let fault = match found(tile, descriptor, find, element_bits) {
            Ok(described) => return Ok(described),
            Err(fault) => fault,
        };
        let far = match fault {
            UnitError::Stride { iter, .. } => iter.saturating_add(2),
            UnitError::Width { .. } => 0,
            _ => 1,
        };
        if best.is_none_or(|(before, _)| far > before) {
            best = Some((far, fault));
        }
    }
    if let Some((_, fault)) = best.filter(|_| permuted) {
        return Err(fault);
    }
    Err(match layout.post.swizzle() {
        Some(s) => UnitError::NoMode { b: s.b, m: s.m, s: s.s },
        None => UnitError::NoMode { b: 0, m: 0, s: 0 },
    })
}

/// The same for a layout that is known bit by bit: `step(outer, bit)` is what a bit of the outer
/// coordinate, or of the depth, adds in elements, before `post`. It needs little stack.
///
/// # Errors
/// Those of [`describe`]: [`UnitError::NoMode`] if no tile permutes like `post`, else why the last one
/// that does is not the layout.
#[doc(hidden)]
pub fn describe_steps<'a>(
    tables: &Tables<'a>,
    arch: &Arch<'_>,
    descriptor: &str,
    post: &PostMap,
    (shape, element_bits): ((u32, u32), u16),
    major: Option<Major>,
    step: impl Fn(bool, u8) -> Option<u64>,
) -> Result<DescribedTile<'a>, UnitError> {
    let named = |tile: &&OperandTile<'_>| {
        tile.takes.iter().any(|(name, _)| *name == descriptor)
            && major.is_none_or(|m| m == tile.major)
    };
    let mut fault = UnitError::NoMode { b: 0, m: 0, s: 0 };
    for tile in
        tiles(tables, arch).filter(named).filter(|tile| same_swizzle(tile, post, element_bits))
    {
        let find = |values: &mut ParamValues| {
            tile::bind(&tile.layout, &[shape.0, shape.1], |dim, bit| step(dim == 0, bit), values)
        };
        match found(tile, descriptor, find, element_bits) {
            Ok(described) => return Ok(described),
            Err(why) => fault = why,
        }
    }
    Err(fault)
}

fn same_swizzle(tile: &OperandTile<'_>, post: &PostMap, element_bits: u16) -> bool {
    if post.padding().is_some_and(|p| p.pads().iter().any(|pad| pad.pad != 0)) {
        return false;
    }
    let key = |s: lanebook_layout::Swizzle| if s.b == 0 { (0, 0, 0) } else { (s.b, s.m, s.s) };
    let wanted = swizzle::post_map(tile.swizzle, element_bits)
        .ok()
        .map(|post| post.swizzle().map_or((0, 0, 0), key));
    let given = match post.swizzle() {
        Some(s) if s.unit == lanebook_layout::Unit::Byte => {
            // The tile's own XOR counts bytes.
            let own = tile.swizzle.xor.first().map_or((0, 0, 0), |x| key(*x));
            return key(s) == own && tile.swizzle.xor.len() <= 1;
        }
        Some(s) => key(s),
        None => (0, 0, 0),
    };
    wanted == Some(given)
}

fn found<'a>(
    tile: &'a OperandTile<'a>,
    descriptor: &str,
    find: impl FnOnce(&mut ParamValues) -> Result<(), UnitError>,
    element_bits: u16,
) -> Result<DescribedTile<'a>, UnitError> {
    if !takes(tile, descriptor, element_bits) {
        return Err(UnitError::Width { bits: element_bits });
    }
    let mut values = with_unit(tile, element_bits)?;
    find(&mut values)?;
    let (mut bytes, mut free) = ([0u32; MAX_FIELDS], [false; MAX_FIELDS]);
    for ((slot, free), field) in bytes.iter_mut().zip(&mut free).zip(tile.fields) {
        *slot = match values.get(field.param) {
            None => {
                *free = true;
                field.unused
            }
            Some(elements) => {
                let wrong = UnitError::Stride {
                    iter: field.param,
                    found: i64::try_from(elements).unwrap_or(i64::MAX),
                    needed: 0,
                };
                let bits = elements
                    .checked_mul(u64::from(element_bits))
                    .filter(|bits| bits.checked_rem(8) == Some(0))
                    .ok_or(wrong)?;
                u32::try_from(bits.checked_div(8).ok_or(wrong)?).map_err(|_| wrong)?
            }
        };
    }
    Ok(DescribedTile { tile, bytes, free })
}

//! Tiles of matrix units in shared memory, their descriptors, swizzle modes and tensor maps.

use crate::algebra::unquoted;
use crate::answer::QueryAnswer;
use crate::error::{KindOfValue, Why};
use crate::instruction;
use crate::literal::{element_bits, on_elements};
use crate::show::AnswerWritten;
use crate::value::{Asked, ElementOrder, Placed, QueryStorage, QueryValue};
use crate::write::Out;
use core::fmt::Write;
use lanebook_layout::notation::cute;
use lanebook_layout::{Int, Layout, PostMap, Unit};
use lanebook_tables::{Amount, Arch, Descriptor, FieldRole, Major, OperandTile, SwizzleMode};
use lanebook_tile::unit::operand::{self, DescribedTile};
use lanebook_tile::unit::{UnitError, descriptor::DescriptorWord, has, map, swizzle};

/// The word that an argument is.
pub(crate) fn word<'q>(args: &[QueryValue], number: usize, text: &'q str) -> Result<&'q str, Why> {
    match args.get(number) {
        Some(QueryValue::Word(span)) => Ok(unquoted(*span, text)),
        Some(other) => Err(Why::Kind { wanted: KindOfValue::Word, found: other.kind() }),
        None => Err(Why::NeedsBits),
    }
}

/// `NAME, (ROWS, COLUMNS), TYPE` as `NAME, ROWS, COLUMNS, BITS`.
#[inline(never)]
pub(crate) fn spread(
    asked: Asked<'_>,
    storage: &mut QueryStorage,
    base: usize,
    text: &str,
) -> Result<(), Why> {
    let args = storage.values.get(base..).ok_or(Why::TooDeep)?;
    let shape = args.get(1).ok_or(Why::TooDeep)?.tuple()?;
    let [rows, columns] = *shape.view().leaves() else {
        return Err(Why::Coordinate { rank: 2 });
    };
    let bits = element_bits(asked.tables, word(args, 2, text)?)?;
    for (place, number) in [(1usize, rows), (2, columns), (3, Int::known(i64::from(bits)))] {
        storage.set(base.saturating_add(place), QueryValue::Number(number))?;
    }
    Ok(())
}

/// A mode by its name, `128B`, or by its bytes, `128`.
fn mode<'t>(
    asked: Asked<'t>,
    arch: &Arch<'_>,
    value: Option<&QueryValue>,
    text: &str,
) -> Result<&'t SwizzleMode<'t>, Why> {
    match value {
        Some(QueryValue::Word(span)) => {
            swizzle::named(asked.tables, arch, unquoted(*span, text)).map_err(|_| Why::BadWord)
        }
        Some(QueryValue::Number(bytes)) => {
            let bytes = bytes.value()?;
            // Of those with as long a row, the one that exchanges the smallest pieces.
            swizzle::modes(asked.tables, arch)
                .filter(|mode| i64::from(mode.span_bytes) == bytes)
                .min_by_key(|mode| mode.atom_bytes)
                .ok_or(Why::BadWord)
        }
        Some(other) => Err(Why::Kind { wanted: KindOfValue::Word, found: other.kind() }),
        None => Err(Why::BadWord),
    }
}

/// `operand_tile((OUTER, DEPTH), ORDER, MODE, TYPE)`.
#[inline(never)]
pub(crate) fn operand_tile(
    asked: Asked<'_>,
    args: &mut [QueryValue],
    text: &str,
) -> Result<(), Why> {
    let arch = instruction::arch(asked)?;
    let shape = args.first().ok_or(Why::BadWord)?.tuple()?;
    let mut extents = [0u32; 2];
    if shape.view().leaves().len() != 2 {
        return Err(Why::Coordinate { rank: 2 });
    }
    for (slot, leaf) in extents.iter_mut().zip(shape.view().leaves()) {
        *slot = u32::try_from(leaf.value()?).map_err(|_| lanebook_layout::Error::Overflow)?;
    }
    let major = match word(args, 1, text)? {
        "k_major" | "depth" | "k" => Major::Depth,
        "mn_major" | "outer" | "MN" | "mn" => Major::Outer,
        _ => return Err(Why::BadWord),
    };
    let mode = mode(asked, arch, args.get(2), text)?;
    let bits = element_bits(asked.tables, word(args, 3, text)?)?;
    let tile = operand::of(asked.tables, arch, major, mode.name)?;
    let layout = dense(tile, (extents[0], extents[1]), bits)?;
    let elements =
        ElementOrder { row_major: true, bits, ..ElementOrder::default() }.shaped(&extents);
    *args.first_mut().ok_or(Why::TooDeep)? = QueryValue::Layout(Placed { layout, elements });
    Ok(())
}

/// A tile whose offsets leave nothing out: each step, from the fastest, is what the faster ones fill.
#[inline(never)]
fn dense(tile: &OperandTile<'_>, shape: (u32, u32), bits: u16) -> Result<Layout, Why> {
    let width = Why::Unit(UnitError::Width { bits });
    let unit = tile.unit.1.checked_div(bits).filter(|unit| *unit > 0).ok_or(width)?;
    let amount = |amount: Amount| -> Option<u64> {
        let factor = u64::from(amount.factor);
        match amount.param {
            0 => Some(factor),
            param if param == tile.unit.0 => factor.checked_mul(u64::from(unit)),
            _ => None,
        }
    };
    // What the steps with a known length fill.
    let mut filled = 1u64;
    for it in tile.layout.iters {
        if let (Some(extent), Some(stride)) = (amount(it.extent), amount(it.stride)) {
            filled = filled.max(extent.saturating_mul(stride));
        }
    }
    let mut offsets: heapless::Vec<(&str, u32), { operand::MAX_FIELDS }> = heapless::Vec::new();
    let mut dims = tile.layout.iters.len();
    for (count, extent) in tile.layout.dims.iter().rev().zip([shape.1, shape.0]) {
        let first = dims.saturating_sub(usize::from(*count));
        let own = tile.layout.iters.get(first..dims).unwrap_or(&[]);
        dims = first;
        let known = own.iter().filter_map(|it| amount(it.extent)).fold(1u64, u64::saturating_mul);
        let free = u64::from(extent).div_ceil(known.max(1));
        for it in own.iter().filter(|it| amount(it.stride).is_none()) {
            let field = tile.fields.iter().find(|field| field.param == it.stride.param);
            let bytes = filled.saturating_mul(u64::from(bits)).checked_div(8);
            let bytes = bytes.and_then(|bytes| u32::try_from(bytes).ok());
            if let (Some(field), Some(bytes)) = (field, bytes) {
                offsets.push((field.field, bytes)).map_err(|_| Why::TooDeep)?;
            }
            filled = filled.saturating_mul(free);
        }
    }
    let made = operand::layout(tile, shape, bits, &offsets)?;
    // The printer's unit: positions.
    let mut out = made;
    if let Some(swizzle) = out.view().post.swizzle() {
        out.set_post(PostMap::Swizzle(lanebook_layout::Swizzle {
            unit: Unit::Codomain,
            ..swizzle
        }))?;
    }
    Ok(out)
}

/// A tile with its two extents and the bits of an element.
fn tile_of<'v>(
    asked: Asked<'_>,
    args: &'v [QueryValue],
    kind: usize,
    text: &str,
) -> Result<(&'v Placed, (u32, u32), u16), Why> {
    let placed = args.first().ok_or(Why::BadWord)?.placed()?;
    let mut room = [0u32; 32];
    let [rows, columns] = *placed.extents(&mut room) else {
        return Err(Why::Coordinate { rank: 2 });
    };
    let bits = match args.get(kind) {
        Some(_) => element_bits(asked.tables, word(args, kind, text)?)?,
        None if placed.elements.bits > 0 => placed.elements.bits,
        None => return Err(Why::NeedsBits),
    };
    Ok((placed, (rows, columns), bits))
}

/// The descriptor of shared memory that a word means: its own name, or what it begins with.
fn descriptor<'t>(asked: Asked<'t>, name: &str) -> Result<&'t Descriptor<'t>, Why> {
    let arch = instruction::arch(asked)?;
    let own = asked.tables.units.descriptors.iter().filter(|d| has(arch, d.feature));
    let mut named = own.filter(|d| {
        let rest = d.name.strip_prefix(name);
        let is_tile = || d.fields.iter().any(|field| field.role == FieldRole::Start);
        rest.is_some_and(|rest| rest.is_empty() || (rest.starts_with('.') && is_tile()))
    });
    named.next().ok_or(Why::Unit(UnitError::Absent))
}

/// A described tile and its word.
#[inline(never)]
fn described<'t>(
    answer: &QueryAnswer<'t>,
) -> Result<(DescribedTile<'t>, DescriptorWord<'t>, &'t Descriptor<'t>), Why> {
    let (asked, args) = (answer.asked, answer.arguments());
    let arch = instruction::arch(asked)?;
    let table = descriptor(asked, word(args, 1, answer.text)?)?;
    let (placed, shape, bits) = tile_of(asked, args, 2, answer.text)?;
    let found = operand::describe(
        asked.tables,
        arch,
        table.name,
        &placed.layout.view(),
        shape,
        bits,
        None,
    )?;
    let word = found.word(asked.tables, arch, table.name, 0)?;
    Ok((found, word, table))
}

/// What `swizzle(MODE, TYPE)` asks about.
fn mode_asked<'t>(answer: &QueryAnswer<'t>) -> Result<(&'t SwizzleMode<'t>, u16), Why> {
    let arch = instruction::arch(answer.asked)?;
    let mode = mode(answer.asked, arch, answer.arguments().first(), answer.text)?;
    let bits = element_bits(answer.asked.tables, word(answer.arguments(), 1, answer.text)?)?;
    Ok((mode, bits))
}

/// The box of `tensor_map`, with the name of the map's element type.
#[inline(never)]
fn boxed<'t>(answer: &QueryAnswer<'t>) -> Result<(map::DerivedBox<'t>, &'t str), Why> {
    let (asked, args) = (answer.asked, answer.arguments());
    let arch = instruction::arch(asked)?;
    let (placed, shape, bits) = tile_of(asked, args, 1, answer.text)?;
    let named = word(args, 1, answer.text).unwrap_or_default();
    // A type that maps do not name is copied as bits of its width.
    let maps = asked.tables.units.tensor_maps.iter().filter(|map| has(arch, map.feature));
    let wide = maps.flat_map(|map| map.elements).find(|e| u16::from(e.bits) == bits);
    let element = match map::of_element(asked.tables, arch, named) {
        Ok((_, element)) => element.name,
        Err(_) => wide.ok_or(Why::Unit(UnitError::Width { bits }))?.name,
    };
    let found =
        map::derive(asked.tables, arch, element, &placed.layout.view(), &[shape.0, shape.1])?;
    Ok((found, element))
}

impl QueryAnswer<'_> {
    #[inline(never)]
    pub(crate) fn descriptor_text<W: Write>(&self, out: &mut Out<'_, W>) -> AnswerWritten {
        let (found, word, table) = described(self)?;
        out.texts(&[table.name, ": ", found.tile.name, ", mode ", found.tile.swizzle.name])?;
        out.texts(&[" (", found.tile.status.words(), ")\n"])?;
        for ((field, bytes), free) in found.tile.fields.iter().zip(found.bytes).zip(found.free) {
            out.texts(&[field.field, " "])?;
            out.unsigned(u64::from(bytes))?;
            out.text(if free {
                " bytes, any: the tile does not depend on it\n"
            } else {
                " bytes\n"
            })?;
        }
        for field in table.fields {
            out.texts(&["  ", field.name, " "])?;
            match word.word(field.name)? {
                Some(name) => out.text(name)?,
                None => out.unsigned(word.get(field.name)?)?,
            }
            out.text("\n")?;
        }
        out.text("word ")?;
        out.hex(word.pack()?)?;
        Ok(out.text("\n")?)
    }

    #[inline(never)]
    pub(crate) fn descriptor_json<W: Write>(&self, out: &mut Out<'_, W>) -> AnswerWritten {
        let (found, word, table) = described(self)?;
        out.key_text(true, "kind", "descriptor")?;
        out.key_text(false, "descriptor", table.name)?;
        out.key_text(false, "tile", found.tile.name)?;
        out.key_text(false, "mode", found.tile.swizzle.name)?;
        for ((field, bytes), free) in found.tile.fields.iter().zip(found.bytes).zip(found.free) {
            out.key(false, field.field)?;
            out.text("{")?;
            out.key_number(true, "bytes", i64::from(bytes))?;
            out.key_truth(false, "used", !free)?;
            out.text("}")?;
        }
        out.key(false, "word")?;
        out.text("\"")?;
        out.hex(word.pack()?)?;
        Ok(out.text("\"")?)
    }

    pub(crate) fn mode_text<W: Write>(&self, out: &mut Out<'_, W>) -> AnswerWritten {
        let (mode, bits) = mode_asked(self)?;
        out.texts(&["mode ", mode.name, " (", mode.status.words(), "): "])?;
        if mode.xor.is_empty() {
            out.text("bytes stay")?;
        }
        for (k, one) in mode.xor.iter().enumerate() {
            out.text(if k > 0 { " and " } else { "" })?;
            swizzle_written(*one, out)?;
        }
        out.text(" on bytes\n")?;
        for one in mode.xor {
            swizzle_written(on_elements(*one, bits)?, out)?;
            out.text(" o LAYOUT of elements of ")?;
            out.unsigned(u64::from(bits))?;
            out.text(" bits\n")?;
        }
        for (what, bytes) in [
            ("a row is at most ", mode.span_bytes),
            ("what stays together is ", mode.atom_bytes),
            ("the pattern repeats, and the tile is aligned, each ", mode.repeat_bytes),
        ] {
            if bytes > 0 {
                out.text(what)?;
                out.unsigned(u64::from(bytes))?;
                out.text(" bytes = ")?;
                out.unsigned(elements(bytes, bits))?;
                out.text(" elements\n")?;
            }
        }
        for (encoding, code) in mode.codes {
            out.texts(&["  ", encoding, " "])?;
            out.unsigned(u64::from(*code))?;
            out.text("\n")?;
        }
        Ok(())
    }

    pub(crate) fn mode_json<W: Write>(&self, out: &mut Out<'_, W>) -> AnswerWritten {
        let (mode, bits) = mode_asked(self)?;
        out.key_text(true, "kind", "swizzle_mode")?;
        out.key_text(false, "mode", mode.name)?;
        if let [only] = mode.xor {
            for (key, swizzle) in [("bytes", *only), ("elements", on_elements(*only, bits)?)] {
                out.key(false, key)?;
                out.text("\"")?;
                swizzle_written(swizzle, out)?;
                out.text("\"")?;
            }
        }
        for (key, bytes) in [
            ("row_elements", mode.span_bytes),
            ("atom_elements", mode.atom_bytes),
            ("repeat_elements", mode.repeat_bytes),
        ] {
            out.key_number(false, key, i64::try_from(elements(bytes, bits)).unwrap_or(0))?;
        }
        out.key(false, "codes")?;
        out.text("{")?;
        for (k, (encoding, code)) in mode.codes.iter().enumerate() {
            out.key_number(k == 0, encoding, i64::from(*code))?;
        }
        Ok(out.text("}")?)
    }

    #[inline(never)]
    pub(crate) fn map_text<W: Write>(&self, out: &mut Out<'_, W>) -> AnswerWritten {
        let (found, element) = boxed(self)?;
        out.texts(&["element ", element, ", mode ", found.swizzle.name, "\n"])?;
        let used = usize::from(found.rank);
        let dims = found.extents.iter().zip(found.boxes).zip(found.steps).zip(found.order);
        for (k, (((extent, boxes), step), order)) in dims.take(used).enumerate() {
            out.text("dimension ")?;
            out.unsigned(k as u64)?;
            out.text(" (coordinate ")?;
            out.unsigned(u64::from(order))?;
            out.text("): ")?;
            out.unsigned(u64::from(*extent))?;
            out.text(" elements")?;
            if boxes > 1 {
                out.text(", ")?;
                out.unsigned(u64::from(boxes))?;
                out.text(" boxes, each ")?;
                out.number(step)?;
                out.text(" elements further")?;
            }
            out.text("\n")?;
        }
        Ok(())
    }

    #[inline(never)]
    pub(crate) fn map_json<W: Write>(&self, out: &mut Out<'_, W>) -> AnswerWritten {
        let (found, element) = boxed(self)?;
        let used = usize::from(found.rank);
        out.key_text(true, "kind", "tensor_map")?;
        out.key_text(false, "element", element)?;
        out.key_text(false, "mode", found.swizzle.name)?;
        let numbers = |list: &[u32; map::MAX_RANK]| list.map(i64::from);
        for (key, list) in [
            ("coordinates", found.order.map(i64::from)),
            ("box", numbers(&found.extents)),
            ("boxes", numbers(&found.boxes)),
            ("steps", found.steps),
        ] {
            crate::show::list_json(key, list.into_iter().take(used), out)?;
        }
        Ok(())
    }
}

/// Elements in so many bytes.
fn elements(bytes: u16, bits: u16) -> u64 {
    u64::from(bytes).saturating_mul(8).checked_div(u64::from(bits)).unwrap_or(0)
}

pub(crate) fn swizzle_written<W: Write>(
    swizzle: lanebook_layout::Swizzle,
    out: &mut Out<'_, W>,
) -> AnswerWritten {
    Ok(cute::print_swizzle(swizzle, out.sink()).map_err(|_| core::fmt::Error)?)
}

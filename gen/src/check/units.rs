//! Facts about matrix units: fields share no bit and hold their values, numbers of an encoding are
//! unambiguous, tiles put every element in a place of its own, and what refers to a descriptor's
//! field finds it.
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::HwModel;
use crate::model::units::{Descriptor, TENSOR_AXES, Tile, Units};
use crate::schema::unit::{Codes, Factor};
use crate::spanned::Spanned;
use lanebook_layout::{AxisId, Swizzle, Unit};
use lanebook_tables::{Amount, FeatureId, FieldRole, Role};
use std::collections::{BTreeMap, BTreeSet};

/// See the module.
#[must_use]
pub fn check(model: &HwModel) -> Diagnostics {
    let mut diags = Diagnostics::new();
    let units = &model.units;
    for descriptor in &units.descriptors {
        bits(descriptor, &mut diags);
    }
    swizzles(units, &mut diags);
    operand_tiles(units, &mut diags);
    tensor_tiles(units, &mut diags);
    tensor_moves(units, &mut diags);
    shapes(units, &mut diags);
    order_limits(model, &mut diags);
    map_limits(units, &mut diags);
    maps(units, &mut diags);
    operands(model, &mut diags);
    diags.extend(super::tiled::check(model));
    accumulators(model, &mut diags);
    diags
}

/// Operands in shared memory name a descriptor that there is, of the width of their registers, and
/// an immediate that chooses.
fn operands(model: &HwModel, diags: &mut Diagnostics) {
    for atom in model.every() {
        for shared in atom.more.iter().flat_map(|more| &more.shared) {
            let name = &shared.descriptor;
            let Some(found) =
                model.units.descriptors.iter().find(|d| d.fact.entry.name.value == name.value)
            else {
                let known = model.units.descriptors.iter().map(|d| d.fact.entry.name.as_str());
                let help = lanebook_suggest::remedy(name, known, "declare it under `units`");
                diags.push(
                    Diagnostic::at(name.span, format!("unknown descriptor `{}`", name.value))
                        .help(help)
                        .lacks(name),
                );
                continue;
            };
            let Some(operand) = atom.operands.get(usize::from(shared.operand)) else { continue };
            let width = u32::from(operand.registers) * u32::from(operand.register_bits);
            if width != u32::from(found.bits) {
                let message = format!(
                    "operand `{}` has {width} bits, descriptor `{}` has {}",
                    operand.name.value, name.value, found.bits
                );
                diags.push(
                    Diagnostic::at(name.span, message)
                        .note(operand.name.span, "the operand")
                        .help("correct the class, `registers` or the descriptor"),
                );
            }
            let along = shared.along.and_then(|k| atom.operands.get(usize::from(k)));
            if let Some(along) = along.filter(|o| {
                o.role != Role::Immediate || o.range.as_ref().is_none_or(|r| r.value != (0, 1))
            }) {
                let message = format!(
                    "`{}` chooses between two orders and is no immediate of 0 or 1",
                    along.name.value
                );
                diags.push(
                    Diagnostic::at(along.name.span, message)
                        .help("make its role `immediate` and its range `(0, 1)`"),
                );
            }
        }
    }
}

/// Accumulators in tensor memory name a tile of accumulators with the shape's rows and a descriptor
/// of the width of their operand.
fn accumulators(model: &HwModel, diags: &mut Diagnostics) {
    for atom in model.every() {
        let (Some(tensor), Some(shape)) =
            (atom.more.as_ref().and_then(|more| more.tensor.as_ref()), &atom.matrix)
        else {
            continue;
        };
        let name = &tensor.descriptor;
        match model.units.descriptors.iter().find(|d| d.fact.entry.name.value == name.value) {
            None => {
                let known = model.units.descriptors.iter().map(|d| d.fact.entry.name.as_str());
                let help = lanebook_suggest::remedy(name, known, "declare it under `units`");
                diags.push(
                    Diagnostic::at(name.span, format!("unknown descriptor `{}`", name.value))
                        .help(help)
                        .lacks(name),
                );
            }
            Some(found) => {
                let width = atom
                    .operands
                    .get(usize::from(tensor.word))
                    .map(|o| u32::from(o.registers) * u32::from(o.register_bits));
                if width != Some(u32::from(found.bits)) {
                    let message = format!(
                        "descriptor `{}` has {} bits, its operand has not",
                        name.value, found.bits
                    );
                    diags.push(
                        Diagnostic::at(name.span, message)
                            .help("correct the operand's class or the descriptor"),
                    );
                }
            }
        }
        let name = &tensor.tile;
        let Some((_, tile)) =
            model.units.tensor_tiles.iter().find(|(fact, _)| fact.entry.name.value == name.value)
        else {
            let known = model.units.tensor_tiles.iter().map(|(fact, _)| fact.entry.name.as_str());
            let help = lanebook_suggest::remedy(name, known, "declare it under `units`");
            diags.push(
                Diagnostic::at(name.span, format!("unknown tensor tile `{}`", name.value))
                    .help(help)
                    .lacks(name),
            );
            continue;
        };
        let known = model
            .units
            .descriptors
            .iter()
            .any(|d| d.fact.entry.name.value == tensor.descriptor.value);
        let shown = !known
            || model.units.shapes.iter().any(|s| {
                s.entry.descriptor.value == tensor.descriptor.value
                    && s.entry.m.iter().any(|(m, t)| *m == shape.m && t.value == name.value)
            });
        if !shown {
            let message = format!(
                "no shape of descriptor `{}` has {} rows in tile `{}`",
                tensor.descriptor.value, shape.m, name.value
            );
            diags.push(
                Diagnostic::at(name.span, message)
                    .note(tile.span, "the tile")
                    .help("correct `tile`, `m` or the shapes"),
            );
        }
    }
}

fn bits(descriptor: &Descriptor, diags: &mut Diagnostics) {
    let word = u32::from(descriptor.bits);
    for (at, field) in descriptor.fields.iter().enumerate() {
        let name = &field.name;
        let mut say = |what: String, help: &str| {
            diags.push(
                Diagnostic::at(name.span, what)
                    .note(descriptor.fact.entry.name.span, "of this one")
                    .help(help),
            )
        };
        let end = u32::from(field.at) + u32::from(field.bits);
        if end > word {
            say(
                format!("field `{}` ends at bit {}, the word has {word}", name.value, end - 1),
                "correct `at`, `bits` or the word's width",
            );
        }
        let most = ((1u64 << field.bits) - 1) * u64::from(field.scale);
        if field.scale == 0 {
            say(
                format!("field `{}` has a unit of nothing", name.value),
                "leave `scale` out, or state what one unit stands for",
            );
            continue;
        }
        let (low, high) = field.range;
        if low > high || u64::from(high) > most || low % field.scale != 0 || high % field.scale != 0
        {
            let message = format!(
                "field `{}` holds {low} to {high}, its bits multiples of {} up to {most}",
                name.value, field.scale
            );
            say(message, "correct `range`, `constant`, `values` or the field's width");
        }
        let mut numbers: BTreeMap<u16, &str> = BTreeMap::new();
        for (word, number) in &field.values {
            if let Some(other) = numbers.insert(*number, word) {
                say(
                    format!("`{other}` and `{word}` are both {number} in field `{}`", name.value),
                    "each value has its own number",
                );
            }
        }
        if let Some(other) = descriptor.fields[..at]
            .iter()
            .find(|f| u32::from(f.at) + u32::from(f.bits) > u32::from(field.at))
        {
            say(
                format!(
                    "fields `{}` and `{}` share bit {}",
                    other.name.value, name.value, field.at
                ),
                "correct `at` or `bits`",
            );
        }
    }
}

fn swizzles(units: &Units, diags: &mut Diagnostics) {
    // Encodings that come in two numbers (mode and atomicity) are unambiguous together.
    let mut seen: BTreeMap<(FeatureId, &str, u16), &str> = BTreeMap::new();
    for mode in &units.swizzles {
        let entry = &mode.entry;
        for xor in &entry.xor {
            let (b, m, s) = xor.value;
            if b == 0
                || Swizzle::new(b, m, s, Unit::Byte).is_err()
                || u32::from(b) + u32::from(m) + u32::from(s.unsigned_abs()) > 15
            {
                let message = format!("({b}, {m}, {s}) is no exchange of address bits below 15");
                diags.push(
                    Diagnostic::at(xor.span, message).help(
                        "bits, lowest target bit, distance up to the source: distance >= bits",
                    ),
                );
            }
        }
        if !entry.atom_bytes.is_power_of_two()
            || entry.xor.iter().any(|x| {
                1u32.checked_shl(x.1.into()).is_none_or(|low| low < u32::from(entry.atom_bytes))
            })
        {
            let message =
                format!("the mode moves less than its atoms of {} bytes", entry.atom_bytes);
            diags.push(
                Diagnostic::at(entry.name.span, message)
                    .help("the lowest target bit is that of the atom"),
            );
        }
        for (encoding, number) in entry.codes.iter().filter(|(encoding, _)| !encoding.contains('.'))
        {
            let first = seen.insert((FeatureId(0), encoding, *number), &entry.name.value);
            if let Some(other) = first {
                let message = format!(
                    "`{other}` and `{}` are both {number} in encoding `{encoding}`",
                    entry.name.value
                );
                diags.push(
                    Diagnostic::at(entry.codes.span, message).help("each mode has its own number"),
                );
            }
        }
    }
}

/// The names of the descriptors' fields.
fn has_field(units: &Units, descriptor: &str, field: &str) -> Option<bool> {
    units
        .descriptors
        .iter()
        .find(|d| d.fact.entry.name.value == descriptor)
        .map(|d| d.fields.iter().any(|f| f.name.value == field))
}

fn operand_tiles(units: &Units, diags: &mut Diagnostics) {
    for (fact, tile, mode) in &units.operand_tiles {
        let entry = &fact.entry;
        injective(tile, &[AxisId::M], true, diags);
        for (descriptor, widths) in &entry.takes {
            if widths.iter().any(|w| *w == 0 || entry.unit.1 % u16::from(*w) != 0) {
                let message = format!(
                    "a width of `{descriptor}` does not divide the unit of {} bits",
                    entry.unit.1
                );
                diags.push(
                    Diagnostic::at(entry.name.span, message).help("correct `takes` or `unit`"),
                );
            }
            for field in &entry.fields {
                if has_field(units, descriptor, &field.field) == Some(false) {
                    let message =
                        format!("descriptor `{descriptor}` has no field `{}`", field.field);
                    diags.push(
                        Diagnostic::at(entry.name.span, message)
                            .help("correct `fields` or `takes`"),
                    );
                }
            }
        }
        let known: Vec<&str> =
            units.descriptors.iter().map(|d| d.fact.entry.name.as_str()).collect();
        for unknown in entry.takes.keys().filter(|d| !known.contains(&d.as_str())) {
            let help = lanebook_suggest::remedy(unknown, known.iter().copied(), "declare it");
            diags.push(
                Diagnostic::at(entry.name.span, format!("unknown descriptor `{unknown}`"))
                    .help(help)
                    .lacks(unknown),
            );
        }
        if tile.param(&entry.unit.0) == 0 {
            diags.push(
                Diagnostic::at(
                    tile.span,
                    format!("the layout does not mention its unit `{}`", entry.unit.0),
                )
                .help("write it, or correct `unit`"),
            );
        }
        let span = units.swizzles.get(*mode).map_or(0, |m| m.entry.span_bytes);
        if span != 0 && u32::from(span) * 8 % u32::from(entry.unit.1) != 0 {
            diags.push(
                Diagnostic::at(entry.name.span, format!("rows of {span} bytes are no whole units"))
                    .help("use another mode"),
            );
        }
    }
}

fn tensor_tiles(units: &Units, diags: &mut Diagnostics) {
    for (_, tile) in &units.tensor_tiles {
        injective(tile, &TENSOR_AXES, false, diags);
    }
}

fn tensor_moves(units: &Units, diags: &mut Diagnostics) {
    for (fact, cells, tuple) in &units.tensor_moves {
        injective(cells, &[AxisId::TLANE, AxisId::TCOL], true, diags);
        injective(tuple, &[AxisId::LANE, AxisId::BIT], false, diags);
        let extents = |tile: &Tile| {
            tile.iters
                .iter()
                .map(|it| {
                    (
                        it.extent.factor,
                        tile.params.get(usize::from(it.extent.param).wrapping_sub(1)).cloned(),
                    )
                })
                .collect::<Vec<_>>()
        };
        if extents(cells) != extents(tuple) {
            let message = format!(
                "cells and registers of `{}` have different extents",
                fact.entry.name.value
            );
            diags.push(
                Diagnostic::at(tuple.span, message)
                    .note(cells.span, "the cells")
                    .help("both are over the same coordinates, iter by iter"),
            );
        }
        if !fact.entry.counts.is_sorted_by(|a, b| a < b) || fact.entry.counts.is_empty() {
            diags.push(
                Diagnostic::at(fact.entry.name.span, "`counts` do not ascend")
                    .help("write what `n` can be, the least first"),
            );
        }
    }
}

/// Extents and steps that make a mistake in a layout visible: free extents 2 (but 4 for the only
/// one), `T` 8, offsets far apart.
fn value(amount: Amount, tile: &Tile, free: &[u8]) -> u64 {
    let factor = u64::from(amount.factor);
    match amount.param {
        0 => factor,
        p if free.contains(&p) => factor * 2,
        p if tile.params[usize::from(p) - 1].len() == 1 => factor * 8,
        p => factor * (1 << (12 + 4 * p)),
    }
}

/// Every coordinate has places of its own.
fn injective(tile: &Tile, axes: &[AxisId], strided: bool, diags: &mut Diagnostics) {
    let all = || tile.iters.iter().chain(&tile.replicas);
    for it in all() {
        if !axes.contains(&it.axis) {
            let names: Vec<String> = axes.iter().map(|a| crate::layouts::axis_name(*a)).collect();
            let message =
                format!("axis `{}` has no meaning here", crate::layouts::axis_name(it.axis));
            diags.push(
                Diagnostic::at(tile.span, message)
                    .help(format!("its axes are {}", names.join(", "))),
            );
            return;
        }
    }
    // Symbols that only count are free; one that counts and measures (`T`) is the unit.
    let strides: BTreeSet<u8> = tile.iters.iter().map(|it| it.stride.param).collect();
    let free: Vec<u8> = tile
        .iters
        .iter()
        .map(|it| it.extent.param)
        .filter(|p| *p != 0 && !strides.contains(p))
        .collect();
    if !strided && strides.iter().any(|p| *p != 0) {
        diags.push(
            Diagnostic::at(tile.span, "a step in tensor memory is a number")
                .help("symbols count, they do not measure"),
        );
        return;
    }
    let mut places: BTreeSet<Vec<(AxisId, u64)>> = BTreeSet::from([Vec::new()]);
    let mut count = 1u64;
    for it in all() {
        let (extent, stride) = (value(it.extent, tile, &free), value(it.stride, tile, &free));
        count *= extent;
        if count > 1 << 20 {
            diags.push(
                Diagnostic::at(tile.span, "the layout is too large to be checked")
                    .help("correct its extents"),
            );
            return;
        }
        let moved = |place: &Vec<(AxisId, u64)>, step: u64| {
            let mut place = place.clone();
            match place.iter_mut().find(|(axis, _)| *axis == it.axis) {
                Some((_, at)) => *at += step * stride,
                None => place.push((it.axis, step * stride)),
            }
            place.sort();
            place
        };
        places = places
            .iter()
            .flat_map(|place| (0..extent).map(move |step| moved(place, step)))
            .collect();
    }
    if places.len() as u64 != count {
        let message = format!("{count} elements and copies have {} places", places.len());
        diags.push(
            Diagnostic::at(tile.span, message)
                .help("each element has a place of its own: correct the strides"),
        );
    }
}

fn shapes(units: &Units, diags: &mut Diagnostics) {
    for shape in &units.shapes {
        let entry = &shape.entry;
        for n in &entry.n.value {
            if n.2 == 0 || n.0 == 0 || n.0 > n.1 || (n.1 - n.0) % n.2 != 0 {
                let message = format!("no steps of {} lead from {} to {}", n.2, n.0, n.1);
                diags.push(
                    Diagnostic::at(entry.n.span, message)
                        .help("columns are (lowest, highest, step)"),
                );
            }
        }
        let Some(descriptor) =
            units.descriptors.iter().find(|d| d.fact.entry.name.value == entry.descriptor.value)
        else {
            continue;
        };
        // A kind is a word of its descriptor's name.
        let words = || entry.descriptor.value.split('.');
        if !words().any(|word| word == entry.kind.value) {
            let help = lanebook_suggest::remedy(
                &entry.kind,
                words(),
                "a kind is a word of its descriptor's name",
            );
            let message = format!(
                "a shape of kind `{}` with descriptor `{}`",
                entry.kind.value, entry.descriptor.value
            );
            diags.push(
                Diagnostic::at(entry.kind.span, message)
                    .note(entry.descriptor.span, "the descriptor")
                    .help(help),
            );
        }
        let lists = [
            ("m", entry.m.iter().map(|m| m.0).collect::<Vec<_>>()),
            ("n", entry.n.iter().flat_map(|n| [n.0, n.1]).collect()),
        ];
        for (name, numbers) in lists {
            let Some(field) = descriptor.fields.iter().find(|f| f.name.value == name) else {
                let message =
                    format!("descriptor `{}` has no field `{name}`", entry.descriptor.value);
                diags.push(
                    Diagnostic::at(entry.descriptor.span, message).help("use another descriptor"),
                );
                continue;
            };
            for number in numbers.into_iter().map(u32::from) {
                if number < field.range.0 || number > field.range.1 || number % field.scale != 0 {
                    let message = format!(
                        "{number} does not fit field `{name}` of descriptor `{}`",
                        entry.descriptor.value
                    );
                    diags.push(
                        Diagnostic::at(entry.kind.span, message)
                            .note(field.name.span, "the field")
                            .help("correct one of them"),
                    );
                }
            }
        }
    }
}

/// Limits speak of products, operands and types that there are, and leave something to forbid.
fn order_limits(model: &HwModel, diags: &mut Diagnostics) {
    let units = &model.units;
    for limit in &units.order_limits {
        let entry = &limit.entry;
        for n in &entry.n {
            let (low, high, step) = n.value;
            if step == 0 || low == 0 || low > high || (high - low) % step != 0 {
                let message = format!("no steps of {step} lead from {low} to {high}");
                diags.push(
                    Diagnostic::at(n.span, message).help("columns are (lowest, highest, step)"),
                );
            }
        }
        if entry.operands.is_empty() || entry.types.is_empty() || entry.descriptors.is_empty() {
            let message =
                format!("limit `{}` speaks of no operand, type or product", entry.name.value);
            diags.push(
                Diagnostic::at(entry.name.span, message)
                    .help("fill `operands`, `types` and `descriptors`"),
            );
        }
        let fields = || {
            units
                .descriptors
                .iter()
                .filter(|d| {
                    entry.descriptors.iter().any(|name| name.value == d.fact.entry.name.value)
                })
                .flat_map(|d| &d.fields)
        };
        for factor in &entry.operands {
            let of = u8::from(*factor == Factor::B);
            if fields().next().is_some()
                && !fields().any(|f| f.role == FieldRole::Major(of) && f.values.len() > 1)
            {
                let message = format!("no order of {factor:?} can be chosen in these descriptors");
                diags.push(
                    Diagnostic::at(entry.name.span, message)
                        .help("leave the limit out, or correct `descriptors` or `operands`"),
                );
            }
            let known: Vec<&str> = fields()
                .filter(|f| f.role == FieldRole::Type(of))
                .flat_map(|f| &f.values)
                .map(|(name, _)| name.as_str())
                .collect();
            for name in entry
                .types
                .iter()
                .filter(|name| !known.is_empty() && !known.contains(&name.as_str()))
            {
                let help = lanebook_suggest::remedy(
                    name,
                    known.iter().copied(),
                    "name a value of the descriptor's field",
                );
                diags.push(
                    Diagnostic::at(
                        name.span,
                        format!("no product has {factor:?} of type `{}` here", name.value),
                    )
                    .help(help),
                );
            }
        }
    }
}

/// Limits of tiled copies speak of elements that there are, and of a direction.
fn map_limits(units: &Units, diags: &mut Diagnostics) {
    let known: Vec<&str> = units
        .tensor_maps
        .iter()
        .flat_map(|map| &map.entry.elements)
        .map(|e| e.name.as_str())
        .collect();
    for limit in &units.map_limits {
        let entry = &limit.entry;
        for name in entry.elements.iter().filter(|name| !known.contains(&name.as_str())) {
            let help = lanebook_suggest::remedy(
                name,
                known.iter().copied(),
                "name an element of a tensor map",
            );
            diags.push(
                Diagnostic::at(name.span, format!("no tensor map has elements `{}`", name.value))
                    .help(help)
                    .lacks(name),
            );
        }
        if entry.copies.is_empty() || (entry.elements.is_empty() && entry.swizzles.is_empty()) {
            let message =
                format!("limit `{}` speaks of no direction, or of every copy", entry.name.value);
            diags.push(
                Diagnostic::at(entry.name.span, message)
                    .help("fill `copies`, and `elements` or `swizzles`"),
            );
        }
    }
}

fn maps(units: &Units, diags: &mut Diagnostics) {
    let modes: Vec<&str> = units.swizzles.iter().map(|m| m.entry.name.as_str()).collect();
    for map in &units.tensor_maps {
        let entry = &map.entry;
        let elements: Vec<(&Spanned<String>, &Codes)> =
            entry.elements.iter().map(|e| (&e.name, &e.codes)).collect();
        let layouts: Vec<(&Spanned<String>, &Codes)> =
            entry.interleaves.iter().map(|i| (&i.name, &i.codes)).collect();
        for list in [elements, layouts] {
            let mut seen: BTreeMap<(&str, u16), &str> = BTreeMap::new();
            for (name, codes) in list {
                for (encoding, number) in codes {
                    if let Some(other) = seen.insert((encoding, *number), name) {
                        let message = format!(
                            "`{other}` and `{}` are both {number} in encoding `{encoding}`",
                            name.value
                        );
                        diags.push(
                            Diagnostic::at(name.span, message).help("each has its own number"),
                        );
                    }
                }
            }
        }
        for interleave in &entry.interleaves {
            if let Some(mode) =
                interleave.swizzle.as_ref().filter(|mode| !modes.contains(&mode.as_str()))
            {
                let help = lanebook_suggest::remedy(mode, modes.iter().copied(), "declare it");
                diags.push(
                    Diagnostic::at(mode.span, format!("unknown swizzle mode `{}`", mode.value))
                        .help(help)
                        .lacks(&mode.value),
                );
            }
        }
        if !modes.is_empty()
            && !units.swizzles.iter().any(|m| m.entry.codes.contains_key(&entry.encoding.value))
        {
            let message =
                format!("no swizzle mode has a number in encoding `{}`", entry.encoding.value);
            diags.push(
                Diagnostic::at(entry.encoding.span, message)
                    .help("give the modes `codes`, or correct `encoding`"),
            );
        }
    }
}

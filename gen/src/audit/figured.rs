//! Numbers of matrix units and tensor maps are those that another program or document writes.
//!
//! A line of `answers` under `facts` is `KIND NAME KEY=VALUE ..`; what the table says under each key is
//! compared. The kinds, by what they are called in a group's `units`:
//!
//! - `descriptor`: `FIELD=AT+BITS`, `FIELD.VALUE=NUMBER`, `FIELD.pattern=BYTES`, `FIELD.only=VALUE`;
//! - `swizzle`: `xor=B,M,S`, and its number in each encoding;
//! - `memory` (by its group): its sizes, `allocation=LEAST..MOST`;
//! - `tile`: `purpose`, `second_lanes`; `move`: `counts`, `registers`;
//! - `shape` (by its descriptor, then `blocks`, `sparse` and `stationary` where they are not 1 and
//!   false): `m`, `n` as `LOW..HIGH/STEP`, `k`;
//! - `map`: its limits, `ELEMENT.KEY`, `INTERLEAVING.KEY`, `promotion.NAME` and `fill.NAME`;
//! - `copies` (by an element of a map): the swizzle modes with which it is loaded and stored;
//! - `order` (by a descriptor, then `blocks` and `operand`): types that a factor cannot have in the
//!   `major` that is said, or with which columns it can;
//! - `completion` and `specialization`: their sizes.
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::units::Units;
use crate::schema::unit::{Codes, Factor, Major, TensorMap, TiledCopy, UnitShape};
use crate::schema::{Answers, Name};
use crate::source::Span;
use lanebook_tables::FieldRole;
use std::collections::BTreeMap;
use std::fmt::Display;

/// What a table says by key.
type Said = BTreeMap<String, (String, Span)>;

/// See the module: the lines of one record.
pub(super) fn hold(compiled: &Compiled, one: &Answers, diags: &mut Diagnostics) {
    let by: Vec<&str> = one.sources.iter().map(|key| key.value.as_str()).collect();
    for line in &one.facts {
        line_of(&compiled.model.units, line, &by.join(", "), diags);
    }
}

fn line_of(units: &Units, line: &Name, by: &str, diags: &mut Diagnostics) {
    let mut words = line.value.split_whitespace();
    let (kind, name) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let told: Option<Vec<(&str, &str)>> = words.map(|word| word.split_once('=')).collect();
    let told = told.unwrap_or_default();
    if told.is_empty() {
        diags.push(
            Diagnostic::at(line.span, "this says nothing of a unit")
                .help("write `KIND NAME KEY=VALUE ..`"),
        );
        return;
    }
    let Some(said) = said(units, kind, name, &told) else {
        diags.push(
            Diagnostic::at(line.span, "nothing goes by this kind and name")
                .help(
                    "correct the name, or remove the line; the kinds stand in `--explain answers`",
                )
                .lacks(line),
        );
        return;
    };
    for (key, wanted) in told {
        match said.get(key) {
            None => diags.push(
                Diagnostic::at(line.span, format!("`{name}` has no `{key}` to compare"))
                    .help("the line speaks of what the table has not: correct one of them"),
            ),
            Some((found, _)) if found == wanted => {}
            Some((found, at)) => diags.push(
                Diagnostic::at(
                    *at,
                    format!(
                        "`{key}` of `{name}` is {}, by {by} it is {}",
                        shown(found),
                        shown(wanted)
                    ),
                )
                .note(line.span, "as it is written there")
                .help("correct the fact, or the line"),
            ),
        }
    }
}

fn shown(value: &str) -> &str {
    if value.is_empty() { "nothing" } else { value }
}

fn said(units: &Units, kind: &str, name: &str, told: &[(&str, &str)]) -> Option<Said> {
    match kind {
        "descriptor" => descriptor(units, name),
        "swizzle" => swizzle(units, name),
        "memory" => memory(units, name),
        "tile" => tile(units, name),
        "move" => moves(units, name),
        "shape" => shape(units, name, told),
        "map" => map(units, name),
        "copies" => copies(units, name),
        "order" => order(units, name, told),
        "specialization" => specialization(units, name),
        "completion" => completion(units, name),
        _ => None,
    }
}

/// Adds what a table says under a key.
fn put(out: &mut Said, at: Span, key: impl Into<String>, value: impl Display) {
    out.insert(key.into(), (value.to_string(), at));
}

fn codes(out: &mut Said, at: Span, before: &str, codes: &Codes) {
    for (encoding, code) in codes {
        put(out, at, format!("{before}{encoding}"), code);
    }
}

fn list<T: Display>(all: impl IntoIterator<Item = T>) -> String {
    all.into_iter().map(|one| one.to_string()).collect::<Vec<_>>().join(",")
}

fn descriptor(units: &Units, name: &str) -> Option<Said> {
    let found = units.descriptors.iter().find(|one| one.fact.entry.name.value == name)?;
    let mut out = Said::new();
    put(&mut out, found.fact.entry.name.span, "bits", found.bits);
    for field in &found.fields {
        let (at, key) = (field.name.span, &field.name.value);
        put(&mut out, at, key.as_str(), format!("{}+{}", field.at, field.bits));
        for (value, code) in &field.values {
            put(&mut out, at, format!("{key}.{value}"), code);
        }
        if field.range.0 == field.range.1 {
            put(&mut out, at, format!("{key}.only"), field.range.0);
        }
        if let FieldRole::Pattern(bytes) = field.role {
            put(&mut out, at, format!("{key}.pattern"), bytes);
        }
    }
    Some(out)
}

fn swizzle(units: &Units, name: &str) -> Option<Said> {
    let entry = &units.swizzles.iter().find(|one| one.entry.name.value == name)?.entry;
    let (mut out, at) = (Said::new(), entry.name.span);
    let xor = entry.xor.iter().map(|one| list([one.0.into(), one.1.into(), i16::from(one.2)]));
    put(&mut out, at, "xor", xor.collect::<Vec<_>>().join(";"));
    put(&mut out, at, "span_bytes", entry.span_bytes);
    put(&mut out, at, "atom_bytes", entry.atom_bytes);
    codes(&mut out, at, "", &entry.codes);
    Some(out)
}

fn memory(units: &Units, name: &str) -> Option<Said> {
    let found = units.tensor_memories.iter().find(|one| {
        units.features.get(one.feature.index()).is_some_and(|feature| feature.value == name)
    })?;
    let (entry, at, mut out) = (&found.entry, found.entry.span.head(), Said::new());
    put(&mut out, at, "lanes", entry.lanes);
    put(&mut out, at, "columns", entry.columns);
    put(&mut out, at, "cell_bits", entry.cell_bits);
    put(&mut out, at, "lane_shift", entry.lane_shift);
    put(&mut out, at, "lanes_per_warp", entry.lanes_per_warp);
    put(&mut out, at, "warps", entry.warps);
    put(&mut out, at, "allocation", format!("{}..{}", entry.allocation.0, entry.allocation.1));
    put(&mut out, at, "shared_bytes", entry.shared_bytes);
    Some(out)
}

fn tile(units: &Units, name: &str) -> Option<Said> {
    let (found, _) = units.tensor_tiles.iter().find(|(one, _)| one.entry.name.value == name)?;
    let (entry, at, mut out) = (&found.entry, found.entry.name.span, Said::new());
    put(&mut out, at, "purpose", format!("{:?}", entry.purpose).to_lowercase());
    put(&mut out, at, "second_lanes", entry.second_lanes);
    Some(out)
}

fn moves(units: &Units, name: &str) -> Option<Said> {
    let (found, ..) = units.tensor_moves.iter().find(|(one, ..)| one.entry.name.value == name)?;
    let (entry, at, mut out) = (&found.entry, found.entry.name.span, Said::new());
    put(&mut out, at, "counts", list(&entry.counts));
    put(&mut out, at, "registers", entry.registers);
    put(&mut out, at, "packed", format!("{},{}", entry.packed.0, entry.packed.1));
    Some(out)
}

/// The shape that a line means, and what is said of it.
fn shape(units: &Units, name: &str, told: &[(&str, &str)]) -> Option<Said> {
    let is = |key: &str, value: &str, usual: &str| {
        told.iter().find(|(told, _)| *told == key).map_or(usual, |(_, wanted)| *wanted) == value
    };
    let meant = |entry: &UnitShape| {
        entry.descriptor.value == name
            && is("blocks", &entry.blocks.to_string(), "1")
            && is("sparse", &entry.sparse.to_string(), "false")
            && is("stationary", &entry.stationary.to_string(), "false")
    };
    let entry = &units.shapes.iter().find(|one| meant(&one.entry))?.entry;
    let mut out = Said::new();
    let at = entry.kind.span;
    put(&mut out, at, "blocks", entry.blocks);
    put(&mut out, at, "sparse", entry.sparse);
    put(&mut out, at, "stationary", entry.stationary);
    put(&mut out, entry.m.span, "m", list(entry.m.iter().map(|(m, _)| m)));
    put(&mut out, entry.m.span, "tiles", list(entry.m.iter().map(|(_, tile)| tile.as_str())));
    let runs = entry.n.value.iter().map(|(low, high, step)| match low == high {
        true => low.to_string(),
        false => format!("{low}..{high}/{step}"),
    });
    put(&mut out, entry.n.span, "n", list(runs));
    put(&mut out, at, "k", list(&entry.k));
    Some(out)
}

fn map(units: &Units, name: &str) -> Option<Said> {
    let entry: &TensorMap =
        &units.tensor_maps.iter().find(|one| one.entry.name.value == name)?.entry;
    let (mut out, at) = (Said::new(), entry.name.span);
    put(&mut out, at, "rank", format!("{}..{}", entry.rank.0, entry.rank.1));
    put(&mut out, at, "block", format!("{},{}", entry.block.0, entry.block.1));
    let numbers = [
        ("box_max", u64::from(entry.box_max)),
        ("box_bytes", entry.box_bytes.into()),
        ("step_max", entry.step_max.into()),
        ("extent_max", entry.extent_max),
        ("stride_bytes", entry.stride_bytes.into()),
        ("stride_limit", entry.stride_limit),
        ("base_bytes", entry.base_bytes.into()),
        ("corner_bytes", entry.corner_bytes.into()),
        ("edge_bytes", entry.edge_bytes.into()),
        ("shared_bytes", entry.shared_bytes.into()),
    ];
    numbers.into_iter().for_each(|(key, value)| put(&mut out, at, key, value));
    for one in &entry.elements {
        let (key, at) = (&one.name.value, one.name.span);
        put(&mut out, at, format!("{key}.bits"), one.bits);
        put(&mut out, at, format!("{key}.shared_bits"), one.shared_bits.unwrap_or(one.bits));
        put(&mut out, at, format!("{key}.align_bytes"), one.align_bytes);
        put(&mut out, at, format!("{key}.box_inner"), one.box_inner);
        put(&mut out, at, format!("{key}.extent_multiple"), one.extent_multiple);
        codes(&mut out, at, &format!("{key}."), &one.codes);
    }
    for one in &entry.interleaves {
        let (key, at) = (format!("interleave.{}", one.name.value), one.name.span);
        put(&mut out, at, format!("{key}.rank_min"), one.rank_min);
        put(&mut out, at, format!("{key}.align_bytes"), one.align_bytes);
        let swizzle = one.swizzle.as_ref().map_or("any", |name| name.value.as_str());
        put(&mut out, at, format!("{key}.swizzle"), swizzle);
        codes(&mut out, at, &format!("{key}."), &one.codes);
    }
    codes(&mut out, at, "fill.", &entry.fills);
    codes(&mut out, at, "promotion.", &entry.promotions);
    Some(out)
}

/// The modes with which an element of a map is copied, by what its map's group forbids.
fn copies(units: &Units, name: &str) -> Option<Said> {
    let (map, element) = units.tensor_maps.iter().find_map(|map| {
        let element = map.entry.elements.iter().find(|one| one.name.value == name)?;
        Some((map, element))
    })?;
    let mut out = Said::new();
    for (key, copy) in [("load", TiledCopy::Load), ("store", TiledCopy::Store)] {
        let forbidden = |mode: &str| {
            units.map_limits.iter().filter(|limit| limit.feature == map.feature).any(|limit| {
                let has = |list: &[Name], word: &str| {
                    list.is_empty() || list.iter().any(|one| one.value == word)
                };
                limit.entry.copies.contains(&copy)
                    && has(&limit.entry.elements, name)
                    && has(&limit.entry.swizzles, mode)
            })
        };
        // Modes that the map's own encoding has.
        let modes = units.swizzles.iter().map(|mode| &mode.entry);
        let taken = modes.filter(|mode| mode.codes.contains_key(&map.entry.encoding.value));
        let taken = taken.map(|mode| mode.name.as_str()).filter(|mode| !forbidden(mode));
        put(&mut out, element.name.span, key, list(taken));
    }
    Some(out)
}

/// What limits a factor of a product.
fn order(units: &Units, name: &str, told: &[(&str, &str)]) -> Option<Said> {
    let wanted = |key: &str| told.iter().find(|(word, _)| *word == key).map(|(_, value)| *value);
    let letter = |factor: &Factor| if *factor == Factor::A { "a" } else { "b" };
    let types = wanted("types").and_then(|types| types.split(',').next());
    let found = units.order_limits.iter().find(|limit| {
        let entry = &limit.entry;
        entry.descriptors.iter().any(|one| one.value == name)
            && wanted("blocks").unwrap_or("0") == entry.blocks.to_string()
            && wanted("operand")
                .is_some_and(|word| entry.operands.iter().any(|f| letter(f) == word))
            && types.is_none_or(|word| entry.types.iter().any(|one| one.value == word))
    })?;
    let (entry, at, mut out) = (&found.entry, found.entry.name.span, Said::new());
    put(&mut out, at, "blocks", entry.blocks);
    put(&mut out, at, "operand", wanted("operand").unwrap_or_default());
    put(&mut out, at, "operands", list(entry.operands.iter().map(letter)));
    put(&mut out, at, "major", if entry.major == Major::Depth { "depth" } else { "outer" });
    put(&mut out, at, "types", list(entry.types.iter().map(|one| one.as_str())));
    let runs =
        entry.n.iter().map(|run| format!("{}..{}/{}", run.value.0, run.value.1, run.value.2));
    put(&mut out, at, "n", list(runs));
    Some(out)
}

fn specialization(units: &Units, name: &str) -> Option<Said> {
    let mut all = units.specializations.iter();
    let (found, _) = all.find(|(one, _)| one.entry.name.value == name)?;
    let (entry, at, mut out) = (&found.entry, found.entry.name.span, Said::new());
    let (least, most, step) = entry.registers;
    put(&mut out, at, "threads", entry.threads);
    put(&mut out, at, "registers", format!("{least}..{most}/{step}"));
    put(&mut out, at, "file", entry.file);
    Some(out)
}

fn completion(units: &Units, name: &str) -> Option<Said> {
    let (found, _) = units.mbarriers.iter().find(|(one, _)| one.entry.name.value == name)?;
    let (entry, at, mut out) = (&found.entry, found.entry.name.span, Said::new());
    put(&mut out, at, "bytes", entry.bytes);
    put(&mut out, at, "most_bytes", entry.most_bytes);
    Some(out)
}

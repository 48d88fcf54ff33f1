//! Tensor maps, what limits them and the copies through them agree with one another.
//!
//! Numbers of an encoding are dealt out without gaps, over all maps of it together; what two maps of
//! one encoding both have, they have alike; an interleaving is aligned as its name says. What is
//! loaded through a map is stored through it, up to its highest rank.
use super::swizzle::bytes_in;
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::units::Units;
use crate::schema::unit::{Codes, MapElement, TensorMap};
use crate::source::Span;
use std::collections::{BTreeMap, BTreeSet};

/// See the module.
#[must_use]
pub fn check(compiled: &Compiled) -> Diagnostics {
    let mut diags = Diagnostics::new();
    let units = &compiled.model.units;
    figures(compiled, &mut diags);
    alike(units, &mut diags);
    dense(units, &mut diags);
    interleaves(units, &mut diags);
    padded(units, &mut diags);
    ranks(units, &mut diags);
    super::closed::copies(compiled, &mut diags);
    diags
}

/// What is asked of any box, row or address.
fn told(map: &TensorMap) -> [(&'static str, String); 11] {
    [
        ("block", format!("{:?}", map.block)),
        ("rank", format!("{:?}", map.rank)),
        ("box_max", map.box_max.to_string()),
        ("box_bytes", map.box_bytes.to_string()),
        ("step_max", map.step_max.to_string()),
        ("extent_max", map.extent_max.to_string()),
        ("stride_bytes", map.stride_bytes.to_string()),
        ("stride_limit", map.stride_limit.to_string()),
        ("base_bytes and shared_bytes", format!("{} and {}", map.base_bytes, map.shared_bytes)),
        ("corner_bytes", map.corner_bytes.to_string()),
        ("edge_bytes", map.edge_bytes.to_string()),
    ]
}

/// The numbers of one thing, by encoding.
fn numbers(codes: &Codes) -> String {
    let all = codes.iter().map(|(encoding, code)| format!("{code} in `{encoding}`"));
    all.collect::<Vec<_>>().join(" and ")
}

/// Maps of one encoding differ in what they hold, not in how it is said or aligned.
fn alike(units: &Units, diags: &mut Diagnostics) {
    let mut known: BTreeMap<(&str, String), (String, Span)> = BTreeMap::new();
    for map in &units.tensor_maps {
        let entry = &map.entry;
        let encoding = entry.encoding.value.as_str();
        let mut told: Vec<(String, String, Span)> = told(entry)
            .into_iter()
            .map(|(what, v)| (format!("`{what}`"), v, entry.name.span))
            .collect();
        for one in &entry.interleaves {
            let says = format!(
                "{} from rank {} on, aligned to {}{}",
                numbers(&one.codes),
                one.rank_min,
                one.align_bytes,
                if one.rows { ", in rows" } else { "" }
            );
            told.push((format!("interleaving `{}`", one.name.value), says, one.name.span));
        }
        for one in &entry.elements {
            let says = format!("{} of {} bits", numbers(&one.codes), one.bits);
            told.push((format!("element `{}`", one.name.value), says, one.name.span));
        }
        for (name, code) in entry.fills.iter().chain(&entry.promotions) {
            told.push((format!("the number of `{name}`"), code.to_string(), entry.name.span));
        }
        for (what, says, at) in told {
            let (other, there) =
                known.entry((encoding, what.clone())).or_insert_with(|| (says.clone(), at));
            if *other != says {
                let message =
                    format!("{what} is {says} here and {other} in another map of `{encoding}`");
                diags.push(
                    Diagnostic::at(at, message)
                        .note(*there, "the other")
                        .help("maps of one encoding are told alike: correct one of them"),
                );
            }
        }
    }
}

/// The numbers of one list begin at 0 and leave none out.
fn dense(units: &Units, diags: &mut Diagnostics) {
    let mut lists: BTreeMap<(&str, String), (BTreeSet<u16>, Span)> = BTreeMap::new();
    for map in &units.tensor_maps {
        let entry = &map.entry;
        let mut add = |what: &str, encoding: &str, code: u16| {
            let key = (entry.encoding.value.as_str(), format!("{what} in `{encoding}`"));
            lists.entry(key).or_insert_with(|| (BTreeSet::new(), entry.name.span)).0.insert(code);
        };
        for (encoding, code) in entry.elements.iter().flat_map(|one| &one.codes) {
            add("elements", encoding, *code);
        }
        // Each map has all that it can be, and names what is usual.
        let own = format!("interleavings of {}", entry.name.value);
        for (encoding, code) in entry.interleaves.iter().flat_map(|one| &one.codes) {
            add(&own, encoding, *code);
        }
        entry.fills.values().for_each(|code| add("fills", &entry.encoding.value, *code));
    }
    for ((_, what), (codes, span)) in lists {
        if let Some(gap) = (0..).zip(&codes).find(|(wanted, code)| wanted != *code) {
            let message = format!("no number {} among {what}", gap.0);
            diags.push(Diagnostic::at(span, message).help(
                "numbers are dealt out one after the other: correct one, or add what is missing",
            ));
        }
    }
}

fn interleaves(units: &Units, diags: &mut Diagnostics) {
    for map in &units.tensor_maps {
        // Boxes stand side by side, and the first of them at the tensor's base.
        for (name, bytes) in
            [("box_bytes", map.entry.box_bytes), ("base_bytes", map.entry.base_bytes)]
        {
            if !bytes.is_multiple_of(map.entry.corner_bytes.max(1)) {
                let message = format!("`{name}` is no multiple of `corner_bytes`");
                diags.push(Diagnostic::at(map.entry.name.span, message).help(
                    "the box beside another, and the first of a tensor, begin where a box may begin",
                ));
            }
        }
        if !map.entry.corner_bytes.is_multiple_of(map.entry.edge_bytes.max(1)) {
            let message = "`corner_bytes` is no multiple of `edge_bytes`";
            diags.push(
                Diagnostic::at(map.entry.name.span, message)
                    .help("a box that ends where the next may begin writes nothing of that one"),
            );
        }
        let base = u32::from(map.entry.base_bytes);
        for one in &map.entry.interleaves {
            let said = bytes_in(&one.name.value).first().copied().unwrap_or(base);
            let has = if one.align_bytes == 0 { base } else { u32::from(one.align_bytes) };
            if said != has {
                let message =
                    format!("interleaving `{}` is aligned to {has} bytes", one.name.value);
                diags.push(
                    Diagnostic::at(one.name.span, message)
                        .help("pieces of as many bytes as its name says begin at such addresses: correct `align_bytes`"),
                );
            }
        }
    }
}

/// Elements that are longer in shared memory than in the tensor are told alike.
fn padded(units: &Units, diags: &mut Diagnostics) {
    for map in &units.tensor_maps {
        let mut elements = map.entry.elements.iter().filter(|one| one.shared_bits.is_some());
        let Some(first) = elements.next() else { continue };
        let told = |one: &MapElement| {
            (one.shared_bits, one.align_bytes, one.box_inner, one.extent_multiple)
        };
        for one in elements.filter(|one| told(one) != told(first)) {
            let message = format!(
                "padded elements `{}` and `{}` have other sizes or alignments",
                one.name.value, first.name.value
            );
            diags.push(
                Diagnostic::at(one.name.span, message)
                    .note(first.name.span, "the other")
                    .help("the padding fills both to one size: correct one of them"),
            );
        }
    }
}

/// What is copied through a map is so both ways, up to the highest rank that it has.
fn ranks(units: &Units, diags: &mut Diagnostics) {
    for map in &units.tensor_maps {
        let entry = &map.entry;
        let of = |loads: bool| -> BTreeSet<usize> {
            let moves = units.tiled_moves.iter();
            moves
                .filter(|(fact, one)| {
                    fact.entry.map.value == entry.name.value && one.loads == loads
                })
                .map(|(_, one)| one.at.len())
                .collect()
        };
        let (loads, stores) = (of(true), of(false));
        let all: BTreeSet<usize> = loads.union(&stores).copied().collect();
        let Some(low) = all.first().copied() else { continue };
        let wanted: BTreeSet<usize> = (low..=usize::from(entry.rank.1)).collect();
        for (way, found) in [("loads", &loads), ("stores", &stores)] {
            if let Some(rank) = wanted.symmetric_difference(found).next() {
                let message = format!(
                    "a box of rank {rank} by map `{}`: {way} are not alike",
                    entry.name.value
                );
                diags.push(
                    Diagnostic::at(entry.name.span, message)
                        .help("every rank up to the map's highest is loaded and stored: correct `rank`, or add to `tiled_moves`"),
                );
            }
        }
    }
}

/// Elements of tensor maps have the width of the type of their name; sizes go up with their
/// numbers.
fn figures(compiled: &Compiled, diags: &mut Diagnostics) {
    let model = &compiled.model;
    for map in &model.units.tensor_maps {
        for element in &map.entry.elements {
            let known = model
                .dtype_named(&element.name)
                .and_then(|id| model.dtypes.get(id.index()))
                .filter(|dtype| dtype.bits != u16::from(element.bits));
            if let Some(dtype) = known {
                let message = format!(
                    "`{}` has {} bits here and {} as an element type",
                    element.name.value, element.bits, dtype.bits
                );
                diags.push(
                    Diagnostic::at(element.name.span, message)
                        .note(dtype.name.span, "the type")
                        .help("correct one of them"),
                );
            }
        }
        let mut sizes: Vec<(u32, u16)> = map
            .entry
            .promotions
            .iter()
            .map(|(name, code)| (bytes_in(name).first().copied().unwrap_or(0), *code))
            .collect();
        sizes.sort_unstable();
        if sizes.windows(2).any(|two| two[1].1 != two[0].1 + 1) {
            diags.push(
                Diagnostic::at(
                    map.entry.name.span,
                    "the numbers of `promotions` do not go up with their bytes",
                )
                .help("none comes first, then each size in turn"),
            );
        }
        let bytes = [
            ("box_bytes", map.entry.box_bytes),
            ("stride_bytes", map.entry.stride_bytes),
            ("base_bytes", map.entry.base_bytes),
            ("corner_bytes", map.entry.corner_bytes),
            ("edge_bytes", map.entry.edge_bytes),
            ("shared_bytes", map.entry.shared_bytes),
            ("box_max", map.entry.box_max),
            ("step_max", map.entry.step_max),
        ];
        for (name, value) in bytes.iter().filter(|(_, value)| !value.is_power_of_two()) {
            diags.push(
                Diagnostic::at(map.entry.name.span, format!("`{name}` is {value}"))
                    .help("alignments and limits of a map are powers of two"),
            );
        }
        let limits =
            [("extent_max", map.entry.extent_max), ("stride_limit", map.entry.stride_limit)];
        for (name, value) in limits.iter().filter(|(_, value)| !value.is_power_of_two()) {
            diags.push(
                Diagnostic::at(map.entry.name.span, format!("`{name}` is {value}"))
                    .help("it is the first number that its bits do not hold"),
            );
        }
    }
}

//! A list that draws a line through what has an order names all that is on its side of the line.
//!
//! Units take wide elements where they take none narrower, and not the other way round: what a
//! limit says of types of one width it says of every narrower one that the word of the product can
//! say. Descriptors whose words say the same types are limited alike. Elements of a tensor map go
//! by their width likewise, those that are padded and those that are not apart. Tiles of operands
//! whose swizzles keep as many bytes together hold the same elements.
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::HwModel;
use crate::model::units::{Descriptor, Fact};
use crate::schema::Name;
use crate::schema::unit::{Factor, Major, MapElement, OrderLimit};
use crate::source::Span;
use lanebook_tables::FieldRole;
use std::collections::{BTreeMap, BTreeSet};

/// Whether a name is in a list, wherever it stands.
fn names(list: &[Name], name: &Name) -> bool {
    list.iter().any(|one| one.value == name.value)
}

/// Names with the width of each.
type Widths<'m> = BTreeMap<&'m str, u16>;

/// Element types that the word of a product can say of a factor.
fn types<'m>(model: &HwModel, descriptor: &'m Descriptor, role: FieldRole) -> Widths<'m> {
    let field = descriptor.fields.iter().find(|field| field.role == role);
    let names = field.into_iter().flat_map(|field| &field.values);
    let width = |name: &str| {
        model.dtypes.iter().find(|dtype| dtype.name.value == name).map(|dtype| dtype.bits)
    };
    names.filter_map(|(name, _)| Some((name.as_str(), width(name)?))).collect()
}

/// What limits orders of operands: types, and descriptors of equal words.
pub(super) fn orders(compiled: &Compiled, diags: &mut Diagnostics) {
    let model = &compiled.model;
    let words = &model.units.descriptors;
    let limits = &model.units.order_limits;
    let named = |name: &str| words.iter().find(|one| one.fact.entry.name.value == name);
    for limit in limits {
        let entry = &limit.entry;
        for word in entry.descriptors.iter().filter_map(|name| named(&name.value)) {
            for factor in &entry.operands {
                let role = match factor {
                    Factor::A => FieldRole::Type(0),
                    Factor::B => FieldRole::Type(1),
                };
                let all = types(model, word, role);
                let same = |other: &&Fact<OrderLimit>| {
                    let other = &other.entry;
                    let blocks = [0, entry.blocks].contains(&other.blocks);
                    let says = names(&other.descriptors, &word.fact.entry.name);
                    blocks && says && other.major == entry.major && other.operands.contains(factor)
                };
                let limited: BTreeSet<&str> = limits
                    .iter()
                    .filter(same)
                    .flat_map(|other| &other.entry.types)
                    .map(|name| name.value.as_str())
                    .collect();
                open(entry.name.span, &entry.name.value, &all, &limited, diags);
            }
        }
        twins(model, entry, diags);
    }
}

/// The first of a list that is no wider than what is named and is not named itself.
fn open(at: Span, limit: &str, all: &Widths<'_>, named: &BTreeSet<&str>, diags: &mut Diagnostics) {
    let Some(most) = named.iter().filter_map(|name| all.get(name)).max() else { return };
    let left = all.iter().find(|(name, width)| *width <= most && !named.contains(*name));
    if let Some((name, width)) = left {
        diags.push(
            Diagnostic::at(at, format!("`{limit}` is of {most} bits, and `{name}` of {width} is free of it"))
                .help("what holds for wide elements holds for narrower ones: name it too, or correct what is named"),
        );
    }
}

/// A descriptor with the words of one that is limited is limited as that one is.
fn twins(model: &HwModel, entry: &OrderLimit, diags: &mut Diagnostics) {
    let words = &model.units.descriptors;
    let says = |word: &Descriptor| {
        [FieldRole::Type(0), FieldRole::Type(1), FieldRole::Major(0), FieldRole::Major(1)].map(
            |role| {
                let field = word.fields.iter().find(|field| field.role == role);
                field.map(|field| field.values.clone()).unwrap_or_default()
            },
        )
    };
    let listed = |word: &Descriptor| names(&entry.descriptors, &word.fact.entry.name);
    for word in words.iter().filter(|word| listed(word)) {
        let twin = words.iter().find(|other| !listed(other) && says(other) == says(word));
        if let Some(twin) = twin {
            let message = format!(
                "`{}` is of `{}`, and `{}` has the same types and orders",
                entry.name.value, word.fact.entry.name.value, twin.fact.entry.name.value
            );
            diags.push(
                Diagnostic::at(entry.name.span, message)
                    .note(twin.fact.entry.name.span, "the other")
                    .help("name both, or correct one of them"),
            );
        }
    }
}

/// What limits tiled copies, as far as it names elements.
pub(super) fn copies(compiled: &Compiled, diags: &mut Diagnostics) {
    let units = &compiled.model.units;
    for limit in &units.map_limits {
        let entry = &limit.entry;
        let named: BTreeSet<&str> = entry.elements.iter().map(|name| name.value.as_str()).collect();
        let maps = units.tensor_maps.iter().map(|map| &map.entry.elements);
        for elements in maps {
            let is_padded = |one: &MapElement| one.shared_bits.is_some_and(|bits| bits != one.bits);
            for padded in [false, true] {
                let of = elements.iter().filter(|one| is_padded(one) == padded);
                let all: Widths<'_> =
                    of.map(|one| (one.name.value.as_str(), u16::from(one.bits))).collect();
                open(entry.name.span, &entry.name.value, &all, &named, diags);
            }
        }
    }
}

/// Tiles of operands that differ by their swizzle.
pub(super) fn tiles(compiled: &Compiled, diags: &mut Diagnostics) {
    let units = &compiled.model.units;
    let mut known: BTreeMap<(bool, u16, &str), (&[u8], Span)> = BTreeMap::new();
    for (fact, _, mode) in &units.operand_tiles {
        let entry = &fact.entry;
        let atom = units.swizzles.get(*mode).map_or(0, |mode| mode.entry.atom_bytes);
        for (unit, widths) in &entry.takes {
            let of_depth = entry.major == Major::Depth;
            let (other, there) = *known
                .entry((of_depth, atom, unit.as_str()))
                .or_insert((widths.as_slice(), entry.name.span));
            if other != widths.as_slice() {
                let message = format!(
                    "`{}` holds elements of {widths:?} bits for `{unit}`, another tile of this order and of atoms of {atom} bytes {other:?}",
                    entry.name.value
                );
                diags.push(
                    Diagnostic::at(entry.name.span, message)
                        .note(there, "the other")
                        .help("a swizzle moves bytes, whatever is in them: correct one of them"),
                );
            }
        }
    }
}

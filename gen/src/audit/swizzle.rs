//! Swizzle modes follow their formula, tiles the pattern of their mode, and descriptors that name
//! the same thing give it the same number.
//!
//! A mode of rows of so many bytes exchanges pieces of `atom_bytes` inside a row: the bits of a row
//! above those of a piece are XORed with the number of the line that the banks serve at once. So
//! the lowest target bit is the piece's, the targets end where the row does, and the sources of all
//! modes begin at one bit, that of a line.
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::units::{Descriptor, Fact, Field, Tile, Units};
use crate::schema::unit::{OperandTile, SwizzleMode};
use lanebook_tables::{Amount, FieldRole};
use std::collections::BTreeMap;

/// See the module.
#[must_use]
pub fn check(compiled: &Compiled) -> Diagnostics {
    let mut diags = Diagnostics::new();
    let units = &compiled.model.units;
    modes(compiled, &mut diags);
    ascending(units, &mut diags);
    encodings(units, &mut diags);
    for (fact, tile, mode) in &units.operand_tiles {
        for widths in fact.entry.takes.values() {
            if widths.windows(2).any(|two| two[0] >= two[1]) {
                diags.push(
                    Diagnostic::at(fact.entry.name.span, format!("widths {widths:?} do not go up"))
                        .help("name each width once, the smallest first"),
                );
            }
        }
        if let Some(mode) = units.swizzles.get(*mode) {
            pattern(fact, tile, mode, &mut diags);
        }
    }
    symbols(units, &mut diags);
    super::closed::tiles(compiled, &mut diags);
    for descriptor in &units.descriptors {
        factors(descriptor, &mut diags);
        parts(descriptor, &mut diags);
        ranges(descriptor, &mut diags);
        reached(units, descriptor, &mut diags);
    }
    diags
}

/// Bytes that banks serve at once, in architectures with a feature.
fn lines(compiled: &Compiled, mode: &Fact<SwizzleMode>) -> Vec<u32> {
    let with = compiled.model.archs.iter().filter(|arch| arch.features.contains(&mode.feature));
    let mut out: Vec<u32> = with
        .flat_map(|arch| &arch.banks)
        .map(|bank| u32::from(bank.banks) * u32::from(bank.bank_bytes))
        .collect();
    out.sort_unstable();
    out.dedup();
    out
}

/// Modes of a feature stand in the order of a manual's list: the numbers of each encoding go up in
/// it, or go down.
fn ascending(units: &Units, diags: &mut Diagnostics) {
    let mut lists: BTreeMap<_, Vec<&Fact<SwizzleMode>>> = BTreeMap::new();
    for mode in &units.swizzles {
        for encoding in mode.entry.codes.keys() {
            lists.entry((mode.feature, encoding)).or_default().push(mode);
        }
    }
    for ((_, encoding), modes) in lists {
        // No swizzle is the first or the last, whatever the others are.
        let codes = modes.iter().filter_map(|mode| mode.entry.codes.get(encoding));
        let codes: Vec<_> = codes.filter(|code| **code != 0).collect();
        let up = codes.windows(2).all(|two| two[0] <= two[1]);
        let down = codes.windows(2).all(|two| two[0] >= two[1]);
        if let (Some(last), false) = (modes.last(), up || down) {
            let message = format!("numbers of `{encoding}` go up and down in this list: {codes:?}");
            diags.push(Diagnostic::at(last.entry.name.span, message).help(
                "modes stand in the order of their numbers: correct `codes`, or their order",
            ));
        }
    }
}

fn modes(compiled: &Compiled, diags: &mut Diagnostics) {
    for mode in &compiled.model.units.swizzles {
        let entry = &mode.entry;
        let mut say = |span, message: String, help: &str| {
            diags.push(Diagnostic::at(span, message).note(entry.name.span, "the mode").help(help))
        };
        let lines = lines(compiled, mode);
        for (number, xor) in entry.xor.iter().enumerate() {
            let (bits, low, far) = xor.value;
            let from =
                1u32.checked_shl(u32::from(low) + u32::from(far.unsigned_abs())).unwrap_or(0);
            if let [line] = lines.as_slice()
                && from != *line
            {
                say(
                    xor.span,
                    format!(
                        "it is chosen by the number of {from} bytes, banks serve {line} at once"
                    ),
                    "the sources begin at the line's number: correct the triple",
                );
            }
            let end = 1u32.checked_shl(u32::from(low) + u32::from(bits)).unwrap_or(0);
            let span = u32::from(entry.span_bytes);
            let fits = if span.is_power_of_two() { span == end } else { span.is_multiple_of(end) };
            if number == 0 && span != 0 && !fits {
                say(
                    xor.span,
                    format!("pieces are exchanged within {end} bytes, rows have {span}"),
                    "the targets end where the row does: correct the triple or `span_bytes`",
                );
            }
        }
        let least = entry.xor.iter().map(|xor| xor.value.1).min();
        let piece = least.and_then(|low| 1u32.checked_shl(low.into()));
        if piece.is_some_and(|piece| piece != u32::from(entry.atom_bytes)) {
            say(
                entry.name.span,
                format!(
                    "pieces of {} bytes, the exchanges say {}",
                    entry.atom_bytes,
                    piece.unwrap_or(0)
                ),
                "the lowest target bit is that of a piece: correct `atom_bytes` or the triples",
            );
        }
        for said in bytes_in(&entry.name) {
            let known = said == u32::from(entry.span_bytes)
                || entry.xor.iter().any(|xor| 1u32.checked_shl(xor.value.1.into()) == Some(said));
            if !known {
                say(
                    entry.name.span,
                    format!(
                        "the name says {said} bytes, which are neither its rows nor its pieces"
                    ),
                    "correct the name, `span_bytes` or the triples",
                );
            }
        }
    }
}

/// Numbers before a `B` in a name.
pub(super) fn bytes_in(name: &str) -> Vec<u32> {
    let mut words = name.split('_');
    let mut out: Vec<u32> = Vec::new();
    for word in words.by_ref() {
        out.extend(word.strip_suffix('B').and_then(|number| number.parse::<u32>().ok()));
    }
    out
}

/// Fields of words that name the same modes, where two words have them at the same bits.
fn encodings(units: &Units, diags: &mut Diagnostics) {
    // Encodings as tables name them, in the order of rows: one that ascends or descends does so
    // throughout.
    // Bytes of a row, the number, the mode.
    type Numbered<'u> = Vec<(u16, u16, &'u Fact<SwizzleMode>)>;
    let mut by_encoding: BTreeMap<&str, Numbered<'_>> = BTreeMap::new();
    let usual = units.swizzles.iter().map(|mode| mode.entry.atom_bytes).max_by_key(|bytes| {
        units.swizzles.iter().filter(|mode| mode.entry.atom_bytes == *bytes).count()
    });
    for mode in units.swizzles.iter().filter(|mode| {
        Some(mode.entry.atom_bytes) == usual
            && mode.entry.span_bytes.is_power_of_two()
            && !mode.entry.xor.is_empty()
    }) {
        for (encoding, code) in mode.entry.codes.iter() {
            by_encoding.entry(encoding).or_default().push((mode.entry.span_bytes, *code, mode));
        }
    }
    for (encoding, mut list) in by_encoding {
        list.sort_by_key(|(span, ..)| *span);
        // Numbers go up or down by one step.
        let steps: Vec<i32> =
            list.windows(2).map(|two| i32::from(two[1].1) - i32::from(two[0].1)).collect();
        if steps.len() > 1
            && (steps.windows(2).any(|two| two[0] != two[1]) || steps.contains(&0))
            && steps.iter().any(|step| *step != 0)
            && let Some((.., mode)) = list.first()
        {
            let told: Vec<String> =
                list.iter().map(|(span, code, _)| format!("{span} bytes {code}")).collect();
            diags.push(
                Diagnostic::at(
                    mode.entry.codes.span,
                    format!(
                        "numbers in encoding `{encoding}` do not go by one step: {}",
                        told.join(", ")
                    ),
                )
                .help("modes of longer rows follow one another in an encoding: correct `codes`"),
            );
        }
    }
    for (at, one) in units.descriptors.iter().enumerate() {
        for other in &units.descriptors[..at] {
            same_bits(one, other, diags);
        }
    }
}

/// Two words of one width with a field of one name that ends at the same bit: a value that both
/// name is the same bits.
fn same_bits(one: &Descriptor, other: &Descriptor, diags: &mut Diagnostics) {
    let starts = |d: &Descriptor| d.fields.iter().any(|f| f.role == FieldRole::Start);
    if one.bits != other.bits || !starts(one) || !starts(other) {
        return;
    }
    for field in &one.fields {
        let end = |f: &Field| u16::from(f.at) + u16::from(f.bits);
        let Some(same) =
            other.fields.iter().find(|f| f.name.value == field.name.value && end(f) == end(field))
        else {
            continue;
        };
        for (name, code) in &field.values {
            let Some((_, theirs)) = same.values.iter().find(|(word, _)| word == name) else {
                continue;
            };
            let bits = |code: u16, f: &Field| u64::from(code) << f.at.min(63);
            if bits(*code, field) != bits(*theirs, same) {
                let message = format!(
                    "`{name}` is {code} in `{}` of `{}` and {theirs} in that of `{}`: other bits at the same place",
                    field.name.value, one.fact.entry.name.value, other.fact.entry.name.value
                );
                diags.push(
                    Diagnostic::at(field.name.span, message)
                        .note(same.name.span, "the other")
                        .help("words that end with the same field name its values alike: correct one of the numbers"),
                );
            }
        }
    }
}

/// A factor without its symbol.
fn plain(amount: Amount) -> Option<u64> {
    (amount.param == 0).then_some(u64::from(amount.factor))
}

/// Bytes of a tile's pattern are those after which the mode repeats, and it is dense.
fn pattern(
    fact: &Fact<OperandTile>,
    tile: &Tile,
    mode: &Fact<SwizzleMode>,
    diags: &mut Diagnostics,
) {
    let entry = &fact.entry;
    let mut say = |message: String, help: &str| {
        diags.push(
            Diagnostic::at(tile.span, message).note(mode.entry.name.span, "the mode").help(help),
        )
    };
    let unit = tile.param(&entry.unit.0);
    let unit_bytes = u64::from(entry.unit.1) / 8;
    let bytes = |amount: Amount| match amount.param {
        0 => Some(u64::from(amount.factor)),
        p if p == unit => Some(u64::from(amount.factor) * unit_bytes),
        _ => None,
    };
    // Iters of numbers alone are the pattern; elements of one byte stand for all.
    let mut inner: Vec<(u64, u64)> =
        tile.iters.iter().filter_map(|it| Some((bytes(it.extent)?, bytes(it.stride)?))).collect();
    inner.sort_by_key(|(_, stride)| *stride);
    let mut next = 1;
    for (extent, stride) in &inner {
        if *stride != next {
            say(
                format!("the pattern has a step of {stride} bytes behind {next}"),
                "the bytes of a pattern lie side by side: correct the strides",
            );
            return;
        }
        next *= extent;
    }
    let repeats = mode.entry.xor.iter().map(|xor| {
        let (bits, low, far) = xor.value;
        1u64.checked_shl(u32::from(bits) + u32::from(low) + u32::from(far.unsigned_abs()))
            .unwrap_or(0)
    });
    if let Some(repeats) = repeats.max()
        && repeats != next
    {
        say(
            format!("the tile's pattern has {next} bytes, the mode repeats after {repeats}"),
            "correct the extents, or use another mode",
        );
    }
    let run = inner.first().map_or(0, |(extent, _)| *extent);
    let span = u64::from(mode.entry.span_bytes);
    if span != 0 && run != span {
        say(
            format!("{run} bytes lie in a row, rows of the mode have {span}"),
            "correct the innermost extent, or use another mode",
        );
    }
    // The contiguous iter is of the coordinate that the tile says.
    let at = usize::from(entry.outer).min(tile.iters.len());
    let contiguous = tile.iters.iter().position(|it| plain(it.stride) == Some(1));
    let outer = contiguous.map(|found| found < at);
    let says = entry.major == crate::schema::unit::Major::Outer;
    if outer.is_some_and(|outer| outer != says) {
        say(
            "what lies side by side is not the coordinate that `major` says".into(),
            "correct `major`, `outer` or the layout",
        );
    }
    let word = |name: &str| entry.name.value.split('.').any(|word| word == name);
    if word("depth") && says || word("outer") && !says {
        say("`major` is not what the name says".into(), "correct one of them");
    }
    let named = entry.name.value.split_once('.').map(|(_, rest)| rest);
    if named.is_some_and(|rest| rest != mode.entry.name.value) {
        say("the mode is not what the name says".into(), "correct `swizzle` or the name");
    }
}

/// A range has more than one value, and the highest bit of its field is set by one of them.
fn ranges(descriptor: &Descriptor, diags: &mut Diagnostics) {
    for written in &descriptor.fact.entry.fields {
        let ways = [
            written.constant.is_some(),
            written.range.is_some(),
            written.values.is_some(),
            written.swizzle.is_some(),
        ];
        if ways.into_iter().filter(|way| *way).count() > 1 {
            let message = format!("`{}` says its values in several ways", written.name.value);
            diags.push(
                Diagnostic::at(written.name.span, message)
                    .help("one of `constant`, `range`, `values` and `swizzle`"),
            );
        }
        let Some((low, high)) = written.range else { continue };
        let field = descriptor.fields.iter().find(|field| field.name.value == written.name.value);
        let Some(field) = field.filter(|field| field.scale > 0) else { continue };
        let mut say = |message: String, help: &str| {
            diags.push(
                Diagnostic::at(field.name.span, message)
                    .note(descriptor.fact.entry.name.span, "of this one")
                    .help(help),
            )
        };
        if low == high {
            say(
                format!("`{}` is {low} to {high}: it has one value", field.name.value),
                "one value is a `constant`; else correct `range`",
            );
        }
        let highest = 1u32.checked_shl(u32::from(field.bits).saturating_sub(1)).unwrap_or(0);
        if high / field.scale < highest {
            say(
                format!(
                    "`{}` has {} bits, and values to {high} leave the highest unset",
                    field.name.value, field.bits
                ),
                "correct `bits` or `range`",
            );
        }
    }
}

/// A symbol is one field, whatever the tile.
fn symbols(units: &Units, diags: &mut Diagnostics) {
    let mut known: BTreeMap<&str, (&str, u32, crate::source::Span)> = BTreeMap::new();
    for (fact, ..) in &units.operand_tiles {
        for field in &fact.entry.fields {
            let mine = (field.field.as_str(), field.unused, fact.entry.name.span);
            let first = *known.entry(&field.symbol).or_insert(mine);
            if (first.0, first.1) != (mine.0, mine.1) {
                let message = format!(
                    "`{}` is `{}` ({} where unused) here and `{}` ({}) elsewhere",
                    field.symbol, mine.0, mine.1, first.0, first.1
                );
                diags.push(
                    Diagnostic::at(mine.2, message)
                        .note(first.2, "elsewhere")
                        .help("one symbol is one field: correct one of them"),
                );
            }
        }
    }
}

/// Fields have parts of their own, and units of a bit.
fn parts(descriptor: &Descriptor, diags: &mut Diagnostics) {
    for (at, field) in descriptor.fields.iter().enumerate() {
        let other = descriptor.fields[..at].iter().find(|other| other.role == field.role);
        if let Some(other) = other.filter(|_| field.role != FieldRole::Plain) {
            let message = format!(
                "fields `{}` and `{}` of `{}` have one role",
                other.name.value, field.name.value, descriptor.fact.entry.name.value
            );
            diags.push(
                Diagnostic::at(field.name.span, message)
                    .note(other.name.span, "the other")
                    .help("a role is that of one field: correct `role`"),
            );
        }
        if !field.scale.is_power_of_two() {
            diags.push(
                Diagnostic::at(field.name.span, format!("a unit of {}", field.scale))
                    .help("a field leaves out low bits: `scale` is a power of two"),
            );
        }
    }
}

/// What a field of A says of its values, that of B says of the same.
fn factors(descriptor: &Descriptor, diags: &mut Diagnostics) {
    let pairs = [
        (FieldRole::Type(0), FieldRole::Type(1)),
        (FieldRole::Major(0), FieldRole::Major(1)),
        (FieldRole::Scale(0), FieldRole::Scale(1)),
    ];
    for (a, b) in pairs {
        let of = |role| descriptor.fields.iter().find(|field| field.role == role);
        let (Some(a), Some(b)) = (of(a), of(b)) else { continue };
        let same = a.values == b.values && (a.range == b.range || !a.values.is_empty());
        if !same || a.scale != b.scale {
            let message = format!(
                "`{}` and `{}` of `{}` have other values",
                a.name.value, b.name.value, descriptor.fact.entry.name.value
            );
            diags.push(
                Diagnostic::at(b.name.span, message)
                    .note(a.name.span, "the field of A")
                    .help("both factors are coded alike: correct one of them"),
            );
        }
    }
}

/// The ends of the fields of rows and columns are those of the shapes.
fn reached(units: &Units, descriptor: &Descriptor, diags: &mut Diagnostics) {
    let shapes: Vec<_> = units
        .shapes
        .iter()
        .filter(|shape| shape.entry.descriptor.value == descriptor.fact.entry.name.value)
        .collect();
    if shapes.is_empty() {
        return;
    }
    let rows = shapes.iter().flat_map(|shape| shape.entry.m.iter().map(|(m, _)| *m));
    let columns = shapes.iter().flat_map(|shape| shape.entry.n.value.iter().map(|n| n.1));
    let stated = &descriptor.fact.entry.fields;
    for (role, most) in [(FieldRole::Rows, rows.max()), (FieldRole::Columns, columns.max())] {
        let Some(field) = descriptor.fields.iter().find(|field| field.role == role) else {
            continue;
        };
        let own = stated.iter().any(|f| f.name.value == field.name.value && f.range.is_some());
        if own && most.is_some_and(|most| field.range.1 != u32::from(most)) {
            let message = format!(
                "field `{}` goes up to {}, the shapes of `{}` to {}",
                field.name.value,
                field.range.1,
                descriptor.fact.entry.name.value,
                most.unwrap_or(0)
            );
            diags.push(
                Diagnostic::at(field.name.span, message).help("correct `range`, or the shapes"),
            );
        }
    }
}

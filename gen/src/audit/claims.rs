//! Nothing in an atom is there without a purpose, and nothing has two.
//!
//! Where an atom says what it does, each number that its text has and each register that it reads
//! is part of that: an address or an offset of a side, an argument of a term, a factor, an index,
//! what chooses one of several. A product's operands are different ones, in the order of the text.
use super::forms::named;
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::{Atom, How, HwModel, Operand};
use lanebook_layout::AxisId;
use lanebook_tables::{FieldRole, RegisterKind, Role, TermNode};
use std::collections::{BTreeMap, BTreeSet};

/// See the module.
#[must_use]
pub fn check(compiled: &Compiled) -> Diagnostics {
    let mut diags = Diagnostics::new();
    for atom in &compiled.model.atoms {
        unclaimed(&compiled.model, atom, &mut diags);
        apart(atom, &mut diags);
        order(atom, &mut diags);
        moved(&compiled.model, atom, &mut diags);
        paired(atom, &mut diags);
        types(&compiled.model, atom, &mut diags);
        from_nothing(atom, &mut diags);
        exchanged(atom, &mut diags);
        places(atom, &mut diags);
    }
    broadcasts(&compiled.model, &mut diags);
    diags
}

/// Lanes that are read in place of others: every row speaks of the whole wave, and of runs in it.
fn broadcasts(model: &HwModel, diags: &mut Diagnostics) {
    let most = model.archs.iter().flat_map(|arch| arch.wave_lanes.value.iter()).max().copied();
    for one in &model.broadcasts {
        let How::Lanes(run, rows) = &one.how else { continue };
        let whole = |row: &Vec<u8>| {
            let lanes = usize::from(*run) * row.len();
            most.is_none_or(|most| lanes == usize::from(most))
                && row.iter().all(|from| usize::from(*from) < row.len())
        };
        if !rows.iter().all(whole) {
            diags.push(
                Diagnostic::at(
                    one.name.span,
                    format!("`{}` has a row that is not of runs of the whole wave", one.name.value),
                )
                .help("as many runs as lanes and `run` give, each reading one of them"),
            );
        }
        // Number 0 is what is not said: every run reads itself. One that all read is counted up.
        let itself = |row: &Vec<u8>| row.iter().zip(0..).all(|(from, run)| *from == run);
        let one_for_all: Vec<u8> = rows
            .iter()
            .filter(|row| row.windows(2).all(|two| two[0] == two[1]))
            .filter_map(|row| row.first().copied())
            .collect();
        let told = if !rows.first().is_none_or(itself) {
            "reads other lanes where nothing is said"
        } else if !one_for_all.is_sorted() {
            "has the runs that all lanes read in no order"
        } else {
            continue;
        };
        diags.push(
            Diagnostic::at(one.name.span, format!("`{}` {told}", one.name.value)).help(
                "row 0 is of 0, which is the instruction as it is, and runs are numbered from the first lane",
            ),
        );
    }
}

/// What an immediate moves or exchanges is where it is said to be if the immediate is 0, so that 0
/// is one of its values.
fn from_nothing(atom: &Atom, diags: &mut Diagnostics) {
    let Some(more) = &atom.more else { return };
    let moves = more.moves.iter().map(|(by, ..)| *by);
    let exchanges = more.broadcasts.iter().flat_map(|(_, by, how)| match how {
        crate::model::Use::Blocks(member) => [Some(*by), Some(*member)],
        crate::model::Use::Lanes(..) => [Some(*by), None],
    });
    for number in moves.chain(exchanges.flatten()) {
        let Some(operand) = atom.operands.get(usize::from(number)) else { continue };
        if let Some(range) = operand.range.as_ref().filter(|range| range.value.0 != 0) {
            let message = format!(
                "`{}` of `{}` moves what is read, and goes from {}",
                operand.name.value, atom.name.value, range.value.0
            );
            diags.push(
                Diagnostic::at(range.span, message)
                    .help("layouts are those of 0: begin the range with it"),
            );
        }
    }
}

/// Each operand is exchanged by one immediate.
fn exchanged(atom: &Atom, diags: &mut Diagnostics) {
    let Some(more) = &atom.more else { return };
    let mut seen = BTreeSet::new();
    let twice = more.broadcasts.iter().find(|(operand, ..)| !seen.insert(*operand));
    let operand = twice.and_then(|(operand, ..)| atom.operands.get(usize::from(*operand)));
    if let Some(operand) = operand {
        let message =
            format!("`{}` of `{}` is exchanged in two ways", operand.name.value, atom.name.value);
        diags.push(Diagnostic::at(operand.name.span, message).help(
            "one immediate says what is read of an operand: correct a broadcast's `operand`",
        ));
    }
}

/// An offset leads to a place of its side.
fn places(atom: &Atom, diags: &mut Diagnostics) {
    let Some(movement) = &atom.movement else { return };
    for field in &movement.offsets {
        let on = [(field.on_from, &movement.from), (field.on_to, &movement.to)];
        let most =
            on.into_iter().filter(|(on, _)| *on).map(|(_, side)| side.layout.most(AxisId::PLACE));
        let most = most.max().unwrap_or(0);
        if i64::from(field.place) > most {
            let message = format!(
                "an offset of `{}` leads to place {}, and the last is {most}",
                atom.name.value, field.place
            );
            diags.push(
                Diagnostic::at(field.span, message)
                    .help("places count from 0: correct `place`, or the layout of that side"),
            );
        }
    }
}

/// Types that a text can say of a factor are types that the word of the product can say.
fn types(model: &HwModel, atom: &Atom, diags: &mut Diagnostics) {
    let (Some(shape), Some(tensor)) =
        (&atom.matrix, atom.more.as_ref().and_then(|more| more.tensor.as_ref()))
    else {
        return;
    };
    let descriptors = model.units.descriptors.iter();
    let word = descriptors.filter(|one| one.fact.entry.name.value == tensor.descriptor.value);
    let fields: Vec<_> = word.flat_map(|one| &one.fields).collect();
    for (factor, number) in [(0u8, shape.a), (1, shape.b)] {
        let mut values = fields
            .iter()
            .filter(|field| field.role == FieldRole::Type(factor))
            .flat_map(|field| field.values.iter().map(|(name, _)| name.as_str()))
            .peekable();
        if values.peek().is_none() {
            continue;
        }
        let known: BTreeSet<&str> = values.collect();
        let by = atom.operands.get(usize::from(number)).and_then(|operand| operand.vary.typed_by);
        let Some(words) = by.and_then(|by| atom.operands.get(usize::from(by))) else { continue };
        for id in words.vary.words.iter().filter_map(|word| word.1) {
            let Some(dtype) = model.dtypes.get(id.index()) else { continue };
            if !known.contains(dtype.name.value.as_str()) {
                let message = format!(
                    "`{}` says `{}`, and its word cannot",
                    words.name.value, dtype.name.value
                );
                diags.push(
                    Diagnostic::at(words.name.span, message)
                        .help("name types that the field of its descriptor has"),
                );
            }
        }
    }
}

/// Operands that some part of an atom speaks of.
fn claimed(atom: &Atom) -> BTreeSet<u8> {
    let mut out = BTreeSet::new();
    for side in atom.movement.iter().flat_map(|movement| [&movement.from, &movement.to]) {
        out.insert(side.operand);
        out.extend(side.base);
    }
    let offsets = atom.movement.iter().flat_map(|movement| &movement.offsets);
    out.extend(offsets.map(|field| field.operand));
    out.extend(atom.movement.iter().filter_map(|movement| movement.size));
    let atomics = atom.movement.iter().filter_map(|movement| movement.atomic);
    out.extend(atomics.flat_map(|atomic| atomic.old.into_iter().chain(atomic.compare)));
    out.extend(atom.matrix.iter().flat_map(|shape| [shape.a, shape.b, shape.c, shape.d]));
    if let Some(more) = &atom.more {
        out.extend(more.index.iter().chain(&more.scales.0).chain(&more.scales.1));
        out.extend(more.moves.iter().flat_map(|(by, of, ..)| [*by, *of]));
        out.extend(more.broadcasts.iter().flat_map(|(of, by, _)| [*of, *by]));
        out.extend(more.shared.iter().flat_map(|one| one.along.into_iter().chain([one.operand])));
        out.extend(more.tensor.iter().flat_map(|one| [one.word, one.adds, one.one]));
    }
    for node in &atom.means {
        match node {
            TermNode::Operand(number) | TermNode::Lut3(number) => out.extend([*number]),
            _ => {}
        }
    }
    if let Some(does) = &atom.does {
        out.extend(does.uses.iter());
        out.extend(does.lanes.iter().filter_map(|lanes| Some(lanes.by.as_ref()?.0)));
    }
    out
}

fn unclaimed(model: &HwModel, atom: &Atom, diags: &mut Diagnostics) {
    let exchanges = atom.does.as_ref().is_some_and(|does| !does.lanes.is_empty());
    let says = atom.movement.is_some() || atom.matrix.is_some() || !atom.means.is_empty();
    if !says && (atom.does.is_none() || exchanges) {
        return;
    }
    let claimed = claimed(atom);
    for (number, operand) in (0u8..).zip(&atom.operands) {
        let kind = operand
            .class
            .and_then(|class| model.isa(atom.isa).classes.get(class.index()))
            .map(|class| class.kind);
        let fixed = operand.range.as_ref().is_some_and(|range| range.value.0 == range.value.1);
        // A number of a product's text may be the same in all uses, or choose a format.
        let number_of_product = atom.matrix.is_some() && operand.role == Role::Immediate;
        let spoken_of = claimed.contains(&number)
            || operand.implicit
            || fixed
            || number_of_product
            || kind == Some(RegisterKind::Predicate)
            || !operand.vary.words.is_empty()
            || !operand.vary.values.is_empty()
            || !matches!(operand.role, Role::Use | Role::Address | Role::Immediate);
        let table = atom.means.iter().any(|node| matches!(node, TermNode::BytePermute));
        let chosen = atom.does.as_ref().is_some_and(|does| does.selector > 0);
        if !spoken_of && !(operand.role == Role::Immediate && (table || chosen)) {
            let message = format!(
                "nothing says what `{}` of `{}` is for",
                operand.name.value, atom.name.value
            );
            diags.push(
                Diagnostic::at(operand.name.span, message)
                    .help("name it where the atom says what it does: as an offset, an address, an argument, or one of the product's operands"),
            );
        }
    }
}

/// A part of a product is an operand of its own; nothing is taken twice.
fn apart(atom: &Atom, diags: &mut Diagnostics) {
    let mut parts: Vec<(&str, u8)> = Vec::new();
    if let Some(shape) = &atom.matrix {
        parts.extend([("A", shape.a), ("B", shape.b), ("C", shape.c)]);
        if shape.d != shape.c {
            parts.push(("D", shape.d));
        }
    }
    if let Some(more) = &atom.more {
        parts.extend(more.index.map(|number| ("the index", number)));
        parts.extend(more.scales.0.map(|number| ("the scale of A", number)));
        parts.extend(more.scales.1.map(|number| ("the scale of B", number)));
        parts.extend(more.shared.iter().filter_map(|one| Some(("an order", one.along?))));
        let tensor = more.tensor.iter();
        parts.extend(tensor.flat_map(|one| {
            [("the word", one.word), ("whether it adds", one.adds), ("who issues", one.one)]
        }));
    }
    let mut known: BTreeMap<u8, &str> = BTreeMap::new();
    for (part, number) in parts {
        let (Some(before), Some(operand)) =
            (known.insert(number, part), atom.operands.get(usize::from(number)))
        else {
            continue;
        };
        let message =
            format!("`{}` of `{}` is {before} and {part}", operand.name.value, atom.name.value);
        diags.push(
            Diagnostic::at(operand.name.span, message)
                .help("each part is an operand of its own: correct one of the names"),
        );
    }
    let uses = atom.does.iter().flat_map(|does| &does.uses);
    let mut taken = BTreeSet::new();
    for number in uses {
        let Some(operand) = atom.operands.get(usize::from(*number)) else { continue };
        if !taken.insert(number) {
            let message = format!("`{}` takes `{}` twice", atom.name.value, operand.name.value);
            diags.push(
                Diagnostic::at(operand.name.span, message)
                    .help("`uses` names each operand once, in the order of the text"),
            );
        }
    }
}

/// Texts have what a product leaves, then A, B, C, then what goes with them.
fn order(atom: &Atom, diags: &mut Diagnostics) {
    let Some(shape) = &atom.matrix else { return };
    let named = named(atom);
    let place = |number: u8| {
        let operand = atom.operands.get(usize::from(number))?;
        let at = named.iter().position(|other| other.name.value == operand.name.value)?;
        Some((at, operand))
    };
    let mut wanted: Vec<u8> = vec![shape.d, shape.a, shape.b];
    if shape.c != shape.d {
        wanted.push(shape.c);
    }
    if let Some(more) = &atom.more {
        wanted.extend(more.index);
        wanted.extend(more.scales.0.iter().chain(&more.scales.1));
    }
    let found: Vec<(usize, &Operand)> = wanted.into_iter().filter_map(place).collect();
    if let Some(two) = found.windows(2).find(|two| two[0].0 >= two[1].0) {
        let (first, second) = (&two[0].1.name, &two[1].1.name);
        let message = format!(
            "the text of `{}` has `{}` before `{}`",
            atom.name.value, second.value, first.value
        );
        diags.push(
            Diagnostic::at(atom.template_span, message)
                .note(first.span, "the one that comes first")
                .help("results come first, then A, B and C, then the index and the scales of A and B: correct the text or `matrix`"),
        );
    }
}

/// What an immediate moves fills the register, or the lanes, and each operand has an immediate of
/// its own.
fn moved(model: &HwModel, atom: &Atom, diags: &mut Diagnostics) {
    let mut used: BTreeMap<&str, &Operand> = BTreeMap::new();
    for operand in &atom.operands {
        for (by, bits, lanes) in &operand.moved {
            let mut say = |message: String, help: &str| {
                diags.push(Diagnostic::at(by.span, message).help(help));
            };
            let sums = |one: &Operand| {
                let shape = atom.matrix.as_ref();
                shape.is_some_and(|shape| {
                    [shape.c, shape.d].into_iter().any(|number| {
                        let of = atom.operands.get(usize::from(number));
                        of.is_some_and(|of| of.name.value == one.name.value)
                    })
                })
            };
            let before = used.insert(&by.value, operand);
            // The old sums lie where the new ones do.
            if let Some(other) = before.filter(|other| !(sums(other) && sums(operand))) {
                say(
                    format!(
                        "`{}` moves `{}` and `{}`",
                        by.value, other.name.value, operand.name.value
                    ),
                    "each operand is moved by an immediate of its own",
                );
            }
            let found = atom.operands.iter().find(|other| other.name.value == by.value);
            let Some(range) = found.and_then(|other| other.range.as_ref()) else { continue };
            let values = u64::try_from(range.value.1 + 1).unwrap_or(0);
            let held = u64::from(operand.register_bits) * u64::from(operand.registers);
            let (wide, far) = (u64::from(*bits) * values, u64::from(*lanes) * values);
            if *bits > 0 && (wide > held || !bits.is_power_of_two()) {
                say(
                    format!("steps of {bits} bits to {} in {held} bits", range.value.1),
                    "the last step ends in the register: correct `bits`, or the range",
                );
            }
            let one = operand.dtype.and_then(|id| model.dtypes.get(id.index()));
            if let Some(one) = one.filter(|one| !bits.is_multiple_of(one.bits.max(1))) {
                say(
                    format!("steps of {bits} bits through elements of {}", one.bits),
                    "a step ends between two elements: correct `bits`, or `dtype`",
                );
            }
            if *lanes > 0 && (far > 64 || !lanes.is_power_of_two()) {
                say(
                    format!("steps of {lanes} lanes to {}", range.value.1),
                    "the last step ends in the wave: correct `lanes`, or the range",
                );
            }
        }
    }
}

/// The scales of A and of B are moved in the same ways: by bits, by lanes, or not.
fn paired(atom: &Atom, diags: &mut Diagnostics) {
    let Some((Some(a), Some(b))) = atom.more.as_ref().map(|more| more.scales) else { return };
    let (Some(a), Some(b)) = (atom.operands.get(usize::from(a)), atom.operands.get(usize::from(b)))
    else {
        return;
    };
    let ways = |operand: &Operand| {
        operand.moved.iter().map(|(_, bits, lanes)| (*bits > 0, *lanes > 0)).collect::<Vec<_>>()
    };
    if ways(a) != ways(b) {
        let message = format!(
            "`{}` and `{}` of `{}` are not moved in the same ways",
            a.name.value, b.name.value, atom.name.value
        );
        diags.push(
            Diagnostic::at(b.name.span, message).note(a.name.span, "the other").help(
                "what chooses a scale of one factor chooses one of the other: correct `moved`",
            ),
        );
    }
}

//! What parts of an entry imply of each other, entry by entry.
//!
//! An atom has the class of what it does, and its movement crosses lanes if an element leaves the
//! lane whose address fetched it. What an immediate moves does not meet itself. A word of a text
//! that names a type is the type of an operand. A tag that says more comes behind one that says
//! which pipe it is, the same everywhere. Lists name a thing once. Moves of tensor memory load and
//! store by instructions of their own shape.
use super::spelling::words;
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::{Atom, HwModel, Movement, Operand};
use crate::source::Span;
use lanebook_layout::AxisId;
use lanebook_tables::{AtomClass, AtomId, DtypeKind, Role, Space, TagId};
use std::collections::{BTreeMap, BTreeSet};

/// See the module.
#[must_use]
pub fn check(compiled: &Compiled) -> Diagnostics {
    let model = &compiled.model;
    let mut diags = Diagnostics::new();
    let mut say = |span: Span, message: String, help: &str| {
        diags.push(Diagnostic::at(span, message).help(help))
    };
    for atom in &model.atoms {
        class(atom, &mut say);
        does(atom, &mut say);
        typed(atom, &mut say);
        beside(atom, &mut say);
        if let Some(movement) = &atom.movement {
            crossing(atom, movement, &mut say);
            units(atom, movement, &mut say);
        }
        for operand in &atom.operands {
            meets(atom, operand, &mut say);
        }
    }
    pipes(model, &mut say);
    results(model, &mut say);
    shapes(model, &mut say);
    model.atoms.iter().for_each(|atom| scales(model, atom, &mut diags));
    parts(model, &mut diags);
    super::kernels::check(compiled, &mut diags);
    diags
}

/// What ends a kernel, goes elsewhere or stands between accesses is of the class of that.
fn parts(model: &HwModel, diags: &mut Diagnostics) {
    let mut named: BTreeMap<AtomId, (AtomClass, &str)> = BTreeMap::new();
    for isa in &model.isas {
        for id in [isa.atoms.branch, isa.atoms.branch_if, isa.atoms.end].into_iter().flatten() {
            named.insert(id, (AtomClass::Control, "a part of every kernel"));
        }
    }
    for step in model.archs.iter().flat_map(|arch| &arch.sync).flat_map(|rule| &rule.steps) {
        named.insert(step.atom.value, (AtomClass::Sync, "a step between accesses"));
    }
    for (id, (class, what)) in named {
        let atom = model.atom(id);
        if atom.class != class {
            let message = format!("`{}` is {what}, and its class is another", atom.name.value);
            diags.push(Diagnostic::at(atom.name.span, message).help("correct `class`"));
        }
    }
}

fn class(atom: &Atom, say: &mut impl FnMut(Span, String, &str)) {
    use AtomClass::{Alu, Convert, CrossLane, Matrix, Move};
    let (what, wanted): (&str, &[AtomClass]) = match () {
        () if atom.matrix.is_some() => ("a product", &[Matrix]),
        () if atom.movement.is_some() => ("a movement", &[Move, CrossLane]),
        () if !atom.means.is_empty() || atom.does.is_some() => {
            ("a computation", &[Alu, Convert, CrossLane])
        }
        () => return,
    };
    if !wanted.contains(&atom.class) {
        say(
            atom.name.span,
            format!("`{}` is {what}, and its class is another", atom.name.value),
            "correct `class`",
        );
    }
}

/// What crosses lanes says between which; a choice of bytes has a selector that divides a register.
fn does(atom: &Atom, say: &mut impl FnMut(Span, String, &str)) {
    let Some(does) = &atom.does else { return };
    let crosses = atom.class == AtomClass::CrossLane;
    if crosses == does.lanes.is_empty() && atom.movement.is_none() {
        let message = format!(
            "`{}` {} lanes, and {}",
            atom.name.value,
            if crosses { "crosses" } else { "stays in its" },
            if crosses { "says not between which" } else { "says between which" }
        );
        say(does.op.span, message, "correct `class`, or `lanes`");
    }
    for (number, _) in does.lanes.iter().filter_map(|lanes| lanes.by) {
        let operand = atom.operands.get(usize::from(number));
        if let Some(operand) = operand.filter(|operand| operand.role == Role::Def) {
            let message = format!("`{}` says which lane, and is only written", operand.name.value);
            say(operand.name.span, message, "name the operand that lanes are read from in `by`");
        }
    }
    if does.lanes.iter().filter_map(|lanes| lanes.by).any(|(_, units)| units == 0) {
        let message = format!("lanes of `{}` are counted in units of 0", atom.name.value);
        say(does.op.span, message, "`by` is an operand and how much of it is a lane");
    }
    if does.selector > 0 && !does.selector.is_power_of_two() {
        let message = format!("a selector of {} bits for each byte", does.selector);
        say(
            does.op.span,
            message,
            "as many bits for each byte, a power of two: correct `selector`",
        );
    }
}

/// A word that stands for an element type is that of an operand.
fn typed(atom: &Atom, say: &mut impl FnMut(Span, String, &str)) {
    if atom.matrix.is_none() {
        return;
    }
    for (number, operand) in (0u8..).zip(&atom.operands) {
        let names_types =
            operand.vary.words.len() > 1 && operand.vary.words.iter().all(|word| word.1.is_some());
        let used = atom.operands.iter().any(|other| {
            other.vary.typed_by == Some(number)
                || other.vary.scaled_by.is_some_and(|(by, _)| by == number)
        });
        if names_types && !used {
            say(
                operand.name.span,
                format!(
                    "`{}` of `{}` names types, and no operand has them",
                    operand.name.value, atom.name.value
                ),
                "an operand's `dtype` is the word, in braces",
            );
        }
    }
}

/// An element leaves its lane, or none does.
fn crossing(atom: &Atom, movement: &Movement, say: &mut impl FnMut(Span, String, &str)) {
    let sides = [&movement.from, &movement.to];
    let memory = sides.iter().find(|side| matches!(side.space, Space::Shared | Space::Global));
    let register = sides.iter().find(|side| side.space == Space::Register);
    let (Some(memory), Some(register)) = (memory, register) else { return };
    if !memory.layout.axes().contains(&AxisId::SLOT) {
        return;
    }
    let leaves = (0..register.layout.size())
        .any(|x| register.layout.at(x, 0, AxisId::LANE) != memory.layout.at(x, 0, AxisId::SLOT));
    if leaves != movement.crosses_lanes {
        say(
            movement.span.head(),
            format!(
                "elements of `{}` {} the lane of their address, `crosses_lanes` says else",
                atom.name.value,
                if leaves { "leave" } else { "stay in" }
            ),
            "correct `crosses_lanes`, or a layout",
        );
    }
}

/// Where places are bytes, elements are; a coordinate that is always 0 is none.
fn units(atom: &Atom, movement: &Movement, say: &mut impl FnMut(Span, String, &str)) {
    let extents = &movement.extents.value;
    if extents.len() > 2 && extents.last() == Some(&1) {
        say(
            movement.extents.span,
            format!("the last of the extents {extents:?} of `{}` is 1", atom.name.value),
            "lanes and what each moves are the coordinates: leave the last one out",
        );
    }
    let bytes = [&movement.from, &movement.to]
        .iter()
        .filter(|side| side.space != Space::Register)
        .all(|side| side.layout.axes().contains(&AxisId::BYTE));
    if bytes && !movement.unit_bits.is_multiple_of(8) {
        say(
            movement.span.head(),
            format!(
                "elements of `{}` have {} bits, and lie at bytes",
                atom.name.value, movement.unit_bits
            ),
            "correct `unit_bits`, or lay them at `bit`",
        );
    }
}

/// A layout that an immediate moves is somewhere else at each of its values.
fn meets(atom: &Atom, operand: &Operand, say: &mut impl FnMut(Span, String, &str)) {
    let Some(layout) = &operand.layout else { return };
    for (by, bits, lanes) in &operand.moved {
        let found = atom.operands.iter().find(|other| other.name.value == by.value);
        let Some(range) = found.and_then(|other| other.range.as_ref()) else { continue };
        let step =
            found.and_then(|other| other.multiple.as_ref()).map_or(1, |m| i64::from(m.value));
        let mut places = BTreeSet::new();
        let mut count = 0usize;
        let mut value = range.value.0;
        while value <= range.value.1 && count < 1 << 16 {
            let here: BTreeSet<(i64, i64)> = (0..layout.size())
                .flat_map(|x| (0..layout.copies()).map(move |copy| (x, copy)))
                .map(|(x, copy)| {
                    let lane = layout.at(x, copy, AxisId::LANE) + i64::from(*lanes) * value;
                    (lane, layout.at(x, copy, AxisId::BIT) + i64::from(*bits) * value)
                })
                .collect();
            count += here.len();
            places.extend(here);
            value += step.max(1);
        }
        if places.len() != count {
            say(
                by.span,
                format!("moved by `{}`, `{}` meets itself", by.value, operand.name.value),
                "each value chooses other places: correct `bits` or `lanes`, or the range",
            );
        }
    }
}

/// A tag behind the first goes with one first tag.
fn pipes(model: &HwModel, say: &mut impl FnMut(Span, String, &str)) {
    let mut firsts: BTreeMap<TagId, BTreeMap<TagId, Vec<&Atom>>> = BTreeMap::new();
    for atom in &model.atoms {
        let Some((first, rest)) = atom.tags.split_first() else { continue };
        for tag in rest.iter().chain([first]) {
            firsts.entry(*tag).or_default().entry(*first).or_default().push(atom);
        }
    }
    let name = |tag: TagId| &model.tags[tag.index()].name.value;
    for (tag, found) in firsts {
        if found.len() < 2 {
            continue;
        }
        let mut list: Vec<(TagId, Vec<&Atom>)> = found.into_iter().collect();
        list.sort_by_key(|(tag, atoms)| (std::cmp::Reverse(atoms.len()), *tag));
        if let (Some((usual, _)), Some((odd, atoms))) = (list.first(), list.last())
            && let Some(atom) = atoms.first()
        {
            say(
                atom.name.span,
                format!(
                    "`{}` has tag `{}` with `{}` first, others have `{}` first",
                    atom.name.value,
                    name(tag),
                    name(*odd),
                    name(*usual)
                ),
                "the first tag says which pipe an instruction runs in: correct one of them",
            );
        }
    }
}

/// How many instructions of a tag tell what the others are.
const MANY: usize = 3;

/// A tag behind the first goes with results in registers of one kind, where all but one that carry
/// it have them so.
fn results(model: &HwModel, say: &mut impl FnMut(Span, String, &str)) {
    let mut kinds: BTreeMap<TagId, BTreeMap<String, Vec<&Atom>>> = BTreeMap::new();
    for atom in &model.atoms {
        let classes = &model.isa(atom.isa).classes;
        let of = atom.operands.iter().filter(|one| matches!(one.role, Role::Def | Role::UseDef));
        // The first is the result; what else is written may be a flag, or nothing that is kept.
        let of = of.filter_map(|one| classes.get(one.class?.index())).next();
        let told = of.map_or("no register".to_string(), |class| format!("`{}`", class.name.value));
        for tag in atom.tags.iter().skip(1) {
            kinds.entry(*tag).or_default().entry(told.clone()).or_default().push(atom);
        }
    }
    for (tag, found) in kinds.into_iter().filter(|(_, found)| found.len() == 2) {
        let mut list: Vec<(String, Vec<&Atom>)> = found.into_iter().collect();
        list.sort_by_key(|(_, atoms)| std::cmp::Reverse(atoms.len()));
        if let [(usual, many), (odd, one)] = &list[..]
            && let ([atom], true) = (&one[..], many.len() >= MANY)
        {
            say(
                atom.name.span,
                format!(
                    "`{}` has tag `{}` and its result in {odd}, all others of this tag in {usual}",
                    atom.name.value,
                    model.tags[tag.index()].name.value
                ),
                "a tag is of instructions that write alike: correct `tags`, or a class",
            );
        }
    }
}

/// Instructions of a move of tensor memory have its shape in their text, and come in pairs.
fn shapes(model: &HwModel, say: &mut impl FnMut(Span, String, &str)) {
    for (fact, ..) in &model.units.tensor_moves {
        let entry = &fact.entry;
        let mut atoms = Vec::new();
        for (usual, one) in [&entry.loads, &entry.stores] {
            atoms.extend([usual.value.as_str(), one.as_str()]);
        }
        let shape = entry.name.value.as_str();
        let has = |name: &&str| name.is_empty() || words(name).any(|word| word == shape);
        if let Some(name) = atoms.iter().find(|name| !has(name)) {
            say(
                entry.name.span,
                format!("`{name}` moves another shape than `{shape}`"),
                "name the instructions of this shape",
            );
        }
        let varies = |name: &str| {
            let found = model.atoms.iter().find(|atom| atom.name.value == name);
            found.map(|atom| atom.operands.iter().any(|operand| !operand.vary.values.is_empty()))
        };
        for (usual, one) in [&entry.loads, &entry.stores] {
            if varies(&usual.value) == Some(false) && varies(one) == Some(true) {
                say(
                    entry.name.span,
                    format!("`{}` moves one register, and `{one}` several", usual.value),
                    "the first takes a count, the second is for one: exchange them",
                );
            }
        }
        if entry.loads.1.is_empty() != entry.stores.1.is_empty() {
            say(
                entry.name.span,
                "loads to one register have an instruction of their own, or stores have, not both"
                    .into(),
                "correct one of them: both directions have the same forms",
            );
        }
    }
}

/// Scales are of a type of numbers without bits to spare for a sign, and of that which a text says.
fn scales(model: &HwModel, atom: &Atom, diags: &mut Diagnostics) {
    let Some(more) = &atom.more else { return };
    let text = super::spelling::text(atom);
    let named = |name: &str| model.dtypes.iter().find(|one| one.name.value == name);
    // Without a sign, whether the type's name says so or not.
    let said = words(&text)
        .filter(|word| word.starts_with("ue"))
        .find_map(|word| named(word).or_else(|| named(&word[1..])));
    for number in [more.scales.0, more.scales.1].into_iter().flatten() {
        let Some(operand) = atom.operands.get(usize::from(number)) else { continue };
        let Some(dtype) = operand.dtype.and_then(|id| model.dtypes.get(id.index())) else {
            continue;
        };
        let other = said.filter(|said| said.name.value != dtype.name.value);
        if dtype.kind != DtypeKind::Float || other.is_some() {
            let message = format!(
                "`{}` of `{}` holds scales and is of type `{}`{}",
                operand.name.value,
                atom.name.value,
                dtype.name.value,
                other
                    .map_or(String::new(), |said| format!(", the text says `{}`", said.name.value))
            );
            diags.push(
                Diagnostic::at(operand.name.span, message)
                    .help("a scale is a float: correct `dtype`, or the text"),
            );
        }
    }
}

/// Indices and scales are over the rows, or the columns, and parts of the depth.
fn beside(atom: &Atom, say: &mut impl FnMut(Span, String, &str)) {
    let Some(shape) = &atom.matrix else { return };
    let parts = [shape.a, shape.b, shape.c, shape.d];
    for (number, operand) in (0u8..).zip(&atom.operands) {
        let Some(extents) = operand.extents.as_ref().filter(|_| !parts.contains(&number)) else {
            continue;
        };
        let (first, second) = extents.value;
        let of_depth = |extent: u16| extent > 0 && shape.k.is_multiple_of(extent);
        let fits = first == shape.m && of_depth(second) || second == shape.n && of_depth(first);
        if !fits {
            say(
                operand.name.span,
                format!(
                    "`{}` of `{}` is over {first} by {second}, the product is {} by {} by {}",
                    operand.name.value, atom.name.value, shape.m, shape.n, shape.k
                ),
                "it is over the rows of A or the columns of B, and a part of the depth: correct `extents`",
            );
        }
    }
}

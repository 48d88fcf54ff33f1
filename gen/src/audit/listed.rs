//! Lists stand in the order of what they name, so that it is seen where two neighbours are exchanged.
//!
//! Operands stand as the text has them, fields as the bits of their word, numbers from the lowest up,
//! names of declared things as these are declared. Two steps that stand in more than one list of what
//! is done between accesses stand in the same order in all of them.
use super::wording::{one_line, reversed, written};
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics, Level};
use crate::model::{Atom, HwModel, Operand, Units};
use crate::schema::Name;
use crate::source::Span;
use crate::template;
use lanebook_tables::{RegisterKind, Role};
use std::collections::BTreeMap;

/// See the module.
#[must_use]
pub fn check(compiled: &Compiled) -> Diagnostics {
    let model = &compiled.model;
    let mut diags = Diagnostics::new();
    for atom in &model.atoms {
        operands(model, atom, &mut diags);
        let offsets = atom.movement.iter().flat_map(|movement| &movement.offsets);
        let offsets: Vec<_> = offsets.map(|field| (u64::from(field.operand), field.span)).collect();
        rising("the offsets of a movement", "the operands", &offsets, &mut diags);
        for operand in &atom.operands {
            let number = |name: &Name| atom.operands.iter().position(|one| one.name == *name);
            let moved = operand.moved.iter();
            let moved: Vec<_> =
                moved.filter_map(|(by, ..)| Some((number(by)? as u64, by.span))).collect();
            rising("what moves an operand", "the operands", &moved, &mut diags);
        }
    }
    units(&model.units, &mut diags);
    steps(model, &mut diags);
    diags
}

/// What is the first of a list to stand behind a greater one.
fn rising(what: &str, order: &str, list: &[(u64, Span)], diags: &mut Diagnostics) {
    let Some(two) = list.windows(2).find(|two| two[0].0 > two[1].0) else { return };
    diags.push(
        Diagnostic::at(two[1].1, format!("{what} do not stand in the order of {order}"))
            .note(two[0].1, "this one comes later")
            .help("exchange them, or correct one of them")
            .as_level(Level::Warning),
    );
}

/// Lists in the facts of units.
fn units(units: &Units, diags: &mut Diagnostics) {
    for one in &units.descriptors {
        let own = one.fact.entry.fields.iter();
        let at = |name: &Name| one.fields.iter().find(|field| field.name.value == name.value);
        let fields: Vec<_> = own
            .filter_map(|field| Some((u64::from(at(&field.name)?.at), field.name.span)))
            .collect();
        rising("the fields of a descriptor", "its bits", &fields, diags);
    }
    let of = |declared: Vec<&Name>, list: &[Name]| -> Vec<(u64, Span)> {
        let place = |name: &Name| declared.iter().position(|one| one.value == name.value);
        list.iter().filter_map(|name| Some((place(name)? as u64, name.span))).collect()
    };
    let words = || units.descriptors.iter().map(|one| &one.fact.entry.name).collect();
    for limit in &units.order_limits {
        let list = of(words(), &limit.entry.descriptors);
        rising("the descriptors of a limit", "those that are declared", &list, diags);
    }
    let maps = || units.tensor_maps.iter().flat_map(|map| &map.entry.elements);
    for limit in &units.map_limits {
        let list = of(maps().map(|element| &element.name).collect(), &limit.entry.elements);
        rising("the elements of a limit", "those of tensor maps", &list, diags);
        let modes = units.swizzles.iter().map(|mode| &mode.entry.name).collect();
        let list = of(modes, &limit.entry.swizzles);
        rising("the modes of a limit", "those that are declared", &list, diags);
    }
    for shape in &units.shapes {
        let rows: Vec<_> =
            shape.entry.m.iter().map(|row| (u64::from(row.0), shape.entry.span.head())).collect();
        rising("the rows of a shape", "their number", &rows, diags);
    }
    for (fact, copy) in &units.tiled_moves {
        let at = copy.at.iter().map(|number| u64::from(*number));
        let at: Vec<_> = at.zip(fact.entry.at.iter().map(|name| name.span)).collect();
        rising("the coordinates of a tiled copy", "the operands", &at, diags);
    }
    for map in &units.tensor_maps {
        let elements = map.entry.elements.iter();
        let codes: Vec<_> = elements
            .filter_map(|one| {
                let code = one.codes.get(&map.entry.encoding.value)?;
                Some((u64::from(*code), one.name.span))
            })
            .collect();
        rising("the elements of a tensor map", "their codes", &codes, diags);
    }
}

/// Two steps in two lists. A scope's have an order of their own: what others find, then what is
/// found of them.
fn steps(model: &HwModel, diags: &mut Diagnostics) {
    let mut lists: Vec<Vec<(String, Span)>> = Vec::new();
    let rules = model.archs.iter().flat_map(|arch| &arch.sync);
    for rule in rules.filter(|rule| !super::order::is_scope(model, rule.producer)) {
        let name = |id: usize| model.atoms.get(id).map(|atom| atom.name.value.clone());
        let named = rule
            .steps
            .iter()
            .filter_map(|step| Some((name(step.atom.value.index())?, step.atom.span)));
        lists.push(named.collect());
    }
    for memory in &model.units.tensor_memories {
        let memory = &memory.entry;
        for list in [&memory.enter, &memory.leave, &memory.around] {
            lists.push(list.iter().map(|name| (name.value.clone(), name.span)).collect());
        }
    }
    let mut known: BTreeMap<(&str, &str), Span> = BTreeMap::new();
    for list in &lists {
        for (at, (first, place)) in list.iter().enumerate() {
            for (second, _) in list.iter().skip(at + 1).filter(|(second, _)| second != first) {
                if let Some(other) = known.get(&(second.as_str(), first.as_str())) {
                    let message =
                        format!("`{first}` stands before `{second}` here, and behind it elsewhere");
                    diags.push(Diagnostic::at(*place, message).note(*other, "the other").help(
                        "steps keep their order wherever they are taken: correct one of the lists",
                    ).as_level(Level::Warning));
                    return;
                }
                known.entry((first.as_str(), second.as_str())).or_insert(*place);
            }
        }
    }
}

/// Operands of one role stand in the order of the text, and numbers behind what the text has before
/// them: so it is seen where two are exchanged. What
/// chooses a word of the mnemonic, and who is asked whether it runs at all, stand apart.
fn operands(model: &HwModel, atom: &Atom, diags: &mut Diagnostics) {
    if !one_line(atom) || reversed(atom) {
        return;
    }
    let classes = &model.isa(atom.isa).classes;
    let is_guard = |operand: &Operand| {
        let class = operand.class.and_then(|class| classes.get(class.index()));
        class.is_some_and(|class| class.kind == RegisterKind::Predicate)
    };
    let key = |operand: &Operand| {
        let chooses = !operand.vary.words.is_empty() || !operand.vary.values.is_empty();
        (operand.role, chooses)
    };
    let written = written(atom).into_iter();
    let names: Vec<&str> =
        written.map(|name| template::half(name).map_or(name, |(name, _)| name)).collect();
    let place = |operand: &Operand| names.iter().position(|name| *name == operand.name.value);
    let stands: Vec<(usize, &Operand)> = atom
        .operands
        .iter()
        .filter(|operand| !is_guard(operand))
        .filter_map(|operand| Some((place(operand)?, operand)))
        .collect();
    for (at, (place, operand)) in stands.iter().enumerate() {
        // Numbers come last, or where the text has them.
        let later = stands.iter().skip(at + 1).filter(|(_, other)| {
            let is_number = |one: &Operand| one.role == Role::Immediate;
            key(other) == key(operand)
                || key(operand) == (Role::Immediate, false) && !is_number(other)
        });
        if let Some((_, other)) = later.into_iter().find(|(other, _)| other < place) {
            let message = format!(
                "`{}` stands before `{}`, and the text of `{}` has them the other way round",
                operand.name.value, other.name.value, atom.name.value
            );
            diags.push(
                Diagnostic::at(operand.name.span, message)
                    .note(other.name.span, "the one that the text has first")
                    .help("operands of one role stand in the order of the text, numbers behind what it has before them")
                    .as_level(Level::Warning),
            );
            return;
        }
    }
}

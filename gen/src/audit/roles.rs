//! What an operand is follows from where it stands and what is done with it.
//!
//! Assemblers take what is written before what is read. What a product leaves is written, what it
//! takes is read; what is both is so because the same register is taken and left, or because a part
//! of it stays. (Sides of movements: [`crate::check::movement`].)
use super::spelling::text;
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::{Atom, HwModel, Operand};
use crate::schema::Rest;
use crate::template::Piece;
use lanebook_tables::{AtomClass, Role, TermNode};
use std::collections::{BTreeMap, BTreeSet};

/// See the module.
#[must_use]
pub fn check(compiled: &Compiled) -> Diagnostics {
    let mut diags = Diagnostics::new();
    untouched(&compiled.model, &mut diags);
    for atom in &compiled.model.atoms {
        order(atom, &mut diags);
        lines(atom, &mut diags);
        brackets(&compiled.model, atom, &mut diags);
        offsets(atom, &mut diags);
        wanted(atom, &mut diags);
        both(atom, &mut diags);
        parts(atom, &mut diags);
        answer(atom, &mut diags);
        addresses(atom, &mut diags);
        let mut seen = BTreeSet::new();
        for operand in &atom.operands {
            let twice = operand.also.iter().any(|class| {
                Some(*class) == operand.class
                    || !seen.insert((operand.name.value.clone(), class.index()))
            });
            if twice {
                let message = format!("`also` of `{}` names a class again", operand.name.value);
                diags.push(
                    Diagnostic::at(operand.name.span, message)
                        .help("name further classes, each once"),
                );
            }
        }
    }
    diags
}

/// What an atomic operation answers is written, what it compares with is read.
fn answer(atom: &Atom, diags: &mut Diagnostics) {
    let Some(atomic) = atom.movement.as_ref().and_then(|movement| movement.atomic) else { return };
    let written = |number: u8| atom.operands.get(usize::from(number)).map(writes);
    let old = atomic.old.filter(|number| written(*number) == Some(false));
    // What is compared with may be where the answer goes, if it is read there too.
    let both = |number: &u8| {
        let operand = atom.operands.get(usize::from(*number));
        atomic.old == Some(*number) && operand.is_some_and(|one| one.role == Role::UseDef)
    };
    let compare = atomic.compare.filter(|number| written(*number) == Some(true) && !both(number));
    if let Some(operand) = old.or(compare).and_then(|number| atom.operands.get(usize::from(number)))
    {
        let what = if old.is_some() { "receives the answer of" } else { "is compared with by" };
        let is = if old.is_some() { "read" } else { "written" };
        let message = format!("`{}` {what} `{}`, and is {is}", operand.name.value, atom.name.value);
        diags.push(
            Diagnostic::at(operand.name.span, message)
                .note(atom.name.span, "the atom")
                .help("correct `old` or `compare`, or the operand's role"),
        );
    }
}

/// What a computation takes is no address: nothing is fetched there. What an atomic operation
/// compares with, or leaves, is none either.
fn addresses(atom: &Atom, diags: &mut Diagnostics) {
    let is_address = |number: &u8| {
        atom.operands.get(usize::from(*number)).is_some_and(|one| one.role == Role::Address)
    };
    let atomic = atom.movement.as_ref().and_then(|movement| movement.atomic);
    let computes = matches!(atom.class, AtomClass::Alu | AtomClass::Convert);
    let uses = atom.does.iter().flat_map(|does| &does.uses).copied();
    let taken = atom.means.iter().filter_map(|node| match node {
        TermNode::Operand(number) | TermNode::Lut3(number) => Some(*number),
        _ => None,
    });
    let taken = uses.chain(taken).filter(|_| computes && atom.movement.is_none());
    let compared = atomic.iter().flat_map(|one| [one.old, one.compare]).flatten();
    let found = taken.chain(compared).find(is_address);
    if let Some(operand) = found.and_then(|number| atom.operands.get(usize::from(number))) {
        let message = format!(
            "`{}` of `{}` is a value, and its role an address",
            operand.name.value, atom.name.value
        );
        diags.push(
            Diagnostic::at(operand.name.span, message)
                .note(atom.name.span, "the atom")
                .help("correct its `role`, or name another operand there"),
        );
    }
}

fn writes(operand: &Operand) -> bool {
    matches!(operand.role, Role::Def | Role::UseDef)
}

/// Written operands stand before read ones, where one instruction has them in a row.
fn order(atom: &Atom, diags: &mut Diagnostics) {
    let text = text(atom);
    // A guard stands before everything.
    if text.trim_end().contains('\n') || text.starts_with('@') {
        return;
    }
    let named: Vec<&Operand> = atom
        .template
        .iter()
        .filter_map(|piece| match piece {
            Piece::Name(name) => {
                let name = crate::template::half(name).map_or(name.as_str(), |(name, _)| name);
                atom.operands.iter().find(|operand| operand.name.value == name)
            }
            _ => None,
        })
        .filter(|operand| !matches!(operand.role, Role::Immediate | Role::Label))
        .collect();
    let read = named.iter().position(|operand| !writes(operand));
    let late = read.and_then(|at| named[at..].iter().find(|operand| writes(operand)));
    if let (Some(operand), Some(at)) = (late, read) {
        let message = format!(
            "`{}` of `{}` is written and stands behind `{}`, which is read",
            operand.name.value, atom.name.value, named[at].name.value
        );
        diags.push(
            Diagnostic::at(operand.name.span, message)
                .note(named[at].name.span, "the operand that is read")
                .help("results stand first in a text: correct a role, or the text"),
        );
    }
    let results = matches!(atom.class, AtomClass::Alu | AtomClass::Convert | AtomClass::CrossLane);
    if results && !atom.operands.iter().any(writes) {
        let message = format!("nothing that `{}` computes is written", atom.name.value);
        diags.push(
            Diagnostic::at(atom.name.span, message)
                .help("an operand is its result: correct a role"),
        );
    }
}

/// Of several instructions, one that writes an operand has it before all that it only reads.
fn lines(atom: &Atom, diags: &mut Diagnostics) {
    if !text(atom).trim_end().contains('\n')
        || !matches!(atom.class, AtomClass::Alu | AtomClass::Convert)
    {
        return;
    }
    let mut first: BTreeSet<&str> = BTreeSet::new();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut reading = false;
    for piece in &atom.template {
        let name = match piece {
            Piece::Text(text) => {
                reading &= !text.contains('\n');
                continue;
            }
            Piece::Name(name) | Piece::Optional(name, _) => name.as_str(),
        };
        let name = crate::template::half(name).map_or(name, |(name, _)| name);
        let Some(operand) = atom.operands.iter().find(|one| one.name.value == name) else {
            continue;
        };
        seen.insert(name);
        if !reading && writes(operand) {
            first.insert(name);
        }
        reading |= !writes(operand);
        // What stands first and is not written ends the results of its line.
    }
    let strange = atom.operands.iter().filter(|one| writes(one) && !one.implicit);
    for operand in strange.filter(|one| {
        let name = one.name.value.as_str();
        seen.contains(name) && !first.contains(name)
    }) {
        let message = format!(
            "`{}` of `{}` is written, and stands behind what is read in each of its lines",
            operand.name.value, atom.name.value
        );
        diags.push(
            Diagnostic::at(operand.name.span, message)
                .help("results stand first in a line: correct the role, or the text"),
        );
    }
}

/// How many computations of an instruction set tell that none of them reads its result's register.
const MANY: usize = 20;

/// Where no computation that says what it does reads the register of its result, none does.
fn untouched(model: &HwModel, diags: &mut Diagnostics) {
    let computes = |atom: &&Atom| matches!(atom.class, AtomClass::Alu | AtomClass::Convert);
    let says = |atom: &Atom| atom.does.is_some() || !atom.means.is_empty();
    let both = |atom: &Atom| {
        atom.operands.iter().find(|one| one.role == Role::UseDef && !one.implicit).cloned()
    };
    let mut known: BTreeMap<_, (usize, usize)> = BTreeMap::new();
    for atom in model.atoms.iter().filter(computes).filter(|atom| says(atom)) {
        let counts = known.entry(atom.isa).or_default();
        counts.0 += 1;
        counts.1 += usize::from(both(atom).is_some());
    }
    for atom in model.atoms.iter().filter(computes).filter(|atom| !says(atom)) {
        let none = known.get(&atom.isa).is_some_and(|(all, both)| *all >= MANY && *both == 0);
        if let Some(operand) = both(atom).filter(|_| none) {
            let message = format!(
                "`{}` of `{}` is read and written, as in no other computation of this instruction set",
                operand.name.value, atom.name.value
            );
            diags
                .push(Diagnostic::at(operand.name.span, message).help(
                    "make its role `def` or `use`; or say what the instruction does with it",
                ));
        }
    }
}

/// An offset of one side stands behind an address of that side.
fn offsets(atom: &Atom, diags: &mut Diagnostics) {
    let Some(movement) = &atom.movement else { return };
    let number = |name: &str| {
        let name = crate::template::half(name).map_or(name, |(name, _)| name);
        (0u8..).zip(&atom.operands).find(|(_, one)| one.name.value == name).map(|(at, _)| at)
    };
    let named: Vec<u8> = atom
        .template
        .iter()
        .filter_map(|piece| match piece {
            Piece::Name(name) | Piece::Optional(name, _) => number(name),
            Piece::Text(_) => None,
        })
        .collect();
    let addresses = [&movement.from, &movement.to].map(|side| [Some(side.operand), side.base]);
    // In brackets it is one address that an offset is added to.
    for field in movement.offsets.iter().filter(|field| field.on_from && field.on_to) {
        let mut address = None;
        for (name, first) in inside(atom) {
            if first {
                address = number(name);
            }
            let is_own = number(name) == Some(field.operand) && address.is_some();
            if is_own && addresses[0].contains(&address) != addresses[1].contains(&address) {
                let message = format!(
                    "an offset of `{}` is of both sides, and stands behind the address of one",
                    atom.name.value
                );
                diags.push(
                    Diagnostic::at(field.span.head(), message)
                        .note(atom.template_span, "the text")
                        .help("an offset moves the address in whose brackets it stands: correct `on`, or the text"),
                );
            }
        }
    }
    for field in movement.offsets.iter().filter(|field| field.on_from != field.on_to) {
        let [own, other] = if field.on_from { addresses } else { [addresses[1], addresses[0]] };
        let Some(at) = named.iter().position(|one| *one == field.operand) else { continue };
        let is_address = |one: &&u8| {
            atom.operands.get(usize::from(**one)).is_some_and(|one| one.role == Role::Address)
        };
        let before = named[..at].iter().rev().find(is_address).copied();
        if before.is_some() && other.contains(&before) && !own.contains(&before) {
            let message = format!(
                "an offset of `{}` stands behind the other side's address",
                atom.name.value
            );
            diags.push(
                Diagnostic::at(field.span.head(), message).help(
                    "a text has the offset of an address behind it: correct `operand` or `on`",
                ),
            );
        }
    }
}

/// In the texts of an instruction set that puts addresses in brackets, every address stands in some.
fn brackets(model: &HwModel, atom: &Atom, diags: &mut Diagnostics) {
    let addresses = |atom: &Atom| inside(atom).next().is_some();
    let mut of_isa = model.atoms.iter().filter(|other| {
        other.isa == atom.isa
            && other.movement.is_some()
            && other.operands.iter().any(|o| o.role == Role::Address)
    });
    if !of_isa.clone().any(|_| true) || !of_isa.all(addresses) {
        return;
    }
    let within: BTreeMap<&str, bool> = inside(atom).collect();
    // A register that holds an address may be a value of a text that goes nowhere.
    if within.is_empty() {
        return;
    }
    for operand in atom.operands.iter().filter(|operand| !operand.implicit) {
        let there = within.get(operand.name.value.as_str()).copied();
        if operand.role == Role::Address && there.is_none() {
            let message = format!(
                "`{}` of `{}` is an address and stands in no brackets",
                operand.name.value, atom.name.value
            );
            diags.push(
                Diagnostic::at(operand.name.span, message)
                    .help("addresses of this instruction set stand in brackets: correct its `role`, or the text"),
            );
        }
        // Behind an address stand coordinates and offsets.
        let first = there == Some(true);
        if there.is_some()
            && first != (operand.role == Role::Address)
            && operand.role != Role::Immediate
        {
            let message = format!(
                "`{}` of `{}` is {}the first thing in its brackets",
                operand.name.value,
                atom.name.value,
                if first { "" } else { "not " }
            );
            diags.push(
                Diagnostic::at(operand.name.span, message)
                    .help("what comes first there is the address, and nothing else is: correct its `role`, or the text"),
            );
        }
        if operand.role == Role::Def && there.is_some() {
            let message = format!(
                "`{}` of `{}` is written and stands in brackets",
                operand.name.value, atom.name.value
            );
            diags.push(
                Diagnostic::at(operand.name.span, message)
                    .help("what stands in brackets is read: correct its `role`, or the text"),
            );
        }
    }
}

/// Operands that a text has in brackets, and whether they are the first there.
fn inside(atom: &Atom) -> impl Iterator<Item = (&str, bool)> {
    let (mut depth, mut first) = (0usize, false);
    atom.template.iter().filter_map(move |piece| match piece {
        Piece::Text(text) => {
            let opens = text.matches('[').count();
            depth = (depth + opens).saturating_sub(text.matches(']').count());
            first |= opens > 0;
            None
        }
        Piece::Name(name) | Piece::Optional(name, _) => (depth > 0).then(|| {
            let name = crate::template::half(name).map_or(name.as_str(), |(name, _)| name);
            (name, std::mem::take(&mut first))
        }),
    })
}

/// Operands in the parts that products have.
fn wanted(atom: &Atom, diags: &mut Diagnostics) {
    let mut say = |number: u8, roles: &[Role], what: &str| {
        let Some(operand) = atom.operands.get(usize::from(number)) else { return };
        if !roles.contains(&operand.role) {
            let message = format!(
                "`{}` of `{}` is {what}, and its role is another",
                operand.name.value, atom.name.value
            );
            diags.push(
                Diagnostic::at(operand.name.span, message)
                    .help("correct its `role`, or name another operand there"),
            );
        }
    };
    let written: &[Role] = &[Role::Def, Role::UseDef];
    let Some(shape) = &atom.matrix else { return };
    let more = atom.more.as_ref();
    if more.is_some_and(|more| more.tensor.is_some()) {
        return;
    }
    if shape.c == shape.d {
        say(shape.d, &[Role::UseDef], "what a product adds to");
    } else {
        let rest = atom.operands.get(usize::from(shape.d)).map(|operand| operand.rest);
        let left: &[Role] = if rest == Some(Rest::Keep) { written } else { &[Role::Def] };
        say(shape.d, left, "what a product leaves");
        say(shape.c, &[Role::Use], "what a product adds to");
    }
    let shared =
        |number: u8| more.is_some_and(|more| more.shared.iter().any(|s| s.operand == number));
    for factor in [shape.a, shape.b].into_iter().filter(|number| !shared(*number)) {
        say(factor, &[Role::Use], "a factor");
    }
    let Some(more) = more else { return };
    for number in [more.index, more.scales.0, more.scales.1].into_iter().flatten() {
        say(number, &[Role::Use], "an index or a scale");
    }
}

/// What is read and written is so for a reason.
fn both(atom: &Atom, diags: &mut Diagnostics) {
    let accumulates = atom.matrix.as_ref().filter(|shape| shape.c == shape.d).map(|shape| shape.d);
    for (number, operand) in (0u8..).zip(&atom.operands) {
        let taken = atom.means.contains(&TermNode::Operand(number))
            || atom.does.as_ref().is_some_and(|does| does.uses.contains(&number));
        let moved = atom
            .movement
            .iter()
            .flat_map(|movement| [&movement.from, &movement.to])
            .filter(|side| side.operand == number)
            .count();
        let stays = atom
            .movement
            .as_ref()
            .is_some_and(|m| m.to.operand == number && m.to.rest == Rest::Keep);
        if operand.role == Role::Def && taken {
            let message = format!(
                "`{}` of `{}` is taken, and only written",
                operand.name.value, atom.name.value
            );
            diags.push(
                Diagnostic::at(operand.name.span, message)
                    .help("make its role `use_def`, or name another operand"),
            );
        }
        // Lanes that nothing reaches in an exchange keep what they have.
        let exchanges = atom.class == AtomClass::CrossLane;
        let stays = stays || operand.rest == Rest::Keep || exchanges;
        let reason = accumulates == Some(number) || taken || stays || moved > 1;
        let says = !atom.means.is_empty()
            || atom.does.is_some()
            || atom.movement.is_some()
            || atom.matrix.is_some();
        if operand.role == Role::UseDef && says && !reason && !operand.implicit {
            let message = format!(
                "`{}` of `{}` is read and written, and nothing says what is read of it",
                operand.name.value, atom.name.value
            );
            diags.push(
                Diagnostic::at(operand.name.span, message)
                    .help("make its role `def`; or say `rest: keep`, or name it in `means`, `does` or `matrix`"),
            );
        }
    }
}

/// Each operand of a product has one part in it, and addresses of a mover are those of a side.
fn parts(atom: &Atom, diags: &mut Diagnostics) {
    if let Some(movement) = &atom.movement {
        let sides = [&movement.from, &movement.to];
        for (number, operand) in (0u8..).zip(&atom.operands) {
            let used = sides.iter().any(|side| side.operand == number || side.base == Some(number));
            if operand.role == Role::Address && !used {
                let message = format!(
                    "`{}` of `{}` is an address of no side",
                    operand.name.value, atom.name.value
                );
                diags.push(
                    Diagnostic::at(operand.name.span, message)
                        .help("name it as `operand` or `base` of a side, or correct its `role`"),
                );
            }
        }
        for side in sides.iter().filter(|side| side.base == Some(side.operand)) {
            diags.push(
                Diagnostic::at(side.span.head(), "a side has one address twice")
                    .help("`base` is a second address: correct one of them"),
            );
        }
    }
    let Some(does) = &atom.does else { return };
    for number in &does.uses {
        let operand = atom.operands.get(usize::from(*number));
        let strange = |operand: &&Operand| matches!(operand.role, Role::Immediate | Role::Label);
        if let Some(operand) = operand.filter(strange) {
            let message = format!(
                "`{}` does something to `{}`, which is no register",
                atom.name.value, operand.name.value
            );
            diags.push(
                Diagnostic::at(operand.name.span, message)
                    .help("`uses` names registers that are read"),
            );
        }
    }
}

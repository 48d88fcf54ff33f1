//! What is done when a kernel enters tensor memory and leaves it has both of its halves.
//!
//! What is taken is given back: an instruction whose text has a word that another's has behind `de`
//! stands in `enter`, the other in `leave`. Of the other instructions of that word each stands in
//! one of the two. An order that is asked for in front of a barrier is asked for behind it: two
//! instructions whose texts differ by `before` and `after` stand on both sides of one that makes
//! the waves meet. What the first writes in shared memory is read there.
use super::spelling::{text, words};
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::units::Fact;
use crate::model::{Atom, Group, HwModel};
use crate::schema::Name;
use crate::schema::unit::TensorMemory;
use lanebook_tables::{AtomClass, AtomId, Role};
use std::collections::BTreeSet;

/// What stands in front of the word of what is given back.
const BACK: &str = "de";
/// The words of the two halves of an order.
const HALVES: [&str; 2] = ["before", "after"];

/// See the module.
pub(super) fn check(compiled: &Compiled, diags: &mut Diagnostics) {
    let model = &compiled.model;
    for memory in &model.units.tensor_memories {
        let entry = &memory.entry;
        if entry.enter.is_empty() && entry.leave.is_empty() {
            continue;
        }
        given_back(model, memory, diags);
        read(model, memory, diags);
        sides(model, memory, diags);
        for list in [&entry.enter, &entry.leave] {
            halves(model, list, diags);
        }
    }
}

fn found<'m>(model: &'m HwModel, names: &[Name]) -> Vec<&'m Atom> {
    let named = |name: &Name| model.atoms.iter().find(|atom| atom.name.value == name.value);
    names.iter().filter_map(named).collect()
}

/// Whether an instruction has an operand of a role.
fn has_role(atom: &Atom, role: Role) -> bool {
    atom.operands.iter().any(|operand| operand.role == role)
}

/// The words of a text.
fn parts(atom: &Atom) -> BTreeSet<String> {
    let text = text(atom);
    words(&text).map(str::to_string).collect()
}

/// The first word of a text.
fn mnemonic(atom: &Atom) -> String {
    text(atom).split_whitespace().next().unwrap_or_default().to_string()
}

fn given_back(model: &HwModel, memory: &Fact<TensorMemory>, diags: &mut Diagnostics) {
    let entry = &memory.entry;
    let (enter, leave) = (found(model, &entry.enter), found(model, &entry.leave));
    let at = entry.enter.first().or(entry.leave.first()).map_or(entry.span, |name| name.span);
    let mut say = |message: String, help: &str| {
        diags.push(Diagnostic::at(at, message).note(entry.span.head(), "of this memory").help(help))
    };
    let taken = |list: &[&Atom], other: &[&Atom], back: bool| -> Option<String> {
        let there: BTreeSet<String> = other.iter().flat_map(|atom| parts(atom)).collect();
        list.iter().flat_map(|atom| parts(atom)).find(|word| {
            let (one, two) = (word.strip_prefix(BACK), format!("{BACK}{word}"));
            if back {
                one.is_some_and(|one| known(model, one) && !there.contains(one))
            } else {
                known(model, &two) && !there.contains(&two)
            }
        })
    };
    if let Some(word) = taken(&enter, &leave, false) {
        say(
            format!("`enter` does `{word}`, and `leave` does not undo it"),
            "what is taken is given back: name the instruction that does so in `leave`",
        );
        return;
    }
    if let Some(word) = taken(&leave, &enter, true) {
        say(
            format!("`leave` does `{word}`, and `enter` does not do what it undoes"),
            "what is given back was taken: name the instruction that does so in `enter`",
        );
        return;
    }
    // The word of what is taken, and what else has it.
    let stems: Vec<String> = leave
        .iter()
        .flat_map(|atom| parts(atom))
        .filter_map(|word| word.strip_prefix(BACK).map(str::to_string))
        .filter(|stem| known(model, stem))
        .collect();
    let steps: Vec<&Atom> = enter.iter().chain(&leave).copied().collect();
    for id in own_group(model, &steps, &stems) {
        let atom = model.atom(id);
        let words = parts(atom);
        let listed = steps.iter().any(|one| one.name == atom.name);
        if let Some(stem) = stems.iter().find(|stem| words.contains(*stem)).filter(|_| !listed) {
            say(
                format!(
                    "`{}` goes with `{stem}`, and neither `enter` nor `leave` has it",
                    atom.name.value
                ),
                "instructions of one group that go with what is taken are done in `enter` or in `leave`",
            );
        }
    }
}

/// A word of some instruction's text.
fn known(model: &HwModel, word: &str) -> bool {
    model
        .atoms
        .iter()
        .filter(|atom| atom.class == AtomClass::Sync)
        .any(|atom| parts(atom).contains(word))
}

/// Atoms of the groups that what is taken, or given back, is of.
fn own_group(model: &HwModel, steps: &[&Atom], stems: &[String]) -> BTreeSet<AtomId> {
    let is_step = |atom: &Atom| {
        let words = parts(atom);
        steps.iter().any(|one| one.name == atom.name)
            && stems.iter().any(|stem| words.contains(stem))
    };
    let has = |group: &&Group| group.atoms.iter().any(|id| is_step(model.atom(*id)));
    model.groups.iter().filter(has).flat_map(|group| group.atoms.iter().copied()).collect()
}

/// What `enter` takes at an address in shared memory is read from there before the kernel begins.
fn read(model: &HwModel, memory: &Fact<TensorMemory>, diags: &mut Diagnostics) {
    let entry = &memory.entry;
    let steps = found(model, &entry.enter);
    let address = |atom: &Atom| {
        let one = atom.operands.iter().find(|operand| operand.role == Role::Address);
        one.map(|operand| operand.name.value.clone())
    };
    let written =
        steps.iter().find(|atom| !has_role(atom, Role::Def)).and_then(|atom| address(atom));
    let is_read = steps.iter().any(|atom| has_role(atom, Role::Def) && address(atom) == written);
    if written.is_some() && !is_read && entry.shared_bytes > 0 {
        let message = format!("nothing in `enter` reads `{}`", written.unwrap_or_default());
        diags.push(
            Diagnostic::at(entry.enter.first().map_or(entry.span, |name| name.span), message).help(
                "every thread reads what one of them was given: name the instruction that does so",
            ),
        );
    }
}

/// What is read in shared memory is read behind an order's last half, what is written there in front
/// of its first, and what is given back is given back behind all of it.
fn sides(model: &HwModel, memory: &Fact<TensorMemory>, diags: &mut Diagnostics) {
    let has = |atom: &Atom, half: usize| parts(atom).contains(HALVES[half]);
    let in_memory = |atom: &Atom| has_role(atom, Role::Address);
    let back = |atom: &Atom| {
        let words = parts(atom);
        let mut stems = words.iter().filter_map(|word| word.strip_prefix(BACK));
        stems.any(|stem| known(model, stem))
    };
    for names in [&memory.entry.enter, &memory.entry.leave] {
        let steps = found(model, names);
        let first = steps.iter().position(|atom| has(atom, 0));
        let last = steps.iter().rposition(|atom| has(atom, 1));
        let Some((first, last)) = first.zip(last) else { continue };
        for (at, atom) in steps.iter().enumerate() {
            let reads = in_memory(atom) && has_role(atom, Role::Def);
            let writes = in_memory(atom) && !has_role(atom, Role::Def) && !back(atom);
            let is_wrong = (reads || back(atom)) && at < last || writes && at > first;
            if is_wrong {
                let message = format!("`{}` is on the wrong side of the barrier", atom.name.value);
                diags.push(
                    Diagnostic::at(names.get(at).map_or(atom.name.span, |name| name.span), message)
                        .note(atom.template_span, "the text")
                        .help("what one warp writes is read by all behind the barrier, and given back when all are done"),
                );
            }
        }
    }
}

/// Both halves of an order, and between them a step that makes the waves meet.
fn halves(model: &HwModel, list: &[Name], diags: &mut Diagnostics) {
    let other = |text: &str, own: usize| {
        let twin = text.replace(HALVES[own], HALVES[1 - own]);
        model.atoms.iter().find(|atom| super::spelling::text(atom) == twin)
    };
    let barriers: BTreeSet<AtomId> = model
        .archs
        .iter()
        .flat_map(|arch| &arch.sync)
        .flat_map(|rule| &rule.steps)
        .filter(|step| step.barrier)
        .map(|step| step.atom.value)
        .collect();
    let meets: BTreeSet<String> = barriers.iter().map(|id| mnemonic(model.atom(*id))).collect();
    let steps = found(model, list);
    for (at, atom) in steps.iter().enumerate() {
        let own = text(atom);
        let half = (0..2).find(|half| parts(atom).contains(HALVES[*half]));
        let Some((half, twin)) = half.and_then(|half| Some((half, other(&own, half)?))) else {
            continue;
        };
        let rest = if half == 0 { &steps[at..] } else { &steps[..at] };
        let has = rest.iter().any(|one| one.name == twin.name);
        let met = rest.iter().any(|one| meets.contains(&mnemonic(one)));
        if has && (met || meets.is_empty()) {
            continue;
        }
        let what = if has {
            "no step makes the waves meet".to_string()
        } else {
            format!("no `{}`", twin.name.value)
        };
        let message = format!("{what} {} `{}`", ["behind", "in front of"][half], atom.name.value);
        diags.push(
            Diagnostic::at(list.get(at).map_or(atom.name.span, |name| name.span), message)
                .note(atom.template_span, "the text")
                .help("an order is asked for on both sides of a barrier: name all three, in this order"),
        );
    }
}

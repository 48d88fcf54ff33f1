//! Parts of a register: each is made by some conversion, in the order of the texts.
use super::wording::template;
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::{Atom, Does, HwModel, Operand};
use std::collections::{BTreeMap, BTreeSet};

/// How many results the elements of an operand fill.
fn held(model: &HwModel, atom: &Atom, one: &Does) -> Option<u32> {
    let holds = |operand: &Operand| {
        let bits = u32::from(model.dtypes.get(operand.dtype?.index())?.bits);
        (u32::from(operand.register_bits) * u32::from(operand.registers)).checked_div(bits)
    };
    let from = holds(atom.operands.get(usize::from(*one.uses.first()?))?)?;
    from.checked_div(holds(atom.operands.first()?)?)
}

/// A part is one of those that a register holds.
pub(super) fn parts(model: &HwModel, atom: &Atom, one: &Does, diags: &mut Diagnostics) {
    let Some(parts) = held(model, atom, one) else { return };
    if u32::from(one.part) >= parts.max(1) {
        let message = format!(
            "`{}` makes part {} of a register that holds {parts}",
            atom.name.value, one.part
        );
        diags.push(
            Diagnostic::at(one.op.span, message)
                .help("parts count from 0: correct `part`, or the type of the operand"),
        );
    }
}

/// Parts that are made, of how many, and by an atom.
type Made<'m> = (BTreeSet<u8>, u32, &'m Atom);
/// The numbers of a text, its atom, and what that does.
type Numbered<'m> = (Vec<u64>, &'m Atom, &'m Does);

/// Whoever makes one part of a register makes them all.
pub(super) fn together(compiled: &Compiled, diags: &mut Diagnostics) {
    let model = &compiled.model;
    let mut said = BTreeSet::new();
    for arch in &model.archs {
        let mut found: BTreeMap<(usize, usize, &str), Made<'_>> = BTreeMap::new();
        for atom in arch.atoms.iter().map(|entry| model.atom(entry.atom)) {
            let Some(one) = atom.does.as_ref().filter(|one| one.uses.len() == 1) else {
                continue;
            };
            let from = one.uses.first().and_then(|n| atom.operands.get(usize::from(*n))?.dtype);
            let to = atom.operands.first().and_then(|operand| operand.dtype);
            let (Some(from), Some(to), Some(parts)) = (from, to, held(model, atom, one)) else {
                continue;
            };
            let key = (from.index(), to.index(), one.op.value.as_str());
            let entry = found.entry(key).or_insert((BTreeSet::new(), parts, atom));
            entry.0.insert(one.part);
            entry.1 = entry.1.max(parts);
        }
        for ((from, to, _), (have, parts, atom)) in found {
            let wider = model.dtypes[to].bits > model.dtypes[from].bits;
            let missing = (0..parts.min(32) as u8).find(|part| !have.contains(part));
            if let Some(part) = missing.filter(|_| wider)
                && said.insert(atom.name.span)
            {
                let message = format!(
                    "`{}` makes `{}` of `{}`, and nothing makes part {part} of a register",
                    arch.name.value, model.dtypes[to].name.value, model.dtypes[from].name.value
                );
                diags.push(
                    Diagnostic::at(atom.name.span, message)
                        .help("correct the `part` of one of these conversions, or add the one that is missing"),
                );
            }
        }
    }
}

/// A text and the numbers in it, each as a place.
fn apart(text: &str) -> (String, Vec<u64>) {
    let (mut words, mut numbers) = (String::new(), Vec::new());
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let tail = &rest[at..];
        let end = tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len());
        words.push_str(&rest[..at]);
        words.push('#');
        numbers.push(tail[..end].parse().unwrap_or(u64::MAX));
        rest = &tail[end..];
    }
    words.push_str(rest);
    (words, numbers)
}

/// Texts that differ in one number make the parts of a register in the order of that number.
pub(super) fn ordered(compiled: &Compiled, diags: &mut Diagnostics) {
    let model = &compiled.model;
    let mut alike: BTreeMap<(usize, String), Vec<Numbered<'_>>> = BTreeMap::new();
    for atom in &model.atoms {
        let Some(one) = &atom.does else { continue };
        let types: Vec<_> = atom.operands.iter().map(|operand| operand.dtype).collect();
        let (words, numbers) = apart(&template(atom));
        let key = (atom.isa.index(), format!("{words}|{types:?}|{}", one.op.value));
        alike.entry(key).or_default().push((numbers, atom, one));
    }
    for all in alike.values() {
        for (at, (numbers, atom, one)) in all.iter().enumerate() {
            for (others, other, theirs) in &all[at + 1..] {
                let mut differ = numbers.iter().zip(others).filter(|(a, b)| a != b);
                let (Some((a, b)), None) = (differ.next(), differ.next()) else { continue };
                if a.cmp(b) == one.part.cmp(&theirs.part) {
                    continue;
                }
                let message = format!(
                    "`{}` makes part {} with {a} in its text, `{}` part {} with {b}",
                    atom.name.value, one.part, other.name.value, theirs.part
                );
                diags.push(
                    Diagnostic::at(one.op.span, message)
                        .note(theirs.op.span, "the other")
                        .help("parts come in the order of the number that chooses them: correct a `part`, or a text"),
                );
            }
        }
    }
}

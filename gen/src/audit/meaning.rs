//! What an instruction does is what its text says in words.
//!
//! Texts name operations by the words that the index language and the operations of tiles have, or
//! by their beginnings. A text that says `add` adds; operands are taken in the order in which they
//! are written, unless the text says that it takes them in reverse; a number of a term is one of
//! the text or the mask of one. A sequence of operations makes what the operation does that it
//! stands for. Equal texts mean the same wherever one architecture has both.
use super::done::account;
use super::parts::{ordered, parts, together};
use super::spelling::text;
use super::terms::term;
use super::wording::{letters, one_line, template};
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics, Level};
use crate::model::Atom;
use lanebook_suggest::remedy;
use std::collections::{BTreeMap, BTreeSet};

/// See the module.
#[must_use]
pub fn check(compiled: &Compiled) -> Diagnostics {
    let mut diags = Diagnostics::new();
    for atom in &compiled.model.atoms {
        if let (Some(span), [_, ..]) = (atom.means_span, atom.means.as_slice()) {
            let mut say = |message: String, help: &str| {
                diags.push(
                    Diagnostic::at(span.head(), message)
                        .note(atom.template_span, "the text")
                        .help(help),
                )
            };
            term(compiled, atom, &mut say);
        }
        if let Some(one) = &atom.does {
            account(compiled, atom, one, &mut diags);
            parts(&compiled.model, atom, one, &mut diags);
        }
    }
    spellings(compiled, &mut diags);
    super::computed::check(compiled, &mut diags);
    ordered(compiled, &mut diags);
    rounded(compiled, &mut diags);
    together(compiled, &mut diags);
    equal(compiled, &mut diags);
    diags
}

/// Spellings are of operations that there are, and some atom's text begins as each of them.
fn spellings(compiled: &Compiled, diags: &mut Diagnostics) {
    let model = &compiled.model;
    // Beside errors the rules are not there to be judged.
    if compiled.rules.ops.list.is_empty() {
        return;
    }
    let texts: Vec<String> = model.atoms.iter().map(template).collect();
    let mut seen = BTreeSet::new();
    for spelling in model.isas.iter().flat_map(|isa| &isa.spellings) {
        let ops = &compiled.rules.ops;
        if ops.named(&spelling.op.value).is_none() && seen.insert(spelling.op.span) {
            let names = ops.list.iter().map(|op| op.entry.name.value.as_str());
            let help = remedy(&spelling.op.value, names, "operations stand in rules/ops.ron");
            let message = format!("no operation is named `{}`", spelling.op.value);
            diags.push(Diagnostic::at(spelling.op.span, message).help(help));
        }
        for begin in &spelling.begins {
            if seen.insert(begin.span) && !texts.iter().any(|text| text.starts_with(begin.as_str()))
            {
                let message = format!("no atom's text begins with `{}`", begin.value);
                diags.push(
                    Diagnostic::at(begin.span, message)
                        .help("correct it, or remove it")
                        .as_level(Level::Warning),
                );
            }
        }
    }
}

/// Sums and products say every word that the fused ones of their instruction set and element type
/// say: a rounding that a text leaves out is one that an assembler may leave out too, when it makes
/// one instruction of a product and a sum.
fn rounded(compiled: &Compiled, diags: &mut Diagnostics) {
    let key = |atom: &Atom| Some((atom.isa.index(), atom.operands.first()?.dtype?.index()));
    let name = |atom: &Atom| {
        let one = atom.does.as_ref().filter(|_| one_line(atom))?;
        Some(one.op.value.rsplit('.').next().unwrap_or_default().to_string())
    };
    let mut fused: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
    for atom in &compiled.model.atoms {
        let Some(key) = key(atom).filter(|_| name(atom).as_deref() == Some("fma")) else {
            continue;
        };
        let said: BTreeSet<String> =
            letters(atom).into_iter().filter(|word| word != "fma").collect();
        fused.entry(key).and_modify(|all| all.retain(|word| said.contains(word))).or_insert(said);
    }
    for atom in &compiled.model.atoms {
        let sums = ["add", "sub", "mul"];
        let Some(one) = atom
            .does
            .as_ref()
            .filter(|_| name(atom).is_some_and(|name| sums.contains(&name.as_str())))
        else {
            continue;
        };
        let Some(wanted) = key(atom).and_then(|key| fused.get(&key)) else { continue };
        let said = letters(atom);
        if let Some(word) = wanted.iter().find(|word| !said.contains(word)) {
            let message = format!(
                "the text of `{}` does not say `{word}`, that of `fma` of its type does",
                atom.name.value
            );
            diags.push(
                Diagnostic::at(one.op.span, message)
                    .note(atom.template_span, "the text")
                    .help("say how it is rounded: without it an assembler may make one instruction of two"),
            );
        }
    }
}

/// One text, two meanings.
fn equal(compiled: &Compiled, diags: &mut Diagnostics) {
    let model = &compiled.model;
    let mut said = BTreeSet::new();
    for arch in &model.archs {
        let mut known: BTreeMap<String, &Atom> = BTreeMap::new();
        for atom in arch.atoms.iter().map(|entry| model.atom(entry.atom)) {
            let Some(mine) = meaning(atom) else { continue };
            let classes: Vec<String> =
                atom.operands.iter().map(|o| format!("{:?}{}", o.class, o.registers)).collect();
            let key = format!("{}|{}", text(atom), classes.join(","));
            let Some(other) = known.get(&key) else {
                known.insert(key, atom);
                continue;
            };
            if meaning(other).is_some_and(|theirs| theirs != mine)
                && said.insert((atom.name.span, other.name.span))
            {
                let message = format!(
                    "`{}` and `{}` have one text and do different things",
                    atom.name.value, other.name.value
                );
                diags.push(
                    Diagnostic::at(atom.template_span, message)
                        .note(other.template_span, "the other")
                        .help("correct a text, or what one of them does"),
                );
            }
        }
    }
}

/// What an atom computes, if a word says it.
fn meaning(atom: &Atom) -> Option<String> {
    (!atom.means.is_empty()).then(|| format!("{:?}", atom.means))
}

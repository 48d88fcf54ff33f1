//! How sure the facts are: which are contested or assumed, and whether an override says why.
use super::covered;
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics, Level};
use crate::model::HwModel;
use crate::model::units::Fact;
use crate::source::Span;
use lanebook_tables::{SourceId, Status};
use std::collections::BTreeSet;

/// An override names its evidence, a contested fact more than one source, and what is verified
/// sources that say it.
#[must_use]
pub fn evidence(compiled: &Compiled) -> Diagnostics {
    let mut diags = Diagnostics::new();
    for atom in compiled.loaded.groups.iter().flat_map(|group| &group.atoms) {
        if atom.override_.as_ref().is_some_and(|why| why.trim().is_empty()) {
            let message = format!("the override of `{}` names no evidence", atom.name.value);
            diags.push(
                Diagnostic::at(atom.name.span, message)
                    .help("name the test that shows it in `override_`")
                    .as_level(Level::Warning),
            );
        }
    }
    for atom in compiled
        .model
        .atoms
        .iter()
        .filter(|atom| atom.status == Status::Contested && atom.sources.len() < 2)
    {
        let message = format!("atom `{}` is contested, but cites one side only", atom.name.value);
        diags.push(
            Diagnostic::at(atom.name.span, message)
                .help("cite the sources that contradict each other, or use another status")
                .as_level(Level::Warning),
        );
    }
    for atom in compiled.model.atoms.iter().filter(|atom| atom.status == Status::Verified) {
        // What an assembler takes says nothing about where elements go.
        let product = atom.operands.iter().any(|operand| operand.layout.is_some());
        let needed = if product { 2 } else { usize::from(atom.movement.is_some()) };
        let others = atom
            .sources
            .iter()
            .filter(|id| compiled.model.sources.get(id.index()).is_some_and(|source| !source.texts))
            .count();
        if others < needed {
            let message = format!(
                "atom `{}` is verified, but {others} of its sources say where elements go, {needed} are needed",
                atom.name.value
            );
            let help = "cite what else agrees (sources with `texts: true` judge texts alone), or say `one_source` or `documented`";
            diags.push(Diagnostic::at(atom.name.span, message).help(help).as_level(Level::Warning));
        }
    }
    claims(compiled, &mut diags);
    diags.extend(covered::lost(compiled));
    for arch in &compiled.model.archs {
        for bank in arch
            .banks
            .iter()
            .filter(|bank| bank.status == Status::Contested && bank.sources.len() < 2)
        {
            let message = format!(
                "bank model `{}` of `{}` is contested, but cites one side only",
                bank.name.value, arch.name.value
            );
            let help = "cite the sources that contradict each other, or use another status";
            diags.push(Diagnostic::at(bank.name.span, message).help(help).as_level(Level::Warning));
        }
    }
    diags
}

/// A fact: what it is, where it stands, and what is said of it.
struct Stated<'m> {
    what: String,
    at: Span,
    status: Status,
    sources: &'m [SourceId],
}

/// What is said of bank models, atoms and the facts of units.
fn stated(model: &HwModel) -> Vec<Stated<'_>> {
    let banks = model.archs.iter().flat_map(|arch| &arch.banks).map(|bank| Stated {
        what: format!("bank model `{}`", bank.name.value),
        at: bank.name.span,
        status: bank.status,
        sources: &bank.sources,
    });
    let measured = model.atoms.iter().filter(|atom| atom.status == Status::Measured);
    let atoms = measured.map(|atom| Stated {
        what: format!("atom `{}`", atom.name.value),
        at: atom.name.span,
        status: atom.status,
        sources: &atom.sources,
    });
    fn of<'m, T>(what: &str, facts: impl Iterator<Item = &'m Fact<T>>) -> Vec<Stated<'m>>
    where
        T: 'm,
    {
        facts
            .map(|fact| Stated {
                what: format!("this {what}"),
                at: fact.entry.span.head(),
                status: fact.status,
                sources: &fact.sources,
            })
            .collect()
    }
    let units = &model.units;
    let mut out: Vec<Stated<'_>> = banks.chain(atoms).collect();
    out.extend(of("swizzle mode", units.swizzles.iter()));
    out.extend(of("descriptor", units.descriptors.iter().map(|one| &one.fact)));
    out.extend(of("operand tile", units.operand_tiles.iter().map(|one| &one.0)));
    out.extend(of("tensor memory", units.tensor_memories.iter()));
    out.extend(of("tensor tile", units.tensor_tiles.iter().map(|one| &one.0)));
    out.extend(of("tensor move", units.tensor_moves.iter().map(|one| &one.0)));
    out.extend(of("shape", units.shapes.iter()));
    out.extend(of("order limit", units.order_limits.iter()));
    out.extend(of("map limit", units.map_limits.iter()));
    out.extend(of("tensor map", units.tensor_maps.iter()));
    out
}

/// What a fact is said to rest on, it rests on.
fn claims(compiled: &Compiled, diags: &mut Diagnostics) {
    let model = &compiled.model;
    let mut said = BTreeSet::new();
    for one in stated(model) {
        let ground = covered::ground(model, one.sources, 0);
        if covered::claims_more(one.status, ground) && said.insert(one.at) {
            let word = format!("{:?}", one.status).to_lowercase();
            let message = format!(
                "{} is said to be {word}, and its sources make it `{}`",
                one.what,
                ground.word()
            );
            diags.push(
                Diagnostic::at(one.at, message)
                    .help("cite what it rests on (a measurement has `hardware: true`), or say what it is")
                    .as_level(Level::Warning),
            );
        }
    }
}

/// Facts that somebody doubts, or that nobody has shown.
#[must_use]
pub fn status(compiled: &Compiled) -> Diagnostics {
    let mut diags = Diagnostics::new();
    let word = |status| match status {
        Status::Contested => Some("contested"),
        Status::Assumed => Some("assumed"),
        _ => None,
    };
    for atom in &compiled.model.atoms {
        if let Some(word) = word(atom.status) {
            diags.push(
                Diagnostic::at(atom.name.span, format!("atom `{}` is {word}", atom.name.value))
                    .as_level(Level::Note),
            );
        }
    }
    for arch in &compiled.model.archs {
        for bank in &arch.banks {
            if let Some(word) = word(bank.status) {
                diags.push(
                    Diagnostic::at(
                        bank.name.span,
                        format!("bank model `{}` is {word}", bank.name.value),
                    )
                    .as_level(Level::Note),
                );
            }
        }
    }
    diags
}

//! Synchronisation, counters and hazards speak of atoms that the architecture has and of operands
//! that these have.
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::{Arch, HwModel, Step};
use crate::source::Span;
use lanebook_suggest::remedy;
use lanebook_tables::{AtomId, Role};
use std::collections::BTreeMap;

/// See the module.
#[must_use]
pub fn check(model: &HwModel) -> Diagnostics {
    let mut diags = Diagnostics::new();
    for arch in &model.archs {
        steps(model, arch, &mut diags);
        waits(model, arch, &mut diags);
        hazards(model, arch, &mut diags);
    }
    counters(model, &mut diags);
    diags
}

/// The atom is one of the architecture's.
pub(super) fn present(
    model: &HwModel,
    arch: &Arch,
    atom: AtomId,
    at: Span,
    diags: &mut Diagnostics,
) {
    if arch.whole && !arch.atoms.iter().any(|a| a.atom == atom) {
        let atom = model.atom(atom);
        diags.push(
            Diagnostic::at(
                at,
                format!(
                    "architecture `{}` does not have atom `{}`",
                    arch.name.value, atom.name.value
                ),
            )
            .note(atom.name.span, "the atom")
            .help("add its group to `has`, or use another atom"),
        );
    }
}

fn steps(model: &HwModel, arch: &Arch, diags: &mut Diagnostics) {
    for step in arch.sync.iter().flat_map(|rule| &rule.steps) {
        present(model, arch, step.atom.value, step.atom.span, diags);
        immediates_of(model, step, diags);
    }
}

/// All immediates of a step's atom have values in their ranges, and nothing else has.
pub(super) fn immediates_of(model: &HwModel, step: &Step, diags: &mut Diagnostics) {
    {
        let atom = model.atom(step.atom.value);
        for (_, operand) in atom.immediates() {
            match step.immediates.get(&operand.name.value) {
                None => diags.push(
                    Diagnostic::at(
                        step.span.head(),
                        format!(
                            "immediate `{}` of `{}` has no value",
                            operand.name.value, atom.name.value
                        ),
                    )
                    .note(operand.name.span, "the operand")
                    .help(format!("write `immediates: {{\"{}\": 0}}`", operand.name.value)),
                ),
                Some(value) => {
                    let range = operand.range.as_ref();
                    if let Some(range) =
                        range.filter(|r| i64::from(*value) < r.0 || i64::from(*value) > r.1)
                    {
                        diags.push(
                            Diagnostic::at(
                                step.span.head(),
                                format!(
                                    "{value} is outside the range of `{}`, {} to {}",
                                    operand.name.value, range.0, range.1
                                ),
                            )
                            .note(range.span, "the range")
                            .help("correct the value"),
                        );
                    }
                }
            }
        }
        for name in step.immediates.keys() {
            if !atom.immediates().any(|(_, o)| o.name.value == *name) {
                let known: Vec<&str> = atom.immediates().map(|(_, o)| o.name.as_str()).collect();
                let help = remedy(name, known.iter().copied(), &immediates(&known));
                diags.push(
                    Diagnostic::at(
                        step.span.head(),
                        format!("`{}` has no immediate `{name}`", atom.name.value),
                    )
                    .note(atom.name.span, "the atom")
                    .help(help),
                );
            }
        }
    }
}

fn waits(model: &HwModel, arch: &Arch, diags: &mut Diagnostics) {
    for counter in &arch.counters {
        let wait = &counter.wait;
        present(model, arch, wait.value, wait.span, diags);
        let atom = model.atom(wait.value);
        let Some((_, operand)) =
            atom.immediates().find(|(_, o)| o.name.value == counter.operand.value)
        else {
            let known: Vec<&str> = atom.immediates().map(|(_, o)| o.name.as_str()).collect();
            let help = remedy(&counter.operand, known.iter().copied(), &immediates(&known));
            diags.push(
                Diagnostic::at(
                    counter.operand.span,
                    format!("`{}` has no immediate `{}`", atom.name.value, counter.operand.value),
                )
                .note(atom.name.span, "the atom")
                .help(help),
            );
            continue;
        };
        if let Some(range) =
            operand.range.as_ref().filter(|r| i64::from(counter.max) > r.1 || r.0 > 0)
        {
            diags.push(
                Diagnostic::at(
                    counter.name.span,
                    format!(
                        "counter `{}` counts 0 to {}, the wait takes {} to {}",
                        counter.name.value, counter.max, range.0, range.1
                    ),
                )
                .note(range.span, "the range")
                .help("correct `max` or the range"),
            );
        }
    }
}

/// Tables number a counter once for each atom, so all architectures that have the atom must agree.
fn counters(model: &HwModel, diags: &mut Diagnostics) {
    let mut numbers: BTreeMap<AtomId, (usize, &Arch)> = BTreeMap::new();
    for arch in model.archs.iter().filter(|arch| arch.whole) {
        for entry in &arch.atoms {
            let atom = model.atom(entry.atom);
            let Some(name) = &atom.counter else { continue };
            let Some(number) = arch.counters.iter().position(|c| c.name.value == name.value) else {
                let known = arch.counters.iter().map(|c| c.name.as_str());
                let names: Vec<&str> = known.clone().collect();
                let help = remedy(
                    name,
                    known,
                    &format!("add it to the architecture, which has: {}", names.join(", ")),
                );
                diags.push(
                    Diagnostic::at(
                        name.span,
                        format!(
                            "architecture `{}` has no counter `{}`",
                            arch.name.value, name.value
                        ),
                    )
                    .note(
                        entry.because,
                        format!("`{}` has the atom through this group", arch.name.value),
                    )
                    .help(help),
                );
                continue;
            };
            let (first, other) = *numbers.entry(entry.atom).or_insert((number, arch));
            if first != number {
                diags.push(
                    Diagnostic::at(
                        name.span,
                        format!(
                            "counter `{}` is number {first} in `{}` and {number} in `{}`",
                            name.value, other.name.value, arch.name.value
                        ),
                    )
                    .note(other.counters[first].name.span, format!("in `{}`", other.name.value))
                    .note(arch.counters[number].name.span, format!("in `{}`", arch.name.value))
                    .help("list the counters of architectures that share atoms in the same order"),
                );
            }
        }
    }
}

fn hazards(model: &HwModel, arch: &Arch, diags: &mut Diagnostics) {
    for hazard in &arch.hazards {
        let carriers = |tag| {
            arch.atoms.iter().map(|a| model.atom(a.atom)).filter(move |a| a.tags.contains(&tag))
        };
        if let Some(wait) = hazard.wait {
            let atom = model.atom(wait);
            if (arch.whole && !arch.atoms.iter().any(|entry| entry.atom == wait))
                || !atom.operands.is_empty()
            {
                diags.push(
                    Diagnostic::at(
                        hazard.span.head(),
                        format!(
                            "atom `{}` cannot end a hazard of `{}`",
                            atom.name.value, arch.name.value
                        ),
                    )
                    .note(atom.name.span, "the atom")
                    .help("name an atom without operands that the architecture has"),
                );
            }
        } else if hazard.states == 0 {
            diags.push(
                Diagnostic::at(
                    hazard.span.head(),
                    "a hazard without wait states that nothing ends",
                )
                .help("say `states` or `wait`"),
            );
        }
        for (what, tag) in [
            ("producer", Some(hazard.producer)),
            ("consumer", Some(hazard.consumer)),
            ("reader", hazard.after),
        ]
        .into_iter()
        .chain(hazard.counts.iter().map(|tag| ("state", Some(*tag))))
        {
            let Some(tag) = tag else { continue };
            if arch.whole && carriers(tag).next().is_none() {
                let tag = &model.tags[tag.index()];
                diags.push(
                    Diagnostic::at(
                        hazard.span.head(),
                        format!(
                            "no atom of `{}` has the {what}'s tag `{}`",
                            arch.name.value, tag.name.value
                        ),
                    )
                    .note(tag.name.span, "the tag")
                    .help("remove the hazard, or tag the atoms that it is about"),
                );
            }
        }
        for (what, name, tag) in [
            ("consumer", &hazard.operand, hazard.consumer),
            ("producer", &hazard.producer_operand, hazard.producer),
        ] {
            let Some(name) = name else { continue };
            let mut number: Option<u8> = None;
            for atom in carriers(tag) {
                let here = atom
                    .operand(name)
                    .filter(|n| atom.operands[usize::from(*n)].role != Role::Immediate);
                let message = match (here, number) {
                    (None, _) => format!(
                        "atom `{}` has the {what}'s tag and no operand `{}`",
                        atom.name.value, name.value
                    ),
                    (Some(here), Some(before)) if here != before => {
                        format!(
                            "operand `{}` is number {before} of some atoms with the tag and {here} of `{}`",
                            name.value, atom.name.value
                        )
                    }
                    (Some(here), _) => {
                        number = Some(here);
                        continue;
                    }
                };
                diags.push(
                    Diagnostic::at(name.span, message)
                        .note(atom.name.span, "the atom")
                        .help("give these atoms a tag of their own, or order their operands alike"),
                );
                break;
            }
        }
    }
}

fn immediates(known: &[&str]) -> String {
    if known.is_empty() {
        "it has no immediates".into()
    } else {
        format!("its immediates: {}", known.join(", "))
    }
}

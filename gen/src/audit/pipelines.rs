//! Pipelines agree with one another (`rules/passes.ron`).
//!
//! A pass that has stages of a compile has all of them, once and in their order; one that is called
//! as an analysis does it. Two passes come to the phases that both have in one order, and go through
//! a phase equally often. A phase is gone through until nothing in it changes, so that it is gone
//! through again only where a condition looks at what stands around a term.
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::rules::passes::{Pass, Step};
use lanebook_tables::{ANALYSES, STAGES, Word};
use std::collections::BTreeMap;

/// See the module.
#[must_use]
pub fn check(compiled: &Compiled) -> Diagnostics {
    let mut diags = Diagnostics::new();
    let passes = &compiled.rules.passes;
    for pass in passes {
        stages(pass, &mut diags);
        named(pass, &mut diags);
    }
    for (at, pass) in passes.iter().enumerate() {
        for other in passes.iter().take(at) {
            order(compiled, pass, other, &mut diags);
        }
    }
    sweeps(compiled, &mut diags);
    diags
}

/// The analyses of a pass.
fn analyses(pass: &Pass) -> impl Iterator<Item = &str> {
    pass.steps.iter().filter_map(|step| match step {
        Step::Analysis(name) => Some(name.as_str()),
        Step::Rules(..) => None,
    })
}

fn stages(pass: &Pass, diags: &mut Diagnostics) {
    let own: Vec<&str> = analyses(pass).filter(|name| STAGES.contains(name)).collect();
    if !own.is_empty() && own != STAGES {
        let message = format!("pass `{}` has the stages {}", pass.name.value, own.join(", "));
        diags.push(Diagnostic::at(pass.name.span, message).help(format!(
            "a compile is {}, in this order; a pass that is none has none of them",
            STAGES.join(", ")
        )));
    }
}

/// What is called as an analysis does it.
fn named(pass: &Pass, diags: &mut Diagnostics) {
    let name = pass.name.value.as_str();
    if ANALYSES.contains(&name) && !analyses(pass).any(|own| own == name) {
        diags.push(
            Diagnostic::at(pass.name.span, format!("pass `{name}` does not do what it is called"))
                .help(format!(
                    "one of its steps is `analysis(\"{name}\")`: add it, or call the pass otherwise"
                )),
        );
    }
}

/// The phases of a pass that another one has as well, without those that follow themselves.
fn common(pass: &Pass, other: &Pass) -> Vec<u8> {
    let has = |phase: u8| {
        other.steps.iter().any(|step| matches!(step, Step::Rules(own, _) if *own == phase))
    };
    let phases = pass.steps.iter().filter_map(|step| match step {
        Step::Rules(phase, _) if has(*phase) => Some(*phase),
        _ => None,
    });
    let mut out: Vec<u8> = phases.collect();
    out.dedup();
    out
}

fn order(compiled: &Compiled, pass: &Pass, other: &Pass, diags: &mut Diagnostics) {
    let (own, theirs) = (common(pass, other), common(other, pass));
    if own == theirs {
        return;
    }
    let shown = |phases: &[u8]| {
        let names =
            phases.iter().filter_map(|phase| compiled.rules.phases.get(usize::from(*phase)));
        names.map(String::as_str).collect::<Vec<_>>().join(", ")
    };
    diags.push(
        Diagnostic::at(
            pass.name.span,
            format!(
                "pass `{}` goes through {}, and `{}` through {}",
                pass.name.value,
                shown(&own),
                other.name.value,
                shown(&theirs)
            ),
        )
        .note(other.name.span, "the other")
        .help("phases that two passes have come in one order: correct the steps of one"),
    );
}

/// Whether what a condition asks can change when nothing inside of a term does.
fn looks_around(word: Word) -> bool {
    matches!(word, Word::SingleUse | Word::Unpinned)
}

fn sweeps(compiled: &Compiled, diags: &mut Diagnostics) {
    let mut known: BTreeMap<u8, (u8, &Pass)> = BTreeMap::new();
    for pass in &compiled.rules.passes {
        for step in &pass.steps {
            let Step::Rules(phase, times) = *step else { continue };
            let name = compiled.rules.phases.get(usize::from(phase)).map_or("", String::as_str);
            let mut rules = compiled.rules.rules.iter().filter(|rule| rule.phase == phase);
            let around =
                rules.any(|rule| rule.conditions.iter().any(|(word, _)| looks_around(*word)));
            let (first, other) = *known.entry(phase).or_insert((times, pass));
            let (message, help) = if first != times {
                (
                    format!(
                        "goes through `{name}` {times} times, and `{}` {first}",
                        other.name.value
                    ),
                    "a phase is gone through equally often wherever it is: correct `sweeps`",
                )
            } else if times > 1 && !around {
                (
                    format!("goes through `{name}` {times} times"),
                    "no rule of the phase looks at what stands around a term, so that nothing is left to the second time: `sweeps: 1`",
                )
            } else {
                continue;
            };
            diags.push(
                Diagnostic::at(pass.name.span, format!("pass `{}` {message}", pass.name.value))
                    .note(other.name.span, "the phase there")
                    .help(help),
            );
        }
    }
}

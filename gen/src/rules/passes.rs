//! Phases and pipelines (`rules/passes.ron`).
use super::RuleModel;
use super::schema::{PassesFile, StepEntry};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::Names;
use crate::schema::Name;
use lanebook_suggest::remedy;
use lanebook_tables::ANALYSES;

/// A pipeline.
#[derive(Clone, Debug)]
pub struct Pass {
    /// Its name.
    pub name: Name,
    /// In order.
    pub steps: Vec<Step>,
}

/// One step.
#[derive(Clone, Debug)]
pub enum Step {
    /// A phase and its most sweeps.
    Rules(u8, u8),
    /// A named analysis of the engine.
    Analysis(String),
}

pub(crate) fn resolve(file: PassesFile, model: &mut RuleModel, diags: &mut Diagnostics) {
    let mut phases = Names::default();
    for (number, phase) in file.phases.iter().enumerate() {
        phases.declare(phase, number, "phase", diags);
        model.phases.push(phase.value.clone());
    }
    if file.phases.len() > 64 {
        diags.push(Diagnostic::nowhere("more than 64 phases").help("merge some"));
    }
    let mut names = Names::default();
    for (number, pass) in file.passes.iter().enumerate() {
        names.declare(&pass.name, number, "pass", diags);
        let mut steps = Vec::new();
        for step in &pass.steps {
            match step {
                StepEntry::Rules { phase, sweeps } => {
                    if *sweeps == 0 {
                        diags.push(
                            Diagnostic::at(phase.span, "the rules of this phase are tried no time")
                                .help("`sweeps` is how often they are gone through at the most: 1 or more"),
                        );
                    }
                    let phase = phases
                        .find(phase, "phase", diags)
                        .and_then(|phase| u8::try_from(phase).ok());
                    steps.extend(phase.map(|phase| Step::Rules(phase, *sweeps)));
                }
                StepEntry::Analysis(name) => {
                    if !ANALYSES.contains(&name.value.as_str()) {
                        let help = remedy(
                            name,
                            ANALYSES.iter().copied(),
                            &format!("known: {}", ANALYSES.join(", ")),
                        );
                        diags.push(
                            Diagnostic::at(name.span, format!("unknown analysis `{}`", name.value))
                                .help(help),
                        );
                    }
                    steps.push(Step::Analysis(name.value.clone()));
                }
            }
        }
        if steps.is_empty() {
            diags.push(
                Diagnostic::at(pass.name.span, format!("pass `{}` does nothing", pass.name.value))
                    .help("name its steps, or remove it"),
            );
        }
        model.passes.push(Pass { name: pass.name.clone(), steps });
    }
    order(&file.phases, model, diags);
}

/// Phases have their numbers in the order in which a pipeline comes to them first.
fn order(phases: &[Name], model: &RuleModel, diags: &mut Diagnostics) {
    let mut apart: Vec<(u8, u8, &Name)> = Vec::new();
    for pass in &model.passes {
        let mut seen: Vec<u8> = Vec::new();
        for step in &pass.steps {
            if let Step::Rules(phase, _) = step
                && !seen.contains(phase)
            {
                apart.extend(
                    seen.last().filter(|last| *last > phase).map(|l| (*l, *phase, &pass.name)),
                );
                seen.push(*phase);
            }
        }
    }
    for (early, late, pass) in apart.into_iter().take(1) {
        let (Some(early), Some(late)) =
            (phases.get(usize::from(early)), phases.get(usize::from(late)))
        else {
            continue;
        };
        let message =
            format!("pass `{}` comes to `{}` before `{}`", pass.value, early.value, late.value);
        diags.push(
            Diagnostic::at(late.span, message)
                .note(early.span, "the phase that it comes to first")
                .help("phases stand in the order in which passes come to them: exchange them here, or in the pass"),
        );
    }
}

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
        model.passes.push(Pass { name: pass.name.clone(), steps });
    }
}

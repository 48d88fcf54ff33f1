//! Rule sets from outside the tree: tile rules and pipelines of their own, run beside the built-in
//! ones.
//!
//! One RON file is one set. It is checked as the built-in rules are (words, overlap, shadowing,
//! measure), over the operations of the tables that it is to be used with, so no folder of tables
//! is needed. What comes out is a [`t::Rules`] of its own: put into [`t::Tables`] in place of the
//! built-in one, or rendered as a Rust static ([`crate::render::render_rules`]).
//!
//! ```ron
//! (
//!     phases: ["tidy"],
//!     passes: [(name: "tidy", steps: [rules(phase: "tidy", sweeps: 4)])],
//!     rules: [
//!         (name: "neg_neg", pattern: ("neg", ("neg", "x")), replacement: "x", doc: "-(-x) = x",
//!          examples: [(from: ("neg", ("neg", "v")), to: "v")]),
//!     ],
//! )
//! ```
//!
//! Rules without a phase have the first. `measure` says what operations count, as `tile` in
//! `rules/measure.ron`. A set has no index or target rules: those need a proof.
use crate::compile::Failure;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::entries;
use crate::model::HwModel;
use crate::rules::schema::{MeasureEntry, PassEntry, PassesFile, RuleEntry};
use crate::rules::{RuleModel, lower, measure, ops, overlap, passes, rule};
use crate::schema::Name;
use crate::source::Sources;
use crate::spanned::{Entry, Spanned};
use lanebook_tables as t;
use lanebook_tables::Language;
use serde::Deserialize;
use std::path::Path;

/// A set of rules as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "rule set")]
struct SetFile {
    phases: Vec<Name>,
    passes: Vec<Spanned<PassEntry>>,
    #[serde(default)]
    measure: Vec<Spanned<MeasureEntry>>,
    rules: Vec<Entry>,
}

/// A compiled set.
#[derive(Debug)]
pub struct Beside {
    /// The file.
    pub sources: Sources,
    rules: t::Rules<'static>,
}

impl Beside {
    /// The set, leaked: usable for the rest of the process. Its numbers are its own.
    #[must_use]
    pub fn rules(&self) -> t::Rules<'static> {
        self.rules
    }
    /// Tables with this set in place of their own rules.
    #[must_use]
    pub fn tables<'t>(&self, tables: &t::Tables<'t>) -> t::Tables<'t> {
        t::Tables { rules: self.rules, ..*tables }
    }
    /// The Rust source that defines it as `pub static RULES`.
    #[must_use]
    pub fn rust(&self) -> String {
        crate::render::render_rules(&self.rules, &self.sources)
    }
}

/// Compiles a set of rules over the operations of `tables`. `name` is what errors call the file.
///
/// # Errors
/// Everything that is wrong with it, with file, line and column of every rule involved.
pub fn compile(
    tables: &t::Tables<'_>,
    name: &str,
    path: Option<&Path>,
    text: &str,
) -> Result<Beside, Failure> {
    let mut sources = Sources::default();
    let id = sources.add(name, path, text.to_string());
    let mut diagnostics = Diagnostics::new();
    let diags = &mut diagnostics;
    let mut model = RuleModel { ops: ops::of_tables(tables, id), ..RuleModel::default() };
    if let Some(file) = entries::file::<SetFile>(&sources, id, diags) {
        let first = file.phases.first().cloned();
        if first.is_none() {
            diags.push(
                Diagnostic::nowhere(format!("{name} names no phase")).help("phases: [\"mine\"]"),
            );
        }
        passes::resolve(PassesFile { phases: file.phases, passes: file.passes }, &mut model, diags);
        let measures = measure::of_tile(file.measure, diags);
        let hw = HwModel::default();
        for entry in file.rules {
            let Some(entry) = entries::entry::<RuleEntry>(&sources, entry, diags) else { continue };
            let context = rule::Context {
                hw: &hw,
                ops: &model.ops,
                phases: &model.phases,
                language: Language::Tile,
                isa: None,
                phase: first.clone(),
            };
            let compiled = rule::compile(&entry, &context, diags);
            model.rules.extend(compiled);
        }
        rule::check_names(&model.rules, diags);
        measure::check(&model, &measures, diags);
        overlap::check(&model, diags);
        unused(&model, diags);
    }
    diagnostics.name("rules");
    if diagnostics.is_empty() {
        let rules = lower::rules(&model);
        return Ok(Beside { sources, rules });
    }
    Err(Failure { sources, diagnostics, sound: None })
}

/// A rule in a phase that no pass runs would never be tried.
fn unused(model: &RuleModel, diags: &mut Diagnostics) {
    let runs = |phase: u8| {
        model
            .passes
            .iter()
            .flat_map(|pass| &pass.steps)
            .any(|step| matches!(step, passes::Step::Rules(of, _) if *of == phase))
    };
    for rule in model.rules.iter().filter(|rule| !runs(rule.phase)) {
        let phase = model.phases.get(usize::from(rule.phase)).map_or("?", String::as_str);
        diags.push(
            Diagnostic::at(
                rule.name.span,
                format!("no pass runs phase `{phase}` of rule `{}`", rule.name.value),
            )
            .help("name the phase in a pass, or remove the rule"),
        );
    }
}

//! The rule compiler: `rules/*.ron` to [`lanebook_tables::Rules`].
//!
//! Stages, one file each: entries as written ([`schema`]), operations ([`ops`]), terms over slots
//! ([`term`]), one rule ([`rule`]), then checks over all rules: measure ([`measure`]), overlap and
//! shadowing ([`overlap`]), certificates ([`certificate`]); and lowering to dense dispatch
//! ([`lower`]). Errors are collected and name every place involved.
//!
//! What a rule may say is documented in `rules/README.md`. Proofs are made by the crate
//! `lanebook-proofs` (`tests/proofs`), which reads the [`RuleModel`]; here only their certificates
//! are checked.
pub mod asks;
pub mod canonical;
pub mod certificate;
pub mod contract;
pub mod does;
pub mod lower;
pub mod measure;
pub mod ops;
pub mod overlap;
pub mod passes;
mod policies;
mod right;
pub mod rule;
pub mod schema;
pub mod seeding;
pub mod sequences;
pub mod term;
pub mod tree;

#[cfg(test)]
mod tests;

use crate::diagnostics::Diagnostics;
use crate::load::Loaded;
use crate::model::HwModel;
use crate::source::{FileId, Sources};
use crate::spanned::Spanned;
use crate::suppressed::Suppressed;
use lanebook_tables::{IsaId, Language, Weights};
use serde::de::DeserializeOwned;

pub use certificate::{Certificate, Method};
pub use measure::Measures;
pub use ops::{Op, Ops};
pub use passes::Pass;
pub use rule::{CompiledRule, Example, Slot};

/// Everything that `rules/` says.
#[derive(Debug, Default)]
pub struct RuleModel {
    /// Operations of the tile IR.
    pub ops: Ops,
    /// Names of phases; a phase's number is its place here.
    pub phases: Vec<String>,
    /// Rules in file order.
    pub rules: Vec<CompiledRule>,
    /// Pipelines.
    pub passes: Vec<Pass>,
    /// Cost weights.
    pub weights: Option<Weights>,
    /// What is known of them.
    pub stated: Vec<Spanned<schema::StatedEntry>>,
    /// How attempts of layout inference are compared.
    pub policies: Vec<schema::CostPolicyEntry>,
    /// Instruction sets with those that they extend.
    pub families: Vec<(IsaId, Vec<IsaId>)>,
    /// Names and forms with which layouts are given to products and accesses.
    pub seeding: seeding::SeedingFile,
    /// Candidates that operations have.
    pub candidates: Vec<seeding::CandidateEntry>,
    /// What the engine asks of architectures.
    pub asks: Vec<asks::Ask>,
    /// Elementwise operations that are several others.
    pub sequences: Vec<sequences::Resolved>,
    /// What `compile` takes of the operations.
    pub contract: contract::ContractFile,
    /// Certificates as committed.
    pub certificates: Vec<Certificate>,
}

impl RuleModel {
    /// Whether an instruction set has the rules of another.
    #[must_use]
    pub fn isa_has(&self, isa: IsaId, rules: IsaId) -> bool {
        isa == rules
            || self.families.iter().any(|(own, parents)| *own == isa && parents.contains(&rules))
    }
    /// The rule with this name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&CompiledRule> {
        self.rules.iter().find(|rule| rule.name.value == name)
    }
    /// Rules that need a proof.
    pub fn proved(&self) -> impl Iterator<Item = &CompiledRule> {
        self.rules.iter().filter(|rule| rule.language != Language::Tile)
    }
}

/// Compiles and checks all rules but for their certificates.
pub fn compile(
    sources: &Sources,
    loaded: &Loaded,
    hw: &HwModel,
    diags: &mut Diagnostics,
) -> RuleModel {
    let mut model = RuleModel::default();
    let mut files = Vec::new();
    let mut asks = Vec::new();
    let mut sequences = Vec::new();
    let mut contract: Option<contract::ContractFile> = Some(contract::ContractFile::default());
    let mut measures = Some(schema::MeasureFile::default());
    for &id in &loaded.rule_files {
        let mut reader = Reader { sources, id, diags };
        match sources.file(id).name.as_str() {
            "rules/ops.ron" => model.ops = ops::resolve(reader.entries(), diags),
            "rules/passes.ron" => {
                if let Some(file) = reader.file::<schema::PassesFile>() {
                    passes::resolve(file, &mut model, diags);
                }
            }
            "rules/measure.ron" => {
                measures = reader.file::<schema::MeasureFile>();
            }
            "rules/cost.ron" => {
                if let Some(file) = reader.file::<schema::Weights>() {
                    policies::weights(&file.value(), id, diags);
                    model.weights = Some(file.value());
                    model.stated = file.stated;
                    model.policies = policies::check(file.inference, diags);
                }
            }
            "rules/seeding.ron" => {
                model.seeding =
                    reader.file().map(|file| seeding::resolve(file, hw, diags)).unwrap_or_default()
            }
            "rules/candidates.ron" => {
                model.candidates =
                    reader.file().map(|file| seeding::candidates(file, diags)).unwrap_or_default()
            }
            asks::FILE => asks = reader.file().unwrap_or_default(),
            sequences::FILE => sequences = reader.entries(),
            contract::FILE => contract = reader.file(),
            certificate::FILE => {
                model.certificates = reader.file().map(certificate::resolve).unwrap_or_default()
            }
            name => files.push((id, name.to_string())),
        }
    }
    let all = || (0..hw.isas.len()).filter_map(|n| u16::try_from(n).ok()).map(IsaId);
    model.families = all()
        .map(|isa| (isa, all().filter(|of| *of != isa && hw.isa_has(isa, *of)).collect()))
        .collect();
    let mut entries = Vec::new();
    for (id, name) in files {
        let language = match name.split('/').nth(1) {
            Some("index") => Language::Index,
            Some("tile") => Language::Tile,
            _ => {
                diags.push(
                    crate::diagnostics::Diagnostic::nowhere(format!(
                        "{name} is none of the known rule files"
                    ))
                    .help("rules stand in rules/index, rules/tile and rules/isa"),
                );
                continue;
            }
        };
        let mut reader = Reader { sources, id, diags };
        if let Some(file) = reader.file::<schema::RuleFile>() {
            entries.extend(
                reader
                    .values(&file.rules)
                    .into_iter()
                    .map(|entry| (entry, language, None, Some(file.phase.clone()))),
            );
        }
    }
    for isa in &loaded.isas {
        let id = hw.isa_named(&isa.isa.name.value);
        let mut reader = Reader { sources, id: isa.file, diags };
        entries.extend(
            reader.values(&isa.rules).into_iter().map(|entry| (entry, Language::Target, id, None)),
        );
    }
    for (entry, language, isa, phase) in entries {
        let context =
            rule::Context { hw, ops: &model.ops, phases: &model.phases, language, isa, phase };
        match rule::compile(&entry, &context, diags) {
            Some(rule) => model.rules.push(rule),
            None => diags.lose_with(Suppressed::name(&entry.name, entry.name.span), entry.span),
        }
    }
    rule::check_names(&model.rules, diags);
    seeding::check(&model.seeding, &model.ops, diags);
    model.sequences = sequences::resolve(sequences, hw, &model.ops, diags);
    model.asks = asks::check(asks, hw, &model.ops, diags);
    if let Some(file) = contract {
        model.contract = contract::check(file, &model.ops, diags);
    }
    if let Some(measures) = measures.map(|file| measure::resolve(file, &model.phases, diags)) {
        measure::check(&model, &measures, diags);
    }
    overlap::check(&model, diags);
    model
}

struct Reader<'a> {
    sources: &'a Sources,
    id: FileId,
    diags: &'a mut Diagnostics,
}

impl Reader<'_> {
    fn file<T: DeserializeOwned>(&mut self) -> Option<T> {
        crate::entries::file(self.sources, self.id, self.diags)
    }
    fn values<T: DeserializeOwned>(
        &mut self,
        entries: &[crate::spanned::Entry],
    ) -> Vec<crate::spanned::Spanned<T>> {
        entries
            .iter()
            .filter_map(|entry| crate::entries::entry(self.sources, *entry, self.diags))
            .collect()
    }
    fn entries<T: DeserializeOwned>(&mut self) -> Vec<crate::spanned::Spanned<T>> {
        let list: Vec<crate::spanned::Entry> = self.file().unwrap_or_default();
        self.values(&list)
    }
}

/// What is lost of an atom with an error in its entry: rules that use it cannot be judged.
#[must_use]
pub fn part_of(atom: &str) -> String {
    format!("a part of {atom}")
}

/// What an atom computes, over its operands. The instruction set's `make_uniform` atom is, on the
/// uniform values that rules feed it, the identity, by the definition of that field; every other
/// atom says it in `means`.
#[must_use]
pub fn meaning(atom: lanebook_tables::AtomId, hw: &HwModel) -> Vec<lanebook_tables::TermNode> {
    let entry = hw.atom(atom);
    if entry.means.is_empty() && hw.isa(entry.isa).atoms.make_uniform == Some(atom) {
        return vec![lanebook_tables::TermNode::Operand(1)];
    }
    entry.means.clone()
}

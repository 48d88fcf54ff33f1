//! What compiles: the inputs, the checked model and rules, the tables.
use crate::ledger;
use crate::load::Loaded;
use crate::model::HwModel;
use crate::render::{Weight, render, weigh};
use crate::rules::RuleModel;
use crate::select;
use crate::source::Sources;
use lanebook_tables::Tables;
use std::sync::OnceLock;

/// A compiled set of tables.
#[derive(Debug)]
pub struct Compiled {
    /// The input files.
    pub sources: Sources,
    /// What was read, as written (rule files among it).
    pub loaded: Loaded,
    /// The checked model.
    pub model: HwModel,
    /// The checked rules.
    pub rules: RuleModel,
    /// The tables, leaked: usable for the rest of the process.
    tables: Tables<'static>,
    digest: OnceLock<String>,
}

impl Compiled {
    pub(crate) fn new(
        sources: Sources,
        loaded: Loaded,
        model: HwModel,
        rules: RuleModel,
        tables: Tables<'static>,
    ) -> Self {
        Self { sources, loaded, model, rules, tables, digest: OnceLock::new() }
    }
    /// The tables as the engine takes them.
    #[must_use]
    pub fn tables(&self) -> Tables<'static> {
        self.tables
    }
    /// What stands for every input file, made once: by the way of the first who asks.
    pub(crate) fn digest(&self, of: impl FnOnce(&[u8]) -> String) -> &str {
        self.digest.get_or_init(|| {
            let mut all = String::new();
            for part in self.sources.iter().flat_map(|(_, file)| [&file.name, &file.text]) {
                all += &format!("{} {part}\n", part.len());
            }
            of(all.as_bytes())
        })
    }
    /// What planning and emission need of the tables.
    #[must_use]
    pub fn lean(&self) -> Tables<'static> {
        select::lean(&self.tables)
    }
    /// The Rust source that defines them as `pub static TABLES`, what planning and emission need as
    /// `pub static LEAN`, and what emission alone needs as `pub static EMISSION`.
    #[must_use]
    pub fn rust(&self) -> String {
        let lean = self.lean();
        render(&self.tables, &lean, &select::emission(&lean), &self.sources)
    }
    /// What the tables weigh in a build, by the kind of what they hold, the heaviest first.
    #[must_use]
    pub fn weights(&self) -> Vec<Weight> {
        weigh(&self.tables)
    }
    /// The same for what planning and emission need of them.
    #[must_use]
    pub fn lean_weights(&self) -> Vec<Weight> {
        weigh(&self.lean())
    }
    /// The ledger's text with numbers for all atoms that have none yet. Rules keep what they have:
    /// nothing carries their numbers so far.
    #[must_use]
    pub fn ledger(&self) -> String {
        let known = self
            .loaded
            .ledger
            .iter()
            .flat_map(|ledger| &ledger.rules)
            .map(|line| line.name.as_str());
        ledger::update(
            self.loaded.ledger.as_ref(),
            self.model.atoms.iter().map(|atom| atom.name.as_str()),
            known,
        )
    }
}

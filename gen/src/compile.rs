//! The compiler, stage by stage.
use crate::check;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::ledger;
use crate::load::{self, Loaded};
use crate::lower::lower;
use crate::model::{self, HwModel};
use crate::render::render;
use crate::rules::{self, RuleModel};
use crate::source::Sources;
use lanebook_tables::Tables;
use std::path::Path;

/// How strict the compiler is about what its own tools write.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Tables of this repository as they ship: the ledger and the certificates are complete and current.
    Release,
    /// Tables from elsewhere, or on the way: what is not in the ledger gets a local number, certificates are not asked for.
    Draft,
}

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
}

impl Compiled {
    /// The tables as the engine takes them.
    #[must_use]
    pub fn tables(&self) -> Tables<'static> {
        self.tables
    }
    /// The Rust source that defines them as `pub static TABLES`.
    #[must_use]
    pub fn rust(&self) -> String {
        render(&self.tables, &self.sources)
    }
    /// The ledger's text with numbers for all atoms that have none yet. Rules keep what they have: nothing carries their
    /// numbers so far.
    #[must_use]
    pub fn ledger(&self) -> String {
        let known = self.loaded.ledger.iter().flat_map(|ledger| &ledger.rules).map(|line| line.name.as_str());
        ledger::update(self.loaded.ledger.as_ref(), self.model.atoms.iter().map(|atom| atom.name.as_str()), known)
    }
}

/// Errors together with the files that they point into.
#[derive(Debug)]
pub struct Failure {
    /// The input files.
    pub sources: Sources,
    /// What is wrong with them.
    pub diagnostics: Diagnostics,
}

impl Failure {
    /// One line an error and place.
    #[must_use]
    pub fn plain(&self) -> String {
        self.diagnostics.plain(&self.sources)
    }
    /// The plain lines with excerpts.
    #[must_use]
    pub fn full(&self) -> String {
        self.diagnostics.full(&self.sources)
    }
}

/// Compiles the tables and rules under `root`, the repository's folder.
pub fn compile(root: &Path, mode: Mode) -> Result<Compiled, Failure> {
    let mut diagnostics = Diagnostics::new();
    let sources = load::find(root, &mut diagnostics);
    compile_sources(sources, diagnostics, mode)
}

/// Compiles files that are already in memory, named relative to the repository's folder.
pub fn compile_sources(sources: Sources, mut diagnostics: Diagnostics, mode: Mode) -> Result<Compiled, Failure> {
    let loaded = load::load(&sources, &mut diagnostics);
    if !diagnostics.is_empty() {
        // What is missing would be reported again wherever it is referred to.
        return Err(Failure { sources, diagnostics });
    }
    let model = model::resolve(&loaded, &mut diagnostics);
    diagnostics.extend(check::all(&model));
    let rules = rules::compile(&sources, &loaded, &model, &mut diagnostics);
    if mode == Mode::Release {
        diagnostics.extend(numbered(&loaded, &model));
        rules::certificate::check(&rules, &model, &mut diagnostics);
    }
    if !diagnostics.is_empty() {
        return Err(Failure { sources, diagnostics });
    }
    let tables = lower(&model, &rules::lower::lower(&rules));
    Ok(Compiled { sources, loaded, model, rules, tables })
}

/// Every atom stands in the ledger.
fn numbered(loaded: &Loaded, model: &HwModel) -> Diagnostics {
    let mut diags = Diagnostics::new();
    let Some(ledger) = &loaded.ledger else {
        let missing = format!("{} is missing", load::LEDGER);
        return Diagnostic::nowhere(missing).help(ledger::UPDATE).into();
    };
    let names: Vec<_> = model.atoms.iter().map(|atom| &atom.name).collect();
    ledger::compare("atom", &ledger.atoms, &names, &mut diags);
    diags
}

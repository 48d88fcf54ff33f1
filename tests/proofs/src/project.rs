//! The repository's tables and rules, loaded at run time.
use lanebook_gen::diagnostics::Diagnostics;
use lanebook_gen::model::{self, HwModel};
use lanebook_gen::rules::{self, RuleModel};
use lanebook_gen::source::Sources;
use lanebook_gen::{load, lower};
use lanebook_tables::Tables;
use std::path::{Path, PathBuf};

/// The repository's folder.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Tables and rules.
#[derive(Debug)]
pub struct Project {
    /// The files.
    pub sources: Sources,
    /// Hardware.
    pub hw: HwModel,
    /// Rules, whether proved or not.
    pub rules: RuleModel,
}

impl Project {
    /// Loads the repository; certificates are not looked at.
    ///
    /// # Errors
    /// The diagnostics as text.
    pub fn load() -> Result<Self, String> {
        let mut diags = Diagnostics::new();
        let sources = load::find(&root(), &mut diags);
        Self::of(sources, diags)
    }
    /// Compiles files in memory.
    ///
    /// # Errors
    /// The diagnostics as text.
    pub fn of(sources: Sources, mut diags: Diagnostics) -> Result<Self, String> {
        let loaded = load::load(&sources, &mut diags);
        let hw = model::resolve(&loaded, &mut diags);
        let rules = rules::compile(&sources, &loaded, &hw, &mut diags);
        if diags.is_empty() { Ok(Self { sources, hw, rules }) } else { Err(diags.plain(&sources)) }
    }
    /// The tables as the engine takes them, rules included.
    #[must_use]
    pub fn tables(&self) -> Tables<'static> {
        lower::lower(&self.hw, &rules::lower::lower(&self.rules))
    }
}

//! The compiler, stage by stage.
use crate::check;
pub use crate::compiled::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::families;
use crate::ledger;
use crate::load::{self, Kept, Loaded};
use crate::lower::lower;
use crate::model::{self, HwModel};
use crate::partial_model::{PartialModel, sound};
use crate::rules;
use crate::select;
use crate::source::{Sources, Span};
use crate::suppressed::Suppressed;
use std::path::Path;

/// How strict the compiler is about what its own tools write.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Tables of this repository as they ship: the ledger and the certificates are complete and
    /// current.
    Release,
    /// Tables from elsewhere, or on the way: what is not in the ledger gets a local number,
    /// certificates are not asked for.
    Draft,
}

/// What a build asks for beyond the repository's tables as they are.
#[derive(Clone, Debug, Default)]
pub struct BuildOptions<'a> {
    /// These architectures only; `None`: all.
    pub archs: Option<Vec<String>>,
    /// A folder of further hardware tables, laid out like `hw-tables/`.
    pub extra: Option<&'a Path>,
}

/// Errors together with the files that they point into.
#[derive(Debug)]
pub struct Failure {
    /// The input files.
    pub sources: Sources,
    /// What is wrong with them.
    pub diagnostics: Diagnostics,
    /// What is not wrong, for the audit: nothing if no part of them can be told apart.
    pub sound: Option<Box<PartialModel>>,
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
    compile_with_options(root, mode, &BuildOptions::default())
}

/// [`compile`] with further tables, or for some architectures only.
pub fn compile_with_options(
    root: &Path,
    mode: Mode,
    options: &BuildOptions<'_>,
) -> Result<Compiled, Failure> {
    let mut diagnostics = Diagnostics::new();
    let mut sources = load::find(root, &mut diagnostics);
    if let Some(extra) = options.extra {
        load::find_extra(extra, &mut sources, &mut diagnostics);
    }
    compile_some(sources, diagnostics, mode, options.archs.as_deref())
}

/// Compiles files that are already in memory, named relative to the repository's folder.
pub fn compile_sources(
    sources: Sources,
    diagnostics: Diagnostics,
    mode: Mode,
) -> Result<Compiled, Failure> {
    compile_some(sources, diagnostics, mode, None)
}

/// Compiles files as tables that ship, where most of them are known: what is wrong is said without
/// looking for what is not.
pub fn compile_known(sources: Sources, kept: &Kept) -> Result<Compiled, Diagnostics> {
    staged(sources, Diagnostics::new(), Mode::Release, None, kept).map_err(|refused| {
        let mut said = refused.diagnostics;
        said.settle();
        said
    })
}

fn compile_some(
    sources: Sources,
    diagnostics: Diagnostics,
    mode: Mode,
    archs: Option<&[String]>,
) -> Result<Compiled, Failure> {
    staged(sources, diagnostics, mode, archs, &Kept::default()).map_err(|refused| {
        let Refused { sources, loaded, mut diagnostics } = *refused;
        let sound = loaded.and_then(|loaded| sound(&sources, loaded, &mut diagnostics));
        diagnostics.settle();
        Failure { sources, diagnostics, sound: sound.map(Box::new) }
    })
}

/// What is wrong, and what was read of it if a part of that may be sound.
struct Refused {
    sources: Sources,
    loaded: Option<Loaded>,
    diagnostics: Diagnostics,
}

fn staged(
    mut sources: Sources,
    mut diagnostics: Diagnostics,
    mode: Mode,
    archs: Option<&[String]>,
    kept: &Kept,
) -> Result<Compiled, Box<Refused>> {
    families::expand(&mut sources, &mut diagnostics);
    let loaded = load::load_with(kept, &sources, &mut diagnostics);
    diagnostics.name("schema");
    // What could not be read is lost to the stages that follow; they hold back what they would say
    // of it.
    let model = model::resolve(&loaded, &mut diagnostics);
    if let Some(names) = archs {
        let known: Vec<&str> = model.archs.iter().map(|arch| arch.name.as_str()).collect();
        select::unknown(names, &known).into_iter().for_each(|error| diagnostics.push(error));
    }
    diagnostics.name("names");
    checked(&model, &mut diagnostics);
    let rules = rules::compile(&sources, &loaded, &model, &mut diagnostics);
    diagnostics.name("rules");
    rules::does::check(&model, &rules.ops, &mut diagnostics);
    diagnostics.name("words");
    if mode == Mode::Release {
        diagnostics.extend(numbered(&sources, &loaded, &model).named("ledger"));
        rules::certificate::check(&rules, &model, &mut diagnostics);
        diagnostics.name("proofs");
    }
    if !diagnostics.is_empty() {
        return Err(Box::new(Refused { sources, loaded: Some(loaded), diagnostics }));
    }
    let tables = lower(&model, &rules::lower::lower(&rules));
    diagnostics.extend(check::params::check(&model, &tables).named("names"));
    if !diagnostics.is_empty() {
        return Err(Box::new(Refused { sources, loaded: Some(loaded), diagnostics }));
    }
    let tables = match archs.map_or(Ok(tables), |names| select::select(&tables, names)) {
        Ok(tables) => tables,
        Err(unknown) => {
            unknown.into_iter().for_each(|error| diagnostics.push(error));
            return Err(Box::new(Refused { sources, loaded: None, diagnostics }));
        }
    };
    Ok(Compiled::new(sources, loaded, model, rules, tables))
}

/// The checks of the model, but for what they say of atoms with a name that may be declared in what
/// is lost. What an atom with any error in its entry is to rules cannot be judged: they lack
/// [`rules::part_of`] it.
fn checked(model: &HwModel, diags: &mut Diagnostics) {
    let inside = |at: Span, atom: &model::Atom| {
        at.file == atom.span.file && atom.span.start <= at.start && at.start < atom.span.end
    };
    let wrong: Vec<Span> = diags
        .iter()
        .filter_map(|one| one.labels.first())
        .map(|label| label.span)
        .chain(diags.held())
        .collect();
    let open: Vec<&model::Atom> =
        model.atoms.iter().filter(|atom| diags.held().any(|at| inside(at, atom))).collect();
    for atom in model.atoms.iter().filter(|atom| wrong.iter().any(|at| inside(*at, atom))) {
        diags.lose_with(Suppressed::name(&rules::part_of(&atom.name), atom.name.span), atom.span);
    }
    for one in check::all(model).iter() {
        // A template speaks of operands by name only, and these are there.
        let about = one
            .labels
            .first()
            .filter(|_| one.check != "template")
            .and_then(|label| open.iter().find(|atom| inside(label.span, atom)));
        if !about.is_some_and(|atom| diags.hold(&rules::part_of(&atom.name))) {
            diags.push(one.clone());
        }
    }
}

/// Every atom of the repository stands in the ledger.
fn numbered(sources: &Sources, loaded: &Loaded, model: &HwModel) -> Diagnostics {
    let mut diags = Diagnostics::new();
    let Some(ledger) = &loaded.ledger else {
        if sources.iter().any(|(_, file)| file.name == load::LEDGER) {
            return diags; // it cannot be read
        }
        let missing = format!("{} is missing", load::LEDGER);
        return Diagnostic::nowhere(missing).help(ledger::UPDATE).into();
    };
    let names: Vec<_> = model
        .atoms
        .iter()
        .map(|atom| &atom.name)
        .filter(|name| !sources.file(name.span.file).extra)
        .collect();
    ledger::compare("atom", &ledger.atoms, &names, &mut diags);
    diags
}

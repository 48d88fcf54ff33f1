//! `lanebook check`: the audit, without a build.
use super::against::differences;
use crate::args::{Check, DENIED, Format};
use crate::assemblers::ask;
use crate::findings::explain::explain;
use crate::findings::levels::{self, Decisions};
use crate::findings::{Figures, Findings};

use crate::output;
use crate::tables::{self, counted};
use crate::{encodings, plannable};
use lanebook_gen::assemble::Memory;
use lanebook_gen::audit::covered;
use lanebook_gen::diagnostics::{Diagnostic, Diagnostics, Level};
use lanebook_gen::rules::certificate;
use lanebook_gen::source::{FileId, Sources};
use lanebook_gen::{Compiled, Mode, audit, compile_sources, load};
use lanebook_report::problem::{Problem, Problems};
use lanebook_report::table::{Align, Table};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Further places that a finding about errors elsewhere names.
const PLACES: usize = 9;

/// Runs the command.
pub fn run(args: &Check, tables: Option<&Path>) -> Result<(), Problems> {
    if args.list {
        return Ok(output::write(args.output.as_deref(), &list())?);
    }
    if let Some(name) = &args.explain {
        return Ok(output::write(args.output.as_deref(), &explain(name)?)?);
    }
    let wanted = Wanted::of(&args.paths, tables)?;
    let decisions = Decisions::of(args, &wanted.root)?;
    wanted.hold_something()?;
    let mut quiet = Diagnostics::new();
    let mut sources = load::find(&wanted.root, &mut quiet);
    for folder in &wanted.extra {
        load::find_extra(folder, &mut sources, &mut quiet);
    }
    let quiet = quiet.named("files");
    let mode = if args.draft { Mode::Draft } else { Mode::Release };
    // As written: compiling adds what families stand for.
    let written = args.against.as_ref().map(|_| sources.clone());
    let memory = memory(args, &wanted.root)?;
    let (mut diagnostics, sound, figures, compiled) = match compile_sources(sources, quiet, mode) {
        Ok(compiled) => {
            let found = audit::remembered::run(&compiled, memory.as_ref());
            (found, None, Some(figures(&compiled)), Some(Box::new(compiled)))
        }
        // One run shows everything: what is wrong, and what is found in the rest.
        Err(failure) => {
            let mut found = failure.diagnostics;
            if let Some(sound) = &failure.sound {
                found.extend(audit::run_part(sound));
            }
            (found, Some((failure.sources, failure.sound)), None, None)
        }
    };
    if args.coverage {
        return match &compiled {
            Some(compiled) => {
                let text = covered::text(&covered::table(compiled));
                Ok(output::write(args.output.as_deref(), &text)?)
            }
            None => Err(Problem::refused(
                "these tables do not compile, so what they rest on cannot be counted",
                "mend what `lanebook check` says of them",
            )
            .into()),
        };
    }
    if args.oracle {
        oracle(&wanted.root)?;
    }
    let errors = compiled.is_none().then(|| diagnostics.clone());
    let seen = compiled
        .as_deref()
        .or(sound.as_ref().and_then(|(_, sound)| sound.as_deref()).map(|sound| &sound.compiled));
    let mut assemblers = Vec::new();
    if let Some(seen) = seen {
        diagnostics.extend(encodings::check(seen));
        diagnostics.extend(plannable::check(seen));
        let (judged, asked) = ask(seen, args.assemblers, compiled.is_some(), memory.as_ref());
        diagnostics.extend(judged);
        assemblers = asked;
    }
    if let (Some(against), Some(written)) = (&args.against, &written) {
        diagnostics.extend(differences(&wanted.root, against, written, compiled.as_deref())?);
    }
    let sources = match (&compiled, &sound) {
        (Some(compiled), _) => &compiled.sources,
        (None, Some((sources, _))) => sources,
        (None, None) => {
            return Err(Problem::internal(
                "neither tables nor errors",
                "report this with the tables",
            )
            .into());
        }
    };
    let files = wanted.files(sources);
    if let (Some(errors), Some(files)) = (&errors, &files) {
        diagnostics.extend(elsewhere(errors, sources, files));
    }
    let diagnostics = decisions.apply(diagnostics, sources);
    // What could not be judged may be in any file, and is said at the one to blame.
    let blamed = |one: &Diagnostic| {
        figures.is_none()
            && (one.level == Level::Note && one.check == "schema" || one.check == audit::COMPLETE)
    };
    let findings = Findings {
        sources,
        list: diagnostics
            .by_place(sources)
            .into_iter()
            .filter(|one| concerns(one, files.as_ref()) || Findings::skips(one) || blamed(one))
            .collect(),
        figures,
        part: sound
            .as_ref()
            .and_then(|(_, sound)| sound.as_deref())
            .map(|sound| self::figures(&sound.compiled)),
        deny_warnings: args.deny.iter().any(|word| word == DENIED[0]),
        deny_changes: args.deny.iter().any(|word| word == DENIED[1]),
        notes: args.notes,
        assemblers,
    };
    if let Some(path) = &args.write_baseline {
        let text = levels::baseline(&findings.list, sources)?;
        return Ok(output::write(Some(path), &text)?);
    }
    report(args, &findings)
}

/// Where what assemblers said is kept.
fn memory(args: &Check, root: &Path) -> Result<Option<Memory>, Problem> {
    let beside = root.join("target");
    let folder = match &args.cache {
        Some(folder) => folder.clone(),
        None if !args.no_cache && beside.is_dir() => beside.join("lanebook-check"),
        None => return Ok(None),
    };
    match Memory::at(&folder) {
        Ok(memory) => Ok(Some(memory)),
        Err(error) if args.cache.is_some() => Err(Problem::system(
            format!("cannot keep anything in {}: {error}", folder.display()),
            "name a folder that can be written with --cache, or leave it out",
        )),
        // Nobody asked for it: without it all is assembled.
        Err(_) => Ok(None),
    }
}

/// Runs all recorded answers on the tables.
fn oracle(root: &Path) -> Result<(), Problem> {
    const NAME: &str = "lanebook-oracle";
    let stated = std::env::var_os("LANEBOOK_ORACLE").map(PathBuf::from);
    let beside = std::env::current_exe().ok().map(|own| own.with_file_name(NAME));
    let beside = beside.filter(|path| path.is_file());
    let program = stated.or(beside).unwrap_or_else(|| NAME.into());
    let asked = std::process::Command::new(&program).arg("--tables").arg(root).output();
    let output = asked.map_err(|error| {
        Problem::system(
            format!("cannot run {}: {error}", program.display()),
            "build it: `cargo build --release -p lanebook-oracle`, or say where it is in LANEBOOK_ORACLE",
        )
    })?;
    let said = [output.stdout, output.stderr].concat();
    eprint!("{}", String::from_utf8_lossy(&said));
    if output.status.success() {
        return Ok(());
    }
    Err(Problem::refused(
        "these tables and the recorded answers of other systems differ",
        "the lines above say in what: correct the tables, or say in the suite why the other is wrong",
    ))
}

/// How many of each thing there are.
fn figures(compiled: &Compiled) -> Figures {
    let tables = compiled.tables();
    let log = compiled
        .sources
        .iter()
        .find(|(_, file)| file.name == certificate::FILE)
        .map_or("", |(_, file)| file.text.as_str());
    // Written by a tool, one certificate a line; that each is current is a check.
    let proofs = METHODS.map(|(word, _)| log.matches(&format!(", method: {word})")).count());
    Figures {
        architectures: tables.archs.len(),
        atoms: tables.atoms.len(),
        rules: tables.rules.rules.len(),
        proofs,
    }
}

/// Methods of proof, as the log of proofs and people call them.
const METHODS: [(&str, &str); 4] = [
    ("bits", "truth table"),
    ("basis", "basis vectors"),
    ("polynomial", "polynomials"),
    ("z3", "z3"),
];

/// How many rules are proved, and how.
fn proved(proofs: [usize; 4]) -> String {
    let all: usize = proofs.iter().sum();
    let each: Vec<String> = METHODS
        .iter()
        .zip(proofs)
        .filter(|(_, count)| *count > 0)
        .map(|((_, by), count)| format!("{count} by {by}"))
        .collect();
    if all == 0 { String::new() } else { format!(" ({all} proved: {})", each.join(", ")) }
}

/// Errors of the compiler in other files than those that were asked for: these cannot be judged in
/// full then.
fn elsewhere(errors: &Diagnostics, sources: &Sources, files: &BTreeSet<FileId>) -> Diagnostics {
    let found = errors
        .by_place(sources)
        .into_iter()
        .filter(|one| one.level == Level::Error && !concerns(one, Some(files)));
    let found: Vec<&Diagnostic> = found.collect();
    let Some(first) = found.first() else { return Diagnostics::new() };
    let message = format!(
        "what was asked for cannot be judged in full: {} elsewhere",
        counted(found.len(), "error")
    );
    let mut said = match first.labels.first() {
        Some(label) => {
            Diagnostic::at(label.span, format!("{message}, first here: {}", first.message))
        }
        None => Diagnostic::nowhere(format!("{message}, first: {}", first.message)),
    };
    for one in found.iter().skip(1).take(PLACES) {
        said = one
            .labels
            .first()
            .into_iter()
            .fold(said, |said, label| said.note(label.span, one.message.clone()));
    }
    Diagnostics::from(
        said.help("mend them, or have them mended; without paths all of them are shown in full"),
    )
    .named(audit::COMPLETE)
}

/// Writes what was found, and says how it ended.
fn report(args: &Check, findings: &Findings<'_>) -> Result<(), Problems> {
    let text = findings.render(args.format)?;
    let summary = findings.summary();
    if args.format != Format::Text {
        output::write(args.output.as_deref(), &text)?;
        return match findings.outcome() {
            Some(kind) => Err(Problems::Rendered(kind, format!("{summary}\n"))),
            None => Ok(()),
        };
    }
    let differences = findings.differences();
    if let Some(kind) = findings.outcome() {
        return Err(Problems::Rendered(kind, format!("{text}{differences}{summary}\n")));
    }
    eprint!("{text}");
    let figures = findings.figures.unwrap_or_default();
    let line = format!(
        "{differences}{}, {}, {}{}: {summary}\n",
        counted(figures.architectures, "architecture"),
        counted(figures.atoms, "atom"),
        counted(figures.rules, "rule") + &proved(figures.proofs),
        findings
            .assemblers
            .iter()
            .filter_map(|asked| Some(format!(
                ", {} before {}",
                counted(asked.texts, "text"),
                asked.assembler.as_ref()?
            )))
            .collect::<String>(),
    );
    Ok(output::write(args.output.as_deref(), &line)?)
}

/// The names of all checks with what they demand.
fn list() -> String {
    let mut table =
        Table::new(&[("CHECK", Align::Left), ("LEVEL", Align::Left), ("DEMANDS", Align::Left)]);
    for check in audit::CHECKS {
        table.row([check.name.into(), check.level.word().into(), check.about.into()]);
    }
    table.render(0)
}

/// Whether a finding touches one of the files that were asked for.
fn concerns(one: &Diagnostic, files: Option<&BTreeSet<FileId>>) -> bool {
    one.labels.is_empty()
        || files.is_none_or(|files| one.labels.iter().any(|label| files.contains(&label.span.file)))
}

/// What the paths of the command line ask for.
struct Wanted {
    /// The folder that holds hw-tables/ and rules/.
    root: PathBuf,
    /// Folders of further tables.
    extra: Vec<PathBuf>,
    /// Files and folders inside the root that are looked at; none: all.
    inside: Vec<PathBuf>,
}

impl Wanted {
    fn of(paths: &[PathBuf], tables: Option<&Path>) -> Result<Self, Problem> {
        let mut wanted = Self { root: PathBuf::new(), extra: Vec::new(), inside: Vec::new() };
        let mut root = tables.map(Path::to_path_buf);
        for path in paths {
            if !path.exists() {
                return Err(Problem::usage(
                    format!("there is no {}", path.display()),
                    "name a file or folder of tables",
                ));
            }
            match root_of(path) {
                Some(found) => {
                    let other = root.as_ref().filter(|root| canonical(root) != canonical(&found));
                    if let Some(other) = other {
                        let what = format!(
                            "{} and {} are two sets of tables",
                            other.display(),
                            found.display()
                        );
                        return Err(Problem::usage(what, "check them one at a time"));
                    }
                    if canonical(path) != canonical(&found) {
                        wanted.inside.push(path.clone());
                    }
                    root = Some(found);
                }
                None if path.is_dir() => wanted.extra.push(path.clone()),
                None => {
                    let what = format!("{} is in no folder of tables", path.display());
                    return Err(Problem::usage(
                        what,
                        "name the folder that it is in: all of its files belong together",
                    ));
                }
            }
        }
        // Further tables build upon those of the folder that this is run in.
        wanted.root = match root.or_else(|| root_of(Path::new("."))) {
            Some(root) => root,
            None => {
                let at = paths.first().map_or(".".into(), |path| path.display().to_string());
                let help = "name a folder that holds hw-tables/ and rules/, such as a checkout of lanebook; further tables need it with --tables";
                return Err(Problem::usage(
                    format!("{at} has no folder {}", load::FOLDERS.join(" and no folder ")),
                    help,
                ));
            }
        };
        tables::whole(&wanted.root)?;
        Ok(wanted)
    }

    /// The files whose findings are shown; `None`: all.
    fn files(&self, sources: &Sources) -> Option<BTreeSet<FileId>> {
        if self.inside.is_empty() && self.extra.is_empty() {
            return None;
        }
        let inside: Vec<PathBuf> =
            self.inside.iter().chain(&self.extra).map(|path| canonical(path)).collect();
        let is_inside =
            |path: &PathBuf| inside.iter().any(|folder| canonical(path).starts_with(folder));
        Some(
            sources
                .iter()
                .filter(|(_, file)| file.path.as_ref().is_some_and(is_inside))
                .map(|(id, _)| id)
                .collect(),
        )
    }

    /// A path without tables is a mistake: an audit that looks at nothing must not pass.
    fn hold_something(&self) -> Result<(), Problem> {
        let is_table = |path: &Path| path.extension().is_some_and(|extension| extension == "ron");
        let empty = self.inside.iter().chain(&self.extra).find(|path| match path.is_dir() {
            true => !load::watched_in(path).iter().any(|path| is_table(path)),
            false => !is_table(path),
        });
        match empty {
            Some(path) => Err(Problem::usage(
                format!("{} holds no tables", path.display()),
                "name .ron files, or folders with some",
            )),
            None => Ok(()),
        }
    }
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

/// The folder of tables that a path is, or is a part of: at or below its hw-tables/ or rules/. A
/// folder that merely lies somewhere below a checkout is none of its tables.
fn root_of(path: &Path) -> Option<PathBuf> {
    let holds = |folder: &Path| load::FOLDERS.iter().all(|name| folder.join(name).is_dir());
    if holds(path) {
        return Some(path.to_path_buf());
    }
    let at = canonical(path);
    let part = |folder: &Path| {
        load::FOLDERS.iter().any(|name| at.starts_with(canonical(&folder.join(name))))
    };
    at.ancestors().skip(1).find(|folder| holds(folder) && part(folder)).map(Path::to_path_buf)
}

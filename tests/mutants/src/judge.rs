//! What the audit says of tables with one wrong fact.
use crate::change::Mutant;
use crate::facts::{KNOWLEDGE, Kind};
use lanebook_gen::assemble::{self, Difference, text};
use lanebook_gen::diagnostics::{Diagnostics, Level};
use lanebook_gen::load::Kept;
use lanebook_gen::rules::overlap;
use lanebook_gen::source::Sources;
use lanebook_gen::{Compiled, Mode, audit, compile_known, compile_sources};
use lanebook_tables::{AtomId, IsaId};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What came of a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A check finds it: which, and the first thing that it says.
    Caught(String, String),
    /// Nothing that is built from the tables differs: they are the same, byte for byte, or entries
    /// stand in another order that nobody asks for.
    Harmless,
    /// Only words that people read differ, of what is taken of operations: rules/TILE.md, which a
    /// test holds to the letter, is made of them.
    Prose,
    /// Only the descriptions differ, not what planning and emission read.
    Shown,
    /// What kernels are made from differs, and nothing is said.
    Survived,
}

/// The tables as they are, and what is asked about them.
pub struct Judge {
    sources: Sources,
    sound: Compiled,
    kept: Kept,
    rust: String,
    lean: String,
    wordless: String,
    order: Order,
    assemblers: Vec<Option<PathBuf>>,
}

/// Rules by what they say, and of those that fit one term which comes first.
type Order = (BTreeSet<String>, BTreeSet<(String, String)>);

/// In which order rules are tried, where it matters. Among those that fit no common term it does not.
fn order(compiled: &Compiled) -> Order {
    let rules = &compiled.rules.rules;
    let said = rules.iter().map(|rule| {
        let term = (&rule.pattern, &rule.lets, &rule.conditions, &rule.replacement);
        format!("{} {:?} {} {term:?}", rule.name.value, rule.isa, rule.phase)
    });
    let mut first = BTreeSet::new();
    for (at, one) in rules.iter().enumerate() {
        for two in rules.iter().skip(at + 1).filter(|two| two.language == one.language) {
            if overlap::fit_one_term(one, two) {
                let (name, other) = (one.name.value.clone(), two.name.value.clone());
                let sooner = one.priority >= two.priority;
                first.insert(if sooner { (name, other) } else { (other, name) });
            }
        }
    }
    (said.collect(), first)
}

/// Lists of rules/ whose entries are looked up by what they name, no two of them the same.
const BY_NAME: [&str; 12] = [
    "dtypes",
    "accesses",
    "meanings",
    "targets",
    "archs",
    "formats",
    "compiled",
    "refused",
    "spellings",
    "terms",
    "passes",
    "ops",
];

/// Whether entries change places in a list in which they are looked up.
fn is_found_by_name(mutant: &Mutant) -> bool {
    let sorted = |text: &str| {
        let mut bytes = text.as_bytes().to_vec();
        bytes.sort_unstable();
        bytes
    };
    let last = mutant.path.rsplit('.').next().unwrap_or_default();
    // Whole files of sequences, and of operations.
    let file = last.is_empty() && matches!(mutant.kind, Kind::Sequences | Kind::Operations);
    KNOWLEDGE.iter().any(|(kind, _)| *kind == mutant.kind)
        && (file || BY_NAME.contains(&last))
        && mutant.old.contains(',')
        && sorted(&mutant.old) == sorted(&mutant.new)
}

/// The name of the check that assemblers are.
const ASSEMBLER: &str = audit::ASSEMBLER;

/// Checks that look at much, or at what others have looked at: they are asked after the others, in
/// this order.
const LATE: [&str; 4] = ["whole", "siblings", "agreement", "verdicts"];

impl Judge {
    /// The tables of some sources, with the assemblers if they are wanted.
    ///
    /// # Errors
    /// If these tables do not pass the audit as they are, or an assembler is not found.
    pub fn new(sources: Sources, assemblers: bool) -> Result<Self, String> {
        let sound = compile_sources(sources.clone(), Diagnostics::new(), Mode::Release)
            .map_err(|failure| failure.plain())?;
        let mut found = Diagnostics::new();
        let all = audit::run(&sound);
        all.iter()
            .filter(|one| one.level <= Level::Warning)
            .for_each(|one| found.push(one.clone()));
        if !found.is_empty() {
            return Err(found.plain(&sound.sources));
        }
        let programs = sound.model.isas.iter().map(|isa| match &isa.assembler {
            Some(assembler) if assemblers => assemble::find(assembler, &folders()).map(Some),
            _ => Ok(None),
        });
        let assemblers = programs.collect::<Result<Vec<_>, String>>()?;
        let (rust, lean) = (sound.rust(), format!("{:?}", sound.lean()));
        let (kept, wordless) = (Kept::of(&sound.sources), without_words(&sound));
        let order = order(&sound);
        Ok(Self { sources, sound, kept, rust, lean, wordless, order, assemblers })
    }

    /// All of some mutants, on as many threads as there are processors.
    #[must_use]
    pub fn all(&self, mutants: &[Mutant]) -> Vec<Outcome> {
        let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
                scope.spawn(|| {
                    while let Some((at, mutant)) = {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        mutants.get(at).map(|mutant| (at, mutant))
                    } {
                        let outcome = self.one(mutant);
                        done.lock()
                            .expect("no thread panics while it holds this")
                            .push((at, outcome));
                    }
                });
            }
        });
        let mut done = done.into_inner().expect("no thread panics while it holds this");
        done.sort_by_key(|(at, _)| *at);
        done.into_iter().map(|(_, outcome)| outcome).collect()
    }

    /// What the audit says of one.
    #[must_use]
    pub fn one(&self, mutant: &Mutant) -> Outcome {
        let mut sources = Sources::default();
        for (id, file) in self.sources.iter() {
            let mut text = file.text.clone();
            if id == mutant.span.file {
                text.replace_range(
                    mutant.span.start as usize..mutant.span.end as usize,
                    &mutant.new,
                );
            }
            sources.add(&file.name, file.path.as_deref(), text);
        }
        let compiled = match compile_known(sources, &self.kept) {
            Ok(compiled) => compiled,
            Err(diagnostics) => {
                let (check, said) = complaint(&diagnostics).unwrap_or_default();
                return Outcome::Caught(check, said);
            }
        };
        // The first that complains is enough.
        let late = |name: &str| LATE.iter().position(|other| *other == name);
        let mut checks = audit::ALL;
        checks.sort_by_key(|(name, _)| late(name).map_or(0, |at| at + 1));
        for (name, check) in checks {
            if let Some((check, said)) = complaint(&check(&compiled).named(name)) {
                return Outcome::Caught(check, said);
            }
        }
        if compiled.rust() == self.rust {
            return Outcome::Harmless;
        }
        if without_words(&compiled) == self.wordless {
            return Outcome::Prose;
        }
        if is_found_by_name(mutant) || mutant.kind == Kind::Rules && order(&compiled) == self.order
        {
            return Outcome::Harmless;
        }
        if let Some(difference) = self.assembled(&compiled) {
            let said = difference.refused.unwrap_or_else(|| "it is taken unclaimed".into());
            return Outcome::Caught(ASSEMBLER.into(), format!("{}: {said}", difference.text));
        }
        if format!("{:?}", compiled.lean()) == self.lean {
            Outcome::Shown
        } else {
            Outcome::Survived
        }
    }

    /// The first difference that assemblers see between these tables and the sound ones. Asked are
    /// the atoms whose texts differ, and of an architecture that differs all.
    fn assembled(&self, compiled: &Compiled) -> Option<Difference> {
        let (tables, sound) = (compiled.tables(), self.sound.tables());
        for (number, program) in (0u16..).zip(&self.assemblers) {
            let (id, Some(program)) = (IsaId(number), program) else { continue };
            let isa = tables.isa(id)?;
            let texts = |tables: &lanebook_tables::Tables<'static>, atom: AtomId| -> Vec<String> {
                assemble::instances(tables, &[atom])
                    .flat_map(|(_, instance)| text::forms(isa, &instance, "L"))
                    .collect()
            };
            let changed: BTreeSet<AtomId> = (0u16..)
                .map(AtomId)
                .zip(tables.atoms.iter().zip(sound.atoms))
                .filter(|(id, (new, old))| {
                    new.isa == old.isa
                        && new.name() == old.name()
                        && texts(&tables, *id) != texts(&sound, *id)
                })
                .map(|(id, _)| id)
                .collect();
            let (whole, part): (Vec<usize>, Vec<usize>) = assemble::archs(compiled, id)
                .into_iter()
                .partition(|at| self.figures_differ(compiled, *at));
            let mut found = Vec::new();
            if !whole.is_empty() {
                for verdict in assemble::judge(compiled, id, program, &whole) {
                    if let Err(why) = &verdict.judged {
                        let atom = AtomId(0);
                        let refused = Some(format!("{why:?}"));
                        return Some(Difference {
                            atom,
                            arch: verdict.arch,
                            text: String::new(),
                            refused,
                        });
                    }
                    found.extend(verdict.differences);
                }
            }
            let has = |at: &usize| {
                compiled.model.archs[*at].atoms.iter().any(|entry| changed.contains(&entry.atom))
            };
            let part: Vec<usize> = part.into_iter().filter(has).collect();
            if !part.is_empty() {
                let ask = |of: &Compiled| -> Vec<Difference> {
                    let judged = assemble::judge_some(of, id, program, &part, |atom| {
                        changed.contains(&atom)
                    });
                    judged.into_iter().flat_map(|verdict| verdict.differences).collect()
                };
                let before = ask(&self.sound);
                found.extend(ask(compiled).into_iter().filter(|one| !before.contains(one)));
            }
            if let Some(first) = found.into_iter().next() {
                return Some(first);
            }
        }
        None
    }

    /// Whether what an architecture has, or is called, differs.
    fn figures_differ(&self, compiled: &Compiled, at: usize) -> bool {
        let told = |of: &Compiled| {
            of.model.archs.get(at).map(|arch| {
                let atoms: Vec<AtomId> = arch.atoms.iter().map(|entry| entry.atom).collect();
                let waves = arch.wave_lanes.first().copied();
                (arch.target.clone(), arch.isa_version.clone(), waves, atoms)
            })
        };
        told(compiled) != told(&self.sound)
    }
}

/// Everything of tables but the words with which the contract speaks to people. The library's own
/// account of what emission needs is without them.
fn without_words(compiled: &Compiled) -> String {
    let contract = compiled.lean().contract;
    format!("{:?}", lanebook_tables::Tables { contract, ..compiled.tables() })
}

/// Where the repository's own tools put an assembler that is not on the path.
fn folders() -> Vec<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let packages = root.join("target/venv-nv/lib");
    let versions = std::fs::read_dir(packages).into_iter().flatten().filter_map(Result::ok);
    versions.map(|entry| entry.path().join("site-packages/nvidia/cu13/bin")).collect()
}

/// The first error: its check and what it says. A warning is no catch: `check` ends well beside one
/// unless it is told otherwise, and tables with one compile.
fn complaint(found: &Diagnostics) -> Option<(String, String)> {
    let first = found.iter().find(|one| one.level == Level::Error)?;
    Some((first.check.to_string(), first.message.clone()))
}

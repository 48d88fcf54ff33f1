//! Atoms before the vendors' assemblers: what an architecture claims is taken, what it does not
//! claim is refused.
//!
//! An instruction set says how its assembler is found, asked and understood (`assembler` in
//! `rules/isa/*.ron`); nothing here knows a vendor. For each architecture one text holds every form
//! of every atom ([`text`]), so that one run judges them all; where reading a text is cheaper than
//! making code of it, what the architecture has is assembled in a second run. A text that is taken
//! and not claimed is another spelling of something claimed if both encode to the same bytes, where
//! the assembler prints encodings. What is remembered is remembered by [`Memory`] alone, and the order of what is found does not depend
//! on which run ends first.
//!
//! It does not say what is wrong with a table: [`judge`] tells where tables and assembler differ,
//! and a caller shows it.
mod digest;
mod memory;
pub mod text;

pub use memory::Memory;

use crate::compile::Compiled;
use crate::model::{Arch, Assembler, Frame};
use crate::template::Piece;
use lanebook_tables::{AtomId, Instance, IsaId, Tables};
use memory::Said;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use text::{For, Part, errors, fill, listing};

/// Texts that cannot be read are looked for one by one; a table with more of them is told so.
const MOST_UNREADABLE: usize = 16;

/// Where tables and assembler differ.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Difference {
    /// The atom.
    pub atom: AtomId,
    /// The architecture, an index into the model's.
    pub arch: usize,
    /// The text that was assembled.
    pub text: String,
    /// What the assembler says against a text that the architecture claims; nothing: it takes one
    /// that is not claimed.
    pub refused: Option<String>,
}

/// What came of one architecture.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The architecture, an index into the model's.
    pub arch: usize,
    /// Texts that were judged, or why they were not.
    pub judged: Result<usize, Unable>,
    /// Where tables and assembler differ.
    pub differences: Vec<Difference>,
}

/// Why an assembler does not judge.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unable {
    /// It cannot be run, or does not know the target or the version.
    Unknown(String),
    /// It stumbles over a line that is of no atom, or fails without naming a line.
    Stumbled(String),
}

/// The program of an assembler: from its variable, in one of these folders, or on the path.
///
/// # Errors
/// What was looked for, if it is nowhere.
pub fn find(assembler: &Assembler, folders: &[PathBuf]) -> Result<PathBuf, String> {
    if let Some(path) = std::env::var_os(&assembler.variable).filter(|path| !path.is_empty()) {
        let path = PathBuf::from(path);
        return if path.is_file() {
            Ok(path)
        } else {
            Err(format!("{} names {}, which is no file", assembler.variable, path.display()))
        };
    }
    let on_path: Vec<PathBuf> =
        std::env::var_os("PATH").map(|p| std::env::split_paths(&p).collect()).unwrap_or_default();
    let places = assembler
        .programs
        .iter()
        .flat_map(|name| folders.iter().chain(&on_path).map(move |folder| folder.join(name)));
    let found = places.into_iter().find(|path| path.is_file());
    found.ok_or_else(|| {
        format!(
            "{} is not on the path and {} is not set",
            assembler.programs.join(" or "),
            assembler.variable
        )
    })
}

/// What a program says of its version.
///
/// # Errors
/// If it cannot be run, or says nothing.
pub fn version(program: &Path) -> Result<String, String> {
    let ran = Command::new(program).arg("--version").output();
    let said = ran.map_err(|error| format!("{} cannot be run: {error}", program.display()))?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let line = said
        .lines()
        .find(|line| line.contains("release") || line.contains("version"))
        .map(str::trim);
    line.map(str::to_string).ok_or_else(|| format!("{} names no version", program.display()))
}

/// The architectures of an instruction set, as [`judge`] takes them.
#[must_use]
pub fn archs(compiled: &Compiled, isa: IsaId) -> Vec<usize> {
    (0..compiled.model.archs.len()).filter(|at| compiled.model.archs[*at].isa == isa).collect()
}

/// Holds architectures of an instruction set (indices into the model's) against its assembler at
/// `program`, on as many threads as there are processors.
#[must_use]
pub fn judge(compiled: &Compiled, isa: IsaId, program: &Path, archs: &[usize]) -> Vec<Verdict> {
    judge_remembered(compiled, isa, program, archs, None)
}

/// [`judge`], where what was said before is not asked again.
#[must_use]
pub fn judge_remembered(
    compiled: &Compiled,
    isa: IsaId,
    program: &Path,
    archs: &[usize],
    memory: Option<&Memory>,
) -> Vec<Verdict> {
    judged(compiled, isa, program, archs, memory, &|_| true)
}

/// [`judge_remembered`] for tables that compiled as they stand, with all that they are made of: where
/// neither they nor the programs changed since nothing was found, not even the texts are made.
#[must_use]
pub fn judge_unless_settled(
    compiled: &Compiled,
    isa: IsaId,
    program: &Path,
    archs: &[usize],
    memory: &Memory,
) -> Vec<Verdict> {
    let name = compiled.model.isas.get(isa.index()).map_or("", |isa| isa.name.value.as_str());
    let key = memory.whole_key(program, name, compiled);
    let settled = key.as_ref().and_then(|key| memory.recall_whole(key));
    if let Some(settled) = settled.filter(|all| all.iter().map(|(at, _)| at).eq(archs)) {
        let verdict = |(arch, texts)| Verdict { arch, judged: Ok(texts), differences: Vec::new() };
        return settled.into_iter().map(verdict).collect();
    }
    let verdicts = judge_remembered(compiled, isa, program, archs, Some(memory));
    let counts = verdicts.iter().map(|verdict| match &verdict.judged {
        Ok(texts) if verdict.differences.is_empty() => Some((verdict.arch, *texts)),
        _ => None,
    });
    if let (Some(key), Some(counts)) = (key, counts.collect::<Option<Vec<_>>>()) {
        memory.keep_whole(&key, &counts);
    }
    verdicts
}

/// [`judge`], of some atoms alone. That a text is claimed by another atom is seen only if this is
/// one of them.
#[must_use]
pub fn judge_some(
    compiled: &Compiled,
    isa: IsaId,
    program: &Path,
    archs: &[usize],
    wanted: impl Fn(AtomId) -> bool + Sync,
) -> Vec<Verdict> {
    judged(compiled, isa, program, archs, None, &wanted)
}

fn judged(
    compiled: &Compiled,
    isa: IsaId,
    program: &Path,
    archs: &[usize],
    memory: Option<&Memory>,
    wanted: &(dyn Fn(AtomId) -> bool + Sync),
) -> Vec<Verdict> {
    let Some(assembler) =
        compiled.model.isas.get(isa.index()).and_then(|isa| isa.assembler.as_ref())
    else {
        return Vec::new();
    };
    let tables = compiled.tables();
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let judge = Judge { compiled, tables: &tables, isa, assembler, program, memory, wanted };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from).min(archs.len()) {
            scope.spawn(|| {
                while let Some(arch) = archs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let verdict = judge.arch(*arch);
                    done.lock().expect("no thread panics while it holds this").push(verdict);
                }
            });
        }
    });
    let mut verdicts = done.into_inner().expect("no thread panics while it holds this");
    verdicts.sort_by_key(|verdict| verdict.arch);
    verdicts
}

struct Judge<'a> {
    compiled: &'a Compiled,
    tables: &'a Tables<'static>,
    isa: IsaId,
    assembler: &'a Assembler,
    program: &'a Path,
    memory: Option<&'a Memory>,
    wanted: &'a (dyn Fn(AtomId) -> bool + Sync),
}

impl Judge<'_> {
    fn arch(&self, at: usize) -> Verdict {
        let mut differences = Vec::new();
        let judged = self.differences(at, &mut differences);
        differences.sort();
        differences.dedup_by(|a, b| {
            (a.atom, &a.text, a.refused.is_some()) == (b.atom, &b.text, b.refused.is_some())
        });
        Verdict { arch: at, judged, differences }
    }

    fn differences(&self, at: usize, out: &mut Vec<Difference>) -> Result<usize, Unable> {
        let arch = &self.compiled.model.archs[at];
        let has: BTreeSet<usize> = arch.atoms.iter().map(|entry| entry.atom.index()).collect();
        // Instruction sets that extend one another are one language and go by one name.
        let language = |isa: IsaId| self.tables.isa(isa).map(|isa| isa.name);
        let ours = |atom: &lanebook_tables::Atom<'_>| language(atom.isa) == language(self.isa);
        let all: Vec<AtomId> = (0u16..)
            .zip(self.tables.atoms)
            .filter(|(id, atom)| ours(atom) && (self.wanted)(AtomId(*id)))
            .map(|(id, _)| AtomId(id))
            .collect();
        let reads = self.assembler.reads.as_ref().and_then(|(from, to)| {
            Some(format!("{to}{}", arch.target.strip_prefix(from.as_str())?))
        });
        let newest = if self.assembler.newest.is_empty() {
            &arch.isa_version
        } else {
            &self.assembler.newest
        };
        let (parts, refused) =
            self.run(arch, reads.as_deref().unwrap_or(&arch.target), newest, &all, &has)?;
        // A text that is claimed by one atom may be another's too: generations share texts and
        // differ in what these do. Which numbers the made-up registers have is no difference.
        let claimed: BTreeSet<String> = parts
            .iter()
            .filter(|part| has.contains(&part.atom.index()))
            .map(|part| text::shape(&part.text))
            .collect();
        let mut beyond = Vec::new();
        for (part, refused) in parts.iter().zip(&refused) {
            let has_it = has.contains(&part.atom.index());
            if has_it && refused.is_some() {
                out.push(Difference {
                    atom: part.atom,
                    arch: at,
                    text: part.text.clone(),
                    refused: refused.clone(),
                });
            }
            if !has_it && refused.is_none() && !claimed.contains(&text::shape(&part.text)) {
                beyond.push(part);
            }
        }
        let own = parts
            .iter()
            .zip(&refused)
            .filter(|(part, refused)| refused.is_none() && has.contains(&part.atom.index()))
            .map(|(part, _)| part);
        let spellings = self.spellings(arch, &beyond, own)?;
        let further = beyond.iter().zip(spellings).filter(|(_, spelling)| !spelling);
        out.extend(further.map(|(part, _)| Difference {
            atom: part.atom,
            arch: at,
            text: part.text.clone(),
            refused: None,
        }));
        if reads.is_some() || *newest != arch.isa_version {
            let own: Vec<AtomId> = all.into_iter().filter(|id| has.contains(&id.index())).collect();
            let (parts, refused) = self.run(arch, &arch.target, &arch.isa_version, &own, &has)?;
            for (part, message) in parts.iter().zip(refused) {
                if let Some(message) = message {
                    out.push(Difference {
                        atom: part.atom,
                        arch: at,
                        text: part.text.clone(),
                        refused: Some(message),
                    });
                }
            }
        }
        Ok(parts.len())
    }

    /// Which of the texts beyond what an architecture claims are other spellings of what it claims:
    /// they encode to the same bytes. Bytes that wait for a label are not known, and what encodes
    /// to nothing is no spelling of anything; nor is any text if the assembler does not print
    /// encodings.
    fn spellings<'p>(
        &self,
        arch: &Arch,
        beyond: &[&'p Part],
        own: impl Iterator<Item = &'p Part>,
    ) -> Result<Vec<bool>, Unable> {
        if beyond.is_empty() || self.assembler.encodes.is_empty() {
            return Ok(vec![false; beyond.len()]);
        }
        let texts: Vec<&str> =
            beyond.iter().copied().chain(own).map(|part| part.text.as_str()).collect();
        let wave_lanes = arch.wave_lanes.first().copied().unwrap_or(0);
        let wanted = For { target: &arch.target, version: &arch.isa_version, wave_lanes };
        let isa = &self.tables.isas[self.isa.index()];
        let listing = text::marked(
            (isa, self.assembler, &self.compiled.model.isas[self.isa.index()].register_decl),
            &wanted,
            &texts,
        );
        let asked = ask(
            self.assembler,
            &self.assembler.encodes,
            (self.program, self.memory),
            &listing,
            &arch.target,
            wave_lanes,
        )
        .map_err(Unable::Unknown)?;
        if !asked.fine {
            let first = asked
                .said
                .lines()
                .find(|line| asked.errors.values().any(|message| line.contains(message.as_str())));
            return Err(Unable::Stumbled(format!(
                "it prints no encodings: {}",
                first.unwrap_or("it fails without a word").trim()
            )));
        }
        let encodings =
            text::encodings(&self.assembler.encoding, isa.label_suffix, texts.len(), &asked.said);
        let (of_beyond, of_own) = encodings.split_at(beyond.len());
        let known: BTreeSet<&[u8]> = of_own.iter().filter_map(Option::as_deref).collect();
        Ok(of_beyond
            .iter()
            .map(|bytes| bytes.as_deref().is_some_and(|bytes| known.contains(bytes)))
            .collect())
    }

    /// One run: the texts of these atoms, and what is said against each.
    fn run(
        &self,
        arch: &Arch,
        target: &str,
        version: &str,
        atoms: &[AtomId],
        has: &BTreeSet<usize>,
    ) -> Result<(Vec<Part>, Vec<Option<String>>), Unable> {
        let (isa, model) =
            (&self.tables.isas[self.isa.index()], &self.compiled.model.isas[self.isa.index()]);
        let wave_lanes = arch.wave_lanes.first().copied().unwrap_or(0);
        let wanted = For { target: &arch.target, version, wave_lanes };
        // Parameters of a kernel belong to its frame: of what loads them the plain form alone
        // stands here.
        let variants = |id: AtomId| {
            has.contains(&id.index()) && id != isa.load_param32 && id != isa.load_param64
        };
        let mut unreadable: Vec<(Part, String)> = Vec::new();
        loop {
            let written = |only: &dyn Fn((usize, usize)) -> bool| {
                let isa = (isa, self.assembler, &model.register_decl);
                listing(isa, &wanted, instances(self.tables, atoms), variants, only)
            };
            let asked = |text: &str| {
                let program = (self.program, self.memory);
                let arguments = &self.assembler.arguments;
                ask(self.assembler, arguments, program, text, target, wave_lanes)
                    .map_err(Unable::Unknown)
            };
            let without = |place| unreadable.iter().all(|(part, _)| part.place != place);
            let (text, mut parts) = written(&without);
            let answer = asked(&text)?;
            let Some((line, why)) = gave_up(self.assembler, &answer, &parts) else {
                let mut refused: Vec<Option<String>> = parts
                    .iter()
                    .map(|part| {
                        let mut said = answer.errors.range(part.lines.clone());
                        said.next().map(|(_, message)| message.clone())
                    })
                    .collect();
                for (part, message) in unreadable {
                    parts.push(part);
                    refused.push(Some(message));
                }
                return Ok((parts, refused));
            };
            // What cannot be read may be noticed where the next text begins: the one before a line
            // is to blame for it if it cannot be read by itself.
            let mut blamed = None;
            // Where not even the frame can be read no text is to blame.
            if unreadable.is_empty() && !asked(&written(&|_| false).0)?.fine {
                return Err(Unable::Stumbled(why));
            }
            let before = parts.iter().filter(|part| line.is_some_and(|at| part.lines.start <= at));
            let mut near: Vec<&Part> = before.collect();
            near.sort_by_key(|part| std::cmp::Reverse(part.lines.start));
            for part in near.into_iter().take(2) {
                let (alone, _) = written(&|place| place == part.place);
                let answer = asked(&alone)?;
                if !answer.fine {
                    let said = answer.errors.values().next().cloned();
                    let said = said.or(answer.stopped.map(|(_, message)| message));
                    let said = said.unwrap_or_else(|| {
                        why_it_gave_up(&self.assembler.error, &answer.said).to_string()
                    });
                    blamed = Some((part.clone(), said));
                    break;
                }
            }
            match blamed {
                Some(found) if unreadable.len() < MOST_UNREADABLE => unreadable.push(found),
                _ => return Err(Unable::Stumbled(why)),
            }
        }
    }
}

/// Whether an assembler gave up before it had judged all texts: at which line, and why.
fn gave_up(
    assembler: &Assembler,
    answer: &Answer,
    parts: &[Part],
) -> Option<(Option<usize>, String)> {
    let stray =
        answer.errors.iter().find(|(line, _)| !parts.iter().any(|part| part.lines.contains(line)));
    if let Some((line, message)) = stray {
        let why = format!("line {line} of the text, which is of no atom: {message}");
        return Some((Some(*line), why));
    }
    if let Some((line, message)) = &answer.stopped {
        return Some((Some(*line), format!("it gives up at line {line} of the text: {message}")));
    }
    if answer.fine || !answer.errors.is_empty() {
        return None;
    }
    Some((None, why_it_gave_up(&assembler.error, &answer.said).to_string()))
}

/// What an assembler says when it gives up without an error at a line of ours: the first line that
/// has what its errors have behind their place (it may count lines of its own), else its last line,
/// behind whatever it remarks on the way.
fn why_it_gave_up<'s>(error: &Frame, said: &'s str) -> &'s str {
    let mark = error
        .iter()
        .rev()
        .find_map(|piece| if let Piece::Text(text) = piece { Some(text.trim()) } else { None });
    let lines = || said.lines().map(str::trim).filter(|line| !line.is_empty());
    let marked = mark
        .filter(|mark| mark.chars().any(char::is_alphabetic))
        .and_then(|mark| lines().find(|line| line.contains(mark)));
    marked.or_else(|| lines().next_back()).unwrap_or("it fails without a word")
}

/// All instances of atoms.
pub fn instances<'t>(
    tables: &Tables<'t>,
    atoms: &[AtomId],
) -> impl Iterator<Item = (AtomId, Instance<'t>)> {
    let known = atoms.iter().filter_map(|id| Some((*id, tables.atom(*id)?))).collect::<Vec<_>>();
    known.into_iter().flat_map(|(id, atom)| {
        (0..atom.instances()).filter_map(move |number| Some((id, atom.instance(number)?)))
    })
}

/// An assembler's answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// It ended well.
    pub fine: bool,
    /// Lines with errors, each with the first message.
    pub errors: std::collections::BTreeMap<usize, String>,
    /// The line at which it gave up, and why, if it says so.
    pub stopped: Option<(usize, String)>,
    /// Everything it printed.
    pub said: String,
}

/// Runs an assembler on a text.
///
/// # Errors
/// If it cannot be run, or does not know the target.
pub fn run(
    assembler: &Assembler,
    program: &Path,
    text: &str,
    target: &str,
    wave_lanes: u16,
) -> Result<Answer, String> {
    ask(assembler, &assembler.arguments, (program, None), text, target, wave_lanes)
}

/// What an assembler says to a text with these arguments, now or before.
fn ask(
    assembler: &Assembler,
    arguments: &[Frame],
    (program, memory): (&Path, Option<&Memory>),
    text: &str,
    target: &str,
    wave_lanes: u16,
) -> Result<Answer, String> {
    let filled = |input: &str, output: &str| -> Vec<String> {
        let value = |word: &str| match word {
            "target" => target.to_string(),
            "wave_lanes" => wave_lanes.to_string(),
            "input" => input.to_string(),
            "output" => output.to_string(),
            _ => String::new(),
        };
        assembler.flags.iter().chain(arguments).map(|argument| fill(argument, value)).collect()
    };
    let key = memory.and_then(|memory| {
        // Its own files have other names each time.
        Some((memory, memory.key(program, &filled("{input}", "{output}"), text)?))
    });
    let said = match key.as_ref().and_then(|(memory, key)| memory.recall(key)) {
        Some(said) => said,
        None => {
            let (said, ended) = assembled(program, text, filled)?;
            let blames = [&assembler.error, &assembler.stops]
                .iter()
                .any(|pattern| !errors(pattern, &said.input, &said.text).is_empty());
            if let Some((memory, key)) = key
                && ended
                && (said.fine || blames)
            {
                memory.keep(&key, &said);
            }
            said
        }
    };
    let Said { fine, input, text: said } = said;
    if let Some(line) =
        said.lines().find(|line| assembler.unknown.iter().any(|word| line.contains(word.as_str())))
    {
        return Err(line.replace(&input, "the text").trim().to_string());
    }
    let found = errors(&assembler.error, &input, &said);
    let stopped = errors(&assembler.stops, &input, &said).into_iter().next();
    Ok(Answer { fine, errors: found, stopped, said })
}

/// Runs an assembler; whether it ended by itself.
fn assembled(
    program: &Path,
    text: &str,
    arguments: impl Fn(&str, &str) -> Vec<String>,
) -> Result<(Said, bool), String> {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let folder = std::env::temp_dir().join(format!(
        "lanebook-{}-{}",
        std::process::id(),
        RUNS.fetch_add(1, Ordering::Relaxed)
    ));
    let written = std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(folder.join("atoms.s"), text));
    written.map_err(|error| format!("{}: {error}", folder.display()))?;
    let input = folder.join("atoms.s").to_string_lossy().into_owned();
    let output = folder.join("atoms.o").to_string_lossy().into_owned();
    let ran = Command::new(program).args(arguments(&input, &output)).output();
    let _ = std::fs::remove_dir_all(&folder);
    let ran = ran.map_err(|error| {
        format!(
            "{} cannot be run: {error}",
            program.file_name().unwrap_or(program.as_os_str()).display()
        )
    })?;
    let text =
        format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    let said = Said { fine: ran.status.success(), input, text };
    Ok((said, ran.status.code().is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_says_when_it_gives_up() {
        let error = vec![
            Piece::Name("input".into()),
            Piece::Text(", line ".into()),
            Piece::Name("line".into()),
            Piece::Text("; error".into()),
        ];
        let said = "asm a.s, line 9; info : use another word\nasm <macros>, line 2; error : version 1 does not know x\nasm fatal : aborted\n\n";
        assert_eq!(
            why_it_gave_up(&error, said),
            "asm <macros>, line 2; error : version 1 does not know x"
        );
        assert_eq!(
            why_it_gave_up(&error, "asm a.s, line 9; info : x\nasm fatal : no memory\n"),
            "asm fatal : no memory"
        );
        assert_eq!(why_it_gave_up(&[Piece::Text(":".into())].to_vec(), "first: x\nlast\n"), "last");
        assert_eq!(why_it_gave_up(&error, "\n"), "it fails without a word");
    }
}

//! The vendors' assemblers in the audit: what they say against the tables, and which of them were
//! not asked.
use crate::args::Assemblers;
use crate::tables::counted;
use lanebook_gen::Compiled;
use lanebook_gen::assemble::{self, Difference, Memory, Unable, Verdict};
use lanebook_gen::audit::ASSEMBLER;
use lanebook_gen::diagnostics::{Diagnostic, Diagnostics, Level};
use lanebook_tables::IsaId;
use std::collections::BTreeMap;

/// How what is said of an assembler that was not asked begins.
pub const SKIPPED: &str = "skipped: ";

/// What came of one instruction set's assembler.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Asked {
    /// The instruction set.
    pub instruction_set: String,
    /// The program's name, if it was asked.
    pub assembler: Option<String>,
    /// Architectures whose texts it judged.
    pub architectures: usize,
    /// Texts that it judged.
    pub texts: usize,
    /// Architectures that nothing judged.
    pub skipped: usize,
    /// Why.
    pub why: Option<String>,
}

/// Asks all of them. What is skipped is among the findings, too. Of a part of the tables (not
/// `whole`) only what an assembler refuses is said: what it takes beyond the part may be claimed by
/// what is left out.
/// What was said before to the same text is taken from `memory`.
pub fn ask(
    compiled: &Compiled,
    wanted: Assemblers,
    whole: bool,
    memory: Option<&Memory>,
) -> (Diagnostics, Vec<Asked>) {
    let (mut found, mut asked) = (Diagnostics::new(), Vec::<Asked>::new());
    // Instruction sets that extend one another share a program: what it says is put together.
    let mut verdicts: BTreeMap<String, Vec<Verdict>> = BTreeMap::new();
    let tables = compiled.tables();
    for (number, isa) in (0u16..).zip(&compiled.model.isas) {
        let id = IsaId(number);
        let archs = assemble::archs(compiled, id);
        if archs.is_empty() {
            continue;
        }
        // Those that extend one another go by one name.
        let name =
            tables.isa(id).map_or_else(|| isa.name.value.clone(), |isa| isa.name.to_string());
        let program = match (&isa.assembler, wanted) {
            (_, Assemblers::Off) => {
                Err(("--assemblers off".to_string(), "leave the option out".to_string()))
            }
            (None, _) => Err((
                format!("`{name}` names no assembler"),
                "give the instruction set an `assembler`".to_string(),
            )),
            (Some(assembler), _) => {
                let help = format!(
                    "put {} on the path, or set {}",
                    assembler.programs.join(" or "),
                    assembler.variable
                );
                assemble::find(assembler, &[]).map_err(|why| (why, help))
            }
        };
        let span = isa.assembler.as_ref().map_or(isa.name.span, |assembler| assembler.span);
        // What was left out by wish, or cannot be asked at all, is only noted.
        let level = match wanted {
            Assemblers::Require => Level::Error,
            Assemblers::Auto if isa.assembler.is_some() => Level::Warning,
            Assemblers::Auto | Assemblers::Off => Level::Note,
        };
        // As an error it is one of each architecture's file: who asks for that file is told.
        let skip = |archs: &[usize], why: &str, help: &str| {
            let message = format!(
                "{SKIPPED}nothing assembles the texts of {} of `{name}`: {why}",
                counted(archs.len(), "architecture")
            );
            let said = Diagnostic::at(span, message).help(help).as_level(level);
            let places = archs
                .iter()
                .filter_map(|at| compiled.model.archs.get(*at))
                .filter(|_| level == Level::Error);
            places.fold(said, |said, arch| {
                said.note(arch.name.span, format!("`{}` is one of them", arch.name.value))
            })
        };
        match program {
            Err((why, help)) => {
                found.push(skip(&archs, &why, &help));
                add(
                    &mut asked,
                    Asked {
                        instruction_set: name.clone(),
                        assembler: None,
                        architectures: 0,
                        texts: 0,
                        skipped: archs.len(),
                        why: Some(why),
                    },
                );
            }
            Ok(path) => {
                let judged = match memory.filter(|_| whole) {
                    Some(memory) => {
                        assemble::judge_unless_settled(compiled, id, &path, &archs, memory)
                    }
                    None => assemble::judge_remembered(compiled, id, &path, &archs, memory),
                };
                let program = path.file_name().map_or_else(
                    || path.display().to_string(),
                    |name| name.to_string_lossy().into_owned(),
                );
                let unknown = not_judged(&judged);
                for (why, archs) in &unknown {
                    let names: Vec<&str> =
                        archs.iter().map(|arch| self::name(compiled, *arch)).collect();
                    let help = format!("use a {program} that takes {}", few(&names));
                    found.push(skip(archs, why, &help));
                }
                let texts: Vec<usize> = judged
                    .iter()
                    .filter_map(|verdict| verdict.judged.as_ref().ok().copied())
                    .collect();
                verdicts.entry(program.clone()).or_default().extend(judged);
                add(
                    &mut asked,
                    Asked {
                        instruction_set: name.clone(),
                        assembler: Some(program),
                        architectures: texts.len(),
                        texts: texts.iter().sum(),
                        skipped: unknown.values().map(Vec::len).sum(),
                        why: unknown.into_keys().next(),
                    },
                );
            }
        }
    }
    for (program, mut verdicts) in verdicts {
        verdicts.sort_by_key(|verdict| verdict.arch);
        differences(compiled, &program, &verdicts, whole, &mut found);
    }
    (found.named(ASSEMBLER), asked)
}

/// One entry an instruction set's name and program.
fn add(asked: &mut Vec<Asked>, one: Asked) {
    match asked.iter_mut().find(|other| {
        other.instruction_set == one.instruction_set && other.assembler == one.assembler
    }) {
        Some(other) => {
            other.architectures += one.architectures;
            other.texts += one.texts;
            other.skipped += one.skipped;
            other.why = other.why.take().or(one.why);
        }
        None => asked.push(one),
    }
}

/// Architectures that an assembler does not know, by what it says.
fn not_judged(verdicts: &[Verdict]) -> BTreeMap<String, Vec<usize>> {
    let mut out: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for verdict in verdicts {
        if let Err(Unable::Unknown(why)) = &verdict.judged {
            out.entry(why.clone()).or_default().push(verdict.arch);
        }
    }
    out
}

fn name(compiled: &Compiled, arch: usize) -> &str {
    compiled.model.archs.get(arch).map_or("", |arch| arch.name.as_str())
}

/// `a, b, c and 4 more`.
fn few(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_string(),
        [most @ .., last] if names.len() <= 4 => format!("{} and {last}", most.join(", ")),
        [a, b, c, rest @ ..] => format!("{a}, {b}, {c} and {} more", rest.len()),
        [a, b] => format!("{a} and {b}"),
    }
}

/// One finding an atom and direction, whatever the number of architectures and texts.
fn differences(
    compiled: &Compiled,
    program: &str,
    verdicts: &[Verdict],
    whole: bool,
    found: &mut Diagnostics,
) {
    let mut by_atom: BTreeMap<(usize, bool), Vec<&Difference>> = BTreeMap::new();
    for verdict in verdicts {
        for difference in
            verdict.differences.iter().filter(|difference| whole || difference.refused.is_some())
        {
            by_atom
                .entry((difference.atom.index(), difference.refused.is_some()))
                .or_default()
                .push(difference);
        }
        if let Err(Unable::Stumbled(why)) = &verdict.judged {
            let arch = &compiled.model.archs[verdict.arch];
            let message =
                format!("{program} cannot read the texts of `{}`: {why}", arch.name.value);
            found.push(Diagnostic::at(arch.name.span, message).help("if it is about the target or its version, correct `target` or `isa_version`; else look for a brace or a quotation mark without its other half in a template"));
        }
    }
    for ((atom, refused), all) in by_atom {
        let Some(first) = all.first() else { continue };
        let of = &compiled.model.atoms[atom];
        let mut archs: Vec<usize> = all.iter().map(|difference| difference.arch).collect();
        archs.dedup();
        let names: Vec<&str> = archs.iter().map(|arch| name(compiled, *arch)).collect();
        let here = &compiled.model.archs[first.arch];
        let text = first.text.replace('\n', " / ");
        let finding = if refused {
            let said = first.refused.as_deref().unwrap_or_default();
            let claimed = here
                .atoms
                .iter()
                .find(|entry| entry.atom.index() == atom)
                .map_or(here.name.span, |entry| entry.because);
            let message = format!("{program} refuses `{text}` for {}: {said}", few(&names));
            Diagnostic::at(of.template_span, message)
                .note(claimed, format!("`{}` has `{}` from here", here.name.value, of.name.value))
                .help("correct the template, the range or class of an operand, or name the atom in `lacks`")
        } else {
            let message = format!(
                "{program} takes `{text}` for {}, which {} not have it",
                few(&names),
                if names.len() == 1 { "does" } else { "do" }
            );
            Diagnostic::at(of.template_span, message)
                .note(here.name.span, format!("`{}` does not have `{}`", here.name.value, of.name.value))
                .help("add its group to `has`, or to `assembles` if nothing says that the machine has it")
                .as_level(Level::Warning)
        };
        found.push(finding);
    }
}

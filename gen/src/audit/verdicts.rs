//! What assemblers were asked is what the tables say now.
//!
//! An assembler's verdict is evidence of its own: it knows instructions, classes of registers, ends
//! of ranges and generations from elsewhere. `hw-tables/verdicts.ron` keeps what it said where
//! tables and assembler agree: for each atom a hash of every text that [`crate::assemble`] makes of
//! it, and the architectures that take them. So what no assembler has judged is seen where none is
//! at hand. A tool writes the file ([`record`]), after all assemblers have been asked.
use crate::assemble::{self, text};
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics, Level};
use crate::rules::canonical;
use crate::schema::Verdicts;
use lanebook_tables::{AtomId, IsaId};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The file of verdicts.
pub use crate::files::VERDICTS as FILE;
/// How it is made.
pub const REMEDY: &str = "have it judged: `cargo run --release -p lanebook-gen --example tables -- --verdicts` asks all assemblers and writes hw-tables/verdicts.ron";

/// Digits of a hash that are kept.
const DIGITS: usize = 16;

/// What an assembler is asked about one language.
struct Asked<'c> {
    /// Architectures (indices into the model's) with what is told of them.
    archs: Vec<(usize, String)>,
    /// Atoms by name: their number, the hash of their texts, who claims them.
    atoms: BTreeMap<&'c str, (AtomId, String, BTreeSet<usize>)>,
}

/// Instruction sets that extend one another are one language; of each the first number.
fn languages(compiled: &Compiled) -> BTreeMap<&'static str, IsaId> {
    let tables = compiled.tables();
    let mut out = BTreeMap::new();
    for (number, isa) in (0u16..).zip(tables.isas) {
        out.entry(isa.name).or_insert(IsaId(number));
    }
    out
}

fn asked<'c>(compiled: &'c Compiled, language: &str) -> Asked<'c> {
    let (model, tables) = (&compiled.model, compiled.tables());
    let speaks = |isa: IsaId| tables.isa(isa).is_some_and(|isa| isa.name == language);
    let own = |span: crate::source::Span| !compiled.sources.file(span.file).extra;
    let mut archs = Vec::new();
    let mut claims: BTreeMap<AtomId, BTreeSet<usize>> = BTreeMap::new();
    for (at, arch) in model.archs.iter().enumerate() {
        if speaks(arch.isa) && own(arch.name.span) {
            let lanes = arch.wave_lanes.first().copied().unwrap_or(0);
            let told = format!("{} {} {} {lanes}", arch.name.value, arch.target, arch.isa_version);
            archs.push((at, told.split_whitespace().collect::<Vec<_>>().join(" ")));
            for entry in &arch.atoms {
                claims.entry(entry.atom).or_default().insert(at);
            }
        }
    }
    let mut atoms = BTreeMap::new();
    for (number, atom) in (0u16..).zip(&model.atoms) {
        let Some(id) = tables.atom_named(&atom.name) else { continue };
        let Some(isa) = tables.isa(atom.isa).filter(|isa| isa.name == language) else { continue };
        if own(atom.name.span) {
            let mut texts = String::new();
            for (_, instance) in assemble::instances(&tables, &[id]) {
                for one in text::forms(isa, &instance, "L") {
                    texts.push_str(&one);
                    texts.push('\n');
                }
            }
            let hash = canonical::hash(&texts)[..DIGITS].to_string();
            let by = claims.remove(&AtomId(number)).unwrap_or_default();
            atoms.insert(atom.name.value.as_str(), (AtomId(number), hash, by));
        }
    }
    Asked { archs, atoms }
}

/// See the module.
#[must_use]
pub fn check(compiled: &Compiled) -> Diagnostics {
    let mut diags = Diagnostics::new();
    // Tables from elsewhere may have no record at all.
    if compiled.loaded.verdicts.is_empty() {
        return diags;
    }
    for language in languages(compiled).into_keys() {
        let asked = asked(compiled, language);
        let known = compiled.loaded.verdicts.iter().find(|one| one.isa.value == language);
        match (known, asked.archs.last()) {
            (Some(known), _) => compare(compiled, &asked, known, &mut diags),
            // A language without an assembler has nobody to ask.
            (None, Some((at, _))) if has_assembler(compiled, language) => diags.push(
                Diagnostic::at(
                    compiled.model.archs[*at].name.span,
                    format!("what the assembler of `{language}` says is not recorded"),
                )
                .help(REMEDY)
                .as_level(Level::Warning),
            ),
            (None, _) => {}
        }
    }
    diags
}

fn has_assembler(compiled: &Compiled, language: &str) -> bool {
    let tables = compiled.tables();
    let own = tables.isas.iter().zip(&compiled.model.isas).filter(|(isa, _)| isa.name == language);
    own.into_iter().any(|(_, isa)| isa.assembler.is_some())
}

fn compare(compiled: &Compiled, asked: &Asked<'_>, known: &Verdicts, diags: &mut Diagnostics) {
    let model = &compiled.model;
    // Numbers of the record's architectures; of those told otherwise now nothing more is said.
    let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
    for (at, told) in &asked.archs {
        let arch = &model.archs[*at];
        let found = known.archs.iter().position(|line| line.value == *told);
        if let Some(found) = found {
            numbers.insert(found, *at);
            continue;
        }
        let same = |line: &&crate::schema::Name| {
            line.value.split_whitespace().next() == Some(arch.name.value.as_str())
        };
        let before = known.archs.iter().find(same);
        let was = before.map_or("not at all".to_string(), |line| format!("as `{}`", line.value));
        diags.push(
            Diagnostic::at(
                arch.name.span,
                format!("`{}` is `{told}` to its assembler, and was judged {was}", arch.name.value),
            )
            .help(REMEDY)
            // One that nobody was asked about yet may be one that no assembler knows; a record of
            // something else is stale.
            .as_level(if before.is_some() { Level::Error } else { Level::Note }),
        );
    }
    let judged: BTreeSet<usize> = numbers.values().copied().collect();
    let recorded: BTreeMap<&str, (&str, u64)> =
        known.atoms.iter().filter_map(|line| read(&line.value)).collect();
    // Of each architecture what it claims beyond the record, and what it does not claim any more.
    let mut apart: BTreeMap<(usize, bool), Vec<AtomId>> = BTreeMap::new();
    for (name, (id, hash, by)) in &asked.atoms {
        // Of what only such have, nothing can be recorded.
        if !by.is_empty() && by.is_disjoint(&judged) && !recorded.contains_key(name) {
            continue;
        }
        let Some((_, mask)) = recorded.get(name).filter(|(before, _)| before == hash) else {
            let message = format!("no assembler has judged the texts of `{name}` as they are");
            let said = Diagnostic::at(model.atom(*id).template_span, message).help(REMEDY);
            // A record of other texts is stale, as a certificate of another rule is; of what is new there is none yet.
            let stale = recorded.contains_key(name);
            diags.push(if stale { said } else { said.as_level(Level::Warning) });
            continue;
        };
        for (number, at) in &numbers {
            let taken = mask.checked_shr(*number as u32).unwrap_or(0) & 1 == 1;
            if taken != by.contains(at) {
                apart.entry((*at, taken)).or_default().push(*id);
            }
        }
    }
    for ((at, taken), atoms) in apart {
        let arch = &model.archs[at];
        let names: Vec<String> =
            atoms.iter().take(3).map(|id| format!("`{}`", model.atom(*id).name.value)).collect();
        let more = if atoms.len() > names.len() { ", ..." } else { "" };
        let list = format!("{}{more} ({})", names.join(", "), atoms.len());
        let entry = arch.atoms.iter().find(|entry| atoms.contains(&entry.atom));
        let (span, message) = match (taken, entry) {
            (false, Some(entry)) => (
                entry.because,
                format!("no assembler has taken for `{}` what it claims: {list}", arch.name.value),
            ),
            _ => (
                arch.name.span,
                format!("`{}` lacks what its assembler has taken: {list}", arch.name.value),
            ),
        };
        diags.push(Diagnostic::at(span, message).help(REMEDY).as_level(Level::Warning));
    }
}

/// Atoms whose texts an assembler has judged as they are.
#[must_use]
pub fn judged_atoms(compiled: &Compiled) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for language in languages(compiled).into_keys() {
        let known = compiled.loaded.verdicts.iter().find(|one| one.isa.value == language);
        let Some(known) = known else { continue };
        let recorded: BTreeMap<&str, (&str, u64)> =
            known.atoms.iter().filter_map(|line| read(&line.value)).collect();
        for (name, (_, hash, _)) in asked(compiled, language).atoms {
            if recorded.get(name).is_some_and(|(before, _)| *before == hash) {
                out.insert(name.to_string());
            }
        }
    }
    out
}

/// A line of the record.
fn read(line: &str) -> Option<(&str, (&str, u64))> {
    let mut words = line.split(' ');
    let (name, hash, mask) = (words.next()?, words.next()?, words.next()?);
    Some((name, (hash, u64::from_str_radix(mask, 16).ok()?)))
}

/// Asks the assemblers of all languages, and gives the text of the file if all of them agree with
/// the tables.
///
/// # Errors
/// The first assembler that cannot be asked, or the first difference.
pub fn record(compiled: &Compiled) -> Result<String, String> {
    let mut out = String::from(
        "// Written by `cargo run --release -p lanebook-gen --example tables -- --verdicts`, never by hand: assemblers take these texts on these architectures, and\n// refuse them (or read another instruction) on the others; and on how many sources facts of each kind rest, `KIND: HARDWARE TWO ONE NONE`, and how many facts each\n// source says, says something like, contradicts: `source KEY WHAT [of ORIGIN]: THIS LIKE OTHERWISE`.\n(verdicts: [\n",
    );
    for language in languages(compiled).into_keys() {
        let asked = asked(compiled, language);
        if asked.archs.is_empty() {
            continue;
        }
        let by = judged(compiled, language)?;
        let _ = writeln!(out, "    (isa: {language:?}, by: {by:?}, archs: [");
        for (_, told) in &asked.archs {
            let _ = writeln!(out, "        {told:?},");
        }
        out.push_str("    ], atoms: [\n");
        for (name, (_, hash, by)) in &asked.atoms {
            let bits = asked.archs.iter().enumerate().filter(|(_, (at, _))| by.contains(at));
            let mask = bits.fold(0u64, |mask, (number, _)| mask | 1 << number);
            let _ = writeln!(out, "        \"{name} {hash} {mask:x}\",");
        }
        out.push_str("    ]),\n");
    }
    let _ = write!(out, "], coverage: [\n{}])\n", super::covered::record(compiled));
    Ok(out)
}

/// The program that judged the architectures of a language, with its version.
fn judged(compiled: &Compiled, language: &str) -> Result<String, String> {
    let tables = compiled.tables();
    let mut by = String::new();
    for (number, isa) in (0u16..).zip(&compiled.model.isas) {
        let id = IsaId(number);
        let archs = assemble::archs(compiled, id);
        if archs.is_empty() || tables.isa(id).is_none_or(|isa| isa.name != language) {
            continue;
        }
        let Some(assembler) = &isa.assembler else {
            return Err(format!("`{}` names no assembler", isa.name.value));
        };
        let program = assemble::find(assembler, &[])?;
        for verdict in assemble::judge(compiled, id, &program, &archs) {
            let arch = &compiled.model.archs[verdict.arch].name.value;
            if let Err(why) = verdict.judged {
                return Err(format!("`{arch}`: {why:?}"));
            }
            if let Some(one) = verdict.differences.first() {
                let said = one.refused.as_deref().unwrap_or("is taken, and not claimed");
                return Err(format!("`{arch}`: {}: {said}", one.text));
            }
        }
        let name = program.file_name().map(|name| name.to_string_lossy().into_owned());
        by = format!("{}: {}", name.unwrap_or_default(), assemble::version(&program)?);
    }
    Ok(by)
}

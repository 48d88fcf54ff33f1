//! On how much each kind of fact rests: hardware, two sources or more, one, or none.
//!
//! A source that judges texts alone counts for texts alone; the recorded verdicts of assemblers are
//! a source of texts, records of wait states one of hazards, `figures` one of figures, and what
//! answered something in `answers` is a source of it. Held is a fact that the audit compares with an
//! answer that was recorded (`answers`, `measured`, `waits`, `figures`, verdicts): people typed the
//! sources, nobody typed that. What is said
//! here follows from these, not from the word that a table uses; `evidence` holds the word to it.
use super::answers::{Answered, Part};
use super::verdicts;
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::status::{self, Ground, Speaks};
use crate::model::units::Fact;
use crate::model::{Atom, Cited, HwModel, Units};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The kind that verdicts speak for.
const TEXTS: &str = "texts of instructions";

/// One kind of facts: how many rest on what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Covered {
    /// The kind.
    pub kind: &'static str,
    /// Facts by [`Ground`], from nothing to hardware.
    pub facts: [usize; 4],
    /// How many of them are held against a recorded answer whenever they are checked.
    pub held: usize,
}

impl Covered {
    fn of(kind: &'static str, grounds: impl IntoIterator<Item = (Ground, bool)>) -> Self {
        let mut out = Self { kind, facts: [0; 4], held: 0 };
        for (ground, held) in grounds {
            out.facts[ground as usize] += 1;
            out.held += usize::from(held);
        }
        out
    }
    /// How many there are.
    #[must_use]
    pub fn all(&self) -> usize {
        self.facts.iter().sum()
    }
}

/// What a fact about machines rests on, `more` sources beside those that it cites.
#[must_use]
pub fn ground(model: &HwModel, sources: &Cited, more: usize) -> Ground {
    status::ground(&model.sources, sources, Speaks::OfMachine, more)
}

/// Of every kind of facts, how many rest on what.
#[must_use]
pub fn table(compiled: &Compiled) -> Vec<Covered> {
    let model = &compiled.model;
    let answered = Answered::of(compiled);
    let of = |kind, part: Option<Part>, wanted: fn(&Atom) -> bool| {
        let atoms = model.atoms.iter().filter(|atom| wanted(atom));
        let grounds = atoms.map(|atom| match part {
            Some(part) => {
                (ground(model, &answered.atom(atom, part), 0), answered.holds(atom, part))
            }
            None => (ground(model, &atom.sources, 0), false),
        });
        Covered::of(kind, grounds)
    };
    let mut out = vec![
        texts(compiled),
        of("movements", Some(Part::Movement), |atom| atom.movement.is_some()),
        of("matrix operand layouts", Some(Part::Layouts), |atom| atom.matrix.is_some()),
        of("meaning of instructions", None, |atom| atom.does.is_some() || !atom.means.is_empty()),
        of("cycles", Some(Part::Cycles), |atom| atom.cost.cycles > 0),
    ];
    out.extend(of_archs(compiled, &answered));
    out.extend(of_units(model, &answered));
    out
}

/// Kinds that are recorded: verdicts speak for texts.
fn recorded(compiled: &Compiled) -> impl Iterator<Item = Covered> {
    table(compiled).into_iter().filter(|row| row.kind != TEXTS)
}

/// The lines of the record.
pub(super) fn record(compiled: &Compiled) -> String {
    let mut out = String::new();
    for Covered { kind, facts: [none, one, two, hardware], .. } in recorded(compiled) {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "    \"{kind}: {hardware} {two} {one} {none}\",");
    }
    for Citations { key, word, facts: [this, like, otherwise] } in citations(&compiled.model) {
        let _ = writeln!(out, "    \"{SOURCE}{key} {word}: {this} {like} {otherwise}\",");
    }
    for (told, rows) in measured(compiled) {
        let _ = writeln!(out, "    \"{MEASURED}{told}: {rows}\",");
    }
    out
}

/// Facts of a kind that rest on less than when that was recorded: a source that is cited no more,
/// or that counts no more; sources that are something else now, or that fewer facts cite.
#[must_use]
pub fn lost(compiled: &Compiled) -> Diagnostics {
    let mut diags = Diagnostics::new();
    let now: Vec<Covered> = recorded(compiled).collect();
    let sources = citations(&compiled.model);
    let rows = measured(compiled);
    for line in &compiled.loaded.coverage {
        let said = match (line.value.strip_prefix(SOURCE), line.value.strip_prefix(MEASURED)) {
            (Some(source), _) => less_cited(source, &sources),
            (None, Some(kind)) => less_measured(kind, &rows),
            (None, None) => less_covered(&line.value, &now),
        };
        let (message, help) = match said {
            Some(None) => continue,
            Some(Some(message)) => (
                message,
                "cite what they rested on; where less is meant, record it: `cargo run --release -p lanebook-gen --example tables -- --verdicts`",
            ),
            None => (format!("`{}` is no record of a kind of facts", line.value), verdicts::REMEDY),
        };
        diags.push(Diagnostic::at(line.span, message).help(help));
    }
    diags
}

/// What a line about a kind of facts says was more; none for what is no such line.
fn less_covered(line: &str, now: &[Covered]) -> Option<Option<String>> {
    let (kind, counts) = line.split_once(": ")?;
    let row = now.iter().find(|row| row.kind == kind)?;
    let [hardware, two, one, _]: [usize; 4] = numbers(counts)?;
    let [_, one_now, two_now, hardware_now] = row.facts;
    // On that much at the least: what rests on more than was known is no loss elsewhere.
    let steps = [
        ("hardware", hardware, hardware_now),
        ("two sources", hardware + two, hardware_now + two_now),
        ("a source", hardware + two + one, hardware_now + two_now + one_now),
    ];
    // The strongest ground that was lost says it.
    let lost = steps.into_iter().find(|(_, before, after)| after < before);
    Some(lost.map(|(ground, before, after)| {
        format!("{}: {after} rest on {ground}, it was {before}", row.kind)
    }))
}

/// What a line about a source says was otherwise; none for what is no such line.
fn less_cited(line: &str, now: &[Citations<'_>]) -> Option<Option<String>> {
    let (told, counts) = line.split_once(": ")?;
    let (key, word) = told.split_once(' ')?;
    let before: [usize; 3] = numbers(counts)?;
    let Some(row) = now.iter().find(|row| row.key == key) else {
        return Some(Some(format!("there is no source `{key}` any more")));
    };
    if row.word != word {
        return Some(Some(format!("`{key}` is `{}`, it was `{word}`", row.word)));
    }
    let what = ["says", "says something like", "says otherwise than"];
    let lost = before.into_iter().zip(row.facts).zip(what).find(|((then, now), _)| now < then);
    Some(
        lost.map(|((then, now), what)| format!("`{key}` {what} a fact {now} times, it was {then}")),
    )
}

fn numbers<const N: usize>(text: &str) -> Option<[usize; N]> {
    let counts: Vec<usize> = text.split(' ').map_while(|number| number.parse().ok()).collect();
    counts.try_into().ok()
}

/// What begins a line about what a machine answered.
const MEASURED: &str = "measured ";

/// How many facts of a kind a machine was asked about on an architecture: `KEY ARCH KIND`.
fn measured(compiled: &Compiled) -> BTreeMap<String, usize> {
    let mut out = BTreeMap::new();
    for one in &compiled.loaded.measured {
        let told = format!("{} {} {}", *one.source, *one.arch, *one.kind);
        *out.entry(told).or_default() += one.rows.len();
    }
    out
}

/// What a line about answers of a machine says was more; none for what is no such line.
fn less_measured(line: &str, now: &BTreeMap<String, usize>) -> Option<Option<String>> {
    let (told, count) = line.split_once(": ")?;
    let before: usize = count.parse().ok()?;
    let rows = now.get(told).copied().unwrap_or(0);
    Some((rows < before).then(|| format!("measured {told}: {rows} facts, they were {before}")))
}

/// What begins a line about a source.
const SOURCE: &str = "source ";

/// How many facts cite a source, and what for.
struct Citations<'m> {
    key: &'m str,
    /// What it is, and of which origin.
    word: String,
    /// Facts by [`Says`].
    facts: [usize; 3],
}

/// Of every source, the facts that cite it.
fn citations(model: &HwModel) -> Vec<Citations<'_>> {
    let docs = model.sources.iter();
    let mut out: Vec<Citations<'_>> = docs
        .map(|source| Citations { key: &source.key.value, word: source.word(), facts: [0; 3] })
        .collect();
    let mut seen = BTreeSet::new();
    let mut all: Vec<&Cited> = model.atoms.iter().map(|atom| &atom.sources).collect();
    for arch in &model.archs {
        all.push(&arch.sources);
        let banks = arch.banks.iter().map(|bank| (bank.name.span, &bank.sources));
        let sync = arch.sync.iter().map(|rule| (rule.span, &rule.sources));
        let hazards = arch.hazards.iter().map(|row| (row.span, &row.sources));
        let own = banks.chain(sync).chain(hazards).filter(|(span, _)| seen.insert(*span));
        all.extend(own.map(|(_, cited)| cited));
    }
    all.extend(of_facts(&model.units).into_iter().flat_map(|(_, facts)| facts));
    for (source, says) in all.into_iter().flat_map(Cited::each) {
        if let Some(row) = out.get_mut(source.index()) {
            row.facts[says as usize] += 1;
        }
    }
    out
}

/// What assemblers take: a verdict, beside the sources that say that there is such a text.
fn texts(compiled: &Compiled) -> Covered {
    let judged = verdicts::judged_atoms(compiled);
    let grounds = compiled.model.atoms.iter().map(|atom| {
        let said = atom.sources.len().min(1);
        let held = judged.contains(atom.name.value.as_str());
        let ground = match said + usize::from(held) {
            0 => Ground::Nothing,
            1 => Ground::One,
            _ => Ground::Two,
        };
        (ground, held)
    });
    Covered::of(TEXTS, grounds)
}

fn of_archs(compiled: &Compiled, answered: &Answered) -> Vec<Covered> {
    let model = &compiled.model;
    let mut seen = BTreeSet::new();
    let (mut banks, mut sync, mut hazards, mut figures) = (vec![], vec![], vec![], vec![]);
    for arch in &model.archs {
        for bank in arch.banks.iter().filter(|bank| seen.insert(bank.name.span)) {
            banks.push((ground(model, &answered.bank(bank), 0), answered.holds_bank(bank)));
        }
        for rule in arch.sync.iter().filter(|rule| seen.insert(rule.span)) {
            sync.push((ground(model, &rule.sources, 0), false));
        }
        let recorded = super::waits::covered(compiled, arch);
        for row in arch.hazards.iter().filter(|row| seen.insert(row.span)) {
            let more = usize::from(recorded.contains(&row.span));
            // The record is by one of the sources that the rows cite.
            // Where it has no list of its own, the architecture's first source is the one of hazards.
            let source = row.sources.first_alone();
            let found = ground(model, &source, 0);
            let found = if more > 0 { found.max(Ground::One) } else { found };
            hazards.push((found, more > 0));
        }
        let second = compiled
            .loaded
            .figures
            .iter()
            .filter(|entry| entry.archs.iter().any(|name| name.value == arch.target));
        let second = second.count();
        figures.push((ground(model, &arch.sources, second), second > 0));
    }
    vec![
        Covered::of("bank models", banks),
        Covered::of("synchronisation rules", sync),
        Covered::of("hazards", hazards),
        Covered::of("figures of architectures", figures),
    ]
}

fn of_units(model: &HwModel, answered: &Answered) -> Vec<Covered> {
    let all = of_facts(&model.units).into_iter();
    let of = |cited: &Cited| (ground(model, cited, 0), false);
    let counted = |(kind, facts): (&'static str, Vec<&Cited>)| {
        let held = answered.units(&model.units, kind);
        Covered { held, ..Covered::of(kind, facts.into_iter().map(of)) }
    };
    all.map(counted).collect()
}

/// What the facts of units cite, by their kinds.
pub(super) fn of_facts(units: &Units) -> Vec<(&'static str, Vec<&Cited>)> {
    fn of<'m, T: 'm>(facts: impl Iterator<Item = &'m Fact<T>>) -> Vec<&'m Cited> {
        facts.map(|fact| &fact.sources).collect()
    }
    vec![
        ("swizzle modes", of(units.swizzles.iter())),
        ("descriptors", of(units.descriptors.iter().map(|one| &one.fact))),
        ("operand tiles", of(units.operand_tiles.iter().map(|one| &one.0))),
        ("tensor memories", of(units.tensor_memories.iter())),
        ("tensor tiles", of(units.tensor_tiles.iter().map(|one| &one.0))),
        ("tensor moves", of(units.tensor_moves.iter().map(|one| &one.0))),
        ("unit shapes", of(units.shapes.iter())),
        ("limits of operands", of(units.order_limits.iter())),
        ("limits of tiled copies", of(units.map_limits.iter())),
        ("tiled copies", of(units.tensor_maps.iter())),
        ("moves of tiles", of(units.tiled_moves.iter().map(|one| &one.0))),
        ("completion objects", of(units.mbarriers.iter().map(|one| &one.0))),
        ("warp specializations", of(units.specializations.iter().map(|one| &one.0))),
    ]
}

/// The table as text.
#[must_use]
pub fn text(rows: &[Covered]) -> String {
    let mut out = format!(
        "{:<26} {:>6} {:>9} {:>6} {:>5} {:>5} {:>6}\n",
        "kind of fact", "facts", "hardware", "two", "one", "none", "held"
    );
    let mut line = |kind: &str, [none, one, two, hardware]: [usize; 4], held: usize| {
        let all = none + one + two + hardware;
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "{kind:<26} {all:>6} {hardware:>9} {two:>6} {one:>5} {none:>5} {held:>6}"
        );
    };
    let mut sum = [0; 4];
    for row in rows {
        line(row.kind, row.facts, row.held);
        sum.iter_mut().zip(row.facts).for_each(|(sum, count)| *sum += count);
    }
    line("all", sum, rows.iter().map(|row| row.held).sum());
    out.push_str("held: compared with a recorded answer in every check\n");
    out
}

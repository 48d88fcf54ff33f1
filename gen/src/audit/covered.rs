//! On how much each kind of fact rests: hardware, two sources or more, one, or none.
//!
//! A source that judges texts alone counts for texts alone; the recorded verdicts of assemblers are
//! a source of texts, records of wait states one of hazards, `figures` one of figures. What is said
//! here follows from these, not from the word that a table uses; `evidence` holds the word to it.
use super::verdicts;
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics, Level};
use crate::model::{Atom, HwModel};
use lanebook_tables::{SourceId, Status};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The kind that verdicts speak for.
const TEXTS: &str = "texts of instructions";

/// What a fact rests on.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ground {
    /// Nothing that says it.
    Nothing,
    /// One source.
    One,
    /// Two or more.
    Two,
    /// Somebody measured it.
    Hardware,
}

impl Ground {
    /// The word of tables for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Nothing => "assumed",
            Self::One => "one_source",
            Self::Two => "verified",
            Self::Hardware => "measured",
        }
    }
}

/// One kind of facts: how many rest on what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Covered {
    /// The kind.
    pub kind: &'static str,
    /// Facts by [`Ground`], from nothing to hardware.
    pub facts: [usize; 4],
}

impl Covered {
    fn of(kind: &'static str, grounds: impl IntoIterator<Item = Ground>) -> Self {
        let mut facts = [0; 4];
        for ground in grounds {
            facts[ground as usize] += 1;
        }
        Self { kind, facts }
    }
    /// How many there are.
    #[must_use]
    pub fn all(&self) -> usize {
        self.facts.iter().sum()
    }
}

/// What a fact about machines rests on, `more` sources beside those that it cites.
#[must_use]
pub fn ground(model: &HwModel, sources: &[SourceId], more: usize) -> Ground {
    let known = || sources.iter().filter_map(|id| model.sources.get(id.index()));
    if known().any(|source| source.hardware) {
        return Ground::Hardware;
    }
    let distinct: BTreeSet<&str> =
        known().filter(|source| !source.texts).map(|source| source.key.as_str()).collect();
    match distinct.len() + more {
        0 => Ground::Nothing,
        1 => Ground::One,
        _ => Ground::Two,
    }
}

/// Of every kind of facts, how many rest on what.
#[must_use]
pub fn table(compiled: &Compiled) -> Vec<Covered> {
    let model = &compiled.model;
    let of = |kind, wanted: fn(&Atom) -> bool| {
        let atoms = model.atoms.iter().filter(|atom| wanted(atom));
        Covered::of(kind, atoms.map(|atom| ground(model, &atom.sources, 0)))
    };
    let mut out = vec![
        texts(compiled),
        of("movements", |atom| atom.movement.is_some()),
        of("matrix operand layouts", |atom| atom.matrix.is_some()),
        of("meaning of instructions", |atom| atom.does.is_some() || !atom.means.is_empty()),
        of("cycles", |atom| atom.cost.cycles > 0),
    ];
    out.extend(of_archs(compiled));
    out.extend(of_units(model));
    out
}

/// Kinds that are recorded: verdicts speak for texts.
fn recorded(compiled: &Compiled) -> impl Iterator<Item = Covered> {
    table(compiled).into_iter().filter(|row| row.kind != TEXTS)
}

/// The lines of the record.
pub(super) fn record(compiled: &Compiled) -> String {
    let mut out = String::new();
    for Covered { kind, facts: [none, one, two, hardware] } in recorded(compiled) {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "    \"{kind}: {hardware} {two} {one} {none}\",");
    }
    out
}

/// Facts of a kind that rest on less than when that was recorded: a source that is cited no more,
/// or that counts no more.
#[must_use]
pub fn lost(compiled: &Compiled) -> Diagnostics {
    let mut diags = Diagnostics::new();
    let now: Vec<Covered> = recorded(compiled).collect();
    for line in &compiled.loaded.coverage {
        let known = line.value.split_once(": ").and_then(|(kind, counts)| {
            let counts: Vec<usize> = counts.split(' ').filter_map(|n| n.parse().ok()).collect();
            Some((now.iter().find(|row| row.kind == kind)?, <[usize; 4]>::try_from(counts).ok()?))
        });
        let Some((row, [hardware, two, one, _])) = known else {
            let message = format!("`{}` is no record of a kind of facts", line.value);
            let said = Diagnostic::at(line.span, message).help(verdicts::REMEDY);
            diags.push(said.as_level(Level::Warning));
            continue;
        };
        let [_, one_now, two_now, hardware_now] = row.facts;
        // On that much at the least: what rests on more than was known is no loss elsewhere.
        let steps = [
            ("hardware", hardware, hardware_now),
            ("two sources", hardware + two, hardware_now + two_now),
            ("a source", hardware + two + one, hardware_now + two_now + one_now),
        ];
        // The strongest ground that was lost says it.
        if let Some((ground, before, after)) = steps.into_iter().find(|(_, b, a)| a < b) {
            let message = format!("{}: {after} rest on {ground}, it was {before}", row.kind);
            let help = "cite what they rested on; where less is meant, record it: `cargo run --release -p lanebook-gen --example tables -- --verdicts`";
            diags.push(Diagnostic::at(line.span, message).help(help).as_level(Level::Warning));
        }
    }
    diags
}

/// What assemblers take: a verdict, beside the sources that say that there is such a text.
fn texts(compiled: &Compiled) -> Covered {
    let judged = verdicts::judged_atoms(compiled);
    let grounds = compiled.model.atoms.iter().map(|atom| {
        let said = atom.sources.len().min(1);
        match said + usize::from(judged.contains(atom.name.value.as_str())) {
            0 => Ground::Nothing,
            1 => Ground::One,
            _ => Ground::Two,
        }
    });
    Covered::of(TEXTS, grounds)
}

fn of_archs(compiled: &Compiled) -> Vec<Covered> {
    let model = &compiled.model;
    let mut seen = BTreeSet::new();
    let (mut banks, mut sync, mut hazards, mut figures) = (vec![], vec![], vec![], vec![]);
    for arch in &model.archs {
        for bank in arch.banks.iter().filter(|bank| seen.insert(bank.name.span)) {
            banks.push(ground(model, &bank.sources, 0));
        }
        for rule in arch.sync.iter().filter(|rule| seen.insert(rule.span)) {
            sync.push(ground(model, &rule.sources, 0));
        }
        let recorded = super::waits::covered(compiled, arch);
        for row in arch.hazards.iter().filter(|row| seen.insert(row.span)) {
            let more = usize::from(recorded.contains(&row.span));
            // The record is by one of the sources that the rows cite.
            hazards.push(match (ground(model, row.source.as_slice(), 0), more) {
                (found, 0) => found,
                (found, _) => found.max(Ground::One),
            });
        }
        let second = compiled
            .loaded
            .figures
            .iter()
            .filter(|entry| entry.archs.iter().any(|name| name.value == arch.target));
        figures.push(ground(model, &arch.sources, second.count()));
    }
    vec![
        Covered::of("bank models", banks),
        Covered::of("synchronisation rules", sync),
        Covered::of("hazards", hazards),
        Covered::of("figures of architectures", figures),
    ]
}

fn of_units(model: &HwModel) -> Vec<Covered> {
    let units = &model.units;
    let of = |sources: &Vec<SourceId>| ground(model, sources, 0);
    vec![
        Covered::of("swizzle modes", units.swizzles.iter().map(|fact| of(&fact.sources))),
        Covered::of("descriptors", units.descriptors.iter().map(|one| of(&one.fact.sources))),
        Covered::of(
            "operand tiles",
            units.operand_tiles.iter().map(|(fact, ..)| of(&fact.sources)),
        ),
        Covered::of("tensor memories", units.tensor_memories.iter().map(|fact| of(&fact.sources))),
        Covered::of("tensor tiles", units.tensor_tiles.iter().map(|(fact, _)| of(&fact.sources))),
        Covered::of("tensor moves", units.tensor_moves.iter().map(|(fact, ..)| of(&fact.sources))),
        Covered::of("unit shapes", units.shapes.iter().map(|fact| of(&fact.sources))),
        Covered::of("limits of operands", units.order_limits.iter().map(|fact| of(&fact.sources))),
        Covered::of(
            "limits of tiled copies",
            units.map_limits.iter().map(|fact| of(&fact.sources)),
        ),
        Covered::of("tiled copies", units.tensor_maps.iter().map(|fact| of(&fact.sources))),
    ]
}

/// The table as text.
#[must_use]
pub fn text(rows: &[Covered]) -> String {
    let mut out = format!(
        "{:<26} {:>6} {:>9} {:>6} {:>5} {:>5}\n",
        "kind of fact", "facts", "hardware", "two", "one", "none"
    );
    let mut line = |kind: &str, [none, one, two, hardware]: [usize; 4]| {
        let all = none + one + two + hardware;
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{kind:<26} {all:>6} {hardware:>9} {two:>6} {one:>5} {none:>5}");
    };
    let mut sum = [0; 4];
    for row in rows {
        line(row.kind, row.facts);
        sum.iter_mut().zip(row.facts).for_each(|(sum, count)| *sum += count);
    }
    line("all", sum);
    out
}

/// Whether a table's word claims more than what it rests on.
#[must_use]
pub fn claims_more(status: Status, ground: Ground) -> bool {
    match status {
        Status::Measured => ground < Ground::Hardware,
        Status::Verified => ground < Ground::Two,
        Status::OneSource | Status::Documented => ground < Ground::One,
        Status::Contested | Status::Assumed => false,
    }
}

//! Counts by kind, and what was not caught.
use crate::change::Mutant;
use crate::facts::{KINDS, KNOWLEDGE, Kind, MISREADINGS, OMISSIONS, SLIPS};
use crate::judge::Outcome;
use lanebook_gen::source::Sources;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Of one kind: how many of which outcome.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Planted.
    pub planted: usize,
    /// Caught.
    pub caught: usize,
    /// Of no effect on anything that is built.
    pub harmless: usize,
}

impl Count {
    /// Caught of those that have an effect, in percent; 100 where there is none.
    #[must_use]
    pub fn percent(&self) -> usize {
        (100 * self.caught).checked_div(self.planted - self.harmless).unwrap_or(100)
    }
    fn add(&mut self, outcome: &Outcome) {
        self.planted += 1;
        self.caught += usize::from(matches!(outcome, Outcome::Caught(..)));
        self.harmless += usize::from(matches!(outcome, Outcome::Harmless | Outcome::Prose));
    }
}

/// All kinds with their names: wrong facts, slips, misreadings, omissions, mistakes in rules.
pub fn kinds() -> impl Iterator<Item = (Kind, &'static str)> {
    KINDS.into_iter().chain(SLIPS).chain(MISREADINGS).chain(OMISSIONS).chain(KNOWLEDGE)
}

/// Counts by kind.
#[must_use]
pub fn counts(mutants: &[Mutant], outcomes: &[Outcome]) -> BTreeMap<Kind, Count> {
    let mut out: BTreeMap<Kind, Count> = BTreeMap::new();
    for (mutant, outcome) in mutants.iter().zip(outcomes) {
        out.entry(mutant.kind).or_default().add(outcome);
    }
    out
}

/// The kinds of which less than `floor` percent were caught of those that have an effect.
#[must_use]
pub fn weak(mutants: &[Mutant], outcomes: &[Outcome], floor: usize) -> Vec<&'static str> {
    let by_kind = counts(mutants, outcomes);
    let below = |kind: &Kind| by_kind.get(kind).is_some_and(|count| count.percent() < floor);
    kinds().filter(|(kind, _)| below(kind)).map(|(_, name)| name).collect()
}

/// The table by kind, and all together below it.
#[must_use]
pub fn table(mutants: &[Mutant], outcomes: &[Outcome]) -> String {
    let by_kind = counts(mutants, outcomes);
    let mut out = format!(
        "{:<24} {:>7} {:>6} {:>8} {:>4}%  caught by\n",
        "kind", "planted", "caught", "harmless", ""
    );
    let mut all = Count::default();
    outcomes.iter().for_each(|outcome| all.add(outcome));
    for (kind, name) in kinds() {
        let Some(count) = by_kind.get(&kind).copied() else { continue };
        let mut by: BTreeMap<&str, usize> = BTreeMap::new();
        for (_, outcome) in mutants.iter().zip(outcomes).filter(|(mutant, _)| mutant.kind == kind) {
            if let Outcome::Caught(check, _) = outcome {
                *by.entry(check).or_default() += 1;
            }
        }
        let by: Vec<String> = by.iter().map(|(check, count)| format!("{check} {count}")).collect();
        line(&mut out, name, &count, &by.join(", "));
    }
    line(&mut out, "all", &all, "");
    out
}

fn line(out: &mut String, name: &str, count: &Count, by: &str) {
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "{name:<24} {:>7} {:>6} {:>8} {:>4}%  {by}",
        count.planted,
        count.caught,
        count.harmless,
        count.percent()
    );
}

/// A line for each mutant that was not caught, and with `caught` for the others too.
#[must_use]
pub fn survivors(
    sources: &Sources,
    mutants: &[Mutant],
    outcomes: &[Outcome],
    caught: bool,
) -> String {
    let mut out = String::new();
    for (mutant, outcome) in mutants.iter().zip(outcomes) {
        let what = match outcome {
            Outcome::Survived => "survived".to_string(),
            Outcome::Shown => "survived, seen in no kernel".to_string(),
            Outcome::Harmless => "harmless: the compiled tables are the same".to_string(),
            Outcome::Prose => {
                "harmless: only words that people read, held by rules/TILE.md".to_string()
            }
            Outcome::Caught(check, said) if caught => format!("caught by {check}: {said}"),
            Outcome::Caught(..) => continue,
        };
        let kind = kinds().find(|(kind, _)| *kind == mutant.kind).map_or("", |(_, name)| name);
        let _ = writeln!(
            out,
            "{}: {kind}: {}: `{}` to `{}`: {what}",
            sources.place(mutant.span),
            mutant.path,
            one_line(&mutant.old),
            one_line(&mutant.new),
        );
    }
    out
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

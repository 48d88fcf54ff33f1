//! Mistakes in what is known about programs: rules, sequences, costs, passes, operations.
//!
//! The same slips everywhere: another number, another word that stands in such a place, a flag the
//! other way round, two neighbours exchanged, an entry or a field not at all, an entry twice.
use crate::change::{Mutant, number, shares};
use crate::facts::{KNOWLEDGE, Kind};
use crate::seed::Seed;
use crate::walk::{Places, Visit, draw, visit};
use lanebook_gen::source::{Sources, Span};
use lanebook_gen::tree::{self, Tree};
use std::collections::{BTreeMap, BTreeSet};

/// For people; and what is there to be held against rules and weights.
const UNTOUCHED: [&str; 7] = ["doc", "examples", "does", "title", "note", "by", "stated"];
/// What is written by a tool.
const WRITTEN: &str = "rules/proofs.ron";

/// So many of them, about as many of each of some kinds (of none named: of all).
#[must_use]
pub fn plan(sources: &Sources, kinds: &[Kind], count: usize, seed: u64) -> Vec<Mutant> {
    let mut seed = Seed(seed ^ 0x71e5);
    let mut all = Vec::new();
    for (file, held) in sources.iter() {
        if !held.name.starts_with("rules/") || held.name == WRITTEN {
            continue;
        }
        let Some(tree) = tree::read(sources, file) else { continue };
        let mut words = Words { sources, seen: Seen::new() };
        visit(&mut words, &tree, &mut Vec::new());
        let seen = words.seen;
        let name = held.name.clone();
        let places = Places { sources, file, out: &mut all };
        let mut walk = Walk { places, name, seen, seed: &mut seed };
        visit(&mut walk, &tree, &mut Vec::new());
    }
    draw(sources, &all, shares(&KNOWLEDGE, kinds, count), &mut seed)
}

/// The words at each path of a file.
type Seen = BTreeMap<String, BTreeSet<String>>;

struct Words<'s> {
    sources: &'s Sources,
    seen: Seen,
}

impl Visit for Words<'_> {
    fn leaf(&mut self, tree: &Tree, path: &[String]) {
        let text = self.sources.text(tree.span).to_string();
        self.seen.entry(path.join(".")).or_default().insert(text);
    }
}

/// The kind of what stands in a file of rules.
fn kind(file: &str, path: &[String]) -> Option<Kind> {
    let has = |name: &str| path.iter().any(|part| part == name);
    Some(match file {
        _ if path.iter().any(|part| UNTOUCHED.contains(&part.as_str())) => return None,
        _ if has("conditions") => Kind::Conditions,
        _ if has("rules") && !has("isa") => Kind::Rules,
        _ if has("isa") => Kind::Frames,
        "rules/sequences.ron" => Kind::Sequences,
        "rules/cost.ron" | "rules/measure.ron" => Kind::Weights,
        "rules/passes.ron" => Kind::Passes,
        "rules/ops.ron" | "rules/contract.ron" => Kind::Operations,
        "rules/seeding.ron" | "rules/candidates.ron" | "rules/asks.ron" => Kind::Choices,
        _ => return None,
    })
}

struct Walk<'s> {
    places: Places<'s>,
    name: String,
    seen: Seen,
    seed: &'s mut Seed,
}

impl Walk<'_> {
    fn add(&mut self, path: &[String], span: Span, new: String) {
        if let Some(kind) = kind(&self.name, path) {
            self.places.add(kind, path, span, new);
        }
    }
}

impl Visit for Walk<'_> {
    fn field(&mut self, name: &str, value: &Tree, path: &[String]) {
        if let Some(span) = self.places.field(name, value) {
            self.add(path, span, String::new());
        }
    }

    fn list(&mut self, _: &Tree, items: &[Tree], path: &[String]) {
        for pair in items.windows(2) {
            let [first, second] = pair else { continue };
            let texts = [self.places.text(second), self.places.text(first)];
            let (span, new) = self.places.both(first, second, texts);
            self.add(path, span, new);
        }
        for item in items {
            self.add(path, self.places.with_comma(item), String::new());
            let text = self.places.text(item);
            self.add(path, item.span, format!("{text}, {text}"));
        }
    }

    fn leaf(&mut self, tree: &Tree, path: &[String]) {
        let text = self.places.text(tree).to_string();
        let new = match (text.as_str(), text.parse::<i64>()) {
            ("true", _) => "false".to_string(),
            ("false", _) => "true".to_string(),
            (_, Ok(value)) => number(value, self.seed).to_string(),
            _ => {
                let Some(seen) = self.seen.get(&path.join(".")) else { return };
                let others: Vec<&String> = seen.iter().filter(|word| **word != text).collect();
                let Some(word) = self.seed.pick(&others) else { return };
                (*word).clone()
            }
        };
        // As often as entries that go, come twice or change places.
        self.add(path, tree.span, new.clone());
        self.add(path, tree.span, new);
    }
}

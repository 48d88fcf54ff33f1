//! Mistakes in what is known about programs: rules, sequences, costs, passes, operations.
//!
//! The same slips everywhere: another number, another word that stands in such a place, a flag the
//! other way round, two neighbours exchanged, an entry or a field not at all, an entry twice.
use crate::change::{Mutant, number, shares};
use crate::facts::{KNOWLEDGE, Kind};
use crate::omissions::with_comma;
use crate::seed::Seed;
use crate::slips::{Slip, draw};
use lanebook_gen::source::{FileId, Sources, Span};
use lanebook_gen::tree::{self, Node, Tree};
use std::collections::{BTreeMap, BTreeSet};

/// For people; and examples, which are there to be held against rules.
const UNTOUCHED: [&str; 6] = ["doc", "examples", "does", "title", "note", "by"];
/// What is written by tools.
const TOOLS: [&str; 1] = ["rules/proofs.ron"];

/// So many of them, about as many of each of some kinds (of none named: of all).
#[must_use]
pub fn plan(sources: &Sources, kinds: &[Kind], count: usize, seed: u64) -> Vec<Mutant> {
    let mut seed = Seed(seed ^ 0x71e5);
    let mut all = Vec::new();
    for (file, held) in sources.iter() {
        if !held.name.starts_with("rules/") || TOOLS.contains(&held.name.as_str()) {
            continue;
        }
        let Some(tree) = tree::read(sources, file) else { continue };
        let mut seen = BTreeMap::new();
        see(sources, &tree, &mut Vec::new(), &mut seen);
        let name = held.name.clone();
        Walk { sources, file, name, seen, seed: &mut seed, out: &mut all }
            .at(&tree, &mut Vec::new());
    }
    draw(sources, &all, shares(&KNOWLEDGE, kinds, count), &mut seed)
}

/// The words at each path of a file.
type Seen = BTreeMap<String, BTreeSet<String>>;

fn see(sources: &Sources, tree: &Tree, path: &mut Vec<String>, seen: &mut Seen) {
    match &tree.node {
        Node::Record(fields) => {
            for (name, value) in fields {
                path.push(name.clone());
                see(sources, value, path, seen);
                path.pop();
            }
        }
        Node::List(items) => items.iter().for_each(|item| see(sources, item, path, seen)),
        Node::Map(entries) => {
            entries.iter().for_each(|(_, value)| see(sources, value, path, seen));
        }
        Node::Leaf(_) => {
            let text = sources.text(tree.span).to_string();
            seen.entry(path.join(".")).or_default().insert(text);
        }
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
        "rules/anchors.ron" | "rules/candidates.ron" | "rules/asks.ron" => Kind::Choices,
        _ => return None,
    })
}

struct Walk<'s> {
    sources: &'s Sources,
    file: FileId,
    name: String,
    seen: Seen,
    seed: &'s mut Seed,
    out: &'s mut Vec<Slip>,
}

impl Walk<'_> {
    fn add(&mut self, path: &[String], span: Span, new: String) {
        let Some(kind) = kind(&self.name, path) else { return };
        if self.sources.text(span) != new {
            self.out.push(Slip { kind, path: path.join("."), span, new });
        }
    }

    fn at(&mut self, tree: &Tree, path: &mut Vec<String>) {
        match &tree.node {
            Node::Record(fields) => {
                for (name, value) in fields {
                    path.push(name.clone());
                    let text = &self.sources.file(self.file).text[..value.span.start as usize];
                    let before = text.trim_end().strip_suffix(':').map(str::trim_end);
                    if let Some(before) = before.and_then(|text| text.strip_suffix(name.as_str())) {
                        let span = with_comma(self.sources, self.file, before.len(), value);
                        self.add(path, span, String::new());
                    }
                    self.at(value, path);
                    path.pop();
                }
            }
            Node::List(items) => {
                for pair in items.windows(2) {
                    let texts = [&pair[1], &pair[0]].map(|item| self.sources.text(item.span));
                    let (start, end) = (pair[0].span.end as usize, pair[1].span.start as usize);
                    let between = self.sources.text(Span::new(self.file, start, end));
                    let new = format!("{}{between}{}", texts[0], texts[1]);
                    let (start, end) = (pair[0].span.start as usize, pair[1].span.end as usize);
                    self.add(path, Span::new(self.file, start, end), new);
                }
                for item in items {
                    let span = with_comma(self.sources, self.file, item.span.start as usize, item);
                    self.add(path, span, String::new());
                    let text = self.sources.text(item.span).to_string();
                    self.add(path, item.span, format!("{text}, {text}"));
                    self.at(item, path);
                }
            }
            Node::Map(entries) => {
                for (key, value) in entries {
                    path.push(key.leaf().unwrap_or_default().to_string());
                    self.at(value, path);
                    path.pop();
                }
            }
            Node::Leaf(_) => self.leaf(tree, path),
        }
    }

    fn leaf(&mut self, tree: &Tree, path: &[String]) {
        let text = self.sources.text(tree.span).to_string();
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

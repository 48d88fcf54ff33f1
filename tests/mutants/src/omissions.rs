//! What is forgotten, and what is put where it does not belong.
//!
//! A field that goes missing, a field that a neighbour has and this entry should not, a word less and
//! a word more in a list. Of each kind any field and any list is taken, not those that are known to
//! matter: what a field means when it is not there is a fact as well.
use crate::change::{Mutant, shares};
use crate::facts::{Facts, Kind, OMISSIONS, UNTOUCHED, folder, kind};
use crate::seed::Seed;
use crate::slips::{Slip, draw};
use lanebook_gen::load::Loaded;
use lanebook_gen::source::{FileId, Sources, Span};
use lanebook_gen::tree::{self, Node, Tree};
use std::collections::BTreeSet;

/// Entries that are there to be held against others.
const NONE: [&str; 5] = ["agreements", "figures", "waits", "answers", "families"];
/// Words more that are tried in one list: else the lists with many words are most of what is planted.
const MORE: usize = 3;

/// So many of them, about as many of each of some kinds (of none named: of all).
#[must_use]
pub fn plan(
    sources: &Sources,
    facts: &Facts,
    kinds: &[Kind],
    count: usize,
    seed: u64,
) -> Vec<Mutant> {
    let mut seed = Seed(seed ^ 0x0b17);
    let mut all = Vec::new();
    for (file, held) in sources.iter().filter(|(_, file)| Loaded::is_hardware(file)) {
        let Some(tree) = tree::read(sources, file) else { continue };
        let folder = folder(&held.name);
        Walk { sources, facts, file, folder, seed: &mut seed, out: &mut all }
            .at(&tree, &mut Vec::new());
    }
    draw(sources, &all, shares(&OMISSIONS, kinds, count), &mut seed)
}

/// The bytes of a value with the comma behind it.
pub(crate) fn with_comma(sources: &Sources, file: FileId, start: usize, value: &Tree) -> Span {
    let rest = &sources.file(file).text[value.span.end as usize..];
    let comma = rest.trim_start().starts_with(',');
    let comma = if comma { rest.find(',').map_or(0, |at| at + 1) } else { 0 };
    Span::new(file, start, value.span.end as usize + comma)
}

struct Walk<'s> {
    sources: &'s Sources,
    facts: &'s Facts,
    file: FileId,
    folder: String,
    seed: &'s mut Seed,
    out: &'s mut Vec<Slip>,
}

impl Walk<'_> {
    fn add(&mut self, kind: Kind, path: &[String], span: Span, new: String) {
        if self.sources.text(span) != new {
            self.out.push(Slip { kind, path: path.join("."), span, new });
        }
    }

    fn silent(name: &str) -> bool {
        UNTOUCHED.contains(&name) || NONE.contains(&name)
    }

    fn at(&mut self, tree: &Tree, path: &mut Vec<String>) {
        match &tree.node {
            Node::Record(fields) => {
                for (name, value) in fields.iter().filter(|(name, _)| !Self::silent(name)) {
                    path.push(name.clone());
                    self.missing(name, value, path);
                    self.at(value, path);
                    path.pop();
                }
            }
            Node::List(items) => {
                items.windows(2).for_each(|pair| self.added(&pair[0], &pair[1], path));
                self.words(tree, items, path);
                items.iter().for_each(|item| self.at(item, path));
            }
            Node::Map(entries) => {
                for (key, value) in entries {
                    path.push(key.leaf().unwrap_or_default().to_string());
                    self.at(value, path);
                    path.pop();
                }
            }
            Node::Leaf(_) => {}
        }
    }

    /// A field with its value and comma, not at all.
    fn missing(&mut self, name: &str, value: &Tree, path: &[String]) {
        let text = &self.sources.file(self.file).text[..value.span.start as usize];
        let before = text.trim_end().strip_suffix(':').map(str::trim_end);
        let Some(before) = before.and_then(|before| before.strip_suffix(name)) else { return };
        if kind(path).is_some() || matches!(value.node, Node::Record(_) | Node::List(_)) {
            let span = with_comma(self.sources, self.file, before.len(), value);
            self.add(Kind::FieldsMissing, path, span, String::new());
        }
    }

    /// Fields of one of two neighbours that the other has not, put there too.
    fn added(&mut self, first: &Tree, second: &Tree, path: &[String]) {
        let (Node::Record(own), Node::Record(theirs)) = (&first.node, &second.node) else { return };
        for (from, to, at) in [(own, theirs, second), (theirs, own, first)] {
            for (name, value) in from.iter().filter(|(name, _)| !Self::silent(name)) {
                let mut path = path.to_vec();
                path.push(name.clone());
                let is_fact = kind(&path).is_some() || !matches!(value.node, Node::Leaf(_));
                let Some((_, last)) = to.last() else { continue };
                if name == "is" || !is_fact || to.iter().any(|(theirs, _)| theirs == name) {
                    continue;
                }
                let end = last.span.end as usize;
                if end > at.span.end as usize {
                    continue;
                }
                let new = format!(", {name}: {}", self.sources.text(value.span));
                self.add(Kind::FieldsAdded, &path, Span::new(self.file, end, end), new);
            }
        }
    }

    /// A word of a list less, a word that stands in such a list elsewhere more.
    fn words(&mut self, tree: &Tree, items: &[Tree], path: &[String]) {
        let leaves = items.iter().all(|item| item.leaf().is_some());
        // A tuple has as many places as it has.
        let is_list = self.sources.text(tree.span).starts_with('[');
        if items.is_empty() || !leaves || !is_list || kind(path).is_none() {
            return;
        }
        for item in items {
            let span = with_comma(self.sources, self.file, item.span.start as usize, item);
            self.add(Kind::WordsMissing, path, span, String::new());
        }
        let own: BTreeSet<&str> = items.iter().map(|item| self.sources.text(item.span)).collect();
        let Some(seen) = self.facts.seen.get(&(self.folder.clone(), path.join("."))) else {
            return;
        };
        let others: Vec<&String> =
            seen.iter().filter(|word| !own.contains(word.as_str())).collect();
        let last = items.last().map_or(0, |item| item.span.end as usize);
        for _ in 0..MORE.min(others.len()) {
            if let Some(word) = self.seed.pick(&others) {
                let span = Span::new(self.file, last, last);
                self.add(Kind::WordsAdded, path, span, format!(", {word}"));
            }
        }
    }
}

//! What is forgotten, and what is put where it does not belong.
//!
//! A field that goes missing, a field that a neighbour has and this entry should not, a word less and
//! a word more in a list. Of each kind any field and any list is taken, not those that are known to
//! matter: what a field means when it is not there is a fact as well.
use crate::change::{Mutant, shares};
use crate::facts::{Facts, Kind, OMISSIONS, folder, kind};
use crate::seed::Seed;
use crate::walk::{Places, Visit, draw, is_silent, visit};
use lanebook_gen::load::Loaded;
use lanebook_gen::source::{Sources, Span};
use lanebook_gen::tree::{self, Node, Tree};
use std::collections::BTreeSet;

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
        let places = Places { sources, file, out: &mut all };
        let mut walk = Walk { places, facts, folder, seed: &mut seed };
        visit(&mut walk, &tree, &mut Vec::new());
    }
    draw(sources, &all, shares(&OMISSIONS, kinds, count), &mut seed)
}

struct Walk<'s> {
    places: Places<'s>,
    facts: &'s Facts,
    folder: String,
    seed: &'s mut Seed,
}

impl Visit for Walk<'_> {
    fn skips(&self, name: &str) -> bool {
        is_silent(name)
    }

    fn field(&mut self, name: &str, value: &Tree, path: &[String]) {
        if !is_silent(name) {
            self.missing(name, value, path);
        }
    }

    fn list(&mut self, tree: &Tree, items: &[Tree], path: &[String]) {
        items.windows(2).for_each(|pair| self.added(&pair[0], &pair[1], path));
        self.words(tree, items, path);
    }
}

impl Walk<'_> {
    /// A field with its value and comma, not at all.
    fn missing(&mut self, name: &str, value: &Tree, path: &[String]) {
        let Some(span) = self.places.field(name, value) else { return };
        if kind(path).is_some() || matches!(value.node, Node::Record(_) | Node::List(_)) {
            self.places.add(Kind::FieldsMissing, path, span, String::new());
        }
    }

    /// Fields of one of two neighbours that the other has not, put there too.
    fn added(&mut self, first: &Tree, second: &Tree, path: &[String]) {
        let (Node::Record(own), Node::Record(theirs)) = (&first.node, &second.node) else { return };
        for (from, to, at) in [(own, theirs, second), (theirs, own, first)] {
            for (name, value) in from.iter().filter(|(name, _)| !is_silent(name)) {
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
                let new = format!(", {name}: {}", self.places.sources.text(value.span));
                self.places.add(
                    Kind::FieldsAdded,
                    &path,
                    Span::new(self.places.file, end, end),
                    new,
                );
            }
        }
    }

    /// A word of a list less, a word that stands in such a list elsewhere more.
    fn words(&mut self, tree: &Tree, items: &[Tree], path: &[String]) {
        let leaves = items.iter().all(|item| item.leaf().is_some());
        // A tuple has as many places as it has.
        let is_list = self.places.sources.text(tree.span).starts_with('[');
        if items.is_empty() || !leaves || !is_list || kind(path).is_none() {
            return;
        }
        for item in items {
            let span = self.places.with_comma(item);
            self.places.add(Kind::WordsMissing, path, span, String::new());
        }
        let own: BTreeSet<&str> =
            items.iter().map(|item| self.places.sources.text(item.span)).collect();
        let Some(seen) = self.facts.seen.get(&(self.folder.clone(), path.join("."))) else {
            return;
        };
        let others: Vec<&String> =
            seen.iter().filter(|word| !own.contains(word.as_str())).collect();
        let last = items.last().map_or(0, |item| item.span.end as usize);
        for _ in 0..MORE.min(others.len()) {
            if let Some(word) = self.seed.pick(&others) {
                let span = Span::new(self.places.file, last, last);
                self.places.add(Kind::WordsAdded, path, span, format!(", {word}"));
            }
        }
    }
}

//! Misreadings of a manual: what goes wrong when a fact is understood in another way.
//!
//! Two rows of a lane map exchanged, a bound that counts one more or less, bytes taken for bits, a
//! group of another vendor's machine, a wait that is left out or waits for less, half of a cost, a flag
//! the other way round. These kinds were thought of before it was known what the audit says of them.
use crate::change::{Mutant, shares};
use crate::facts::{Kind, MISREADINGS, folder};
use crate::seed::Seed;
use crate::walk::{Places, Visit, draw, is_silent, visit};
use lanebook_gen::load::Loaded;
use lanebook_gen::source::{FileId, Sources, Span};
use lanebook_gen::tree::{self, Node, Tree};
use std::collections::BTreeMap;

/// Numbers that are costs.
const COSTS: [&str; 3] = ["issue", "cycles", "states"];

/// So many misreadings, about as many of each of some kinds (of none named: of all).
#[must_use]
pub fn plan(sources: &Sources, kinds: &[Kind], count: usize, seed: u64) -> Vec<Mutant> {
    let mut seed = Seed(seed ^ 0x3a7d);
    let trees: Vec<(FileId, String, Tree)> = sources
        .iter()
        .filter(|(_, file)| Loaded::is_hardware(file))
        .filter_map(|(id, file)| Some((id, folder(&file.name), tree::read(sources, id)?)))
        .collect();
    // The groups of each vendor's folder.
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (_, folder, tree) in &trees {
        let Node::Record(fields) = &tree.node else { continue };
        let lists = fields.iter().filter(|(name, _)| name == "groups");
        for item in lists.flat_map(|(_, list)| items(list)) {
            if let Some(name) = field(item, "name") {
                groups.entry(folder.clone()).or_default().push(sources.text(name.span).to_string());
            }
        }
    }
    let mut all = Vec::new();
    for (file, own, tree) in &trees {
        let theirs = groups.iter().filter(|(folder, _)| *folder != own);
        let theirs: Vec<&String> = theirs.flat_map(|(_, names)| names).collect();
        let places = Places { sources, file: *file, out: &mut all };
        visit(&mut Walk { places, theirs }, tree, &mut Vec::new());
    }
    draw(sources, &all, shares(&MISREADINGS, kinds, count), &mut seed)
}

fn items(tree: &Tree) -> &[Tree] {
    match &tree.node {
        Node::List(items) => items,
        _ => &[],
    }
}

fn field<'t>(tree: &'t Tree, wanted: &str) -> Option<&'t Tree> {
    let Node::Record(fields) = &tree.node else { return None };
    fields.iter().find(|(name, _)| name == wanted).map(|(_, value)| value)
}

struct Walk<'s> {
    places: Places<'s>,
    theirs: Vec<&'s String>,
}

impl Visit for Walk<'_> {
    fn skips(&self, name: &str) -> bool {
        is_silent(name)
    }

    fn list(&mut self, _: &Tree, items: &[Tree], path: &[String]) {
        let last = path.last().map_or("", String::as_str);
        if last == "steps" && path.iter().any(|part| part == "sync") {
            self.waits(items, path);
        }
    }

    fn field(&mut self, name: &str, value: &Tree, path: &[String]) {
        if is_silent(name) {
            return;
        }
        let text = self.places.sources.text(value.span).to_string();
        let number = text.parse::<i64>().ok();
        match (name, number) {
            (_, None) if text == "true" => {
                self.places.add(Kind::Flags, path, value.span, "false".into())
            }
            (_, None) if text == "false" => {
                self.places.add(Kind::Flags, path, value.span, "true".into())
            }
            ("layout", _) => self.rows(&text, value.span, path),
            ("range", _) => {
                for bound in items(value) {
                    let Ok(own) = self.places.sources.text(bound.span).parse::<i64>() else {
                        continue;
                    };
                    for new in [own.checked_add(1), own.checked_sub(1)].into_iter().flatten() {
                        self.places.add(Kind::Bounds, path, bound.span, new.to_string());
                    }
                }
            }
            ("has", _) => {
                for item in items(value) {
                    for group in self.theirs.clone() {
                        self.places.add(Kind::Foreign, path, item.span, group.clone());
                    }
                }
            }
            (name, Some(own)) if COSTS.contains(&name) && own > 1 => {
                self.places.add(Kind::Halves, path, value.span, (own / 2).to_string());
            }
            (name, Some(own)) if name.ends_with("bytes") || name.ends_with("bits") => {
                self.places.add(Kind::Units, path, value.span, own.saturating_mul(8).to_string());
                if own >= 8 {
                    self.places.add(Kind::Units, path, value.span, (own / 8).to_string());
                }
            }
            _ => {}
        }
    }
}

impl Walk<'_> {
    /// A step less, and what a step waits for one more.
    fn waits(&mut self, steps: &[Tree], path: &[String]) {
        for step in steps {
            let span = self.places.with_comma(step);
            self.places.add(Kind::Waits, path, span, String::new());
            let Some(Tree { node: Node::Map(counts), .. }) = field(step, "immediates") else {
                continue;
            };
            for (_, count) in counts {
                if self.places.sources.text(count.span) == "0" {
                    self.places.add(Kind::Waits, path, count.span, "1".into());
                }
            }
        }
    }

    /// Two strides of a layout exchanged where their extents are the same, or two extents of the
    /// same coordinate's parts.
    fn rows(&mut self, text: &str, span: Span, path: &[String]) {
        let Some((extents, strides)) = text.strip_prefix("\"S[(").and_then(|t| t.split_once("):("))
        else {
            return;
        };
        let Some((strides, rest)) = strides.split_once(')') else { return };
        let (extents, strides): (Vec<&str>, Vec<&str>) =
            (extents.split(',').collect(), strides.split(',').collect());
        if extents.len() != strides.len() {
            return;
        }
        for second in 1..strides.len() {
            for first in 0..second {
                let mut turned = strides.clone();
                turned.swap(first, second);
                if extents[first] == extents[second] || second == first + 1 {
                    let new = format!("\"S[({}):({}){rest}", extents.join(","), turned.join(","));
                    self.places.add(Kind::LaneRows, path, span, new);
                }
            }
        }
    }
}

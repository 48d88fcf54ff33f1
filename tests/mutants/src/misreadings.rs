//! Misreadings of a manual: what goes wrong when a fact is understood in another way.
//!
//! Two rows of a lane map exchanged, a bound that counts one more or less, bytes taken for bits, a
//! group of another vendor's machine, a wait that is left out or waits for less, half of a cost, a flag
//! the other way round. These kinds were thought of before it was known what the audit says of them.
use crate::change::{Mutant, shares};
use crate::facts::{Kind, MISREADINGS, UNTOUCHED, folder};
use crate::seed::Seed;
use crate::slips::{Slip, draw};
use lanebook_gen::load::Loaded;
use lanebook_gen::source::{FileId, Sources, Span};
use lanebook_gen::tree::{self, Node, Tree};
use std::collections::BTreeMap;

/// Entries that are there to be held against others.
const NONE: [&str; 5] = ["agreements", "figures", "waits", "answers", "families"];
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
        Walk { sources, file: *file, theirs, out: &mut all }.at(tree, &mut Vec::new());
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
    sources: &'s Sources,
    file: FileId,
    theirs: Vec<&'s String>,
    out: &'s mut Vec<Slip>,
}

impl Walk<'_> {
    fn add(&mut self, kind: Kind, path: &[String], span: Span, new: String) {
        if self.sources.text(span) != new {
            self.out.push(Slip { kind, path: path.join("."), span, new });
        }
    }

    fn at(&mut self, tree: &Tree, path: &mut Vec<String>) {
        match &tree.node {
            Node::Record(fields) => {
                for (name, value) in fields {
                    if UNTOUCHED.contains(&name.as_str()) || NONE.contains(&name.as_str()) {
                        continue;
                    }
                    path.push(name.clone());
                    self.field(name, value, path);
                    self.at(value, path);
                    path.pop();
                }
            }
            Node::List(items) => {
                let last = path.last().map_or("", String::as_str);
                if last == "steps" && path.iter().any(|part| part == "sync") {
                    self.waits(items, path);
                }
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

    fn field(&mut self, name: &str, value: &Tree, path: &[String]) {
        let text = self.sources.text(value.span).to_string();
        let number = text.parse::<i64>().ok();
        match (name, number) {
            (_, None) if text == "true" => self.add(Kind::Flags, path, value.span, "false".into()),
            (_, None) if text == "false" => self.add(Kind::Flags, path, value.span, "true".into()),
            ("layout", _) => self.rows(&text, value.span, path),
            ("range", _) => {
                for bound in items(value) {
                    let Ok(own) = self.sources.text(bound.span).parse::<i64>() else { continue };
                    for new in [own.checked_add(1), own.checked_sub(1)].into_iter().flatten() {
                        self.add(Kind::Bounds, path, bound.span, new.to_string());
                    }
                }
            }
            ("has", _) => {
                for item in items(value) {
                    for group in self.theirs.clone() {
                        self.add(Kind::Foreign, path, item.span, group.clone());
                    }
                }
            }
            (name, Some(own)) if COSTS.contains(&name) && own > 1 => {
                self.add(Kind::Halves, path, value.span, (own / 2).to_string());
            }
            (name, Some(own)) if name.ends_with("bytes") || name.ends_with("bits") => {
                self.add(Kind::Units, path, value.span, own.saturating_mul(8).to_string());
                if own >= 8 {
                    self.add(Kind::Units, path, value.span, (own / 8).to_string());
                }
            }
            _ => {}
        }
    }

    /// A step less, and what a step waits for one more.
    fn waits(&mut self, steps: &[Tree], path: &[String]) {
        for step in steps {
            let rest = &self.sources.file(self.file).text[step.span.end as usize..];
            let comma = rest.trim_start().starts_with(',');
            let comma = if comma { rest.find(',').map_or(0, |at| at + 1) } else { 0 };
            let span =
                Span::new(self.file, step.span.start as usize, step.span.end as usize + comma);
            self.add(Kind::Waits, path, span, String::new());
            let Some(Tree { node: Node::Map(counts), .. }) = field(step, "immediates") else {
                continue;
            };
            for (_, count) in counts {
                if self.sources.text(count.span) == "0" {
                    self.add(Kind::Waits, path, count.span, "1".into());
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
                    self.add(Kind::LaneRows, path, span, new);
                }
            }
        }
    }
}

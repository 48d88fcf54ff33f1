//! No entry of a list stands there again.
//!
//! Records and words of a list are different ones; of the parts of one entry that carry a name, no
//! two carry the same. Lists of numbers, and tuples, may repeat. In what is known about programs
//! tuples with words may not; what is done step by step may be done again, but not at once.
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::load::Loaded;
use crate::rules::certificate;
use crate::source::{FileId, Sources, Span};
use crate::tree::{self, Node, Tree};
use std::collections::BTreeMap;

/// What names one of several parts.
const NAMES: [&str; 2] = ["name", "symbol"];
/// Fields of rules whose lists may name a thing again: operands.
const AGAIN: [&str; 1] = ["of"];
/// Fields of rules whose lists are done one after another.
const STEPS: [&str; 1] = ["steps"];

/// See the module.
#[must_use]
pub fn check(compiled: &Compiled) -> Diagnostics {
    let mut diags = Diagnostics::new();
    let is_rules = |id: &FileId| compiled.loaded.rule_files.contains(id);
    for (id, file) in compiled.sources.iter() {
        let rules = is_rules(&id) && file.name != certificate::FILE;
        if !rules && !Loaded::is_hardware(file) {
            continue;
        }
        let Some(tree) = tree::read(&compiled.sources, id) else { continue };
        // Trees are as deep as tables are nested; what is left to see stands in a list.
        let mut open = vec![("", &tree)];
        while let Some((field, at)) = open.pop() {
            match &at.node {
                Node::Record(fields) => {
                    open.extend(fields.iter().map(|(name, value)| (name.as_str(), value)));
                }
                Node::Map(entries) => open.extend(entries.iter().map(|(_, value)| ("", value))),
                Node::List(items) => {
                    if compiled.sources.text(at.span).starts_with('[') {
                        match (rules, STEPS.contains(&field)) {
                            (false, _) => entries(&compiled.sources, field, items, &mut diags),
                            (true, false) => rows(&compiled.sources, field, items, &mut diags),
                            (true, true) => at_once(&compiled.sources, items, &mut diags),
                        }
                    }
                    open.extend(items.iter().map(|item| ("", item)));
                }
                Node::Leaf(_) => {}
            }
        }
    }
    diags
}

/// What a tree says, however it is spaced.
fn told(sources: &Sources, item: &Tree) -> String {
    sources.text(item.span).split_whitespace().collect()
}

fn again(item: &Tree, first: Span, field: &str) -> Diagnostic {
    let what = if field.is_empty() { "list".to_string() } else { format!("`{field}`") };
    Diagnostic::at(item.span.head(), format!("this stands in its {what} twice"))
        .note(first.head(), "the other")
        .help("state each once: remove one, or correct what sets them apart")
}

/// Lists of what is known about programs: their records have names of their own.
fn rows(sources: &Sources, field: &str, items: &[Tree], diags: &mut Diagnostics) {
    let mut known: BTreeMap<String, Span> = BTreeMap::new();
    for item in items {
        let is_number = item.leaf().is_some_and(|text| text.parse::<i64>().is_ok());
        if is_number || field.is_empty() || AGAIN.contains(&field) {
            continue;
        }
        if let Some(first) = known.insert(told(sources, item), item.span) {
            diags.push(again(item, first, field));
        }
    }
}

/// What is done twice is done twice for nothing where nothing is done between.
fn at_once(sources: &Sources, items: &[Tree], diags: &mut Diagnostics) {
    for two in items.windows(2).filter(|two| told(sources, &two[0]) == told(sources, &two[1])) {
        diags.push(again(&two[1], two[0].span, "steps"));
    }
}

fn entries(sources: &Sources, field: &str, items: &[Tree], diags: &mut Diagnostics) {
    let mut known: BTreeMap<String, Span> = BTreeMap::new();
    for item in items {
        let says = match &item.node {
            // A row of a table has no name.
            Node::Leaf(text) if !field.is_empty() && text.parse::<i64>().is_err() => text.clone(),
            Node::Record(_) => match NAMES.iter().find_map(|name| item.field(name)?.leaf()) {
                Some(name) if field == "operands" || field == "fields" => name.to_string(),
                _ => told(sources, item),
            },
            _ => continue,
        };
        if let Some(first) = known.insert(says, item.span) {
            diags.push(again(item, first, field));
        }
    }
}

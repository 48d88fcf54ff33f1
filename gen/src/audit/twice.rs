//! No entry of a list stands there again.
//!
//! Records and words of a list are different ones; of the parts of one entry that carry a name, no
//! two carry the same. Lists of numbers, and tuples, may repeat.
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::load::Loaded;
use crate::source::{Sources, Span};
use crate::tree::{self, Node, Tree};
use std::collections::BTreeMap;

/// What names one of several parts.
const NAMES: [&str; 2] = ["name", "symbol"];

/// See the module.
#[must_use]
pub fn check(compiled: &Compiled) -> Diagnostics {
    let mut diags = Diagnostics::new();
    for (id, _) in compiled.sources.iter().filter(|(_, file)| Loaded::is_hardware(file)) {
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
                        entries(&compiled.sources, field, items, &mut diags);
                    }
                    open.extend(items.iter().map(|item| ("", item)));
                }
                Node::Leaf(_) => {}
            }
        }
    }
    diags
}

fn entries(sources: &Sources, field: &str, items: &[Tree], diags: &mut Diagnostics) {
    let mut known: BTreeMap<String, Span> = BTreeMap::new();
    for item in items {
        let told = match &item.node {
            // A row of a table has no name.
            Node::Leaf(text) if !field.is_empty() && text.parse::<i64>().is_err() => text.clone(),
            Node::Record(_) => match NAMES.iter().find_map(|name| item.field(name)?.leaf()) {
                Some(name) if field == "operands" || field == "fields" => name.to_string(),
                _ => sources.text(item.span).split_whitespace().collect(),
            },
            _ => continue,
        };
        if let Some(first) = known.insert(told, item.span) {
            let what = if field.is_empty() { "list".to_string() } else { format!("`{field}`") };
            diags.push(
                Diagnostic::at(item.span.head(), format!("this stands in its {what} twice"))
                    .note(first.head(), "the other")
                    .help("state each once: remove one, or correct what sets them apart"),
            );
        }
    }
}

//! What rules say beyond proofs is as it was when the tests that rest on it passed.
//!
//! Index and instruction rules are proved ([`crate::rules::certificate`]). What else stands in
//! `rules`, sequences of operations, frames of kernels, weights, passes, operations and what is
//! compiled of them, is borne out by programs that are compiled and run, and some of it is a choice
//! that no document makes. `rules/tested.ron` keeps a hash of each entry as it stood when those tests
//! passed; a tool writes it ([`record`]). So what changed since then is seen by who runs no tests.
//!
//! It does not say that an entry is right: that the tests do.
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics, Level};
use crate::rules::canonical;
use crate::source::{FileId, Sources, Span};
use crate::tree::{self, Node, Tree};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The file of what was tested.
pub use crate::files::TESTED as FILE;
/// How it is made.
pub const REMEDY: &str = "run the tests; when they pass, `cargo run -p lanebook-gen --example tables -- --tested` writes rules/tested.ron";

/// Fields for people; examples, which are held against rules at each build.
const SILENT: [&str; 5] = ["doc", "note", "does", "by", "examples"];
/// Words that entries are known by.
const NAMES: [&str; 7] = ["name", "key", "op", "ops", "ask", "word", "phase"];
/// Digits of a hash that are kept.
const DIGITS: usize = 16;

/// An entry of a file: what it is called, where it stands, the hash of what it says.
struct Item {
    name: String,
    span: Span,
    hash: String,
}

/// See the module.
#[must_use]
pub fn check(compiled: &Compiled) -> Diagnostics {
    let (mut diags, sources) = (Diagnostics::new(), &compiled.sources);
    // Rules from elsewhere may have no record at all.
    let Some((record, _)) = sources.iter().find(|(_, file)| file.name == FILE) else {
        return diags;
    };
    let mut known = recorded(sources, record);
    for (id, name) in files(sources) {
        let Some(mut before) = known.remove(&name) else {
            // One that nobody has tested yet may be one that comes from elsewhere.
            if let Some(item) = items(sources, id).first() {
                let found = Diagnostic::at(item.span, format!("nothing of {name} was tested"));
                diags.push(found.help(REMEDY).as_level(Level::Note));
            }
            continue;
        };
        for item in items(sources, id) {
            let was = before.remove(&item.name);
            let said = match &was {
                Some((hash, _)) if *hash == item.hash => continue,
                Some(_) => "has changed since it was tested",
                None => "was not tested",
            };
            let message = format!("`{}` of {name} {said}", item.name);
            let found = Diagnostic::at(item.span, message).help(REMEDY);
            let found = was.iter().fold(found, |found, (_, at)| found.note(*at, "the record"));
            diags.push(found);
        }
        for (item, (_, span)) in before {
            let message = format!("`{item}` of {name} was tested and is not there any more");
            diags.push(Diagnostic::at(span, message).help(REMEDY));
        }
    }
    for (file, span) in known.iter().filter_map(|(file, all)| Some((file, all.values().next()?.1)))
    {
        let message = format!("{file} was tested and is not there any more");
        diags.push(Diagnostic::at(span, message).help(REMEDY));
    }
    diags
}

/// The text of the file for these sources as they stand.
#[must_use]
pub fn record(sources: &Sources) -> String {
    let mut out = String::from(
        "// Written by `cargo run -p lanebook-gen --example tables -- --tested`, never by hand: the rules as they stood when all tests passed.\n(tested: [\n",
    );
    for (id, name) in files(sources) {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "    (file: \"{name}\", entries: [");
        for item in items(sources, id) {
            let _ = writeln!(out, "        (\"{}\", \"{}\"),", item.name, item.hash);
        }
        out.push_str("    ]),\n");
    }
    out.push_str("])\n");
    out
}

/// The files of rules, by name, but for those that tools write.
fn files(sources: &Sources) -> impl Iterator<Item = (FileId, String)> {
    let tools = [FILE, crate::files::PROOFS];
    sources
        .iter()
        .filter(move |(_, file)| file.name.starts_with("rules/") && !file.extra)
        .filter(move |(_, file)| !tools.contains(&file.name.as_str()))
        .map(|(id, file)| (id, file.name.clone()))
}

/// What is recorded of a file: hashes by entry, with where that stands.
type Known = BTreeMap<String, BTreeMap<String, (String, Span)>>;

fn recorded(sources: &Sources, record: FileId) -> Known {
    let mut out = Known::new();
    let tree = tree::read(sources, record);
    let files = tree.as_ref().and_then(|tree| tree.field("tested")).map_or(&[][..], list);
    for file in files {
        let Some(name) = file.field("file").and_then(Tree::leaf) else { continue };
        let entries = out.entry(name.to_string()).or_default();
        for entry in file.field("entries").map_or(&[][..], list) {
            if let [name, hash] = list(entry)
                && let (Some(name), Some(hash)) = (name.leaf(), hash.leaf())
            {
                entries.insert(name.to_string(), (hash.to_string(), entry.span));
            }
        }
    }
    out
}

fn list(tree: &Tree) -> &[Tree] {
    match &tree.node {
        Node::List(items) => items,
        _ => &[],
    }
}

/// The entries of a file: of a list each item, of a record each field, and of those that hold further
/// ones each of these.
fn items(sources: &Sources, id: FileId) -> Vec<Item> {
    let mut out = Vec::new();
    if let Some(tree) = tree::read(sources, id) {
        split(&tree, "", &mut out);
    }
    // Several may have one name.
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for item in &mut out {
        let count = seen.entry(item.name.clone()).or_default();
        *count += 1;
        if *count > 1 {
            item.name = format!("{} ({count})", item.name);
        }
    }
    out
}

fn split(tree: &Tree, path: &str, out: &mut Vec<Item>) {
    let below = |name: &str| {
        if path.is_empty() { name.to_string() } else { format!("{path} {name}") }
    };
    match &tree.node {
        Node::Record(fields) if path.is_empty() || path == "isa" => {
            for (name, value) in fields.iter().filter(|(name, _)| !silent(name)) {
                split(value, &below(name), out);
            }
        }
        Node::List(entries) if entries.iter().all(|one| matches!(one.node, Node::Record(_))) => {
            // Of two entries that fit the first may be the one that is taken.
            let mut before = String::new();
            for entry in entries {
                let name = named(entry);
                push(entry, below(&name), &before, out);
                before = name;
            }
        }
        _ => push(tree, path.to_string(), "", out),
    }
}

fn push(tree: &Tree, name: String, before: &str, out: &mut Vec<Item>) {
    let mut text = format!("{before}\n");
    canonical_text(tree, &mut text);
    let hash = canonical::hash(&text)[..DIGITS].to_string();
    out.push(Item { name, span: tree.span, hash });
}

fn silent(name: &str) -> bool {
    SILENT.contains(&name)
}

/// What an entry is known by: its name, or the first words of a list of names.
fn named(tree: &Tree) -> String {
    let of = |name: &&str| tree.field(name);
    match NAMES.iter().find_map(of).map(|found| (found.leaf(), list(found))) {
        Some((Some(name), _)) => name.to_string(),
        Some((None, names)) => names.first().and_then(Tree::leaf).unwrap_or_default().to_string(),
        None => "entry".to_string(),
    }
}

/// All that an entry says to the compiler: fields in their order, without those for people.
fn canonical_text(tree: &Tree, out: &mut String) {
    match &tree.node {
        Node::Record(fields) => {
            out.push('(');
            for (name, value) in fields.iter().filter(|(name, _)| !silent(name)) {
                out.push_str(name);
                out.push(':');
                canonical_text(value, out);
                out.push(',');
            }
            out.push(')');
        }
        Node::List(items) => {
            out.push('[');
            for item in items {
                canonical_text(item, out);
                out.push(',');
            }
            out.push(']');
        }
        Node::Map(entries) => {
            out.push('{');
            for (key, value) in entries {
                canonical_text(key, out);
                out.push(':');
                canonical_text(value, out);
                out.push(',');
            }
            out.push('}');
        }
        Node::Leaf(text) => {
            // Quoted, so that what stands in a text is no part of the form.
            let _ = write!(out, "{text:?}");
        }
    }
}

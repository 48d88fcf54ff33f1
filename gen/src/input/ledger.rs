//! The append-only ledger of stable numbers, `hw-tables/ids.ron`.
//!
//! An atom (and later a rule) keeps its number for ever: numbers are never reused, and a name that
//! is gone stays as a tombstone (`retired: true`). The tool writes the file; a build only compares.
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::entries;
use crate::schema::Name;
use crate::source::{FileId, Sources, Span};
use crate::spanned::{Entry, whole};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// The remedy for everything that the tool repairs.
///
/// It names the example and not the command, since the command depends on the library, which does
/// not build then.
pub(crate) const UPDATE: &str =
    "run `cargo run -p lanebook-gen --example tables -- --ids` and commit hw-tables/ids.ron";
/// Numbers of atoms outside the ledger begin here.
pub const FIRST_LOCAL: u32 = 1 << 24;

/// The ledger as read.
#[derive(Clone, Debug)]
pub struct Ledger {
    /// Atoms.
    pub atoms: Vec<Line>,
    /// Rules.
    pub rules: Vec<Line>,
    /// The whole file.
    pub span: Span,
}

/// A number and the name that has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "line")]
pub struct Line {
    /// The stable number.
    pub id: u32,
    /// Whose it is.
    pub name: Name,
    /// The name is gone; the number stays taken.
    #[serde(default)]
    pub retired: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    atoms: Vec<Entry>,
    #[serde(default)]
    rules: Vec<Entry>,
}

impl Ledger {
    /// Reads the ledger and checks that numbers ascend and names stand once.
    pub fn load(sources: &Sources, file: FileId, diags: &mut Diagnostics) -> Option<Self> {
        let span = whole(sources, file);
        let raw: File = entries::file(sources, file, diags)?;
        let mut lines = |entries: Vec<Entry>| {
            let mut out: Vec<Line> = Vec::new();
            let mut seen: BTreeMap<String, Span> = BTreeMap::new();
            for entry in entries {
                let Some(line) = entries::entry::<Line>(sources, entry, diags) else { continue };
                let line = line.value;
                if let Some(before) = out.last().filter(|before| before.id >= line.id) {
                    let message = format!("number {} does not follow {}", line.id, before.id);
                    diags.push(
                        Diagnostic::at(entry.span, message)
                            .note(before.name.span, "the line before")
                            .help("numbers ascend and are never reused; restore the file"),
                    );
                }
                if let Some(first) = seen.insert(line.name.value.clone(), line.name.span) {
                    let message = format!("`{}` stands in the ledger twice", line.name.value);
                    diags.push(
                        Diagnostic::at(line.name.span, message)
                            .note(first, "first here")
                            .help("restore the file"),
                    );
                }
                out.push(line);
            }
            out
        };
        let (atoms, rules) = (lines(raw.atoms), lines(raw.rules));
        Some(Self { atoms, rules, span })
    }
    /// The number of an atom.
    #[must_use]
    pub fn atom(&self, name: &str) -> Option<u32> {
        self.atoms.iter().find(|line| line.name.value == name).map(|line| line.id)
    }
}

/// Compares the names that exist with the ledger: every one must have a number, none may be
/// retired, and a number whose name is gone must be.
pub fn compare(kind: &str, lines: &[Line], names: &[&Name], diags: &mut Diagnostics) {
    let known: BTreeMap<&str, &Line> =
        lines.iter().map(|line| (line.name.as_str(), line)).collect();
    let present: BTreeSet<&str> = names.iter().map(|name| name.as_str()).collect();
    for name in names {
        match known.get(name.as_str()) {
            None => diags.push(
                Diagnostic::at(name.span, format!("{kind} `{}` has no stable number", name.value))
                    .help(UPDATE)
                    .lacks(name),
            ),
            Some(line) if line.retired => diags.push(
                Diagnostic::at(
                    name.span,
                    format!("{kind} `{}` has the name of a retired one", name.value),
                )
                .note(line.name.span, "retired here")
                .help("give it another name, or remove `retired` if it is the same thing again"),
            ),
            Some(_) => {}
        }
    }
    for line in lines.iter().filter(|line| !line.retired && !present.contains(line.name.as_str())) {
        diags.push(
            Diagnostic::at(
                line.name.span,
                format!(
                    "{kind} `{}` has a stable number but is not in the tables",
                    line.name.value
                ),
            )
            .help(UPDATE)
            .lacks(&line.name),
        );
    }
}

/// The ledger's text after this run: old lines stay, names that are gone are retired, new names get
/// the next numbers in order of name.
#[must_use]
pub fn update<'a>(
    old: Option<&Ledger>,
    atoms: impl IntoIterator<Item = &'a str>,
    rules: impl IntoIterator<Item = &'a str>,
) -> String {
    let mut out = String::from(
        "// Stable numbers, append-only. Written by `cargo run -p lanebook-gen --example tables -- --ids`; never edit by hand.\n(\n",
    );
    section(&mut out, "atoms", old.map_or(&[], |l| &l.atoms), atoms.into_iter().collect());
    section(&mut out, "rules", old.map_or(&[], |l| &l.rules), rules.into_iter().collect());
    out.push_str(")\n");
    out
}

fn section(out: &mut String, title: &str, old: &[Line], names: BTreeSet<&str>) {
    out.push_str(&format!("    {title}: [\n"));
    let mut line = |id: u32, name: &str, retired: bool| {
        let tail = if retired { ", retired: true" } else { "" };
        out.push_str(&format!("        (id: {id}, name: {name:?}{tail}),\n"));
    };
    let mut next = 1;
    for l in old {
        line(l.id, &l.name, !names.contains(l.name.as_str()));
        next = next.max(l.id + 1);
    }
    for name in names {
        if !old.iter().any(|l| l.name.value == name) {
            line(next, name, false);
            next += 1;
        }
    }
    out.push_str("    ],\n");
}

//! AMD matrix, LDS and transposing-load layouts, and what assemblers take, against the tables.
//!
//! Rules: everything is compared exactly, lane by lane, register by register, with each
//! architecture that a record names and each wave size it is for; an architecture or instruction
//! that the tables do not have is a difference, and so is one that they have and the assembler does
//! not. Rules excuse: a record that calls itself contested may differ; a note about how a file was
//! made states nothing; of an instruction with two names the tables have one; offsets below M0 and
//! odd tuples are narrower in the tables on purpose.

mod assembly;
mod lds;
mod matrix;
mod modifiers;

use super::{Case, Suite, Verdict, has_any};
use crate::tables::tables;
use lanebook_tables::{Arch, Atom};
use serde_json::Value;

/// The suite.
pub struct Amd;

/// Keys that all records of one schema have, a row a schema.
const SHAPES: &[&[&str]] = &[
    &["inst", "gfx", "matrix", "map"],
    &["inst", "gfx", "map", "wave"],
    &["inst", "gfx", "asm"],
    &["op", "gfx", "banks", "groups"],
    &["asm", "accepts"],
    &["kind", "blgp", "src_lane"],
    &["kind", "cbsz", "src_block"],
    &["kind", "note"],
];

impl Suite for Amd {
    fn name(&self) -> &'static str {
        "amd"
    }

    fn knows(&self, _stem: &str, record: &Value) -> bool {
        has_any(record, SHAPES)
    }

    fn judge(&self, case: &Case<'_>) -> Verdict {
        let record = case.record;
        let has = |key: &str| record.get(key).is_some();
        let judged = if has("src_lane") {
            modifiers::lanes(record)
        } else if has("src_block") {
            modifiers::blocks(record)
        } else if has("kind") {
            assembly::note(record)
        } else if has("accepts") {
            assembly::accepts(case)
        } else if has("asm") {
            assembly::instruction(record)
        } else if has("groups") {
            lds::banks(record)
        } else if has("matrix") {
            matrix::operand(record)
        } else {
            lds::transposing(record)
        };
        match judged {
            Ok(verdict) => verdict,
            Err(_) if record["confidence"] == "contested" => Verdict::Skipped(
                "the record calls itself contested, and the tables follow another source",
            ),
            Err(what) => Verdict::Differ(what),
        }
    }
}

/// The architectures of a record: its `gfx` is a name, names with commas between, or a list.
fn named(record: &Value) -> Result<Vec<String>, String> {
    match &record["gfx"] {
        Value::String(names) => Ok(names.split(',').map(str::to_owned).collect()),
        Value::Array(list) => {
            Ok(list.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect())
        }
        _ => Err("the record names no architecture".into()),
    }
}

/// The tables' architectures for a record: of each name that they have, with the record's wave
/// size. One at least.
fn archs(record: &Value) -> Result<Vec<&'static Arch<'static>>, String> {
    let wave = record["wave"].as_u64();
    let names = named(record)?;
    let fits = |arch: &&Arch<'_>| {
        wave.is_none_or(|wave| arch.wave_lanes.first().map(|lanes| u64::from(*lanes)) == Some(wave))
    };
    let found: Vec<_> = tables()
        .archs
        .iter()
        .filter(|arch| names.iter().any(|name| name == arch.target))
        .filter(fits)
        .collect();
    if found.is_empty() {
        Err(format!("the tables have none of {names:?} with waves of {wave:?}"))
    } else {
        Ok(found)
    }
}

/// The first word of an atom's text.
fn mnemonic(atom: &Atom<'static>) -> &'static str {
    match atom.template.pieces().next() {
        Some(lanebook_tables::Piece::Text(text)) => text.split_whitespace().next().unwrap_or(""),
        _ => "",
    }
}

/// Atoms of an architecture with this mnemonic.
fn atoms(arch: &'static Arch<'static>, name: &str) -> Vec<&'static Atom<'static>> {
    arch.atoms
        .iter()
        .filter_map(|have| tables().atom(have.atom))
        .filter(|atom| mnemonic(atom) == name)
        .collect()
}

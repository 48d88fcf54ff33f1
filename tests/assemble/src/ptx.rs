//! PTX: a module with one entry that holds every piece.
//!
//! `ptxas` goes on after an error and names the line of each, and for a virtual architecture (`compute_80`) it reads and
//! checks without generating code; so one short run says of every instance whether the target has it.

use crate::{Part, instance_text, instances, isa};
use lanebook_tables::AtomId;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// A module for a target: its text, and which lines are whose.
#[must_use]
pub fn listing(target: &str, version: &str, atoms: impl Iterator<Item = AtomId>) -> (String, Vec<Part>) {
    let (ptx, _) = isa("ptx");
    let mut text = format!(".version {version}\n.target {target}\n.address_size 64\n.shared .align 1024 .b8 smem[1024];\n");
    let pieces: Vec<_> = atoms.flat_map(|id| instances(id).map(move |instance| (id, instance))).collect();
    let mut parts = Vec::new();
    // One function does not mix work of one block and of a pair.
    for pair in [false, true] {
        let name = if pair { "pair" } else { "k" };
        let mut body = String::new();
        let head = format!(".visible .entry {name}(.param .u64 param_0)\n{{\n");
        for class in ptx.classes {
            let _ = writeln!(body, ".reg {} {}<400>;", class.declared, class.prefix);
        }
        let before = parts.len();
        for (id, instance) in &pieces {
            let label = format!("L{}", parts.len());
            let piece = instance_text(ptx, instance, &label);
            if piece.contains("cta_group::2") != pair {
                continue;
            }
            let first = text.matches('\n').count() + head.matches('\n').count() + body.matches('\n').count() + 1;
            let count = piece.matches('\n').count() + 1;
            let _ = writeln!(body, "{piece}\n{label}:");
            parts.push(Part { atom: *id, text: piece, lines: first..first + count });
        }
        if !pair || parts.len() > before {
            let _ = write!(text, "{head}{body}ret;\n}}\n");
        }
    }
    (text, parts)
}

/// The lines that messages of `ptxas` name as errors.
#[must_use]
pub fn error_lines(said: &str) -> BTreeSet<usize> {
    let number = |line: &str| line.contains("error").then(|| line.split(", line ").nth(1)?.split(';').next()?.trim().parse().ok()).flatten();
    said.lines().filter_map(number).collect()
}

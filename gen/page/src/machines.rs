//! What there is to choose from: architectures, functions, instructions, examples.

use crate::request::refusal;
use lanebook::TABLES;
use lanebook::query::{self, FUNCTIONS};
use lanebook::unit::swizzle;
use lanebook_tables::{Arch, Atom, AtomFilter, Space};
use serde_json::{Value, json};

/// Programs that the page begins with: name, text, whether its loops are inferred.
const PROGRAMS: [(&str, &str, bool); 6] = [
    ("gemm", include_str!("../../cli/examples/gemm.tile"), false),
    ("transpose", include_str!("../../cli/examples/transpose.tile"), false),
    ("attention", include_str!("../../cli/examples/attention.tile"), false),
    ("plan_then_buffer", include_str!("../../cli/examples/loops/plan_then_buffer.tile"), true),
    ("gemm in loops", include_str!("../../cli/examples/loops/gemm.tile"), true),
    ("attention in loops", include_str!("../../cli/examples/loops/attention.tile"), true),
];

/// Architectures, functions, programs, and where what comes from.
pub(crate) fn start() -> Value {
    let archs: Vec<Value> = TABLES
        .archs
        .iter()
        .map(|arch| {
            json!({
                "name": arch.name, "vendor": arch.vendor, "waves": arch.wave_lanes,
                "banks": arch.banks.first().map(|bank| [u32::from(bank.banks), u32::from(bank.bank_bytes)]),
            })
        })
        .collect();
    let functions: Vec<Value> = FUNCTIONS
        .iter()
        .map(|form| json!({ "name": form.name, "takes": form.takes, "about": form.about }))
        .collect();
    let programs: Vec<Value> = PROGRAMS
        .iter()
        .map(|(name, text, loops)| json!({ "name": name, "text": text, "loops": loops }))
        .collect();
    let types: Vec<Value> = TABLES
        .dtypes
        .iter()
        .map(|dtype| json!({ "name": dtype.name, "bits": dtype.bits }))
        .collect();
    json!({
        "version": env!("CARGO_PKG_VERSION"), "archs": archs, "functions": functions, "programs": programs,
        "types": types,
    })
}

/// The instructions of an architecture that have a layout, each with the operands that can be drawn.
pub(crate) fn instructions(arch: &str) -> Value {
    let found = TABLES.arch_named(arch).and_then(|id| Some((id, TABLES.arch(id)?)));
    let Some((id, arch)) = found else {
        return refusal(&format!("no architecture is called `{arch}`"), "choose one of the list");
    };
    let atoms = TABLES.list_atoms(Some(id), AtomFilter::ALL);
    let list: Vec<Value> = atoms.filter_map(|(_, atom)| described(arch, atom)).collect();
    let modes: Vec<&str> = swizzle::modes(&TABLES, arch).map(|mode| mode.name).collect();
    json!({ "arch": arch.name, "instructions": list, "modes": modes })
}

fn described(arch: &Arch<'_>, atom: &Atom<'_>) -> Option<Value> {
    let parts: Vec<&str> = query::parts(atom).collect();
    let shape = atom.matrix.map(|matrix| [matrix.m, matrix.n, matrix.k]);
    let shared = atom.movement.is_some_and(|movement| {
        [&movement.from, &movement.to].into_iter().any(|side| {
            side.space == Space::Shared && arch.banks.iter().any(|bank| bank.name == side.banks)
        })
    });
    (!parts.is_empty()).then(|| {
        json!({
            "name": atom.name(), "parts": parts, "shape": shape, "shared": shared,
            "status": atom.status.words(),
        })
    })
}

//! The index of each architecture against its atoms: what an atom can do leads to it, and nothing
//! else does.
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::dispatch::{capabilities, of_arch, spelled};
use lanebook_tables::{Arch, AtomId, Capability, Tables};
use std::collections::BTreeMap;

/// See the module.
#[must_use]
pub fn check(compiled: &Compiled) -> Diagnostics {
    let tables = &compiled.tables();
    let mut diags = Diagnostics::new();
    for arch in tables.archs {
        agree(tables, arch, &mut diags);
    }
    diags
}

fn agree(tables: &Tables<'static>, arch: &Arch<'static>, diags: &mut Diagnostics) {
    let mut wrong = |what: String, help: &str| {
        diags.push(Diagnostic::nowhere(format!("{}: {what}", arch.name)).help(help))
    };
    let mut filed: BTreeMap<u32, (Capability, Vec<AtomId>)> = BTreeMap::new();
    let native = arch.atoms.iter().flat_map(|have| {
        let atom = tables.atom(have.atom);
        let all = atom.map(|atom| capabilities(tables, atom, have.native)).unwrap_or_default();
        all.into_iter().map(|(capability, _)| (have.atom, capability))
    });
    let ordered = of_arch(tables, arch).into_iter().map(|(id, (capability, _))| (id, capability));
    for (id, capability) in native.chain(ordered) {
        let Some(atom) = tables.atom(id) else { continue };
        let line = spelled(tables, arch, capability);
        let Some(key) = capability.key() else {
            wrong(
                format!("`{line}` of `{}` has no number", atom.name()),
                "src/tables/src/dispatch.rs says how many bits each field has: widen one",
            );
            continue;
        };
        let (first, ids) = filed.entry(key.0).or_insert((capability, Vec::new()));
        if *first != capability {
            wrong(
                format!("`{line}` and `{}` have one number", spelled(tables, arch, *first)),
                "src/tables/src/dispatch.rs packs them: their fields overlap",
            );
        }
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    for (capability, mut ids) in filed.into_values() {
        let mut answer = arch.dispatch(capability).to_vec();
        ids.sort();
        answer.sort();
        if ids != answer {
            wrong(
                format!(
                    "{} atoms do `{}`, {} are found",
                    ids.len(),
                    spelled(tables, arch, capability),
                    answer.len()
                ),
                "build the tables again",
            );
        }
    }
    if arch.dispatch.keys.len() != arch.dispatch.begins.len().saturating_sub(1) {
        wrong("the index of capabilities is damaged".into(), "build the tables again");
    }
}

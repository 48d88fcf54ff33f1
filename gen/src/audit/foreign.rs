//! An architecture has groups of its own set of instructions, or of one that this extends.
//!
//! Groups with instructions say so by these ([`crate::check`]); others hold words, tiles and shapes
//! of units, which nothing else tells from another vendor's.
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};

/// See the module.
pub(super) fn check(compiled: &Compiled, diags: &mut Diagnostics) {
    let (model, loaded) = (&compiled.model, &compiled.loaded);
    for entry in &loaded.archs {
        let Some(arch) = model.arch_named(&entry.name) else { continue };
        for name in &entry.has {
            let named = |one: &&crate::load::LoadedGroup| one.group.name.value == name.value;
            let Some(group) = loaded.groups.iter().find(named) else { continue };
            let isa = model.isa_named(&group.group.isa.value);
            if isa.is_some_and(|isa| !model.isa_has(arch.isa, isa)) {
                let message = format!(
                    "`{}` is a group of `{}`, and `{}` has instructions of `{}`",
                    name.value,
                    group.group.isa.value,
                    arch.name.value,
                    model.isa(arch.isa).name.value
                );
                diags.push(
                    Diagnostic::at(name.span, message)
                        .note(group.group.name.span, "the group")
                        .help("remove it from `has`"),
                );
            }
        }
    }
}

//! An architecture has groups of its own set of instructions, or of one that this extends.
//!
//! Groups with instructions say so by these ([`crate::check`]); others hold words, tiles and shapes
//! of units, which nothing else tells from another vendor's. What an architecture is without it would
//! have otherwise. One that is another in waves of another size has, of each group that there is for
//! both sizes, that of its own.
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::schema::Arch;
use crate::spanned::Spanned;
use std::collections::BTreeSet;

/// See the module.
pub(super) fn check(compiled: &Compiled, diags: &mut Diagnostics) {
    for arch in &compiled.loaded.archs {
        needless(compiled, arch, diags);
        sized(compiled, arch, diags);
    }
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

/// The entry that an architecture extends.
fn parent<'c>(compiled: &'c Compiled, arch: &Arch) -> Option<&'c Spanned<Arch>> {
    let name = arch.extends.as_ref()?;
    compiled.loaded.archs.iter().find(|one| one.name.value == name.value)
}

/// Groups that an architecture has, or has assembled, by what it extends and by itself.
fn groups(compiled: &Compiled, arch: &Arch) -> BTreeSet<String> {
    let mut chain = vec![arch];
    while let Some(next) = chain.last().and_then(|last| parent(compiled, last))
        && chain.len() <= compiled.loaded.archs.len()
    {
        chain.push(&next.value);
    }
    let mut out = BTreeSet::new();
    for one in chain.into_iter().rev() {
        for name in &one.without {
            out.remove(&name.value);
        }
        out.extend(one.has.iter().chain(&one.assembles).map(|name| name.value.clone()));
    }
    out
}

/// What an architecture is without that it would not have.
fn needless(compiled: &Compiled, arch: &Arch, diags: &mut Diagnostics) {
    let Some(parent) = parent(compiled, arch) else { return };
    let inherited = groups(compiled, parent);
    for name in arch.without.iter().filter(|name| !inherited.contains(&name.value)) {
        let message =
            format!("`{}` is without `{}`, which it would not have", arch.name.value, name.value);
        diags.push(
            Diagnostic::at(name.span, message)
                .note(parent.name.span, "what it extends")
                .help("name a group that this has, or remove it from `without`"),
        );
    }
}

/// What stands behind the name of a group for waves of so many lanes.
fn ending(lanes: u16) -> String {
    format!(".w{lanes}")
}

/// Groups of the own size, where there are some for both.
fn sized(compiled: &Compiled, arch: &Arch, diags: &mut Diagnostics) {
    let lanes = |arch: &Arch| {
        let found = compiled.model.arch_named(&arch.name)?;
        found.wave_lanes.value.first().copied()
    };
    let Some(parent) = parent(compiled, arch) else { return };
    let (Some(own), Some(theirs)) = (lanes(arch), lanes(parent)) else { return };
    if own == theirs {
        return;
    }
    let (has, theirs_has) = (groups(compiled, arch), groups(compiled, parent));
    let declared =
        |name: &str| compiled.loaded.groups.iter().find(|one| one.group.name.value == name);
    for name in &theirs_has {
        let stem = name.strip_suffix(&ending(theirs)).unwrap_or(name);
        let twin = format!("{stem}{}", ending(own));
        let Some(group) = declared(&twin) else { continue };
        let what = match (has.contains(&twin), has.contains(name)) {
            (true, false) => continue,
            (true, true) => format!("has `{name}` beside `{twin}`"),
            (false, _) => format!("has no `{twin}`, in the place of `{name}`"),
        };
        diags.push(
            Diagnostic::at(arch.name.span, format!("`{}` {what}", arch.name.value))
                .note(group.group.name.span, "the group for waves of its size")
                .help(format!(
                    "a machine in waves of {own} lanes has what is for {own}: put it into `has`, and the other into `without`"
                )),
        );
    }
}

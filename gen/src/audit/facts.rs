//! How sure the facts are: which are contested or assumed, and whether an override says why.
use super::covered;
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics, Level};
use crate::model::Units;
use crate::model::status::Says;
use crate::model::units::Fact;
use crate::source::Span;
use lanebook_tables::Status;

/// An override names its evidence, a contested fact has a source that says it, no status is typed,
/// and nothing rests on less than when that was recorded.
#[must_use]
pub fn evidence(compiled: &Compiled) -> Diagnostics {
    let mut diags = Diagnostics::new();
    for atom in compiled.loaded.groups.iter().flat_map(|group| &group.atoms) {
        if atom.override_.as_ref().is_some_and(|why| why.trim().is_empty()) {
            let message = format!("the override of `{}` names no evidence", atom.name.value);
            diags.push(
                Diagnostic::at(atom.name.span, message)
                    .help("name the test that shows it in `override_`")
                    .as_level(Level::Warning),
            );
        }
    }
    one_sided(compiled, &mut diags);
    typed(compiled, &mut diags);
    diags.extend(covered::lost(compiled));
    diags
}

/// Where a source says otherwise, another one says it.
fn one_sided(compiled: &Compiled, diags: &mut Diagnostics) {
    let model = &compiled.model;
    let atoms = model.atoms.iter().map(|atom| ("atom", &atom.name, &atom.sources));
    let banks = model.archs.iter().flat_map(|arch| &arch.banks);
    let banks = banks.map(|bank| ("bank model", &bank.name, &bank.sources));
    for (what, name, cited) in atoms.chain(banks) {
        let says = cited.each().any(|(_, says)| says == Says::This);
        if cited.is_contested() && !says {
            let message = format!("{what} `{}` is contested, and nothing says it", name.value);
            diags.push(Diagnostic::at(name.span, message).help(
                "cite the source that says it, too, or take the one that is cited at its word",
            ));
        }
    }
}

/// A status that is typed.
fn typed(compiled: &Compiled, diags: &mut Diagnostics) {
    let model = &compiled.model;
    let mut say = |what: String, at: Span, is: Option<Status>| {
        let is = is.map(|is| format!(": here they make it {}", is.words())).unwrap_or_default();
        let message = format!("a status is typed at {what}; it follows from the sources{is}");
        let help = "leave `status` out; a citation with `~` in front is of something like it, one with `!` says otherwise, `sources: []` is nothing";
        diags.push(Diagnostic::at(at, message).help(help));
    };
    for group in &compiled.loaded.groups {
        if group.group.status.is_some() {
            say(format!("group `{}`", group.group.name.value), group.group.name.span, None);
        }
        for atom in group.atoms.iter().filter(|atom| atom.status.is_some()) {
            let is = model.atoms.iter().find(|one| one.name == atom.name).map(|one| one.status);
            say(format!("atom `{}`", atom.name.value), atom.name.span, is);
        }
    }
    for arch in &compiled.loaded.archs {
        if arch.status.is_some() {
            say(format!("architecture `{}`", arch.name.value), arch.name.span, None);
        }
        for bank in arch.banks.iter().filter(|bank| bank.status.is_some()) {
            say(format!("bank model `{}`", bank.name.value), bank.name.span, None);
        }
    }
    for (what, at, is) in units(&model.units) {
        say(format!("this {what}"), at, Some(is));
    }
}

/// Facts of units whose status is typed.
fn units(units: &Units) -> Vec<(&'static str, Span, Status)> {
    fn of<'m, T: 'm>(
        what: &'static str,
        facts: impl Iterator<Item = &'m Fact<T>>,
    ) -> Vec<(&'static str, Span, Status)> {
        let typed = facts.filter(|fact| fact.typed);
        typed.map(|fact| (what, fact.entry.span.head(), fact.status)).collect()
    }
    let mut out = of("swizzle mode", units.swizzles.iter());
    out.extend(of("descriptor", units.descriptors.iter().map(|one| &one.fact)));
    out.extend(of("operand tile", units.operand_tiles.iter().map(|one| &one.0)));
    out.extend(of("tensor memory", units.tensor_memories.iter()));
    out.extend(of("tensor tile", units.tensor_tiles.iter().map(|one| &one.0)));
    out.extend(of("tensor move", units.tensor_moves.iter().map(|one| &one.0)));
    out.extend(of("shape", units.shapes.iter()));
    out.extend(of("order limit", units.order_limits.iter()));
    out.extend(of("map limit", units.map_limits.iter()));
    out.extend(of("tensor map", units.tensor_maps.iter()));
    out.extend(of("tiled move", units.tiled_moves.iter().map(|one| &one.0)));
    out.extend(of("completion object", units.mbarriers.iter().map(|one| &one.0)));
    out.extend(of("warp specialization", units.specializations.iter().map(|one| &one.0)));
    out
}

/// Facts that somebody doubts, or that nobody has shown.
#[must_use]
pub fn status(compiled: &Compiled) -> Diagnostics {
    let mut diags = Diagnostics::new();
    let word = |status| match status {
        Status::Contested => Some("contested"),
        Status::Assumed => Some("assumed"),
        _ => None,
    };
    for atom in &compiled.model.atoms {
        if let Some(word) = word(atom.status) {
            diags.push(
                Diagnostic::at(atom.name.span, format!("atom `{}` is {word}", atom.name.value))
                    .as_level(Level::Note),
            );
        }
    }
    for arch in &compiled.model.archs {
        for bank in &arch.banks {
            if let Some(word) = word(bank.status) {
                diags.push(
                    Diagnostic::at(
                        bank.name.span,
                        format!("bank model `{}` is {word}", bank.name.value),
                    )
                    .as_level(Level::Note),
                );
            }
        }
    }
    diags
}

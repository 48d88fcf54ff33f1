//! What nothing leads to: atoms that no architecture has, declarations that nothing uses.
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics, Level};
use crate::model::status::Says;
use crate::rules::passes::Step;
use crate::schema::Name;
use crate::source::Span;
use lanebook_tables::ANALYSES;
use std::collections::{BTreeMap, BTreeSet};

/// Names by their place, and whether something uses them.
type Declared<'m> = BTreeMap<Span, (&'m Name, bool)>;

fn warn(name: &Name, message: String, help: &str) -> Diagnostic {
    Diagnostic::at(name.span, message).help(help).as_level(Level::Warning)
}

/// Atoms that no architecture has.
#[must_use]
pub fn unreachable(compiled: &Compiled) -> Diagnostics {
    let model = &compiled.model;
    let had: BTreeSet<usize> =
        model.archs.iter().flat_map(|arch| &arch.atoms).map(|entry| entry.atom.index()).collect();
    let mut diags = Diagnostics::new();
    for group in &model.groups {
        let lost: Vec<_> = group.atoms.iter().filter(|id| !had.contains(&id.index())).collect();
        if !group.atoms.is_empty() && lost.len() == group.atoms.len() {
            diags.push(warn(
                &group.name,
                format!("no architecture has group `{}`", group.name.value),
                "add it to the `has` of one, or remove it",
            ));
            continue;
        }
        for id in lost {
            let atom = model.atom(*id);
            let help = "take it out of `lacks`, or remove it";
            diags.push(warn(
                &atom.name,
                format!("no architecture has atom `{}`", atom.name.value),
                help,
            ));
        }
    }
    diags
}

/// Sources that nothing cites, tags and accesses that nothing has, bank models and counters that no
/// atom of their architecture refers to.
#[must_use]
pub fn unused(compiled: &Compiled) -> Diagnostics {
    let model = &compiled.model;
    let mut diags = Diagnostics::new();
    passes(compiled, &mut diags);
    let mut cited: BTreeSet<usize> =
        model.atoms.iter().flat_map(|atom| atom.sources.iter()).map(|id| id.index()).collect();
    for arch in &model.archs {
        cited.extend(arch.sources.iter().map(|id| id.index()));
        cited.extend(arch.banks.iter().flat_map(|bank| bank.sources.iter()).map(|id| id.index()));
        cited.extend(arch.sync.iter().flat_map(|rule| rule.sources.iter()).map(|id| id.index()));
        cited.extend(
            arch.hazards.iter().flat_map(|hazard| hazard.sources.iter()).map(|id| id.index()),
        );
    }
    let of_units = super::covered::of_facts(&model.units).into_iter().flat_map(|(_, of)| of);
    cited.extend(of_units.flat_map(|sources| sources.iter()).map(|id| id.index()));
    // A group's or an architecture's own list may name more than reaches a table.
    let written =
        compiled.loaded.groups.iter().filter_map(|group| group.group.sources.as_ref()).flatten();
    let written: BTreeSet<&str> = written
        .chain(compiled.loaded.archs.iter().filter_map(|arch| arch.sources.as_ref()).flatten())
        .chain(compiled.loaded.figures.iter().flat_map(|entry| &entry.sources))
        .chain(compiled.loaded.answers.iter().flat_map(|entry| &entry.sources))
        .map(|name| Says::of(name).1)
        .collect();
    for (number, source) in model.sources.iter().enumerate() {
        if !cited.contains(&number) && !written.contains(source.key.as_str()) {
            diags.push(warn(
                &source.key,
                format!("nothing cites source `{}`", source.key.value),
                "cite it, or remove it",
            ));
        }
    }
    let tagged: BTreeSet<usize> =
        model.atoms.iter().flat_map(|atom| &atom.tags).map(|id| id.index()).collect();
    for (number, tag) in model.tags.iter().enumerate() {
        if !tagged.contains(&number) {
            diags.push(warn(
                &tag.name,
                format!("no atom has tag `{}`", tag.name.value),
                "tag an atom with it, or remove it",
            ));
        }
    }
    let sides = || {
        model
            .atoms
            .iter()
            .filter_map(|atom| atom.movement.as_ref())
            .flat_map(|movement| [&movement.from, &movement.to])
    };
    // What a matrix unit accesses is no movement; a rule about it is a use.
    let ordered = model
        .archs
        .iter()
        .flat_map(|arch| &arch.sync)
        .flat_map(|rule| [rule.producer, rule.consumer]);
    let touched: BTreeSet<usize> =
        sides().filter_map(|side| side.access).chain(ordered).map(|id| id.index()).collect();
    for (number, access) in model.accesses.iter().enumerate() {
        if !touched.contains(&number) {
            let message = format!(
                "no movement has access kind `{}`, and no rule orders it",
                access.name.value
            );
            diags.push(warn(
                &access.name,
                message,
                "give it to a side of a movement or a rule in `sync`, or remove it",
            ));
        }
    }
    // What several architectures inherit is written once: one of them that uses it is enough.
    let (mut banks, mut counters) = (Declared::new(), Declared::new());
    for arch in &model.archs {
        let atoms = || arch.atoms.iter().map(|entry| model.atom(entry.atom));
        for bank in &arch.banks {
            let mut sides = atoms()
                .filter_map(|atom| atom.movement.as_ref())
                .flat_map(|movement| [&movement.from, &movement.to]);
            let used = sides
                .any(|side| side.banks.as_ref().is_some_and(|name| name.value == bank.name.value));
            banks.entry(bank.name.span).or_insert((&bank.name, false)).1 |= used;
        }
        for counter in &arch.counters {
            let used = atoms().any(|atom| {
                atom.counter.as_ref().is_some_and(|name| name.value == counter.name.value)
            });
            counters.entry(counter.name.span).or_insert((&counter.name, false)).1 |= used;
        }
    }
    let extending = compiled.loaded.archs.iter().filter(|arch| arch.extends.is_some());
    let replaces: BTreeSet<Span> =
        extending.flat_map(|arch| &arch.banks).map(|bank| bank.name.span).collect();
    for (name, _) in banks.into_values().filter(|(_, used)| !used) {
        let message = format!("no atom uses bank model `{}` here", name.value);
        let help = "remove the model, or name it on a side of an atom that the architecture has";
        let found = warn(name, message, help);
        // What it was to replace, of an architecture that is extended, counts in its place.
        diags.push(if replaces.contains(&name.span) {
            found.as_level(Level::Error)
        } else {
            found
        });
    }
    for (name, _) in counters.into_values().filter(|(_, used)| !used) {
        let message = format!("no atom advances counter `{}` here", name.value);
        diags.push(warn(
            name,
            message,
            "remove the counter, or name it on an atom that the architecture has",
        ));
    }
    diags
}

/// What the engine can do is done by some pass, and rules that are no instruction set's are tried
/// by one: what is left out is a step that was lost.
fn passes(compiled: &Compiled, diags: &mut Diagnostics) {
    let rules = &compiled.rules;
    let Some(first) = rules.passes.first() else { return };
    let steps = || rules.passes.iter().flat_map(|pass| &pass.steps);
    let is_done =
        |name: &str| steps().any(|step| matches!(step, Step::Analysis(one) if one == name));
    let lost: Vec<String> =
        ANALYSES.iter().filter(|name| !is_done(name)).map(|name| format!("`{name}`")).collect();
    if !lost.is_empty() {
        diags.push(
            Diagnostic::at(first.name.span, format!("no pass does {}", lost.join(", ")))
                .help("name each analysis in the pass that it is a step of"),
        );
    }
    for (number, phase) in (0u8..).zip(&rules.phases) {
        let mut of = rules.rules.iter().filter(|rule| rule.isa.is_none() && rule.phase == number);
        let Some(rule) = of.next() else { continue };
        if !steps().any(|step| matches!(step, Step::Rules(one, _) if *one == number)) {
            diags.push(
                Diagnostic::at(rule.name.span, format!("no pass tries the rules of phase `{phase}`"))
                    .help("name the phase in the pass that it is a step of, or correct the rule's `phase`"),
            );
        }
    }
}

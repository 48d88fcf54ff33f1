//! Synchronisation agrees with what is synchronised.
//!
//! A kind of access either reads or writes, wherever it stands. An instruction
//! that advances a counter is awaited: behind an access of its kind stands a wait in which that
//! counter comes to nothing, and no counter that the access does not advance. One atom is a barrier
//! in every step or in none. What follows one access into the same space needs the same steps,
//! whether it reads or writes there.
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::{Arch, HwModel, Side, Step, SyncRule};
use crate::source::Span;
use lanebook_tables::{AccessId, AtomId, Space};
use std::collections::{BTreeMap, BTreeSet};

/// See the module.
#[must_use]
pub fn check(compiled: &Compiled) -> Diagnostics {
    let model = &compiled.model;
    let mut diags = Diagnostics::new();
    directions(model, &mut diags);
    barriers(model, &mut diags);
    counted(model, &mut diags);
    families(model, &mut diags);
    let mut seen = BTreeSet::new();
    for arch in &model.archs {
        waits(model, arch, &mut seen, &mut diags);
        alike(model, arch, &mut seen, &mut diags);
        ordered(model, arch, &mut seen, &mut diags);
        bounds(model, arch, &mut seen, &mut diags);
    }
    diags
}

/// Which way an access goes, as its name says: the words `read` and `write` are what a reader of
/// the tables goes by.
pub(super) fn reads(name: &str) -> Option<bool> {
    let mut words = name.split('.');
    words.find_map(|word| match word {
        "read" => Some(true),
        "write" => Some(false),
        _ => None,
    })
}

/// Whether a kind is none of accesses, but who sees them: it neither reads nor writes, and lies
/// nowhere.
pub(super) fn is_scope(model: &HwModel, id: AccessId) -> bool {
    let kind = &model.accesses[id.index()];
    kind.space == Space::Register && reads(&kind.name).is_none()
}

fn directions(model: &HwModel, diags: &mut Diagnostics) {
    let mut uses: BTreeMap<AccessId, BTreeMap<bool, Span>> = BTreeMap::new();
    let mut side = |side: &Side, reading: bool, diags: &mut Diagnostics| {
        let Some(access) = side.access else { return };
        let declared = &model.accesses[access.index()];
        if reads(&declared.name).is_some_and(|says| says != reading) {
            let what = if reading { "read" } else { "written" };
            let message =
                format!("what is {what} here has the access kind `{}`", declared.name.value);
            diags.push(
                Diagnostic::at(side.span.head(), message)
                    .note(declared.name.span, "the kind")
                    .help("a movement reads `from` and writes `to`: correct `access`"),
            );
        }
        uses.entry(access).or_default().entry(reading).or_insert(side.span);
    };
    for movement in model.atoms.iter().filter_map(|atom| atom.movement.as_ref()) {
        side(&movement.from, true, diags);
        side(&movement.to, false, diags);
    }
    for (access, spans) in uses {
        if let (Some(read), Some(write)) = (spans.get(&true), spans.get(&false)) {
            let message = format!(
                "access kind `{}` is of what is read and of what is written",
                model.accesses[access.index()].name.value
            );
            diags.push(
                Diagnostic::at(read.head(), message)
                    .note(write.head(), "written here")
                    .help("give each direction a kind of its own"),
            );
        }
    }
    for (fact, found) in &model.units.tiled_moves {
        for (access, reading) in [(found.from, true), (found.to, false)] {
            let declared = &model.accesses[access.index()];
            if reads(&declared.name).is_some_and(|says| says != reading) {
                let message = format!("`{}` goes the other way", declared.name.value);
                diags.push(
                    Diagnostic::at(fact.entry.name.span, message)
                        .note(declared.name.span, "the kind")
                        .help("a copy reads `from` and writes `to`"),
                );
            }
        }
    }
    for one in &model.accesses {
        let said = one.name.value.split('.').next().unwrap_or_default();
        let space = [
            ("register", Space::Register),
            ("shared", Space::Shared),
            ("global", Space::Global),
            ("tensor", Space::Tensor),
        ];
        if space.iter().any(|(word, space)| *word == said && *space != one.space) {
            let message = format!("access kind `{}` is declared of another space", one.name.value);
            diags.push(
                Diagnostic::at(one.name.span, message).help("correct its `space`, or its name"),
            );
        }
    }
}

/// Every step of every architecture and unit.
fn steps(model: &HwModel) -> impl Iterator<Item = &Step> {
    let of_archs = model.archs.iter().flat_map(|arch| &arch.sync).flat_map(|rule| &rule.steps);
    let published = model.units.mbarriers.iter().flat_map(|(_, found)| &found.publish);
    let last = model.units.tiled_moves.iter().flat_map(|(_, found)| &found.last);
    of_archs.chain(published).chain(last)
}

fn barriers(model: &HwModel, diags: &mut Diagnostics) {
    let mut known: BTreeMap<AtomId, (bool, Span)> = BTreeMap::new();
    let mut said = BTreeSet::new();
    for step in steps(model) {
        let (first, span) = *known.entry(step.atom.value).or_insert((step.barrier, step.span));
        if first != step.barrier && said.insert(step.atom.value) {
            let message = format!(
                "`{}` makes every wave wait in one step and not in another",
                model.atom(step.atom.value).name.value
            );
            diags.push(
                Diagnostic::at(step.span.head(), message)
                    .note(span.head(), "the other")
                    .help("`barrier` is a fact of the instruction: state it in all of its steps"),
            );
        }
    }
    for (_, object) in &model.units.mbarriers {
        let apart = object.publish.iter().all(|step| !step.barrier);
        if let Some(step) = object.publish.first().filter(|_| apart) {
            diags.push(
                Diagnostic::at(step.span.head(), "no step of `publish` makes the waves wait")
                    .help("one thread makes the object, and all use it: add the barrier"),
            );
        }
    }
}

/// Where most accesses of a kind advance a counter, all do.
fn counted(model: &HwModel, diags: &mut Diagnostics) {
    let mut said = BTreeSet::new();
    for arch in model.archs.iter().filter(|arch| arch.whole) {
        let mut kinds: BTreeMap<AccessId, [Vec<AtomId>; 2]> = BTreeMap::new();
        for entry in &arch.atoms {
            let atom = model.atom(entry.atom);
            let sides = atom.movement.iter().flat_map(|movement| [&movement.from, &movement.to]);
            for access in sides.filter_map(|side| side.access) {
                let found = kinds.entry(access).or_default();
                found[usize::from(atom.counter.is_some())].push(entry.atom);
            }
        }
        for [without, with] in kinds.into_values().filter(|[few, many]| few.len() < many.len()) {
            let (Some(atom), Some(other)) = (without.first(), with.first()) else { continue };
            if said.insert(*atom) {
                let (atom, other) = (model.atom(*atom), model.atom(*other));
                let message = format!(
                    "`{}` advances no counter on `{}`, as others of its kind of access do",
                    atom.name.value, arch.name.value
                );
                diags.push(
                    Diagnostic::at(atom.name.span, message)
                        .note(other.name.span, "one of them")
                        .help("state its `counter`: else nothing waits until it is done"),
                );
            }
        }
    }
}

/// Of instructions that go one way, as the first word of their texts says, one alone counts otherwise
/// than all the others: so few, that it is a slip.
fn families(model: &HwModel, diags: &mut Diagnostics) {
    /// As many others make a way.
    const MANY: usize = 4;
    let mut said = BTreeSet::new();
    for arch in model.archs.iter().filter(|arch| arch.whole) {
        let mut ways: BTreeMap<String, BTreeMap<&str, Vec<AtomId>>> = BTreeMap::new();
        for entry in &arch.atoms {
            let atom = model.atom(entry.atom);
            let text = super::spelling::text(atom);
            let way = text.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
            if let Some(counter) = &atom.counter {
                let found = ways.entry(way.to_string()).or_default();
                found.entry(counter.value.as_str()).or_default().push(entry.atom);
            }
        }
        for of in ways.into_values().filter(|of| of.len() == 2) {
            let odd = of.iter().find(|(_, atoms)| atoms.len() == 1);
            let usual = of.iter().find(|(_, atoms)| atoms.len() >= MANY);
            let (Some((counter, odd)), Some((others, usual))) = (odd, usual) else { continue };
            let (Some(odd), Some(usual)) = (odd.first(), usual.first()) else { continue };
            if said.insert(*odd) {
                let (odd, usual) = (model.atom(*odd), model.atom(*usual));
                let message = format!(
                    "`{}` advances counter `{counter}`, all others of its way `{others}`",
                    odd.name.value
                );
                let at = odd.counter.as_ref().map_or(odd.name.span, |name| name.span);
                diags.push(
                    Diagnostic::at(at, message)
                        .note(usual.name.span, "one of them")
                        .help("correct `counter`: else what waits for it does not wait"),
                );
            }
        }
    }
}

/// Counters by number that accesses of a kind advance on an architecture; none if some of its
/// atoms advance no counter.
fn advanced(model: &HwModel, arch: &Arch, access: AccessId) -> BTreeSet<usize> {
    let mut out = BTreeSet::new();
    for entry in &arch.atoms {
        let atom = model.atom(entry.atom);
        let touches = atom
            .movement
            .iter()
            .flat_map(|movement| [&movement.from, &movement.to])
            .any(|side| side.access == Some(access));
        if touches && let Some(name) = &atom.counter {
            out.extend(arch.counters.iter().position(|c| c.name.value == name.value));
        }
    }
    out
}

fn waits(model: &HwModel, arch: &Arch, seen: &mut BTreeSet<(Span, u8)>, diags: &mut Diagnostics) {
    for rule in &arch.sync {
        let wanted = advanced(model, arch, rule.producer);
        let mut awaited = BTreeSet::new();
        for step in &rule.steps {
            for (number, counter) in arch.counters.iter().enumerate() {
                if counter.wait.value != step.atom.value {
                    continue;
                }
                let value = step.immediates.get(&counter.operand.value).copied();
                if value == Some(0) {
                    awaited.insert(number);
                } else if value.is_some_and(|value| value != i32::from(counter.max))
                    && seen.insert((step.span, 0))
                {
                    let message = format!(
                        "the wait leaves {} of counter `{}` open",
                        value.unwrap_or(0),
                        counter.name.value
                    );
                    diags.push(Diagnostic::at(step.span.head(), message).help(format!(
                        "a rule knows of no other work: 0 waits for all, {} for none",
                        counter.max
                    )));
                }
            }
        }
        // An access of this kind is behind a step that advances the counter, or advances it itself.
        let committed = rule.steps.iter().filter_map(|step| {
            let name = model.atom(step.atom.value).counter.as_ref()?;
            arch.counters.iter().position(|counter| counter.name.value == name.value)
        });
        let wanted: BTreeSet<usize> = wanted.into_iter().chain(committed).collect();
        let name = |number: &usize| arch.counters[*number].name.value.as_str();
        let producer = &model.accesses[rule.producer.index()].name.value;
        let missing = wanted.difference(&awaited).next();
        let further = awaited.difference(&wanted).next().filter(|_| !wanted.is_empty());
        if let Some(number) = missing
            && seen.insert((rule.span, 1))
        {
            let message = format!(
                "`{producer}` advances counter `{}` on `{}`, and nothing here waits for it",
                name(number),
                arch.name.value
            );
            diags.push(
                Diagnostic::at(rule.span.head(), message)
                    .note(arch.counters[*number].name.span, "the counter")
                    .help("add a step that waits until it is 0"),
            );
        }
        if let Some(number) = further
            && seen.insert((rule.span, 2))
        {
            let message = format!(
                "`{producer}` does not advance counter `{}` on `{}`, and a step waits for it",
                name(number),
                arch.name.value
            );
            diags.push(
                Diagnostic::at(rule.span.head(), message)
                    .note(arch.counters[*number].name.span, "the counter")
                    .help("let the wait leave it alone"),
            );
        }
    }
}

/// What two rules have to share.
fn told(model: &HwModel, step: &Step) -> String {
    let immediates: Vec<String> =
        step.immediates.iter().map(|(name, value)| format!("{name} {value}")).collect();
    let place = if step.after_producer { " after the producer" } else { "" };
    format!("{}{place} ({})", model.atom(step.atom.value).name.value, immediates.join(", "))
}

/// A name without its direction: where an access goes.
fn place(name: &str) -> String {
    let words: Vec<&str> =
        name.split('.').filter(|word| !matches!(*word, "read" | "write")).collect();
    words.join(".")
}

fn alike(model: &HwModel, arch: &Arch, seen: &mut BTreeSet<(Span, u8)>, diags: &mut Diagnostics) {
    let name = |id: AccessId| &model.accesses[id.index()].name.value;
    let mut first: BTreeMap<(AccessId, String), &SyncRule> = BTreeMap::new();
    // What a scope's rules have is not of its accesses: one is behind what others find, one before.
    for rule in arch.sync.iter().filter(|rule| !is_scope(model, rule.producer)) {
        let key = (rule.producer, place(name(rule.consumer)));
        let Some(other) = first.get(&key) else {
            first.insert(key, rule);
            continue;
        };
        let texts = |rule: &SyncRule| -> Vec<String> {
            rule.steps.iter().map(|step| told(model, step)).collect()
        };
        if texts(rule) != texts(other) && seen.insert((rule.span, 3)) {
            let message = format!(
                "between `{}` and `{}` stands {}, and before `{}` {}",
                name(rule.producer),
                name(rule.consumer),
                texts(rule).join(", "),
                name(other.consumer),
                texts(other).join(", ")
            );
            diags.push(
                Diagnostic::at(rule.span.head(), message)
                    .note(other.span.head(), "the other")
                    .help("what follows an access into one place needs the same steps, whether it reads or writes"),
            );
        }
    }
}

/// A rule makes the waves meet, or waits for an object that completes.
fn ordered(model: &HwModel, arch: &Arch, seen: &mut BTreeSet<(Span, u8)>, diags: &mut Diagnostics) {
    let completes: BTreeSet<AtomId> =
        model.units.mbarriers.iter().map(|(_, found)| found.wait).collect();
    let space = |id: AccessId| model.accesses[id.index()].space;
    for rule in &arch.sync {
        let met =
            rule.steps.iter().any(|step| step.barrier || completes.contains(&step.atom.value));
        let of_memory = [rule.producer, rule.consumer]
            .iter()
            .all(|id| matches!(space(*id), Space::Shared | Space::Global));
        if of_memory && !met && seen.insert((rule.span, 4)) {
            let message = format!(
                "nothing between `{}` and `{}` makes the waves meet",
                model.accesses[rule.producer.index()].name.value,
                model.accesses[rule.consumer.index()].name.value
            );
            diags.push(
                Diagnostic::at(rule.span.head(), message)
                    .help("add a barrier, or the wait of an mbarrier"),
            );
        }
    }
}

/// A counter counts as far as its wait can say.
fn bounds(model: &HwModel, arch: &Arch, seen: &mut BTreeSet<(Span, u8)>, diags: &mut Diagnostics) {
    for counter in &arch.counters {
        let atom = model.atom(counter.wait.value);
        let operand = atom.operands.iter().find(|o| o.name.value == counter.operand.value);
        let Some(range) = operand.and_then(|operand| operand.range.as_ref()) else { continue };
        if range.value.1 != i64::from(counter.max) && seen.insert((counter.name.span, 5)) {
            let message = format!(
                "counter `{}` counts to {}, its wait says up to {}",
                counter.name.value, counter.max, range.value.1
            );
            diags.push(
                Diagnostic::at(counter.name.span, message)
                    .note(range.span, "the range")
                    .help("correct `max` or the range"),
            );
        }
    }
}

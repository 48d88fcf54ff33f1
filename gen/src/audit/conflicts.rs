//! Two accesses that conflict have a rule, and a rule is of two that can meet.
//!
//! Of one architecture are the kinds of access of its movements, its products and its tiled copies.
//! Two of them conflict if they are of one space and one of them writes: then the table says what
//! stands between. A rule of kinds that nothing of the architecture makes, or of two that read, is
//! of no use. What an instruction makes certain is the same wherever it stands: its immediates
//! are, but for those that count what is open. A counter is in order unless all that it counts is
//! unordered.
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::{Arch, HwModel, Step};
use crate::source::Span;
use lanebook_tables::{AccessId, AtomId, Space};
use std::collections::{BTreeMap, BTreeSet};

/// See the module.
#[must_use]
pub fn check(compiled: &Compiled) -> Diagnostics {
    let model = &compiled.model;
    let mut diags = Diagnostics::new();
    let mut seen = BTreeSet::new();
    for arch in model.archs.iter().filter(|arch| arch.whole) {
        let made = made(model, arch);
        covered(model, arch, &made, &mut seen, &mut diags);
        useful(model, arch, &made, &mut seen, &mut diags);
        counters(model, arch, &mut seen, &mut diags);
    }
    alike(model, &mut diags);
    super::paths::check(model, &mut diags);
    diags
}

/// Kinds of access that something of an architecture makes, and among them those of movements.
struct Made {
    all: BTreeSet<AccessId>,
    plain: BTreeSet<AccessId>,
}

fn made(model: &HwModel, arch: &Arch) -> Made {
    let has: BTreeSet<AtomId> = arch.atoms.iter().map(|entry| entry.atom).collect();
    let (mut all, mut plain) = (BTreeSet::new(), BTreeSet::new());
    for atom in has.iter().map(|id| model.atom(*id)) {
        let sides = atom.movement.iter().flat_map(|movement| [&movement.from, &movement.to]);
        plain.extend(sides.filter_map(|side| side.access));
        if let Some(more) = &atom.more {
            all.extend(more.shared.iter().map(|one| one.access));
            all.extend(more.runs);
            if let Some(one) = &more.tensor {
                all.extend([one.writes, one.reads, one.fetched, one.stores]);
                all.extend(one.a);
            }
        }
    }
    for (_, found) in model.units.tiled_moves.iter().filter(|(_, found)| has.contains(&found.atom))
    {
        plain.extend([found.from, found.to]);
    }
    all.extend(&plain);
    Made { all, plain }
}

fn name(model: &HwModel, id: AccessId) -> &str {
    &model.accesses[id.index()].name.value
}

fn reads(model: &HwModel, id: AccessId) -> bool {
    super::order::reads(name(model, id)) == Some(true)
}

fn covered(
    model: &HwModel,
    arch: &Arch,
    made: &Made,
    seen: &mut BTreeSet<(Span, u8)>,
    diags: &mut Diagnostics,
) {
    let space = |id: AccessId| model.accesses[id.index()].space;
    let known: BTreeSet<(AccessId, AccessId)> =
        arch.sync.iter().map(|rule| (rule.producer, rule.consumer)).collect();
    let memory = |id: &&AccessId| space(**id) != Space::Register;
    let ordered = |first: AccessId, second: AccessId| {
        super::paths::ordered(&model.accesses[first.index()], &model.accesses[second.index()])
    };
    for first in made.all.iter().filter(memory) {
        for second in made.all.iter().filter(memory) {
            let conflict =
                space(*first) == space(*second) && !(reads(model, *first) && reads(model, *second));
            if conflict
                && !ordered(*first, *second)
                && !known.contains(&(*first, *second))
                && seen.insert((arch.name.span, 0))
            {
                let message = format!(
                    "`{}` has `{}` and `{}`, and nothing says what stands between them",
                    arch.name.value,
                    name(model, *first),
                    name(model, *second)
                );
                diags.push(
                    Diagnostic::at(arch.name.span, message)
                        .note(model.accesses[first.index()].name.span, "the earlier")
                        .note(model.accesses[second.index()].name.span, "the later")
                        .help("add a rule to `sync`"),
                );
            }
        }
    }
}

fn useful(
    model: &HwModel,
    arch: &Arch,
    made: &Made,
    seen: &mut BTreeSet<(Span, u8)>,
    diags: &mut Diagnostics,
) {
    // A machine without movements is a new_arch_template.
    if made.plain.is_empty() {
        return;
    }
    for rule in &arch.sync {
        let (first, second) = (rule.producer, rule.consumer);
        let register =
            [first, second].iter().any(|id| model.accesses[id.index()].space == Space::Register);
        let strange = [first, second].into_iter().find(|id| !register && !made.all.contains(id));
        if let Some(id) = strange
            && seen.insert((rule.span, 1))
        {
            let message = format!(
                "nothing of `{}` makes accesses of kind `{}`",
                arch.name.value,
                name(model, id)
            );
            diags.push(
                Diagnostic::at(rule.span.head(), message)
                    .help("correct the kind, or remove the rule"),
            );
        }
        let space = |id: AccessId| model.accesses[id.index()].space;
        let both = space(first) == space(second) && reads(model, first) && reads(model, second);
        if (both || space(first) != space(second) && !register) && seen.insert((rule.span, 2)) {
            let message =
                format!("`{}` and `{}` do not conflict", name(model, first), name(model, second));
            diags.push(
                Diagnostic::at(rule.span.head(), message)
                    .help("accesses conflict in one space, if one of them writes: correct a kind"),
            );
        }
    }
}

/// What is counted in order, and what is not.
fn counters(
    model: &HwModel,
    arch: &Arch,
    seen: &mut BTreeSet<(Span, u8)>,
    diags: &mut Diagnostics,
) {
    for counter in &arch.counters {
        let mut counted = arch
            .atoms
            .iter()
            .map(|entry| model.atom(entry.atom))
            .filter(|atom| atom.counter.as_ref().is_some_and(|n| n.value == counter.name.value))
            .peekable();
        if counted.peek().is_none() {
            continue;
        }
        let ordered = counted.any(|atom| !atom.unordered);
        if ordered != counter.in_order && seen.insert((counter.name.span, 3)) {
            let message = format!(
                "counter `{}` is {}in order on `{}`, what it counts is {}",
                counter.name.value,
                if counter.in_order { "" } else { "not " },
                arch.name.value,
                if ordered { "in part" } else { "not" }
            );
            diags.push(
                Diagnostic::at(counter.name.span, message)
                    .help("correct `in_order`, or `unordered` of what it counts"),
            );
        }
    }
}

/// Every step of a table, a unit's too.
fn steps(model: &HwModel) -> impl Iterator<Item = &Step> {
    let of_archs = model.archs.iter().flat_map(|arch| &arch.sync).flat_map(|rule| &rule.steps);
    let published = model.units.mbarriers.iter().flat_map(|(_, found)| &found.publish);
    let last = model.units.tiled_moves.iter().flat_map(|(_, found)| &found.last);
    of_archs.chain(published).chain(last)
}

/// Immediates of an instruction are the same in all steps, but for what counters wait for.
fn alike(model: &HwModel, diags: &mut Diagnostics) {
    let counts: BTreeSet<(AtomId, &str)> = model
        .archs
        .iter()
        .flat_map(|arch| &arch.counters)
        .map(|counter| (counter.wait.value, counter.operand.value.as_str()))
        .collect();
    type Values = BTreeMap<i32, Vec<Span>>;
    let mut known: BTreeMap<(AtomId, &str), Values> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for step in steps(model).filter(|step| seen.insert(step.span)) {
        for (name, value) in &step.immediates {
            let key = (step.atom.value, name.as_str());
            if !counts.contains(&key) {
                known.entry(key).or_default().entry(*value).or_default().push(step.span);
            }
        }
    }
    for ((atom, name), values) in known {
        let mut list: Vec<(i32, Vec<Span>)> = values.into_iter().collect();
        list.sort_by_key(|(value, spans)| (std::cmp::Reverse(spans.len()), *value));
        let (Some((usual, of)), Some((odd, at))) = (list.first(), list.last()) else { continue };
        if let (Some(here), Some(there)) = (at.first(), of.first())
            && usual != odd
        {
            let message = format!(
                "`{name}` of `{}` is {odd} here and {usual} elsewhere",
                model.atom(atom).name.value
            );
            diags.push(Diagnostic::at(here.head(), message).note(there.head(), "elsewhere").help(
                "what a step makes certain does not depend on where it stands: correct one of them",
            ));
        }
    }
}

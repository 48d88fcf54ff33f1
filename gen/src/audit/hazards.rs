//! Wait states follow from how long an instruction runs.
//!
//! Tags that differ in one number alone (`mfma.4pass`, `mfma.8pass`) are a series: what runs longer
//! holds its registers longer, by the difference. So of one series, rows that are alike in all else
//! have wait states that differ as the numbers do, and a row that two of a series have all of them
//! have (unless it comes to nothing). A row with a note may depart by one state: some generations
//! have such steps. The factors of a product are read together: what holds for
//! one of them holds for the other. A row that another one covers says nothing. States of one
//! architecture are counted alike: in what stands between the two, or in some kinds of it.
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics, Level};
use crate::model::{Arch, Hazard, HwModel};
use crate::source::Span;
use lanebook_tables::{HazardUse, Role, TagId};
use std::collections::{BTreeMap, BTreeSet};

/// See the module.
#[must_use]
pub fn check(compiled: &Compiled) -> Diagnostics {
    let model = &compiled.model;
    let mut diags = Diagnostics::new();
    // What several architectures inherit is said once.
    let mut seen = BTreeSet::new();
    for arch in &model.archs {
        if arch.hazards.is_empty() || !seen.insert(arch.hazards.iter().map(|h| h.span).min()) {
            continue;
        }
        series(model, arch, &mut diags);
        factors(model, arch, &mut diags);
        covered(model, arch, &mut diags);
        waited(model, arch, &mut diags);
        flags(model, arch, &mut diags);
        overwritten(model, arch, &mut diags);
        shared(model, arch, &mut diags);
        counted(model, arch, &mut diags);
    }
    diags
}

/// A name with its only number taken out, and the number.
fn numbered(name: &str) -> Option<(String, i32)> {
    let start = name.find(|c: char| c.is_ascii_digit())?;
    let length = name[start..].find(|c: char| !c.is_ascii_digit()).unwrap_or(name.len() - start);
    let (number, rest) = name[start..].split_at(length);
    if rest.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    Some((format!("{}#{rest}", &name[..start]), number.parse().ok()?))
}

/// All of a row but its states, with a series in the place of the producer's tag.
type Row = (String, String, Option<String>, Option<String>, String, bool, Vec<TagId>);

fn row(model: &HwModel, hazard: &Hazard, producer: String) -> Row {
    (
        producer,
        model.tags[hazard.consumer.index()].name.value.clone(),
        hazard.operand.as_ref().map(|name| name.value.clone()),
        hazard.producer_operand.as_ref().map(|name| name.value.clone()),
        format!("{:?}", hazard.on),
        hazard.unless_same,
        hazard.counts.clone(),
    )
}

fn series(model: &HwModel, arch: &Arch, diags: &mut Diagnostics) {
    let mut rows: BTreeMap<Row, BTreeMap<i32, &Hazard>> = BTreeMap::new();
    let mut numbers: BTreeMap<String, BTreeMap<i32, &Hazard>> = BTreeMap::new();
    for hazard in arch.hazards.iter().filter(|hazard| hazard.wait.is_none()) {
        let name = &model.tags[hazard.producer.index()].name.value;
        let Some((stem, number)) = numbered(name) else { continue };
        numbers.entry(stem.clone()).or_default().entry(number).or_insert(hazard);
        let row = row(model, hazard, stem);
        if let Some(other) = rows.entry(row).or_default().insert(number, hazard) {
            diags.push(
                Diagnostic::at(hazard.span.head(), "this row is there twice")
                    .note(other.span.head(), "the first")
                    .help("keep the one with the right states"),
            );
        }
    }
    for (row, found) in &rows {
        let all = &numbers[&row.0];
        if found.len() < 2 {
            continue;
        }
        // The difference that most of them have is the row's.
        let mut differences: BTreeMap<i32, usize> = BTreeMap::new();
        for (number, hazard) in found {
            *differences.entry(i32::from(hazard.states) - number).or_default() += 1;
        }
        let Some((usual, _)) = differences.iter().max_by_key(|(_, count)| **count) else {
            continue;
        };
        for (number, hazard) in found {
            let wanted = number + usual;
            let apart = (i32::from(hazard.states) - wanted).abs();
            if apart > i32::from(hazard.noted) {
                let others: Vec<String> = found
                    .iter()
                    .filter(|(other, _)| *other != number)
                    .map(|(other, hazard)| format!("{} at {other}", hazard.states))
                    .collect();
                let message = format!(
                    "{} wait states behind `{}`: the other rows of the series have {}",
                    hazard.states,
                    model.tags[hazard.producer.index()].name.value,
                    others.join(", ")
                );
                diags.push(Diagnostic::at(hazard.span.head(), message).help(format!(
                    "what runs longer holds its registers longer by as much: {wanted} fits, or one more or less with a note that says why"
                )));
            }
        }
        for (number, hazard) in all.iter().filter(|(number, _)| !found.contains_key(number)) {
            if number + usual > 0 {
                let message = format!(
                    "`{}` has no row {}, as others of its series have",
                    model.tags[hazard.producer.index()].name.value,
                    told(row)
                );
                let first = found.values().next().map_or(hazard.span, |hazard| hazard.span);
                diags.push(
                    Diagnostic::at(hazard.span.head(), message)
                        .note(first.head(), "one of these")
                        .help(format!("add it, with {} states", number + usual)),
                );
            }
        }
    }
}

fn told(row: &Row) -> String {
    let (_, consumer, operand, producer_operand, on, unless_same, _) = row;
    let of = operand.as_ref().map_or(String::new(), |name| format!(", operand `{name}`"));
    let from =
        producer_operand.as_ref().map_or(String::new(), |name| format!(", from operand `{name}`"));
    let same = if *unless_same { ", unless same" } else { "" };
    format!("before `{consumer}`{of}{from} ({}){same}", on.to_lowercase())
}

/// A row about one factor stands there for the other, be it of the later product or of the earlier.
fn factors(model: &HwModel, arch: &Arch, diags: &mut Diagnostics) {
    for hazard in &arch.hazards {
        for earlier in [false, true] {
            factor(model, arch, hazard, earlier, diags);
        }
    }
}

fn factor(model: &HwModel, arch: &Arch, hazard: &Hazard, earlier: bool, diags: &mut Diagnostics) {
    let named = |one: &Hazard, earlier: bool| {
        let name = if earlier { &one.producer_operand } else { &one.operand };
        name.as_ref().map(|name| name.value.clone())
    };
    let tag = if earlier { hazard.producer } else { hazard.consumer };
    let Some(name) = named(hazard, earlier) else { return };
    let shape = arch
        .atoms
        .iter()
        .map(|entry| model.atom(entry.atom))
        .filter(|atom| atom.tags.contains(&tag))
        .find_map(|atom| Some((atom, atom.matrix.as_ref()?)));
    let Some((atom, shape)) = shape else { return };
    let operand = |number: u8| atom.operands.get(usize::from(number)).map(|o| &o.name.value);
    let (a, b) = (operand(shape.a), operand(shape.b));
    let other = match () {
        () if a == Some(&name) => b,
        () if b == Some(&name) => a,
        () => None,
    };
    let Some(other) = other else { return };
    let rest = |one: &Hazard| {
        let (_, consumer, _, _, on, same, counts) = row(model, one, String::new());
        (consumer, on, same, counts, named(one, !earlier))
    };
    let found = arch.hazards.iter().any(|one| {
        one.producer == hazard.producer
            && one.states == hazard.states
            && one.wait == hazard.wait
            && one.after == hazard.after
            && named(one, earlier).as_ref() == Some(other)
            && rest(one) == rest(hazard)
    });
    if !found {
        let message = format!(
            "operand `{name}` waits {} states here, operand `{other}` does not",
            hazard.states
        );
        diags.push(
            Diagnostic::at(hazard.span.head(), message)
                .help("the factors of a product are read together: give both the same row"),
        );
    }
}

/// A row that another one makes needless.
fn covered(model: &HwModel, arch: &Arch, diags: &mut Diagnostics) {
    let carriers = |tag: TagId| -> BTreeSet<usize> {
        let has = arch.atoms.iter().map(|entry| entry.atom);
        has.filter(|id| model.atom(*id).tags.contains(&tag)).map(|id| id.index()).collect()
    };
    let sets: BTreeMap<TagId, BTreeSet<usize>> = arch
        .hazards
        .iter()
        .flat_map(|hazard| [hazard.producer, hazard.consumer])
        .map(|tag| (tag, carriers(tag)))
        .collect();
    let name = |name: &Option<crate::schema::Name>| name.as_ref().map(|name| name.value.clone());
    for (at, hazard) in arch.hazards.iter().enumerate() {
        for (other_at, other) in arch.hazards.iter().enumerate() {
            let covers = at != other_at
                && hazard.wait.is_none()
                && other.wait.is_none()
                && other.after.is_none()
                && other.counts == hazard.counts
                && other.states >= hazard.states
                && sets[&hazard.producer].is_subset(&sets[&other.producer])
                && sets[&hazard.consumer].is_subset(&sets[&other.consumer])
                && (other.operand.is_none() || name(&other.operand) == name(&hazard.operand))
                && name(&other.producer_operand) == name(&hazard.producer_operand)
                && (other.on == HazardUse::Any || other.on == hazard.on)
                && (!other.unless_same || hazard.unless_same);
            if covers {
                diags.push(
                    Diagnostic::at(
                        hazard.span.head(),
                        format!(
                            "this row asks for {} states, where another asks for {} at least",
                            hazard.states, other.states
                        ),
                    )
                    .note(other.span.head(), "the other")
                    .help("correct the states or the tags of one, or remove this row")
                    .as_level(Level::Warning),
                );
                break;
            }
        }
    }
}

/// Rows of a series that differ in the producer alone are of one kind: what holds for one number of
/// passes holds for another.
fn flags(model: &HwModel, arch: &Arch, diags: &mut Diagnostics) {
    type Kinds<'m> = BTreeMap<i32, (Vec<(String, bool)>, &'m Hazard)>;
    let mut all: BTreeMap<(String, String, String), Kinds<'_>> = BTreeMap::new();
    for hazard in arch.hazards.iter().filter(|hazard| hazard.wait.is_none()) {
        let name = |tag: TagId| model.tags[tag.index()].name.value.as_str();
        let Some((stem, number)) = numbered(name(hazard.producer)) else { continue };
        let of = |name: &Option<crate::schema::Name>| {
            name.as_ref().map_or(String::new(), |name| name.value.clone())
        };
        let operands = format!("{} {}", of(&hazard.operand), of(&hazard.producer_operand));
        let kinds = all.entry((stem, name(hazard.consumer).to_string(), operands)).or_default();
        let entry = kinds.entry(number).or_insert_with(|| (Vec::new(), hazard));
        entry.0.push((format!("{:?}", hazard.on), hazard.unless_same));
        entry.0.sort();
    }
    for kinds in all.values() {
        let mut usual: BTreeMap<&Vec<(String, bool)>, usize> = BTreeMap::new();
        for (kind, _) in kinds.values() {
            *usual.entry(kind).or_default() += 1;
        }
        let most = usual.iter().max_by_key(|(_, count)| **count).map(|(kind, _)| *kind);
        let odd = kinds
            .values()
            .find(|(kind, _)| most.is_some_and(|most| most.len() == kind.len() && most != kind));
        if let Some((_, hazard)) = odd {
            diags.push(
                Diagnostic::at(hazard.span.head(), "this row is of another kind than those of its series")
                    .help("what holds behind one number of passes holds behind all: correct `on` or `unless_same`"),
            );
        }
    }
}

/// Rows with a wait: whatever stands between, each consumer of a producer waits, and in one use.
fn products(model: &HwModel, arch: &Arch, diags: &mut Diagnostics) {
    type Pairs = BTreeSet<(TagId, Option<TagId>)>;
    let mut all: BTreeMap<TagId, (Pairs, BTreeSet<String>, Span)> = BTreeMap::new();
    for hazard in arch.hazards.iter().filter(|hazard| hazard.wait.is_some()) {
        let entry = all
            .entry(hazard.producer)
            .or_insert_with(|| (BTreeSet::new(), BTreeSet::new(), hazard.span));
        entry.0.insert((hazard.consumer, hazard.after));
        entry.1.insert(format!("{:?}", hazard.on).to_lowercase());
    }
    for (producer, (pairs, uses, at)) in all {
        let consumers: BTreeSet<TagId> = pairs.iter().map(|pair| pair.0).collect();
        let afters: BTreeSet<Option<TagId>> = pairs.iter().map(|pair| pair.1).collect();
        let name = |tag: TagId| model.tags[tag.index()].name.value.as_str();
        if pairs.len() != consumers.len() * afters.len() || uses.len() > 1 {
            let message = format!(
                "rows of `{}` that wait are {} of {} pairs, when it is {}",
                name(producer),
                pairs.len(),
                consumers.len() * afters.len(),
                uses.into_iter().collect::<Vec<_>>().join(" or ")
            );
            diags.push(
                Diagnostic::at(at.head(), message)
                    .help("a wait is needed by each consumer, whatever stands between, in one use: add the row that is missing, or correct `on`"),
            );
        }
    }
}

/// A register that the earlier instruction only reads is in danger when it is overwritten.
fn overwritten(model: &HwModel, arch: &Arch, diags: &mut Diagnostics) {
    for hazard in &arch.hazards {
        let Some(name) = &hazard.producer_operand else { continue };
        let producers = arch.atoms.iter().map(|entry| model.atom(entry.atom));
        let mut roles = producers
            .filter(|atom| atom.tags.contains(&hazard.producer))
            .flat_map(|atom| &atom.operands)
            .filter(|operand| operand.name.value == name.value)
            .map(|operand| operand.role)
            .peekable();
        let reads = roles.peek().is_some() && roles.all(|role| role == Role::Use);
        if reads && hazard.on != HazardUse::Write {
            diags.push(
                Diagnostic::at(
                    hazard.span.head(),
                    format!(
                        "`{}` is only read by the first, and this row is of readers",
                        name.value
                    ),
                )
                .help("what reads it as well is in nobody's way: say `on: write`"),
            );
        }
    }
}

/// What the later instruction uses is a register of a class that the earlier one has.
fn shared(model: &HwModel, arch: &Arch, diags: &mut Diagnostics) {
    let of = |tag: TagId| {
        let atoms = arch.atoms.iter().map(|entry| model.atom(entry.atom));
        atoms.filter(move |atom| atom.tags.contains(&tag)).flat_map(|atom| &atom.operands)
    };
    let classes = |operand: &crate::model::Operand| {
        operand.class.into_iter().chain(operand.also.iter().copied()).collect::<Vec<_>>()
    };
    for hazard in &arch.hazards {
        let named = |name: &Option<crate::schema::Name>, operand: &crate::model::Operand| {
            name.as_ref().is_none_or(|name| name.value == operand.name.value)
        };
        let used = |role: Role| match hazard.on {
            HazardUse::Read => role != Role::Def,
            HazardUse::Write => matches!(role, Role::Def | Role::UseDef),
            _ => true,
        };
        let earlier: BTreeSet<_> = of(hazard.producer)
            .filter(|one| named(&hazard.producer_operand, one))
            .filter(|one| {
                hazard.producer_operand.is_some() || matches!(one.role, Role::Def | Role::UseDef)
            })
            .flat_map(classes)
            .collect();
        let later: BTreeSet<_> = of(hazard.consumer)
            .filter(|one| named(&hazard.operand, one) && used(one.role))
            .flat_map(classes)
            .collect();
        if !earlier.is_empty() && !later.is_empty() && earlier.is_disjoint(&later) {
            let message = format!(
                "`{}` uses no register so that `{}` has: no class is one of both",
                model.tags[hazard.consumer.index()].name.value,
                model.tags[hazard.producer.index()].name.value
            );
            diags.push(
                Diagnostic::at(hazard.span.head(), message)
                    .help("correct a tag, `on`, or an operand's name"),
            );
        }
    }
}

/// Rows that name an instruction to wait for are each there once, and wait for a producer in one
/// way.
fn waited(model: &HwModel, arch: &Arch, diags: &mut Diagnostics) {
    let mut known = BTreeMap::new();
    for hazard in arch.hazards.iter().filter(|hazard| hazard.wait.is_some()) {
        let producer = model.tags[hazard.producer.index()].name.value.clone();
        let key = (row(model, hazard, producer), hazard.after, hazard.wait);
        if let Some(first) = known.insert(key, hazard.span) {
            diags.push(
                Diagnostic::at(hazard.span.head(), "this wait is there twice")
                    .note(first.head(), "the first")
                    .help("correct the tags of one, or remove it"),
            );
        }
    }
    products(model, arch, diags);
    let mut ways = BTreeMap::new();
    for hazard in arch.hazards.iter().filter(|hazard| hazard.wait.is_some()) {
        let (way, first) = ways.entry(hazard.producer).or_insert((hazard.wait, hazard.span));
        if *way != hazard.wait {
            let name = &model.tags[hazard.producer.index()].name.value;
            diags.push(
                Diagnostic::at(hazard.span.head(), format!("`{name}` is waited for in two ways"))
                    .note(first.head(), "the other")
                    .help("what a producer writes is awaited by one instruction: correct `wait`"),
            );
        }
    }
}

/// What counts as a state is a matter of the machine, not of a row.
fn counted(model: &HwModel, arch: &Arch, diags: &mut Diagnostics) {
    let mut known: BTreeMap<BTreeSet<TagId>, Vec<&Hazard>> = BTreeMap::new();
    for hazard in arch.hazards.iter().filter(|hazard| hazard.wait.is_none()) {
        known.entry(hazard.counts.iter().copied().collect()).or_default().push(hazard);
    }
    let Some((usual, rows)) = known.iter().max_by_key(|(_, rows)| rows.len()) else { return };
    let names = |tags: &BTreeSet<TagId>| {
        let names = tags.iter().map(|tag| format!("`{}`", model.tags[tag.index()].name.value));
        if tags.is_empty() { "anything".into() } else { names.collect::<Vec<_>>().join(", ") }
    };
    for (counts, odd) in known.iter().filter(|(counts, _)| *counts != usual) {
        for hazard in odd {
            let message =
                format!("its states are counted in {}, others in {}", names(counts), names(usual));
            diags.push(
                Diagnostic::at(hazard.span.head(), message)
                    .note(rows[0].span.head(), "one of the others")
                    .help("a machine counts its states in one way: correct `counts`"),
            );
        }
    }
}

//! Tiled copies and mbarriers: their atoms have operands of the roles that they are used
//! in, and every architecture with the feature has these atoms.
use super::sync::{immediates_of, present};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::{Atom, HwModel};
use crate::schema::Name;
use crate::source::Span;
use lanebook_tables::{AtomId, FeatureId, RegisterKind, Role};

/// See the module.
#[must_use]
pub fn check(model: &HwModel) -> Diagnostics {
    let mut diags = Diagnostics::new();
    for (fact, found) in &model.units.tiled_moves {
        let (entry, atom) = (&fact.entry, model.atom(found.atom));
        let Some(map) =
            model.units.tensor_maps.iter().find(|map| map.entry.name.value == entry.map.value)
        else {
            let known = model.units.tensor_maps.iter().map(|map| map.entry.name.as_str());
            let help =
                lanebook_suggest::remedy(&entry.map, known, "declare it under `tensor_maps`");
            diags.push(
                Diagnostic::at(entry.map.span, format!("unknown tensor map `{}`", entry.map.value))
                    .help(help)
                    .lacks(&entry.map),
            );
            continue;
        };
        // An instruction has its coordinates in the order of the tensor's dimensions.
        let named: Vec<&str> = atom
            .template
            .iter()
            .filter_map(|piece| match piece {
                crate::template::Piece::Name(name) => Some(name.as_str()),
                _ => None,
            })
            .collect();
        let operand = |number: &u8| atom.operands.get(usize::from(*number));
        let places = found.at.iter().filter_map(operand);
        let places: Vec<Option<usize>> =
            places.map(|one| named.iter().position(|name| *name == one.name.value)).collect();
        if !places.is_sorted() {
            diags.push(
                Diagnostic::at(entry.at.span, "coordinates in another order than in the text")
                    .note(atom.template_span, "the text")
                    .help("the first is that along which elements lie side by side: order `at` as the text does"),
            );
        }
        let (least, most) = map.entry.rank;
        if found.at.len() < usize::from(least) || found.at.len() > usize::from(most) {
            let message = format!(
                "{} coordinates, `{}` has {least} to {most} dimensions",
                found.at.len(),
                entry.map.value
            );
            diags.push(
                Diagnostic::at(entry.at.span, message)
                    .note(map.entry.name.span, "the map")
                    .help("name one operand for each dimension"),
            );
        }
        role(model, (atom, ROLES), found.on, &[Role::Use], true, entry.on.span, &mut diags);
        let addresses = [Some(found.shared), Some(found.tensor), found.signal];
        for address in addresses.into_iter().flatten() {
            role(
                model,
                (atom, ROLES),
                address,
                &[Role::Address],
                false,
                entry.name.span,
                &mut diags,
            );
        }
        for at in &found.at {
            role(model, (atom, ROLES), *at, &[Role::Use], false, entry.at.span, &mut diags);
        }
        let mut named: Vec<u8> = vec![found.on, found.shared, found.tensor];
        named.extend(found.at.iter().copied().chain(found.signal));
        let all = named.len();
        named.sort_unstable();
        named.dedup();
        if named.len() != all && found.at.len() <= usize::from(most) {
            diags.push(
                Diagnostic::at(entry.name.span, "one operand is named for two things")
                    .note(atom.name.span, "the atom")
                    .help("name each of its operands once"),
            );
        }
        let used = found.at.len() + 3 + usize::from(found.signal.is_some());
        if used != atom.operands.len() {
            let message = format!(
                "`{}` has {} operands, {used} are named",
                atom.name.value,
                atom.operands.len()
            );
            diags.push(
                Diagnostic::at(entry.atom.span, message)
                    .note(atom.name.span, "the atom")
                    .help("name each of its operands once"),
            );
        }
        if found.signal.is_none() == found.last.is_empty() {
            let message = match found.signal {
                None => "nothing says when this copy has read its source",
                Some(_) => "two things say when this copy is through",
            };
            diags.push(
                Diagnostic::at(entry.name.span, message).help(
                    "name the operand `signal`, or the steps before the kernel's end: `last`",
                ),
            );
        }
        for step in &found.last {
            immediates_of(model, step, &mut diags);
        }
        let mut atoms = vec![(found.atom, entry.atom.span)];
        atoms.extend(found.last.iter().map(|step| (step.atom.value, step.atom.span)));
        had(model, fact.feature, &atoms, &mut diags);
    }
    for (fact, found) in &model.units.mbarriers {
        let entry = &fact.entry;
        if !entry.bytes.is_power_of_two() || entry.most_bytes == 0 {
            diags.push(
                Diagnostic::at(entry.name.span, "the object has no size or counts nothing")
                    .help("`bytes` is a power of two, `most_bytes` at least 1"),
            );
        }
        type Roles<'r> = [(&'r [Role], bool)];
        let made: &Roles<'_> =
            &[(&[Role::Use], true), (&[Role::Address], false), (&[Role::Use], false)];
        let waited: &Roles<'_> = &[(&[Role::Address], false), (&[Role::Use], false)];
        for (name, atom, roles) in [
            (&entry.init, found.init, made),
            (&entry.expect, found.expect, made),
            (&entry.wait, found.wait, waited),
        ] {
            let atom = model.atom(atom);
            if atom.operands.len() != roles.len() {
                diags.push(
                    Diagnostic::at(
                        name.span,
                        format!(
                            "`{}` has {} operands, not {}",
                            name.value,
                            atom.operands.len(),
                            roles.len()
                        ),
                    )
                    .note(atom.name.span, "the atom")
                    .help(WANTED),
                );
                continue;
            }
            for (number, (roles, predicate)) in (0u8..).zip(roles) {
                role(model, (atom, WANTED), number, roles, *predicate, name.span, &mut diags);
            }
        }
        for step in &found.publish {
            immediates_of(model, step, &mut diags);
        }
        let named = |name: &Name, atom: AtomId| (atom, name.span);
        let mut atoms = vec![
            named(&entry.init, found.init),
            named(&entry.expect, found.expect),
            named(&entry.wait, found.wait),
        ];
        atoms.extend(found.publish.iter().map(|step| (step.atom.value, step.atom.span)));
        had(model, fact.feature, &atoms, &mut diags);
    }
    for (fact, found) in &model.units.specializations {
        specialization(model, fact, found, &mut diags);
    }
    diags
}

/// Atoms of warps that are set aside: numbers and addresses where they are expected, in the ranges
/// that the fact says.
fn specialization(
    model: &HwModel,
    fact: &crate::model::units::Fact<crate::schema::unit::WarpSpecialization>,
    found: &crate::model::units::Specialization,
    diags: &mut Diagnostics,
) {
    let entry = &fact.entry;
    let (least, most, step) = entry.registers;
    let is_even = |n: u16| step > 0 && n.is_multiple_of(step);
    if entry.threads == 0 || least > most || !is_even(least) || !is_even(most) {
        diags.push(
            Diagnostic::at(
                entry.name.span,
                "nobody is set aside, or with registers that cannot be",
            )
            .help("`threads` is 1 or more; `registers`: fewest, most, of what both are multiples"),
        );
    }
    // All threads of a block meet at another one.
    let barriers = model.archs.iter().flat_map(|arch| &arch.sync).flat_map(|rule| &rule.steps);
    let number = i64::from(entry.number);
    let shared = barriers
        .filter(|step| step.barrier)
        .find(|step| step.immediates.values().any(|value| i64::from(*value) == number));
    if let Some(step) = shared {
        let message = format!("all threads of a block meet at barrier {number} as well");
        diags.push(
            Diagnostic::at(entry.name.span, message)
                .note(step.span.head(), "there")
                .help("number it otherwise: those that are set aside never come"),
        );
    }
    let resized = model.atom(found.resize).operands.iter().find(|o| o.role == Role::Immediate);
    let takes = resized.and_then(|operand| operand.range.as_ref()).map(|range| range.value);
    if takes.is_some_and(|takes| takes != (i64::from(least), i64::from(most))) {
        diags.push(
            Diagnostic::at(entry.resize.span, "the atom takes other numbers of registers")
                .help("`registers` begins with the fewest and the most that it takes"),
        );
    }
    let numbers: [&[(u32, u32)]; 2] = [
        &[(entry.number.into(), entry.number.into()), (entry.threads.into(), entry.threads.into())],
        &[(least.into(), most.into()), (0, 1)],
    ];
    let [barrier, registers] = numbers;
    for (name, atom, ranges, addresses) in [
        (&entry.barrier, found.barrier, barrier, 0),
        (&entry.arrive, found.arrive, &[][..], 1),
        (&entry.resize, found.resize, registers, 0),
    ] {
        let atom = model.atom(atom);
        let own = |role: Role| atom.operands.iter().filter(move |o| o.role == role);
        let fits = own(Role::Immediate).count() == ranges.len()
            && own(Role::Address).count() == addresses
            && atom.operands.len() == ranges.len() + addresses
            && own(Role::Immediate).zip(ranges).all(|(operand, (low, high))| {
                operand.range.as_ref().is_some_and(|range| {
                    range.value.0 <= i64::from(*low) && i64::from(*high) <= range.value.1
                })
            });
        if !fits {
            let message = format!("`{}` does not take what it is to be given", name.value);
            diags.push(
                Diagnostic::at(name.span, message).note(atom.name.span, "the atom").help(
                    "barrier takes (number, threads), arrive (address), resize (registers, one of two words): numbers in their ranges",
                ),
            );
        }
    }
    let named = |name: &Name, atom: AtomId| (atom, name.span);
    let atoms = [
        named(&entry.barrier, found.barrier),
        named(&entry.arrive, found.arrive),
        named(&entry.resize, found.resize),
    ];
    had(model, fact.feature, &atoms, diags);
}

const ROLES: &str = "`on` is a predicate that is read, `shared`, `tensor` and `signal` are addresses, `at` are numbers";
const WANTED: &str = "init takes (predicate, address, arrivals), expect (predicate, address, bytes), wait (address, parity)";

/// Architectures with the feature have the atoms.
fn had(model: &HwModel, feature: FeatureId, atoms: &[(AtomId, Span)], diags: &mut Diagnostics) {
    for arch in model.archs.iter().filter(|arch| arch.features.contains(&feature)) {
        for (atom, span) in atoms {
            present(model, arch, *atom, *span, diags);
        }
    }
}

fn role(
    model: &HwModel,
    (atom, help): (&Atom, &str),
    number: u8,
    roles: &[Role],
    predicate: bool,
    at: Span,
    diags: &mut Diagnostics,
) {
    let Some(operand) = atom.operands.get(usize::from(number)) else { return };
    let kind = operand
        .class
        .and_then(|class| model.isa(atom.isa).classes.get(class.index()))
        .map(|class| class.kind);
    if !roles.contains(&operand.role) || (kind == Some(RegisterKind::Predicate)) != predicate {
        let what = if predicate {
            "a predicate that is read"
        } else {
            "a number or an address in the role that it is named for"
        };
        diags.push(
            Diagnostic::at(
                at,
                format!("operand `{}` of `{}` is not {what}", operand.name.value, atom.name.value),
            )
            .note(operand.name.span, "the operand")
            .help(help),
        );
    }
}

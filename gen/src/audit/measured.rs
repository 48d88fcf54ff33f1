//! What was measured on a machine is what the tables say now.
//!
//! `measured` keeps what machines answered: for each fact its text ([`crate::fact`]) as it was when
//! the machine did what it says. A fact that is another now has not been measured. And a fact that
//! cites a machine of which such answers are kept has one among them.
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics, Level};
use crate::fact::{self, Fact};
use crate::model::status::{Cited, Says};
use crate::model::{Arch, HwModel};
use crate::schema::{Measured, MeasuredFact, Name};
use crate::source::Span;
use crate::spanned::Spanned;
use lanebook_tables::{ArchId, AtomFilter, Instance, SourceId, Tables};
use std::collections::{BTreeMap, BTreeSet};

/// How the record is made.
const REMEDY: &str = "correct the fact; or measure the new one: `cargo run --release -p lanebook-gpu -- facts --keep KEY` prints the record";

/// The kinds of facts that are kept.
const KINDS: [&str; 7] = ["product", "movement", "banks", "swizzle", "corner", "edge", "sums"];

/// See the module.
#[must_use]
pub fn check(compiled: &Compiled) -> Diagnostics {
    let mut diags = Diagnostics::new();
    let mut asked = Asked::default();
    for one in &compiled.loaded.measured {
        if let Some(known) = Known::of(compiled, one, &mut diags) {
            known.hold(compiled, one, &mut asked, &mut diags);
        }
    }
    cited(&compiled.model, &asked, &mut diags);
    diags
}

/// Facts that some machine was asked about, by where they stand.
#[derive(Default)]
struct Asked {
    of: BTreeMap<SourceId, BTreeSet<Span>>,
}

/// The facts of one architecture and kind as they are now, by name, each with its place.
struct Known {
    machine: SourceId,
    facts: BTreeMap<String, (Fact, Vec<Span>)>,
}

impl Known {
    fn of(compiled: &Compiled, one: &Spanned<Measured>, diags: &mut Diagnostics) -> Option<Self> {
        let (model, tables) = (&compiled.model, compiled.tables());
        let machine = model.sources.iter().position(|doc| doc.key.value == one.source.value);
        let machine = machine.filter(|at| model.sources[*at].hardware);
        let Some(machine) = machine.and_then(|at| u16::try_from(at).ok()) else {
            let message = format!("`{}` is no machine", *one.source);
            diags.push(
                Diagnostic::at(one.source.span, message)
                    .help("name a source that has `hardware: true`")
                    .lacks(&one.source),
            );
            return None;
        };
        let arch = model.archs.iter().find(|arch| arch.name.value == one.arch.value);
        let (Some(arch), Some(id)) = (arch, tables.arch_named(&one.arch)) else {
            let message = format!("facts were measured of `{}`, which is not there", *one.arch);
            diags.push(Diagnostic::at(one.arch.span, message).help(REMEDY).lacks(&one.arch));
            return None;
        };
        if !KINDS.contains(&one.kind.as_str()) {
            let message = format!("no facts of the kind `{}` are measured", *one.kind);
            diags.push(
                Diagnostic::at(one.kind.span, message).help(format!("one of {}", KINDS.join(", "))),
            );
            return None;
        }
        let facts = match one.kind.as_str() {
            "swizzle" | "corner" | "edge" => of_units(model, &tables, id, &one.kind),
            kind => of_atoms(model, &tables, (id, arch), kind),
        };
        Some(Self { machine: SourceId(machine), facts })
    }

    fn hold(
        &self,
        compiled: &Compiled,
        one: &Measured,
        asked: &mut Asked,
        diags: &mut Diagnostics,
    ) {
        for row in &one.rows {
            let Some((fact, places)) = self.facts.get(row.name.as_str()) else {
                let message =
                    format!("no {} of `{}` is called `{}`", *one.kind, *one.arch, *row.name);
                // Nothing is wrong with what is not there; other architectures may have it.
                asked.of.entry(self.machine).or_default().extend(elsewhere(compiled, &row.name));
                diags.push(
                    Diagnostic::at(row.name.span, message)
                        .help(REMEDY)
                        .lacks(&row.name)
                        .as_level(Level::Warning),
                );
                continue;
            };
            asked.of.entry(self.machine).or_default().extend(places);
            differs(one, row, fact, places, diags);
        }
    }
}

/// What of a fact is another now.
fn differs(
    one: &Measured,
    row: &MeasuredFact,
    now: &Fact,
    places: &[Span],
    diags: &mut Diagnostics,
) {
    // Names of both: what is only measured has gone, what is only said has not been measured.
    let names: BTreeSet<&String> = row.fact.keys().chain(now.keys()).collect();
    for name in names {
        let (then, now) = (row.fact.get(name), now.get(name));
        if then.map(|then| then.as_str()) == now.map(String::as_str) {
            continue;
        }
        let or_none =
            |text: Option<&str>| text.map_or("nothing".into(), |text| format!("`{text}`"));
        let message = format!(
            "`{name}` of `{}` is {}; on `{}` it was measured as {}",
            *row.name,
            or_none(now.map(String::as_str)),
            *one.source,
            or_none(then.map(|then| then.as_str()))
        );
        let place = places.first().copied().unwrap_or(row.name.span);
        let mut found = Diagnostic::at(place, message).help(REMEDY);
        if place != row.name.span {
            found = found.note(then.map_or(row.name.span, |then| then.span), "what was measured");
        }
        diags.push(found);
    }
}

/// The instruction of any architecture that is called so.
fn elsewhere(compiled: &Compiled, name: &str) -> Option<Span> {
    let tables = compiled.tables();
    let mut all = tables.list_atoms(None, AtomFilter::ALL).map(|(_, atom)| atom);
    let found = all.find(|atom| {
        let mut instances = (0..atom.instances()).filter_map(|number| atom.instance(number));
        instances.any(|instance| fact::name(&instance) == name)
    })?;
    let own = found.name().to_string();
    let mut atoms = compiled.model.atoms.iter();
    atoms.find(|atom| atom.name.value == own).map(|atom| atom.name.span)
}

/// Facts of instructions of an architecture.
fn of_atoms(
    model: &HwModel,
    tables: &Tables<'_>,
    (id, arch): (ArchId, &Arch),
    kind: &str,
) -> BTreeMap<String, (Fact, Vec<Span>)> {
    let by_name: BTreeMap<&str, Span> = arch
        .atoms
        .iter()
        .filter_map(|entry| model.atoms.get(entry.atom.index()))
        .map(|atom| (atom.name.value.as_str(), atom.name.span))
        .collect();
    let mut out = BTreeMap::new();
    for (_, atom) in tables.list_atoms(Some(id), AtomFilter::ALL) {
        let Some(place) = by_name.get(&*atom.name().to_string()) else { continue };
        for instance in (0..atom.instances()).filter_map(|number| atom.instance(number)) {
            if let Some((fact, more)) = of_instance(tables, &instance, (id, arch), kind) {
                let places = more.into_iter().chain([*place]).collect();
                out.insert(fact::name(&instance), (fact, places));
            }
        }
    }
    out
}

fn of_instance(
    tables: &Tables<'_>,
    instance: &Instance<'_>,
    (id, arch): (ArchId, &Arch),
    kind: &str,
) -> Option<(Fact, Option<Span>)> {
    let movement = instance.atom.movement;
    match kind {
        "product" => Some((fact::product(tables, instance)?, None)),
        "movement" => Some((fact::movement(movement?)?, None)),
        "sums" => Some((fact::sums(instance)?, None)),
        _ => {
            let name = &*fact::shared(movement?)?.banks;
            let model = tables.arch(id)?.banks.iter().find(|model| model.name == name)?;
            let place = arch.banks.iter().find(|bank| bank.name.value == name)?;
            Some((fact::banks(model), Some(place.name.span)))
        }
    }
}

/// Facts of units of an architecture.
fn of_units(
    model: &HwModel,
    tables: &Tables<'_>,
    id: ArchId,
    kind: &str,
) -> BTreeMap<String, (Fact, Vec<Span>)> {
    let Some(arch) = tables.arch(id) else { return BTreeMap::new() };
    let mut out = BTreeMap::new();
    for map in fact::tensor_maps(tables, arch) {
        let of_maps = match kind {
            "corner" => Some(fact::corner(map)),
            "edge" => Some(fact::edge(map)),
            _ => None,
        };
        if let Some(fact) = of_maps {
            let mut maps = model.units.tensor_maps.iter().map(|map| &map.entry.name);
            let place = maps.find(|name| name.value == map.name).map(|name| name.span);
            for way in ["load", "store"] {
                let name = format!("{} {way}", map.name);
                out.insert(name, (fact.clone(), place.into_iter().collect()));
            }
            continue;
        }
        for mode in tables.units.swizzles {
            let mut modes = model.units.swizzles.iter().map(|mode| &mode.entry.name);
            let place = modes.find(|name| name.value == mode.name).map(|name| name.span);
            if let Some(fact) = fact::swizzle(mode, map.encoding)
                && arch.features.contains(&mode.feature)
            {
                out.insert(mode.name.to_string(), (fact, place.into_iter().collect()));
            }
        }
    }
    out
}

/// Facts that cite a machine of which answers are kept, and are in none of them.
fn cited(model: &HwModel, asked: &Asked, diags: &mut Diagnostics) {
    let mut hold = |name: &Name, sources: &Cited| {
        for (source, _) in sources.each().filter(|(_, says)| *says != Says::Like) {
            let Some(known) = asked.of.get(&source) else { continue };
            let Some(doc) = model.sources.get(source.index()) else { continue };
            if !known.contains(&name.span) {
                let message = format!(
                    "`{}` cites the machine `{}`, which was not asked about it",
                    **name, *doc.key
                );
                diags.push(
                    Diagnostic::at(name.span, message)
                        .help("measure it, or do without the source; `~` before it: the machine answered for something like it")
                        .lacks(name),
                );
            }
        }
    };
    model.atoms.iter().for_each(|atom| hold(&atom.name, &atom.sources));
    let mut seen = BTreeSet::new();
    for bank in model.archs.iter().flat_map(|arch| &arch.banks) {
        if seen.insert(bank.name.span) {
            hold(&bank.name, &bank.sources);
        }
    }
    model.units.swizzles.iter().for_each(|mode| hold(&mode.entry.name, &mode.sources));
    model.units.tensor_maps.iter().for_each(|map| hold(&map.entry.name, &map.sources));
}

//! `lanebook diff`: what one architecture has and another has not, figure by figure and atom by
//! atom.
use super::arch::flushed;
use super::atoms::class;
use crate::args::{Diff, TableFormat};
use crate::output;
use crate::tables::{arch, counted};
use lanebook_gen::new_arch_template::ranges;
use lanebook_report::problem::Problems;
use lanebook_report::table::{Align, Table};
use lanebook_tables::{Arch, AtomClass, Isa, Tables};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Runs the command.
pub fn run(args: &Diff, tables: &Tables<'_>) -> Result<(), Problems> {
    let (_, first, first_isa) = arch(tables, &args.first)?;
    let (_, second, second_isa) = arch(tables, &args.second)?;
    let figures = figures(tables, (first, first_isa), (second, second_isa));
    let (atoms, counts) = atoms(tables, first, second);
    if args.format != TableFormat::Text {
        return Ok(output::write(None, &written(args, &figures, &atoms))?);
    }
    let mut out = String::new();
    if !figures.is_empty() {
        out.push_str("figures\n");
    }
    for (key, a, b) in &figures {
        let shown = |text: &String| if text.is_empty() { "-".to_string() } else { text.clone() };
        let width = first.name.len().max(second.name.len());
        let _ = writeln!(
            out,
            "  {key}\n    {:<width$}  {}\n    {:<width$}  {}",
            first.name,
            shown(a),
            second.name,
            shown(b)
        );
    }
    if !atoms.rows().is_empty() {
        out.push_str(&counts);
        out.push_str(&atoms.render(2));
    }
    if out.is_empty() {
        let _ = writeln!(out, "{} and {} have the same figures and atoms", first.name, second.name);
    }
    Ok(output::write(None, &out)?)
}

/// Both lists as JSON, or as one table.
fn written(args: &Diff, figures: &[(String, String, String)], atoms: &Table) -> String {
    if args.format == TableFormat::Json {
        let figures: Vec<_> = figures
            .iter()
            .map(|(key, a, b)| serde_json::json!({ "figure": key, "first": a, "second": b }))
            .collect();
        let value = serde_json::json!({
            "first": args.first, "second": args.second, "figures": figures, "atoms": atoms.json(),
        });
        return format!("{value:#}\n");
    }
    let mut table = Table::new(&[
        ("KIND", Align::Left),
        ("NAME", Align::Left),
        ("FIRST", Align::Left),
        ("SECOND", Align::Left),
    ]);
    for (key, a, b) in figures {
        table.row(["figure".to_string(), key.clone(), a.clone(), b.clone()]);
    }
    for row in atoms.rows() {
        let [name, _, said] = row.as_slice() else { continue };
        let side = |arch: &String| {
            if said.ends_with(arch.as_str()) { said.clone() } else { String::new() }
        };
        table.row(["atom".to_string(), name.clone(), side(&args.first), side(&args.second)]);
    }
    table.csv()
}

/// Everything about an architecture but its atoms, by what it is called.
fn described(tables: &Tables<'_>, arch: &Arch<'_>, isa: &Isa<'_>) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    let mut line = |key: &str, value: String| out.insert(key.to_string(), value);
    line("vendor", arch.vendor.into());
    line("instruction set", isa.name.into());
    line("text version", arch.isa_version.into());
    line("wave lanes", format!("{:?}", arch.wave_lanes));
    line("threads of a group", arch.max_threads.to_string());
    line(
        "shared memory",
        format!("{} B, {} B statically", arch.shared.max_bytes, arch.shared.static_bytes),
    );
    line("inline integers", format!("{} to {}", arch.inline_integers.0, arch.inline_integers.1));
    line("scalar reads", arch.scalar_reads.to_string());
    line("flushed by matrix instructions", flushed(tables, arch));
    for model in arch.banks {
        let groups: Vec<String> = model.groups.iter().map(|mask| ranges(*mask)).collect();
        let shown = if groups.len() > 4 {
            format!("{} | ... ({} groups)", groups[..2].join(" | "), groups.len())
        } else {
            groups.join(" | ")
        };
        line(
            &format!("banks {}", model.name),
            format!(
                "{} of {} B, {shown} ({})",
                model.banks,
                model.bank_bytes,
                model.status.words()
            ),
        );
    }
    for counter in arch.counters {
        let order = if counter.in_order { "in order" } else { "in any order" };
        line(
            &format!("counter {}", counter.name),
            format!(
                "to {}, {order}, {}",
                counter.max,
                tables.atom(counter.wait).map_or("?", |atom| atom.name())
            ),
        );
    }
    let access =
        |id: lanebook_tables::AccessId| tables.accesses.get(id.index()).copied().unwrap_or("?");
    for rule in arch.sync {
        let steps: Vec<String> = rule
            .steps
            .iter()
            .map(|step| {
                let values: Vec<String> = step.immediates.iter().map(i32::to_string).collect();
                let name = tables.atom(step.atom).map_or("?", |atom| atom.name());
                if values.is_empty() {
                    name.to_string()
                } else {
                    format!("{name} {}", values.join(" "))
                }
            })
            .collect();
        let text = if steps.is_empty() { "nothing".to_string() } else { steps.join("; ") };
        line(&format!("sync {} -> {}", access(rule.producer), access(rule.consumer)), text);
    }
    let tag = |id: lanebook_tables::TagId| tables.tags.get(id.index()).copied().unwrap_or("?");
    let mut hazards: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for hazard in arch.hazards {
        let how = match hazard.wait.and_then(|atom| tables.atom(atom)) {
            Some(atom) => atom.name().to_string(),
            None => format!("{} states", hazard.states),
        };
        let all = hazards
            .entry(format!("wait {} -> {}", tag(hazard.producer), tag(hazard.consumer)))
            .or_default();
        if !all.contains(&how) {
            all.push(how);
        }
    }
    out.extend(hazards.into_iter().map(|(key, how)| (key, how.join(", "))));
    out.extend(units(tables, arch));
    out
}

/// What the facts about matrix units and tiled copies say of an architecture, by name.
fn units(tables: &Tables<'_>, arch: &Arch<'_>) -> BTreeMap<String, String> {
    let of = &tables.units;
    let has = |feature: lanebook_tables::FeatureId| arch.features.contains(&feature);
    let mut lists: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut add = |what: &'static str, name: String| lists.entry(what).or_default().push(name);
    of.swizzles.iter().filter(|s| has(s.feature)).for_each(|s| add("swizzle modes", s.name.into()));
    of.descriptors
        .iter()
        .filter(|d| has(d.feature))
        .for_each(|d| add("descriptors", d.name.into()));
    of.operand_tiles
        .iter()
        .filter(|t| has(t.feature))
        .for_each(|t| add("tiles of operands", t.name.into()));
    let memory = |m: &lanebook_tables::TensorMemory<'_>| {
        format!("{} lanes of {} columns", m.lanes, m.columns)
    };
    of.tensor_memories
        .iter()
        .filter(|m| has(m.feature))
        .for_each(|m| add("tensor memory", memory(m)));
    of.tensor_tiles
        .iter()
        .filter(|t| has(t.feature))
        .for_each(|t| add("tiles of tensor memory", t.name.into()));
    of.tensor_moves
        .iter()
        .filter(|m| has(m.feature))
        .for_each(|m| add("loads of tensor memory", m.name.into()));
    for shape in of.shapes.iter().filter(|s| has(s.feature)) {
        let form = [
            (shape.blocks > 1, " of pairs"),
            (shape.stationary, " stationary"),
            (shape.sparse, " sparse"),
        ];
        let form: String = form.iter().filter(|(is, _)| *is).map(|(_, word)| *word).collect();
        let depth: Vec<String> = shape.k.iter().map(u16::to_string).collect();
        add("products by descriptors", format!("{}{form} k{}", shape.kind, depth.join("/")));
    }
    for map in of.tensor_maps.iter().filter(|m| has(m.feature)) {
        map.elements.iter().for_each(|e| add("elements of tensor maps", e.name.into()));
    }
    of.order_limits
        .iter()
        .filter(|l| has(l.feature))
        .for_each(|l| add("limits of orders", l.name.into()));
    of.map_limits
        .iter()
        .filter(|l| has(l.feature))
        .for_each(|l| add("limits of tiled copies", l.name.into()));
    lists.into_iter().map(|(what, names)| (what.to_string(), names.join(", "))).collect()
}

/// The figures that differ: name, of the first, of the second.
fn figures(
    tables: &Tables<'_>,
    first: (&Arch<'_>, &Isa<'_>),
    second: (&Arch<'_>, &Isa<'_>),
) -> Vec<(String, String, String)> {
    let (a, b) = (described(tables, first.0, first.1), described(tables, second.0, second.1));
    let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let of =
        |map: &BTreeMap<String, String>, key: &String| map.get(key).cloned().unwrap_or_default();
    keys.into_iter()
        .filter(|key| a.get(*key) != b.get(*key))
        .map(|key| (key.clone(), of(&a, key), of(&b, key)))
        .collect()
}

/// The atoms that one has and the other has not, or not alike; and how many there are, in words.
fn atoms(tables: &Tables<'_>, first: &Arch<'_>, second: &Arch<'_>) -> (Table, String) {
    let listed = |arch: &Arch<'_>| -> BTreeMap<String, (AtomClass, bool)> {
        let all = tables.list_own(arch);
        all.map(|(have, atom)| (atom.name().to_string(), (atom.class, have.native))).collect()
    };
    let (a, b) = (listed(first), listed(second));
    let mut table = Table::new(&[
        ("ATOM", Align::Left),
        ("CLASS", Align::Left),
        ("ONLY OR OTHERWISE ON", Align::Left),
    ]);
    let (mut only_a, mut only_b, mut other) = (0, 0, 0);
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    for name in names {
        let (kind, said) = match (a.get(name), b.get(name)) {
            (Some((kind, _)), None) => {
                only_a += 1;
                (*kind, format!("only {}", first.name))
            }
            (None, Some((kind, _))) => {
                only_b += 1;
                (*kind, format!("only {}", second.name))
            }
            (Some((kind, x)), Some((_, y))) if x != y => {
                other += 1;
                (
                    *kind,
                    format!(
                        "expanded by the assembler of {}",
                        if *x { second.name } else { first.name }
                    ),
                )
            }
            _ => continue,
        };
        table.row([name.clone(), class(kind).into(), said]);
    }
    let counts = format!(
        "atoms: {} only on {}, {} only on {}, {other} on both but not alike, {} alike\n",
        only_a,
        first.name,
        only_b,
        second.name,
        counted(a.len() - only_a - other, "atom")
    );
    (table, counts)
}

//! `lanebook arch`: an architecture's figures.
use super::atoms::keys;
use crate::args::{ArchArgs, TableFormat};
use crate::output;
use crate::tables::{arch, counted, known_archs};
use lanebook_report::problem::{Problem, Problems};
use lanebook_report::table::{Align, Table};
use lanebook_tables::{Arch, BankModel, Isa, Tables};
use std::fmt::Write;

/// Element types whose subnormal numbers matrix instructions take as zero.
pub(super) fn flushed(tables: &Tables<'_>, arch: &Arch<'_>) -> String {
    let names: Vec<&str> =
        arch.flushed.iter().filter_map(|id| tables.dtype(*id)).map(|d| d.name).collect();
    names.join(", ")
}

/// Runs the command.
pub fn run(args: &ArchArgs, tables: &Tables<'_>) -> Result<(), Problems> {
    let out = match &args.arch {
        None => args.format.of(&list(tables)),
        Some(name) => {
            let (_, arch, isa) = arch(tables, name)?;
            let found = figures(tables, arch, isa);
            match args.format {
                TableFormat::Text => found.text(),
                TableFormat::Json => format!("{:#}\n", found.json()),
                TableFormat::Csv => {
                    return Err(Problem::usage(
                        "an architecture's figures are several tables",
                        "write --format json, or name no architecture for a table of all",
                    )
                    .into());
                }
            }
        }
    };
    Ok(output::write(None, &out)?)
}

fn list(tables: &Tables<'_>) -> Table {
    let mut table = Table::new(&[
        ("ARCH", Align::Left),
        ("VENDOR", Align::Left),
        ("ISA", Align::Left),
        ("WAVE", Align::Right),
        ("SHARED", Align::Right),
        ("ATOMS", Align::Right),
    ]);
    for name in known_archs(tables) {
        let Some(arch) = tables.arch_named(name).and_then(|id| tables.arch(id)) else { continue };
        let isa = tables.isa(arch.isa).map_or("?", |isa| isa.name);
        table.row([
            arch.name.into(),
            arch.vendor.into(),
            isa.into(),
            waves(arch),
            format!("{} KiB", arch.shared.max_bytes / 1024),
            arch.atoms.len().to_string(),
        ]);
    }
    table
}

/// Everything about an architecture: single figures, then tables.
struct Figures {
    lines: Vec<(&'static str, String)>,
    tables: Vec<(&'static str, Table)>,
}

impl Figures {
    fn text(&self) -> String {
        let mut out = String::new();
        for (key, text) in &self.lines {
            let _ = writeln!(out, "{key:<15} {text}");
        }
        for (name, table) in &self.tables {
            match *name {
                SOURCES => out.push_str(&sources_text(table)),
                _ => {
                    let _ = write!(out, "\n{name}\n{}", table.render(2));
                }
            }
        }
        out
    }

    fn json(&self) -> serde_json::Value {
        let key = |name: &str| name.replace(' ', "_");
        let lines = self
            .lines
            .iter()
            .map(|(name, text)| (key(name), serde_json::Value::from(text.clone())));
        let tables = self.tables.iter().map(|(name, table)| (key(name), table.json()));
        let all: serde_json::Map<String, serde_json::Value> = match self.lines.is_empty() {
            true => tables.collect(),
            false => {
                std::iter::once(("figures".to_string(), lines.collect())).chain(tables).collect()
            }
        };
        all.into()
    }
}

/// The last table: what the others' sources are.
const SOURCES: &str = "sources";

/// Sources as `KEY: TITLE`.
fn sources_text(table: &Table) -> String {
    let mut out = format!("\n{SOURCES}\n");
    for row in table.rows() {
        let _ = writeln!(out, "  {}", row.join(": "));
    }
    out
}

fn waves(arch: &Arch<'_>) -> String {
    arch.wave_lanes.iter().map(u16::to_string).collect::<Vec<_>>().join(", ")
}

fn figures(tables: &Tables<'_>, arch: &Arch<'_>, isa: &Isa<'_>) -> Figures {
    let mut out = Figures { lines: Vec::new(), tables: Vec::new() };
    let mut line = |key: &'static str, text: String| out.lines.push((key, text));
    line("architecture", format!("{} ({})", arch.name, arch.vendor));
    let version = if arch.isa_version.is_empty() {
        String::new()
    } else {
        format!(", text version {} or later", arch.isa_version)
    };
    line("instructions", format!("{}{version}, {}", isa.name, counted(arch.atoms.len(), "atom")));
    line("wave", format!("{} lanes", waves(arch)));
    line("group", format!("at most {} threads", arch.max_threads));
    let shared = arch.shared;
    let dynamic = if shared.max_bytes > shared.static_bytes {
        format!(", {} B with a launch attribute", shared.max_bytes)
    } else {
        String::new()
    };
    line("shared memory", format!("{} B{dynamic}", shared.static_bytes));
    if arch.scalar_reads > 0 {
        line("scalar reads", format!("{} a vector instruction", arch.scalar_reads));
    }
    if !arch.flushed.is_empty() {
        line(
            "matrix instructions",
            format!("take subnormal numbers of {} as zero", flushed(tables, arch)),
        );
    }
    if arch.inline_integers.0 <= arch.inline_integers.1 {
        line(
            "inline integers",
            format!("{} to {}", arch.inline_integers.0, arch.inline_integers.1),
        );
    }
    line("sources", keys(tables, arch.sources));
    let mut table = Table::new(&[
        ("ACCESS", Align::Left),
        ("BANKS", Align::Right),
        ("BYTES", Align::Right),
        ("STATUS", Align::Left),
        ("SERVED TOGETHER", Align::Left),
        ("SOURCES", Align::Left),
    ]);
    for model in arch.banks {
        table.row([
            model.name.into(),
            model.banks.to_string(),
            model.bank_bytes.to_string(),
            model.status.words().into(),
            groups(model),
            keys(tables, model.sources),
        ]);
    }
    out.tables.push(("banks", table));
    let mut table = Table::new(&[
        ("CLASS", Align::Left),
        ("WRITTEN", Align::Left),
        ("BITS", Align::Right),
        ("POOL", Align::Left),
        ("TUPLES", Align::Left),
    ]);
    for class in isa.classes {
        let pool = match class.pool {
            (_, 0) => "the assembler's".to_string(),
            (first, count) => format!("{first} to {}", u32::from(first) + u32::from(count) - 1),
        };
        let align = if class.tuple_align > 1 {
            format!("aligned to {}", class.tuple_align)
        } else {
            String::new()
        };
        table.row([class.name.into(), class.prefix.into(), class.bits.to_string(), pool, align]);
    }
    out.tables.push(("registers", table));
    if !arch.counters.is_empty() {
        let mut table = Table::new(&[
            ("NAME", Align::Left),
            ("MOST", Align::Right),
            ("ORDER", Align::Left),
            ("WAIT", Align::Left),
        ]);
        for counter in arch.counters {
            let wait = tables.atom(counter.wait).map_or("?", |a| a.name());
            table.row([
                counter.name.into(),
                counter.max.to_string(),
                if counter.in_order { "in order" } else { "any order" }.into(),
                wait.into(),
            ]);
        }
        out.tables.push(("counters", table));
    }
    let mut table = Table::new(&[
        ("AFTER", Align::Left),
        ("BEFORE", Align::Left),
        ("STEPS", Align::Left),
        ("SOURCES", Align::Left),
    ]);
    for rule in arch.sync {
        let name = |id: lanebook_tables::AccessId| {
            tables.accesses.get(id.index()).copied().unwrap_or("?").to_string()
        };
        let steps: Vec<&str> =
            rule.steps.iter().filter_map(|s| tables.atom(s.atom)).map(|a| a.name()).collect();
        table.row([
            name(rule.producer),
            name(rule.consumer),
            steps.join(", "),
            keys(tables, rule.sources),
        ]);
    }
    out.tables.push(("synchronisation", table));
    if !arch.hazards.is_empty() {
        let mut table = Table::new(&[
            ("AFTER", Align::Left),
            ("BEFORE", Align::Left),
            ("STATES", Align::Right),
            ("SOURCE", Align::Left),
        ]);
        for hazard in arch.hazards {
            let name = |id: lanebook_tables::TagId| {
                tables.tags.get(id.index()).copied().unwrap_or("?").to_string()
            };
            let operand = hazard.operand.map_or_else(String::new, |k| format!(" operand {k}"));
            let wait = hazard.wait.and_then(|atom| tables.atom(atom));
            let states = wait.map_or_else(|| hazard.states.to_string(), |atom| atom.name().into());
            table.row([
                name(hazard.producer),
                format!("{}{operand}", name(hazard.consumer)),
                states,
                keys(tables, &[hazard.source]),
            ]);
        }
        out.tables.push(("wait states", table));
    }
    let mut used: Vec<_> = arch
        .sources
        .iter()
        .chain(arch.banks.iter().flat_map(|b| b.sources))
        .chain(arch.sync.iter().flat_map(|s| s.sources))
        .chain(arch.hazards.iter().map(|h| &h.source))
        .collect();
    used.sort();
    used.dedup();
    let mut table = Table::new(&[("KEY", Align::Left), ("TITLE", Align::Left)]);
    for source in used.into_iter().filter_map(|id| tables.sources.get(id.index())) {
        table.row([source.key.into(), source.title.into()]);
    }
    out.tables.push((SOURCES, table));
    out
}

/// Groups of lanes as ranges, `0-7, 8-15`.
fn groups(model: &BankModel<'_>) -> String {
    let all: Vec<String> = model.groups.iter().map(|mask| ranges(*mask)).collect();
    if all.len() > 4 && all.iter().all(|g| !g.contains('+')) {
        format!("{} ... ({} groups)", all[..2].join(", "), all.len())
    } else {
        all.join(", ")
    }
}

fn ranges(mask: u64) -> String {
    let mut out: Vec<String> = Vec::new();
    let mut bit = 0;
    while bit < 64 {
        if mask >> bit & 1 == 0 {
            bit += 1;
            continue;
        }
        let first = bit;
        while bit < 64 && mask >> bit & 1 == 1 {
            bit += 1;
        }
        out.push(if bit - first == 1 { first.to_string() } else { format!("{first}-{}", bit - 1) });
    }
    out.join("+")
}

//! `lanebook atoms`: the instruction forms of an architecture.
use crate::args::{Atoms, Class};
use crate::output;
use crate::problem::{Problem, Problems};
use crate::table::{Align, Table};
use crate::tables::{arch, counted, status};
use lanebook_draw::atom::{space, template};
use lanebook_draw::notation::tirx;
use lanebook_tables::{Arch, Atom, AtomClass, Isa, Role, SourceId, Tables};
use std::fmt::Write;

/// Runs the command.
pub fn run(args: &Atoms, tables: &Tables<'_>) -> Result<(), Problems> {
    let (_, arch, isa) = arch(tables, &args.arch)?;
    let mut all: Vec<(&Atom<'_>, bool)> = arch.atoms.iter().filter_map(|have| Some((tables.atom(have.atom)?, have.native))).collect();
    all.sort_by_key(|(atom, _)| (rank(atom.class), atom.name));
    let wanted: Vec<_> = all
        .iter()
        .copied()
        .filter(|(atom, _)| args.class.is_none_or(|class| named(class) == atom.class) && args.filter.as_deref().is_none_or(|text| has_text(atom, text)))
        .collect();
    if wanted.is_empty() {
        let what = format!("no atom of {} is left by --class and --filter", arch.name);
        return Err(Problem::usage(what, format!("loosen them; {} has {}", arch.name, counted(all.len(), "atom"))).into());
    }
    let mut out = String::new();
    if args.long {
        for (atom, native) in &wanted {
            detail(&mut out, tables, isa, atom, *native);
        }
    } else {
        let mut table = Table::new(&[
            ("ATOM", Align::Left),
            ("CLASS", Align::Left),
            ("STATUS", Align::Left),
            ("NATIVE", Align::Left),
            ("INSTRUCTION", Align::Left),
            ("SOURCES", Align::Left),
        ]);
        for (atom, native) in &wanted {
            let native = if *native { "yes" } else { "no" };
            table.row([atom.name.into(), class(atom.class).into(), status(atom.status).into(), native.into(), template(atom), keys(tables, atom.sources)]);
        }
        out = table.render(0);
    }
    let _ = writeln!(out, "\n{} of {} for {}{}", wanted.len(), counted(all.len(), "atom"), arch.name, not_native(arch));
    Ok(output::write(None, &out)?)
}

fn not_native(arch: &Arch<'_>) -> String {
    match arch.atoms.iter().filter(|a| !a.native).count() {
        0 => String::new(),
        n => format!(", {n} of which the assembler expands"),
    }
}

fn has_text(atom: &Atom<'_>, text: &str) -> bool {
    let text = text.to_lowercase();
    atom.name.to_lowercase().contains(&text) || template(atom).to_lowercase().contains(&text)
}

fn rank(class: AtomClass) -> u8 {
    match class {
        AtomClass::Move => 0,
        AtomClass::Matrix => 1,
        AtomClass::CrossLane => 2,
        AtomClass::Convert => 3,
        AtomClass::Alu => 4,
        AtomClass::Sync => 5,
        AtomClass::Control => 6,
    }
}

fn class(class: AtomClass) -> &'static str {
    match class {
        AtomClass::Move => "move",
        AtomClass::Matrix => "matrix",
        AtomClass::CrossLane => "cross-lane",
        AtomClass::Convert => "convert",
        AtomClass::Alu => "alu",
        AtomClass::Sync => "sync",
        AtomClass::Control => "control",
    }
}

fn named(class: Class) -> AtomClass {
    match class {
        Class::Move => AtomClass::Move,
        Class::Matrix => AtomClass::Matrix,
        Class::CrossLane => AtomClass::CrossLane,
        Class::Convert => AtomClass::Convert,
        Class::Alu => AtomClass::Alu,
        Class::Sync => AtomClass::Sync,
        Class::Control => AtomClass::Control,
    }
}

/// Keys of sources, separated by commas.
pub fn keys(tables: &Tables<'_>, sources: &[SourceId]) -> String {
    let keys: Vec<&str> = sources.iter().filter_map(|id| tables.sources.get(id.index())).map(|s| s.key).collect();
    keys.join(", ")
}

fn detail(out: &mut String, tables: &Tables<'_>, isa: &Isa<'_>, atom: &Atom<'_>, native: bool) {
    let _ = writeln!(
        out,
        "{} ({}, {}{}, id {})",
        atom.name,
        class(atom.class),
        status(atom.status),
        if native { "" } else { ", expanded by the assembler" },
        atom.stable
    );
    let _ = writeln!(out, "  {}", template(atom));
    for operand in atom.operands {
        let role = match operand.role {
            Role::Def => "written",
            Role::Use => "read",
            Role::UseDef => "read and written",
            Role::Address => "address",
            Role::Immediate => "number",
            Role::Label => "label",
        };
        let mut line = format!("  {:<8} {role}", operand.name);
        if operand.role == Role::Immediate {
            let _ = write!(line, ", {} to {}", operand.range.0, operand.range.1);
        } else if let Some(class) = isa.classes.get(operand.class.index()).filter(|_| operand.role != Role::Label) {
            let _ = write!(line, ", {} {}", operand.registers, class.name);
        }
        if operand.implicit {
            line.push_str(", not in the text");
        }
        if let Some(dtype) = operand.dtype.and_then(|d| tables.dtype(d)) {
            let _ = write!(line, ", {} x {} {}", operand.extents.0, operand.extents.1, dtype.name);
        }
        if let Some(layout) = &operand.layout {
            let _ = write!(line, " {}", tirx(layout));
        }
        out.push_str(&line);
        out.push('\n');
    }
    if let Some(m) = &atom.movement {
        let extents: Vec<String> = m.extents.iter().map(u16::to_string).collect();
        let _ = writeln!(out, "  moves    ({}) of {} bits{}", extents.join(", "), m.unit_bits, if m.crosses_lanes { ", across lanes" } else { "" });
        for (word, side) in [("from", &m.from), ("to", &m.to)] {
            let mut line = format!("  {word:<8} {}: {}", space(side.space), tirx(side.layout));
            if side.align_bytes > 0 {
                let _ = write!(line, ", aligned to {} B", side.align_bytes);
            }
            if !side.banks.is_empty() {
                let _ = write!(line, ", banks `{}`", side.banks);
            }
            out.push_str(&line);
            out.push('\n');
        }
    }
    if let Some(m) = &atom.matrix {
        let cycles = if atom.cost.cycles == 0 { String::new() } else { format!(", {} cycles", atom.cost.cycles) };
        let _ = writeln!(out, "  shape    m{} n{} k{}{cycles}", m.m, m.n, m.k);
    }
    for id in atom.sources {
        if let Some(source) = tables.sources.get(id.index()) {
            let _ = writeln!(out, "  source   {}: {}", source.key, source.title);
        }
    }
    out.push('\n');
}

//! `lanebook atoms`: the instruction forms of an architecture.
use crate::args::{Atoms, Class, MemorySpace, TableFormat};
use crate::output;
use crate::tables::{arch, counted};
use lanebook_draw::atom::{space, template};
use lanebook_draw::instance::filled;
use lanebook_draw::notation::tirx;
use lanebook_report::problem::{Problem, Problems};
use lanebook_report::table::{Align, Table};
use lanebook_tables::{
    Arch, Atom, AtomClass, AtomFilter, Instance, Isa, MatrixShape, Role, SourceId, Space, Tables,
    Vary,
};
use std::fmt::Write;

/// An atom, and where it is and is native.
struct Listed<'t> {
    atom: &'t Atom<'t>,
    isa: &'t Isa<'t>,
    /// Architectures that have it, with whether it is one machine instruction there.
    archs: Vec<(&'t str, bool)>,
}

/// Runs the command.
pub fn run(args: &Atoms, tables: &Tables<'_>) -> Result<(), Problems> {
    let one =
        args.arch.as_ref().map(|name| arch(tables, name)).transpose()?.map(|(_, arch, _)| arch);
    let shape = args.shape.as_deref().map(shape).transpose()?;
    if let Some(name) = args.dtype.as_ref().filter(|name| tables.dtype_named(name).is_none()) {
        let known: Vec<&str> = tables.dtypes.iter().map(|dtype| dtype.name).collect();
        return Err(Problem::usage(
            format!("unknown element type `{name}`"),
            format!("known: {}", known.join(", ")),
        )
        .into());
    }
    if let Some(name) = &args.feature {
        known_feature(tables, one, name)?;
    }
    let mut all: Vec<Listed<'_>> = Vec::new();
    for (id, atom) in tables.list_atoms(None, AtomFilter::ALL) {
        let has = |arch: &Arch<'_>| arch.own(id).map(|have| have.native);
        let archs: Vec<(&str, bool)> = match one {
            Some(arch) => has(arch).map(|native| (arch.name, native)).into_iter().collect(),
            None => tables.archs.iter().filter_map(|arch| Some((arch.name, has(arch)?))).collect(),
        };
        let Some(isa) = tables.isa(atom.isa).filter(|_| one.is_none() || !archs.is_empty()) else {
            continue;
        };
        all.push(Listed { atom, isa, archs });
    }
    all.sort_by_key(|listed| (rank(listed.atom.class), listed.atom.name()));
    let wanted: Vec<&Listed<'_>> =
        all.iter().filter(|listed| wanted(tables, args, shape, listed.atom)).collect();
    let of = one.map_or_else(|| "all architectures".to_string(), |arch| arch.name.to_string());
    if wanted.is_empty() {
        let what = format!("no atom of {of} is left by the filters");
        return Err(Problem::usage(
            what,
            format!("loosen them; {of} have {}", counted(all.len(), "atom")),
        )
        .into());
    }
    let mut out = String::new();
    if args.long && args.format == TableFormat::Csv {
        return Err(Problem::usage(
            "--long is no table: an atom has lists of its own",
            "write --format json, or leave --long out",
        )
        .into());
    }
    if args.long && args.format == TableFormat::Json {
        let list: Vec<_> = wanted.iter().map(|listed| described(tables, listed)).collect();
        return Ok(output::write(None, &format!("{:#}\n", serde_json::Value::from(list)))?);
    }
    if args.long {
        for listed in &wanted {
            let native = listed.archs.iter().all(|(_, native)| *native);
            detail(&mut out, tables, listed.isa, listed.atom, native);
        }
    } else {
        let place = if one.is_some() { "NATIVE" } else { "ARCHITECTURES" };
        let mut table = Table::new(&[
            ("ATOM", Align::Left),
            ("CLASS", Align::Left),
            ("STATUS", Align::Left),
            (place, Align::Left),
            ("INSTRUCTION", Align::Left),
            ("SOURCES", Align::Left),
        ]);
        for listed in &wanted {
            let place = match one {
                Some(_) => {
                    if listed.archs.iter().all(|(_, native)| *native) { "yes" } else { "no" }
                        .to_string()
                }
                None => listed.archs.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" "),
            };
            let atom = listed.atom;
            table.row([
                atom.name().into(),
                class(atom.class).into(),
                atom.status.words().into(),
                place,
                template(atom),
                keys(tables, atom.sources()),
            ]);
        }
        if args.format != TableFormat::Text {
            return Ok(output::write(None, &args.format.of(&table))?);
        }
        out = table.render(0);
    }
    let _ = writeln!(
        out,
        "\n{} of {} for {of}{}",
        wanted.len(),
        counted(all.len(), "atom"),
        one.map_or_else(String::new, |arch| not_native(tables, arch))
    );
    Ok(output::write(None, &out)?)
}

/// Whether an atom passes the filters; of a family, whether one of its members does.
fn wanted(
    tables: &Tables<'_>,
    args: &Atoms,
    shape: Option<(u16, u16, u16)>,
    atom: &Atom<'_>,
) -> bool {
    let filter = AtomFilter {
        class: args.class.map(named),
        from: args.from.map(memory),
        to: args.to.map(memory),
        feature: args.feature.as_deref().and_then(|name| tables.feature_named(name)),
        ..AtomFilter::ALL
    };
    // One member has type, shape and text.
    let fits = |member: &Instance<'_>| {
        let typed = |name: &String| {
            (0..atom.operands.len() as u8)
                .filter_map(|k| tables.dtype(member.dtype(k)?))
                .any(|dtype| dtype.name == name)
        };
        args.dtype.as_ref().is_none_or(typed)
            && shape.is_none_or(|wanted| {
                member.shape().is_some_and(|matrix| (matrix.m, matrix.n, matrix.k) == wanted)
            })
            && args.filter.as_deref().is_none_or(|text| has_text(member, text))
    };
    filter.takes(atom) && members(atom).any(|member| fits(&member))
}

/// Whether an architecture, or some without one, has a feature of this name.
fn known_feature(tables: &Tables<'_>, arch: Option<&Arch<'_>>, name: &str) -> Result<(), Problem> {
    let features = tables.units.features;
    let known: Vec<&str> = match arch {
        Some(arch) => {
            arch.features.iter().filter_map(|id| features.get(id.index()).copied()).collect()
        }
        None => features.to_vec(),
    };
    if known.contains(&name) {
        return Ok(());
    }
    let whose = arch.map_or(String::new(), |arch| format!(" of {}", arch.name));
    let known = format!("known: {}", known.join(", "));
    Err(Problem::usage(format!("unknown feature{whose} `{name}`"), known))
}

/// The members of a family; an atom without parameters is the only one.
fn members<'t>(atom: &'t Atom<'t>) -> impl Iterator<Item = Instance<'t>> {
    (0..atom.instances()).filter_map(|number| atom.instance(number))
}

/// `16x8x16` or `m16n8k16`.
fn shape(text: &str) -> Result<(u16, u16, u16), Problem> {
    let plain = text.trim_start_matches('m').replace(['n', 'k'], "x");
    let numbers: Vec<u16> = plain.split('x').filter_map(|number| number.parse().ok()).collect();
    match (numbers.as_slice(), plain.split('x').count()) {
        ([m, n, k], 3) => Ok((*m, *n, *k)),
        _ => Err(Problem::usage(
            format!("--shape {text} is no matrix shape"),
            "write rows, columns and depth, as in 16x8x16 or m16n8k16",
        )),
    }
}

fn memory(space: MemorySpace) -> Space {
    match space {
        MemorySpace::Register => Space::Register,
        MemorySpace::Shared => Space::Shared,
        MemorySpace::Global => Space::Global,
        MemorySpace::Tensor => Space::Tensor,
    }
}

fn not_native(tables: &Tables<'_>, arch: &Arch<'_>) -> String {
    match tables.list_own(arch).filter(|(have, _)| !have.native).count() {
        0 => String::new(),
        n => format!(", {n} of which the assembler expands"),
    }
}

/// Whether a text is in an atom's name or instruction, as its family or as a member has it.
fn has_text(member: &Instance<'_>, text: &str) -> bool {
    let (atom, text) = (member.atom, text.to_lowercase());
    let (name, instruction) = (atom.name(), template(atom));
    let own =
        [filled(member, &name.replace('{', "<").replace('}', ">")), filled(member, &instruction)];
    own.iter()
        .map(String::as_str)
        .chain([name, instruction.as_str()])
        .any(|said| said.to_lowercase().contains(&text))
}

/// What a parameter can be: its words, or its values, an even row of them by its ends.
fn choices(vary: &Vary<'_>) -> String {
    if !vary.words.is_empty() {
        return format!(
            "one of {}",
            vary.words.iter().map(|word| word.text).collect::<Vec<_>>().join(", ")
        );
    }
    let values = vary.values;
    match values {
        [first, second, .., last]
            if values.len() > 3
                && values.windows(2).all(|pair| pair[1] - pair[0] == second - first) =>
        {
            format!("{first} to {last} in steps of {}", second - first)
        }
        _ => format!("one of {}", values.iter().map(u16::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// A dimension of the shapes of all members: the number, or the least and the greatest.
fn extents(atom: &Atom<'_>, of: impl Fn(MatrixShape) -> u16) -> String {
    let all = || members(atom).filter_map(|member| member.shape()).map(&of);
    match (all().min(), all().max()) {
        (Some(least), Some(most)) if least < most => format!("{least} to {most}"),
        (_, most) => most.unwrap_or(0).to_string(),
    }
}

/// Where a kind stands among all.
fn rank(class: AtomClass) -> Option<usize> {
    AtomClass::NAMES.iter().position(|(known, _)| *known == class)
}

/// A kind of atoms in a word.
pub fn class(class: AtomClass) -> &'static str {
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
    let keys: Vec<&str> =
        sources.iter().filter_map(|id| tables.sources.get(id.index())).map(|s| s.key).collect();
    keys.join(", ")
}

/// What `--long` says of an atom, as JSON.
fn described(tables: &Tables<'_>, listed: &Listed<'_>) -> serde_json::Value {
    let (atom, isa) = (listed.atom, listed.isa);
    let operands: Vec<_> = atom
        .operands
        .iter()
        .map(|operand| {
            let dtype = operand.dtype.and_then(|id| tables.dtype(id)).map(|dtype| dtype.name);
            let class = isa.classes.get(operand.class.index()).map(|class| class.name);
            serde_json::json!({
                "name": operand.name.text(), "role": role(operand.role), "type": dtype,
                "registers": operand.registers, "class": class, "implicit": operand.implicit,
                "extents": [operand.extents.0, operand.extents.1],
                "layout": operand.layout.as_ref().map(|layout| tirx(layout)),
            })
        })
        .collect();
    let side = |side: &lanebook_tables::Side<'_>| {
        serde_json::json!({
            "space": space(side.space), "layout": tirx(side.layout), "align_bytes": side.align_bytes,
            "slot_bytes": side.slot_bytes, "banks": side.banks.text(),
        })
    };
    let movement = atom.movement.map(|m| {
        serde_json::json!({
            "extents": m.extents.iter().collect::<Vec<_>>(), "unit_bits": m.unit_bits,
            "crosses_lanes": m.crosses_lanes, "from": side(&m.from), "to": side(&m.to),
        })
    });
    let archs: Vec<_> = listed
        .archs
        .iter()
        .map(|(name, native)| serde_json::json!({ "name": name, "native": native }))
        .collect();
    let sources: Vec<&str> = atom
        .sources()
        .iter()
        .filter_map(|id| tables.sources.get(id.index()))
        .map(|source| source.key)
        .collect();
    serde_json::json!({
        "atom": atom.name(), "class": class(atom.class), "status": atom.status.words(), "id": atom.stable().to_string(),
        "instruction": template(atom), "archs": archs, "operands": operands, "movement": movement,
        "shape": atom.matrix.map(|m| [m.m, m.n, m.k]), "sum_bits": atom.more.and_then(|more| more.sum_bits), "sources": sources, "feature": feature(tables, atom),
    })
}

fn role(role: Role) -> &'static str {
    match role {
        Role::Def => "written",
        Role::Use => "read",
        Role::UseDef => "read and written",
        Role::Address => "address",
        Role::Immediate => "number",
        Role::Label => "label",
    }
}

/// The feature that an atom belongs to.
fn feature<'t>(tables: &Tables<'t>, atom: &Atom<'_>) -> &'t str {
    let named = atom.feature().and_then(|id| tables.units.features.get(id.index()));
    named.copied().unwrap_or_default()
}

fn detail(out: &mut String, tables: &Tables<'_>, isa: &Isa<'_>, atom: &Atom<'_>, native: bool) {
    let _ = writeln!(
        out,
        "{} ({}, {}{}, id {}, feature {})",
        atom.name(),
        class(atom.class),
        atom.status.words(),
        if native { "" } else { ", expanded by the assembler" },
        atom.stable(),
        feature(tables, atom),
    );
    let _ = writeln!(out, "  {}", template(atom));
    for operand in atom.operands {
        let mut line = format!("  {:<8} {}", operand.name.text(), role(operand.role));
        if let Some(vary) =
            operand.vary.filter(|vary| operand.role == Role::Immediate && vary.count() > 0)
        {
            let _ = write!(line, ", {}", choices(vary));
        } else if operand.role == Role::Immediate {
            let _ = write!(line, ", {} to {}", operand.range.0, operand.range.1);
        } else if let Some(class) =
            isa.classes.get(operand.class.index()).filter(|_| operand.role != Role::Label)
        {
            let _ = write!(line, ", {} {}", operand.registers, class.name);
        }
        if operand.implicit {
            line.push_str(", not in the text");
        }
        let word = operand
            .vary
            .and_then(|vary| vary.typed_by)
            .and_then(|number| atom.operands.get(usize::from(number)));
        let dtype = operand.dtype.and_then(|d| tables.dtype(d)).map(|dtype| dtype.name.to_string());
        if let Some(dtype) = word.map(|word| format!("{{{}}}", word.name.text())).or(dtype) {
            let _ = write!(line, ", {} x {} {dtype}", operand.extents.0, operand.extents.1);
        }
        if let Some(layout) = &operand.layout {
            let _ = write!(line, " {}", tirx(layout));
        }
        out.push_str(&line);
        out.push('\n');
    }
    if let Some(m) = &atom.movement {
        let extents: Vec<String> = m.extents.iter().map(u16::to_string).collect();
        let _ = writeln!(
            out,
            "  moves    ({}) of {} bits{}",
            extents.join(", "),
            m.unit_bits,
            if m.crosses_lanes { ", across lanes" } else { "" }
        );
        for (word, side) in [("from", &m.from), ("to", &m.to)] {
            let mut line = format!("  {word:<8} {}: {}", space(side.space), tirx(side.layout));
            if side.align_bytes > 0 {
                let _ = write!(line, ", aligned to {} B", side.align_bytes);
            }
            if !side.banks.is_empty() {
                let _ = write!(line, ", banks `{}`", side.banks.text());
            }
            out.push_str(&line);
            out.push('\n');
        }
    }
    if atom.matrix.is_some() {
        let cycles = if atom.cost.cycles == 0 {
            String::new()
        } else {
            format!(", {} cycles", atom.cost.cycles)
        };
        let _ = writeln!(
            out,
            "  shape    m{} n{} k{}{cycles}",
            extents(atom, |m| m.m),
            extents(atom, |m| m.n),
            extents(atom, |m| m.k)
        );
        if let Some(bits) = atom.more.and_then(|more| more.sum_bits) {
            let _ = writeln!(
                out,
                "  sums     of {bits} significant bits: what lies 2^{bits} below the greatest term is lost"
            );
        }
    }
    for id in atom.sources() {
        if let Some(source) = tables.sources.get(id.index()) {
            let _ = writeln!(out, "  source   {}: {}", source.key, source.title);
        }
    }
    out.push('\n');
}

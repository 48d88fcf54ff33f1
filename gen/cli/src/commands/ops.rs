//! `lanebook ops`: what `compile` takes of each operation, and what an architecture does with it.
//!
//! All of it comes from the tables: the contract (rules/contract.ron), and the instructions. In
//! Markdown it is the reference of the tile language, `rules/TILE.md`.
use super::moved::moved;
use crate::args::{Ops, OpsFormat};
use crate::output;
use crate::tables::arch;
use lanebook_report::problem::{Problem, Problems};
use lanebook_report::refused::contract::{between, form, kinds, notations};
use lanebook_suggest::nearest;
use lanebook_tables::contract::kind;
use lanebook_tables::{
    Arch, Atom, AttrContract, OpDecl, OpId, OpRole, OpWord, Role, SlotContract, Tables,
};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write;

/// An operation as it is printed.
#[derive(Debug, Serialize)]
struct Operation<'t> {
    name: &'t str,
    aliases: &'t [&'t str],
    compiled: bool,
    /// Architectures that have instructions for it, and how many there are; `None` where that is no
    /// question of instructions.
    #[serde(skip_serializing_if = "Option::is_none")]
    architectures: Option<Vec<&'t str>>,
    #[serde(skip)]
    all: usize,
    #[serde(skip_serializing_if = "str::is_empty")]
    does: &'t str,
    #[serde(skip_serializing_if = "str::is_empty")]
    in_loops: &'t str,
    #[serde(skip_serializing_if = "str::is_empty")]
    reason: &'t str,
    #[serde(skip_serializing_if = "str::is_empty")]
    instead: &'t str,
    operands: Vec<Place<'t>>,
    results: Vec<Place<'t>>,
    arguments: Vec<Place<'t>>,
    attributes: Vec<Attribute<'t>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    on: Option<On<'t>>,
}

/// What may stand in a place.
#[derive(Debug, Serialize)]
struct Place<'t> {
    name: &'t str,
    kinds: Vec<&'static str>,
    least: u8,
    /// `None`: any number.
    most: Option<u8>,
    dimensions: (u8, u8),
    element_bits: &'static str,
    layouts: Vec<&'static str>,
    attributes: Vec<Attribute<'t>>,
    #[serde(skip)]
    contract: SlotContract<'t>,
}

/// An attribute.
#[derive(Debug, Serialize)]
struct Attribute<'t> {
    key: &'t str,
    value: String,
    required: bool,
    #[serde(skip_serializing_if = "str::is_empty")]
    default: &'t str,
    doc: &'t str,
}

/// What an architecture does with it.
#[derive(Debug, Serialize)]
struct On<'t> {
    architecture: &'t str,
    /// Whether there are instructions.
    able: bool,
    /// Element types, from operands to result, that instructions have; empty where that is no
    /// question of types.
    types: Vec<String>,
}

/// Runs the command.
pub fn run(args: &Ops, tables: &Tables<'_>) -> Result<(), Problems> {
    let on =
        args.arch.as_ref().map(|name| arch(tables, name)).transpose()?.map(|(_, arch, _)| arch);
    let wanted = match &args.name {
        Some(name) => Some(tables.op_named(name).ok_or_else(|| unknown(tables, name))?),
        None => None,
    };
    let ids = (0u16..)
        .map(OpId)
        .take(tables.ops.len())
        .filter(|id| wanted.is_none_or(|wanted| wanted == *id));
    let operations: Vec<Operation<'_>> = ids.filter_map(|id| described(tables, id, on)).collect();
    if operations.is_empty() {
        return Err(Problem::refused(
            "these tables have no contract of operations",
            "add rules/contract.ron to them",
        )
        .into());
    }
    let text = match args.format {
        OpsFormat::Text if wanted.is_some() => operations.iter().map(long).collect(),
        OpsFormat::Text => listed(&operations, on),
        OpsFormat::Json => serde_json::to_string_pretty(&operations)
            .map(|text| text + "\n")
            .map_err(|error| Problem::internal(error.to_string(), "report this"))?,
        OpsFormat::Markdown => markdown(tables, &operations),
    };
    Ok(output::write(None, &text)?)
}

fn unknown(tables: &Tables<'_>, name: &str) -> Problem {
    let names =
        tables.ops.iter().flat_map(|op| std::iter::once(op.name).chain(op.aliases.iter().copied()));
    let near =
        nearest(name, names).map_or_else(String::new, |near| format!("did you mean `{near}`? "));
    Problem::usage(
        format!("no operation is called `{name}`"),
        format!("{near}`lanebook ops` lists them"),
    )
}

fn attribute<'t>(attr: &AttrContract<'t>) -> Attribute<'t> {
    Attribute {
        key: attr.key,
        value: form(&attr.form),
        required: attr.required,
        default: attr.default.text(),
        doc: attr.doc.text(),
    }
}

fn names(bits: u8, all: &[(u8, &'static str)]) -> Vec<&'static str> {
    all.iter().filter(|(bit, _)| bits & bit != 0).map(|(_, name)| *name).collect()
}

fn place<'t>(slot: &SlotContract<'t>) -> Place<'t> {
    Place {
        name: slot.name.text(),
        kinds: names(slot.kinds, &kind::NAMES),
        least: slot.count.0,
        most: (slot.count.1 != u8::MAX).then_some(slot.count.1),
        dimensions: slot.ranks,
        element_bits: slot.elements.words(),
        layouts: names(slot.layouts, &lanebook_tables::contract::notation::NAMES),
        attributes: slot.attrs.iter().map(attribute).collect(),
        contract: *slot,
    }
}

fn described<'t>(tables: &Tables<'t>, id: OpId, on: Option<&Arch<'t>>) -> Option<Operation<'t>> {
    let (decl, contract) = (tables.op(id)?, tables.contract.ops.get(id.index())?);
    Some(Operation {
        name: decl.name,
        aliases: decl.aliases.slice(),
        compiled: contract.compiled,
        architectures: able_archs(tables, id, decl).filter(|_| contract.compiled),
        all: tables.archs.len(),
        does: contract.does.text(),
        in_loops: contract.in_loops.text(),
        reason: contract.refusal.text(),
        instead: contract.instead.text(),
        operands: contract.operands.iter().map(place).collect(),
        results: contract.results.iter().map(place).collect(),
        arguments: contract.arguments.iter().map(place).collect(),
        attributes: contract.attrs.iter().map(attribute).collect(),
        on: on.filter(|_| contract.compiled).map(|arch| able(tables, arch, id, decl)),
    })
}

/// Atoms of an architecture that are machine instructions there.
fn native<'t>(tables: &Tables<'t>, arch: &Arch<'t>) -> impl Iterator<Item = &'t Atom<'t>> {
    tables.list_native(arch).map(|(_, atom)| atom)
}

/// Element types of the instructions that do an operation on elements.
fn done(tables: &Tables<'_>, arch: &Arch<'_>, op: OpWord) -> Vec<String> {
    let name = |dtype: Option<lanebook_tables::DtypeId>| {
        dtype.and_then(|id| tables.dtype(id)).map(|d| d.name)
    };
    let types = native(tables, arch).filter_map(|atom| {
        let does = atom.does.filter(|does| does.op == op)?;
        let from = name(atom.operands.get(usize::from(*does.uses.first()?))?.dtype)?;
        let to = name(atom.operands.iter().find(|operand| operand.role == Role::Def)?.dtype)?;
        Some(if from == to { from.to_string() } else { format!("{from} -> {to}") })
    });
    let mut types = types.collect::<BTreeSet<_>>();
    if let OpWord::Op(id) = op {
        types.extend(lanebook_gen::dispatch::sequences(tables, arch, id).filter_map(
            |(from, to)| {
                let (from, to) = (name(Some(from))?, name(Some(to))?);
                Some(if from == to { from.to_string() } else { format!("{from} -> {to}") })
            },
        ));
    }
    types.into_iter().collect()
}

/// Element types of the matrix instructions, with block scales or without.
fn products(tables: &Tables<'_>, arch: &Arch<'_>, scaled: bool) -> Vec<String> {
    let mut out = BTreeSet::new();
    for atom in native(tables, arch) {
        let (with, without) = (
            atom.scaled().is_some() || atom.scaled_in_tensor().is_some(),
            atom.product().is_some() || atom.tensor().is_some(),
        );
        if if scaled { !with } else { with || !without } {
            continue;
        }
        for member in (0..atom.instances()).filter_map(|number| atom.instance(number)) {
            let Some(shape) = atom.matrix else { continue };
            let name =
                |operand: u8| member.dtype(operand).and_then(|id| tables.dtype(id)).map(|d| d.name);
            if let (Some(a), Some(b), Some(d)) = (name(shape.a), name(shape.b), name(shape.d)) {
                out.insert(format!("{a} x {b} -> {d}"));
            }
        }
    }
    out.into_iter().collect()
}

/// Operations that reductions may do, as the contract has them.
fn ways<'t>(tables: &Tables<'t>, id: OpId) -> Vec<&'t str> {
    let contracts = tables.contract.ops.get(id.index()).into_iter();
    let words =
        contracts.flat_map(|contract| contract.attrs.slice()).filter_map(|attr| match attr.form {
            lanebook_tables::AttrForm::Word(words) => Some(words.slice()),
            _ => None,
        });
    words.flatten().copied().collect()
}

/// Architectures that have instructions for an operation; `None` where it is no question of them.
fn able_archs<'t>(tables: &Tables<'t>, id: OpId, decl: &OpDecl<'t>) -> Option<Vec<&'t str>> {
    let reduced: Vec<OpWord> = ways(tables, id)
        .into_iter()
        .filter_map(|word| tables.op_named(word).map(OpWord::Op))
        .collect();
    let does = |atom: &Atom<'_>| match decl.role {
        OpRole::Elementwise | OpRole::Select => {
            atom.does.is_some_and(|does| does.op == OpWord::Op(id))
        }
        OpRole::Reduce => atom.does.is_some_and(|does| reduced.contains(&does.op)),
        OpRole::Matrix if decl.operands.0 == 5 => {
            atom.scaled().is_some() || atom.scaled_in_tensor().is_some()
        }
        _ => atom.product().is_some() || atom.tensor().is_some(),
    };
    if !decl.role.is_lanewise() && !matches!(decl.role, OpRole::Reduce | OpRole::Matrix) {
        return None;
    }
    let archs = tables.archs.iter();
    if decl.same_bits {
        return Some(archs.map(|arch| arch.name).collect());
    }
    let others =
        |arch: &Arch<'_>| lanebook_gen::dispatch::sequences(tables, arch, id).next().is_some();
    let able = archs.filter(|arch| native(tables, arch).any(&does) || others(arch));
    Some(able.map(|arch| arch.name).collect())
}

/// What an architecture does with an operation.
fn able<'t>(tables: &Tables<'t>, arch: &Arch<'t>, id: OpId, decl: &OpDecl<'t>) -> On<'t> {
    let (asks, types) = match decl.role {
        _ if decl.same_bits => (true, vec!["to any type of as many bits".to_string()]),
        OpRole::Elementwise | OpRole::Select => (true, done(tables, arch, OpWord::Op(id))),
        OpRole::Matrix => (true, products(tables, arch, decl.operands.0 == 5)),
        OpRole::Reduce => {
            let mut types = Vec::new();
            for word in ways(tables, id) {
                let found = tables
                    .op_named(word)
                    .map_or_else(Vec::new, |op| done(tables, arch, OpWord::Op(op)));
                let wide = found.iter().filter(|name| {
                    tables
                        .dtype_named(name)
                        .and_then(|d| tables.dtype(d))
                        .is_some_and(|d| d.bits == 32)
                });
                types.extend(wide.map(|name| format!("{word} of {name}")));
            }
            (true, types)
        }
        role => moved(tables, arch, role).map_or((false, Vec::new()), |types| (true, types)),
    };
    On { architecture: arch.name, able: !asks || !types.is_empty(), types }
}

fn count(place: &Place<'_>) -> String {
    match (place.least, place.most) {
        (1, Some(1)) => String::new(),
        (least, most) => format!(", {}", between(least, most.unwrap_or(u8::MAX))),
    }
}

/// A place in one line.
fn line(place: &Place<'_>) -> String {
    let slot = place.contract;
    let tile = slot.kinds & (kind::REGISTERS | kind::SHARED) != 0;
    let mut out = kinds(slot.kinds);
    if tile {
        let _ = write!(
            out,
            ", rank {}, elements {}",
            between(slot.ranks.0, slot.ranks.1),
            place.element_bits
        );
    }
    if slot.layouts != 0 {
        let _ = write!(out, "; a written layout is obeyed in {}", notations(slot.layouts));
    }
    out
}

fn said(attr: &Attribute<'_>) -> String {
    let without = if attr.required {
        "must be there".to_string()
    } else {
        format!("without it: {}", attr.default)
    };
    format!("{}; {without}", attr.value)
}

/// One operation in full.
fn long(op: &Operation<'_>) -> String {
    let mut out = format!("{}\n", op.name);
    let mut field = |name: &str, text: &str| {
        if !text.is_empty() {
            let _ = writeln!(out, "  {name:<11} {text}");
        }
    };
    field("also", &op.aliases.join(", "));
    field("compiled", &compiled_text(op));
    field("does", op.does);
    field("in loops", op.in_loops);
    field("because", op.reason);
    field("instead", op.instead);
    for (what, places) in
        [("operand", &op.operands), ("result", &op.results), ("argument", &op.arguments)]
    {
        for place in places {
            field(what, &format!("{}{}: {}", place.name, count(place), line(place)));
            for attr in &place.attributes {
                field("", &format!("{{{}}}: {} {}", attr.key, attr.doc, said(attr)));
            }
        }
    }
    for attr in &op.attributes {
        field("attribute", &format!("{{{}}}: {} {}", attr.key, attr.doc, said(attr)));
    }
    if let Some(on) = &op.on {
        field(on.architecture, &on_text(on));
    }
    out
}

/// What `compile` does with an operation: taken, and by which architectures it is done.
fn compiled_text(op: &Operation<'_>) -> String {
    /// Architectures that are spelt out.
    const FEW: usize = 6;
    match &op.architectures {
        _ if !op.in_loops.is_empty() => "in functions of parallel loops".into(),
        _ if !op.compiled => "no".into(),
        None => "yes".into(),
        Some(able) if able.len() == op.all => "yes, on every architecture".into(),
        Some(able) if able.is_empty() => NOBODY.into(),
        Some(able) => {
            let few = able.iter().take(FEW).copied().collect::<Vec<_>>().join(", ");
            let more = able.len().saturating_sub(FEW);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("on {few}{more} ({} of {} architectures)", able.len(), op.all)
        }
    }
}

/// Of what `compile` would take if anything did it.
const NOBODY: &str =
    "no: the language has it, but no architecture of these tables has an instruction for it";

/// Whether an operation is compiled on some architecture.
fn has_takers(op: &Operation<'_>) -> bool {
    op.compiled && op.architectures.as_ref().is_none_or(|able| !able.is_empty())
}

fn on_text(on: &On<'_>) -> String {
    match (on.able, on.types.is_empty()) {
        (false, _) => "no instruction does it".into(),
        (true, true) => "yes".into(),
        // Ways of a movement are lists themselves.
        (true, false) if on.types.iter().any(|way| way.contains(':')) => on.types.join("; "),
        (true, false) => on.types.join(", "),
    }
}

/// All operations, a line each.
fn listed(operations: &[Operation<'_>], on: Option<&Arch<'_>>) -> String {
    let mut out = String::new();
    for op in operations {
        let attrs: Vec<&str> = op.attributes.iter().map(|attr| attr.key).collect();
        let attrs =
            if attrs.is_empty() { String::new() } else { format!(" {{{}}}", attrs.join(", ")) };
        let operands: Vec<&str> = op.operands.iter().map(|place| place.name).collect();
        let what = match (&op.on, op.compiled) {
            (_, false) if !op.in_loops.is_empty() => "in functions of parallel loops".into(),
            (_, false) => format!("not compiled: {}", op.reason),
            (None, true) if !has_takers(op) => {
                "not compiled: no architecture of these tables has an instruction for it".into()
            }
            (Some(on), true) => on_text(on),
            (None, true) => format!("{}{attrs}", operands.join(", ")),
        };
        let _ = writeln!(out, "{}", format!("{:<32} {what}", op.name).trim_end());
    }
    let compiled = operations.iter().filter(|op| has_takers(op)).count();
    let able = operations.iter().filter(|op| op.on.as_ref().is_some_and(|on| on.able)).count();
    let of = on.map_or_else(String::new, |arch| {
        format!("; {} has instructions for {able} of them", arch.name)
    });
    let _ = writeln!(
        out,
        "\n{compiled} of {} operations are compiled on some architecture{of}. `lanebook ops NAME` says all of one.",
        operations.len()
    );
    out
}

/// The reference of the tile language.
fn markdown(tables: &Tables<'_>, operations: &[Operation<'_>]) -> String {
    let mut out = String::from(
        "# The tile language, as `compile` takes it\n\n\
         Made by `lanebook ops --format markdown` from `rules/ops.ron` and `rules/contract.ron`; do not edit. Everything that a program writes and that is\n\
         not listed here is refused, at its place, with what it takes: operands, attributes, values, element types, dimensions, written layouts. `lanebook\n\
         ops NAME --arch ARCH` says for which element types an architecture has instructions.\n\n\
         A program is one function, or several of which one is the kernel (`module`, `call`). Its operations take effect in the order in which they are written, as far as one group of threads can see; between\n\
         groups nothing is ordered. What may be relied on is said in `src/ir/src/lib.rs`.\n\n",
    );
    let prefixes: Vec<String> =
        tables.contract.prefixes.iter().map(|prefix| format!("`{prefix}`")).collect();
    let (least, most) = tables.contract.memref_ranks;
    let _ = writeln!(
        out,
        "Keys of attributes may have the prefix {}; one of an operation that has no value may be written `= true`, and `= false` leaves it out. A memref has {least} to {most} dimensions and one subscript for each, which is an argument, a loop's\n\
         counter, a number, what arithmetic on indices makes of these, or a whole number that is loaded or computed; tiles have no subscripts.\n",
        prefixes.join(" or ")
    );
    out.push_str(
        "Some attributes are hints: permissions that are met by what is done anyhow, and promises that need not be used. Nothing follows from them. Any\n\
         operation without a region may say these of what it makes:\n\n",
    );
    for attr in tables.contract.hints.iter().map(attribute) {
        let _ = writeln!(out, "- `{}`: {} ({})", attr.key, attr.doc, said(&attr));
    }
    out.push('\n');
    out.push_str(
        "Tiles have the dimensions that are said of each operation. Those in registers may have three to six as well: they are read and written, gathered,\n\
         scattered and added to, multiplied side by side (`mma` of `b x m x k` and `b x k x n`), computed with element by element, repeated, combined, scanned,\n\
         brought into any order, reshaped, cut and joined, carried by loops and passed out of branches. `compile` first writes such a program with matrices: a\n\
         tile that memory or a product meets is unrolled to one of its last two dimensions for each place along the others, at most 64; any other tile\n\
         becomes one, whose rows are counted along all dimensions but the last. Such a tile has no written layout; tiles in shared memory, and what a snippet\n\
         takes and returns, have at most two dimensions.\n\n",
    );
    out.push_str("## Operations that are compiled\n");
    for op in operations.iter().filter(|op| has_takers(op)) {
        let _ = write!(out, "\n### `{}`\n\n{}\n", op.name, op.does);
        if let Some(able) = op.architectures.as_ref().filter(|able| able.len() < op.all) {
            let _ = write!(
                out,
                "\nOn {} of {} architectures: {}.\n",
                able.len(),
                op.all,
                able.join(", ")
            );
        }
        if !op.aliases.is_empty() {
            let _ = write!(
                out,
                "\nAlso: {}.\n",
                op.aliases.iter().map(|alias| format!("`{alias}`")).collect::<Vec<_>>().join(", ")
            );
        }
        let mut items = String::new();
        for (what, places) in
            [("operand", &op.operands), ("result", &op.results), ("argument", &op.arguments)]
        {
            for place in places {
                let _ =
                    writeln!(items, "- {what} *{}*{}: {}", place.name, count(place), line(place));
                for attr in &place.attributes {
                    let _ = writeln!(items, "  - `{}`: {} ({})", attr.key, attr.doc, said(attr));
                }
            }
        }
        for attr in &op.attributes {
            let _ = writeln!(items, "- `{}`: {} ({})", attr.key, attr.doc, said(attr));
        }
        if !items.is_empty() {
            let _ = write!(out, "\n{items}");
        }
    }
    let idle: Vec<String> = operations
        .iter()
        .filter(|op| op.compiled && !has_takers(op))
        .map(|op| format!("`{}`", op.name))
        .collect();
    if !idle.is_empty() {
        let _ = write!(
            out,
            "\n## Operations that no architecture does\n\nThe language has them and `compile` would take them; no architecture of these tables has an instruction for them, so a\n\
             program that has one is refused on each: {}.\n",
            idle.join(", ")
        );
    }
    out.push_str("\n## Operations of parallel loops\n\nThey stand in functions of parallel loops. Beside them stand constants and arithmetic of scalars, indices, `alloc_tensor`\nin `#smem` and `#fragment`, `copy`, `scf.for`, `scf.if` and `func`; what else such a function writes is refused at its place.\n\n");
    for op in operations.iter().filter(|op| !op.in_loops.is_empty()) {
        let _ = writeln!(out, "- `{}`: {}", op.name, op.in_loops);
    }
    out.push_str("\n## Operations that are not\n\nThey are read, verified and rewritten by passes; `compile` refuses them.\n\n");
    for op in operations.iter().filter(|op| !op.compiled && op.in_loops.is_empty()) {
        let instead =
            if op.instead.is_empty() { String::new() } else { format!("; {}", op.instead) };
        let _ = writeln!(out, "- `{}`: {}{instead}.", op.name, op.reason);
    }
    out
}

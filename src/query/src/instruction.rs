//! Instructions by the names that people type, and the layouts of their operands.

use crate::error::{Needed, Why};
use crate::literal::{self, Fault};
use crate::show::{self, AnswerWritten};
use crate::text::{self, Scanner, TextSpan};
use crate::value::{Asked, ElementOrder, Picked, Placed, QueryStorage, QueryValue};
use crate::write::Out;
use core::fmt::Write;
use lanebook_layout::{Layout, LayoutRef};
use lanebook_tables::{Arch, Atom, Instance, Tables};

/// The architecture that is asked about.
pub(crate) fn arch<'t>(asked: Asked<'t>) -> Result<&'t Arch<'t>, Why> {
    asked.arch.and_then(|id| asked.tables.arch(id)).ok_or(Why::NeedsArch)
}

/// The instruction of this very name.
pub(crate) fn exact(tables: &Tables<'_>, name: &str) -> Option<Picked> {
    let (atom, instance) = tables.instance_named(name)?;
    let form = tables.atom(atom)?;
    let number = (0..form.instances())
        .find(|number| form.instance(*number).is_some_and(|one| same(&one, &instance)))?;
    Some(Picked { atom, instance: number })
}

fn same(a: &Instance<'_>, b: &Instance<'_>) -> bool {
    a.atom.params().all(|(number, _)| a.pick(number) == b.pick(number))
}

/// The instance that was picked.
pub(crate) fn instance<'t>(tables: &'t Tables<'t>, picked: Picked) -> Option<Instance<'t>> {
    tables.atom(picked.atom)?.instance(picked.instance)
}

/// Reads `atom(NAME).OPERAND`, or `atom(NAME)` alone.
pub(crate) fn operand_of(
    asked: Asked<'_>,
    scan: &mut Scanner<'_>,
    storage: &mut QueryStorage,
    at: usize,
) -> Result<(), Fault> {
    let _ = scan.name();
    let here = TextSpan::new(scan.at, scan.at).start;
    let span = scan.bracket().ok_or((here, Why::Needed(Needed::CloseBracket)))?;
    let name = span.of(scan.text);
    let name = name.get(1..name.len().saturating_sub(1)).unwrap_or_default().trim();
    let name = name.trim_matches(['"', '\'']);
    let start = span.start.saturating_add(1);
    if !scan.eat(b'.') {
        let picked = pick(asked, name, None).map_err(|why| (start, why))?;
        return storage.set(at, QueryValue::Instruction(picked)).map_err(|why| (start, why));
    }
    let here = TextSpan::new(scan.at, scan.at).start;
    let part = scan.name().ok_or((here, Why::Needed(Needed::Operands)))?;
    let part = part_named(part).ok_or((here, Why::NoOperand))?;
    let picked = pick(asked, name, Some(part)).map_err(|why| (start, why))?;
    place(asked, picked, part, storage, at).map_err(|why| (here, why))
}

/// Reads a word: an instruction, one of its operands, a symbol, or a word that a function knows.
pub(crate) fn word(
    asked: Asked<'_>,
    scan: &mut Scanner<'_>,
    storage: &mut QueryStorage,
    at: usize,
) -> Result<(), Fault> {
    let span = scan.word();
    let name = span.of(scan.text);
    let here = |why: Why| (span.start, why);
    if let Some(picked) = exact(asked.tables, name) {
        return storage.set(at, QueryValue::Instruction(picked)).map_err(here);
    }
    if let Some((owner, part)) = text::split_last(name, b'.')
        && let Some(part) = part_named(part)
        && (exact(asked.tables, owner).is_some() || family(asked, owner))
    {
        let picked = pick(asked, owner, Some(part)).map_err(here)?;
        return place(asked, picked, part, storage, at).map_err(here);
    }
    // A single capital is a run-time symbol, as CuTe writes them.
    if name.len() == 1
        && name.bytes().all(|b| b.is_ascii_uppercase())
        && let Some(symbol) = literal::symbol(name, storage)
    {
        return storage.set(at, QueryValue::Number(symbol)).map_err(here);
    }
    storage.set(at, QueryValue::Word(span)).map_err(here)
}

/// What the parts of instructions are called: the operands of a product, the sides of a movement.
const PARTS: [&str; 6] = ["A", "B", "C", "D", "from", "to"];

/// A part by its name, or by that which assemblers have for it.
fn part_named(name: &str) -> Option<&'static str> {
    let name = match name {
        "src" => "from",
        "dst" => "to",
        other => other,
    };
    PARTS.into_iter().find(|part| *part == name)
}

fn family(asked: Asked<'_>, name: &str) -> bool {
    asked.tables.family(asked.arch, name).next().is_some()
}

/// The instruction that a name means: its own, or the first of a family whose members all have the same layout for the
/// part that is asked for.
pub(crate) fn pick(asked: Asked<'_>, name: &str, part: Option<&str>) -> Result<Picked, Why> {
    if let Some(picked) = exact(asked.tables, name) {
        return Ok(picked);
    }
    let mut all = asked.tables.family(asked.arch, name);
    let (first, atom) = all.next().ok_or(Why::UnknownInstruction)?;
    let picked = Picked { atom: first, instance: meant(atom, name) };
    let Some(part) = part else {
        return if all.next().is_none() { Ok(picked) } else { Err(Why::Family) };
    };
    let own = raw(atom, part);
    if all.any(|(_, other)| raw(other, part) != own) { Err(Why::Family) } else { Ok(picked) }
}

/// The number of the instance whose parameters are as they were typed, else usual.
fn meant(atom: &Atom<'_>, name: &str) -> u32 {
    let Some(wanted) = atom.meant(name) else { return usual(atom) };
    (0..atom.instances())
        .find(|number| atom.instance(*number).is_some_and(|one| same(&one, &wanted)))
        .unwrap_or(0)
}

/// The number of an atom's usual instance.
pub(crate) fn usual(atom: &Atom<'_>) -> u32 {
    let wanted = atom.usual();
    (0..atom.instances())
        .find(|number| atom.instance(*number).is_some_and(|one| same(&one, &wanted)))
        .unwrap_or(0)
}

/// The number of the operand that a letter stands for.
fn operand_number(atom: &Atom<'_>, part: &str) -> Option<u8> {
    let matrix = atom.matrix?;
    match part {
        "A" => Some(matrix.a),
        "B" => Some(matrix.b),
        "C" => Some(matrix.c),
        "D" => Some(matrix.d),
        _ => None,
    }
}

/// The side of a movement that a word stands for.
fn side<'t>(atom: &Atom<'t>, part: &str) -> Option<&'t lanebook_tables::Side<'t>> {
    let movement = atom.movement?;
    match part {
        "to" => Some(&movement.to),
        "from" => Some(&movement.from),
        _ => None,
    }
}

/// The layout of a part as the tables have it, for comparing.
fn raw<'t>(atom: &Atom<'t>, part: &str) -> Option<LayoutRef<'t>> {
    match operand_number(atom, part) {
        Some(number) => atom.operands.get(usize::from(number))?.layout.copied(),
        None => side(atom, part).map(|side| *side.layout),
    }
}

/// Puts the layout of an instruction's part into value `at`.
#[inline(never)]
pub(crate) fn place(
    asked: Asked<'_>,
    picked: Picked,
    part: &str,
    storage: &mut QueryStorage,
    at: usize,
) -> Result<(), Why> {
    let found = instance(asked.tables, picked).ok_or(Why::UnknownInstruction)?;
    let elements = elements(asked.tables, &found, part).ok_or(Why::NoOperand)?;
    let layout = layout_of(&found, part).ok_or(Why::NoOperand)?;
    storage.set(at, QueryValue::Layout(Placed { layout, elements }))
}

#[inline(never)]
fn layout_of(found: &Instance<'_>, part: &str) -> Option<Layout> {
    match operand_number(found.atom, part) {
        Some(number) => found.layout(number),
        None => Layout::from_ref(*side(found.atom, part)?.layout).ok(),
    }
}

/// How the elements of a part are counted.
fn elements(tables: &Tables<'_>, found: &Instance<'_>, part: &str) -> Option<ElementOrder> {
    let atom = found.atom;
    let register = |number: u8| {
        let operand = atom.operands.get(usize::from(number))?;
        let class = tables.isas.get(atom.isa.index())?.classes.get(operand.class.index())?;
        Some(class.bits)
    };
    let row_major = ElementOrder { row_major: true, ..ElementOrder::default() };
    if let Some(number) = operand_number(atom, part) {
        let operand = atom.operands.get(usize::from(number))?;
        let (rows, columns) = operand.extents;
        operand.layout?;
        // Where the instance has fewer columns than the atom's own layout, its shape says so.
        let shape = found.shape()?;
        let columns = match part {
            "B" | "C" | "D" if atom.matrix?.n == columns => shape.n,
            _ => columns,
        };
        let rows = if part == "A" && atom.matrix?.m == rows { shape.m } else { rows };
        let bits = tables.dtypes.get(found.dtype(number)?.index())?.bits;
        return Some(ElementOrder {
            bits,
            register_bits: register(number).unwrap_or(0),
            ..row_major.shaped(&[u32::from(rows), u32::from(columns)])
        });
    }
    let side = side(atom, part)?;
    let movement = atom.movement?;
    let mut extents: heapless::Vec<u32, 5> = heapless::Vec::new();
    for extent in movement.extents.slice() {
        extents.push(u32::from(*extent)).ok()?;
    }
    let register_bits =
        if side.space == lanebook_tables::Space::Register { register(side.operand)? } else { 0 };
    Some(ElementOrder { bits: movement.unit_bits, register_bits, ..row_major.shaped(&extents) })
}

/// The name of an instruction, as it can be asked for again.
pub(crate) fn name<W: Write>(
    asked: Asked<'_>,
    picked: Picked,
    out: &mut Out<'_, W>,
) -> AnswerWritten {
    let found = instance(asked.tables, picked).ok_or(Why::UnknownInstruction)?;
    let mut rest = found.atom.name();
    while let Some((before, after)) = text::split_first(rest, b'{') {
        out.text(before)?;
        let (param, after) = text::split_first(after, b'}').unwrap_or((after, ""));
        let number =
            found.atom.params().map(|(number, _)| number).find(|k| {
                found.atom.operands.get(usize::from(*k)).is_some_and(|o| o.name == param)
            });
        match number.and_then(|k| found.word(k)) {
            Some(word) => out.text(word.text)?,
            None => {
                let value = number.and_then(|k| found.value(k)).ok_or(Why::UnknownInstruction)?;
                out.unsigned(u64::from(value))?;
            }
        }
        rest = after;
    }
    Ok(out.text(rest)?)
}

/// The parts of an instruction that have a layout, by the names that a query has for them: `A`, `B`, `C`
/// and `D` of a matrix product, `from` and `to` of a movement.
///
/// ```text
/// mma.m16n8k16.f32.f16        A B C D
/// ldmatrix.x4.b16             from to
/// ```
pub fn parts<'t>(atom: &'t Atom<'t>) -> impl Iterator<Item = &'static str> + use<'t> {
    PARTS.into_iter().filter(move |part| raw(atom, part).is_some())
}

/// What an instruction does, in words: its parts with their layouts.
pub(crate) fn describe_text<W: Write>(
    asked: Asked<'_>,
    picked: Picked,
    out: &mut Out<'_, W>,
) -> AnswerWritten {
    let found = instance(asked.tables, picked).ok_or(Why::UnknownInstruction)?;
    for part in parts(found.atom) {
        out.texts(&[part, ": "])?;
        part_text(asked, &found, part, out)?;
        out.text("\n")?;
    }
    Ok(())
}

#[inline(never)]
fn part_text<W: Write>(
    asked: Asked<'_>,
    found: &Instance<'_>,
    part: &str,
    out: &mut Out<'_, W>,
) -> AnswerWritten {
    let elements = elements(asked.tables, found, part).ok_or(Why::NoOperand)?;
    let layout = layout_of(found, part).ok_or(Why::NoOperand)?;
    let placed = Placed { layout, elements };
    show::layout(&placed, &lanebook_layout::SymTable::new(), out)?;
    Ok(show::shape(elements.extents(), out)?)
}

/// The same as JSON.
pub(crate) fn describe_json<W: Write>(
    asked: Asked<'_>,
    picked: Picked,
    out: &mut Out<'_, W>,
) -> AnswerWritten {
    let found = instance(asked.tables, picked).ok_or(Why::UnknownInstruction)?;
    out.key(false, "parts")?;
    out.text("{")?;
    for (k, part) in parts(found.atom).enumerate() {
        out.key(k == 0, part)?;
        out.text("\"")?;
        part_text(asked, &found, part, out)?;
        out.text("\"")?;
    }
    Ok(out.text("}")?)
}

/// The members of a family.
pub(crate) fn family_text<W: Write>(
    asked: Asked<'_>,
    typed: &str,
    out: &mut Out<'_, W>,
) -> AnswerWritten {
    for (_, atom) in asked.tables.family(asked.arch, typed) {
        out.texts(&["  ", atom.name(), "\n"])?;
    }
    Ok(())
}

/// The same as JSON.
pub(crate) fn family_json<W: Write>(
    asked: Asked<'_>,
    typed: &str,
    out: &mut Out<'_, W>,
) -> AnswerWritten {
    out.key(false, "members")?;
    out.text("[")?;
    for (k, (_, atom)) in asked.tables.family(asked.arch, typed).enumerate() {
        out.text(if k > 0 { ", " } else { "" })?;
        out.quoted(atom.name())?;
    }
    Ok(out.text("]")?)
}

//! What goes with the form of an instruction's text, whatever the instruction does.
//!
//! An instruction set names its instructions by rule: those whose texts begin alike, of one class
//! and with as many operands, issue alike, run in one pipe, write and read in one order. Each of
//! these is a trait as [`super::siblings`] compares them inside an architecture.
use super::siblings::Trait;
use super::spelling::{text, words};
use crate::model::{Atom, HwModel, Operand};
use crate::template::{self, Piece};
use lanebook_tables::{AtomClass, Role, Space};
use std::collections::BTreeSet;

/// The traits of an atom's form.
pub(super) fn traits(model: &HwModel, atom: &Atom) -> Vec<Trait> {
    let all = text(atom);
    let one_line = !all.trim_end().contains('\n');
    let isa = &model.isa(atom.isa).name.value;
    let class = format!("{:?}", atom.class).to_lowercase();
    let named = named(atom);
    let (one, two, three) = (head(&all, 1), head(&all, 2), head(&all, 3));
    let (ways, kept) = ways(atom);
    let does = format!(
        "{}{}{}{}",
        if atom.matrix.is_some() { " of a product" } else { "" },
        if atom.means.is_empty() { "" } else { " of an index" },
        atom.does.as_ref().map_or(String::new(), |does| format!(" of `{}`", does.op.value)),
        if atom.operands.iter().any(writes) { "" } else { " without a result" },
    );
    let roles: BTreeSet<String> =
        atom.operands.iter().map(|operand| format!("{:?}", operand.role).to_lowercase()).collect();
    let roles: Vec<&str> = roles.iter().map(String::as_str).collect();
    let mut out = Vec::new();
    let mut add = |form: String, what, value| {
        out.push(Trait { form: format!("{isa}: {form}"), what, value, at: atom.name.span })
    };
    add(format!("{two}{ways}{does} ({})", roles.join(", ")), "the class", class.clone());
    add(format!("{one}, counter {}", counter(atom)), "the order", order(atom));
    // Accesses that move no elements, or none that are said; of movements see [`super::siblings`].
    if atom.movement.is_none() && atom.operands.iter().any(|one| one.role == Role::Address) {
        let way = if atom.operands.iter().any(writes) { " with a result" } else { "" };
        add(format!("{two} at an address{way}"), "the counter", counter(atom).to_string());
    }
    if one_line {
        let guard = if all.starts_with('@') { " with a guard" } else { "" };
        add(
            format!("{three}{guard}, {class} of {} operands", atom.operands.len()),
            "the number of issues",
            atom.cost.issue.to_string(),
        );
        let form = if ways.is_empty() {
            format!("{} {class}{does}", plain(&mnemonic(&all)))
        } else {
            format!("{one}{ways}{kept}")
        };
        // What has no result and is no movement may take an address or what is at it.
        if !ways.is_empty() || atom.operands.iter().any(writes) {
            let order: Vec<String> =
                named.iter().map(|operand| format!("{:?}", operand.role).to_lowercase()).collect();
            let form = format!("{form}, {} operands", named.len());
            add(form, "what operands are, in order,", order.join(", "));
        }
    }
    if let Some(form) = pipe(model, atom, &all).filter(|_| one_line) {
        add(form, "the number of issues", atom.cost.issue.to_string());
    }
    cycles(model, atom, &two, &mut add);
    out.extend(maps(model, atom, isa, &two));
    let mut add = |form: String, what, value| {
        out.push(Trait { form: format!("{isa}: {form}"), what, value, at: atom.name.span })
    };
    // Some have a part in the frame of kernels alone.
    if atom.class == AtomClass::Control {
        return out;
    }
    let tags: Vec<&str> =
        atom.tags.iter().map(|tag| model.tags[tag.index()].name.value.as_str()).collect();
    let unit = if atom.matrix.is_some() { &two } else { &one };
    add(
        format!(
            "{unit}, {class}{}",
            if does.contains("without") { " without a result" } else { "" }
        ),
        "the first tag",
        tags.first().map_or("none".to_string(), |tag| plain(tag)),
    );
    let tags: Vec<String> = tags.iter().map(|tag| plain(tag)).collect();
    add(
        format!(
            "{two} {}{ways}, {class} of {}, into {}",
            modifiers(&all).join(" "),
            held(atom),
            results(model, atom)
        ),
        "the tags",
        if tags.is_empty() { "none".into() } else { tags.join(", ") },
    );
    out
}

/// What an instruction occupies, as far as its text or its tags say: products of one kind, and what
/// is computed in one manner, or in one pipe of several, issue alike.
fn pipe(model: &HwModel, atom: &Atom, all: &str) -> Option<String> {
    if atom.matrix.is_some() {
        let scaled = atom.more.as_ref().is_some_and(|more| more.scales.0.is_some());
        return (!scaled).then(|| head(all, 2));
    }
    if !matches!(atom.class, AtomClass::Alu | AtomClass::Convert) {
        return None;
    }
    let tags: Vec<&str> =
        atom.tags.iter().map(|tag| model.tags[tag.index()].name.value.as_str()).collect();
    let mnemonic = head(all, usize::MAX);
    let behind = mnemonic.split_once('.').map_or("", |(_, behind)| behind);
    let named = match tags.len() {
        0 if behind.contains('.') => behind.to_string(),
        0 | 1 => return None,
        _ => tags.join(" and "),
    };
    Some(format!("{named} of {}", held(atom)))
}

/// Where products of one kind have their elements: matrices of as many rows and columns, of elements
/// as wide, lie alike.
fn maps(model: &HwModel, atom: &Atom, isa: &str, two: &str) -> Vec<Trait> {
    let Some(shape) = &atom.matrix else { return Vec::new() };
    let more = atom.more.as_ref();
    let blocks = more.map_or(1, |more| more.blocks.max(1));
    let sparse = if more.is_some_and(|more| more.index.is_some()) { ", sparse" } else { "" };
    // What a text says of the order in which factors lie.
    let text = text(atom);
    let lie: Vec<&str> = words(&text).filter(|word| ["row", "col"].contains(word)).collect();
    let lie = lie.join(" and ");
    let of = |(number, what, rows, columns): (u8, &str, u16, u16)| {
        let operand = atom.operands.get(usize::from(number))?;
        let layout = operand.layout.as_ref()?;
        let bits = model.dtypes.get(operand.dtype?.index())?.bits;
        let form = format!(
            "{isa}: {two}, {what} of {rows}x{columns} in {blocks} blocks, {bits} bits in {} registers{sparse} {lie}",
            operand.registers
        );
        let value = layout.text.value.clone();
        Some(Trait { form, what: "the layout", value, at: layout.text.span })
    };
    [
        (shape.d, "sums", shape.m, shape.n),
        (shape.a, "A", shape.m, shape.k),
        (shape.b, "B", shape.k, shape.n),
    ]
    .into_iter()
    .filter_map(of)
    .collect()
}

/// Whether the unit's cycles are known goes with the types; where they do not follow from the
/// passes that a tag says, so does what a unit does in a cycle.
fn cycles(
    model: &HwModel,
    atom: &Atom,
    two: &str,
    add: &mut impl FnMut(String, &'static str, String),
) {
    let Some(shape) = &atom.matrix else { return };
    let dtype = |number: u8| {
        let id = atom.operands.get(usize::from(number)).and_then(|operand| operand.dtype);
        id.and_then(|id| model.dtypes.get(id.index())).map_or("any", |dtype| &dtype.name.value)
    };
    let scaled = atom.more.as_ref().is_some_and(|more| more.scales.0.is_some());
    let form = format!(
        "{two} of {} and {} to {}, depth {}{}",
        dtype(shape.a),
        dtype(shape.b),
        dtype(shape.d),
        shape.k,
        if scaled { " with scales" } else { "" }
    );
    let known = atom.cost.cycles > 0;
    add(form.clone(), "that its cycles are known", known.to_string());
    let series =
        atom.tags.iter().any(|tag| model.tags[tag.index()].name.value.contains(char::is_numeric));
    let (blocks, cycles) =
        (atom.more.as_ref().map_or(1, |more| more.blocks.max(1)), u64::from(atom.cost.cycles));
    let all = [shape.m / blocks, shape.n, shape.k, blocks];
    let all: u64 = all.into_iter().map(u64::from).product();
    if known && !series {
        let rate = if all.is_multiple_of(cycles) {
            (all / cycles).to_string()
        } else {
            format!("{all} in {cycles}")
        };
        add(form, "the number of products in a cycle", rate);
    }
}

fn writes(operand: &Operand) -> bool {
    matches!(operand.role, Role::Def | Role::UseDef)
}

/// An instruction's own word, behind a guard.
fn mnemonic(text: &str) -> String {
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default();
    if first.starts_with('@') { words.next() } else { Some(first) }.unwrap_or_default().to_string()
}

/// Parts of the instruction's word; what is joined by two colons stays together.
fn head(text: &str, count: usize) -> String {
    let word = mnemonic(text);
    let parts = word.split(['.', '_']).take(count);
    parts.collect::<Vec<_>>().join(".")
}

/// Without its numbers.
fn plain(word: &str) -> String {
    word.chars().filter(|c| !c.is_ascii_digit()).collect()
}

/// Words behind the instruction's own, and inside of it those that are neither its first two nor
/// its last: none has a number.
fn modifiers(text: &str) -> Vec<String> {
    let own = mnemonic(text);
    let parts: Vec<&str> = own.split(['.', '_']).collect();
    let inside = parts.iter().skip(2).take(parts.len().saturating_sub(3)).copied();
    let line = text.lines().next().unwrap_or_default();
    let behind = line.split_once(own.as_str()).map_or("", |(_, rest)| rest);
    let behind = behind.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let words: BTreeSet<&str> = inside
        .chain(behind)
        .filter(|word| {
            !word.is_empty() && word.chars().all(|c| c.is_ascii_alphabetic() || c == '_')
        })
        .collect();
    words.into_iter().map(str::to_string).collect()
}

/// From where to where a movement goes, and whether what it fills keeps a part.
fn ways(atom: &Atom) -> (String, &'static str) {
    let Some(movement) = &atom.movement else { return (String::new(), "") };
    let crosses = if movement.crosses_lanes { " across lanes" } else { "" };
    let answers = super::siblings::answers(movement);
    let ways = format!(" {:?} to {:?}{crosses}{answers}", movement.from.space, movement.to.space);
    let kept = if movement.to.rest == crate::schema::Rest::Keep { ", a part stays" } else { "" };
    (ways.to_lowercase(), kept)
}

/// Registers of what is moved, or the most of an operand.
fn held(atom: &Atom) -> u16 {
    if atom.movement.is_none() {
        let registers =
            atom.operands.iter().filter(|operand| !writes(operand) && atom.matrix.is_none());
        return registers.map(|operand| operand.registers.into()).max().unwrap_or(0);
    }
    let sides = atom.movement.iter().flat_map(|movement| [&movement.from, &movement.to]);
    let mut registers = sides.filter(|side| side.space == Space::Register);
    let operand = registers.next().and_then(|side| atom.operands.get(usize::from(side.operand)));
    operand.map_or(0, |operand| operand.registers.into())
}

/// Classes that are written, and their bits where elements are.
fn results(model: &HwModel, atom: &Atom) -> String {
    let of: BTreeSet<String> = atom
        .operands
        .iter()
        .filter(|operand| writes(operand))
        .filter_map(|operand| {
            let class = model.isa(atom.isa).classes.get(operand.class?.index())?;
            let bits =
                operand.dtype.and_then(|id| model.dtypes.get(id.index())).map_or(0, |d| d.bits);
            let wide = if atom.matrix.is_some() && bits > 32 { " of wide elements" } else { "" };
            Some(format!("{}{wide}", class.name.value))
        })
        .collect();
    of.into_iter().collect::<Vec<_>>().join(" and ")
}

fn counter(atom: &Atom) -> &str {
    atom.counter.as_ref().map_or("none", |name| name.value.as_str())
}

fn order(atom: &Atom) -> String {
    if atom.unordered { "any" } else { "that of the text" }.to_string()
}

/// Operands in the order in which a text names them first, but for words and numbers that stand for
/// themselves.
pub(super) fn named(atom: &Atom) -> Vec<&Operand> {
    let mut out: Vec<&Operand> = Vec::new();
    for piece in &atom.template {
        let name = match piece {
            Piece::Name(name) => template::half(name).map_or(name.as_str(), |(name, _)| name),
            Piece::Optional(name, _) => name.as_str(),
            Piece::Text(_) => continue,
        };
        let found = atom.operands.iter().find(|operand| operand.name.value == name);
        if let Some(operand) = found.filter(|operand| {
            operand.vary.words.is_empty()
                && operand.vary.values.is_empty()
                && !out.iter().any(|other| other.name.value == operand.name.value)
        }) {
            out.push(operand);
        }
    }
    out
}

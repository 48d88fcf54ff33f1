//! Every atom's text before the vendors' assemblers.
//!
//! An instance of an atom becomes one piece of text with made-up operands ([`instance_text`]); a listing holds one instance
//! after the other, so that one run of an assembler judges all of them: a piece is refused if a message names one of its lines.

use lanebook::TABLES;
use lanebook_tables::{Arch, Atom, AtomId, Instance, Isa, Operand, Piece, RegisterKind, Role, TupleStyle};
use std::fmt::Write as _;
use std::ops::Range;

pub mod ptx;

/// A piece of a listing: which instance, and on which lines of the text it stands (from 1).
#[derive(Clone, Debug)]
pub struct Part {
    /// The atom.
    pub atom: AtomId,
    /// Its text on one line, for messages.
    pub text: String,
    /// Its lines.
    pub lines: Range<usize>,
}

/// The instruction set with this name and the ids of its atoms.
#[must_use]
pub fn isa(name: &str) -> (&'static Isa<'static>, Vec<AtomId>) {
    let at = TABLES.isas.iter().position(|isa| isa.name == name).expect("an instruction set of the tables");
    let of = (0u16..).zip(TABLES.atoms).filter(|(_, atom)| atom.isa.index() == at).map(|(id, _)| AtomId(id));
    (&TABLES.isas[at], of.collect())
}

/// Architectures of an instruction set.
pub fn archs(isa: &str) -> impl Iterator<Item = &'static Arch<'static>> {
    TABLES.archs.iter().filter(move |arch| TABLES.isa(arch.isa).is_some_and(|found| found.name == isa))
}

/// All instances of an atom.
pub fn instances(id: AtomId) -> impl Iterator<Item = Instance<'static>> {
    let atom = TABLES.atom(id).expect("an id of the tables");
    (0..atom.instances()).filter_map(move |number| atom.instance(number))
}

/// The text of an instance with made-up operands: registers from 8 on, distinct for each operand; immediates 0, or the
/// least that they can be; labels `label`.
#[must_use]
pub fn instance_text(isa: &Isa<'_>, instance: &Instance<'_>, label: &str) -> String {
    let mut next = 8;
    let operands: Vec<String> = (0u8..).zip(instance.atom.operands).map(|(k, operand)| operand_text(isa, instance, k, operand, &mut next, label)).collect();
    let mut out = String::new();
    for piece in instance.atom.template {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Operand(k) => out.push_str(&operands[usize::from(k)]),
            Piece::Optional(k, before) => {
                let (_, high) = instance.atom.operands.get(usize::from(k)).expect("an operand").range;
                let _ = write!(out, "{before}{}", if high >= 16 { 16 } else { high });
            }
            Piece::Half(k, upper) => {
                let operand = instance.atom.operands.get(usize::from(k)).expect("an operand");
                let count = usize::from(operand.registers / 2);
                let first = 8 + if upper { count } else { 0 };
                out.push_str(&tuple(isa, operand, first, count));
            }
            Piece::Frame(_) => unreachable!("no frame words in an atom"),
        }
    }
    out
}

fn operand_text(isa: &Isa<'_>, instance: &Instance<'_>, number: u8, operand: &Operand<'_>, next: &mut usize, label: &str) -> String {
    if let Some(word) = instance.word(number) {
        return word.text.to_string();
    }
    if let Some(value) = instance.value(number) {
        return value.to_string();
    }
    match operand.role {
        Role::Immediate => operand.range.0.max(0).to_string(),
        Role::Label => label.to_string(),
        _ => {
            let count = usize::from(instance.registers(number).unwrap_or(operand.registers)).max(1);
            let class = &isa.classes[operand.class.index()];
            let align = if count > 1 { usize::from(class.tuple_align.max(1)) } else { 1 };
            let first = next.next_multiple_of(align);
            *next = first + count;
            tuple(isa, operand, first, count)
        }
    }
}

fn tuple(isa: &Isa<'_>, operand: &Operand<'_>, first: usize, count: usize) -> String {
    let class = &isa.classes[operand.class.index()];
    let one = |k: usize| format!("{}{}", class.prefix, first + k);
    match (class.kind, isa.tuples) {
        (RegisterKind::Special, _) => class.prefix.to_string(),
        _ if count == 1 => one(0),
        (_, TupleStyle::Braces) => format!("{{{}}}", (0..count).map(one).collect::<Vec<_>>().join(", ")),
        (_, TupleStyle::Range) => format!("{}[{first}:{}]", class.prefix, first + count - 1),
    }
}

/// Whether an architecture has an atom.
#[must_use]
pub fn has(arch: &Arch<'_>, id: AtomId) -> bool {
    arch.atoms.iter().any(|a| a.atom == id)
}

/// The name of an atom.
#[must_use]
pub fn name(id: AtomId) -> &'static str {
    TABLES.atom(id).map_or("", |atom: &Atom<'_>| atom.name)
}

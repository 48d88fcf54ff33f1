//! What an instruction's text says in numbers and types is what its atom says.
//!
//! A shape (`m16n8k16`, `32x32x8`) is that of the product; type words stand for the element types of
//! the operands in the order in which an assembler writes them; the width of an access is that of
//! what one address supplies; a name says nothing that its atom does not.
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::{Atom, HwModel};
use crate::template::Piece;
use lanebook_tables::{DtypeId, DtypeKind, IsaId, RegisterKind, Space};
use std::collections::BTreeMap;

/// See the module.
#[must_use]
pub fn check(compiled: &Compiled) -> Diagnostics {
    let model = &compiled.model;
    let mut diags = Diagnostics::new();
    for atom in &model.atoms {
        let one = text(atom);
        shape(atom, &one, &mut diags);
        types(model, atom, &one, &mut diags);
        width(model, atom, &one, &mut diags);
    }
    mnemonics(model, &mut diags);
    super::sides::check(model, &mut diags);
    for (_, atom) in &model.instances {
        shape(atom, &text(atom), &mut diags);
        if diags.errors() > 0 {
            break; // one instance says it
        }
    }
    diags
}

/// The text without its operands; words of parameters are not in it.
pub(super) fn text(atom: &Atom) -> String {
    let mut out = String::new();
    for piece in &atom.template {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Name(_) => out.push('\u{1}'),
            Piece::Optional(_, before) => out.push_str(before),
        }
    }
    out
}

/// Words of letters and digits.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
}

/// Three numbers of a word, each behind a letter of its own (`m16n8k16`) or between `x`.
fn dimensions(word: &str) -> Option<[u16; 3]> {
    let numbers: Vec<&str> =
        word.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty()).collect();
    let letters: String = word.chars().filter(|c| !c.is_ascii_digit()).collect();
    let three: [&str; 3] = numbers.try_into().ok()?;
    if letters != "mnk" && letters != "xx" {
        return None;
    }
    let mut out = [0u16; 3];
    for (to, from) in out.iter_mut().zip(three) {
        *to = from.parse().ok()?;
    }
    Some(out)
}

fn shape(atom: &Atom, text: &str, diags: &mut Diagnostics) {
    let Some(shape) = &atom.matrix else { return };
    // An instruction of several products counts the rows of one.
    let blocks = atom.more.as_ref().map_or(1, |more| more.blocks.max(1));
    for (what, from) in [("text", text), ("name", atom.name.value.as_str())] {
        for said in words(from).filter_map(dimensions) {
            let found = [shape.m, shape.n, shape.k];
            let one = [shape.m / blocks, shape.n, shape.k];
            if said != found && said != one {
                let message = format!(
                    "the {what} of `{}` says {}x{}x{}, its product is {}x{}x{}",
                    atom.name.value, said[0], said[1], said[2], found[0], found[1], found[2]
                );
                diags.push(
                    Diagnostic::at(shape.span.head(), message)
                        .note(atom.template_span, "the text")
                        .help("correct `m`, `n` and `k`, or the text"),
                );
            }
        }
    }
}

/// A type as a text writes it: letters and a number, or exponent and mantissa.
#[derive(Clone, Debug, PartialEq)]
struct TypeWord {
    letters: String,
    bits: u16,
}

fn type_word(word: &str) -> Option<TypeWord> {
    // Two of a kind in a register: `f16x2`.
    let word = match word.split_once('x') {
        Some((first, count)) if count.chars().all(|c| c.is_ascii_digit()) && !first.is_empty() => {
            first
        }
        _ => word,
    };
    let at = word.find(|c: char| c.is_ascii_digit())?;
    let (letters, digits) = word.split_at(at);
    let known = ["f", "bf", "fp", "tf", "xf", "i", "u", "s", "b", "iu"];
    if known.contains(&letters) && digits.chars().all(|c| c.is_ascii_digit()) {
        return Some(TypeWord { letters: letters.into(), bits: digits.parse().ok()? });
    }
    // e4m3, ue8m0
    let exponent = word.trim_start_matches('u').strip_prefix('e')?;
    let (e, m) = exponent.split_once('m')?;
    let rest: String = m.chars().take_while(char::is_ascii_digit).collect();
    let sign = u16::from(!word.starts_with('u'));
    Some(TypeWord {
        letters: word.trim_start_matches('u').into(),
        bits: e.parse::<u16>().ok()? + rest.parse::<u16>().ok()? + sign,
    })
}

/// Whether a word of a text can stand for an element type.
fn stands_for(model: &HwModel, word: &TypeWord, id: DtypeId) -> bool {
    let Some(dtype) = model.dtypes.get(id.index()) else { return true };
    let name = dtype.name.value.as_str();
    if name == word.letters || name.trim_start_matches('u') == word.letters {
        return true;
    }
    if word.bits != dtype.bits {
        // Container bits of a type without a width of its own are the text's business.
        return false;
    }
    let letters = word.letters.as_str();
    match dtype.kind {
        DtypeKind::Float if dtype.bits <= 8 => ["f", "fp", "bf"].contains(&letters),
        DtypeKind::Float => {
            let own: String = name.chars().take_while(char::is_ascii_alphabetic).collect();
            // The two names of the 19-bit format.
            let alias =
                |letters: &str| if letters == "xf" { "tf".into() } else { letters.to_string() };
            alias(letters) == alias(&own)
        }
        DtypeKind::Signed | DtypeKind::Unsigned => ["i", "s", "u", "iu", "b"].contains(&letters),
        DtypeKind::Bits => ["b", "u", "i", "s"].contains(&letters),
    }
}

fn types(model: &HwModel, atom: &Atom, text: &str, diags: &mut Diagnostics) {
    let Some(shape) = &atom.matrix else { return };
    let first_line = text.lines().next().unwrap_or_default();
    let mnemonic = first_line.split_whitespace().next().unwrap_or_default();
    let said: Vec<TypeWord> = mnemonic
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '\u{1}')
        .filter_map(type_word)
        .collect();
    // A parameter stands for a type, or a word for two: what is left in the text is not in order.
    let two = words(&mnemonic.replace('_', ".")).any(|word| {
        (1..word.len())
            .any(|at| type_word(&word[..at]).is_some() && type_word(&word[at..]).is_some())
    });
    // A number of a shape is no type.
    let shapes = |word: &str| word.starts_with('m') && word.contains('n') && word.contains('k');
    let parameters = mnemonic.split('.').any(|word| word.contains('\u{1}') && !shapes(word));
    if parameters && !two {
        around(model, atom, mnemonic, diags);
    }
    if parameters || said.is_empty() || two {
        return;
    }
    let order: &[u8] = match said.len() {
        1 => &[shape.d],
        2 => &[shape.d, shape.a],
        3 => &[shape.d, shape.a, shape.b],
        4 => &[shape.d, shape.a, shape.b, shape.c],
        _ => return,
    };
    let mut checked: Vec<(u8, usize)> = order.iter().copied().zip(0..).collect();
    if said.len() == 2 {
        checked.push((shape.b, 1));
    }
    if said.len() < 4 {
        checked.push((shape.c, 0));
    }
    for (number, at) in checked {
        said_of(model, atom, number, &said[at], diags);
    }
}

/// Four types of a text, of which parameters stand for those of the factors: the others are those of
/// what is added to and of what is left.
fn around(model: &HwModel, atom: &Atom, mnemonic: &str, diags: &mut Diagnostics) {
    let Some(shape) = &atom.matrix else { return };
    let slots: Vec<Option<TypeWord>> = mnemonic
        .split('.')
        .filter(|word| *word == "\u{1}" || type_word(word).is_some())
        .map(type_word)
        .collect();
    if let [Some(left), None, None, Some(added)] = slots.as_slice() {
        said_of(model, atom, shape.d, left, diags);
        said_of(model, atom, shape.c, added, diags);
    }
}

/// A type word of a text and the operand that it is of.
fn said_of(model: &HwModel, atom: &Atom, number: u8, word: &TypeWord, diags: &mut Diagnostics) {
    let Some(operand) = atom.operands.get(usize::from(number)) else { return };
    let Some(id) = operand.dtype.filter(|_| operand.vary.typed_by.is_none()) else { return };
    if stands_for(model, word, id) {
        return;
    }
    let message = format!(
        "the text of `{}` says `{}{}` of operand `{}`, which has elements of `{}`",
        atom.name.value,
        word.letters,
        if word.letters.contains('m') { String::new() } else { word.bits.to_string() },
        operand.name.value,
        model.dtypes[id.index()].name.value
    );
    diags.push(
        Diagnostic::at(operand.name.span, message)
            .note(atom.template_span, "the text")
            .help("correct `dtype`, or the text"),
    );
}

/// An access of `v4.b32` supplies 16 bytes.
fn width(model: &HwModel, atom: &Atom, text: &str, diags: &mut Diagnostics) {
    let Some(movement) = &atom.movement else { return };
    let sides = [&movement.from, &movement.to];
    let Some(memory) =
        sides.iter().find(|side| matches!(side.space, Space::Shared | Space::Global))
    else {
        return;
    };
    let Some(register) = sides.iter().find(|side| side.space == Space::Register) else { return };
    let Some(slot) = &memory.slot_bytes else { return };
    if movement.crosses_lanes || text.lines().count() != 1 {
        return;
    }
    let mnemonic = text.split_whitespace().next().unwrap_or_default();
    if mnemonic.contains('\u{1}') {
        return;
    }
    let said: Vec<u16> = words(&mnemonic.replace('_', "."))
        .filter_map(|word| word.strip_prefix('b')?.parse().ok())
        .collect();
    let vector: u16 =
        words(mnemonic).find_map(|word| word.strip_prefix('v')?.parse().ok()).unwrap_or(1);
    let [bits] = said.as_slice() else { return };
    // Two places have the width of each in the text.
    if movement.offsets.iter().any(|field| field.place != 0) {
        return;
    }
    if u32::from(slot.value) * 8 != u32::from(*bits) * u32::from(vector) {
        let message = format!(
            "the text of `{}` moves {vector} times {bits} bits, an address supplies {} bytes",
            atom.name.value, slot.value
        );
        diags.push(
            Diagnostic::at(slot.span, message)
                .note(atom.template_span, "the text")
                .help("correct `slot_bytes` or the text"),
        );
    }
    let Some(operand) = atom.operands.get(usize::from(register.operand)) else { return };
    let kind = operand
        .class
        .and_then(|class| model.isa(atom.isa).classes.get(class.index()))
        .map(|class| class.kind);
    let held = u32::from(operand.registers) * u32::from(operand.register_bits);
    // Each of several narrow ones has a register of its own.
    let each = if vector > 1 { (*bits).max(operand.register_bits) } else { *bits };
    // What is compared may stand behind what is moved.
    let compares = movement.atomic.and_then(|atomic| atomic.compare) == Some(register.operand);
    let moved = u32::from(each) * u32::from(vector) * if compares { 2 } else { 1 };
    if kind == Some(RegisterKind::Vector) && (held < moved || held >= moved + 32) {
        let message = format!(
            "the text of `{}` moves {moved} bits, `{}` has {held}",
            atom.name.value, operand.name.value
        );
        diags.push(
            Diagnostic::at(operand.name.span, message)
                .note(atom.template_span, "the text")
                .help("correct `registers`, the class or the text"),
        );
    }
}

/// Accesses of one mnemonic move as much for each address.
fn mnemonics(model: &HwModel, diags: &mut Diagnostics) {
    let mut known: BTreeMap<(IsaId, String), (u16, &Atom)> = BTreeMap::new();
    for atom in &model.atoms {
        let text = text(atom);
        let Some(mnemonic) = text.split_whitespace().next() else { continue };
        // A width may stand behind the operands.
        let number = text.split(['\u{1}', ' ', ',', ';']).find(|word| word.parse::<u16>().is_ok());
        let sides = atom.movement.iter().flat_map(|movement| [&movement.from, &movement.to]);
        let memory = sides.filter(|side| matches!(side.space, Space::Shared | Space::Global));
        let Some(slot) = memory.filter_map(|side| side.slot_bytes.as_ref()).next() else {
            continue;
        };
        if mnemonic.contains('\u{1}') || text.trim().contains('\n') {
            continue;
        }
        let of = known
            .entry((atom.isa, format!("{mnemonic} {}", number.unwrap_or_default())))
            .or_insert((slot.value, atom));
        if of.0 != slot.value {
            let message = format!(
                "`{mnemonic}` moves {} bytes for an address here, and {} in `{}`",
                slot.value, of.0, of.1.name.value
            );
            diags.push(
                Diagnostic::at(slot.span, message)
                    .note(of.1.name.span, "the other")
                    .help("one mnemonic is of one width: correct `slot_bytes`, or the text"),
            );
        }
    }
}

//! What an instruction says of A and of B has one order in its text, and one that says how wide what
//! it works on is, says it of what the tables say.

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::{Atom, HwModel};
use crate::source::Span;
use crate::template::Piece;

/// See the module.
pub(super) fn check(model: &HwModel, diags: &mut Diagnostics) {
    for atom in &model.atoms {
        along(atom, diags);
        moved(atom, diags);
    }
    mbarriers(model, diags);
}

/// Where an operand stands in the text.
fn place(atom: &Atom, operand: u8) -> Option<usize> {
    let own = &atom.operands.get(usize::from(operand))?.name.value;
    atom.template.iter().position(|piece| match piece {
        Piece::Name(name) | Piece::Optional(name, _) => name == own,
        Piece::Text(_) => false,
    })
}

/// What is said at a place that the text of an atom contradicts.
fn beside_text(atom: &Atom, at: Span, message: String, help: &'static str) -> Diagnostic {
    Diagnostic::at(at, message).note(atom.template_span, "the text").help(help)
}

/// Of two operands in shared memory, what says how the first one lies stands before what says it of
/// the second.
fn along(atom: &Atom, diags: &mut Diagnostics) {
    let Some(more) = &atom.more else { return };
    let said: Vec<(usize, usize)> = more
        .shared
        .iter()
        .filter_map(|one| Some((place(atom, one.operand)?, place(atom, one.along?)?)))
        .collect();
    let [(first, of_first), (second, of_second)] = said[..] else { return };
    if (first < second) != (of_first < of_second) {
        let message = format!("`{}` says how its operands lie in another order", atom.name.value);
        let help = "correct `operand` or `along` of what is in shared memory";
        diags.push(beside_text(atom, atom.name.span, message, help));
    }
}

/// What moves the scales of A moves those of B: bytes and lanes stand in one order.
fn moved(atom: &Atom, diags: &mut Diagnostics) {
    let Some(more) = &atom.more else { return };
    let (of_a, of_b) = &more.scales;
    let (Some(of_a), Some(of_b)) = (of_a, of_b) else { return };
    let order = |of: u8| {
        let own = more.moves.iter().filter(|(_, other, ..)| *other == of);
        let mut placed: Vec<(Option<usize>, bool)> =
            own.map(|(by, _, bits, _)| (place(atom, *by), *bits > 0)).collect();
        placed.sort_unstable();
        placed.into_iter().map(|(_, is_byte)| is_byte).collect::<Vec<_>>()
    };
    let (of_a, of_b) = (order(*of_a), order(*of_b));
    let bytes = |order: &[bool]| order.iter().filter(|is_byte| **is_byte).count();
    // Where they are not moved in the same ways at all, the claims say so.
    if of_a != of_b && of_a.len() == of_b.len() && bytes(&of_a) == bytes(&of_b) {
        let message = format!("`{}` moves the scales of A and of B otherwise", atom.name.value);
        let help = "bytes and lanes have one order in both: correct `by`, `bits` or `lanes`";
        diags.push(beside_text(atom, atom.name.span, message, help));
    }
}

/// An mbarrier is as wide as the texts that work on it say, and is told of as many bytes as
/// the operand that tells it holds.
fn mbarriers(model: &HwModel, diags: &mut Diagnostics) {
    for (fact, object) in &model.units.mbarriers {
        let expect = model.atoms.get(object.expect.index());
        let ranges = expect.iter().flat_map(|atom| &atom.operands);
        let range = ranges.filter_map(|operand| operand.range.as_ref()).next_back();
        let most = i64::from(fact.entry.most_bytes);
        if let Some(range) = range.filter(|range| range.value.1 != most) {
            diags.push(
                Diagnostic::at(
                    fact.entry.name.span,
                    format!("at most {most} bytes, what tells it of them takes {}", range.value.1),
                )
                .note(range.span, "the operand")
                .help("correct `most_bytes` or the range"),
            );
        }
        let bytes = u32::from(fact.entry.bytes);
        for id in [object.init, object.expect] {
            let Some(atom) = model.atoms.get(id.index()) else { continue };
            let text = super::spelling::text(atom);
            let said = super::spelling::words(&text)
                .find_map(|word| word.strip_prefix('b')?.parse::<u32>().ok());
            if said.is_some_and(|bits| bits != bytes * 8) {
                let message = format!(
                    "{bytes} bytes, the text of `{}` says {} bits",
                    atom.name.value,
                    said.unwrap_or(0)
                );
                let help = "correct `bytes` or the text";
                diags.push(beside_text(atom, fact.entry.name.span, message, help));
            }
        }
    }
}

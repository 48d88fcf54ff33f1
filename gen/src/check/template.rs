//! A template names only operands that exist, and every operand that is not implicit; halves only
//! of even tuples.
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::{Atom, HwModel};
use crate::template::Piece;
use lanebook_suggest::remedy;
use lanebook_tables::Role;

/// See the module.
#[must_use]
pub fn check(model: &HwModel) -> Diagnostics {
    let mut diags = Diagnostics::new();
    for atom in model.every() {
        pieces(atom, &mut diags);
    }
    diags
}

/// An atom of several instructions has one a line, and none of them empty.
fn lines(atom: &Atom, diags: &mut Diagnostics) {
    let text: String = atom
        .template
        .iter()
        .map(|piece| if let Piece::Text(text) = piece { text.as_str() } else { "x" })
        .collect();
    if !text.is_empty() && text.split('\n').any(|line| line.trim().is_empty()) {
        diags.push(
            Diagnostic::at(atom.template_span, "the template has an empty line")
                .help("write an instruction a line, without a line end after the last"),
        );
    }
}

fn pieces(atom: &Atom, diags: &mut Diagnostics) {
    lines(atom, diags);
    let mut used = vec![false; atom.operands.len()];
    // The compiled template marks its places with control characters.
    let odd = |text: &str| text.chars().any(|c| c.is_control() && c != '\n' && c != '\t');
    if atom
        .template
        .iter()
        .any(|piece| matches!(piece, Piece::Text(text) | Piece::Optional(_, text) if odd(text)))
    {
        diags.push(
            Diagnostic::at(atom.template_span, "the template has a control character")
                .help("of these it may hold line ends and tabs only"),
        );
    }
    if atom.operands.len() > usize::from(lanebook_tables::Template::OPERANDS) {
        let most = lanebook_tables::Template::OPERANDS;
        diags.push(
            Diagnostic::at(atom.template_span, format!("an atom has at most {most} operands"))
                .help("split the instruction form"),
        );
    }
    for piece in &atom.template {
        let (name, optional) = match piece {
            Piece::Text(_) => continue,
            Piece::Name(name) => (name, false),
            Piece::Optional(name, _) => (name, true),
        };
        let half = crate::template::half(name);
        let name = half.map_or(name.as_str(), |(name, _)| name);
        let Some(number) = atom.operand(name) else {
            let known = atom.operands.iter().map(|o| o.name.as_str());
            let names: Vec<&str> = known.clone().collect();
            let help = remedy(name, known, &format!("operands: {}", names.join(", ")));
            diags.push(
                Diagnostic::at(
                    atom.template_span,
                    format!("the template names no operand of the atom: `{{{name}}}`"),
                )
                .help(help),
            );
            continue;
        };
        let operand = &atom.operands[usize::from(number)];
        used[usize::from(number)] = true;
        if half.is_some() && (operand.registers < 2 || !operand.registers.is_multiple_of(2)) {
            diags.push(
                Diagnostic::at(
                    atom.template_span,
                    format!("half of operand `{name}`, which has {} registers", operand.registers),
                )
                .note(operand.name.span, "the operand")
                .help("only a tuple of an even number of registers has halves"),
            );
        }
        if operand.implicit {
            diags.push(
                Diagnostic::at(
                    atom.template_span,
                    format!("operand `{name}` is implicit, and the template shows it"),
                )
                .note(operand.name.span, "the operand")
                .help("remove one of the two"),
            );
        }
        if optional && operand.role != Role::Immediate {
            diags.push(
                Diagnostic::at(atom.template_span, format!("`{{{name}?...}}` is for immediates"))
                    .note(operand.name.span, "the operand")
                    .help(format!("write `{{{name}}}`")),
            );
        }
    }
    if atom.template.is_empty() {
        return; // malformed, and reported as such
    }
    for (operand, used) in atom.operands.iter().zip(used) {
        // What stands in the instruction descriptor is not in the text.
        let in_descriptor = operand.role == Role::Immediate
            && atom.more.as_ref().is_some_and(|more| more.tensor.is_some());
        if !used && !operand.implicit && !in_descriptor {
            diags.push(
                Diagnostic::at(
                    operand.name.span,
                    format!("operand `{}` is not in the template", operand.name.value),
                )
                .note(atom.template_span, "the template")
                .help("show it there, or say `implicit: true` if it is a fixed register"),
            );
        }
    }
}

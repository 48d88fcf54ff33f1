//! Templates survive being encoded: what a build stores gives back what the table says, operand by
//! operand.
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::Atom;
use crate::template;
use lanebook_tables::Piece;

/// See the module.
#[must_use]
pub fn check(compiled: &Compiled) -> Diagnostics {
    let mut diags = Diagnostics::new();
    let tables = compiled.tables();
    for atom in &compiled.model.atoms {
        // A selection of architectures may have left it out.
        let Some(stored) = tables.atom_named(&atom.name).and_then(|id| tables.atom(id)) else {
            continue;
        };
        let decoded: Vec<template::Piece> =
            stored.template.into_iter().map(|piece| named(atom, piece)).collect();
        if joined(&decoded) != joined(&atom.template) {
            diags.push(
                Diagnostic::at(
                    atom.template_span,
                    format!("the template of `{}` changes when it is encoded", atom.name.value),
                )
                .help("use no control characters, and at most 64 operands"),
            );
        }
    }
    diags
}

/// Neighbouring texts as one.
fn joined(pieces: &[template::Piece]) -> Vec<template::Piece> {
    let mut out: Vec<template::Piece> = Vec::new();
    for piece in pieces {
        match (out.last_mut(), piece) {
            (Some(template::Piece::Text(before)), template::Piece::Text(text)) => {
                before.push_str(text)
            }
            _ => out.push(piece.clone()),
        }
    }
    out
}

fn named(atom: &Atom, piece: Piece<'_>) -> template::Piece {
    let name = |number: u8| {
        atom.operands
            .get(usize::from(number))
            .map_or_else(String::new, |operand| operand.name.value.clone())
    };
    match piece {
        Piece::Text(text) | Piece::Frame(text) => template::Piece::Text(text.to_string()),
        Piece::Operand(number) => template::Piece::Name(name(number)),
        Piece::Optional(number, before) => {
            template::Piece::Optional(name(number), before.to_string())
        }
        Piece::Half(number, upper) => {
            template::Piece::Name(format!("{}{}", name(number), if upper { ".hi" } else { ".lo" }))
        }
    }
}

//! The same instruction form under two names in one architecture.
//!
//! Two atoms may share their text (one instruction seen in two ways, two register classes); they
//! are the same only if everything that a kernel depends on is: text, operands, layouts, shape,
//! movement, meaning.
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics, Level};
use crate::model::{Atom, Side};
use crate::template::Piece;
use lanebook_tables::AtomId;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// See the module.
#[must_use]
pub fn check(compiled: &Compiled) -> Diagnostics {
    let mut diags = Diagnostics::new();
    let model = &compiled.model;
    let mut said: BTreeSet<(AtomId, AtomId)> = BTreeSet::new();
    let forms: Vec<String> = model.atoms.iter().map(form).collect();
    for arch in &model.archs {
        let mut known: BTreeMap<&str, AtomId> = BTreeMap::new();
        for entry in &arch.atoms {
            let atom = model.atom(entry.atom);
            let Some(form) = forms.get(entry.atom.index()) else { continue };
            let Some(first) = known.insert(form, entry.atom) else { continue };
            if said.insert((first, entry.atom)) {
                let other = model.atom(first);
                diags.push(
                    Diagnostic::at(
                        atom.name.span,
                        format!(
                            "`{}` is `{}` under another name, and `{}` has both",
                            atom.name.value, other.name.value, arch.name.value
                        ),
                    )
                    .note(other.name.span, "the other")
                    .help("keep one of them, or say in what they differ")
                    .as_level(Level::Warning),
                );
            }
        }
    }
    diags
}

/// Everything that tells atoms apart, operands by number.
fn form(atom: &Atom) -> String {
    let mut out = format!("{:?} {:?}", atom.isa, atom.class);
    let number = |name: &str| match crate::template::half(name) {
        Some((name, upper)) => format!("{:?}.{upper}", atom.operand(name)),
        None => format!("{:?}", atom.operand(name)),
    };
    for piece in &atom.template {
        let _ = match piece {
            Piece::Text(text) => write!(out, " {text:?}"),
            Piece::Name(name) => write!(out, " {}", number(name)),
            Piece::Optional(name, text) => write!(out, " {}?{text:?}", number(name)),
        };
    }
    for operand in &atom.operands {
        let layout = operand.layout.as_ref().map(|layout| &layout.text.value);
        let range = operand.range.as_ref().map(|range| range.value);
        let _ = write!(
            out,
            " | {:?} {:?} {:?} {} {:?} {layout:?} {:?} {range:?} {} {:?}",
            operand.role,
            operand.class,
            operand.also,
            operand.registers,
            operand.dtype,
            operand.rest,
            operand.implicit,
            operand.vary
        );
    }
    if let Some(shape) = &atom.matrix {
        let _ = write!(
            out,
            " | {} {} {} {} {} {} {}",
            shape.m, shape.n, shape.k, shape.a, shape.b, shape.c, shape.d
        );
    }
    if let Some(movement) = &atom.movement {
        let _ = write!(
            out,
            " | {} {:?} {:?} {} {}",
            movement.unit_bits,
            movement.extents.value,
            movement.atomic,
            side(&movement.from),
            side(&movement.to)
        );
        for field in &movement.offsets {
            let _ =
                write!(out, " {} {} {} {}", field.operand, field.scale, field.on_from, field.on_to);
        }
    }
    let _ = write!(out, " | {:?}", atom.means);
    out
}

fn side(side: &Side) -> String {
    let bytes = side.slot_bytes.as_ref().map(|bytes| bytes.value);
    format!(
        "{:?} {} {} {:?} {bytes:?} {} {:?}",
        side.space, side.layout.text.value, side.operand, side.base, side.align_bytes, side.access
    )
}

//! C and D of a matrix instruction agree: an element's sum stays in the lane, and of one type also
//! in the bits.
//!
//! What one product leaves in D the next takes as C, without a move between.
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::layouts::{Layout, coordinate};
use lanebook_layout::AxisId;

/// See the module.
#[must_use]
pub fn check(compiled: &Compiled) -> Diagnostics {
    let mut diags = Diagnostics::new();
    for atom in &compiled.model.atoms {
        let Some(shape) = &atom.matrix else { continue };
        let operand = |number: u8| atom.operands.get(usize::from(number));
        let (Some(c), Some(d)) = (operand(shape.c), operand(shape.d)) else { continue };
        let (Some(from), Some(to)) = (&c.layout, &d.layout) else { continue };
        if from.size() != to.size() {
            continue; // `matrix` reports it
        }
        let same_type = c.dtype == d.dtype;
        let apart =
            (0..from.size()).find(|x| places(from, *x, same_type) != places(to, *x, same_type));
        if let Some(x) = apart {
            let extents = [shape.m, shape.n];
            let at = |layout: &Layout| {
                places(layout, x, same_type)
                    .first()
                    .map_or_else(String::new, |(lane, bit)| format!("lane {lane}, bit {bit}"))
            };
            let message = format!(
                "`{}` takes element {} of C from {} and leaves that of D in {}",
                atom.name.value,
                coordinate(x, &extents),
                at(from),
                at(to)
            );
            diags.push(
                Diagnostic::at(to.text.span, message)
                    .note(from.text.span, "the layout of C")
                    .help("give C and D one layout, scaled to the width of their types"),
            );
        }
    }
    diags
}

/// All places of an element in order; bits only where they count.
fn places(layout: &Layout, x: u64, with_bits: bool) -> Vec<(i64, i64)> {
    let mut out: Vec<(i64, i64)> = (0..layout.copies())
        .map(|copy| {
            let lane = layout.at(x, copy, AxisId::LANE) + 32 * layout.at(x, copy, AxisId::WARP);
            (lane, if with_bits { layout.at(x, copy, AxisId::BIT) } else { 0 })
        })
        .collect();
    out.sort_unstable();
    out.dedup();
    out
}

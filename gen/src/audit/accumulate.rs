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
        // One layout for both: there is nothing to tell apart.
        if from.text.value == to.text.value {
            continue;
        }
        let (from_all, to_all) = (all_places(from, same_type), all_places(to, same_type));
        let at = |all: &[(i64, i64)], x: u64| {
            let of = all.iter().skip(x as usize).step_by(from.size().max(1) as usize);
            let mut out: Vec<(i64, i64)> = of.copied().collect();
            out.sort_unstable();
            out.dedup();
            out
        };
        let apart = (0..from.size()).find(|x| at(&from_all, *x) != at(&to_all, *x));
        if let Some(x) = apart {
            let extents = [shape.m, shape.n];
            let told = |all: &[(i64, i64)]| {
                at(all, x)
                    .first()
                    .map_or_else(String::new, |(lane, bit)| format!("lane {lane}, bit {bit}"))
            };
            let message = format!(
                "`{}` takes element {} of C from {} and leaves that of D in {}",
                atom.name.value,
                coordinate(x, &extents),
                told(&from_all),
                told(&to_all)
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

/// The places of all elements, copy after copy; bits only where they count.
fn all_places(layout: &Layout, with_bits: bool) -> Vec<(i64, i64)> {
    let lanes = layout.positions(AxisId::LANE);
    let warps = layout.positions(AxisId::WARP);
    let bits = layout.positions(AxisId::BIT);
    let lanes = lanes.iter().zip(&warps).map(|(lane, warp)| lane + 32 * warp);
    lanes.zip(bits).map(|(lane, bit)| (lane, if with_bits { bit } else { 0 })).collect()
}

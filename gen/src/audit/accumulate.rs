//! C and D of a matrix instruction agree: an element's sum stays in the lane, and of one type also
//! in the bits. A and B agree along the depth: what is multiplied with each other stands in lanes that
//! differ by the same, and in a lane in the same order. Rows of A are in the warps that leave those of D.
//!
//! What one product leaves in D the next takes as C, without a move between. Where only some elements
//! of A are stored, an index says which they are.
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::layouts::{Layout, coordinate};
use crate::model::{Matrix, Operand};
use lanebook_layout::AxisId;
use lanebook_tables::{DtypeId, Status};

/// See the module.
#[must_use]
pub fn check(compiled: &Compiled) -> Diagnostics {
    let mut diags = Diagnostics::new();
    for atom in &compiled.model.atoms {
        let Some(shape) = &atom.matrix else { continue };
        let operand = |number: u8| atom.operands.get(usize::from(number));
        // Of two widths, lanes hold runs of the depth that are as long in bits, not in elements.
        let bits = |dtype: Option<DtypeId>| {
            dtype.and_then(|id| compiled.model.dtypes.get(id.index())).map(|dtype| dtype.bits)
        };
        // A machine of its own, of which no source is claimed, may read them in any order.
        if let (Some(a), Some(b)) = (operand(shape.a), operand(shape.b))
            && atom.status != Status::Assumed
            && bits(a.dtype) == bits(b.dtype)
            && let (Some(a), Some(b)) = (&a.layout, &b.layout)
            && let Some(said) = along_depth(shape, (a, b))
        {
            diags.push(
                Diagnostic::at(b.text.span, format!("`{}` {said}", atom.name.value))
                    .note(a.text.span, "the layout of A")
                    .help("give A and B one order along the depth: the product is the same in any, but no other instruction's"),
            );
        }
        if let (Some(a), Some(d)) = (operand(shape.a), operand(shape.d))
            && atom.status != Status::Assumed
            && let (Some(a), Some(d)) = (&a.layout, &d.layout)
            && let Some((row, takes, leaves)) = other_warp(shape, (a, d))
        {
            let message = format!(
                "`{}` takes row {row} of A from warp {takes} and leaves that of D in warp {leaves}",
                atom.name.value
            );
            diags.push(
                Diagnostic::at(a.text.span, message)
                    .note(d.text.span, "the layout of D")
                    .help("a warp multiplies its own rows: give A and D the same ones"),
            );
        }
        let (Some(c), Some(d)) = (operand(shape.c), operand(shape.d)) else { continue };
        if let Some(bits) = atom.more.as_ref().and_then(|more| more.sum_bits.as_ref()) {
            let dtype = |operand: &Operand| compiled.model.dtypes.get(operand.dtype?.index());
            let all = dtype(d).map_or(0, |dtype| match &dtype.format {
                Some(format) => u32::from(format.fraction) + 1,
                None => u32::from(dtype.bits),
            });
            if u32::from(bits.value) >= all {
                let message =
                    format!("`{}` keeps {} bits of a sum of {all}", atom.name.value, bits.value);
                diags.push(
                    Diagnostic::at(bits.span, message).help(
                        "fewer than the accumulator has: correct `sum_bits`, or leave it out",
                    ),
                );
            }
        }
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

/// The first row of A that another warp holds than that of D: row, warp of A, warp of D.
fn other_warp(shape: &Matrix, (a, d): (&Layout, &Layout)) -> Option<(u64, i64, i64)> {
    let rows = u64::from(shape.m);
    let of = |layout: &Layout, row| layout.at(row * (layout.size() / rows.max(1)), 0, AxisId::WARP);
    let mut rows = (0..rows).map(|row| (row, of(a, row), of(d, row)));
    rows.find(|(_, takes, leaves)| takes != leaves)
}

/// How A and B differ along the depth, of the first row and the first column.
fn along_depth(shape: &Matrix, (a, b): (&Layout, &Layout)) -> Option<String> {
    let (m, n, k) = (u64::from(shape.m), u64::from(shape.n), u64::from(shape.k));
    if a.size() != m * k || b.size() != k * n {
        return None; // Stored in part, or parameters: `matrix` reports what is wrong.
    }
    let places = |layout: &Layout, step: u64| -> Vec<(i64, i64)> {
        let at = |x: u64, axis| layout.at(x * step, 0, axis);
        (0..k).map(|x| (at(x, AxisId::LANE) - at(0, AxisId::LANE), at(x, AxisId::BIT))).collect()
    };
    let (first, second) = (places(a, 1), places(b, n));
    let apart = (0..k as usize).find(|x| first[*x].0 != second[*x].0);
    if let Some(x) = apart {
        return Some(format!(
            "has element {x} of the depth {} lanes further in A and {} in B",
            first[x].0, second[x].0
        ));
    }
    let order = |all: &[(i64, i64)]| {
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by_key(|x| all[*x]);
        order
    };
    let (own, theirs) = (order(&first), order(&second));
    let at = (0..own.len()).find(|at| own[*at] != theirs[*at])?;
    Some(format!("has element {} of the depth where B has {}", own[at], theirs[at]))
}

//! Matrix operands have the extents that the shape gives them: A is (m, k), B is (k, n), C and D
//! are (m, n).
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::{Atom, HwModel, Matrix, More};
use lanebook_tables::{Role, Space};

/// See the module.
#[must_use]
pub fn check(model: &HwModel) -> Diagnostics {
    let mut diags = Diagnostics::new();
    for atom in model.every() {
        if let Some(shape) = &atom.matrix {
            let more = atom.more.as_ref();
            if let Some(more) = more {
                if more.blocks == 0 || (more.index.is_some() && !shape.k.is_multiple_of(4)) {
                    let message =
                        "a shape has at least one block, and sparse ones a k in groups of four";
                    diags.push(
                        Diagnostic::at(more.span.head(), message).help("correct `blocks` or `k`"),
                    );
                }
                moves(atom, more, &mut diags);
            }
            let (blocks, stored) = (
                more.map_or(1, |more| more.blocks),
                if more.is_some_and(|more| more.index.is_some()) { shape.k / 2 } else { shape.k },
            );
            let through = |rows: u16| rows.saturating_mul(blocks);
            for (what, number, extents) in [
                ("a", shape.a, (through(shape.m), stored)),
                ("b", shape.b, (through(shape.k), shape.n)),
                ("c", shape.c, (through(shape.m), shape.n)),
                ("d", shape.d, (through(shape.m), shape.n)),
            ] {
                operand(atom, shape, what, number, extents, &mut diags);
            }
        }
    }
    diags
}

/// What moves a layout is an immediate, and the moved layout stays inside the operand's registers.
fn moves(atom: &Atom, more: &More, diags: &mut Diagnostics) {
    for (by, of, bits, _) in &more.moves {
        let (Some(by), Some(of)) =
            (atom.operands.get(usize::from(*by)), atom.operands.get(usize::from(*of)))
        else {
            continue;
        };
        let Some(range) = by.range.as_ref().filter(|_| by.role == Role::Immediate) else {
            let message = format!(
                "operand `{}` moves a layout and is not an immediate with a range",
                by.name.value
            );
            diags.push(
                Diagnostic::at(by.name.span, message)
                    .note(of.name.span, "whose layout")
                    .help("make its role `immediate` and give its range"),
            );
            continue;
        };
        let Some(layout) = &of.layout else { continue };
        let last = (0..layout.size())
            .map(|x| layout.at(x, 0, lanebook_layout::AxisId::BIT))
            .max()
            .unwrap_or(0);
        let total = i64::from(of.registers) * i64::from(of.register_bits);
        let most = last.saturating_add(range.1.saturating_mul(i64::from(*bits)));
        if range.0 < 0 || most >= total {
            let message = format!(
                "moved by {} times {bits} bits, `{}` reaches bit {most} of {total}",
                range.1, of.name.value
            );
            diags.push(
                Diagnostic::at(layout.text.span, message)
                    .note(range.span, "the range")
                    .help("correct `bits`, the range or the layout"),
            );
        }
    }
}

fn operand(
    atom: &Atom,
    shape: &Matrix,
    what: &str,
    number: u8,
    extents: (u16, u16),
    diags: &mut Diagnostics,
) {
    let Some(operand) = atom.operands.get(usize::from(number)) else { return };
    let name = &operand.name.value;
    let tensor = atom.more.as_ref().and_then(|more| more.tensor.as_ref());
    let fits = match what {
        // The register holds an address.
        "c" | "d" if tensor.is_some() => operand.role == Role::Address,
        "a" if tensor.is_some_and(|tensor| tensor.a.is_some()) => operand.role == Role::Address,
        "d" => matches!(operand.role, Role::Def | Role::UseDef),
        _ => matches!(operand.role, Role::Use | Role::UseDef),
    };
    if !fits {
        diags.push(
            Diagnostic::at(
                operand.name.span,
                format!("operand `{name}` has the wrong role for matrix `{what}`"),
            )
            .note(shape.span.head(), "the shape")
            .help(if what == "d" {
                "it is written: `def` or `use_def`"
            } else {
                "it is read: `use` or `use_def`"
            }),
        );
    }
    let Some(stated) = &operand.extents else { return };
    if stated.value != extents {
        diags.push(
            Diagnostic::at(stated.span, format!("operand `{name}` has extents {:?}, matrix `{what}` of the shape has {extents:?}", stated.value))
                .note(shape.span.head(), "the shape")
                .help("leave `extents` out: they follow from the shape"),
        );
        return;
    }
    let Some(layout) = &operand.layout else { return };
    super::movement::axes(Space::Register, layout, diags);
    let wanted = u64::from(extents.0) * u64::from(extents.1);
    if layout.size() != wanted {
        diags.push(
            Diagnostic::at(
                layout.text.span,
                format!("the layout of `{name}` has {} elements, matrix `{what}` is {}x{}, {wanted} elements", layout.size(), extents.0, extents.1),
            )
            .note(shape.span.head(), "the shape")
            .help("the layout covers each element once"),
        );
    } else if !layout.splits_into(&[extents.0, extents.1]) {
        diags.push(
            Diagnostic::at(
                layout.text.span,
                format!(
                    "the layout's extents do not split into {} rows and {} columns",
                    extents.0, extents.1
                ),
            )
            .note(shape.span.head(), "the shape")
            .help(
                "let neighbouring extents of the layout multiply to the rows, then to the columns",
            ),
        );
    }
}

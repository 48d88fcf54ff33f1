//! Matrix operands have the extents that the shape gives them: A is (m, k), B is (k, n), C and D are (m, n).
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::{Atom, HwModel, Matrix};
use lanebook_tables::{Role, Space};

/// See the module.
#[must_use]
pub fn check(model: &HwModel) -> Diagnostics {
    let mut diags = Diagnostics::new();
    for atom in model.every() {
        if let Some(shape) = &atom.matrix {
            for (what, number, extents) in
                [("a", shape.a, (shape.m, shape.k)), ("b", shape.b, (shape.k, shape.n)), ("c", shape.c, (shape.m, shape.n)), ("d", shape.d, (shape.m, shape.n))]
            {
                operand(atom, shape, what, number, extents, &mut diags);
            }
        }
    }
    diags
}

fn operand(atom: &Atom, shape: &Matrix, what: &str, number: u8, extents: (u16, u16), diags: &mut Diagnostics) {
    let Some(operand) = atom.operands.get(usize::from(number)) else { return };
    let name = &operand.name.value;
    let fits = match what {
        "d" => matches!(operand.role, Role::Def | Role::UseDef),
        _ => matches!(operand.role, Role::Use | Role::UseDef),
    };
    if !fits {
        diags.push(
            Diagnostic::at(operand.name.span, format!("operand `{name}` has the wrong role for matrix `{what}`"))
                .note(shape.span.head(), "the shape")
                .help(if what == "d" { "it is written: `def` or `use_def`" } else { "it is read: `use` or `use_def`" }),
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
            Diagnostic::at(layout.text.span, format!("the layout's extents do not split into {} rows and {} columns", extents.0, extents.1))
                .note(shape.span.head(), "the shape")
                .help("let neighbouring extents of the layout multiply to the rows, then to the columns"),
        );
    }
}

//! What the tables say of an instance is what its own text says.
//!
//! The tables hold an atom with parameters once; [`lanebook_tables::Instance`] answers for each
//! choice of them. Here every instance, made from the text of its entry and checked like any other
//! atom, is compared with that answer.
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::{Atom, HwModel};
use lanebook_tables::{AtomId, Instance, Tables};

/// See the module. `tables` are the lowered model.
#[must_use]
pub fn check(model: &HwModel, tables: &Tables<'_>) -> Diagnostics {
    let mut diags = Diagnostics::new();
    let mut wrong: Option<AtomId> = None;
    for (id, atom) in &model.instances {
        if wrong == Some(*id) {
            continue; // one instance of an atom says it
        }
        let found = tables.instance_named(&atom.name).filter(|found| found.0 == *id);
        let what = match found {
            None => Some(format!("instance `{}` is not found by its name", atom.name.value)),
            Some((_, found)) => differs(atom, &found).map(|what| {
                format!(
                    "instance `{}` has another {what} than its family gives it",
                    atom.name.value
                )
            }),
        };
        if let Some(what) = what {
            wrong = Some(*id);
            diags.push(
                Diagnostic::at(atom.name.span, what).help(
                    "every parameter stands in the name; a number may change one extent of a layout, in proportion to it, with the registers and the shape",
                ),
            );
        }
    }
    diags
}

/// What an instance says otherwise than its family.
fn differs(atom: &Atom, found: &Instance<'_>) -> Option<String> {
    let shape = atom.matrix.as_ref().map(|m| (m.m, m.n, m.k));
    if shape != found.shape().map(|s| (s.m, s.n, s.k)) {
        return Some("shape".into());
    }
    for (k, operand) in (0u8..).zip(&atom.operands) {
        let name = &operand.name.value;
        if operand.dtype != found.dtype(k) {
            return Some(format!("element type of `{name}`"));
        }
        if Some(operand.registers) != found.registers(k) {
            return Some(format!("number of registers of `{name}`"));
        }
        match (&operand.layout, found.layout(k)) {
            (None, None) => {}
            (Some(stated), Some(made)) => {
                let (stated, made) = (stated.view(), made.view());
                if stated.shard != made.shard
                    || stated.replica != made.replica
                    || stated.offset != made.offset
                {
                    return Some(format!("layout of `{name}`"));
                }
            }
            _ => return Some(format!("layout of `{name}`")),
        }
    }
    None
}

//! Atomic operations through pointers, as those on what the pointers point to.

use crate::attr::Literal;
use crate::attr_names;
use crate::edit::edit_ops::Edit;
use crate::edit::pointers::carried::{Carries, distances};
use crate::edit::pointers::{base, moves_before, reach};
use crate::handle::{Op, Value};
use crate::program::{Def, Program};
use crate::types::TypeKind;
use lanebook_tables::{AtomicOp, OpRole};

/// An atomic operation through pointers, which stand in front: behind them what it takes and a mask,
/// or what it compares with and what it takes. `None` where it is none of those.
pub(super) fn through(
    program: &mut Program<'_, '_>,
    kernel: Op,
    (op, carries): (Op, &Carries),
) -> Edit<Option<()>> {
    let operand = |number| program.operand(op, number);
    let compares = program.atomic_op(op).is_some_and(AtomicOp::compares);
    let (pointers, value, compared, mask) = match compares {
        true => (operand(0), operand(2), operand(1), None),
        false => (operand(0), operand(1), None, operand(2)),
    };
    let (Some(pointers), Some(value)) = (pointers, value) else { return Ok(None) };
    let Some((pointer, by)) = base(program, pointers, carries) else { return Ok(None) };
    let Some((dtype, _)) = reach(program, kernel, pointer) else { return Ok(None) };
    let (ty, taken) = (program.type_of(pointers), program.type_of(value));
    let is_one = !ty.is_kept();
    let fits = match is_one {
        true => taken.kind == TypeKind::Scalar,
        false => taken.shape == ty.shape && mask.is_none_or(|mask| program.is_truth(mask)),
    };
    if taken.dtype != Some(dtype) || !fits || program.operand_count(op) > 3 {
        return Ok(None);
    }
    // A truth that is written leaves nothing out.
    let mask = mask.filter(|mask| !is_one || !is_true(program, *mask));
    let far = if is_one { None } else { Some(distances(program, op, pointers)?) };
    let at = moves_before(program, op, &by)?;
    while let Some(last) = program.operand_count(op).checked_sub(1) {
        program.remove_operand(op, last)?;
    }
    program.add_operand(op, value)?;
    program.add_operand(op, pointer)?;
    program.add_subscript(op, at)?;
    for other in [compared, far, mask].into_iter().flatten() {
        program.add_operand(op, other)?;
    }
    Ok(Some(()))
}

/// Whether a truth is one that is written.
fn is_true(program: &Program<'_, '_>, truth: Value) -> bool {
    let made = program.def_op(truth).filter(|def| program.role(*def) == OpRole::Constant);
    let Some(written) = made.and_then(|def| program.operand(def, 0)) else { return false };
    match program.def(written) {
        Def::Literal(Literal::Word(word)) => program.text(word) == attr_names::TRUE,
        Def::Literal(literal) => literal.to_int().is_some_and(|number| number != 0),
        _ => false,
    }
}

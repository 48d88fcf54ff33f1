//! Atomic operations through pointers, as those on what the pointers point to.

use crate::edit::edit_ops::Edit;
use crate::edit::pointers::carried::{Carries, distances};
use crate::edit::pointers::{base, far, reach};
use crate::handle::Op;
use crate::program::Program;
use crate::types::TypeKind;
use lanebook_tables::{AtomicOp, DtypeId};

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
    if !same_bits(program, taken.dtype, dtype) || !fits || program.operand_count(op) > 3 {
        return Ok(None);
    }
    // A truth that is written leaves nothing out.
    let mask = mask.filter(|mask| !is_one || program.written_truth(*mask) != Some(true));
    let distances = if is_one { None } else { Some(distances(program, op, pointers)?) };
    let places = far::places(program, op, (&by, dtype, !is_one))?;
    while let Some(last) = program.operand_count(op).checked_sub(1) {
        program.remove_operand(op, last)?;
    }
    program.add_operand(op, value)?;
    program.add_operand(op, pointer)?;
    for place in &places {
        program.add_subscript(op, *place)?;
    }
    for other in [compared, distances, mask].into_iter().flatten() {
        program.add_operand(op, other)?;
    }
    Ok(Some(()))
}

/// Whether elements have as many bits as those that are pointed to: what is done to them is what
/// their own type says.
fn same_bits(program: &Program<'_, '_>, own: Option<DtypeId>, other: DtypeId) -> bool {
    let bits = |dtype| program.tables().dtype(dtype).map(|dtype| dtype.bits);
    own == Some(other) || own.is_some_and(|own| bits(own) == bits(other))
}

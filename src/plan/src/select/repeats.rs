//! Repetitions for which others stand.
//!
//! Those of tiles of narrow elements are repetitions of words: a reader of a repeated tile finds
//! each element in a register of its own, so that its bits become whole numbers of 32 bits first,
//! and narrow again behind it. One element that fills a matrix is a row of itself first.

use crate::select::before::WORD;
use crate::select::extremes::{along, value};
use lanebook_ir::{Op, Program, Shape, Type, Value};
use lanebook_tables::{DtypeKind, OpRole};

/// The same bits as another type, wider with zeros in front, narrower again.
const STEPS: [&str; 3] = ["arith.bitcast", "arith.extui", "arith.trunci"];

/// Whether an operation repeats a tile whose elements are narrower than a register.
pub(crate) fn is_narrow(program: &Program<'_, '_>, op: Op) -> bool {
    let Some((operand, result)) = program.operand(op, 0).zip(program.result(op, 0)) else {
        return false;
    };
    let dtype = program.type_of(operand).dtype.and_then(|dtype| program.tables().dtype(dtype));
    program.role(op) == OpRole::Broadcast
        && program.repeated_number(op).is_none()
        && program.constant(operand).is_none()
        && program.uses(result).next().is_some()
        && dtype.is_some_and(|dtype| dtype.bits > 1 && dtype.bits < WORD)
}

/// Whether an operation repeats one element along both dimensions of a matrix.
pub(crate) fn fills_a_matrix(program: &Program<'_, '_>, op: Op) -> bool {
    row_of_one(program, op).is_some()
}

/// What makes a row of the one element that a matrix is filled with: the element, the row's type,
/// and the matrix.
fn row_of_one(program: &Program<'_, '_>, op: Op) -> Option<(Value, Type, Value)> {
    let (one, all) = (program.operand(op, 0)?, program.result(op, 0)?);
    let (from, to) = (program.type_of(one), program.type_of(all));
    let (rows, cols) = to.shape.pair()?;
    let is_one = program.role(op) == OpRole::Broadcast
        && program.repeated_number(op).is_none()
        && from.shape.pair() == Some((1, 1));
    if !is_one || rows == 1 || cols == 1 || program.uses(all).next().is_none() {
        return None;
    }
    Some((one, Type::tensor(Shape::of(&[1, cols])?, from.dtype?), all))
}

/// Puts a repetition along the one dimension before one along both, which repeats what that makes
/// along the other; `None` where the program has no room for them, and is as it was.
#[inline(never)]
pub(crate) fn put_row(program: &mut Program<'_, '_>, op: Op) -> Option<()> {
    let (one, row, all) = row_of_one(program, op)?;
    let mark = program.mark();
    let made = (|| {
        let spread = program.tables().op_of_role(OpRole::Broadcast)?;
        let row = value(program, op, spread, &[one], row)?;
        let rows = value(program, op, spread, &[row], program.type_of(all))?;
        program.replace_all_uses(all, rows).ok()
    })();
    match made {
        Some(()) => program.keep(mark),
        None => program.undo(mark),
    }
    made
}

/// Puts others before a repetition, whose readers then read the last of them; `None` where the
/// program has no room for them, and is as it was.
#[inline(never)]
pub(crate) fn put(program: &mut Program<'_, '_>, op: Op) -> Option<()> {
    let mark = program.mark();
    let made = made(program, op);
    match made {
        Some(_) => program.keep(mark),
        None => program.undo(mark),
    }
    made
}

fn made(program: &mut Program<'_, '_>, op: Op) -> Option<()> {
    let (small, large) = (program.operand(op, 0)?, program.result(op, 0)?);
    let (from, to) = (program.type_of(small), program.type_of(large));
    let tables = program.tables();
    let bits = tables.dtype(from.dtype?)?.bits;
    let whole = |bits: u16| tables.dtype_of(DtypeKind::Signed, bits);
    let (narrow, wide) = (whole(bits)?, whole(WORD)?);
    let [same, widen, cut] = STEPS.map(|name| tables.op_named(name));
    let spread = tables.op_of_role(OpRole::Broadcast)?;
    let is_whole = from.dtype == Some(narrow);
    let numbers = match is_whole {
        true => small,
        false => value(program, op, same?, &[small], Type::tensor(from.shape, narrow))?,
    };
    let words = value(program, op, widen?, &[numbers], Type::tensor(from.shape, wide))?;
    let all = value(program, op, spread, &[words], Type::tensor(to.shape, wide))?;
    axis(program, op, all)?;
    // What comes out is written as the program wrote it.
    let ty = if is_whole { to } else { Type::tensor(to.shape, narrow) };
    let last = value(program, op, cut?, &[all], ty)?;
    let last = match is_whole {
        true => last,
        false => value(program, op, same?, &[last], to)?,
    };
    program.replace_all_uses(large, last).ok()
}

/// The dimension that is new, where the operation says it.
fn axis(program: &mut Program<'_, '_>, op: Op, all: Value) -> Option<()> {
    match program.attr(op, lanebook_ir::attr_names::AXIS) {
        Some(_) => along(program, op, all, None),
        None => Some(()),
    }
}

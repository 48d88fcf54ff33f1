//! Truths that a branch passes on, as numbers that are 1 or 0: no register holds a truth beyond
//! the operations that read it.

use crate::attr::Literal;
use crate::edit::edit_ops::Edit;
use crate::edit::insert::{made_by, made_named, word};
use crate::edit::scalars::{indices, one};
use crate::error::ErrorKind;
use crate::handle::{Op, Value};
use crate::program::{Def, Program};
use crate::types::Type;
use lanebook_tables::{DtypeKind, OpRole};

/// Lets a branch pass a number on in the place of a truth; readers have whether it is not 0.
pub(super) fn pass_number(program: &mut Program<'_, '_>, op: Op, result: Value) -> Edit {
    let tables = program.tables();
    let truth = tables.dtype_of(DtypeKind::Bits, 1).ok_or(ErrorKind::UnknownOp)?;
    let ty = one(word(program).ok_or(ErrorKind::UnknownOp)?)?;
    program.set_type(result, ty)?;
    let next = program.next(op).ok_or(ErrorKind::NoTerminator)?;
    let zero = program.literal_value(Literal::Int(0))?;
    let zero = made_by(program, next, OpRole::Constant, &[zero], ty)?;
    let holds = made_named(program, next, "compare.ne", &[result, zero], one(truth)?)?;
    let compared = program.def_op(holds).ok_or(ErrorKind::Broken)?;
    program.replace_all_uses(result, holds)?;
    program.set_operand(compared, 0, result)
}

/// Lets a truth that is written without its type have it; whether it had none.
pub(super) fn name_type(program: &mut Program<'_, '_>, op: Op) -> Edit<bool> {
    let Some(value) = program.result(op, 0) else { return Ok(false) };
    let is_word = matches!(
        program.operand(op, 0).map(|written| program.def(written)),
        Some(Def::Literal(Literal::Word(_)))
    );
    if !program.type_of(value).is_elided() || !is_word || program.written_truth(value).is_none() {
        return Ok(false);
    }
    let truth = program.tables().dtype_of(DtypeKind::Bits, 1).ok_or(ErrorKind::UnknownOp)?;
    program.set_type(value, Type::scalar(truth)).map(|()| true)
}

/// A truth as such a number, before an operation.
pub(super) fn as_number(program: &mut Program<'_, '_>, op: Op, value: Value) -> Edit<Value> {
    let ty = one(word(program).ok_or(ErrorKind::UnknownOp)?)?;
    if let Some(holds) = program.written_truth(value) {
        let number = program.literal_value(Literal::Int(i64::from(holds)))?;
        return made_by(program, op, OpRole::Constant, &[number], ty);
    }
    if indices::is_index(program, value) {
        program.set_type(value, Type::INDEX)?;
        return made_by(program, op, OpRole::Broadcast, &[value], ty);
    }
    made_named(program, op, "arith.extui", &[value], ty)
}

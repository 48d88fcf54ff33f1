//! Truths as MLIR lets operations have them: one that chooses of whole tiles is in all elements; a
//! tile of them has another shape by way of numbers.

use crate::attr::Literal;
use crate::edit::edit_ops::Edit;
use crate::edit::insert::{filled, made, made_by, made_named, word};
use crate::error::ErrorKind;
use crate::handle::{Op, Value};
use crate::program::Program;
use crate::types::{Type, TypeKind};
use lanebook_tables::{IndexWord, OpRole};

/// Lets a selection of tiles have a tile of truths.
pub(super) fn spread_truth(program: &mut Program<'_, '_>, op: Op) -> Edit {
    let (Some(truth), Some(result)) = (program.operand(op, 0), program.result(op, 0)) else {
        return Ok(());
    };
    let (of, ty) = (program.type_of(truth), program.type_of(result));
    let is_tile = ty.is_tile() && !ty.is_memory() && !ty.is_kept();
    let bits = of.dtype.and_then(|dtype| program.tables().dtype(dtype)).map(|dtype| dtype.bits);
    if !is_tile || of.kind != TypeKind::Scalar || bits != Some(1) {
        return Ok(());
    }
    let all = Type::tensor(ty.shape, of.dtype.ok_or(ErrorKind::UnknownDtype)?);
    let all = made_by(program, op, OpRole::Broadcast, &[truth], all.encoded(ty.encoding))?;
    program.set_operand(op, 0, all)?;
    let spread = program.def_op(all).ok_or(ErrorKind::Broken)?;
    spread_numbers(program, spread)
}

/// Lets one truth that fills a tile be a number, 1 or 0, until it does: tiles of truths hold them in
/// another way than an index is one.
pub(super) fn spread_numbers(program: &mut Program<'_, '_>, op: Op) -> Edit {
    let (Some(truth), Some(result)) = (program.operand(op, 0), program.result(op, 0)) else {
        return Ok(());
    };
    let of = program.type_of(truth);
    let bits = of.dtype.and_then(|dtype| program.tables().dtype(dtype)).map(|dtype| dtype.bits);
    // Tiles of more dimensions have other shapes on the way.
    if program.is_truth(truth) && program.type_of(result).shape.rank() > 2 {
        return reshape_numbers(program, op);
    }
    if of.kind != TypeKind::Scalar || bits != Some(1) || !program.is_truth(result) {
        return Ok(());
    }
    let decl = program.tables().op_of_index(IndexWord::Select).ok_or(ErrorKind::UnknownOp)?;
    let [one, zero] = [1, 0].map(|number| program.literal_value(Literal::Int(number)));
    let number = made(program, op, decl, &[truth, one?, zero?], Type::INDEX)?;
    program.set_operand(op, 0, number)?;
    truths_again(program, op, result)
}

/// Lets a tile of truths that gets another shape or layout be one of numbers, 1 and 0, until it has
/// it.
pub(super) fn reshape_numbers(program: &mut Program<'_, '_>, op: Op) -> Edit {
    let (Some(truths), Some(result)) = (program.operand(op, 0), program.result(op, 0)) else {
        return Ok(());
    };
    if !program.is_truth(truths) {
        return Ok(());
    }
    let before = numbers(program, program.type_of(truths))?;
    let [one, zero] = [1, 0].map(|number| filled(program, op, number, before));
    let told = made_by(program, op, OpRole::Select, &[truths, one?, zero?], before)?;
    program.set_operand(op, 0, told)?;
    truths_again(program, op, result)
}

/// A tile of whole numbers like one of truths.
fn numbers(program: &Program<'_, '_>, ty: Type) -> Edit<Type> {
    word(program).map(|word| Type { dtype: Some(word), ..ty }).ok_or(ErrorKind::UnknownDtype)
}

/// Lets a result be numbers, and what reads it read the truths that are no 0.
fn truths_again(program: &mut Program<'_, '_>, op: Op, result: Value) -> Edit {
    let to = program.type_of(result);
    let behind = numbers(program, to)?;
    let next = program.next(op).ok_or(ErrorKind::NoTerminator)?;
    let zero = filled(program, next, 0, behind)?;
    let again = made_named(program, next, "compare.ne", &[zero, zero], to)?;
    program.replace_all_uses(result, again)?;
    program.set_type(result, behind)?;
    let compared = program.def_op(again).ok_or(ErrorKind::Broken)?;
    program.set_operand(compared, 0, result)
}

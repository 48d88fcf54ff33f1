//! By how much one pointer is moved, as an index, where it is a whole number of 64 bits: sums,
//! differences and products have the same lower half in 32 bits, and no more of it counts.

use crate::attr::Literal;
use crate::edit::edit_ops::Edit;
use crate::edit::insert::{RebuiltPart, made, rebuild, rebuilt, word};
use crate::edit::pointers::{is_long, is_whole_word};
use crate::error::ErrorKind;
use crate::handle::{Op, Value};
use crate::program::Program;
use crate::types::{Type, TypeKind};
use lanebook_tables::IndexWord;

/// Lets an operand be in 32 bits what it was in 64, computed before the operation: the lower
/// half of each number that is none of these sums.
pub(super) fn narrow(
    program: &mut Program<'_, '_>,
    (op, number): (Op, usize),
    value: Value,
) -> Edit {
    let (new, done) = rebuild(program, value, |program, at, known| {
        let new = match (widened(program, at), summed(program, at)) {
            (Some(own), _) => own,
            (None, Some((word, [a, b]))) => match (rebuilt(known, a), rebuilt(known, b)) {
                (Some(a), Some(b)) => {
                    let decl = program.tables().op_of_index(word);
                    made(program, op, decl.ok_or(ErrorKind::UnknownOp)?, &[a, b], Type::INDEX)?
                }
                (Some(_), None) => return Ok(RebuiltPart::After(b)),
                (None, _) => return Ok(RebuiltPart::After(a)),
            },
            (None, None) => lower_half(program, op, at)?,
        };
        Ok(RebuiltPart::Made(new))
    })?;
    program.set_operand(op, number, new)?;
    // The last first: what it was made of may have had no other reader.
    for (old, _) in done.iter().rev().filter(|(old, new)| old != new) {
        if let Some(def) = program.def_op(*old).filter(|_| !program.is_used(*old)) {
            program.erase(def)?;
        }
    }
    Ok(())
}

/// A number in 32 bits, before an operation: the lower half of one of 64.
pub(crate) fn in_a_word(program: &mut Program<'_, '_>, op: Op, value: Value) -> Edit<Value> {
    match widened(program, value) {
        Some(own) => Ok(own),
        None if is_long(program, &program.type_of(value)) => lower_half(program, op, value),
        None => Ok(value),
    }
}

/// The lower half of a number, as one of 32 bits.
fn lower_half(program: &mut Program<'_, '_>, op: Op, value: Value) -> Edit<Value> {
    if let Some(number) = program.int(value) {
        // What is cut off would be missing in the address.
        let half = i32::try_from(number).map_err(|_| ErrorKind::FarPointer)?;
        return program.literal_value(Literal::Int(i64::from(half)));
    }
    let narrow = program.tables().op_named("arith.trunci").ok_or(ErrorKind::UnknownOp)?;
    let word = word(program).ok_or(ErrorKind::UnknownOp)?;
    made(program, op, narrow, &[value], Type::scalar(word))
}

/// The number of 32 bits that one of 64 was made of.
fn widened(program: &Program<'_, '_>, value: Value) -> Option<Value> {
    let def = program.def_op(value)?;
    let widens = program.decl(def).is_some_and(|decl| decl.name == "arith.extsi");
    let own = program.operand(def, 0).filter(|_| widens)?;
    let ty = program.type_of(own);
    let is_word = ty.kind == TypeKind::Scalar && is_whole_word(program, ty.dtype);
    (is_word || ty.kind == TypeKind::Index).then_some(own)
}

/// The operation on indices and the operands of one whose lower half is that of its operands'.
fn summed(program: &Program<'_, '_>, value: Value) -> Option<(IndexWord, [Value; 2])> {
    let def = program.def_op(value)?;
    let word = program.index_word(def)?;
    let is_own = matches!(word, IndexWord::Add | IndexWord::Sub | IndexWord::Mul);
    let ty = program.type_of(value);
    let is_number = ty.kind == TypeKind::Scalar && is_long(program, &ty);
    let (a, b) = (program.operand(def, 0)?, program.operand(def, 1)?);
    (is_own && is_number).then_some((word, [a, b]))
}

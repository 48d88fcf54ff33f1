//! Pointers that are moved by whole numbers of 64 bits, which indices do not hold: the tensor is one
//! row that is cut into parts of [`PART_BITS`] of an address, and two indices say where elements
//! begin: which part, below zero too, and how far inside of it.

use crate::attr::{AttrValue, Literal};
use crate::attr_names;
use crate::edit::edit_ops::Edit;
use crate::edit::insert::{filled, made, made_named, word};
use crate::edit::pointers::{is_long, moves_before};
use crate::error::{ErrorKind, Pool};
use crate::handle::{Op, Value};
use crate::program::Program;
use crate::storage::full;
use crate::types::{Shape, Type};
use heapless::Vec;
use lanebook_tables::{DtypeId, IndexWord};

/// Bits of an address inside of a part.
const PART_BITS: u32 = 30;
/// Most operands of an access.
const OPERANDS: usize = 8;

/// The elements of a part, as a power of two.
fn part_elements(program: &Program<'_, '_>, dtype: DtypeId) -> Option<u32> {
    let bits = program.tables().dtype(dtype).map(|dtype| u32::from(dtype.bits))?;
    PART_BITS.checked_sub((bits / 8).checked_ilog2()?)
}

/// Whether one of these moves a pointer by a number of 64 bits.
pub(super) fn are_far(program: &Program<'_, '_>, by: &[Value]) -> bool {
    by.iter().any(|by| is_long(program, &program.type_of(*by)))
}

/// A number of 64 bits that has a value, before an operation.
pub(super) fn widened(program: &mut Program<'_, '_>, op: Op, value: Value) -> Edit<Value> {
    let ty = program.type_of(value);
    if is_long(program, &ty) {
        return Ok(value);
    }
    let long = long(program)?;
    if let Some(number) = program.int(value) {
        return filled(program, op, number, long);
    }
    made_named(program, op, "arith.extsi", &[value], long)
}

/// Whole numbers of 64 bits.
pub(super) fn long(program: &Program<'_, '_>) -> Edit<Type> {
    let dtype = program.tables().dtype_of(lanebook_tables::DtypeKind::Signed, 64);
    Ok(Type::scalar(dtype.ok_or(ErrorKind::UnknownOp)?))
}

/// The sum of two numbers of 64 bits, before an operation.
pub(super) fn sum(program: &mut Program<'_, '_>, op: Op, numbers: [Value; 2]) -> Edit<Value> {
    combined(program, op, IndexWord::Add, numbers)
}

/// The sum, difference or product of two numbers of 64 bits, before an operation: of numbers that are
/// written it is one.
pub(super) fn combined(
    program: &mut Program<'_, '_>,
    op: Op,
    word: IndexWord,
    [a, b]: [Value; 2],
) -> Edit<Value> {
    let ty = long(program)?;
    if let (Some(a), Some(b)) = (program.int(a), program.int(b)) {
        let number = match word {
            IndexWord::Add => a.wrapping_add(b),
            IndexWord::Sub => a.wrapping_sub(b),
            _ => a.wrapping_mul(b),
        };
        return filled(program, op, number, ty);
    }
    let decl = program.tables().op_of_index(word).ok_or(ErrorKind::UnknownOp)?;
    made(program, op, decl, &[a, b], ty)
}

/// Where the elements of an access begin that a pointer was moved to: an index; or of a pointer
/// that is moved far, the part and how far inside of it. Where a tile says how far each element is
/// from there, that lies in the part behind, so that tiles may say numbers below zero.
pub(super) fn places(
    program: &mut Program<'_, '_>,
    op: Op,
    (by, dtype, is_tile): (&[Value], DtypeId, bool),
) -> Edit<Vec<Value, 2>> {
    let mut out = Vec::new();
    let room = || full(Pool::List, 2);
    if !are_far(program, by) {
        out.push(moves_before(program, op, by)?).map_err(|_| room())?;
        return Ok(out);
    }
    let mut total = None;
    for by in by {
        let own = widened(program, op, *by)?;
        total = Some(match total {
            Some(before) => sum(program, op, [before, own])?,
            None => own,
        });
    }
    let total = total.ok_or(ErrorKind::Broken)?;
    let bits = part_elements(program, dtype).ok_or(ErrorKind::Extent)?;
    let elements = i64::from(1u32.checked_shl(bits).ok_or(ErrorKind::Extent)?);
    let (long, word) = (long(program)?, Type::scalar(word(program).ok_or(ErrorKind::UnknownOp)?));
    let shift = filled(program, op, i64::from(bits), long)?;
    let part = made_named(program, op, "arith.shrsi", &[total, shift], long)?;
    let mut part = made_named(program, op, "arith.trunci", &[part], word)?;
    let rest = made_named(program, op, "arith.trunci", &[total], word)?;
    let mask = filled(program, op, elements.saturating_sub(1), word)?;
    let mut rest = made_named(program, op, "arith.andi", &[rest, mask], word)?;
    if is_tile {
        let one = filled(program, op, 1, word)?;
        part = made_named(program, op, "arith.subi", &[part, one], word)?;
        let further = filled(program, op, elements, word)?;
        rest = made_named(program, op, "arith.ori", &[rest, further], word)?;
    }
    out.push(part).map_err(|_| room())?;
    out.push(rest).map_err(|_| room())?;
    Ok(out)
}

/// Lets a memref that a pointer became be one row cut into parts, if it is accessed as such:
/// accesses that are near begin in its first part.
pub(super) fn settle(program: &mut Program<'_, '_>, kernel: Op, parameter: Value) -> Edit {
    let accessed = |program: &Program<'_, '_>, op: Op| {
        let mut operands = program.operands(op);
        let number = operands.position(|value| value == parameter)?;
        Some((number, program.subscripts(op, number).count()))
    };
    let is_far = |op| accessed(program, op).is_some_and(|(_, places)| places > 1);
    if !program.inside(kernel).any(is_far) {
        return Ok(());
    }
    let mut next = program.inside(kernel).next();
    while let Some(op) = next {
        next = program.following(op, Some(kernel));
        let Some((number, places)) = accessed(program, op) else { continue };
        if places == 1 {
            begin_in_first(program, op, number)?;
        }
        if program.index_tile(op).is_some() {
            program.set_attr(op, attr_names::AXIS, AttrValue::Int(1, None))?;
        }
    }
    let ty = program.type_of(parameter);
    let bits = ty.dtype.and_then(|dtype| part_elements(program, dtype)).ok_or(ErrorKind::Extent)?;
    let elements = 1u32.checked_shl(bits).ok_or(ErrorKind::Extent)?;
    let parts = i32::MAX.cast_unsigned();
    let shape = Shape::of(&[parts, elements]).ok_or(ErrorKind::Extent)?;
    program.set_type(parameter, Type { shape, ..ty })?;
    program.add_value_attr(parameter, attr_names::FAR, AttrValue::Unit)
}

/// Puts the index of the first part in front of the one of an access.
fn begin_in_first(program: &mut Program<'_, '_>, op: Op, memref: usize) -> Edit {
    let room = || full(Pool::List, OPERANDS);
    let mut operands: Vec<Value, OPERANDS> = Vec::new();
    for operand in program.operands(op) {
        operands.push(operand).map_err(|_| room())?;
    }
    let place = program.subscripts(op, memref).next().ok_or(ErrorKind::Broken)?;
    while let Some(last) = program.operand_count(op).checked_sub(1) {
        program.remove_operand(op, last)?;
    }
    let first = program.literal_value(Literal::Int(0))?;
    for (number, operand) in operands.iter().enumerate() {
        program.add_operand(op, *operand)?;
        if number == memref {
            program.add_subscript(op, first)?;
            program.add_subscript(op, place)?;
        }
    }
    Ok(())
}

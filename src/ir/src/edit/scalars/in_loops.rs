//! Whole numbers of 32 bits in functions of parallel loops, where indices stand: an argument is the
//! index that it is with its sign, and so is what is computed of such ones. Names of arithmetic that
//! indices have, on elements, are those of elements.

use crate::attr::Literal;
use crate::edit::edit_ops::Edit;
use crate::edit::insert::{PARTS, WorkedPart, is_word, made, work_out, worked};
use crate::edit::on_tiles::{element_twin, index_twin};
use crate::edit::scalars::indices::take_each;
use crate::error::{ErrorKind, IrError, Pool, SourcePlace};
use crate::handle::{Op, Value};
use crate::program::{Def, Program};
use crate::storage::full;
use crate::types::{Type, TypeKind};
use heapless::Vec;
use lanebook_tables::{IndexWord, OpRole};

/// Lets the whole numbers that a function of parallel loops takes as indices be such.
///
/// # Errors
/// Room that ran out, at the operation's place.
#[inline(never)] // Its caller's own steps are deep.
pub(crate) fn index_arguments(program: &mut Program<'_, '_>, kernel: Op) -> Result<(), IrError> {
    if !program.has_loops(kernel) {
        return Ok(());
    }
    let mut next = program.inside(kernel).next();
    while let Some(op) = next {
        next = program.following(op, Some(kernel));
        let at = SourcePlace { op: None, ..program.place(op) };
        settle(program, kernel, op).map_err(|kind: ErrorKind| IrError { kind, at })?;
    }
    Ok(())
}

/// Lets an operation be one on elements where it computes with some, else its operands be indices.
fn settle(program: &mut Program<'_, '_>, kernel: Op, op: Op) -> Edit {
    let is_data = |value: Value| {
        program.type_of(value).kind == TypeKind::Scalar && !is_of_indices(program, kernel, value)
    };
    let data =
        program.operands(op).find(|value| is_data(*value)).or(number_alone(program, kernel, op));
    if let Some(data) = data.filter(|_| program.index_word(op).is_some()) {
        if let Some((decl, relation)) = element_twin(program, op, data) {
            program.set_decl(op, decl)?;
            if let Some(key) = relation {
                program.remove_attr(op, key)?;
            }
        }
        return Ok(());
    }
    take_each(program, op, takes_index, |program, value| {
        if is_word(program, value) && is_of_indices(program, kernel, value) {
            return as_index(program, kernel, value).map(Some);
        }
        Ok(None)
    })
}

/// The first operand of arithmetic on numbers that the function takes, or the text says, and on no
/// index: it is one on elements, which is an index again where it is taken for one.
fn number_alone(program: &Program<'_, '_>, kernel: Op, op: Op) -> Option<Value> {
    let is_element = |value: Value| {
        let def = program.def_op(value);
        let is_made = def.is_some_and(|def| program.role(def) == OpRole::Index);
        is_word(program, value) && !is_made
    };
    let result = program.result(op, 0).filter(|value| is_word(program, *value))?;
    let is_own = program.operands(op).all(is_element) && !is_parameter(program, kernel, result);
    program.operand(op, 0).filter(|_| is_own)
}

/// Whether an operation takes an index there.
fn takes_index(program: &Program<'_, '_>, op: Op, number: usize) -> bool {
    match program.role(op) {
        OpRole::For => number < 3,
        OpRole::Index => true,
        _ => false,
    }
}

/// A number that a function takes.
fn is_parameter(program: &Program<'_, '_>, kernel: Op, value: Value) -> bool {
    program.parameters(kernel).any(|parameter| parameter == value)
}

/// Whether a value is a number of the text, an index, a number that the function takes, or computed
/// of such ones as indices are.
fn is_of_indices(program: &Program<'_, '_>, kernel: Op, value: Value) -> bool {
    let mut waiting: Vec<Value, PARTS> = Vec::new();
    let mut done: Vec<Value, PARTS> = Vec::new();
    let mut is_full = waiting.push(value).is_err();
    while let Some(at) = waiting.pop() {
        if done.contains(&at) {
            continue;
        }
        is_full |= done.push(at).is_err();
        if is_leaf(program, kernel, at) {
            continue;
        }
        let made = program
            .def_op(at)
            .filter(|def| is_word(program, at) && index_twin(program, *def).is_some());
        let Some(def) = made else { return false };
        for operand in program.operands(def) {
            is_full |= waiting.push(operand).is_err();
        }
    }
    !is_full
}

/// Whether a value is one of these, and computed of none.
fn is_leaf(program: &Program<'_, '_>, kernel: Op, value: Value) -> bool {
    let is_made = program.def_op(value).is_some_and(|def| program.role(def) == OpRole::Index);
    let is_number = program.int(value).is_some() || is_parameter(program, kernel, value);
    is_made
        || is_word(program, value) && is_number
        || program.type_of(value).kind == TypeKind::Index
        || matches!(program.def(value), Def::Literal(_))
}

/// The index that such a value is.
fn as_index(program: &mut Program<'_, '_>, kernel: Op, value: Value) -> Edit<Value> {
    work_out(value, |at, known| {
        if is_leaf(program, kernel, at) {
            return leaf(program, kernel, at).map(WorkedPart::Done);
        }
        let def = program.def_op(at).ok_or(ErrorKind::Broken)?;
        let mut operands: Vec<Value, 3> = Vec::new();
        for operand in program.operands(def) {
            let Some(own) = worked(known, operand) else { return Ok(WorkedPart::After(operand)) };
            operands.push(own).map_err(|_| full(Pool::Sources, operands.capacity()))?;
        }
        let decl = index_twin(program, def).ok_or(ErrorKind::Broken)?;
        made(program, def, decl, &operands, Type::INDEX).map(WorkedPart::Done)
    })
}

/// An argument as an index, made once where the function begins; what is written, as it is written.
fn leaf(program: &mut Program<'_, '_>, kernel: Op, value: Value) -> Edit<Value> {
    if is_parameter(program, kernel, value) && is_word(program, value) {
        let first = program.body(kernel).and_then(|body| program.first(body));
        let first = first.ok_or(ErrorKind::Broken)?;
        let is_cast = |op: &Op| program.index_word(*op) == Some(IndexWord::Cast);
        let mut casts =
            core::iter::successors(Some(first), |op| program.next(*op)).take_while(is_cast);
        if let Some(known) = casts.find(|op| program.operand(*op, 0) == Some(value)) {
            return program.result(known, 0).ok_or(ErrorKind::Broken);
        }
        let decl = program.tables().op_of_index(IndexWord::Cast).ok_or(ErrorKind::UnknownOp)?;
        return made(program, first, decl, &[value], Type::INDEX);
    }
    let is_made = program.def_op(value).is_some_and(|def| program.role(def) == OpRole::Index);
    match program.int(value).filter(|_| program.type_of(value).kind == TypeKind::Scalar) {
        Some(number) if !is_made => program.literal_value(Literal::Int(number)),
        _ => Ok(value),
    }
}

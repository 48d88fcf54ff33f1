//! Loads and stores of one of several buffers that a number says: a branch for each of them.

use crate::attr::{AttrValue, Literal};
use crate::attr_names;
use crate::edit::edit_ops::Edit;
use crate::edit::insert::{made, made_by};
use crate::edit::slots::{BufferSlot, first_user, look, shared, slot};
use crate::error::ErrorKind;
use crate::handle::{Op, Value};
use crate::program::Program;
use crate::types::{Type, TypeKind};
use lanebook_tables::{DtypeKind, IndexWord, OpRole};

/// Lets what loads and stores the buffer that an operation looks at know which one it is.
pub(super) fn branch(program: &mut Program<'_, '_>, view: Op) -> Edit {
    let Some(own) = slot(program, view) else { return Ok(()) };
    let one = program.result(view, 0).ok_or(ErrorKind::Broken)?;
    let ty = shared(program, one).ok_or(ErrorKind::Broken)?;
    if own.count == 1 {
        let first = program.literal_value(Literal::Int(0))?;
        let known = look(program, view, (own.all, first), ty)?;
        program.replace_all_uses(one, known)?;
        return program.erase(view);
    }
    while let Some(user) = first_user(program, one) {
        let is_whole = |number: usize, count: usize| {
            program.operand(user, number) == Some(one)
                && program.operand_count(user) == count
                && program.subscripts(user, number).next().is_none()
        };
        match program.role(user) {
            OpRole::Load if is_whole(0, 1) => load(program, user, own)?,
            OpRole::Store if is_whole(1, 2) => store(program, user, own)?,
            _ => return Err(ErrorKind::BufferForm),
        }
    }
    program.erase(view)
}

/// Whether it is this buffer, as the condition of a branch before an operation.
fn is_buffer(
    program: &mut Program<'_, '_>,
    before: Op,
    own: BufferSlot,
    number: u32,
) -> Edit<Value> {
    let tables = program.tables();
    let decl = tables.op_of_index(IndexWord::Compare).ok_or(ErrorKind::UnknownOp)?;
    let ty = program.type_of(own.number);
    let literal = program.literal_value(Literal::Int(i64::from(number)))?;
    if ty.kind != TypeKind::Scalar {
        let same = made(program, before, decl, &[own.number, literal], Type::INDEX)?;
        let op = program.def_op(same).ok_or(ErrorKind::Broken)?;
        let word = AttrValue::Word(program.word(attr_names::EQ)?);
        program.set_attr(op, attr_names::KIND, word)?;
        return Ok(same);
    }
    let truth = tables.dtype_of(DtypeKind::Bits, 1).ok_or(ErrorKind::UnknownDtype)?;
    let wanted = made_by(program, before, OpRole::Constant, &[literal], ty)?;
    let same = made(program, before, decl, &[own.number, wanted], Type::scalar(truth))?;
    let op = program.def_op(same).ok_or(ErrorKind::Broken)?;
    let word = AttrValue::Text(program.word(attr_names::EQ)?);
    program.set_attr(op, attr_names::PREFIX, word)?;
    Ok(same)
}

/// A branch before an operation that is taken for one buffer.
fn branch_of(
    program: &mut Program<'_, '_>,
    before: Op,
    (own, number): (BufferSlot, u32),
    results: &[Type],
) -> Edit<Op> {
    let is_one = is_buffer(program, before, own, number)?;
    let decl = program.tables().op_of_role(OpRole::If).ok_or(ErrorKind::UnknownOp)?;
    program.insert_before(before, decl, &[is_one], results)
}

/// The end of a part of a branch.
fn end_part(program: &mut Program<'_, '_>, op: Op, part: usize) -> Edit<Op> {
    let decl = program.tables().op_of_role(OpRole::Yield).ok_or(ErrorKind::UnknownOp)?;
    let block = program.entry(op, part).ok_or(ErrorKind::Broken)?;
    program.append(block, decl, &[], &[])
}

/// The same access of a buffer that is known, before an operation.
fn known(
    program: &mut Program<'_, '_>,
    (access, place): (Op, usize),
    (own, number): (BufferSlot, u32),
    before: Op,
) -> Edit<Op> {
    let one = program.operand(access, place).ok_or(ErrorKind::Broken)?;
    let ty = program.type_of(one);
    let number = program.literal_value(Literal::Int(i64::from(number)))?;
    let copy = program.clone_before(access, access)?;
    program.move_before(copy, before)?;
    let view = look(program, copy, (own.all, number), ty)?;
    program.set_operand(copy, place, view)?;
    Ok(copy)
}

/// A load: each branch passes on what it loads, the last one without asking.
fn load(program: &mut Program<'_, '_>, op: Op, own: BufferSlot) -> Edit {
    let result = program.result(op, 0).ok_or(ErrorKind::Broken)?;
    let ty = program.type_of(result);
    let (mut before, mut outer, mut first) = (op, None, None);
    for number in 0..own.count {
        let is_last = number.saturating_add(1) == own.count;
        let made = if is_last {
            let last = known(program, (op, 0), (own, number), before)?;
            program.result(last, 0).ok_or(ErrorKind::Broken)?
        } else {
            let branch = branch_of(program, before, (own, number), &[ty])?;
            let end = end_part(program, branch, 0)?;
            let own = known(program, (op, 0), (own, number), end)?;
            let loaded = program.result(own, 0).ok_or(ErrorKind::Broken)?;
            program.add_operand(end, loaded)?;
            before = end_part(program, branch, 1)?;
            program.result(branch, 0).ok_or(ErrorKind::Broken)?
        };
        if let Some(outer) = outer {
            program.add_operand(outer, made)?;
        }
        first = first.or(Some(made));
        outer = Some(before);
    }
    let made = first.ok_or(ErrorKind::Broken)?;
    program.replace_all_uses(result, made)?;
    program.take_name(made, result)?;
    program.erase(op)
}

/// A store: a branch for each buffer, of which one is taken.
fn store(program: &mut Program<'_, '_>, op: Op, own: BufferSlot) -> Edit {
    for number in 0..own.count {
        let branch = branch_of(program, op, (own, number), &[])?;
        let end = end_part(program, branch, 0)?;
        known(program, (op, 1), (own, number), end)?;
        end_part(program, branch, 1)?;
    }
    program.erase(op)
}

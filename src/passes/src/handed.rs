//! Buffers that regions hand on: what a `while` carries round, what a pipeline region passes out.
//!
//! A `while` names a buffer twice: the region that decides takes it, the region that works and the
//! results get what is handed on. Each of the two goes by itself:
//! - taken: the working region gives the same part of the same allocation back, however that came
//!   to it;
//! - handed on: it is a part, at a known place, of an allocation from outside of the loop.
//!
//! A result of a pipeline region of one stage is the second of these. Two buffers that change
//! places are none of these and stay.
use crate::PassError;
use crate::alias::{is_carried, set_offset};
use crate::base::{ElementOffset, base, is_allocation, is_buffer, leads};
use crate::context::{PassContext, edit};
use crate::dead_args::drop_given;
use lanebook_ir::{Block, Def, Op, Program, Value};
use lanebook_tables::OpRole;

/// The buffers of a `while`.
pub(crate) fn while_loop(cx: &mut PassContext<'_, '_, '_>, op: Op) -> Result<(), PassError> {
    let (Some(decides), Some(works)) = (cx.program.entry(op, 0), cx.program.entry(op, 1)) else {
        return Ok(());
    };
    let mut number = cx.program.operand_count(op);
    while let Some(at) = number.checked_sub(1) {
        number = at;
        taken(cx, op, decides, works, at)?;
    }
    let mut number = cx.program.results(op).count();
    while let Some(at) = number.checked_sub(1) {
        number = at;
        let Some(end) = cx.program.terminator(decides) else { continue };
        let passed = at.saturating_add(1);
        let (Some(argument), Some(result)) =
            (cx.program.arguments(works).nth(at), cx.program.result(op, at))
        else {
            continue;
        };
        let Some(value) = cx.program.operand(end, passed) else { continue };
        let Some(new) = outside(cx, op, value, result)? else { continue };
        for old in [argument, result] {
            cx.push_users(old)?;
            cx.program.replace_all_uses(old, new).map_err(edit)?;
        }
        cx.program.remove_operand(end, passed).map_err(edit)?;
        cx.program.remove_argument(works, at).map_err(edit)?;
        cx.program.remove_result(op, at).map_err(edit)?;
        if let Some(def) = cx.program.def_op(value) {
            cx.push_unread(def)?;
        }
        cx.changed(op)?;
    }
    Ok(())
}

/// What the deciding region takes as its argument `number`, if it is the same buffer every time.
fn taken(
    cx: &mut PassContext<'_, '_, '_>,
    op: Op,
    decides: Block,
    works: Block,
    number: usize,
) -> Result<(), PassError> {
    let program = &*cx.program;
    let (init, argument) = (program.operand(op, number), program.arguments(decides).nth(number));
    let back = program.terminator(works).and_then(|back| program.operand(back, number));
    let (Some(init), Some(argument), Some(back)) = (init, argument, back) else { return Ok(()) };
    let (ty, of) = (program.type_of(argument), program.type_of(init));
    if !is_buffer(&ty) || !program.same_type(&of, &ty) {
        return Ok(());
    }
    let before = base(program, init);
    // What the deciding region handed to the working one.
    let handed = |value: Value| {
        let number = program.arguments(works).position(|argument| argument == value)?;
        program.terminator(decides).and_then(|end| program.operand(end, number.saturating_add(1)))
    };
    let kept = leads(program, back, argument, &before, handed);
    // What an outer loop carries is that loop's business, and may be settled later.
    if !kept || !(is_allocation(program, before.root) || is_carried(program, before.root)) {
        return Ok(());
    }
    let whole = before.offset == ElementOffset::Const(0)
        && program.same_type(&program.type_of(before.root), &ty);
    let new = if whole { before.root } else { init };
    cx.push_users(argument)?;
    cx.program.replace_all_uses(argument, new).map_err(edit)?;
    let source = cx.program.def_op(back);
    drop_given(cx, op, decides, works, number, None)?;
    if let Some(source) = source {
        cx.push_unread(source)?;
    }
    // Handed on, it now comes from outside.
    cx.push(op)?;
    cx.changed(op)
}

/// A buffer that a region of `op` passes out as `result`, by a name from outside of `op`, if there
/// is one or can be one.
fn outside(
    cx: &mut PassContext<'_, '_, '_>,
    op: Op,
    value: Value,
    result: Value,
) -> Result<Option<Value>, PassError> {
    let program = &*cx.program;
    let (ty, of) = (program.type_of(result), program.type_of(value));
    if !is_buffer(&ty) || !program.same_type(&of, &ty) {
        return Ok(None);
    }
    let found = base(program, value);
    let known = (is_allocation(program, found.root) || is_carried(program, found.root))
        && is_before(program, op, found.root);
    let placed = match found.offset {
        ElementOffset::Const(_) => true,
        ElementOffset::Value(offset) => is_before(program, op, offset),
    };
    if !known || !placed {
        return Ok(None);
    }
    if found.offset == ElementOffset::Const(0)
        && program.same_type(&program.type_of(found.root), &ty)
    {
        return Ok(Some(found.root));
    }
    if is_before(program, op, value) {
        return Ok(Some(value));
    }
    let Some(view) = program.tables().op_of_role(OpRole::View) else { return Ok(None) };
    let made = cx.program.insert_before(op, view, &[found.root], &[ty]).map_err(edit)?;
    set_offset(cx, made, found.offset)?;
    Ok(cx.program.result(made, 0))
}

/// Whether a value that is read in `op` is made outside of it.
fn is_before(program: &Program<'_, '_>, op: Op, value: Value) -> bool {
    match program.def(value) {
        Def::Result(def, _) => !program.is_inside(def, op),
        Def::Argument(block, _) => {
            program.owner_of(block).is_none_or(|owner| owner != op && !program.is_inside(owner, op))
        }
        Def::Literal(_) => true,
        Def::Nothing => false,
    }
}

/// Buffers that a pipeline region of one stage passes out: nothing reads the result any more.
pub(crate) fn pipeline(cx: &mut PassContext<'_, '_, '_>, op: Op) -> Result<(), PassError> {
    let Some(end) = cx.program.body(op).and_then(|body| cx.program.terminator(body)) else {
        return Ok(());
    };
    let results = cx.program.results(op).count();
    if cx.program.is_stage(op) || cx.program.operand_count(end) != results {
        return Ok(());
    }
    for number in 0..results {
        let (Some(value), Some(result)) =
            (cx.program.operand(end, number), cx.program.result(op, number))
        else {
            continue;
        };
        if !cx.program.is_used(result) {
            continue;
        }
        let Some(new) = outside(cx, op, value, result)? else { continue };
        cx.push_users(result)?;
        cx.program.replace_all_uses(result, new).map_err(edit)?;
        cx.changed(op)?;
    }
    Ok(())
}

//! Resolve agent boundaries: tiles in registers that one agent makes and another reads go through
//! shared memory.
//!
//! What the other agent can use in place crosses as it is: numbers, memory, constants. A tile in
//! registers is handed over: `alloc_tensor` and `copy` on the side that has it, `convert_layout` on
//! the side that reads it, into the layout that is expected there. Barriers are for later.
use crate::PassError;
use crate::context::{PassContext, edit};
use lanebook_ir::{Def, ErrorKind, Op, Program, Type, Use, Value};
use lanebook_tables::{OpId, OpRole, Space};

/// The operations of a hand-over.
#[derive(Copy, Clone)]
struct HandOverOps {
    alloc: OpId,
    copy: OpId,
    convert: OpId,
}

pub(crate) fn run(cx: &mut PassContext<'_, '_, '_>) -> Result<(), PassError> {
    let role = |role| cx.program.tables().op_of_role(role);
    let (Some(alloc), Some(copy), Some(convert)) =
        (role(OpRole::Alloc), role(OpRole::Copy), role(OpRole::Convert))
    else {
        return Ok(());
    };
    let chain = HandOverOps { alloc, copy, convert };
    cx.push_roles(|role| role == OpRole::AgentSwitch)?;
    while let Some(op) = cx.pop()? {
        arguments(cx, op, chain)?;
        captured(cx, op, chain)?;
        results(cx, op, chain)?;
    }
    Ok(())
}

/// A tile in registers of known shape, which is no constant.
fn is_handed(program: &Program<'_, '_>, value: Value) -> bool {
    let ty = program.type_of(value);
    let constant =
        matches!(program.def(value), Def::Result(op, 0) if program.role(op) == OpRole::Constant);
    ty.is_tile() && !ty.is_memory() && !ty.is_kept() && ty.shape.elements().is_some() && !constant
}

/// Room for a tile in shared memory, made before `at`.
fn storage(
    cx: &mut PassContext<'_, '_, '_>,
    at: Op,
    chain: HandOverOps,
    ty: Type,
) -> Result<Value, PassError> {
    let shared =
        Type { space: Some(Space::Shared), encoding: lanebook_ir::TileEncoding::None, ..ty };
    let op = cx.program.insert_before(at, chain.alloc, &[], &[shared]).map_err(edit)?;
    cx.program.result(op, 0).ok_or(edit(ErrorKind::Broken))
}

fn convert(
    cx: &mut PassContext<'_, '_, '_>,
    at: Op,
    chain: HandOverOps,
    from: Value,
    ty: Type,
) -> Result<Value, PassError> {
    let op = cx.program.insert_before(at, chain.convert, &[from], &[ty]).map_err(edit)?;
    cx.program.result(op, 0).ok_or(edit(ErrorKind::Broken))
}

/// The first operation inside, before which a hand-over is taken.
fn first_inside(program: &Program<'_, '_>, op: Op) -> Option<Op> {
    program.body(op).and_then(|body| program.first(body))
}

/// Operands that the region takes as arguments.
fn arguments(
    cx: &mut PassContext<'_, '_, '_>,
    op: Op,
    chain: HandOverOps,
) -> Result<(), PassError> {
    let Some(body) = cx.program.body(op) else { return Ok(()) };
    let count = cx.program.arguments(body).count();
    if count != cx.program.operand_count(op) {
        return Ok(());
    }
    let mut number = count;
    while let Some(at) = number.checked_sub(1) {
        number = at;
        let program = &*cx.program;
        let (Some(value), Some(argument), Some(first)) =
            (program.operand(op, at), program.arguments(body).nth(at), first_inside(program, op))
        else {
            continue;
        };
        if !is_handed(program, value) || !is_handed(program, argument) {
            continue;
        }
        let ty = program.type_of(argument);
        let room = storage(cx, op, chain, program_type(cx, value))?;
        cx.program.insert_before(op, chain.copy, &[value, room], &[]).map_err(edit)?;
        let taken = convert(cx, first, chain, room, ty)?;
        cx.program.replace_all_uses(argument, taken).map_err(edit)?;
        cx.program.remove_operand(op, at).map_err(edit)?;
        cx.program.remove_argument(body, at).map_err(edit)?;
        cx.changed(op)?;
    }
    Ok(())
}

fn program_type(cx: &PassContext<'_, '_, '_>, value: Value) -> Type {
    cx.program.type_of(value)
}

/// Values from outside that something inside reads.
fn captured(cx: &mut PassContext<'_, '_, '_>, op: Op, chain: HandOverOps) -> Result<(), PassError> {
    let mut at = cx.program.inside(op).next();
    while let Some(here) = at {
        let mut number = 0usize;
        loop {
            let program = &*cx.program;
            let Some(value) = program.all_operands(here).nth(number) else { break };
            number = number.saturating_add(1);
            if is_handed(program, value) && is_outside(program, op, value) {
                capture(cx, op, chain, value)?;
            }
        }
        at = cx.program.following(here, Some(op)).filter(|next| cx.program.is_inside(*next, op));
    }
    Ok(())
}

/// Whether a value is made outside of the regions of an operation.
fn is_outside(program: &Program<'_, '_>, op: Op, value: Value) -> bool {
    match program.def(value) {
        Def::Result(def, _) => !program.is_inside(def, op),
        Def::Argument(block, _) => {
            program.owner_of(block).is_none_or(|owner| owner != op && !program.is_inside(owner, op))
        }
        Def::Literal(_) | Def::Nothing => false,
    }
}

fn capture(
    cx: &mut PassContext<'_, '_, '_>,
    op: Op,
    chain: HandOverOps,
    value: Value,
) -> Result<(), PassError> {
    let Some(first) = first_inside(cx.program, op) else { return Ok(()) };
    let ty = cx.program.type_of(value);
    let room = storage(cx, op, chain, ty)?;
    cx.program.insert_before(op, chain.copy, &[value, room], &[]).map_err(edit)?;
    let taken = convert(cx, first, chain, room, ty)?;
    let mut at: Option<Use> = cx.program.uses(value).next();
    while let Some(place) = at {
        at = cx.program.next_use(place);
        if cx.program.user(place).is_some_and(|user| cx.program.is_inside(user, op)) {
            cx.program.set_use(place, taken).map_err(edit)?;
        }
    }
    cx.changed(op)
}

/// Values that the region yields and that are read behind it.
fn results(cx: &mut PassContext<'_, '_, '_>, op: Op, chain: HandOverOps) -> Result<(), PassError> {
    let mut number = cx.program.results(op).count();
    while let Some(at) = number.checked_sub(1) {
        number = at;
        let program = &*cx.program;
        let end = program.body(op).and_then(|body| program.terminator(body));
        let (Some(result), Some(end), Some(next)) = (program.result(op, at), end, program.next(op))
        else {
            continue;
        };
        let Some(value) = program.operand(end, at) else { continue };
        if !is_handed(program, value) || !is_handed(program, result) || !program.is_used(result) {
            continue;
        }
        let ty = program.type_of(result);
        let room = storage(cx, op, chain, ty)?;
        cx.program.insert_before(end, chain.copy, &[value, room], &[]).map_err(edit)?;
        let taken = convert(cx, next, chain, room, ty)?;
        cx.program.replace_all_uses(result, taken).map_err(edit)?;
        cx.program.remove_operand(end, at).map_err(edit)?;
        if cx.program.operand(end, 0).is_none() {
            cx.program.erase(end).map_err(edit)?;
        }
        cx.program.remove_result(op, at).map_err(edit)?;
        cx.changed(op)?;
    }
    Ok(())
}

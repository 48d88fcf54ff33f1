//! Remove dead region arguments: `for`, `while`, `if` and pipeline regions.
//!
//! An argument is dead when its only uses pass it back to its own place and nothing reads the
//! result of that place. It goes with its initial value, its yielded value and its result, in one
//! step. Any other use keeps it.
use crate::PassError;
use crate::context::{PassContext, edit};
use lanebook_ir::{Block, Op, Program, Use, Value};
use lanebook_tables::OpRole;

pub(crate) fn run(cx: &mut PassContext<'_, '_, '_>) -> Result<(), PassError> {
    cx.push_roles(has_arguments)?;
    while let Some(op) = cx.pop()? {
        match cx.program.role(op) {
            OpRole::For | OpRole::Parallel => counted(cx, op)?,
            OpRole::While => while_loop(cx, op)?,
            OpRole::If => branches(cx, op)?,
            OpRole::Produce | OpRole::Consume | OpRole::AgentSwitch => pipeline(cx, op)?,
            _ => {}
        }
    }
    Ok(())
}

const fn has_arguments(role: OpRole) -> bool {
    matches!(
        role,
        OpRole::For
            | OpRole::Parallel
            | OpRole::While
            | OpRole::If
            | OpRole::Produce
            | OpRole::Consume
            | OpRole::AgentSwitch
    )
}

/// Whether every use of a value is main operand `number` of `end`.
fn only_at(program: &Program<'_, '_>, value: Value, end: Option<Op>, number: usize) -> bool {
    let own = end.and_then(|end| program.operand_use(end, number));
    program.uses(value).all(|place: Use| Some(place) == own)
}

fn counted(cx: &mut PassContext<'_, '_, '_>, op: Op) -> Result<(), PassError> {
    let Some(body) = cx.program.body(op) else { return Ok(()) };
    let mut number = cx.program.results(op).count();
    while let Some(at) = number.checked_sub(1) {
        number = at;
        let program = &*cx.program;
        let (argument, result) =
            (program.arguments(body).nth(at.saturating_add(1)), program.result(op, at));
        let (Some(argument), Some(result)) = (argument, result) else { continue };
        if !program.is_used(result) && only_at(program, argument, program.terminator(body), at) {
            cx.drop_carried(op, at)?;
            cx.changed(op)?;
        }
    }
    Ok(())
}

/// The deciding region hands values to the working region and to the results, the working region
/// back to the deciding one: a value dies alone on either way, or on both.
fn while_loop(cx: &mut PassContext<'_, '_, '_>, op: Op) -> Result<(), PassError> {
    let (Some(decides), Some(works)) = (cx.program.entry(op, 0), cx.program.entry(op, 1)) else {
        return Ok(());
    };
    // Handed on: result and argument of the working region.
    let mut number = cx.program.results(op).count();
    while let Some(at) = number.checked_sub(1) {
        number = at;
        let program = &*cx.program;
        let (Some(result), Some(argument), Some(end)) =
            (program.result(op, at), program.arguments(works).nth(at), program.terminator(decides))
        else {
            continue;
        };
        let passed = program.operand(end, at.saturating_add(1));
        // Where the working region gives the value back to the place that the deciding region took
        // it from.
        let own =
            passed.and_then(|passed| program.arguments(decides).position(|value| value == passed));
        let back = program.terminator(works);
        let returned = own.is_some_and(|own| only_at(program, argument, back, own))
            && passed
                .is_some_and(|passed| only_at(program, passed, Some(end), at.saturating_add(1)));
        if program.is_used(result) || (program.is_used(argument) && !returned) {
            continue;
        }
        if let (true, Some(own)) = (program.is_used(argument), own) {
            drop_given(cx, op, decides, works, own, Some((end, at.saturating_add(1))))?;
        } else {
            cx.program.remove_operand(end, at.saturating_add(1)).map_err(edit)?;
        }
        cx.program.remove_argument(works, at).map_err(edit)?;
        cx.program.remove_result(op, at).map_err(edit)?;
        if let Some(passed) =
            passed.filter(|passed| cx.program.def(*passed) != lanebook_ir::Def::Nothing)
        {
            cx.push_source(passed)?;
        }
        cx.changed(op)?;
    }
    // Given to the deciding region, and not looked at there.
    let mut number = cx.program.operand_count(op);
    while let Some(at) = number.checked_sub(1) {
        number = at;
        let unused = cx
            .program
            .arguments(decides)
            .nth(at)
            .is_some_and(|argument| !cx.program.is_used(argument));
        if unused {
            drop_given(cx, op, decides, works, at, None)?;
            cx.changed(op)?;
        }
    }
    Ok(())
}

/// Takes initial value, argument of the deciding region and yielded value out of a `while`; first
/// the use at `also`.
pub(crate) fn drop_given(
    cx: &mut PassContext<'_, '_, '_>,
    op: Op,
    decides: Block,
    works: Block,
    number: usize,
    also: Option<(Op, usize)>,
) -> Result<(), PassError> {
    let back = cx.program.terminator(works);
    let sources =
        [cx.program.operand(op, number), back.and_then(|back| cx.program.operand(back, number))];
    if let Some((end, at)) = also {
        cx.program.remove_operand(end, at).map_err(edit)?;
    }
    if let Some(back) = back {
        cx.program.remove_operand(back, number).map_err(edit)?;
        if cx.program.operand(back, 0).is_none() {
            cx.program.erase(back).map_err(edit)?;
        }
    }
    cx.program.remove_operand(op, number).map_err(edit)?;
    cx.program.remove_argument(decides, number).map_err(edit)?;
    for value in sources.into_iter().flatten() {
        cx.push_source(value)?;
    }
    Ok(())
}

/// A result that nothing reads goes with what both arms yield for it.
fn branches(cx: &mut PassContext<'_, '_, '_>, op: Op) -> Result<(), PassError> {
    let mut number = cx.program.results(op).count();
    while let Some(at) = number.checked_sub(1) {
        number = at;
        if cx.program.result(op, at).is_none_or(|result| cx.program.is_used(result)) {
            continue;
        }
        for region in 0..2 {
            drop_yielded(cx, op, region, at)?;
        }
        cx.program.remove_result(op, at).map_err(edit)?;
        cx.changed(op)?;
    }
    Ok(())
}

fn drop_yielded(
    cx: &mut PassContext<'_, '_, '_>,
    op: Op,
    region: usize,
    number: usize,
) -> Result<(), PassError> {
    let Some(end) = cx.program.entry(op, region).and_then(|block| cx.program.terminator(block))
    else {
        return Ok(());
    };
    let value = cx.program.operand(end, number);
    cx.program.remove_operand(end, number).map_err(edit)?;
    if cx.program.operand(end, 0).is_none() {
        cx.program.erase(end).map_err(edit)?;
    }
    value.map_or(Ok(()), |value| cx.push_source(value))
}

/// A pipeline region takes its operands as arguments, one for one, and yields its results.
fn pipeline(cx: &mut PassContext<'_, '_, '_>, op: Op) -> Result<(), PassError> {
    let Some(body) = cx.program.body(op) else { return Ok(()) };
    let yields = cx
        .program
        .terminator(body)
        .is_some_and(|end| cx.program.operand_count(end) == cx.program.results(op).count());
    let mut number = if yields { cx.program.results(op).count() } else { 0 };
    while let Some(at) = number.checked_sub(1) {
        number = at;
        if cx.program.result(op, at).is_some_and(|result| !cx.program.is_used(result)) {
            drop_yielded(cx, op, 0, at)?;
            cx.program.remove_result(op, at).map_err(edit)?;
            cx.changed(op)?;
        }
    }
    let arguments = cx.program.arguments(body).count();
    let mut number = if arguments == cx.program.operand_count(op) { arguments } else { 0 };
    while let Some(at) = number.checked_sub(1) {
        number = at;
        if cx.program.arguments(body).nth(at).is_some_and(|argument| !cx.program.is_used(argument))
        {
            let source = cx.program.operand(op, at);
            cx.program.remove_operand(op, at).map_err(edit)?;
            cx.program.remove_argument(body, at).map_err(edit)?;
            if let Some(source) = source {
                cx.push_source(source)?;
            }
            cx.changed(op)?;
        }
    }
    Ok(())
}

//! Layouts across regions: what a condition's arms, a loop or a consumer region pass out is passed
//! out as it was before it was converted, and converted outside.
//!
//! - `if`: both arms convert from one layout, or one does and every reader converts to that layout;
//! - consumer regions of one stage: the region's end converts;
//! - counted loops: the body converts what it gives to the next iteration, and that converts it
//!   back first. The conversions leave the loop: one before it, one behind it;
//! - hints that hand operands on as results: each pair of the two takes on the layout that all
//!   readers want, the hint stays one;
//! - `while` loops: the same for what the working region gives back; and what the deciding region
//!   converts to hand it on is handed on unconverted when the work, or the reader behind the loop,
//!   converts it back first.
use crate::PassError;
use crate::context::{PassContext, edit};
use crate::propagate::back;
use lanebook_ir::{Op, Program, Type, Use, Value};
use lanebook_tables::{OpId, OpRole};

pub(crate) fn run(cx: &mut PassContext<'_, '_, '_>) -> Result<(), PassError> {
    let Some(convert) = cx.program.tables().op_of_role(OpRole::Convert) else { return Ok(()) };
    cx.push_roles(|role| {
        matches!(
            role,
            OpRole::If
                | OpRole::For
                | OpRole::Parallel
                | OpRole::While
                | OpRole::Consume
                | OpRole::Pragma
        )
    })?;
    while let Some(op) = cx.pop()? {
        match cx.program.role(op) {
            OpRole::If => passed_out(cx, convert, op, 2)?,
            OpRole::Consume if !cx.program.is_stage(op) => passed_out(cx, convert, op, 1)?,
            OpRole::For | OpRole::Parallel => carried(cx, convert, op)?,
            OpRole::Pragma if cx.program.is_paired(op) => pairs(cx, convert, op)?,
            OpRole::While => {
                handed(cx, convert, op)?;
                taken(cx, convert, op)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// The value and type that a conversion within registers began with.
fn unconverted(program: &Program<'_, '_>, value: Value) -> Option<(Value, Type)> {
    let op = program.def_op(value).filter(|op| program.role(*op) == OpRole::Convert)?;
    let source = program.operand(op, 0)?;
    let (from, to) = (program.type_of(source), program.type_of(value));
    let alike = from.is_tile() && to.is_tile() && !from.is_memory() && !to.is_memory();
    alike.then_some((source, from))
}

/// Whether every use of a value converts it to this layout.
fn all_convert(program: &Program<'_, '_>, value: Value, to: &Type) -> bool {
    program.is_used(value)
        && program
            .uses(value)
            .all(|place| program.user(place).is_some_and(|user| converts_to(program, user, to)))
}

fn converts_to(program: &Program<'_, '_>, user: Op, to: &Type) -> bool {
    program.role(user) == OpRole::Convert
        && program
            .result(user, 0)
            .is_some_and(|result| program.same_type(&program.type_of(result), to))
}

/// The last operation of a region's block.
fn end_of(program: &Program<'_, '_>, op: Op, region: usize) -> Option<Op> {
    program.entry(op, region).and_then(|block| program.terminator(block))
}

/// Lets operand `number` of `end` be in layout `ty`: what was converted last, unconverted; else
/// converted now.
fn give(
    cx: &mut PassContext<'_, '_, '_>,
    convert: OpId,
    end: Op,
    number: usize,
    ty: Type,
) -> Result<(), PassError> {
    let Some(value) = cx.program.operand(end, number) else { return Ok(()) };
    let new = match unconverted(cx.program, value) {
        Some((source, from)) if cx.program.same_type(&from, &ty) => Some(source),
        _ => {
            let made = cx.program.insert_before(end, convert, &[value], &[ty]).map_err(edit)?;
            cx.program.result(made, 0)
        }
    };
    let Some(new) = new else { return Ok(()) };
    cx.program.set_operand(end, number, new).map_err(edit)?;
    if let Some(def) = cx.program.def_op(value) {
        cx.push_unread(def)?;
    }
    Ok(())
}

fn passed_out(
    cx: &mut PassContext<'_, '_, '_>,
    convert: OpId,
    op: Op,
    regions: usize,
) -> Result<(), PassError> {
    for number in 0..cx.program.results(op).count() {
        let program = &*cx.program;
        let (Some(result), Some(next)) = (program.result(op, number), program.next(op)) else {
            continue;
        };
        let to = program.type_of(result);
        let origin = |region| {
            end_of(program, op, region)
                .and_then(|end| program.operand(end, number))
                .and_then(|value| unconverted(program, value))
        };
        let first = origin(0).or_else(|| if regions > 1 { origin(1) } else { None });
        let Some((_, from)) = first.filter(|(_, from)| !program.same_type(from, &to)) else {
            continue;
        };
        let agree = (0..regions).all(|region| {
            origin(region).is_some_and(|(_, other)| program.same_type(&other, &from))
        });
        let complete = (0..regions).all(|region| {
            end_of(program, op, region).is_some_and(|end| program.operand(end, number).is_some())
        });
        if !complete || !(agree || all_convert(program, result, &from)) {
            continue;
        }
        for region in 0..regions {
            if let Some(end) = end_of(cx.program, op, region) {
                give(cx, convert, end, number, from)?;
            }
        }
        cx.program.set_type(result, from).map_err(edit)?;
        if cx.program.is_used(result) {
            back(cx, convert, next, result, to)?;
        }
        cx.changed(op)?;
    }
    Ok(())
}

/// A value that comes round: who takes it, at which operand of which operation it is given first
/// and again.
struct Round {
    argument: Value,
    /// The first operation of the block that takes it.
    first: Op,
    init: (Op, usize),
    end: (Op, usize),
}

/// Lets a value that comes round be in the layout that it is given back in before it is converted,
/// if who takes it converts it back.
fn come_round(
    cx: &mut PassContext<'_, '_, '_>,
    convert: OpId,
    round: &Round,
) -> Result<Option<(Type, Type)>, PassError> {
    let program = &*cx.program;
    let (Some(yielded), Some(init)) =
        (program.operand(round.end.0, round.end.1), program.operand(round.init.0, round.init.1))
    else {
        return Ok(None);
    };
    let to = program.type_of(round.argument);
    let Some((_, from)) = unconverted(program, yielded) else { return Ok(None) };
    // Worth it when the next iteration begins by taking the conversion back.
    if program.same_type(&from, &to) || !takes_back(program, round.argument, &from) {
        return Ok(None);
    }
    give(cx, convert, round.end.0, round.end.1, from)?;
    let made = cx.program.insert_before(round.init.0, convert, &[init], &[from]).map_err(edit)?;
    let Some(init) = cx.program.result(made, 0) else { return Ok(None) };
    cx.program.set_operand(round.init.0, round.init.1, init).map_err(edit)?;
    cx.program.set_type(round.argument, from).map_err(edit)?;
    readers(cx, convert, round.first, round.argument, to, &from)?;
    Ok(Some((from, to)))
}

/// Whether a reader of a value converts it to this layout.
fn takes_back(program: &Program<'_, '_>, value: Value, to: &Type) -> bool {
    program
        .uses(value)
        .any(|place| program.user(place).is_some_and(|user| converts_to(program, user, to)))
}

fn carried(cx: &mut PassContext<'_, '_, '_>, convert: OpId, op: Op) -> Result<(), PassError> {
    for number in 0..cx.program.results(op).count() {
        let program = &*cx.program;
        let Some(value) = program.carried(op).nth(number) else { continue };
        let (Some(result), Some(body)) = (value.result, program.body(op)) else { continue };
        let (Some(end), Some(first), Some(next)) =
            (program.terminator(body), program.first(body), program.next(op))
        else {
            continue;
        };
        let round = Round {
            argument: value.argument,
            first,
            init: (op, number.saturating_add(3)),
            end: (end, number),
        };
        let Some((from, to)) = come_round(cx, convert, &round)? else { continue };
        cx.program.set_type(result, from).map_err(edit)?;
        if cx.program.is_used(result) {
            back(cx, convert, next, result, to)?;
        }
        cx.changed(op)?;
    }
    Ok(())
}

/// What the deciding region of a `while` takes, first from before the loop, then from the working
/// region.
fn taken(cx: &mut PassContext<'_, '_, '_>, convert: OpId, op: Op) -> Result<(), PassError> {
    for number in 0..cx.program.operand_count(op) {
        let program = &*cx.program;
        let (Some(decides), Some(works)) = (program.entry(op, 0), program.entry(op, 1)) else {
            return Ok(());
        };
        let (Some(argument), Some(first)) =
            (program.arguments(decides).nth(number), program.first(decides))
        else {
            continue;
        };
        let Some(end) = program.terminator(works) else { continue };
        if come_round(
            cx,
            convert,
            &Round { argument, first, init: (op, number), end: (end, number) },
        )?
        .is_some()
        {
            cx.changed(op)?;
        }
    }
    Ok(())
}

/// What the deciding region of a `while` hands to the working region and to the results: it is
/// converted there, as often as before, if somebody there takes the conversion back.
fn handed(cx: &mut PassContext<'_, '_, '_>, convert: OpId, op: Op) -> Result<(), PassError> {
    for number in 0..cx.program.results(op).count() {
        let program = &*cx.program;
        let (Some(decides), Some(works)) = (program.entry(op, 0), program.entry(op, 1)) else {
            return Ok(());
        };
        let (Some(result), Some(argument)) =
            (program.result(op, number), program.arguments(works).nth(number))
        else {
            continue;
        };
        let (Some(end), Some(first), Some(next)) =
            (program.terminator(decides), program.first(works), program.next(op))
        else {
            continue;
        };
        let place = number.saturating_add(1);
        let to = program.type_of(result);
        let Some((_, from)) =
            program.operand(end, place).and_then(|value| unconverted(program, value))
        else {
            continue;
        };
        let wanted = takes_back(program, argument, &from) || takes_back(program, result, &from);
        if program.same_type(&from, &to) || !wanted {
            continue;
        }
        give(cx, convert, end, place, from)?;
        cx.program.set_type(argument, from).map_err(edit)?;
        cx.program.set_type(result, from).map_err(edit)?;
        readers(cx, convert, first, argument, to, &from)?;
        if cx.program.is_used(result) {
            back(cx, convert, next, result, to)?;
        }
        cx.changed(op)?;
    }
    Ok(())
}

/// Operands of a hint with the results that they are: if all who read a result convert it alike,
/// the operand is converted instead.
fn pairs(cx: &mut PassContext<'_, '_, '_>, convert: OpId, op: Op) -> Result<(), PassError> {
    for number in 0..cx.program.results(op).count() {
        let program = &*cx.program;
        let (Some(value), Some(result)) = (program.operand(op, number), program.result(op, number))
        else {
            continue;
        };
        let from = program.type_of(result);
        let reader = program.uses(result).next().and_then(|place| program.user(place));
        let wanted = reader
            .and_then(|reader| program.result(reader, 0))
            .and_then(|read| unconverted(program, read).map(|_| program.type_of(read)));
        let Some(to) = wanted.filter(|to| {
            !program.same_type(to, &from) && program.same_type(&program.type_of(value), &from)
        }) else {
            continue;
        };
        let pinned = program
            .uses(result)
            .any(|place| program.user(place).is_none_or(|reader| program.is_pinned(op, reader)));
        if pinned || !all_convert(program, result, &to) {
            continue;
        }
        give(cx, convert, op, number, to)?;
        cx.program.set_type(result, to).map_err(edit)?;
        loop {
            let first = cx.program.uses(result).next();
            let Some(read) = first.and_then(|place| cx.program.user(place)) else { break };
            let Some(taken) =
                cx.program.result(read, 0).filter(|_| converts_to(cx.program, read, &to))
            else {
                break;
            };
            cx.push_users(taken)?;
            cx.program.replace_all_uses(taken, result).map_err(edit)?;
            cx.program.erase(read).map_err(edit)?;
        }
        // What another hint hands on may go on from there.
        cx.push_source(value)?;
        cx.changed(op)?;
    }
    Ok(())
}

/// Readers of an argument that now is in layout `from`: those who converted it to that read it as
/// it is, the others read it converted back, from before `first` on.
fn readers(
    cx: &mut PassContext<'_, '_, '_>,
    convert: OpId,
    first: Op,
    argument: Value,
    to: Type,
    from: &Type,
) -> Result<(), PassError> {
    let takes_back = |program: &Program<'_, '_>, place: Use| {
        program.user(place).is_some_and(|user| converts_to(program, user, from))
    };
    let others = cx.program.uses(argument).any(|place| !takes_back(cx.program, place));
    if others {
        let made = cx.program.insert_before(first, convert, &[argument], &[to]).map_err(edit)?;
        let Some(old) = cx.program.result(made, 0) else { return Ok(()) };
        let mut at = cx.program.uses(argument).next();
        while let Some(place) = at {
            at = cx.program.next_use(place);
            if cx.program.user(place) != Some(made) && !takes_back(cx.program, place) {
                cx.program.set_use(place, old).map_err(edit)?;
            }
        }
    }
    loop {
        let program = &*cx.program;
        let Some(place) = program.uses(argument).find(|place| takes_back(program, *place)) else {
            return Ok(());
        };
        let (Some(user), Some(taken)) =
            (program.user(place), program.user(place).and_then(|user| program.result(user, 0)))
        else {
            return Ok(());
        };
        cx.program.replace_all_uses(taken, argument).map_err(edit)?;
        cx.program.erase(user).map_err(edit)?;
    }
}

//! Agents that only copy: a loop of copies that another agent runs, and the loop that reads what
//! they bring, become one loop of stages with warps set aside for its copies.
//!
//! `agent_switch` holds the loop of copies, and stands in front of the loop that has its turns. The
//! hand-off that both agree on is the loop's buffers, of which there are as many as one of the two
//! says (`num_stages`).

use crate::attr::AttrValue;
use crate::attr_names;
use crate::edit::edit_ops::Edit;
use crate::edit::inline::not_kept;
use crate::error::{ErrorKind, IrError, SourcePlace};
use crate::expr::leads::fills;
use crate::handle::{Op, Value};
use crate::program::{Loop, Program};
use lanebook_tables::OpRole;

/// Puts what agents copy into the loops that read it.
///
/// # Errors
/// A switch that holds something else, or before no such loop, at its place; room that ran out.
#[inline(never)]
pub(crate) fn join_agents(program: &mut Program<'_, '_>, kernel: Op) -> Result<(), IrError> {
    let mut next = program.inside(kernel).next();
    while let Some(op) = next {
        if program.role(op) != OpRole::AgentSwitch {
            next = program.following(op, Some(kernel));
            continue;
        }
        let at = SourcePlace { op: None, ..program.place(op) };
        if let Some(attr) = program.attrs(op).next() {
            return Err(not_kept(program, attr.key));
        }
        let reader = reader(program, op).ok_or(IrError { kind: ErrorKind::StageForm, at })?;
        join(program, op, &reader).map_err(|kind| IrError { kind, at })?;
        next = Some(reader.op);
    }
    Ok(())
}

/// The loop behind a switch; nothing between them touches memory.
fn reader(program: &Program<'_, '_>, switch: Op) -> Option<Loop> {
    let mut at = program.next(switch)?;
    while program.role(at) != OpRole::For {
        let plain = matches!(
            program.role(at),
            OpRole::Constant | OpRole::Alloc | OpRole::Index | OpRole::Broadcast
        );
        at = program.next(at).filter(|_| plain)?;
    }
    program.counted_loop(at)
}

/// Whether two loops have the same bound, first number or step.
fn is_same(program: &Program<'_, '_>, a: Value, b: Value) -> bool {
    a == b || program.int(a).is_some_and(|n| program.int(b) == Some(n))
}

/// Moves copies in front of what reads them.
fn join(program: &mut Program<'_, '_>, switch: Op, reader: &Loop) -> Edit {
    let body = program.body(switch).ok_or(ErrorKind::StageForm)?;
    let unlike = program.operands(switch).next().is_some()
        || program.results(switch).next().is_some()
        || program.arguments(body).next().is_some();
    let mut found = None;
    let mut at = program.first(body);
    while let Some(op) = at {
        at = program.next(op);
        match program.role(op) {
            OpRole::For if found.is_none() => found = program.counted_loop(op),
            OpRole::Index => program.move_before(op, switch)?,
            OpRole::Yield => {}
            _ => return Err(ErrorKind::StageForm),
        }
    }
    let copies = found.filter(|_| !unlike).ok_or(ErrorKind::StageForm)?;
    let same = is_same(program, copies.lower, reader.lower)
        && is_same(program, copies.upper, reader.upper)
        && is_same(program, copies.step, reader.step)
        && program.carried(copies.op).next().is_none();
    if !same {
        return Err(ErrorKind::StageForm);
    }
    take_stages(program, copies.op, reader.op)?;
    program.replace_all_uses(copies.induction, reader.induction)?;
    let first = program.first(reader.body).ok_or(ErrorKind::StageForm)?;
    while let Some(op) = program.first(copies.body) {
        match program.role(op) {
            OpRole::Yield => program.erase(op)?,
            OpRole::Index | OpRole::Produce => program.move_before(op, first)?,
            OpRole::Copy if fills(program, op) => program.move_before(op, first)?,
            _ => return Err(ErrorKind::StageForm),
        }
    }
    program.set_attr(reader.op, attr_names::WARP_SPECIALIZE, AttrValue::Unit)?;
    while let Some(op) = program.first(body) {
        program.erase(op)?;
    }
    program.erase(switch)
}

/// The reader's loop has the stages that one of the two says; the loop of copies says nothing else.
fn take_stages(program: &mut Program<'_, '_>, copies: Op, reader: Op) -> Edit {
    let said = [copies, reader].map(|op| program.int_attr(op, attr_names::STAGES));
    let others = program.attrs(copies).any(|attr| program.text(attr.key) != attr_names::STAGES);
    let stages = match said {
        [Some(a), Some(b)] if a != b => return Err(ErrorKind::StageForm),
        [a, b] => a.or(b).filter(|n| *n > 1).ok_or(ErrorKind::StageForm)?,
    };
    if others {
        return Err(ErrorKind::StageForm);
    }
    program.set_attr(reader, attr_names::STAGES, AttrValue::Int(stages, None))
}

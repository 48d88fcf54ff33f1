//! Stages of a pipeline, `produce_one` and `consume_one`: what they hold becomes the body of their
//! loop, and the loop says that warps are set aside for its copies.
//!
//! A producer fills the buffers of one turn and a consumer reads them: so both stand directly in a
//! loop of stages, the producers hold its copies into shared memory, all of them and nothing else
//! but indices, and the consumers hold the rest.

use crate::attr::AttrValue;
use crate::attr_names;
use crate::edit::edit_ops::Edit;
use crate::edit::inline::not_kept;
use crate::error::{ErrorKind, IrError, SourcePlace};
use crate::expr::leads::fills;
use crate::handle::{Block, Op};
use crate::program::Program;
use lanebook_tables::OpRole;

/// Puts what stages of pipelines hold into their loops.
///
/// # Errors
/// A stage that stands elsewhere, or holds what it cannot; room that ran out.
#[inline(never)]
pub(crate) fn dissolve_stages(program: &mut Program<'_, '_>, kernel: Op) -> Result<(), IrError> {
    let mut next = program.inside(kernel).next();
    while let Some(op) = next {
        if is_stage(program, op) {
            let at = SourcePlace { op: None, ..program.place(op) };
            let failed = |kind| IrError { kind, at };
            let around = program.parent(op).filter(|at| program.counted_loop(*at).is_some());
            let around = around.ok_or(failed(ErrorKind::StageForm))?;
            let body = program.body(around).ok_or(failed(ErrorKind::StageForm))?;
            may_dissolve(program, around, body)?;
            let marked = program.set_attr(around, attr_names::WARP_SPECIALIZE, AttrValue::Unit);
            marked.map_err(failed)?;
            loop {
                let stage = program.ops(body).find(|op| is_stage(program, *op));
                let Some(stage) = stage else { break };
                dissolve(program, stage).map_err(failed)?;
            }
            next = program.first(body).or_else(|| program.past(around, Some(kernel)));
            continue;
        }
        next = program.following(op, Some(kernel));
    }
    Ok(())
}

fn is_stage(program: &Program<'_, '_>, op: Op) -> bool {
    matches!(program.role(op), OpRole::Produce | OpRole::Consume)
}

/// Refuses stages that do not hold what they may, and a loop whose copies stand beside them.
fn may_dissolve(program: &mut Program<'_, '_>, around: Op, body: Block) -> Result<(), IrError> {
    let mut produces = false;
    let mut at = program.first(body);
    while let Some(op) = at {
        at = program.next(op);
        let place = SourcePlace { op: None, ..program.place(op) };
        let failed = IrError { kind: ErrorKind::StageForm, at: place };
        if fills(program, op) && !program.is_warp_specialized(around) {
            return Err(failed);
        }
        if !is_stage(program, op) {
            continue;
        }
        says_stages(program, around, op)?;
        let is_producer = program.role(op) == OpRole::Produce;
        let inside = program.body(op).ok_or(failed)?;
        let holds = |inner: Op| {
            let role = program.role(inner);
            let passes = role == OpRole::Yield;
            match is_producer {
                true => fills(program, inner) || role == OpRole::Index || passes,
                false => !fills(program, inner),
            }
        };
        let arguments = program.arguments(inside).count();
        let passed = program.terminator(inside).map_or(0, |end| program.operands(end).count());
        let results = program.results(op).count();
        let is_even = program.operands(op).count() == arguments || arguments == 0;
        if !program.ops(inside).all(holds) || !is_even || passed != results {
            return Err(failed);
        }
        produces |= is_producer;
    }
    let at = SourcePlace { op: None, ..program.place(around) };
    if produces { Ok(()) } else { Err(IrError { kind: ErrorKind::StageForm, at }) }
}

/// The loop gets the buffers that a stage says, which has no other attributes.
fn says_stages(program: &mut Program<'_, '_>, around: Op, stage: Op) -> Result<(), IrError> {
    let at = SourcePlace { op: None, ..program.place(stage) };
    let failed = |kind| IrError { kind, at };
    let mut number = 0usize;
    loop {
        let attr = program.attrs(stage).nth(number);
        let Some(attr) = attr else { break };
        number = number.saturating_add(1);
        let is_depth = program.text(attr.key) == attr_names::DEPTH;
        let said = program.int_attr(stage, attr_names::DEPTH).filter(|_| is_depth);
        let whole = program.int_attr(around, attr_names::STAGES);
        let Some(said) = said.filter(|said| whole.is_none_or(|whole| whole == *said)) else {
            return Err(not_kept(program, attr.key));
        };
        if whole.is_none() {
            let value = AttrValue::Int(said, None);
            program.set_attr(around, attr_names::STAGES, value).map_err(failed)?;
        }
    }
    let stages = program.int_attr(around, attr_names::STAGES);
    // How many there may be is the contract's to say.
    let is_pipeline = stages.is_some_and(|n| n > 1);
    if is_pipeline { Ok(()) } else { Err(failed(ErrorKind::StageForm)) }
}

/// Moves what a stage holds before it, and takes it away.
fn dissolve(program: &mut Program<'_, '_>, stage: Op) -> Edit {
    let body: Block = program.body(stage).ok_or(ErrorKind::Broken)?;
    let mut number = 0usize;
    loop {
        let argument = program.arguments(body).nth(number);
        let Some(argument) = argument else { break };
        let value = program.operand(stage, number).ok_or(ErrorKind::StageForm)?;
        program.replace_all_uses(argument, value)?;
        number = number.saturating_add(1);
    }
    if let Some(end) = program.terminator(body) {
        let mut number = 0usize;
        while let Some(result) = program.result(stage, number) {
            let passed = program.operand(end, number).ok_or(ErrorKind::StageForm)?;
            program.replace_all_uses(result, passed)?;
            number = number.saturating_add(1);
        }
        program.erase(end)?;
    }
    while let Some(op) = program.first(body) {
        program.move_before(op, stage)?;
    }
    program.erase(stage)
}

//! What says where the copies of a loop of stages begin, of numbers that are loaded in the loop,
//! stands there once more for everybody else: copies run turns ahead, and the others do not.

use crate::edit::edit_ops::Edit;
use crate::error::{ErrorKind, IrError, SourcePlace};
use crate::expr::leads::{LEADS, Leads, fills};
use crate::handle::{Op, Use, Value};
use crate::program::{Loop, Program};
use heapless::Vec;
use lanebook_tables::OpRole;

/// Gives the copies of each loop of stages loads of their own for where they begin.
///
/// # Errors
/// Room that ran out.
#[inline(never)]
pub(crate) fn part_leads(program: &mut Program<'_, '_>, kernel: Op) -> Result<(), IrError> {
    let mut next = program.inside(kernel).next();
    while let Some(op) = next {
        if program.role(op) == OpRole::For
            && program.stages(op) > 1
            && let Some(parts) = program.counted_loop(op)
        {
            let at = SourcePlace { op: None, ..program.place(op) };
            part(program, &parts).map_err(|kind| IrError { kind, at })?;
        }
        next = program.following(op, Some(kernel));
    }
    Ok(())
}

/// The same for one loop, if something is loaded there to know where its copies begin.
#[inline(never)]
fn part(program: &mut Program<'_, '_>, parts: &Loop) -> Edit {
    let mut all = Leads::new();
    let whole = program.all_leading(parts, &mut all);
    if !whole || !all.iter().any(|op| program.role(*op) == OpRole::Load) {
        return Ok(());
    }
    // In the order of the text, so that what a copy of one reads has been copied.
    let mut copied: Vec<(Value, Value), LEADS> = Vec::new();
    let mut at = program.first(parts.body);
    while let Some(op) = at {
        at = program.next(op);
        let leads = all.contains(&op);
        if !leads && !fills(program, op) {
            continue;
        }
        let own = if leads { program.clone_before(op, op)? } else { op };
        for &(old, new) in &copied {
            loop {
                let same = |place: &Use| program.used(*place) == Some(old);
                let Some(place) = program.uses_by(own).find(same) else { break };
                program.set_use(place, new)?;
            }
        }
        if let Some((old, new)) =
            program.result(op, 0).zip(program.result(own, 0)).filter(|_| leads)
        {
            copied.push((old, new)).map_err(|_| ErrorKind::Broken)?;
        }
    }
    // What nobody else reads goes away, the last one first.
    while let Some(op) = all.iter().copied().find(|op| {
        program.block_of(*op).is_some() && !program.results(*op).any(|v| program.is_used(v))
    }) {
        program.erase(op)?;
        all.retain(|own| *own != op);
    }
    Ok(())
}

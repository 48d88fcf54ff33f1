//! Stages: which copies run ahead of their loop's turns, by the text alone.
//!
//! A loop of `n` stages is gone through `n - 1` times more than it has turns. In time `j` (from 0)
//! copies bring the tiles of turn `j`, as far as there is one, into buffer `j mod n`; all else in
//! the body belongs to turn `j - (n - 1)`, as far as there is one. So many are the stages that are
//! written; where every copy goes through registers, which hold one turn's, no more than two.

use lanebook_ir::{Op, Program, Value};
use lanebook_plan::{End, Plan};
use lanebook_tables::{OpRole, Space};

/// Most operations that are made of what one of them makes.
const REACHED: usize = 48;

/// The copy that fills a tile turns ahead.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct StagedTile {
    /// The loop.
    pub around: Op,
    /// The copy.
    pub copy: Op,
    /// Buffers.
    pub stages: u8,
}

/// The loop that a copy runs ahead of, or what is loaded and computed to know where one begins.
pub(crate) fn ahead_of(program: &Program<'_, '_>, op: Op) -> Option<Op> {
    let around = program.parent(op)?;
    let staged = program.role(around) == OpRole::For && program.stages(around) > 1;
    (staged && (fills(program, op) || leads(program, op, around))).then_some(around)
}

/// Whether an operation copies a tile from global into shared memory, as it is.
fn fills(program: &Program<'_, '_>, op: Op) -> bool {
    let space = |k: usize| program.operand(op, k).and_then(|v| program.type_of(v).space);
    let dtype = |k: usize| program.operand(op, k).and_then(|v| program.type_of(v).dtype);
    program.role(op) == OpRole::Copy
        && dtype(0) == dtype(1)
        && space(0) == Some(Space::Global)
        && space(1) == Some(Space::Shared)
}

/// Whether all that is made of what an operation in a loop of stages makes is where copies begin
/// that run ahead, and a load is on the way there: it belongs to their turn.
#[inline(never)]
fn leads(program: &Program<'_, '_>, op: Op, around: Op) -> bool {
    if program.regions(op).next().is_some() || program.results(op).next().is_none() {
        return false;
    }
    let mut reached: heapless::Vec<Op, REACHED> = heapless::Vec::new();
    let _ = reached.push(op);
    let mut copies = false;
    let mut at = 0usize;
    while let Some(&here) = reached.get(at) {
        at = at.saturating_add(1);
        for value in program.results(here) {
            for user in program.uses(value).filter_map(|place| program.user(place)) {
                if program.parent(user) != Some(around) {
                    return false;
                }
                if fills(program, user) {
                    if !program.subscripts(user, 0).any(|start| start == value) {
                        return false;
                    }
                    copies = true;
                } else if program.results(user).next().is_none()
                    || !reached.contains(&user) && reached.push(user).is_err()
                {
                    return false;
                }
            }
        }
    }
    let is_loaded = || {
        let parts = program.counted_loop(around);
        parts.zip(program.result(op, 0)).is_some_and(|(at, v)| program.is_loaded_inside(v, &at))
    };
    let through_load = reached.iter().any(|op| program.role(*op) == OpRole::Load);
    copies && (through_load || is_loaded() || program.role(op) != OpRole::Index)
}

/// How many turns' copies of a loop are on their way or in shared memory at once.
pub(crate) fn stages_of(program: &Program<'_, '_>, plan: &Plan<'_>, around: Op) -> u8 {
    let written = program.stages(around);
    let mut own = plan.transfers.iter().filter(|m| {
        program.parent(m.op) == Some(around)
            && fills(program, m.op)
            && matches!((m.from, m.to), (End::Global(_), End::Shared(_)))
    });
    let whole = |m: &lanebook_plan::TransferPlan| m.second.is_some();
    let first = own.next();
    let held = first.is_some_and(whole) && own.all(whole) && !program.is_warp_specialized(around);
    if held { written.min(2) } else { written }
}

/// The copy that fills a tile turns ahead.
pub(crate) fn staged_tile(
    program: &Program<'_, '_>,
    plan: &Plan<'_>,
    tile: Value,
) -> Option<StagedTile> {
    let mut users = program.uses(tile).filter_map(|place| program.user(place));
    users.find_map(|copy| {
        let around = ahead_of(program, copy).filter(|_| program.operand(copy, 1) == Some(tile))?;
        Some(StagedTile { around, copy, stages: stages_of(program, plan, around) })
    })
}

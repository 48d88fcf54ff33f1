//! Tiles of several buffers: as many as their loop has stages, and nobody's but their copy's and its
//! loads'.

use crate::memory::alloc::shares_bytes;
use crate::stages::{StagedTile, staged_tile};
use crate::violation::Violation;
use lanebook_ir::{Op, Program};
use lanebook_plan::{End, Plan};
use lanebook_tables::OpRole;

/// Statement 2a for one tile.
pub(crate) fn buffers(
    program: &Program<'_, '_>,
    plan: &Plan<'_>,
    number: usize,
) -> Result<(), Violation> {
    let alloc = u16::try_from(number).unwrap_or(u16::MAX);
    let Some(tile) = plan.allocs.get(number) else { return Ok(()) };
    let staged = staged_tile(program, plan, tile.value);
    let want = staged.map_or(1, |staged| staged.stages);
    let wrong = Violation::Buffers { alloc, want, found: tile.stages };
    let whole = tile.stage_bytes().checked_mul(u32::from(tile.stages)) == Some(tile.bytes);
    let aligned = tile.stages == 1 || tile.stage_bytes().checked_rem(tile.align) == Some(0);
    if tile.stages != want || !whole || !aligned {
        return Err(wrong);
    }
    let Some(StagedTile { around, copy, .. }) = staged else { return Ok(()) };
    // Nothing else writes it, and loads behind the copy read it, in the same turn.
    let is = |end: End| end == End::Shared(alloc);
    let is_behind = |op: Op| {
        core::iter::successors(program.next(copy), |at| program.next(*at)).any(|at| at == op)
    };
    let read_alone = plan.transfers.iter().all(|m| {
        (!is(m.to) || m.op == copy)
            && (!is(m.from) || program.role(m.op) == OpRole::Load && is_behind(m.op))
    });
    // Units read it in the place of a load, or not at all.
    let by_units = plan.products.iter().any(|p| {
        let copied = p.copied.into_iter().flatten().any(|copy| copy.given.alloc == alloc);
        let mut read = p.shared.into_iter().flatten().filter(|given| given.alloc == alloc);
        copied || read.any(|given| !is_behind(given.load))
    });
    let exchanged = plan.exchanges.iter().any(|e| e.alloc == alloc);
    // What the loop writes is not read before.
    let tensor = program.operand(copy, 0);
    let overtaken = program.inside(around).any(|op| {
        matches!(program.role(op), OpRole::Copy | OpRole::Store | OpRole::Atomic)
            && program.operand(op, 1) == tensor
    });
    if !read_alone || by_units || exchanged || overtaken {
        return Err(wrong);
    }
    // It lives through its loop: nobody else touches its bytes there.
    for (other, b) in plan.allocs.iter().enumerate().filter(|(other, _)| *other != number) {
        let shares = shares_bytes((tile.offset, tile.bytes), (b.offset, b.bytes));
        let is = |end: End| matches!(end, End::Shared(k) if usize::from(k) == other);
        let touches = |op: Op| {
            plan.transfers.iter().any(|m| m.op == op && (is(m.from) || is(m.to)))
                || plan.exchanges.iter().any(|e| e.op == op && usize::from(e.alloc) == other)
        };
        if shares && program.inside(around).any(touches) {
            return Err(Violation::Overlap {
                alloc,
                other: u16::try_from(other).unwrap_or(u16::MAX),
                byte: tile.offset.max(b.offset),
            });
        }
    }
    Ok(())
}

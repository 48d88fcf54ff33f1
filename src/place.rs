//! Place: where each shared tile starts.
//!
//! Tiles whose lives do not meet may share bytes; a tile that is touched inside a loop lives through the loop. Each
//! start is aligned to the tile's swizzle period, so that the pattern follows the segment's own addresses.

use crate::ir::{Op, Program};
use crate::plan::{Plan, PlanError};
use lanebook_tables::{OpRole, Tables};

/// Most shared tiles of a program.
const MAX_TILES: usize = 64;

/// Sets every allocation's offset, and the segment's size and alignment.
///
/// # Errors
/// [`PlanError::SharedMemory`] when the architecture has less; the plan's offsets are then unspecified.
pub fn place(tables: &Tables<'_>, program: &Program<'_, '_>, plan: &mut Plan<'_>) -> Result<(), PlanError> {
    let arch = tables.arch(plan.arch).ok_or(PlanError::UnknownArch)?;
    let mut lives: heapless::Vec<(usize, usize), MAX_TILES> = heapless::Vec::new();
    for alloc in plan.allocs.iter() {
        let mut life = (usize::MAX, 0usize);
        for place in program.uses(alloc.value) {
            let Some(user) = program.user(place) else { continue };
            let (first, last) = span(program, user);
            life = (life.0.min(first), life.1.max(last));
        }
        lives.push(life).map_err(|_| PlanError::Capacity { pool: crate::plan::PlanPool::Allocs, capacity: MAX_TILES as u32 })?;
    }
    let mut end = 0u32;
    let mut align = 16u32;
    for k in 0..plan.allocs.len() {
        let Some(&alloc) = plan.allocs.get(k) else { continue };
        let life = lives.get(k).copied().unwrap_or((0, usize::MAX));
        let mut at = 0u32;
        // First fit: behind every earlier tile that is alive at the same time and in the way, until none is.
        loop {
            at = at.checked_next_multiple_of(alloc.align.max(1)).ok_or(PlanError::UnknownArch)?;
            let top = at.saturating_add(alloc.bytes);
            let clash = plan.allocs.iter().zip(&lives).take(k).find(|(other, other_life)| {
                let meet = other_life.0 <= life.1 && life.0 <= other_life.1;
                meet && other.offset < top && at < other.offset.saturating_add(other.bytes)
            });
            match clash {
                Some((other, _)) => at = other.offset.saturating_add(other.bytes),
                None => break,
            }
        }
        end = end.max(at.saturating_add(alloc.bytes));
        align = align.max(alloc.align);
        if end > arch.shared.max_bytes
            && let Some(op) = program.def_op(alloc.value)
        {
            return Err(PlanError::SharedMemory { op, need: end, have: arch.shared.max_bytes });
        }
        if let Some(slot) = plan.allocs.get_mut(k) {
            slot.offset = at;
        }
    }
    plan.shared_bytes = end;
    plan.shared_align = align;
    Ok(())
}

/// The operations during which something used at `op` is alive: the outermost loop around it, or the operation itself,
/// as positions in program order.
fn span(program: &Program<'_, '_>, op: Op) -> (usize, usize) {
    let mut outer = op;
    let mut at = program.parent(op);
    while let Some(parent) = at {
        if program.role(parent) == OpRole::For {
            outer = parent;
        }
        at = program.parent(parent);
    }
    let position = |wanted: Op| program.all().position(|o| o == wanted).unwrap_or(0);
    let first = position(outer);
    let last = program.inside(outer).map(position).max().unwrap_or(first);
    (first, last.max(first))
}

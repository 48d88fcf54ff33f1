//! Room: a plan whose tiles fit in shared memory, and whose sums fit in tensor memory.
//!
//! Atoms and layouts are chosen by cost alone, and nearly always all tiles fit. Where they do not,
//! padding and scratch are what can be had back: each tile in turn is taken to keep to as many
//! bytes less as are missing, everything is chosen again, and of what fits the cheapest wins. Where
//! no single tile suffices, all give up what they can, and get it back one after the other as long
//! as they still fit. Each tile that loses layouts by that says so in the plan's rejected
//! candidates.
//!
//! Products share tensor memory: where all of them do not fit into it, each may take a part.
//!
//! Does not make tiles smaller than their elements, and does not cut conversions into pieces.

use crate::data::{Limits, MAX_ROUND_BITS, Plan, PlanError};
use crate::select::{PlanScratch, choose, place_loops};
use crate::shared_alloc::place;
use heapless::Vec;
use lanebook_ir::{Op, Program, Value};
use lanebook_tables::{OpRole, Tables};

/// Most tiles that are made smaller.
const MOST: usize = 16;

/// A tile that could take fewer bytes.
#[derive(Copy, Clone)]
struct ShrinkableTile {
    value: Value,
    /// Bytes of each of its buffers.
    bytes: u32,
    /// Buffers.
    stages: u32,
    /// What it takes without padding.
    least: u32,
    /// It is scratch, which another way of doing the same may not need.
    scratch: bool,
}

/// Chooses and places, within the architecture's shared memory.
///
/// # Errors
/// Whatever keeps a plan from being made; the plan must then not be used.
pub fn plan_within_limits(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    function: Op,
    plan: &mut Plan<'_>,
    workspace: &mut PlanScratch<'_>,
) -> Result<(), PlanError> {
    let mut limits = Limits::new();
    if program.has_loops(function) {
        choose(tables, plan.arch, program, function, plan, workspace, &limits)?;
        return place_loops(tables, program, plan);
    }
    let mut found = attempt(tables, program, function, plan, workspace, &limits);
    // Tensor memory: each product with a half of it at the most, then with a quarter.
    for part in 1..3 {
        let Err(PlanError::TensorMemory { have, .. }) = found else { break };
        limits.columns = have.wrapping_shr(part);
        let again = attempt(tables, program, function, plan, workspace, &limits);
        if !matches!(again, Err(PlanError::TensorMemory { .. })) {
            found = again;
        }
    }
    match found {
        Err(PlanError::SharedMemory { need, have, op }) => {
            shrink(tables, program, function, plan, workspace, &mut limits, (op, need, have))
        }
        found => found,
    }
}

#[inline(never)]
fn attempt(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    function: Op,
    plan: &mut Plan<'_>,
    workspace: &mut PlanScratch<'_>,
    limits: &Limits,
) -> Result<(), PlanError> {
    choose(tables, plan.arch, program, function, plan, workspace, limits)?;
    place(tables, program, plan)
}

/// Chooses again with tiles that take fewer bytes, `exceeded` by the operation, the bytes needed
/// and the bytes there are.
#[inline(never)]
fn shrink(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    function: Op,
    plan: &mut Plan<'_>,
    workspace: &mut PlanScratch<'_>,
    limits: &mut Limits,
    exceeded: (Op, u32, u32),
) -> Result<(), PlanError> {
    let (op, need, have) = exceeded;
    let refused = PlanError::SharedMemory { op, need, have };
    let tiles = shrinkable(plan);
    let excess = need.saturating_sub(have);
    let (mut base, mut trial) = (Limits::new(), Limits::new());
    base.copy_from(limits);
    let mut least = u32::MAX;
    // One tile by what is missing.
    for tile in &tiles {
        let less = tile.bytes.saturating_sub(excess.div_ceil(tile.stages.max(1)));
        // Scratch goes in rounds as far as they go, and then there is none.
        let rounds = tile.least.checked_shr(MAX_ROUND_BITS as u32).unwrap_or(0);
        let most = if tile.scratch && less < rounds { 0 } else { less };
        if less < tile.least && !tile.scratch {
            continue;
        }
        trial.copy_from(&base);
        let _ = trial.set(tile.value, most);
        if attempt(tables, program, function, plan, workspace, &trial).is_ok() {
            let cost = cost(tables, program, plan);
            if cost < least {
                least = cost;
                limits.copy_from(&trial);
            }
        }
    }
    if least == u32::MAX {
        // All of them as far as they go; then one after the other what it wants again, where the
        // others leave it.
        for tile in &tiles {
            let _ = limits.set(tile.value, tile.least);
        }
        attempt(tables, program, function, plan, workspace, limits)
            .map_err(|e| if matches!(e, PlanError::SharedMemory { .. }) { refused } else { e })?;
        least = cost(tables, program, plan);
        for tile in &tiles {
            trial.copy_from(limits);
            trial.lift(tile.value);
            if attempt(tables, program, function, plan, workspace, &trial).is_ok() {
                let cost = cost(tables, program, plan);
                if cost < least {
                    least = cost;
                    limits.copy_from(&trial);
                }
            }
        }
    }
    attempt(tables, program, function, plan, workspace, limits)
}

/// Tiles with padding, and scratch.
fn shrinkable(plan: &Plan<'_>) -> Vec<ShrinkableTile, MOST> {
    let mut out = Vec::new();
    for (number, alloc) in plan.allocs.iter().enumerate().filter(|(_, a)| !a.fixed) {
        let least = u32::try_from(alloc.shape.bytes()).unwrap_or(u32::MAX);
        let tile = ShrinkableTile {
            value: alloc.value,
            bytes: alloc.stage_bytes(),
            stages: u32::from(alloc.stages),
            least,
            scratch: plan.is_scratch(number),
        };
        if (tile.bytes > least || tile.scratch) && out.push(tile).is_err() {
            break;
        }
    }
    out
}

/// Weighted sum of all that a plan does, in quarter units, to compare plans of one program.
#[doc(hidden)]
#[must_use]
pub fn cost(tables: &Tables<'_>, program: &Program<'_, '_>, plan: &Plan<'_>) -> u32 {
    let w = &tables.weights;
    let weigh = |op: Op, cost: u32| {
        let loops = core::iter::successors(program.parent(op), |at| program.parent(*at))
            .filter(|at| program.role(*at) == OpRole::For);
        w.inside_loops(cost, loops.count())
    };
    let moves = plan.transfers.iter().map(|m| weigh(m.op, m.figures.cost));
    let products = plan.products.iter().map(|p| {
        let each = u32::from(p.product.cycles)
            .saturating_mul(w.matrix_cycle)
            .saturating_add(w.instruction);
        let held = p
            .product
            .in_registers()
            .fold(0u32, |sum, f| sum.saturating_add(u32::from(f.registers())));
        weigh(p.op, p.product.count().saturating_mul(each))
            .saturating_add(held.saturating_mul(w.register))
    });
    let exchanges = plan.exchanges.iter().map(|e| weigh(e.op, e.cost(w)));
    let lanes = plan.lanes.iter().map(|l| weigh(l.op, l.cost));
    moves.chain(products).chain(exchanges).chain(lanes).fold(0, u32::saturating_add)
}

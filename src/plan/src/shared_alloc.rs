//! Place: where each shared tile starts.
//!
//! Tiles whose lives do not meet may share bytes; a tile that is touched inside a loop lives
//! through the loop. Each start is aligned to the tile's swizzle period, so that the pattern
//! follows the segment's own addresses.

use crate::data::{End, Plan, PlanError, ProductPlan, TiledPlan, TransferPlan};
use lanebook_ir::{Op, Program, Value};
use lanebook_tables::{OpRole, Tables};
use lanebook_tile::unit::tensor;

/// How long tiles live.
#[derive(Copy, Clone)]
struct Lives {
    /// Turns of loops are looked at.
    in_turns: bool,
    /// A tile lives until the product that loads it by itself, as far as it could.
    moved: bool,
}

/// Sets every allocation's offset, and the segment's size and alignment.
///
/// Tiles that a loop touches live through the loop. Where that takes more bytes than there are, a
/// tile that every turn fills anew before it reads it lives from then to its last use alone: others
/// may have its bytes in the rest of the turn, at the price of barriers between.
///
/// # Errors
/// [`PlanError::SharedMemory`] when the architecture has less; the plan's offsets are then
/// unspecified.
pub fn place(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    plan: &mut Plan<'_>,
) -> Result<(), PlanError> {
    place_for(tables, program, plan, false)
}

/// The same for loads that products may carry out by themselves: what such a load reads is nobody
/// else's until then. Whether anything has another place.
///
/// # Errors
/// As of [`place`]. Everything is then where it was.
#[inline(never)]
#[doc(hidden)]
pub fn place_moved(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    plan: &mut Plan<'_>,
) -> Result<bool, PlanError> {
    let places = |plan: &Plan<'_>| {
        plan.allocs.iter().fold(0u64, |sum, a| {
            sum.wrapping_mul(0x0100_0000_01b3).wrapping_add(u64::from(a.offset))
        })
    };
    if plan.exchanges.is_empty() {
        return Ok(false);
    }
    let before = places(plan);
    match place_for(tables, program, plan, true) {
        Ok(()) => Ok(places(plan) != before),
        Err(error) => place(tables, program, plan).and(Err(error)),
    }
}

#[inline(never)]
fn place_for(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    plan: &mut Plan<'_>,
    moved: bool,
) -> Result<(), PlanError> {
    match place_all(tables, program, plan, Lives { in_turns: false, moved }) {
        Err(PlanError::SharedMemory { .. }) => {
            place_all(tables, program, plan, Lives { in_turns: true, moved })
        }
        placed => placed,
    }
}

fn place_all(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    plan: &mut Plan<'_>,
    how: Lives,
) -> Result<(), PlanError> {
    let arch = tables.arch(plan.arch).ok_or(PlanError::UnknownArch)?;
    // Beyond what 32 bits count.
    let full = |value: Value| match program.def_op(value) {
        Some(op) => PlanError::SharedMemory { op, need: u32::MAX, have: arch.shared.max_bytes },
        None => PlanError::Stale,
    };
    for number in 0..plan.allocs.len() {
        let life = life(program, plan, number, how);
        if let Some(alloc) = plan.allocs.get_mut(number) {
            alloc.life = life;
        }
    }
    let (mut end, mut last) = (0u32, None);
    let mut align = tables.weights.shared_align;
    for k in 0..plan.allocs.len() {
        let Some(own) = plan.allocs.get(k) else { continue };
        let (value, own_align, bytes, life) = (own.value, own.align, own.bytes, own.life);
        let mut at = 0u32;
        // First fit: behind every earlier tile that is alive at the same time and in the way, until
        // none is.
        loop {
            at = at.checked_next_multiple_of(own_align.max(1)).ok_or_else(|| full(value))?;
            let top = at.saturating_add(bytes);
            let clash = plan.allocs.iter().take(k).find(|other| {
                let meet = other.life.0 <= life.1 && life.0 <= other.life.1;
                meet && other.offset < top && at < other.offset.saturating_add(other.bytes)
            });
            match clash {
                Some(other) => at = other.offset.saturating_add(other.bytes),
                None => break,
            }
        }
        let top = at.saturating_add(bytes);
        if top > end {
            (end, last) = (top, program.def_op(value));
        }
        align = align.max(own_align);
        if let Some(slot) = plan.allocs.get_mut(k) {
            slot.offset = at;
        }
    }
    if end > arch.shared.max_bytes
        && let Some(op) = last
    {
        return Err(PlanError::SharedMemory { op, need: end, have: arch.shared.max_bytes });
    }
    (plan.shared_bytes, plan.shared_align) = (end, align);
    place_behind(tables, program, plan)
}

/// Places what a kernel has in shared memory behind its tiles: mbarriers, and what tensor
/// memory needs.
///
/// # Errors
/// [`PlanError::SharedMemory`], [`PlanError::TensorMemory`], [`PlanError::Capacity`].
#[inline(never)]
#[doc(hidden)]
pub fn place_behind(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    plan: &mut Plan<'_>,
) -> Result<(), PlanError> {
    let (mut end, mut align) = (plan.shared_bytes, plan.shared_align);
    let arch = tables.arch(plan.arch).ok_or(PlanError::UnknownArch)?;
    let full = |value: Value| {
        program.def_op(value).map_or(PlanError::Stale, |op| PlanError::SharedMemory {
            op,
            need: u32::MAX,
            have: arch.shared.max_bytes,
        })
    };
    complete(tables, program, plan)?;
    if plan.mbarriers > 0 {
        let bytes = tables
            .units
            .mbarriers
            .iter()
            .find(|c| arch.features.contains(&c.feature))
            .map(|c| u32::from(c.bytes).max(1));
        let bytes = bytes.ok_or(PlanError::Stale)?;
        let behind = plan.allocs.last().map(|tile| tile.value);
        plan.mbarrier_offset = end
            .checked_next_multiple_of(bytes)
            .ok_or_else(|| behind.map_or(PlanError::Stale, full))?;
        end = plan.mbarrier_offset.saturating_add(bytes.saturating_mul(u32::from(plan.mbarriers)));
        align = align.max(bytes);
        if end > arch.shared.max_bytes
            && let Some(op) = plan.allocs.last().and_then(|a| program.def_op(a.value))
        {
            return Err(PlanError::SharedMemory { op, need: end, have: arch.shared.max_bytes });
        }
    }
    plan.shared_bytes = end;
    plan.shared_align = align;
    place_accumulators(tables, plan)
}

/// Gives each accumulator in tensor memory its first column, and what such a kernel needs in shared
/// memory its place behind the tiles.
#[inline(never)]
fn place_accumulators(tables: &Tables<'_>, plan: &mut Plan<'_>) -> Result<(), PlanError> {
    let mut columns = 0u32;
    let mut last = None;
    for number in 0..plan.products.len() {
        let before = plan.products.get(..number).unwrap_or_default();
        let sums = |product: &ProductPlan| {
            (product.tensor.map(|place| place.value), product.product.tensor)
        };
        let own = plan.products.get(number).map(sums);
        // Products in place that add to one fragment, which each of them fetches before the next
        // begins, have the same columns.
        let same = before.iter().find(|product| Some(sums(product)) == own);
        let same = same.filter(|product| product.product.tensor_a.is_none());
        let same = same.and_then(|product| product.tensor).map(|place| place.first);
        let Some(product) = plan.products.get_mut(number) else { continue };
        let (Some(loads), Some(place)) = (product.product.tensor, product.tensor.as_mut()) else {
            continue;
        };
        if let Some(first) = same {
            place.first = first;
            last = Some(product.op);
            continue;
        }
        place.first = u16::try_from(columns).unwrap_or(u16::MAX);
        columns = columns.saturating_add(u32::from(loads.columns.get()));
        place.first_a = u16::try_from(columns).unwrap_or(u16::MAX);
        columns = columns
            .saturating_add(product.product.tensor_a.map_or(0, |a| u32::from(a.columns.get())));
        let accumulators = columns;
        for copy in product.copied.iter_mut().flatten() {
            copy.first = u16::try_from(columns).unwrap_or(u16::MAX);
            columns = columns.saturating_add(u32::from(copy.columns()));
        }
        last = Some(product.op);
        let arch = tables.arch(plan.arch).ok_or(PlanError::UnknownArch)?;
        let memory = tensor::memory(tables, arch).map_err(|_| PlanError::Stale)?;
        let have = u32::from(memory.allocation.1);
        let exceeded = PlanError::TensorMemory {
            op: product.op,
            need: columns,
            scales: columns.saturating_sub(accumulators),
            have,
        };
        let whole = tensor::allocation(memory, columns).map_err(|_| exceeded)?;
        plan.tensor_columns = u16::try_from(whole).map_err(|_| exceeded)?;
    }
    let Some(op) = last else { return Ok(()) };
    let arch = tables.arch(plan.arch).ok_or(PlanError::UnknownArch)?;
    let memory = tensor::memory(tables, arch).map_err(|_| PlanError::Stale)?;
    let have = arch.shared.max_bytes;
    let slot = plan
        .shared_bytes
        .checked_next_multiple_of(tables.weights.shared_align)
        .ok_or(PlanError::SharedMemory { op, need: u32::MAX, have })?;
    let need = slot.saturating_add(u32::from(memory.shared_bytes));
    if need > have {
        return Err(PlanError::SharedMemory { op, need, have });
    }
    (plan.tensor_slot, plan.shared_bytes) = (slot, need);
    Ok(())
}

/// Most mbarriers of a group.
pub const MAX_MBARRIERS: u8 = 16;

/// Numbers the mbarriers of copies that need one, and counts that of products. Copies that
/// follow each other into different bytes share theirs: nothing can have to stand between them that
/// waits for one of them.
#[inline(never)]
fn complete(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    plan: &mut Plan<'_>,
) -> Result<(), PlanError> {
    // Those of an attempt before, whose tiles did not fit, are none.
    for tiled in plan.transfers.iter_mut().filter_map(|m| m.tiled.as_mut()) {
        tiled.completion = None;
    }
    let mut next = 0u8;
    for k in 0..plan.transfers.len() {
        let Some(m) = plan.transfers.get(k).copied() else { continue };
        let Some(tiled) = m.tiled else { continue };
        if tables
            .units
            .tiled_moves
            .get(usize::from(tiled.form))
            .is_none_or(|form| form.signal.is_none())
        {
            continue;
        }
        // A loop's copies that run ahead are one phase of an object together, the next turn's of the
        // next object.
        let ahead = plan.staged(&m).filter(|_| plan.runs_ahead(m.op)).map(|tile| tile.stages);
        let own = match ahead {
            Some(_) => program.parent(m.op).and_then(|around| plan.ring(program, around)),
            None => follows(tables, program, plan, k).map(|number| (number, 1)),
        };
        // Behind them, as many at which those arrive that have read what others have copied.
        let around = program.parent(m.op).filter(|_| ahead.is_some());
        let twice = around.is_some_and(|around| program.is_warp_specialized(around));
        let more = ahead.map_or(1, |stages| stages.saturating_mul(1 + u8::from(twice)));
        let number = match own {
            Some((number, _)) => number,
            None if next.saturating_add(more) > MAX_MBARRIERS => {
                return Err(PlanError::Capacity {
                    pool: crate::data::PlanPool::Mbarriers,
                    capacity: u32::from(MAX_MBARRIERS),
                    op: plan.transfers.get(k).map(|m| m.op),
                });
            }
            None => {
                next = next.saturating_add(more);
                next.saturating_sub(more)
            }
        };
        if let Some(m) = plan.transfers.get_mut(k) {
            m.tiled = Some(TiledPlan { completion: Some(number), ..tiled });
        }
    }
    // Products with accumulators in tensor memory arrive at one object.
    let arrives = plan.products.iter().find(|p| p.tensor.is_some()).map(|p| p.op);
    if arrives.is_some() && next >= MAX_MBARRIERS {
        return Err(PlanError::Capacity {
            pool: crate::data::PlanPool::Mbarriers,
            capacity: u32::from(MAX_MBARRIERS),
            op: arrives,
        });
    }
    plan.mbarriers = next.saturating_add(u8::from(arrives.is_some()));
    Ok(())
}

/// The object of the copies right before the movement `k`, if it can join them: all of them
/// together count as many bytes as a phase can, and go to bytes that no two of them have in common.
fn follows(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    plan: &Plan<'_>,
    k: usize,
) -> Option<u8> {
    let own = plan.transfers.get(k)?;
    let place = |m: &TransferPlan| match m.to {
        End::Shared(a) => plan.allocs.get(usize::from(a)),
        _ => None,
    };
    let to = place(own)?;
    let most = tables.units.mbarriers.iter().map(|c| c.most_bytes).min()?;
    let mut total = u32::try_from(to.shape.bytes()).ok()?;
    let (mut at, mut number) = (own.op, None);
    for m in plan.transfers.iter().take(k).rev() {
        if program.next(m.op) != Some(at) {
            break;
        }
        let Some(completion) = m
            .tiled
            .and_then(|t| t.completion)
            .filter(|n| number.is_none_or(|number| number == *n) && !plan.runs_ahead(m.op))
        else {
            break;
        };
        let other = place(m)?;
        total = total.saturating_add(u32::try_from(other.shape.bytes()).ok()?);
        let apart = other.offset.saturating_add(other.bytes) <= to.offset
            || to.offset.saturating_add(to.bytes) <= other.offset;
        if !apart || total > most {
            return None;
        }
        (at, number) = (m.op, Some(completion));
    }
    number
}

/// Between which positions in program order a tile's bytes are its own.
fn life(program: &Program<'_, '_>, plan: &Plan<'_>, number: usize, how: Lives) -> (usize, usize) {
    if let Some(exchange) = plan.exchanges.iter().find(|e| usize::from(e.alloc) == number) {
        // Only while the exchange is going on.
        return match how.in_turns {
            true => within(program, exchange.op),
            false => span(program, exchange.op),
        };
    }
    let Some(value) = plan.allocs.get(number).map(|a| a.value) else { return (0, usize::MAX) };
    // What uses it, and the products that read it by themselves.
    let direct = || program.uses(value).filter_map(|place| program.user(place));
    let users =
        || direct().chain(direct().filter_map(|op| taker(program, op)).filter(|_| how.moved));
    let given = |p: &crate::data::ProductPlan| {
        let copied = p.copied.into_iter().flatten().map(|copy| copy.given);
        p.shared.into_iter().flatten().chain(copied).any(|given| usize::from(given.alloc) == number)
    };
    let readers = || plan.products.iter().filter(|p| given(p)).map(|p| p.op);
    // What is copied turns ahead goes from one turn to the next.
    let is_staged = plan.allocs.get(number).is_some_and(|tile| tile.stages > 1);
    // Other warps may copy into it whenever nobody reads it.
    let apart = |user: Op| {
        let around = program.parent(user).filter(|_| plan.runs_ahead(user));
        around.is_some_and(|around| program.is_warp_specialized(around))
    };
    if is_staged && direct().any(apart) {
        return (0, usize::MAX);
    }
    if how.in_turns
        && !is_staged
        && let Some(life) = in_turn(program, plan, number, users().chain(readers()))
    {
        return life;
    }
    users().chain(readers()).fold((usize::MAX, 0usize), |life, user| {
        let (first, last) = span(program, user);
        (life.0.min(first), life.1.max(last))
    })
}

/// The product that could carry out a load by itself: it alone reads the tile, in the load's block.
fn taker(program: &Program<'_, '_>, load: Op) -> Option<Op> {
    let mut at = load;
    while matches!(program.role(at), OpRole::Load | OpRole::Transpose | OpRole::Convert) {
        let mut users =
            program.uses(program.result(at, 0)?).filter_map(|place| program.user(place));
        at = users.next().filter(|user| program.block_of(*user) == program.block_of(load))?;
    }
    (program.role(at) == OpRole::Matrix).then_some(at)
}

/// The life of a tile of which nothing goes from one turn of its loop to the next: what touches it
/// first writes all of it, in the block that everything else is in too.
fn in_turn(
    program: &Program<'_, '_>,
    plan: &Plan<'_>,
    number: usize,
    users: impl Iterator<Item = Op> + Clone,
) -> Option<(usize, usize)> {
    let (first, begin) =
        users.clone().map(|user| (user, within(program, user).0)).min_by_key(|(_, at)| *at)?;
    let fills = plan
        .move_of(first)
        .is_some_and(|m| matches!(m.to, End::Shared(to) if usize::from(to) == number));
    let block = program.block_of(first);
    let mut life = (begin, begin);
    for user in users {
        let mut at = user;
        while program.block_of(at) != block {
            at = program.parent(at)?;
        }
        life.1 = life.1.max(within(program, at).1);
    }
    fills.then_some(life)
}

/// The operations during which something used at `op` is alive: the outermost loop around it, or
/// the operation itself, as positions in program order.
fn span(program: &Program<'_, '_>, op: Op) -> (usize, usize) {
    let mut outer = op;
    let mut at = program.parent(op);
    while let Some(parent) = at {
        if program.role(parent) == OpRole::For {
            outer = parent;
        }
        at = program.parent(parent);
    }
    within(program, outer)
}

/// Positions of an operation and of the last one inside it.
fn within(program: &Program<'_, '_>, op: Op) -> (usize, usize) {
    let position = |wanted: Op| program.all().position(|o| o == wanted).unwrap_or(0);
    let first = position(op);
    let last = program.inside(op).map(position).max().unwrap_or(first);
    (first, last.max(first))
}

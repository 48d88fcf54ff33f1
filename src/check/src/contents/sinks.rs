//! Where goals begin: at steps that store registers.

use crate::contents::goal::{Goal, What};
use crate::contents::rules::{piece, touched};
use crate::contents::storage::ContentsScratch;
use crate::contents::through::BitRange;
use crate::contents::{ContentsContext, ContentsSummary, class, count};
use crate::evaluator::{place_bits, power, spot, weigh};
use crate::lanes::shape;
use crate::memory::movement::coordinates;
use crate::violation::Violation;
use lanebook_emit::step::{Inst, InstKind};
use lanebook_ir::Value;
use lanebook_layout::AxisId;
use lanebook_plan::{End, SharedExchange, TransferPlan};
use lanebook_tables::{OpRole, Side, Space};
use lanebook_tile::map::Fragment;

/// Goals of all steps that store registers.
#[inline(never)]
pub(super) fn goals(
    look: &ContentsContext<'_>,
    scratch: &mut ContentsScratch<'_>,
    out: &mut ContentsSummary,
) -> Result<(), Violation> {
    scratch.begin();
    for (at, step) in (0u16..).zip(look.steps) {
        if look.stored_cells(step).is_some() {
            cells(look, scratch, at, out)?;
            continue;
        }
        if let Some(op) = look.uniform_of(step) {
            crate::contents::index::taken_alone(look, scratch, at, op)?;
            continue;
        }
        let Some(movement) = look
            .atom(step)
            .and_then(|atom| atom.movement)
            .filter(|_| step.purpose == InstKind::Move)
        else {
            continue;
        };
        if let Some(m) = look.movement_of(step).filter(|m| look.program.mask(m.op).is_some()) {
            crate::contents::guards::masked(look, scratch, at, &m, out)?;
        }
        if let Some(m) = look.movement_of(step).filter(|m| look.program.index_tile(m.op).is_some())
        {
            crate::contents::index::taken(look, scratch, at, &m, out)?;
        }
        if movement.from.space != Space::Register
            || !matches!(movement.to.space, Space::Shared | Space::Global)
        {
            continue;
        }
        let Some(m) = look.movement_of(step) else {
            // Elements of loops have no plan: what they hold is not followed.
            out.unfollowed = out.unfollowed.saturating_add(1);
            continue;
        };
        let Some(instance) = scratch.instance(at) else {
            out.unfollowed = out.unfollowed.saturating_add(1);
            continue;
        };
        if look.program.atomic_op(m.op).is_some() {
            once(look, scratch, at, &m)?;
            compared(look, scratch, at, &m, instance)?;
        }
        if m.transpose.is_some() {
            turned(look, scratch, at, &m, instance)?;
            continue;
        }
        store(look, scratch, at, &m, instance)?;
    }
    Ok(())
}

/// An instance of an atomic operation has one step, and each instance one: what is combined twice
/// is not what the program says, nor what is left out.
#[inline(never)]
fn once(
    look: &ContentsContext<'_>,
    scratch: &ContentsScratch<'_>,
    at: u16,
    m: &TransferPlan,
) -> Result<(), Violation> {
    let own = |step: &Inst| {
        step.purpose == InstKind::Move
            && usize::from(step.origin) == m.op.index()
            && look.movement_of(step).is_some()
    };
    let all = || (0u16..).zip(look.steps).filter(|(_, step)| own(step)).map(|(number, _)| number);
    let again = all().any(|other| other != at && scratch.instance(other) == scratch.instance(at));
    let many = u32::try_from(all().count()).unwrap_or(u32::MAX);
    if again || many != m.tiling.count() { Err(Violation::Missing(m.op)) } else { Ok(()) }
}

/// What an instance of an atomic operation that compares must find in the registers with which it
/// does.
#[inline(never)]
fn compared(
    look: &ContentsContext<'_>,
    scratch: &mut ContentsScratch<'_>,
    at: u16,
    m: &TransferPlan,
    instance: u32,
) -> Result<(), Violation> {
    let missing = Violation::Missing(m.op);
    let step = look.steps.get(usize::from(at)).ok_or(missing)?;
    let movement = look.atom(step).and_then(|atom| atom.movement).ok_or(missing)?;
    let Some(operand) = movement.atomic.and_then(|atomic| atomic.compare) else { return Ok(()) };
    let value = look.program.compared_tile(m.op).ok_or(missing)?;
    let slot = step.arg(usize::from(operand));
    let bits = class(slot).and_then(|class| look.class_bits(class)).ok_or(missing)?;
    let halves = u16::try_from(bits.div_ceil(32)).map_err(|_| missing)?;
    // They stand behind what is moved if that is in the same registers.
    let first = if operand == movement.from.operand { count(slot) / 2 } else { 0 };
    let share = coordinates(movement)
        .and_then(|(many, unit)| u32::try_from(many).ok()?.checked_mul(unit)?.checked_mul(8))
        .and_then(|bits| bits.checked_shr(u32::from(look.plan.wave)))
        .ok_or(missing)?;
    let mut piece = 0u32;
    for member in first..count(slot) {
        let content = scratch.read(look, at, operand, member).ok_or(missing)?;
        for half in 0..halves {
            let place = weigh(&m.tiling.tuple, piece)
                .and_then(|n| n.checked_add(m.tiling.register(instance))?.checked_mul(32))
                .ok_or(missing)?;
            let bits = BitRange { content, bit: half.saturating_mul(32), width: 32 };
            scratch.want(Goal { bits, what: What::Tile(value), at: place, sink: at })?;
            piece = piece.saturating_add(1);
        }
    }
    if piece.checked_mul(32) == Some(share) { Ok(()) } else { Err(missing) }
}

/// What a store to tensor memory must find in its registers: what a product's sums begin with, or
/// its A.
fn cells(
    look: &ContentsContext<'_>,
    scratch: &mut ContentsScratch<'_>,
    at: u16,
    out: &mut ContentsSummary,
) -> Result<(), Violation> {
    let Some((p, operand)) =
        look.steps.get(usize::from(at)).and_then(|step| look.stored_cells(step))
    else {
        return Ok(());
    };
    let missing = Violation::Missing(p.op);
    let step = look.steps.get(usize::from(at)).ok_or(missing)?;
    // The fragments of parallel loops are written element by element: they are no tiles with one
    // writer.
    let instance = scratch.instance(at).filter(|_| look.of_loops.is_none());
    let Some(instance) = instance else {
        out.unfollowed = out.unfollowed.saturating_add(1);
        return Ok(());
    };
    let (part, number) = crate::contents::unit::part_of(instance);
    let place = p.tensor.ok_or(missing)?;
    let (loads, value) = match part {
        0 => (p.product.tensor, crate::matrix::tensor_memory::start(look.program, p.op, &place)),
        _ => (p.product.tensor_a, look.program.operand(p.op, 0)),
    };
    let (loads, value) = loads.zip(value).ok_or(missing)?;
    let first = number.checked_shl(u32::from(loads.registers)).ok_or(missing)?;
    for member in 0..count(step.arg(usize::from(operand))) {
        let content = scratch.read(look, at, operand, member).ok_or(missing)?;
        let bit = first.saturating_add(u32::from(member)).saturating_mul(32);
        scratch.want(Goal {
            bits: BitRange { content, bit: 0, width: 32 },
            what: What::Tile(value),
            at: bit,
            sink: at,
        })?;
    }
    Ok(())
}

/// What an instance of a store must find in its registers.
fn store(
    look: &ContentsContext<'_>,
    scratch: &mut ContentsScratch<'_>,
    at: u16,
    m: &TransferPlan,
    instance: u32,
) -> Result<(), Violation> {
    let missing = Violation::Missing(m.op);
    let step = look.steps.get(usize::from(at)).ok_or(missing)?;
    let movement = look.atom(step).and_then(|atom| atom.movement).ok_or(missing)?;
    let side: &Side<'_> = &movement.from;
    // Of elements in lower and in upper halves each has its own instruction.
    if m.tiling.upper.is_some() && m.tiling.atom_of(instance, m.atom) != step.atom {
        return Err(missing);
    }
    let slot = step.arg(usize::from(side.operand));
    for member in 0..count(slot) {
        let content = scratch.read(look, at, side.operand, member).ok_or(missing)?;
        let halves =
            class(slot).and_then(|c| look.class_bits(c)).map_or(1, |bits| bits.div_ceil(32));
        for half in 0..u16::try_from(halves).unwrap_or(1) {
            let Some((piece, _)) = piece(look, slot, member, half.saturating_mul(32)) else {
                continue;
            };
            // As much of the register as the instruction takes.
            let share = coordinates(movement).and_then(|(many, unit)| {
                u32::try_from(many).ok()?.checked_mul(unit)?.checked_mul(8)
            });
            let share =
                share.and_then(|bits| bits.checked_shr(u32::from(look.plan.wave))).unwrap_or(0);
            // What serves upper halves alone takes those of the tile's register.
            let base = spot(side, 0, AxisId::LANE, AxisId::BIT).map_or(0, |(_, bit)| bit % 32);
            let from = u16::try_from(base).map_err(|_| missing)?;
            let takes = |width: u16| {
                touched(coordinates(movement), side, (piece, from, width)) == Some(true)
            };
            let whole = piece.saturating_add(1).saturating_mul(32) <= share;
            let Some(width) =
                whole.then_some(32u16).or_else(|| [16u16, 8].into_iter().find(|w| takes(*w)))
            else {
                continue;
            };
            let bit = half.saturating_mul(32).saturating_add(from);
            let bits = BitRange { content, bit, width };
            let place = |n: u32| {
                weigh(&m.tiling.tuple, n)
                    .map(|n| n.saturating_add(m.tiling.register(instance)).saturating_mul(32))
                    .map(|first| first.saturating_add(base))
            };
            let (what, first) = match (look.plan.exchanges.iter().find(|e| e.op == m.op), m.from) {
                (Some(exchange), _) => {
                    exchanged(look, exchange, place(piece).ok_or(missing)?).ok_or(missing)?
                }
                (None, End::Registers(f)) => {
                    let value = look.plan.fragments.get(usize::from(f)).ok_or(missing)?.value;
                    (What::Tile(value), place(piece).ok_or(missing)?)
                }
                _ => (
                    What::Staged(m.op, u16::try_from(instance).unwrap_or(u16::MAX)),
                    piece.saturating_mul(32),
                ),
            };
            scratch.want(Goal { bits, what, at: first, sink: at })?;
        }
    }
    Ok(())
}

/// What an instance of a copy that transposes blocks must find: column c of the block, each row's
/// element from another instance of the first atom.
fn turned(
    look: &ContentsContext<'_>,
    scratch: &mut ContentsScratch<'_>,
    at: u16,
    m: &TransferPlan,
    instance: u32,
) -> Result<(), Violation> {
    let missing = Violation::Missing(m.op);
    let step = look.steps.get(usize::from(at)).ok_or(missing)?;
    let side = look
        .atom(step)
        .and_then(|atom| atom.movement)
        .map(|movement| &movement.from)
        .ok_or(missing)?;
    let transpose = m.transpose.ok_or(missing)?;
    let element = 32u32.checked_shr(u32::from(transpose.packing)).ok_or(missing)?;
    let (block, column) = (
        instance.checked_shr(u32::from(transpose.along)).ok_or(missing)?,
        instance & power(usize::from(transpose.along)).ok_or(missing)?.wrapping_sub(1),
    );
    let slot = step.arg(usize::from(side.operand));
    for row in 0..power(usize::from(transpose.across)).ok_or(missing)? {
        let bit = row.saturating_mul(element);
        let member = u8::try_from(bit / 32).map_err(|_| missing)?;
        if member >= count(slot) {
            return Err(missing);
        }
        let content = scratch.read(look, at, side.operand, member).ok_or(missing)?;
        let bits = BitRange {
            content,
            bit: u16::try_from(bit % 32).unwrap_or(0),
            width: u16::try_from(element).unwrap_or(32),
        };
        let first = block
            .checked_shl(u32::from(transpose.across))
            .and_then(|n| n.checked_add(row))
            .and_then(|n| u16::try_from(n).ok())
            .ok_or(missing)?;
        scratch.want(Goal {
            bits,
            what: What::Staged(m.op, first),
            at: column.saturating_mul(element),
            sink: at,
        })?;
    }
    Ok(())
}

/// What an exchange stores at a place of its first distribution.
fn exchanged(
    look: &ContentsContext<'_>,
    exchange: &SharedExchange,
    at: u32,
) -> Option<(What, u32)> {
    let op = exchange.op;
    let from: &Fragment = &exchange.from;
    let (place, inside) = (at.checked_div(place_bits(from))?, at.checked_rem(place_bits(from))?);
    if look.program.role(op) == OpRole::Reduce {
        let lanes = shape::combined_lanes(look.tables, look.program, look.plan, op).ok()?;
        let each = look.place_of(look.program.result(op, 0)?)?;
        return Some((What::Lanes(op, lanes), place.checked_mul(each)?.checked_add(inside)?));
    }
    if look.plan.lanes.iter().any(|l| l.op == op && l.ahead) {
        return Some((What::Packed(op), at));
    }
    let value: Value = look.program.operand(op, 0)?;
    let each = look.place_of(value)?;
    Some((What::Tile(value), place.checked_mul(each)?.checked_add(inside)?))
}

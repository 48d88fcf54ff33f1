//! Accumulators in tensor memory: where the unit adds them up, against what each lane loads.

use super::tile::{power, row_col};
use super::violation::Violation;
use crate::ir::{Def, Op, Program, Value};
use crate::map::Fragment;
use crate::plan::{InTensor, Plan, Product, ProductPlan, TensorLoads};
use crate::unit::descriptor::Word;
use crate::unit::{descriptor_named, tensor};
use lanebook_layout::AxisId;
use lanebook_tables::{Amount, Arch, Atom, FieldRole, Major, OpRole, OrderLimit, Tables, TensorMemory, TensorMove, TensorTile, TileIter, TileLayout};

/// The tile's row and column of an element of block `block`.
pub(super) fn element(product: &Product, block: u32, (row, col): (u64, u64)) -> Option<(u32, u32)> {
    let ((rm, rn, _), (_, pn, _)) = (product.repeats, product.panels);
    let inside = power(usize::from(rm.checked_add(rn)?))?;
    let (panel, rest) = (block.checked_div(inside)?, block.checked_rem(inside)?);
    let (m, n) = (rest.checked_div(power(usize::from(rn))?)?, rest.checked_rem(power(usize::from(rn))?)?);
    let (up, across) = (panel.checked_div(u32::from(pn))?, panel.checked_rem(u32::from(pn))?);
    let along = |panels: u32, repeats: u8, number: u32, step: u16, rest: u64| -> Option<u32> {
        let number = panels.checked_mul(power(usize::from(repeats))?)?.checked_add(number)?;
        number.checked_mul(u32::from(step))?.checked_add(u32::try_from(rest).ok()?)
    };
    Some((along(up, rm, m, product.shape.m, row)?, along(across, rn, n, product.shape.n, col)?))
}

/// The block of a tile's element, and its row and column in it.
fn block_of(product: &Product, (row, col): (u32, u32)) -> Option<(u32, u32, u32)> {
    let ((rm, rn, _), (_, pn, _)) = (product.repeats, product.panels);
    let (sm, sn) = (u32::from(product.shape.m), u32::from(product.shape.n));
    let (m, n) = (row.checked_div(sm)?, col.checked_div(sn)?);
    let split = |number: u32, bits: u8| Some((number.checked_div(power(usize::from(bits))?)?, number.checked_rem(power(usize::from(bits))?)?));
    let ((up, m), (across, n)) = (split(m, rm)?, split(n, rn)?);
    let panel = up.checked_mul(u32::from(pn))?.checked_add(across)?;
    let number = panel.checked_mul(power(usize::from(rm))?)?.checked_add(m)?.checked_mul(power(usize::from(rn))?)?.checked_add(n)?;
    Some((number, row.checked_rem(sm)?, col.checked_rem(sn)?))
}

/// What the value `x` of a coordinate adds on an axis; iters slowest first, the parameters all `count`.
fn walk<'i>(iters: impl DoubleEndedIterator<Item = &'i TileIter>, count: u32, axis: AxisId, x: u32) -> Option<u32> {
    let amount = |a: Amount| if a.param == 0 { Some(a.factor) } else { a.factor.checked_mul(count) };
    let (mut rest, mut out) = (x, 0u32);
    for it in iters.rev() {
        let extent = amount(it.extent)?;
        if it.axis == axis {
            out = out.checked_add(rest.checked_rem(extent)?.checked_mul(amount(it.stride)?)?)?;
        }
        rest = rest.checked_div(extent)?;
    }
    (rest == 0).then_some(out)
}

/// The number of coordinates of a layout.
fn size(layout: &TileLayout<'_>, count: u32) -> Option<u32> {
    layout.iters.iter().try_fold(1u32, |n, it| n.checked_mul(if it.extent.param == 0 { it.extent.factor } else { it.extent.factor.checked_mul(count)? }))
}

/// Statement 9c of the module's page; the number of cells that were followed.
#[inline(never)]
pub(super) fn accumulator(tables: &Tables<'_>, program: &Program<'_, '_>, plan: &Plan<'_>, p: &ProductPlan) -> Result<u64, Violation> {
    let refuse = Violation::Atom { op: p.op, atom: p.product.atom };
    let atom = tables.atom(p.product.atom).ok_or(refuse)?;
    let (loads, place) = match (atom.tensor(), p.product.tensor, p.tensor) {
        (None, None, None) => return Ok(0),
        (Some(_), Some(loads), Some(place)) => (loads, place),
        _ => return Err(refuse),
    };
    let arch = tables.arch(plan.arch).ok_or(Violation::UnknownArch)?;
    let memory = tensor::memory(tables, arch).map_err(|_| refuse)?;
    let own = atom.tensor().ok_or(refuse)?;
    let tile = tensor::tile_named(tables, arch, own.tile).map_err(|_| refuse)?;
    let form = tables.units.tensor_moves.get(usize::from(loads.form)).filter(|f| arch.features.contains(&f.feature)).ok_or(refuse)?;
    room(program, plan, p, (memory, super::alloc::completions_end(tables, arch, plan)), &loads, &place)?;
    instruction(tables, program, arch, atom, p, &place)?;
    let fragment = plan.fragments.iter().find(|f| f.value == place.value).map(|f| &f.fragment).ok_or(Violation::Missing(p.op))?;
    if *fragment != p.product.c || fragment.shape.bits != u16::from(memory.cell_bits) || !form.counts.contains(&loads.count) {
        return Err(refuse);
    }
    cells(plan, p, fragment, (memory, tile, form), &loads, &place)
}

/// The accumulators' columns, and their way through the program.
fn room(
    program: &Program<'_, '_>,
    plan: &Plan<'_>,
    p: &ProductPlan,
    (memory, objects): (&TensorMemory<'_>, u32),
    loads: &TensorLoads,
    place: &InTensor,
) -> Result<(), Violation> {
    let (first, columns, allocated) = (u32::from(place.first), u32::from(loads.columns), u32::from(plan.tensor_columns));
    let wrong = Violation::Accumulator { op: p.op, first, columns, allocated };
    let (rows, cols) = (p.product.c.shape.row_count(), p.product.c.shape.col_count());
    let blocks = rows.checked_div(u64::from(p.product.shape.m)).zip(cols.checked_div(u64::from(p.product.shape.n)));
    let needed = blocks.and_then(|(m, n)| m.checked_mul(n)?.checked_mul(u64::from(p.product.shape.n)));
    let (low, high) = (u32::from(memory.allocation.0), u32::from(memory.allocation.1));
    let allowed = allocated.is_power_of_two() && low <= allocated && allocated <= high && high <= u32::from(memory.columns);
    if needed != Some(u64::from(columns)) || first.saturating_add(columns) > allocated || !allowed {
        return Err(wrong);
    }
    let slot = plan.tensor_slot;
    let behind = plan.allocs.iter().all(|a| a.offset.saturating_add(a.bytes) <= slot) && objects <= slot;
    let inside = slot.saturating_add(u32::from(memory.shared_bytes)) <= plan.shared_bytes;
    if !behind || !inside || slot.checked_rem(u32::from(memory.shared_bytes)) != Some(0) {
        return Err(wrong);
    }
    for other in plan.products.iter().filter(|other| other.op != p.op) {
        if let (Some(theirs), Some(there)) = (other.product.tensor, other.tensor) {
            let (from, to) = (u32::from(there.first), u32::from(there.first).saturating_add(u32::from(theirs.columns)));
            if from < first.saturating_add(columns) && first < to {
                return Err(wrong);
            }
        }
    }
    if stays(program, p.op, place) { Ok(()) } else { Err(wrong) }
}

/// Whether C begins with zeros, nothing but the product reads it, and the value that is loaded is what becomes of it.
fn stays(program: &Program<'_, '_>, op: Op, place: &InTensor) -> bool {
    let zero = |v: Value| program.constant(v).and_then(crate::ir::Literal::to_f64) == Some(0.0);
    let (Some(c), Some(d)) = (program.operand(op, 2), program.result(op, 0)) else { return false };
    let Some(carrier) = place.carrier else { return zero(c) && place.value == d };
    let Def::Argument(block, _) = program.def(c) else { return false };
    let own = |v: Value| program.uses(v).count() == 1;
    let here = program.owner_of(block) == Some(carrier) && program.parent(op) == Some(carrier) && program.role(carrier) == OpRole::For;
    let carried = program.carried(carrier).find(|carried| carried.argument == c);
    here && own(c) && own(d) && carried.is_some_and(|k| zero(k.init) && k.yielded == Some(d) && k.result == Some(place.value))
}

/// The instruction descriptor says this product.
fn instruction(tables: &Tables<'_>, program: &Program<'_, '_>, arch: &Arch<'_>, atom: &Atom<'_>, p: &ProductPlan, place: &InTensor) -> Result<(), Violation> {
    let wrong = |field: u8| Violation::Instruction { op: p.op, field };
    let own = atom.tensor().ok_or(wrong(u8::MAX))?;
    let table = descriptor_named(tables, arch, own.descriptor).map_err(|_| wrong(u8::MAX))?;
    let word = Word::unpack(table, u64::from(place.word)).map_err(|_| wrong(u8::MAX))?;
    let values = [program.operand(p.op, 0), program.operand(p.op, 1), program.result(p.op, 0)];
    let dtype = |of: usize| values.get(of).copied().flatten().and_then(|v| program.type_of(v).dtype).and_then(|d| tables.dtype(d)).map(|d| d.name);
    let outer = |of: usize| p.shared.get(of).copied().flatten().is_some_and(|given| given.outer_major);
    for (number, field) in (0u8..).zip(table.fields) {
        let value = word.get(field.name).map_err(|_| wrong(number))?;
        let named = word.word(field.name).map_err(|_| wrong(number))?;
        let right = match field.role {
            FieldRole::Rows => value == u64::from(p.product.shape.m),
            FieldRole::Columns => value == u64::from(p.product.shape.n),
            FieldRole::Type(of) => named.is_some() && named == dtype(usize::from(of)),
            FieldRole::Major(of) => {
                let order = if outer(usize::from(of)) { Major::Outer } else { Major::Depth };
                // One block alone issues it.
                let n = p.product.shape.n;
                let forbids = |limit: &&OrderLimit<'_>| {
                    arch.features.contains(&limit.feature)
                        && limit.major == order
                        && [limit.operands.0, limit.operands.1].get(usize::from(of)) == Some(&true)
                        && limit.blocks <= 1
                        && limit.descriptors.contains(&own.descriptor)
                        && dtype(usize::from(of)).is_some_and(|name| limit.types.contains(&name))
                        && !limit.n.iter().any(|s| (s.low..=s.high).contains(&n) && n.saturating_sub(s.low).is_multiple_of(s.step))
                };
                named == Some(if order == Major::Outer { "outer" } else { "depth" }) && !tables.units.order_limits.iter().any(|limit| forbids(&limit))
            }
            // Nothing is negated, sparse or saturated.
            _ => value == u64::from(field.range.0),
        };
        if !right {
            return Err(wrong(number));
        }
    }
    Ok(())
}

/// Every register of every lane is loaded from the cell of its element.
fn cells(
    plan: &Plan<'_>,
    p: &ProductPlan,
    fragment: &Fragment,
    (memory, tile, form): (&TensorMemory<'_>, &TensorTile<'_>, &TensorMove<'_>),
    loads: &TensorLoads,
    place: &InTensor,
) -> Result<u64, Violation> {
    let refuse = Violation::Atom { op: p.op, atom: p.product.atom };
    let narrow = |n: u32| u16::try_from(n).unwrap_or(u16::MAX);
    let count = u32::from(loads.count);
    let rows = usize::from(tile.layout.dims.first().copied().unwrap_or(0));
    let (of_rows, of_columns) = tile.layout.iters.split_at_checked(rows).ok_or(refuse)?;
    let cell = |e: u32| -> Option<(u32, u32)> {
        let (block, row, col) = block_of(&p.product, row_col(fragment.shape, e)?)?;
        let n = u32::from(p.product.shape.n);
        let lane = walk(of_rows.iter(), n, AxisId::TLANE, row)?.checked_add(walk(of_columns.iter(), n, AxisId::TLANE, col)?)?;
        let column = walk(of_rows.iter(), n, AxisId::TCOL, row)?.checked_add(walk(of_columns.iter(), n, AxisId::TCOL, col)?)?;
        Some((lane, u32::from(place.first).checked_add(block.checked_mul(n)?)?.checked_add(column)?))
    };
    let each = u32::from(form.registers).checked_mul(count).ok_or(refuse)?;
    let all = u32::from(fragment.registers());
    let (lanes, warps) = (power(usize::from(plan.wave)).ok_or(refuse)?, power(usize::from(plan.warps)).ok_or(refuse)?);
    let coordinates = size(&form.cells, count).filter(|n| Some(*n) == each.checked_mul(lanes)).ok_or(refuse)?;
    if each == 0 || all.checked_rem(each) != Some(0) || Some(each) != power(usize::from(loads.registers)) {
        return Err(refuse);
    }
    let mut followed = 0u64;
    for warp in 0..warps {
        let reached = u32::from(memory.lanes_per_warp);
        let quarter = warp.checked_rem(u32::from(memory.warps)).and_then(|w| w.checked_mul(reached)).ok_or(refuse)?;
        for load in 0..all.checked_div(each).unwrap_or(0) {
            let first = load.checked_mul(each).ok_or(refuse)?;
            let start = cell(fragment.element(first, 0, warp)).ok_or(refuse)?;
            for x in 0..coordinates {
                let (cells, tuple) = (|axis| walk(form.cells.iters.iter(), count, axis, x), |axis| walk(form.tuple.iters.iter(), count, axis, x));
                let (dl, dc) = cells(AxisId::TLANE).zip(cells(AxisId::TCOL)).ok_or(refuse)?;
                let (lane, bit) = tuple(AxisId::LANE).zip(tuple(AxisId::BIT)).ok_or(refuse)?;
                let register = first.checked_add(bit / 32).ok_or(refuse)?;
                let found = (start.0.checked_add(dl).ok_or(refuse)?, start.1.checked_add(dc).ok_or(refuse)?);
                let want = cell(fragment.element(register, lane, warp)).ok_or(refuse)?;
                let byte = |n: u32| u8::try_from(n).unwrap_or(u8::MAX);
                if found.0 < quarter || found.0 >= quarter.saturating_add(reached) {
                    return Err(Violation::Reach { op: p.op, warp: byte(warp), lane: narrow(found.0) });
                }
                if found != want {
                    let (want, found) = ((narrow(want.0), narrow(want.1)), (narrow(found.0), narrow(found.1)));
                    return Err(Violation::Cell { op: p.op, warp: byte(warp), lane: byte(lane), register: narrow(register), want, found });
                }
                followed = followed.saturating_add(1);
            }
        }
    }
    Ok(followed)
}

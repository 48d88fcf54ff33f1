//! Accumulators in tensor memory: where the unit adds them up, against what each lane loads; and A
//! there, against what each lane stores.

use crate::evaluator::{power, row_col};
use crate::reader::{FieldWord, descriptor_named, tensor_memory, tensor_tile};
use crate::violation::Violation;
use lanebook_ir::{Def, Op, Program, Value};
use lanebook_layout::AxisId;
use lanebook_plan::{InTensor, Plan, ProductPlan};
use lanebook_tables::{
    Amount, Arch, Atom, FieldRole, Major, OpRole, OrderLimit, Tables, TensorMemory, TensorMove,
    TensorTile, TileIter, TileLayout,
};
use lanebook_tile::map::Fragment;
use lanebook_tile::product::Product;
use lanebook_tile::product::TensorLoads;

/// A tile in tensor memory, block by block.
pub(crate) struct BlockwiseTile {
    /// Rows and columns of a block.
    step: (u32, u32),
    /// log2 of a panel's blocks along both.
    repeats: (u8, u8),
    /// Panels along a row.
    across: u8,
    /// Neighbours of a row in one cell.
    cell: u32,
}

impl BlockwiseTile {
    /// The accumulator.
    pub(crate) fn sums(product: &Product) -> Self {
        let ((rm, rn, _), (_, pn, _), shape) = (product.repeats, product.panels, product.shape);
        Self { step: (shape.m.into(), shape.n.into()), repeats: (rm, rn), across: pn, cell: 1 }
    }

    /// A, with the bits of a cell.
    pub(crate) fn factors(product: &Product, cell_bits: u32) -> Option<Self> {
        let ((rm, _, rk), (_, _, pk), shape) = (product.repeats, product.panels, product.shape);
        let cell = cell_bits.checked_div(u32::from(product.a.shape.bits)).filter(|n| *n > 0)?;
        Some(Self { step: (shape.m.into(), shape.k.into()), repeats: (rm, rk), across: pk, cell })
    }

    /// The tile's row and column of an element of block `block`.
    pub(crate) fn element(&self, block: u32, (row, col): (u64, u64)) -> Option<(u32, u32)> {
        let (high, low) = self.repeats;
        let inside = power(usize::from(high.checked_add(low)?))?;
        let (panel, rest) = (block.checked_div(inside)?, block.checked_rem(inside)?);
        let (m, n) = (
            rest.checked_div(power(usize::from(low))?)?,
            rest.checked_rem(power(usize::from(low))?)?,
        );
        let (up, across) = (
            panel.checked_div(u32::from(self.across))?,
            panel.checked_rem(u32::from(self.across))?,
        );
        let along = |panels: u32, repeats: u8, number: u32, step: u32, rest: u64| -> Option<u32> {
            let number = panels.checked_mul(power(usize::from(repeats))?)?.checked_add(number)?;
            number.checked_mul(step)?.checked_add(u32::try_from(rest).ok()?)
        };
        Some((along(up, high, m, self.step.0, row)?, along(across, low, n, self.step.1, col)?))
    }

    /// The block of a tile's element, and its row and column in it.
    fn of(&self, (row, col): (u32, u32)) -> Option<(u32, u32, u32)> {
        let (high, low) = self.repeats;
        let (m, n) = (row.checked_div(self.step.0)?, col.checked_div(self.step.1)?);
        let split = |number: u32, bits: u8| {
            Some((
                number.checked_div(power(usize::from(bits))?)?,
                number.checked_rem(power(usize::from(bits))?)?,
            ))
        };
        let ((up, m), (across, n)) = (split(m, high)?, split(n, low)?);
        let panel = up.checked_mul(u32::from(self.across))?.checked_add(across)?;
        let number = panel
            .checked_mul(power(usize::from(high))?)?
            .checked_add(m)?
            .checked_mul(power(usize::from(low))?)?
            .checked_add(n)?;
        Some((number, row.checked_rem(self.step.0)?, col.checked_rem(self.step.1)?))
    }

    /// Columns of a block.
    pub(crate) fn each(&self) -> Option<u32> {
        self.step.1.checked_div(self.cell)
    }

    /// Neighbours of a row in one cell.
    pub(crate) fn in_cell(&self) -> u32 {
        self.cell
    }

    /// Lane and column of the cell of a tile's element, and which of the cell's elements it is; the
    /// tile begins in column `first`.
    pub(crate) fn cell(
        &self,
        tile: &TensorTile<'_>,
        fragment: &Fragment,
        first: u16,
        e: u32,
    ) -> Option<(u32, u32, u32)> {
        let rows = usize::from(tile.layout.dims.first().copied().unwrap_or(0));
        let (of_rows, of_columns) = tile.layout.iters.split_at_checked(rows)?;
        let (block, row, col) = self.of(row_col(fragment.shape, e)?)?;
        let n = self.each()?;
        let (col, part) = (col.checked_div(self.cell)?, col.checked_rem(self.cell)?);
        let lane = walk(of_rows.iter(), n, AxisId::TLANE, row)?.checked_add(walk(
            of_columns.iter(),
            n,
            AxisId::TLANE,
            col,
        )?)?;
        let column = walk(of_rows.iter(), n, AxisId::TCOL, row)?.checked_add(walk(
            of_columns.iter(),
            n,
            AxisId::TCOL,
            col,
        )?)?;
        Some((
            lane,
            u32::from(first).checked_add(block.checked_mul(n)?)?.checked_add(column)?,
            part,
        ))
    }

    /// Columns that the blocks of a tile of so many rows and columns take.
    fn columns(&self, (rows, cols): (u64, u64)) -> Option<u64> {
        let blocks = rows
            .checked_div(self.step.0.into())?
            .checked_mul(cols.checked_div(self.step.1.into())?)?;
        blocks.checked_mul(u64::from(self.step.1).checked_div(self.cell.into())?)
    }
}

/// The columns of a product's accumulators, and of its A: first and how many.
pub(crate) fn held(p: &ProductPlan) -> [Option<(u32, u32)>; 2] {
    let Some(place) = p.tensor else { return [None; 2] };
    let run = |loads: Option<TensorLoads>, first: u16| {
        loads.map(|loads| (u32::from(first), u32::from(loads.columns.get())))
    };
    [run(p.product.tensor, place.first), run(p.product.tensor_a, place.first_a)]
}

/// What the value `x` of a coordinate adds on an axis; iters slowest first, the parameters all
/// `count`.
fn walk<'i>(
    iters: impl DoubleEndedIterator<Item = &'i TileIter>,
    count: u32,
    axis: AxisId,
    x: u32,
) -> Option<u32> {
    let amount =
        |a: Amount| if a.param == 0 { Some(a.factor) } else { a.factor.checked_mul(count) };
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
    layout.iters.iter().try_fold(1u32, |n, it| {
        n.checked_mul(if it.extent.param == 0 {
            it.extent.factor
        } else {
            it.extent.factor.checked_mul(count)?
        })
    })
}

/// Statement 9b of the module's page; the number of cells that were followed.
#[inline(never)]
pub(crate) fn accumulator(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    plan: &Plan<'_>,
    p: &ProductPlan,
) -> Result<u64, Violation> {
    let refuse = Violation::Atom { op: p.op, atom: p.product.atom };
    let atom = tables.atom(p.product.atom).ok_or(refuse)?;
    let (loads, place) = match (atom.tensor(), p.product.tensor, p.tensor) {
        (None, None, None) => return Ok(0),
        (Some(_), Some(loads), Some(place)) => (loads, place),
        _ => return Err(refuse),
    };
    let arch = tables.arch(plan.arch).ok_or(Violation::UnknownArch)?;
    let memory = tensor_memory(tables, arch).ok_or(refuse)?;
    let own = atom.tensor().ok_or(refuse)?;
    let tile = tensor_tile(tables, arch, own.tile).ok_or(refuse)?;
    let form = tables
        .units
        .tensor_moves
        .get(usize::from(loads.form))
        .filter(|f| arch.features.contains(&f.feature))
        .ok_or(refuse)?;
    if own.a.is_some() != p.product.tensor_a.is_some() {
        return Err(refuse);
    }
    room(
        program,
        plan,
        p,
        (memory, crate::memory::alloc::mbarriers_end(tables, arch, plan)),
        &place,
    )?;
    instruction(tables, program, arch, atom, p, &place)?;
    let named = |value: Option<Value>| {
        plan.fragments
            .iter()
            .find(|f| Some(f.value) == value)
            .map(|f| &f.fragment)
            .ok_or(Violation::Missing(p.op))
    };
    let fragment = named(Some(place.value))?;
    if *fragment != p.product.c
        || fragment.shape.bits != u16::from(memory.cell_bits)
        || !form.counts.contains(&loads.count)
    {
        return Err(refuse);
    }
    // Its start is stored from the same places.
    if place.stored && *named(start(program, p.op, &place))? != p.product.c {
        return Err(refuse);
    }
    let followed = cells(
        plan,
        p,
        fragment,
        (memory, tile, form),
        &loads,
        (place.first, BlockwiseTile::sums(&p.product)),
    )?;
    let Some(stores) = p.product.tensor_a else { return Ok(followed) };
    let form = tables
        .units
        .tensor_moves
        .get(usize::from(stores.form))
        .filter(|f| arch.features.contains(&f.feature))
        .ok_or(refuse)?;
    let (a, blocks) = (
        named(program.operand(p.op, 0))?,
        BlockwiseTile::factors(&p.product, memory.cell_bits.into()).ok_or(refuse)?,
    );
    if *a != p.product.a || a.unpacked || !form.counts.contains(&stores.count) {
        return Err(refuse);
    }
    let given = cells(plan, p, a, (memory, tile, form), &stores, (place.first_a, blocks))?;
    Ok(followed.saturating_add(given))
}

/// The value that an accumulator begins with.
pub(crate) fn start(program: &Program<'_, '_>, op: Op, place: &InTensor) -> Option<Value> {
    let c = program.operand(op, 2)?;
    let Some(carrier) = place.carrier else { return Some(c) };
    program.carried(carrier).find(|carried| carried.argument == c).map(|carried| carried.init)
}

/// The accumulators' columns, and their way through the program.
fn room(
    program: &Program<'_, '_>,
    plan: &Plan<'_>,
    p: &ProductPlan,
    (memory, objects): (&TensorMemory<'_>, u32),
    place: &InTensor,
) -> Result<(), Violation> {
    let allocated = u32::from(plan.tensor_columns);
    let (low, high) = (u32::from(memory.allocation.0), u32::from(memory.allocation.1));
    let allowed = allocated.is_power_of_two()
        && low <= allocated
        && allocated <= high
        && high <= u32::from(memory.columns);
    let own = held(p);
    let (first, columns) = own.into_iter().flatten().next().unwrap_or((u32::MAX, 0));
    let wrong = Violation::Accumulator { op: p.op, first, columns, allocated };
    let (a, c) = (p.product.a.shape, p.product.c.shape);
    let extents = [(c.row_count(), c.col_count()), (a.row_count(), a.col_count())];
    let blocks = [
        Some(BlockwiseTile::sums(&p.product)),
        BlockwiseTile::factors(&p.product, memory.cell_bits.into()),
    ];
    for ((run, extents), blocks) in own.into_iter().zip(extents).zip(blocks) {
        let Some((first, columns)) = run else { continue };
        let needed = blocks.and_then(|blocks| blocks.columns(extents));
        if needed != Some(u64::from(columns))
            || first.saturating_add(columns) > allocated
            || !allowed
        {
            return Err(Violation::Accumulator { op: p.op, first, columns, allocated });
        }
    }
    let slot = plan.tensor_slot;
    let behind =
        plan.allocs.iter().all(|a| a.offset.saturating_add(a.bytes) <= slot) && objects <= slot;
    let inside = slot.saturating_add(u32::from(memory.shared_bytes)) <= plan.shared_bytes;
    if !behind || !inside || slot.checked_rem(u32::from(memory.shared_bytes)) != Some(0) {
        return Err(wrong);
    }
    let meet = |(from, many): (u32, u32), (first, columns): (u32, u32)| {
        from < first.saturating_add(columns) && first < from.saturating_add(many)
    };
    for (k, run) in own.into_iter().enumerate() {
        let Some(run) = run else { continue };
        for other in plan.products.iter() {
            for (j, theirs) in held(other).into_iter().enumerate() {
                if theirs.is_some_and(|theirs| (other.op, j) != (p.op, k) && meet(theirs, run)) {
                    return Err(Violation::Accumulator {
                        op: p.op,
                        first: run.0,
                        columns: run.1,
                        allocated,
                    });
                }
            }
        }
    }
    if stays(program, p.op, place) { Ok(()) } else { Err(wrong) }
}

/// Whether C begins with zeros or is stored, nothing but the product reads it while a loop carries
/// it, and the value that is loaded is what becomes of it.
fn stays(program: &Program<'_, '_>, op: Op, place: &InTensor) -> bool {
    let zero = |v: Value| program.constant(v).is_some_and(lanebook_ir::Literal::is_zero);
    let (Some(c), Some(d)) = (program.operand(op, 2), program.result(op, 0)) else { return false };
    let Some(carrier) = place.carrier else { return (place.stored || zero(c)) && place.value == d };
    let Def::Argument(block, _) = program.def(c) else { return false };
    let own = |v: Value| program.uses(v).count() == 1;
    let here = program.owner_of(block) == Some(carrier)
        && program.parent(op) == Some(carrier)
        && program.role(carrier) == OpRole::For;
    let carried = program.carried(carrier).find(|carried| carried.argument == c);
    here && own(c)
        && own(d)
        && carried.is_some_and(|k| {
            (place.stored || zero(k.init)) && k.yielded == Some(d) && k.result == Some(place.value)
        })
}

/// The instruction descriptor says this product.
fn instruction(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    arch: &Arch<'_>,
    atom: &Atom<'_>,
    p: &ProductPlan,
    place: &InTensor,
) -> Result<(), Violation> {
    let wrong = |field: u8| Violation::Instruction { op: p.op, field };
    let own = atom.tensor().ok_or(wrong(u8::MAX))?;
    let table = descriptor_named(tables, arch, own.descriptor).ok_or(wrong(u8::MAX))?;
    let word = FieldWord::unpack(table, u64::from(place.word)).ok_or(wrong(u8::MAX))?;
    let values = [program.operand(p.op, 0), program.operand(p.op, 1), program.result(p.op, 0)];
    let dtype = |of: usize| {
        values
            .get(of)
            .copied()
            .flatten()
            .and_then(|v| program.type_of(v).dtype)
            .and_then(|d| tables.dtype(d))
            .and_then(|d| match d.pair_of {
                Some(single) if p.product.pairs => tables.dtype(single),
                own => own.is_none().then_some(d),
            })
            .map(|d| d.name)
    };
    let outer =
        |of: usize| p.shared.get(of).copied().flatten().is_some_and(|given| given.outer_major);
    for (number, field) in (0u8..).zip(table.fields) {
        let value = word.get(field.name).ok_or(wrong(number))?;
        let named = word.word(field.name);
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
                        && !limit.n.iter().any(|s| {
                            (s.low..=s.high).contains(&n)
                                && n.saturating_sub(s.low).is_multiple_of(s.step)
                        })
                };
                named == Some(if order == Major::Outer { "outer" } else { "depth" })
                    && !tables.units.order_limits.iter().any(|limit| forbids(&limit))
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

/// Every register of every lane is loaded from the cell of its elements, or stored there.
fn cells(
    plan: &Plan<'_>,
    p: &ProductPlan,
    fragment: &Fragment,
    (memory, tile, form): (&TensorMemory<'_>, &TensorTile<'_>, &TensorMove<'_>),
    loads: &TensorLoads,
    (first_column, blocks): (u16, BlockwiseTile),
) -> Result<u64, Violation> {
    let refuse = Violation::Atom { op: p.op, atom: p.product.atom };
    let narrow = |n: u32| u16::try_from(n).unwrap_or(u16::MAX);
    let count = u32::from(loads.count);
    let cell = |e: u32| blocks.cell(tile, fragment, first_column, e);
    let each = u32::from(form.registers).checked_mul(count).ok_or(refuse)?;
    let all = u32::from(fragment.registers());
    let (lanes, warps) = (
        power(usize::from(plan.wave)).ok_or(refuse)?,
        power(usize::from(plan.warps)).ok_or(refuse)?,
    );
    let coordinates =
        size(&form.cells, count).filter(|n| Some(*n) == each.checked_mul(lanes)).ok_or(refuse)?;
    if each == 0
        || all.checked_rem(each) != Some(0)
        || Some(each) != power(usize::from(loads.registers))
    {
        return Err(refuse);
    }
    let mut followed = 0u64;
    for warp in 0..warps {
        let reached = u32::from(memory.lanes_per_warp);
        let quarter = warp
            .checked_rem(u32::from(memory.warps))
            .and_then(|w| w.checked_mul(reached))
            .ok_or(refuse)?;
        for load in 0..all.checked_div(each).unwrap_or(0) {
            let first = load.checked_mul(each).ok_or(refuse)?;
            let start =
                cell(fragment.element(first.checked_mul(blocks.cell).ok_or(refuse)?, 0, warp))
                    .ok_or(refuse)?;
            for x in 0..coordinates {
                let (cells, tuple) = (
                    |axis| walk(form.cells.iters.iter(), count, axis, x),
                    |axis| walk(form.tuple.iters.iter(), count, axis, x),
                );
                let (dl, dc) = cells(AxisId::TLANE).zip(cells(AxisId::TCOL)).ok_or(refuse)?;
                let (lane, bit) = tuple(AxisId::LANE).zip(tuple(AxisId::BIT)).ok_or(refuse)?;
                let register = first.checked_add(bit / 32).ok_or(refuse)?;
                let found = (
                    start.0.checked_add(dl).ok_or(refuse)?,
                    start.1.checked_add(dc).ok_or(refuse)?,
                );
                let byte = |n: u32| u8::try_from(n).unwrap_or(u8::MAX);
                if found.0 < quarter || found.0 >= quarter.saturating_add(reached) {
                    return Err(Violation::Reach {
                        op: p.op,
                        warp: byte(warp),
                        lane: narrow(found.0),
                    });
                }
                for part in 0..blocks.cell {
                    let place = register
                        .checked_mul(blocks.cell)
                        .and_then(|n| n.checked_add(part))
                        .ok_or(refuse)?;
                    let want = cell(fragment.element(place, lane, warp)).ok_or(refuse)?;
                    if (found.0, found.1, part) != want {
                        let (want, found) =
                            ((narrow(want.0), narrow(want.1)), (narrow(found.0), narrow(found.1)));
                        return Err(Violation::Cell {
                            op: p.op,
                            warp: byte(warp),
                            lane: byte(lane),
                            register: narrow(register),
                            want,
                            found,
                        });
                    }
                }
                followed = followed.saturating_add(1);
            }
        }
    }
    Ok(followed)
}

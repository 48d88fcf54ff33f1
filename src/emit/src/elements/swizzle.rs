//! Shared tiles of functions of loops under the swizzles that were found for them.

use crate::elements::unit_products::plan_unit_products;
use lanebook_infer::MemoryScope;
use lanebook_ir::{Op, Program, Value};
use lanebook_layout::{Pad, Padding, PostMap, Unit};
use lanebook_loops::{Fact, Told};
use lanebook_plan::select::{
    PlanScratch, WrittenPlaces, copies_ahead, line_of, place_loops, shared_in_loops, stage_loops,
    written_layout,
};
use lanebook_plan::shared_alloc::place_behind;
use lanebook_plan::{AllocPlan, End, Plan, PlanError};
use lanebook_tables::Tables;
use lanebook_tile::map::{MAX_BITS, PlaceTable, SharedLayout, TileShape};
use lanebook_tile::shaping::tile_shape;

/// Puts the swizzles of shared buffers into a plan, and places its tiles so that each begins at a
/// multiple of what its swizzle exchanges. Copies that run ahead are chosen with them.
///
/// # Errors
/// [`PlanError::SharedMemory`], [`PlanError::TensorMemory`]; [`PlanError::Extents`] of a swizzle that
/// leads out of its tile; [`PlanError::Stages`].
pub fn place_swizzled(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    told: &Told<'_>,
    plan: &mut Plan<'_>,
    workspace: &mut PlanScratch<'_>,
) -> Result<(), PlanError> {
    // What was found before is found anew.
    for tile in plan.allocs.iter_mut().filter(|tile| tile.stages > 1) {
        (tile.stages, tile.table) = (1, None);
        tile.layout = SharedLayout::BY_ROWS;
        tile.bytes = u32::try_from(tile.shape.bytes()).unwrap_or(u32::MAX);
    }
    for (id, value) in told.buffers() {
        let own = told.inference.buffer_of(id).map_err(|_| PlanError::Stale)?;
        let swizzle = told.inference.swizzle(id).filter(|s| s.b > 0);
        if own.scope != MemoryScope::Shared || own.storage != id {
            continue;
        }
        let Some(tile) = plan.allocs.iter_mut().find(|alloc| alloc.value == value) else {
            continue;
        };
        if told.inference.places(id).is_some() {
            lay_by_table(program, value, tile)?;
            tile.align = tables.weights.shared_align;
            continue;
        }
        let Some(swizzle) = swizzle else {
            tile.layout.post = PostMap::None;
            tile.layout.column_block = None;
            if let Some((interval, pad)) = told.inference.padding(id) {
                let stale = PlanError::Stale;
                let padding = Padding::new(&[Pad { interval, pad }], Unit::Byte);
                tile.layout.post = PostMap::Padding(padding.map_err(|_| stale)?);
                let bytes = tile.layout.bytes(tile.shape).and_then(|n| u32::try_from(n).ok());
                tile.bytes = bytes.ok_or(stale)?;
            }
            tile.align = tables.weights.shared_align;
            continue;
        };
        let element = u32::from(tile.shape.bits >> 3).max(1);
        let wrong = PlanError::Extents(program.def_op(value).ok_or(PlanError::Stale)?);
        // Bytes are counted row by row, whatever panels the tile has.
        let line = tile.bytes.checked_div(element).and_then(|n| line_of(n, tile.shape.bits));
        let line = line.filter(|line| line.bytes() == u64::from(tile.bytes)).ok_or(wrong)?;
        let post = PostMap::Swizzle(swizzle);
        tile.layout = SharedLayout { post, ..SharedLayout::BY_ROWS };
        if tile.shape.grid.count() > 1 {
            tile.shape = line;
        }
        let panel = u32::try_from(tile.shape.panel_bytes()).unwrap_or(0);
        if 1u32.checked_shl(swizzle.period_bits()).is_none_or(|period| period > panel) {
            return Err(wrong);
        }
        tile.align = tile.layout.align(tables.weights.shared_align);
    }
    plan_unit_products(tables, program, told, plan)?;
    for (_, copy) in copies_ahead(program, told.function()) {
        lay_ahead(program, told, plan, copy)?;
    }
    stage_loops(tables, program, told.function(), plan, workspace)?;
    place_loops(tables, program, plan)?;
    place_behind(tables, program, plan)
}

/// Writes down where the elements of a tile lie that the program writes a table for.
#[inline(never)]
fn lay_by_table(
    program: &Program<'_, '_>,
    value: Value,
    tile: &mut AllocPlan,
) -> Result<(), PlanError> {
    let stale = PlanError::Stale;
    let op = program.def_op(value).ok_or(stale)?;
    let text = written_layout(program, op, &program.type_of(value)).ok_or(stale)?;
    tile.layout = SharedLayout { by_table: true, ..SharedLayout::BY_ROWS };
    match shared_in_loops(program, text, value).map_err(|why| PlanError::Written { op, why })? {
        WrittenPlaces::Rows(_) => Err(stale),
        WrittenPlaces::Table(shape, table) => {
            (tile.shape, tile.table) = (shape, Some(table));
            let bytes = table.bytes(shape).and_then(|bytes| u32::try_from(bytes).ok());
            tile.bytes = bytes.ok_or(PlanError::Extents(op))?;
            Ok(())
        }
        WrittenPlaces::Strided(places) => {
            // Its bytes in a line: no table has such digits.
            let line = places.bytes.checked_div(places.unit);
            let line =
                line.and_then(|n| line_of(n, tile.shape.bits)).ok_or(PlanError::Extents(op))?;
            (tile.layout, tile.shape, tile.table) = (SharedLayout::BY_ROWS, line, None);
            tile.bytes = u32::try_from(line.bytes()).map_err(|_| PlanError::Extents(op))?;
            Ok(())
        }
    }
}

/// Writes down how a tile lies that a copy fills turns ahead: what chooses the copy knows nothing
/// else of it.
#[inline(never)]
fn lay_ahead(
    program: &Program<'_, '_>,
    told: &Told<'_>,
    plan: &mut Plan<'_>,
    copy: Op,
) -> Result<(), PlanError> {
    let no = PlanError::Extents(copy);
    let value = program.operand(copy, 1).ok_or(no)?;
    let Some((number, _)) = plan.alloc_of(value) else { return Ok(()) };
    // What a unit reads by itself lies as the unit says.
    if plan.readers(End::Shared(number)).next().is_some() {
        return Ok(());
    }
    let Fact::Buffer(id) = told.fact(value) else { return Err(PlanError::Stale) };
    if told.inference.places(id).is_some() {
        let is_told = plan.allocs.get(usize::from(number)).is_some_and(|tile| tile.table.is_some());
        return if is_told { Ok(()) } else { Err(no) };
    }
    let shape = tile_shape(program, value).ok_or(no)?;
    let tile = plan.allocs.get_mut(usize::from(number)).ok_or(no)?;
    let element = u32::from(shape.bits >> 3).max(1);
    tile.shape = shape;
    tile.table = None;
    let column_block = told.inference.strips(id).and_then(|bytes| bytes.checked_div(element));
    let is_one = shape.grid.count() <= 1;
    if !is_one {
        let padding = told.inference.padding(id);
        if column_block.is_some() || told.inference.swizzle(id).is_some_and(|s| s.b > 0) {
            return Err(no);
        }
        tile.table = Some(rows_of_panels(shape, element, padding).ok_or(no)?);
        tile.layout = SharedLayout { by_table: true, ..SharedLayout::BY_ROWS };
        return Ok(());
    }
    let plain = SharedLayout { post: tile.layout.post, ..SharedLayout::BY_ROWS };
    tile.layout = match column_block {
        // Columns are strips of one element.
        Some(1) => SharedLayout { row_major: false, ..plain },
        Some(column_block) => {
            let bits = u8::try_from(column_block.checked_ilog2().unwrap_or(0)).unwrap_or(0);
            SharedLayout { column_block: Some(bits), ..plain }
        }
        None => plain,
    };
    Ok(())
}

/// Where the elements of a tile of several panels lie that lies row by row, with padding behind every
/// so many whole rows; `None` of other padding.
fn rows_of_panels(
    shape: TileShape,
    element: u32,
    padding: Option<(u32, u32)>,
) -> Option<PlaceTable> {
    let row = u32::try_from(shape.col_count()).ok()?.checked_mul(element)?;
    let pitch = match padding {
        None => row,
        Some((interval, pad)) if interval == row => row.checked_add(pad)?,
        Some(_) => return None,
    };
    let mut columns: heapless::Vec<u32, MAX_BITS> = heapless::Vec::new();
    for bit in 0..shape.cols {
        columns.push(element.checked_shl(u32::from(bit))?).ok()?;
    }
    for bit in 0..shape.rows {
        columns.push(pitch.checked_shl(u32::from(bit))?).ok()?;
    }
    let down = pitch.checked_shl(u32::from(shape.rows))?;
    let across = element.checked_shl(u32::from(shape.cols))?;
    PlaceTable::sum(&columns, (down, across))
}

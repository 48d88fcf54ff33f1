//! Shared tiles of functions of loops under the swizzles that were found for them.

use crate::elements::unit_products::plan_unit_products;
use lanebook_infer::MemoryScope;
use lanebook_ir::Program;
use lanebook_layout::{Pad, Padding, PostMap, Unit};
use lanebook_loops::Told;
use lanebook_plan::select::{line_of, place_loops};
use lanebook_plan::shared_alloc::place_behind;
use lanebook_plan::{Plan, PlanError};
use lanebook_tables::Tables;
use lanebook_tile::map::SharedLayout;

/// Puts the swizzles of shared buffers into a plan, and places its tiles so that each begins at a
/// multiple of what its swizzle exchanges.
///
/// # Errors
/// [`PlanError::SharedMemory`], [`PlanError::TensorMemory`]; [`PlanError::Extents`] of a swizzle that
/// leads out of its tile.
pub fn place_swizzled(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    told: &Told<'_>,
    plan: &mut Plan<'_>,
) -> Result<(), PlanError> {
    for (id, value) in told.buffers() {
        let own = told.inference.buffer_of(id).map_err(|_| PlanError::Stale)?;
        let swizzle = told.inference.swizzle(id).filter(|s| s.b > 0);
        if own.scope != MemoryScope::Shared || own.storage != id {
            continue;
        }
        let Some(tile) = plan.allocs.iter_mut().find(|alloc| alloc.value == value) else {
            continue;
        };
        let Some(swizzle) = swizzle else {
            tile.layout.post = PostMap::None;
            tile.layout.strip = None;
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
    place_loops(tables, program, plan)?;
    place_behind(tables, program, plan)
}

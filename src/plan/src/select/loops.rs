//! Functions of parallel loops: their shared tiles, row by row. Nothing of them is chosen here: the
//! swizzles under which they lie are found beside their loops, before they are placed.

use crate::data::{AllocPlan, Plan, PlanError, PlanPool, Unstaged};
use crate::select::memory::loop_layouts::shared_in_loops;
use crate::select::planner::full;
use lanebook_ir::{AttrValue, Op, Program, TileEncoding, Type, attr_names};
use lanebook_tables::{OpRole, Space, Tables};
use lanebook_tile::map::TileShape;
use lanebook_tile::shaping::tile_shape;

/// Finds the shared tiles of a function of parallel loops.
///
/// # Errors
/// [`PlanError::Unsupported`] for operations on whole tiles of registers and for tiles with written
/// layouts; [`PlanError::Extents`].
pub(crate) fn collect_loops(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    function: Op,
    plan: &mut Plan<'_>,
) -> Result<(), PlanError> {
    for op in program.inside(function) {
        match program.role(op) {
            OpRole::Alloc => {}
            OpRole::For if program.is_warp_specialized(op) => {
                return Err(PlanError::Stages { op, why: Unstaged::InPlace });
            }
            OpRole::Load
            | OpRole::Store
            | OpRole::Atomic
            | OpRole::Matrix
            | OpRole::Reduce
            | OpRole::Broadcast
            | OpRole::Convert
            | OpRole::Transpose
            | OpRole::Permute => return Err(PlanError::Unsupported(op)),
            _ => continue,
        }
        let value = program.result(op, 0).ok_or(PlanError::Unsupported(op))?;
        let ty = program.type_of(value);
        if ty.space != Some(Space::Shared) {
            continue;
        }
        let count = ty.shape.iter().try_fold(1u32, |n, e| n.checked_mul(e?));
        let bits = ty.dtype.and_then(|id| tables.dtype(id)).map_or(0, |dtype| dtype.held);
        let tile = tile_shape(program, value);
        let shape = tile.or_else(|| line_of(count?, bits)).ok_or(PlanError::Extents(op))?;
        // Loops are laid out before this: what is written was read then.
        let written = written_layout(program, op, &ty);
        let refused = |why| PlanError::Written { op, why };
        if let Some(text) = written {
            shared_in_loops(program, text, value).map_err(refused)?;
        }
        let bytes = u32::try_from(shape.bytes()).map_err(|_| PlanError::Extents(op))?;
        let align = tables.weights.shared_align;
        let capacity = plan.allocs.capacity();
        let rows = AllocPlan::by_rows(value, shape);
        let alloc = AllocPlan { fixed: true, bytes, align, ..rows };
        plan.allocs.push(alloc).map_err(|_| full(PlanPool::Allocs, capacity, op))?;
    }
    Ok(())
}

/// The layout that is written for a shared tile, in its type or as an attribute of the operation that
/// makes it.
#[must_use]
pub fn written_layout<'p>(program: &'p Program<'_, '_>, op: Op, ty: &Type) -> Option<&'p str> {
    let in_type = match ty.encoding {
        TileEncoding::None => None,
        _ => Some(program.layout_text(ty).unwrap_or("")),
    };
    in_type.or_else(|| match program.attr(op, attr_names::LAYOUT)? {
        AttrValue::Text(text) | AttrValue::Layout(text) => Some(program.text(text)),
        AttrValue::Alias(name) => Some(program.alias(program.text(name)).unwrap_or("")),
        _ => Some(""),
    })
}

/// A line of so many elements, or as few more as make one of a shape that there is: elements are
/// found by their numbers alone.
#[doc(hidden)]
#[must_use]
pub fn line_of(count: u32, bits: u16) -> Option<TileShape> {
    (0..u32::BITS).find_map(|low| {
        let part = 1u32.checked_shl(low)?;
        let whole = count.checked_next_multiple_of(part)?;
        TileShape::new(1, u64::from(whole), bits)
    })
}

/// Places the shared tiles of a function of parallel loops one behind the other: views may look at
/// any of them anywhere.
///
/// # Errors
/// [`PlanError::SharedMemory`].
pub fn place_loops(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    plan: &mut Plan<'_>,
) -> Result<(), PlanError> {
    let arch = tables.arch(plan.arch).ok_or(PlanError::UnknownArch)?;
    let mut end = 0u32;
    plan.shared_align = tables.weights.shared_align;
    for alloc in plan.allocs.iter_mut() {
        let op = program.def_op(alloc.value).ok_or(PlanError::Stale)?;
        let have = arch.shared.max_bytes;
        let full = |need| PlanError::SharedMemory { op, need, have };
        let at = end.checked_next_multiple_of(alloc.align.max(1)).ok_or(full(u32::MAX))?;
        alloc.offset = at;
        plan.shared_align = plan.shared_align.max(alloc.align);
        end = at.checked_add(alloc.bytes).ok_or(full(u32::MAX))?;
        if end > have {
            return Err(full(end));
        }
    }
    plan.shared_bytes = end;
    Ok(())
}

//! Written layouts of shared tiles, brought to a form that the planner can keep to, or refused.
//!
//! What can be kept to is a tile by rows or by columns, its rows maybe longer than the tile (a
//! pitch, which is padding), with a swizzle or with padding behind powers of two. In any of the three
//! notations, read with the program: TIRx and CuTe count elements, a TileAS triple counts bytes.
//! Everything else is a reason, never a silent change.

use crate::data::Unwritable;
use lanebook_ir::{LayoutFault, PositionOrder, Program};
use lanebook_layout::{AxisId, Layout, Pad, Padding, PostMap, Swizzle, Unit};
use lanebook_tile::map::{SharedLayout, TileShape};

/// What was read of a text, and the order in which its positions count.
///
/// # Errors
/// Why nothing was.
#[inline(never)]
pub(crate) fn read(
    program: &Program<'_, '_>,
    text: &str,
    out: &mut Layout,
) -> Result<PositionOrder, Unwritable> {
    let id = match program.layout_id(text) {
        Some(Ok(id)) => id,
        Some(Err(LayoutFault::Element)) => return Err(Unwritable::Element),
        Some(Err(LayoutFault::Swizzle)) => return Err(Unwritable::Swizzle),
        Some(Err(LayoutFault::Unreadable)) => return Err(Unwritable::Unreadable),
        None => return Err(Unwritable::Unread),
    };
    program.layout_at(id, out).ok_or(Unwritable::Unreadable)
}

/// The layout that a text gives a tile in shared memory.
///
/// # Errors
/// Why the planner cannot keep to it.
#[inline(never)]
pub(crate) fn shared(
    program: &Program<'_, '_>,
    text: &str,
    shape: TileShape,
) -> Result<SharedLayout, Unwritable> {
    let element = u32::from(shape.bits / 8);
    let mut layout = Layout::new();
    let rows_fastest = read(program, text, &mut layout)? == PositionOrder::RowsFastest;
    let post = take_post(&mut layout)?;
    let (row, col) = strides(&layout, shape, rows_fastest)?;
    let (rows, cols) = (shape.row_count(), shape.col_count());
    // Nothing says how far a single row is from the next: it is a whole one.
    let row = if rows == 1 { cols } else { row };
    let row_major = match (row, col) {
        (_, 1) if row >= cols && shape.grid.cols == 1 => true,
        (1, _) if col >= rows && shape.grid.rows == 1 => false,
        (_, 1) if row >= cols => return Err(Unwritable::Extent),
        (1, _) if col >= rows => return Err(Unwritable::Extent),
        _ => return Err(Unwritable::Order),
    };
    let (pitch, inner) = if row_major { (row, cols) } else { (col, rows) };
    let bytes = |n: u64| {
        u32::try_from(n).ok().and_then(|n| n.checked_mul(element)).ok_or(Unwritable::Order)
    };
    let post = match (pitch.checked_sub(inner), post) {
        (Some(0), PostMap::None) => PostMap::None,
        (Some(0), PostMap::Swizzle(s)) => PostMap::Swizzle(swizzle(s, shape, element)?),
        (Some(0), PostMap::Padding(p)) => PostMap::Padding(padding(&p, shape, element)?),
        (Some(more), PostMap::None) => {
            let pad =
                Padding::new(&[Pad { interval: bytes(inner)?, pad: bytes(more)? }], Unit::Byte)
                    .map_err(|_| Unwritable::Padding)?;
            PostMap::Padding(padding(&pad, shape, 1)?)
        }
        _ => return Err(Unwritable::Both),
    };
    Ok(SharedLayout { row_major, strip: None, turn: None, post })
}

/// Leaves the plain part, and answers the post-map.
fn take_post(layout: &mut Layout) -> Result<PostMap, Unwritable> {
    let post = layout.view().post;
    layout.set_post(PostMap::None).map_err(|_| Unwritable::Unreadable)?;
    Ok(post)
}

/// Elements from a row to the next and from a column to the next, if that is the same everywhere.
#[inline(never)]
fn strides(
    layout: &Layout,
    shape: TileShape,
    rows_fastest: bool,
) -> Result<(u64, u64), Unwritable> {
    let view = layout.view();
    let only_memory = view.axes().is_ok_and(|axes| axes.iter().all(|a| *a == AxisId::M));
    if !only_memory || !view.replica.is_empty() {
        return Err(Unwritable::Axes);
    }
    let (rows, cols) = (shape.row_count(), shape.col_count());
    if view.size_value().ok() != rows.checked_mul(cols) {
        return Err(Unwritable::Size);
    }
    let at = |row: u64, col: u64| -> Result<u64, Unwritable> {
        let x = if rows_fastest {
            col.wrapping_mul(rows).wrapping_add(row)
        } else {
            row.wrapping_mul(cols).wrapping_add(col)
        };
        view.offset_on(x, AxisId::M)
            .ok()
            .and_then(|v| u64::try_from(v).ok())
            .ok_or(Unwritable::Order)
    };
    if at(0, 0)? != 0 {
        return Err(Unwritable::Order);
    }
    let (row, col) = (stride(rows, |k| at(k, 0))?, stride(cols, |k| at(0, k))?);
    // A tree of iters adds up, so rows and columns decide; the last element makes sure of it.
    let last = at(rows.saturating_sub(1), cols.saturating_sub(1))?;
    let want = rows
        .saturating_sub(1)
        .wrapping_mul(row)
        .wrapping_add(cols.saturating_sub(1).wrapping_mul(col));
    if last == want { Ok((row, col)) } else { Err(Unwritable::Order) }
}

/// The distance of `count` positions, if it is one.
fn stride(count: u64, along: impl Fn(u64) -> Result<u64, Unwritable>) -> Result<u64, Unwritable> {
    if count < 2 {
        return Ok(1);
    }
    let step = along(1)?;
    for k in 2..count {
        if along(k)? != step.wrapping_mul(k) {
            return Err(Unwritable::Order);
        }
    }
    Ok(step)
}

/// In bytes, and inside one panel, where it is a matrix over the panel's bits.
fn swizzle(s: Swizzle, shape: TileShape, element: u32) -> Result<Swizzle, Unwritable> {
    let shift =
        if s.unit == Unit::Byte { 0 } else { i8::try_from(element.max(1).ilog2()).unwrap_or(0) };
    let s = s.rescaled(shift, Unit::Byte).map_err(|_| Unwritable::Swizzle)?;
    let panel = u32::try_from(shape.panel_bytes()).unwrap_or(u32::MAX);
    if s.s > 0 && 1u32.checked_shl(s.period_bits()).is_some_and(|period| period <= panel) {
        Ok(s)
    } else {
        Err(Unwritable::Swizzle)
    }
}

/// In bytes; behind powers of two, so that what each bit adds does not depend on the others.
fn padding(p: &Padding, shape: TileShape, element: u32) -> Result<Padding, Unwritable> {
    let unit = if p.unit() == Unit::Byte { 1 } else { element };
    let panel = u32::try_from(shape.panel_bytes()).unwrap_or(u32::MAX);
    let mut pads: heapless::Vec<Pad, { lanebook_layout::MAX_PADS }> = heapless::Vec::new();
    for pad in p.pads() {
        let scaled = Pad {
            interval: pad.interval.checked_mul(unit).ok_or(Unwritable::Padding)?,
            pad: pad.pad.checked_mul(unit).ok_or(Unwritable::Padding)?,
        };
        if !scaled.interval.is_power_of_two() || (shape.grid.count() > 1 && scaled.interval > panel)
        {
            return Err(Unwritable::Padding);
        }
        pads.push(scaled).map_err(|_| Unwritable::Padding)?;
    }
    Padding::new(&pads, Unit::Byte).map_err(|_| Unwritable::Padding)
}

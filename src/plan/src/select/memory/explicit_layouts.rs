//! Written layouts of shared tiles, brought to a form that the planner can keep to, or refused.
//!
//! What can be kept to is a tile by rows or by columns, maybe in strips (panels of some columns,
//! one behind the other), with gaps behind powers of two of elements (a pitch is one), or with a
//! swizzle. In any of the three notations, read with the program: TIRx and CuTe count elements, a
//! TileAS triple counts bytes. Everything else is a table of places (`place_tables`), or a reason,
//! never a silent change.

use crate::data::Unwritable;
use lanebook_ir::{LayoutFault, PositionOrder, Program};
use lanebook_layout::{AxisId, Layout, LayoutRef, Pad, Padding, PostMap, Swizzle, Unit};
use lanebook_tile::map::{MAX_BITS, SharedLayout, TileShape};

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
    covers(&layout, shape)?;
    if shape.grid.count() == 1 {
        let places = bit_places(&layout, shape, rows_fastest)?;
        return by_bits(&places, post, shape);
    }
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
        (Some(0), PostMap::Swizzle(s)) => swizzle(s, shape, element)?,
        (Some(0), PostMap::Padding(p)) => PostMap::Padding(padding(&p, shape, element)?),
        (Some(more), PostMap::None) => {
            let pad =
                Padding::new(&[Pad { interval: bytes(inner)?, pad: bytes(more)? }], Unit::Byte)
                    .map_err(|_| Unwritable::Padding)?;
            PostMap::Padding(padding(&pad, shape, 1)?)
        }
        _ => return Err(Unwritable::Both),
    };
    Ok(SharedLayout { row_major, post, ..SharedLayout::BY_ROWS })
}

/// Leaves the plain part, and answers the post-map.
pub(crate) fn take_post(layout: &mut Layout) -> Result<PostMap, Unwritable> {
    let post = layout.view().post;
    layout.set_post(PostMap::None).map_err(|_| Unwritable::Unreadable)?;
    Ok(post)
}

/// Whether a layout is one of memory, of as many elements as the tile has.
pub(crate) fn covers(layout: &Layout, shape: TileShape) -> Result<(), Unwritable> {
    let view = layout.view();
    let only_memory = view.axes().is_ok_and(|axes| axes.iter().all(|a| *a == AxisId::M));
    if !only_memory || !view.replica.is_empty() {
        return Err(Unwritable::Axes);
    }
    if view.size_value().ok() != shape.row_count().checked_mul(shape.col_count()) {
        return Err(Unwritable::Size);
    }
    Ok(())
}

/// The position of each bit of an element's number, in elements, and the number of bits.
type BitPlaces = heapless::Vec<u64, MAX_BITS>;

/// Where each bit of an element's number leads. The tile's extents are powers of two, and so are
/// those of a layout of as many elements: positions are sums of what their bits are worth.
#[inline(never)]
fn bit_places(
    layout: &Layout,
    shape: TileShape,
    rows_fastest: bool,
) -> Result<BitPlaces, Unwritable> {
    let view = layout.view();
    let mut out = BitPlaces::new();
    if view.offset_on(0, AxisId::M) != Ok(0) {
        return Err(Unwritable::Order);
    }
    for bit in 0..shape.total() {
        let number = match (rows_fastest, bit.checked_sub(shape.cols)) {
            (false, _) => bit,
            (true, None) => bit.saturating_add(shape.rows),
            (true, Some(of_row)) => of_row,
        };
        let x = 1u64.checked_shl(u32::from(number)).ok_or(Unwritable::Size)?;
        let at = view.offset_on(x, AxisId::M).ok().and_then(|at| u64::try_from(at).ok());
        out.push(at.ok_or(Unwritable::Order)?).map_err(|_| Unwritable::Size)?;
    }
    Ok(out)
}

/// The layout whose positions are these.
#[inline(never)]
fn by_bits(places: &[u64], post: PostMap, shape: TileShape) -> Result<SharedLayout, Unwritable> {
    let element = u32::from(shape.bits / 8);
    let mut pads: heapless::Vec<Pad, { lanebook_layout::MAX_PADS }> = heapless::Vec::new();
    // In the order of positions each is twice the one before, or there is a gap between the two.
    let (mut last, mut rank) = (0u64, 0u8);
    let mut order: heapless::Vec<u8, MAX_BITS> = heapless::Vec::new();
    for _ in places {
        let (bit, place) = (0u8..)
            .zip(places.iter().copied())
            .filter(|(_, place)| *place > last)
            .min_by_key(|(_, place)| *place)
            .ok_or(Unwritable::Order)?;
        let least = last.saturating_mul(2).max(1);
        let gap = place.checked_sub(least).ok_or(Unwritable::Order)?;
        if gap > 0 {
            let bytes = |n: u64| u32::try_from(n).ok().and_then(|n| n.checked_mul(element));
            let interval = 1u64.checked_shl(u32::from(rank)).and_then(bytes);
            let (Some(interval), Some(pad)) = (interval, bytes(gap)) else {
                return Err(Unwritable::Order);
            };
            pads.push(Pad { interval, pad }).map_err(|_| Unwritable::Padding)?;
        }
        order.push(bit).map_err(|_| Unwritable::Size)?;
        (last, rank) = (place, rank.saturating_add(1));
    }
    let post = match (pads.is_empty(), post) {
        (true, PostMap::None) => PostMap::None,
        (true, PostMap::Swizzle(s)) => swizzle(s, shape, element)?,
        (true, PostMap::Padding(p)) => PostMap::Padding(padding(&p, shape, element)?),
        (false, PostMap::None) => {
            PostMap::Padding(Padding::new(&pads, Unit::Byte).map_err(|_| Unwritable::Padding)?)
        }
        _ => return Err(Unwritable::Both),
    };
    let found = [true, false].iter().find_map(|row_major| arranged(&order, *row_major, shape));
    found.map(|plain| SharedLayout { post, ..plain }).ok_or(Unwritable::Order)
}

/// The arrangement, by rows or by columns, in which the bits of an element's number have this
/// order.
fn arranged(order: &[u8], row_major: bool, shape: TileShape) -> Option<SharedLayout> {
    let (inner, outer) =
        if row_major { (shape.cols, shape.rows) } else { (shape.rows, shape.cols) };
    let (first_inner, first_outer) = if row_major { (0, shape.cols) } else { (shape.cols, 0) };
    let counted = |first: u8, count: u8| first..first.saturating_add(count);
    let column_block = order.iter().copied().zip(counted(first_inner, inner));
    let column_block =
        u8::try_from(column_block.take_while(|(bit, own)| bit == own).count()).ok()?;
    if column_block == 0 && inner > 0 && outer > 0 {
        // Strips of one element: in the other order they are whole.
        return None;
    }
    let wanted = counted(first_inner, column_block)
        .chain(counted(first_outer, outer))
        .chain(counted(first_inner.checked_add(column_block)?, inner.checked_sub(column_block)?));
    let column_block = Some(column_block).filter(|column_block| *column_block < inner);
    wanted.eq(order.iter().copied()).then_some(SharedLayout {
        row_major,
        column_block,
        ..SharedLayout::BY_ROWS
    })
}

/// Where a layout has the element in a row and a column of a tile, in elements; `rows_fastest`: it
/// counts them column by column.
pub(crate) fn place_of(
    view: &LayoutRef<'_>,
    shape: TileShape,
    rows_fastest: bool,
    (row, col): (u64, u64),
) -> Result<u64, Unwritable> {
    let x = match rows_fastest {
        true => col.wrapping_mul(shape.row_count()).wrapping_add(row),
        false => row.wrapping_mul(shape.col_count()).wrapping_add(col),
    };
    let at = view.offset_on(x, AxisId::M).ok().and_then(|at| u64::try_from(at).ok());
    at.ok_or(Unwritable::Order)
}

/// Elements from a row to the next and from a column to the next, if that is the same everywhere.
#[inline(never)]
fn strides(
    layout: &Layout,
    shape: TileShape,
    rows_fastest: bool,
) -> Result<(u64, u64), Unwritable> {
    let view = layout.view();
    let (rows, cols) = (shape.row_count(), shape.col_count());
    let at = |row: u64, col: u64| place_of(&view, shape, rows_fastest, (row, col));
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

/// In bytes, and inside one panel, where it is a matrix over the panel's bits. Of a tile that is
/// one panel, what a swizzle takes from above its positions is zero everywhere, and left out.
pub(super) fn swizzle(s: Swizzle, shape: TileShape, element: u32) -> Result<PostMap, Unwritable> {
    let shift =
        if s.unit == Unit::Byte { 0 } else { i8::try_from(element.max(1).ilog2()).unwrap_or(0) };
    let s = s.rescaled(shift, Unit::Byte).map_err(|_| Unwritable::Swizzle)?;
    let panel = u32::try_from(shape.panel_bytes()).unwrap_or(u32::MAX);
    if s.s > 0 && 1u32.checked_shl(s.period_bits()).is_some_and(|period| period <= panel) {
        return Ok(PostMap::Swizzle(s));
    }
    let from = u32::from(s.m).checked_add(u32::try_from(s.s).map_err(|_| Unwritable::Swizzle)?);
    let (1.., 1, Some(from), Some(top)) = (s.s, shape.grid.count(), from, panel.checked_ilog2())
    else {
        return Err(Unwritable::Swizzle);
    };
    let inside = top.saturating_sub(from).min(u32::from(s.b));
    match u8::try_from(inside) {
        Ok(0) => Ok(PostMap::None),
        Ok(b) => Swizzle::new(b, s.m, s.s, Unit::Byte)
            .map(PostMap::Swizzle)
            .map_err(|_| Unwritable::Swizzle),
        Err(_) => Err(Unwritable::Swizzle),
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

//! Written layouts of shared tiles, brought to a form that the planner can keep to, or refused.
//!
//! What can be kept to is a tile by rows or by columns, maybe in strips (panels of some columns,
//! one behind the other), with gaps behind powers of two of elements (a pitch is one), or with a
//! swizzle. In any of the three notations, read with the program: TIRx and CuTe count elements, a
//! TileAS triple counts bytes. Everything else is a table of places (`place_tables`), or a reason,
//! never a silent change.

use crate::data::Unwritable;
use crate::select::memory::place_tables::places;
use lanebook_ir::{LayoutFault, PositionOrder, Program, Value};
use lanebook_layout::{AxisId, Layout, LayoutRef, Pad, Padding, PostMap, Swizzle, Unit};
use lanebook_tile::map::{MAX_BITS, PlaceTable, SharedLayout, TileShape};
use lanebook_tile::shaping::tile_shape;

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

/// The layout that a function of parallel loops writes for a tile in shared memory: row by row, of
/// any rank; of two dimensions by columns and in strips, too, with padding behind every so many
/// bytes.
///
/// # Errors
/// Why it cannot be kept to.
fn shared_by_rows(
    program: &Program<'_, '_>,
    text: &str,
    tile: Value,
) -> Result<SharedLayout, Unwritable> {
    let shape = tile_shape(program, tile).filter(|_| program.type_of(tile).shape.rank() <= 2);
    let Some(shape) = shape else { return any_rows(program, text, tile) };
    let layout = match shared(program, text, shape) {
        // Rows of any length, which a tile of registers would not have.
        Err(Unwritable::Order | Unwritable::Extent | Unwritable::Both | Unwritable::Swizzle) => {
            return any_rows(program, text, tile);
        }
        layout => layout?,
    };
    let whole = layout.row_major || layout.column_block.is_none();
    let once = layout.post.padding().is_none_or(|padding| padding.pads().len() <= 1);
    if whole && once && layout.turn.is_none() { Ok(layout) } else { Err(Unwritable::Rows) }
}

/// How a function of parallel loops has a tile in shared memory that it writes a layout for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WrittenPlaces {
    /// In rows, columns or strips.
    Rows(SharedLayout),
    /// Elsewhere, each element where the table says.
    Table(TileShape, PlaceTable),
    /// Elsewhere, by digits of an element's number that are no bits.
    Strided(StridedPlaces),
}

/// Most digits of an element's number.
const DIGITS: usize = 16;

/// Where elements lie by digits of their numbers, each so many bytes apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StridedPlaces {
    /// Values of each digit, and bytes from one to the next; the first is the fastest.
    pub digits: heapless::Vec<(u32, u32), DIGITS>,
    /// Elements are counted with the first dimension fastest, else with the last.
    pub rows_fastest: bool,
    /// Bytes of an element.
    pub unit: u32,
    /// Bytes of the tile.
    pub bytes: u32,
}

/// The digits of a layout without a swizzle and without padding, no two of whose elements lie in one
/// place: each digit is further apart than all that the nearer ones reach.
#[inline(never)]
fn strided_places(
    program: &Program<'_, '_>,
    text: &str,
    tile: Value,
) -> Result<StridedPlaces, Unwritable> {
    let mut layout = Layout::new();
    let rows_fastest = read(program, text, &mut layout)? == PositionOrder::RowsFastest;
    let (all, _, bits) = extents(program, tile).ok_or(Unwritable::Rows)?;
    let view = layout.view();
    let is_plain = view.post == PostMap::None && view.replica.is_empty() && view.offset.is_empty();
    if !is_plain || view.shard.iter().any(|iter| iter.axis() != AxisId::M) {
        return Err(Unwritable::Rows);
    }
    if view.size_value().ok() != Some(all) {
        return Err(Unwritable::Size);
    }
    let unit = u32::from(bits / 8);
    let mut out = StridedPlaces { digits: heapless::Vec::new(), rows_fastest, unit, bytes: 0 };
    for iter in view.shard {
        let extent = iter.extent_value().map_err(|_| Unwritable::Rows)?;
        let stride = iter.stride_value().map_err(|_| Unwritable::Rows)?;
        let bytes = u32::try_from(stride).ok().and_then(|stride| stride.checked_mul(unit));
        let digit = (extent, bytes.ok_or(Unwritable::Order)?);
        if extent > 1 {
            out.digits.push(digit).map_err(|_| Unwritable::Rows)?;
        }
    }
    let mut end = unit;
    let mut last = 0u32;
    for _ in &out.digits {
        let further = out.digits.iter().filter(|(_, bytes)| *bytes > last);
        let Some((extent, bytes)) = further.min_by_key(|(_, bytes)| *bytes).copied() else {
            return Err(Unwritable::Meet);
        };
        if bytes < end {
            return Err(Unwritable::Interleaved);
        }
        let reach = extent.saturating_sub(1).checked_mul(bytes);
        end = reach.and_then(|reach| end.checked_add(reach)).ok_or(Unwritable::Order)?;
        last = bytes;
    }
    out.bytes = end;
    Ok(out)
}

/// The layout that a function of parallel loops writes for a tile in shared memory.
///
/// # Errors
/// Why it cannot be kept to.
#[inline(never)]
pub fn shared_in_loops(
    program: &Program<'_, '_>,
    text: &str,
    tile: Value,
) -> Result<WrittenPlaces, Unwritable> {
    let by_bits =
        matches!(program.layout_id(text), Some(Ok(id)) if program.bit_places(id).is_some());
    let why = match by_bits {
        true => Unwritable::Size,
        false => match shared_by_rows(program, text, tile) {
            Ok(layout) => return Ok(WrittenPlaces::Rows(layout)),
            Err(why) => why,
        },
    };
    let own = tile_shape(program, tile).filter(|_| program.type_of(tile).shape.rank() <= 2);
    let line = || {
        // Of more dimensions a line: bits of a number are counted all along.
        let (all, _, bits) = extents(program, tile).filter(|_| by_bits)?;
        TileShape::new(1, all, bits)
    };
    let mut table = None;
    let found = match own.or_else(line) {
        Some(shape) => places(program, text, shape, &mut table).map(|()| shape),
        None => Err(why),
    };
    match (found, table) {
        (Ok(shape), Some(table)) => Ok(WrittenPlaces::Table(shape, table)),
        (Err(own), _) if by_bits => Err(own),
        // There may be neither: what digits lack is said where they are what is written.
        _ => match strided_places(program, text, tile) {
            Ok(places) => Ok(WrittenPlaces::Strided(places)),
            Err(own @ (Unwritable::Meet | Unwritable::Interleaved)) => Err(own),
            Err(_) => Err(found
                .err()
                .filter(|own| !matches!(own, Unwritable::Order | Unwritable::Both))
                .unwrap_or(why)),
        },
    }
}

/// The same of any rank, and for rows of any length: each behind the one before, all at one distance.
#[inline(never)]
fn any_rows(
    program: &Program<'_, '_>,
    text: &str,
    tile: Value,
) -> Result<SharedLayout, Unwritable> {
    let mut layout = Layout::new();
    let rows_fastest = read(program, text, &mut layout)? == PositionOrder::RowsFastest;
    let post = take_post(&mut layout)?;
    let (all, cols, bits) = extents(program, tile).ok_or(Unwritable::Rows)?;
    let rows = all.checked_div(cols).ok_or(Unwritable::Rows)?;
    let shape = TileShape::new(rows, cols, bits).ok_or(Unwritable::Rows)?;
    covers(&layout, shape)?;
    let view = layout.view();
    let at = |x: u64| view.offset_on(x, AxisId::M).ok().and_then(|at| u64::try_from(at).ok());
    // From a row to the next: a whole one, or one and a gap.
    let pitch = match (rows, rows_fastest) {
        (1, _) => Some(cols),
        (_, false) => at(cols),
        (_, true) => next_row(program, tile).and_then(&at),
    };
    let pitch = pitch.filter(|pitch| *pitch >= cols).ok_or(Unwritable::Rows)?;
    let place = |element: u64| {
        let (row, col) = (element.checked_div(cols)?, element.checked_rem(cols)?);
        row.checked_mul(pitch)?.checked_add(col)
    };
    let (mut before, mut behind) = (1u64, all);
    for extent in program.type_of(tile).shape.iter().flatten().map(u64::from) {
        behind = behind.checked_div(extent).ok_or(Unwritable::Rows)?;
        let number = if rows_fastest { before } else { behind };
        // A tree of iters adds up, so dimensions decide; the last element makes sure of it.
        if (0..extent).any(|k| at(k.wrapping_mul(number)) != place(k.wrapping_mul(behind))) {
            return Err(Unwritable::Rows);
        }
        before = before.wrapping_mul(extent);
    }
    let last = all.saturating_sub(1);
    if at(last) != place(last) {
        return Err(Unwritable::Rows);
    }
    let element = u32::from(shape.bits / 8);
    let bytes = |n: u64| {
        u32::try_from(n).ok().and_then(|n| n.checked_mul(element)).ok_or(Unwritable::Padding)
    };
    let post = match (post, pitch.saturating_sub(cols)) {
        (PostMap::None, 0) => PostMap::None,
        (PostMap::None, more) => {
            let pad = Pad { interval: bytes(cols)?, pad: bytes(more)? };
            let padding = Padding::new(&[pad], Unit::Byte);
            PostMap::Padding(padding.map_err(|_| Unwritable::Padding)?)
        }
        (PostMap::Swizzle(s), 0) => {
            swizzle(s, shape, element).or_else(|why| whole_periods(s, all, element).ok_or(why))?
        }
        _ => return Err(Unwritable::Rows),
    };
    Ok(SharedLayout { post, ..SharedLayout::BY_ROWS })
}

/// The number of the first element of the second row, counted with the first dimension fastest.
fn next_row(program: &Program<'_, '_>, tile: Value) -> Option<u64> {
    let shape = program.type_of(tile).shape;
    let last = shape.rank().checked_sub(1)?;
    let mut number = 1u64;
    for dim in 0..last {
        let extent = u64::from(shape.extent(dim)?);
        // The last dimension before that which has a second row.
        let inner = (dim.saturating_add(1)..last).all(|k| shape.extent(k) == Some(1));
        if inner {
            return Some(number);
        }
        number = number.checked_mul(extent)?;
    }
    None
}

/// Elements of a tile, those of its last dimension, and bits of each.
fn extents(program: &Program<'_, '_>, tile: Value) -> Option<(u64, u64, u16)> {
    let ty = program.type_of(tile);
    let bits = ty.dtype.and_then(|id| program.tables().dtype(id)).map_or(0, |dtype| dtype.held);
    let all = ty.shape.iter().try_fold(1u64, |n, extent| n.checked_mul(u64::from(extent?)))?;
    let cols = ty.shape.extent(ty.shape.rank().checked_sub(1)?)?;
    Some((all, u64::from(cols), bits))
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
fn swizzle(s: Swizzle, shape: TileShape, element: u32) -> Result<PostMap, Unwritable> {
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

/// In bytes, where the elements make whole periods: none leaves them.
fn whole_periods(s: Swizzle, elements: u64, element: u32) -> Option<PostMap> {
    let shift = match s.unit {
        Unit::Byte => 0,
        _ => i8::try_from(element.max(1).ilog2()).ok()?,
    };
    let s = s.rescaled(shift, Unit::Byte).ok()?;
    let period = 1u64.checked_shl(s.period_bits())?;
    let bytes = elements.checked_mul(u64::from(element))?;
    (s.s > 0 && bytes.checked_rem(period) == Some(0)).then_some(PostMap::Swizzle(s))
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

//! Written layouts of shared tiles of parallel loops: rows of any length and rank, tables of places, and
//! digits that are no bits.
//!
//! Loops ask for single elements, and so more can be kept to than where tiles of registers are stored and
//! loaded (`explicit_layouts`). What can not is refused with the reason.

use crate::data::Unwritable;
use crate::select::memory::explicit_layouts::{covers, read, shared, swizzle, take_post};
use crate::select::memory::place_tables::places;
use lanebook_ir::{PositionOrder, Program, Value};
use lanebook_layout::{AxisId, Layout, Pad, Padding, PostMap, Swizzle, Unit};
use lanebook_tile::map::{PlaceTable, SharedLayout, TileShape};
use lanebook_tile::shaping::tile_shape;

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

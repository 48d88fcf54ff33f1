//! Written layouts of shared tiles that neither rows nor columns describe: where each bit of an
//! element's number leads, as a table that stands beside the tile.
//!
//! What can be kept to is a matrix over GF(2) (an order of bits, several swizzles, anything that
//! exclusive or combines) and distances that add up (gaps anywhere, panels of odd extents). Whether
//! each element has a place of its own is checked here; everything else is a reason.

use crate::data::Unwritable;
use crate::select::memory::explicit_layouts::{covers, place_of, read, take_post};
use heapless::Vec;
use lanebook_ir::{PositionOrder, Program};
use lanebook_layout::{Layout, Padding, PostMap, Swizzle, Unit};
use lanebook_tile::map::{MAX_BITS, PlaceTable, TileShape};

/// What bits are worth.
type StepPlaces = Vec<u64, MAX_BITS>;
/// The same in bytes.
type ByteColumns = Vec<u32, MAX_BITS>;

/// Puts the table of a layout that is written for a shared tile into `out`.
///
/// # Errors
/// Why there is none.
#[inline(never)]
pub(crate) fn places(
    program: &Program<'_, '_>,
    text: &str,
    shape: TileShape,
    out: &mut Option<PlaceTable>,
) -> Result<(), Unwritable> {
    let table = match program.layout_id(text) {
        Some(Ok(id)) if program.bit_places(id).is_some() => {
            let mut columns = ByteColumns::new();
            for place in program.bit_places(id).into_iter().flatten() {
                push_bytes(&mut columns, u64::from(place), shape)?;
            }
            if columns.len() != usize::from(shape.total()) || shape.grid.count() > 1 {
                return Err(Unwritable::Size);
            }
            PlaceTable::exclusive(&columns)
        }
        _ => strided(program, text, shape)?,
    };
    let table = table.ok_or(Unwritable::Size)?;
    if table.bytes(shape).is_none() {
        return Err(Unwritable::Order);
    }
    if !table.is_apart(shape) {
        return Err(match (table.meets(shape), table.adds()) {
            (true, _) => Unwritable::Meet,
            (false, true) => Unwritable::Interleaved,
            (false, false) => Unwritable::Swizzle,
        });
    }
    *out = Some(table);
    Ok(())
}

/// What bits and panels are worth, in elements.
#[derive(Default)]
struct ElementSteps {
    bits: StepPlaces,
    panels: (u64, u64),
}

/// The table of a layout in a strided notation.
#[inline(never)]
fn strided(
    program: &Program<'_, '_>,
    text: &str,
    shape: TileShape,
) -> Result<Option<PlaceTable>, Unwritable> {
    let mut layout = Layout::new();
    let rows_fastest = read(program, text, &mut layout)? == PositionOrder::RowsFastest;
    let post = take_post(&mut layout)?;
    covers(&layout, shape)?;
    let mut places = ElementSteps::default();
    summed(&layout, shape, rows_fastest, &mut places)?;
    by_post(&places, post, shape)
}

/// What each bit is worth, where that adds up to every element's place.
fn summed(
    layout: &Layout,
    shape: TileShape,
    rows_fastest: bool,
    out: &mut ElementSteps,
) -> Result<(), Unwritable> {
    let view = layout.view();
    let (rows, cols) = (shape.row_count(), shape.col_count());
    let at = |row: u64, col: u64| place_of(&view, shape, rows_fastest, (row, col));
    if at(0, 0)? != 0 {
        return Err(Unwritable::Offset);
    }
    let power = |bit: u8| 1u64.checked_shl(u32::from(bit)).unwrap_or(0);
    for bit in 0..shape.cols {
        out.bits.push(at(0, power(bit))?).map_err(|_| Unwritable::Size)?;
    }
    for bit in 0..shape.rows {
        out.bits.push(at(power(bit), 0)?).map_err(|_| Unwritable::Size)?;
    }
    if shape.grid.count() == 1 {
        // Extents are powers of two, and so are those of a layout of as many elements.
        return Ok(());
    }
    if shape.grid.rows > 1 {
        out.panels.0 = at(power(shape.rows), 0)?;
    }
    if shape.grid.cols > 1 {
        out.panels.1 = at(0, power(shape.cols))?;
    }
    for row in 0..rows {
        for col in 0..cols {
            if at(row, col)? != out.at(shape, row, col) {
                return Err(Unwritable::Order);
            }
        }
    }
    Ok(())
}

impl ElementSteps {
    /// Where an element lies by what its bits and its panel are worth.
    fn at(&self, shape: TileShape, row: u64, col: u64) -> u64 {
        let split = |index: u64, bits: u8| {
            let panel = index.checked_shr(u32::from(bits)).unwrap_or(0);
            (panel, index.wrapping_sub(panel.checked_shl(u32::from(bits)).unwrap_or(0)))
        };
        let ((down, row), (along, col)) = (split(row, shape.rows), split(col, shape.cols));
        let number = row.checked_shl(u32::from(shape.cols)).unwrap_or(0).wrapping_add(col);
        let panels =
            down.wrapping_mul(self.panels.0).wrapping_add(along.wrapping_mul(self.panels.1));
        (0u32..).zip(&self.bits).fold(panels, |sum, (bit, place)| {
            let is_set = number.checked_shr(bit).unwrap_or(0) & 1 == 1;
            sum.wrapping_add(if is_set { *place } else { 0 })
        })
    }

    /// Whether no two bits lead to one bit of a place: sums do not carry.
    fn are_disjoint(&self) -> bool {
        let mut taken = 0u64;
        self.bits.iter().all(|place| {
            let is_free = taken & place == 0;
            taken |= place;
            is_free
        })
    }
}

/// The table of places behind which a swizzle or padding stands.
#[inline(never)]
fn by_post(
    places: &ElementSteps,
    post: PostMap,
    shape: TileShape,
) -> Result<Option<PlaceTable>, Unwritable> {
    let is_whole = shape.grid.count() == 1;
    let mut columns = ByteColumns::new();
    match post {
        PostMap::None => {
            for place in &places.bits {
                push_bytes(&mut columns, *place, shape)?;
            }
            if is_whole && places.are_disjoint() {
                return Ok(PlaceTable::exclusive(&columns));
            }
            let panels = (bytes(places.panels.0, shape)?, bytes(places.panels.1, shape)?);
            Ok(PlaceTable::sum(&columns, panels))
        }
        _ if !is_whole => Err(Unwritable::Extent),
        PostMap::Swizzle(swizzle) if places.are_disjoint() => {
            for place in &places.bits {
                let bytes = swizzled(swizzle, *place, shape)?;
                columns.push(bytes).map_err(|_| Unwritable::Size)?;
            }
            Ok(PlaceTable::exclusive(&columns))
        }
        PostMap::Padding(padding) if places.are_disjoint() => {
            if padding.pads().iter().any(|pad| !pad.interval.is_power_of_two()) {
                return Err(Unwritable::Padding);
            }
            for place in &places.bits {
                let bytes = padded(&padding, *place, shape)?;
                columns.push(bytes).map_err(|_| Unwritable::Size)?;
            }
            Ok(PlaceTable::sum(&columns, (0, 0)))
        }
        _ => Err(Unwritable::Both),
    }
}

/// Bytes of so many elements.
fn bytes(place: u64, shape: TileShape) -> Result<u32, Unwritable> {
    let bytes = place.checked_mul(u64::from(shape.bits / 8));
    bytes.and_then(|bytes| u32::try_from(bytes).ok()).ok_or(Unwritable::Order)
}

fn push_bytes(out: &mut ByteColumns, place: u64, shape: TileShape) -> Result<(), Unwritable> {
    out.push(bytes(place, shape)?).map_err(|_| Unwritable::Size)
}

/// The place of an element behind a swizzle, in bytes.
fn swizzled(swizzle: Swizzle, place: u64, shape: TileShape) -> Result<u32, Unwritable> {
    if swizzle.unit == Unit::Byte {
        let bytes = swizzle.apply(u64::from(bytes(place, shape)?));
        return u32::try_from(bytes).map_err(|_| Unwritable::Order);
    }
    bytes(swizzle.apply(place), shape)
}

/// The place of an element behind padding, in bytes.
fn padded(padding: &Padding, place: u64, shape: TileShape) -> Result<u32, Unwritable> {
    if padding.unit() == Unit::Byte {
        let bytes = padding.apply(u64::from(bytes(place, shape)?));
        let bytes = bytes.map_err(|_| Unwritable::Padding)?;
        return u32::try_from(bytes).map_err(|_| Unwritable::Order);
    }
    bytes(padding.apply(place).map_err(|_| Unwritable::Padding)?, shape)
}

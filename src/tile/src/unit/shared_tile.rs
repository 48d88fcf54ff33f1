//! Tiles in shared memory that a matrix unit reads by itself: the layouts that its swizzle modes
//! know, and the descriptor's word for a tile under a layout.

use crate::map::{SharedLayout, TileShape, log2_exact};
use crate::unit::{operand, swizzle};
use lanebook_layout::{PostMap, Swizzle, Unit};
use lanebook_tables::{Arch, Major, Tables};

/// How a matrix unit reads a tile as its operand.
#[derive(Copy, Clone, Debug)]
pub struct TileReader<'t> {
    /// The descriptor's name.
    pub descriptor: &'t str,
    /// Which operand: A or B.
    pub is_a: bool,
    /// It is the operand with rows and columns exchanged.
    pub transposed: bool,
    /// log2 of the outer extent and of the depth of what one instruction reads.
    pub block: (u8, u8),
    /// Whether either coordinate may be contiguous.
    pub either: bool,
}

/// How many layouts [`layout`] counts.
#[must_use]
pub fn layouts(tables: &Tables<'_>, arch: &Arch<'_>) -> usize {
    swizzle::modes(tables, arch).count().saturating_mul(2)
}

/// A layout that the swizzle modes know, by its number: widest span first (of equals the first is
/// kept), by rows and by columns. `None` if the tile is narrower than the span.
#[must_use]
pub fn layout(
    tables: &Tables<'_>,
    arch: &Arch<'_>,
    number: usize,
    shape: TileShape,
) -> Option<SharedLayout> {
    let modes = || swizzle::modes(tables, arch);
    let mode = modes().nth(modes().count().checked_sub(1)?.checked_sub(number / 2)?)?;
    let row_major = number.is_multiple_of(2);
    let span =
        if mode.xor.is_empty() { u32::from(mode.atom_bytes) } else { u32::from(mode.span_bytes) };
    let column_block = log2_exact(u64::from(span.checked_div(u32::from(shape.bits / 8))?))?;
    let inner = if row_major { shape.cols } else { shape.rows };
    let post = match mode.xor {
        [] => PostMap::None,
        [one] => PostMap::Swizzle(Swizzle::new(one.b, one.m, one.s, Unit::Byte).ok()?),
        _ => return None,
    };
    (column_block <= inner).then_some(SharedLayout {
        row_major,
        column_block: (column_block < inner).then_some(column_block),
        post,
        ..SharedLayout::BY_ROWS
    })
}

/// The descriptor's word for a tile at address 0, and whether the outer coordinate is contiguous;
/// `None` if no descriptor describes the layout.
#[inline(never)]
#[must_use]
pub fn word(
    tables: &Tables<'_>,
    arch: &Arch<'_>,
    reader: &TileReader<'_>,
    layout: &SharedLayout,
    shape: TileShape,
) -> Option<(u64, bool)> {
    let plain = SharedLayout { post: PostMap::None, ..*layout }.map(shape)?;
    let placed = layout.map(shape)?;
    let element = u32::from(shape.bits / 8);
    let outer_is_rows = reader.is_a != reader.transposed;
    let place = |outer: bool, bit: u8| {
        if outer == outer_is_rows { shape.cols.checked_add(bit) } else { Some(bit) }
    };
    // Blocks begin where the pattern does: what comes after them is not permuted.
    for (outer, bits) in [(false, reader.block.1), (true, reader.block.0)] {
        let total = if outer == outer_is_rows { shape.rows } else { shape.cols };
        for bit in bits..total {
            let number = usize::from(place(outer, bit)?);
            if plain.columns.get(number)? != placed.columns.get(number)? {
                return None;
            }
        }
    }
    let step = |outer: bool, bit: u8| {
        let column = plain.columns.get(usize::from(place(outer, bit)?))?;
        column.bytes.checked_div(element).map(u64::from)
    };
    let extent = |bits: u8| 1u32.checked_shl(u32::from(bits));
    let major = if reader.either { None } else { Some(Major::Depth) };
    let size = (extent(reader.block.0)?, extent(reader.block.1)?);
    let found = operand::describe_steps(
        tables,
        arch,
        reader.descriptor,
        &layout.post,
        (size, shape.bits),
        major,
        step,
    )
    .ok()?;
    let word = found.word(tables, arch, reader.descriptor, 0).ok()?.pack().ok()?;
    Some((word, found.tile.major != Major::Depth))
}

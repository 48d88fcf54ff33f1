//! Where the metadata of a structured-sparse operand lies: which two of four elements are stored.

use super::{LayoutBuilder, NOTHING, exact};
use crate::axis::AxisId;
use crate::error::{Error, Result};
use crate::layout::{Iter, Layout, position};
use crate::tirx::Count;

/// Metadata in tiles: numbers of a machine, see [`super::facts::METADATA_TILES`].
///
/// ```
/// # use lanebook_layout::tilelang::{MetadataAtom, facts};
/// let tiles: &[MetadataAtom] = facts::METADATA_TILES;
/// assert!(tiles.iter().any(|atom| atom.operand_bits == 16));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MetadataAtom {
    /// Bits of an element of the operand.
    pub operand_bits: u32,
    /// Elements of the operand's reduced dimension in one step.
    pub step: u32,
    /// The greatest number of steps of one tile.
    pub most_steps: u32,
    /// Digits of the row in a tile, fastest first, each with its place in memory (0: fastest).
    pub rows: &'static [(u32, u8)],
    /// Digits of the column in a tile, fastest first, each with its place in memory; repeats are
    /// steps.
    pub columns: &'static [(Count, u8)],
}

/// Metadata interleaved by columns: see [`super::facts::METADATA_COLUMNS`].
///
/// ```
/// # use lanebook_layout::tilelang::{MetadataColumns, facts};
/// let forms: &[MetadataColumns] = facts::METADATA_COLUMNS;
/// assert!(forms.iter().all(|form| form.interleave.is_power_of_two()));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MetadataColumns {
    /// Bits of a word of metadata.
    pub word_bits: u32,
    /// Rows of a group, within which rows are interleaved.
    pub group: u32,
    /// How many runs of rows a group interleaves; a power of two.
    pub interleave: u32,
}

/// Metadata of `rows` x `columns` words in tiles that follow each other down the columns; TileLang:
/// `make_cutlass_metadata_layout` with a block of `steps` steps.
///
/// ```
/// # use lanebook_layout::tilelang::{facts, metadata_tiles};
/// // Each word of metadata has a place of its own.
/// let map = metadata_tiles((128, 8), 16, 1, facts::METADATA_TILES).unwrap();
/// assert_eq!(map.view().is_injective(), Ok(true));
/// ```
///
/// # Errors
/// [`Error::BadElement`] if the table has no such operand; [`Error::NoVariant`] if a tile has not
/// that many steps; [`Error::BadShape`] if the words do not fill tiles (TileLang goes beyond the
/// end).
pub fn metadata_tiles(
    shape: (u32, u32),
    operand_bits: u32,
    steps: u32,
    atoms: &[MetadataAtom],
) -> Result<Layout> {
    let bits = Error::BadElement { bits: operand_bits };
    let atom = atoms.iter().find(|a| a.operand_bits == operand_bits);
    let atom = atom.ok_or(bits)?;
    if steps == 0 || steps > atom.most_steps {
        return Err(Error::NoVariant { found: steps });
    }
    let mut digits: heapless::Vec<(u32, u8), 8> = heapless::Vec::new();
    let full = Error::NoVariant { found: steps };
    for (extent, place) in atom.columns {
        digits.push((extent.value(steps)?, *place)).map_err(|_| full)?;
    }
    let columns = digits.len();
    for digit in atom.rows {
        digits.push(*digit).map_err(|_| full)?;
    }
    let product = |digits: &[(u32, u8)]| {
        digits.iter().try_fold(1u32, |p, d| p.checked_mul(d.0).ok_or(Error::Overflow))
    };
    let (column_digits, row_digits) = digits.split_at_checked(columns).ok_or(full)?;
    let (tile_columns, tile_rows) = (product(column_digits)?, product(row_digits)?);
    let tiles_down = exact(shape.0, tile_rows, 0)?;
    let tiles_across = exact(shape.1, tile_columns, 1)?;
    let tile = tile_rows.checked_mul(tile_columns).ok_or(Error::Overflow)?;
    let mut b = LayoutBuilder::new();
    for (own, tiles, stride) in [
        (column_digits, tiles_across, tile.checked_mul(tiles_down)),
        (row_digits, tiles_down, Some(tile)),
    ] {
        for (extent, place) in own {
            let below = digits.iter().filter(|d| d.1 < *place);
            let stride = below.fold(1u32, |p, d| p.saturating_mul(d.0));
            b.step(*extent, stride, AxisId::M)?;
        }
        b.step(tiles, stride.ok_or(Error::Overflow)?, AxisId::M)?;
        b.end()?;
    }
    b.finish(&NOTHING)
}

/// Metadata of `rows` x `columns` words, pairs of columns after each other; the row-major place of
/// a word in the same shape is its position (TileLang gives row and column of that place).
///
/// ```
/// # use lanebook_layout::tilelang::{facts, metadata_columns};
/// let form = facts::METADATA_COLUMNS[0];
/// let map = metadata_columns((form.group, 8), form.word_bits, facts::METADATA_COLUMNS).unwrap();
/// assert_eq!(map.view().is_injective(), Ok(true));
/// ```
///
/// # Errors
/// [`Error::BadElement`] if the table has no such word; [`Error::BadShape`] if rows do not fill
/// groups or columns are odd.
pub fn metadata_columns(
    shape: (u32, u32),
    word_bits: u32,
    forms: &[MetadataColumns],
) -> Result<Layout> {
    let bits = Error::BadElement { bits: word_bits };
    let form = forms.iter().find(|f| f.word_bits == word_bits);
    let form = form.ok_or(bits)?;
    let (rows, columns) = shape;
    let groups = exact(rows, form.group, 0)?;
    let pairs = exact(columns, 2, 1)?;
    let run = exact(form.group, form.interleave, 0)?;
    let twice = |n: u32| n.checked_mul(2).ok_or(Error::Overflow);
    let mut b = LayoutBuilder::new();
    b.step(2, 2, AxisId::M)?;
    b.push(Iter::new(pairs, i64::from(twice(rows)?), AxisId::M))?;
    b.end()?;
    // A row within its run, then the run, whose lowest bit changes places with the column's.
    b.step(run, twice(form.interleave)?, AxisId::M)?;
    b.step(2, 1, AxisId::M)?;
    b.step(form.interleave.wrapping_shr(1), 4, AxisId::M)?;
    b.step(groups, twice(form.group)?, AxisId::M)?;
    b.end()?;
    let out = b.finish(&NOTHING)?;
    if out.view().size_value()? != u64::from(rows).saturating_mul(u64::from(columns)) {
        return Err(Error::BadShape { dim: position(0), found: form.interleave, needed: 2 });
    }
    Ok(out)
}

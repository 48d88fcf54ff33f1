//! Maps of shared memory that a strided layout with a swizzle says exactly.
//!
//! Rows of a tile are cut into vectors; the vectors of a row are exchanged by the row's number
//! within a block of rows, so that a column of vectors meets different banks. The outputs are: the
//! leading dimensions, which column of blocks, which row of blocks, and the place in the block.
//! Extents may be any multiples of the block's.

use super::{LayoutBuilder, NOTHING, exact, maps, output};
use crate::axis::AxisId;
use crate::error::{Error, Result};
use crate::layout::{Iter, Layout, position};
use crate::post::{PostMap, Swizzle, Unit};

/// How rows of vectors are swizzled: numbers of a memory, see [`super::facts::ROW_SWIZZLE`].
///
/// ```
/// # use lanebook_layout::tilelang::{RowSwizzle, bank_swizzled, facts};
/// let atom: RowSwizzle = facts::ROW_SWIZZLE;
/// assert_eq!((atom.vector_bits, atom.rows), (128, 8));
/// assert!(bank_swizzled(&[8, 64], 16, atom.modes[0], &atom).is_ok());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RowSwizzle {
    /// Bits of a vector.
    pub vector_bits: u32,
    /// Rows of a block; a power of two.
    pub rows: u32,
    /// A number of rows in all that is allowed although it is less than a block.
    pub short_rows: u32,
    /// Vectors of a row for the modes, widest first.
    pub modes: &'static [u32],
}

/// How a tile of wide elements is swizzled: see [`super::facts::WIDE_SWIZZLE`].
///
/// ```
/// # use lanebook_layout::tilelang::{WideSwizzle, facts, wide_swizzled};
/// let atom: WideSwizzle = facts::WIDE_SWIZZLE;
/// let tile = wide_swizzled(&[atom.rows, atom.columns], true, &atom).unwrap();
/// assert_eq!(tile.view().is_injective(), Ok(true));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WideSwizzle {
    /// Bits of an element.
    pub element_bits: u32,
    /// Elements of a block's row.
    pub columns: u32,
    /// Rows of a block.
    pub rows: u32,
    /// Elements that are moved together if the reduced dimension is the row.
    pub outer_vector: u32,
}

/// What becomes of a tile whose rows do not fill a mode.
///
/// ```
/// # use lanebook_layout::tilelang::{Fallback, facts, operand_swizzled};
/// let atoms = (&facts::ROW_SWIZZLE, &facts::WIDE_SWIZZLE);
/// // Elements of 8 bits that are reduced along the rows are padded where that is allowed.
/// let padded = operand_swizzled(&[64, 64], 8, false, Fallback::Pad, atoms).unwrap();
/// let linear = operand_swizzled(&[64, 64], 8, false, Fallback::Linear, atoms).unwrap();
/// assert_ne!(padded, linear);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fallback {
    /// Rows are padded by a vector.
    Pad,
    /// The tile stays row-major; rows that do not fill vectors are refused.
    Linear,
}

/// The last two extents, and where they stand.
fn tile(shape: &[u32]) -> Result<(u32, u32, &[u32])> {
    match shape {
        [leading @ .., rows, columns] => Ok((*rows, *columns, leading)),
        _ => Err(Error::Rank { expected: 2, found: position(shape.len()) }),
    }
}

/// Blocks of `rows` x `columns` elements: the place in a block on axis `m`, the blocks' numbers on
/// axes of their own.
fn blocks(shape: &[u32], rows: u32, columns: u32, post: PostMap) -> Result<Layout> {
    let (all_rows, all_columns, leading) = tile(shape)?;
    let rank = shape.len();
    let outputs = rank.saturating_add(1);
    let mut b = LayoutBuilder::new();
    b.step(columns, 1, AxisId::M)?;
    let across = exact(all_columns, columns, rank.saturating_sub(1))?;
    b.step(across, 1, output(rank.saturating_sub(2), outputs)?)?;
    b.end()?;
    b.step(rows, columns, AxisId::M)?;
    let down = exact(all_rows, rows, rank.saturating_sub(2))?;
    b.step(down, 1, output(rank.saturating_sub(1), outputs)?)?;
    b.end()?;
    for (k, extent) in leading.iter().enumerate().rev() {
        b.step(*extent, 1, output(k, outputs)?)?;
        b.end()?;
    }
    let mut out = b.finish(&NOTHING)?;
    out.set_post(post)?;
    Ok(out)
}

/// A tile whose rows of `vectors` vectors are swizzled; TileLang: `make_full_bank_swizzled_layout`
/// (8 vectors), `make_half_bank_...` (4) and `make_quarter_bank_...` (2).
///
/// ```
/// # use lanebook_layout::tilelang::{bank_swizzled, facts, shape_of};
/// // Rows of 64 elements of 16 bits: eight vectors, all banks.
/// let tile = bank_swizzled(&[8, 64], 16, 8, &facts::ROW_SWIZZLE).unwrap();
/// assert_eq!(shape_of(&tile.view()).unwrap(), [8, 64]);
/// assert!(tile.view().post.swizzle().is_some_and(|s| s.b == 3));
/// ```
///
/// # Errors
/// [`Error::BadShape`] if rows or columns do not fill blocks; [`Error::BadElement`] if no power of
/// two of elements fills a vector; [`Error::NoVariant`] if there is no such mode; [`Error::Rank`]
/// below two dimensions.
pub fn bank_swizzled(
    shape: &[u32],
    element_bits: u32,
    vectors: u32,
    atom: &RowSwizzle,
) -> Result<Layout> {
    if !atom.modes.contains(&vectors) {
        return Err(Error::NoVariant { found: vectors });
    }
    let (all_rows, ..) = tile(shape)?;
    let rows = if all_rows == atom.short_rows { all_rows } else { atom.rows };
    let (vector, per_element) = vector(element_bits, atom)?;
    let log2 = |n: u32| u8::try_from(n.trailing_zeros()).map_err(|_| Error::Overflow);
    let distance = i8::try_from(log2(atom.rows)?).map_err(|_| Error::Overflow)?;
    let swizzle = Swizzle::new(log2(vectors)?, per_element, distance, Unit::Element)?;
    let columns = vector.checked_mul(vectors).ok_or(Error::Overflow)?;
    blocks(shape, rows, columns, PostMap::Swizzle(swizzle))
}

/// Elements of a vector and their logarithm.
fn vector(element_bits: u32, atom: &RowSwizzle) -> Result<(u32, u8)> {
    let bits = Error::BadElement { bits: element_bits };
    let divides = atom.vector_bits.checked_rem(element_bits) == Some(0);
    let vector = atom.vector_bits.checked_div(element_bits).ok_or(bits)?;
    if !divides || !vector.is_power_of_two() {
        return Err(bits);
    }
    let per_element = u8::try_from(vector.trailing_zeros()).map_err(|_| bits)?;
    Ok((vector, per_element))
}

/// A row-major tile whose rows are a vector longer if they would fill a multiple of two vectors.
///
/// ```
/// # use lanebook_layout::tilelang::{facts, padded};
/// # use lanebook_layout::AxisId;
/// // Rows of 64 elements of 16 bits, a vector of 8 behind each.
/// let tile = padded(&[8, 64], 16, &facts::ROW_SWIZZLE).unwrap();
/// assert_eq!(tile.view().offset_on(64, AxisId::M), Ok(72));
/// ```
///
/// # Errors
/// [`Error::BadElement`], [`Error::Rank`], [`Error::Overflow`].
pub fn padded(shape: &[u32], element_bits: u32, atom: &RowSwizzle) -> Result<Layout> {
    let (rows, columns, leading) = tile(shape)?;
    let bits = Error::BadElement { bits: element_bits };
    let vector = atom.vector_bits.checked_div(element_bits).ok_or(bits)?;
    let row_bits = columns.checked_mul(element_bits).ok_or(Error::Overflow)?;
    let pair = atom.vector_bits.checked_mul(2).ok_or(Error::Overflow)?;
    let pad = if row_bits.checked_rem(pair) == Some(0) { vector } else { 0 };
    let pitch = columns.checked_add(pad).ok_or(Error::Overflow)?;
    let mut b = LayoutBuilder::new();
    b.push(Iter::new(columns, 1, AxisId::M))?;
    b.end()?;
    b.push(Iter::new(rows, i64::from(pitch), AxisId::M))?;
    b.end()?;
    maps::expand(&b.finish(&NOTHING)?.view(), leading)
}

/// A tile of wide elements; `inner`: the reduced dimension is the column.
///
/// ```
/// # use lanebook_layout::tilelang::{facts, wide_swizzled};
/// let tile = wide_swizzled(&[16, 32], false, &facts::WIDE_SWIZZLE).unwrap();
/// assert_eq!(tile.view().size_value(), Ok(512));
/// ```
///
/// # Errors
/// [`Error::BadShape`] if rows or columns do not fill blocks; [`Error::Rank`].
pub fn wide_swizzled(shape: &[u32], inner: bool, atom: &WideSwizzle) -> Result<Layout> {
    let log2 = |n: u32| u8::try_from(n.trailing_zeros()).map_err(|_| Error::Overflow);
    let m = if inner { 0 } else { log2(atom.outer_vector)? };
    let distance = log2(atom.columns)?.saturating_sub(m);
    let distance = i8::try_from(distance).map_err(|_| Error::Overflow)?;
    let swizzle = Swizzle::new(log2(atom.rows)?, m, distance, Unit::Element)?;
    blocks(shape, atom.rows, atom.columns, PostMap::Swizzle(swizzle))
}

/// An operand of a matrix product in shared memory: the widest swizzle that its rows fill.
/// TileLang: `make_swizzled_layout` ([`Fallback::Pad`] with `allow_pad`),
/// `make_wgmma_swizzled_layout` and `make_tcgen05mma_swizzled_layout` ([`Fallback::Linear`]).
/// `inner`: the reduced dimension is the column.
///
/// With padding, 8-bit operands whose reduced dimension is the row are padded and never swizzled.
///
/// ```
/// # use lanebook_layout::tilelang::{Fallback, bank_swizzled, facts, operand_swizzled};
/// // A tile whose rows fill the widest mode gets that one.
/// let atoms = (&facts::ROW_SWIZZLE, &facts::WIDE_SWIZZLE);
/// let tile = operand_swizzled(&[64, 64], 16, true, Fallback::Linear, atoms).unwrap();
/// assert_eq!(tile, bank_swizzled(&[64, 64], 16, 8, &facts::ROW_SWIZZLE).unwrap());
/// ```
///
/// # Errors
/// [`Error::BadShape`] if the rows do not fill blocks or, without padding, vectors;
/// [`Error::BadElement`], [`Error::Rank`].
pub fn operand_swizzled(
    shape: &[u32],
    element_bits: u32,
    inner: bool,
    fallback: Fallback,
    atoms: (&RowSwizzle, &WideSwizzle),
) -> Result<Layout> {
    let (atom, wide) = atoms;
    let (rows, columns, leading) = tile(shape)?;
    let whole_blocks = rows.checked_rem(atom.rows) == Some(0);
    if element_bits == wide.element_bits {
        if columns.checked_rem(wide.columns) == Some(0) {
            return wide_swizzled(shape, inner, wide);
        }
        return match (fallback, whole_blocks, atom.modes.last()) {
            (Fallback::Pad, ..) => padded(shape, element_bits, atom),
            (_, false, _) | (_, _, None) => row_major(rows, columns, leading),
            (_, true, Some(narrow)) => bank_swizzled(shape, element_bits, *narrow, atom),
        };
    }
    if fallback == Fallback::Pad && !inner && element_bits == 8 {
        return padded(shape, element_bits, atom);
    }
    let bits = Error::BadElement { bits: element_bits };
    let vector = atom.vector_bits.checked_div(element_bits).ok_or(bits)?;
    if fallback == Fallback::Pad || whole_blocks {
        for vectors in atom.modes {
            let width = vector.checked_mul(*vectors).ok_or(Error::Overflow)?;
            if columns.checked_rem(width) == Some(0) {
                return bank_swizzled(shape, element_bits, *vectors, atom);
            }
        }
    }
    if fallback == Fallback::Pad {
        return padded(shape, element_bits, atom);
    }
    exact(columns, vector, shape.len().saturating_sub(1))?;
    row_major(rows, columns, leading)
}

/// A row-major tile under its leading dimensions.
fn row_major(rows: u32, columns: u32, leading: &[u32]) -> Result<Layout> {
    maps::expand(&maps::linear(&[rows, columns])?.view(), leading)
}

//! Shared tiles of TMA and of warpgroup matrix instructions: rows of 32, 64 or 128 bytes, XORed in
//! eights of rows.

use super::bases::{Bases, REGISTER, ShapeBits, log2, matrix_order, power};
use super::few::Few;
use super::{EncodingError, EncodingField, MAX_RANK, NvmmaShared};

/// Rows of one swizzled tile, log2.
const TILE_ROWS: u8 = 3;
/// Bits of the XORed unit (16 bytes), log2.
const UNIT_BITS: u8 = 7;
/// Largest extent of a box in any dimension, log2: a larger tensor is a sequence of boxes.
const MAX_BOX: u8 = 8;

/// The bits of the encoding at `shape`.
#[inline(never)]
pub(super) fn bases(
    n: &NvmmaShared,
    shape: &ShapeBits,
    out: &mut Bases,
) -> Result<(), EncodingError> {
    shape.fits(EncodingField::Shape, usize::from(n.rank))?;
    let rank = shape.rank();
    let element = log2(EncodingField::ElementBitWidth, 0, u32::from(n.element_bits))?;
    let span = span(n)?;
    let own = shape.per_block(&n.cga)?;
    let contiguous = if n.transposed { 0 } else { rank.saturating_sub(1) };
    let swizzled = n.swizzle_bytes != 0;
    let padding = u8::from(n.fp4_padded);
    let needed = span.saturating_sub(element);
    let tile = copy_box(n, &own, contiguous, needed)?;
    // The contiguous dimension, then the others from the last to the first.
    let mut order: Few<u8, MAX_RANK> = Few::new();
    order.push(u8::try_from(contiguous).unwrap_or(u8::MAX))?;
    for d in matrix_order(rank, true)?.iter() {
        if usize::from(d) != contiguous {
            order.push(d)?;
        }
    }
    if !swizzled {
        out.begin(rank, standard(rank)?);
        for d in order.iter().map(usize::from) {
            out.extend(REGISTER, d, tile.get(d))?;
        }
        out.grow(&own)?;
        return out.combine(&n.cga, shape);
    }
    // Triton collapses the box to two dimensions between the last one and those before it, in which
    // the transposed tile has its columns; with rank 3 and more its rows are therefore not the
    // dimension next to the contiguous one.
    let last = tile.get(rank.saturating_sub(1));
    let before = tile.total().saturating_sub(last);
    let (rows, cols) = if n.transposed { (last, before) } else { (before, last) };
    if rows < TILE_ROWS {
        return Err(EncodingError::TooFewRows { needed: power(TILE_ROWS), found: power(rows) });
    }
    out.begin(rank, standard(rank)?);
    let split = |col: u32, row: u32| {
        let mut at = [0u32; MAX_RANK];
        let up = u32::from(cols);
        let mut rest = u64::from(row).checked_shl(up).unwrap_or(0) | u64::from(col);
        for d in order.iter().map(usize::from) {
            let bits = tile.get(d);
            if let Some(slot) = at.get_mut(d) {
                let part = rest & crate::linear::low_mask(bits);
                *slot = u32::try_from(part).unwrap_or(0);
            }
            rest = rest.checked_shr(u32::from(bits)).unwrap_or(0);
        }
        at
    };
    // Padding: of sixteen offsets eight are data, so column bit 3 of the memory is no column of the
    // tensor.
    let pack = |col: u32| {
        if !n.fp4_padded {
            return col;
        }
        let high = col.checked_shr(4).unwrap_or(0);
        high.checked_shl(3).unwrap_or(0) | col & 7
    };
    for bit in 0..needed {
        out.push(REGISTER, split(pack(power(bit)), 0))?;
    }
    // S<log2(span / 16 bytes), 4, 3> on bytes: the phase of a row, in units of 16 bytes.
    let unit = UNIT_BITS.saturating_sub(element);
    let phases = span.saturating_sub(UNIT_BITS);
    let per_phase = TILE_ROWS.saturating_sub(phases);
    for bit in 0..rows {
        let phase = bit.checked_sub(per_phase).filter(|p| *p < phases && bit < TILE_ROWS);
        let moved = phase.map_or(0, |p| power(p.saturating_add(unit)));
        out.push(REGISTER, split(pack(moved), power(bit)))?;
    }
    for bit in needed.saturating_sub(padding)..cols {
        out.push(REGISTER, split(power(bit), 0))?;
    }
    out.grow(&own)?;
    out.combine(&n.cga, shape)
}

/// The span of a row, in bits, log2.
fn span(n: &NvmmaShared) -> Result<u8, EncodingError> {
    match n.swizzle_bytes {
        0 => Ok(7),
        32 => Ok(8),
        64 => Ok(9),
        128 => Ok(10),
        other => Err(EncodingError::BadValue {
            field: EncodingField::SwizzlingByteWidth,
            value: u32::from(other),
        }),
    }
}

/// The box that one instruction moves of a block's tile, the padding of fp4 counted in and then
/// taken out; a swizzled row has `needed` elements, as log2.
fn copy_box(
    n: &NvmmaShared,
    own: &ShapeBits,
    contiguous: usize,
    needed: u8,
) -> Result<ShapeBits, EncodingError> {
    let padding = u8::from(n.fp4_padded);
    let mut tile = *own;
    let widened = tile.get(contiguous).saturating_add(padding);
    tile.set(contiguous, widened);
    for slot in &mut tile.of {
        *slot = (*slot).min(MAX_BOX);
    }
    if n.swizzle_bytes != 0 {
        let there = tile.get(contiguous);
        if there < needed {
            return Err(EncodingError::SpanTooShort {
                needed: power(needed.saturating_sub(padding)),
                found: power(there.saturating_sub(padding)),
            });
        }
        if own.rank() < 2 {
            return Err(EncodingError::SwizzleNeedsRows { rank: own.rank });
        }
        tile.set(contiguous, needed);
    }
    let packed = tile.get(contiguous).saturating_sub(padding);
    tile.set(contiguous, packed);
    Ok(tile)
}

/// First dimension first.
fn standard(rank: usize) -> Result<Few<u8, MAX_RANK>, EncodingError> {
    let mut out = matrix_order(rank, true)?;
    out.as_mut_slice().reverse();
    Ok(out)
}

//! Tensor memory: inputs are its lanes (rows, [`AxisId::TLANE`](crate::AxisId::TLANE)) and its
//! columns ([`AxisId::TCOL`](crate::AxisId::TCOL)). A zero column there is memory that the tensor
//! does not use, or a copy.

use super::bases::{Bases, ShapeBits, log2, matrix_order, power};
use super::{BlockRepOrder, Cga, CtaMode, EncodingError, EncodingField, MAX_RANK, TensorMemory};

const ROW: u8 = 0;
const COL: u8 = 1;

fn two_dimensions(shape: &[u32]) -> Result<ShapeBits, EncodingError> {
    let bits = ShapeBits::new(shape)?;
    bits.fits(EncodingField::Shape, 2).map_err(|_| EncodingError::Rank {
        field: EncodingField::Shape,
        expected: 2,
        found: bits.rank,
    })?;
    Ok(bits)
}

/// The tile of `memory`, repeated along columns: down the rows first, then along the columns.
pub(super) fn bases(
    memory: &TensorMemory,
    shape: &[u32],
    out: &mut Bases,
) -> Result<ShapeBits, EncodingError> {
    let bits = two_dimensions(shape)?;
    let own = bits.per_block(&memory.cga)?;
    let m = log2(EncodingField::BlockM, 0, memory.block_m)?;
    if !matches!(memory.block_m, 64 | 128) {
        return Err(EncodingError::BadValue {
            field: EncodingField::BlockM,
            value: memory.block_m,
        });
    }
    let n = log2(EncodingField::BlockN, 0, memory.block_n)?.min(own.get(1));
    let stride = log2(EncodingField::ColStride, 0, memory.col_stride)?;
    if memory.fp4_padded && stride != 0 {
        return Err(EncodingError::Fp4ColStride { found: memory.col_stride });
    }
    let too_large = |dim: u8, block: u8, extent: u8| EncodingError::BlockTooLarge {
        dim,
        block: power(block),
        extent: power(extent),
    };
    if m > own.get(0) {
        return Err(too_large(0, m, own.get(0)));
    }
    out.begin(2, matrix_order(2, true)?);
    if memory.cta_mode != CtaMode::TwoRhs {
        out.copies(COL, stride)?;
        // Padding: of two columns one holds data.
        out.copies(COL, u8::from(memory.fp4_padded))?;
    }
    match (memory.cta_mode, memory.block_m) {
        (CtaMode::TwoLhs, _) => {
            out.extend(ROW, 0, m)?;
            out.extend(COL, 1, n)?;
            out.copies(ROW, 1)?;
        }
        (CtaMode::TwoRhs, _) => {
            let half = n.checked_sub(1).ok_or(too_large(1, 1, n))?;
            out.extend(ROW, 0, m)?;
            out.extend(COL, 1, half)?;
            out.extend(ROW, 1, 1)?;
        }
        (CtaMode::Default, 64) if !memory.two_ctas => {
            // Sixteen lanes of each quarter: the other sixteen take the next tile, below if there
            // is one, else beside.
            out.extend(ROW, 0, 4)?;
            out.extend(COL, 1, n)?;
            let mut next = [0u32; MAX_RANK];
            if own.get(0) > m {
                next = [power(m), 0, 0, 0, 0, 0, 0, 0];
            } else if own.get(1) > n {
                next = [0, power(n), 0, 0, 0, 0, 0, 0];
            }
            out.push(ROW, next)?;
            out.push(ROW, [16, 0, 0, 0, 0, 0, 0, 0])?;
            out.push(ROW, [32, 0, 0, 0, 0, 0, 0, 0])?;
        }
        _ => {
            out.extend(ROW, 0, m)?;
            let turned = memory.two_ctas && memory.block_m == 64;
            let (left, lanes) =
                if turned { (n.checked_sub(1).ok_or(too_large(1, 1, n))?, 1) } else { (n, 0) };
            out.extend(COL, 1, left)?;
            out.extend(ROW, 1, lanes)?;
        }
    }
    for (dim, input) in [(0usize, COL), (1, COL)] {
        let rest = own.get(dim).checked_sub(out.bits.get(dim)).ok_or(too_large(
            u8::try_from(dim).unwrap_or(u8::MAX),
            out.bits.get(dim),
            own.get(dim),
        ))?;
        out.extend(input, dim, rest)?;
    }
    on_top(out, &memory.cga)?;
    Ok(out.bits)
}

/// Scale factors: 32 rows copied to the four quarters, four columns, the rest of a block's 128
/// rows, then further blocks in their order.
pub(super) fn scales(
    cga: &Cga,
    order: BlockRepOrder,
    shape: &[u32],
    out: &mut Bases,
) -> Result<ShapeBits, EncodingError> {
    let bits = two_dimensions(shape)?;
    let own = bits.per_block(cga)?;
    out.begin(2, matrix_order(2, true)?);
    out.extend(ROW, 0, 5)?;
    out.copies(ROW, 2)?;
    out.extend(COL, 1, 2)?;
    // Of fewer rows there is half a block.
    out.extend(COL, 0, own.get(0).saturating_sub(5).clamp(1, 2))?;
    let order = match order {
        BlockRepOrder::MnThenK => [0, 1],
        BlockRepOrder::KThenMn => [1, 0],
    };
    for dim in order {
        let rest = own.get(dim).saturating_sub(out.bits.get(dim));
        out.extend(COL, dim, rest)?;
    }
    out.shrink(&own, false);
    on_top(out, cga)?;
    Ok(bits)
}

/// The blocks of a cluster, whose bases count whole tensors of one block.
fn on_top(out: &mut Bases, cga: &Cga) -> Result<(), EncodingError> {
    let own = out.bits;
    for basis in cga.bases.as_slice() {
        let mut at = [0u32; MAX_RANK];
        for (slot, v) in at.iter_mut().zip(basis) {
            *slot = u32::from(*v);
        }
        out.on_top(super::bases::BLOCK, core::slice::from_ref(&at), &own)?;
    }
    Ok(())
}

//! Encodings of tensors in shared memory: swizzled, rotating, given bit by bit, and cut into
//! partitions.

use super::bases::{Bases, REGISTER, SHARED, ShapeBits, check_order, log2, power};
use super::distributed::unpacked;
use super::{Base, EncodingError, EncodingField, MAX_RANK, Partition, Swizzled, nvmma};
use crate::axis::AxisId;
use crate::linear::{Hw, Linear, Logical};

/// The input dimension that counts allocations of a partitioned encoding.
pub const PARTITION: AxisId = AxisId::BANK;

/// The bits of a shared encoding at `shape`, not partitioned.
pub(super) fn bases(base: &Base, shape: &ShapeBits, out: &mut Bases) -> Result<(), EncodingError> {
    match base {
        Base::Swizzled(s) => swizzled(s, shape, false, out),
        Base::Rotating(s) => swizzled(s, shape, true, out),
        Base::Nvmma(n) => nvmma::bases(n, shape, out),
        Base::SharedLinear(linear, _) => {
            covers(linear, shape)?;
            from_linear(linear, out)
        }
        Base::Padded(_) => Err(EncodingError::Padded),
        Base::Auto | Base::Coalesced => Err(EncodingError::Placeholder),
        _ => Err(EncodingError::WrongKind),
    }
}

/// The linear layout's outputs are the shape, and it reaches all of it.
pub(super) fn covers(linear: &Linear<Hw, Logical>, shape: &ShapeBits) -> Result<(), EncodingError> {
    same_shape(linear, shape)?;
    if linear.is_surjective() {
        return Ok(());
    }
    let bits = linear.outs().bits();
    Err(EncodingError::NotCovered { dim: 0, bits })
}

fn from_linear(linear: &Linear<Hw, Logical>, out: &mut Bases) -> Result<(), EncodingError> {
    unpacked(linear, &SHARED, super::bases::matrix_order(linear.outs().len(), true)?, out)
}

/// The linear layout's outputs are the shape.
pub(super) fn same_shape(
    linear: &Linear<Hw, Logical>,
    shape: &ShapeBits,
) -> Result<(), EncodingError> {
    shape.fits(EncodingField::Shape, linear.outs().len())?;
    for (d, (axis, bits)) in linear.outs().iter().enumerate() {
        if bits != shape.get(d) {
            return Err(EncodingError::Layout(crate::error::Error::DimBits {
                axis,
                expected: bits,
                found: shape.get(d),
            }));
        }
    }
    Ok(())
}

/// Columns and rows with an XOR of the column by the row's phase. Rotating: the phase of a row also
/// depends on the block of `perPhase * maxPhase` rows that it lies in.
#[inline(never)]
fn swizzled(
    s: &Swizzled,
    shape: &ShapeBits,
    rotating: bool,
    out: &mut Bases,
) -> Result<(), EncodingError> {
    shape.fits(EncodingField::Order, s.order.len())?;
    check_order(s.order.as_slice(), shape.rank())?;
    let own = shape.per_block(&s.cga)?;
    let (vec, per, most) = (
        log2(EncodingField::Vec, 0, s.vec)?,
        log2(EncodingField::PerPhase, 0, s.per_phase)?,
        log2(EncodingField::MaxPhase, 0, s.max_phase)?,
    );
    out.begin(shape.rank(), s.order);
    let mut dims = s.order.iter().map(usize::from);
    let (col, row) = (dims.next(), dims.next());
    if let Some(col) = col {
        out.extend(REGISTER, col, own.get(col))?;
    }
    if let (Some(col), Some(row)) = (col, row) {
        let cols = own.get(col);
        for bit in 0..own.get(row) {
            let mut phase = 0u32;
            // Row bits per..per+most number the phase; rotating: those above number the block as
            // well.
            if let Some(p) = bit.checked_sub(per).filter(|p| *p < most) {
                phase |= power(p);
            }
            let above = bit.checked_sub(per.saturating_add(most));
            if let (true, Some(p)) = (rotating, above.filter(|p| *p < most)) {
                phase |= power(p);
            }
            let moved = phase.checked_shl(u32::from(vec)).unwrap_or(0);
            let moved = moved & power(cols).wrapping_sub(1);
            let mut at = [0u32; MAX_RANK];
            if let Some(slot) = at.get_mut(row) {
                *slot = power(bit);
            }
            if let Some(slot) = at.get_mut(col) {
                *slot = moved;
            }
            out.push(REGISTER, at)?;
        }
    }
    for dim in dims {
        out.extend(REGISTER, dim, own.get(dim))?;
    }
    out.combine(&s.cga, shape)
}

/// The labels of a partitioned encoding's inputs.
pub(super) const PARTITIONED: [AxisId; 4] = [AxisId::M, PARTITION, AxisId::M, AxisId::BLOCK];

/// Pieces along one dimension, dealt round robin to separate allocations: inputs `offset`,
/// [`PARTITION`], `block`.
pub(super) fn partitioned(
    base: &Base,
    partition: &Partition,
    shape: &[u32],
    out: &mut Bases,
) -> Result<ShapeBits, EncodingError> {
    let bits = ShapeBits::new(shape)?;
    let dim = usize::from(partition.dim);
    if dim >= bits.rank() {
        return Err(EncodingError::BadValue {
            field: EncodingField::Dim,
            value: u32::from(partition.dim),
        });
    }
    let parts = log2(EncodingField::Partitions, 0, partition.partitions)?;
    let groups = log2(EncodingField::Partitions, 1, partition.groups)?;
    let whole = bits.get(dim);
    let piece = whole.checked_sub(parts.saturating_add(groups)).ok_or(EncodingError::BadValue {
        field: EncodingField::Partitions,
        value: power(parts.saturating_add(groups)),
    })?;
    let mut inner = bits;
    inner.set(dim, piece);
    match base {
        Base::Padded(p) => {
            same_shape(&p.linear, &inner)?;
            from_linear(&p.linear, out)?;
        }
        base => bases(base, &inner, out)?,
    }
    out.bits = inner;
    out.extend(1, dim, parts)?;
    out.extend(REGISTER, dim, groups)?;
    Ok(bits)
}

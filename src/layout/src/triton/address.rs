//! Byte addresses of the elements of a shared tensor, padded ones included.

use super::bases::{ShapeBits, width};
use super::shared::same_shape;
use super::{Base, Encoding, EncodingError, EncodingField, MAX_INTERVALS, NoTiles, to_linear};
use crate::axis::AxisId;
use crate::linear::{Hw, Linear, Logical, MAX_BITS};

/// Where each element of one block's shared tensor is: a map by bits, then padding.
///
/// ```
/// use lanebook_layout::notation::ttg;
/// use lanebook_layout::triton::address::Addresses;
///
/// let padded = ttg::parse("#ttg.padded_shared<[64:+8] {order = [1, 0], shape = [64, 64]}>").unwrap();
/// let tile = Addresses::new(&padded, &[64, 64], 16).unwrap();
/// assert!(tile.is_padded());
/// assert_eq!(tile.padded(64), 72);
/// ```
///
/// ```
/// # use lanebook_layout::notation::ttg;
/// # use lanebook_layout::triton::address::Addresses;
/// let padded = ttg::parse("#ttg.padded_shared<[64:+8] {order = [1, 0], shape = [64, 64]}>").unwrap();
/// let tile = Addresses::new(&padded, &[64, 64], 16).unwrap();
/// // Row 1 begins 72 elements on; the last row has no padding behind it.
/// assert_eq!((tile.element(&[1, 0]), tile.byte(&[1, 0])), (Ok(72), Ok(144)));
/// assert_eq!(tile.element_packed(1), 72);
/// assert_eq!((tile.bytes(), tile.element_bits(), tile.pads()[0]), ((64 * 64 + 63 * 8) * 2, 16, (64, 8)));
/// assert!(tile.offsets().is_bijective() && tile.element(&[64, 0]).is_err());
/// ```
#[derive(Clone, Debug)]
pub struct Addresses {
    /// From the tensor's dimensions to the offset in elements.
    offsets: Linear<Logical, Hw>,
    pads: [(u32, u32); MAX_INTERVALS],
    element_bits: u16,
    shape: Bits2,
}

/// Extents, log2, with their number.
type Bits2 = ([u8; super::MAX_RANK], u8);

impl Addresses {
    /// The addresses of `encoding` at `shape`, elements of `element_bits` bits.
    ///
    /// # Errors
    /// [`EncodingError::WrongKind`] unless it is a shared encoding; those of [`to_linear`].
    pub fn new(
        encoding: &Encoding,
        shape: &[u32],
        element_bits: u16,
    ) -> Result<Self, EncodingError> {
        if encoding.is_distributed() || encoding.partition.is_some() {
            return Err(EncodingError::WrongKind);
        }
        let bits = ShapeBits::new(shape)?;
        let mut pads = [(1u32, 0u32); MAX_INTERVALS];
        let linear = match &encoding.base {
            Base::Padded(p) => {
                same_shape(&p.linear, &bits)?;
                for (slot, pad) in pads.iter_mut().zip(p.pads.iter()) {
                    if pad.0 == 0 {
                        return Err(EncodingError::BadValue {
                            field: EncodingField::Interval,
                            value: 0,
                        });
                    }
                    *slot = pad;
                }
                p.linear.clone()
            }
            Base::TensorMemory(_) | Base::TensorMemoryScales(..) => {
                return Err(EncodingError::WrongKind);
            }
            _ => to_linear(encoding, shape, &NoTiles)?,
        };
        // Where several offsets hold one element (padded fp4), the lowest counts.
        let offsets = linear.pseudo_invert()?;
        Ok(Self { offsets, pads, element_bits, shape: (bits.of, bits.rank) })
    }

    /// The offset of an element in its block, in elements, padding included; coordinates beyond the
    /// shape are refused.
    ///
    /// # Errors
    /// [`EncodingError::Rank`], [`EncodingError::Layout`] with the coordinate out of range.
    pub fn element(&self, coords: &[u32]) -> Result<u64, EncodingError> {
        let (of, rank) = &self.shape;
        if coords.len() != usize::from(*rank) {
            return Err(EncodingError::Rank {
                field: EncodingField::Shape,
                expected: *rank,
                found: u8::try_from(coords.len()).unwrap_or(u8::MAX),
            });
        }
        let (mut packed, mut shift) = (0u64, 0u32);
        for (d, (coord, bits)) in coords.iter().zip(of).enumerate() {
            if width(*coord) > *bits {
                return Err(EncodingError::Layout(crate::error::Error::OutOfRange {
                    mode: u8::try_from(d).unwrap_or(u8::MAX),
                    coord: u64::from(*coord),
                    extent: 1u64.checked_shl(u32::from(*bits)).unwrap_or(0),
                }));
            }
            packed |= u64::from(*coord).checked_shl(shift).unwrap_or(0);
            shift = shift.saturating_add(u32::from(*bits));
        }
        let value = self.offsets.apply_packed(packed);
        let at = self.offsets.outs().extract(value, AxisId::M).unwrap_or(0);
        Ok(self.padded(at))
    }

    /// The same for packed coordinates: dimension 0 in the lowest bits, as in the linear form's
    /// output.
    #[must_use]
    pub fn element_packed(&self, coords: u64) -> u64 {
        let value = self.offsets.apply_packed(coords);
        let at = self.offsets.outs().extract(value, AxisId::M).unwrap_or(0);
        self.padded(at)
    }

    /// Bits of an element.
    #[must_use]
    pub const fn element_bits(&self) -> u16 {
        self.element_bits
    }

    /// The paddings, (interval, pad) in elements; unused ones have pad 0.
    #[must_use]
    pub const fn pads(&self) -> &[(u32, u32)] {
        &self.pads
    }

    /// Whether padding moves anything.
    #[must_use]
    pub fn is_padded(&self) -> bool {
        self.pads.iter().any(|p| p.1 != 0)
    }

    /// The byte of an element's first bit (elements below a byte share bytes).
    ///
    /// # Errors
    /// As [`Addresses::element`].
    pub fn byte(&self, coords: &[u32]) -> Result<u64, EncodingError> {
        let element = self.element(coords)?;
        Ok(element.saturating_mul(u64::from(self.element_bits)).checked_div(8).unwrap_or(0))
    }

    /// The offset `at` with its padding: the sum over all pairs of `(at div interval) * pad`.
    #[must_use]
    pub fn padded(&self, at: u64) -> u64 {
        self.pads.iter().fold(at, |sum, (interval, pad)| {
            let count = at.checked_div(u64::from(*interval)).unwrap_or(0);
            sum.saturating_add(count.saturating_mul(u64::from(*pad)))
        })
    }

    /// Bytes of the allocation: it ends with the last element, no padding after it.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let bits = self.offsets.outs().bits_of(AxisId::M);
        debug_assert!(usize::from(bits) <= MAX_BITS);
        let last = self.padded(crate::linear::low_mask(bits)).saturating_add(1);
        last.saturating_mul(u64::from(self.element_bits))
            .checked_add(7)
            .and_then(|b| b.checked_div(8))
            .unwrap_or(0)
    }

    /// The map by bits, before padding.
    #[must_use]
    pub const fn offsets(&self) -> &Linear<Logical, Hw> {
        &self.offsets
    }
}

//! The labelled dimensions on one side of a linear layout, and moving packed values between two
//! orders of them.

use super::low_mask;
use crate::axis::AxisId;
use crate::error::{Error, Limit, Result};

/// How many bits one side can have.
pub const MAX_BITS: usize = 64;
/// How many dimensions one side can have.
pub const MAX_DIMS: usize = 16;

/// Dimensions with their numbers of bits; the first has the lowest bits. Labels are distinct, at
/// most 64 bits in all.
///
/// ```
/// use lanebook_layout::{AxisId, Dims};
///
/// let dims = Dims::from_slice(&[(AxisId::REGISTER, 2), (AxisId::LANE, 5)]).unwrap();
/// assert_eq!((dims.bits(), dims.bits_of(AxisId::LANE)), (7, 5));
/// // Lane 3 of register 1, in one number: the register's bits are the low ones.
/// let packed = dims.insert(1, AxisId::REGISTER).unwrap() | dims.insert(3, AxisId::LANE).unwrap();
/// assert_eq!((packed, dims.extract(packed, AxisId::LANE)), (0b0001101, Some(3)));
/// ```
///
/// ```
/// use lanebook_layout::linear::{MAX_BITS, MAX_DIMS};
/// use lanebook_layout::{AxisId, Dims};
///
/// let mut dims = Dims::new();
/// assert!(dims.is_empty());
/// dims.push(AxisId::REGISTER, 2).unwrap();
/// dims.push(AxisId::LANE, 5).unwrap();
/// assert_eq!((dims.len(), dims.mask()), (2, 0b111_1111));
/// // The lane's bits begin above the register's; bit 3 of the whole is the lane's bit 1.
/// assert_eq!(dims.place(AxisId::LANE), Some((2, 5)));
/// assert_eq!(dims.owner(3), Some((AxisId::LANE, 1)));
/// let turned = dims.reordered(&[AxisId::LANE, AxisId::REGISTER]).unwrap();
/// assert_eq!(turned.iter().next(), Some((AxisId::LANE, 5)));
/// assert!(dims.push(AxisId::WARP, MAX_BITS as u8).is_err() && MAX_DIMS == 16);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dims {
    list: heapless::Vec<(AxisId, u8), MAX_DIMS, u8>,
}

impl Dims {
    /// No dimension.
    #[must_use]
    pub const fn new() -> Self {
        Self { list: heapless::Vec::new() }
    }

    /// One dimension.
    pub fn one(axis: AxisId, bits: u8) -> Result<Self> {
        Self::from_slice(&[(axis, bits)])
    }

    /// These dimensions, lowest first.
    pub fn from_slice(dims: &[(AxisId, u8)]) -> Result<Self> {
        let mut out = Self::new();
        for (axis, bits) in dims {
            out.push(*axis, *bits)?;
        }
        Ok(out)
    }

    /// Appends a dimension above the others.
    ///
    /// # Errors
    /// [`Error::NoDim`] if the label is there already; [`Error::Capacity`].
    pub fn push(&mut self, axis: AxisId, bits: u8) -> Result<()> {
        if self.place(axis).is_some() {
            return Err(Error::NoDim { axis });
        }
        if usize::from(self.bits()).saturating_add(usize::from(bits)) > MAX_BITS {
            return Err(Error::Capacity { limit: Limit::Bits, max: MAX_BITS as u32 });
        }
        let full = Error::Capacity { limit: Limit::Dims, max: MAX_DIMS as u32 };
        self.list.push((axis, bits)).map_err(|_| full)
    }

    /// The dimensions, lowest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (AxisId, u8)> + Clone + '_ {
        self.list.iter().copied()
    }

    /// How many dimensions there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is no dimension.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The bits of all dimensions together, at most 64.
    #[must_use]
    pub fn bits(&self) -> u8 {
        self.list.iter().fold(0u8, |sum, d| sum.saturating_add(d.1))
    }

    /// A mask of all bits.
    #[must_use]
    pub fn mask(&self) -> u64 {
        low_mask(self.bits())
    }

    /// The bits of a dimension, 0 if absent.
    #[must_use]
    pub fn bits_of(&self, axis: AxisId) -> u8 {
        self.place(axis).map_or(0, |p| p.1)
    }

    /// Lowest bit and number of bits of a dimension.
    #[must_use]
    pub fn place(&self, axis: AxisId) -> Option<(u8, u8)> {
        let mut shift = 0u8;
        for (a, bits) in self.iter() {
            if a == axis {
                return Some((shift, bits));
            }
            shift = shift.saturating_add(bits);
        }
        None
    }

    /// The part of a packed value that belongs to a dimension.
    #[must_use]
    pub fn extract(&self, packed: u64, axis: AxisId) -> Option<u64> {
        let (shift, bits) = self.place(axis)?;
        if bits == 0 {
            return Some(0);
        }
        Some(packed.wrapping_shr(u32::from(shift)) & low_mask(bits))
    }

    /// A packed value with `value` in a dimension and zero elsewhere; bits beyond the dimension are
    /// refused.
    pub fn insert(&self, value: u64, axis: AxisId) -> Result<u64> {
        let (shift, bits) = self.place(axis).ok_or(Error::NoDim { axis })?;
        if value & !low_mask(bits) != 0 {
            return Err(Error::DimBits { axis, expected: super::solve::width(value), found: bits });
        }
        Ok(if bits == 0 { 0 } else { value.wrapping_shl(u32::from(shift)) })
    }

    /// The dimension that holds packed bit `bit`, and the bit within it.
    #[must_use]
    pub fn owner(&self, bit: u8) -> Option<(AxisId, u8)> {
        let mut left = bit;
        for (a, bits) in self.iter() {
            if left < bits {
                return Some((a, left));
            }
            left = left.saturating_sub(bits);
        }
        None
    }

    /// The same dimensions in this order, which must name each once.
    pub fn reordered(&self, order: &[AxisId]) -> Result<Self> {
        let mut out = Self::new();
        for axis in order {
            let (_, bits) = self.place(*axis).ok_or(Error::NoDim { axis: *axis })?;
            out.push(*axis, bits)?;
        }
        match self.iter().find(|d| out.place(d.0).is_none()) {
            Some((axis, _)) => Err(Error::NoDim { axis }),
            None => Ok(out),
        }
    }
}

/// Moves packed values from one order of dimensions to another.
pub(super) struct Remap {
    parts: heapless::Vec<(u8, u8, u64), MAX_DIMS>,
    same: bool,
}

impl Remap {
    /// From `from` to `to`: every dimension of `from` with bits must be in `to` with at least as
    /// many.
    pub(super) fn new(from: &Dims, to: &Dims) -> Result<Self> {
        let mut parts = heapless::Vec::new();
        let mut shift = 0u8;
        let mut same = true;
        for (axis, bits) in from.iter() {
            if bits > 0 {
                let (target, room) = to.place(axis).ok_or(Error::NoDim { axis })?;
                if room < bits {
                    return Err(Error::DimBits { axis, expected: bits, found: room });
                }
                same &= target == shift;
                let _ = parts.push((shift, target, low_mask(bits)));
            }
            shift = shift.saturating_add(bits);
        }
        Ok(Self { parts, same })
    }

    #[inline]
    pub(super) fn apply(&self, packed: u64) -> u64 {
        if self.same {
            return packed;
        }
        self.parts.iter().fold(0, |sum, (from, to, mask)| {
            sum | (packed.wrapping_shr(u32::from(*from)) & mask).wrapping_shl(u32::from(*to))
        })
    }
}

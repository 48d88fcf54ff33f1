//! The leaves of a layout: a walk along an axis, and a constant on one.

use crate::axis::AxisId;
use crate::error::{Error, Result};
use crate::num::{Int, SymId, Syms};
use core::num::NonZeroU32;

/// A strided walk along one axis: `extent` steps of `stride`.
///
/// ```
/// use lanebook_layout::{AxisId, Iter};
///
/// let lanes = Iter::new(8, 4, AxisId::LANE);
/// assert_eq!((lanes.extent_value(), lanes.stride_value(), lanes.axis()), (Ok(8), Ok(4), AxisId::LANE));
/// assert!(Iter::new(1, 4, AxisId::LANE).is_unit());
/// ```
///
/// ```
/// use lanebook_layout::{AxisId, Int, Iter, SymNames, SymTable};
///
/// // 32 steps of 8 on the lanes; M steps of 64 in memory, where M is known at run time.
/// let it = Iter::new(32, 8, AxisId::LANE);
/// assert_eq!((it.extent(), it.stride(), it.axis()), (Int::known(32), Int::known(8), AxisId::LANE));
/// let m = SymTable::new().sym("M").unwrap();
/// let rows = Iter::symbolic(Int::sym(m), Int::known(64), AxisId::M).unwrap();
/// assert!(rows.extent_value().is_err());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Iter {
    stride: i64,
    extent: u32,
    stride_den: NonZeroU32,
    axis: AxisId,
    extent_syms: Syms,
    stride_syms: Syms,
}

const _: () = assert!(core::mem::size_of::<Iter>() <= 24);

impl Iter {
    /// An iter with known numbers.
    #[must_use]
    pub const fn new(extent: u32, stride: i64, axis: AxisId) -> Self {
        Self {
            stride,
            extent,
            stride_den: NonZeroU32::MIN,
            axis,
            extent_syms: Syms::NONE,
            stride_syms: Syms::NONE,
        }
    }

    /// An iter whose numbers may hold symbols. The extent's coefficient must fit 32 bits unsigned;
    /// only the stride may be a fraction.
    pub fn symbolic(extent: Int, stride: Int, axis: AxisId) -> Result<Self> {
        let coeff = u32::try_from(extent.coeff()).map_err(|_| Error::Overflow)?;
        if !extent.is_whole() {
            return Err(extent.needs_value(stride));
        }
        Ok(Self {
            stride: stride.coeff(),
            extent: coeff,
            stride_den: stride.den(),
            axis,
            extent_syms: extent.syms(),
            stride_syms: stride.syms(),
        })
    }

    /// The number of steps.
    #[must_use]
    pub const fn extent(&self) -> Int {
        Int::new(self.extent as i64, self.extent_syms)
    }

    /// The length of a step along the axis.
    #[must_use]
    pub const fn stride(&self) -> Int {
        Int::new(self.stride, self.stride_syms).over(self.stride_den)
    }

    /// The axis walked along.
    #[must_use]
    pub const fn axis(&self) -> AxisId {
        self.axis
    }

    /// The extent, if it is known.
    #[inline]
    pub fn extent_value(&self) -> Result<u32> {
        if self.extent_syms.is_none() {
            Ok(self.extent)
        } else {
            Err(self.extent().needs_value(Int::ONE))
        }
    }

    /// The stride, if it is a known integer.
    #[inline]
    pub fn stride_value(&self) -> Result<i64> {
        if self.stride_syms.is_none() && self.stride_den.get() == 1 {
            Ok(self.stride)
        } else {
            Err(self.stride().needs_value(Int::ONE))
        }
    }

    /// Extent and stride, if both are known integers and there is a first position.
    #[inline]
    pub(crate) fn known(&self) -> Option<(u32, i64)> {
        let known = self.extent > 0
            && self.extent_syms.is_none()
            && self.stride_syms.is_none()
            && self.stride_den.get() == 1;
        known.then_some((self.extent, self.stride))
    }

    /// Whether the extent is 1 for certain.
    #[must_use]
    pub const fn is_unit(&self) -> bool {
        self.extent == 1 && self.extent_syms.is_none()
    }

    pub(crate) fn substitute(&self, sym: SymId, value: i64) -> Result<Self> {
        Self::symbolic(
            self.extent().substitute(sym, value)?,
            self.stride().substitute(sym, value)?,
            self.axis,
        )
    }
}

/// A constant added on one axis.
///
/// ```
/// use lanebook_layout::{AxisId, Int, Offset, SymNames, SymTable};
///
/// let fixed = Offset::new(7, AxisId::LANE);
/// assert_eq!((fixed.value(), fixed.axis()), (Int::known(7), AxisId::LANE));
/// let k = SymTable::new().sym("K").unwrap();
/// assert_eq!(Offset::symbolic(Int::sym(k), AxisId::M).value().as_known(), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Offset {
    value: Int,
    axis: AxisId,
}

impl Offset {
    /// A known offset.
    #[must_use]
    pub const fn new(value: i64, axis: AxisId) -> Self {
        Self::symbolic(Int::known(value), axis)
    }

    /// An offset that may hold symbols.
    #[must_use]
    pub const fn symbolic(value: Int, axis: AxisId) -> Self {
        Self { value, axis }
    }

    /// What is added.
    #[must_use]
    pub const fn value(&self) -> Int {
        self.value
    }

    /// On which axis.
    #[must_use]
    pub const fn axis(&self) -> AxisId {
        self.axis
    }
}

/// A position as an error carries it.
pub(crate) fn position(k: usize) -> u8 {
    u8::try_from(k).unwrap_or(u8::MAX)
}

//! The post-map on the memory axis: an XOR swizzle, then interval padding.
//!
//! It acts on the position along [`crate::AxisId::M`] after shard, replica and offset have been
//! added, in the unit that it names; positions must not be negative. Swizzles follow the hardware:
//! bits `[M+S, M+S+B)` are XORed into `[M, M+B)`; for negative `S` bits `[M, M+B)` are XORed into
//! `[M+|S|, M+|S|+B)`. Padding is never XORed.

use crate::error::{Error, Limit, Result};

/// In what a swizzle or padding counts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Unit {
    /// Elements of the tensor (TIRx).
    Element,
    /// Bytes (hardware tables, TileAS triples).
    Byte,
    /// Whatever the layout's own positions count (CuTe).
    #[default]
    Codomain,
}

/// `Swizzle<B, M, S>`: an involution on non-negative positions. Build it with [`Swizzle::new`], or
/// as a literal and then [`Swizzle::check`].
///
/// ```
/// use lanebook_layout::{Swizzle, Unit};
///
/// // Bits 6 to 8 are exclusive-ored into bits 3 to 5.
/// let swizzle = Swizzle::new(3, 3, 3, Unit::Codomain).unwrap();
/// assert_eq!(swizzle.apply(0b010_000_000), 0b010_010_000);
/// assert_eq!(swizzle.apply(swizzle.apply(123)), 123);
/// ```
///
/// ```
/// use lanebook_layout::{Error, Swizzle, Unit};
///
/// let bytes = Swizzle::new(3, 4, 3, Unit::Codomain).unwrap();
/// assert_eq!((bytes.check(), bytes.period_bits()), (Ok(()), 10));
/// // The same on elements of 2 bytes.
/// let elements = bytes.rescaled(-1, Unit::Element).unwrap();
/// assert_eq!((elements.b, elements.m, elements.s), (3, 3, 3));
/// assert!(matches!(bytes.rescaled(-5, Unit::Element), Err(Error::BadSwizzle { .. })));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Swizzle {
    /// Number of bits that are XORed.
    pub b: u8,
    /// Number of low bits left alone.
    pub m: u8,
    /// Distance from target up to source; negative exchanges the two fields.
    pub s: i8,
    /// In what the bits count.
    pub unit: Unit,
}

impl Swizzle {
    /// A swizzle whose fields do not overlap: `|s| >= b` and `m + b + |s| <= 63`.
    pub const fn new(b: u8, m: u8, s: i8, unit: Unit) -> Result<Self> {
        let sw = Self { b, m, s, unit };
        match sw.check() {
            Ok(()) => Ok(sw),
            Err(e) => Err(e),
        }
    }

    /// Checks the bounds of [`Swizzle::new`].
    pub const fn check(self) -> Result<()> {
        let d = self.s.unsigned_abs();
        let top = (self.b as u16).saturating_add(self.m as u16).saturating_add(d as u16);
        if d < self.b || top > 63 {
            return Err(Error::BadSwizzle { b: self.b, m: self.m, s: self.s });
        }
        Ok(())
    }

    /// The swizzled position. A swizzle that fails [`Swizzle::check`] gives an unspecified number.
    #[must_use]
    pub const fn apply(self, x: u64) -> u64 {
        let mask = 1u64.wrapping_shl(self.b as u32).wrapping_sub(1);
        let d = self.s.unsigned_abs() as u32;
        let low = mask.wrapping_shl(self.m as u32);
        if self.s >= 0 { x ^ (x.wrapping_shr(d) & low) } else { x ^ (x & low).wrapping_shl(d) }
    }

    /// One past the highest bit that the swizzle reads or writes: it maps each aligned block of
    /// `2^bits` to itself.
    #[must_use]
    pub const fn period_bits(self) -> u32 {
        if self.b == 0 {
            0
        } else {
            (self.b as u32)
                .saturating_add(self.m as u32)
                .saturating_add(self.s.unsigned_abs() as u32)
        }
    }

    /// The same swizzle counted in units `2^shift` times as small (negative: larger), as recasting
    /// does: `S<3,3,3>` on 2-byte elements is `S<3,4,3>` on bytes, a shift of 1.
    pub const fn rescaled(self, shift: i8, unit: Unit) -> Result<Self> {
        match self.m.checked_add_signed(shift) {
            Some(m) => Self::new(self.b, m, self.s, unit),
            None => Err(Error::BadSwizzle { b: self.b, m: self.m, s: self.s }),
        }
    }
}

/// One interval padding: after every `interval` positions, `pad` are left out.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Pad {
    /// Positions between pads; at least 1.
    pub interval: u32,
    /// Positions left out.
    pub pad: u32,
}

/// How many interval paddings a layout can have.
pub const MAX_PADS: usize = 4;

/// Up to [`MAX_PADS`] interval paddings: `x + sum over pairs of (x div interval) * pad`, all from
/// the same `x`.
///
/// ```
/// use lanebook_layout::{Pad, Padding, Unit};
///
/// let padding = Padding::new(&[Pad { interval: 64, pad: 8 }], Unit::Codomain).unwrap();
/// assert_eq!((padding.apply(130), padding.undo(146)), (Ok(146), Some(130)));
/// // Positions 64 to 71 hold nothing.
/// assert_eq!(padding.undo(70), None);
/// ```
///
/// ```
/// use lanebook_layout::{MAX_PADS, Pad, Padding, PostMap, Unit};
///
/// let padding = Padding::new(&[Pad { interval: 64, pad: 8 }], Unit::Element).unwrap();
/// assert!(padding.pads().len() <= MAX_PADS && padding.unit() == Unit::Element);
/// let post = PostMap::Padding(padding);
/// assert!(!post.is_identity() && post.check().is_ok() && PostMap::None.is_identity());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Padding {
    pads: [Pad; MAX_PADS],
    len: u8,
    unit: Unit,
}

impl Padding {
    /// Paddings in the order given.
    pub const fn new(pads: &[Pad], unit: Unit) -> Result<Self> {
        const NONE: Pad = Pad { interval: 1, pad: 0 };
        let (all, len) = match pads {
            [] => ([NONE; MAX_PADS], 0),
            [a] => ([*a, NONE, NONE, NONE], 1),
            [a, b] => ([*a, *b, NONE, NONE], 2),
            [a, b, c] => ([*a, *b, *c, NONE], 3),
            [a, b, c, d] => ([*a, *b, *c, *d], 4),
            _ => {
                return Err(Error::Capacity { limit: Limit::Pads, max: MAX_PADS as u32 });
            }
        };
        let [a, b, c, d] = all;
        let pair = if a.interval == 0 {
            0
        } else if b.interval == 0 {
            1
        } else if c.interval == 0 {
            2
        } else if d.interval == 0 {
            3
        } else {
            return Ok(Self { pads: all, len, unit });
        };
        Err(Error::BadPadding { pair })
    }

    /// The pairs.
    #[must_use]
    pub fn pads(&self) -> &[Pad] {
        self.pads.get(..usize::from(self.len)).unwrap_or(&[])
    }

    /// In what the pairs count.
    #[must_use]
    pub const fn unit(&self) -> Unit {
        self.unit
    }

    /// The padded position.
    pub fn apply(&self, x: u64) -> Result<u64> {
        let mut y = x;
        for p in self.pads() {
            let runs = match p.interval.is_power_of_two() {
                true => x.wrapping_shr(p.interval.trailing_zeros()),
                false => {
                    x.checked_div(u64::from(p.interval)).ok_or(Error::BadPadding { pair: 0 })?
                }
            };
            let gap = runs.checked_mul(u64::from(p.pad)).ok_or(Error::Overflow)?;
            y = y.checked_add(gap).ok_or(Error::Overflow)?;
        }
        Ok(y)
    }

    /// The position whose padded position is `y`; `None` if padding leaves `y` out.
    ///
    /// The map is strictly increasing, so a search by halves decides, for any intervals, in 64
    /// steps at most.
    #[must_use]
    pub fn undo(&self, y: u64) -> Option<u64> {
        let (mut low, mut high) = (0u64, y);
        loop {
            let middle = low.midpoint(high);
            // Beyond 64 bits is beyond `y`.
            match self.apply(middle).map_or(core::cmp::Ordering::Greater, |at| at.cmp(&y)) {
                core::cmp::Ordering::Equal => return Some(middle),
                core::cmp::Ordering::Less => low = middle.checked_add(1)?,
                core::cmp::Ordering::Greater => high = middle.checked_sub(1)?,
            }
            if low > high {
                return None;
            }
        }
    }
}

/// What happens to the position on the memory axis after everything has been added.
///
/// ```
/// use lanebook_layout::{Pad, Padding, PostMap, Swizzle, Unit};
///
/// let swizzle = PostMap::Swizzle(Swizzle::new(3, 3, 3, Unit::Codomain).unwrap());
/// assert_eq!((swizzle.apply(64), swizzle.undo(72)), (Ok(72), Ok(Some(64))));
/// let padding = Padding::new(&[Pad { interval: 64, pad: 8 }], Unit::Codomain).unwrap();
/// assert_eq!(PostMap::Padding(padding).apply(64), Ok(72));
/// ```
///
/// ```
/// use lanebook_layout::{PostMap, Swizzle, Unit};
///
/// let none = PostMap::Swizzle(Swizzle::new(0, 4, 3, Unit::Codomain).unwrap());
/// assert!(none.is_identity() && none.check().is_ok());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum PostMap {
    /// Nothing.
    #[default]
    None,
    /// A swizzle.
    Swizzle(Swizzle),
    /// Interval padding.
    Padding(Padding),
    /// A swizzle, then interval padding.
    SwizzlePadding(Swizzle, Padding),
}

impl PostMap {
    /// Whether the map changes nothing, whatever its spelling.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        let flat = self.padding().is_none_or(|p| p.pads().iter().all(|p| p.pad == 0));
        flat && self.swizzle().is_none_or(|s| s.b == 0)
    }

    /// The swizzle, if any.
    #[must_use]
    pub const fn swizzle(&self) -> Option<Swizzle> {
        match self {
            Self::Swizzle(s) | Self::SwizzlePadding(s, _) => Some(*s),
            Self::None | Self::Padding(_) => None,
        }
    }

    /// The padding, if any.
    #[must_use]
    pub const fn padding(&self) -> Option<&Padding> {
        match self {
            Self::Padding(p) | Self::SwizzlePadding(_, p) => Some(p),
            Self::None | Self::Swizzle(_) => None,
        }
    }

    /// Checks the swizzle's fields (a [`Padding`] is checked when built).
    pub fn check(&self) -> Result<()> {
        self.swizzle().map_or(Ok(()), Swizzle::check)
    }

    /// The position after the map. Negative positions are refused unless the map is
    /// [`PostMap::None`].
    pub fn apply(&self, x: i64) -> Result<i64> {
        if matches!(self, Self::None) {
            return Ok(x);
        }
        let mut y = u64::try_from(x).map_err(|_| Error::NegativeOffset { offset: x })?;
        if let Some(s) = self.swizzle() {
            y = s.apply(y);
        }
        if let Some(p) = self.padding() {
            y = p.apply(y)?;
        }
        i64::try_from(y).map_err(|_| Error::Overflow)
    }

    /// The position that the map sends to `y`; `None` if there is none. Positions below 0 have one
    /// only under
    /// [`PostMap::None`].
    ///
    /// # Errors
    /// [`Error::BadSwizzle`] for a map that fails [`PostMap::check`].
    pub fn undo(&self, y: i64) -> Result<Option<i64>> {
        if matches!(self, Self::None) {
            return Ok(Some(y));
        }
        self.check()?;
        let mut x = u64::try_from(y).ok();
        if let Some(p) = self.padding() {
            x = x.and_then(|x| p.undo(x));
        }
        if let Some(s) = self.swizzle() {
            // A swizzle is its own inverse.
            x = x.map(|x| s.apply(x));
        }
        Ok(x.and_then(|x| i64::try_from(x).ok()))
    }
}

//! A physical coordinate: one position an axis.
//!
//! A [`Coord`] is reused from call to call: [`crate::LayoutRef::apply_flat`] clears it first. Axes
//! that a layout does not mention are absent and read as 0.

use crate::axis::AxisId;
use crate::error::{Error, Limit, Result};

/// How many different axes a coordinate can have.
pub const MAX_AXES: usize = 16;

/// Positions along axes, in order of first mention.
///
/// ```
/// use lanebook_layout::{AxisId, Coord};
///
/// let mut at = Coord::new();
/// at.add(AxisId::LANE, 3).unwrap();
/// at.add(AxisId::LANE, 4).unwrap();
/// assert_eq!((at.get(AxisId::LANE), at.get(AxisId::WARP)), (7, 0));
/// ```
///
/// ```
/// use lanebook_layout::{AxisId, Coord};
///
/// let mut at = Coord::new();
/// at.add(AxisId::LANE, 3).unwrap();
/// at.add(AxisId::REGISTER, 1).unwrap();
/// at.add(AxisId::LANE, 4).unwrap();
/// assert_eq!((at.get(AxisId::LANE), at.get(AxisId::WARP)), (7, 0));
/// assert_eq!(at.iter().count(), 2);
/// at.clear();
/// assert_eq!(at.get(AxisId::LANE), 0);
/// // As many axes as a position has at most.
/// assert_eq!(lanebook_layout::coord::MAX_AXES, 16);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coord {
    entries: heapless::Vec<(AxisId, i64), MAX_AXES>,
}

impl Coord {
    /// A coordinate with no axis.
    #[must_use]
    pub const fn new() -> Self {
        Self { entries: heapless::Vec::new() }
    }

    /// Removes all axes.
    #[inline]
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// The position on `axis`, 0 if absent.
    #[must_use]
    pub fn get(&self, axis: AxisId) -> i64 {
        self.entries.iter().find(|e| e.0 == axis).map_or(0, |e| e.1)
    }

    /// The axes with their positions, in order of first mention.
    pub fn iter(&self) -> impl Iterator<Item = (AxisId, i64)> + '_ {
        self.entries.iter().copied()
    }

    /// Adds `delta` on `axis`.
    #[inline]
    pub fn add(&mut self, axis: AxisId, delta: i64) -> Result<()> {
        if let Some(e) = self.entries.iter_mut().find(|e| e.0 == axis) {
            e.1 = e.1.checked_add(delta).ok_or(Error::Overflow)?;
            return Ok(());
        }
        let full = Error::Capacity { limit: Limit::Axes, max: MAX_AXES as u32 };
        self.entries.push((axis, delta)).map_err(|_| full)
    }

    /// Replaces the position on `axis` by `f` of it; nothing if the axis is absent.
    pub(crate) fn update(
        &mut self,
        axis: AxisId,
        f: impl FnOnce(i64) -> Result<i64>,
    ) -> Result<()> {
        if let Some(e) = self.entries.iter_mut().find(|e| e.0 == axis) {
            e.1 = f(e.1)?;
        }
        Ok(())
    }
}

//! Tiles whose extents are no powers of two, as panels of powers of two: a panel's elements are spread
//! over lanes, warps and registers bit by bit, and each lane has all panels one behind the other in
//! its registers.

use super::{NoDistribution, coordinate};
use crate::error::Why;
use crate::homes::{Distribution, ElementBit, PanelGrid};
use crate::value::Placed;
use lanebook_layout::{AxisId, Coord};

/// The largest power of two that divides a number, and what is left.
fn parts(extent: u32) -> (u32, u32) {
    let bits = extent.trailing_zeros();
    (1u32.checked_shl(bits).unwrap_or(0), extent.checked_shr(bits).unwrap_or(0))
}

/// The panels of a tile whose dimensions but the last are its rows; `None` where there are too many,
/// or they are no pieces of whole rows: only the slowest dimension of these may be a number of times
/// as long as a power of two.
pub(super) fn grid_of(extents: &[u32]) -> Option<PanelGrid> {
    let (last, others) = extents.split_last()?;
    let mut behind = others.iter().skip_while(|extent| **extent == 1).skip(1);
    if !behind.all(|extent| extent.is_power_of_two()) {
        return None;
    }
    let up = others.iter().map(|extent| parts(*extent).1).max().unwrap_or(1);
    Some(PanelGrid {
        rows: u8::try_from(up).ok()?,
        cols: u8::try_from(parts(*last).1).ok()?,
        by_rows: true,
        column_bits: u8::try_from(last.trailing_zeros()).ok()?,
        step: 0,
    })
}

/// Whether each digit of a layout is part of one power of two, or of one number of panels, of the
/// extents, the fastest first: what bits and panels add is then what each of them adds alone.
fn is_aligned(placed: &Placed, extents: impl Iterator<Item = u32>) -> bool {
    let pair = |extent| {
        let (power, odd) = parts(extent);
        [power, odd].into_iter()
    };
    let mut wanted = extents.flat_map(pair).map(u64::from).filter(|extent| *extent > 1);
    let mut left = 1u64;
    for iter in placed.layout.view().shard {
        let mut digit = iter.extent_value().map_or(0, u64::from);
        while digit > 1 {
            if left == 1 {
                let Some(next) = wanted.next() else { return false };
                left = next;
            }
            if left.checked_rem(digit) == Some(0) {
                left = left.checked_div(digit).unwrap_or(0);
                break;
            }
            if digit.checked_rem(left) != Some(0) {
                return false;
            }
            digit = digit.checked_div(left).unwrap_or(0);
            left = 1;
        }
        if digit == 0 {
            return false;
        }
    }
    left == 1 && wanted.next().is_none()
}

impl Distribution {
    /// The number in the tile, row by row, of the element that a bit of its number in the first panel
    /// adds.
    pub(super) fn number_of_bit(&self, bit: u32, extents: &[u32]) -> u64 {
        let columns = u32::from(self.panels.column_bits);
        match bit.checked_sub(columns) {
            None => 1u64.checked_shl(bit).unwrap_or(0),
            Some(row) => u64::from(extents.last().copied().unwrap_or(0)).wrapping_shl(row),
        }
    }

    /// How the panels of a layout follow each other, where the bits in one are known. `own` are the
    /// extents that the layout counts elements by, `extents` the tile's.
    #[inline(never)] // Of few layouts; what reads the others takes no stack for it.
    pub(super) fn of_panels(
        &mut self,
        placed: &Placed,
        own: &[u32],
        extents: &[u32],
    ) -> Result<(), NoDistribution> {
        let fastest_last = placed.elements.row_major;
        let dimension = |k: usize| {
            let at = if fastest_last { extents.len().checked_sub(k)?.checked_sub(1)? } else { k };
            extents.get(at).copied()
        };
        if !is_aligned(placed, (0..extents.len()).filter_map(dimension)) {
            return Err(NoDistribution::Extents);
        }
        let each = self.element_bits.checked_ilog2().unwrap_or(0);
        let above = |home: &ElementBit| match home {
            ElementBit::Bit(bit) => u32::from(*bit).saturating_add(1),
            _ => 0,
        };
        let [rows, cols] = self.panels().map(u64::from);
        let columns = u64::from(extents.last().copied().unwrap_or(0));
        let wide = 1u64.wrapping_shl(u32::from(self.panels.column_bits));
        let row_bits = u32::from(self.bits.saturating_sub(self.panels.column_bits));
        let high = columns.wrapping_shl(row_bits);
        let end = self.homes().iter().map(above).max().unwrap_or(0);
        // A panel of one element of a lane may have a register of its own.
        let steps = [each.max(end), if end == 0 { each.max(5) } else { end }];
        for (step, by_rows) in steps.into_iter().flat_map(|step| [(step, true), (step, false)]) {
            let size = 1u64.checked_shl(step).unwrap_or(0);
            let (down, along) = if by_rows { (cols, 1) } else { (1, rows) };
            let mut follows = true;
            for (number, element, many) in [(down, high, rows), (along, wide, cols)] {
                for index in 0..many {
                    let want = index.saturating_mul(number).saturating_mul(size);
                    let found = panel_at(placed, own, index.saturating_mul(element), each)?;
                    follows &= found == Some(want);
                }
            }
            if follows {
                self.panels.by_rows = by_rows;
                self.panels.step = u8::try_from(step).unwrap_or(u8::MAX);
                return Ok(());
            }
        }
        Err(NoDistribution::Extents)
    }
}

/// Where the element `number`, row by row, is in registers, in bits; `None` if lanes or warps differ.
fn panel_at(
    placed: &Placed,
    own: &[u32],
    number: u64,
    each: u32,
) -> Result<Option<u64>, NoDistribution> {
    let mut whole = [0u64; 32];
    let flat = placed.flat(coordinate(number, own, &mut whole)).ok_or(NoDistribution::Shape)?;
    let view = placed.layout.view();
    let mut at = Coord::new();
    view.apply_flat(flat, &mut at).map_err(Why::from)?;
    let mut sum = 0u64;
    for axis in &view.axes().map_err(Why::from)? {
        let position = u64::try_from(at.get(*axis)).map_err(|_| NoDistribution::Several)?;
        sum = match *axis {
            _ if position == 0 => sum,
            AxisId::BIT => sum.saturating_add(position),
            AxisId::REGISTER | AxisId::M => sum.saturating_add(position.wrapping_shl(each)),
            _ => return Ok(None),
        };
    }
    Ok(Some(sum))
}

//! Tiles whose extents are no powers of two, as panels of powers of two: a panel's elements are spread
//! over lanes, warps and registers bit by bit, and each lane has all panels in other registers.

use super::{NoDistribution, REGISTER_BITS, coordinate};
use crate::error::Why;
use crate::homes::{Distribution, ElementBit, MOST_BITS, PanelGrid};
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
        ..PanelGrid::default()
    })
}

/// Whether each digit of a layout is part of one power of two, or of one number of panels, of the
/// extents, the fastest first: what bits and panels add is then what each of them adds alone.
fn is_aligned(placed: &Placed, extents: impl Iterator<Item = u32>) -> bool {
    let pair = |extent| {
        let (power, odd) = parts(extent);
        [power, odd].into_iter()
    };
    placed.layout.view().is_grouped_by(extents.flat_map(pair).map(u64::from))
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

    /// From a layout that says where each element of a tile of panels is. `own` are the extents that
    /// the layout counts elements by, `extents` the tile's.
    ///
    /// Registers of panels may be written between those of one panel: here they follow each other, and
    /// [`Self::written_register`] says which is which.
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
        let mut strides = [0u64; MOST_BITS];
        for (bit, stride) in (0..u32::from(self.bits)).zip(&mut strides) {
            let number = self.number_of_bit(bit, extents);
            let (axis, position) = place_of(placed, own, number)?.ok_or(NoDistribution::Several)?;
            match in_registers(axis, position, each) {
                Some(bits) => *stride = bits,
                None if position.is_power_of_two() => {
                    let home = self.on_axis(axis, position.checked_ilog2().unwrap_or(0));
                    self.place(bit, home.ok_or(NoDistribution::Memory)?)?;
                }
                None => return Err(NoDistribution::Several),
            }
        }
        let [rows, cols] = self.panels().map(u64::from);
        let columns = u64::from(extents.last().copied().unwrap_or(0));
        let wide = 1u64.wrapping_shl(u32::from(self.panels.column_bits));
        let row_bits = u32::from(self.bits.saturating_sub(self.panels.column_bits));
        let down = panel_stride(placed, own, (rows, columns.wrapping_shl(row_bits)), each)?;
        let along = panel_stride(placed, own, (cols, wide), each)?;
        self.follow(&strides, (down, along))
    }

    /// Puts registers' digits one above the other, as their strides say: those of bits, and of panels
    /// along rows and columns.
    fn follow(
        &mut self,
        strides: &[u64; MOST_BITS],
        (down, along): (Option<u64>, Option<u64>),
    ) -> Result<(), NoDistribution> {
        let each = self.element_bits.checked_ilog2().unwrap_or(0);
        let register = REGISTER_BITS.checked_ilog2().unwrap_or(0).max(each);
        let least = strides.iter().copied().chain(down).chain(along).filter(|s| *s > 0).min();
        // Elements side by side, or one in each register.
        let alone = least == Some(1u64.wrapping_shl(register));
        let mut next = if alone { register } else { each };
        let mut want = 1u64.wrapping_shl(next);
        let [rows, cols] = self.panels().map(u64::from);
        let (mut down, mut along) = (down, along);
        let unit = 1u64.wrapping_shl(register);
        loop {
            let bit = (0u32..).zip(strides).find(|(_, stride)| **stride == want);
            let above = u8::try_from(next.saturating_sub(register)).unwrap_or(u8::MAX);
            let extent = match bit {
                Some((bit, _)) => {
                    let home = u8::try_from(next).map_err(|_| NoDistribution::Extents)?;
                    self.place(bit, ElementBit::Bit(home))?;
                    next = next.saturating_add(1);
                    2
                }
                None if along == Some(want) && want.checked_rem(unit) == Some(0) => {
                    self.panels.columns_above = above;
                    self.panels.by_rows = down.is_some() || rows == 1;
                    along = None;
                    cols
                }
                None if down == Some(want) && want.checked_rem(unit) == Some(0) => {
                    self.panels.rows_above = above;
                    down = None;
                    rows
                }
                None => break,
            };
            want = want.checked_mul(extent).ok_or(NoDistribution::Extents)?;
        }
        self.panels.step = u8::try_from(next).map_err(|_| NoDistribution::Extents)?;
        let all = !self.homes().contains(&ElementBit::Bit(u8::MAX));
        if all && down.is_none() && along.is_none() { Ok(()) } else { Err(NoDistribution::Extents) }
    }

    /// The register of the layout's that a register of panels that follow each other stands for.
    pub(super) fn written_panel_register(&self, register: u32) -> u32 {
        let [rows, cols] = self.panels().map(u32::from);
        let each = self.element_bits.checked_ilog2().unwrap_or(0);
        let unit = REGISTER_BITS.checked_ilog2().unwrap_or(0).max(each);
        let bits = u32::from(self.panels.step).saturating_sub(unit);
        let panel = register.checked_shr(bits).unwrap_or(0);
        let (inner, outer) = if self.panels.by_rows { (cols, rows) } else { (rows, cols) };
        let digits = [
            (panel.checked_rem(inner).unwrap_or(0), inner),
            (panel.checked_div(inner).unwrap_or(0), outer),
        ];
        let above = match self.panels.by_rows {
            true => [self.panels.columns_above, self.panels.rows_above],
            false => [self.panels.rows_above, self.panels.columns_above],
        };
        let (mut out, mut weight) = (0u32, 1u32);
        for bit in 0..=bits {
            for ((digit, extent), above) in digits.into_iter().zip(above) {
                if u32::from(above) == bit && extent > 1 {
                    out = out.saturating_add(digit.saturating_mul(weight));
                    weight = weight.saturating_mul(extent);
                }
            }
            if bit < bits {
                let own = register.checked_shr(bit).unwrap_or(0) & 1;
                out = out.saturating_add(own.saturating_mul(weight));
                weight = weight.saturating_mul(2);
            }
        }
        out
    }
}

/// A position on an axis in bits of registers; `None` of other axes.
fn in_registers(axis: AxisId, position: u64, each: u32) -> Option<u64> {
    match axis {
        AxisId::BIT => Some(position),
        AxisId::REGISTER | AxisId::M => position.checked_shl(each),
        _ => None,
    }
}

/// How far panels are from each other in registers, in bits: `many` of them, of which the second
/// begins with the element `first`. `None` of one alone.
fn panel_stride(
    placed: &Placed,
    own: &[u32],
    (many, first): (u64, u64),
    each: u32,
) -> Result<Option<u64>, NoDistribution> {
    let mut step = None;
    for index in 1..many {
        let number = index.saturating_mul(first);
        let (axis, position) = place_of(placed, own, number)?.ok_or(NoDistribution::Extents)?;
        let bits = in_registers(axis, position, each).ok_or(NoDistribution::Extents)?;
        let stride = *step.get_or_insert(bits);
        if index.checked_mul(stride) != Some(bits) {
            return Err(NoDistribution::Extents);
        }
    }
    Ok(step)
}

/// Where the element `number`, row by row, is: its axis, and the position there; `None` if it is on
/// several axes, or where the first element is.
fn place_of(
    placed: &Placed,
    own: &[u32],
    number: u64,
) -> Result<Option<(AxisId, u64)>, NoDistribution> {
    let mut whole = [0u64; 32];
    let flat = placed.flat(coordinate(number, own, &mut whole)).ok_or(NoDistribution::Shape)?;
    let view = placed.layout.view();
    let mut at = Coord::new();
    view.apply_flat(flat, &mut at).map_err(Why::from)?;
    let mut found = None;
    for axis in &view.axes().map_err(Why::from)? {
        let position = u64::try_from(at.get(*axis)).map_err(|_| NoDistribution::Several)?;
        if position == 0 {
            continue;
        }
        if found.is_some() {
            return Ok(None);
        }
        found = Some((*axis, position));
    }
    Ok(found)
}

//! Operands of instructions whose extents are no powers of two: which bit of a tile's registers a bit
//! of the instruction's stands for.

use crate::evaluator::power;
use lanebook_layout::{AxisId, LayoutRef};
use lanebook_tables::{Instance, Tables};
use lanebook_tile::product::Product;

/// One dimension of an operand: panels of the tile that an instance takes, how far apart they are in
/// the instruction's registers in bits, and how many of such groups an operand's tile has.
#[derive(Copy, Clone)]
struct RepeatAxis {
    panels: u32,
    step: u32,
    groups: u32,
}

/// A block of an operand's registers, maybe in several panels.
#[derive(Copy, Clone)]
pub(crate) struct RepeatTuple {
    rows: RepeatAxis,
    cols: RepeatAxis,
    /// Blocks in a panel.
    blocks: u32,
    /// Bits of the instruction's operand.
    bits: u32,
}

impl RepeatTuple {
    /// An operand by its number in the instruction, of which `bits` are all that it takes.
    pub(crate) fn of(
        tables: &Tables<'_>,
        product: &Product,
        number: u8,
        bits: u32,
    ) -> Option<Self> {
        let (s, (rm, rn, rk), (pm, pn, pk)) = (product.shape, product.repeats, product.panels);
        let (bm, bn, bk) = product.below.get();
        let dims = [(s.m, bm, rm, pm), (s.n, bn, rn, pn), (s.k, bk, rk, pk)];
        let (row, col) = match number {
            _ if number == s.a => (0usize, 2usize),
            _ if number == s.b => (2, 1),
            _ => (0, 1),
        };
        let ((extent, ..), (width, ..)) = (dims.get(row)?, dims.get(col)?);
        let whole = extent.is_power_of_two() && width.is_power_of_two();
        let atom = tables.atom(product.atom)?;
        let instance = atom.with_columns(s.n).filter(|_| !whole);
        let axis = |dim: usize, along_rows: bool| -> Option<RepeatAxis> {
            let (extent, below, _, groups) = *dims.get(dim)?;
            let panels = u32::from(extent).checked_shr(extent.trailing_zeros())?;
            let step = match &instance {
                Some(instance) if panels > 1 => apart(instance, number, s.c, below, along_rows)?,
                _ => 0,
            };
            Some(RepeatAxis { panels, step, groups: u32::from(groups) })
        };
        let ((.., high, _), (.., low, _)) = (dims.get(row)?, dims.get(col)?);
        let blocks = power(usize::from(*high).checked_add(usize::from(*low))?)?;
        Some(Self { rows: axis(row, true)?, cols: axis(col, false)?, blocks, bits })
    }

    /// The bit of the tile's registers that bit `bit` of block `block` is.
    pub(crate) fn tile_bit(&self, block: u32, bit: u32) -> Option<u32> {
        let (group, number) = (block.checked_div(self.blocks)?, block.checked_rem(self.blocks)?);
        let digit = |axis: RepeatAxis| match axis.step {
            0 => Some(0),
            step => bit.checked_div(step)?.checked_rem(axis.panels),
        };
        let row = group.checked_div(self.cols.groups)?.checked_mul(self.rows.panels)?;
        let col = group.checked_rem(self.cols.groups)?.checked_mul(self.cols.panels)?;
        let (row, col) = (row.checked_add(digit(self.rows)?)?, col.checked_add(digit(self.cols)?)?);
        let across = self.cols.groups.checked_mul(self.cols.panels)?;
        let panel = row.checked_mul(across)?.checked_add(col)?;
        // What is left of the bit is its place in the panel's own registers.
        let (first, second) = match self.rows.step > self.cols.step {
            true => (self.rows, self.cols),
            false => (self.cols, self.rows),
        };
        let inside = taken_out(taken_out(bit, first)?, second)?;
        let own = self.bits.checked_div(self.rows.panels.checked_mul(self.cols.panels)?)?;
        panel.checked_mul(self.blocks)?.checked_add(number)?.checked_mul(own)?.checked_add(inside)
    }

    /// The block, and the bit in it, that a bit of the tile's registers is: one of so many blocks.
    pub(crate) fn found(&self, tile_bit: u32, each: u32, blocks: u32) -> Option<(u32, u32)> {
        let (start, rest) = (
            tile_bit.checked_rem(each).and_then(|rest| tile_bit.checked_sub(rest))?,
            tile_bit % each.max(1),
        );
        let members = self.bits.checked_div(each)?;
        let mut at = 0u32;
        let all = blocks.checked_mul(members)?;
        while at < all {
            let (block, bit) =
                (at.checked_div(members)?, at.checked_rem(members)?.checked_mul(each)?);
            if self.tile_bit(block, bit) == Some(start) {
                return Some((block, bit.checked_add(rest)?));
            }
            at = at.checked_add(1)?;
        }
        None
    }
}

/// A bit's number without the digit that counts an axis' panels.
fn taken_out(bit: u32, axis: RepeatAxis) -> Option<u32> {
    if axis.step == 0 {
        return Some(bit);
    }
    let above = bit.checked_div(axis.step.checked_mul(axis.panels)?)?;
    above.checked_mul(axis.step)?.checked_add(bit.checked_rem(axis.step)?)
}

/// How many bits further the element `2^below` rows or columns on is, in the same lane.
fn apart(
    instance: &Instance<'_>,
    number: u8,
    sums: u8,
    below: u8,
    along_rows: bool,
) -> Option<u32> {
    let operands = instance.atom.operands;
    let laid_out = |number: u8| operands.get(usize::from(number)).filter(|o| o.layout.is_some());
    let operand = laid_out(number).or_else(|| laid_out(sums))?;
    let layout: &LayoutRef<'_> = operand.layout?;
    let by = u64::from(power(usize::from(below))?);
    let x = if along_rows { by.checked_mul(u64::from(operand.extents.1))? } else { by };
    let on = |x: u64, axis| layout.offset_on(x, axis).ok();
    let is_same = on(x, AxisId::LANE)? == on(0, AxisId::LANE)?;
    let step = on(x, AxisId::BIT)?.checked_sub(on(0, AxisId::BIT)?)?;
    u32::try_from(step).ok().filter(|step| is_same && *step > 0)
}

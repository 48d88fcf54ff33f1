//! Matrix products: how a table atom and a split over warps lay out the operands of a whole tile.

use crate::map::{Columns, Fragment, TileShape, log2_exact};
use crate::plan::Product;
use lanebook_layout::AxisId;
use lanebook_tables::{Atom, AtomId, Operand};

impl Product {
    /// Lays a tile out; `None` if the atom does not divide it, or its operands are not described bit by bit.
    ///
    /// `m`, `n`, `k` are the tile's extents, `warps` log2 of the warps along m and n.
    #[must_use]
    pub fn new(id: AtomId, atom: &Atom<'_>, tile: (u64, u64, u64), bits: (u16, u16, u16), warps: (u8, u8)) -> Option<Self> {
        let shape = atom.product()?;
        // Of a panel's bits the atom takes the lowest, warps the highest; what is left repeats.
        let repeat = |extent: u8, warps: u8, step: u16| -> Option<u8> { extent.checked_sub(warps)?.checked_sub(log2_exact(u64::from(step))?) };
        let (m, n, k) = tile;
        let (whole, across) = (TileShape::new(m, n, bits.2)?, TileShape::new(m, k, bits.0)?);
        let repeats = (repeat(whole.rows, warps.0, shape.m)?, repeat(whole.cols, warps.1, shape.n)?, repeat(across.cols, 0, shape.k)?);
        let panels = (whole.grid.rows, whole.grid.cols, across.grid.cols);
        let operand = |index: u8| atom.operands.get(usize::from(index));
        let (rm, rn, rk) = repeats;
        // Register bits after the atom's own: k first for A and B, so that one k step is a consecutive block, then m or n.
        let a = operand_fragment(operand(shape.a)?, TileShape::new(m, k, bits.0)?, (rm, rk), Order::ColumnsFirst, (Some(warps.0), Skip(warps.1)), true)?;
        let b = operand_fragment(operand(shape.b)?, TileShape::new(k, n, bits.1)?, (rk, rn), Order::RowsFirst, (Some(warps.1), Skip(warps.0)), false)?;
        let c = accumulator_fragment(operand(shape.c)?, TileShape::new(m, n, bits.2)?, (rm, rn), warps)?;
        Some(Self { atom: id, shape, warps, repeats, panels, a, b, c, cycles: atom.cost.cycles })
    }
}

/// Which repeats come first in the register order.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Order {
    RowsFirst,
    ColumnsFirst,
}

/// Warp bits that replicate the operand.
#[derive(Copy, Clone)]
struct Skip(u8);

/// The atom's own bits of an operand.
fn atom_bits(operand: &Operand<'_>, shape: TileShape) -> Option<(Fragment, u8, u8)> {
    let layout = operand.layout?;
    let rows = log2_exact(u64::from(operand.extents.0))?;
    let cols = log2_exact(u64::from(operand.extents.1))?;
    let element = log2_exact(u64::from(shape.bits))?;
    let mut register: [Option<u32>; 12] = [None; 12];
    let mut lane: [u32; 6] = [0; 6];
    let mut lane_bits = 0usize;
    let total = rows.checked_add(cols)?;
    let origin = |axis| layout.offset_on(0, axis).ok();
    for bit in 0..total {
        let x = 1u64.checked_shl(u32::from(bit))?;
        let e = if bit < cols { 1u32.checked_shl(u32::from(bit))? } else { shape.row_bit(bit.checked_sub(cols)?) };
        let on = |axis| layout.offset_on(x, axis).ok()?.checked_sub(origin(axis)?);
        let (l, r) = (on(AxisId::LANE)?, on(AxisId::BIT)?);
        match (l, r) {
            (l, 0) if l > 0 => {
                let k = usize::from(log2_exact(u64::try_from(l).ok()?)?);
                *lane.get_mut(k)? = e;
                lane_bits = lane_bits.max(k.checked_add(1)?);
            }
            (0, r) if r > 0 => {
                let k = log2_exact(u64::try_from(r).ok()?)?.checked_sub(element)?;
                *register.get_mut(usize::from(k))? = Some(e);
            }
            _ => return None,
        }
    }
    for iter in layout.replica {
        if iter.axis() == AxisId::LANE {
            let top = iter.stride_value().ok()?.checked_mul(i64::from(iter.extent_value().ok()?))?;
            lane_bits = lane_bits.max(usize::from(log2_exact(u64::try_from(top).ok()?)?));
        }
    }
    let mut out = Fragment::new(shape);
    for e in register.iter().map_while(|e| *e) {
        if !out.register.push(e) {
            return None;
        }
    }
    for &e in lane.get(..lane_bits)? {
        if !out.lane.push(e) {
            return None;
        }
    }
    Some((out, rows, cols))
}

fn push_bits(fragment: &mut Fragment, shape: TileShape, rows: bool, first: u8, count: u8) -> Option<()> {
    for k in 0..count {
        let bit = first.checked_add(k)?;
        let e = if rows { shape.row_bit(bit) } else { 1u32.checked_shl(u32::from(bit))? };
        if !fragment.register.push(e) {
            return None;
        }
    }
    Some(())
}

/// A or B: `split` says how many warp bits divide the operand's own dimension and how many replicate it; `m_first` says
/// whether the dividing bits are the low warp bits (A: warps along m are the low bits).
fn operand_fragment(operand: &Operand<'_>, shape: TileShape, repeats: (u8, u8), order: Order, split: (Option<u8>, Skip), is_a: bool) -> Option<Fragment> {
    let (mut out, rows, cols) = atom_bits(operand, shape)?;
    match order {
        Order::ColumnsFirst => {
            push_bits(&mut out, shape, false, cols, repeats.1)?;
            push_bits(&mut out, shape, true, rows, repeats.0)?;
        }
        Order::RowsFirst => {
            push_bits(&mut out, shape, true, rows, repeats.0)?;
            push_bits(&mut out, shape, false, cols, repeats.1)?;
        }
    }
    let own = split.0.unwrap_or(0);
    let first = if is_a { rows.checked_add(repeats.0)? } else { cols.checked_add(repeats.1)? };
    let push_own = |out: &mut Fragment| -> Option<()> {
        for k in 0..own {
            let bit = first.checked_add(k)?;
            let e = if is_a { shape.row_bit(bit) } else { 1u32.checked_shl(u32::from(bit))? };
            if !out.warp.push(e) {
                return None;
            }
        }
        Some(())
    };
    let push_copies = |out: &mut Fragment| -> Option<()> {
        for _ in 0..split.1.0 {
            if !out.warp.push(0) {
                return None;
            }
        }
        Some(())
    };
    if is_a {
        push_own(&mut out)?;
        push_copies(&mut out)?;
    } else {
        push_copies(&mut out)?;
        push_own(&mut out)?;
    }
    Some(out)
}

/// C and D: repeats along n first, then m; warps along m are the low bits.
fn accumulator_fragment(operand: &Operand<'_>, shape: TileShape, repeats: (u8, u8), warps: (u8, u8)) -> Option<Fragment> {
    let (mut out, rows, cols) = atom_bits(operand, shape)?;
    push_bits(&mut out, shape, false, cols, repeats.1)?;
    push_bits(&mut out, shape, true, rows, repeats.0)?;
    for k in 0..warps.0 {
        if !out.warp.push(shape.row_bit(rows.checked_add(repeats.0)?.checked_add(k)?)) {
            return None;
        }
    }
    for k in 0..warps.1 {
        if !out.warp.push(1u32.checked_shl(u32::from(cols.checked_add(repeats.1)?.checked_add(k)?))?) {
            return None;
        }
    }
    Some(out)
}

/// A blocked distribution of a panel: `vector` element bits a lane along the contiguous dimension, then lanes along it,
/// then lanes across, then warps across, the rest as registers. Where a panel has too few elements, lanes hold copies.
#[must_use]
pub fn blocked(shape: TileShape, vector: u8, wave: u8, warps: u8, row_major: bool) -> Option<Fragment> {
    let mut order: Columns<u32, { crate::map::MAX_BITS }> = Columns::new();
    let (inner, outer) = if row_major { (shape.cols, shape.rows) } else { (shape.rows, shape.cols) };
    for k in 0..inner {
        let e = if row_major { 1u32.checked_shl(u32::from(k))? } else { shape.row_bit(k) };
        if !order.push(e) {
            return None;
        }
    }
    for k in 0..outer {
        let e = if row_major { shape.row_bit(k) } else { 1u32.checked_shl(u32::from(k))? };
        if !order.push(e) {
            return None;
        }
    }
    let needed = vector.checked_add(wave)?.checked_add(warps)?;
    if vector > inner {
        return None;
    }
    let mut out = Fragment::new(shape);
    for (k, &e) in order.as_slice().iter().enumerate() {
        let k = u8::try_from(k).ok()?;
        let pushed = if k < vector {
            out.register.push(e)
        } else if k < vector.checked_add(wave)? {
            out.lane.push(e)
        } else if k < needed {
            out.warp.push(e)
        } else {
            out.register.push(e)
        };
        if !pushed {
            return None;
        }
    }
    while out.lane.len() < usize::from(wave) {
        if !out.lane.push(0) {
            return None;
        }
    }
    while out.warp.len() < usize::from(warps) {
        if !out.warp.push(0) {
            return None;
        }
    }
    Some(out)
}

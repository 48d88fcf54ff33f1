//! Matrix products: how a table atom and a split over warps lay out the operands of a whole tile.

use crate::map::{BitMatrix, Fragment, TileShape, log2_exact};
use crate::product::Product;
use crate::repeat_digits::{RepeatDigit, below_of, repeat_strides, shape_digits};
use lanebook_layout::AxisId;
use lanebook_tables::{Atom, AtomId, Instance};

impl Product {
    /// Lays a tile out; `None` if the atom does not divide it, or its operands are not described
    /// bit by bit.
    ///
    /// `m`, `n`, `k` are the tile's extents, `warps` log2 of the warps along m and n.
    #[must_use]
    pub fn new(
        id: AtomId,
        atom: &Atom<'_>,
        tile: (u64, u64, u64),
        bits: (u16, u16, u16),
        warps: (u8, u8),
    ) -> Option<Self> {
        Self::plain(id, atom, tile, bits, warps, false)
    }

    /// The same done by `2^replicated_warps` times as many warps, all of which hold and compute the same: for
    /// a tile that has too few instances for a group. `None` for what warps do together.
    #[must_use]
    pub fn repeated(mut self, replicated_warps: u8) -> Option<Self> {
        if replicated_warps > 0
            && (self.shared != [false; 2] || self.warpgroup > 0 || self.tensor.is_some())
        {
            return None;
        }
        self.replicated_warps = replicated_warps;
        let all = (0..replicated_warps)
            .all(|_| [&mut self.a, &mut self.b, &mut self.c].into_iter().all(|f| f.warp.push(0)));
        all.then_some(self)
    }

    /// The same as the transposed product of the operands transposed and exchanged. `warps`: along
    /// the tile's n and m.
    #[must_use]
    pub fn transposed(
        id: AtomId,
        atom: &Atom<'_>,
        tile: (u64, u64, u64),
        bits: (u16, u16, u16),
        warps: (u8, u8),
    ) -> Option<Self> {
        let ((m, n, k), (a, b, c)) = (tile, bits);
        let p = Self::plain(id, atom, (n, m, k), (b, a, c), warps, true)
            .filter(|p| p.shared == [false; 2])?;
        Some(Self {
            transposed: true,
            a: p.b.transposed(),
            b: p.a.transposed(),
            c: p.c.transposed(),
            ..p
        })
    }

    /// `rows_first`: instances along m come before those along n in the accumulator's registers.
    fn plain(
        id: AtomId,
        atom: &Atom<'_>,
        tile: (u64, u64, u64),
        bits: (u16, u16, u16),
        warps: (u8, u8),
        rows_first: bool,
    ) -> Option<Self> {
        let room = TileShape::new(tile.0, tile.1, bits.2)?.cols.checked_sub(warps.1)?;
        let instance = widest(atom, room)?;
        let shape =
            instance.shape().filter(|_| atom.product().is_some() || atom.scaled().is_some())?;
        let below = below_of(&instance, &shape)?;
        let [sm, sn, sk] = shape_digits(&shape, below)?;
        // Of a panel's bits the atom takes the lowest, warps the highest; what is left repeats.
        let repeat = |extent: u8, warps: u8, step: RepeatDigit| -> Option<u8> {
            extent.checked_sub(warps)?.checked_sub(step.bits)
        };
        let taken = |panels: u8, step: RepeatDigit| -> Option<u8> {
            let count = u8::try_from(step.count).ok()?;
            panels.checked_div(count).filter(|_| panels.checked_rem(count) == Some(0))
        };
        let (m, n, k) = tile;
        let (whole, across) = (TileShape::new(m, n, bits.2)?, TileShape::new(m, k, bits.0)?);
        let repeats = (
            repeat(whole.rows, warps.0, sm)?,
            repeat(whole.cols, warps.1, sn)?,
            repeat(across.cols, 0, sk)?,
        );
        let panels = (
            taken(whole.grid.rows, sm)?,
            taken(whole.grid.cols, sn)?,
            taken(across.grid.cols, sk)?,
        );
        let (rm, rn, rk) = repeats;
        let warpgroup = warpgroup(atom, shape.d)?;
        let own = |number: u8, tile: TileShape, extents: (RepeatDigit, RepeatDigit)| {
            atom_bits(&instance, number, tile, extents, warpgroup)
        };
        // Register bits after the atom's own: k first for A and B, so that one k step is a
        // consecutive block, then m or n.
        let (tile_a, tile_b, tile_c) = (
            TileShape::new(m, k, bits.0)?,
            TileShape::new(k, n, bits.1)?,
            TileShape::new(m, n, bits.2)?,
        );
        let a = operand_fragment(
            own(shape.a, tile_a, (sm, sk))?,
            tile_a,
            (rm, rk),
            RepeatOrder::ColumnsFirst,
            (Some(warps.0), Skip(warps.1)),
            true,
        )?;
        let b = operand_fragment(
            own(shape.b, tile_b, (sk, sn))?,
            tile_b,
            (rk, rn),
            RepeatOrder::RowsFirst,
            (Some(warps.1), Skip(warps.0)),
            false,
        )?;
        let c = accumulator_fragment(
            own(shape.c, tile_c, (sm, sn))?,
            tile_c,
            (rm, rn),
            warps,
            rows_first,
        )?;
        let shared = [shape.a, shape.b].map(|number| atom.shared(number).is_some());
        Some(Self {
            atom: id,
            shape,
            pairs: false,
            transposed: false,
            warps,
            replicated_warps: 0,
            warpgroup,
            repeats,
            panels,
            below,
            a,
            b,
            c,
            shared,
            tensor: None,
            tensor_a: None,
            cycles: atom.cost.cycles,
        })
    }
}

/// The instance of an atom with as many columns as fit into `2^room`; the only one, where columns
/// are no parameter.
#[doc(hidden)]
pub fn widest<'a>(atom: &'a Atom<'a>, room: u8) -> Option<Instance<'a>> {
    if !atom.params().any(|(_, vary)| vary.grows.1) {
        return Some(atom.usual());
    }
    let mut columns = 1u16.checked_shl(u32::from(room.min(15)))?;
    while columns > 0 {
        if let Some(instance) = atom.with_columns(columns) {
            return Some(instance);
        }
        columns /= 2;
    }
    None
}

/// log2 of the warps that work on one instance together, as its result is laid out.
#[doc(hidden)]
pub fn warpgroup(atom: &Atom<'_>, d: u8) -> Option<u8> {
    let layout = atom.operands.get(usize::from(d))?.layout?;
    let warps = layout
        .shard
        .iter()
        .filter(|it| it.axis() == AxisId::WARP)
        .try_fold(1u64, |n, it| n.checked_mul(u64::from(it.extent_value().ok()?)))?;
    log2_exact(warps)
}

/// Which repeats come first in the register order.
#[derive(Copy, Clone, PartialEq, Eq)]
#[doc(hidden)]
pub enum RepeatOrder {
    RowsFirst,
    ColumnsFirst,
}

/// Warp bits that replicate the operand.
#[derive(Copy, Clone)]
#[doc(hidden)]
pub struct Skip(pub u8);

/// The atom's own bits of an operand. One in shared memory has no bits in lanes and registers, and
/// is the same for all `warpgroup` warps.
#[doc(hidden)]
pub fn atom_bits(
    instance: &Instance<'_>,
    number: u8,
    shape: TileShape,
    extents: (RepeatDigit, RepeatDigit),
    warpgroup: u8,
) -> Option<(Fragment, u8, u8)> {
    let (rows, cols) = (extents.0.bits, extents.1.bits);
    let panels = u32::from(extents.0.count).checked_mul(u32::from(extents.1.count))?;
    let mut out = Fragment::new(shape);
    if instance.atom.shared(number).is_some() {
        if panels != 1 {
            return None;
        }
        return (0..warpgroup).all(|_| out.warp.push(0)).then_some((out, rows, cols));
    }
    // The table has the layout of the instance with the most columns: in a smaller one, rows are as
    // far apart.
    let operand = instance.atom.operands.get(usize::from(number))?;
    let layout = operand.layout?;
    let steps = repeat_strides(instance, number, extents)?;
    let element = log2_exact(u64::from(shape.bits))?;
    let mut register: [Option<u32>; 12] = [None; 12];
    let mut lane: [u32; 6] = [0; 6];
    let mut warp: [u32; 5] = [0; 5];
    let mut lane_bits = 0usize;
    let mut held = 0usize;
    let total = rows.checked_add(cols)?;
    const AXES: [AxisId; 3] = [AxisId::LANE, AxisId::BIT, AxisId::WARP];
    let [lane_0, bit_0, warp_0] = layout.offsets_on(0, AXES).ok()?;
    let bit_of = |n: i64| log2_exact(u64::try_from(n).ok()?);
    for bit in 0..total {
        let (x, e) = match bit.checked_sub(cols) {
            None => (u64::from(extents.1.weight(bit)?), 1u32.checked_shl(u32::from(bit))?),
            Some(row) => (
                u64::from(operand.extents.1).checked_mul(u64::from(extents.0.weight(row)?))?,
                shape.row_bit(row),
            ),
        };
        let [l, b, w] = layout.offsets_on(x, AXES).ok()?;
        match (l.checked_sub(lane_0)?, b.checked_sub(bit_0)?, w.checked_sub(warp_0)?) {
            (l, 0, 0) if l > 0 => {
                let k = usize::from(bit_of(l)?);
                *lane.get_mut(k)? = e;
                lane_bits = lane_bits.max(k.checked_add(1)?);
            }
            (0, r, 0) if r > 0 => {
                let r = steps.inside(u32::try_from(r).ok()?)?;
                let k = log2_exact(u64::from(r))?.checked_sub(element)?;
                *register.get_mut(usize::from(k))? = Some(e);
                held = held.checked_add(1)?;
            }
            (0, 0, w) if w > 0 => *warp.get_mut(usize::from(bit_of(w)?))? = e,
            _ => return None,
        }
    }
    for iter in layout.replica {
        if iter.axis() == AxisId::LANE {
            let top =
                iter.stride_value().ok()?.checked_mul(i64::from(iter.extent_value().ok()?))?;
            lane_bits = lane_bits.max(usize::from(bit_of(top)?));
        }
    }
    // Narrow elements may stand in the low part of a register each.
    let apart = usize::from(5u8.saturating_sub(element));
    out.unpacked =
        (held > 0 || panels > 1) && register.get(..apart)?.iter().all(Option::is_none) && apart > 0;
    let places = register.get(if out.unpacked { apart } else { 0 }..)?;
    let pushed =
        places.iter().map_while(|e| *e).all(|e| out.register.push(e)) && out.register.len() == held;
    let pushed = pushed && lane.get(..lane_bits)?.iter().all(|&e| out.lane.push(e));
    let pushed = pushed && warp.get(..usize::from(warpgroup))?.iter().all(|&e| out.warp.push(e));
    // Of panels, the instruction's registers are all that each of them has.
    let whole = panels == 1
        || u32::from(out.registers().checked_div(u16::try_from(out.shape.grid.count()).ok()?)?)
            .checked_mul(panels)
            == instance.registers(number).map(u32::from);
    (pushed && whole).then_some((out, rows, cols))
}

fn push_bits(
    fragment: &mut Fragment,
    shape: TileShape,
    rows: bool,
    first: u8,
    count: u8,
) -> Option<()> {
    for k in 0..count {
        let bit = first.checked_add(k)?;
        let e = if rows { shape.row_bit(bit) } else { 1u32.checked_shl(u32::from(bit))? };
        if !fragment.register.push(e) {
            return None;
        }
    }
    Some(())
}

/// A or B: `split` says how many warp bits divide the operand's own dimension and how many
/// replicate it; `m_first` says whether the dividing bits are the low warp bits (A: warps along m
/// are the low bits).
#[doc(hidden)]
pub fn operand_fragment(
    own: (Fragment, u8, u8),
    shape: TileShape,
    repeats: (u8, u8),
    order: RepeatOrder,
    split: (Option<u8>, Skip),
    is_a: bool,
) -> Option<Fragment> {
    let (mut out, rows, cols) = own;
    match order {
        RepeatOrder::ColumnsFirst => {
            push_bits(&mut out, shape, false, cols, repeats.1)?;
            push_bits(&mut out, shape, true, rows, repeats.0)?;
        }
        RepeatOrder::RowsFirst => {
            push_bits(&mut out, shape, true, rows, repeats.0)?;
            push_bits(&mut out, shape, false, cols, repeats.1)?;
        }
    }
    let divide = split.0.unwrap_or(0);
    let first = if is_a { rows.checked_add(repeats.0)? } else { cols.checked_add(repeats.1)? };
    let push_own = |out: &mut Fragment| -> Option<()> {
        for k in 0..divide {
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

/// C and D: repeats along n first, then m, or the other way round; warps along m are the low bits.
fn accumulator_fragment(
    own: (Fragment, u8, u8),
    shape: TileShape,
    repeats: (u8, u8),
    warps: (u8, u8),
    rows_first: bool,
) -> Option<Fragment> {
    let (mut out, rows, cols) = own;
    for along_rows in [rows_first, !rows_first] {
        let (first, count) = if along_rows { (rows, repeats.0) } else { (cols, repeats.1) };
        push_bits(&mut out, shape, along_rows, first, count)?;
    }
    for k in 0..warps.0 {
        if !out.warp.push(shape.row_bit(rows.checked_add(repeats.0)?.checked_add(k)?)) {
            return None;
        }
    }
    for k in 0..warps.1 {
        if !out
            .warp
            .push(1u32.checked_shl(u32::from(cols.checked_add(repeats.1)?.checked_add(k)?))?)
        {
            return None;
        }
    }
    Some(out)
}

/// A blocked distribution of a panel: `vector` element bits a lane along the contiguous dimension,
/// then lanes along it, then lanes across, then warps across, the rest as registers. Where a panel
/// has too few elements, lanes hold copies.
#[must_use]
pub fn blocked(
    shape: TileShape,
    vector: u8,
    wave: u8,
    warps: u8,
    row_major: bool,
) -> Option<Fragment> {
    blocks(shape, (vector, 0), wave, warps, row_major)
}

/// The same with a block of elements a lane: `2^along` along the contiguous dimension and
/// `2^across` lines of them, which stay in a lane.
#[must_use]
pub fn blocks(
    shape: TileShape,
    (along, across): (u8, u8),
    wave: u8,
    warps: u8,
    row_major: bool,
) -> Option<Fragment> {
    let mut order: BitMatrix<u32, { crate::map::MAX_BITS }> = BitMatrix::new();
    let (inner, outer) =
        if row_major { (shape.cols, shape.rows) } else { (shape.rows, shape.cols) };
    if along > inner || across > outer {
        return None;
    }
    let vector = along.checked_add(across)?;
    let parts =
        [(true, 0..along), (false, 0..across), (true, along..inner), (false, across..outer)];
    for (is_inner, bits) in parts {
        for k in bits {
            let e = if is_inner == row_major {
                1u32.checked_shl(u32::from(k))?
            } else {
                shape.row_bit(k)
            };
            if !order.push(e) {
                return None;
            }
        }
    }
    let needed = vector.checked_add(wave)?.checked_add(warps)?;
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

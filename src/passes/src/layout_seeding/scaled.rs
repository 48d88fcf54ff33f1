//! Block scales of a product: how an instruction wants them spread over lanes and registers.
//!
//! Which lane has the scale of which row and block, the tables say of the instruction's operand.
//! Beyond one instruction further blocks and then further rows are in further registers; warps that
//! share the rows of an operand have scales of their own, others the same ones. Lanes that an
//! instruction ignores have copies, or, where `rules/seeding.ron` says that texts fill them
//! (`fills`), the next rows.
use crate::layout_seeding::Workers;
use crate::layout_seeding::seeded_layouts::BitLayout;
use lanebook_layout::AxisId;
use lanebook_layout::triton::Few;
use lanebook_tables::{Atom, MatrixShape};
use lanebook_tile::map::log2_exact;

/// A scaled product and how its warps share it.
#[derive(Copy, Clone)]
pub(super) struct Scaled {
    /// Rows, columns and blocks along the depth.
    pub extents: [u32; 3],
    /// Warps along rows, along columns.
    pub split: (u32, u32),
    pub workers: Workers,
    /// Lanes that an instruction ignores have the next rows.
    pub fills: bool,
}

/// How the scales of both operands are spread.
pub(super) fn spreads(atom: &Atom<'_>, unit: &MatrixShape, of: &Scaled) -> Option<[BitLayout; 2]> {
    let [a, b] = atom.scaled()?;
    let blocks = unit.k.checked_div(atom.scaled_run()?)?;
    Some([
        spread(atom, a, (unit.m, blocks), false, of)?,
        spread(atom, b, (unit.n, blocks), true, of)?,
    ])
}

/// Of one operand, whose instruction has so many rows (of B: columns) and blocks.
#[inline(never)]
fn spread(
    atom: &Atom<'_>,
    number: u8,
    (rows, blocks): (u16, u16),
    right: bool,
    of: &Scaled,
) -> Option<BitLayout> {
    let layout = atom.operands.get(usize::from(number))?.layout?;
    let log2 = |number: u32| log2_exact(u64::from(number));
    let (own_rows, own_blocks) = (log2(u32::from(rows))?, log2(u32::from(blocks))?);
    let bits = [log2(if right { of.extents[1] } else { of.extents[0] })?, log2(of.extents[2])?];
    // A bit beyond the tile is a copy.
    let row =
        |bit: u8| if bit < bits[0] { BitLayout::bit(0, u32::from(bit)) } else { BitLayout::COPY };
    let mut out = BitLayout { bits, register: Few::new(), lane: Few::new(), warp: Few::new() };
    for _ in 0..log2(of.workers.lanes)? {
        out.lane.push(BitLayout::COPY).ok()?;
    }
    let mut place = |at: u32, bit: u8, register: &mut Few<u8, { BitLayout::MOST }>| -> Option<()> {
        let lane = u64::try_from(layout.offset_on(u64::from(at), AxisId::LANE).ok()?).ok()?;
        if lane == 0 {
            return register.push(bit).ok();
        }
        *out.lane.as_mut_slice().get_mut(usize::from(log2_exact(lane)?))? = bit;
        Some(())
    };
    // Elements are row-major: of A over (row, block), of B over (block, column).
    let (row_step, block_step) = if right { (1, u32::from(rows)) } else { (u32::from(blocks), 1) };
    let mut register = Few::new();
    for bit in 0..own_blocks {
        place(
            block_step.checked_shl(u32::from(bit))?,
            BitLayout::bit(1, u32::from(bit)),
            &mut register,
        )?;
    }
    for bit in 0..own_rows {
        place(row_step.checked_shl(u32::from(bit))?, row(bit), &mut register)?;
    }
    for bit in own_blocks..bits[1] {
        register.push(BitLayout::bit(1, u32::from(bit))).ok()?;
    }
    // Columns are the faster ones among warps.
    let mut next = own_rows;
    for (mine, count) in [(right, of.split.1), (!right, of.split.0)] {
        for _ in 0..log2(count)? {
            out.warp.push(if mine { row(next) } else { BitLayout::COPY }).ok()?;
            next = next.checked_add(u8::from(mine))?;
        }
    }
    let free = if of.fills { &mut *out.lane.as_mut_slice() } else { &mut [] };
    for lane in free.iter_mut().filter(|lane| **lane == BitLayout::COPY) {
        *lane = row(next);
        next = next.checked_add(1)?;
    }
    for bit in next..bits[0] {
        register.push(row(bit)).ok()?;
    }
    out.register = register;
    Some(out)
}

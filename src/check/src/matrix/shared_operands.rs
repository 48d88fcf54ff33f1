//! Operands in shared memory: what a matrix unit reads by a descriptor, against what the tile's
//! layout puts there.

use crate::evaluator::{Memory, panel_size, pick, power, row_col};
use crate::reader::{
    CoordinateWalks, FieldWord, descriptor_named, operand_tile, swizzle_named, swizzled,
};
use lanebook_ir::{Def, Op, Program, Value};
use lanebook_plan::{AllocPlan, InShared, Plan, ProductPlan};
use lanebook_tables::{FieldRole, Major, OpRole, SwizzleMode, Tables};
use lanebook_tile::map::Fragment;

/// What a descriptor's word says, read back from its bits.
pub(crate) struct ReadDescriptor<'p> {
    /// From (outer, depth) of an instance to elements from its start, without the swizzle.
    walks: CoordinateWalks,
    mode: &'p SwizzleMode<'p>,
    tile: &'p AllocPlan,
    transposed: bool,
    /// Rows of the operand are its outer coordinate (A).
    outer_is_rows: bool,
}

/// Reads a word back; `None` if it is no descriptor of this operand, the tile is not the operand's,
/// or something may write the tile between its load and the product.
pub(crate) fn described<'p>(
    tables: &Tables<'p>,
    program: &Program<'_, '_>,
    plan: &'p Plan<'_>,
    product: &ProductPlan,
    number: u8,
    given: &InShared,
) -> Option<ReadDescriptor<'p>> {
    let arch = tables.arch(plan.arch)?;
    let atom = tables.atom(product.product.atom)?;
    let shape = product.product.shape;
    let is_a = number == 0;
    let how = atom.shared(if is_a { shape.a } else { shape.b })?;
    let tile = plan.allocs.get(usize::from(given.alloc))?;
    let source = source(program, program.operand(product.op, usize::from(number))?)?;
    if source != (given.load, given.transposed)
        || program.operand(given.load, 0) != Some(tile.value)
        || !undisturbed(program, given.load, product.op)
    {
        return None;
    }
    let table = descriptor_named(tables, arch, how.descriptor)?;
    let word = FieldWord::unpack(table, given.word)?;
    let start = table.fields.iter().find(|f| f.role == FieldRole::Start)?;
    let field = table.fields.iter().find(|f| f.role == FieldRole::Swizzle)?;
    let mode = swizzle_named(tables, arch, word.word(field.name)?)?;
    // The tile begins where the pattern does.
    let shifted = table
        .fields
        .iter()
        .any(|f| matches!(f.role, FieldRole::Pattern(_)) && word.get(f.name) != Some(0));
    if shifted
        || word.get(start.name)? != 0
        || tile.align.checked_rem(u32::from(mode.repeat_bytes)) != Some(0)
        || tile.stages > 1
            && tile.stage_bytes().checked_rem(u32::from(mode.repeat_bytes)) != Some(0)
    {
        return None;
    }
    let major = if given.outer_major { Major::Outer } else { Major::Depth };
    // The instruction says which coordinate is contiguous, or its descriptor does.
    if given.outer_major && how.along.is_none() && atom.tensor().is_none() {
        return None;
    }
    let form = operand_tile(tables, arch, major, mode.name)?;
    let outer = u64::from(if is_a { shape.m } else { shape.n });
    let walks = CoordinateWalks::of(form, [outer, u64::from(shape.k)], tile.shape.bits, &word)?;
    Some(ReadDescriptor { walks, mode, tile, transposed: given.transposed, outer_is_rows: is_a })
}

/// The load that an operand comes from, and whether it is exchanged on the way.
fn source(program: &Program<'_, '_>, value: Value) -> Option<(Op, bool)> {
    let (mut value, mut transposed) = (value, false);
    loop {
        let Def::Result(op, _) = program.def(value) else { return None };
        match program.role(op) {
            OpRole::Load => return Some((op, transposed)),
            OpRole::Transpose => {
                transposed = !transposed;
                value = program.operand(op, 0)?;
            }
            _ => return None,
        }
    }
}

/// Whether no operation between two of one block can write memory.
pub(crate) fn undisturbed(program: &Program<'_, '_>, from: Op, to: Op) -> bool {
    let mut at = program.next(from);
    while let Some(op) = at.filter(|op| *op != to) {
        if matches!(
            program.role(op),
            OpRole::Copy
                | OpRole::Store
                | OpRole::Atomic
                | OpRole::For
                | OpRole::Alloc
                | OpRole::Yield
                | OpRole::Return
        ) {
            return false;
        }
        at = program.next(op);
    }
    at.is_some()
}

impl ReadDescriptor<'_> {
    /// The operand's element that the unit reads as (row, col) of block `block`; inside, `None` if
    /// the bytes there belong to another.
    pub(crate) fn at(
        &self,
        blocks: &Fragment,
        (row, col): (u64, u64),
        block: u32,
        warp: u32,
    ) -> Option<Option<(u32, u32)>> {
        let (start_row, start_col) = block_start(blocks, block, warp)?;
        let here = (
            start_row.checked_add(u32::try_from(row).ok()?)?,
            start_col.checked_add(u32::try_from(col).ok()?)?,
        );
        let place = |at: (u32, u32)| place(self.tile, self.transposed, at);
        // The descriptor's start is the block's; the pattern acts on addresses.
        let (outer, depth) = if self.outer_is_rows { (row, col) } else { (col, row) };
        let elements = self.walks.at(outer, depth)?;
        let bytes = elements.checked_mul(u64::from(self.tile.shape.bits / 8))?;
        let base = u64::from(self.tile.offset);
        let read = swizzled(
            self.mode,
            base.checked_add(place((start_row, start_col))?)?.checked_add(bytes)?,
        )?;
        let lies = base.checked_add(place(here)?)?;
        Some((read == lies).then_some(here))
    }
}

/// Where a block starts, in the operand.
pub(crate) fn block_start(blocks: &Fragment, block: u32, warp: u32) -> Option<(u32, u32)> {
    let size = power(blocks.register.as_slice().len())?;
    let (panel, inside) = (block.checked_div(size)?, block.checked_rem(size)?);
    let panel = panel.checked_mul(panel_size(blocks.shape)?)?;
    row_col(
        blocks.shape,
        panel | (pick(blocks.register.as_slice(), inside)? ^ pick(blocks.warp.as_slice(), warp)?),
    )
}

/// Byte of an operand's element in the tile that holds it.
pub(crate) fn place(tile: &AllocPlan, transposed: bool, (row, col): (u32, u32)) -> Option<u64> {
    let (row, col) = if transposed { (col, row) } else { (row, col) };
    Memory::Shared(tile).at(number(tile, row, col)?).map(|p| u64::from(p.byte))
}

/// The number of an element of a tile.
fn number(tile: &AllocPlan, row: u32, col: u32) -> Option<u32> {
    let shape = tile.shape;
    let (rows, cols) = (power(usize::from(shape.rows))?, power(usize::from(shape.cols))?);
    let panel = row
        .checked_div(rows)?
        .checked_mul(u32::from(shape.grid.cols))?
        .checked_add(col.checked_div(cols)?)?;
    let inside = row.checked_rem(rows)?.checked_mul(cols)?.checked_add(col.checked_rem(cols)?)?;
    panel.checked_mul(rows.checked_mul(cols)?)?.checked_add(inside)
}

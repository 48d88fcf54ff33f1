//! Tiles in tensor memory as blocks that one instruction works on.

use crate::map::TileShape;
use crate::product::Product;

/// How a tile stands in tensor memory: as blocks that one instruction works on.
#[derive(Copy, Clone, Debug)]
#[doc(hidden)]
pub struct TensorBlocks {
    /// Its shape.
    shape: TileShape,
    /// Rows and columns of a block.
    step: (u16, u16),
    /// log2 of the blocks of a panel along rows and columns.
    repeats: (u8, u8),
    /// Panels along a row.
    across: u8,
    /// Elements of a cell.
    cell: u32,
}

impl Product {
    /// The accumulator's blocks.
    #[doc(hidden)]
    pub const fn blocked_c(&self) -> TensorBlocks {
        let ((rm, rn, _), (_, pn, _)) = (self.repeats, self.panels);
        TensorBlocks {
            shape: self.c.shape,
            step: (self.shape.m, self.shape.n),
            repeats: (rm, rn),
            across: pn,
            cell: 1,
        }
    }

    /// The blocks of A, in cells of so many bits.
    #[doc(hidden)]
    pub fn blocked_a(&self, cell_bits: u8) -> Option<TensorBlocks> {
        let ((rm, _, rk), (_, _, pk)) = (self.repeats, self.panels);
        let cell = u32::from(cell_bits).checked_div(u32::from(self.a.shape.bits))?;
        Some(TensorBlocks {
            shape: self.a.shape,
            step: (self.shape.m, self.shape.k),
            repeats: (rm, rk),
            across: pk,
            cell,
        })
    }
}

impl TensorBlocks {
    /// Columns of tensor memory that a block takes.
    #[doc(hidden)]
    pub fn columns(&self) -> Option<u32> {
        u32::from(self.step.1).checked_div(self.cell)
    }

    /// The row of a block that element `e` of the tile is in, and the column of its cell from the
    /// tile's first. Blocks are numbered as [`Product::blocks`] does.
    #[doc(hidden)]
    pub fn cell(&self, e: u32) -> Option<(u32, u32)> {
        let shape = self.shape;
        let mask = |bits: u8| 1u32.checked_shl(u32::from(bits)).unwrap_or(0).wrapping_sub(1);
        let (up, across) = shape.grid.at(e.checked_shr(u32::from(shape.total()))?);
        let (row, col) =
            (e.checked_shr(u32::from(shape.cols))? & mask(shape.rows), e & mask(shape.cols));
        let (step, (high, low)) = ((u32::from(self.step.0), u32::from(self.step.1)), self.repeats);
        let (m, n) = (row.checked_div(step.0)?, col.checked_div(step.1)?);
        let panel = up.checked_mul(u32::from(self.across))?.checked_add(across)?;
        let block = panel.checked_shl(u32::from(high.checked_add(low)?))?
            | m.checked_shl(u32::from(low))?
            | n;
        let inside = col.checked_rem(step.1)?.checked_div(self.cell)?;
        Some((row.checked_rem(step.0)?, block.checked_mul(self.columns()?)?.checked_add(inside)?))
    }
}

//! Accumulators in tensor memory.

use super::Product;
use crate::ir::{Op, Value};

/// How a tile's accumulators are fetched from tensor memory into registers.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TensorLoads {
    /// The form, as an index into the tables' tensor moves.
    pub form: u8,
    /// log2 of the registers that one load fills.
    pub registers: u8,
    /// The form's count.
    pub count: u16,
    /// Columns that all accumulators of the tile take.
    pub columns: u16,
}

/// A product's accumulator in tensor memory.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct InTensor {
    /// The value that is fetched into registers: what the loop that carries the accumulator returns, or the product's result.
    pub value: Value,
    /// The loop that carries it, from zeros.
    pub carrier: Option<Op>,
    /// The instruction descriptor.
    pub word: u32,
    /// Its first column, from the allocation's; set by placement.
    pub first: u16,
}

impl Product {
    /// The accumulator that element `e` of the result belongs to (a number as [`Product::blocks`] gives it), and its row and column there.
    #[must_use]
    pub fn in_block(&self, e: u32) -> Option<(u32, u32, u32)> {
        let shape = self.c.shape;
        let ((rm, rn, _), (_, pn, _)) = (self.repeats, self.panels);
        let mask = |bits: u8| 1u32.checked_shl(u32::from(bits)).unwrap_or(0).wrapping_sub(1);
        let (up, across) = shape.grid.at(e.checked_shr(u32::from(shape.total()))?);
        let (row, col) = (e.checked_shr(u32::from(shape.cols))? & mask(shape.rows), e & mask(shape.cols));
        let (sm, sn) = (u32::from(self.shape.m), u32::from(self.shape.n));
        let (m, n) = (row.checked_div(sm)?, col.checked_div(sn)?);
        let panel = up.checked_mul(u32::from(pn))?.checked_add(across)?;
        let block = panel.checked_shl(u32::from(rn.checked_add(rm)?))? | m.checked_shl(u32::from(rn))? | n;
        Some((block, row.checked_rem(sm)?, col.checked_rem(sn)?))
    }
}

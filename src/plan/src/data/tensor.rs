//! Tiles in tensor memory: accumulators, and A where a product takes it from there.

use lanebook_ir::{Op, Program, Value};
use lanebook_tables::OpRole;

/// A product's accumulator in tensor memory.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct InTensor {
    /// The value that is fetched into registers: what the loop that carries the accumulator
    /// returns, or the product's result.
    pub value: Value,
    /// The loop that carries it.
    pub carrier: Option<Op>,
    /// It begins with what registers hold, stored before the product or its loop; else with zeros.
    pub stored: bool,
    /// The instruction descriptor.
    pub word: u32,
    /// Its first column, from the allocation's; set by placement.
    pub first: u16,
    /// The first column of A, where it stands there too; set by placement.
    pub first_a: u16,
}

/// The loop directly around a product before which its A is stored, since it was there before that
/// loop.
#[must_use]
#[doc(hidden)]
pub fn stored_before(program: &Program<'_, '_>, product: Op) -> Option<Op> {
    let around = program.parent(product).filter(|around| program.role(*around) == OpRole::For)?;
    let def = program.operand(product, 0).and_then(|a| program.def_op(a))?;
    // A constant is a number: it has its registers where it is wanted.
    let outside =
        program.block_of(def) == program.block_of(around) && program.role(def) != OpRole::Constant;
    outside.then_some(around)
}

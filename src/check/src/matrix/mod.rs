//! Products of a plan, and what a matrix unit reads by itself.

pub(crate) mod operand;
pub(crate) mod product;
pub(crate) mod repeat_tuples;
pub(crate) mod scale_copies;
pub(crate) mod scales;
pub(crate) mod shared_operands;
pub(crate) mod tensor_memory;
#[cfg(test)]
mod tensor_memory_tests;

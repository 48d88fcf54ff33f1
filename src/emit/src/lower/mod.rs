//! The function: its interface, its loops, operations in program order, index values.

pub(crate) mod arithmetic;
pub(crate) mod context;
pub(crate) mod elementwise;
pub(crate) mod fences;
pub(crate) mod function;
pub(crate) mod index;
pub(crate) mod interface;
pub(crate) mod kept;
pub(crate) mod loops;
pub(crate) mod producer;
pub(crate) mod scope;
pub(crate) mod snippet;
pub(crate) mod stages;
pub(crate) mod stages_through_registers;
pub(crate) mod target;

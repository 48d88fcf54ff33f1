//! Registers: which hold which tile, live ranges, allocation.

pub(crate) mod accumulator_spill;
pub mod allocate;
pub(crate) mod live_range_split;
pub(crate) mod liveness;
pub(crate) mod parallel_copy;
pub(crate) mod parts;
pub(crate) mod regs_of_value;
pub(crate) mod schedule;
pub(crate) mod tiles;

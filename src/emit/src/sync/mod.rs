//! Order between accesses: barriers, mbarriers, waits for counters, wait states.

pub(crate) mod access;
pub(crate) mod cursor;
pub(crate) mod hazards;
pub(crate) mod mbarrier;
pub(crate) mod order;
pub(crate) mod ring;
pub mod waits;

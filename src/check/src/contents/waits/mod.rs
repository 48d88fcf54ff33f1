//! Waits: registers that something outstanding reads or writes, wait states, products that run
//! beside the lanes.

pub(crate) mod async_products;
pub(crate) mod hazards;
pub(crate) mod pending;

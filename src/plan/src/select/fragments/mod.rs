//! Distributions of tiles over registers, lanes and warps: where they flow, and how one becomes
//! another.

pub(crate) mod exchange;
pub(crate) mod exchange_forms;
pub(crate) mod exchange_half;
pub(crate) mod exchange_rounds;
pub(crate) mod explicit_layouts;
pub(crate) mod flow;
pub(crate) mod free_tiles;
pub(crate) mod insert_conversions;
pub(crate) mod reduce;
pub(crate) mod shuffle;
pub(crate) mod unread;

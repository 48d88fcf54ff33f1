//! Movements and shared tiles of a plan.

pub(crate) mod alloc;
pub(crate) mod buffers;
pub(crate) mod global_overlap;
pub(crate) mod movement;
pub(crate) mod tma;
pub(crate) mod transpose;

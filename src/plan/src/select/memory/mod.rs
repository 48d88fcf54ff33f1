//! Copies: which instruction moves a tile, and how it lies in shared memory.

pub(crate) mod explicit_layouts;
pub(crate) mod load_sinking;
pub(crate) mod search;
pub(crate) mod shared_layouts;
pub(crate) mod tma;

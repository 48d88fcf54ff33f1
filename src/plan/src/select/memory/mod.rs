//! Copies: which instruction moves a tile, and how it lies in shared memory.

pub(crate) mod atomics;
pub(crate) mod copy_atom_search;
pub(crate) mod copy_bound;
pub(crate) mod explicit_layouts;
pub(crate) mod few_elements;
pub(crate) mod load_sinking;
pub(crate) mod loop_layouts;
pub(crate) mod place_tables;
pub(crate) mod swizzle_search;
pub(crate) mod tma;
pub(crate) mod total_cost;

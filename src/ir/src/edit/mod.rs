//! Changing a program, and making one without text.

pub(crate) mod agents;
pub(crate) mod batches;
pub(crate) mod builder;
pub(crate) mod clone;
pub(crate) mod edit_attrs;
pub mod edit_ops;
pub(crate) mod erase;
pub(crate) mod inline;
pub(crate) mod insert;
pub(crate) mod leads;
pub(crate) mod memory_views;
pub(crate) mod moves;
pub(crate) mod on_tiles;
pub(crate) mod pairs;
pub(crate) mod permute;
pub(crate) mod pipeline_stages;
pub(crate) mod pointers;
pub(crate) mod ranks;
pub(crate) mod recurrences;
pub(crate) mod regions;
pub(crate) mod scalars;
pub(crate) mod slots;
pub(crate) mod spellings;
pub(crate) mod tensor_memory;

//! Products, and tensor memory.

pub(crate) mod k_slices;
pub(crate) mod panels;
pub(crate) mod product;
pub(crate) mod scales;
pub(crate) mod staged_descriptors;
pub(crate) mod tensor_copies;
pub(crate) mod tensor_memory;

//! Matrix products: which instruction, its split over warps, and operands that the unit reads by
//! itself.

pub(crate) mod mma_candidates;
pub(crate) mod no_unit;
pub(crate) mod own_cost;
pub(crate) mod scale_copies;
pub(crate) mod scales;
pub(crate) mod select_mma;
pub(crate) mod shared_operands;
pub(crate) mod tensor_memory;
pub(crate) mod unscaled;

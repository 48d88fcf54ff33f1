//! Choosing and placing: which instruction moves and multiplies each tile, how the tile lies in
//! shared memory, and where.
//!
//! ```text
//! program --select--> plan (candidates from the tables, a reason for each rejected candidate)
//! --shared_alloc--> plan with places
//!            ^ memory_pressure: chosen again within limits, where the tiles do not fit |
//! ```
//!
//! | module | what |
//! | --- | --- |
//! | `data` | the plan: what was chosen, as data that emission and the checker read |
//! | [`select`] | choosing: `planner` asks, `memory`, `matrix` and `fragments` answer |
//! | [`shared_alloc`] | where each shared tile starts |
//! | [`memory_pressure`] | a plan within the architecture's shared and tensor memory |
//! | [`detail`] `explain` | errors as numbers, and in words |
//!
//! Guarantees: no recursion, no allocation, no panic. Does not see passes or emission.
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(
        clippy::indexing_slicing,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::unreachable,
        clippy::todo
    )
)]

#[cfg(test)]
extern crate std;

mod data;
pub mod detail;
mod explain;
#[doc(hidden)]
pub mod memory_pressure;
pub mod select;
pub mod shared_alloc;

pub use data::{
    AllocPlan, BlockBitRole, ByteSource, Candidate, Either, End, Figures, FragmentPlan, Gather,
    GlobalPlan, HalfPlan, InShared, InTensor, LEADS, Lead, Limits, MAP_RANK, MAX_STAGED_SIZES,
    MapPlan, Plan, PlanError, PlanPool, Product, ProductPlan, RegisterTranspose, Reject,
    RejectedCandidate, ScaleCopy, ScaleFeed, ScalePlan, SharedExchange, ShufflePlan, Swap,
    TensorLoads, TiledPlan, Tiling, TransferPlan, Unatomic, Unindexed, Unscaled, Unstaged,
    Unwritable,
};
#[doc(hidden)]
pub use data::{TensorBlocks, stored_before};

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
//! | `in_flight` | what counts the copies that run ahead of a loop's turns |
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
mod in_flight;
#[doc(hidden)]
pub mod memory_pressure;
#[doc(hidden)]
pub mod select;
#[doc(hidden)]
pub mod shared_alloc;

pub use data::{
    AllocPlan, Candidate, ConversionPlace, End, Figures, FragmentPlan, GlobalPlan, HalfPlan,
    MapPlan, Plan, PlanError, PlanPool, Product, ProductPlan, Reject, RejectedCandidate,
    SharedExchange, ShufflePlan, SpecializedWarps, TransferPlan, Unatomic, Unindexed, Unparted,
    Unscaled, Unstaged, Unsummed, Unwritable,
};

// What emission and the checkers read of a plan beyond that.
#[doc(hidden)]
pub use data::{
    BlockBitRole, ByteSource, Either, Gather, InShared, InTensor, LEADS, Lead, Limits, MAP_RANK,
    MAX_STAGED_SIZES, RegisterTranspose, ScaleCopy, ScaleFeed, ScalePlan, Swap, TensorBlocks,
    TensorLoads, TiledPlan, Tiling, stored_before,
};
#[doc(hidden)]
pub use in_flight::{CountedWait, closes_group, copies_of_a_turn, ends_with_product};

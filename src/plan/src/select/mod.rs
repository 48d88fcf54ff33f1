//! Assign: which atom moves each tile, which one multiplies it, and how it lies in shared memory
//! meanwhile.
//!
//! Candidates come from the tables. A candidate is *legal* iff the movement divided by the atom
//! leaves a quotient that the atom's addressing can supply ([`divide`](mod@lanebook_tile::divide));
//! legal candidates are compared by a cost whose weights are data. The choice is joint where it
//! must be: one shared layout serves all its writers and readers, one product fixes the fragments
//! of its three operands. Every rejected candidate keeps its reason in the
//! [`Plan`](crate::data::Plan).
mod affine;
mod before;
mod branches;
pub(crate) mod collect;
#[doc(hidden)]
pub mod elementwise;
mod expansion;
mod extremes;
pub(crate) mod fragments;
mod loop_stages;
mod loops;
pub(crate) mod matrix;
pub(crate) mod memory;
mod parts;
pub(crate) mod planner;
mod precision;
mod quotients;
pub(crate) mod ready;
mod repeats;
mod scan;
mod stages;
mod wide;
mod widening;

#[doc(hidden)]
pub use crate::select::elementwise::{
    BytePermutes, lane_move_atom, lane_shuffle, permute_bytes, select_elementwise, shares,
};
#[doc(hidden)]
pub use crate::select::expansion::{Expansions, LoopValues, NoLoopValues, Replaced};
pub use crate::select::fragments::flow::Waiting;
#[doc(hidden)]
pub use crate::select::fragments::insert_conversions::{EarlierConversions, InsertedConversions};
#[doc(hidden)]
pub use crate::select::loop_stages::{copies_ahead, stage_loops};
#[doc(hidden)]
pub use crate::select::loops::{line_of, place_loops, written_layout};
#[doc(hidden)]
pub use crate::select::matrix::no_unit::why_no_unit;
#[doc(hidden)]
pub use crate::select::matrix::tensor_memory::tensor_product;
pub use crate::select::memory::load_sinking::LoadSinking;
#[doc(hidden)]
pub use crate::select::memory::loop_layouts::{StridedPlaces, WrittenPlaces, shared_in_loops};

pub use crate::select::memory::swizzle_search::{Copies, PricedTile, SharedTile};
pub use crate::select::planner::{CopyOp, MAX_PRODUCTS, PlanScratch, Staged, choose};

//! Assign: which atom moves each tile, which one multiplies it, and how it lies in shared memory
//! meanwhile.
//!
//! Candidates come from the tables. A candidate is *legal* iff the movement divided by the atom
//! leaves a quotient that the atom's addressing can supply ([`fit`]); legal candidates are compared
//! by a cost whose weights are data. The choice is joint where it must be: one shared layout serves
//! all its writers and readers, one product fixes the fragments of its three operands. Every loser
//! keeps its reason in the [`Plan`](crate::plan::Plan).

mod apart;
pub mod candidates;
mod chain;
mod choose;
mod collect;
mod copied;
mod decide;
mod doer;
pub(crate) mod evaluate;
pub mod fit;
mod flow;
mod held;
mod in_shared;
mod lanes;
pub mod matrix;
pub mod mover;
mod ready;
mod reduce;
mod scaled;
mod search;
pub(crate) mod shape;
mod sunk;
mod tensor;
mod tiled;
mod tiles;
mod unread;
mod written;

pub(crate) use apart::Inserted;
pub(crate) use doer::{ChooseBytes, choose_bytes, doer, lane_exchange, lane_mover, shares};
pub(crate) use sunk::Sunk;

pub use choose::{MAX_PRODUCTS, Movement, Staged, Workspace, choose};
pub use tiles::{Copies, Tile};

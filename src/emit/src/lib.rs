//! Emit: from a plan to instructions.
//!
//! ```text
//! lower (addresses, barriers) -> steps over virtual registers -> allocate -> waits (and wait states) -> text
//! ```
//!
//! | module | what |
//! | --- | --- |
//! | `lower` | operations in program order, loops, elementwise arithmetic, the kernel's interface |
//! | [`expr`] | index expressions: simplified by rules, covered by instructions |
//! | `memory` | movements of tiles and their addresses |
//! | `matrix` | products, tensor memory, block scales, slices of the depth |
//! | `elements` | parallel loops and operations in place, element by element |
//! | `lanes` | reductions and conversions between lanes |
//! | [`sync`] | barriers and fences between accesses (`order`), mbarriers, waits and hazards (`waits`) |
//! | [`registers`] | allocation, live ranges in parts, scheduling where registers do not suffice |
//! | [`step`] | a step: an atom with its operands |
//! | `stage` | the stages by name, for looking at the steps after one ([`EmitStage`]) |
//! | `text` `compiled` | steps as text; what compiling gives |
//! | `launch` | what a launcher must know ([`Launch`]) |
//! | `snippet` | what whoever inlines a function without a frame must know ([`Snippet`]) |
//! | `pool` [`detail`] `explain` | which list was full; errors as numbers, and in words |
//!
//! Movement, matrix and synchronisation instructions are emitted in full; every name and every
//! number in the text comes from the tables. Needs no formatting machinery: text leaves by
//! `write_str`.
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

mod compiled;
pub mod detail;
mod elements;
mod explain;
#[doc(hidden)]
pub mod expr;
mod lanes;
mod launch;
mod lower;
mod matrix;
mod memory;
mod pool;
#[doc(hidden)]
pub mod registers;
mod snippet;
mod stage;
#[doc(hidden)]
pub mod step;
#[doc(hidden)]
pub mod sync;
mod text;

pub use crate::compiled::Compiled;
pub use crate::elements::ElementReason;
#[doc(hidden)]
pub use crate::elements::{
    ElementLists, ElementSpot, KNOWN, KnownAddress, LANES, LoopSource, NoLoops, WRITTEN, WorkSlot,
    place_swizzled, reserve_reductions,
};
pub use crate::launch::{Launch, LaunchMap, LaunchMapDim, LaunchParameter, MapNumber};
pub use crate::lower::context::{EmitError, Unsimplified};
pub use crate::lower::interface::{Param, ParamKind, parameter_bytes, parameters};
pub use crate::pool::EmitPool;
pub use crate::snippet::{RegisterSet, Snippet, SnippetValue};
pub use crate::stage::EmitStage;
pub use crate::text::{Kernel, TextError};

#[doc(hidden)]
pub use crate::lower::context::{
    Advance, ComputedIndex, EmitLists, Index, LowerContext, MAX_VARIABLES, ValueRegs,
};
#[doc(hidden)]
pub use crate::lower::kept::{KeptFor, KeptRegister, MovementEnd, TensorResident};
#[doc(hidden)]
pub use crate::lower::target::{SecondOperand, TargetQueries};
#[doc(hidden)]
pub use crate::matrix::k_slices::RegisterPressureLevel;
#[doc(hidden)]
pub use crate::sync::mbarrier::{MAX_MBARRIERS, MbarrierRegs};
#[doc(hidden)]
pub use crate::text::{write_number, write_signed};

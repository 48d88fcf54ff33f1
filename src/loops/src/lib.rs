//! Parallel loops of a tile program: told to layout inference ([`tell`]).
//!
//! | module | what |
//! | --- | --- |
//! | `tell` `operators` `indices` | a function's buffers, loops, tile operations and subscripts, as inference wants them |
//! | `machine` | figures and matrix units of an architecture |
//! | `result` | layouts back into the program |
//! | `error` | what cannot be told, and where |
//!
//! Guarantees: no allocation, no recursion, no panic; every attribute and operation is told, or
//! refused with its place.
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(
        clippy::indexing_slicing,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::arithmetic_side_effects
    )
)]

#[cfg(test)]
extern crate std;

mod error;
mod indices;
mod machine;
mod operators;
mod result;
mod tell;

pub use error::{LoopError, LoopErrorKind, LoopResult};
pub use result::LoopLayouts;
pub use tell::{Fact, LoopParts, Told, tell};

// What planning asks of a machine's units.
#[doc(hidden)]
pub use machine::{AnchorUnit, UnitRequest, figures, unit, warp_unit};
#[doc(hidden)]
pub use operators::{WarpProduct, product_unit};

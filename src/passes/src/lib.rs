//! Whole-function analyses that pipelines name: what a local rule cannot see.
//!
//! ```text
//! rules/passes.ron --names--> Analysis --> one file here, over roles and traits of rules/ops.ron
//! ```
//!
//! Guarantees: no recursion, no allocation, no panic; each change costs a unit of fuel; scratch is
//! the worklist that the caller lends. An analysis that fails says why, and
//! `lanebook::pipeline::apply` then restores the program. Diagnostics have fixed
//! texts, byte for byte those of the notes that they come from.
//!
//! | module | what |
//! | --- | --- |
//! | `context` `error` `diagnostic` | worklist, fuel, events; what goes wrong, and its texts |
//! | `choice` | why layouts could not be chosen |
//! | `dead_args` | region arguments that only feed themselves |
//! | `propagate` `unify` | conversions: backward through buffers, forward through registers, across regions |
//! | [`remat`] | conversions weighed against computing again: the min-cut |
//! | [`layout_seeding`] | layouts for loads, stores and products (Triton's coalesce and accelerate-matmul) |
//! | `slice` | loops in parts |
//! | `agent` | hand-overs between agents |
//! | `alias` `base` `handed` | allocations behind selects, views, loops and pipeline regions |
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

mod agent;
mod alias;
mod base;
mod choice;
mod context;
mod dead_args;
mod diagnostic;
mod error;
mod handed;
pub mod layout_seeding;
mod propagate;
pub mod remat;
mod slice;
mod unify;

pub use crate::choice::{ChoiceError, ChoicePool};
pub use crate::context::{Analysis, Event};
pub use crate::diagnostic::Diagnostic;
pub use crate::error::PassError;

#[doc(hidden)]
pub use crate::context::{PassContext, edit};

/// Runs an analysis; answers how many changes it made.
#[doc(hidden)]
pub fn run(cx: &mut PassContext<'_, '_, '_>, analysis: Analysis) -> Result<u32, PassError> {
    cx.begin(analysis);
    match analysis {
        Analysis::RemoveDeadArgs => dead_args::run(cx)?,
        Analysis::RemoveAliases => alias::run(cx)?,
        Analysis::PropagateBuffers => propagate::buffers(cx)?,
        Analysis::PropagateRegisters => propagate::registers(cx)?,
        Analysis::UnifyRegions => unify::run(cx)?,
        Analysis::Slice => slice::run(cx)?,
        Analysis::ResolveAgents => agent::run(cx)?,
        // These need what lies above, maps of layouts, architectures, room of their own: the
        // pipeline runs them.
        Analysis::WeighConversions
        | Analysis::AssignLayouts
        | Analysis::DefaultLayouts
        | Analysis::Coalesce
        | Analysis::AccelerateMatmul => {}
    }
    Ok(cx.changes())
}

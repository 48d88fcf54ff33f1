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
//!
//! ```
//! use lanebook::TABLES;
//! use lanebook::ir::{Options, SmallStorage, parse};
//! use lanebook::passes::{Analysis, ChoiceError, ChoicePool, Diagnostic, Event, PassError};
//! use lanebook::pipeline::apply;
//!
//! let text = "func @f(%x: memref<64x64xf32, #gmem>) {threads = 128} {
//!   %a = tiled_load %x[0, 0] : memref<64x64xf32, #gmem> -> tensor<64x64xf32>
//!   %b = convert_layout %a : tensor<64x64xf32> -> tensor<64x64xf32>
//!   tiled_store %b, %x[0, 0] : tensor<64x64xf32> -> memref<64x64xf32, #gmem>
//! }";
//! let mut storage = Box::new(SmallStorage::new());
//! let mut program = parse(storage.pools(), &TABLES, text, Options::default()).unwrap();
//! let (mut work, mut fuel, mut events) = (heapless::Vec::<_, 64>::new(), 100, Vec::new());
//! apply(&TABLES, "remove-conversions", &mut program, work.as_mut_view(), &mut fuel, |event| events.push(event)).unwrap();
//! assert!(events.iter().any(|event| matches!(event, Event::Rule { .. })));
//! // A pass that does not exist, or whose fuel ends, leaves the program as it was.
//! let refused = apply(&TABLES, "no-such-pass", &mut program, work.as_mut_view(), &mut fuel, |_| {});
//! assert_eq!(refused, Err(PassError::Unknown));
//! // Analyses by name, with what each is for; findings; pools of the passes that choose.
//! assert!(Analysis::ALL.iter().all(|one| Analysis::named(one.name()) == Some(*one) && !one.reason().is_empty()));
//! fn sentence(finding: Diagnostic) -> &'static str {
//!     finding.text()
//! }
//! assert_ne!(ChoicePool::SeededLayouts.describe(), ChoicePool::Facts.describe());
//! # let _ = sentence;
//! # fn choice(error: ChoiceError) -> String { let mut out = String::new(); error.write_text(&mut out).unwrap(); out }
//! ```
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
#[doc(hidden)]
pub mod remat;
mod slice;
mod unify;

pub use crate::choice::{ChoiceError, ChoicePool};
pub use crate::context::{Analysis, Event};
pub use crate::diagnostic::Diagnostic;
pub use crate::error::PassError;

#[doc(hidden)]
pub use crate::context::{Attempt, PassContext, edit};

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

//! Emit: from a plan to instructions.
//!
//! ```text
//! walk (address, sync) -> steps over virtual registers -> registers -> finish (waits, hazards) -> text
//! ```
//!
//! Movement, matrix and synchronisation instructions are emitted in full; every name and every
//! number in the text comes from the tables. Needs no formatting machinery: text leaves by
//! `write_str`.

mod address;
mod compiled;
mod completion;
mod context;
mod convert;
mod elementwise;
pub mod finish;
mod flip;
mod global_overlap;
mod hazards;
mod kernel;
mod lanes;
mod line;
mod liveness;
mod lookup;
mod loops;
mod movement;
mod parallel;
mod pieces;
mod pool;
mod product;
mod quotient;
mod reduce;
pub mod registers;
mod run;
mod scaled;
mod scope;
mod slices;
mod source;
pub mod step;
mod stride;
mod sync;
mod tensor;
mod text;
mod tiled;
mod tiles;
mod transfer;
mod walk;

pub use compiled::Compiled;
pub use completion::{Completion, MAX_COMPLETIONS};
pub use context::{Address, Advance, EmitError, Held, MAX_VARIABLES};
pub use kernel::{Param, ParamKind, parameter_bytes, parameters};
pub use pool::EmitPool;
pub use text::{Kernel, TextError, write_number, write_signed};

pub(crate) use context::{Context, Index, Lists};
pub(crate) use lookup::Lookup;
pub(crate) use slices::Thrift;

/// Name of the phase whose rules simplify index expressions.
pub(crate) const SIMPLIFY: &str = "simplify";
/// Name of the phase whose rules select instructions.
pub(crate) const SELECT: &str = "select";

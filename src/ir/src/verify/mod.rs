//! What a program must be: structure, dominance, signatures, and what `compile` takes.

pub mod contract;
mod explain;
pub(crate) mod explicit_types;
#[doc(hidden)]
pub mod structure;
pub(crate) mod verify_types;

//! Layouts of parallel loops and fragments: how inference came to them, as text, JSON and picture; and why it refused.
pub mod fragments;
mod owners;
pub mod races;
pub mod refused;
pub mod shared;
pub mod timeline;

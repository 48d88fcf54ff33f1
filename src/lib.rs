//! GPU data layouts, by the book.
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

pub mod anchor;
pub mod assign;
pub mod check;
pub mod compile;
pub mod detail;
pub mod emit;
pub mod encoding;
pub mod expr;
pub mod ir;
pub mod map;
pub mod passes;
pub mod pipeline;
pub mod place;
pub mod plan;
pub mod relayout;
pub mod rewrite;
mod room;
pub mod unit;

/// The tables that were compiled into this build from `hw-tables/` and `rules/`: [`TABLES`] is all
/// of it; [`LEAN`] is what planning and emission read, for programs that link nothing else (no
/// names of atoms, no sources, no passes over the tile IR; ids of atoms and rules are its own).
#[allow(clippy::all, missing_docs)]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/tables.rs"));
}

pub use generated::{LEAN, TABLES};
pub use lanebook_layout as layout;
pub use lanebook_tables as tables;

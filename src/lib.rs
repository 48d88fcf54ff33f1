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

pub mod compile;
pub mod detail;
pub mod pipeline;

/// The tables that were compiled into this build from `hw-tables/` and `rules/`: [`TABLES`] is all
/// of it; [`LEAN`] is what planning and emission read, for programs that link nothing else (no
/// names of atoms, no sources, no passes over the tile IR; ids of atoms and rules are its own).
#[allow(clippy::all, missing_docs)]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/tables.rs"));
}

pub use generated::{LEAN, TABLES};
pub use lanebook_check as check;
pub use lanebook_emit::{self as emit, expr};
pub use lanebook_ir::{self as ir, rewrite};
pub use lanebook_layout as layout;
pub use lanebook_passes::{self as passes, layout_seeding, remat};
pub use lanebook_plan::{self as plan, select};
pub use lanebook_tables as tables;
pub use lanebook_tile::{self as tile, encoding, map, unit};

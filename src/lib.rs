//! GPU data layouts, by the book.
//!
//! This crate is the top floor: the tables of this build, the whole path in one call
//! ([`compile`]), conversions by themselves ([`convert`]), layouts that programs write in other systems' notations ([`written`]), the passes by name ([`pipeline`]), errors as numbers ([`detail`]). What it
//! stands on are crates of their own, so that an edit of a table builds this one alone:
//!
//! ```text
//! text --ir::parse--> Program --pipeline--> Program --plan::select--> Plan --emit--> steps, text
//!                                                                       '--check--> sound, or where not
//! ```
//!
//! What one may want to do, a page each: [`guide`].
//!
//! | to find | look in |
//! | --- | --- |
//! | the layout algebra and its notations | [`layout`] |
//! | what an architecture can do (`Arch::dispatch`) | [`tables`] |
//! | reading, printing, changing and verifying tile programs; the rule engine | [`ir`] |
//! | fragments, bank conflicts, descriptors, swizzles, one atom against one tile | [`tile`] |
//! | moving and removing conversions; layouts for loads, stores and products | [`passes`] |
//! | where a load's instruction is chosen (`select::memory::copy_atom_search`), where a swizzle is (`select::memory::swizzle_search`), a product's instruction (`select::matrix::select_mma`) | [`plan`] |
//! | addresses, waits (`sync::waits`), barriers (`sync::order`), registers, text | [`emit`] |
//! | the independent checkers | [`check`] |
//! | questions as text: layouts in every notation, instructions, conflicts | [`query`] |
//! | parallel loops: how they are told to layout inference, and the inference itself | [`loops`], [`infer`] |
//!
//! # Builds
//!
//! `LANEBOOK_ARCHS=sm_80,gfx950 cargo build` holds the tables of these architectures alone, without it those of all; cargo builds
//! anew when it changes, and an unknown name is an error that lists the known ones. `LANEBOOK_TABLES=DIR` adds a folder of tables.
//! What each choice weighs: `lanebook size sm_80,gfx950`. More for who embeds: [`guide::embedding`].
#![doc = concat!("The least Rust is ", env!("CARGO_PKG_RUST_VERSION"), "; what stays between versions: [`guide::versions`].")]
//!
//! Features: `generate` (on unless it is turned off) builds the tables from their source, without it those of the package are taken and these
//! variables are refused; `defmt`: errors and passes speak to a device's log.
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
pub mod convert;
pub mod detail;
pub mod guide;
pub mod pipeline;
pub mod written;

/// The tables that were compiled into this build from `hw-tables/` and `rules/`: [`TABLES`] is all
/// of it; [`LEAN`] is what planning and emission read, for programs that link nothing else (no
/// names of atoms, no sources, no passes over the tile IR; ids of atoms and rules are its own);
/// [`EMISSION`] is what emission alone reads of those, for programs whose plans are stored.
#[allow(clippy::all, missing_docs)]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/tables.rs"));
}

/// All tables, and the lean ones: what planning and emission read, for programs that link nothing
/// else; and what emission alone reads, of plans that were made with the lean ones.
///
/// ```
/// use lanebook::{EMISSION, LEAN, TABLES};
///
/// // Names of architectures are in both, those of instructions' sources in one.
/// assert!(TABLES.arch_named("sm_80").is_some() && LEAN.arch_named("sm_80").is_some());
/// assert!(!TABLES.sources.is_empty() && LEAN.sources.is_empty());
/// // What a program may say is checked before it is planned.
/// assert!(!LEAN.contract.ops.is_empty() && EMISSION.contract.ops.is_empty());
/// assert_eq!(LEAN.atoms.len(), EMISSION.atoms.len());
/// ```
pub use generated::{EMISSION, LEAN, TABLES};
pub use lanebook_check as check;
pub use lanebook_emit as emit;
#[doc(hidden)]
pub use lanebook_emit::expr;
pub use lanebook_infer as infer;
pub use lanebook_ir::{self as ir, rewrite};
pub use lanebook_layout as layout;
pub use lanebook_loops as loops;
#[doc(hidden)]
pub use lanebook_passes::remat;
pub use lanebook_passes::{self as passes, layout_seeding};
pub use lanebook_plan as plan;
#[doc(hidden)]
pub use lanebook_plan::select;
pub use lanebook_query as query;
pub use lanebook_tables as tables;
pub use lanebook_tile::{self as tile, encoding, map, unit};

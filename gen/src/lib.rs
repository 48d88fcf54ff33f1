//! The table compiler of lanebook: RON in, a checked model, `lanebook_tables` values and Rust
//! source out.
//!
//! One file a stage; [`compile`](mod@compile) strings them together:
//!
//! 1. [`load`] finds the files under `hw-tables/` and `rules/` and reads them entry by entry
//!    ([`spanned`], [`schema`]);
//! 2. [`model`] resolves every name and flattens inheritance;
//! 3. [`check`] holds the facts against each other, one file a check;
//! 4. [`rules`] compiles and checks what stands under `rules/`;
//! 5. [`audit`] looks at what compiles and may still not be meant, [`assemble`] asks the vendors'
//!    assemblers about it; of inputs with errors they see the [`sound`](mod@sound) part;
//! 6. [`lower`](mod@lower) makes `lanebook_tables` values, and [`select`](mod@select) leaves
//!    architectures out;
//! 7. [`render`](mod@render) prints them as Rust statics.
//!
//! What is wrong is collected as [`diagnostics`] that show every place involved ([`source`]) and
//! the remedy, all in one run. Nothing here depends on the order of a hash map, the time, or the
//! folder that the repository is in.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod assemble;
pub mod audit;
pub mod check;
pub mod compile;
pub mod diagnostics;
pub mod dispatch;
pub mod families;
pub mod layouts;
pub mod ledger;
pub mod load;
pub mod lost;
pub mod lower;
pub mod lower_units;
pub mod means;
pub mod model;
pub mod names;
pub mod params;
pub mod render;
pub mod rules;
pub mod schema;
pub mod select;
pub mod sketch;
pub mod sound;
pub mod source;
pub mod spanned;
pub mod suggest;
pub mod template;
pub mod tree;

pub use compile::{Compiled, Failure, Mode, Wish, compile, compile_sources, compile_wish};
pub use render::Weight;

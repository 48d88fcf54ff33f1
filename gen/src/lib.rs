//! The table compiler of lanebook: RON in, a checked model, `lanebook_tables` values and Rust
//! source out.
//!
//! One folder or file a stage; [`compile`](mod@compile) strings them together:
//!
//! 1. `input`: [`load`] finds the files under `hw-tables/` and `rules/` and reads them entry by
//!    entry ([`spanned`], [`schema`]);
//! 2. [`model`] resolves every name and flattens inheritance;
//! 3. [`check`] holds the facts against each other, one file a check;
//! 4. [`rules`] compiles and checks what stands under `rules/`; [`beside`] rule sets from elsewhere;
//! 5. `values`: [`lower`](mod@lower) makes `lanebook_tables` values, [`dispatch`] indexes what an
//!    architecture can do, and [`select`](mod@select) leaves architectures out;
//! 6. [`render`](mod@render) prints them as Rust statics; `compiled` holds all of it;
//! 7. [`audit`] looks at what compiles and may still not be meant, [`assemble`] asks the vendors'
//!    assemblers about it; of inputs with errors they see the [`partial_model`](mod@partial_model) part; [`new_arch_template`]
//!    begins a new architecture; [`fact`] writes facts as those who measure them do.
//!
//! What is wrong is collected as [`diagnostics`] that show every place involved ([`source`]) and
//! the remedy, all in one run. Nothing here depends on the order of a hash map, the time, or the
//! folder that the repository is in.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod assemble;
pub mod audit;
pub mod beside;
pub mod check;
pub mod compile;
mod compiled;
pub mod fact;
mod input;
pub mod model;
pub mod new_arch_template;
pub mod partial_model;
pub mod render;
pub mod rules;
pub mod schema;
mod values;

#[doc(hidden)]
pub use input::{diagnostics, families, ledger, load, source, spanned, template, tree};
pub(crate) use input::{entries, files, layouts, params, pattern, suppressed};
pub(crate) use model::means;
#[doc(hidden)]
pub use values::lower;
pub use values::{dispatch, select};
pub(crate) use values::{leak, lower_units, names};

pub use compile::{
    BuildOptions, Compiled, Failure, Mode, compile, compile_known, compile_sources,
    compile_with_options,
};
pub use render::Weight;

//! The C interface of lanebook; `lanebook.h` beside this crate is its documentation.
//!
//! Guarantees: nothing is allocated, nothing unwinds or panics, null pointers and lengths that make
//! no sense are error codes, and the sink is called only when the whole kernel has been made. This
//! is the only crate that ships with `unsafe` in it: reading what C lends, and writing what C
//! wants. Each such place says why it is sound.
//!
//! | module | what |
//! | --- | --- |
//! | `compile` | a program's text in, a kernel's text out (`lb_compile`) |
//! | `convert` | two layouts in, the instructions between them out (`lb_convert`) |
//! | `movement` | a tile and where it lies in, the instructions that move it out (`lb_move`) |
//! | `snippet` | what these two have in common: room, the snippet as C sees it |
//! | `lend` | reading what C lends: texts, scratch, lists |
//! | `code` | errors as numbers |
//! | `maps` `launch` | tensor maps that a kernel takes; everything that a launch of it needs |
//! | `query` | a query's text in, the answer's text or JSON out (`lb_query`) |
//! | `explain` | why a program does not compile, in words (`lb_explain`) |
//! | `layout` `table` | layouts as text; layouts that are read once, and tables of their positions |
//! | `sink` `names` | texts that go out; versions and architectures |
//! | `freestanding` | what a static library needs where there is no std |
//!
//! Built as a static library: `cargo rustc -p lanebook-capi --profile freestanding --features
//! freestanding --crate-type staticlib`.
#![no_std]
#![deny(unsafe_op_in_unsafe_fn, clippy::undocumented_unsafe_blocks)]

#[cfg(test)]
extern crate std;

mod code;
mod compile;
mod convert;
mod explain;
#[cfg(all(feature = "freestanding", not(test)))]
mod freestanding;
mod launch;
mod layout;
mod lend;
mod maps;
mod movement;
mod names;
mod query;
mod sink;
mod snippet;
mod table;

pub use code::{CallStatus, LbError};
pub use compile::{
    lb_compile, lb_compile_launch, lb_compile_maps, lb_scratch_align, lb_scratch_bytes,
};
pub use convert::{LbConversion, lb_convert, lb_convert_scratch_bytes};
pub use explain::lb_explain;
pub use launch::{LbGridStep, LbLaunch, LbParameter, lb_launch_grid};
pub use layout::{lb_layout_apply, lb_layout_size};
pub use maps::{LbTensorDim, LbTensorMap};
pub use movement::{LbMovement, lb_move};
pub use names::{
    lb_arch_count, lb_arch_index, lb_arch_name, lb_atom_id, lb_atom_name, lb_atom_named, lb_version,
};
pub use query::{lb_query, lb_query_scratch_bytes};
pub use sink::LbSink;
pub use snippet::{LbRegisterRun, LbTileRegisters};
pub use table::{LbLayout, lb_layout_bytes, lb_layout_read, lb_layout_shape, lb_layout_table};

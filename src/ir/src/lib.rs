//! The tile IR: a small MLIR-like program in storage lent by the caller.
//!
//! ```text
//! text --parse--> Program --verify--> passes (edit, marks) --print--> text
//! ```
//!
//! What it is: operations with operands, results, attributes and regions; values in SSA form with
//! use lists; interned types. Operations are declared in `rules/ops.ron`; nothing here asks for an
//! operation's name, only for its role.
//!
//! Guarantees: no heap, no recursion, no panic; every limit is an [`ErrorKind::Capacity`]; what the
//! printer writes the reader reads back to an equal program; a [`Mark`] that is undone restores the
//! program exactly.
//!
//! What a program may rely on: its operations take effect in the order in which they are written,
//! and the turns of its loops one after the other, as far as one group of threads can see; a loop
//! may run no turn. That holds for tiles in shared memory, whichever way they are copied, and for
//! tiles of one memref, which may overlap: of two stores to an element the later one stays, and a
//! load sees the stores before it. Memrefs are different tensors: what is written through one is
//! not read or written through another. Between groups nothing is ordered: an element that one
//! group writes no other group may touch. Threads that hold copies of an element may each store it:
//! the same bits to the same place, by one instruction.
//!
//! Does not: give layouts a meaning (`lanebook_layout` does), choose anything, or know an
//! architecture.
//!
//! | module | what |
//! | --- | --- |
//! | `handle` `types` `attr` `attr_names` `number` | the small `Copy` types everything speaks in |
//! | `error` `explain` [`detail`] | what goes wrong: as values, as sentences for hosts, as numbers |
//! | `data` `storage` `chains` | records, pools, free lists, undo journal, what is found by hash |
//! | `layouts` | written layouts, read once |
//! | `program` `query` `expr` `bounds` `full` `fixed_handles` | questions |
//! | [`edit`] | changes, and making a program without text |
//! | `text` | text to program and back |
//! | [`mod@verify`] | structure, dominance, signatures, what `compile` takes of a program |
//! | [`rewrite`] `graph` | the rule engine, and the program as its terms |
//! | `layout_table` | records of the pass that weighs layouts, in a program's pools |
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

mod attr;
#[doc(hidden)]
pub mod attr_names;
mod bounds;
mod chains;
mod data;
pub mod detail;
pub mod edit;
mod error;
mod explain;
mod expr;
mod fixed_handles;
mod full;
mod graph;
mod handle;
#[doc(hidden)]
pub mod layout_table;
mod layouts;
mod number;
mod program;
mod query;
pub mod rewrite;
mod storage;
#[cfg(test)]
mod tests;
#[doc(hidden)]
pub mod text;
mod types;
pub mod verify;

pub use crate::attr::{Attr, AttrValue, Literal};
pub use crate::bounds::{MemrefBound, MemrefBounds};
pub use crate::edit::builder::Builder;
pub use crate::edit::inline::{isolate_kernel, kernels};
pub use crate::error::{
    EncodingFault, ErrorKind, IrError, Lexeme, NAMED_CALLS, Pool, SourcePlace, ValueSlot,
    WantedType,
};
#[doc(hidden)]
pub use crate::expr::affine::AffineStep;
pub use crate::expr::grid::{GridError, GridStack, GridStep};
#[doc(hidden)]
pub use crate::expr::index_expr::{IndexFacts, IndexStep};
#[doc(hidden)]
pub use crate::expr::leads::Leads;
#[doc(hidden)]
pub use crate::full::Coordinates;
pub use crate::graph::{Node, TileGraph};
pub use crate::handle::{AttrRef, Block, MAX_HANDLES, Op, Region, TextRef, TypeRef, Use, Value};
pub use crate::layouts::{LayoutFault, LayoutId, PositionOrder};
pub use crate::program::{Carried, Def, Loop, Program};
pub use crate::storage::{LargeStorage, Mark, PoolUsage, Pools, SmallStorage, Storage};
pub use crate::text::parse::{Options, parse};
#[doc(hidden)]
pub use crate::text::print::integer as print_integer;
pub use crate::text::print::{Annotate, Plain, print};
pub use crate::types::{MAX_RANK, Shape, TileEncoding, Type, TypeKind};
pub use crate::verify::contract;
pub use crate::verify::structure::verify;

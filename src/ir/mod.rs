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
//! group writes no other group may touch.
//!
//! Does not: give layouts a meaning (`lanebook_layout` does), choose anything, or know an
//! architecture.
//!
//! | file | what |
//! | --- | --- |
//! | `handle` `types` `attr` `error` | the small `Copy` types everything speaks in |
//! | `data` `storage` | records, pools, free lists, undo journal |
//! | `program` `query` `derived` | questions; `edit*`, `erase`: changes; `builder`: making a program without text |
//! | `lexer` `parse*` | text to program |
//! | `print*` | program to text |
//! | `graph` | the program as terms for the rule engine |
//! | `verify*` | structure, dominance, signatures |
//! | `contract` | what `compile` takes of a program |
mod attr;
mod builder;
mod clone;
pub mod contract;
mod data;
mod derived;
pub mod edit;
mod edit_attr;
mod erase;
mod error;
mod explain;
mod graph;
mod handle;
mod lexer;
mod number;
mod parse;
mod parse_attr;
mod parse_more;
mod parse_op;
mod parse_type;
mod pinned;
mod print;
mod print_type;
mod program;
mod query;
pub(crate) mod sheet;
mod storage;
mod types;
mod verify;
mod verify_types;
pub mod words;
mod written;

#[cfg(test)]
mod tests;

pub use attr::{Attr, AttrValue, Literal};
pub use builder::Builder;
pub use derived::Quotient;
pub use error::{EncodingFault, Error, ErrorKind, Lexeme, Place, Pool, Slot, Want};
pub use graph::{Node, TileGraph};
pub use handle::{AttrRef, Block, MAX_HANDLES, Name, Op, Region, TypeRef, Use, Value};
pub use parse::{Options, parse};
pub use print::{Annotate, Plain, integer as print_integer, print};
pub use program::{Carried, Def, Loop, Program};
pub use storage::{LargeStorage, Mark, Pools, SmallStorage, Storage, Usage};
pub use types::{Encoding, MAX_RANK, Shape, Type, TypeKind};
pub use verify::verify;

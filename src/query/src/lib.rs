//! Questions about layouts, as text: *where is element (3, 5) of an accumulator of `mma.m16n8k16`?*
//!
//! ```text
//! logical_divide((8,8):(8,1), (2,2))                         a layout
//! mma.m16n8k16.f32.f16.D at (3, 5)                           laneid 14, bit 32 (register 1)
//! #ttg.blocked<{...}> @ 64x128 where lane 3 register 1       which elements
//! let A = (8,4):(4,1); equal(A, right_inverse(A))            names, comparisons
//! ```
//!
//! An expression is a layout in any notation that the library reads (CuTe's, also as CuTe prints it; TIRx's, also as TVM
//! prints it; TileAS descriptors; Triton's encodings with a shape), an operand of an instruction, or a function of
//! [`FUNCTIONS`] over expressions. [`ask`] reads a query, computes it in lent memory ([`QueryStorage`]) and gives an
//! [`QueryAnswer`], a value that writes itself as text or as JSON. What is written can be asked again.
//!
//! | module | what |
//! | --- | --- |
//! | `ask` `eval` | queries, expressions: read and computed from left to right |
//! | `text` `literal` | where things end; layouts and numbers as they are written |
//! | `value` `functions` | what an expression stands for; what functions there are |
//! | `algebra` `shaped` | functions on layouts; shapes given to layouts, one after another |
//! | `instruction` | instructions by the names that people type |
//! | `conflicts` | bank conflicts of an access, and what would be free |
//! | `units` | tiles of matrix units: descriptors, swizzle modes, tensor maps |
//! | `distribution` `homes` | a layout as lanes, warps and registers, also of warps of another size |
//! | `exchange` `machine` | one distribution beside another; figures and products of an architecture |
//! | `answer` `show` | what is asked, and the answer in words and JSON |
//! | `error` `words` `write` | why there is none, in words; numbers and strings |
//!
//! Guarantees: no allocation, no recursion, no panic. What depends on an architecture is read from the tables.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
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

mod algebra;
mod answer;
mod ask;
mod conflicts;
mod distribution;
mod error;
mod eval;
mod exchange;
mod functions;
mod homes;
mod instruction;
mod literal;
mod machine;
mod shaped;
mod show;
mod text;
mod units;
mod value;
mod words;
mod write;

pub use answer::{LayoutComparison, MAX_PARTS, PositionPart, QueryAnswer, QueryTopic};
pub use ask::ask;
pub use distribution::{NoDistribution, Tile, WarpSplit, distributions};
pub use error::{KindOfValue, Needed, QueryError, Why};
pub use functions::{FUNCTIONS, FunctionForm, QueryFunction};
pub use homes::{Distribution, ElementBit};
pub use instruction::parts;
pub use show::{AccessedBanks, WriteError};
pub use text::TextSpan;
pub use value::{
    ElementOrder, LooseSwizzle, MAX_DIMS, MAX_NAMES, MAX_VALUES, Picked, Placed, QueryStorage,
    QueryValue,
};

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
//! [`FUNCTIONS`] over expressions. [`ask`] reads a query, computes it in lent memory ([`QueryStorage`]) and gives a
//! [`QueryAnswer`], a value that writes itself as text, as JSON or as a picture. What is written can be asked again.
//!
//! | module | what |
//! | --- | --- |
//! | `ask` `eval` | queries, expressions: read and computed from left to right |
//! | `text` `literal` | where things end; layouts and numbers as they are written |
//! | `value` `functions` | what an expression stands for; what functions there are |
//! | `algebra` `named_axes` `shaped` | functions on layouts, TIRx's own; shapes given to layouts, one after another |
//! | `instruction` | instructions by the names that people type |
//! | `conflicts` | bank conflicts of an access, and what would be free |
//! | `units` | tiles of matrix units: descriptors, swizzle modes, tensor maps |
//! | `distribution` `homes` | a layout as lanes, warps and registers, also of warps of another size |
//! | `exchange` `machine` `listing` | one distribution beside another; figures, products and instructions of an architecture |
//! | `answer` `show` | what is asked, and the answer in words and JSON |
//! | `error` `words` `write` | why there is none, in words; numbers and strings |
//!
//! Guarantees: no allocation, no recursion, no panic. What depends on an architecture is read from the tables.
//!
//! ```
//! use lanebook::TABLES;
//! use lanebook::query::*;
//!
//! let mut storage = Box::new(QueryStorage::new());
//! // Where an element of an accumulator lies.
//! let answer: QueryAnswer = ask(&TABLES, None, "mma.m16n8k16.f32.f16.D at (3, 5)", &mut storage).unwrap();
//! assert!(matches!(answer.topic, QueryTopic::Element(_)));
//! let (mut text, mut json) = (String::new(), String::new());
//! answer.write_text(&mut text).unwrap();
//! answer.write_json(&mut json).unwrap();
//! assert!(text.contains("laneid 14") && json.starts_with('{'), "{text}");
//! let placed: &Placed = answer.layout().unwrap();
//! let mut room = [0; 32];
//! assert_eq!(placed.extents(&mut room), [16, 8]);
//! let order: ElementOrder = placed.elements;
//! assert_eq!((order.extents(), order.row_major, order.shaped(&[4, 4]).extents()), (&[16, 8][..], true, &[4, 4][..]));
//! assert_eq!((answer.value().kind(), answer.error(Why::UnknownName).line), (KindOfValue::Layout, 1));
//! // Conflicts of an access, slot by slot.
//! let mut storage = Box::new(QueryStorage::new());
//! let text = "conflicts(<(8,64),(64,1)> of f16, ldmatrix.x4) on sm_80";
//! let answer = ask(&TABLES, None, text, &mut storage).unwrap();
//! let mut slots = 0;
//! let access: AccessedBanks = answer.accessed(|_, _| slots += 1).unwrap().unwrap();
//! assert!(access.passes >= access.least && slots > 0);
//! // What is wrong, where, and what to do about it.
//! let mut storage = Box::new(QueryStorage::new());
//! let text = "composition((8,8):(8,1)";
//! let refused: QueryError = ask(&TABLES, None, text, &mut storage).err().unwrap();
//! let (mut why, mut json, mut alone) = (String::new(), String::new(), String::new());
//! refused.write_text(text, &mut why).unwrap();
//! refused.write_json(text, &mut json).unwrap();
//! refused.why.write_text("", &mut alone).unwrap();
//! assert!(why.starts_with("line 1"), "{why}");
//! assert_eq!(refused.why, Why::Needed(Needed::CommaOrClose));
//! // The functions of the language, with what they take.
//! let form: &FunctionForm = FUNCTIONS.iter().find(|form| form.name == "conflicts").unwrap();
//! let function: QueryFunction = QueryFunction::named("conflicts").unwrap();
//! assert_eq!((function.form().map(|own| own.name), function.is_question(), form.function == function), (Some("conflicts"), true, true));
//! assert!(MAX_VALUES > 0 && MAX_NAMES > 0 && MAX_DIMS > 0 && MAX_PARTS > 0);
//! // The parts of an instruction that have a layout.
//! let mma = TABLES.atom(TABLES.atom_named("mma.m16n8k16.f32.f16").unwrap()).unwrap();
//! assert_eq!(parts(mma).collect::<Vec<_>>(), ["A", "B", "C", "D"]);
//! ```
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
mod listing;
mod literal;
mod machine;
mod named_axes;
mod shaped;
mod show;
mod text;
mod units;
mod value;
mod words;
mod write;

pub use answer::{LayoutComparison, MAX_PARTS, PositionPart, QueryAnswer, QueryTopic};
pub use ask::ask;
pub use distribution::in_memory::memory_layout;
pub use distribution::{
    NoDistribution, Tile, WarpSplit, distribution, distributions, written_element,
};
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

//! What lanebook tells people: a program with what was decided, a refusal at its place, the course of inference.
//!
//! The command, the Python package and the page say the same, since all of them ask here.
//!
//! | module | what |
//! | --- | --- |
//! | [`compile`] [`infer`] | a program's text in, text out: kernels with their reasons, layouts with theirs |
//! | [`lint`] | a program whose tiles have layouts, line by line: what is costly, what is wrong |
//! | [`passes`] | passes over a text, with what their choices cost as it is compiled |
//! | [`convert`] | two layouts in, the instructions between them out, with what is where |
//! | [`plan`] [`inferred`] | what was decided: of a plan, of inference |
//! | [`refused`] [`reasons`] | why there is none; why a candidate lost |
//! | `warps` | how many warps a block has, where its launch says it |
//! | `resolved` | layouts in notations of other systems, brought to the one that is planned in |
//! | [`problem`] [`program`] | what is wrong and what to do, with the place; a program's text |
//! | [`memory`] [`race`] | what inference borrows; iterations that meet |
//! | [`answer`] | answers and pictures as comma-separated values and JSON |
//! | [`archs`] [`notation`] [`table`] | architectures by name; layouts as people write them; columns |
//!
//! Nothing here knows an architecture, an instruction or a layout of its own.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod answer;
pub mod archs;
pub mod compile;
pub mod convert;
pub mod infer;
pub mod inferred;
pub mod lint;
pub mod memory;
pub mod notation;
pub mod passes;
pub mod plan;
pub mod problem;
pub mod program;
pub mod race;
pub mod reasons;
pub mod refused;
mod resolved;
pub mod table;
mod warps;

//! The layout algebra of lanebook: maps from logical coordinates to sets of physical coordinates
//! over named axes.
//!
//! A layout has two normal forms, and this crate converts between them where that is exact:
//!
//! - the **strided form** ([`LayoutRef`], [`Layout`]): iters `(extent, stride, axis)` in a tree,
//!   replica iters, an offset, and a post-map ([`PostMap`]) on the memory axis: an XOR swizzle,
//!   then interval padding. Extents may be any integers or run-time symbols ([`Int`]);
//! - the **linear form** ([`Linear`]): a matrix over GF(2) with labelled dimensions, typed by
//!   direction.
//!
//! Modules, bottom up:
//!
//! | module | what |
//! | --- | --- |
//! | [`axis`] `sym` `order` | names of axes, run-time symbols, in which order extents are walked |
//! | [`error`] | everything that can go wrong |
//! | [`num`] [`post`] [`coord`] | integers that may be symbols, swizzles and padding, physical places |
//! | `iter` [`profile`] [`linear`] | a leaf, the tree, the matrix over GF(2) |
//! | [`layout`] `query` `apply` | the strided form, questions about it, what it does to a coordinate |
//! | [`ops`] [`convert`] | its algebra (compose, divide, invert), and the way to the linear form |
//! | [`packed`] | a layout in a few bytes |
//! | [`cute`] [`tirx`] [`triton`] [`tilelang`] | what each peer has beyond that, in its own words |
//! | [`notation`] | text of every peer, read and written |
//! | [`words`] `explain` | what errors say to a person, without formatting |
//!
//! # Contract
//! No allocation, no `unsafe`, no recursion, no panic: whatever can go wrong is an [`Error`] (at
//! most 40 bytes, no strings). Capacities: [`MAX_ITERS`] iters, [`MAX_MODES`] modes, 64 x 64 bits;
//! more is [`Error::Capacity`]. Order is CuTe's: colexicographic, the leftmost mode is the fastest.
//! `compose(a, b)(x) = a(b(x))`.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![cfg_attr(
    not(test),
    deny(
        clippy::arithmetic_side_effects,
        clippy::indexing_slicing,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::integer_division,
        clippy::unreachable,
        clippy::todo
    )
)]

#[cfg(test)]
extern crate std;

mod apply;
pub mod axis;
pub mod convert;
pub mod coord;
pub mod cute;
pub mod error;
mod explain;
mod iter;
pub mod layout;
pub mod linear;
pub mod notation;
pub mod num;
pub mod ops;
#[doc(hidden)]
pub mod order;
pub mod packed;
pub mod post;
pub mod profile;
mod query;
mod sym;
pub mod tilelang;
pub mod tirx;
pub mod triton;
pub mod words;

pub use axis::{AxisId, AxisNames, WellKnown};
pub use coord::Coord;
pub use error::{Error, Limit, Result};
pub use layout::{Iter, Layout, LayoutRef, MAX_ITERS, MAX_MODES, MAX_OFFSETS, Offset};
pub use linear::{Dims, Hw, Linear, Logical};
pub use num::{Int, NoSyms, SymId, SymNames, SymTable};
pub use post::{MAX_PADS, Pad, Padding, PostMap, Swizzle, Unit};
pub use profile::Profile;

#[cfg(test)]
mod tests;

//! What choosing and passes share: tiles as bits, matrix units and their memories, encodings of
//! Triton, and the arithmetic of one atom against one tile.
//!
//! | module | what |
//! | --- | --- |
//! | [`map`] | fragments, memory maps, bank conflicts: the linear form of tiles |
//! | [`mod@unit`] | descriptors, swizzle modes, operand tiles, tensor memory, tensor maps |
//! | [`encoding`] | Triton's encodings with the tables' matrix tiles |
//! | [`copy_atom`] [`divide`] | an instruction's layouts bit by bit; a movement divided by it |
//! | [`offset`] | what an instance adds to an address: offset field and registers |
//! | [`tiling`] [`evaluate`] | the quotient, why there is none, and what it costs |
//! | `explain` | errors and reasons in words |
//! | [`basis`] | where elements lie between two distributions, by construction |
//! | [`candidates`] | shared layouts worth trying |
//! | [`matrix`] [`product`] [`tensor_blocks`] `axis_order` `pairs` | a product as instances of one instruction, its extents in a tile's order, of pairs of elements |
//! | [`repeat_places`] [`repeat_digits`] [`unlaid`] | instructions whose extents are no powers of two, as panels of such; why one multiplies no tile |
//! | [`shaping`] | what operations that change a shape do to distributions |
//! | `noise` | numbers that tests draw |
//!
//! Guarantees: no recursion, no allocation, no panic. Nothing here chooses.
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

mod axis_order;
#[doc(hidden)]
pub mod basis;
#[doc(hidden)]
pub mod candidates;
#[doc(hidden)]
pub mod copy_atom;
#[doc(hidden)]
pub mod divide;
pub mod encoding;
#[doc(hidden)]
pub mod evaluate;
mod explain;
pub mod map;
#[doc(hidden)]
pub mod matrix;
#[cfg(test)]
#[path = "tests/noise.rs"]
mod noise;
#[doc(hidden)]
pub mod offset;
mod pairs;
#[doc(hidden)]
pub mod product;
#[doc(hidden)]
pub mod repeat_digits;
#[doc(hidden)]
pub mod repeat_places;
#[doc(hidden)]
pub mod shaping;
#[doc(hidden)]
pub mod tensor_blocks;
#[doc(hidden)]
pub mod tiling;
pub mod unit;
#[doc(hidden)]
pub mod unlaid;

//! Pictures of layouts and of instruction operands.
//!
//! A [`Picture`] is a few grids of labelled, coloured cells with a title and a legend.
//! [`layout::panel`] and [`atom::picture`] make them, [`svg::render`] and [`text::render`] show
//! them; both renderers show the same labels. Nothing here knows an architecture: numbers come from
//! the layouts and tables that are handed in.
//!
//! | module | what |
//! | --- | --- |
//! | [`layout`] [`physical`] [`atom`] [`banks`] | pictures: of a layout, of it seen from the machine, of operands, of banks |
//! | [`difference`] | two layouts beside each other |
//! | [`instance`] [`cell`] [`colour`] [`notation`] | one instance of a family, a cell's label, its colour, layouts as a line |
//! | `picture` `fold` | grids of labelled, coloured cells: what the others make and show; repeated parts of them drawn once |
//! | [`svg`] [`text`] | the renderers |
//!
//! Output is a function of its input alone: the same picture is the same bytes.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod atom;
pub mod banks;
pub mod cell;
pub mod colour;
pub mod difference;
mod fold;
pub mod instance;
pub mod layout;
pub mod notation;
pub mod physical;
mod picture;
pub mod svg;
pub mod text;

pub use picture::{Cell, Colours, DrawError, Panel, Picture, Repeat};

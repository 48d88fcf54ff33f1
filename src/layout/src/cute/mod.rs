//! CuTe's algebra on hierarchical layouts, beyond what [`crate::ops`] has for all strided layouts.
//!
//! - [`mod@tuple`]: trees of numbers: shapes, coordinates (`_` leaves a mode open), orders,
//!   profiles;
//! - [`coords`]: coordinates to positions and back, congruence;
//! - [`shape`]: `shape_div`, `ceil_div`; [`modes`]: select, group, slice, dice, filter;
//! - [`tile`]: composition with tilers, divides, products; [`make`]: layouts from shapes;
//!   [`mod@recast`];
//! - [`basis`]: layouts whose positions are coordinates, nullspace, common vectors;
//! - [`canon`]: equality as functions; [`intern`]: layouts in an arena that the caller lends;
//!   [`candidate`].
//!
//! A *composed layout* `S o offset o L` is a layout with an offset and a swizzle as its post-map:
//! every operation here that takes a layout takes one, and either acts on `L` (coalesce,
//! composition, divide) or moves the offset along (slice). Functions refuse what CuTe answers
//! wrongly; each says when.

pub mod basis;
mod basis_tile;
pub mod candidate;
pub mod canon;
pub mod coords;
pub mod intern;
pub mod make;
pub mod modes;
pub mod recast;
pub mod shape;
pub mod tile;
pub mod tuple;
mod walk;

pub use basis::{
    coordinate, cosize, left_inverse, max_common_layout, max_common_vector, nullspace,
    right_inverse,
};
pub use basis_tile::complement_in;
pub use canon::{canonical, equivalent};
pub use coords::{congruent, crd2crd, crd2idx, evaluate, idx2crd, weakly_congruent};
pub use intern::{Arena, ArenaId};
pub use make::{
    ThreadValue, make_identity_layout, make_layout, make_layout_like, make_layout_tv,
    make_ordered_layout, tile_to_shape, tiles_of,
};
pub use modes::{
    coalesce_by_profile, dice, filter, filter_zeros, group_modes, select, slice, slice_and_offset,
};
pub use recast::recast;
pub use shape::{Rounding, ceil_div, div_each, shape_div};
pub use tile::{
    TileTree, Tiler, append_product, blocked_product, composition, flat_divide, flat_product,
    logical_divide, logical_product, raked_product, tiled_divide, tiled_product, zipped_divide,
    zipped_product,
};
pub use tuple::{IntTuple, KEEP, TupleRef};

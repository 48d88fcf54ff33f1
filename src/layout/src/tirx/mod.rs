//! TIRx's operations on layouts over named axes: grouping, tiling, slicing, scopes, swizzles,
//! ready-made layouts.
//!
//! A TIRx layout is a [`crate::Layout`] with a flat profile; a composed one (a swizzle over a tile)
//! has a [`crate::PostMap`]. TIRx writes row-major, first iter slowest, and this module counts as
//! TIRx writes: shapes, coordinates, iter and dimension numbers, separators and permutations all
//! begin with the slowest. The trees of other notations are ignored: only the iters count, and
//! every result is flat.
//!
//! Two kinds of knowledge come from the caller: what an axis is ([`AxisKinds`];
//! [`crate::WellKnown`] knows TIRx's) and how axes relate on a target ([`AxisRelation`]). The
//! ready-made layouts take their numbers as arguments too; [`facts`] holds TIRx's own. Text is in
//! [`crate::notation::tirx`].
//!
//! Nothing here costs time proportional to an extent. Element counts and ranges are checked. Where
//! TIRx answers "no" (a tile that is not inside another, a slice that has no strided form), the
//! answer is an [`crate::Error`] with the dimension that stands in the way.

mod atom;
mod axes;
mod canonical;
mod evaluate;
mod factor;
pub mod facts;
mod group;
mod rearrange;
mod scale;
mod slice;
mod swizzle;
mod tile;
mod tmem;

pub use atom::{AtomForm, Count, FormIter, atom_layout, wg_local_layout};
pub use axes::{AxisKind, AxisKinds, AxisRelation, Scope, ScopePair, scope_pair, well_formed};
pub use canonical::{canonicalize, canonicalize_beside, canonicalize_for, is_trivial};
pub use evaluate::{apply_all_shaped, apply_iters, apply_shaped, memory_span};
pub use factor::{
    inner_of_tile, inner_of_tile_stepped, left_of_sum, outer_of_tile, outer_of_tile_stepped,
    right_of_sum,
};
pub use group::{Grouped, GroupedMany, MAX_SHAPES, Separators, group, group_many};
pub use rearrange::{broadcast, pack, permute_by_groups, permute_dims, storage, unpack};
pub use scale::{ScaleAtom, ScaleLayout, scale_factor_layout, scale_factor_shared_layout};
pub use slice::slice;
pub(crate) use swizzle::swizzle_in_place;
pub use swizzle::{
    BankPlace, Banks, SwizzleAtom, bare_swizzle, compose_swizzle, place, swizzle, swizzle_for,
    swizzle_parts,
};
pub use tile::{TileStep, direct_sum, footprint, tile, tile_stepped, tile_to};
pub use tmem::{
    Datapath, DatapathUse, OperandA, TmemOperand, datapath, operand_layout, tmem_datapath_layout,
};

use crate::error::Result;
use crate::layout::{Iter, Layout, LayoutRef};
use crate::ops::{Iters, push};

/// The shard iters as TIRx writes them, slowest first.
fn written(l: &LayoutRef<'_>) -> Result<Iters> {
    let mut out = Iters::new();
    for it in l.shard.iter().rev() {
        push(&mut out, *it)?;
    }
    Ok(out)
}

/// The flat layout with these shard iters, slowest first, and the replicas, offset and post-map of
/// `rest`.
fn from_written(shard: &[Iter], rest: &LayoutRef<'_>) -> Result<Layout> {
    let mut out = bare(shard)?;
    out.copy_rest(rest)?;
    Ok(out)
}

/// The flat layout with these shard iters, slowest first, and nothing else.
fn bare(shard: &[Iter]) -> Result<Layout> {
    let mut out = Layout::new();
    for it in shard.iter().rev() {
        out.push_shard(*it)?;
    }
    Ok(out)
}

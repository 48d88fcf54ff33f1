//! Copies of boxes of a tensor: what its tensor map must say, and what the copy completes on.

use crate::ir::Value;

/// Dimensions of the tensors that are copied: memrefs are matrices.
pub const MAP_RANK: usize = 2;

/// What a tensor map must say for the copies of a kernel. The caller fills the map and passes it as a parameter; dimensions count
/// from the innermost. Elements are one step apart, nothing is interleaved, and what lies outside the tensor is not copied.
///
/// The tensor's extents are the memref's: numbers of its type, or what the caller passes for `?`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct MapPlan {
    /// The kernel's argument that it describes; its pointer is the tensor's address.
    pub memref: Value,
    /// Whose rules hold: an index among the tables' tensor maps.
    pub map: u8,
    /// The element type: an index among that map's.
    pub element: u8,
    /// How the tile's bytes are permuted: an index among the tables' swizzle modes.
    pub mode: u8,
    /// The memref's dimension that each of the map's is.
    pub order: [u8; MAP_RANK],
    /// The box's extents in elements.
    pub boxed: [u16; MAP_RANK],
    /// Bytes from one element to the next of the outer dimension, if the type says it; else the memref's stride times the element.
    pub stride_bytes: Option<u32>,
}

/// A movement by copies of boxes, each of them one instance that one thread starts. What an instance's element adds to the tile's
/// start are its coordinates, and where its bytes begin in shared memory.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TiledPlan {
    /// The instruction: an index among the tables' tiled copies.
    pub form: u8,
    /// The map: an index among the plan's.
    pub map: u8,
    /// The completion object that it counts down, by its number in the group; `None` where it completes otherwise. Movements that
    /// follow each other share one: together they are one phase of it.
    pub completion: Option<u8>,
}

//! Copies of boxes of a tensor: what its tensor map must say, and what the copy completes on.

use lanebook_ir::Value;

/// Most dimensions of the tensors that are copied: memrefs are matrices, or many of them, counted
/// by the dimensions in front of theirs.
pub const MAP_RANK: usize = lanebook_tile::unit::map::MAX_RANK;

/// What a tensor map must say for the copies of a kernel. The caller fills the map and passes it as
/// a parameter; dimensions count from the innermost. Elements are one step apart, nothing is
/// interleaved, and what lies outside the tensor is not copied.
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
    /// Dimensions, the memref's.
    pub rank: u8,
    /// The memref's dimension that each of the map's is; the first [`Self::rank`] mean something.
    pub order: [u8; MAP_RANK],
    /// The box's extents in elements, 1 behind the first [`Self::rank`].
    pub boxed: [u16; MAP_RANK],
    /// Bytes from one element to the next of the dimensions behind the innermost, if the type says
    /// it; else the memref's stride times the element.
    pub stride_bytes: [Option<u32>; MAP_RANK - 1],
}

#[doc(hidden)]
impl MapPlan {
    /// The memref's dimension that each of the map's is, innermost first.
    #[must_use]
    pub fn dims(&self) -> &[u8] {
        self.order.get(..usize::from(self.rank)).unwrap_or(&[])
    }

    /// Bytes from one element to the next of a dimension behind the innermost; `None` if the type
    /// does not say it.
    #[must_use]
    pub fn stride(&self, dim: usize) -> Option<u32> {
        dim.checked_sub(1).and_then(|at| self.stride_bytes.get(at)).copied().flatten()
    }
}

/// A movement by copies of boxes, each of them one instance that one thread starts. What an
/// instance's element adds to the tile's start are its coordinates, and where its bytes begin in
/// shared memory.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TiledPlan {
    /// The instruction: an index among the tables' tiled copies.
    pub form: u8,
    /// The map: an index among the plan's.
    pub map: u8,
    /// The mbarrier that it counts down, by its number in the group; `None` where it
    /// completes otherwise. Movements that follow each other share one: together they are one phase
    /// of it.
    pub completion: Option<u8>,
}

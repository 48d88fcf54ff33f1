//! An access to memory that threads share, and what of it is touched.

use crate::memory::alloc::shares_bytes;
use lanebook_emit::step::Slot;
use lanebook_plan::AllocPlan;
use lanebook_tables::AccessId;

/// What an access touches.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(crate) enum AccessPlace {
    /// Bytes of shared memory: from where, and how many.
    Shared(u32, u32),
    /// Columns of tensor memory: from where, and how many.
    Columns(u32, u32),
    /// A tensor in global memory, by the first tile that is of it.
    Tensor(usize),
    /// A tensor whose elements parallel loops touch, by its number among the parameters.
    Elements(usize),
}

impl AccessPlace {
    /// The bytes of a shared tile.
    pub(crate) const fn of(tile: &AllocPlan) -> Self {
        Self::Shared(tile.offset, tile.bytes)
    }

    /// Whether two have anything in common.
    pub(super) fn meets(self, other: Self) -> bool {
        match (self, other) {
            (Self::Shared(a, bytes), Self::Shared(b, others))
            | (Self::Columns(a, bytes), Self::Columns(b, others)) => {
                shares_bytes((a, bytes), (b, others))
            }
            _ => self == other,
        }
    }
}

/// One access to memory that threads share.
#[derive(Copy, Clone)]
pub(crate) struct SharedAccess {
    pub(crate) place: AccessPlace,
    pub(crate) kind: AccessId,
    pub(crate) writes: bool,
    /// Where the address of the object is that it completes on.
    pub(crate) signal: Option<Slot>,
    /// The movement of a tile of global memory.
    pub(crate) moved: Option<u16>,
}

//! Accesses to memory that threads share: in which memory, to what of it, and which of them have to
//! be ordered.

use lanebook_plan::AllocPlan;
use lanebook_tables::AccessId;

/// A memory that accesses touch, and what they count there.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum TouchedMemory {
    /// Bytes of shared memory.
    Shared,
    /// Columns of tensor memory.
    Tensor,
    /// Tiles of tensors in global memory, as [`GlobalTile`] numbers them.
    Global,
}

/// A tile of a tensor in global memory, both by their numbers.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct GlobalTile {
    /// The tensor.
    pub tensor: u16,
    /// The tile.
    pub tile: u16,
}

impl GlobalTile {
    /// Tiles of one tensor lie beside each other.
    fn number(self) -> u32 {
        u32::from(self.tensor) << u16::BITS | u32::from(self.tile)
    }

    fn numbered(number: u32) -> Self {
        let [a, b, c, d] = number.to_be_bytes();
        Self { tensor: u16::from_be_bytes([a, b]), tile: u16::from_be_bytes([c, d]) }
    }
}

/// Most accesses of one operation: a nest of parallel loops has one for each buffer in memory that
/// it reads, and one for each that it writes.
pub const TOUCHED: usize = 16;

/// What one operation touches.
pub type TouchedList = heapless::Vec<MemAccess, TOUCHED>;

/// An access to a shared tile, to columns of tensor memory, or to a global tile of a tensor that a
/// kernel reads and writes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct MemAccess {
    /// In which memory.
    pub memory: TouchedMemory,
    /// From here.
    pub from: u32,
    /// To here, exclusive.
    pub to: u32,
    /// Of a global tile: which way of dealing it out to threads, from 1. Each thread meets its own
    /// elements alone where two are equal; 0 = not known.
    pub dealt: u16,
    /// Its kind.
    pub kind: AccessId,
    /// It writes.
    pub writes: bool,
    /// The mbarrier whose phase ends with it and has not been waited for.
    pub completion: Option<u8>,
}

impl MemAccess {
    /// All of a shared tile.
    #[must_use]
    pub fn shared(tile: &AllocPlan, kind: AccessId, writes: bool) -> Self {
        let to = tile.offset.saturating_add(tile.bytes);
        let memory = TouchedMemory::Shared;
        Self { memory, from: tile.offset, to, dealt: 0, kind, writes, completion: None }
    }

    /// A global tile.
    #[must_use]
    pub fn global(tile: GlobalTile, kind: AccessId, writes: bool) -> Self {
        let from = tile.number();
        let (memory, to) = (TouchedMemory::Global, from.saturating_add(1));
        Self { memory, from, to, dealt: 0, kind, writes, completion: None }
    }

    /// Whether two accesses have to be ordered. Tiles of a tensor may overlap, where two that are
    /// written do not certainly lie `apart`.
    #[must_use]
    pub fn conflicts(&self, other: &Self, apart: impl Fn(u16, u16) -> bool) -> bool {
        if !(self.writes || other.writes) || self.memory != other.memory {
            return false;
        }
        if self.memory == TouchedMemory::Global {
            let first = |t: &Self| GlobalTile::numbered(t.from);
            let last = |t: &Self| GlobalTile::numbered(t.to.saturating_sub(1)).tensor;
            let tensor = first(self).tensor <= last(other) && first(other).tensor <= last(self);
            if !tensor || !self.is_one() || !other.is_one() {
                return tensor;
            }
            let same = self.from == other.from;
            let own = same && self.dealt != 0 && self.dealt == other.dealt;
            let lies_apart = || apart(first(self).tile, first(other).tile);
            return !(own || self.writes && other.writes && lies_apart());
        }
        self.from < other.to && other.from < self.to
    }

    /// Whether a global access is to one tile: else it stands for several.
    const fn is_one(&self) -> bool {
        self.to.saturating_sub(self.from) <= 1
    }

    /// Whether accesses may be taken for one to all that lies between them.
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        self.kind == other.kind
            && self.writes == other.writes
            && self.completion == other.completion
            && self.memory == other.memory
    }

    /// Whether all that another access conflicts with conflicts with this one, too.
    pub(super) fn covers(&self, other: &Self) -> bool {
        let dealt = self.dealt == other.dealt || self.dealt == 0;
        self.is_alike(other) && dealt && self.from <= other.from && other.to <= self.to
    }

    /// An access to both places, and to what lies between.
    pub(super) fn hull(self, other: Self) -> Self {
        let (from, to) = (self.from.min(other.from), self.to.max(other.to));
        Self { from, to, dealt: 0, ..self }
    }
}

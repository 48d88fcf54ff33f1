//! What inference is asked about: buffers, and operators with their accesses.

use crate::arena::{BaseId, IndexForm};
use lanebook_layout::Swizzle;

/// How many dimensions a buffer, and variables a loop nest, can have.
pub const MAX_RANK: usize = 6;

/// What inference must know of a machine; the tables have it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MachineFigures {
    /// Threads whose accesses are served together.
    pub wave: u32,
    /// Bits of the widest access of a thread.
    pub access_bits: u32,
    /// Bytes of a sector of global memory.
    pub sector_bytes: u32,
}

/// A buffer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct BufferId(pub u16);

/// An operator.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct OperatorId(pub u16);

/// Where a buffer lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MemoryScope {
    /// Global memory.
    #[default]
    Global,
    /// Shared memory.
    Shared,
    /// Registers of the threads: a layout is inferred.
    Fragment,
}

/// Neighbouring variables.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct VarRange {
    pub(crate) first: u16,
    pub(crate) count: u8,
}

impl VarRange {
    /// The variables, the first first.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = BaseId> + ExactSizeIterator + Clone {
        let first = self.first;
        (0..u16::from(self.count)).map(move |k| BaseId(first.saturating_add(k)))
    }

    /// The variables, and one more after them.
    pub(crate) fn with(self, last: Option<BaseId>) -> heapless::Vec<BaseId, { MAX_RANK + 1 }> {
        let mut out = heapless::Vec::new();
        for id in self.iter().chain(last) {
            let _ = out.push(id);
        }
        out
    }

    /// How many.
    #[must_use]
    pub fn len(self) -> usize {
        usize::from(self.count)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.count == 0
    }
}

/// Which thread holds an element, and where in its registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FragmentForm {
    /// The coordinates that the maps are over: dimensions of a buffer, or variables of a loop.
    pub vars: VarRange,
    /// The number of the copy.
    pub copy: BaseId,
    /// How many copies there are.
    pub copies: u32,
    /// The thread, counted from the first of the operator's range.
    pub thread: IndexForm,
    /// The local index: the element's place in its thread's registers, or the iteration's in its
    /// thread's work.
    pub index: IndexForm,
    /// How many local indices there are.
    pub slots: u32,
    /// Points beyond the extents were added so that threads are even: they need a guard.
    pub padded: bool,
}

/// How a loop's own plan deals out its iterations.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum PlanShape {
    /// Vectors of all of them, row-major.
    #[default]
    Whole,
    /// Such that all threads together take whole parts of a row.
    Rows,
    /// The points of so many outer variables; with none every thread does all.
    Outer(u8),
    /// A row to a group of threads, each group its rows.
    Shares,
}

/// A buffer as inference sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Buffer {
    /// Bits of an element.
    pub bits: u32,
    /// Where it lies.
    pub scope: MemoryScope,
    /// Its dimensions.
    pub dims: VarRange,
    /// The buffer whose storage it shares, itself if none.
    pub storage: BufferId,
    /// Whether its layout was written, or is pinned by a unit.
    pub pinned: bool,
    /// Of a storage in shared memory: how its bytes, strip by strip, are exchanged.
    pub(crate) swizzle: Option<Swizzle>,
    /// Bytes of a row's part in the strips that it lies in; 0: row by row.
    pub(crate) column_block: u32,
    /// Bytes that stand behind every so many of these; 0: none.
    pub(crate) padding: (u32, u32),
    /// Where its elements lie, where that is neither rows nor strips.
    pub(crate) places: Option<StoragePlaces>,
    /// One of these was written.
    pub(crate) is_swizzle_pinned: bool,
    /// Strips and swizzle are those that the unit reads which computes its products.
    pub(crate) is_described: bool,
    /// The next buffer of the same storage, in a ring.
    pub(crate) next_alias: BufferId,
    /// Of a storage: a reduction reads it.
    pub(crate) is_reduced: bool,
    /// Of a storage: a reduction leaves its results there.
    pub(crate) is_result: bool,
    /// Of a storage: the first and the last access to it.
    pub(crate) uses: Option<(u32, u32)>,
    /// Of a storage: the first of the threads that its fragments' threads are counted from.
    pub(crate) begin: Option<u32>,
    /// The product whose unit has laid it.
    pub(crate) product: Option<OperatorId>,
    /// The next buffer of its component.
    pub(crate) next_buffer: Option<BufferId>,
    /// It was laid since the queue looked, and which one before it.
    pub(crate) fresh: Option<Option<BufferId>>,
}

/// Where each element of a storage in shared memory lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoragePlaces {
    /// The variable that stands for an element's number, row by row.
    pub element: BaseId,
    /// Bytes from the storage's start to the element, as a map over that variable.
    pub bytes: IndexForm,
    /// Bytes of an element.
    pub unit: u32,
}

/// What an operator is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Kind {
    /// A nest of parallel loops, or a tile operation that is one: copy, fill.
    #[default]
    Parallel,
    /// A reduction along a dimension of its first access, into its second.
    Reduce {
        /// The dimension.
        dim: u8,
    },
    /// A read outside of any operator, by all threads.
    Uniform,
    /// A matrix product: its unit says where its fragments lie ([`crate::Inference::pin_product`]).
    Product,
}

/// An operator as inference sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Operator {
    /// What it is.
    pub kind: Kind,
    /// Loop variables.
    pub vars: VarRange,
    /// Its accesses: the first, and how many.
    pub(crate) accesses: (u32, u16),
    /// The threads that execute it: the first, and how many.
    pub threads: (u32, u32),
    /// The greatest vector of its accesses, in elements, if written.
    pub vector: Option<u32>,
    /// Whether its layout was written.
    pub pinned: bool,
    /// The least member of its component: of those that share fragments with it.
    pub(crate) component: OperatorId,
    /// The next member of its component.
    pub(crate) next_member: Option<OperatorId>,
    /// Of a component's least member: its first buffer.
    pub(crate) first_buffer: Option<BufferId>,
}

/// When an access happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)] // From 0 on: memory of zeros may be lent.
pub enum When {
    /// In every iteration.
    #[default]
    Always,
    /// Where a map is not 0.
    Where(IndexForm),
    /// Data decide when, or at which element.
    Unknown,
}

/// An access of an operator to a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Access {
    /// To which buffer.
    pub buffer: BufferId,
    /// Whether it stores.
    pub write: bool,
    /// When it happens.
    pub when: When,
    /// Its indices over loop variables.
    pub(crate) index: [IndexForm; MAX_RANK],
    pub(crate) rank: u8,
    /// Whose it is.
    pub(crate) operator: OperatorId,
    /// The next access to the same storage.
    pub(crate) next_use: Option<u32>,
}

impl Access {
    /// The indices, by dimension.
    #[must_use]
    pub fn indices(&self) -> &[IndexForm] {
        self.index.get(..usize::from(self.rank)).unwrap_or(&[])
    }
}

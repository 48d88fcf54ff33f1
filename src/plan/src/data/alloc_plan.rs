//! Tiles in shared memory: their layout, or the table of their places, and where they start.

use lanebook_ir::Value;
use lanebook_layout::Layout;
use lanebook_tile::map::{MemoryMap, PlaceTable, SharedLayout, TileShape};

/// A tile in shared memory.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct AllocPlan {
    /// The value that the allocation returns.
    pub value: Value,
    /// Its shape.
    pub shape: TileShape,
    /// Its layout.
    pub layout: SharedLayout,
    /// Where its elements lie, of a layout that says no more than that there is this table.
    pub table: Option<PlaceTable>,
    /// The program wrote the layout: it is kept to.
    pub fixed: bool,
    /// Bytes, padding included: of all its buffers, one behind the other.
    pub bytes: u32,
    /// Buffers: as many as the loop has stages that fills it turns ahead ([`Plan::stages`](super::Plan::stages)), else 1.
    pub stages: u8,
    /// Alignment of its start in bytes.
    pub align: u32,
    /// Where it starts, in bytes from the group's shared segment; set by placement.
    pub offset: u32,
    /// The first and the last operation during which it lives, as placement counts.
    #[doc(hidden)]
    pub life: (usize, usize),
}

impl AllocPlan {
    /// A tile that lies row by row, before its bytes are counted and it is placed.
    #[doc(hidden)]
    #[must_use]
    pub const fn by_rows(value: Value, shape: TileShape) -> Self {
        Self {
            value,
            shape,
            layout: SharedLayout::BY_ROWS,
            table: None,
            fixed: false,
            bytes: 0,
            stages: 1,
            align: 1,
            offset: 0,
            life: (0, usize::MAX),
        }
    }

    /// The tile's map; `None` if an offset does not fit 32 bits.
    #[must_use]
    pub fn map(&self) -> Option<MemoryMap> {
        self.map_by(&self.layout)
    }

    /// The map that it has under a layout.
    pub(crate) fn map_by(&self, layout: &SharedLayout) -> Option<MemoryMap> {
        match &self.table {
            Some(table) if layout.by_table => table.map(self.shape),
            _ => layout.map(self.shape),
        }
    }

    /// Bytes of one buffer of it under a layout, if they are not too many.
    pub(crate) fn bytes_by(&self, layout: &SharedLayout) -> Option<u64> {
        match &self.table {
            Some(table) if layout.by_table => table.bytes(self.shape),
            _ => layout.bytes(self.shape),
        }
    }

    /// Alignment of its start under a layout, at least `least`. For a table no more than `most`: a
    /// segment does not begin at any power of two.
    pub(crate) fn align_by(&self, layout: &SharedLayout, (least, most): (u32, u32)) -> u32 {
        match &self.table {
            Some(table) if layout.by_table => {
                Some(table.align(least)).filter(|need| *need <= most).unwrap_or(least)
            }
            _ => layout.align(least),
        }
    }

    /// Whether its start keeps clear of every bit of an address that several bits of an element's
    /// number change: it may be added before exclusive or changes them, and behind that else.
    #[doc(hidden)]
    #[must_use]
    pub fn is_clear(&self) -> bool {
        self.table.as_ref().is_none_or(|table| table.align(1) <= self.align)
    }

    /// The layout from the row-major element number to the byte, for people to read; `None` where no
    /// strides say it.
    #[must_use]
    pub fn to_layout(&self) -> Option<Layout> {
        match &self.table {
            Some(table) if self.layout.by_table => table.to_layout(self.shape),
            _ => self.layout.to_layout(self.shape),
        }
    }

    /// Bytes from one of its buffers to the next.
    #[must_use]
    pub fn stage_bytes(&self) -> u32 {
        self.bytes.checked_div(u32::from(self.stages)).unwrap_or(self.bytes)
    }

    /// Gives it as many buffers as it has stages, each of so many bytes and aligned as the first.
    pub(crate) fn repeat(&mut self, each: u32) {
        if self.stages > 1 {
            let apart = each.checked_next_multiple_of(self.align.max(1));
            let all = apart.and_then(|n| n.checked_mul(u32::from(self.stages)));
            self.bytes = all.unwrap_or(u32::MAX);
        }
    }

    /// Gives it fewer buffers.
    pub(crate) fn keep_buffers(&mut self, stages: u8) {
        let each = self.stage_bytes();
        self.stages = stages;
        self.bytes = each;
        self.repeat(each);
    }

    /// Whether two placed tiles have bytes in common.
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        self.offset < other.offset.saturating_add(other.bytes)
            && other.offset < self.offset.saturating_add(self.bytes)
    }
}

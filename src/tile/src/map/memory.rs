//! Memory maps: how many bytes each element bit is worth.

use crate::map::{BitMatrix, MAX_BITS, TileShape};
use lanebook_layout::{AxisId, Iter, Layout, PostMap};

/// What one element bit adds to an address.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub struct Column {
    /// Known bytes.
    pub bytes: u32,
    /// Times the outer stride (global tiles).
    pub lead: u32,
}

impl Column {
    /// Known bytes only.
    #[must_use]
    pub fn known(bytes: u32) -> Self {
        Self { bytes, lead: 0 }
    }

    /// All that it adds, in bytes, where an outer step is so many; `None` where it has steps and that
    /// is not known, or where they are too many for an offset.
    #[must_use]
    pub(crate) fn bytes_by(self, outer: Option<u32>) -> Option<u32> {
        match self.lead {
            0 => Some(self.bytes),
            lead => {
                let bytes = lead.checked_mul(outer?)?.checked_add(self.bytes)?;
                i32::try_from(bytes).is_ok().then_some(bytes)
            }
        }
    }

    /// Nothing at all.
    #[must_use]
    pub fn is_zero(self) -> bool {
        self.bytes == 0 && self.lead == 0
    }
}

/// How columns combine.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Combine {
    /// By exclusive or (a swizzled tile, or disjoint bits).
    Xor,
    /// By addition (padding).
    Add,
}

/// A tile in memory: element bits to bytes from the tile's start.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct MemoryMap {
    /// The tile.
    pub shape: TileShape,
    /// One column for each element bit of a panel.
    pub columns: BitMatrix<Column, MAX_BITS>,
    /// How they combine.
    pub combine: Combine,
    /// What the next panel along a column and along a row of the tile adds, by addition.
    pub panels: (Column, Column),
    /// Bytes of the outer stride (global tiles), where the type says it.
    pub outer_bytes: Option<u32>,
}

impl MemoryMap {
    /// A tile in global memory, contiguous along its columns (`row_major`) or rows. The other
    /// dimension is counted in `lead`: whatever the outer stride is, known or not, it is multiplied
    /// in when an address is formed.
    #[must_use]
    pub fn global(shape: TileShape, row_major: bool) -> Self {
        let mut columns = BitMatrix::new();
        for bit in 0..shape.total() {
            let is_col = bit < shape.cols;
            let index = if is_col { bit } else { bit.saturating_sub(shape.cols) };
            let step = 1u32.checked_shl(u32::from(index)).unwrap_or(0);
            let inner = Column::known(step.saturating_mul(u32::from(shape.bits) / 8));
            let _ = columns.push(if is_col == row_major {
                inner
            } else {
                Column { bytes: 0, lead: step }
            });
        }
        let next = |bits: u8| 1u32.checked_shl(u32::from(bits)).unwrap_or(0);
        let inner = |bits: u8| Column::known(next(bits).saturating_mul(u32::from(shape.bits) / 8));
        let outer = |bits: u8| Column { bytes: 0, lead: next(bits) };
        let panels = if row_major {
            (outer(shape.rows), inner(shape.cols))
        } else {
            (inner(shape.rows), outer(shape.cols))
        };
        Self { shape, columns, combine: Combine::Xor, panels, outer_bytes: None }
    }

    /// Bytes that a column adds, its outer steps included; `None` where it has such steps and they
    /// are not known, or where the bytes are too many for an offset.
    #[must_use]
    #[doc(hidden)] // For the floors above.
    pub fn known_bytes(&self, column: Column) -> Option<u32> {
        column.bytes_by(self.outer_bytes)
    }

    /// The same with no steps along the outer dimension, or none along the inner one.
    #[must_use]
    pub fn without(&self, outer: bool, inner: bool) -> Self {
        let left = |column: Column| Column {
            bytes: if inner { 0 } else { column.bytes },
            lead: if outer { 0 } else { column.lead },
        };
        let mut columns = BitMatrix::new();
        for &column in self.columns.as_slice() {
            let _ = columns.push(left(column));
        }
        Self { columns, panels: (left(self.panels.0), left(self.panels.1)), ..*self }
    }

    /// What the start of a panel is worth.
    #[must_use]
    pub fn panel(&self, number: u32) -> Column {
        let (up, across) = self.shape.grid.at(number);
        let add = |a: u32, b: u32| up.wrapping_mul(a).wrapping_add(across.wrapping_mul(b));
        Column {
            bytes: add(self.panels.0.bytes, self.panels.1.bytes),
            lead: add(self.panels.0.lead, self.panels.1.lead),
        }
    }

    /// What an element is worth: the element bits of its panel, above them the panel's number.
    #[must_use]
    #[inline]
    pub fn at(&self, e: u32) -> Column {
        match self.columns.get(e.trailing_zeros() as usize) {
            Some(column) if e.is_power_of_two() => column,
            _ => self.sum(e),
        }
    }

    /// What an element of several bits is worth, or of a further panel.
    #[inline(never)]
    fn sum(&self, e: u32) -> Column {
        let total = u32::from(self.shape.total());
        let number = e.checked_shr(total).unwrap_or(0);
        if number == 0 {
            return self.inside(e);
        }
        let (inside, panel) = (
            self.inside(e & 1u32.checked_shl(total).unwrap_or(0).wrapping_sub(1)),
            self.panel(number),
        );
        Column {
            bytes: inside.bytes.wrapping_add(panel.bytes),
            lead: inside.lead.wrapping_add(panel.lead),
        }
    }

    /// What the set of element bits `e` is worth.
    fn inside(&self, e: u32) -> Column {
        let mut out = Column::default();
        let mut rest = e;
        while rest != 0 {
            let bit = rest.trailing_zeros();
            rest &= rest.wrapping_sub(1);
            let c = self.columns.get(bit as usize).unwrap_or_default();
            match self.combine {
                Combine::Xor => {
                    out.bytes ^= c.bytes;
                    out.lead ^= c.lead;
                }
                Combine::Add => {
                    out.bytes = out.bytes.wrapping_add(c.bytes);
                    out.lead = out.lead.wrapping_add(c.lead);
                }
            }
        }
        out
    }

    /// For each element bit `k` the element whose plain place (without swizzle or padding) is `2^k`
    /// elements from the start: the order in which consecutive storage is filled. `None` if the map
    /// is no such storage.
    #[must_use]
    pub fn storage_order(&self) -> Option<BitMatrix<u32, MAX_BITS>> {
        match self.combine {
            Combine::Xor => self.swizzled_order(),
            Combine::Add => self.padded_order(),
        }
    }

    fn swizzled_order(&self) -> Option<BitMatrix<u32, MAX_BITS>> {
        // Gaussian elimination over the columns, remembering which element bits made each pivot.
        let mut pivots = [(0u32, 0u32); 32];
        for (bit, c) in self.columns.as_slice().iter().enumerate() {
            let (mut v, mut e) = (c.bytes, 1u32.checked_shl(bit as u32)?);
            while v != 0 {
                let slot = pivots.get_mut(v.ilog2() as usize)?;
                if slot.0 == 0 {
                    *slot = (v, e);
                    break;
                }
                v ^= slot.0;
                e ^= slot.1;
            }
        }
        let mut out = BitMatrix::new();
        for k in 0..self.columns.len() {
            let mut rest = u32::from(self.shape.bits / 8).checked_shl(k as u32)?;
            let mut e = 0u32;
            while rest != 0 {
                let slot = pivots.get(rest.ilog2() as usize)?;
                if slot.0 == 0 {
                    return None;
                }
                rest ^= slot.0;
                e ^= slot.1;
            }
            if !out.push(e) {
                return None;
            }
        }
        Some(out)
    }

    fn padded_order(&self) -> Option<BitMatrix<u32, MAX_BITS>> {
        // Padding keeps the order of the plain offsets 1, 2, 4, ... elements: ascending columns.
        let mut out = BitMatrix::new();
        let mut last = 0u32;
        for _ in 0..self.columns.len() {
            let next = self
                .columns
                .as_slice()
                .iter()
                .enumerate()
                .filter(|(_, c)| c.bytes > last)
                .min_by_key(|(_, c)| c.bytes);
            let (bit, c) = next?;
            last = c.bytes;
            if !out.push(1u32.checked_shl(bit as u32)?) {
                return None;
            }
        }
        Some(out)
    }
}

/// A candidate for a tile in shared memory: an order and a post-map in bytes. Panels follow each
/// other row by row; so a panel keeps its power-of-two rows, and every swizzle its period.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct SharedLayout {
    /// Rows are contiguous (else columns).
    pub row_major: bool,
    /// A panel is stored as strips of `2^column_block` contiguous elements of each row, one strip of all
    /// rows after the other; `None`: whole rows.
    pub column_block: Option<u8>,
    /// Rows (else columns) are counted in another order, before swizzle and padding.
    pub turn: Option<RowRotation>,
    /// Swizzle or padding, in bytes.
    pub post: PostMap,
    /// None of the above says where elements lie, but a [`PlaceTable`](crate::map::PlaceTable) that
    /// stands beside it: by itself this has no map then.
    pub by_table: bool,
}

/// Another order of rows: of a row's number, `count` bits from bit `low` on come before the lower
/// ones.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct RowRotation {
    /// Bits that are moved up.
    pub low: u8,
    /// Bits that come before them.
    pub count: u8,
}

impl RowRotation {
    /// The place of a bit of the row's number.
    #[must_use]
    pub fn place(self, bit: u8) -> u8 {
        if bit < self.low {
            bit.saturating_add(self.count)
        } else if bit < self.low.saturating_add(self.count) {
            bit.saturating_sub(self.low)
        } else {
            bit
        }
    }
}

impl SharedLayout {
    /// One row after the other, without gaps.
    pub const BY_ROWS: Self = Self {
        row_major: true,
        column_block: None,
        turn: None,
        post: PostMap::None,
        by_table: false,
    };

    /// The map of a tile with this layout; `None` if an offset does not fit 32 bits, or a table says
    /// where elements lie.
    #[must_use]
    pub fn map(&self, shape: TileShape) -> Option<MemoryMap> {
        if self.by_table {
            return None;
        }
        let mut columns = BitMatrix::new();
        let (inner, outer) =
            if self.row_major { (shape.cols, shape.rows) } else { (shape.rows, shape.cols) };
        let column_block = self.column_block.map_or(inner, |column_block| column_block.min(inner));
        for bit in 0..shape.total() {
            let is_col = bit < shape.cols;
            let index = if is_col { bit } else { bit.saturating_sub(shape.cols) };
            let place = match is_col == self.row_major {
                true if index < column_block => index,
                true => index.saturating_add(outer),
                false => {
                    self.turn.map_or(index, |turn| turn.place(index)).saturating_add(column_block)
                }
            };
            let plain = i64::from(shape.bits / 8).checked_shl(u32::from(place))?;
            let placed = u32::try_from(self.post.apply(plain).ok()?).ok()?;
            if !columns.push(Column::known(placed)) {
                return None;
            }
        }
        let combine = if self.post.padding().is_some() { Combine::Add } else { Combine::Xor };
        let panel = i64::try_from(shape.panel_bytes()).ok()?;
        let across = u32::try_from(self.post.apply(panel).ok()?).ok()?;
        let panels =
            (Column::known(across.checked_mul(u32::from(shape.grid.cols))?), Column::known(across));
        Some(MemoryMap { shape, columns, combine, panels, outer_bytes: None })
    }

    /// Bytes of a tile with this layout: the padded offset of its last element, plus that element.
    #[must_use]
    pub fn bytes(&self, shape: TileShape) -> Option<u64> {
        if self.by_table {
            return None;
        }
        let element = u64::from(shape.bits / 8);
        match self.post.padding() {
            None => Some(shape.bytes()),
            Some(padding) => {
                padding.apply(shape.bytes().checked_sub(element)?).ok()?.checked_add(element)
            }
        }
    }

    /// Where another panel would begin: what [`Self::bytes`] says, and the padding behind the last
    /// panel.
    #[must_use]
    pub fn end(&self, shape: TileShape) -> Option<u32> {
        if self.by_table {
            return None;
        }
        let plain = i64::try_from(shape.bytes()).ok()?;
        u32::try_from(self.post.apply(plain).ok()?).ok()
    }

    /// Alignment of the tile's start, at least `least`: an instance's phase is XORed into a whole
    /// address, so the start has to keep clear of the bits that the swizzle changes. A pattern that
    /// hardware applies to absolute addresses needs
    /// [`Self::period`].
    #[must_use]
    pub fn align(&self, least: u32) -> u32 {
        let changed =
            self.post.swizzle().map_or(0, |s| u32::from(s.b).saturating_add(u32::from(s.m)));
        1u32.checked_shl(changed).unwrap_or(u32::MAX).max(least)
    }

    /// Bytes after which the swizzle repeats, at least `least`.
    #[must_use]
    pub fn period(&self, least: u32) -> u32 {
        let top = |s: lanebook_layout::Swizzle| {
            u32::from(s.b)
                .saturating_add(u32::from(s.m))
                .saturating_add(u32::from(s.s.unsigned_abs()))
        };
        1u32.checked_shl(self.post.swizzle().map_or(0, top)).unwrap_or(u32::MAX).max(least)
    }

    /// The layout from the row-major element number to the byte, for people to read.
    #[must_use]
    pub fn to_layout(&self, shape: TileShape) -> Option<Layout> {
        if self.by_table {
            return None;
        }
        let bytes = i64::from(shape.bits / 8);
        let panel = i64::try_from(shape.panel_bytes()).ok()?;
        let across = i64::from(shape.grid.cols);
        let (inner, outer) =
            if self.row_major { (shape.cols, shape.rows) } else { (shape.rows, shape.cols) };
        let column_block = self.column_block.map_or(inner, |column_block| column_block.min(inner));
        // Fastest first: a dimension's bits inside a strip, and those that count strips.
        let iter = |bits: u8, place: u8| {
            Some(Iter::new(
                1u32.checked_shl(u32::from(bits))?,
                bytes.checked_shl(u32::from(place))?,
                AxisId::M,
            ))
        };
        let whole = (
            iter(column_block, 0)?,
            iter(inner.checked_sub(column_block)?, column_block.checked_add(outer)?)?,
        );
        // The parts of a turned row's number, fastest first.
        let turned = self.turn.filter(|turn| turn.low.saturating_add(turn.count) <= outer);
        let all = [(outer, column_block), (0, 0), (0, 0)];
        let across_them = match turned {
            None => all,
            Some(RowRotation { low, count }) => {
                let both = low.checked_add(count)?;
                [
                    (low, column_block.checked_add(count)?),
                    (count, column_block),
                    (outer.checked_sub(both)?, column_block.checked_add(both)?),
                ]
            }
        };
        let mut layout = Layout::from_iters(&[]).ok()?;
        let push = |layout: &mut Layout, along: bool| -> Option<()> {
            if along != self.row_major {
                for (number, (bits, place)) in across_them.into_iter().enumerate() {
                    if number == 0 || bits > 0 {
                        layout.push_shard(iter(bits, place)?).ok()?;
                    }
                }
                return Some(());
            }
            layout.push_shard(whole.0).ok()?;
            if column_block < inner { layout.push_shard(whole.1).ok() } else { Some(()) }
        };
        push(&mut layout, true)?;
        if shape.grid.cols > 1 {
            layout.push_shard(Iter::new(u32::from(shape.grid.cols), panel, AxisId::M)).ok()?;
        }
        push(&mut layout, false)?;
        if shape.grid.rows > 1 {
            layout
                .push_shard(Iter::new(
                    u32::from(shape.grid.rows),
                    panel.checked_mul(across)?,
                    AxisId::M,
                ))
                .ok()?;
        }
        layout.set_post(self.post).ok()?;
        Some(layout)
    }
}

//! Places of a shared tile's elements one by one bit: what neither rows nor columns describe.

use crate::map::memory::Column;
use crate::map::{BitMatrix, Combine, MAX_BITS, MemoryMap, TileShape};
use lanebook_layout::linear::Span;
use lanebook_layout::{AxisId, Iter, Layout};

/// Where the elements of a shared tile lie, bit by bit of their numbers: a matrix over GF(2), or
/// distances that add up.
///
/// ```
/// use lanebook::map::{PlaceTable, TileShape};
///
/// // Two rows of four elements of 16 bits, in which a row's bit exchanges its halves.
/// let shape = TileShape::new(2, 4, 16).unwrap();
/// let table = PlaceTable::exclusive(&[2, 4, 8 | 4]).unwrap();
/// let map = table.map(shape).unwrap();
/// assert_eq!((map.at(shape.element(1, 0)).bytes, map.at(shape.element(1, 2)).bytes), (12, 8));
/// assert_eq!((table.is_apart(shape), table.bytes(shape), table.align(2)), (true, Some(16), 8));
/// // Rows 12 bytes apart: a sum.
/// let padded = PlaceTable::sum(&[2, 4, 12], (0, 0)).unwrap();
/// assert_eq!((padded.is_apart(shape), padded.bytes(shape), padded.align(2)), (true, Some(20), 2));
/// assert!(padded.to_layout(shape).is_some() && table.to_layout(shape).is_none());
/// assert_eq!((table.columns(), padded.panels(), padded.adds()), (&[2, 4, 12][..], (0, 0), true));
/// // Two elements in one place.
/// let twice = PlaceTable::exclusive(&[2, 4, 6]).unwrap();
/// assert!(twice.meets(shape) && !twice.is_apart(shape));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PlaceTable {
    /// Bytes of each bit of an element's number.
    columns: BitMatrix<u32, MAX_BITS>,
    /// How they combine.
    combine: Combine,
    /// Bytes from a panel to the next, along a column and along a row of the tile; these add up.
    panels: (u32, u32),
}

impl PlaceTable {
    /// Places that are the exclusive or of what bits are worth, in bytes; `None` of too many bits.
    #[must_use]
    pub fn exclusive(columns: &[u32]) -> Option<Self> {
        Self::of(columns, Combine::Xor, (0, 0))
    }

    /// Places that are sums of what bits are worth, in bytes, and of what panels are apart; `None` of
    /// too many bits.
    #[must_use]
    pub fn sum(columns: &[u32], panels: (u32, u32)) -> Option<Self> {
        Self::of(columns, Combine::Add, panels)
    }

    fn of(given: &[u32], combine: Combine, panels: (u32, u32)) -> Option<Self> {
        let mut columns = BitMatrix::new();
        given.iter().all(|column| columns.push(*column)).then_some(Self {
            columns,
            combine,
            panels,
        })
    }

    /// Bytes of each bit of an element's number, those of its column first.
    #[must_use]
    pub fn columns(&self) -> &[u32] {
        self.columns.as_slice()
    }

    /// Bytes from a panel to the next, along a column and along a row of the tile.
    #[must_use]
    pub fn panels(&self) -> (u32, u32) {
        self.panels
    }

    /// Whether what bits are worth adds up; else exclusive or combines it.
    #[must_use]
    pub fn adds(&self) -> bool {
        self.combine == Combine::Add
    }

    /// The map of a tile; `None` of a tile of other bits.
    #[must_use]
    pub fn map(&self, shape: TileShape) -> Option<MemoryMap> {
        if self.columns.len() != usize::from(shape.total()) {
            return None;
        }
        let mut columns = BitMatrix::new();
        if !self.columns().iter().all(|bytes| columns.push(Column::known(*bytes))) {
            return None;
        }
        let panels = (Column::known(self.panels.0), Column::known(self.panels.1));
        Some(MemoryMap { shape, columns, combine: self.combine, panels, outer_bytes: None })
    }

    /// What is counted, and how far it is apart: bits and panels.
    fn steps(&self, shape: TileShape) -> impl Iterator<Item = (u32, u32)> + '_ {
        let panels = [
            (u32::from(shape.grid.rows), self.panels.0),
            (u32::from(shape.grid.cols), self.panels.1),
        ];
        let panels = panels.into_iter().filter(|(count, _)| *count > 1);
        self.columns().iter().map(|bytes| (2, *bytes)).chain(panels)
    }

    /// Bytes of a tile: the place of what lies last, and that element; `None` if it is too large.
    #[must_use]
    pub fn bytes(&self, shape: TileShape) -> Option<u64> {
        let element = u64::from(shape.bits / 8);
        let last = match self.combine {
            Combine::Xor => u64::from(self.greatest()),
            Combine::Add => self.steps(shape).try_fold(0u64, |sum, (count, bytes)| {
                u64::from(count.checked_sub(1)?).checked_mul(u64::from(bytes))?.checked_add(sum)
            })?,
        };
        last.checked_add(element).filter(|bytes| u32::try_from(*bytes).is_ok())
    }

    /// The greatest exclusive or of some of the columns: what of all bits there are is one.
    #[inline(never)] // The span stays off the stack of those that ask.
    fn greatest(&self) -> u32 {
        let all = u32::MAX;
        let left = self.span().remainder(u64::from(all));
        u32::try_from(left).map_or(0, |left| all ^ left)
    }

    /// Whether no column is the exclusive or of others.
    #[inline(never)]
    fn is_independent(&self) -> bool {
        usize::from(self.span().rank()) == self.columns.len()
    }

    fn span(&self) -> Span {
        let mut columns = [0u64; MAX_BITS];
        for (column, bytes) in columns.iter_mut().zip(self.columns()) {
            *column = u64::from(*bytes);
        }
        Span::of(columns.get(..self.columns.len()).unwrap_or(&[]))
    }

    /// Whether each element has a place of its own, clear of those of all others; of distances that
    /// add up each has to be greater than all smaller ones together.
    #[must_use]
    pub fn is_apart(&self, shape: TileShape) -> bool {
        let element = u32::from(shape.bits / 8);
        match self.combine {
            Combine::Xor => {
                let whole =
                    self.columns().iter().all(|bytes| bytes.checked_rem(element) == Some(0));
                whole && self.is_independent()
            }
            Combine::Add => {
                // In the order of their distances, each behind all that comes before it.
                let (mut last, mut end) = (0u32, u64::from(element));
                for _ in self.steps(shape) {
                    let next = self.steps(shape).filter(|(_, bytes)| *bytes > last);
                    let Some((count, bytes)) = next.min_by_key(|(_, bytes)| *bytes) else {
                        return false;
                    };
                    if u64::from(bytes) < end {
                        return false;
                    }
                    let more = u64::from(count.saturating_sub(1)).saturating_mul(bytes.into());
                    (last, end) = (bytes, end.saturating_add(more));
                }
                true
            }
        }
    }

    /// Whether two elements certainly lie in one place.
    #[must_use]
    pub fn meets(&self, shape: TileShape) -> bool {
        match self.combine {
            Combine::Xor => !self.is_independent(),
            Combine::Add => self.steps(shape).enumerate().any(|(number, (_, bytes))| {
                bytes == 0 || self.steps(shape).take(number).any(|(_, other)| other == bytes)
            }),
        }
    }

    /// Alignment of the tile's start, at least `least`: where several bits change one bit of an
    /// address, the start keeps clear of it.
    #[must_use]
    pub fn align(&self, least: u32) -> u32 {
        let (mut once, mut twice) = (0u32, 0u32);
        for column in self.columns().iter().filter(|_| self.combine == Combine::Xor) {
            (once, twice) = (once | column, twice | once & column);
        }
        let changed = twice.checked_ilog2().map_or(0, |top| top.saturating_add(1));
        1u32.checked_shl(changed).unwrap_or(u32::MAX).max(least)
    }

    /// The layout from the row-major element number to the byte, for people to read; `None` where
    /// one bit leads to several of a place, which no strides say.
    #[must_use]
    pub fn to_layout(&self, shape: TileShape) -> Option<Layout> {
        let iter = |count: u32, bytes: u32| Iter::new(count, i64::from(bytes), AxisId::M);
        let is_strided = |bytes: &u32| self.combine == Combine::Add || bytes.is_power_of_two();
        let mut layout = Layout::from_iters(&[]).ok()?;
        if !self.columns().iter().all(is_strided) {
            return None;
        }
        let (cols, rows) = self.columns().split_at_checked(usize::from(shape.cols))?;
        let grid = shape.grid;
        let parts = [(cols, grid.cols, self.panels.1), (rows, grid.rows, self.panels.0)];
        for (bits, count, apart) in parts {
            for bytes in bits {
                layout.push_shard(iter(2, *bytes)).ok()?;
            }
            if count > 1 {
                layout.push_shard(iter(u32::from(count), apart)).ok()?;
            }
        }
        Some(layout)
    }
}

//! Register fragments: which tile element each (register, lane, warp) holds.

use crate::map::{BitMatrix, MAX_BITS, log2_exact};
use lanebook_layout::{AxisId, Iter, Layout};

/// How many panels a tile has along its rows and its columns: two odd numbers.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct RepeatGrid {
    /// Panels along a column of the tile.
    pub rows: u8,
    /// Panels along a row of the tile.
    pub cols: u8,
}

impl RepeatGrid {
    /// One panel.
    pub const ONE: Self = Self { rows: 1, cols: 1 };

    /// Number of panels.
    #[must_use]
    pub fn count(self) -> u32 {
        u32::from(self.rows).saturating_mul(u32::from(self.cols))
    }

    /// Row and column of a panel in the grid. Panels are numbered row by row.
    #[must_use]
    pub fn at(self, panel: u32) -> (u32, u32) {
        let cols = u32::from(self.cols);
        (panel.checked_div(cols).unwrap_or(0), panel.checked_rem(cols).unwrap_or(0))
    }

    /// The number of the panel that comes `index`-th when panels are counted row by row, or
    /// (`by_rows` false) column by column.
    #[must_use]
    pub fn panel(self, index: u32, by_rows: bool) -> u32 {
        if by_rows {
            return index;
        }
        let (col, row) = Self { rows: self.cols, cols: self.rows }.at(index);
        row.saturating_mul(u32::from(self.cols)).saturating_add(col)
    }
}

/// Shape of a two-dimensional tile: a grid of panels of `2^rows` by `2^cols` elements.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TileShape {
    /// log2 of the rows of a panel.
    pub rows: u8,
    /// log2 of the columns of a panel.
    pub cols: u8,
    /// Panels.
    pub grid: RepeatGrid,
    /// Width of an element in bits.
    pub bits: u16,
}

impl TileShape {
    /// The shape of a tile with these extents; `None` if one is zero or has an odd factor over 255,
    /// or the tile is too large.
    #[must_use]
    pub fn new(rows: u64, cols: u64, bits: u16) -> Option<Self> {
        let split = |extent: u64| -> Option<(u8, u8)> {
            let low = u8::try_from(extent.trailing_zeros()).ok()?;
            Some((low, u8::try_from(extent.checked_shr(u32::from(low))?).ok()?))
        };
        let ((rows, up), (cols, across)) = (split(rows)?, split(cols)?);
        let shape = Self { rows, cols, grid: RepeatGrid { rows: up, cols: across }, bits };
        let elements = u64::from(shape.grid.count()).checked_shl(u32::from(shape.total()))?;
        if usize::from(shape.total()) <= MAX_BITS && elements <= 1 << MAX_BITS {
            Some(shape)
        } else {
            None
        }
    }

    /// Rows of the tile.
    #[must_use]
    pub fn row_count(self) -> u64 {
        u64::from(self.grid.rows) << self.rows.min(32)
    }

    /// Columns of the tile.
    #[must_use]
    pub fn col_count(self) -> u64 {
        u64::from(self.grid.cols) << self.cols.min(32)
    }

    /// Row and column of an element's number: element bits of its panel, above them the panel's
    /// number.
    #[must_use]
    pub fn position(self, e: u32) -> (u32, u32) {
        let (up, across) = self.grid.at(e.checked_shr(u32::from(self.total())).unwrap_or(0));
        let mask = |bits: u8| 1u32.checked_shl(u32::from(bits)).unwrap_or(0).wrapping_sub(1);
        let (row, col) = (
            e.checked_shr(u32::from(self.cols)).unwrap_or(0) & mask(self.rows),
            e & mask(self.cols),
        );
        let high = |n: u32, bits: u8| n.checked_shl(u32::from(bits)).unwrap_or(0);
        (high(up, self.rows) | row, high(across, self.cols) | col)
    }

    /// The number of the element in a row and a column of the tile: the inverse of
    /// [`Self::position`].
    #[must_use]
    pub fn element(self, row: u32, col: u32) -> u32 {
        let split = |n: u32, bits: u8| {
            let high = n.checked_shr(u32::from(bits)).unwrap_or(0);
            (high, n ^ high.checked_shl(u32::from(bits)).unwrap_or(0))
        };
        let ((up, row), (across, col)) = (split(row, self.rows), split(col, self.cols));
        let panel = up.saturating_mul(u32::from(self.grid.cols)).saturating_add(across);
        let high = panel.checked_shl(u32::from(self.total())).unwrap_or(0);
        high | row.checked_shl(u32::from(self.cols)).unwrap_or(0) | col
    }

    /// Number of element bits of a panel.
    #[must_use]
    pub fn total(self) -> u8 {
        self.rows.saturating_add(self.cols)
    }

    /// The element-bit column of row bit `bit`.
    #[must_use]
    pub fn row_bit(self, bit: u8) -> u32 {
        1u32.checked_shl(u32::from(self.cols.saturating_add(bit))).unwrap_or(0)
    }

    /// Bytes of the whole tile without padding.
    #[must_use]
    pub fn bytes(self) -> u64 {
        self.panel_bytes().saturating_mul(u64::from(self.grid.count()))
    }

    /// Bytes of a panel without padding.
    #[must_use]
    pub fn panel_bytes(self) -> u64 {
        (u64::from(self.bits) << (self.total().min(32))) / 8
    }

    /// Element bits with rows and columns exchanged.
    #[must_use]
    pub fn transpose_element(self, e: u32) -> u32 {
        let mask = 1u32.checked_shl(u32::from(self.cols)).unwrap_or(0).wrapping_sub(1);
        let (col, row) = (e & mask, e.checked_shr(u32::from(self.cols)).unwrap_or(0));
        col.checked_shl(u32::from(self.rows)).unwrap_or(0) | row
    }

    /// The shape with rows and columns exchanged.
    #[must_use]
    pub fn transposed(self) -> Self {
        Self {
            rows: self.cols,
            cols: self.rows,
            grid: RepeatGrid { rows: self.grid.cols, cols: self.grid.rows },
            bits: self.bits,
        }
    }
}

/// A tile in registers: the bits of one panel, and panels one after the other in a lane's
/// registers. Each column is the element (as element bits) that the bit adds, by exclusive or; a
/// zero column means that the bit replicates.
///
/// ```
/// use lanebook::map::{BitMatrix, Fragment, TileShape};
///
/// // Eight rows of four lanes, each with two neighbours of 16 bits in a register: 8 by 8 elements.
/// let mut fragment = Fragment::new(TileShape::new(8, 8, 16).unwrap());
/// let push = |list: &mut BitMatrix<u32, 6>, bits: &[u32]| bits.iter().all(|bit| list.push(*bit));
/// assert!(fragment.register.push(1) && push(&mut fragment.lane, &[2, 4, 8, 16, 32]));
/// assert!(fragment.covers());
/// assert_eq!((fragment.place_bits(), fragment.packing(), fragment.registers()), (16, 1, 1));
/// // Lane 5 holds row 1, columns 2 and 3.
/// assert_eq!(fragment.shape.position(fragment.element(1, 5, 0)), (1, 3));
/// assert_eq!(fragment.to_layout().unwrap().view().size_value(), Ok(64));
/// // The transposed tile, the same as elements of 32 bits, each in a register of its own; registers in another order.
/// assert_eq!(fragment.transposed().shape.position(fragment.transposed().element(1, 5, 0)), (3, 1));
/// assert_eq!(fragment.with_bits(32, false).registers(), 2);
/// assert_eq!(fragment.with_place_each().registers(), 2);
/// assert_eq!(fragment.registers_transposed(1, 0), Some(fragment));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// The tile.
    pub shape: TileShape,
    /// Bits of the element's place in the lane's registers, in elements: bit offset = place *
    /// [`Self::place_bits`].
    pub register: BitMatrix<u32, 12>,
    /// Bits of the lane number.
    pub lane: BitMatrix<u32, 6>,
    /// Bits of the warp number.
    pub warp: BitMatrix<u32, 5>,
    /// Panels follow each other row by row (else column by column).
    pub by_rows: bool,
    /// Each element has a register of its own, however narrow it is: enough for a tile that only
    /// passes through.
    pub unpacked: bool,
}

impl Fragment {
    /// A fragment without any bits.
    #[must_use]
    pub fn new(shape: TileShape) -> Self {
        Self {
            shape,
            register: BitMatrix::new(),
            lane: BitMatrix::new(),
            warp: BitMatrix::new(),
            by_rows: true,
            unpacked: false,
        }
    }

    /// Bits from one place to the next.
    #[must_use]
    pub fn place_bits(&self) -> u16 {
        if self.unpacked { self.shape.bits.max(32) } else { self.shape.bits }
    }

    /// log2 of the elements in one 32-bit register.
    #[must_use]
    pub fn packing(&self) -> u8 {
        if self.unpacked {
            return 0;
        }
        32u64.checked_div(u64::from(self.shape.bits)).map_or(0, |n| log2_exact(n).unwrap_or(0))
    }

    /// 32-bit registers a lane.
    #[must_use]
    pub fn registers(&self) -> u16 {
        let bits =
            u32::from(self.place_bits()).checked_shl(self.register.len() as u32).unwrap_or(0);
        u16::try_from(bits.saturating_mul(self.shape.grid.count()).div_ceil(32)).unwrap_or(u16::MAX)
    }

    /// The element that a lane of a warp holds at a place.
    #[must_use]
    pub fn element(&self, place: u32, lane: u32, warp: u32) -> u32 {
        let index = place.checked_shr(self.register.len() as u32).unwrap_or(0);
        let panel = self
            .shape
            .grid
            .panel(index, self.by_rows)
            .checked_shl(u32::from(self.shape.total()))
            .unwrap_or(0);
        panel | (self.register.at(place) ^ self.lane.at(lane) ^ self.warp.at(warp))
    }

    /// The same distribution of the transposed tile.
    #[must_use]
    pub fn transposed(&self) -> Self {
        let mut out = Self::new(self.shape.transposed());
        out.unpacked = self.unpacked;
        // Registers stay where they are; with one panel along a side both orders are the same.
        out.by_rows = !self.by_rows || out.shape.grid.rows == 1 || out.shape.grid.cols == 1;
        for &c in self.register.as_slice() {
            let _ = out.register.push(self.shape.transpose_element(c));
        }
        for &c in self.lane.as_slice() {
            let _ = out.lane.push(self.shape.transpose_element(c));
        }
        for &c in self.warp.as_slice() {
            let _ = out.warp.push(self.shape.transpose_element(c));
        }
        out
    }

    /// The same distribution for elements of another width; `unpacked` says what becomes of
    /// elements narrower than a register.
    #[must_use]
    pub fn with_bits(mut self, bits: u16, unpacked: bool) -> Self {
        if self.shape.bits != bits {
            self.shape.bits = bits;
            self.unpacked = unpacked && bits < 32;
        }
        self
    }

    /// The same distribution with a register for each element.
    #[must_use]
    pub fn with_place_each(mut self) -> Self {
        self.unpacked = self.shape.bits < 32;
        self
    }

    /// The distribution after the lowest `along` register bits and the `across` ones above them
    /// have changed places.
    #[must_use]
    pub fn registers_transposed(&self, along: u8, across: u8) -> Option<Self> {
        let (low, rest) = self.register.as_slice().split_at_checked(usize::from(along))?;
        let (high, rest) = rest.split_at_checked(usize::from(across))?;
        let mut register = BitMatrix::new();
        for &e in high.iter().chain(low).chain(rest) {
            register.push(e).then_some(())?;
        }
        Some(Self { register, ..*self })
    }

    /// Whether every element has a holder: the columns span all element bits.
    #[must_use]
    pub fn covers(&self) -> bool {
        let mut basis = [0u32; 32];
        let mut rank = 0u8;
        let columns =
            self.register.as_slice().iter().chain(self.lane.as_slice()).chain(self.warp.as_slice());
        for &column in columns {
            let mut v = column;
            while v != 0 {
                let top = v.ilog2() as usize;
                match basis.get_mut(top) {
                    Some(slot) if *slot == 0 => {
                        *slot = v;
                        rank = rank.saturating_add(1);
                        break;
                    }
                    Some(slot) => v ^= *slot,
                    None => break,
                }
            }
        }
        rank == self.shape.total()
    }

    /// The fragment as a layout from the row-major element number to (bit, laneid, warpid), for
    /// people to read. `None` when a column is not a single element bit (then no strided form
    /// exists).
    #[must_use]
    pub fn to_layout(&self) -> Option<Layout> {
        let mut layout = Layout::new();
        let mut bit = 0u8;
        let grid = self.shape.grid;
        let panel = i64::from(self.place_bits()).checked_shl(self.register.len() as u32)?;
        let (up, across) =
            if self.by_rows { (i64::from(grid.cols), 1) } else { (1, i64::from(grid.rows)) };
        if self.shape.cols == 0 && grid.cols > 1 {
            layout
                .push_shard(Iter::new(
                    u32::from(grid.cols),
                    across.checked_mul(panel)?,
                    AxisId::BIT,
                ))
                .ok()?;
        }
        while bit < self.shape.total() {
            let (axis, stride) = self.place_of(1u32.checked_shl(u32::from(bit))?)?;
            // Grow the iter while the next element bit goes on with the same axis and twice the
            // stride.
            let mut extent = 2u32;
            let mut next = bit.checked_add(1)?;
            let row_start = self.shape.cols;
            while next < self.shape.total() && next != row_start {
                match self.place_of(1u32.checked_shl(u32::from(next))?) {
                    Some((a, s)) if a == axis && s == stride.checked_mul(i64::from(extent))? => {
                        extent = extent.checked_mul(2)?;
                        next = next.checked_add(1)?;
                    }
                    _ => break,
                }
            }
            layout.push_shard(Iter::new(extent, stride, axis)).ok()?;
            bit = next;
            if bit == row_start && grid.cols > 1 {
                layout
                    .push_shard(Iter::new(
                        u32::from(grid.cols),
                        across.checked_mul(panel)?,
                        AxisId::BIT,
                    ))
                    .ok()?;
            }
        }
        if grid.rows > 1 {
            layout
                .push_shard(Iter::new(u32::from(grid.rows), up.checked_mul(panel)?, AxisId::BIT))
                .ok()?;
        }
        let groups = [
            (self.register.as_slice(), AxisId::BIT, i64::from(self.place_bits())),
            (self.lane.as_slice(), AxisId::LANE, 1),
            (self.warp.as_slice(), AxisId::WARP, 1),
        ];
        for (columns, axis, unit) in groups {
            for (k, &c) in columns.iter().enumerate() {
                if c == 0 {
                    layout.push_replica(Iter::new(2, unit.checked_shl(k as u32)?, axis)).ok()?;
                }
            }
        }
        Some(layout)
    }

    fn place_of(&self, element: u32) -> Option<(AxisId, i64)> {
        let find = |columns: &[u32]| columns.iter().position(|&c| c == element);
        if let Some(k) = find(self.register.as_slice()) {
            return Some((AxisId::BIT, i64::from(self.place_bits()).checked_shl(k as u32)?));
        }
        if let Some(k) = find(self.lane.as_slice()) {
            return Some((AxisId::LANE, 1i64.checked_shl(k as u32)?));
        }
        find(self.warp.as_slice()).and_then(|k| Some((AxisId::WARP, 1i64.checked_shl(k as u32)?)))
    }
}

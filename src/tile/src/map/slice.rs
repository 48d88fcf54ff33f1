//! Slices: what a fragment becomes when a dimension of its tile is combined away, and back; and
//! parts of a tile that are some of each lane's registers.

use crate::map::{Fragment, RepeatGrid, TileShape};

/// Where the elements of a part of a tile lie among the places of a lane that holds the tile.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct PartPlaces {
    /// Bits of the tile's place that are bits of the part's.
    kept: u32,
    /// The others, as the part's elements have them.
    chosen: u32,
    /// Bits of a panel's places, of the tile and of the part.
    bits: (u32, u32),
    /// Panels of the tile and of the part.
    grids: (RepeatGrid, RepeatGrid),
    /// Row and column of the part's first panel.
    first: (u32, u32),
    /// Panels follow each other row by row.
    by_rows: bool,
}

impl PartPlaces {
    /// The place in the tile of a place of the part; both count elements.
    #[must_use]
    pub fn in_whole(self, place: u32) -> u32 {
        let (mut out, mut at) = (self.chosen, place);
        for bit in (0..self.bits.0).filter(|bit| self.kept.checked_shr(*bit).unwrap_or(0) & 1 == 1)
        {
            out |= (at & 1).checked_shl(bit).unwrap_or(0);
            at >>= 1;
        }
        let (whole, part) = self.grids;
        let (row, col) =
            part.at(part.panel(place.checked_shr(self.bits.1).unwrap_or(0), self.by_rows));
        let (row, col) = (row.saturating_add(self.first.0), col.saturating_add(self.first.1));
        let (line, lines, at) = match self.by_rows {
            true => (row, u32::from(whole.cols), col),
            false => (col, u32::from(whole.rows), row),
        };
        let index = line.saturating_mul(lines).saturating_add(at);
        out | index.checked_shl(self.bits.0).unwrap_or(0)
    }
}

/// Of a tile and a part of it: which bits of an element's number in the tile say which part it is
/// in, and what an element's number is in the part.
#[derive(Copy, Clone)]
struct PartBits {
    whole: TileShape,
    part: TileShape,
    above: u32,
}

impl PartBits {
    /// `None` where the part is larger than the tile along a side, or longer than a panel and not as
    /// long as the tile.
    fn of(whole: TileShape, part: TileShape) -> Option<Self> {
        let side =
            |whole: (u8, u8), part: (u8, u8)| whole == part || (part.1 == 1 && part.0 <= whole.0);
        let rows = side((whole.rows, whole.grid.rows), (part.rows, part.grid.rows));
        let cols = side((whole.cols, whole.grid.cols), (part.cols, part.grid.cols));
        let low = |bits: u8| 1u32.checked_shl(u32::from(bits)).unwrap_or(0).wrapping_sub(1);
        let inside = low(part.cols) | low(part.rows).checked_shl(u32::from(whole.cols))?;
        let above = low(whole.total()) & !inside;
        (rows && cols).then_some(Self { whole, part, above })
    }

    /// Whether parts are panels that share registers: of so many register bits in a panel, where
    /// elements share a register's bits.
    fn shares(self, register: usize, packing: u8) -> bool {
        self.whole.grid != self.part.grid && register < usize::from(packing)
    }

    /// An element's number in the part.
    fn inward(self, e: u32) -> u32 {
        let low = |bits: u8| 1u32.checked_shl(u32::from(bits)).unwrap_or(0).wrapping_sub(1);
        let row = e.checked_shr(u32::from(self.whole.cols)).unwrap_or(0) & low(self.part.rows);
        row.checked_shl(u32::from(self.part.cols)).unwrap_or(0) | (e & low(self.part.cols))
    }

    /// An element's number in the tile, of the part that begins where the tile does.
    fn outward(self, e: u32) -> u32 {
        let low = 1u32.checked_shl(u32::from(self.part.cols)).unwrap_or(0).wrapping_sub(1);
        let row = e.checked_shr(u32::from(self.part.cols)).unwrap_or(0);
        row.checked_shl(u32::from(self.whole.cols)).unwrap_or(0) | (e & low)
    }
}

/// The columns of which the exclusive or is `goal`, as a mask.
fn combination(columns: &[u32], goal: u32) -> Option<u32> {
    let mut basis = [(0u32, 0u32); 32];
    for (k, &column) in (0u32..).zip(columns) {
        let (mut v, mut of) = (column, 1u32.checked_shl(k)?);
        while let Some(top) = v.checked_ilog2() {
            let slot = basis.get_mut(top as usize)?;
            if slot.0 == 0 {
                *slot = (v, of);
                break;
            }
            (v, of) = (v ^ slot.0, of ^ slot.1);
        }
    }
    let (mut left, mut out) = (goal, 0u32);
    while let Some(top) = left.checked_ilog2() {
        let slot = basis.get(top as usize).filter(|slot| slot.0 != 0)?;
        (left, out) = (left ^ slot.0, out ^ slot.1);
    }
    Some(out)
}

/// Which coordinate of a tile stays when the other one is combined away.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum KeptAxis {
    /// Rows: columns are combined.
    Rows,
    /// Columns: rows are combined.
    Cols,
}

impl KeptAxis {
    /// The part of an element's bits that stays, counted from 0.
    #[must_use]
    pub fn part(self, shape: TileShape, e: u32) -> u32 {
        let low = 1u32.checked_shl(u32::from(shape.cols)).unwrap_or(0).wrapping_sub(1);
        match self {
            Self::Rows => e.checked_shr(u32::from(shape.cols)).unwrap_or(0),
            Self::Cols => e & low,
        }
    }

    /// Whether an element's bits say nothing of the coordinate that goes.
    #[must_use]
    pub fn is_pure(self, shape: TileShape, e: u32) -> bool {
        let other = if self == Self::Rows { Self::Cols } else { Self::Rows };
        self.part(shape, e) == 0 || other.part(shape, e) == 0
    }

    /// (bits, panels) along the coordinate that stays.
    #[must_use]
    pub fn extent(self, shape: TileShape) -> (u8, u8) {
        match self {
            Self::Rows => (shape.rows, shape.grid.rows),
            Self::Cols => (shape.cols, shape.grid.cols),
        }
    }

    /// The row or column of panels that a panel is in.
    #[must_use]
    pub fn panel(self, grid: RepeatGrid, panel: u32) -> u32 {
        let (row, col) = grid.at(panel);
        if self == Self::Rows { row } else { col }
    }
}

impl TileShape {
    /// Whether a part of this size can be a choice of places in each lane: it is as long as the
    /// tile along each side, or lies in one panel.
    #[doc(hidden)]
    #[must_use]
    pub fn has_part(self, part: Self) -> bool {
        PartBits::of(self, part).is_some()
    }
}

#[doc(hidden)]
impl Fragment {
    /// The distribution of the elements that stay: lanes and warps that shared them hold copies,
    /// and each lane holds each of its own once. `shape` is the result's: a row or a column of
    /// them. `None` where a bit of the distribution belongs to both coordinates, or the shape is
    /// another one.
    #[must_use]
    pub fn slice(&self, kept: KeptAxis, shape: TileShape) -> Option<Self> {
        let (bits, panels) = kept.extent(self.shape);
        if shape.total() != bits || shape.grid.count() != u32::from(panels) {
            return None;
        }
        let mut out = Self::new(TileShape { bits: self.shape.bits, ..shape });
        for &e in self.register.as_slice() {
            if !kept.is_pure(self.shape, e) {
                return None;
            }
            let part = kept.part(self.shape, e);
            if part != 0 && !out.register.push(part) {
                return None;
            }
        }
        for &e in self.lane.as_slice() {
            if !kept.is_pure(self.shape, e) || !out.lane.push(kept.part(self.shape, e)) {
                return None;
            }
        }
        for &e in self.warp.as_slice() {
            if !kept.is_pure(self.shape, e) || !out.warp.push(kept.part(self.shape, e)) {
                return None;
            }
        }
        Some(out)
    }

    /// The place in the slice of what a place of this fragment holds.
    #[must_use]
    pub fn slice_place(&self, kept: KeptAxis, place: u32) -> u32 {
        let (mut out, mut weight) = (0u32, 1u32);
        for (bit, &e) in self.register.as_slice().iter().enumerate() {
            if kept.part(self.shape, e) == 0 {
                continue;
            }
            if place.checked_shr(bit as u32).unwrap_or(0) & 1 == 1 {
                out |= weight;
            }
            weight = weight.wrapping_shl(1);
        }
        let index = place.checked_shr(self.register.len() as u32).unwrap_or(0);
        let panel = kept.panel(self.shape.grid, self.shape.grid.panel(index, self.by_rows));
        panel.wrapping_mul(weight).wrapping_add(out)
    }

    /// The distribution of the part of the tile that begins at a row and a column, multiples of its
    /// extents, and in which of a lane's places it lies. `None` where other lanes or warps have
    /// other parts, or a register has elements of several.
    #[must_use]
    pub fn part(&self, shape: TileShape, start: (u32, u32)) -> Option<(Self, PartPlaces)> {
        let bits = PartBits::of(self.shape, shape)?;
        if bits.shares(self.register.len(), self.packing()) {
            return None;
        }
        let mut out = Self {
            by_rows: self.by_rows,
            unpacked: self.unpacked,
            ..Self::new(TileShape { bits: self.shape.bits, ..shape })
        };
        let mut others = heapless::Vec::<(u32, u32), 12>::new();
        let mut kept = 0u32;
        for (bit, &e) in (0u32..).zip(self.register.as_slice()) {
            let place = 1u32.checked_shl(bit)?;
            if e & bits.above == 0 {
                kept |= place;
                out.register.push(bits.inward(e)).then_some(())?;
            } else if e & !bits.above == 0 && bit >= u32::from(self.packing()) {
                others.push((place, e)).ok()?;
            } else {
                return None;
            }
        }
        for &e in self.lane.as_slice() {
            (e & bits.above == 0 && out.lane.push(bits.inward(e))).then_some(())?;
        }
        for &e in self.warp.as_slice() {
            (e & bits.above == 0 && out.warp.push(bits.inward(e))).then_some(())?;
        }
        let mut columns = heapless::Vec::<u32, 12>::new();
        others.iter().try_for_each(|(_, e)| columns.push(*e)).ok()?;
        let own = combination(&columns, self.shape.element(start.0, start.1) & bits.above)?;
        let chosen = (0u32..)
            .zip(others.iter())
            .filter(|(k, _)| own.checked_shr(*k).unwrap_or(0) & 1 == 1)
            .fold(0, |all, (_, (place, _))| all | place);
        let first = self.shape.element(start.0, start.1);
        let places = PartPlaces {
            kept,
            chosen,
            bits: (self.register.len() as u32, out.register.len() as u32),
            grids: (self.shape.grid, shape.grid),
            first: self.shape.grid.at(first.checked_shr(u32::from(self.shape.total()))?),
            by_rows: self.by_rows,
        };
        Some((out, places))
    }

    /// The distribution of a tile of which this is the one of a part: each lane has the other parts
    /// behind each other in its registers.
    #[must_use]
    pub fn around(&self, shape: TileShape) -> Option<Self> {
        let bits = PartBits::of(shape, self.shape)?;
        let mut out = Self {
            by_rows: self.by_rows,
            unpacked: self.unpacked,
            ..Self::new(TileShape { bits: self.shape.bits, ..shape })
        };
        let own = self.register.as_slice().iter().map(|e| bits.outward(*e));
        let above = (0u32..32).filter_map(|bit| 1u32.checked_shl(bit));
        for e in own.chain(above.filter(|bit| bit & bits.above != 0)) {
            out.register.push(e).then_some(())?;
        }
        if bits.shares(out.register.len(), self.packing()) {
            return None;
        }
        for &e in self.lane.as_slice() {
            out.lane.push(bits.outward(e)).then_some(())?;
        }
        for &e in self.warp.as_slice() {
            out.warp.push(bits.outward(e)).then_some(())?;
        }
        Some(out)
    }

    /// The same distribution of a tile whose elements, counted row by row, are `left` groups of
    /// `right` runs each, after these groups and runs have changed places: what was run `b` of group
    /// `a` is run `a` of group `b`. `None` where one of the numbers is no power of two, or the tile
    /// has not so many elements in one panel, or panels beside each other.
    #[must_use]
    pub fn exchanged(&self, left: u32, right: u32, run: u32) -> Option<Self> {
        use crate::map::log2_exact;
        let (a, b) = (log2_exact(u64::from(left))?, log2_exact(u64::from(right))?);
        let run = log2_exact(u64::from(run))?;
        let fits = u32::from(a)
            .checked_add(u32::from(b))?
            .checked_add(u32::from(run))
            .is_some_and(|bits| bits <= u32::from(self.shape.total()));
        let whole =
            (self.shape.rows == 0 && self.shape.grid.rows == 1) || self.shape.grid.cols == 1;
        if !fits || !whole {
            return None;
        }
        let low = |bits: u8| 1u32.checked_shl(u32::from(bits)).unwrap_or(0).wrapping_sub(1);
        let moved = |e: &u32| {
            let up = |e: u32, bits: u8| e.checked_shl(u32::from(bits)).unwrap_or(0);
            let down = |e: u32, bits: u8| e.checked_shr(u32::from(bits)).unwrap_or(0);
            let above = run.saturating_add(a).saturating_add(b);
            let own = (down(*e, run) & low(b), down(*e, run.saturating_add(b)) & low(a));
            let both = up(own.0, a) | own.1;
            up(down(*e, above), above) | up(both, run) | (*e & low(run))
        };
        let mut out = Self { by_rows: true, ..*self };
        fn all<const N: usize>(
            list: &mut crate::map::BitMatrix<u32, N>,
            moved: impl Fn(&u32) -> u32,
        ) -> Option<()> {
            let mut new = crate::map::BitMatrix::new();
            list.as_slice().iter().all(|e| new.push(moved(e))).then(|| *list = new)
        }
        all(&mut out.register, moved)?;
        all(&mut out.lane, moved)?;
        all(&mut out.warp, moved)?;
        Some(out)
    }

    /// The same distribution of a tile with the same elements in the same order, row by row, and
    /// another shape, or the same; `None` where panels stand beside each other, so that rows go on
    /// in the next.
    #[must_use]
    pub fn reshaped(&self, shape: TileShape) -> Option<Self> {
        if (shape.rows, shape.cols, shape.grid)
            == (self.shape.rows, self.shape.cols, self.shape.grid)
        {
            return Some(Self { shape: TileShape { bits: self.shape.bits, ..shape }, ..*self });
        }
        let whole = |s: TileShape| (s.rows == 0 && s.grid.rows == 1) || s.grid.cols == 1;
        let same =
            shape.total() == self.shape.total() && shape.grid.count() == self.shape.grid.count();
        (same && whole(shape) && whole(self.shape)).then_some(Self {
            shape: TileShape { bits: self.shape.bits, ..shape },
            by_rows: true,
            ..*self
        })
    }
}

#[cfg(test)]
#[path = "slice_tests.rs"]
mod tests;

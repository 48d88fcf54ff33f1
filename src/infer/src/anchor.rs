//! Anchors: what a matrix unit says of the fragments that it reads and writes.

use crate::arena::{BaseId, FormArena, IndexForm, VarRole};
use crate::error::{FormError, FormResult};
use crate::program::{FragmentForm, VarRange};
use lanebook_layout::{AxisId, LayoutRef};

/// How a product's warps are laid over its result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WarpPolicy {
    /// So that each warp's part is shaped as the whole.
    #[default]
    Square,
    /// All warps along the rows.
    FullRow,
    /// All warps along the columns.
    FullCol,
}

/// What a fragment is to a product.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnitSide {
    /// The left operand.
    A,
    /// The right operand.
    B,
    /// The result.
    D,
}

/// One instruction's view of an operand: which lane of which warp holds an element.
#[derive(Clone, Copy, Debug)]
pub struct UnitTile<'a> {
    /// (row, column), row-major, to `laneid` and, for groups of warps, `warpid`.
    pub layout: &'a LayoutRef<'a>,
    /// Rows of the instruction.
    pub rows: u32,
    /// Columns.
    pub columns: u32,
    /// Warps that work together, along the rows.
    pub together: u32,
    /// Threads of a warp.
    pub wave: u32,
    /// The instruction computes the transposed product.
    pub transposed: bool,
}

/// Warps along rows and columns of an `m` x `n` result: `warps` in all, of which `together` stand
/// along the rows. A warp takes at least `rows` x `columns`. `None` if there are more warps than
/// such parts.
#[must_use]
pub fn split_warps(
    policy: WarpPolicy,
    (m, n): (u32, u32),
    warps: u32,
    tile: &UnitTile<'_>,
) -> Option<(u32, u32)> {
    split_where(policy, (m, n), warps, tile, |_| true)
}

/// The same, of the splits that give each warp whole instructions; `None` where none does.
#[must_use]
pub fn split_whole(
    policy: WarpPolicy,
    (m, n): (u32, u32),
    warps: u32,
    tile: &UnitTile<'_>,
) -> Option<(u32, u32)> {
    let rows = tile.rows.checked_div(tile.together.max(1))?.max(1);
    let whole = |all: u32, parts: u32, each: u32| {
        parts.checked_mul(each).and_then(|step| all.checked_rem(step)) == Some(0)
    };
    let divides = |(a, b): (u32, u32)| whole(m, a, rows) && whole(n, b, tile.columns);
    let own = split_warps(policy, (m, n), warps, tile)?;
    if divides(own) {
        return Some(own);
    }
    split_where(policy, (m, n), warps, tile, divides)
}

/// The split that a policy takes of those that are taken at all.
fn split_where(
    policy: WarpPolicy,
    (m, n): (u32, u32),
    warps: u32,
    tile: &UnitTile<'_>,
    taken: impl Fn((u32, u32)) -> bool,
) -> Option<(u32, u32)> {
    let rows = tile.rows.checked_div(tile.together.max(1))?.max(1);
    let most = (m.checked_div(rows)?, n.checked_div(tile.columns)?);
    let fits = |a: u32| {
        let b = warps.checked_div(a)?;
        let whole = a.checked_mul(b)? == warps && a.checked_rem(tile.together.max(1))? == 0;
        (whole && a <= most.0 && b <= most.1 && taken((a, b))).then_some((a, b))
    };
    match policy {
        WarpPolicy::FullRow => (1..=warps).rev().find_map(fits),
        WarpPolicy::FullCol => (1..=warps).find_map(fits),
        WarpPolicy::Square => {
            let mut best: Option<((u32, u32), u64)> = None;
            for (a, b) in (1..=warps).filter_map(fits) {
                // | (m_part / n_part) - (m / n) | over a common denominator.
                let parts = (u64::from(most.0.checked_div(a)?), u64::from(most.1.checked_div(b)?));
                let (m, n) = (u64::from(m), u64::from(n));
                let cross = parts.0.checked_mul(n)?.abs_diff(m.checked_mul(parts.1)?);
                let far = cross.checked_mul(1 << 16)?.checked_div(parts.1.checked_mul(n)?)?;
                if best.is_none_or(|k| far < k.1) {
                    best = Some(((a, b), far));
                }
            }
            best.map(|b| b.0)
        }
    }
}

/// Who holds the elements of a product's operand or result, and where in its registers.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct ProductThreads {
    /// The number of the copy.
    pub copy: BaseId,
    /// The thread.
    pub thread: IndexForm,
    /// The local index in the instruction's order: block after block, row-major, each in the order
    /// of its registers. `None` where the operand is no whole blocks, or these leave gaps.
    pub index: Option<IndexForm>,
}

/// How many elements of the instruction's tile a thread has, and the bits from one to the next;
/// `None` if they leave gaps.
fn dense(tile: &UnitTile<'_>) -> Option<(u32, i64)> {
    let (mut count, mut unit, mut last) = (1u32, i64::MAX, 0i64);
    for it in tile.layout.shard.iter().filter(|it| it.axis() == AxisId::BIT) {
        let (extent, stride) = (it.extent_value().ok()?, it.stride_value().ok()?);
        count = count.checked_mul(extent)?;
        last = last.checked_add(i64::from(extent.checked_sub(1)?).checked_mul(stride)?)?;
        unit = if extent > 1 { unit.min(stride) } else { unit };
    }
    let unit = if count > 1 { unit } else { 1 };
    let even = last == i64::from(count).checked_sub(1)?.checked_mul(unit)?;
    let mut digits = tile.layout.shard.iter().filter(|it| it.axis() == AxisId::BIT);
    let whole = digits.all(|it| it.stride_value().is_ok_and(|s| s.checked_rem(unit) == Some(0)));
    (even && whole && unit > 0).then_some((count, unit))
}

/// How many lanes of a warp hold each element.
fn lane_copies(tile: &UnitTile<'_>) -> Option<u32> {
    let mut lanes = tile.layout.replica.iter().filter(|it| it.axis() == AxisId::LANE);
    lanes.try_fold(1u32, |n, it| n.checked_mul(it.extent_value().ok()?))
}

#[doc(hidden)]
impl FormArena<'_> {
    /// The fragment of a product's operand or result with dimensions `dims` (rows, columns), where
    /// the product is split over `warps` (along the rows of the result, along its columns; those
    /// along rows count first).
    ///
    /// # Errors
    /// [`FormError::Stale`] for another rank than 2 or warps that do not divide the extents;
    /// [`FormError::Full`], [`FormError::Overflow`].
    pub fn product_fragment(
        &mut self,
        dims: VarRange,
        side: UnitSide,
        tile: &UnitTile<'_>,
        warps: (u32, u32),
    ) -> FormResult<FragmentForm> {
        let own = self.product_threads(dims, side, tile, warps)?;
        self.of_product(dims, &own)
    }

    /// The fragment with these threads. Its local index is the instruction's where it has one, else
    /// row-major what the thread leaves open.
    ///
    /// # Errors
    /// Those of [`Self::product_fragment`].
    pub fn of_product(&mut self, dims: VarRange, own: &ProductThreads) -> FormResult<FragmentForm> {
        match own.index {
            Some(index) => self.fragment(dims, own.copy, own.thread, index),
            None => self.by_threads(dims, own.copy, own.thread),
        }
    }

    /// What [`Self::of_product`] makes [`Self::product_fragment`] of: for callers who hold the
    /// instruction's layout on a small stack, and make the fragment when they do no longer.
    ///
    /// # Errors
    /// Those of [`Self::product_fragment`].
    pub fn product_threads(
        &mut self,
        dims: VarRange,
        side: UnitSide,
        tile: &UnitTile<'_>,
        warps: (u32, u32),
    ) -> FormResult<ProductThreads> {
        let mut ids = dims.iter();
        let (Some(row), Some(column), None) = (ids.next(), ids.next(), ids.next()) else {
            return Err(FormError::Stale);
        };
        let along_rows = warps.0.checked_div(tile.together.max(1)).ok_or(FormError::Stale)?;
        // Warps along an extent that the operand does not have hold copies.
        let (split, copies) = match side {
            UnitSide::A => ((along_rows, 1), warps.1),
            UnitSide::B => ((1, warps.1), along_rows),
            UnitSide::D => ((along_rows, warps.1), 1),
        };
        let part = |extent: u32, count: u32| {
            let whole = extent.checked_rem(count) == Some(0);
            extent.checked_div(count).filter(|part| whole && *part > 0)
        };
        let rows = part(self.extent(row)?, split.0).ok_or(FormError::Stale)?;
        let columns = part(self.extent(column)?, split.1).ok_or(FormError::Stale)?;
        let (i, j) = (self.whole(row)?, self.whole(column)?);
        let (mut block_i, i) = self.div_rem(i, i64::from(rows))?;
        let (mut block_j, j) = self.div_rem(j, i64::from(columns))?;
        let (own_rows, own_columns) = match tile.transposed {
            true => (tile.columns, tile.rows),
            false => (tile.rows, tile.columns),
        };
        let (down, i) = self.div_rem(i, i64::from(own_rows))?;
        let (right, j) = self.div_rem(j, i64::from(own_columns))?;
        let (own_i, own_j) = if tile.transposed { (j, i) } else { (i, j) };
        let mut flat = self.scale(own_i, i64::from(tile.columns))?;
        flat = self.add(flat, own_j)?;
        let own = dense(tile);
        let (mut thread, inside) = self.lane(flat, tile, own.map_or(1, |own| own.1))?;
        let whole = |extent: u32, part: u32| extent.checked_rem(part) == Some(0);
        let index = match own {
            Some((count, _)) if whole(rows, own_rows) && whole(columns, own_columns) => {
                let blocks = columns.checked_div(own_columns).ok_or(FormError::Stale)?;
                let block = self.add_scaled(right, down, i64::from(blocks))?;
                Some(self.add_scaled(inside, block, i64::from(count))?)
            }
            _ => None,
        };
        // Copies in further lanes of a warp count below those of further warps.
        let in_lanes = lane_copies(tile).ok_or(FormError::Overflow)?;
        let copy =
            self.var(copies.checked_mul(in_lanes).ok_or(FormError::Overflow)?, VarRole::Copy)?;
        let mut number = self.whole(copy)?;
        if in_lanes > 1 {
            let (above, lane) = self.div_rem(number, i64::from(in_lanes))?;
            thread = self.lane_copy(thread, lane, tile)?;
            number = above;
        }
        match side {
            UnitSide::A => block_j = number,
            UnitSide::B => block_i = number,
            UnitSide::D => {}
        }
        let group =
            i64::from(tile.wave.checked_mul(tile.together.max(1)).ok_or(FormError::Overflow)?);
        thread = self.add_scaled(thread, block_i, group)?;
        let next = group.checked_mul(i64::from(along_rows)).ok_or(FormError::Overflow)?;
        thread = self.add_scaled(thread, block_j, next)?;
        Ok(ProductThreads { copy, thread, index })
    }

    /// The lane of a copy, by its number among those in the lanes of a warp.
    #[inline(never)] // Beside the digits of the element, not below them.
    fn lane_copy(
        &mut self,
        thread: IndexForm,
        number: IndexForm,
        tile: &UnitTile<'_>,
    ) -> FormResult<IndexForm> {
        let (mut thread, mut rest) = (thread, number);
        for it in tile.layout.replica.iter().filter(|it| it.axis() == AxisId::LANE) {
            let stale = |_| FormError::Stale;
            let extent = it.extent_value().map_err(stale)?;
            let (above, digit) = self.div_rem(rest, i64::from(extent))?;
            rest = above;
            thread = self.add_scaled(thread, digit, it.stride_value().map_err(stale)?)?;
        }
        Ok(thread)
    }

    /// The thread of an element, by its row-major number in the instruction's tile, and its number
    /// among that thread's, which are so many bits apart.
    fn lane(
        &mut self,
        flat: IndexForm,
        tile: &UnitTile<'_>,
        bits: i64,
    ) -> FormResult<(IndexForm, IndexForm)> {
        let (mut thread, mut number) = (IndexForm::constant(0), IndexForm::constant(0));
        let mut rest = flat;
        let stale = |_| FormError::Stale;
        for it in tile.layout.shard {
            let extent = it.extent_value().map_err(stale)?;
            let (above, digit) = self.div_rem(rest, i64::from(extent))?;
            rest = above;
            let stride = it.stride_value().map_err(stale)?;
            let unit = match it.axis() {
                AxisId::LANE => stride,
                AxisId::WARP => {
                    stride.checked_mul(i64::from(tile.wave)).ok_or(FormError::Overflow)?
                }
                AxisId::BIT => {
                    let apart = stride.checked_div(bits).ok_or(FormError::Overflow)?;
                    number = self.add_scaled(number, digit, apart)?;
                    continue;
                }
                _ => continue,
            };
            thread = self.add_scaled(thread, digit, unit)?;
        }
        Ok((thread, number))
    }
}

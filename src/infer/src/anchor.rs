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
    let rows = tile.rows.checked_div(tile.together.max(1))?.max(1);
    let most = (m.checked_div(rows)?, n.checked_div(tile.columns)?);
    let fits = |a: u32| {
        let b = warps.checked_div(a)?;
        let whole = a.checked_mul(b)? == warps && a.checked_rem(tile.together.max(1))? == 0;
        (whole && a <= most.0 && b <= most.1).then_some((a, b))
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
        let (copy, thread) = self.product_threads(dims, side, tile, warps)?;
        self.by_threads(dims, copy, thread)
    }

    /// The threads of [`Self::product_fragment`], and the number of the copy: for callers who hold
    /// the instruction's layout on a small stack, and make the fragment when they do no longer.
    ///
    /// # Errors
    /// Those of [`Self::product_fragment`].
    pub fn product_threads(
        &mut self,
        dims: VarRange,
        side: UnitSide,
        tile: &UnitTile<'_>,
        warps: (u32, u32),
    ) -> FormResult<(BaseId, IndexForm)> {
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
        let part = |extent: u32, count: u32| extent.checked_div(count).filter(|p| *p > 0);
        let rows = part(self.extent(row)?, split.0).ok_or(FormError::Stale)?;
        let columns = part(self.extent(column)?, split.1).ok_or(FormError::Stale)?;
        let (i, j) = (self.whole(row)?, self.whole(column)?);
        let (mut block_i, i) = self.div_rem(i, i64::from(rows))?;
        let (mut block_j, j) = self.div_rem(j, i64::from(columns))?;
        let (own_i, own_j) = if tile.transposed { (j, i) } else { (i, j) };
        let own_i = self.div_rem(own_i, i64::from(tile.rows))?.1;
        let own_j = self.div_rem(own_j, i64::from(tile.columns))?.1;
        let mut flat = self.scale(own_i, i64::from(tile.columns))?;
        flat = self.add(flat, own_j)?;
        let mut thread = self.lane(flat, tile)?;
        let copy = self.var(copies, VarRole::Copy)?;
        match side {
            UnitSide::A => block_j = self.whole(copy)?,
            UnitSide::B => block_i = self.whole(copy)?,
            UnitSide::D => {}
        }
        let group =
            i64::from(tile.wave.checked_mul(tile.together.max(1)).ok_or(FormError::Overflow)?);
        thread = self.add_scaled(thread, block_i, group)?;
        let next = group.checked_mul(i64::from(along_rows)).ok_or(FormError::Overflow)?;
        thread = self.add_scaled(thread, block_j, next)?;
        Ok((copy, thread))
    }

    /// The thread of an element, by its row-major number in the instruction's tile.
    fn lane(&mut self, flat: IndexForm, tile: &UnitTile<'_>) -> FormResult<IndexForm> {
        let mut thread = IndexForm::constant(0);
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
                _ => continue,
            };
            thread = self.add_scaled(thread, digit, unit)?;
        }
        Ok(thread)
    }
}

//! Products of elements of half a byte: tiles hold two of them in each byte.

use crate::map::{BitMatrix, Fragment, TileShape};
use crate::product::Product;

impl Product {
    /// A product of elements of half a byte as one of pairs, which are neighbours along its depth;
    /// `None` where they do not stand in one byte of a lane's register.
    #[must_use]
    pub fn paired(&self) -> Option<Self> {
        // Panels of an instruction count elements.
        if self.takes_panels() {
            return None;
        }
        let mut shape = self.shape;
        shape.k = shape.k.checked_div(2).filter(|k| k.checked_mul(2) == Some(shape.k))?;
        let [in_memory_a, in_memory_b] = self.shared;
        Some(Self {
            shape,
            pairs: true,
            a: paired(&self.a, false, in_memory_a)?,
            b: paired(&self.b, true, in_memory_b)?,
            ..*self
        })
    }
}

/// A distribution of pairs along the rows, or along the columns. `in_memory`: lanes hold none of
/// them, so that its bits are those of blocks, which are whole pairs.
fn paired(of: &Fragment, rows: bool, in_memory: bool) -> Option<Fragment> {
    let old = of.shape;
    let (rows_less, cols_less) = if rows { (1, 0) } else { (0, 1) };
    let shape = TileShape {
        rows: old.rows.checked_sub(rows_less)?,
        cols: old.cols.checked_sub(cols_less)?,
        bits: old.bits.checked_mul(2)?,
        ..old
    };
    let first = if rows { old.row_bit(0) } else { 1 };
    let own = of.register.as_slice();
    let register = match own.split_first() {
        Some((lowest, rest)) if !in_memory && *lowest == first => rest,
        _ if in_memory => own,
        _ => return None,
    };
    // Without the bit that says which of a pair an element is.
    let moved = |element: u32| -> Option<u32> {
        let below = first.checked_sub(1)?;
        (element & first == 0).then_some((element >> 1) & !below | element & below)
    };
    let mut out = Fragment { shape, by_rows: of.by_rows, ..Fragment::new(shape) };
    move_all(register, &mut out.register, moved)?;
    move_all(of.lane.as_slice(), &mut out.lane, moved)?;
    move_all(of.warp.as_slice(), &mut out.warp, moved)?;
    (!of.unpacked).then_some(out)
}

fn move_all<const N: usize>(
    from: &[u32],
    to: &mut BitMatrix<u32, N>,
    moved: impl Fn(u32) -> Option<u32>,
) -> Option<()> {
    from.iter().try_for_each(|element| to.push(moved(*element)?).then_some(()))
}

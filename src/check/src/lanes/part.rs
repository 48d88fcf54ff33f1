//! Parts of tiles that are some of each lane's registers: a place of the part is one place of the
//! tile, the same in all lanes and warps.

use crate::evaluator::{power, row_col};
use crate::lanes::shape::{at, fragment, places};
use crate::violation::Violation;
use lanebook_ir::{Op, Program, Value};
use lanebook_plan::Plan;
use lanebook_tile::map::Fragment;

/// The tile, the part and what the tile is with the part put in, of an operation on parts.
#[derive(Copy, Clone)]
pub(crate) struct PartValues {
    pub(crate) whole: Value,
    pub(crate) part: Value,
    pub(crate) put: Option<Value>,
    row: u32,
    col: u32,
}

impl PartValues {
    pub(crate) fn of(program: &Program<'_, '_>, op: Op) -> Option<Self> {
        let last = program.operand_count(op).checked_sub(1)?;
        let (whole, result) = (program.operand(op, last)?, program.result(op, 0)?);
        let mut numbers = [0u32; 2];
        let mut starts = program.subscripts(op, last);
        let rank = program.type_of(whole).shape.rank();
        for number in numbers.iter_mut().skip(2usize.checked_sub(rank)?) {
            *number = u32::try_from(program.int(starts.next()?)?).ok()?;
        }
        let [row, col] = numbers;
        let (part, put) = match last {
            0 => (result, None),
            _ => (program.operand(op, 0)?, Some(result)),
        };
        Some(Self { whole, part, put, row, col })
    }

    /// Where an element of the part is in the tile.
    fn place(self, (row, col): (u32, u32)) -> Option<(u32, u32)> {
        Some((row.checked_add(self.row)?, col.checked_add(self.col)?))
    }

    /// Whether a place of the tile is the part's, in the first lane.
    pub(crate) fn covers(
        self,
        program: &Program<'_, '_>,
        whole: &Fragment,
        place: u32,
    ) -> Option<bool> {
        let (row, col) = row_col(whole.shape, at(whole, place, 0, 0)?)?;
        let shape = program.type_of(self.part).shape;
        let (rows, cols) = match shape.rank() {
            1 => (1, shape.extent(0)?),
            _ => shape.pair()?,
        };
        let inside =
            |at: u32, first: u32, many: u32| at.checked_sub(first).is_some_and(|n| n < many);
        Some(inside(row, self.row, rows) && inside(col, self.col, cols))
    }

    /// The place of the tile that a place of the part is, in the first lane.
    pub(crate) fn in_whole(self, whole: &Fragment, part: &Fragment, place: u32) -> Option<u32> {
        let want = self.place(row_col(part.shape, at(part, place, 0, 0)?)?)?;
        (0..places(whole)?)
            .find(|q| at(whole, *q, 0, 0).and_then(|e| row_col(whole.shape, e)) == Some(want))
    }
}

/// Statement 11, of parts: in each lane of each warp the places of a part hold the elements that
/// the tile's do.
#[inline(never)]
pub(crate) fn part(program: &Program<'_, '_>, plan: &Plan<'_>, op: Op) -> Result<(), Violation> {
    let missing = Violation::Missing(op);
    let own = PartValues::of(program, op).ok_or(missing)?;
    let whole = fragment(plan, op, Some(own.put.unwrap_or(own.whole)))?;
    if own.put.is_some() && program.constant(own.whole).is_none() {
        let before = fragment(plan, op, Some(own.whole))?;
        if before != whole {
            return Err(missing);
        }
    }
    if program.constant(own.part).is_some() {
        return Ok(());
    }
    let small = fragment(plan, op, Some(own.part))?;
    let lanes = power(usize::from(plan.wave)).ok_or(missing)?;
    let warps = power(usize::from(plan.warps)).ok_or(missing)?;
    for p in 0..places(small).ok_or(missing)? {
        let q = own.in_whole(whole, small, p).ok_or(missing)?;
        for warp in 0..warps {
            for lane in 0..lanes {
                let held = |f: &Fragment, place| row_col(f.shape, at(f, place, lane, warp)?);
                let want = held(small, p).and_then(|place| own.place(place));
                if want.is_none() || held(whole, q) != want {
                    return Err(missing);
                }
            }
        }
    }
    Ok(())
}

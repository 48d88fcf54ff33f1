//! Parts of tiles: slices taken out and put in, two tiles side by side, and the two of one.
//!
//! A tile whose rows are counted in panels of a part's rows is, under another shape, one row for
//! each panel. The part is the only row that a comparison leaves, and is put in by a choice. What
//! lies in the registers of a lane stays there; between lanes and warps it goes as a reduction or a
//! repetition does. A slice that is some of each lane's registers needs none of this
//! ([`is_of_registers`]); whether it is, the tile's distribution says.

use crate::data::{PlanError, Unparted};
use crate::select::before::Before;
use lanebook_ir::{Op, Program, TileEncoding, Type, Value};
use lanebook_tables::OpRole;
use lanebook_tile::shaping::TilePart;

/// A part along one dimension: where it begins, over how many elements it goes, and how many there
/// are.
#[derive(Copy, Clone)]
struct Extent {
    start: u32,
    part: u32,
    whole: u32,
}

impl Extent {
    /// The number of the part among those of its size.
    const fn number(self) -> u32 {
        match self.start.checked_div(self.part) {
            Some(number) => number,
            None => 0,
        }
    }

    /// How many parts there are.
    const fn count(self) -> u32 {
        match self.whole.checked_div(self.part) {
            Some(count) => count,
            None => 0,
        }
    }
}

/// Whether an operation can stay what it is: its part is some of each lane's registers, unless the
/// distribution of its tile makes it another. What it makes under a written layout is converted to
/// that.
pub(crate) fn is_of_registers(program: &Program<'_, '_>, op: Op) -> bool {
    let plain = |value: Value| program.type_of(value).encoding == TileEncoding::None;
    TilePart::of(program, op).is_some_and(|own| plain(own.put.unwrap_or(own.part)))
}

/// Whether something reads what an operation makes.
pub(crate) fn is_read(program: &Program<'_, '_>, op: Op) -> bool {
    program.results(op).any(|value| program.uses(value).next().is_some())
}

/// Checks that what an operation takes or puts is a part that can be taken or put.
pub(crate) fn check(program: &Program<'_, '_>, op: Op) -> Result<(), PlanError> {
    if program.role(op) == OpRole::Slice {
        extents(program, op).map(|_| ())?;
    }
    Ok(())
}

/// Rows and columns of a slice; of a tile of one dimension each element is a row.
fn extents(program: &Program<'_, '_>, op: Op) -> Result<[Extent; 2], PlanError> {
    let refuse = |why| PlanError::Part { op, why };
    let unknown = PlanError::Extents(op);
    let number = program.operand_count(op).saturating_sub(1);
    let whole = program.operand(op, number).ok_or(unknown)?;
    let small = if number == 0 { program.result(op, 0) } else { program.operand(op, 0) };
    let (a, b) = (program.type_of(whole).shape, program.type_of(small.ok_or(unknown)?).shape);
    let alike = program.result(op, 0).map(|value| program.type_of(value).shape);
    if a.rank() != b.rank() || (number > 0 && alike != Some(a)) {
        return Err(refuse(Unparted::Shape));
    }
    let mut out = [Extent { start: 0, part: 1, whole: 1 }; 2];
    let mut starts = program.subscripts(op, number);
    for (dimension, extent) in out.iter_mut().enumerate().take(a.rank()) {
        let start = starts.next().and_then(|value| program.int(value));
        let start = start.and_then(|start| u32::try_from(start).ok());
        *extent = Extent {
            start: start.ok_or(refuse(Unparted::Place))?,
            part: b.extent(dimension).ok_or(unknown)?,
            whole: a.extent(dimension).ok_or(unknown)?,
        };
        let Extent { start, part, whole } = *extent;
        let end = start.checked_add(part).ok_or(refuse(Unparted::Outside))?;
        if part == 0 || end > whole {
            return Err(refuse(Unparted::Outside));
        }
        if start.checked_rem(part) != Some(0) || whole.checked_rem(part) != Some(0) {
            return Err(refuse(Unparted::Between));
        }
    }
    Ok(out)
}

/// Puts others before an operation, and says what they make in place of its results; `None` where
/// the program has no room for them. Pairs whose halves have registers of their own are slices,
/// unless the operation `crosses` lanes.
pub(crate) fn made(
    program: &mut Program<'_, '_>,
    op: Op,
    crosses: bool,
) -> Option<[Option<Value>; 2]> {
    let role = program.role(op);
    let alone = !crosses && has_registers(program, op);
    let mut before = Before { program, op };
    match role {
        OpRole::Split if alone => split_registers(&mut before),
        OpRole::Join if alone => Some([Some(join_registers(&mut before)?), None]),
        OpRole::Split => split(&mut before),
        OpRole::Join => Some([Some(join(&mut before)?), None]),
        _ => Some([Some(slice(&mut before)?), None]),
    }
}

/// Whether each element of an operation's tiles has a register of its own, or several.
fn has_registers(program: &Program<'_, '_>, op: Op) -> bool {
    let dtype = program.operand(op, 0).and_then(|tile| program.type_of(tile).dtype);
    dtype.and_then(|dtype| program.tables().dtype(dtype)).is_some_and(|dtype| dtype.held >= 32)
}

/// The halves of a tile of pairs: its columns.
fn split_registers(before: &mut Before<'_, '_, '_>) -> Option<[Option<Value>; 2]> {
    let (op, pairs) = (before.op, before.program.operand(before.op, 0)?);
    let ty = before.program.type_of(pairs);
    let (rows, _) = ty.shape.pair()?;
    let column = Before::shaped(&[rows, 1], ty.dtype?)?;
    let mut out = [None; 2];
    for (number, half) in (0u32..).zip(out.iter_mut()) {
        let result = before.program.result(op, usize::try_from(number).ok()?)?;
        if before.program.uses(result).next().is_none() {
            continue;
        }
        let wanted = before.program.type_of(result);
        let own = before.slice(&[pairs], [0, number], column)?;
        let own = before.reshaped(own, &[wanted.shape.extent(0)?])?;
        *half = Some(before.said(own, wanted)?);
    }
    Some(out)
}

/// A tile of pairs, column by column.
fn join_registers(before: &mut Before<'_, '_, '_>) -> Option<Value> {
    let op = before.op;
    let ty = before.program.type_of(before.program.result(op, 0)?);
    let (rows, cols) = ty.shape.pair()?;
    let plain = Before::shaped(&[rows, cols], ty.dtype?)?;
    let mut pairs = before.number(0, plain)?;
    for number in 0..cols {
        let own = before.program.operand(op, usize::try_from(number).ok()?)?;
        let own = before.reshaped(own, &[rows, 1])?;
        pairs = before.slice(&[own, pairs], [0, number], plain)?;
    }
    before.said(pairs, ty)
}

/// The halves of a tile of pairs.
fn split(before: &mut Before<'_, '_, '_>) -> Option<[Option<Value>; 2]> {
    let (op, pairs) = (before.op, before.program.operand(before.op, 0)?);
    let shape = before.program.type_of(pairs).shape;
    let (rows, cols) = shape.pair()?;
    let (words, word) = (before.words(pairs)?, before.word()?);
    let zeros = before.number(0, Type::tensor(shape, word))?;
    let mut out = [None; 2];
    for (number, half) in (0u32..).zip(out.iter_mut()) {
        let result = before.program.result(op, usize::try_from(number).ok()?)?;
        if before.program.uses(result).next().is_none() {
            continue;
        }
        let ty = before.program.type_of(result);
        let is_own = before.places(&[rows, cols], 1, "compare.eq", number)?;
        let own = before.of(OpRole::Select, &[is_own, words, zeros], Type::tensor(shape, word))?;
        let own = before.only(own, 1, Type::tensor(ty.shape, word))?;
        *half = Some(before.elements(own, ty)?);
    }
    Some(out)
}

/// A tile of pairs.
fn join(before: &mut Before<'_, '_, '_>) -> Option<Value> {
    let op = before.op;
    let ty = before.program.type_of(before.program.result(op, 0)?);
    let (rows, cols) = ty.shape.pair()?;
    let pairs = Type::tensor(ty.shape, before.word()?);
    let mut halves = [None; 2];
    for (number, half) in halves.iter_mut().enumerate() {
        let own = before.program.operand(op, number)?;
        let words = before.words(own)?;
        let wide = before.of(OpRole::Broadcast, &[words], pairs)?;
        *half = Some(before.along(wide, 1)?);
    }
    let [first, second] = halves;
    let is_first = before.places(&[rows, cols], 1, "compare.eq", 0)?;
    let both = before.of(OpRole::Select, &[is_first, first?, second?], pairs)?;
    before.elements(both, ty)
}

/// A slice that is taken out, or a tile with one put in.
fn slice(before: &mut Before<'_, '_, '_>) -> Option<Value> {
    let op = before.op;
    let [rows, cols] = extents(before.program, op).ok()?;
    let ty = before.program.type_of(before.program.result(op, 0)?);
    let is_line = ty.shape.rank() == 1;
    let put = before.program.operand_count(op).checked_sub(1)?;
    let whole = before.program.operand(op, put)?;
    let whole = before.words(whole)?;
    let whole = before.reshaped(whole, &[rows.whole, cols.whole])?;
    let made = if put == 0 {
        let panel = panel(before, whole, rows, cols.whole)?;
        panel_of_columns(before, panel, cols, rows.part)?
    } else {
        let part = before.program.operand(op, 0)?;
        let part = before.words(part)?;
        let mut part = before.reshaped(part, &[rows.part, cols.part])?;
        if cols.count() > 1 {
            let around = panel(before, whole, rows, cols.whole)?;
            let (around, own) = (before.turned(around)?, before.turned(part)?);
            let wide = put_in(before, around, own, cols, rows.part)?;
            part = before.turned(wide)?;
        }
        put_in(before, whole, part, rows, cols.whole)?
    };
    let made = if is_line { before.reshaped(made, &[ty.shape.extent(0)?])? } else { made };
    before.elements(made, ty)
}

/// Some rows of so many elements.
fn panel(before: &mut Before<'_, '_, '_>, whole: Value, rows: Extent, cols: u32) -> Option<Value> {
    let (count, long) = (rows.count(), rows.part.checked_mul(cols)?);
    if count == 1 {
        return Some(whole);
    }
    let word = before.word()?;
    let panels = Before::shaped(&[count, long], word)?;
    let whole = before.reshaped(whole, &[count, long])?;
    let is_own = before.places(&[count, long], 0, "compare.eq", rows.number())?;
    let zeros = before.number(0, panels)?;
    let own = before.of(OpRole::Select, &[is_own, whole, zeros], panels)?;
    let own = before.only(own, 0, Before::shaped(&[long], word)?)?;
    before.reshaped(own, &[rows.part, cols])
}

/// Some columns of so many elements.
fn panel_of_columns(
    before: &mut Before<'_, '_, '_>,
    whole: Value,
    cols: Extent,
    rows: u32,
) -> Option<Value> {
    if cols.count() == 1 {
        return Some(whole);
    }
    let turned = before.turned(whole)?;
    let own = panel(before, turned, cols, rows)?;
    before.turned(own)
}

/// A tile with some rows of so many elements in place of its own.
fn put_in(
    before: &mut Before<'_, '_, '_>,
    whole: Value,
    part: Value,
    rows: Extent,
    cols: u32,
) -> Option<Value> {
    let (count, long) = (rows.count(), rows.part.checked_mul(cols)?);
    if count == 1 {
        return Some(part);
    }
    let panels = Before::shaped(&[count, long], before.word()?)?;
    let whole = before.reshaped(whole, &[count, long])?;
    let line = before.reshaped(part, &[long])?;
    let wide = before.of(OpRole::Broadcast, &[line], panels)?;
    let wide = before.along(wide, 0)?;
    let is_own = before.places(&[count, long], 0, "compare.eq", rows.number())?;
    let both = before.of(OpRole::Select, &[is_own, wide, whole], panels)?;
    before.reshaped(both, &[rows.whole, cols])
}

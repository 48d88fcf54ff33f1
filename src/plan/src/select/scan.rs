//! Scans, and reductions of narrow elements, as operations that are there.
//!
//! A scan goes in steps: once each run of `n` elements is scanned by itself, the upper one of two
//! neighbours still lacks what the lower one ends with. Under the shape of rows of `2 n` elements
//! that is one element of each row, for those behind it. In reverse the lower one lacks what the
//! upper one begins with. Elements are combined in 32 bits, those without a sign as ones that have it,
//! and rounded once.

use crate::data::{PlanError, Unparted};
use crate::select::before::Before;
use lanebook_ir::{AttrValue, Op, Program, Type, Value, attr_names};
use lanebook_tables::{DtypeKind, OpId, OpRole};
use lanebook_tile::shaping::combiner;

/// Rows and columns of a scanned tile, and whether it goes along its columns.
fn extents(program: &Program<'_, '_>, op: Op) -> Option<(u32, u32, bool)> {
    let shape = program.type_of(program.result(op, 0)?).shape;
    match (shape.rank(), program.int_attr(op, attr_names::AXIS)?) {
        (1, 0) => Some((1, shape.extent(0)?, false)),
        (2, 1) => shape.pair().map(|(rows, cols)| (rows, cols, false)),
        (2, 0) => shape.pair().map(|(rows, cols)| (cols, rows, true)),
        _ => None,
    }
}

/// Checks that a scan is one that can be done.
pub(crate) fn check(program: &Program<'_, '_>, op: Op) -> Result<(), PlanError> {
    let refuse = |why| Err(PlanError::Part { op, why });
    match extents(program, op) {
        None => refuse(Unparted::Dimension),
        Some((_, along, _)) if along.is_power_of_two() => Ok(()),
        Some(_) => refuse(Unparted::Steps),
    }
}

/// Puts others before a scan, and says what they make in place of its result; `None` where the
/// program has no room for them.
pub(crate) fn made(program: &mut Program<'_, '_>, op: Op) -> Option<[Option<Value>; 2]> {
    let (rows, along, is_turned) = extents(program, op)?;
    let decl = match combiner(program, op)? {
        lanebook_tables::OpWord::Op(decl) => decl,
        _ => return None,
    };
    let is_ordered = is_ordered(program, op);
    let is_reverse = program.has_attr(op, attr_names::REVERSE);
    let (from, to) = (program.operand(op, 0)?, program.result(op, 0)?);
    let ty = program.type_of(to);
    let before = &mut Before { program, op };
    let wide = before.wide(from, is_ordered)?;
    let mut at = if is_turned { before.turned(wide)? } else { wide };
    let mut run = 1u32;
    while run < along {
        at = step(before, at, (rows, along), run, (decl, is_reverse))?;
        run = run.checked_mul(2)?;
    }
    let at = match (is_turned, ty.shape.rank()) {
        (true, _) => {
            let lines = before.reshaped(at, &[rows, along])?;
            before.turned(lines)?
        }
        (false, 1) => before.reshaped(at, &[along])?,
        (false, _) => before.reshaped(at, &[rows, along])?,
    };
    Some([Some(before.narrow(at, ty, is_ordered)?), None])
}

/// Joins neighbouring runs that are scanned.
fn step(
    before: &mut Before<'_, '_, '_>,
    of: Value,
    (rows, along): (u32, u32),
    run: u32,
    (decl, is_reverse): (OpId, bool),
) -> Option<Value> {
    let pair = run.checked_mul(2)?;
    let lines = rows.checked_mul(along)?.checked_div(pair)?;
    let shape = [lines, pair];
    let (dtype, word) = (before.program.type_of(of).dtype?, before.word()?);
    let (ty, words) = (Before::shaped(&shape, dtype)?, Before::shaped(&shape, word)?);
    let at = before.reshaped(of, &shape)?;
    // The last element of the lower run, or the first of the upper one.
    let end = if is_reverse { run } else { run.checked_sub(1)? };
    let is_end = before.places(&shape, 1, "compare.eq", end)?;
    let zeros = before.number(0, words)?;
    let line = Before::shaped(&[lines], word)?;
    let spread = |before: &mut Before<'_, '_, '_>, bits: Value| {
        let only = before.of(OpRole::Select, &[is_end, bits, zeros], words)?;
        let only = before.only(only, 1, line)?;
        let wide = before.of(OpRole::Broadcast, &[only], words)?;
        before.along(wide, 1)
    };
    let other = if before.is_long(ty) {
        let [low, high] = before.halves(at)?;
        let (low, high) = (spread(before, low)?, spread(before, high)?);
        before.rejoined([low, high], ty)?
    } else {
        let bits = before.words(at)?;
        let wide = spread(before, bits)?;
        before.elements(wide, ty)?
    };
    let sum = before.made(decl, &[at, other], ty)?;
    let relation = if is_reverse { "compare.slt" } else { "compare.sge" };
    let lacks = before.places(&shape, 1, relation, run)?;
    before.of(OpRole::Select, &[lacks, sum, at], ty)
}

/// Whether an operation compares elements.
fn is_ordered(program: &Program<'_, '_>, op: Op) -> bool {
    let (Some(AttrValue::Word(kind)) | Some(AttrValue::Str(kind)) | Some(AttrValue::Text(kind))) =
        program.attr(op, attr_names::KIND)
    else {
        return false;
    };
    let kind = program.text(kind);
    [attr_names::MAX, attr_names::MIN, attr_names::ARGMAX, attr_names::ARGMIN].contains(&kind)
}

/// Whether a reduction's elements are combined as others of 32 bits.
pub(crate) fn is_other(program: &Program<'_, '_>, op: Op) -> bool {
    let other = |value: Value| {
        let dtype = program.type_of(value).dtype.and_then(|dtype| program.tables().dtype(dtype));
        dtype.is_some_and(|dtype| match dtype.kind {
            DtypeKind::Float | DtypeKind::Signed => dtype.bits < 32,
            DtypeKind::Unsigned => dtype.bits <= 64,
            _ => false,
        })
    };
    program.role(op) == OpRole::Reduce
        && program.operands(op).any(other)
        && !program.results(op).any(|value| program.constant(value).is_some())
}

/// Puts a reduction of other elements before one, and says what is made in place of its results.
pub(crate) fn widened(program: &mut Program<'_, '_>, op: Op) -> Option<[Option<Value>; 2]> {
    let axis = u8::try_from(program.int_attr(op, attr_names::AXIS)?).ok()?;
    let kind = program.attr(op, attr_names::KIND)?;
    let (decl, is_ordered) = (program.decl_id(op)?, is_ordered(program, op));
    let before = &mut Before { program, op };
    let mut operands: heapless::Vec<Value, 2> = heapless::Vec::new();
    let mut types: heapless::Vec<Type, 2> = heapless::Vec::new();
    let count = before.program.operand_count(op);
    for number in 0..count {
        let from = before.program.operand(op, number)?;
        operands.push(before.wide(from, is_ordered)?).ok()?;
        let ty = before.program.type_of(before.program.result(op, number)?);
        let dtype = before.wider(ty).or(ty.dtype)?;
        types.push(Type::tensor(ty.shape, dtype)).ok()?;
    }
    let made = before.program.insert_before(op, decl, &operands, &types).ok()?;
    let axis = AttrValue::Int(i64::from(axis), None);
    before.program.set_attr(made, attr_names::AXIS, axis).ok()?;
    before.program.set_attr(made, attr_names::KIND, kind).ok()?;
    let mut out = [None; 2];
    for (number, out) in out.iter_mut().enumerate().take(count) {
        let result = before.program.result(op, number)?;
        if before.program.uses(result).next().is_some() {
            let wide = before.program.result(made, number)?;
            let ty = before.program.type_of(result);
            *out = Some(before.narrow(wide, ty, is_ordered)?);
        }
    }
    Some(out)
}

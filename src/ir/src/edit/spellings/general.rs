//! Reductions and scans of one tile or several whose region is none of the kinds that these
//! operations have: neighbours are combined, then what these make, by the region's operations on
//! tiles.
//!
//! A reduction takes what is even and what is odd apart until one element is left. A scan goes in
//! steps: once runs of `n` elements are scanned by themselves, the upper one of two neighbours lacks
//! what the lower one ends with. In reverse the lower one lacks what the upper one begins with.

use crate::attr::{AttrValue, Literal};
use crate::attr_names;
use crate::edit::edit_ops::Edit;
use crate::edit::insert::{made, made_by, made_named, word};
use crate::edit::spellings::flags;
use crate::error::{ErrorKind, Pool};
use crate::handle::{Block, Op, Value};
use crate::program::{Def, Program};
use crate::storage::full;
use crate::types::{Shape, TileEncoding, Type};
use heapless::Vec;
use lanebook_tables::{DtypeKind, OpRole};

/// Most tiles that are combined at once.
const TILES: usize = 6;
/// Most values of a region.
const VALUES: usize = 48;

type Tiles = Vec<Value, TILES>;

/// What is combined: so many lines of so many elements, along the columns of a matrix or not.
#[derive(Copy, Clone)]
struct Lines {
    count: u32,
    along: u32,
    is_turned: bool,
}

/// Puts others in the place of a reduction or a scan; whether its region is one of operations on
/// elements, and its tiles are alike.
#[inline(never)]
pub(super) fn lower(program: &mut Program<'_, '_>, op: Op, body: Block) -> Edit<bool> {
    flags::settle(program, op)?;
    let Some(lines) = lines(program, op).filter(|_| is_elementwise(program, op, body)) else {
        return Ok(false);
    };
    let mut tiles = Tiles::new();
    for number in 0..program.operand_count(op) {
        let mut tile = program.operand(op, number).ok_or(ErrorKind::Stale)?;
        if lines.is_turned {
            let ty = typed(program, tile, &[lines.count, lines.along])?;
            tile = made_by(program, op, OpRole::Transpose, &[tile], ty)?;
        }
        tiles.push(tile).map_err(|_| full(Pool::Sources, TILES))?;
    }
    let is_scan = program.role(op) == OpRole::Scan;
    let done = match is_scan {
        true => scanned(program, (op, body), &tiles, lines)?,
        false => reduced(program, (op, body), &tiles, lines)?,
    };
    for (number, tile) in done.iter().enumerate() {
        let result = program.result(op, number).ok_or(ErrorKind::Stale)?;
        let whole = finished(program, op, *tile, (result, lines))?;
        program.replace_all_uses(result, whole)?;
    }
    program.remove_last_region(op)?;
    program.erase(op)?;
    Ok(true)
}

/// A tile of a value's element type in another shape.
fn typed(program: &Program<'_, '_>, of: Value, extents: &[u32]) -> Edit<Type> {
    let dtype = program.type_of(of).dtype.ok_or(ErrorKind::UnknownDtype)?;
    Ok(Type::tensor(Shape::of(extents).ok_or(ErrorKind::Extent)?, dtype))
}

/// What is combined, where all operands and results are alike and the attributes say no more.
fn lines(program: &Program<'_, '_>, op: Op) -> Option<Lines> {
    let is_scan = program.role(op) == OpRole::Scan;
    let first = program.type_of(program.operand(op, 0)?);
    let rank = first.shape.rank();
    let axis = usize::try_from(program.int_attr(op, attr_names::AXIS)?).ok()?;
    let is_known = |key: &str| key == attr_names::AXIS || is_scan && key == attr_names::REVERSE;
    if program.attrs(op).any(|attr| !is_known(program.text(attr.key))) || axis >= rank {
        return None;
    }
    let (count, along) = match rank {
        1 => (1, first.shape.extent(0)?),
        2 => (first.shape.extent(1usize.checked_sub(axis)?)?, first.shape.extent(axis)?),
        _ => return None,
    };
    let is_alike = (0..program.operand_count(op)).all(|number| {
        let both = program.operand(op, number).zip(program.result(op, number));
        both.is_some_and(|(from, to)| {
            let (from, to) = (program.type_of(from), program.type_of(to));
            let bits = from.dtype.and_then(|dtype| program.tables().dtype(dtype));
            let is_tile = from.is_tile() && !from.is_memory() && !from.is_kept();
            let left = match to.is_tile() {
                _ if is_scan => to.shape == from.shape,
                true if to.shape.rank() == rank => to.shape.extent(axis) == Some(1),
                true => to.shape.rank() == 1 && to.shape.extent(0) == Some(count),
                false => rank == 1,
            };
            is_tile
                && from.shape == first.shape
                && to.dtype == from.dtype
                && bits.is_some_and(|dtype| dtype.bits >= 8)
                && left
        })
    });
    let is_whole = is_alike
        && program.operand_count(op) <= TILES
        && program.results(op).count() == program.operand_count(op)
        && along.is_power_of_two();
    let is_turned = rank == 2 && axis == 0;
    is_whole.then_some(Lines { count, along, is_turned })
}

/// Whether a region takes two elements of each tile, computes with elements, and passes out one of
/// each.
fn is_elementwise(program: &Program<'_, '_>, op: Op, body: Block) -> bool {
    let count = program.operand_count(op);
    let dtype =
        |number: usize| program.operand(op, number).map(|value| program.type_of(value).dtype);
    let is_of = |value: Value, number: usize| {
        let ty = program.type_of(value);
        !ty.is_tile() && Some(ty.dtype) == dtype(number)
    };
    let takes = program.arguments(body).count() == count.saturating_mul(2)
        && (0..count)
            .cycle()
            .zip(program.arguments(body))
            .all(|(number, value)| is_of(value, number));
    let Some(end) = program.terminator(body).filter(|_| takes) else { return false };
    let passes = program.operand_count(end) == count
        && program.attrs(end).next().is_none()
        && program.operands(end).enumerate().all(|(number, value)| is_of(value, number));
    passes
        && program.ops(body).filter(|inner| *inner != end).all(|inner| {
            let computes = matches!(
                program.role(inner),
                OpRole::Elementwise | OpRole::Select | OpRole::Index | OpRole::Constant
            );
            let made = program.result(inner, 0).map(|value| program.type_of(value));
            computes
                && program.results(inner).count() == 1
                && program.regions(inner).next().is_none()
                && made.is_some_and(|ty| !ty.is_tile() && ty.dtype.is_some())
        })
}

/// What the region makes of two tiles each, before the operation.
fn combined(
    program: &mut Program<'_, '_>,
    (op, body): (Op, Block),
    (first, second): (&Tiles, &Tiles),
) -> Edit<Tiles> {
    let room = || full(Pool::Sources, VALUES);
    let mut known: Vec<(Value, Value), VALUES> = Vec::new();
    let one = *first.first().ok_or(ErrorKind::Broken)?;
    let shape = program.type_of(one).shape;
    for (number, tile) in first.iter().chain(second).enumerate() {
        let argument = program.arguments(body).nth(number).ok_or(ErrorKind::Broken)?;
        known.push((argument, *tile)).map_err(|_| room())?;
    }
    let end = program.terminator(body).ok_or(ErrorKind::NoTerminator)?;
    let mut next = program.first(body);
    while let Some(inner) = next.filter(|inner| *inner != end) {
        next = program.next(inner);
        let old = program.result(inner, 0).ok_or(ErrorKind::Broken)?;
        let copy = program.clone_before(inner, op)?;
        let new = program.result(copy, 0).ok_or(ErrorKind::Broken)?;
        let dtype = program.type_of(old).dtype.ok_or(ErrorKind::UnknownDtype)?;
        program.set_type(new, Type::tensor(shape, dtype))?;
        for number in 0..program.operand_count(copy) {
            let value = program.operand(copy, number).ok_or(ErrorKind::Broken)?;
            if let Some(tile) = tile_of(program, copy, value, (shape, &known))? {
                program.set_operand(copy, number, tile)?;
            }
        }
        known.push((old, new)).map_err(|_| room())?;
    }
    let mut out = Tiles::new();
    for number in 0..program.operand_count(end) {
        let value = program.operand(end, number).ok_or(ErrorKind::Broken)?;
        let tile = tile_of(program, op, value, (shape, &known))?.ok_or(ErrorKind::Broken)?;
        out.push(tile).map_err(|_| full(Pool::Sources, TILES))?;
    }
    Ok(out)
}

/// The tile that stands for a value of a region; a number from outside fills one. `None` where a
/// number is written.
fn tile_of(
    program: &mut Program<'_, '_>,
    op: Op,
    value: Value,
    (shape, known): (Shape, &Vec<(Value, Value), VALUES>),
) -> Edit<Option<Value>> {
    if let Some((_, tile)) = known.iter().find(|(old, _)| *old == value) {
        return Ok(Some(*tile));
    }
    if matches!(program.def(value), Def::Literal(_)) {
        return Ok(None);
    }
    let dtype = program.type_of(value).dtype.ok_or(ErrorKind::Combination)?;
    let ty = Type::tensor(shape, dtype);
    // What is written fills the tile by itself.
    let def = program.def_op(value).filter(|def| program.role(*def) == OpRole::Constant);
    if let Some(literal) = def.and_then(|def| program.operand(def, 0)) {
        return made_by(program, op, OpRole::Constant, &[literal], ty).map(Some);
    }
    made_by(program, op, OpRole::Broadcast, &[value], ty).map(Some)
}

/// One element of each line.
fn reduced(
    program: &mut Program<'_, '_>,
    (op, body): (Op, Block),
    from: &Tiles,
    lines: Lines,
) -> Edit<Tiles> {
    let mut tiles = from.clone();
    let mut along = lines.along;
    while along > 1 {
        along >>= 1;
        let count = lines.count.checked_mul(along).ok_or(ErrorKind::Extent)?;
        let (mut first, mut second) = (Tiles::new(), Tiles::new());
        for tile in &tiles {
            let ty = typed(program, *tile, &[count, 2])?;
            let pairs = made_by(program, op, OpRole::Reshape, &[*tile], ty)?;
            let half = typed(program, *tile, &[count])?;
            let split = program.tables().op_of_role(OpRole::Split).ok_or(ErrorKind::UnknownOp)?;
            let split = program.insert_before(op, split, &[pairs], &[half, half])?;
            for (number, to) in [&mut first, &mut second].into_iter().enumerate() {
                let value = program.result(split, number).ok_or(ErrorKind::Broken)?;
                to.push(value).map_err(|_| full(Pool::Sources, TILES))?;
            }
        }
        tiles = combined(program, (op, body), (&first, &second))?;
    }
    Ok(tiles)
}

/// Each element with all before it in its line, or behind it.
fn scanned(
    program: &mut Program<'_, '_>,
    (op, body): (Op, Block),
    from: &Tiles,
    lines: Lines,
) -> Edit<Tiles> {
    let is_reverse = program.has_attr(op, attr_names::REVERSE);
    let all = lines.count.checked_mul(lines.along).ok_or(ErrorKind::Extent)?;
    let mut tiles = from.clone();
    let mut run = 1u32;
    while run < lines.along {
        let pair = run.saturating_mul(2);
        let count = all.checked_div(pair).ok_or(ErrorKind::Extent)?;
        // The last element of the lower run, or the first of the upper one.
        let end = if is_reverse { run } else { run.saturating_sub(1) };
        let (mut own, mut others) = (Tiles::new(), Tiles::new());
        let is_end = places(program, op, [count, pair], ("compare.eq", end))?;
        for tile in &tiles {
            let ty = typed(program, *tile, &[count, pair])?;
            let rows = made_by(program, op, OpRole::Reshape, &[*tile], ty)?;
            let wide = spread(program, op, rows, is_end)?;
            own.push(rows).map_err(|_| full(Pool::Sources, TILES))?;
            others.push(wide).map_err(|_| full(Pool::Sources, TILES))?;
        }
        let joined = combined(program, (op, body), (&others, &own))?;
        let relation = if is_reverse { "compare.slt" } else { "compare.sge" };
        let lacks = places(program, op, [count, pair], (relation, run))?;
        tiles.clear();
        for (old, new) in own.iter().zip(&joined) {
            let ty = typed(program, *old, &[count, pair])?;
            let chosen = made_by(program, op, OpRole::Select, &[lacks, *new, *old], ty)?;
            tiles.push(chosen).map_err(|_| full(Pool::Sources, TILES))?;
        }
        run = pair;
    }
    Ok(tiles)
}

/// The one element of each row that a truth picks, in all of the row: bit for bit.
fn spread(program: &mut Program<'_, '_>, op: Op, rows: Value, picks: Value) -> Edit<Value> {
    let tables = program.tables();
    let ty = program.type_of(rows);
    let dtype = ty.dtype.ok_or(ErrorKind::UnknownDtype)?;
    let kind = tables.dtype(dtype).ok_or(ErrorKind::UnknownDtype)?;
    let is_whole = matches!(kind.kind, DtypeKind::Signed | DtypeKind::Unsigned);
    let whole = tables.dtype_of(DtypeKind::Signed, kind.bits).ok_or(ErrorKind::UnknownDtype)?;
    let whole = if is_whole { dtype } else { whole };
    let same = tables.op_named("arith.bitcast").ok_or(ErrorKind::UnknownOp)?;
    let bits = Type { dtype: Some(whole), ..ty };
    let number = if is_whole { rows } else { made(program, op, same, &[rows], bits)? };
    let zero = program.literal_value(Literal::Int(0))?;
    let zeros = made_by(program, op, OpRole::Constant, &[zero], bits)?;
    let only = made_by(program, op, OpRole::Select, &[picks, number, zeros], bits)?;
    let count = ty.shape.extent(0).ok_or(ErrorKind::Extent)?;
    let line = Type::tensor(Shape::of(&[count]).ok_or(ErrorKind::Extent)?, whole);
    let one = made_by(program, op, OpRole::Reduce, &[only], line)?;
    let either = AttrValue::Word(program.word(attr_names::OR)?);
    let picked = program.def_op(one).ok_or(ErrorKind::Broken)?;
    program.set_attr(picked, attr_names::AXIS, AttrValue::Int(1, None))?;
    program.set_attr(picked, attr_names::KIND, either)?;
    let one = match is_whole {
        true => one,
        false => made(program, op, same, &[one], Type { dtype: Some(dtype), ..line })?,
    };
    let wide = made_by(program, op, OpRole::Broadcast, &[one], ty)?;
    let spread = program.def_op(wide).ok_or(ErrorKind::Broken)?;
    program.set_attr(spread, attr_names::AXIS, AttrValue::Int(1, None))?;
    Ok(wide)
}

/// Whether the column of each element of a matrix has a relation to a number.
fn places(
    program: &mut Program<'_, '_>,
    op: Op,
    extents: [u32; 2],
    (relation, number): (&str, u32),
) -> Edit<Value> {
    let tables = program.tables();
    let shape = Shape::of(&extents).ok_or(ErrorKind::Extent)?;
    let words = Type::tensor(shape, word(program).ok_or(ErrorKind::UnknownDtype)?);
    let truth = tables.dtype_of(DtypeKind::Bits, 1).ok_or(ErrorKind::UnknownDtype)?;
    let at = made_named(program, op, "tt.make_range", &[], words)?;
    let counts = program.def_op(at).ok_or(ErrorKind::Broken)?;
    program.set_attr(counts, attr_names::AXIS, AttrValue::Int(1, None))?;
    let number = program.literal_value(Literal::Int(i64::from(number)))?;
    let number = made_by(program, op, OpRole::Constant, &[number], words)?;
    made_named(program, op, relation, &[at, number], Type::tensor(shape, truth))
}

/// What is combined as a result of the operation is: in its shape and layout, or as a number.
fn finished(
    program: &mut Program<'_, '_>,
    op: Op,
    tile: Value,
    (result, lines): (Value, Lines),
) -> Edit<Value> {
    let ty = program.type_of(result);
    if !ty.is_tile() {
        // The greatest of one element is that one.
        let one = made_by(program, op, OpRole::Reduce, &[tile], ty)?;
        let number = program.def_op(one).ok_or(ErrorKind::Broken)?;
        program.set_attr(number, attr_names::AXIS, AttrValue::Int(0, None))?;
        let kind = AttrValue::Word(program.word(attr_names::MAX)?);
        program.set_attr(number, attr_names::KIND, kind)?;
        return Ok(one);
    }
    let plain = Type { encoding: TileEncoding::None, ..ty };
    let mut tile = tile;
    if lines.is_turned && program.role(op) == OpRole::Scan {
        let rows = typed(program, tile, &[lines.count, lines.along])?;
        tile = made_by(program, op, OpRole::Reshape, &[tile], rows)?;
        tile = made_by(program, op, OpRole::Transpose, &[tile], plain)?;
    }
    if program.type_of(tile).shape != ty.shape {
        tile = made_by(program, op, OpRole::Reshape, &[tile], plain)?;
    }
    if ty != plain {
        tile = made_by(program, op, OpRole::Convert, &[tile], ty)?;
    }
    Ok(tile)
}

//! Numbers of an element type that a kernel computes, as tiles of one element: what follows
//! computes tiles. Numbers that are given stay numbers, and fill such a tile where they meet one.

mod in_loops;
mod indices;
mod truths;

pub(crate) use in_loops::index_arguments;

use crate::attr::{AttrValue, Literal};
use crate::attr_names;
use crate::edit::edit_ops::Edit;
use crate::edit::insert::{is_word, made_by, word};
use crate::error::{ErrorKind, IrError, SourcePlace};
use crate::handle::{Op, Value};
use crate::program::{Def, Program};
use crate::types::{Shape, TileEncoding, Type, TypeKind};
use lanebook_tables::{DtypeId, DtypeKind, OpRole};

/// Lets the numbers that a function computes be tiles of one element.
///
/// # Errors
/// Room that ran out, at the operation's place.
#[inline(never)] // Its caller's own steps are deep.
pub(crate) fn lower_scalars(program: &mut Program<'_, '_>, kernel: Op) -> Result<(), IrError> {
    if program.has_loops(kernel) {
        return Ok(());
    }
    // What a loop carries is known by what it passes on, which stands further below: each turn
    // leaves fewer numbers.
    let mut again = true;
    while again {
        again = false;
        let mut next = program.inside(kernel).next();
        while let Some(op) = next {
            next = program.following(op, Some(kernel));
            let at = SourcePlace { op: None, ..program.place(op) };
            again |= lower(program, op).map_err(|kind: ErrorKind| IrError { kind, at })?;
        }
    }
    let at = SourcePlace { op: None, ..program.place(kernel) };
    settle_constants(program, kernel).map_err(|kind| IrError { kind, at })
}

/// A tile of one element.
fn one(dtype: DtypeId) -> Edit<Type> {
    Ok(Type::tensor(Shape::of(&[1]).ok_or(ErrorKind::Extent)?, dtype))
}

fn is_register_tile(program: &Program<'_, '_>, value: Value) -> bool {
    let ty = program.type_of(value);
    ty.is_tile() && !ty.is_memory() && !ty.is_kept()
}

/// The element type of a number.
fn number(program: &Program<'_, '_>, value: Value) -> Option<DtypeId> {
    let ty = program.type_of(value);
    ty.dtype.filter(|_| ty.kind == TypeKind::Scalar)
}

fn is_float(program: &Program<'_, '_>, value: Value) -> bool {
    let dtype = number(program, value).and_then(|dtype| program.tables().dtype(dtype));
    dtype.is_some_and(|dtype| dtype.kind == DtypeKind::Float)
}

/// Whether a value is an index that a caller gives, or a loop's counter.
fn is_given_index(program: &Program<'_, '_>, value: Value) -> bool {
    let is_argument = matches!(program.def(value), Def::Argument(..));
    is_argument && program.type_of(value).kind == TypeKind::Index
}

/// Lets a value be a tile of one element; whether it was a number.
fn convert(program: &mut Program<'_, '_>, value: Option<Value>) -> Edit<bool> {
    let Some((value, dtype)) = value.and_then(|value| Some((value, number(program, value)?)))
    else {
        return Ok(false);
    };
    program.set_type(value, one(dtype)?)?;
    Ok(true)
}

/// Lets an operand be a tile: one that the number fills.
fn fill(program: &mut Program<'_, '_>, op: Op, at: usize) -> Edit {
    let Some(value) = program.operand(op, at) else { return Ok(()) };
    if is_given_index(program, value) {
        let word = word(program).ok_or(ErrorKind::UnknownOp)?;
        let tile = made_by(program, op, OpRole::Broadcast, &[value], one(word)?)?;
        return program.set_operand(op, at, tile);
    }
    let Some(dtype) = number(program, value) else { return Ok(()) };
    if indices::is_index(program, value) {
        let tile = indices::as_number(program, op, value, dtype)?;
        return program.set_operand(op, at, tile);
    }
    // What is written needs no register before it fills one.
    let literal = program
        .def_op(value)
        .filter(|def| program.role(*def) == OpRole::Constant)
        .and_then(|def| program.operand(def, 0));
    let tile = match literal {
        Some(literal) => made_by(program, op, OpRole::Constant, &[literal], one(dtype)?)?,
        None => made_by(program, op, OpRole::Broadcast, &[value], one(dtype)?)?,
    };
    program.set_operand(op, at, tile)
}

/// Lets the whole numbers that are written with a type, and that are no tiles now, be indices, and
/// those that are computed and fill tiles.
fn settle_constants(program: &mut Program<'_, '_>, kernel: Op) -> Edit {
    let mut next = program.inside(kernel).next();
    while let Some(op) = next {
        next = program.following(op, Some(kernel));
        // What fills a tile is a parameter's number, or an index.
        let spread = program.operand(op, 0).filter(|_| program.role(op) == OpRole::Broadcast);
        let is_own = |value: &Value| indices::is_index(program, *value) && is_word(program, *value);
        if let Some(index) = spread.filter(is_own) {
            program.set_type(index, Type::INDEX)?;
        }
        let result = program.result(op, 0).filter(|_| program.role(op) == OpRole::Constant);
        // A truth may be written without its type.
        let is_one = |value: Value| !program.type_of(value).is_tile();
        if result.is_some_and(|value| is_one(value) && !program.is_used(value)) {
            program.erase(op)?;
            continue;
        }
        let dtype = result.and_then(|value| number(program, value));
        let dtype = dtype.and_then(|dtype| program.tables().dtype(dtype));
        let is_whole = dtype
            .is_some_and(|dtype| matches!(dtype.kind, DtypeKind::Signed | DtypeKind::Unsigned));
        let Some(value) = result.filter(|_| is_whole) else { continue };
        program.set_type(value, Type::INDEX)?;
        // Below zero there are numbers alone.
        if let Some(number) = program.int(value).filter(|number| *number < 0) {
            let number = program.literal_value(Literal::Int(number))?;
            program.replace_all_uses(value, number)?;
            program.erase(op)?;
        }
    }
    Ok(())
}

fn lower(program: &mut Program<'_, '_>, op: Op) -> Edit<bool> {
    if indices::is_of_tiles(program, op) && indices::on_tiles(program, op)? {
        return on_numbers(program, op);
    }
    indices::take_indices(program, op)?;
    let result = program.result(op, 0);
    match program.role(op) {
        OpRole::Constant if result.is_some_and(|value| is_float(program, value)) => {
            convert(program, result)
        }
        OpRole::Constant => truths::name_type(program, op),
        OpRole::Elementwise | OpRole::Select => elementwise(program, op),
        OpRole::Load => loaded(program, op),
        OpRole::Store => stored(program, op).map(|()| false),
        OpRole::Atomic => combined(program, op),
        OpRole::Reduce => reduced(program, op),
        OpRole::Broadcast => spread(program, op).map(|()| false),
        OpRole::For => carried(program, op),
        OpRole::If => chosen(program, op),
        OpRole::Yield => yielded(program, op).map(|()| false),
        _ => Ok(false),
    }
}

fn elementwise(program: &mut Program<'_, '_>, op: Op) -> Edit<bool> {
    let Some(result) = program.result(op, 0).filter(|value| number(program, *value).is_some())
    else {
        return Ok(false);
    };
    let is_of_indices = program.index_word(op).is_some();
    let is_tile = |value| program.type_of(value).is_tile();
    if is_of_indices && is_word(program, result) && !program.operands(op).any(is_tile) {
        return on_indices(program, op);
    }
    if is_of_indices {
        return Ok(false);
    }
    on_numbers(program, op)
}

/// Lets an operation on numbers that has a name of its own for indices be that one.
fn on_indices(program: &mut Program<'_, '_>, op: Op) -> Edit<bool> {
    let own = program.index_word(op).and_then(|own| program.tables().op_of_index(own));
    own.map_or(Ok(()), |own| program.set_decl(op, own)).map(|()| false)
}

/// Lets an operation be one on tiles of one element.
fn on_numbers(program: &mut Program<'_, '_>, op: Op) -> Edit<bool> {
    for at in 0..program.operand_count(op) {
        fill(program, op, at)?;
    }
    let Some(result) = program.result(op, 0) else { return Ok(false) };
    if program.decl(op).is_some_and(|decl| decl.truth) {
        let truth = program.tables().dtype_of(DtypeKind::Bits, 1).ok_or(ErrorKind::UnknownOp)?;
        let ty = one(truth)?;
        let is_new = program.type_of(result) != ty;
        program.set_type(result, ty)?;
        return Ok(is_new);
    }
    convert(program, Some(result))
}

/// One element of a memref, as a tile of as many dimensions as one is loaded in.
fn loaded(program: &mut Program<'_, '_>, op: Op) -> Edit<bool> {
    let Some((value, memory)) = program.result(op, 0).zip(program.operand(op, 0)) else {
        return Ok(false);
    };
    if !convert(program, Some(value))? {
        return Ok(false);
    }
    let ty = program.type_of(value);
    if program.type_of(memory).shape.rank() > 1
        && let Some(next) = program.next(op)
    {
        let tile = Type { shape: Shape::of(&[1, 1]).ok_or(ErrorKind::Extent)?, ..ty };
        let flat = made_by(program, next, OpRole::Reshape, &[value], ty)?;
        program.replace_all_uses(value, flat)?;
        program.set_type(value, tile)?;
        let reshape = program.def_op(flat).ok_or(ErrorKind::Broken)?;
        program.set_operand(reshape, 0, value)?;
    }
    Ok(true)
}

/// A number, or a tile of one element where memory takes matrices.
fn stored(program: &mut Program<'_, '_>, op: Op) -> Edit {
    fill(program, op, 0)?;
    let Some((tile, memory)) = program.operand(op, 0).zip(program.operand(op, 1)) else {
        return Ok(());
    };
    let ty = program.type_of(tile);
    if Some(ty.shape) != Shape::of(&[1]) || program.type_of(memory).shape.rank() < 2 {
        return Ok(());
    }
    let shape = Shape::of(&[1, 1]).ok_or(ErrorKind::Extent)?;
    let ty = Type { shape, encoding: TileEncoding::None, ..ty };
    let matrix = made_by(program, op, OpRole::Reshape, &[tile], ty)?;
    program.set_operand(op, 0, matrix)
}

/// An atomic operation on one element: on tiles of one.
fn combined(program: &mut Program<'_, '_>, op: Op) -> Edit<bool> {
    for at in 0..program.operand_count(op) {
        fill(program, op, at)?;
    }
    let answer = program.result(op, 0);
    convert(program, answer)
}

/// All of a row, which leaves one element.
fn reduced(program: &mut Program<'_, '_>, op: Op) -> Edit<bool> {
    let is_number =
        |program: &Program<'_, '_>, at| program.result(op, at).and_then(|v| number(program, v));
    if is_number(program, 0).is_none() {
        return Ok(false);
    }
    for at in 0..program.operand_count(op) {
        let Some(row) = program.operand(op, at) else { continue };
        let ty = program.type_of(row);
        let Some(extent) = ty.shape.extent(0).filter(|_| ty.shape.rank() == 1) else {
            return Ok(false);
        };
        let shape = Shape::of(&[1, extent]).ok_or(ErrorKind::Extent)?;
        let ty = Type { shape, encoding: TileEncoding::None, ..ty };
        let matrix = made_by(program, op, OpRole::Reshape, &[row], ty)?;
        program.set_operand(op, at, matrix)?;
    }
    program.set_attr(op, attr_names::AXIS, AttrValue::Int(1, None))?;
    for at in 0..2 {
        convert(program, program.result(op, at))?;
    }
    Ok(true)
}

/// The digits of a whole number that no index is: of other bits.
fn written_whole(program: &Program<'_, '_>, value: Value) -> Option<Value> {
    let dtype = program.tables().dtype(number(program, value)?)?;
    let is_whole = matches!(dtype.kind, DtypeKind::Signed | DtypeKind::Unsigned);
    let def = program.def_op(value).filter(|_| is_whole && !is_word(program, value))?;
    program.operand(def, 0).filter(|_| program.role(def) == OpRole::Constant)
}

/// One element in all places of a tile.
fn spread(program: &mut Program<'_, '_>, op: Op) -> Edit {
    let Some((from, to)) = program.operand(op, 0).zip(program.result(op, 0)) else {
        return Ok(());
    };
    let (one, ty) = (program.type_of(from), program.type_of(to));
    if let Some(literal) = written_whole(program, from) {
        let tile = made_by(program, op, OpRole::Constant, &[literal], ty)?;
        program.replace_all_uses(to, tile)?;
        return program.erase(op);
    }
    let is_one = is_register_tile(program, from) && Some(one.shape) == Shape::of(&[1]);
    if !is_one || program.attr(op, attr_names::AXIS).is_some() || ty.shape == one.shape {
        return Ok(());
    }
    // Along a row, down the rows, and all of it in the tile's own dimensions.
    let rank = ty.shape.rank();
    let cols = rank.checked_sub(1).and_then(|last| ty.shape.extent(last));
    let cols = cols.ok_or(ErrorKind::Extent)?;
    let rows = (0..rank.saturating_sub(1))
        .try_fold(1u32, |all, at| all.checked_mul(ty.shape.extent(at)?))
        .ok_or(ErrorKind::Extent)?;
    let matrix = |rows: u32| -> Edit<Type> {
        let shape = Shape::of(&[rows, cols]).ok_or(ErrorKind::Extent)?;
        Ok(Type { shape, encoding: TileEncoding::None, ..ty })
    };
    let mut tile = made_by(program, op, OpRole::Broadcast, &[from], matrix(1)?)?;
    let first = program.def_op(tile).ok_or(ErrorKind::Broken)?;
    program.set_attr(first, attr_names::AXIS, AttrValue::Int(1, None))?;
    if rows > 1 {
        tile = made_by(program, op, OpRole::Broadcast, &[tile], matrix(rows)?)?;
    }
    let plain = Type { encoding: TileEncoding::None, ..ty };
    if program.type_of(tile).shape != ty.shape {
        tile = made_by(program, op, OpRole::Reshape, &[tile], plain)?;
    }
    if ty != plain {
        tile = made_by(program, op, OpRole::Convert, &[tile], ty)?;
    }
    program.replace_all_uses(to, tile)?;
    program.erase(op)
}

/// What a loop carries, but indices: those that go round have become expressions before.
fn carried(program: &mut Program<'_, '_>, op: Op) -> Edit<bool> {
    let mut changed = false;
    let mut at = 0usize;
    loop {
        let found = program.carried(op).nth(at);
        let Some(one) = found else { return Ok(changed) };
        let values = [Some(one.init), Some(one.argument), one.yielded, one.result];
        let mut values = values.into_iter().flatten();
        let dtype = values.find_map(|value| element(program, value));
        if let Some(dtype) = dtype {
            fill_with(program, (op, at.saturating_add(3)), dtype)?;
            changed |= convert(program, Some(one.argument))?;
            changed |= convert(program, one.result)?;
        }
        at = at.saturating_add(1);
    }
}

/// The element type of a number, or of a tile of one.
fn element(program: &Program<'_, '_>, value: Value) -> Option<DtypeId> {
    let ty = program.type_of(value);
    let is_one = is_register_tile(program, value) && Some(ty.shape) == Shape::of(&[1]);
    number(program, value).or(ty.dtype.filter(|_| is_one))
}

/// What one branch or the other passes on: an index is a number, too.
fn chosen(program: &mut Program<'_, '_>, op: Op) -> Edit<bool> {
    let mut changed = false;
    let mut at = 0usize;
    while let Some(result) = program.result(op, at) {
        if program.type_of(result).kind == TypeKind::Index {
            let word = word(program).ok_or(ErrorKind::UnknownOp)?;
            program.set_type(result, one(word)?)?;
            changed = true;
        } else if number(program, result).is_some_and(|dtype| is_truth(program, dtype)) {
            truths::pass_number(program, op, result)?;
            changed = true;
        }
        changed |= convert(program, Some(result))?;
        at = at.saturating_add(1);
    }
    Ok(changed)
}

/// Whether elements are truths.
fn is_truth(program: &Program<'_, '_>, dtype: DtypeId) -> bool {
    program.tables().dtype(dtype).is_some_and(|dtype| dtype.bits == 1)
}

/// What is passed on to a tile is one.
fn yielded(program: &mut Program<'_, '_>, op: Op) -> Edit {
    let Some(owner) = program.block_of(op).and_then(|block| program.owner_of(block)) else {
        return Ok(());
    };
    for at in 0..program.operand_count(op) {
        let to = program.result(owner, at).filter(|value| is_register_tile(program, *value));
        let dtype = to.and_then(|to| element(program, to));
        if let Some(dtype) = dtype {
            fill_with(program, (op, at), dtype)?;
        }
    }
    Ok(())
}

/// Lets an operand be a tile of one element of a type: also one that is written, or an index.
fn fill_with(program: &mut Program<'_, '_>, (op, at): (Op, usize), dtype: DtypeId) -> Edit {
    let Some(value) = program.operand(op, at) else { return Ok(()) };
    let is_passed = !is_truth(program, dtype)
        && element(program, value).is_some_and(|dtype| is_truth(program, dtype));
    if is_passed {
        let tile = truths::as_number(program, op, value)?;
        return program.set_operand(op, at, tile);
    }
    let is_index = program.type_of(value).kind == TypeKind::Index;
    let written = program.int(value).filter(|_| number(program, value).is_none());
    let tile = match written {
        Some(number) if !program.type_of(value).is_tile() => {
            let number = program.literal_value(Literal::Int(number))?;
            made_by(program, op, OpRole::Constant, &[number], one(dtype)?)?
        }
        _ if is_index && Some(dtype) == word(program) => {
            made_by(program, op, OpRole::Broadcast, &[value], one(dtype)?)?
        }
        _ => return fill(program, op, at),
    };
    program.set_operand(op, at, tile)
}

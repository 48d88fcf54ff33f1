//! Tiles of shared memory as Triton writes them: a memref in shared memory is a tile there, a buffer
//! of several is a tile of its own where a number says which, and what reads or writes a transposed
//! one reads or writes the tile itself and transposes in registers, which moves nothing.
//!
//! What is not followed stays as it is, and is refused by the contract at its place.

use crate::attr::AttrValue;
use crate::attr_names;
use crate::edit::edit_ops::Edit;
use crate::edit::insert::made_by;
use crate::edit::slots::{one_of, settle_slots};
use crate::error::{ErrorKind, IrError, SourcePlace};
use crate::handle::{Op, Value};
use crate::program::Program;
use crate::types::{Shape, TileEncoding, Type, TypeKind};
use lanebook_tables::{OpRole, Space};

/// Brings a function's tiles in shared memory to that form.
///
/// # Errors
/// A buffer that is not followed; room that ran out.
#[inline(never)]
pub(crate) fn settle_memory(program: &mut Program<'_, '_>, kernel: Op) -> Result<(), IrError> {
    if program.has_loops(kernel) {
        return Ok(());
    }
    let mut next = Some(kernel);
    while let Some(op) = next {
        next = program.following(op, Some(kernel));
        let at = SourcePlace { op: None, ..program.place(op) };
        settle_types(program, op).map_err(|kind| IrError { kind, at })?;
    }
    loop {
        let turned = |op: &Op| is_turned(program, *op);
        let Some(op) = program.inside(kernel).find(turned) else { break };
        let at = SourcePlace { op: None, ..program.place(op) };
        turn_accesses(program, op).map_err(|kind| IrError { kind, at })?;
    }
    settle_slots(program, kernel)?;
    // Each one that is followed goes away.
    loop {
        let buffers = |op: &Op| are_buffers(program, *op);
        let Some(op) = program.inside(kernel).find(buffers) else { break };
        let at = SourcePlace { op: None, ..program.place(op) };
        part_buffers(program, op).map_err(|kind| IrError { kind, at })?;
    }
    Ok(())
}

/// Memrefs in shared memory that an operation makes, or that its blocks take, become tiles.
fn settle_types(program: &mut Program<'_, '_>, op: Op) -> Edit {
    let mut number = 0usize;
    loop {
        let blocks = program.regions(op).flat_map(|region| program.blocks(region));
        let arguments = blocks.flat_map(|block| program.arguments(block));
        let Some(value) = program.results(op).chain(arguments).nth(number) else { return Ok(()) };
        let ty = program.type_of(value);
        if ty.kind == TypeKind::Memref && ty.space == Some(Space::Shared) {
            program.set_type(value, Type { kind: TypeKind::Tensor, ..ty })?;
        }
        number = number.saturating_add(1);
    }
}

/// The type of a tile in shared memory.
fn shared(program: &Program<'_, '_>, value: Option<Value>) -> Option<Type> {
    let ty = program.type_of(value?);
    (ty.kind == TypeKind::Tensor && ty.space == Some(Space::Shared)).then_some(ty)
}

/// Which of several buffers a view is of, if a number says it.
fn buffer(program: &Program<'_, '_>, view: Op, all: Type) -> Option<u32> {
    let one = shared(program, program.result(view, 0))?;
    let mut at = program.subscripts(view, 0).map(|index| program.int(index));
    let (Some(Some(number)), None) = (at.next(), at.next()) else { return None };
    let count = all.shape.extent(0)?;
    let is_one = one_of(&all.shape) == Some(one.shape) && one.dtype == all.dtype;
    let is_plain = program.role(view) == OpRole::View
        && program.operand_count(view) == 1
        && program.attrs(view).next().is_none();
    u32::try_from(number).ok().filter(|number| is_one && is_plain && *number < count)
}

/// Whether an allocation is one of buffers of which each use says by a number which one it is of.
fn are_buffers(program: &Program<'_, '_>, alloc: Op) -> bool {
    let value = program.result(alloc, 0);
    let Some(ty) = shared(program, value).filter(|ty| ty.shape.rank() > 1) else { return false };
    program.role(alloc) == OpRole::Alloc
        && program.operand_count(alloc) == 0
        && program.attrs(alloc).next().is_none()
        && value.is_some_and(|value| program.is_used(value))
        && value.into_iter().flat_map(|value| program.uses(value)).all(|place| {
            let user = program.user(place).filter(|user| buffer(program, *user, ty).is_some());
            user.is_some()
        })
}

/// Gives each buffer an allocation of its own, where all of them are.
#[inline(never)]
fn part_buffers(program: &mut Program<'_, '_>, alloc: Op) -> Edit {
    let all = program.result(alloc, 0).ok_or(ErrorKind::Broken)?;
    let whole = program.type_of(all);
    while let Some(number) = of_first(program, all).and_then(|op| buffer(program, op, whole)) {
        let first = of_first(program, all).and_then(|op| program.result(op, 0));
        let ty = program.type_of(first.ok_or(ErrorKind::Broken)?);
        let tile = made_by(program, alloc, OpRole::Alloc, &[], ty)?;
        let same = |program: &Program<'_, '_>| {
            let mut users = program.uses(all).filter_map(|place| program.user(place));
            users.find(|user| buffer(program, *user, whole) == Some(number))
        };
        while let Some(view) = same(program) {
            let one = program.result(view, 0).ok_or(ErrorKind::Broken)?;
            program.replace_all_uses(one, tile)?;
            program.erase(view)?;
        }
    }
    program.erase(alloc)
}

/// The operation of a value's first use.
fn of_first(program: &Program<'_, '_>, value: Value) -> Option<Op> {
    program.uses(value).find_map(|place| program.user(place))
}

/// Whether an operation transposes a tile in shared memory that is then only loaded and stored.
fn is_turned(program: &Program<'_, '_>, op: Op) -> bool {
    let (from, to) = (program.operand(op, 0), program.result(op, 0));
    let tiles = shared(program, from).zip(shared(program, to));
    let Some((from, _)) = tiles.filter(|_| program.role(op) == OpRole::Transpose) else {
        return false;
    };
    let mut numbers = [0i64; 2];
    let is_turn = match program.attr(op, attr_names::ORDER) {
        None => true,
        Some(AttrValue::List(text) | AttrValue::Layout(text) | AttrValue::Text(text)) => {
            program.list(text, &mut numbers) == Some(&[1, 0])
        }
        Some(_) => false,
    };
    let is_alone =
        program.attrs(op).count() <= usize::from(program.attr(op, attr_names::ORDER).is_some());
    is_turn
        && is_alone
        && from.shape.rank() == 2
        && to.into_iter().flat_map(|value| program.uses(value)).all(|place| {
            program.user(place).is_some_and(|user| access(program, user, to).is_some())
        })
}

/// Which operand of a load or a store a tile is that it reads or writes as a whole.
fn access(program: &Program<'_, '_>, user: Op, tile: Option<Value>) -> Option<usize> {
    let (number, count) = match program.role(user) {
        OpRole::Load => (0, 1),
        OpRole::Store => (1, 2),
        _ => return None,
    };
    let is_there = program.operand(user, number) == tile && program.operand_count(user) == count;
    let is_whole = program.subscripts(user, number).next().is_none();
    (is_there && is_whole).then_some(number)
}

/// The same with rows and columns exchanged, in no layout of its own.
fn turned(ty: Type) -> Edit<Type> {
    let (rows, cols) = ty.shape.pair().ok_or(ErrorKind::Broken)?;
    let shape = Shape::of(&[cols, rows]).ok_or(ErrorKind::Extent)?;
    Ok(Type { shape, encoding: TileEncoding::None, ..ty })
}

/// Lets what reads and writes a transposed tile read and write the tile, and transpose in registers.
#[inline(never)]
fn turn_accesses(program: &mut Program<'_, '_>, op: Op) -> Edit {
    let (from, to) = (program.operand(op, 0), program.result(op, 0));
    let (Some(from), Some(to)) = (from, to) else { return Err(ErrorKind::Broken) };
    while let Some(user) = of_first(program, to) {
        if program.role(user) == OpRole::Store {
            let tile = program.operand(user, 0).ok_or(ErrorKind::Broken)?;
            let ty = turned(program.type_of(tile))?;
            let tile = made_by(program, user, OpRole::Transpose, &[tile], ty)?;
            program.set_operand(user, 0, tile)?;
            program.set_operand(user, 1, from)?;
            continue;
        }
        let loaded = program.result(user, 0).ok_or(ErrorKind::Broken)?;
        let ty = program.type_of(loaded);
        let behind = program.next(user);
        let own = turned(ty)?;
        // The load goes on with its own name and attributes.
        program.set_operand(user, 0, from)?;
        program.set_type(loaded, own)?;
        let anchor = behind.ok_or(ErrorKind::Broken)?;
        let tile = made_by(program, anchor, OpRole::Transpose, &[loaded], ty)?;
        let turn = program.def_op(tile).ok_or(ErrorKind::Broken)?;
        program.replace_all_uses(loaded, tile)?;
        program.set_operand(turn, 0, loaded)?;
    }
    program.erase(op)
}

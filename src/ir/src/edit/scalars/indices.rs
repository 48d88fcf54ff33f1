//! Numbers that are computed, where indices stand: as subscripts, bounds of loops, conditions and
//! operands of arithmetic on indices.
//!
//! A number is a tile of one element, which every thread has; the index is what
//! [`IndexWord::Uniform`] makes of it. It stands right behind the number, so that all who want it
//! have the same.

use crate::attr::Literal;
use crate::data::{OpData, UseKind};
use crate::edit::edit_ops::Edit;
use crate::edit::insert::{made_by, made_named, sign_extended};
use crate::edit::on_tiles::twin;
use crate::edit::scalars::{is_register_tile, one};
use crate::error::{ErrorKind, Pool};
use crate::handle::{Block, Op, Value};
use crate::program::{Def, Program};
use crate::storage::full;
use crate::types::{Shape, Type, TypeKind};
use heapless::Vec;
use lanebook_tables::{DtypeId, DtypeKind, IndexWord, OpId, OpRole};

/// Bits of an index.
const WORD: u16 = 32;
/// Most values that a number is computed from.
const SOURCES: usize = 128;

/// Lets the numbers that an operation takes as indices be such.
pub(super) fn take_indices(program: &mut Program<'_, '_>, op: Op) -> Edit {
    let own = program.operand(op, 0).filter(|_| is_uniform(program, op));
    if let Some(tile) = own
        && !is_settled(program, tile)?
    {
        return Err(ErrorKind::UnsettledIndex);
    }
    // A cast says that the lower bits count.
    let is_cast = program.index_word(op) == Some(IndexWord::Cast);
    take_each(program, op, takes_index, |program, value| index_of(program, value, is_cast))
}

/// Puts an index in the place of each number that stands where an operation takes one: among its
/// subscripts, and its operands as `takes` says by their numbers. `index` answers nothing of what
/// stays.
pub(super) fn take_each(
    program: &mut Program<'_, '_>,
    op: Op,
    takes: impl Fn(&Program<'_, '_>, Op, usize) -> bool,
    mut index: impl FnMut(&mut Program<'_, '_>, Value) -> Edit<Option<Value>>,
) -> Edit {
    let mut next = program.uses_by(op).next();
    let mut number = 0usize;
    while let Some(place) = next {
        let Some(data) = program.use_data(place) else { return Err(ErrorKind::Stale) };
        next = data.next;
        let is_taken = match data.kind {
            UseKind::Subscript => true,
            UseKind::Main => {
                number = number.saturating_add(1);
                takes(program, op, number.saturating_sub(1))
            }
            UseKind::Attr => false,
        };
        if let Some(value) = data.value.filter(|_| is_taken)
            && let Some(index) = index(program, value)?
        {
            program.set_use(place, index)?;
        }
    }
    Ok(())
}

/// Whether an operation on indices makes a value, which the text may have as a whole number or a
/// truth.
pub(super) fn is_index(program: &Program<'_, '_>, value: Value) -> bool {
    let is_made = |def: Op| program.role(def) == OpRole::Index || program.index_word(def).is_some();
    let ty = program.type_of(value);
    matches!(ty.kind, TypeKind::Scalar | TypeKind::Index)
        && program.def_op(value).is_some_and(is_made)
}

/// An index as a tile of one element, before an operation: of a truth, whether it is not 0.
pub(super) fn as_number(
    program: &mut Program<'_, '_>,
    op: Op,
    value: Value,
    dtype: DtypeId,
) -> Edit<Value> {
    let tables = program.tables();
    let bits = tables.dtype(dtype).map_or(0, |dtype| dtype.bits);
    if bits != 1 && bits != WORD {
        return Err(ErrorKind::IndexBits);
    }
    program.set_type(value, Type::INDEX)?;
    let word = tables.dtype_of(DtypeKind::Signed, WORD).ok_or(ErrorKind::UnknownOp)?;
    let ty = one(if bits == 1 { word } else { dtype })?;
    let tile = made_by(program, op, OpRole::Broadcast, &[value], ty)?;
    if bits != 1 {
        return Ok(tile);
    }
    let zero = program.literal_value(Literal::Int(0))?;
    let zero = made_by(program, op, OpRole::Constant, &[zero], ty)?;
    made_named(program, op, "compare.ne", &[tile, zero], one(dtype)?)
}

/// Whether an operation makes an index of a tile's element.
fn is_uniform(program: &Program<'_, '_>, op: Op) -> bool {
    program.index_word(op) == Some(IndexWord::Uniform)
}

/// Whether an operation takes an index there.
fn takes_index(program: &Program<'_, '_>, op: Op, number: usize) -> bool {
    match program.role(op) {
        OpRole::For => number < 3,
        OpRole::If => number == 0,
        OpRole::Index | OpRole::Elementwise if program.index_word(op).is_some() => {
            program.index_word(op) != Some(IndexWord::Uniform)
        }
        OpRole::Index => true,
        _ => false,
    }
}

/// Whether an operation on indices computes with numbers that have other bits than these: it is to
/// be one on tiles then.
pub(super) fn is_of_tiles(program: &Program<'_, '_>, op: Op) -> bool {
    let word = program.index_word(op);
    let is_of_indices = program.role(op) == OpRole::Index || word.is_some();
    if !is_of_indices || matches!(word, Some(IndexWord::Uniform | IndexWord::Cast)) {
        return false;
    }
    let chosen = usize::from(word == Some(IndexWord::Select));
    program.operands(op).skip(chosen).any(|value| {
        let dtype = program.type_of(value).dtype.filter(|_| is_one(program, value));
        let dtype = dtype.and_then(|dtype| program.tables().dtype(dtype));
        dtype.is_some_and(|dtype| !is_whole(dtype.kind) || dtype.bits != WORD)
    })
}

/// Lets an operation on indices be the one that does the same to tiles; whether there is one.
pub(super) fn on_tiles(program: &mut Program<'_, '_>, op: Op) -> Edit<bool> {
    if program.role(op) != OpRole::Index {
        return Ok(true);
    }
    let Some(tile) = program.operands(op).find(|value| is_one(program, *value)) else {
        return Ok(false);
    };
    let Some((decl, relation)) = twin(program, op, tile) else { return Ok(false) };
    program.set_decl(op, decl)?;
    if let Some(key) = relation {
        program.remove_attr(op, key)?;
    }
    Ok(true)
}

fn is_whole(kind: DtypeKind) -> bool {
    matches!(kind, DtypeKind::Signed | DtypeKind::Unsigned)
}

/// Whether a value is a tile of one element in registers.
fn is_one(program: &Program<'_, '_>, value: Value) -> bool {
    is_register_tile(program, value) && Some(program.type_of(value).shape) == Shape::of(&[1])
}

/// The index that a number is, or its lower bits where it `is_cast`; `None` where a value is none that
/// is computed, or no whole one.
fn index_of(program: &mut Program<'_, '_>, value: Value, is_cast: bool) -> Edit<Option<Value>> {
    let ty = program.type_of(value);
    let Some(dtype) = ty.dtype.and_then(|dtype| program.tables().dtype(dtype)) else {
        return Ok(None);
    };
    let is_truth = dtype.bits == 1;
    if !is_truth && !is_whole(dtype.kind) {
        return Ok(None);
    }
    let argument =
        ty.kind == TypeKind::Scalar && dtype.bits == WORD && is_parameter(program, value);
    if !argument && !is_one(program, value) {
        return Ok(None);
    }
    if !is_cast && !fits(program, value) {
        return Err(ErrorKind::IndexBits);
    }
    let known = |tile: Value| {
        let mut readers = program.uses(tile).filter_map(|place| program.user(place));
        readers.find(|user| program.index_word(*user) == Some(IndexWord::Uniform))
    };
    if let Some(known) = known(value) {
        return Ok(program.result(known, 0));
    }
    if !is_settled(program, value)? {
        return Err(ErrorKind::UnsettledIndex);
    }
    let (block, before) = behind(program, value).ok_or(ErrorKind::Stale)?;
    let name = match program.def(value) {
        Def::Result(op, _) => program.op_data(op).map(|data| data.name),
        _ => program.owner_of(block).and_then(|op| program.op_data(op)).map(|data| data.name),
    };
    let name = name.ok_or(ErrorKind::Stale)?;
    let tables = program.tables();
    let word = tables.dtype_of(DtypeKind::Signed, WORD).ok_or(ErrorKind::UnknownOp)?;
    let put =
        |program: &mut Program<'_, '_>, decl: Option<OpId>, from: Value, ty: Type| -> Edit<Value> {
            let decl = decl.ok_or(ErrorKind::UnknownOp)?;
            let new = program.new_op(Some(decl), name)?;
            program.add_operand(new, from)?;
            let result = program.add_result(new, ty)?;
            program.link(new, block, before)?;
            program.pools.edit::<OpData>(new.index(), |data| data.name = name)?;
            Ok(result)
        };
    let mut tile = value;
    if argument {
        let decl = tables.op_of_role(OpRole::Broadcast);
        tile = put(program, decl, tile, one(ty.dtype.ok_or(ErrorKind::Broken)?)?)?;
    }
    if !is_truth && dtype.bits != WORD {
        let cast = match (dtype.bits < WORD, dtype.kind) {
            (true, DtypeKind::Unsigned) => "arith.extui",
            (true, _) => "arith.extsi",
            (false, _) => "arith.trunci",
        };
        tile = put(program, tables.op_named(cast), tile, one(word)?)?;
    }
    put(program, tables.op_of_index(IndexWord::Uniform), tile, Type::INDEX).map(Some)
}

/// Whether an index certainly holds a number: one of as many bits, one that is written, or one that
/// was widened to more with its sign.
fn fits(program: &Program<'_, '_>, value: Value) -> bool {
    let bits = |value: Value| {
        let dtype = program.type_of(value).dtype.and_then(|dtype| program.tables().dtype(dtype))?;
        is_whole(dtype.kind).then_some(dtype.bits)
    };
    if bits(value).is_none_or(|bits| bits <= WORD) {
        return true;
    }
    if let Some(number) = program.int(value) {
        return i32::try_from(number).is_ok();
    }
    sign_extended(program, value).and_then(bits).is_some_and(|bits| bits <= WORD)
}

/// Whether a value is a parameter of a function.
fn is_parameter(program: &Program<'_, '_>, value: Value) -> bool {
    let Def::Argument(block, _) = program.def(value) else { return false };
    program.owner_of(block).is_some_and(|owner| program.role(owner) == OpRole::Function)
}

/// Where the place right behind a value is: a block, and the operation that comes next.
fn behind(program: &Program<'_, '_>, value: Value) -> Option<(Block, Option<Op>)> {
    match program.def(value) {
        Def::Result(op, _) => Some((program.block_of(op)?, program.next(op))),
        Def::Argument(block, _) => Some((block, program.first(block))),
        _ => None,
    }
}

/// Whether all threads certainly have the same number: nothing that it is computed of is loaded
/// from a tensor on which atomic operations are carried out, which other blocks may change between
/// the loads of two threads.
fn is_settled(program: &Program<'_, '_>, value: Value) -> Edit<bool> {
    if !program.all().any(|op| program.role(op) == OpRole::Atomic) {
        return Ok(true);
    }
    let mut sources: Vec<Value, SOURCES> = Vec::new();
    let room = full(Pool::Sources, SOURCES);
    sources.push(value).map_err(|_| room)?;
    let mut next = 0usize;
    while let Some(&at) = sources.get(next) {
        next = next.saturating_add(1);
        let loaded = program.def_op(at).filter(|op| program.role(*op) == OpRole::Load);
        let from = loaded.and_then(|op| program.operand(op, 0));
        if from.is_some_and(|from| is_shared(program, from)) {
            return Ok(false);
        }
        let mut is_full = false;
        let mut look = |value: Value| {
            is_full |= !sources.contains(&value) && sources.push(value).is_err();
        };
        match program.def(at) {
            Def::Result(op, number) => sources_of_result(program, (op, number.into()), &mut look),
            Def::Argument(block, number) => {
                let Some(owner) = program.owner_of(block) else { return Ok(false) };
                sources_of_argument(program, (owner, block, number.into()), &mut look);
            }
            Def::Literal(_) | Def::Nothing => {}
        }
        if is_full {
            return Err(room);
        }
    }
    Ok(true)
}

/// What an operation's result is computed of.
fn sources_of_result(
    program: &Program<'_, '_>,
    (op, number): (Op, usize),
    look: &mut impl FnMut(Value),
) {
    match program.role(op) {
        // How often it turns is a number of its own.
        OpRole::For => {
            if let Some(carried) = program.carried(op).nth(number) {
                [Some(carried.init), carried.yielded].into_iter().flatten().for_each(look);
            }
        }
        OpRole::If | OpRole::While => {
            program.operands(op).for_each(&mut *look);
            for region in program.regions(op) {
                let end = program.blocks(region).next();
                let end = end.and_then(|block| program.terminator(block));
                // A condition stands in front of what it passes on.
                let passed = end.into_iter().flat_map(|end| {
                    let conditions = usize::from(program.role(end) == OpRole::Condition);
                    let own = number.saturating_add(conditions);
                    (0..conditions).chain([own]).filter_map(move |at| program.operand(end, at))
                });
                passed.for_each(&mut *look);
            }
        }
        OpRole::Atomic => {}
        _ => program.all_operands(op).for_each(look),
    }
}

/// What an argument of a block is.
fn sources_of_argument(
    program: &Program<'_, '_>,
    (owner, block, number): (Op, Block, usize),
    look: &mut impl FnMut(Value),
) {
    match program.role(owner) {
        OpRole::Function => {}
        OpRole::For => {
            let counts = [program.operand(owner, 0), program.operand(owner, 2)];
            let carried = number.checked_sub(1).and_then(|at| program.carried(owner).nth(at));
            match carried {
                Some(carried) => {
                    [Some(carried.init), carried.yielded].into_iter().flatten().for_each(look);
                }
                None => counts.into_iter().flatten().for_each(look),
            }
        }
        _ => {
            program.operands(owner).for_each(&mut *look);
            let ends = core::iter::once(block)
                .chain(program.regions(owner).flat_map(|region| program.blocks(region)));
            for end in ends.filter_map(|block| program.terminator(block)) {
                program.operands(end).for_each(&mut *look);
            }
        }
    }
}

/// Whether a kernel combines atomically with what lies in a tensor.
fn is_shared(program: &Program<'_, '_>, memory: Value) -> bool {
    let mut users = program.uses(memory).filter_map(|place| program.user(place));
    users.any(|user| program.role(user) == OpRole::Atomic)
}

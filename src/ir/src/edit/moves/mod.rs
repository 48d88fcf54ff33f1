//! Movements as Triton's last form has them, as those through tiles of pointers: by a pointer and a
//! tile of distances, to shared memory at once, of tensors that descriptors describe. And masks of
//! those whose tensor has bounds.

mod bounded;
mod buffers;
mod descriptors;
mod places;

pub(crate) use bounded::mask_bounds;
pub(crate) use descriptors::forget;

use crate::attr::AttrValue;
use crate::edit::edit_ops::Edit;
use crate::edit::insert::{made_by, made_named};
use crate::edit::pointers::pointee;
use crate::error::{ErrorKind, Pool};
use crate::handle::{Op, Value};
use crate::program::Program;
use crate::storage::full;
use crate::types::{TileEncoding, Type, TypeKind};
use heapless::Vec;
use lanebook_tables::{OpLowering, OpRole};

/// What is moved, where, and what stands behind that.
const OPERANDS: usize = 4;

type MoveOperands = Vec<Value, OPERANDS>;

/// Lets an operation that is one of these be what it stands for.
#[inline(never)] // Its caller's own steps are deep.
pub(crate) fn settle(program: &mut Program<'_, '_>, op: Op) -> Edit {
    use OpLowering as L;
    match program.lowering(op) {
        None | Some(L::Histogram | L::Gather | L::TensorDescriptor | L::LocalDealloc) => Ok(()),
        // What stands in its place may have others.
        Some(_) if program.idle_attr(op).is_some() => Err(ErrorKind::IdleAttr),
        Some(L::BufferLoad) => buffers::load(program, op),
        Some(L::BufferStore) => buffers::store(program, op),
        Some(L::Upcast) => upcast(program, op),
        Some(L::AsyncCopy) => to_shared(program, op),
        Some(L::DotWait) => hand_on(program, op),
        Some(L::DescriptorLoad) => descriptors::load(program, op),
        Some(L::DescriptorStore) => descriptors::store(program, op),
    }
}

/// What an operation has as its operands.
fn operands(program: &Program<'_, '_>, op: Op) -> Edit<MoveOperands> {
    let mut out = MoveOperands::new();
    for value in program.operands(op) {
        out.push(value).map_err(|_| full(Pool::List, OPERANDS))?;
    }
    Ok(out)
}

/// Lets an operation be another one, of these operands.
fn become_of(program: &mut Program<'_, '_>, op: Op, name: &str, with: &[Value]) -> Edit {
    let decl = program.tables().op_named(name).ok_or(ErrorKind::UnknownOp)?;
    program.drop_operands(op)?;
    program.set_decl(op, decl)?;
    for value in with {
        program.add_operand(op, *value)?;
    }
    Ok(())
}

/// A tile of pointers, before an operation: one pointer, moved by a tile of distances.
fn pointers(
    program: &mut Program<'_, '_>,
    op: Op,
    (pointer, distances): (Value, Value),
) -> Edit<Value> {
    let (ty, far) = (program.type_of(pointer), program.type_of(distances));
    let TileEncoding::Written(element) = ty.encoding else { return Err(ErrorKind::PointerForm) };
    if ty.kind != TypeKind::Other || !far.is_tile() || far.is_memory() {
        return Err(ErrorKind::PointerForm);
    }
    let all = Type { dtype: None, element, ..far };
    let repeated = made_by(program, op, OpRole::Broadcast, &[pointer], all)?;
    made_named(program, op, "tt.addptr", &[repeated, distances], all)
}

/// A tile from where pointers say, stored into shared memory.
fn to_shared(program: &mut Program<'_, '_>, op: Op) -> Edit {
    let all = operands(program, op)?;
    let [from, to, beside @ ..] = all.as_slice() else { return Err(ErrorKind::Broken) };
    let ty = program.type_of(*from);
    let dtype = pointee(program, &ty).ok_or(ErrorKind::PointerForm)?;
    // Only the pointers' layout is written: nothing is said of registers between.
    let tile = Type::tensor(ty.shape, dtype);
    let mut with = MoveOperands::new();
    // A mask, and behind it what stands for what it leaves out.
    let is_mask = |value: Option<&Value>| value.is_none_or(|value| program.is_truth(*value));
    if !is_mask(beside.first()) || beside.get(1).is_some() && is_mask(beside.get(1)) {
        return Err(ErrorKind::PointerForm);
    }
    for value in core::iter::once(from).chain(beside) {
        with.push(*value).map_err(|_| ErrorKind::Broken)?;
    }
    let load = made_by(program, op, OpRole::Load, &with, tile)?;
    let new = program.def_op(load).ok_or(ErrorKind::Broken)?;
    loop {
        let Some(attr) = program.attrs(op).next() else { break };
        let key = program.text(attr.key);
        program.push_attr(new, attr.key, attr.value)?;
        program.remove_attr(op, key)?;
    }
    while let Some(last) = program.results(op).count().checked_sub(1) {
        program.remove_result(op, last)?;
    }
    become_of(program, op, "tiled_store", &[load, *to])
}

/// Results that are the operands, one for one.
fn hand_on(program: &mut Program<'_, '_>, op: Op) -> Edit {
    let own = program.attrs(op).next();
    let counts = program.results(op).count() == program.operand_count(op);
    let is_number = own.is_none_or(|attr| matches!(attr.value, AttrValue::Int(0..=63, _)));
    if !counts || !is_number {
        return Err(ErrorKind::AttrValue);
    }
    let mut number = 0usize;
    while let Some(result) = program.result(op, number) {
        let own = program.operand(op, number).ok_or(ErrorKind::Broken)?;
        program.replace_all_uses(result, own)?;
        number = number.saturating_add(1);
    }
    program.erase(op)
}

/// Elements in the type of their scales, times these.
fn upcast(program: &mut Program<'_, '_>, op: Op) -> Edit {
    let all = operands(program, op)?;
    let [tile, scale] = all.as_slice() else { return Err(ErrorKind::Broken) };
    let ty = program.type_of(program.result(op, 0).ok_or(ErrorKind::Broken)?);
    let wide = made_named(program, op, "cast", &[*tile], ty)?;
    become_of(program, op, "mul", &[wide, *scale])
}

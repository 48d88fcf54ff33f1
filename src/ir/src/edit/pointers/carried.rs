//! Pointers that counted loops carry, and tiles of them: what a loop carries in their place is how
//! far they have been moved. Where each turn moves all pointers of a tile by as much, that is an
//! index, and the tile of distances is that from before the loop; else it is a tile.

use crate::attr::Literal;
use crate::edit::edit_ops::Edit;
use crate::edit::insert::{filled, made, made_by, word};
use crate::edit::pointers::branched::root;
use crate::edit::pointers::{far, is_long, narrowed, parted};
use crate::error::{ErrorKind, Pool};
use crate::handle::{Op, Value};
use crate::program::{Carried, Def, Program};
use crate::storage::full;
use crate::types::{TileEncoding, Type, TypeKind};
use heapless::Vec;
use lanebook_tables::{DtypeId, IndexWord, OpRole};

/// Most pointers that the loops of a kernel carry.
const CARRIED: usize = 32;
/// Most moves of a pointer within a turn, and operations that one move is computed by.
const MOVES: usize = 8;
/// Operands of a counted loop before those that it carries.
const BOUNDS: usize = 3;

/// A pointer, or a tile of them.
pub(super) fn is_pointer(program: &Program<'_, '_>, value: Value) -> bool {
    let ty = program.type_of(value);
    ty.is_kept() || ty.kind == TypeKind::Other && pointee(program, &ty).is_some()
}

/// What a pointer points to, if that is an element.
pub(crate) fn pointee(program: &Program<'_, '_>, ty: &Type) -> Option<DtypeId> {
    let text = match ty.encoding {
        _ if ty.is_kept() => program.text(ty.element),
        TileEncoding::Written(text) => program.text(text),
        _ => return None,
    };
    let inside = text.strip_prefix("!tt.ptr<")?.strip_suffix('>')?;
    // An address space stands behind it; it is the global one.
    let end = inside.bytes().position(|byte| byte == b',');
    let (word, space) = match end {
        Some(end) => (inside.get(..end)?, inside.get(end.checked_add(1)?..)?),
        None => (inside, "1"),
    };
    if space.trim_ascii() != "1" {
        return None;
    }
    program.tables().element_type(word.trim_ascii())
}

/// A pointer that a loop carries.
#[derive(Copy, Clone)]
pub(super) struct Carry {
    op: Op,
    /// Its place among those that the loop carries.
    number: usize,
    pointer: Carried,
    /// What goes round in its place, in the body and behind the loop: an index or a tile.
    inside: Value,
    behind: Value,
    is_index: bool,
}

/// The type of a tile of pointers' distances.
pub(super) fn distances_type(program: &Program<'_, '_>, pointers: Value) -> Edit<Type> {
    let whole = word(program).ok_or(ErrorKind::UnknownOp)?;
    Ok(Type::tensor(program.type_of(pointers).shape, whole))
}

/// How far a tile's pointers are from where they began, before an operation.
pub(super) fn distances(program: &mut Program<'_, '_>, op: Op, pointers: Value) -> Edit<Value> {
    let far = program.twin(pointers);
    if far != pointers {
        return Ok(far);
    }
    let ty = distances_type(program, pointers)?;
    let zero = program.literal_value(Literal::Int(0))?;
    made_by(program, op, OpRole::Constant, &[zero], ty)
}

/// All of a kernel's.
#[derive(Default)]
pub(super) struct Carries(Vec<Carry, CARRIED>);

impl Carries {
    /// Lets a loop carry how far its pointers are moved beside them; `None` where it moves one in
    /// a way that is not followed.
    #[inline(never)]
    pub(super) fn enter(&mut self, program: &mut Program<'_, '_>, op: Op) -> Edit<Option<()>> {
        let count = program.carried(op).count();
        for number in 0..count {
            let Some(pointer) = program.carried(op).nth(number) else { return Ok(None) };
            if !is_pointer(program, pointer.argument) {
                continue;
            }
            let is_far = |one| one == pointer.argument || self.has_distances(one);
            let home = root(program, pointer.init, is_far);
            let stays = home.is_some()
                && pointer.yielded.and_then(|next| root(program, next, is_far)) == home;
            let Some(carry) = carry(program, op, number, (pointer, stays))? else {
                return Ok(None);
            };
            let far = program.twin(pointer.init);
            for value in core::iter::once(pointer.argument).chain(pointer.result) {
                let own = if value == pointer.argument { carry.inside } else { carry.behind };
                let moved = (far != pointer.init).then_some(far);
                program.set_twin(value, if carry.is_index { moved } else { Some(own) })?;
            }
            self.0.push(carry).map_err(|_| full(Pool::List, CARRIED))?;
        }
        // Its bounds are no pointers.
        let is_one = |value| is_pointer(program, value);
        Ok((!program.operands(op).take(BOUNDS).any(is_one)).then_some(()))
    }

    /// Whether a value is a pointer that a loop carries as a tile of distances.
    pub(super) fn has_distances(&self, value: Value) -> bool {
        matches!(self.before(value), Some((_, None)))
    }

    /// Whether an operation ends a turn of a loop that was entered.
    pub(super) fn ends(&self, program: &Program<'_, '_>, op: Op) -> bool {
        let owner = program.block_of(op).and_then(|block| program.owner_of(block));
        self.0.iter().any(|carry| Some(carry.op) == owner)
    }

    /// What a carried pointer was before the loop, and the index by which it has been moved since.
    pub(super) fn before(&self, value: Value) -> Option<(Value, Option<Value>)> {
        self.0.iter().find_map(|carry| {
            let own = if carry.pointer.argument == value {
                carry.inside
            } else if carry.pointer.result == Some(value) {
                carry.behind
            } else {
                return None;
            };
            Some((carry.pointer.init, carry.is_index.then_some(own)))
        })
    }

    /// Carries no pointers any more: tiles of distances are passed on.
    pub(super) fn leave(&self, program: &mut Program<'_, '_>) -> Edit {
        for carry in &self.0 {
            let body = program.body(carry.op).ok_or(ErrorKind::Broken)?;
            let end = program.terminator(body).ok_or(ErrorKind::NoTerminator)?;
            let yielded = carry.pointer.yielded.ok_or(ErrorKind::NoTerminator)?;
            let last = program.carried(carry.op).position(|one| one.argument == carry.inside);
            if !carry.is_index {
                let last = last.ok_or(ErrorKind::Broken)?;
                program.set_operand(end, last, program.twin(yielded))?;
            }
        }
        for carry in self.0.iter().rev() {
            let body = program.body(carry.op).ok_or(ErrorKind::Broken)?;
            let end = program.terminator(body).ok_or(ErrorKind::NoTerminator)?;
            program.remove_operand(end, carry.number)?;
            program.remove_operand(carry.op, carry.number.saturating_add(BOUNDS))?;
        }
        Ok(())
    }

    /// Takes the pointers away that nobody reads any more.
    pub(super) fn forget(&self, program: &mut Program<'_, '_>) -> Edit {
        for carry in self.0.iter().rev() {
            program.set_twin(carry.pointer.argument, None)?;
            let body = program.body(carry.op).ok_or(ErrorKind::Broken)?;
            program.remove_argument(body, carry.number.saturating_add(1))?;
            if let Some(result) = carry.pointer.result {
                program.set_twin(result, None)?;
                program.remove_result(carry.op, carry.number)?;
            }
        }
        Ok(())
    }
}

/// Lets a loop carry how far one of its pointers is moved; `stays`: each turn's point into the tensor
/// into which those before the loop do.
fn carry(
    program: &mut Program<'_, '_>,
    op: Op,
    number: usize,
    (pointer, stays): (Carried, bool),
) -> Edit<Option<Carry>> {
    let Some(at) = program.counted_loop(op) else { return Ok(None) };
    let (Some(end), Some(yielded)) = (program.terminator(at.body), pointer.yielded) else {
        return Ok(None);
    };
    let moves = moves(program, yielded, pointer.argument);
    let mut indices: Vec<Value, MOVES> = Vec::new();
    for by in moves.iter().flatten() {
        let index = match uniform(program, *by) {
            // Computed of what is the same in all elements.
            None if is_long(program, &program.type_of(*by)) => {
                let parts = parted::parted(program, end, *by)?;
                parts.uniform.filter(|_| parts.rest.is_none())
            }
            index => index,
        };
        let Some(index) = index else { break };
        let index = narrowed::near(program, end, index)?.unwrap_or(index);
        let _ = indices.push(index);
    }
    let is_index = moves.as_ref().is_some_and(|moves| indices.len() == moves.len());
    // Another tile of pointers into the same tensor: its distances.
    if moves.is_none() && !stays {
        return Ok(None);
    }
    let is_far = is_index && far::are_far(program, &indices);
    let (init, ty) = if is_far {
        let ty = far::long(program)?;
        (filled(program, op, 0, ty)?, ty)
    } else if is_index {
        (program.literal_value(Literal::Int(0))?, Type::INDEX)
    } else {
        let ty = distances_type(program, pointer.argument)?;
        (distances(program, op, pointer.init)?, ty)
    };
    program.add_operand(op, init)?;
    let inside = program.add_argument(at.body, ty)?;
    let behind = program.add_result(op, ty)?;
    let mut next = inside;
    if is_index {
        let sum = program.tables().op_of_index(IndexWord::Add).ok_or(ErrorKind::UnknownOp)?;
        for index in indices.iter().filter(|_| is_far) {
            let by = far::widened(program, end, *index)?;
            next = far::sum(program, end, [next, by])?;
        }
        for index in indices.iter().filter(|_| !is_far) {
            hoist(program, op, *index)?;
            next = made(program, end, sum, &[next, *index], Type::INDEX)?;
        }
    }
    program.add_operand(end, next)?;
    Ok(Some(Carry { op, number, pointer, inside, behind, is_index }))
}

/// By what a pointer is moved until it is what a turn passes on; `None` where that is another one.
fn moves(program: &Program<'_, '_>, yielded: Value, argument: Value) -> Option<Vec<Value, MOVES>> {
    let (mut at, mut by) = (yielded, Vec::new());
    while at != argument {
        let Def::Result(op, 0) = program.def(at) else { return None };
        if program.role(op) != OpRole::Index {
            return None;
        }
        by.push(program.operand(op, 1)?).ok()?;
        at = program.operand(op, 0)?;
    }
    Some(by)
}

/// The index that is in all elements of a tile, or that a value is.
fn uniform(program: &Program<'_, '_>, by: Value) -> Option<Value> {
    if !program.type_of(by).is_tile() {
        return Some(by);
    }
    let def = program.def_op(by)?;
    let of = program.operand(def, 0)?;
    match program.role(def) {
        OpRole::Constant if program.int(of).is_some() => Some(of),
        OpRole::Broadcast
            if matches!(program.type_of(of).kind, TypeKind::Index | TypeKind::Scalar) =>
        {
            Some(of)
        }
        _ => None,
    }
}

/// Computes an index before a loop that is the same in all turns, where it is.
fn hoist(program: &mut Program<'_, '_>, op: Op, index: Value) -> Edit {
    let mut open: Vec<Op, MOVES> = Vec::new();
    let inside = |program: &Program<'_, '_>, value: Value| {
        program.def_op(value).filter(|def| program.is_inside(*def, op))
    };
    let is_moved = |program: &Program<'_, '_>, def: Op| {
        program.role(def) == OpRole::Constant || program.index_word(def).is_some()
    };
    // What is not so stays where it is: whoever takes the carried index refuses it.
    if let Some(first) = inside(program, index).filter(|def| is_moved(program, *def)) {
        let _ = open.push(first);
    }
    let is_own = |program: &Program<'_, '_>, value: Value| match program.def(value) {
        Def::Argument(block, _) => {
            let owner = program.owner_of(block);
            owner.is_some_and(|owner| owner == op || program.is_inside(owner, op))
        }
        _ => false,
    };
    while let Some(&def) = open.last() {
        if program.all_operands(def).any(|value| is_own(program, value)) {
            return Ok(());
        }
        let waits = program.all_operands(def).find_map(|value| inside(program, value));
        let waits = match waits {
            Some(waits) if is_moved(program, waits) && open.push(waits).is_ok() => continue,
            other => other,
        };
        if waits.is_some() {
            return Ok(());
        }
        program.move_before(def, op)?;
        open.pop();
    }
    Ok(())
}

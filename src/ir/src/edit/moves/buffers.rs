//! Accesses by a pointer and a tile of distances: `%p[%i]`.

use crate::edit::edit_ops::Edit;
use crate::edit::moves::{MoveOperands, become_of, operands, pointers};
use crate::error::ErrorKind;
use crate::handle::{Op, Value};
use crate::program::Program;

/// The tile of distances that stands in brackets behind an operand.
fn distances(program: &Program<'_, '_>, op: Op, number: usize) -> Edit<Value> {
    let mut inside = program.subscripts(op, number);
    match (inside.next(), inside.next()) {
        (Some(distances), None) => Ok(distances),
        _ => Err(ErrorKind::PointerForm),
    }
}

/// `%p[%i], %mask, %other`: a load through pointers.
pub(super) fn load(program: &mut Program<'_, '_>, op: Op) -> Edit {
    let mut all = operands(program, op)?;
    let far = distances(program, op, 0)?;
    let pointer = all.first_mut().ok_or(ErrorKind::Broken)?;
    *pointer = pointers(program, op, (*pointer, far))?;
    become_of(program, op, "tiled_load", &all)
}

/// `%x, %p[%i], %mask`: a store through pointers, which stand in front.
pub(super) fn store(program: &mut Program<'_, '_>, op: Op) -> Edit {
    let all = operands(program, op)?;
    let [tile, pointer, beside @ ..] = all.as_slice() else { return Err(ErrorKind::Broken) };
    let far = distances(program, op, 1)?;
    let to = pointers(program, op, (*pointer, far))?;
    let mut with = MoveOperands::new();
    for value in [to, *tile].iter().chain(beside) {
        with.push(*value).map_err(|_| ErrorKind::Broken)?;
    }
    become_of(program, op, "tt.store", &with)
}

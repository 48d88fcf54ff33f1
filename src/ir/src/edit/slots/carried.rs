//! Buffers that counted loops carry: they carry which one it is.

use crate::edit::edit_ops::Edit;
use crate::edit::slots::{BufferSlot, look, shared, slot};
use crate::error::{ErrorKind, Pool};
use crate::handle::{Op, Value};
use crate::program::Program;
use crate::storage::full;
use crate::types::{Type, TypeKind};
use heapless::Vec;

/// Most buffers that a loop carries.
const CARRIED: usize = 16;
/// Operands of a counted loop before those that it carries.
const BOUNDS: usize = 3;

/// The buffer that a value is, of those that are known.
fn of_value(program: &Program<'_, '_>, value: Value) -> Option<BufferSlot> {
    program.def_op(value).and_then(|view| slot(program, view))
}

/// Lets a loop carry the numbers of buffers in their place.
pub(super) fn count(program: &mut Program<'_, '_>, op: Op) -> Edit {
    let Some(at) = program.counted_loop(op) else { return Ok(()) };
    let mut found: Vec<(usize, Value), CARRIED> = Vec::new();
    for number in 0..program.carried(op).count() {
        let one = program.carried(op).nth(number).ok_or(ErrorKind::Broken)?;
        let Some(ty) = shared(program, one.argument) else { continue };
        let own = of_value(program, one.init).ok_or(ErrorKind::BufferForm)?;
        found.push((number, own.all)).map_err(|_| full(Pool::List, CARRIED))?;
        let counts = match program.type_of(own.number).kind {
            TypeKind::Scalar => program.type_of(own.number),
            _ => Type::INDEX,
        };
        program.add_operand(op, own.number)?;
        let inside = program.add_argument(at.body, counts)?;
        let behind = program.add_result(op, counts)?;
        let first = program.first(at.body).ok_or(ErrorKind::Broken)?;
        let view = look(program, first, (own.all, inside), ty)?;
        program.replace_all_uses(one.argument, view)?;
        let result = one.result.filter(|result| program.is_used(*result));
        if let Some(result) = result {
            let next = program.next(op).ok_or(ErrorKind::NoTerminator)?;
            let view = look(program, next, (own.all, behind), ty)?;
            program.replace_all_uses(result, view)?;
        }
    }
    if found.is_empty() {
        return Ok(());
    }
    let end = program.terminator(at.body).ok_or(ErrorKind::NoTerminator)?;
    for (number, all) in &found {
        let yielded = program.operand(end, *number).ok_or(ErrorKind::NoTerminator)?;
        let own = of_value(program, yielded).filter(|own| own.all == *all);
        program.add_operand(end, own.ok_or(ErrorKind::BufferForm)?.number)?;
    }
    for (number, _) in found.iter().rev() {
        program.remove_operand(end, *number)?;
        program.remove_operand(op, number.saturating_add(BOUNDS))?;
        program.remove_argument(at.body, number.saturating_add(1))?;
        program.remove_result(op, *number)?;
    }
    Ok(())
}

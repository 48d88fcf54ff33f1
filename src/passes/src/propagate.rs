//! Conversions propagate: backward into the producers of buffers, forward over elementwise
//! operations on registers.
//!
//! Both work within one memory kind only, and stop at whatever orders memory between the conversion
//! and the operation that would take on the layout ([`Program::is_pinned`]): such conversions
//! survive, silently.
use crate::PassError;
use crate::context::{PassContext, edit};
use lanebook_ir::{Op, Program, TileEncoding, Type, Value};
use lanebook_tables::{LayoutTrait, OpRole};

/// Operands of an elementwise operation that is looked at.
const OPERANDS: usize = 4;

/// Source and result of a conversion that stays in its memory kind.
fn conversion(program: &Program<'_, '_>, op: Op) -> Option<(Value, Value)> {
    if program.role(op) != OpRole::Convert {
        return None;
    }
    let (source, result) = (program.operand(op, 0)?, program.result(op, 0)?);
    let (from, to) = (program.type_of(source), program.type_of(result));
    let alike = from.is_tile()
        && to.is_tile()
        && from.space == to.space
        && from.is_memory() == to.is_memory();
    alike.then_some((source, result))
}

/// Backward: the producer of a buffer makes it in the wanted layout at once; other readers see it
/// through a view.
pub(crate) fn buffers(cx: &mut PassContext<'_, '_, '_>) -> Result<(), PassError> {
    cx.push_roles(|role| role == OpRole::Convert)?;
    while let Some(op) = cx.pop()? {
        buffer(cx, op)?;
    }
    Ok(())
}

fn buffer(cx: &mut PassContext<'_, '_, '_>, op: Op) -> Result<(), PassError> {
    let program = &*cx.program;
    let Some((source, result)) = conversion(program, op) else { return Ok(()) };
    let (from, to) = (program.type_of(source), program.type_of(result));
    let Some(producer) = program.def_op(source) else { return Ok(()) };
    let rebuilds = matches!(program.role(producer), OpRole::Load | OpRole::Alloc)
        && program.result(producer, 1).is_none();
    if !from.is_memory()
        || !rebuilds
        || program.same_type(&from, &to)
        || program.is_pinned(producer, op)
    {
        return Ok(());
    }
    let others = program.uses(source).any(|place| program.user(place) != Some(op));
    let Some(view) = program.tables().op_of_role(OpRole::View) else { return Ok(()) };
    if others {
        let Some(next) = cx.program.next(producer) else { return Ok(()) };
        let seen = cx.program.insert_before(next, view, &[source], &[from]).map_err(edit)?;
        let Some(seen_as) = cx.program.result(seen, 0) else { return Ok(()) };
        // All see the view but the view itself and this conversion.
        let mut at = cx.program.uses(source).next();
        while let Some(place) = at {
            at = cx.program.next_use(place);
            if cx.program.user(place).is_some_and(|user| user != seen && user != op) {
                cx.program.set_use(place, seen_as).map_err(edit)?;
            }
        }
    }
    cx.program.set_type(source, to).map_err(edit)?;
    cx.program.replace_all_uses(result, source).map_err(edit)?;
    cx.program.erase(op).map_err(edit)?;
    cx.changed(producer)
}

/// Forward: an elementwise operation all of whose operands were converted from one layout works in
/// that layout, and its result is converted: one conversion in place of several.
pub(crate) fn registers(cx: &mut PassContext<'_, '_, '_>) -> Result<(), PassError> {
    cx.push_roles(|role| matches!(role, OpRole::Elementwise | OpRole::Index | OpRole::Select))?;
    while let Some(op) = cx.pop()? {
        register(cx, op)?;
    }
    Ok(())
}

fn register(cx: &mut PassContext<'_, '_, '_>, op: Op) -> Result<(), PassError> {
    let program = &*cx.program;
    let Some(result) = program.result(op, 0) else { return Ok(()) };
    let to = program.type_of(result);
    let count = program.operand_count(op);
    if program.layout_trait(op) != LayoutTrait::Transparent
        || !to.is_tile()
        || to.is_memory()
        || count > OPERANDS
    {
        return Ok(());
    }
    let mut sources: [Option<(Value, Op)>; OPERANDS] = [None; OPERANDS];
    let (mut converted, mut encoding) = (0usize, None::<Type>);
    for (number, place) in sources.iter_mut().enumerate().take(count) {
        let Some(value) = program.operand(op, number) else { return Ok(()) };
        if !program.type_of(value).is_tile() {
            continue;
        }
        let Some(def) = program.def_op(value) else { return Ok(()) };
        let Some((source, _)) = conversion(program, def) else { return Ok(()) };
        let from = program.type_of(source);
        let alone = program.uses(value).all(|place| program.user(place) == Some(op));
        if encoding.is_some_and(|known| !program.same_encoding(&known, &from))
            || from.encoding == TileEncoding::None
            || !alone
            || program.is_pinned(def, op)
        {
            return Ok(());
        }
        encoding = Some(from);
        *place = Some((source, def));
        converted = converted.saturating_add(1);
    }
    let (Some(from), Some(next)) = (encoding, program.next(op)) else { return Ok(()) };
    if converted < 2 {
        return Ok(());
    }
    let Some(convert) = program.tables().op_of_role(OpRole::Convert) else { return Ok(()) };
    for (number, place) in sources.iter().enumerate() {
        if let Some((source, def)) = place {
            cx.program.set_operand(op, number, *source).map_err(edit)?;
            // The same conversion may stand for two operands.
            cx.push_unread(*def)?;
        }
    }
    cx.program.set_type(result, Type { encoding: from.encoding, ..to }).map_err(edit)?;
    back(cx, convert, next, result, to)?;
    cx.changed(op)
}

/// Converts a value that has a new type back to `ty` before `next`, for all who read it.
pub(crate) fn back(
    cx: &mut PassContext<'_, '_, '_>,
    convert: lanebook_tables::OpId,
    next: Op,
    value: Value,
    ty: Type,
) -> Result<(), PassError> {
    cx.push_users(value)?;
    let made = cx.program.insert_before(next, convert, &[value], &[ty]).map_err(edit)?;
    let Some(new) = cx.program.result(made, 0) else { return Ok(()) };
    let mut at = cx.program.uses(value).next();
    while let Some(place) = at {
        at = cx.program.next_use(place);
        if cx.program.user(place) != Some(made) {
            cx.program.set_use(place, new).map_err(edit)?;
        }
    }
    Ok(())
}

//! Remove buffer aliases: other names of one shared- or tensor-memory allocation become views of
//! it.
//!
//! - a view of a view: one view, offsets added;
//! - a `select` (or an `if`'s result) between parts of one allocation: a view at a selected offset;
//! - a buffer that a loop carries and that is the same in every iteration: used directly, the loop
//!   no longer carries it; likewise what a `while` and pipeline regions hand on
//!   ([`handed`](crate::handed));
//! - where the alias has another layout than the allocation: a copy, if nothing writes either while
//!   the alias is read.
//!
//! Each step takes one hop off the way from a use to its allocation, so the pass ends, after at
//! most as many steps as the aliases have hops. What cannot be traced stays, with
//! [`Diagnostic::LastWritten`]; a view that reaches past its allocation is reported and left as it
//! is.
use crate::base::{BufferBase, ElementOffset, base, is_allocation, is_buffer, leads, view_offset};
use crate::context::{PassContext, edit};
use crate::diagnostic::Diagnostic;
use crate::{PassError, handed};
use lanebook_ir::{AttrValue, Def, Literal, Op, Program, Type, Value, attr_names};
use lanebook_tables::OpRole;

/// Operations looked at behind an alias that would become a copy.
const COPY_WINDOW: usize = 64;

pub(crate) fn run(cx: &mut PassContext<'_, '_, '_>) -> Result<(), PassError> {
    cx.push_roles(|role| {
        matches!(
            role,
            OpRole::View
                | OpRole::Select
                | OpRole::For
                | OpRole::Parallel
                | OpRole::While
                | OpRole::If
        ) || matches!(role, OpRole::Produce | OpRole::Consume | OpRole::AgentSwitch)
    })?;
    while let Some(op) = cx.pop()? {
        match cx.program.role(op) {
            OpRole::View => view(cx, op)?,
            OpRole::Select => select(cx, op)?,
            OpRole::If => branches(cx, op)?,
            OpRole::For | OpRole::Parallel => carried(cx, op)?,
            OpRole::While => handed::while_loop(cx, op)?,
            OpRole::Produce | OpRole::Consume | OpRole::AgentSwitch => handed::pipeline(cx, op)?,
            _ => {}
        }
    }
    report(cx);
    Ok(())
}

/// A view of a view, of a copy's result.
fn view(cx: &mut PassContext<'_, '_, '_>, op: Op) -> Result<(), PassError> {
    let program = &*cx.program;
    let (Some(source), Some(result), Some(_)) =
        (program.operand(op, 0), program.result(op, 0), view_offset(program, op))
    else {
        return Ok(());
    };
    if !is_buffer(&program.type_of(result)) {
        return Ok(());
    }
    let whole = base(program, result);
    if whole.root == result || whole.root == source {
        return Ok(());
    }
    set_offset(cx, op, whole.offset)?;
    cx.program.set_operand(op, 0, whole.root).map_err(edit)?;
    if let Some(source) = cx.program.def_op(source) {
        cx.push_unread(source)?;
    }
    cx.changed(op)
}

pub(crate) fn set_offset(
    cx: &mut PassContext<'_, '_, '_>,
    view: Op,
    offset: ElementOffset,
) -> Result<(), PassError> {
    let value = match offset {
        ElementOffset::Const(0) => {
            return cx.program.remove_attr(view, attr_names::OFFSET).map_err(edit);
        }
        ElementOffset::Const(number) => AttrValue::Int(number, None),
        ElementOffset::Value(value) => AttrValue::Operand(value),
    };
    cx.program.set_attr(view, attr_names::OFFSET, value).map_err(edit)
}

fn select(cx: &mut PassContext<'_, '_, '_>, op: Op) -> Result<(), PassError> {
    let program = &*cx.program;
    let operands = (
        program.operand(op, 0),
        program.operand(op, 1),
        program.operand(op, 2),
        program.result(op, 0),
    );
    let (Some(condition), Some(yes), Some(no), Some(result)) = operands else { return Ok(()) };
    if !is_buffer(&program.type_of(result)) || !is_bit(program, condition) {
        return Ok(());
    }
    let (Some(root), offsets) = common(program, yes, no) else { return Ok(()) };
    let decl = program.decl_id(op);
    if join(cx, op, decl, condition, root, offsets, result)? {
        cx.erase_if_unread(op)?;
        cx.changed(op)?;
    }
    Ok(())
}

fn is_bit(program: &Program<'_, '_>, condition: Value) -> bool {
    let ty = program.type_of(condition);
    ty.is_elided()
        || ty
            .dtype
            .and_then(|dtype| program.tables().dtype(dtype))
            .is_some_and(|dtype| dtype.bits == 1)
}

/// The allocation that both values are parts of, and where.
fn common(
    program: &Program<'_, '_>,
    yes: Value,
    no: Value,
) -> (Option<Value>, (ElementOffset, ElementOffset)) {
    let (yes, no): (BufferBase, BufferBase) = (base(program, yes), base(program, no));
    let root = (yes.root == no.root && is_allocation(program, yes.root)).then_some(yes.root);
    (root, (yes.offset, no.offset))
}

/// Makes a view of `root` at one of two offsets before `op` and lets the users of `result` see it.
fn join(
    cx: &mut PassContext<'_, '_, '_>,
    op: Op,
    decl: Option<lanebook_tables::OpId>,
    condition: Value,
    root: Value,
    (yes, no): (ElementOffset, ElementOffset),
    result: Value,
) -> Result<bool, PassError> {
    let (ty, of) = (cx.program.type_of(result), cx.program.type_of(root));
    let relaid = !cx.program.same_encoding(&ty, &of);
    if relaid && !is_only_read(cx.program, op, result) {
        return Ok(false);
    }
    let offset = if yes == no {
        yes
    } else {
        let Some(decl) = decl.or_else(|| cx.program.tables().op_of_role(OpRole::Select)) else {
            return Ok(false);
        };
        let yes = offset_value(cx, yes)?;
        let no = offset_value(cx, no)?;
        let chosen = cx
            .program
            .insert_before(op, decl, &[condition, yes, no], &[Type::ELIDED])
            .map_err(edit)?;
        let Some(chosen) = cx.program.result(chosen, 0) else { return Ok(false) };
        ElementOffset::Value(chosen)
    };
    let (Some(view), Some(alloc), Some(copy)) = (
        cx.program.tables().op_of_role(OpRole::View),
        cx.program.tables().op_of_role(OpRole::Alloc),
        cx.program.tables().op_of_role(OpRole::Copy),
    ) else {
        return Ok(false);
    };
    let seen = if relaid { Type { encoding: of.encoding, ..ty } } else { ty };
    let mut new = root;
    if offset != ElementOffset::Const(0) || !cx.program.same_type(&seen, &of) {
        let made = cx.program.insert_before(op, view, &[root], &[seen]).map_err(edit)?;
        set_offset(cx, made, offset)?;
        new = cx.program.result(made, 0).unwrap_or(root);
    }
    if relaid {
        let made = cx.program.insert_before(op, alloc, &[], &[ty]).map_err(edit)?;
        let Some(room) = cx.program.result(made, 0) else { return Ok(false) };
        cx.program.insert_before(op, copy, &[new, room], &[]).map_err(edit)?;
        new = room;
    }
    cx.push_users(result)?;
    cx.program.replace_all_uses(result, new).map_err(edit)?;
    if new != root && cx.program.result(op, 1).is_none() {
        cx.program.take_name(new, result).map_err(edit)?;
    }
    Ok(true)
}

fn offset_value(
    cx: &mut PassContext<'_, '_, '_>,
    offset: ElementOffset,
) -> Result<Value, PassError> {
    match offset {
        ElementOffset::Const(number) => {
            cx.program.literal_value(Literal::Int(number)).map_err(edit)
        }
        ElementOffset::Value(value) => Ok(value),
    }
}

/// Whether a copy made here serves all users of an alias: they only load, stand in this block, and
/// nothing from here to the last of them writes memory or has regions.
fn is_only_read(program: &Program<'_, '_>, op: Op, alias: Value) -> bool {
    let mut left = program.uses(alias).count();
    let mut at = program.next(op);
    for _ in 0..COPY_WINDOW {
        if left == 0 {
            return true;
        }
        let Some(here) = at else { return false };
        let reads = program.operands(here).filter(|value| *value == alias).count();
        if reads > 0 && program.role(here) != OpRole::Load {
            return false;
        }
        left =
            left.saturating_sub(program.all_operands(here).filter(|value| *value == alias).count());
        let quiet = program.decl(here).is_some_and(|decl| !decl.writes)
            && program.regions(here).next().is_none();
        if !quiet {
            return false;
        }
        at = program.next(here);
    }
    false
}

/// Results of an `if` that are parts of one allocation from outside of it.
fn branches(cx: &mut PassContext<'_, '_, '_>, op: Op) -> Result<(), PassError> {
    let mut number = cx.program.results(op).count();
    while let Some(at) = number.checked_sub(1) {
        number = at;
        let program = &*cx.program;
        let yielded = |region| {
            program
                .entry(op, region)
                .and_then(|block| program.terminator(block))
                .and_then(|end| program.operand(end, at))
        };
        let parts = (program.operand(op, 0), yielded(0), yielded(1), program.result(op, at));
        let (Some(condition), Some(yes), Some(no), Some(result)) = parts else { continue };
        if !is_buffer(&program.type_of(result))
            || !is_bit(program, condition)
            || !program.is_used(result)
        {
            continue;
        }
        let (Some(root), offsets) = common(program, yes, no) else { continue };
        // Offsets that are values may be made inside an arm; the allocation may be, too.
        let outside = program.def_op(root).is_some_and(|def| !program.is_inside(def, op));
        if !outside || !matches!(offsets, (ElementOffset::Const(_), ElementOffset::Const(_))) {
            continue;
        }
        if join(cx, op, None, condition, root, offsets, result)? {
            cx.changed(op)?;
        }
    }
    Ok(())
}

/// Buffers that a loop carries without changing them.
fn carried(cx: &mut PassContext<'_, '_, '_>, op: Op) -> Result<(), PassError> {
    let mut number = cx.program.results(op).count();
    while let Some(at) = number.checked_sub(1) {
        number = at;
        let program = &*cx.program;
        let Some(value) = program.carried(op).nth(at) else { continue };
        let (Some(yielded), Some(result)) = (value.yielded, value.result) else { continue };
        let ty = program.type_of(value.argument);
        if !is_buffer(&ty) {
            continue;
        }
        let before = base(program, value.init);
        let kept = leads(program, yielded, value.argument, &before, |_| None);
        let of = program.type_of(value.init);
        // What an outer loop carries is that loop's business, and may be settled later.
        let known = is_allocation(program, before.root) || is_carried(program, before.root);
        if !kept || !known || !program.same_type(&of, &ty) {
            continue;
        }
        // The allocation itself when the initial value is another name of the whole of it.
        let root = before.root;
        let new = if before.offset == ElementOffset::Const(0)
            && program.same_type(&program.type_of(root), &ty)
        {
            root
        } else {
            value.init
        };
        for old in [value.argument, result] {
            cx.push_users(old)?;
            cx.program.replace_all_uses(old, new).map_err(edit)?;
        }
        cx.drop_carried(op, at)?;
        cx.changed(op)?;
    }
    Ok(())
}

/// Whether a value is an argument of a loop.
pub(crate) fn is_carried(program: &Program<'_, '_>, value: Value) -> bool {
    matches!(program.def(value), Def::Argument(block, _) if program.owner_of(block).is_some_and(|owner| program.role(owner).is_loop()))
}

/// Says which aliases stay, and which views are too long.
fn report(cx: &mut PassContext<'_, '_, '_>) {
    let mut at = cx.program.first(cx.program.root());
    while let Some(op) = at {
        let program = &*cx.program;
        let buffers =
            || program.results(op).filter(|value| is_buffer(&program.type_of(*value))).count();
        let taken =
            || program.operands(op).filter(|value| is_buffer(&program.type_of(*value))).count();
        let stays = match program.role(op) {
            OpRole::Select => buffers(),
            OpRole::If => program
                .results(op)
                .filter(|value| is_buffer(&program.type_of(*value)) && program.is_used(*value))
                .count(),
            OpRole::For | OpRole::Parallel => buffers(),
            // Taken and handed on: mostly one buffer under two names.
            OpRole::While => buffers().max(taken()),
            _ => 0,
        };
        let outside = program.role(op) == OpRole::View && reaches_past(program, op);
        for _ in 0..stays {
            cx.find(Diagnostic::LastWritten, op);
        }
        if outside {
            cx.find(Diagnostic::ViewOutside, op);
        }
        at = cx.program.following(op, None);
    }
}

/// Whether a view, at any offset that can be chosen for it, ends after its allocation.
fn reaches_past(program: &Program<'_, '_>, view: Op) -> bool {
    let (Some(source), Some(result)) = (program.operand(view, 0), program.result(view, 0)) else {
        return false;
    };
    let (of, ty) = (program.type_of(source), program.type_of(result));
    let (Some(room), Some(size)) = (of.shape.elements(), ty.shape.elements()) else { return false };
    let past = |offset: i64| {
        u64::try_from(offset)
            .map_or(true, |offset| offset.checked_add(size).is_none_or(|end| end > room))
    };
    match view_offset(program, view) {
        Some(ElementOffset::Const(offset)) => past(offset),
        Some(ElementOffset::Value(value)) => match program.def(value) {
            Def::Result(op, 0) if program.role(op) == OpRole::Select => {
                program.operands(op).skip(1).filter_map(|value| program.int(value)).any(past)
            }
            _ => false,
        },
        None => false,
    }
}

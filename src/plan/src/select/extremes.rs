//! Reductions of two tiles, the extreme and what stands beside it, as operations on one each: the
//! extreme; where it is, what stands there, elsewhere the greatest number; the least of these.

use lanebook_ir::{AttrValue, Literal, Op, Program, Type, Value, attr_names};
use lanebook_tables::{DtypeKind, OpId, OpRole};

/// What compares floats, and what compares whole numbers.
const EQUAL: (&str, &str) = ("compare.oeq", "compare.eq");

/// Which extreme a reduction of two tiles looks for, that something reads: the kind of the reduction
/// of one.
pub(crate) fn kind(program: &Program<'_, '_>, op: Op) -> Option<&'static str> {
    let is_read = program.results(op).any(|value| program.uses(value).next().is_some());
    if program.role(op) != OpRole::Reduce || program.operand_count(op) != 2 || !is_read {
        return None;
    }
    let (AttrValue::Word(name) | AttrValue::Str(name) | AttrValue::Text(name)) =
        program.attr(op, attr_names::KIND)?
    else {
        return None;
    };
    match program.text(name) {
        attr_names::ARGMAX => Some(attr_names::MAX),
        attr_names::ARGMIN => Some(attr_names::MIN),
        _ => None,
    }
}

/// Puts others before a reduction, whose readers then read what these make; `None` where the program
/// has no room for them, and is as it was. The operation that makes the extreme.
#[inline(never)]
pub(crate) fn put(program: &mut Program<'_, '_>, op: Op, kind: &str) -> Option<Op> {
    let mark = program.mark();
    let made = made(program, op, kind);
    match made {
        Some(_) => program.keep(mark),
        None => program.undo(mark),
    }
    made
}

fn made(program: &mut Program<'_, '_>, op: Op, kind: &str) -> Option<Op> {
    let operand = |k: usize| program.operand(op, k).map(|value| (value, program.type_of(value)));
    let ((tile, ty), (beside, numbers)) = (operand(0)?, operand(1)?);
    let result = |k: usize| program.result(op, k).map(|value| (value, program.type_of(value)));
    let ((extreme, rest), (place, places)) = (result(0)?, result(1)?);
    let tables = program.tables();
    let is_float = |ty: Type| {
        let dtype = ty.dtype.and_then(|dtype| tables.dtype(dtype));
        dtype.is_some_and(|dtype| dtype.kind == DtypeKind::Float)
    };
    let equal = tables.op_named(if is_float(ty) { EQUAL.0 } else { EQUAL.1 })?;
    let truth = tables.dtype_of(DtypeKind::Bits, 1)?;
    let dtype = tables.dtype(numbers.dtype?)?;
    let sign = u32::from(dtype.kind == DtypeKind::Signed);
    let most =
        u64::MAX.checked_shr(64u32.checked_sub(u32::from(dtype.bits))?.checked_add(sign)?)?;
    let [reduce, spread, choose, constant] =
        [OpRole::Reduce, OpRole::Broadcast, OpRole::Select, OpRole::Constant]
            .map(|role| tables.op_of_role(role));

    let first = value(program, op, reduce?, &[tile], rest)?;
    along(program, op, first, Some(kind))?;
    let wide = value(program, op, spread?, &[first], Type::tensor(ty.shape, ty.dtype?))?;
    along(program, op, wide, None)?;
    let is_there = value(program, op, equal, &[tile, wide], Type::tensor(ty.shape, truth))?;
    let most = program.literal_value(Literal::Hex(most)).ok()?;
    let plain = Type::tensor(numbers.shape, numbers.dtype?);
    let elsewhere = value(program, op, constant?, &[most], plain)?;
    let chosen = value(program, op, choose?, &[is_there, beside, elsewhere], plain)?;
    let least = value(program, op, reduce?, &[chosen], places)?;
    along(program, op, least, Some(attr_names::MIN))?;
    program.replace_all_uses(extreme, first).ok()?;
    program.replace_all_uses(place, least).ok()?;
    program.def_op(first)
}

/// Lets a reduction's readers read it again; what was put before it is left to the caller.
pub(crate) fn undo(program: &mut Program<'_, '_>, op: Op, first: Op) -> Option<()> {
    let last = program.previous(op)?;
    for (made, number) in [(first, 0), (last, 1)] {
        let (from, to) = (program.result(made, 0)?, program.result(op, number)?);
        program.replace_all_uses(from, to).ok()?;
    }
    Some(())
}

/// A value made before an operation.
pub(crate) fn value(
    program: &mut Program<'_, '_>,
    op: Op,
    decl: OpId,
    operands: &[Value],
    ty: Type,
) -> Option<Value> {
    let made = program.insert_before(op, decl, operands, &[ty]).ok()?;
    program.result(made, 0)
}

/// Says of what makes a value along which dimension it works, as an operation says it, and how.
pub(crate) fn along(
    program: &mut Program<'_, '_>,
    op: Op,
    of: Value,
    kind: Option<&str>,
) -> Option<()> {
    let (made, axis) = (program.def_op(of)?, program.attr(op, attr_names::AXIS)?);
    program.set_attr(made, attr_names::AXIS, axis).ok()?;
    if let Some(kind) = kind {
        let word = program.word(kind).ok()?;
        program.set_attr(made, attr_names::KIND, AttrValue::Word(word)).ok()?;
    }
    Some(())
}

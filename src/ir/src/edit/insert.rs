//! Operations that are put before another one, for which they stand: errors are about that. And what
//! values come to, or are in another form: each after those that it is computed of, and each once.

use crate::attr::Literal;
use crate::data::OpData;
use crate::edit::edit_ops::Edit;
use crate::error::{ErrorKind, Pool};
use crate::handle::{Op, Value};
use crate::program::Program;
use crate::storage::full;
use crate::types::{Type, TypeKind};
use heapless::Vec;
use lanebook_tables::{DtypeId, DtypeKind, OpId, OpRole};

/// Bits of an index, and of how far an element is from another one.
pub(crate) const WORD: u16 = 32;

/// What an operation that is declared so makes, before another one.
pub(crate) fn made(
    program: &mut Program<'_, '_>,
    op: Op,
    decl: OpId,
    ins: &[Value],
    ty: Type,
) -> Edit<Value> {
    let name = program.op_data(op).ok_or(ErrorKind::Stale)?.name;
    let new = program.insert_before(op, decl, ins, &[ty])?;
    program.pools.edit::<OpData>(new.index(), |data| data.name = name)?;
    program.result(new, 0).ok_or(ErrorKind::Broken)
}

/// What the first declared operation of a role makes, before another one.
pub(crate) fn made_by(
    program: &mut Program<'_, '_>,
    op: Op,
    role: OpRole,
    ins: &[Value],
    ty: Type,
) -> Edit<Value> {
    let decl = program.tables().op_of_role(role).ok_or(ErrorKind::UnknownOp)?;
    made(program, op, decl, ins, ty)
}

/// What an operation of this name makes, before another one.
pub(crate) fn made_named(
    program: &mut Program<'_, '_>,
    op: Op,
    name: &str,
    ins: &[Value],
    ty: Type,
) -> Edit<Value> {
    let decl = program.tables().op_named(name).ok_or(ErrorKind::UnknownOp)?;
    made(program, op, decl, ins, ty)
}

/// A number that is written, one or in all elements, before an operation.
pub(crate) fn filled(program: &mut Program<'_, '_>, op: Op, number: i64, ty: Type) -> Edit<Value> {
    let literal = program.literal_value(Literal::Int(number))?;
    made_by(program, op, OpRole::Constant, &[literal], ty)
}

/// The element type of tiles of indices, and of how far elements are from another one.
pub(crate) fn word(program: &Program<'_, '_>) -> Option<DtypeId> {
    program.tables().dtype_of(DtypeKind::Signed, WORD)
}

/// Whether a value is a number of that type.
pub(crate) fn is_word(program: &Program<'_, '_>, value: Value) -> bool {
    let ty = program.type_of(value);
    ty.kind == TypeKind::Scalar && ty.dtype.is_some() && ty.dtype == word(program)
}

/// What a whole number, or a tile of them, was before it got more bits with its sign.
pub(crate) fn sign_extended(program: &Program<'_, '_>, value: Value) -> Option<Value> {
    let def = program.def_op(value)?;
    let widens = program.decl(def).is_some_and(|decl| decl.name == "arith.extsi");
    program.operand(def, 0).filter(|_| widens)
}

/// Most values that one is worked out of.
pub(crate) const PARTS: usize = 32;

/// Values with what was worked out of them, in that order.
pub(crate) type Worked<T> = Vec<(Value, T), PARTS>;

/// What comes of asking for a value.
pub(crate) enum WorkedPart<T> {
    /// This is what it comes to.
    Done(T),
    /// This one comes before it.
    After(Value),
}

/// What a value comes to, of those that are known.
pub(crate) fn worked<T: Copy>(known: &Worked<T>, value: Value) -> Option<T> {
    known.iter().find(|(of, _)| *of == value).map(|(_, own)| *own)
}

/// The first of these values of which nothing is known.
pub(crate) fn missing<T: Copy>(
    known: &Worked<T>,
    of: impl IntoIterator<Item = Value>,
) -> Option<Value> {
    of.into_iter().find(|value| worked(known, *value).is_none())
}

/// Works a value out: `part` is asked for it, and for what it wants first, with what is known by then.
///
/// # Errors
/// More values than there is room for, and what `part` answers.
pub(crate) fn work_out<T: Copy>(
    value: Value,
    mut part: impl FnMut(Value, &Worked<T>) -> Edit<WorkedPart<T>>,
) -> Edit<T> {
    let room = || full(Pool::Sources, PARTS);
    let mut known = Worked::new();
    let mut waiting: Vec<Value, PARTS> = Vec::new();
    waiting.push(value).map_err(|_| room())?;
    while let Some(&at) = waiting.last() {
        if worked(&known, at).is_none() {
            match part(at, &known)? {
                WorkedPart::Done(own) => known.push((at, own)).map_err(|_| room())?,
                WorkedPart::After(first) => {
                    waiting.push(first).map_err(|_| room())?;
                    continue;
                }
            }
        }
        let _ = waiting.pop();
    }
    worked(&known, value).ok_or(ErrorKind::Broken)
}

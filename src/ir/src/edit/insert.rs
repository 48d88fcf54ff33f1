//! Operations that are put before another one, for which they stand: errors are about that.

use crate::data::OpData;
use crate::edit::edit_ops::Edit;
use crate::error::ErrorKind;
use crate::handle::{Op, Value};
use crate::program::Program;
use crate::types::{Type, TypeKind};
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

/// The element type of tiles of indices, and of how far elements are from another one.
pub(crate) fn word(program: &Program<'_, '_>) -> Option<DtypeId> {
    program.tables().dtype_of(DtypeKind::Signed, WORD)
}

/// Whether a value is a number of that type.
pub(crate) fn is_word(program: &Program<'_, '_>, value: Value) -> bool {
    let ty = program.type_of(value);
    ty.kind == TypeKind::Scalar && ty.dtype.is_some() && ty.dtype == word(program)
}

//! Operations that are put before another one, for which they stand: errors are about that. And values
//! that are computed anew in another form: each after those that it is computed of, and each once.

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

/// The element type of tiles of indices, and of how far elements are from another one.
pub(crate) fn word(program: &Program<'_, '_>) -> Option<DtypeId> {
    program.tables().dtype_of(DtypeKind::Signed, WORD)
}

/// Whether a value is a number of that type.
pub(crate) fn is_word(program: &Program<'_, '_>, value: Value) -> bool {
    let ty = program.type_of(value);
    ty.kind == TypeKind::Scalar && ty.dtype.is_some() && ty.dtype == word(program)
}

/// Most values of one that is rebuilt.
pub(crate) const PARTS: usize = 32;

/// Values with what stands for them, in the order in which they were made.
pub(crate) type Rebuilt = Vec<(Value, Value), PARTS>;

/// What comes of asking for a value.
pub(crate) enum RebuiltPart {
    /// This stands for it.
    Made(Value),
    /// This one comes before it.
    After(Value),
}

/// What stands for a value, of those that are rebuilt.
pub(crate) fn rebuilt(known: &Rebuilt, value: Value) -> Option<Value> {
    known.iter().find(|(of, _)| *of == value).map(|(_, new)| *new)
}

/// Rebuilds a value: `part` is asked for it, and for what it wants first, with what is known by then.
///
/// # Errors
/// More values than there is room for, and what `part` answers.
pub(crate) fn rebuild(
    program: &mut Program<'_, '_>,
    value: Value,
    mut part: impl FnMut(&mut Program<'_, '_>, Value, &Rebuilt) -> Edit<RebuiltPart>,
) -> Edit<(Value, Rebuilt)> {
    let room = || full(Pool::Sources, PARTS);
    let mut known = Rebuilt::new();
    let mut waiting: Vec<Value, PARTS> = Vec::new();
    waiting.push(value).map_err(|_| room())?;
    while let Some(&at) = waiting.last() {
        if rebuilt(&known, at).is_none() {
            match part(program, at, &known)? {
                RebuiltPart::Made(new) => known.push((at, new)).map_err(|_| room())?,
                RebuiltPart::After(first) => {
                    waiting.push(first).map_err(|_| room())?;
                    continue;
                }
            }
        }
        let _ = waiting.pop();
    }
    let new = rebuilt(&known, value).ok_or(ErrorKind::Broken)?;
    Ok((new, known))
}

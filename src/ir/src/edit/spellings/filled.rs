//! Shared tiles that something is stored into where they are reserved, and those that products read
//! where they are: a store and loads of their own. Where a unit reads a factor from shared memory
//! planning finds that it does.

use crate::data::OpData;
use crate::edit::edit_ops::Edit;
use crate::edit::insert::made_by;
use crate::error::ErrorKind;
use crate::handle::{Op, Value};
use crate::program::Program;
use crate::types::Type;
use lanebook_tables::{OpRole, Space};

/// Lets what a shared tile begins with be stored into it behind where it is reserved.
#[inline(never)]
pub(super) fn store_first(program: &mut Program<'_, '_>, op: Op) -> Edit {
    let (Some(first), Some(tile)) = (program.operand(op, 0), program.result(op, 0)) else {
        return Ok(());
    };
    if program.type_of(tile).space != Some(Space::Shared) {
        return Ok(());
    }
    let name = program.op_data(op).ok_or(ErrorKind::Stale)?.name;
    let next = program.next(op).ok_or(ErrorKind::Broken)?;
    let store = program.tables().op_of_role(OpRole::Store).ok_or(ErrorKind::UnknownOp)?;
    let store = program.insert_before(next, store, &[first, tile], &[])?;
    program.pools.edit::<OpData>(store.index(), |data| data.name = name)?;
    program.drop_operands(op)
}

/// Lets a product whose sums stand in registers have its factors in registers.
#[inline(never)]
pub(super) fn load_factors(program: &mut Program<'_, '_>, op: Op) -> Edit {
    let space = |program: &Program<'_, '_>, value: Value| program.type_of(value).space;
    let sums = program.operand(op, 2).and_then(|sums| space(program, sums));
    for number in [0usize, 1] {
        let Some(factor) = program.operand(op, number) else { continue };
        if space(program, factor) != Some(Space::Shared) || sums == Some(Space::Tensor) {
            continue;
        }
        let of = program.type_of(factor);
        let ty = Type::tensor(of.shape, of.dtype.ok_or(ErrorKind::UnknownDtype)?);
        let loaded = made_by(program, op, OpRole::Load, &[factor], ty)?;
        program.set_operand(op, number, loaded)?;
    }
    Ok(())
}

//! Parts of shared tiles that are loaded, `ttg.memdesc_subslice %s[0, 16]`: the tile is loaded, and
//! a part of it taken.

use crate::edit::edit_ops::Edit;
use crate::edit::insert::made;
use crate::edit::slots::{first_user, shared};
use crate::error::ErrorKind;
use crate::handle::Op;
use crate::program::Program;
use crate::types::Type;
use lanebook_tables::OpRole;

/// Whether an operation is a look at a part of a tile that begins at numbers.
fn is_part(program: &Program<'_, '_>, op: Op) -> bool {
    let types = program
        .operand(op, 0)
        .zip(program.result(op, 0))
        .and_then(|(whole, part)| Some((shared(program, whole)?, shared(program, part)?)));
    types.is_some_and(|(whole, part)| {
        let rank = whole.shape.rank();
        let starts = program.subscripts(op, 0);
        let fits = |(dim, start): (usize, i64)| {
            let end = part.shape.extent(dim).map(|extent| start.saturating_add(i64::from(extent)));
            let most = whole.shape.extent(dim).map(i64::from);
            start >= 0 && end.zip(most).is_some_and(|(end, most)| end <= most)
        };
        program.role(op) == OpRole::View
            && program.operand_count(op) == 1
            && program.attrs(op).next().is_none()
            && part.shape.rank() == rank
            && part.dtype == whole.dtype
            && starts.clone().count() == rank
            && starts
                .enumerate()
                .all(|(dim, start)| program.int(start).is_some_and(|start| fits((dim, start))))
    })
}

/// Lets what loads a part of a tile load the tile.
pub(super) fn load_whole(program: &mut Program<'_, '_>, op: Op) -> Edit {
    if !is_part(program, op) {
        return Ok(());
    }
    let (Some(whole), Some(part)) = (program.operand(op, 0), program.result(op, 0)) else {
        return Err(ErrorKind::Broken);
    };
    while let Some(user) = first_user(program, part) {
        let is_load = program.role(user) == OpRole::Load
            && program.operand_count(user) == 1
            && program.subscripts(user, 0).next().is_none();
        if !is_load {
            return Err(ErrorKind::BufferForm);
        }
        let loaded = program.result(user, 0).ok_or(ErrorKind::Broken)?;
        let behind = program.next(user).ok_or(ErrorKind::Broken)?;
        let ty = program.type_of(loaded);
        let all = Type { shape: program.type_of(whole).shape, ..ty };
        program.set_operand(user, 0, whole)?;
        let decl = program.tables().op_named("extract_slice").ok_or(ErrorKind::UnknownOp)?;
        let slice = made(program, behind, decl, &[loaded], ty)?;
        let taken = program.def_op(slice).ok_or(ErrorKind::Broken)?;
        program.replace_all_uses(loaded, slice)?;
        program.set_operand(taken, 0, loaded)?;
        program.set_type(loaded, all)?;
        let mut dim = 0usize;
        loop {
            let start = program.subscripts(op, 0).nth(dim);
            let Some(start) = start else { break };
            program.add_subscript(taken, start)?;
            dim = dim.saturating_add(1);
        }
    }
    program.erase(op)
}

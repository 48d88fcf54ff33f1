//! Parts of shared tiles that are loaded, `ttg.memdesc_subslice %s[0, 16]`: the tile is loaded, and
//! a part of it taken.

use crate::edit::edit_ops::Edit;
use crate::edit::insert::{made_by, made_named};
use crate::edit::slots::{first_user, shared};
use crate::error::ErrorKind;
use crate::handle::{Op, Value};
use crate::program::Program;
use crate::types::{TileEncoding, Type};
use lanebook_tables::OpRole;

/// Whether an operation is a look at a part of a tile that begins at numbers.
pub(super) fn is_part(program: &Program<'_, '_>, op: Op) -> bool {
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

/// What loads all of a tile before an operation of its block, where nothing writes to memory in
/// between.
fn loaded_before(program: &Program<'_, '_>, op: Op, (whole, ty): (Value, Type)) -> Option<Value> {
    let before = core::iter::successors(program.previous(op), |at| program.previous(*at));
    let is_still = |at: &Op| {
        let writes = program.decl(*at).is_none_or(|decl| decl.writes && !orders(program, *at));
        !writes && program.regions(*at).next().is_none()
    };
    let mut loads = before.take_while(is_still).filter(|at| {
        program.role(*at) == OpRole::Load
            && program.operand_count(*at) == 1
            && program.operand(*at, 0) == Some(whole)
            && program.attrs(*at).next().is_none()
    });
    let loaded = loads.find_map(|at| {
        program.result(at, 0).filter(|loaded| program.same_type(&program.type_of(*loaded), &ty))
    });
    loaded.filter(|_| program.attrs(op).next().is_none())
}

/// Whether an operation only says an order.
fn orders(program: &Program<'_, '_>, op: Op) -> bool {
    matches!(program.role(op), OpRole::Fence | OpRole::Wait)
}

/// Lets what loads a part of a tile load the tile.
pub(super) fn load_whole(program: &mut Program<'_, '_>, op: Op) -> Edit {
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
        // The part's layout is written, not that of the tile that it is taken from.
        let plain = Type { encoding: TileEncoding::None, ..ty };
        let all = Type { shape: program.type_of(whole).shape, ..plain };
        let known = loaded_before(program, user, (whole, all));
        program.set_operand(user, 0, whole)?;
        let slice = made_named(program, behind, "extract_slice", &[loaded], plain)?;
        let taken = program.def_op(slice).ok_or(ErrorKind::Broken)?;
        let read = match ty == plain {
            true => slice,
            false => made_by(program, behind, OpRole::Convert, &[slice], ty)?,
        };
        program.replace_all_uses(loaded, read)?;
        if read != slice {
            let laid = program.def_op(read).ok_or(ErrorKind::Broken)?;
            program.set_operand(laid, 0, slice)?;
        }
        program.set_operand(taken, 0, loaded)?;
        program.set_type(loaded, all)?;
        if let Some(known) = known {
            program.replace_all_uses(loaded, known)?;
            program.erase(user)?;
        }
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

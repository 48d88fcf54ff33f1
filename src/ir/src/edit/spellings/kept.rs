//! Reductions that keep their dimension, with one element: as those that lose it, and what gives it
//! back.

use crate::attr::AttrValue;
use crate::attr_names;
use crate::data::OpData;
use crate::edit::edit_ops::Edit;
use crate::edit::insert::made_by;
use crate::error::ErrorKind;
use crate::handle::{Op, Value};
use crate::program::Program;
use crate::types::{MAX_RANK, Shape, TileEncoding, Type};
use lanebook_tables::OpRole;

/// Lets a reduction lose the dimension that it keeps.
pub(super) fn drop_dimension(program: &mut Program<'_, '_>, op: Op) -> Edit {
    let mut number = 0usize;
    let is_kept = program.keeps_dimension(op);
    if program.attr(op, attr_names::KEEP_DIMS) == Some(AttrValue::Unit) {
        // The results' types say it as well.
        program.remove_attr(op, attr_names::KEEP_DIMS)?;
    }
    if !is_kept {
        return Ok(());
    }
    let rows = program.operand(op, 0).map_or(0, |from| program.type_of(from).shape.rank());
    if rows < 2 {
        return one_row(program, op);
    }
    while let Some(result) = program.result(op, number) {
        give_back(program, op, result)?;
        number = number.saturating_add(1);
    }
    Ok(())
}

/// All of one dimension: a row of a matrix, of which one element is left.
fn one_row(program: &mut Program<'_, '_>, op: Op) -> Edit {
    for number in 0..program.operand_count(op) {
        let Some(row) = program.operand(op, number) else { continue };
        let ty = program.type_of(row);
        let shape = ty.shape.extent(0).and_then(|extent| Shape::of(&[1, extent]));
        let shape = shape.ok_or(ErrorKind::Extent)?;
        let matrix = Type { shape, encoding: TileEncoding::None, ..ty };
        let matrix = made_by(program, op, OpRole::Reshape, &[row], matrix)?;
        program.set_operand(op, number, matrix)?;
    }
    program.set_attr(op, attr_names::AXIS, AttrValue::Int(1, None))
}

/// Makes a result without its dimension, and that with it for all who read it.
fn give_back(program: &mut Program<'_, '_>, op: Op, result: Value) -> Edit {
    let ty = program.type_of(result);
    let axis = program.int_attr(op, attr_names::AXIS).and_then(|axis| usize::try_from(axis).ok());
    let axis = axis.ok_or(ErrorKind::AttrValue)?;
    let mut extents: heapless::Vec<u32, MAX_RANK> = heapless::Vec::new();
    for dimension in (0..ty.shape.rank()).filter(|dimension| *dimension != axis) {
        let extent = ty.shape.extent(dimension).ok_or(ErrorKind::Extent)?;
        extents.push(extent).map_err(|_| ErrorKind::Extent)?;
    }
    let less = Shape::of(&extents).ok_or(ErrorKind::Extent)?;
    program.set_type(result, Type { shape: less, encoding: TileEncoding::None, ..ty })?;
    if !program.is_used(result) {
        return Ok(());
    }
    let next = program.next(op).ok_or(ErrorKind::NoTerminator)?;
    let tables = program.tables();
    let role = if less.rank() == 1 { OpRole::Broadcast } else { OpRole::Reshape };
    let decl = tables.op_of_role(role).ok_or(ErrorKind::UnknownOp)?;
    let made = program.insert_before(next, decl, &[result], &[ty])?;
    let name = program.op_data(op).ok_or(ErrorKind::Stale)?.name;
    program.pools.edit::<OpData>(made.index(), |data| data.name = name)?;
    if role == OpRole::Broadcast {
        let axis = i64::try_from(axis).map_err(|_| ErrorKind::AttrValue)?;
        program.set_attr(made, attr_names::AXIS, AttrValue::Int(axis, None))?;
    }
    let whole = program.result(made, 0).ok_or(ErrorKind::Broken)?;
    program.replace_all_uses(result, whole)?;
    program.set_operand(made, 0, result)
}

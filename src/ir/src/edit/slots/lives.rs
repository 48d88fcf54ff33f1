//! Ends of lives of shared tiles, `ttg.local_dealloc`: nothing touches a tile behind one.

use crate::edit::edit_ops::Edit;
use crate::edit::slots::shared;
use crate::error::ErrorKind;
use crate::handle::{Op, Value};
use crate::program::Program;
use lanebook_tables::{OpLowering, OpRole};

/// Takes an operation away that ends the life of a tile; one behind which something looks at the
/// tile is refused.
pub(super) fn end(program: &mut Program<'_, '_>, op: Op) -> Edit {
    if program.lowering(op) != Some(OpLowering::LocalDealloc) {
        return Ok(());
    }
    if program.attrs(op).next().is_some() {
        return Err(ErrorKind::IdleAttr);
    }
    let tile = program.operand(op, 0).ok_or(ErrorKind::Broken)?;
    let mut behind = program.next(op);
    while let Some(at) = behind {
        if core::iter::once(at).chain(program.inside(at)).any(|at| touches(program, at, tile)) {
            return Err(ErrorKind::BufferForm);
        }
        behind = program.next(at);
    }
    // A later turn would meet it again.
    let is_in_a_loop =
        |at: &Op| program.role(*at) == OpRole::For || program.role(*at) == OpRole::While;
    let home = program.def_op(tile).and_then(|home| program.block_of(home));
    let around = core::iter::successors(Some(op), |at| program.parent(*at));
    let mut inner = around.take_while(|at| program.block_of(*at) != home).skip(1);
    if home.is_none() || program.block_of(op) != home && inner.any(|at| is_in_a_loop(&at)) {
        return Err(ErrorKind::BufferForm);
    }
    program.erase(op)
}

/// Whether an operation has a tile, or a look at a part of it, as an operand.
fn touches(program: &Program<'_, '_>, op: Op, tile: Value) -> bool {
    program.all_operands(op).any(|value| {
        let looks = core::iter::successors(Some(value), |at| {
            let def = program.def_op(*at)?;
            let is_look = matches!(program.role(def), OpRole::View | OpRole::Transpose);
            program.operand(def, 0).filter(|_| is_look && shared(program, *at).is_some())
        });
        // A look leads to what stands in front of it.
        looks.take(16).any(|at| at == tile)
    })
}

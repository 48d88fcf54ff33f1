//! Tiles of tensors that are described by a pointer, extents and strides: through pointers, under a
//! mask of what lies inside.

use crate::edit::edit_ops::Edit;
use crate::edit::moves::places::ElementPlaces;
use crate::edit::moves::{become_of, operands, pointers};
use crate::edit::pointers::in_a_word;
use crate::error::{ErrorKind, IrError, SourcePlace};
use crate::handle::{Op, Value};
use crate::program::Program;
use lanebook_tables::OpLowering;

/// Whether an operation describes a tensor.
fn describes(program: &Program<'_, '_>, op: Op) -> bool {
    program.lowering(op) == Some(OpLowering::TensorDescriptor)
}

/// The pointers of all elements of a tile of a described tensor, and which of them lie in it.
fn reached(program: &mut Program<'_, '_>, op: Op, tile: Value) -> Edit<(Value, Value)> {
    let wrong = ErrorKind::DescriptorForm;
    let tensor = program.operand(op, 0).ok_or(wrong)?;
    let of = program.def_op(tensor).filter(|of| describes(program, *of)).ok_or(wrong)?;
    let shape = program.type_of(tile).shape;
    let rank = program.subscripts(op, 0).count();
    let numbers = program.operand_count(of).checked_sub(1);
    if shape.rank() != rank || numbers != rank.checked_mul(2) {
        return Err(wrong);
    }
    let places = ElementPlaces::new(program, (op, 0), (shape, rank))?;
    let (mut far, mut inside) = (None, None);
    for dim in 0..rank {
        let at = places.along(program, dim)?;
        // Behind the pointer the extents stand, then the strides.
        let number = |program: &Program<'_, '_>, before: usize| {
            program.operand(of, before.saturating_add(dim)).ok_or(ErrorKind::Broken)
        };
        let extent = number(program, 1)?;
        let extent = in_a_word(program, op, extent)?;
        let end = places.spread(program, extent)?;
        inside = Some(places.inside(program, (at, end), inside)?);
        let stride = number(program, rank.saturating_add(1))?;
        let by = if program.int(stride) == Some(1) {
            at
        } else {
            let stride = in_a_word(program, op, stride)?;
            let stride = places.spread(program, stride)?;
            places.computed(program, "mul", &[at, stride])?
        };
        far = Some(match far {
            None => by,
            Some(so_far) => places.computed(program, "add", &[so_far, by])?,
        });
    }
    let (far, inside) = far.zip(inside).ok_or(wrong)?;
    let pointer = program.operand(of, 0).ok_or(ErrorKind::Broken)?;
    Ok((pointers(program, op, (pointer, far))?, inside))
}

/// `%d[%i, %j]`: a load through pointers.
pub(super) fn load(program: &mut Program<'_, '_>, op: Op) -> Edit {
    let tile = program.result(op, 0).ok_or(ErrorKind::Broken)?;
    let (from, inside) = reached(program, op, tile)?;
    become_of(program, op, "tiled_load", &[from, inside])
}

/// `%d[%i, %j], %x`: a store through pointers.
pub(super) fn store(program: &mut Program<'_, '_>, op: Op) -> Edit {
    let all = operands(program, op)?;
    let [_, tile] = all.as_slice() else { return Err(ErrorKind::DescriptorForm) };
    let (to, inside) = reached(program, op, *tile)?;
    become_of(program, op, "tt.store", &[to, *tile, inside])
}

/// Takes descriptions away, of which no tile is left.
///
/// # Errors
/// One that something else has; attributes, which nothing obeys.
#[inline(never)]
pub(crate) fn forget(program: &mut Program<'_, '_>, kernel: Op) -> Result<(), IrError> {
    let mut next = program.inside(kernel).next();
    while let Some(op) = next {
        next = program.following(op, Some(kernel));
        if !describes(program, op) {
            continue;
        }
        if let Some(attr) = program.attrs(op).next() {
            return Err(crate::edit::inline::not_kept(program, attr.key));
        }
        let at = SourcePlace { op: None, ..program.place(op) };
        if program.results(op).any(|value| program.is_used(value)) {
            return Err(IrError { kind: ErrorKind::DescriptorForm, at });
        }
        program.erase(op).map_err(|kind| IrError { kind, at })?;
    }
    Ok(())
}

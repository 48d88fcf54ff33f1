//! Tiles of tensors that are described by a pointer, extents and strides: through pointers, under a
//! mask of what lies inside.

use crate::attr::{AttrValue, Literal};
use crate::attr_names;
use crate::edit::edit_ops::Edit;
use crate::edit::insert::{made_by, word};
use crate::edit::moves::{become_of, named_before, operands, pointers};
use crate::edit::pointers::in_a_word;
use crate::error::{ErrorKind, IrError, SourcePlace};
use crate::handle::{Op, Value};
use crate::program::Program;
use crate::types::{Shape, Type};
use lanebook_tables::{DtypeKind, OpRole};

const DESCRIPTION: &str = "tt.make_tensor_descriptor";

/// A tile of a described tensor.
struct DescriptorTile {
    op: Op,
    /// What describes the tensor.
    of: Op,
    shape: Shape,
    rank: usize,
}

impl DescriptorTile {
    fn new(program: &Program<'_, '_>, op: Op, tile: Value) -> Edit<Self> {
        let wrong = ErrorKind::DescriptorForm;
        let tensor = program.operand(op, 0).ok_or(wrong)?;
        let is_own = |of: &Op| program.decl(*of).is_some_and(|decl| decl.name == DESCRIPTION);
        let of = program.def_op(tensor).filter(is_own).ok_or(wrong)?;
        let shape = program.type_of(tile).shape;
        let rank = program.subscripts(op, 0).count();
        let numbers = program.operand_count(of).checked_sub(1);
        if shape.rank() != rank || numbers != rank.checked_mul(2) {
            return Err(wrong);
        }
        Ok(Self { op, of, shape, rank })
    }

    /// A tile of whole numbers.
    fn words(&self, program: &Program<'_, '_>) -> Edit<Type> {
        Ok(Type::tensor(self.shape, word(program).ok_or(ErrorKind::UnknownDtype)?))
    }

    /// A tile of truths.
    fn truths(&self, program: &Program<'_, '_>) -> Edit<Type> {
        let truth = program.tables().dtype_of(DtypeKind::Bits, 1);
        Ok(Type::tensor(self.shape, truth.ok_or(ErrorKind::UnknownDtype)?))
    }

    /// A number in all elements.
    fn all(&self, program: &mut Program<'_, '_>, number: Value) -> Edit<Value> {
        let ty = self.words(program)?;
        match program.int(number) {
            Some(known) => {
                let known = program.literal_value(Literal::Int(known))?;
                made_by(program, self.op, OpRole::Constant, &[known], ty)
            }
            None => made_by(program, self.op, OpRole::Broadcast, &[number], ty),
        }
    }

    /// The places of the elements along a dimension of the tensor.
    fn places(&self, program: &mut Program<'_, '_>, dim: usize) -> Edit<Value> {
        let ty = self.words(program)?;
        let own = named_before(program, self.op, ("tt.make_range", &[]), ty)?;
        let range = program.def_op(own).ok_or(ErrorKind::Broken)?;
        let axis = i64::try_from(dim).map_err(|_| ErrorKind::AttrValue)?;
        program.set_attr(range, attr_names::AXIS, AttrValue::Int(axis, None))?;
        let start = program.subscripts(self.op, 0).nth(dim).ok_or(ErrorKind::Broken)?;
        if program.int(start) == Some(0) {
            return Ok(own);
        }
        let start = self.all(program, start)?;
        named_before(program, self.op, ("add", &[own, start]), ty)
    }

    /// The pointers of all elements, and which of them lie in the tensor.
    fn reached(&self, program: &mut Program<'_, '_>) -> Edit<(Value, Value)> {
        let (words, truths) = (self.words(program)?, self.truths(program)?);
        let (mut far, mut inside) = (None, None);
        for dim in 0..self.rank {
            let at = self.places(program, dim)?;
            let extent = program.operand(self.of, dim.saturating_add(1));
            let extent = in_a_word(program, self.op, extent.ok_or(ErrorKind::Broken)?)?;
            let end = self.all(program, extent)?;
            // Without signs: what is below zero is beyond every extent.
            let less = named_before(program, self.op, ("compare.ult", &[at, end]), truths)?;
            inside = Some(match inside {
                None => less,
                Some(so_far) => named_before(program, self.op, ("and", &[so_far, less]), truths)?,
            });
            let stride = program.operand(self.of, self.rank.saturating_add(dim).saturating_add(1));
            let stride = stride.ok_or(ErrorKind::Broken)?;
            let by = if program.int(stride) == Some(1) {
                at
            } else {
                let stride = in_a_word(program, self.op, stride)?;
                let stride = self.all(program, stride)?;
                named_before(program, self.op, ("mul", &[at, stride]), words)?
            };
            far = Some(match far {
                None => by,
                Some(so_far) => named_before(program, self.op, ("add", &[so_far, by]), words)?,
            });
        }
        let (far, inside) = far.zip(inside).ok_or(ErrorKind::DescriptorForm)?;
        let pointer = program.operand(self.of, 0).ok_or(ErrorKind::Broken)?;
        Ok((pointers(program, self.op, (pointer, far))?, inside))
    }
}

/// `%d[%i, %j]`: a load through pointers.
pub(super) fn load(program: &mut Program<'_, '_>, op: Op) -> Edit {
    let tile = program.result(op, 0).ok_or(ErrorKind::Broken)?;
    let (from, inside) = DescriptorTile::new(program, op, tile)?.reached(program)?;
    become_of(program, op, "tiled_load", &[from, inside])
}

/// `%d[%i, %j], %x`: a store through pointers.
pub(super) fn store(program: &mut Program<'_, '_>, op: Op) -> Edit {
    let all = operands(program, op)?;
    let [_, tile] = all.as_slice() else { return Err(ErrorKind::DescriptorForm) };
    let (to, inside) = DescriptorTile::new(program, op, *tile)?.reached(program)?;
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
        if program.decl(op).is_none_or(|decl| decl.name != DESCRIPTION) {
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

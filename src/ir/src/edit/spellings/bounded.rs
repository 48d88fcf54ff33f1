//! Masked accesses of a memref with bounds: the bounds become part of the mask.

use crate::attr::{AttrValue, Literal};
use crate::attr_names;
use crate::bounds::MemrefBound;
use crate::edit::edit_ops::Edit;
use crate::edit::insert::{made, made_by, word};
use crate::error::ErrorKind;
use crate::handle::{Op, Value};
use crate::program::Program;
use crate::types::{Shape, Type};
use lanebook_tables::{DtypeId, OpRole};

/// Lets the mask of an access say what its memref's bounds say.
#[inline(never)]
pub(super) fn mask_bounds(program: &mut Program<'_, '_>, op: Op) -> Edit {
    let (Some(mask), Some(number)) = (program.mask(op), program.mask_number(op)) else {
        return Ok(());
    };
    let of = program.accessed_number(op);
    let Some(bounds) = program.bounds_beside_mask(op, of) else { return Ok(()) };
    // Memrefs of pairs have no masks.
    if bounds.iter().any(|bound| matches!(bound, MemrefBound::Half(_))) {
        return Ok(());
    }
    let ty = program.type_of(mask);
    let truths = Type::tensor(ty.shape, ty.dtype.ok_or(ErrorKind::UnknownDtype)?);
    let words = word(program).ok_or(ErrorKind::UnknownDtype)?;
    let mut all = mask;
    for (dim, bound) in bounds.iter().enumerate() {
        let tile = MaskedTile { op, of, shape: truths.shape, words, rank: bounds.len() };
        let Some(end) = tile.end(program, *bound)? else { continue };
        let at = tile.coordinate(program, dim)?;
        // Without signs: what is below zero is beyond every bound.
        let less = program.tables().op_named("compare.ult").ok_or(ErrorKind::UnknownOp)?;
        let inside = made(program, op, less, &[at, end], truths)?;
        let both = program.tables().op_named("and").ok_or(ErrorKind::UnknownOp)?;
        all = made(program, op, both, &[all, inside], truths)?;
    }
    program.set_operand(op, usize::from(number), all)?;
    program.set_attr(op, attr_names::BOUNDED, AttrValue::Unit)
}

/// The elements of an access, each with its place in the memref.
struct MaskedTile {
    op: Op,
    /// Which operand the memref is.
    of: usize,
    shape: Shape,
    words: DtypeId,
    /// Dimensions of the memref: the tile's are its last ones.
    rank: usize,
}

impl MaskedTile {
    fn ty(&self) -> Type {
        Type::tensor(self.shape, self.words)
    }

    /// A tile of one number.
    fn all(&self, program: &mut Program<'_, '_>, number: i64) -> Edit<Value> {
        let number = program.literal_value(Literal::Int(number))?;
        made_by(program, self.op, OpRole::Constant, &[number], self.ty())
    }

    /// A tile of one index.
    fn spread(&self, program: &mut Program<'_, '_>, index: Value) -> Edit<Value> {
        match program.int(index) {
            Some(number) => self.all(program, number),
            None => made_by(program, self.op, OpRole::Broadcast, &[index], self.ty()),
        }
    }

    /// Where elements end along a dimension, of each of them.
    fn end(&self, program: &mut Program<'_, '_>, bound: MemrefBound) -> Edit<Option<Value>> {
        match bound {
            MemrefBound::None => Ok(None),
            MemrefBound::Number(number) => self.all(program, i64::from(number)).map(Some),
            MemrefBound::Argument(value) => self.spread(program, value).map(Some),
            MemrefBound::Half(_) => Err(ErrorKind::Broken),
        }
    }

    /// The places of the elements along a dimension.
    fn coordinate(&self, program: &mut Program<'_, '_>, dim: usize) -> Edit<Value> {
        let start = program.subscripts(self.op, self.of).nth(dim).ok_or(ErrorKind::Broken)?;
        let is_indexed = program.indexed_dim(self.op).is_some_and(|own| usize::from(own) == dim);
        let outer = self.rank.checked_sub(self.shape.rank());
        let further = if is_indexed {
            program.index_tile(self.op)
        } else if let Some(own) = outer.and_then(|outer| dim.checked_sub(outer)) {
            Some(self.count(program, own)?)
        } else {
            None
        };
        let is_zero = program.int(start) == Some(0);
        match further {
            None => self.spread(program, start),
            Some(further) if is_zero => Ok(further),
            Some(further) => {
                let start = self.spread(program, start)?;
                let add = program.tables().op_named("add").ok_or(ErrorKind::UnknownOp)?;
                made(program, self.op, add, &[further, start], self.ty())
            }
        }
    }

    /// The elements' own numbers along a dimension of the tile.
    fn count(&self, program: &mut Program<'_, '_>, dim: usize) -> Edit<Value> {
        let iota = program.tables().op_named("tt.make_range").ok_or(ErrorKind::UnknownOp)?;
        let count = made(program, self.op, iota, &[], self.ty())?;
        let made = program.def_op(count).ok_or(ErrorKind::Broken)?;
        let axis = i64::try_from(dim).map_err(|_| ErrorKind::AttrValue)?;
        program.set_attr(made, attr_names::AXIS, AttrValue::Int(axis, None))?;
        Ok(count)
    }
}

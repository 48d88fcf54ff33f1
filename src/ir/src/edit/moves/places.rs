//! The elements of an access, each with its place in the tensor, and whether it lies inside of it.

use crate::attr::AttrValue;
use crate::attr_names;
use crate::edit::edit_ops::Edit;
use crate::edit::insert::{filled, made_by, made_named, word};
use crate::error::ErrorKind;
use crate::handle::{Op, Value};
use crate::program::Program;
use crate::types::{Shape, Type};
use lanebook_tables::{DtypeKind, OpRole};

/// The elements that an operation moves.
pub(super) struct ElementPlaces {
    op: Op,
    /// Which operand the tensor is: subscripts behind it say where its tile begins.
    of: usize,
    /// Dimensions of the tensor: the tile's are its last ones.
    rank: usize,
    /// A tile of whole numbers, and one of truths.
    words: Type,
    truths: Type,
}

impl ElementPlaces {
    pub(super) fn new(
        program: &Program<'_, '_>,
        (op, of): (Op, usize),
        (shape, rank): (Shape, usize),
    ) -> Edit<Self> {
        let words = word(program).ok_or(ErrorKind::UnknownDtype)?;
        let truth = program.tables().dtype_of(DtypeKind::Bits, 1).ok_or(ErrorKind::UnknownDtype)?;
        let [words, truths] = [words, truth].map(|dtype| Type::tensor(shape, dtype));
        Ok(Self { op, of, rank, words, truths })
    }

    /// A tile of one number.
    pub(super) fn all(&self, program: &mut Program<'_, '_>, number: i64) -> Edit<Value> {
        filled(program, self.op, number, self.words)
    }

    /// A tile of one index, or of one number.
    pub(super) fn spread(&self, program: &mut Program<'_, '_>, index: Value) -> Edit<Value> {
        match program.int(index) {
            Some(number) => self.all(program, number),
            None => made_by(program, self.op, OpRole::Broadcast, &[index], self.words),
        }
    }

    /// What an operation of this name makes of tiles of whole numbers.
    pub(super) fn computed(
        &self,
        program: &mut Program<'_, '_>,
        name: &str,
        of: &[Value],
    ) -> Edit<Value> {
        made_named(program, self.op, name, of, self.words)
    }

    /// The places of the elements along a dimension of the tensor.
    pub(super) fn along(&self, program: &mut Program<'_, '_>, dim: usize) -> Edit<Value> {
        let start = program.subscripts(self.op, self.of).nth(dim).ok_or(ErrorKind::Broken)?;
        let is_indexed = program.indexed_dim(self.op).is_some_and(|own| usize::from(own) == dim);
        let outer = self.rank.checked_sub(self.words.shape.rank());
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
                self.computed(program, "add", &[further, start])
            }
        }
    }

    /// Which places lie in front of an end, of those elements that a mask takes.
    pub(super) fn inside(
        &self,
        program: &mut Program<'_, '_>,
        (at, end): (Value, Value),
        mask: Option<Value>,
    ) -> Edit<Value> {
        // Without signs: what is below zero is beyond every bound.
        let inside = made_named(program, self.op, "compare.ult", &[at, end], self.truths)?;
        match mask {
            Some(mask) => made_named(program, self.op, "and", &[mask, inside], self.truths),
            None => Ok(inside),
        }
    }

    /// The elements' own numbers along a dimension of the tile.
    fn count(&self, program: &mut Program<'_, '_>, dim: usize) -> Edit<Value> {
        let count = self.computed(program, "tt.make_range", &[])?;
        let made = program.def_op(count).ok_or(ErrorKind::Broken)?;
        let axis = i64::try_from(dim).map_err(|_| ErrorKind::AttrValue)?;
        program.set_attr(made, attr_names::AXIS, AttrValue::Int(axis, None))?;
        Ok(count)
    }
}

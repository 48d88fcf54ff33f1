//! Tiles that no instruction computes: one number in all elements, coordinates, the bits of another
//! tile. And masks, which are often made of them: truths that keep loads and stores to some elements.

use crate::attr::AttrValue;
use crate::attr_names;
use crate::handle::{Op, Value};
use crate::program::{Def, Program};
use crate::types::TypeKind;
use heapless::Vec;
use lanebook_tables::{AtomicOp, OpRole};

/// Most values that wait to be looked at.
const WAITING: usize = 16;
/// Most values that are looked at.
const LOOKED_AT: u32 = 64;

/// A tile whose elements are their coordinates along a dimension.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Coordinates {
    /// The dimension.
    pub dim: usize,
    /// What the first element along it is.
    pub start: i32,
}

#[doc(hidden)] // Questions of the floors above.
impl Program<'_, '_> {
    /// Whether an operation's result has the bits of its operand, as another type.
    #[must_use]
    pub fn has_same_bits(&self, op: Op) -> bool {
        self.decl(op).is_some_and(|decl| decl.same_bits)
    }

    /// What every element of an operation's result is: an index, or an argument that is a number.
    #[must_use]
    pub fn repeated_number(&self, op: Op) -> Option<Value> {
        if self.role(op) != OpRole::Broadcast {
            return None;
        }
        let from = self.operand(op, 0)?;
        matches!(self.type_of(from).kind, TypeKind::Index | TypeKind::Scalar).then_some(from)
    }

    /// The coordinates that an operation's result holds; `None` of any other operation.
    #[must_use]
    pub fn coordinates(&self, op: Op) -> Option<Coordinates> {
        let is_made = self.role(op) == OpRole::Index && self.index_word(op).is_none();
        let tile = self.result(op, 0).map(|value| self.type_of(value))?;
        if !is_made || self.operand_count(op) > 0 || !tile.is_tile() {
            return None;
        }
        let number = |key, default: i64| match self.attr(op, key) {
            None => Some(default),
            Some(AttrValue::Int(number, _)) => Some(number),
            Some(_) => None,
        };
        let dim = usize::try_from(number(attr_names::AXIS, 0)?).ok()?;
        let start = i32::try_from(number(attr_names::START, 0)?).ok()?;
        // What it ends before, where that is said too.
        let extent = i64::from(tile.shape.extent(dim)?);
        let end = i64::from(start).checked_add(extent)?;
        let last = end.checked_sub(1)?;
        (i32::try_from(last).is_ok() && number(attr_names::END, end)? == end)
            .then_some(Coordinates { dim, start })
    }
}

#[doc(hidden)] // Questions of the floors above.
impl Program<'_, '_> {
    /// The tile of whole numbers that says where the elements lie that a gather, a scatter or an
    /// atomic operation touches.
    #[must_use]
    pub fn index_tile(&self, op: Op) -> Option<Value> {
        let number = usize::from(self.first_beside(op)?);
        let value = self.operand(op, number).filter(|value| !self.is_truth(*value))?;
        let ty = self.type_of(value);
        (ty.is_tile() && !ty.is_memory()).then_some(value)
    }

    /// Which operand of a load, a store or an atomic operation is in memory.
    #[must_use]
    pub fn accessed_number(&self, op: Op) -> usize {
        usize::from(self.role(op) != OpRole::Load)
    }

    /// Whether an operation writes to a tile in shared memory, or to a tensor.
    #[must_use]
    pub fn writes_to(&self, op: Op, memory: Value) -> bool {
        matches!(self.role(op), OpRole::Copy | OpRole::Store | OpRole::Atomic)
            && self.operand(op, 1) == Some(memory)
    }

    /// Which operand of a movement is the first that says which elements of memory it touches.
    fn first_beside(&self, op: Op) -> Option<u8> {
        match self.role(op) {
            OpRole::Load => Some(1),
            OpRole::Store => Some(2),
            OpRole::Atomic => Some(if self.compares(op) { 3 } else { 2 }),
            _ => None,
        }
    }

    fn compares(&self, op: Op) -> bool {
        self.atomic_op(op).is_some_and(AtomicOp::compares)
    }

    /// The tile that an atomic operation compares elements in memory with, if it compares.
    #[must_use]
    pub fn compared_tile(&self, op: Op) -> Option<Value> {
        let value = self.operand(op, 2).filter(|_| self.compares(op))?;
        let ty = self.type_of(value);
        (ty.is_tile() && !ty.is_memory()).then_some(value)
    }

    /// What an atomic operation answers, if something reads it.
    #[must_use]
    pub fn answer(&self, op: Op) -> Option<Value> {
        let answer = self.result(op, 0).filter(|_| self.role(op) == OpRole::Atomic)?;
        self.uses(answer).next().map(|_| answer)
    }

    /// The dimension of its memref along which an index tile counts, from its subscript on.
    #[must_use]
    pub fn indexed_dim(&self, op: Op) -> Option<u8> {
        let _ = self.index_tile(op)?;
        u8::try_from(self.int_attr(op, attr_names::AXIS).unwrap_or(0)).ok()
    }

    /// Which operand of a movement its mask is, if it has one.
    #[must_use]
    pub fn mask_number(&self, op: Op) -> Option<u8> {
        let number = self.first_beside(op)?;
        let number = number.saturating_add(u8::from(self.index_tile(op).is_some()));
        let mask = self.operand(op, usize::from(number));
        mask.filter(|value| self.is_truth(*value)).map(|_| number)
    }

    /// The tile of truths that says which elements a load or a store touches.
    #[must_use]
    pub fn mask(&self, op: Op) -> Option<Value> {
        self.operand(op, usize::from(self.mask_number(op)?))
    }

    /// What the elements of a load's result are that its mask leaves out; 0 where nothing is said.
    #[must_use]
    pub fn other(&self, op: Op) -> Option<Value> {
        let number = self.mask_number(op).filter(|_| self.role(op) == OpRole::Load)?;
        self.operand(op, usize::from(number).saturating_add(1))
    }

    /// What an atomic operation computes of what stands in memory and what is moved.
    #[must_use]
    pub fn atomic_op(&self, op: Op) -> Option<AtomicOp> {
        if self.role(op) != OpRole::Atomic {
            return None;
        }
        match self.attr(op, attr_names::KIND)? {
            AttrValue::Word(name) | AttrValue::Str(name) | AttrValue::Text(name) => {
                AtomicOp::named(self.text(name))
            }
            _ => None,
        }
    }

    /// The tiles that are distributed as what an operation moves: what it compares with, its
    /// indices, its mask.
    pub fn beside_moved(&self, op: Op) -> impl Iterator<Item = Value> {
        [self.compared_tile(op), self.index_tile(op), self.mask(op)].into_iter().flatten()
    }

    /// Whether a value is a tile of truths.
    #[must_use]
    pub fn is_truth(&self, value: Value) -> bool {
        let ty = self.type_of(value);
        let bits = ty.dtype.and_then(|dtype| self.tables().dtype(dtype)).map(|dtype| dtype.bits);
        ty.is_tile() && !ty.is_memory() && bits == Some(1)
    }

    /// Whether all elements of each row of a tile are certainly the same: it is made of indices,
    /// numbers, and columns that are repeated.
    #[must_use]
    #[inline(never)]
    pub fn is_same_along_rows(&self, value: Value) -> bool {
        let mut waiting: Vec<Value, WAITING> = Vec::new();
        let mut left = LOOKED_AT;
        let mut next = Some(value);
        while let Some(value) = next.take().or_else(|| waiting.pop()) {
            if left == 0 {
                return false;
            }
            left = left.saturating_sub(1);
            if self.constant(value).is_some() {
                continue;
            }
            let Def::Result(op, 0) = self.def(value) else { return false };
            match self.role(op) {
                OpRole::Broadcast if self.repeated_number(op).is_some() => {}
                OpRole::Broadcast if self.repeats_a_column(op) => {}
                OpRole::Index => {
                    let last = self.type_of(value).shape.rank().checked_sub(1);
                    if self.coordinates(op).is_none_or(|made| Some(made.dim) == last) {
                        return false;
                    }
                }
                role if role.is_lanewise() || role == OpRole::Convert => {
                    for operand in self.operands(op) {
                        if waiting.push(operand).is_err() {
                            return false;
                        }
                    }
                }
                _ => return false,
            }
        }
        true
    }

    /// Whether a repetition's result has the same element in all of a row.
    fn repeats_a_column(&self, op: Op) -> bool {
        let (Some(from), Some(to)) = (self.operand(op, 0), self.result(op, 0)) else {
            return false;
        };
        let (from, to) = (self.type_of(from).shape, self.type_of(to).shape);
        match (from.rank(), to.rank()) {
            (1, 2) => match self.int_attr(op, attr_names::AXIS) {
                Some(axis) => axis == 1,
                None => from.extent(0) == to.extent(0) && from.extent(0) != to.extent(1),
            },
            (2, 2) => from.extent(1) == Some(1),
            _ => false,
        }
    }
}

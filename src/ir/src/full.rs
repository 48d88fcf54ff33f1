//! Tiles that no instruction computes: one number in all elements, coordinates, the bits of another
//! tile.

use crate::attr::AttrValue;
use crate::attr_names;
use crate::handle::{Op, Value};
use crate::program::Program;
use crate::types::TypeKind;
use lanebook_tables::OpRole;

/// A tile whose elements are their coordinates along a dimension.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Coordinates {
    /// The dimension.
    pub dim: usize,
    /// What the first element along it is.
    pub start: i32,
}

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

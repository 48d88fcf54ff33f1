//! Where a memref's elements end, as its attribute `bounds` says it: `(%M, 77, _)`, of each
//! dimension an index argument (the `%` may be left out), a whole number, or `_` for no bound. Those
//! of a memref of pairs may count what is half of one: its attribute `halves` says so.

use crate::attr::AttrValue;
use crate::attr_names;
use crate::handle::{Op, Value};
use crate::program::{Def, Program};
use crate::types::{MAX_RANK, TypeKind};
use heapless::Vec;

/// Where elements of a dimension end.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::ir::{MemrefBound, MemrefBounds, Options, SmallStorage, parse};
///
/// let mut storage = Box::new(SmallStorage::new());
/// let text = "func @f(%x: memref<?x64xf32, #gmem> {bounds = (%M, 60)}, %M: index) {threads = 64} {\n}";
/// let program = parse(storage.pools(), &TABLES, text, Options::default()).unwrap();
/// let f = program.function("f").unwrap();
/// let [x, m] = [0, 1].map(|k| program.parameters(f).nth(k).unwrap());
/// let bounds: MemrefBounds = program.bounds(x).unwrap();
/// assert_eq!(bounds.as_slice(), [MemrefBound::Argument(m), MemrefBound::Number(60)]);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum MemrefBound {
    /// All that a tile reaches are there.
    None,
    /// There are so many.
    Number(u32),
    /// There are so many as an index argument says, which is not below zero.
    Argument(Value),
    /// There are half as many as an index argument says, which is even.
    Half(Value),
}

/// Of each dimension, outermost first.
pub type MemrefBounds = Vec<MemrefBound, MAX_RANK>;

impl Program<'_, '_> {
    /// The bounds of a memref; `None` where it has none, or they are malformed.
    #[must_use]
    pub fn bounds(&self, memref: Value) -> Option<MemrefBounds> {
        match self.value_attr(memref, attr_names::BOUNDS)? {
            AttrValue::Layout(text) | AttrValue::Text(text) => {
                let Def::Argument(block, _) = self.def(memref) else { return None };
                self.bounds_of(self.text(text), memref, self.owner_of(block)?)
            }
            _ => None,
        }
    }

    /// Whether an access has a mask, and its memref bounds.
    pub(crate) fn masks_bounds(&self, op: Op) -> bool {
        let memref = self.operand(op, self.accessed_number(op));
        self.mask(op).is_some() && memref.is_some_and(|memref| self.bounds(memref).is_some())
    }

    /// The bounds that an operation looks at beside its mask; `operand`: the memref's number.
    #[doc(hidden)] // A question of the floors above.
    #[must_use]
    pub fn bounds_beside_mask(&self, op: Op, operand: usize) -> Option<MemrefBounds> {
        let memref = self.operand(op, operand)?;
        if self.mask(op).is_some() && self.has_attr(op, attr_names::BOUNDED) {
            return None;
        }
        self.bounds(memref)
    }

    /// Whether a bound of a memref, or a mask, leaves out what a tile has in front of it along a
    /// dimension: there a subscript may be below zero. `operand`: the memref's number.
    #[doc(hidden)] // A question of the floors above.
    #[must_use]
    pub fn leaves_out_below_zero(&self, op: Op, operand: usize, dim: usize) -> bool {
        let bounds = self.operand(op, operand).and_then(|memref| self.bounds(memref));
        let bound = bounds.and_then(|bounds| bounds.get(dim).copied());
        self.mask(op).is_some() || bound.is_some_and(|bound| bound != MemrefBound::None)
    }

    /// The bounds that a text says of a memref among a function's arguments: as many as it has
    /// dimensions, none beyond an extent of its type, and of index arguments that are not signed.
    pub(crate) fn bounds_of(
        &self,
        text: &str,
        memref: Value,
        function: Op,
    ) -> Option<MemrefBounds> {
        let shape = self.type_of(memref).shape;
        let inside = text.trim_ascii().strip_prefix('(')?.strip_suffix(')')?;
        let mut out = MemrefBounds::new();
        let halves = self.value_attr(memref, attr_names::HALVES).is_some();
        for (dim, part) in inside.as_bytes().split(|byte| *byte == b',').enumerate() {
            let halves = halves && dim.checked_add(1) == Some(shape.rank());
            let word = core::str::from_utf8(part.trim_ascii()).ok()?;
            let bound = if word == "_" {
                MemrefBound::None
            } else if word.bytes().next()?.is_ascii_digit() {
                let number: u32 = word.parse().ok().filter(|n| (1..1 << 31).contains(n))?;
                let fits = shape.extent(dim).is_none_or(|extent| {
                    i64::from(number) <= i64::from(extent) << u32::from(halves)
                });
                MemrefBound::Number(fits.then_some(number)?)
            } else {
                let name = word.strip_prefix('%').unwrap_or(word);
                let named = |value: &Value| {
                    self.type_of(*value).kind == TypeKind::Index && self.value_name(*value) == name
                };
                let value = self.parameters(function).find(named)?;
                let is_signed = self.value_attr(value, attr_names::SIGNED).is_some();
                let value = (!is_signed).then_some(value)?;
                MemrefBound::Argument(value)
            };
            let bound = match bound {
                bound if !halves => bound,
                MemrefBound::Number(n) if n % 2 == 0 => MemrefBound::Number(n / 2),
                MemrefBound::Argument(of) if self.index_facts(of).divisor().is_multiple_of(2) => {
                    MemrefBound::Half(of)
                }
                MemrefBound::None => MemrefBound::None,
                _ => return None,
            };
            out.push(bound).ok()?;
        }
        (out.len() == shape.rank()).then_some(out)
    }
}

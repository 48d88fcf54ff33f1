//! Questions about a few operations at once: an index that is a quotient of another, the scales of
//! a product.

use crate::handle::{Op, Value};
use crate::program::Program;
use lanebook_tables::OpRole;

/// The operation that divides indices, as `rules/ops.ron` names it.
const DIVIDES: &str = "index.div";

/// An index that is another one divided by a number and rounded down.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Quotient {
    /// What is divided.
    pub of: Value,
    /// By what; at least 1.
    pub by: u32,
}

impl Program<'_, '_> {
    /// An index as the quotient of one that is none itself; an index that is not computed is
    /// divided by 1. `None` where something else computes it.
    #[must_use]
    pub fn quotient(&self, value: Value) -> Option<Quotient> {
        let Some(op) = self.def_op(value).filter(|op| self.role(*op) == OpRole::Index) else {
            return Some(Quotient { of: value, by: 1 });
        };
        if self.op_name(op) != DIVIDES {
            return None;
        }
        let (of, by) = (self.operand(op, 0)?, self.int(self.operand(op, 1)?)?);
        let by = u32::try_from(by).ok().filter(|by| *by > 0)?;
        let plain = self.def_op(of).is_none_or(|def| self.role(def) != OpRole::Index);
        plain.then_some(Quotient { of, by })
    }

    /// How much a quotient grows when what it divides grows by `step`; `None` if that depends on
    /// where it starts.
    #[must_use]
    pub fn quotient_step(&self, quotient: Quotient, step: Value) -> Option<u32> {
        let step = u32::try_from(self.int(step)?).ok()?;
        (step.checked_rem(quotient.by) == Some(0)).then(|| step.checked_div(quotient.by))?
    }

    /// The block scales of a product: of A over (m, blocks), of B over (n, blocks).
    #[must_use]
    pub fn scales(&self, op: Op) -> Option<[Value; 2]> {
        if self.role(op) != OpRole::Matrix {
            return None;
        }
        Some([self.operand(op, 3)?, self.operand(op, 4)?])
    }

    /// How many neighbours along a product's depth have one scale.
    #[must_use]
    pub fn scaled_run(&self, op: Op) -> Option<u32> {
        let [scales, _] = self.scales(op)?;
        let depth = self.type_of(self.operand(op, 0)?).shape.extent(1)?;
        let blocks = self.type_of(scales).shape.extent(1)?;
        (depth.checked_rem(blocks) == Some(0)).then(|| depth.checked_div(blocks))?
    }
}

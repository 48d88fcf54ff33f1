//! What all movements cost together, each shared tile and each movement at its best.

use crate::data::PlanError;
use crate::select::planner::{CopyEnd, CopyOp, Planner};
use lanebook_ir::Op;

impl Planner<'_, '_, '_, '_> {
    /// Weighted cost of all movements whose ends are known, with each shared tile at its best;
    /// `None` if it is `limit` or more whatever becomes of elements that [`Planner::free_from`]
    /// speaks of.
    pub(crate) fn total(&mut self, limit: u32) -> Result<Option<u32>, PlanError> {
        // `firm`: the part that counts against the limit.
        let (mut sum, mut firm) = (0u32, 0u32);
        // What is still to come costs so much at the least.
        let mut rest = if limit < u32::MAX {
            self.movements.iter().fold(0u32, |sum, m| sum.saturating_add(self.least_of(m)))
        } else {
            0
        };
        if limit < u32::MAX {
            rest = rest.saturating_add(self.reduction_cost());
            if rest >= limit {
                return Ok(None);
            }
        }
        for index in 0..self.plan.allocs.len() {
            let is_firm = self
                .movements
                .iter()
                .filter(|m| touches_shared(m) == Some(index))
                .all(|m| self.is_firm(m));
            let left = if is_firm && limit < u32::MAX {
                let own = self
                    .movements
                    .iter()
                    .filter(|m| touches_shared(m) == Some(index))
                    .fold(0u32, |sum, m| sum.saturating_add(self.least_of(m)));
                rest = rest.saturating_sub(own);
                limit.saturating_sub(firm).saturating_sub(rest)
            } else {
                u32::MAX
            };
            let Some(cost) = self.tile_cost(index, left)? else { return Ok(None) };
            sum = sum.saturating_add(cost);
            firm = firm.saturating_add(if is_firm { cost } else { 0 });
        }
        for k in 0..self.movements.len() {
            let Some(&movement) = self.movements.get(k) else { continue };
            if touches_shared(&movement).is_some() || !self.is_known(&movement) {
                continue;
            }
            let is_firm = self.is_firm(&movement);
            let left = if is_firm && limit < u32::MAX {
                rest = rest.saturating_sub(self.least_of(&movement));
                limit.saturating_sub(firm).saturating_sub(rest)
            } else {
                u32::MAX
            };
            let cap = self.share_of(left, &movement);
            let Some(best) = self.best_way(k, &movement, None, cap, None)? else {
                return Ok(None);
            };
            let cost = self.weigh(&movement, best.found.figures.cost);
            sum = sum.saturating_add(cost);
            firm = firm.saturating_add(if is_firm { cost } else { 0 });
        }
        Ok(Some(sum.saturating_add(self.shaping_cost())))
    }

    /// What all executions of a known movement cost at the least, whatever its shared layout;
    /// nothing, if more may become of its registers.
    fn least_of(&self, movement: &CopyOp) -> u32 {
        if !self.is_known(movement) || !self.is_firm(movement) {
            return 0;
        }
        let bound = self.bound(movement);
        let each = match touches_shared(movement).is_some() && !self.may_be_tiled(movement) {
            true => bound.at(self.family.widest, self.target.tables.weights.instruction),
            false => bound.base,
        };
        self.weigh(movement, each)
    }

    /// Whether a movement's register end stays as it is if elements that become narrower take a
    /// register each.
    fn is_firm(&self, movement: &CopyOp) -> bool {
        [movement.from, movement.to].iter().all(|end| match end {
            CopyEnd::Registers(v) => self
                .plan
                .fragment_of(*v)
                .is_none_or(|(k, f)| usize::from(k) < self.free_from || f.shape.bits >= 32),
            _ => true,
        })
    }

    /// What one execution of a movement may cost for all of them to stay at or below `left`, and
    /// one more.
    pub(crate) fn share_of(&self, left: u32, movement: &CopyOp) -> u32 {
        if left == u32::MAX {
            return left;
        }
        left.checked_div(self.weigh(movement, 1)).map_or(u32::MAX, |c| c.saturating_add(1))
    }

    /// A cost times the executions of an operation.
    pub(crate) fn weigh_at(&self, op: Op, cost: u32) -> u32 {
        self.target.tables.weights.inside_loops(cost, self.program.loops_around(op))
    }

    pub(crate) fn weigh(&self, movement: &CopyOp, cost: u32) -> u32 {
        self.target.tables.weights.inside_loops(cost, movement.depth.into())
    }

    /// Whether the register end of a movement, if it has one, is decided.
    pub(crate) fn is_known(&self, movement: &CopyOp) -> bool {
        !self.is_absorbed(movement.op)
            && [movement.from, movement.to].iter().all(|end| match end {
                CopyEnd::Registers(v) => self.plan.fragment_of(*v).is_some(),
                _ => true,
            })
    }
}

/// The shared tile of a movement.
pub(crate) fn touches_shared(movement: &CopyOp) -> Option<usize> {
    [movement.from, movement.to]
        .iter()
        .find_map(|end| if let CopyEnd::Shared(k) = end { Some(usize::from(*k)) } else { None })
}

/// The largest power of two that divides a number.
pub(crate) fn power(n: u32) -> u32 {
    1u32.checked_shl(n.trailing_zeros()).unwrap_or(1 << 30)
}

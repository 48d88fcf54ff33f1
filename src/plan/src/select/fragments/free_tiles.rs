//! Tiles that no product fixes: the width of what a lane holds of them.

use crate::data::{Candidate, FragmentPlan, PlanError, RejectedCandidate};
use crate::select::fragments::explicit_layouts::text;
use crate::select::fragments::flow::{Crossed, across, spread};
use crate::select::memory::total_cost::touches_shared;
use crate::select::planner::{CopyEnd, Planner};
use lanebook_ir::{Op, Value};
use lanebook_tables::OpRole;
use lanebook_tile::map::{Fragment, log2_exact};
use lanebook_tile::matrix::blocked;
use lanebook_tile::shaping::tile_shape;
use lanebook_tile::tiling::Reject;

impl Planner<'_, '_, '_, '_> {
    /// Decides what lies behind conversions: whatever nothing else decides is as on their other
    /// side.
    pub(crate) fn cross_conversions(&mut self, which: Crossed) -> Result<(), PlanError> {
        while let Some((value, fragment)) =
            across(self.program, self.function, which, &self.unread, self.plan.fragments)
        {
            spread(
                self.program,
                value,
                (fragment, fragment.unpacked),
                None,
                &self.unread,
                (self.waiting, self.plan.fragments),
            )?;
        }
        Ok(())
    }

    /// Register tiles that no product fixes: the width that makes all their movements cheapest.
    pub(crate) fn choose_free_tiles(&mut self) -> Result<(), PlanError> {
        // Stores first: what leaves the group wants to leave in wide pieces; then loads whose
        // result nothing stored. Lines last: one that a reduction leaves is as the tile was, which
        // would else be as suits the line.
        for (lines, stores) in [(false, true), (false, false), (true, true), (true, false)] {
            for k in 0..self.movements.len() {
                let Some(&movement) = self.movements.get(k) else { continue };
                let value = match (stores, movement.from, movement.to) {
                    (true, CopyEnd::Registers(v), _) | (false, _, CopyEnd::Registers(v)) => v,
                    _ => continue,
                };
                if self.is_line(value) == lines
                    && self.plan.fragment_of(value).is_none()
                    && !self.is_absorbed(movement.op)
                {
                    self.choose_free_tile(movement.op, value)?;
                }
            }
        }
        // What a reduction wants may be the other side of a conversion that was put in for it.
        self.choose_reduced()?;
        self.cross_conversions(Crossed::Inserted)?;
        self.choose_reduced()?;
        self.choose_repeated()?;
        self.cross_conversions(Crossed::Written)
    }

    /// Whether a tile is one row or one column.
    fn is_line(&self, value: Value) -> bool {
        tile_shape(self.program, value).is_some_and(|s| s.row_count() == 1 || s.col_count() == 1)
    }

    pub(crate) fn choose_free_tile(&mut self, op: Op, value: Value) -> Result<(), PlanError> {
        let shape = self.shape_of(op, value)?;
        let (mark, most) = (self.plan.fragments.len(), self.target.isa.tile_most());
        (self.settled, self.free_from) = ((mark, self.units.len()), usize::MAX);
        let mut best: Option<(FragmentPlan, Candidate, u32)> = None;
        let mut why = PlanError::Undecided(op);
        let narrowest =
            32u16.checked_div(shape.bits).map_or(0, |n| log2_exact(u64::from(n)).unwrap_or(0));
        // Last as the other side of a conversion is: then there is none, or one inside each lane.
        let beside = self.beside_conversion(value).filter(|fragment| fragment.shape == shape);
        let own = [false, true].map(|alone| {
            let fragment = beside.map(|f| if alone { f.with_place_each() } else { f })?;
            (!alone || Some(fragment) != beside).then_some((Candidate::Beside(alone), fragment))
        });
        // The last resort, where elements lie alone in memory: each in a register of its own.
        let packed = (narrowest..=shape.cols.min(7)).rev().map(|vector| (vector, false));
        let (wave, warps) = (self.target.wave, self.target.warps);
        let widths = packed.chain((narrowest > 0).then_some((0, true)));
        let blocked = widths.filter_map(|(vector, unpacked)| {
            let fragment = blocked(shape, vector, wave, warps, true)?;
            Some((Candidate::Blocked(vector), Fragment { unpacked, ..fragment }))
        });
        for (what, fragment) in blocked.chain(own.into_iter().flatten()) {
            let is_own = matches!(what, Candidate::Beside(_));
            if !is_own && fragment.unpacked && best.is_some() {
                continue;
            }
            // In shared memory, as much more as a pass weighs among ways to convert.
            let pass = if is_own { self.pass_beside(op) } else { 0 };
            let beside = |f: &Fragment| u32::from(f.registers()).saturating_mul(pass);
            let more = best.map_or(0, |(best, ..)| beside(&best.fragment));
            let own = beside(&fragment);
            let registers = fragment.registers();
            if registers > most {
                why = if is_own { why } else { PlanError::Registers { op, registers, most } };
                self.plan.lose(RejectedCandidate {
                    op,
                    what,
                    why: Reject::Registers { registers, most },
                    cost: 0,
                });
                continue;
            }
            let limit = best
                .filter(|_| self.plan.rejected.capacity() == 0)
                .map_or(u32::MAX, |(_, _, least)| least.saturating_add(more).saturating_sub(own));
            let cost = spread(
                self.program,
                value,
                (fragment, fragment.unpacked),
                None,
                &self.unread,
                (self.waiting, self.plan.fragments),
            )
            .and_then(|()| self.cross_conversions(Crossed::Own))
            .and_then(|()| self.total(limit));
            self.plan.fragments.truncate(mark);
            match (cost.map(|cost| cost.unwrap_or(limit)), best) {
                (Ok(cost), Some((_, _, least)))
                    if least.saturating_add(more) <= cost.saturating_add(own) =>
                {
                    self.plan.lose(RejectedCandidate { op, what, why: Reject::Dearer, cost })
                }
                (Ok(cost), old) => {
                    if let Some((_, what, cost)) = old {
                        let why = Reject::Dearer;
                        self.plan.lose(RejectedCandidate { op, what, why, cost });
                    }
                    best = Some((FragmentPlan { value, fragment }, what, cost));
                    self.keep_layouts(true);
                }
                (Err(e), _) => {
                    why = if is_own { why } else { e };
                    let why =
                        if let PlanError::NoCopyAtom { why, .. } = e { why } else { Reject::Form };
                    self.plan.lose(RejectedCandidate { op, what, why, cost: 0 });
                }
            }
        }
        let (chosen, _, _) = best.ok_or(why)?;
        spread(
            self.program,
            value,
            (chosen.fragment, chosen.fragment.unpacked),
            None,
            &self.unread,
            (self.waiting, self.plan.fragments),
        )?;
        self.cross_conversions(Crossed::Own)
    }

    /// How much more a pass over the banks weighs among ways to convert than in the movement of an
    /// operation, if that touches shared memory.
    fn pass_beside(&self, op: Op) -> u32 {
        let mut movements = self.movements.iter().filter(|movement| movement.op == op);
        let is_shared = movements.any(|movement| touches_shared(movement).is_some());
        if is_shared { self.target.tables.weights.exchange_pass } else { 0 }
    }

    /// The distribution that the program writes of the other side of a conversion that makes a tile, or
    /// of the first one that reads it. Of others nobody knows yet how they are distributed best.
    fn beside_conversion(&self, value: Value) -> Option<Fragment> {
        let program = self.program;
        let is_conversion = |op: &Op| program.role(*op) == OpRole::Convert;
        let made = program.def_op(value).filter(is_conversion);
        let users = program.uses(value).filter_map(|place| program.user(place));
        let other = match made {
            Some(op) => program.operand(op, 0),
            None => users.filter(is_conversion).find_map(|op| {
                program.result(op, 0).filter(|made| self.plan.fragment_of(*made).is_some())
            }),
        };
        let other = other.filter(|other| text(program, *other).is_some())?;
        self.plan.fragment_of(other).map(|(_, fragment)| *fragment)
    }
}

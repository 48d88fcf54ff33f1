//! Loops of stages: which of their steps are left out in times that copy nothing, or read nothing,
//! and which buffer an access is to.

use crate::order::walks::{OrderContext, narrow};
use crate::stages::{StagedTile, ahead_of, staged_tile};
use crate::violation::Violation;
use lanebook_emit::step::{Inst, InstKind, Slot};
use lanebook_ir::Op;
use lanebook_plan::End;
use lanebook_tables::{OpRole, Space};

/// Steps of a loop of stages that a branch leaves out.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// The loop.
    pub around: Op,
    /// Those of its copies; else of all the rest.
    pub copies: bool,
    /// The first one.
    pub first: u16,
    /// The label behind the last one.
    pub end: u16,
}

/// An access to a tile of several buffers.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct StagedAccess {
    /// The loop.
    pub around: Op,
    /// Buffers.
    pub stages: u8,
    /// How many turns ago the tile was copied that is touched.
    pub lag: u8,
}

impl StagedAccess {
    /// Whether a later access, so many times through the loop behind this one, is to the same
    /// buffer.
    pub(crate) fn meets(&self, later: &Self, times: u8) -> bool {
        let stages = u32::from(self.stages).max(1);
        let apart = u32::from(times)
            .wrapping_add(u32::from(self.lag))
            .wrapping_add(stages)
            .wrapping_sub(u32::from(later.lag));
        apart.checked_rem(stages) == Some(0)
    }
}

/// The step of a branch's label, among some steps.
fn label_among(steps: &[Inst], branch: &Inst) -> Option<u16> {
    let label = branch.args.iter().find(|a| matches!(a, Slot::Label(_)))?;
    let own = |s: &Inst| s.purpose == InstKind::Label && s.args.first() == Some(label);
    u16::try_from(steps.iter().position(own)?).ok()
}

impl OrderContext<'_> {
    fn operation(&self, step: &Inst) -> Option<Op> {
        Op::at(usize::from(step.origin)).filter(|op| op.index() == usize::from(step.origin))
    }

    /// The loop that a step's copy runs ahead of.
    pub(crate) fn copies_ahead(&self, step: &Inst) -> Option<Op> {
        if step.purpose == InstKind::Label {
            return None;
        }
        ahead_of(self.program, self.operation(step)?)
    }

    /// The access of a step to a tile of several buffers, or to the objects of a ring.
    pub(crate) fn staged_access(&self, at: usize, step: &Inst) -> Option<StagedAccess> {
        if let Some((_, access)) = self.ring_access(at, step) {
            return Some(access);
        }
        let tile = |end: End| match end {
            End::Shared(k) => self.plan.allocs.get(usize::from(k)).map(|a| a.value),
            _ => None,
        };
        let own = |m: &&lanebook_plan::TransferPlan| {
            m.op.index() == usize::from(step.origin) && m.is_by(step.atom)
        };
        if let Some(m) = self.plan.transfers.iter().find(own) {
            let staged =
                staged_tile(self.program, self.plan, tile(m.to).or_else(|| tile(m.from))?)?;
            let StagedTile { around, copy, stages } = staged;
            // What other warps copy is ordered without regard to which buffer it is in.
            if self.is_apart(around) {
                return None;
            }
            let lag = if copy == m.op { 0 } else { stages.saturating_sub(1) };
            return Some(StagedAccess { around, stages, lag });
        }
        if let Some(staged) = self.staged_elements(step) {
            let StagedTile { around, stages, .. } = staged;
            return Some(StagedAccess { around, stages, lag: stages.saturating_sub(1) });
        }
        // All operands of a product that reads them by itself are of its own turn.
        let own = |p: &&lanebook_plan::ProductPlan| {
            p.op.index() == usize::from(step.origin) && p.product.atom == step.atom
        };
        let product = self.plan.products.iter().find(own)?;
        let read = product.shared.iter().flatten();
        let staged = read.into_iter().find_map(|given| {
            staged_tile(self.program, self.plan, tile(End::Shared(given.alloc))?)
        })?;
        let StagedTile { around, stages, .. } = staged;
        if self.is_apart(around) {
            return None;
        }
        Some(StagedAccess { around, stages, lag: stages.saturating_sub(1) })
    }

    /// The tile of several buffers of which a step loads elements, in a function of parallel loops:
    /// all that stands behind its copy reads what that has brought for the same turn.
    fn staged_elements(&self, step: &Inst) -> Option<StagedTile> {
        let movement = self.tables.atom(step.atom).and_then(|atom| atom.movement.as_ref())?;
        if movement.from.space != Space::Shared || self.of_loops.is_none() {
            return None;
        }
        let op = self.operation(step)?;
        let operands = match self.program.role(op) {
            OpRole::ProductInto => 0..2,
            OpRole::ElementLoad | OpRole::Copy => 0..1,
            _ => return None,
        };
        let tile = |k: usize| Some(self.program.storage_of(self.program.operand(op, k)?));
        operands.filter_map(tile).find_map(|tile| staged_tile(self.program, self.plan, tile))
    }

    /// The step of a branch's label.
    fn label_of(&self, branch: &Inst) -> Option<u16> {
        label_among(self.steps, branch)
    }

    /// The label that a loop's turns begin with, and the branch back to it.
    pub(crate) fn turns_of(&self, around: Op) -> Option<(u16, u16)> {
        self.turns_among(self.steps, around)
    }

    /// The same among some steps, by their places there.
    pub(crate) fn turns_among(&self, steps: &[Inst], around: Op) -> Option<(u16, u16)> {
        (0u16..).zip(steps).find_map(|(at, step)| {
            let branches = step.purpose != InstKind::Label
                && step.atom == self.isa.branch_if
                && usize::from(step.origin) == around.index();
            let label = label_among(steps, step).filter(|label| branches && *label < at)?;
            Some((label, at))
        })
    }

    /// What a loop of stages leaves out by the branch at a step.
    pub(crate) fn left_out(&self, at: u16) -> Option<LeftOut> {
        let step = self.steps.get(usize::from(at))?;
        if step.purpose == InstKind::Label || step.atom != self.isa.branch_if {
            return None;
        }
        let around = self
            .operation(step)
            .filter(|op| self.program.role(*op) == OpRole::For && self.program.stages(*op) > 1)?;
        let end = self.label_of(step).filter(|end| *end > at)?;
        let first = at.saturating_add(1);
        let mut inside = self.steps.get(usize::from(first)..usize::from(end))?.iter();
        let copies = inside.any(|s| self.copies_ahead(s) == Some(around));
        Some(LeftOut { around, copies, first, end })
    }

    /// Every step of a loop of stages is where its turns leave it out.
    #[inline(never)]
    pub(crate) fn stages(&self) -> Result<(), Violation> {
        let loops = self
            .program
            .all()
            .filter(|op| self.program.role(*op) == OpRole::For && self.program.stages(*op) > 1);
        for around in loops {
            let (first, last) = self.turns_of(around).ok_or(Violation::Missing(around))?;
            if self.is_apart(around) {
                // Its copies are other warps' steps; nothing of a turn is left out.
                let copies =
                    |s: &Inst| s.purpose == InstKind::Move && self.copies_ahead(s) == Some(around);
                if let Some(at) = self.steps.iter().position(copies) {
                    return Err(Violation::Flow { step: narrow(at) });
                }
                continue;
            }
            for (at, step) in (0u16..).zip(self.steps) {
                let Some(op) = self.operation(step).filter(|_| step.purpose != InstKind::Label)
                else {
                    continue;
                };
                let ahead = ahead_of(self.program, op) == Some(around);
                let turns = (first..=last).contains(&at);
                let is_move = step.purpose == InstKind::Move;
                if !turns {
                    if ahead && is_move {
                        return Err(Violation::Flow { step: at });
                    }
                    continue;
                }
                let inner = self.program.inside(around).any(|inner| inner == op);
                if !inner {
                    continue;
                }
                let within = |l: &LeftOut| l.around == around && (l.first..l.end).contains(&at);
                let by = (first..at).filter_map(|k| self.left_out(k)).find(within);
                if by.is_none_or(|by| by.copies != ahead) {
                    return Err(Violation::Flow { step: at });
                }
            }
        }
        Ok(())
    }
}

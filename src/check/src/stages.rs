//! Stages: which copies run ahead of their loop's turns, by the text alone, and which of a loop's
//! steps are left out in the turns that nothing is copied in, or nothing read.
//!
//! A loop of `n` stages is gone through `n - 1` times more than it has turns. In time `j` (from 0)
//! copies bring the tiles of turn `j`, as far as there is one, into buffer `j mod n`; all else in
//! the body belongs to turn `j - (n - 1)`, as far as there is one.

use crate::order::walks::OrderContext;
use crate::violation::Violation;
use lanebook_emit::step::{Purpose, Slot, Step};
use lanebook_ir::{Op, Program, Value};
use lanebook_plan::{End, Plan};
use lanebook_tables::{OpRole, Space};

/// The copy that fills a tile turns ahead.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct StagedTile {
    /// The loop.
    pub around: Op,
    /// The copy.
    pub copy: Op,
    /// Buffers.
    pub stages: u8,
}

/// The loop that a copy runs ahead of.
pub(crate) fn ahead_of(program: &Program<'_, '_>, copy: Op) -> Option<Op> {
    let space = |k: usize| program.operand(copy, k).and_then(|v| program.type_of(v).space);
    let loads = program.role(copy) == OpRole::Copy
        && space(0) == Some(Space::Global)
        && space(1) == Some(Space::Shared);
    program.parent(copy).filter(|around| {
        loads && program.role(*around) == OpRole::For && program.stages(*around) > 1
    })
}

/// The copy that fills a tile turns ahead.
pub(crate) fn staged_tile(program: &Program<'_, '_>, tile: Value) -> Option<StagedTile> {
    let mut users = program.uses(tile).filter_map(|place| program.user(place));
    users.find_map(|copy| {
        let around = ahead_of(program, copy).filter(|_| program.operand(copy, 1) == Some(tile))?;
        Some(StagedTile { around, copy, stages: program.stages(around) })
    })
}

/// Statement 2a for one tile.
pub(crate) fn buffers(
    program: &Program<'_, '_>,
    plan: &Plan<'_>,
    number: usize,
) -> Result<(), Violation> {
    let alloc = u16::try_from(number).unwrap_or(u16::MAX);
    let Some(tile) = plan.allocs.get(number) else { return Ok(()) };
    let staged = staged_tile(program, tile.value);
    let want = staged.map_or(1, |staged| staged.stages);
    let wrong = Violation::Buffers { alloc, want, found: tile.stages };
    let whole = tile.stage_bytes().checked_mul(u32::from(tile.stages)) == Some(tile.bytes);
    let aligned = tile.stages == 1 || tile.stage_bytes().checked_rem(tile.align) == Some(0);
    if tile.stages != want || !whole || !aligned {
        return Err(wrong);
    }
    let Some(StagedTile { around, copy, .. }) = staged else { return Ok(()) };
    // Nothing else writes it, and loads behind the copy read it, in the same turn.
    let is = |end: End| end == End::Shared(alloc);
    let is_behind = |op: Op| {
        core::iter::successors(program.next(copy), |at| program.next(*at)).any(|at| at == op)
    };
    let read_alone = plan.transfers.iter().all(|m| {
        (!is(m.to) || m.op == copy)
            && (!is(m.from) || program.role(m.op) == OpRole::Load && is_behind(m.op))
    });
    let by_units = plan.products.iter().any(|p| {
        let copied = p.copied.into_iter().flatten().map(|copy| copy.given);
        p.shared.into_iter().flatten().chain(copied).any(|given| given.alloc == alloc)
    });
    let exchanged = plan.exchanges.iter().any(|e| e.alloc == alloc);
    // What the loop writes is not read before.
    let tensor = program.operand(copy, 0);
    let overtaken = program.inside(around).any(|op| {
        matches!(program.role(op), OpRole::Copy | OpRole::Store) && program.operand(op, 1) == tensor
    });
    if !read_alone || by_units || exchanged || overtaken {
        return Err(wrong);
    }
    // It lives through its loop: nobody else touches its bytes there.
    for (other, b) in plan.allocs.iter().enumerate().filter(|(other, _)| *other != number) {
        let shares =
            crate::memory::alloc::shares_bytes((tile.offset, tile.bytes), (b.offset, b.bytes));
        let is = |end: End| matches!(end, End::Shared(k) if usize::from(k) == other);
        let touches = |op: Op| {
            plan.transfers.iter().any(|m| m.op == op && (is(m.from) || is(m.to)))
                || plan.exchanges.iter().any(|e| e.op == op && usize::from(e.alloc) == other)
        };
        if shares && program.inside(around).any(touches) {
            return Err(Violation::Overlap {
                alloc,
                other: u16::try_from(other).unwrap_or(u16::MAX),
                byte: tile.offset.max(b.offset),
            });
        }
    }
    Ok(())
}

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

impl OrderContext<'_> {
    fn operation(&self, step: &Step) -> Option<Op> {
        Op::at(usize::from(step.origin)).filter(|op| op.index() == usize::from(step.origin))
    }

    /// The loop that a step's copy runs ahead of.
    pub(crate) fn copies_ahead(&self, step: &Step) -> Option<Op> {
        if step.purpose == Purpose::Label {
            return None;
        }
        ahead_of(self.program, self.operation(step)?)
    }

    /// The access of a step to a tile of several buffers.
    pub(crate) fn staged_access(&self, step: &Step) -> Option<StagedAccess> {
        let own = |m: &&lanebook_plan::TransferPlan| {
            m.op.index() == usize::from(step.origin)
                && (m.atom == step.atom || m.second == Some(step.atom))
        };
        let m = self.plan.transfers.iter().find(own)?;
        let tile = |end: End| match end {
            End::Shared(k) => self.plan.allocs.get(usize::from(k)).map(|a| a.value),
            _ => None,
        };
        let tile = tile(m.to).or_else(|| tile(m.from))?;
        let StagedTile { around, copy, stages } = staged_tile(self.program, tile)?;
        let lag = if copy == m.op { 0 } else { stages.saturating_sub(1) };
        Some(StagedAccess { around, stages, lag })
    }

    /// The step of a branch's label.
    fn label_of(&self, branch: &Step) -> Option<u16> {
        let label = branch.args.iter().find(|a| matches!(a, Slot::Label(_)))?;
        let own = |s: &Step| s.purpose == Purpose::Label && s.args.first() == Some(label);
        u16::try_from(self.steps.iter().position(own)?).ok()
    }

    /// The label that a loop's turns begin with, and the branch back to it.
    pub(crate) fn turns_of(&self, around: Op) -> Option<(u16, u16)> {
        (0u16..).zip(self.steps).find_map(|(at, step)| {
            let branches = step.purpose != Purpose::Label
                && step.atom == self.isa.branch_if
                && usize::from(step.origin) == around.index();
            let label = self.label_of(step).filter(|label| branches && *label < at)?;
            Some((label, at))
        })
    }

    /// What a loop of stages leaves out by the branch at a step.
    pub(crate) fn left_out(&self, at: u16) -> Option<LeftOut> {
        let step = self.steps.get(usize::from(at))?;
        if step.purpose == Purpose::Label || step.atom != self.isa.branch_if {
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
            for (at, step) in (0u16..).zip(self.steps) {
                let Some(op) = self.operation(step).filter(|_| step.purpose != Purpose::Label)
                else {
                    continue;
                };
                let ahead = ahead_of(self.program, op) == Some(around);
                let turns = (first..=last).contains(&at);
                let is_move = step.purpose == Purpose::Move;
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

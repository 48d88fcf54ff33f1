//! Goals: what has to be shown, each once.

use crate::contents::storage::{ContentsPool, ContentsScratch};
use crate::contents::through::BitRange;
use crate::contents::{Content, ContentsContext, ContentsSummary};
use crate::violation::Violation;
use lanebook_ir::{Op, Value};

/// What bits are said to be.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Bits of a tile, counted from the first bit of a lane's registers.
    Tile(Value),
    /// The same of a product's sum, with so many of its terms along the depth.
    Sum(Op, u16),
    /// The same of a reduction's result, between lanes that differ in these bits.
    Lanes(Op, u8),
    /// The same, of so many places of the lane's own.
    Places(Op, u16),
    /// The same, of what so many lines of its exchange hold.
    Lines(Op, u16),
    /// What an instance of a copy's first atom brought.
    Staged(Op, u16),
    /// Bits of what a conversion stores, counted as a tile's.
    Packed(Op),
}

/// Something to be shown.
#[derive(Copy, Clone, Debug)]
pub(super) struct Goal {
    pub bits: BitRange,
    pub what: What,
    /// The first bit of what it is.
    pub at: u32,
    /// The step that wants it.
    pub sink: u16,
}

impl Goal {
    fn same(&self, other: &Self) -> bool {
        (self.bits, self.what, self.at) == (other.bits, other.what, other.at)
    }

    fn hash(&self) -> usize {
        let content = match self.bits.content {
            Content::Nothing => 0,
            Content::Inst(step, register) => 1 << 24 | u32::from(step) << 8 | u32::from(register),
            Content::Loop(number, register) => {
                2 << 24 | u32::from(number) << 16 | u32::from(register)
            }
        };
        let (kind, of, more) = match self.what {
            What::Tile(v) => (1u32, v.index(), 0u32),
            What::Sum(op, n) => (2, op.index(), u32::from(n)),
            What::Lanes(op, n) => (3, op.index(), u32::from(n)),
            What::Places(op, n) => (4, op.index(), u32::from(n)),
            What::Lines(op, n) => (5, op.index(), u32::from(n)),
            What::Staged(op, n) => (6, op.index(), u32::from(n)),
            What::Packed(op) => (7, op.index(), 0),
        };
        let of = u32::try_from(of).unwrap_or(0);
        let mut out = 0u32;
        for part in [content, u32::from(self.bits.bit), kind << 28 | of << 12 | more, self.at] {
            out = (out ^ part).wrapping_mul(0x9e37_79b1);
            out ^= out >> 15;
        }
        out as usize
    }
}

/// No goal.
const FREE: u16 = u16::MAX;

impl ContentsScratch<'_> {
    /// Adds a goal, unless it is there.
    pub(super) fn want(&mut self, goal: Goal) -> Result<(), Violation> {
        let capacity = u32::try_from(self.goals.capacity()).unwrap_or(u32::MAX);
        let full = Violation::Room { pool: ContentsPool::Goals, capacity };
        let many = self.places.len();
        let mut at = goal.hash().checked_rem(many).ok_or(full)?;
        for _ in 0..many {
            let place = self.places.get_mut(at).ok_or(full)?;
            if *place == FREE {
                *place = u16::try_from(self.goals.len()).map_err(|_| full)?;
                return self.goals.push(goal).map_err(|_| full);
            }
            if self.goals.get(usize::from(*place)).is_some_and(|g| g.same(&goal)) {
                return Ok(());
            }
            at = at.saturating_add(1);
            if at >= many {
                at = 0;
            }
        }
        Err(full)
    }

    /// Makes room for goals.
    pub(super) fn begin(&mut self) {
        let capacity = self.places.capacity();
        let _ = self.places.resize(capacity, FREE);
    }
}

/// What shows goals.
pub(super) struct Prover<'a, 's, 'r> {
    pub look: &'a ContentsContext<'a>,
    pub scratch: &'r mut ContentsScratch<'s>,
    pub unfollowed: u32,
    /// The goal that is being shown.
    pub sink: u16,
}

/// Shows all goals.
#[inline(never)]
pub(super) fn show(
    look: &ContentsContext<'_>,
    scratch: &mut ContentsScratch<'_>,
    out: &mut ContentsSummary,
) -> Result<(), Violation> {
    let mut prover = Prover { look, scratch, unfollowed: 0, sink: 0 };
    let mut next = 0usize;
    while let Some(&goal) = prover.scratch.goals.get(next) {
        next = next.saturating_add(1);
        prover.sink = goal.sink;
        if !prover.holds(goal)? {
            let bits = prover.scratch.through(look, goal.bits);
            let writer = if let Content::Inst(step, _) = bits.content { step } else { u16::MAX };
            let value = if let What::Tile(value) = goal.what { Some(value) } else { None };
            return Err(Violation::Content { step: goal.sink, writer, value, at: goal.at });
        }
    }
    out.goals = u32::try_from(next).unwrap_or(u32::MAX);
    out.unfollowed = out.unfollowed.saturating_add(prover.unfollowed);
    Ok(())
}

impl Prover<'_, '_, '_> {
    /// Adds a goal for the sink of the one that is being shown.
    pub(super) fn want(&mut self, bits: BitRange, what: What, at: u32) -> Result<(), Violation> {
        self.scratch.want(Goal { bits, what, at, sink: self.sink })
    }

    /// Whether a goal holds, if those hold that this adds.
    #[inline(never)]
    fn holds(&mut self, goal: Goal) -> Result<bool, Violation> {
        let bits = self.scratch.through(self.look, goal.bits);
        match goal.what {
            What::Tile(value) => self.tile(bits, value, goal.at),
            What::Sum(op, many) => self.sum(bits, op, many, goal.at),
            What::Lanes(op, lanes) => self.lanes(bits, op, lanes, goal.at),
            What::Places(op, many) => self.places(bits, op, many, goal.at),
            What::Lines(op, many) => self.lines(bits, op, many, goal.at),
            What::Staged(op, instance) => Ok(self.staged(bits, op, instance, goal.at)),
            What::Packed(op) => self.packed(bits, op, goal.at),
        }
    }
}

//! Rings of mbarriers: the copies that a loop of stages starts in one time through it
//! complete on one object together, those of the next time on the next object, and each time waits
//! for what was started `stages - 1` times before.
//!
//! In time `j` the copies' part is carried out if there is a turn `j`, the rest if there is a turn
//! `j - (stages - 1)`: so each announcement that stands once in the one part has its wait in the
//! other, so many times later, and none is open before the loop or behind it. That addresses and
//! parities are those of the objects in their order is shown where the steps are carried out.

use crate::order::mbarrier::number;
use crate::order::stages::{LeftOut, StagedAccess};
use crate::order::walks::{OrderContext, narrow, overlap};
use crate::stages::{ahead_of, stages_of};
use crate::violation::{ObjectFault, Violation};
use lanebook_emit::step::{Inst, InstKind, Slot};
use lanebook_ir::Op;
use lanebook_tables::{Mbarrier, OpRole, Role, TiledMove};

/// The objects of a loop of stages.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct ObjectRing {
    /// The loop.
    pub around: Op,
    /// The first object.
    pub first: u8,
    /// How many there are.
    pub count: u8,
}

impl ObjectRing {
    /// Whether an object is one of them.
    pub(crate) fn has(&self, object: u32) -> bool {
        let first = u32::from(self.first);
        (first..first.saturating_add(u32::from(self.count))).contains(&object)
    }
}

pub(crate) fn fault(
    at: usize,
    ring: &ObjectRing,
    what: ObjectFault,
    found: u32,
    want: u32,
) -> Violation {
    Violation::Completion { step: narrow(at), object: ring.first, what, found, want }
}

impl OrderContext<'_> {
    /// The objects that the copies of a loop complete on.
    pub(crate) fn ring(&self, around: Op) -> Option<ObjectRing> {
        let own = self.plan.transfers.iter().filter(|m| self.is_ahead_in(m.op, around));
        let first = own.into_iter().find_map(|m| m.tiled?.completion)?;
        Some(ObjectRing { around, first, count: stages_of(self.program, self.plan, around) })
    }

    pub(crate) fn is_ahead_in(&self, copy: Op, around: Op) -> bool {
        ahead_of(self.program, copy) == Some(around)
    }

    fn loops_of_stages(&self) -> impl Iterator<Item = Op> + '_ {
        let program = self.program;
        program.all().filter(move |op| program.role(*op) == OpRole::For && program.stages(*op) > 1)
    }

    /// The ring that an object is of.
    pub(crate) fn ring_with(&self, object: u32) -> Option<ObjectRing> {
        let rings = || self.loops_of_stages().filter_map(|op| self.ring(op));
        let freed = rings().filter(|ring| self.is_apart(ring.around)).map(|ring| self.freed(&ring));
        rings().chain(freed).find(|ring| ring.has(object))
    }

    /// The part of a loop's steps that begins the copies of a later turn, or the one that does the
    /// rest.
    fn part(&self, around: Op, copies: bool) -> Option<LeftOut> {
        let (first, last) = self.turns_of(around)?;
        let mut parts = (first..last).filter_map(|at| self.left_out(at));
        parts.find(|part| part.around == around && part.copies == copies)
    }

    /// The branch that leaves out a loop's turns where there is none yet.
    pub(crate) fn branch_of_rest(&self, around: Op) -> Option<u16> {
        self.part(around, false)?.first.checked_sub(1)
    }

    /// Steps from a part's first one on, up to where others may come to or branch off.
    fn straight(&self, part: &LeftOut) -> impl Iterator<Item = (u16, &Inst)> + '_ {
        let (first, end) = (part.first, part.end);
        let isa = self.isa;
        let branches = move |s: &Inst| s.atom == isa.branch || s.atom == isa.branch_if;
        (0u16..)
            .zip(self.steps)
            .take(usize::from(end))
            .skip(usize::from(first))
            .take_while(move |(_, s)| s.purpose != InstKind::Label && !branches(s))
    }

    /// The step in which a loop's times wait for their copies.
    fn ring_wait(&self, table: &Mbarrier<'_>, around: Op) -> Option<u16> {
        let part = self.part(around, false)?;
        let own = |s: &Inst| s.atom == table.wait && usize::from(s.origin) == around.index();
        self.straight(&part).find(|(_, s)| own(s)).map(|(at, _)| at)
    }

    /// The ring that a step announces to, copies with, or waits for.
    pub(crate) fn ring_of(&self, at: usize, step: &Inst) -> Option<ObjectRing> {
        let table = self.object().filter(|_| step.purpose != InstKind::Label)?;
        let signals = |form: &TiledMove<'_>| form.atom == step.atom && form.signal.is_some();
        if step.atom == table.expect || self.tables.units.tiled_moves.iter().any(signals) {
            return self.ring(self.copies_ahead(step)?);
        }
        if let Some(around) = self.frees(step) {
            return self.ring(around).map(|ring| self.freed(&ring));
        }
        let around = Op::at(usize::from(step.origin)).filter(|_| step.atom == table.wait)?;
        let own = self.loops_of_stages().find(|op| *op == around)?;
        let ring = self.ring(own)?;
        if self.is_apart(around) {
            // Readers wait for what is filled, the others for what is free.
            return Some(if at < self.readers { ring } else { self.freed(&ring) });
        }
        (self.ring_wait(table, own).map(usize::from) == Some(at)).then_some(ring)
    }

    /// A step's access to the objects of a ring, as one tile of so many buffers.
    pub(crate) fn ring_access(&self, at: usize, step: &Inst) -> Option<(ObjectRing, StagedAccess)> {
        let ring = self.ring_of(at, step)?;
        let table = self.object().filter(|t| step.atom == t.wait || step.atom == t.expect)?;
        let lag = if step.atom == table.wait { ring.count.saturating_sub(1) } else { 0 };
        Some((ring, StagedAccess { around: ring.around, stages: ring.count, lag }))
    }

    /// The loop whose times wait for a copy by a ring, and its stages.
    pub(crate) fn waited_in_ring(&self, at: usize, step: &Inst) -> Option<ObjectRing> {
        let table = self.object()?;
        let copies = step.atom != table.wait && step.atom != table.expect;
        self.ring_of(at, step).filter(|_| copies)
    }

    /// Statement 17a.
    #[inline(never)]
    pub(crate) fn rings(&self, table: &Mbarrier<'_>) -> Result<(), Violation> {
        for ring in self.loops_of_stages().filter_map(|op| self.ring(op)) {
            self.numbers(&ring)?;
            if self.is_apart(ring.around) {
                self.hands_over(table, &ring)?;
                continue;
            }
            let copies = self.part(ring.around, true).ok_or(Violation::Missing(ring.around))?;
            let (at, expected) = self.announcement(table, &ring, &copies)?;
            let pointer = expected.args.get(1).copied().unwrap_or_default();
            let mut started = 0u32;
            let mut is_kept = true;
            let mut straight = 0usize;
            for (k, step) in self.straight(&copies) {
                straight = straight.saturating_add(1);
                if let Some((slot, bytes)) = self.signals(usize::from(k), step)? {
                    if slot != pointer || usize::from(k) < at || !is_kept {
                        return Err(fault(at, &ring, ObjectFault::Announced, 0, 1));
                    }
                    started = started.saturating_add(bytes);
                }
                is_kept &= usize::from(k) <= at || !self.writes(step, pointer);
            }
            if straight != usize::from(copies.end.saturating_sub(copies.first)) {
                return Err(Violation::Flow { step: copies.first });
            }
            let found = number(expected.args.get(2).copied().unwrap_or_default());
            if found != Some(started) {
                return Err(fault(at, &ring, ObjectFault::Bytes, found.unwrap_or(0), started));
            }
            if self.ring_wait(table, ring.around).is_none() {
                return Err(fault(at, &ring, ObjectFault::Waited, 0, 1));
            }
        }
        Ok(())
    }

    /// All copies of the loop have the ring's number, and nobody else has one of its objects.
    fn numbers(&self, ring: &ObjectRing) -> Result<(), Violation> {
        let freed = self.freed(ring);
        let is_apart = self.is_apart(ring.around);
        let end = if is_apart { freed.first } else { ring.first }.saturating_add(ring.count);
        let last = end.saturating_sub(1);
        if last >= self.plan.mbarriers || ring.count < 2 {
            let (found, want) = (u32::from(self.plan.mbarriers), u32::from(last));
            return Err(fault(self.steps.len(), ring, ObjectFault::Made, found, want));
        }
        let has = |n: u8| ring.has(n.into()) || is_apart && freed.has(n.into());
        let tensor = self.plan.tensor_completion().is_some_and(has);
        let others = |m: &lanebook_plan::TransferPlan| {
            let number = m.tiled.and_then(|t| t.completion);
            let own = self.is_ahead_in(m.op, ring.around);
            number.is_some_and(|n| if own { n != ring.first } else { has(n) })
        };
        let meets = |other: &ObjectRing| {
            let freed = self.is_apart(other.around) && self.freed(other).has(ring.first.into());
            other.has(ring.first.into()) || has(other.first) || freed
        };
        let mut rings = self.loops_of_stages().filter_map(|op| self.ring(op));
        let apart = rings.all(|other| other.around == ring.around || !meets(&other));
        if tensor || !apart || self.plan.transfers.iter().any(others) {
            return Err(fault(self.steps.len(), ring, ObjectFault::Announced, 2, 1));
        }
        Ok(())
    }

    /// The only step that announces to a ring: by one thread, in the copies' part.
    fn announcement(
        &self,
        table: &Mbarrier<'_>,
        ring: &ObjectRing,
        copies: &LeftOut,
    ) -> Result<(usize, &Inst), Violation> {
        let own = |(at, s): &(usize, &Inst)| {
            s.purpose != InstKind::Label
                && s.atom == table.expect
                && self.ring_of(*at, s).is_some_and(|of| of == *ring)
        };
        let mut all = self.steps.iter().enumerate().filter(own);
        let missing = fault(self.steps.len(), ring, ObjectFault::Announced, 0, 1);
        let (at, step) = all.next().ok_or(missing)?;
        let inside = (usize::from(copies.first)..usize::from(copies.end)).contains(&at);
        let one = self.by_one(step.args.first().copied().unwrap_or_default());
        match all.next() {
            Some((again, _)) => Err(fault(again, ring, ObjectFault::Announced, 2, 1)),
            None if inside && one => Ok((at, step)),
            None => Err(fault(at, ring, ObjectFault::Announced, 0, 1)),
        }
    }

    /// Whether a step writes what an operand of another one names.
    pub(crate) fn writes(&self, step: &Inst, slot: Slot) -> bool {
        let Some(atom) = self.tables.atom(step.atom).filter(|_| step.purpose != InstKind::Label)
        else {
            return false;
        };
        let is_def = |role: Role| matches!(role, Role::Def | Role::UseDef);
        let written = atom.operands.iter().zip(&step.args).filter(|(o, _)| is_def(o.role));
        written.into_iter().any(|(_, arg)| overlap(Some(slot), *arg))
    }
}

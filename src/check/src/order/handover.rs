//! Buffers that warps hand over to each other: those that copy wait until a buffer is free, those
//! that read wait until it is filled, and every thread that reads arrives when it has read.
//!
//! Each of the two goes through all turns of the loop by itself. The wait of the readers stands for
//! the copies' writes, their arrival for what all threads of other loops meet at: so what stands
//! between two accesses is looked for in the readers' steps alone.

use crate::order::accesses::whole;
use crate::order::place::{AccessPlace, SharedAccess};
use crate::order::ring::{ObjectRing, fault};
use crate::order::stages::LeftOut;
use crate::order::walks::{OrderContext, narrow};
use crate::parting::specialization;
use crate::stages::staged_tile;
use crate::violation::{ObjectFault, Violation};
use lanebook_emit::step::{Inst, InstKind, Slot};
use lanebook_ir::Op;
use lanebook_plan::AllocPlan;
use lanebook_tables::{AccessId, AtomId, Mbarrier, OpRole, SyncStep, TiledMove};

impl OrderContext<'_> {
    /// Whether other warps start the copies of a loop.
    pub(crate) fn is_apart(&self, around: Op) -> bool {
        self.branch.is_some() && self.program.is_warp_specialized(around)
    }

    /// The objects that readers arrive at, behind those that copies complete on.
    pub(crate) fn freed(&self, ring: &ObjectRing) -> ObjectRing {
        ObjectRing { first: ring.first.saturating_add(ring.count), ..*ring }
    }

    /// The atom by which a thread arrives, and the one that readers meet at.
    fn handing(&self) -> Option<(AtomId, AtomId, u8)> {
        let fact = specialization(self.tables, self.arch, self.plan)?;
        Some((fact.arrive, fact.barrier, fact.number))
    }

    /// The loop whose buffer a thread says it has read.
    pub(crate) fn frees(&self, step: &Inst) -> Option<Op> {
        let (arrive, ..) = self.handing()?;
        let around = Op::at(usize::from(step.origin))?;
        let own = step.purpose != InstKind::Label && step.atom == arrive && self.is_apart(around);
        own.then_some(around)
    }

    /// Whether a step makes all readers meet, as a barrier of a rule makes all threads.
    pub(crate) fn meets_readers(&self, step: &Inst, want: &SyncStep<'_>) -> bool {
        let Some((_, barrier, number)) = self.handing().filter(|_| want.barrier) else {
            return false;
        };
        let threads = i32::try_from(self.plan.threads).unwrap_or(i32::MAX);
        step.purpose != InstKind::Label
            && step.atom == barrier
            && step.args.first() == Some(&Slot::Int(number.into()))
            && step.args.get(1) == Some(&Slot::Int(threads))
    }

    /// The tiles that copies of other warps fill in a loop, as what the readers' wait writes.
    fn handed_over(&self, around: Op) -> impl Iterator<Item = (&AllocPlan, AccessId)> {
        let filled = move |a: &AllocPlan| {
            let tile = staged_tile(self.program, self.plan, a.value)
                .filter(|tile| tile.around == around)?;
            let m = self.plan.transfers.iter().find(|m| m.op == tile.copy)?;
            let form = self.tables.units.tiled_moves.get(usize::from(m.tiled?.form))?;
            Some(form.to)
        };
        self.plan.allocs.iter().filter_map(move |a| Some((a, filled(a)?)))
    }

    /// The loop of other warps' copies that a place is a buffer of.
    pub(crate) fn handed_with(&self, place: AccessPlace) -> Option<Op> {
        let of = |a: &&AllocPlan| AccessPlace::of(a) == place;
        let tile = self.plan.allocs.iter().find(of)?;
        let around = staged_tile(self.program, self.plan, tile.value)?.around;
        self.is_apart(around).then_some(around)
    }

    /// What a wait of the readers for filled buffers writes; nothing for other steps.
    pub(super) fn filled(
        &self,
        at: usize,
        step: &Inst,
    ) -> Result<Option<[Option<SharedAccess>; 4]>, Violation> {
        let waits =
            |table: &Mbarrier<'_>| step.purpose != InstKind::Label && step.atom == table.wait;
        if !self.object().is_some_and(waits) {
            return Ok(None);
        }
        let ring = self.ring_of(at, step).filter(|ring| self.is_apart(ring.around));
        let Some(ring) = ring else { return Ok(None) };
        let mut out = [None; 4];
        let mut places = out.iter_mut();
        for (tile, kind) in self.handed_over(ring.around) {
            let place = places.next().ok_or(Violation::Flow { step: narrow(at) })?;
            *place = Some(whole(tile, kind, true, None));
        }
        Ok(Some(out))
    }

    /// Whether a wait of the readers stands for copies.
    pub(super) fn stands_for_copies(&self, at: usize, step: &Inst) -> bool {
        self.filled(at, step).is_ok_and(|filled| filled.is_some())
    }

    /// The part of a loop's steps whose copies other warps start: theirs, or the readers'.
    pub(crate) fn handed_part(&self, around: Op, copies: bool) -> Option<LeftOut> {
        let steps = if copies { self.copying } else { self.steps };
        let (first, last) = self.turns_among(steps, around)?;
        let labels = (0u16..).zip(steps).take(usize::from(last));
        let (check, _) = labels.filter(|(_, s)| s.purpose == InstKind::Label).last()?;
        (check > first).then_some(LeftOut {
            around,
            copies,
            first: first.saturating_add(1),
            end: check,
        })
    }

    /// Statement 17b for one loop.
    #[inline(never)]
    pub(crate) fn hands_over(
        &self,
        table: &Mbarrier<'_>,
        ring: &ObjectRing,
    ) -> Result<(), Violation> {
        let around = ring.around;
        let missing = Violation::Missing(around);
        let (arrive, ..) = self.handing().ok_or(missing)?;
        let of = |s: &Inst, atom: AtomId| {
            s.purpose != InstKind::Label
                && s.atom == atom
                && usize::from(s.origin) == around.index()
        };
        // The readers wait once, first of all, and arrive once, last of all.
        let part = self.handed_part(around, false).ok_or(missing)?;
        let places = |atom: AtomId, steps: &[Inst]| -> Option<u16> {
            let mut own = (0u16..).zip(steps).filter(|(_, s)| of(s, atom)).map(|(at, _)| at);
            own.next().filter(|_| own.next().is_none())
        };
        let none = fault(self.steps.len(), ring, ObjectFault::Waited, 0, 1);
        let wait = places(table.wait, self.steps).ok_or(none)?;
        let told = places(arrive, self.steps).ok_or(none)?;
        let is_plain = |s: &Inst| {
            let branches = s.atom == self.isa.branch || s.atom == self.isa.branch_if;
            s.purpose != InstKind::Label && !branches
        };
        let plain = |from: u16, to: u16| {
            let run = self.steps.get(usize::from(from)..usize::from(to));
            run.is_some_and(|run| run.iter().all(is_plain))
        };
        if !plain(part.first, wait.saturating_add(1)) || !plain(told, part.end) || told <= wait {
            return Err(none);
        }
        for (at, step) in self.steps.iter().enumerate() {
            let inside = (wait.into()..told.into()).contains(&at);
            let touches = self.accesses(at, step)?.into_iter().flatten();
            let mut touches = touches.filter(|a| self.handed_with(a.place) == Some(around));
            if !inside && touches.next().is_some() {
                return Err(Violation::Flow { step: narrow(at) });
            }
        }
        // Those that copy wait for a buffer, announce to its object, and copy, all in a row.
        let copies = self.handed_part(around, true).ok_or(missing)?;
        let base = self.steps.len();
        let signals = |s: &Inst| {
            let form = |form: &&TiledMove<'_>| form.atom == s.atom && form.signal.is_some();
            s.purpose != InstKind::Label && self.tables.units.tiled_moves.iter().any(|f| form(&f))
        };
        let turn = copies.first..copies.end;
        let straight = self.copying.get(usize::from(turn.start)..usize::from(turn.end));
        if !straight.is_some_and(|run| run.iter().all(is_plain)) {
            return Err(Violation::Flow { step: narrow(base) });
        }
        let waited = places(table.wait, self.copying);
        let waited = waited.filter(|at| turn.contains(at)).ok_or(none)?;
        let (mut announced, mut pointer, mut started, mut kept) = (None, Slot::None, 0u32, true);
        for (at, step) in (0u16..).zip(self.copying) {
            let own = self.copies_ahead(step) == Some(around);
            if step.purpose != InstKind::Label && step.atom == table.expect && own {
                let one = self.one_copies(step.args.first().copied().unwrap_or_default());
                if announced.is_some() || !one || at < waited || !turn.contains(&at) {
                    return Err(fault(base, ring, ObjectFault::Announced, 2, 1));
                }
                announced = step.args.get(2).copied();
                pointer = step.args.get(1).copied().unwrap_or_default();
                kept = true;
            } else if signals(step) && own {
                let told = self.signals(base, step)?;
                let (slot, bytes) = told.ok_or(fault(base, ring, ObjectFault::Announced, 0, 1))?;
                if announced.is_none() || slot != pointer || !kept || !turn.contains(&at) {
                    return Err(fault(base, ring, ObjectFault::Announced, 0, 1));
                }
                started = started.saturating_add(bytes);
            } else if step.purpose == InstKind::Move && !signals(step) {
                return Err(Violation::Flow { step: narrow(base) });
            }
            kept &= !self.writes(step, pointer);
        }
        let found = announced.and_then(crate::order::mbarrier::number);
        if found != Some(started) {
            return Err(fault(base, ring, ObjectFault::Bytes, found.unwrap_or(0), started));
        }
        self.is_read_alone(around)
    }

    /// Nothing of the kernel writes a tensor that other warps copy from.
    fn is_read_alone(&self, around: Op) -> Result<(), Violation> {
        let program = self.program;
        let Some(body) = program.body(around) else { return Err(Violation::Missing(around)) };
        for copy in program.ops(body).filter(|op| self.is_ahead_in(*op, around)) {
            let tensor = program.operand(copy, 0);
            let writes = |op: Op| {
                matches!(program.role(op), OpRole::Copy | OpRole::Store | OpRole::Atomic)
                    && program.operand(op, 1) == tensor
            };
            if program.all().any(writes) {
                return Err(Violation::Missing(copy));
            }
        }
        Ok(())
    }

    /// Whether a predicate holds in the first of the threads that copy, of their first warp: it is
    /// compared with the next one's number.
    pub(crate) fn one_copies(&self, predicate: Slot) -> bool {
        let next = i32::try_from(self.plan.threads.saturating_add(1)).unwrap_or(0);
        let writes = |s: &&Inst| {
            s.purpose != InstKind::Label
                && s.args.contains(&predicate)
                && s.atom == self.isa.compare_less
        };
        let mut found = self.copying.iter().filter(writes);
        let one = found.next().is_some_and(|s| s.args.contains(&Slot::Int(next)));
        one && found.next().is_none() && matches!(predicate, Slot::Reg { .. })
    }
}

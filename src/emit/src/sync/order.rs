//! Synchronisation: which steps must stand between accesses to shared memory, and to global tensors
//! that a kernel reads and writes, from the architecture's table.
//!
//! The walk keeps the accesses that nothing has ordered yet. An access that conflicts with one of
//! them (bytes in common, one of the two writes) brings the table's steps for that pair of kinds,
//! each step once, barriers last. A loop is walked with what its own end leaves open added to what
//! stands open before it.

use crate::pool::EmitPool;
use crate::step::{InstError, InstStorage, Missing, Slot, int};
use crate::sync::access::{MemAccess, TouchedMemory};
use core::num::NonZeroU8;
use lanebook_tables::{AccessId, Arch, AtomId, SyncRule, SyncStep, Tables};

/// On which side of the barriers a step has to stand.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum BarrierSide {
    /// On either: its rule has no barrier.
    Free,
    /// Its rule has one after it, or it is one.
    Before,
    /// Its rule has one before it.
    Behind,
}

/// What has to stand before an operation.
#[derive(Copy, Clone, Debug)]
pub enum RequiredSync<'t> {
    /// An instruction.
    Step(SyncStep<'t>, BarrierSide),
    /// The wait for an mbarrier's phase.
    Wait(u8),
}

/// What has to stand before an operation: barriers behind all that need not stand behind them.
pub type WantedSteps<'t> = heapless::Vec<RequiredSync<'t>, STEPS>;

/// Most accesses that are kept one by one: what is open beside them is taken together.
pub(crate) const OPEN: usize = 64;
/// Most different steps between two operations.
const STEPS: usize = 8;
/// Most pairs of kinds that one operation orders.
const SETTLED: usize = 16;

/// Kinds of accesses, by their numbers: as many as a word has bits.
pub(crate) type AccessKinds = u32;
/// Loops around, by their depth.
type Depths = u8;

/// Among the depths of an entry: it stands like this here; else only behind one of the loops.
const HERE: Depths = 1 << 7;

/// The number of an mbarrier. None takes no room beside it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct ObjectNumber(NonZeroU8);

impl ObjectNumber {
    const fn of(number: u8) -> Option<Self> {
        match NonZeroU8::new(number.wrapping_add(1)) {
            Some(above) => Some(Self(above)),
            None => None,
        }
    }

    const fn number(self) -> u8 {
        self.0.get().wrapping_sub(1)
    }
}

/// An access that later ones may have to be ordered after. Flat, because there are many of them.
#[derive(Copy, Clone, Debug)]
struct PendingAccess {
    memory: TouchedMemory,
    from: u32,
    to: u32,
    /// The kinds of later accesses that something orders after it.
    behind: AccessKinds,
    dealt: u16,
    kind: AccessId,
    writes: bool,
    completion: Option<ObjectNumber>,
    /// Loops around that may run no turn, and before which it stood like this: behind such a loop
    /// it still may. And whether it does here.
    around: Depths,
}

impl PendingAccess {
    fn new(touched: MemAccess, behind: AccessKinds) -> Self {
        let MemAccess { memory, from, to, dealt, kind, writes, completion } = touched;
        let completion = completion.and_then(ObjectNumber::of);
        Self { memory, from, to, behind, dealt, kind, writes, completion, around: HERE }
    }

    fn touched(&self) -> MemAccess {
        let Self { memory, from, to, dealt, kind, writes, completion, .. } = *self;
        let completion = completion.map(ObjectNumber::number);
        MemAccess { memory, from, to, dealt, kind, writes, completion }
    }

    fn is_here(&self) -> bool {
        self.around & HERE != 0
    }
}

/// Where mbarriers are, and how threads touch them: all wait, one announces.
#[derive(Copy, Clone, Debug)]
pub struct Mbarriers {
    /// The first object's bytes in shared memory.
    pub from: u32,
    /// Bytes of an object.
    pub bytes: u32,
    /// How many there are: what lies behind them is none.
    pub count: u8,
    /// What a wait is.
    pub waits: AccessId,
    /// What an announcement is.
    pub announces: AccessId,
}

impl Mbarriers {
    fn touched(&self, number: u8, kind: AccessId, writes: bool) -> MemAccess {
        let from = self.from.saturating_add(self.bytes.saturating_mul(u32::from(number)));
        MemAccess {
            memory: TouchedMemory::Shared,
            from,
            to: from.saturating_add(self.bytes),
            dealt: 0,
            kind,
            writes,
            completion: None,
        }
    }

    /// The announcement to an object. Its next phase may begin when every thread has waited for the
    /// one before: a thread that is two phases behind takes one for the other.
    #[must_use]
    pub fn announcement(&self, number: u8) -> MemAccess {
        self.touched(number, self.announces, true)
    }

    /// Whether an access is an announcement: every wait is ordered after it by the object itself.
    fn is_announcement(&self, touched: &MemAccess) -> bool {
        touched.writes
            && touched.memory == TouchedMemory::Shared
            && touched.kind == self.announces
            && touched.from >= self.from
            && touched.from < self.from.saturating_add(self.all())
    }

    fn all(&self) -> u32 {
        self.bytes.saturating_mul(u32::from(self.count))
    }
}

/// Accesses that later ones may have to be ordered after.
#[derive(Clone, Debug)]
pub struct PendingAccesses {
    list: heapless::Vec<PendingAccess, OPEN>,
    objects: Option<Mbarriers>,
}

impl PendingAccesses {
    /// Nothing yet.
    #[must_use]
    pub fn new(objects: Option<Mbarriers>) -> Self {
        Self { list: heapless::Vec::new(), objects }
    }

    fn here(&self) -> impl Iterator<Item = &PendingAccess> + '_ {
        self.list.iter().filter(|e| e.is_here())
    }

    /// An access is open, whatever has stood behind one like it.
    pub(crate) fn reopen(&mut self, touched: MemAccess) -> Result<(), InstError> {
        self.add(touched, 0)
    }

    /// Adds what `other` has open.
    pub fn join(&mut self, other: &Self) -> Result<(), InstError> {
        for e in other.here() {
            self.add(e.touched(), e.behind)?;
        }
        Ok(())
    }

    /// Whether anything is open that `other` has not.
    #[must_use]
    pub fn is_superset(&self, other: &Self) -> bool {
        self.here().any(|e| {
            !other.here().any(|o| o.touched().covers(&e.touched()) && o.behind & !e.behind == 0)
        })
    }

    /// Before a loop that may run no turn: what is open stays so behind it.
    pub fn enter(&mut self, depth: u32) {
        let bit = Depths::checked_shl(1, depth).unwrap_or(0) & !HERE;
        self.list.iter_mut().filter(|e| e.is_here()).for_each(|e| e.around |= bit);
    }

    /// Behind such a loop: it has run its turns, or none.
    pub fn leave(&mut self, depth: u32) {
        let bit = Depths::checked_shl(1, depth).unwrap_or(0) & !HERE;
        let mut at = 0;
        while let Some(&e) = self.list.get(at) {
            let wakes = !e.is_here() && e.around & bit != 0;
            let woken =
                PendingAccess { around: (e.around & !bit) | if wakes { HERE } else { 0 }, ..e };
            // Of two that are alike one is enough, with what orders both.
            let twin =
                self.list.iter().position(|o| wakes && o.is_here() && o.touched() == e.touched());
            if let Some(twin) = twin.and_then(|twin| self.list.get_mut(twin)) {
                twin.behind &= woken.behind;
                twin.around |= woken.around;
                let _ = self.list.remove(at);
                continue;
            }
            if let Some(slot) = self.list.get_mut(at) {
                *slot = woken;
            }
            at = at.saturating_add(1);
        }
    }

    fn add(&mut self, touched: MemAccess, behind: AccessKinds) -> Result<(), InstError> {
        if let Some(e) = self.list.iter_mut().find(|e| e.is_here() && e.touched() == touched) {
            e.behind &= behind;
            return Ok(());
        }
        let Err(new) = self.list.push(PendingAccess::new(touched, behind)) else { return Ok(()) };
        self.merge(new)
    }

    /// Where there is no room for one more, it and the nearest that is like it are one from here on, to
    /// what lies between them as well: that can only bring more steps.
    #[inline(never)]
    fn merge(&mut self, new: PendingAccess) -> Result<(), InstError> {
        let touched = new.touched();
        let wide = |e: &&mut PendingAccess| {
            let hull = e.touched().hull(touched);
            hull.to.saturating_sub(hull.from).saturating_sub(e.to.saturating_sub(e.from))
        };
        let alike = self.list.iter_mut().filter(|e| e.is_here() && e.touched().is_alike(&touched));
        let full = InstError::Capacity { pool: EmitPool::OpenAccesses, capacity: OPEN as u32 };
        let e = alike.min_by_key(wide).ok_or(full)?;
        if !e.touched().covers(&touched) {
            let hull = e.touched().hull(touched);
            (e.from, e.to, e.dealt) = (hull.from, hull.to, hull.dealt);
        }
        e.behind &= new.behind;
        Ok(())
    }

    /// What has become of an entry; nothing if it is over. Behind a loop around that runs no turn
    /// it stands as it did.
    fn change(&mut self, at: usize, next: Option<(MemAccess, AccessKinds)>) {
        let Some(&old) = self.list.get(at) else { return };
        if next == Some((old.touched(), old.behind)) {
            return;
        }
        let asleep = PendingAccess { around: old.around & !HERE, ..old };
        let Some((touched, behind)) = next else {
            if asleep.around == 0 {
                let _ = self.list.remove(at);
            } else if let Some(e) = self.list.get_mut(at) {
                *e = asleep;
            }
            return;
        };
        // Without room it stays as open as it was, which only costs steps.
        if (asleep.around == 0 || self.list.push(asleep).is_ok())
            && let Some(e) = self.list.get_mut(at)
        {
            *e = PendingAccess::new(touched, behind);
        }
    }

    /// Every thread has waited for an object: for all accesses that complete on it.
    fn waited(&mut self, number: u8) -> Result<(), InstError> {
        self.list
            .iter_mut()
            .filter(|e| e.is_here() && e.completion == ObjectNumber::of(number))
            .for_each(|e| e.completion = None);
        match self.objects {
            Some(objects) => self.add(objects.touched(number, objects.waits, false), 0),
            None => Ok(()),
        }
    }

    /// Orders `accesses` after everything open that they conflict with, then opens them. The answer
    /// is what has to stand between; where it does not, this was only a rehearsal. `apart`: whether
    /// two tiles of a global tensor certainly have no element in common.
    pub fn meet<'t>(
        &mut self,
        tables: &Tables<'t>,
        arch: &Arch<'t>,
        accesses: &[MemAccess],
        apart: impl Fn(u16, u16) -> bool,
    ) -> Result<WantedSteps<'t>, InstError> {
        self.meet_ahead(tables, arch, (accesses, accesses.len()), apart)
    }

    /// The same for the first `own` accesses. Those behind them come later, with nothing between that
    /// writes: where a barrier is wanted anyhow they are ordered by it, too, if they want one.
    pub fn meet_ahead<'t>(
        &mut self,
        tables: &Tables<'t>,
        arch: &Arch<'t>,
        (accesses, own): (&[MemAccess], usize),
        apart: impl Fn(u16, u16) -> bool,
    ) -> Result<WantedSteps<'t>, InstError> {
        let mut wanted: WantedSteps<'t> = heapless::Vec::new();
        let mut settled: heapless::Vec<Settled, SETTLED> = heapless::Vec::new();
        let wait = tables
            .units
            .mbarriers
            .iter()
            .find(|c| arch.features.contains(&c.feature))
            .map(|c| c.wait);
        let by_barrier = |e: &PendingAccess, now: &MemAccess| {
            arch.sync_between(e.kind, now.kind)
                .is_some_and(|r| r.steps.iter().any(|step| step.barrier))
        };
        let mut met = own;
        for (k, now) in accesses.iter().enumerate() {
            if k == own && wanted.iter().any(is_barrier) {
                met = accesses.len();
            }
            for e in self.here().filter(|e| k < own || k < met && by_barrier(e, now)) {
                if e.touched().conflicts(now, &apart) && e.behind & bit(now.kind) == 0 {
                    want(arch, wait, (&e.touched(), now), &mut wanted, &mut settled)?;
                }
            }
        }
        for at in (0..self.list.len()).rev() {
            if let Some(&e) = self.list.get(at).filter(|e| e.is_here()) {
                let kinds = accesses
                    .iter()
                    .enumerate()
                    .filter(|(k, now)| *k < own || *k < met && by_barrier(&e, now))
                    .filter(|(_, now)| e.touched().conflicts(now, &apart))
                    .map(|(_, now)| now.kind);
                self.change(at, left(arch, wait, (e.touched(), e.behind), &settled, kinds));
            }
        }
        let performed = |step: &SyncStep<'_>| {
            wanted.iter().any(|w| matches!(w, RequiredSync::Step(s, _) if s.atom == step.atom && s.immediates == step.immediates))
        };
        self.pass(arch, performed);
        for wanted in &wanted {
            if let RequiredSync::Wait(number) = wanted {
                self.waited(*number)?;
            }
        }
        let objects = self.objects;
        let own = accesses.iter().take(own);
        for &t in own.filter(|t| objects.is_none_or(|objects| !objects.is_announcement(t))) {
            self.add(t, 0)?;
        }
        Ok(wanted)
    }

    /// Whether an access of a kind is open.
    pub fn has(&self, kind: AccessId) -> bool {
        self.here().any(|e| e.kind == kind)
    }

    /// An open access of one of the kinds `copies`, which no lane makes itself, that is not known to
    /// be over; and the kind of a lane's access behind which it would be.
    pub(crate) fn under_way(
        &self,
        arch: &Arch<'_>,
        copies: AccessKinds,
    ) -> Option<(MemAccess, Option<AccessId>)> {
        for e in self.here().filter(|e| bit(e.kind) & copies != 0) {
            let is_barrier = |r: &SyncRule<'_>| r.steps.iter().any(|s| s.barrier);
            let rules = || {
                let rules = arch.syncs_behind(e.kind);
                rules.filter(|r| bit(r.consumer) & copies == 0 && !r.steps.is_empty())
            };
            // Where threads meet they have waited before; what completes on an object needs no meeting.
            let meet = rules().any(is_barrier);
            let mut complete = rules().filter(|r| !meet || is_barrier(r));
            let is_over =
                e.completion.is_none() && complete.clone().any(|r| e.behind & bit(r.consumer) != 0);
            if !is_over {
                return Some((e.touched(), complete.next().map(|r| r.consumer)));
            }
        }
        None
    }

    /// The mbarriers that nothing has waited for, each once. From here on they have been.
    pub fn take_waits(&mut self) -> Result<heapless::Vec<u8, OPEN>, InstError> {
        let mut out = heapless::Vec::new();
        for e in self.list.iter_mut().filter(|e| e.is_here()) {
            if let Some(number) = e.completion.take().map(ObjectNumber::number)
                && !out.contains(&number)
            {
                let _ = out.push(number);
            }
        }
        for number in &out {
            self.waited(*number)?;
        }
        Ok(out)
    }

    /// The steps of the rule for these kinds have been carried out: accesses are over to which
    /// another rule would bring nothing more.
    pub fn carried_out(&mut self, arch: &Arch<'_>, producer: AccessId, consumer: AccessId) {
        let done = arch.sync_between(producer, consumer).map_or(&[][..], |r| r.steps);
        let over = |kind: AccessId| {
            let mut rules = arch.syncs_behind(kind).filter(|r| !r.steps.is_empty()).peekable();
            rules.peek().is_some() && rules.all(|r| covers(done, r.steps))
        };
        for at in (0..self.list.len()).rev() {
            // What completes on an object of its own has not been waited for.
            if self
                .list
                .get(at)
                .is_some_and(|e| e.is_here() && e.completion.is_none() && over(e.kind))
            {
                self.change(at, None);
            }
        }
    }

    /// Steps have been carried out, whatever for: waits for mbarriers are over that they
    /// order before the next announcement.
    pub fn pass(&mut self, arch: &Arch<'_>, performed: impl Fn(&SyncStep<'_>) -> bool) {
        let Some(objects) = self.objects else { return };
        if !arch
            .sync_between(objects.waits, objects.announces)
            .is_some_and(|r| r.steps.iter().all(performed))
        {
            return;
        }
        let is_wait = |t: &MemAccess| {
            !t.writes
                && t.from >= objects.from
                && t.from < objects.from.saturating_add(objects.all())
        };
        for at in (0..self.list.len()).rev() {
            if self.list.get(at).is_some_and(|e| e.is_here() && is_wait(&e.touched())) {
                self.change(at, None);
            }
        }
    }
}

/// Whether what has to stand is a barrier.
pub(crate) fn is_barrier(wanted: &RequiredSync<'_>) -> bool {
    matches!(wanted, RequiredSync::Step(step, _) if step.barrier)
}

/// Accesses of a kind, writes or reads, that complete on an object or not, for which the steps
/// before a kind of later ones have been brought.
type Settled = (AccessId, bool, Option<u8>, AccessId);

/// What has to stand between two accesses that conflict.
fn want<'t>(
    arch: &Arch<'t>,
    wait: Option<AtomId>,
    (before, now): (&MemAccess, &MemAccess),
    wanted: &mut WantedSteps<'t>,
    settled: &mut heapless::Vec<Settled, SETTLED>,
) -> Result<(), InstError> {
    let missing =
        InstError::NoAtom(Missing::Sync { producer: before.kind.0, consumer: now.kind.0 });
    let rule = arch.sync_between(before.kind, now.kind).ok_or(missing)?;
    let last = rule.steps.iter().rposition(|s| s.barrier);
    let side = |k: usize| match last {
        None => BarrierSide::Free,
        Some(last) if k <= last => BarrierSide::Before,
        Some(_) => BarrierSide::Behind,
    };
    let is = |w: &RequiredSync<'_>, own: &SyncStep<'_>| match w {
        RequiredSync::Step(w, _) => w.atom == own.atom && w.immediates == own.immediates,
        RequiredSync::Wait(number) => Some(own.atom) == wait && before.completion == Some(*number),
    };
    // A step may stand on both sides of a barrier.
    let stands = |w: &RequiredSync<'_>, (k, own): (usize, &SyncStep<'_>)| {
        let fits = match w {
            RequiredSync::Step(_, stand) => *stand == BarrierSide::Free || *stand == side(k),
            RequiredSync::Wait(_) => true,
        };
        fits && is(w, own)
    };
    for (k, own) in rule.steps.iter().enumerate() {
        let step = match before.completion {
            _ if Some(own.atom) != wait => RequiredSync::Step(*own, side(k)),
            Some(number) => RequiredSync::Wait(number),
            None => continue, // it has been waited for
        };
        // In front of the next of the rule's steps that stands there: each rule's steps stay in
        // their order.
        let later = rule.steps.iter().skip(k.saturating_add(1));
        let next = later.into_iter().find_map(|later| wanted.iter().position(|w| is(w, later)));
        add_wanted(wanted, step, next)
            .ok_or(InstError::Capacity { pool: EmitPool::SyncSteps, capacity: STEPS as u32 })?;
        // One that another rule brought goes behind what this one has in front of it.
        let place = |of| wanted.iter().position(|w| stands(w, of));
        let earlier = rule.steps.iter().enumerate().take(k);
        if let (Some(at), Some(before)) = (place((k, own)), earlier.filter_map(place).max())
            && at < before
            && let Some(moved) = wanted.get_mut(at..=before)
        {
            moved.rotate_left(1);
        }
    }
    let entry = (before.kind, before.writes, before.completion, now.kind);
    // Without a barrier, where other rules have one, what this rule brings is for these bytes
    // alone.
    let whole = last.is_some()
        || !arch
            .sync
            .iter()
            .any(|r| r.producer == before.kind && r.steps.iter().any(|s| s.barrier));
    if whole && !settled.contains(&entry) {
        settled.push(entry).map_err(|_| InstError::Capacity {
            pool: EmitPool::SyncKinds,
            capacity: SETTLED as u32,
        })?;
    }
    Ok(())
}

/// What has to stand between accesses of these kinds, each the earlier one and the later one.
pub(crate) fn between_kinds<'t>(
    arch: &Arch<'t>,
    pairs: &[(AccessId, AccessId)],
) -> Result<WantedSteps<'t>, InstError> {
    let mut wanted: WantedSteps<'t> = heapless::Vec::new();
    for &(before, now) in pairs {
        let access = |kind| MemAccess {
            memory: TouchedMemory::Shared,
            from: 0,
            to: 0,
            dealt: 0,
            kind,
            writes: true,
            completion: None,
        };
        let mut settled: heapless::Vec<Settled, SETTLED> = heapless::Vec::new();
        want(arch, None, (&access(before), &access(now)), &mut wanted, &mut settled)?;
    }
    Ok(wanted)
}

/// What is left of an open access when all that was wanted stands before later accesses; nothing if
/// it is over. What a rule's steps order behind one access of a kind they order behind all of them,
/// for every kind that asks for no more. `own`: the kinds of those that it conflicts with.
fn left(
    arch: &Arch<'_>,
    wait: Option<AtomId>,
    (before, behind): (MemAccess, AccessKinds),
    settled: &[Settled],
    own: impl Iterator<Item = AccessId> + Clone,
) -> Option<(MemAccess, AccessKinds)> {
    let (mut after, mut behind) = (before, behind);
    let key = (before.kind, before.writes, before.completion);
    let of_its_kind = settled
        .iter()
        .filter(|(kind, writes, completion, _)| (*kind, *writes, *completion) == key)
        .map(|(.., consumer)| *consumer);
    // What is ordered without a barrier, where others of its kind take one, is followed by the
    // access that it was ordered before.
    let barrier = |r: &SyncRule<'_>| r.steps.iter().any(|s| s.barrier);
    let mut over = arch.syncs_behind(before.kind).any(barrier)
        && own
            .clone()
            .any(|consumer| arch.sync_between(before.kind, consumer).is_some_and(|r| !barrier(r)));
    for consumer in of_its_kind.chain(own) {
        let done = arch.sync_between(before.kind, consumer).map_or(&[][..], |r| r.steps);
        let rules = || arch.syncs_behind(before.kind);
        let met =
            rules().filter(|r| covers(done, r.steps)).fold(0, |kinds, r| kinds | bit(r.consumer));
        over |= rules().all(|r| met & bit(r.consumer) != 0);
        behind |= met;
        if done.iter().any(|step| Some(step.atom) == wait) {
            after.completion = None;
        }
    }
    (!over).then_some((after, behind))
}

/// The kind's bit; none beyond a word's: such a kind is ordered anew each time.
pub(crate) fn bit(kind: AccessId) -> AccessKinds {
    1u32.checked_shl(u32::from(kind.0)).unwrap_or(0)
}

/// Whether all steps of `wanted` are among `done`.
fn covers(done: &[SyncStep<'_>], wanted: &[SyncStep<'_>]) -> bool {
    wanted
        .iter()
        .all(|step| done.iter().any(|d| d.atom == step.atom && d.immediates == step.immediates))
}

/// The steps between an access of one kind and one of another, with operands as `known` gives them
/// by atom and number.
pub fn between(
    tables: &Tables<'_>,
    arch: &Arch<'_>,
    (producer, consumer): (AccessId, AccessId),
    steps: &mut InstStorage<'_>,
    known: impl Fn(AtomId, usize) -> Option<Slot>,
) -> Result<(), InstError> {
    let missing = InstError::NoAtom(Missing::Sync { producer: producer.0, consumer: consumer.0 });
    for step in arch.sync_between(producer, consumer).ok_or(missing)?.steps {
        if step.barrier {
            push(tables, step, steps)?;
            continue;
        }
        push_known(tables, step.atom, step.immediates, steps, |number| known(step.atom, number))?;
    }
    Ok(())
}

/// What stands around the work of a unit that runs beside the lanes: the table's steps for its kind
/// of access as a consumer (`before`), or as a producer.
pub fn around(
    tables: &Tables<'_>,
    arch: &Arch<'_>,
    kind: AccessId,
    before: bool,
    steps: &mut InstStorage<'_>,
) -> Result<(), InstError> {
    for rule in arch.sync.iter().filter(|r| kind == if before { r.consumer } else { r.producer }) {
        for step in rule.steps {
            push(tables, step, steps)?;
        }
    }
    Ok(())
}

/// Adds a step that is not there yet, in front of the step with number `next`. One that may stand
/// on either side of the barriers goes where another rule wants it.
fn add_wanted<'t>(
    list: &mut WantedSteps<'t>,
    step: RequiredSync<'t>,
    next: Option<usize>,
) -> Option<()> {
    for old in list.iter_mut() {
        match (old, &step) {
            (RequiredSync::Wait(a), RequiredSync::Wait(b)) if a == b => return Some(()),
            (RequiredSync::Step(a, stand), RequiredSync::Step(b, wanted))
                if a.atom == b.atom && a.immediates == b.immediates =>
            {
                if *stand == BarrierSide::Free {
                    *stand = *wanted;
                }
                if *stand == *wanted || *wanted == BarrierSide::Free {
                    return Some(());
                }
            }
            _ => {}
        }
    }
    list.push(step).ok()?;
    let mut held = step;
    for place in list.iter_mut().skip(next.unwrap_or(usize::MAX)) {
        core::mem::swap(place, &mut held);
    }
    Some(())
}

/// The steps of a rule behind the last one at which all threads meet.
pub(crate) fn behind_barrier<'t>(rule: &SyncRule<'t>) -> &'t [SyncStep<'t>] {
    let met = rule.steps.iter().rposition(|step| step.barrier);
    met.and_then(|at| rule.steps.get(at.saturating_add(1)..)).unwrap_or_default()
}

pub(crate) fn push(
    tables: &Tables<'_>,
    step: &SyncStep<'_>,
    steps: &mut InstStorage<'_>,
) -> Result<(), InstError> {
    if let Some((atom, numbers)) = steps.meeting.filter(|_| step.barrier) {
        return push_known(tables, atom, &numbers, steps, |_| None);
    }
    push_known(tables, step.atom, step.immediates, steps, |_| None)
}

/// A step whose operands are given by their numbers; immediates in their order, the greatest where
/// there are too few.
pub fn push_known(
    tables: &Tables<'_>,
    id: AtomId,
    immediates: &[i32],
    steps: &mut InstStorage<'_>,
    known: impl Fn(usize) -> Option<Slot>,
) -> Result<(), InstError> {
    use lanebook_tables::Role;
    let atom = tables.atom(id).ok_or(InstError::NoAtom(Missing::Frame))?;
    let mut args: heapless::Vec<Slot, { crate::step::MAX_ARGS }> = heapless::Vec::new();
    let mut values = immediates.iter();
    for (k, operand) in atom.operands.iter().enumerate() {
        let refuse = InstError::Operand { atom: id, operand: u8::try_from(k).unwrap_or(u8::MAX) };
        let slot = match operand.role {
            Role::Immediate => {
                int(values.next().map_or(operand.range.1, |v| i64::from(*v))).ok_or(refuse)?
            }
            _ => known(k).unwrap_or_default(),
        };
        args.push(slot).map_err(|_| refuse)?;
    }
    steps.append(id, &args)
}

//! Waits and wait states: what software owes the hardware between two instructions.
//!
//! A *counter* rule says that an atom's results are not there until a wait has seen its counter
//! fall; a *hazard* rule says that so many wait states must lie between two atoms that share a
//! register. Both are tables of the architecture; this pass walks the allocated steps once and
//! inserts what they demand. Architectures without such tables come out unchanged.

use crate::step::{
    Inst, InstError, InstKind, MAX_ARGS, Missing, NO_GUARD, Slot, Touch, TupleStride,
    for_each_register,
};
use crate::sync::cursor::InstCursor;
use crate::sync::hazards::{BusyRegs, HazardCache, Marks, Readers, Recent, ended, hazards};
use heapless::VecView;
use lanebook_tables::{Arch, Atom, AtomId, Hazard, HazardUse, Isa, Tables, TagId};

/// Most loads in flight that are tracked one by one; where more would be, the older half is waited
/// for.
const IN_FLIGHT: usize = 64;
/// Most counters of an architecture.
const COUNTERS: usize = 8;

/// A register run whose load has not been waited for.
#[derive(Copy, Clone, Debug)]
struct UnwaitedLoad {
    class: u8,
    first: u16,
    count: u16,
    counter: u8,
    /// Its number among the counter's operations.
    sequence: u32,
    unordered: bool,
}

/// What was on its way where a branch forward was taken.
struct ForwardBranch {
    /// Where it leads; nothing where none is open.
    label: Option<Slot>,
    pending: heapless::Vec<UnwaitedLoad, IN_FLIGHT>,
    issued: [u32; COUNTERS],
    complete: [u32; COUNTERS],
}

/// Inserts waits and wait states among `steps`.
#[inline(never)]
pub fn insert_waits(
    tables: &Tables<'_>,
    arch: &Arch<'_>,
    isa: &Isa<'_>,
    steps: &mut VecView<Inst>,
    patterns: &VecView<TupleStride>,
) -> Result<(), InstError> {
    let mut line = InstCursor::new(steps);
    let out = &mut line;
    let mut state = Finish {
        tables,
        arch,
        isa,
        patterns,
        pending: heapless::Vec::new(),
        issued: [0; COUNTERS],
        complete: [0; COUNTERS],
        over: ForwardBranch {
            label: None,
            pending: heapless::Vec::new(),
            issued: [0; COUNTERS],
            complete: [0; COUNTERS],
        },
        left: None,
        held: BusyRegs::default(),
        kinds: HazardCache::new(arch),
        recent: Recent::new(),
        marks: Marks::new(arch),
        readers: Readers::new(),
    };
    while let Some(step) = out.coming() {
        let step = &step;
        state.catch_up(out);
        if step.purpose == InstKind::Label || is_branch(isa, step.atom) {
            // Control flow joins here: hazards are run out, and loads into registers are waited for
            // where they do not go on over what a branch leaves out.
            if step.purpose == InstKind::Label && step.origin == u16::MAX {
                // The end of a snippet: nobody counts what it has issued.
                state.wait_for_issued(step, out)?;
            }
            if !state.goes_over(step, out)? {
                state.wait_for_all(step, out)?;
            }
            state.run_out_hazards(step, out)?;
        }
        if step.purpose != InstKind::Label {
            takes(tables, step)?;
            state.wait_for(step, out)?;
            state.make_room(step, out)?;
            state.keep_distance(step, out)?;
            state.issue(step)?;
        }
        out.pass();
    }
    line.close();
    Ok(())
}

/// The same where nothing stands behind the steps that says what it reads: all that is on its way
/// arrives, and all hazards run out.
#[inline(never)]
pub fn insert_snippet_waits(
    tables: &Tables<'_>,
    arch: &Arch<'_>,
    isa: &Isa<'_>,
    steps: &mut VecView<Inst>,
    patterns: &VecView<TupleStride>,
) -> Result<(), InstError> {
    // A label, before which hazards run out.
    let mut end = synchronising(AtomId(u16::MAX), u16::MAX, [Slot::None; MAX_ARGS]);
    end.purpose = InstKind::Label;
    let capacity = u32::try_from(steps.capacity()).unwrap_or(u32::MAX);
    steps.push(end).map_err(|_| InstError::Steps { capacity })?;
    insert_waits(tables, arch, isa, steps, patterns)?;
    let _ = steps.pop();
    Ok(())
}

/// Refuses a step with a register of a class that its operand does not take: accumulators in a
/// store that cannot reach them.
fn takes(tables: &Tables<'_>, step: &Inst) -> Result<(), InstError> {
    let Some(atom) = tables.atom(step.atom) else { return Ok(()) };
    for (number, (operand, slot)) in (0u8..).zip(atom.operands.iter().zip(&step.args)) {
        if let Slot::Reg { class, .. } = *slot
            && u16::from(class) != operand.class.0
            && !operand.also.iter().any(|also| also.0 == u16::from(class))
        {
            return Err(InstError::Class { atom: step.atom, operand: number, class });
        }
    }
    Ok(())
}

/// A step that orders others.
fn synchronising(atom: AtomId, origin: u16, args: [Slot; MAX_ARGS]) -> Inst {
    Inst { atom, origin, purpose: InstKind::Sync, guard_class: 0, guard: NO_GUARD, args }
}

fn is_branch(isa: &Isa<'_>, atom: AtomId) -> bool {
    atom == isa.branch || atom == isa.branch_if
}

struct Finish<'a> {
    tables: &'a Tables<'a>,
    arch: &'a Arch<'a>,
    isa: &'a Isa<'a>,
    patterns: &'a VecView<TupleStride>,
    pending: heapless::Vec<UnwaitedLoad, IN_FLIGHT>,
    /// Operations issued by counter.
    issued: [u32; COUNTERS],
    /// Operations known complete by counter.
    complete: [u32; COUNTERS],
    /// The branch forward that is open: at further ones all is waited for.
    over: ForwardBranch,
    /// A label that comes next, and that only a branch leads to: what is on its way there is known.
    left: Option<Slot>,
    /// Registers of `pending`, roughly.
    held: BusyRegs,
    /// What hazards say of atoms.
    kinds: HazardCache,
    /// The last steps that hazards begin with.
    recent: Recent,
    /// Steps that hazards are about.
    marks: Marks,
    /// Registers that atoms of a kind read.
    readers: Readers,
}

impl Finish<'_> {
    /// Whether loads go on over a branch forward, or meet those of another way at its label.
    #[inline(never)]
    fn goes_over(&mut self, step: &Inst, out: &mut InstCursor<'_>) -> Result<bool, InstError> {
        if step.purpose == InstKind::Label {
            let label = step.args.first().copied();
            let is_met = label.is_some() && self.over.label == label;
            if is_met {
                self.meet(step, out)?;
                self.over.label = None;
            }
            return Ok(is_met || label.is_some() && self.left.take() == label);
        }
        let mut labels = step.args.iter().copied();
        let Some(label) = labels.find(|arg| matches!(arg, Slot::Label(_))) else {
            return Ok(false);
        };
        let names = |s: &Inst, label: Slot| {
            s.purpose == InstKind::Label && s.args.first().copied() == Some(label)
        };
        if !out.is_to_come(|s| names(s, label)) {
            return Ok(false);
        }
        let taken = &mut self.over;
        let Some(other) = taken.label else {
            if step.atom == self.isa.branch {
                return Ok(false);
            }
            taken.label = Some(label);
            taken.pending.clear();
            // There is room for as many.
            let _ = taken.pending.extend_from_slice(&self.pending);
            (taken.issued, taken.complete) = (self.issued, self.complete);
            return Ok(true);
        };
        // A jump to the end of what stands where an earlier branch leads: the two ways change places.
        if step.atom != self.isa.branch || !out.is_next(|s| names(s, other)) {
            return Ok(false);
        }
        self.left = Some(other);
        taken.label = Some(label);
        core::mem::swap(&mut taken.pending, &mut self.pending);
        core::mem::swap(&mut taken.issued, &mut self.issued);
        core::mem::swap(&mut taken.complete, &mut self.complete);
        self.hold_pending();
        Ok(true)
    }

    /// One more way comes here: what is on its way on either one is, behind the fewest operations.
    fn meet(&mut self, step: &Inst, out: &mut InstCursor<'_>) -> Result<(), InstError> {
        let taken = &self.over;
        let before = self.issued;
        let mut full = false;
        for (number, (issued, complete)) in
            self.issued.iter_mut().zip(&mut self.complete).enumerate()
        {
            let theirs = taken.issued.get(number).copied().unwrap_or(0);
            let over = taken.complete.get(number).copied().unwrap_or(0);
            let open = issued.saturating_sub(*complete).max(theirs.saturating_sub(over));
            *issued = (*issued).max(theirs);
            *complete = issued.saturating_sub(open);
        }
        // Operations behind a load are as many as they were.
        let again = |p: &UnwaitedLoad, then: &[u32; COUNTERS], now: &[u32; COUNTERS]| {
            let at = |all: &[u32; COUNTERS]| all.get(usize::from(p.counter)).copied().unwrap_or(0);
            p.sequence.saturating_add(at(now).saturating_sub(at(then)))
        };
        for p in &mut self.pending {
            p.sequence = again(p, &before, &self.issued);
        }
        for p in &taken.pending {
            let sequence = again(p, &taken.issued, &self.issued);
            let same = |q: &&mut UnwaitedLoad| {
                (q.class, q.first, q.count, q.counter, q.unordered)
                    == (p.class, p.first, p.count, p.counter, p.unordered)
            };
            match self.pending.iter_mut().find(same) {
                Some(own) => own.sequence = own.sequence.max(sequence),
                None => full |= self.pending.push(UnwaitedLoad { sequence, ..*p }).is_err(),
            }
        }
        if full {
            self.wait_for_issued(step, out)?;
            self.pending.clear();
        }
        self.hold_pending();
        Ok(())
    }

    /// Notes the registers that loads on their way fill.
    fn hold_pending(&mut self) {
        self.held = BusyRegs::default();
        for p in &self.pending {
            self.held.add(p.class, p.first, p.count);
        }
    }

    /// Waits for every pending load that this step reads or overwrites.
    fn wait_for(&mut self, step: &Inst, out: &mut InstCursor<'_>) -> Result<(), InstError> {
        let mut need = [None::<u32>; COUNTERS];
        let (tables, patterns) = (self.tables, self.patterns);
        for_each_register(tables, step, patterns, |touch| self.demand(&touch, &mut need));
        self.emit_waits(&need, step, out)
    }

    /// Waits for older loads until this step's own can be tracked.
    fn make_room(&mut self, step: &Inst, out: &mut InstCursor<'_>) -> Result<(), InstError> {
        if self.tables.atom(step.atom).is_none_or(|atom| atom.counter.is_none()) {
            return Ok(());
        }
        let mut more = 0usize;
        for_each_register(self.tables, step, self.patterns, |touch| {
            more = more.saturating_add(usize::from(touch.written))
        });
        if self.pending.len().saturating_add(more) <= self.pending.capacity() {
            return Ok(());
        }
        let mut need = [None::<u32>; COUNTERS];
        for p in self.pending.iter().take(self.pending.capacity() / 2) {
            raise(&mut need, self.allowed(p), p.counter);
        }
        self.emit_waits(&need, step, out)
    }

    /// Waits for every pending load.
    fn wait_for_all(&mut self, step: &Inst, out: &mut InstCursor<'_>) -> Result<(), InstError> {
        let mut need = [None::<u32>; COUNTERS];
        for p in &self.pending {
            raise(&mut need, self.allowed(p), p.counter);
        }
        self.emit_waits(&need, step, out)
    }

    /// Waits for all that was issued, stores too.
    fn wait_for_issued(&mut self, step: &Inst, out: &mut InstCursor<'_>) -> Result<(), InstError> {
        let mut need = [None::<u32>; COUNTERS];
        for ((need, issued), complete) in need.iter_mut().zip(self.issued).zip(self.complete) {
            *need = (issued > complete).then_some(0);
        }
        self.emit_waits(&need, step, out)
    }

    fn demand(&self, touch: &Touch, need: &mut [Option<u32>; COUNTERS]) {
        if !self.held.may_meet(touch) {
            return;
        }
        for p in self.pending.iter().filter(|p| touch.overlaps(p.class, p.first, p.count)) {
            raise(need, self.allowed(p), p.counter);
        }
    }

    /// How many operations of the counter may still be outstanding when `p` is complete.
    fn allowed(&self, p: &UnwaitedLoad) -> u32 {
        let counter = usize::from(p.counter);
        let issued = self.issued.get(counter).copied().unwrap_or(0);
        let in_order = self.arch.counters.get(counter).is_some_and(|c| c.in_order);
        let mixed = self.pending.iter().any(|q| q.counter == p.counter && q.unordered);
        if !in_order || p.unordered || mixed {
            0
        } else {
            issued.saturating_sub(p.sequence.saturating_add(1))
        }
    }

    fn emit_waits(
        &mut self,
        need: &[Option<u32>; COUNTERS],
        origin: &Inst,
        out: &mut InstCursor<'_>,
    ) -> Result<(), InstError> {
        for (number, outstanding) in need.iter().enumerate() {
            let (Some(outstanding), Some(counter)) = (outstanding, self.arch.counters.get(number))
            else {
                continue;
            };
            let done = self.issued.get(number).copied().unwrap_or(0).saturating_sub(*outstanding);
            if self.complete.get(number).copied().unwrap_or(0) >= done {
                continue;
            }
            let atom = self.tables.atom(counter.wait).ok_or(InstError::NoAtom(Missing::Wait))?;
            let mut args = [Slot::None; MAX_ARGS];
            for (k, operand) in atom.operands.iter().enumerate() {
                let refuse = InstError::Operand {
                    atom: counter.wait,
                    operand: u8::try_from(k).unwrap_or(u8::MAX),
                };
                let same_wait = self
                    .arch
                    .counters
                    .iter()
                    .position(|c| c.wait == counter.wait && usize::from(c.operand) == k);
                let value = match same_wait.and_then(|c| need.get(c).copied().flatten()) {
                    // The greatest number waits for nothing: it stands for every count from there
                    // on.
                    Some(v) => i64::from(v).min(operand.range.1.saturating_sub(1).max(0)),
                    None => operand.range.1,
                };
                *args.get_mut(k).ok_or(refuse)? = crate::step::int(value).ok_or(refuse)?;
            }
            let wait = synchronising(counter.wait, origin.origin, args);
            self.note_wait(&wait);
            out.push(wait)?;
        }
        Ok(())
    }

    /// Takes a wait's effect into account, whoever put it there.
    fn note_wait(&mut self, step: &Inst) {
        for (number, counter) in self.arch.counters.iter().enumerate() {
            if counter.wait != step.atom {
                continue;
            }
            let Some(&Slot::Int(value)) = step.args.get(usize::from(counter.operand)) else {
                continue;
            };
            let top = self
                .tables
                .atom(counter.wait)
                .and_then(|a| a.operands.get(usize::from(counter.operand)))
                .map_or(i64::MAX, |o| o.range.1);
            if i64::from(value) >= top && top != 0 {
                continue;
            }
            let issued = self.issued.get(number).copied().unwrap_or(0);
            let done = issued.saturating_sub(u32::try_from(value).unwrap_or(0));
            if let Some(slot) = self.complete.get_mut(number) {
                *slot = (*slot).max(done);
            }
            self.pending.retain(|p| {
                usize::from(p.counter) != number
                    || p.sequence >= done
                    || (p.unordered && value != 0)
            });
            self.hold_pending();
        }
    }

    /// Counts the step's own operation and notes the registers it will fill later.
    fn issue(&mut self, step: &Inst) -> Result<(), InstError> {
        self.note_wait(step);
        let Some(atom) = self.tables.atom(step.atom) else { return Ok(()) };
        let Some(used) = atom.counter else { return Ok(()) };
        let number = usize::from(used.counter);
        let sequence = self.issued.get(number).copied().unwrap_or(0);
        if let Some(slot) = self.issued.get_mut(number) {
            *slot = sequence.wrapping_add(1);
        }
        let (tables, patterns) = (self.tables, self.patterns);
        let mut full = false;
        let (pending, held) = (&mut self.pending, &mut self.held);
        for_each_register(tables, step, patterns, |touch| {
            if touch.written {
                held.add(touch.class, touch.first, touch.count);
                let p = UnwaitedLoad {
                    class: touch.class,
                    first: touch.first,
                    count: touch.count,
                    counter: used.counter,
                    sequence,
                    unordered: used.unordered,
                };
                full |= pending.push(p).is_err();
            }
        });
        if full { Err(InstError::Operand { atom: step.atom, operand: 0 }) } else { Ok(()) }
    }

    /// Takes in steps that were written since.
    fn catch_up(&mut self, out: &InstCursor<'_>) {
        for step in out.finished().iter().skip(self.recent.seen()) {
            let atom =
                if step.purpose == InstKind::Label { None } else { self.tables.atom(step.atom) };
            let (begins, states) = match atom {
                Some(atom) => {
                    let kind = self.kinds.of(self.arch, step.atom, atom);
                    (kind.begins != 0, nop_states(self.isa, step).unwrap_or(kind.lines))
                }
                None => (false, 0),
            };
            self.recent.add(begins, states);
        }
    }

    /// Inserts wait states before `step` as its hazards with earlier steps demand.
    fn keep_distance(&mut self, step: &Inst, out: &mut InstCursor<'_>) -> Result<(), InstError> {
        let Some(atom) = self.tables.atom(step.atom) else { return Ok(()) };
        let kind = self.kinds.of(self.arch, step.atom, atom);
        if kind.ends == 0 {
            return Ok(());
        }
        self.catch_up(out);
        let arch = self.arch;
        let mut missing = 0u32;
        for (at, distance) in self.recent.back() {
            if distance >= u32::from(kind.states) {
                break;
            }
            let Some((earlier, producer)) =
                out.get(at).and_then(|earlier| Some((earlier, self.tables.atom(earlier.atom)?)))
            else {
                continue;
            };
            let both = self.kinds.of(arch, earlier.atom, producer).begins & kind.ends;
            for hazard in hazards(arch, both, Some(producer), atom) {
                let bites = hazard.counts.is_empty() && distance < u32::from(hazard.states);
                if bites && share(self.tables, self.patterns, earlier, step, hazard) {
                    missing = missing.max(u32::from(hazard.states).saturating_sub(distance));
                }
            }
        }
        if !kind.special {
            return self.emit_nops(missing, step, out);
        }
        // What counts steps in a way of its own looks back by itself.
        for hazard in
            hazards(arch, kind.ends, None, atom).filter(|hazard| !hazard.counts.is_empty())
        {
            let mut distance = 0u32;
            for earlier in out.finished().iter().rev() {
                if distance >= u32::from(hazard.states) {
                    break;
                }
                if earlier.purpose == InstKind::Label {
                    continue;
                }
                let Some(producer) = self.tables.atom(earlier.atom) else { continue };
                if producer.tags.contains(&hazard.producer) && self.share(earlier, step, hazard) {
                    missing = missing.max(u32::from(hazard.states).saturating_sub(distance));
                }
                distance =
                    distance.saturating_add(states_of(self.isa, earlier, producer, hazard.counts));
            }
        }
        for (number, hazard) in ended(arch).enumerate() {
            if atom.tags.contains(&hazard.consumer) {
                self.end_hazard((number, hazard), Some(step), step.origin, out)?;
            }
        }
        self.emit_nops(missing, step, out)
    }

    /// Ends a hazard that an atom ends, if `step` is exposed to it; without a step, whatever comes
    /// next. The hazard has its number among those.
    fn end_hazard(
        &mut self,
        (number, hazard): (usize, &Hazard<'_>),
        step: Option<&Inst>,
        origin: u16,
        out: &mut InstCursor<'_>,
    ) -> Result<(), InstError> {
        let Some(wait) = hazard.wait else { return Ok(()) };
        self.marks.see(self.tables, self.arch, self.patterns, out);
        if !self.marks.may_be_open(number, self.tables, self.patterns, step) {
            return Ok(());
        }
        let (tables, readers) = (self.tables, &mut self.readers);
        let mut exposed = false;
        for at in self.marks.back() {
            // Every label has what ends it before it.
            let Some(earlier) = out
                .get(at)
                .filter(|earlier| earlier.purpose != InstKind::Label && earlier.atom != wait)
            else {
                break;
            };
            let producer =
                tables.atom(earlier.atom).is_some_and(|atom| atom.tags.contains(&hazard.producer));
            if producer
                && step.is_none_or(|step| share(tables, self.patterns, earlier, step, hazard))
                && has_reader(tables, out, self.patterns, readers, earlier, hazard)
            {
                exposed = true;
                break;
            }
        }
        if !exposed {
            return Ok(());
        }
        out.push(synchronising(wait, origin, [Slot::None; MAX_ARGS]))
    }

    fn share(&self, earlier: &Inst, later: &Inst, hazard: &Hazard<'_>) -> bool {
        share(self.tables, self.patterns, earlier, later, hazard)
    }

    /// Before control flow joins: every hazard that could still bite runs out.
    fn run_out_hazards(&mut self, step: &Inst, out: &mut InstCursor<'_>) -> Result<(), InstError> {
        let arch = self.arch;
        if arch.hazards.is_empty() {
            return Ok(());
        }
        let mut missing = 0u32;
        for hazard in arch.hazards {
            let mut distance = 0u32;
            for earlier in out.finished().iter().rev() {
                if distance >= u32::from(hazard.states) || earlier.purpose == InstKind::Label {
                    break;
                }
                let Some(producer) = self.tables.atom(earlier.atom) else { continue };
                if producer.tags.contains(&hazard.producer) {
                    missing = missing.max(u32::from(hazard.states).saturating_sub(distance));
                }
                distance =
                    distance.saturating_add(states_of(self.isa, earlier, producer, hazard.counts));
            }
        }
        for hazard in ended(arch).enumerate() {
            self.end_hazard(hazard, None, step.origin, out)?;
        }
        // A branch is itself a wait state and scalar; labels take none.
        self.emit_nops(missing, step, out)
    }

    fn emit_nops(
        &self,
        states: u32,
        origin: &Inst,
        out: &mut InstCursor<'_>,
    ) -> Result<(), InstError> {
        let mut left = states;
        while left > 0 {
            let nop = self.isa.nop.ok_or(InstError::NoAtom(Missing::Frame))?;
            let atom = self.tables.atom(nop).ok_or(InstError::NoAtom(Missing::Frame))?;
            let most = atom.operands.first().map_or(0, |o| o.range.1);
            let most = u32::try_from(most).unwrap_or(0).saturating_add(1);
            let now = left.min(most);
            let mut args = [Slot::None; MAX_ARGS];
            if let Some(first) = args.first_mut() {
                *first = Slot::Int(i32::try_from(now).unwrap_or(1).saturating_sub(1));
            }
            out.push(synchronising(nop, origin.origin, args))?;
            left = left.saturating_sub(now);
        }
        Ok(())
    }
}

fn raise(need: &mut [Option<u32>; COUNTERS], allowed: u32, counter: u8) {
    if let Some(slot) = need.get_mut(usize::from(counter)) {
        *slot = Some(slot.map_or(allowed, |v| v.min(allowed)));
    }
}

/// Whether the hazard's register of `earlier` is one that `later` uses in the hazard's way.
fn share(
    tables: &Tables<'_>,
    patterns: &VecView<TupleStride>,
    earlier: &Inst,
    later: &Inst,
    hazard: &Hazard<'_>,
) -> bool {
    let mut shared = false;
    for_each_register(tables, earlier, patterns, |e| {
        let concerned = match hazard.producer_operand {
            Some(operand) => e.operand == operand,
            None => e.written,
        };
        if !concerned {
            return;
        }
        for_each_register(tables, later, patterns, |l| {
            let used = match hazard.on {
                HazardUse::Read => l.read,
                HazardUse::Write => l.written,
                HazardUse::Any => true,
            };
            let same =
                hazard.unless_same && (l.class, l.first, l.count) == (e.class, e.first, e.count);
            shared |= used
                && !same
                && hazard.operand.is_none_or(|o| o == l.operand)
                && l.overlaps(e.class, e.first, e.count);
        });
    });
    shared
}

/// Whether some step of the kernel reads a register that `writer` writes, in the way that makes the
/// hazard one. Registers count in pairs.
fn has_reader(
    tables: &Tables<'_>,
    steps: &InstCursor<'_>,
    patterns: &VecView<TupleStride>,
    readers: &mut Readers,
    writer: &Inst,
    hazard: &Hazard<'_>,
) -> bool {
    let Some(tag) = hazard.after else { return true };
    let mut found = false;
    for_each_register(tables, writer, patterns, |w| {
        if !w.written || found {
            return;
        }
        let run = (w.class, w.first & !1, w.count.saturating_add(2));
        found = match readers.has(tables, steps, patterns, tag, run) {
            Some(known) => known,
            None => any_reads(tables, steps, patterns, tag, run),
        };
    });
    found
}

/// Whether an atom with a tag reads one of the registers.
#[inline(never)]
fn any_reads(
    tables: &Tables<'_>,
    steps: &InstCursor<'_>,
    patterns: &VecView<TupleStride>,
    tag: TagId,
    (class, first, count): (u8, u16, u16),
) -> bool {
    let mut found = false;
    for reader in steps
        .all()
        .filter(|step| tables.atom(step.atom).is_some_and(|atom| atom.tags.contains(&tag)))
    {
        for_each_register(tables, reader, patterns, |r| {
            found |= r.read && r.overlaps(class, first, count)
        });
    }
    found
}

/// Wait states that a step itself provides: one for each instruction, however long that takes; with
/// `counts` only one, if it is of such an atom.
fn states_of(isa: &Isa<'_>, step: &Inst, atom: &Atom<'_>, counts: &[TagId]) -> u32 {
    if let Some(states) = nop_states(isa, step) {
        return states;
    }
    if !counts.is_empty() {
        return u32::from(counts.iter().any(|tag| atom.tags.contains(tag)));
    }
    atom.template.lines()
}

/// Wait states of an instruction that does nothing else.
fn nop_states(isa: &Isa<'_>, step: &Inst) -> Option<u32> {
    match (isa.nop == Some(step.atom), step.args.first()) {
        (true, Some(&Slot::Int(n))) => Some(u32::try_from(n).unwrap_or(0).saturating_add(1)),
        _ => None,
    }
}

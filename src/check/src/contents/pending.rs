//! Waits and wait states: no step touches a register whose load has not been waited for, and
//! hazards have their distance. Three walks: each loop turns not at all, once or twice.

use crate::contents::storage::{ContentsScratch, LOOPS, NO_LOOP};
use crate::contents::{ContentsContext, class, count};
use crate::violation::Violation;
use lanebook_emit::step::{Purpose, Slot, Step};
use lanebook_tables::{Arch, Atom, Hazard, HazardUse, Role, SyncStep, TagId};

/// Most loads on their way.
const IN_FLIGHT: usize = 256;
/// Most counters of an architecture.
const COUNTERS: usize = 8;
/// Steps that are looked back at.
const RECENT: usize = 128;
/// Most producers that only an atom ends the hazard of.
const OPEN: usize = 64;
/// Most steps of a walk.
const FUEL: u32 = 1 << 18;

/// Registers that a load will fill.
#[derive(Copy, Clone)]
struct PendingLoad {
    slot: Slot,
    step: u16,
    counter: u8,
    sequence: u32,
    unordered: bool,
}

/// Where a walk stands.
struct PendingWalk<'a> {
    look: &'a ContentsContext<'a>,
    arch: &'a Arch<'a>,
    pending: heapless::Vec<PendingLoad, IN_FLIGHT>,
    issued: [u32; COUNTERS],
    recent: heapless::Deque<u16, RECENT>,
    /// Hazard and producer.
    open: heapless::Vec<(u16, u16), OPEN>,
}

/// Checks the waits along all three walks.
#[inline(never)]
pub(super) fn waits(
    look: &ContentsContext<'_>,
    scratch: &ContentsScratch<'_>,
) -> Result<(), Violation> {
    let arch = look.tables.arch(look.plan.arch).ok_or(Violation::UnknownArch)?;
    if arch.counters.is_empty() && arch.hazards.is_empty() {
        return Ok(());
    }
    for turns in 0..3u8 {
        let (pending, open) = (heapless::Vec::new(), heapless::Vec::new());
        let mut walk = PendingWalk {
            look,
            arch,
            pending,
            issued: [0; COUNTERS],
            recent: heapless::Deque::new(),
            open,
        };
        along(look, scratch, turns, |at, step| walk.meet(at, step))?;
    }
    Ok(())
}

/// Meets the steps of one walk, in which each loop turns so many times.
pub(super) fn along(
    look: &ContentsContext<'_>,
    scratch: &ContentsScratch<'_>,
    turns: u8,
    mut meet: impl FnMut(u16, &Step) -> Result<(), Violation>,
) -> Result<(), Violation> {
    let mut done = [0u8; LOOPS];
    let (mut at, mut fuel) = (0u16, FUEL);
    while let Some(step) = look.steps.get(usize::from(at)) {
        fuel = fuel.checked_sub(1).ok_or(Violation::Flow { step: at })?;
        meet(at, step)?;
        at = next(look, scratch, (at, step), turns, &mut done);
    }
    Ok(())
}

/// Where a walk goes on.
fn next(
    look: &ContentsContext<'_>,
    scratch: &ContentsScratch<'_>,
    (at, step): (u16, &Step),
    turns: u8,
    done: &mut [u8],
) -> u16 {
    let behind = at.saturating_add(1);
    if step.purpose == Purpose::Label {
        return behind;
    }
    if step.atom == look.isa.branch {
        return look.target(step).unwrap_or(behind);
    }
    if step.atom != look.isa.branch_if {
        return behind;
    }
    let found = scratch.loops.iter().position(|l| l.last == at && l.nth != NO_LOOP);
    let taken = match found.and_then(|number| done.get_mut(number)) {
        Some(done) if *done < turns => {
            *done = done.saturating_add(1);
            true
        }
        Some(done) => {
            *done = 0;
            false
        }
        None => turns > 0,
    };
    if taken { look.target(step).unwrap_or(behind) } else { behind }
}

/// Whether a step is one of the synchronisation table's, with its immediates.
pub(super) fn is_step(look: &ContentsContext<'_>, step: &Step, want: &SyncStep<'_>) -> bool {
    if step.purpose == Purpose::Label || step.atom != want.atom {
        return false;
    }
    let Some(atom) = look.atom(step) else { return false };
    let fixed = (0usize..)
        .zip(atom.operands.iter())
        .filter(|(_, o)| o.role == Role::Immediate)
        .map(|(k, _)| step.arg(k));
    fixed.zip(want.immediates).all(|(arg, value)| arg == Slot::Int(*value))
}

/// Whether two operands have a register in common.
pub(super) fn overlap(look: &ContentsContext<'_>, a: Slot, b: Slot) -> bool {
    if class(a).is_none() || class(a) != class(b) {
        return false;
    }
    (0..count(a)).any(|k| {
        let own = look.number(a, k);
        own.is_some() && (0..count(b)).any(|n| look.number(b, n) == own)
    })
}

/// Whether an operand is read, and whether it is written.
pub(super) fn uses(role: Role) -> (bool, bool) {
    match role {
        Role::Def => (false, true),
        Role::UseDef => (true, true),
        Role::Use | Role::Address => (true, false),
        Role::Immediate | Role::Label => (false, false),
    }
}

impl PendingWalk<'_> {
    /// Meets a step.
    fn meet(&mut self, at: u16, step: &Step) -> Result<(), Violation> {
        let look = self.look;
        let Some(atom) = look.atom(step) else { return Ok(()) };
        for (k, operand) in atom.operands.iter().enumerate() {
            let slot = step.arg(k);
            if uses(operand.role) == (false, false) || count(slot) == 0 {
                continue;
            }
            if let Some(p) = self.pending.iter().find(|p| overlap(look, p.slot, slot)) {
                return Err(Violation::Pending { producer: p.step, consumer: at });
            }
        }
        self.distance(at, step, atom)?;
        self.wait(step);
        self.issue(at, step, atom)?;
        if self.recent.is_full() {
            let _ = self.recent.pop_front();
        }
        let _ = self.recent.push_back(at);
        self.remember(at, step, atom);
        Ok(())
    }

    /// A wait for a counter.
    fn wait(&mut self, step: &Step) {
        for (number, counter) in self.arch.counters.iter().enumerate() {
            if counter.wait != step.atom {
                continue;
            }
            let operand = self
                .look
                .tables
                .atom(counter.wait)
                .and_then(|a| a.operands.get(usize::from(counter.operand)));
            let top = operand.map_or(i64::MAX, |o| o.range.1);
            // Without an operand it waits for all.
            let value = match step.arg(usize::from(counter.operand)) {
                Slot::Int(v) => u32::try_from(v).unwrap_or(0),
                _ => 0,
            };
            if top != 0 && i64::from(value) >= top {
                continue;
            }
            let issued = self.issued.get(number).copied().unwrap_or(0);
            let mixed =
                self.pending.iter().any(|p| usize::from(p.counter) == number && p.unordered);
            let in_order = counter.in_order && !mixed;
            let done = issued.saturating_sub(value);
            self.pending.retain(|p| {
                usize::from(p.counter) != number || !(value == 0 || in_order && p.sequence < done)
            });
        }
    }

    /// A load begins.
    fn issue(&mut self, at: u16, step: &Step, atom: &Atom<'_>) -> Result<(), Violation> {
        let Some(used) = atom.counter else { return Ok(()) };
        let Some(issued) = self.issued.get_mut(usize::from(used.counter)) else { return Ok(()) };
        let sequence = *issued;
        *issued = issued.saturating_add(1);
        for (k, operand) in atom.operands.iter().enumerate() {
            let slot = step.arg(k);
            if uses(operand.role).1 && count(slot) > 0 {
                let p = PendingLoad {
                    slot,
                    step: at,
                    counter: used.counter,
                    sequence,
                    unordered: used.unordered,
                };
                self.pending.push(p).map_err(|_| Violation::Flow { step: at })?;
            }
        }
        Ok(())
    }

    /// Wait states between a step and those before it.
    fn distance(&self, at: u16, step: &Step, atom: &Atom<'_>) -> Result<(), Violation> {
        let look = self.look;
        for (number, hazard) in
            (0u16..).zip(self.arch.hazards).filter(|(_, h)| atom.tags.contains(&h.consumer))
        {
            if let Some((_, producer)) =
                self.open.iter().find(|(h, p)| *h == number && self.shares(*p, step, hazard))
            {
                return Err(Violation::Hazard { producer: *producer, consumer: at, states: 0 });
            }
            let mut distance = 0u32;
            for earlier in self.recent.iter().rev() {
                if distance >= u32::from(hazard.states) {
                    break;
                }
                let Some(before) = look.steps.get(usize::from(*earlier)) else { continue };
                let Some(own) = look.atom(before) else { continue };
                if hazard.wait.is_none()
                    && own.tags.contains(&hazard.producer)
                    && self.shares(*earlier, step, hazard)
                {
                    return Err(Violation::Hazard {
                        producer: *earlier,
                        consumer: at,
                        states: hazard.states,
                    });
                }
                distance = distance.saturating_add(self.states(before, own, hazard.counts));
            }
        }
        Ok(())
    }

    /// Remembers a producer of hazards that only an atom ends.
    fn remember(&mut self, at: u16, step: &Step, atom: &Atom<'_>) {
        for (number, hazard) in (0u16..).zip(self.arch.hazards).filter(|(_, h)| h.wait.is_some()) {
            if hazard.wait == Some(step.atom) {
                self.open.retain(|(h, _)| *h != number);
            }
            if atom.tags.contains(&hazard.producer) && self.is_read_after(step, hazard) {
                // Of those that are too many the oldest is forgotten.
                if self.open.is_full() {
                    let _ = self.open.remove(0);
                }
                let _ = self.open.push((number, at));
            }
        }
    }

    /// Whether some step reads a register of a producer's in the way that makes the hazard one.
    /// Registers count in pairs.
    fn is_read_after(&self, writer: &Step, hazard: &Hazard<'_>) -> bool {
        let Some(tag) = hazard.after else { return true };
        let look = self.look;
        let Some(atom) = look.atom(writer) else { return false };
        let pairs = |slot: Slot| match slot {
            Slot::Reg { class, count, first } => {
                Slot::Reg { class, first: first & !1, count: count.saturating_add(2) }
            }
            other => other,
        };
        atom.operands.iter().enumerate().filter(|(_, o)| uses(o.role).1).any(|(k, _)| {
            let written = pairs(writer.arg(k));
            look.steps.iter().any(|s| {
                let reader = look.atom(s).filter(|a| a.tags.contains(&tag));
                reader.is_some_and(|a| {
                    a.operands
                        .iter()
                        .enumerate()
                        .any(|(n, o)| uses(o.role).0 && overlap(look, written, s.arg(n)))
                })
            })
        })
    }

    /// Whether the hazard's register of a producer is one that a step uses in the hazard's way.
    fn shares(&self, producer: u16, later: &Step, hazard: &Hazard<'_>) -> bool {
        let look = self.look;
        let Some(earlier) = look.steps.get(usize::from(producer)) else { return false };
        let (Some(first), Some(second)) = (look.atom(earlier), look.atom(later)) else {
            return false;
        };
        first.operands.iter().enumerate().any(|(k, own)| {
            let concerned = hazard.producer_operand.map_or(uses(own.role).1, |operand| {
                usize::from(operand) == k && uses(own.role) != (false, false)
            });
            let theirs = second
                .operands
                .iter()
                .enumerate()
                .filter(|(n, _)| hazard.operand.is_none_or(|o| usize::from(o) == *n));
            concerned
                && theirs.into_iter().any(|(n, other)| {
                    let (read, written) = uses(other.role);
                    let used = match hazard.on {
                        HazardUse::Read => read,
                        HazardUse::Write => written,
                        HazardUse::Any => read || written,
                    };
                    let same = hazard.unless_same && earlier.arg(k) == later.arg(n);
                    used && !same && overlap(look, earlier.arg(k), later.arg(n))
                })
        })
    }

    /// Wait states that a step itself is.
    fn states(&self, step: &Step, atom: &Atom<'_>, counts: &[TagId]) -> u32 {
        if self.look.isa.nop == Some(step.atom)
            && let Slot::Int(n) = step.arg(0)
        {
            return u32::try_from(n).unwrap_or(0).saturating_add(1);
        }
        if !counts.is_empty() {
            return u32::from(counts.iter().any(|tag| atom.tags.contains(tag)));
        }
        atom.template.lines()
    }
}

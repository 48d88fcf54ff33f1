//! Wait states: between two steps of a hazard of the table are so many as it says, or the atom that
//! ends it, on any way through the steps.
//!
//! Some pairs of a hazard and a step that begins it are followed at a time: what counts of each is
//! how many wait states passed, at least. Where ways meet, the least of both holds.

use crate::contents::ContentsContext;
use crate::contents::operands::{overlap, uses};
use crate::order::ways::{BranchTargets, FlowState};
use crate::violation::Violation;
use lanebook_emit::step::{Inst, Slot};
use lanebook_tables::{Atom, Hazard, HazardUse, TagId};

/// Pairs that are followed at a time.
const BATCH: usize = 16;
/// A hazard that is over.
const OVER: u32 = u32::MAX;

/// A hazard and the step that begins it.
#[derive(Copy, Clone)]
struct Begun<'a> {
    hazard: &'a Hazard<'a>,
    step: u16,
}

/// Wait states since each pair's step.
#[derive(Copy, Clone)]
struct Passed([u32; BATCH]);

impl FlowState for Passed {
    fn join(&mut self, other: &Self) -> bool {
        let mut weaker = false;
        for (own, theirs) in self.0.iter_mut().zip(other.0) {
            weaker |= theirs < *own;
            *own = theirs.min(*own);
        }
        weaker
    }

    fn taken(&mut self) {}
}

/// Checks the wait states on all ways.
#[inline(never)]
pub(in crate::contents) fn wait_states(
    look: &ContentsContext<'_>,
    ways: &BranchTargets,
) -> Result<(), Violation> {
    let mut batch: heapless::Vec<Begun<'_>, BATCH> = heapless::Vec::new();
    for (at, step) in (0u16..).zip(look.steps) {
        let Some(atom) = look.atom(step) else { continue };
        let begun = look.arch.hazards.iter().filter(|h| {
            atom.tags.contains(&h.producer)
                && if h.wait.is_some() { is_read_after(look, step, h) } else { h.states > 0 }
        });
        for hazard in begun {
            if batch.is_full() {
                follow(look, ways, &batch)?;
                batch.clear();
            }
            let _ = batch.push(Begun { hazard, step: at });
        }
    }
    if batch.is_empty() { Ok(()) } else { follow(look, ways, &batch) }
}

/// Follows some pairs to where they are over.
#[inline(never)]
fn follow(
    look: &ContentsContext<'_>,
    ways: &BranchTargets,
    batch: &heapless::Vec<Begun<'_>, BATCH>,
) -> Result<(), Violation> {
    let (Some(first), Some(last)) = (batch.first(), batch.last()) else { return Ok(()) };
    let (first, last) = (usize::from(first.step), usize::from(last.step));
    let meet = |at: usize, step: &Inst, held: &mut Passed| {
        let Some(atom) = look.atom(step) else { return Ok(true) };
        for (Begun { hazard, step: producer }, passed) in batch.iter().zip(&mut held.0) {
            if *passed != OVER {
                let consumes = atom.tags.contains(&hazard.consumer);
                if consumes && shares(look, *producer, step, hazard) {
                    return Err(Violation::Hazard {
                        producer: *producer,
                        consumer: u16::try_from(at).unwrap_or(u16::MAX),
                        states: if hazard.wait.is_some() { 0 } else { hazard.states },
                    });
                }
                *passed = match hazard.wait {
                    Some(wait) if wait == step.atom => OVER,
                    Some(_) => 0,
                    None => passed.saturating_add(states(look, step, atom, hazard.counts)),
                };
                if hazard.wait.is_none() && *passed >= u32::from(hazard.states) {
                    *passed = OVER;
                }
            }
            if usize::from(*producer) == at {
                *passed = 0;
            }
        }
        // Behind all of them and with none left, nothing more can be met.
        Ok(at < last || held.0.iter().any(|passed| *passed != OVER))
    };
    look.order().everywhere(ways, (first, Passed([OVER; BATCH])), meet, |_| Ok(()))
}

/// Whether some step reads a register of a producer's in the way that makes the hazard one.
/// Registers count in pairs.
fn is_read_after(look: &ContentsContext<'_>, writer: &Inst, hazard: &Hazard<'_>) -> bool {
    let Some(tag) = hazard.after else { return true };
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
fn shares(look: &ContentsContext<'_>, producer: u16, later: &Inst, hazard: &Hazard<'_>) -> bool {
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
fn states(look: &ContentsContext<'_>, step: &Inst, atom: &Atom<'_>, counts: &[TagId]) -> u32 {
    if look.isa.nop == Some(step.atom)
        && let Slot::Int(n) = step.arg(0)
    {
        return u32::try_from(n).unwrap_or(0).saturating_add(1);
    }
    if !counts.is_empty() {
        return u32::from(counts.iter().any(|tag| atom.tags.contains(tag)));
    }
    atom.template.lines()
}

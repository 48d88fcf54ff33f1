//! Waits: no step touches a register that a load fills before the load has been waited for, on any
//! way through the steps.
//!
//! Some loads at a time are followed from where they begin: what counts of each is how many
//! operations of its counter began behind it, at least. Where ways meet, the least of both holds.

use crate::contents::ContentsContext;
use crate::contents::operands::{overlap, uses};
use crate::order::ways::{BranchTargets, FlowState};
use crate::violation::Violation;
use lanebook_emit::step::{Inst, Slot};
use lanebook_tables::{Atom, CounterUse};

/// Loads that are followed at a time.
const BATCH: usize = 16;
/// A load that is not on its way.
const ARRIVED: u16 = u16::MAX;

/// A step that fills registers some time later.
#[derive(Copy, Clone)]
struct Load {
    step: u16,
    used: CounterUse,
}

/// What is on its way at a place.
#[derive(Copy, Clone)]
struct InFlight {
    /// Of each load: operations of its counter that began behind it.
    behind: [u16; BATCH],
    /// Counters, a bit each, of which loads may be on their way that arrive in any order.
    unordered: u8,
}

impl FlowState for InFlight {
    fn join(&mut self, other: &Self) -> bool {
        let mut weaker = other.unordered & !self.unordered != 0;
        self.unordered |= other.unordered;
        for (own, theirs) in self.behind.iter_mut().zip(other.behind) {
            weaker |= theirs < *own;
            *own = theirs.min(*own);
        }
        weaker
    }

    fn taken(&mut self) {}
}

/// Checks the waits on all ways.
#[inline(never)]
pub(in crate::contents) fn waits(
    look: &ContentsContext<'_>,
    ways: &BranchTargets,
) -> Result<(), Violation> {
    let mut batch: heapless::Vec<Load, BATCH> = heapless::Vec::new();
    for (at, step) in (0u16..).zip(look.steps) {
        let Some(used) = look.atom(step).and_then(|atom| fills(step, atom)) else { continue };
        if batch.is_full() {
            follow(look, ways, &batch)?;
            batch.clear();
        }
        let _ = batch.push(Load { step: at, used });
    }
    if batch.is_empty() { Ok(()) } else { follow(look, ways, &batch) }
}

/// The counter of a step that fills registers later.
fn fills(step: &Inst, atom: &Atom<'_>) -> Option<CounterUse> {
    let is_filled = |(k, slot): (usize, Slot)| {
        crate::contents::count(slot) > 0 && atom.operands.get(k).is_some_and(|o| uses(o.role).1)
    };
    let mut slots = (0..atom.operands.len()).map(|k| (k, step.arg(k)));
    atom.counter.filter(|_| slots.any(is_filled))
}

/// Follows some loads to where they are waited for.
#[inline(never)]
fn follow(
    look: &ContentsContext<'_>,
    ways: &BranchTargets,
    batch: &heapless::Vec<Load, BATCH>,
) -> Result<(), Violation> {
    let start = InFlight { behind: [ARRIVED; BATCH], unordered: 0 };
    let meet = |at: usize, step: &Inst, held: &mut InFlight| {
        if let Some(atom) = look.atom(step) {
            touch(look, batch, (at, step, atom), held)?;
            wait(look, batch, step, held);
            issue(batch, (at, step, atom), held);
        }
        Ok(true)
    };
    look.order().everywhere(ways, (0, start), meet, |_| Ok(()))
}

/// Nothing touches what a load fills.
fn touch(
    look: &ContentsContext<'_>,
    batch: &heapless::Vec<Load, BATCH>,
    (at, step, atom): (usize, &Inst, &Atom<'_>),
    held: &InFlight,
) -> Result<(), Violation> {
    let on_its_way = batch
        .iter()
        .zip(held.behind)
        .filter(|(_, behind)| *behind != ARRIVED)
        .map(|(load, _)| load);
    for load in on_its_way {
        let Some(filling) = look.steps.get(usize::from(load.step)) else { continue };
        let Some(own) = look.atom(filling) else { continue };
        let filled = |slot: Slot| {
            own.operands
                .iter()
                .enumerate()
                .any(|(k, o)| uses(o.role).1 && overlap(look, filling.arg(k), slot))
        };
        let touched = atom
            .operands
            .iter()
            .enumerate()
            .any(|(k, o)| uses(o.role) != (false, false) && filled(step.arg(k)))
            || filled(step.guard_slot());
        if touched {
            let consumer = u16::try_from(at).unwrap_or(u16::MAX);
            return Err(Violation::Pending { producer: load.step, consumer });
        }
    }
    Ok(())
}

/// A wait for counters.
fn wait(
    look: &ContentsContext<'_>,
    batch: &heapless::Vec<Load, BATCH>,
    step: &Inst,
    held: &mut InFlight,
) {
    for (number, counter) in (0u8..).zip(look.arch.counters).filter(|(_, c)| c.wait == step.atom) {
        let operand = look
            .tables
            .atom(counter.wait)
            .and_then(|a| a.operands.get(usize::from(counter.operand)));
        let top = operand.map_or(i64::MAX, |o| o.range.1);
        // Without an operand it waits for all.
        let value = match step.arg(usize::from(counter.operand)) {
            Slot::Int(v) => u16::try_from(v).unwrap_or(0),
            _ => 0,
        };
        if top != 0 && i64::from(value) >= top {
            continue;
        }
        let bit = 1u8.checked_shl(u32::from(number)).unwrap_or(0);
        let in_order = counter.in_order && held.unordered & bit == 0;
        for (load, behind) in batch.iter().zip(&mut held.behind) {
            if load.used.counter == number && (value == 0 || in_order && *behind >= value) {
                *behind = ARRIVED;
            }
        }
        if value == 0 {
            held.unordered &= !bit;
        }
    }
}

/// An operation of a counter begins.
fn issue(
    batch: &heapless::Vec<Load, BATCH>,
    (at, step, atom): (usize, &Inst, &Atom<'_>),
    held: &mut InFlight,
) {
    let Some(used) = atom.counter else { return };
    for (load, behind) in batch.iter().zip(&mut held.behind) {
        if usize::from(load.step) == at {
            *behind = 0;
        } else if load.used.counter == used.counter && *behind != ARRIVED {
            *behind = behind.saturating_add(1).min(ARRIVED.wrapping_sub(1));
        }
    }
    if used.unordered && fills(step, atom).is_some() {
        held.unordered |= 1u8.checked_shl(u32::from(used.counter)).unwrap_or(0);
    }
}

//! Copies in flight: what counts them, and the waits that leave the last ones outstanding.
//!
//! Either a step behind the copies closes a group, and groups are counted, or each copy is counted by
//! itself. Both complete in the order in which they began. A copy through registers is loaded before
//! what its turn multiplies and stored behind that: its loads are waited for where they are stored.

use crate::data::{Plan, TransferPlan};
use lanebook_ir::{Op, Program};
use lanebook_tables::{Arch, Atom, Role, SyncRule, SyncStep, Tables};

/// A step of a rule that waits for all operations of a counter that completes in order, and might
/// leave the last ones outstanding.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct CountedWait {
    /// Number of the counter.
    pub counter: u8,
    /// Which of the step's immediates says how many operations may be outstanding.
    pub immediate: u8,
    /// The most that it can say: the greatest number of the operand waits for nothing.
    pub most: u32,
}

impl CountedWait {
    /// That of a step, if it is one.
    #[must_use]
    pub fn of(tables: &Tables<'_>, arch: &Arch<'_>, step: &SyncStep<'_>) -> Option<Self> {
        let atom = tables.atom(step.atom)?;
        let counters = arch.waited_by(step.atom).filter(|(_, c)| c.in_order);
        for (counter, c) in counters {
            let own = usize::from(c.operand);
            let operand = atom.operands.get(own).filter(|o| o.role == Role::Immediate);
            let before =
                atom.operands.iter().take(own).filter(|o| o.role == Role::Immediate).count();
            let (Some(operand), Some(0)) = (operand, step.immediates.get(before)) else { continue };
            let most = operand.range.1.saturating_sub(1).min(i64::from(c.max));
            let (Ok(most), Ok(immediate)) = (u32::try_from(most), u8::try_from(before)) else {
                continue;
            };
            return Some(Self { counter, immediate, most });
        }
        None
    }
}

/// Whether a step closes a group of what a counter counts.
#[must_use]
#[doc(hidden)]
pub fn closes_group(tables: &Tables<'_>, step: &SyncStep<'_>, counter: u8) -> bool {
    let used = tables.atom(step.atom).and_then(|atom| atom.counter);
    step.after_producer && used.is_some_and(|used| used.counter == counter)
}

/// How many operations of a counter the copies of one turn of a loop of stages are: one, where they
/// are a group.
#[must_use]
#[doc(hidden)]
pub fn copies_of_a_turn(
    (tables, arch): (&Tables<'_>, &Arch<'_>),
    program: &Program<'_, '_>,
    plan: &Plan<'_>,
    (around, counter): (Op, u8),
) -> u32 {
    let mut count = 0u32;
    let own = |m: &&TransferPlan| program.parent(m.op) == Some(around) && m.second.is_none();
    for m in plan.transfers.iter().filter(own) {
        let Some(atom) = tables.atom(m.atom).filter(|_| plan.runs_ahead(m.op)) else { continue };
        let writes = atom.movement.map(|movement| movement.to.access);
        let closes =
            |rule: &SyncRule<'_>| rule.steps.iter().any(|step| closes_group(tables, step, counter));
        if writes.is_some_and(|writes| arch.syncs_behind(writes).any(closes)) {
            return 1;
        }
        if atom.counter.is_some_and(|used| used.counter == counter) {
            count = count.saturating_add(m.tiling.count());
        }
    }
    count
}

/// Whether a product's own end, for which everybody waits, is all that a rule wants behind it.
#[must_use]
#[doc(hidden)]
pub fn ends_with_product(arch: &Arch<'_>, atom: &Atom<'_>, rule: &SyncRule<'_>) -> bool {
    let own = atom.tensor().and_then(|own| arch.sync_between(own.writes, own.reads));
    let has = |step: &SyncStep<'_>| {
        let same = |s: &SyncStep<'_>| s.atom == step.atom && s.immediates == step.immediates;
        own.is_some_and(|own| own.steps.iter().any(same))
    };
    rule.steps.iter().all(has) && own.is_some()
}

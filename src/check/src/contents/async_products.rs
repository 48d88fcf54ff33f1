//! Registers of products that run beside the lanes: ordered before them and behind them by what the
//! table has. Three walks: each loop turns not at all, once or twice.

use crate::contents::ContentsContext;
use crate::contents::pending::{along, is_step, overlap, uses};
use crate::contents::storage::ContentsScratch;
use crate::violation::Violation;
use lanebook_emit::step::{Purpose, Slot, Step};
use lanebook_tables::{AccessId, SyncStep};

/// Most different tuples of registers of such products.
const TUPLES: usize = 64;

/// Registers that such products read or write.
#[derive(Copy, Clone)]
struct Tuple {
    slot: Slot,
    /// A product writes it.
    sums: bool,
    /// Something else has written it since lanes and unit were ordered.
    dirty: bool,
    /// The product that may still be at work on it.
    busy: Option<u16>,
}

type Tuples = heapless::Vec<Tuple, TUPLES>;

/// What such a product's unit does to registers.
fn kind(look: &ContentsContext<'_>, step: &Step) -> Option<AccessId> {
    if step.purpose == Purpose::Matrix { look.atom(step)?.more?.runs } else { None }
}

/// The registers of a product's step that the unit works on, and whether it writes them: not those
/// of its descriptors.
fn operands<'a>(
    look: &'a ContentsContext<'_>,
    step: &'a Step,
) -> impl Iterator<Item = (Slot, bool)> + use<'a> {
    let atom = look.atom(step);
    let all = atom
        .into_iter()
        .flat_map(|atom| atom.operands.iter().enumerate().map(move |(k, o)| (atom, k, o)));
    all.filter_map(move |(atom, k, o)| {
        let (read, written) = uses(o.role);
        let number = u8::try_from(k).ok()?;
        let described = atom.shared(number).is_some();
        let slot = step.arg(k);
        ((read || written) && !described && crate::contents::count(slot) > 0)
            .then_some((slot, written))
    })
}

/// Checks the registers along all three walks.
#[inline(never)]
pub(super) fn registers(
    look: &ContentsContext<'_>,
    scratch: &ContentsScratch<'_>,
) -> Result<(), Violation> {
    let Some(kind) = look.steps.iter().find_map(|step| kind(look, step)) else { return Ok(()) };
    for turns in 0..3u8 {
        let mut walk = ProductWalk { look, kind, tuples: tuples(look), before: 0, after: 0 };
        along(look, scratch, turns, |at, step| walk.meet(at, step))?;
    }
    Ok(())
}

/// All such registers; of those that are too many nothing is said.
fn tuples(look: &ContentsContext<'_>) -> Tuples {
    let mut out = Tuples::new();
    for step in look.steps.iter().filter(|step| kind(look, step).is_some()) {
        for (slot, sums) in operands(look, step) {
            match out.iter_mut().find(|t| t.slot == slot) {
                Some(t) => t.sums |= sums,
                None => {
                    let _ = out.push(Tuple { slot, sums, dirty: true, busy: None });
                }
            }
        }
    }
    out
}

/// Where a walk stands.
struct ProductWalk<'a> {
    look: &'a ContentsContext<'a>,
    kind: AccessId,
    tuples: Tuples,
    /// Steps that the rule has for what stands before such products and behind them, and are done.
    before: usize,
    after: usize,
}

impl<'a> ProductWalk<'a> {
    fn rule(&self, before: bool) -> &'a [SyncStep<'a>] {
        let rule = self
            .look
            .arch
            .sync
            .iter()
            .find(|r| self.kind == if before { r.consumer } else { r.producer });
        rule.map_or(&[], |r| r.steps)
    }

    /// Meets a step.
    fn meet(&mut self, at: u16, step: &Step) -> Result<(), Violation> {
        let look = self.look;
        if kind(look, step).is_some() {
            return self.product(at, step);
        }
        let Some(atom) = look.atom(step) else { return Ok(()) };
        for (k, operand) in atom.operands.iter().enumerate() {
            let (slot, (read, written)) = (step.arg(k), uses(operand.role));
            if crate::contents::count(slot) == 0 || !(read || written) {
                continue;
            }
            for tuple in self.tuples.iter_mut().filter(|t| overlap(look, t.slot, slot)) {
                if let Some(producer) = tuple.busy.filter(|_| written || tuple.sums) {
                    return Err(Violation::Pending { producer, consumer: at });
                }
                tuple.dirty |= written;
            }
        }
        let (before, after) = (self.rule(true), self.rule(false));
        if before.get(self.before).is_some_and(|want| is_step(look, step, want)) {
            self.before = self.before.saturating_add(1);
        }
        if self.before >= before.len() {
            self.before = 0;
            self.tuples.iter_mut().for_each(|t| t.dirty = false);
        }
        if after.get(self.after).is_some_and(|want| is_step(look, step, want)) {
            self.after = self.after.saturating_add(1);
        }
        if self.after >= after.len() {
            self.after = 0;
            self.tuples.iter_mut().for_each(|t| t.busy = None);
        }
        Ok(())
    }

    /// A product's step.
    fn product(&mut self, at: u16, step: &Step) -> Result<(), Violation> {
        let look = self.look;
        let before = self.rule(true);
        self.after = 0;
        for (slot, writes) in operands(look, step) {
            for tuple in self.tuples.iter_mut().filter(|t| overlap(look, t.slot, slot)) {
                if let (true, Some(want)) = (tuple.dirty, before.first()) {
                    return Err(Violation::Race { producer: at, consumer: at, missing: want.atom });
                }
                // Products that add to the same registers follow each other.
                if let Some(producer) =
                    tuple.busy.filter(|_| (tuple.sums || writes) && tuple.slot != slot)
                {
                    return Err(Violation::Pending { producer, consumer: at });
                }
                tuple.busy = Some(at);
            }
        }
        Ok(())
    }
}

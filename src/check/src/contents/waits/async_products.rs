//! Registers of products that run beside the lanes: ordered before them and behind them by what the
//! table has, on all ways through the steps.

use crate::contents::ContentsContext;
use crate::contents::operands::{is_step, overlap, uses};
use crate::order::ways::{BranchTargets, FlowState};
use crate::violation::Violation;
use lanebook_emit::step::{Inst, InstKind, Slot};
use lanebook_tables::{AccessId, SyncStep};

/// Most different tuples of registers of such products.
const TUPLES: usize = 64;

/// Registers that such products read or write.
#[derive(Copy, Clone)]
struct Tuple {
    slot: Slot,
    /// A product writes it.
    sums: bool,
    /// The first product that works on it.
    product: u16,
}

/// Tuples, and a bit each in the words of [`Works`].
type Tuples = heapless::Vec<Tuple, TUPLES>;

/// What holds of the tuples at a place.
#[derive(Copy, Clone)]
struct Works {
    /// Something else has written it since lanes and unit were ordered.
    dirty: u64,
    /// A product may still be at work on it.
    busy: u64,
    /// Steps that the rule has for what stands before such products and behind them, and are done.
    before: u8,
    after: u8,
}

impl FlowState for Works {
    fn join(&mut self, other: &Self) -> bool {
        let was = (self.dirty, self.busy, self.before, self.after);
        self.dirty |= other.dirty;
        self.busy |= other.busy;
        self.before = self.before.min(other.before);
        self.after = self.after.min(other.after);
        was != (self.dirty, self.busy, self.before, self.after)
    }

    fn taken(&mut self) {}
}

/// What such a product's unit does to registers.
fn kind(look: &ContentsContext<'_>, step: &Inst) -> Option<AccessId> {
    if step.purpose == InstKind::Matrix { look.atom(step)?.more?.runs } else { None }
}

/// The registers of a product's step that the unit works on, and whether it writes them: not those
/// of its descriptors.
fn operands<'a>(
    look: &'a ContentsContext<'_>,
    step: &'a Inst,
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

/// Checks the registers on all ways.
#[inline(never)]
pub(in crate::contents) fn registers(
    look: &ContentsContext<'_>,
    ways: &BranchTargets,
) -> Result<(), Violation> {
    let Some(kind) = look.steps.iter().find_map(|step| kind(look, step)) else { return Ok(()) };
    let walk = ProductWalk { look, kind, tuples: tuples(look) };
    let start = Works { dirty: u64::MAX, busy: 0, before: 0, after: 0 };
    look.order().everywhere(
        ways,
        (0, start),
        |at, step, held| {
            walk.meet(u16::try_from(at).unwrap_or(u16::MAX), step, held)?;
            Ok(true)
        },
        |_| Ok(()),
    )
}

/// All such registers; of those that are too many nothing is said.
fn tuples(look: &ContentsContext<'_>) -> Tuples {
    let mut out = Tuples::new();
    for (at, step) in (0u16..).zip(look.steps).filter(|(_, step)| kind(look, step).is_some()) {
        for (slot, sums) in operands(look, step) {
            match out.iter_mut().find(|t| t.slot == slot) {
                Some(t) => t.sums |= sums,
                None => {
                    let _ = out.push(Tuple { slot, sums, product: at });
                }
            }
        }
    }
    out
}

/// What is the same at all places.
struct ProductWalk<'a> {
    look: &'a ContentsContext<'a>,
    kind: AccessId,
    tuples: Tuples,
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

    /// The tuples that have a register in common with an operand, each with its bit.
    fn touched(&self, slot: Slot) -> impl Iterator<Item = (&Tuple, u64)> {
        let bits = (0u32..64).map(|bit| 1u64.wrapping_shl(bit));
        self.tuples.iter().zip(bits).filter(move |(t, _)| overlap(self.look, t.slot, slot))
    }

    /// Meets a step.
    fn meet(&self, at: u16, step: &Inst, held: &mut Works) -> Result<(), Violation> {
        let look = self.look;
        if kind(look, step).is_some() {
            return self.product(at, step, held);
        }
        let Some(atom) = look.atom(step) else { return Ok(()) };
        for (k, operand) in atom.operands.iter().enumerate() {
            let (slot, (read, written)) = (step.arg(k), uses(operand.role));
            if crate::contents::count(slot) == 0 || !(read || written) {
                continue;
            }
            for (tuple, bit) in self.touched(slot) {
                if held.busy & bit != 0 && (written || tuple.sums) {
                    return Err(Violation::Pending { producer: tuple.product, consumer: at });
                }
                if written {
                    held.dirty |= bit;
                }
            }
        }
        let done = |rule: &[SyncStep<'_>], met: u8| {
            let next = rule.get(usize::from(met));
            let met = if next.is_some_and(|want| is_step(look, step, want)) {
                met.saturating_add(1)
            } else {
                met
            };
            (met, usize::from(met) >= rule.len())
        };
        let (before, ordered) = done(self.rule(true), held.before);
        held.before = if ordered { 0 } else { before };
        if ordered {
            held.dirty = 0;
        }
        let (after, over) = done(self.rule(false), held.after);
        held.after = if over { 0 } else { after };
        if over {
            held.busy = 0;
        }
        Ok(())
    }

    /// A product's step.
    fn product(&self, at: u16, step: &Inst, held: &mut Works) -> Result<(), Violation> {
        let before = self.rule(true);
        held.after = 0;
        for (slot, writes) in operands(self.look, step) {
            for (tuple, bit) in self.touched(slot) {
                if let (true, Some(want)) = (held.dirty & bit != 0, before.first()) {
                    return Err(Violation::Race { producer: at, consumer: at, missing: want.atom });
                }
                // Products that add to the same registers follow each other.
                if held.busy & bit != 0 && (tuple.sums || writes) && tuple.slot != slot {
                    return Err(Violation::Pending { producer: tuple.product, consumer: at });
                }
                held.busy |= bit;
            }
        }
        Ok(())
    }
}

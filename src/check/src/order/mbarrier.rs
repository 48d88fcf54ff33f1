//! Mbarriers, one after the other, on every way through the steps: made and published
//! before their use, announced once a phase, counted down to nothing, waited for once with the right
//! parity.

use crate::order::place::{AccessPlace, SharedAccess};
use crate::order::ring::ObjectRing;
use crate::order::walks::{OrderContext, narrow};
use crate::order::ways::{BranchTargets, FlowState};
use crate::reader::has;
use crate::violation::{ObjectFault, Violation};
use lanebook_emit::step::{Inst, InstKind, Slot};
use lanebook_tables::{FrameOperand, IndexOp, Mbarrier, TermNode};

/// Most registers that parities are read from.
const PARITIES: usize = 16;

type Parities = heapless::Vec<Slot, PARITIES>;

/// What is known of a bit.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Bit {
    Known(bool),
    Either,
}

impl Bit {
    fn join(&mut self, other: Self) {
        if *self != other {
            *self = Self::Either;
        }
    }

    fn flipped(self) -> Self {
        if let Self::Known(bit) = self { Self::Known(!bit) } else { self }
    }
}

/// What is known of an object.
#[derive(Copy, Clone, PartialEq, Eq)]
struct Phase {
    /// Whether it is made.
    made: Bit,
    /// Steps since, of those that publish it.
    published: u8,
    /// Whether its phase is announced.
    announced: Bit,
    /// By how many bytes.
    bytes: u32,
    /// Bytes of the copies that have begun.
    started: u32,
    /// Parity of the phase that runs.
    parity: Bit,
    /// Registers whose difference from that is known, and those that differ.
    known: u16,
    differ: u16,
}

impl Phase {
    fn of_register(&self, number: usize) -> Bit {
        let bit = 1u16.wrapping_shl(u32::try_from(number).unwrap_or(0));
        if self.known & bit == 0 { Bit::Either } else { Bit::Known(self.differ & bit != 0) }
    }

    fn set_register(&mut self, number: usize, differs: Bit) {
        let bit = 1u16.wrapping_shl(u32::try_from(number).unwrap_or(0));
        (self.known, self.differ) = (self.known & !bit, self.differ & !bit);
        if let Bit::Known(differs) = differs {
            self.known |= bit;
            self.differ |= if differs { bit } else { 0 };
        }
    }

    /// The next phase runs.
    fn next(&mut self) {
        self.parity = self.parity.flipped();
        self.differ = !self.differ & self.known;
        (self.announced, self.bytes, self.started) = (Bit::Known(false), 0, 0);
    }
}

impl FlowState for Phase {
    fn join(&mut self, other: &Self) -> bool {
        let before = *self;
        self.made.join(other.made);
        self.published = self.published.min(other.published);
        if (self.bytes, self.started) != (other.bytes, other.started) {
            self.announced = Bit::Either;
        }
        self.announced.join(other.announced);
        self.parity.join(other.parity);
        self.known &= other.known & !(self.differ ^ other.differ);
        self.differ &= self.known;
        before != *self
    }

    fn taken(&mut self) {}
}

impl OrderContext<'_> {
    /// The architecture's objects.
    pub(crate) fn object(&self) -> Option<&Mbarrier<'_>> {
        self.tables.units.mbarriers.iter().find(|c| has(self.arch, c.feature))
    }

    /// Statement 17.
    #[inline(never)]
    pub(crate) fn mbarriers(&self, ways: &BranchTargets) -> Result<(), Violation> {
        let Some(table) = self.object().filter(|_| self.plan.mbarriers > 0) else {
            return Ok(());
        };
        let mut parities = Parities::new();
        let is = |s: &&Inst| s.purpose != InstKind::Label && s.atom == table.wait;
        for (at, step) in self.steps.iter().enumerate().filter(|(_, s)| is(s)) {
            let place = step.args.get(1).copied().unwrap_or_default();
            if matches!(place, Slot::Reg { .. }) && !parities.contains(&place) {
                parities.push(place).map_err(|_| Violation::Flow { step: narrow(at) })?;
            }
        }
        let mut made = 0u32;
        for (at, step) in self.steps.iter().enumerate() {
            // What is used is made somewhere.
            let used = match step.purpose {
                InstKind::Label => None,
                _ if step.atom == table.expect => step.args.get(1).copied(),
                _ if step.atom == table.wait => step.args.first().copied(),
                _ => match self.signals(at, step)? {
                    Some((slot, _)) => Some(slot),
                    None => self.arrives(step).map(|(_, slot)| slot),
                },
            };
            let alone = used.filter(|_| self.ring_of(at, step).is_none());
            if alone.is_some_and(|slot| self.number_of(table, slot).is_none()) {
                return Err(wrong(at, u32::MAX, ObjectFault::Made, 0, 1));
            }
            if step.purpose != InstKind::Label && step.atom == table.init {
                let slot = step.args.get(1).copied().unwrap_or_default();
                if self.number_of(table, slot) == Some(made) {
                    self.phases(table, ways, (made, slot), &parities)?;
                    made = made.saturating_add(1);
                } else {
                    return Err(wrong(at, made, ObjectFault::Made, 0, 1));
                }
            }
        }
        let want = u32::from(self.plan.mbarriers);
        if made == want {
            self.rings(table)
        } else {
            Err(wrong(self.steps.len(), made, ObjectFault::Made, made, want))
        }
    }

    /// Which of the steps that make objects makes the one at an address.
    fn number_of(&self, table: &Mbarrier<'_>, slot: Slot) -> Option<u32> {
        let mut made =
            self.steps.iter().filter(|s| s.purpose != InstKind::Label && s.atom == table.init);
        u32::try_from(made.position(|s| s.args.get(1) == Some(&slot))?).ok()
    }

    /// The phases of one object.
    #[inline(never)]
    fn phases(
        &self,
        table: &Mbarrier<'_>,
        ways: &BranchTargets,
        (object, slot): (u32, Slot),
        parities: &Parities,
    ) -> Result<(), Violation> {
        let begun = Phase {
            made: Bit::Known(false),
            published: 0,
            announced: Bit::Known(false),
            bytes: 0,
            started: 0,
            parity: Bit::Known(false),
            known: 0,
            differ: 0,
        };
        let yes = Bit::Known(true);
        let meet = |at: usize, step: &Inst, phase: &mut Phase| {
            self.advance_phase(table, (object, slot), parities, (at, step), phase)
        };
        let end = |phase: &Phase| {
            let at = self.steps.len();
            if phase.made != yes {
                return Err(wrong(at, object, ObjectFault::Made, 0, 1));
            }
            // Nothing is on its way when the kernel ends.
            if phase.announced == Bit::Known(false) {
                Ok(())
            } else {
                Err(wrong(at, object, ObjectFault::Waited, 0, 1))
            }
        };
        self.everywhere(ways, (0, begun), meet, end)
    }

    /// For how many arrivals an object is made: a buffer is free when all have said that they have
    /// read it.
    fn arrivals(&self, ring: Option<ObjectRing>) -> Slot {
        let is_freed = ring
            .is_some_and(|ring| self.ring(ring.around).is_some_and(|of| of.first != ring.first));
        let all = i32::try_from(self.plan.threads).unwrap_or(i32::MAX);
        Slot::Int(if is_freed { all } else { 1 })
    }

    /// What a step does to an object at `slot`; always to be gone on from.
    fn advance_phase(
        &self,
        table: &Mbarrier<'_>,
        (object, slot): (u32, Slot),
        parities: &Parities,
        (at, step): (usize, &Inst),
        phase: &mut Phase,
    ) -> Result<bool, Violation> {
        let yes = Bit::Known(true);
        let fault = |what, found, want| Err(wrong(at, object, what, found, want));
        let arg = |k: usize| step.args.get(k).copied().unwrap_or_default();
        self.follow_parity(step, parities, phase);
        let publishes = table.publish.get(usize::from(phase.published));
        if publishes.is_some_and(|want| self.does(step, want, None)) {
            phase.published = phase.published.saturating_add(1);
        }
        let unpublished = usize::from(phase.published) < table.publish.len();
        let want = u32::try_from(table.publish.len()).unwrap_or(0);
        let ring = self.ring_with(object);
        // The phases of a ring's objects are the ring's: they are made and published before all of
        // them; and all objects, where other warps leave.
        let of = self.ring_of(at, step);
        let begins = of.is_some() && ring == of || self.branch.map(usize::from) == Some(at);
        if begins && phase.made != yes {
            return fault(ObjectFault::Made, 0, 1);
        }
        if begins && unpublished {
            return fault(ObjectFault::Published, phase.published.into(), want);
        }
        if of.is_some() {
            return Ok(true);
        }
        if step.atom == table.init {
            phase.published = 0;
            if arg(1) != slot {
                return Ok(true);
            }
            let arrivals = self.arrivals(ring);
            if phase.made != Bit::Known(false) || !self.by_one(arg(0)) || arg(2) != arrivals {
                return fault(ObjectFault::Made, 0, 1);
            }
            phase.made = yes;
        } else if step.atom == table.expect {
            if arg(1) != slot {
                return Ok(true);
            }
            if ring.is_some() {
                return fault(ObjectFault::Announced, 2, 1);
            }
            if phase.made != yes {
                return fault(ObjectFault::Made, 0, 1);
            }
            if unpublished {
                return fault(ObjectFault::Published, phase.published.into(), want);
            }
            let (Some(bytes), true) = (number(arg(2)), self.by_one(arg(0))) else {
                return fault(ObjectFault::Announced, 0, 1);
            };
            if phase.announced != Bit::Known(false) {
                return fault(ObjectFault::Announced, 2, 1);
            }
            (phase.announced, phase.bytes) = (yes, bytes);
        } else if let Some((_, bytes)) = self.signals(at, step)?.filter(|(own, _)| *own == slot) {
            if phase.made != yes {
                return fault(ObjectFault::Made, 0, 1);
            }
            if phase.announced != yes {
                return fault(ObjectFault::Announced, 0, 1);
            }
            phase.started = phase.started.saturating_add(bytes);
        } else if let Some((on, _)) = self.arrives(step).filter(|(_, own)| *own == slot) {
            if phase.made != yes {
                return fault(ObjectFault::Made, 0, 1);
            }
            if unpublished {
                return fault(ObjectFault::Published, phase.published.into(), want);
            }
            if !self.by_one(on) || phase.announced != Bit::Known(false) || ring.is_some() {
                return fault(ObjectFault::Announced, 2, 1);
            }
            (phase.announced, phase.bytes) = (yes, 0);
        } else if step.atom == table.wait && arg(0) == slot {
            if phase.made != yes {
                return fault(ObjectFault::Made, 0, 1);
            }
            if phase.announced != yes {
                return fault(ObjectFault::Announced, 0, 1);
            }
            if phase.bytes != phase.started {
                return fault(ObjectFault::Bytes, phase.bytes, phase.started);
            }
            if self.differs(arg(1), parities, phase) != Bit::Known(false) {
                let runs = u32::from(phase.parity == yes);
                let found = number(arg(1)).unwrap_or(u32::MAX);
                return fault(ObjectFault::Phase, found, runs);
            }
            phase.next();
        }
        Ok(true)
    }

    /// Whether a parity differs from that of the phase that runs.
    fn differs(&self, slot: Slot, parities: &Parities, phase: &Phase) -> Bit {
        match (number(slot), phase.parity) {
            (Some(value @ 0..=1), Bit::Known(parity)) => Bit::Known((value == 1) != parity),
            (Some(_), _) => Bit::Either,
            (None, _) => parities
                .iter()
                .position(|own| *own == slot)
                .map_or(Bit::Either, |number| phase.of_register(number)),
        }
    }

    /// A wait for an object, or the announcement to it: its next phase may begin when every thread
    /// has waited for the one before.
    pub(crate) fn object_access(&self, at: usize, step: &Inst) -> Option<SharedAccess> {
        let table =
            self.object().filter(|_| self.plan.mbarriers > 0 && step.purpose != InstKind::Label)?;
        let (kind, writes, slot) = match step.atom {
            atom if atom == table.wait => (table.waits, false, step.args.first()?),
            atom if atom == table.expect => (table.announces, true, step.args.get(1)?),
            _ => return None,
        };
        // Those of a ring are touched as the buffers of a tile are.
        let (number, count) = match self.ring_of(at, step) {
            Some(ring) => (u32::from(ring.first), u32::from(ring.count)),
            None => (self.number_of(table, *slot)?, 1),
        };
        let each = u32::from(table.bytes);
        let from = self.plan.mbarrier_offset.checked_add(number.checked_mul(each)?)?;
        let place = AccessPlace::Shared(from, each.checked_mul(count)?);
        Some(SharedAccess { place, kind, writes, signal: None, moved: None })
    }

    /// Whether an access is an announcement.
    pub(crate) fn announces(&self, access: &SharedAccess) -> bool {
        let Some(table) =
            self.object().filter(|table| access.writes && access.kind == table.announces)
        else {
            return false;
        };
        let end = self
            .plan
            .mbarrier_offset
            .saturating_add(u32::from(self.plan.mbarriers).saturating_mul(u32::from(table.bytes)));
        let objects = self.plan.mbarrier_offset..end;
        matches!(access.place, AccessPlace::Shared(from, _) if objects.contains(&from))
    }

    /// Where a unit's work arrives when it is done, by an atom that stands around it: the
    /// predicate, and the object's address.
    pub(crate) fn arrives(&self, step: &Inst) -> Option<(Slot, Slot)> {
        let memories =
            self.tables.units.tensor_memories.iter().filter(|m| has(self.arch, m.feature));
        let around = memories
            .flat_map(|m| m.around)
            .find(|s| s.atom == step.atom && step.purpose != InstKind::Label)?;
        let operand = |what: FrameOperand| {
            step.args.get(around.operands.iter().position(|o| *o == what)?).copied()
        };
        operand(FrameOperand::One).zip(operand(FrameOperand::Barrier))
    }

    /// The object that a copy counts down, and by how many bytes.
    pub(crate) fn signals(&self, at: usize, step: &Inst) -> Result<Option<(Slot, u32)>, Violation> {
        let Some(form) = self.tables.units.tiled_moves.iter().find(|f| f.atom == step.atom) else {
            return Ok(None);
        };
        let stray = Violation::Stray { step: narrow(at) };
        let own = self
            .plan
            .transfers
            .iter()
            .find(|m| m.op.index() == usize::from(step.origin) && m.atom == step.atom);
        let map = own
            .and_then(|m| m.tiled)
            .and_then(|t| self.plan.maps.get(usize::from(t.map)))
            .ok_or(stray)?;
        let rules = self.tables.units.tensor_maps.get(usize::from(map.map)).ok_or(stray)?;
        let bits =
            rules.elements.get(usize::from(map.element)).map_or(0, |e| u32::from(e.shared_bits));
        let count = map.boxed.iter().fold(1u32, |n, extent| n.saturating_mul(u32::from(*extent)));
        let on = step.args.get(usize::from(form.on)).copied().unwrap_or_default();
        if !self.by_one(on) && !self.one_copies(on) {
            return Err(stray);
        }
        let Some(signal) = form.signal else { return Ok(None) };
        Ok(Some((
            step.args.get(usize::from(signal)).copied().unwrap_or_default(),
            count.saturating_mul(bits / 8),
        )))
    }

    /// Whether a predicate holds in one thread: its only step compares with 1.
    pub(crate) fn by_one(&self, predicate: Slot) -> bool {
        let writes = |s: &&Inst| {
            s.purpose != InstKind::Label
                && s.args.contains(&predicate)
                && s.atom == self.isa.compare_less
        };
        let mut found = self.steps.iter().filter(writes);
        let one = found.next().is_some_and(|s| s.args.contains(&Slot::Int(1)));
        one && found.next().is_none() && matches!(predicate, Slot::Reg { .. })
    }

    /// Carries out a step on the registers that parities are read from.
    fn follow_parity(&self, step: &Inst, parities: &Parities, phase: &mut Phase) {
        let Some(atom) = self.tables.atom(step.atom) else { return };
        let writes = atom.operands.first().is_some_and(|o| {
            matches!(o.role, lanebook_tables::Role::Def | lanebook_tables::Role::UseDef)
        });
        let target = step.args.first().copied().unwrap_or_default();
        let Some(place) = parities.iter().position(|own| *own == target).filter(|_| writes) else {
            return;
        };
        let operand = |k: usize| step.args.get(k).copied().unwrap_or_default();
        let value = match *atom.means {
            [TermNode::Operand(1)] => self.differs(operand(1), parities, phase),
            // One of both is a number.
            [TermNode::Op(IndexOp::Xor, 2), TermNode::Operand(1), TermNode::Operand(2)] => {
                let (other, flips) = match (number(operand(1)), number(operand(2))) {
                    (None, Some(by)) => (operand(1), by),
                    (Some(by), None) => (operand(2), by),
                    _ => (Slot::None, 0),
                };
                let differs = self.differs(other, parities, phase);
                match flips {
                    0 => differs,
                    1 => differs.flipped(),
                    _ => Bit::Either,
                }
            }
            [TermNode::Const(c)] => u32::try_from(c)
                .map_or(Bit::Either, |c| self.differs(Slot::Word(c), parities, phase)),
            _ => Bit::Either,
        };
        phase.set_register(place, value);
    }
}

/// The number that an operand is.
pub(crate) fn number(slot: Slot) -> Option<u32> {
    match slot {
        Slot::Int(v) => u32::try_from(v).ok(),
        Slot::Word(v) => Some(v),
        _ => None,
    }
}

fn wrong(at: usize, object: u32, what: ObjectFault, found: u32, want: u32) -> Violation {
    Violation::Completion {
        step: narrow(at),
        object: u8::try_from(object).unwrap_or(u8::MAX),
        what,
        found,
        want,
    }
}

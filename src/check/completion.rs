//! Completion objects along a walk: made and published before their use, announced once a phase,
//! counted down to nothing, waited for once with the right parity.

use super::order::{Access, Look, Walk, narrow};
use super::reader::has;
use super::violation::{ObjectFault, Violation};
use crate::emit::step::{Purpose, Slot, Step};

use lanebook_tables::{CompletionObject, FrameOperand, IndexOp, TermNode};

/// Most objects of a group.
const OBJECTS: usize = 16;

/// An object on the way.
#[derive(Copy, Clone, Default)]
struct Object {
    /// Where its address is.
    address: Slot,
    /// Parity of the phase that runs.
    phase: u32,
    /// Announced in it.
    announced: Option<u32>,
    /// Started in it, in bytes.
    started: u32,
}

/// What stands in the registers that parities are read from.
struct Parities {
    known: heapless::Vec<(Slot, Option<u32>), OBJECTS>,
}

impl Parities {
    fn of(&self, place: Slot) -> Option<u32> {
        self.known.iter().find(|(at, _)| *at == place).and_then(|(_, value)| *value)
    }

    fn number(&self, slot: Slot) -> Option<u32> {
        match slot {
            Slot::Int(v) => u32::try_from(v).ok(),
            Slot::Word(v) => Some(v),
            other => self.of(other),
        }
    }
}

impl Look<'_> {
    /// The architecture's objects.
    fn object(&self) -> Option<&CompletionObject<'_>> {
        self.tables.units.completions.iter().find(|c| has(self.arch, c.feature))
    }

    /// Statement 17 along one walk.
    #[inline(never)]
    pub(super) fn completions(&self, trips: u32) -> Result<(), Violation> {
        let Some(table) = self.object().filter(|_| self.plan.completions > 0) else {
            return Ok(());
        };
        let wrong = |at: usize, object: usize, what: ObjectFault, found: u32, want: u32| {
            Err(Violation::Completion {
                step: narrow(at),
                object: u8::try_from(object).unwrap_or(u8::MAX),
                what,
                found,
                want,
            })
        };
        let mut objects: heapless::Vec<Object, OBJECTS> = heapless::Vec::new();
        let mut parities = Parities { known: heapless::Vec::new() };
        for step in
            self.steps.iter().filter(|s| s.purpose != Purpose::Label && s.atom == table.wait)
        {
            let place = step.args.get(1).copied().unwrap_or_default();
            if matches!(place, Slot::Reg { .. })
                && !parities.known.iter().any(|(at, _)| *at == place)
            {
                let _ = parities.known.push((place, None));
            }
        }
        let mut published = 0usize;
        let mut walk = Walk::start();
        while let Some(step) = self.steps.get(walk.at) {
            let at = walk.at;
            let arg = |k: usize| step.args.get(k).copied().unwrap_or_default();
            let named = |objects: &heapless::Vec<Object, OBJECTS>, slot: Slot| {
                objects.iter().position(|o| o.address == slot)
            };
            if step.purpose != Purpose::Label {
                self.follow_parity(step, &mut parities);
                if table.publish.get(published).is_some_and(|want| self.does(step, want, None)) {
                    published = published.saturating_add(1);
                }
                if step.atom == table.init {
                    let again = named(&objects, arg(1)).is_some() || !self.by_one(arg(0));
                    if again
                        || arg(2) != Slot::Int(1)
                        || objects.push(Object { address: arg(1), ..Object::default() }).is_err()
                    {
                        return wrong(at, objects.len(), ObjectFault::Made, 0, 1);
                    }
                    published = 0;
                } else if step.atom == table.expect {
                    let Some(k) = named(&objects, arg(1)) else {
                        return wrong(at, OBJECTS, ObjectFault::Made, 0, 1);
                    };
                    if published < table.publish.len() {
                        return wrong(
                            at,
                            k,
                            ObjectFault::Published,
                            u32::try_from(published).unwrap_or(0),
                            u32::try_from(table.publish.len()).unwrap_or(0),
                        );
                    }
                    let (Some(bytes), true) = (parities.number(arg(2)), self.by_one(arg(0))) else {
                        return wrong(at, k, ObjectFault::Announced, 0, 1);
                    };
                    let Some(object) = objects.get_mut(k) else { continue };
                    if object.announced.replace(bytes).is_some() {
                        return wrong(at, k, ObjectFault::Announced, 2, 1);
                    }
                } else if let Some((slot, bytes)) = self.signals(at, step)? {
                    let Some(k) = named(&objects, slot) else {
                        return wrong(at, OBJECTS, ObjectFault::Made, 0, 1);
                    };
                    let Some(object) = objects.get_mut(k) else { continue };
                    if object.announced.is_none() {
                        return wrong(at, k, ObjectFault::Announced, 0, 1);
                    }
                    object.started = object.started.saturating_add(bytes);
                } else if let Some((on, slot)) = self.arrives(step) {
                    let Some(k) = named(&objects, slot) else {
                        return wrong(at, OBJECTS, ObjectFault::Made, 0, 1);
                    };
                    if published < table.publish.len() {
                        return wrong(
                            at,
                            k,
                            ObjectFault::Published,
                            u32::try_from(published).unwrap_or(0),
                            u32::try_from(table.publish.len()).unwrap_or(0),
                        );
                    }
                    let Some(object) = objects.get_mut(k) else { continue };
                    if !self.by_one(on) || object.announced.replace(0).is_some() {
                        return wrong(at, k, ObjectFault::Announced, 2, 1);
                    }
                } else if step.atom == table.wait {
                    let Some(k) = named(&objects, arg(0)) else {
                        return wrong(at, OBJECTS, ObjectFault::Made, 0, 1);
                    };
                    let Some(object) = objects.get_mut(k) else { continue };
                    let Some(announced) = object.announced.take() else {
                        return wrong(at, k, ObjectFault::Announced, 0, 1);
                    };
                    if announced != object.started {
                        return wrong(at, k, ObjectFault::Bytes, announced, object.started);
                    }
                    let found = parities.number(arg(1)).unwrap_or(u32::MAX);
                    if found != object.phase {
                        return wrong(at, k, ObjectFault::Phase, found, object.phase);
                    }
                    (object.phase, object.started) = (object.phase ^ 1, 0);
                }
            }
            self.advance(&mut walk, step, trips)?;
        }
        if objects.len() != usize::from(self.plan.completions) {
            return wrong(
                walk.at,
                objects.len(),
                ObjectFault::Made,
                u32::try_from(objects.len()).unwrap_or(0),
                u32::from(self.plan.completions),
            );
        }
        // Nothing is on its way when the kernel ends.
        match objects.iter().position(|o| o.announced.is_some()) {
            Some(k) => wrong(walk.at, k, ObjectFault::Waited, 0, 1),
            None => Ok(()),
        }
    }

    /// A wait for an object, or the announcement to it: its next phase may begin when every thread
    /// has waited for the one before.
    pub(super) fn object_access(&self, step: &Step) -> Option<Access> {
        let table = self
            .object()
            .filter(|_| self.plan.completions > 0 && step.purpose != Purpose::Label)?;
        let (kind, writes, slot) = match step.atom {
            atom if atom == table.wait => (table.waits, false, step.args.first()?),
            atom if atom == table.expect => (table.announces, true, step.args.get(1)?),
            _ => return None,
        };
        let mut made =
            self.steps.iter().filter(|s| s.purpose != Purpose::Label && s.atom == table.init);
        let number = u32::try_from(made.position(|s| s.args.get(1) == Some(slot))?).ok()?;
        let each = u32::from(table.bytes);
        let from = self.plan.completion_offset.checked_add(number.checked_mul(each)?)?;
        Some(Access { bytes: (from, each), kind, writes, signal: None, moved: None })
    }

    /// Whether an access is an announcement.
    pub(super) fn announces(&self, access: &Access) -> bool {
        let Some(table) =
            self.object().filter(|table| access.writes && access.kind == table.announces)
        else {
            return false;
        };
        let end = self.plan.completion_offset.saturating_add(
            u32::from(self.plan.completions).saturating_mul(u32::from(table.bytes)),
        );
        (self.plan.completion_offset..end).contains(&access.bytes.0)
    }

    /// Where a unit's work arrives when it is done, by an atom that stands around it: the
    /// predicate, and the object's address.
    pub(super) fn arrives(&self, step: &Step) -> Option<(Slot, Slot)> {
        let memories =
            self.tables.units.tensor_memories.iter().filter(|m| has(self.arch, m.feature));
        let around = memories
            .flat_map(|m| m.around)
            .find(|s| s.atom == step.atom && step.purpose != Purpose::Label)?;
        let operand = |what: FrameOperand| {
            step.args.get(around.operands.iter().position(|o| *o == what)?).copied()
        };
        operand(FrameOperand::One).zip(operand(FrameOperand::Barrier))
    }

    /// The object that a copy counts down, and by how many bytes.
    fn signals(&self, at: usize, step: &Step) -> Result<Option<(Slot, u32)>, Violation> {
        let Some(form) = self.tables.units.tiled_moves.iter().find(|f| f.atom == step.atom) else {
            return Ok(None);
        };
        let stray = Violation::Stray { step: narrow(at) };
        let own = self
            .plan
            .moves
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
        if !self.by_one(step.args.get(usize::from(form.on)).copied().unwrap_or_default()) {
            return Err(stray);
        }
        let Some(signal) = form.signal else { return Ok(None) };
        Ok(Some((
            step.args.get(usize::from(signal)).copied().unwrap_or_default(),
            count.saturating_mul(bits / 8),
        )))
    }

    /// Whether a predicate holds in one thread: its only step compares with 1.
    fn by_one(&self, predicate: Slot) -> bool {
        let writes = |s: &&Step| {
            s.purpose != Purpose::Label
                && s.args.contains(&predicate)
                && s.atom == self.isa.compare_less
        };
        let mut found = self.steps.iter().filter(writes);
        let one = found.next().is_some_and(|s| s.args.contains(&Slot::Int(1)));
        one && found.next().is_none() && matches!(predicate, Slot::Reg { .. })
    }

    /// Carries out a step on the registers that parities are read from.
    fn follow_parity(&self, step: &Step, parities: &mut Parities) {
        let Some(atom) = self.tables.atom(step.atom) else { return };
        let target = step.args.first().copied().unwrap_or_default();
        let writes = atom.operands.first().is_some_and(|o| {
            matches!(o.role, lanebook_tables::Role::Def | lanebook_tables::Role::UseDef)
        });
        if !writes || !parities.known.iter().any(|(at, _)| *at == target) {
            return;
        }
        let operand = |k: usize| parities.number(step.args.get(k).copied().unwrap_or_default());
        let value = match *atom.means {
            [TermNode::Operand(1)] => operand(1),
            [TermNode::Op(IndexOp::Xor, 2), TermNode::Operand(1), TermNode::Operand(2)] => {
                operand(1).zip(operand(2)).map(|(a, b)| a ^ b)
            }
            [TermNode::Const(c)] => u32::try_from(c).ok(),
            _ => None,
        };
        if let Some((_, known)) = parities.known.iter_mut().find(|(at, _)| *at == target) {
            *known = value;
        }
    }
}

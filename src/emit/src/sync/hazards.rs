//! What the pass over finished steps remembers so that it need not look at all of them again: which
//! steps take part in hazards, and which registers atoms of a kind read.

use crate::step::{Inst, InstKind, Touch, TupleStride, for_each_register};
use crate::sync::cursor::InstCursor;
use heapless::VecView;
use lanebook_tables::{Arch, Atom, AtomId, Hazard, Tables, TagId};

/// Steps that have a bit; later ones are always looked at.
const MARKED: usize = 2048;
/// Tags that have a bit; others always take part.
const TAGS: usize = 256;
/// Registers of a class that have a bit.
const REGISTERS: usize = 512;
/// Most pairs of a tag and a class that are remembered.
const READERS: usize = 4;

/// A set of tags.
#[derive(Copy, Clone)]
pub(crate) struct TagSet([u64; TAGS / 64]);

impl TagSet {
    const EMPTY: Self = Self([0; TAGS / 64]);

    fn add(&mut self, tag: TagId) {
        if let Some(word) = self.0.get_mut(tag.index() >> 6) {
            *word |= 1u64.wrapping_shl((tag.index() & 63) as u32);
        }
    }

    fn has(&self, tag: TagId) -> bool {
        self.0
            .get(tag.index() >> 6)
            .is_none_or(|word| (word.wrapping_shr((tag.index() & 63) as u32)) & 1 == 1)
    }

    /// Whether an atom has one of the tags.
    pub(crate) fn meets(&self, atom: &Atom<'_>) -> bool {
        atom.tags.iter().any(|tag| self.has(*tag))
    }
}

/// Hazards that have a bit of their own; the others share the last.
const OWN_BIT: usize = 127;
/// Atoms that are remembered at once.
const KINDS: usize = 32;

/// What hazards say of an atom.
#[derive(Copy, Clone)]
pub(crate) struct AtomHazards {
    atom: AtomId,
    /// Hazards that begin with it.
    pub(crate) begins: u128,
    /// Hazards that it ends.
    pub(crate) ends: u128,
    /// Most wait states of those.
    pub(crate) states: u8,
    /// Some of them count in a way of their own, or are ended by an atom.
    pub(crate) special: bool,
    /// Instructions of it.
    pub(crate) lines: u32,
}

/// What hazards say of the atoms seen last, worked out when it is asked for.
pub(crate) struct HazardCache {
    known: [Option<AtomHazards>; KINDS],
    /// There are no hazards.
    none: bool,
}

impl HazardCache {
    /// Nothing known yet.
    pub(crate) fn new(arch: &Arch<'_>) -> Self {
        Self { known: [None; KINDS], none: arch.hazards.is_empty() }
    }

    /// What the hazards of an architecture say of an atom.
    pub(crate) fn of(&mut self, arch: &Arch<'_>, id: AtomId, atom: &Atom<'_>) -> AtomHazards {
        if self.none {
            return AtomHazards {
                atom: id,
                begins: 0,
                ends: 0,
                states: 0,
                special: false,
                lines: 1,
            };
        }
        let place = self.known.get_mut(id.index() % KINDS);
        match place {
            Some(Some(kind)) if kind.atom == id => *kind,
            place => {
                let kind = look_up(arch, id, atom);
                place.into_iter().for_each(|place| *place = Some(kind));
                kind
            }
        }
    }
}

#[inline(never)]
fn look_up(arch: &Arch<'_>, id: AtomId, atom: &Atom<'_>) -> AtomHazards {
    let mut out = AtomHazards {
        atom: id,
        begins: 0,
        ends: 0,
        states: 0,
        special: false,
        lines: atom.template.lines(),
    };
    for (number, hazard) in arch.hazards.iter().enumerate() {
        let bit = 1u128.wrapping_shl(number.min(OWN_BIT) as u32);
        if atom.tags.contains(&hazard.producer) {
            out.begins |= bit;
        }
        if atom.tags.contains(&hazard.consumer) {
            out.ends |= bit;
            out.states = out.states.max(hazard.states);
            out.special |= !hazard.counts.is_empty() || hazard.wait.is_some();
        }
    }
    out
}

/// The hazards of a set between two atoms, or with any producer.
pub(crate) fn hazards<'h>(
    arch: &'h Arch<'h>,
    set: u128,
    producer: Option<&'h Atom<'h>>,
    consumer: &'h Atom<'h>,
) -> impl Iterator<Item = &'h Hazard<'h>> {
    let mut own = set & !1u128.wrapping_shl(OWN_BIT as u32);
    let others = if own == set { arch.hazards.len() } else { OWN_BIT };
    let between = move |hazard: &&Hazard<'_>| {
        producer.is_none_or(|atom| atom.tags.contains(&hazard.producer))
            && consumer.tags.contains(&hazard.consumer)
    };
    let named = core::iter::from_fn(move || {
        let number = own.trailing_zeros() as usize;
        own &= own.wrapping_sub(1);
        arch.hazards.get(number)
    });
    named.chain(arch.hazards.iter().skip(others).filter(between))
}

/// The hazards of an architecture that an atom ends.
pub(crate) fn ended<'h>(arch: &'h Arch<'h>) -> impl Iterator<Item = &'h Hazard<'h>> {
    arch.hazards.iter().filter(|hazard| hazard.wait.is_some())
}

/// Most steps that are remembered: no hazard lasts longer, since each is a wait state at the least.
const RECENT: usize = 256;

/// The last steps that hazards begin with, and when they were.
pub(crate) struct Recent {
    /// Step and wait states up to it, itself included; the newest is before `next`.
    steps: [(u32, u32); RECENT],
    next: u8,
    /// Wait states so far.
    clock: u32,
    /// Steps so far.
    seen: u32,
}

impl Recent {
    pub(crate) fn new() -> Self {
        Self { steps: [(u32::MAX, 0); RECENT], next: 0, clock: 0, seen: 0 }
    }

    /// Steps so far.
    pub(crate) fn seen(&self) -> usize {
        self.seen as usize
    }

    /// The next step: whether hazards begin with it, and the wait states that it is.
    pub(crate) fn add(&mut self, begins: bool, states: u32) {
        self.clock = self.clock.wrapping_add(states);
        if begins && let Some(place) = self.steps.get_mut(usize::from(self.next)) {
            *place = (self.seen, self.clock);
            self.next = self.next.wrapping_add(1);
        }
        self.seen = self.seen.saturating_add(1);
    }

    /// The steps, the last first, with the wait states since.
    pub(crate) fn back(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        let mut at = self.next;
        let last = core::iter::from_fn(move || {
            at = at.wrapping_sub(1);
            let (step, then) =
                self.steps.get(usize::from(at)).copied().filter(|(step, _)| *step != u32::MAX)?;
            Some((step as usize, self.clock.wrapping_sub(then)))
        });
        last.take(RECENT)
    }
}

/// Registers with something under way, folded into one word: what misses it is none of them.
#[derive(Copy, Clone, Default)]
pub(crate) struct BusyRegs(u64);

impl BusyRegs {
    fn run(class: u8, first: u16, count: u16) -> u64 {
        let bits = u64::MAX.checked_shr(64u32.saturating_sub(u32::from(count))).unwrap_or(0);
        bits.rotate_left(u32::from(first).wrapping_add(u32::from(class).wrapping_mul(23)) & 63)
    }

    /// Something more is under way.
    pub(crate) fn add(&mut self, class: u8, first: u16, count: u16) {
        self.0 |= Self::run(class, first, count);
    }

    /// Whether a step's registers may be some of them.
    pub(crate) fn may_meet(&self, touch: &Touch) -> bool {
        self.0 & Self::run(touch.class, touch.first, touch.count) != 0
    }
}

/// Hazards ended by an atom whose open registers are followed; of others everything is open.
const FOLLOWED: usize = 4;

/// Registers, folded: what misses it is none of them.
#[derive(Copy, Clone)]
struct RegisterFolds([u64; 8]);

impl RegisterFolds {
    const NONE: Self = Self([0; 8]);

    fn places(touch: &Touch) -> impl Iterator<Item = (usize, u64)> {
        let base = touch.first.wrapping_add(u16::from(touch.class).wrapping_mul(151));
        (0..touch.count).map(move |k| {
            let at = usize::from(base.wrapping_add(k) & 511);
            (at >> 6, 1u64.wrapping_shl((at & 63) as u32))
        })
    }

    fn add(&mut self, touch: &Touch) {
        for (word, bit) in Self::places(touch) {
            if let Some(word) = self.0.get_mut(word) {
                *word |= bit;
            }
        }
    }

    fn may_meet(&self, touch: &Touch) -> bool {
        Self::places(touch).any(|(word, bit)| self.0.get(word).is_none_or(|word| word & bit != 0))
    }
}

/// The steps that take part in hazards: producers, and the waits that end one.
pub(crate) struct Marks {
    producers: TagSet,
    /// For the first hazards that an atom ends: registers that their producers have left open since
    /// the last such atom, or label.
    open: [RegisterFolds; FOLLOWED],
    steps: [u64; MARKED / 64],
    /// Steps seen.
    seen: usize,
}

impl Marks {
    /// For the hazards of an architecture, before its first step.
    pub(crate) fn new(arch: &Arch<'_>) -> Self {
        let mut out = Self {
            producers: TagSet::EMPTY,
            open: [RegisterFolds::NONE; FOLLOWED],
            steps: [0; MARKED / 64],
            seen: 0,
        };
        for hazard in arch.hazards {
            out.producers.add(hazard.producer);
        }
        out
    }

    /// Takes in the steps that were appended since.
    pub(crate) fn see(
        &mut self,
        tables: &Tables<'_>,
        arch: &Arch<'_>,
        patterns: &VecView<TupleStride>,
        steps: &InstCursor<'_>,
    ) {
        for (at, step) in steps.finished().iter().enumerate().skip(self.seen) {
            let is_wait = || arch.hazards.iter().any(|hazard| hazard.wait == Some(step.atom));
            // Nothing is looked for behind a label.
            let marked = step.purpose == InstKind::Label
                || tables.atom(step.atom).is_some_and(|atom| self.producers.meets(atom))
                || is_wait();
            if let Some(word) = self.steps.get_mut(at >> 6).filter(|_| marked) {
                *word |= 1u64.wrapping_shl((at & 63) as u32);
            }
            if marked {
                self.follow(tables, arch, patterns, step);
            }
        }
        self.seen = steps.len();
    }

    /// Takes in what a step leaves open, or ends.
    fn follow(
        &mut self,
        tables: &Tables<'_>,
        arch: &Arch<'_>,
        patterns: &VecView<TupleStride>,
        step: &Inst,
    ) {
        if step.purpose == InstKind::Label {
            self.open = [RegisterFolds::NONE; FOLLOWED];
            return;
        }
        let Some(atom) = tables.atom(step.atom) else { return };
        for (open, hazard) in self.open.iter_mut().zip(ended(arch)) {
            if hazard.wait == Some(step.atom) {
                *open = RegisterFolds::NONE;
            } else if atom.tags.contains(&hazard.producer) {
                for_each_register(tables, step, patterns, |touch| {
                    let concerned = match hazard.producer_operand {
                        Some(operand) => touch.operand == operand,
                        None => touch.written,
                    };
                    if concerned {
                        open.add(&touch);
                    }
                });
            }
        }
    }

    /// Whether a hazard, by its number among those that an atom ends, may be open for a step;
    /// without a step, for whatever comes next.
    pub(crate) fn may_be_open(
        &self,
        number: usize,
        tables: &Tables<'_>,
        patterns: &VecView<TupleStride>,
        step: Option<&Inst>,
    ) -> bool {
        let (Some(open), Some(step)) = (self.open.get(number), step) else { return true };
        let mut meets = false;
        for_each_register(tables, step, patterns, |touch| meets |= open.may_meet(&touch));
        meets
    }

    /// Whether the step with this number takes part.
    pub(crate) fn has(&self, at: usize) -> bool {
        self.steps.get(at >> 6).is_none_or(|word| (word.wrapping_shr((at & 63) as u32)) & 1 == 1)
    }

    /// Numbers of the steps that take part, the last first.
    pub(crate) fn back(&self) -> impl Iterator<Item = usize> + '_ {
        let mut at = self.seen;
        core::iter::from_fn(move || {
            while let Some(last) = at.checked_sub(1) {
                // A word without bits is passed over as a whole.
                let empty = self.steps.get(last >> 6).is_some_and(|word| {
                    *word & u64::MAX.wrapping_shr(63u32.wrapping_sub((last & 63) as u32)) == 0
                });
                if empty {
                    at = last & !63;
                    continue;
                }
                at = last;
                if self.has(last) {
                    return Some(last);
                }
            }
            None
        })
    }
}

/// Registers of one class that atoms with one tag read.
struct Read {
    tag: TagId,
    class: u8,
    bits: [u64; REGISTERS / 64],
    /// Some have no bit here.
    more: bool,
}

/// Registers that are read, worked out when they are first asked for.
pub(crate) struct Readers(heapless::Vec<Read, READERS>);

impl Readers {
    pub(crate) fn new() -> Self {
        Self(heapless::Vec::new())
    }

    /// Whether an atom with a tag reads one of `count` registers of a class somewhere in `steps`;
    /// `None` where that is not known here.
    pub(crate) fn has(
        &mut self,
        tables: &Tables<'_>,
        steps: &InstCursor<'_>,
        patterns: &VecView<TupleStride>,
        tag: TagId,
        (class, first, count): (u8, u16, u16),
    ) -> Option<bool> {
        let known = match self.0.iter().position(|r| (r.tag, r.class) == (tag, class)) {
            Some(known) => known,
            None => {
                self.0.push(Read { tag, class, bits: [0; REGISTERS / 64], more: false }).ok()?;
                let read = self.0.last_mut()?;
                for step in steps.all().filter(|step| {
                    tables.atom(step.atom).is_some_and(|atom| atom.tags.contains(&tag))
                }) {
                    for_each_register(tables, step, patterns, |touch| {
                        if touch.read && touch.class == class {
                            read.note(touch.first, touch.count);
                        }
                    });
                }
                self.0.len().checked_sub(1)?
            }
        };
        let read = self.0.get(known)?;
        let found = (first..first.saturating_add(count)).any(|number| read.is_noted(number));
        (found || !read.more).then_some(found)
    }
}

impl Read {
    fn note(&mut self, first: u16, count: u16) {
        for number in first..first.saturating_add(count) {
            match self.bits.get_mut(usize::from(number >> 6)) {
                Some(word) => *word |= 1u64.wrapping_shl(u32::from(number & 63)),
                None => self.more = true,
            }
        }
    }

    fn is_noted(&self, number: u16) -> bool {
        self.bits
            .get(usize::from(number >> 6))
            .is_some_and(|word| (word.wrapping_shr(u32::from(number & 63))) & 1 == 1)
    }
}

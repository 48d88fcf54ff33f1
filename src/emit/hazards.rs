//! What the pass over finished steps remembers so that it need not look at all of them again: which steps take part in
//! hazards, and which registers atoms of a kind read.

use super::step::{Pattern, Purpose, Step, for_each_register};
use heapless::VecView;
use lanebook_tables::{Arch, Atom, Tables, TagId};

/// Steps that have a bit; later ones are always looked at.
const MARKED: usize = 2048;
/// Tags that have a bit; others always take part.
const TAGS: usize = 256;
/// Most tags of consumers that are told apart.
const CONSUMERS: usize = 16;
/// Registers of a class that have a bit.
const REGISTERS: usize = 512;
/// Most pairs of a tag and a class that are remembered.
const READERS: usize = 4;

/// A set of tags.
#[derive(Copy, Clone)]
pub(super) struct TagSet([u64; TAGS / 64]);

impl TagSet {
    const EMPTY: Self = Self([0; TAGS / 64]);

    fn add(&mut self, tag: TagId) {
        if let Some(word) = self.0.get_mut(tag.index() >> 6) {
            *word |= 1u64.wrapping_shl((tag.index() & 63) as u32);
        }
    }

    fn add_all(&mut self, other: &Self) {
        for (word, more) in self.0.iter_mut().zip(other.0) {
            *word |= more;
        }
    }

    fn has(&self, tag: TagId) -> bool {
        self.0.get(tag.index() >> 6).is_none_or(|word| (word.wrapping_shr((tag.index() & 63) as u32)) & 1 == 1)
    }

    /// Whether an atom has one of the tags.
    pub(super) fn meets(&self, atom: &Atom<'_>) -> bool {
        atom.tags.iter().any(|tag| self.has(*tag))
    }
}

/// What atoms with a tag have to look back for.
struct Consumer {
    tag: TagId,
    producers: TagSet,
    /// Most wait states of its hazards.
    states: u8,
}

/// The steps that take part in hazards: producers, and the waits that end one.
pub(super) struct Marks {
    producers: TagSet,
    consumers: heapless::Vec<Consumer, CONSUMERS>,
    /// There are more consumers than are told apart.
    more: bool,
    steps: [u64; MARKED / 64],
    /// Steps seen.
    seen: usize,
}

impl Marks {
    /// For the hazards of an architecture, before its first step.
    pub(super) fn new(arch: &Arch<'_>) -> Self {
        let mut out = Self { producers: TagSet::EMPTY, consumers: heapless::Vec::new(), more: false, steps: [0; MARKED / 64], seen: 0 };
        for hazard in arch.hazards {
            out.producers.add(hazard.producer);
            if !out.consumers.iter().any(|known| known.tag == hazard.consumer) {
                out.more |= out.consumers.push(Consumer { tag: hazard.consumer, producers: TagSet::EMPTY, states: 0 }).is_err();
            }
            if let Some(known) = out.consumers.iter_mut().find(|known| known.tag == hazard.consumer) {
                known.producers.add(hazard.producer);
                known.states = known.states.max(hazard.states);
            }
        }
        out
    }

    /// Whether some hazard can bite at an atom.
    pub(super) fn is_consumer(&self, atom: &Atom<'_>) -> bool {
        self.more || atom.tags.iter().any(|tag| self.consumers.iter().any(|known| known.tag == *tag))
    }

    /// Producers that an atom has to look back for, and over how many wait states.
    pub(super) fn against(&self, atom: &Atom<'_>) -> (TagSet, u32) {
        if self.more {
            return (self.producers, u32::from(u8::MAX));
        }
        let (mut wanted, mut states) = (TagSet::EMPTY, 0);
        for known in self.consumers.iter().filter(|known| atom.tags.contains(&known.tag)) {
            wanted.add_all(&known.producers);
            states = states.max(u32::from(known.states));
        }
        (wanted, states)
    }

    /// Takes in the steps that were appended since.
    pub(super) fn see(&mut self, tables: &Tables<'_>, arch: &Arch<'_>, steps: &VecView<Step>) {
        for (at, step) in steps.iter().enumerate().skip(self.seen) {
            let is_wait = || arch.hazards.iter().any(|hazard| hazard.wait == Some(step.atom));
            // Nothing is looked for behind a label.
            let marked = step.purpose == Purpose::Label || tables.atom(step.atom).is_some_and(|atom| self.producers.meets(atom)) || is_wait();
            if let Some(word) = self.steps.get_mut(at >> 6).filter(|_| marked) {
                *word |= 1u64.wrapping_shl((at & 63) as u32);
            }
        }
        self.seen = steps.len();
    }

    /// Whether the step with this number takes part.
    pub(super) fn has(&self, at: usize) -> bool {
        self.steps.get(at >> 6).is_none_or(|word| (word.wrapping_shr((at & 63) as u32)) & 1 == 1)
    }

    /// Numbers of the steps that take part, the last first.
    pub(super) fn back(&self) -> impl Iterator<Item = usize> + '_ {
        let mut at = self.seen;
        core::iter::from_fn(move || {
            while let Some(last) = at.checked_sub(1) {
                // A word without bits is passed over as a whole.
                let empty = self.steps.get(last >> 6).is_some_and(|word| *word & u64::MAX.wrapping_shr(63u32.wrapping_sub((last & 63) as u32)) == 0);
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
pub(super) struct Readers(heapless::Vec<Read, READERS>);

impl Readers {
    pub(super) fn new() -> Self {
        Self(heapless::Vec::new())
    }

    /// Whether an atom with a tag reads one of `count` registers of a class somewhere in `steps`; `None` where that is not known here.
    pub(super) fn has(
        &mut self,
        tables: &Tables<'_>,
        steps: &VecView<Step>,
        patterns: &VecView<Pattern>,
        tag: TagId,
        (class, first, count): (u8, u16, u8),
    ) -> Option<bool> {
        let known = match self.0.iter().position(|r| (r.tag, r.class) == (tag, class)) {
            Some(known) => known,
            None => {
                self.0.push(Read { tag, class, bits: [0; REGISTERS / 64], more: false }).ok()?;
                let read = self.0.last_mut()?;
                for step in steps.iter().filter(|step| tables.atom(step.atom).is_some_and(|atom| atom.tags.contains(&tag))) {
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
        let found = (first..first.saturating_add(u16::from(count))).any(|number| read.is_noted(number));
        (found || !read.more).then_some(found)
    }
}

impl Read {
    fn note(&mut self, first: u16, count: u8) {
        for number in first..first.saturating_add(u16::from(count)) {
            match self.bits.get_mut(usize::from(number >> 6)) {
                Some(word) => *word |= 1u64.wrapping_shl(u32::from(number & 63)),
                None => self.more = true,
            }
        }
    }

    fn is_noted(&self, number: u16) -> bool {
        self.bits.get(usize::from(number >> 6)).is_some_and(|word| (word.wrapping_shr(u32::from(number & 63))) & 1 == 1)
    }
}

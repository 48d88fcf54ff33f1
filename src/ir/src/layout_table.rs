//! The layouts of a program by number, and the records of the pass that weighs them against each
//! other, in storage that a program's pools bring along.
//!
//! A number stands for a text at a shape for as long as the program is there: its map is worked out
//! once, whatever passes run. Plain data without meaning of its own: see `remat`.
use crate::chains::{Chained, Chains, chain_of};
use crate::handle::Value;
use crate::types::{Shape, TileEncoding};
use heapless::VecView;

/// No layout, no entry.
#[doc(hidden)]
pub const NONE: u16 = u16::MAX;

/// A use that wants no layout in particular, or one that has no number this small.
#[doc(hidden)]
pub const ANY: u8 = u8::MAX;

/// A layout at a shape, with what comparing it takes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct LayoutRecord {
    pub encoding: TileEncoding,
    pub shape: Shape,
    /// Digest of the whole map; of the text alone for a layout that is not known.
    pub whole: [u32; 2],
    /// Digest of where lanes, warps and blocks stand.
    pub threads: [u32; 2],
    /// Digest of what a thread's registers reach.
    pub reach: u32,
    /// Times that each element is held, log2.
    pub copies: u8,
    /// Threads that hold it, log2.
    pub width: u8,
    /// The map is known, not only its text.
    pub known: bool,
    /// The chain of the hash of text and shape.
    pub chain: u8,
    /// The next layout of that chain.
    pub next: u16,
    /// The next layout of the map's chain.
    pub next_map: u16,
}

/// A layout made from another: a place of a table that forgets what it has no room for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct Derived {
    pub from: u16,
    pub to: u16,
    pub how: u32,
}

impl Derived {
    const NONE: Self = Self { from: NONE, to: NONE, how: 0 };
}

/// Places that are looked at for one answer.
const PROBES: usize = 4;

/// A value in one layout.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct ValueInLayout {
    /// The layout, and whether the value is computed in it (else, once made, converted).
    state: u16,
    /// The value's next entry; [`NONE`] ends the list.
    pub next: u16,
    /// Its place in the network that is being solved; when the program is rewritten, the value that
    /// holds it.
    pub link: u16,
}

/// The highest bit.
const FLAG: u16 = 1 << 15;

impl ValueInLayout {
    pub const fn new(layout: u16, on: bool) -> Self {
        Self { state: (layout & !FLAG) | if on { FLAG } else { 0 }, next: NONE, link: NONE }
    }
    pub const fn layout(self) -> u16 {
        self.state & !FLAG
    }
    pub const fn is_on(self) -> bool {
        self.state & FLAG != 0
    }
    pub const fn set_on(&mut self, on: bool) {
        self.state = self.layout() | if on { FLAG } else { 0 };
    }
    pub const fn made(self) -> Option<Value> {
        if self.link == NONE { None } else { Value::at(self.link as usize) }
    }
}

/// No place in a region.
const OUTSIDE: u16 = 0xff;
/// How a value is made.
const MADE: u16 = 0x7f00;

/// A value of the program, by its handle's index. While a text is read, the values with names of
/// one hash begin at `first`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct TableValue {
    /// First entry; [`NONE`] for a value that is no tile in registers.
    pub first: u16,
    /// From the top: whether the layout may not change; how the value is made, 7 bits; its place in
    /// the region that is being weighed, 8.
    state: u16,
}

impl TableValue {
    /// A value that is not looked at.
    pub const NEW: Self = Self { first: NONE, state: OUTSIDE };
    /// Places in a region.
    pub const SLOTS: usize = OUTSIDE as usize;

    pub const fn is_fixed(self) -> bool {
        self.state & FLAG != 0
    }
    pub const fn fix(&mut self) {
        self.state |= FLAG;
    }
    /// Its place in the region; `None`: outside.
    pub const fn slot(self) -> Option<u16> {
        let slot = self.state & OUTSIDE;
        if slot == OUTSIDE { None } else { Some(slot) }
    }
    pub const fn set_slot(&mut self, slot: Option<u16>) {
        let slot = match slot {
            Some(slot) => slot & OUTSIDE,
            None => OUTSIDE,
        };
        self.state = (self.state & !OUTSIDE) | slot;
    }
    /// How the value is made, by number; 0: not said.
    pub const fn made(self) -> u8 {
        ((self.state & MADE) >> 8) as u8
    }
    pub const fn set_made(&mut self, made: u8) {
        self.state = (self.state & !MADE) | (((made as u16) << 8) & MADE);
    }
}

/// One direction of an arc; its reverse has the number with the lowest bit flipped.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct Arc {
    pub to: u16,
    pub next: u16,
    pub left: u32,
}

/// A node of the network.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct Flow {
    pub first: u16,
    /// The arc to look at next; while distances are found, the next node in the queue.
    pub at: u16,
    pub level: u16,
}

/// All of it.
#[derive(Debug)]
#[doc(hidden)]
pub struct LayoutTable<'s> {
    /// Layouts, each text at each shape once, for as long as the program is there.
    layouts: &'s mut VecView<LayoutRecord>,
    /// The architecture that layouts were measured for, by number.
    target: Option<Option<u16>>,
    /// Layouts by hash of text and by digest of map, and the chains of the program's own pools.
    pub(crate) chains: Chains<'s>,
    /// By the handle's index of a type: its layout.
    pub by_type: &'s mut VecView<u16>,
    derived: &'s mut VecView<Derived>,
    pub entries: &'s mut VecView<ValueInLayout>,
    pub nodes: &'s mut VecView<TableValue>,
    /// By the handle's index of a use: the layout that it wants.
    pub wants: &'s mut VecView<u8>,
    pub arcs: &'s mut VecView<Arc>,
    pub flow: &'s mut VecView<Flow>,
}

/// What a table is made of.
pub struct LayoutTableParts<'s> {
    pub layouts: &'s mut VecView<LayoutRecord>,
    pub(crate) chains: Chains<'s>,
    pub by_type: &'s mut VecView<u16>,
    pub derived: &'s mut VecView<Derived>,
    pub entries: &'s mut VecView<ValueInLayout>,
    pub nodes: &'s mut VecView<TableValue>,
    pub wants: &'s mut VecView<u8>,
    pub arcs: &'s mut VecView<Arc>,
    pub flow: &'s mut VecView<Flow>,
}

/// The chain of a hash, one of 256 at most.
fn by_text(hash: u32, chains: usize) -> usize {
    chain_of(hash, chains.min(256))
}

/// The chain of a map.
fn by_map(whole: [u32; 2], chains: usize) -> usize {
    chain_of(whole[0] ^ whole[1], chains)
}

/// Puts a layout first in its two chains.
fn chain(chains: &mut Chains<'_>, number: u16, record: &mut LayoutRecord) {
    let (own, map) = (number.wrapping_add(1), by_map(record.whole, chains.count()));
    record.next = chains.replace_head(Chained::Layouts, usize::from(record.chain), own);
    record.next_map = chains.replace_head(Chained::Maps, map, own);
}

impl<'s> LayoutTable<'s> {
    /// A table over lent storage.
    pub fn over(parts: LayoutTableParts<'s>) -> Self {
        let LayoutTableParts {
            layouts,
            chains,
            by_type,
            derived,
            entries,
            nodes,
            wants,
            arcs,
            flow,
        } = parts;
        Self { layouts, target: None, chains, by_type, derived, entries, nodes, wants, arcs, flow }
    }
    /// The layouts by number.
    pub fn layouts(&self) -> &[LayoutRecord] {
        self.layouts
    }
    /// Layouts for which there is room.
    pub fn capacity(&self) -> usize {
        self.layouts.capacity()
    }
    /// The hash of a layout of some digest at a shape.
    pub fn hash(digest: u32, shape: &Shape) -> u32 {
        let mix = |hash: u32, word: u32| (hash ^ word).wrapping_mul(0x0100_0193);
        shape
            .iter()
            .fold(digest, |hash, extent| mix(hash, extent.unwrap_or(u32::MAX)).rotate_left(5))
    }
    /// The layout with a hash of which something holds; of several the first.
    pub fn find(&self, hash: u32, holds: impl Fn(&LayoutRecord) -> bool) -> Option<u16> {
        let head = self.chains.head(Chained::Layouts, by_text(hash, self.chains.count()));
        self.walk(head, |record| record.next, holds)
    }
    /// The first layout that is known to have this map at this shape.
    pub fn find_map(&self, whole: [u32; 2], shape: &Shape) -> Option<u16> {
        let same =
            |record: &LayoutRecord| record.known && record.whole == whole && record.shape == *shape;
        let head = self.chains.head(Chained::Maps, by_map(whole, self.chains.count()));
        self.walk(head, |record| record.next_map, same)
    }
    fn walk(
        &self,
        head: u16,
        next: impl Fn(&LayoutRecord) -> u16,
        holds: impl Fn(&LayoutRecord) -> bool,
    ) -> Option<u16> {
        let mut at = head.checked_sub(1);
        let mut found = None;
        // The last one added comes first.
        while let Some(number) = at {
            let record = self.layouts.get(usize::from(number))?;
            if holds(record) {
                found = Some(number);
            }
            at = next(record).checked_sub(1);
        }
        found
    }
    /// Adds a layout whose text has a hash.
    pub fn push(&mut self, hash: u32, mut record: LayoutRecord) -> Option<u16> {
        let number = u16::try_from(self.layouts.len()).ok().filter(|number| *number < NONE - 1)?;
        if self.layouts.len() == self.layouts.capacity() {
            return None;
        }
        record.chain = u8::try_from(by_text(hash, self.chains.count())).unwrap_or(u8::MAX);
        chain(&mut self.chains, number, &mut record);
        self.layouts.push(record).ok()?;
        Some(number)
    }
    /// What was found out to be made of a layout in a way; inside `None`: nothing.
    pub fn derived(&self, from: u16, how: u32) -> Option<Option<u16>> {
        let places = self.derived.get(self.probes(from, how)?)?;
        let found = places.iter().find(|known| known.from == from && known.how == how)?;
        Some((found.to != NONE).then_some(found.to))
    }
    /// Keeps what is made of a layout in a way; something else may be forgotten for it.
    pub fn keep_derived(&mut self, from: u16, how: u32, to: Option<u16>) {
        if self.derived.is_empty() {
            let _ = self.derived.resize(self.derived.capacity(), Derived::NONE);
        }
        let Some(places) = self.probes(from, how).and_then(|range| self.derived.get_mut(range))
        else {
            return;
        };
        let free = places.iter().position(|place| place.from == NONE).unwrap_or(0);
        if let Some(place) = places.get_mut(free) {
            *place = Derived { from, to: to.unwrap_or(NONE), how };
        }
    }
    fn probes(&self, from: u16, how: u32) -> Option<core::ops::Range<usize>> {
        // The high bits: what a layout or a kind changes reaches them, wherever it stands.
        let key = u64::from(how) << 16 | u64::from(from);
        let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let groups = self.derived.len().div_ceil(PROBES);
        let first = (hash as usize).checked_rem(groups)?.saturating_mul(PROBES);
        Some(first..first.saturating_add(PROBES).min(self.derived.len()))
    }
    /// Layouts are measured for an architecture from here on: what was found out for another is
    /// forgotten, as is everything where the table is half full.
    pub fn aim(&mut self, target: Option<u16>) {
        let crowded = self.layouts.len() > self.layouts.capacity() / 2;
        if self.target != Some(target) || crowded {
            self.forget();
            self.target = Some(target);
        }
    }
    /// The architecture that layouts are measured for.
    pub fn target(&self) -> Option<Option<u16>> {
        self.target
    }
    /// Forgets everything.
    pub fn forget(&mut self) {
        self.clear();
        self.layouts.clear();
        self.derived.clear();
        self.target = None;
        self.chains.empty(Chained::Layouts);
        self.chains.empty(Chained::Maps);
    }
    /// Forgets the layouts of which something holds; the others get new numbers.
    pub fn forget_some(&mut self, gone: impl Fn(&LayoutRecord) -> bool) {
        if !self.layouts.iter().any(&gone) {
            return;
        }
        self.clear();
        self.derived.clear();
        self.chains.empty(Chained::Layouts);
        self.chains.empty(Chained::Maps);
        self.layouts.retain(|record| !gone(record));
        let Self { layouts, chains, .. } = self;
        for (number, record) in (0u16..).zip(layouts.iter_mut()) {
            chain(chains, number, record);
        }
    }
    /// Forgets everything but layouts.
    pub fn clear(&mut self) {
        self.by_type.clear();
        self.entries.clear();
        self.nodes.clear();
        self.wants.clear();
        self.arcs.clear();
        self.flow.clear();
    }
}

//! The records of the pass that weighs layouts against each other, in storage that a program's pools bring along.
//!
//! Plain data without meaning of its own: see `relayout`.
use super::handle::Value;
use super::types::{Encoding, Shape};
use heapless::VecView;

/// No layout, no entry.
pub(crate) const NONE: u16 = u16::MAX;

/// A use that wants no layout in particular, or one that has no number this small.
pub(crate) const ANY: u8 = u8::MAX;

/// A layout at a shape, with what comparing it takes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct LayoutRecord {
    pub encoding: Encoding,
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
}

/// A layout made from another.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Derived {
    pub from: u16,
    pub to: u16,
    pub how: u32,
}

/// A value in one layout.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The layout, and whether the value is computed in it (else, once made, converted).
    state: u16,
    /// The value's next entry; [`NONE`] ends the list.
    pub next: u16,
    /// Its place in the network that is being solved; when the program is rewritten, the value that holds it.
    pub link: u16,
}

/// The highest bit.
const FLAG: u16 = 1 << 15;

impl Entry {
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

/// A value of the program, by its handle's index.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    /// First entry; [`NONE`] for a value that is no tile in registers.
    pub first: u16,
    /// Place in the region that is being weighed, and whether the layout may not change.
    state: u16,
}

impl Node {
    /// A value that is not looked at.
    pub const NEW: Self = Self { first: NONE, state: !FLAG };

    pub const fn is_fixed(self) -> bool {
        self.state & FLAG != 0
    }
    pub const fn fix(&mut self) {
        self.state |= FLAG;
    }
    /// Its place in the region; `None`: outside.
    pub const fn slot(self) -> Option<u16> {
        let slot = self.state & !FLAG;
        if slot == !FLAG { None } else { Some(slot) }
    }
    pub const fn set_slot(&mut self, slot: Option<u16>) {
        let slot = match slot {
            Some(slot) => slot & !FLAG,
            None => !FLAG,
        };
        self.state = (self.state & FLAG) | slot;
    }
}

/// One direction of an arc; its reverse has the number with the lowest bit flipped.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Arc {
    pub to: u16,
    pub next: u16,
    pub left: u32,
}

/// A node of the network.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Flow {
    pub first: u16,
    /// The arc to look at next; while distances are found, the next node in the queue.
    pub at: u16,
    pub level: u16,
}

/// All of it.
#[derive(Debug)]
pub(crate) struct Sheet<'s> {
    pub layouts: &'s mut VecView<LayoutRecord>,
    pub derived: &'s mut VecView<Derived>,
    pub entries: &'s mut VecView<Entry>,
    pub nodes: &'s mut VecView<Node>,
    /// By the handle's index of a use: the layout that it wants.
    pub wants: &'s mut VecView<u8>,
    pub arcs: &'s mut VecView<Arc>,
    pub flow: &'s mut VecView<Flow>,
}

impl Sheet<'_> {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.layouts.clear();
        self.derived.clear();
        self.entries.clear();
        self.nodes.clear();
        self.wants.clear();
        self.arcs.clear();
        self.flow.clear();
    }
}

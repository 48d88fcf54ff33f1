//! The records of the pass that weighs layouts against each other, in storage that a program's
//! pools bring along.
//!
//! Plain data without meaning of its own: see `relayout`.
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
}

/// A layout made from another.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct Derived {
    pub from: u16,
    pub to: u16,
    pub how: u32,
}

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

/// A value of the program, by its handle's index.
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
    /// Layouts: those of this sheet in the order of their numbers, then those that earlier sheets
    /// measured.
    layouts: &'s mut VecView<LayoutRecord>,
    /// How many are this sheet's.
    known: usize,
    /// By the handle's index of a type: its layout.
    pub by_type: &'s mut VecView<u16>,
    pub derived: &'s mut VecView<Derived>,
    pub entries: &'s mut VecView<ValueInLayout>,
    pub nodes: &'s mut VecView<TableValue>,
    /// By the handle's index of a use: the layout that it wants.
    pub wants: &'s mut VecView<u8>,
    pub arcs: &'s mut VecView<Arc>,
    pub flow: &'s mut VecView<Flow>,
}

/// What a sheet is made of.
pub struct LayoutTableParts<'s> {
    pub layouts: &'s mut VecView<LayoutRecord>,
    pub by_type: &'s mut VecView<u16>,
    pub derived: &'s mut VecView<Derived>,
    pub entries: &'s mut VecView<ValueInLayout>,
    pub nodes: &'s mut VecView<TableValue>,
    pub wants: &'s mut VecView<u8>,
    pub arcs: &'s mut VecView<Arc>,
    pub flow: &'s mut VecView<Flow>,
}

impl<'s> LayoutTable<'s> {
    /// A sheet over lent storage.
    pub fn over(parts: LayoutTableParts<'s>) -> Self {
        let LayoutTableParts { layouts, by_type, derived, entries, nodes, wants, arcs, flow } =
            parts;
        Self { layouts, known: 0, by_type, derived, entries, nodes, wants, arcs, flow }
    }
    /// This sheet's layouts.
    pub fn layouts(&self) -> &[LayoutRecord] {
        self.layouts.get(..self.known).unwrap_or(&[])
    }
    /// Layouts for which there is room.
    pub fn capacity(&self) -> usize {
        self.layouts.capacity()
    }
    /// The first layout that an earlier sheet measured and this one has not, of which this holds.
    pub fn earlier(&self, holds: impl FnMut(&LayoutRecord) -> bool) -> Option<LayoutRecord> {
        let at = self.layouts.get(self.known..)?.iter().position(holds)?;
        self.layouts.get(self.known.saturating_add(at)).copied()
    }
    /// Adds a layout; the one of an earlier sheet that stands there moves to the end, or is
    /// forgotten.
    pub fn push(&mut self, record: LayoutRecord) -> Option<u16> {
        let number = u16::try_from(self.known).ok().filter(|number| *number != NONE)?;
        match self.layouts.get(self.known).copied() {
            Some(earlier) => {
                if let Some(known) = self.layouts.get_mut(self.known) {
                    *known = record;
                }
                // The record itself may be an earlier one: it is not kept twice.
                let again = |other: &LayoutRecord| {
                    other.encoding == record.encoding && other.shape == record.shape
                };
                let twin = self.layouts.iter().skip(self.known.saturating_add(1)).position(again);
                match twin.and_then(|at| {
                    self.layouts.get_mut(self.known.saturating_add(1).saturating_add(at))
                }) {
                    Some(twin) => *twin = earlier,
                    None if again(&earlier) => {}
                    None => {
                        let _ = self.layouts.push(earlier);
                    }
                }
            }
            None => self.layouts.push(record).ok()?,
        }
        self.known = self.known.saturating_add(1);
        Some(number)
    }
    /// Forgets everything, and what earlier sheets measured.
    pub fn forget(&mut self) {
        self.clear();
        self.layouts.clear();
    }
    /// Forgets everything but how layouts measure.
    pub fn clear(&mut self) {
        self.known = 0;
        self.by_type.clear();
        self.derived.clear();
        self.entries.clear();
        self.nodes.clear();
        self.wants.clear();
        self.arcs.clear();
        self.flow.clear();
    }
}

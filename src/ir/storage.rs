//! Where a program lives: typed pools lent by the caller, with an undo journal.
//!
//! Guarantees: reading is total; a write that has no room is [`ErrorKind::Capacity`] and changes nothing; every write
//! while a mark is open is recorded first, so that [`Pools::undo`] restores the records bit by bit.
use super::data::{AliasData, AttrData, BlockData, Cell, OpData, RegionData, Saved, UseData, ValueData};
use super::error::{ErrorKind, Pool};
use super::handle::MAX_HANDLES;
use super::sheet::{Arc, Derived, Entry, Flow, LayoutRecord, Node, Sheet};
use super::types::Type;
use heapless::{Vec, VecView};

/// Bytes of a cell of layout text that passes write.
const MADE_CELL: usize = 24;

/// Buckets of the name table that reading a text uses.
pub(crate) const BUCKETS: usize = 256;

/// Fixed-capacity storage for one program. `const`-constructible, so it can be a static or lie on a stack.
///
/// Parameters: operations, values, uses (operands), attributes and literals, distinct types (and aliases), regions (and
/// blocks), undo journal entries. An operation of the usual kind needs one `OPS`, one to two `VALUES`, three `USES` and
/// half an `ATTRS`: about 160 bytes, with what the weighing of layouts needs. A literal operand needs one more of `VALUES` and `ATTRS`.
#[derive(Debug)]
pub struct Storage<const OPS: usize, const VALUES: usize, const USES: usize, const ATTRS: usize, const TYPES: usize, const REGIONS: usize, const JOURNAL: usize>
{
    ops: Vec<OpData, OPS>,
    values: Vec<ValueData, VALUES>,
    uses: Vec<UseData, USES>,
    attrs: Vec<AttrData, ATTRS>,
    types: Vec<Type, TYPES>,
    regions: Vec<RegionData, REGIONS>,
    blocks: Vec<BlockData, REGIONS>,
    aliases: Vec<AliasData, TYPES>,
    made: Vec<[u8; MADE_CELL], TYPES>,
    layouts: Vec<LayoutRecord, TYPES>,
    derived: Vec<Derived, TYPES>,
    entries: Vec<Entry, VALUES>,
    nodes: Vec<Node, VALUES>,
    wants: Vec<u8, USES>,
    arcs: Vec<Arc, VALUES>,
    flow: Vec<Flow, ATTRS>,
    journal: Vec<Saved, JOURNAL>,
    buckets: [u16; BUCKETS],
}

/// Storage for a kernel of up to 64 operations: about 24 KiB.
pub type SmallStorage = Storage<64, 128, 256, 96, 32, 16, 200>;
/// Storage for up to 1,024 operations.
pub type LargeStorage = Storage<1024, 1536, 3072, 768, 128, 128, 4096>;

impl<const OPS: usize, const VALUES: usize, const USES: usize, const ATTRS: usize, const TYPES: usize, const REGIONS: usize, const JOURNAL: usize>
    Storage<OPS, VALUES, USES, ATTRS, TYPES, REGIONS, JOURNAL>
{
    /// Empty storage.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            ops: Vec::new(),
            values: Vec::new(),
            uses: Vec::new(),
            attrs: Vec::new(),
            types: Vec::new(),
            regions: Vec::new(),
            blocks: Vec::new(),
            aliases: Vec::new(),
            made: Vec::new(),
            layouts: Vec::new(),
            derived: Vec::new(),
            entries: Vec::new(),
            nodes: Vec::new(),
            wants: Vec::new(),
            arcs: Vec::new(),
            flow: Vec::new(),
            journal: Vec::new(),
            buckets: [0; BUCKETS],
        }
    }
    /// The pools, for [`Program`](super::Program)'s constructors. What was in them is forgotten when a program is made.
    pub fn pools(&mut self) -> Pools<'_> {
        Pools {
            ops: self.ops.as_mut_view(),
            values: self.values.as_mut_view(),
            uses: self.uses.as_mut_view(),
            attrs: self.attrs.as_mut_view(),
            types: self.types.as_mut_view(),
            regions: self.regions.as_mut_view(),
            blocks: self.blocks.as_mut_view(),
            aliases: self.aliases.as_mut_view(),
            made: self.made.as_mut_view(),
            sheet: Sheet {
                layouts: self.layouts.as_mut_view(),
                derived: self.derived.as_mut_view(),
                entries: self.entries.as_mut_view(),
                nodes: self.nodes.as_mut_view(),
                wants: self.wants.as_mut_view(),
                arcs: self.arcs.as_mut_view(),
                flow: self.flow.as_mut_view(),
            },
            journal: self.journal.as_mut_view(),
            buckets: &mut self.buckets,
            free: [0; FREE_LISTS],
            open: 0,
            writes: 0,
        }
    }
}

impl<const OPS: usize, const VALUES: usize, const USES: usize, const ATTRS: usize, const TYPES: usize, const REGIONS: usize, const JOURNAL: usize> Default
    for Storage<OPS, VALUES, USES, ATTRS, TYPES, REGIONS, JOURNAL>
{
    fn default() -> Self {
        Self::new()
    }
}

/// Pools with a free list.
const FREE_LISTS: usize = 6;

/// The pools of a [`Storage`], capacities erased.
#[derive(Debug)]
pub struct Pools<'s> {
    pub(crate) ops: &'s mut VecView<OpData>,
    pub(crate) values: &'s mut VecView<ValueData>,
    pub(crate) uses: &'s mut VecView<UseData>,
    pub(crate) attrs: &'s mut VecView<AttrData>,
    pub(crate) types: &'s mut VecView<Type>,
    pub(crate) regions: &'s mut VecView<RegionData>,
    pub(crate) blocks: &'s mut VecView<BlockData>,
    pub(crate) aliases: &'s mut VecView<AliasData>,
    made: &'s mut VecView<[u8; MADE_CELL]>,
    /// What the pass over conversions weighs; empty between passes.
    pub(crate) sheet: Sheet<'s>,
    journal: &'s mut VecView<Saved>,
    pub(crate) buckets: &'s mut [u16; BUCKETS],
    /// First free record + 1 of each pool.
    free: [u16; FREE_LISTS],
    /// Marks that are open.
    open: u16,
    /// Writes since the program was made, modulo 2^32.
    writes: u32,
}

/// How much of each pool is in use, and how much there is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Which pool.
    pub pool: Pool,
    /// High-water mark since the program was made (a free list reuses records below it); for the journal the present length.
    pub used: usize,
    /// Capacity.
    pub capacity: usize,
    /// Bytes of one record.
    pub bytes: usize,
}

/// A point to go back to. Marks nest like brackets.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Mark {
    at: usize,
    depth: u16,
}

const fn slot(pool: Pool) -> usize {
    match pool {
        Pool::Ops => 0,
        Pool::Values => 1,
        Pool::Uses => 2,
        Pool::Attrs => 3,
        Pool::Regions => 4,
        _ => 5,
    }
}

impl Pools<'_> {
    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.ops.clear();
        self.values.clear();
        self.uses.clear();
        self.attrs.clear();
        self.types.clear();
        self.regions.clear();
        self.blocks.clear();
        self.aliases.clear();
        self.made.clear();
        self.sheet.clear();
        self.journal.clear();
        self.buckets.fill(0);
        self.free = [0; FREE_LISTS];
        self.open = 0;
    }

    pub(crate) fn read<T: Cell>(&self, index: usize) -> Option<&T> {
        T::cells(self).get(index)
    }

    /// Number of writes so far: equal numbers mean that nothing changed in between.
    pub(crate) const fn writes(&self) -> u32 {
        self.writes
    }

    fn record(&mut self, saved: Saved) -> Result<(), ErrorKind> {
        self.writes = self.writes.wrapping_add(1);
        if self.open == 0 {
            return Ok(());
        }
        self.journal.push(saved).map_err(|_| full(Pool::Journal, self.journal.capacity()))
    }

    /// Changes a record.
    pub(crate) fn edit<T: Cell>(&mut self, index: usize, change: impl FnOnce(&mut T)) -> Result<(), ErrorKind> {
        let old = *self.read::<T>(index).ok_or(ErrorKind::Stale)?;
        self.record(old.saved(index as u16))?;
        if let Some(cell) = T::cells_mut(self).get_mut(index) {
            change(cell);
        }
        Ok(())
    }

    /// Takes a record from the free list or from fresh room.
    pub(crate) fn add<T: Cell>(&mut self, data: T) -> Result<usize, ErrorKind> {
        let head = self.free.get(slot(T::POOL)).copied().unwrap_or(0);
        if let Some(index) = head.checked_sub(1).map(usize::from) {
            let old = *self.read::<T>(index).ok_or(ErrorKind::Broken)?;
            self.set_free(T::POOL, old.next_free())?;
            self.edit::<T>(index, |cell| *cell = data)?;
            return Ok(index);
        }
        let cells = T::cells(self);
        let (index, limit) = (cells.len(), cells.capacity().min(MAX_HANDLES));
        if index >= limit {
            return Err(full(T::POOL, limit));
        }
        self.record(Saved::Grown(T::POOL))?;
        T::cells_mut(self).push(data).map_err(|_| full(T::POOL, limit))?;
        Ok(index)
    }

    /// Puts a record on the free list.
    pub(crate) fn release<T: Cell>(&mut self, index: usize) -> Result<(), ErrorKind> {
        let head = self.free.get(slot(T::POOL)).copied().unwrap_or(0);
        self.edit::<T>(index, |cell| *cell = cell.freed(head))?;
        self.set_free(T::POOL, (index as u16).wrapping_add(1))
    }

    fn set_free(&mut self, pool: Pool, head: u16) -> Result<(), ErrorKind> {
        let old = self.free.get(slot(pool)).copied().unwrap_or(0);
        self.record(Saved::Free(pool, old))?;
        if let Some(place) = self.free.get_mut(slot(pool)) {
            *place = head;
        }
        Ok(())
    }

    /// Adds a type's record (types are never freed).
    pub(crate) fn add_type(&mut self, ty: Type) -> Result<usize, ErrorKind> {
        let (index, limit) = (self.types.len(), self.types.capacity().min(MAX_HANDLES));
        if index >= limit {
            return Err(full(Pool::Types, limit));
        }
        self.record(Saved::Grown(Pool::Types))?;
        self.types.push(ty).map_err(|_| full(Pool::Types, limit))?;
        Ok(index)
    }

    /// Adds an alias (only while a text is read).
    pub(crate) fn add_alias(&mut self, alias: AliasData) -> Result<(), ErrorKind> {
        self.aliases.push(alias).map_err(|_| full(Pool::Aliases, self.aliases.capacity()))
    }

    /// Layout text that a pass wrote.
    pub(crate) fn made(&self, at: u16, len: u16) -> &str {
        let start = usize::from(at).saturating_mul(MADE_CELL);
        let bytes = self.made.as_flattened().get(start..start.saturating_add(usize::from(len)));
        bytes.and_then(|bytes| core::str::from_utf8(bytes).ok()).unwrap_or("")
    }
    /// Keeps layout text: where it begins, and its bytes. A text that is there already is not written again.
    pub(crate) fn make(&mut self, text: &str) -> Result<(u16, u16), ErrorKind> {
        let limit = self.made.capacity();
        let no_room = || full(Pool::Made, limit);
        let len = u16::try_from(text.len()).map_err(|_| no_room())?;
        let mut at = 0u16;
        while usize::from(at) < self.made.len() {
            if self.made(at, len) == text {
                return Ok((at, len));
            }
            at = at.saturating_add(1);
        }
        let cells = text.len().div_ceil(MADE_CELL);
        if self.made.len().saturating_add(cells) > limit {
            return Err(no_room());
        }
        for chunk in text.as_bytes().chunks(MADE_CELL) {
            self.record(Saved::Grown(Pool::Made))?;
            let mut cell = [b' '; MADE_CELL];
            for (to, from) in cell.iter_mut().zip(chunk) {
                *to = *from;
            }
            self.made.push(cell).map_err(|_| no_room())?;
        }
        Ok((at, len))
    }

    /// Whether `count` more records fit.
    pub(crate) fn room<T: Cell>(&self, count: usize) -> Result<(), ErrorKind> {
        let cells = T::cells(self);
        let limit = cells.capacity().min(MAX_HANDLES);
        let mut free = limit.saturating_sub(cells.len());
        let mut head = self.free.get(slot(T::POOL)).copied().unwrap_or(0);
        while free < count {
            let Some(cell) = head.checked_sub(1).and_then(|index| cells.get(usize::from(index))) else {
                return Err(full(T::POOL, limit));
            };
            head = cell.next_free();
            free = free.saturating_add(1);
        }
        Ok(())
    }

    /// Opens a mark.
    pub(crate) fn open(&mut self) -> Mark {
        self.open = self.open.saturating_add(1);
        Mark { at: self.journal.len(), depth: self.open }
    }

    /// Closes a mark and keeps what was done; the outermost one empties the journal.
    pub(crate) fn keep(&mut self, mark: Mark) {
        self.open = mark.depth.saturating_sub(1).min(self.open);
        if self.open == 0 {
            self.journal.clear();
        }
    }

    /// Closes a mark and takes back everything since it was opened.
    pub(crate) fn undo(&mut self, mark: Mark) {
        while self.journal.len() > mark.at {
            let Some(saved) = self.journal.pop() else { break };
            self.writes = self.writes.wrapping_add(1);
            match saved {
                Saved::Op(index, data) => put(self.ops, index, data),
                Saved::Value(index, data) => put(self.values, index, data),
                Saved::Use(index, data) => put(self.uses, index, data),
                Saved::Attr(index, data) => put(self.attrs, index, data),
                Saved::Region(index, data) => put(self.regions, index, data),
                Saved::Block(index, data) => put(self.blocks, index, data),
                Saved::Grown(pool) => match pool {
                    Pool::Ops => drop_last(self.ops),
                    Pool::Values => drop_last(self.values),
                    Pool::Uses => drop_last(self.uses),
                    Pool::Attrs => drop_last(self.attrs),
                    Pool::Types => drop_last(self.types),
                    Pool::Made => drop_last(self.made),
                    Pool::Regions => drop_last(self.regions),
                    _ => drop_last(self.blocks),
                },
                Saved::Free(pool, head) => {
                    if let Some(place) = self.free.get_mut(slot(pool)) {
                        *place = head;
                    }
                }
            }
        }
        self.open = mark.depth.saturating_sub(1).min(self.open);
    }

    /// Everything but the derived order numbers, the bytes of which a test compares.
    #[cfg(test)]
    pub(crate) fn snapshot(&self) -> std::string::String {
        let ops: std::vec::Vec<_> = self.ops.iter().map(|op| OpData { order: 0, ..*op }).collect();
        std::format!(
            "{ops:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
            self.values,
            self.uses,
            self.attrs,
            self.types,
            self.regions,
            self.blocks,
            self.free,
            self.made
        )
    }

    /// Fill levels, for reports and limits.
    pub(crate) fn usage(&self) -> [Usage; 9] {
        const fn of<T>(pool: Pool, used: usize, capacity: usize) -> Usage {
            Usage { pool, used, capacity, bytes: size_of::<T>() }
        }
        [
            of::<OpData>(Pool::Ops, self.ops.len(), self.ops.capacity()),
            of::<ValueData>(Pool::Values, self.values.len(), self.values.capacity()),
            of::<UseData>(Pool::Uses, self.uses.len(), self.uses.capacity()),
            of::<AttrData>(Pool::Attrs, self.attrs.len(), self.attrs.capacity()),
            of::<Type>(Pool::Types, self.types.len(), self.types.capacity()),
            of::<RegionData>(Pool::Regions, self.regions.len(), self.regions.capacity()),
            of::<BlockData>(Pool::Blocks, self.blocks.len(), self.blocks.capacity()),
            of::<[u8; MADE_CELL]>(Pool::Made, self.made.len(), self.made.capacity()),
            of::<Saved>(Pool::Journal, self.journal.len(), self.journal.capacity()),
        ]
    }
}

fn put<T>(cells: &mut VecView<T>, index: u16, data: T) {
    if let Some(cell) = cells.get_mut(usize::from(index)) {
        *cell = data;
    }
}

fn drop_last<T>(cells: &mut VecView<T>) {
    let _ = cells.pop();
}

/// The error of a full pool.
pub(crate) fn full(pool: Pool, limit: usize) -> ErrorKind {
    ErrorKind::Capacity { pool, limit: u32::try_from(limit).unwrap_or(u32::MAX) }
}

//! Where a program lives: typed pools lent by the caller, with an undo journal.
//!
//! Guarantees: reading is total; a write that has no room is [`ErrorKind::Capacity`] and changes
//! nothing; every write while a mark is open is recorded first, so that [`Pools::undo`] restores
//! the records bit by bit. A record is kept in the journal once for each mark, however often it is
//! written: the journal grows with the records that are touched.
use crate::chains::{ChainCell, Chained, Chains, Digest};
use crate::data::{
    AliasData, AttrData, BlockData, Cell, OpData, RegionData, Saved, Stamp, UseData, ValueData,
};
use crate::error::{ErrorKind, Pool};
use crate::handle::MAX_HANDLES;
use crate::layout_table::{
    Arc, Derived, Flow, LayoutRecord, LayoutTable, LayoutTableParts, TableValue, ValueInLayout,
};
use crate::types::{TileEncoding, Type};
use heapless::{Vec, VecView};

/// Bytes of a cell of layouts that were read, and of layout text that passes write.
const MADE_CELL: usize = 24;
/// Cells that have numbers.
const MAX_MADE: usize = 0xfff0;

/// Fixed-capacity storage for one program. `const`-constructible, so it can be a static or lie on a
/// stack.
///
/// Parameters: operations, values, uses (operands), attributes and literals, distinct types (and
/// aliases, and cells of layouts), regions (and blocks), undo journal entries. An operation of the
/// usual kind needs one `OPS`, one to two `VALUES`, three `USES` and half an `ATTRS`: about 160
/// bytes, with what the weighing of layouts needs. A literal operand needs one more of `VALUES` and
/// `ATTRS`.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::ir::{Options, PoolUsage, Pools, Storage, parse};
///
/// // Room for 16 operations, 32 values and so on, where no heap is: a static or a stack.
/// let mut storage = Box::new(Storage::<16, 32, 64, 32, 16, 8, 64>::new());
/// let pools: Pools = storage.pools();
/// let program = parse(pools, &TABLES, "func @f(%n: index) {threads = 64} {\n}", Options::default()).unwrap();
/// // How much of it a program takes.
/// let operations: PoolUsage = program.usage()[0];
/// assert_eq!((operations.used, operations.capacity), (1, 16));
/// ```
#[derive(Debug)]
pub struct Storage<
    const OPS: usize,
    const VALUES: usize,
    const USES: usize,
    const ATTRS: usize,
    const TYPES: usize,
    const REGIONS: usize,
    const JOURNAL: usize,
> {
    ops: Vec<OpData, OPS>,
    op_stamps: [Stamp; OPS],
    values: Vec<ValueData, VALUES>,
    uses: Vec<UseData, USES>,
    attrs: Vec<AttrData, ATTRS>,
    types: Vec<Type, TYPES>,
    regions: Vec<RegionData, REGIONS>,
    blocks: Vec<BlockData, REGIONS>,
    aliases: Vec<AliasData, TYPES>,
    made: Vec<[u8; MADE_CELL], TYPES>,
    layouts: Vec<LayoutRecord, TYPES>,
    by_type: Vec<u16, TYPES>,
    derived: Vec<Derived, TYPES>,
    entries: Vec<ValueInLayout, VALUES>,
    nodes: Vec<TableValue, VALUES>,
    wants: Vec<u8, USES>,
    arcs: Vec<Arc, VALUES>,
    flow: Vec<Flow, ATTRS>,
    journal: Vec<Saved, JOURNAL>,
    chains: [ChainCell; TYPES],
}

/// Storage for a kernel of up to 64 operations: about 24 KiB.
pub type SmallStorage = Storage<64, 128, 256, 96, 32, 16, 188>;
/// Storage for up to 1,024 operations.
pub type LargeStorage = Storage<1024, 1536, 2816, 512, 120, 128, 4096>;

impl<
    const OPS: usize,
    const VALUES: usize,
    const USES: usize,
    const ATTRS: usize,
    const TYPES: usize,
    const REGIONS: usize,
    const JOURNAL: usize,
> Storage<OPS, VALUES, USES, ATTRS, TYPES, REGIONS, JOURNAL>
{
    /// Empty storage.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            ops: Vec::new(),
            op_stamps: [Stamp(0); OPS],
            values: Vec::new(),
            uses: Vec::new(),
            attrs: Vec::new(),
            types: Vec::new(),
            regions: Vec::new(),
            blocks: Vec::new(),
            aliases: Vec::new(),
            made: Vec::new(),
            layouts: Vec::new(),
            by_type: Vec::new(),
            derived: Vec::new(),
            entries: Vec::new(),
            nodes: Vec::new(),
            wants: Vec::new(),
            arcs: Vec::new(),
            flow: Vec::new(),
            journal: Vec::new(),
            chains: [ChainCell::NEW; TYPES],
        }
    }
    /// The pools, for [`Program`](crate::Program)'s constructors. What was in them is forgotten
    /// when a program is made.
    pub fn pools(&mut self) -> Pools<'_> {
        Pools {
            ops: self.ops.as_mut_view(),
            op_stamps: &mut self.op_stamps,
            values: self.values.as_mut_view(),
            uses: self.uses.as_mut_view(),
            attrs: self.attrs.as_mut_view(),
            types: self.types.as_mut_view(),
            regions: self.regions.as_mut_view(),
            blocks: self.blocks.as_mut_view(),
            aliases: self.aliases.as_mut_view(),
            made: self.made.as_mut_view(),
            layout_table: LayoutTable::over(LayoutTableParts {
                layouts: self.layouts.as_mut_view(),
                chains: Chains(&mut self.chains),
                by_type: self.by_type.as_mut_view(),
                derived: self.derived.as_mut_view(),
                entries: self.entries.as_mut_view(),
                nodes: self.nodes.as_mut_view(),
                wants: self.wants.as_mut_view(),
                arcs: self.arcs.as_mut_view(),
                flow: self.flow.as_mut_view(),
            }),
            journal: self.journal.as_mut_view(),
            free: [0; FREE_LISTS],
            open: 0,
            now: 0,
            since: 0,
            kept: [Stamp(0); FREE_LISTS],
            grown: [Stamp(0); GROWING],
            writes: 0,
            lacked: None,
        }
    }
}

impl<
    const OPS: usize,
    const VALUES: usize,
    const USES: usize,
    const ATTRS: usize,
    const TYPES: usize,
    const REGIONS: usize,
    const JOURNAL: usize,
> Default for Storage<OPS, VALUES, USES, ATTRS, TYPES, REGIONS, JOURNAL>
{
    fn default() -> Self {
        Self::new()
    }
}

/// Pools with a free list.
const FREE_LISTS: usize = 6;
/// Pools that grow: those, types and texts.
const GROWING: usize = 8;

/// The pools of a [`Storage`], capacities erased.
#[derive(Debug)]
pub struct Pools<'s> {
    pub(crate) ops: &'s mut VecView<OpData>,
    pub(crate) op_stamps: &'s mut [Stamp],
    #[doc(hidden)]
    pub values: &'s mut VecView<ValueData>,
    #[doc(hidden)]
    pub uses: &'s mut VecView<UseData>,
    pub(crate) attrs: &'s mut VecView<AttrData>,
    pub(crate) types: &'s mut VecView<Type>,
    pub(crate) regions: &'s mut VecView<RegionData>,
    pub(crate) blocks: &'s mut VecView<BlockData>,
    pub(crate) aliases: &'s mut VecView<AliasData>,
    made: &'s mut VecView<[u8; MADE_CELL]>,
    /// What the pass over conversions weighs; empty between passes.
    #[doc(hidden)]
    pub layout_table: LayoutTable<'s>,
    journal: &'s mut VecView<Saved>,
    /// First free record + 1 of each pool.
    free: [u16; FREE_LISTS],
    /// Marks that are open.
    open: u16,
    /// Numbers marks; what is written while one is open is stamped with the last.
    now: u8,
    /// The number of the innermost mark that is open: what has this stamp or a later one is in the
    /// journal since, or was made since.
    since: u8,
    /// Stamps of the free lists' beginnings.
    kept: [Stamp; FREE_LISTS],
    /// Stamps of the pools' lengths.
    grown: [Stamp; GROWING],
    /// Writes since the program was made, modulo 2^32.
    writes: u32,
    /// What had no room, and how much it holds, until that is asked.
    lacked: Option<(Pool, u32)>,
}

/// How much of each pool is in use, and how much there is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PoolUsage {
    /// Which pool.
    pub pool: Pool,
    /// High-water mark since the program was made (a free list reuses records below it); for the
    /// journal the present length.
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
    /// The number of the mark around it.
    around: u8,
}

const fn slot(pool: Pool) -> usize {
    match pool {
        Pool::Ops => 0,
        Pool::Values => 1,
        Pool::Uses => 2,
        Pool::Attrs => 3,
        Pool::Regions => 4,
        Pool::Types => 6,
        Pool::Made => 7,
        _ => 5,
    }
}

impl Pools<'_> {
    /// The error of a full pool, which is kept until it is asked for.
    fn lacks(&mut self, pool: Pool, limit: usize) -> ErrorKind {
        self.lacked = Some((pool, u32::try_from(limit).unwrap_or(u32::MAX)));
        full(pool, limit)
    }

    /// The pool that had no room since this was asked last, and how much it holds.
    pub(crate) fn take_lacked(&mut self) -> Option<(Pool, u32)> {
        self.lacked.take()
    }

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
        self.layout_table.chains.clear();
        self.layout_table.forget();
        self.journal.clear();
        self.free = [0; FREE_LISTS];
        self.lacked = None;
        self.open = 0;
        (self.now, self.since) = (0, 0);
        self.kept = [Stamp(0); FREE_LISTS];
        self.grown = [Stamp(0); GROWING];
    }

    pub(crate) fn read<T: Cell>(&self, index: usize) -> Option<&T> {
        T::cells(self).get(index)
    }

    /// Number of writes so far: equal numbers mean that nothing changed in between.
    pub(crate) const fn writes(&self) -> u32 {
        self.writes
    }

    /// Writes to the journal what is about to change, unless that was done since the innermost mark
    /// was opened.
    fn record(&mut self, stamp: Stamp, saved: impl FnOnce() -> Saved) -> Result<(), ErrorKind> {
        self.writes = self.writes.wrapping_add(1);
        if self.open == 0 || stamp.0 >= self.since {
            return Ok(());
        }
        if self.journal.push(saved()).is_err() {
            return Err(self.lacks(Pool::Journal, self.journal.capacity()));
        }
        Ok(())
    }

    /// Writes a pool's length to the journal before it grows.
    fn record_growth(&mut self, pool: Pool, len: usize) -> Result<(), ErrorKind> {
        let stamp = self.grown.get(slot(pool)).copied().unwrap_or_default();
        let len = u16::try_from(len).map_err(|_| self.lacks(pool, len))?;
        self.record(stamp, || Saved::Grown(pool, len))?;
        if let Some(stamp) = self.grown.get_mut(slot(pool)) {
            *stamp = Stamp(self.now);
        }
        Ok(())
    }

    /// Changes a record.
    #[doc(hidden)]
    pub fn edit<T: Cell>(
        &mut self,
        index: usize,
        change: impl FnOnce(&mut T),
    ) -> Result<(), ErrorKind> {
        let stamp = T::stamp(self, index).copied().unwrap_or_default();
        let old = *self.read::<T>(index).ok_or(ErrorKind::Stale)?;
        self.record(stamp, || old.saved(index as u16))?;
        if let Some(cell) = T::cells_mut(self).get_mut(index) {
            change(cell);
        }
        self.stamp::<T>(index);
        Ok(())
    }

    fn stamp<T: Cell>(&mut self, index: usize) {
        let now = Stamp(self.now);
        if let Some(stamp) = T::stamp(self, index) {
            *stamp = now;
        }
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
            return Err(self.lacks(T::POOL, limit));
        }
        self.record_growth(T::POOL, index)?;
        T::cells_mut(self).push(data).map_err(|_| full(T::POOL, limit))?;
        // It goes with the growth: nothing of it needs to be kept.
        self.stamp::<T>(index);
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
        let stamp = self.kept.get(slot(pool)).copied().unwrap_or_default();
        self.record(stamp, || Saved::Free(pool, old))?;
        if let (Some(place), Some(stamp)) =
            (self.free.get_mut(slot(pool)), self.kept.get_mut(slot(pool)))
        {
            (*place, *stamp) = (head, Stamp(self.now));
        }
        Ok(())
    }

    /// The type with a hash of which something holds.
    pub(crate) fn find_type(&self, hash: u32, holds: impl Fn(&Type) -> bool) -> Option<usize> {
        self.layout_table
            .chains
            .find(Chained::Types, hash, |index| self.types.get(index).is_some_and(&holds))
    }
    /// Adds a type's record (types are never freed).
    pub(crate) fn add_type(&mut self, ty: Type, hash: u32) -> Result<usize, ErrorKind> {
        let (index, limit) = (self.types.len(), self.types.capacity().min(MAX_HANDLES));
        if index >= limit {
            return Err(self.lacks(Pool::Types, limit));
        }
        self.record_growth(Pool::Types, index)?;
        self.types.push(ty).map_err(|_| full(Pool::Types, limit))?;
        self.layout_table.chains.add(Chained::Types, index, hash);
        Ok(index)
    }

    /// The alias with a name of this hash of which something holds.
    pub(crate) fn find_alias(
        &self,
        hash: u32,
        holds: impl Fn(&AliasData) -> bool,
    ) -> Option<&AliasData> {
        let at = self
            .layout_table
            .chains
            .find(Chained::Aliases, hash, |index| self.aliases.get(index).is_some_and(&holds))?;
        self.aliases.get(at)
    }
    /// Adds an alias (only while a text is read).
    pub(crate) fn add_alias(&mut self, alias: AliasData, hash: u32) -> Result<(), ErrorKind> {
        let index = self.aliases.len();
        self.aliases.push(alias).map_err(|_| full(Pool::Aliases, self.aliases.capacity()))?;
        self.layout_table.chains.add(Chained::Aliases, index, hash);
        Ok(())
    }

    /// Layout text that a pass wrote.
    pub(crate) fn made(&self, at: u16, len: u16) -> &str {
        let start = usize::from(at).saturating_mul(MADE_CELL);
        let bytes = self.made.as_flattened().get(start..start.saturating_add(usize::from(len)));
        bytes.and_then(|bytes| core::str::from_utf8(bytes).ok()).unwrap_or("")
    }
    /// The cells from one on, as bytes.
    pub(crate) fn made_bytes(&self, at: usize) -> &[u8] {
        self.made.get(at..).unwrap_or_default().as_flattened()
    }
    /// The first cell of a text or record with a hash of whose bytes, and all behind them,
    /// something holds.
    pub(crate) fn find_made(&self, hash: u32, holds: impl Fn(&[u8]) -> bool) -> Option<usize> {
        self.layout_table.chains.find(Chained::Made, hash, |index| holds(self.made_bytes(index)))
    }
    /// Keeps layout text: where it begins, and its bytes. A text that is there already is not
    /// written again.
    #[doc(hidden)]
    pub fn make(&mut self, text: &str) -> Result<(u16, u16), ErrorKind> {
        let Ok(len) = u16::try_from(text.len()) else {
            return Err(self.lacks(Pool::Made, self.made.capacity()));
        };
        let hash = Digest::of(text);
        let cell = |index: usize| u16::try_from(index).unwrap_or(u16::MAX);
        if let Some(found) = self.find_made(hash, |bytes| bytes.starts_with(text.as_bytes())) {
            return Ok((cell(found), len));
        }
        self.make_record(text.as_bytes(), hash).map(|at| (at, len))
    }
    /// Writes bytes into cells of their own: the first of them.
    pub(crate) fn make_record(&mut self, bytes: &[u8], hash: u32) -> Result<u16, ErrorKind> {
        let (first, limit) = (self.made.len(), self.made.capacity().min(MAX_MADE));
        let no_room = || full(Pool::Made, limit);
        if first.saturating_add(bytes.len().div_ceil(MADE_CELL)) > limit {
            return Err(self.lacks(Pool::Made, limit));
        }
        for chunk in bytes.chunks(MADE_CELL) {
            self.record_growth(Pool::Made, self.made.len())?;
            let mut cell = [b' '; MADE_CELL];
            for (to, from) in cell.iter_mut().zip(chunk) {
                *to = *from;
            }
            self.made.push(cell).map_err(|_| no_room())?;
        }
        self.layout_table.chains.add(Chained::Made, first, hash);
        u16::try_from(first).map_err(|_| no_room())
    }

    /// Whether `count` more records fit.
    pub(crate) fn room<T: Cell>(&mut self, count: usize) -> Result<(), ErrorKind> {
        let cells = T::cells(self);
        let limit = cells.capacity().min(MAX_HANDLES);
        let mut free = limit.saturating_sub(cells.len());
        let mut head = self.free.get(slot(T::POOL)).copied().unwrap_or(0);
        while free < count {
            let Some(cell) = head.checked_sub(1).and_then(|index| cells.get(usize::from(index)))
            else {
                return Err(self.lacks(T::POOL, limit));
            };
            head = cell.next_free();
            free = free.saturating_add(1);
        }
        Ok(())
    }

    /// Opens a mark.
    pub(crate) fn open(&mut self) -> Mark {
        let mut around = self.since;
        if self.now == u8::MAX {
            // Numbers begin again. What was written so far counts as not kept, which costs room and
            // nothing else.
            self.forget_stamps();
            (self.now, around) = (0, 1);
        }
        self.now = self.now.saturating_add(1);
        self.since = self.now;
        self.open = self.open.saturating_add(1);
        Mark { at: self.journal.len(), depth: self.open, around }
    }

    #[inline(never)]
    fn forget_stamps(&mut self) {
        let records = self
            .values
            .iter_mut()
            .map(|cell| &mut cell.stamp)
            .chain(self.uses.iter_mut().map(|cell| &mut cell.stamp));
        let fewer = self
            .attrs
            .iter_mut()
            .map(|cell| &mut cell.stamp)
            .chain(self.regions.iter_mut().map(|cell| &mut cell.stamp));
        let blocks = self.blocks.iter_mut().map(|cell| &mut cell.stamp);
        for stamp in self.op_stamps.iter_mut().chain(records).chain(fewer).chain(blocks) {
            *stamp = Stamp(0);
        }
        self.kept = [Stamp(0); FREE_LISTS];
        self.grown = [Stamp(0); GROWING];
    }

    fn close(&mut self, mark: Mark) {
        self.open = mark.depth.saturating_sub(1).min(self.open);
        self.since = mark.around;
    }

    /// Closes a mark and keeps what was done; the outermost one empties the journal.
    pub(crate) fn keep(&mut self, mark: Mark) {
        self.close(mark);
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
                Saved::Op(index, data) => self.put(index, data),
                Saved::Value(index, data) => self.put(index, data),
                Saved::Use(index, data) => self.put(index, data),
                Saved::Attr(index, data) => self.put(index, data),
                Saved::Region(index, data) => self.put(index, data),
                Saved::Block(index, data) => self.put(index, data),
                Saved::Grown(pool, len) => {
                    let len = usize::from(len);
                    match pool {
                        Pool::Ops => self.ops.truncate(len),
                        Pool::Values => self.values.truncate(len),
                        Pool::Uses => self.uses.truncate(len),
                        Pool::Attrs => self.attrs.truncate(len),
                        Pool::Types => {
                            self.layout_table.chains.truncate(Chained::Types, len);
                            self.types.truncate(len);
                        }
                        Pool::Made => {
                            self.layout_table.chains.truncate(Chained::Made, len);
                            self.made.truncate(len);
                            // Other texts may come to stand where those stood.
                            self.layout_table.forget_some(|record| {
                                matches!(record.encoding, TileEncoding::Interned(at, _)
                                    if usize::from(at) >= len)
                            });
                        }
                        Pool::Regions => self.regions.truncate(len),
                        _ => self.blocks.truncate(len),
                    }
                    if let Some(stamp) = self.grown.get_mut(slot(pool)) {
                        *stamp = Stamp(0);
                    }
                }
                Saved::Free(pool, head) => {
                    if let (Some(place), Some(stamp)) =
                        (self.free.get_mut(slot(pool)), self.kept.get_mut(slot(pool)))
                    {
                        (*place, *stamp) = (head, Stamp(0));
                    }
                }
            }
        }
        self.close(mark);
    }

    /// Puts a record back. The mark around may have kept it as well, or not: it counts as not kept.
    fn put<T: Cell>(&mut self, index: u16, data: T) {
        let index = usize::from(index);
        if let Some(cell) = T::cells_mut(self).get_mut(index) {
            *cell = data;
        }
        if let Some(stamp) = T::stamp(self, index) {
            *stamp = Stamp(0);
        }
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
    pub(crate) fn usage(&self) -> [PoolUsage; 9] {
        const fn of<T>(pool: Pool, used: usize, capacity: usize) -> PoolUsage {
            PoolUsage { pool, used, capacity, bytes: size_of::<T>() }
        }
        [
            PoolUsage {
                bytes: size_of::<OpData>() + size_of::<Stamp>(),
                ..of::<OpData>(Pool::Ops, self.ops.len(), self.ops.capacity())
            },
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

/// The error of a full pool.
pub(crate) fn full(pool: Pool, limit: usize) -> ErrorKind {
    ErrorKind::Capacity { pool, limit: u32::try_from(limit).unwrap_or(u32::MAX) }
}

//! PTX `tcgen05`: tensor memory, products into it by descriptors, loads from it and stores to it.
//!
//! As in the PTX document, "TensorCore 5th Generation Family Instructions": 128 lanes of 512
//! columns of 32 bits; an address has the lane in its upper half. Products of one thread are
//! carried out in their order, some time: nobody else may use the cells before the phase of an
//! mbarrier that they were committed to has been waited for and `tcgen05.fence::after_thread_sync`
//! has followed; what they read in shared memory may not be written before the wait. A load's
//! registers may be used after `tcgen05.wait::ld`; cells that another warp has loaded may be
//! written again after its wait and `fence::before_thread_sync`, a barrier, and the fence after it.
//! What a warp stores is there for itself after `tcgen05.wait::st`, and for the unit and other
//! warps after the fence before, a barrier and the fence after it. A product whose A is an address
//! takes it from the lanes that its accumulator's rows have, neighbours of the depth together in a
//! cell, the lowest first. Block scales: a copy of 32 rows of 16 bytes fills four columns of 32
//! lanes, and the other three groups of lanes with the same; it runs in order with products that
//! the same thread issues behind it, and must wait for those before it that read what it
//! overwrites. A product's scale of row r stands in lane r % 32 of each group, column r / 32, in
//! the byte that the instruction descriptor names.
//!
//! What was allocated begins anywhere, and is given back before the kernel ends.

use std::collections::BTreeMap;

use super::op::{Addr, Reg, Src};
use super::phase::{Done, join_map};
use super::run::{Machine, Run, Warp, lanes};
use crate::fault::{Clash, FaultKind};

mod decode;
mod descriptor;
mod product;
mod transfer;

pub(super) use decode::decode;
use descriptor::Word;

const ROWS: u32 = 128;
const COLUMNS: u32 = 512;

/// How a load spreads over lanes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shape {
    L32x32,
    L16x64,
    L16x128,
    L16x256,
    L16x32x2,
}

/// Kinds of products.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// Elements of 16 bits.
    Halves,
    /// Elements of 8 bits.
    Bytes,
    /// Elements of 8 bits with block scales.
    Scaled,
    /// Elements of 4 bits with so many block scales of a row; `is_float`: of `ue4m3`.
    Narrow { runs: u32, is_float: bool },
}

impl Kind {
    /// Elements of an instance along the depth.
    pub fn depth(self) -> u32 {
        match self {
            Kind::Halves => 16,
            Kind::Bytes | Kind::Scaled => 32,
            Kind::Narrow { .. } => 64,
        }
    }

    /// Block scales of a row of an instance; 0 without them.
    pub fn runs(self) -> u32 {
        match self {
            Kind::Halves | Kind::Bytes => 0,
            Kind::Scaled => 1,
            Kind::Narrow { runs, .. } => runs,
        }
    }
}

/// Where a product finds A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Factor {
    /// In shared memory, by a descriptor.
    Descriptor(Src),
    /// In tensor memory, from here.
    Cells(Addr),
}

/// An operation on tensor memory.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TensorOp {
    Alloc { slot: Addr, columns: Src },
    Relinquish,
    Dealloc { base: Src, columns: Src },
    Mma { kind: Kind, d: Addr, a: Factor, b: Src, word: Src, scales: Option<[Addr; 2]>, adds: Src },
    Cp { to: Addr, from: Src },
    Commit { at: Addr },
    Ld { shape: Shape, dst: Vec<Reg>, at: Addr, split: u32 },
    St { shape: Shape, src: Vec<Src>, at: Addr, split: u32 },
    WaitLd,
    WaitSt,
    Before,
    After,
}

impl Shape {
    /// Lane and column, relative to the address, of a register of a lane.
    fn cell(self, lane: u32, r: u32, split: u32) -> (u32, u32) {
        match self {
            Shape::L32x32 => (lane, r),
            Shape::L16x64 => ((lane >> 2) + 8 * (lane & 1), 2 * r + (lane >> 1 & 1)),
            Shape::L16x128 => ((lane >> 2) + 8 * (r & 1), 4 * (r >> 1) + (lane & 3)),
            Shape::L16x256 => {
                ((lane >> 2) + 8 * (r >> 1 & 1), 8 * (r >> 2) + 2 * (lane & 3) + (r & 1))
            }
            Shape::L16x32x2 => (lane % 16, r + lane / 16 * split),
        }
    }
}

#[derive(Clone, Copy, Default)]
struct TensorCell {
    value: u32,
    /// Bytes that a copy brought from where nothing was written, one bit each: only those that an
    /// instruction takes have to be there.
    unknown: u8,
    /// Thread and number of the product that wrote it last; 0: none did.
    written: (u32, u64),
    /// Warp and number of the store that filled it last, behind all products; 0: none did.
    stored: (u32, u64),
    /// Warp and number of the load that read it last; 0: none did.
    read: (u32, u64),
    /// Thread and number of the product that took scales, or A, from it last; 0: none did.
    used: (u32, u64),
}

/// A block's tensor memory.
#[derive(Default)]
pub(super) struct TensorMemory {
    cells: Vec<TensorCell>,
    /// Base and columns.
    allocated: Vec<(u32, u32)>,
    relinquished: bool,
    /// Products so far.
    products: u64,
    /// What products that have not been committed read.
    open: Vec<(u32, u64, u32)>,
}

impl TensorMemory {
    /// What is left when the block has ended.
    pub fn leftover(&self) -> Option<Clash> {
        let (base, columns) = self.allocated.first()?;
        Some(Clash::new(
            FaultKind::TensorNotFreed,
            format!("{columns} columns of tensor memory from {base} on were not given back"),
        ))
    }

    fn check_allocated(&self, column: u32) -> Run<()> {
        if self.allocated.iter().any(|(base, columns)| (*base..base + columns).contains(&column)) {
            return Ok(());
        }
        Err(Clash::new(
            FaultKind::TensorUnallocated,
            format!("column {column} of tensor memory is not allocated"),
        ))
    }

    fn at(&mut self, lane: u32, column: u32) -> &mut TensorCell {
        &mut self.cells[(lane * COLUMNS + column) as usize]
    }
}

/// Where a product reads A: through a descriptor, or from a cell on.
#[derive(Clone, Copy)]
enum Factors {
    Shared(u64),
    Cells(u32),
}

/// What a warp knows of tensor memory.
#[derive(Default)]
pub(super) struct View {
    /// Products that are done: waited for, and behind a fence.
    heard: BTreeMap<u32, u64>,
    known: BTreeMap<u32, u64>,
    /// Registers that loads will fill.
    loading: Vec<u32>,
    /// Loads so far, those waited for, and those that a fence lets others know of.
    loads: u64,
    waited: u64,
    told: u64,
    /// Loads of other warps that are done.
    heard_loads: BTreeMap<u32, u64>,
    known_loads: BTreeMap<u32, u64>,
    /// The same of stores.
    stores: u64,
    stores_waited: u64,
    stores_told: u64,
    heard_stores: BTreeMap<u32, u64>,
    known_stores: BTreeMap<u32, u64>,
}

impl View {
    /// These products are done, as a wait says.
    pub fn hear(&mut self, products: &BTreeMap<u32, u64>) {
        join_map(&mut self.heard, products);
    }

    /// Whether a register's value is still on its way.
    pub fn is_busy(&self, cell: u32) -> bool {
        self.loading.contains(&cell)
    }

    /// What warps tell each other at a barrier.
    pub fn meet(views: &mut [(u32, &mut View)]) {
        let (mut products, mut loads, mut stores) =
            (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for (warp, view) in views.iter() {
            join_map(&mut products, &view.heard);
            join_map(&mut products, &view.known);
            join_map(&mut loads, &view.heard_loads);
            join_map(&mut loads, &view.known_loads);
            join_map(&mut loads, &BTreeMap::from([(*warp, view.told)]));
            join_map(&mut stores, &view.heard_stores);
            join_map(&mut stores, &view.known_stores);
            join_map(&mut stores, &BTreeMap::from([(*warp, view.stores_told)]));
        }
        for (_, view) in views {
            join_map(&mut view.heard, &products);
            join_map(&mut view.heard_loads, &loads);
            join_map(&mut view.heard_stores, &stores);
        }
    }
}

fn invalid(sentence: impl Into<String>) -> Clash {
    Clash::new(FaultKind::InvalidOperand, sentence)
}

impl Warp {
    pub(super) fn tensor_op(&mut self, m: &mut Machine<'_, '_>, op: &TensorOp, on: u32) -> Run<()> {
        let line = self.site(m).line;
        let first = on.trailing_zeros() as usize;
        match op {
            TensorOp::Before => {
                (self.tensor.told, self.tensor.stores_told) =
                    (self.tensor.waited, self.tensor.stores_waited)
            }
            TensorOp::After => {
                let view = &mut self.tensor;
                join_map(&mut view.known, &view.heard);
                join_map(&mut view.known_loads, &view.heard_loads);
                join_map(&mut view.known_stores, &view.heard_stores);
            }
            TensorOp::WaitLd => {
                self.full(on, "tcgen05.wait::ld")?;
                self.tensor.loading.clear();
                self.tensor.waited = self.tensor.loads;
            }
            TensorOp::WaitSt => {
                self.full(on, "tcgen05.wait::st")?;
                self.tensor.stores_waited = self.tensor.stores;
            }
            TensorOp::Relinquish => {
                self.full(on, "tcgen05.relinquish_alloc_permit")?;
                m.tensor.relinquished = true;
            }
            TensorOp::Alloc { slot, columns } => {
                self.full(on, "tcgen05.alloc")?;
                let (slot, columns) =
                    (self.address(m, first, *slot)?, self.get(m, first, *columns)?.value as u32);
                if !columns.is_power_of_two()
                    || !(32..=COLUMNS).contains(&columns)
                    || m.tensor.relinquished
                {
                    return Err(invalid(format!(
                        "{columns} columns are no power of two from 32 to 512, or the permit was given up"
                    )));
                }
                let taken: u32 = m.tensor.allocated.iter().map(|(_, columns)| columns).sum();
                // From the top: nothing says that the first allocation begins at column 0.
                let base = (COLUMNS - taken)
                    .checked_sub(columns)
                    .ok_or_else(|| invalid("tensor memory is exhausted"))?;
                m.tensor.allocated.push((base, columns));
                m.tensor.cells.resize((ROWS * COLUMNS) as usize, TensorCell::default());
                m.world.shared.write(
                    self.thread(first),
                    line,
                    slot,
                    &base.to_le_bytes(),
                    &[0; 2],
                )?;
            }
            TensorOp::Dealloc { base, columns } => {
                self.full(on, "tcgen05.dealloc")?;
                let given = (
                    self.get(m, first, *base)?.value as u32,
                    self.get(m, first, *columns)?.value as u32,
                );
                let Some(at) = m.tensor.allocated.iter().position(|a| *a == given) else {
                    return Err(invalid(format!(
                        "{} columns from {} on are no allocation",
                        given.1, given.0
                    )));
                };
                m.tensor.allocated.remove(at);
                for lane in 0..ROWS {
                    for column in given.0..given.0 + given.1 {
                        let cell = *m.tensor.at(lane, column);
                        self.check_unread(&cell, "given back")?;
                        self.check_stored(&cell, "given back")?;
                        self.check_done(&cell, self.thread(first), "given back")?;
                        *m.tensor.at(lane, column) = TensorCell::default();
                    }
                }
            }
            TensorOp::Commit { at } => {
                for lane in lanes(on) {
                    let (at, thread) = (self.address(m, lane, *at)?, self.thread(lane));
                    let (mine, others) = std::mem::take(&mut m.tensor.open)
                        .into_iter()
                        .partition(|(t, ..)| *t == thread);
                    m.tensor.open = others;
                    let done = Done {
                        products: BTreeMap::from([(thread, m.tensor.products)]),
                        reads: mine,
                        ..Done::default()
                    };
                    self.arrive_later(m, lane, at, done)?;
                }
            }
            TensorOp::Cp { to, from } => {
                if on.count_ones() != 1 {
                    return Err(invalid("several threads issue the same copy"));
                }
                let (to, from) =
                    (self.address(m, first, *to)? as u32, self.get(m, first, *from)?.value);
                self.copy_scales(m, first, to, from)?;
            }
            TensorOp::Mma { kind, d, a, b, word, scales, adds } => {
                if on.count_ones() != 1 {
                    return Err(invalid("several threads issue the same product"));
                }
                let get = |s: &Src| Ok(self.get(m, first, *s)?.value);
                let (b, word, adds) = (get(b)?, get(word)? as u32, get(adds)? != 0);
                let a = match a {
                    Factor::Descriptor(at) => Factors::Shared(get(at)?),
                    Factor::Cells(at) => Factors::Cells(self.address(m, first, *at)? as u32),
                };
                let d = self.address(m, first, *d)? as u32;
                let word = Word::read(word, *kind).map_err(invalid)?;
                let factors = match scales {
                    None => [vec![1.0; word.m as usize], vec![1.0; word.n as usize]],
                    Some([of_a, of_b]) => {
                        let (of_a, of_b) = (
                            self.address(m, first, *of_a)? as u32,
                            self.address(m, first, *of_b)? as u32,
                        );
                        [
                            self.factors(m, first, of_a, word.m, word.ids[0], *kind)?,
                            self.factors(m, first, of_b, word.n, word.ids[1], *kind)?,
                        ]
                    }
                };
                self.product(m, first, (*kind, adds), d, (a, b), &word, &factors)?;
            }
            TensorOp::Ld { shape, dst, at, split } => {
                self.full(on, "tcgen05.ld")?;
                let at = self.address(m, first, *at)? as u32;
                self.load_tensor(m, *shape, dst, at, *split)?;
            }
            TensorOp::St { shape, src, at, split } => {
                self.full(on, "tcgen05.st")?;
                let at = self.address(m, first, *at)? as u32;
                self.store_tensor(m, *shape, src, at, *split)?;
            }
        }
        Ok(())
    }
}

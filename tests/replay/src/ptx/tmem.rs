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

use super::decode::{Decoded, Words, addr, regs, src, srcs, want};
use super::op::{Addr, Op, Reg, Src, Ty};
use super::parse::Operand;
use super::phase::{Done, join_map};
use super::register::Cell;
use super::run::{LANES, Machine, Run, Warp, lanes};
use super::unit::value;
use crate::fault::{Clash, FaultKind};
use crate::number::e8m0_to_f32;

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

/// The shape of a load or store, registers of a lane for a count of one, and the count.
fn shaped(w: &mut Words<'_>) -> Decoded<(Shape, usize, usize)> {
    w.require("sync").and(w.require("aligned"))?;
    w.require("b32")?;
    let shape = w.pick(|x| {
        Some(match x {
            "32x32b" => (Shape::L32x32, 1),
            "16x64b" => (Shape::L16x64, 1),
            "16x128b" => (Shape::L16x128, 2),
            "16x256b" => (Shape::L16x256, 4),
            "16x32bx2" => (Shape::L16x32x2, 1),
            _ => return None,
        })
    });
    let (shape, each) = shape.ok_or("unknown shape of a load or store")?;
    let count = w
        .pick(|x| x.strip_prefix('x').and_then(|n| n.parse::<usize>().ok()))
        .ok_or("expected the suffix `.xN`")?;
    Ok((shape, each, count))
}

fn filled(registers: usize, each: usize, count: usize) -> Decoded<()> {
    if registers != count * each || !count.is_power_of_two() || registers > 128 {
        return Err(format!("{registers} registers for .x{count}"));
    }
    Ok(())
}

/// How far apart the halves of a load or store are.
fn split(operand: Option<&Operand>) -> Decoded<u32> {
    match operand {
        Some(Operand::Src(Src::Imm(n))) => Ok(*n as u32),
        None => Ok(0),
        Some(_) => Err("expected a constant".to_string()),
    }
}

pub(super) fn decode(w: &mut Words<'_>, o: &[Operand]) -> Decoded<Op> {
    let alone = |w: &mut Words<'_>| {
        if w.take("cta_group::1") {
            Ok(())
        } else {
            Err("only cta_group::1 is modelled".to_string())
        }
    };
    let aligned = |w: &mut Words<'_>| w.require("sync").and(w.require("aligned"));
    Ok(Op::Memory(if w.take("alloc") {
        alone(w)?;
        aligned(w)?;
        w.require("shared::cta")?;
        w.require("b32")?;
        want(o, 2..=2)?;
        TensorOp::Alloc { slot: addr(&o[0])?, columns: src(&o[1])? }
    } else if w.take("relinquish_alloc_permit") {
        alone(w)?;
        aligned(w)?;
        want(o, 0..=0)?;
        TensorOp::Relinquish
    } else if w.take("dealloc") {
        alone(w)?;
        aligned(w)?;
        w.require("b32")?;
        want(o, 2..=2)?;
        TensorOp::Dealloc { base: src(&o[0])?, columns: src(&o[1])? }
    } else if w.take("mma") {
        alone(w)?;
        let kind = if w.take("kind::f8f6f4") {
            Kind::Bytes
        } else if w.take("kind::mxf8f6f4") {
            w.require("block_scale").and(w.require("block32"))?;
            Kind::Scaled
        } else {
            w.require("kind::f16")?;
            Kind::Halves
        };
        let more = if kind == Kind::Scaled { 2 } else { 0 };
        want(o, 5 + more..=5 + more)?;
        let a = if matches!(o[1], Operand::Addr(_)) {
            Factor::Cells(addr(&o[1])?)
        } else {
            Factor::Descriptor(src(&o[1])?)
        };
        let scales = if kind == Kind::Scaled { Some([addr(&o[4])?, addr(&o[5])?]) } else { None };
        TensorOp::Mma {
            kind,
            d: addr(&o[0])?,
            a,
            b: src(&o[2])?,
            word: src(&o[3])?,
            scales,
            adds: src(&o[4 + more])?,
        }
    } else if w.take("cp") {
        alone(w)?;
        w.require("32x128b")?;
        w.require("warpx4")?;
        want(o, 2..=2)?;
        TensorOp::Cp { to: addr(&o[0])?, from: src(&o[1])? }
    } else if w.take("commit") {
        alone(w)?;
        w.require("mbarrier::arrive::one")?;
        w.require("shared::cluster")?;
        w.require("b64")?;
        want(o, 1..=1)?;
        TensorOp::Commit { at: addr(&o[0])? }
    } else if w.take("ld") {
        let (shape, each, count) = shaped(w)?;
        let two = shape == Shape::L16x32x2;
        want(o, 2 + usize::from(two)..=2 + usize::from(two))?;
        let dst = regs(&o[0])?;
        filled(dst.len(), each, count)?;
        TensorOp::Ld { shape, dst, at: addr(&o[1])?, split: split(o.get(2))? }
    } else if w.take("st") {
        let (shape, each, count) = shaped(w)?;
        let two = shape == Shape::L16x32x2;
        want(o, 2 + usize::from(two)..=2 + usize::from(two))?;
        let values = srcs(&o[1 + usize::from(two)])?;
        filled(values.len(), each, count)?;
        TensorOp::St {
            shape,
            src: values,
            at: addr(&o[0])?,
            split: split(o.get(1).filter(|_| two))?,
        }
    } else if w.take("wait::st") {
        aligned(w)?;
        want(o, 0..=0)?;
        TensorOp::WaitSt
    } else if w.take("wait::ld") {
        aligned(w)?;
        want(o, 0..=0)?;
        TensorOp::WaitLd
    } else if w.take("fence::before_thread_sync") {
        want(o, 0..=0)?;
        TensorOp::Before
    } else {
        w.require("fence::after_thread_sync")?;
        want(o, 0..=0)?;
        TensorOp::After
    }))
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

/// A matrix descriptor of shared memory, taken apart.
struct Descriptor {
    start: u64,
    leading: u64,
    stride: u64,
    /// Bytes of a row of the pattern; 16 without one.
    span: u64,
}

impl Descriptor {
    fn read(bits: u64) -> Result<Self, String> {
        let field = |at: u32| (bits >> at & 0x3fff) * 16;
        let span = match bits >> 61 {
            0 => 16,
            2 => 128,
            4 => 64,
            6 => 32,
            mode => return Err(format!("swizzle mode {mode} is not modelled")),
        };
        let known = 0x3fff | 0x3fff << 16 | 0x3fff << 32 | 7 << 46 | 7 << 61;
        if bits & !known != 0 || bits >> 46 & 7 != 1 {
            return Err(format!(
                "the descriptor {bits:#x} lacks its constant, or has a base offset or bits that have no meaning"
            ));
        }
        Ok(Self { start: field(0), leading: field(16), stride: field(32), span })
    }

    fn address(&self, outer_major: bool, along: u64, across: u64) -> u64 {
        let (piece, inside) = (along / self.span, along % self.span);
        let (eight, row) = (across / 8, across % 8);
        let plain = match (outer_major, self.span) {
            (false, 16) => eight * self.stride + piece * self.leading,
            (true, 16) => piece * self.stride + eight * self.leading,
            // One row of the pattern holds what is read of the depth.
            (false, _) => eight * self.stride,
            (true, _) => piece * self.leading + eight * self.stride,
        };
        let at = self.start + plain + row * self.span + inside;
        at ^ (at >> 3 & (self.span - 16))
    }
}

/// An instruction descriptor, taken apart.
struct Word {
    a: Ty,
    b: Ty,
    outer: [bool; 2],
    m: u32,
    n: u32,
    /// Which byte of a cell holds the scales of A, and of B.
    ids: [u32; 2],
}

impl Word {
    fn read(bits: u32, kind: Kind) -> Result<Self, String> {
        let field = |at: u32, width: u32| bits >> at & ((1 << width) - 1);
        let ty = |code: u32| match (kind != Kind::Halves, code) {
            (false, 0) => Ok(Ty::F16),
            (false, 1) => Ok(Ty::Bf16),
            (true, 0) => Ok(Ty::E4m3),
            (true, 1) => Ok(Ty::E5m2),
            _ => {
                Err(format!("type {code} of the instruction descriptor {bits:#x} is not modelled"))
            }
        };
        if kind == Kind::Scaled {
            let known =
                3 << 4 | 7 << 7 | 7 << 10 | 3 << 15 | 0x3f << 17 | 1 << 23 | 3 << 27 | 3 << 29;
            if bits & !known != 0 || field(23, 1) != 1 {
                return Err(format!(
                    "the instruction descriptor {bits:#x} has bits that are not modelled, or scales that are not ue8m0"
                ));
            }
            let (m, n) = (field(27, 2) * 128, field(17, 6) * 8);
            if m != 128 || !(8..=256).contains(&n) {
                return Err(format!("there is no product of {m} rows and {n} columns with scales"));
            }
            return Ok(Self {
                a: ty(field(7, 3))?,
                b: ty(field(10, 3))?,
                outer: [field(15, 1) == 1, field(16, 1) == 1],
                m,
                n,
                ids: [field(29, 2), field(4, 2)],
            });
        }
        let known = 3 << 4 | 7 << 7 | 7 << 10 | 3 << 15 | 0x3f << 17 | 0x1f << 24;
        if bits & !known != 0 || field(4, 2) != 1 {
            return Err(format!(
                "the instruction descriptor {bits:#x} has bits that are not modelled, or sums that are not f32"
            ));
        }
        let (m, n) = (field(24, 5) * 16, field(17, 6) * 8);
        let fits = match m {
            64 => n.is_multiple_of(8) && n >= 8,
            128 => n.is_multiple_of(16) && n >= 16,
            _ => false,
        };
        if !fits || n > 256 {
            return Err(format!("there is no product of {m} rows and {n} columns"));
        }
        Ok(Self {
            a: ty(field(7, 3))?,
            b: ty(field(10, 3))?,
            outer: [field(15, 1) == 1, field(16, 1) == 1],
            m,
            n,
            ids: [0; 2],
        })
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
                            self.factors(m, first, of_a, word.m, word.ids[0])?,
                            self.factors(m, first, of_b, word.n, word.ids[1])?,
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

    /// Faults if a product that wrote the cell may not be done yet.
    fn check_done(&self, cell: &TensorCell, me: u32, verb: &str) -> Run<()> {
        let (thread, number) = cell.written;
        if number == 0 || self.tensor.known.get(&thread).is_some_and(|known| *known >= number) {
            return Ok(());
        }
        let sentence = format!(
            "a cell of tensor memory is {verb}, and the product of thread {thread} that writes it is not waited for, or no fence follows"
        );
        Err(Clash::new(FaultKind::TensorNotReady, sentence).by(me))
    }

    /// Faults if a load of another warp, or one of this warp that is not waited for, may still read
    /// the cell.
    fn check_unread(&self, cell: &TensorCell, verb: &str) -> Run<()> {
        let (warp, number) = cell.read;
        let over = if warp == self.index {
            self.tensor.waited
        } else {
            self.tensor.known_loads.get(&warp).copied().unwrap_or(0)
        };
        if number == 0 || over >= number {
            return Ok(());
        }
        Err(Clash::new(
            FaultKind::TensorOverwrite,
            format!("a cell of tensor memory is {verb}, and warp {warp} may still load it"),
        ))
    }

    /// Faults if a store of another warp that nothing orders before, or one of this warp that is
    /// not waited for, may still fill the cell.
    fn check_stored(&self, cell: &TensorCell, verb: &str) -> Run<()> {
        let (warp, number) = cell.stored;
        let over = if warp == self.index {
            self.tensor.stores_waited
        } else {
            self.tensor.known_stores.get(&warp).copied().unwrap_or(0)
        };
        if number == 0 || over >= number {
            return Ok(());
        }
        Err(Clash::new(
            FaultKind::TensorNotReady,
            format!("a cell of tensor memory is {verb}, and warp {warp} may still be storing it"),
        ))
    }

    /// Lane and column of the cell so far from an address: of lanes that this warp reaches, and
    /// allocated.
    fn reached(
        &self,
        m: &Machine<'_, '_>,
        (lanes, columns): (u32, u32),
        at: u32,
    ) -> Run<(u32, u32)> {
        let (l, c) = ((at >> 16) + lanes, (at & 0xffff) + columns);
        if l / 32 != self.index % 4 {
            let sentence = format!("warp {} does not reach lane {l} of tensor memory", self.index);
            return Err(Clash::new(FaultKind::TensorReach, sentence));
        }
        m.tensor.check_allocated(c)?;
        Ok((l, c))
    }

    fn store_tensor(
        &mut self,
        m: &mut Machine<'_, '_>,
        shape: Shape,
        values: &[Src],
        at: u32,
        split: u32,
    ) -> Run<()> {
        self.tensor.stores += 1;
        let number = self.tensor.stores;
        for lane in 0..LANES {
            let thread = self.thread(lane);
            for (r, source) in (0..).zip(values) {
                let (l, c) = self
                    .reached(m, shape.cell(lane as u32, r, split), at)
                    .map_err(|clash| clash.by(thread))?;
                let cell = *m.tensor.at(l, c);
                // Nothing says in which order two stores, or a load and a store, of one warp reach
                // a cell before the wait for the first.
                self.check_unread(&cell, "stored").map_err(|clash| clash.by(thread))?;
                self.check_stored(&cell, "stored").map_err(|clash| clash.by(thread))?;
                self.check_done(&cell, thread, "stored")?;
                self.check_done(
                    &TensorCell { written: cell.used, ..cell },
                    thread,
                    "stored over what a product reads",
                )?;
                let value = self.get(m, lane, *source)?.value as u32;
                *m.tensor.at(l, c) =
                    TensorCell { value, stored: (self.index, number), ..TensorCell::default() };
            }
        }
        Ok(())
    }

    /// The elements of A in tensor memory, (row, depth).
    fn held_elements(
        &mut self,
        m: &mut Machine<'_, '_>,
        lane: usize,
        at: u32,
        ty: Ty,
        [rows, depth]: [u32; 2],
    ) -> Run<Vec<f64>> {
        let (thread, number) = (self.thread(lane), m.tensor.products + 1);
        let (row, column, per) = (at >> 16, at & 0xffff, 32 / ty.bits());
        let starts: &[u32] = if rows == 64 { &[0, 16] } else { &[0] };
        if !starts.contains(&row) {
            return Err(invalid(format!("A of {rows} rows does not begin at lane {row}")));
        }
        let mut out = Vec::with_capacity((rows * depth) as usize);
        for i in 0..rows {
            let l = row + if rows == 64 { i / 16 * 32 + i % 16 } else { i };
            for k in 0..depth {
                let c = column + k / per;
                m.tensor.check_allocated(c).map_err(|clash| clash.by(thread))?;
                let cell = m.tensor.at(l, c);
                cell.used = (thread, number);
                let cell = *cell;
                if cell.written.1 == 0 && cell.stored.1 == 0 {
                    let sentence = format!(
                        "A is read from lane {l}, column {c} of tensor memory, where nothing was written"
                    );
                    return Err(Clash::new(FaultKind::UninitialisedTensor, sentence).by(thread));
                }
                self.check_stored(&cell, "read for A").map_err(|clash| clash.by(thread))?;
                if cell.written.0 != thread {
                    self.check_done(&cell, thread, "read for A")?;
                }
                let bits = u64::from(cell.value) >> (k % per * ty.bits()) & ((1 << ty.bits()) - 1);
                out.push(value(ty, bits));
            }
        }
        Ok(out)
    }

    fn load_tensor(
        &mut self,
        m: &mut Machine<'_, '_>,
        shape: Shape,
        dst: &[Reg],
        at: u32,
        split: u32,
    ) -> Run<()> {
        self.tensor.loads += 1;
        for lane in 0..LANES {
            let thread = self.thread(lane);
            for (r, reg) in (0..).zip(dst) {
                let (l, c) = self
                    .reached(m, shape.cell(lane as u32, r, split), at)
                    .map_err(|clash| clash.by(thread))?;
                let cell = *m.tensor.at(l, c);
                if cell.written.1 == 0 && cell.stored.1 == 0 {
                    let sentence =
                        format!("nothing was written to lane {l}, column {c} of tensor memory");
                    return Err(Clash::new(FaultKind::UninitialisedTensor, sentence).by(thread));
                }
                self.check_done(&cell, thread, "loaded")?;
                self.check_stored(&cell, "loaded").map_err(|clash| clash.by(thread))?;
                m.tensor.at(l, c).read = (self.index, self.tensor.loads);
                self.set(lane, *reg, Cell::plain(cell.value.into()));
            }
        }
        self.tensor.loading.extend(dst.iter().map(|reg| reg.cell));
        Ok(())
    }

    /// The elements of an operand, (outer, depth), through its descriptor.
    fn elements(
        &mut self,
        m: &mut Machine<'_, '_>,
        lane: usize,
        bits: u64,
        ty: Ty,
        [outer, depth]: [u32; 2],
        outer_major: bool,
    ) -> Run<Vec<f64>> {
        let descriptor = Descriptor::read(bits).map_err(invalid)?;
        let (thread, line) = (self.thread(lane), self.site(m).line);
        let bytes = u64::from(ty.bits() / 8);
        let mut out = Vec::with_capacity((outer * depth) as usize);
        for o in 0..outer {
            for k in 0..depth {
                let (along, across) = if outer_major { (o, k) } else { (k, o) };
                let address =
                    descriptor.address(outer_major, u64::from(along) * bytes, across.into());
                let mut data = [0; 2];
                let data = &mut data[..bytes as usize];
                m.world.shared.read_by_unit(thread, line, address, data, &mut [])?;
                m.world.shared.hold(thread, address, bytes as u32)?;
                m.tensor.open.push((thread, address, bytes as u32));
                out.push(value(ty, data.iter().rev().fold(0, |sum, &b| sum << 8 | u64::from(b))));
            }
        }
        Ok(out)
    }

    /// Copies 32 rows of 16 bytes to four columns of each group of lanes.
    fn copy_scales(&mut self, m: &mut Machine<'_, '_>, lane: usize, at: u32, bits: u64) -> Run<()> {
        let descriptor = Descriptor::read(bits).map_err(invalid)?;
        if descriptor.span != 16 || at >> 16 != 0 {
            return Err(invalid(
                "a copy of scales takes rows of 16 bytes that are not permuted, to lane 0",
            ));
        }
        let (thread, line) = (self.thread(lane), self.site(m).line);
        m.tensor.products += 1;
        let number = m.tensor.products;
        for row in 0..32u32 {
            for word in 0..4u32 {
                let address = descriptor.address(false, u64::from(4 * word), row.into());
                let (mut data, mut unknown) = ([0; 4], 0u8);
                for (byte, place) in (0u64..).zip(&mut data) {
                    if m.world.shared.is_written(thread, address + byte)? {
                        m.world.shared.read_by_unit(
                            thread,
                            line,
                            address + byte,
                            std::slice::from_mut(place),
                            &mut [],
                        )?;
                    } else {
                        unknown |= 1 << byte;
                    }
                }
                m.world.shared.hold(thread, address, 4)?;
                m.tensor.open.push((thread, address, 4));
                for group in 0..4 {
                    let (l, c) = (32 * group + row, at + word);
                    m.tensor.check_allocated(c).map_err(|clash| clash.by(thread))?;
                    let cell = *m.tensor.at(l, c);
                    self.check_unread(&cell, "overwritten").map_err(|clash| clash.by(thread))?;
                    self.check_stored(&cell, "overwritten").map_err(|clash| clash.by(thread))?;
                    self.check_done(
                        &TensorCell { written: cell.used, ..cell },
                        thread,
                        "overwritten by a copy",
                    )?;
                    if cell.written.0 != thread {
                        self.check_done(&cell, thread, "overwritten")?;
                    }
                    *m.tensor.at(l, c) = TensorCell {
                        value: u32::from_le_bytes(data),
                        unknown,
                        written: (thread, number),
                        ..TensorCell::default()
                    };
                }
            }
        }
        Ok(())
    }

    /// The scales of so many rows.
    fn factors(
        &mut self,
        m: &mut Machine<'_, '_>,
        lane: usize,
        at: u32,
        rows: u32,
        id: u32,
    ) -> Run<Vec<f64>> {
        let thread = self.thread(lane);
        let number = m.tensor.products + 1;
        let mut out = Vec::new();
        for row in 0..rows {
            let column = at + row / 32;
            m.tensor.check_allocated(column).map_err(|clash| clash.by(thread))?;
            let mut bytes = Vec::new();
            for group in 0..4 {
                let cell = m.tensor.at(32 * group + row % 32, column);
                cell.used = (thread, number);
                let cell = *cell;
                if cell.written.1 == 0 || cell.unknown >> id & 1 == 1 {
                    let sentence =
                        format!("no scale was written to column {column} of tensor memory");
                    return Err(Clash::new(FaultKind::UninitialisedTensor, sentence).by(thread));
                }
                if cell.written.0 != thread {
                    self.check_done(&cell, thread, "taken for scales")?;
                }
                bytes.push((cell.value >> (8 * id)) as u8);
            }
            if bytes.iter().any(|byte| *byte != bytes[0]) {
                return Err(invalid(format!(
                    "the scale of row {row} is not the same in all groups of lanes"
                )));
            }
            out.push(e8m0_to_f32(bytes[0]).into());
        }
        Ok(out)
    }

    #[allow(clippy::too_many_arguments)]
    fn product(
        &mut self,
        m: &mut Machine<'_, '_>,
        lane: usize,
        (kind, adds): (Kind, bool),
        at: u32,
        (a, b): (Factors, u64),
        word: &Word,
        factors: &[Vec<f64>; 2],
    ) -> Run<()> {
        let depth = if kind == Kind::Halves { 16 } else { 32 };
        let a = match a {
            Factors::Shared(bits) => {
                self.elements(m, lane, bits, word.a, [word.m, depth], word.outer[0])?
            }
            Factors::Cells(at) if !word.outer[0] => {
                self.held_elements(m, lane, at, word.a, [word.m, depth])?
            }
            Factors::Cells(_) => {
                return Err(invalid("A in tensor memory has its depth along columns"));
            }
        };
        let b = self.elements(m, lane, b, word.b, [word.n, depth], word.outer[1])?;
        let (row, column) = (at >> 16, at & 0xffff);
        let starts: &[u32] = if word.m == 64 { &[0, 16] } else { &[0] };
        if !starts.contains(&row) {
            return Err(invalid(format!(
                "an accumulator of {} rows does not begin at lane {row}",
                word.m
            )));
        }
        m.tensor.products += 1;
        let (thread, number, k) = (self.thread(lane), m.tensor.products, depth as usize);
        for i in 0..word.m {
            // 128 rows in 128 lanes; 64 in the first sixteen of each quarter.
            let l = row + if word.m == 64 { i / 16 * 32 + i % 16 } else { i };
            for j in 0..word.n {
                m.tensor.check_allocated(column + j).map_err(|clash| clash.by(thread))?;
                let cell = *m.tensor.at(l, column + j);
                self.check_unread(&cell, "written").map_err(|clash| clash.by(thread))?;
                self.check_stored(&cell, "written").map_err(|clash| clash.by(thread))?;
                if cell.used.0 != thread {
                    self.check_done(&TensorCell { written: cell.used, ..cell }, thread, "written")?;
                }
                if cell.written.0 != thread {
                    self.check_done(&cell, thread, "written")?;
                }
                if adds && cell.written.1 == 0 && cell.stored.1 == 0 {
                    let sentence = format!(
                        "a product is added to lane {l}, column {} of tensor memory, where nothing was written",
                        column + j
                    );
                    return Err(Clash::new(FaultKind::UninitialisedTensor, sentence).by(thread));
                }
                let (x, y) = (&a[i as usize * k..][..k], &b[j as usize * k..][..k]);
                let sum = factors[0][i as usize]
                    * factors[1][j as usize]
                    * x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
                let old = if adds { f64::from(f32::from_bits(cell.value)) } else { 0.0 };
                *m.tensor.at(l, column + j) = TensorCell {
                    value: ((old + sum) as f32).to_bits(),
                    written: (thread, number),
                    ..TensorCell::default()
                };
            }
        }
        Ok(())
    }
}

//! Where tiles begin.
//!
//! Indices of the program, worked out for the turns that run: by what the text says alone.
//!
//! Tiles of indices: what a step takes out of one is invented, another number in each thread and
//! turn. The address that a movement's instance has in all of them is that of its element's place
//! with the number of one such step, and a goal says that this step's register holds that index of
//! the tile.
//!
//! Tiles whose elements are not in memory: in the threads that are carried out, the step that is
//! said to make a register of one leaves the number there that the text says. Which register of
//! which tile a step is said to make is what the goals have found.

use crate::contents::address::{GLOBAL_BITS, ThreadRun};
use crate::contents::arguments::Given;
use crate::contents::goal::{Goal, Prover, What};
use crate::contents::storage::{ContentsScratch, NO_LOOP, NONE};
use crate::contents::through::BitRange;
use crate::contents::{Content, ContentsContext, ContentsSummary};
use crate::evaluator::{Position, held, place_bits, power, row_col};
use crate::stages::staged_tile;
use crate::violation::Violation;
use core::num::NonZeroU64;
use heapless::Vec;
use lanebook_emit::ParamKind;
use lanebook_emit::step::{Inst, InstKind};
use lanebook_ir::{Def, MemrefBound, Op, Value};
use lanebook_plan::{End, GlobalPlan, TransferPlan};
use lanebook_tables::{IndexWord, OpRole, Role};

/// Most values that wait for their operands.
const WAITING: usize = 64;
/// Most values of one expression.
const KNOWN: usize = 128;

impl ContentsContext<'_> {
    /// The invented number of the block along an axis.
    pub(super) fn block(&self, axis: u8) -> u64 {
        let number = match self.given {
            Given::Far => 1021,
            Given::Edge(number) => u64::from(number),
            _ => 3,
        };
        let most = self.most_blocks(axis).map_or(u64::MAX, |most| most.saturating_sub(1));
        number.saturating_add(u64::from(axis)).min(most)
    }

    fn most_blocks(&self, axis: u8) -> Option<u64> {
        self.most_blocks.get(usize::from(axis)).copied().flatten().map(NonZeroU64::get)
    }

    /// How many blocks there are said to be along an axis.
    pub(super) fn blocks(&self, axis: u8) -> u64 {
        let most = self.most_blocks(axis).unwrap_or(u64::MAX);
        self.block(axis).saturating_add(4).min(most)
    }
}

impl ThreadRun<'_, '_> {
    /// Bytes from a tensor's first element to a tile's along a dimension, modulo 2^64: a subscript
    /// is below zero only where bounds or a mask leave out what is there.
    fn bytes_to(&self, g: &GlobalPlan, (dim, start): (usize, Value), apart: u64) -> Option<u64> {
        let index = self.index(start)?;
        let is_known = index >= 0 || g.may_start_below(dim);
        is_known.then(|| index.cast_unsigned().wrapping_mul(apart))
    }

    /// The value of an index of the program in the turns that run, from those of its operands.
    #[inline(never)] // Its lists leave the stack before what asks goes on.
    pub(super) fn index_now(&self, value: Value) -> Option<i64> {
        let mut waiting: Vec<Value, WAITING> = Vec::new();
        let mut known: Vec<(Value, i64), KNOWN> = Vec::new();
        waiting.push(value).ok()?;
        while let Some(&top) = waiting.last() {
            let find = |value: Value| known.iter().find(|(v, _)| *v == value).map(|(_, n)| *n);
            let needs = |value: Value, waiting: &mut Vec<Value, WAITING>| -> Option<Option<i64>> {
                if let Some(n) = self.look.program.int(value).or_else(|| find(value)) {
                    return Some(Some(n));
                }
                waiting.push(value).ok()?;
                Some(None)
            };
            let number = if let Some(n) = self.look.program.int(top) {
                n
            } else if let Some(n) = self.uniform(top) {
                n
            } else if let Some(op) = self.look.program.def_op(top) {
                let mut operands = [0i64; 3];
                let mut is_waiting = false;
                for (k, place) in operands.iter_mut().enumerate() {
                    let Some(operand) = self.look.program.operand(op, k) else { break };
                    match needs(operand, &mut waiting)? {
                        Some(n) => *place = n,
                        None => is_waiting = true,
                    }
                }
                if is_waiting {
                    continue;
                }
                self.computed(op, operands)?
            } else {
                let Def::Argument(block, _) = self.look.program.def(top) else { return None };
                let around = self.look.program.owner_of(block)?;
                if self.look.program.role(around) == OpRole::Function {
                    word(self.argument(top, ParamKind::Scalar)?.cast_signed())
                } else {
                    let parts = self
                        .look
                        .program
                        .counted_loop(around)
                        .filter(|parts| parts.induction == top)?;
                    let (Some(lower), Some(step)) =
                        (needs(parts.lower, &mut waiting)?, needs(parts.step, &mut waiting)?)
                    else {
                        continue;
                    };
                    let number = self.loops.iter().position(|l| {
                        l.nth != NO_LOOP && self.look.nth_loop(l.nth) == Some(around)
                    })?;
                    let turns = i64::from(self.turns.get(number)?.saturating_sub(1));
                    // All but copies is of an earlier turn.
                    let behind = i64::from(self.behind(around));
                    let turns = if self.ahead == Some(around) {
                        turns
                    } else {
                        turns.checked_sub(behind)?
                    };
                    word(lower.checked_add(turns.checked_mul(step)?)?)
                }
            };
            let _ = waiting.pop();
            if waiting.is_empty() {
                return Some(number);
            }
            known.push((top, number)).ok()?;
        }
        None
    }

    /// What is said to be the one element of a tile, in the turns that run: the same in all
    /// threads. Numbers of one program follow each other, so that loops from one to the next have
    /// turns.
    fn uniform(&self, value: Value) -> Option<i64> {
        let program = self.look.program;
        let op = program.def_op(value)?;
        let is_uniform = |op: &Op| program.index_word(*op) == Some(IndexWord::Uniform);
        if !is_uniform(&op) {
            return None;
        }
        let function = program.functions().next()?;
        let before = program.inside(function).filter(is_uniform).position(|other| other == op)?;
        let around = core::iter::successors(program.parent(op), |at| program.parent(*at));
        let turns = around.filter_map(|at| self.turns_of(at));
        let turn = turns.fold(0u32, |sum, turns| sum.wrapping_mul(5).wrapping_add(turns));
        let before = u32::try_from(before).ok()?;
        if self.look.is_truth(op) {
            // Sometimes one part of a branch, sometimes the other one.
            let far = u32::from(self.look.given == Given::Far);
            let number = before.wrapping_add(turn).wrapping_add(far).wrapping_add(1);
            return Some(i64::from(number & 1));
        }
        // Never 0: what it bounds would have no turn.
        let number = before.checked_add(1)?.checked_mul(STRIDE)?;
        Some(i64::from(number.wrapping_add(turn.wrapping_mul(TURN)).checked_rem(COMMON)?))
    }

    /// What an operation makes of numbers.
    fn computed(&self, op: Op, [a, b, c]: [i64; 3]) -> Option<i64> {
        let plain = |n: i64| n & 0xffff_ffff;
        let program = self.look.program;
        let axis = || program.grid_axis(op);
        // Towards zero, then to the side that is asked for.
        let quotient = |a: i64, b: i64, up: bool| -> Option<i64> {
            let (q, rest) = (a.checked_div(b)?, a.checked_rem(b)?);
            let is_below = (rest < 0) != (b < 0);
            Some(match (rest == 0, is_below, up) {
                (true, ..) | (false, true, true) | (false, false, false) => q,
                (false, true, false) => q.checked_sub(1)?,
                (false, false, true) => q.checked_add(1)?,
            })
        };
        Some(word(match program.index_word(op)? {
            IndexWord::Block => i64::try_from(self.look.block(axis()?)).ok()?,
            IndexWord::Blocks => i64::try_from(self.look.blocks(axis()?)).ok()?,
            IndexWord::Add => a.checked_add(b)?,
            IndexWord::Sub => a.checked_sub(b)?,
            IndexWord::Mul => a.checked_mul(b)?,
            IndexWord::Div => quotient(a, b, false)?,
            IndexWord::DivUnsigned => quotient(plain(a), plain(b), false)?,
            IndexWord::CeilDiv => quotient(a, b, true)?,
            IndexWord::CeilDivUnsigned => quotient(plain(a), plain(b), true)?,
            IndexWord::Rem => a.checked_sub(quotient(a, b, false)?.checked_mul(b)?)?,
            IndexWord::RemUnsigned => plain(a).checked_rem(plain(b))?,
            IndexWord::Min => a.min(b),
            IndexWord::Max => a.max(b),
            IndexWord::MinUnsigned => plain(a).min(plain(b)),
            IndexWord::MaxUnsigned => plain(a).max(plain(b)),
            IndexWord::Compare => {
                let (unsigned, [smaller, equal, greater]) = program.relation(op)?;
                let order = if unsigned { plain(a).cmp(&plain(b)) } else { a.cmp(&b) };
                i64::from(match order {
                    core::cmp::Ordering::Less => smaller,
                    core::cmp::Ordering::Equal => equal,
                    core::cmp::Ordering::Greater => greater,
                })
            }
            IndexWord::Select => {
                if a == 0 {
                    c
                } else {
                    b
                }
            }
            IndexWord::Cast => a,
            IndexWord::Uniform => return None,
        }))
    }
}

/// The number that 32 bits hold of one, with its sign.
fn word(n: i64) -> i64 {
    i64::from((n.cast_unsigned() as u32).cast_signed())
}

impl Prover<'_, '_, '_> {
    /// Whether a step of the operation wrote a register; which one of the tile's is remembered.
    pub(super) fn counted(&mut self, bits: BitRange, op: Op, at: u32) -> bool {
        let Content::Inst(number, 0) = bits.content else { return false };
        let is_own = |step: &Inst| usize::from(step.origin) == op.index();
        let is_made = self.look.steps.get(usize::from(number)).is_some_and(is_own);
        // One register may stand for all of a tile of one number.
        let place = if self.look.program.repeated_number(op).is_some() { 0 } else { at / 32 };
        is_made && u32::from(bits.bit) == at % 32 && self.bind(number, place)
    }
}

/// Carries out threads once more where goals ended at such steps.
#[inline(never)]
pub(super) fn numbers(
    look: &ContentsContext<'_>,
    scratch: &mut ContentsScratch<'_>,
) -> Result<(), Violation> {
    let is_met = |(step, bound): (&Inst, &u32)| *bound != 0 && operation(look, step).is_some();
    if !look.steps.iter().zip(scratch.bound.iter()).any(is_met) {
        return Ok(());
    }
    ThreadRun::again(look, scratch)
}

/// The operation of such a tile that a step is of.
fn operation(look: &ContentsContext<'_>, step: &Inst) -> Option<Op> {
    let function = look.program.functions().next()?;
    let is_own = |op: &Op| op.index() == usize::from(step.origin);
    let op = look.program.inside(function).find(is_own)?;
    let is_number = look.program.repeated_number(op).is_some();
    (is_number || look.program.coordinates(op).is_some()).then_some(op)
}

impl ThreadRun<'_, '_> {
    /// What a step writes is what its place of a tile holds in this thread.
    pub(super) fn is_number(
        &self,
        at: u16,
        step: &Inst,
        found: Option<u64>,
    ) -> Result<(), Violation> {
        let place = self.claims.and_then(|claims| claims.get(usize::from(at))?.checked_sub(1));
        let own = place.and_then(|place| Some((place, operation(self.look, step)?)));
        let Some((place, op)) = own else { return Ok(()) };
        let want = self.number_at(op, place);
        if want.is_some() && want == found.map(|n| n as u32) {
            return Ok(());
        }
        let value = self.look.program.result(op, 0);
        Err(Violation::Content { step: at, writer: at, value, at: place.saturating_mul(32) })
    }

    fn number_at(&self, op: Op, place: u32) -> Option<u32> {
        let program = self.look.program;
        if let Some(from) = program.repeated_number(op) {
            return match program.type_of(from).dtype {
                Some(_) => Some(self.argument(from, ParamKind::Scalar)? as u32),
                None => Some(self.index(from)? as u32),
            };
        }
        let of = program.coordinates(op)?;
        let value = program.result(op, 0)?;
        let fragment = self.look.fragment(value)?;
        let wave = u32::from(self.look.plan.wave);
        let lane = self.thread & power(usize::from(self.look.plan.wave))?.wrapping_sub(1);
        let warp = self.thread.checked_shr(wave).unwrap_or(0);
        let (element, _) = held(fragment, place.checked_mul(32)?, lane, warp)?;
        let (row, col) = row_col(fragment.shape, element)?;
        let is_row = of.dim.checked_add(2)? == program.type_of(value).shape.rank();
        let further = if is_row { row } else { col };
        Some(of.start.cast_unsigned().wrapping_add(further))
    }
}

/// Where a tile begins, and how its elements lie behind that.
#[derive(Copy, Clone)]
pub(super) struct TileStart {
    /// The first element's address, but for what an index says.
    at: u64,
    /// Bytes of the outer stride; 0 where an index says which.
    outer: u64,
    /// Whether bytes of a row count.
    inner: u64,
    /// What an index counts from, and the bytes from one to the next.
    pub(super) index: Option<(i64, u64)>,
    /// The bits that addresses have.
    mask: u64,
}

impl TileStart {
    /// Whether a position, at a coordinate along the dimension of the index, is at an address.
    pub(super) fn meets(&self, p: Position, coordinate: u64, address: u64) -> bool {
        let stride = self.index.map_or(0, |(_, stride)| stride);
        let at = self
            .at
            .wrapping_add(u64::from(p.lead).wrapping_mul(self.outer))
            .wrapping_add(u64::from(p.byte).wrapping_mul(self.inner))
            .wrapping_add(coordinate.wrapping_mul(stride));
        at & self.mask == address & self.mask
    }
}

impl ThreadRun<'_, '_> {
    /// Where a tile of global memory begins.
    fn tile(&self, g: &GlobalPlan, indexed: Option<u8>) -> Option<TileStart> {
        let own = |dim: usize| indexed.is_some_and(|own| usize::from(own) == dim);
        let bytes = u64::from(g.map.shape.bits / 8);
        let rank = self.look.program.type_of(g.memref).shape.rank();
        let stride = |dim: usize| {
            let kind = ParamKind::Stride(u8::try_from(dim).ok()?);
            self.argument(g.memref, kind)?.checked_mul(bytes)
        };
        let mut at = self.argument(g.memref, ParamKind::Pointer)?;
        let mut index = None;
        for (dim, lead) in g.leads().enumerate() {
            let apart = lead.bytes.map_or_else(|| stride(dim), |bytes| Some(u64::from(bytes)))?;
            if own(dim) {
                index = Some((lead.start, apart));
                continue;
            }
            at = at.wrapping_add(self.bytes_to(g, (dim, lead.start), apart)?);
        }
        let outer = match g.map.outer_bytes {
            Some(bytes) => u64::from(bytes),
            None => stride(rank.checked_sub(2)?)?,
        };
        let (is_row, is_column) = (own(rank.wrapping_sub(2)), own(rank.saturating_sub(1)));
        match g.start.0 {
            Some(row) if is_row => index = Some((row, outer)),
            Some(row) => {
                at = at.wrapping_add(self.bytes_to(g, (rank.checked_sub(2)?, row), outer)?)
            }
            None => {}
        }
        if is_column {
            index = Some((g.start.1, bytes));
        } else {
            at = at.wrapping_add(self.bytes_to(g, (rank.saturating_sub(1), g.start.1), bytes)?);
        }
        let index = match index {
            Some((from, stride)) => Some((self.index(from)?, stride)),
            None => None,
        };
        Some(TileStart {
            at,
            outer: if is_row { 0 } else { outer },
            inner: u64::from(!is_column),
            index,
            mask: GLOBAL_BITS,
        })
    }

    /// Where a tile begins.
    pub(super) fn start(&self, end: End, indexed: Option<u8>) -> Option<TileStart> {
        match end {
            End::Shared(k) => {
                let a = self.look.plan.allocs.get(usize::from(k))?;
                let buffer = match staged_tile(self.look.program, self.look.plan, a.value) {
                    Some(tile) => self.buffer(&tile)?.checked_mul(u64::from(a.stage_bytes()))?,
                    None => 0,
                };
                let start = u64::from(a.offset).checked_add(buffer)?;
                let at = self.look.base().wrapping_add(start);
                Some(TileStart { at, outer: 0, inner: 1, index: None, mask: 0xffff_ffff })
            }
            End::Global(k) => self.tile(self.look.plan.globals.get(usize::from(k))?, indexed),
            End::Registers(_) => None,
        }
    }
}

/// How far numbers of one program are apart that are indices, and those of one turn and the next.
const STRIDE: u32 = 1031;
const TURN: u32 = 7;
/// Numbers that indices are below where nothing bounds them.
const COMMON: u32 = 1 << 16;
/// The same, far behind a tensor's start.
const FAR: u32 = 1 << 24;
/// Indices below zero that are tried are above this, as numbers without signs.
const BELOW: u32 = 64;

/// Mixes numbers.
fn mixed(numbers: impl Iterator<Item = u32>) -> u32 {
    let mut out = 0x9e37_79b9u32;
    for number in numbers {
        out = (out ^ number).wrapping_mul(0x85eb_ca6b);
        out ^= out >> 15;
    }
    out
}

impl ThreadRun<'_, '_> {
    /// What a step is said to find in an index tile, in this thread and in the turns that run:
    /// places inside of a tensor's bounds, outside, and below zero.
    pub(super) fn invented(&self, at: u16) -> Option<u64> {
        let step = self.look.steps.get(usize::from(at))?;
        if let Some(op) = self.look.uniform_of(step) {
            let number = self.uniform(self.look.program.result(op, 0)?)?;
            // A truth is all ones.
            let is_set = self.look.is_truth(op) && number == 1;
            return Some(if is_set { 0xffff_ffff } else { u64::from(number as u32) });
        }
        let own = |m: &&TransferPlan| m.op.index() == usize::from(step.origin);
        let m = self.look.plan.transfers.iter().find(own)?;
        let dim = usize::from(self.look.program.indexed_dim(m.op)?);
        let ((End::Global(k), _) | (_, End::Global(k))) = (m.from, m.to) else { return None };
        let g = self.look.plan.globals.get(usize::from(k))?;
        let start = self.index(g.starts().nth(dim)?)?;
        let bounds = self.look.program.bounds(g.memref);
        let bound = match bounds.and_then(|bounds| bounds.get(dim).copied()) {
            None | Some(MemrefBound::None) => None,
            Some(MemrefBound::Number(n)) => Some(n),
            Some(MemrefBound::Argument(value)) => {
                Some(u32::try_from(self.argument(value, ParamKind::Scalar)?).ok()?)
            }
            Some(MemrefBound::Half(value)) => {
                Some(u32::try_from(self.argument(value, ParamKind::Scalar)? / 2).ok()?)
            }
        };
        let number = mixed([self.thread, u32::from(at)].into_iter().chain(self.turns));
        let high = number >> 8;
        let coordinate = match bound {
            None if self.look.given == Given::Far => number.checked_rem(FAR)?,
            None => number.checked_rem(COMMON)?,
            Some(_) if number & 3 == 0 => high.checked_rem(BELOW)?.wrapping_neg(),
            Some(n) => high.checked_rem(n.saturating_mul(2).max(1))?,
        };
        let index = i64::from(coordinate).checked_sub(start)?;
        Some(u64::from(index.cast_unsigned() as u32))
    }

    /// The coordinate that a step's index makes.
    fn coordinate(&self, at: u16, start: i64) -> Option<u64> {
        let sum = self.invented(at)?.wrapping_add(start.cast_unsigned());
        Some(u64::from(sum as u32))
    }

    /// Which instance stands at an address, with the index of which step; they are the same ones
    /// wherever the step is met. `position`: of an instance.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn indexed(
        &mut self,
        at: u16,
        m: &TransferPlan,
        end: End,
        tile: &TileStart,
        address: u64,
        instances: u32,
        position: impl Fn(u32) -> Result<Position, Violation>,
    ) -> Result<(), Violation> {
        let missing = Violation::Missing(m.op);
        let wrong = Violation::Address {
            op: m.op,
            step: at,
            thread: u16::try_from(self.thread).unwrap_or(u16::MAX),
            address,
        };
        let (start, _) = tile.index.ok_or(missing)?;
        let (known, from) = self
            .instances
            .get(usize::from(at))
            .copied()
            .zip(self.blocks.get(usize::from(at)).map(|[from, ..]| *from))
            .ok_or(missing)?;
        if known != NONE {
            let p = position(u32::from(known))?;
            let coordinate = self.coordinate(from, start).ok_or(wrong)?;
            if !tile.meets(p, coordinate, address) {
                return Err(wrong);
            }
            return self.at_index(at, m, end, (p, coordinate));
        }
        // The step that took it stands before the one that moves, most often right before.
        let is_taken = |number: &u16| {
            self.look.steps.get(usize::from(*number)).is_some_and(|step| {
                step.purpose == InstKind::Index && usize::from(step.origin) == m.op.index()
            })
        };
        for from in (0..at).rev().filter(is_taken) {
            let Some(coordinate) = self.coordinate(from, start) else { continue };
            for i in 0..instances {
                let p = position(i)?;
                if !tile.meets(p, coordinate, address) || self.is_taken(at, i) {
                    continue;
                }
                if let Some(known) = self.instances.get_mut(usize::from(at)) {
                    *known = u16::try_from(i).unwrap_or(NONE);
                }
                if let Some([place, ..]) = self.blocks.get_mut(usize::from(at)) {
                    *place = from;
                }
                return self.at_index(at, m, end, (p, coordinate));
            }
        }
        Err(wrong)
    }

    /// An instance is where its index says: as many bytes as have one index move, in the lanes that
    /// take part.
    fn at_index(
        &mut self,
        at: u16,
        m: &TransferPlan,
        end: End,
        (p, coordinate): (Position, u64),
    ) -> Result<(), Violation> {
        self.compared = self.compared.saturating_add(1);
        let program = self.look.program;
        let wrong = Violation::Missing(m.op);
        let step = self.look.steps.get(usize::from(at)).ok_or(wrong)?;
        let movement = self.look.atom(step).and_then(|atom| atom.movement).ok_or(wrong)?;
        let side = if m.from == end { &movement.from } else { &movement.to };
        let share = u32::from(side.slot_bytes);
        let End::Global(k) = end else { return Err(wrong) };
        let g = self.look.plan.globals.get(usize::from(k)).ok_or(wrong)?;
        let tile = program.index_tile(m.op).ok_or(wrong)?;
        let dim = program.indexed_dim(m.op).ok_or(wrong)?;
        let is_inner = usize::from(dim).saturating_add(1) == g.starts().count();
        let is_one = share == u32::from(g.map.shape.bits / 8);
        if !is_one && (is_inner || !program.is_same_along_rows(tile)) {
            return Err(wrong);
        }
        self.guarded(at, end, (p, Some(coordinate)), share)
    }
}

/// What the step must hold that took a movement's index: the index of the first element that each
/// lane moves.
#[inline(never)]
pub(super) fn taken(
    look: &ContentsContext<'_>,
    scratch: &mut ContentsScratch<'_>,
    at: u16,
    m: &TransferPlan,
    out: &mut ContentsSummary,
) -> Result<(), Violation> {
    let Some(tile) = look.program.index_tile(m.op) else { return Ok(()) };
    let wrong = Violation::Missing(m.op);
    let Some(instance) = scratch.instance(at) else {
        out.unfollowed = out.unfollowed.saturating_add(1);
        return Ok(());
    };
    let [from, ..] = *scratch.blocks.get(usize::from(at)).ok_or(wrong)?;
    scratch.want(Goal {
        bits: BitRange { content: Content::Inst(from, 0), bit: 0, width: 32 },
        what: What::Tile(tile),
        at: look.beside(m, tile, instance).ok_or(wrong)?,
        sink: at,
    })
}

/// What the step must read that takes the one element of a tile as an index.
#[inline(never)]
pub(super) fn taken_alone(
    look: &ContentsContext<'_>,
    scratch: &mut ContentsScratch<'_>,
    at: u16,
    op: Op,
) -> Result<(), Violation> {
    let missing = Violation::Missing(op);
    let tile = look.program.operand(op, 0).ok_or(missing)?;
    let step = look.steps.get(usize::from(at)).ok_or(missing)?;
    let read = look.atom(step).and_then(|atom| {
        (0u8..).zip(atom.operands.iter()).find(|(_, operand)| operand.role == Role::Use)
    });
    let (operand, _) = read.ok_or(missing)?;
    let content = scratch.read(look, at, operand, 0).ok_or(missing)?;
    let bits = BitRange { content, bit: 0, width: 32 };
    scratch.want(Goal { bits, what: What::Tile(tile), at: 0, sink: at })
}

impl ContentsContext<'_> {
    /// The operation of which a step takes the one element of a tile.
    pub(super) fn uniform_of(&self, step: &Inst) -> Option<Op> {
        if step.purpose != InstKind::Index {
            return None;
        }
        let function = self.program.functions().next()?;
        let is_own = |op: &Op| op.index() == usize::from(step.origin);
        let op = self.program.inside(function).find(is_own)?;
        (self.program.index_word(op) == Some(IndexWord::Uniform)).then_some(op)
    }

    /// Whether such an element is a truth.
    fn is_truth(&self, op: Op) -> bool {
        let dtype = self.program.operand(op, 0).and_then(|tile| self.program.type_of(tile).dtype);
        dtype.and_then(|dtype| self.tables.dtype(dtype)).is_some_and(|dtype| dtype.bits == 1)
    }

    /// The first bit, in a tile that is distributed as what a movement moves, of what belongs to a
    /// lane's first element of an instance.
    pub(super) fn beside(&self, m: &TransferPlan, tile: Value, instance: u32) -> Option<u32> {
        let ((End::Registers(k), _) | (_, End::Registers(k))) = (m.from, m.to) else {
            return None;
        };
        let moved = &self.plan.fragments.get(usize::from(k))?.fragment;
        m.tiling
            .first_bit(instance)
            .checked_div(place_bits(moved))?
            .checked_mul(self.place_of(tile)?)
    }
}

//! The choice: anchors, joint shared layouts, best atoms, reasons.

use super::candidates::{Family, candidates};
use super::evaluate::{EndMap, Evaluated, Setting};
use super::fit::Reject;
use super::flow::{is_register_tile, spread};
use super::matrix::{Product, blocked};
use super::mover::{Mover, Place};
use crate::ir::{Def, Op, Program, Value, words};
use crate::map::{MemoryMap, SharedLayout, TileShape, log2_exact};
use crate::plan::{AllocPlan, Candidate, End, FragmentPlan, GlobalPlan, Loser, MovePlan, Plan, PlanError, PlanPool, ProductPlan};
use heapless::VecView;
use lanebook_layout::PostMap;
use lanebook_tables::{ArchId, AtomClass, AtomId, OpRole, Space, Tables};

/// Attribute of an index argument: it is a multiple of so many.
pub const DIV: &str = "div";

/// A movement as found in the program.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Movement {
    op: Op,
    from: MovementEnd,
    to: MovementEnd,
    /// Loops around it.
    depth: u8,
}

#[derive(Copy, Clone, Debug, PartialEq)]
enum MovementEnd {
    Registers(Value),
    Shared(u16),
    Global(u16),
}

/// Storage that choosing needs beside the plan.
pub struct Workspace<'s> {
    /// Movers of the architecture.
    pub movers: &'s mut VecView<Mover>,
    /// Movements of the program.
    pub movements: &'s mut VecView<Movement>,
}

/// The losers of one movement.
struct Record {
    op: Op,
    losers: heapless::Vec<Loser, 64>,
    dropped: u32,
}

impl Record {
    fn lose(&mut self, atom: AtomId, why: Reject, cost: u32) {
        if self.losers.push(Loser { op: self.op, what: Candidate::Atom(atom), why, cost }).is_err() {
            self.dropped = self.dropped.saturating_add(1);
        }
    }
}

/// The best way found for a movement.
#[derive(Copy, Clone, Debug)]
struct Best {
    atom: AtomId,
    second: Option<AtomId>,
    found: Evaluated,
}

/// Chooses atoms and layouts for all of `function`.
///
/// On an error the plan holds whatever had been decided; it must not be used.
pub fn choose(tables: &Tables<'_>, arch: ArchId, program: &Program<'_, '_>, function: Op, plan: &mut Plan<'_>, workspace: &mut Workspace<'_>) -> Result<(), PlanError> {
    plan.clear();
    let machine = tables.arch(arch).ok_or(PlanError::UnknownArch)?;
    let isa = tables.isa(machine.isa).ok_or(PlanError::UnknownArch)?;
    let lanes = machine.wave_lanes.first().copied().unwrap_or(0);
    let threads = program.int_attr(function, words::THREADS).and_then(|n| u32::try_from(n).ok()).unwrap_or(0);
    let bad = PlanError::Threads { threads, wave: u32::from(lanes), most: u32::from(machine.max_threads) };
    let wave = log2_exact(u64::from(lanes)).ok_or(bad)?;
    let all = log2_exact(u64::from(threads)).ok_or(bad)?;
    let warps = all.checked_sub(wave).ok_or(bad)?;
    if threads > u32::from(machine.max_threads) {
        return Err(bad);
    }
    (plan.arch, plan.threads, plan.wave, plan.warps) = (arch, threads, wave, warps);
    workspace.movers.clear();
    workspace.movements.clear();
    let setting = Setting { tables, arch: machine, isa, wave, warps };
    for have in machine.atoms.iter().filter(|a| a.native) {
        if let Some(mover) = tables.atom(have.atom).and_then(|atom| Mover::of(have.atom, atom)) {
            workspace.movers.push(mover).map_err(|_| full(PlanPool::Movers, workspace.movers.capacity()))?;
        }
    }
    let mut chooser = Chooser { setting, program, plan, movers: workspace.movers, movements: workspace.movements, family: Family { bank_span: 0, widest: 0, run: 0 } };
    chooser.family = chooser.family();
    chooser.collect(function)?;
    chooser.choose_products(function)?;
    chooser.choose_free_tiles()?;
    chooser.settle()
}

fn full(pool: PlanPool, capacity: usize) -> PlanError {
    PlanError::Capacity { pool, capacity: u32::try_from(capacity).unwrap_or(u32::MAX) }
}

struct Chooser<'a, 't, 'p, 's> {
    setting: Setting<'t>,
    program: &'a Program<'p, 't>,
    plan: &'a mut Plan<'s>,
    movers: &'a VecView<Mover>,
    movements: &'a mut VecView<Movement>,
    family: Family,
}

impl Chooser<'_, '_, '_, '_> {
    /// The figures of the shared-layout families, from the architecture's movers and bank models.
    fn family(&self) -> Family {
        let bank_span = self.setting.arch.banks.iter().map(|b| u32::from(b.banks).saturating_mul(u32::from(b.bank_bytes))).max().unwrap_or(0);
        let mut out = Family { bank_span, widest: 0, run: 0 };
        for mover in self.movers.iter() {
            let Some(movement) = self.setting.tables.atom(mover.atom).and_then(|a| a.movement.as_ref()) else { continue };
            for side in [&movement.from, &movement.to] {
                if side.space == Space::Shared {
                    // A wave-uniform side has one slot, and the whole run behind it.
                    let uniform = mover.bits.as_slice().iter().any(|b| matches!((b.from, b.to), (Place::Slot(_), Place::Byte(_))));
                    let bytes = u32::from(side.slot_bytes);
                    if uniform {
                        out.run = out.run.max(bytes);
                    } else {
                        out.widest = out.widest.max(bytes);
                    }
                }
            }
        }
        out
    }

    /// Finds tiles and movements.
    fn collect(&mut self, function: Op) -> Result<(), PlanError> {
        for op in self.program.inside(function) {
            match self.program.role(op) {
                OpRole::Alloc => self.collect_alloc(op)?,
                OpRole::Copy => {
                    let shape = self.shape_at(op, &[0, 1])?;
                    let (from, to) = (self.memory_end(op, 0, shape)?, self.memory_end(op, 1, shape)?);
                    self.add(op, from, to)?;
                }
                OpRole::Load => {
                    let result = self.program.result(op, 0).ok_or(PlanError::Unsupported(op))?;
                    let shape = self.shape_of(op, result)?;
                    let from = self.memory_end(op, 0, shape)?;
                    self.add(op, from, MovementEnd::Registers(result))?;
                }
                OpRole::Store => {
                    let value = self.program.operand(op, 0).ok_or(PlanError::Unsupported(op))?;
                    let shape = self.shape_of(op, value)?;
                    let to = self.memory_end(op, 1, shape)?;
                    self.add(op, MovementEnd::Registers(value), to)?;
                }
                OpRole::Matrix | OpRole::For | OpRole::Yield | OpRole::Return | OpRole::Constant | OpRole::Convert | OpRole::Transpose | OpRole::Function | OpRole::Index => {}
                _ => return Err(PlanError::Unsupported(op)),
            }
        }
        Ok(())
    }

    fn add(&mut self, op: Op, from: MovementEnd, to: MovementEnd) -> Result<(), PlanError> {
        let mut depth = 0u8;
        let mut at = self.program.parent(op);
        while let Some(parent) = at {
            if self.program.role(parent) == OpRole::For {
                depth = depth.saturating_add(1);
            }
            at = self.program.parent(parent);
        }
        let capacity = self.movements.capacity();
        self.movements.push(Movement { op, from, to, depth }).map_err(|_| full(PlanPool::Moves, capacity))
    }

    fn shape_of(&self, op: Op, value: Value) -> Result<TileShape, PlanError> {
        let ty = self.program.type_of(value);
        let bits = ty.dtype.and_then(|d| self.setting.tables.dtype(d)).map_or(0, |d| d.bits);
        if bits == 0 || bits % 8 != 0 {
            return Err(PlanError::Element(op));
        }
        let (rows, cols) = ty.shape.pair().ok_or(PlanError::Extents(op))?;
        TileShape::new(u64::from(rows), u64::from(cols), bits).ok_or(PlanError::Extents(op))
    }

    /// The shape of the first operand with known extents.
    fn shape_at(&self, op: Op, operands: &[usize]) -> Result<TileShape, PlanError> {
        let mut last = PlanError::Extents(op);
        for &k in operands {
            match self.program.operand(op, k).map(|v| self.shape_of(op, v)) {
                Some(Ok(shape)) => return Ok(shape),
                Some(Err(e)) => last = e,
                None => {}
            }
        }
        Err(last)
    }

    fn collect_alloc(&mut self, op: Op) -> Result<(), PlanError> {
        let value = self.program.result(op, 0).ok_or(PlanError::Unsupported(op))?;
        if self.program.type_of(value).space != Some(Space::Shared) {
            return Err(PlanError::Unsupported(op));
        }
        let shape = self.shape_of(op, value)?;
        let layout = SharedLayout { row_major: true, post: PostMap::None };
        let capacity = self.plan.allocs.capacity();
        let alloc = AllocPlan { value, shape, layout, bytes: 0, align: 16, offset: 0 };
        self.plan.allocs.push(alloc).map_err(|_| full(PlanPool::Allocs, capacity))
    }

    fn memory_end(&mut self, op: Op, operand: usize, shape: TileShape) -> Result<MovementEnd, PlanError> {
        let not_traced = PlanError::NotTraced { op, operand: u8::try_from(operand).unwrap_or(u8::MAX) };
        let value = self.program.operand(op, operand).ok_or(not_traced)?;
        if let Some((index, alloc)) = self.plan.alloc_of(value) {
            if alloc.shape != shape || self.program.subscripts(op, operand).next().is_some() {
                return Err(PlanError::Extents(op));
            }
            return Ok(MovementEnd::Shared(index));
        }
        let ty = self.program.type_of(value);
        let is_argument = matches!(self.program.def(value), Def::Argument(..));
        if !is_argument || ty.space != Some(Space::Global) {
            return Err(not_traced);
        }
        let mut starts = self.program.subscripts(op, operand);
        let (Some(row), Some(col), None) = (starts.next(), starts.next(), starts.next()) else { return Err(not_traced) };
        let element = u32::from(shape.bits / 8);
        let attr = |key: &str| self.program.int_value_attr(value, key).and_then(|n| u32::try_from(n).ok());
        let base = power(attr(words::ALIGN).unwrap_or(element));
        let outer_bytes = ty.shape.extent(1).and_then(|n| n.checked_mul(element));
        let outer = match outer_bytes {
            Some(bytes) => power(bytes),
            None => power(attr(words::STRIDE_DIV).unwrap_or(1)).saturating_mul(element),
        };
        let inner = power(self.multiple_of(col)).saturating_mul(element);
        let global = GlobalPlan { memref: value, start: (row, col), outer_bytes, align: base.min(outer).min(inner), map: MemoryMap::global(shape, true) };
        let index = match self.plan.globals.iter().position(|g| *g == global) {
            Some(index) => index,
            None => {
                let capacity = self.plan.globals.capacity();
                self.plan.globals.push(global).map_err(|_| full(PlanPool::Globals, capacity))?;
                self.plan.globals.len().saturating_sub(1)
            }
        };
        u16::try_from(index).map(MovementEnd::Global).map_err(|_| not_traced)
    }

    /// A number that certainly divides an index value.
    fn multiple_of(&self, value: Value) -> u32 {
        let as_u32 = |n: i64| u32::try_from(n.unsigned_abs()).unwrap_or(1);
        if let Some(n) = self.program.int(value) {
            return if n == 0 { 1 << 30 } else { as_u32(n) };
        }
        if let Def::Argument(block, 0) = self.program.def(value)
            && let Some(at) = self.program.owner_of(block).and_then(|owner| self.program.counted_loop(owner))
        {
            let (lower, step) = (self.program.int(at.lower), self.program.int(at.step));
            return match (lower, step) {
                (Some(0), Some(s)) => as_u32(s).max(1),
                (Some(l), Some(s)) => power(as_u32(l).max(1)).min(power(as_u32(s).max(1))),
                _ => 1,
            };
        }
        self.program.int_value_attr(value, DIV).map_or(1, as_u32).max(1)
    }

    /// Chooses an atom and a split over warps for each product.
    fn choose_products(&mut self, function: Op) -> Result<(), PlanError> {
        for op in self.program.inside(function) {
            if self.program.role(op) == OpRole::Matrix {
                self.choose_product(op)?;
            }
        }
        Ok(())
    }

    fn choose_product(&mut self, op: Op) -> Result<(), PlanError> {
        let value = |k: usize| self.program.operand(op, k).ok_or(PlanError::Unsupported(op));
        let (a, b, c) = (value(0)?, value(1)?, value(2)?);
        let d = self.program.result(op, 0).ok_or(PlanError::Unsupported(op))?;
        let pair = |v: Value| self.program.type_of(v).shape.pair().ok_or(PlanError::Extents(op));
        let ((m, k), (_, n)) = (pair(a)?, pair(b)?);
        let dtype = |v: Value| self.program.type_of(v).dtype;
        let bits = |v: Value| dtype(v).and_then(|t| self.setting.tables.dtype(t)).map_or(0, |t| t.bits);
        let mut best: Option<(Product, u32)> = None;
        let mark = self.plan.fragments.len();
        let mut why = PlanError::NoMatrixAtom(op);
        for have in self.setting.arch.atoms.iter().filter(|have| have.native) {
            let Some(atom) = self.setting.tables.atom(have.atom).filter(|atom| atom.class == AtomClass::Matrix) else { continue };
            let Some(shape) = atom.matrix else { continue };
            let takes = |operand: u8, v: Value| atom.operands.get(usize::from(operand)).is_some_and(|o| o.dtype.is_some() && o.dtype == dtype(v));
            if !(takes(shape.a, a) && takes(shape.b, b) && takes(shape.c, c) && takes(shape.d, d)) {
                continue;
            }
            for along_m in 0..=self.setting.warps {
                let split = (along_m, self.setting.warps.saturating_sub(along_m));
                let tile = (u64::from(m), u64::from(n), u64::from(k));
                let Some(product) = Product::new(have.atom, atom, tile, (bits(a), bits(b), bits(c)), split) else { continue };
                if product.a.lane.len() != usize::from(self.setting.wave) {
                    continue;
                }
                let cost = self.place_product(&product, [a, b, c, d]).and_then(|()| self.total(true));
                self.plan.fragments.truncate(mark);
                let what = Candidate::Matrix(have.atom, split.0, split.1);
                match cost {
                    Ok(moves) => {
                        let w = &self.setting.tables.weights;
                        let each = u32::from(product.cycles).saturating_mul(w.matrix_cycle).saturating_add(w.instruction);
                        let cycles = product.count().saturating_mul(each).saturating_mul(w.loop_trips.max(1));
                        let held = u32::from(product.a.registers()).saturating_add(u32::from(product.b.registers())).saturating_add(u32::from(product.c.registers()));
                        let cost = moves.saturating_add(cycles).saturating_add(held.saturating_mul(w.register));
                        match best {
                            Some((_, least)) if least <= cost => self.plan.lose(Loser { op, what, why: Reject::Dearer, cost }),
                            _ => {
                                if let Some((old, cost)) = best {
                                    let what = Candidate::Matrix(old.atom, old.warps.0, old.warps.1);
                                    self.plan.lose(Loser { op, what, why: Reject::Dearer, cost });
                                }
                                best = Some((product, cost));
                            }
                        }
                    }
                    Err(e) => {
                        why = e;
                        let why = if let PlanError::NoMover { why, .. } = e { why } else { Reject::Form };
                        self.plan.lose(Loser { op, what, why, cost: 0 });
                    }
                }
            }
        }
        let (product, _) = best.ok_or(why)?;
        self.place_product(&product, [a, b, c, d])?;
        let index = |plan: &Plan<'_>, v: Value| plan.fragment_of(v).map(|(k, _)| k).ok_or(PlanError::Undecided(op));
        let fragments = [index(self.plan, a)?, index(self.plan, b)?, index(self.plan, c)?, index(self.plan, d)?];
        let capacity = self.plan.products.capacity();
        self.plan.products.push(ProductPlan { op, product, fragments }).map_err(|_| full(PlanPool::Products, capacity))
    }

    fn place_product(&mut self, product: &Product, [a, b, c, d]: [Value; 4]) -> Result<(), PlanError> {
        for (value, fragment) in [(a, product.a), (b, product.b), (c, product.c), (d, product.c)] {
            spread(self.program, value, fragment, self.plan.fragments)?;
        }
        Ok(())
    }

    /// Register tiles that no product fixes: the width that makes all their movements cheapest.
    fn choose_free_tiles(&mut self) -> Result<(), PlanError> {
        // Stores first: what leaves the group wants to leave in wide pieces; then loads whose result nothing stored.
        for stores in [true, false] {
            for k in 0..self.movements.len() {
                let Some(&movement) = self.movements.get(k) else { continue };
                let value = match (stores, movement.from, movement.to) {
                    (true, MovementEnd::Registers(v), _) | (false, _, MovementEnd::Registers(v)) => v,
                    _ => continue,
                };
                if self.plan.fragment_of(value).is_none() {
                    self.choose_free_tile(movement.op, value)?;
                }
            }
        }
        Ok(())
    }

    fn choose_free_tile(&mut self, op: Op, value: Value) -> Result<(), PlanError> {
        let shape = self.shape_of(op, value)?;
        let mark = self.plan.fragments.len();
        let mut best: Option<(FragmentPlan, u8, u32)> = None;
        let mut why = PlanError::Undecided(op);
        let narrowest = 32u16.checked_div(shape.bits).map_or(0, |n| log2_exact(u64::from(n)).unwrap_or(0));
        for vector in (narrowest..=shape.cols.min(7)).rev() {
            let Some(fragment) = blocked(shape, vector, self.setting.wave, self.setting.warps, true) else { continue };
            let cost = spread(self.program, value, fragment, self.plan.fragments).and_then(|()| self.total(true));
            self.plan.fragments.truncate(mark);
            let what = Candidate::Blocked(vector);
            match (cost, best) {
                (Ok(cost), Some((_, _, least))) if least <= cost => self.plan.lose(Loser { op, what, why: Reject::Dearer, cost }),
                (Ok(cost), old) => {
                    if let Some((_, vector, cost)) = old {
                        self.plan.lose(Loser { op, what: Candidate::Blocked(vector), why: Reject::Dearer, cost });
                    }
                    best = Some((FragmentPlan { value, fragment }, vector, cost));
                }
                (Err(e), _) => {
                    why = e;
                    let why = if let PlanError::NoMover { why, .. } = e { why } else { Reject::Form };
                    self.plan.lose(Loser { op, what, why, cost: 0 });
                }
            }
        }
        let (chosen, _, _) = best.ok_or(why)?;
        spread(self.program, value, chosen.fragment, self.plan.fragments)
    }

    /// Weighted cost of all movements whose ends are known, with each shared tile at its best.
    fn total(&mut self, stop_early: bool) -> Result<u32, PlanError> {
        let mut sum = 0u32;
        for index in 0..self.plan.allocs.len() {
            let (_, cost) = self.best_layout(index, stop_early, None)?;
            sum = sum.saturating_add(cost);
        }
        for k in 0..self.movements.len() {
            let Some(&movement) = self.movements.get(k) else { continue };
            if touches_shared(&movement).is_some() || !self.is_known(&movement) {
                continue;
            }
            let best = self.best_mover(&movement, None, None)?;
            sum = sum.saturating_add(self.weigh(&movement, best.found.figures.cost));
        }
        Ok(sum)
    }

    fn weigh(&self, movement: &Movement, cost: u32) -> u32 {
        let trips = self.setting.tables.weights.loop_trips.max(1);
        (0..movement.depth.min(4)).fold(cost, |c, _| c.saturating_mul(trips))
    }

    /// Whether the register end of a movement, if it has one, is decided.
    fn is_known(&self, movement: &Movement) -> bool {
        [movement.from, movement.to].iter().all(|end| match end {
            MovementEnd::Registers(v) => self.plan.fragment_of(*v).is_some(),
            _ => true,
        })
    }

    /// The cheapest layout of a shared tile for all its known movements, and the cost.
    fn best_layout(&mut self, index: usize, stop_early: bool, record: Option<Op>) -> Result<(SharedLayout, u32), PlanError> {
        let alloc = *self.plan.allocs.get(index).ok_or(PlanError::UnknownArch)?;
        let mut best: Option<(SharedLayout, u32)> = None;
        let mut failure: Option<PlanError> = None;
        let mut least: Option<u32> = None;
        for layout in candidates(alloc.shape, self.family) {
            let Some(map) = layout.map(alloc.shape) else { continue };
            let outcome = self.layout_cost(index, &layout, &map, alloc.shape);
            match outcome {
                Ok((cost, bound)) => {
                    least = Some(least.map_or(bound, |b| b.min(bound)));
                    let beaten = best.is_none_or(|(_, c)| cost < c);
                    if let Some(op) = record {
                        let loser = if beaten { best } else { Some((layout, cost)) };
                        if let Some((shared, cost)) = loser {
                            self.plan.lose(Loser { op, what: Candidate::Shared(shared), why: Reject::Dearer, cost });
                        }
                    }
                    if beaten {
                        best = Some((layout, cost));
                    }
                    // No layout can be cheaper than the same instructions without conflicts and without padding.
                    if stop_early && record.is_none() && best.is_some_and(|(_, c)| c <= bound) {
                        break;
                    }
                }
                Err(e) => {
                    if let (Some(op), PlanError::NoMover { why, .. }) = (record, e) {
                        self.plan.lose(Loser { op, what: Candidate::Shared(layout), why, cost: 0 });
                    }
                    failure = failure.or(Some(e));
                }
            }
        }
        match best {
            Some(found) => Ok(found),
            None => Err(failure.unwrap_or(PlanError::UnknownArch)),
        }
    }

    /// Cost of all known movements of a shared tile under one layout, and what it would be without conflicts or padding.
    fn layout_cost(&self, index: usize, layout: &SharedLayout, map: &MemoryMap, shape: TileShape) -> Result<(u32, u32), PlanError> {
        let w = &self.setting.tables.weights;
        let padding = layout.bytes(shape).unwrap_or(u64::MAX).saturating_sub(shape.bytes());
        let mut cost = u32::try_from(padding.saturating_mul(u64::from(w.pad_kib)) / 1024).unwrap_or(u32::MAX);
        let mut bound = 0u32;
        for movement in self.movements.iter() {
            if touches_shared(movement) != Some(index) || !self.is_known(movement) {
                continue;
            }
            let best = self.best_mover(movement, Some((map, layout.align(16))), None)?;
            let figures = best.found.figures;
            let extra = figures.conflicts.extra().saturating_mul(figures.count).saturating_mul(w.shared_transaction);
            cost = cost.saturating_add(self.weigh(movement, figures.cost));
            bound = bound.saturating_add(self.weigh(movement, figures.cost.saturating_sub(extra)));
        }
        Ok((cost, bound))
    }

    /// The cheapest atom, or pair of atoms, for a movement. `shared` is the map of its shared end.
    fn best_mover(&self, movement: &Movement, shared: Option<(&MemoryMap, u32)>, mut record: Option<&mut Record>) -> Result<Best, PlanError> {
        let from = self.end_map(movement.op, movement.from, shared)?;
        let to = self.end_map(movement.op, movement.to, shared)?;
        let mut best: Option<Best> = None;
        let mut closest: Option<Reject> = None;
        let mut consider = |atom: AtomId, second: Option<AtomId>, outcome: Result<Evaluated, Reject>| match outcome {
            Ok(found) => {
                let beaten = best.is_none_or(|b| found.figures.cost < b.found.figures.cost);
                let loser = if beaten { best.map(|b| (b.atom, b.found.figures.cost)) } else { Some((atom, found.figures.cost)) };
                if let (Some(record), Some((atom, cost))) = (record.as_mut(), loser) {
                    record.lose(atom, Reject::Dearer, cost);
                }
                if beaten {
                    best = Some(Best { atom, second, found });
                }
            }
            Err(why) => {
                if closest.is_none_or(|c| nearness(why) > nearness(c)) {
                    closest = Some(why);
                }
                if let Some(record) = record.as_mut() {
                    record.lose(atom, why, 0);
                }
            }
        };
        for mover in self.movers.iter().filter(|m| m.from == from.space() && m.to == to.space()) {
            consider(mover.atom, None, self.setting.evaluate(mover, from, to, false));
        }
        if let (EndMap::Global(map, _), EndMap::Shared(..)) = (from, to) {
            for load in self.movers.iter().filter(|m| m.from == Space::Global && m.to == Space::Register) {
                for store in self.movers.iter().filter(|m| m.from == Space::Register && m.to == Space::Shared && m.register_bits == load.register_bits) {
                    consider(load.atom, Some(store.atom), self.evaluate_pair(load, store, from, to, map.shape));
                }
            }
        }
        best.ok_or(PlanError::NoMover { op: movement.op, why: closest.unwrap_or(Reject::Form) })
    }

    /// A movement through registers by two atoms of the same width.
    fn evaluate_pair(&self, load: &Mover, store: &Mover, from: EndMap<'_>, to: EndMap<'_>, shape: TileShape) -> Result<Evaluated, Reject> {
        let share = load.register_bits.checked_div(u32::from(shape.bits)).unwrap_or(0);
        let vector = log2_exact(u64::from(share)).ok_or(Reject::Share { atom_bits: load.register_bits, tile_bits: u32::from(shape.bits) })?;
        let fragment = blocked(shape, vector, self.setting.wave, self.setting.warps, true).ok_or(Reject::Share { atom_bits: load.register_bits, tile_bits: u32::from(shape.bits) })?;
        let first = self.setting.evaluate(load, from, EndMap::Registers(&fragment), true)?;
        let second = self.setting.evaluate(store, EndMap::Registers(&fragment), to, true)?;
        if first.fit != second.fit {
            return Err(Reject::RegisterOrder);
        }
        let (a, b) = (first.figures, second.figures);
        let mut figures = b;
        figures.count = a.count.saturating_add(b.count);
        figures.segments = a.segments;
        figures.further_addresses = a.further_addresses.saturating_add(b.further_addresses);
        figures.cost = a.cost.saturating_add(b.cost);
        Ok(Evaluated { fit: second.fit, figures, bank_status: second.bank_status })
    }

    fn end_map<'m>(&'m self, op: Op, end: MovementEnd, shared: Option<(&'m MemoryMap, u32)>) -> Result<EndMap<'m>, PlanError> {
        match end {
            MovementEnd::Registers(v) => self.plan.fragment_of(v).map(|(_, f)| EndMap::Registers(f)).ok_or(PlanError::Undecided(op)),
            MovementEnd::Shared(_) => shared.map(|(map, align)| EndMap::Shared(map, align)).ok_or(PlanError::Undecided(op)),
            MovementEnd::Global(g) => self.plan.globals.get(usize::from(g)).map(|g| EndMap::Global(&g.map, g.align)).ok_or(PlanError::Undecided(op)),
        }
    }

    /// Writes the final choice down, with every loser's reason.
    fn settle(&mut self) -> Result<(), PlanError> {
        for index in 0..self.plan.allocs.len() {
            let op = self.plan.allocs.get(index).and_then(|a| self.program.def_op(a.value));
            let (layout, _) = self.best_layout(index, false, op)?;
            if let Some(alloc) = self.plan.allocs.get_mut(index) {
                alloc.layout = layout;
                alloc.align = layout.align(16);
                alloc.bytes = u32::try_from(layout.bytes(alloc.shape).unwrap_or(u64::MAX)).unwrap_or(u32::MAX);
            }
        }
        for k in 0..self.movements.len() {
            let Some(&movement) = self.movements.get(k) else { continue };
            for end in [movement.from, movement.to] {
                if let MovementEnd::Registers(v) = end
                    && (!is_register_tile(self.program, v) || self.plan.fragment_of(v).is_none())
                {
                    return Err(PlanError::Undecided(movement.op));
                }
            }
            let map = match touches_shared(&movement).and_then(|index| self.plan.allocs.get(index)) {
                Some(alloc) => Some((alloc.layout.map(alloc.shape).ok_or(PlanError::Extents(movement.op))?, alloc.align)),
                None => None,
            };
            let mut record = Record { op: movement.op, losers: heapless::Vec::new(), dropped: 0 };
            let best = self.best_mover(&movement, map.as_ref().map(|(m, a)| (m, *a)), Some(&mut record))?;
            for loser in record.losers {
                self.plan.lose(loser);
            }
            self.plan.losers_dropped = self.plan.losers_dropped.saturating_add(record.dropped);
            let (from, to) = (self.end(movement.op, movement.from)?, self.end(movement.op, movement.to)?);
            let plan = MovePlan { op: movement.op, atom: best.atom, second: best.second, fit: best.found.fit, from, to, figures: best.found.figures, bank_status: best.found.bank_status };
            let capacity = self.plan.moves.capacity();
            self.plan.moves.push(plan).map_err(|_| full(PlanPool::Moves, capacity))?;
        }
        Ok(())
    }

    fn end(&self, op: Op, end: MovementEnd) -> Result<End, PlanError> {
        match end {
            MovementEnd::Registers(v) => self.plan.fragment_of(v).map(|(k, _)| End::Registers(k)).ok_or(PlanError::Undecided(op)),
            MovementEnd::Shared(k) => Ok(End::Shared(k)),
            MovementEnd::Global(k) => Ok(End::Global(k)),
        }
    }
}

/// The shared tile of a movement.
fn touches_shared(movement: &Movement) -> Option<usize> {
    [movement.from, movement.to].iter().find_map(|end| if let MovementEnd::Shared(k) = end { Some(usize::from(*k)) } else { None })
}

/// The largest power of two that divides a number.
fn power(n: u32) -> u32 {
    1u32.checked_shl(n.trailing_zeros()).unwrap_or(1 << 30)
}

/// How far a candidate came, to report the reason that helps most.
fn nearness(why: Reject) -> u8 {
    match why {
        Reject::Alignment { .. } => 6,
        Reject::Run { .. } => 5,
        Reject::Strided { .. } | Reject::Apart { .. } => 4,
        Reject::RegisterOrder | Reject::Packing { .. } => 3,
        Reject::Share { .. } | Reject::Element { .. } => 2,
        Reject::Lanes { .. } => 1,
        _ => 0,
    }
}

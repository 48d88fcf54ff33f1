//! The choice: anchors, joint shared layouts, best atoms, reasons.

use super::candidates::{Family, candidates};
use super::evaluate::{EndMap, Evaluated, Setting};
use super::fit::Reject;
use super::flow::{is_register_tile, spread};
use super::matrix::{Product, blocked};
use super::mover::{Mover, Place};
use crate::ir::{Def, Op, Program, Value, words};
use crate::map::{Fragment, MemoryMap, SharedLayout, TileShape, log2_exact};
use crate::plan::{AllocPlan, Candidate, End, FragmentPlan, GlobalPlan, Loser, MovePlan, Plan, PlanError, PlanPool, ProductPlan};
use heapless::VecView;
use lanebook_layout::PostMap;
use lanebook_tables::{ArchId, AtomClass, AtomId, OpRole, Space, Tables};

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
    /// Loads that copies through registers can begin with.
    pub staged: &'s mut VecView<Staged>,
}

/// The cheapest load of one width for a copy that goes through registers. It does not depend on the shared layout.
#[derive(Copy, Clone, Debug)]
pub struct Staged {
    /// The copy, as an index into the movements.
    movement: u16,
    /// The load.
    load: AtomId,
    /// Register bits that it fills.
    bits: u32,
    /// The distribution on the way.
    fragment: Fragment,
    /// Its figures.
    found: Evaluated,
}

/// Most registers of one tile that a lane can hold.
const MAX_REGISTERS: u16 = u8::MAX as u16;
/// Most (matrix atom, split over warps) candidates of one product.
const MAX_PRODUCTS: usize = 128;

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
pub fn choose(
    tables: &Tables<'_>,
    arch: ArchId,
    program: &Program<'_, '_>,
    function: Op,
    plan: &mut Plan<'_>,
    workspace: &mut Workspace<'_>,
) -> Result<(), PlanError> {
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
    workspace.staged.clear();
    let setting = Setting { tables, arch: machine, isa, wave, warps };
    for have in machine.atoms.iter().filter(|a| a.native) {
        if let Some(mover) = tables.atom(have.atom).and_then(|atom| Mover::of(have.atom, atom)) {
            let capacity = workspace.movers.capacity();
            workspace.movers.push(mover).map_err(|_| full(PlanPool::Movers, capacity))?;
            // The widest first: once one fits, what needs many more instructions need not be tried.
            let mut at = workspace.movers.len().saturating_sub(1);
            while let Some(before) = at.checked_sub(1)
                && workspace.movers.get(before).is_some_and(|m| m.share_bytes < mover.share_bytes)
            {
                let wider = workspace.movers.get(at).copied();
                let narrower = workspace.movers.get(before).copied();
                if let (Some(slot), Some(mover)) = (workspace.movers.get_mut(at), narrower) {
                    *slot = mover;
                }
                if let (Some(slot), Some(mover)) = (workspace.movers.get_mut(before), wider) {
                    *slot = mover;
                }
                at = before;
            }
        }
    }
    let mut chooser = Chooser {
        setting,
        program,
        plan,
        movers: workspace.movers,
        movements: workspace.movements,
        staged: workspace.staged,
        family: Family { bank_span: 0, widest: 0, run: 0 },
    };
    chooser.family = chooser.family();
    chooser.collect(function)?;
    chooser.stage()?;
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
    staged: &'a mut VecView<Staged>,
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
                OpRole::Matrix
                | OpRole::For
                | OpRole::Yield
                | OpRole::Return
                | OpRole::Constant
                | OpRole::Convert
                | OpRole::Transpose
                | OpRole::Function
                | OpRole::Index => {}
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
        if bits == 0 || !bits.is_multiple_of(8) {
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
        self.program.int_value_attr(value, words::DIV).map_or(1, as_u32).max(1)
    }

    /// Finds, for each copy from global to shared memory, the cheapest load of each width.
    fn stage(&mut self) -> Result<(), PlanError> {
        for index in 0..self.movements.len() {
            let Some(&movement) = self.movements.get(index) else { continue };
            let (MovementEnd::Global(g), MovementEnd::Shared(_)) = (movement.from, movement.to) else { continue };
            let Some(global) = self.plan.globals.get(usize::from(g)).copied() else { continue };
            let from = EndMap::Global(&global.map, global.align);
            let shape = global.map.shape;
            for load in self.movers.iter().filter(|m| m.from == Space::Global && m.to == Space::Register) {
                let share = load.register_bits.checked_div(u32::from(shape.bits)).unwrap_or(0);
                let Some(fragment) = log2_exact(u64::from(share)).and_then(|vector| blocked(shape, vector, self.setting.wave, self.setting.warps, true)) else {
                    continue;
                };
                let Ok(found) = self.setting.evaluate(load, from, EndMap::Registers(&fragment), true, u32::MAX) else { continue };
                let staged = Staged { movement: u16::try_from(index).unwrap_or(u16::MAX), load: load.atom, bits: load.register_bits, fragment, found };
                match self.staged.iter_mut().find(|s| s.movement == staged.movement && s.bits == staged.bits) {
                    Some(old) if old.found.figures.cost <= staged.found.figures.cost => {}
                    Some(old) => *old = staged,
                    None => {
                        let capacity = self.staged.capacity();
                        self.staged.push(staged).map_err(|_| full(PlanPool::Staged, capacity))?;
                    }
                }
            }
        }
        Ok(())
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
        let Setting { tables, arch, wave, warps, .. } = self.setting;
        let program = self.program;
        let value = |k: usize| program.operand(op, k).ok_or(PlanError::Unsupported(op));
        let (a, b, c) = (value(0)?, value(1)?, value(2)?);
        let d = program.result(op, 0).ok_or(PlanError::Unsupported(op))?;
        let pair = |v: Value| program.type_of(v).shape.pair().ok_or(PlanError::Extents(op));
        let ((m, k), (_, n)) = (pair(a)?, pair(b)?);
        let dtype = |v: Value| program.type_of(v).dtype;
        let bits = |v: Value| dtype(v).and_then(|t| tables.dtype(t)).map_or(0, |t| t.bits);
        let tile = (u64::from(m), u64::from(n), u64::from(k));
        let widths = (bits(a), bits(b), bits(c));
        let w = tables.weights;
        // Cost of the products themselves and of the registers they hold: known without looking at any movement.
        let own = |product: &Product| {
            let each = u32::from(product.cycles).saturating_mul(w.matrix_cycle).saturating_add(w.instruction);
            let held = u32::from(product.a.registers()).saturating_add(u32::from(product.b.registers())).saturating_add(u32::from(product.c.registers()));
            product.count().saturating_mul(each).saturating_mul(w.loop_trips.max(1)).saturating_add(held.saturating_mul(w.register))
        };
        let candidate = |number: usize| -> Option<Product> {
            let per_atom = usize::from(warps).checked_add(1)?;
            let have = arch.atoms.get(number.checked_div(per_atom)?)?;
            let along_m = u8::try_from(number.checked_rem(per_atom)?).ok()?;
            let atom = tables.atom(have.atom).filter(|atom| have.native && atom.class == AtomClass::Matrix)?;
            let shape = atom.matrix?;
            let takes = |operand: u8, v: Value| atom.operands.get(usize::from(operand)).is_some_and(|o| o.dtype.is_some() && o.dtype == dtype(v));
            if !(takes(shape.a, a) && takes(shape.b, b) && takes(shape.c, c) && takes(shape.d, d)) {
                return None;
            }
            let split = (along_m, warps.checked_sub(along_m)?);
            Product::new(have.atom, atom, tile, widths, split).filter(|p| p.a.lane.len() == usize::from(wave))
        };
        let numbers = arch.atoms.len().saturating_mul(usize::from(warps).saturating_add(1));
        let mut order: heapless::Vec<(u32, u16), MAX_PRODUCTS> = heapless::Vec::new();
        let mut why = PlanError::NoMatrixAtom(op);
        for number in 0..numbers {
            if let Some(product) = candidate(number) {
                let registers = product.a.registers().max(product.b.registers()).max(product.c.registers());
                if registers > MAX_REGISTERS {
                    let fewest = if let PlanError::Registers { registers, .. } = why { registers } else { u16::MAX };
                    why = PlanError::Registers { op, registers: registers.min(fewest), most: MAX_REGISTERS };
                    let what = Candidate::Matrix(product.atom, product.warps.0, product.warps.1);
                    self.plan.lose(Loser { op, what, why: Reject::Registers { registers, most: MAX_REGISTERS }, cost: 0 });
                    continue;
                }
                let number = u16::try_from(number).unwrap_or(u16::MAX);
                order.push((own(&product), number)).map_err(|_| full(PlanPool::Products, MAX_PRODUCTS))?;
            }
        }
        let mut best: Option<(Product, u32)> = None;
        let mark = self.plan.fragments.len();
        // Cheapest first: once a total undercuts what the rest cost by themselves, they need no look.
        while let Some(next) = order.iter().enumerate().min_by_key(|(_, entry)| **entry).map(|(at, _)| at) {
            let Some(&(base, number)) = order.get(next) else { break };
            let Some(last) = order.pop() else { break };
            if let Some(place) = order.get_mut(next) {
                *place = last;
            }
            let Some(product) = candidate(usize::from(number)) else { continue };
            let what = Candidate::Matrix(product.atom, product.warps.0, product.warps.1);
            if best.is_some_and(|(_, least)| least <= base) {
                self.plan.lose(Loser { op, what, why: Reject::Dearer, cost: base });
                continue;
            }
            let cost = self.place_product(&product, [a, b, c, d]).and_then(|()| self.total());
            self.plan.fragments.truncate(mark);
            match cost {
                Ok(moves) => {
                    let cost = moves.saturating_add(base);
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
            let registers = fragment.registers();
            if registers > MAX_REGISTERS {
                why = PlanError::Registers { op, registers, most: MAX_REGISTERS };
                self.plan.lose(Loser { op, what: Candidate::Blocked(vector), why: Reject::Registers { registers, most: MAX_REGISTERS }, cost: 0 });
                continue;
            }
            let cost = spread(self.program, value, fragment, self.plan.fragments).and_then(|()| self.total());
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
    fn total(&mut self) -> Result<u32, PlanError> {
        let mut sum = 0u32;
        for index in 0..self.plan.allocs.len() {
            let (_, cost) = self.best_layout(index, None)?;
            sum = sum.saturating_add(cost);
        }
        for k in 0..self.movements.len() {
            let Some(&movement) = self.movements.get(k) else { continue };
            if touches_shared(&movement).is_some() || !self.is_known(&movement) {
                continue;
            }
            let best = self.best_mover(k, &movement, None, u32::MAX, None)?.ok_or(PlanError::Undecided(movement.op))?;
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

    /// The cheapest layout of a shared tile for all its known movements, and the cost. With `record` every other layout is
    /// priced in full and kept as a loser of that operation; without, a layout is dropped as soon as it cannot win.
    fn best_layout(&mut self, index: usize, record: Option<Op>) -> Result<(SharedLayout, u32), PlanError> {
        let alloc = *self.plan.allocs.get(index).ok_or(PlanError::UnknownArch)?;
        let mut best: Option<(SharedLayout, u32)> = None;
        let mut failure: Option<PlanError> = None;
        for layout in candidates(alloc.shape, self.family) {
            let Some(map) = layout.map(alloc.shape) else { continue };
            let limit = match (record, best) {
                (None, Some((_, least))) => least,
                _ => u32::MAX,
            };
            match self.layout_cost(index, &layout, &map, alloc.shape, limit) {
                Ok(cost) => {
                    let beaten = best.is_none_or(|(_, least)| cost < least);
                    if let Some(op) = record {
                        let loser = if beaten { best } else { Some((layout, cost)) };
                        if let Some((shared, cost)) = loser {
                            self.plan.lose(Loser { op, what: Candidate::Shared(shared), why: Reject::Dearer, cost });
                        }
                    }
                    if beaten {
                        best = Some((layout, cost));
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

    /// Cost of all known movements of a shared tile under one layout; anything at or above `limit` stands for itself.
    fn layout_cost(&self, index: usize, layout: &SharedLayout, map: &MemoryMap, shape: TileShape, limit: u32) -> Result<u32, PlanError> {
        let w = &self.setting.tables.weights;
        let padding = layout.bytes(shape).unwrap_or(u64::MAX).saturating_sub(shape.bytes());
        let mut cost = u32::try_from(padding.saturating_mul(u64::from(w.pad_kib)) / 1024).unwrap_or(u32::MAX);
        if limit < u32::MAX {
            let element = u32::from(shape.bits / 8);
            let mine = |m: &&Movement| touches_shared(m) == Some(index) && self.is_known(m);
            let least =
                self.movements.iter().filter(mine).fold(cost, |sum, m| sum.saturating_add(self.weigh(m, self.at_least(m, self.widest(layout, m, element)))));
            if least >= limit {
                return Ok(limit);
            }
        }
        // Reads first: they are what most layouts fail by.
        for reads in [true, false] {
            for (k, movement) in self.movements.iter().enumerate() {
                let is_read = matches!(movement.from, MovementEnd::Shared(_));
                if is_read != reads || touches_shared(movement) != Some(index) || !self.is_known(movement) {
                    continue;
                }
                if cost >= limit {
                    return Ok(limit);
                }
                // A movement may cost what is left of the limit, shared out over its executions, and no more.
                let cap = limit.saturating_sub(cost).checked_div(self.weigh(movement, 1)).map_or(u32::MAX, |c| c.saturating_add(1));
                match self.best_mover(k, movement, Some((map, layout.align(16))), cap, None)? {
                    Some(best) => cost = cost.saturating_add(self.weigh(movement, best.found.figures.cost)),
                    None => return Ok(limit),
                }
            }
        }
        Ok(cost)
    }

    /// The cheapest atom, or pair of atoms, for a movement; `None` if every one costs `cap` or more. `shared` is the map of
    /// its shared end. With `record` all are priced in full.
    fn best_mover(
        &self,
        index: usize,
        movement: &Movement,
        shared: Option<(&MemoryMap, u32)>,
        cap: u32,
        mut record: Option<&mut Record>,
    ) -> Result<Option<Best>, PlanError> {
        let from = self.end_map(movement.op, movement.from, shared)?;
        let to = self.end_map(movement.op, movement.to, shared)?;
        let all = record.is_some();
        let mut best: Option<Best> = None;
        let mut capped = false;
        let mut closest: Option<Reject> = None;
        let mut consider = |best: &mut Option<Best>, atom: AtomId, second: Option<AtomId>, outcome: Result<Evaluated, Reject>| match outcome {
            Ok(found) => {
                let beaten = best.is_none_or(|b| found.figures.cost < b.found.figures.cost);
                let loser = if beaten { best.map(|b| (b.atom, b.found.figures.cost)) } else { Some((atom, found.figures.cost)) };
                if let (Some(record), Some((atom, cost))) = (record.as_mut(), loser) {
                    record.lose(atom, Reject::Dearer, cost);
                }
                if beaten {
                    *best = Some(Best { atom, second, found });
                }
            }
            Err(why) => {
                capped |= why == Reject::Dearer;
                if closest.is_none_or(|c| nearness(why) > nearness(c)) {
                    closest = Some(why);
                }
                if let Some(record) = record.as_mut() {
                    record.lose(atom, why, 0);
                }
            }
        };
        let limit = |best: &Option<Best>| if all { u32::MAX } else { best.map_or(cap, |b| b.found.figures.cost) };
        for mover in self.movers.iter().filter(|m| m.from == from.space() && m.to == to.space()) {
            let outcome = match limit(&best) {
                most if self.at_least(movement, mover.share_bytes) >= most => Err(Reject::Dearer),
                most => self.setting.evaluate(mover, from, to, false, most),
            };
            consider(&mut best, mover.atom, None, outcome);
        }
        for staged in self.staged.iter().filter(|s| usize::from(s.movement) == index) {
            for store in self.movers.iter().filter(|m| m.from == Space::Register && m.to == Space::Shared && m.register_bits == staged.bits) {
                let left = limit(&best).saturating_sub(staged.found.figures.cost);
                let stores = self.at_least(movement, store.share_bytes).saturating_sub(self.at_least(movement, u32::MAX));
                let outcome = if stores >= left { Err(Reject::Dearer) } else { self.evaluate_pair(staged, store, to, left) };
                consider(&mut best, staged.load, Some(store.atom), outcome);
            }
        }
        match best {
            None if !capped => Err(PlanError::NoMover { op: movement.op, why: closest.unwrap_or(Reject::Form) }),
            found => Ok(found.filter(|b| all || b.found.figures.cost < cap)),
        }
    }

    /// What a movement costs at the least with accesses of `width` bytes: its instructions, and the transactions, segments and
    /// registers that every way of doing it shares.
    fn at_least(&self, movement: &Movement, width: u32) -> u32 {
        let w = &self.setting.tables.weights;
        let tile = |shape: TileShape| {
            u32::try_from(shape.bytes())
                .unwrap_or(u32::MAX)
                .checked_shr(u32::from(self.setting.wave).saturating_add(u32::from(self.setting.warps)))
                .unwrap_or(0)
        };
        let (mut lane_bytes, mut cost, mut shared, mut global) = (0u32, 0u32, false, false);
        for end in [movement.from, movement.to] {
            match end {
                MovementEnd::Registers(v) => {
                    let registers = self.plan.fragment_of(v).map_or(0, |(_, f)| u32::from(f.registers()));
                    lane_bytes = registers.saturating_mul(4);
                    cost = cost.saturating_add(registers.saturating_mul(w.register));
                }
                MovementEnd::Shared(k) => {
                    shared = true;
                    if lane_bytes == 0 {
                        lane_bytes = self.plan.allocs.get(usize::from(k)).map_or(0, |a| tile(a.shape));
                    }
                }
                MovementEnd::Global(_) => global = true,
            }
        }
        let warp_bytes = lane_bytes.checked_shl(u32::from(self.setting.wave)).unwrap_or(u32::MAX);
        if shared {
            cost = cost.saturating_add(warp_bytes.checked_div(self.family.bank_span.max(1)).unwrap_or(0).saturating_mul(w.shared_transaction));
        }
        if global {
            cost = cost.saturating_add((warp_bytes / 32).saturating_mul(w.global_segment));
        }
        let count = lane_bytes.checked_div(width.max(1)).unwrap_or(0);
        cost.saturating_add(count.saturating_mul(w.instruction))
    }

    /// Bytes that lie next to each other, aligned, everywhere in a layout: no access can be wider. Copies from global memory
    /// also need the same dimension to be contiguous on both sides.
    fn widest(&self, layout: &SharedLayout, movement: &Movement, element: u32) -> u32 {
        if matches!(movement.from, MovementEnd::Global(_)) && !layout.row_major {
            return element;
        }
        let mut widest = self.family.widest;
        if let Some(swizzle) = layout.post.swizzle() {
            widest = widest.min(1u32.checked_shl(u32::from(swizzle.m)).unwrap_or(u32::MAX));
        }
        for pad in layout.post.padding().map_or(&[] as &[lanebook_layout::Pad], |p| p.pads()) {
            widest = widest.min(power(pad.pad));
        }
        widest.max(element)
    }

    /// A movement through registers: the staged load, then a store of the same width.
    fn evaluate_pair(&self, staged: &Staged, store: &Mover, to: EndMap<'_>, limit: u32) -> Result<Evaluated, Reject> {
        let second = self.setting.evaluate(store, EndMap::Registers(&staged.fragment), to, true, limit)?;
        if staged.found.fit != second.fit {
            return Err(Reject::RegisterOrder);
        }
        let (a, b) = (staged.found.figures, second.figures);
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
            let (layout, _) = self.best_layout(index, op.filter(|_| self.plan.losers.capacity() > 0))?;
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
            let recorded = if self.plan.losers.capacity() > 0 { Some(&mut record) } else { None };
            let best = self.best_mover(k, &movement, map.as_ref().map(|(m, a)| (m, *a)), u32::MAX, recorded)?.ok_or(PlanError::Undecided(movement.op))?;
            for &loser in &record.losers {
                self.plan.lose(loser);
            }
            self.plan.losers_dropped = self.plan.losers_dropped.saturating_add(record.dropped);
            let (from, to) = (self.end(movement.op, movement.from)?, self.end(movement.op, movement.to)?);
            let plan = MovePlan {
                op: movement.op,
                atom: best.atom,
                second: best.second,
                fit: best.found.fit,
                from,
                to,
                figures: best.found.figures,
                bank_status: best.found.bank_status,
            };
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

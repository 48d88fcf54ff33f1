//! The walk: operations in program order to steps.
//!
//! Before a loop everything that does not change inside it is computed; the loop tests at its end and is entered by a
//! jump to that test, so that a loop without iterations is one. A product updates its accumulator in place wherever
//! nothing else wants the old value.

use super::address::{delta, immediate_start, memory_sides};
use super::context::{Context, EmitError};
use super::lookup::Operand;
use super::step::{LoopSpan, Missing, Pattern, Purpose, Slot, StepError, int, slot};
use super::sync::{Open, Touched};
use crate::expr::{Place, Reg, Variable};
use crate::ir::{Loop, Op, Value};
use crate::map::Fragment;
use crate::plan::{End, MovePlan, ProductPlan};
use lanebook_tables::{Atom, ClassId, IndexOp, OpRole, RegisterKind, Role, Space};

/// Deepest nesting of loops.
const MAX_DEPTH: usize = 4;

/// A loop being emitted.
#[derive(Copy, Clone)]
struct OpenLoop {
    parts: Loop,
    counter: Reg,
    body: u16,
    check: u16,
    first_step: u16,
}

impl Context<'_, '_, '_, '_> {
    /// Emits a whole function.
    pub fn function(&mut self, function: Op) -> Result<(), EmitError> {
        let mut open = Open::default();
        let mut loops: heapless::Vec<OpenLoop, MAX_DEPTH> = heapless::Vec::new();
        let mut at = self.program.body(function).and_then(|body| self.program.first(body));
        while let Some(op) = at {
            self.steps.origin = u16::try_from(op.index()).unwrap_or(u16::MAX);
            match self.program.role(op) {
                OpRole::For => {
                    let entered = self.enter_loop(op, &mut open)?;
                    loops.push(entered).map_err(|_| EmitError::Capacity { capacity: MAX_DEPTH as u32 })?;
                    at = self.program.first(entered.parts.body);
                    continue;
                }
                OpRole::Copy | OpRole::Load | OpRole::Store => {
                    let innermost = loops.last().map(|l| l.parts);
                    self.movement(op, innermost.as_ref(), &mut open)?;
                }
                OpRole::Matrix => self.product(op)?,
                OpRole::Transpose | OpRole::Convert => self.rename(op)?,
                OpRole::Constant | OpRole::Alloc | OpRole::Return | OpRole::Index => {}
                OpRole::Yield => {
                    if let Some(l) = loops.last().copied() {
                        self.leave_loop(&l)?;
                        let _ = loops.pop();
                        if !loops.is_empty() {
                            // What was computed inside an outer loop need not have been computed after it.
                            self.selector.forget();
                            self.settled.clear();
                            self.remember_variables();
                        }
                        at = self.program.next(l.parts.op);
                        continue;
                    }
                }
                _ => return Err(EmitError::Unplanned(op)),
            }
            at = self.program.next(op);
        }
        if !loops.is_empty() {
            return Err(EmitError::Unplanned(function));
        }
        self.steps.purpose = Purpose::Control;
        let end = self.machine.isa.end;
        Ok(self.steps.append(end, &[])?)
    }

    fn remember_variables(&mut self) {
        for k in 0..self.indices.len() {
            if let Some(&(_, _, node)) = self.indices.get(k)
                && let Some(crate::expr::Expr::Var(var)) = self.arena.get(node)
                && let Some(Some(reg)) = self.registers.get(var.index())
            {
                self.selector.remember(node, *reg);
            }
        }
    }

    // ---- loops

    fn enter_loop(&mut self, op: Op, open: &mut Open) -> Result<OpenLoop, EmitError> {
        let parts = self.program.counted_loop(op).ok_or(EmitError::Unplanned(op))?;
        // Carried tiles get their registers, and their start, before anything else.
        for k in 0..self.program.carried(op).count() {
            let Some(carried) = self.program.carried(op).nth(k) else { break };
            self.start_carried(op, carried.init, carried.argument)?;
            if let (Some(result), Some(reg)) = (carried.result, self.held_by(carried.argument)) {
                self.hold(result, reg)?;
            }
        }
        // Addresses of everything directly inside.
        for inner in self.program.ops(parts.body) {
            if let Some(plan) = self.plan.move_of(inner).copied() {
                self.prepare(&plan, Some(&parts))?;
            }
        }
        // The counter, the bound and the step.
        self.steps.origin = u16::try_from(op.index()).unwrap_or(u16::MAX);
        self.steps.purpose = Purpose::Control;
        let class = self.counter_class()?;
        let lower = self.index_value(op, parts.lower, None)?;
        let counter = match lower {
            None => self.filled(class, 0)?,
            Some(node) => {
                let start = self.compute(node, self.counter_place())?;
                self.copy(start)?
            }
        };
        if self.program.int(parts.upper).is_none() {
            let upper = self.index_value(op, parts.upper, None)?.ok_or(EmitError::Index(op))?;
            let _ = self.compute(upper, self.counter_place())?;
        }
        let variable = Variable::word().uniform().level(1);
        let node = self.declare(variable, counter)?;
        self.indices.push((parts.induction, super::kernel::ParamKind::Scalar, node)).map_err(|_| EmitError::Capacity { capacity: 64 })?;
        let (body, check) = (self.fresh_label(), self.fresh_label());
        let jump = self.machine.isa.branch;
        self.steps.append(jump, &[Slot::Label(check)])?;
        let first_step = self.steps.here();
        self.steps.label(body)?;
        // What the end of the body leaves open meets its beginning: rehearse until nothing new appears.
        let mut entry = open.clone();
        for _ in 0..4 {
            let mut end = entry.clone();
            for inner in self.program.inside(op) {
                self.meet(inner, &mut end, false)?;
            }
            if !end.exceeds(&entry) {
                break;
            }
            entry.join(&end)?;
        }
        *open = entry;
        Ok(OpenLoop { parts, counter, body, check, first_step })
    }

    fn leave_loop(&mut self, l: &OpenLoop) -> Result<(), EmitError> {
        let op = l.parts.op;
        for k in 0..self.program.carried(op).count() {
            let Some(carried) = self.program.carried(op).nth(k) else { break };
            let (Some(argument), Some(yielded)) = (self.held_by(carried.argument), carried.yielded) else { continue };
            let from = self.held_by(yielded).ok_or(EmitError::Carried(op))?;
            if from != argument {
                self.copy_tile(op, from, argument)?;
            }
        }
        self.steps.purpose = Purpose::FurtherAddress;
        self.advance_all(op)?;
        self.steps.purpose = Purpose::Control;
        let step = self.program.int(l.parts.step).ok_or(EmitError::Index(op))?;
        self.add_in_place(l.counter, Operand::Number(step), IndexOp::Add)?;
        self.steps.label(l.check)?;
        let bound = match self.program.int(l.parts.upper) {
            Some(n) => int(n).ok_or(EmitError::Index(op))?,
            None => {
                let node = self.index_value(op, l.parts.upper, None)?.ok_or(EmitError::Index(op))?;
                slot(self.compute(node, self.counter_place())?)
            }
        };
        let (compare, branch) = (self.machine.isa.compare_less, self.machine.isa.branch_if);
        let predicate = self.predicate(compare)?;
        self.frame_step(compare, predicate, &[slot(l.counter), bound])?;
        self.frame_step(branch, predicate, &[Slot::Label(l.body)])?;
        let last = self.steps.here().saturating_sub(1);
        let capacity = u32::try_from(self.steps.loops.capacity()).unwrap_or(u32::MAX);
        self.steps.loops.push(LoopSpan { first: l.first_step, last }).map_err(|_| StepError::Loops { capacity })?;
        Ok(())
    }

    /// The class of loop counters: scalar where there are scalars.
    fn counter_class(&self) -> Result<ClassId, EmitError> {
        let missing = StepError::NoAtom(Missing::Class);
        let scalar = self.machine.class(RegisterKind::Scalar, 32);
        Ok(scalar.or_else(|| self.machine.class(RegisterKind::Vector, 32)).ok_or(missing)?)
    }

    fn counter_place(&self) -> Place {
        if self.machine.class(RegisterKind::Scalar, 32).is_some() { Place::Scalar } else { Place::Vector }
    }

    /// A predicate register of the compare's own class, or nothing where the predicate is implicit.
    fn predicate(&mut self, compare: lanebook_tables::AtomId) -> Result<Option<Reg>, EmitError> {
        let atom = self.machine.tables.atom(compare).ok_or(StepError::NoAtom(Missing::Frame))?;
        match atom.operands.iter().find(|o| o.role == Role::Def && !o.implicit) {
            Some(o) => Ok(Some(self.steps.tuple(o.class, o.registers)?)),
            None => Ok(None),
        }
    }

    /// A frame atom: predicate where it stands in the text, then the rest in order.
    fn frame_step(&mut self, atom: lanebook_tables::AtomId, predicate: Option<Reg>, rest: &[Slot]) -> Result<(), EmitError> {
        let table = self.machine.tables.atom(atom).ok_or(StepError::NoAtom(Missing::Frame))?;
        let mut args: heapless::Vec<Slot, 6> = heapless::Vec::new();
        let mut left = rest.iter().copied();
        for (k, operand) in table.operands.iter().enumerate() {
            let is_predicate = predicate.is_some_and(|p| p.class == operand.class);
            let arg = if operand.implicit {
                Slot::None
            } else if is_predicate {
                predicate.map_or(Slot::None, slot)
            } else {
                left.next().unwrap_or(Slot::None)
            };
            args.push(arg).map_err(|_| StepError::Operand { atom, operand: u8::try_from(k).unwrap_or(u8::MAX) })?;
        }
        Ok(self.steps.append(atom, &args)?)
    }

    // ---- tiles in registers

    /// A fresh register of a class that holds a number.
    fn filled(&mut self, class: ClassId, value: i64) -> Result<Reg, EmitError> {
        let reg = self.steps.tuple(class, 1)?;
        self.fill(reg, value)?;
        Ok(reg)
    }

    fn fill(&mut self, reg: Reg, value: i64) -> Result<(), EmitError> {
        let missing = StepError::NoAtom(Missing::Fill(reg.class));
        let (atom, by_number) = self.machine.fill(reg.class, value).ok_or(missing)?;
        for k in 0..u16::from(reg.count) {
            let one = Slot::Reg { class: reg.class.0 as u8, count: 1, first: reg.first.wrapping_add(k) };
            if by_number {
                self.steps.append(atom, &[one, int(value).ok_or(missing)?])?;
            } else {
                self.steps.append(atom, &[one])?;
            }
        }
        Ok(())
    }

    fn copy_tile(&mut self, op: Op, from: Reg, to: Reg) -> Result<(), EmitError> {
        if from.count != to.count {
            return Err(EmitError::Carried(op));
        }
        let missing = StepError::NoAtom(Missing::Move(to.class));
        let atom = self.machine.copy_into(to.class, 1, from.class).ok_or(missing)?;
        let one = |reg: Reg, k: u16| Slot::Reg { class: reg.class.0 as u8, count: 1, first: reg.first.wrapping_add(k) };
        self.steps.purpose = Purpose::Fill;
        for k in 0..u16::from(to.count) {
            self.steps.append(atom, &[one(to, k), one(from, k)])?;
        }
        Ok(())
    }

    /// Registers for the tile that a loop carries, holding its start.
    fn start_carried(&mut self, op: Op, init: Value, argument: Value) -> Result<(), EmitError> {
        let Some((_, fragment)) = self.plan.fragment_of(argument) else { return Ok(()) };
        let class = self.tile_class(argument)?;
        let reg = self.tile(op, class, fragment)?;
        self.hold(argument, reg)?;
        self.steps.purpose = Purpose::Fill;
        if let Some(literal) = self.program.constant(init) {
            let bits = constant_bits(literal).ok_or(EmitError::Constant(op))?;
            return self.fill(reg, bits);
        }
        let from = self.held_by(init).ok_or(EmitError::Carried(op))?;
        self.copy_tile(op, from, reg)
    }

    fn tile(&mut self, op: Op, class: ClassId, fragment: &Fragment) -> Result<Reg, EmitError> {
        let count = u8::try_from(fragment.registers()).map_err(|_| EmitError::Unplanned(op))?;
        Ok(self.steps.tuple(class, count)?)
    }

    /// The register class of a tile: what its matrix instruction, its load or its store says.
    fn tile_class(&self, value: Value) -> Result<ClassId, EmitError> {
        let tables = self.machine.tables;
        let operand_class = |atom: lanebook_tables::AtomId, k: u8| tables.atom(atom).and_then(|a| a.operands.get(usize::from(k))).map(|o| o.class);
        for p in self.plan.products.iter() {
            let s = p.product.shape;
            for (&index, number) in p.fragments.iter().zip([s.a, s.b, s.c, s.d]) {
                if self.plan.fragments.get(usize::from(index)).is_some_and(|f| f.value == value)
                    && let Some(class) = operand_class(p.product.atom, number)
                {
                    return Ok(class);
                }
            }
        }
        for m in self.plan.moves.iter() {
            for end in [m.from, m.to] {
                if let End::Registers(k) = end
                    && self.plan.fragments.get(usize::from(k)).is_some_and(|f| f.value == value)
                    && let Some(class) = register_class(tables.atom(m.atom))
                {
                    return Ok(class);
                }
            }
        }
        Ok(self.machine.class(RegisterKind::Vector, 32).ok_or(StepError::NoAtom(Missing::Class))?)
    }

    /// An operation that changes nothing in the registers.
    fn rename(&mut self, op: Op) -> Result<(), EmitError> {
        let (from, to) = (self.program.operand(op, 0), self.program.result(op, 0));
        let (Some(from), Some(to)) = (from, to) else { return Err(EmitError::Unplanned(op)) };
        let reg = self.tile_of(op, from)?;
        self.hold(to, reg)
    }

    /// Registers of a tile that is read; a constant gets its own.
    fn tile_of(&mut self, op: Op, value: Value) -> Result<Reg, EmitError> {
        if let Some(reg) = self.held_by(value) {
            return Ok(reg);
        }
        let literal = self.program.constant(value).ok_or(EmitError::Unplanned(op))?;
        let (_, fragment) = self.plan.fragment_of(value).ok_or(EmitError::Unplanned(op))?;
        let bits = constant_bits(literal).ok_or(EmitError::Constant(op))?;
        let class = self.tile_class(value)?;
        let reg = self.tile(op, class, fragment)?;
        self.steps.purpose = Purpose::Fill;
        self.fill(reg, bits)?;
        self.hold(value, reg)?;
        Ok(reg)
    }

    // ---- products

    fn product(&mut self, op: Op) -> Result<(), EmitError> {
        let plan: ProductPlan = *self.plan.product_of(op).ok_or(EmitError::Unplanned(op))?;
        let atom = self.machine.tables.atom(plan.product.atom).ok_or(EmitError::Unplanned(op))?;
        let value = |k: usize| self.program.operand(op, k).ok_or(EmitError::Unplanned(op));
        let (a, b, c) = (value(0)?, value(1)?, value(2)?);
        let d = self.program.result(op, 0).ok_or(EmitError::Unplanned(op))?;
        let (ra, rb, rc) = (self.tile_of(op, a)?, self.tile_of(op, b)?, self.tile_of(op, c)?);
        // In place, if nobody else reads the old accumulator.
        let alone = self.program.uses(c).count() == 1;
        let rd = if alone { rc } else { self.steps.tuple(rc.class, rc.count)? };
        self.hold(d, rd)?;
        self.steps.purpose = Purpose::Matrix;
        let (rm, rn, rk) = plan.product.repeats;
        let registers = |k: u8| atom.operands.get(usize::from(k)).map_or(1, |o| u16::from(o.registers));
        let s = plan.product.shape;
        let (na, nb, nc) = (registers(s.a), registers(s.b), registers(s.c));
        let part = |reg: Reg, index: u16, count: u16| Slot::Reg {
            class: reg.class.0 as u8,
            count: u8::try_from(count).unwrap_or(u8::MAX),
            first: reg.first.wrapping_add(index.wrapping_mul(count)),
        };
        let range = |bits: u8| 0..1u16.checked_shl(u32::from(bits)).unwrap_or(0);
        let shift = |v: u16, by: u8| v.checked_shl(u32::from(by)).unwrap_or(0);
        for k in range(rk) {
            for m in range(rm) {
                for n in range(rn) {
                    let (ia, ib, ic) = (shift(m, rk) | k, shift(n, rk) | k, shift(m, rn) | n);
                    let from = if k == 0 { rc } else { rd };
                    let mut args = [Slot::None; super::step::MAX_ARGS];
                    let set = [(s.a, part(ra, ia, na)), (s.b, part(rb, ib, nb)), (s.c, part(from, ic, nc)), (s.d, part(rd, ic, nc))];
                    for (number, arg) in set {
                        if let Some(place) = args.get_mut(usize::from(number)) {
                            *place = arg;
                        }
                    }
                    let used = args.get(..atom.operands.len().min(args.len())).unwrap_or(&[]);
                    self.steps.append(plan.product.atom, used)?;
                }
            }
        }
        Ok(())
    }

    // ---- movements

    /// The shared tiles that an operation touches, as its atoms touch them.
    fn touched(&self, op: Op) -> heapless::Vec<Touched, 4> {
        let mut out = heapless::Vec::new();
        let Some(plan) = self.plan.move_of(op) else { return out };
        for atom in [Some(plan.atom), plan.second].into_iter().flatten() {
            let Some(movement) = self.machine.tables.atom(atom).and_then(|a| a.movement.as_ref()) else { continue };
            for (side, end, writes) in [(&movement.from, plan.from, false), (&movement.to, plan.to, true)] {
                if let (Space::Shared, End::Shared(alloc)) = (side.space, end)
                    && let Some(tile) = self.plan.allocs.get(usize::from(alloc))
                {
                    let _ = out.push(Touched { from: tile.offset, to: tile.offset.saturating_add(tile.bytes), kind: side.access, writes });
                }
            }
        }
        out
    }

    fn meet(&mut self, op: Op, open: &mut Open, emit: bool) -> Result<(), EmitError> {
        let touched = self.touched(op);
        if touched.is_empty() {
            return Ok(());
        }
        self.steps.purpose = Purpose::Sync;
        let (tables, arch) = (self.machine.tables, self.machine.arch);
        let steps = if emit { Some(&mut self.steps) } else { None };
        Ok(open.meet(tables, arch, touched.as_slice(), steps)?)
    }

    fn movement(&mut self, op: Op, innermost: Option<&Loop>, open: &mut Open) -> Result<(), EmitError> {
        let plan: MovePlan = *self.plan.move_of(op).ok_or(EmitError::Unplanned(op))?;
        self.prepare(&plan, innermost)?;
        self.steps.origin = u16::try_from(op.index()).unwrap_or(u16::MAX);
        // The tile's registers.
        let tile = match (plan.from, plan.to) {
            (End::Registers(k), _) => {
                let value = self.plan.fragments.get(usize::from(k)).ok_or(EmitError::Unplanned(op))?.value;
                Some(self.tile_of(op, value)?)
            }
            (_, End::Registers(k)) => {
                let f = *self.plan.fragments.get(usize::from(k)).ok_or(EmitError::Unplanned(op))?;
                let class = register_class(self.machine.tables.atom(plan.atom)).ok_or(EmitError::Unplanned(op))?;
                let reg = self.tile(op, class, &f.fragment)?;
                self.hold(f.value, reg)?;
                Some(reg)
            }
            _ => None,
        };
        self.meet(op, open, true)?;
        let first = self.machine.tables.atom(plan.atom).ok_or(EmitError::Unplanned(op))?;
        let second = match plan.second {
            Some(id) => Some((id, self.machine.tables.atom(id).ok_or(EmitError::Unplanned(op))?)),
            None => None,
        };
        match second {
            None => {
                for i in 0..plan.fit.count() {
                    let data = tile.map(|reg| self.tile_part(&plan, reg, i)).transpose()?;
                    self.instance(&plan, plan.atom, first, i, data)?;
                }
            }
            Some((id, second)) => {
                // Through registers: all loads first, so that they overlap, as many at a time as the tile has instances.
                let class = register_class(Some(first)).ok_or(EmitError::Unplanned(op))?;
                let count = data_operand(first).map_or(1, |o| o.registers);
                let mut stage: heapless::Vec<Reg, 64> = heapless::Vec::new();
                let mut done = 0u32;
                while done < plan.fit.count() {
                    stage.clear();
                    let batch = (plan.fit.count().saturating_sub(done)).min(16);
                    for k in 0..batch {
                        let reg = self.steps.tuple(class, count)?;
                        stage.push(reg).map_err(|_| EmitError::Capacity { capacity: 64 })?;
                        self.instance(&plan, plan.atom, first, done.saturating_add(k), Some(slot(reg)))?;
                    }
                    for (k, reg) in (0u32..).zip(&stage) {
                        self.instance(&plan, id, second, done.saturating_add(k), Some(slot(*reg)))?;
                    }
                    done = done.saturating_add(batch);
                }
            }
        }
        Ok(())
    }

    /// The registers of one instance of a tile.
    fn tile_part(&mut self, plan: &MovePlan, tile: Reg, instance: u32) -> Result<Slot, EmitError> {
        let mut first = tile.first;
        for (bit, &place) in plan.fit.instance_registers.as_slice().iter().enumerate() {
            if (instance >> bit) & 1 == 1 {
                first = first.wrapping_add(1u16.checked_shl(u32::from(place)).unwrap_or(0));
            }
        }
        let bits = plan.fit.tuple.len();
        let count = 1u8.checked_shl(bits as u32).unwrap_or(1);
        let mut pattern: Pattern = [0; 5];
        for (weight, &place) in pattern.iter_mut().zip(plan.fit.tuple.as_slice()) {
            *weight = 1u8.checked_shl(u32::from(place)).unwrap_or(0);
        }
        let class = tile.class.0 as u8;
        Ok(match self.steps.pattern(pattern, bits)? {
            None => Slot::Reg { class, count, first },
            Some(pattern) => Slot::Spread { class, count, first, pattern },
        })
    }

    /// One instruction of a movement.
    fn instance(&mut self, plan: &MovePlan, id: lanebook_tables::AtomId, atom: &Atom<'_>, instance: u32, data: Option<Slot>) -> Result<(), EmitError> {
        let movement = atom.movement.as_ref().ok_or(EmitError::Unplanned(plan.op))?;
        let mut args = [Slot::None; super::step::MAX_ARGS];
        let mut set = |number: u8, arg: Slot| {
            if let Some(place) = args.get_mut(usize::from(number)) {
                *place = arg;
            }
        };
        for (k, operand) in atom.operands.iter().enumerate() {
            if operand.role == Role::Immediate {
                let value = 0i64.clamp(operand.range.0, operand.range.1.max(operand.range.0));
                set(u8::try_from(k).unwrap_or(u8::MAX), int(value).unwrap_or(Slot::Int(0)));
            }
        }
        for side in [&movement.from, &movement.to] {
            if side.space == Space::Register {
                set(side.operand, data.ok_or(EmitError::Unplanned(plan.op))?);
            }
        }
        let mut special: Option<(Reg, u32, ClassId)> = None;
        for view in &memory_sides(atom, plan.from, plan.to) {
            let e = plan.fit.instances.at(instance);
            let (map, start) = match view.end {
                End::Shared(k) => {
                    let alloc = self.plan.allocs.get(usize::from(k)).ok_or(EmitError::Unplanned(plan.op))?;
                    (alloc.layout.map(alloc.shape).ok_or(EmitError::Unplanned(plan.op))?, immediate_start(alloc.offset, alloc.bytes, view.offset))
                }
                End::Global(k) => (self.plan.globals.get(usize::from(k)).ok_or(EmitError::Unplanned(plan.op))?.map, 0),
                End::Registers(_) => continue,
            };
            let operand = atom.operands.get(usize::from(view.side.operand)).ok_or(EmitError::Unplanned(plan.op))?;
            if operand.implicit {
                // A wave-uniform start in a special register, written before each instance.
                let base = self.address(plan.op, view.number, true, 0, 0).ok_or(EmitError::Unplanned(plan.op))?;
                special = Some((base, map.at(e).bytes, operand.class));
                // The text does not show it, but hazards do.
                let reg = self.special(operand.class)?;
                set(view.side.operand, slot(reg));
                continue;
            }
            let d = delta(&map, &plan.fit, e, start, view.offset);
            let address = self.address(plan.op, view.number, false, d.phase, d.lead).ok_or(EmitError::Unplanned(plan.op))?;
            set(view.side.operand, slot(address));
            if let Some(base) = view.side.base {
                let reg = self.address(plan.op, view.number, true, 0, 0).ok_or(EmitError::Unplanned(plan.op))?;
                set(base, slot(reg));
            }
            if let Some(field) = view.offset {
                set(field.operand, Slot::Int(d.immediate));
            }
        }
        if let Some((base, bytes, class)) = special {
            self.steps.purpose = if instance == 0 { Purpose::FirstAddress } else { Purpose::FurtherAddress };
            self.write_special(base, bytes, class)?;
        }
        self.steps.purpose = Purpose::Move;
        let used = args.get(..atom.operands.len().min(args.len())).unwrap_or(&[]);
        Ok(self.steps.append(id, used)?)
    }

    /// The one register of a special class.
    fn special(&mut self, class: ClassId) -> Result<Reg, EmitError> {
        let known = self.steps.registers.iter().find(|v| v.pinned && u16::from(v.class) == class.0);
        match known {
            Some(v) => Ok(Reg { class, first: v.first, count: v.count }),
            None => Ok(self.steps.pinned(class, 0, 1)?),
        }
    }

    /// Writes `base + bytes` into a special register.
    fn write_special(&mut self, base: Reg, bytes: u32, class: ClassId) -> Result<(), EmitError> {
        let missing = StepError::NoAtom(Missing::Special(class));
        let into = slot(self.special(class)?);
        if bytes != 0 {
            // A sum that the special register can take directly, or a sum and a move.
            let direct = self
                .machine
                .binary(IndexOp::Add, base.class, 1, Operand::Number(i64::from(bytes)))
                .filter(|&id| self.machine.tables.atom(id).and_then(|a| a.operands.first()).is_some_and(|o| o.class == class || o.also.contains(&class)));
            if let Some(id) = direct {
                return Ok(self.steps.append(id, &[into, slot(base), int(i64::from(bytes)).ok_or(missing)?])?);
            }
            let sum = self.machine.binary(IndexOp::Add, base.class, 1, Operand::Number(i64::from(bytes))).ok_or(missing)?;
            let fresh = self.steps.tuple(base.class, 1)?;
            self.steps.append(sum, &[slot(fresh), slot(base), int(i64::from(bytes)).ok_or(missing)?])?;
            let copy = self.machine.copy_into(class, 1, base.class).ok_or(missing)?;
            return Ok(self.steps.append(copy, &[into, slot(fresh)])?);
        }
        let copy = self.machine.copy_into(class, 1, base.class).ok_or(missing)?;
        Ok(self.steps.append(copy, &[into, slot(base)])?)
    }
}

fn data_operand<'a>(atom: &'a Atom<'a>) -> Option<&'a lanebook_tables::Operand<'a>> {
    let m = atom.movement.as_ref()?;
    let side = [&m.from, &m.to].into_iter().find(|s| s.space == Space::Register)?;
    atom.operands.get(usize::from(side.operand))
}

fn register_class(atom: Option<&Atom<'_>>) -> Option<ClassId> {
    data_operand(atom?).map(|o| o.class)
}

/// The bits of a constant that every element type writes alike: zero.
fn constant_bits(literal: crate::ir::Literal) -> Option<i64> {
    match literal.to_f64() {
        Some(0.0) => Some(0),
        _ => None,
    }
}

//! Loops: entered by a jump to the test at their end, addresses advanced before it.

use super::context::{Context, EmitError, Index, full};
use super::lookup::Operand;
use super::step::{LoopSpan, Missing, Purpose, Slot, StepError, int, slot};
use super::sync::Open;
use crate::expr::{Place, Reg, Variable};
use crate::ir::{Loop, Op};
use lanebook_tables::{ClassId, IndexOp, OpRole, RegisterKind, Role};

/// A loop being emitted.
#[derive(Copy, Clone)]
pub(super) struct OpenLoop {
    pub(super) parts: Loop,
    pub(super) counter: Reg,
    pub(super) body: u16,
    pub(super) check: u16,
    pub(super) first_step: u16,
}

impl Context<'_, '_, '_, '_> {
    #[inline(never)]
    pub(super) fn enter_loop(&mut self, op: Op, open: &mut Open) -> Result<OpenLoop, EmitError> {
        let parts = self.program.counted_loop(op).ok_or(EmitError::Unplanned(op))?;
        self.wait_for_open(open)?;
        // Carried tiles get their registers, and their start, before anything else.
        for k in 0..self.program.carried(op).count() {
            let Some(carried) = self.program.carried(op).nth(k) else { break };
            self.start_carried(op, carried.init, carried.argument)?;
            if let (Some(result), Some(reg)) = (carried.result, self.held_by(carried.argument)) {
                self.hold(result, reg)?;
            }
        }
        self.store_carried(op, open)?;
        self.prepare_inside(&parts)?;
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
        let index = Index { value: parts.induction, kind: super::kernel::ParamKind::Scalar, node };
        self.indices.push(index).map_err(|_| full(self.indices))?;
        let (body, check) = (self.fresh_label(), self.fresh_label());
        let jump = self.machine.isa.branch;
        self.steps.append(jump, &[Slot::Label(check)])?;
        let first_step = self.steps.here();
        self.steps.label(body)?;
        self.rehearse(op, open)?;
        Ok(OpenLoop { parts, counter, body, check, first_step })
    }

    /// Addresses of everything directly inside a loop. A frame of its own, as the rehearsal has: what they keep on the stack is never there at
    /// once.
    #[inline(never)]
    fn prepare_inside(&mut self, parts: &Loop) -> Result<(), EmitError> {
        let whole = self.plan;
        for inner in self.program.ops(parts.body) {
            if let Some(plan) = whole.move_of(inner) {
                self.prepare(plan, Some(parts))?;
            }
            if let Some(plan) = whole.product_of(inner) {
                self.prepare_product(plan)?;
            }
            match self.program.role(inner) {
                OpRole::Reduce => self.prepare_reduce(inner)?,
                OpRole::Convert => {
                    self.prepare_exchange(inner)?;
                    self.prepare_lanes(inner)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// What the end of a loop's body leaves open meets its beginning: rehearse until nothing new appears.
    #[inline(never)]
    fn rehearse(&mut self, op: Op, open: &mut Open) -> Result<(), EmitError> {
        for _ in 0..4 {
            let mut end = open.clone();
            for inner in self.program.inside(op) {
                self.rehearse_store(op, inner, &mut end)?;
                self.meet(inner, &mut end, false)?;
                self.rehearse_exchange(inner, &mut end)?;
                self.rehearse_fetch(op, inner, &mut end)?;
            }
            let _ = end.take_waits();
            if !end.exceeds(open) {
                break;
            }
            open.join(&end)?;
        }
        Ok(())
    }

    #[inline(never)]
    pub(super) fn leave_loop(&mut self, l: &OpenLoop, open: &mut Open) -> Result<(), EmitError> {
        let op = l.parts.op;
        self.wait_for_open(open)?;
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
    pub(super) fn predicate(&mut self, compare: lanebook_tables::AtomId) -> Result<Option<Reg>, EmitError> {
        let atom = self.machine.tables.atom(compare).ok_or(StepError::NoAtom(Missing::Frame))?;
        match atom.operands.iter().find(|o| o.role == Role::Def && !o.implicit) {
            Some(o) => Ok(Some(self.steps.tuple(o.class, o.registers)?)),
            None => Ok(None),
        }
    }

    /// A frame atom: predicate where it stands in the text, then the rest in order.
    pub(super) fn frame_step(&mut self, atom: lanebook_tables::AtomId, predicate: Option<Reg>, rest: &[Slot]) -> Result<(), EmitError> {
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
}

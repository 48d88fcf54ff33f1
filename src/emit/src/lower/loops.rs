//! Loops: entered by a jump to the test at their end, addresses advanced before it.

use crate::expr::{ExprId, Reg, Variable};
use crate::lower::context::{EmitError, Index, LowerContext, full};
use crate::lower::interface::ParamKind;
use crate::lower::stages::StagedLoop;
use crate::lower::target::SecondOperand;
use crate::pool::EmitPool;
use crate::registers::parallel_copy::Parallel;
use crate::step::{InstError, InstKind, LoopSpan, Missing, Slot, int, slot};
use crate::sync::order::PendingAccesses;
use lanebook_ir::{Loop, Op, Value};
use lanebook_tables::{AtomId, ClassId, IndexOp, OpRole, RegisterKind, Role};

/// A loop's counter, and where its steps begin and end.
#[derive(Copy, Clone)]
pub(crate) struct LoopFrame {
    pub(crate) parts: Loop,
    pub(crate) counter: Reg,
    /// Its value among index expressions.
    node: ExprId,
    body: u16,
    check: u16,
    first_step: u16,
    /// The first register that is made inside.
    pub(crate) mark: u16,
}

/// A loop being emitted.
#[derive(Copy, Clone)]
pub(crate) struct OpenLoop {
    pub(crate) frame: LoopFrame,
    /// The first register that is made inside of the loop around.
    mark_around: u16,
    /// What it keeps of its stages.
    staged: Option<StagedLoop>,
}

/// Deepest nesting of loops.
pub(crate) const MAX_DEPTH: usize = 4;

/// Loops that are open, the outermost first.
pub(crate) type OpenLoops = heapless::Vec<OpenLoop, MAX_DEPTH>;

impl LowerContext<'_, '_, '_, '_> {
    /// Opens a loop, up to its label; what is open in its body is [`LowerContext::settle_loop`]'s.
    #[inline(never)] // What it keeps on the stack is gone when the body's accesses are rehearsed.
    pub(crate) fn enter_loop(
        &mut self,
        op: Op,
        loops: &mut OpenLoops,
        open: &mut PendingAccesses,
    ) -> Result<(), EmitError> {
        let parts = self.program.counted_loop(op).ok_or(EmitError::Unplanned(op))?;
        self.wait_for_open(open)?;
        self.enter_stages(op, open, true)?;
        // Carried tiles get their registers, and their start, before anything else.
        for k in 0..self.program.carried(op).count() {
            let Some(carried) = self.program.carried(op).nth(k) else { break };
            self.start_carried(op, carried.init, carried.argument)?;
            if let (Some(result), Some(reg)) = (carried.result, self.held_by(carried.argument)) {
                self.hold(result, reg)?;
            }
        }
        self.store_carried(op, open)?;
        self.hoist_indices(op)?;
        let staged = self.begin_stages(&parts)?;
        self.prepare_inside(&parts, staged.as_ref())?;
        let ahead = self.ahead(&parts)?;
        let frame = self.begin_turns(parts, ahead)?;
        let opened = OpenLoop { frame, mark_around: self.made_inside, staged };
        loops.push(opened).map_err(|_| full(EmitPool::Nesting, loops))
    }

    /// The counter, `ahead` below where the loop says, the bound and the step; then the jump to the
    /// test, and the body's label.
    #[inline(never)] // What it keeps on the stack is gone when the body's steps are made.
    pub(crate) fn begin_turns(&mut self, parts: Loop, ahead: u32) -> Result<LoopFrame, EmitError> {
        let op = parts.op;
        self.steps.origin = u16::try_from(op.index()).unwrap_or(u16::MAX);
        self.steps.purpose = InstKind::Control;
        let class = self.counter_class()?;
        let lower = match self.index_value(op, parts.lower, None)? {
            Some(lower) if ahead > 0 => {
                Some(self.arena.op_const(IndexOp::Sub, lower, ahead.into())?)
            }
            lower => lower,
        };
        let counter = match lower {
            None => self.filled(class, i64::from(ahead).saturating_neg())?,
            Some(node) => {
                let start = self.compute(node, self.uniform_bank())?;
                self.copy(start)?
            }
        };
        self.bounds_inside(&parts)?;
        let node = self.declare(Variable::word().uniform().level(1), counter)?;
        let index = Index { value: parts.induction, kind: ParamKind::Scalar, node };
        self.indices.push(index).map_err(|_| full(EmitPool::Indices, self.indices))?;
        let (body, check) = (self.fresh_label(), self.fresh_label());
        self.steps.append(self.machine.isa.branch, &[Slot::Label(check)])?;
        let first_step = self.steps.here();
        self.steps.label(body)?;
        let mark = self.steps.next_register();
        Ok(LoopFrame { parts, counter, node, body, check, first_step, mark })
    }

    /// Right behind: what the end of the loop's body leaves open is open where it begins.
    #[inline(never)] // Its own lists are on the stack only meanwhile.
    pub(crate) fn settle_loop(
        &mut self,
        op: Op,
        open: &mut PendingAccesses,
    ) -> Result<(), EmitError> {
        if self.may_pass(op) {
            open.enter(self.depth(op));
        }
        self.fixpoint(op, open)
    }

    /// What a body begins with once its loop is open.
    #[inline]
    pub(crate) fn begin_body(
        &mut self,
        open_loop: &mut OpenLoop,
        open: &mut PendingAccesses,
    ) -> Result<(), EmitError> {
        let OpenLoop { frame, staged, .. } = open_loop;
        if let Some(staged) = staged {
            self.stage_head((&frame.parts, frame.counter, frame.node), staged, open)?;
        }
        self.made_inside = frame.mark;
        Ok(())
    }

    /// Addresses of everything directly inside a loop. A frame of its own, as the rehearsal has:
    /// what they keep on the stack is never there at once.
    #[inline(never)]
    fn prepare_inside(
        &mut self,
        parts: &Loop,
        staged: Option<&StagedLoop>,
    ) -> Result<(), EmitError> {
        let whole = self.plan;
        let apart = self.is_apart(parts.op);
        for inner in self.program.ops(parts.body) {
            // Other warps start it.
            if apart && whole.runs_ahead(inner) {
                continue;
            }
            if let Some(plan) = whole.move_of(inner).filter(|plan| self.is_even(plan, parts)) {
                self.prepare(plan, Some(parts))?;
                if let Some(staged) = staged {
                    self.advance_buffers(plan, parts, staged)?;
                }
            }
            if let (Some(plan), Some(staged)) = (whole.move_of(inner), staged)
                && whole.runs_ahead(inner)
                && !self.is_even(plan, parts)
            {
                self.prepare_part(plan, true)?;
                self.advance_buffers(plan, parts, staged)?;
            }
            if let Some(plan) = whole.product_of(inner) {
                self.prepare_product(plan)?;
                if let Some(staged) = staged {
                    self.advance_operands(plan, parts, staged)?;
                }
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

    /// What the end of a loop's body leaves open meets its beginning: rehearse until nothing new
    /// appears.
    #[inline(never)]
    fn fixpoint(&mut self, op: Op, open: &mut PendingAccesses) -> Result<(), EmitError> {
        // Each round opens more, or is the last: there are only so many accesses.
        loop {
            let mut end = open.clone();
            for inner in self.program.inside(op) {
                self.order_turn(inner, op, &mut end)?;
                self.order_tensor_store(op, inner, &mut end)?;
                self.meet(inner, &mut end, false)?;
                self.order_exchange(inner, &mut end)?;
                self.order_fetch(op, inner, &mut end)?;
                self.order_loop_end(inner, op, &mut end)?;
            }
            let _ = end.take_waits()?;
            if !end.is_superset(open) {
                return Ok(());
            }
            open.join(&end)?;
        }
    }

    /// In a rehearsal of `around`, where a loop inside it begins and ends.
    fn order_turn(
        &mut self,
        op: Op,
        around: Op,
        open: &mut PendingAccesses,
    ) -> Result<(), EmitError> {
        let inner = match self.program.role(op) {
            // Turned one by one, without a loop.
            OpRole::For | OpRole::Yield if self.is_in_nest(op) => return Ok(()),
            OpRole::For => op,
            OpRole::Yield => match self.program.parent(op).filter(|parent| *parent != around) {
                Some(parent) => parent,
                None => return Ok(()),
            },
            _ => return Ok(()),
        };
        let _ = open.take_waits()?;
        if inner == op {
            self.enter_stages(inner, open, false)?;
        }
        if self.may_pass(inner) {
            let depth = self.depth(inner);
            if inner == op { open.enter(depth) } else { open.leave(depth) }
        }
        if inner != op {
            self.leave_stages(inner, open)?;
        }
        Ok(())
    }

    /// In a rehearsal of `around`, where loops inside it end that have nothing to pass on.
    fn order_loop_end(
        &self,
        op: Op,
        around: Op,
        open: &mut PendingAccesses,
    ) -> Result<(), EmitError> {
        let program = self.program;
        if matches!(program.role(op), OpRole::For | OpRole::Yield) || self.is_in_nest(op) {
            return Ok(());
        }
        let mut at = op;
        while program.next(at).is_none()
            && let Some(parent) = program.parent(at).filter(|parent| *parent != around)
        {
            if self.may_pass(parent) {
                open.leave(self.depth(parent));
            }
            self.leave_stages(parent, open)?;
            at = parent;
        }
        Ok(())
    }

    #[inline(never)]
    pub(crate) fn leave_loop(
        &mut self,
        l: &OpenLoop,
        open: &mut PendingAccesses,
    ) -> Result<(), EmitError> {
        let frame = &l.frame;
        let op = frame.parts.op;
        self.wait_for_open(open)?;
        self.hand_on(op)?;
        let mut staged = l.staged;
        if let Some(staged) = &mut staged {
            self.steps.purpose = InstKind::FurtherAddress;
            self.advance_all(op, true)?;
            self.stage_tail((&frame.parts, frame.counter), staged)?;
        }
        self.steps.purpose = InstKind::FurtherAddress;
        self.advance_all(op, false)?;
        if let Some(staged) = &staged {
            self.stage_steps(staged)?;
        }
        self.end_turns(frame)?;
        if self.may_pass(op) {
            open.leave(self.depth(op));
        }
        self.leave_stages(op, open)?;
        if staged.is_some() {
            let _ = self.read_buffers.pop();
        }
        self.forget_since(frame.mark);
        self.made_inside = l.mark_around;
        Ok(())
    }

    /// Registers for the bound and the step, where they are no numbers, before the loop.
    fn bounds_inside(&mut self, parts: &Loop) -> Result<(), EmitError> {
        let op = parts.op;
        if self.program.int(parts.upper).is_none() {
            let _ = self.bound_of(op, parts.upper)?;
        }
        if self.program.int(parts.step).is_none() {
            let step = self.index_value(op, parts.step, None)?.ok_or(EmitError::Index(op))?;
            let _ = self.compute(step, self.uniform_bank())?;
        }
        Ok(())
    }

    /// At a loop's end: the next number, the test, and the branch back to the body.
    #[inline(never)] // What it keeps on the stack is gone when the loop's tiles are brought on.
    pub(crate) fn end_turns(&mut self, frame: &LoopFrame) -> Result<(), EmitError> {
        let &LoopFrame { parts, counter, body, check, first_step: first, .. } = frame;
        let op = parts.op;
        self.steps.origin = u16::try_from(op.index()).unwrap_or(u16::MAX);
        self.steps.purpose = InstKind::Control;
        let step = match self.program.int(parts.step) {
            Some(step) => SecondOperand::Number(step),
            None => {
                let node = self.index_value(op, parts.step, None)?.ok_or(EmitError::Index(op))?;
                SecondOperand::Reg(self.compute(node, self.uniform_bank())?)
            }
        };
        self.add_in_place(counter, step, IndexOp::Add)?;
        self.steps.label(check)?;
        let bound = match self.program.int(parts.upper) {
            Some(n) => int(n).ok_or(EmitError::Index(op))?,
            None => slot(self.bound_of(op, parts.upper)?),
        };
        let (compare, branch) = (self.compare_of(&parts)?, self.machine.isa.branch_if);
        let predicate = self.predicate(compare)?;
        self.frame_step(compare, predicate, &[slot(counter), bound])?;
        self.frame_step(branch, predicate, &[Slot::Label(body)])?;
        let last = self.steps.here().saturating_sub(1);
        let capacity = u32::try_from(self.steps.loops.capacity()).unwrap_or(u32::MAX);
        Ok(self
            .steps
            .loops
            .push(LoopSpan { first, last })
            .map_err(|_| InstError::Loops { capacity })?)
    }

    /// A register with a bound that is computed, 0 among what it may be.
    fn bound_of(&mut self, op: Op, value: Value) -> Result<Reg, EmitError> {
        let node = match self.index_value(op, value, None)? {
            Some(node) => node,
            None => self.arena.constant(0)?,
        };
        self.compute(node, self.uniform_bank())
    }

    /// What a turn yields becomes what the next one is given, all of it at once. A frame of its
    /// own: the list of copies lies under nothing else.
    #[inline(never)]
    fn hand_on(&mut self, op: Op) -> Result<(), EmitError> {
        let mut copies: Parallel<Reg> = Parallel::new();
        for k in 0..self.program.carried(op).count() {
            let Some((argument, yielded)) =
                self.handed(op, k).filter(|(_, yielded)| self.program.constant(*yielded).is_none())
            else {
                continue;
            };
            let from = self.tile_of(op, yielded)?;
            if !copies.add(argument, from) {
                return Err(EmitError::full(
                    EmitPool::Tiles,
                    u32::try_from(Parallel::<Reg>::capacity()).unwrap_or(u32::MAX),
                ));
            }
        }
        while let Some((to, from)) = copies.next() {
            self.copy_tile(op, from, to)?;
        }
        while let Some(place) = copies.cycle() {
            self.rotate(op, &copies, place)?;
            copies.close(place);
        }
        // Numbers read nothing: they come last.
        for k in 0..self.program.carried(op).count() {
            let Some((argument, yielded)) =
                self.handed(op, k).filter(|(_, yielded)| self.program.constant(*yielded).is_some())
            else {
                continue;
            };
            self.fill_constant(op, argument, yielded)?;
        }
        Ok(())
    }

    /// The registers of a loop's argument, and what a turn yields for them.
    fn handed(&self, op: Op, number: usize) -> Option<(Reg, Value)> {
        let carried = self.program.carried(op).nth(number)?;
        Some((self.held_by(carried.argument)?, carried.yielded?))
    }

    /// Each place of a cycle gets what the next one has, register by register: a temporary of one
    /// is enough.
    fn rotate(&mut self, op: Op, copies: &Parallel<Reg>, first: Reg) -> Result<(), EmitError> {
        for k in 0..first.count {
            let saved = self.steps.tuple(first.class, 1)?;
            self.copy_tile(op, first.member(k), saved)?;
            let mut at = first;
            loop {
                let from = copies
                    .source(at)
                    .filter(|from| from.count == first.count)
                    .ok_or(EmitError::Carried(op))?;
                let is_last = from == first;
                self.copy_tile(op, if is_last { saved } else { from.member(k) }, at.member(k))?;
                if is_last {
                    break;
                }
                at = from;
            }
        }
        Ok(())
    }

    /// The class of loop counters: scalar where there are scalars.
    pub(crate) fn counter_class(&self) -> Result<ClassId, EmitError> {
        let missing = InstError::NoAtom(Missing::Class);
        let scalar = self.machine.class(RegisterKind::Scalar, 32);
        Ok(scalar.or_else(|| self.machine.class(RegisterKind::Vector, 32)).ok_or(missing)?)
    }

    /// What compares a loop's counter with its bound: with signs, where one of them may be below
    /// zero, as the counter is before the first turn of a loop of stages.
    pub(crate) fn compare_of(&self, parts: &Loop) -> Result<AtomId, EmitError> {
        let isa = self.machine.isa;
        let plain = |value| self.program.index_facts(value).is_plain();
        let below = self.plan.stages(self.program, parts.op) > 1 && !self.is_apart(parts.op);
        if plain(parts.lower) && plain(parts.upper) && !below {
            return Ok(isa.compare_less);
        }
        Ok(isa.compare_signed.ok_or(InstError::NoAtom(Missing::Frame))?)
    }

    /// A predicate register of the compare's own class, or nothing where the predicate is implicit.
    pub(crate) fn predicate(
        &mut self,
        compare: lanebook_tables::AtomId,
    ) -> Result<Option<Reg>, EmitError> {
        let atom = self.machine.tables.atom(compare).ok_or(InstError::NoAtom(Missing::Frame))?;
        match atom.operands.iter().find(|o| o.role == Role::Def && !o.implicit) {
            Some(o) => Ok(Some(self.steps.tuple(o.class, u16::from(o.registers))?)),
            None => Ok(None),
        }
    }

    /// A frame atom: predicate where it stands in the text, then the rest in order.
    pub(crate) fn frame_step(
        &mut self,
        atom: lanebook_tables::AtomId,
        predicate: Option<Reg>,
        rest: &[Slot],
    ) -> Result<(), EmitError> {
        let table = self.machine.tables.atom(atom).ok_or(InstError::NoAtom(Missing::Frame))?;
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
            args.push(arg).map_err(|_| InstError::Operand {
                atom,
                operand: u8::try_from(k).unwrap_or(u8::MAX),
            })?;
        }
        Ok(self.steps.append(atom, &args)?)
    }
}

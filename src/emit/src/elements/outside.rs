//! What stands outside of parallel loops: elements that all threads read and compute with, and
//! branches, whose conditions become guards of what is inside of them.
//!
//! A value is computed where it stands, by all threads, in registers of its own. Where not all
//! threads hold what it is made of, only the others have it: whoever stores it has been told to be
//! one of them.

use crate::elements::address::AccessState;
use crate::elements::forms::ThreadVar;
use crate::elements::nest::{Chunk, ElementLists, fresh};
use crate::elements::slots::ExecutingThreads;
use crate::elements::{ElementReason, of_form, refused};
use crate::expr::{ExprId, Reg, Variable};
use crate::lower::context::{EmitError, LowerContext};
use crate::sync::order::PendingAccesses;
use lanebook_infer::{FragmentForm, IndexForm, VarRole};
use lanebook_ir::{Op, Value};
use lanebook_loops::{Fact, Told};
use lanebook_tables::{IndexOp, OpRole};

impl LowerContext<'_, '_, '_, '_> {
    /// A value outside of parallel loops.
    #[inline(never)]
    pub(crate) fn value_outside(
        &mut self,
        op: Op,
        told: &mut Told<'_>,
        open: &mut PendingAccesses,
    ) -> Result<(), EmitError> {
        self.meet(op, open, true)?;
        let mark = told.inference.arena.mark();
        let mut room = self.elements.take().ok_or(refused(op, ElementReason::Room))?;
        let done = self.computed_outside(op, told, room.again());
        self.elements = Some(room);
        told.inference.arena.release(mark);
        done
    }

    fn computed_outside(
        &mut self,
        op: Op,
        told: &mut Told<'_>,
        room: ElementLists<'_>,
    ) -> Result<(), EmitError> {
        let all = self.plan.threads;
        let var = told.inference.arena.var(all, VarRole::Output).map_err(of_form(op))?;
        let thread = ThreadVar { var, node: self.thread };
        let spread = FragmentForm { copies: 1, slots: 1, ..FragmentForm::default() };
        let executing = ExecutingThreads { op, spread, thread, threads: (0, all, all) };
        let ElementLists { slots, spots, known, guards } = room;
        fresh(slots).ok_or(refused(op, ElementReason::Room))?;
        if let Some(slot) = slots.last_mut() {
            slot.live = true;
            self.within_branches(op, told, thread, &mut slot.guard)?;
        }
        let state = AccessState { known, guards };
        let mut chunk = Chunk { executing: &executing, slots, spots, state };
        self.element_op(op, told, &mut chunk)?;
        // What stands in a fragment's register may be gone when it is read.
        let loads = self.program.role(op) == OpRole::ElementLoad;
        let Some(value) = self.program.result(op, 0).filter(|_| loads) else { return Ok(()) };
        let Some(reg) = self.held_by(value) else { return Ok(()) };
        let own = self.steps.tuple(reg.class, reg.count)?;
        self.copy_tile(op, reg, own)?;
        self.hold(value, own)
    }

    /// The word of a truth's register.
    pub(crate) fn truth_word(&mut self, op: Op, value: Value, k: u16) -> Result<ExprId, EmitError> {
        let tables = self.machine.tables;
        let dtype = self.program.type_of(value).dtype.and_then(|dtype| tables.dtype(dtype));
        let reg = self.held_by(value).filter(|_| dtype.is_some_and(|dtype| dtype.bits == 1));
        let reg = reg.ok_or(refused(op, ElementReason::Condition))?;
        self.word_of(reg.member(if reg.count == 1 { 0 } else { k }))
    }

    /// The node of a register whose value is no index: always the same one.
    fn word_of(&mut self, reg: Reg) -> Result<ExprId, EmitError> {
        let known = self.registers.iter().take(self.arena.variables());
        let known = known.zip(0u16..).find(|(of, _)| **of == Some(reg)).map(|(_, number)| number);
        match known {
            Some(number) => Ok(self.arena.var(crate::expr::VarId(number))?),
            None => self.declare(Variable::word(), reg),
        }
    }

    /// Keeps a guard to what branches around an operation outside of parallel loops let happen.
    #[inline(never)]
    pub(crate) fn within_branches(
        &mut self,
        op: Op,
        told: &Told<'_>,
        thread: ThreadVar,
        guard: &mut Option<ExprId>,
    ) -> Result<(), EmitError> {
        let program = self.program;
        let mut at = op;
        while let Some(around) = program.parent(at) {
            if program.role(around) == OpRole::If {
                let truth = program.block_of(at) == program.body(around);
                self.within_branch(around, told, (thread, truth), guard)?;
            }
            at = around;
        }
        Ok(())
    }

    /// The condition of a branch, as an index where it is one and not the truth of elements.
    pub(crate) fn condition_of(
        &self,
        op: Op,
        told: &Told<'_>,
    ) -> Result<(Value, Option<IndexForm>), EmitError> {
        let refuse = refused(op, ElementReason::Condition);
        let condition = self.program.operand(op, 0).ok_or(refuse)?;
        let form = match (self.program.int(condition), told.fact(condition)) {
            (Some(number), _) => Some(IndexForm::constant(number)),
            (None, Fact::Index(form)) => Some(form),
            _ => None,
        };
        Ok((condition, form))
    }

    fn within_branch(
        &mut self,
        op: Op,
        told: &Told<'_>,
        (thread, truth): (ThreadVar, bool),
        guard: &mut Option<ExprId>,
    ) -> Result<(), EmitError> {
        let (condition, form) = self.condition_of(op, told)?;
        let Some(form) = form else {
            let word = self.truth_word(op, condition, 0)?;
            let word = match truth {
                true => word,
                false => self.arena.op_const(IndexOp::Xor, word, u64::from(u32::MAX))?,
            };
            return self.keep_word(guard, word);
        };
        if form.is_constant() && (form.constant != 0) == truth {
            return Ok(());
        }
        let node = self.form_node(op, told, form, thread)?;
        let node = self.not_zero(node)?;
        self.keep_truth(guard, node, truth)
    }

    /// What comes behind an operation outside of parallel loops: at the end of a part of a branch,
    /// its other part, or what is behind the branch.
    pub(crate) fn behind_branches(&self, op: Op) -> Option<Op> {
        let program = self.program;
        let mut at = op;
        loop {
            if let Some(next) = program.next(at) {
                return Some(next);
            }
            let around = program.parent(at).filter(|of| program.role(*of) == OpRole::If)?;
            let first = program.block_of(at) == program.body(around);
            let other = program.entry(around, 1).and_then(|block| program.first(block));
            match other.filter(|_| first) {
                Some(other) => return Some(other),
                None => at = around,
            }
        }
    }

    /// The first operation of a branch, or what comes behind it.
    pub(crate) fn first_in_branch(&self, op: Op) -> Option<Op> {
        let part = |number| self.program.entry(op, number).and_then(|b| self.program.first(b));
        part(0).or(part(1)).or_else(|| self.behind_branches(op))
    }

    /// Whether an operation stands in a branch outside of parallel loops.
    pub(crate) fn is_in_branch(&self, op: Op) -> bool {
        let around = core::iter::successors(self.program.parent(op), |at| self.program.parent(*at));
        around.into_iter().any(|at| self.program.role(at) == OpRole::If)
    }
}

//! Indices: what operations on them compute, as expressions over parameters, loop counters and
//! block numbers.
//!
//! Sums, differences and products stay expressions, so that an address takes them in. Whatever else
//! there is (quotients, extrema, comparisons, choices) is computed where it stands, or in front of
//! the loops that do not change it, and is a variable from there on, of which the program's facts
//! are known. Comparisons and choices are sums, differences and masks; quotients are shifts where
//! the divisor is a power of two, else the instruction set's own sequence for numbers without
//! signs, with the signs put right around it.

use crate::expr::{ExprId, Reg, RegBank, Variable};
use crate::lower::context::{ComputedIndex, EmitError, LowerContext, full};
use crate::lower::interface::ParamKind;
use crate::lower::target::SecondOperand;
use crate::pool::EmitPool;
use crate::step::{InstError, InstKind, Missing, slot};
use lanebook_ir::{Def, IndexFacts, IndexStep, Loop, Op, Program, Value};
use lanebook_tables::{IndexOp, IndexWord, OpRole, RegisterKind};

/// Most operations of one expression that wait for their operands.
const WAITING: usize = 64;

/// The operation that computes an index, and what it computes.
fn word_of(program: &Program<'_, '_>, value: Value) -> Option<(Op, IndexWord)> {
    if program.int(value).is_some() {
        return None;
    }
    let op = program.def_op(value)?;
    Some((op, program.index_word(op)?))
}

/// A variable of which so much is known.
fn known_variable(facts: IndexFacts) -> Variable {
    let bits = facts.divisor().trailing_zeros().min(30);
    let variable = Variable::word().aligned(u8::try_from(bits).unwrap_or(0));
    if facts.is_plain() {
        variable.below(facts.high.cast_unsigned().saturating_add(1))
    } else {
        variable
    }
}

impl LowerContext<'_, '_, '_, '_> {
    /// The value of an index in the program, `None` for zero. Inside `innermost`, its counter
    /// stands for the loop's start.
    pub fn index_value(
        &mut self,
        op: Op,
        value: Value,
        innermost: Option<&Loop>,
    ) -> Result<Option<ExprId>, EmitError> {
        let known = self.computed.len();
        let inner = innermost.filter(|at| self.is_of_counter(value, at));
        if let Some(at) = inner {
            let start = self.index_node(op, at.lower)?;
            self.remember(at.induction, start)?;
        }
        let node = self.index_node(op, value)?;
        if inner.is_some() {
            self.computed.truncate(known);
        }
        let is_zero = self.arena.constant_value(node) == Some(0);
        Ok((!is_zero).then_some(node))
    }

    /// An index's value, computed as far as it is not there yet.
    #[inline(never)]
    fn index_node(&mut self, op: Op, value: Value) -> Result<ExprId, EmitError> {
        if let Some(node) = self.known_index(op, value)? {
            return Ok(node);
        }
        let mut waiting: heapless::Vec<Value, WAITING> = heapless::Vec::new();
        let crowded = EmitError::full(EmitPool::IndexOperations, WAITING as u32);
        waiting.push(value).map_err(|_| crowded)?;
        while let Some(&top) = waiting.last() {
            let (def, word) = word_of(self.program, top).ok_or(EmitError::Index(op))?;
            // What a tile holds is known where the operation stands, and nowhere before.
            if word == IndexWord::Uniform {
                return Err(EmitError::Index(op));
            }
            let mut nodes = [ExprId::NONE; 3];
            let mut missing = None;
            for (k, place) in nodes.iter_mut().enumerate() {
                let Some(operand) = self.program.operand(def, k) else { break };
                match self.known_index(op, operand)? {
                    Some(node) => *place = node,
                    None => missing = missing.or(Some(operand)),
                }
            }
            if let Some(operand) = missing {
                waiting.push(operand).map_err(|_| crowded)?;
                continue;
            }
            let node = self.index_result(def, word, nodes)?;
            self.remember(top, node)?;
            let _ = waiting.pop();
        }
        self.known_index(op, value)?.ok_or(EmitError::Index(op))
    }

    pub(crate) fn remember(&mut self, value: Value, node: ExprId) -> Result<(), EmitError> {
        let made = self.steps.next_register();
        self.computed
            .push(ComputedIndex { value, node, made })
            .map_err(|_| full(EmitPool::ComputedIndices, self.computed))
    }

    /// The node of an index that is a number, there already, or a parameter.
    pub(crate) fn known_index(
        &mut self,
        op: Op,
        value: Value,
    ) -> Result<Option<ExprId>, EmitError> {
        if let Some(known) = self.computed.iter().rev().find(|known| known.value == value) {
            return Ok(Some(known.node));
        }
        if let Some(n) = self.program.int(value) {
            let n = i32::try_from(n).map_err(|_| EmitError::Index(op))?;
            return Ok(Some(self.arena.constant(n.cast_unsigned())?));
        }
        if word_of(self.program, value).is_some() {
            return Ok(None);
        }
        self.parameter(op, value, ParamKind::Scalar).map(Some)
    }

    /// Computes an operation on indices where it stands, if anything reads it.
    #[inline(never)]
    pub(crate) fn define_index(&mut self, op: Op) -> Result<(), EmitError> {
        let Some(value) = self.program.result(op, 0) else { return Ok(()) };
        let is_read = self.program.uses(value).next().is_some();
        if !is_read || self.program.int(value).is_some() {
            return Ok(());
        }
        if self.program.index_word(op) == Some(IndexWord::Uniform) {
            if self.computed.iter().any(|known| known.value == value) {
                return Ok(());
            }
            let node = self.uniform_element(op)?;
            return self.remember(value, node);
        }
        self.index_node(op, value).map(|_| ())
    }

    /// Computes what stands inside a loop and does not change there.
    #[inline(never)]
    pub(crate) fn hoist_indices(&mut self, around: Op) -> Result<(), EmitError> {
        for op in self.program.inside(around) {
            if self.program.role(op) != OpRole::Index || self.program.index_word(op).is_none() {
                continue;
            }
            let stays = (0..self.program.operand_count(op)).all(|k| {
                self.program.operand(op, k).is_some_and(|value| self.is_outside(value, around))
            });
            if stays {
                self.define_index(op)?;
            }
        }
        Ok(())
    }

    /// Whether an index is there before a loop begins.
    fn is_outside(&self, value: Value, around: Op) -> bool {
        if self.program.int(value).is_some()
            || self.computed.iter().any(|known| known.value == value)
        {
            return true;
        }
        let home = match self.program.def(value) {
            Def::Result(op, _) => self.program.parent(op),
            Def::Argument(block, _) => self.program.owner_of(block),
            _ => return false,
        };
        !core::iter::successors(home, |at| self.program.parent(*at)).any(|at| at == around)
    }

    /// What an operation computes.
    fn index_result(
        &mut self,
        op: Op,
        word: IndexWord,
        [a, b, c]: [ExprId; 3],
    ) -> Result<ExprId, EmitError> {
        let refuse = EmitError::Index(op);
        let facts = [0, 1].map(|k| {
            let value = self.program.operand(op, k);
            value.map_or(IndexFacts::UNKNOWN, |value| self.program.index_facts(value))
        });
        let node = match word {
            IndexWord::Cast => return Ok(a),
            // It is known where it stands: see `define_index`.
            IndexWord::Uniform => return Err(refuse),
            IndexWord::Add => return Ok(self.arena.op(IndexOp::Add, &[a, b])?),
            IndexWord::Sub => return Ok(self.arena.op(IndexOp::Sub, &[a, b])?),
            IndexWord::Mul => return Ok(self.arena.op(IndexOp::Mul, &[a, b])?),
            IndexWord::Block => {
                return self.block_number(op, self.program.grid_axis(op).ok_or(refuse)?);
            }
            IndexWord::Blocks => {
                return self.block_count(op, self.program.grid_axis(op).ok_or(refuse)?);
            }
            IndexWord::Div | IndexWord::Rem | IndexWord::CeilDiv => {
                self.signed_quotient(word, (a, b), facts)?
            }
            IndexWord::DivUnsigned | IndexWord::RemUnsigned | IndexWord::CeilDivUnsigned => {
                self.plain_quotient(word, (a, b), facts)?
            }
            IndexWord::Min | IndexWord::MinUnsigned | IndexWord::Max | IndexWord::MaxUnsigned => {
                let plain = matches!(word, IndexWord::MinUnsigned | IndexWord::MaxUnsigned);
                let less = self.less_mask((a, b), facts, plain)?;
                let apart = self.arena.op(IndexOp::Sub, &[a, b])?;
                let apart = self.arena.op(IndexOp::And, &[apart, less])?;
                match word {
                    IndexWord::Min | IndexWord::MinUnsigned => {
                        self.arena.op(IndexOp::Add, &[b, apart])?
                    }
                    _ => self.arena.op(IndexOp::Sub, &[a, apart])?,
                }
            }
            IndexWord::Compare => {
                let (plain, holds) = self.program.relation(op).ok_or(refuse)?;
                self.holds((a, b), facts, plain, holds)?
            }
            IndexWord::Select => {
                let value = self.program.operand(op, 0).ok_or(refuse)?;
                let known = self.program.index_facts(value);
                let truth = if known.is_plain() && known.high <= 1 { a } else { self.not_zero(a)? };
                let mask = self.minus(truth)?;
                let apart = self.arena.op(IndexOp::Xor, &[b, c])?;
                let apart = self.arena.op(IndexOp::And, &[apart, mask])?;
                self.arena.op(IndexOp::Xor, &[c, apart])?
            }
        };
        let value = self.program.result(op, 0).ok_or(refuse)?;
        self.settle_index(node, self.program.index_facts(value))
    }

    /// A node computed now, and a variable of which so much is known from here on.
    fn settle_index(&mut self, node: ExprId, known: IndexFacts) -> Result<ExprId, EmitError> {
        let node = self.simplified(node)?;
        if self.arena.constant_value(node).is_some() {
            return Ok(node);
        }
        let reg = self.compute(node, self.uniform_bank())?;
        self.declare(known_variable(known).uniform(), reg)
    }

    /// The one element of a tile: every thread has it, in whatever register. Where waves have
    /// registers of their own it goes into one of these, as the first lane has it.
    #[inline(never)]
    fn uniform_element(&mut self, op: Op) -> Result<ExprId, EmitError> {
        let refuse = EmitError::Index(op);
        let tile = self.program.operand(op, 0).ok_or(refuse)?;
        let known = self.known(op).uniform();
        let source = self.source(op, tile)?;
        let from = self.register(&source, 0).ok_or(refuse)?;
        let reg = match self.machine.isa.make_uniform {
            Some(atom) => {
                let uniform = self.machine.tables.atom(atom).ok_or(refuse)?;
                let to = uniform.operands.first().ok_or(refuse)?;
                let from = self.suited(op, from, uniform.operands.get(1).ok_or(refuse)?)?;
                let reg = self.steps.tuple(to.class, 1)?;
                self.steps.append(atom, &[slot(reg), slot(from)])?;
                reg
            }
            None => {
                let class = self.machine.class(RegisterKind::Vector, 32).ok_or(refuse)?;
                let reg = self.steps.tuple(class, 1)?;
                self.copy_tile(op, from, reg)?;
                reg
            }
        };
        if let Some(last) = self.steps.steps.last_mut() {
            last.purpose = InstKind::Index;
        }
        // A truth is all ones.
        let is_truth =
            self.program.index_facts(self.program.result(op, 0).ok_or(refuse)?).high == 1;
        if !is_truth {
            return self.declare(known, reg);
        }
        let word = self.declare(Variable::word().uniform(), reg)?;
        let one = self.arena.op_const(IndexOp::And, word, 1)?;
        let reg = self.compute(one, self.uniform_bank())?;
        self.declare(known, reg)
    }

    /// Where numbers stand that are the same in all threads.
    pub(crate) fn uniform_bank(&self) -> RegBank {
        if self.machine.class(RegisterKind::Scalar, 32).is_some() {
            RegBank::Scalar
        } else {
            RegBank::Vector
        }
    }

    // ---- the grid
    /// The number of the block along an axis.
    fn block_number(&mut self, op: Op, axis: u8) -> Result<ExprId, EmitError> {
        let isa = self.machine.isa;
        if self.snippet {
            return Err(EmitError::Index(op));
        }
        let reg = match isa.block_registers.get(usize::from(axis)) {
            Some(fixed) => {
                let same = |v: &&crate::step::VRegTuple| {
                    v.pinned && u16::from(v.class) == fixed.class.0 && v.physical == fixed.number
                };
                match self.steps.registers.iter().find(same) {
                    Some(v) => Reg { class: fixed.class, first: v.first, count: v.count },
                    None => self.steps.pinned(fixed.class, fixed.number, u16::from(fixed.count))?,
                }
            }
            None => {
                let missing = InstError::NoAtom(Missing::Frame);
                self.frame_value(*isa.read_block.get(usize::from(axis)).ok_or(missing)?)?
            }
        };
        self.declare(self.known(op).uniform(), reg)
    }

    /// A variable of which the program's facts about an operation's result are known.
    fn known(&self, op: Op) -> Variable {
        let value = self.program.result(op, 0);
        known_variable(value.map_or(IndexFacts::UNKNOWN, |value| self.program.index_facts(value)))
    }

    /// How many blocks there are along an axis.
    fn block_count(&mut self, op: Op, axis: u8) -> Result<ExprId, EmitError> {
        let kind = ParamKind::Blocks(axis);
        if self.snippet {
            return Err(EmitError::Index(op));
        }
        let Some(atom) = self.machine.isa.read_blocks.get(usize::from(axis)).copied() else {
            let param = self.params.iter().find(|p| p.kind == kind);
            return self.parameter(op, param.ok_or(EmitError::Index(op))?.value, kind);
        };
        let reg = self.frame_value(atom)?;
        self.declare(self.known(op).uniform(), reg)
    }

    // ---- loops
    /// By how much a loop moves an index in each turn; `None` if it does not.
    pub(crate) fn stepped(
        &mut self,
        op: Op,
        value: Value,
        at: &Loop,
    ) -> Result<Option<Moved>, EmitError> {
        let refuse = EmitError::Index(op);
        match self.program.index_step(value, at) {
            IndexStep::Fixed => Ok(None),
            IndexStep::By(n) => u32::try_from(n).map(|n| Some(Moved::By(n))).map_err(|_| refuse),
            IndexStep::Times(n) => {
                let n = u32::try_from(n).map_err(|_| refuse)?;
                let step = self.index_node(op, at.step)?;
                Ok(Some(Moved::Node(self.arena.op_const(IndexOp::Mul, step, u64::from(n))?)))
            }
            IndexStep::Other => Err(refuse),
        }
    }

    /// Whether a loop moves an index.
    pub(crate) fn is_stepped(&self, value: Value, at: &Loop) -> bool {
        self.program.index_step(value, at) != IndexStep::Fixed
    }

    /// Whether an index is computed from a loop's counter, also where that does not show.
    fn is_of_counter(&self, value: Value, at: &Loop) -> bool {
        value == at.induction
            || self.program.def_op(value).is_some_and(|def| {
                core::iter::successors(self.program.parent(def), |up| self.program.parent(*up))
                    .any(|up| up == at.op)
            })
    }

    /// Whether a movement's addresses go on by the same in each turn of the loop around it, or do
    /// not change there: then they are made before it.
    pub(crate) fn is_even(&self, plan: &lanebook_plan::TransferPlan, at: &Loop) -> bool {
        use lanebook_plan::End;
        let mut globals = [plan.from, plan.to].into_iter().filter_map(|end| match end {
            End::Global(k) => self.plan.globals.get(usize::from(k)),
            _ => None,
        });
        globals.all(|global| {
            // What an index counts from is no part of these addresses.
            let starts = global.starts().enumerate().filter(|(dim, _)| !global.is_indexed(*dim));
            let advances = global.indexed.is_none() || self.advances_lanes();
            starts.map(|(_, start)| self.program.index_step(start, at)).all(|step| match step {
                IndexStep::Fixed => true,
                IndexStep::By(n) | IndexStep::Times(n) => {
                    advances && n > 0 && i32::try_from(n).is_ok()
                }
                IndexStep::Other => false,
            })
        })
    }

    /// Whether an instruction adds a number to addresses of 64 bits that lanes have.
    fn advances_lanes(&self) -> bool {
        let class = self.machine.class(RegisterKind::Vector, 64);
        class.is_some_and(|class| {
            self.machine.binary(IndexOp::Add64, class, 1, SecondOperand::Number(1)).is_some()
        })
    }
}

/// By how much an index moves.
#[derive(Copy, Clone)]
pub(crate) enum Moved {
    /// By a number.
    By(u32),
    /// By what is computed.
    Node(ExprId),
}

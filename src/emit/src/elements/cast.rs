//! Single elements as those of another type: by an instruction, or by the sequence that stands for it.

use crate::elements::{ElementReason, refused};
use crate::expr::Reg;
use crate::lower::context::{EmitError, LowerContext};
use crate::step::InstKind;
use lanebook_ir::Op;
use lanebook_plan::select::select_elementwise;
use lanebook_tables::{DtypeId, OpId, OpWord, RegisterKind, Sequence, SequenceOperand};

/// Most registers of steps that are open at a time, and most sequences in each other, of a cast.
const CAST_REGS: usize = 48;
const CAST_DEPTH: usize = 4;

/// The operands of a step.
type InstRegs = heapless::Vec<Reg, 3>;

/// A sequence of which some steps are done.
struct OpenSequence<'t> {
    sequence: &'t Sequence<'t>,
    operands: InstRegs,
    /// Where the registers of its steps begin.
    begin: usize,
    /// Its next step.
    at: usize,
}

/// An elementwise operation: done, or to be done by a sequence.
enum ElementwiseStep<'t> {
    Made(Reg),
    Open(&'t Sequence<'t>, InstRegs),
}

impl<'t> LowerContext<'_, 't, '_, '_> {
    /// The types of the elements of a copy that makes others of them.
    pub(crate) fn converted_types(&self, op: Op) -> Result<Option<(DtypeId, DtypeId)>, EmitError> {
        let dtype = |k| self.program.type_of(self.program.operand(op, k)?).dtype;
        let (from, to) = (dtype(0), dtype(1));
        let types = from.zip(to).ok_or(refused(op, ElementReason::Element))?;
        if types.0 == types.1 {
            return Ok(None);
        }
        let wide = |id| self.machine.tables.dtype(id).is_none_or(|dtype| dtype.bits > 32);
        match wide(types.0) || wide(types.1) {
            true => Err(refused(op, ElementReason::Element)),
            false => Ok(Some(types)),
        }
    }

    /// Elements as those of another type: by an instruction, or by the steps that stand for it, of
    /// which each is one, or stands for steps again.
    #[inline(never)]
    pub(crate) fn cast(
        &mut self,
        op: Op,
        types: (DtypeId, DtypeId),
        own: Reg,
    ) -> Result<Reg, EmitError> {
        let refuse = refused(op, ElementReason::Operation);
        let decl = self.machine.tables.op_named("cast").ok_or(refuse)?;
        let mut operands = InstRegs::new();
        operands.push(own).map_err(|_| refuse)?;
        let mut made: heapless::Vec<Reg, CAST_REGS> = heapless::Vec::new();
        let mut open: heapless::Vec<OpenSequence<'t>, CAST_DEPTH> = heapless::Vec::new();
        let mut next = self.step_or_sequence(op, (decl, types), operands)?;
        loop {
            let done = match next {
                ElementwiseStep::Made(reg) => reg,
                ElementwiseStep::Open(sequence, operands) => {
                    let begin = made.len();
                    let one = OpenSequence { sequence, operands, begin, at: 0 };
                    open.push(one).map_err(|_| refuse)?;
                    next = self.next_step(op, &mut open, &made)?;
                    continue;
                }
            };
            let Some(top) = open.last() else { return Ok(done) };
            if top.at < top.sequence.steps.len() {
                made.push(done).map_err(|_| refuse)?;
                next = self.next_step(op, &mut open, &made)?;
            } else {
                // The last step makes what the sequence stands for.
                made.truncate(top.begin);
                open.pop();
                next = ElementwiseStep::Made(done);
            }
        }
    }

    /// The next step of the innermost sequence.
    fn next_step(
        &mut self,
        op: Op,
        open: &mut heapless::Vec<OpenSequence<'t>, CAST_DEPTH>,
        made: &[Reg],
    ) -> Result<ElementwiseStep<'t>, EmitError> {
        let refuse = refused(op, ElementReason::Operation);
        let top = open.last_mut().ok_or(refuse)?;
        let (sequence, begin) = (top.sequence, top.begin);
        let step = sequence.steps.get(top.at).ok_or(refuse)?;
        top.at = top.at.saturating_add(1);
        let given = top.operands.clone();
        let mut operands = InstRegs::new();
        for operand in step.operands.iter() {
            let reg = match *operand {
                SequenceOperand::Operand(k) => *given.get(usize::from(k)).ok_or(refuse)?,
                SequenceOperand::Step(k) => {
                    *made.get(begin.saturating_add(usize::from(k))).ok_or(refuse)?
                }
                SequenceOperand::Number(_, bits) => {
                    let class = self.machine.class(RegisterKind::Vector, 32).ok_or(refuse)?;
                    let bits = u32::try_from(bits).map_err(|_| refuse)?;
                    self.filled(class, i64::from(bits.cast_signed()))?
                }
            };
            operands.push(reg).map_err(|_| refuse)?;
        }
        let types = (sequence.dtype_of(step.from), sequence.dtype_of(step.to));
        self.step_or_sequence(op, (sequence.op_of(step), types), operands)
    }

    /// An elementwise operation by an instruction, or the sequence that stands for it.
    fn step_or_sequence(
        &mut self,
        op: Op,
        (decl, types): (OpId, (DtypeId, DtypeId)),
        mut operands: InstRegs,
    ) -> Result<ElementwiseStep<'t>, EmitError> {
        let refuse = refused(op, ElementReason::Operation);
        let (tables, word) = (self.machine.tables, OpWord::Op(decl));
        if tables.op(decl).is_some_and(|decl| decl.same_bits) {
            return operands.first().copied().map(ElementwiseStep::Made).ok_or(refuse);
        }
        let count = operands.len();
        if select_elementwise(tables, self.machine.arch, word, count, types, 0).is_some() {
            self.steps.purpose = InstKind::Arithmetic;
            return self
                .computed(op, (word, types), &mut operands, None)
                .map(ElementwiseStep::Made);
        }
        let sequence = tables.sequence(decl, types.0, types.1).ok_or(refuse)?;
        Ok(ElementwiseStep::Open(sequence, operands))
    }
}

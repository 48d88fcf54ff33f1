//! Elements as others: how a reduction in place combines them, those of fewer than 32 bits as values
//! of 32, rounded once at the end, unless an instruction takes the greater or the lesser of two as they
//! are; and copies that convert.

use crate::elements::{ElementReason, refused};
use crate::expr::Reg;
use crate::lanes::reduce::CombineAtom;
use crate::lower::context::{EmitError, LowerContext};
use crate::step::Purpose;
use lanebook_ir::{AttrValue, Op, attr_names};
use lanebook_plan::select::select_elementwise;
use lanebook_tables::{DtypeId, DtypeKind, OpId, OpWord, RegisterKind, Sequence, SequenceOperand};

/// Most registers of steps that are open at a time, and most sequences in each other, of a cast.
const CAST_REGS: usize = 48;
const CAST_DEPTH: usize = 4;

/// The operands of a step.
type StepRegs = heapless::Vec<Reg, 3>;

/// A sequence of which some steps are done.
struct OpenSequence<'t> {
    sequence: &'t Sequence<'t>,
    operands: StepRegs,
    /// Where the registers of its steps begin.
    begin: usize,
    /// Its next step.
    at: usize,
}

/// An elementwise operation: done, or to be done by a sequence.
enum StepDone<'t> {
    Made(Reg),
    Open(&'t Sequence<'t>, StepRegs),
}

/// What combines the elements of a reduction.
#[derive(Copy, Clone)]
pub(crate) struct Combining<'t> {
    /// The instruction.
    pub atom: CombineAtom<'t>,
    /// The type of its operands.
    pub dtype: DtypeId,
    /// That of the fragments' elements, where it is another one.
    narrow: Option<DtypeId>,
}

impl<'t> LowerContext<'_, 't, '_, '_> {
    /// The word of a reduction's kind.
    fn combining_word(&self, op: Op) -> &'t str {
        match self.program.attr(op, attr_names::KIND) {
            Some(AttrValue::Word(word) | AttrValue::Str(word)) => match self.program.text(word) {
                "sum" => attr_names::ADD,
                word => word,
            },
            _ => "",
        }
    }

    /// What combines two elements.
    pub(crate) fn combining(&self, op: Op) -> Result<Combining<'t>, EmitError> {
        let refuse = refused(op, ElementReason::Operation);
        let operand = self.program.operand(op, 0).ok_or(refuse)?;
        let own = self.program.type_of(operand).dtype.ok_or(refuse)?;
        let (tables, arch) = (self.machine.tables, self.machine.arch);
        let kind = self.combining_word(op);
        let word = tables.op_named(kind).map(OpWord::Op).ok_or(refuse)?;
        let found = |dtype| {
            let (id, atom, _) = select_elementwise(tables, arch, word, 2, (dtype, dtype), 0)?;
            Some(CombineAtom { id, atom })
        };
        // One of the two comes out: nothing is rounded.
        let is_one = matches!(kind, attr_names::MAX | attr_names::MIN);
        if let Some(atom) = found(own).filter(|_| is_one) {
            return Ok(Combining { atom, dtype: own, narrow: None });
        }
        let is_narrow = tables.dtype(own).is_some_and(|dtype| dtype.bits < 32);
        match tables.combined_as(own) {
            Some(wide) if is_narrow => {
                let atom = found(wide).ok_or(refuse)?;
                Ok(Combining { atom, dtype: wide, narrow: Some(own) })
            }
            // Sums and products of numbers without a sign have the same bits as of those with one.
            Some(same) if !is_one => {
                let atom = found(same).ok_or(refuse)?;
                Ok(Combining { atom, dtype: same, narrow: None })
            }
            _ => Ok(Combining { atom: found(own).ok_or(refuse)?, dtype: own, narrow: None }),
        }
    }

    /// Bits of the value that changes nothing.
    pub(crate) fn neutral(&self, op: Op, combine: &Combining<'_>) -> Option<u32> {
        let dtype = self.machine.tables.dtype(combine.dtype)?;
        let number = |n| self.program.literal_bits(lanebook_ir::Literal::Int(n), dtype);
        let top = 1u64.checked_shl(u32::from(dtype.bits.checked_sub(1)?))?;
        let bits = match (self.combining_word(op), dtype.kind, dtype.format) {
            (attr_names::ADD, ..) => number(0)?,
            (attr_names::MUL, ..) => number(1)?,
            (attr_names::MIN, DtypeKind::Float, Some(format)) => format.infinity()?,
            (attr_names::MAX, DtypeKind::Float, Some(format)) => format.infinity()? | format.sign(),
            (attr_names::MIN, DtypeKind::Signed, _) => top.checked_sub(1)?,
            (attr_names::MAX, DtypeKind::Signed, _) => top,
            _ => return None,
        };
        u32::try_from(bits).ok()
    }

    /// Elements of a fragment as they are combined.
    pub(crate) fn widened(
        &mut self,
        op: Op,
        combine: &Combining<'_>,
        own: Reg,
    ) -> Result<Reg, EmitError> {
        match combine.narrow {
            Some(narrow) => self.cast(op, (narrow, combine.dtype), own),
            None => Ok(own),
        }
    }

    /// What was combined as elements of a fragment.
    pub(crate) fn narrowed(
        &mut self,
        op: Op,
        combine: &Combining<'_>,
        wide: Reg,
    ) -> Result<Reg, EmitError> {
        match combine.narrow {
            Some(narrow) => self.cast(op, (combine.dtype, narrow), wide),
            None => Ok(wide),
        }
    }

    /// The types of the elements of a copy that makes others of them.
    pub(crate) fn converted_types(&self, op: Op) -> Result<Option<(DtypeId, DtypeId)>, EmitError> {
        let dtype = |k| self.program.type_of(self.program.operand(op, k)?).dtype;
        let (from, to) = (dtype(0), dtype(1));
        let types = from.zip(to).ok_or(refused(op, ElementReason::Element))?;
        Ok((types.0 != types.1).then_some(types))
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
        self.steps.purpose = Purpose::Arithmetic;
        let decl = self.machine.tables.op_named("cast").ok_or(refuse)?;
        let mut operands = StepRegs::new();
        operands.push(own).map_err(|_| refuse)?;
        let mut made: heapless::Vec<Reg, CAST_REGS> = heapless::Vec::new();
        let mut open: heapless::Vec<OpenSequence<'t>, CAST_DEPTH> = heapless::Vec::new();
        let mut next = self.step_or_sequence(op, (decl, types), operands)?;
        loop {
            let done = match next {
                StepDone::Made(reg) => reg,
                StepDone::Open(sequence, operands) => {
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
                next = StepDone::Made(done);
            }
        }
    }

    /// The next step of the innermost sequence.
    fn next_step(
        &mut self,
        op: Op,
        open: &mut heapless::Vec<OpenSequence<'t>, CAST_DEPTH>,
        made: &[Reg],
    ) -> Result<StepDone<'t>, EmitError> {
        let refuse = refused(op, ElementReason::Operation);
        let top = open.last_mut().ok_or(refuse)?;
        let (sequence, begin) = (top.sequence, top.begin);
        let step = sequence.steps.get(top.at).ok_or(refuse)?;
        top.at = top.at.saturating_add(1);
        let given = top.operands.clone();
        let mut operands = StepRegs::new();
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
        mut operands: StepRegs,
    ) -> Result<StepDone<'t>, EmitError> {
        let refuse = refused(op, ElementReason::Operation);
        let (tables, word) = (self.machine.tables, OpWord::Op(decl));
        if tables.op(decl).is_some_and(|decl| decl.same_bits) {
            return operands.first().copied().map(StepDone::Made).ok_or(refuse);
        }
        let count = operands.len();
        if select_elementwise(tables, self.machine.arch, word, count, types, 0).is_some() {
            self.steps.purpose = Purpose::Arithmetic;
            return self.computed(op, (word, types), &mut operands, None).map(StepDone::Made);
        }
        let sequence = tables.sequence(decl, types.0, types.1).ok_or(refuse)?;
        Ok(StepDone::Open(sequence, operands))
    }

    /// `out = a, b` combined.
    pub(crate) fn combined(
        &mut self,
        op: Op,
        combine: &Combining<'t>,
        out: Reg,
        (a, b): (Reg, Reg),
    ) -> Result<(), EmitError> {
        let taken = combine.atom.taken().ok_or(refused(op, ElementReason::Operation))?;
        let (a, b) = (self.suited(op, a, taken)?, self.suited(op, b, taken)?);
        self.steps.purpose = Purpose::Arithmetic;
        self.combine(op, combine.atom, out, a, b)
    }
}

//! Elementwise operations that are several others, declared in `rules/sequences.ron`: what
//! `compile` writes in the place of one that no instruction does.

use crate::{DtypeId, List, OpId, Tables};

/// An elementwise operation as others.
#[derive(Copy, Clone, Debug)]
pub struct Sequence<'a> {
    /// The operation.
    pub op: OpId,
    /// Elements of its first operand.
    pub from: DtypeId,
    /// Elements of its result.
    pub to: DtypeId,
    /// By how many units in the last place of the result it may be off; 0 where it is exact, or
    /// rounded once.
    pub ulp: u16,
    /// In order; the last makes the result.
    pub steps: List<'a, SequenceStep<'a>>,
}

/// One operation of a sequence. It names the sequence's own operation and types by what they are
/// there, so that sequences that differ in them alone share their steps.
#[derive(Copy, Clone, Debug)]
pub struct SequenceStep<'a> {
    /// The operation; `None`: the sequence's own.
    pub op: Option<OpId>,
    /// Elements of its first operand.
    pub from: StepElements,
    /// Elements of its result.
    pub to: StepElements,
    /// Its operands.
    pub operands: List<'a, SequenceOperand>,
}

/// Elements of a step's operand or result.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum StepElements {
    /// Those of the sequence's first operand.
    From,
    /// Those of the sequence's result.
    To,
    /// Others.
    Of(DtypeId),
}

impl Sequence<'_> {
    /// A step's operation.
    #[must_use]
    pub fn op_of(&self, step: &SequenceStep<'_>) -> OpId {
        step.op.unwrap_or(self.op)
    }

    /// The type of a step's elements.
    #[must_use]
    pub fn dtype_of(&self, elements: StepElements) -> DtypeId {
        match elements {
            StepElements::From => self.from,
            StepElements::To => self.to,
            StepElements::Of(dtype) => dtype,
        }
    }
}

/// An operand of a step.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum SequenceOperand {
    /// An operand of the operation, by its number.
    Operand(u8),
    /// What an earlier step makes, by its number.
    Step(u8),
    /// A constant of a type, by its bits.
    Number(DtypeId, u64),
}

impl<'a> Tables<'a> {
    /// What an elementwise operation on elements of these types is made of, if that is said.
    #[doc(hidden)]
    #[must_use]
    pub fn sequence(&self, op: OpId, from: DtypeId, to: DtypeId) -> Option<&'a Sequence<'a>> {
        self.sequences.iter().find(|one| (one.op, one.from, one.to) == (op, from, to))
    }
}

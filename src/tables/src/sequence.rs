//! Elementwise operations that are several others, declared in `rules/sequences.ron`: what
//! `compile` writes in the place of one that no instruction does.

use crate::{Arch, Capability, DtypeId, List, OpId, OpWord, Tables};

/// Most steps of a sequence.
#[doc(hidden)]
pub const SEQUENCE_STEPS: usize = 96;

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
    /// Whether instructions of an architecture do an operation on elements: one for each share of
    /// an operand register, which may leave the packing of its results to another.
    #[doc(hidden)]
    #[must_use]
    pub fn is_done(
        &self,
        arch: &Arch<'_>,
        op: OpWord,
        arity: usize,
        (from, to): (DtypeId, DtypeId),
    ) -> bool {
        let bits = |id| self.dtype(id).map_or(0, |d| d.held);
        let has = |part| {
            let arity = u8::try_from(arity).ok().filter(|arity| *arity > 0)?;
            let wanted = Capability::Elementwise { word: op, arity, from, to, part };
            self.atom(*arch.dispatch(wanted).first()?)?.does
        };
        (0..shares(bits(from), bits(to))).all(|part| has(part).is_some())
    }
}

/// Registers of elements of `to` bits that the elements of one register of elements of `from` bits
/// fill.
#[doc(hidden)]
#[must_use]
pub fn shares(from: u16, to: u16) -> u8 {
    let wide = |bits: u16| bits.clamp(1, 32);
    wide(to).checked_div(wide(from)).and_then(|n| u8::try_from(n).ok()).unwrap_or(1).max(1)
}

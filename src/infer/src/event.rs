//! What inference tells on its way: the timeline.

use crate::program::{BufferId, FragmentForm, OperatorId};

/// How much an operator may decide.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Level {
    /// Only what cannot be otherwise.
    Strict,
    /// What follows from layouts that are known.
    Common,
    /// Anything.
    Free,
}

/// Where a loop's layout comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SpreadSource {
    /// It was written.
    Written,
    /// From the layout of a buffer that the loop accesses.
    Buffer(BufferId),
    /// From the loop's own shape.
    Plan,
    /// Every thread does all of it.
    EveryThread,
}

/// Why a layout was rejected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// A thread executes an iteration whose element it does not hold.
    NotOwner {
        /// Which buffer's.
        buffer: BufferId,
    },
    /// A thread holds an element that another one writes.
    NotWritten {
        /// Which buffer's.
        buffer: BufferId,
    },
    /// The thread would depend on a serial loop inside the parallel one.
    InnerVariable {
        /// By the layout of which buffer.
        buffer: BufferId,
    },
    /// Who holds an element would change from turn to turn of a serial loop around the operator.
    OuterVariable {
        /// Of which buffer.
        buffer: BufferId,
    },
    /// Threads outside of the operator's range.
    Threads {
        /// Of which buffer's layout, if not the loop's own.
        buffer: Option<BufferId>,
    },
    /// An operand's layout does not hold what a reduction leaves there.
    Reduced {
        /// Which buffer's.
        buffer: BufferId,
    },
    /// A buffer that all threads read outside of operators does not lie on all of them.
    Uniform {
        /// Which.
        buffer: BufferId,
    },
    /// A written layout puts two points in one place.
    NotInjective {
        /// Of which buffer, if not the loop's own.
        buffer: Option<BufferId>,
    },
    /// A written layout's local index differs from copy to copy.
    IndexByCopy {
        /// Of which buffer, if not the loop's own.
        buffer: Option<BufferId>,
    },
    /// No layout could be found.
    Nothing,
}

/// A step of inference.
#[derive(Clone, Copy, Debug)]
pub enum InferenceEvent {
    /// A level begins.
    Begins(Level),
    /// A root is tried in free mode.
    Tries(OperatorId),
    /// An operator chose how it is spread over threads.
    Spread(OperatorId, Level, SpreadSource, FragmentForm),
    /// An operator gave a buffer its layout.
    Laid(OperatorId, Level, BufferId, FragmentForm),
    /// An operator had nothing to say.
    Waits(OperatorId, Level),
    /// A layout was rejected.
    Rejected(OperatorId, Level, Reason),
    /// A root's attempt ended with this cost: spilled bits, registers, iterations of a thread.
    Costs(OperatorId, Cost),
    /// A root chose for itself what an earlier attempt gave it: the same would follow.
    Repeats(OperatorId),
    /// A root was kept.
    Keeps(OperatorId),
}

/// What an attempt costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cost {
    /// Bits of fragments whose place in registers depends on the thread.
    pub spilled: u64,
    /// Registers of 32 bits a thread.
    pub registers: u64,
    /// Sectors of global memory and accesses to shared memory that the first warp asks for.
    pub memory: u64,
    /// Iterations that a thread executes.
    pub work: u64,
}

/// What counts, and how much: a sum after the spilled bits, which come first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CostWeights {
    /// Of a register.
    pub registers: u64,
    /// Of a sector.
    pub memory: u64,
    /// Of an iteration.
    pub work: u64,
}

impl Cost {
    /// The cost as numbers to compare, the first first.
    #[must_use]
    pub fn weighed(&self, by: CostWeights) -> (u64, u64) {
        let parts = [
            self.registers.saturating_mul(by.registers),
            self.memory.saturating_mul(by.memory),
            self.work.saturating_mul(by.work),
        ];
        (self.spilled, parts.iter().fold(0, |sum: u64, p| sum.saturating_add(*p)))
    }
}

/// Who listens.
pub trait Listener {
    /// A step was made.
    fn event(&mut self, event: InferenceEvent);
}

impl Listener for () {
    fn event(&mut self, _event: InferenceEvent) {}
}

//! What inference tells on its way: the timeline.

use crate::inference::Inference;
use crate::program::{BufferId, FragmentForm, OperatorId};
use lanebook_tables::{CostPart, CostPolicy, CostTerm};

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
    /// A fragment's threads are counted from another one than those of the operator: under these
    /// numbers its threads have other registers.
    ThreadRange {
        /// Which buffer's.
        buffer: BufferId,
    },
    /// An operand's layout does not hold what a reduction leaves there.
    Reduced {
        /// Which buffer's.
        buffer: BufferId,
    },
    /// Elements of a view, wider than the storage's own, do not lie in neighbouring places of one
    /// thread.
    View {
        /// Which view's.
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

impl Reason {
    /// The buffer that it is about.
    #[must_use]
    pub const fn buffer(self) -> Option<BufferId> {
        match self {
            Self::NotOwner { buffer }
            | Self::NotWritten { buffer }
            | Self::InnerVariable { buffer }
            | Self::OuterVariable { buffer }
            | Self::ThreadRange { buffer }
            | Self::Reduced { buffer }
            | Self::View { buffer }
            | Self::Uniform { buffer } => Some(buffer),
            Self::Threads { buffer }
            | Self::NotInjective { buffer }
            | Self::IndexByCopy { buffer } => buffer,
            Self::Nothing => None,
        }
    }
}

lanebook_layout::sentences! { Reason, sink;
    NotOwner { buffer } => ("a thread does not own the element of buffer ~ that it reads", buffer.0);
    NotWritten { buffer } => ("a thread that owns an element of buffer ~ does not write it", buffer.0);
    InnerVariable { buffer } => ("the owner of an element of buffer ~ changes with a serial loop inside", buffer.0);
    OuterVariable { buffer } => ("the owner of buffer ~'s elements would change with a serial loop in or around", buffer.0);
    Threads {} => ("a layout names threads that do not execute the loop");
    ThreadRange { buffer } => ("the threads of buffer ~ are counted from another one than those that execute this", buffer.0);
    Reduced { buffer } => ("buffer ~ does not lie where the reduction leaves its result", buffer.0);
    View { buffer } => ("an element of buffer ~, a view, does not lie in neighbouring places of one thread", buffer.0);
    Uniform { buffer } => ("buffer ~ is read by all threads, but does not lie on all of them", buffer.0);
    NotInjective {} => ("a layout is not injective: it puts two points in one place");
    IndexByCopy {} => ("the local index of a layout differs from copy to copy");
    Nothing => ("no layout was found");
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
    /// An operator gave this buffer its layout, and the other one, which accesses it, is asked
    /// again.
    Wakes(OperatorId, OperatorId, BufferId),
    /// A layout was rejected.
    Rejected(Rejection),
    /// A root's attempt ended with this cost.
    Costs(OperatorId, Cost),
    /// A root chose for itself what an earlier attempt gave it: the same would follow.
    Repeats(OperatorId),
    /// A root was kept, by the attempt of this number among those of its component, from 1 on.
    Keeps(OperatorId, u32),
}

/// A layout that was rejected.
#[derive(Clone, Copy, Debug)]
pub struct Rejection {
    /// By which operator.
    pub operator: OperatorId,
    /// When.
    pub level: Level,
    /// Why.
    pub reason: Reason,
    /// How the operator would have been spread, where it was so far.
    pub spread: Option<FragmentForm>,
    /// The layout of the buffer that the reason names, as it is or would have been.
    pub layout: Option<FragmentForm>,
}

/// What an attempt costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cost {
    /// Bits of fragments whose place in registers depends on the thread.
    pub spilled: u64,
    /// Registers of 32 bits a thread.
    pub registers: u64,
    /// What the first wave asks of memory, by the policy's prices; 0 if it does not count that.
    pub traffic: u64,
    /// Iterations that a thread executes.
    pub iterations: u64,
}

impl Cost {
    fn of(&self, term: CostTerm) -> u64 {
        match term {
            CostTerm::Spilled => self.spilled,
            CostTerm::Registers => self.registers,
            CostTerm::Iterations => self.iterations,
            CostTerm::Traffic => self.traffic,
        }
    }

    /// Whether it is less than another one by a policy.
    #[must_use]
    pub fn less(&self, than: &Self, by: &CostPolicy<'_>) -> bool {
        let sum = |cost: &Self, key: &[CostPart]| {
            key.iter().fold(0u64, |sum, part| {
                sum.saturating_add(cost.of(part.term).saturating_mul(u64::from(part.weight)))
            })
        };
        let differs = by.keys.iter().map(|key| (sum(self, key), sum(than, key)));
        differs.into_iter().find(|(a, b)| a != b).is_some_and(|(a, b)| a < b)
    }
}

/// Who listens.
pub trait Listener {
    /// A step was made; index maps of the event are read in the arena of `at`, now: attempts give
    /// them back.
    fn event(&mut self, at: &Inference<'_>, event: InferenceEvent);
}

impl Listener for () {
    fn event(&mut self, _at: &Inference<'_>, _event: InferenceEvent) {}
}

impl Inference<'_> {
    /// Tells of a layout that was rejected; `layout` if it is not the one that the buffer has.
    #[inline(never)] // What it tells leaves the stack before the next step begins.
    pub(crate) fn reject(
        &self,
        listener: &mut dyn Listener,
        by: (OperatorId, Level),
        reason: Reason,
        spread: Option<&FragmentForm>,
        layout: Option<&FragmentForm>,
    ) {
        let given = layout.copied();
        let layout = given.or_else(|| reason.buffer().and_then(|b| self.layout(b)));
        let (operator, level) = by;
        let spread = spread.copied();
        let rejection = Rejection { operator, level, reason, spread, layout };
        listener.event(self, InferenceEvent::Rejected(rejection));
    }
}

#[cfg(test)]
mod tests {
    use super::{BufferId, Reason};
    use crate::error::{FormError, PoolName};
    use crate::inference::Stop;
    use crate::program::OperatorId;
    use lanebook_layout::every_variant_speaks;

    #[test]
    fn each_error_says_what_is_wrong() {
        let buffer = BufferId(1);
        let count = every_variant_speaks!(Reason:
            NotOwner { buffer }, NotWritten { buffer }, InnerVariable { buffer },
            OuterVariable { buffer }, Threads { buffer: None }, ThreadRange { buffer },
            Reduced { buffer },
            View { buffer }, Uniform { buffer }, NotInjective { buffer: None }, IndexByCopy { buffer: None }, Nothing);
        assert_eq!(count, 12);
        every_variant_speaks!(FormError:
            Full { pool: PoolName::Terms, has: 9 }, Overflow, Divisor { found: -2 }, Stale);
        let (operator, reason) = (OperatorId(0), Reason::Nothing);
        every_variant_speaks!(Stop: Rejected { operator, reason }, Failed(FormError::Overflow));
    }
}

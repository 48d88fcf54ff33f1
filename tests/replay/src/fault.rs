//! What can be wrong with a text or with its execution, as values.
//!
//! A [`ParseFault`] means the interpreter does not understand the text: nothing is ever skipped.
//! A [`Fault`] is a judgment on an execution: which line, thread and address, and why it is wrong.

use std::fmt;

/// The text was not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseFault {
    /// Line of the text, from 1.
    pub line: u32,
    /// The offending line or statement.
    pub text: String,
    /// What was expected, or what is not known.
    pub sentence: String,
}

impl fmt::Display for ParseFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}: `{}`", self.line, self.sentence, self.text.trim())
    }
}

impl std::error::Error for ParseFault {}

/// The class of a fault, for tests that expect one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FaultKind {
    /// A register is read before anything wrote it (or half of it).
    UninitialisedRegister,
    /// A shared-memory byte is read before anything wrote it.
    UninitialisedShared,
    /// An address is not a multiple of what the instruction needs.
    Misaligned,
    /// A shared-memory access leaves the declared area.
    SharedOutOfBounds,
    /// A global access hits no buffer, or leaves one.
    GlobalOutOfBounds,
    /// A read is not ordered after another thread's write.
    RaceReadAfterWrite,
    /// A write is not ordered after another thread's read.
    RaceWriteAfterRead,
    /// A write is not ordered after another thread's write.
    RaceWriteAfterWrite,
    /// Bytes are used while an asynchronous copy into them is outstanding.
    AsyncNotWaited,
    /// A copy is started into bytes that an outstanding operation still uses.
    AsyncOverwrite,
    /// A register is used while a load into it is outstanding.
    RegisterInFlight,
    /// A register or byte goes into a matrix unit and nothing has fenced it since a lane wrote it.
    UnitNotFenced,
    /// Too few wait states between two instructions that the hardware does not interlock.
    MissingWaitStates,
    /// A register lies outside the declared pool, or a tuple is not aligned.
    RegisterOutsidePool,
    /// A thread waits for a phase of a barrier in shared memory that never ends.
    PhaseNeverEnds,
    /// Threads do not all reach the same barrier.
    BarrierDivergence,
    /// A warp-wide instruction is executed by a part of the warp.
    WarpDivergence,
    /// Operands that the assembler accepts and the hardware does not honour.
    InvalidOperand,
    /// Tensor memory is used that is not allocated.
    TensorUnallocated,
    /// Tensor memory is read that nothing wrote.
    UninitialisedTensor,
    /// Tensor memory is used while a product may still write it.
    TensorNotReady,
    /// Tensor memory is written or given back while a load may still read it.
    TensorOverwrite,
    /// A warp loads lanes of tensor memory that it does not reach.
    TensorReach,
    /// Tensor memory is not given back.
    TensorNotFreed,
    /// A parameter is missing, or is read outside the parameter area.
    Parameter,
    /// The kernel did not end within the step limit.
    StepLimit,
}

/// A judgment: this execution is wrong, here, because.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The class.
    pub kind: FaultKind,
    /// Line of the text, from 1.
    pub line: u32,
    /// That line's text.
    pub text: String,
    /// The block (CTA or workgroup).
    pub block: [u32; 3],
    /// The thread in its block, when one thread is to blame.
    pub thread: Option<u32>,
    /// The address, when one is to blame (shared: the offset as the instruction sees it).
    pub address: Option<u64>,
    /// The reason.
    pub sentence: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {:?}: {}", self.line, self.kind, self.sentence)?;
        if let Some(thread) = self.thread {
            write!(f, " (thread {thread})")?;
        }
        if let Some(address) = self.address {
            write!(f, " (address {address:#x})")?;
        }
        write!(f, " in `{}`", self.text.trim())
    }
}

impl std::error::Error for Fault {}

/// A fault before its place is known: lower floors raise it, the runner adds line, text and block.
#[derive(Clone, Debug)]
pub(crate) struct Clash {
    pub kind: FaultKind,
    pub thread: Option<u32>,
    pub address: Option<u64>,
    pub sentence: String,
}

impl Clash {
    pub fn new(kind: FaultKind, sentence: impl Into<String>) -> Self {
        Clash { kind, thread: None, address: None, sentence: sentence.into() }
    }

    pub fn at(mut self, address: u64) -> Self {
        self.address = Some(address);
        self
    }

    pub fn by(mut self, thread: u32) -> Self {
        self.thread.get_or_insert(thread);
        self
    }

    pub fn place(self, line: u32, text: &str, block: [u32; 3]) -> Fault {
        Fault {
            kind: self.kind,
            line,
            text: text.trim().to_string(),
            block,
            thread: self.thread,
            address: self.address,
            sentence: self.sentence,
        }
    }
}

//! Lists of emission that can be full: an error says which.

/// A list that emission fills.
///
/// ```
/// use lanebook::emit::EmitPool;
///
/// assert_eq!(EmitPool::Steps.describe(), "instructions");
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum EmitPool {
    /// Instructions.
    Steps,
    /// Register tuples.
    Tuples,
    /// Nodes of index expressions.
    Nodes,
    /// Orders of registers inside tuples.
    TupleStrides,
    /// Loops.
    Loops,
    /// Parameters of the kernel.
    Params,
    /// Tiles in registers.
    Tiles,
    /// Addresses and other numbers that are computed once and kept.
    Addresses,
    /// Registers that loops advance.
    Advances,
    /// Parameters and loop counters in use.
    Indices,
    /// Results of operations on indices.
    ComputedIndices,
    /// Operations of one index expression that wait for their operands.
    IndexOperations,
    /// Variables of index expressions.
    Variables,
    /// Bits of the thread number in one address.
    AddressBits,
    /// Different addresses of one end of a movement.
    MovementAddresses,
    /// Registers that one copy has on the way.
    CopyRegisters,
    /// Registers of a transposition between two instructions.
    TransposeRegisters,
    /// Mbarriers.
    Mbarriers,
    /// Loops inside each other.
    Nesting,
    /// Steps that end tensor copies.
    LastSteps,
    /// Memory accesses that nothing orders yet.
    OpenAccesses,
    /// Buffers in memory that one operation reads, and that it writes.
    Touched,
    /// Synchronisation steps in front of one operation.
    SyncSteps,
    /// Pairs of kinds of accesses that one operation orders.
    SyncKinds,
}

impl EmitPool {
    /// What it holds, in words.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Steps => "instructions",
            Self::Tuples => "register tuples",
            Self::Nodes => "nodes of index expressions",
            Self::TupleStrides => "orders of registers",
            Self::Loops => "loops",
            Self::Params => "parameters of the kernel",
            Self::Tiles => "tiles in registers",
            Self::Addresses => "addresses and other numbers kept in registers",
            Self::Advances => "registers that loops advance",
            Self::Indices => "parameters and loop counters in use",
            Self::ComputedIndices => "results of operations on indices in use",
            Self::IndexOperations => "operations of one index expression",
            Self::Variables => "variables of index expressions",
            Self::AddressBits => "bits of the thread number in one address",
            Self::MovementAddresses => "different addresses of one movement",
            Self::CopyRegisters => "registers of one copy on the way",
            Self::TransposeRegisters => "registers of one transposition between instructions",
            Self::Mbarriers => "mbarriers",
            Self::Nesting => "loops inside each other",
            Self::LastSteps => "steps that end tensor copies",
            Self::OpenAccesses => "memory accesses that nothing orders yet",
            Self::Touched => "buffers in memory that one operation reads or writes",
            Self::SyncSteps => "synchronisation steps in front of one operation",
            Self::SyncKinds => "pairs of kinds of accesses that one operation orders",
        }
    }
}

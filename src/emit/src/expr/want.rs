//! What is asked of a [`crate::expr::Selector`], what it borrows, and why it may refuse.
use crate::expr::cover::NodeChoice;
use crate::expr::{ExprId, Reg};
use lanebook_tables::{ArchId, IndexOp, IsaId, RuleId};

/// Which kind of register a root is wanted in.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum RegBank {
    /// Whichever is cheaper.
    Any,
    /// One value a lane.
    Vector,
    /// One value a wave; the expression must be uniform or end in a rule that makes it so.
    Scalar,
}

/// A root to compute.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Want {
    /// The node.
    pub node: ExprId,
    /// Where.
    pub place: RegBank,
}

/// Why nothing was selected. Steps pushed before an error of the sink remain with the sink.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum SelectError<E> {
    /// The architecture does not exist in the tables.
    UnknownArch(ArchId),
    /// No target rules for the instruction set and phase.
    NoRules {
        /// The instruction set.
        isa: IsaId,
        /// The phase.
        phase: u8,
    },
    /// More target rules than supported.
    TooManyRules {
        /// Rules in the table.
        rules: u16,
    },
    /// A lent slice is too short.
    Scratch {
        /// Entries needed.
        needed: u16,
        /// Entries lent.
        lent: u16,
    },
    /// No rule computes this node into the wanted kind of register.
    NoInstruction {
        /// The node.
        node: ExprId,
        /// A scalar register was wanted.
        scalar: bool,
        /// The operation that no rule covers: the node's, or of one that it is computed from.
        op: Option<IndexOp>,
    },
    /// A compiled rule is not well formed (tables from outside the build).
    BadRule(RuleId),
    /// The sink refused.
    Sink(E),
}

/// Storage that a [`Selector`](crate::expr::Selector) borrows, each at least as long as the arena's
/// capacity.
pub struct SelectScratch<'s> {
    /// Registers of computed nodes, vector and scalar; kept between calls.
    pub memo: &'s mut [[Option<Reg>; 2]],
    /// The best rule of each node.
    pub choice: &'s mut [[NodeChoice; 2]],
    /// How many nodes read a node.
    pub uses: &'s mut [u16],
}

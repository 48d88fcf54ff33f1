//! What can go wrong with index expressions.
use crate::expr::{ExprId, VarId};
use lanebook_tables::IndexOp;

/// Errors of the arena, its analyses and its builders.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ExprError {
    /// The arena is full.
    Nodes {
        /// Nodes it holds at most.
        capacity: u16,
    },
    /// The table of variables is full.
    Variables {
        /// Variables it holds at most.
        capacity: u16,
    },
    /// A lent slice is shorter than the arena.
    Scratch {
        /// Entries needed.
        needed: u16,
        /// Entries lent.
        lent: u16,
    },
    /// The node does not exist.
    UnknownNode(ExprId),
    /// The variable does not exist.
    UnknownVariable(VarId),
    /// A word got the wrong number of arguments.
    Arity {
        /// The word.
        op: IndexOp,
        /// Arguments given.
        given: u8,
    },
    /// An argument has the wrong width.
    Width {
        /// The word.
        op: IndexOp,
        /// Which argument, from 0.
        argument: u8,
        /// Its width in bits.
        bits: u8,
    },
    /// A width other than 32 or 64 bits.
    BadWidth {
        /// The width in bits.
        bits: u8,
    },
    /// A word has no value here (a shift by the width or more).
    NoValue(ExprId),
    /// A bit of a value that is not one of its bits.
    Bit {
        /// The bit's number.
        bit: u8,
    },
    /// More distinct columns than a bit map may have.
    Columns {
        /// Most columns.
        capacity: u16,
    },
    /// Tile operations do not occur in index expressions.
    TileOperation,
}

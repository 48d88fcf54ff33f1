//! Why a program cannot be told to inference.

use crate::notation::NotationError;
use lanebook_infer::{BufferId, FormError};
use lanebook_ir::{Op, Value};

/// What of a program inference cannot be told.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoopErrorKind {
    /// The operation has no place in a function of parallel loops.
    Operation,
    /// The function does not say its threads.
    NoThreads,
    /// The threads of the operation are none of the function's.
    Threads,
    /// A parallel loop inside of another, beside other operations or with attributes of its own.
    NotNested,
    /// A tile operation inside of a parallel loop.
    TileInside,
    /// A bound of a loop has to be a number, the step a positive one.
    Bounds,
    /// No attribute of this operation has this key, or it has not this value.
    Attr(lanebook_ir::TextRef),
    /// The buffer's type does not say all extents, or lies where no loop reaches it.
    Buffer(Value),
    /// Storage is looked at through an offset, or from within.
    View,
    /// A fragment's index depends on data, or on a number below zero whose sign is left out.
    Index {
        /// Which dimension.
        dim: u8,
        /// Of which fragment.
        buffer: BufferId,
    },
    /// The tiles of a copy do not agree in their extents.
    Extents,
    /// A written layout cannot be read.
    Layout(NotationError),
    /// The architecture has no unit that computes this product.
    NoUnit,
    /// There are more warps than parts of the product's result.
    Warps,
    /// Two products want one fragment in two layouts.
    Products(BufferId),
    /// The lent memory has too little room for the values of the program.
    Values {
        /// How many it has room for.
        has: u32,
    },
    /// An index map cannot be computed, or lent memory is full.
    Form(FormError),
}

/// What of a program inference cannot be told, and at which operation.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct LoopError {
    /// What.
    pub kind: LoopErrorKind,
    /// Where.
    pub op: Op,
}

/// The result of telling.
pub type LoopResult<T> = Result<T, LoopError>;

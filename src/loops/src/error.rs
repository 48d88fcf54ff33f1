//! Why a program cannot be told to inference.

use core::fmt::{Result, Write};
use lanebook_infer::notation::NotationError;
use lanebook_infer::{BufferId, FormError};
use lanebook_ir::{Op, Program, Value};
use lanebook_layout::{sentence, sentences, shown};
use lanebook_plan::Unwritable;

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
    /// A tile operation covers a buffer whose type does not say all its extents.
    OpenExtents(Value),
    /// A written layout cannot be read.
    Layout(NotationError),
    /// A layout written for a shared buffer is none that loops keep to.
    Shared(Unwritable),
    /// A layout written for a shared buffer takes elements apart, its own or those of a view.
    Torn(Value),
    /// The architecture has no unit that computes this product.
    NoUnit,
    /// A matrix unit is driven by whole warps, and the threads are no number of them.
    PartOfWarp {
        /// Threads that compute the product.
        threads: u32,
        /// Threads of a warp.
        wave: u32,
    },
    /// No unit takes so few products for each element at a time.
    Depth {
        /// How many the product sums.
        depth: u32,
        /// How many the unit takes.
        unit: u32,
    },
    /// There are more warps than parts of the product's result, or they do not divide it into whole
    /// ones.
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
pub type LoopResult<T> = core::result::Result<T, LoopError>;

sentences! { LoopErrorKind, sink;
    Operation => ("an operation has no place in a function whose parallel loops are inferred");
    NoThreads => ("the function does not say its threads");
    Threads => ("these threads are none of the function's");
    NotNested => ("a parallel loop stands in another one's body, beside other operations or with attributes of its own");
    TileInside => ("a tile operation stands in a parallel loop");
    Bounds => ("the loop's bounds are no numbers that give it a turn");
    Attr(_) => ("an attribute is not known, or has another value than it takes");
    Buffer(_) => ("a value is no buffer that a loop reaches");
    View => ("storage is looked at from an offset on, or is none that is known");
    Index { dim } => ("index ~ of a fragment depends on data, or on a number below zero whose sign is left out, so nobody knows who owns the element", dim);
    Extents => ("the tiles do not have the extents that the operation needs");
    OpenExtents(_) => ("the whole of a buffer is meant, and its type does not say all extents");
    Layout(error) => { error.write_text(sink) };
    Shared(why) => { sink.write_str(why.message(false)) };
    Torn(_) => ("the written layout takes elements of this tile, or of a view of it, apart");
    NoUnit => ("the architecture has no matrix unit for a product of these types and extents");
    PartOfWarp { threads, wave } => ("~ threads compute the product, and the matrix unit is driven by whole warps of ~", threads, wave);
    Depth { depth, unit } => ("the product sums ~ products for each element, and the matrix unit takes ~ at a time", depth, unit);
    Warps => ("the product's result does not divide among the warps");
    Products(_) => ("another product has this fragment in a layout that this one cannot take");
    Values { has } => ("the program is too large: more than ~ values, buffers or operators", has);
    Form(error) => { error.write_text(sink) };
}

impl LoopError {
    fn write(&self, program: Option<&Program<'_, '_>>, sink: &mut impl Write) -> Result {
        match (self.kind, program) {
            (LoopErrorKind::Operation, Some(program)) => sentence!(
                sink,
                "`~` has no place in a function whose parallel loops are inferred",
                program.op_name(self.op)
            ),
            (LoopErrorKind::Attr(key), Some(program)) => sentence!(
                sink,
                "`~` of `~` is not known, or has another value than it takes",
                program.text(key),
                program.op_name(self.op)
            ),
            (LoopErrorKind::Buffer(value), Some(program)) => {
                sentence!(sink, "%~ is no buffer that a loop reaches", program.value_name(value))
            }
            (LoopErrorKind::Torn(value), Some(program)) => sentence!(
                sink,
                "the layout that is written for %~ takes elements apart, its own or those of a view of it",
                program.value_name(value)
            ),
            (LoopErrorKind::OpenExtents(value), Some(program)) => sentence!(
                sink,
                "the whole of %~ is meant, and its type does not say all extents",
                program.value_name(value)
            ),
            (kind, _) => kind.write_text(sink),
        }
    }

    /// Writes what is wrong.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn write_text(&self, sink: &mut impl Write) -> Result {
        self.write(None, sink)
    }

    /// The same with the program's names.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn write_named(&self, program: &Program<'_, '_>, sink: &mut impl Write) -> Result {
        self.write(Some(program), sink)
    }

    /// The same, to be shown.
    pub fn display<'p>(self, program: &'p Program<'_, '_>) -> impl core::fmt::Display + 'p {
        core::fmt::from_fn(move |f| self.write(Some(program), f))
    }
}

shown!(LoopError);

#[cfg(test)]
mod tests {
    use super::{BufferId, FormError, LoopErrorKind, NotationError, Value};
    use lanebook_infer::notation::NotationFault;
    use lanebook_layout::every_variant_speaks;
    use lanebook_plan::Unwritable;

    #[test]
    fn each_error_says_what_is_wrong() {
        let (value, buffer) = (Value::at(0).expect("a value"), BufferId(2));
        let notation = NotationError { fault: NotationFault::Key, offset: 3 };
        let count = every_variant_speaks!(LoopErrorKind:
            Operation, NoThreads, Threads, NotNested, TileInside, Bounds,
            Attr(lanebook_ir::TextRef::EMPTY), Buffer(value), View, Index { dim: 1, buffer },
            Extents, OpenExtents(value), Layout(notation), Shared(Unwritable::Rows), Torn(value), NoUnit, PartOfWarp { threads: 32, wave: 64 },
            Depth { depth: 8, unit: 16 }, Warps, Products(buffer), Values { has: 3 },
            Form(FormError::Overflow));
        assert!(count > 15);
    }
}

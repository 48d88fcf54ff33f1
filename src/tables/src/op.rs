//! Operations of the tile IR, declared in `rules/ops.ron`.

/// What an operation is to the passes. Passes ask for roles and traits, never for names.
///
/// A role also fixes the custom syntax (`Function`, `For`, `If`, `While` have one, everything else
/// is written in the general form) and the signature that the verifier checks. "Operand" below
/// means a main operand: the values in the brackets after an operand (`%A[%i, %j]`) are its
/// subscripts and are not counted.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum OpRole {
    /// The function itself.
    Function,
    /// Reserves a tile in a memory space.
    Alloc,
    /// A constant: one literal operand.
    Constant,
    /// Memory to memory: operand 0 is the source, operand 1 the destination.
    Copy,
    /// Memory to registers: operand 0 is the source, result 0 the tile.
    Load,
    /// Registers to memory: operand 0 is the tile, operand 1 the destination.
    Store,
    /// Reads, changes and writes memory in one step: operand 0 is the tile, operand 1 the memory.
    Atomic,
    /// Matrix product with accumulator: operands a (m,k), b (k,n), c (m,n); result (m,n). With
    /// block scales two more operands: of a (m,blocks), of b (n,blocks).
    Matrix,
    /// Changes the layout of a register value, not its elements.
    Convert,
    /// Permutes the tile's dimensions; attribute `order`, default: reversed.
    Transpose,
    /// Same elements in row-major order, another shape.
    Reshape,
    /// Two tiles of one shape side by side along a new last dimension of extent 2.
    Join,
    /// The two halves of a tile along its last dimension, of extent 2, which goes away.
    Split,
    /// Takes or puts a part of a tile at the operand's subscripts.
    Slice,
    /// One dimension (attribute `axis`) is combined away.
    Reduce,
    /// Repeats elements along dimensions of extent 1 or along new ones.
    Broadcast,
    /// Another look at the same storage.
    View,
    /// One of two values by a condition: operands condition, if true, if false.
    Select,
    /// Element by element.
    Elementwise,
    /// Counted loop: operands lower bound, upper bound, step, then the initial values.
    For,
    /// Counted loop whose iterations are independent; syntax of `For`. Loops over several extents
    /// are a nest: each but the innermost has the next one alone in its body.
    Parallel,
    /// One element of memory or of a fragment: operand 0 at its subscripts, a scalar.
    ElementLoad,
    /// One element of memory or of a fragment is set: operand 0 is a scalar, operand 1 the place.
    ElementStore,
    /// All elements of operand 1 become operand 0, a scalar.
    Fill,
    /// One dimension (attribute `axis`) of operand 0 is combined away, into operand 1.
    ReduceInto,
    /// Matrix product that is added to its third operand in place.
    ProductInto,
    /// Two regions, one of which runs: operand 0 is the condition.
    If,
    /// A loop with a region that decides and a region that works: operands are the initial values.
    While,
    /// Ends the deciding region of a `While`: operand 0 is the condition, the rest is passed on.
    Condition,
    /// Region that fills a pipeline stage.
    Produce,
    /// Region that drains a pipeline stage.
    Consume,
    /// Boundary between agents of a pipeline.
    AgentSwitch,
    /// Ends a region and passes values out.
    Yield,
    /// Integer arithmetic on indices.
    Index,
    /// Calls a function.
    Call,
    /// Orders memory accesses.
    Fence,
    /// Waits for asynchronous work.
    Wait,
    /// A hint. With as many results as operands it hands each operand on as its result: the two are
    /// a pair, of one layout.
    Pragma,
    /// Ends the function.
    Return,
    /// Anything the passes keep but do not understand.
    Opaque,
}

impl OpRole {
    /// Must be the last operation of its block.
    #[must_use]
    pub const fn is_terminator(self) -> bool {
        matches!(self, Self::Yield | Self::Return | Self::Condition)
    }
    /// Loops: the body may run any number of times.
    #[must_use]
    pub const fn is_loop(self) -> bool {
        matches!(self, Self::For | Self::Parallel | Self::While)
    }
}

/// What an operation does to layouts.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum LayoutTrait {
    /// Result and operands share one layout.
    Transparent,
    /// The result's layout is the operand's with its dimensions permuted.
    Transposing,
    /// The result's layout is the operand's reshaped.
    Reshaping,
    /// One dimension goes away.
    Reducing,
    /// The operation dictates the layouts.
    Fixing,
    /// The operation exists to change the layout.
    Converting,
    /// Layouts do not apply.
    None,
}

/// Declaration of an operation.
#[derive(Copy, Clone, Debug)]
pub struct OpDecl<'a> {
    /// Name as printed.
    pub name: &'a str,
    /// Other spellings that parse.
    pub aliases: crate::List<'a, &'a str>,
    /// What it is to the passes.
    pub role: OpRole,
    /// What it does to layouts.
    pub layout: LayoutTrait,
    /// Fewest and most operands (`u8::MAX` = any number). Subscripts are not counted.
    pub operands: (u8, u8),
    /// Fewest and most results (`u8::MAX` = any number).
    pub results: (u8, u8),
    /// Number of regions. A region that the text leaves out (`else`) is there, without operations.
    pub regions: u8,
    /// Reads memory.
    pub reads: bool,
    /// Writes memory.
    pub writes: bool,
    /// Can be removed when its results are unused.
    pub pure: bool,
    /// What a byte of its results costs to compute, against a byte of a sum.
    pub effort: u8,
}

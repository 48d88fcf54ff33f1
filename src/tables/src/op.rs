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
    /// Two neighbouring groups of a tile's dimensions change places.
    Permute,
    /// The two halves of a tile along its last dimension, of extent 2, which goes away.
    Split,
    /// Takes or puts a part of a tile at the operand's subscripts.
    Slice,
    /// One dimension (attribute `axis`) is combined away.
    Reduce,
    /// Each element is combined with all before it along a dimension (attribute `axis`).
    Scan,
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
    /// Computes each element of a tile from those at its place in the operands.
    #[must_use]
    pub const fn is_lanewise(self) -> bool {
        matches!(self, Self::Elementwise | Self::Select)
    }
    /// Combines elements along a dimension, maybe as a region of it says.
    ///
    /// ```
    /// use lanebook_tables::OpRole;
    ///
    /// assert!(OpRole::Scan.combines() && !OpRole::Broadcast.combines());
    /// ```
    #[must_use]
    pub const fn combines(self) -> bool {
        matches!(self, Self::Reduce | Self::Scan)
    }
    /// Stands in a tile program for several operations, which are put in its place before anything
    /// is chosen.
    ///
    /// ```
    /// use lanebook_tables::OpRole;
    ///
    /// assert!(OpRole::Scan.is_composed() && !OpRole::Reduce.is_composed());
    /// ```
    #[must_use]
    pub const fn is_composed(self) -> bool {
        matches!(self, Self::Join | Self::Split | Self::Slice | Self::Scan)
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

/// What an operation on indices computes. Indices are numbers of 32 bits in two's complement; sums,
/// differences and products wrap. The words that say nothing else take them with their sign.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum IndexWord {
    /// The number of the block along attribute `axis`.
    Block,
    /// How many blocks there are along attribute `axis`.
    Blocks,
    /// `a + b`.
    Add,
    /// `a - b`.
    Sub,
    /// `a * b`.
    Mul,
    /// `a / b`, rounded down.
    Div,
    /// `a / b` of two numbers without signs.
    DivUnsigned,
    /// What is left of `a / b`: it has the sign of `b`.
    Rem,
    /// The same of two numbers without signs.
    RemUnsigned,
    /// `a / b`, rounded up.
    CeilDiv,
    /// The same of two numbers without signs.
    CeilDivUnsigned,
    /// The smaller one.
    Min,
    /// The smaller one of two numbers without signs.
    MinUnsigned,
    /// The greater one.
    Max,
    /// The greater one of two numbers without signs.
    MaxUnsigned,
    /// 1 if a relation holds, named by attribute `kind`, else 0.
    Compare,
    /// The second operand if the first one is not 0, else the third.
    Select,
    /// The one element of a tile, which all threads have.
    Uniform,
    /// The operand itself.
    Cast,
}

impl IndexWord {
    /// Every word, and how `rules/ops.ron` spells it.
    pub const NAMES: [(IndexWord, &str); 19] = [
        (IndexWord::Block, "block"),
        (IndexWord::Blocks, "blocks"),
        (IndexWord::Add, "add"),
        (IndexWord::Sub, "sub"),
        (IndexWord::Mul, "mul"),
        (IndexWord::Div, "div"),
        (IndexWord::DivUnsigned, "div_unsigned"),
        (IndexWord::Rem, "rem"),
        (IndexWord::RemUnsigned, "rem_unsigned"),
        (IndexWord::CeilDiv, "ceil_div"),
        (IndexWord::CeilDivUnsigned, "ceil_div_unsigned"),
        (IndexWord::Min, "min"),
        (IndexWord::MinUnsigned, "min_unsigned"),
        (IndexWord::Max, "max"),
        (IndexWord::MaxUnsigned, "max_unsigned"),
        (IndexWord::Compare, "compare"),
        (IndexWord::Select, "select"),
        (IndexWord::Uniform, "uniform"),
        (IndexWord::Cast, "cast"),
    ];
}

/// What another system's operation stands for: operations that `compile` knows are put in its place
/// before anything else.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[doc(hidden)] // For the floors above.
pub enum OpLowering {
    /// A load by a pointer and a tile of distances from it.
    BufferLoad,
    /// A store by these.
    BufferStore,
    /// Elements in the type of their scales, times these.
    Upcast,
    /// A tile from where pointers say into shared memory.
    AsyncCopy,
    /// Operands that are handed on once products are over.
    DotWait,
    /// A tensor by its pointer, its extents and its strides.
    TensorDescriptor,
    /// A load of a tile of such a tensor.
    DescriptorLoad,
    /// A store to it.
    DescriptorStore,
    /// The end of a shared tile's life.
    LocalDealloc,
    /// How often numbers are in a tile.
    Histogram,
    /// Elements of a tile that another one names by their places.
    Gather,
}

impl OpLowering {
    /// Every one, and how `rules/ops.ron` spells it.
    pub const NAMES: [(OpLowering, &str); 11] = [
        (OpLowering::BufferLoad, "buffer_load"),
        (OpLowering::BufferStore, "buffer_store"),
        (OpLowering::Upcast, "upcast"),
        (OpLowering::AsyncCopy, "async_copy"),
        (OpLowering::DotWait, "dot_wait"),
        (OpLowering::TensorDescriptor, "tensor_descriptor"),
        (OpLowering::DescriptorLoad, "descriptor_load"),
        (OpLowering::DescriptorStore, "descriptor_store"),
        (OpLowering::LocalDealloc, "local_dealloc"),
        (OpLowering::Histogram, "histogram"),
        (OpLowering::Gather, "gather"),
    ];
}

/// Relations of two numbers, as `index.cmp` names them: name, whether signs are left out, whether
/// it holds of a smaller, an equal and a greater one.
pub const RELATIONS: [(&str, bool, [bool; 3]); 14] = [
    ("eq", false, [false, true, false]),
    ("ne", false, [true, false, true]),
    ("slt", false, [true, false, false]),
    ("sle", false, [true, true, false]),
    ("sgt", false, [false, false, true]),
    ("sge", false, [false, true, true]),
    ("ult", true, [true, false, false]),
    ("ule", true, [true, true, false]),
    ("ugt", true, [false, false, true]),
    ("uge", true, [false, true, true]),
    ("lt", false, [true, false, false]),
    ("le", false, [true, true, false]),
    ("gt", false, [false, false, true]),
    ("ge", false, [false, true, true]),
];

/// Declaration of an operation.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::tables::{IndexWord, LayoutTrait, OpDecl, OpRole, RELATIONS};
///
/// let op = |name: &str| -> &OpDecl { TABLES.op(TABLES.op_named(name).unwrap()).unwrap() };
/// let (dot, add, yields, repeat) = (op("tt.dot"), op("arith.addf"), op("scf.yield"), op("scf.for"));
/// assert_eq!((dot.role, dot.operands.0 >= 2), (OpRole::Matrix, true));
/// assert!(add.role.is_lanewise() && add.layout == LayoutTrait::Transparent);
/// assert!(yields.role.is_terminator() && repeat.role.is_loop());
/// // Index operations and relations have words.
/// assert!(IndexWord::NAMES.iter().any(|(word, name)| *word == IndexWord::Block && *name == "block"));
/// assert!(RELATIONS.iter().any(|(name, ..)| *name == "slt"));
/// ```
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
    /// Its results are truths: elements of one bit, whatever those of its operands are.
    pub truth: bool,
    /// Its result has the bits of its operand, as another type: no instruction is needed.
    pub same_bits: bool,
    /// What it computes, if it is an operation on indices that `compile` knows.
    pub index: Option<IndexWord>,
    /// Of an operation on indices, the one that does it to tiles, element by element; `*` stands
    /// for the relation. Nothing: there is none.
    pub tiles: &'a str,
    /// What stands in its place, if it is another system's word for that.
    pub lowering: Option<OpLowering>,
}

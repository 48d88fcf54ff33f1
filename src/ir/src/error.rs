//! What can go wrong: reading, building, editing, verifying.
//!
//! `Copy`, at most 40 bytes, no strings: codes and numbers that the host renders with
//! [`ErrorKind::message`],
//! [`ErrorKind::remedy`] and the line that [`SourcePlace`] names.
use crate::handle::Op;
use lanebook_layout::triton::EncodingField;
use lanebook_tables::DtypeId;

/// An error and where it is.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::ir::{ErrorKind, IrError, Lexeme, Options, Pool, SmallStorage, SourcePlace, Storage, ValueSlot, WantedType, parse};
///
/// let mut storage = Box::new(SmallStorage::new());
/// // Where, what, and what would be right; nothing was changed.
/// let refused: IrError = parse(storage.pools(), &TABLES, "func @f() {threads = 64} {\n  %a = no_such %b\n}", Options::default()).unwrap_err();
/// assert_eq!((refused.kind, refused.at.line), (ErrorKind::UnknownOp, 2));
/// let mut text = String::new();
/// refused.write_text(&mut text).unwrap();
/// assert!(text.contains(refused.kind.message()), "{text}");
/// assert!(!refused.kind.remedy().is_empty() && refused.at != SourcePlace::NOWHERE);
/// // With the tables at hand an error names operations and types.
/// assert!(refused.display(&TABLES).to_string().starts_with(&text[..8]));
/// let (mut named, mut parts) = (String::new(), String::new());
/// refused.write_named(&TABLES, &mut named).unwrap();
/// refused.kind.write_text(&mut parts).unwrap();
/// refused.kind.write_message(&mut parts).unwrap();
/// refused.kind.write_figures("; ", Some(&TABLES), &mut parts).unwrap();
/// // A pool that is full is named; so are what a text should go on with, and what type a value should have.
/// let mut tiny = Box::new(Storage::<1, 1, 1, 1, 1, 1, 1>::new());
/// let full = parse(tiny.pools(), &TABLES, "func @f(%a: index, %b: index) {threads = 64} {\n}", Options::default()).unwrap_err();
/// assert!(matches!(full.kind, ErrorKind::Capacity { .. }));
/// assert!(!Pool::Ops.describe().is_empty() && !Lexeme::Arrow.describe().is_empty() && !WantedType::Index.describe().is_empty());
/// assert_ne!(ValueSlot::Operand(0), ValueSlot::Operand(1));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct IrError {
    /// What is wrong.
    pub kind: ErrorKind,
    /// Where.
    pub at: SourcePlace,
}

/// A place in the source text.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct SourcePlace {
    /// Byte offset.
    pub offset: u32,
    /// Line from 1; 0 when the thing has no text.
    pub line: u32,
    /// Column from 1 in characters; 0 when the thing has no text.
    pub column: u32,
    /// Length in bytes, to underline.
    pub len: u16,
    /// The operation concerned, where there is one.
    pub op: Option<Op>,
}

impl SourcePlace {
    /// No place.
    pub const NOWHERE: Self = Self { offset: 0, line: 0, column: 0, len: 0, op: None };
}

/// A part of the storage that can run out.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Pool {
    /// Operations.
    Ops,
    /// Values.
    Values,
    /// Uses of values (operands).
    Uses,
    /// Attributes and literals.
    Attrs,
    /// Distinct types.
    Types,
    /// Regions.
    Regions,
    /// Blocks.
    Blocks,
    /// Layout aliases (`#name = ...`).
    Aliases,
    /// Undo journal.
    Journal,
    /// Nesting of regions in a text.
    Depth,
    /// Calls of functions inside each other.
    Calls,
    /// Dimensions of a type.
    Rank,
    /// Bytes of text, of a name or of a layout.
    Text,
    /// Names, types or values in one list.
    List,
    /// Layouts that were read, and layout texts that passes write, in cells.
    Made,
    /// Layouts that are weighed against each other.
    Layouts,
    /// Values by the layouts that they are computed in.
    Entries,
    /// Values that a number is computed of.
    Sources,
}

/// What the reader found or wanted.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Lexeme {
    /// End of the text.
    End,
    /// A word.
    Word,
    /// A value's name, `%x`.
    ValueName,
    /// A symbol, `@f`.
    Symbol,
    /// An alias, `#enc`.
    Alias,
    /// A block label, `^bb0`.
    Label,
    /// An integer.
    Integer,
    /// A number.
    Number,
    /// A string.
    Str,
    /// `...`
    Ellipsis,
    /// This character.
    Char(u8),
    /// `->`
    Arrow,
    /// A character with no meaning here.
    Unknown,
    /// A byte-order mark, which some editors put before a text.
    ByteOrderMark,
    /// The name of an operation.
    Operation,
    /// An operand: `%x` or a number.
    Operand,
    /// A type.
    Type,
    /// An element type such as `f16`.
    Dtype,
    /// An extent: a number or `?`.
    Extent,
    /// An attribute's value.
    AttrValue,
    /// The word `to`.
    To,
    /// The word `step`.
    Step,
    /// The word `do`.
    Do,
    /// A closing bracket for one that was opened.
    Closing,
}

/// Functions that an error names of those that call each other in a circle.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::ir::{ErrorKind, NAMED_CALLS, Options, SmallStorage, isolate_kernel, parse, verify};
///
/// let text = "func private @a() {
///   call @b() : () -> ()
/// }
/// func private @b() {
///   call @a() : () -> ()
/// }
/// func @k() {threads = 32} {
///   call @a() : () -> ()
/// }";
/// let mut storage = Box::new(SmallStorage::new());
/// let mut program = parse(storage.pools(), &TABLES, text, Options::default()).unwrap();
/// verify(&mut program).unwrap();
/// let error = isolate_kernel(&mut program, None).unwrap_err();
/// let ErrorKind::CallCircle { functions } = error.kind else { panic!() };
/// let names: Vec<&str> = functions.into_iter().flatten().map(|op| program.symbol(op)).collect();
/// assert_eq!((error.at.line, functions.len(), names), (5, NAMED_CALLS, vec!["a", "b"]));
/// ```
pub const NAMED_CALLS: usize = 8;

/// What is wrong.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ErrorKind {
    /// Something else should stand here.
    Expected {
        /// What should.
        want: Lexeme,
        /// What does.
        got: Lexeme,
    },
    /// No operation has this name or alias. The place spans the name.
    UnknownOp,
    /// An operation by which another compiler orders or feeds units of one machine by hand, and
    /// which is not followed.
    LoweredOp,
    /// No element type has this name. The place spans the name.
    UnknownDtype,
    /// `%x` is not defined here, or not visible here.
    Undefined,
    /// `%x` is defined already.
    Redefined {
        /// Line of the first definition.
        line: u32,
    },
    /// An alias `#x` is defined already.
    AliasRedefined,
    /// `%x#n` with n past the results.
    ResultNumber {
        /// Results there are.
        results: u16,
    },
    /// A number that does not fit.
    NumberTooLarge,
    /// A string or bracket without its end.
    Unclosed,
    /// An attribute given twice.
    AttrTwice,
    /// An extent must be positive.
    Extent,
    /// A storage limit was reached.
    Capacity {
        /// Which part.
        pool: Pool,
        /// Its size.
        limit: u32,
    },
    /// Too few or too many operands.
    OperandCount {
        /// Fewest.
        least: u8,
        /// Most, 255 = any.
        most: u8,
        /// Found.
        found: u16,
    },
    /// Too few or too many results.
    ResultCount {
        /// Fewest.
        least: u8,
        /// Most, 255 = any.
        most: u8,
        /// Found.
        found: u16,
    },
    /// Number of types does not fit the values they are for.
    TypeCount {
        /// Values.
        values: u16,
        /// Types.
        types: u16,
    },
    /// Number of regions is wrong.
    RegionCount {
        /// Declared.
        expected: u8,
        /// Found.
        found: u16,
    },
    /// A written operand type is not the value's type.
    WrittenType {
        /// Main operand number.
        operand: u16,
    },
    /// An operand is used where its definition does not reach.
    NotDominated {
        /// Operand number, subscripts included.
        operand: u16,
    },
    /// An operand has the wrong kind of type.
    OperandKind {
        /// Main operand number.
        operand: u16,
        /// What it must be.
        want: WantedType,
    },
    /// A result has the wrong kind of type.
    ResultKind {
        /// Result number.
        result: u16,
        /// What it must be.
        want: WantedType,
    },
    /// Two tiles must agree in a dimension.
    Extents {
        /// First tile.
        left: ValueSlot,
        /// Its dimension.
        left_dimension: u8,
        /// Second tile.
        right: ValueSlot,
        /// Its dimension.
        right_dimension: u8,
        /// Extent of the first.
        a: u32,
        /// Extent of the second.
        b: u32,
    },
    /// Two tiles must have equally many dimensions.
    Ranks {
        /// First tile.
        left: ValueSlot,
        /// Second tile.
        right: ValueSlot,
        /// Dimensions of the first.
        a: u8,
        /// Dimensions of the second.
        b: u8,
    },
    /// Two tiles must have the same number of elements.
    Elements {
        /// First.
        a: u64,
        /// Second.
        b: u64,
    },
    /// Two tiles must have one element type.
    Dtypes {
        /// First tile.
        left: ValueSlot,
        /// Second tile.
        right: ValueSlot,
        /// Element type of the first.
        a: Option<DtypeId>,
        /// Element type of the second.
        b: Option<DtypeId>,
    },
    /// The depth of a product must be a multiple of the number of blocks that have scales.
    Blocks {
        /// Depth.
        depth: u32,
        /// Blocks.
        blocks: u32,
    },
    /// Two values must have one type.
    Types {
        /// First.
        left: ValueSlot,
        /// Second.
        right: ValueSlot,
    },
    /// Subscripts: none, or one for each dimension.
    Subscripts {
        /// Dimensions.
        rank: u8,
        /// Subscripts.
        found: u16,
    },
    /// A loop or region's values do not match in number.
    RegionValues {
        /// Needed.
        needed: u16,
        /// Found.
        found: u16,
    },
    /// The block must end with an operation that ends blocks.
    NoTerminator,
    /// An operation that ends a block stands inside it.
    EarlyTerminator,
    /// An attribute has the wrong kind of value, or a value out of range.
    AttrValue,
    /// A layout's text cannot be read.
    LayoutText,
    /// An alias of a layout stands for itself.
    AliasCycle,
    /// A layout that no tile of this shape can have.
    Encoding {
        /// What is wrong with it.
        fault: EncodingFault,
    },
    /// A layout covers another number of elements than its tile has.
    LayoutSize {
        /// Elements of the layout.
        layout: u64,
        /// Elements of the tile.
        tile: u64,
    },
    /// A loop's step must be positive.
    LoopStep,
    /// A constant needs one literal.
    ConstantLiteral,
    /// The handle names nothing that is alive.
    Stale,
    /// The operation still has used results.
    StillUsed,
    /// Only text of the program or a library word can be a name.
    UnknownWord,
    /// The operation cannot stand there.
    Misplaced,
    /// No function has this name.
    UnknownFunction,
    /// Several functions may be launched: which one is meant is not said.
    SeveralKernels {
        /// How many.
        functions: u16,
    },
    /// No function may be launched: all are private, or are called by others.
    NoKernel,
    /// Functions call each other in a circle.
    CallCircle {
        /// Which, as far as there is room: each calls the next one, the last the first.
        functions: [Option<Op>; NAMED_CALLS],
    },
    /// An attribute that nothing obeys where it stands: of a module, a call or a `scf.while`; of a
    /// called function or its arguments, where only a kernel has it; of an operation on tiles of
    /// three or more dimensions that is written in another way.
    IdleAttr,
    /// A function says other types of its results than those of what it returns.
    ReturnedTypes,
    /// A `scf.while` goes on for another reason than that an index which grows is below a bound.
    WhileForm,
    /// A stage of a pipeline that does not stand directly in a loop of two or more stages, or that
    /// holds what it cannot; another agent that does more than copy in the turns of the loop
    /// behind.
    StageForm,
    /// A branch to labels whose blocks are no tree, each standing where its branch ends, or one that
    /// does not end the function.
    LabelForm,
    /// The words of an atomic operation are none that these elements have, or that `compile` obeys.
    AtomicWords,
    /// A loop of stages holds an order that other blocks see, before which its copies would run.
    FencedStages,
    /// A tile of pointers that is not a parameter in all elements, moved by tiles of whole numbers,
    /// or that something else than a load or a store of its elements reads.
    PointerForm,
    /// One of several buffers in shared memory, or a part of one, is used as is not followed, or
    /// behind the end of its life.
    BufferForm,
    /// A described tensor is none that is known where a tile of it is loaded or stored.
    DescriptorForm,
    /// A tile of tensor memory that is not the sums of products: no product adds to it, something
    /// else uses it, or not in its block and counted loops alone; a condition that is not known, a
    /// barrier.
    TensorForm,
    /// A module says how many threads there are, and its kernel says another number.
    ModuleThreads {
        /// How many the module says.
        threads: u32,
    },
    /// A module says how many warps there are, and not how many threads a warp has.
    ModuleWarps,
    /// A module asks for clusters of blocks.
    ModuleClusters,
    /// The layout of a tile of tensor memory is another one than that of a block of sums.
    TensorLayout,
    /// An index that a loop carries does not grow by the same in each turn.
    CarriedIndex,
    /// A number that is computed from a tensor on which the kernel carries out atomic operations
    /// stands where an index does: other blocks may change it between the loads of two threads. Or
    /// it is computed of more values than are followed.
    UnsettledIndex,
    /// The region of a reduction or a scan combines elements in another way than is followed.
    Combination,
    /// A reduction or a scan says twice how it combines: in a region and as an attribute.
    CombinedTwice,
    /// An index is computed with as a number of other than 32 bits.
    IndexBits,
    /// A tile of pointers that a loop carries is moved by a written number of 64 bits that 32 do not
    /// hold.
    FarPointer,
    /// Numbers are counted, or elements gathered by their places, in a form that no loop does.
    CountedForm,
    /// A tile of three or more dimensions is used as none of two is.
    RankForm,
    /// The layout of a tile of three or more dimensions is written.
    RankLayout,
    /// Elements of half a byte are used as pairs of them are not, or are an odd number.
    PairForm,
    /// Of two factors one has elements of half a byte, and the other's type has not all numbers of
    /// its type.
    PairMixed,
    /// A tile of three or more dimensions is too many matrices of its last two.
    RankCount {
        /// How many.
        found: u32,
        /// Most of them.
        most: u32,
    },
    /// The graph's links disagree: an error of this library.
    Broken,
}

/// Why a layout in Triton's notation is none.
///
/// ```
/// use lanebook::ir::EncodingFault;
///
/// let mut why = String::new();
/// EncodingFault::NotCovered { dim: 1 }.write_text(&mut why).unwrap();
/// assert_eq!(why, "the bases do not reach all of dimension 1");
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum EncodingFault {
    /// A list has not as many entries as the tile has dimensions.
    Rank {
        /// Which list.
        field: EncodingField,
        /// Dimensions.
        expected: u8,
        /// Entries.
        found: u8,
    },
    /// A number must be a power of two.
    NotPowerOfTwo {
        /// Which.
        field: EncodingField,
        /// Its value.
        value: u32,
    },
    /// A number is outside its choices.
    BadValue {
        /// Which.
        field: EncodingField,
        /// Its value.
        value: u32,
    },
    /// An order names a dimension twice, or one that there is not.
    NotAnOrder {
        /// Position in the order.
        at: u8,
        /// The dimension.
        value: u8,
    },
    /// A basis has several bits, or those of an earlier one.
    NotAPermutation {
        /// 0 register, 1 lane, 2 warp, 3 block.
        input: u8,
        /// Number of the basis.
        bit: u8,
    },
    /// Bases do not reach all of a dimension.
    NotCovered {
        /// The dimension.
        dim: u8,
    },
    /// Contiguous elements do not fill the swizzle's span.
    SpanTooShort {
        /// Elements needed.
        needed: u32,
        /// Elements there.
        found: u32,
    },
    /// Too few rows for the swizzle.
    TooFewRows {
        /// Rows needed.
        needed: u32,
        /// Rows there.
        found: u32,
    },
}

/// What an operand or result must be.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum WantedType {
    /// A tile (tensor or memref).
    Tile,
    /// A tile in memory.
    Memory,
    /// A tile in registers.
    Registers,
    /// An index or integer.
    Index,
    /// An `i1`.
    Condition,
    /// A tile of two dimensions.
    Matrix,
    /// A tile in memory or a fragment: elements are addressed one by one.
    Buffer,
}

/// A value of an operation by its place.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ValueSlot {
    /// Main operand.
    Operand(u8),
    /// Result.
    Result(u8),
    /// Argument of the region's block.
    Argument(u8),
    /// Value the region's terminator passes out.
    Yielded(u8),
}

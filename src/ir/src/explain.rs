//! What errors say to a person. Who does not ask links none of these strings.
use crate::error::{EncodingFault, ErrorKind, IrError, Lexeme, Pool, ValueSlot, WantedType};
use core::fmt::{Result, Write};
use lanebook_layout::triton::input_name;
use lanebook_layout::words::{SentencePart, write_sentence};
use lanebook_layout::{sentence, sentences, shown};
use lanebook_tables::{DtypeId, Tables};

impl Lexeme {
    /// What it is, in words. [`Lexeme::Char`] is rendered by the caller from its byte.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::End => "the end of the text",
            Self::Word => "a word",
            Self::ValueName => "a value's name such as %x",
            Self::Symbol => "a symbol such as @f",
            Self::Alias => "an alias such as #enc",
            Self::Label => "a block label such as ^bb0",
            Self::Integer => "an integer",
            Self::Number => "a number",
            Self::Str => "a string",
            Self::Ellipsis => "`...`",
            Self::Char(_) => "a character",
            Self::Arrow => "`->`",
            Self::Unknown => "a character without meaning here",
            Self::ByteOrderMark => "a byte-order mark: save the text as UTF-8 without one",
            Self::Operation => "an operation",
            Self::Operand => "an operand: %x or a number",
            Self::Type => "a type such as index, f32 or tensor<128x64xf16>",
            Self::Dtype => "an element type such as f16",
            Self::Extent => "an extent: a number or `?`",
            Self::AttrValue => "an attribute's value",
            Self::To => "the word `to`",
            Self::Step => "the word `step`",
            Self::Do => "the word `do`",
            Self::Closing => "a closing bracket",
        }
    }
}

impl Pool {
    /// What runs out, in words.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Ops => "operations",
            Self::Values => "values",
            Self::Uses => "operands",
            Self::Attrs => "attributes and literals",
            Self::Types => "distinct types",
            Self::Regions => "regions",
            Self::Blocks => "blocks",
            Self::Aliases => "layout aliases",
            Self::Journal => "undo records",
            Self::Depth => "nested regions",
            Self::Calls => "calls of functions inside each other",
            Self::Rank => "dimensions",
            Self::Text => "bytes of text",
            Self::List => "entries in one list",
            Self::Made => "cells of layouts that the text or a pass writes",
            Self::Layouts => "layouts to weigh against each other",
            Self::Entries => "values in the layouts that they are computed in",
            Self::Sources => "values that a number is computed of",
        }
    }
}

impl WantedType {
    /// What is wanted, in words.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Tile => "a tile (tensor or memref)",
            Self::Memory => "a tile in memory (memref, or tensor with #smem, #gmem or #tmem)",
            Self::Registers => "a tile in registers (tensor without a memory kind)",
            Self::Index => "an index or integer",
            Self::Condition => "a condition (i1)",
            Self::Matrix => "a tile of two dimensions, or of three for products side by side",
            Self::Buffer => "a buffer (memref, or tensor with #smem, #gmem, #tmem or #fragment)",
        }
    }
}

impl ErrorKind {
    /// What is wrong, in one line; the numbers are in the variant.
    #[must_use]
    pub const fn message(&self) -> &'static str {
        match self {
            Self::Expected { .. } => "something else is expected here",
            Self::UnknownOp => "unknown operation",
            Self::LoweredOp => {
                "units of one machine are ordered or fed by hand here, in a way that `compile` does not take apart"
            }
            Self::UnknownDtype => "unknown element type",
            Self::Undefined => "this value is not defined here",
            Self::Redefined { .. } => "this name is already taken",
            Self::AliasRedefined => "this alias is already defined",
            Self::ResultNumber { .. } => "the operation has no such result",
            Self::NumberTooLarge => "this number is out of range",
            Self::Unclosed => "a bracket or string is not closed, or closed by another kind",
            Self::AttrTwice => "this attribute is given twice",
            Self::Extent => "an extent must be positive",
            Self::Capacity { .. } => "the program is too large for its storage",
            Self::OperandCount { .. } => "wrong number of operands",
            Self::ResultCount { .. } => "wrong number of results",
            Self::TypeCount { .. } => "the number of types does not fit the values",
            Self::RegionCount { .. } => "wrong number of regions",
            Self::WrittenType { .. } => "the written type is not the operand's type",
            Self::NotDominated { .. } => "an operand is used where its definition does not reach",
            Self::OperandKind { .. } => "an operand has the wrong kind of type",
            Self::ResultKind { .. } => "a result has the wrong kind of type",
            Self::Extents { .. } => "two tiles disagree in an extent",
            Self::Ranks { .. } => "two tiles disagree in their number of dimensions",
            Self::Elements { .. } => "two tiles disagree in their number of elements",
            Self::Dtypes { .. } => "two tiles disagree in their element type",
            Self::Blocks { .. } => "the depth is no multiple of its blocks of scales",
            Self::Types { .. } => "two values must have the same type",
            Self::Subscripts { .. } => "wrong number of subscripts",
            Self::RegionValues { .. } => "the values of a region do not match in number",
            Self::NoTerminator => "the block must end by passing its values on",
            Self::EarlyTerminator => "an operation that ends a block stands inside it",
            Self::AttrValue => "the attribute's value has the wrong kind or is out of range",
            Self::LayoutText => "the layout cannot be read",
            Self::LayoutSize { .. } => "the layout does not cover the tile",
            Self::AliasCycle => "the layout stands for itself",
            Self::Encoding { .. } => "no tile of this shape can have this layout",
            Self::LoopStep => "a loop's step must be positive",
            Self::ConstantLiteral => "a constant needs one number",
            Self::Stale => "the thing named is not there any more",
            Self::StillUsed => "the results are still in use",
            Self::UnknownWord => "this name is neither a library word nor in the program's text",
            Self::Misplaced => "this cannot stand here",
            Self::Broken => "internal: the program's links disagree",
            _ => self.message_of_form(),
        }
    }
    /// The same of what a program says in a form that `compile` does not follow.
    #[must_use]
    const fn message_of_form(&self) -> &'static str {
        match self {
            Self::UnknownFunction => "there is no function of this name",
            Self::SeveralKernels { .. } => "which function is the kernel is not said",
            Self::NoKernel => "no function may be launched: they are private, or called by others",
            Self::CallCircle { .. } => "the function calls itself, maybe through others",
            Self::IdleAttr => "nothing obeys this attribute here",
            Self::ModuleWarps => {
                "the module says how many warps there are, and not how many threads a warp has"
            }
            Self::ModuleThreads { .. } => {
                "the module and its kernel say different numbers of threads"
            }
            Self::ModuleClusters => "clusters of blocks are not compiled",
            Self::ReturnedTypes => "the function returns other types than it says",
            Self::WhileForm => {
                "the loop does not go on just while an index that grows by the same is below a bound"
            }
            Self::LabelForm => "the blocks behind this branch are none that `compile` follows",
            Self::FencedStages => {
                "copies of this loop of stages run ahead of an order among blocks that stands in it"
            }
            Self::AtomicWords => {
                "this atomic operation, its order or its scope is none that `compile` has for such elements"
            }
            Self::StageForm => "the stage of a pipeline is none that `compile` follows",
            Self::TensorForm => {
                "tensor memory is not used here as the sums of products, which is all that `compile` follows"
            }
            Self::TensorLayout => {
                "no product leaves its sums in tensor memory in this layout of the whole tile"
            }
            Self::CarriedIndex => {
                "an index that the loop carries does not grow by the same each turn"
            }
            Self::UnsettledIndex => {
                "threads may see different numbers here: other blocks change the tensor that it is loaded from, by atomic operations"
            }
            Self::Combination => {
                "this region, or what it combines, is none that is taken apart into operations on tiles"
            }
            Self::CountedForm => {
                "this is no form of counting or gathering that a loop over registers does"
            }
            Self::FarPointer => {
                "a tile of pointers that a loop carries is moved by a number that 32 bits with a sign do not hold"
            }
            Self::CombinedTwice => {
                "a region and the attribute `kind` both say how elements are combined"
            }
            Self::IndexBits => "an index has 32 bits, and is no number of others here",
            Self::PointerForm => "pointers are not made or read here as `compile` follows them",
            Self::BufferForm => {
                "this buffer of several in shared memory, or part of it, is none that `compile` follows here"
            }
            Self::DescriptorForm => {
                "no `tt.make_tensor_descriptor` says here which tensor this is, or it has other dimensions"
            }
            Self::PairForm => "this is not done with elements of half a byte, which go two by two",
            Self::PairMixed => {
                "one factor's elements have half a byte and become the other's type, which has not all of their numbers"
            }
            Self::RankForm => "this is not done with tiles of three or more dimensions",
            Self::RankLayout => {
                "the layout of a tile of three or more dimensions is written in a notation that counts elements along the first one first, or where it is not kept to"
            }
            Self::RankCount { .. } => "a tile of three or more dimensions has too many matrices",
            _ => "",
        }
    }
    /// What to do about it.
    #[must_use]
    pub const fn remedy(&self) -> &'static str {
        match self {
            Self::Expected { .. } => "write what is expected, or remove what stands here",
            Self::LoweredOp => {
                "give the text as it was before (TTIR, or TTGIR before its loops are pipelined): `compile` has copies, barriers and units of its own"
            }
            Self::UnknownOp => {
                "use a name or alias declared in rules/ops.ron, or declare the operation there"
            }
            Self::UnknownDtype => "use an element type declared in hw-tables/dtypes.ron",
            Self::Undefined => "define the value before this line, in this block or one around it",
            Self::Redefined { .. } | Self::AliasRedefined => "choose another name",
            Self::ResultNumber { .. } => "count from #0 and stay below the number of results",
            Self::NumberTooLarge => {
                "use a number that fits 64 bits (extents: below 2^32 - 1; decimals: at most 18 digits)"
            }
            Self::Unclosed => "close every bracket with its own kind, at most 32 deep",
            Self::AttrTwice => "remove one of the two",
            Self::Extent => "write an extent of 1 or more, or `?` for one known only at run time",
            Self::Capacity { .. } => "lend larger storage, or split the program",
            Self::OperandCount { .. } | Self::ResultCount { .. } | Self::RegionCount { .. } => {
                "see the operation's declaration in rules/ops.ron for how many it takes"
            }
            Self::TypeCount { .. } => "write one type for each value, or `...` for all of them",
            Self::WrittenType { .. } => "write the type that the value was defined with",
            Self::NotDominated { .. } => {
                "move the definition before the use, or pass the value out of its region by a yield"
            }
            Self::OperandKind { .. } | Self::ResultKind { .. } => {
                "change the type, or use an operation that takes it"
            }
            Self::Extents { .. } | Self::Ranks { .. } | Self::Elements { .. } => {
                "make the shapes agree"
            }
            Self::Dtypes { .. } => "make the element types agree, or cast one of them",
            Self::Blocks { .. } => {
                "give each operand one column of scales for so many neighbours along the depth"
            }
            Self::Types { .. } => "make the types agree; layouts differ only through a conversion",
            Self::Subscripts { .. } => "write one subscript for each dimension, or none",
            Self::RegionValues { .. } => "pass as many values as the region's operation carries",
            Self::NoTerminator => "end the block with scf.yield and one value for each result",
            Self::EarlyTerminator => "move it to the end of its block",
            Self::AttrValue => {
                "see the operation's documentation for the attribute's kind and range"
            }
            Self::LayoutText => {
                "use one of the notations: S[(shape):(strides)], (shape):(stride), <(shape),(stride)>"
            }
            Self::LayoutSize { .. } => "give the layout as many elements as the tile has",
            Self::AliasCycle => "let one of the aliases stand for a layout that names none of them",
            Self::Encoding { .. } => "correct the layout, or the tile's extents",
            Self::LoopStep => "use a step of 1 or more",
            Self::ConstantLiteral => "write: constant NUMBER : TYPE",
            Self::Stale | Self::Broken => "undo to the last mark and report how it came about",
            Self::StillUsed => "replace the uses first",
            Self::UnknownWord => "put the word into the text that the program was made with",
            Self::Misplaced => "move it to a place where it is allowed",
            Self::UnknownFunction => "use the name of a function of the same text",
            Self::SeveralKernels { .. } => "name one, or make those private that are only called",
            Self::NoKernel => "name one that is not private",
            Self::CallCircle { .. } => {
                "use a loop: a kernel has no stack, so that each call is put where it stands"
            }
            Self::IdleAttr => {
                "remove it, or say it of the kernel and its arguments: threads are the caller's, too; a module may say `ttg.num-warps`, `ttg.threads-per-warp`, `ttg.num-ctas = 1` and `ttg.target`, once each"
            }
            Self::ReturnedTypes => "write behind the arrow what `return` has",
            _ => self.remedy_of_form(),
        }
    }
    /// The same where a program has a form that is not followed.
    const fn remedy_of_form(&self) -> &'static str {
        match self {
            Self::PointerForm => {
                "repeat a parameter `!tt.ptr<f32>`, move it by tiles of i32, load or store such elements"
            }
            Self::BufferForm => {
                "let `ttg.memdesc_index` say which buffer it is, wherever a loop carries one; load, store, transpose or copy to it, load parts that begin at numbers, and nothing behind `ttg.local_dealloc`"
            }
            Self::DescriptorForm => {
                "describe it in the function itself, in no branch or loop that passes it on; with one subscript for each of its dimensions"
            }
            Self::RankForm => {
                "tiles in shared memory, arguments and results have two dimensions; parts begin at numbers"
            }
            Self::RankLayout => {
                "write it in the tile's type, over lanes and registers (`S[(2,8,32):(32@bit,64@bit,1@laneid)]`) or as an encoding of Triton's; or `reshape` the tile to two dimensions and write that one's"
            }
            Self::PairForm => {
                "let tiles begin at even places, with even strides and bounds (`{div = 2}`, `stride_div = 2`); load, copy, turn, cast or multiply them, as factors that are neighbours along the depth, without masks or layouts"
            }
            Self::PairMixed => "cast both factors to a type that an instruction multiplies",
            Self::RankCount { .. } => {
                "unroll less: its last two dimensions are moved and multiplied together"
            }
            Self::WhileForm => {
                "compare a carried index with what does not change, add 1 or more to it; or use scf.for"
            }
            Self::LabelForm => {
                "let the block of the first label stand right behind the branch, that of the second behind its end, each led to by this branch alone, without arguments, and ended by `return` of nothing or by a further branch; or use scf.if"
            }
            Self::FencedStages => {
                "leave `num_stages` out, or let the atomic operation be `relaxed`"
            }
            Self::AtomicWords => {
                "write what is done (`add`, `fadd`, `max`, `min`, `umax`, `umin`, `and`, `or`, `xor`, `exch`), with the sign or point that the elements have, then `relaxed`, `acquire`, `release` or `acq_rel`, then `cta` or `gpu`"
            }
            Self::StageForm => {
                "let it stand directly in a scf.for with num_stages of 2 or more: produce_one holds all copies into shared memory, with indices, consume_one the rest; as many values go in and out as its region has. agent_switch holds one loop of copies, before the loop with the same bounds that reads them"
            }
            Self::TensorForm => {
                "let `tc_gen5_mma` add to each tile, of factors in shared memory (the first may be in registers), `tmem_store` and `tmem_load` set and read it, all in its block or in scf.for; conditions are true or false, and `compile` has barriers of its own"
            }
            Self::TensorLayout => {
                "leave the layout out, or write that of one block: `blockM` is the tile's rows, of which there are as many as tensor memory has lanes, `blockN` its columns, `colStride` 1"
            }
            Self::CarriedIndex => {
                "add what does not change in the loop, or compute it of the counter"
            }
            Self::Combination => {
                "let the region be operations on single elements, of one or two dimensions of which that one has a power of two; six tiles of one shape at the most, and results of their element types"
            }
            Self::CombinedTwice => "leave one of them out",
            Self::CountedForm => {
                "`tt.histogram`: whole numbers of one dimension, a power of two of bins of 32 bits, a mask of their shape; `tt.gather`: tiles of one or two dimensions, elements of 8 to 64 bits, places that are whole numbers, of the result's shape"
            }
            Self::FarPointer => "move the pointer before it fills a tile, by a number of 64 bits",
            Self::IndexBits => "compute with `i32`, or with `index` alone",
            Self::UnsettledIndex => {
                "take what `tiled_atomic` answers, which all threads know, as `index.uniform` of its tile of one element"
            }
            Self::ModuleThreads { .. } | Self::ModuleWarps => {
                "say `ttg.num-warps` and `ttg.threads-per-warp` of the module, whose product is the kernel's `threads`; or `threads` of the kernel alone"
            }
            Self::ModuleClusters => "let each block be one by itself: `ttg.num-ctas` is 1",
            _ => "",
        }
    }
}

sentences! { EncodingFault, sink;
    Rank { field, expected, found } => ("~ has ~ of ~ entries", field.describe(), found, expected);
    NotPowerOfTwo { field, value } => ("~ has ~, which is no power of two", field.describe(), value);
    BadValue { field, value } => ("~ cannot be ~", field.describe(), value);
    NotAnOrder { at, value } => ("entry ~ of the order, ~, is there twice or is no dimension", at, value);
    NotAPermutation { input, bit } => ("basis ~ of ~ has several bits, or those of an earlier one", bit, input_name(input));
    NotCovered { dim } => ("the bases do not reach all of dimension ~", dim);
    SpanTooShort { needed, found } => ("~ contiguous elements of ~ that the swizzle spans", found, needed);
    TooFewRows { needed, found } => ("~ rows of ~ that the swizzle takes", found, needed);
}

impl ValueSlot {
    fn write(self, sink: &mut impl Write) -> Result {
        match self {
            Self::Operand(k) => sentence!(sink, "operand ~", k),
            Self::Result(k) => sentence!(sink, "result ~", k),
            Self::Argument(k) => sentence!(sink, "the body's argument ~", k),
            Self::Yielded(k) => sentence!(sink, "yielded value ~", k),
        }
    }
}

/// `2`, `2 to 3`, `2 or more`.
pub(crate) fn write_between((least, most): (u8, u8), sink: &mut impl Write) -> Result {
    match most {
        u8::MAX => sentence!(sink, "~ or more", least),
        most if most == least => sentence!(sink, "~", least),
        most => sentence!(sink, "~ to ~", least, most),
    }
}

fn write_lexeme(what: Lexeme, sink: &mut impl Write) -> Result {
    match what {
        Lexeme::Char(byte) => {
            sentence!(sink, "`~`", core::str::from_utf8(&[byte]).unwrap_or("a byte beyond ASCII"))
        }
        other => sink.write_str(other.describe()),
    }
}

impl ErrorKind {
    /// Writes what is wrong, in one line: what is expected and found, what the program has too much
    /// of, or [`ErrorKind::message`].
    ///
    /// # Errors
    /// Those of the sink.
    pub fn write_message(&self, sink: &mut impl Write) -> Result {
        match *self {
            Self::Expected { want, got } => {
                sink.write_str("expected ")?;
                write_lexeme(want, sink)?;
                sink.write_str(", found ")?;
                write_lexeme(got, sink)
            }
            Self::Capacity { pool, limit } => sentence!(
                sink,
                "the program is too large: it has more than ~ ~",
                limit,
                pool.describe()
            ),
            other => sink.write_str(other.message()),
        }
    }

    /// Writes what the figures say of the place that is meant, behind `before`; nothing where there
    /// are none. Element types have their names in the tables.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn write_figures(
        &self,
        before: &str,
        tables: Option<&Tables<'_>>,
        sink: &mut impl Write,
    ) -> Result {
        let name = |id: Option<DtypeId>| {
            let dtype = id.zip(tables).and_then(|(id, tables)| tables.dtype(id));
            dtype.map_or("of another type", |dtype| dtype.name)
        };
        match *self {
            Self::Redefined { line } => sentence!(sink, "~first defined in line ~", before, line),
            Self::ResultNumber { results } => sentence!(sink, "~it has ~", before, results),
            Self::OperandCount { least, most, found } => {
                sentence!(sink, "~takes ", before)?;
                write_between((least, most), sink)?;
                sentence!(sink, ", ~ given", found)
            }
            Self::ResultCount { least, most, found } => {
                sentence!(sink, "~has ", before)?;
                write_between((least, most), sink)?;
                sentence!(sink, ", ~ given", found)
            }
            Self::TypeCount { values, types } => {
                sentence!(sink, "~~ values, ~ types", before, values, types)
            }
            Self::RegionCount { expected, found } => {
                sentence!(sink, "~has ~, ~ given", before, expected, found)
            }
            Self::WrittenType { operand } => sentence!(sink, "~of operand ~", before, operand),
            Self::NotDominated { operand } => sentence!(sink, "~operand ~", before, operand),
            Self::OperandKind { operand, want } => {
                sentence!(sink, "~operand ~ must be ~", before, operand, want.describe())
            }
            Self::ResultKind { result, want } => {
                sentence!(sink, "~result ~ must be ~", before, result, want.describe())
            }
            Self::Extents { left, left_dimension, right, right_dimension, a, b } => {
                sentence!(sink, "~dimension ~ of ", before, left_dimension)?;
                left.write(sink)?;
                sentence!(sink, " is ~, dimension ~ of ", a, right_dimension)?;
                right.write(sink)?;
                sentence!(sink, " is ~", b)
            }
            Self::Ranks { left, right, a, b } => {
                two(before, (left, " has ", a.into()), (right, b.into()), sink)
            }
            Self::Blocks { depth, blocks } => {
                sentence!(sink, "~a depth of ~, ~ blocks", before, depth, blocks)
            }
            Self::Elements { a, b } => sentence!(sink, "~~ and ~", before, a, b),
            Self::Dtypes { left, right, a, b } => {
                two(before, (left, " is ", name(a).into()), (right, name(b).into()), sink)
            }
            Self::Types { left, right } => {
                sink.write_str(before)?;
                left.write(sink)?;
                sink.write_str(" and ")?;
                right.write(sink)
            }
            Self::Subscripts { rank, found } => {
                sentence!(sink, "~~ dimensions, ~ subscripts", before, rank, found)
            }
            Self::RegionValues { needed, found } => {
                sentence!(sink, "~~ needed, ~ given", before, needed, found)
            }
            Self::Encoding { fault } => {
                sink.write_str(before)?;
                fault.write_text(sink)
            }
            Self::RankCount { found, most } => {
                sentence!(sink, "~~, ~ is the most", before, found, most)
            }
            Self::SeveralKernels { functions } => {
                sentence!(sink, "~~ functions may be launched", before, functions)
            }
            Self::CallCircle { functions } => {
                let count = u16::try_from(functions.iter().flatten().count()).unwrap_or(0);
                sentence!(sink, "~~ in the circle", before, count)
            }
            Self::LayoutSize { layout, tile } => {
                sentence!(sink, "~the layout has ~ elements, the tile ~", before, layout, tile)
            }
            _ => Ok(()),
        }
    }

    /// Writes what is wrong: the message, and behind a colon its figures.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn write_text(&self, sink: &mut impl Write) -> Result {
        self.write_message(sink)?;
        self.write_figures(": ", None, sink)
    }
}

/// `operand 0 is f16, operand 1 is f32`.
fn two(
    before: &str,
    (left, is, a): (ValueSlot, &str, SentencePart<'_>),
    (right, b): (ValueSlot, SentencePart<'_>),
    sink: &mut impl Write,
) -> Result {
    sink.write_str(before)?;
    left.write(sink)?;
    write_sentence("~~, ", &[is.into(), a], sink)?;
    right.write(sink)?;
    write_sentence("~~", &[is.into(), b], sink)
}

impl IrError {
    fn write(&self, tables: Option<&Tables<'_>>, sink: &mut impl Write) -> Result {
        if self.at.line > 0 {
            sentence!(sink, "line ~, column ~: ", self.at.line, self.at.column)?;
        }
        self.kind.write_message(sink)?;
        self.kind.write_figures(": ", tables, sink)
    }

    /// Writes where and what is wrong.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn write_text(&self, sink: &mut impl Write) -> Result {
        self.write(None, sink)
    }

    /// The same with the names of element types.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn write_named(&self, tables: &Tables<'_>, sink: &mut impl Write) -> Result {
        self.write(Some(tables), sink)
    }

    /// The same, to be shown.
    pub fn display<'t>(self, tables: &'t Tables<'t>) -> impl core::fmt::Display + 't {
        core::fmt::from_fn(move |f| self.write(Some(tables), f))
    }
}

shown!(ErrorKind, IrError);

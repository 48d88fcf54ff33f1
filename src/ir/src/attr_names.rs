//! Words that a program can use without having them in its text: attribute keys and memory kinds.
//!
//! A program built through the API has no text, so its attribute keys come from here (or from the
//! text that the caller lends as a vocabulary).
use crate::handle::TextRef;

/// The words; a [`TextRef`] holds the number.
const WORDS: &[&str] = &[
    "threads",
    "align",
    "stride_div",
    "layout",
    "offset",
    "sliceCount",
    "mask",
    "order",
    "axis",
    "kind",
    "callee",
    "map",
    "sym_name",
    "num",
    "value",
    "name",
    "gmem",
    "smem",
    "tmem",
    "main",
    "depth",
    "visibility",
    "results",
    "result.type",
    "div",
    "prefix",
    "nv_tileas.layout",
    "mover",
    "!ttg.async.token",
    "inserted",
    "unpacked",
    "fragment",
    "coalesced_width",
    "policy",
    "transpose_a",
    "transpose_b",
    "signed",
    "grid",
    "start",
    "end",
    "num_stages",
    "warp_specialize",
    "precision",
    "sums",
    "tensor",
    "exchange",
    "max",
    "min",
    "add",
    "reverse",
    "ne",
    "slt",
    "left",
    "right",
    "run",
    "halves",
    "bounded",
    "inputPrecision",
    "mul",
    "argmax",
    "argmin",
    "and",
    "or",
    "xor",
    "target",
    "threads-per-warp",
    "exch",
    "cas",
    "scope",
    "gpu",
    "far",
    "unstaged",
    "eq",
    "ieee",
    "tf32",
    "tf32x3",
];

/// Factors of f32 as `precision` reads them.
pub(crate) const TF32: &str = "tf32";
/// The same in three products.
pub(crate) const TF32X3: &str = "tf32x3";
/// A relation: both are the same.
pub(crate) const EQ: &str = "eq";
/// Attribute: work items in a block, on a function.
pub const THREADS: &str = "threads";
/// Attribute: lanes of a wave, on a function or its module.
pub const WAVE: &str = "threads-per-warp";
/// Attribute: the architecture, as other systems name it, on a function or its module.
pub const TARGET: &str = "target";
/// Attribute: warps of a block, on a module.
pub const NUM_WARPS: &str = "num-warps";
/// Attribute: blocks of a cluster, on a module.
pub const NUM_CTAS: &str = "num-ctas";
/// Attribute: a module's products take two blocks each.
pub const TWO_CTAS: &str = "two-ctas";
/// Attribute: the format of a product's left factor, as Triton says it beside its type.
pub const LHS: &str = "lhs";
/// The same of its right factor.
pub const RHS: &str = "rhs";
/// Attribute: a product may leave out what not-a-numbers take.
pub const FAST_MATH: &str = "fastMath";
/// Attribute: alignment in bytes, on a memref argument.
pub const ALIGN: &str = "align";
/// Attribute: every stride but the fastest is a multiple of so many elements, on a memref argument.
pub const STRIDE_DIV: &str = "stride_div";
/// Attribute: an index argument is a multiple of this.
pub const DIV: &str = "div";
/// Attribute: an index argument may be below zero.
pub const SIGNED: &str = "signed";
/// Attribute: calls of a function do not give way to what it does.
pub const NOINLINE: &str = "noinline";
/// Attribute: what a parameter is a multiple of, as Triton has it: in bytes of a pointer.
pub const DIVISIBILITY: &str = "tt.divisibility";
/// Attribute: the blocks of a launch, on a function.
pub const GRID: &str = "grid";
/// Where a memref's elements end, of each dimension.
pub const BOUNDS: &str = "bounds";
/// Attribute: bounds of a memref of pairs count halves along its last dimension.
pub const HALVES: &str = "halves";
/// Attribute: a mask leaves out what lies outside of the memref's bounds as well.
pub const BOUNDED: &str = "bounded";
/// Of a loop: how many stages it was to have, which nothing in it has.
pub const UNSTAGED: &str = "unstaged";
/// Of a memref: one row of elements, in parts.
pub const FAR: &str = "far";
/// An attribute without a value, as others write it where it is there.
pub const TRUE: &str = "true";
/// The same where it is not.
pub const FALSE: &str = "false";
/// Attribute: elements of the group of dimensions that goes behind the other one.
pub const LEFT: &str = "left";
/// Attribute: elements of the group of dimensions that comes in front.
pub const RIGHT: &str = "right";
/// Attribute: elements of the group behind both, which keeps its place.
pub const RUN: &str = "run";
/// Attribute: the layout that an operation was given.
pub const LAYOUT: &str = "layout";
/// [`LAYOUT`] with its prefix, as passes write it.
pub const TILE_LAYOUT: &str = "nv_tileas.layout";
/// Attribute: where a view starts, in elements.
pub const OFFSET: &str = "offset";
/// Attribute: into how many slices a loop is to be split.
pub const SLICE_COUNT: &str = "sliceCount";
/// Attribute: what a masked load leaves out is this number.
pub const OTHER: &str = "other";
/// Attribute: accesses may be out of bounds and must be masked.
pub const MASK: &str = "mask";
/// Attribute: permutation of dimensions, a list.
pub const ORDER: &str = "order";
/// Attribute: a dimension.
pub const AXIS: &str = "axis";
/// Attribute: the first of several numbers.
pub const START: &str = "start";
/// Attribute: what the last of several numbers is below.
pub const END: &str = "end";
/// Attribute: buffers over which copies into a loop run ahead.
pub const STAGES: &str = "num_stages";
/// Attribute: which bits of its factors a product of floats reads.
pub const PRECISION: &str = "precision";
/// [`PRECISION`]: all of them.
pub const EXACT: &str = "exact";
/// [`PRECISION`] as Triton writes it: what a product may do with factors of f32, and need not.
pub const INPUT_PRECISION: &str = "inputPrecision";
/// [`INPUT_PRECISION`]: all of their bits are read.
pub const IEEE: &str = "ieee";
/// Attribute: where the sums of a product stand while they are added to.
pub const SUMS: &str = "sums";
/// [`SUMS`]: in tensor memory.
pub const TENSOR: &str = "tensor";
/// Attribute: warps are set aside that start a loop's copies for the others.
pub const WARP_SPECIALIZE: &str = "warp_specialize";
/// Attribute: which one of several ways.
pub const KIND: &str = "kind";
/// Attribute: who sees the order that a fence makes.
pub const SCOPE: &str = "scope";
/// Attribute: a scan goes from the last element to the first.
pub const REVERSE: &str = "reverse";
/// Attribute: a reduction keeps its dimension, with one element.
pub const KEEP_DIMS: &str = "keep_dims";
/// A reduction's kind: the sum.
pub const ADD: &str = "add";
/// A reduction's kind: the product.
pub const MUL: &str = "mul";
/// A reduction's kind: bits that all have.
pub const AND: &str = "and";
/// A reduction's kind: bits that any has.
pub const OR: &str = "or";
/// A reduction's kind: bits that an odd number has.
pub const XOR: &str = "xor";
/// A reduction's kind: the greatest.
pub const MAX: &str = "max";
/// A reduction's kind: the least.
pub const MIN: &str = "min";
/// The kind of a reduction of two tiles: the greatest of one, and what of the other stands beside
/// it.
pub const ARGMAX: &str = "argmax";
/// The same of the least.
pub const ARGMIN: &str = "argmin";
/// Attribute: the function called.
pub const CALLEE: &str = "callee";
/// Attribute: an affine map.
pub const MAP: &str = "map";
/// Attribute: a function's name.
pub const SYM_NAME: &str = "sym_name";
/// Attribute of a call of a library: the function's symbol.
pub const SYMBOL: &str = "symbol";
/// Attributes of a call of a library that say which, and that it has no effect.
pub const LIBRARY: [&str; 3] = ["libname", "libpath", "pure"];

/// Attribute: words written before the operands (`slt`, `x`).
pub const PREFIX: &str = "prefix";
/// Attribute: text for the outside world.
pub const NAME: &str = "name";
/// Attribute: `public` or `private`, on a function.
pub const VISIBILITY: &str = "visibility";
/// A function's visibility: it is only called.
pub const PRIVATE: &str = "private";
/// Attribute: a function's result types, as written.
pub const RESULTS: &str = "results";
/// One of these types: its number, which is of that type. Never printed: [`RESULTS`] is.
pub const RESULT_TYPE: &str = "result.type";
/// Attribute: a function is a snippet, code for the middle of another program.
pub const SNIPPET: &str = "snippet";
/// Attribute: buffers of a pipeline.
pub const DEPTH: &str = "depth";
/// Attribute: the instruction that a copy has to be made of, by its name in the tables (tables
/// without names refuse every such copy).
pub const MOVER: &str = "mover";
/// Type: what an operation waits for.
pub const TOKEN: &str = "!ttg.async.token";
/// Attribute: an operation that the program did not write.
pub const INSERTED: &str = "inserted";
/// Attribute: each element of what an operation makes has a register of its own, however narrow it is. Never
/// printed: `compile` finds out where it has to be so.
pub const UNPACKED: &str = "unpacked";
/// Attribute: most bytes of shared memory that a conversion goes through.
pub const SCRATCH: &str = "scratch";
/// Attribute: how many groups of asynchronous copies may be under way.
pub const NUM: &str = "num";

/// Attribute: the widest access of a parallel loop, in elements.
pub const COALESCED_WIDTH: &str = "coalesced_width";
/// Attribute: whether what a parallel loop reads may go through shared memory.
pub const EXCHANGE: &str = "exchange";
/// Attribute: how the warps of a product lie over its result.
pub const POLICY: &str = "policy";
/// Attribute: a product's first operand is (k,m).
pub const TRANSPOSE_A: &str = "transpose_a";
/// Attribute: a product's second operand is (n,k).
pub const TRANSPOSE_B: &str = "transpose_b";

/// The name of a library word.
pub(crate) fn find(word: &str) -> Option<TextRef> {
    let number = WORDS.iter().position(|known| *known == word)?;
    Some(TextRef::word(u16::try_from(number).ok()?))
}

/// The text of a word's number; empty for a number that is none.
pub(crate) fn text(number: u16) -> &'static str {
    WORDS.get(usize::from(number)).copied().unwrap_or("")
}

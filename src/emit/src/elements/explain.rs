//! Why elements of parallel loops have no instructions, in words.
use crate::elements::ElementReason;

/// What is wrong, and what helps.
const fn words(why: ElementReason) -> (&'static str, &'static str) {
    match why {
        ElementReason::Form => (
            "an index map of this operation cannot be computed, or there is too little room for it",
            "use fewer loops or simpler subscripts",
        ),
        ElementReason::Inverse => (
            "the layout depends on a serial loop's counter, and does not tell which iteration a thread executes",
            "write a layout without the counter, or let one be inferred",
        ),
        ElementReason::LocalIndex => (
            "thread or counter choose among more than 64 registers of the fragment, or a reduction's rows depend on them",
            "write a layout whose index does not depend on the thread, or use a shared tile",
        ),
        ElementReason::Subscript => (
            "a subscript depends on data",
            "use subscripts of counters, arguments and numbers, computed by `index` operations",
        ),
        ElementReason::Unsigned => (
            "an index that may be below zero is taken without its sign, so that nobody knows where this reaches",
            "use the operation that takes a sign, or keep the index at zero or above",
        ),
        ElementReason::Element => (
            "elements of this width are not moved one by one, or not computed with",
            "use elements of 8, 16, 32 or 64 bits; those of 64 are not reduced, and numbers of 64 bits are elements of buffers alone",
        ),
        ElementReason::Condition => (
            "a condition is neither an index nor a truth of elements, or a branch passes something out, or has a product in it",
            "use index.cmp or compare, and store what the parts compute",
        ),
        ElementReason::InnerLoop => (
            "a loop inside of a parallel one needs bounds that are numbers, at most 1024 turns, and nothing that it carries",
            "write the bounds as numbers, or keep sums in a fragment",
        ),
        ElementReason::Operation => (
            "no instruction does this with single elements here",
            "use arithmetic that `lanebook ops` lists for this architecture",
        ),
        ElementReason::Fragment => (
            "a thread would hold more than 2048 registers of this fragment",
            "use more threads or a smaller fragment, or let the loop that reads little of it read through shared memory: exchange = allow",
        ),
        ElementReason::View => (
            "a fragment is looked at with elements of another width, which do not lie in parts of the same registers",
            "write a layout that keeps what makes a wide element in one thread, side by side",
        ),
        ElementReason::Room => (
            "this has more buffers, values, loops or conditions than there is room for",
            "split the loop",
        ),
        ElementReason::Foreign => (
            "the layouts that were given are none of this function's",
            "infer the layouts of this function for this architecture",
        ),
        ElementReason::Sign => (
            "an index that may be below zero is divided, or counts rows whose distance the program does not say",
            "keep indices at zero or above, and say extents in the type",
        ),
        ElementReason::Reduction => (
            "the threads of this reduction's fragments make no rows that lanes or warps can combine",
            "reduce a fragment whose layout is inferred, on all threads",
        ),
        ElementReason::Product => (
            "no matrix instruction of a warp takes this product's operands where they lie",
            "let the fragments be laid by the product, and give shared tiles otherwise",
        ),
        ElementReason::Rows => (
            "a row of this reduction lies on threads that no exchange combines, so that one thread takes its elements one by one: more than 1024",
            "reduce in two steps, or lay the fragment so that a power of two of threads side by side holds each row",
        ),
        ElementReason::Results => (
            "a thread would have more than 256 results of this reduction",
            "use more threads or a smaller fragment",
        ),
        ElementReason::Copies => (
            "several threads execute each iteration, which changes a fragment and memory that it reads: the others may see what the first has written",
            "split the loop, or write a layout without copies",
        ),
    }
}

impl ElementReason {
    /// What is wrong.
    #[must_use]
    pub const fn message(self) -> &'static str {
        words(self).0
    }

    /// What helps.
    #[must_use]
    pub const fn remedy(self) -> &'static str {
        words(self).1
    }
}

//! Why a program has no layouts: what cannot be told to inference, and what it rejected.
use super::timeline::{Timeline, reason};
use crate::problem::Problem;
use crate::program::Source;
use crate::refused::at;
use lanebook::infer::notation::NotationFault;
use lanebook::infer::{FormError, PoolName, Reason, Stop};
use lanebook::ir::{Op, Program};
use lanebook::loops::{LoopError, LoopErrorKind};

/// What a program says that inference cannot be told.
pub fn of_told(program: &Program<'_, '_>, source: &Source, error: LoopError) -> Problem {
    let mut place = program.place(error.op);
    let remedy = match error.kind {
        LoopErrorKind::Operation => {
            "use parallel loops over elements, copy, fill, reduce_into and gemm; constants, indices and scalars; scf.for and scf.if"
        }
        LoopErrorKind::NoThreads => "write {threads = N} behind its arguments",
        LoopErrorKind::Threads => {
            "write threads = [first, end], of which end is at most the function's threads"
        }
        LoopErrorKind::NotNested => {
            "write both in one line, parallel (%i, %j) in (4, 16), or let the inner one be scf.for"
        }
        LoopErrorKind::TileInside => {
            "write it before or after the loop: all threads execute it together"
        }
        LoopErrorKind::Bounds => {
            "write numbers, with the upper bound above the lower one and a positive step; of at most six loops"
        }
        LoopErrorKind::Attr(key) => {
            place = program.place_of(key);
            "parallel: layout = {thread = .., index = .., replicate = ..}, coalesced_width = N, threads = [first, end], exchange = allow; copy: threads, exchange = allow; gemm: policy = Square, FullRow or FullCol, transpose_a, transpose_b (of operands in memory); reduce_into: axis = N, kind = add, max, min or mul; scf.for: num_stages = 1 to 8, outside of parallel loops"
        }
        LoopErrorKind::Buffer(_) => {
            "use a memref, or a tensor with #smem or #fragment, all of whose extents are numbers"
        }
        LoopErrorKind::View => "look at all of it: view %a : tensor<...>",
        LoopErrorKind::Index { .. } => {
            "compute it of loop variables and numbers, or keep the tile in shared memory"
        }
        LoopErrorKind::Extents => {
            "give a side of more dimensions a subscript for each, and one side none"
        }
        LoopErrorKind::OpenExtents(_) => {
            "write its extents as numbers, or copy a part of it: copy %a[%i, %j], %tile"
        }
        LoopErrorKind::Layout(error) => match error.fault {
            NotationFault::Form(error) => of_form(error),
            _ => "write {thread = v0 * 16 + v1, index = 0, replicate = 1}",
        },
        LoopErrorKind::Shared(_) => {
            "write it by rows or columns, swizzled or apart from each other: <(64, 32), (32, 1), swizzle<2, 4, 3>>, <(64, 32), (40, 1)>; of more dimensions row by row"
        }
        LoopErrorKind::Torn(_) => {
            "let what a swizzle leaves together (2 to the middle number, in bytes), strips, and gaps with what stands between them be multiples of the widest element, or leave the layout out"
        }
        LoopErrorKind::NoUnit => {
            "name another architecture with --arch, or change the element types (`lanebook atoms --class matrix` lists the units)"
        }
        LoopErrorKind::PartOfWarp { .. } => {
            "let whole warps compute it: {threads = N} of the function, or threads = [first, end] of the product"
        }
        LoopErrorKind::Depth { .. } => {
            "let the shared dimension of both factors be a multiple of that: fill what is beyond with zeros"
        }
        LoopErrorKind::Warps => "use fewer threads, a larger result, or another policy",
        LoopErrorKind::Products(_) => {
            "give both the policy with which the first one's result is the second one's operand (FullRow and FullRow), or go through shared memory"
        }
        LoopErrorKind::Values { .. } => "split the function",
        LoopErrorKind::Form(error) => of_form(error),
        _ => "report this with the program",
    };
    let what = error.display(program).to_string();
    at(Problem::refused(what, remedy), source, place, String::new())
}

/// What to do about an index map that cannot be computed.
const fn of_form(error: FormError) -> &'static str {
    match error {
        FormError::Full { pool: PoolName::Scratch, .. } => {
            "write it in fewer digits, or split the loop"
        }
        FormError::Full { pool: PoolName::Threads, .. } => "use fewer threads",
        FormError::Full { .. } => "split the function",
        FormError::Overflow => "use smaller extents: indices are below 2^31",
        FormError::Divisor { .. } => "divide by positive numbers",
        FormError::Stale => "write one index for each dimension",
    }
}

/// Why inference stopped.
pub fn of_stop(
    program: &Program<'_, '_>,
    source: &Source,
    timeline: &Timeline,
    stop: Stop,
) -> Problem {
    let (operator, why) = match stop {
        Stop::Failed(error) => {
            return Problem::refused(error.to_string(), of_form(error));
        }
        Stop::Rejected { operator, reason } => (operator, reason),
    };
    let names = timeline.names();
    // What no root could do, the last attempt says in detail.
    let last = timeline.rejected.as_ref();
    let told = last.filter(|r| r.reason == why && r.operator == operator);
    let told = told.or(last.filter(|_| why == Reason::Nothing));
    let text = told.map_or_else(|| reason(names, operator, why), |r| r.text.clone());
    let (operator, why) = told.map_or((operator, why), |r| (r.operator, r.reason));
    let mut problem = Problem::refused(
        format!("{} has no layout: {text}", names.operator(operator)),
        remedy(why),
    );
    let here = |problem: Problem, op: Option<Op>, label: String| match op {
        Some(op) => at(problem, source, program.place(op), label),
        None => problem,
    };
    let reads = matches!(why, Reason::NotOwner { .. } | Reason::InnerVariable { .. });
    let who = if reads { ", the reader" } else { "" };
    problem = here(problem, names.op(operator), format!("{}{who}", names.operator(operator)));
    let layouts = told.map(|r| r.layouts.clone()).unwrap_or_default();
    if let Some(buffer) = why.buffer() {
        let label = layouts.join("; ");
        let owner = told.and_then(|r| r.owner);
        match owner.filter(|owner| *owner != operator) {
            Some(owner) => {
                let text =
                    format!("{} gave {} its layout", names.operator(owner), names.buffer(buffer));
                let label = if label.is_empty() { text } else { format!("{text}: {label}") };
                problem = here(problem, names.op(owner), label);
            }
            None => problem = here(problem, timeline.place(program, buffer), label),
        }
    }
    problem.notes(told.map(|r| r.notes.clone()).unwrap_or_default())
}

fn remedy(why: Reason) -> &'static str {
    match why {
        Reason::NotOwner { .. } => {
            "let the loop, or the copy, read through shared memory: attributes {exchange = allow} (of a copy without the word); or read it where it is owned: give the fragment a layout that puts these elements on the reader's threads (replicate = copies)"
        }
        Reason::NotWritten { .. } => {
            "let every thread that owns an element write it: give the loop or the fragment a layout that says so"
        }
        Reason::InnerVariable { .. } => {
            "let the serial loop be parallel, let the parallel one read through shared memory: attributes {exchange = allow}, or give the fragment a layout whose thread does not depend on that dimension: {thread = v0, index = v1}"
        }
        Reason::OuterVariable { .. } => {
            "index the fragment without the serial loop's variable, or keep the tile in shared memory"
        }
        Reason::Threads { .. } => {
            "let thread be at least 0 and below the number of threads that execute the loop"
        }
        Reason::ThreadRange { .. } => {
            "let all that use the fragment begin at the same thread, let a loop access it through shared memory: attributes {exchange = allow}, or copy it through a shared tile"
        }
        Reason::Reduced { .. } => {
            "leave the result's layout out, or write one that holds an element wherever the operand's row lies"
        }
        Reason::View { .. } => {
            "leave the layout of the view's storage out, or write one that holds all parts of a wider element in one thread, one after the other"
        }
        Reason::Uniform { .. } => {
            "leave the fragment's layout out, or replicate it: {thread = rep, replicate = threads}"
        }
        Reason::NotInjective { .. } => {
            "let thread and index together tell every element from every other"
        }
        Reason::IndexByCopy { .. } => "let only thread depend on rep",
        Reason::Nothing => "run it with --explain: every attempt says what it rejected",
    }
}

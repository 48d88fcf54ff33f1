//! Why a program has no layouts: what cannot be told to inference, and what it rejected.
use super::timeline::{Timeline, reason};
use crate::problem::Problem;
use crate::program::Source;
use crate::refused::at;
use lanebook::infer::{FormError, PoolName, Reason, Stop};
use lanebook::ir::{Op, Program, Value};
use lanebook::loops::notation::{NotationError, NotationFault};
use lanebook::loops::{LoopError, LoopErrorKind};

/// What a program says that inference cannot be told.
pub fn of_told(program: &Program<'_, '_>, source: &Source, error: LoopError) -> Problem {
    let name = |value: Value| program.value_name(value).to_string();
    let mut place = program.place(error.op);
    let (what, remedy): (String, String) = match error.kind {
        LoopErrorKind::Operation => (
            format!(
                "`{}` has no place in a function whose parallel loops are inferred",
                program.op_name(error.op)
            ),
            "use parallel loops over elements, copy, fill, reduce_into and gemm; constants, indices and scalars; scf.for and scf.if".into(),
        ),
        LoopErrorKind::NoThreads => (
            "the function does not say its threads".into(),
            "write {threads = N} behind its arguments".into(),
        ),
        LoopErrorKind::Threads => (
            "these threads are none of the function's".into(),
            "write threads = [first, end], of which end is at most the function's threads".into(),
        ),
        LoopErrorKind::NotNested => (
            "a parallel loop stands in another one's body, beside other operations or with attributes of its own".into(),
            "write both in one line, parallel (%i, %j) in (4, 16), or let the inner one be scf.for".into(),
        ),
        LoopErrorKind::TileInside => (
            "a tile operation stands in a parallel loop".into(),
            "write it before or after the loop: all threads execute it together".into(),
        ),
        LoopErrorKind::Bounds => (
            "the loop's bounds are no numbers that give it a turn".into(),
            "write numbers, with the upper bound above the lower one and a positive step; of at most six loops".into(),
        ),
        LoopErrorKind::Attr(key) => {
            place = program.place_of(key);
            (
                format!(
                    "`{}` of `{}` is not known, or has another value than it takes",
                    program.text(key),
                    program.op_name(error.op)
                ),
                "parallel: layout = {thread = .., index = .., replicate = ..}, coalesced_width = N, threads = [first, end]; gemm: policy = Square, FullRow or FullCol, transpose_a, transpose_b (of operands in memory); reduce_into: axis = N, kind = add, max, min or mul".into(),
            )
        }
        LoopErrorKind::Buffer(value) => (
            format!("%{} is no buffer that a loop reaches", name(value)),
            "use a memref, or a tensor with #smem or #fragment, all of whose extents are numbers".into(),
        ),
        LoopErrorKind::View => (
            "storage is looked at from an offset on, or is none that is known".into(),
            "look at all of it: view %a : tensor<...>".into(),
        ),
        LoopErrorKind::Index { dim, .. } => (
            format!("index {dim} of a fragment depends on data, or on a number below zero whose sign is left out, so nobody knows who owns the element"),
            "compute it of loop variables and numbers, or keep the tile in shared memory".into(),
        ),
        LoopErrorKind::Extents => (
            "the tiles do not have the extents that the operation needs".into(),
            "give a side of more dimensions a subscript for each, and one side none".into(),
        ),
        LoopErrorKind::Layout(error) => of_notation(error),
        LoopErrorKind::NoUnit => (
            "the architecture has no matrix unit for a product of these types and extents".into(),
            "name another architecture with --arch, or change the element types (`lanebook atoms --class matrix` lists the units)".into(),
        ),
        LoopErrorKind::Warps => (
            "the product's result has fewer parts than there are warps".into(),
            "use fewer threads, a larger result, or another policy".into(),
        ),
        LoopErrorKind::Products(_) => (
            "another product has this fragment in a layout that this one cannot take".into(),
            "give both the policy with which the first one's result is the second one's operand (FullRow and FullRow), or go through shared memory".into(),
        ),
        LoopErrorKind::Values { has } => (
            format!("the program is too large: more than {has} values, buffers or operators"),
            "split the function".into(),
        ),
        LoopErrorKind::Form(error) => of_form(error),
        other => (format!("{other:?}"), "report this with the program".into()),
    };
    at(Problem::refused(what, remedy), source, place, String::new())
}

fn of_notation(error: NotationError) -> (String, String) {
    let what = match error.fault {
        NotationFault::Key => "a key is none of thread, index, replicate",
        NotationFault::KeyTwice => "a key is there twice",
        NotationFault::NoThread => "thread = .. is missing",
        NotationFault::Copies => "replicate is no positive number",
        NotationFault::Variable => {
            "a name is none of v0, v1, .. (one for each dimension), rep and the functions"
        }
        NotationFault::Operand => "a number, a variable or `(` is expected",
        NotationFault::Operator => "an operator, `,` or `)` is expected",
        NotationFault::Arguments => "a function takes another number of arguments",
        NotationFault::Deep => "the expression nests too deeply",
        NotationFault::Foreign => "inference does not read this notation",
        NotationFault::Form(error) => return of_form(error),
    };
    (
        format!("the written layout cannot be read: {what} (byte {} of it)", error.offset),
        "write {thread = v0 * 16 + v1, index = 0, replicate = 1}".into(),
    )
}

fn of_form(error: FormError) -> (String, String) {
    match error {
        FormError::Full { pool: PoolName::Scratch, has } => (
            format!("an index has more than {has} parts"),
            "write it in fewer digits, or split the loop".into(),
        ),
        FormError::Full { pool: PoolName::Threads, has } => {
            (format!("there are more than {has} threads"), "use fewer threads".into())
        }
        FormError::Full { pool, has } => (
            format!("the program is too large for inference: more than {has} of {pool:?}"),
            "split the function".into(),
        ),
        FormError::Overflow => (
            "an index, or an extent, is too large".into(),
            "use smaller extents: indices are below 2^31".into(),
        ),
        FormError::Divisor { found } => {
            (format!("an index is divided by {found}"), "divide by positive numbers".into())
        }
        FormError::Stale => (
            "an access has another number of indices than its buffer has dimensions".into(),
            "write one index for each dimension".into(),
        ),
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
            let (what, remedy) = of_form(error);
            return Problem::refused(what, remedy);
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
    problem
}

fn remedy(why: Reason) -> &'static str {
    match why {
        Reason::NotOwner { .. } => {
            "read it where it is owned: give the fragment a layout that puts these elements on the reader's threads (replicate = copies), or go through shared memory"
        }
        Reason::NotWritten { .. } => {
            "let every thread that owns an element write it: give the loop or the fragment a layout that says so"
        }
        Reason::InnerVariable { .. } => {
            "let the serial loop be parallel, or give the fragment a layout whose thread does not depend on that dimension: {thread = v0, index = v1}"
        }
        Reason::OuterVariable { .. } => {
            "index the fragment without the serial loop's variable, or keep the tile in shared memory"
        }
        Reason::Threads { .. } => {
            "let thread be at least 0 and below the number of threads that execute the loop"
        }
        Reason::Reduced { .. } => {
            "leave the result's layout out, or write one that holds an element wherever the operand's row lies"
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

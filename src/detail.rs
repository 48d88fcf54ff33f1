//! Errors as numbers, for who cannot take Rust's enums: C, logs, a wire.
//!
//! Each variant has a number of its own among its kind, from 1, which is never reused;
//! `capi/lanebook.h` says what they mean. The matches name every variant, so a new one does not
//! build before it has a number.

use crate::compile::Error;
use crate::emit::EmitError;
use crate::ir::contract::{At, Breach, BreachKind, Side};
use crate::ir::{ErrorKind, Op, Place};
use crate::plan::PlanError;

/// An error as numbers.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Detail {
    /// Which variant.
    pub number: u32,
    /// The operation that it is about.
    pub op: Option<Op>,
    /// What the variant holds, as far as it is numbers.
    pub numbers: [i64; 3],
}

/// What refused to compile.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Planning: the detail is [`of_plan`]'s.
    Plan(Detail),
    /// Emission: the detail is [`of_emit`]'s.
    Emit(Detail),
    /// The text sink.
    Text,
    /// There is no function.
    NoFunction,
    /// Something that is not obeyed: the detail is [`of_breach`]'s; and where it is written.
    Contract(Detail, Place),
}

/// The parts of an error of compiling.
#[must_use]
pub fn of_compile(e: Error) -> Stage {
    match e {
        Error::Plan(e) => Stage::Plan(of_plan(e)),
        Error::Emit(e) => Stage::Emit(of_emit(e)),
        // The same as emission's own, with the operation.
        Error::Capacity { pool, capacity, op } => {
            Stage::Emit(Detail { op, ..of_emit(EmitError::Capacity { pool, capacity }) })
        }
        Error::Text(_) => Stage::Text,
        Error::NoFunction => Stage::NoFunction,
        Error::Contract(Breach { kind, at }) => {
            Stage::Contract(Detail { op: at.op, ..of_breach(kind) }, at)
        }
    }
}

/// One arm a variant: `NUMBER VARIANT [fields] [at OPERATION] => [numbers];`, as a function and as
/// a list.
macro_rules! details {
    ($(#[$meta:meta])* $function:ident, $(#[$list_meta:meta])* $list:ident of $error:ident:
     $($number:literal $variant:ident $({ $($field:ident),* })? $(($inner:pat))? $(at $op:ident)? => [$($n:expr),*];)*) => {
        $(#[$meta])*
        #[must_use]
        pub fn $function(e: $error) -> Detail {
            match e {
                $($error::$variant $({ $($field,)* .. })? $(($inner))? => Detail { number: $number, op: None$(.or(Some($op)))?, numbers: three(&[$(i64::from($n)),*]) },)*
            }
        }
        $(#[$list_meta])*
        pub const $list: &[(u32, &str)] = &[$(($number, stringify!($variant))),*];
    };
}

details! {
    /// What is wrong with a program.
    of_ir,
    /// Numbers and names of what can be wrong with a program.
    IR of ErrorKind:
    1 Expected {} => [];
    2 UnknownOp => [];
    3 UnknownDtype => [];
    4 Undefined => [];
    5 Redefined { line } => [line];
    6 AliasRedefined => [];
    7 ResultNumber { results } => [results];
    8 NumberTooLarge => [];
    9 Unclosed => [];
    10 AttrTwice => [];
    11 Extent => [];
    12 Capacity { limit } => [limit];
    13 OperandCount { least, most, found } => [least, most, found];
    14 ResultCount { least, most, found } => [least, most, found];
    15 TypeCount { values, types } => [values, types];
    16 RegionCount { expected, found } => [expected, found];
    17 WrittenType { operand } => [operand];
    18 NotDominated { operand } => [operand];
    19 OperandKind { operand } => [operand];
    20 ResultKind { result } => [result];
    21 Extents { a, b } => [a, b];
    22 Ranks { a, b } => [a, b];
    23 Elements { a, b } => [wide(a), wide(b)];
    24 Dtypes {} => [];
    25 Types {} => [];
    26 Subscripts { rank, found } => [rank, found];
    27 RegionValues { needed, found } => [needed, found];
    28 NoTerminator => [];
    29 EarlyTerminator => [];
    30 AttrValue => [];
    31 LayoutText => [];
    32 LayoutSize { layout, tile } => [wide(layout), wide(tile)];
    33 LoopStep => [];
    34 ConstantLiteral => [];
    35 Blocks { depth, blocks } => [depth, blocks];
    36 AliasCycle => [];
    37 Encoding {} => [];
    38 Stale => [];
    39 StillUsed => [];
    40 UnknownWord => [];
    41 Misplaced => [];
    42 Broken => [];
}

details! {
    /// Why there is no plan.
    of_plan,
    /// Numbers and names of why there can be no plan.
    PLAN of PlanError:
    1 Threads { threads, wave, most } => [threads, wave, most];
    2 Unsupported(op) at op => [];
    3 Extents(op) at op => [];
    4 Element(op) at op => [];
    5 NotTraced { op, operand } at op => [operand];
    6 NoMatrixAtom(op) at op => [];
    7 NoMover { op } at op => [];
    8 Conflict { op } at op => [];
    9 Undecided(op) at op => [];
    10 SharedMemory { op, need, have } at op => [need, have];
    11 Capacity { capacity } => [capacity];
    12 UnknownArch => [];
    13 Unscaled { op } at op => [];
    14 Registers { op, registers, most } at op => [registers, most];
    15 Written { op } at op => [];
    16 TensorMemory { op, need, scales, have } at op => [need, scales, have];
    17 TensorReach { op, warps, needed } at op => [warps, needed];
}

details! {
    /// Why there are no instructions.
    of_emit,
    /// Numbers and names of why there can be no instructions.
    EMIT of EmitError:
    1 Step(_) => [];
    2 Expr(_) => [];
    3 Simplify(_) => [];
    4 Select(_) => [];
    5 Capacity { capacity } => [capacity];
    6 Unplanned(op) at op => [];
    7 Index(op) at op => [];
    8 Carried(op) at op => [];
    9 Rules => [];
    10 Constant(op) at op => [];
}

details! {
    /// What of a program is not in the contract.
    of_breach,
    /// Numbers and names of what can be outside of the contract.
    CONTRACT of BreachKind:
    1 Operation => [];
    2 Undeclared => [];
    3 Outside => [];
    4 Function => [];
    5 Region => [];
    6 Attr => [];
    7 AttrTwice => [];
    8 AttrForm {} => [];
    9 AttrRange { value } => [value];
    10 AttrShape {} => [];
    11 AttrMissing { attr } => [attr];
    12 Count { side, least, most, found } => [place(side, found), least, most];
    13 Kind { at, want, found } => [place_of(at), want, found];
    14 Rank { at, least, found } => [place_of(at), least, found];
    15 Element { at } => [place_of(at)];
    16 Subscripts { operand, needed, found } => [operand, needed, found];
    17 Subscript { operand, number } => [operand, number];
    18 Layout { at, found, obeyed } => [place_of(at), found, obeyed];
    19 LayoutTwice => [];
    20 LayoutName => [];
    21 Literal { bits } => [bits];
    22 NoContract => [];
    23 Yield => [];
}

/// Operands from 0, results from 1,000, arguments from 2,000.
const fn place(side: Side, number: u16) -> u32 {
    let first = match side {
        Side::Operand => 0,
        Side::Result => 1_000,
        Side::Argument => 2_000,
    };
    first + number as u32
}

const fn place_of(at: At) -> u32 {
    place(at.side, at.number as u16)
}

/// The first of them, zeros behind.
fn three(numbers: &[i64]) -> [i64; 3] {
    let mut out = [0; 3];
    out.iter_mut().zip(numbers).for_each(|(place, number)| *place = *number);
    out
}

/// A number that may be above what a signed one holds: then its largest.
fn wide(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::{CONTRACT, EMIT, IR, PLAN};
    use std::collections::BTreeSet;
    use std::string::String;
    use std::vec::Vec;

    /// Numbers that the C header describes behind `heading`: `NUMBER WORDS, NUMBER WORDS ... .`
    fn described(heading: &str) -> Vec<u32> {
        let header: String = include_str!("capi/lanebook.h")
            .lines()
            .map(|line| line.trim_start().trim_start_matches("* "))
            .flat_map(|line| [line, " "])
            .collect();
        let (_, rest) = header.split_once(heading).expect("the header has the heading");
        let (list, _) = rest.split_once('.').expect("a full stop ends it");
        list.split(", ").filter_map(|item| item.trim().split_once(' ')?.0.parse().ok()).collect()
    }

    #[test]
    fn every_variant_has_a_number_that_the_header_describes() {
        for (heading, list) in [
            ("for LB_PARSE and LB_VERIFY:", IR),
            ("LB_PLAN:", PLAN),
            ("LB_EMIT:", EMIT),
            ("LB_CONTRACT:", CONTRACT),
        ] {
            let numbers: BTreeSet<u32> = list.iter().map(|(number, _)| *number).collect();
            assert_eq!(numbers.len(), list.len(), "{heading} a number twice");
            assert!(!numbers.contains(&0), "{heading} 0 is no error");
            let told = described(heading);
            assert_eq!(
                told.iter().copied().collect::<BTreeSet<_>>(),
                numbers,
                "{heading} as the header has it"
            );
            assert_eq!(told.len(), list.len(), "{heading} twice in the header");
        }
    }
}

//! Errors as numbers, for who cannot take Rust's enums: C, logs, a wire.
//!
//! Each variant has a number of its own among its kind, from 1, which is never reused. The matches
//! name every variant, so a new one does not build before it has a number. Errors of planning and
//! of emission have theirs beside them, by the same macro.
//!
//! ```
//! use lanebook::ir::detail::{CONTRACT, Detail, IR, of_breach, of_ir};
//! use lanebook::ir::ErrorKind;
//!
//! // Errors as numbers, for the C interface: each has one, which stays, and its sentence.
//! let number: Detail = of_ir(ErrorKind::UnknownOp);
//! assert!(IR.contains(&(number.number, "UnknownOp")) && !CONTRACT.is_empty());
//! # let _ = of_breach;
//! ```

use crate::verify::contract::{At, BreachKind, ValueList};
use crate::{ErrorKind, Op};

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

/// One arm a variant: `NUMBER VARIANT [fields] [at OPERATION] => [numbers];`, as a function and as
/// a list.
#[doc(hidden)]
#[macro_export]
macro_rules! details {
    ($(#[$meta:meta])* $function:ident, $(#[$list_meta:meta])* $list:ident of $error:ident:
     $($number:literal $variant:ident $({ $($field:ident),* })? $(($inner:pat))? $(at $op:ident)? $(in $maybe:ident)? => [$($n:expr),*];)*) => {
        $(#[$meta])*
        #[must_use]
        pub fn $function(e: $error) -> $crate::detail::Detail {
            match e {
                $($error::$variant $({ $($field,)* .. })? $(($inner))? => $crate::detail::Detail { number: $number, op: None$(.or(Some($op)))?$(.or($maybe))?, numbers: $crate::detail::three(&[$(i64::from($n)),*]) },)*
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
    12 Capacity { limit, pool } => [limit, pool as u32];
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
    43 UnknownFunction => [];
    44 SeveralKernels { functions } => [functions];
    45 NoKernel => [];
    46 CallCircle {} => [];
    47 IdleAttr => [];
    48 ReturnedTypes => [];
    49 WhileForm => [];
    50 CarriedIndex => [];
    51 PointerForm => [];
    52 RankForm => [];
    53 RankCount { found, most } => [found, most];
    54 StageForm => [];
    55 PairForm => [];
    56 RankLayout => [];
    57 TensorForm => [];
    58 TensorLayout => [];
    59 UnsettledIndex => [];
    60 IndexBits => [];
    61 Combination => [];
    62 CombinedTwice => [];
    63 PairMixed => [];
    64 ModuleThreads { threads } => [threads];
    65 ModuleClusters => [];
    66 ModuleWarps => [];
    67 LabelForm => [];
    68 AtomicWords => [];
    69 FencedStages => [];
    70 FarPointer => [];
    71 CountedForm => [];
    72 BufferForm => [];
    73 DescriptorForm => [];
    74 LoweredOp => [];
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
const fn place(side: ValueList, number: u16) -> u32 {
    let first = match side {
        ValueList::Operand => 0,
        ValueList::Result => 1_000,
        ValueList::Argument => 2_000,
    };
    first + number as u32
}

const fn place_of(at: At) -> u32 {
    place(at.side, at.number as u16)
}

/// The first of them, zeros behind.
#[doc(hidden)]
#[must_use]
pub fn three(numbers: &[i64]) -> [i64; 3] {
    let mut out = [0; 3];
    out.iter_mut().zip(numbers).for_each(|(place, number)| *place = *number);
    out
}

/// A number that may be above what a signed one holds: then its largest.
#[doc(hidden)]
#[must_use]
pub fn wide(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

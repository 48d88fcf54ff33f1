//! Errors as C sees them: numbers alone. The tables in `lanebook.h` name them; numbers are never reused.

use lanebook::compile::Error;
use lanebook::emit::EmitError;
use lanebook::ir::{self, ErrorKind, Op, Place, Program};
use lanebook::layout::notation::ParseError;
use lanebook::plan::PlanError;

/// How a call ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Code {
    /// Done.
    Ok = 0,
    /// An argument is null, not aligned or too long; `numbers[0]` is its position from 1.
    Argument = 1,
    /// A text is not UTF-8; `offset` is the first wrong byte.
    Utf8 = 2,
    /// No such architecture.
    Arch = 3,
    /// Scratch is too small; `numbers` are the bytes needed and the bytes lent.
    ScratchBytes = 4,
    /// Scratch is not aligned; `numbers` are the alignment needed and the bytes by which the address misses it.
    ScratchAlign = 5,
    /// Scratch overlaps a text.
    Overlap = 6,
    /// The program cannot be read.
    Parse = 7,
    /// The program can be read but is wrong.
    Verify = 8,
    /// The program has no function.
    NoFunction = 9,
    /// No plan: the architecture cannot do it, or room ran out.
    Plan = 10,
    /// No instructions.
    Emit = 11,
    /// The sink refused the text.
    Sink = 12,
    /// The layout cannot be read.
    LayoutText = 13,
    /// The layout has no answer for this coordinate.
    LayoutApply = 14,
    /// The layout has no such axis.
    Axis = 15,
    /// There is no room for the answer; `numbers` are how many there are and how many there is room for.
    Room = 16,
}

/// What went wrong, and where in the text.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct LbError {
    /// A [`Code`].
    pub code: u32,
    /// Which error of that code.
    pub detail: u32,
    /// Line from 1; 0 = nowhere.
    pub line: u32,
    /// Column from 1, in characters; 0 = nowhere.
    pub column: u32,
    /// Byte offset in the text.
    pub offset: u32,
    /// Bytes concerned, from `offset`.
    pub bytes: u32,
    /// The numbers that matter; their meaning depends on `code` and `detail`.
    pub numbers: [i64; 3],
}

impl LbError {
    pub(crate) const fn of(code: Code) -> Self {
        Self { code: code as u32, detail: 0, line: 0, column: 0, offset: 0, bytes: 0, numbers: [0; 3] }
    }
    pub(crate) fn argument(position: u32) -> Self {
        Self { numbers: [i64::from(position), 0, 0], ..Self::of(Code::Argument) }
    }
    fn at(self, place: Place) -> Self {
        Self { line: place.line, column: place.column, offset: place.offset, bytes: u32::from(place.len), ..self }
    }
    pub(crate) fn of_ir(code: Code, e: ir::Error) -> Self {
        let (detail, numbers) = kind(e.kind);
        Self { detail, numbers, ..Self::of(code) }.at(e.at)
    }
    pub(crate) fn of_layout(e: ParseError) -> Self {
        Self { line: e.line, column: e.col, ..Self::of(Code::LayoutText) }
    }
    pub(crate) fn of_compile(e: Error, program: &Program<'_, '_>) -> Self {
        let (code, detail, op, numbers) = match e {
            Error::Plan(e) => {
                let (detail, op, numbers) = plan(e);
                (Code::Plan, detail, op, numbers)
            }
            Error::Emit(e) => {
                let (detail, op, numbers) = emit(e);
                (Code::Emit, detail, op, numbers)
            }
            Error::Text(_) => (Code::Sink, 0, None, [0; 3]),
            Error::NoFunction => (Code::NoFunction, 0, None, [0; 3]),
            _ => (Code::Emit, 0, None, [0; 3]),
        };
        let error = Self { detail, numbers, ..Self::of(code) };
        op.map_or(error, |op| error.at(program.place(op)))
    }
}

fn kind(kind: ErrorKind) -> (u32, [i64; 3]) {
    use ErrorKind as K;
    let n = |a: u32, b: u32, c: u32| [i64::from(a), i64::from(b), i64::from(c)];
    match kind {
        K::Expected { .. } => (1, [0; 3]),
        K::UnknownOp => (2, [0; 3]),
        K::UnknownDtype => (3, [0; 3]),
        K::Undefined => (4, [0; 3]),
        K::Redefined { line } => (5, n(line, 0, 0)),
        K::AliasRedefined => (6, [0; 3]),
        K::ResultNumber { results } => (7, n(results.into(), 0, 0)),
        K::NumberTooLarge => (8, [0; 3]),
        K::Unclosed => (9, [0; 3]),
        K::AttrTwice => (10, [0; 3]),
        K::Extent => (11, [0; 3]),
        K::Capacity { limit, .. } => (12, n(limit, 0, 0)),
        K::OperandCount { least, most, found } => (13, n(least.into(), most.into(), found.into())),
        K::ResultCount { least, most, found } => (14, n(least.into(), most.into(), found.into())),
        K::TypeCount { values, types } => (15, n(values.into(), types.into(), 0)),
        K::RegionCount { expected, found } => (16, n(expected.into(), found.into(), 0)),
        K::WrittenType { operand } => (17, n(operand.into(), 0, 0)),
        K::NotDominated { operand } => (18, n(operand.into(), 0, 0)),
        K::OperandKind { operand, .. } => (19, n(operand.into(), 0, 0)),
        K::ResultKind { result, .. } => (20, n(result.into(), 0, 0)),
        K::Extents { a, b, .. } => (21, n(a, b, 0)),
        K::Ranks { a, b, .. } => (22, n(a.into(), b.into(), 0)),
        K::Elements { a, b } => (23, [wide(a), wide(b), 0]),
        K::Dtypes { .. } => (24, [0; 3]),
        K::Types { .. } => (25, [0; 3]),
        K::Subscripts { rank, found } => (26, n(rank.into(), found.into(), 0)),
        K::RegionValues { needed, found } => (27, n(needed.into(), found.into(), 0)),
        K::NoTerminator => (28, [0; 3]),
        K::EarlyTerminator => (29, [0; 3]),
        K::AttrValue => (30, [0; 3]),
        K::LayoutText => (31, [0; 3]),
        K::LayoutSize { layout, tile } => (32, [wide(layout), wide(tile), 0]),
        K::LoopStep => (33, [0; 3]),
        K::ConstantLiteral => (34, [0; 3]),
        K::Blocks { depth, blocks } => (35, n(depth, blocks, 0)),
        _ => (0, [0; 3]),
    }
}

fn plan(e: PlanError) -> (u32, Option<Op>, [i64; 3]) {
    use PlanError as P;
    match e {
        P::Threads { threads, wave, most } => (1, None, [threads.into(), wave.into(), most.into()]),
        P::Unsupported(op) => (2, Some(op), [0; 3]),
        P::Extents(op) => (3, Some(op), [0; 3]),
        P::Element(op) => (4, Some(op), [0; 3]),
        P::NotTraced { op, operand } => (5, Some(op), [operand.into(), 0, 0]),
        P::NoMatrixAtom(op) => (6, Some(op), [0; 3]),
        P::NoMover { op, .. } => (7, Some(op), [0; 3]),
        P::Conflict { op, .. } => (8, Some(op), [0; 3]),
        P::Undecided(op) => (9, Some(op), [0; 3]),
        P::SharedMemory { op, need, have } => (10, Some(op), [need.into(), have.into(), 0]),
        P::Capacity { capacity, .. } => (11, None, [capacity.into(), 0, 0]),
        P::UnknownArch => (12, None, [0; 3]),
        P::Unscaled { op, .. } => (13, Some(op), [0; 3]),
        #[allow(unreachable_patterns)]
        _ => (0, None, [0; 3]),
    }
}

fn emit(e: EmitError) -> (u32, Option<Op>, [i64; 3]) {
    use EmitError as E;
    match e {
        E::Step(_) => (1, None, [0; 3]),
        E::Expr(_) => (2, None, [0; 3]),
        E::Simplify(_) => (3, None, [0; 3]),
        E::Select(_) => (4, None, [0; 3]),
        E::Capacity { capacity } => (5, None, [capacity.into(), 0, 0]),
        E::Unplanned(op) => (6, Some(op), [0; 3]),
        E::Index(op) => (7, Some(op), [0; 3]),
        E::Carried(op) => (8, Some(op), [0; 3]),
        E::Rules => (9, None, [0; 3]),
        E::Constant(op) => (10, Some(op), [0; 3]),
        #[allow(unreachable_patterns)]
        _ => (0, None, [0; 3]),
    }
}

/// A number that may be above what C's signed type holds: then its largest.
fn wide(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

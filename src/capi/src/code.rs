//! Errors as C sees them: numbers alone. The tables in `lanebook.h` name them; numbers are never
//! reused.

use lanebook::compile::CompileError;
use lanebook::detail::{self, Detail, Stage};
use lanebook::ir::{self, Program, SourcePlace};
use lanebook::layout::notation::ParseError;

/// How a call ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum CallStatus {
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
    /// Scratch is not aligned; `numbers` are the alignment needed and the bytes by which the
    /// address misses it.
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
    /// There is no room for the answer; `numbers` are how many there are and how many there is room
    /// for.
    Room = 16,
    /// The program writes something that is not obeyed.
    Contract = 17,
    /// The query has no answer; the answer's buffer says why.
    Query = 18,
    /// The launch has no number of blocks; the detail says why.
    Grid = 19,
    /// A layout of a conversion is none that registers can have; the detail says which and why.
    Convert = 20,
}

/// What went wrong, and where in the text.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct LbError {
    /// A [`CallStatus`].
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
    pub(crate) const fn of(code: CallStatus) -> Self {
        Self {
            code: code as u32,
            detail: 0,
            line: 0,
            column: 0,
            offset: 0,
            bytes: 0,
            numbers: [0; 3],
        }
    }
    pub(crate) fn argument(position: u32) -> Self {
        Self { numbers: [i64::from(position), 0, 0], ..Self::of(CallStatus::Argument) }
    }
    fn at(self, place: SourcePlace) -> Self {
        Self {
            line: place.line,
            column: place.column,
            offset: place.offset,
            bytes: u32::from(place.len),
            ..self
        }
    }
    pub(crate) fn of_ir(code: CallStatus, e: ir::IrError) -> Self {
        Self::of(code).with(detail::of_ir(e.kind)).at(e.at)
    }
    fn with(self, detail: Detail) -> Self {
        Self { detail: detail.number, numbers: detail.numbers, ..self }
    }
    pub(crate) fn of_layout(e: ParseError) -> Self {
        Self { line: e.line, column: e.col, ..Self::of(CallStatus::LayoutText) }
    }
    pub(crate) fn of_compile(e: CompileError, program: &Program<'_, '_>) -> Self {
        let (code, detail) = match detail::of_compile(e) {
            Stage::Plan(detail) => (CallStatus::Plan, detail),
            Stage::Emit(detail) => (CallStatus::Emit, detail),
            Stage::Text => return Self::of(CallStatus::Sink),
            Stage::NoFunction => return Self::of(CallStatus::NoFunction),
            Stage::Contract(detail, place) => {
                return Self::of(CallStatus::Contract).with(detail).at(place);
            }
        };
        let error = Self::of(code).with(detail);
        detail.op.map_or(error, |op| error.at(program.place(op)))
    }
}

//! Expressions: read from left to right and computed on the way, with a stack of calls in lent memory.

use crate::algebra;
use crate::error::{Needed, Why};
use crate::functions::QueryFunction;
use crate::instruction;
use crate::literal::{self, Fault, tiles};
use crate::named_axes;
use crate::shaped;
use crate::text::{Scanner, TextSpan};
use crate::units;
use crate::value::{Asked, QueryStorage, QueryValue};

/// Most calls and brackets that are open at once.
const MAX_FRAMES: usize = 12;

/// What is open.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Open {
    Call(QueryFunction),
    Bracket,
    /// Behind an `o`, which has no closing sign.
    After,
}

#[derive(Copy, Clone)]
struct Frame {
    open: Open,
    /// The first value that belongs to it.
    base: u8,
    /// Where it is written.
    at: u32,
}

/// Where reading stands.
#[derive(Copy, Clone, PartialEq, Eq)]
enum ReadPhase {
    /// An operand follows.
    Operand,
    /// The last value is complete but for its shape, and what it stands behind.
    Value,
    /// A comma, a closing bracket or the end follows.
    Behind,
}

/// The calls that are open, and where reading stands.
struct OpenCalls {
    frames: heapless::Vec<Frame, MAX_FRAMES>,
    used: u8,
    phase: ReadPhase,
    /// The shape that the last value's type gives it.
    tile: Option<literal::TileType>,
    /// The bits of an element that it gives it.
    bits: u16,
}

impl OpenCalls {
    fn open(&mut self, open: Open, at: u32) -> Result<(), Fault> {
        let frame = Frame { open, base: self.used, at };
        self.frames.push(frame).map_err(|_| (at, Why::TooDeep))
    }

    fn last(&self) -> usize {
        usize::from(self.used).saturating_sub(1)
    }
}

/// What an operand turned out to be.
enum ReadOperand {
    /// A value, in its place.
    Value,
    /// A call or bracket: its first operand follows.
    Opened(Open),
}

/// What reading leaves to do. It is done when the reader has returned: what reads and what computes never stand on the
/// stack together.
enum NextStep {
    /// Nothing: reading goes on.
    Read,
    /// A call over the values from one number to before another.
    Call { function: QueryFunction, base: u8, used: u8, at: u32 },
    /// The last value stands behind an `o`.
    After { at: u32 },
    /// The last value gets a shape.
    Shape { extents: heapless::Vec<u32, 5>, at: u32 },
    /// The expression is complete, a question if it is one.
    Done(Option<QueryFunction>),
}

/// Computes the expression at hand into value 0.
pub(crate) fn expression(
    asked: Asked<'_>,
    scan: &mut Scanner<'_>,
    storage: &mut QueryStorage,
) -> Result<Option<QueryFunction>, Fault> {
    let mut reading = OpenCalls {
        frames: heapless::Vec::new(),
        used: 0,
        phase: ReadPhase::Operand,
        tile: None,
        bits: 0,
    };
    loop {
        match step(asked, scan, storage, &mut reading)? {
            NextStep::Read => {}
            NextStep::Call { function, base, used, at } => {
                let (base, used) = (usize::from(base), usize::from(used));
                call(asked, function, scan.text, storage, base, used).map_err(|why| (at, why))?;
            }
            NextStep::After { at } => {
                shaped::after(storage, reading.last()).map_err(|why| (at, why))?;
            }
            NextStep::Shape { extents, at } => {
                let last = reading.last();
                shaped::give(asked, storage, last, &extents).map_err(|why| (at, why))?;
            }
            NextStep::Done(question) => return Ok(question),
        }
    }
}

/// Reads on to the next thing to do.
#[inline(never)]
fn step(
    asked: Asked<'_>,
    scan: &mut Scanner<'_>,
    storage: &mut QueryStorage,
    reading: &mut OpenCalls,
) -> Result<NextStep, Fault> {
    scan.peek();
    let at = TextSpan::new(scan.at, scan.at).start;
    match reading.phase {
        ReadPhase::Operand if scan.eats_type() => {
            let tile = literal::tile_type(asked.tables, scan, storage, usize::from(reading.used))?;
            reading.tile = Some(tile);
            storage.begins(usize::from(reading.used), at);
            reading.used = reading.used.saturating_add(1);
            reading.phase = ReadPhase::Value;
            Ok(NextStep::Read)
        }
        ReadPhase::Operand => {
            match operand(asked, scan, storage, usize::from(reading.used))? {
                ReadOperand::Opened(open) => {
                    reading.open(open, at)?;
                    // A call of nothing.
                    if scan.peek() == Some(b')') {
                        reading.phase = ReadPhase::Behind;
                    }
                }
                ReadOperand::Value => {
                    storage.begins(usize::from(reading.used), at);
                    reading.used = reading.used.saturating_add(1);
                    reading.phase = ReadPhase::Value;
                }
            }
            Ok(NextStep::Read)
        }
        ReadPhase::Value => {
            let last = reading.last();
            if let Some(tile) = reading.tile.take() {
                reading.bits = tile.bits;
                return Ok(NextStep::Shape { extents: tile.extents, at });
            }
            if let QueryValue::Layout(placed) = storage.slot(last)
                && reading.bits > 0
            {
                placed.elements.bits = core::mem::take(&mut reading.bits);
            }
            let alone = matches!(storage.value(last), QueryValue::Encoding(_));
            if let Some(extents) = scan.shape(alone) {
                return Ok(NextStep::Shape { extents, at });
            }
            if scan.eat_word("of") {
                typed(asked, scan, storage, last)?;
                return Ok(NextStep::Read);
            }
            if let Some(frame) = reading.frames.last().copied()
                && frame.open == Open::After
                && !(shaped::waits(storage, usize::from(frame.base)) && scan.sees("o"))
            {
                reading.frames.pop();
                reading.used = frame.base;
                return Ok(NextStep::After { at: frame.at });
            }
            reading.phase = ReadPhase::Behind;
            Ok(NextStep::Read)
        }
        ReadPhase::Behind => behind(scan, storage, reading, at),
    }
}

/// What follows a complete operand.
fn behind(
    scan: &mut Scanner<'_>,
    storage: &mut QueryStorage,
    reading: &mut OpenCalls,
    at: u32,
) -> Result<NextStep, Fault> {
    if scan.eat_word("o") || scan.eat_joint() {
        reading.open(Open::After, at)?;
        reading.phase = ReadPhase::Operand;
        return Ok(NextStep::Read);
    }
    let Some(frame) = reading.frames.last().copied() else { return Ok(NextStep::Done(None)) };
    if matches!(frame.open, Open::Call(_)) && scan.eat(b',') {
        reading.phase = ReadPhase::Operand;
        return Ok(NextStep::Read);
    }
    if !scan.eat(b')') {
        let needed = match frame.open {
            Open::Call(_) => Needed::CommaOrClose,
            _ => Needed::CloseBracket,
        };
        return Err((at, Why::Needed(needed)));
    }
    reading.frames.pop();
    reading.phase = ReadPhase::Value;
    let Open::Call(function) = frame.open else { return Ok(NextStep::Read) };
    let (base, used) = (frame.base, reading.used);
    let found = used.saturating_sub(base);
    let form = function.form().ok_or((frame.at, Why::UnknownFunction))?;
    if found < form.arguments.0 || found > form.arguments.1 {
        return Err((frame.at, Why::Arguments { function, found }));
    }
    if function.is_question() {
        // A question is no operand: nothing but the end may follow.
        if !reading.frames.is_empty() {
            return Err((frame.at, Why::Nested { function }));
        }
        storage.used = found;
        return Ok(NextStep::Done(Some(function)));
    }
    reading.used = base.saturating_add(1);
    storage.begins(usize::from(base), frame.at);
    Ok(NextStep::Call { function, base, used, at: frame.at })
}

/// Calls a function over the values from `base` on; the answer takes the place of the first.
fn call(
    asked: Asked<'_>,
    function: QueryFunction,
    text: &str,
    storage: &mut QueryStorage,
    base: usize,
    used: usize,
) -> Result<(), Why> {
    if function == QueryFunction::RegisterTile && used.saturating_sub(base) == 3 {
        units::spread(asked, storage, base, text)?;
        let args = storage.values.get_mut(base..used.saturating_add(1)).ok_or(Why::TooDeep)?;
        return algebra::apply(function, args, text);
    }
    if function == QueryFunction::Scales {
        return shaped::scales(asked, storage, base);
    }
    if function == QueryFunction::Addressed {
        return shaped::addressed(asked, storage, base);
    }
    if function == QueryFunction::PermuteColumns {
        return shaped::permuted(asked, storage, base, text);
    }
    let args = storage.values.get_mut(base..used).ok_or(Why::TooDeep)?;
    if named_axes::answers(function, args.len()) {
        return named_axes::apply(asked, function, args);
    }
    if function == QueryFunction::OperandTile {
        return units::operand_tile(asked, args, text);
    }
    if algebra::makes_layout(function) {
        return algebra::apply(function, args, text);
    }
    algebra::measure(function, args, text)
}

/// Takes the type behind `of`.
fn typed(
    asked: Asked<'_>,
    scan: &mut Scanner<'_>,
    storage: &mut QueryStorage,
    at: usize,
) -> Result<(), Fault> {
    let word = scan.word();
    let bits =
        literal::element_bits(asked.tables, word.of(scan.text)).map_err(|why| (word.start, why))?;
    match storage.slot(at) {
        QueryValue::Layout(placed) => {
            placed.elements.bits = bits;
            Ok(())
        }
        value @ QueryValue::Descriptor(_) => {
            literal::of_width(value, bits).map_err(|why| (word.start, why))
        }
        other => Err((word.start, other.no_layout())),
    }
}

/// Reads one operand into value `at`, or opens a call.
fn operand(
    asked: Asked<'_>,
    scan: &mut Scanner<'_>,
    storage: &mut QueryStorage,
    at: usize,
) -> Result<ReadOperand, Fault> {
    let here = TextSpan::new(scan.at, scan.at).start;
    let first = scan.peek().ok_or((here, Why::Needed(Needed::Operand)))?;
    if storage.values.len() <= at {
        return Err((here, Why::TooDeep));
    }
    let slot = |storage: &mut QueryStorage, value: QueryValue| {
        storage.set(at, value).map(|()| ReadOperand::Value).map_err(|why| (here, why))
    };
    match first {
        b'#' => literal::encoding(scan, storage, at).map(|()| ReadOperand::Value),
        b'<' | b'(' if tiles::follow(scan) => {
            tiles::read(scan, storage, at).map(|()| ReadOperand::Value)
        }
        b'<' => {
            literal::descriptor(scan, asked.tables, storage.slot(at)).map(|()| ReadOperand::Value)
        }
        b'{' => literal::fragment(scan, storage, at).map(|()| ReadOperand::Value),
        b'"' | b'\'' => {
            let quoted = quoted(scan).ok_or((here, Why::Needed(Needed::CloseBracket)))?;
            slot(storage, QueryValue::Word(quoted))
        }
        b'(' if opens_bracket(scan) => {
            scan.eat(b'(');
            Ok(ReadOperand::Opened(Open::Bracket))
        }
        b'(' | b'-' | b'?' => literal::tree(scan, storage, at).map(|()| ReadOperand::Value),
        b'0'..=b'9' => {
            let mut ahead = *scan;
            let word = ahead.word();
            if word.of(scan.text).bytes().all(|b| b.is_ascii_digit()) {
                return literal::tree(scan, storage, at).map(|()| ReadOperand::Value);
            }
            *scan = ahead;
            slot(storage, QueryValue::Word(word))
        }
        b'_' | b'a'..=b'z' | b'A'..=b'Z' => named(asked, scan, storage, at),
        _ => Err((here, Why::Needed(Needed::Operand))),
    }
}

/// A text between quotes, with them.
fn quoted(scan: &mut Scanner<'_>) -> Option<TextSpan> {
    let start = scan.at;
    let quote = scan.text.as_bytes().get(start).copied()?;
    let inside = scan.text.get(start.saturating_add(1)..)?;
    let length = inside.bytes().position(|b| b == quote)?;
    scan.at = start.saturating_add(length).saturating_add(2);
    Some(TextSpan::new(start, scan.at))
}

/// Whether the `(` at hand holds an expression, and is no tuple: something in it is called, or has brackets of a
/// notation.
fn opens_bracket(scan: &Scanner<'_>) -> bool {
    let mut ahead = *scan;
    let Some(span) = ahead.bracket() else { return false };
    // `(..):(..)` is a layout.
    if ahead.peek() == Some(b':') {
        return false;
    }
    let inside = span.of(scan.text).as_bytes();
    let called = inside.windows(2).any(|pair| {
        matches!(pair, [before, b'(' | b'[' | b'<'] if before.is_ascii_alphanumeric() || *before == b'_')
    });
    called || inside.contains(&b'#') || inside.contains(&b':')
}

/// Reads what begins with a name: a call, a literal, a name of `let`, an instruction, a word.
fn named(
    asked: Asked<'_>,
    scan: &mut Scanner<'_>,
    storage: &mut QueryStorage,
    at: usize,
) -> Result<ReadOperand, Fault> {
    let here = TextSpan::new(scan.at, scan.at).start;
    let mut ahead = *scan;
    let name = ahead.name().unwrap_or_default();
    let next = ahead.peek();
    match (name, next) {
        ("S" | "Sw" | "Swizzle", Some(b'<')) => {
            return literal::swizzle(scan, storage.slot(at)).map(|()| ReadOperand::Value);
        }
        ("smem_ptr" | "gmem_ptr" | "ptr", Some(b'[')) => {
            return literal::pointer(scan, storage.slot(at)).map(|()| ReadOperand::Value);
        }
        ("S" | "R", Some(b'['))
        | ("TileLayout", Some(b'.'))
        | ("TileLayout" | "ComposeLayout" | "SwizzleLayout", Some(b'(')) => {
            return literal::sum(scan, storage, at).map(|()| ReadOperand::Value);
        }
        ("Fragment", Some(b'(')) => {
            return literal::fragment(scan, storage, at).map(|()| ReadOperand::Value);
        }
        ("T", Some(b'.')) => {
            ahead.eat(b'.');
            match ahead.name() {
                Some("S" | "R" | "TileLayout" | "ComposeLayout" | "SwizzleLayout") => {
                    return literal::sum(scan, storage, at).map(|()| ReadOperand::Value);
                }
                Some("Fragment") => {
                    return literal::fragment(scan, storage, at).map(|()| ReadOperand::Value);
                }
                _ => {}
            }
        }
        ("atom", Some(b'(')) => {
            return instruction::operand_of(asked, scan, storage, at).map(|()| ReadOperand::Value);
        }
        (_, Some(b'(')) => {
            let function = QueryFunction::named(name).ok_or((here, Why::UnknownFunction))?;
            ahead.eat(b'(');
            *scan = ahead;
            return Ok(ReadOperand::Opened(Open::Call(function)));
        }
        // A symbol's name begins a layout: `M:1`, `M*N:1`.
        (_, Some(b':' | b'*')) if !scan_double_colon(&ahead) => {
            return literal::tree(scan, storage, at).map(|()| ReadOperand::Value);
        }
        _ => {}
    }
    if next != Some(b'.') && storage.recall(name, at) {
        *scan = ahead;
        return Ok(ReadOperand::Value);
    }
    instruction::word(asked, scan, storage, at).map(|()| ReadOperand::Value)
}

fn scan_double_colon(scan: &Scanner<'_>) -> bool {
    scan.text.get(scan.at..).is_some_and(|rest| rest.starts_with("::"))
}

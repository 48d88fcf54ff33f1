//! Expressions: read from left to right and computed on the way, with a stack of calls in lent memory.

use crate::algebra;
use crate::error::{KindOfValue, Needed, Why};
use crate::functions::QueryFunction;
use crate::instruction;
use crate::literal::{self, Fault};
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
    base: usize,
    /// Where it is written.
    at: u32,
}

/// The calls that are open.
struct Frames(heapless::Vec<Frame, MAX_FRAMES>);

impl Frames {
    fn push(&mut self, open: Open, base: usize, at: u32) -> Result<(), Fault> {
        self.0.push(Frame { open, base, at }).map_err(|_| (at, Why::TooDeep))
    }
}

/// What an operand turned out to be.
enum ReadOperand {
    /// A value, in its place.
    Value,
    /// A call or bracket: its first operand follows.
    Opened(Open),
}

/// Computes the expression at hand into value 0.
pub(crate) fn expression(
    asked: Asked<'_>,
    scan: &mut Scanner<'_>,
    storage: &mut QueryStorage,
) -> Result<Option<QueryFunction>, Fault> {
    let mut frames = Frames(heapless::Vec::new());
    let mut used = 0usize;
    loop {
        scan.peek();
        let at = TextSpan::new(scan.at, scan.at).start;
        if let ReadOperand::Opened(open) = operand(asked, scan, storage, used)? {
            frames.push(open, used, at)?;
            if scan.peek() != Some(b')') {
                continue;
            }
            // A call of nothing: only a question can be one.
            if let Next::Done(function) = behind(asked, scan, storage, &mut frames, &mut used)? {
                return Ok(function);
            }
            continue;
        }
        used = used.saturating_add(1);
        settle(asked, scan, storage, &mut frames, &mut used)?;
        match behind(asked, scan, storage, &mut frames, &mut used)? {
            Next::Operand => {}
            Next::Done(function) => return Ok(function),
        }
    }
}

enum Next {
    Operand,
    Done(Option<QueryFunction>),
}

/// What follows a complete operand.
fn behind(
    asked: Asked<'_>,
    scan: &mut Scanner<'_>,
    storage: &mut QueryStorage,
    frames: &mut Frames,
    used: &mut usize,
) -> Result<Next, Fault> {
    loop {
        scan.peek();
        let at = TextSpan::new(scan.at, scan.at).start;
        if scan.eat_word("o") {
            frames.push(Open::After, *used, at)?;
            return Ok(Next::Operand);
        }
        let Some(frame) = frames.0.last().copied() else { return Ok(Next::Done(None)) };
        if matches!(frame.open, Open::Call(_)) && scan.eat(b',') {
            return Ok(Next::Operand);
        }
        if !scan.eat(b')') {
            let needed = match frame.open {
                Open::Call(_) => Needed::CommaOrClose,
                _ => Needed::CloseBracket,
            };
            return Err((at, Why::Needed(needed)));
        }
        frames.0.pop();
        if let Open::Call(function) = frame.open {
            let question = call(asked, function, scan.text, storage, frame.base, *used)
                .map_err(|why| (frame.at, why))?;
            if question {
                // A question is no operand: nothing but the end may follow.
                if !frames.0.is_empty() {
                    return Err((frame.at, Why::Nested { function }));
                }
                return Ok(Next::Done(Some(function)));
            }
            *used = frame.base.saturating_add(1);
        }
        settle(asked, scan, storage, frames, used)?;
    }
}

/// Gives the last value the shape behind it, and puts it behind the one before where an `o` stands between them.
fn settle(
    asked: Asked<'_>,
    scan: &mut Scanner<'_>,
    storage: &mut QueryStorage,
    frames: &mut Frames,
    used: &mut usize,
) -> Result<(), Fault> {
    shape(asked, scan, storage, used.saturating_sub(1))?;
    while let Some(frame) = frames.0.last().copied().filter(|frame| frame.open == Open::After) {
        frames.0.pop();
        *used = frame.base;
        shaped::after(storage, used.saturating_sub(1)).map_err(|why| (frame.at, why))?;
        shape(asked, scan, storage, used.saturating_sub(1))?;
    }
    Ok(())
}

/// Calls a function over the values from `base` on. Whether it is a question, whose arguments stay where they are.
fn call(
    asked: Asked<'_>,
    function: QueryFunction,
    text: &str,
    storage: &mut QueryStorage,
    base: usize,
    used: usize,
) -> Result<bool, Why> {
    let found = u8::try_from(used.saturating_sub(base)).unwrap_or(u8::MAX);
    let form = function.form().ok_or(Why::UnknownFunction)?;
    if found < form.arguments.0 || found > form.arguments.1 {
        return Err(Why::Arguments { function, found });
    }
    if function.is_question() {
        storage.used = found;
        return Ok(true);
    }
    let args = storage.values.get_mut(base..used).ok_or(Why::TooDeep)?;
    if function == QueryFunction::OperandTile {
        units::operand_tile(asked, args, text)?;
    } else if algebra::makes_layout(function) {
        algebra::apply(function, args, text)?;
    } else {
        let answer = algebra::measure(function, args, text)?;
        storage.set(base, answer)?;
    }
    Ok(false)
}

/// Takes `@ 16x8` and `of f16` behind a value.
fn shape(
    asked: Asked<'_>,
    scan: &mut Scanner<'_>,
    storage: &mut QueryStorage,
    at: usize,
) -> Result<(), Fault> {
    let alone = matches!(storage.value(at), QueryValue::Encoding(_));
    let here = TextSpan::new(scan.at, scan.at).start;
    if let Some(extents) = scan.shape(alone) {
        shaped::give(asked, storage, at, &extents).map_err(|why| (here, why))?;
    }
    if !scan.eat_word("of") {
        return Ok(());
    }
    let word = scan.word();
    let bits =
        literal::element_bits(asked.tables, word.of(scan.text)).map_err(|why| (word.start, why))?;
    match storage.slot(at) {
        QueryValue::Layout(placed) => {
            placed.elements.bits = bits;
            Ok(())
        }
        QueryValue::Encoding(_) => Err((here, Why::NeedsShape)),
        other => Err((here, Why::Kind { wanted: KindOfValue::Layout, found: other.kind() })),
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
        b'#' => literal::encoding(scan, storage.slot(at)).map(|()| ReadOperand::Value),
        b'<' => {
            literal::descriptor(scan, asked.tables, storage.slot(at)).map(|()| ReadOperand::Value)
        }
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
        ("S" | "Sw", Some(b'<')) => {
            return literal::swizzle(scan, storage.slot(at)).map(|()| ReadOperand::Value);
        }
        ("smem_ptr" | "gmem_ptr" | "ptr", Some(b'[')) => {
            return literal::pointer(scan, storage.slot(at)).map(|()| ReadOperand::Value);
        }
        ("S" | "R", Some(b'['))
        | ("TileLayout" | "ComposeLayout" | "SwizzleLayout", Some(b'(')) => {
            return literal::sum(scan, storage, at).map(|()| ReadOperand::Value);
        }
        ("T", Some(b'.')) => {
            ahead.eat(b'.');
            if matches!(
                ahead.name(),
                Some("S" | "R" | "TileLayout" | "ComposeLayout" | "SwizzleLayout")
            ) {
                return literal::sum(scan, storage, at).map(|()| ReadOperand::Value);
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
    if next != Some(b'.')
        && let Some(found) = storage.find(name).cloned()
    {
        *scan = ahead;
        return storage.set(at, found).map(|()| ReadOperand::Value).map_err(|why| (here, why));
    }
    instruction::word(asked, scan, storage, at).map(|()| ReadOperand::Value)
}

fn scan_double_colon(scan: &Scanner<'_>) -> bool {
    scan.text.get(scan.at..).is_some_and(|rest| rest.starts_with("::"))
}

//! Layouts as people write them: `{thread = v0 * 16 + v1, index = 0, replicate = 2}`.
//!
//! An expression is over `v0`, `v1`, .. (dimensions of a buffer, loops of a nest) and `rep`, the
//! number of the copy: whole numbers, `+ - * // %`, `& ^ |`, `<< >>`, comparisons, brackets, and
//! `min max lt le gt ge eq ne xor select` as functions. `//` and `/` divide toward minus infinity.
//! ExpressionReader and printing keep stacks of their own; nothing recurses.

use core::fmt::{self, Write};
use lanebook_infer::{
    BaseId, DigitTerm, FormArena, FormBase, FormError, FormOp, FragmentForm, IndexForm, VarRange,
    VarRole,
};
use lanebook_ir::print_integer as integer;

/// Most operands, and most operators, of an expression that wait for others.
const MAX_WAITING: usize = 32;

/// What is wrong with a written layout.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum NotationFault {
    /// A key other than `thread`, `index`, `replicate`.
    Key,
    /// A key is there twice.
    KeyTwice,
    /// `thread = ..` is missing.
    NoThread,
    /// `replicate` is no positive number.
    Copies,
    /// A variable other than `v0`, .. as many as there are dimensions, and `rep`.
    Variable,
    /// A number, a variable or a bracket is expected.
    Operand,
    /// An operator or a closing bracket is expected.
    Operator,
    /// The function takes another number of arguments.
    Arguments,
    /// The expression nests too deeply.
    Deep,
    /// Another notation.
    Foreign,
    /// The map cannot be computed.
    Form(FormError),
}

/// What is wrong with a written layout, and where in its text.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct NotationError {
    /// What.
    pub fault: NotationFault,
    /// The byte of the text.
    pub offset: u32,
}

lanebook_layout::sentences! { NotationFault, sink;
    Key => ("a key is none of thread, index, replicate");
    KeyTwice => ("a key is there twice");
    NoThread => ("thread = .. is missing");
    Copies => ("replicate is no positive number");
    Variable => ("a name is none of v0, v1, .. (one for each dimension), rep and the functions");
    Operand => ("a number, a variable or `(` is expected");
    Operator => ("an operator, `,` or `)` is expected");
    Arguments => ("a function takes another number of arguments");
    Deep => ("the expression nests too deeply");
    Foreign => ("inference does not read this notation");
    Form(error) => { error.write_text(sink) };
}

impl NotationError {
    /// Writes what is wrong, and at which byte of the text unless the map itself cannot be computed.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn write_text(&self, sink: &mut impl core::fmt::Write) -> core::fmt::Result {
        if let NotationFault::Form(error) = self.fault {
            return error.write_text(sink);
        }
        sink.write_str("the written layout cannot be read: ")?;
        self.fault.write_text(sink)?;
        lanebook_layout::sentence!(sink, " (byte ~ of it)", self.offset)
    }
}

lanebook_layout::shown!(NotationError);

type NotationResult<T> = Result<T, NotationError>;

const fn fault(fault: NotationFault, at: usize) -> NotationError {
    NotationError { fault, offset: if at > u32::MAX as usize { u32::MAX } else { at as u32 } }
}

/// Reads a layout over `vars`.
///
/// # Errors
/// The first thing that is wrong with the text.
pub fn read(arena: &mut FormArena<'_>, vars: VarRange, text: &str) -> NotationResult<FragmentForm> {
    let entries = entries(text)?;
    let copies = match entries.copies {
        None => 1,
        Some((start, end)) => {
            let digits = text.get(start..end).unwrap_or("").trim_ascii();
            let number = digits.parse::<u32>().ok().filter(|n| *n > 0);
            number.ok_or(fault(NotationFault::Copies, start))?
        }
    };
    let Some(thread) = entries.thread else { return Err(fault(NotationFault::NoThread, 0)) };
    let form = |at: usize| move |e| fault(NotationFault::Form(e), at);
    let copy = arena.var(copies, VarRole::Copy).map_err(form(0))?;
    let names = VarNames { vars, copy };
    let threads = expression(arena, &names, text, thread)?;
    match entries.index {
        None => arena.by_threads(vars, copy, threads).map_err(form(thread.0)),
        Some(index) => {
            let index = expression(arena, &names, text, index)?;
            arena.fragment(vars, copy, threads, index).map_err(form(thread.0))
        }
    }
}

/// A layout in another notation.
pub(crate) const fn foreign() -> NotationError {
    fault(NotationFault::Foreign, 0)
}

/// Whether a text is in this notation.
#[must_use]
pub fn is_fragment_text(text: &str) -> bool {
    text.trim_ascii_start().starts_with('{')
}

/// Where the values of keys lie.
#[derive(Default)]
struct LayoutKeys {
    thread: Option<(usize, usize)>,
    index: Option<(usize, usize)>,
    copies: Option<(usize, usize)>,
}

fn entries(text: &str) -> NotationResult<LayoutKeys> {
    let mut out = LayoutKeys::default();
    let begin = text.bytes().position(|b| b == b'{').map_or(0, |k| k.saturating_add(1));
    let end = text.bytes().rposition(|b| b == b'}').unwrap_or(text.len());
    let mut at = begin;
    while at < end {
        let part = text.get(at..end).unwrap_or("");
        let stop = at.saturating_add(part_end(part));
        let entry = text.get(at..stop).unwrap_or("");
        if let Some(equals) = entry.bytes().position(|b| b == b'=') {
            let key = entry.get(..equals).unwrap_or("").trim_ascii();
            let place = (at.saturating_add(equals).saturating_add(1), stop);
            let slot = match key {
                "thread" => &mut out.thread,
                "index" => &mut out.index,
                "replicate" => &mut out.copies,
                _ => return Err(fault(NotationFault::Key, at)),
            };
            if slot.replace(place).is_some() {
                return Err(fault(NotationFault::KeyTwice, at));
            }
        } else if !entry.trim_ascii().is_empty() {
            return Err(fault(NotationFault::Key, at));
        }
        at = stop.saturating_add(1);
    }
    Ok(out)
}

/// The first comma outside of brackets, or the end.
fn part_end(text: &str) -> usize {
    let mut depth = 0u32;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth = depth.saturating_add(1),
            b')' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => return at,
            _ => {}
        }
    }
    text.len()
}

/// The variables of a layout by their names.
struct VarNames {
    vars: VarRange,
    copy: BaseId,
}

impl VarNames {
    fn find(&self, name: &str) -> Option<BaseId> {
        if name == "rep" {
            return Some(self.copy);
        }
        let number = name.strip_prefix('v')?.parse::<usize>().ok()?;
        self.vars.iter().nth(number)
    }
}

/// What waits for its operands.
#[derive(Copy, Clone, PartialEq, Eq)]
enum PendingOperator {
    Two(Infix),
    Minus,
    Open,
    Call(Function, u8),
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum Infix {
    Add,
    Sub,
    Shl,
    Shr,
    Plain(FormOp),
    /// The operation on exchanged operands.
    Turned(FormOp),
    /// 1 less the operation.
    Not(FormOp),
    /// 1 less the operation on exchanged operands.
    NotTurned(FormOp),
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum Function {
    Two(Infix),
    Select,
}

const INFIX: &[(&str, Infix, u8)] = &[
    ("//", Infix::Plain(FormOp::Div), 7),
    ("<<", Infix::Shl, 5),
    (">>", Infix::Shr, 5),
    ("<=", Infix::NotTurned(FormOp::Less), 1),
    (">=", Infix::Not(FormOp::Less), 1),
    ("==", Infix::Plain(FormOp::Equal), 1),
    ("!=", Infix::Not(FormOp::Equal), 1),
    ("<", Infix::Plain(FormOp::Less), 1),
    (">", Infix::Turned(FormOp::Less), 1),
    ("/", Infix::Plain(FormOp::Div), 7),
    ("*", Infix::Plain(FormOp::Mul), 7),
    ("%", Infix::Plain(FormOp::Rem), 7),
    ("+", Infix::Add, 6),
    ("-", Infix::Sub, 6),
    ("&", Infix::Plain(FormOp::And), 4),
    ("^", Infix::Plain(FormOp::Xor), 3),
    ("|", Infix::Plain(FormOp::Or), 2),
];

const FUNCTIONS: &[(&str, Function)] = &[
    ("min", Function::Two(Infix::Plain(FormOp::Min))),
    ("max", Function::Two(Infix::Plain(FormOp::Max))),
    ("xor", Function::Two(Infix::Plain(FormOp::Xor))),
    ("lt", Function::Two(Infix::Plain(FormOp::Less))),
    ("gt", Function::Two(Infix::Turned(FormOp::Less))),
    ("ge", Function::Two(Infix::Not(FormOp::Less))),
    ("le", Function::Two(Infix::NotTurned(FormOp::Less))),
    ("eq", Function::Two(Infix::Plain(FormOp::Equal))),
    ("ne", Function::Two(Infix::Not(FormOp::Equal))),
    ("select", Function::Select),
];

fn strength(of: PendingOperator) -> u8 {
    match of {
        PendingOperator::Two(op) => INFIX.iter().find(|i| i.1 == op).map_or(1, |i| i.2),
        PendingOperator::Minus => 8,
        PendingOperator::Open | PendingOperator::Call(..) => 0,
    }
}

/// An expression that is being read.
struct ExpressionReader<'r, 'a> {
    arena: &'r mut FormArena<'a>,
    values: heapless::Vec<IndexForm, MAX_WAITING>,
    waiting: heapless::Vec<PendingOperator, MAX_WAITING>,
}

fn expression(
    arena: &mut FormArena<'_>,
    names: &VarNames,
    text: &str,
    (start, end): (usize, usize),
) -> NotationResult<IndexForm> {
    let mut reading =
        ExpressionReader { arena, values: heapless::Vec::new(), waiting: heapless::Vec::new() };
    let mut at = start;
    let mut operand = true;
    while at < end {
        let rest = text.get(at..end).unwrap_or("");
        let first = rest.bytes().next().unwrap_or(b' ');
        if first.is_ascii_whitespace() {
            at = at.saturating_add(1);
            continue;
        }
        let used = if operand {
            reading.operand(names, rest, first, at)?
        } else {
            reading.operator(rest, first, at)?
        };
        operand = used.1;
        at = at.saturating_add(used.0);
    }
    if operand {
        return Err(fault(NotationFault::Operand, end));
    }
    while let Some(waiting) = reading.waiting.pop() {
        if matches!(waiting, PendingOperator::Open | PendingOperator::Call(..)) {
            return Err(fault(NotationFault::Operator, end));
        }
        reading.apply(waiting, end)?;
    }
    reading.values.pop().ok_or(fault(NotationFault::Operand, end))
}

impl ExpressionReader<'_, '_> {
    fn push(&mut self, value: IndexForm, at: usize) -> NotationResult<()> {
        self.values.push(value).map_err(|_| fault(NotationFault::Deep, at))
    }
    fn wait(&mut self, waiting: PendingOperator, at: usize) -> NotationResult<()> {
        self.waiting.push(waiting).map_err(|_| fault(NotationFault::Deep, at))
    }

    /// Where an operand is expected: bytes that were read, and whether one is still expected.
    fn operand(
        &mut self,
        names: &VarNames,
        rest: &str,
        first: u8,
        at: usize,
    ) -> NotationResult<(usize, bool)> {
        match first {
            b'(' => {
                self.wait(PendingOperator::Open, at)?;
                return Ok((1, true));
            }
            b'-' => {
                self.wait(PendingOperator::Minus, at)?;
                return Ok((1, true));
            }
            _ => {}
        }
        let length = rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
        let word = rest.get(..length).unwrap_or("");
        if first.is_ascii_digit() {
            let number = word.parse::<u32>().map_err(|_| fault(NotationFault::Operand, at))?;
            self.push(IndexForm::constant(i64::from(number)), at)?;
            return Ok((length, false));
        }
        if length == 0 {
            return Err(fault(NotationFault::Operand, at));
        }
        let behind = rest.get(length..).unwrap_or("");
        if behind.trim_ascii_start().starts_with('(') {
            let function = FUNCTIONS.iter().find(|f| f.0 == word);
            let (_, function) = function.ok_or(fault(NotationFault::Variable, at))?;
            self.wait(PendingOperator::Call(*function, 1), at)?;
            let blanks = behind.len().saturating_sub(behind.trim_ascii_start().len());
            return Ok((length.saturating_add(blanks).saturating_add(1), true));
        }
        let base = names.find(word).ok_or(fault(NotationFault::Variable, at))?;
        let whole = self.arena.whole(base).map_err(|e| fault(NotationFault::Form(e), at))?;
        self.push(whole, at)?;
        Ok((length, false))
    }

    /// Where an operator is expected.
    fn operator(&mut self, rest: &str, first: u8, at: usize) -> NotationResult<(usize, bool)> {
        match first {
            b')' => {
                self.unwind(0, at)?;
                match self.waiting.pop() {
                    Some(PendingOperator::Open) => {}
                    Some(PendingOperator::Call(function, count)) => {
                        self.call(function, count, at)?
                    }
                    _ => return Err(fault(NotationFault::Operator, at)),
                }
                Ok((1, false))
            }
            b',' => {
                self.unwind(0, at)?;
                match self.waiting.last_mut() {
                    Some(PendingOperator::Call(_, count)) => *count = count.saturating_add(1),
                    _ => return Err(fault(NotationFault::Operator, at)),
                }
                Ok((1, true))
            }
            _ => {
                let found = INFIX.iter().find(|i| rest.starts_with(i.0));
                let (text, op, strength) = *found.ok_or(fault(NotationFault::Operator, at))?;
                self.unwind(strength, at)?;
                self.wait(PendingOperator::Two(op), at)?;
                Ok((text.len(), true))
            }
        }
    }

    /// Applies what waits and binds as strongly, up to an open bracket.
    fn unwind(&mut self, least: u8, at: usize) -> NotationResult<()> {
        while let Some(top) = self.waiting.last().copied() {
            if matches!(top, PendingOperator::Open | PendingOperator::Call(..))
                || strength(top) < least
            {
                break;
            }
            self.waiting.pop();
            self.apply(top, at)?;
        }
        Ok(())
    }

    fn apply(&mut self, waiting: PendingOperator, at: usize) -> NotationResult<()> {
        let made = match waiting {
            PendingOperator::Two(op) => {
                let (b, a) = (self.values.pop(), self.values.pop());
                let (Some(a), Some(b)) = (a, b) else {
                    return Err(fault(NotationFault::Operand, at));
                };
                infix(self.arena, op, a, b)
            }
            PendingOperator::Minus => {
                let a = self.values.pop().ok_or(fault(NotationFault::Operand, at))?;
                self.arena.scale(a, -1)
            }
            PendingOperator::Open | PendingOperator::Call(..) => {
                return Err(fault(NotationFault::Operator, at));
            }
        };
        let value = made.map_err(|e| fault(NotationFault::Form(e), at))?;
        self.push(value, at)
    }

    fn call(&mut self, function: Function, count: u8, at: usize) -> NotationResult<()> {
        match (function, count) {
            (Function::Two(op), 2) => self.apply(PendingOperator::Two(op), at),
            (Function::Select, 3) => {
                let (no, yes, when) = (self.values.pop(), self.values.pop(), self.values.pop());
                let (Some(no), Some(yes), Some(when)) = (no, yes, when) else {
                    return Err(fault(NotationFault::Operand, at));
                };
                let made = select(self.arena, when, yes, no);
                let value = made.map_err(|e| fault(NotationFault::Form(e), at))?;
                self.push(value, at)
            }
            _ => Err(fault(NotationFault::Arguments, at)),
        }
    }
}

fn infix(
    arena: &mut FormArena<'_>,
    op: Infix,
    a: IndexForm,
    b: IndexForm,
) -> Result<IndexForm, FormError> {
    let not = |arena: &mut FormArena<'_>, op, a, b| {
        let form = arena.op(op, a, b)?;
        arena.add_scaled(IndexForm::constant(1), form, -1)
    };
    match op {
        Infix::Add => arena.add(a, b),
        Infix::Sub => arena.add_scaled(a, b, -1),
        Infix::Shl | Infix::Shr => {
            let power = u32::try_from(b.constant).ok().filter(|_| b.is_constant());
            let unit = power.and_then(|p| 1i64.checked_shl(p).filter(|_| p < 32));
            let unit = unit.ok_or(FormError::Overflow)?;
            if op == Infix::Shl { arena.scale(a, unit) } else { Ok(arena.div_rem(a, unit)?.0) }
        }
        Infix::Plain(op) => arena.op(op, a, b),
        Infix::Turned(op) => arena.op(op, b, a),
        Infix::Not(op) => not(arena, op, a, b),
        Infix::NotTurned(op) => not(arena, op, b, a),
    }
}

/// One of two by a condition of 0 or 1: `no + when * (yes - no)`.
pub(crate) fn select(
    arena: &mut FormArena<'_>,
    when: IndexForm,
    yes: IndexForm,
    no: IndexForm,
) -> Result<IndexForm, FormError> {
    let more = arena.add_scaled(yes, no, -1)?;
    let more = arena.op(FormOp::Mul, when, more)?;
    arena.add(no, more)
}

// ---- writing

/// Most parts of a map that wait to be written.
const MAX_PARTS: usize = 128;

/// A part of a map's text.
#[derive(Copy, Clone)]
enum MapPart {
    Text(&'static str),
    Number(i64),
    Sum(IndexForm),
    Term(DigitTerm),
    Base(BaseId),
}

/// Writes a layout in the notation that [`read`] reads.
///
/// # Errors
/// Those of `out`; of a map that nests too deeply.
pub fn write(arena: &FormArena<'_>, layout: &FragmentForm, out: &mut dyn Write) -> fmt::Result {
    let name = |base: BaseId, out: &mut dyn Write| {
        if base == layout.copy {
            return out.write_str("rep");
        }
        match layout.vars.iter().position(|v| v == base) {
            Some(number) => {
                out.write_str("v")?;
                integer(i64::try_from(number).unwrap_or(0), out)
            }
            // A turn of a loop around it.
            None => out.write_str("turn"),
        }
    };
    out.write_str("{thread = ")?;
    write_map(arena, layout.thread, &name, out)?;
    out.write_str(", index = ")?;
    write_map(arena, layout.index, &name, out)?;
    if layout.copies > 1 {
        out.write_str(", replicate = ")?;
        integer(i64::from(layout.copies), out)?;
    }
    out.write_str("}")
}

/// Writes a map; `name` writes its variables.
///
/// # Errors
/// Those of `out`; of a map that nests too deeply.
fn write_map(
    arena: &FormArena<'_>,
    map: IndexForm,
    name: &dyn Fn(BaseId, &mut dyn Write) -> fmt::Result,
    out: &mut dyn Write,
) -> fmt::Result {
    let mut parts: heapless::Vec<MapPart, MAX_PARTS> = heapless::Vec::new();
    later(&mut parts, &[MapPart::Sum(map)])?;
    while let Some(part) = parts.pop() {
        match part {
            MapPart::Text(text) => out.write_str(text)?,
            MapPart::Number(number) => integer(number, out)?,
            MapPart::Sum(form) => sum(arena, form, &mut parts)?,
            MapPart::Term(term) => self::term(arena, term, &mut parts)?,
            MapPart::Base(base) => match arena.base(base).map_err(|_| fmt::Error)? {
                FormBase::Var { .. } => name(base, out)?,
                FormBase::Sum { form, .. } => {
                    later(
                        &mut parts,
                        &[MapPart::Text("("), MapPart::Sum(form), MapPart::Text(")")],
                    )?;
                }
                FormBase::Parity { form } => {
                    later(
                        &mut parts,
                        &[MapPart::Text("("), MapPart::Sum(form), MapPart::Text(") % 2")],
                    )?;
                }
                FormBase::Op { op, a, b, min, .. } => operation(op, a, b, min, &mut parts)?,
            },
        }
    }
    Ok(())
}

/// Parts that come next, the first first.
fn later(parts: &mut heapless::Vec<MapPart, MAX_PARTS>, new: &[MapPart]) -> fmt::Result {
    new.iter().rev().try_for_each(|part| parts.push(*part).map_err(|_| fmt::Error))
}

fn sum(
    arena: &FormArena<'_>,
    form: IndexForm,
    parts: &mut heapless::Vec<MapPart, MAX_PARTS>,
) -> fmt::Result {
    let terms = arena.terms_of(form);
    if terms.is_empty() {
        return later(parts, &[MapPart::Number(form.constant)]);
    }
    if form.constant != 0 {
        let sign = if form.constant < 0 { " - " } else { " + " };
        later(parts, &[MapPart::Text(sign), MapPart::Number(form.constant.saturating_abs())])?;
    }
    for (number, term) in terms.iter().enumerate().rev() {
        let positive = DigitTerm { stride: term.stride.saturating_abs(), ..*term };
        let sign = match (number, term.stride < 0) {
            (0, false) => "",
            (0, true) => "-",
            (_, false) => " + ",
            (_, true) => " - ",
        };
        later(parts, &[MapPart::Text(sign), MapPart::Term(positive)])?;
    }
    Ok(())
}

fn term(
    arena: &FormArena<'_>,
    term: DigitTerm,
    parts: &mut heapless::Vec<MapPart, MAX_PARTS>,
) -> fmt::Result {
    let digit = term.digit;
    if term.stride != 1 {
        later(parts, &[MapPart::Text(" * "), MapPart::Number(term.stride)])?;
    }
    let whole = arena.extent(digit.base).map_err(|_| fmt::Error)?;
    let reach = u64::from(digit.unit).saturating_mul(u64::from(digit.extent));
    if reach < u64::from(whole) {
        later(parts, &[MapPart::Text(" % "), MapPart::Number(i64::from(digit.extent))])?;
    }
    if digit.unit != 1 {
        later(parts, &[MapPart::Text(" // "), MapPart::Number(i64::from(digit.unit))])?;
    }
    later(parts, &[MapPart::Base(digit.base)])
}

/// `op(a, b) - min`.
fn operation(
    op: FormOp,
    a: IndexForm,
    b: IndexForm,
    min: i64,
    parts: &mut heapless::Vec<MapPart, MAX_PARTS>,
) -> fmt::Result {
    let (begin, between, end) = match op {
        FormOp::Mul => ("((", ") * (", "))"),
        FormOp::Div => ("((", ") // (", "))"),
        FormOp::Rem => ("((", ") % (", "))"),
        FormOp::And => ("((", ") & (", "))"),
        FormOp::Or => ("((", ") | (", "))"),
        FormOp::Xor => ("((", ") ^ (", "))"),
        FormOp::Min => ("min(", ", ", ")"),
        FormOp::Max => ("max(", ", ", ")"),
        FormOp::Less => ("lt(", ", ", ")"),
        FormOp::Equal => ("eq(", ", ", ")"),
    };
    let whole = [
        MapPart::Text(begin),
        MapPart::Sum(a),
        MapPart::Text(between),
        MapPart::Sum(b),
        MapPart::Text(end),
    ];
    if min == 0 {
        return later(parts, &whole);
    }
    let sign = if min < 0 { " + " } else { " - " };
    later(
        parts,
        &[MapPart::Text(sign), MapPart::Number(min.saturating_abs()), MapPart::Text(")")],
    )?;
    later(parts, &whole)?;
    later(parts, &[MapPart::Text("(")])
}

//! Expressions over variables: read from left to right, with stacks of their own.

use super::{NotationFault, NotationResult, fault};
use crate::{BaseId, FormArena, FormError, FormOp, IndexForm};

/// Most operands, and most operators, of an expression that wait for others.
const MAX_WAITING: usize = 32;

/// The variables that an expression may name.
pub(super) trait VarNames {
    /// The variable of a name.
    fn find(&self, name: &str) -> Option<BaseId>;
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
    // As TileLang prints them.
    ("bitwise_xor", Function::Two(Infix::Plain(FormOp::Xor))),
    ("bitwise_and", Function::Two(Infix::Plain(FormOp::And))),
    ("bitwise_or", Function::Two(Infix::Plain(FormOp::Or))),
    ("shift_left", Function::Two(Infix::Shl)),
    ("shift_right", Function::Two(Infix::Shr)),
    ("floordiv", Function::Two(Infix::Plain(FormOp::Div))),
    ("floormod", Function::Two(Infix::Plain(FormOp::Rem))),
    ("if_then_else", Function::Select),
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

/// Reads the bytes of `text` from one to before another.
pub(super) fn expression(
    arena: &mut FormArena<'_>,
    names: &dyn VarNames,
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
        names: &dyn VarNames,
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
        let name = |text: &str| {
            text.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count()
        };
        // TVM's functions stand behind `T.`.
        let prefix = if rest.starts_with("T.") { 2 } else { 0 };
        let length = name(rest.get(prefix..).unwrap_or("")).saturating_add(prefix);
        let word = rest.get(prefix..length).unwrap_or("");
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
///
/// # Errors
/// A full pool; numbers that are too large.
pub fn select(
    arena: &mut FormArena<'_>,
    when: IndexForm,
    yes: IndexForm,
    no: IndexForm,
) -> Result<IndexForm, FormError> {
    let more = arena.add_scaled(yes, no, -1)?;
    let more = arena.op(FormOp::Mul, when, more)?;
    arena.add(no, more)
}

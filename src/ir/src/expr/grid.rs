//! The blocks of a launch, as a function's attribute `grid` says them: `(cdiv(%M, 128), 4)`, one to
//! three expressions over index arguments.
//!
//! An expression has whole numbers, names of index arguments (the `%` may be left out), `+`, `-`,
//! `*`, round brackets, and `cdiv(a, b)`, `min(a, b)`, `max(a, b)`. Read in one pass, without
//! recursion; what is nested too deeply is an error.

use crate::attr::AttrValue;
use crate::attr_names;
use crate::expr::index_expr::ceil_div;
use crate::handle::{Op, Value};
use crate::program::Program;
use crate::types::TypeKind;
use heapless::Vec;

/// Most operators and numbers that wait.
const WAITING: usize = 24;

/// Most ranges that wait: what nests deeper has no bound that is known.
const RANGES: usize = 8;

/// What is wrong with a grid.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum GridError {
    /// It is no list of one to three expressions.
    Form,
    /// An expression is none, or nested too deeply.
    Expression,
    /// A name that no index argument has, or that has no value.
    Name,
    /// A number of blocks that is not between 1 and 2^31 - 1, or one on the way that 64 bits do not
    /// hold.
    Range,
}

lanebook_layout::sentences! { GridError, sink;
    Form => ("a grid is a list of one to three expressions in round brackets");
    Expression => ("an expression of the grid cannot be read, or nests too deeply");
    Name => ("the grid names what is no index argument, or one without a value");
    Range => ("a number of blocks is not between 1 and 2^31 - 1");
}

/// One step of an expression in postfix order: numbers and arguments are put on a stack, operators
/// replace the two on top of it. What is left at the end is the expression's value.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum GridStep {
    /// A whole number.
    Number(i64),
    /// The value of the function's argument of this number, from 0.
    Argument(u16),
    /// The sum.
    Add,
    /// The second on top less the one on top.
    Sub,
    /// The product.
    Mul,
    /// The second on top by the one on top, which is above 0, rounded up.
    CeilDiv,
    /// The lesser one.
    Min,
    /// The greater one.
    Max,
}

impl GridStep {
    fn of(self, a: i64, b: i64) -> Option<i64> {
        match self {
            Self::Add => a.checked_add(b),
            Self::Sub => a.checked_sub(b),
            Self::Mul => a.checked_mul(b),
            Self::CeilDiv => ceil_div(a, b).filter(|_| b > 0),
            Self::Min => Some(a.min(b)),
            Self::Max => Some(a.max(b)),
            Self::Number(_) | Self::Argument(_) => None,
        }
    }
}

/// What the steps of an expression have made so far.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::ir::{GridError, GridStack, GridStep, Options, SmallStorage, parse};
///
/// let mut storage = Box::new(SmallStorage::new());
/// let text = "func @f(%M: index, %N: index) {threads = 64, grid = (cdiv(%M, 128), %N)} {\n}";
/// let program = parse(storage.pools(), &TABLES, text, Options::default()).unwrap();
/// let f = program.function("f").unwrap();
/// let [m, n] = [0, 1].map(|k| program.parameters(f).nth(k).unwrap());
/// // How many blocks: at once, by argument numbers, or step by step for a launcher without a program.
/// assert_eq!(program.grid(f, &[(m, 300), (n, 7)]), Some(Ok([3, 7, 1])));
/// let given = |number: u16| Some([300, 7][usize::from(number)]);
/// assert_eq!(program.grid_by_number(f, given), Some(Ok([3, 7, 1])));
/// assert_eq!(program.grid_axis_text(f, 0), Some("cdiv(%M, 128)"));
/// let mut stack = GridStack::default();
/// program.grid_steps(f, 0, |step: GridStep| stack.step(step, given)).unwrap();
/// assert_eq!(stack.blocks(), Ok(3));
/// // An argument without a value.
/// let refused = program.grid(f, &[(m, 300)]).unwrap().unwrap_err();
/// let mut why = String::new();
/// refused.write_text(&mut why).unwrap();
/// assert_eq!(refused, GridError::Name);
/// ```
#[derive(Default)]
pub struct GridStack {
    numbers: Vec<i64, WAITING>,
}

impl GridStack {
    /// Carries out the next step, arguments being what `argument` says of their number.
    ///
    /// # Errors
    /// [`GridError::Name`] for an argument without a value, [`GridError::Range`] for a number that 64
    /// bits do not hold, [`GridError::Expression`] for a step that cannot stand here.
    pub fn step(
        &mut self,
        step: GridStep,
        argument: impl Fn(u16) -> Option<i64>,
    ) -> Result<(), GridError> {
        let n = match step {
            GridStep::Number(n) => n,
            GridStep::Argument(number) => argument(number).ok_or(GridError::Name)?,
            _ => {
                let (Some(b), Some(a)) = (self.numbers.pop(), self.numbers.pop()) else {
                    return Err(GridError::Expression);
                };
                step.of(a, b).ok_or(GridError::Range)?
            }
        };
        self.numbers.push(n).map_err(|_| GridError::Expression)
    }

    /// How many blocks that is.
    ///
    /// # Errors
    /// [`GridError::Expression`] if the steps were not those of one expression, [`GridError::Range`]
    /// if it is not between 1 and 2^31 - 1.
    pub fn blocks(&self) -> Result<u32, GridError> {
        let [n] = *self.numbers.as_slice() else { return Err(GridError::Expression) };
        u32::try_from(n).ok().filter(|n| (1..1 << 31).contains(n)).ok_or(GridError::Range)
    }
}

/// Between which numbers a step's result lies, whose operands lie between these.
fn range_of(step: GridStep, a: (i64, i64), b: (i64, i64)) -> Option<(i64, i64)> {
    // Nothing is divided by what is not above zero, and no operator turns back between the ends.
    let b = match step {
        GridStep::CeilDiv => (b.0.max(1), b.1.max(1)),
        _ => b,
    };
    let corners = [step.of(a.0, b.0)?, step.of(a.0, b.1)?, step.of(a.1, b.0)?, step.of(a.1, b.1)?];
    Some((corners.into_iter().min()?, corners.into_iter().max()?))
}

/// What waits for its second operand.
#[derive(Copy, Clone, PartialEq, Eq)]
enum GridOperator {
    /// An operator between its operands.
    Infix(GridStep),
    /// An opening bracket.
    Open,
    /// A function's opening bracket; its first operand is read.
    Function(GridStep),
    /// The same; its second operand is read.
    Second(GridStep),
}

impl GridOperator {
    const fn binds(self) -> u8 {
        match self {
            Self::Infix(GridStep::Mul) => 2,
            Self::Infix(_) => 1,
            _ => 0,
        }
    }
}

/// An expression while it is read, and who takes its steps.
struct Reading<E> {
    waiting: Vec<GridOperator, WAITING>,
    /// Whether a number was read last.
    has_number: bool,
    emit: E,
}

impl<E: FnMut(GridStep) -> Result<(), GridError>> Reading<E> {
    fn number(&mut self, n: GridStep) -> Result<(), GridError> {
        if self.has_number {
            return Err(GridError::Expression);
        }
        self.has_number = true;
        (self.emit)(n)
    }

    fn wait(&mut self, what: GridOperator) -> Result<(), GridError> {
        self.has_number = false;
        self.waiting.push(what).map_err(|_| GridError::Expression)
    }

    /// Carries out what binds at least so tightly.
    fn reduce(&mut self, binds: u8) -> Result<(), GridError> {
        while let Some(&top) = self.waiting.last()
            && top.binds() >= binds.max(1)
        {
            let _ = self.waiting.pop();
            if let GridOperator::Infix(step) = top {
                (self.emit)(step)?;
            }
        }
        Ok(())
    }
}

/// Reads an expression, `names` being the numbers of arguments, and hands out its steps. Each
/// operator of it has two operands.
fn read(
    text: &str,
    names: impl Fn(&str) -> Option<u16>,
    emit: impl FnMut(GridStep) -> Result<(), GridError>,
) -> Result<(), GridError> {
    let wrong = GridError::Expression;
    let mut at = Reading { waiting: Vec::new(), has_number: false, emit };
    let mut rest = text.trim_ascii();
    while let Some(first) = rest.bytes().next() {
        let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '%' | '$');
        let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at_checked(end).ok_or(wrong)?;
        if !word.is_empty() {
            rest = behind.trim_ascii_start();
            let function = match word {
                "cdiv" => Some(GridStep::CeilDiv),
                "min" => Some(GridStep::Min),
                "max" => Some(GridStep::Max),
                _ => None,
            };
            match (function, rest.strip_prefix('(')) {
                (Some(function), Some(inside)) if !at.has_number => {
                    at.wait(GridOperator::Function(function))?;
                    rest = inside.trim_ascii_start();
                }
                _ if first.is_ascii_digit() => {
                    at.number(GridStep::Number(word.parse().map_err(|_| wrong)?))?;
                }
                _ => {
                    let name = word.strip_prefix('%').unwrap_or(word);
                    at.number(GridStep::Argument(names(name).ok_or(GridError::Name)?))?;
                }
            }
            continue;
        }
        rest = rest.get(1..).ok_or(wrong)?.trim_ascii_start();
        match first {
            b'(' if !at.has_number => at.wait(GridOperator::Open)?,
            b'+' | b'-' | b'*' if at.has_number => {
                let what = GridOperator::Infix(match first {
                    b'+' => GridStep::Add,
                    b'-' => GridStep::Sub,
                    _ => GridStep::Mul,
                });
                at.reduce(what.binds())?;
                at.wait(what)?;
            }
            b',' if at.has_number => {
                at.reduce(1)?;
                // The first operand of a function ends here: what stands on top is its bracket.
                let Some(GridOperator::Function(step)) = at.waiting.pop() else {
                    return Err(wrong);
                };
                at.wait(GridOperator::Second(step))?;
            }
            b')' if at.has_number => {
                at.reduce(1)?;
                match at.waiting.pop().ok_or(wrong)? {
                    GridOperator::Second(step) => (at.emit)(step)?,
                    GridOperator::Open => {}
                    _ => return Err(wrong),
                }
            }
            _ => return Err(wrong),
        }
    }
    at.reduce(1)?;
    if at.has_number && at.waiting.is_empty() { Ok(()) } else { Err(wrong) }
}

/// The expressions of a grid's text, in their order.
fn parts(text: &str) -> Result<Vec<&str, 3>, GridError> {
    let inside = text.trim_ascii().strip_prefix('(').and_then(|t| t.strip_suffix(')'));
    let mut rest = inside.ok_or(GridError::Form)?;
    let mut out = Vec::new();
    loop {
        let mut depth = 0i32;
        let end = rest.find(|c: char| {
            depth = match c {
                '(' => depth.saturating_add(1),
                ')' => depth.saturating_sub(1),
                _ => depth,
            };
            c == ',' && depth == 0
        });
        let (part, behind) = match end.and_then(|end| rest.split_at_checked(end)) {
            Some((part, behind)) => (part, behind.get(1..)),
            None => (rest, None),
        };
        if part.trim_ascii().is_empty() {
            return Err(GridError::Form);
        }
        out.push(part).map_err(|_| GridError::Form)?;
        match behind {
            Some(behind) => rest = behind,
            None => return Ok(out),
        }
    }
}

impl Program<'_, '_> {
    /// How many blocks a function's attribute says, along x, y and z, where its index arguments
    /// have these values; `None` where it says nothing.
    ///
    /// # Errors
    /// What is wrong with what it says.
    pub fn grid(
        &self,
        function: Op,
        arguments: &[(Value, i64)],
    ) -> Option<Result<[u32; 3], GridError>> {
        self.grid_by_number(function, |number| {
            let value = self.parameters(function).nth(usize::from(number))?;
            arguments.iter().find(|(v, _)| *v == value).map(|(_, n)| *n)
        })
    }

    /// The same, arguments being what `argument` says of their number, from 0.
    ///
    /// # Errors
    /// What is wrong with what it says.
    pub fn grid_by_number(
        &self,
        function: Op,
        argument: impl Fn(u16) -> Option<i64>,
    ) -> Option<Result<[u32; 3], GridError>> {
        Some(self.grid_text(function)?.and_then(|text| self.grid_of(text, function, argument)))
    }

    /// The text of the blocks along an axis (0 is x), as the function's attribute says it; `None`
    /// where it says nothing of this axis: there is one block along it.
    #[must_use]
    pub fn grid_axis_text(&self, function: Op, axis: u8) -> Option<&str> {
        let parts = parts(self.grid_text(function)?.ok()?).ok()?;
        parts.get(usize::from(axis)).map(|part| part.trim_ascii())
    }

    /// Hands out the steps of the blocks along an axis (0 is x), in postfix order; none where the
    /// function says nothing of this axis.
    ///
    /// # Errors
    /// What is wrong with what the attribute says, and the errors of `emit`.
    pub fn grid_steps(
        &self,
        function: Op,
        axis: u8,
        emit: impl FnMut(GridStep) -> Result<(), GridError>,
    ) -> Result<(), GridError> {
        match self.grid_axis_text(function, axis) {
            Some(part) => read(part, |name| self.index_argument(function, name), emit),
            None => Ok(()),
        }
    }

    /// No more blocks than this lie along an axis (0 is x), whatever the arguments are; `None` where
    /// the function does not say a grid.
    #[doc(hidden)]
    #[inline(never)]
    #[must_use]
    pub fn most_blocks(&self, function: Op, axis: u8) -> Option<i64> {
        let _ = parts(self.grid_text(function)?.ok()?).ok()?;
        let mut ranges: Vec<(i64, i64), RANGES> = Vec::new();
        let found = self.grid_steps(function, axis, |step| {
            let range = match step {
                GridStep::Number(n) => Some((n, n)),
                GridStep::Argument(number) => {
                    let value = self.parameters(function).nth(usize::from(number));
                    value.map(|value| self.leaf_facts(value)).map(|facts| (facts.low, facts.high))
                }
                _ => {
                    let (b, a) = (ranges.pop(), ranges.pop());
                    a.zip(b).and_then(|(a, b)| range_of(step, a, b))
                }
            };
            ranges.push(range.ok_or(GridError::Range)?).map_err(|_| GridError::Expression)
        });
        match (found, ranges.as_slice()) {
            (Ok(()), []) => Some(1),
            (Ok(()), [(_, most)]) => Some(*most),
            _ => None,
        }
    }

    fn grid_text(&self, function: Op) -> Option<Result<&str, GridError>> {
        match self.attr(function, attr_names::GRID)? {
            AttrValue::Layout(text) | AttrValue::Text(text) => Some(Ok(self.text(text))),
            _ => Some(Err(GridError::Form)),
        }
    }

    /// The number of the index argument of this name.
    fn index_argument(&self, function: Op, name: &str) -> Option<u16> {
        let index = |value: Value| {
            self.type_of(value).kind == TypeKind::Index && self.value_name(value) == name
        };
        u16::try_from(self.parameters(function).position(index)?).ok()
    }

    fn grid_of(
        &self,
        text: &str,
        function: Op,
        argument: impl Fn(u16) -> Option<i64>,
    ) -> Result<[u32; 3], GridError> {
        let mut out = [1u32; 3];
        let parts = parts(text)?;
        for (place, part) in out.iter_mut().zip(parts.iter()) {
            let mut stack = GridStack::default();
            let names = |name: &str| self.index_argument(function, name);
            read(part, names, |step| stack.step(step, &argument))?;
            *place = stack.blocks()?;
        }
        Ok(out)
    }

    /// Whether a grid's text is one, whatever the arguments are.
    pub(crate) fn is_grid(&self, text: &str, function: Op) -> bool {
        let is_expression = |part: &&str| {
            let mut numbers = 0usize;
            let names = |name: &str| self.index_argument(function, name);
            let count = |step| {
                numbers = match step {
                    GridStep::Number(_) | GridStep::Argument(_) => numbers.saturating_add(1),
                    _ => numbers.saturating_sub(1),
                };
                if numbers > WAITING { Err(GridError::Expression) } else { Ok(()) }
            };
            read(part, names, count).is_ok()
        };
        parts(text).is_ok_and(|parts| parts.iter().all(is_expression))
    }
}

#[cfg(test)]
mod tests {
    use super::{GridError, GridStack, GridStep, parts, read};

    /// The value of an expression in which M is 300 and n is 7.
    fn evaluate(text: &str) -> Result<i64, GridError> {
        let names = |name: &str| ["M", "n"].iter().position(|n| *n == name).map(|n| n as u16);
        let mut stack = GridStack::default();
        read(text, names, |step| {
            stack.step(step, |number| [300, 7].get(usize::from(number)).copied())
        })?;
        assert_eq!(stack.numbers.len(), 1, "{text}");
        Ok(stack.numbers[0])
    }

    #[test]
    fn expressions_have_their_values() {
        for (text, value) in [
            ("12", Ok(12)),
            ("cdiv(%M, 128)", Ok(3)),
            ("cdiv(M,128)*n + 1", Ok(22)),
            ("1 + 2 * 3 - 4", Ok(3)),
            ("(1 + 2) * (3 - 4)", Ok(-3)),
            ("10 - 2 - 3", Ok(5)),
            ("max(min(n, 4 * 2), cdiv(M - 1, n))", Ok(43)),
            ("cdiv(M, cdiv(n, 2))", Ok(75)),
            ("cdiv(M, 0)", Err(GridError::Range)),
            ("k", Err(GridError::Name)),
            ("1 2", Err(GridError::Expression)),
            ("1 +", Err(GridError::Expression)),
            ("cdiv(1)", Err(GridError::Expression)),
            ("cdiv(1, 2, 3)", Err(GridError::Expression)),
            ("(1", Err(GridError::Expression)),
            ("1)", Err(GridError::Expression)),
            ("(1, 2)", Err(GridError::Expression)),
            ("", Err(GridError::Expression)),
            ("2 / 2", Err(GridError::Expression)),
        ] {
            assert_eq!(evaluate(text), value, "{text}");
        }
    }

    #[test]
    fn blocks_are_counted_from_one_to_the_last_that_31_bits_hold() {
        for (n, blocks) in
            [(0, None), (1, Some(1)), ((1 << 31) - 1, Some((1 << 31) - 1)), (1 << 31, None)]
        {
            let mut stack = GridStack::default();
            assert_eq!(stack.blocks(), Err(GridError::Expression));
            assert_eq!(stack.step(GridStep::Add, |_| None), Err(GridError::Expression));
            assert_eq!(stack.step(GridStep::Argument(0), |_| Some(n)), Ok(()));
            assert_eq!(stack.blocks(), blocks.ok_or(GridError::Range));
            assert_eq!(stack.step(GridStep::Argument(1), |_| None), Err(GridError::Name));
        }
    }

    #[test]
    fn parts_stand_between_commas() {
        assert_eq!(parts("(cdiv(M, 2), 4)").expect("two").as_slice(), ["cdiv(M, 2)", " 4"]);
        for wrong in ["", "4", "()", "(1, 2, 3, 4)", "(1,)", "(1"] {
            assert_eq!(parts(wrong), Err(GridError::Form), "{wrong}");
        }
    }
}

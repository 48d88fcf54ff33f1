//! The blocks of a launch, as a function's attribute `grid` says them: `(cdiv(%M, 128), 4)`, one to
//! three expressions over index arguments.
//!
//! An expression has whole numbers, names of index arguments (the `%` may be left out), `+`, `-`,
//! `*`, round brackets, and `cdiv(a, b)`, `min(a, b)`, `max(a, b)`. Read in one pass, without
//! recursion; what is nested too deeply is an error.

use crate::attr::AttrValue;
use crate::attr_names;
use crate::handle::{Op, Value};
use crate::index_expr::ceil_div;
use crate::program::Program;
use crate::types::TypeKind;
use heapless::Vec;

/// Most operators and numbers that wait.
const WAITING: usize = 24;

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

/// What waits for its second operand.
#[derive(Copy, Clone, PartialEq, Eq)]
enum GridOperator {
    Add,
    Sub,
    Mul,
    /// An opening bracket.
    Open,
    /// A function's opening bracket.
    Ceil,
    Min,
    Max,
}

impl GridOperator {
    const fn binds(self) -> u8 {
        match self {
            Self::Add | Self::Sub => 1,
            Self::Mul => 2,
            _ => 0,
        }
    }

    fn of(self, a: i64, b: i64) -> Option<i64> {
        match self {
            Self::Add => a.checked_add(b),
            Self::Sub => a.checked_sub(b),
            Self::Mul => a.checked_mul(b),
            Self::Ceil => ceil_div(a, b).filter(|_| b > 0),
            Self::Min => Some(a.min(b)),
            Self::Max => Some(a.max(b)),
            Self::Open => None,
        }
    }
}

/// An expression while it is read.
struct Reading {
    numbers: Vec<i64, WAITING>,
    waiting: Vec<GridOperator, WAITING>,
    /// Whether a number was read last.
    has_number: bool,
}

impl Reading {
    fn number(&mut self, n: i64) -> Result<(), GridError> {
        if self.has_number {
            return Err(GridError::Expression);
        }
        self.has_number = true;
        self.numbers.push(n).map_err(|_| GridError::Expression)
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
            self.apply(top)?;
        }
        Ok(())
    }

    fn apply(&mut self, what: GridOperator) -> Result<(), GridError> {
        let (Some(b), Some(a)) = (self.numbers.pop(), self.numbers.pop()) else {
            return Err(GridError::Expression);
        };
        let n = what.of(a, b).ok_or(GridError::Range)?;
        self.numbers.push(n).map_err(|_| GridError::Expression)
    }
}

/// The value of an expression, `names` being what arguments are.
fn evaluate(text: &str, names: impl Fn(&str) -> Option<i64>) -> Result<i64, GridError> {
    let wrong = GridError::Expression;
    let mut at = Reading { numbers: Vec::new(), waiting: Vec::new(), has_number: false };
    let mut rest = text.trim_ascii();
    while let Some(first) = rest.bytes().next() {
        let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '%' | '$');
        let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at_checked(end).ok_or(wrong)?;
        if !word.is_empty() {
            rest = behind.trim_ascii_start();
            let function = match word {
                "cdiv" => Some(GridOperator::Ceil),
                "min" => Some(GridOperator::Min),
                "max" => Some(GridOperator::Max),
                _ => None,
            };
            match (function, rest.strip_prefix('(')) {
                (Some(function), Some(inside)) if !at.has_number => {
                    at.wait(function)?;
                    rest = inside.trim_ascii_start();
                }
                _ if first.is_ascii_digit() => at.number(word.parse().map_err(|_| wrong)?)?,
                _ => {
                    let name = word.strip_prefix('%').unwrap_or(word);
                    at.number(names(name).ok_or(GridError::Name)?)?;
                }
            }
            continue;
        }
        rest = rest.get(1..).ok_or(wrong)?.trim_ascii_start();
        match first {
            b'(' if !at.has_number => at.wait(GridOperator::Open)?,
            b'+' | b'-' | b'*' if at.has_number => {
                let what = match first {
                    b'+' => GridOperator::Add,
                    b'-' => GridOperator::Sub,
                    _ => GridOperator::Mul,
                };
                at.reduce(what.binds())?;
                at.wait(what)?;
            }
            b',' if at.has_number => {
                at.reduce(1)?;
                // The first operand of a function ends here: what stands on top is its bracket.
                if !matches!(
                    at.waiting.last(),
                    Some(GridOperator::Ceil | GridOperator::Min | GridOperator::Max)
                ) {
                    return Err(wrong);
                }
                at.has_number = false;
            }
            b')' if at.has_number => {
                at.reduce(1)?;
                match at.waiting.pop().ok_or(wrong)? {
                    GridOperator::Open => {}
                    function => at.apply(function)?,
                }
            }
            _ => return Err(wrong),
        }
    }
    at.reduce(1)?;
    match (at.numbers.as_slice(), at.waiting.is_empty()) {
        ([n], true) => Ok(*n),
        _ => Err(wrong),
    }
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
        let argument = |value: Value| arguments.iter().find(|(v, _)| *v == value).map(|(_, n)| *n);
        match self.attr(function, attr_names::GRID)? {
            AttrValue::Layout(text) | AttrValue::Text(text) => {
                Some(self.grid_of(self.text(text), function, argument))
            }
            _ => Some(Err(GridError::Form)),
        }
    }

    fn grid_of(
        &self,
        text: &str,
        function: Op,
        argument: impl Fn(Value) -> Option<i64>,
    ) -> Result<[u32; 3], GridError> {
        let names = |name: &str| {
            let index = |value: &Value| {
                self.type_of(*value).kind == TypeKind::Index && self.value_name(*value) == name
            };
            self.parameters(function).find(index).and_then(&argument)
        };
        let mut out = [1u32; 3];
        let parts = parts(text)?;
        for (place, part) in out.iter_mut().zip(parts.iter()) {
            let n = evaluate(part, names)?;
            *place = u32::try_from(n)
                .ok()
                .filter(|n| (1..1 << 31).contains(n))
                .ok_or(GridError::Range)?;
        }
        Ok(out)
    }

    /// Whether a grid's text is one, whatever the arguments are.
    pub(crate) fn is_grid(&self, text: &str, function: Op) -> bool {
        matches!(self.grid_of(text, function, |_| Some(1)), Ok(_) | Err(GridError::Range))
    }
}

#[cfg(test)]
mod tests {
    use super::{GridError, evaluate, parts};

    #[test]
    fn expressions_have_their_values() {
        let names = |name: &str| match name {
            "M" => Some(300),
            "n" => Some(7),
            _ => None,
        };
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
            assert_eq!(evaluate(text, names), value, "{text}");
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

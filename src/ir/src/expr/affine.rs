//! The map of `affine.apply`: `affine_map<(d0, d1)[s0] -> (d0 * 64 + d1 floordiv s0)>`, or the name
//! of one that stands before the functions.
//!
//! An expression has whole numbers, the map's own names, `+`, `-`, `*`, `floordiv`, `ceildiv`, `mod`
//! and round brackets. Read in one pass, without recursion; what is nested too deeply is an error.

use crate::attr::AttrValue;
use crate::attr_names;
use crate::handle::Op;
use crate::program::Program;
use heapless::Vec;

/// Most operators that wait.
const WAITING: usize = 24;

/// One step of a map's expression in postfix order: numbers and operands are put on a stack,
/// operators replace the two on top of it. What is left at the end is the map's result.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum AffineStep {
    /// A whole number.
    Number(i64),
    /// The operation's operand of this number, from 0: dimensions, then symbols.
    Operand(u16),
    /// The sum.
    Add,
    /// The second on top less the one on top.
    Sub,
    /// The product.
    Mul,
    /// The second on top by the one on top, rounded down.
    FloorDiv,
    /// The same, rounded up.
    CeilDiv,
    /// What `FloorDiv` leaves.
    Mod,
}

impl AffineStep {
    const fn binds(self) -> u8 {
        match self {
            Self::Number(_) | Self::Operand(_) => 0,
            Self::Add | Self::Sub => 1,
            Self::Mul | Self::FloorDiv | Self::CeilDiv | Self::Mod => 2,
        }
    }

    /// Whether the operand behind it must be a number above 0.
    const fn divides(self) -> bool {
        matches!(self, Self::FloorDiv | Self::CeilDiv | Self::Mod)
    }
}

/// What waits for its second operand.
#[derive(Copy, Clone)]
enum AffineOperator {
    Infix(AffineStep),
    /// What stands behind it is taken from the 0 in front of it.
    Minus,
    Open,
}

impl AffineOperator {
    /// How tightly it binds, and what it comes to.
    const fn infix(self) -> Option<(u8, AffineStep)> {
        match self {
            Self::Infix(step) => Some((step.binds(), step)),
            Self::Minus => Some((3, AffineStep::Sub)),
            Self::Open => None,
        }
    }
}

/// An expression while it is read, and who takes its steps.
struct MapReading<E> {
    waiting: Vec<AffineOperator, WAITING>,
    /// Whether an operand was read last.
    has_operand: bool,
    emit: E,
}

impl<E: FnMut(AffineStep) -> Option<()>> MapReading<E> {
    fn operand(&mut self, step: AffineStep) -> Option<()> {
        let divides =
            matches!(self.waiting.last(), Some(AffineOperator::Infix(last)) if last.divides());
        let is_above = matches!(step, AffineStep::Number(n) if n > 0);
        if self.has_operand || divides && !is_above {
            return None;
        }
        self.has_operand = true;
        (self.emit)(step)
    }

    fn wait(&mut self, what: AffineOperator) -> Option<()> {
        self.has_operand = false;
        self.waiting.push(what).ok()
    }

    fn infix(&mut self, step: AffineStep) -> Option<()> {
        if !self.has_operand {
            return None;
        }
        self.reduce(step.binds())?;
        self.wait(AffineOperator::Infix(step))
    }

    /// Carries out what binds at least so tightly.
    fn reduce(&mut self, binds: u8) -> Option<()> {
        while let Some((own, step)) = self.waiting.last().and_then(|top| top.infix())
            && own >= binds
        {
            let _ = self.waiting.pop();
            (self.emit)(step)?;
        }
        Some(())
    }

    fn close(&mut self) -> Option<()> {
        if !self.has_operand {
            return None;
        }
        self.reduce(1)?;
        matches!(self.waiting.pop(), Some(AffineOperator::Open)).then_some(())
    }
}

/// What stands in front of a sign and behind it.
fn cut(text: &str, sign: u8) -> Option<(&str, &str)> {
    let at = text.bytes().position(|byte| byte == sign)?;
    Some((text.get(..at)?, text.get(at.checked_add(1)?..)?))
}

/// The names of a list, and what stands behind its closing bracket.
fn names(text: &str, open: char, close: u8) -> Option<(&str, &str)> {
    cut(text.trim_ascii_start().strip_prefix(open)?, close)
}

/// The names that commas part.
#[derive(Clone)]
struct MapNames<'t> {
    rest: Option<&'t str>,
}

impl<'t> MapNames<'t> {
    fn of(list: &'t str) -> Self {
        Self { rest: (!list.trim_ascii().is_empty()).then_some(list) }
    }
}

impl<'t> Iterator for MapNames<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let text = self.rest.take()?;
        let (name, rest) = cut(text, b',').map_or((text, None), |(name, rest)| (name, Some(rest)));
        self.rest = rest;
        Some(name.trim_ascii())
    }
}

/// Reads an expression, `operand` being the numbers of names, and hands out its steps.
fn read(
    text: &str,
    operand: impl Fn(&str) -> Option<u16>,
    emit: impl FnMut(AffineStep) -> Option<()>,
) -> Option<()> {
    let mut at = MapReading { waiting: Vec::new(), has_operand: false, emit };
    let mut rest = text.trim_ascii();
    while let Some(first) = rest.bytes().next() {
        let is_word = |c: u8| c.is_ascii_alphanumeric() || c == b'_';
        let behind = rest.get(1..).unwrap_or("").trim_ascii_start();
        let negative = first == b'-'
            && !at.has_operand
            && behind.bytes().next().is_some_and(|c| c.is_ascii_digit());
        let digits = if negative { behind } else { rest };
        let end = digits.bytes().position(|c| !is_word(c)).unwrap_or(digits.len());
        let (word, behind) = digits.split_at_checked(end)?;
        if word.is_empty() {
            rest = rest.get(1..)?.trim_ascii_start();
            match first {
                b'(' if !at.has_operand && !at.after_division() => at.wait(AffineOperator::Open)?,
                b')' => at.close()?,
                b'+' => at.infix(AffineStep::Add)?,
                b'-' if at.has_operand => at.infix(AffineStep::Sub)?,
                b'-' if !at.after_division() => {
                    (at.emit)(AffineStep::Number(0))?;
                    at.wait(AffineOperator::Minus)?;
                }
                b'*' => at.infix(AffineStep::Mul)?,
                _ => return None,
            }
            continue;
        }
        rest = behind.trim_ascii_start();
        match word {
            "floordiv" => at.infix(AffineStep::FloorDiv)?,
            "ceildiv" => at.infix(AffineStep::CeilDiv)?,
            "mod" => at.infix(AffineStep::Mod)?,
            _ if word.bytes().all(|c| c.is_ascii_digit()) => {
                let number = i64::from(word.parse::<u32>().ok()?);
                let number = if negative { number.checked_neg()? } else { number };
                let number = i32::try_from(number).ok()?;
                at.operand(AffineStep::Number(i64::from(number)))?;
            }
            _ => at.operand(AffineStep::Operand(operand(word)?))?,
        }
    }
    at.reduce(1)?;
    (at.has_operand && at.waiting.is_empty()).then_some(())
}

impl<E> MapReading<E> {
    fn after_division(&self) -> bool {
        matches!(self.waiting.last(), Some(AffineOperator::Infix(last)) if last.divides())
    }
}

impl Program<'_, '_> {
    /// Hands out the steps of the map that an operation applies to its operands; `None` where it has
    /// none, where it cannot be read, has not one result, or names another number of operands, and
    /// where `emit` says so. A divisor is a number above 0, numbers have 32 bits.
    #[must_use]
    #[doc(hidden)]
    pub fn affine_steps(&self, op: Op, emit: impl FnMut(AffineStep) -> Option<()>) -> Option<()> {
        let text = match self.attr(op, attr_names::MAP)? {
            AttrValue::Text(text) => self.text(text),
            AttrValue::Alias(name) => self.alias(self.text(name))?,
            _ => return None,
        };
        let inside = text.trim_ascii().strip_prefix("affine_map")?.trim_ascii_start();
        let inside = inside.strip_prefix('<')?.trim_ascii_end().strip_suffix('>')?;
        let (dims, behind) = names(inside, '(', b')')?;
        let (symbols, behind) = match behind.trim_ascii_start().starts_with('[') {
            true => names(behind, '[', b']')?,
            false => ("", behind),
        };
        let result = behind.trim_ascii_start().strip_prefix("->")?.trim_ascii();
        let result = result.strip_prefix('(')?.strip_suffix(')')?;
        let all = MapNames::of(dims).chain(MapNames::of(symbols));
        let is_name = |name: &str| {
            name.bytes().next().is_some_and(|c| c.is_ascii_alphabetic())
                && name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_')
        };
        if all.clone().count() != self.operand_count(op)
            || !all.clone().all(is_name)
            || all.clone().enumerate().any(|(k, name)| all.clone().take(k).any(|o| o == name))
        {
            return None;
        }
        let operand = |name: &str| {
            all.clone().position(|own| own == name).and_then(|k| u16::try_from(k).ok())
        };
        read(result, operand, emit)
    }
}

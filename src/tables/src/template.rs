//! The text of an instruction, with places for its operands, in one string.
//!
//! A place is a control character and what belongs to it, so that a table holds one string an atom
//! instead of a list of pieces: `\u{1}n` an operand, `\u{2}n` one that is left out when it is zero,
//! then the text before it and `\u{3}`, `\u{4}n` the lower and `\u{5}n` the upper half of a tuple.
//! `n` is a character, the operand's number and 48 together. The table compiler makes these strings
//! ([`Template::operand`] and its kind say how); a string that is not well formed ends where it
//! stops making sense.
use crate::Piece;

/// Number 0 as a character.
const ZERO: u8 = b'0';
/// An operand follows.
const OPERAND: char = '\u{1}';
/// An operand that may be left out follows, then text.
const OPTIONAL: char = '\u{2}';
/// Ends the text of an operand that may be left out.
const END: char = '\u{3}';
/// An operand's lower half follows.
const LOWER: char = '\u{4}';
/// An operand's upper half follows.
const UPPER: char = '\u{5}';

/// How a piece is written: what starts it and the operand's number, text, and what ends it.
pub type Written<'a> = (Option<(char, char)>, &'a str, Option<char>);

/// An instruction's text with places for operands.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Template<'a>(pub &'a str);

impl<'a> Template<'a> {
    /// Most operands that a template can number.
    pub const OPERANDS: u8 = 64;

    /// Its pieces in order: never [`Piece::Frame`].
    #[must_use]
    pub const fn pieces(self) -> Pieces<'a> {
        Pieces(self.0)
    }

    /// Its lines: an instruction each.
    #[must_use]
    pub fn lines(self) -> u32 {
        let ends = self.0.bytes().filter(|byte| *byte == b'\n').count();
        u32::try_from(ends).unwrap_or(u32::MAX).saturating_add(1)
    }

    /// Whether it has a half of an operand's tuple.
    #[must_use]
    pub fn halves(self, operand: u8) -> bool {
        let number = ZERO.wrapping_add(operand);
        let is_half = |start: u8| start == LOWER as u8 || start == UPPER as u8;
        let bytes = self.0.as_bytes();
        bytes.iter().zip(bytes.iter().skip(1)).any(|(start, of)| is_half(*start) && *of == number)
    }

    /// How a piece is written: what starts it, the operand's number as a character, text, and what
    /// ends it. `None` for what a template cannot hold: a frame's name, a number from
    /// [`Template::OPERANDS`], text with control characters other than line ends.
    #[must_use]
    pub fn written(piece: Piece<'a>) -> Option<Written<'a>> {
        let number = |k: u8| (k < Self::OPERANDS).then(|| char::from(ZERO.wrapping_add(k)));
        let (start, text, end) = match piece {
            Piece::Text(text) => (None, text, None),
            Piece::Operand(k) => (Some((OPERAND, number(k)?)), "", None),
            Piece::Optional(k, before) => (Some((OPTIONAL, number(k)?)), before, Some(END)),
            Piece::Half(k, upper) => {
                (Some((if upper { UPPER } else { LOWER }, number(k)?)), "", None)
            }
            Piece::Frame(_) => return None,
        };
        let plain = text.bytes().all(|byte| byte >= b' ' || byte == b'\n' || byte == b'\t');
        plain.then_some((start, text, end))
    }
}

impl<'a> IntoIterator for Template<'a> {
    type Item = Piece<'a>;
    type IntoIter = Pieces<'a>;
    fn into_iter(self) -> Pieces<'a> {
        self.pieces()
    }
}

/// The pieces of a [`Template`], by [`Template::pieces`].
#[derive(Clone, Debug)]
pub struct Pieces<'a>(&'a str);

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        // What is looked for is ASCII: a byte of it is never part of another character.
        let is_place = |byte: &u8| *byte <= UPPER as u8;
        let bytes = self.0.as_bytes();
        let first = *bytes.first()?;
        if !is_place(&first) {
            let at = bytes.iter().position(is_place).unwrap_or(bytes.len());
            let (text, rest) = self.0.split_at_checked(at)?;
            self.0 = rest;
            return Some(Piece::Text(text));
        }
        let number = bytes.get(1)?.checked_sub(ZERO)?;
        let rest = self.0.get(2..)?;
        let first = char::from(first);
        let (piece, rest) = match first {
            OPERAND => (Piece::Operand(number), rest),
            LOWER | UPPER => (Piece::Half(number, first == UPPER), rest),
            OPTIONAL => {
                let end = rest.bytes().position(|byte| byte == END as u8)?;
                let (before, rest) = rest.split_at_checked(end)?;
                (Piece::Optional(number, before), rest.get(1..)?)
            }
            _ => return None,
        };
        self.0 = rest;
        Some(piece)
    }
}

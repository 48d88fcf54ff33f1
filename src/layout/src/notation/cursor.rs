//! A position in a text, and the tokens that both notations share.

use super::{Expected, ParseError};
use crate::axis::{AxisId, AxisNames};
use crate::error::Error;
use crate::num::{Int, SymNames};

pub(super) type Parsed<T> = Result<T, ParseError>;

/// The width of a number, as TVM writes it before one: `T.int64(8)`.
const WIDTHS: [&str; 4] = ["int64", "int32", "uint32", "int16"];

/// How a quotient that is rounded up is spelt: `ceil_div(M,128)`.
pub(super) const ROUNDED_UP: &str = "ceil_div";

/// Reads tokens from left to right. All methods skip blanks first.
pub(super) struct Cursor<'t> {
    text: &'t str,
    at: usize,
    /// Whether fractions (of a basis) and `?` are taken, as in CuTe.
    cute: bool,
}

impl<'t> Cursor<'t> {
    pub(super) const fn new(text: &'t str) -> Self {
        Self { text, at: 0, cute: false }
    }

    pub(super) const fn cute(text: &'t str) -> Self {
        Self { cute: true, ..Self::new(text) }
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    fn skip(&mut self) {
        while matches!(self.byte(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at = self.at.wrapping_add(1);
        }
    }

    /// Where the next token begins.
    pub(super) fn mark(&mut self) -> usize {
        self.skip();
        self.at
    }

    pub(super) fn error_at(&self, at: usize, expected: Expected) -> ParseError {
        let (mut line, mut col) = (1u32, 1u32);
        for b in self.text.bytes().take(at) {
            if b == b'\n' {
                line = line.saturating_add(1);
                col = 1;
            } else if b & 0xc0 != 0x80 {
                col = col.saturating_add(1);
            }
        }
        ParseError { line, col, expected }
    }

    /// The error that `expected` is missing here.
    pub(super) fn error(&mut self, expected: Expected) -> ParseError {
        let at = self.mark();
        self.error_at(at, expected)
    }

    /// Turns an error of the algebra into one at `at`.
    pub(super) fn fits<T>(&self, at: usize, result: Result<T, Error>) -> Parsed<T> {
        result.map_err(|e| {
            let expected =
                if e == Error::Overflow { Expected::SmallerNumber } else { Expected::Fits(e) };
            self.error_at(at, expected)
        })
    }

    pub(super) fn peek(&mut self) -> Option<u8> {
        self.skip();
        self.byte(self.at)
    }

    /// Takes one character if it is next.
    pub(super) fn eat(&mut self, token: u8) -> bool {
        let found = self.peek() == Some(token);
        if found {
            self.at = self.at.wrapping_add(1);
        }
        found
    }

    pub(super) fn need(&mut self, token: u8, expected: Expected) -> Parsed<()> {
        if self.eat(token) { Ok(()) } else { Err(self.error(expected)) }
    }

    /// Takes `first` and `second` if they are the next two tokens.
    pub(super) fn eat_pair(&mut self, first: u8, second: u8) -> bool {
        let start = self.mark();
        if self.eat(first) && self.eat(second) {
            return true;
        }
        self.at = start;
        false
    }

    pub(super) fn end(&mut self) -> Parsed<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.error(Expected::End)),
        }
    }

    /// An identifier, if one is next.
    pub(super) fn name(&mut self) -> Option<&'t str> {
        let start = self.mark();
        let mut end = start;
        while let Some(b) = self.byte(end) {
            let ok = b == b'_' || b.is_ascii_alphabetic() || (end > start && b.is_ascii_digit());
            if !ok {
                break;
            }
            end = end.wrapping_add(1);
        }
        if end == start {
            return None;
        }
        self.at = end;
        self.text.get(start..end)
    }

    /// Takes the identifier `word` if it is next.
    pub(super) fn eat_name(&mut self, word: &str) -> bool {
        let start = self.mark();
        if self.name() == Some(word) {
            return true;
        }
        self.at = start;
        false
    }

    /// Takes `module.` if it is next, as a peer prints what its module exports (`T.S[...]`).
    pub(super) fn eat_module(&mut self, module: &str) {
        let start = self.mark();
        if self.name() != Some(module) || self.byte(self.at) != Some(b'.') {
            self.at = start;
            return;
        }
        self.at = self.at.wrapping_add(1);
    }

    /// Takes `word=` if it is next.
    pub(super) fn eat_keyword(&mut self, word: &str) -> bool {
        let start = self.mark();
        if self.eat_name(word) && self.eat(b'=') {
            return true;
        }
        self.at = start;
        false
    }

    /// Digits, if they are next.
    fn digits(&mut self, negative: bool) -> Parsed<Option<i64>> {
        let start = self.mark();
        let mut value = 0i64;
        while let Some(b @ b'0'..=b'9') = self.byte(self.at) {
            let digit = i64::from(b.wrapping_sub(b'0'));
            let next = value.checked_mul(10);
            let next = if negative {
                next.and_then(|v| v.checked_sub(digit))
            } else {
                next.and_then(|v| v.checked_add(digit))
            };
            value = next.ok_or_else(|| self.error_at(start, Expected::SmallerNumber))?;
            self.at = self.at.wrapping_add(1);
        }
        Ok(if self.at == start { None } else { Some(value) })
    }

    /// An integer without symbols.
    pub(super) fn integer(&mut self) -> Parsed<i64> {
        let at = self.mark();
        let negative = self.eat(b'-');
        self.digits(negative)?.ok_or_else(|| self.error_at(at, Expected::Integer))
    }

    /// One factor of a number.
    fn factor(
        &mut self,
        negative: bool,
        syms: &mut impl SymNames,
        missing: Expected,
    ) -> Parsed<Int> {
        if let Some(v) = self.digits(negative)? {
            return Ok(Int::known(v));
        }
        let at = self.mark();
        if let Some(value) = self.of_width(negative)? {
            return Ok(value);
        }
        // CuTe's static numbers, as its C++ prints them: `_8`.
        if self.cute
            && self.byte(at) == Some(b'_')
            && self.byte(at.wrapping_add(1)).is_some_and(|b| b.is_ascii_digit())
        {
            self.at = at.wrapping_add(1);
            if let Some(v) = self.digits(negative)? {
                return Ok(Int::known(v));
            }
        }
        if self.cute && self.eat(b'?') {
            return self.unknown(at, negative, syms);
        }
        let name = self.name().filter(|name| *name != "_");
        let name = name.ok_or_else(|| self.error_at(at, missing))?;
        if name == ROUNDED_UP && self.eat(b'(') {
            return self.rounded_up(at, negative, syms);
        }
        let sym = syms.sym(name).ok_or_else(|| self.error_at(at, Expected::KnownSymbol))?;
        Ok(Int::new(if negative { -1 } else { 1 }, crate::num::Syms::one(sym)))
    }

    /// A number behind its width, `T.int64(8)`, if one is next.
    fn of_width(&mut self, negative: bool) -> Parsed<Option<Int>> {
        let at = self.mark();
        self.eat_module("T");
        let behind = self.at > at;
        if !behind || !WIDTHS.iter().any(|word| self.eat_name(word)) {
            self.at = at;
            return Ok(None);
        }
        self.need(b'(', Expected::OpenParen)?;
        let here = self.mark();
        let minus = self.eat(b'-');
        let value = self.digits(minus != negative)?;
        let value = value.ok_or_else(|| self.error_at(here, Expected::Integer))?;
        self.need(b')', Expected::CloseParen)?;
        Ok(Some(Int::known(value)))
    }

    /// What stands in the parentheses of `ceil_div(8*M*N,3)`.
    fn rounded_up(&mut self, at: usize, negative: bool, syms: &mut impl SymNames) -> Parsed<Int> {
        let value = self.plain_product(syms)?;
        self.need(b',', Expected::Comma)?;
        let here = self.mark();
        let by = self.plain_product(syms)?;
        if by.coeff() < 1 {
            return Err(self.error_at(here, Expected::Integer));
        }
        self.need(b')', Expected::CloseParen)?;
        let sign = Int::known(if negative { -1 } else { 1 });
        let quotient = value.ceil_div(by).map_err(|_| Error::Overflow);
        self.fits(at, quotient.and_then(|quotient| quotient.checked_mul(sign)))
    }

    /// Numbers without a sign and symbols, multiplied.
    fn plain_product(&mut self, syms: &mut impl SymNames) -> Parsed<Int> {
        let mut value = Int::ONE;
        loop {
            let here = self.mark();
            let factor = if let Some(number) = self.digits(false)? {
                Int::known(number)
            } else {
                // `?a` is one that was not named.
                let _ = self.cute && self.eat(b'?');
                let named = self.name().and_then(|_| self.text.get(here..self.at));
                let name = named.ok_or_else(|| self.error_at(here, Expected::KnownSymbol))?;
                let unknown = || self.error_at(here, Expected::KnownSymbol);
                Int::sym(syms.sym(name).ok_or_else(unknown)?)
            };
            let product = value.checked_mul(factor);
            value = self.fits(here, product)?;
            if !self.eat(b'*') {
                return Ok(value);
            }
        }
    }

    /// CuTe's run-time value: `?`, `?{div=4}`, `?{i64 div=8}`, each another symbol; `?a` is the one
    /// that printed so.
    fn unknown(&mut self, at: usize, negative: bool, syms: &mut impl SymNames) -> Parsed<Int> {
        let refused = self.error_at(at, Expected::KnownSymbol);
        if self.byte(self.at).is_some_and(|b| b.is_ascii_lowercase()) {
            let end = self.at.wrapping_add(1);
            let name = self.text.get(at..end).ok_or(refused)?;
            self.at = end;
            let sym = syms.sym(name).ok_or(refused)?;
            return Ok(Int::new(if negative { -1 } else { 1 }, crate::num::Syms::one(sym)));
        }
        let mut times = 1i64;
        if self.eat(b'{') {
            let mut word = self.name();
            if matches!(word, Some("i32" | "i64")) {
                word = self.name();
            }
            if word == Some("div") {
                self.need(b'=', Expected::Divisor)?;
                let here = self.mark();
                times = self.integer()?;
                if times < 1 {
                    return Err(self.error_at(here, Expected::Divisor));
                }
            } else if word.is_some() {
                return Err(self.error(Expected::Divisor));
            }
            self.need(b'}', Expected::CloseBrace)?;
        }
        let sym = syms.fresh().ok_or(refused)?;
        let times = if negative { times.wrapping_neg() } else { times };
        Ok(Int::new(times, crate::num::Syms::one(sym)))
    }

    /// The denominator after a number, if there is one.
    fn over(&mut self, at: usize, value: Int) -> Parsed<Int> {
        if !self.cute || !self.eat(b'/') {
            return Ok(value);
        }
        let here = self.mark();
        let den = self.integer()?;
        if den == 0 {
            return Err(self.error_at(here, Expected::Denominator));
        }
        let ratio = Int::ratio(1, den).and_then(|r| value.checked_mul(r));
        self.fits(at, ratio)
    }

    /// A product: `-4`, `M`, `4*M*N`.
    pub(super) fn product(&mut self, syms: &mut impl SymNames, missing: Expected) -> Parsed<Int> {
        let negative = self.eat(b'-');
        let value = self.factor(negative, syms, missing)?;
        self.factors(value, syms)
    }

    /// What is multiplied with `value` behind it, up to a parenthesis.
    fn factors(&mut self, mut value: Int, syms: &mut impl SymNames) -> Parsed<Int> {
        loop {
            let at = self.mark();
            if !self.eat(b'*') {
                return Ok(value);
            }
            if self.peek() == Some(b'(') {
                self.at = at;
                return Ok(value);
            }
            let factor = self.factor(false, syms, Expected::Number)?;
            let product = value.checked_mul(factor);
            value = self.fits(at, product)?;
        }
    }

    /// A number: a product, also with sums in parentheses behind its first factor.
    pub(super) fn number(&mut self, syms: &mut impl SymNames, missing: Expected) -> Parsed<Int> {
        let at = self.mark();
        let mut value = self.product(syms, missing)?;
        while self.eat_pair(b'*', b'(') {
            let sum = self.inside(syms)?;
            let product = value.checked_mul(sum);
            let product = self.fits(at, product)?;
            value = self.factors(product, syms)?;
        }
        Ok(value)
    }

    /// A number, or a sum of numbers, that is an extent.
    pub(super) fn extent(&mut self, syms: &mut impl SymNames, missing: Expected) -> Parsed<Int> {
        let at = self.mark();
        let value = self.total(syms, missing)?;
        if value.coeff() < 1 {
            return Err(self.error_at(at, Expected::PositiveExtent));
        }
        if u32::try_from(value.coeff()).is_err() {
            return Err(self.error_at(at, Expected::SmallerNumber));
        }
        Ok(value)
    }

    /// What follows an `@`: a name, or a path of mode numbers joined by further `@`.
    pub(super) fn axis(&mut self, axes: &impl AxisNames) -> Parsed<AxisId> {
        self.eat_module("Axis");
        let at = self.mark();
        if let Some(name) = self.name() {
            return axes.axis(name).ok_or_else(|| self.error_at(at, Expected::KnownAxis));
        }
        let mut path: heapless::Vec<u8, 3> = heapless::Vec::new();
        loop {
            let here = self.mark();
            let number = self.digits(false)?.ok_or_else(|| self.error_at(here, Expected::Axis))?;
            let small = u8::try_from(number).ok().filter(|n| *n <= 15);
            let limit = self.error_at(here, Expected::BasisNumber);
            path.push(small.ok_or(limit)?).map_err(|_| limit)?;
            if !self.eat(b'@') {
                break;
            }
        }
        AxisId::path(&path).ok_or_else(|| self.error_at(at, Expected::BasisNumber))
    }

    /// A stride or offset: a number, then optionally `@` and an axis (default `m`).
    ///
    /// With `bare_axis`, a lone name that is an axis means `1@name`.
    pub(super) fn strided(
        &mut self,
        axes: &impl AxisNames,
        syms: &mut impl SymNames,
        bare_axis: bool,
    ) -> Parsed<(Int, AxisId)> {
        self.eat_module("Axis");
        let start = self.mark();
        if bare_axis && let Some(name) = self.name() {
            let alone = !matches!(self.peek(), Some(b'@' | b'*'));
            if let (true, Some(axis)) = (alone, axes.axis(name)) {
                return Ok((Int::ONE, axis));
            }
            self.at = start;
        }
        // Between terms a `+` is theirs.
        let value = match bare_axis {
            true => self.total(syms, Expected::Number)?,
            false => self.number(syms, Expected::Number)?,
        };
        let value = self.over(start, value)?;
        let axis = if self.eat(b'@') {
            self.axis(axes)?
        } else if value.is_whole() {
            AxisId::M
        } else {
            return Err(self.error(Expected::At));
        };
        Ok((value, axis))
    }
}

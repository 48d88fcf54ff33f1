//! The text as tokens, by byte position.
//!
//! Guarantees: linear, total on any bytes that are a `str`; a token never ends inside a character.
use crate::error::{Lexeme, SourcePlace};
use crate::handle::TextRef;

/// A token: what it is and where it lies.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub kind: Lexeme,
    /// First byte.
    pub start: usize,
    /// Byte after the last.
    pub end: usize,
}

/// Reads tokens from a text.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Lexer<'t> {
    pub text: &'t str,
    /// Next byte to be read.
    pub at: usize,
}

/// What MLIR's source locations begin with.
const LOCATION: &str = "loc";

const fn starts_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

const fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

impl<'t> Lexer<'t> {
    pub const fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }
    pub fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }
    /// The end of the `loc(...)` that begins at `at`: where a line of another source stands, as MLIR
    /// prints it behind everything. `None` if none does, or its bracket stays open.
    fn location_end(&self, at: usize) -> Option<usize> {
        let open = at.saturating_add(LOCATION.len());
        let before = at.checked_sub(1).map(|before| self.byte(before));
        if self.text.as_bytes().get(at..open) != Some(LOCATION.as_bytes())
            || self.byte(open) != b'('
            || before.is_some_and(|byte| {
                in_word(byte) || matches!(byte, b'.' | b'%' | b'@' | b'#' | b'!')
            })
        {
            return None;
        }
        let end = self.balanced(open.saturating_add(1), b"")?;
        (self.byte(end) == b')').then_some(end.saturating_add(1))
    }
    /// Whether a text is a location.
    pub fn location(&self, text: &str) -> bool {
        text.strip_prefix(LOCATION).is_some_and(|rest| rest.trim_ascii_start().starts_with('('))
    }
    /// Skips blanks, `//` comments and `loc(...)`.
    pub fn skip_blanks(&mut self) {
        while self.at < self.text.len() {
            let byte = self.byte(self.at);
            if byte.is_ascii_whitespace() {
                self.at = self.at.saturating_add(1);
            } else if byte == b'l'
                && let Some(end) = self.location_end(self.at)
            {
                self.at = end;
            } else if byte == b'/' && self.byte(self.at.saturating_add(1)) == b'/' {
                while self.at < self.text.len() && self.byte(self.at) != b'\n' {
                    self.at = self.at.saturating_add(1);
                }
            } else {
                return;
            }
        }
    }
    /// End of the word that begins at `at`; a dot belongs to it when a word character follows.
    fn word_end(&self, at: usize) -> usize {
        let mut end = at;
        loop {
            let byte = self.byte(end);
            let dot = byte == b'.' && in_word(self.byte(end.saturating_add(1))) && end > at;
            if !in_word(byte) && !dot {
                return end;
            }
            end = end.saturating_add(1);
        }
    }
    /// The end of a value's name that goes on with a negative number, as MLIR calls constants:
    /// `%c-1_i32`.
    fn negative_end(&self, at: usize) -> usize {
        let digits = self.digits_end(at.saturating_add(1), false);
        let negative = self.byte(at) == b'-' && digits > at.saturating_add(1);
        if negative && self.byte(digits) == b'_' { self.word_end(digits) } else { at }
    }
    fn digits_end(&self, at: usize, hex: bool) -> usize {
        let mut end = at;
        while if hex { self.byte(end).is_ascii_hexdigit() } else { self.byte(end).is_ascii_digit() }
        {
            end = end.saturating_add(1);
        }
        end
    }
    fn number(&self, start: usize) -> Token {
        let mut end = start;
        if self.byte(end) == b'-' {
            end = end.saturating_add(1);
        }
        if self.byte(end) == b'0'
            && self.byte(end.saturating_add(1)) == b'x'
            && self.byte(end.saturating_add(2)).is_ascii_hexdigit()
        {
            return Token {
                kind: Lexeme::Integer,
                start,
                end: self.digits_end(end.saturating_add(2), true),
            };
        }
        end = self.digits_end(end, false);
        let mut kind = Lexeme::Integer;
        if self.byte(end) == b'.' && self.byte(end.saturating_add(1)).is_ascii_digit() {
            (kind, end) = (Lexeme::Number, self.digits_end(end.saturating_add(1), false));
        }
        if matches!(self.byte(end), b'e' | b'E') {
            let sign = usize::from(matches!(self.byte(end.saturating_add(1)), b'+' | b'-'));
            let digits = end.saturating_add(1).saturating_add(sign);
            if self.byte(digits).is_ascii_digit() {
                (kind, end) = (Lexeme::Number, self.digits_end(digits, false));
            }
        }
        Token { kind, start, end }
    }
    /// The next token, without taking it.
    pub fn peek(&mut self) -> Token {
        self.skip_blanks();
        let start = self.at;
        if start >= self.text.len() {
            return Token { kind: Lexeme::End, start, end: start };
        }
        let byte = self.byte(start);
        let next = start.saturating_add(1);
        let sigil = |kind| {
            let end = self.word_end(next);
            if end == next {
                Token { kind: Lexeme::Char(byte), start, end }
            } else {
                Token { kind, start, end }
            }
        };
        match byte {
            b'%' => {
                let token = sigil(Lexeme::ValueName);
                Token { end: self.negative_end(token.end), ..token }
            }
            b'@' => sigil(Lexeme::Symbol),
            b'#' => sigil(Lexeme::Alias),
            b'^' => sigil(Lexeme::Label),
            b'"' => self.string(start),
            b'.' if self.byte(next) == b'.' => {
                let third = next.saturating_add(1);
                Token {
                    kind: Lexeme::Ellipsis,
                    start,
                    end: third.saturating_add(usize::from(self.byte(third) == b'.')),
                }
            }
            b'-' if self.byte(next) == b'>' => {
                Token { kind: Lexeme::Arrow, start, end: next.saturating_add(1) }
            }
            b'-' if self.byte(next).is_ascii_digit() => self.number(start),
            b'0'..=b'9' => self.number(start),
            byte if starts_word(byte) => {
                Token { kind: Lexeme::Word, start, end: self.word_end(start) }
            }
            byte if byte.is_ascii_graphic() => Token { kind: Lexeme::Char(byte), start, end: next },
            _ => {
                let first = self.text.get(start..).and_then(|rest| rest.chars().next());
                let kind =
                    if first == Some('\u{feff}') { Lexeme::ByteOrderMark } else { Lexeme::Unknown };
                Token { kind, start, end: start.saturating_add(first.map_or(1, char::len_utf8)) }
            }
        }
    }
    fn string(&self, start: usize) -> Token {
        let mut end = start.saturating_add(1);
        while end < self.text.len() {
            match self.byte(end) {
                b'"' => return Token { kind: Lexeme::Str, start, end: end.saturating_add(1) },
                b'\n' => break,
                b'\\' => end = end.saturating_add(2),
                _ => end = end.saturating_add(1),
            }
        }
        Token { kind: Lexeme::Char(b'"'), start, end: start.saturating_add(1) }
    }
    /// Takes the next token.
    pub fn next(&mut self) -> Token {
        let token = self.peek();
        self.at = token.end;
        token
    }
    pub fn slice(&self, token: Token) -> &'t str {
        self.text.get(token.start..token.end).unwrap_or("")
    }
    /// A token's text without its first character.
    pub fn tail(&self, token: Token) -> &'t str {
        self.text.get(token.start.saturating_add(1)..token.end).unwrap_or("")
    }
    /// The end of balanced text that starts here: stops before a `,`, a newline-free `stop`, or a
    /// closing bracket that was not opened. `None` when a bracket stays open.
    pub fn balanced(&self, from: usize, stop: &[u8]) -> Option<usize> {
        // Bracket kinds as a stack of 2-bit codes; deeper nesting than 32 is refused.
        let (mut stack, mut depth, mut at) = (0u64, 0u32, from);
        while at < self.text.len() {
            let byte = self.byte(at);
            let open = match byte {
                b'(' => 1,
                b'[' => 2,
                b'{' => 3,
                b'<' => 0,
                _ => 4,
            };
            let close = match byte {
                b')' => 1,
                b']' => 2,
                b'}' => 3,
                b'>' => 0,
                _ => 4,
            };
            if depth == 0 && stop.contains(&byte) {
                return Some(at);
            }
            if byte == b'-' && self.byte(at.saturating_add(1)) == b'>' {
                at = at.saturating_add(2);
                continue;
            }
            if byte == b'"' {
                let string = self.string(at);
                at = string.end;
                continue;
            }
            if open < 4 {
                if depth >= 32 {
                    return None;
                }
                stack = (stack << 2) | open;
                depth = depth.saturating_add(1);
            } else if close < 4 {
                if depth == 0 {
                    return Some(at);
                }
                if stack & 3 != close {
                    return None;
                }
                stack >>= 2;
                depth = depth.saturating_sub(1);
            }
            at = at.saturating_add(1);
        }
        if depth == 0 { Some(at) } else { None }
    }
}

/// Line and column of a byte offset.
pub(crate) fn place(text: &str, offset: u32, len: u16) -> SourcePlace {
    let before = text.as_bytes().get(..offset as usize).unwrap_or(text.as_bytes());
    let start =
        before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end.saturating_add(1));
    // Each a plain count, which compilers do many bytes at a time: large texts are asked for many
    // places.
    let count = |bytes: Option<&[u8]>, counts: fn(&&u8) -> bool| {
        let found = bytes.unwrap_or(&[]).iter().filter(counts).count();
        u32::try_from(found).unwrap_or(u32::MAX).saturating_add(1)
    };
    let line = count(before.get(..start), |byte| **byte == b'\n');
    let column = count(before.get(start..), |byte| **byte & 0xc0 != 0x80);
    SourcePlace { offset, line, column, len, op: None }
}

/// The first place where `word` stands in `text`.
pub(crate) fn find(text: &str, word: &str) -> Option<TextRef> {
    if word.is_empty() {
        return None;
    }
    let start = text.as_bytes().windows(word.len()).position(|window| window == word.as_bytes())?;
    TextRef::span(start, word.len())
}

/// An integer, decimal or `0x` hexadecimal, with sign. Hexadecimal may use all 64 bits.
pub(crate) fn integer(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    if let Some(hex) = digits.strip_prefix("0x") {
        let mut value = 0u64;
        for byte in hex.bytes() {
            let digit = (byte as char).to_digit(16)?;
            value = value.checked_mul(16)?.checked_add(u64::from(digit))?;
        }
        return if negative {
            i64::try_from(value).ok().map(i64::wrapping_neg)
        } else {
            Some(value as i64)
        };
    }
    let mut value = 0i64;
    for byte in digits.bytes() {
        let digit = i64::from(byte.wrapping_sub(b'0'));
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?;
        value = if negative { value.checked_sub(digit)? } else { value.checked_add(digit)? };
    }
    if digits.is_empty() { None } else { Some(value) }
}

/// The text after the last dot.
pub(crate) fn last_part(text: &str) -> &str {
    match text.as_bytes().iter().rposition(|byte| *byte == b'.') {
        Some(dot) => text.get(dot.saturating_add(1)..).unwrap_or(text),
        None => text,
    }
}

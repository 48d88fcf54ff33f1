//! A query's text: where names, literals and brackets end.

/// Bytes of the query.
///
/// ```
/// use lanebook::query::TextSpan;
///
/// let span = TextSpan { start: 4, end: 7 };
/// assert_eq!(span.of("let abc = 1"), "abc");
/// ```
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TextSpan {
    /// The first.
    pub start: u32,
    /// One past the last.
    pub end: u32,
}

impl TextSpan {
    pub(crate) fn new(start: usize, end: usize) -> Self {
        let short = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Self { start: short(start), end: short(end) }
    }

    /// The part of `text`.
    #[must_use]
    pub fn of(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}

/// Words that stand between operands and end a literal.
const BETWEEN: [&str; 5] = ["o", "at", "where", "on", "of"];

/// A place in a text.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Scanner<'q> {
    pub(crate) text: &'q str,
    pub(crate) at: usize,
}

fn is_name(byte: u8, first: bool) -> bool {
    byte == b'_' || byte.is_ascii_alphabetic() || (!first && byte.is_ascii_digit())
}

impl<'q> Scanner<'q> {
    pub(crate) fn new(text: &'q str) -> Self {
        Self { text, at: 0 }
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    /// The next byte that is no blank.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        while self.byte(self.at).is_some_and(|b| b.is_ascii_whitespace()) {
            self.at = self.at.saturating_add(1);
        }
        self.byte(self.at)
    }

    pub(crate) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.at = self.at.saturating_add(1);
        }
        found
    }

    /// The end of what begins at `from` and goes on as long as `take` holds.
    fn while_at(&self, from: usize, take: impl Fn(u8) -> bool) -> usize {
        let mut end = from;
        while self.byte(end).is_some_and(&take) {
            end = end.saturating_add(1);
        }
        end
    }

    /// Takes a name if one is next.
    pub(crate) fn name(&mut self) -> Option<&'q str> {
        if !self.peek().is_some_and(|b| is_name(b, true)) {
            return None;
        }
        let end = self.while_at(self.at, |b| is_name(b, false));
        let found = self.text.get(self.at..end)?;
        self.at = end;
        Some(found)
    }

    /// Takes the name `word` if it is next.
    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let before = self.at;
        if self.name() == Some(word) {
            return true;
        }
        self.at = before;
        false
    }

    /// Whether `word` is the next name; nothing is taken.
    pub(crate) fn sees(&self, word: &str) -> bool {
        let mut ahead = *self;
        ahead.eat_word(word)
    }

    /// A word of letters, digits, `_`, `.`, `:`, `{`, `}`, as instructions and element types are called.
    pub(crate) fn word(&mut self) -> TextSpan {
        self.peek();
        let start = self.at;
        let mut end = start;
        while let Some(byte) = self.byte(end) {
            let double = byte == b':' && self.byte(end.saturating_add(1)) == Some(b':');
            if double {
                end = end.saturating_add(2);
            } else if is_name(byte, false) || matches!(byte, b'.' | b'{' | b'}') {
                end = end.saturating_add(1);
            } else {
                break;
            }
        }
        self.at = end;
        TextSpan::new(start, end)
    }

    /// Takes what stands up to the bracket that closes the one at hand, with both.
    pub(crate) fn bracket(&mut self) -> Option<TextSpan> {
        self.closed(b"([<{", b")]>}")
    }

    /// The same around expressions, where `<` and `>` compare, shift and point.
    pub(crate) fn expression_bracket(&mut self) -> Option<TextSpan> {
        self.closed(b"([{", b")]}")
    }

    fn closed(&mut self, opening: &[u8], closing: &[u8]) -> Option<TextSpan> {
        self.peek();
        let start = self.at;
        let mut depth = 0usize;
        while let Some(byte) = self.byte(self.at) {
            self.at = self.at.saturating_add(1);
            if opening.contains(&byte) {
                depth = depth.saturating_add(1);
            } else if closing.contains(&byte) {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(TextSpan::new(start, self.at));
                }
            }
        }
        self.at = start;
        None
    }

    /// The end of the literal that begins here: at a comma, semicolon or closing bracket outside of its own
    /// brackets, at a word that stands between operands, at a shape (`@ 16x8`), or at the text's end.
    pub(crate) fn literal_end(&self) -> usize {
        let (mut at, mut depth) = (self.at, 0usize);
        while let Some(byte) = self.byte(at) {
            let blank = at.checked_sub(1).and_then(|before| self.byte(before));
            let apart =
                blank.is_none_or(|b| b.is_ascii_whitespace() || matches!(b, b')' | b']' | b'>'));
            match byte {
                b'(' | b'[' | b'<' | b'{' => depth = depth.saturating_add(1),
                b')' | b']' | b'>' | b'}' => {
                    let Some(outer) = depth.checked_sub(1) else { break };
                    depth = outer;
                }
                b',' | b';' if depth == 0 => break,
                b'@' if depth == 0 && self.shape_follows(at) => break,
                _ if depth == 0 && at > self.at && apart && is_name(byte, true) => {
                    let end = self.while_at(at, |b| is_name(b, false));
                    let word = self.text.get(at..end).unwrap_or_default();
                    if BETWEEN.contains(&word) {
                        break;
                    }
                    at = end;
                    continue;
                }
                _ => {}
            }
            at = at.saturating_add(1);
        }
        at
    }

    /// Whether the `@` at `at` gives a shape: `16x8` or `(16, 8)`, and not an axis.
    fn shape_follows(&self, at: usize) -> bool {
        let start = self.while_at(at.saturating_add(1), |b| b.is_ascii_whitespace());
        let end = self.while_at(start, |b| b.is_ascii_digit());
        if self.byte(start) == Some(b'(') {
            return true;
        }
        end > start
            && self.byte(end) == Some(b'x')
            && self.byte(end.saturating_add(1)).is_some_and(|b| b.is_ascii_digit())
    }

    /// Whether `#NAME =` is next; nothing is taken.
    pub(crate) fn sees_alias(&self) -> bool {
        let mut ahead = *self;
        ahead.eat(b'#') && ahead.name().is_some() && ahead.eat(b'=')
    }

    /// Whether nothing but blanks stands between the line's begin and here.
    pub(crate) fn at_line_start(&self) -> bool {
        let before = self.text.as_bytes().get(..self.at).unwrap_or(&[]);
        let last = before.iter().rev().find(|b| **b == b'\n' || !b.is_ascii_whitespace());
        last == Some(&b'\n')
    }

    /// Takes the word of a tile's type, up to its bracket.
    pub(crate) fn eats_type(&mut self) -> bool {
        self.peek();
        let rest = self.text.get(self.at..).unwrap_or_default();
        for word in ["tensor<", "!ttg.memdesc<", "!tt.memdesc<", "!triton_gpu.memdesc<"] {
            if rest.starts_with(word) {
                self.at = self.at.saturating_add(word.len().saturating_sub(1));
                return true;
            }
        }
        false
    }

    /// Takes an extent of a type with the `x` behind it, `64x`.
    pub(crate) fn extent(&mut self) -> Option<u32> {
        self.peek();
        let end = self.while_at(self.at, |b| b.is_ascii_digit());
        let extent = self.text.get(self.at..end)?.parse().ok().filter(|e| *e > 0)?;
        if self.byte(end) != Some(b'x') {
            return None;
        }
        self.at = end.saturating_add(1);
        Some(extent)
    }

    /// Takes the `_` between a swizzle and its pointer, as CuTe's C++ prints them: `Sw<3,4,3>_smem_ptr[16b](unset)`.
    pub(crate) fn eat_joint(&mut self) -> bool {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let found = rest.starts_with("_smem_ptr[") || rest.starts_with("_gmem_ptr[");
        if found {
            self.at = self.at.saturating_add(1);
        }
        found
    }

    /// Takes `@ 16x8`, or `@ 128` behind what has no axes of its own: the extents.
    pub(crate) fn shape(&mut self, alone: bool) -> Option<heapless::Vec<u32, 5>> {
        if self.peek() != Some(b'@') || !(alone || self.shape_follows(self.at)) {
            return None;
        }
        let mut at = self.at.saturating_add(1);
        let mut out = heapless::Vec::new();
        let mut ahead = Self { at, ..*self };
        if ahead.eat(b'(') {
            // As a tuple, `@ (64, 128)`.
            while ahead.peek().is_some_and(|b| b.is_ascii_digit()) {
                let end = ahead.while_at(ahead.at, |b| b.is_ascii_digit());
                let extent = ahead.text.get(ahead.at..end)?.parse().ok().filter(|e| *e > 0)?;
                out.push(extent).ok()?;
                ahead.at = end;
                ahead.eat(b',');
            }
            if out.is_empty() || !ahead.eat(b')') {
                return None;
            }
            self.at = ahead.at;
            return Some(out);
        }
        loop {
            at = self.while_at(at, |b| b.is_ascii_whitespace());
            let end = self.while_at(at, |b| b.is_ascii_digit());
            let extent = self.text.get(at..end)?.parse().ok().filter(|e| *e > 0)?;
            out.push(extent).ok()?;
            at = end;
            if self.byte(at) != Some(b'x') {
                break;
            }
            at = at.saturating_add(1);
        }
        self.at = at;
        Some(out)
    }
}

/// What stands before and behind the first `byte`. The library's own search for a character is not proved to be free
/// of panics wherever it is not inlined.
pub(crate) fn split_first(text: &str, byte: u8) -> Option<(&str, &str)> {
    let at = text.bytes().position(|b| b == byte)?;
    Some((text.get(..at)?, text.get(at.checked_add(1)?..)?))
}

/// The same of the last one.
pub(crate) fn split_last(text: &str, byte: u8) -> Option<(&str, &str)> {
    let at = text.bytes().rposition(|b| b == byte)?;
    Some((text.get(..at)?, text.get(at.checked_add(1)?..)?))
}

/// Whether a text has a name in it, and not as a part of another.
pub(crate) fn mentions(text: &str, name: &str) -> bool {
    let (text, name) = (text.as_bytes(), name.as_bytes());
    let inside = |byte: Option<&u8>| byte.is_some_and(|b| is_name(*b, false));
    let mut before: Option<&u8> = None;
    let mut rest = text;
    while let Some((first, behind)) = rest.split_first() {
        let next = rest.get(name.len()..).unwrap_or(&[]).first();
        if rest.starts_with(name) && !inside(before) && !inside(next) {
            return true;
        }
        before = Some(first);
        rest = behind;
    }
    false
}

/// Line and column, in characters, of a byte; both from 1.
pub(crate) fn place(text: &str, at: u32) -> (u32, u32) {
    let (mut line, mut column) = (1u32, 1u32);
    for byte in text.bytes().take(at as usize) {
        if byte == b'\n' {
            line = line.saturating_add(1);
            column = 1;
        } else if byte & 0xc0 != 0x80 {
            column = column.saturating_add(1);
        }
    }
    (line, column)
}

/// The byte at a line and column, both from 1.
pub(crate) fn offset(text: &str, line: u32, column: u32) -> usize {
    let mut start = 0usize;
    for _ in 1..line {
        let rest = text.get(start..).unwrap_or_default();
        start = start.saturating_add(
            rest.bytes().position(|b| b == b'\n').map_or(rest.len(), |k| k.saturating_add(1)),
        );
    }
    let rest = text.get(start..).unwrap_or_default();
    let mut left = column.saturating_sub(1);
    for (at, _) in rest.char_indices() {
        if left == 0 {
            return start.saturating_add(at);
        }
        left = left.saturating_sub(1);
    }
    text.len()
}

//! Writing with `write_str` alone: numbers, and strings as JSON has them.

use core::fmt::{Result, Write};

/// A text sink with what answers are made of.
pub(crate) struct Out<'w, W> {
    sink: &'w mut W,
}

impl<'w, W: Write> Out<'w, W> {
    pub(crate) fn new(sink: &'w mut W) -> Self {
        Self { sink }
    }

    /// The sink, for writers of other crates.
    pub(crate) fn sink(&mut self) -> &mut W {
        self.sink
    }

    pub(crate) fn text(&mut self, text: &str) -> Result {
        self.sink.write_str(text)
    }

    /// Several texts in a row.
    pub(crate) fn texts(&mut self, texts: &[&str]) -> Result {
        texts.iter().try_for_each(|text| self.text(text))
    }

    /// A decimal number.
    pub(crate) fn number(&mut self, value: i64) -> Result {
        if value < 0 {
            self.text("-")?;
        }
        self.unsigned(value.unsigned_abs())
    }

    /// A decimal number without a sign.
    pub(crate) fn unsigned(&mut self, value: u64) -> Result {
        self.digits(value, 10)
    }

    /// `0x` and the number.
    pub(crate) fn hex(&mut self, value: u64) -> Result {
        self.text("0x")?;
        self.digits(value, 16)
    }

    fn digits(&mut self, value: u64, base: u64) -> Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut out = [b'0'; 20];
        let (mut rest, mut used) = (value, 0usize);
        for slot in out.iter_mut().rev() {
            let digit = rest.checked_rem(base).unwrap_or(0) as usize;
            *slot = DIGITS.get(digit).copied().unwrap_or(b'0');
            rest = rest.checked_div(base).unwrap_or(0);
            used = used.saturating_add(1);
            if rest == 0 {
                break;
            }
        }
        let from = out.len().saturating_sub(used);
        let text = out.get(from..).and_then(|digits| core::str::from_utf8(digits).ok());
        self.text(text.unwrap_or_default())
    }

    /// A text between quotes, as JSON escapes it.
    pub(crate) fn quoted(&mut self, text: &str) -> Result {
        self.text("\"")?;
        JsonText { sink: self.sink }.write_str(text)?;
        self.text("\"")
    }

    /// `"key": `, after a comma unless it is the first.
    pub(crate) fn key(&mut self, first: bool, key: &str) -> Result {
        self.texts(&[if first { "\"" } else { ", \"" }, key, "\": "])
    }

    /// A key with a number.
    pub(crate) fn key_number(&mut self, first: bool, key: &str, value: i64) -> Result {
        self.key(first, key)?;
        self.number(value)
    }

    /// A key with a text.
    pub(crate) fn key_text(&mut self, first: bool, key: &str, value: &str) -> Result {
        self.key(first, key)?;
        self.quoted(value)
    }

    /// A key with a truth value.
    pub(crate) fn key_truth(&mut self, first: bool, key: &str, value: bool) -> Result {
        self.key(first, key)?;
        self.text(if value { "true" } else { "false" })
    }
}

/// A sink that escapes what JSON does not take as it is.
pub(crate) struct JsonText<'w, W> {
    pub(crate) sink: &'w mut W,
}

impl<W: Write> JsonText<'_, W> {
    fn escape(&mut self, text: &str) -> Result {
        let mut rest = text;
        while let Some(at) = rest.bytes().position(|b| b < 0x20 || b == b'"' || b == b'\\') {
            self.sink.write_str(rest.get(..at).unwrap_or_default())?;
            self.sink.write_str(match rest.as_bytes().get(at) {
                Some(b'"') => "\\\"",
                Some(b'\\') => "\\\\",
                Some(b'\n') => "\\n",
                Some(b'\t') => "\\t",
                Some(b'\r') => "\\r",
                _ => "\\ufffd",
            })?;
            rest = rest.get(at.saturating_add(1)..).unwrap_or_default();
        }
        self.sink.write_str(rest)
    }
}

impl<W: Write> Write for JsonText<'_, W> {
    #[inline(always)]
    fn write_str(&mut self, text: &str) -> Result {
        self.escape(text)
    }
}

/// A sink that takes everything and keeps nothing: whether a notation can say a layout.
pub(crate) struct Nowhere;

impl Write for Nowhere {
    #[inline(always)]
    fn write_str(&mut self, _: &str) -> Result {
        Ok(())
    }
}

/// A sink that escapes what XML does not take as it is.
pub(crate) struct XmlText<'w, W> {
    pub(crate) sink: &'w mut W,
}

impl<W: Write> XmlText<'_, W> {
    fn escape(&mut self, text: &str) -> Result {
        let mut rest = text;
        while let Some(at) = rest.bytes().position(|b| matches!(b, b'<' | b'>' | b'&')) {
            self.sink.write_str(rest.get(..at).unwrap_or_default())?;
            self.sink.write_str(match rest.as_bytes().get(at) {
                Some(b'<') => "&lt;",
                Some(b'>') => "&gt;",
                _ => "&amp;",
            })?;
            rest = rest.get(at.saturating_add(1)..).unwrap_or_default();
        }
        self.sink.write_str(rest)
    }
}

impl<W: Write> Write for XmlText<'_, W> {
    #[inline(always)]
    fn write_str(&mut self, text: &str) -> Result {
        self.escape(text)
    }
}

//! RON values that know their place.
//!
//! [`read`] deserializes a file or an entry of it. Inside, [`Spanned<T>`] and [`Entry`] find their place from the
//! address of ron's `RawValue`, which borrows from the text being read. An error keeps the innermost place.
use crate::diagnostics::Diagnostic;
use crate::source::{FileId, Sources, Span};
use crate::suggest;
use ron::extensions::Extensions;
use ron::value::RawValue;
use serde::{Deserialize, Deserializer, de};
use std::cell::RefCell;
use std::ops::Deref;

/// What is being read on this thread, and the innermost error so far.
struct Reading {
    file: FileId,
    base: usize,
    len: usize,
    error: Option<Diagnostic>,
}

thread_local! {
    static READING: RefCell<Option<Reading>> = const { RefCell::new(None) };
}

/// A value with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// Another value at the same place.
    pub fn map<U>(&self, f: impl FnOnce(&T) -> U) -> Spanned<U> {
        Spanned { value: f(&self.value), span: self.span }
    }
}

impl<T> Deref for Spanned<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Spanned<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        raw.read().map(|value| Self { value, span: raw.span }).map_err(de::Error::custom)
    }
}

/// A value that is only located now and read later with [`Entry::read`], so that one bad entry does not hide the next.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where it stands.
    pub span: Span,
}

impl Entry {
    /// Reads the entry.
    pub fn read<'de, T: Deserialize<'de>>(self, sources: &'de Sources) -> Result<Spanned<T>, Diagnostic> {
        Ok(Spanned { value: read(sources, self.span)?, span: self.span })
    }
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self { span: Raw::deserialize(deserializer)?.span })
    }
}

/// The text of a value, for types whose form decides how it is read.
pub(crate) struct Raw<'de> {
    text: &'de str,
    span: Span,
}

impl<'de> Raw<'de> {
    /// The text, without white space and comments around it.
    pub(crate) fn text(&self) -> &'de str {
        self.text
    }
    /// Reads it as a `T`.
    pub(crate) fn read<T: Deserialize<'de>>(&self) -> Result<T, &'static str> {
        options().from_str::<T>(self.text).map_err(|error| {
            remember(&error, self.text, self.span);
            "see the innermost error"
        })
    }
}

impl<'de> Deserialize<'de> for Raw<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&'de RawValue>::deserialize(deserializer)?;
        let (text, span) = locate(raw.get_ron()).ok_or_else(|| de::Error::custom("not read through `spanned::read`"))?;
        Ok(Self { text, span })
    }
}

/// The whole of a file.
#[must_use]
pub fn whole(sources: &Sources, file: FileId) -> Span {
    Span::new(file, 0, sources.file(file).text.len())
}

/// Deserializes the value that stands at `span`.
pub fn read<'de, T: Deserialize<'de>>(sources: &'de Sources, span: Span) -> Result<T, Diagnostic> {
    let file = &sources.file(span.file).text;
    let reading = Reading { file: span.file, base: file.as_ptr() as usize, len: file.len(), error: None };
    let outer = READING.with(|r| r.replace(Some(reading)));
    let text = sources.text(span);
    let result = options().from_str::<T>(text);
    let mine = READING.with(|r| r.replace(outer));
    result.map_err(|error| match mine.and_then(|m| m.error) {
        Some(inner) => inner,
        None => explain(&error, text, span),
    })
}

/// The options that every table is read with.
fn options() -> ron::Options {
    ron::Options::default().with_default_extension(Extensions::IMPLICIT_SOME | Extensions::UNWRAP_NEWTYPES | Extensions::UNWRAP_VARIANT_NEWTYPES)
}

/// The text without white space and comments around it, and its place in the file being read.
fn locate(text: &str) -> Option<(&str, Span)> {
    READING.with(|r| {
        let reading = r.borrow();
        let reading = reading.as_ref()?;
        let text = trim(text);
        let start = (text.as_ptr() as usize).checked_sub(reading.base).filter(|at| *at <= reading.len)?;
        Some((text, Span::new(reading.file, start, start + text.len())))
    })
}

fn trim(text: &str) -> &str {
    let mut rest = text.trim();
    loop {
        let after = if let Some(line) = rest.strip_prefix("//") {
            line.find('\n').map(|at| &line[at..])
        } else if let Some(block) = rest.strip_prefix("/*") {
            block.find("*/").map(|at| &block[at + 2..])
        } else {
            None
        };
        match after {
            Some(after) => rest = after.trim(),
            None => return rest,
        }
    }
}

fn remember(error: &ron::error::SpannedError, text: &str, span: Span) {
    READING.with(|r| {
        if let Some(reading) = r.borrow_mut().as_mut()
            && reading.error.is_none()
        {
            reading.error = Some(explain(error, text, span));
        }
    });
}

/// ron's error as ours: the place in the file, and a remedy for unknown words.
fn explain(error: &ron::error::SpannedError, text: &str, span: Span) -> Diagnostic {
    use ron::Error as E;
    let at = byte_offset(text, error.span.start.line, error.span.start.col);
    let end = byte_offset(text, error.span.end.line, error.span.end.col);
    let base = span.start as usize;
    let here = Span::new(span.file, base + at, base + end);
    let word_before = |word: &str| {
        let start = text[..end].rfind(word).map_or(at, |found| found);
        Span::new(span.file, base + start, base + start + word.len())
    };
    match &error.code {
        E::NoSuchStructField { expected, found, .. } => Diagnostic::at(word_before(found), format!("unknown field `{found}`")).help(suggest::remedy(
            found,
            expected.iter().copied(),
            &format!("known fields: {}", expected.join(", ")),
        )),
        E::NoSuchEnumVariant { expected, found, .. } => Diagnostic::at(word_before(found), format!("unknown word `{found}`")).help(suggest::remedy(
            found,
            expected.iter().copied(),
            &format!("known words: {}", expected.join(", ")),
        )),
        E::MissingStructField { field, .. } => {
            Diagnostic::at(span, format!("field `{field}` is missing")).help("hw-tables/SCHEMA.md shows every kind of entry")
        }
        E::DuplicateStructField { field, .. } => Diagnostic::at(word_before(field), format!("field `{field}` stands here twice")).help("keep one of them"),
        E::InvalidValueForType { expected, found } => {
            Diagnostic::at(span, format!("expected {expected}, found {found}")).help("hw-tables/SCHEMA.md shows every kind of entry")
        }
        other => {
            let text = other.to_string();
            let mut letters = text.chars();
            let text = letters.next().map_or(String::new(), |c| c.to_lowercase().chain(letters).collect());
            Diagnostic::at(here, text).help("hw-tables/SCHEMA.md shows every kind of entry")
        }
    }
}

/// Byte offset of a line and column (both from 1, columns in characters).
fn byte_offset(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    text[start..].char_indices().nth(column.saturating_sub(1)).map_or(text.len(), |(at, _)| start + at)
}

#[cfg(test)]
#[path = "spanned_tests.rs"]
mod tests;

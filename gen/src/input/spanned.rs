//! RON values that know their place.
//!
//! [`read`] deserializes a file or an entry of it. Inside, [`Spanned<T>`] and [`Entry`] find their
//! place from the address of ron's `RawValue`, which borrows from the text being read. An error
//! keeps the innermost place.
//!
//! [`read_as_meant`] goes on behind a misspelt field or word as if the nearest known one stood
//! there, and behind an unknown field as if it were not there, so that what follows is judged in
//! the same run. Places are those of the text as it is written.
use crate::diagnostics::Diagnostic;
use crate::source::{FileId, Sources, Span};
use crate::tree;
use lanebook_suggest as suggest;
use ron::extensions::Extensions;
use ron::value::RawValue;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, de};
use std::cell::RefCell;
use std::ops::Deref;

/// What is being read on this thread, and the innermost error so far.
struct Reading {
    places: Places,
    error: Option<Wrong>,
}

/// What stands where: a text, perhaps with corrections, and the places of its letters in the file.
#[derive(Clone, Debug)]
struct Places {
    file: FileId,
    /// Address of the text, and its length.
    base: usize,
    len: usize,
    /// From this byte of the text on, the file's from that one on. Ascending; the first is at 0.
    pieces: Vec<(usize, usize)>,
}

impl Places {
    /// Of a text that stands in its file as it is.
    fn of(text: &str, span: Span) -> Self {
        Self {
            file: span.file,
            base: text.as_ptr() as usize,
            len: text.len(),
            pieces: vec![(0, span.start as usize)],
        }
    }
    /// The file's byte for one of the text.
    fn byte(&self, at: usize) -> usize {
        let (from, to) =
            self.pieces.iter().rev().find(|(from, _)| *from <= at).copied().unwrap_or_default();
        to + (at - from)
    }
    /// Bytes of a part of the text within the text.
    fn within(&self, part: &str) -> Option<usize> {
        (part.as_ptr() as usize).checked_sub(self.base).filter(|at| *at <= self.len)
    }
    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, self.byte(start), self.byte(end))
    }
    /// The pieces where `old` bytes from `at` on are `new` others.
    fn corrected(&self, at: usize, old: usize, new: usize) -> Vec<(usize, usize)> {
        let mut pieces: Vec<(usize, usize)> =
            self.pieces.iter().copied().filter(|(from, _)| *from <= at).collect();
        pieces.push((at + new, self.byte(at + old)));
        pieces.extend(
            self.pieces
                .iter()
                .filter(|(from, _)| *from > at + old)
                .map(|(from, to)| (from - old + new, *to)),
        );
        pieces
    }
}

/// An error, and what was meant.
struct Wrong {
    diagnostic: Diagnostic,
    meant: Meant,
}

/// How to go on behind an error. Bytes are those of the text that is being read.
#[derive(Copy, Clone)]
enum Meant {
    /// Not known.
    Unknown,
    /// A field that stands there twice.
    Twice,
    /// This word for so many bytes from there on.
    Word { at: usize, length: usize, word: &'static str },
    /// A field from there on that nobody knows; of its name so many bytes.
    Field { at: usize, length: usize },
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

/// A value that is only located now and read later with [`Entry::read`], so that one bad entry does
/// not hide the next.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where it stands.
    pub span: Span,
}

impl Entry {
    /// Reads the entry.
    pub fn read<'de, T: Deserialize<'de>>(
        self,
        sources: &'de Sources,
    ) -> Result<Spanned<T>, Diagnostic> {
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
            remember(&error, self.text);
            "see the innermost error"
        })
    }
}

impl<'de> Deserialize<'de> for Raw<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&'de RawValue>::deserialize(deserializer)?;
        let (text, span) = locate(raw.get_ron())
            .ok_or_else(|| de::Error::custom("not read through `spanned::read`"))?;
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
    let text = sources.text(span);
    read_text(text, &Places::of(text, span)).map_err(|wrong| wrong.diagnostic)
}

fn read_text<'de, T: Deserialize<'de>>(text: &'de str, places: &Places) -> Result<T, Box<Wrong>> {
    let outer = READING.with(|r| r.replace(Some(Reading { places: places.clone(), error: None })));
    let result = options().from_str::<T>(text);
    let mine = READING.with(|r| r.replace(outer));
    result.map_err(|error| {
        mine.and_then(|m| m.error).unwrap_or_else(|| explain(&error, text, places)).into()
    })
}

/// A value as it was probably meant, and all that is wrong with it.
#[derive(Debug)]
pub struct AsMeant<T> {
    /// The value, if it can be told.
    pub value: Option<T>,
    /// What is wrong, in the order in which it was found.
    pub errors: Vec<Diagnostic>,
    /// Places of fields that nobody knows.
    pub left_out: Vec<Span>,
}

/// Most corrections of one value.
const MOST: usize = 32;

/// Deserializes the value that stands at `span`, behind words that are nearly right and unknown
/// fields too.
pub fn read_as_meant<T: DeserializeOwned>(sources: &Sources, span: Span) -> AsMeant<T> {
    let mut text = sources.text(span).to_string();
    let mut pieces = vec![(0, span.start as usize)];
    let (mut errors, mut left_out) = (Vec::new(), Vec::new());
    loop {
        let places =
            Places { file: span.file, base: text.as_ptr() as usize, len: text.len(), pieces };
        let wrong = match read_text(&text, &places) {
            Ok(value) => return AsMeant { value: Some(value), errors, left_out },
            Err(wrong) => wrong,
        };
        let (at, length, word) = match wrong.meant {
            Meant::Word { at, length, word } => (at, length, word),
            Meant::Field { at, length } => {
                let Some(end) = tree::field_end(&text, at + length) else {
                    errors.push(wrong.diagnostic);
                    return AsMeant { value: None, errors, left_out };
                };
                left_out.push(places.span(at, end));
                (at, end - at, "")
            }
            // The word was a better one's neighbour, which is there: only the first error is one.
            Meant::Twice if !errors.is_empty() => return AsMeant { value: None, errors, left_out },
            Meant::Twice | Meant::Unknown => {
                errors.push(wrong.diagnostic);
                return AsMeant { value: None, errors, left_out };
            }
        };
        errors.push(wrong.diagnostic);
        if errors.len() > MOST {
            return AsMeant { value: None, errors, left_out };
        }
        pieces = places.corrected(at, length, word.len());
        text.replace_range(at..at + length, word);
    }
}

/// The options that every table is read with.
fn options() -> ron::Options {
    ron::Options::default().with_default_extension(
        Extensions::IMPLICIT_SOME
            | Extensions::UNWRAP_NEWTYPES
            | Extensions::UNWRAP_VARIANT_NEWTYPES,
    )
}

/// The text without white space and comments around it, and its place in the file being read.
fn locate(text: &str) -> Option<(&str, Span)> {
    READING.with(|r| {
        let reading = r.borrow();
        let places = &reading.as_ref()?.places;
        let text = trim(text);
        let start = places.within(text)?;
        Some((text, places.span(start, start + text.len())))
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

fn remember(error: &ron::error::SpannedError, text: &str) {
    READING.with(|r| {
        if let Some(reading) = r.borrow_mut().as_mut()
            && reading.error.is_none()
        {
            reading.error = Some(explain(error, text, &reading.places));
        }
    });
}

/// ron's error in a part of a text as ours: the place in the file, a remedy for unknown words, and
/// what was meant.
fn explain(error: &ron::error::SpannedError, text: &str, places: &Places) -> Wrong {
    use ron::Error as E;
    let at = byte_offset(text, error.span.start.line, error.span.start.col);
    let end = byte_offset(text, error.span.end.line, error.span.end.col);
    let base = places.within(text).unwrap_or(0);
    let all = places.span(base, base + text.len());
    let before = |word: &str| text[..end].rfind(word).map_or(at, |found| found) + base;
    let unknown = |what: &str, found: &str, expected: &'static [&'static str]| {
        let at = before(found);
        let message = format!("unknown {what} `{found}`");
        let help = suggest::remedy(
            found,
            expected.iter().copied(),
            &format!("known {what}s: {}", expected.join(", ")),
        );
        let near = suggest::nearest(found, expected.iter().copied());
        let meant = near.and_then(|near| expected.iter().find(|word| **word == near));
        let length = found.len();
        let meant = match meant {
            Some(word) => Meant::Word { at, length, word },
            None if what == "field" => Meant::Field { at, length },
            None => Meant::Unknown,
        };
        Wrong {
            diagnostic: Diagnostic::at(places.span(at, at + length), message).help(help),
            meant,
        }
    };
    let schema = "hw-tables/SCHEMA.md shows every kind of entry";
    let (diagnostic, meant) = match &error.code {
        E::NoSuchStructField { expected, found, .. } => return unknown("field", found, expected),
        E::NoSuchEnumVariant { expected, found, .. } => return unknown("word", found, expected),
        E::MissingStructField { field, .. } => (
            Diagnostic::at(all, format!("field `{field}` is missing")).help(schema),
            Meant::Unknown,
        ),
        E::DuplicateStructField { field, .. } => {
            let at = before(field);
            (
                Diagnostic::at(
                    places.span(at, at + field.len()),
                    format!("field `{field}` stands here twice"),
                )
                .help("keep one of them"),
                Meant::Twice,
            )
        }
        E::InvalidValueForType { expected, found } => (
            Diagnostic::at(all, format!("expected {expected}, found {found}")).help(schema),
            Meant::Unknown,
        ),
        other => {
            let text = other.to_string();
            let mut letters = text.chars();
            let text =
                letters.next().map_or(String::new(), |c| c.to_lowercase().chain(letters).collect());
            (Diagnostic::at(places.span(base + at, base + end), text).help(schema), Meant::Unknown)
        }
    };
    Wrong { diagnostic, meant }
}

/// Byte offset of a line and column (both from 1, columns in characters).
fn byte_offset(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    text[start..]
        .char_indices()
        .nth(column.saturating_sub(1))
        .map_or(text.len(), |(at, _)| start + at)
}

#[cfg(test)]
#[path = "spanned_tests.rs"]
mod tests;

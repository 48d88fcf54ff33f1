//! Sentences with numbers and names in them, written with `write_str` alone.
//!
//! Errors say what they mean through these: `write_text` of each writes into any sink without
//! `core::fmt`'s machinery, and its `Display` is that. A sentence says what is wrong; where the
//! value alone tells what to do about it, that follows behind a semicolon.
//!
//! ```
//! use lanebook_layout::words::{SentencePart, write_number, write_sentence};
//!
//! let mut text = String::new();
//! let parts = [SentencePart::Text("rows"), 12u32.into(), (-1i64).into(), SentencePart::Bits(0xff)];
//! write_sentence("~ has ~ entries, stride ~, mask ~", &parts, &mut text).unwrap();
//! assert_eq!(text, "rows has 12 entries, stride -1, mask 0xff");
//! write_number(7, &mut text).unwrap();
//! assert!(text.ends_with("0xff7"));
//! ```

use core::fmt::{Result, Write};

/// What stands in a sentence where it has a `~`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum SentencePart<'t> {
    /// A number.
    Signed(i64),
    /// A number from 0 on.
    Unsigned(u64),
    /// Bits, written in hexadecimal.
    Bits(u64),
    /// A name.
    Text(&'t str),
}

macro_rules! parts {
    ($($form:ident($wide:ty): $($number:ty)*;)*) => {
        $($(impl From<$number> for SentencePart<'_> {
            fn from(value: $number) -> Self {
                Self::$form(<$wide>::from(value))
            }
        })*)*
    };
}
parts! { Signed(i64): i8 i16 i32 i64; Unsigned(u64): u8 u16 u32 u64; }

impl<'t> From<&'t str> for SentencePart<'t> {
    fn from(text: &'t str) -> Self {
        Self::Text(text)
    }
}

/// Writes a number in decimal.
///
/// # Errors
/// Those of the sink.
pub fn write_number(value: u64, sink: &mut impl Write) -> Result {
    write_digits(value, 10, sink)
}

fn write_digits(value: u64, base: u64, sink: &mut impl Write) -> Result {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut digits = [b'0'; 20];
    let (mut rest, mut used) = (value, 0usize);
    for slot in digits.iter_mut().rev() {
        let digit = usize::try_from(rest.checked_rem(base).unwrap_or(0)).unwrap_or(0);
        *slot = DIGITS.get(digit).copied().unwrap_or(b'0');
        rest = rest.checked_div(base).unwrap_or(0);
        used = used.wrapping_add(1);
        if rest == 0 {
            break;
        }
    }
    let from = digits.len().saturating_sub(used);
    let text = digits.get(from..).and_then(|digits| core::str::from_utf8(digits).ok());
    sink.write_str(text.unwrap_or(""))
}

/// Writes a sentence, its parts in turn where it has a `~`.
///
/// # Errors
/// Those of the sink.
pub fn write_sentence(sentence: &str, parts: &[SentencePart<'_>], sink: &mut impl Write) -> Result {
    let (mut rest, mut parts) = (sentence, parts.iter());
    while let Some(at) = rest.bytes().position(|byte| byte == b'~') {
        sink.write_str(rest.get(..at).unwrap_or(""))?;
        match parts.next() {
            Some(SentencePart::Signed(value)) => {
                if *value < 0 {
                    sink.write_str("-")?;
                }
                write_number(value.unsigned_abs(), sink)?;
            }
            Some(SentencePart::Unsigned(value)) => write_number(*value, sink)?,
            Some(SentencePart::Bits(value)) => {
                sink.write_str("0x")?;
                write_digits(*value, 16, sink)?;
            }
            Some(SentencePart::Text(text)) => sink.write_str(text)?,
            None => {}
        }
        rest = rest.get(at.saturating_add(1)..).unwrap_or("");
    }
    sink.write_str(rest)
}

/// Writes a sentence with its parts.
#[doc(hidden)]
#[macro_export]
macro_rules! sentence {
    ($sink:expr, $text:expr $(, $part:expr)* $(,)?) => {
        $crate::words::write_sentence(
            $text,
            &[$($crate::words::SentencePart::from($part)),*],
            $sink,
        )
    };
}

/// `Display` and `Error` for types that have `write_text(&self, sink)`.
#[doc(hidden)]
#[macro_export]
macro_rules! shown {
    ($($error:ty),* $(,)?) => {
        $(impl core::fmt::Display for $error {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                self.write_text(f)
            }
        }
        impl core::error::Error for $error {})*
    };
}

/// The sentence of each variant: `Variant { fields } => ("text with ~", fields);` or
/// `=> { an expression that writes into the sink };`. A variant without one does not build.
#[doc(hidden)]
#[macro_export]
macro_rules! sentences {
    ($error:ident, $sink:ident;
     $($variant:ident $({ $($field:ident),* $(,)? })? $(( $inner:pat ))? => $said:tt;)*) => {
        impl $error {
            /// Writes what is wrong, in words.
            ///
            /// # Errors
            /// Those of the sink.
            pub fn write_text(&self, $sink: &mut impl core::fmt::Write) -> core::fmt::Result {
                match *self {
                    $(Self::$variant $({ $($field,)* .. })? $(( $inner ))? => {
                        $crate::sentences!(@ $sink $said)
                    })*
                }
            }
        }
        $crate::shown!($error);
    };
    (@ $sink:ident ( $($said:tt)* )) => { $crate::sentence!($sink, $($said)*) };
    (@ $sink:ident { $said:expr }) => { $said };
}

/// A test's: each variant is written as a sentence that is not its `Debug` text. The match names
/// every variant, so that a list that leaves one out does not build.
#[doc(hidden)]
#[macro_export]
macro_rules! every_variant_speaks {
    ($error:ident $(<$of:ty>)?: $($variant:ident $({ $($field:tt)* })? $(( $($inner:tt)* ))?),* $(,)?) => {{
        let every: std::vec::Vec<$error $(<$of>)?> =
            std::vec![$($error::$variant $({ $($field)* })? $(( $($inner)* ))?),*];
        for one in &every {
            let name = match one {
                $($error::$variant { .. } => stringify!($variant),)*
            };
            let (text, debug) = (std::format!("{one}"), std::format!("{one:?}"));
            assert_ne!(text, debug, "{name}");
            assert!(text.trim().contains(' '), "{name} says only {text:?}");
            assert!(!text.contains('~'), "{name}: {text}");
            assert!(!text.contains(&debug), "{name}: {text}");
            let error: &dyn core::error::Error = one;
            assert_eq!(std::string::ToString::to_string(error), text);
        }
        every.len()
    }};
}

#[cfg(test)]
mod tests {
    use std::string::String;

    #[test]
    fn parts_stand_where_the_sentence_has_room() {
        let mut out = String::new();
        crate::sentence!(&mut out, "~ of ~, ~ and ~", -7i64, "x", u64::MAX, 0u8).expect("written");
        assert_eq!(out, "-7 of x, 18446744073709551615 and 0");
        out.clear();
        crate::sentence!(&mut out, "~~ left", i64::MIN).expect("written");
        assert_eq!(out, "-9223372036854775808 left");
        out.clear();
        crate::sentence!(&mut out, "~", super::SentencePart::Bits(0xbeef)).expect("written");
        assert_eq!(out, "0xbeef");
    }
}

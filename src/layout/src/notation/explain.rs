//! What errors of notations say to a person.

use super::{Expected, ParseError, Part, PrintError};
use crate::axis::{AxisId, AxisNames, WellKnown};
use core::fmt::{Result, Write};

const BOTH: &str = "write CuTe, `(8,4):(4,1)`, or TIRx, `S[(8,4):(4@laneid,1@laneid)]`";

impl Expected {
    /// What is expected and what to write, where no number and no list belongs to that.
    #[must_use]
    pub const fn words(self) -> Option<(&'static str, &'static str)> {
        Some(match self {
            Self::OpenParen => ("`(`", "shape and stride are trees of the same form"),
            Self::CloseParen => ("`)`", "close the tuple"),
            Self::OpenBracket => ("`[`", BOTH),
            Self::CloseBracket => ("`]`", "close the bracket"),
            Self::OpenAngle => ("`<`", "a descriptor begins with it, as in <(128,64),(64,1)>"),
            Self::CloseAngle => ("`>`", "write a swizzle as S<bits,base,shift>"),
            Self::OpenBrace => ("`{`", "an encoding's keys stand between `<{` and `}>`"),
            Self::CloseBrace => ("`}`", "an encoding's keys stand between `<{` and `}>`"),
            Self::Comma => ("`,`", "as many strides as extents are needed"),
            Self::CommaOrClose => ("`,` or `)`", "go on with the tuple or close it"),
            Self::Colon => ("`:`", "strides follow the shape after a colon, as in `(8,4):(4,1)`"),
            Self::Compose => ("`o`", "write a swizzled layout as `S<3,4,3> o (8,8):(8,1)`"),
            Self::Swizzle => ("`S<`", "write a swizzle as S<bits,base,shift>"),
            Self::End => ("the end", "remove what stands here"),
            Self::Number => ("a number", BOTH),
            Self::Integer => ("a known integer", "write a number"),
            Self::SmallerNumber => ("a smaller number", "strides have 64 bits, extents 32"),
            Self::PositiveExtent => {
                ("an extent of 1 or more", "an empty mode is no layout; leave it out")
            }
            Self::NumberOrOpen => ("a number or `(`", BOTH),
            Self::Axis => ("an axis", "name one after `@`, such as laneid, warpid, bit"),
            Self::KnownSymbol => {
                ("a number or a known symbol", "there is room for 16 symbols of 23 characters")
            }
            Self::BasisNumber => ("a mode number from 0 to 15", "a path has at most three"),
            Self::At => ("`@`", "each number of a basis has a path, as in 1@0"),
            Self::Divisor => ("`div=` and a positive number", "say what divides the value"),
            Self::Denominator => ("a denominator other than 0", "write another number"),
            Self::Shard => ("an `S[...]`", "offsets alone are no layout"),
            Self::OneShard => ("no second `S[...]`", "put all iters into one"),
            Self::OneReplica => ("no second `R[...]`", "put all replicas into one"),
            Self::ValidSwizzle => (
                "a swizzle whose fields do not overlap",
                "S<B,M,S> needs |S| >= B and M + B + |S| <= 63",
            ),
            Self::Boolean => ("`True` or `False`", "write one of the two"),
            Self::Equals => ("`=`", "an argument's value follows its name and `=`"),
            Self::CloseQuote => ("a closing quote", "end the name with the quote it begins with"),
            Self::Clause => {
                ("`swizzle<...>`, `elem=...` or `>`", "go on with the descriptor or close it")
            }
            Self::KnownElement => ("an element type that is known", "such as f16, bf16, f32"),
            Self::Congruent => {
                ("strides of the same tree as the shape", "give each extent its stride")
            }
            Self::Attribute => (
                "an encoding that is known",
                "such as #ttg.blocked, #ttg.nvidia_mma, #ttg.swizzled_shared",
            ),
            Self::Key | Self::KeyOnce | Self::Parameter(_) => {
                ("the encoding's own keys, each once", "write them as Triton prints them")
            }
            Self::KnownAxis | Self::Fits(_) | Self::Encoding(_) => return None,
        })
    }

    /// Writes what is expected and, behind a semicolon, what to write.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn write_text(&self, sink: &mut impl Write) -> Result {
        match *self {
            Self::Fits(error) => error.write_text(sink),
            Self::Encoding(error) => error.write_text(sink),
            other => match other.words() {
                Some((what, remedy)) => crate::sentence!(sink, "expected ~; ~", what, remedy),
                None => {
                    sink.write_str("expected an axis that is known; axes are")?;
                    write_axes(sink)
                }
            },
        }
    }
}

/// Writes the names of the axes that are known, with commas between, each behind a space.
///
/// # Errors
/// Those of the sink.
pub fn write_axes(sink: &mut impl Write) -> Result {
    let names = (0..AxisId::FIRST_FREE).map_while(|n| WellKnown.name(AxisId(n)));
    for (k, name) in names.enumerate() {
        crate::sentence!(sink, "~~", if k > 0 { ", " } else { " " }, name)?;
    }
    Ok(())
}

impl ParseError {
    /// Writes `line L, column C: what is expected; what to write`.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn write_text(&self, sink: &mut impl Write) -> Result {
        crate::sentence!(sink, "line ~, column ~: ", self.line, self.col)?;
        self.expected.write_text(sink)
    }
}

crate::shown!(ParseError);

impl Part {
    /// What it is, in words.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Replica => "copies",
            Self::Offset => "an offset",
            Self::PostMap => "a swizzle or padding",
            Self::Tree => "a tree that is deeper than a tuple",
        }
    }
}

crate::sentences! { PrintError, sink;
    Sink => ("the text could not be written");
    UnnamedAxis(axis) => ("axis number ~ has no name", axis.0);
    UnnamedSymbol(_) => ("a symbol has no name");
    NotExpressible(part) => ("the notation cannot say this: ~; write the layout in another", part.describe());
    Invalid(error) => { error.write_text(sink) };
}

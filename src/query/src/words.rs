//! Errors in words: what is wrong, and what to do about it.

use crate::error::{KindOfValue, Needed, QueryError, Why};
use crate::text;
use crate::write::Out;
use core::fmt::{Display, Formatter, Result, Write};
use lanebook_layout::notation::{Expected, write_axes};
use lanebook_tile::unit::UnitError;

impl QueryError {
    /// Writes `line L, column C: what is wrong; what to do about it`. `text` is the query.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn write_text(&self, text: &str, sink: &mut impl Write) -> Result {
        let out = &mut Out::new(sink);
        out.text("line ")?;
        out.unsigned(u64::from(self.line))?;
        out.text(", column ")?;
        out.unsigned(u64::from(self.column))?;
        out.text(": ")?;
        self.why.write(self.word(text), out)?;
        out.text("\n")
    }

    /// Writes it as one JSON object.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn write_json(&self, text: &str, sink: &mut impl Write) -> Result {
        let out = &mut Out::new(sink);
        out.text("{")?;
        out.key_text(true, "kind", "error")?;
        out.key_number(false, "line", i64::from(self.line))?;
        out.key_number(false, "column", i64::from(self.column))?;
        out.key(false, "message")?;
        out.text("\"")?;
        let mut escaped = crate::write::JsonText { sink: out.sink() };
        self.why.write(self.word(text), &mut Out::new(&mut escaped))?;
        out.text("\"}\n")
    }

    /// The word of the query that the error is about.
    fn word<'q>(&self, query: &'q str) -> &'q str {
        let rest = query.get(text::offset(query, self.line, self.column)..).unwrap_or_default();
        let name = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.');
        let end = rest.bytes().position(|b| !name(b)).unwrap_or(rest.len());
        rest.get(..end).unwrap_or_default()
    }
}

impl Why {
    /// Writes what is wrong and what to do about it. `word` is the word of the text that it is about.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn write_text(&self, word: &str, sink: &mut impl Write) -> Result {
        self.write(word, &mut Out::new(sink))
    }

    fn write<W: Write>(&self, word: &str, out: &mut Out<'_, W>) -> Result {
        match *self {
            Self::Notation(expected) => notation(expected, word, out),
            Self::Needed(needed) => {
                let (what, remedy) = needed_words(needed);
                out.texts(&["expected ", what, "; ", remedy])
            }
            Self::UnknownName => out.texts(&[
                "nothing is called `",
                word,
                "`; write a layout such as (8,4):(4,1), an instruction's operand such as mma.m16n8k16.f32.f16.D, or give a name with `let`",
            ]),
            Self::UnknownFunction => {
                out.texts(&["there is no function `", word, "`; functions are"])?;
                for (k, form) in crate::functions::FUNCTIONS.iter().enumerate() {
                    out.texts(&[if k > 0 { ", " } else { " " }, form.name])?;
                }
                Ok(())
            }
            Self::Arguments { function, found } => {
                let Some(form) = function.form() else { return out.text("another number of arguments") };
                out.text("expected ")?;
                out.texts(&[form.name, "(", form.takes, "), and there are "])?;
                out.unsigned(u64::from(found))?;
                out.text(" arguments; ")?;
                out.text(form.about)
            }
            Self::Kind { wanted, found } => {
                out.texts(&["expected ", kind(wanted), ", and this is ", kind(found)])?;
                out.text(match wanted {
                    KindOfValue::Layout => "; write a layout such as (8,4):(4,1), or an encoding with a shape",
                    _ => "; see what the function takes",
                })
            }
            Self::Coordinate { rank } => {
                out.text("no element has this coordinate; the layout has ")?;
                out.unsigned(u64::from(rank))?;
                out.text(" coordinates, each from 0 and below its extent")
            }
            Self::OtherElements { first, second } => {
                out.text("the numbers of elements differ: ")?;
                out.unsigned(first)?;
                out.text(" and ")?;
                out.unsigned(second)?;
                out.text("; both have to be of the same elements")
            }
            Self::TooLarge { most } => {
                out.text("more than ")?;
                out.unsigned(u64::from(most))?;
                out.text(" elements are not looked at one by one; ask about a part of them")
            }
            Self::Layout(error) => error.write_text(out.sink()),
            Self::Encoding(error) => error.write_text(out.sink()),
            Self::Fragment(fault) => fault.write_text(out.sink()),
            Self::Unit(error) => {
                error.write_text(out.sink())?;
                out.text(unit_remedy(error))
            }
            other => {
                let (what, remedy) = other.plain();
                out.texts(&[what, "; ", remedy])
            }
        }
    }

    /// Those that hold no numbers.
    fn plain(self) -> (&'static str, &'static str) {
        match self {
            Self::UnknownInstruction => (
                "no instruction of this name is known",
                "`lanebook atoms --arch ARCH` lists them; a part of a name lists its family",
            ),
            Self::UnknownArch => ("no architecture has this name", "`lanebook arch` lists them"),
            Self::UnknownType => {
                ("no element type has this name", "write one such as f16, bf16, f32, e4m3 or i8")
            }
            Self::NeedsArch => (
                "the answer depends on the architecture",
                "add `on ARCH` to the query, or --arch ARCH",
            ),
            Self::NeedsShape => {
                ("this says where elements are once it has a shape", "add one, such as `@ 64x128`")
            }
            Self::Family => (
                "several instructions have this name, and they differ",
                "ask for the name alone to list them and write one of them, or name the architecture with `on`",
            ),
            Self::NoOperand => (
                "the instruction has no such part with a layout",
                "products have .A, .B, .C and .D, movements .from and .to",
            ),
            Self::NoRegisters => (
                "the layout has neither lanes nor threads: it is no distribution over registers",
                "write an operand, an encoding with a shape, or a fragment",
            ),
            Self::WrongInstruction => (
                "the instruction does not do what is asked about",
                "ask for its name alone to see what it does",
            ),
            Self::BadWord => ("this word is none of the choices", "see what the function takes"),
            Self::Again => (
                "one argument says what another has said already",
                "an instruction is of one kind, one feature, one shape; leave one of them out",
            ),
            Self::Nested { .. } => {
                ("this question is no value", "ask it by itself, without anything around it")
            }
            Self::TooDeep => {
                ("more values wait than there is room for", "give parts a name with `let`")
            }
            Self::TooManyNames => (
                "there is no room for another name, or it is longer than 24 characters",
                "use a name again",
            ),
            Self::NoBankModel => (
                "the banks of this access are not modelled",
                "`lanebook arch ARCH` shows the models that there are",
            ),
            Self::RunsApart => (
                "the bytes that one address supplies do not lie side by side in the tile, or are not aligned",
                "choose a narrower instruction, or a swizzle or padding that keeps them together",
            ),
            Self::NoNotation => {
                ("no notation says this layout", "ask for an element of it with `at`")
            }
            Self::NeedsBits => {
                ("the width of an element is not known", "add the type, such as `of f16`")
            }
            // Said above, with what they hold.
            Self::Notation(_)
            | Self::Needed(_)
            | Self::UnknownName
            | Self::UnknownFunction
            | Self::Kind { .. }
            | Self::Arguments { .. }
            | Self::Coordinate { .. }
            | Self::OtherElements { .. }
            | Self::TooLarge { .. }
            | Self::Layout(_)
            | Self::Encoding(_)
            | Self::Fragment(_)
            | Self::Unit(_) => ("this has no answer", "ask in another way"),
        }
    }
}

/// What to do about what a matrix unit or a tiled copy refuses, where the sentence does not say it.
fn unit_remedy(error: UnitError) -> &'static str {
    match error {
        UnitError::Stride { .. } | UnitError::NoMode { b: 0, .. } => {
            "; `operand_tile((OUTER, DEPTH), ORDER, MODE, TYPE)` is a tile that a unit reads"
        }
        UnitError::Width { .. } => "; choose the other order, or elements of another width",
        UnitError::Map(_) => "; copy a part of the tile, or let it lie as the rule asks",
        UnitError::Order { .. } => "; choose the other order, or other columns",
        _ => "",
    }
}

fn kind(kind: KindOfValue) -> &'static str {
    match kind {
        KindOfValue::Nothing => "nothing",
        KindOfValue::Number => "a number",
        KindOfValue::Truth => "yes or no",
        KindOfValue::Tuple => "a tuple of numbers",
        KindOfValue::Layout => "a layout",
        KindOfValue::Swizzle => "a swizzle without a layout",
        KindOfValue::Encoding => "an encoding without a shape",
        KindOfValue::Instruction => "an instruction",
        KindOfValue::Word => "a word",
    }
}

fn needed_words(needed: Needed) -> (&'static str, &'static str) {
    match needed {
        Needed::Operand => (
            "a layout, an encoding, an instruction, a call or a number",
            "such as (8,4):(4,1), #ttg.blocked<{...}> @ 64x64, mma.m16n8k16.f32.f16.D",
        ),
        Needed::CloseBracket => ("the closing bracket", "close what is open"),
        Needed::CommaOrClose => ("`,` or `)`", "go on with the arguments or close the call"),
        Needed::End => ("the end, `at`, `where` or `o`", "remove what stands here"),
        Needed::Name => ("a name", "write `let NAME = EXPRESSION;`"),
        Needed::Equals => ("`=`", "write `let NAME = EXPRESSION;`"),
        Needed::Semicolon => ("`;`", "it ends what a name is given"),
        Needed::Operands => {
            ("the name of a part", "products have .A, .B, .C and .D, movements .from and .to")
        }
        Needed::Part => (
            "an axis that the layout has",
            "such as `lane 3`, `warp 0`, `register 1`, `byte 64`, `m 12`; ask for the layout alone to see its axes",
        ),
        Needed::Number => ("a number", "write an integer"),
        Needed::Coordinate => ("a coordinate", "write numbers from 0, such as (3, 5)"),
    }
}

/// What the text of a notation should go on with; the word that stands there, if it is no axis.
fn notation<W: Write>(expected: Expected, word: &str, out: &mut Out<'_, W>) -> Result {
    if expected != Expected::KnownAxis {
        return expected.write_text(out.sink());
    }
    out.texts(&["unknown axis `", word, "`; axes are"])?;
    write_axes(out.sink())
}

/// What is wrong; who has the query says it with the word that is meant: [`Why::write_text`].
impl Display for Why {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.write_text("this", f)
    }
}

impl core::error::Error for Why {}

/// Where and what is wrong; who has the query says it with the word that is meant:
/// [`QueryError::write_text`].
impl Display for QueryError {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        lanebook_layout::sentence!(f, "line ~, column ~: ", self.line, self.column)?;
        self.why.fmt(f)
    }
}

impl core::error::Error for QueryError {}

#[cfg(test)]
mod tests {
    use super::{KindOfValue, Needed, Why};
    use crate::functions::QueryFunction;
    use crate::show::WriteError;
    use lanebook_infer::notation::NotationFault;
    use lanebook_layout::notation::Expected;
    use lanebook_layout::triton::EncodingError;
    use lanebook_layout::{Error, every_variant_speaks};
    use lanebook_tile::unit::UnitError;

    #[test]
    fn each_error_says_what_is_wrong() {
        let function = QueryFunction::Compose;
        let (wanted, found) = (KindOfValue::Layout, KindOfValue::Number);
        let count = every_variant_speaks!(Why:
            Notation(Expected::Colon), Needed(Needed::Operand), UnknownName, UnknownFunction,
            UnknownInstruction, UnknownArch, UnknownType, NeedsArch, NeedsShape, Family, NoOperand,
            NoRegisters,
            WrongInstruction, BadWord, Again, Kind { wanted, found }, Arguments { function, found: 3 },
            Coordinate { rank: 2 }, Nested { function }, TooDeep, TooManyNames, NoBankModel,
            RunsApart, OtherElements { first: 1, second: 2 }, TooLarge { most: 3 }, NoNotation,
            NeedsBits, Layout(Error::Overflow), Encoding(EncodingError::Padded), Fragment(NotationFault::NoThread),
            Unit(UnitError::Absent));
        assert!(count > 25);
        every_variant_speaks!(WriteError: Sink, Refused(Why::NoNotation));
    }
}

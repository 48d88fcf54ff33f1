//! Errors in words: what is wrong, and what to do about it.

use crate::error::{KindOfValue, Needed, QueryError, Why};
use crate::text;
use crate::write::Out;
use core::fmt::{Result, Write};
use lanebook_layout::notation::Expected;
use lanebook_layout::triton::EncodingError;
use lanebook_layout::{AxisId, AxisNames, Error, WellKnown};
use lanebook_tile::unit::UnitError;
use lanebook_tile::unit::map::{MapRule, Refusal};

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
            Self::Layout(error) => algebra(error, out),
            Self::Encoding(error) => encoding(error, out),
            Self::Unit(error) => unit(error, out),
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
            Self::NeedsShape => (
                "an encoding says where elements are once it has a shape",
                "add one, such as `@ 64x128`",
            ),
            Self::Family => (
                "several instructions have this name, and they differ",
                "ask for the name alone to list them and write one of them, or name the architecture with `on`",
            ),
            Self::NoOperand => (
                "the instruction has no such part with a layout",
                "products have .A, .B, .C and .D, movements .from and .to",
            ),
            Self::WrongInstruction => (
                "the instruction does not do what is asked about",
                "ask for its name alone to see what it does",
            ),
            Self::BadWord => ("this word is none of the choices", "see what the function takes"),
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
            _ => ("this has no answer", "ask in another way"),
        }
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

fn notation<W: Write>(expected: Expected, word: &str, out: &mut Out<'_, W>) -> Result {
    const BOTH: &str = "write CuTe, `(8,4):(4,1)`, or TIRx, `S[(8,4):(4@laneid,1@laneid)]`";
    let (what, remedy) = match expected {
        Expected::OpenParen => ("`(`", "shape and stride are trees of the same form"),
        Expected::CloseParen => ("`)`", "close the tuple"),
        Expected::OpenBracket => ("`[`", BOTH),
        Expected::CloseBracket => ("`]`", "close the bracket"),
        Expected::OpenAngle => ("`<`", "a descriptor begins with it, as in <(128,64),(64,1)>"),
        Expected::CloseAngle => ("`>`", "write a swizzle as S<bits,base,shift>"),
        Expected::OpenBrace | Expected::CloseBrace => {
            ("a brace", "an encoding's keys stand between `<{` and `}>`")
        }
        Expected::Comma => ("`,`", "as many strides as extents are needed"),
        Expected::CommaOrClose => ("`,` or `)`", "go on with the tuple or close it"),
        Expected::Colon => ("`:`", "strides follow the shape after a colon, as in (8,4):(4,1)"),
        Expected::Compose => ("`o`", "write a swizzled layout as S<3,4,3> o (8,8):(8,1)"),
        Expected::End => ("the end", "remove what stands here"),
        Expected::Number => ("a number", BOTH),
        Expected::Integer => ("a known integer", "write a number"),
        Expected::SmallerNumber => ("a smaller number", "strides have 64 bits, extents 32"),
        Expected::PositiveExtent => {
            ("an extent of 1 or more", "an empty mode is no layout; leave it out")
        }
        Expected::NumberOrOpen => ("a number or `(`", BOTH),
        Expected::Axis => ("an axis", "name one after `@`, such as laneid, warpid, bit"),
        Expected::KnownAxis => {
            out.texts(&["unknown axis `", word, "`; axes are"])?;
            let names = (0..AxisId::FIRST_FREE).map_while(|n| WellKnown.name(AxisId(n)));
            for (k, name) in names.enumerate() {
                out.texts(&[if k > 0 { ", " } else { " " }, name])?;
            }
            return Ok(());
        }
        Expected::KnownSymbol => {
            ("a number or a known symbol", "there is room for 16 symbols of 23 characters")
        }
        Expected::BasisNumber => ("a mode number from 0 to 15", "a path has at most three"),
        Expected::Shard => ("an `S[...]`", "offsets alone are no layout"),
        Expected::OneShard => ("no second `S[...]`", "put all iters into one"),
        Expected::OneReplica => ("no second `R[...]`", "put all replicas into one"),
        Expected::ValidSwizzle => (
            "a swizzle whose fields do not overlap",
            "S<B,M,S> needs |S| >= B and M + B + |S| <= 63",
        ),
        Expected::Congruent => {
            ("strides of the same tree as the shape", "give each extent its stride")
        }
        Expected::Attribute => (
            "an encoding that is known",
            "such as #ttg.blocked, #ttg.nvidia_mma, #ttg.swizzled_shared",
        ),
        Expected::Key | Expected::KeyOnce | Expected::Parameter(_) => {
            ("the encoding's own keys, each once", "write them as Triton prints them")
        }
        Expected::KnownElement => ("an element type that is known", "such as f16, bf16, f32"),
        Expected::Fits(error) => return algebra(error, out),
        Expected::Encoding(error) => return encoding(error, out),
        _ => ("the notation to go on in another way", BOTH),
    };
    out.texts(&["expected ", what, "; ", remedy])
}

/// A sentence with numbers where `#` stands.
fn filled<W: Write>(sentence: &str, numbers: &[i64], out: &mut Out<'_, W>) -> Result {
    let (mut numbers, mut rest) = (numbers.iter(), sentence);
    while let Some((before, after)) = text::split_first(rest, b'#') {
        out.text(before)?;
        out.number(numbers.next().copied().unwrap_or(0))?;
        rest = after;
    }
    out.text(rest)
}

fn wide(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn algebra<W: Write>(error: Error, out: &mut Out<'_, W>) -> Result {
    match error {
        Error::Capacity { max, .. } => filled(
            "the layout needs more than # of what it is made of; join modes or take a part of it",
            &[i64::from(max)],
            out,
        ),
        Error::OutOfRange { coord, extent, .. } => {
            filled("coordinate # is outside; give one below #", &[wide(coord), wide(extent)], out)
        }
        Error::Rank { expected, found } => filled(
            "# are needed, and there are #; give each mode one",
            &[expected.into(), found.into()],
            out,
        ),
        Error::BadSwizzle { b, m, s } => filled(
            "S<#,#,#> has fields that overlap; it needs |S| >= B and M + B + |S| <= 63",
            &[b.into(), m.into(), s.into()],
            out,
        ),
        Error::StrideDivisibility { stride, extent, .. } => filled(
            "stride # neither divides nor is divided by the extent # that it meets; choose a tile that fits",
            &[stride, extent],
            out,
        ),
        Error::ExtentDivisibility { extent, run, .. } => filled(
            "extent # is no multiple of the run # that it takes; choose a tile that fits",
            &[extent, run],
            out,
        ),
        Error::Carry { reach, extent, .. } => filled(
            "the second layout reaches #, beyond extent # of a mode of the first; choose one that stays inside",
            &[reach, extent],
            out,
        ),
        Error::NotInjective { iter, stride, unit } => filled(
            "elements meet: iter # has stride #, and # or more are needed; only a layout without that has an inverse",
            &[iter.into(), stride, unit],
            out,
        ),
        Error::Interleaved { iter, stride, unit } => filled(
            "steps fall between steps: iter # has stride #, and # or more are needed",
            &[iter.into(), stride, unit],
            out,
        ),
        Error::NotSurjective { stride, expected, .. } => filled(
            "positions are left out: stride # where # leaves no gap; ask for right_inverse or left_inverse",
            &[stride, expected],
            out,
        ),
        Error::BadShape { dim, found, needed } => filled(
            "dimension # is #, and # is needed",
            &[dim.into(), found.into(), needed.into()],
            out,
        ),
        Error::BadElement { bits } => {
            filled("there is no such layout for elements of # bits", &[bits.into()], out)
        }
        Error::NoMode { mode, rank } => {
            filled("there is no mode # among #", &[mode.into(), rank.into()], out)
        }
        Error::ShapeDivisibility { extent, divisor, .. } => filled(
            "# and # do not divide each other; choose a shape that divides",
            &[extent, divisor],
            out,
        ),
        Error::CannotGroup { dim, extent, .. } => filled(
            "the layout cannot be cut at the borders of dimension #, extent #",
            &[dim.into(), extent.into()],
            out,
        ),
        Error::Recast { value, num, den, .. } => filled(
            "# falls between two elements of #/# the width; choose another width",
            &[value, num.into(), den.into()],
            out,
        ),
        Error::NotLinear { extent, stride, .. } => filled(
            "extent # with stride # has no form by bits: extents have to be powers of two that do not carry",
            &[extent.into(), stride],
            out,
        ),
        other => out.text(algebra_plain(other)),
    }
}

fn algebra_plain(error: Error) -> &'static str {
    match error {
        Error::Overflow => "a number is too large or negative; choose a smaller one",
        Error::NeedsValue { .. } => {
            "the value of a run-time symbol decides; write a number in its place"
        }
        Error::Undecided { .. } => {
            "no answer was found in a fixed number of steps; ask about a smaller layout"
        }
        Error::BadProfile { .. } | Error::NotCongruent { .. } => {
            "the trees have another structure; write both alike"
        }
        Error::BadExtent { .. } => "an extent is below 1; leave the mode out",
        Error::BadPadding { .. } => "a padding's interval is 0; give one of 1 or more",
        Error::NegativeOffset { .. } => "a position is negative; add an offset",
        Error::HasPostMap => "a swizzle or padding stands in the way; ask without it",
        Error::HasReplica => "there are copies; ask without them",
        Error::HasOffset { .. } => "there is an offset; ask without it",
        Error::WrongAxis { .. } => {
            "all positions have to be on one axis; ask about a part of the layout"
        }
        Error::NegativeStride { .. } => "a stride is negative; turn the mode round",
        Error::NotDivisible { .. } => {
            "the second is no part of the first; choose an atom that tiles it"
        }
        Error::NotStrided { .. } => "the layout has no form by strides: a column has several bits",
        Error::NoDim { .. } => "there is no such axis; ask for the layout alone to see its axes",
        Error::DimBits { .. } => "the numbers of bits differ; both have to be of the same elements",
        Error::NoSolution { .. } | Error::NotInvertible { .. } => {
            "there is no inverse; positions are left out or meet"
        }
        Error::NotIntegral { .. } => "a fraction stands where an integer is needed",
        Error::BadCoord { .. } => "a coordinate is negative or no number; write numbers from 0",
        Error::NestedAxes { .. } => {
            "an axis is the beginning of another, so that positions are no coordinate"
        }
        Error::CannotPack { .. } => "the elements are no neighbours in memory",
        Error::CannotSlice { .. } => "no layout walks over this region; choose another",
        Error::BadPermutation { .. } => "the numbers are no order; write each of 0, 1, ... once",
        Error::NoVariant { .. } => "there is no such variant; see what the function takes",
        _ => "the layout algebra refuses it",
    }
}

fn encoding<W: Write>(error: EncodingError, out: &mut Out<'_, W>) -> Result {
    match error {
        EncodingError::Layout(error) => algebra(error, out),
        EncodingError::NotPowerOfTwo { value, .. } => filled(
            "# is no power of two; encodings and their shapes have no other numbers",
            &[value.into()],
            out,
        ),
        EncodingError::Rank { expected, found, .. } => filled(
            "a list has # numbers, and # are needed; give one for each dimension",
            &[found.into(), expected.into()],
            out,
        ),
        EncodingError::BadValue { value, .. } => {
            filled("# is outside of the choices", &[value.into()], out)
        }
        EncodingError::NoInstruction { m, n, k, .. } => filled(
            "the architecture has no matrix instruction of #x#x#; name another architecture with `on`",
            &[m.into(), n.into(), k.into()],
            out,
        ),
        EncodingError::SpanTooShort { needed, found } => filled(
            "a row has # elements, and the swizzle needs #",
            &[found.into(), needed.into()],
            out,
        ),
        EncodingError::TooFewRows { needed, found } => {
            filled("there are # rows, and # are needed", &[found.into(), needed.into()], out)
        }
        EncodingError::OddInstruction { n } => filled(
            "the instruction's N = # is no power of two, so that it has no form by bits",
            &[n.into()],
            out,
        ),
        EncodingError::OperandInMemory { .. } => {
            out.text("the matrix unit takes this operand from shared memory, never from registers")
        }
        EncodingError::Placeholder => out.text("a placeholder says nothing yet; write an encoding"),
        EncodingError::WrongKind => out.text(
            "the encoding is of another kind; registers, shared and tensor memory have their own",
        ),
        EncodingError::NotCovered { dim, .. } => filled(
            "the encoding does not reach all of dimension #; give it more bases or a smaller shape",
            &[dim.into()],
            out,
        ),
        _ => out.text("the encoding has no layout of this shape; choose another shape"),
    }
}

pub(crate) fn unit<W: Write>(error: UnitError, out: &mut Out<'_, W>) -> Result {
    match error {
        UnitError::Layout(error) => algebra(error, out),
        UnitError::Absent => {
            out.text("the architecture has nothing of this name; name another with `on`")
        }
        UnitError::Extent { dim, found, needed } => filled(
            "extent # of coordinate # does not fit; it has to be # or a multiple of it",
            &[wide(found), dim.into(), wide(needed)],
            out,
        ),
        UnitError::Stride { iter, found, needed } => filled(
            "step # of the layout is #, and the unit's tile has # there",
            &[iter.into(), found, needed],
            out,
        ),
        UnitError::NoMode { b: 0, .. } => {
            out.text("no swizzle mode of the architecture is like this: padding, or none at all")
        }
        UnitError::NoMode { b, m, s } => filled(
            "no swizzle mode of the architecture is S<#,#,#> on these positions; see `swizzle(MODE, TYPE)`",
            &[b.into(), m.into(), s.into()],
            out,
        ),
        UnitError::Width { bits } => {
            filled("the unit does not take elements of # bits in this order", &[bits.into()], out)
        }
        UnitError::Unaligned { address, needed } => filled(
            "# is not aligned; it has to be a multiple of #",
            &[wide(address), needed.into()],
            out,
        ),
        UnitError::Columns { found, low, high } => filled(
            "# columns do not fit; from # to # and a power of two do",
            &[found.into(), low.into(), high.into()],
            out,
        ),
        UnitError::Range { value, low, high, .. } => filled(
            "# does not fit its field, which holds # to #",
            &[wide(value), low.into(), high.into()],
            out,
        ),
        UnitError::Step { value, scale, .. } => {
            filled("# is no multiple of the field's unit #", &[wide(value), scale.into()], out)
        }
        UnitError::Map(refusal) => map(refusal, out),
        _ => out.text("the architecture's tables refuse it"),
    }
}

fn map<W: Write>(refusal: Refusal, out: &mut Out<'_, W>) -> Result {
    let Refusal { rule, dim, found, needed } = refusal;
    let sentence = match rule {
        MapRule::Rank => "a tiled copy has at most # dimensions, and there are #",
        MapRule::BoxExtent => "a box has at most # elements in a dimension, and there are #",
        MapRule::BoxSpan => "the bytes of a box's row have to be at most #, and are #",
        MapRule::Contiguous => "the innermost dimension has to lie side by side",
        MapRule::Dense => {
            "the box has to fill its memory without gaps, each step what the box holds so far"
        }
        _ => "the tiled copy refuses the box: # is needed, # found",
    };
    let _ = dim;
    filled(sentence, &[wide(needed), wide(found)], out)
}

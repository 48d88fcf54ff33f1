//! Layouts as people write them: which notation it is, and what is wrong with it in words.
use lanebook_draw::layout::Order;
use lanebook_layout::notation::{Expected, ParseError, cute, tirx};
use lanebook_layout::{AxisId, AxisNames, Layout, NoSyms, WellKnown};
use lanebook_suggest::nearest;
use std::ops::Range;

/// What is wrong with a layout's text.
#[derive(Clone, Debug)]
pub struct Malformed {
    /// What is wrong.
    pub what: String,
    /// Line and column, from 1.
    pub place: (u32, u32),
    /// The bytes meant.
    pub range: Range<usize>,
    /// What about them.
    pub label: String,
    /// What to do about it.
    pub remedy: String,
}

/// Reads a layout in either notation: a bracket after S or R makes it TIRx.
pub fn parse(text: &str) -> Result<(Layout, Order), Malformed> {
    let packed: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let (parsed, order, notation) = if packed.contains('[') {
        (tirx::parse(text, &WellKnown, &mut NoSyms), Order::RowMajor, "TIRx")
    } else {
        (cute::parse(text, &WellKnown, &mut NoSyms), Order::ColumnMajor, "CuTe")
    };
    parsed.map(|layout| (layout, order)).map_err(|error| malformed(text, error, notation))
}

/// The byte at a line and column, both from 1.
fn offset(text: &str, line: u32, column: u32) -> usize {
    let start: usize =
        text.split_inclusive('\n').take(line.saturating_sub(1) as usize).map(str::len).sum();
    let rest = &text[start.min(text.len())..];
    start
        + rest
            .char_indices()
            .nth(column.saturating_sub(1) as usize)
            .map_or(rest.len(), |(at, _)| at)
}

fn malformed(text: &str, error: ParseError, notation: &str) -> Malformed {
    let at = offset(text, error.line, error.col);
    let word: String =
        text[at..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let (label, remedy) = expected(error.expected, &word);
    let what = format!("this is no layout in {notation} notation");
    Malformed { what, place: (error.line, error.col), range: at..at + word.len(), label, remedy }
}

fn expected(what: Expected, word: &str) -> (String, String) {
    let both = "write CuTe, `(8,4):(4,1)`, or TIRx, `S[(8,4):(4@laneid,1@laneid)]`";
    let simple = |text: &str, remedy: &str| (format!("expected {text}"), remedy.to_string());
    match what {
        Expected::OpenParen => simple("`(`", "shape and stride are trees of the same form"),
        Expected::CloseParen => simple("`)`", "close the tuple"),
        Expected::OpenBracket => simple("`[`", both),
        Expected::CloseBracket => simple("`]`", "close the bracket"),
        Expected::CloseAngle => simple("`>`", "write a swizzle as S<bits,base,shift>"),
        Expected::Comma => simple("`,`", "as many strides as extents are needed"),
        Expected::CommaOrClose => simple("`,` or `)`", "go on with the tuple or close it"),
        Expected::Colon => {
            simple("`:`", "strides follow the shape after a colon, as in `(8,4):(4,1)`")
        }
        Expected::Compose => {
            simple("`o`", "write a swizzled layout as `S<3,4,3> o 0 o (8,8):(8,1)`")
        }
        Expected::End => simple("the end", "remove what stands here"),
        Expected::Number => simple("a number", both),
        Expected::Integer => simple("a known integer", "write a number"),
        Expected::SmallerNumber => simple("a smaller number", "strides have 64 bits, extents 32"),
        Expected::PositiveExtent => {
            simple("an extent of 1 or more", "an empty mode is no layout; leave it out")
        }
        Expected::NumberOrOpen => simple("a number or `(`", both),
        Expected::Axis => simple("an axis", "name one after `@`, such as laneid, warpid, bit"),
        Expected::KnownAxis => {
            let names: Vec<&str> =
                (0..AxisId::FIRST_FREE).map_while(|n| WellKnown.name(AxisId(n))).collect();
            let near = nearest(word, names.iter().copied())
                .map_or_else(String::new, |near| format!("did you mean `{near}`? "));
            (format!("unknown axis `{word}`"), format!("{near}known: {}", names.join(", ")))
        }
        Expected::KnownSymbol => simple("a number", "symbols have no value here; write numbers"),
        Expected::BasisNumber => simple("a mode number from 0 to 15", "a path has at most three"),
        Expected::Shard => simple("an `S[...]`", "offsets alone are no layout"),
        Expected::OneShard => simple("no second `S[...]`", "put all iters into one"),
        Expected::OneReplica => simple("no second `R[...]`", "put all replicas into one"),
        Expected::ValidSwizzle => simple(
            "a swizzle whose fields do not overlap",
            "S<B,M,S> needs |S| >= B and M + B + |S| <= 63",
        ),
        Expected::Fits(error) => (
            format!("not within the limits: {error:?}"),
            "a layout has at most 32 iters and 16 modes".into(),
        ),
        other => (format!("{other:?}"), both.into()),
    }
}

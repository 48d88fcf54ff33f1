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

/// What is expected there, and what to write.
fn expected(what: Expected, word: &str) -> (String, String) {
    let mut text = String::new();
    // A string takes everything.
    let _ = what.write_text(&mut text);
    match what {
        Expected::KnownAxis => {
            let names: Vec<&str> =
                (0..AxisId::FIRST_FREE).map_while(|n| WellKnown.name(AxisId(n))).collect();
            let near = nearest(word, names.iter().copied())
                .map_or_else(String::new, |near| format!("did you mean `{near}`? "));
            (format!("unknown axis `{word}`"), format!("{near}known: {}", names.join(", ")))
        }
        Expected::KnownSymbol => {
            ("expected a number".into(), "symbols have no value here; write numbers".into())
        }
        _ => match text.split_once("; ") {
            Some((what, remedy)) => (what.into(), remedy.into()),
            None => (text, "a layout has at most 32 iters and 16 modes".into()),
        },
    }
}

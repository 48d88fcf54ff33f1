//! Layouts as the tables write them: parsed with the library's own notation, evaluated
//! independently of it.
//!
//! The text is TIRx's, `S[(...):(...)] + R[...] + offset`. Table layouts are flat, have no symbols
//! and no post-map.
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::source::Span;
use crate::spanned::Spanned;
use lanebook_layout::notation::{Expected, ParseError, tirx};
use lanebook_layout::{AxisId, AxisNames, LayoutRef, NoSyms, PostMap, SymTable, WellKnown};
use lanebook_suggest::remedy;

/// A parsed layout with its place.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The layout.
    pub value: Box<lanebook_layout::Layout>,
    /// Its text and place.
    pub text: Spanned<String>,
    /// Shard iters with their numbers, fastest first.
    shard: Vec<Step>,
    /// Replica iters.
    replica: Vec<Step>,
    /// Constant a physical axis starts from.
    offset: Vec<(AxisId, i64)>,
}

#[derive(Copy, Clone, Debug)]
struct Step {
    extent: u64,
    stride: i64,
    axis: AxisId,
}

/// Parses a layout; what is wrong with it is reported at its text.
pub fn parse(text: &Spanned<String>, diags: &mut Diagnostics) -> Option<Layout> {
    let value = match tirx::parse(text, &WellKnown, &mut NoSyms) {
        Ok(value) => Box::new(value),
        Err(error) => {
            diags.push(explain(text, error));
            return None;
        }
    };
    let view = value.view();
    let numbers = |iters: &[lanebook_layout::Iter]| -> Option<Vec<Step>> {
        let step = |it: &lanebook_layout::Iter| {
            Some(Step {
                extent: it.extent_value().ok()?.into(),
                stride: it.stride_value().ok()?,
                axis: it.axis(),
            })
        };
        iters.iter().map(step).collect()
    };
    let offset: Option<Vec<_>> = view
        .offset
        .iter()
        .map(|o| o.value().syms().is_none().then_some((o.axis(), o.value().coeff())))
        .collect();
    let (shard, replica) = (numbers(view.shard), numbers(view.replica));
    let (Some(shard), Some(replica), Some(offset)) = (shard, replica, offset) else {
        diags.push(
            Diagnostic::at(text.span, "a layout in a table has no symbols").help("write numbers"),
        );
        return None;
    };
    if !view.profile.is_flat() || view.post != PostMap::None {
        diags.push(
            Diagnostic::at(text.span, "a layout in a table is flat, without swizzle and padding")
                .help("write `S[(...):(...)]`"),
        );
        return None;
    }
    Some(Layout { text: text.clone(), shard, replica, offset, value })
}

/// Parses a layout whose numbers may be symbols, with their names.
pub fn symbolic(
    text: &Spanned<String>,
    diags: &mut Diagnostics,
) -> Option<(Box<lanebook_layout::Layout>, SymTable)> {
    let mut syms = SymTable::new();
    match tirx::parse(text, &WellKnown, &mut syms) {
        Ok(value) if value.view().post == PostMap::None => Some((Box::new(value), syms)),
        Ok(_) => {
            diags.push(
                Diagnostic::at(
                    text.span,
                    "a layout in a table is flat, without swizzle and padding",
                )
                .help("write `S[(...):(...)]`"),
            );
            None
        }
        Err(error) => {
            diags.push(explain(text, error));
            None
        }
    }
}

/// The parser's error as ours, at its place in the file.
fn explain(text: &Spanned<String>, error: ParseError) -> Diagnostic {
    let line: usize = text.split_inclusive('\n').take(error.line as usize - 1).map(str::len).sum();
    let at = text[line..]
        .char_indices()
        .nth(error.col as usize - 1)
        .map_or(text.len(), |(at, _)| line + at);
    // Inside a plain string literal without escapes, the text begins after the quote.
    let is_plain = text.span.end - text.span.start == text.len() as u32 + 2;
    let start = text.span.start as usize + 1 + at;
    let span = if is_plain { Span::new(text.span.file, start, start) } else { text.span };
    if error.expected == Expected::KnownAxis {
        let word: String =
            text[at..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let axes = (0..AxisId::FIRST_FREE).map_while(|n| WellKnown.name(AxisId(n)));
        return Diagnostic::at(
            Span { end: span.start + word.len() as u32, ..span },
            format!("unknown axis `{word}`"),
        )
        .help(remedy(&word, axes, "hw-tables/axes.ron lists the axes"));
    }
    let wanted = match error.expected {
        Expected::OpenParen => "expected `(`".into(),
        Expected::CloseParen => "expected `)`".into(),
        Expected::OpenBracket => "expected `[`".into(),
        Expected::CloseBracket => "expected `]`".into(),
        Expected::Comma => "expected `,`".into(),
        Expected::CommaOrClose => "expected `,` or `)`".into(),
        Expected::Colon => "expected `:`".into(),
        Expected::End => "expected `+` or the end".into(),
        Expected::Number | Expected::Integer | Expected::KnownSymbol => "expected a number".into(),
        Expected::SmallerNumber => "the number is too large".into(),
        Expected::PositiveExtent => "an extent is at least 1".into(),
        Expected::Axis => "expected the name of an axis".into(),
        Expected::Shard => "expected `S[...]`".into(),
        Expected::OneShard => "a second `S[...]`".into(),
        Expected::OneReplica => "a second `R[...]`".into(),
        Expected::Fits(error) => format!("the layout exceeds a limit of the library: {error:?}"),
        other => format!("expected {other:?}"),
    };
    Diagnostic::at(span, wanted).help("layouts are written `S[(4,8):(1@laneid,16@bit)] + R[2:4@laneid] + 16@bit`, as many strides as extents")
}

impl Layout {
    /// The layout as plain slices.
    #[must_use]
    pub fn view(&self) -> LayoutRef<'_> {
        self.value.view()
    }
    /// Number of logical coordinates.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.shard.iter().map(|s| s.extent).product()
    }
    /// Number of copies.
    #[must_use]
    pub fn copies(&self) -> u64 {
        self.replica.iter().map(|s| s.extent).product()
    }
    /// The axes that it mentions, each once, in order of first mention.
    #[must_use]
    pub fn axes(&self) -> Vec<AxisId> {
        let mut out = Vec::new();
        let offsets = self.offset.iter().map(|(axis, _)| *axis);
        for axis in self.shard.iter().chain(&self.replica).map(|s| s.axis).chain(offsets) {
            if !out.contains(&axis) {
                out.push(axis);
            }
        }
        out
    }
    /// Position on `axis` of the logical coordinate `index` (row-major) in copy `copy`.
    #[must_use]
    pub fn at(&self, index: u64, copy: u64, axis: AxisId) -> i64 {
        let digits = |mut rest: u64, steps: &[Step]| -> i64 {
            let mut sum = 0;
            for step in steps {
                if step.axis == axis {
                    sum += (rest % step.extent) as i64 * step.stride;
                }
                rest /= step.extent;
            }
            sum
        };
        let offset: i64 = self.offset.iter().filter(|(a, _)| *a == axis).map(|(_, v)| *v).sum();
        digits(index, &self.shard) + digits(copy, &self.replica) + offset
    }
    /// Positions on `axis` of all logical coordinates in order, copy after copy.
    #[must_use]
    pub fn positions(&self, axis: AxisId) -> Vec<i64> {
        let offset: i64 = self.offset.iter().filter(|(a, _)| *a == axis).map(|(_, v)| *v).sum();
        let mut out = vec![offset];
        for step in self.shard.iter().chain(&self.replica) {
            let count = out.len();
            for digit in 1..step.extent {
                out.extend_from_within(..count);
                let shift = if step.axis == axis { digit as i64 * step.stride } else { 0 };
                if shift != 0 {
                    let from = out.len() - count;
                    out[from..].iter_mut().for_each(|position| *position += shift);
                }
            }
        }
        out
    }
    /// The greatest position on `axis`.
    #[must_use]
    pub fn most(&self, axis: AxisId) -> i64 {
        let offset: i64 = self.offset.iter().filter(|(a, _)| *a == axis).map(|(_, v)| *v).sum();
        let steps = self.shard.iter().chain(&self.replica).filter(|step| step.axis == axis);
        let reach = steps.map(|step| (step.extent.max(1) as i64 - 1) * step.stride.max(0));
        offset + reach.sum::<i64>()
    }
    /// Greatest common divisor of all strides and offsets on `axis` with `unit`: no position falls
    /// between multiples.
    #[must_use]
    pub fn grain(&self, axis: AxisId, unit: u64) -> u64 {
        let strides = self
            .shard
            .iter()
            .chain(&self.replica)
            .filter(|s| s.axis == axis)
            .map(|s| s.stride.unsigned_abs());
        let offsets = self.offset.iter().filter(|(a, _)| *a == axis).map(|(_, v)| v.unsigned_abs());
        strides.chain(offsets).fold(unit, gcd)
    }
    /// Whether the iters group exactly into these extents (row-major: the first is the slowest).
    #[must_use]
    pub fn splits_into(&self, extents: &[u16]) -> bool {
        let mut iters = self.shard.iter();
        for extent in extents.iter().rev() {
            let mut product = 1;
            while product < u64::from(*extent) {
                match iters.next() {
                    Some(step) => product *= step.extent,
                    None => return false,
                }
            }
            if product != u64::from(*extent) {
                return false;
            }
        }
        iters.all(|step| step.extent == 1)
    }
}

/// The coordinate of a row-major index, as `(1, 0, 3)`.
#[must_use]
pub fn coordinate(mut index: u64, extents: &[u16]) -> String {
    let mut digits: Vec<String> = Vec::new();
    for extent in extents.iter().rev().map(|e| u64::from(*e).max(1)) {
        digits.push((index % extent).to_string());
        index /= extent;
    }
    digits.reverse();
    format!("({})", digits.join(","))
}

/// The name of an axis.
#[must_use]
pub fn axis_name(axis: AxisId) -> String {
    WellKnown.name(axis).map_or_else(|| format!("axis {}", axis.0), str::to_string)
}

/// Greatest common divisor.
#[must_use]
pub fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

//! Maps as text.

use crate::{BaseDigit, BaseId, DigitTerm, FormArena, FormBase, FormOp, FragmentForm, IndexForm};
use core::fmt::{self, Write};
use lanebook_layout::words::{SentencePart, write_sentence};

/// Most parts of a map that wait to be written.
const MAX_PARTS: usize = 128;

/// A part of a map's text.
#[derive(Copy, Clone)]
enum MapPart {
    Text(&'static str),
    Number(i64),
    Sum(IndexForm),
    Term(DigitTerm),
    Base(BaseId),
}

/// Writes a layout in the notation that [`super::read`] reads.
///
/// # Errors
/// Those of `out`; of a map that nests too deeply.
pub fn write(arena: &FormArena<'_>, layout: &FragmentForm, out: &mut dyn Write) -> fmt::Result {
    let name = |base: BaseId, out: &mut dyn Write| {
        if base == layout.copy {
            return out.write_str("rep");
        }
        match layout.vars.iter().position(|v| v == base) {
            Some(number) => {
                out.write_str("v")?;
                integer(i64::try_from(number).unwrap_or(0), out)
            }
            // A turn of a loop around it.
            None => out.write_str("turn"),
        }
    };
    out.write_str("{thread = ")?;
    write_map(arena, layout.thread, &name, out)?;
    out.write_str(", index = ")?;
    write_map(arena, layout.index, &name, out)?;
    if layout.copies > 1 {
        out.write_str(", replicate = ")?;
        integer(i64::from(layout.copies), out)?;
    }
    out.write_str("}")
}

/// Writes a map; `name` writes its variables.
///
/// # Errors
/// Those of `out`; of a map that nests too deeply.
fn write_map(
    arena: &FormArena<'_>,
    map: IndexForm,
    name: &dyn Fn(BaseId, &mut dyn Write) -> fmt::Result,
    out: &mut dyn Write,
) -> fmt::Result {
    let mut parts: heapless::Vec<MapPart, MAX_PARTS> = heapless::Vec::new();
    later(&mut parts, &[MapPart::Sum(map)])?;
    while let Some(part) = parts.pop() {
        match part {
            MapPart::Text(text) => out.write_str(text)?,
            MapPart::Number(number) => integer(number, out)?,
            MapPart::Sum(form) => sum(arena, form, &mut parts)?,
            MapPart::Term(term) => self::term(arena, term, &mut parts)?,
            MapPart::Base(base) => match arena.base(base).map_err(|_| fmt::Error)? {
                FormBase::Var { .. } => name(base, out)?,
                FormBase::Sum { form, .. } => {
                    later(
                        &mut parts,
                        &[MapPart::Text("("), MapPart::Sum(form), MapPart::Text(")")],
                    )?;
                }
                FormBase::Parity { form } => {
                    later(
                        &mut parts,
                        &[MapPart::Text("("), MapPart::Sum(form), MapPart::Text(") % 2")],
                    )?;
                }
                FormBase::Op { op, a, b, min, .. } => operation(op, a, b, min, &mut parts)?,
            },
        }
    }
    Ok(())
}

/// Parts that come next, the first first.
fn later(parts: &mut heapless::Vec<MapPart, MAX_PARTS>, new: &[MapPart]) -> fmt::Result {
    new.iter().rev().try_for_each(|part| parts.push(*part).map_err(|_| fmt::Error))
}

fn sum(
    arena: &FormArena<'_>,
    form: IndexForm,
    parts: &mut heapless::Vec<MapPart, MAX_PARTS>,
) -> fmt::Result {
    let terms = arena.terms_of(form);
    if terms.is_empty() {
        return later(parts, &[MapPart::Number(form.constant)]);
    }
    if form.constant != 0 {
        let sign = if form.constant < 0 { " - " } else { " + " };
        later(parts, &[MapPart::Text(sign), MapPart::Number(form.constant.saturating_abs())])?;
    }
    for (number, term) in terms.iter().enumerate().rev() {
        let positive = DigitTerm { stride: term.stride.saturating_abs(), ..*term };
        // A sign in front binds before a quotient and a rest do.
        if number == 0 && term.stride < 0 && is_part(arena, term.digit)? {
            later(parts, &[MapPart::Text("-("), MapPart::Term(positive), MapPart::Text(")")])?;
            continue;
        }
        let sign = match (number, term.stride < 0) {
            (0, false) => "",
            (0, true) => "-",
            (_, false) => " + ",
            (_, true) => " - ",
        };
        later(parts, &[MapPart::Text(sign), MapPart::Term(positive)])?;
    }
    Ok(())
}

/// Whether a digit is less than all of a variable.
fn is_part(arena: &FormArena<'_>, digit: BaseDigit) -> Result<bool, fmt::Error> {
    let whole = arena.extent(digit.base).map_err(|_| fmt::Error)?;
    let reach = u64::from(digit.unit).saturating_mul(u64::from(digit.extent));
    let base = arena.base(digit.base).map_err(|_| fmt::Error)?;
    let is_rest = digit.unit != 1 || reach < u64::from(whole);
    Ok(is_rest || matches!(base, FormBase::Parity { .. }))
}

fn term(
    arena: &FormArena<'_>,
    term: DigitTerm,
    parts: &mut heapless::Vec<MapPart, MAX_PARTS>,
) -> fmt::Result {
    let digit = term.digit;
    if term.stride != 1 {
        later(parts, &[MapPart::Text(" * "), MapPart::Number(term.stride)])?;
    }
    let whole = arena.extent(digit.base).map_err(|_| fmt::Error)?;
    let reach = u64::from(digit.unit).saturating_mul(u64::from(digit.extent));
    if reach < u64::from(whole) {
        later(parts, &[MapPart::Text(" % "), MapPart::Number(i64::from(digit.extent))])?;
    }
    if digit.unit != 1 {
        later(parts, &[MapPart::Text(" // "), MapPart::Number(i64::from(digit.unit))])?;
    }
    later(parts, &[MapPart::Base(digit.base)])
}

/// `op(a, b) - min`.
fn operation(
    op: FormOp,
    a: IndexForm,
    b: IndexForm,
    min: i64,
    parts: &mut heapless::Vec<MapPart, MAX_PARTS>,
) -> fmt::Result {
    let (begin, between, end) = match op {
        FormOp::Mul => ("((", ") * (", "))"),
        FormOp::Div => ("((", ") // (", "))"),
        FormOp::Rem => ("((", ") % (", "))"),
        FormOp::And => ("((", ") & (", "))"),
        FormOp::Or => ("((", ") | (", "))"),
        FormOp::Xor => ("((", ") ^ (", "))"),
        FormOp::Min => ("min(", ", ", ")"),
        FormOp::Max => ("max(", ", ", ")"),
        FormOp::Less => ("lt(", ", ", ")"),
        FormOp::Equal => ("eq(", ", ", ")"),
    };
    let whole = [
        MapPart::Text(begin),
        MapPart::Sum(a),
        MapPart::Text(between),
        MapPart::Sum(b),
        MapPart::Text(end),
    ];
    if min == 0 {
        return later(parts, &whole);
    }
    let sign = if min < 0 { " + " } else { " - " };
    later(
        parts,
        &[MapPart::Text(sign), MapPart::Number(min.saturating_abs()), MapPart::Text(")")],
    )?;
    later(parts, &whole)?;
    later(parts, &[MapPart::Text("(")])
}

/// Writes a number.
///
/// # Errors
/// Those of the sink.
pub fn integer(value: i64, mut out: &mut dyn Write) -> fmt::Result {
    write_sentence("~", &[SentencePart::Signed(value)], &mut out)
}

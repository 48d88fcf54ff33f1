//! Spelling numbers and axes with `write_str` alone.

use super::PrintError;
use super::cursor::ROUNDED_UP;
use super::sums::is_sum;
use crate::axis::{AxisId, AxisNames};
use crate::num::{Int, Quotient, SymNames};
use crate::words::write_number;
use core::fmt::Write;

/// A decimal integer.
pub(super) fn integer(out: &mut impl Write, value: i64) -> Result<(), PrintError> {
    if value < 0 {
        out.write_str("-")?;
    }
    Ok(write_number(value.unsigned_abs(), out)?)
}

/// A number: `4`, `M`, `-M`, `4*M*N`, `1/2`, `3*M/2`, `4*K*ceil_div(M,128)`, `4*M+1`, `2*(4*M+1)`.
pub(super) fn number(
    out: &mut impl Write,
    value: Int,
    syms: &impl SymNames,
) -> Result<(), PrintError> {
    let mut product = value.syms().iter();
    if value.coeff() == 1
        && value.is_whole()
        && let (Some(sym), None) = (product.next(), product.next())
        && value.syms().quotient().is_none()
    {
        return Ok(out.write_str(syms.name(sym).ok_or(PrintError::UnnamedSymbol(sym))?)?);
    }
    factors(out, value, syms)
}

/// A number as a product: what is a sum stands in parentheses, and never first.
fn factors(out: &mut impl Write, value: Int, syms: &impl SymNames) -> Result<(), PrintError> {
    let sum = |sym| syms.name(sym).is_some_and(is_sum);
    let mut product = value.syms().iter().peekable();
    let mut joined = false;
    match (value.coeff(), product.peek()) {
        (1 | -1, Some(first)) if value.is_whole() && !sum(*first) => {
            if value.coeff() < 0 {
                out.write_str("-")?;
            }
        }
        (coeff, _) => {
            integer(out, coeff)?;
            joined = true;
        }
    }
    for sym in value.syms().plain() {
        if joined {
            out.write_str("*")?;
        }
        if sum(sym) {
            out.write_str("(")?;
        }
        out.write_str(syms.name(sym).ok_or(PrintError::UnnamedSymbol(sym))?)?;
        if sum(sym) {
            out.write_str(")")?;
        }
        joined = true;
    }
    if let Some(Quotient { times, of, by, under }) = value.syms().quotient() {
        if joined {
            out.write_str("*")?;
        }
        out.write_str(ROUNDED_UP)?;
        for (open, times, of) in [("(", times, of), (",", by, under)] {
            let mut between = open;
            if times > 1 || of.is_none() {
                out.write_str(between)?;
                integer(out, i64::from(times))?;
                between = "*";
            }
            for sym in of.plain() {
                out.write_str(between)?;
                out.write_str(syms.name(sym).ok_or(PrintError::UnnamedSymbol(sym))?)?;
                between = "*";
            }
        }
        out.write_str(")")?;
    }
    if !value.is_whole() {
        out.write_str("/")?;
        integer(out, i64::from(value.den().get()))?;
    }
    Ok(())
}

/// A stride or offset with its axis; axis `m` is left out where the number is whole.
pub(super) fn strided(
    out: &mut impl Write,
    value: Int,
    axis: AxisId,
    axes: &impl AxisNames,
    syms: &impl SymNames,
) -> Result<(), PrintError> {
    // A fraction scales a basis: without its axis it would be none.
    if axis == AxisId::M && value.is_whole() {
        // A symbol may be called as an axis is: alone it would be read as that.
        let mut product = value.syms().iter();
        let is_plain = value.coeff() == 1 && value.syms().quotient().is_none();
        let alone = product.next().filter(|_| is_plain && product.next().is_none());
        let name = alone.and_then(|sym| syms.name(sym));
        if name.is_some_and(|name| axes.axis(name).is_some()) {
            out.write_str("1*")?;
        }
        return factors(out, value, syms);
    }
    factors(out, value, syms)?;
    if axis.is_basis() {
        for mode in axis.basis_path() {
            out.write_str("@")?;
            integer(out, i64::from(mode))?;
        }
        return Ok(());
    }
    out.write_str("@")?;
    Ok(out.write_str(axes.name(axis).ok_or(PrintError::UnnamedAxis(axis))?)?)
}

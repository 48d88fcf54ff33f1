//! Whole numbers of 64 bits among a kernel's arguments: each is passed as two of 32 bits, and put
//! together where the kernel begins.

use crate::attr::Literal;
use crate::attr_names;
use crate::edit::edit_ops::Edit;
use crate::edit::insert::{WORD, made_by, made_named};
use crate::error::{ErrorKind, IrError, SourcePlace};
use crate::handle::{Op, Use, Value};
use crate::program::Program;
use crate::types::{Type, TypeKind};
use lanebook_tables::{DtypeKind, OpRole};

/// Lets each whole number of 64 bits that a kernel takes be a lower half, which stands in its
/// place, and an upper one behind it.
///
/// # Errors
/// Room that ran out, at the kernel's place.
#[inline(never)] // Its caller's own steps are deep.
pub(crate) fn part_long_arguments(
    program: &mut Program<'_, '_>,
    kernel: Op,
) -> Result<(), IrError> {
    if program.has_loops(kernel) {
        return Ok(());
    }
    let at = SourcePlace { op: None, ..program.place(kernel) };
    let failed = |kind: ErrorKind| IrError { kind, at };
    let mut number = 0usize;
    loop {
        let parameter = program.parameters(kernel).nth(number);
        let Some(parameter) = parameter else { return Ok(()) };
        number = number.saturating_add(1);
        if is_long(program, parameter) {
            part(program, kernel, parameter).map_err(failed)?;
            number = number.saturating_add(1);
        }
    }
}

/// Whether a value is one whole number of 64 bits.
fn is_long(program: &Program<'_, '_>, value: Value) -> bool {
    let ty = program.type_of(value);
    let dtype = ty.dtype.filter(|_| ty.kind == TypeKind::Scalar);
    dtype.and_then(|dtype| program.tables().dtype(dtype)).is_some_and(|dtype| {
        matches!(dtype.kind, DtypeKind::Signed | DtypeKind::Unsigned)
            && dtype.bits == WORD.saturating_mul(2)
    })
}

/// One number: `upper << 32 | lower`.
fn part(program: &mut Program<'_, '_>, kernel: Op, parameter: Value) -> Edit {
    let tables = program.tables();
    let whole = program.type_of(parameter);
    let word = tables.dtype_of(DtypeKind::Signed, WORD).ok_or(ErrorKind::UnknownOp)?;
    let body = program.body(kernel).ok_or(ErrorKind::Broken)?;
    // It may be any number: what it is a multiple of says nothing of where elements lie.
    program.remove_value_attr(parameter, attr_names::DIVISIBILITY)?;
    program.set_type(parameter, Type::scalar(word))?;
    let upper = program.insert_argument(body, parameter, Type::scalar(word))?;
    let Some(first) = program.first(body) else { return Ok(()) };
    if !program.is_used(parameter) {
        return Ok(());
    }
    let lower = made_named(program, first, "arith.extui", &[parameter], whole)?;
    let own = program.def_op(lower);
    let upper = made_named(program, first, "arith.extsi", &[upper], whole)?;
    let bits = program.literal_value(Literal::Int(i64::from(WORD)))?;
    let bits = made_by(program, first, OpRole::Constant, &[bits], whole)?;
    let upper = made_named(program, first, "arith.shli", &[upper, bits], whole)?;
    let all = made_named(program, first, "arith.ori", &[upper, lower], whole)?;
    let is_other = |program: &Program<'_, '_>, place: Use| program.user(place) != own;
    loop {
        let place = program.uses(parameter).find(|place| is_other(program, *place));
        let Some(place) = place else { return Ok(()) };
        program.set_use(place, all)?;
    }
}

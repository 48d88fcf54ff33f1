//! Formats of a product's factors, which Triton says beside their types: what says the same is left
//! out. Bytes as block scales, which are powers of two by their exponents.

use crate::attr::AttrValue;
use crate::attr_names;
use crate::edit::edit_ops::Edit;
use crate::edit::inline::is_no;
use crate::edit::insert::made_named;
use crate::error::ErrorKind;
use crate::handle::Op;
use crate::program::Program;
use crate::types::Type;
use lanebook_tables::{DtypeId, DtypeKind};

/// Operands of a product that are block scales.
const SCALES: [usize; 2] = [3, 4];

/// Lets a product's types alone say of what format its factors are. A format of elements that stand
/// in others stays, and nothing obeys it.
pub(super) fn settle(program: &mut Program<'_, '_>, op: Op) -> Edit {
    for (factor, key) in [attr_names::LHS, attr_names::RHS].into_iter().enumerate() {
        let Some(AttrValue::Word(word)) = program.attr(op, key) else { continue };
        let said = program.tables().dtype_named(program.text(word));
        let own = program.operand(op, factor).and_then(|value| program.type_of(value).dtype);
        if said.is_some() && said == own {
            program.remove_attr(op, key)?;
        }
    }
    if let Some(AttrValue::Int(number, _)) = program.attr(op, attr_names::INPUT_PRECISION) {
        // Its words in their order, as one that says no more than a number does.
        let words = [attr_names::TF32, attr_names::TF32X3, attr_names::IEEE];
        let word = usize::try_from(number).ok().and_then(|number| words.get(number));
        let word = AttrValue::Word(program.word(word.ok_or(ErrorKind::AttrValue)?)?);
        program.set_attr(op, attr_names::INPUT_PRECISION, word)?;
    }
    for number in SCALES {
        take_as_scales(program, op, number)?;
    }
    // What it would allow is not done.
    match program.attr(op, attr_names::FAST_MATH) {
        Some(value) if is_no(program, value) => program.remove_attr(op, attr_names::FAST_MATH),
        _ => Ok(()),
    }
}

/// Lets block scales that are whole numbers be floats with as many bits that have an exponent alone.
fn take_as_scales(program: &mut Program<'_, '_>, op: Op, number: usize) -> Edit {
    let Some(scales) = program.operand(op, number) else { return Ok(()) };
    let (ty, tables) = (program.type_of(scales), program.tables());
    let Some(own) = ty.dtype.and_then(|dtype| tables.dtype(dtype)) else { return Ok(()) };
    let is_whole = matches!(own.kind, DtypeKind::Signed | DtypeKind::Unsigned);
    let is_power = |dtype: &lanebook_tables::Dtype<'_>| {
        dtype.bits == own.bits && dtype.format.is_some_and(|of| !of.signed && of.fraction == 0)
    };
    let power = tables.dtypes.iter().position(is_power).filter(|_| is_whole && ty.is_tile());
    let Some(power) = power.and_then(|at| u16::try_from(at).ok()) else { return Ok(()) };
    let taken = made_named(
        program,
        op,
        "arith.bitcast",
        &[scales],
        Type { dtype: Some(DtypeId(power)), ..ty },
    )?;
    program.set_operand(op, number, taken)
}

//! Products of floats by units that do not read all of their bits, where the program says so: the
//! factors' bits as elements of another type; or each factor as the sum of two such elements, and
//! three products.

use crate::data::PlanError;
use crate::select::before::{Before, WORD};
use crate::select::widening::{copy_sums, operands};
use lanebook_ir::{AttrValue, Literal, Op, Program, Type, Value, attr_names};
use lanebook_tables::{Arch, Capability, DtypeId, DtypeKind, OpRole};

/// Behind the name of a type: three products.
const THREE: &str = "x3";
/// Operations of these names.
const SAME_BITS: &str = "arith.bitcast";
const AND: &str = "arith.andi";
const SUB: &str = "sub";

/// What a product's factors are read as.
#[derive(Copy, Clone)]
pub(crate) struct ReadAs {
    dtype: DtypeId,
    /// Low bits that are not read.
    unread: u8,
    /// Whether what is not read is multiplied, too.
    three: bool,
}

/// What the factors of a product become; `None` where it says nothing, or they are that already, or
/// where what it says is leave to read less that nothing takes.
///
/// # Errors
/// [`PlanError::Precision`].
pub(crate) fn read_as(
    arch: Option<&Arch<'_>>,
    program: &Program<'_, '_>,
    op: Op,
) -> Result<Option<ReadAs>, PlanError> {
    if program.role(op) != OpRole::Matrix {
        return Ok(None);
    }
    let said = |key| match program.attr(op, key) {
        Some(AttrValue::Word(word) | AttrValue::Str(word) | AttrValue::Text(word)) => {
            Some(program.text(word))
        }
        _ => None,
    };
    let (demanded, allowed) = (said(attr_names::PRECISION), said(attr_names::INPUT_PRECISION));
    match (demanded, allowed) {
        (Some(_), Some(_)) => Err(PlanError::Precision(op)),
        (Some(attr_names::EXACT), None) | (None, Some(attr_names::IEEE) | None) => Ok(None),
        (Some(said), None) => named(program, op, said),
        // Other factors are multiplied as they are, and so are these where nothing reads less.
        (None, Some(said)) => {
            Ok(named(program, op, said).ok().flatten().filter(|to| is_read(arch, program, op, *to)))
        }
    }
}

/// Whether something multiplies factors that are read so.
fn is_read(arch: Option<&Arch<'_>>, program: &Program<'_, '_>, op: Op, to: ReadAs) -> bool {
    let of = |value: Option<Value>| program.type_of(value?).dtype;
    let (c, d) = (of(program.operand(op, 2)), of(program.result(op, 0)));
    let (a, b) = (to.dtype, to.dtype);
    arch.zip(c.zip(d))
        .is_some_and(|(arch, (c, d))| !arch.dispatch(Capability::Product { a, b, c, d }).is_empty())
}

/// What factors become that are to be read as a word says.
fn named(program: &Program<'_, '_>, op: Op, said: &str) -> Result<Option<ReadAs>, PlanError> {
    let refuse = PlanError::Precision(op);
    let (name, three) = match said.strip_suffix(THREE) {
        Some(name) => (name, true),
        None => (said, false),
    };
    let tables = program.tables();
    let dtype = tables.dtype_named(name).ok_or(refuse)?;
    let of = |k: usize| program.operand(op, k).and_then(|value| program.type_of(value).dtype);
    let (a, b) = (of(0).ok_or(refuse)?, of(1).ok_or(refuse)?);
    if a == dtype && b == dtype {
        return Ok(None);
    }
    let to = tables.dtype(dtype).ok_or(refuse)?;
    let from = tables.dtype(a).ok_or(refuse)?;
    let fits = from.kind == DtypeKind::Float && from.bits == to.bits && from.unread == 0;
    if a != b || !fits || to.unread == 0 {
        return Err(refuse);
    }
    Ok(Some(ReadAs { dtype, unread: to.unread, three }))
}

/// A factor as elements that are read with fewer bits: what is read of it, and, where that is wanted,
/// the rest.
fn split(before: &mut Before<'_, '_, '_>, of: Value, to: ReadAs) -> Option<(Value, Option<Value>)> {
    let own = before.program.type_of(of);
    let (plain, read) = (Type::tensor(own.shape, own.dtype?), Type::tensor(own.shape, to.dtype));
    if !to.three {
        return Some((before.named(SAME_BITS, &[of], read)?, None));
    }
    let whole = before.program.tables().dtype_of(DtypeKind::Signed, WORD)?;
    let words = Type::tensor(own.shape, whole);
    let bits = before.named(SAME_BITS, &[of], words)?;
    let mask = 1i64.checked_shl(u32::from(to.unread))?.checked_neg()?;
    let mask = before.program.literal_value(Literal::Int(mask)).ok()?;
    let mask = before.of(OpRole::Constant, &[mask], words)?;
    // Without the bits that are not read, so that a unit that rounds reads the same.
    let kept = before.named(AND, &[bits, mask], words)?;
    let high = before.named(SAME_BITS, &[kept], read)?;
    let kept = before.named(SAME_BITS, &[kept], plain)?;
    let rest = before.named(SUB, &[of, kept], plain)?;
    Some((high, Some(before.named(SAME_BITS, &[rest], read)?)))
}

/// Puts the factors as such elements before a product, and the products of what is not read, the
/// least first. `None` where the program has no room for all of them.
pub(crate) fn put(program: &mut Program<'_, '_>, op: Op, to: ReadAs) -> Option<()> {
    let [a, b, mut sum] = operands(program, op)?;
    let decl = program.decl_id(op)?;
    let ty = program.type_of(program.result(op, 0)?);
    let ty = Type::tensor(ty.shape, ty.dtype?);
    let mut before = Before { program, op };
    let (high_a, low_a) = split(&mut before, a, to)?;
    let (high_b, low_b) = split(&mut before, b, to)?;
    if let (Some(low_a), Some(low_b)) = (low_a, low_b) {
        for [a, b] in [[low_a, high_b], [high_a, low_b]] {
            let made = program.insert_before(op, decl, &[a, b, sum], &[ty]).ok()?;
            copy_sums(program, op, made)?;
            sum = program.result(made, 0)?;
        }
    }
    for (number, value) in [high_a, high_b, sum].into_iter().enumerate() {
        program.set_operand(op, number, value).ok()?;
    }
    Some(())
}

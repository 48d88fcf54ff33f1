//! Products with block scales that no instruction of the architecture multiplies: each factor's elements
//! are multiplied by the scales of their blocks, in elements that hold both, and a plain product has
//! what comes of it.
//!
//! Factors of elements of a byte have so few digits that their products with powers of two are exact
//! wherever the exponent holds them.

use crate::select::before::Before;
use lanebook_ir::{Op, Program, Type, Value};
use lanebook_tables::{Arch, Capability, DtypeId, DtypeKind, OpId, OpRole, Tables};

/// The elements that a product's scaled factors become; `None` of other products, and of those that
/// something multiplies with their scales.
pub(crate) fn wanted(
    tables: &Tables<'_>,
    arch: &Arch<'_>,
    program: &Program<'_, '_>,
    op: Op,
) -> Option<DtypeId> {
    let scales = program.scales(op)?;
    let run = program.scaled_run(op)?;
    let of = |value: Option<Value>| program.type_of(value?).dtype;
    let is_able = |id: &lanebook_tables::AtomId| {
        let Some(atom) = tables.atom(*id) else { return false };
        let Some((numbers, shape)) =
            atom.scaled().or_else(|| atom.scaled_in_tensor()).zip(atom.matrix)
        else {
            return false;
        };
        let takes = |number: u8, value| of(Some(value)).is_some_and(|own| atom.takes(number, own));
        let factors = [shape.a, shape.b, shape.c];
        numbers.into_iter().zip(scales).all(|(number, value)| takes(number, value))
            && factors.into_iter().zip(program.operands(op)).all(|(n, value)| takes(n, value))
            && atom.scaled_run().map(u32::from) == Some(run)
            && (atom.scaled().is_some() || is_in_memory(program, op))
    };
    if arch.dispatch(Capability::ScaledProduct).iter().any(is_able) {
        return None;
    }
    let (c, d) = (of(program.operand(op, 2))?, of(program.result(op, 0))?);
    let [a, b] = [of(program.operand(op, 0))?, of(program.operand(op, 1))?];
    let format = |id: DtypeId| tables.dtype(id).and_then(|dtype| dtype.format);
    // Powers of two alone: whatever the fraction, a product with one is exact.
    let is_power = |value| {
        of(Some(value))
            .and_then(format)
            .is_some_and(|format| format.fraction == 0 && !format.signed)
    };
    if !scales.into_iter().all(is_power) || [a, b].map(format).contains(&None) {
        return None;
    }
    let range = scales.into_iter().filter_map(|value| of(Some(value)).and_then(format));
    let range = range.map(|format| format.exponent).max()?;
    let fraction = [a, b].into_iter().filter_map(format).map(|format| format.fraction).max()?;
    let holds = |id: &DtypeId| {
        format(*id)
            .is_some_and(|own| own.signed && own.exponent >= range && own.fraction >= fraction)
    };
    let multiplied = |id: &DtypeId| {
        let product = Capability::Product { a: *id, b: *id, c, d };
        !arch.dispatch(product).is_empty()
    };
    let all = (0..tables.dtypes.len()).filter_map(|id| u16::try_from(id).ok()).map(DtypeId);
    let bits = |id: &DtypeId| tables.dtype(*id).map_or(u16::MAX, |dtype| dtype.bits);
    all.filter(holds).filter(multiplied).min_by_key(bits)
}

/// Whether a product's factors and scales are loaded from tiles in shared memory, from which units
/// take them by themselves.
fn is_in_memory(program: &Program<'_, '_>, op: Op) -> bool {
    program.operands(op).enumerate().all(|(number, value)| {
        let mut at = value;
        while let Some(def) = program.def_op(at)
            && program.role(def) == OpRole::Transpose
            && let Some(from) = program.operand(def, 0)
        {
            at = from;
        }
        let def = program.def_op(at);
        let from = def.filter(|def| program.role(*def) == OpRole::Load);
        let from = from.and_then(|def| program.operand(def, 0));
        let is_shared = from.is_some_and(|from| {
            program.type_of(from).space == Some(lanebook_tables::Space::Shared)
        });
        number == 2 || is_shared
    })
}

/// A product with scales, before another was put in its place.
#[derive(Copy, Clone, Debug)]
pub(crate) struct ScaledProduct {
    operands: [Value; 5],
    decl: OpId,
}

/// Lets a product with scales be a plain one: what it was.
pub(crate) fn put(program: &mut Program<'_, '_>, op: Op, dtype: DtypeId) -> Option<ScaledProduct> {
    let tables = program.tables();
    let single = tables.dtype_of(DtypeKind::Float, 32)?;
    let [of_a, of_b] = program.scales(op)?;
    let [a, b, c] = [0, 1, 2].map(|number| program.operand(op, number));
    let was = ScaledProduct { operands: [a?, b?, c?, of_a, of_b], decl: program.decl_id(op)? };
    let plain = tables.op_of_role(OpRole::Matrix)?;
    let mut before = Before { program, op };
    let factors = [
        scaled(&mut before, (a?, of_a), (single, dtype), false)?,
        scaled(&mut before, (b?, of_b), (single, dtype), true)?,
    ];
    for (number, factor) in factors.into_iter().enumerate() {
        program.set_operand(op, number, factor).ok()?;
    }
    while let Some(last) = program.operand_count(op).checked_sub(1).filter(|last| *last > 2) {
        program.remove_operand(op, last).ok()?;
    }
    program.set_decl(op, plain).ok()?;
    Some(was)
}

/// Lets it be what it was.
pub(crate) fn undo(program: &mut Program<'_, '_>, op: Op, was: &ScaledProduct) -> Option<()> {
    program.set_decl(op, was.decl).ok()?;
    for (number, operand) in was.operands.into_iter().enumerate() {
        match number < program.operand_count(op) {
            true => program.set_operand(op, number, operand).ok()?,
            false => program.add_operand(op, operand).map(|_| ()).ok()?,
        }
    }
    Some(())
}

/// A factor multiplied by the scales of its rows, or of its columns where it `is_turned`.
fn scaled(
    before: &mut Before<'_, '_, '_>,
    (factor, scales): (Value, Value),
    (single, dtype): (DtypeId, DtypeId),
    is_turned: bool,
) -> Option<Value> {
    let (of, ty) = (before.program.type_of(factor), before.program.type_of(scales));
    let (rows, blocks) = ty.shape.pair()?;
    let (first, second) = of.shape.pair()?;
    let depth = if is_turned { first } else { second };
    let run = depth.checked_div(blocks)?;
    let shaped = |extents: &[u32]| Before::shaped(extents, single);
    let all = rows.checked_mul(blocks)?;
    let own = before.named("cast", &[scales], shaped(&[rows, blocks])?)?;
    let column = before.of(OpRole::Reshape, &[own], shaped(&[all, 1])?)?;
    let runs = before.of(OpRole::Broadcast, &[column], shaped(&[all, run])?)?;
    let mut whole = before.of(OpRole::Reshape, &[runs], shaped(&[rows, depth])?)?;
    if is_turned {
        whole = before.of(OpRole::Transpose, &[whole], shaped(&[depth, rows])?)?;
    }
    let wide = Type::tensor(of.shape, single);
    let elements = before.named("cast", &[factor], wide)?;
    let product = before.named("mul", &[elements, whole], wide)?;
    before.named("cast", &[product], Type::tensor(of.shape, dtype))
}

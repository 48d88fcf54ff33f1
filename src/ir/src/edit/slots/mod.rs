//! Several buffers of shared memory of which a number says which one is meant, as loops of stages
//! have them once Triton has taken them apart: `ttg.memdesc_index %s[%i]`, carried by loops, in
//! parts. What loads or stores one becomes a branch for each buffer, in which it is known.
//!
//! Tokens, which say what comes before what, go away: the text's order says it.

mod carried;
mod chosen;
mod lives;
mod parts;
mod tokens;

pub(crate) use tokens::drop_tokens;

use crate::edit::edit_ops::Edit;
use crate::edit::insert::made_by;
use crate::error::{ErrorKind, IrError, SourcePlace};
use crate::handle::{Op, Value};
use crate::program::Program;
use crate::types::{MAX_RANK, Shape, Type, TypeKind};
use lanebook_tables::{OpRole, Space};

/// Lets every buffer of several be one that is known.
///
/// # Errors
/// [`ErrorKind::BufferForm`] at what is not followed; room that ran out.
#[inline(never)]
pub(crate) fn settle_slots(program: &mut Program<'_, '_>, kernel: Op) -> Result<(), IrError> {
    let mut next = program.inside(kernel).next();
    while let Some(op) = next {
        next = program.following(op, Some(kernel));
        let at = SourcePlace { op: None, ..program.place(op) };
        lives::end(program, op).map_err(|kind| IrError { kind, at })?;
    }
    let mut next = program.inside(kernel).next();
    while let Some(op) = next {
        next = program.following(op, Some(kernel));
        let at = SourcePlace { op: None, ..program.place(op) };
        carried::count(program, op).map_err(|kind| IrError { kind, at })?;
    }
    // Each one that is followed goes away.
    loop {
        let is_part = |op: &Op| parts::is_part(program, *op);
        let Some(op) = program.inside(kernel).find(is_part) else { break };
        let at = SourcePlace { op: None, ..program.place(op) };
        parts::load_whole(program, op).map_err(|kind| IrError { kind, at })?;
    }
    loop {
        let is_open = |op: &Op| slot(program, *op).is_some_and(|own| own.is_open(program));
        let Some(op) = program.inside(kernel).find(is_open) else { return Ok(()) };
        let at = SourcePlace { op: None, ..program.place(op) };
        chosen::branch(program, op).map_err(|kind| IrError { kind, at })?;
    }
}

/// The type of a tile, or of several, in shared memory.
fn shared(program: &Program<'_, '_>, value: Value) -> Option<Type> {
    let ty = program.type_of(value);
    let is_place = matches!(ty.kind, TypeKind::Tensor | TypeKind::Memref);
    (is_place && ty.space == Some(Space::Shared)).then_some(ty)
}

/// One buffer of several: all of them, and which one it is.
#[derive(Copy, Clone)]
struct BufferSlot {
    all: Value,
    number: Value,
    /// How many there are.
    count: u32,
}

impl BufferSlot {
    /// Whether it is known while the kernel runs, and not before.
    fn is_open(&self, program: &Program<'_, '_>) -> bool {
        program.int(self.number).is_none()
    }
}

/// What is left of a shape without its first dimension.
pub(crate) fn one_of(shape: &Shape) -> Option<Shape> {
    let mut extents = [0u32; MAX_RANK];
    let rank = shape.rank().checked_sub(1).filter(|rank| *rank > 0)?;
    let out = extents.get_mut(..rank)?;
    for (dim, extent) in (1usize..).zip(out.iter_mut()) {
        *extent = shape.extent(dim)?;
    }
    Shape::of(out)
}

/// The operation of a value's first use.
fn first_user(program: &Program<'_, '_>, value: Value) -> Option<Op> {
    program.uses(value).find_map(|place| program.user(place))
}

/// The buffer that an operation looks at, if that is all it does.
fn slot(program: &Program<'_, '_>, view: Op) -> Option<BufferSlot> {
    if program.role(view) != OpRole::View || program.operand_count(view) != 1 {
        return None;
    }
    let all = program.operand(view, 0)?;
    let (whole, one) = (shared(program, all)?, shared(program, program.result(view, 0)?)?);
    let mut at = program.subscripts(view, 0);
    let (Some(number), None) = (at.next(), at.next()) else { return None };
    let home = program.def_op(all).filter(|home| program.role(*home) == OpRole::Alloc);
    let is_one = one_of(&whole.shape) == Some(one.shape) && one.dtype == whole.dtype;
    let is_plain = home.is_some() && is_one && program.attrs(view).next().is_none();
    is_plain.then_some(BufferSlot { all, number, count: whole.shape.extent(0)? })
}

/// A look at one of several buffers, before an operation.
fn look(
    program: &mut Program<'_, '_>,
    before: Op,
    (all, number): (Value, Value),
    ty: Type,
) -> Edit<Value> {
    let view = made_by(program, before, OpRole::View, &[all], ty)?;
    let op = program.def_op(view).ok_or(ErrorKind::Broken)?;
    program.add_subscript(op, number)?;
    Ok(view)
}

//! Loads and stores through tiles of pointers, as those through tiles of indices: a tile of pointers
//! is a pointer in all elements, moved by tiles of whole numbers; what it points to is a memref
//! without a bound, and how far each element is from its beginning is a tile of indices.

mod branched;
mod carried;
mod combined;
mod far;
pub(crate) mod long_arguments;
mod narrowed;
mod parted;

pub(crate) use carried::pointee;
pub(crate) use narrowed::in_a_word;

use crate::attr::{AttrValue, Literal};
use crate::attr_names;
use crate::edit::edit_ops::Edit;
use crate::edit::inline::not_kept;
use crate::edit::insert::{WORD, made, made_by, made_named, word};
use crate::edit::pointers::branched::{BranchedPointers, in_first_part};
use crate::edit::pointers::carried::{Carries, distances, is_pointer};
use crate::error::{ErrorKind, IrError, SourcePlace};
use crate::handle::{Op, Value};
use crate::program::{Def, Program};
use crate::types::{Shape, Type, TypeKind};
use heapless::Vec;
use lanebook_tables::{DtypeId, DtypeKind, IndexWord, OpRole, Space};

/// Most scalars by which a pointer is moved before it stands in a tile.
const MOVES: usize = 8;

/// Lets loads and stores of a function gather and scatter in place of following pointers.
///
/// # Errors
/// A tile of pointers that is made or read in another way, at its place; room that ran out.
#[inline(never)]
pub(crate) fn follow_pointers(program: &mut Program<'_, '_>, kernel: Op) -> Result<(), IrError> {
    heed_attributes(program, kernel)?;
    let mut next = program.inside(kernel).next();
    let mut carries = Carries::default();
    let mut branches = BranchedPointers::default();
    let mut found = false;
    while let Some(op) = next {
        next = program.following(op, Some(kernel));
        let failed = {
            let at = SourcePlace { op: None, ..program.place(op) };
            move |kind| IrError { kind, at }
        };
        let makes = program.results(op).any(|value| is_pointer(program, value));
        let reads = program.all_operands(op).any(|value| is_pointer(program, value));
        if !makes && !reads {
            continue;
        }
        found = true;
        let wrong = failed(ErrorKind::PointerForm);
        match program.role(op) {
            OpRole::Broadcast | OpRole::Index | OpRole::Convert if makes => {
                moved(program, op, &carries).map_err(failed)?.ok_or(wrong)?;
            }
            OpRole::Elementwise if makes && reads && is_cast(program, op) => {
                same_places(program, op).map_err(failed)?;
            }
            OpRole::Load | OpRole::Store if !makes => {
                through(program, kernel, (op, &carries)).map_err(failed)?.ok_or(wrong)?;
            }
            OpRole::Atomic if !makes => {
                combined::through(program, kernel, (op, &carries)).map_err(failed)?.ok_or(wrong)?;
            }
            OpRole::For => carries.enter(program, op).map_err(failed)?.ok_or(wrong)?,
            OpRole::If if makes => {
                branches.enter(program, (op, &carries)).map_err(failed)?.ok_or(wrong)?
            }
            OpRole::Yield if carries.ends(program, op) || branches.ends(program, op) => {}
            _ => return Err(wrong),
        }
    }
    if !found {
        return Ok(());
    }
    let at = SourcePlace { op: None, ..program.place(kernel) };
    let failed = |kind| IrError { kind, at };
    branches.leave(program).map_err(failed)?;
    carries.leave(program).map_err(failed)?;
    forget(program, kernel)?;
    branches.forget(program).map_err(failed)?;
    carries.forget(program).map_err(failed)?;
    // Also those through which nothing goes: parameters as the others.
    let mut number = 0usize;
    loop {
        let parameter = program.parameters(kernel).nth(number);
        let Some(parameter) = parameter else { return Ok(()) };
        number = number.saturating_add(1);
        if let Some((dtype, shape)) = reach(program, kernel, parameter) {
            let memref = Type::memref(shape, dtype, Space::Global);
            program.set_type(parameter, memref).map_err(failed)?;
            far::settle(program, kernel, parameter).map_err(failed)?;
        }
    }
}

/// Whether pointers are taken as such to elements of another type with as many bits.
fn is_cast(program: &Program<'_, '_>, op: Op) -> bool {
    let bits = |value: Option<Value>| {
        let dtype = value.and_then(|value| pointee(program, &program.type_of(value)))?;
        program.tables().dtype(dtype).map(|dtype| dtype.bits)
    };
    let (from, to) = (bits(program.operand(op, 0)), bits(program.result(op, 0)));
    program.has_same_bits(op) && from.is_some() && from == to
}

/// Lets pointers be as far from where they began as those that they are taken from.
fn same_places(program: &mut Program<'_, '_>, op: Op) -> Edit {
    let both = program.operand(op, 0).zip(program.result(op, 0));
    let Some((from, to)) = both else { return Ok(()) };
    let far = program.twin(from);
    if far == from { Ok(()) } else { program.set_twin(to, Some(far)) }
}

/// Whether these are whole numbers of 32 bits, with signs or without.
fn is_whole_word(program: &Program<'_, '_>, dtype: Option<DtypeId>) -> bool {
    let dtype = dtype.and_then(|dtype| program.tables().dtype(dtype));
    dtype.is_some_and(|dtype| {
        matches!(dtype.kind, DtypeKind::Signed | DtypeKind::Unsigned) && dtype.bits == WORD
    })
}

/// Whether elements are whole numbers of 64 bits with a sign.
fn is_long(program: &Program<'_, '_>, ty: &Type) -> bool {
    let dtype = ty.dtype.and_then(|dtype| program.tables().dtype(dtype));
    dtype.is_some_and(|dtype| {
        matches!(dtype.kind, DtypeKind::Signed) && dtype.bits == WORD.saturating_mul(2)
    })
}

/// A tile of whole numbers of a shape, of 32 bits: those of 64 lose the ones above, which say no
/// more, as elements lie within reach of 32; `None` where a value is no such tile.
fn distance(
    program: &mut Program<'_, '_>,
    op: Op,
    value: Value,
    shape: Shape,
) -> Edit<Option<Value>> {
    let ty = program.type_of(value);
    if !ty.is_tile() || ty.is_memory() || ty.shape != shape {
        return Ok(None);
    }
    let whole = word(program);
    if ty.dtype == whole {
        return Ok(Some(value));
    }
    let Some(whole) = whole.filter(|_| is_long(program, &ty)) else { return Ok(None) };
    // What is cut off would be missing in the address.
    if program.int(value).is_some_and(|number| i32::try_from(number).is_err()) {
        return Err(ErrorKind::FarPointer);
    }
    let ty = Type { dtype: Some(whole), ..ty };
    made_named(program, op, "arith.trunci", &[value], ty).map(Some)
}

/// How far the elements of a tile of pointers are from where their pointers began, kept beside it;
/// `None` where it is made in another way.
fn moved(program: &mut Program<'_, '_>, op: Op, carries: &Carries) -> Edit<Option<()>> {
    let (Some(result), Some(from)) = (program.result(op, 0), program.operand(op, 0)) else {
        return Ok(None);
    };
    let ty = program.type_of(result);
    if !is_pointer(program, from) {
        return Ok(None);
    }
    // A pointer alone is moved by an index: see `base`.
    if !ty.is_kept() {
        if let Some(by) = program.operand(op, 1)
            && is_long(program, &program.type_of(by))
        {
            narrowed::narrow(program, (op, 1), by)?;
        }
        let by = program.operand(op, 1).map(|by| program.type_of(by));
        let is_one = by.is_some_and(|by| {
            let is_number = by.kind == TypeKind::Scalar
                && (is_whole_word(program, by.dtype) || is_long(program, &by));
            by.kind == TypeKind::Index || by.is_elided() || is_number
        });
        return Ok((program.index_word(op).is_none() && is_one).then_some(()));
    }
    let Some(whole) = word(program) else { return Ok(None) };
    let so_far = program.twin(from);
    let has_moved = so_far != from;
    let far = if program.role(op) == OpRole::Broadcast {
        if !has_moved {
            return Ok(Some(()));
        }
        let decl = program.decl_id(op).ok_or(ErrorKind::UnknownOp)?;
        let far = made(program, op, decl, &[so_far], Type::tensor(ty.shape, whole))?;
        let new = program.def_op(far).ok_or(ErrorKind::Broken)?;
        // As it says itself, along which dimension.
        let axis = program.attr(op, attr_names::AXIS);
        let others = program.attrs(op).any(|attr| program.text(attr.key) != attr_names::AXIS);
        if others {
            return Ok(None);
        }
        if let Some(axis) = axis {
            program.set_attr(new, attr_names::AXIS, axis)?;
        }
        far
    } else if program.role(op) == OpRole::Convert {
        // Pointers in another layout: so is how far they are.
        if !has_moved || program.attrs(op).next().is_some() {
            return Ok((!has_moved).then_some(()));
        }
        let decl = program.decl_id(op).ok_or(ErrorKind::UnknownOp)?;
        let wanted = Type::tensor(ty.shape, whole).encoded(ty.encoding);
        made(program, op, decl, &[so_far], wanted)?
    } else {
        let Some(by) = program.operand(op, 1) else { return Ok(None) };
        if program.attrs(op).next().is_some() {
            return Ok(None);
        }
        let by = match part(program, op, by, carries)? {
            // All of them are moved by one number: the others of their distances stay.
            Some(None) => {
                if has_moved {
                    program.set_twin(result, Some(so_far))?;
                }
                return Ok(Some(()));
            }
            Some(Some(rest)) => rest,
            None => by,
        };
        let Some(by) = distance(program, op, by, ty.shape)? else { return Ok(None) };
        if has_moved {
            made_named(program, op, "add", &[so_far, by], Type::tensor(ty.shape, whole))?
        } else {
            by
        }
    };
    program.set_twin(result, Some(far))?;
    Ok(Some(()))
}

/// Lets a tile of pointers be moved by one number where a tile of numbers of 64 bits has a part that
/// is the same in all elements: what is left of them, if something is; `None` where nothing is
/// taken apart, as in a loop that carries a tile of distances.
fn part(
    program: &mut Program<'_, '_>,
    op: Op,
    by: Value,
    carries: &Carries,
) -> Edit<Option<Option<Value>>> {
    let ty = program.type_of(by);
    let from = program.operand(op, 0);
    let is_followed = from.is_some_and(|from| {
        let (mut at, mut is_followed) = (from, true);
        while let Some((init, index)) = carries.before(at).or_else(|| {
            let def = program.def_op(at)?;
            Some((program.operand(def, 0)?, Some(at)))
        }) {
            is_followed = is_followed && index.is_some();
            at = init;
        }
        is_followed
    });
    if !ty.is_tile() || !is_long(program, &ty) || !is_followed {
        return Ok(None);
    }
    let parted = parted::parted(program, op, by)?;
    if let Some(uniform) = parted.uniform {
        let near = narrowed::near(program, op, uniform)?;
        program.set_operand(op, 1, near.unwrap_or(uniform))?;
    }
    Ok(Some(parted.rest))
}

/// The parameter that a pointer or a tile of them goes back to, and the indices by which it was
/// moved.
fn base(
    program: &Program<'_, '_>,
    value: Value,
    carries: &Carries,
) -> Option<(Value, Vec<Value, MOVES>)> {
    let (mut at, mut by) = (value, Vec::new());
    loop {
        if let Some((init, index)) = carries.before(at) {
            index.map_or(Ok(()), |index| by.push(index)).ok()?;
            at = init;
            continue;
        }
        if let Some(first) = in_first_part(program, at) {
            at = first;
            continue;
        }
        match program.def(at) {
            Def::Argument(..) => return Some((at, by)),
            Def::Result(op, 0) => {
                // One number moves all pointers of a tile; a tile of them is kept beside it.
                let own = program.operand(op, 1);
                let is_one = |by: &Value| !program.type_of(*by).is_tile();
                if let Some(own) = own.filter(is_one) {
                    by.push(own).ok()?;
                }
                at = program.operand(op, 0)?;
            }
            _ => return None,
        }
    }
}

/// The elements of the memref that a parameter which is a pointer becomes: as many as indices reach.
fn reach(program: &Program<'_, '_>, kernel: Op, pointer: Value) -> Option<(DtypeId, Shape)> {
    let is_own = program.parameters(kernel).any(|parameter| parameter == pointer);
    let dtype = pointee(program, &program.type_of(pointer)).filter(|_| is_own)?;
    let bits = program.tables().dtype(dtype).map_or(0, |dtype| u32::from(dtype.bits));
    let count = i32::MAX.cast_unsigned().checked_div(bits / 8)?;
    Some((dtype, Shape::of(&[count])?))
}

/// A load or store through pointers as one through indices; `None` where it is none of those.
fn through(
    program: &mut Program<'_, '_>,
    kernel: Op,
    (op, carries): (Op, &Carries),
) -> Edit<Option<()>> {
    let is_load = program.role(op) == OpRole::Load;
    let operand = |program: &Program<'_, '_>, number| program.operand(op, number);
    let (Some(first), second) = (operand(program, 0), operand(program, 1)) else { return Ok(None) };
    // Pointers stand in front, as Triton has them, or behind what is stored.
    let (pointers, value, rest) = match second {
        _ if is_load => (first, program.result(op, 0), 1),
        Some(second) if is_pointer(program, first) => (first, Some(second), 2),
        Some(second) => (second, Some(first), 2),
        None => return Ok(None),
    };
    let mut others: Vec<Value, 2> = Vec::new();
    for other in program.operands(op).skip(rest) {
        if others.push(other).is_err() {
            return Ok(None);
        }
    }
    let ty = program.type_of(pointers);
    let Some(value) = value else { return Ok(None) };
    let Some((pointer, by)) = base(program, pointers, carries) else { return Ok(None) };
    let Some((dtype, _)) = reach(program, kernel, pointer) else { return Ok(None) };
    let moved = program.type_of(value);
    let truths = |value: &Value| program.is_truth(*value);
    let has_mask = others.first().is_none_or(truths) && !others.get(1).is_some_and(truths);
    let is_one = !ty.is_kept();
    let fits = if is_one {
        moved.kind == TypeKind::Scalar && others.is_empty()
    } else {
        moved.shape == ty.shape && has_mask
    };
    if moved.dtype != Some(dtype) || !fits {
        return Ok(None);
    }
    let far = if is_one { None } else { Some(distances(program, op, pointers)?) };
    let places = far::places(program, op, (&by, dtype, !is_one))?;
    while let Some(last) = program.operand_count(op).checked_sub(1) {
        program.remove_operand(op, last)?;
    }
    let name = match (is_load, is_one) {
        (true, true) => "tiled_load",
        (true, false) => "gather",
        (false, true) => "tiled_store",
        (false, false) => "scatter",
    };
    let decl = program.tables().op_named(name).ok_or(ErrorKind::UnknownOp)?;
    program.set_decl(op, decl)?;
    if !is_load {
        program.add_operand(op, value)?;
    }
    program.add_operand(op, pointer)?;
    for place in &places {
        program.add_subscript(op, *place)?;
    }
    for other in far.iter().chain(&others) {
        program.add_operand(op, *other)?;
    }
    Ok(Some(()))
}

/// The sum of the indices by which a pointer was moved, before an operation.
fn moves_before(program: &mut Program<'_, '_>, op: Op, by: &[Value]) -> Edit<Value> {
    let mut at = program.literal_value(Literal::Int(0))?;
    for (number, index) in by.iter().enumerate() {
        at = if number == 0 {
            *index
        } else {
            let sum = program.tables().op_of_index(IndexWord::Add).ok_or(ErrorKind::UnknownOp)?;
            made(program, op, sum, &[at, *index], Type::INDEX)?
        };
    }
    Ok(at)
}

/// Whether what makes pointers says what nobody obeys: it goes away, and the contract is held against
/// what stands in its place.
#[inline(never)] // It is over before pointers are followed.
fn heed_attributes(program: &Program<'_, '_>, kernel: Op) -> Result<(), IrError> {
    let makes = |op: &Op| {
        !matches!(program.role(*op), OpRole::For | OpRole::If)
            && program.results(*op).any(|value| is_pointer(program, value))
    };
    let idle = program.inside(kernel).filter(makes).find_map(|op| program.idle_attr(op));
    match idle {
        Some(key) => Err(not_kept(program, key)),
        None => Ok(()),
    }
}

/// Takes everything away that makes pointers, the last first.
fn forget(program: &mut Program<'_, '_>, kernel: Op) -> Result<(), IrError> {
    let mut left = true;
    while left {
        left = false;
        let mut next = program.inside(kernel).next();
        while let Some(op) = next {
            next = program.following(op, Some(kernel));
            let makes = program.results(op).any(|value| is_pointer(program, value));
            let is_used = program.results(op).any(|value| program.is_used(value));
            if !makes || is_used || matches!(program.role(op), OpRole::For | OpRole::If) {
                continue;
            }
            let at = SourcePlace { op: None, ..program.place(op) };
            let failed = |kind| IrError { kind, at };
            if let Some(result) = program.result(op, 0) {
                program.set_twin(result, None).map_err(failed)?;
            }
            program.erase(op).map_err(failed)?;
            left = true;
        }
    }
    Ok(())
}

/// What a masked load says in an attribute of the elements that it leaves out, as a tile.
pub(crate) fn fill_tiles(program: &mut Program<'_, '_>, kernel: Op) -> Result<(), IrError> {
    let mut next = program.inside(kernel).next();
    while let Some(op) = next {
        next = program.following(op, Some(kernel));
        let at = SourcePlace { op: None, ..program.place(op) };
        fill(program, op).map_err(|kind| IrError { kind, at })?;
    }
    Ok(())
}

fn fill(program: &mut Program<'_, '_>, op: Op) -> Edit {
    let is_open = program.role(op) == OpRole::Load
        && program.mask_number(op).is_some()
        && program.other(op).is_none();
    let (Some(said), Some(result)) = (program.attr(op, attr_names::OTHER), program.result(op, 0))
    else {
        return Ok(());
    };
    let ty = program.type_of(result);
    let fits = |written: Option<crate::handle::TypeRef>| {
        written.is_none_or(|written| program.type_at(written).dtype == ty.dtype)
    };
    // What is left is refused, as any attribute that nothing obeys.
    let literal = match said {
        AttrValue::Int(number, written) if fits(written) => Literal::Int(number),
        AttrValue::Number(number, written) if fits(written) => number,
        AttrValue::Word(word) => Literal::Word(word),
        _ => return Ok(()),
    };
    let Some(dtype) = ty.dtype.filter(|_| is_open) else { return Ok(()) };
    let literal = program.literal_value(literal)?;
    let tile = made_by(program, op, OpRole::Constant, &[literal], Type::tensor(ty.shape, dtype))?;
    program.add_operand(op, tile)?;
    program.remove_attr(op, attr_names::OTHER)
}

//! Masked accesses of a memref with bounds: the bounds become part of the mask.

use crate::attr::AttrValue;
use crate::attr_names;
use crate::bounds::MemrefBound;
use crate::edit::edit_ops::Edit;
use crate::edit::moves::places::ElementPlaces;
use crate::error::ErrorKind;
use crate::handle::Op;
use crate::program::Program;
use crate::types::Type;

/// Lets the mask of an access say what its memref's bounds say.
#[inline(never)]
pub(crate) fn mask_bounds(program: &mut Program<'_, '_>, op: Op) -> Edit {
    let (Some(mask), Some(number)) = (program.mask(op), program.mask_number(op)) else {
        return Ok(());
    };
    let of = program.accessed_number(op);
    let Some(bounds) = program.bounds_beside_mask(op, of) else { return Ok(()) };
    // Memrefs of pairs have no masks.
    if bounds.iter().any(|bound| matches!(bound, MemrefBound::Half(_))) {
        return Ok(());
    }
    let ty = program.type_of(mask);
    let truths = Type::tensor(ty.shape, ty.dtype.ok_or(ErrorKind::UnknownDtype)?);
    let places = ElementPlaces::new(program, (op, of), (truths.shape, bounds.len()))?;
    let mut all = mask;
    for (dim, bound) in bounds.iter().enumerate() {
        let end = match bound {
            MemrefBound::None => continue,
            MemrefBound::Number(number) => places.all(program, i64::from(*number))?,
            MemrefBound::Argument(value) => places.spread(program, *value)?,
            MemrefBound::Half(_) => return Err(ErrorKind::Broken),
        };
        let at = places.along(program, dim)?;
        all = places.inside(program, (at, end), Some(all))?;
    }
    program.set_operand(op, usize::from(number), all)?;
    program.set_attr(op, attr_names::BOUNDED, AttrValue::Unit)
}

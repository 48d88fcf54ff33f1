//! Where the elements of a shared tile lie whose layout is neither rows nor strips, as a map over an
//! element's number.

use heapless::Vec;
use lanebook_infer::{BaseId, FormArena, FormError, FormOp, IndexForm, StoragePlaces, VarRole};
use lanebook_ir::Shape;
use lanebook_plan::select::StridedPlaces;
use lanebook_tile::map::{MAX_BITS, PlaceTable, TileShape};

/// A digit of an element's number, and what each of it is worth, in bytes.
type Worth = (IndexForm, u32);

/// The map that a table of places says, of a tile of this shape.
pub(crate) fn storage_places(
    arena: &mut FormArena<'_>,
    shape: TileShape,
    table: &PlaceTable,
) -> Result<StoragePlaces, FormError> {
    let all = shape.row_count().saturating_mul(shape.col_count());
    let all = u32::try_from(all).map_err(|_| FormError::Overflow)?;
    let element = arena.var(all, VarRole::Output)?;
    let bytes = match table.adds() {
        true => summed(arena, element, shape, table)?,
        false => exclusive(arena, element, table)?,
    };
    Ok(StoragePlaces { element, bytes, unit: u32::from(shape.bits >> 3) })
}

/// Distances of bits and of panels, which add up.
fn summed(
    arena: &mut FormArena<'_>,
    element: BaseId,
    shape: TileShape,
    table: &PlaceTable,
) -> Result<IndexForm, FormError> {
    let number = arena.whole(element)?;
    let columns = i64::try_from(shape.col_count()).map_err(|_| FormError::Overflow)?;
    let (row, column) = arena.div_rem(number, columns)?;
    let (down, across) = table.panels();
    let (of_columns, of_rows) =
        table.columns().split_at_checked(usize::from(shape.cols)).ok_or(FormError::Overflow)?;
    let mut sum = IndexForm::constant(0);
    for (index, bits, panel) in [(column, of_columns, across), (row, of_rows, down)] {
        let mut left = index;
        for worth in bits {
            let (above, digit) = arena.div_rem(left, 2)?;
            sum = arena.add_scaled(sum, digit, i64::from(*worth))?;
            left = above;
        }
        sum = arena.add_scaled(sum, left, i64::from(panel))?;
    }
    Ok(sum)
}

/// What bits are worth, which exclusive or combines: what shares no bit of a place with others is
/// added, the rest as few exclusive ors as there are sums without carries.
fn exclusive(
    arena: &mut FormArena<'_>,
    element: BaseId,
    table: &PlaceTable,
) -> Result<IndexForm, FormError> {
    let columns = table.columns();
    let is_alone = |at: usize| {
        let own = columns.get(at).copied().unwrap_or(0);
        columns.iter().enumerate().all(|(k, other)| k == at || own & other == 0)
    };
    let mut sum = IndexForm::constant(0);
    let mut shared: Vec<Worth, MAX_BITS> = Vec::new();
    let mut left = arena.whole(element)?;
    for (at, worth) in columns.iter().enumerate() {
        let (above, digit) = arena.div_rem(left, 2)?;
        left = above;
        if is_alone(at) {
            sum = arena.add_scaled(sum, digit, i64::from(*worth))?;
        } else {
            shared.push((digit, *worth)).map_err(|_| FormError::Overflow)?;
        }
    }
    let low = shared.iter().fold(0, |all, (_, worth)| all | worth).trailing_zeros();
    let mut mixed = IndexForm::constant(0);
    while !shared.is_empty() {
        let group = apart(arena, &mut shared, low)?;
        mixed = arena.op(FormOp::Xor, mixed, group)?;
    }
    let unit = 1i64.checked_shl(low).unwrap_or(0);
    arena.add_scaled(sum, mixed, unit)
}

/// Takes out what shares no bit with what was taken out before it, as a sum in units of 2^`low`.
fn apart(
    arena: &mut FormArena<'_>,
    shared: &mut Vec<Worth, MAX_BITS>,
    low: u32,
) -> Result<IndexForm, FormError> {
    let (mut sum, mut taken) = (IndexForm::constant(0), 0u32);
    let mut left: Vec<Worth, MAX_BITS> = Vec::new();
    for (digit, worth) in shared.iter().copied() {
        if taken & worth == 0 {
            taken |= worth;
            let units = worth.checked_shr(low).unwrap_or(0);
            sum = arena.add_scaled(sum, digit, i64::from(units))?;
        } else {
            left.push((digit, worth)).map_err(|_| FormError::Overflow)?;
        }
    }
    *shared = left;
    Ok(sum)
}

/// Whether elements of `unit` bytes, several of the tile's own, lie in one piece each.
pub(crate) fn keeps_elements(shape: TileShape, table: &PlaceTable, unit: u32) -> bool {
    let own = u32::from(shape.bits >> 3);
    let whole = |bytes: u32| bytes.checked_rem(unit) == Some(0);
    let (down, across) = table.panels();
    let mut inside = own;
    let columns = table.columns().iter().all(|worth| {
        let within = inside < unit;
        let fits = if within { *worth == inside } else { whole(*worth) };
        inside = inside.saturating_mul(2);
        fits
    });
    unit <= own || (columns && whole(down) && whole(across))
}

/// The map that digits of an element's number say, of a tile of these extents.
pub(crate) fn strided_places(
    arena: &mut FormArena<'_>,
    shape: Shape,
    places: &StridedPlaces,
) -> Result<StoragePlaces, FormError> {
    let extents = || shape.iter().map(|extent| extent.ok_or(FormError::Overflow));
    let all = extents()
        .try_fold(1u32, |all, extent| all.checked_mul(extent?).ok_or(FormError::Overflow))?;
    let element = arena.var(all, VarRole::Output)?;
    let mut left = arena.whole(element)?;
    if places.rows_fastest {
        // Index by index, each as often as there are elements of the dimensions before it.
        let mut rest = left;
        let (mut behind, mut before) = (all, 1i64);
        left = IndexForm::constant(0);
        for extent in extents() {
            let extent = extent?;
            behind = behind.checked_div(extent).ok_or(FormError::Overflow)?;
            let (index, below) = arena.div_rem(rest, i64::from(behind))?;
            rest = below;
            left = arena.add_scaled(left, index, before)?;
            before = before.checked_mul(i64::from(extent)).ok_or(FormError::Overflow)?;
        }
    }
    let mut bytes = IndexForm::constant(0);
    for (extent, apart) in &places.digits {
        let (above, digit) = arena.div_rem(left, i64::from(*extent))?;
        bytes = arena.add_scaled(bytes, digit, i64::from(*apart))?;
        left = above;
    }
    Ok(StoragePlaces { element, bytes, unit: places.unit })
}

/// [`keeps_elements`] of digits.
pub(crate) fn keeps_digits(places: &StridedPlaces, unit: u32) -> bool {
    if unit <= places.unit {
        return true;
    }
    let whole = |bytes: u32| bytes.checked_rem(unit) == Some(0);
    let Some(((extent, apart), others)) = places.digits.split_first() else { return false };
    !places.rows_fastest
        && *apart == places.unit
        && extent.checked_mul(places.unit).is_some_and(whole)
        && others.iter().all(|(_, apart)| whole(*apart))
}

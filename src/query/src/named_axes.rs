//! TIRx's functions on layouts with shapes: tilings, sums, their factors, regions.
//!
//! TIRx counts threads as its target does. Where the query names an architecture whose waves have as
//! many lanes as TIRx's targets, thread axes of one layout become the one axis that counts them, as
//! there; a factor is written as the whole is. Elsewhere they stay as they are written.

use crate::algebra::numbers;
use crate::error::{KindOfValue, Why};
use crate::functions::QueryFunction;
use crate::value::{Asked, ElementOrder, Placed, QueryValue};
use lanebook_layout::tirx::{self, AxisRelation, facts};
use lanebook_layout::{AxisId, Error, Layout, LayoutRef, Result as Made, WellKnown};

/// Whether this module answers a call with so many arguments.
pub(crate) fn answers(function: QueryFunction, count: usize) -> bool {
    use QueryFunction as F;
    match function {
        F::Canonicalize | F::IsTileInner | F::IsSumLeft | F::IsSumRight => true,
        F::Slice => count == 3,
        _ => false,
    }
}

/// How the target's thread axes lie in one another.
fn relations(asked: Asked<'_>) -> &'static [AxisRelation] {
    let arch = asked.arch.and_then(|id| asked.tables.archs.get(id.index()));
    match arch {
        Some(arch) if arch.wave_lanes.iter().all(|own| u32::from(*own) == warp_lanes()) => {
            facts::WARP_32
        }
        _ => &[],
    }
}

/// The lanes of a warp of TIRx's targets, by its relation to all threads.
fn warp_lanes() -> u32 {
    in_threads(AxisId::WARP).unwrap_or(0)
}

/// How many threads a step on an axis is, on TIRx's targets.
fn in_threads(axis: AxisId) -> Option<u32> {
    let mut of_threads = facts::WARP_32.iter().filter(|one| one.parent == AxisId::TX);
    of_threads.find(|one| one.axis == axis).map(|one| one.factor)
}

/// The bit of a thread's number that the lowest of an axis is where waves of so many lanes are the
/// warps of TIRx's targets.
pub(crate) fn thread_bit(axis: AxisId, wave: u8) -> Option<u32> {
    let is_warp = 1u32.checked_shl(u32::from(wave)) == Some(warp_lanes());
    in_threads(axis).filter(|_| is_warp)?.checked_ilog2()
}

/// Calls one of them; the answer takes the place of the first argument.
pub(crate) fn apply(
    asked: Asked<'_>,
    function: QueryFunction,
    args: &mut [QueryValue],
) -> Result<(), Why> {
    use QueryFunction as F;
    let relations = relations(asked);
    match function {
        F::Canonicalize => return canonical(args, relations),
        F::IsTileInner | F::IsSumLeft | F::IsSumRight if !relations.is_empty() => {
            let [factor, whole, ..] = args else { return Err(Why::TooDeep) };
            over(whole, None, relations)?;
            over(factor, Some(whole.layout()?), relations)?;
        }
        F::Slice if !relations.is_empty() => {
            let [whole, ..] = args else { return Err(Why::TooDeep) };
            over(whole, None, relations)?;
        }
        _ => {}
    }
    match function {
        F::Slice => region(args),
        _ => factor(function, args),
    }
}

/// Writes a layout over the target's threads, or over those of a whole.
#[inline(never)]
fn over(
    value: &mut QueryValue,
    whole: Option<LayoutRef<'_>>,
    relations: &[AxisRelation],
) -> Result<(), Why> {
    let own = value.layout()?;
    let made = match whole {
        Some(whole) => tirx::canonicalize_beside(&own, &whole, &WellKnown, relations),
        None => tirx::canonicalize_for(&own, &WellKnown, relations),
    };
    let layout = made.as_ref().map_err(|error| *error)?;
    if let QueryValue::Layout(placed) = value {
        placed.layout.clone_from(layout);
    }
    Ok(())
}

/// TIRx's normal form. A layout that is ill-formed has one for no target, and its own for none.
fn canonical(args: &mut [QueryValue], relations: &[AxisRelation]) -> Result<(), Why> {
    let value = args.first_mut().ok_or(Why::TooDeep)?;
    if relations.is_empty() {
        return plain(value);
    }
    over(value, None, relations)
}

#[inline(never)]
fn plain(value: &mut QueryValue) -> Result<(), Why> {
    let made = tirx::canonicalize(&value.layout()?);
    let layout = made.as_ref().map_err(|error| *error)?;
    if let QueryValue::Layout(placed) = value {
        placed.layout.clone_from(layout);
    }
    Ok(())
}

/// Puts an answer into the place of the first argument; its elements are counted as TIRx does.
#[inline(never)]
fn put(args: &mut [QueryValue], made: &Made<Layout>) -> Result<(), Why> {
    let layout = made.as_ref().map_err(|error| *error)?;
    let slot = args.first_mut().ok_or(Why::TooDeep)?;
    let bits = slot.placed().map_or(0, |placed| placed.elements.bits);
    let elements = ElementOrder { bits, row_major: true, ..ElementOrder::default() };
    *slot = QueryValue::Layout(Placed { layout: layout.clone(), elements });
    Ok(())
}

fn at(args: &[QueryValue], number: usize) -> Result<&QueryValue, Why> {
    args.get(number).ok_or(Why::Kind { wanted: KindOfValue::Tuple, found: KindOfValue::Nothing })
}

/// `slice(A, SHAPE, ((BEGIN, END), ...))`.
#[inline(never)]
fn region(args: &mut [QueryValue]) -> Result<(), Why> {
    let (shape, ends) = (numbers(at(args, 1)?)?, numbers(at(args, 2)?)?);
    let mut region: heapless::Vec<(u32, u32), 16> = heapless::Vec::new();
    let mut rest = ends.iter();
    while let (Some(begin), Some(end)) = (rest.next(), rest.next()) {
        region.push((*begin, *end)).map_err(|_| Why::TooDeep)?;
    }
    if ends.len() != shape.len().saturating_mul(2) {
        let rank = u8::try_from(shape.len()).unwrap_or(u8::MAX);
        return Err(Why::Coordinate { rank });
    }
    let made = tirx::slice(&at(args, 0)?.layout()?, &shape, &region);
    put(args, &made)
}

/// `is_tile_inner(A, WHOLE, WHOLE_SHAPE, SHAPE)` and its like: the other factor.
#[inline(never)]
fn factor(function: QueryFunction, args: &mut [QueryValue]) -> Result<(), Why> {
    use QueryFunction as F;
    let (whole_shape, shape) = (numbers(at(args, 2)?)?, numbers(at(args, 3)?)?);
    let (own, whole) = (at(args, 0)?.layout()?, at(args, 1)?.layout()?);
    let made = match function {
        F::IsTileInner => tirx::outer_of_tile(&whole, &whole_shape, &own, &shape),
        F::IsSumRight => tirx::left_of_sum(&whole, &whole_shape, &own, &shape),
        F::IsSumLeft => tirx::right_of_sum(&whole, &whole_shape, &own, &shape),
        _ => Err(Error::Rank { expected: 0, found: 0 }),
    };
    put(args, &made)
}

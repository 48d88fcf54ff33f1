//! Layouts with parameters: made for a shape, and found again in a layout.
//!
//! Coordinates are row-major, the slowest first. Parameters that are an extent follow from the
//! shape; the others are given, or found in the steps of a layout.

use crate::map::log2_exact;
use crate::unit::UnitError;
use lanebook_layout::{Iter, Layout, LayoutRef, tirx};
use lanebook_tables::{Amount, TileIter, TileLayout};

/// Most parameters of a tile.
pub const MAX_PARAMS: usize = 8;
/// Most iters of a tile.
pub const MAX_ITERS: usize = 16;

/// Values of a tile's parameters.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub struct ParamValues([Option<u64>; MAX_PARAMS]);

impl ParamValues {
    /// The value of a parameter (number plus 1, as in [`Amount::param`]).
    #[must_use]
    pub fn get(&self, param: u8) -> Option<u64> {
        usize::from(param).checked_sub(1).and_then(|at| self.0.get(at)).copied().flatten()
    }

    /// Gives a parameter its value. `false` if it has another one, or there is no room for it.
    #[must_use]
    pub fn set(&mut self, param: u8, value: u64) -> bool {
        let slot = usize::from(param).checked_sub(1).and_then(|at| self.0.get_mut(at));
        slot.is_some_and(|slot| *slot.get_or_insert(value) == value)
    }

    /// The value of an amount, if its parameter has one.
    #[must_use]
    pub fn of(&self, amount: Amount) -> Option<u64> {
        if amount.param == 0 {
            return Some(u64::from(amount.factor));
        }
        self.get(amount.param)?.checked_mul(u64::from(amount.factor))
    }

    fn need(&self, amount: Amount) -> Result<u64, UnitError> {
        self.of(amount).ok_or(UnitError::NoValue { param: amount.param.saturating_sub(1) })
    }
}

/// Extents of a tile's iters for a shape, slowest first.
pub type IterExtents = heapless::Vec<u32, MAX_ITERS>;

/// The extents of the tile's iters for a shape; parameters that only count get their values.
///
/// A dimension without such a parameter has the product of its iters as extent, or a part of its
/// fastest iter: what one instruction reads of a row.
///
/// # Errors
/// [`UnitError::Extent`] with what the extent must be a multiple of, or be.
pub fn iter_extents(
    tile: &TileLayout<'_>,
    shape: &[u32],
    values: &mut ParamValues,
) -> Result<IterExtents, UnitError> {
    let mut out = IterExtents::new();
    let mut iters = tile.iters.iter();
    for (dim, count) in (0u8..).zip(tile.dims) {
        let found = shape.get(usize::from(dim)).copied().map_or(0, u64::from);
        let wrong = |needed| UnitError::Extent { dim, found, needed };
        let own = iters.clone().take(usize::from(*count));
        let known: u64 = own
            .clone()
            .filter_map(|it| values.of(it.extent))
            .try_fold(1u64, u64::checked_mul)
            .ok_or(wrong(0))?;
        let mut open = own.clone().filter(|it| values.of(it.extent).is_none());
        let free = open.next();
        if let Some(more) = open.next() {
            return Err(UnitError::NoValue { param: more.extent.param.saturating_sub(1) });
        }
        let mut fastest = None;
        if let Some(free) = free {
            let per = known.checked_mul(u64::from(free.extent.factor)).ok_or(wrong(0))?;
            if found == 0 || found.checked_rem(per) != Some(0) {
                return Err(wrong(per));
            }
            if !values.set(free.extent.param, found.checked_div(per).ok_or(wrong(per))?) {
                return Err(wrong(per));
            }
        } else if found != known {
            // The fastest iter may be cut.
            let last =
                own.clone().next_back().and_then(|it| values.of(it.extent)).ok_or(wrong(known))?;
            let others = known.checked_div(last).filter(|o| *o != 0).ok_or(wrong(known))?;
            let part = found
                .checked_div(others)
                .filter(|p| p.checked_mul(others) == Some(found))
                .ok_or(wrong(known))?;
            if part == 0 || last.checked_rem(part) != Some(0) {
                return Err(wrong(known));
            }
            fastest = Some(part);
        }
        for (at, it) in own.enumerate() {
            let whole = values.need(it.extent)?;
            let is_last = at.saturating_add(1) == usize::from(*count);
            let extent = fastest.filter(|_| is_last).unwrap_or(whole);
            out.push(u32::try_from(extent).map_err(|_| wrong(0))?).map_err(|_| wrong(0))?;
        }
        for _ in 0..*count {
            iters.next();
        }
    }
    if shape.len() != tile.dims.len() {
        return Err(UnitError::Extent {
            dim: u8::try_from(tile.dims.len()).unwrap_or(u8::MAX),
            found: shape.len() as u64,
            needed: tile.dims.len() as u64,
        });
    }
    Ok(out)
}

/// The layout of a tile with this shape.
///
/// # Errors
/// Those of [`iter_extents`]; [`UnitError::NoValue`] for a parameter that the shape does not give
/// and `values` does not have.
pub fn make(
    tile: &TileLayout<'_>,
    shape: &[u32],
    values: &mut ParamValues,
) -> Result<Layout, UnitError> {
    let extents = iter_extents(tile, shape, values)?;
    let mut out = Layout::new();
    for (it, extent) in tile.iters.iter().zip(&extents).rev() {
        // A step that is never taken needs no value.
        let stride = if *extent == 1 {
            values.of(it.stride).unwrap_or(0)
        } else {
            values.need(it.stride)?
        };
        out.push_shard(iter(*extent, stride, it)?)?;
    }
    for it in tile.replicas.iter().rev() {
        let extent =
            u32::try_from(values.need(it.extent)?).map_err(|_| lanebook_layout::Error::Overflow)?;
        out.push_replica(iter(extent, values.need(it.stride)?, it)?)?;
    }
    Ok(out)
}

fn iter(extent: u32, stride: u64, it: &TileIter) -> Result<Iter, UnitError> {
    let stride = i64::try_from(stride).map_err(|_| lanebook_layout::Error::Overflow)?;
    Ok(Iter::new(extent, stride, it.axis))
}

/// Whether a layout that is known bit by bit is this tile for the shape; parameters of its steps
/// get the layout's values. `step(dim, bit)` is what a bit of a coordinate adds. Extents have to be
/// powers of two.
///
/// # Errors
/// Those of [`iter_extents`]; [`UnitError::Stride`] where a step is another.
pub fn bind(
    tile: &TileLayout<'_>,
    shape: &[u32],
    step: impl Fn(u8, u8) -> Option<u64>,
    values: &mut ParamValues,
) -> Result<(), UnitError> {
    let extents = iter_extents(tile, shape, values)?;
    let mut first = 0usize;
    for (dim, count) in (0u8..).zip(tile.dims) {
        let end = first.saturating_add(usize::from(*count));
        let own = tile
            .iters
            .get(first..end)
            .unwrap_or(&[])
            .iter()
            .zip(extents.get(first..end).unwrap_or(&[]));
        let mut bit = 0u8;
        for (number, (it, extent)) in own.enumerate().rev() {
            let wrong = UnitError::Extent {
                dim,
                found: u64::from(*extent),
                needed: u64::from(extent.next_power_of_two()),
            };
            for k in 0..log2_exact(u64::from(*extent)).ok_or(wrong)? {
                let found = step(dim, bit).ok_or(wrong)?;
                let one = found.checked_shr(u32::from(k)).unwrap_or(0);
                let fits = match values.of(it.stride) {
                    Some(stride) => stride.checked_shl(u32::from(k)) == Some(found),
                    None => {
                        let value = one.checked_div(u64::from(it.stride.factor)).unwrap_or(0);
                        values.set(it.stride.param, value)
                            && values.of(it.stride).and_then(|s| s.checked_shl(u32::from(k)))
                                == Some(found)
                    }
                };
                if !fits {
                    let needed =
                        values.of(it.stride).and_then(|s| i64::try_from(s).ok()).unwrap_or(0);
                    let iter = u8::try_from(first.saturating_add(number)).unwrap_or(u8::MAX);
                    return Err(UnitError::Stride {
                        iter,
                        found: i64::try_from(found).unwrap_or(i64::MAX),
                        needed,
                    });
                }
                bit = bit.saturating_add(1);
            }
        }
        first = end;
    }
    Ok(())
}

/// Whether `layout` is this tile for the shape; parameters of its steps get the layout's values.
/// Its post-map is not looked at, and it may be spelt in any way.
///
/// # Errors
/// [`UnitError::Stride`] with the first step that differs; those of [`iter_extents`];
/// [`UnitError::Layout`] for a layout with an offset ([`lanebook_layout::Error::HasOffset`]),
/// copies, or boundaries that fall inside its iters.
pub fn find(
    tile: &TileLayout<'_>,
    shape: &[u32],
    layout: &LayoutRef<'_>,
    values: &mut ParamValues,
) -> Result<(), UnitError> {
    let extents = iter_extents(tile, shape, values)?;
    if let Some(offset) = layout.offset.first() {
        return Err(UnitError::Layout(lanebook_layout::Error::HasOffset { axis: offset.axis() }));
    }
    if layout.replica.iter().any(|it| !it.is_unit()) || !tile.replicas.is_empty() {
        return Err(UnitError::Layout(lanebook_layout::Error::HasReplica));
    }
    // Neighbours are joined within a group of the tile's iters, never across its boundaries.
    let plain = LayoutRef { post: lanebook_layout::PostMap::None, ..*layout };
    let joined = tirx::canonicalize(&plain)?;
    let grouped = tirx::group(&joined.view(), &extents)?;
    let view = grouped.layout.view();
    for (number, (it, extent)) in (0u8..).zip(tile.iters.iter().zip(&extents)) {
        let range = |at: usize| grouped.separators.get(at).copied().map_or(0, usize::from);
        let (from, to) = (range(usize::from(number)), range(usize::from(number).saturating_add(1)));
        // `separators` count as written, the view is fastest first.
        let mut moving = view
            .shard
            .iter()
            .rev()
            .skip(from)
            .take(to.saturating_sub(from))
            .filter(|it| !it.is_unit());
        let Some(step) = moving.next() else { continue };
        let found = step.stride_value()?;
        let needed = values.of(it.stride);
        let wrong = UnitError::Stride {
            iter: number,
            found,
            needed: needed.and_then(|n| i64::try_from(n).ok()).unwrap_or(0),
        };
        if moving.next().is_some() || step.axis() != it.axis || *extent == 1 {
            return Err(wrong);
        }
        let size = u64::try_from(found).map_err(|_| wrong)?;
        match needed {
            Some(needed) if needed == size => {}
            Some(_) => return Err(wrong),
            None => {
                let value = size
                    .checked_div(u64::from(it.stride.factor))
                    .filter(|v| v.checked_mul(u64::from(it.stride.factor)) == Some(size));
                if !value.is_some_and(|value| values.set(it.stride.param, value)) {
                    return Err(wrong);
                }
            }
        }
    }
    Ok(())
}

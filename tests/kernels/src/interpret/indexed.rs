//! Places that a tile of indices says.

use super::machine::{BEYOND, Corner, Machine};
use super::tile::{Sure, Tile};
use super::{Global, Said};

/// A tile of indices, and the dimension of its tensor along which they count.
pub(super) struct Indices {
    pub(super) tile: Tile,
    pub(super) axis: usize,
}

impl Machine<'_> {
    /// Where a tensor ends along its dimensions, as far as something says so.
    pub(super) fn bounds(&self, number: usize) -> Said<Vec<Option<usize>>> {
        let bound = |bound: &String| match bound.as_str() {
            "_" => Ok(None),
            bound => {
                let name = if bound.starts_with(|c: char| c.is_ascii_digit() || c == '%') {
                    bound.to_string()
                } else {
                    format!("%{bound}")
                };
                let n = self.index(&name)?;
                usize::try_from(n).map(Some).map_err(|_| "a bound below zero".to_string())
            }
        };
        self.program.globals[number].bounds.iter().map(bound).collect()
    }

    /// Numbers of a tile's elements in a tensor, `None` of those that are outside of its bounds or
    /// that the mask leaves out.
    pub(super) fn reach_indexed(
        &mut self,
        (number, corner): &Corner,
        shape: &[usize],
        mask: Option<&Tile>,
        Indices { tile, axis }: &Indices,
    ) -> Said<Vec<Option<usize>>> {
        if tile.shape != shape || tile.element.bits() != 32 || !tile.element.is_whole() {
            return Err("a tile of other indices".to_string());
        }
        if mask.is_some_and(|mask| mask.shape != shape || mask.element.bits() != 1) {
            return Err("a mask of another shape".to_string());
        }
        let rank = corner.len();
        if *axis >= rank {
            return Err("no such dimension".to_string());
        }
        let bounds = self.bounds(*number)?;
        let bound = |dim: usize| bounds.get(dim).copied().flatten();
        let measuring = self.measuring;
        let global = &mut self.program.globals[*number];
        let mut out = Vec::new();
        for i in 0..shape.iter().product() {
            // What a mask that is not known leaves out is not known either.
            let left_out = mask.is_some_and(|mask| {
                mask.items[i].sure == Sure::Bits && mask.items[i].bits & 1 == 0
            });
            let mut inside = !left_out;
            let mut at = Vec::new();
            for (dim, first) in corner.iter().enumerate() {
                let wide = (dim + shape.len()).checked_sub(rank);
                let index = match wide {
                    _ if dim == *axis => {
                        let item = tile.items[i];
                        let is_known = item.sure == Sure::Bits;
                        if !is_known && !measuring && !left_out {
                            return Err("an index that is not known".to_string());
                        }
                        if is_known { i64::from(item.bits as u32 as i32) } else { 0 }
                    }
                    Some(dim) => {
                        let inner: usize = shape[dim + 1..].iter().product();
                        (i / inner % shape[dim]) as i64
                    }
                    None => 0,
                };
                let place = first + index;
                let ends = bound(dim).map(|bound| bound as i64);
                let is_there = ends.is_none_or(|end| (0..end).contains(&place));
                if !is_there && self.bounded && !left_out && !measuring {
                    return Err(BEYOND.to_string());
                }
                inside &= is_there;
                at.push(place);
            }
            if measuring {
                grown(global, &at, &bounds, inside);
            }
            out.push(if inside { Some(placed(global, &at, measuring)?) } else { None });
        }
        Ok(if measuring { Vec::new() } else { out })
    }
}

/// A tensor that is as large as its bounds, and has the element at a place.
fn grown(global: &mut Global, at: &[i64], bounds: &[Option<usize>], is_touched: bool) {
    for (dim, place) in at.iter().enumerate() {
        if global.written[dim].is_some() {
            continue;
        }
        match bounds.get(dim).copied().flatten() {
            Some(bound) => global.extents[dim] = bound,
            None if is_touched => {
                let end = usize::try_from(*place + 1).unwrap_or(0);
                global.extents[dim] = global.extents[dim].max(end);
            }
            None => {}
        }
    }
}

/// The number of an element of a tensor.
fn placed(global: &Global, at: &[i64], measuring: bool) -> Said<usize> {
    let mut sum = 0;
    for (place, extent) in at.iter().zip(&global.extents) {
        let place = usize::try_from(*place).ok().filter(|place| place < extent);
        match place {
            Some(place) => sum = sum * extent + place,
            None if measuring => {}
            None => return Err(format!("leaves {}", global.name)),
        }
    }
    Ok(sum)
}

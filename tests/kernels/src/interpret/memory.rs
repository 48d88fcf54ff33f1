//! What statements read and write: values by their names, and tensors, a tile or a number at once.

use super::addressed::number_at;
use super::element::Element;
use super::indexed::Indices;
use super::machine::{BEYOND, Corner, Machine, Value};
use super::text::{attribute, constant, list, tile_type};
use super::tile::{Item, Sure, Tile};
use super::{Said, UNWRITTEN};
use std::collections::BTreeMap;

impl Machine<'_> {
    pub(super) fn value(&self, name: &str) -> Said<Value> {
        let name = name.trim();
        if let Ok(number) = name.parse() {
            return Ok(Value::Index(number));
        }
        self.values.get(name).cloned().ok_or_else(|| format!("no `{name}`"))
    }

    pub(super) fn index(&self, name: &str) -> Said<i64> {
        match self.value(name)? {
            Value::Index(v) => Ok(v),
            // A number of one element; of a truth, 1 or 0.
            Value::Tile(one) if one.items.len() == 1 => one.number(),
            _ => Err(format!("`{name}` is no index")),
        }
    }

    pub(super) fn tile(&self, name: &str) -> Said<Tile> {
        match self.value(name)? {
            Value::Tile(t) => Ok(t),
            // An index among numbers.
            Value::Index(n) => {
                let items = vec![Item::exact(u64::from(n as u32))];
                Ok(Tile { shape: Vec::new(), element: Element::of("i32")?, items })
            }
            Value::Slot(slot) => self.loaded(&slot),
            _ => Err(format!("`{name}` is no tile")),
        }
    }

    /// What a tile is filled with, and its element type if it is no index: `None` of a tile.
    pub(super) fn full(&self, name: &str) -> Said<Option<(Item, Option<Element>)>> {
        Ok(match self.value(name)? {
            Value::Index(number) => Some((Item::exact(u64::from(number as u32)), None)),
            Value::Tile(one) if one.shape.is_empty() => {
                one.items.first().map(|item| (*item, Some(one.element)))
            }
            _ => None,
        })
    }

    /// A place in global memory; `None` where the operand is a tile.
    pub(super) fn place(&self, operand: &str) -> Said<Option<Corner>> {
        let (name, subscripts) =
            operand.split_once('[').map_or((operand, None), |(n, s)| (n, Some(s)));
        let Some(number) = self.program.globals.iter().position(|g| g.name == name.trim()) else {
            return Ok(None);
        };
        let corner: Vec<i64> = list(subscripts.ok_or("no subscripts")?.trim_end_matches(']'))
            .iter()
            .map(|s| self.index(s))
            .collect::<Said<_>>()?;
        if corner.len() != self.program.globals[number].extents.len() {
            return Err("another number of subscripts than dimensions".to_string());
        }
        Ok(Some((number, corner)))
    }

    /// Numbers of a tile's elements in a tensor, `None` beyond its bounds; the tile's dimensions
    /// are its last ones.
    pub(super) fn reach(
        &mut self,
        (number, corner): &Corner,
        shape: &[usize],
        mask: Option<&Tile>,
        indices: Option<&Indices>,
    ) -> Said<Vec<Option<usize>>> {
        if let Some(indices) = indices {
            return self.reach_indexed(&(*number, corner.clone()), shape, mask, indices);
        }
        if mask.is_some_and(|mask| mask.shape != shape || mask.element.bits() != 1) {
            return Err("a mask of another shape".to_string());
        }
        // What a mask that is not known leaves out is not known either.
        let is_touched = |i: usize| {
            mask.is_none_or(|mask| mask.items[i].sure != Sure::Bits || mask.items[i].bits & 1 == 1)
        };
        // How far a tile reaches along its dimensions: nothing, where all of it is left out.
        let far = |dim: usize| -> usize {
            let stride: usize = shape[dim + 1..].iter().product();
            let all: usize = shape.iter().product();
            (0..all)
                .filter(|i| mask.is_some() && is_touched(*i))
                .map(|i| i / stride % shape[dim] + 1)
                .max()
                .unwrap_or(0)
        };
        let bounds = self.bounds(*number)?;
        let bound = |dim: usize| bounds.get(dim).copied().flatten();
        let global = &mut self.program.globals[*number];
        let outer = corner
            .len()
            .checked_sub(shape.len())
            .ok_or("a tile of more dimensions than its tensor")?;
        let wide = |dim: usize| if dim < outer { 1 } else { shape[dim - outer] };
        for (dim, at) in corner.iter().enumerate() {
            // Below zero there is nothing, as beyond the bounds, or a mask leaves it out.
            if *at < 0 && bound(dim).is_none() && mask.is_none() {
                return Err("a negative subscript".to_string());
            }
            let last = |far: usize| usize::try_from(*at + far as i64).unwrap_or(0);
            let end = match mask {
                Some(_) if (0..shape.len()).any(|dim| far(dim) == 0) => 0,
                Some(_) if dim >= outer => last(far(dim - outer)),
                _ => last(wide(dim)),
            };
            if let Some(bound) = bound(dim) {
                if global.written[dim].is_none() && self.measuring {
                    global.extents[dim] = bound;
                } else if bound > global.extents[dim] {
                    return Err(format!("{} has fewer than its bounds", global.name));
                }
            } else if self.measuring && global.written[dim].is_none() {
                global.extents[dim] = global.extents[dim].max(end);
            } else if end > global.extents[dim] {
                return Err(format!("leaves {}", global.name));
            }
        }
        if self.measuring {
            return Ok(Vec::new());
        }
        let count = shape.iter().product();
        let mut reached = Vec::new();
        for i in 0..count {
            let (mut rest, mut stride, mut sum) = (i, 1, Some(0));
            for dim in (0..corner.len()).rev() {
                let at = usize::try_from(corner[dim] + (rest % wide(dim)) as i64);
                let inside = match (bound(dim), at) {
                    (Some(bound), at) => {
                        let is_there = at.is_ok_and(|at| at < bound);
                        if self.bounded && is_touched(i) && !is_there {
                            return Err(BEYOND.to_string());
                        }
                        is_there && is_touched(i)
                    }
                    (None, Ok(_)) => is_touched(i),
                    (None, Err(_)) if is_touched(i) => {
                        return Err(format!("leaves {}", global.name));
                    }
                    (None, Err(_)) => false,
                };
                sum = sum.filter(|_| inside).map(|sum| sum + at.unwrap_or(0) * stride);
                rest /= wide(dim);
                stride *= global.extents[dim];
            }
            reached.push(sum);
        }
        Ok(reached)
    }

    pub(super) fn fetch(
        &mut self,
        operand: &str,
        shape: &[usize],
        (mask, other): (Option<Tile>, Option<Tile>),
        indices: Option<Indices>,
    ) -> Said<Tile> {
        let Some(corner) = self.place(operand)? else {
            if mask.is_some() || indices.is_some() {
                return Err("a mask or indices of what is no tensor".to_string());
            }
            let tile = self.tile(operand)?;
            return if tile.items.iter().any(|i| i.sure == Sure::Unwritten) {
                Err(format!("{UNWRITTEN}: {operand}"))
            } else {
                Ok(tile)
            };
        };
        let reached = self.reach(&corner, shape, mask.as_ref(), indices.as_ref())?;
        let global = &mut self.program.globals[corner.0];
        global.is_read = true;
        if self.measuring && global.is_addressed && mask.is_none() && indices.is_none() {
            let outer = corner.1.len().saturating_sub(shape.len());
            let item = |i: usize| {
                let mut rest = i;
                let mut place = corner.1.clone();
                for dim in (0..shape.len()).rev() {
                    place[outer + dim] += (rest % shape[dim]) as i64;
                    rest /= shape[dim];
                }
                Item::exact(number_at(global.element, global.salt, &place))
            };
            let items = (0..shape.iter().product()).map(item).collect();
            return Ok(Tile { shape: shape.to_vec(), element: global.element, items });
        }
        if self.measuring {
            return Ok(Tile::filled(
                shape.to_vec(),
                global.element,
                Item { bits: 0, sure: Sure::Free },
            ));
        }
        if other.as_ref().is_some_and(|o| o.shape != shape || o.element != global.element) {
            return Err("another tile in the place of what is left out".to_string());
        }
        let unknown =
            |i: usize| mask.as_ref().is_some_and(|mask: &Tile| mask.items[i].sure != Sure::Bits);
        let element = global.element;
        let item = |(i, at): (usize, &Option<usize>)| {
            let left = other.as_ref().map_or(Item::exact(0), |other| {
                let item = other.items[i];
                // A choice of narrow floats goes through f32.
                let is_nan = !element.is_whole() && element.decode(item.bits).is_nan();
                if is_nan && item.sure == Sure::Bits {
                    Item { sure: Sure::Nan, ..item }
                } else {
                    item
                }
            });
            match at {
                _ if unknown(i) => Item { sure: Sure::Free, ..left },
                None => left,
                Some(at) => {
                    let item = global.items[*at];
                    let is_nan = !element.is_whole() && element.decode(item.bits).is_nan();
                    if other.is_some() && is_nan && item.sure == Sure::Bits {
                        Item { sure: Sure::Nan, ..item }
                    } else {
                        item
                    }
                }
            }
        };
        Ok(Tile {
            shape: shape.to_vec(),
            element,
            items: reached.iter().enumerate().map(item).collect(),
        })
    }

    pub(super) fn deliver(
        &mut self,
        operand: &str,
        tile: Tile,
        mask: Option<Tile>,
        indices: Option<Indices>,
    ) -> Said<()> {
        let Some(corner) = self.place(operand)? else {
            if mask.is_some() || indices.is_some() {
                return Err("a mask or indices of what is no tensor".to_string());
            }
            let own = self.tile(operand)?;
            if own.shape != tile.shape || own.element != tile.element {
                return Err("a tile of another type".to_string());
            }
            self.values.insert(operand.trim().to_string(), Value::Tile(tile));
            return Ok(());
        };
        let reached = self.reach(&corner, &tile.shape, mask.as_ref(), indices.as_ref())?;
        let global = &mut self.program.globals[corner.0];
        global.is_result = true;
        // Elements that are not written stay as they were.
        global.is_read |= mask.is_some() || indices.is_some();
        if global.element != tile.element {
            return Err("elements of another type".to_string());
        }
        // Of several elements with one place one is there afterwards: which one is not said.
        let mut before = BTreeMap::new();
        for (i, (at, item)) in reached.iter().zip(&tile.items).enumerate() {
            if let Some(at) = at {
                let is_known = mask.as_ref().is_none_or(|mask| mask.items[i].sure == Sure::Bits)
                    && before.insert(*at, item.bits).is_none_or(|bits| bits == item.bits);
                global.items[*at] =
                    if is_known { *item } else { Item { sure: Sure::Free, ..*item } };
            }
        }
        Ok(())
    }

    /// A tile's name, and where a part of it begins.
    pub(super) fn starts<'n>(&self, operand: &'n str) -> Said<(&'n str, Vec<usize>)> {
        let (name, starts) = operand.split_once('[').ok_or("no subscripts")?;
        let mut out = Vec::new();
        for start in list(starts.trim_end_matches(']')) {
            out.push(usize::try_from(self.index(&start)?).map_err(|_| "a place below zero")?);
        }
        Ok((name.trim(), out))
    }

    /// A tile of indices with what its statement says of it.
    pub(super) fn indices(&self, name: &str, operands: &str) -> Said<Indices> {
        let axis = attribute(operands, "axis").map(str::parse).transpose();
        let axis = axis.map_err(|_| "a number axis".to_string())?.unwrap_or(0);
        Ok(Indices { tile: self.tile(name)?, axis })
    }

    /// What stands in the place of the elements that a mask leaves out: a tile, or one number.
    pub(super) fn left_out(
        &self,
        name: Option<&String>,
        operands: &str,
        to: &str,
    ) -> Said<Option<Tile>> {
        match (name, attribute(operands, "other")) {
            (Some(_), Some(_)) => Err("a tile and a number of what is left out".to_string()),
            (Some(name), None) => self.tile(name).map(Some),
            (None, None) => Ok(None),
            (None, Some(number)) => {
                let (shape, element) = tile_type(to)?;
                let item = Item::exact(constant(number, element)?);
                Ok(Some(Tile::filled(shape, element, item)))
            }
        }
    }
}

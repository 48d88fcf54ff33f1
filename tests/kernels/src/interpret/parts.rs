//! Parts of tiles, pairs of tiles, scans: where each element comes from.

use super::Said;
use super::compute::{combined, narrowed, widened};
use super::element::Element;
use super::text::{attribute, is_flagged};
use super::tile::{Item, Sure, Tile};

/// The places of a part's elements in a tile, row by row.
fn places(whole: &[usize], part: &[usize], starts: &[usize]) -> Said<Vec<usize>> {
    let fits = whole.len() == part.len()
        && whole.len() == starts.len()
        && whole.iter().zip(part).zip(starts).all(|((whole, part), start)| start + part <= *whole);
    if !fits {
        return Err(format!("no part {part:?} at {starts:?} of {whole:?}"));
    }
    let count: usize = part.iter().product();
    Ok((0..count)
        .map(|number| {
            let (mut rest, mut at, mut stride) = (number, 0, 1);
            for dimension in (0..whole.len()).rev() {
                at += (rest % part[dimension] + starts[dimension]) * stride;
                rest /= part[dimension];
                stride *= whole[dimension];
            }
            at
        })
        .collect())
}

/// A part of a tile.
pub(super) fn taken(whole: &Tile, shape: &[usize], starts: &[usize]) -> Said<Tile> {
    let places = places(&whole.shape, shape, starts)?;
    let items = places.iter().map(|at| whole.items[*at]).collect();
    Ok(Tile { shape: shape.to_vec(), element: whole.element, items })
}

/// A tile with a part of it replaced.
pub(super) fn put(part: &Tile, whole: &Tile, starts: &[usize]) -> Said<Tile> {
    let mut out = whole.clone();
    for (at, item) in places(&whole.shape, &part.shape, starts)?.iter().zip(&part.items) {
        out.items[*at] = *item;
    }
    Ok(out)
}

/// Two tiles side by side along a new last dimension.
pub(super) fn joined(first: &Tile, second: &Tile) -> Tile {
    let mut shape = first.shape.clone();
    shape.push(2);
    let items = first.items.iter().zip(&second.items).flat_map(|(a, b)| [*a, *b]).collect();
    Tile { shape, element: first.element, items }
}

/// One of a tile of pairs.
pub(super) fn half(pairs: &Tile, number: usize) -> Said<Tile> {
    let mut shape = pairs.shape.clone();
    if shape.pop() != Some(2) {
        return Err("no pairs".to_string());
    }
    let items = pairs.items.iter().skip(number).step_by(2).copied().collect();
    Ok(Tile { shape, element: pairs.element, items })
}

/// A tile's whole number at a place: those of 8 and 16 bits have no sign.
fn number(tile: &Tile, at: usize) -> i64 {
    let bits = tile.items[at].bits;
    match tile.element.bits() {
        64 => bits as i64,
        32 => i64::from(bits as u32 as i32),
        _ => bits as i64,
    }
}

/// How often each number is in a tile.
pub(super) fn counted(
    tile: &Tile,
    mask: Option<&Tile>,
    (shape, element): (Vec<usize>, Element),
) -> Said<Tile> {
    let bins = *shape.first().ok_or("no bins")?;
    let mut counts = vec![0u64; bins];
    let mut is_sure = true;
    for at in 0..tile.items.len() {
        is_sure &= tile.items[at].sure == Sure::Bits;
        if let Some(mask) = mask {
            is_sure &= mask.items[at].sure == Sure::Bits;
            if mask.items[at].bits == 0 {
                continue;
            }
        }
        let bin = usize::try_from(number(tile, at)).ok();
        if let Some(count) = bin.and_then(|bin| counts.get_mut(bin)) {
            *count += 1;
        }
    }
    let sure = if is_sure { Sure::Bits } else { Sure::Free };
    let items = counts.into_iter().map(|bits| Item { bits, sure }).collect();
    Ok(Tile { shape, element, items })
}

/// Elements of a tile along a dimension, from the places that another one says.
pub(super) fn gathered(from: &Tile, places: &Tile, axis: usize) -> Said<Tile> {
    let along = *from.shape.get(axis).ok_or("no such dimension")?;
    let inner: usize = from.shape[axis + 1..].iter().product();
    let own = places.shape[axis];
    let items = (0..places.items.len()).map(|at| {
        let (outer, behind) = (at / inner / own, at % inner);
        let place = usize::try_from(number(places, at)).ok().filter(|place| *place < along);
        let found = place
            .map_or(Item::exact(0), |place| from.items[(outer * along + place) * inner + behind]);
        let is_sure = places.items[at].sure == Sure::Bits;
        if is_sure { found } else { Item { sure: Sure::Free, ..found } }
    });
    Ok(Tile { shape: places.shape.clone(), element: from.element, items: items.collect() })
}

/// Each element with all before it, or behind it, along a dimension.
pub(super) fn scanned(tile: &Tile, attributes: &str) -> Said<Vec<Item>> {
    let axis: usize =
        attribute(attributes, "axis").and_then(|axis| axis.parse().ok()).ok_or("no axis")?;
    let along = *tile.shape.get(axis).ok_or("no such dimension")?;
    let kind = attribute(attributes, "kind").ok_or("no kind")?;
    let is_reverse = is_flagged(attributes, "reverse");
    let wide = widened(tile);
    let inner: usize = tile.shape[axis + 1..].iter().product();
    let items = (0..wide.items.len())
        .map(|at| {
            let (place, first) = (at / inner % along, at - at / inner % along * inner);
            let those = if is_reverse { place..along } else { 0..place + 1 };
            let items: Vec<Item> = those.map(|k| wide.items[first + k * inner]).collect();
            combined(wide.element, &items, kind)
        })
        .collect::<Said<Vec<_>>>()?;
    narrowed(wide.element, tile.element, items)
}

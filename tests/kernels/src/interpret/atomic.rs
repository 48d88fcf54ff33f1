//! Atomic operations: what they leave in memory, whatever order they come in.

use super::element::Element;
use super::indexed::Indices;
use super::machine::Machine;
use super::tile::{Item, Sure, Tile, lowest_bit};
use super::{Global, Said};
use std::collections::BTreeMap;

/// A sum of floats in no order.
#[derive(Clone, Debug)]
pub struct Sum {
    /// What it is of, the element before it among them.
    of: Vec<f64>,
    /// How far these may be off together.
    error: f64,
    /// The element as it was left.
    left: Item,
}

impl Sum {
    fn item(&self, element: Element) -> Item {
        let value: f64 = self.of.iter().sum();
        let magnitude: f64 = self.of.iter().map(|v| v.abs()).sum();
        // In some order it is beyond the greatest number on the way, and what is added there is not
        // seen, or is no number with it.
        let finite: f64 = self.of.iter().filter(|v| v.is_finite()).map(|v| v.abs()).sum();
        if !element.decode(element.encode(finite)).is_finite() {
            return Item { bits: element.encode(value), sure: Sure::Free };
        }
        let lowest = lowest_bit(&self.of);
        let is_exact = self.error == 0.0
            && lowest.is_some_and(|low| {
                magnitude == 0.0
                    || magnitude / 2f64.powi(low.max(-1000)) < 2f64.powi(element.precision())
            });
        // Numbers of f32 and f64 below the least normal one may count as zeros.
        let least = if element == Element::F64 { -1022 } else { -126 };
        let is_flushed = matches!(element, Element::F32 | Element::F64);
        let is_tiny = is_flushed && lowest.is_some_and(|low| low < least && magnitude > 0.0);
        let flushed = if is_tiny { self.of.len() as f64 * 2f64.powi(least) } else { 0.0 };
        if is_exact && !is_tiny {
            let item = Item::exact(element.encode(value));
            return if value == 0.0 { Item { sure: Sure::Near(0.0), ..item } } else { item };
        }
        let rounded = self.of.len() as f64 * element.step(magnitude);
        Item::rounded(element, value, self.error + rounded + flushed)
    }
}

/// Who combined an element last.
#[derive(Clone, Debug)]
pub struct Combined {
    block: [u32; 3],
    /// Tells statements that are carried out apart.
    here: u64,
    kind: String,
    /// Nothing said once which came first.
    is_free: bool,
}

impl Combined {
    /// Whether it matters which of two came first, and nothing says it.
    fn meets(&self, other: &Self) -> bool {
        let is_together = self.block != other.block || self.here == other.here;
        self.is_free
            || is_together
                && (self.kind != other.kind || ["exch", "cas"].contains(&self.kind.as_str()))
    }
}

impl Machine<'_> {
    fn next_combined(&mut self) -> u64 {
        self.program.combined += 1;
        self.program.combined
    }

    /// Combines a tile with a tensor; what stood there before, as far as the program says it: not
    /// where elements of one operation meet in a place, nor where several blocks may.
    pub(super) fn combine(
        &mut self,
        operand: &str,
        (tile, compared): (&Tile, Option<&Tile>),
        mask: Option<&Tile>,
        indices: Option<&Indices>,
        kind: &str,
    ) -> Said<Tile> {
        let corner = self.place(operand)?.ok_or("an atomic operation on what is no tensor")?;
        let reached = self.reach(&corner, &tile.shape, mask, indices)?;
        let (block, here) = (self.block, self.next_combined());
        let is_alone = self.program.grid.iter().product::<u32>() == 1;
        let mut met: BTreeMap<usize, usize> = BTreeMap::new();
        for at in reached.iter().flatten() {
            *met.entry(*at).or_default() += 1;
        }
        let mut answer = Tile::filled(tile.shape.clone(), tile.element, Item::exact(0));
        let global = &mut self.program.globals[corner.0];
        global.is_result = true;
        global.is_read = true;
        // Bits are combined as the tile's elements.
        let element = tile.element;
        if global.element.bits() != element.bits() {
            return Err("elements of another size".to_string());
        }
        for (i, (at, item)) in reached.iter().zip(&tile.items).enumerate() {
            let Some(at) = *at else {
                // Whether a mask left it out may not be known.
                let is_told = mask.is_none_or(|mask| mask.items[i].sure == Sure::Bits);
                answer.items[i].sure = if is_told { answer.items[i].sure } else { Sure::Free };
                continue;
            };
            let is_told = mask.is_none_or(|mask| mask.items[i].sure == Sure::Bits);
            // Of exchanges, and of unlike operations of several blocks, the last one is not known.
            let mut by = Combined { block, here, kind: kind.to_string(), is_free: false };
            by.is_free = global.combined.get(&at).is_some_and(|before| before.meets(&by));
            let is_free = by.is_free;
            let old = global.items[at];
            let is_ordered = is_told && is_alone && met[&at] == 1;
            answer.items[i] = if is_ordered { old } else { Item { sure: Sure::Free, ..old } };
            global.combined.insert(at, by);
            let new = match element.is_whole() {
                _ if kind == "exch" => *item,
                _ if kind == "cas" => {
                    let compared = compared.ok_or("nothing to compare with")?.items[i];
                    let is_known = old.sure == Sure::Bits && compared.sure == Sure::Bits;
                    let new = if old.bits == compared.bits { *item } else { old };
                    if is_known { new } else { Item { sure: Sure::Free, ..new } }
                }
                true => whole(kind, element, global.items[at], *item)?,
                false if kind == "add" && global.element == element => summed(global, at, *item),
                false => return Err(format!("an atomic {kind} of floats")),
            };
            let is_known = is_told && !is_free;
            global.items[at] = if is_known { new } else { Item { sure: Sure::Free, ..new } };
        }
        Ok(answer)
    }
}

fn summed(global: &mut Global, at: usize, item: Item) -> Item {
    let (element, before) = (global.element, global.items[at]);
    let known = global.sums.get(&at).filter(|sum| sum.left == before).cloned();
    let off = |item: Item| item.error().unwrap_or(f64::NAN);
    let mut sum = known.unwrap_or_else(|| Sum {
        of: vec![element.decode(before.bits)],
        error: off(before),
        left: before,
    });
    sum.of.push(element.decode(item.bits));
    sum.error += off(item);
    sum.left = sum.item(element);
    let left = sum.left;
    global.sums.insert(at, sum);
    left
}

fn whole(kind: &str, element: Element, a: Item, b: Item) -> Said<Item> {
    let Element::Whole { bits: width @ (32 | 64), signed } = element else {
        return Err("an atomic operation on such numbers".to_string());
    };
    // With the sign above.
    let wide = |bits: u64| if signed { ((bits << (64 - width)) as i64) >> (64 - width) } else { 0 };
    let (x, y) = (a.bits, b.bits);
    // Elements without a sign, or words without one.
    let (kind, signed) = match kind.strip_prefix('u') {
        Some(kind @ ("min" | "max")) => (kind, false),
        _ => (kind, signed),
    };
    let new = match (kind, signed) {
        ("add", _) => x.wrapping_add(y),
        ("and", _) => x & y,
        ("or", _) => x | y,
        ("xor", _) => x ^ y,
        ("min", true) => wide(x).min(wide(y)) as u64,
        ("max", true) => wide(x).max(wide(y)) as u64,
        ("min", false) => x.min(y),
        ("max", false) => x.max(y),
        _ => return Err(format!("an atomic {kind}")),
    };
    let is_known = a.sure == Sure::Bits && b.sure == Sure::Bits;
    let sure = if is_known { Sure::Bits } else { Sure::Free };
    Ok(Item { bits: new & (u64::MAX >> (64 - width)), sure })
}

//! Atomic operations: what they leave in memory, whatever order they come in.

use super::element::Element;
use super::indexed::Indices;
use super::machine::Machine;
use super::tile::{Item, Sure, Tile, lowest_bit};
use super::{Global, Said};

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
        let lowest = lowest_bit(&self.of);
        let is_exact = self.error == 0.0
            && lowest.is_some_and(|low| {
                magnitude == 0.0
                    || magnitude / 2f64.powi(low.max(-1000)) < 2f64.powi(element.precision())
            });
        // Numbers of f32 below the least normal one may count as zeros.
        let is_tiny =
            element == Element::F32 && lowest.is_some_and(|low| low < -126 && magnitude > 0.0);
        let flushed = if is_tiny { self.of.len() as f64 * 2f64.powi(-126) } else { 0.0 };
        if is_exact && !is_tiny {
            let item = Item::exact(element.encode(value));
            return if value == 0.0 { Item { sure: Sure::Near(0.0), ..item } } else { item };
        }
        let rounded = self.of.len() as f64 * element.step(magnitude);
        Item::rounded(element, value, self.error + rounded + flushed)
    }
}

impl Machine<'_> {
    /// Combines a tile with a tensor.
    pub(super) fn combine(
        &mut self,
        operand: &str,
        tile: &Tile,
        mask: Option<&Tile>,
        indices: Option<&Indices>,
        kind: &str,
    ) -> Said<()> {
        let corner = self.place(operand)?.ok_or("an atomic operation on what is no tensor")?;
        let reached = self.reach(&corner, &tile.shape, mask, indices)?;
        let global = &mut self.program.globals[corner.0];
        global.is_result = true;
        global.is_read = true;
        if global.element != tile.element {
            return Err("elements of another type".to_string());
        }
        for (i, (at, item)) in reached.iter().zip(&tile.items).enumerate() {
            let Some(at) = *at else { continue };
            let is_told = mask.is_none_or(|mask| mask.items[i].sure == Sure::Bits);
            let new = match global.element.is_whole() {
                true => whole(kind, global.element, global.items[at], *item)?,
                false if kind == "add" => summed(global, at, *item),
                false => return Err(format!("an atomic {kind} of floats")),
            };
            global.items[at] = if is_told { new } else { Item { sure: Sure::Free, ..new } };
        }
        Ok(())
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
    let Element::Whole { bits: 32, signed } = element else {
        return Err("an atomic operation on such numbers".to_string());
    };
    let (x, y) = (a.bits as u32, b.bits as u32);
    let new = match (kind, signed) {
        ("add", _) => x.wrapping_add(y),
        ("and", _) => x & y,
        ("or", _) => x | y,
        ("xor", _) => x ^ y,
        ("min", true) => (x as i32).min(y as i32) as u32,
        ("max", true) => (x as i32).max(y as i32) as u32,
        ("min", false) => x.min(y),
        ("max", false) => x.max(y),
        _ => return Err(format!("an atomic {kind}")),
    };
    let is_known = a.sure == Sure::Bits && b.sure == Sure::Bits;
    let sure = if is_known { Sure::Bits } else { Sure::Free };
    Ok(Item { bits: u64::from(new), sure })
}

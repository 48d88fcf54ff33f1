//! Reductions and scans whose region is no kind: neighbours are combined by the region's own
//! statements, element by element, then what these make.
//!
//! `regions::named` has put them down as `%r = combine.reduce %x {axis = 0, given = %a %b} : T -> U {`,
//! the region's statements, and a bracket.

use super::Said;
use super::compute::extremes;
use super::element::Element;
use super::machine::{Machine, Value, closing};
use super::text::{attribute, list, tile_type};
use super::tile::{Item, Sure, Tile};

/// What stands between results and operands.
pub(super) const COMBINES: &str = " = combine.";

/// One element of each tile.
type Elements = Vec<Item>;

/// A region that combines.
struct Region<'b> {
    body: &'b [String],
    at: usize,
    given: Vec<String>,
    elements: Vec<Element>,
}

impl Machine<'_> {
    /// Carries one out; where it ends.
    pub(super) fn combination(&mut self, body: &[String], at: usize) -> Said<usize> {
        let end = closing(body, at).ok_or("no closing bracket")?;
        let line = body[at].trim_end_matches('{').trim_end();
        let (results, rest) = line.split_once(COMBINES).ok_or("no combination")?;
        let (head, types) = rest.rsplit_once(" : ").ok_or("no types")?;
        let (op, operands) = head.split_once(' ').ok_or("no operands")?;
        let names = list(operands.split('{').next().unwrap_or(""));
        let tiles: Vec<Tile> = names.iter().map(|name| self.tile(name)).collect::<Said<_>>()?;
        let axis: usize =
            attribute(operands, "axis").and_then(|n| n.parse().ok()).ok_or("no axis")?;
        let given = attribute(operands, "given").ok_or("no arguments")?;
        let given: Vec<String> = given.split_whitespace().map(str::to_string).collect();
        let elements: Vec<Element> = tiles.iter().map(|tile| tile.element).collect();
        let region = Region { body, at, given, elements };
        let is_reverse = operands.contains("reverse") && !operands.contains("reverse = false");
        let to = types.rsplit("->").next().unwrap_or(types).trim();
        let to = list(to.trim_start_matches('(').trim_end_matches(')'));
        let shape = tiles.first().ok_or("no tile")?.shape.clone();
        if tiles.iter().any(|tile| tile.shape != shape) || to.len() != tiles.len() {
            return Err("tiles of other shapes".to_string());
        }
        let along = *shape.get(axis).ok_or("no such dimension")?;
        let inner: usize = shape[axis + 1..].iter().product();
        let all: usize = shape.iter().product();
        let mut out: Vec<Vec<Item>> = vec![vec![Item::exact(0); all]; tiles.len()];
        let mut left: Vec<Vec<Item>> = vec![Vec::new(); tiles.len()];
        for line in (0..all).filter(|i| (i / inner).is_multiple_of(along)) {
            if self.measuring {
                break;
            }
            let places: Vec<usize> = (0..along).map(|k| line + k * inner).collect();
            let row: Vec<Elements> =
                places.iter().map(|i| tiles.iter().map(|tile| tile.items[*i]).collect()).collect();
            if op == "reduce" {
                let one = self.reduce_line(&region, row)?;
                left.iter_mut().zip(one).for_each(|(to, item)| to.push(item));
            } else {
                let row = self.scan_line(&region, row, is_reverse)?;
                for (place, elements) in places.iter().zip(row) {
                    out.iter_mut().zip(elements).for_each(|(to, item)| to[*place] = item);
                }
            }
        }
        let results = list(results);
        for (number, name) in results.iter().enumerate() {
            let (shape, element) = tile_type(&to[number])?;
            let free = Item { bits: 0, sure: Sure::Free };
            let items = match (self.measuring, op) {
                (true, _) => Tile::filled(shape.clone(), element, free).items,
                (_, "reduce") => std::mem::take(&mut left[number]),
                _ => std::mem::take(&mut out[number]),
            };
            self.values
                .insert(name.trim().to_string(), Value::Tile(Tile { shape, element, items }));
        }
        Ok(end)
    }

    /// The extreme and what stands beside it.
    pub(super) fn extreme(
        &mut self,
        names: &[String],
        (tile, beside): (&Tile, &Tile),
        (operands, to): (&str, &str),
    ) -> Said<()> {
        let types = list(to.trim().trim_start_matches('(').trim_end_matches(')'));
        let ([extreme, place], [first, second]) = (names, &types[..]) else {
            return Err("two results".to_string());
        };
        let of = |ty: &str, items: Said<Vec<Item>>| -> Said<Value> {
            let (shape, element) = tile_type(ty)?;
            let items = match self.measuring {
                true => Tile::filled(shape.clone(), element, Item::exact(0)).items,
                false => items?,
            };
            Ok(Value::Tile(Tile { shape, element, items }))
        };
        let values = [
            of(first, extremes(tile, None, operands))?,
            of(second, extremes(tile, Some(beside), operands))?,
        ];
        self.values.extend([extreme, place].into_iter().cloned().zip(values));
        Ok(())
    }

    /// What the region makes of two elements each.
    fn both(&mut self, region: &Region<'_>, a: &Elements, b: &Elements) -> Said<Elements> {
        let elements = region.elements.iter().cycle();
        for ((name, item), element) in region.given.iter().zip(a.iter().chain(b)).zip(elements) {
            let tile = Tile { shape: Vec::new(), element: *element, items: vec![*item] };
            self.values.insert(name.clone(), Value::Tile(tile));
        }
        let (_, passed) = self.block(region.body, region.at + 1)?;
        let item = |value: &Value| match value {
            Value::Tile(tile) if tile.items.len() == 1 => Ok(tile.items[0]),
            Value::Index(number) => Ok(Item::exact(u64::from(*number as u32))),
            _ => Err("no element is passed out".to_string()),
        };
        passed.iter().map(item).collect()
    }

    fn reduce_line(&mut self, region: &Region<'_>, row: Vec<Elements>) -> Said<Elements> {
        let mut row = row;
        while row.len() > 1 {
            if row.len() % 2 == 1 {
                return Err("no power of two of elements".to_string());
            }
            let pairs: Vec<Vec<Elements>> = row.chunks(2).map(<[Elements]>::to_vec).collect();
            row = pairs
                .iter()
                .map(|pair| self.both(region, &pair[0], &pair[1]))
                .collect::<Said<_>>()?;
        }
        row.pop().ok_or("no element".to_string())
    }

    fn scan_line(
        &mut self,
        region: &Region<'_>,
        row: Vec<Elements>,
        is_reverse: bool,
    ) -> Said<Vec<Elements>> {
        let mut row = row;
        if is_reverse {
            row.reverse();
        }
        let mut run = 1;
        while run < row.len() {
            for at in (0..row.len()).filter(|at| at / run % 2 == 1) {
                let other = row[at / run * run - 1].clone();
                let own = row[at].clone();
                row[at] = self.both(region, &other, &own)?;
            }
            run *= 2;
        }
        if is_reverse {
            row.reverse();
        }
        // What is no number stays none: of narrow types a choice goes through a wider one.
        for elements in &mut row {
            for (item, element) in elements.iter_mut().zip(&region.elements) {
                let is_nan = !element.is_whole() && element.decode(item.bits).is_nan();
                if is_nan && item.sure == Sure::Bits {
                    item.sure = Sure::Nan;
                }
            }
        }
        Ok(row)
    }
}

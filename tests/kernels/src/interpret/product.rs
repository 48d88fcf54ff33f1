//! Sums of many elements: products of matrices, reductions.

use super::Said;
use super::element::Element;
use super::tile::{Item, Sure, Tile, lowest_bit};

/// How an architecture's matrix units compute.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UnitArithmetic {
    /// Element types of factors whose subnormal numbers are taken as zero, each with the extents (m, n,
    /// k) of the instructions that multiply them: what none of these takes is widened, and keeps them.
    pub flushed: Vec<(Element, Vec<[usize; 3]>)>,
    /// Element types of factors, and how many significant bits of each sum are kept where that is
    /// fewer than the sum's type has.
    pub kept: Vec<(Element, i32)>,
    /// Whether some multiply f32 of which they read 19 bits.
    pub reads_less: bool,
    /// Whether some multiply f32 as they are.
    pub reads_whole: bool,
}

impl UnitArithmetic {
    /// Whether subnormal factors of a product of these extents are zero.
    fn flushes(&self, element: Element, (m, n, k): (usize, usize, usize)) -> bool {
        let divides = |[rows, cols, depth]: &[usize; 3]| {
            let whole = |m: usize, n: usize| m.is_multiple_of(*rows) && n.is_multiple_of(*cols);
            k.is_multiple_of(*depth) && (whole(m, n) || whole(n, m))
        };
        self.flushed.iter().any(|(of, units)| *of == element && units.iter().any(divides))
    }
}

/// How a sum of many elements is held on the way.
#[derive(Clone, Copy)]
struct Held {
    /// Significant bits.
    bits: i32,
    /// How many halves of the last of them an addition may be off by: 1 to the nearest, 2 where it is
    /// cut off.
    halves: f64,
}

impl Held {
    /// Sums of lanes: in their element's type, each addition rounded.
    fn by_lanes(element: Element) -> Self {
        Self { bits: element.precision(), halves: 1.0 }
    }

    /// Sums of a matrix unit, which cuts off what is below the last bit (measured on an H100).
    fn by_unit(element: Element, factor: Element, unit: &UnitArithmetic) -> Self {
        let kept = unit.kept.iter().find(|(of, _)| *of == factor).map(|(_, bits)| *bits);
        let bits = kept.unwrap_or(i32::MAX).min(element.precision());
        Self { bits, halves: 2.0 }
    }
}

/// A sum in no particular order: exact if every order is.
fn unordered(
    element: Element,
    held: Held,
    (value, magnitude): (f64, f64),
    lowest: Option<i32>,
    terms: usize,
    error: f64,
) -> Item {
    if element.is_whole() {
        return Item::exact(element.encode(value));
    }
    // A sum on the way may be too large for its type, whatever the last one is.
    if !element.decode(element.encode(magnitude)).is_finite() {
        return Item { bits: element.encode(value), sure: Sure::Free };
    }
    // What is below the least number of the type is rounded on the way, and its sign with it.
    let least = element.step(0.0);
    let is_below = lowest.is_none_or(|bit| bit != i32::MAX && 2f64.powi(bit) < least);
    let exact = !is_below
        && lowest.is_some_and(|bit| {
            bit == i32::MAX || magnitude <= 2f64.powi(held.bits.saturating_add(bit))
        });
    if error == 0.0 && exact {
        let bits = element.encode(value);
        return Item { bits, sure: if value == 0.0 { Sure::Near(0.0) } else { Sure::Bits } };
    }
    let lost = if is_below { least } else { 0.0 };
    let rounding = terms as f64 * held.halves * (2f64.powi(-held.bits) * magnitude + lost);
    Item::rounded(element, value, error + rounding)
}

/// The sum of elements.
pub(super) fn sum(element: Element, items: &[Item]) -> Item {
    let values: Vec<f64> = items.iter().map(|i| element.decode(i.bits)).collect();
    let Some(errors) = items.iter().map(|i| i.error()).sum::<Option<f64>>() else {
        return Item { bits: 0, sure: Sure::Free };
    };
    let magnitude = values.iter().map(|v| v.abs()).sum();
    let held = Held::by_lanes(element);
    let sum = values.iter().sum();
    unordered(element, held, (sum, magnitude), lowest_bit(&values), items.len(), errors)
}

/// Values, errors (`None` if all are exact; infinite where nothing is known), lowest bit, and the
/// least normal number: a unit that aligns terms takes a smaller factor for as large.
type Factor = (Vec<f64>, Option<Vec<f64>>, Option<i32>, f64);

/// How large a term counts when the terms of a sum are aligned.
fn aligned([x, y]: [f64; 2], a: &Factor, b: &Factor) -> f64 {
    if x == 0.0 || y == 0.0 { 0.0 } else { x.abs().max(a.3) * y.abs().max(b.3) }
}

fn factor(tile: &Tile) -> Factor {
    let values = tile.values();
    let errors: Vec<f64> = tile.items.iter().map(|i| i.error().unwrap_or(f64::INFINITY)).collect();
    let lowest = lowest_bit(&values);
    let errors = errors.iter().any(|e| *e > 0.0).then_some(errors);
    (values, errors, lowest, tile.element.least_normal())
}

/// A product of factors that may have errors, plus what was there.
fn products(
    a: &Factor,
    b: &Factor,
    c: Option<&Tile>,
    (m, n, k): (usize, usize, usize),
    (element, held): (Element, Held),
) -> Vec<Item> {
    let (cv, ce): (Vec<f64>, Vec<f64>) = match c {
        Some(c) => {
            (c.values(), c.items.iter().map(|i| i.error().unwrap_or(f64::INFINITY)).collect())
        }
        None => (vec![0.0; m * n], vec![0.0; m * n]),
    };
    let lowest = a.2.zip(b.2).zip(lowest_bit(&cv)).map(|((a, b), c)| a.saturating_add(b).min(c));
    let mut out = Vec::with_capacity(m * n);
    let column: Vec<f64> = (0..n * k).map(|i| b.0[i % k * n + i / k]).collect();
    for i in 0..m {
        let row = &a.0[i * k..(i + 1) * k];
        for j in 0..n {
            let other = &column[j * k..(j + 1) * k];
            let (mut value, mut magnitude) = (cv[i * n + j], cv[i * n + j].abs());
            for (x, y) in row.iter().zip(other) {
                let p = x * y;
                value += p;
                magnitude += aligned([*x, *y], a, b);
            }
            let mut error = ce[i * n + j];
            for x in 0..k {
                let ea = a.1.as_ref().map_or(0.0, |e| e[i * k + x]);
                let eb = b.1.as_ref().map_or(0.0, |e| e[x * n + j]);
                if ea > 0.0 || eb > 0.0 {
                    error += ea * (other[x].abs() + eb) + eb * row[x].abs();
                }
            }
            // Zero times what is not known is not known either.
            let error = if error.is_nan() { f64::INFINITY } else { error };
            let item = unordered(element, held, (value, magnitude), lowest, k + 1, error);
            out.push(if error.is_infinite() { Item { sure: Sure::Free, ..item } } else { item });
        }
    }
    out
}

fn extents(a: &Tile, shape: &[usize]) -> Said<(usize, usize, usize)> {
    let ([m, k], [rows, n]) = (&a.shape[..], shape) else {
        return Err("two dimensions are known".to_string());
    };
    if m == rows { Ok((*m, *n, *k)) } else { Err("another number of rows".to_string()) }
}

/// Products of matrices, as many side by side as there are places along the dimensions in front.
fn side_by_side(
    tiles: &[Tile],
    shape: &[usize],
    one: impl Fn(&[Tile], &[usize]) -> Said<Vec<Item>>,
) -> Said<Vec<Item>> {
    let front = shape.len().checked_sub(2).ok_or("no matrix")?;
    if tiles.iter().any(|tile| tile.shape.get(..front) != shape.get(..front)) {
        return Err("extents that do not fit".to_string());
    }
    let mut out = Vec::new();
    for at in 0..shape[..front].iter().product() {
        let matrix = |tile: &Tile| {
            let size: usize = tile.shape[front..].iter().product();
            let items = tile.items[at * size..(at + 1) * size].to_vec();
            Tile { shape: tile.shape[front..].to_vec(), element: tile.element, items }
        };
        let matrices: Vec<Tile> = tiles.iter().map(matrix).collect();
        out.extend(one(&matrices, &shape[front..])?);
    }
    Ok(out)
}

/// Products of matrices; subnormal factors of the types that the unit flushes are zero.
pub(super) fn multiply(
    tiles: &[Tile],
    shape: &[usize],
    element: Element,
    unit: &UnitArithmetic,
) -> Said<Vec<Item>> {
    side_by_side(tiles, shape, |tiles, shape| multiply_one(tiles, shape, element, unit))
}

fn multiply_one(
    tiles: &[Tile],
    shape: &[usize],
    element: Element,
    unit: &UnitArithmetic,
) -> Said<Vec<Item>> {
    let (a, b) = tiles.first().zip(tiles.get(1)).ok_or("two factors")?;
    let at @ (_, n, k) = extents(a, shape)?;
    if b.shape != [k, n] || tiles.get(2).is_some_and(|c| c.shape != shape || c.element != element) {
        return Err("extents that do not fit".to_string());
    }
    let summed = (element, Held::by_unit(element, a.element, unit));
    if !unit.flushes(a.element, at) {
        return Ok(products(&factor(a), &factor(b), tiles.get(2), at, summed));
    }
    let without = |tile: &Tile| {
        let item =
            |i: &Item| if tile.element.is_subnormal(i.bits) { Item { bits: 0, ..*i } } else { *i };
        factor(&Tile { items: tile.items.iter().map(item).collect(), ..tile.clone() })
    };
    // What the sum lost on the way, and what was there before, is less than the least normal number
    // each time.
    let lost = k as f64 * 2.0 * f64::from(f32::MIN_POSITIVE);
    let mut out = products(&without(a), &without(b), tiles.get(2), at, summed);
    for item in &mut out {
        if let (true, Some(by)) = (element.decode(item.bits).abs() < 1e-30, item.error()) {
            item.sure = Sure::Near(by + lost);
        }
    }
    Ok(out)
}

/// Products of matrices whose factors are scaled, runs along the depth at a time.
pub(super) fn scaled(
    tiles: &[Tile],
    shape: &[usize],
    element: Element,
    unit: &UnitArithmetic,
) -> Said<Vec<Item>> {
    // Bytes are powers of two, as their exponents say.
    let powers: Vec<Tile> = (tiles.iter().cloned().enumerate())
        .map(|(number, tile)| match tile.element {
            Element::Whole { bits: 8, .. } if number > 2 => Tile { element: Element::E8m0, ..tile },
            _ => tile,
        })
        .collect();
    side_by_side(&powers, shape, |tiles, shape| scaled_one(tiles, shape, element, unit))
}

fn scaled_one(
    tiles: &[Tile],
    shape: &[usize],
    element: Element,
    unit: &UnitArithmetic,
) -> Said<Vec<Item>> {
    let [a, b, c, sa, sb] = tiles else { return Err("five operands".to_string()) };
    let at @ (_, n, k) = extents(a, shape)?;
    let runs = *sa.shape.last().ok_or("scales of no extent")?;
    let (pa, pb) = (sa.values(), sb.values());
    let side = |tile: &Tile, power: &dyn Fn(usize) -> f64| -> Factor {
        let values: Vec<f64> =
            tile.values().iter().enumerate().map(|(i, v)| v * power(i)).collect();
        let lowest = lowest_bit(&values);
        // Scales move the exponents of normal numbers and of others alike.
        (values, None, lowest, 0.0)
    };
    let left = side(a, &|i| pa[i / k * runs + i % k * runs / k]);
    let right = side(b, &|i| pb[i % n * runs + i / n * runs / k]);
    let summed = (element, Held::by_unit(element, a.element, unit));
    Ok(products(&left, &right, Some(c), at, summed))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sum below the least number of its type may be a zero of either sign, or that number; one
    /// that the type holds is fixed.
    #[test]
    fn sums_below_the_least_number() {
        let element = Element::of("f32").expect("a type");
        let of = |power: i32| {
            let value = -2f64.powi(power);
            unordered(element, Held::by_lanes(element), (value, -value), Some(power), 2, 0.0)
        };
        for got in [0, 1 << 31, (1 << 31) | 1] {
            assert!(of(-200).admits(element, got), "{got:x}");
        }
        assert!(!of(-200).admits(element, 0x0080_0000));
        assert_eq!(of(-149).sure, Sure::Bits);
        assert!(!of(-149).admits(element, 1 << 31));
    }
}

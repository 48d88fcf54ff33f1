//! Operations on tiles, element by element of the result.

use super::Said;
use super::element::Element;
use super::parts;
use super::product::{UnitArithmetic, multiply, scaled, sum};
use super::text::attribute;
use super::tile::{Item, Sure, Tile};
use lanebook::TABLES;
use lanebook::tables::{OpId, OpWord};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The result of an operation.
pub(super) fn compute(
    op: &str,
    attributes: &str,
    tiles: &[Tile],
    (shape, element): (Vec<usize>, Element),
    unit: &UnitArithmetic,
) -> Said<Tile> {
    let a = tiles.first().ok_or("no operand")?;
    let items = match op {
        "convert_layout" | "reshape" => same(a, element)?,
        "permute" => permuted(a, attributes)?,
        "arith.bitcast" | "tt.bitcast" => same_bits(a, element)?,
        "cast" if a.element.is_whole() || element.is_whole() => whole_cast(a, element)?,
        "cast" | "tt.fp_to_fp" => a.items.iter().map(|i| cast(a.element, element, *i)).collect(),
        "trans" => transpose(a, attributes)?,
        "mma" => match attribute(attributes, "precision").or(allowed(a, attributes, unit)) {
            Some("tf32") => multiply(&read(tiles), &shape, element, unit)?,
            Some("tf32x3") => in_three(tiles, &shape, element, unit)?,
            _ => multiply(tiles, &shape, element, unit)?,
        },
        "mma_scaled" => scaled(tiles, &shape, element, unit)?,
        "reduce" => reduce(a, attributes)?,
        "scan" => parts::scanned(a, attributes)?,
        "broadcast" => broadcast(a, attributes, &shape)?,
        _ => each(op, tiles, element)?,
    };
    if items.len() != shape.iter().product::<usize>() {
        return Err(format!("{} elements for {shape:?}", items.len()));
    }
    Ok(Tile { shape, element, items })
}

/// How factors may be read, where some unit reads them so.
fn allowed<'t>(a: &Tile, attributes: &'t str, unit: &UnitArithmetic) -> Option<&'t str> {
    let said = attribute(attributes, "inputPrecision");
    said.filter(|_| unit.reads_less && a.element == Element::F32)
}

/// Bits of an f32 that a unit for tf32 reads.
const READ: u64 = 0xffff_e000;

/// Factors as a unit reads them, and what is added.
fn read(tiles: &[Tile]) -> Vec<Tile> {
    let cut = |tile: &Tile| {
        let items = tile.items.iter().map(|i| Item { bits: i.bits & READ, ..*i }).collect();
        Tile { items, ..tile.clone() }
    };
    let mut out: Vec<Tile> = tiles.iter().take(2).map(cut).collect();
    out.extend(tiles.get(2).cloned());
    out
}

/// Three products: of what is read of each factor with the rest of the other one, and of both.
fn in_three(
    tiles: &[Tile],
    shape: &[usize],
    element: Element,
    unit: &UnitArithmetic,
) -> Said<Vec<Item>> {
    let high = read(tiles);
    let value = |item: &Item| f32::from_bits(item.bits as u32);
    let rest = |(own, high): (&Item, &Item)| Item {
        bits: u64::from((value(own) - value(high)).to_bits()),
        ..*own
    };
    let low: Vec<Tile> = tiles
        .iter()
        .zip(&high)
        .take(2)
        .map(|(own, high)| Tile {
            items: own.items.iter().zip(&high.items).map(rest).collect(),
            ..own.clone()
        })
        .collect();
    let low = read(&low);
    let mut sum = tiles.get(2).cloned();
    for (a, b) in [(&low[0], &high[1]), (&high[0], &low[1]), (&high[0], &high[1])] {
        let own: Vec<Tile> = [a, b].into_iter().cloned().chain(sum).collect();
        let items = multiply(&own, shape, element, unit)?;
        sum = Some(Tile { shape: shape.to_vec(), element, items });
    }
    Ok(sum.ok_or("no product")?.items)
}

fn same(a: &Tile, element: Element) -> Said<Vec<Item>> {
    if a.element == element {
        Ok(a.items.clone())
    } else {
        Err("elements of another type".to_string())
    }
}

/// The same bits as another type: known where all of them are.
fn same_bits(a: &Tile, to: Element) -> Said<Vec<Item>> {
    if a.element.bits() != to.bits() {
        return Err(format!("the bits of {:?} as {to:?}", a.element));
    }
    let of = |item: &Item| match item.sure {
        Sure::Bits | Sure::Unwritten | Sure::Free => *item,
        _ if a.element == to => *item,
        _ => Item { sure: Sure::Free, ..*item },
    };
    Ok(a.items.iter().map(of).collect())
}

fn cast(from: Element, to: Element, item: Item) -> Item {
    if from == to {
        return item;
    }
    let value = from.decode(item.bits);
    let Some(error) = item.error() else {
        return Item { bits: to.encode(value), sure: Sure::Free };
    };
    // What is no number among whole ones, and what lies beyond the greatest float of eight bits,
    // are not fixed.
    if (to.is_whole() && !value.is_finite())
        || (matches!(to, Element::Float8 { .. }) && value.abs() + error > to.greatest())
    {
        return Item { bits: 0, sure: Sure::Free };
    }
    Item::rounded(to, value, error).of_either_zero(to, [(value, item)])
}

/// A tile as one of another element type.
pub(super) fn converted(a: &Tile, to: Element) -> Said<Tile> {
    let items = match a.element.is_whole() || to.is_whole() {
        true => whole_cast(a, to)?,
        false => a.items.iter().map(|item| cast(a.element, to, *item)).collect(),
    };
    Ok(Tile { shape: a.shape.clone(), element: to, items })
}

/// The cast between whole numbers, or between these and floats: the types say what has a sign.
fn whole_cast(a: &Tile, to: Element) -> Said<Vec<Item>> {
    let plain = |element: Element| matches!(element, Element::Whole { signed: false, .. });
    match (a.element.is_whole(), to.is_whole()) {
        (true, false) => {
            between(if plain(a.element) { "arith.uitofp" } else { "arith.sitofp" }, a, to)
        }
        (false, _) => between(if plain(to) { "arith.fptoui" } else { "arith.fptosi" }, a, to),
        _ if a.element.bits() == to.bits() => same_bits(a, to),
        _ if a.element.bits() > to.bits() => resized("arith.trunci", a, to),
        _ => resized(if plain(a.element) { "arith.extui" } else { "arith.extsi" }, a, to),
    }
}

/// A tile as one of four dimensions, of which the inner two change places.
fn permuted(a: &Tile, attributes: &str) -> Said<Vec<Item>> {
    let number = |key| attribute(attributes, key).and_then(|v| v.parse::<usize>().ok());
    let (left, right) = number("left").zip(number("right")).ok_or("no groups")?;
    let run = number("run").unwrap_or(1);
    let outer = a.items.len() / (left * right * run);
    let shape = vec![outer, left, right, run];
    transpose(&Tile { shape, ..a.clone() }, "{order = [0, 2, 1, 3]}")
}

fn transpose(a: &Tile, attributes: &str) -> Said<Vec<Item>> {
    let rank = a.shape.len();
    let order: Vec<usize> = match attribute(attributes, "order") {
        Some(list) => list
            .trim_matches(['[', ']'])
            .split(',')
            .map(|n| n.trim().parse().map_err(|_| "an order"))
            .collect::<Result<_, _>>()?,
        None => (0..rank).rev().collect(),
    };
    if order.len() != rank || order.iter().any(|d| *d >= rank) {
        return Err("an order of other dimensions".to_string());
    }
    let stride = |dim: usize| a.shape[dim + 1..].iter().product::<usize>();
    Ok((0..a.items.len())
        .map(|i| {
            let (mut rest, mut at) = (i, 0);
            for dim in order.iter().rev() {
                at += rest % a.shape[*dim] * stride(*dim);
                rest /= a.shape[*dim];
            }
            a.items[at]
        })
        .collect())
}

fn reduce(narrow: &Tile, attributes: &str) -> Said<Vec<Item>> {
    let a = &widened(narrow);
    let axis: usize = attribute(attributes, "axis")
        .and_then(|v| v.parse().ok())
        .filter(|axis| *axis < a.shape.len())
        .ok_or("no axis")?;
    let inner: usize = a.shape[axis + 1..].iter().product();
    let along = a.shape[axis];
    let line =
        |i: usize| (0..along).map(move |j| a.items[(i / inner * along + j) * inner + i % inner]);
    let kind = attribute(attributes, "kind").ok_or("no kind")?;
    let items = (0..a.items.len() / along)
        .map(|i| combined(a.element, &line(i).collect::<Vec<_>>(), kind))
        .collect::<Said<_>>()?;
    narrowed(a.element, narrow.element, items)
}

/// What elements of 32 bits combine to, in any order.
pub(super) fn combined(element: Element, items: &[Item], kind: &str) -> Said<Item> {
    if let Some(bits) = bits_of(items, kind).filter(|_| element.is_whole()) {
        return Ok(bits);
    }
    // Sums and products of whole numbers wrap around in as many bits as they have.
    if let Element::Whole { bits, signed } = element
        && (bits == 64 || matches!(kind, "add" | "mul"))
    {
        let all = combined_exactly(signed, items, kind)?;
        return Ok(Item { bits: all.bits & (u64::MAX >> (64 - bits)), ..all });
    }
    match kind {
        "add" => Ok(sum(element, items)),
        "max" | "min" => items
            .iter()
            .copied()
            .reduce(|x, y| extreme(element, x, y, kind == "max"))
            // One that is no number may meet what changes none: the least, or the greatest.
            .map(|x| if items.len() == 1 { extreme(element, x, x, kind == "max") } else { x })
            .ok_or("no elements".to_string()),
        "mul" => Ok(product(element, items)),
        other => Err(format!("kind {other}")),
    }
}

/// What the bits of whole numbers combine to; `None` of a kind that is of numbers.
fn bits_of(items: &[Item], kind: &str) -> Option<Item> {
    let all = items.iter().map(|item| item.bits);
    let bits = match kind {
        "and" => all.reduce(|a, b| a & b)?,
        "or" => all.reduce(|a, b| a | b)?,
        "xor" => all.reduce(|a, b| a ^ b)?,
        _ => return None,
    };
    let is_known = items.iter().all(|item| item.sure == Sure::Bits);
    Some(Item { bits, sure: if is_known { Sure::Bits } else { Sure::Free } })
}

/// The same of whole numbers of 64 bits, of which an f64 does not hold all.
fn combined_exactly(signed: bool, items: &[Item], kind: &str) -> Said<Item> {
    // Numbers without a sign are in the order of those that have one, the highest bit exchanged.
    let turned = |bits: u64| if signed { bits as i64 } else { (bits ^ 1 << 63) as i64 };
    let all = items.iter().map(|item| item.bits);
    let bits = match kind {
        "add" => all.fold(0, u64::wrapping_add),
        "mul" => all.fold(1, u64::wrapping_mul),
        "max" => all.max_by_key(|bits| turned(*bits)).ok_or("no elements")?,
        "min" => all.min_by_key(|bits| turned(*bits)).ok_or("no elements")?,
        other => return Err(format!("kind {other}")),
    };
    let is_known = items.iter().all(|item| item.sure == Sure::Bits);
    Ok(Item { bits, sure: if is_known { Sure::Bits } else { Sure::Free } })
}

/// The same values as elements of 32 bits, where they have fewer.
pub(super) fn widened(a: &Tile) -> Tile {
    let element = match a.element {
        Element::Whole { bits, signed } if bits < 32 => Element::Whole { bits: 32, signed },
        Element::F16 | Element::Bf16 | Element::Float8 { .. } => Element::F32,
        same => same,
    };
    if element == a.element {
        return a.clone();
    }
    let wide = |item: &Item| Item { bits: element.encode(a.element.decode(item.bits)), ..*item };
    Tile { shape: a.shape.clone(), element, items: a.items.iter().map(wide).collect() }
}

/// Elements of 32 bits as narrower ones, rounded once.
pub(super) fn narrowed(from: Element, to: Element, items: Vec<Item>) -> Said<Vec<Item>> {
    if from == to {
        return Ok(items);
    }
    if from.is_whole() {
        let tile = Tile { shape: vec![items.len()], element: from, items };
        return resized("arith.trunci", &tile, to);
    }
    Ok(items.into_iter().map(|item| cast(from, to, item)).collect())
}

/// The extreme of each line, or the least of what stands beside its like in another tile: not fixed
/// where an element is not.
pub(super) fn extremes(a: &Tile, beside: Option<&Tile>, attributes: &str) -> Said<Vec<Item>> {
    let kind = attribute(attributes, "kind").ok_or("no kind")?;
    let plain = kind.strip_prefix("arg").ok_or("two tiles of one kind")?;
    let values = reduce(a, &attributes.replace(kind, plain))?;
    let Some(beside) = beside else { return Ok(values) };
    let axis: usize =
        attribute(attributes, "axis").and_then(|v| v.parse().ok()).ok_or("no axis")?;
    if beside.shape != a.shape {
        return Err("tiles of different shapes".to_string());
    }
    let inner: usize = a.shape[axis + 1..].iter().product();
    let along = a.shape[axis];
    let least = |(i, value): (usize, &Item)| {
        let places = (0..along).map(|j| (i / inner * along + j) * inner + i % inner);
        // Either zero is equal to both.
        let is_known =
            matches!(value.sure, Sure::Bits | Sure::Nan) || value.sure == Sure::Near(0.0);
        let (mut best, mut is_known) = (None, is_known);
        for at in places {
            is_known &= [a.items[at], beside.items[at]].iter().all(|item| item.sure == Sure::Bits);
            let (x, y) = (a.element.decode(a.items[at].bits), a.element.decode(value.bits));
            let own = beside.items[at].bits;
            let number = beside.element.decode(own);
            // An f64 does not hold all whole numbers of 64 bits.
            let is_long = matches!(a.element, Element::Whole { bits: 64, .. });
            let is_own = if is_long { a.items[at].bits == value.bits } else { x == y };
            let whole = match beside.element {
                Element::Whole { bits: 64, signed: true } => own as i64 as i128,
                Element::Whole { bits: 64, signed: false } => own as i128,
                _ => 0,
            };
            if is_own && best.is_none_or(|(least, _)| (number, whole) < least) {
                best = Some(((number, whole), own));
            }
        }
        match best {
            Some((_, bits)) if is_known => Item::exact(bits),
            // Of a line without numbers: the greatest one.
            None if is_known && matches!(beside.element, Element::Whole { signed: true, .. }) => {
                Item::exact(u64::MAX >> (65 - beside.element.bits()))
            }
            _ => Item { bits: 0, sure: Sure::Free },
        }
    };
    Ok(values.iter().enumerate().map(least).collect())
}

/// The product of all in any order: not fixed where some order leaves the range on its way.
fn product(element: Element, items: &[Item]) -> Item {
    let values: Vec<f64> = items.iter().map(|item| element.decode(item.bits)).collect();
    let (large, small) = values.iter().fold((1.0f64, 1.0f64), |(l, s), v| {
        (l * v.abs().max(1.0), if *v == 0.0 { s } else { s * v.abs().min(1.0) })
    });
    let errors: Option<f64> = items
        .iter()
        .zip(&values)
        .map(|(item, v)| item.error().map(|e| if e == 0.0 { 0.0 } else { e / v.abs() }))
        .sum();
    match errors {
        Some(errors) if large < 1e37 && small > 1e-37 => {
            let value: f64 = values.iter().product();
            Item::rounded(
                element,
                value,
                value.abs() * (errors + values.len() as f64 * 2f64.powi(-23)),
            )
        }
        _ => Item { bits: 0, sure: Sure::Free },
    }
}

fn broadcast(a: &Tile, attributes: &str, shape: &[usize]) -> Said<Vec<Item>> {
    let axis = attribute(attributes, "axis").and_then(|v| v.parse::<usize>().ok());
    // With one element along a dimension that the operand lacks.
    let mut extents = a.shape.clone();
    if extents.len() + 1 == shape.len() {
        extents.insert(axis.filter(|axis| *axis < shape.len()).ok_or("no axis")?, 1);
    }
    let fits = |(own, to): (&usize, &usize)| own == to || *own == 1;
    if extents.len() != shape.len() || !extents.iter().zip(shape).all(fits) {
        return Err("extents that cannot be repeated".to_string());
    }
    let count = shape.iter().product();
    Ok((0..count)
        .map(|i: usize| {
            let (mut rest, mut step, mut at) = (i, 1, 0);
            for (own, to) in extents.iter().zip(shape).rev() {
                if *own > 1 {
                    at += rest % to * step;
                }
                step *= own;
                rest /= to;
            }
            a.items[at]
        })
        .collect())
}

/// The greater or the smaller one.
pub(super) fn extreme(element: Element, x: Item, y: Item, greater: bool) -> Item {
    let (a, b) = (element.decode(x.bits), element.decode(y.bits));
    let (Some(ex), Some(ey)) = (x.error(), y.error()) else {
        return Item { bits: 0, sure: Sure::Free };
    };
    if a.is_nan() || b.is_nan() {
        // Of a number and a quiet NaN the number.
        let quiet = |item: Item| item.bits >> (element.precision() - 2) & 1 == 1;
        return match (a.is_nan(), b.is_nan()) {
            (false, true) if ex == 0.0 && ey == 0.0 && quiet(y) => x,
            (true, false) if ex == 0.0 && ey == 0.0 && quiet(x) => y,
            _ => Item { bits: x.bits, sure: Sure::Free },
        };
    }
    let chosen = if (a > b) == greater { x } else { y };
    match () {
        // Of a zero whose sign is open, so is that of the result.
        () if x.sure != Sure::Bits || y.sure != Sure::Bits => {
            Item { sure: Sure::Near(ex.max(ey)), ..chosen }
        }
        () if a == b && x.bits != y.bits => Item { sure: Sure::Near(0.0), ..chosen },
        () => chosen,
    }
}

/// What an operand's error becomes: how fast the function moves, and how near another value of it
/// is that has no bound.
struct Moved {
    value: f64,
    error: f64,
}

/// By how much of its result a function may be off: as many units in the last place of an f32, or
/// of an f64, as are said of the instructions, and of the sequence, that do it, whichever is most.
/// What is said is what they are held to.
///
/// # Panics
/// If nothing is said of it.
fn share(op: &str, element: Element) -> f64 {
    type Said = BTreeMap<(OpId, bool), u16>;
    static SAID: OnceLock<Said> = OnceLock::new();
    let said = SAID.get_or_init(|| {
        let mut said = Said::new();
        let mut take = |op: OpId, is_wide: bool, ulp: u16| {
            let most: &mut u16 = said.entry((op, is_wide)).or_default();
            *most = ulp.max(*most);
        };
        for does in TABLES.atoms.iter().filter_map(|atom| atom.does) {
            if let OpWord::Op(id) = does.op {
                take(id, false, u16::from(does.ulp));
            }
        }
        // Of narrow types more is said by their own rounding.
        for (name, is_wide) in [("f32", false), ("f64", true)] {
            let own = TABLES.dtype_named(name);
            for one in TABLES.sequences.iter().filter(|one| Some(one.to) == own) {
                take(one.op, is_wide, one.ulp);
            }
        }
        said
    });
    let is_wide = element == Element::F64;
    let key = TABLES.op_named(op).map(|id| (id, is_wide));
    let ulp = key.and_then(|key| said.get(&key).copied());
    // Of 64 bits some are rounded once.
    let ulp = ulp.filter(|ulp| *ulp > 0 || is_wide);
    let ulp = ulp.unwrap_or_else(|| panic!("no accuracy is said of {op}"));
    if is_wide {
        // The host's functions, which have 64 bits as well, are off themselves.
        let own = if op == "math.erf" { 3 } else { 1 };
        f64::from(ulp + own) * f64::EPSILON
    } else {
        f64::from(ulp) / 8_388_608.0
    }
}

fn function((op, element): (&str, Element), x: f64, by: f64, f: impl Fn(f64) -> f64) -> Moved {
    let value = f(x);
    let (low, high) = (f(x - by), f(x + by));
    let moved = (high - value).abs().max((low - value).abs());
    Moved { value, error: moved + value.abs() * share(op, element) + vanishing(value, element) }
}

/// A subnormal result of a function may be 0.
fn vanishing(value: f64, element: Element) -> f64 {
    let least = match element {
        Element::F64 => f64::MIN_POSITIVE,
        _ => f64::from(f32::MIN_POSITIVE),
    };
    if value.abs() < 2.0 * least { least } else { 0.0 }
}

/// Whether a subnormal operand may count as 0: where one of this number is of such a function.
fn may_vanish(op: &str, operand: usize) -> bool {
    match op {
        "log" | "math.log2" | "math.sqrt" | "rsqrt" | "rcp" => operand == 0,
        "div" => operand == 1,
        _ => false,
    }
}

/// Sine or cosine: what is said of it is said of arguments up to 2^16.
fn waves((op, element): (&str, Element), x: f64, by: f64, f: impl Fn(f64) -> f64) -> Moved {
    let value = f(x);
    let known = x.is_nan() || x.is_infinite() || x.abs() <= 65536.0;
    let error = if known {
        by + value.abs() * share(op, element) + vanishing(value, element)
    } else {
        f64::INFINITY
    };
    Moved { value, error }
}

/// A function that jumps from one whole number to the next.
fn stepped(x: f64, by: f64, f: impl Fn(f64) -> f64) -> Moved {
    let (value, low, high) = (f(x), f(x - by), f(x + by));
    let error = if by == 0.0 { 0.0 } else { (high - value).abs().max((low - value).abs()) };
    Moved { value, error }
}

/// `a b + c` of short floats, rounded further as the number itself is: their product is exact, and
/// what the sum leaves out makes it odd.
fn fused(a: f64, b: f64, c: f64) -> f64 {
    let product = a * b;
    let sum = product + c;
    let share = sum - product;
    let left = (product - (sum - share)) + (c - share);
    if left == 0.0 || !sum.is_finite() || !left.is_finite() {
        return sum;
    }
    let beyond = (left < 0.0) != (sum < 0.0);
    f64::from_bits((sum.to_bits() - u64::from(beyond)) | 1)
}

/// What no error is said of is rounded once: functions of 64 bits. A subnormal result may be
/// rounded before it is brought to its size.
fn exact(op: &str, v: &[f64], e: &[f64]) -> Option<Moved> {
    let value = match (op, v) {
        ("div", [a, b]) => a / b,
        ("math.sqrt", [a]) => a.sqrt(),
        ("rcp", [a]) => 1.0 / a,
        _ => return None,
    };
    let is_small = value != 0.0 && value.abs() <= f64::MIN_POSITIVE;
    let error = if is_small { f64::from_bits(1) } else { 0.0 };
    e.iter().all(|e| *e == 0.0).then_some(Moved { value, error })
}

fn one(op: &str, element: Element, v: &[f64], e: &[f64]) -> Said<Moved> {
    if let Some(moved) = exact(op, v, e).filter(|_| element == Element::F64) {
        return Ok(moved);
    }
    let single = element == Element::F32;
    let word = (op, element);
    // Near 1 logarithms of 32 bits are as far off as their greater ones.
    let near_one = if element == Element::F64 { 0.0 } else { 1.0 };
    Ok(match (op, v, e) {
        ("add", [a, b], [ea, eb]) => Moved { value: a + b, error: ea + eb },
        ("sub", [a, b], [ea, eb]) => Moved { value: a - b, error: ea + eb },
        ("mul", [a, b], [ea, eb]) => {
            Moved { value: a * b, error: a.abs() * eb + b.abs() * ea + ea * eb }
        }
        ("fma", [a, b, c], [ea, eb, ec]) => Moved {
            value: match element {
                Element::F64 => a.mul_add(*b, *c),
                _ if single => f64::from((*a as f32).mul_add(*b as f32, *c as f32)),
                _ => fused(*a, *b, *c),
            },
            error: if ea + eb + ec > 0.0 {
                a.abs() * eb + b.abs() * ea + ea * eb + ec
            } else {
                0.0
            },
        },
        ("neg", [a], [e]) => Moved { value: -a, error: *e },
        ("math.absf", [a], [e]) => Moved { value: a.abs(), error: *e },
        ("math.floor", [a], [e]) => stepped(*a, *e, f64::floor),
        ("math.ceil", [a], [e]) => stepped(*a, *e, f64::ceil),
        ("math.roundeven", [a], [e]) => stepped(*a, *e, f64::round_ties_even),
        ("math.trunc", [a], [e]) => stepped(*a, *e, f64::trunc),
        ("math.log2", [a], [e]) => {
            let moved = function(word, *a, *e, f64::log2);
            Moved { error: moved.error + near_one * share(op, element), ..moved }
        }
        ("math.sqrt", [a], [e]) if a.abs() <= *e && *e > 0.0 => {
            Moved { value: a.max(0.0).sqrt(), error: (a.abs() + e).sqrt() }
        }
        ("math.sqrt", [a], [e]) => function(word, *a, *e, f64::sqrt),
        ("div", [a, b], [ea, eb]) => {
            let far = if *eb > 0.0 {
                (a.abs() + ea) / (b.abs() - eb).max(0.0) - a.abs() / b.abs()
            } else {
                ea / b.abs()
            };
            Moved {
                value: a / b,
                error: far + (a / b).abs() * share(op, element) + vanishing(a / b, element),
            }
        }
        ("exp", [a], [e]) => function(word, *a, *e, f64::exp),
        ("exp2", [a], [e]) => function(word, *a, *e, f64::exp2),
        ("log", [a], [e]) => {
            let moved = function(word, *a, *e, f64::ln);
            Moved { error: moved.error + near_one * share(op, element), ..moved }
        }
        // Near their zeros sine and cosine are as far off as their argument is, once it is reduced.
        ("math.sin", [a], [e]) => waves(word, *a, *e, f64::sin),
        ("math.cos", [a], [e]) => waves(word, *a, *e, f64::cos),
        ("math.tanh", [a], [e]) => function(word, *a, *e, f64::tanh),
        ("math.erf", [a], [e]) => function(word, *a, *e, super::truth::erf),
        ("rsqrt", [a], [e]) => function(word, *a, *e, |x| 1.0 / x.sqrt()),
        ("rcp", [a], [e]) if a.abs() <= *e && *e > 0.0 => {
            Moved { value: 1.0 / a, error: f64::INFINITY }
        }
        ("rcp", [a], [e]) => function(word, *a, *e, |x| 1.0 / x),
        _ => return Err(format!("operation {op} of {} operands", v.len())),
    })
}

/// Of whole numbers every bit; `None` where the operation does not fix it.
fn whole(op: &str, element: Element, operands: &[u64]) -> Said<Option<u64>> {
    let bits = element.bits();
    let (a, b) = (operands.first().copied().unwrap_or(0), operands.get(1).copied());
    let signed = |n: u64| (((n << (64 - bits)) as i64) >> (64 - bits)) as i128;
    let (x, y) = (signed(a), signed(b.unwrap_or(0)));
    let (p, q) = (i128::from(a), i128::from(b.unwrap_or(0)));
    let out = match (op, b) {
        ("add", Some(_)) => x + y,
        ("sub", Some(_)) => x - y,
        ("mul", Some(_)) => x * y,
        ("tt.mulhiui" | "mulhiui", Some(b)) => {
            ((u128::from(a) * u128::from(b)) >> bits).cast_signed()
        }
        ("divsi" | "divui" | "remsi" | "remui", Some(0)) => return Ok(None),
        ("divsi", Some(_)) => x / y,
        ("divui", Some(_)) => p / q,
        ("remsi", Some(_)) => x % y,
        ("remui", Some(_)) => p % q,
        ("neg", None) => -x,
        ("math.absf", None) => x.abs(),
        ("fma", Some(_)) => x * y + signed(operands.get(2).copied().unwrap_or(0)),
        ("max", Some(_)) if matches!(element, Element::Whole { signed: false, .. }) => p.max(q),
        ("min", Some(_)) if matches!(element, Element::Whole { signed: false, .. }) => p.min(q),
        ("max", Some(_)) => x.max(y),
        ("min", Some(_)) => x.min(y),
        ("clamp", Some(_)) => {
            let high = operands.get(2).copied().unwrap_or(0);
            if matches!(element, Element::Whole { signed: false, .. }) {
                p.max(q).min(i128::from(high))
            } else {
                x.max(y).min(signed(high))
            }
        }
        ("arith.andi", Some(_)) => p & q,
        ("arith.ori", Some(_)) => p | q,
        ("arith.xori", Some(_)) => p ^ q,
        ("arith.maxsi", Some(_)) => x.max(y),
        ("arith.minsi", Some(_)) => x.min(y),
        ("arith.maxui", Some(_)) => p.max(q),
        ("arith.minui", Some(_)) => p.min(q),
        ("arith.shli" | "arith.shrui" | "arith.shrsi", Some(_)) if q >= i128::from(bits) => {
            return Ok(None);
        }
        ("arith.shli", Some(_)) => p << q,
        ("arith.shrui", Some(_)) => p >> q,
        ("arith.shrsi", Some(_)) => x >> q,
        _ => return Err(format!("operation {op} of whole numbers")),
    };
    Ok(Some(out as u64 & (u64::MAX >> (64 - bits))))
}

/// Operations on whole numbers. What is not sure of an operand is not of the result.
fn each_whole(op: &str, tiles: &[Tile], element: Element) -> Said<Vec<Item>> {
    let count = tiles.first().map_or(0, |tile| tile.items.len());
    (0..count)
        .map(|i| {
            let sure = tiles.iter().all(|tile| tile.items[i].sure == Sure::Bits);
            let operands: Vec<u64> = tiles.iter().map(|tile| tile.items[i].bits).collect();
            let bits = whole(op, element, &operands)?;
            // Nothing is in common with nothing, whatever the other is.
            let is_none = |tile: &Tile| tile.items[i].sure == Sure::Bits && tile.items[i].bits == 0;
            if op == "arith.andi" && tiles.iter().any(is_none) {
                return Ok(Item::exact(0));
            }
            Ok(match bits.filter(|_| sure) {
                Some(bits) => Item::exact(bits),
                None => Item { bits: bits.unwrap_or(0), sure: Sure::Free },
            })
        })
        .collect()
}

/// Conversions between whole numbers and floats by name, with and without signs. A float that is
/// no number of the type is the type's nearest one, no number is 0.
fn between(op: &str, a: &Tile, to: Element) -> Said<Vec<Item>> {
    let (bits, plain) =
        (if to.is_whole() { to.bits() } else { a.element.bits() }, op.contains("ui"));
    if to.is_whole() == a.element.is_whole() {
        return Err(format!("{op} from {:?} to {to:?}", a.element));
    }
    let most = if plain { (1i128 << bits) - 1 } else { (1i128 << (bits - 1)) - 1 };
    let least = if plain { 0 } else { -most - 1 };
    Ok(a.items
        .iter()
        .map(|item| {
            if !to.is_whole() {
                let signed = i128::from((item.bits << (64 - bits)) as i64 >> (64 - bits));
                let value = near(to, if plain { i128::from(item.bits) } else { signed });
                let is_fixed =
                    !matches!(to, Element::Float8 { .. }) || value.abs() <= to.greatest();
                let known = item.sure == Sure::Bits && is_fixed;
                let out = Item::rounded(to, value, 0.0);
                return if known { out } else { Item { sure: Sure::Free, ..out } };
            }
            let value = a.element.decode(item.bits);
            let whole = if value.is_nan() { 0 } else { (value.trunc() as i128).clamp(least, most) };
            let out = whole as u64 & (u64::MAX >> (64 - bits));
            let known = matches!(item.sure, Sure::Bits | Sure::Nan) || item.sure == Sure::Near(0.0);
            if known { Item::exact(out) } else { Item { bits: out, sure: Sure::Free } }
        })
        .collect())
}

/// A whole number as a float that is rounded further to a type as the number itself is.
fn near(to: Element, whole: i128) -> f64 {
    let value = whole as f64;
    if to == Element::F64 || value as i128 == whole {
        return value;
    }
    // The odd one of the two that it lies between.
    let beyond = (value as i128).abs() > whole.abs();
    f64::from_bits((value.to_bits() - u64::from(beyond)) | 1)
}

/// Whole numbers with more or fewer bits.
fn resized(op: &str, a: &Tile, to: Element) -> Said<Vec<Item>> {
    let (from, bits) = (a.element.bits(), to.bits());
    if !a.element.is_whole() || !to.is_whole() || (op == "arith.trunci") != (bits < from) {
        return Err(format!("{op} from {:?} to {to:?}", a.element));
    }
    let own = |bits: u64| {
        if op == "arith.extsi" {
            ((bits << (64 - from)) as i64 >> (64 - from)) as u64
        } else {
            bits
        }
    };
    let out = |item: &Item| Item { bits: own(item.bits) & (u64::MAX >> (64 - bits)), ..*item };
    Ok(a.items.iter().map(out).collect())
}

fn each(op: &str, tiles: &[Tile], element: Element) -> Said<Vec<Item>> {
    let count = tiles.first().map_or(0, |t| t.items.len());
    if let Some(out) = super::truth::each(op, tiles, element) {
        return out;
    }
    if let ("arith.sitofp" | "arith.uitofp" | "arith.fptosi" | "arith.fptoui", [a]) = (op, tiles) {
        return between(op, a, element);
    }
    if let ("arith.extsi" | "arith.extui" | "arith.trunci", [a]) = (op, tiles) {
        return resized(op, a, element);
    }
    if element.is_whole() && tiles.iter().all(|t| t.items.len() == count && t.element == element) {
        return each_whole(op, tiles, element);
    }
    if tiles.iter().any(|t| t.items.len() != count || t.element != element) {
        return Err("tiles of different types".to_string());
    }
    if let ("clamp", [a, low, high]) = (op, tiles) {
        let inside = a.items.iter().zip(&low.items).map(|(x, y)| extreme(element, *x, *y, true));
        return Ok(inside.zip(&high.items).map(|(x, y)| extreme(element, x, *y, false)).collect());
    }
    if let ("max" | "min", [a, b]) = (op, tiles) {
        return Ok(a
            .items
            .iter()
            .zip(&b.items)
            .map(|(x, y)| extreme(element, *x, *y, op == "max"))
            .collect());
    }
    let mut out = Vec::with_capacity(count);
    for i in 0..count {
        let items: Vec<Item> = tiles.iter().map(|t| t.items[i]).collect();
        let values: Vec<f64> = items.iter().map(|x| element.decode(x.bits)).collect();
        let errors: Option<Vec<f64>> = items.iter().map(|x| x.error()).collect();
        let vanishes = |(k, x): (usize, &Item)| {
            may_vanish(op, k)
                && element != Element::F64
                && (element.is_subnormal(x.bits)
                    || Element::F32.is_subnormal(Element::F32.encode(element.decode(x.bits))))
        };
        let known = errors.is_some() && !items.iter().enumerate().any(vanishes);
        let moved = one(op, element, &values, &errors.unwrap_or_else(|| vec![0.0; items.len()]))?;
        let item = Item::rounded(element, moved.value, moved.error)
            .of_either_zero(element, values.iter().copied().zip(items));
        // What lies beyond the greatest float of eight bits is not fixed.
        let beyond = matches!(element, Element::Float8 { .. })
            && moved.value.abs() + moved.error > element.greatest();
        out.push(if known && !beyond { item } else { Item { sure: Sure::Free, ..item } });
    }
    Ok(out)
}

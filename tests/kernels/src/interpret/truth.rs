//! Comparisons, choices, and what is said of a NaN.

use super::Said;
use super::compute::extreme;
use super::element::Element;
use super::tile::{Item, Sure, Tile};

/// The result of an operation of truths; `None` if it is none.
pub(super) fn each(op: &str, tiles: &[Tile], element: Element) -> Option<Said<Vec<Item>>> {
    match (op, tiles) {
        ("select", [p, a, b]) => Some(select(p, a, b, element)),
        ("arith.maximumf" | "arith.minimumf", [a, b]) => {
            let greater = op == "arith.maximumf";
            let one = |(x, y): (&Item, &Item)| proper(element, *x, *y, greater);
            Some(Ok(a.items.iter().zip(&b.items).map(one).collect()))
        }
        (_, [a, b]) => {
            let kind = op.strip_prefix("compare.")?;
            Some(
                a.items
                    .iter()
                    .zip(&b.items)
                    .map(|(x, y)| compare(kind, a.element, *x, *y))
                    .collect(),
            )
        }
        _ => None,
    }
}

fn select(p: &Tile, a: &Tile, b: &Tile, element: Element) -> Said<Vec<Item>> {
    if a.element != element || b.element != element {
        return Err("a selection of other elements".to_string());
    }
    let pairs = a.items.iter().zip(&b.items);
    // One truth may choose of whole tiles.
    let all = if p.items.len() == 1 { a.items.len() } else { 1 };
    Ok(p.items
        .iter()
        .cycle()
        .take(p.items.len() * all)
        .zip(pairs)
        .map(|(p, (x, y))| {
            let chosen = if p.bits & 1 == 1 { *x } else { *y };
            // A NaN stays one: of narrow types it goes through a wider one.
            let nan = !element.is_whole() && element.decode(chosen.bits).is_nan();
            match p.sure {
                Sure::Bits if nan && chosen.sure == Sure::Bits => {
                    Item { sure: Sure::Nan, ..chosen }
                }
                Sure::Bits => chosen,
                _ => Item { sure: Sure::Free, ..chosen },
            }
        })
        .collect())
}

/// The greater or the smaller one; no number where one of them is none.
fn proper(element: Element, x: Item, y: Item, greater: bool) -> Item {
    let none = |item: Item| element.decode(item.bits).is_nan();
    match (x.error(), y.error()) {
        (Some(_), Some(_)) if none(x) || none(y) => {
            Item { bits: element.encode(f64::NAN), sure: Sure::Nan }
        }
        (Some(_), Some(_)) => extreme(element, x, y, greater),
        _ => Item { bits: 0, sure: Sure::Free },
    }
}

fn compare(kind: &str, element: Element, x: Item, y: Item) -> Said<Item> {
    let (bits, whole) = (element.bits(), element.is_whole());
    let signed = |n: u64| ((n << (64 - bits)) as i64) >> (64 - bits);
    let order = match (whole, kind) {
        (true, "ult" | "ule" | "ugt" | "uge") => Some(x.bits.cmp(&y.bits)),
        (true, _) => Some(signed(x.bits).cmp(&signed(y.bits))),
        _ => element.decode(x.bits).partial_cmp(&element.decode(y.bits)),
    };
    let relation = match (whole, kind) {
        (true, "eq" | "ne") => kind,
        (true, _) if kind.starts_with(['s', 'u']) => &kind[1..],
        (false, "ord" | "uno") => kind,
        (false, _) if kind.starts_with(['o', 'u']) => &kind[1..],
        _ => return Err(format!("comparison {kind} of {element:?}")),
    };
    let holds = match (relation, order) {
        ("ord", _) => order.is_some(),
        ("uno", _) => order.is_none(),
        (_, None) => kind.starts_with('u'),
        ("eq", Some(o)) => o.is_eq(),
        ("ne", Some(o)) => o.is_ne(),
        ("lt", Some(o)) => o.is_lt(),
        ("le", Some(o)) => o.is_le(),
        ("gt", Some(o)) => o.is_gt(),
        ("ge", Some(o)) => o.is_ge(),
        (other, _) => return Err(format!("comparison {other}")),
    };
    // Values that are nearer to each other than they are known may compare either way.
    let known = match (x.error(), y.error()) {
        (Some(a), Some(b)) if a + b == 0.0 => true,
        (Some(a), Some(b)) => {
            order.is_some() && (element.decode(x.bits) - element.decode(y.bits)).abs() > a + b
        }
        _ => false,
    };
    let sure = if known { Sure::Bits } else { Sure::Free };
    Ok(Item { bits: holds.into(), sure })
}

/// A number in two parts, the second below the first's last place.
#[derive(Clone, Copy)]
struct Double(f64, f64);

impl Double {
    fn of(a: f64, b: f64) -> Self {
        let sum = a + b;
        let share = sum - a;
        Self(sum, (a - (sum - share)) + (b - share))
    }

    fn times(self, other: Self) -> Self {
        let product = self.0 * other.0;
        let rest = self.0.mul_add(other.0, -product) + (self.0 * other.1 + self.1 * other.0);
        Self::of(product, rest)
    }

    fn over(self, by: f64) -> Self {
        let quotient = self.0 / by;
        let rest = (-quotient).mul_add(by, self.0) + self.1;
        Self::of(quotient, rest / by)
    }

    fn plus(self, other: Self) -> Self {
        let sum = Self::of(self.0, other.0);
        Self::of(sum.0, sum.1 + self.1 + other.1)
    }
}

/// The error function, within three units in the last place.
pub(super) fn erf(x: f64) -> f64 {
    if x.is_nan() || x.abs() > 6.0 {
        return if x.is_nan() { x } else { x.signum() };
    }
    let square = Double(x, 0.0).times(Double(x, 0.0));
    let falls = (-square.0).exp() * (1.0 - square.1);
    if x.abs() > 2.0 {
        // 1 - e^(-x^2) / (sqrt(pi) (x + (1/2) / (x + 1 / (x + (3/2) / (x + ..))))).
        let below = (1..200).rev().fold(x.abs(), |rest, n| x.abs() + f64::from(n) / 2.0 / rest);
        return x.signum() * (1.0 - std::f64::consts::FRAC_2_SQRT_PI / 2.0 * falls / below);
    }
    // 2 / sqrt(pi) e^(-x^2) sum of 2^n x^(2n+1) / (1 * 3 * .. * (2n+1)): all of one sign.
    let twice = square.plus(square);
    let (mut term, mut sum, mut n) = (Double(x, 0.0), Double(x, 0.0), 0.0);
    while term.0.abs() > sum.0.abs() * 1e-18 && n < 400.0 {
        n += 1.0;
        term = term.times(twice).over(2.0 * n + 1.0);
        sum = sum.plus(term);
    }
    std::f64::consts::FRAC_2_SQRT_PI * falls * sum.0
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_error_function() {
        for (x, want) in [
            (0.5, 0.520_499_877_813_046_5),
            (1.0, 0.842_700_792_949_714_9),
            (1e-300, 1.128_379_167_095_512_6e-300),
            (1.999, 0.995_301_556_651_370_5),
            (2.0, 0.995_322_265_018_952_7),
            (2.5, 0.999_593_047_982_555),
            (5.5, 0.999_999_999_999_992_6),
        ] {
            let near = |got: f64| (got - want).abs() <= 3.0 * f64::EPSILON * want;
            assert!(near(super::erf(x)) && near(-super::erf(-x)), "{x}: {}", super::erf(x));
        }
        assert_eq!(super::erf(0.0), 0.0);
        assert_eq!(super::erf(f64::INFINITY), 1.0);
    }
}

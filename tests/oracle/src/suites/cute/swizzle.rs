//! Swizzles on integers, and composed layouts `S o offset o L`.

use super::super::Verdict;
use super::peers::{Ours, PLAIN, Rules, input, judge as compare, layout, texts, tuple};
use super::reference::{Composed, Flat};
use super::rules;
use super::tiling::{expected, tiles_of, with_tiler};
use lanebook_layout::{AxisId, Layout, Swizzle, Unit, cute, ops};
use serde_json::Value;

/// A swizzle applied to integers.
pub fn apply(r: &Value) -> Verdict {
    let text = input(r, "swizzle");
    let numbers: Option<Vec<i8>> = text
        .trim_start_matches("S<")
        .trim_end_matches('>')
        .split(',')
        .map(|n| n.trim().parse().ok())
        .collect();
    let Some([b, m, s]) = numbers.as_deref() else {
        return Verdict::Differ(format!("input not understood: {text}"));
    };
    let swizzle = match (u8::try_from(*b), u8::try_from(*m)) {
        (Ok(b), Ok(m)) => Swizzle::new(b, m, *s, Unit::Codomain),
        _ => return Verdict::Differ(format!("input not understood: {text}")),
    };
    let values: Option<Vec<u64>> =
        input(r, "x").split(',').map(|x| x.trim().parse().ok()).collect();
    let Some(values) = values else {
        return Verdict::Differ("input not understood".to_owned());
    };
    let ours = Ours::text(swizzle.map(|sw| {
        let moved: Vec<String> = values.iter().map(|x| sw.apply(*x).to_string()).collect();
        moved.join(",")
    }));
    // The peers replace a triple whose fields overlap by their default, the identity.
    let kept = values.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
    let wrong = |peer: &str| {
        (s.unsigned_abs() < b.unsigned_abs() && peer == kept).then_some(rules::DEFAULTED)
    };
    compare(r, &ours, &Rules { wrong: &wrong, ..PLAIN })
}

/// An operation on a composed layout.
pub fn judge(op: &str, r: &Value) -> Verdict {
    attempt(op, r).unwrap_or_else(|why| Verdict::Differ(format!("input not understood: {why}")))
}

fn attempt(op: &str, r: &Value) -> Result<Verdict, String> {
    let l = layout(&input(r, "layout"))?;
    let v = l.view();
    let plain = |ours: Ours| compare(r, &ours, &PLAIN);
    Ok(match op {
        "composed_eval" => eval(r, &l),
        "composed_cosize" => cosize(r, &l),
        "composed_coalesce" => plain(Ours::exact(ops::coalesce(&v))),
        "composed_composition" => composition(r, &l)?,
        "composed_zipped_divide" => {
            let tiler = input(r, "b");
            let ours = with_tiler(&tiler, |t| Ours::function(cute::zipped_divide(&v, t)))?;
            let whole = Composed::parse(&input(r, "layout")).ok_or("the layout")?.inner;
            let inner = |text: &str| Composed::parse(text).map(|c| c.inner);
            expected("zipped_divide", &whole, &tiler).compare(r, &ours, rules::TILING, &inner)
        }
        "composed_tile_to_shape" => {
            let (shape, order) = (tuple(&input(r, "shape"))?, tuple(&input(r, "order"))?);
            let ours = Ours::function(cute::tile_to_shape(&v, shape.view(), order.view()));
            let block = Composed::parse(&input(r, "layout")).ok_or("the layout")?.inner;
            tiled(r, &ours, &block)
        }
        "composed_slice" => slice(r, &l)?,
        "composed_slice_and_offset" => slice_and_offset(r, &l)?,
        _ => Verdict::Unexplained("an operation that the suite does not know"),
    })
}

/// A block over a shape is a blocked product.
pub fn tiled(r: &Value, ours: &Ours, block: &Flat) -> Verdict {
    let tiles = tiles_of(block, &input(r, "shape"), &input(r, "order")).unwrap_or_default();
    let inner = |text: &str| Composed::parse(text).map(|c| c.inner);
    expected("blocked_product", block, &tiles).compare(r, ours, rules::TILING, &inner)
}

/// The recorded table, point by point.
fn eval(r: &Value, l: &Layout) -> Verdict {
    let Some(table) = r.get("table").and_then(Value::as_array) else {
        return Verdict::Skipped(rules::NOBODY);
    };
    for (x, expected) in table.iter().enumerate() {
        let found = l.view().offset_on(x as u64, AxisId::M);
        if found.ok() != expected.as_i64() {
            return Verdict::Differ(format!(
                "{} at {x}: peer {expected}, lanebook {found:?}",
                r["in"]
            ));
        }
    }
    let size = l.view().size_value().ok().and_then(|s| usize::try_from(s).ok());
    if size != Some(table.len()) {
        return Verdict::Differ(format!("{}: {size:?} values against {}", r["in"], table.len()));
    }
    Verdict::Agree
}

/// The swizzled image, counted.
fn cosize(r: &Value, l: &Layout) -> Verdict {
    let ours = l.view().cosize(AxisId::M);
    let counted = Composed::parse(&input(r, "layout")).and_then(|c| c.table());
    let counted = counted.and_then(|t| t.into_iter().max()).map(|top| top + 1);
    let law = || match (counted, ours) {
        (Some(c), Ok(o)) if c != o => Err(format!("counted {c}")),
        _ => Ok(()),
    };
    let differs = || {
        if counted.is_some() {
            return (counted == ours.ok()).then_some(rules::SWIZZLED_COSIZE);
        }
        // The reach without the swizzle, which moves positions within their period only.
        let whole = Composed::parse(&input(r, "layout"))?;
        let inner: i64 = whole.inner.leaves().iter().map(|l| (l.0 - 1) * l.1).sum::<i64>() + 1;
        let period = 1i64 << (whole.triple.0 + whole.triple.1 + whole.triple.2.unsigned_abs());
        let top = whole.offset + inner;
        let within = ours.is_ok_and(|o| o > 0 && o <= (top / period + 1) * period);
        let theirs = texts(r).iter().any(|t| *t == inner.to_string());
        (within && theirs).then_some(rules::SWIZZLED_COSIZE_BOUND)
    };
    compare(r, &Ours::text(ours), &Rules { law: &law, differs: &differs, ..PLAIN })
}

/// `S o offset o (L o B)`; a peer's answer whose inner composition is wrong may be refused.
fn composition(r: &Value, l: &Layout) -> Result<Verdict, String> {
    let b_text = input(r, "b");
    let ours = with_tiler(&b_text, |t| Ours::function(cute::composition(&l.view(), t)))?;
    let expected = || -> Option<Vec<i64>> {
        let (a, b) =
            (Composed::parse(&input(r, "layout"))?, super::reference::Flat::parse(&b_text)?);
        let (bits, base, shift) = a.triple;
        let inner = a.inner.leaves();
        let place = |x: i64| {
            let y = u64::try_from(super::reference::at(&inner, x) + a.offset).ok()?;
            i64::try_from(super::reference::swizzle(bits, base, shift, y)).ok()
        };
        b.table()?.into_iter().map(place).collect()
    };
    let holds = |text: &str| {
        let table = Composed::parse(text).and_then(|c| c.table());
        table.is_some() && table == expected()
    };
    let law = || {
        if holds(&ours.words()) { Ok(()) } else { Err("not S(offset + L(B(i)))".to_owned()) }
    };
    let wrong = |peer: &str| (!holds(peer)).then_some(rules::COMPOSITION);
    let rules = Rules { law: &law, wrong: &wrong, refused_by_peers: rules::PEER_REFUSES, ..PLAIN };
    Ok(compare(r, &ours, &rules))
}

/// The positions of a slice, by walking all coordinates of the whole: the reference for both
/// slices.
fn sliced(r: &Value) -> Option<Vec<i64>> {
    let whole = Composed::parse(&input(r, "layout"))?;
    let coord = super::reference::Tree::parse(&input(r, "coord"))?;
    let super::reference::Tree::Tuple(parts) = coord else {
        return None;
    };
    // Only whole modes are left open or fixed in these records; anything else is not walked.
    let mut tables = Vec::new();
    for (mode, part) in whole.inner.modes.iter().zip(&parts) {
        match part {
            super::reference::Tree::Leaf(text) if text == "_" => {
                tables.push(super::reference::table(mode)?)
            }
            super::reference::Tree::Leaf(text) => {
                tables.push(vec![super::reference::at(mode, text.parse().ok()?)]);
            }
            super::reference::Tree::Tuple(_) => return None,
        }
    }
    let (b, m, s) = whole.triple;
    let place = |y: i64| {
        let y = u64::try_from(y + whole.offset).ok()?;
        i64::try_from(super::reference::swizzle(b, m, s, y)).ok()
    };
    super::reference::sum_table(&tables)?.into_iter().map(place).collect()
}

/// A slice is the same positions in the same order; the peer may have turned the swizzle into
/// strides.
fn slice(r: &Value, l: &Layout) -> Result<Verdict, String> {
    let coord = tuple(&input(r, "coord"))?;
    let ours = Ours::function(cute::slice(coord.view(), &l.view()));
    let table = Composed::parse(&ours.words()).and_then(|c| c.table());
    let law = || match sliced(r) {
        Some(expected) if table.as_ref() != Some(&expected) => {
            Err("not the positions of the whole".to_owned())
        }
        _ => Ok(()),
    };
    // The peer's slice starts at its own first position where it turned the swizzle into strides.
    let same = |peer: &str| {
        let Some(theirs) = Composed::parse(peer) else {
            return false;
        };
        let (Some(ours), Some(values)) = (&table, theirs.table()) else {
            return false;
        };
        let moved = theirs.triple.0 == 0 && theirs.offset == 0;
        let (x, y) = (ours.first().copied().unwrap_or(0), values.first().copied().unwrap_or(0));
        let shift = if moved { x - y } else { 0 };
        ours.len() == values.len() && ours.iter().zip(&values).all(|(a, b)| *a == b + shift)
    };
    if law().is_ok() && texts(r).iter().any(|t| same(t)) {
        return Ok(Verdict::Agree);
    }
    let differs = || (table.is_some() && table == sliced(r)).then_some(rules::SLICE);
    let rules =
        Rules { law: &law, differs: &differs, refused_by_peers: rules::PEER_REFUSES, ..PLAIN };
    Ok(compare(r, &ours, &rules))
}

/// As [`slice()`], with the offset beside the layout.
fn slice_and_offset(r: &Value, l: &Layout) -> Result<Verdict, String> {
    let coord = tuple(&input(r, "coord"))?;
    let answer = cute::slice_and_offset(coord.view(), &l.view());
    let total = answer.as_ref().ok().and_then(|(part, offset)| {
        let offset = offset.value().ok()?;
        let values = Composed::parse(&super::peers::show(part))?.table()?;
        Some(values.into_iter().map(|y| y + offset).collect::<Vec<i64>>())
    });
    let ours = Ours::text(
        answer.map(|(part, offset)| format!("{} @ {}", super::peers::show(&part), offset.coeff())),
    );
    let law = || match sliced(r) {
        Some(expected) if total.as_ref() != Some(&expected) => {
            Err("not the positions of the whole".to_owned())
        }
        _ => Ok(()),
    };
    let peer_total = |text: &str, twice: bool| {
        let (part, offset) = text.rsplit_once(" @ ")?;
        let offset: i64 = offset.trim().parse().ok()?;
        let part = Composed::parse(part)?;
        let held = twice && part.triple.0 != 0;
        let shift = if held { 0 } else { offset };
        let values = part.table()?;
        let stated = values.first() == Some(&offset);
        (!held || stated).then(|| values.into_iter().map(|y| y + shift).collect::<Vec<i64>>())
    };
    let agrees = |twice| texts(r).iter().any(|t| total.is_some() && peer_total(t, twice) == total);
    if law().is_ok() && agrees(false) {
        return Ok(Verdict::Agree);
    }
    let differs = || {
        if agrees(true) {
            return Some(rules::OFFSET_TWICE);
        }
        (total.is_some() && total == sliced(r)).then_some(rules::SLICE)
    };
    let rules =
        Rules { law: &law, differs: &differs, refused_by_peers: rules::PEER_REFUSES, ..PLAIN };
    Ok(compare(r, &ours, &rules))
}

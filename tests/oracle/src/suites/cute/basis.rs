//! Layouts on numbered axes.

use super::super::Verdict;
use super::boxes;
use super::peers::{Ours, PLAIN, Rules, input, judge as compare, layout, show, show_tuple, tuple};
use super::reference::{self, Flat, Leaf};
use super::rules;
use super::tiling::{Expected, answer, expected, with_tiler};
use lanebook_layout::{Error, Layout, cute, ops};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The verdict on one record.
pub fn judge(op: &str, r: &Value) -> Verdict {
    attempt(op, r).unwrap_or_else(|why| Verdict::Differ(format!("input not understood: {why}")))
}

fn attempt(op: &str, r: &Value) -> Result<Verdict, String> {
    let own = || layout(&input(r, "layout"));
    let plain = |ours: Ours| compare(r, &ours, &PLAIN);
    Ok(match op {
        "make_identity_layout" => {
            let shape = tuple(&input(r, "shape"))?;
            plain(Ours::exact(cute::make_identity_layout(shape.view())))
        }
        "make_layout" => plain(Ours::exact(Ok(layout(&outermost_last(&input(r, "text")))?))),
        "coalesce" => coalesce(r, &own()?),
        "cosize" => cosize(r, &own()?),
        "complement" if input(r, "cotarget").starts_with('(') => {
            let shape = tuple(&input(r, "cotarget"))?;
            let ours = Ours::function(cute::complement_in(&own()?.view(), shape.view()));
            boxes::complement(r, &ours)
        }
        "complement" => complement(r, &own()?)?,
        "composition" => composition(r, &input(r, "layout"))?,
        "composition_int_basis" => composition(r, &input(r, "a"))?,
        "filter_zeros" => zero_basis(r, Ours::exact(cute::filter_zeros(&own()?.view()))),
        "nullspace" => zero_basis(r, Ours::function(cute::nullspace(&own()?.view()))),
        "left_inverse" => inverse(r, cute::left_inverse(&own()?.view()), false),
        "right_inverse" => inverse(r, cute::right_inverse(&own()?.view()), true),
        "recast_layout" => {
            let bits = |key: &str| input(r, key).parse::<u16>().map_err(|e| e.to_string());
            plain(Ours::function(cute::recast(
                &own()?.view(),
                bits("new_bits")?,
                bits("old_bits")?,
            )))
        }
        "slice" => {
            let coord = tuple(&input(r, "coord"))?;
            let open = cute::slice(coord.view(), &own()?.view()).and_then(|l| without_offset(&l));
            plain(Ours::exact(open))
        }
        _ if op.ends_with("_divide") || op.ends_with("_product") => {
            let l = own()?;
            let ours = with_tiler(&input(r, "b"), |t| answer(op, &l.view(), t))?;
            match input(r, "b").contains('@') {
                true if op.ends_with("_divide") => boxes::divide(r, &ours),
                true => boxes::product(op, r, &ours),
                false if op.ends_with("_divide") => divide(op, r, ours),
                false => Verdict::Unexplained("a product of coordinates with integers"),
            }
        }
        _ => Verdict::Unexplained("an operation that the suite does not know"),
    })
}

/// The recorder wrote the paths of its own input outermost first, unlike the peer and all answers.
fn outermost_last(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('@') {
        let end = rest[at..].find([',', ')']).map_or(rest.len(), |k| at + k);
        out.push_str(&rest[..at]);
        for mode in rest[at..end].split('@').skip(1).collect::<Vec<_>>().into_iter().rev() {
            out.push('@');
            out.push_str(mode);
        }
        rest = &rest[end..];
    }
    out + rest
}

/// The layout without what a slice added.
fn without_offset(l: &Layout) -> Result<Layout, Error> {
    let v = l.view();
    Layout::from_ref(lanebook_layout::LayoutRef { offset: &[], ..v })
}

/// The box that holds the image, counted axis by axis.
fn cosize(r: &Value, l: &Layout) -> Verdict {
    let ours = Ours::text(cute::cosize(&l.view()));
    let leaves = Flat::parse(&input(r, "layout")).map(|f| f.leaves()).unwrap_or_default();
    let law = || {
        let reach =
            |axis: &String| 1 + along(&leaves, axis).iter().map(|l| (l.0 - 1) * l.1).sum::<i64>();
        let size: i64 = axes(&leaves).iter().map(reach).product();
        let plain = leaves.iter().all(|l| l.1 >= 0);
        if !plain || ours.words() == size.to_string() {
            Ok(())
        } else {
            Err(format!("counted {size}"))
        }
    };
    let wrong = |_: &str| nests(&leaves, false).then_some(rules::NESTED);
    compare(r, &ours, &Rules { law: &law, wrong: &wrong, refused_by_peers: idle(&leaves), ..PLAIN })
}

/// The rule under which an answer stands that the peer refuses, if axes nest through an idle one.
fn idle(leaves: &[Leaf]) -> &'static str {
    if nests(leaves, true) { rules::IDLE_AXIS } else { "" }
}

/// The merged layout, and the coordinates of the first indices.
fn coalesce(r: &Value, l: &Layout) -> Verdict {
    let v = l.view();
    let leaves = Flat::parse(&input(r, "layout")).map(|f| f.leaves()).unwrap_or_default();
    if let Err(Error::NestedAxes { .. }) = cute::coordinate(&v, 0) {
        // The peer evaluates until two such axes meet.
        return if nests(&leaves, false) {
            Verdict::Refused(rules::NESTED)
        } else {
            Verdict::Differ(r["in"].to_string())
        };
    }
    if let Some(coords) = r.get("coords").and_then(Value::as_array) {
        for (x, expected) in coords.iter().enumerate() {
            let found = cute::coordinate(&v, x as u64).map(|t| show_tuple(&t));
            if found.as_deref().ok() != expected.as_str() {
                return Verdict::Differ(format!(
                    "{} at {x}: peer {expected}, lanebook {found:?}",
                    r["in"]
                ));
            }
        }
    } else if r.get("coords_err").is_some() && !nests(&leaves, true) {
        return Verdict::Differ(format!("{}: the peer has no coordinates, lanebook has", r["in"]));
    }
    compare(r, &Ours::function(ops::coalesce(&v)), &PLAIN)
}

/// The axes along which some leaf moves.
pub fn axes(leaves: &[Leaf]) -> BTreeSet<String> {
    let moving = leaves.iter().filter(|l| l.0 != 1 && l.1 != 0);
    moving.map(|l| l.2.clone()).collect()
}

/// The leaves as seen along one axis.
pub fn along(leaves: &[Leaf], axis: &str) -> Vec<Leaf> {
    leaves.iter().map(|(s, d, a)| (*s, if a == axis { *d } else { 0 }, String::new())).collect()
}

fn complement(r: &Value, l: &Layout) -> Result<Verdict, String> {
    let total = tuple(&input(r, "cotarget"))?.view().product().map_err(|e| format!("{e:?}"))?;
    let ours = Ours::function(ops::complement(&l.view(), total));
    let leaves = Flat::parse(&input(r, "layout")).map(|f| f.leaves()).unwrap_or_default();
    let own = axes(&leaves);
    let wrong = |text: &str| match ours {
        Ours::Refused(Error::WrongAxis { .. }) if own.len() > 1 => Some(rules::BASIS_COMPLEMENT),
        Ours::Refused(Error::NotInjective { .. } | Error::Interleaved { .. }) => {
            let axis = own.first()?;
            let found = Flat::parse(text)?.leaves();
            let empty = found.iter().any(|l| l.0 < 1);
            let moving: Vec<Leaf> = along(&leaves, axis).into_iter().filter(|l| l.1 != 0).collect();
            let both = [reference::table(&moving)?, reference::table(&along(&found, axis))?];
            let all = reference::sum_table(&both)?;
            let distinct: BTreeSet<i64> = all.iter().copied().collect();
            (empty || distinct.len() < all.len()).then_some(rules::COMPLEMENT)
        }
        _ => None,
    };
    // On one axis the answer is the complement of integers; the peer nests it, and may add other
    // axes.
    let differs = || {
        // Where nothing moves, the axis of the first leaf stands for all.
        let axis = own.first().or(leaves.first().map(|l| &l.2))?;
        let expected = reference::complement(&along(&leaves, axis), total.value().ok()?)?;
        let found = Flat::parse(&ours.words())?.leaves();
        let same = reference::table(&along(&found, axis)) == reference::table(&expected);
        (own.len() <= 1 && axes(&found).iter().all(|a| a == axis) && same)
            .then_some(rules::BASIS_COMPLEMENT_AXES)
    };
    let rules =
        Rules { wrong: &wrong, differs: &differs, refused_by_peers: rules::PEER_REFUSES, ..PLAIN };
    Ok(compare(r, &ours, &rules))
}

/// The position of each index on each axis: `A(B(i))`, where a path in `B` picks a mode of `A`.
fn composed(a: &str, b: &str) -> Option<BTreeMap<String, Vec<i64>>> {
    let (a, b) = (Flat::parse(a)?, Flat::parse(b)?);
    let mut out = BTreeMap::new();
    if b.leaves().iter().all(|l| l.2.is_empty()) {
        let points = b.table()?;
        // The last leaf is unbounded, whatever its extent.
        let moving: BTreeSet<String> =
            a.leaves().into_iter().filter(|l| l.1 != 0).map(|l| l.2).collect();
        for axis in moving {
            let leaves = along(&a.leaves(), &axis);
            out.insert(axis, points.iter().map(|x| reference::at(&leaves, *x)).collect());
        }
        return Some(out);
    }
    // Paths of one number only: deeper ones would need the tree.
    let mut sum: Vec<i64> = vec![0; usize::try_from(b.size()).ok()?];
    for axis in axes(&b.leaves()) {
        let mode = a.modes.get(axis.parse::<usize>().ok()?)?;
        for (slot, x) in sum.iter_mut().zip(reference::table(&along(&b.leaves(), &axis))?) {
            *slot += reference::at(mode, x);
        }
    }
    out.insert(String::new(), sum);
    Some(out)
}

fn composition(r: &Value, a_text: &str) -> Result<Verdict, String> {
    let (a, b_text) = (layout(a_text)?, input(r, "b"));
    let ours = with_tiler(&b_text, |t| Ours::function(cute::composition(&a.view(), t)))?;
    let expected = composed(a_text, &b_text);
    let holds = |text: &str| {
        let Some(found) = Flat::parse(text) else {
            return false;
        };
        let leaves = found.leaves();
        expected.as_ref().is_some_and(|e| {
            let moving = axes(&leaves);
            moving.iter().all(|axis| e.contains_key(axis))
                && e.iter()
                    .all(|(axis, t)| reference::table(&along(&leaves, axis)).as_ref() == Some(t))
        })
    };
    let law = || {
        if expected.is_none() || holds(&ours.words()) {
            Ok(())
        } else {
            Err("not A(B(i))".to_owned())
        }
    };
    let wrong = |peer: &str| match ours {
        Ours::Refused(Error::NestedAxes { .. }) => Some(rules::NESTED),
        _ => (expected.is_some() && !holds(peer)).then_some(rules::COMPOSITION),
    };
    let rules = Rules { law: &law, wrong: &wrong, refused_by_peers: rules::PEER_REFUSES, ..PLAIN };
    Ok(compare(r, &ours, &rules))
}

/// A divide holds if it does along every axis.
fn divide(op: &str, r: &Value, ours: Ours) -> Verdict {
    let (whole, tiler) = (Flat::parse(&input(r, "layout")), input(r, "b"));
    let axes = whole.as_ref().map(|f| axes(&f.leaves())).unwrap_or_default();
    let seen =
        |l: &Flat, axis: &str| Flat { modes: l.modes.iter().map(|m| along(m, axis)).collect() };
    // `None` where the definition gives nothing, or too much to walk.
    let holds = |text: &str| -> Option<bool> {
        let (whole, found) = (whole.as_ref()?, Flat::parse(text)?);
        let mut all = true;
        for axis in &axes {
            match expected(op, &seen(whole, axis), &tiler) {
                Expected::Table(expected) => all &= seen(&found, axis).table()? == expected,
                // The tile has no complement on any axis.
                Expected::Nothing(_) => all &= found.leaves().iter().all(|l| l.0 > 0),
                Expected::Open => return None,
            }
        }
        Some(all)
    };
    let law = || match holds(&ours.words()) {
        Some(true) => Ok(()),
        Some(false) => Err("not the positions of the whole".to_owned()),
        None => Err("nothing to hold it against".to_owned()),
    };
    let wrong = |peer: &str| (holds(peer) == Some(false)).then_some(rules::TILING);
    let rules = Rules { law: &law, wrong: &wrong, ..PLAIN };
    compare(r, &ours, &rules)
}

/// Whether a numbered axis is the prefix of another; `idle`: counting those that nothing moves
/// along.
fn nests(leaves: &[Leaf], idle: bool) -> bool {
    let own = leaves.iter().filter(|l| idle || (l.0 != 1 && l.1 != 0));
    let all: BTreeSet<&String> = own.map(|l| &l.2).collect();
    all.iter().any(|a| all.iter().any(|b| b.ends_with(&format!("@{a}"))))
}

/// Where a zero basis makes the difference.
fn zero_basis(r: &Value, ours: Ours) -> Verdict {
    let text = input(r, "layout");
    let zero =
        Flat::parse(&text).is_some_and(|f| f.leaves().iter().any(|l| l.1 == 0 && !l.2.is_empty()));
    let differs = || zero.then_some(rules::ZERO_BASIS);
    compare(r, &ours, &Rules { differs: &differs, ..PLAIN })
}

/// An inverse: coordinates back to indices, checked at every index (left) or coordinate (right).
fn inverse(r: &Value, answer: Result<Layout, Error>, right: bool) -> Verdict {
    let text = input(r, "layout");
    let found = answer.clone();
    let ours = Ours::function(answer);
    let holds = |inverse: &Layout| -> Option<bool> {
        let original = layout(&text).ok()?;
        let v = original.view();
        let still: Vec<i64> = Flat::parse(&text)?.leaves().iter().map(|l| l.1).collect();
        let extents: Vec<i64> = Flat::parse(&text)?.leaves().iter().map(|l| l.0).collect();
        if right {
            let points: Vec<i64> = Flat::parse(&show(inverse))?.table()?;
            let distinct: BTreeSet<i64> = points.iter().copied().collect();
            // On the inverse's own image it undoes the layout; so the layout undoes it.
            let back = |y: &i64| -> Option<bool> {
                let coord = cute::coordinate(&v, u64::try_from(*y).ok()?).ok()?;
                Some(cute::crd2idx(coord.view(), &inverse.view()).ok()?.value().ok()? == *y)
            };
            return Some(
                distinct.len() == points.len() && points.iter().all(|y| back(y) == Some(true)),
            );
        }
        for i in 0..u64::try_from(reference::size(&Flat::parse(&text)?.leaves())).ok()? {
            let coord = cute::coordinate(&v, i).ok()?;
            let back = cute::crd2idx(coord.view(), &inverse.view()).ok()?.value().ok()?;
            let (mut rest, mut weight, mut expected) = (i64::try_from(i).ok()?, 1, 0);
            for (extent, stride) in extents.iter().zip(&still) {
                expected += if *stride == 0 { 0 } else { (rest % extent) * weight };
                rest /= extent;
                weight *= extent;
            }
            if back != expected {
                return Some(false);
            }
        }
        Some(true)
    };
    let law = || match &found {
        Ok(l) if holds(l) == Some(false) => Err("does not lead back".to_owned()),
        _ => Ok(()),
    };
    let leaves = Flat::parse(&text).map(|f| f.leaves()).unwrap_or_default();
    let differs = || nests(&leaves, true).then_some(rules::IDLE_AXIS);
    let wrong = |peer: &str| match &found {
        Err(Error::NestedAxes { .. }) => Some(rules::NESTED),
        Err(_) if !right => {
            layout(peer).is_ok_and(|p| holds(&p) != Some(true)).then_some(rules::LEFT_INVERSE)
        }
        _ => None,
    };
    let refused_by_peers =
        if nests(&leaves, true) { rules::IDLE_AXIS } else { rules::PEER_REFUSES };
    compare(r, &ours, &Rules { law: &law, differs: &differs, wrong: &wrong, refused_by_peers })
}

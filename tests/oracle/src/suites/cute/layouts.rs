//! Operations on one layout, and layouts made from shapes.

use super::super::Verdict;
use super::peers::{
    Ours, PLAIN, Rules, input, judge as compare, layout, show, show_tuple, texts, tuple,
};
use super::reference::{self, Flat};
use super::rules;
use super::swizzle::tiled;
use lanebook_layout::{AxisId, Error, Int, Layout, cute, ops};
use serde_json::Value;
use std::collections::BTreeSet;

/// The verdict on one record.
pub fn judge(op: &str, r: &Value) -> Verdict {
    attempt(op, r).unwrap_or_else(|why| Verdict::Differ(format!("input not understood: {why}")))
}

fn attempt(op: &str, r: &Value) -> Result<Verdict, String> {
    let own = || layout(&input(r, "layout"));
    let tree = |key: &str| tuple(&input(r, key));
    let plain = |ours: Ours| compare(r, &ours, &PLAIN);
    Ok(match op {
        "size" => plain(Ours::text(own()?.view().size_value())),
        "rank" => plain(Ours::Text(own()?.view().rank().to_string())),
        "depth" => plain(Ours::Text(own()?.view().profile.depth().to_string())),
        "cosize" => cosize(r, &own()?),
        "flatten" => plain(Ours::exact(ops::flatten(&own()?.view()))),
        "coalesce" => plain(Ours::exact(ops::coalesce(&own()?.view()))),
        "coalesce_profile" => {
            let ours = cute::coalesce_by_profile(&own()?.view(), tree("profile")?.view());
            plain(Ours::exact(ours))
        }
        "filter" => plain(Ours::exact(cute::filter(&own()?.view()))),
        "filter_zeros" => plain(Ours::exact(cute::filter_zeros(&own()?.view()))),
        "nullspace" => nullspace(r, &own()?),
        "right_inverse" => right_inverse(r, &own()?),
        "left_inverse" => left_inverse(r, &own()?),
        "complement" | "complement_shape" => {
            let total = tree("cotarget")?.view().product().map_err(|e| format!("{e:?}"))?;
            complement(r, &own()?, total)
        }
        "group_modes" => {
            let end = |key: &str| input(r, key).parse::<i16>().map_err(|e| e.to_string());
            plain(Ours::exact(cute::group_modes(&own()?.view(), end("begin")?, end("end")?)))
        }
        "select" => {
            let modes = input(r, "mode");
            let modes =
                modes.trim_matches(['[', ']']).split(',').map(|m| m.trim().parse::<usize>());
            let modes: Vec<usize> = modes.collect::<Result<_, _>>().map_err(|e| e.to_string())?;
            plain(Ours::exact(cute::select(&own()?.view(), &modes)))
        }
        // The layout alone: what is fixed moves the start, which the peers do not print here.
        "slice" => plain(Ours::exact(
            cute::slice_and_offset(tree("coord")?.view(), &own()?.view()).map(|p| p.0),
        )),
        "slice_and_offset" => {
            let ours = cute::slice_and_offset(tree("coord")?.view(), &own()?.view());
            plain(Ours::text(
                ours.and_then(|(l, offset)| Ok(format!("{} @ {}", show(&l), offset.value()?))),
            ))
        }
        "dice" => plain(Ours::exact(cute::dice(tree("coord")?.view(), &own()?.view()))),
        "make_ordered_layout" => plain(Ours::exact(cute::make_ordered_layout(
            tree("shape")?.view(),
            tree("order")?.view(),
        ))),
        "make_layout_like" => {
            let ours = Ours::exact(cute::make_layout_like(&own()?.view()));
            let aliases = |text: &str| {
                let mut leaves = Flat::parse(text).map(|l| l.leaves()).unwrap_or_default();
                leaves.retain(|l| l.1 != 0);
                let table = reference::table(&leaves).unwrap_or_default();
                table.iter().collect::<BTreeSet<_>>().len() != table.len()
            };
            let law = || {
                if aliases(&ours.words()) { Err("it aliases".to_owned()) } else { Ok(()) }
            };
            let differs = || texts(r).iter().all(|t| aliases(t)).then_some(rules::LIKE_TIES);
            compare(r, &ours, &Rules { law: &law, differs: &differs, ..PLAIN })
        }
        "tile_to_shape" => {
            let atom = layout(&input(r, "atom"))?;
            let ours =
                cute::tile_to_shape(&atom.view(), tree("shape")?.view(), tree("order")?.view());
            let block = Flat::parse(&input(r, "atom")).ok_or("the atom")?;
            tiled(r, &Ours::function(ours), &block)
        }
        "make_layout_tv" => thread_value(r)?,
        _ => common(op, r)?,
    })
}

/// The image's greatest position plus 1, counted.
fn cosize(r: &Value, l: &Layout) -> Verdict {
    let ours = l.view().cosize(AxisId::M);
    let flat = Flat::parse(&input(r, "layout"));
    let law = || match (&flat.as_ref().and_then(Flat::table), ours) {
        (Some(table), Ok(ours)) => {
            let counted = table.iter().max().map_or(1, |top| top + 1);
            if counted == ours { Ok(()) } else { Err(format!("counted {counted}")) }
        }
        _ => Ok(()),
    };
    let negative = flat.as_ref().is_some_and(|f| f.leaves().iter().any(|l| l.1 < 0));
    let differs = || negative.then_some(rules::NEGATIVE_COSIZE);
    compare(r, &Ours::text(ours), &Rules { law: &law, differs: &differs, ..PLAIN })
}

/// Every index of the nullspace adds nothing.
fn nullspace(r: &Value, l: &Layout) -> Verdict {
    let ours = Ours::function(cute::nullspace(&l.view()));
    let law = || {
        let (Some(a), Some(n)) = (Flat::parse(&input(r, "layout")), Flat::parse(&ours.words()))
        else {
            return Err("unreadable".to_owned());
        };
        let still: i64 = a.leaves().iter().filter(|l| l.1 == 0).map(|l| l.0).product();
        let table = n.table().unwrap_or_default();
        let distinct: BTreeSet<i64> = table.iter().copied().collect();
        let moved = table.iter().any(|x| reference::at(&a.leaves(), *x) != 0);
        if moved || n.size() != still || distinct.len() != table.len() {
            return Err("an index moves, or one is missing".to_owned());
        }
        Ok(())
    };
    let rules = Rules { law: &law, refused_by_peers: rules::PYTHON, ..PLAIN };
    compare(r, &ours, &rules)
}

/// `A(R(i)) = i`.
fn right_inverse(r: &Value, l: &Layout) -> Verdict {
    let ours = Ours::function(ops::right_inverse(&l.view()));
    let law = || leads_back(&input(r, "layout"), &ours.words());
    compare(r, &ours, &Rules { law: &law, ..PLAIN })
}

/// Whether `outer(inner(i)) = i` for all `i` of `inner`.
fn leads_back(outer: &str, inner: &str) -> Result<(), String> {
    let (Some(outer), Some(inner)) = (Flat::parse(outer), Flat::parse(inner)) else {
        return Err("unreadable".to_owned());
    };
    for (i, y) in inner.table().unwrap_or_default().into_iter().enumerate() {
        let back = reference::at(&outer.leaves(), y);
        if usize::try_from(back) != Ok(i) {
            return Err(format!("{i} leads to {back}"));
        }
    }
    Ok(())
}

/// `L(A(i)) = i`, up to iters of stride 0; off the image the inverse is free, so two that do this
/// are the same answer.
fn left_inverse(r: &Value, l: &Layout) -> Verdict {
    let ours = Ours::function(ops::left_inverse(&l.view()));
    let text = input(r, "layout");
    let holds = |inverse: &str| -> Result<(), String> {
        let (Some(a), Some(back)) = (Flat::parse(&text), Flat::parse(inverse)) else {
            return Err("unreadable".to_owned());
        };
        let leaves = a.leaves();
        for i in 0..a.size().min(1 << 16) {
            // The index with the digits of iters that do not move set to 0.
            let (mut rest, mut weight, mut expected) = (i, 1, 0);
            for (extent, stride, _) in &leaves {
                expected += if *stride == 0 { 0 } else { (rest % extent) * weight };
                rest /= extent;
                weight *= extent;
            }
            let found = reference::at(&back.leaves(), reference::at(&leaves, i));
            if found != expected {
                return Err(format!("{i} comes back as {found}"));
            }
        }
        Ok(())
    };
    let law = || holds(&ours.words());
    let wrong = |peer: &str| holds(peer).is_err().then_some(rules::LEFT_INVERSE);
    let rules = Rules { law: &law, wrong: &wrong, refused_by_peers: rules::PEER_REFUSES, ..PLAIN };
    compare(r, &ours, &rules)
}

/// `A + C` reaches every position below the cotarget once.
fn complement(r: &Value, l: &Layout, total: Int) -> Verdict {
    let ours = Ours::exact(ops::complement(&l.view(), total));
    let text = input(r, "layout");
    let whole = |rest: &str| -> Result<(), String> {
        let (Some(a), Some(c)) = (Flat::parse(&text), Flat::parse(rest)) else {
            return Err("unreadable".to_owned());
        };
        let moving: Vec<_> = a.leaves().into_iter().filter(|l| l.1 != 0).collect();
        if c.leaves().iter().any(|l| l.0 < 1) || c.leaves().windows(2).any(|w| w[1].1 < w[0].1) {
            return Err("an extent below 1, or strides that fall".to_owned());
        }
        let all: Vec<_> = moving.iter().cloned().chain(c.leaves()).collect();
        let Some(table) = reference::table(&all) else {
            return Ok(());
        };
        let reached: BTreeSet<i64> = table.iter().copied().collect();
        if reached.len() != table.len() {
            return Err("a position twice".to_owned());
        }
        // What lies between padded rows stays free; all rows must fit.
        let mut own: Vec<_> = moving.iter().filter(|l| l.0 != 1).collect();
        own.sort_by_key(|l| l.1);
        let mut below = 1;
        let mut padded = false;
        for (extent, stride, _) in own {
            padded |= stride % below != 0;
            below = extent * stride;
        }
        if padded {
            let expected = reference::complement(&moving, total.value().unwrap_or(0));
            let found = c.table();
            return if expected.is_some_and(|e| reference::table(&e) == found) {
                Ok(())
            } else {
                Err("not the whole steps below each stride".to_owned())
            };
        }
        // Complete, too, beyond the cotarget: no hole below the last position.
        let total = total.value().unwrap_or(0).max(i64::try_from(table.len()).unwrap_or(0));
        match (0..total).find(|x| !reached.contains(x)) {
            Some(hole) => Err(format!("nothing at {hole}")),
            None => Ok(()),
        }
    };
    let law = || whole(&ours.words());
    let wrong = |peer: &str| whole(peer).is_err().then_some(rules::COMPLEMENT);
    // The least extent that covers the cotarget's size.
    let least = || {
        let own = Flat::parse(&ours.words())?.table()?;
        let leaves = Flat::parse(&text)?.leaves();
        let expected = reference::table(&reference::complement(&leaves, total.value().ok()?)?)?;
        let shaped = input(r, "cotarget").contains('(');
        (shaped && own == expected).then_some(rules::SHAPED_COTARGET)
    };
    compare(r, &ours, &Rules { law: &law, wrong: &wrong, differs: &least, ..PLAIN })
}

/// `tiler | layout`.
fn thread_value(r: &Value) -> Result<Verdict, String> {
    let (threads, values) = (layout(&input(r, "thr"))?, layout(&input(r, "val"))?);
    let spelled = cute::make_layout_tv(&threads.view(), &values.view())
        .map(|tv| format!("{} | {}", show_tuple(&tv.tiler), show(&tv.layout)));
    Ok(compare(r, &Ours::text(spelled), &PLAIN))
}

/// Both layouts count 0, 1, 2, ... along the answer.
fn common(op: &str, r: &Value) -> Result<Verdict, String> {
    let (a, b) = (layout(&input(r, "a"))?, layout(&input(r, "b"))?);
    let found = cute::max_common_layout(&a.view(), &b.view());
    let law = || match &found {
        Ok(l) => {
            leads_back(&input(r, "b"), &show(l))?;
            leads_back(&input(r, "a"), &show(l))
        }
        Err(_) => Ok(()),
    };
    let ours = if op == "max_common_vector" {
        let size = |l: Layout| -> Result<u64, Error> { l.view().size_value() };
        Ours::text(found.clone().and_then(size))
    } else {
        Ours::function(found.clone())
    };
    let rules = Rules { law: &law, refused_by_peers: rules::PEER_REFUSES, ..PLAIN };
    Ok(compare(r, &ours, &rules))
}

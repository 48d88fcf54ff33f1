//! Canonical forms, grouping and the other operations that rewrite one layout.

use super::answer;
use super::model::{self, Model};
use super::tally::Tally;
use crate::suites::Verdict;
use lanebook_layout::tirx::{self, facts};
use lanebook_layout::{AxisId, Error, Layout, WellKnown};
use serde_json::Value;
use std::collections::BTreeMap;

/// `op: canonicalize`.
pub fn canonicalize(record: &Value) -> Result<Verdict, String> {
    let (peer, l) = match super::forms::read(record)? {
        Ok(both) => both,
        Err(verdict) => return Ok(verdict),
    };
    let view = l.view();
    let mut tally = Tally::default();
    super::text::both_ways(record, &l, &mut tally);
    let plain = tirx::canonicalize_for(&view, &WellKnown, &[]);
    canonical(&record["canonical"], plain, &mut tally)?;
    fused(record, &peer, &l, &mut tally)?;
    let storage = tirx::storage(&view, &WellKnown);
    exact("storage", &record["storage"], storage, &mut tally)?;
    grouped(record, &l, &mut tally)?;
    let list = model::numbers(&record["permute_dims"]["perm"])?;
    let perm: Vec<u8> = list.iter().map(|n| *n as u8).collect();
    exact("permute_dims", &record["permute_dims"], tirx::permute_dims(&view, &perm), &mut tally)?;
    let b = &record["broadcast"];
    let (num, at) = (b["num"].as_u64(), b["position"].as_i64());
    let (num, at) = (num.ok_or("broadcast")?, at.ok_or("broadcast")?);
    let wide = tirx::broadcast(&view, num as u32, at as i32, AxisId::M);
    exact("broadcast", b, wide, &mut tally)?;
    packing(record, &peer, &l, &mut tally)?;
    scope(record, &l, &mut tally);
    Ok(tally.verdict())
}

/// A canonical form: as short as the peer's, and the same map; or both refuse.
pub fn canonical(v: &Value, found: Result<Layout, Error>, tally: &mut Tally) -> Result<(), String> {
    match (answer(v), found) {
        (Some(wanted), Ok(found)) => {
            let wanted = Model::read(wanted)?;
            tally.check("canonical", model::agrees(&found, &wanted));
            let (f, w) = (Model::of(&found).moving(), wanted.moving());
            tally.same(f == w, || format!("canonical {f:?} instead of {w:?}"));
        }
        (None, Err(_)) => tally.same(true, String::new),
        (_, found) => tally.differ(format!("canonical: {found:?} beside {v}")),
    }
    Ok(())
}

/// The canonical form under a target's relations; where the peer's breaks their law, the law
/// decides.
fn fused(record: &Value, peer: &Model, l: &Layout, tally: &mut Tally) -> Result<(), String> {
    let v = &record["canonical_cuda_target"];
    let found = tirx::canonicalize_for(&l.view(), &WellKnown, facts::WARP_32);
    let (Some(wanted), Ok(found)) = (answer(v), &found) else {
        return canonical(v, found, tally);
    };
    let wanted = Model::read(wanted)?;
    let placed = peer.placed().layout().map_err(|e| format!("{e:?}"))?;
    let pair = tirx::scope_pair(&placed.view(), &WellKnown).map_err(|e| format!("{e:?}"))?;
    let law = |x: i64| {
        let mut copies = peer.copies(x);
        for at in &mut copies {
            *at = joined(at, pair);
        }
        copies.sort();
        copies
    };
    tally.check("canonical for a target", model::is_map(found, peer.size(), law));
    if model::agrees(found, &wanted).is_err() {
        let peer_keeps = model::sample(wanted.size()).all(|x| wanted.copies(x) == law(x));
        if peer_keeps {
            tally.differ(format!("for a target: {found:?} instead of {wanted:?}"));
        } else {
            tally.rule(
                "TIRx breaks the axis relations (an offset lost, or wgid kept beside warpid)",
            );
        }
    }
    Ok(())
}

/// A position with all thread axes expressed on the one axis that the scopes name.
fn joined(at: &model::Position, pair: Option<tirx::ScopePair>) -> model::Position {
    use tirx::Scope::{Cta, Thread, Warp, Warpgroup};
    let (to, lanes) = match pair.map(|p| (p.subscope, p.scope)) {
        Some((Thread, Cta)) => (
            "tx",
            [("laneid", 1), ("tid_in_wg", 1), ("wid_in_wg", 32), ("warpid", 32), ("wgid", 128)]
                .as_slice(),
        ),
        Some((Thread, Warpgroup)) => ("tid_in_wg", [("laneid", 1), ("wid_in_wg", 32)].as_slice()),
        Some((Warp, Cta)) => ("warpid", [("wid_in_wg", 1), ("wgid", 4)].as_slice()),
        _ => ("", [].as_slice()),
    };
    let mut out = BTreeMap::new();
    for (axis, v) in at {
        let factor = lanes.iter().find(|e| e.0 == axis);
        let (axis, v) = factor.map_or((axis.as_str(), *v), |(_, f)| (to, v * f));
        *out.entry(axis.to_owned()).or_insert(0) += v;
    }
    out.retain(|_, v| *v != 0);
    out
}

/// An operation whose answer is fixed iter by iter; or both refuse.
fn exact(
    label: &str,
    v: &Value,
    found: Result<Layout, Error>,
    tally: &mut Tally,
) -> Result<(), String> {
    match (answer(v), found) {
        (Some(wanted), Ok(found)) => {
            tally.check(label, model::same_iters(&found, &Model::read(wanted)?));
        }
        (None, Err(_)) => tally.same(true, String::new),
        (_, found) => tally.differ(format!("{label}: {found:?} beside {v}")),
    }
    Ok(())
}

/// `group` and `group_many`: the same iters and separators.
fn grouped(record: &Value, l: &Layout, tally: &mut Tally) -> Result<(), String> {
    let v = &record["group"];
    let found = model::shape(&v["shape"])?.map(|s| tirx::group(&l.view(), &s));
    match (answer(v), found) {
        (Some(wanted), Some(Ok(found))) => {
            let separators = model::numbers(&wanted["seps"])?;
            let same = found.separators.iter().map(|s| i64::from(*s)).eq(separators);
            tally.same(same, || format!("separators {:?}", found.separators));
            let wanted = Model::read(&wanted["layout"])?;
            tally.check("group", model::same_iters(&found.layout, &wanted));
        }
        (None, None | Some(Err(_))) => tally.same(true, String::new),
        (_, found) => tally.differ(format!("group: {found:?} beside {v}")),
    }
    let v = &record["group_many"];
    let shapes = v["shapes"].as_array().ok_or("shapes")?;
    let shapes: Option<Vec<Vec<u32>>> =
        shapes.iter().map(model::shape).collect::<Result<Option<_>, _>>()?;
    let found = shapes.map(|shapes| {
        let slices: Vec<&[u32]> = shapes.iter().map(Vec::as_slice).collect();
        tirx::group_many(&l.view(), &slices)
    });
    match (answer(v), found) {
        (Some(wanted), Some(Ok(found))) => {
            for (k, list) in wanted["seps"].as_array().ok_or("seps")?.iter().enumerate() {
                let own = found.separators.get(k).ok_or("seps")?;
                let same = own.iter().map(|s| i64::from(*s)).eq(model::numbers(list)?);
                tally.same(same, || format!("separators of shape {k}: {own:?}"));
            }
            let wanted = Model::read(&wanted["layout"])?;
            tally.check("group_many", model::same_iters(&found.layout, &wanted));
        }
        (None, None | Some(Err(_))) => tally.same(true, String::new),
        (_, found) => tally.differ(format!("group_many: {found:?} beside {v}")),
    }
    Ok(())
}

/// `pack` and `unpack`, by their law: `unpacked(n x + r)` is `n` times `packed(x)` plus `r` on the
/// axis of the elements, and the same on all others.
fn packing(record: &Value, peer: &Model, l: &Layout, tally: &mut Tally) -> Result<(), String> {
    let v = &record["unpack"];
    let n = v["num"].as_i64().ok_or("unpack")?;
    let found = tirx::unpack(&l.view(), n as u32, AxisId::M).map_err(|e| format!("{e:?}"))?;
    let law = |x: i64| model::parts(&peer.copies(x / n), n, x % n, "m");
    tally.check("unpack", model::is_map(&found, peer.size() * n, law));
    let wanted = Model::read(answer(v).ok_or("unpack")?)?;
    if model::agrees(&found, &wanted).is_err() {
        tally.rule("TIRx's unpack moves other axes, or leaves copies and offset unscaled");
    }
    let v = &record["pack"];
    let n = v["num"].as_i64().ok_or("pack")?;
    let on = peer.shard.last().map_or("m", |s| s.axis.as_str());
    let axis = model::axis(on).unwrap_or(AxisId::M);
    let memory = ["m", "P", "F", "Bank", "TCol", "TLane"].contains(&on);
    let found = tirx::pack(&l.view(), n as u32, axis).ok().filter(|_| memory);
    let lawful = |p: &Model| {
        p.size() * n == peer.size()
            && model::sample(peer.size())
                .all(|x| model::parts(&p.copies(x / n), n, x % n, on) == peer.copies(x))
    };
    let wanted = answer(v).map(Model::read).transpose()?;
    let holds = found.as_ref().is_none_or(|f| lawful(&Model::of(f)));
    tally.same(holds, || format!("pack: {found:?} does not unpack"));
    match (wanted, found) {
        (Some(w), Some(f)) if model::agrees(&f, &w).is_ok() => tally.same(true, String::new),
        (None, None) => tally.same(true, String::new),
        (Some(w), _) if !lawful(&w) => {
            tally.rule("TIRx's pack moves other axes, leaves copies and offset, or rounds down");
        }
        (w, f) => tally.differ(format!("pack: {f:?} beside {w:?}")),
    }
    Ok(())
}

fn scope(record: &Value, l: &Layout, tally: &mut Tally) {
    let found = tirx::scope_pair(&l.view(), &WellKnown);
    let v = &record["scope"];
    let same = match (&found, answer(v)) {
        (Ok(None), Some(Value::Null)) | (Err(_), None) => true,
        (Ok(Some(pair)), Some(Value::Array(names))) => {
            names.iter().filter_map(Value::as_str).eq([pair.subscope.name(), pair.scope.name()])
        }
        _ => false,
    };
    tally.same(same, || format!("scope {found:?} beside {v}"));
}

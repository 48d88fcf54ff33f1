//! Evaluation, canonical forms, grouping and the other one-layout operations, and the notation.

use super::answer;
use super::model::{self, Model};
use super::tally::Tally;
use crate::suites::Verdict;
use lanebook_layout::notation::Expected;
use lanebook_layout::tirx::{self, facts};
use lanebook_layout::{AxisId, Coord, Error, Layout, WellKnown};
use serde_json::Value;
use std::collections::BTreeMap;

/// The layout of a record in both worlds, or the verdict that lanebook has no such layout.
fn read(record: &Value) -> Result<Result<(Model, Layout), Verdict>, String> {
    let peer = Model::read(&record["layout"])?;
    Ok(match peer.layout() {
        Ok(l) => Ok((peer, l)),
        Err(Error::BadExtent { .. } | Error::Overflow)
            if peer.shard.iter().chain(&peer.replica).any(|s| s.extent < 1) =>
        {
            Err(Verdict::Refused("an extent below 1: a layout has elements"))
        }
        Err(e) => Err(Verdict::Differ(format!("not built: {e:?}"))),
    })
}

/// `op: apply`.
pub fn apply(record: &Value) -> Result<Verdict, String> {
    let (peer, l) = match read(record)? {
        Ok(both) => both,
        Err(verdict) => return Ok(verdict),
    };
    let mut tally = Tally::default();
    let view = l.view();
    text(record, &l, &mut tally);
    scopes(record, &l, &mut tally);
    let size = answer(&record["size"]).and_then(Value::as_i64);
    tally.same(size == Some(peer.size()), || format!("size {size:?}"));
    spans(record, &peer, &l, &mut tally);
    let trivial = tirx::is_trivial(&view, &WellKnown).map_err(|e| format!("{e:?}"))?;
    if Some(trivial) == record["is_trivial"].as_bool() {
        tally.same(true, String::new);
    } else if peer.replica.iter().all(|s| s.extent == 1) && !peer.replica.is_empty() {
        tally.rule("a replica of extent 1 is no copy");
    } else {
        tally.differ(format!("is_trivial {trivial}"));
    }
    if let Some(table) = answer(&record["apply"]) {
        let mut out = Coord::new();
        for (x, wanted) in model::table(table)? {
            let found = view.apply_flat(x as u64, &mut out).map(|()| moved(&out));
            tally.same(found == Ok(wanted.clone()), || {
                format!("apply({x}) = {found:?} instead of {wanted:?}")
            });
        }
    }
    let sample = &record["sample"];
    let x = sample["x"].as_i64().ok_or("sample")?;
    let mut set = Vec::new();
    for at in sample["set"].as_array().ok_or("sample")? {
        set.push(model::position(at)?);
    }
    set.sort();
    // The records hold a set: copies that coincide count once.
    let found = model::copies_of(&l, x).map(|mut copies| {
        copies.dedup();
        copies
    });
    tally.same(found.as_ref() == Ok(&set), || {
        format!("set at {x}: {found:?} instead of {set:?}")
    });
    shaped(&record["shaped"], &l, &mut tally)?;
    let mut out = Coord::new();
    if record.get("bad_rank").is_some() {
        let wrong = vec![0; view.shard.len() + 1];
        let found = tirx::apply_iters(&view, &wrong, &mut out);
        tally.same(matches!(found, Err(Error::Rank { .. })), || {
            format!("wrong rank gives {found:?}")
        });
    }
    if let Some(x) = record["oob"]["x"].as_u64() {
        let found = view.apply_flat(x, &mut out);
        tally.same(matches!(found, Err(Error::OutOfRange { .. })), || {
            format!("beyond the end gives {found:?}")
        });
    }
    Ok(tally.verdict())
}

/// What a coordinate moves.
fn moved(at: &Coord) -> model::Position {
    let axes = at.iter().filter(|e| e.1 != 0);
    axes.map(|(axis, v)| (model::name(axis), v)).collect()
}

/// The peer's own text of the layout is read as this layout, and printing parses back.
fn text(record: &Value, l: &Layout, tally: &mut Tally) {
    let Some(text) = record["text"].as_str() else {
        return;
    };
    match model::parse(text) {
        Ok(read) => tally.same(read.view().shard == l.view().shard, || {
            format!("{text} is read as {read:?}")
        }),
        Err(e) => tally.differ(format!("{text}: {e:?}")),
    }
    let mut printed = String::new();
    let done = lanebook_layout::notation::tirx::print(
        &l.view(),
        &WellKnown,
        &lanebook_layout::NoSyms,
        &mut printed,
    );
    tally.same(
        done.is_ok() && model::parse(&printed).as_ref() == Ok(l),
        || format!("printed as {printed}"),
    );
}

fn scopes(record: &Value, l: &Layout, tally: &mut Tally) {
    let peer = &record["well_formed"];
    let found = tirx::well_formed(&l.view(), &WellKnown);
    if peer["err"] == "HANG" {
        match found {
            Ok(()) => tally.rule("TIRx's check of the scopes never returns (bx beside tx)"),
            Err(e) => tally.differ(format!("well_formed: {e:?}")),
        }
        return;
    }
    let wanted = answer(peer) == Some(&Value::Bool(true));
    tally.same(found.is_ok() == wanted, || {
        format!("well_formed: {found:?}")
    });
}

fn spans(record: &Value, peer: &Model, l: &Layout, tally: &mut Tally) {
    let view = l.view();
    let mut wrong = None;
    let memory = tirx::memory_span(&view, &WellKnown);
    if memory.ok() != answer(&record["span_mem"]).and_then(Value::as_i64) {
        wrong = Some(format!("span {memory:?}"));
    }
    let none = serde_json::Map::new();
    for (key, sizes) in [("span", false), ("size_axis", true)] {
        for (name, n) in record[key].as_object().unwrap_or(&none) {
            let axis = model::axis(name).unwrap_or(AxisId::M);
            let found = if sizes {
                view.size_on(axis).and_then(|n| n.value())
            } else {
                view.span(axis)
            };
            if found.ok() != n.as_i64() {
                wrong.get_or_insert(format!("{key}({name}) = {found:?} instead of {n}"));
            }
        }
    }
    match wrong {
        None => tally.same(true, String::new),
        Some(_) if peer.turns_back() => {
            tally.rule("with negative strides TIRx's span is no window");
        }
        Some(what) => tally.differ(what),
    }
}

fn shaped(v: &Value, l: &Layout, tally: &mut Tally) -> Result<(), String> {
    let (Some(shape), Some(wanted)) = (model::shape(&v["shape"])?, answer(&v["apply"])) else {
        return Ok(());
    };
    let coord: Vec<u64> = model::numbers(&v["coord"])?
        .iter()
        .map(|n| *n as u64)
        .collect();
    let mut out = Coord::new();
    let found = tirx::apply_shaped(&l.view(), &coord, &shape, &mut out).map(|()| moved(&out));
    let wanted = model::position(wanted)?;
    tally.same(found == Ok(wanted.clone()), || {
        format!("apply({coord:?}, {shape:?}) = {found:?} instead of {wanted:?}")
    });
    Ok(())
}

/// `op: canonicalize`.
pub fn canonicalize(record: &Value) -> Result<Verdict, String> {
    let (peer, l) = match read(record)? {
        Ok(both) => both,
        Err(verdict) => return Ok(verdict),
    };
    let view = l.view();
    let mut tally = Tally::default();
    text(record, &l, &mut tally);
    let plain = tirx::canonicalize_for(&view, &WellKnown, &[]);
    canonical(&record["canonical"], plain, &mut tally)?;
    fused(record, &peer, &l, &mut tally)?;
    let storage = tirx::storage(&view, &WellKnown);
    exact("storage", &record["storage"], storage, &mut tally)?;
    grouped(record, &l, &mut tally)?;
    let list = model::numbers(&record["permute_dims"]["perm"])?;
    let perm: Vec<u8> = list.iter().map(|n| *n as u8).collect();
    exact(
        "permute_dims",
        &record["permute_dims"],
        tirx::permute_dims(&view, &perm),
        &mut tally,
    )?;
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
fn canonical(v: &Value, found: Result<Layout, Error>, tally: &mut Tally) -> Result<(), String> {
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

/// The canonical form under a target's relations; where the peer's breaks their law, the law decides.
fn fused(record: &Value, peer: &Model, l: &Layout, tally: &mut Tally) -> Result<(), String> {
    let v = &record["canonical_cuda_target"];
    let found = tirx::canonicalize_for(&l.view(), &WellKnown, facts::WARP_32);
    let (Some(wanted), Ok(found)) = (answer(v), &found) else {
        return canonical(v, found, tally);
    };
    let wanted = Model::read(wanted)?;
    let pair = tirx::scope_pair(&l.view(), &WellKnown).map_err(|e| format!("{e:?}"))?;
    let law = |x: i64| {
        let mut copies = peer.copies(x);
        for at in &mut copies {
            *at = joined(at, pair);
        }
        copies.sort();
        copies
    };
    tally.check(
        "canonical for a target",
        model::is_map(found, peer.size(), law),
    );
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
            [
                ("laneid", 1),
                ("tid_in_wg", 1),
                ("wid_in_wg", 32),
                ("warpid", 32),
                ("wgid", 128),
            ]
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
            let same = found
                .separators
                .iter()
                .map(|s| i64::from(*s))
                .eq(separators);
            tally.same(same, || format!("separators {:?}", found.separators));
            let wanted = Model::read(&wanted["layout"])?;
            tally.check("group", model::same_iters(&found.layout, &wanted));
        }
        (None, None | Some(Err(_))) => tally.same(true, String::new),
        (_, found) => tally.differ(format!("group: {found:?} beside {v}")),
    }
    let v = &record["group_many"];
    let shapes = v["shapes"].as_array().ok_or("shapes")?;
    let shapes: Option<Vec<Vec<u32>>> = shapes
        .iter()
        .map(model::shape)
        .collect::<Result<Option<_>, _>>()?;
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

/// `pack` and `unpack`, by their law: `unpacked(n x + r)` is `n` times `packed(x)` plus `r` on the axis of the elements,
/// and the same on all others.
fn packing(record: &Value, peer: &Model, l: &Layout, tally: &mut Tally) -> Result<(), String> {
    let v = &record["unpack"];
    let n = v["num"].as_i64().ok_or("unpack")?;
    let found = tirx::unpack(&l.view(), n as u32, AxisId::M).map_err(|e| format!("{e:?}"))?;
    let law = |x: i64| parts(&peer.copies(x / n), n, x % n, "m");
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
    let found = tirx::pack(&l.view(), n as u32, axis)
        .ok()
        .filter(|_| memory);
    let lawful = |p: &Model| {
        p.size() * n == peer.size()
            && model::sample(peer.size())
                .all(|x| parts(&p.copies(x / n), n, x % n, on) == peer.copies(x))
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

/// Part `r` of `n` of an element with these copies.
fn parts(copies: &model::Copies, n: i64, r: i64, axis: &str) -> model::Copies {
    let mut out = copies.clone();
    for at in &mut out {
        let v = at.remove(axis).unwrap_or(0) * n + r;
        if v != 0 {
            at.insert(axis.to_owned(), v);
        }
    }
    out.sort();
    out
}

fn scope(record: &Value, l: &Layout, tally: &mut Tally) {
    let found = tirx::scope_pair(&l.view(), &WellKnown);
    let v = &record["scope"];
    let same = match (&found, answer(v)) {
        (Ok(None), Some(Value::Null)) | (Err(_), None) => true,
        (Ok(Some(pair)), Some(Value::Array(names))) => names
            .iter()
            .filter_map(Value::as_str)
            .eq([pair.subscope.name(), pair.scope.name()]),
        _ => false,
    };
    tally.same(same, || format!("scope {found:?} beside {v}"));
}

/// `op: spec`.
pub fn spec(record: &Value) -> Result<Verdict, String> {
    let text = record["text"].as_str().ok_or("text")?;
    let wanted = answer(&record["layout"]).map(Model::read).transpose()?;
    let l = match (model::parse(text), &wanted) {
        (Ok(l), Some(_)) => l,
        (Err(_), None) => return Ok(Verdict::Refused("both refuse the text")),
        (Err(e), Some(w)) => {
            return Ok(match e.expected {
                Expected::OneShard => Verdict::Refused("a second S, which TIRx drops"),
                Expected::OneReplica => Verdict::Refused("a second R, which replaces the first"),
                Expected::PositiveExtent => Verdict::Refused("an extent below 1"),
                _ if extents(text, "S[") != w.shard.len()
                    || extents(text, "R[") != w.replica.len() =>
                {
                    Verdict::Refused("strides and extents differ in number, which TIRx zips")
                }
                other => Verdict::Differ(format!("{text}: expected {other:?}")),
            });
        }
        (Ok(l), None) => return Ok(Verdict::Differ(format!("{text} is read as {l:?}"))),
    };
    let mut tally = Tally::default();
    if let Some(wanted) = &wanted {
        tally.check(text, model::same_iters(&l, wanted));
    }
    scopes(record, &l, &mut tally);
    if record.get("canonical").is_some() {
        let found = tirx::canonicalize_for(&l.view(), &WellKnown, &[]);
        canonical(&record["canonical"], found, &mut tally)?;
    }
    if let Some(size) = answer(&record["size"]).and_then(Value::as_u64) {
        let found = l.view().size_value();
        tally.same(found == Ok(size), || format!("size {found:?}"));
    }
    Ok(tally.verdict())
}

/// How many extents stand after `open` in a text; 0 without it.
fn extents(text: &str, open: &str) -> usize {
    let spec = text.split_once(open).map_or("", |t| t.1);
    let end = spec.find([':', ']']).unwrap_or(spec.len());
    let list = spec[..end].split(',');
    list.filter(|e| e.contains(|c: char| c.is_ascii_digit()))
        .count()
}

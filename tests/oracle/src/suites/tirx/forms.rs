//! Evaluation: sizes, spans, scopes, and positions in all forms.

use super::answer;
use super::model::{self, Model};
use super::tally::Tally;
use crate::suites::Verdict;
use lanebook_layout::tirx;
use lanebook_layout::{AxisId, Coord, Error, Layout, WellKnown};
use serde_json::Value;

/// The layout of a record in both worlds, or the verdict that lanebook has no such layout.
pub fn read(record: &Value) -> Result<Result<(Model, Layout), Verdict>, String> {
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
    super::text::both_ways(record, &l, &mut tally);
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
    tally.same(found.as_ref() == Ok(&set), || format!("set at {x}: {found:?} instead of {set:?}"));
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

/// Whether the thread axes are one chain of scopes.
pub fn scopes(record: &Value, l: &Layout, tally: &mut Tally) {
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
    tally.same(found.is_ok() == wanted, || format!("well_formed: {found:?}"));
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
            let found =
                if sizes { view.size_on(axis).and_then(|n| n.value()) } else { view.span(axis) };
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
    let coord: Vec<u64> = model::numbers(&v["coord"])?.iter().map(|n| *n as u64).collect();
    let mut out = Coord::new();
    let found = tirx::apply_shaped(&l.view(), &coord, &shape, &mut out).map(|()| moved(&out));
    let wanted = model::position(wanted)?;
    tally.same(found == Ok(wanted.clone()), || {
        format!("apply({coord:?}, {shape:?}) = {found:?} instead of {wanted:?}")
    });
    Ok(())
}

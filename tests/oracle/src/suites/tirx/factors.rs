//! Tiling, direct sums, and their factors.

use super::answer;
use super::law::{Law, Step};
use super::model::{self, Model};
use super::tally::Tally;
use crate::suites::Verdict;
use lanebook_layout::tirx::{self, TileStep};
use lanebook_layout::{Error, Layout, WellKnown};
use serde_json::Value;
use std::collections::BTreeMap;

/// Both operands of a record.
struct Pair {
    slow: Model,
    slow_shape: Vec<u32>,
    fast: Model,
    fast_shape: Vec<u32>,
}

/// Why TIRx's whole is not its own definition.
const MISSES: &str = "TIRx's tile misses copies on an axis of their own";

/// `op: tile`.
pub fn tile(record: &Value) -> Result<Verdict, String> {
    let shapes = (model::shape(&record["outer_shape"])?, model::shape(&record["inner_shape"])?);
    let (Some(slow_shape), Some(fast_shape)) = shapes else {
        return Ok(Verdict::Refused("an extent below 1: a layout has elements"));
    };
    let pair = Pair {
        slow: Model::read(&record["outer"])?,
        slow_shape,
        fast: Model::read(&record["inner"])?,
        fast_shape,
    };
    let (Ok(outer), Ok(inner)) = (pair.slow.layout(), pair.fast.layout()) else {
        return Ok(Verdict::Refused("an extent below 1: a layout has elements"));
    };
    let mut tally = Tally::default();
    let (outer_view, inner_view) = (outer.view(), inner.view());
    let (os, is) = (&pair.slow_shape, &pair.fast_shape);
    // By TIRx's own definition the same iters; by lanebook's the map that the law says.
    let spanned = tirx::tile_stepped(&inner_view, is, &outer_view, os, TileStep::Span);
    whole(&record["tile"], spanned, &pair, Step::Span, &mut tally)?;
    match tirx::tile(&inner_view, is, &outer_view, os) {
        Ok(tiled) => {
            let law = Law::new((&pair.slow, os), (&pair.fast, is), Step::Footprint);
            tally.check("tile", model::is_map(&tiled, size(&pair), |x| law.copies(x)));
        }
        Err(why) if answer(&record["tile"]).is_some() => tally.differ(format!("tile: {why:?}")),
        Err(_) => {}
    }
    let sum = tirx::direct_sum(&outer_view, os, &inner_view, is);
    whole(&record["direct_sum"], sum, &pair, Step::One, &mut tally)?;
    tile_to(&record["tile_to"], &pair, &inner, &mut tally)?;
    if let Some(tiled) = answer(&record["tile"]).filter(|v| !v.is_null()) {
        tile_factors(record, &Model::read(tiled)?, &pair, &outer, &inner, &mut tally)?;
    }
    if let Some(sum) = answer(&record["direct_sum"]).filter(|v| !v.is_null()) {
        sum_factors(record, &Model::read(sum)?, &pair, &outer, &inner, &mut tally)?;
    }
    Ok(tally.verdict())
}

/// Whether the thread axes of the operands are no chain of scopes, alone or together.
fn ill_formed(pair: &Pair) -> bool {
    let mut both = pair.slow.clone();
    both.shard.extend(pair.fast.shard.iter().cloned());
    both.replica.extend(pair.fast.replica.iter().cloned());
    for (axis, v) in &pair.fast.offset {
        both.offset.entry(axis.clone()).or_insert(*v);
    }
    let ill = |m: &Model| {
        let l = m.placed().layout().map(|l| tirx::well_formed(&l.view(), &WellKnown));
        !matches!(l, Ok(Ok(())))
    };
    ill(&both) || ill(&pair.slow) || ill(&pair.fast)
}

fn size(pair: &Pair) -> i64 {
    pair.slow.size() * pair.fast.size()
}

fn whole(
    v: &Value,
    found: Result<Layout, Error>,
    pair: &Pair,
    step: Step,
    tally: &mut Tally,
) -> Result<(), String> {
    let label = if step == Step::One { "direct_sum" } else { "tile by spans" };
    let wanted = answer(v).map(Model::read).transpose()?;
    let found = match (found, &wanted) {
        (Err(_), None) => {
            tally.same(true, String::new);
            return Ok(());
        }
        (Err(e), Some(_)) => {
            tally.differ(format!("{label}: {e:?}"));
            return Ok(());
        }
        (Ok(found), _) => found,
    };
    let law = Law::new((&pair.slow, &pair.slow_shape), (&pair.fast, &pair.fast_shape), step);
    tally.check(label, model::is_map(&found, size(pair), |x| law.copies(x)));
    match wanted {
        Some(w) if law.is(&w) => {
            let (f, w) = (Model::of(&found).moving(), w.moving());
            tally.same(f == w, || format!("{label}: {f:?} instead of {w:?}"));
        }
        Some(_) => tally.rule(MISSES),
        None if ill_formed(pair) => {
            tally.rule("TIRx refuses contradictory scopes; the map is right")
        }
        None => tally.differ(format!("{label}: {found:?} where TIRx refuses")),
    }
    Ok(())
}

fn tile_to(v: &Value, pair: &Pair, inner: &Layout, tally: &mut Tally) -> Result<(), String> {
    let Some(to) = model::shape(&v["to_shape"])? else {
        return Ok(());
    };
    let found = tirx::tile_to(&inner.view(), &to, &pair.fast_shape);
    let wanted = answer(v).map(Model::read).transpose()?;
    let divides = to.len() == pair.fast_shape.len()
        && to.iter().zip(&pair.fast_shape).all(|(t, c)| t % c == 0);
    let (found, wanted) = match (found, wanted) {
        (Ok(f), Some(w)) => (f, w),
        (Err(_), None) => {
            tally.same(true, String::new);
            return Ok(());
        }
        (Err(_), Some(_)) if !divides => {
            tally.rule("TIRx's tile_to rounds a shape that does not divide");
            return Ok(());
        }
        (Ok(_), None) if ill_formed(pair) => {
            tally.rule("TIRx refuses contradictory scopes; the map is right");
            return Ok(());
        }
        (f, w) => {
            tally.differ(format!("tile_to: {f:?} beside {w:?}"));
            return Ok(());
        }
    };
    let times: Vec<u32> = to.iter().zip(&pair.fast_shape).map(|(t, c)| t / c).collect();
    let mut stride = 1;
    let mut rows = Vec::new();
    for extent in times.iter().rev() {
        rows.push(model::Step { extent: i64::from(*extent), stride, axis: "m".to_owned() });
        stride *= i64::from(*extent);
    }
    rows.reverse();
    let rows = Model { shard: rows, replica: Vec::new(), offset: BTreeMap::new(), xor: None };
    let law = |step| Law::new((&rows, &times), (&pair.fast, &pair.fast_shape), step);
    let size = stride * pair.fast.size();
    let own = law(Step::Footprint);
    tally.check("tile_to", model::is_map(&found, size, |x| own.copies(x)));
    let Ok(outer) = rows.layout() else { return Ok(()) };
    let spanned =
        tirx::tile_stepped(&inner.view(), &pair.fast_shape, &outer.view(), &times, TileStep::Span);
    let spanned = match spanned {
        Ok(l) => Model::of(&l),
        Err(why) => {
            tally.differ(format!("tile_to by spans: {why:?}"));
            return Ok(());
        }
    };
    if law(Step::Span).is(&wanted) {
        let (f, w) = (spanned.moving(), wanted.moving());
        tally.same(f == w, || format!("tile_to by spans: {f:?} instead of {w:?}"));
    } else {
        tally.rule(MISSES);
    }
    Ok(())
}

/// Judges a factor: `again` is the whole that a factor gives.
fn factor(
    label: &str,
    v: &Value,
    found: Result<Layout, Error>,
    whole: &Model,
    again: impl Fn(&Model) -> Law,
    tally: &mut Tally,
) -> Result<(), String> {
    if v.is_null() {
        return Ok(());
    }
    let gives = |m: &Model| again(m).is(whole);
    let wanted = match answer(v) {
        Some(w) if !w.is_null() => Some(Model::read(w)?),
        _ => None,
    };
    let found = found.map(|f| Model::of(&f));
    if let Ok(f) = &found {
        tally.same(gives(f), || format!("{label}: {f:?} does not give the whole"));
    }
    match (found, wanted) {
        (Ok(_), None) if answer(v).is_none() && v.get("err").is_none() => {}
        (Ok(_), None) => tally.rule("a factor that TIRx misses, and that gives the whole"),
        (Ok(_), Some(w)) => {
            if gives(&w) {
                tally.same(true, String::new);
            } else {
                tally.rule("TIRx's factor does not give the whole");
            }
        }
        // Not a record: lanebook's own whole, whose factors are there.
        (Err(e), None) if answer(v).is_none() && v.get("err").is_none() => {
            tally.differ(format!("{label}: {e:?} of {whole:?}"));
        }
        (Err(_), None) => tally.same(true, String::new),
        (Err(e), Some(w)) => {
            if gives(&w) {
                tally.differ(format!("{label}: {e:?} although {w:?} gives the whole"));
            } else {
                tally.rule("TIRx's factor does not give the whole");
            }
        }
    }
    Ok(())
}

fn tile_factors(
    record: &Value,
    tiled: &Model,
    pair: &Pair,
    outer: &Layout,
    inner: &Layout,
    tally: &mut Tally,
) -> Result<(), String> {
    let l = tiled.layout().map_err(|e| format!("{e:?}"))?;
    let (os, is) = (pair.slow_shape.clone(), pair.fast_shape.clone());
    let shape: Vec<u32> = os.iter().zip(&is).map(|(o, i)| o * i).collect();
    let by = TileStep::Span;
    let found = tirx::outer_of_tile_stepped(&l.view(), &shape, &inner.view(), &is, by);
    let again = |slow: &Model| Law::new((slow, &os), (&pair.fast, &is), Step::Span);
    factor("is_tile_inner", &record["is_tile_inner"], found, tiled, again, tally)?;
    let found = tirx::inner_of_tile_stepped(&l.view(), &shape, &outer.view(), &os, by);
    let again = |fast: &Model| Law::new((&pair.slow, &os), (fast, &is), Step::Span);
    factor("is_tile_outer", &record["is_tile_outer"], found, tiled, again, tally)?;
    let other = &record["is_tile_inner_other"];
    if let Some(layout) = other.get("layout") {
        let peer = Model::read(layout)?;
        let Ok(own) = peer.layout() else {
            return Ok(());
        };
        let found = tirx::outer_of_tile_stepped(&l.view(), &shape, &own.view(), &is, by);
        let again = |slow: &Model| Law::new((slow, &os), (&peer, &is), Step::Span);
        factor("is_tile_inner of another", other, found, tiled, again, tally)?;
    }
    // The same by footprints: what a tiling was made of comes back.
    let (iv, ov) = (inner.view(), outer.view());
    if let Ok(whole) = tirx::tile(&iv, &is, &ov, &os) {
        let whole_model = Model::of(&whole);
        let none = Value::Object(serde_json::Map::new());
        let found = tirx::outer_of_tile(&whole.view(), &shape, &iv, &is);
        let again = |slow: &Model| Law::new((slow, &os), (&pair.fast, &is), Step::Footprint);
        factor("outer_of_tile", &none, found, &whole_model, again, tally)?;
        let found = tirx::inner_of_tile(&whole.view(), &shape, &ov, &os);
        let again = |fast: &Model| Law::new((&pair.slow, &os), (fast, &is), Step::Footprint);
        factor("inner_of_tile", &none, found, &whole_model, again, tally)?;
    }
    Ok(())
}

fn sum_factors(
    record: &Value,
    sum: &Model,
    pair: &Pair,
    outer: &Layout,
    inner: &Layout,
    tally: &mut Tally,
) -> Result<(), String> {
    let l = sum.layout().map_err(|e| format!("{e:?}"))?;
    let (os, is) = (&pair.slow_shape, &pair.fast_shape);
    let shape: Vec<u32> = os.iter().zip(is).flat_map(|(o, i)| [*o, *i]).collect();
    let found = tirx::left_of_sum(&l.view(), &shape, &inner.view(), is);
    let again = |slow: &Model| Law::new((slow, os), (&pair.fast, is), Step::One);
    factor("is_direct_sum_right", &record["is_direct_sum_right"], found, sum, again, tally)?;
    let found = tirx::right_of_sum(&l.view(), &shape, &outer.view(), os);
    let again = |fast: &Model| Law::new((&pair.slow, os), (fast, is), Step::One);
    factor("is_direct_sum_left", &record["is_direct_sum_left"], found, sum, again, tally)
}

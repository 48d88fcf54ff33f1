//! Tiling, direct sums, and their factors.

use super::answer;
use super::model::{self, Copies, Model, Xor};
use super::tally::Tally;
use crate::suites::Verdict;
use lanebook_layout::{Error, Layout, tirx};
use serde_json::Value;
use std::collections::BTreeMap;

/// Both operands of a record.
struct Pair {
    slow: Model,
    slow_shape: Vec<u32>,
    fast: Model,
    fast_shape: Vec<u32>,
}

/// `op: tile`.
pub fn tile(record: &Value) -> Result<Verdict, String> {
    let shapes = (
        model::shape(&record["outer_shape"])?,
        model::shape(&record["inner_shape"])?,
    );
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
    let tiled = tirx::tile(&inner_view, is, &outer_view, os);
    whole(&record["tile"], tiled, &pair, true, &mut tally)?;
    let sum = tirx::direct_sum(&outer_view, os, &inner_view, is);
    whole(&record["direct_sum"], sum, &pair, false, &mut tally)?;
    tile_to(&record["tile_to"], &pair, &inner, &mut tally)?;
    if let Some(tiled) = answer(&record["tile"]).filter(|v| !v.is_null()) {
        tile_factors(
            record,
            &Model::read(tiled)?,
            &pair,
            &outer,
            &inner,
            &mut tally,
        )?;
    }
    if let Some(sum) = answer(&record["direct_sum"]).filter(|v| !v.is_null()) {
        sum_factors(
            record,
            &Model::read(sum)?,
            &pair,
            &outer,
            &inner,
            &mut tally,
        )?;
    }
    Ok(tally.verdict())
}

/// How wide `m` is on each axis, copies included and the offset left out.
fn widths(m: &Model) -> BTreeMap<String, i64> {
    let mut ends: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for s in m.shard.iter().chain(&m.replica) {
        let e = ends.entry(s.axis.clone()).or_default();
        let way = (s.extent - 1) * s.stride;
        *e = (e.0 + way.min(0), e.1 + way.max(0));
    }
    ends.into_iter().map(|(a, e)| (a, e.1 - e.0 + 1)).collect()
}

/// The law of tiling and of the direct sum, element by element of the interleaved shape.
struct Law {
    /// The slower operand, its steps scaled for a tiling.
    slow: Model,
    slow_shape: Vec<u32>,
    fast: Model,
    fast_shape: Vec<u32>,
    xor: Option<Xor>,
}

impl Law {
    fn new(slow: (&Model, &[u32]), fast: (&Model, &[u32]), scaled: bool) -> Self {
        let widths = if scaled {
            widths(fast.0)
        } else {
            BTreeMap::new()
        };
        let plain = |m: &Model| Model {
            xor: None,
            ..m.clone()
        };
        let mut steps = plain(slow.0);
        for s in &mut steps.shard {
            s.stride *= widths.get(&s.axis).copied().unwrap_or(1);
        }
        Self {
            slow: steps,
            slow_shape: slow.1.to_vec(),
            fast: plain(fast.0),
            fast_shape: fast.1.to_vec(),
            xor: fast.0.xor,
        }
    }

    /// The elements of both operands that meet in element `x`.
    fn operands(&self, x: i64) -> (i64, i64) {
        let (mut rest, mut slow, mut fast) = (x, 0, 0);
        let (mut slow_scale, mut fast_scale) = (1, 1);
        for (s, f) in self.slow_shape.iter().zip(&self.fast_shape).rev() {
            let (s, f) = (i64::from(*s), i64::from(*f));
            fast += rest % f * fast_scale;
            rest /= f;
            slow += rest % s * slow_scale;
            rest /= s;
            (slow_scale, fast_scale) = (slow_scale * s, fast_scale * f);
        }
        (slow, fast)
    }

    fn copies(&self, x: i64) -> Copies {
        let (slow, fast) = self.operands(x);
        let mut out = Copies::new();
        for a in self.slow.copies(slow) {
            for b in self.fast.copies(fast) {
                let mut at = a.clone();
                for (axis, v) in b {
                    *at.entry(axis).or_insert(0) += v;
                }
                if let Some(xor) = self.xor {
                    let m = at.get("m").copied().unwrap_or(0);
                    at.insert("m".to_owned(), xor.apply(m));
                }
                at.retain(|_, v| *v != 0);
                out.push(at);
            }
        }
        out.sort();
        out
    }

    /// Whether `m` is this map.
    fn is(&self, m: &Model) -> bool {
        let size: u32 = self.slow_shape.iter().chain(&self.fast_shape).product();
        m.size() == i64::from(size)
            && model::sample(m.size()).all(|x| m.copies(x) == self.copies(x))
    }
}

fn size(pair: &Pair) -> i64 {
    pair.slow.size() * pair.fast.size()
}

fn whole(
    v: &Value,
    found: Result<Layout, Error>,
    pair: &Pair,
    scaled: bool,
    tally: &mut Tally,
) -> Result<(), String> {
    let label = if scaled { "tile" } else { "direct_sum" };
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
    let law = Law::new(
        (&pair.slow, &pair.slow_shape),
        (&pair.fast, &pair.fast_shape),
        scaled,
    );
    tally.check(label, model::is_map(&found, size(pair), |x| law.copies(x)));
    match wanted {
        Some(w) if law.is(&w) => {
            let (f, w) = (Model::of(&found).moving(), w.moving());
            tally.same(f == w, || format!("{label}: {f:?} instead of {w:?}"));
        }
        Some(_) => tally.rule(
            "TIRx's tile widens the outer steps by the inner offset, or misses copies on an axis of their own",
        ),
        None => tally.rule("TIRx cannot group a layout that has one element too few iters"),
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
        (f, w) => {
            tally.differ(format!("tile_to: {f:?} beside {w:?}"));
            return Ok(());
        }
    };
    let times: Vec<u32> = to
        .iter()
        .zip(&pair.fast_shape)
        .map(|(t, c)| t / c)
        .collect();
    let mut stride = 1;
    let mut rows = Vec::new();
    for extent in times.iter().rev() {
        rows.push(model::Step {
            extent: i64::from(*extent),
            stride,
            axis: "m".to_owned(),
        });
        stride *= i64::from(*extent);
    }
    rows.reverse();
    let rows = Model {
        shard: rows,
        replica: Vec::new(),
        offset: BTreeMap::new(),
        xor: None,
    };
    let law = Law::new((&rows, &times), (&pair.fast, &pair.fast_shape), true);
    let size = stride * pair.fast.size();
    tally.check("tile_to", model::is_map(&found, size, |x| law.copies(x)));
    if !law.is(&wanted) {
        tally.rule(
            "TIRx's tile widens the outer steps by the inner offset, or misses copies on an axis of their own",
        );
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
        tally.same(gives(f), || {
            format!("{label}: {f:?} does not give the whole")
        });
    }
    match (found, wanted) {
        (Ok(_), None) => tally.rule("a factor that TIRx misses, and that gives the whole"),
        (Ok(_), Some(w)) => {
            if gives(&w) {
                tally.same(true, String::new);
            } else {
                tally.rule("TIRx's factor does not give the whole");
            }
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
    let found = tirx::outer_of_tile(&l.view(), &shape, &inner.view(), &is);
    let again = |slow: &Model| Law::new((slow, &os), (&pair.fast, &is), true);
    factor(
        "is_tile_inner",
        &record["is_tile_inner"],
        found,
        tiled,
        again,
        tally,
    )?;
    let found = tirx::inner_of_tile(&l.view(), &shape, &outer.view(), &os);
    let again = |fast: &Model| Law::new((&pair.slow, &os), (fast, &is), true);
    factor(
        "is_tile_outer",
        &record["is_tile_outer"],
        found,
        tiled,
        again,
        tally,
    )?;
    let other = &record["is_tile_inner_other"];
    if let Some(layout) = other.get("layout") {
        let peer = Model::read(layout)?;
        let Ok(own) = peer.layout() else {
            return Ok(());
        };
        let found = tirx::outer_of_tile(&l.view(), &shape, &own.view(), &is);
        let again = |slow: &Model| Law::new((slow, &os), (&peer, &is), true);
        factor(
            "is_tile_inner of another",
            other,
            found,
            tiled,
            again,
            tally,
        )?;
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
    let again = |slow: &Model| Law::new((slow, os), (&pair.fast, is), false);
    factor(
        "is_direct_sum_right",
        &record["is_direct_sum_right"],
        found,
        sum,
        again,
        tally,
    )?;
    let found = tirx::right_of_sum(&l.view(), &shape, &outer.view(), os);
    let again = |fast: &Model| Law::new((&pair.slow, os), (fast, is), false);
    factor(
        "is_direct_sum_left",
        &record["is_direct_sum_left"],
        found,
        sum,
        again,
        tally,
    )
}

//! Slices.

use super::answer;
use super::model::{self, Model};
use super::tally::Tally;
use crate::suites::Verdict;
use lanebook_layout::{Error, tirx};
use serde_json::Value;

/// `op: slice`.
pub fn slice(record: &Value) -> Result<Verdict, String> {
    let peer = Model::read(&record["layout"])?;
    let Some(shape) = model::shape(&record["shape"])? else {
        return Ok(Verdict::Refused("an extent below 1: a layout has elements"));
    };
    let l = match peer.layout() {
        Ok(l) => l,
        Err(e) => return Ok(Verdict::Differ(format!("not built: {e:?}"))),
    };
    let mut region = Vec::new();
    for range in record["region"].as_array().ok_or("region")? {
        let [begin, end] = model::numbers(range)?[..] else {
            return Err("region".to_owned());
        };
        region.push((begin, end));
    }
    let inside =
        region.iter().zip(&shape).all(|((b, e), s)| *b >= 0 && b < e && *e <= i64::from(*s));
    let bounds: Vec<(u32, u32)> =
        region.iter().map(|(b, e)| (*b as u32, (*e).max(0) as u32)).collect();
    let found = tirx::slice(&l.view(), &shape, &bounds);
    if !inside {
        let empty = region.iter().any(|(begin, end)| begin >= end);
        return Ok(match found {
            Err(Error::CannotSlice { .. }) if empty => {
                Verdict::Refused("an empty region, which TIRx does not check")
            }
            Err(Error::OutOfRange { .. }) => {
                Verdict::Refused("a region outside the shape, which TIRx does not check")
            }
            other => Verdict::Differ(format!("a region outside the shape gives {other:?}")),
        });
    }
    let wanted = match answer(&record["slice"]) {
        Some(v) if !v.is_null() => Some(Model::read(v)?),
        _ => None,
    };
    let count = region.iter().map(|(b, e)| e - b).product();
    let law = |x: i64| peer.copies(within(x, &region, &shape));
    let mut tally = Tally::default();
    if let Ok(found) = &found {
        tally.check("slice", model::is_map(found, count, law));
        if let Some(values) = answer(&record["region_values"]) {
            for (x, at) in model::table(values)? {
                let own = peer.position(within(x, &region, &shape));
                let recorded = values["val"][x as usize].as_array();
                let numbers = recorded.is_some_and(|r| r.iter().all(|n| !n.is_string()));
                tally.same(!numbers || own == at, || format!("value {x} of the region"));
            }
        }
    }
    let lawful =
        |w: &Model| w.size() == count && model::sample(count).all(|x| w.copies(x) == law(x));
    match (found, wanted) {
        (Ok(_), Some(w)) if lawful(&w) => tally.same(true, String::new),
        (Ok(_), Some(_)) => tally.rule("TIRx's slice is another map than the region"),
        (Ok(_), None) => tally.rule("a slice that TIRx misses, right at every element"),
        (Err(_), None) => {
            return Ok(Verdict::Refused("both find no strided form, or no grouping"));
        }
        (Err(e), Some(w)) if lawful(&w) => tally.differ(format!("{e:?} although {w:?} is right")),
        (Err(_), Some(_)) => tally.refuse("TIRx's slice is another map than the region"),
    }
    Ok(tally.verdict())
}

/// The element of the whole that is element `x` of the region.
fn within(x: i64, region: &[(i64, i64)], shape: &[u32]) -> i64 {
    let (mut rest, mut scale, mut flat) = (x, 1, 0);
    for ((begin, end), extent) in region.iter().zip(shape).rev() {
        flat += (begin + rest % (end - begin)) * scale;
        rest /= end - begin;
        scale *= i64::from(*extent);
    }
    flat
}

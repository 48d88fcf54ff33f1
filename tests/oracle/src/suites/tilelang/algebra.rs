//! Operations on fragments and layouts.

use super::bases::{self, Base};
use super::expr::coords;
use super::model::{Model, extents, numbers};
use crate::suites::{Case, Verdict};
use lanebook_layout::tilelang::{self, Fragment, GuardedInverse};
use lanebook_layout::{AxisId, Coord, Error, LayoutRef};
use serde_json::Value;

/// A record whose call is `Fragment`, `Layout` or one of their methods.
pub fn judge(case: &Case<'_>) -> Result<Verdict, String> {
    let record = case.record;
    let call = record["call"].as_str().ok_or("call")?;
    let base = match bases::find(record, case.file)? {
        Some(base) => base,
        None => return Ok(Verdict::Unexplained("the file does not define the base")),
    };
    match (base, call.split_once('.')) {
        (Base::Irregular, _) => Ok(Verdict::Refused(
            "the base wraps around a modulus that cuts a dimension or its copies: tried on all points, no strided layout is that map",
        )),
        (Base::Fragment(f), None) => Ok(compare(record, Ok(f))),
        (Base::Layout(l), None) => Ok(compare_layout(record, Ok(l))),
        (Base::Fragment(f), Some((_, "inverse"))) => fragment_inverse(record, &f),
        (Base::Layout(l), Some((_, "inverse"))) => layout_inverse(record, &l.view()),
        (Base::Fragment(f), Some((_, op))) => match fragment_op(record, &f, op)? {
            Some(found) => Ok(compare(record, found)),
            None => Ok(Verdict::Unexplained("an operation that the suite does not know")),
        },
        (Base::Layout(l), Some((_, op))) => match layout_op(record, &l.view(), op)? {
            Some(found) => Ok(compare_layout(record, found)),
            None => Ok(Verdict::Unexplained("an operation that the suite does not know")),
        },
    }
}

fn count(v: &Value) -> Result<u32, String> {
    let n = v.as_u64().and_then(|n| u32::try_from(n).ok());
    n.ok_or_else(|| format!("count {v}"))
}

type Found<T> = Result<Option<Result<T, Error>>, String>;

fn fragment_op(record: &Value, f: &Fragment, op: &str) -> Found<Fragment> {
    Ok(Some(match op {
        "replicate" => f.replicate(count(&record["arg"])?),
        "condense_rep_var" => f.condense(),
        "repeat" => {
            let on_thread = record["repeat_on_thread"].as_bool().ok_or("repeat")?;
            let lower = record["lower_dim_first"].as_bool().ok_or("repeat")?;
            f.repeat(&extents(&record["repeats"])?, on_thread, lower)
        }
        "reshape" => f.reshape(&extents(&record["new_shape"])?, rescale(record)?),
        _ => return Ok(None),
    }))
}

fn layout_op(record: &Value, l: &LayoutRef<'_>, op: &str) -> Found<lanebook_layout::Layout> {
    Ok(Some(match op {
        "repeat" => {
            let dim = record["dim"].as_i64().ok_or("dim")?;
            let dim = if dim < 0 { dim + l.rank() as i64 } else { dim };
            let dim = u8::try_from(dim).unwrap_or(u8::MAX);
            tilelang::repeat(l, dim, count(&record["factor"])?)
        }
        "expand" => tilelang::expand(l, &extents(&record["leading"])?),
        "reshape" => tilelang::reshape(l, &extents(&record["new_shape"])?, rescale(record)?),
        _ => return Ok(None),
    }))
}

fn rescale(record: &Value) -> Result<Option<(u32, u32)>, String> {
    let Some(v) = record.get("rescale") else {
        return Ok(None);
    };
    match extents(v)?[..] {
        [old, new] => Ok(Some((old, new))),
        _ => Err("rescale".to_owned()),
    }
}

/// The verdict on an answer that `same` compares with the recorded layout.
fn verdict<T: std::fmt::Debug>(
    record: &Value,
    found: Result<T, Error>,
    same: impl Fn(&Model, &T) -> Result<(), String>,
) -> Verdict {
    let ok = record["ok"].as_bool().unwrap_or(false);
    match (found, ok) {
        (Ok(found), true) => {
            let compared = Model::read(&record["layout"]).and_then(|m| same(&m, &found));
            compared.map_or_else(Verdict::Differ, |()| Verdict::Agree)
        }
        (Err(_), false) => Verdict::Refused("both refuse"),
        (Err(e), true) => Verdict::Differ(format!("{e:?}")),
        (Ok(found), false) => Verdict::Differ(format!("{found:?} where TileLang refuses")),
    }
}

fn compare(record: &Value, found: Result<Fragment, Error>) -> Verdict {
    verdict(record, found, |m, f| m.is_fragment(f))
}

fn compare_layout(record: &Value, found: Result<lanebook_layout::Layout, Error>) -> Verdict {
    verdict(record, found, |m, l| m.is_layout(&l.view()))
}

/// The coordinates and copy that a position leads back to.
fn back(
    inverse: &GuardedInverse,
    at: &[(AxisId, i64)],
    shape: &[i64],
) -> Result<Option<(Vec<i64>, i64)>, String> {
    let show = |e: Error| format!("{e:?}");
    let mut position = Coord::new();
    for (axis, v) in at {
        position.add(*axis, *v).map_err(show)?;
    }
    let Some(e) = inverse.at(&position).map_err(show)? else {
        return Ok(None);
    };
    let coord = coords(shape).nth(e.flat as usize).ok_or("flat")?;
    Ok(Some((coord, e.copy as i64)))
}

/// Compares an inverse with the recorded one, over all positions; `axes` are those of the
/// positions.
fn recorded(
    record: &Value,
    inverse: &GuardedInverse,
    shape: &[i64],
    axes: &[AxisId],
    with_copy: bool,
) -> Result<(), String> {
    let m = Model::read(&record["layout"])?;
    for at in coords(&m.shape) {
        let mut wanted = m.outputs(&at)?;
        let named: Vec<(AxisId, i64)> = axes.iter().copied().zip(at.iter().copied()).collect();
        let found = back(inverse, &named, shape)?;
        let Some((mut found, copy)) = found else {
            return Err(format!("nothing at {at:?} instead of {wanted:?}"));
        };
        if with_copy {
            found.push(copy);
        }
        wanted.truncate(found.len());
        if found != wanted {
            return Err(format!("at {at:?}: {found:?} instead of {wanted:?}"));
        }
    }
    Ok(())
}

/// That the inverse leads every copy of every element back, and no other position anywhere.
fn law(f: &Fragment, inverse: &GuardedInverse) -> Result<(), String> {
    let show = |e: Error| format!("{e:?}");
    let size = f.layout().size_value().map_err(show)?;
    let copies = f.copies().map_err(show)?;
    let mut owned = std::collections::BTreeMap::new();
    for (x, c) in (0..size).flat_map(|x| (0..copies).map(move |c| (x, c))) {
        let thread = f.forward_thread(x, c).map_err(show)?;
        owned.insert((thread, f.forward_index(x).map_err(show)?), x);
    }
    let (threads, locals) = (f.thread_extent().map_err(show)?, f.index_extent().map_err(show)?);
    for (t, i) in (-1..=threads).flat_map(|t| (-1..=locals).map(move |i| (t, i))) {
        let mut at = Coord::new();
        at.add(AxisId::TX, t).map_err(show)?;
        at.add(AxisId::M, i).map_err(show)?;
        let found = inverse.at(&at).map_err(show)?.map(|e| e.flat);
        if found != owned.get(&(t, i)).copied() {
            return Err(format!("thread {t}, index {i}: {found:?}"));
        }
    }
    Ok(())
}

fn fragment_inverse(record: &Value, f: &Fragment) -> Result<Verdict, String> {
    let shape: Vec<i64> =
        f.shape().map_err(|e| format!("{e:?}"))?.iter().map(|e| i64::from(*e)).collect();
    let inverse = match f.inverse() {
        Ok(inverse) => inverse,
        Err(e) => return Ok(verdict::<()>(record, Err(e), |_, ()| Ok(()))),
    };
    if let Err(what) = law(f, &inverse) {
        return Ok(Verdict::Differ(what));
    }
    if record["ok"] == Value::Bool(false) {
        return Ok(Verdict::Ruled(
            "TileLang's inverter gives up; every element and copy is led back",
        ));
    }
    let axes = [AxisId::M, AxisId::TX];
    let compared = recorded(record, &inverse, &shape, &axes, true);
    Ok(compared.map_or_else(Verdict::Differ, |()| Verdict::Agree))
}

fn layout_inverse(record: &Value, l: &LayoutRef<'_>) -> Result<Verdict, String> {
    let show = |e: Error| format!("{e:?}");
    let shape = tilelang::shape_of(l).map_err(show)?;
    let shape: Vec<i64> = shape.iter().map(|e| i64::from(*e)).collect();
    let inverse = match tilelang::guarded_inverse(l) {
        Ok(inverse) => inverse,
        Err(e) => return Ok(verdict::<()>(record, Err(e), |_, ()| Ok(()))),
    };
    let mut at = Coord::new();
    for x in 0..l.size_value().map_err(show)? {
        l.apply_flat(x, &mut at).map_err(show)?;
        let found = inverse.at(&at).map_err(show)?.map(|e| e.flat);
        if found != Some(x) {
            return Ok(Verdict::Differ(format!("element {x} is led back to {found:?}")));
        }
    }
    if record["ok"] == Value::Bool(false) {
        return Ok(Verdict::Ruled(
            "TileLang's inverter gives up; every element and copy is led back",
        ));
    }
    let outputs = numbers(&record["layout"]["shape"])?.len();
    let axes: Vec<AxisId> = (0..outputs).map(|k| super::model::axis(k, outputs)).collect();
    let compared = recorded(record, &inverse, &shape, &axes, false);
    Ok(compared.map_or_else(Verdict::Differ, |()| Verdict::Agree))
}

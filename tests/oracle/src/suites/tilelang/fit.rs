//! Strided layouts of expressions, found by looking at their values along each dimension.

use super::expr::{coords, eval};
use super::model::axis;
use lanebook_layout::notation::cute;
use lanebook_layout::tilelang::Fragment;
use lanebook_layout::{AxisId, Iter, Layout, NoSyms, WellKnown};
use serde_json::Value;

/// Digits of one dimension, fastest first: extent, and what a step moves in each output.
type Digits = Vec<(i64, Vec<i64>)>;

/// The digits whose weighted sum is `values` (which begin with zeros), if there are any.
fn digits(values: &[Vec<i64>]) -> Option<Digits> {
    let (mut out, mut base) = (Digits::new(), 1);
    while base < values.len() {
        let step = values[base].clone();
        let follows = |k: usize| {
            (0..base).all(|r| {
                let sum = values[r].iter().zip(&step).map(|(a, s)| a + k as i64 * s);
                values[k * base + r].iter().copied().eq(sum)
            })
        };
        let mut extent = 1;
        while (extent + 1) * base <= values.len() && follows(extent) {
            extent += 1;
        }
        while extent > 1 && !values.len().is_multiple_of(extent * base) {
            extent -= 1;
        }
        if extent == 1 {
            return None;
        }
        out.push((extent as i64, step));
        base *= extent;
    }
    Some(out)
}

/// The digits of every dimension of a map that is a sum over its dimensions; `None` if it is not.
fn separate(
    shape: &[i64],
    map: &impl Fn(&[i64]) -> Result<Vec<i64>, String>,
) -> Result<Option<Vec<Digits>>, String> {
    let zero = vec![0; shape.len()];
    if map(&zero)?.iter().any(|v| *v != 0) {
        return Err("a map with an offset, which this suite does not read".to_owned());
    }
    let mut out = Vec::new();
    for (d, extent) in shape.iter().enumerate() {
        let mut values = Vec::new();
        for k in 0..*extent {
            let mut at = zero.clone();
            at[d] = k;
            values.push(map(&at)?);
        }
        match digits(&values) {
            Some(found) => out.push(found),
            None => return Ok(None),
        }
    }
    for coord in coords(shape) {
        let mut sum = vec![0; map(&zero)?.len()];
        for (own, x) in out.iter().zip(&coord) {
            let mut rest = *x;
            for (extent, step) in own {
                for (s, v) in sum.iter_mut().zip(step) {
                    *s += rest % extent * v;
                }
                rest /= extent;
            }
        }
        if sum != map(&coord)? {
            return Ok(None);
        }
    }
    Ok(Some(out))
}

/// Iters of digits; `None` if a digit moves two outputs.
fn iters(digits: &Digits, axes: &[AxisId]) -> Option<Vec<Iter>> {
    let one = |(extent, step): &(i64, Vec<i64>)| {
        let mut moved = step.iter().zip(axes).filter(|m| *m.0 != 0);
        let (stride, axis) = moved.next().map_or((0, AxisId::M), |m| (*m.0, *m.1));
        let extent = u32::try_from(*extent).ok()?;
        moved.next().is_none().then(|| Iter::new(extent, stride, axis))
    };
    digits.iter().map(one).collect()
}

/// A layout whose modes are these dimensions, the last first.
fn tree(dims: &[Vec<Iter>], replica: &[Iter]) -> Layout {
    let mut parts = [String::new(), String::new()];
    for dim in dims.iter().rev() {
        let unit = [Iter::new(1, 0, AxisId::M)];
        let dim = if dim.is_empty() { &unit } else { dim.as_slice() };
        let lists = [
            dim.iter().map(|it| it.extent().coeff().to_string()).collect::<Vec<_>>(),
            dim.iter().map(stride).collect(),
        ];
        for (part, list) in parts.iter_mut().zip(lists) {
            if !part.is_empty() {
                part.push(',');
            }
            match list.as_slice() {
                [one] => part.push_str(one),
                many => part.push_str(&format!("({})", many.join(","))),
            }
        }
    }
    let text = format!("({}):({})", parts[0], parts[1]);
    let mut out = cute::parse(&text, &WellKnown, &mut NoSyms).expect("a layout");
    for it in replica {
        out.push_replica(*it).expect("room for a replica");
    }
    out
}

fn stride(it: &Iter) -> String {
    let stride = it.stride().coeff();
    match (it.axis(), it.axis().as_dim()) {
        (_, Some(n)) => format!("{stride}@{n}"),
        (AxisId::TX, _) => format!("{stride}@tx"),
        _ => stride.to_string(),
    }
}

/// The layout of a map of several outputs.
pub fn layout(shape: &[i64], index: &[Value]) -> Result<Option<Layout>, String> {
    let count = index.len();
    let axes: Vec<AxisId> = (0..count).map(|k| axis(k, count)).collect();
    let map = |at: &[i64]| index.iter().map(|e| eval(e, at, 0)).collect();
    let Some(dims) = separate(shape, &map)? else {
        return Ok(None);
    };
    let dims: Option<Vec<_>> = dims.iter().map(|d| iters(d, &axes)).collect();
    Ok(dims.map(|dims| tree(&dims, &[])))
}

/// The fragment of a map of threads and, if given, one of the local index.
pub fn fragment(
    shape: &[i64],
    replicate: i64,
    thread: &Value,
    index: Option<&Value>,
) -> Result<Option<Fragment>, String> {
    let rank = shape.len();
    let mut domain = shape.to_vec();
    domain.push(replicate);
    let map = |at: &[i64]| {
        let mut out = vec![eval(thread, &at[..rank], at[rank])?];
        if let Some(index) = index {
            out.push(eval(index, &at[..rank], 0)?);
        }
        Ok(out)
    };
    let Some(dims) = separate(&domain, &map)? else {
        return Ok(None);
    };
    let axes = [AxisId::TX, AxisId::M];
    let dims: Option<Vec<_>> = dims.iter().map(|d| iters(d, &axes)).collect();
    let Some((copies, dims)) = dims.as_ref().and_then(|d| d.split_last()) else {
        return Ok(None);
    };
    // A replica that moves nothing still belongs to the thread.
    let copies: Vec<Iter> = copies
        .iter()
        .map(|it| Iter::symbolic(it.extent(), it.stride(), AxisId::TX).expect("an iter"))
        .collect();
    let l = tree(dims, &copies);
    let built = match index {
        Some(_) => Fragment::new(l),
        None => Fragment::with_threads(&l.view()),
    };
    built.map(Some).map_err(|e| format!("{e:?}"))
}

//! The records' integer expressions.

use serde_json::Value;

/// The value of an expression where `i0, i1, ...` are `coord` and `rep` is the copy.
pub fn eval(e: &Value, coord: &[i64], rep: i64) -> Result<i64, String> {
    if let Some(n) = e.as_i64() {
        return Ok(n);
    }
    if let Some(name) = e.as_str() {
        if name == "rep" {
            return Ok(rep);
        }
        let k = name.strip_prefix('i').and_then(|k| k.parse::<usize>().ok());
        let found = k.and_then(|k| coord.get(k));
        return found.copied().ok_or_else(|| format!("variable {name}"));
    }
    let list = e.as_array().ok_or_else(|| format!("expression {e}"))?;
    let [op, rest @ ..] = list.as_slice() else {
        return Err("empty expression".to_owned());
    };
    let op = op.as_str().ok_or_else(|| format!("operator {op}"))?;
    let mut values = Vec::new();
    for v in rest {
        values.push(eval(v, coord, rep)?);
    }
    let pair = |f: fn(i64, i64) -> i64| match values.as_slice() {
        [a, b] => Ok(f(*a, *b)),
        _ => Err(format!("operands of {op}")),
    };
    match op {
        "+" => pair(|a, b| a + b),
        "-" if values.len() == 1 => Ok(-values[0]),
        "-" => pair(|a, b| a - b),
        "*" => pair(|a, b| a * b),
        "//" => pair(i64::div_euclid),
        "%" => pair(i64::rem_euclid),
        "min" => pair(Ord::min),
        "max" => pair(Ord::max),
        "^" | "xor" => pair(|a, b| a ^ b),
        "band" => pair(|a, b| a & b),
        "bor" => pair(|a, b| a | b),
        "shl" => pair(|a, b| a << b),
        "shr" => pair(|a, b| a >> b),
        _ => Err(format!("operator {op}")),
    }
}

/// All coordinates of a shape, row-major.
pub fn coords(shape: &[i64]) -> impl Iterator<Item = Vec<i64>> {
    let shape = shape.to_vec();
    (0..shape.iter().product()).map(move |flat: i64| {
        let mut rest = flat;
        let mut out: Vec<i64> = shape
            .iter()
            .rev()
            .map(|e| {
                let digit = rest % e;
                rest /= e;
                digit
            })
            .collect();
        out.reverse();
        out
    })
}

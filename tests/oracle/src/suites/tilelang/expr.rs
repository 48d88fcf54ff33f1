//! The records' integer expressions.

use lanebook_inference_tests::expr::value;
use serde_json::Value;

/// The value of an expression where `i0, i1, ...` are `coord` and `rep` is the copy.
pub fn eval(e: &Value, coord: &[i64], rep: i64) -> Result<i64, String> {
    value(e, &|name| match name {
        "rep" => Some(rep),
        _ => coord.get(name.strip_prefix('i')?.parse::<usize>().ok()?).copied(),
    })
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

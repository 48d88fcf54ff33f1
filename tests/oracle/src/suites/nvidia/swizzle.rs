//! CuTe's `Swizzle<B,M,S>`: outputs for the offsets 0, 8, .., 4088.

use super::Verdict;
use lanebook_layout::{Swizzle, Unit};
use serde_json::Value;

/// The swizzle of the record, offset by offset.
pub fn judge(record: &Value) -> Result<Verdict, String> {
    let params: Vec<i64> =
        record["params"].as_array().ok_or("no params")?.iter().filter_map(Value::as_i64).collect();
    let [b, m, s] = params[..] else { return Err("not three parameters".into()) };
    let swizzle =
        Swizzle::new(b as u8, m as u8, s as i8, Unit::Byte).map_err(|e| format!("{e:?}"))?;
    for (k, out) in record["out"].as_array().ok_or("no out")?.iter().enumerate() {
        let x = 8 * k as u64;
        if out.as_u64() != Some(swizzle.apply(x)) {
            return Err(format!("{x} goes to {out}, found {}", swizzle.apply(x)));
        }
    }
    Ok(Verdict::Agree)
}

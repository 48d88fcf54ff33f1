//! Operand fragments of matrix instructions: `mma`, sparse `mma`, `wgmma`.

use super::lanes::fragment;
use super::{NO_FORM, Verdict};
use lanebook_tables::Instance;
use serde_json::Value;

/// `map[lane][i]` = `[row, col]` of element i, in register order.
pub fn judge(found: &[Instance<'_>], record: &Value) -> Result<Verdict, String> {
    let shape = found.first().and_then(Instance::shape).ok_or("no matrix")?;
    let numbers: &[u8] = match record["operand"].as_str().unwrap_or("") {
        "A" => &[shape.a],
        "B" => &[shape.b],
        "C" => &[shape.c],
        "D" => &[shape.d],
        "C/D" => &[shape.c, shape.d],
        _ => return Ok(Verdict::Skipped("sparse operands and metadata are not in the tables yet")),
    };
    for number in numbers {
        // The form that has this operand in registers.
        let Some(layout) = found.iter().find_map(|i| i.layout(*number)) else {
            return Ok(Verdict::Skipped(NO_FORM));
        };
        let columns = if *number == shape.a { shape.k } else { shape.n };
        fragment(&layout.view(), record, |entry| Some(entry.first()? * u64::from(columns) + entry.get(1)?))?;
    }
    Ok(Verdict::Agree)
}

//! Operand fragments of matrix instructions: `mma`, sparse `mma`, `wgmma`.

use super::lanes::fragment;
use super::{NO_FORM, Verdict};
use lanebook_tables::Atom;
use serde_json::Value;

/// `map[lane][i]` = `[row, col]` of element i, in register order.
pub fn judge(atom: &Atom<'_>, record: &Value) -> Result<Verdict, String> {
    let shape = atom.matrix.ok_or("no matrix")?;
    let numbers: &[u8] = match record["operand"].as_str().unwrap_or("") {
        "A" => &[shape.a],
        "B" => &[shape.b],
        "C" => &[shape.c],
        "D" => &[shape.d],
        "C/D" => &[shape.c, shape.d],
        _ => return Ok(Verdict::Skipped("sparse operands and metadata are not in the tables yet")),
    };
    for number in numbers {
        let operand = atom.operands.get(usize::from(*number)).ok_or("no operand")?;
        let Some(layout) = &operand.layout else {
            return Ok(Verdict::Skipped(NO_FORM));
        };
        let columns = u64::from(operand.extents.1);
        fragment(layout, record, |entry| Some(entry.first()? * columns + entry.get(1)?))?;
    }
    Ok(Verdict::Agree)
}

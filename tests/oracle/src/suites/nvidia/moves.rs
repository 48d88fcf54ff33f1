//! Matrix moves: `ldmatrix`, `stmatrix`, `movmatrix`; data and addresses.

use super::lanes::{entry, fragment};
use super::{NO_ATOM, Verdict};
use lanebook_layout::{AxisId, Coord};
use lanebook_tables::{Atom, Space};
use serde_json::Value;

/// Data of a matrix load or store, or the rows whose addresses lanes supply.
pub fn judge(atom: &Atom<'_>, record: &Value) -> Result<Verdict, String> {
    let Some(movement) = atom.movement else {
        return Ok(Verdict::Skipped(NO_ATOM));
    };
    let sides = [&movement.from, &movement.to];
    let extents: Vec<u64> = movement.extents.iter().map(|e| u64::from(*e)).collect();
    // (matrix, row, element); one matrix may have no first extent.
    let flat = |entry: &[u64], extents: &[u64]| {
        let skip = entry.len().checked_sub(extents.len())?;
        if entry[..skip].iter().any(|v| *v != 0) {
            return None;
        }
        Some(entry[skip..].iter().zip(extents).fold(0, |sum, (v, e)| sum * e + v))
    };
    if record["operand"].as_str() == Some("address") {
        let memory = sides.iter().find(|s| s.space != Space::Register).ok_or("no memory side")?;
        let row_elements = *extents.last().ok_or("no extents")?;
        let mut at = Coord::new();
        for (lane, expected) in record["map"].as_array().ok_or("no map")?.iter().enumerate() {
            let Some(expected) = entry(expected) else { continue };
            let row = flat(&expected, &extents[..extents.len() - 1]).ok_or("another shape")?;
            at.clear();
            memory.layout.apply_flat(row * row_elements, &mut at).map_err(|e| format!("{e:?}"))?;
            if at.get(AxisId::SLOT) != lane as i64 || at.get(AxisId::BYTE) != 0 {
                return Err(format!("row {row} is lane {lane}'s, found {at:?}"));
            }
        }
        return Ok(Verdict::Agree);
    }
    let is_source = record["operand"].as_str() == Some("src");
    let of = |k: usize| if sides[k].space == Space::Register { Some(sides[k]) } else { None };
    let side = if is_source { of(0) } else { of(1) };
    let side = side.or(of(0)).or(of(1)).ok_or("no register side")?;
    fragment(side.layout, record, |entry| flat(entry, &extents))?;
    Ok(Verdict::Agree)
}

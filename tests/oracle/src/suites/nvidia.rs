//! NVIDIA instruction layouts against the atoms of the tables; swizzles against the algebra.
//!
//! Rules: an instruction that no table has is not compared, nor are descriptors, canonical shared layouts, tensor memory and
//! scale factors, which are not in the tables yet. Everything else is compared lane by lane.

use super::fragment::{atoms, places};
use super::{Case, Suite, Verdict, has_any};
use lanebook_layout::{AxisId, Coord, LayoutRef, Swizzle, Unit};
use lanebook_tables::{Atom, Space};
use serde_json::Value;

/// The suite.
pub struct Nvidia;

/// Keys that all records of one schema have, a row a schema.
const SHAPES: &[&[&str]] = &[
    &["id", "arch", "atom", "operand", "map"],
    &["id", "arch", "case", "fields"],
    &["id", "case", "params", "offsets", "out"],
    &["id", "arch", "case", "box", "map"],
];

const NO_ATOM: &str = "the instruction is not in the tables yet";
const NO_FORM: &str = "descriptors, canonical shared tiles, tensor memory and scale factors are not in the tables yet";

impl Suite for Nvidia {
    fn name(&self) -> &'static str {
        "nvidia"
    }

    fn knows(&self, _stem: &str, record: &Value) -> bool {
        has_any(record, SHAPES)
    }

    fn judge(&self, case: &Case<'_>) -> Verdict {
        let record = case.record;
        if record.get("params").is_some() {
            return swizzle(record).unwrap_or_else(Verdict::Differ);
        }
        let Some(ptx) = record["ptx"].as_str() else {
            return Verdict::Skipped(NO_FORM);
        };
        let found = atoms(None, ptx);
        let Some(atom) = found.first() else {
            return Verdict::Skipped(NO_ATOM);
        };
        let judged = if atom.matrix.is_some() { matrix(atom, record) } else { movement(atom, record) };
        judged.unwrap_or_else(Verdict::Differ)
    }
}

fn swizzle(record: &Value) -> Result<Verdict, String> {
    let params: Vec<i64> = record["params"].as_array().ok_or("no params")?.iter().filter_map(Value::as_i64).collect();
    let [b, m, s] = params[..] else { return Err("not three parameters".into()) };
    let swizzle = Swizzle::new(b as u8, m as u8, s as i8, Unit::Byte).map_err(|e| format!("{e:?}"))?;
    for (k, out) in record["out"].as_array().ok_or("no out")?.iter().enumerate() {
        let x = 8 * k as u64;
        if out.as_u64() != Some(swizzle.apply(x)) {
            return Err(format!("{x} goes to {out}, found {}", swizzle.apply(x)));
        }
    }
    Ok(Verdict::Agree)
}

/// `map[lane][i]` = `[row, col]` of element i, in register order.
fn matrix(atom: &Atom<'_>, record: &Value) -> Result<Verdict, String> {
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

/// Each lane's elements in the order of their bits are those of the record, as row-major numbers.
fn fragment(layout: &LayoutRef<'_>, record: &Value, number: impl Fn(&[u64]) -> Option<u64>) -> Result<(), String> {
    let mut lanes: Vec<Vec<u64>> = Vec::new();
    for ((lane, _), x) in places(layout)? {
        let lane = lane as usize;
        lanes.resize(lanes.len().max(lane + 1), Vec::new());
        lanes[lane].push(x);
    }
    let map = record["map"].as_array().ok_or("no map")?;
    if map.len() != lanes.len() {
        return Err(format!("{} lanes, found {}", map.len(), lanes.len()));
    }
    for (lane, (expected, found)) in map.iter().zip(&lanes).enumerate() {
        let list = expected.as_array().ok_or("no lane")?;
        let expected: Option<Vec<u64>> = list.iter().map(|e| number(&entry(e)?)).collect();
        if expected.as_ref() != Some(found) {
            return Err(format!("lane {lane} holds {list:?}, found {found:?}"));
        }
    }
    Ok(())
}

fn entry(value: &Value) -> Option<Vec<u64>> {
    value.as_array()?.iter().map(Value::as_u64).collect()
}

/// Data of a matrix load or store, or the rows whose addresses lanes supply.
fn movement(atom: &Atom<'_>, record: &Value) -> Result<Verdict, String> {
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

//! Canonical shared-memory operand layouts: atoms and whole tiles.
//!
//! Rules: the tile is that of the record's order and swizzle. A whole tile's offsets are those of
//! its own descriptors (which must say the same in both generations), its layout is made from them,
//! compared byte by byte, and described again; offsets that the layout does not depend on are free,
//! so the record's are taken. Where a unit does not take such elements in this order, it must
//! refuse.

use super::Verdict;
use super::descriptors::arch;
use crate::tables::tables;
use lanebook::unit::descriptor::DescriptorWord;
use lanebook::unit::{UnitError, descriptor_named, operand};
use lanebook_layout::{AxisId, Coord, Layout};
use lanebook_tables::{Major, OperandTile};
use serde_json::Value;

/// The record's map and descriptors against the tables.
pub fn judge(record: &Value) -> Verdict {
    compare(record).unwrap_or_else(Verdict::Differ)
}

/// The descriptors that a record may show, with the table and an architecture that has it.
const UNITS: [(&str, &str, &str); 2] =
    [("wgmma_desc", "wgmma.shared", "sm_90a"), ("tcgen05_desc", "tcgen05.shared", "sm_100a")];

fn compare(record: &Value) -> Result<Verdict, String> {
    let major = match record["major"].as_str() {
        Some("K") => Major::Depth,
        Some("MN") => Major::Outer,
        other => return Err(format!("no order {other:?}")),
    };
    let mode = match record["swizzle"].as_str().unwrap_or("") {
        "INTER" => "none".to_string(),
        "SW128_BASE32B" => "128B_ATOM_32B".to_string(),
        other => format!("{}B", other.trim_start_matches("SW")),
    };
    let found =
        tables().archs.iter().find_map(|arch| operand::of(tables(), arch, major, &mode).ok());
    let tile = found.ok_or(format!("no tile for {major:?} {mode}"))?;
    let bits = record["dtype_bits"].as_u64().ok_or("no width")? as u16;
    let shape: Vec<u32> = record["shape"]
        .as_array()
        .ok_or("no shape")?
        .iter()
        .filter_map(|v| v.as_u64().map(|v| v as u32))
        .collect();
    let [outer, depth] = shape[..] else { return Err("not two extents".into()) };
    let words = words(record)?;
    let offsets = offsets(tile, &words)?;
    let layout = match operand::layout(tile, (outer, depth), bits, &offsets) {
        Ok(layout) => layout,
        Err(UnitError::Extent { .. }) if record["injective"] == Value::Bool(false) => {
            return Ok(Verdict::Refused(
                "more columns than a swizzled row has: elements would share places",
            ));
        }
        Err(error) => return Err(format!("{error:?}")),
    };
    places(record, &layout, bits)?;
    let mut refused = 0;
    for (unit, word, address) in &words {
        let (_, _, name) = UNITS.iter().find(|(_, u, _)| u == unit).ok_or("no unit")?;
        let arch = arch(name).ok_or("no architecture")?;
        let described = match operand::describe(
            tables(),
            arch,
            unit,
            &layout.view(),
            (outer, depth),
            bits,
            Some(major),
        ) {
            Err(UnitError::Width { .. }) if !operand::takes(tile, unit, bits) => {
                refused += 1;
                continue;
            }
            other => other.map_err(|e| format!("{unit} does not describe the layout: {e:?}"))?,
        };
        let mut described = described;
        for (k, field) in described.tile.fields.iter().enumerate() {
            if described.free[k] {
                described.bytes[k] = word.get(field.field).map_err(|e| format!("{e:?}"))? as u32;
            }
        }
        let found = described
            .word(tables(), arch, unit, *address)
            .and_then(|w| w.pack())
            .map_err(|e| format!("{unit}: {e:?}"))?;
        let expected = word.pack().map_err(|e| format!("{e:?}"))?;
        if found != expected || described.tile.name != tile.name {
            return Err(format!(
                "{unit} {expected:#x}, found {found:#x} as {}",
                described.tile.name
            ));
        }
    }
    if refused == words.len() && refused > 0 {
        return Ok(Verdict::Refused("no unit takes elements of this width in this order"));
    }
    Ok(Verdict::Agree)
}

type Shown = Vec<(&'static str, DescriptorWord<'static>, u64)>;

/// The descriptors of the record: keys `wgmma_desc_at_0x400` and so on.
fn words(record: &Value) -> Result<Shown, String> {
    let mut out = Vec::new();
    for (key, value) in record.as_object().ok_or("no record")? {
        for (prefix, unit, name) in UNITS {
            let Some(address) =
                key.strip_prefix(prefix).and_then(|rest| rest.strip_prefix("_at_0x"))
            else {
                continue;
            };
            let address = u64::from_str_radix(address, 16).map_err(|e| e.to_string())?;
            let bits =
                u64::from_str_radix(value.as_str().unwrap_or("").trim_start_matches("0x"), 16)
                    .map_err(|e| e.to_string())?;
            let table = descriptor_named(tables(), arch(name).ok_or("no architecture")?, unit)
                .map_err(|e| format!("{e:?}"))?;
            out.push((
                unit,
                DescriptorWord::unpack(table, bits)
                    .map_err(|e| format!("{unit} {bits:#x}: {e:?}"))?,
                address,
            ));
        }
    }
    Ok(out)
}

/// The offsets that the descriptors say; both say the same.
fn offsets<'a>(tile: &OperandTile<'a>, words: &Shown) -> Result<Vec<(&'a str, u32)>, String> {
    let mut out: Vec<(&'a str, u32)> = Vec::new();
    for (unit, word, _) in words {
        for field in tile.fields {
            let value = word.get(field.field).map_err(|e| format!("{unit}: {e:?}"))? as u32;
            match out.iter().find(|(name, _)| *name == field.field) {
                Some((_, before)) if *before != value => {
                    return Err(format!("{} is {before} and {value}", field.field));
                }
                Some(_) => {}
                None => out.push((field.field, value)),
            }
        }
    }
    Ok(out)
}

/// `map[mn][k]` is a byte.
fn places(record: &Value, layout: &Layout, bits: u16) -> Result<(), String> {
    let view = layout.view();
    let rows = record["map"].as_array().ok_or("no map")?;
    for (mn, row) in rows.iter().enumerate() {
        let row = row.as_array().ok_or("no row")?;
        for (k, expected) in row.iter().enumerate() {
            let mut at = Coord::new();
            view.apply_flat((mn * row.len() + k) as u64, &mut at).map_err(|e| format!("{e:?}"))?;
            let byte = at.get(AxisId::M) as u64 * u64::from(bits) / 8;
            if expected.as_u64() != Some(byte) {
                return Err(format!("({mn}, {k}) at {expected}, found {byte}"));
            }
        }
    }
    Ok(())
}

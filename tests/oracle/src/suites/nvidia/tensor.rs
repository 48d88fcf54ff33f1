//! Tensor memory: `tcgen05.ld` / `st` / `cp`, accumulator layouts, scale factors in tensor memory.
//!
//! Rules: a copy's tile is named after its shape and multicast; an accumulator's tile is the one
//! that the table of shapes has for the instruction, and its letter must be the record's; scale
//! factors are one tile for every count. A load or store is found by its shape and count, and its
//! atom must have the record's mnemonic.

use super::{NO_FORM, Verdict};
use crate::tables::tables;
use lanebook::unit::tensor;
use lanebook_layout::{AxisId, Coord, Layout};
use lanebook_tables::TensorTile;
use serde_json::Value;

/// The record's places against the tables.
pub fn judge(record: &Value) -> Verdict {
    let ptx = record["ptx"].as_str().unwrap_or("");
    let judged = match record["operand"].as_str().unwrap_or("") {
        _ if ptx.starts_with("tcgen05.cp") => copy(record, ptx),
        _ if ptx.starts_with("tcgen05.ld.") || ptx.starts_with("tcgen05.st.") => moved(record, ptx),
        "D" => accumulator(record, ptx),
        "SFA" | "SFB" => scales(record),
        _ => return Verdict::Skipped(NO_FORM),
    };
    judged.map_or_else(Verdict::Differ, |()| Verdict::Agree)
}

fn tile(name: &str) -> Result<&'static TensorTile<'static>, String> {
    tables().units.tensor_tiles.iter().find(|t| t.name == name).ok_or(format!("no tile {name}"))
}

fn shape(record: &Value) -> Result<(u32, u32), String> {
    let list: Vec<u32> = record["shape"]
        .as_array()
        .ok_or("no shape")?
        .iter()
        .filter_map(|v| v.as_u64().map(|v| v as u32))
        .collect();
    let [rows, columns] = list[..] else { return Err("not two extents".into()) };
    Ok((rows, columns))
}

/// Where an element is, with the places of its copies: those of lane, column, byte and block.
fn places(layout: &Layout, x: u64) -> Result<Vec<[u64; 4]>, String> {
    let view = layout.view();
    let mut at = Coord::new();
    view.apply_flat(x, &mut at).map_err(|e| format!("{e:?}"))?;
    let axes = [AxisId::TLANE, AxisId::TCOL, AxisId::BYTE, AxisId::CBX];
    let mut out = vec![axes.map(|axis| at.get(axis) as u64)];
    for it in view.replica {
        let (extent, stride) = (
            it.extent_value().map_err(|e| format!("{e:?}"))?,
            it.stride_value().map_err(|e| format!("{e:?}"))?,
        );
        let axis = axes.iter().position(|a| *a == it.axis()).ok_or("a copy on another axis")?;
        let moved = |place: &[u64; 4], k: u32| {
            let mut place = *place;
            place[axis] += u64::from(k) * stride as u64;
            place
        };
        out = (0..extent)
            .flat_map(|k| out.iter().map(move |p| moved(p, k)).collect::<Vec<_>>())
            .collect();
    }
    Ok(out)
}

/// `map[row]` = lanes written, in `columns` columns.
fn copy(record: &Value, ptx: &str) -> Result<(), String> {
    let name = ptx.split('.').skip(3).filter(|part| {
        !part.starts_with("b8x16") && !part.starts_with("b6x16") && !part.starts_with("b4x16")
    });
    let tile = tile(&format!("cp.{}", name.collect::<Vec<_>>().join(".")))?;
    let (rows, bits) = shape(record)?;
    let columns = bits / 32;
    if record["columns"].as_u64() != Some(u64::from(columns)) {
        return Err(format!("{} columns of {bits} bits", record["columns"]));
    }
    let layout = tensor::layout(tile, rows, columns, false).map_err(|e| format!("{e:?}"))?;
    for (row, expected) in record["map"].as_array().ok_or("no map")?.iter().enumerate() {
        let expected: Vec<u64> =
            expected.as_array().ok_or("no lanes")?.iter().filter_map(Value::as_u64).collect();
        for column in 0..u64::from(columns) {
            let found = places(&layout, row as u64 * u64::from(columns) + column)?;
            let lanes: Vec<u64> = found.iter().map(|p| p[0]).collect();
            if lanes != expected || found.iter().any(|p| p[1] != column) {
                return Err(format!("row {row} goes to lanes {expected:?}, found {found:?}"));
            }
        }
    }
    Ok(())
}

/// `map[row][col]` = [block, lane, column].
fn accumulator(record: &Value, ptx: &str) -> Result<(), String> {
    let (rows, columns) = shape(record)?;
    let after =
        |word: &str| ptx.split(word).nth(1).map(|rest| rest.split('.').next().unwrap_or(""));
    let blocks: u8 =
        after("cta_group::").and_then(|n| n.parse().ok()).ok_or("no group of blocks")?;
    let kind = after("kind::").ok_or("no kind")?;
    let has = |part: &str| ptx.split('.').any(|p| p == part);
    let same = |s: &&lanebook_tables::UnitShape<'_>| {
        (s.kind, s.blocks, s.stationary, s.sparse) == (kind, blocks, has("ws"), has("sp"))
    };
    let found = tables().units.shapes.iter().find(same).ok_or("no such instruction")?;
    let (_, name) = found.m.iter().find(|(m, _)| u32::from(*m) == rows).ok_or("no such rows")?;
    if record["layout_id"].as_str() != Some(name) {
        return Err(format!("data path {}, found {name}", record["layout_id"]));
    }
    let layout = tensor::layout(tile(name)?, rows, columns, false).map_err(|e| format!("{e:?}"))?;
    for (row, list) in record["map"].as_array().ok_or("no map")?.iter().enumerate() {
        for (column, expected) in list.as_array().ok_or("no row")?.iter().enumerate() {
            let expected: Vec<u64> =
                expected.as_array().ok_or("no place")?.iter().filter_map(Value::as_u64).collect();
            let [block, lane, cell] = expected[..] else { return Err("not three numbers".into()) };
            let found = places(&layout, row as u64 * u64::from(columns) + column as u64)?;
            if found != [[lane, cell, 0, block]] {
                return Err(format!("({row}, {column}) at {expected:?}, found {found:?}"));
            }
        }
    }
    Ok(())
}

/// `map[row][k]` = [lane, column, byte], copied to the other lanes.
fn scales(record: &Value) -> Result<(), String> {
    let (rows, factors) = shape(record)?;
    let layout =
        tensor::layout(tile("scale")?, rows, factors, false).map_err(|e| format!("{e:?}"))?;
    for (row, list) in record["map"].as_array().ok_or("no map")?.iter().enumerate() {
        for (k, expected) in list.as_array().ok_or("no row")?.iter().enumerate() {
            let expected: Vec<u64> =
                expected.as_array().ok_or("no place")?.iter().filter_map(Value::as_u64).collect();
            let [lane, column, byte] = expected[..] else { return Err("not three numbers".into()) };
            let found = places(&layout, row as u64 * u64::from(factors) + k as u64)?;
            let wanted: Vec<[u64; 4]> =
                (0..4).map(|copy| [lane + 32 * copy, column, byte, 0]).collect();
            if found != wanted {
                return Err(format!("({row}, {k}) at {expected:?}, found {found:?}"));
            }
        }
    }
    Ok(())
}

/// `map[lane][register]` = [lane, column] of tensor memory, or [lane, column of the low half, of
/// the high half].
fn moved(record: &Value, ptx: &str) -> Result<(), String> {
    let parts: Vec<&str> = ptx.split('.').collect();
    let [_, way, _, _, shape, count, ref rest @ ..] = parts[..] else {
        return Err("no load or store".into());
    };
    let form = tables()
        .units
        .tensor_moves
        .iter()
        .find(|m| m.name == shape)
        .ok_or(format!("no form {shape}"))?;
    let count: u16 = count.trim_start_matches('x').parse().map_err(|_| "no count")?;
    let packed = rest.iter().any(|part| part.contains("pack::"));
    let registers = u64::from(form.registers) * u64::from(count);
    if record["regs"].as_u64() != Some(registers) {
        return Err(format!("{} registers, found {registers}", record["regs"]));
    }
    // The atom, by the name that the form gives it.
    let (usual, one) = if way == "ld" { form.loads } else { form.stores };
    let name = if registers == 1 && !one.is_empty() { one } else { usual };
    let name = name.replace("{N}", &count.to_string()).replace("{form}", &rest.join("."));
    let (_, instance) = tables().instance_named(&name).ok_or(format!("no atom {name}"))?;
    if instance.registers(if way == "ld" {
        0
    } else {
        instance.atom.operands.iter().position(|o| o.name == "src").unwrap_or(0) as u8
    }) != Some(registers as u8)
    {
        return Err(format!("{name} has other registers"));
    }
    let offset = record["half_split_offset_columns"].as_u64().unwrap_or(0) as u32;
    let moved = tensor::moved(form, count, offset, packed).map_err(|e| format!("{e:?}"))?;
    let (cells, tuple) = (moved.cells.view(), moved.tuple.view());
    let size = cells.size().and_then(|s| s.value()).map_err(|e| format!("{e:?}"))? as u64;
    let map = record["map"].as_array().ok_or("no map")?;
    let mut seen = 0;
    for x in 0..size {
        let (mut cell, mut place) = (Coord::new(), Coord::new());
        cells.apply_flat(x, &mut cell).map_err(|e| format!("{e:?}"))?;
        tuple.apply_flat(x, &mut place).map_err(|e| format!("{e:?}"))?;
        let (lane, bit) = (place.get(AxisId::LANE) as usize, place.get(AxisId::BIT) as usize);
        let entry = map
            .get(lane)
            .and_then(|l| l.get(bit / 32))
            .and_then(Value::as_array)
            .ok_or("no such register")?;
        let half = if packed { (bit % 32) / 16 } else { 0 };
        let wanted =
            (entry.first().and_then(Value::as_i64), entry.get(1 + half).and_then(Value::as_i64));
        if wanted != (Some(cell.get(AxisId::TLANE)), Some(cell.get(AxisId::TCOL))) {
            return Err(format!("register {} of lane {lane}: {entry:?}, found {cell:?}", bit / 32));
        }
        seen += 1;
    }
    let expected = map.len() as u64 * registers * if packed { 2 } else { 1 };
    if seen != expected { Err(format!("{expected} places, found {seen}")) } else { Ok(()) }
}

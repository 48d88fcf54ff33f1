//! Operands of matrix instructions: where each element is, in which registers, and what the
//! instruction costs.

use super::{Verdict, archs, atoms};
use crate::suites::fragment::places;
use crate::tables::tables;
use lanebook_tables::{Arch, Atom, MatrixMore, MatrixShape, Operand};
use serde_json::Value;
use std::collections::BTreeMap;

/// The tables' names for a record's element type.
fn dtypes(name: &str) -> &'static [&'static str] {
    match name {
        "fp64" | "f64" => &["f64"],
        "fp32" | "f32" => &["f32"],
        "xf32" => &["tf32"],
        "fp16" | "f16" => &["f16"],
        "bf16" => &["bf16"],
        "int32" | "i32" => &["i32"],
        "int8" | "i8" => &["i8"],
        "iu8" => &["u8"],
        "iu4" => &["u4"],
        "amd_fp8" => &["e4m3fnuz"],
        "amd_bf8" => &["e5m2fnuz"],
        "fp8" => &["e4m3", "f8"],
        "bf8" => &["e5m2", "f8"],
        "fp6" => &["e2m3", "f6"],
        "bf6" => &["e3m2", "f6"],
        "fp4" => &["e2m1", "f4"],
        _ => &[],
    }
}

/// Whether an operand takes the type that the record states under `key`.
fn typed(atom: &'static Atom<'static>, number: u8, record: &Value, key: &str) -> bool {
    let takes =
        |name: &&str| tables().dtype_named(name).is_some_and(|dtype| atom.takes(number, dtype));
    record[key].as_str().is_none_or(|wanted| dtypes(wanted).iter().any(takes))
}

/// Judges one record with every architecture and every spelling that it is for.
pub fn operand(record: &Value) -> Result<Verdict, String> {
    let mut names = vec![record["inst"].as_str().ok_or("no instruction")?];
    names.extend(record["also"].as_str());
    for arch in archs(record)? {
        for name in &names {
            one(arch, name, record).map_err(|what| format!("{} {name}: {what}", arch.name))?;
        }
    }
    Ok(Verdict::Agree)
}

fn one(arch: &'static Arch<'static>, name: &str, record: &Value) -> Result<(), String> {
    let mut found = None;
    for atom in atoms(arch, name) {
        let shape = atom.matrix.ok_or("no matrix")?;
        if typed(atom, shape.a, record, "in_a")
            && typed(atom, shape.b, record, "in_b")
            && typed(atom, shape.d, record, "out")
        {
            // Forms with other register classes must not say otherwise.
            found = Some(());
            compare(atom, shape, record)?;
        }
    }
    found.ok_or_else(|| "the tables do not have it with these types".into())
}

fn compare(atom: &'static Atom<'static>, shape: MatrixShape, record: &Value) -> Result<(), String> {
    const PLAIN: MatrixMore<'_> = MatrixMore {
        blocks: 1,
        index: None,
        scales: (None, None),
        moves: &[],
        broadcasts: &[],
        shared: &[],
        runs: None,
        sum_bits: None,
        tensor: None,
    };
    let more = atom.more.unwrap_or(&PLAIN);
    let figures = [("m", shape.m), ("n", shape.n), ("k", shape.k), ("blocks", more.blocks)];
    for (key, found) in figures {
        if record[key].as_u64().is_some_and(|wanted| wanted != u64::from(found)) {
            return Err(format!("{key} is {}, found {found}", record[key]));
        }
    }
    for (key, number) in [("a", shape.a), ("b", shape.b), ("c", shape.c), ("d", shape.d)] {
        let found = atom.operands.get(usize::from(number)).map_or(0, |o| u64::from(o.registers));
        if record["vgprs"][key].as_u64().is_some_and(|wanted| wanted != found) {
            return Err(format!("{key} has {} registers, found {found}", record["vgprs"][key]));
        }
    }
    let cycles =
        record["cycles"].as_u64().or(record["passes_llvm"].as_u64().map(|passes| 4 * passes));
    if cycles.is_some_and(|wanted| wanted != u64::from(atom.cost.cycles)) {
        return Err(format!("{cycles:?} cycles, found {}", atom.cost.cycles));
    }
    let which = record["matrix"].as_str().unwrap_or("");
    let number = match which {
        "a" => shape.a,
        "b" => shape.b,
        "c" => shape.c,
        "d" => shape.d,
        "k" => more.index.ok_or("no sparsity indices")?,
        "scale_a" => more.scales.0.ok_or("no scales of A")?,
        "scale_b" => more.scales.1.ok_or("no scales of B")?,
        _ => return Err(format!("matrix {which}")),
    };
    let operand = atom.operands.get(usize::from(number)).ok_or("no operand")?;
    let shift = shift(more, number, which, record)?;
    let mut places = places(operand.layout.ok_or("no layout")?)?;
    let wanted = cells(record, operand, which, shape)?;
    for ((lane, bit), element) in wanted {
        let own = places.remove(&(lane, bit.wrapping_sub(shift)));
        if own != Some(element) {
            return Err(format!(
                "lane {lane}, bit {bit} holds element {element}, found {own:?} (row-major, {} columns)",
                operand.extents.1
            ));
        }
    }
    if places.is_empty() {
        Ok(())
    } else {
        Err(format!("{} places more than the record has", places.len()))
    }
}

/// How far the record's modifier value moves the layout.
fn shift(more: &MatrixMore<'_>, number: u8, which: &str, record: &Value) -> Result<u64, String> {
    let Some(variant) =
        record["variant"].as_object().and_then(|v| v.values().next()).and_then(Value::as_u64)
    else {
        return Ok(0);
    };
    // op_sel's third bit is that of C and D.
    let value = if matches!(which, "c" | "d") { variant >> 2 } else { variant };
    let mut moves = more.moves.iter().filter(|m| m.of == number);
    match (moves.next(), moves.next()) {
        (Some(one), None) => Ok(value * u64::from(one.bits)),
        (None, _) if value == 0 => Ok(0),
        _ => Err("no one immediate chooses".into()),
    }
}

/// The record's places: (lane, bit) to the element's row-major number.
fn cells(
    record: &Value,
    operand: &Operand<'_>,
    which: &str,
    shape: MatrixShape,
) -> Result<BTreeMap<(u64, u64), u64>, String> {
    let number = |v: &Value| v.as_u64().ok_or("no number");
    let columns = u64::from(operand.extents.1);
    let rows = u64::from(if which == "b" { shape.k } else { shape.m });
    let sparse = record["sparse"].as_bool() == Some(true) && which == "a" || which == "k";
    let nothing = Vec::new();
    let fields = record["fields"].as_array().unwrap_or(&nothing);
    let mut out = BTreeMap::new();
    for (lane, list) in (0u64..).zip(record["map"].as_array().ok_or("no map")?) {
        let Some(list) = list.as_array() else { continue };
        for (k, cell) in list.iter().enumerate() {
            let Some(cell) = cell.as_array() else { continue };
            let (row, column) = (number(&cell[0])?, number(&cell[1])?);
            let Some(field) = fields.get(k) else {
                // A scale: the lane's byte 0, for a row and a run of k.
                out.insert((lane, 0), row * columns + column);
                continue;
            };
            let (bit, width) = (32 * number(&field[0])? + number(&field[1])?, number(&field[2])?);
            let row = cell.get(2).map_or(Ok(0), number)? * rows + row;
            if sparse {
                // Two stored elements of a group of four, or their two indices.
                for half in 0..2 {
                    out.insert((lane, bit + half * width / 2), row * columns + column / 2 + half);
                }
            } else {
                out.insert((lane, bit), row * columns + column);
            }
        }
    }
    Ok(out)
}

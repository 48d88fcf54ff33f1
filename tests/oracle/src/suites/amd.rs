//! AMD matrix and LDS layouts against the atoms and bank models of the tables.
//!
//! Rules: compared are the dense instructions of one product in the wave size that the tables have, exactly, lane by lane,
//! register by register. Not compared, by reason: architectures and instructions not in the tables yet, several products in one
//! instruction, sparse ones, upper halves of registers, scales, and what an assembler accepts (assembler tests do that).

use super::fragment::{arch, atoms, places};
use super::{Case, Suite, Verdict, has_any};
use lanebook_tables::Arch;
use serde_json::Value;

/// The suite.
pub struct Amd;

/// Keys that all records of one schema have, a row a schema.
const SHAPES: &[&[&str]] = &[
    &["inst", "gfx", "matrix", "map"],
    &["inst", "gfx", "map", "wave"],
    &["inst", "gfx", "asm"],
    &["op", "gfx", "banks", "groups"],
    &["asm", "accepts"],
    &["kind"],
];

impl Suite for Amd {
    fn name(&self) -> &'static str {
        "amd"
    }

    fn knows(&self, _stem: &str, record: &Value) -> bool {
        has_any(record, SHAPES)
    }

    fn judge(&self, case: &Case<'_>) -> Verdict {
        let record = case.record;
        let has = |key: &str| record.get(key).is_some();
        if has("kind") {
            return Verdict::Skipped("a note about the data, or about modifiers that exchange blocks and lanes: no layout");
        }
        if has("asm") {
            return Verdict::Skipped("what an assembler accepts: compared by assembling what the tables say");
        }
        let Some(arch) = known(&record["gfx"]) else {
            return Verdict::Skipped("the architecture is not in the tables yet");
        };
        let judged = if has("groups") {
            banks(arch, record)
        } else if has("matrix") {
            matrix(arch, record)
        } else {
            transposing(arch, record)
        };
        judged.unwrap_or_else(Verdict::Differ)
    }
}

/// The architecture of a record: one name, or the first of a list that the tables have.
fn known(gfx: &Value) -> Option<&'static Arch<'static>> {
    match gfx.as_array() {
        Some(list) => list.iter().find_map(|n| arch(n.as_str()?)),
        None => arch(gfx.as_str()?),
    }
}

fn matrix(arch: &Arch<'static>, record: &Value) -> Result<Verdict, String> {
    let number = |key: &str| record[key].as_u64().unwrap_or(0);
    let which = record["matrix"].as_str().unwrap_or("");
    if record["sparse"].as_bool() == Some(true) {
        return Ok(Verdict::Skipped("sparse instructions are not in the tables yet"));
    }
    if number("blocks") > 1 {
        return Ok(Verdict::Skipped("several products in one instruction: the tables' matrix atoms have one"));
    }
    if !matches!(which, "a" | "b" | "c" | "d") {
        return Ok(Verdict::Skipped("scales and sparsity indices are not in the tables yet"));
    }
    if arch.wave_lanes.first().map(|l| u64::from(*l)) != Some(number("wave")) {
        return Ok(Verdict::Skipped("the tables have the architecture's default wave size"));
    }
    if record["variant"].get("opsel").or(record.get("variant")).is_some_and(|v| !matches!(v.as_u64(), Some(0)) && !v.is_null()) {
        return Ok(Verdict::Skipped("operand selection: the tables have the lower halves"));
    }
    let found = atoms(Some(arch), record["inst"].as_str().unwrap_or(""));
    let Some(atom) = found.first() else {
        return Ok(Verdict::Skipped("the instruction is not in the tables yet"));
    };
    let shape = atom.matrix.ok_or("no matrix")?;
    let operand = match which {
        "a" => shape.a,
        "b" => shape.b,
        "c" => shape.c,
        _ => shape.d,
    };
    let operand = atom.operands.get(usize::from(operand)).ok_or("no operand")?;
    let layout = operand.layout.as_ref().ok_or("no layout")?;
    let columns = u64::from(operand.extents.1);
    let mut places = places(layout)?;
    let fields = record["fields"].as_array().ok_or("no fields")?;
    for (lane, list) in record["map"].as_array().ok_or("no map")?.iter().enumerate() {
        let Some(list) = list.as_array() else { continue };
        for (field, cell) in fields.iter().zip(list) {
            let Some(cell) = cell.as_array() else { continue };
            let at = |v: &Value, k: usize| v[k].as_u64().unwrap_or(u64::MAX);
            let bit = 32 * at(field, 0) + at(field, 1);
            let element = cell[0].as_u64().unwrap_or(0) * columns + cell[1].as_u64().unwrap_or(0);
            let own = places.remove(&(lane as u64, bit));
            if own != Some(element) {
                return Err(format!("lane {lane}, bit {bit} holds {cell:?}, found {own:?} (row-major, {columns} columns)"));
            }
        }
    }
    match places.is_empty() {
        true => Ok(Verdict::Agree),
        false => Err(format!("{} places more than the record has", places.len())),
    }
}

fn banks(arch: &Arch<'static>, record: &Value) -> Result<Verdict, String> {
    let op = record["op"].as_str().unwrap_or("");
    // ds_read_b128 is read128, ds_write_b64 write64.
    let name = op.strip_prefix("ds_").unwrap_or(op).replace("_b", "");
    let Some(model) = arch.banks.iter().find(|b| b.name == name) else {
        return Ok(Verdict::Skipped("the bank model is not in the tables yet"));
    };
    let mut expected: Vec<u64> = Vec::new();
    for group in record["groups"].as_array().ok_or("no groups")? {
        let lanes = group.as_array().ok_or("no group")?;
        expected.push(lanes.iter().filter_map(Value::as_u64).fold(0, |mask, lane| mask | 1 << lane));
    }
    let mut found = model.groups.to_vec();
    if record["group_order_known"].as_bool() != Some(true) {
        expected.sort_unstable();
        found.sort_unstable();
    }
    if found != expected {
        return Err(format!("groups {expected:x?}, found {found:x?}"));
    }
    match record["banks"].as_u64() {
        Some(banks) if banks != u64::from(model.banks) => Err(format!("{banks} banks, found {}", model.banks)),
        _ => Ok(Verdict::Agree),
    }
}

/// `map[dst lane][element]` = `[source lane, source element]`, against the two sides of the movement.
fn transposing(arch: &Arch<'static>, record: &Value) -> Result<Verdict, String> {
    let found = atoms(Some(arch), record["inst"].as_str().unwrap_or(""));
    let Some(movement) = found.first().and_then(|a| a.movement) else {
        return Ok(Verdict::Skipped("the instruction is not in the tables yet"));
    };
    let bits = record["elem_bits"].as_u64().ok_or("no width")?;
    let places = places(movement.to.layout)?;
    // The source lane is the address slot, its element the byte within.
    let mut sources = std::collections::BTreeMap::new();
    let mut at = lanebook_layout::Coord::new();
    for x in places.values() {
        at.clear();
        movement.from.layout.apply_flat(*x, &mut at).map_err(|e| format!("{e:?}"))?;
        let on = |axis| at.get(axis) as u64;
        let slot = on(lanebook_layout::AxisId::SLOT);
        sources.insert(*x, (slot, on(lanebook_layout::AxisId::BYTE) * 8 / bits));
    }
    for (lane, list) in record["map"].as_array().ok_or("no map")?.iter().enumerate() {
        for (k, cell) in list.as_array().ok_or("no lane")?.iter().enumerate() {
            let own = places.get(&(lane as u64, k as u64 * bits)).and_then(|x| sources.get(x));
            let expected = (cell[0].as_u64().unwrap_or(u64::MAX), cell[1].as_u64().unwrap_or(u64::MAX));
            if own != Some(&expected) {
                return Err(format!("lane {lane}, element {k} comes from {expected:?}, found {own:?}"));
            }
        }
    }
    Ok(Verdict::Agree)
}

//! TMA boxes in shared memory under each swizzle mode.
//!
//! Rules: the mode is the record's without its prefix; the architecture is any of the tables that
//! has the mode. The number, every address, the box's rules, and (for modes that are one exchange)
//! the box derived from the layout are compared.

use super::Verdict;
use crate::tables::tables;
use lanebook::unit::{map, swizzle};
use lanebook_layout::{AxisId, Iter, Layout};
use serde_json::Value;

/// The record's mode and addresses against the tables.
pub fn judge(record: &Value) -> Verdict {
    compare(record).unwrap_or_else(Verdict::Differ)
}

fn compare(record: &Value) -> Result<Verdict, String> {
    let name =
        record["mode"].as_str().ok_or("no mode")?.trim_start_matches("CU_TENSOR_MAP_SWIZZLE_");
    let name = if name == "NONE" { "none" } else { name };
    let number = |key: &str| record[key].as_u64().ok_or(format!("no {key}"));
    let found = tables()
        .archs
        .iter()
        .find_map(|arch| swizzle::named(tables(), arch, name).ok().map(|mode| (arch, mode)));
    let (arch, mode) = found.ok_or(format!("no architecture has mode {name}"))?;
    let code = number("mode_value")? as u16;
    if swizzle::code(mode, "tma") != Some(code) {
        return Err(format!("{name} is {code}, found {:?}", swizzle::code(mode, "tma")));
    }
    let again = swizzle::numbered(tables(), arch, "tma", code).map_err(|e| format!("{e:?}"))?;
    if again.name != mode.name {
        return Err(format!("{code} is {name}, found {}", again.name));
    }
    let (bits, base, step, inner) = (
        number("element_bits")?,
        number("smem_base")?,
        number("step_elements")?,
        number("inner_bytes")?,
    );
    for (row, list) in record["map"].as_array().ok_or("no map")?.iter().enumerate() {
        for (j, expected) in list.as_array().ok_or("no row")?.iter().enumerate() {
            let at = base + row as u64 * inner + j as u64 * step * bits / 8;
            let found = swizzle::apply(mode, at);
            if expected.as_u64() != Some(found) {
                return Err(format!("row {row}, step {j} at {expected}, found {found}"));
            }
        }
    }
    let boxed: Vec<u32> = record["box"]
        .as_array()
        .ok_or("no box")?
        .iter()
        .filter_map(|v| v.as_u64().map(|v| v as u32))
        .collect();
    derived(arch, mode, bits as u16, &boxed)?;
    Ok(Verdict::Agree)
}

/// The box from the layout of its tile, and by the rules.
fn derived(
    arch: &lanebook_tables::Arch<'_>,
    mode: &lanebook_tables::SwizzleMode<'_>,
    bits: u16,
    boxed: &[u32],
) -> Result<(), String> {
    let element = tables()
        .units
        .tensor_maps
        .iter()
        .flat_map(|m| m.elements)
        .find(|e| u16::from(e.bits) == bits)
        .ok_or("no element type")?;
    let extents: Vec<u64> = boxed.iter().map(|e| u64::from(*e) * 4).collect();
    let strides: Vec<u64> = (1..boxed.len())
        .map(|k| extents[..k].iter().product::<u64>() * u64::from(bits) / 8)
        .collect();
    let steps = vec![1; boxed.len()];
    let request = map::Request {
        element: element.name,
        interleave: "none",
        swizzle: mode.name,
        base: 0,
        extents: &extents,
        strides: &strides,
        boxed,
        steps: &steps,
        shared: 0,
        copies: (true, false),
    };
    map::check(tables(), arch, &request).map_err(|e| format!("the box is refused: {e:?}"))?;
    let Ok(post) = swizzle::post_map(mode, bits) else { return Ok(()) };
    let mut layout = Layout::new();
    let mut stride = 1;
    for extent in boxed {
        layout.push_shard(Iter::new(*extent, stride, AxisId::M)).map_err(|e| format!("{e:?}"))?;
        stride *= i64::from(*extent);
    }
    layout.set_post(post).map_err(|e| format!("{e:?}"))?;
    let shape: Vec<u32> = boxed.iter().rev().copied().collect();
    let found = map::derive(tables(), arch, element.name, &layout.view(), &shape)
        .map_err(|e| format!("no box for the layout: {e:?}"))?;
    if found.extents[..boxed.len()] != *boxed || found.swizzle.name != mode.name {
        return Err(format!("box {boxed:?} {}, found {found:?}", mode.name));
    }
    Ok(())
}

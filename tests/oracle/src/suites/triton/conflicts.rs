//! Bank conflicts of a register layout on a shared layout.
//!
//! Triton's figure is n - 1 for the worst n-way conflict of the widest vector, counted over 32
//! banks of 4 bytes with lanes served in order, halves and quarters of a warp for wide vectors. Ours
//! comes from the bank model of an architecture that is documented so, all lanes evaluated.

use super::super::Verdict;
use super::{Judged, read};
use crate::tables::tables;
use lanebook::encoding::conflicts::{RegisterAccess, count, vector_bits};
use lanebook_layout::AxisId;
use lanebook_layout::triton::address::Addresses;
use lanebook_layout::triton::to_linear;
use serde_json::Value;

const NARROW: &str = "elements narrower than a bank: lanes that differ in the line and in the place within a word conflict as well; \
    Triton counts only those that differ in the line alone";

/// One record.
pub fn judge(record: &Value) -> Judged {
    let shape = read::shape(record)?;
    let bits = read::number(record, "elem_bits")? as u16;
    let result = &record["result"];
    if result["threads_per_warp"].as_u64() != Some(32) {
        return Ok(Verdict::Skipped(
            "64 lanes: Triton counts them in the order of 32, the hardware's groups differ",
        ));
    }
    let register = read::encoding(&record["args"][0])?;
    let registers = to_linear(&register, &shape, &read::tiles(&record["args"][0])?)
        .map_err(|e| format!("{e:?}"))?;
    let shared = Addresses::new(&read::encoding(&record["args"][1])?, &shape, bits)
        .map_err(|e| format!("{e:?}"))?;
    let vector = vector_bits(&registers, &shared).map_err(|e| format!("{e:?}"))?;
    let bytes = (bits << vector) / 8;
    let arch =
        tables().arch_named("sm_80").and_then(|id| tables().arch(id)).ok_or("no architecture")?;
    let name = match bytes {
        0..=4 => "access32",
        5..=8 => "read64",
        _ => "read128",
    };
    let model = arch.banks.iter().find(|b| b.name == name).ok_or("no bank model")?;
    let access = RegisterAccess { registers: &registers, shared: &shared, vector_bytes: bytes };
    let mut pairs = 0;
    let found = count(&access, 0, 0, model, |_| pairs += 1).ok_or("not counted")?;
    let groups = model.groups.len() as u32;
    let own = found.transactions / groups - 1;
    let expected = result["conflicts"].as_u64();
    if expected != Some(u64::from(own)) {
        // Offsets of the lanes of one access, in words' lines and places: what the peer counts are
        // those that differ from lane 0 in whole lines of 128 bytes alone.
        let line = 1024 / u64::from(bits);
        let ins = registers.ins();
        let mut lines: Vec<u64> = (0..32)
            .filter_map(|lane| ins.insert(lane, AxisId::LANE).ok())
            .map(|index| shared.element_packed(registers.apply_packed(index)))
            .filter(|offset| offset % line == 0)
            .collect();
        lines.sort_unstable();
        lines.dedup();
        if bytes < 4
            && Some(lines.len() as u64 - 1) == expected
            && u64::from(own) > lines.len() as u64 - 1
        {
            return Ok(Verdict::Ruled(NARROW));
        }
        return Err(format!(
            "{expected:?} conflicts, found {found:?} with vectors of {bytes} bytes"
        ));
    }
    if (pairs == 0) != (own == 0) {
        return Err(format!("{own} conflicts, {pairs} pairs of lanes"));
    }
    Ok(Verdict::Agree)
}

//! addresses.jsonl: the byte of every element.

use super::super::Verdict;
use super::{Judged, read};
use lanebook_layout::triton::address::Addresses;
use serde_json::Value;

/// Compares every element, and the size of the allocation.
pub fn judge(record: &Value) -> Judged {
    let encoding = read::encoding(&record["encoding"])?;
    let shape = read::shape(record)?;
    let bits = read::number(record, "elem_bits")? as u16;
    let found = Addresses::new(&encoding, &shape, bits).map_err(|e| format!("{e:?}"))?;
    let expected = record["byte_address_row_major"].as_array().ok_or("no addresses")?;
    let columns = shape[1];
    for (k, byte) in (0u32..).zip(expected) {
        let at = [k / columns, k % columns];
        let own = found.byte(&at).map_err(|e| format!("{e:?}"))?;
        if Some(own) != byte.as_u64() {
            return Err(format!("{at:?} is at {byte}, found {own}"));
        }
    }
    let bytes = record["shared_bytes"].as_u64();
    if bytes != Some(found.bytes()) {
        return Err(format!("{bytes:?} bytes, found {}", found.bytes()));
    }
    Ok(Verdict::Agree)
}

//! A layout beside a recorded `map[lane][i]`.

use crate::suites::fragment::places;
use lanebook_layout::LayoutRef;
use serde_json::Value;

/// Each lane's elements in the order of their bits are those of the record, as row-major numbers.
pub fn fragment(
    layout: &LayoutRef<'_>,
    record: &Value,
    number: impl Fn(&[u64]) -> Option<u64>,
) -> Result<(), String> {
    fragment_by_lane(layout, record, |_, entry| number(entry))
}

/// The same where a record's entry means something else in each lane; a lane that is `null` holds
/// nothing.
pub fn fragment_by_lane(
    layout: &LayoutRef<'_>,
    record: &Value,
    number: impl Fn(u64, &[u64]) -> Option<u64>,
) -> Result<(), String> {
    let mut lanes: Vec<Vec<u64>> = Vec::new();
    for ((lane, _), x) in places(layout)? {
        let lane = lane as usize;
        lanes.resize(lanes.len().max(lane + 1), Vec::new());
        lanes[lane].push(x);
    }
    let map = record["map"].as_array().ok_or("no map")?;
    // Lanes after the last that holds something.
    lanes.resize(lanes.len().max(map.len()), Vec::new());
    if map.len() != lanes.len() {
        return Err(format!("{} lanes, found {}", map.len(), lanes.len()));
    }
    for (lane, (expected, found)) in map.iter().zip(&lanes).enumerate() {
        let list =
            if expected.is_null() { &Vec::new() } else { expected.as_array().ok_or("no lane")? };
        let expected: Option<Vec<u64>> =
            list.iter().map(|e| number(lane as u64, &entry(e)?)).collect();
        if expected.as_ref() != Some(found) {
            return Err(format!("lane {lane} holds {list:?}, found {found:?}"));
        }
    }
    Ok(())
}

/// The numbers of one entry.
pub fn entry(value: &Value) -> Option<Vec<u64>> {
    value.as_array()?.iter().map(Value::as_u64).collect()
}

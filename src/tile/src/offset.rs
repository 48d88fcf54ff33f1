//! What an instance of a movement adds to an address: how much of it the instruction's offset field
//! holds, and what is left for registers.

use crate::copy_atom::PlacePair;
use crate::map::{Combine, MemoryMap};
use crate::tiling::Tiling;
use lanebook_tables::OffsetField;

/// Most different address registers of one side of a movement.
pub const MOST_KEYS: usize = 64;

/// The key of an address register: what is XORed in, bytes added, outer steps.
pub type RegisterKey = (u32, u32, u32);

/// What an instance adds to an address: the key of its register and the immediate.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Delta {
    /// XORed into the lanes' part.
    pub phase: u32,
    /// Bytes added in a register.
    pub add: u32,
    /// Outer steps.
    pub lead: u32,
    /// What the instruction's field holds.
    pub immediate: i32,
}

impl Delta {
    /// Which register holds what the field does not.
    #[must_use]
    pub fn key(&self) -> RegisterKey {
        (self.phase, self.add, self.lead)
    }
}

/// Address bits that differ between lanes or warps, and may meet an instance's under exclusive or.
#[must_use]
pub fn varying(map: &MemoryMap, tiling: &Tiling) -> u32 {
    tiling
        .address_lanes
        .as_slice()
        .iter()
        .chain(tiling.warps.as_slice())
        .fold(0, |mask, &e| mask | map.at(e).bytes)
}

/// Splits what instance `e` adds into register key and immediate. `start` bytes are added to every
/// address.
#[must_use]
pub fn delta(
    map: &MemoryMap,
    tiling: &Tiling,
    e: u32,
    start: u32,
    field: Option<OffsetField>,
) -> Delta {
    let column = map.at(e);
    let phase = if map.combine == Combine::Xor { column.bytes & varying(map, tiling) } else { 0 };
    let plain = column.bytes ^ phase;
    let rest = i64::from(plain.wrapping_add(start));
    let (low, high) = field.map_or((0, 0), |f| (i64::from(f.min), i64::from(f.max)));
    let scale = field.map_or(1, |f| i64::from(f.scale.max(1)));
    let units =
        |bytes: i64| bytes.checked_div(scale).and_then(|n| i32::try_from(n).ok()).unwrap_or(0);
    if rest <= high.saturating_mul(scale)
        && rest >= low.saturating_mul(scale)
        && rest.checked_rem(scale) == Some(0)
    {
        return Delta { phase, add: 0, lead: column.lead, immediate: units(rest) };
    }
    // What the field cannot hold goes into a register: multiples of the field's reach, and what is
    // no multiple of its unit.
    let reach = u32::try_from(high.saturating_add(1).saturating_mul(scale)).unwrap_or(u32::MAX);
    let reach = 1u32.checked_shl(reach.max(1).ilog2()).unwrap_or(1);
    let unit = u32::try_from(scale).ok().filter(|unit| unit.is_power_of_two()).unwrap_or(1);
    let held = reach.wrapping_sub(1) & !unit.wrapping_sub(1);
    let kept = (plain & held).wrapping_add(start);
    if i64::from(kept) <= high.saturating_mul(scale)
        && i64::from(kept).checked_rem(scale) == Some(0)
    {
        return Delta {
            phase,
            add: plain & !held,
            lead: column.lead,
            immediate: units(i64::from(kept)),
        };
    }
    Delta { phase, add: plain.wrapping_add(start), lead: column.lead, immediate: 0 }
}

/// The bytes of a shared tile's start that go into immediates; the rest (all of it, where the field
/// is too short for the whole tile) is added to the address registers.
#[must_use]
pub fn immediate_start(offset: u32, bytes: u32, field: Option<OffsetField>) -> u32 {
    match field {
        Some(f)
            if i64::from(offset.saturating_add(bytes))
                <= i64::from(f.max).saturating_mul(i64::from(f.scale))
                && offset.checked_rem(u32::from(f.scale.max(1))) == Some(0) =>
        {
            offset
        }
        _ => 0,
    }
}

/// How many address registers a movement of two places a slot needs; `None` if some instance's places have no register in common, or there
/// are more registers than [`MOST_KEYS`].
#[must_use]
#[inline(never)]
pub fn pair_keys(map: &MemoryMap, tiling: &Tiling, pair: &PlacePair) -> Option<u32> {
    let mut seen: heapless::Vec<RegisterKey, MOST_KEYS> = heapless::Vec::new();
    for instance in 0..tiling.count() {
        let e = tiling.element(instance);
        let first = delta(map, tiling, e, 0, Some(pair.first));
        let second = delta(map, tiling, e ^ tiling.second, 0, Some(pair.second));
        if first.key() != second.key() {
            return None;
        }
        if !seen.contains(&first.key()) {
            seen.push(first.key()).ok()?;
        }
    }
    u32::try_from(seen.len()).ok()
}

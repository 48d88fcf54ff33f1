//! What an instance of a movement adds to an address: how much of it the instruction's offset field
//! holds, and what is left for registers.

use crate::copy_atom::PlacePair;
use crate::map::{Column, Combine, MemoryMap};
use crate::tiling::Tiling;
use lanebook_tables::{Movement, OffsetField};

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

/// Address bits, and bits of outer steps, that differ between lanes or warps, and may meet an
/// instance's under exclusive or.
#[must_use]
pub fn varying(map: &MemoryMap, tiling: &Tiling) -> Column {
    tiling.address_lanes.as_slice().iter().chain(tiling.warps.as_slice()).fold(
        Column::default(),
        |mask, &e| {
            let column = map.at(e);
            Column { bytes: mask.bytes | column.bytes, lead: mask.lead | column.lead }
        },
    )
}

/// The field that is added to the addresses of one side of a movement alone, for a place of its
/// slots. A field that moves the addresses of both sides at once cannot serve either.
#[must_use]
pub fn offset_field(movement: &Movement<'_>, is_from: bool, place: u8) -> Option<OffsetField> {
    movement.offsets.iter().copied().find(|field| {
        field.place == place
            && field.on_from != field.on_to
            && (if is_from { field.on_from } else { field.on_to })
    })
}

/// Bytes that a field reaches over: the largest power of two within it.
#[must_use]
pub fn reach(field: OffsetField) -> u32 {
    reach_between(i64::from(field.min), i64::from(field.max), i64::from(field.scale.max(1)))
}

fn reach_between(low: i64, high: i64, scale: i64) -> u32 {
    let bytes = high.saturating_sub(low).saturating_add(1).saturating_mul(scale);
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    1u32.checked_shl(bytes.max(1).ilog2()).unwrap_or(1)
}

/// What the addresses of one side of a movement count from, and by.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct AddressOrigin {
    /// Bytes that are added to every address.
    pub start: u32,
    /// Bytes of an outer step, where they are known; else steps are counted.
    pub outer_bytes: Option<u32>,
}

/// Splits what instance `e` adds into register key and immediate. Outer steps of known bytes that no
/// lane takes are bytes like all others.
#[must_use]
pub fn delta(
    map: &MemoryMap,
    tiling: &Tiling,
    e: u32,
    origin: AddressOrigin,
    field: Option<OffsetField>,
) -> Delta {
    let AddressOrigin { start, outer_bytes } = origin;
    let column = map.at(e);
    let lanes = varying(map, tiling);
    let phase = if map.combine == Combine::Xor { column.bytes & lanes.bytes } else { 0 };
    let own = Column { bytes: column.bytes ^ phase, lead: column.lead };
    let known = if own.lead & lanes.lead == 0 { own.bytes_by(outer_bytes) } else { None };
    let (plain, lead) = known.map_or((own.bytes, own.lead), |bytes| (bytes, 0));
    let rest = i64::from(plain.wrapping_add(start));
    let (low, high) = field.map_or((0, 0), |f| (i64::from(f.min), i64::from(f.max)));
    let scale = field.map_or(1, |f| i64::from(f.scale.max(1)));
    let units = |bytes: i64| {
        let fits = bytes <= high.saturating_mul(scale)
            && bytes >= low.saturating_mul(scale)
            && bytes.checked_rem(scale) == Some(0);
        let units = bytes.checked_div(scale).filter(|_| fits)?;
        i32::try_from(units).ok()
    };
    if let Some(immediate) = units(rest) {
        return Delta { phase, add: 0, lead, immediate };
    }
    // What the field cannot hold goes into a register: multiples of the field's reach, from as far
    // below as the field goes, and what is no multiple of its unit.
    let low = if start == 0 { low.min(0) } else { 0 };
    let reach = reach_between(low, high, scale);
    let below = low.saturating_mul(scale).unsigned_abs();
    let below = u32::try_from(below).unwrap_or(0).min(reach.wrapping_sub(1));
    let unit = u32::try_from(scale).ok().filter(|unit| unit.is_power_of_two()).unwrap_or(1);
    let far = plain.wrapping_add(below) & !reach.wrapping_sub(1);
    let odd = plain & unit.wrapping_sub(1);
    let kept = i64::from(plain.wrapping_add(start))
        .saturating_sub(i64::from(far))
        .saturating_sub(i64::from(odd));
    match units(kept) {
        Some(immediate) => Delta { phase, add: far.wrapping_add(odd), lead, immediate },
        None => Delta { phase, add: plain.wrapping_add(start), lead, immediate: 0 },
    }
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
        let origin = AddressOrigin::default();
        let first = delta(map, tiling, e, origin, Some(pair.first));
        let second = delta(map, tiling, e ^ tiling.second, origin, Some(pair.second));
        if first.key() != second.key() {
            return None;
        }
        if !seen.contains(&first.key()) {
            seen.push(first.key()).ok()?;
        }
    }
    u32::try_from(seen.len()).ok()
}

#[cfg(test)]
#[path = "tests/offset.rs"]
mod tests;

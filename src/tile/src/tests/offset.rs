//! What an instance adds is added, in whatever parts, and the parts fit where they go.

use super::{AddressOrigin, delta, varying};
use crate::map::{BitMatrix, MemoryMap, RepeatGrid, TileShape};
use crate::noise::Noise;
use crate::tiling::Tiling;
use lanebook_tables::OffsetField;

/// Fields as instruction sets have them, and some that none has.
fn field(noise: &mut Noise) -> OffsetField {
    let (min, max, scale) = match noise.below(6) {
        0 => (i32::MIN, i32::MAX, 1),
        1 => (-4096, 4095, 1),
        2 => (-2048, 2047, 1),
        3 => (0, 65_535, 1),
        4 => (0, 255, 4),
        _ => (-(noise.below(300) as i32), noise.below(5_000) as i32, 1),
    };
    OffsetField { operand: 0, min, max, scale, on_from: true, on_to: false, place: 0 }
}

/// A global tile with its element bits dealt out to lanes, warps and instances.
fn case(noise: &mut Noise) -> (MemoryMap, Tiling) {
    let (rows, cols) = (1u64 << noise.below(7), 4u64 << noise.below(5));
    let shape = TileShape::new(rows, cols, 16).expect("a tile of powers of two");
    let stride = (noise.below(40_000) & !(noise.below(2) * 15)) as u32;
    let outer_bytes = (noise.below(4) != 0).then_some(stride);
    let map = MemoryMap { outer_bytes, ..MemoryMap::global(shape, true) };
    let mut tiling = Tiling {
        address_lanes: BitMatrix::new(),
        warps: BitMatrix::new(),
        instances: BitMatrix::new(),
        tuple: BitMatrix::new(),
        instance_registers: BitMatrix::new(),
        upper: None,
        second: 0,
        grid: RepeatGrid { rows: 1, cols: 1 },
        by_rows: true,
        panel_bits: shape.total(),
    };
    for bit in 0..u32::from(shape.total()) {
        let e = 1 << bit;
        let _ = match noise.below(4) {
            0 => tiling.address_lanes.push(e),
            1 => tiling.warps.push(e),
            _ => tiling.instances.push(e),
        };
    }
    (map, tiling)
}

#[test]
fn parts_add_up() {
    let mut noise = Noise(7);
    let (mut in_field, mut in_registers) = (0u32, 0u32);
    for _ in 0..4_000 {
        let (map, tiling) = case(&mut noise);
        let field = field(&mut noise);
        let lanes = varying(&map, &tiling);
        let origin = AddressOrigin { start: 0, outer_bytes: map.outer_bytes };
        for instance in 0..tiling.count() {
            let column = map.at(tiling.element(instance));
            let d = delta(&map, &tiling, tiling.element(instance), origin, Some(field));
            assert!((field.min..=field.max).contains(&d.immediate));
            // Steps that a lane takes as well stay steps: they meet under exclusive or.
            assert!(d.lead == column.lead || d.lead == 0 && column.lead & lanes.lead == 0);
            let taken = i64::from(column.lead - d.lead) * i64::from(map.outer_bytes.unwrap_or(0));
            let parts = i64::from(d.phase)
                + i64::from(d.add)
                + i64::from(d.immediate) * i64::from(field.scale);
            assert_eq!(
                parts,
                i64::from(column.bytes) + taken,
                "{map:?} {tiling:?} {field:?} {d:?}"
            );
            in_field += u32::from(d.lead != column.lead && d.add == 0);
            in_registers += u32::from(d.lead != column.lead && d.add != 0);
        }
    }
    assert!(in_field > 1_000 && in_registers > 1_000, "{in_field} {in_registers}");
}

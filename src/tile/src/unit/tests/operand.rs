//! Tiles of operands: made, described, and every planted fault refused.
use crate::unit::tests::arch;
use crate::unit::{UnitError, operand};
use lanebook::TABLES;
use lanebook_layout::{AxisId, Iter, Layout, PostMap, Swizzle, Unit};
use lanebook_tables::Major;
use std::vec::Vec;

const UNITS: [(&str, &str); 2] = [("sm_90a", "wgmma.shared"), ("sm_100a", "tcgen05.shared")];

#[test]
fn what_is_made_is_described_again() {
    let mut made = 0;
    for (name, unit) in UNITS {
        let arch = arch(name);
        for tile in operand::tiles(&TABLES, arch) {
            let widths = tile
                .takes
                .iter()
                .filter(|(u, _)| *u == unit)
                .flat_map(|(_, w)| w.iter().copied().map(u16::from));
            for bits in widths.filter(|b| *b >= 4) {
                // Three patterns outward (no power of two), two or one along the depth.
                let per = u32::from(tile.unit.1 / bits);
                let row = (u32::from(tile.swizzle.span_bytes) * 8 / u32::from(bits)).max(per);
                let deep = if tile.swizzle.repeat_bytes == 512 && tile.swizzle.span_bytes == 128 {
                    4
                } else {
                    8
                };
                let shape = match (tile.major, tile.swizzle.span_bytes) {
                    (Major::Depth, 0) => (24, 2 * per),
                    (Major::Depth, _) => (24, row),
                    (Major::Outer, _) => (3 * row, 2 * deep),
                };
                let offsets = [("leading_byte_offset", 4096), ("stride_byte_offset", 1024 * 13)];
                let layout = operand::layout(tile, shape, bits, &offsets).unwrap();
                let found = operand::describe(
                    &TABLES,
                    arch,
                    unit,
                    &layout.view(),
                    shape,
                    bits,
                    Some(tile.major),
                );
                let found =
                    found.unwrap_or_else(|e| panic!("{} {bits} {shape:?}: {e:?}", tile.name));
                assert_eq!(found.tile.name, tile.name);
                for (k, (field, bytes)) in offsets.iter().enumerate() {
                    assert!(
                        found.free[k] || found.value(field) == Some(*bytes),
                        "{} {field}",
                        tile.name
                    );
                }
                let word = found.word(&TABLES, arch, unit, 0x2000).unwrap();
                assert_eq!(
                    (word.get("start_address"), word.word("swizzle_mode")),
                    (Ok(0x2000), Ok(Some(tile.swizzle.name)))
                );
                assert_eq!(word.get("stride_byte_offset"), Ok(1024 * 13));
                made += 1;
            }
        }
    }
    assert!(made > 30, "{made}");
}

/// 64 x 64 elements of 16 bits, rows of 128 bytes.
fn rows() -> Layout {
    let mut out =
        Layout::from_iters(&[Iter::new(64, 1, AxisId::M), Iter::new(64, 64, AxisId::M)]).unwrap();
    out.set_post(PostMap::Swizzle(Swizzle::new(3, 3, 3, Unit::Element).unwrap())).unwrap();
    out
}

fn describe(
    layout: &Layout,
    shape: (u32, u32),
    bits: u16,
) -> Result<operand::DescribedTile<'static>, UnitError> {
    operand::describe(
        &TABLES,
        arch("sm_90a"),
        "wgmma.shared",
        &layout.view(),
        shape,
        bits,
        Some(Major::Depth),
    )
}

#[test]
fn the_usual_tile_and_a_part_of_its_rows() {
    let found = describe(&rows(), (64, 64), 16).unwrap();
    assert_eq!(
        (found.tile.major, found.tile.swizzle.name, found.value("stride_byte_offset")),
        (Major::Depth, "128B", Some(1024))
    );
    // One instruction reads 16 of the 64 columns.
    let mut part =
        Layout::from_iters(&[Iter::new(16, 1, AxisId::M), Iter::new(64, 64, AxisId::M)]).unwrap();
    part.set_post(rows().view().post).unwrap();
    assert_eq!(describe(&part, (64, 16), 16).unwrap().value("stride_byte_offset"), Some(1024));
    // Counted in bytes, the swizzle is another one of the same effect.
    let mut bytes = rows();
    bytes.set_post(PostMap::Swizzle(Swizzle::new(3, 4, 3, Unit::Byte).unwrap())).unwrap();
    assert_eq!(describe(&bytes, (64, 64), 16).unwrap().tile.name, "depth.128B");
}

#[test]
fn each_fault_is_named() {
    let mut shifted = rows();
    shifted.add_offset(lanebook_layout::Int::known(8), AxisId::M).unwrap();
    assert!(matches!(
        describe(&shifted, (64, 64), 16),
        Err(UnitError::Layout(lanebook_layout::Error::HasOffset { .. }))
    ));
    // The wrong swizzle for the row's width, and for the width of elements.
    let mut narrow = rows();
    narrow.set_post(PostMap::Swizzle(Swizzle::new(2, 3, 3, Unit::Element).unwrap())).unwrap();
    assert!(
        matches!(
            describe(&narrow, (64, 64), 16),
            Err(UnitError::Extent { dim: 1, found: 64, needed: 32 })
        ),
        "{:?}",
        describe(&narrow, (64, 64), 16)
    );
    assert_eq!(describe(&rows(), (64, 64), 8).unwrap_err(), UnitError::NoMode { b: 3, m: 3, s: 3 });
    // Rows with a gap.
    let mut gap =
        Layout::from_iters(&[Iter::new(64, 1, AxisId::M), Iter::new(64, 72, AxisId::M)]).unwrap();
    gap.set_post(rows().view().post).unwrap();
    assert_eq!(
        describe(&gap, (64, 64), 16).unwrap_err(),
        UnitError::Stride { iter: 1, found: 72, needed: 64 }
    );
    // Sixty rows are no whole patterns.
    let mut short =
        Layout::from_iters(&[Iter::new(64, 1, AxisId::M), Iter::new(60, 64, AxisId::M)]).unwrap();
    short.set_post(rows().view().post).unwrap();
    assert_eq!(
        describe(&short, (60, 64), 16).unwrap_err(),
        UnitError::Extent { dim: 0, found: 60, needed: 8 }
    );
    // Along the outer coordinate wgmma takes 16 bits only.
    let tile = operand::of(&TABLES, arch("sm_90a"), Major::Outer, "128B").unwrap();
    let bytes = operand::layout(tile, (128, 8), 8, &[]).unwrap();
    let refused = operand::describe(
        &TABLES,
        arch("sm_90a"),
        "wgmma.shared",
        &bytes.view(),
        (128, 8),
        8,
        Some(Major::Outer),
    );
    assert_eq!(refused.unwrap_err(), UnitError::Width { bits: 8 });
    assert!(
        operand::describe(
            &TABLES,
            arch("sm_100a"),
            "tcgen05.shared",
            &bytes.view(),
            (128, 8),
            8,
            Some(Major::Outer)
        )
        .is_ok()
    );
    assert_eq!(
        operand::describe(
            &TABLES,
            arch("sm_80"),
            "wgmma.shared",
            &rows().view(),
            (64, 64),
            16,
            None
        )
        .unwrap_err(),
        UnitError::Absent
    );
}

#[test]
fn the_base_offset_says_where_the_pattern_starts() {
    let found = describe(&rows(), (64, 64), 16).unwrap();
    let offset = |address| {
        found
            .word(&TABLES, arch("sm_90a"), "wgmma.shared", address)
            .unwrap()
            .get("base_offset")
            .unwrap()
    };
    let all: Vec<u64> = [0x400, 0x480, 0x500, 0x780, 0x800].map(offset).to_vec();
    assert_eq!(all, [0, 1, 2, 7, 0]);
    let word = |address| {
        found.word(&TABLES, arch("sm_90a"), "wgmma.shared", address).map(|w| w.get("start_address"))
    };
    assert!(
        matches!(word(0x408), Err(UnitError::Step { value: 0x408, scale: 16, .. })),
        "{:?}",
        word(0x408)
    );
    assert!(matches!(word(1 << 18), Err(UnitError::Range { .. })));
}

#[test]
fn a_missing_or_odd_offset_is_refused() {
    let tile = operand::of(&TABLES, arch("sm_90a"), Major::Depth, "none").unwrap();
    assert!(matches!(
        operand::layout(tile, (16, 16), 16, &[("stride_byte_offset", 128)]),
        Err(UnitError::NoValue { .. })
    ));
    assert!(matches!(
        operand::layout(tile, (16, 16), 16, &[("stride_byte_offset", 129)]),
        Err(UnitError::Step { .. })
    ));
    assert_eq!(
        operand::layout(tile, (16, 16), 16, &[("stride", 128)]).unwrap_err(),
        UnitError::NoField
    );
    assert_eq!(operand::layout(tile, (8, 8), 24, &[]).unwrap_err(), UnitError::Width { bits: 24 });
}

//! Tensor memory: the tables against the constructors of the layout algebra, allocation, reach,
//! shapes.
use crate::unit::tensor::{self, ProductRequest};
use crate::unit::tests::arch;
use crate::unit::{UnitError, has};
use lanebook::TABLES;
use lanebook_layout::tirx::{self, ScaleLayout, facts};
use lanebook_layout::{AxisId, Coord, LayoutRef};
use std::format;

fn at(layout: &LayoutRef<'_>, x: u64, axes: [AxisId; 2]) -> [i64; 2] {
    let mut out = Coord::new();
    layout.apply_flat(x, &mut out).unwrap();
    axes.map(|axis| out.get(axis))
}

#[test]
fn accumulators_are_those_of_the_constructor() {
    let sm_100a = arch("sm_100a");
    let axes = [AxisId::TLANE, AxisId::TCOL];
    for path in facts::DATAPATHS {
        let tile = tensor::tile_named(&TABLES, sm_100a, &format!("{}", path.letter)).unwrap();
        for columns in [32, 96, 224] {
            for second in [false, true] {
                let theirs =
                    tirx::tmem_datapath_layout(path, path.rows, columns, u32::from(second));
                // The tables cover both blocks of a pair, the constructor one.
                let blocks = if tile.layout.iters[0].axis == AxisId::CBX { 2 } else { 1 };
                let ours = tensor::layout(tile, path.rows * blocks, columns, second);
                let (Ok(ours), Ok(theirs)) = (&ours, &theirs) else {
                    assert_eq!((ours.is_err(), second), (theirs.is_err(), true), "{}", path.letter);
                    continue;
                };
                for x in 0..u64::from(path.rows * columns) {
                    assert_eq!(
                        at(&ours.view(), x, axes),
                        at(&theirs.view(), x, axes),
                        "{} {x}",
                        path.letter
                    );
                }
                if blocks == 2 {
                    let x = u64::from(path.rows * columns);
                    assert_eq!(
                        at(&ours.view(), x, [AxisId::CBX, AxisId::TLANE]),
                        [1, i64::from(tile.second_lanes) * i64::from(second)]
                    );
                }
            }
        }
    }
}

#[test]
fn scale_factors_are_those_of_the_constructor() {
    let tile = tensor::tile_named(&TABLES, arch("sm_100a"), "scale").unwrap();
    for (rows, factors) in [(128, 4), (128, 2), (128, 1), (256, 4), (96, 4)] {
        let ours = tensor::layout(tile, rows, factors, false).unwrap();
        let request =
            ScaleLayout { rows, factors, per_instruction: factors, reuse: 1, stages: None };
        let theirs = tirx::scale_factor_layout(&request, &facts::SCALE_ATOM).unwrap();
        for x in 0..u64::from(rows * factors) {
            let [lane, column] = at(&ours.view(), x, [AxisId::TLANE, AxisId::TCOL]);
            let [byte, _] = at(&ours.view(), x, [AxisId::BYTE, AxisId::TCOL]);
            // Theirs counts factors along the columns.
            assert_eq!(
                at(&theirs.view(), x, [AxisId::TLANE, AxisId::TCOL]),
                [lane, 4 * column + byte],
                "{rows}x{factors} {x}"
            );
        }
        let copies = |l: &LayoutRef<'_>| {
            l.replica
                .iter()
                .map(|r| (r.extent_value().unwrap(), r.stride_value().unwrap(), r.axis()))
                .collect::<std::vec::Vec<_>>()
        };
        assert_eq!(copies(&ours.view()), copies(&theirs.view()));
    }
    // A fifth factor would lie in the next cell, where another row's first one is.
    for factors in [5, 8] {
        assert_eq!(
            tensor::layout(tile, 128, factors, false),
            Err(UnitError::Extent { dim: 1, found: u64::from(factors), needed: 4 })
        );
    }
}

#[test]
fn allocations_are_powers_of_two() {
    let memory = tensor::memory(&TABLES, arch("sm_100a")).unwrap();
    let all = [1, 32, 33, 224, 256, 257, 512].map(|columns| tensor::allocation(memory, columns));
    assert_eq!(all, [32, 32, 64, 256, 256, 512, 512].map(Ok));
    for columns in [0, 513, u32::MAX] {
        assert_eq!(
            tensor::allocation(memory, columns),
            Err(UnitError::Columns { found: columns, low: 32, high: 512 })
        );
    }
    assert_eq!(tensor::address(memory, 96, 224), Ok((96 << 16) | 224));
    assert_eq!(
        tensor::address(memory, 96, 512),
        Err(UnitError::Columns { found: 512, low: 0, high: 511 })
    );
    assert_eq!(
        tensor::address(memory, 128, 0),
        Err(UnitError::Unaligned { address: 128, needed: 128 })
    );
    assert_eq!(tensor::memory(&TABLES, arch("sm_90a")).unwrap_err(), UnitError::Absent);
}

#[test]
fn a_warp_reaches_its_quarter() {
    let memory = tensor::memory(&TABLES, arch("sm_100a")).unwrap();
    for warp in 0..12 {
        assert_eq!(tensor::reach(memory, warp), (32 * (warp % 4), 32));
    }
    assert_eq!(tensor::reaches(memory, 6, 64, 32), Ok(()));
    assert_eq!(tensor::reaches(memory, 6, 80, 16), Ok(()));
    assert_eq!(
        tensor::reaches(memory, 6, 80, 32),
        Err(UnitError::Reach { warp: 6, lane: 96, first: 64 })
    );
    assert_eq!(
        tensor::reaches(memory, 1, 0, 16),
        Err(UnitError::Reach { warp: 1, lane: 0, first: 32 })
    );
}

#[test]
fn shapes_are_those_of_the_document() {
    let sm_100a = arch("sm_100a");
    let dense = |kind, blocks, m, n, k| ProductRequest {
        kind,
        blocks,
        stationary: false,
        sparse: false,
        m,
        n,
        k,
    };
    let tile = |p: &ProductRequest<'_>| {
        tensor::shape(&TABLES, sm_100a, p).map(|(shape, tile)| (shape.descriptor, tile.name))
    };
    assert_eq!(tile(&dense("f16", 1, 128, 224, 16)), Ok(("tcgen05.instr.f16", "D")));
    assert_eq!(tile(&dense("f16", 1, 64, 8, 16)), Ok(("tcgen05.instr.f16", "F")));
    assert_eq!(tile(&dense("tf32", 2, 128, 48, 8)), Ok(("tcgen05.instr.tf32", "B")));
    assert_eq!(
        tile(&ProductRequest { sparse: true, ..dense("f16", 2, 128, 64, 32) }),
        Ok(("tcgen05.instr.f16", "C"))
    );
    assert_eq!(
        tile(&ProductRequest { stationary: true, ..dense("i8", 1, 32, 256, 32) }),
        Ok(("tcgen05.instr.i8", "G"))
    );
    assert_eq!(
        tile(&dense("i8", 1, 64, 40, 32)),
        Err(UnitError::Extent { dim: 1, found: 40, needed: 8 })
    );
    assert_eq!(tile(&dense("i8", 1, 64, 48, 32)), Ok(("tcgen05.instr.i8", "F")));
    assert_eq!(
        tile(&dense("f16", 1, 96, 64, 16)),
        Err(UnitError::Extent { dim: 0, found: 96, needed: 64 })
    );
    assert_eq!(
        tile(&dense("f16", 2, 64, 64, 16)),
        Err(UnitError::Extent { dim: 0, found: 64, needed: 128 })
    );
    assert_eq!(
        tile(&dense("f16", 1, 128, 64, 32)),
        Err(UnitError::Extent { dim: 2, found: 32, needed: 16 })
    );
    assert_eq!(
        tile(&dense("mxf4", 1, 64, 64, 64)),
        Err(UnitError::Extent { dim: 0, found: 64, needed: 128 })
    );
    assert_eq!(
        tile(&ProductRequest { stationary: true, ..dense("mxf4", 1, 128, 64, 64) }),
        Err(UnitError::Absent)
    );
    assert_eq!(tile(&dense("f64", 1, 128, 64, 16)), Err(UnitError::Absent));
}

#[test]
fn every_shape_packs_into_its_descriptor() {
    for arch in TABLES.archs {
        for shape in TABLES.units.shapes.iter().filter(|s| has(arch, s.feature)) {
            let table = crate::unit::descriptor_named(&TABLES, arch, shape.descriptor).unwrap();
            for (m, _) in shape.m {
                for n in shape.n.iter().flat_map(|s| (s.low..=s.high).step_by(usize::from(s.step)))
                {
                    let mut word = crate::unit::descriptor::DescriptorWord::new(table);
                    word.set("m", u64::from(*m)).unwrap();
                    word.set("n", u64::from(n)).unwrap();
                }
            }
        }
    }
}

#[test]
fn orders_that_products_do_not_take() {
    use crate::unit::tensor::Instruction;
    use lanebook_tables::Major::{Depth, Outer};
    let sm_100a = arch("sm_100a");
    let make = |descriptor, blocks, columns, [a, b]: [&'static str; 2], majors| {
        let d = if descriptor == "tcgen05.instr.i8" { "i32" } else { "f32" };
        let asked = Instruction { descriptor, blocks, rows: 64, columns, types: [a, b, d], majors };
        tensor::instruction(&TABLES, sm_100a, &asked)
    };
    let limit = |found: Result<u32, UnitError>| match found {
        Err(UnitError::Order { limit, operand, .. }) => {
            Some((TABLES.units.order_limits[usize::from(limit)].name, operand))
        }
        Err(other) => panic!("{other:?}"),
        Ok(_) => None,
    };
    let f8 = |blocks, columns, majors| {
        limit(make("tcgen05.instr.f8f6f4", blocks, columns, ["e5m2", "e4m3"], majors))
    };
    for columns in (8..=256).step_by(8) {
        // B along n wants every 16th, in pairs every 32nd; along the depth it does not, nor does A.
        for (blocks, step) in [(1, 16), (2, 32)] {
            assert_eq!(
                f8(blocks, columns, [Depth, Outer]).is_none(),
                columns % step == 0,
                "{blocks} {columns}"
            );
            assert_eq!(f8(blocks, columns, [Outer, Depth]), None);
            assert_eq!(
                limit(make("tcgen05.instr.i8", blocks, columns, ["i8", "u8"], [Outer, Outer]))
                    .is_none(),
                columns % step == 0
            );
        }
        assert_eq!(
            limit(make("tcgen05.instr.f16", 1, columns, ["f16", "bf16"], [Outer, Outer])),
            None
        );
    }
    assert!(
        f8(1, 24, [Depth, Outer])
            .is_some_and(|(name, operand)| name.starts_with("Table 52") && operand == 1)
    );
    // Narrower elements are not transposed at all; beside them others are.
    for narrow in ["e2m3", "e3m2", "e2m1"] {
        let pair = |a, b, majors| limit(make("tcgen05.instr.f8f6f4", 1, 64, [a, b], majors));
        assert!(
            pair(narrow, "e4m3", [Outer, Depth])
                .is_some_and(|(name, operand)| name.starts_with("Table 54") && operand == 0)
        );
        assert_eq!(pair("e4m3", narrow, [Depth, Outer]).map(|found| found.1), Some(1));
        assert_eq!(pair(narrow, "e4m3", [Depth, Outer]), None);
    }
    // An architecture without the unit has no such descriptor.
    let asked = Instruction {
        descriptor: "tcgen05.instr.f8f6f4",
        blocks: 1,
        rows: 64,
        columns: 16,
        types: ["e4m3", "e4m3", "f32"],
        majors: [Depth, Outer],
    };
    assert_eq!(tensor::instruction(&TABLES, arch("sm_90a"), &asked), Err(UnitError::Absent));
}

/// What CUTLASS's `tmem_e_frg` and its loop over scale factors of 96 elements say, said again
/// element by element.
#[test]
fn indices_and_factors_of_96() {
    let sm_103a = arch("sm_103a");
    let bytes = |layout: &LayoutRef<'_>, x: u64| {
        let [lane, column] = at(layout, x, [AxisId::TLANE, AxisId::TCOL]);
        (lane, column, at(layout, x, [AxisId::BYTE, AxisId::TCOL])[0])
    };
    let narrow =
        tensor::layout(tensor::tile_named(&TABLES, sm_103a, "metadata.8").unwrap(), 128, 8, false)
            .unwrap();
    let wide =
        tensor::layout(tensor::tile_named(&TABLES, sm_103a, "metadata.16").unwrap(), 128, 4, false)
            .unwrap();
    for row in 0..128u64 {
        for byte in 0..8u64 {
            let expected = (row as i64, (byte / 4) as i64, (byte % 4) as i64);
            assert_eq!(bytes(&narrow.view(), row * 8 + byte), expected, "{row} {byte}");
        }
        for byte in 0..4u64 {
            // Eight rows side by side, the next eight in the upper half of the cell; the upper half
            // of the depth eight lanes on.
            let lane = row % 8 + 16 * (row / 16) + 8 * (byte / 2);
            let expected = (lane as i64, 0, (byte % 2 + 2 * (row / 8 % 2)) as i64);
            assert_eq!(bytes(&wide.view(), row * 4 + byte), expected, "{row} {byte}");
        }
    }
    let scale =
        tensor::layout(tensor::tile_named(&TABLES, sm_103a, "scale.k96").unwrap(), 128, 24, false)
            .unwrap();
    for row in 0..128u64 {
        for factor in 0..24u64 {
            let expected =
                ((row % 32) as i64, (row / 32 + 4 * (factor / 4)) as i64, (factor % 4) as i64);
            assert_eq!(bytes(&scale.view(), row * 24 + factor), expected, "{row} {factor}");
        }
    }
}

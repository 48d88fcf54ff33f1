//! Tensor memory: the tables against the constructors of the layout algebra, allocation, reach, shapes.
use super::arch;
use crate::TABLES;
use crate::unit::tensor::{self, Product};
use crate::unit::{Error, has};
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
                let theirs = tirx::tmem_datapath_layout(path, path.rows, columns, u32::from(second));
                // The tables cover both blocks of a pair, the constructor one.
                let blocks = if tile.layout.iters[0].axis == AxisId::CBX { 2 } else { 1 };
                let ours = tensor::layout(tile, path.rows * blocks, columns, second);
                let (Ok(ours), Ok(theirs)) = (&ours, &theirs) else {
                    assert_eq!((ours.is_err(), second), (theirs.is_err(), true), "{}", path.letter);
                    continue;
                };
                for x in 0..u64::from(path.rows * columns) {
                    assert_eq!(at(&ours.view(), x, axes), at(&theirs.view(), x, axes), "{} {x}", path.letter);
                }
                if blocks == 2 {
                    let x = u64::from(path.rows * columns);
                    assert_eq!(at(&ours.view(), x, [AxisId::CBX, AxisId::TLANE]), [1, i64::from(tile.second_lanes) * i64::from(second)]);
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
        let request = ScaleLayout { rows, factors, per_instruction: factors, reuse: 1, stages: None };
        let theirs = tirx::scale_factor_layout(&request, &facts::SCALE_ATOM).unwrap();
        for x in 0..u64::from(rows * factors) {
            let [lane, column] = at(&ours.view(), x, [AxisId::TLANE, AxisId::TCOL]);
            let [byte, _] = at(&ours.view(), x, [AxisId::BYTE, AxisId::TCOL]);
            // Theirs counts factors along the columns.
            assert_eq!(at(&theirs.view(), x, [AxisId::TLANE, AxisId::TCOL]), [lane, 4 * column + byte], "{rows}x{factors} {x}");
        }
        let copies =
            |l: &LayoutRef<'_>| l.replica.iter().map(|r| (r.extent_value().unwrap(), r.stride_value().unwrap(), r.axis())).collect::<std::vec::Vec<_>>();
        assert_eq!(copies(&ours.view()), copies(&theirs.view()));
    }
    // A fifth factor would lie in the next cell, where another row's first one is.
    for factors in [5, 8] {
        assert_eq!(tensor::layout(tile, 128, factors, false), Err(Error::Extent { dim: 1, found: u64::from(factors), needed: 4 }));
    }
}

#[test]
fn allocations_are_powers_of_two() {
    let memory = tensor::memory(&TABLES, arch("sm_100a")).unwrap();
    let all = [1, 32, 33, 224, 256, 257, 512].map(|columns| tensor::allocation(memory, columns));
    assert_eq!(all, [32, 32, 64, 256, 256, 512, 512].map(Ok));
    for columns in [0, 513, u32::MAX] {
        assert_eq!(tensor::allocation(memory, columns), Err(Error::Columns { found: columns, low: 32, high: 512 }));
    }
    assert_eq!(tensor::address(memory, 96, 224), Ok((96 << 16) | 224));
    assert_eq!(tensor::address(memory, 96, 512), Err(Error::Columns { found: 512, low: 0, high: 511 }));
    assert_eq!(tensor::address(memory, 128, 0), Err(Error::Unaligned { address: 128, needed: 128 }));
    assert_eq!(tensor::memory(&TABLES, arch("sm_90a")).unwrap_err(), Error::Absent);
}

#[test]
fn a_warp_reaches_its_quarter() {
    let memory = tensor::memory(&TABLES, arch("sm_100a")).unwrap();
    for warp in 0..12 {
        assert_eq!(tensor::reach(memory, warp), (32 * (warp % 4), 32));
    }
    assert_eq!(tensor::reaches(memory, 6, 64, 32), Ok(()));
    assert_eq!(tensor::reaches(memory, 6, 80, 16), Ok(()));
    assert_eq!(tensor::reaches(memory, 6, 80, 32), Err(Error::Reach { warp: 6, lane: 96, first: 64 }));
    assert_eq!(tensor::reaches(memory, 1, 0, 16), Err(Error::Reach { warp: 1, lane: 0, first: 32 }));
}

#[test]
fn shapes_are_those_of_the_document() {
    let sm_100a = arch("sm_100a");
    let dense = |kind, blocks, m, n, k| Product { kind, blocks, stationary: false, sparse: false, m, n, k };
    let tile = |p: &Product<'_>| tensor::shape(&TABLES, sm_100a, p).map(|(shape, tile)| (shape.descriptor, tile.name));
    assert_eq!(tile(&dense("f16", 1, 128, 224, 16)), Ok(("tcgen05.instr.f16", "D")));
    assert_eq!(tile(&dense("f16", 1, 64, 8, 16)), Ok(("tcgen05.instr.f16", "F")));
    assert_eq!(tile(&dense("tf32", 2, 128, 48, 8)), Ok(("tcgen05.instr.tf32", "B")));
    assert_eq!(tile(&Product { sparse: true, ..dense("f16", 2, 128, 64, 32) }), Ok(("tcgen05.instr.f16", "C")));
    assert_eq!(tile(&Product { stationary: true, ..dense("i8", 1, 32, 256, 32) }), Ok(("tcgen05.instr.i8", "G")));
    assert_eq!(tile(&dense("i8", 1, 64, 40, 32)), Err(Error::Extent { dim: 1, found: 40, needed: 8 }));
    assert_eq!(tile(&dense("i8", 1, 64, 48, 32)), Ok(("tcgen05.instr.i8", "F")));
    assert_eq!(tile(&dense("f16", 1, 96, 64, 16)), Err(Error::Extent { dim: 0, found: 96, needed: 64 }));
    assert_eq!(tile(&dense("f16", 2, 64, 64, 16)), Err(Error::Extent { dim: 0, found: 64, needed: 128 }));
    assert_eq!(tile(&dense("f16", 1, 128, 64, 32)), Err(Error::Extent { dim: 2, found: 32, needed: 16 }));
    assert_eq!(tile(&dense("mxf4", 1, 64, 64, 64)), Err(Error::Extent { dim: 0, found: 64, needed: 128 }));
    assert_eq!(tile(&Product { stationary: true, ..dense("mxf4", 1, 128, 64, 64) }), Err(Error::Absent));
    assert_eq!(tile(&dense("f64", 1, 128, 64, 16)), Err(Error::Absent));
}

#[test]
fn every_shape_packs_into_its_descriptor() {
    for arch in TABLES.archs {
        for shape in TABLES.units.shapes.iter().filter(|s| has(arch, s.feature)) {
            let table = crate::unit::descriptor_named(&TABLES, arch, shape.descriptor).unwrap();
            for (m, _) in shape.m {
                for n in shape.n.iter().flat_map(|s| (s.low..=s.high).step_by(usize::from(s.step))) {
                    let mut word = crate::unit::descriptor::Word::new(table);
                    word.set("m", u64::from(*m)).unwrap();
                    word.set("n", u64::from(n)).unwrap();
                }
            }
        }
    }
}

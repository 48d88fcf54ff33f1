//! The rest of seed 000: swizzles, banks, ready-made layouts with their refusals, evaluation in
//! shapes.

use super::{show_tirx, t};
use crate::error::Error;
use crate::tirx::{self, ScaleLayout, TmemOperand, facts};
use crate::{AxisId, Coord, Layout, Swizzle, Unit, WellKnown};
use std::vec::Vec;

fn datapath(letter: char, rows: u32, cols: u32, slab: u32) -> Result<Layout, Error> {
    let path = tirx::datapath(facts::DATAPATHS, letter)?;
    tirx::tmem_datapath_layout(path, rows, cols, slab)
}

fn atom(name: &str, rows: u32, cols: u32, bits: u32) -> Result<Layout, Error> {
    tirx::atom_layout(facts::ATOM_FORMS, name, rows, cols, bits)
}

#[test]
fn layouts_by_example() {
    assert_eq!(datapath('D', 128, 256, 0), Ok(t("S[(128,256):(1@TLane,1@TCol)]")));
    assert_eq!(datapath('F', 64, 8, 1), Ok(t("S[(4,16,8):(32@TLane,1@TLane,1@TCol)] + 16@TLane")));
    assert_eq!(datapath('B', 64, 6, 0), Ok(t("S[(64,2,3):(1@TLane,64@TLane,1@TCol)]")));
    assert_eq!(datapath('G', 32, 224, 0), Ok(t("S[(32,4,56):(1@TLane,32@TLane,1@TCol)]")));
    assert_eq!(atom("32x32b", 128, 64, 32), Ok(t("S[(128,64):(1@tid_in_wg,1)]")));
    assert_eq!(
        atom("16x128b", 64, 16, 16),
        Ok(t("S[(4,2,8,2,4,2):(1@wid_in_wg,2,4@laneid,4,1@laneid,1)]"))
    );
    assert_eq!(tirx::wg_local_layout(128, 224), Ok(t("S[(128,224):(1@tid_in_wg,1)]")));
    let row = t("S[(128,64):(1@tid_in_wg,1)]");
    let mut out = Coord::new();
    tirx::apply_shaped(&row.view(), &[7, 9], &[128, 64], &mut out).unwrap();
    assert_eq!((out.get(AxisId::TID_IN_WG), out.get(AxisId::M)), (7, 9));
}

#[test]
fn register_tiles_hold_every_element_once() {
    for (name, rows, unit, repeats) in [
        ("32x32b", 128, 1, 128u32),
        ("32x32b", 64, 2, 128),
        ("16x64b", 64, 2, 128),
        ("16x64b", 128, 2, 128),
        ("16x128b", 64, 4, 64),
        ("16x128b", 128, 4, 64),
        ("16x256b", 64, 8, 32),
        ("16x256b", 128, 8, 32),
    ] {
        for repeat in (0..8).map(|k| 1 << k).filter(|r| *r <= repeats) {
            for bits in [16, 32] {
                if (name, rows, bits) == ("32x32b", 64, 16) {
                    continue;
                }
                let l = atom(name, rows, unit * repeat * (32 / bits), bits).unwrap();
                assert_eq!(l.view().is_injective(), Ok(true), "{name} {rows} x{repeat}");
                let threads = tirx::canonicalize_for(&l.view(), &WellKnown, facts::WARP_32);
                let threads = threads.unwrap();
                assert_eq!(threads.view().span(AxisId::TID_IN_WG), Ok(128));
                let elements = threads.view().size_value().unwrap();
                assert_eq!(threads.view().span(AxisId::M), Ok(elements as i64 / 128));
            }
        }
    }
}

#[test]
fn ready_made_layouts_refuse() {
    let shape = |dim, found, needed| Err(Error::BadShape { dim, found, needed });
    assert_eq!(datapath('H', 128, 8, 0), Err(Error::NoVariant { found: 72 }));
    assert_eq!(datapath('D', 64, 8, 0), shape(0, 64, 128));
    assert_eq!(datapath('B', 64, 7, 0), shape(1, 7, 2));
    assert_eq!(datapath('G', 32, 6, 0), shape(1, 6, 4));
    assert_eq!(datapath('D', 128, 8, 1), Err(Error::NoVariant { found: 1 }));
    assert_eq!(datapath('F', 64, 8, 2), Err(Error::NoVariant { found: 2 }));
    // A leading dot is no part of the name.
    assert_eq!(atom(".32x32b", 128, 4, 32), Err(Error::NoVariant { found: 128 }));
    assert_eq!(atom("32x32b", 128, 4, 8), Err(Error::BadElement { bits: 8 }));
    assert_eq!(atom("32x32b", 64, 4, 16), Err(Error::BadElement { bits: 16 }));
    assert_eq!(atom("32x32b", 32, 4, 32), shape(0, 32, 0));
    assert_eq!(atom("16x64b", 64, 3, 32), shape(1, 3, 2));
    assert_eq!(atom("16x64b", 64, 6, 32), shape(1, 6, 0));
    let operand = |operand, used, shape: &[u32]| {
        tirx::operand_layout(facts::DATAPATHS, facts::DATAPATH_USES, operand, used, shape)
    };
    let b = (128, 2, false);
    assert_eq!(
        operand(TmemOperand::A, b, &[64, 96]),
        Ok(t("S[(64,96):(1@TLane,1@TCol)] + R[2:64@TLane]"))
    );
    assert_eq!(
        operand(TmemOperand::D, b, &[64, 3, 2, 7]),
        Ok(t("S[(64,3,2,7):(1@TLane,7@TCol,64@TLane,1@TCol)]"))
    );
    assert_eq!(operand(TmemOperand::D, b, &[2, 64, 5]), operand(TmemOperand::A, b, &[2, 64, 5]));
    let rank = |found| Err(Error::Rank { expected: 2, found });
    assert_eq!(operand(TmemOperand::A, (128, 1, false), &[128, 2, 8]), rank(3));
    assert_eq!(operand(TmemOperand::A, (64, 1, true), &[64, 8]), rank(2));
    let none = Err(Error::NoVariant { found: 32 });
    assert_eq!(operand(TmemOperand::A, (32, 1, false), &[32, 8]), none);
}

fn scale(rows: u32, factors: u32, per: u32, reuse: u32, stages: Option<u32>) -> ScaleLayout {
    ScaleLayout { rows, factors, per_instruction: per, reuse, stages }
}

#[test]
fn scale_factors_are_copied_packed_reused_and_staged() {
    let atom = &facts::SCALE_ATOM;
    let one = tirx::scale_factor_layout(&scale(32, 4, 4, 1, None), atom).unwrap();
    assert_eq!(show_tirx(&one), "S[(32,4):(1@TLane,1@TCol)] + R[4:32@TLane]");
    let l = tirx::scale_factor_layout(&scale(128, 8, 1, 4, Some(3)), atom).unwrap();
    assert_eq!(l.view().size_value(), Ok(3 * 128 * 8 * 4));
    let (mut lanes, mut out) = (Vec::new(), Coord::new());
    for (stage, row, k, r) in [(0u64, 5u64, 0u64, 0u64), (1, 77, 6, 3), (2, 127, 7, 1)] {
        let flat = ((stage * 128 + row) * 8 + k) * 4 + r;
        lanes.clear();
        l.view()
            .apply_all(flat, &mut out, |at| {
                // Four factors of 8 bits to a cell; a stage is four groups of rows times two cells.
                let cell = row / 32 * 4 + k / 4 * 16 + k % 4 + stage * 32;
                assert_eq!(at.get(AxisId::TCOL), cell as i64);
                lanes.push(at.get(AxisId::TLANE));
                Ok(())
            })
            .unwrap();
        let lane = (row % 32) as i64;
        assert_eq!(lanes, [lane, lane + 32, lane + 64, lane + 96]);
    }
    let shared = tirx::scale_factor_shared_layout(&scale(256, 8, 2, 1, Some(2)), atom).unwrap();
    assert_eq!(shared.view().is_injective(), Ok(true));
    assert_eq!(shared.view().span(AxisId::M), Ok(2 * 256 * 8));
    for (row, k) in [(0u64, 0u64), (33, 3), (130, 5)] {
        let wanted = row / 128 * 1024 + k / 4 * 512 + row % 32 * 16 + row / 32 % 4 * 4 + k % 4;
        assert_eq!(shared.view().offset_on(row * 8 + k, AxisId::M), Ok(wanted as i64));
    }
    let rows = tirx::scale_factor_layout(&scale(40, 4, 4, 1, None), atom);
    let fault = |dim, found, needed| Err(Error::BadShape { dim, found, needed });
    assert_eq!(rows, fault(0, 40, 32));
    let factors = tirx::scale_factor_layout(&scale(32, 6, 4, 1, None), atom);
    assert_eq!(factors, fault(1, 6, 4));
}

#[test]
fn swizzles_by_mode_and_in_both_directions() {
    let of = |bits, mode| tirx::swizzle_for(bits, mode, &facts::SWIZZLE);
    let element = |b, m| Swizzle::new(b, m, 3, Unit::Element);
    assert_eq!(of(16, 128), element(3, 3));
    assert_eq!(of(8, 64), element(2, 4));
    assert_eq!(of(32, 32), element(1, 2));
    assert_eq!(of(4, 16), element(0, 5));
    assert_eq!(of(6, 128), Err(Error::BadElement { bits: 6 }));
    assert_eq!(of(16, 96), Err(Error::NoVariant { found: 96 }));
    for (m, b, s, inner) in [(3, 3, 3, true), (1, 2, 4, false), (0, 1, 1, true)] {
        let swizzle = tirx::swizzle(m, b, s, inner).unwrap();
        assert_eq!(tirx::swizzle_parts(swizzle), (m, b, s, inner));
        for x in 0..512u64 {
            let q = x >> m;
            let mask = (1 << b) - 1;
            let moved = if inner { q ^ ((q >> s) & mask) } else { q ^ ((q & mask) << s) };
            assert_eq!(swizzle.apply(x), (moved << m) | (x & ((1 << m) - 1)));
            assert_eq!(swizzle.apply(swizzle.apply(x)), x);
        }
    }
    assert!(matches!(tirx::swizzle(3, 3, 2, true), Err(Error::BadSwizzle { .. })));
    assert!(matches!(tirx::swizzle(3, 3, 200, true), Err(Error::BadSwizzle { .. })));
}

#[test]
fn banks_of_a_column() {
    let tile = t("S[(8,64):(64@m,1@m)]");
    let swizzled = tirx::compose_swizzle(&tile.view(), 3, 3, 3, true).unwrap();
    for column in 0..64u64 {
        let mut banks = Vec::new();
        for i in 0..8u64 {
            let at = |l: &Layout| tirx::place(&l.view(), 64 * i + column, 16, &facts::BANKS);
            assert_eq!(at(&tile).unwrap().bank, (column / 2) as u32);
            let place = at(&swizzled).unwrap();
            assert_eq!(place.line, i);
            banks.push(place.bank);
        }
        if column == 0 {
            assert_eq!(banks, [0, 4, 8, 12, 16, 20, 24, 28]);
        }
        banks.sort_unstable();
        banks.dedup();
        assert_eq!(banks.len(), 8, "column {column}");
    }
    let none = tirx::Banks { count: 0, bank_bytes: 4 };
    let found = tirx::place(&tile.view(), 0, 16, &none);
    assert_eq!(found, Err(Error::NoVariant { found: 0 }));
}

#[test]
fn composed_text() {
    let swizzled = tirx::compose_swizzle(&t("S[(8,64)]").view(), 3, 3, 3, true).unwrap();
    for text in [
        "ComposeLayout(3, 3, 3, TileLayout(S[(8,64):(64,1)]))",
        "ComposeLayout(SwizzleLayout(per_element=3, swizzle_len=3, atom_len=3), TileLayout(S[8,64]))",
        "ComposeLayout(SwizzleLayout(3,3,3), S[(8,64)])",
        "ComposeLayout(per_element=3, swizzle_len=3, atom_len=3, tile_layout=S[8,64], swizzle_inner=True)",
    ] {
        assert_eq!(t(text), swizzled, "{text}");
    }
    assert_eq!(show_tirx(&swizzled), "ComposeLayout(3, 3, 3, TileLayout(S[(8,64):(64,1)]))");
    let outer = "ComposeLayout(1, 2, 4, TileLayout(S[7] + R[2:8] + 16), swizzle_inner=False)";
    assert_eq!(show_tirx(&t(outer)).replace("7:1", "7"), outer);
    let bare = t("SwizzleLayout(3, 3, 3)");
    assert_eq!(bare.view().size_value(), Ok(512));
    assert_eq!(bare.view().post, swizzled.view().post);
    assert_eq!(t("TileLayout(S[4] + 2)"), t("S[4] + 2"));
    assert_eq!(t("S[(8,4):('laneid',\"m\")]"), t("S[(8,4):(1@laneid,1)]"));
    assert_eq!(t("S[(8,4):((2,'laneid'),(3,m))]"), t("S[(8,4):(2@laneid,3)]"));
    assert_eq!(t("S[8:'laneid']"), t("S[8:1@laneid]"));
}

#[test]
fn coordinates_and_sizes_are_checked() {
    let l = t("S[(8,2,4,2):(4@laneid,1@warpid,1@laneid,1)] + R[2:4@warpid] + 5@warpid");
    let (view, mut out) = (l.view(), Coord::new());
    tirx::apply_shaped(&view, &[3, 9], &[8, 16], &mut out).unwrap();
    let here = |out: &Coord| (out.get(AxisId::LANE), out.get(AxisId::WARP), out.get(AxisId::M));
    assert_eq!(here(&out), (12, 6, 1));
    tirx::apply_iters(&view, &[3, 1, 0, 1], &mut out).unwrap();
    assert_eq!(here(&out), (12, 6, 1));
    let mut warps = Vec::new();
    tirx::apply_all_shaped(&view, &[3, 9], &[8, 16], &mut out, |at| {
        warps.push(at.get(AxisId::WARP));
        Ok(())
    })
    .unwrap();
    assert_eq!(warps, [6, 10]);
    let rank = Err(Error::Rank { expected: 4, found: 2 });
    assert_eq!(tirx::apply_iters(&view, &[3, 9], &mut out), rank);
    let size = Err(Error::BadShape { dim: 255, found: 15, needed: 128 });
    assert_eq!(tirx::apply_shaped(&view, &[1, 2], &[3, 5], &mut out), size);
    let range = Err(Error::OutOfRange { mode: 1, coord: 16, extent: 16 });
    assert_eq!(tirx::apply_shaped(&view, &[0, 16], &[8, 16], &mut out), range);
    let two = t("S[(2,128,112):(112@TCol,1@TLane,1@TCol)]");
    assert_eq!(tirx::memory_span(&two.view(), &WellKnown), Ok(351));
}

//! 000, the TIRx layout API.

use crate::{at, t, table};
use lanebook::TABLES;
use lanebook::layout::tirx::{self, ScaleLayout, facts};
use lanebook::layout::{AxisId, Coord, Iter, Layout, PostMap, Swizzle, Unit, WellKnown};
use std::collections::BTreeSet;

const LANE: AxisId = AxisId::LANE;
const WARP: AxisId = AxisId::WARP;
const M: AxisId = AxisId::M;

/// "Overview" and "Layouts by Example".
#[test]
fn layouts_by_example() {
    let acc = t("S[(128, 256) : (1@TLane, 1@TCol)]");
    for (row, column) in [(0, 0), (5, 7), (127, 255)] {
        assert_eq!(
            at(&acc.view(), 256 * row + column, [AxisId::TLANE, AxisId::TCOL]),
            [row as i64, column as i64]
        );
    }
    // "S[(32, sf_per_mma) : (1@TLane, 1@TCol)] + R[4 : 32@TLane]": visible across the full 128
    // lanes.
    let scale = t("S[(32, 4) : (1@TLane, 1@TCol)] + R[4 : 32@TLane]");
    assert_eq!(
        (scale.view().span(AxisId::TLANE), scale.view().span(AxisId::TCOL)),
        (Ok(128), Ok(4))
    );
    // "Two different iters both contribute to laneid. A stride without an explicit axis uses the
    // default memory axis m."
    let frag = t("S[(8, 2, 4, 2) : (4@laneid, 1@warpid, 1@laneid, 1)]");
    let axes: Vec<AxisId> = frag.view().shard.iter().rev().map(Iter::axis).collect();
    assert_eq!(axes, [LANE, WARP, LANE, M]);
    // "These constructors return ordinary TileLayout objects."
    let d = tirx::datapath(facts::DATAPATHS, 'D').unwrap();
    assert_eq!(tirx::tmem_datapath_layout(d, 128, 256, 0), Ok(acc));
    let ld = tirx::atom_layout(facts::ATOM_FORMS, "32x32b", 128, 64, 32).unwrap();
    assert_eq!(ld, t("S[(128,64):(1@tid_in_wg,1)]"));
}

/// "TileLayout", "Replica", "Offset", "Putting the Pieces Together".
#[test]
fn pieces() {
    let mut out = Coord::new();
    let copies = |l: &Layout, x: u64, out: &mut Coord| {
        let mut all = Vec::new();
        l.view().apply_all(x, out, |p| {
            all.push(p.get(WARP));
            Ok(())
        })?;
        Ok::<_, lanebook::layout::Error>(all)
    };
    // "R[2 : 4@warpid] creates two copies separated by four warps"; "5@warpid shifts the whole
    // placement by five".
    assert_eq!(copies(&t("S[2:1@warpid] + R[2 : 4@warpid]"), 1, &mut out), Ok(vec![1, 5]));
    assert_eq!(copies(&t("S[2:1@warpid] + 5@warpid"), 1, &mut out), Ok(vec![6]));
    // "If there is no replica, R contains only the zero offset, so the result is a singleton set."
    assert_eq!(copies(&t("S[2:1@warpid]"), 1, &mut out), Ok(vec![1]));
    // A ruling (000 row 16): an extent of e gives e copies, there is always one.
    assert_eq!(copies(&t("S[2:1@warpid] + R[1:4@warpid]"), 1, &mut out), Ok(vec![1]));
    let whole =
        t("S[(8, 2, 4, 2) : (4@laneid, 1@warpid, 1@laneid, 1)] + R[2 : 4@warpid] + 5@warpid");
    // "TileLayout.from_iters(shard, replica, offset)": the same layout, iters fastest first.
    let iter = Iter::new;
    let mut built =
        Layout::from_iters(&[iter(2, 1, M), iter(4, 1, LANE), iter(2, 1, WARP), iter(8, 4, LANE)])
            .unwrap();
    built.push_replica(iter(2, 4, WARP)).unwrap();
    built.add_offset(5.into(), WARP).unwrap();
    assert_eq!(built, whole);
}

/// "Named Axes": each is one, and two axes are never the same thing.
#[test]
fn named_axes() {
    let names =
        "bx by bz cbx cby cbz tx warpid laneid wgid tid_in_wg wid_in_wg m P F Bank TLane TCol";
    let axes: BTreeSet<AxisId> =
        names.split(' ').map(|name| t(&format!("S[2:1@{name}]")).view().shard[0].axis()).collect();
    assert_eq!(axes.len(), 18);
    assert_ne!(t("S[2:1@tx]"), t("S[2:1@tid_in_wg]"));
    assert_ne!(t("S[2:1@laneid]"), t("S[2:1@TLane]"));
    assert_eq!(t("S[2:1@m]"), t("S[2:1]"));
}

/// "Forward Mapping": flatten, split, accumulate, replicate; the tile's shape is no part of the
/// layout.
#[test]
fn forward_mapping() {
    let l = t("S[(8, 2, 4, 2) : (4@laneid, 1@warpid, 1@laneid, 1)] + 5@warpid");
    let (mut a, mut b) = (Coord::new(), Coord::new());
    for flat in 0..128u64 {
        let c = [flat / 16, flat / 8 % 2, flat / 2 % 4, flat % 2];
        tirx::apply_iters(&l.view(), &c, &mut a).unwrap();
        let expected = [4 * c[0] + c[2], c[1] + 5, c[3]].map(|v| v as i64);
        assert_eq!([LANE, WARP, M].map(|axis| a.get(axis)), expected);
        for shape in [[8u32, 16], [32, 4], [128, 1]] {
            tirx::apply_shaped(
                &l.view(),
                &[flat / u64::from(shape[1]), flat % u64::from(shape[1])],
                &shape,
                &mut b,
            )
            .unwrap();
            assert_eq!([LANE, WARP, M].map(|axis| b.get(axis)), expected);
        }
    }
    // A ruling (000 row 5): the number of elements must agree.
    assert!(tirx::apply_shaped(&l.view(), &[1, 2], &[3, 5], &mut b).is_err());
    assert!(l.view().apply_flat(1000, &mut b).is_err());
}

/// "Case Study: Tensor Core Register Tile".
#[test]
fn register_tile() {
    let l = t("S[(8, 2, 4, 2) : (4@laneid, 1@warpid, 1@laneid, 1)] + R[2 : 4@warpid] + 5@warpid");
    let mut out = Coord::new();
    let mut warps_seen = BTreeSet::new();
    for (i, j) in (0..8i64).flat_map(|i| (0..16).map(move |j| (i, j))) {
        let mut seen = Vec::new();
        let visit = |p: &Coord| {
            seen.push([LANE, WARP, M].map(|axis| p.get(axis)));
            Ok(())
        };
        tirx::apply_all_shaped(&l.view(), &[i as u64, j as u64], &[8, 16], &mut out, visit)
            .unwrap();
        let expected = [0, 1].map(|r| [4 * i + j / 2 % 4, j / 8 + 5 + 4 * r, j % 2]);
        assert_eq!(seen, expected);
        warps_seen.extend(seen.iter().map(|p| p[1]));
    }
    // "The shard places the tile on warps 5 and 6. The replica then copies it to warps 9 and 10."
    assert_eq!(warps_seen.into_iter().collect::<Vec<_>>(), [5, 6, 9, 10]);
}

/// "Case Study: Blackwell Tensor Memory".
#[test]
fn tensor_memory() {
    let l = t("S[(2, 128, 112) : (112@TCol, 1@TLane, 1@TCol)]");
    let mut columns = BTreeSet::new();
    for (a, lane, column) in
        (0..2u64).flat_map(|a| (0..128).flat_map(move |l| (0..112).map(move |c| (a, l, c))))
    {
        let found = at(&l.view(), (a * 128 + lane) * 112 + column, [AxisId::TLANE, AxisId::TCOL]);
        assert_eq!(found, [lane as i64, (112 * a + column) as i64]);
        columns.insert(found[1]);
    }
    assert_eq!((columns.len(), columns.first(), columns.last()), (224, Some(&0), Some(&223)));
    assert_eq!(l.view().span(AxisId::TCOL), Ok(224));
    // A ruling (000 row 7): memory axes added up, 351, are no range.
    assert_eq!(tirx::memory_span(&l.view(), &WellKnown), Ok(351));
}

/// "Scale Factor Layouts".
#[test]
fn scale_factors() {
    let l = t("S[(32, 4) : (1@TLane, 1@TCol)] + R[4 : 32@TLane]");
    let mut out = Coord::new();
    for (r, s) in (0..32u64).flat_map(|r| (0..4u64).map(move |s| (r, s))) {
        let mut seen = Vec::new();
        let visit = |p: &Coord| {
            seen.push([p.get(AxisId::TLANE), p.get(AxisId::TCOL)]);
            Ok(())
        };
        l.view().apply_all(4 * r + s, &mut out, visit).unwrap();
        assert_eq!(seen, [0, 1, 2, 3].map(|q| [r as i64 + 32 * q, s as i64]));
    }
    let made = |reuse, stages| {
        tirx::scale_factor_layout(
            &ScaleLayout { rows: 32, factors: 4, per_instruction: 4, reuse, stages },
            &facts::SCALE_ATOM,
        )
        .unwrap()
    };
    assert_eq!(made(1, None), l);
    // "Fp8 scale factors can pack four values into one 32-bit column cell": columns count factors,
    // four to a cell.
    assert_eq!(facts::SCALE_ATOM.per_cell, 4);
    // "Stride-zero reuse and pipeline-depth iters": reuse moves nothing, a stage lies beyond the
    // last.
    assert_eq!(made(3, None).view().span(AxisId::TCOL), Ok(4));
    assert_eq!(made(1, Some(2)).view().span(AxisId::TCOL), Ok(8));
}

/// "Ready-Made Layouts".
#[test]
fn ready_made() {
    let path = |letter, rows, cols| {
        tirx::tmem_datapath_layout(tirx::datapath(facts::DATAPATHS, letter).unwrap(), rows, cols, 0)
    };
    // "D" is the identity of M = 128, "F" the scattered placement of M = 64.
    assert_eq!(path('D', 128, 224), Ok(t("S[(128,224):(1@TLane,1@TCol)]")));
    assert_eq!(path('F', 64, 224), Ok(t("S[(4,16,224):(32@TLane,1@TLane,1@TCol)]")));
    // "Four warp-collective instructions, one per warp, with each warp handling its own 32 TMEM
    // lanes": as threads of a warpgroup.
    for (name, rows, cols) in
        [("32x32b", 128, 64), ("16x64b", 64, 64), ("16x128b", 64, 64), ("16x256b", 64, 64)]
    {
        let l = tirx::atom_layout(facts::ATOM_FORMS, name, rows, cols, 32).unwrap();
        assert_eq!(
            (l.view().is_injective(), l.view().size_value()),
            (Ok(true), Ok(u64::from(rows * cols))),
            "{name}"
        );
    }
    // A ruling (000 row 11): the name has no dot.
    assert!(tirx::atom_layout(facts::ATOM_FORMS, ".32x32b", 128, 64, 32).is_err());
    // "One row per thread on tid_in_wg".
    assert_eq!(tirx::wg_local_layout(128, 24), Ok(t("S[(128,24):(1@tid_in_wg,1)]")));
}

/// "Why Swizzle", "The Swizzle Transform", "Choosing Swizzle Parameters", "Bank and Line of an
/// Element", "Worked Example".
#[test]
fn swizzles() {
    let plain = t("S[(8, 64) : (64@m, 1@m)]");
    assert_eq!(table(&plain.view())[64 * 3 + 5], 64 * 3 + 5);
    // "For float16 M = log2(8) = 3 ... With a 128-byte swizzle per_element=3, swizzle_len=3,
    // atom_len=3".
    let chosen = tirx::swizzle_for(16, 128, &facts::SWIZZLE).unwrap();
    assert_eq!(tirx::swizzle_parts(chosen), (3, 3, 3, true));
    assert_eq!(Ok(chosen), Swizzle::new(3, 3, 3, Unit::Element));
    let swizzled = tirx::compose_swizzle(&plain.view(), 3, 3, 3, true).unwrap();
    assert_eq!(swizzled.view().post, PostMap::Swizzle(chosen));
    assert_eq!(
        t(
            "ComposeLayout(SwizzleLayout(per_element=3, swizzle_len=3, atom_len=3), TileLayout(S[(8, 64) : (64@m, 1@m)]))"
        ),
        swizzled
    );
    for (i, j) in (0..8u64).flat_map(|i| (0..64u64).map(move |j| (i, j))) {
        let m = 64 * i + j;
        let (q, r) = (j / 8, j % 8);
        let addr = 64 * i + 8 * (q ^ i) + r;
        let x = m >> 3;
        assert_eq!(addr, ((x ^ ((x >> 3) & 7)) << 3) | (m & 7));
        assert_eq!(table(&swizzled.view())[m as usize], addr as i64);
        // "byte = addr * b, bank = floor(byte / 4) mod 32, line = floor(byte / 128)".
        let place = tirx::place(&swizzled.view(), m, 16, &facts::BANKS).unwrap();
        assert_eq!((u64::from(place.bank), place.line), (addr * 2 / 4 % 32, addr * 2 / 128));
    }
    // "The column j = 0": banks 0, 4, ..., 28; without the swizzle bank 0 in every row.
    let column = |l: &Layout| {
        (0..8)
            .map(|i| tirx::place(&l.view(), 64 * i, 16, &facts::BANKS).unwrap().bank)
            .collect::<Vec<_>>()
    };
    assert_eq!(column(&swizzled), [0, 4, 8, 12, 16, 20, 24, 28]);
    assert_eq!(column(&plain), [0; 8]);
    assert_eq!(
        (0..8).map(|i| table(&swizzled.view())[64 * i]).collect::<Vec<_>>(),
        (0..8).map(|i| 72 * i).collect::<Vec<i64>>()
    );
    // "For the layout to be well formed, S must be at least B."
    assert!(tirx::swizzle(3, 3, 2, true).is_err());
}

/// What the ready-made layouts take for granted of a machine is what the tables say of machines.
#[test]
fn the_numbers_are_those_of_the_tables() {
    for arch in TABLES.archs.iter().filter(|a| a.vendor == "nvidia") {
        let banks = &facts::BANKS;
        for model in arch.banks {
            assert_eq!(
                (u32::from(model.banks), u32::from(model.bank_bytes)),
                (banks.count, banks.bank_bytes),
                "{} {}",
                arch.name,
                model.name
            );
        }
        let lanes = i64::from(arch.wave_lanes[0]);
        let relation = |axis, parent| {
            facts::WARP_32
                .iter()
                .find(|r| r.axis == axis && r.parent == parent)
                .map(|r| i64::from(r.factor))
        };
        assert_eq!(relation(WARP, AxisId::TX), Some(lanes), "{}", arch.name);
        for (mode, bytes) in [("32B", 32), ("64B", 64), ("128B", 128)] {
            let Ok(found) = lanebook::unit::swizzle::named(&TABLES, arch, mode) else { continue };
            for bits in [8, 16, 32] {
                let theirs =
                    PostMap::Swizzle(tirx::swizzle_for(bits, bytes, &facts::SWIZZLE).unwrap());
                assert_eq!(
                    lanebook::unit::swizzle::post_map(found, bits as u16),
                    Ok(theirs),
                    "{} {mode} {bits}",
                    arch.name
                );
            }
        }
    }
}

//! The worked examples of seed 000, as `errata.md` rules them.

use super::{show_tirx, t};
use crate::{AxisId, Coord, PostMap, Swizzle, Unit};
use std::vec::Vec;

#[test]
fn case_study() {
    let text = "S[(8,2,4,2):(4@laneid,1@warpid,1@laneid,1)] + R[2:4@warpid] + 5@warpid";
    let l = t(text);
    assert_eq!(show_tirx(&l), text);
    assert_eq!(l.view().size_value(), Ok(128));
    let mut out = Coord::new();
    for (i, j) in (0..8i64).flat_map(|i| (0..16i64).map(move |j| (i, j))) {
        let flat = (16 * i + j) as u64;
        l.view().apply_flat(flat, &mut out).unwrap();
        let here = (out.get(AxisId::LANE), out.get(AxisId::WARP), out.get(AxisId::M));
        assert_eq!(here, (4 * i + j / 2 % 4, j / 8 + 5, j % 2));
        assert_eq!(l.view().offset_on(flat, AxisId::LANE), Ok(here.0));
        let mut warps = Vec::new();
        l.view()
            .apply_all(flat, &mut out, |p| {
                warps.push(p.get(AxisId::WARP));
                Ok(())
            })
            .unwrap();
        assert_eq!(warps, [j / 8 + 5, j / 8 + 9]);
    }
    assert_eq!(l.view().is_injective(), Ok(true));
}

#[test]
fn tensor_memory() {
    let l = t("S[(2,128,112):(112@TCol,1@TLane,1@TCol)]");
    assert_eq!((l.view().span(AxisId::TCOL), l.view().span(AxisId::TLANE)), (Ok(224), Ok(128)));
    let mut out = Coord::new();
    l.view().apply_flat((128 + 5) * 112 + 7, &mut out).unwrap();
    assert_eq!((out.get(AxisId::TLANE), out.get(AxisId::TCOL)), (5, 119));
    let scales = t("S[(32,4):(1@TLane,1@TCol)] + R[4:32@TLane]");
    assert_eq!(scales.view().span(AxisId::TLANE), Ok(128));
}

#[test]
fn forms_of_the_notation() {
    assert_eq!(show_tirx(&t("S[8,4]")), "S[(8,4):(4,1)]");
    assert_eq!(show_tirx(&t("S[(8,4)]")), "S[(8,4):(4,1)]");
    assert_eq!(show_tirx(&t("S[4:1]")), "S[4:1]");
    assert_eq!(show_tirx(&t("S[ 8 : 1 @ laneid ]\n+ 3")), "S[8:1@laneid] + 3");
    assert_eq!(show_tirx(&t("S[(8,4):(laneid,1)]")), "S[(8,4):(1@laneid,1)]");
    assert_eq!(show_tirx(&t("3 + S[(4,2)] + 2")), "S[(4,2):(2,1)] + 5");
    assert_eq!(show_tirx(&t("R[2:4@warpid]")), "R[2:4@warpid]");
    assert_eq!(show_tirx(&t("S[()]")), "S[()]");
    assert_eq!(show_tirx(&t("S[(8,):(2,)] + -5@warpid")), "S[8:2] + -5@warpid");
}

#[test]
fn swizzled_tile() {
    let mut l = t("S[(8,64):(64@m,1@m)]");
    let column = |l: &crate::Layout| -> Vec<i64> {
        (0..8).map(|i| l.view().offset_on(64 * i, AxisId::M).unwrap() / 2 % 32).collect()
    };
    assert_eq!(column(&l), [0; 8]);
    l.set_post(PostMap::Swizzle(Swizzle::new(3, 3, 3, Unit::Element).unwrap())).unwrap();
    for (i, j) in (0..8i64).flat_map(|i| (0..64i64).map(move |j| (i, j))) {
        let here = l.view().offset_on((64 * i + j) as u64, AxisId::M);
        assert_eq!(here, Ok(64 * i + 8 * ((j / 8) ^ i) + j % 8));
    }
    assert_eq!(column(&l), [0, 4, 8, 12, 16, 20, 24, 28]);
}

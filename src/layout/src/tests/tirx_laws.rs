//! The laws of TIRx's operations, by evaluating all points of small layouts.

use super::{family, show_tirx, t};
use crate::error::Error;
use crate::tirx::{
    self, AxisKind, Scope, canonicalize, canonicalize_for, direct_sum, facts, footprint, group,
    group_many, inner_of_tile, left_of_sum, outer_of_tile, pack, right_of_sum, slice, tile, unpack,
};
use crate::{AxisId, AxisNames, Coord, Iter, Layout, LayoutRef, WellKnown};
use std::vec::Vec;

/// All copies of all elements, each as its axes in order.
pub(super) fn map(l: &LayoutRef<'_>) -> Vec<Vec<Vec<(AxisId, i64)>>> {
    let mut out = Vec::new();
    for x in 0..l.size_value().unwrap() {
        let mut copies = Vec::new();
        l.apply_all(x, &mut Coord::new(), |at| {
            let mut axes: Vec<_> = at.iter().filter(|e| e.1 != 0).collect();
            axes.sort_unstable();
            copies.push(axes);
            Ok(())
        })
        .unwrap();
        copies.sort_unstable();
        out.push(copies);
    }
    out
}

/// Layouts over three axes, some with copies, offsets and iters of extent 1; the same ones every
/// time.
pub(super) fn samples(count: u32) -> Vec<Layout> {
    let axes = [AxisId::M, AxisId::LANE, AxisId::WARP];
    let mut random = super::Random::new(7);
    (0..count)
        .map(|_| {
            let mut l = Layout::new();
            for _ in 0..1 + random.below(4) {
                let extent = [1, 2, 3, 4, 5, 6][random.below(6) as usize];
                let stride = [0, 1, 2, 3, 4, 8, 12][random.below(7) as usize];
                let axis = axes[random.below(3) as usize];
                l.push_shard(Iter::new(extent, stride, axis)).unwrap();
            }
            if random.below(3) == 0 {
                let stride = i64::from(random.below(9));
                let axis = axes[random.below(3) as usize];
                let extent = 1 + random.below(3);
                l.push_replica(Iter::new(extent, stride, axis)).unwrap();
            }
            if random.below(3) == 0 {
                let value = i64::from(random.below(20)).into();
                l.add_offset(value, axes[random.below(3) as usize]).unwrap();
            }
            l
        })
        .collect()
}

/// All shapes of up to two extents with this product.
fn shapes(size: u64) -> Vec<Vec<u32>> {
    let mut out = Vec::from([Vec::from([size as u32])]);
    for a in 1..=size {
        if size.is_multiple_of(a) {
            out.push(Vec::from([a as u32, (size / a) as u32]));
        }
    }
    out
}

#[test]
fn canonical_form_is_the_same_map_and_final() {
    for l in samples(400) {
        let short = canonicalize(&l.view()).unwrap();
        let unit = |l: &Layout| l.view().replica.iter().all(Iter::is_unit);
        assert_eq!(map(&short.view()), map(&l.view()), "{l:?}");
        assert_eq!(canonicalize(&short.view()).as_ref(), Ok(&short));
        assert!(short.view().shard.len() <= l.view().shard.len());
        assert!(!unit(&l) || short.view().replica.is_empty());
    }
}

#[test]
fn a_group_is_the_same_map_cut_at_the_shape() {
    let mut refused = 0;
    for l in samples(200) {
        for shape in shapes(l.view().size_value().unwrap()) {
            let Ok(g) = group(&l.view(), &shape) else {
                refused += 1;
                continue;
            };
            assert_eq!(map(&g.layout.view()), map(&l.view()));
            assert_eq!(g.separators.len(), shape.len() + 1);
            let written: Vec<_> = g.layout.view().shard.iter().rev().collect();
            for (k, extent) in shape.iter().enumerate() {
                let (a, b) = (g.separators[k], g.separators[k + 1]);
                let own = &written[usize::from(a)..usize::from(b)];
                let product: u32 = own.iter().map(|it| it.extent_value().unwrap()).product();
                assert_eq!(product, *extent);
            }
        }
    }
    assert!(refused > 0);
}

/// What is asked without cutting is what cutting answers, of shapes of other sizes as well.
#[test]
fn what_can_be_grouped_is_known_before() {
    let mut told = [0, 0];
    for l in samples(200) {
        let size = l.view().size_value().unwrap();
        let of_three = shapes(size).into_iter().flat_map(|shape| {
            let last = u64::from(*shape.last().unwrap());
            let first = shape[0];
            shapes(last).into_iter().map(move |rest| [Vec::from([first]), rest].concat())
        });
        for shape in shapes(size).into_iter().chain(of_three).chain(shapes(size + 1)) {
            let asked = l.view().is_grouped_by(shape.iter().rev().map(|n| u64::from(*n)));
            assert_eq!(asked, group(&l.view(), &shape).is_ok(), "{l:?} {shape:?}");
            told[usize::from(asked)] += 1;
        }
    }
    assert!(told.iter().all(|count| *count > 200), "{told:?}");
}

#[test]
fn several_shapes_group_at_once_or_not_at_all() {
    let (mut grouped, mut refused) = (0, 0);
    for l in samples(120) {
        let all = shapes(l.view().size_value().unwrap());
        for (a, b) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
            let Ok(g) = group_many(&l.view(), &[a, b]) else {
                refused += 1;
                continue;
            };
            grouped += 1;
            assert_eq!(map(&g.layout.view()), map(&l.view()));
            let written: Vec<_> = g.layout.view().shard.iter().rev().collect();
            for (shape, ends) in [a, b].into_iter().zip(&g.separators) {
                for (k, extent) in shape.iter().enumerate() {
                    let own = &written[usize::from(ends[k])..usize::from(ends[k + 1])];
                    let product: u32 = own.iter().map(|it| it.extent_value().unwrap()).product();
                    assert_eq!(product, *extent, "{l:?} {a:?} {b:?}");
                }
            }
        }
    }
    assert!(grouped > 100 && refused > 100, "{grouped} {refused}");
}

/// What a tiling must be: positions of `outer` times footprints, plus positions of `inner`.
fn check_tile(whole: &Layout, outer: &Layout, inner: &Layout, scaled: bool) {
    let (slow, fast) = (map(&outer.view()), map(&inner.view()));
    let found = map(&whole.view());
    assert_eq!(found.len(), slow.len() * fast.len());
    for (x, copies) in found.iter().enumerate() {
        let mut wanted = Vec::new();
        for a in &slow[x / fast.len()] {
            for b in &fast[x % fast.len()] {
                let mut sum = std::collections::BTreeMap::new();
                for (axis, v) in a {
                    let offset = outer.view().offset_of(*axis).unwrap().value().unwrap();
                    let width = footprint(&inner.view(), *axis).unwrap();
                    let width = if scaled { width } else { 1 };
                    *sum.entry(*axis).or_insert(0) += (v - offset) * width;
                }
                for o in outer.view().offset {
                    *sum.entry(o.axis()).or_insert(0) += o.value().value().unwrap();
                }
                for (axis, v) in b {
                    *sum.entry(*axis).or_insert(0) += v;
                }
                wanted.push(sum.into_iter().filter(|e| e.1 != 0).collect::<Vec<_>>());
            }
        }
        wanted.sort_unstable();
        assert_eq!(*copies, wanted, "{outer:?} {inner:?} at {x}");
    }
}

#[test]
fn factors_of_a_tiling_and_of_a_sum_come_back() {
    let all: Vec<Layout> =
        samples(60).into_iter().filter(|l| l.view().size_value().unwrap() <= 24).collect();
    for (outer, inner) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
        // A replica's steps are not scaled, so the law above needs an outer layout without.
        let outer_plain = outer.view().replica.is_empty();
        let size = |l: &Layout| Vec::from([l.view().size_value().unwrap() as u32]);
        let (os, is) = (size(outer), size(inner));
        let (whole_shape, pairs) = ([os[0] * is[0]], [os[0], is[0]]);
        let tiled = tile(&inner.view(), &is, &outer.view(), &os).unwrap();
        let sum = direct_sum(&outer.view(), &os, &inner.view(), &is).unwrap();
        if outer_plain {
            check_tile(&tiled, outer, inner, true);
        }
        check_tile(&sum, outer, inner, false);
        let slow = outer_of_tile(&tiled.view(), &whole_shape, &inner.view(), &is).unwrap();
        let again = tile(&inner.view(), &is, &slow.view(), &os).unwrap();
        assert_eq!(map(&again.view()), map(&tiled.view()));
        if let Ok(fast) = inner_of_tile(&tiled.view(), &whole_shape, &outer.view(), &os) {
            let again = tile(&fast.view(), &is, &outer.view(), &os).unwrap();
            assert_eq!(map(&again.view()), map(&tiled.view()));
        }
        let left = left_of_sum(&sum.view(), &pairs, &inner.view(), &is).unwrap();
        assert_eq!(map(&left.view()), map(&outer.view()));
        let right = right_of_sum(&sum.view(), &pairs, &outer.view(), &os).unwrap();
        assert_eq!(map(&right.view()), map(&inner.view()));
    }
}

/// Whether a sequence of positions is a strided walk: brute force over all ways to factor its
/// length.
fn is_walk(values: &[i64]) -> bool {
    let n = values.len();
    n == 1
        || (2..=n).filter(|e| n.is_multiple_of(*e)).any(|e| {
            let step = values[1] - values[0];
            let rows = values
                .chunks(e)
                .all(|row| row.iter().enumerate().all(|(r, v)| *v == row[0] + r as i64 * step));
            rows && is_walk(&values.iter().step_by(e).copied().collect::<Vec<_>>())
        })
}

#[test]
fn a_slice_is_the_region_and_is_found_wherever_it_exists() {
    let mut refused = 0;
    for l in family(2, 4, &[1, 3, 4, 7]) {
        let size = l.view().size_value().unwrap() as u32;
        let values = super::table(&l.view());
        for (begin, end) in (0..size).flat_map(|b| (b + 1..=size).map(move |e| (b, e))) {
            let wanted = &values[begin as usize..end as usize];
            match slice(&l.view(), &[size], &[(begin, end)]) {
                Ok(part) => assert_eq!(super::table(&part.view()), wanted, "{l:?} {begin} {end}"),
                Err(Error::CannotSlice { .. }) => {
                    refused += 1;
                    assert!(!is_walk(wanted), "{l:?} {begin} {end}");
                }
                Err(e) => panic!("{e:?}"),
            }
        }
    }
    assert!(refused > 100);
}

#[test]
fn a_slice_of_two_dimensions() {
    for l in samples(150) {
        let all = map(&l.view());
        for shape in shapes(l.view().size_value().unwrap()) {
            let [rows, cols] = shape[..] else { continue };
            if group(&l.view(), &shape).is_err() {
                continue;
            }
            let (r, c) = ((rows / 2, rows), (0, cols.div_ceil(2)));
            let Ok(part) = slice(&l.view(), &shape, &[r, c]) else {
                continue;
            };
            let picked = (r.0..r.1).flat_map(|i| (c.0..c.1).map(move |j| i * cols + j));
            let wanted: Vec<_> = picked.map(|x| all[x as usize].clone()).collect();
            assert_eq!(map(&part.view()), wanted, "{l:?} {shape:?}");
        }
    }
}

#[test]
fn packing_undoes_unpacking() {
    for l in samples(150) {
        for n in [1u32, 2, 3, 4] {
            let split = unpack(&l.view(), n, AxisId::M).unwrap();
            let again = pack(&split.view(), n, AxisId::M).unwrap();
            assert_eq!(map(&again.view()), map(&l.view()));
            let x = l.view().size_value().unwrap() - 1;
            let whole = l.view().offset_on(x, AxisId::M).unwrap();
            for r in 0..u64::from(n) {
                let part = split.view().offset_on(x * u64::from(n) + r, AxisId::M);
                assert_eq!(part, Ok(whole * i64::from(n) + r as i64));
                let lane = split.view().offset_on(x * u64::from(n) + r, AxisId::LANE);
                assert_eq!(lane, l.view().offset_on(x, AxisId::LANE));
            }
        }
    }
    let swizzled = t("ComposeLayout(3, 3, 3, TileLayout(S[512]))");
    let bytes = unpack(&swizzled.view(), 2, AxisId::M).unwrap();
    for x in 0..1024 {
        let word = swizzled.view().offset_on(x / 2, AxisId::M).unwrap();
        let byte = bytes.view().offset_on(x, AxisId::M).unwrap();
        assert_eq!(byte, 2 * word + (x % 2) as i64);
    }
    assert_eq!(pack(&bytes.view(), 2, AxisId::M).map(|l| l.view().post), Ok(swizzled.view().post));
}

#[test]
fn permutations_and_broadcasts_move_dimensions() {
    let l = t("S[(2,3,4):(12,4,1)] + R[2:24] + 5@laneid");
    let turned = tirx::permute_dims(&l.view(), &[2, 0, 1]).unwrap();
    for (i, j, k) in (0..24u64).map(|x| (x / 12, x / 4 % 3, x % 4)) {
        let at = turned.view().offset_on(k * 6 + i * 3 + j, AxisId::M);
        assert_eq!(at, l.view().offset_on(i * 12 + j * 4 + k, AxisId::M));
    }
    let groups = tirx::permute_by_groups(&l.view(), &[0, 1, 3], &[1, 0]).unwrap();
    let same = tirx::permute_dims(&l.view(), &[1, 2, 0]).unwrap();
    assert_eq!(groups, same);
    for at in [0, 1, 3, -1, -4] {
        let wide = tirx::broadcast(&l.view(), 5, at, AxisId::M).unwrap();
        assert_eq!(wide.view().size_value(), Ok(120));
        let stays = wide.view().shard.iter().filter(|it| it.stride() == 0.into());
        assert_eq!(stays.count(), 1);
    }
    let memory = tirx::storage(&t("S[(8,4):(1@laneid,1)] + R[2:8@warpid] + 3").view(), &WellKnown);
    assert_eq!(memory, Ok(t("S[4] + 3")));
}

#[test]
fn scopes_form_chains() {
    let pair = |text: &str| tirx::scope_pair(&t(text).view(), &WellKnown);
    let of = |subscope, scope| Ok(Some(tirx::ScopePair { subscope, scope }));
    assert_eq!(pair("S[4]"), Ok(None));
    assert_eq!(pair("R[2:4@warpid]"), Ok(None));
    assert_eq!(pair("S[32:1@laneid]"), of(Scope::Thread, Scope::Warp));
    assert_eq!(pair("S[(4,32):(1@warpid,1@laneid)]"), of(Scope::Thread, Scope::Cta));
    assert_eq!(pair("S[(4,2):(1@wgid,1@wid_in_wg)]"), of(Scope::Warp, Scope::Cta));
    // TIRx's walk over these two never ends.
    assert_eq!(pair("S[(4,2):(1@bx,1@tx)]"), of(Scope::Thread, Scope::Grid));
    let conflict = |axis, other| Err(Error::ScopeConflict { axis, other });
    assert_eq!(pair("S[(4,2):(1@laneid,1@tx)]"), conflict(AxisId::TX, AxisId::LANE));
    assert_eq!(pair("S[(4,2):(1@bx,1@cbx)]"), conflict(AxisId::CBX, AxisId::BX));
    let gap = Err(Error::ScopeGap { axis: AxisId::WGID });
    assert_eq!(pair("S[(4,2):(1@laneid,1@wgid)]"), gap);
    let unknown = Err(Error::UnknownAxis { axis: AxisId::SLOT });
    assert_eq!(pair("S[4:1@slot]"), unknown);
    for name in ["bx", "by", "bz", "cbx", "cby", "cbz", "tx", "warpid", "laneid", "wgid"] {
        let axis = WellKnown.axis(name).unwrap();
        assert!(matches!(tirx::AxisKinds::kind(&WellKnown, axis), Some(AxisKind::Thread { .. })));
    }
}

/// A cyclic registry, which the walk must survive.
struct Cyclic;

impl tirx::AxisKinds for Cyclic {
    fn kind(&self, axis: AxisId) -> Option<AxisKind> {
        let (scope, subscope) = if axis == AxisId::TX {
            (Scope::Cta, Scope::Thread)
        } else {
            (Scope::Thread, Scope::Cta)
        };
        Some(AxisKind::Thread { scope, subscope })
    }
}

#[test]
fn a_cyclic_registry_ends() {
    let found = tirx::scope_pair(&t("S[(4,2):(1@bx,1@tx)]").view(), &Cyclic);
    assert!(found.is_ok_and(|p| p.is_some()));
}

#[test]
fn axis_relations_keep_the_thread() {
    let fuse = |text: &str| canonicalize_for(&t(text).view(), &WellKnown, facts::WARP_32);
    assert_eq!(fuse("S[(4,32):(1@warpid,1@laneid)]"), Ok(t("S[128:1@tx]")));
    // TIRx loses the first of two offsets that meet.
    assert_eq!(
        fuse("S[(4,32):(1@warpid,1@laneid)] + 1@warpid + 3@laneid"),
        Ok(t("S[128:1@tx] + 35@tx"))
    );
    // TIRx leaves 4 on wgid here.
    assert_eq!(fuse("S[(2,4):(1@wgid,1@wid_in_wg)]"), Ok(t("S[8:1@warpid]")));
    assert_eq!(fuse("S[(8,4):(4@laneid,1@laneid)]"), Ok(t("S[32:1@laneid]")));
    let ill = t("S[(4,2):(1@tx,1@laneid)]");
    assert!(canonicalize_for(&ill.view(), &WellKnown, &[]).is_err());
    assert!(canonicalize(&ill.view()).is_ok());
}

/// Under a target's relations each thread is the thread that it was: slices that cross warps, and a
/// whole as a tile and what repeats it.
#[test]
fn slices_and_factors_under_a_target() {
    let relations = facts::WARP_32;
    // Thread of a place on the axes of a block.
    let thread = |l: &Layout, x: u64| {
        let mut at = crate::Coord::new();
        l.view().apply_extended(x, &mut at).unwrap();
        let counted = [
            (AxisId::LANE, 1),
            (AxisId::TX, 1),
            (AxisId::TID_IN_WG, 1),
            (AxisId::WID_IN_WG, 32),
            (AxisId::WARP, 32),
            (AxisId::WGID, 128),
        ];
        let sum: i64 = counted.iter().map(|(axis, by)| at.get(*axis) * by).sum();
        (sum, at.get(AxisId::M))
    };
    let mut gained = 0;
    for text in [
        "S[(4,32):(1@warpid,1@laneid)]",
        "S[(2,4,32):(1@wgid,1@wid_in_wg,1@laneid)]",
        "S[(2,128,2):(1@wgid,1@tid_in_wg,1)] + 3@wgid",
        "S[(8,4,16):(4@laneid,1@laneid,1)]",
    ] {
        let l = t(text);
        let over = canonicalize_for(&l.view(), &WellKnown, relations).unwrap();
        let size = l.view().size_value().unwrap() as u32;
        for begin in (0..size).step_by(8) {
            for width in [1, 8, 32, 48, 64] {
                if begin + width > size {
                    continue;
                }
                let region = [(begin, begin + width)];
                let plain = tirx::slice(&l.view(), &[size], &region);
                let part = match (tirx::slice(&over.view(), &[size], &region), &plain) {
                    (Ok(part), _) => part,
                    // Nothing is lost.
                    (Err(e), plain) => {
                        assert!(plain.is_err(), "{text} {region:?}: {e:?}");
                        continue;
                    }
                };
                gained += u32::from(plain.is_err());
                for x in 0..width {
                    let wanted = thread(&l, u64::from(begin + x));
                    assert_eq!(thread(&part, u64::from(x)), wanted, "{text} {region:?}");
                }
            }
        }
    }
    // Those that cross a warp.
    assert!(gained > 20, "{gained}");

    for (whole, shape, tile, tile_shape) in [
        ("S[(4,32):(1@warpid,1@laneid)]", [128], "S[32:1@laneid]", [32]),
        (
            "S[(2,4,32):(1@wgid,1@wid_in_wg,1@laneid)]",
            [256],
            "S[(4,32):(1@wid_in_wg,1@laneid)]",
            [128],
        ),
        ("S[(2,128,2):(1@wgid,1@tid_in_wg,1)]", [512], "S[(32,2):(1@laneid,1)]", [64]),
    ] {
        let whole = canonicalize_for(&t(whole).view(), &WellKnown, relations).unwrap();
        let tile = tirx::canonicalize_beside(&t(tile).view(), &whole.view(), &WellKnown, relations);
        let tile = tile.unwrap();
        let outer = tirx::outer_of_tile(&whole.view(), &shape, &tile.view(), &tile_shape).unwrap();
        let times = [shape[0] / tile_shape[0]];
        let again = tirx::tile(&tile.view(), &tile_shape, &outer.view(), &times).unwrap();
        for x in 0..u64::from(shape[0]) {
            assert_eq!(thread(&again, x), thread(&whole, x), "{x} of {}", show_tirx(&outer));
        }
    }
    // An axis of other scopes has no place among the whole's.
    let (part, whole) = (t("S[4:1@cbx]"), t("S[(4,32):(1@warpid,1@laneid)]"));
    let beside = tirx::canonicalize_beside(&part.view(), &whole.view(), &WellKnown, relations);
    assert_eq!(beside, Err(crate::Error::ScopeGap { axis: AxisId::CBX }));
}

#[test]
fn copies_have_one_order() {
    // Of equal extents the nearer ones come first.
    let (near, far) = (t("S[4] + R[(2,2):(4,16)]"), t("S[4] + R[(2,2):(16,4)]"));
    assert_ne!(near, far);
    assert_eq!(canonicalize(&near.view()), canonicalize(&far.view()));
}

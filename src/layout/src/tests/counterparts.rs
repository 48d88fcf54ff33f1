//! What the linear form can do, the strided form can: both agree where both exist, and points
//! decide where only one does.

use super::cute_laws::Random;
use super::{c, family, show, show_tirx, t, table};
use crate::convert::to_linear;
use crate::error::Error;
use crate::num::Int;
use crate::ops::{
    between, compose, consecutive, divide, divide_right, free_iters, guarded_inverse,
    is_surjective, quotient, rename_axis, resize_mode, sublayout,
};
use crate::{
    AxisId, Coord, Hw, Iter, Layout, Linear, Logical, Pad, Padding, PostMap, Swizzle, SymNames,
    SymTable, Unit,
};
use std::collections::BTreeSet;
use std::vec::Vec;

const AXES: [AxisId; 3] = [AxisId::M, AxisId::LANE, AxisId::WARP];

/// A layout of two modes whose iters are powers of two on three axes and do not carry.
fn powers(random: &mut Random) -> Layout {
    let mut out = Layout::new();
    let mut used = [0u32; 3];
    out.open().unwrap();
    for _ in 0..2 {
        out.open().unwrap();
        for _ in 0..1 + random.below(3) {
            let (axis, bits) = (random.below(3) as usize, random.below(3) as u32);
            let gap = u32::from(random.below(4) == 0);
            let stride = if random.below(6) == 0 { 0 } else { 1i64 << (used[axis] + gap) };
            if stride != 0 {
                used[axis] += gap + bits;
            }
            out.push_leaf(Iter::new(1 << bits, stride, AXES[axis])).unwrap();
        }
        out.close().unwrap();
    }
    out.close().unwrap();
    out
}

/// The bits of mode `k`.
fn bits(l: &Layout, k: usize) -> u8 {
    l.view().mode(k).unwrap().size_value().unwrap().trailing_zeros() as u8
}

/// All positions of a layout, axis by axis.
fn places(l: &Layout, axes: &[AxisId]) -> Vec<Vec<i64>> {
    let mut at = Coord::new();
    let one = |x| {
        l.view().apply_flat(x, &mut at).unwrap();
        axes.iter().map(|a| at.get(*a)).collect()
    };
    (0..l.view().size_value().unwrap()).map(one).collect()
}

#[test]
fn both_forms_agree_on_parts_and_properties() {
    let mut random = Random(0x5eed_0101);
    let mut seen = [0usize; 3];
    for _ in 0..3000 {
        let l = powers(&mut random);
        let v = l.view();
        let m = to_linear(&v).unwrap_or_else(|e| panic!("{}: {e:?}", show_tirx(&l)));
        let axes = v.axes().unwrap();
        assert_eq!(is_surjective(&v), Ok(m.is_surjective()), "{}", show(&l));
        assert_eq!(v.is_injective(), Ok(m.is_injective()));
        // The free iters of the layout cut into iters of two are the free variables.
        let mut cut = Layout::new();
        for it in v.shard {
            for bit in 0..it.extent_value().unwrap().trailing_zeros() {
                cut.push_shard(Iter::new(2, it.stride_value().unwrap() << bit, it.axis())).unwrap();
            }
        }
        let free = m
            .free_variable_masks()
            .iter()
            .zip([0, bits(&l, 0)])
            .fold(0, |sum, (f, up)| sum | (f.1 << up));
        assert_eq!(u64::from(free_iters(&cut.view()).unwrap()), free);
        // A run of the first mode on the first axis.
        let first = axes[0];
        assert_eq!(consecutive(&v, first).unwrap(), m.num_consecutive_in_out(), "{}", show(&l));
        for axis in &axes {
            let part = sublayout(&v, &[1], &[*axis]).unwrap();
            let own = m.sublayout(&[AxisId::dim(1)], &[*axis]).unwrap();
            let alone = Linear::<Logical, Hw>::from_columns(
                own.ins().clone(),
                own.outs().clone(),
                own.columns(),
            )
            .unwrap();
            let found = places(&part, &[*axis]);
            assert!(
                (0..found.len()).all(|x| alone.apply_packed(x as u64) as i64 == found[x][0]),
                "{}",
                show(&l)
            );
            let swapped = sublayout(&v, &[1, 0], &axes).unwrap();
            let order = [AxisId::dim(1), AxisId::dim(0)];
            let turned = m.transpose_ins(&order).unwrap();
            let again = to_linear(&swapped.view()).unwrap();
            for x in 0..1u64 << again.ins().bits() {
                let at = |m: &Linear<Logical, Hw>| {
                    axes.iter().map(|a| m.outs().extract(m.apply_packed(x), *a)).collect::<Vec<_>>()
                };
                assert_eq!(at(&again), at(&turned));
            }
        }
        // Larger and smaller modes.
        for (k, to) in [(0usize, bits(&l, 0) + 1), (1, bits(&l, 1).saturating_sub(1))] {
            let Ok(resized) = resize_mode(&v, k, Int::known(1 << to)) else { continue };
            seen[0] += 1;
            let own = m.resize_in(AxisId::dim(k as u8), to).unwrap();
            let found = places(&resized, &axes);
            for (x, at) in found.iter().enumerate() {
                let value = own.apply_packed(x as u64);
                let expected: Vec<i64> =
                    axes.iter().map(|a| own.outs().extract(value, *a).unwrap() as i64).collect();
                assert_eq!(*at, expected, "{} resized to {}", show(&l), show(&resized));
            }
        }
        // A mode that has an axis to itself.
        for axis in &axes {
            let label = m.rename_out(*axis, AxisId::dim(0)).unwrap();
            let expected = label.quotient(&[AxisId::dim(0)]).unwrap();
            let found = quotient(&v, 0, *axis).unwrap();
            assert_eq!(found.is_some(), expected.is_some(), "{} {axis:?}", show(&l));
            if let (Some(found), Some(expected)) = (found, expected) {
                seen[1] += 1;
                let back = to_linear(&found.view()).unwrap();
                let values = |m: &Linear<Logical, Hw>, x: u64| -> Vec<u64> {
                    let v = m.apply_packed(x);
                    axes.iter().map(|a| m.outs().extract(v, *a).unwrap_or(0)).collect()
                };
                assert!(
                    (0..1u64 << expected.ins().bits())
                        .all(|x| values(&back, x) == values(&expected, x))
                );
            }
        }
        if let Ok(renamed) = rename_axis(&v, first, AxisId::TX) {
            seen[2] += 1;
            assert_eq!(places(&renamed, &[AxisId::TX]), places(&l, &[first]));
        }
    }
    assert!(seen.iter().all(|n| *n > 100), "{seen:?}");
}

#[test]
fn factors_from_either_side() {
    let whole = c("((8,3),(2,7)):((1,64),(8,256))");
    let upper = c("(3,7):(64,256)");
    assert_eq!(show(&divide_right(&whole.view(), &upper.view()).unwrap()), "(8,2):(1,8)");
    // 24 and 96 have factors too.
    let rows = c("96:2");
    for (lower, upper) in [("24:2", "4:48"), ("32:2", "3:64"), ("1:0", "96:2"), ("96:2", "1:0")] {
        let (a, b) = (c(lower), c(upper));
        assert_eq!(divide(&rows.view(), &a.view()).map(|l| table(&l.view())), Ok(table(&b.view())));
        assert_eq!(
            divide_right(&rows.view(), &b.view()).map(|l| table(&l.view())),
            Ok(table(&a.view()))
        );
    }
    assert_eq!(
        divide_right(&rows.view(), &c("5:2").view()),
        Err(Error::NotDivisible { mode: 0, part: 0 })
    );
    assert_eq!(
        divide_right(&rows.view(), &c("4:24").view()),
        Err(Error::NotDivisible { mode: 0, part: 0 })
    );
    assert_eq!(
        divide_right(&rows.view(), &c("S<1,0,1> o 0 o 4:48").view()),
        Err(Error::HasPostMap)
    );
    let mut random = Random(0x5eed_0102);
    let mut found = 0;
    for _ in 0..500 {
        let (a, b) = (powers(&mut random), powers(&mut random));
        let Ok(product) = crate::tirx::tile(
            &a.view(),
            &[1 << bits(&a, 1), 1 << bits(&a, 0)],
            &b.view(),
            &[1 << bits(&b, 1), 1 << bits(&b, 0)],
        ) else {
            continue;
        };
        // Both factors come back from the product, mode by mode.
        if let Ok(rest) = divide(&product.view(), &a.view()) {
            let again = divide_right(&product.view(), &rest.view()).unwrap();
            assert_eq!(table_of(&again), table_of(&a));
            found += 1;
        }
    }
    assert!(found > 20, "{found}");
}

fn table_of(l: &Layout) -> Vec<Vec<i64>> {
    places(l, &AXES)
}

/// The accumulators of a 64 x 24 and of a 64 x 96 instruction, and others that no matrix over bits
/// can say.
const ODD: [&str; 4] = [
    "S[(2,8,3,4,2):(2@m,4@laneid,4@m,1@laneid,1@m)]",
    "S[(4,2,8,12,4,2):(1@warpid,2@m,4@laneid,4@m,1@laneid,1@m)]",
    "S[(7,32):(1@m,1@laneid)]",
    "S[(2,128,112):(112@TCol,1@TLane,1@TCol)]",
];

#[test]
fn what_lies_where_between_two_layouts() {
    for text in ODD {
        let (from, size) = (t(text), t(text).view().size_value().unwrap());
        let axes = from.view().axes().unwrap();
        for to in [c(&std::format!("{size}:1")), from.clone()] {
            let map = between(&from.view(), &to.view()).unwrap();
            let mut at = Coord::new();
            for x in 0..size {
                to.view().apply_flat(x, &mut at).unwrap();
                let place: Vec<u64> = map.axes.iter().map(|a| at.get(*a) as u64).collect();
                let mut there = Coord::new();
                map.layout.view().apply(&place, &mut there).unwrap();
                from.view().apply_flat(x, &mut at).unwrap();
                assert!(axes.iter().all(|a| there.get(*a) == at.get(*a)), "{text} {x}");
            }
        }
        // And the way back, where the strides allow it.
        let back = between(&c(&std::format!("{size}:1")).view(), &from.view()).unwrap();
        assert_eq!(back.axes, axes);
    }
    assert_eq!(
        between(&c("8:1").view(), &c("8:2").view()),
        Err(Error::NotSurjective { axis: AxisId::M, stride: 2, expected: 1 })
    );
    let mut random = Random(0x5eed_0103);
    let mut answered = 0;
    for _ in 0..2000 {
        let (a, b) = (powers(&mut random), powers(&mut random));
        if a.view().size() != b.view().size() {
            continue;
        }
        let Ok(map) = between(&a.view(), &b.view()) else { continue };
        answered += 1;
        let (x, y) = (
            to_linear(&crate::LayoutRef { profile: crate::Profile::FLAT, ..a.view() }),
            to_linear(&b.view()),
        );
        let (Ok(_), Ok(linear)) = (x, y) else { panic!("both are linear") };
        assert!(linear.is_bijective());
        for (p, q) in places(&a, &AXES).into_iter().zip(places(&b, &AXES)) {
            let place: Vec<u64> = map
                .axes
                .iter()
                .map(|a| q[AXES.iter().position(|b| a == b).unwrap()] as u64)
                .collect();
            let mut there = Coord::new();
            map.layout.view().apply(&place, &mut there).unwrap();
            assert_eq!(AXES.map(|a| there.get(a)).to_vec(), p);
        }
    }
    assert!(answered > 10, "{answered}");
}

#[test]
fn surjectivity_and_freedom_are_those_of_the_image() {
    for l in family(3, 4, &[-3, -1, 0, 1, 2, 3, 4]) {
        let image: BTreeSet<i64> = table(&l.view()).into_iter().collect();
        let (low, high) = (*image.first().unwrap(), *image.last().unwrap());
        assert_eq!(
            is_surjective(&l.view()),
            Ok(image.len() as i64 == high - low + 1),
            "{}",
            show(&l)
        );
        let free = free_iters(&l.view()).unwrap();
        let mut kept = Layout::new();
        for (k, it) in l.view().shard.iter().enumerate() {
            let mut more = kept.clone();
            more.push_shard(*it).unwrap();
            let distinct: BTreeSet<i64> = table(&more.view()).into_iter().collect();
            let is_free = distinct.len() < table(&more.view()).len();
            assert_eq!(free >> k & 1 == 1, is_free, "{}", show(&l));
            if !is_free {
                kept = more;
            }
        }
    }
    let mut syms = SymTable::new();
    let m = crate::notation::cute::parse("(M,4):(1,M)", &crate::WellKnown, &mut syms).unwrap();
    assert_eq!(is_surjective(&m.view()), Ok(true));
    let sym = syms.sym("M").unwrap();
    let open = crate::notation::cute::parse("(M,4):(1,8)", &crate::WellKnown, &mut syms).unwrap();
    assert_eq!(is_surjective(&open.view()), Err(Error::NeedsValue { sym }));
    assert_eq!(is_surjective(&c("S<1,0,1> o 0 o 4:1").view()), Err(Error::HasPostMap));
}

/// The largest run by trying all.
fn widest(l: &Layout) -> u64 {
    let image = table(&l.view());
    let first = l.view().mode(0).unwrap().size_value().unwrap() as usize;
    let whole = |n: usize| {
        first.is_multiple_of(n)
            && image.chunks(n).all(|run| {
                run[0].rem_euclid(n as i64) == 0 && run.windows(2).all(|w| w[1] == w[0] + 1)
            })
    };
    (1..=first).rev().find(|n| whole(*n)).unwrap() as u64
}

#[test]
fn runs_are_the_widest() {
    for l in family(2, 12, &[0, 1, 2, 6, 12, -12, 24]).iter().filter(|l| !l.view().shard.is_empty())
    {
        assert_eq!(consecutive(&l.view(), AxisId::M), Ok(widest(l)), "{}", show(l));
    }
    assert_eq!(consecutive(&c("(24,4):(1,96)").view(), AxisId::M), Ok(24));
    let mut l = c("(64,8):(1,64)");
    l.set_post(PostMap::Swizzle(Swizzle::new(3, 3, 3, Unit::Element).unwrap())).unwrap();
    assert_eq!((consecutive(&l.view(), AxisId::M), widest(&l)), (Ok(8), 8));
    for (interval, pad) in [(64, 8), (64, 4), (48, 6), (2, 8)] {
        l.set_post(PostMap::Padding(
            Padding::new(&[Pad { interval, pad }], Unit::Element).unwrap(),
        ))
        .unwrap();
        assert_eq!(consecutive(&l.view(), AxisId::M), Ok(widest(&l)), "{interval} {pad}");
    }
}

#[test]
fn padded_and_backward_layouts_invert_with_guards() {
    let mut random = Random(0x5eed_0104);
    let posts: [PostMap; 5] = [
        PostMap::None,
        PostMap::Padding(Padding::new(&[Pad { interval: 4, pad: 1 }], Unit::Element).unwrap()),
        PostMap::Padding(
            Padding::new(
                &[Pad { interval: 6, pad: 2 }, Pad { interval: 4, pad: 3 }],
                Unit::Element,
            )
            .unwrap(),
        ),
        PostMap::Swizzle(Swizzle::new(2, 1, 2, Unit::Element).unwrap()),
        PostMap::SwizzlePadding(
            Swizzle::new(1, 0, -2, Unit::Element).unwrap(),
            Padding::new(&[Pad { interval: 3, pad: 5 }], Unit::Element).unwrap(),
        ),
    ];
    let mut answered = 0;
    for _ in 0..600 {
        let mut l = Layout::new();
        let (mut reach, mut back) = (1i64, 0i64);
        for _ in 0..1 + random.below(3) {
            let extent = 1 + random.below(6) as u32;
            let unit = reach + random.below(3) as i64;
            let down = random.below(3) == 0;
            l.push_shard(Iter::new(extent, if down { -unit } else { unit }, AxisId::M)).unwrap();
            reach += unit * i64::from(extent - 1);
            back += if down { unit * i64::from(extent - 1) } else { 0 };
        }
        l.add_offset(Int::known(back + random.below(4) as i64), AxisId::M).unwrap();
        l.set_post(posts[random.below(5) as usize]).unwrap();
        let inverse = guarded_inverse(&l.view()).unwrap();
        let image = table(&l.view());
        for y in -2..image.iter().max().unwrap() + 3 {
            let mut at = Coord::new();
            at.add(AxisId::M, y).unwrap();
            let found = inverse.at(&at).unwrap().map(|e| e.flat);
            let expected = image.iter().position(|p| *p == y).map(|x| x as u64);
            assert_eq!(found, expected, "{} {y}", show_tirx(&l));
            answered += usize::from(expected.is_some());
        }
    }
    assert!(answered > 1000);
    let far = Padding::new(&[Pad { interval: 1, pad: u32::MAX }], Unit::Byte).unwrap();
    assert_eq!((far.undo(u64::MAX), far.undo(1 << 32), far.undo(1)), (None, Some(1), None));
}

#[test]
fn parts_refuse() {
    let l = c("(8,4):(1,8)");
    let v = l.view();
    assert_eq!(sublayout(&v, &[2], &[AxisId::M]), Err(Error::NoMode { mode: 2, rank: 2 }));
    assert_eq!(sublayout(&v, &[0], &[AxisId::LANE]), Err(Error::NoDim { axis: AxisId::LANE }));
    assert_eq!(rename_axis(&v, AxisId::LANE, AxisId::M), Err(Error::NoDim { axis: AxisId::LANE }));
    assert_eq!(
        rename_axis(&t("S[(2,2):(1@laneid,1)]").view(), AxisId::LANE, AxisId::M),
        Err(Error::NoDim { axis: AxisId::M })
    );
    assert_eq!(
        rename_axis(&c("S<1,0,1> o 0 o 4:1").view(), AxisId::M, AxisId::LANE),
        Err(Error::HasPostMap)
    );
    let uneven = |extent| Err(Error::ShapeDivisibility { leaf: 0, extent: 8, divisor: extent });
    assert_eq!(resize_mode(&v, 0, Int::known(12)), uneven(12));
    assert_eq!(resize_mode(&v, 0, Int::known(0)), uneven(0));
    assert_eq!(resize_mode(&v, 5, Int::known(8)), Err(Error::NoMode { mode: 5, rank: 2 }));
    assert_eq!(show(&resize_mode(&v, 0, Int::known(24)).unwrap()), "((8,3),4):((1,0),8)");
    assert_eq!(
        show(&resize_mode(&c("(24,4):(1,24)").view(), 0, Int::known(6)).unwrap()),
        "(6,4):(1,24)"
    );
    let cut = resize_mode(&c("((4,6),4):((1,8),64)").view(), 0, Int::known(6));
    assert_eq!(cut, Err(Error::ExtentDivisibility { leaf: 0, extent: 6, run: 4 }));
    assert_eq!(quotient(&v, 3, AxisId::M), Err(Error::NoMode { mode: 3, rank: 2 }));
    assert_eq!(compose(&v, &c("4:1").view()).map(|l| show(&l)), Ok("4:1".into()));
    let mut syms = SymTable::new();
    let open = crate::notation::cute::parse("(M,4):(1,M)", &crate::WellKnown, &mut syms).unwrap();
    let sym = syms.sym("M").unwrap();
    assert_eq!(resize_mode(&open.view(), 0, Int::known(6)), Err(Error::NeedsValue { sym }));
    assert!(
        resize_mode(&open.view(), 0, Int::sym(sym).checked_mul(Int::known(2)).unwrap()).is_ok()
    );
    assert_eq!(consecutive(&open.view(), AxisId::M), Err(Error::NeedsValue { sym }));
    assert_eq!(free_iters(&open.view()), Err(Error::NeedsValue { sym }));
}

#[test]
fn tables_are_the_points() {
    let mut random = Random(0x5eed_0105);
    for round in 0..400 {
        let l = powers(&mut random);
        let m = to_linear(&l.view()).unwrap();
        let size = l.view().size_value().unwrap() as usize;
        // Shorter, as long, longer.
        let mut values = std::vec![u64::MAX; [size / 3, size, size + 5][round % 3]];
        let count = m.table(&mut values);
        assert_eq!(count, size.min(values.len()));
        for (x, v) in values.iter().enumerate() {
            assert_eq!(*v, if x < count { m.apply_packed(x as u64) } else { u64::MAX });
        }
    }
    for (k, l) in family(3, 5, &[-2, 0, 1, 3, 7]).into_iter().enumerate() {
        let post = if k % 2 == 0 { "" } else { "S<1,0,2> o 40 o " };
        let l = if l.view().shard.is_empty() { l } else { c(&std::format!("{post}{}", show(&l))) };
        let expected = table(&l.view());
        let mut out =
            std::vec![i64::MIN; [expected.len() / 2, expected.len(), expected.len() + 3][k % 3]];
        let count = l.view().table_on(AxisId::M, &mut out).unwrap();
        assert_eq!(count, expected.len().min(out.len()));
        assert!(
            out.iter()
                .enumerate()
                .all(|(x, v)| *v == if x < count { expected[x] } else { i64::MIN }),
            "{}",
            show(&l)
        );
    }
    let far = c("(2,2):(9223372036854775807,9223372036854775807)");
    assert_eq!(far.view().table_on(AxisId::M, &mut [0; 4]), Err(Error::Overflow));
    assert_eq!(
        c("S<1,0,1> o 0 o 4:-1").view().table_on(AxisId::M, &mut [0; 4]),
        Err(Error::NegativeOffset { offset: -3 })
    );
    assert_eq!(t("S[(2,3):(1@laneid,1)]").view().table_on(AxisId::LANE, &mut [0; 9]), Ok(6));
}

//! Swizzles before layouts: inverses of swizzled layouts, swizzled and offset inner operands.
//!
//! Judged by evaluating points; that a refusal is due is judged by trying all swizzles.

use super::cute_laws::Random;
use super::{c, extended, show, table};
use crate::error::{Error, NotSwizzle};
use crate::ops::{compose, inverse, left_inverse, right_inverse};
use crate::{AxisId, Int, Iter, Layout, LayoutRef, PostMap, Swizzle, Unit};
use std::vec::Vec;

/// All swizzles whose bits lie below `bits`.
fn swizzles(bits: u8) -> Vec<Swizzle> {
    let mut all = Vec::new();
    for b in 1..=bits {
        for m in 0..bits {
            for s in -(bits as i8)..=bits as i8 {
                if let Ok(made) = Swizzle::new(b, m, s, Unit::Codomain)
                    && made.period_bits() <= u32::from(bits)
                {
                    all.push(made);
                }
            }
        }
    }
    all
}

/// Layouts that are one-to-one onto `0..2^bits`: the bits in any order, as iters.
fn permutations(random: &mut Random, bits: u8) -> Layout {
    let mut order: Vec<u8> = (0..bits).collect();
    for k in (1..order.len()).rev() {
        order.swap(k, random.below(k as u64 + 1) as usize);
    }
    let iters: Vec<Iter> = order.iter().map(|bit| Iter::new(2, 1 << bit, AxisId::M)).collect();
    Layout::from_iters(&iters).unwrap()
}

fn with(l: &Layout, swizzle: Swizzle) -> Layout {
    let mut out = l.clone();
    out.set_post(PostMap::Swizzle(swizzle)).unwrap();
    out
}

/// Whether some swizzle behind `plain` gives `wanted`.
fn any_swizzle(plain: &Layout, wanted: &[i64], bits: u8) -> bool {
    table(&plain.view()) == wanted
        || swizzles(bits).iter().any(|s| table(&with(plain, *s).view()) == wanted)
}

#[test]
fn inverses_of_swizzled_permutations() {
    let mut random = Random(0x5eed_1001);
    let (mut answered, mut refused) = (0, 0);
    for _ in 0..400 {
        let l = permutations(&mut random, 6);
        let all = swizzles(6);
        let swizzled = with(&l, all[random.below(all.len() as u64) as usize]);
        let places = table(&swizzled.view());
        let mut back = Vec::from([0i64; 64]);
        for (x, y) in places.iter().enumerate() {
            back[*y as usize] = x as i64;
        }
        match right_inverse(&swizzled.view()) {
            Ok(found) => {
                answered += 1;
                assert_eq!(table(&found.view()), back, "{}", show(&swizzled));
                let left = left_inverse(&swizzled.view()).unwrap();
                assert_eq!(table(&left.view()), back);
                assert_eq!(table(&inverse(&swizzled.view()).unwrap().layout.view()), back);
            }
            Err(error) => {
                refused += 1;
                assert!(
                    matches!(error, Error::NotSwizzle { why: NotSwizzle::Apart, .. }),
                    "{error:?}"
                );
                let plain = right_inverse(&l.view()).unwrap();
                assert!(!any_swizzle(&plain, &back, 6), "{}: {error:?}", show(&swizzled));
                assert!(left_inverse(&swizzled.view()).is_err());
                assert!(inverse(&swizzled.view()).is_err());
            }
        }
    }
    assert!(answered > 100 && refused > 50, "{answered} {refused}");
}

/// Any layout of few leaves, its strides often those of a compact one.
fn layout(random: &mut Random) -> Layout {
    let extents = [1u32, 2, 2, 4, 4, 8, 3, 6];
    let mut out = Layout::new();
    let mut stride = 1i64;
    for _ in 0..=random.below(3) {
        let extent = extents[random.below(extents.len() as u64) as usize];
        let odd = [0, 3, 5, 16][random.below(4) as usize];
        let own = if random.below(5) == 0 { odd } else { stride };
        out.push_shard(Iter::new(extent, own, AxisId::M)).unwrap();
        stride *= i64::from(extent) << (random.below(4) / 3);
    }
    if random.below(3) == 0 {
        let view = out.view();
        let turned: Vec<Iter> = view.shard.iter().rev().copied().collect();
        return Layout::from_iters(&turned).unwrap();
    }
    out
}

#[test]
fn one_sided_inverses_hold_whatever_the_layout() {
    let mut random = Random(0x5eed_1002);
    let (mut left, mut right, mut with_holes) = (0, 0, 0);
    let all = swizzles(7);
    for _ in 0..20_000 {
        let l = layout(&mut random);
        let swizzled = with(&l, all[random.below(all.len() as u64) as usize]);
        if let Ok(found) = right_inverse(&swizzled.view()) {
            right += u32::from(found.view().post != PostMap::None);
            for (x, i) in table(&found.view()).into_iter().enumerate() {
                let at = swizzled.view().offset_on(i as u64, AxisId::M);
                assert_eq!(at, Ok(x as i64), "{} {}", show(&swizzled), show(&found));
            }
            // Nothing shorter than without the swizzle is passed off as the greatest.
            let plain = right_inverse(&l.view()).unwrap();
            assert_eq!(found.view().size_value(), plain.view().size_value());
        }
        if let Ok(found) = left_inverse(&swizzled.view()) {
            left += u32::from(found.view().post != PostMap::None);
            // Strides of 0 come back as the first that is there.
            for y in table(&swizzled.view()) {
                let i = found.view().offset_on(y as u64, AxisId::M).unwrap();
                let again = swizzled.view().offset_on(i as u64, AxisId::M);
                assert_eq!(again, Ok(y), "{} {}", show(&swizzled), show(&found));
            }
            let top = swizzled.view().cosize(AxisId::M).unwrap();
            with_holes += u32::from(swizzled.view().size_value() != Ok(top as u64));
        }
    }
    assert!(left > 1000 && right > 500 && with_holes > 500, "{left} {right} {with_holes}");
}

#[test]
fn a_swizzled_inner_operand_is_function_composition() {
    let mut random = Random(0x5eed_1003);
    let (mut answered, mut changed, mut refused, mut both) = (0, 0, 0, 0);
    let all = swizzles(6);
    for _ in 0..40_000 {
        let (mut a, b) = (layout(&mut random), layout(&mut random));
        let mut b = with(&b, all[random.below(all.len() as u64) as usize]);
        if random.below(3) == 0 {
            a = with(&a, all[random.below(all.len() as u64) as usize]);
        }
        if random.below(3) == 0 {
            b.add_offset(Int::known(random.below(20) as i64), AxisId::M).unwrap();
        }
        if random.below(4) == 0 {
            a.add_offset(Int::known(random.below(40) as i64), AxisId::M).unwrap();
        }
        let Ok(l) = compose(&a.view(), &b.view()) else {
            refused += 1;
            continue;
        };
        answered += 1;
        changed += u32::from(l.view().post != a.view().post);
        both += u32::from(l.view().post != PostMap::None && a.view().post != PostMap::None);
        for (x, y) in table(&b.view()).into_iter().enumerate() {
            let found = l.view().offset_on(x as u64, AxisId::M).unwrap();
            assert_eq!(found, extended(&a.view(), y), "{a:?} o {b:?} = {l:?}");
        }
    }
    assert!(
        answered > 5000 && changed > 1000 && refused > 1000 && both > 500,
        "{answered} {changed} {refused} {both}"
    );
}

#[test]
fn a_swizzle_between_permutations_is_refused_only_if_none_follows() {
    let mut random = Random(0x5eed_1004);
    let (mut answered, mut refused) = (0, 0);
    let all = swizzles(5);
    for _ in 0..600 {
        let (a, b) = (permutations(&mut random, 5), permutations(&mut random, 5));
        let a = if random.below(2) == 0 {
            with(&a, all[random.below(all.len() as u64) as usize])
        } else {
            a
        };
        let b = with(&b, all[random.below(all.len() as u64) as usize]);
        let wanted: Vec<i64> =
            table(&b.view()).into_iter().map(|y| extended(&a.view(), y)).collect();
        match compose(&a.view(), &b.view()) {
            Ok(l) => {
                answered += 1;
                assert_eq!(table(&l.view()), wanted);
            }
            Err(error) => {
                refused += 1;
                let bare = LayoutRef { post: PostMap::None, ..a.view() }.to_owned().unwrap();
                let plain = LayoutRef { post: PostMap::None, ..b.view() };
                let plain = compose(&bare.view(), &plain).unwrap();
                assert!(!any_swizzle(&plain, &wanted, 5), "{error:?}");
            }
        }
    }
    assert!(answered > 100 && refused > 100, "{answered} {refused}");
}

#[test]
fn an_offset_inner_operand_may_go_down() {
    let mut random = Random(0x5eed_1005);
    let (mut answered, mut turned, mut refused) = (0, 0, 0);
    let extents = [1u32, 2, 3, 4, 6, 8];
    for _ in 0..20_000 {
        let a = layout(&mut random);
        let mut b = Layout::new();
        let mut down = false;
        for _ in 0..=random.below(2) {
            let extent = extents[random.below(6) as usize];
            let stride = [1i64, -1, 2, -2, 4, -4, -8, 12][random.below(8) as usize];
            down |= stride < 0 && extent > 1;
            b.push_shard(Iter::new(extent, stride, AxisId::M)).unwrap();
        }
        b.add_offset(Int::known(random.below(60) as i64), AxisId::M).unwrap();
        let Ok(l) = compose(&a.view(), &b.view()) else {
            refused += 1;
            continue;
        };
        for (x, y) in table(&b.view()).into_iter().enumerate().filter(|(_, y)| *y >= 0) {
            let found = l.view().offset_on(x as u64, AxisId::M).unwrap();
            assert_eq!(found, extended(&a.view(), y), "{a:?} o {b:?} = {l:?}");
        }
        answered += 1;
        turned += u32::from(down && a.view().shard.len() > 1);
    }
    assert!(answered > 3000 && turned > 500 && refused > 1000, "{answered} {turned} {refused}");
}

#[test]
fn worked_examples() {
    let same = |found: Result<Layout, Error>, text: &str| {
        assert_eq!(found.map(|l| show(&l)).as_deref(), Ok(text));
    };
    // Rows of 8, the chunk exclusive-ored with the row; back: the row with the chunk.
    same(right_inverse(&c("S<3,0,3> o 0 o (8,8):(8,1)").view()), "S<3,0,-3> o 0 o (8,8):(8,1)");
    same(left_inverse(&c("S<3,0,3> o 0 o (8,8):(1,8)").view()), "S<3,0,3> o 0 o 64:1");
    // A diagonal: only what tells its elements apart is undone.
    same(left_inverse(&c("S<3,0,3> o 0 o 8:8").view()), "(8,8):(0,1)");
    same(left_inverse(&c("S<3,0,-3> o 0 o 8:1").view()), "S<3,0,-3> o 0 o 64:1");
    let apart = |found: Result<Layout, Error>, bit, why| {
        assert_eq!(found, Err(Error::NotSwizzle { bit, why }));
    };
    apart(right_inverse(&c("S<2,0,2> o 0 o (2,2,2,2):(1,4,2,8)").view()), 2, NotSwizzle::Apart);
    apart(right_inverse(&c("S<2,0,3> o 0 o (8,5):(5,1)").view()), 0, NotSwizzle::Mixed);
    apart(right_inverse(&c("S<1,0,-3> o 0 o 6:1").view()), 3, NotSwizzle::Outside);
}

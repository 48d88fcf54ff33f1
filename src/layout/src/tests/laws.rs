//! Laws of the strided form, exhaustive on small domains.

use super::{c, extended, family, show, table};
use crate::error::Error;
use crate::ops::{
    complement, compose, divide, inverse, left_inverse, logical_divide_by_mode, right_inverse,
};
use crate::{AxisId, Coord, Int, Layout, NoSyms, SymNames, SymTable, WellKnown};
use std::collections::{BTreeMap, BTreeSet};
use std::string::String;
use std::vec::Vec;

const STRIDES: [i64; 6] = [0, 1, 2, 3, 4, 6];

#[test]
fn compose_is_function_composition() {
    let (left, right) = (family(2, 4, &STRIDES), family(2, 4, &[0, 1, 2, 3, 4]));
    let (mut answered, mut refused) = (0, 0);
    for a in left.iter().filter(|a| !a.view().shard.is_empty()) {
        for b in &right {
            let Ok(l) = compose(&a.view(), &b.view()) else {
                refused += 1;
                continue;
            };
            answered += 1;
            let inner = table(&b.view());
            let whole: Vec<i64> = inner.iter().map(|y| extended(&a.view(), *y)).collect();
            assert_eq!(table(&l.view()), whole, "{} o {} = {}", show(a), show(b), show(&l));
            assert_eq!(l.view().rank(), b.view().rank());
        }
    }
    assert!(answered > refused, "{answered} {refused}");
}

#[test]
fn below_zero_a_layout_is_mirrored() {
    let (mut answered, mut mixed) = (0, 0);
    for a in family(2, 4, &STRIDES).iter().filter(|a| !a.view().shard.is_empty()) {
        for b in family(2, 3, &[-4, -3, -2, -1, 0, 1]) {
            let inner = table(&b.view());
            if inner.iter().all(|y| *y >= 0) {
                continue;
            }
            let Ok(l) = compose(&a.view(), &b.view()) else {
                mixed += usize::from(inner.iter().any(|y| *y > 0));
                continue;
            };
            answered += 1;
            let one = a.view().shard.iter().filter(|it| !it.is_unit()).count() <= 1;
            let mirror = |y: &i64| {
                let there = extended(&a.view(), y.abs());
                if *y < 0 { -there } else { there }
            };
            let modes = crate::ops::coalesce(&a.view()).unwrap();
            let first = modes.view().shard.first().and_then(|it| it.extent_value().ok());
            assert!(
                one || inner.iter().all(|y| *y <= 0)
                    || modes.view().shard.len() == 1
                    || inner.iter().all(|y| first.is_some_and(|e| y.abs() < i64::from(e))),
                "{} o {}",
                show(a),
                show(&b)
            );
            let whole: Vec<i64> = inner.iter().map(mirror).collect();
            assert_eq!(table(&l.view()), whole, "{} o {} = {}", show(a), show(&b), show(&l));
        }
    }
    assert!(answered > 1000 && mixed > 1000, "{answered} {mixed}");
}

#[test]
fn complement_covers_once() {
    let (mut padded, mut met, mut between) = (0, 0, 0);
    for a in family(2, 4, &[0, 1, 2, 3, 4, 6, 7, 9]) {
        // What moves, by stride: the definition needs nothing else of a layout.
        let mut own: Vec<(i64, i64)> = Vec::new();
        for it in a.view().shard.iter().filter(|it| !it.is_unit() && it.stride() != Int::ZERO) {
            own.push((it.stride().value().unwrap(), i64::from(it.extent_value().unwrap())));
        }
        own.sort_unstable();
        let points: BTreeSet<i64> = table(&a.view()).into_iter().collect();
        let elements: i64 = own.iter().map(|(_, extent)| extent).product();
        for m in [1i64, 6, 16, 24] {
            let rest = match complement(&a.view(), Int::known(m)) {
                Ok(rest) => rest,
                Err(Error::NotInjective { .. }) => {
                    assert!((points.len() as i64) < elements, "{}", show(&a));
                    met += 1;
                    continue;
                }
                Err(fault) => {
                    assert!(matches!(fault, Error::Interleaved { .. }), "{} {fault:?}", show(&a));
                    assert_eq!(points.len() as i64, elements, "{}", show(&a));
                    between += 1;
                    continue;
                }
            };
            let steps = table(&rest.view());
            assert!(steps.windows(2).all(|w| w[0] < w[1]));
            let both: BTreeSet<i64> =
                steps.iter().flat_map(|s| points.iter().map(move |p| s + p)).collect();
            assert_eq!(both.len(), steps.len() * points.len(), "{} {m}", show(&a));
            // As many whole steps as fit below each stride, and then up to the cotarget.
            let (mut below, mut whole, mut expected) = (1, true, Vec::from([0]));
            let mut fill = |below: i64, count: i64| {
                expected =
                    (0..count).flat_map(|k| expected.iter().map(move |x| x + k * below)).collect();
            };
            for (stride, extent) in &own {
                fill(below, stride / below);
                whole &= stride % below == 0;
                below = stride * extent;
            }
            fill(below, (m + below - 1) / below);
            assert_eq!(steps, expected, "{} {m}", show(&a));
            if whole {
                assert!((0..m).all(|x| both.contains(&x)), "{} {m}", show(&a));
            } else {
                padded += 1;
                assert!(both.iter().max().unwrap() + below > m, "{} {m}", show(&a));
            }
        }
    }
    assert!(padded > 100 && met > 100 && between > 50, "{padded} {met} {between}");
}

#[test]
fn injective_and_cosize_agree_with_the_table() {
    for a in family(3, 3, &[-2, 0, 1, 2, 3, 5]) {
        let image = table(&a.view());
        let mut sorted = image.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(a.view().is_injective(), Ok(sorted.len() == image.len()), "{}", show(&a));
        assert_eq!(a.view().cosize(AxisId::M), Ok(image.iter().max().unwrap() + 1));
    }
    // Wide extents, decided without walking them.
    assert_eq!(
        c("(1000000000,2000000000):(1000000001,999999999)").view().is_injective(),
        Ok(false)
    );
    assert_eq!(
        c("(1000000000,1000000000):(1000000001,1000000000)").view().is_injective(),
        Ok(true)
    );
}

#[test]
fn swizzled_cosize_agrees_with_the_table() {
    for (b, m, s) in [(1, 0, 1), (2, 0, 2), (2, 1, 3), (3, 0, 3), (2, 1, -2), (1, 0, -4)] {
        for a in family(2, 5, &[1, 3, 4, 7]) {
            let text = std::format!("S<{b},{m},{s}> o 5 o {}", show(&a));
            let l = c(&text);
            let most = table(&l.view()).into_iter().max().unwrap() + 1;
            assert_eq!(l.view().cosize(AxisId::M), Ok(most), "{text}");
            assert!(l.view().cosize_bound(AxisId::M).unwrap() >= most);
        }
    }
}

#[test]
fn one_sided_inverses() {
    for a in family(3, 4, &[1, 2, 4, 8, 3]) {
        let right = right_inverse(&a.view()).unwrap();
        for (i, y) in table(&right.view()).into_iter().enumerate() {
            assert_eq!(a.view().offset_on(y as u64, AxisId::M), Ok(i as i64), "{}", show(&a));
        }
        // And no longer one: no iter goes on where it ends.
        let end = right.view().size().unwrap();
        let on = |it: &crate::Iter| !it.is_unit() && it.stride() == end;
        assert!(!a.view().shard.iter().any(on), "{} {}", show(&a), show(&right));
        if let Ok(left) = left_inverse(&a.view()) {
            for (i, y) in table(&a.view()).into_iter().enumerate() {
                assert_eq!(extended(&left.view(), y), i as i64, "{} {}", show(&a), show(&left));
            }
        }
    }
}

#[test]
fn exact_inverses() {
    let texts = [
        "S[(8,2,4,2):(4@laneid,1@warpid,1@laneid,1)]",
        "S[(32,3):(1@TLane,1@TCol)] + R[4:32@TLane]",
        "S[(3,5,7):(1,21,3)]",
    ];
    for text in texts {
        let l = super::t(text);
        let back = inverse(&l.view()).unwrap();
        let mut out = Coord::new();
        let mut hits = BTreeMap::<Vec<u64>, u64>::new();
        for x in 0..l.view().size_value().unwrap() {
            l.view()
                .apply_all(x, &mut out, |p| {
                    hits.insert(back.axes.iter().map(|a| p.get(*a) as u64).collect(), x);
                    Ok(())
                })
                .unwrap();
        }
        assert_eq!(hits.len() as u64, back.layout.view().size_value().unwrap());
        for (place, x) in hits {
            let mut out = Coord::new();
            back.layout.view().apply(&place, &mut out).unwrap();
            assert_eq!(out.get(AxisId::M), x as i64, "{text}");
        }
    }
}

#[test]
fn division_splits_off_the_atom() {
    let whole = c("((8,4),(2,16)):((1,64),(8,256))");
    let atom = c("(8,2):(1,8)");
    let rest = divide(&whole.view(), &atom.view()).unwrap();
    assert_eq!(show(&rest), "(4,16):(64,256)");
    for (m, n) in (0..32u64).flat_map(|m| (0..32u64).map(move |n| (m, n))) {
        let at = |l: &Layout, p: [u64; 2]| {
            let mut out = Coord::new();
            l.view().apply(&p, &mut out).unwrap();
            out.get(AxisId::M)
        };
        assert_eq!(at(&whole, [m, n]), at(&atom, [m % 8, n % 2]) + at(&rest, [m / 8, n / 2]));
    }
    let tiled =
        logical_divide_by_mode(&c("(128,64):(64,1)").view(), &[c("32:1").view(), c("8:1").view()])
            .unwrap();
    assert_eq!(show(&tiled), "((32,4),(8,8)):((64,2048),(1,8))");
}

#[test]
fn symbols_are_carried() {
    let mut syms = SymTable::new();
    let mut parse = |t: &str| crate::notation::cute::parse(t, &WellKnown, &mut syms).unwrap();
    let a = parse("(M,4):(1,M)");
    let b = parse("(4,M):(M,1)");
    let rows = parse("(2,M):(M,1)");
    let spelled = |l: &Layout, syms: &SymTable| {
        let mut out = String::new();
        crate::notation::cute::print(&l.view(), &WellKnown, syms, &mut out).unwrap();
        out
    };
    assert_eq!(spelled(&crate::ops::coalesce(&a.view()).unwrap(), &syms), "4*M:1");
    assert_eq!(spelled(&compose(&a.view(), &rows.view()).unwrap(), &syms), "(2,M):(M,1)");
    let m = Int::sym(syms.sym("M").unwrap());
    let rest = complement(&c("8:1").view(), m.checked_mul(Int::known(16)).unwrap()).unwrap();
    assert_eq!(spelled(&rest, &syms), "2*M:8");
    // Whether 4 rows of M hold two of M needs the value of M.
    let sym = syms.sym("M").unwrap();
    assert_eq!(compose(&b.view(), &rows.view()), Err(Error::NeedsValue { sym }));
    assert_eq!(a.view().offset_on(0, AxisId::M), Err(Error::NeedsValue { sym }));
    assert_eq!(show(&a.substitute(sym, 6).unwrap()), "(6,4):(1,6)");
    assert!(crate::notation::cute::parse("M:1", &WellKnown, &mut NoSyms).is_err());
}

#[test]
fn an_inverse_reads_what_goes_back_from_its_other_end() {
    let mut answered = 0;
    for a in family(3, 4, &[-8, -6, -4, -3, -2, -1, 1, 2, 3, 4, 6, 8]) {
        let iters = a.view().shard.to_vec();
        // Back from the first to the last: as much as all negative steps together.
        let begin: i64 = iters
            .iter()
            .map(|it| (it.stride_value().unwrap().min(0), i64::from(it.extent_value().unwrap())))
            .map(|(stride, extent)| -stride * (extent - 1))
            .sum();
        let mut whole = a.clone();
        whole.add_offset(Int::known(begin), AxisId::M).unwrap();
        let positions = table(&whole.view());
        let box_of: BTreeSet<i64> = (0..positions.len() as i64).collect();
        let exact = positions.iter().copied().collect::<BTreeSet<_>>() == box_of;
        let found = inverse(&whole.view());
        assert_eq!(found.is_ok(), exact, "{}: {found:?}", show(&whole));
        let Ok(back) = found else { continue };
        for (x, y) in positions.iter().enumerate() {
            assert_eq!(extended(&back.layout.view(), *y), x as i64, "{}", show(&whole));
        }
        // From anywhere else it goes nowhere.
        if begin > 0 {
            answered += 1;
            assert!(
                matches!(inverse(&a.view()), Err(Error::NegativeStride { .. })),
                "{}",
                show(&a)
            );
            whole.add_offset(Int::ONE, AxisId::M).unwrap();
            assert_eq!(inverse(&whole.view()), Err(Error::HasOffset { axis: AxisId::M }));
        }
    }
    assert!(answered > 50, "{answered}");
}

//! Extents up to 2^31 and strides of 64 bits: every operation ends at once, is exact, or reports
//! the overflow.

use super::cute_laws::Random;
use super::symbolic::OPERATIONS;
use super::{c, show};
use crate::error::Error;
use crate::num::Int;
use crate::ops;
use crate::{AxisId, Iter, Layout};
use std::time::{Duration, Instant};
use std::vec::Vec;

const EXTENTS: [u32; 9] = [1, 2, 3, 24, 1 << 16, 1 << 20, 1 << 31, (1 << 31) - 1, u32::MAX];
const STRIDES: [i64; 12] = [
    0,
    1,
    2,
    3,
    -1,
    1 << 31,
    1 << 40,
    (1 << 62) - 1,
    i64::MAX,
    i64::MIN,
    i64::MIN + 1,
    1_000_000_007,
];

fn layout(random: &mut Random) -> Layout {
    let mut out = Layout::new();
    out.open().unwrap();
    let mut running = 1i64;
    for _ in 0..1 + random.below(4) {
        let extent = EXTENTS[random.below(9) as usize];
        let stride =
            if random.below(2) == 0 { running } else { STRIDES[random.below(12) as usize] };
        out.push_leaf(Iter::new(extent, stride, AxisId::M)).unwrap();
        running = running.saturating_mul(i64::from(extent));
    }
    out.close().unwrap();
    out
}

/// The position at flat coordinate `x`, the last iter unbounded, in 128 bits.
fn wide(l: &Layout, x: u128) -> Option<i128> {
    let (mut rest, mut sum) = (x, 0i128);
    let iters = l.view().shard;
    for (k, it) in iters.iter().enumerate() {
        let extent = u128::from(it.extent_value().unwrap());
        let digit = if k + 1 == iters.len() { rest } else { rest % extent };
        rest /= extent;
        sum = sum.checked_add(
            i128::try_from(digit).ok()?.checked_mul(i128::from(it.stride_value().unwrap()))?,
        )?;
    }
    Some(sum)
}

#[test]
fn every_operation_ends_and_tells_the_truth() {
    let mut random = Random(0x5eed_0301);
    let (mut answered, mut overflowed) = (0, 0);
    let start = Instant::now();
    let mut calls = 0u32;
    for _ in 0..200 {
        let (a, b) = (layout(&mut random), layout(&mut random));
        for (name, op) in &OPERATIONS {
            calls += 1;
            match op(&a.view(), &b.view()) {
                Ok(l) => {
                    answered += 1;
                    l.view().check().unwrap();
                    if *name == "compose" || *name == "coalesce" {
                        let size = wide_size(&l);
                        for _ in 0..4 {
                            let x = (u128::from(random.below(u64::MAX)) << 20 | 7) % size;
                            let expected = if *name == "coalesce" {
                                wide(&a, x)
                            } else {
                                wide(&b, x).and_then(|y| wide(&a, u128::try_from(y).ok()?))
                            };
                            // A single mode goes on below 0 as well.
                            if expected.is_none() {
                                continue;
                            }
                            assert_eq!(
                                wide(&l, x),
                                expected,
                                "{name} {} {}: {} at {x}",
                                show(&a),
                                show(&b),
                                show(&l)
                            );
                        }
                    }
                }
                Err(Error::Overflow) => overflowed += 1,
                Err(_) => {}
            }
        }
        // Questions: an answer in 64 bits is the true one.
        let v = a.view();
        let size = wide_size(&a);
        assert_eq!(
            v.size_value().ok().map(u128::from),
            u64::try_from(size).ok().filter(|s| i64::try_from(*s).is_ok()).map(u128::from)
        );
        if let Ok((low, high)) = v.reach(AxisId::M) {
            let way = |f: fn(i128, i128) -> i128| {
                v.shard.iter().fold(0i128, |s, it| {
                    s + f(
                        i128::from(it.stride_value().unwrap())
                            * (i128::from(it.extent_value().unwrap()) - 1),
                        0,
                    )
                })
            };
            assert_eq!((i128::from(low), i128::from(high)), (way(i128::min), way(i128::max)));
        }
        let mut table = [0i64; 64];
        if let Ok(n) = v.table_on(AxisId::M, &mut table) {
            for (x, at) in table.iter().take(n).enumerate() {
                assert_eq!(Some(i128::from(*at)), wide(&a, x as u128));
            }
        }
        let _ = (
            v.cosize(AxisId::M),
            v.cosize_bound(AxisId::M),
            v.span(AxisId::M),
            v.is_injective(),
            ops::is_surjective(&v),
            ops::free_iters(&v),
        );
        let _ = (
            ops::consecutive(&v, AxisId::M),
            ops::guarded_inverse(&v),
            crate::convert::to_affine(&v),
            crate::cute::equivalent(&v, &b.view()),
        );
    }
    assert!(answered > 500 && overflowed > 30, "{answered} {overflowed}");
    // Not a measurement: something proportional to an extent would take hours.
    assert!(start.elapsed() < Duration::from_secs(300), "{calls} calls took {:?}", start.elapsed());
}

fn wide_size(l: &Layout) -> u128 {
    l.view().shard.iter().map(|it| u128::from(it.extent_value().unwrap())).product()
}

#[test]
fn overflows_are_reported() {
    let far = c("(2147483648,2147483648,4):(1,2147483648,4611686018427387904)");
    assert_eq!(far.view().size(), Err(Error::Overflow));
    assert_eq!(far.view().reach(AxisId::M), Err(Error::Overflow));
    assert_eq!(far.view().cosize(AxisId::M), Err(Error::Overflow));
    let whole = c("(2147483648,2147483648):(1,2147483648)");
    assert_eq!(whole.view().size_value(), Ok(1 << 62));
    assert_eq!(whole.view().cosize(AxisId::M), Ok(1 << 62));
    assert_eq!(whole.view().is_injective(), Ok(true));
    // Coalescing would need an extent of 2^62: the iters stay apart, the map stays the same.
    assert_eq!(
        show(&ops::coalesce(&whole.view()).unwrap()),
        "(2147483648,2147483648):(1,2147483648)"
    );
    let sparse = ops::complement(&c("2147483648:2").view(), Int::known(1 << 40)).unwrap();
    assert_eq!(show(&sparse), "(2,256):(1,4294967296)");
    assert_eq!(
        ops::complement(&c("2:1").view(), Int::known(i64::MAX)).map(|_| ()),
        Err(Error::Overflow),
        "an extent beyond 32 bits"
    );
    let steps: Vec<i64> = [0u64, 1, 1 << 31, (1 << 62) - 1]
        .iter()
        .map(|x| whole.view().offset_on(*x, AxisId::M).unwrap())
        .collect();
    assert_eq!(steps, [0, 1, 1 << 31, (1 << 62) - 1]);
}

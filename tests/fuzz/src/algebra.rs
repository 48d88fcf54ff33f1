//! Operations on layouts made from bytes: each answer is compared, point by point, with what it
//! must be, and where both the strided and the linear form exist they must be the same function.

use lanebook_layout::convert::{to_linear, to_strided};
use lanebook_layout::cute::{Tiler, logical_divide, raked_product};
use lanebook_layout::ops::{
    coalesce, complement, compose, divide, inverse, left_inverse, logical_product, right_inverse,
};
use lanebook_layout::{
    AxisId, Coord, Dims, Hw, Int, Iter, Layout, LayoutRef, Linear, Logical, Swizzle, Unit,
};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes as choices; when they are used up, zeros.
struct Choices<'a>(std::slice::Iter<'a, u8>);

impl<'a> Choices<'a> {
    fn new(data: &'a [u8]) -> Self {
        Self(data.iter())
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::from(self.0.next().copied().unwrap_or(0)) % limit
    }

    /// Up to four iters; strides from a list in which some are large and a few negative.
    fn layout(&mut self, extents: &[u32], strides: &[i64]) -> Layout {
        let mut out = Layout::new();
        for _ in 0..1 + self.below(4) {
            let it = Iter::new(
                extents[self.below(extents.len())],
                strides[self.below(strides.len())],
                AxisId::M,
            );
            out.push_shard(it).expect("a small layout");
        }
        out
    }
}

const EXTENTS: [u32; 8] = [1, 2, 3, 4, 5, 6, 7, 8];
const STRIDES: [i64; 16] = [0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 64, -1, -3];

/// The positions on axis `m`.
fn table(l: &LayoutRef<'_>) -> Vec<i64> {
    (0..l.size_value().expect("a size"))
        .map(|x| l.offset_on(x, AxisId::M).expect("a position"))
        .collect()
}

/// The position at any coordinate, also beyond the size; a negative one is no coordinate.
fn extended(l: &LayoutRef<'_>, x: i64) -> Option<i64> {
    let mut out = Coord::new();
    l.apply_extended(u64::try_from(x).ok()?, &mut out).expect("a position");
    Some(out.get(AxisId::M))
}

/// `a` at each position of `b`, if all are coordinates.
fn after(a: &LayoutRef<'_>, b: &LayoutRef<'_>) -> Option<Vec<i64>> {
    table(b).into_iter().map(|y| extended(a, y)).collect()
}

/// The strided form: composition, coalescing, complement, divide, product, inverses, injectivity,
/// cosize.
pub fn strided(data: &[u8]) {
    let mut choices = Choices::new(data);
    let (a, b) = (choices.layout(&EXTENTS, &STRIDES), choices.layout(&EXTENTS, &STRIDES));
    let (a, b) = (a.view(), b.view());
    let image = table(&a);

    let merged = coalesce(&a).expect("coalesces");
    assert_eq!(table(&merged.view()), image, "coalesce {a:?}");

    if let (Ok(both), Some(whole)) = (compose(&a, &b), after(&a, &b)) {
        assert_eq!(table(&both.view()), whole, "{a:?} after {b:?}");
    }

    let distinct: BTreeSet<i64> = image.iter().copied().collect();
    if let Ok(answer) = a.is_injective() {
        assert_eq!(answer, distinct.len() == image.len(), "injective {a:?}");
    }
    if let Ok(cosize) = a.cosize(AxisId::M) {
        assert_eq!(Some(&(cosize - 1)), image.iter().max(), "cosize {a:?}");
    }

    let target = 1 + choices.below(97) as i64;
    if let Ok(rest) = complement(&a, Int::known(target)) {
        let rest = table(&rest.view());
        assert!(rest.windows(2).all(|w| w[0] < w[1]), "the complement of {a:?} increases");
        if distinct.len() == image.len() {
            let sums: BTreeSet<i64> =
                rest.iter().flat_map(|y| image.iter().map(move |x| x + y)).collect();
            assert_eq!(sums.len(), rest.len() * image.len(), "the complement of {a:?} is disjoint");
            // Where the strides nest everything is covered; padding is not, and still the last
            // repetition reaches the target.
            let mut own: Vec<(i64, i64)> = Vec::new();
            for it in a.shard.iter().filter(|it| !it.is_unit()) {
                if let (Ok(stride), Ok(extent)) = (it.stride_value(), it.extent_value()) {
                    own.push((stride, i64::from(extent)));
                }
            }
            own.sort_unstable();
            let (mut below, mut nests) = (1, true);
            for (stride, extent) in own {
                nests &= stride % below == 0;
                below = stride * extent;
            }
            let covered = (0..target).all(|x| sums.contains(&x));
            assert!(covered || !nests, "the complement of {a:?} covers {target}");
            let reach = rest.last().copied().unwrap_or(0) + below;
            assert!(reach >= target, "the complement of {a:?} ends before {target}");
        }
    }

    if let Ok(right) = right_inverse(&a) {
        for (i, y) in table(&right.view()).into_iter().enumerate() {
            assert_eq!(image.get(y as usize), Some(&(i as i64)), "right inverse of {a:?}");
        }
    }
    if let Ok(left) = left_inverse(&a)
        && a.shard.iter().all(|it| it.stride() != Int::ZERO || it.is_unit())
    {
        for (i, y) in image.iter().enumerate() {
            assert_eq!(extended(&left.view(), *y), Some(i as i64), "left inverse of {a:?}");
        }
    }
    if let Ok(back) = inverse(&a) {
        let mut out = Coord::new();
        for (x, y) in image.iter().enumerate() {
            back.layout.view().apply(&[*y as u64], &mut out).expect("a position of the layout");
            assert_eq!(out.get(AxisId::M), x as i64, "inverse of {a:?}");
        }
        assert_eq!(back.layout.view().size_value(), Ok(image.len() as u64));
    }

    if let Ok(rest) = divide(&a, &b) {
        let (atom, rest) = (table(&b), table(&rest.view()));
        let whole: Vec<i64> = rest.iter().flat_map(|r| atom.iter().map(move |t| r + t)).collect();
        if a.rank() == 1 || a.rank() != b.rank() {
            assert_eq!(whole, image, "{a:?} divided by {b:?}");
        } else {
            assert_eq!(whole.len(), image.len(), "{a:?} divided by {b:?}");
        }
    }
    if let (Ok(tiles), Some(tile)) = (logical_divide(&a, &Tiler::Layout(b)), after(&a, &b)) {
        let (size, all) = (tile.len(), table(&tiles.view()));
        assert_eq!(all.get(..size), Some(&tile[..]), "the first tile of {a:?} divided by {b:?}");
    }
    if let Ok(product) = logical_product(&a, &b) {
        let all = table(&product.view());
        assert_eq!(
            all.get(..image.len()),
            Some(&image[..]),
            "the first copy in the product of {a:?} and {b:?}"
        );
        for copy in all.chunks(image.len()) {
            assert!(
                copy.iter().zip(&image).all(|(x, y)| x - copy[0] == y - image[0]),
                "copies of {a:?} by {b:?}"
            );
        }
        if let Ok(raked) = raked_product(&a, &b) {
            let sorted = |mut list: Vec<i64>| {
                list.sort_unstable();
                list
            };
            assert_eq!(sorted(table(&raked.view())), sorted(all), "raked {a:?} {b:?}");
        }
    }
}

const POWERS: [u32; 5] = [1, 2, 4, 8, 16];
const STEPS: [i64; 12] = [0, 1, 2, 4, 8, 16, 32, 64, 3, 5, 6, 12];

/// The linear form against the strided one and against points: conversion both ways, composition,
/// inverses, products.
pub fn linear(data: &[u8]) {
    let mut choices = Choices::new(data);
    let mut a = choices.layout(&POWERS, &STEPS);
    if choices.below(2) == 1 {
        let (b, m, s) =
            (choices.below(4) as u8, choices.below(4) as u8, choices.below(9) as i8 - 4);
        if let Ok(swizzle) = Swizzle::new(b, m, s, Unit::Codomain) {
            a.set_post(lanebook_layout::PostMap::Swizzle(swizzle)).expect("a checked swizzle");
        }
    }
    let image = table(&a.view());
    // Whether the positions are the XOR of those of single bits.
    let powers = a.view().shard.iter().all(|it| it.extent().coeff().count_ones() == 1);
    let xor = powers
        && (0..image.len()).all(|x| {
            (0..usize::BITS).filter(|k| x >> k & 1 == 1).fold(0, |sum, k| sum ^ image[1 << k])
                == image[x]
        });
    match to_linear(&a.view()) {
        Ok(map) => {
            for (x, y) in image.iter().enumerate() {
                assert_eq!(map.apply_packed(x as u64) as i64, *y, "{a:?} at {x}");
            }
            if let Ok(back) = to_strided(&map) {
                assert_eq!(table(&back.view()), image, "{a:?} there and back");
            }
            points(&map);
        }
        Err(lanebook_layout::Error::NotLinear { .. }) => assert!(!xor, "{a:?} is linear"),
        Err(error) => panic!("{a:?}: {error:?}"),
    }
    // Matrices of any columns.
    let outer: Linear<Logical, Hw> = matrix(&mut choices, AxisId::dim(0), AxisId::M);
    let inner: Linear<Hw, Logical> = matrix(&mut choices, AxisId::LANE, AxisId::dim(0));
    points(&outer);
    if let Ok(both) = outer.compose(&inner) {
        for x in 0..1u64 << both.ins().bits() {
            assert_eq!(
                both.apply_packed(x),
                outer.apply_packed(inner.apply_packed(x)),
                "{outer:?} after {inner:?}"
            );
        }
    }
}

/// Up to five bits to up to five bits.
fn matrix<F, T>(choices: &mut Choices<'_>, from: AxisId, to: AxisId) -> Linear<F, T> {
    let (ins, outs) = (choices.below(6) as u8, choices.below(6) as u8);
    let columns: Vec<u64> = (0..ins).map(|_| choices.below(1 << outs) as u64).collect();
    let dims = |axis, bits| Dims::one(axis, bits).expect("few bits");
    Linear::from_columns(dims(from, ins), dims(to, outs), &columns).expect("columns that fit")
}

/// Injective, surjective, inverses: what the matrix says, and what its points say.
fn points(map: &Linear<Logical, Hw>) {
    let (ins, outs) = (u32::from(map.ins().bits()), u32::from(map.outs().bits()));
    if ins > 12 || outs > 12 {
        return;
    }
    let mut first: BTreeMap<u64, u64> = BTreeMap::new();
    for x in 0..1u64 << ins {
        first.entry(map.apply_packed(x)).or_insert(x);
    }
    let (injective, surjective) = (first.len() == 1 << ins, first.len() == 1 << outs);
    assert_eq!(map.is_injective(), injective, "{map:?}");
    assert_eq!(map.is_surjective(), surjective, "{map:?}");
    assert_eq!(1usize << map.rank(), first.len(), "{map:?}");
    match map.invert() {
        Ok(back) => {
            assert!(injective && surjective, "{map:?}");
            assert!(
                (0..1u64 << ins).all(|x| back.apply_packed(map.apply_packed(x)) == x),
                "{map:?}"
            );
        }
        Err(_) => assert!(!(injective && surjective), "{map:?} has an inverse"),
    }
    match map.pseudo_invert() {
        Ok(back) => {
            assert!(first.keys().all(|y| map.apply_packed(back.apply_packed(*y)) == *y), "{map:?}");
        }
        Err(_) => assert!(!surjective, "{map:?} has a right inverse"),
    }
}

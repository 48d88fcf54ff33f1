//! Tiles on numbered axes: complements in boxes, divides and products, against coordinates counted
//! one by one.

use super::c;
use super::cute_laws::Random;
use crate::cute::{self, IntTuple, Tiler};
use crate::error::Error;
use crate::num::Int;
use crate::{AxisId, Coord, Iter, Layout, NoSyms, notation};
use std::collections::BTreeMap;
use std::format;
use std::vec;
use std::vec::Vec;

fn shape(text: &str) -> IntTuple {
    notation::cute::parse_tuple(text, &mut NoSyms).unwrap()
}

/// Where each index lies on these axes.
fn places(l: &Layout, axes: &[AxisId]) -> Vec<Vec<i64>> {
    let mut at = Coord::new();
    let size = l.view().size_value().unwrap();
    let one = |x| {
        l.view().apply_extended(x, &mut at).unwrap();
        axes.iter().map(|axis| at.get(*axis)).collect()
    };
    (0..size).map(one).collect()
}

/// How often each sum of a place of `a` and one of `b` occurs.
fn sums(a: &[Vec<i64>], b: &[Vec<i64>]) -> BTreeMap<Vec<i64>, usize> {
    let mut out = BTreeMap::new();
    for x in a {
        for y in b {
            let sum: Vec<i64> = x.iter().zip(y).map(|(x, y)| x + y).collect();
            *out.entry(sum).or_insert(0) += 1;
        }
    }
    out
}

/// A tile of a box: of each mode, an extent and a step whose product divides the mode's, in some
/// order.
fn tile(random: &mut Random, sides: &[i64]) -> Layout {
    let divisors = |n: i64| (1..=n).filter(move |d| n % d == 0).collect::<Vec<_>>();
    let mut leaves = Vec::new();
    for (axis, side) in (0u8..).zip(sides) {
        let all = divisors(*side);
        let step = all[random.below(all.len() as u64) as usize];
        let all = divisors(side / step);
        let extent = all[random.below(all.len() as u64) as usize];
        leaves.push(Iter::new(extent as u32, step, AxisId::dim(axis)));
    }
    if random.below(2) == 0 {
        leaves.reverse();
    }
    let mut out = Layout::new();
    out.open().unwrap();
    for leaf in leaves {
        out.push_leaf(leaf).unwrap();
    }
    out.close().unwrap();
    out
}

/// A tile and what it leaves of a box reach every coordinate of it once; a divide takes the whole
/// apart where they say.
#[test]
fn a_tile_and_its_complement_fill_a_box() {
    let mut random = Random(0x5851_f42d_4c95_7f2d);
    for _ in 0..400 {
        let sides: Vec<i64> =
            (0..=random.below(3)).map(|_| [1, 2, 4, 6, 9, 12][random.below(6) as usize]).collect();
        let axes: Vec<AxisId> = (0u8..).zip(&sides).map(|(k, _)| AxisId::dim(k)).collect();
        let tile = tile(&mut random, &sides);
        let box_text = format!("{sides:?}").replace('[', "(").replace(']', ")");
        let rest = cute::complement_in(&tile.view(), shape(&box_text).view())
            .unwrap_or_else(|e| panic!("{tile:?} in {box_text}: {e:?}"));
        let both = sums(&places(&tile, &axes), &places(&rest, &axes));
        assert_eq!(both.len() as i64, sides.iter().product::<i64>(), "{tile:?} in {box_text}");
        for (at, times) in both {
            let inside = at.iter().zip(&sides).all(|(x, side)| (0..*side).contains(x));
            assert!(inside && times == 1, "{at:?} {times} times: {tile:?} in {box_text}");
        }

        // Padded columns: a coordinate has one position.
        let mut whole = Layout::new();
        whole.open().unwrap();
        let (mut stride, mut strides) = (1, Vec::new());
        for side in &sides {
            whole.push_leaf(Iter::new(*side as u32, stride, AxisId::M)).unwrap();
            strides.push(stride);
            stride = stride * side + 5;
        }
        whole.close().unwrap();
        let made = cute::zipped_divide(&whole.view(), &Tiler::Layout(tile.view())).unwrap();
        let at = |place: &Vec<i64>| place.iter().zip(&strides).map(|(x, d)| x * d).sum::<i64>();
        let mut expected = Vec::new();
        for rest in &places(&rest, &axes) {
            expected.extend(places(&tile, &axes).iter().map(|tile| at(tile) + at(rest)));
        }
        let found: Vec<i64> = places(&made, &[AxisId::M]).concat();
        assert_eq!(found, expected, "{whole:?} by {tile:?}");
    }
}

/// A block repeated at all coordinates of a box, up to the steps inside it, reaches each place once.
#[test]
fn a_repeated_block_meets_itself_nowhere() {
    let mut random = Random(0x1405_7b7e_f767_814f);
    let mut made_of = 0;
    for _ in 0..400 {
        let sides: Vec<i64> =
            (0..=random.below(2)).map(|_| [2, 4, 6, 12][random.below(4) as usize]).collect();
        let counts: Vec<i64> =
            sides.iter().map(|_| [1, 2, 3, 5][random.below(4) as usize]).collect();
        let axes: Vec<AxisId> = (0u8..).zip(&sides).map(|(k, _)| AxisId::dim(k)).collect();
        let block = tile(&mut random, &sides);
        let mut counted = Layout::new();
        counted.open().unwrap();
        for (k, count) in (0u8..).zip(&counts) {
            counted.push_leaf(Iter::new(*count as u32, 1, AxisId::dim(k))).unwrap();
        }
        counted.close().unwrap();
        let tiler = Tiler::Layout(counted.view());
        // Where the steps of a block are no multiple of what repeats there is no such layout.
        let Ok(made) = cute::logical_product(&block.view(), &tiler) else { continue };
        made_of += 1;
        let found = sums(&places(&made, &axes), &[vec![0; axes.len()]]);
        let size = block.view().size_value().unwrap() as i64 * counts.iter().product::<i64>();
        assert_eq!(found.len() as i64, size, "{block:?} at {counts:?}");
        // The block stays in front, and the other products are the same map.
        assert_eq!(made.view().mode(0).unwrap().to_owned().unwrap(), block);
        let blocked = cute::blocked_product(&block.view(), &counted.view()).unwrap();
        let raked = cute::raked_product(&block.view(), &counted.view()).unwrap();
        for other in [blocked, raked] {
            let other = sums(&places(&other, &axes), &[vec![0; axes.len()]]);
            assert_eq!(other, found, "{block:?} at {counts:?}");
        }
    }
    assert!(made_of > 200, "{made_of}");
}

#[test]
fn what_is_no_box_is_refused() {
    let complement = |l: &str, s: &str| cute::complement_in(&c(l).view(), shape(s).view());
    assert_eq!(complement("2:1@3", "(8,8)"), Err(Error::NoMode { mode: 3, rank: 2 }));
    assert_eq!(complement("2:1@1@0", "(8,8)"), Err(Error::NoMode { mode: 1, rank: 1 }));
    let nested = complement("(2,2):(1@0,1@1@0)", "(8,8)");
    assert!(matches!(nested, Err(Error::NestedAxes { .. })), "{nested:?}");
    let meeting = complement("(2,2):(1@0,1@0)", "(8,8)");
    assert!(matches!(meeting, Err(Error::NotInjective { .. })), "{meeting:?}");
    let product = |a: &str, b: &str| {
        let (a, b) = (c(a), c(b));
        cute::logical_product(&a.view(), &Tiler::Layout(b.view()))
    };
    // Integers count no coordinates, and the other way round.
    for (a, b) in [("(2,2):(1@0,1@1)", "3:1"), ("(2,2):(1,2)", "(3,3):(1@0,1@1)")] {
        assert!(matches!(product(a, b), Err(Error::WrongAxis { .. })), "{a} by {b}");
    }
    // What names an axis and never moves along it is in nobody's way.
    assert_eq!(product("2:1@0", "(3,2):(0@0@1,1@0)"), Ok(c("(2,(3,2)):(1@0,(0,2@0))")));
    // On the integers a shape is its size.
    assert_eq!(complement("2:1", "(2,4)"), crate::ops::complement(&c("2:1").view(), Int::known(8)));
}

/// Modes that a tile does not name: those before its last are one run, those behind keep their tree.
#[test]
fn modes_that_no_axis_names() {
    for (l, s, rest) in [
        ("2:1@1", "((2,4),4)", "(8,2):(1@0,2@1)"),
        ("2:1@0", "(4,(2,4))", "(2,(2,4)):(2@0,(1@0@1,1@1@1))"),
        ("2:1@0@1", "((2,4),8)", "(8,(4)):(1@0,(2@0@1))"),
        ("2:1@1@0", "((2,4),8)", "((2,2),8):((1@0@0,2@1@0),1@1)"),
    ] {
        let made = cute::complement_in(&c(l).view(), shape(s).view());
        assert_eq!(made, Ok(c(rest)), "{l} in {s}");
    }
    let (whole, tile) = (c("((4,2),10):((10,40),1)"), c("5:1@1"));
    let made = cute::logical_divide(&whole.view(), &Tiler::Layout(tile.view()));
    assert_eq!(made, Ok(c("(5,(8,2)):(1,(10,5))")));
}

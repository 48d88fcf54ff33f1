//! TileLang's fragments, inverses and helpers, by evaluating all their points.

use super::c;
use crate::error::{Error, NotLinear};
use crate::tilelang::{
    self, Fallback, Fragment, Shared, bank_swizzled, facts, fully_replicated, guarded_inverse,
    index_maps, operand_swizzled,
};
use crate::{AxisId, Coord, Iter, Layout};
use std::collections::BTreeMap;
use std::vec::Vec;

fn fragment(text: &str, replicas: &[Iter]) -> Fragment {
    let mut l = c(text);
    for it in replicas {
        l.push_replica(*it).unwrap();
    }
    Fragment::new(l).unwrap()
}

fn thread(extent: u32, stride: i64) -> Iter {
    Iter::new(extent, stride, AxisId::TX)
}

/// Every (thread, index) with the element that lies there.
fn owners(f: &Fragment) -> BTreeMap<(i64, i64), u64> {
    let mut out = BTreeMap::new();
    for x in 0..f.layout().size_value().unwrap() {
        for copy in 0..f.copies().unwrap() {
            let at = (f.forward_thread(x, copy).unwrap(), f.forward_index(x).unwrap());
            let before = out.insert(at, x);
            assert!(before.is_none_or(|b| b == x), "two elements at {at:?}");
        }
    }
    out
}

/// The inverse gives exactly the owners, at every position around them.
fn check_inverse(f: &Fragment) {
    let owners = owners(f);
    let (threads, locals) = (f.thread_extent().unwrap(), f.index_extent().unwrap());
    for (t, i) in (-2..threads + 3).flat_map(|t| (-1..=locals).map(move |i| (t, i))) {
        let found = f.element(t, i).unwrap();
        assert_eq!(found.map(|e| e.flat), owners.get(&(t, i)).copied(), "({t}, {i})");
        if let Some(e) = found {
            assert_eq!(f.forward_thread(e.flat, e.copy), Ok(t));
        }
    }
}

#[test]
fn sparse_owners_invert_with_guards() {
    let f = fragment("(4):(16@tx)", &[]);
    let inverse = f.inverse().unwrap();
    let guards: Vec<_> = inverse.guards().collect();
    let guard = tilelang::Guard { axis: AxisId::TX, above: 16, unit: 1, extent: 1 };
    assert_eq!(guards, [guard]);
    let dense = fragment("(8,4):(1,1@tx)", &[]);
    assert_eq!(dense.inverse().unwrap().guards().count(), 0);
    check_inverse(&f.replicate(4).unwrap());
    assert_eq!(f.thread_extent(), Ok(49));
    check_inverse(&f);
    check_inverse(&fragment("((2,12),(3,2)):((1,6@tx),(2@tx,6))", &[]));
    check_inverse(&fragment("(224):(3@tx)", &[thread(2, 1000)]));
    check_inverse(&fragment("(8):(4@tx)", &[thread(2, 0), thread(4, 1)]));
    let mut shifted = c("(6,4):(1,6@tx)");
    shifted.add_offset(5.into(), AxisId::TX).unwrap();
    check_inverse(&Fragment::new(shifted).unwrap());
    let swizzled = bank_swizzled(&[24, 64], 16, 8, &facts::ROW_SWIZZLE).unwrap();
    let inverse = guarded_inverse(&swizzled.view()).unwrap();
    let mut at = Coord::new();
    for x in 0..24 * 64 {
        swizzled.view().apply_flat(x, &mut at).unwrap();
        assert_eq!(inverse.at(&at).unwrap().map(|e| e.flat), Some(x));
    }
}

#[test]
fn what_does_not_nest_has_no_inverse() {
    let stuck = |text: &str| guarded_inverse(&c(text).view()).map(|_| ());
    let error = |iter, stride, unit| Err(Error::NotInjective { iter, stride, unit });
    assert_eq!(stuck("(2,4):(0,1)"), error(0, 0, 1));
    assert_eq!(stuck("(4,4):(1,3)"), error(1, 3, 4));
    // No two elements meet, and still no digits tell them apart.
    assert_eq!(stuck("(3,2):(2,3)"), Err(Error::Interleaved { iter: 1, stride: 3, unit: 5 }));
}

#[test]
fn repeating_and_replicating() {
    let base = fragment("((2,4),8):((1,1@tx),4@tx)", &[]);
    let (threads, locals) = (base.thread_extent().unwrap(), base.index_extent().unwrap());
    for (on_thread, lower) in [(false, false), (false, true), (true, false), (true, true)] {
        let f = base.repeat(&[3, 2], on_thread, lower).unwrap();
        assert_eq!(f.shape().unwrap().as_slice(), [24, 16]);
        for (i, j) in (0..24u64).flat_map(|i| (0..16u64).map(move |j| (i, j))) {
            let (tile_i, tile_j) = ((i / 8) as i64, (j / 8) as i64);
            let tile = if lower { tile_j + 2 * tile_i } else { tile_i + 3 * tile_j };
            let inside = i % 8 * 8 + j % 8;
            let (mut t, mut x) =
                (base.forward_thread(inside, 0).unwrap(), base.forward_index(inside).unwrap());
            if on_thread {
                t += tile * threads;
            } else {
                x += tile * locals;
            }
            let at = i * 16 + j;
            assert_eq!((f.forward_thread(at, 0), f.forward_index(at)), (Ok(t), Ok(x)));
        }
        check_inverse(&f);
    }
    let copied = base.replicate(3).unwrap();
    assert_eq!((copied.copies(), copied.thread_extent()), (Ok(3), Ok(96)));
    assert_eq!(copied.forward_thread(5, 2), base.forward_thread(5, 0).map(|t| t + 64));
    check_inverse(&copied);
    let idle = fragment("(4):(2@tx)", &[thread(2, 0), thread(2, 1)]);
    let condensed = idle.condense().unwrap();
    assert_eq!((idle.copies(), condensed.copies()), (Ok(4), Ok(2)));
    assert_eq!(owners(&idle), owners(&condensed));
    assert!(matches!(base.repeat(&[2], false, true), Err(Error::Rank { .. })));
    assert!(matches!(base.forward_thread(0, 1), Err(Error::OutOfRange { .. })));
}

#[test]
fn reshaping_keeps_row_major_positions() {
    let f = fragment("((2,4),8):((1,1@tx),4@tx)", &[]);
    for shape in [&[64][..], &[4, 16], &[2, 2, 2, 8], &[32, 2], &[1, 64, 1]] {
        let g = f.reshape(shape, None).unwrap();
        assert_eq!(g.shape().unwrap().as_slice(), shape);
        for x in 0..64 {
            assert_eq!(g.forward_thread(x, 0), f.forward_thread(x, 0));
            assert_eq!(g.forward_index(x), f.forward_index(x));
        }
    }
    assert!(matches!(f.reshape(&[63], None), Err(Error::CannotGroup { .. })));
    let halves = f.reshape(&[128], Some((32, 16))).unwrap();
    for x in 0..128 {
        let word = f.forward_index(x / 2).unwrap();
        assert_eq!(halves.forward_index(x), Ok(2 * word + (x % 2) as i64));
    }
    let again = halves.reshape(&[8, 8], Some((16, 32))).unwrap();
    assert_eq!(owners(&again), owners(&f));
    let apart = fragment("(8,4):(4,1)", &[]);
    assert!(matches!(apart.reshape(&[16], Some((16, 32))), Err(Error::CannotPack { .. })));
    let odd = apart.reshape(&[32], Some((16, 24)));
    assert_eq!(odd, Err(Error::BadElement { bits: 24 }));
    let six = tilelang::linear(&[6, 4]).unwrap();
    let turned = tilelang::repeat(&six.view(), 1, 3).unwrap();
    assert_eq!(tilelang::shape_of(&turned.view()).unwrap().as_slice(), [6, 12]);
    let wide = tilelang::expand(&six.view(), &[5, 7]).unwrap();
    let mut at = Coord::new();
    wide.view().apply(&[2, 3, 6, 4], &mut at).unwrap();
    let found = (at.get(AxisId::dim(0)), at.get(AxisId::dim(1)), at.get(AxisId::M));
    assert_eq!(found, (4, 6, 14));
    assert!(matches!(tilelang::repeat(&six.view(), 2, 2), Err(Error::Rank { .. })));
}

#[test]
fn fragments_of_threads_alone_number_what_is_left() {
    // thread = (16 i + j) % 32 over 4 x 16: the index is i / 2.
    let f = Fragment::with_threads(&c("(16,(2,2)):(1@tx,(16@tx,0))").view()).unwrap();
    for x in 0..64u64 {
        assert_eq!(f.forward_index(x), Ok((x / 32) as i64));
    }
    let all = fully_replicated(&[2, 3, 4], 128).unwrap();
    assert_eq!((all.copies(), all.forward_index(17)), (Ok(128), Ok(17)));
    assert_eq!(all.forward_thread(17, 100), Ok(100));
    let wrong = c("(4):(1@laneid)");
    let axis = AxisId::LANE;
    assert_eq!(Fragment::new(wrong), Err(Error::WrongAxis { iter: 0, axis }));
}

/// That a map sends no two elements to one place.
fn injective(l: &Layout) -> bool {
    let mut seen = std::collections::BTreeSet::new();
    let mut at = Coord::new();
    (0..l.view().size_value().unwrap()).all(|x| {
        l.view().apply_flat(x, &mut at).unwrap();
        let mut place: Vec<_> = at.iter().collect();
        place.sort_unstable();
        seen.insert(place)
    })
}

#[test]
fn swizzled_tiles_spread_columns_over_banks() {
    for (bits, vectors) in [(8, 8), (16, 8), (32, 8), (16, 4), (16, 2), (4, 8)] {
        let columns = 128 / bits * vectors * 3;
        let l = bank_swizzled(&[5, 24, columns], bits, vectors, &facts::ROW_SWIZZLE).unwrap();
        assert!(injective(&l));
        // The first vector of the rows of a block: each takes another of the vectors, in turn.
        let mut places = Vec::new();
        for row in 0..8 {
            let at = l.view().offset_on(u64::from(row * columns), AxisId::M).unwrap();
            places.push(at as u32 % (128 / bits * vectors) / (128 / bits));
        }
        let expected: Vec<u32> = (0..8).map(|row| row / (8 / vectors)).collect();
        assert_eq!(places, expected);
    }
    let atom = &facts::ROW_SWIZZLE;
    let shape = |dim, found, needed| Err(Error::BadShape { dim, found, needed });
    assert_eq!(bank_swizzled(&[12, 64], 16, 8, atom), shape(0, 12, 8));
    assert!(bank_swizzled(&[4, 64], 16, 8, atom).is_ok());
    assert_eq!(bank_swizzled(&[8, 72], 16, 8, atom), shape(1, 72, 64));
    assert_eq!(bank_swizzled(&[8, 64], 6, 8, atom), Err(Error::BadElement { bits: 6 }));
    assert_eq!(bank_swizzled(&[8, 64], 16, 3, atom), Err(Error::NoVariant { found: 3 }));
    assert!(matches!(bank_swizzled(&[8], 16, 8, atom), Err(Error::Rank { .. })));
    let atoms = (atom, &facts::WIDE_SWIZZLE);
    for (rows, columns, bits) in [(24, 96, 16), (40, 20, 16), (12, 48, 64), (8, 24, 64)] {
        for inner in [true, false] {
            let l = operand_swizzled(&[rows, columns], bits, inner, Fallback::Pad, atoms).unwrap();
            assert!(injective(&l), "{rows} x {columns} of {bits}");
        }
    }
    let narrow = operand_swizzled(&[8, 20], 16, true, Fallback::Linear, atoms);
    assert_eq!(narrow, shape(1, 20, 8));
}

#[test]
fn maps_that_mix_outputs_are_linear_or_refused() {
    let all = [facts::CROSSWISE, facts::CONGRUOUS_A];
    for shape in [[32, 32], [64, 64], [4, 64], [16, 128], [128, 32]] {
        let made = tilelang::shared_operand_v1(&shape, 16, &all, &facts::ROW_SWIZZLE).unwrap();
        let Shared::Linear(l) = made else {
            panic!("{shape:?}");
        };
        assert!(l.is_injective());
        assert_eq!(1u32 << l.outs().bits(), shape[0] * shape[1]);
    }
    let small = tilelang::shared_operand_v1(&[24, 40], 16, &all, &facts::ROW_SWIZZLE);
    assert!(matches!(small, Ok(Shared::Strided(l)) if injective(&l)));
    let odd = tilelang::shared_operand_v1(&[12, 64], 16, &all, &facts::ROW_SWIZZLE);
    let why = NotLinear::Extent;
    let not = |iter, extent| Error::NotLinear { iter, extent, stride: 0, why };
    assert_eq!(odd, Err(not(1, 12)));
    for columns in [32, 64, 256] {
        let l = tilelang::rows_swizzled(&[2, 16, columns], 16, &facts::ROW_SWIZZLE).unwrap();
        assert!(l.is_injective());
    }
    let l = tilelang::phase_swizzled(64, 32, 16, 8, &facts::PHASE_SWIZZLE).unwrap();
    assert!(l.is_injective());
    let thin = tilelang::phase_swizzled(64, 4, 16, 8, &facts::PHASE_SWIZZLE);
    assert!(thin.is_err());
}

#[test]
fn metadata_covers_its_words_once() {
    for (operand, columns) in [(32, 16), (16, 16), (8, 16)] {
        for steps in [1, 2] {
            let l = tilelang::metadata_tiles((192, columns), operand, steps, facts::METADATA_TILES);
            let l = l.unwrap();
            assert!(injective(&l));
            assert_eq!(l.view().cosize(AxisId::M), Ok(i64::from(192 * columns)));
        }
    }
    let form = |shape, bits| tilelang::metadata_columns(shape, bits, facts::METADATA_COLUMNS);
    for (shape, bits, group, interleave) in [((96, 6), 16, 32, 4), ((48, 10), 32, 16, 2)] {
        let l = form(shape, bits).unwrap();
        for (i, j) in (0..shape.0).flat_map(|i| (0..shape.1).map(move |j| (i, j))) {
            // TileLang's own words: interleave the rows of a group, then transpose 2 x 2.
            let row = i / group * group + i % 8 * interleave + i % group / 8;
            let (up, down) =
                (u32::from(row % 2 == 0 && j % 2 == 1), u32::from(row % 2 == 1 && j % 2 == 0));
            let (row, column) = (row + up - down, j + down - up);
            let wanted = column / 2 * shape.0 * 2 + row * 2 + column % 2;
            let at = l.view().offset_on(u64::from(i * shape.1 + j), AxisId::M);
            assert_eq!(at, Ok(i64::from(wanted)), "({i}, {j})");
        }
    }
    let shape = |dim, found, needed| Err(Error::BadShape { dim, found, needed });
    assert_eq!(form((40, 6), 16), shape(0, 40, 32));
    assert_eq!(form((32, 5), 16), shape(1, 5, 2));
    assert_eq!(form((32, 6), 8), Err(Error::BadElement { bits: 8 }));
    let tiles = tilelang::metadata_tiles((64, 16), 16, 9, facts::METADATA_TILES);
    assert_eq!(tiles, Err(Error::NoVariant { found: 9 }));
}

#[test]
fn index_maps_are_layouts_and_fragments_of_matrices_invert() {
    for table in [index_maps::LANES_32, index_maps::LANES_64] {
        for (name, _) in table {
            let l = tilelang::index_map(table, name).unwrap();
            assert!(l.view().rank() == 2, "{name}");
        }
    }
    let table = index_maps::LANES_32;
    let none = tilelang::index_map(table, "nosuch");
    assert_eq!(none, Err(Error::NoVariant { found: 0 }));
    let to = tilelang::index_map(table, "shared_16x16_to_mma_a_32x8_layout").unwrap();
    let from = tilelang::index_map(table, "mma_load_a_32x8_to_shared_16x16_layout").unwrap();
    let f = Fragment::from_map(&to.view()).unwrap();
    check_inverse(&f);
    let mut at = Coord::new();
    for (lane, register) in (0..32i64).flat_map(|l| (0..8i64).map(move |r| (l, r))) {
        let e = f.element(lane, register).unwrap().unwrap();
        from.view().apply_flat((lane * 8 + register) as u64, &mut at).unwrap();
        let place = (at.get(AxisId::dim(0)) as u64, at.get(AxisId::M) as u64);
        assert_eq!((e.flat / 16, e.flat % 16), place);
    }
    for (name, text) in facts::GEMM_FRAGMENTS {
        let f = Fragment::from_map(&c(text).view()).unwrap();
        assert_eq!((f.thread_extent(), f.index_extent()), (Ok(32), Ok(2)), "{name}");
        check_inverse(&f);
    }
}

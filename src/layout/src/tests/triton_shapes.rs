//! Shape operations on Triton's encodings, from first principles: which thread holds which element
//! before, and which after. Random blocked encodings, slices of them, accumulators and operands of
//! an invented matrix instruction.

use super::Random;
use super::triton::Seed as Stand;
use crate::notation::ttg::parse;
use crate::triton::{Base, Encoding, EncodingError as E, EncodingField, infer, to_linear};
use crate::{AxisId, Hw, Linear, Logical};
use std::collections::BTreeSet;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

type L = Linear<Hw, Logical>;

/// A power of two up to `1 << most`.
fn power(random: &mut Random, most: u32) -> u32 {
    1 << random.below(most + 1)
}

fn list(numbers: &[u32]) -> String {
    let texts: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    format!("[{}]", texts.join(", "))
}

fn blocked(random: &mut Random, rank: usize) -> Encoding {
    let mut numbers = |most| (0..rank).map(|_| power(random, most)).collect::<Vec<_>>();
    let (size, threads, warps) = (numbers(2), numbers(2), numbers(1));
    let mut order: Vec<u32> = (0..rank as u32).collect();
    for k in (1..rank).rev() {
        order.swap(k, random.below(k as u32 + 1) as usize);
    }
    let (size, threads, warps, order) = (list(&size), list(&threads), list(&warps), list(&order));
    parse(&format!("#ttg.blocked<{{sizePerThread = {size}, threadsPerWarp = {threads}, warpsPerCTA = {warps}, order = {order}}}>")).unwrap()
}

/// An encoding of a tensor of two dimensions, or of `rank` with a blocked one.
fn any(random: &mut Random, rank: usize) -> Encoding {
    let mfma = "#ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [16, 16, 16], isTransposed = false}>";
    match (random.below(5), rank) {
        (0, 2) => parse(mfma).unwrap(),
        (1, 2) => {
            parse(&format!("#ttg.dot_op<{{opIdx = 0, parent = {mfma}, kWidth = 4}}>")).unwrap()
        }
        (2, 2) => {
            let dim = random.below(3) as u8;
            blocked(random, 3).sliced(dim).unwrap()
        }
        _ => blocked(random, rank),
    }
}

fn shape(random: &mut Random, rank: usize) -> Vec<u32> {
    (0..rank).map(|_| power(random, 5)).collect()
}

/// Coordinates of elements.
type Elements = BTreeSet<Vec<u64>>;

/// The elements of each (lane, warp).
fn held(l: &L) -> Vec<((u64, u64), Elements)> {
    let bits = |axis| l.ins().bits_of(axis);
    let dims: Vec<AxisId> = l.outs().iter().map(|d| d.0).collect();
    let mut out = Vec::new();
    for lane in 0..1u64 << bits(AxisId::LANE) {
        for warp in 0..1u64 << bits(AxisId::WARP) {
            let mut own = BTreeSet::new();
            for register in 0..1u64 << bits(AxisId::REGISTER) {
                let on = |value, axis| l.ins().insert(value, axis).unwrap();
                let index = on(register, AxisId::REGISTER)
                    | on(lane, AxisId::LANE)
                    | on(warp, AxisId::WARP);
                let at = l.apply_packed(index);
                own.insert(dims.iter().map(|d| l.outs().extract(at, *d).unwrap()).collect());
            }
            out.push(((lane, warp), own));
        }
    }
    out
}

/// Each thread's elements sent through `f` are its elements in `after`.
fn follows(before: &L, after: &L, f: impl Fn(&[u64]) -> Vec<u64>) {
    for ((thread, own), (other, now)) in held(before).into_iter().zip(held(after)) {
        assert_eq!(thread, other);
        let moved: Elements = own.iter().map(|at| f(at)).collect();
        assert_eq!(moved, now, "thread {thread:?}");
    }
}

fn row_major(at: &[u64], shape: &[u32]) -> u64 {
    at.iter().zip(shape).fold(0, |n, (x, e)| n * u64::from(*e) + x)
}

#[test]
fn nothing_moves_between_threads() {
    let mut random = Random::new(7);
    for _ in 0..120 {
        let rank = 2 + random.below(2) as usize;
        let (encoding, shape) = (any(&mut random, rank), shape(&mut random, rank));
        let l = to_linear(&encoding, &shape, &Stand).unwrap();
        let mut order: Vec<u8> = (0..rank as u8).collect();
        order.rotate_left(random.below(rank as u32) as usize);
        let turned = infer::transposed(&l, &order).unwrap();
        follows(&l, &turned, |at| order.iter().map(|d| at[usize::from(*d)]).collect());
        if let Some(named) = infer::transposed_encoding(&encoding, &order) {
            let moved: Vec<u32> = order.iter().map(|d| shape[usize::from(*d)]).collect();
            assert!(
                to_linear(&named, &moved, &Stand).unwrap().same_map(&turned),
                "{encoding:?} {order:?}"
            );
        }
        // Any shape of as many elements: here all in one, or two halves in front.
        let total: u32 = shape.iter().product();
        for new in [Vec::from([total]), Vec::from([2, total / 2])] {
            if new.contains(&0) {
                continue;
            }
            let flat = infer::reshaped(&l, &new).unwrap();
            let one = |at: &[u64]| Vec::from([row_major(at, &shape)]);
            follows(&l, &infer::reshaped(&flat, &[total]).unwrap(), one);
            assert!(infer::reshaped(&flat, &shape).unwrap().same_map(&l));
        }
        let expanded = infer::expanded(&l, 1).unwrap();
        follows(&l, &expanded, |at| {
            let mut at = at.to_vec();
            at.insert(1, 0);
            at
        });
        // Both operands of a join are where they were, and come back.
        let joined = infer::joined(&encoding, &shape, &Stand).unwrap();
        let halves = held(&joined);
        for ((thread, own), (_, now)) in held(&l).into_iter().zip(halves) {
            let both = own.iter().flat_map(|at| {
                (0..2u64).map(move |half| at.iter().copied().chain([half]).collect::<Vec<u64>>())
            });
            assert_eq!(both.collect::<Elements>(), now, "thread {thread:?}");
        }
        let half = infer::split(&joined).unwrap();
        follows(&half, &l, <[u64]>::to_vec);
    }
}

#[test]
fn reductions_drop_a_dimension_and_broadcasts_read_what_is_there() {
    let mut random = Random::new(11);
    for _ in 0..120 {
        let rank = 2 + random.below(2) as usize;
        let (encoding, shape) = (any(&mut random, rank), shape(&mut random, rank));
        let l = to_linear(&encoding, &shape, &Stand).unwrap();
        let axis = random.below(rank as u32) as usize;
        let sum = infer::reduced(&encoding, &shape, axis as u8, &Stand).unwrap();
        let dropped = |at: &[u64]| {
            let mut at = at.to_vec();
            at.remove(axis);
            at
        };
        follows(&l, &sum, dropped);
        // The result, expanded again, is broadcast over what was reduced: each thread has what it
        // needs.
        let mut thin = shape.clone();
        thin[axis] = 1;
        let column = to_linear(&encoding, &thin, &Stand).unwrap();
        let wide = infer::broadcast(&encoding, &thin, &shape, &Stand).unwrap();
        assert!(wide.same_map(&l));
        for ((thread, needs), (_, has)) in held(&wide).into_iter().zip(held(&column)) {
            for mut at in needs {
                at[axis] = 0;
                assert!(has.contains(&at), "thread {thread:?} lacks {at:?}");
            }
        }
        let mut left = shape.clone();
        left.remove(axis);
        let slice = encoding.clone().sliced(axis as u8).unwrap();
        assert!(infer::expand_dims(&slice, &left, axis as u8, &Stand).unwrap().same_map(&column));
    }
}

#[test]
fn operands_of_a_join_that_are_halves_of_their_parent() {
    let parent = |threads: &str, size: &str| {
        let text = format!(
            "#ttg.blocked<{{sizePerThread = {size}, threadsPerWarp = {threads}, warpsPerCTA = [1, 1], order = [0, 1]}}>"
        );
        parse(&text).unwrap()
    };
    // The halves are the second register bit: the parent is given back, not a layout with them in
    // the first.
    let whole = parent("[32, 1]", "[2, 2]");
    let half = whole.clone().sliced(1).unwrap();
    let found = infer::joined(&half, &[64], &Stand).unwrap();
    assert!(found.same_map(&to_linear(&whole, &[64, 2], &Stand).unwrap()));
    assert_eq!(found.column_on(AxisId::REGISTER, 0, AxisId::dim(1)), Some(0));
    // Lanes number the halves of this parent: each thread holds both operands, so a register is
    // added.
    let half = parent("[16, 2]", "[2, 1]").sliced(1).unwrap();
    let found = infer::joined(&half, &[64], &Stand).unwrap();
    assert_eq!(found.column_on(AxisId::REGISTER, 0, AxisId::dim(1)), Some(1));
}

#[test]
fn shared_tiles_keep_their_kind_when_transposed() {
    let check = |text: &str, shape: &[u32], order: &[u8]| {
        let encoding = parse(text).unwrap();
        let turned = infer::transposed_encoding(&encoding, order).expect(text);
        let moved: Vec<u32> = order.iter().map(|d| shape[usize::from(*d)]).collect();
        let found = to_linear(&turned, &moved, &Stand).unwrap();
        let expected =
            infer::transposed(&to_linear(&encoding, shape, &Stand).unwrap(), order).unwrap();
        assert!(found.same_map(&expected), "{text}");
    };
    let tile =
        "#ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>";
    check(tile, &[64, 128], &[1, 0]);
    check(
        "#ttg.swizzled_shared<{vec = 4, perPhase = 2, maxPhase = 4, order = [2, 0, 1]}>",
        &[4, 16, 32],
        &[2, 0, 1],
    );
    // No two dimensions change places alone in a tile of three.
    let deep = parse("#ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16, rank = 3}>").unwrap();
    assert_eq!(infer::transposed_encoding(&deep, &[0, 2, 1]), None);
    let padded = parse("#ttg.padded_shared<[32:+4] {order = [1, 0], shape = [16, 32]}>").unwrap();
    let Some(Encoding { base: Base::Padded(turned), .. }) =
        infer::transposed_encoding(&padded, &[1, 0])
    else {
        panic!("a padded encoding stays one")
    };
    assert_eq!(turned.linear.column_on(AxisId::M, 0, AxisId::dim(0)), Some(1));
    assert_eq!(turned.pads.as_slice(), [(32, 4)]);
}

#[test]
fn shape_operations_refuse() {
    let encoding = blocked(&mut Random::new(3), 2);
    let l = to_linear(&encoding, &[8, 8], &Stand).unwrap();
    assert_eq!(
        infer::reduced(&encoding, &[8, 8], 2, &Stand).err(),
        Some(E::BadValue { field: EncodingField::Dim, value: 2 })
    );
    let shared =
        parse("#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>")
            .unwrap();
    assert_eq!(infer::reduced(&shared, &[8, 8], 0, &Stand).err(), Some(E::WrongKind));
    assert_eq!(infer::broadcast(&shared, &[8, 1], &[8, 8], &Stand).err(), Some(E::WrongKind));
    let refused = infer::broadcast(&encoding, &[8, 2], &[8, 8], &Stand).err();
    assert_eq!(refused, Some(E::NotBroadcast { dim: 1, extent: 2, wanted: 8 }));
    assert_eq!(
        infer::broadcast(&encoding, &[8, 1], &[8], &Stand).err(),
        Some(E::Rank { field: EncodingField::Shape, expected: 2, found: 1 })
    );
    assert_eq!(
        infer::transposed(&l, &[1]).err(),
        Some(E::Rank { field: EncodingField::Order, expected: 2, found: 1 })
    );
    assert_eq!(infer::reshaped(&l, &[8, 4]).err(), Some(E::Reshape { old: 6, new: 5 }));
    assert_eq!(
        infer::reshaped(&l, &[0, 8]).err(),
        Some(E::NotPowerOfTwo { field: EncodingField::Shape, at: 0, value: 0 })
    );
    assert_eq!(
        infer::expanded(&l, 3).err(),
        Some(E::BadValue { field: EncodingField::Dim, value: 3 })
    );
    assert_eq!(infer::split(&l).err(), Some(E::CannotSplit { extent: 8 }));
    // Lanes number the halves: no thread has both.
    let lanes = parse("#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [16, 2], warpsPerCTA = [1, 1], order = [1, 0]}>").unwrap();
    let pair = to_linear(&lanes, &[16, 2], &Stand).unwrap();
    assert_eq!(infer::split(&pair).err(), Some(E::CannotSplit { extent: 2 }));
    assert_eq!(
        infer::join(&to_linear(&blocked(&mut Random::new(5), 8), &[1; 8], &Stand).unwrap()).err(),
        Some(E::TooMany { max: 8 })
    );
}

#[test]
fn widths_of_k_that_the_notation_takes() {
    let wmma = |version: u32, width: u32| {
        let parent = format!(
            "#ttg.amd_wmma<{{version = {version}, isTransposed = false, ctaLayout = {{warp = []}}, instrShape = [16, 16, 16], rank = 2}}>"
        );
        let operand =
            parse(&format!("#ttg.dot_op<{{opIdx = 0, parent = {parent}, kWidth = {width}}}>"))
                .unwrap();
        to_linear(&operand, &[16, 32], &Stand).err()
    };
    let bad = |value| Some(E::BadValue { field: EncodingField::KWidth, value });
    for (version, taken) in [(1, &[8, 16][..]), (2, &[4, 8, 16]), (3, &[1, 2, 4, 8, 16, 32])] {
        for width in [1, 2, 4, 8, 16, 32] {
            assert_eq!(
                wmma(version, width),
                if taken.contains(&width) { None } else { bad(width) },
                "version {version}"
            );
        }
        assert_eq!(
            wmma(version, 0),
            Some(E::NotPowerOfTwo { field: EncodingField::KWidth, at: 0, value: 0 })
        );
        assert_eq!(
            wmma(version, 12),
            Some(E::NotPowerOfTwo { field: EncodingField::KWidth, at: 0, value: 12 })
        );
    }
}

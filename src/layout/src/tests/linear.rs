//! Laws of the linear form, on all small matrices and on random larger ones.

use crate::{AxisId, Dims, Error, Hw, Linear, Logical};
use std::vec::Vec;

type Map = Linear<Hw, Logical>;

const D0: AxisId = AxisId::dim(0);
const D1: AxisId = AxisId::dim(1);

/// A small generator, so that runs repeat.
fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

fn dims(list: &[(AxisId, u8)]) -> Dims {
    Dims::from_slice(list).unwrap()
}

fn random_map(state: &mut u64, ins: &[(AxisId, u8)], outs: &[(AxisId, u8)]) -> Map {
    let (ins, outs) = (dims(ins), dims(outs));
    let columns: Vec<u64> = (0..ins.bits()).map(|_| random(state) & outs.mask()).collect();
    Linear::from_columns(ins, outs, &columns).unwrap()
}

fn invertible(state: &mut u64, ins: &[(AxisId, u8)], outs: &[(AxisId, u8)]) -> Map {
    loop {
        let m = random_map(state, ins, outs);
        if m.is_bijective() {
            return m;
        }
    }
}

const REGS: [(AxisId, u8); 3] = [(AxisId::REGISTER, 6), (AxisId::LANE, 5), (AxisId::WARP, 2)];
const TILE: [(AxisId, u8); 2] = [(D0, 7), (D1, 6)];

#[test]
fn apply_is_linear_and_compose_is_composition() {
    let mut s = 1;
    for _ in 0..50 {
        let inner = random_map(&mut s, &REGS, &TILE);
        let outer: Linear<Logical, Hw> =
            random_map(&mut s, &[(D1, 6), (D0, 7)], &[(AxisId::M, 16)]).retype();
        let both = outer.compose(&inner).unwrap();
        let (x, y) = (random(&mut s) & 0x1fff, random(&mut s) & 0x1fff);
        assert_eq!(inner.apply_packed(x ^ y), inner.apply_packed(x) ^ inner.apply_packed(y));
        let v = inner.apply_packed(x);
        let swapped = (v >> 7) | ((v & 0x7f) << 6);
        assert_eq!(both.apply_packed(x), outer.apply_packed(swapped));
    }
}

#[test]
fn inverses() {
    let mut s = 2;
    for _ in 0..50 {
        let m = invertible(&mut s, &REGS, &TILE);
        let back = m.invert().unwrap();
        assert!((0..0x2000).step_by(37).all(|x| back.apply_packed(m.apply_packed(x)) == x));
        let wide = random_map(&mut s, &[(AxisId::REGISTER, 9), (AxisId::LANE, 5)], &[(D0, 6)]);
        if wide.is_surjective() {
            let right = wide.pseudo_invert().unwrap();
            assert!((0..64).all(|y| wide.apply_packed(right.apply_packed(y)) == y));
        }
        let other = invertible(&mut s, &REGS, &TILE);
        let c = m.invert_and_compose(&other).unwrap();
        assert!(
            (0..0x2000)
                .step_by(41)
                .all(|x| other.apply_packed(c.apply_packed(x)) == m.apply_packed(x))
        );
        let same = m.invert_and_compose(&m).unwrap();
        assert!((0..0x2000).step_by(43).all(|x| same.apply_packed(x) == x));
    }
}

#[test]
fn ranks_exhaustively() {
    // All 3x3 matrices: bijective iff all 8 values differ.
    for code in 0..512u64 {
        let columns = [code & 7, (code >> 3) & 7, code >> 6];
        let m: Map = Linear::from_columns(dims(&[(D0, 3)]), dims(&[(D1, 3)]), &columns).unwrap();
        let mut values: Vec<u64> = (0..8).map(|x| m.apply_packed(x)).collect();
        values.sort_unstable();
        values.dedup();
        assert_eq!(values.len(), 1 << m.rank());
        assert_eq!(m.is_bijective(), values.len() == 8);
        assert_eq!(m.invert().is_ok(), values.len() == 8);
        let (free, _) = (m.free_variable_masks()[0].1, 0);
        assert_eq!(free.count_ones(), 3 - u32::from(m.rank()));
    }
}

#[test]
fn product_and_division() {
    let mut s = 3;
    for _ in 0..50 {
        let low =
            random_map(&mut s, &[(AxisId::REGISTER, 2), (AxisId::LANE, 3)], &[(D0, 3), (D1, 2)]);
        let high = random_map(&mut s, &[(AxisId::LANE, 2), (AxisId::WARP, 2)], &[(D1, 3), (D0, 1)]);
        let both = low.product(&high).unwrap();
        assert!(both.divide_left(&low).unwrap().same_map(&high));
        assert!(both.divide_right(&high).unwrap().same_map(&low));
        assert_eq!(both.ins().bits_of(AxisId::LANE), 5);
    }
    let id = Map::identity1d(4, AxisId::LANE, D0).unwrap();
    let part = Map::strided1d(2, 1, AxisId::LANE, D0).unwrap();
    assert_eq!(id.divide_left(&part), Err(Error::NotDivisible { mode: 0, part: 0 }));
}

#[test]
fn shapes() {
    let mut s = 4;
    let m = random_map(&mut s, &REGS, &TILE);
    let turned = m.transpose_ins(&[AxisId::WARP, AxisId::REGISTER, AxisId::LANE]).unwrap();
    let turned = turned.transpose_outs(&[D1, D0]).unwrap();
    assert!(turned.same_map(&m) && turned != m);
    assert_eq!(turned.column_on(AxisId::LANE, 2, D0), m.column_on(AxisId::LANE, 2, D0));
    let flat = m.flatten_ins(D0).unwrap().flatten_outs(D1).unwrap();
    assert_eq!(flat.columns(), m.columns());
    assert_eq!(
        flat.reshape_ins(m.ins().clone()).unwrap().reshape_outs(m.outs().clone()).unwrap(),
        m
    );
    let part = m.sublayout(&[AxisId::LANE], &[D1]).unwrap();
    assert_eq!((part.ins().bits(), part.outs().bits()), (5, 6));
    assert_eq!(part.column(AxisId::LANE, 1), m.column_on(AxisId::LANE, 1, D1));
    let wide = m.resize_in(AxisId::LANE, 6).unwrap();
    assert_eq!(wide.column(AxisId::LANE, 5), Some(0));
    assert_eq!(wide.remove_zero_bases(AxisId::LANE).unwrap(), m);
    assert_eq!(m.resize_out(D0, 9).unwrap().resize_out(D0, 7).unwrap(), m);
    assert!(Map::identity1d(4, D0, D0).unwrap().resize_out(D0, 3).is_err());
    assert_eq!(m.rename_in(AxisId::LANE, AxisId::TX).unwrap().ins().bits_of(AxisId::TX), 5);
}

/// A number of a dimension with its bits at other places is sent where the map sent it before.
#[test]
fn columns_change_places() {
    let id = |bits, from, to| Map::identity1d(bits, from, to).unwrap();
    let m = id(3, AxisId::REGISTER, D1).product(&id(5, AxisId::LANE, D0)).unwrap();
    let order = [2u8, 4, 0, 1, 3];
    let other = m.permute_columns(AxisId::LANE, &order).unwrap();
    for register in 0..8u64 {
        for lane in 0..32u64 {
            let moved = order.iter().zip(0..).map(|(bit, k)| (lane >> k & 1) << *bit).sum::<u64>();
            let (new, old) = (register | lane << 3, register | moved << 3);
            assert_eq!(other.apply_packed(new), m.apply_packed(old), "{register} {lane}");
        }
    }
    let mut inverse = [0u8; 5];
    for (k, bit) in (0..).zip(order) {
        inverse[usize::from(bit)] = k;
    }
    assert_eq!(other.permute_columns(AxisId::LANE, &inverse).unwrap(), m);
    // What is left out is gone, and a bit moves once.
    let fewer = m.permute_columns(AxisId::REGISTER, &[2, 0]).unwrap();
    assert_eq!(
        (fewer.ins().bits_of(AxisId::REGISTER), fewer.column(AxisId::LANE, 0)),
        (2, m.column(AxisId::LANE, 0))
    );
    assert_eq!(fewer.column(AxisId::REGISTER, 0), m.column(AxisId::REGISTER, 2));
    for (order, at, value) in [(&[0u8, 0][..], 1, 0), (&[3], 0, 3), (&[1, 64], 1, 64)] {
        let wrong = Err(crate::Error::BadPermutation { at, value });
        assert_eq!(m.permute_columns(AxisId::REGISTER, order), wrong);
    }
    assert!(m.permute_columns(AxisId::WARP, &[]).is_err());
}

#[test]
fn runs_and_quotients() {
    let id = |bits, from, to| Map::identity1d(bits, from, to).unwrap();
    let m = id(2, AxisId::REGISTER, D0).product(&id(5, AxisId::LANE, D0)).unwrap();
    assert_eq!(m.num_consecutive_in_out(), 4);
    let gap = Map::strided1d(2, 1, AxisId::REGISTER, D0).unwrap();
    assert_eq!(gap.num_consecutive_in_out(), 1);
    let m = id(3, D0, D0).product(&gap.rename_out(D0, D1).unwrap()).unwrap();
    assert_eq!(m.quotient(&[D0]).unwrap().unwrap(), gap.rename_out(D0, D1).unwrap());
    assert_eq!(m.quotient(&[AxisId::REGISTER]).unwrap(), None);
    let broadcast = Map::zeros1d(2, AxisId::WARP, D0, 0).unwrap();
    let all = id(3, AxisId::LANE, D0).product(&broadcast).unwrap();
    assert_eq!(all.free_variable_masks()[1], (AxisId::WARP, 3));
    // A broadcast dimension on both sides maps to itself.
    assert_eq!(all.invert_and_compose(&all).unwrap().column(AxisId::WARP, 1), Some(16));
}

//! The worked examples of seed 004, as `errata.md` rules them (the row is named at each).

use super::{c, show, table};
use crate::error::Error;
use crate::ops::{coalesce, complement, compose, flatten, logical_divide, logical_product};
use crate::{AxisId, Coord, Int, Swizzle, Unit};
use std::vec::Vec;

fn composed(a: &str, b: &str) -> Result<std::string::String, Error> {
    compose(&c(a).view(), &c(b).view()).map(|l| show(&l))
}

#[test]
fn composition() {
    // Rows 1, 2, 4, 5.
    assert_eq!(composed("8:2", "4:1").unwrap(), "4:2");
    assert_eq!(composed("4:1", "8:2").unwrap(), "8:2");
    assert_eq!(composed("(4,2):(2,1)", "(2,4):(1,2)").unwrap(), "(2,(2,2)):(2,(4,1))");
    assert_eq!(composed("(4,2):(1,4)", "(2,2):(1,2)").unwrap(), "(2,2):(1,2)");
}

#[test]
fn composition_is_refused_where_the_peer_is_wrong() {
    // Row 3: a carry, and a stride that does not divide.
    assert_eq!(
        composed("(6,2):(1,7)", "(3,2):(2,3)"),
        Err(Error::Carry { mode: 0, reach: 7, extent: 6 })
    );
    let refused = composed("(4,6,8):(2,3,5)", "6:3");
    assert_eq!(refused, Err(Error::StrideDivisibility { leaf: 0, stride: 3, extent: 4 }));
}

#[test]
fn integer_coordinates_on_tuple_modes() {
    // Row 6.
    let (l, mut out) = (c("((2,2),4):((1,8),2)"), Coord::new());
    l.view().apply(&[3, 1], &mut out).unwrap();
    assert_eq!(out.get(AxisId::M), 11);
    assert_eq!(c("(2,4):(4,1)").view().offset_on(5, AxisId::M), Ok(6));
}

#[test]
fn coalescing() {
    // Rows 11, 12, 13.
    let spelled = |t: &str| show(&coalesce(&c(t).view()).unwrap());
    assert_eq!(spelled("(2,4):(4,1)"), "(2,4):(4,1)");
    assert_eq!(spelled("(4,2):(1,4)"), "8:1");
    assert_eq!(spelled("(2,4):(8,1)"), "(2,4):(8,1)");
    assert_eq!(spelled("(2,(1,6)):(1,(6,2))"), "12:1");
    assert_eq!(spelled("(1,1):(3,5)"), "1:0");
    assert_eq!(show(&flatten(&c("((2,2),4):((1,2),4)").view()).unwrap()), "(2,2,4):(1,2,4)");
    assert_eq!(show(&flatten(&c("4:1").view()).unwrap()), "4:1");
}

#[test]
fn complements() {
    // Rows 14, 15, 16.
    let spelled = |t: &str, m: i64| complement(&c(t).view(), Int::known(m)).map(|l| show(&l));
    assert_eq!(spelled("4:32", 256).unwrap(), "(32,2):(1,128)");
    assert_eq!(spelled("4:32", 128).unwrap(), "32:1");
    assert_eq!(spelled("4:1", 6).unwrap(), "2:4");
    // Padded tiles, as CuTe's own tests have them.
    assert_eq!(spelled("(4,8):(9,1)", 64).unwrap(), "2:36");
    assert_eq!(spelled("(2,4):(1,5)", 100).unwrap(), "(2,5):(2,20)");
    assert_eq!(spelled("(3,2):(2,3)", 64), Err(Error::Interleaved { iter: 1, stride: 3, unit: 6 }));
    assert_eq!(
        spelled("(4,4):(1,2)", 32),
        Err(Error::NotInjective { iter: 1, stride: 2, unit: 4 })
    );
}

#[test]
fn divides_and_products() {
    let divided = |a: &str, t: &str| show(&logical_divide(&c(a).view(), &c(t).view()).unwrap());
    let repeated = |a: &str, b: &str| show(&logical_product(&c(a).view(), &c(b).view()).unwrap());
    // Rows 17 to 21.
    assert_eq!(divided("8:2", "2:1"), "(2,4):(2,4)");
    assert_eq!(divided("128:1", "32:1"), "(32,4):(1,32)");
    assert_eq!(repeated("128:1", "4:32"), "(128,4):(1,4096)");
    assert_eq!(repeated("128:1", "4:1"), "(128,4):(1,128)");
    assert_eq!(repeated("(2,2):(2,1)", "(3,4):(4,1)"), "((2,2),(3,4)):((2,1),(16,4))");
}

#[test]
fn the_hardware_swizzle() {
    // Rows 22 to 27: the printed formula is wrong; fields are [M+S, M+S+B) into [M, M+B).
    let sw = Swizzle::new(3, 4, 3, Unit::Byte).unwrap();
    let moved: Vec<u64> =
        [0x18, 0x20, 0x40, 0x80, 0x100, 0x380].iter().map(|x| sw.apply(*x)).collect();
    assert_eq!(moved, [0x18, 0x20, 0x40, 0x90, 0x120, 0x3f0]);
    let column: Vec<u64> = (0..8).map(|row| sw.apply(128 * row) / 4 % 32).collect();
    assert_eq!(column, [0, 4, 8, 12, 16, 20, 24, 28]);
    for (b, m, s) in [(1, 4, 3), (2, 4, 3), (3, 4, 3), (2, 5, 2), (3, 4, -3)] {
        let sw = Swizzle::new(b, m, s, Unit::Byte).unwrap();
        assert!((0..4096).all(|x| sw.apply(sw.apply(x)) == x));
    }
    assert_eq!(Swizzle::new(3, 4, 2, Unit::Byte), Err(Error::BadSwizzle { b: 3, m: 4, s: 2 }));
    // Row 30: recasting 16-bit elements to bytes.
    let elements = Swizzle::new(3, 3, 3, Unit::Element).unwrap();
    assert_eq!(elements.rescaled(1, Unit::Byte), Ok(sw));
}

#[test]
fn cosize_is_the_image() {
    // Rows 27 and 31.
    assert_eq!(c("S<3,0,3> o 0 o (3,3):(9,1)").view().cosize(AxisId::M), Ok(23));
    assert_eq!(c("(2,3):(-1,2)").view().cosize(AxisId::M), Ok(5));
    assert_eq!(c("8:2").view().cosize(AxisId::M), Ok(15));
    let l = c("S<3,0,3> o 0 o (3,3):(9,1)");
    assert_eq!(table(&l.view()).iter().max(), Some(&22));
    assert_eq!(l.view().cosize_bound(AxisId::M), Ok(64));
    // Two modes that alias (001 row 9) and one that does not.
    assert_eq!(c("(16,(8,2)):(1,(16,8))").view().is_injective(), Ok(false));
    assert_eq!(c("(16,(8,2)):(1,(16,128))").view().is_injective(), Ok(true));
}

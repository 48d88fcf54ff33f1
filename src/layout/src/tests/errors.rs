//! Each refusal is reached, with its numbers.

use super::{c, t};
use crate::error::{Error, Limit};
use crate::ops::{
    complement, compose, divide, inverse, logical_divide_by_mode, right_inverse, tuple,
};
use crate::{
    AxisId, Coord, Dims, Hw, Int, Iter, Layout, LayoutRef, Linear, Logical, Pad, Padding, PostMap,
    Profile, Swizzle, Unit,
};

#[test]
fn coordinates() {
    let (l, mut out) = (c("(2,(3,4)):(1,(2,6))"), Coord::new());
    let range = |mode, coord, extent| Err(Error::OutOfRange { mode, coord, extent });
    assert_eq!(l.view().apply_flat(24, &mut out), range(0, 24, 24));
    assert_eq!(l.view().apply(&[1, 12], &mut out), range(1, 12, 12));
    assert_eq!(l.view().apply(&[1], &mut out), Err(Error::Rank { expected: 2, found: 1 }));
    assert_eq!(l.view().offset_on(24, AxisId::M), range(0, 24, 24).map(|()| 0));
    let far = c("(2,2):(9223372036854775807,9223372036854775807)");
    assert_eq!(far.view().offset_on(3, AxisId::M), Err(Error::Overflow));
    let below = c("S<1,0,1> o 0 o 4:-1");
    assert_eq!(below.view().offset_on(1, AxisId::M), Err(Error::NegativeOffset { offset: -1 }));
}

#[test]
fn literals_are_checked() {
    let zero = [Iter::new(0, 1, AxisId::M)];
    assert_eq!(LayoutRef::new(&zero).check(), Err(Error::BadExtent { iter: 0 }));
    let one = [Iter::new(4, 1, AxisId::M)];
    for tokens in [&[1u8, 0][..], &[0, 0], &[2], &[1, 2], &[0, 7]] {
        let l = LayoutRef { profile: Profile::from_tokens(tokens), ..LayoutRef::new(&one) };
        assert!(matches!(l.check(), Err(Error::BadProfile { .. })), "{tokens:?}");
        // Still no panic and no endless loop.
        let _ = (l.rank(), l.apply(&[0], &mut Coord::new()), compose(&l, &l), l.to_owned());
    }
    let bad = Swizzle { b: 255, m: 255, s: -128, unit: Unit::Byte };
    let l = LayoutRef { post: PostMap::Swizzle(bad), ..LayoutRef::new(&one) };
    assert_eq!(l.check(), Err(Error::BadSwizzle { b: 255, m: 255, s: -128 }));
    let _ = (l.offset_on(1, AxisId::M), l.cosize(AxisId::M), l.cosize_bound(AxisId::M));
    let pads = [Pad { interval: 0, pad: 1 }];
    assert_eq!(Padding::new(&pads, Unit::Byte), Err(Error::BadPadding { pair: 0 }));
    let full = Err(Error::Capacity { limit: Limit::Pads, max: 4 });
    assert_eq!(Padding::new(&[Pad { interval: 1, pad: 1 }; 5], Unit::Byte), full);
}

#[test]
fn padding_adds_from_the_same_position() {
    let pads = [Pad { interval: 4, pad: 1 }, Pad { interval: 6, pad: 2 }];
    let mut l = c("24:1");
    l.set_post(PostMap::Padding(Padding::new(&pads, Unit::Element).unwrap())).unwrap();
    for x in 0..24u64 {
        assert_eq!(l.view().offset_on(x, AxisId::M), Ok((x + x / 4 + x / 6 * 2) as i64));
    }
    assert_eq!(l.view().cosize(AxisId::M), Ok(23 + 5 + 6 + 1));
}

#[test]
fn operations() {
    let axis = AxisId::LANE;
    assert_eq!(
        compose(&c("4:1").view(), &t("S[4:1@laneid]").view()),
        Err(Error::WrongAxis { iter: 0, axis })
    );
    assert_eq!(compose(&c("4:1").view(), &t("S[4] + R[2:4]").view()), Err(Error::HasReplica));
    let moved = t("S[4] + 1@laneid");
    assert_eq!(compose(&c("4:1").view(), &moved.view()), Err(Error::HasOffset { axis }));
    let mut padded = c("4:1");
    let pads = Padding::new(&[Pad { interval: 2, pad: 1 }], Unit::Codomain).unwrap();
    padded.set_post(PostMap::Padding(pads)).unwrap();
    assert_eq!(compose(&c("4:1").view(), &padded.view()), Err(Error::HasPostMap));
    let bytes = Swizzle::new(1, 0, 1, Unit::Byte).unwrap();
    padded.set_post(PostMap::Swizzle(bytes)).unwrap();
    assert_eq!(
        compose(&c("S<1,0,1> o 0 o 4:1").view(), &padded.view()),
        Err(Error::HasPostMap),
        "units differ"
    );
    let mut below = c("(4,2):(-1,1)");
    below.add_offset(Int::known(2), AxisId::M).unwrap();
    let left = Err(Error::NegativeOffset { offset: -1 });
    assert_eq!(compose(&c("(2,2):(1,4)").view(), &below.view()), left);
    let negative = Err(Error::NegativeStride { iter: 0, stride: -1 });
    assert_eq!(compose(&c("(2,2):(1,4)").view(), &c("(4,2):(-1,1)").view()), negative);
    // Up and down in one mode is one step: -4i + j of 8:4.
    let within = compose(&c("(8,4):(4,1)").view(), &c("(2,2):(-4,1)").view());
    assert_eq!(within.map(|l| super::show(&l)), Ok("(2,2):(-16,4)".into()));
    let extent = Err(Error::ExtentDivisibility { leaf: 0, extent: 6, run: 4 });
    assert_eq!(compose(&c("(4,2):(1,8)").view(), &c("6:1").view()), extent);
    assert_eq!(complement(&c("4:-1").view(), Int::known(8)), negative);
    assert_eq!(right_inverse(&c("(3,3):(1,3)").view()).map(|l| super::show(&l)), Ok("9:1".into()));
    let hole = inverse(&c("4:2").view());
    assert_eq!(hole, Err(Error::NotSurjective { axis: AxisId::M, stride: 2, expected: 1 }));
    assert_eq!(
        inverse(&c("(2,2):(1,0)").view()),
        Err(Error::NotInjective { iter: 1, stride: 0, unit: 1 })
    );
    let fault = Err(Error::NotDivisible { mode: 0, part: 0 });
    assert_eq!(divide(&c("8:1").view(), &c("2:2").view()), fault);
    let tiles = [c("2:1"), c("2:1")];
    let by_mode = logical_divide_by_mode(&c("8:1").view(), &[tiles[0].view(), tiles[1].view()]);
    assert_eq!(by_mode, Err(Error::Rank { expected: 1, found: 2 }));
    let wide = c("(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1):(0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0)");
    let three = [wide.view(), wide.view(), wide.view()];
    assert_eq!(tuple(&three), Err(Error::Capacity { limit: Limit::Iters, max: 32 }));
    let mut l = Layout::new();
    for k in 0..8 {
        l.add_offset(Int::ONE, AxisId(k)).unwrap();
    }
    let full = Err(Error::Capacity { limit: Limit::Offsets, max: 8 });
    assert_eq!(l.add_offset(Int::ONE, AxisId(8)), full);
}

#[test]
fn linear_errors() {
    let axis = AxisId::LANE;
    assert_eq!(Dims::from_slice(&[(axis, 1), (axis, 1)]), Err(Error::NoDim { axis }));
    assert_eq!(Dims::one(axis, 65), Err(Error::Capacity { limit: Limit::Bits, max: 64 }));
    let m: Linear<Hw, Logical> = Linear::identity1d(3, axis, AxisId::dim(0)).unwrap();
    assert!(m.column(axis, 3).is_none() && m.column(AxisId::WARP, 0).is_none());
    let out = &mut Coord::new();
    assert_eq!(m.apply(&[(axis, 8)], out), Err(Error::OutOfRange { mode: 0, coord: 8, extent: 8 }));
    assert_eq!(m.apply(&[(AxisId::WARP, 0)], out), Err(Error::NoDim { axis: AxisId::WARP }));
    let flat: Linear<Hw, Logical> = Linear::zeros1d(3, axis, AxisId::dim(0), 3).unwrap();
    assert_eq!(flat.invert(), Err(Error::NotInvertible { inputs: 3, outputs: 3, rank: 0 }));
    assert_eq!(flat.pseudo_invert(), Err(Error::NoSolution { column: 1, bit: 0 }));
    assert_eq!(m.invert_and_compose(&flat), Err(Error::NoSolution { column: 1, bit: 0 }));
    let full: Linear<Hw, Logical> = Linear::identity1d(64, axis, AxisId::dim(0)).unwrap();
    assert_eq!(full.invert().map(|m| m.apply_packed(u64::MAX)), Ok(u64::MAX));
    assert!(full.product(&m).is_err());
}

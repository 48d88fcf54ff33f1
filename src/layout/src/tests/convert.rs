//! Both forms agree wherever both exist, and the refusals say why.

use super::{c, family, show, t, table};
use crate::convert::{to_affine, to_hw_linear, to_linear, to_strided};
use crate::error::{Error, NotLinear, NotStrided};
use crate::{AxisId, Coord, Dims, Linear, Logical};

#[test]
fn strided_and_linear_agree_exactly_when_both_exist() {
    for a in family(3, 4, &[0, 1, 2, 3, 4, 5, 8]) {
        let image = table(&a.view());
        let powers = a.view().shard.iter().all(|it| it.extent().coeff().count_ones() == 1);
        let xors = powers
            && (0..image.len()).all(|x| {
                (0..usize::BITS).filter(|k| x >> k & 1 == 1).fold(0, |sum, k| sum ^ image[1 << k])
                    == image[x]
            });
        match to_linear(&a.view()) {
            Ok(m) => {
                assert!(
                    (0..image.len()).all(|x| m.apply_packed(x as u64) as i64 == image[x]),
                    "{}",
                    show(&a)
                );
                let back = to_strided(&m).unwrap();
                assert_eq!(table(&back.view()), image);
            }
            Err(Error::NotLinear { .. }) => assert!(!xors, "{}", show(&a)),
            Err(e) => panic!("{e:?}"),
        }
    }
}

#[test]
fn refusals_name_the_iter() {
    let why = |text: &str| match to_linear(&t(text).view()) {
        Err(Error::NotLinear { iter, why, .. }) => (iter, why),
        other => panic!("{other:?}"),
    };
    assert_eq!(why("S[(4,4):(2,1)]"), (1, NotLinear::Carry));
    assert_eq!(why("S[(3,4):(4,1)]"), (1, NotLinear::Extent));
    assert_eq!(why("S[4:-1]"), (0, NotLinear::NegativeStride));
    assert_eq!(why("S[4:1] + R[2:4]"), (1, NotLinear::Replica));
    assert_eq!(why("S[4:1] + 8").1, NotLinear::Offset);
    let affine = to_affine(&t("S[4:1] + R[2:4] + 8").view()).unwrap();
    assert_eq!((affine.offset, affine.linear.column(AxisId::REPLICA, 0)), (8, Some(4)));
}

#[test]
fn hardware_to_logical_with_replicas() {
    let l = t("S[(8,4):(4@laneid,1@laneid)] + R[2:1@warpid]");
    let m = to_hw_linear(&l.view()).unwrap();
    assert_eq!(m.column(AxisId::WARP, 0), Some(0));
    let mut out = Coord::new();
    for x in 0..32u64 {
        l.view().apply_flat(x, &mut out).unwrap();
        let lane = out.get(AxisId::LANE) as u64;
        m.apply(&[(AxisId::LANE, lane), (AxisId::WARP, 1)], &mut out).unwrap();
        let (fast, slow) = (out.get(AxisId::dim(0)), out.get(AxisId::dim(1)));
        assert_eq!((fast + 4 * slow) as u64, x);
    }
    let hole = to_hw_linear(&t("S[4:2]").view());
    assert!(matches!(hole, Err(Error::NotLinear { why: NotLinear::Hole, .. })));
}

#[test]
fn swizzles_survive_the_round_trip() {
    for text in [
        "S<3,4,3> o 0 o (128,8):(1,128)",
        "S<2,4,-3> o 0 o (64,16):(1,64)",
        "S<3,3,3> o 0 o (64,8):(1,64)",
    ] {
        let l = c(text);
        let m = to_linear(&l.view()).unwrap();
        let back = to_strided(&m).unwrap();
        assert_eq!(show(&back), text);
        assert_eq!(table(&back.view()), table(&l.view()));
    }
}

#[test]
fn not_strided() {
    let ins = Dims::one(AxisId::dim(0), 2).unwrap();
    let outs = Dims::from_slice(&[(AxisId::LANE, 2), (AxisId::M, 2)]).unwrap();
    let two: Linear<Logical, crate::Hw> =
        Linear::from_columns(ins.clone(), outs.clone(), &[0b0101, 2]).unwrap();
    let why = |m: &Linear<Logical, crate::Hw>| match to_strided(m) {
        Err(Error::NotStrided { bit, why, .. }) => (bit, why),
        other => panic!("{other:?}"),
    };
    assert_eq!(why(&two), (0, NotStrided::TwoAxes));
    let shared = Linear::from_columns(ins, outs, &[0b0001, 0b0011]).unwrap();
    assert_eq!(why(&shared), (1, NotStrided::SharedBit));
}

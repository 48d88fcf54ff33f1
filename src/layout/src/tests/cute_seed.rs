//! The worked examples of seed 004 beyond composition, complement and swizzles (`seed_cute`), as
//! `errata.md` rules them, and the peer's examples that its rows quote.

use super::{c, show, table};
use crate::cute::{self, IntTuple, Rounding, Tiler};
use crate::error::Error;
use crate::notation::cute::{parse_tuple, print_tuple};
use crate::ops::{coalesce, flatten};
use crate::{Int, Layout, NoSyms};
use std::string::String;
use std::vec::Vec;

fn t(text: &str) -> IntTuple {
    parse_tuple(text, &mut NoSyms).unwrap_or_else(|e| panic!("{text}: {e:?}"))
}

fn spell(t: &IntTuple) -> String {
    let mut out = String::new();
    print_tuple(t.view(), &NoSyms, &mut out).expect("printable");
    out
}

fn ok(l: crate::Result<Layout>) -> String {
    show(&l.expect("an answer"))
}

#[test]
fn the_layout_model() {
    // "For a flat two-dimensional row-major tile", and column-major.
    for (text, rows) in [("(2,2):(2,1)", [0, 1, 2, 3]), ("(2,2):(1,2)", [0, 2, 1, 3])] {
        let l = c(text);
        for (k, expected) in rows.into_iter().enumerate() {
            let coord = IntTuple::flat(&[(k / 2) as i64, (k % 2) as i64]).unwrap();
            assert_eq!(cute::crd2idx(coord.view(), &l.view()), Ok(Int::known(expected)));
        }
    }
}

#[test]
fn coordinates_split_where_the_tree_goes_on() {
    // Row 6.
    let l = c("((2,2),4):((1,8),2)");
    let at = |coord: &str| cute::crd2idx(t(coord).view(), &l.view());
    assert_eq!(at("(3,1)"), Ok(Int::known(11)));
    assert_eq!(at("((1,1),1)"), Ok(Int::known(11)));
    assert_eq!(at("7"), Ok(Int::known(11)));
    assert_eq!(cute::crd2idx(t("5").view(), &c("(2,4):(4,1)").view()), Ok(Int::known(6)));
    assert_eq!(at("(1,1,1)"), Err(Error::NotCongruent { node: 3 }));
    assert_eq!(at("((1,(1,1)),1)"), Err(Error::NotCongruent { node: 3 }));
    assert_eq!(at("(-1,1)"), Err(Error::BadCoord { leaf: 0, value: -1 }));
    assert_eq!(at("(_,1)"), Err(Error::BadCoord { leaf: 0, value: 0 }));
    // Beyond the shape, the last leaf runs on.
    let far = cute::idx2crd(Int::known(13), t("(2,4)").view()).unwrap();
    assert_eq!(spell(&far), "(1,6)");
    let other =
        cute::crd2crd(t("(1,3)").view(), t("((2,2),2)").view(), Some(t("(2,4)").view())).unwrap();
    assert_eq!(spell(&other), "((1,1),1)");
    assert_eq!(
        cute::crd2crd(t("22").view(), t("12").view(), None),
        Err(Error::OutOfRange { mode: 0, coord: 22, extent: 12 })
    );
}

#[test]
fn dividing_shapes() {
    // Row 7.
    let div = |a: &str, b: &str| cute::shape_div(t(a).view(), t(b).view()).map(|s| spell(&s));
    assert_eq!(div("(4,6)", "8").unwrap(), "(1,3)");
    assert_eq!(div("8", "(2,24)").unwrap(), "1");
    assert_eq!(div("((4,2),6)", "((2,2),(3,2))").unwrap(), "((2,1),1)");
    assert_eq!(div("7", "2"), Err(Error::ShapeDivisibility { leaf: 0, extent: 7, divisor: 2 }));
    assert!(div("(2,2)", "3").is_err());
    // Zero is a multiple of everything, and divides nothing.
    assert_eq!(div("7", "0"), Err(Error::ShapeDivisibility { leaf: 0, extent: 7, divisor: 0 }));
    assert_eq!(div("(4,6)", "0"), Err(Error::ShapeDivisibility { leaf: 0, extent: 4, divisor: 0 }));
    assert_eq!(
        div("(4,6)", "(2,0)"),
        Err(Error::ShapeDivisibility { leaf: 1, extent: 6, divisor: 0 })
    );
    assert_eq!(div("4", "-2"), Err(Error::ShapeDivisibility { leaf: 0, extent: 4, divisor: -2 }));
    let up = |a: &str, b: &str| cute::ceil_div(t(a).view(), t(b).view()).map(|s| spell(&s));
    assert_eq!(up("(7,9)", "(2,4)").unwrap(), "(4,3)");
    assert_eq!(up("((32,2),(4,2),1)", "((8,1))").unwrap(), "((4,2),(4,2),1)");
    assert_eq!(up("(5,(4,1))", "8").unwrap(), "3");
    assert!(up("8", "(2,24)").is_err());
    // The seed's element-wise division, by rounding mode.
    let each =
        |a: &str, by: i64, how| cute::div_each(t(a).view(), Int::known(by), how).map(|s| spell(&s));
    assert_eq!(each("(4,6)", 4, Rounding::Ceil).unwrap(), "(1,2)");
    assert_eq!(each("(4,6)", 4, Rounding::Floor).unwrap(), "(1,1)");
    assert_eq!(each("(4,8)", 4, Rounding::Exact).unwrap(), "(1,2)");
    assert!(each("(4,6)", 4, Rounding::Exact).is_err());
    assert!(each("(2,6)", 4, Rounding::Floor).is_err());
    // Row 8: no overflow on the way.
    let big = i64::MAX;
    let far = cute::ceil_div(IntTuple::leaf(big).unwrap().view(), t("2").view()).unwrap();
    assert_eq!(far.view().as_leaf(), Some(Int::known(big / 2 + 1)));
    assert!(each("7", -2, Rounding::Ceil).is_err());
}

#[test]
fn filters() {
    // Rows 9 and 10.
    assert_eq!(ok(cute::filter_zeros(&c("(4,3):(1,0)").view())), "(4,1):(1,0)");
    assert_eq!(ok(cute::filter_zeros(&c("((2,3),4):((0,1),3)").view())), "((1,3),4):((0,1),3)");
    assert_eq!(ok(cute::filter(&c("(4,3):(1,0)").view())), "4:1");
    let once = cute::filter(&c("(4,3):(1,0)").view()).unwrap();
    assert_eq!(cute::filter(&once.view()), Ok(once.clone()));
    assert_eq!(
        cute::equivalent(&once.view(), &c("(4,3):(1,0)").view()),
        Ok(false),
        "the domain has changed"
    );
}

#[test]
fn grouping() {
    let grouped = cute::group_modes(&c("(2,3,4):(1,2,6)").view(), 0, 2);
    assert_eq!(ok(grouped), "((2,3),4):((1,2),6)");
    let bad = |b, e| cute::group_modes(&c("(2,3,4):(1,2,6)").view(), b, e);
    assert_eq!(bad(2, 2), Err(Error::NoMode { mode: 2, rank: 3 }));
    assert_eq!(bad(3, 4), Err(Error::NoMode { mode: 3, rank: 3 }));
    assert_eq!(bad(0, 4), Err(Error::NoMode { mode: 4, rank: 3 }));
    assert_eq!(ok(cute::select(&c("(2,3,4):(1,2,6)").view(), &[2, 0])), "(4,2):(6,1)");
    assert_eq!(ok(coalesce(&c("(2,4):(4,1)").view())), "(2,4):(4,1)");
    assert_eq!(ok(flatten(&c("((2,2),4):((1,2),4)").view())), "(2,2,4):(1,2,4)");
    let by = cute::coalesce_by_profile(&c("(8,(2,8),3):(16,(1,2),9)").view(), t("(1,1)").view());
    assert_eq!(ok(by), "(8,16,3):(16,1,9)");
}

#[test]
fn products_and_divides() {
    // Rows 17 to 21.
    let (a, b) = (c("(2,2):(2,1)"), c("(3,4):(4,1)"));
    let tiler = Tiler::Layout(b.view());
    assert_eq!(ok(cute::logical_product(&a.view(), &tiler)), "((2,2),(3,4)):((2,1),(16,4))");
    assert_eq!(ok(cute::blocked_product(&a.view(), &b.view())), "((2,3),(2,4)):((2,16),(1,4))");
    assert_eq!(ok(cute::raked_product(&a.view(), &b.view())), "((3,2),(4,2)):((16,2),(4,1))");
    let whole = c("(12,5):(1,12)");
    let shape = t("(8,2)");
    let by = Tiler::Shape(shape.view());
    assert_eq!(ok(cute::logical_divide(&whole.view(), &by)), "((8,2),(2,3)):((1,8),(12,24))");
    assert_eq!(ok(cute::zipped_divide(&whole.view(), &by)), "((8,2),(2,3)):((1,12),(8,24))");
    assert_eq!(ok(cute::tiled_divide(&whole.view(), &by)), "((8,2),2,3):((1,12),8,24)");
    assert_eq!(ok(cute::flat_divide(&whole.view(), &by)), "(8,2,2,3):(1,12,8,24)");
    let tiles = [c("4:1"), c("2:1")];
    let views: Vec<_> = tiles.iter().map(Layout::view).collect();
    let picked = cute::composition(&c("(8,8,3):(1,25,7)").view(), &Tiler::Modes(&views));
    assert_eq!(ok(picked), "(4,2):(1,25)");
}

#[test]
fn slicing() {
    let l = c("((2),(6,2),(12,1)):((1),(2,12),(24,288))");
    let coord = t("(_,(5,_),11)");
    let (part, offset) = cute::slice_and_offset(coord.view(), &l.view()).unwrap();
    assert_eq!((show(&part).as_str(), offset), ("((2),2):((1),12)", Int::known(274)));
    assert_eq!(ok(cute::dice(coord.view(), &l.view())), "(6,(12,1)):(2,(24,288))");
    // A swizzled slice keeps its place: no peer does this right.
    let swizzled = c("S<2,4,3> o 100 o (4,2,(2,4)):(128,4,(128,2))");
    let part = cute::slice(t("(_,1,3)").view(), &swizzled.view()).unwrap();
    let whole = table(&swizzled.view());
    let expected: Vec<i64> = (0..4).map(|k| whole[k + 4 + 8 * 3]).collect();
    assert_eq!(table(&part.view()), expected);
}

#[test]
fn recasting() {
    // Row 30.
    let l = c("S<3,3,3> o 64 o (8,64):(64,1)");
    assert_eq!(ok(cute::recast(&l.view(), 8, 16)), "S<3,4,3> o 128 o (8,128):(128,1)");
    assert_eq!(ok(cute::recast(&c("(10,5):(10,1)").view(), 32, 16)), "(10,3):(5,1)");
    assert_eq!(ok(cute::recast(&c("24:1").view(), 6, 8)), "32:1");
    assert_eq!(
        cute::recast(&c("4:4").view(), 6, 8),
        Err(Error::Recast { iter: 0, value: 4, num: 3, den: 4 })
    );
    let low = cute::recast(&c("S<3,2,3> o 8 o (8,32):(32,1)").view(), 128, 16);
    assert!(matches!(low, Err(Error::BadSwizzle { .. })));
    assert!(cute::recast(&c("8:1").view(), 0, 8).is_err());
    assert!(cute::recast(&c("8:1").view(), 8, 0).is_err());
    assert!(cute::recast(&c("8:1@0").view(), 8, 16).is_err());
}

#[test]
fn made_from_shapes() {
    assert_eq!(ok(cute::make_layout(t("((2,1),4)").view())), "((2,1),4):((1,0),2)");
    let ordered = cute::make_ordered_layout(t("(5,8,8)").view(), t("(1,2,0)").view());
    assert_eq!(ok(ordered), "(5,8,8):(8,40,1)");
    assert_eq!(ok(cute::make_layout_like(&c("(4,3,2):(3,0,24)").view())), "(4,3,2):(1,0,4)");
    assert_eq!(
        ok(cute::make_identity_layout(t("((2,3),4)").view())),
        "((2,3),4):((1@0@0,1@1@0),1@1)"
    );
    assert!(cute::make_identity_layout(t("((((2))))").view()).is_err());
    let tv = cute::make_layout_tv(&c("(4,8):(1,4)").view(), &c("(2,2):(2,1)").view()).unwrap();
    assert_eq!(
        (spell(&tv.tiler).as_str(), show(&tv.layout).as_str()),
        ("(8,16)", "((4,8),(2,2)):((2,16),(8,1))")
    );
    let tiled =
        cute::tile_to_shape(&c("(8,8):(1,8)").view(), t("(16,25)").view(), t("(0,1)").view());
    assert_eq!(ok(tiled), "((8,2),(8,4)):((1,64),(8,128))");
}

#[test]
fn bases() {
    let l = c("(2,(5,1),10):(1@0,(1@0@1,1@1@1),1@2)");
    assert_eq!(spell(&cute::coordinate(&l.view(), 13).unwrap()), "(1,(1,0),1)");
    assert_eq!(ok(cute::left_inverse(&l.view())), "(2,(5,1),10):(1,(2,0),10)");
    assert_eq!(cute::cosize(&c("(12,2):(4@2,1@1)").view()), Ok(90));
    assert_eq!(
        cute::coordinate(&c("(2,2):(1@0,1@1@0)").view(), 0),
        Err(Error::NestedAxes { axis: crate::AxisId::basis(0).unwrap() })
    );
    let picked = cute::composition(
        &c("((6),(2,3),1):((1),(6,12),36)").view(),
        &Tiler::Layout(c("(12,4):(1@0,1@1)").view()),
    );
    assert_eq!(ok(picked), "(12,4):(1,6)");
    let none = cute::composition(&c("4:1").view(), &Tiler::Layout(c("(2,2):(1@0,1@1)").view()));
    assert_eq!(none, Err(Error::NoMode { mode: 1, rank: 1 }));
    assert_eq!(ok(cute::nullspace(&c("(4,3):(1,0)").view())), "3:4");
    assert_eq!(ok(cute::nullspace(&c("8:1").view())), "1:0");
    let pair = (c("(5,2,10):(0,5,10)"), c("((4,4),5):((20,1),4)"));
    assert_eq!(cute::max_common_vector(&pair.0.view(), &pair.1.view()), Ok(Int::ONE));
}

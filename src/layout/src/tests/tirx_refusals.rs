//! What TIRx's notation and operations refuse, each with its place and numbers; and random texts.

use super::{show_tirx, t};
use crate::error::Error;
use crate::notation::{Expected, ParseError, tirx as text};
use crate::{AxisId, Layout, NoSyms, PostMap, Unit, WellKnown, tirx};
use std::string::String;

#[test]
fn text_is_refused_where_it_stands() {
    let on = AxisId::LANE;
    for (text, col, expected) in [
        ("S[4] + S[3]", 8, Expected::OneShard),
        ("R[4] + R[3]", 8, Expected::OneReplica),
        ("S[(8,4):(1,)]", 12, Expected::Number),
        ("S[(8,4):(1,2,3)]", 14, Expected::CloseParen),
        ("S[0]", 3, Expected::PositiveExtent),
        ("S[(8,4):('laneid,1)]", 17, Expected::CloseQuote),
        ("S[8:(2,'laneid')]", 8, Expected::CloseParen),
        ("S[(8):((2,'laneid'),)] x", 24, Expected::End),
        ("S[8:'nosuch']", 6, Expected::KnownAxis),
        ("3 + 4", 1, Expected::Shard),
        ("TileLayout S[4]", 12, Expected::OpenParen),
        ("TileLayout(S[4]", 16, Expected::CloseParen),
        ("SwizzleLayout(3,3,2)", 15, Expected::ValidSwizzle),
        ("SwizzleLayout(3,3,3,maybe)", 21, Expected::Boolean),
        ("SwizzleLayout(per_element 3,3,3)", 27, Expected::Equals),
        ("SwizzleLayout(30,3,3)", 15, Expected::SmallerNumber),
        ("ComposeLayout(3,3,3)", 20, Expected::Comma),
        (
            "ComposeLayout(3,3,3,S[4:1@laneid])",
            21,
            Expected::Fits(Error::WrongAxis { iter: 0, axis: on }),
        ),
    ] {
        let found = text::parse(text, &WellKnown, &mut NoSyms);
        let wanted = ParseError { line: 1, col, expected };
        assert_eq!(found, Err(wanted), "{text}");
    }
}

#[test]
fn operations_refuse() {
    let l = t("S[(4,6):(6,1)]");
    let view = l.view();
    let group = |dim, iter, extent| Err(Error::CannotGroup { dim, iter, extent });
    assert_eq!(tirx::group(&view, &[3, 8]).map(|_| ()), group(0, 1, 3));
    assert_eq!(tirx::group(&view, &[4, 6, 2]).map(|_| ()), group(2, 2, 2));
    assert_eq!(tirx::group(&view, &[4]).map(|_| ()), group(1, 1, 1));
    assert_eq!(tirx::group_many(&view, &[&[24], &[23]]).map(|_| ()), group(1, 1, 0));
    let many: [&[u32]; 5] = [&[24]; 5];
    assert!(matches!(tirx::group_many(&view, &many), Err(Error::Capacity { .. })));
    assert!(matches!(tirx::group_many(&view, &[]), Err(Error::Rank { .. })));
    let slice = |region| tirx::slice(&view, &[24], &[region]).map(|_| ());
    assert_eq!(slice((20, 25)), Err(Error::OutOfRange { mode: 0, coord: 24, extent: 24 }));
    assert_eq!(slice((4, 4)), Err(Error::CannotSlice { dim: 0, begin: 4, end: 4 }));
    let permutation = |perm: &[u8]| tirx::permute_dims(&view, perm).map(|_| ());
    assert_eq!(permutation(&[1, 1]), Err(Error::BadPermutation { at: 1, value: 1 }));
    assert_eq!(permutation(&[0, 2]), Err(Error::BadPermutation { at: 1, value: 2 }));
    assert!(matches!(permutation(&[0]), Err(Error::Rank { .. })));
    let groups = tirx::permute_by_groups(&view, &[0, 1, 3], &[0, 1]);
    assert_eq!(groups, Err(Error::BadPermutation { at: 2, value: 3 }));
    let pack = |l: &Layout, n| tirx::pack(&l.view(), n, AxisId::M);
    assert_eq!(pack(&l, 4), Err(Error::CannotPack { iter: 1, count: 4 }));
    // TIRx rounds the stride of 9 down.
    assert_eq!(pack(&t("S[(8,8):(9,1)]"), 2), Err(Error::CannotPack { iter: 0, count: 2 }));
    assert_eq!(pack(&t("S[4] + 3"), 2), Err(Error::CannotPack { iter: 1, count: 2 }));
    let swizzled = t("ComposeLayout(1, 1, 1, TileLayout(S[16]))");
    assert!(matches!(pack(&swizzled, 4), Err(Error::BadSwizzle { .. })));
    assert!(matches!(tirx::unpack(&swizzled.view(), 3, AxisId::M), Err(Error::BadSwizzle { .. })));
    assert!(matches!(tirx::broadcast(&view, 2, 3, AxisId::M), Err(Error::Rank { .. })));
    assert!(matches!(tirx::tile(&view, &[24], &swizzled.view(), &[16]), Err(Error::HasPostMap)));
    assert_eq!(
        tirx::tile_to(&view, &[50], &[24]),
        Err(Error::BadShape { dim: 0, found: 50, needed: 24 })
    );
    let not = Err(Error::NotDivisible { mode: 0, part: 0 });
    assert_eq!(tirx::outer_of_tile(&view, &[24], &t("S[6:2]").view(), &[6]), not);
    let apart = t("S[(4,6):(12,1)]");
    let copies = tirx::outer_of_tile(&apart.view(), &[24], &t("S[6] + R[2:6]").view(), &[6]);
    assert_eq!(copies, Err(Error::NotDivisible { mode: 1, part: 1 }));
    let mapped = tirx::compose_swizzle(&swizzled.view(), 1, 1, 1, true);
    assert_eq!(mapped, Err(Error::HasPostMap));
    assert_eq!(swizzled.view().post.swizzle().map(|s| s.unit), Some(Unit::Element));
}

#[test]
fn random_text_parses_back_or_is_refused() {
    let tokens = [
        "S[",
        "R[",
        "]",
        "(",
        ")",
        ",",
        ":",
        "+",
        "4",
        "8",
        "0",
        "-1",
        "@",
        "laneid",
        "m",
        "'",
        " ",
        "ComposeLayout(",
        "SwizzleLayout(",
        "TileLayout(",
        "3,3,3",
        "True",
        "swizzle_inner=",
        "2147483648",
        "9223372036854775807",
        "é",
        "\n",
        "1@warpid",
        "S[8]",
        "S[(2,3):(1@laneid,4)]",
        "R[2:4]",
        "+ 3",
    ];
    let mut random = super::Random::new(3);
    let mut parsed = 0;
    for _ in 0..200_000 {
        let mut word = String::new();
        for _ in 0..random.below(7) {
            word.push_str(tokens[random.below(tokens.len() as u32) as usize]);
        }
        let Ok(l) = text::parse(&word, &WellKnown, &mut NoSyms) else {
            continue;
        };
        parsed += 1;
        l.view().check().unwrap();
        if !matches!(l.view().post, PostMap::None) {
            assert!(l.view().shard.iter().all(|it| it.axis() == AxisId::M));
        }
        assert_eq!(t(&show_tirx(&l)), l, "{word}");
    }
    assert!(parsed > 50, "{parsed}");
}

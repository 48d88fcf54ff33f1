//! Round trips and positions of errors in both notations.

use super::{c, family, show, show_tirx, t};
use crate::error::{Error, Limit};
use crate::notation::{Expected, ParseError, Part, PrintError, cute, tirx};
use crate::{AxisId, AxisNames, Int, NoSyms, Pad, Padding, PostMap, SymTable, Unit, WellKnown};
use std::string::String;

#[test]
fn cute_round_trips() {
    let texts = [
        "((2,2),4):((1,2),4)",
        "20:2",
        "(20):(2)",
        "((4)):((8))",
        "():()",
        "((),2):((),1)",
        "(2,3):(1@0@1,2@1@0)",
        "(2,3):(-1@0,1@15@15@15)",
        "S<3,4,3> o 0 o (8,8):(8,1)",
        "S<3,4,-3> o 16 o 64:1",
        "(2,3):(1@laneid,1)",
        "4294967295:-9223372036854775808",
    ];
    for text in texts {
        assert_eq!(show(&c(text)), text);
    }
    assert_eq!(show(&c(" ( 4 ,\n8 ) : ( 1\t, 4 @ 0 )")), "(4,8):(1,4@0)");
    assert_eq!(show(&c("S<3,4,3>o0o(8,64):(64,1)")), "S<3,4,3> o 0 o (8,64):(64,1)");
    for l in family(3, 3, &[-1, 0, 7]) {
        assert_eq!(c(&show(&l)).view().shard, l.view().shard);
        assert_eq!(t(&show_tirx(&l)), l);
    }
}

#[test]
fn symbols_round_trip() {
    for text in ["(M,4):(1,M)", "(4*M,N):(N,-1)", "S<3,4,3> o M o (8,M*N):(-2*M,1)"] {
        let mut syms = SymTable::new();
        let l = cute::parse(text, &WellKnown, &mut syms).unwrap();
        let mut out = String::new();
        cute::print(&l.view(), &WellKnown, &syms, &mut out).unwrap();
        assert_eq!(out, text);
    }
    let mut syms = SymTable::new();
    let l =
        tirx::parse("S[(32,sf):(1@TLane,1@TCol)] + R[4:32@TLane]", &WellKnown, &mut syms).unwrap();
    let mut out = String::new();
    tirx::print(&l.view(), &WellKnown, &syms, &mut out).unwrap();
    assert_eq!(out, "S[(32,sf):(1@TLane,1@TCol)] + R[4:32@TLane]");
}

#[test]
fn cute_errors_have_places() {
    let cases = [
        ("", 1, Expected::NumberOrOpen),
        ("(2,3", 5, Expected::CommaOrClose),
        ("(2,3)", 6, Expected::Colon),
        ("2,3:1,2", 2, Expected::Colon),
        ("(2 3):(1 2)", 4, Expected::CommaOrClose),
        ("(2,3):(1,2)x", 12, Expected::End),
        ("(2,3):(1,2,)", 11, Expected::CloseParen),
        ("(2,3,4):(1,2)", 13, Expected::Comma),
        ("(2,(3,)):(1,2)", 7, Expected::NumberOrOpen),
        ("(2,3):(1,(2,3))", 10, Expected::Number),
        ("(2,(3)):(1,2)", 12, Expected::OpenParen),
        ("(-2,3):(1,2)", 2, Expected::PositiveExtent),
        ("(0,3):(1,2)", 2, Expected::PositiveExtent),
        ("4294967296:1", 1, Expected::SmallerNumber),
        ("2:9223372036854775808", 3, Expected::SmallerNumber),
        ("(2,3):(1@,1@1)", 10, Expected::Axis),
        ("(2,3):(1@x,1@1)", 10, Expected::KnownAxis),
        ("2:1@16", 5, Expected::BasisNumber),
        ("2:1@0@1@2@3", 11, Expected::BasisNumber),
        ("(x,3):(1,2)", 2, Expected::KnownSymbol),
        ("S<3,4,2> o 0 o 8:1", 3, Expected::ValidSwizzle),
        ("S<3,4> o 0 o 8:1", 6, Expected::Comma),
        ("S<3,4,3> 0 o 8:1", 10, Expected::Compose),
        ("S<3,4,3> o (8,64):(64,1)", 12, Expected::Number),
        ("(2,3):(1.5,2)", 9, Expected::Comma),
        ("(2,3):(0x10,2)", 9, Expected::Comma),
    ];
    for (text, col, expected) in cases {
        let error = cute::parse(text, &WellKnown, &mut NoSyms).unwrap_err();
        assert_eq!(error, ParseError { line: 1, col, expected }, "{text}");
    }
    let error = cute::parse("(2,\n 3é):(1,2)", &WellKnown, &mut NoSyms).unwrap_err();
    assert_eq!((error.line, error.col), (2, 3));
}

#[test]
fn tirx_errors_have_places() {
    let cases = [
        ("", 1, Expected::Number),
        ("5@warpid", 1, Expected::Shard),
        ("S[8:1", 6, Expected::CloseBracket),
        ("S[(8,4):(1,)]", 12, Expected::Number),
        ("S[(8,4):(1)]", 11, Expected::Comma),
        ("S[(8,4):(1,2,3)]", 14, Expected::CloseParen),
        ("S[8,4:1]", 3, Expected::OpenParen),
        ("S[(8,4):1]", 9, Expected::OpenParen),
        ("S[8] + S[4]", 8, Expected::OneShard),
        ("S[8] + R[2] + R[2]", 15, Expected::OneReplica),
        ("S[0]", 3, Expected::PositiveExtent),
        ("S[8:1@nosuch]", 7, Expected::KnownAxis),
        ("S[8] 5", 6, Expected::End),
        ("S[8] +", 7, Expected::Number),
    ];
    for (text, col, expected) in cases {
        let error = tirx::parse(text, &WellKnown, &mut NoSyms).unwrap_err();
        assert_eq!(error, ParseError { line: 1, col, expected }, "{text}");
    }
}

#[test]
fn limits_are_named() {
    let many = std::format!("S[{}]", std::vec!["1"; 33].join(","));
    let error = tirx::parse(&many, &WellKnown, &mut NoSyms).unwrap_err();
    assert_eq!(error.expected, Expected::Fits(Error::Capacity { limit: Limit::Iters, max: 32 }));
    let ones = std::vec!["1"; 17].join(",");
    let error =
        cute::parse(&std::format!("({ones}):({ones})"), &WellKnown, &mut NoSyms).unwrap_err();
    assert_eq!(error.expected, Expected::Fits(Error::Capacity { limit: Limit::Modes, max: 16 }));
    let deep = std::format!("{}1", "(".repeat(100));
    let error = cute::parse(&deep, &WellKnown, &mut NoSyms).unwrap_err();
    assert_eq!(error.expected, Expected::Fits(Error::Capacity { limit: Limit::Profile, max: 96 }));
}

#[test]
fn what_a_notation_cannot_say() {
    let cute_of =
        |l: &crate::Layout| cute::print(&l.view(), &WellKnown, &NoSyms, &mut String::new());
    let tirx_of =
        |l: &crate::Layout| tirx::print(&l.view(), &WellKnown, &NoSyms, &mut String::new());
    assert_eq!(cute_of(&t("S[8] + R[2:8]")), Err(PrintError::NotExpressible(Part::Replica)));
    assert_eq!(cute_of(&t("S[8] + 3")), Err(PrintError::NotExpressible(Part::Offset)));
    assert_eq!(tirx_of(&c("((2,2),4):((1,2),4)")), Err(PrintError::NotExpressible(Part::Tree)));
    assert_eq!(tirx_of(&c("S<3,4,3> o 0 o 8:1")), Err(PrintError::NotExpressible(Part::PostMap)));
    let mut padded = c("8:1");
    let pad = Padding::new(&[Pad { interval: 4, pad: 1 }], Unit::Codomain).unwrap();
    padded.set_post(PostMap::Padding(pad)).unwrap();
    assert_eq!(cute_of(&padded), Err(PrintError::NotExpressible(Part::PostMap)));
    let mut named = c("8:1");
    named.add_offset(Int::ONE, AxisId(999)).unwrap();
    assert_eq!(tirx_of(&named), Err(PrintError::UnnamedAxis(AxisId(999))));
}

#[test]
fn well_known_names() {
    for n in 0..24 {
        let axis = AxisId(n);
        assert_eq!(WellKnown.axis(WellKnown.name(axis).unwrap()), Some(axis));
    }
    let listed = [
        "bx",
        "by",
        "bz",
        "cbx",
        "cby",
        "cbz",
        "tx",
        "warpid",
        "laneid",
        "wgid",
        "tid_in_wg",
        "wid_in_wg",
    ];
    assert!(
        listed
            .iter()
            .chain(&["m", "P", "F", "Bank", "TCol", "TLane"])
            .all(|n| WellKnown.axis(n).is_some())
    );
    assert_eq!(
        AxisId::path(&[1, 2]).map(|a| a.basis_path().collect::<std::vec::Vec<u8>>()),
        Some([1, 2].into())
    );
    assert_eq!((AxisId::path(&[16]), AxisId::path(&[])), (None, None));
}

//! CuTe text, the basis grammar and the TileAS descriptor: round trips, positions of errors,
//! findings, random texts.

use super::cute_laws::Random;
use super::{c, show};
use crate::error::Error;
use crate::notation::tileas::{self, ElementNames, Finding, Mode, Triple};
use crate::notation::{Expected, ParseError, basis, cute, tirx};
use crate::{Int, NoSyms, SymTable, WellKnown};
use std::string::String;
use std::vec::Vec;

fn fails(text: &str) -> (u32, u32, Expected) {
    let e = cute::parse(text, &WellKnown, &mut SymTable::new()).expect_err(text);
    (e.line, e.col, e.expected)
}

#[test]
fn fractions_are_reduced() {
    // Rows 32, 34 and 36; the layout keeps what no integer says, and refuses to be evaluated.
    assert_eq!(show(&c("(2,3):(3/6@0,4/2@1)")), "(2,3):(1/2@0,2@1)");
    assert_eq!(show(&c("(2,3):(6/3@0, 1 @ 1)")), "(2,3):(2@0,1@1)");
    assert_eq!(show(&c("(2,3):(0/3@0,1@1)")), "(2,3):(0@0,1@1)");
    // On the memory axis a fraction keeps its axis, or it would not read back.
    for text in ["(2,3):(1/21@m,1)", "4:1/2@m", "(2,3):(1@0@1,1/2@m)"] {
        assert_eq!(show(&c(text)), text);
        assert_eq!(c(&show(&c(text))), c(text), "{text}");
    }
    assert_eq!(show(&c("(2,3):(4/2@m,3@m)")), "(2,3):(2,3)");
    assert_eq!(show(&c("(2,3):(1/-2@0,-2/-4@1)")), "(2,3):(-1/2@0,1/2@1)");
    let half = c("4:1/2@0");
    let mut at = crate::Coord::new();
    assert_eq!(half.view().apply_flat(1, &mut at), Err(Error::NotIntegral { num: 1, den: 2 }));
    assert_eq!(fails("(2,3):(1/0@0,1@1)"), (1, 10, Expected::Denominator));
    assert_eq!(fails("(2,3):(1,1/2)"), (1, 13, Expected::At));
    assert_eq!(Int::ratio(1, 0), Err(Error::NotIntegral { num: 1, den: 0 }));
    let third = Int::ratio(2, 6).unwrap();
    assert_eq!(third.checked_add(third).unwrap(), Int::ratio(2, 3).unwrap());
    assert_eq!(third.checked_mul(Int::known(3)), Ok(Int::ONE));
    assert_eq!(Int::known(2).div_exact(third), Some(Int::known(6)));
    assert_eq!(third.compare(Int::ratio(1, 2).unwrap()), Some(core::cmp::Ordering::Less));
    // Two halves are a whole step: coalescing is exact.
    let merged = crate::ops::coalesce(&c("(2,3):(1/2@0,1@0)").view()).unwrap();
    assert_eq!(show(&merged), "6:1/2@0");
}

#[test]
fn run_time_values() {
    let mut syms = SymTable::new();
    let l = cute::parse("(?{div=4},?):(1,?{i64 div=8})", &WellKnown, &mut syms).unwrap();
    let mut out = String::new();
    cute::print(&l.view(), &WellKnown, &syms, &mut out).unwrap();
    assert_eq!(out, "(4*?a,?b):(1,8*?c)");
    assert_eq!(cute::parse(&out, &WellKnown, &mut syms), Ok(l));
    assert_eq!(fails("(?{div=0}):(1)"), (1, 8, Expected::Divisor));
    assert_eq!(fails("(?{mod=2}):(1)").2, Expected::Divisor);
    let refused = cute::parse("?:1", &WellKnown, &mut NoSyms).expect_err("no symbols");
    assert_eq!(refused.expected, Expected::KnownSymbol);
}

#[test]
fn malformed_text_is_never_a_layout() {
    // Row 33.
    assert_eq!(fails(""), (1, 1, Expected::NumberOrOpen));
    assert_eq!(fails("(2,3"), (1, 5, Expected::CommaOrClose));
    assert_eq!(fails("(2,3)"), (1, 6, Expected::Colon));
    assert_eq!(fails("(2,3):(1,2,)"), (1, 11, Expected::CloseParen));
    assert_eq!(fails("(2,3):(1,2)x"), (1, 12, Expected::End));
    assert_eq!(fails("(2,(3,)):(1,2)"), (1, 7, Expected::NumberOrOpen));
    assert_eq!(fails("(-2,3):(1,2)"), (1, 2, Expected::PositiveExtent));
    assert_eq!(fails("2:9223372036854775808"), (1, 3, Expected::SmallerNumber));
    assert_eq!(fails("S<3,4,2> o 0 o 8:1").2, Expected::ValidSwizzle);
    assert_eq!(fails("(2,\n 3):(1,@0)"), (2, 8, Expected::Number));
    assert_eq!(cute::parse_swizzle("s<3,4,3>").expect_err("").expected, Expected::Swizzle);
    // Row 35.
    assert_eq!(show(&c("(20):(2)")), "(20):(2)");
    assert_eq!(show(&c("20:2")), "20:2");
    assert_eq!(show(&c("((),2):((),1)")), "((),2):((),1)");
}

#[test]
fn the_seeds_basis_examples() {
    let spelled = |text: &str| {
        let b = basis::parse(text).unwrap_or_else(|e| panic!("{text}: {e:?}"));
        let mut out = String::new();
        basis::print(&b, &NoSyms, &mut out).unwrap();
        assert_eq!(basis::parse(&out), Ok(b));
        out
    };
    for text in
        ["(1@0,1@1)", "(16@0,1@1)", "((1@0,8@1),1@2)", "(1/2@0,4@1)", "(1@0@1)", "()", "1/2@0"]
    {
        assert_eq!(spelled(text), text);
    }
    assert_eq!(spelled(" ( 2/4 @ 0 ,\t( 1@0@1 , -3@2 ) ) "), "(1/2@0,(1@0@1,-3@2))");
    let fails = |text: &str| {
        let e: ParseError = basis::parse(text).expect_err(text);
        (e.line, e.col, e.expected)
    };
    assert_eq!(fails("(1,1@1)"), (1, 3, Expected::At));
    assert_eq!(fails("(1/0@0)"), (1, 4, Expected::Denominator));
    assert_eq!(fails("(1@0"), (1, 5, Expected::CommaOrClose));
    assert_eq!(fails("(1@0)1"), (1, 6, Expected::End));
    assert_eq!(fails("(1@-1)").2, Expected::Axis);
    assert_eq!(fails("(1@16)").2, Expected::BasisNumber);
    assert_eq!(fails("(1@0@1@2@3)").2, Expected::BasisNumber);
    assert_eq!(fails("(@0)").2, Expected::NumberOrOpen);
    let shape = cute::parse_tuple("((4,2),8)", &mut NoSyms).unwrap();
    let strides = basis::parse("((1@0,8@1),1@2)").unwrap();
    assert_eq!(show(&strides.over(shape.view()).unwrap()), "((4,2),8):((1@0,8@1),1@2)");
    let flat = cute::parse_tuple("(4,2)", &mut NoSyms).unwrap();
    assert_eq!(strides.over(flat.view()), Err(Error::NotCongruent { node: 1 }));
}

const NAMES: &[(&str, u16)] = &[("nvfp4", 4), ("mxf4", 4), ("f16", 16), ("bf16", 16), ("u8", 8)];

const MODES: &[Mode] = &[
    Mode { triple: Triple { b: 0, m: 0, s: 0 }, row_bytes: 0 },
    Mode { triple: Triple { b: 1, m: 4, s: 3 }, row_bytes: 32 },
    Mode { triple: Triple { b: 2, m: 4, s: 3 }, row_bytes: 64 },
    Mode { triple: Triple { b: 3, m: 4, s: 3 }, row_bytes: 128 },
    Mode { triple: Triple { b: 2, m: 5, s: 2 }, row_bytes: 128 },
];

fn found(text: &str, bits: Option<u16>) -> Vec<Finding> {
    let d = tileas::parse(text, NAMES).unwrap_or_else(|e| panic!("{text}: {e:?}"));
    let mut out = String::new();
    tileas::print(&d, NAMES, &mut out).unwrap();
    assert_eq!(tileas::parse(&out, NAMES), Ok(d.clone()), "{out}");
    d.findings(NAMES, bits, MODES).iter().copied().collect()
}

#[test]
fn the_seeds_descriptors_and_what_is_odd_about_them() {
    // Errata 001, rows 6 to 14.
    let triple = |b, m, s| Triple { b, m, s };
    let mixed = |t| Finding::MixedUnits { elements: t };
    assert_eq!(found("<(1,1),(0,0)>", Some(16)), []);
    assert_eq!(found("<(16,16),(1,16)>", Some(16)), []);
    let narrow = Finding::RowWidth { row_bytes: 32, mode_bytes: 128 };
    assert_eq!(
        found("<(16,16),(1,16),swizzle<2,5,2>>", Some(16)),
        [mixed(Some(triple(2, 4, 2))), narrow]
    );
    assert_eq!(found("<(16,(8,2)),(1,(16,8))>", Some(16)), [Finding::Aliasing]);
    assert_eq!(
        found("<(128,64),(64,1),swizzle<3,4,3>,elem=nvfp4>", Some(16)),
        [mixed(Some(triple(3, 5, 3))), narrow]
    );
    assert_eq!(found("<((4,32),64),((1,512),16),elem=mxf4>", None), [Finding::Aliasing]);
    // The usual 128-byte mode on f16: right on bytes; written for elements it is the wrong unit.
    assert_eq!(found("<(128,64),(64,1),swizzle<3,4,3>>", Some(16)), [mixed(Some(triple(3, 3, 3)))]);
    assert_eq!(
        found("<(128,64),(64,1),swizzle<3,3,3>>", Some(16)),
        [mixed(Some(triple(3, 2, 3))), Finding::WrongUnit { bytes: triple(3, 4, 3) }]
    );
    assert_eq!(found("<(8,128),(128,1),swizzle<3,5,3>,elem=u8>", None), [Finding::OutsideSet]);
    assert_eq!(
        found("<(8,128),(128,1),swizzle<3,4,2>,elem=u8>", None),
        [Finding::Overlap, Finding::OutsideSet]
    );
    assert_eq!(found("<(8,128),(128,1),swizzle<3,4,3>>", None), [Finding::UnknownElement]);
    let d = tileas::parse("<(128,64),(64,1),swizzle<3,4,3>,elem=f16>", NAMES).unwrap();
    let bytes = d.on_bytes(NAMES.bits(d.element.unwrap()).unwrap()).unwrap();
    assert_eq!(bytes.view().offset_on(1, crate::AxisId::M), Ok(128 ^ 16));
}

#[test]
fn descriptor_errors() {
    let fails = |text: &str| {
        let e = tileas::parse(text, NAMES).expect_err(text);
        (e.col, e.expected)
    };
    assert_eq!(fails("<(4,2),(1,4),elem=f17>"), (19, Expected::KnownElement));
    // An unknown element is refused before the structure is looked at.
    assert_eq!(fails("<(4,2),(1,(4)),elem=f17>"), (21, Expected::KnownElement));
    assert_eq!(fails("<(4,2),(1,(4))>"), (8, Expected::Congruent));
    assert_eq!(fails("<(4,2),(1,-4)>").1, Expected::Number);
    assert_eq!(fails("<(4,2)>").1, Expected::Comma);
    assert_eq!(fails("(4,2),(1,4)>").1, Expected::OpenAngle);
    assert_eq!(fails("<(4,2),(1,4),swizzle<3,4>>").1, Expected::Comma);
    assert_eq!(fails("<(4,2),(1,4),elem=f16,swizzle<3,4,3>>").1, Expected::Clause);
    assert_eq!(fails("<(4,2),(1,4),bits=16>").1, Expected::Clause);
    assert_eq!(fails("<(4,0),(1,4)>").1, Expected::PositiveExtent);
    assert_eq!(fails("<(4,2),(1,4)> x").1, Expected::End);
    assert_eq!(fails("<(4,2),(1,M)>").1, Expected::KnownSymbol);
}

/// Random texts, and good ones with a few characters changed: no panic, and what is read prints and
/// reads the same.
#[test]
fn random_texts() {
    let good = [
        "((2,2),4):((1,2),4)",
        "S<3,4,3> o 16 o (8,8):(8,1)",
        "(2,(3,4)):(1/2@0,(1@0@1,-4@2))",
        "(?{div=4},M):(1,4*M)",
        "<((4,32),64),((1,512),16),swizzle<2,5,2>,elem=mxf4>",
        "((1@0, 8@1), 1@2)",
        "S[(8,2):(4@laneid,1)] + R[2:4@warpid] + 5@warpid",
        "(_,(0,_),3)",
    ];
    let letters = b"()<>[],:@/*+-_?{}= 0123456789SoRxdivelmMtaswz\n\t";
    let mut random = Random(0x5eed_0005);
    for round in 0..30_000u32 {
        let mut text: Vec<u8> = if round % 4 == 0 {
            Vec::new()
        } else {
            good[random.below(good.len() as u64) as usize].into()
        };
        for _ in 0..=random.below(if round % 4 == 0 { 12 } else { 3 }) {
            let letter = letters[random.below(letters.len() as u64) as usize];
            let at = random.below(text.len() as u64 + 1) as usize;
            match random.below(3) {
                0 if at < text.len() => text[at] = letter,
                1 if at < text.len() => {
                    text.remove(at);
                }
                _ => text.insert(at, letter),
            }
        }
        let text = String::from_utf8(text).unwrap();
        let mut syms = SymTable::new();
        let mut out = String::new();
        if let Ok(l) = cute::parse(&text, &WellKnown, &mut syms) {
            cute::print(&l.view(), &WellKnown, &syms, &mut out).expect(&text);
            assert_eq!(cute::parse(&out, &WellKnown, &mut syms), Ok(l), "{text} as {out}");
            out.clear();
        }
        if let Ok(b) = basis::parse_strides(&text, &mut syms) {
            basis::print(&b, &syms, &mut out).expect(&text);
            assert_eq!(basis::parse_strides(&out, &mut syms), Ok(b), "{text} as {out}");
            out.clear();
        }
        if let Ok(t) = cute::parse_tuple(&text, &mut syms) {
            cute::print_tuple(t.view(), &syms, &mut out).expect(&text);
            assert_eq!(cute::parse_tuple(&out, &mut syms), Ok(t), "{text} as {out}");
            out.clear();
        }
        if let Ok(d) = tileas::parse(&text, NAMES) {
            tileas::print(&d, NAMES, &mut out).expect(&text);
            assert_eq!(tileas::parse(&out, NAMES).as_ref(), Ok(&d), "{text} as {out}");
            let _ = d.findings(NAMES, Some(16), MODES);
        }
        let _ = tirx::parse(&text, &WellKnown, &mut syms);
    }
}

//! Texts that TVM prints: iters in lists, widths of numbers, sums.
use super::{Layout, WellKnown};
use crate::notation::{Expected, tirx};
use crate::{NoSyms, SymNames, SymTable};
use std::string::String;

fn read(text: &str, names: &mut SymTable) -> Layout {
    tirx::parse(text, &WellKnown, names).unwrap_or_else(|e| panic!("{text}: {e:?}"))
}

fn again(text: &str, names: &SymTable) -> String {
    let mut out = String::new();
    let layout = tirx::parse(text, &WellKnown, &mut names.clone()).unwrap();
    tirx::print(&layout.view(), &WellKnown, names, &mut out).unwrap();
    out
}

#[test]
fn lists_of_iters_are_sums() {
    let mut names = SymTable::new();
    for (text, sum) in [
        (r#"T.TileLayout.from_iters(offset={"warpid": 5})"#, "S[()] + 5@warpid"),
        ("TileLayout.from_iters()", "S[()]"),
        (r#"TileLayout.from_iters([], [], {})"#, "S[()]"),
        (
            r#"T.TileLayout.from_iters([T.Iter(8, 4, "laneid"), T.Iter(2, 1, "m")], [T.Iter(2, 4, "warpid")])"#,
            "S[(8,2):(4@laneid,1)] + R[2:4@warpid]",
        ),
        (
            "TileLayout.from_iters(replica=(), shard=[Iter(extent=8, stride=T.int64(4), axis=Axis.laneid)], offset={'m': 3, Axis.warpid: 1},)",
            "S[8:4@laneid] + 3 + 1@warpid",
        ),
        ("S[(T.int64(8), 4) : (T.int64(4) @ Axis.laneid, T.int32(-1))]", "S[(8,4):(4@laneid,-1)]"),
    ] {
        assert_eq!(read(text, &mut names), read(sum, &mut names), "{text}");
    }
    for (text, column, expected) in [
        ("TileLayout.from_lists()", 12, Expected::Attribute),
        ("TileLayout.from_iters(shard=[], shard=[])", 33, Expected::KeyOnce),
        ("TileLayout.from_iters([], [], {}, [])", 35, Expected::CloseParen),
        ("TileLayout.from_iters([S(8)])", 24, Expected::Shard),
        ("TileLayout.from_iters([Iter(8, 4)])", 33, Expected::Comma),
        ("TileLayout.from_iters(offset=5)", 30, Expected::OpenBrace),
        ("S[T.int64(M):1]", 11, Expected::Integer),
        ("S[T.int64(8:1]", 12, Expected::CloseParen),
    ] {
        let fault = tirx::parse(text, &WellKnown, &mut NoSyms).unwrap_err();
        assert_eq!((fault.col, fault.expected), (column, expected), "{text}");
    }
}

#[test]
fn sums_are_symbols_of_their_own() {
    let mut names = SymTable::new();
    let layout = read("S[(M * 4 + 1, 8) : (8, 1)]", &mut names);
    // Whatever the order of its terms; blanks say nothing.
    assert_eq!(layout, read("S[(1+4*M,8):(8,1)]", &mut names));
    assert_ne!(layout, read("S[(4*M+2,8):(8,1)]", &mut names));
    for text in [
        "S[(4*M+1,8):(8,1)]",
        "S[(8,4*M+1):(4*M+1,1)]",
        "S[(4,8):(1*(M+N),2*(4*M+1)@laneid)]",
        "S[(4,8):(N*(M+2),1)]",
    ] {
        read(text, &mut names);
        let printed = again(text, &names);
        assert_eq!(read(&printed, &mut names), read(text, &mut names), "{text}: {printed}");
    }
    assert_eq!(again("S[(4*M+1,8):(8,1)]", &names), "S[(4*M+1,8):(8,1)]");
    // What is one product is one.
    assert_eq!(again("S[(4*M+M,8):(3+5,1)]", &names), "S[(5*M,8):(8,1)]");
    // A pair, and parentheses around a sum, in a list of strides.
    assert_eq!(
        read("S[(4,8):((M+1, 'laneid'),(M+1)@warpid)]", &mut names),
        read("S[(4,8):(1*(M+1)@laneid,1*(M+1)@warpid)]", &mut names)
    );
    // A value of it makes it a number.
    let sum = names.sym("4*M+1").unwrap();
    assert_eq!(layout.substitute(sum, 33).unwrap(), read("S[(33,8):(8,1)]", &mut names));
    // Behind a layout a `+` is the sum's.
    assert_eq!(again("S[4:1] + 2 + 3@warpid", &names), "S[4:1] + 2 + 3@warpid");
    for (text, expected) in [
        ("S[(M+-1,8):(8,1)]", Expected::PositiveExtent),
        ("S[(2*(M+1,8):(8,1)]", Expected::CloseParen),
    ] {
        let fault = tirx::parse(text, &WellKnown, &mut names).unwrap_err();
        assert_eq!(fault.expected, expected, "{text}");
    }
    let long = "S[(Mmmmmmmm+Nnnnnnnn+Oooooooo,8):(8,1)]";
    assert!(matches!(
        tirx::parse(long, &WellKnown, &mut names).unwrap_err().expected,
        Expected::Fits(crate::Error::Capacity { .. })
    ));
}

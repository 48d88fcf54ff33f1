//! Parsers: any text is read or refused at a place inside it, and what was read prints and reads
//! again as the same.

use lanebook::{TABLES, ir};
use lanebook_layout::notation::{
    ParseError, PrintError, basis as bases, cute as cutes, tileas as tile, tirx as tirxs,
    ttg as attributes, ttg_print,
};
use lanebook_layout::{SymTable, WellKnown};
use std::borrow::Cow;

/// Element types of the TileAS descriptor.
const ELEMENTS: &[(&str, u16)] =
    &[("nvfp4", 4), ("f8", 8), ("f16", 16), ("bf16", 16), ("f32", 32), ("f64", 64)];

fn utf8(data: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(data)
}

/// A refusal's place lies in the text: an existing line, and a column at most one beyond its end.
fn place(text: &str, line: u32, col: u32) {
    assert!(line >= 1 && col >= 1, "{line}:{col} in {text:?}");
    let lines = text.split('\n').count();
    assert!(line as usize <= lines, "line {line} of {lines} in {text:?}");
    let width = text.split('\n').nth(line as usize - 1).map_or(0, |l| l.chars().count());
    assert!(col as usize <= width + 1, "column {col} of {width} in {text:?}");
}

fn refused(text: &str, error: ParseError) {
    place(text, error.line, error.col);
}

/// What a notation cannot say is no fault; a sink that never refuses must not have refused.
fn printed(text: &str, out: String, answer: Result<(), PrintError>) -> Option<String> {
    match answer {
        Ok(()) => Some(out),
        Err(PrintError::Sink) => panic!("{text:?}: the sink refused"),
        Err(PrintError::Invalid(error)) => {
            panic!("{text:?}: what was read is not well formed: {error:?}")
        }
        Err(_) => None,
    }
}

/// CuTe's layouts, tuples and swizzles.
pub fn cute(data: &[u8]) {
    let text = utf8(data);
    let mut syms = SymTable::new();
    match cutes::parse(&text, &WellKnown, &mut syms) {
        Err(error) => refused(&text, error),
        Ok(layout) => {
            layout.view().check().expect("well formed");
            let mut out = String::new();
            let answer = cutes::print(&layout.view(), &WellKnown, &syms, &mut out);
            if let Some(out) = printed(&text, out, answer) {
                assert_eq!(
                    cutes::parse(&out, &WellKnown, &mut syms),
                    Ok(layout),
                    "{text:?} prints as {out:?}"
                );
            }
        }
    }
    let mut syms = SymTable::new();
    match cutes::parse_tuple(&text, &mut syms) {
        Err(error) => refused(&text, error),
        Ok(tuple) => {
            let mut out = String::new();
            let answer = cutes::print_tuple(tuple.view(), &syms, &mut out);
            let out = printed(&text, out, answer).expect("a tuple can be printed");
            assert_eq!(
                cutes::parse_tuple(&out, &mut syms),
                Ok(tuple),
                "{text:?} prints as {out:?}"
            );
        }
    }
    match cutes::parse_swizzle(&text) {
        Err(error) => refused(&text, error),
        Ok(swizzle) => {
            let mut out = String::new();
            cutes::print_swizzle(swizzle, &mut out).expect("a swizzle can be printed");
            assert_eq!(cutes::parse_swizzle(&out), Ok(swizzle), "{text:?} prints as {out:?}");
        }
    }
}

/// TIRx's layouts.
pub fn tirx(data: &[u8]) {
    let text = utf8(data);
    let mut syms = SymTable::new();
    match tirxs::parse(&text, &WellKnown, &mut syms) {
        Err(error) => refused(&text, error),
        Ok(layout) => {
            layout.view().check().expect("well formed");
            let mut out = String::new();
            let answer = tirxs::print(&layout.view(), &WellKnown, &syms, &mut out);
            if let Some(out) = printed(&text, out, answer) {
                assert_eq!(
                    tirxs::parse(&out, &WellKnown, &mut syms),
                    Ok(layout),
                    "{text:?} prints as {out:?}"
                );
            }
        }
    }
}

/// TileAS descriptors.
pub fn tileas(data: &[u8]) {
    let text = utf8(data);
    match tile::parse(&text, ELEMENTS) {
        Err(error) => refused(&text, error),
        Ok(descriptor) => {
            let mut out = String::new();
            let answer = tile::print(&descriptor, ELEMENTS, &mut out);
            let out = printed(&text, out, answer).expect("a descriptor can be printed");
            let again = tile::parse(&out, ELEMENTS)
                .unwrap_or_else(|e| panic!("{text:?} prints as {out:?}: {e:?}"));
            let mut twice = String::new();
            tile::print(&again, ELEMENTS, &mut twice).expect("a descriptor can be printed");
            assert_eq!(out, twice, "{text:?}");
        }
    }
}

/// Triton's attributes.
pub fn ttg(data: &[u8]) {
    let text = utf8(data);
    match attributes::parse(&text) {
        Err(error) => refused(&text, error),
        Ok(encoding) => {
            let mut out = String::new();
            let answer = ttg_print::print(&mut out, &encoding);
            if let Some(out) = printed(&text, out, answer) {
                assert_eq!(
                    attributes::parse(&out),
                    Ok(encoding.clone()),
                    "{text:?} prints as {out:?}"
                );
            }
            // At small shapes: an answer or a refusal.
            for shape in [&[1][..], &[64], &[16, 16], &[128, 32], &[2, 32, 8]] {
                let linear = lanebook_layout::triton::to_linear(
                    &encoding,
                    shape,
                    &lanebook_layout::triton::NoTiles,
                );
                if let Ok(linear) = linear {
                    let bits: u32 = shape.iter().map(|extent: &u32| extent.trailing_zeros()).sum();
                    assert_eq!(u32::from(linear.outs().bits()), bits, "{text:?} at {shape:?}");
                }
            }
        }
    }
}

/// Basis strides.
pub fn basis(data: &[u8]) {
    let text = utf8(data);
    let mut syms = SymTable::new();
    for answer in [bases::parse(&text), bases::parse_strides(&text, &mut syms)] {
        match answer {
            Err(error) => refused(&text, error),
            Ok(basis) => {
                let mut out = String::new();
                let answer = bases::print(&basis, &syms, &mut out);
                if let Some(out) = printed(&text, out, answer) {
                    assert_eq!(
                        bases::parse_strides(&out, &mut syms),
                        Ok(basis),
                        "{text:?} prints as {out:?}"
                    );
                }
            }
        }
    }
}

/// Tile programs: the first byte says how strictly they are read.
pub fn tile_ir(data: &[u8]) {
    let (first, rest) = data.split_first().unwrap_or((&0, &[]));
    let text = utf8(rest);
    let options = ir::Options { free_names: first & 1 != 0, keep_unknown: first & 2 != 0 };
    type Room = ir::Storage<96, 192, 256, 128, 48, 32, 0>;
    let mut storage = Box::new(Room::new());
    let mut program = match ir::parse(storage.pools(), &TABLES, &text, options) {
        Ok(program) => program,
        Err(error) => return place(&text, error.at.line, error.at.column),
    };
    let verified = ir::verify(&mut program);
    let mut out = String::new();
    ir::print(&program, &ir::Plain, &mut out).expect("a string takes everything");
    if options.keep_unknown || verified.is_err() {
        return;
    }
    let mut second = Box::new(Room::new());
    let again = ir::parse(second.pools(), &TABLES, &out, options)
        .unwrap_or_else(|e| panic!("{e:?}\n{text}\n----\n{out}"));
    let mut twice = String::new();
    ir::print(&again, &ir::Plain, &mut twice).expect("a string takes everything");
    assert_eq!(out.lines().count(), twice.lines().count(), "{text}\n----\n{out}");
    // What stands for calls, pointers and loops that do not count is a program as well.
    if ir::isolate_kernel(&mut program, None).is_ok() {
        let mut alone = String::new();
        ir::print(&program, &ir::Plain, &mut alone).expect("a string takes everything");
        assert_eq!(program.functions().count(), 1, "{text}\n----\n{alone}");
        ir::verify(&mut program).unwrap_or_else(|e| panic!("{e:?}\n{text}\n----\n{alone}"));
    }
}

//! Elements of half a byte as pairs: what becomes of types, subscripts and bounds, and what is
//! refused.

use super::support::*;
use crate::{ErrorKind as K, MemrefBound, isolate_kernel, parse, verify};
use std::boxed::Box;
use std::string::{String, ToString};

/// The program of a text, or what refuses it and in which line.
fn paired(text: &str) -> Result<String, (K, u32)> {
    let mut storage = Box::new(BigStorage::new());
    let mut program = parse(storage.pools(), tables(), text, STRICT).expect("it can be read");
    verify(&mut program).map_err(|e| (e.kind, e.at.line))?;
    isolate_kernel(&mut program, None).map_err(|e| (e.kind, e.at.line))?;
    verify(&mut program).map_err(|e| (e.kind, e.at.line))?;
    Ok(printed(&program))
}

fn kernel(attrs: &str, body: &str) -> String {
    std::format!(
        "func @f(%A: memref<?x?xi4, #gmem> {{align = 16{attrs}}}, %C: memref<?x?xi32, #gmem>, %m: index {{div = 32}}, %k: index {{div = 3}}) {{threads = 128}} {{\n{body}\n}}"
    )
}

const LOADED: &str = "  %a = tiled_load %A[%k, %m] : memref<?x?xi4, #gmem> -> tensor<32x64xi4>\n";

#[test]
fn pairs_are_half_as_many() {
    let text = kernel(
        ", stride_div = 32, bounds = (%m, 96)",
        &(LOADED.to_string()
            + "  %t = trans %a : tensor<32x64xi4> -> tensor<64x32xi4>\n  %x = cast %t : tensor<64x32xi4> -> tensor<64x32xi32>\n  tiled_store %x, %C[0, 0] : tensor<64x32xi32> -> memref<?x?xi32, #gmem>"),
    );
    let made = paired(&text).expect("a program");
    for part in [
        "memref<?x?xi4x2, #gmem> {align = 16, stride_div = 16, bounds = (%m, 96), halves}",
        "index.div %m, 2",
        "-> tensor<32x32xi4x2>",
        "trans %a : tensor<32x32xi4x2> -> tensor<32x32xi4x2>",
    ] {
        assert!(made.contains(part), "{part}: {made}");
    }
    assert!(!made.contains("xi4,") && !made.contains("xi4>"), "{made}");
}

#[test]
fn bounds_count_halves() {
    let bounds = |attrs: &str| {
        let text = kernel(attrs, "  return").replace("xi4,", "xi4x2,");
        let mut storage = Box::new(BigStorage::new());
        let program = parse(storage.pools(), tables(), &text, STRICT).expect("a program");
        let f = program.function("f").expect("a function");
        let [tensor, m] = [0, 2].map(|k| program.parameters(f).nth(k).expect("an argument"));
        program.bounds(tensor).map(|bounds| (bounds.as_slice().to_vec(), m))
    };
    let (found, m) = bounds(", bounds = (%m, %m), halves").expect("bounds");
    assert_eq!(found, [MemrefBound::Argument(m), MemrefBound::Half(m)]);
    let (found, _) = bounds(", bounds = (7, 10), halves").expect("bounds");
    assert_eq!(found, [MemrefBound::Number(7), MemrefBound::Number(5)]);
    let (found, _) = bounds(", bounds = (7, 10)").expect("bounds");
    assert_eq!(found, [MemrefBound::Number(7), MemrefBound::Number(10)]);
    // Half of an odd number is none.
    assert_eq!(bounds(", bounds = (7, 9), halves"), None);
    assert_eq!(bounds(", bounds = (7, %k), halves"), None);
}

#[test]
fn what_is_not_done_with_halves_is_refused() {
    let refused = |attrs: &str, body: &str, line: u32| {
        let text = kernel(attrs, body);
        assert_eq!(paired(&text), Err((K::PairForm, line)), "{text}");
    };
    // An odd place, an odd stride, an odd end, an odd row.
    refused("", "  %a = tiled_load %A[0, %k] : memref<?x?xi4, #gmem> -> tensor<32x64xi4>", 2);
    refused("", "  %a = tiled_load %A[0, 3] : memref<?x?xi4, #gmem> -> tensor<32x64xi4>", 2);
    refused(", stride_div = 5", LOADED, 1);
    refused(", bounds = (_, 9)", LOADED, 1);
    refused(", bounds = (_, %k)", LOADED, 1);
    refused("", "  %a = tiled_load %A[0, 0] : memref<?x?xi4, #gmem> -> tensor<32x7xi4>", 2);
    // Arithmetic, products along the other dimension, of what is no pair, layouts.
    let with = |rest: &str| LOADED.to_string() + rest;
    refused("", &with("  %b = add %a, %a : tensor<32x64xi4>"), 3);
    refused(
        "",
        &with(
            "  %z = constant 0 : tensor<32x32xi32>\n  %b = tiled_load %A[0, 0] : memref<?x?xi4, #gmem> -> tensor<64x32xi4>\n  %d = mma %a, %b, %z : tensor<32x32xi32>",
        ),
        5,
    );
    // A factor of another type that has not all numbers of an i4.
    let mixed = with(
        "  %z = constant 0.0 : tensor<32x32xf32>\n  %y = constant 1.0 : tensor<32x64xe5m2>\n  %t = trans %a : tensor<32x64xi4> -> tensor<64x32xi4>\n  %d = mma %y, %t, %z : tensor<32x32xf32>",
    );
    assert_eq!(paired(&kernel("", &mixed)), Err((K::PairMixed, 6)));
    let taken = mixed.replace("e5m2", "e4m3");
    let made = paired(&kernel("", &taken)).expect("a program");
    assert!(made.contains("= cast ") && made.contains(": tensor<64x32xe4m3>"), "{made}");
    refused("", "  %s = alloc_tensor {layout = (32,64):(64,1)} : tensor<32x64xi4, #smem>", 2);
    refused("", &with("  %b = cast %a : tensor<32x64xi4> -> tensor<32x64xu4>"), 3);
}

//! Numbers that a kernel computes: the tiles of one element that they become, and what is refused.

use super::support::*;
use crate::types::TypeKind;
use crate::{ErrorKind as K, isolate_kernel, parse, verify};
use std::boxed::Box;
use std::string::String;

/// A kernel with this body as it is planned, or the error's kind and line.
fn lowered(body: &str) -> Result<String, (K, u32)> {
    let text = std::format!(
        "func @k(%X: memref<?x64xf32, #gmem>, %V: memref<?xf32, #gmem>, %m: index, %s: f32) {{threads = 32}} {{\n{body}\n}}\n"
    );
    let mut storage = Box::new(BigStorage::new());
    let mut program = parse(storage.pools(), tables(), &text, STRICT).expect("it can be read");
    verify(&mut program).map_err(|error| (error.kind, error.at.line))?;
    let kernel = isolate_kernel(&mut program, None).map_err(|error| (error.kind, error.at.line))?;
    verify(&mut program).unwrap_or_else(|e| panic!("{e:?}\n{}", printed(&program)));
    // What is left of numbers is given, or an index.
    for op in program.inside(kernel) {
        for value in program.results(op) {
            let is_number = program.type_of(value).kind == TypeKind::Scalar;
            assert!(!is_number || program.index_word(op).is_some(), "{}", printed(&program));
        }
    }
    Ok(round(&printed(&program), STRICT))
}

const ROW: &str = "  %x = tiled_load %X[%m, 0] : memref<?x64xf32, #gmem> -> tensor<1x64xf32>\n  %r = reshape %x : tensor<1x64xf32> -> tensor<64xf32>\n";

#[test]
fn a_row_is_reduced_to_a_tile_of_one_element() {
    let body = "  %t = reduce %r {axis = 0, kind = max} : tensor<64xf32> -> f32
  %u = mul %t, %s : f32
  tiled_store %u, %V[%m] : f32 -> memref<?xf32, #gmem>
  tiled_store %u, %X[%m, 3] : f32 -> memref<?x64xf32, #gmem>";
    let out = lowered(&[ROW, body].concat()).expect("it is followed");
    assert!(out.contains("{axis = 1, kind = max} : tensor<1x64xf32> -> tensor<1xf32>"), "{out}");
    assert!(out.contains("broadcast %s : f32 -> tensor<1xf32>"), "{out}");
    assert!(out.contains("tensor<1xf32> -> memref<?xf32, #gmem>"), "{out}");
    assert!(out.contains("tensor<1x1xf32> -> memref<?x64xf32, #gmem>"), "{out}");
}

#[test]
fn what_is_handed_on_is_a_tile_on_all_ways() {
    let body = "  %v = scf.for %i = 0 to 4 step 1 iter_args(%a = %s) -> f32 {
    %w = tiled_load %V[%i] : memref<?xf32, #gmem> -> f32
    %b = add %a, %w : f32
    scf.yield %b : f32
  }
  %q = scf.if %m -> f32 {
    scf.yield %v : f32
  } else {
    scf.yield %s : f32
  }
  %t = broadcast %q : f32 -> tensor<8x64xf32>
  tiled_store %t, %X[%m, 0] : tensor<8x64xf32> -> memref<?x64xf32, #gmem>";
    let out = lowered(body).expect("it is followed");
    // The first value of the loop, and what the other branch hands on.
    assert_eq!(out.matches("broadcast %s : f32 -> tensor<1xf32>").count(), 2, "{out}");
    assert!(out.contains("tensor<1x64xf32> -> tensor<8x64xf32>"), "{out}");
}

#[test]
fn a_number_has_no_mask_and_elements_of_its_own_type() {
    let masked = "  %z = constant 0.0 : tensor<32xf32>
  %k = compare.oeq %z, %z : tensor<32xf32>, tensor<32xf32> -> tensor<32xi1>
  %v = tiled_load %V[%m], %k : memref<?xf32, #gmem>, tensor<32xi1> -> f32";
    assert!(matches!(lowered(masked), Err((K::ResultKind { .. }, 4))));
    let other = "  %v = tiled_load %V[%m] : memref<?xf32, #gmem> -> f16";
    assert!(matches!(lowered(other), Err((K::Dtypes { .. }, 2))));
    for (line, why) in [
        ("%y = add %r, %s : tensor<64xf32>, f32 -> tensor<64xf32>", "Ranks"),
        ("%y = reduce %r {axis = 0, kind = add} : tensor<64xf32> -> f16", "Dtypes"),
        ("%y = reduce %x {axis = 1, kind = add} : tensor<1x64xf32> -> f32", "Ranks"),
        (
            "%t = reduce %r {axis = 0, kind = add} : tensor<64xf32> -> f32\n  %y = add %r, %t : tensor<64xf32>, f32 -> tensor<64xf32>",
            "Ranks",
        ),
        ("%c = cast %s : f32 -> f16\n  %y = add %s, %c : f32, f16 -> f32", "Dtypes"),
        ("%c = cast %s : f32 -> f16\n  %y = compare.olt %s, %c : f32, f16 -> i1", "Dtypes"),
        ("%c = cast %s : f32 -> f16\n  %y = arith.bitcast %s : f32 -> f16", "Dtypes"),
    ] {
        let refused = lowered(&[ROW, line].concat()).expect_err(line);
        assert!(std::format!("{refused:?}").contains(why), "{line}: {refused:?}");
    }
    let stored = "  tiled_store %s, %V[%m], %s : f32, memref<?xf32, #gmem>, f32";
    assert!(matches!(lowered(stored), Err((K::OperandKind { .. }, 2))));
}

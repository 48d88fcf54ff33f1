//! Tiles of three and more dimensions: what they are as matrices, and what is refused.

use super::support::*;
use crate::{ErrorKind as K, isolate_kernel, parse, verify};
use std::boxed::Box;
use std::string::String;
use std::vec::Vec;

/// A kernel with this body as it is planned, or the error's kind and line.
fn lowered(body: &str) -> Result<String, (K, u32)> {
    let text = std::format!(
        "func @k(%A: memref<?x?x?xf32, #gmem>, %B: memref<?x64xf32, #gmem>, %m: index) {{threads = 32}} {{\n{body}\n}}\n"
    );
    let mut storage = Box::new(BigStorage::new());
    let mut program = parse(storage.pools(), tables(), &text, STRICT).expect("it can be read");
    verify(&mut program).map_err(|error| (error.kind, error.at.line))?;
    isolate_kernel(&mut program, None).map_err(|error| (error.kind, error.at.line))?;
    verify(&mut program).unwrap_or_else(|e| panic!("{e:?}\n{}", printed(&program)));
    let out = round(&printed(&program), STRICT);
    let ranks = |line: &str| {
        let tiles = line.split("tensor<").skip(1).map(|ty| ty.split('>').next().unwrap_or(""));
        tiles.map(|ty| ty.matches('x').count()).max().unwrap_or(0)
    };
    assert!(out.lines().all(|line| ranks(line) <= 2), "{out}");
    Ok(out)
}

/// How often a kernel has each of some operations.
#[track_caller]
fn counts(body: &str, wanted: &[(&str, usize)]) {
    let out = lowered(body).unwrap_or_else(|error| panic!("{error:?}\n{body}"));
    let names: Vec<&str> = out.split_whitespace().collect();
    for (name, count) in wanted {
        let found = names.iter().filter(|word| *word == name).count();
        assert_eq!(found, *count, "{name}\n{out}");
    }
}

const LOADED: &str =
    "  %x = tiled_load %A[%m, 8, 0] : memref<?x?x?xf32, #gmem> -> tensor<2x8x32xf32>";
const STORED: &str =
    "  tiled_store %y, %A[4, %m, 0] : tensor<2x8x32xf32> -> memref<?x?x?xf32, #gmem>";

fn between(body: &str) -> String {
    std::format!("{LOADED}\n{body}\n{STORED}")
}

#[test]
fn what_memory_meets_is_unrolled() {
    let out = lowered(&between("  %y = add %x, %x : tensor<2x8x32xf32>")).expect("a kernel");
    for place in ["%A[%m, 8, 0]", "%A[4, %m, 0]", "%A[5, %m, 0]"] {
        assert_eq!(out.matches(place).count(), 1, "{place}\n{out}");
    }
    counts(
        &between("  %y = add %x, %x : tensor<2x8x32xf32>"),
        &[("tiled_load", 2), ("add", 2), ("tiled_store", 2), ("index.add", 1), ("reshape", 0)],
    );
}

#[test]
fn what_it_does_not_meet_is_one_matrix() {
    let body = "  %f = tiled_load %B[0, 0] : memref<?x64xf32, #gmem> -> tensor<16x64xf32>
  %x = reshape %f : tensor<16x64xf32> -> tensor<4x16x16xf32>
  %y = trans %x {order = [1, 0, 2]} : tensor<4x16x16xf32> -> tensor<16x4x16xf32>
  %z = mul %y, %y : tensor<16x4x16xf32>
  %g = reshape %z : tensor<16x4x16xf32> -> tensor<16x64xf32>
  tiled_store %g, %B[0, 0] : tensor<16x64xf32> -> memref<?x64xf32, #gmem>";
    counts(body, &[("mul", 1), ("permute", 1), ("extract_slice", 0), ("insert_slice", 0)]);
}

#[test]
fn loops_and_branches_hand_matrices_on() {
    let body = "  %y = scf.for %k = 0 to %m step 8 iter_args(%c = %x) -> tensor<2x8x32xf32> {
    %d = scf.if %m -> tensor<2x8x32xf32> {
      %n = neg %c : tensor<2x8x32xf32>
      scf.yield %n : tensor<2x8x32xf32>
    } else {
      scf.yield %c : tensor<2x8x32xf32>
    }
    scf.yield %d : tensor<2x8x32xf32>
  }";
    counts(&between(body), &[("neg", 2), ("scf.yield", 3), ("reshape", 0), ("extract_slice", 0)]);
}

/// Products have operations of their own; a row's greatest element is found in its matrix, and found
/// again where it is repeated.
#[test]
fn matrices_have_operations_of_their_own() {
    let body = "  %t = trans %x {order = [0, 2, 1]} : tensor<2x8x32xf32> -> tensor<2x32x8xf32>
  %z = constant 0.0 : tensor<2x8x8xf32>
  %p = mma %x, %t, %z : tensor<2x8x8xf32>
  %r = reduce %p {axis = 2, kind = max} : tensor<2x8x8xf32> -> tensor<2x8xf32>
  %y = broadcast %r {axis = 2} : tensor<2x8xf32> -> tensor<2x8x32xf32>";
    counts(&between(body), &[("trans", 2), ("mma", 2), ("reduce", 2), ("extract_slice", 0)]);
}

#[test]
fn what_is_not_done_is_refused() {
    let refused = |body: &str, kind: K, line: u32| assert_eq!(lowered(body), Err((kind, line)));
    refused(
        "  %x = tiled_load %A[0, 0, 0] : memref<?x?x?xf32, #gmem> -> tensor<128x2x2xf32>",
        K::RankCount { found: 128, most: 64 },
        2,
    );
    let layout = "(2,8,32):(1,2,16)";
    refused(
        &std::format!(
            "  %x = tiled_load %A[0, 0, 0] : memref<?x?x?xf32, #gmem> -> tensor<2x8x32xf32, {layout}>"
        ),
        K::RankLayout,
        2,
    );
    refused(
        "  %s = alloc_tensor : tensor<2x8x32xf32, #smem>
  %x = tiled_load %s : tensor<2x8x32xf32, #smem> -> tensor<2x8x32xf32>",
        K::RankForm,
        3,
    );
    refused(
        &between("  %y = extract_slice %x[%m, 0, 0] : tensor<2x8x32xf32> -> tensor<2x8x32xf32>"),
        K::RankForm,
        3,
    );
    refused(&std::format!("{LOADED}\n  return %x : tensor<2x8x32xf32>"), K::RankForm, 3);
}

/// What a rewritten operation says is looked at before it is gone: dimensions that are not there or
/// not said, ends that are others, words that nobody knows, places of other dimensions.
#[test]
fn what_is_written_is_obeyed_or_refused() {
    let tile = "tensor<2x8x32xf32>";
    let whole = "tensor<2x8x32xi32>";
    let less = "tensor<2x8xf32>";
    let number = |range: &str| {
        std::format!(
            "  %i = iota {{{range}}} : {whole}\n  %y = arith.sitofp %i : {whole} -> {tile}"
        )
    };
    let reduced = |said: &str, back: &str| {
        std::format!(
            "  %r = reduce %x {{{said}kind = add}} : {tile} -> {less}\n  %y = broadcast %r{back} : {less} -> {tile}"
        )
    };
    let one = |name: &str, said: &str| std::format!("  %y = {name} %x{said} : {tile} -> {tile}");
    for (body, kind, line) in [
        (one("scan", " {axis = 5, kind = add}"), K::AttrValue, 3),
        (one("scan", " {kind = add}"), K::AttrValue, 3),
        (one("scan", " {axis = word, kind = add}"), K::AttrValue, 3),
        (reduced("", " {axis = 2}"), K::AttrValue, 3),
        (reduced("axis = 2, ", " {axis = 3}"), K::AttrValue, 4),
        (reduced("axis = 2, ", " {axis = 2, more}"), K::IdleAttr, 4),
        (one("broadcast", " {axis = 1}"), K::IdleAttr, 3),
        (one("trans", " {order = [0, 1, 2], more = 3}"), K::IdleAttr, 3),
        (one("reshape", " {more}"), K::IdleAttr, 3),
        (one("extract_slice", "[0, 0, 0] {more = 4}"), K::IdleAttr, 3),
        (one("extract_slice", "[0, 0]"), K::RankForm, 3),
        (number("axis = 0, start = 1, end = 77"), K::AttrValue, 3),
        (number("axis = 0, start = word"), K::AttrValue, 3),
        (number("axis = 3"), K::AttrValue, 3),
        (number("axis = 0, more"), K::IdleAttr, 3),
    ] {
        let found =
            lowered(&between(&body)).map_err(|(kind, line)| (core::mem::discriminant(&kind), line));
        assert_eq!(found, Err((core::mem::discriminant(&kind), line)), "{body}");
    }
    // The same words where they are obeyed, with a prefix too.
    for body in [
        number("axis = 0, start = 1, end = 3"),
        number("axis = 2, start = -4"),
        one("trans", " {nv_tileas.order = [0, 1, 2]}"),
        reduced("axis = 2, ", " {nv_tileas.axis = 2}"),
    ] {
        assert!(lowered(&between(&body)).is_ok(), "{body}");
    }
}

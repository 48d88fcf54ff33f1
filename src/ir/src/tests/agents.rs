//! Agents that copy for the loop behind them, and what is no such agent.

use super::support::*;
use crate::{ErrorKind as K, isolate_kernel, parse, verify};
use std::boxed::Box;
use std::string::{String, ToString};

const LOOP: &str = "    scf.for %i = 0 to %K step 64 {num_stages = 3} {
      copy %A[0, %i], %s : memref<?x?xf16, #gmem> -> tensor<64x64xf16, #smem>
      scf.yield
    }
";
const BETWEEN: &str = "  %z = constant 0.0 : tensor<64x64xf16>\n";
const READER: &str = "  %r = scf.for %k = 0 to %K step 64 iter_args(%c = %z) -> tensor<64x64xf16> {
    %a = tiled_load %s : tensor<64x64xf16, #smem> -> tensor<64x64xf16>
    %d = add %a, %c : tensor<64x64xf16>
    scf.yield %d : tensor<64x64xf16>
  }
";

/// The program with an agent of these lines, or what refuses it.
fn joined(inside: &str, between: &str, reader: &str, attrs: &str) -> Result<String, K> {
    let text = std::format!(
        "func @f(%A: memref<?x?xf16, #gmem>, %K: index, %m: index) {{threads = 128}} {{\n  %s = alloc_tensor : tensor<64x64xf16, #smem>\n  agent_switch{attrs} {{\n{inside}  }}\n{between}{reader}  tiled_store %r, %A[0, 0] : tensor<64x64xf16> -> memref<?x?xf16, #gmem>\n}}"
    );
    let mut storage = Box::new(BigStorage::new());
    let mut program = parse(storage.pools(), tables(), &text, STRICT).expect("it can be read");
    verify(&mut program).map_err(|e| e.kind)?;
    isolate_kernel(&mut program, None).map_err(|e| e.kind)?;
    verify(&mut program).map_err(|e| e.kind)?;
    Ok(printed(&program))
}

#[test]
fn copies_go_into_the_loop_that_reads_them() {
    let made = joined(LOOP, BETWEEN, READER, "").expect("a program");
    for part in ["num_stages = 3", "warp_specialize", "copy %A[0, %k], %s"] {
        assert!(made.contains(part), "{part}: {made}");
    }
    assert!(!made.contains("agent_switch") && made.matches("scf.for").count() == 1, "{made}");
    // Stages may be said by the reader, or by both alike.
    let silent = LOOP.replace(" {num_stages = 3}", "");
    let saying =
        READER.replace("-> tensor<64x64xf16> {\n", "-> tensor<64x64xf16> {num_stages = 3} {\n");
    assert_ne!(saying, READER);
    assert_eq!(joined(&silent, BETWEEN, &saying, ""), Ok(made.clone()));
    assert_eq!(joined(LOOP, BETWEEN, &saying, ""), Ok(made));
}

#[test]
fn what_is_no_agent_that_copies_is_refused() {
    let refused = |inside: &str, between: &str, reader: &str| {
        assert_eq!(
            joined(inside, between, reader, ""),
            Err(K::StageForm),
            "{inside}{between}{reader}"
        );
    };
    // Other turns, other stages, none.
    refused(&LOOP.replace("step 64", "step 32"), BETWEEN, READER);
    refused(&LOOP.replace("to %K", "to %m"), BETWEEN, READER);
    refused(&LOOP.replace("num_stages = 3", "num_stages = 1"), BETWEEN, READER);
    refused(
        LOOP,
        BETWEEN,
        &READER.replace("-> tensor<64x64xf16> {\n", "-> tensor<64x64xf16> {num_stages = 2} {\n"),
    );
    // More than copies, two loops, nothing; memory between the two, no loop behind.
    let more = LOOP.replace(
        "      scf.yield",
        "      %x = tiled_load %s : tensor<64x64xf16, #smem> -> tensor<64x64xf16>\n      scf.yield",
    );
    refused(&more, BETWEEN, READER);
    refused(&(LOOP.to_string() + LOOP), BETWEEN, READER);
    refused("", BETWEEN, READER);
    let load = "  %z = tiled_load %A[0, 0] : memref<?x?xf16, #gmem> -> tensor<64x64xf16>\n";
    refused(LOOP, load, READER);
    refused(LOOP, "  %r = constant 0.0 : tensor<64x64xf16>\n", "");
    assert_eq!(joined(LOOP, BETWEEN, READER, " attributes {depth = 3}"), Err(K::IdleAttr));
}

//! The same elements under another shape: nothing moves, what has no such place is refused, and a
//! plan that takes one element for another is found.
#![allow(missing_docs)]

use lanebook::TABLES;
use lanebook::check::{self, Violation};
use lanebook::ir::Value;
use lanebook::plan::Plan;
use lanebook_kernels::{try_kernel_text, try_with_plan, with_kernel};

/// A tile that is loaded, reshaped and stored.
fn kernel(from: &str, to: &str) -> String {
    let cols = to.split_once('x').expect("two extents").1;
    format!(
        "func @f(%X: memref<?x?xf32, #gmem> {{align = 16, stride_div = 4}}, %Y: memref<?x{cols}xf32, #gmem> {{align = 16}}) {{threads = 128}} {{
  %x = tiled_load %X[0, 0] : memref<?x?xf32, #gmem> -> tensor<{from}xf32>
  %y = reshape %x : tensor<{from}xf32> -> tensor<{to}xf32>
  tiled_store %y, %Y[0, 0] : tensor<{to}xf32> -> memref<?x{cols}xf32, #gmem>
}}
"
    )
}

#[test]
fn shapes_cost_nothing() {
    for arch in ["sm_80", "gfx942", "gfx1200"] {
        let moves = |to: &str| {
            with_kernel(&kernel("64x32", to), arch, |_, compiled, _| {
                let moved = compiled.plan.transfers.iter().map(|m| m.tiling.instances.len());
                (compiled.plan.exchanges.len(), compiled.plan.lanes.len(), moved.sum::<usize>())
            })
        };
        // Rows of as many elements as one instruction moves, or more.
        for to in ["64x32", "32x64", "16x128", "128x16"] {
            assert_eq!(moves(to), moves("64x32"), "{arch}, {to}");
        }
    }
}

#[test]
fn widths_in_blocks_are_refused() {
    for (from, to) in [("32x48", "48x32"), ("48x32", "32x48"), ("16x96", "32x48")] {
        let refused = try_kernel_text(&kernel(from, to), "sm_80").expect_err("no such place");
        assert!(refused.contains("Reshape("), "{from} to {to}: {refused}");
    }
    for (from, to) in [("48x32", "96x16"), ("24x64", "48x32")] {
        try_kernel_text(&kernel(from, to), "sm_80").unwrap_or_else(|e| panic!("{to}: {e}"));
    }
}

#[test]
fn another_element_is_found() {
    for arch in ["sm_80", "gfx942", "gfx1200"] {
        let text = kernel("64x32", "32x64");
        let found = try_with_plan(&text, arch, |program, compiled, _| {
            check::plan(&TABLES, program, &compiled.plan).expect("sound before");
            let reshaped = program.all().find(|op| program.op_name(*op) == "reshape");
            let reshaped = reshaped.expect("it is there");
            let of = |value: Option<Value>, plan: &Plan<'_>| {
                plan.fragments.iter().position(|f| Some(f.value) == value).expect("a distribution")
            };
            let from = of(program.operand(reshaped, 0), &compiled.plan);
            let to = of(program.result(reshaped, 0), &compiled.plan);
            // A tile of the same shape, but of the other one's columns.
            compiled.plan.fragments[to].fragment =
                compiled.plan.fragments[from].fragment.transposed();
            let found = check::plan(&TABLES, program, &compiled.plan);
            matches!(found, Err(Violation::Slice { op, .. }) if op == reshaped)
        });
        assert_eq!(found, Ok(true), "{arch}");
    }
}

//! Parts of tiles and scans: what is no part is refused with its reason, what lies in one lane's
//! registers stays there, and what the operations stand for can be taken out again.
#![allow(missing_docs)]

use lanebook::TABLES;
use lanebook::compile::{KernelStorage, compile};
use lanebook::ir::{LargeStorage, Options, Plain, parse, print, verify};
use lanebook_kernels::{kernel_text, try_kernel_text};

/// One operation on a tile of 32 x 64 elements, and what it leaves.
fn kernel(op: &str, to: &str) -> String {
    let cols = to.rsplit_once('x').expect("two extents").1;
    format!(
        "func @f(%X: memref<?x64xf32, #gmem> {{align = 16}}, %Y: memref<?x{cols}xf32, #gmem> {{align = 16}}) {{threads = 128}} {{
  %x = tiled_load %X[0, 0] : memref<?x64xf32, #gmem> -> tensor<32x64xf32>
  %y = {op} -> tensor<{to}xf32>
  tiled_store %y, %Y[0, 0] : tensor<{to}xf32> -> memref<?x{cols}xf32, #gmem>
}}
"
    )
}

#[test]
fn what_is_no_part_is_refused() {
    let cases = [
        ("extract_slice %x[0, 16] : tensor<32x64xf32>", "32x32", "Between"),
        ("extract_slice %x[0, 48] : tensor<32x64xf32>", "32x32", "Outside"),
        ("extract_slice %x[0, 0] : tensor<32x64xf32>", "32x24", "Between"),
        ("extract_slice %x[0, 0] : tensor<32x64xf32>", "64x32", "Outside"),
        ("insert_slice %x, %x[0, 0] : tensor<32x64xf32>, tensor<32x64xf32>", "32x32", "Shape"),
        ("scan %x {axis = 1, kind = add} : tensor<32x64xf32>", "64x32", "Type"),
    ];
    for (op, to, why) in cases {
        let refused = try_kernel_text(&kernel(op, to), "sm_80").expect_err(op);
        assert!(refused.contains(why) || why == "Type", "{op}: {refused}");
    }
    let odd = kernel("scan %x {axis = 0, kind = add} : tensor<32x64xf32>", "32x64");
    let odd = odd.replace("32x64", "24x64");
    let refused = try_kernel_text(&odd, "sm_80").expect_err("24 rows");
    assert!(refused.contains("Steps"), "{refused}");
    let counted = "func @f(%X: memref<?x64xf32, #gmem> {align = 16}, %n: index) {threads = 128} {
  %x = tiled_load %X[0, 0] : memref<?x64xf32, #gmem> -> tensor<32x64xf32>
  %y = extract_slice %x[0, %n] : tensor<32x64xf32> -> tensor<32x32xf32>
  tiled_store %y, %X[0, 0] : tensor<32x32xf32> -> memref<?x64xf32, #gmem>
}
";
    let refused = try_kernel_text(counted, "sm_80").expect_err("a place that is no number");
    assert!(refused.contains("Place"), "{refused}");
}

/// Rows that a lane holds one below the other are taken, put and paired without a move between
/// lanes.
#[test]
fn what_is_in_one_lane_stays_there() {
    for (arch, moves) in [("sm_80", "shfl."), ("gfx942", "ds_"), ("gfx1200", "ds_")] {
        for (op, to) in [
            ("extract_slice %x[16, 0] : tensor<32x64xf32>", "16x64"),
            ("extract_slice %x[0, 0] : tensor<32x64xf32>", "8x64"),
        ] {
            let text = kernel_text(&kernel(op, to), arch);
            assert!(!text.contains(moves), "{arch}, {op}:\n{text}");
        }
    }
}

/// A program that is refused is as it was, whatever has been put into it.
#[test]
fn a_refused_program_is_as_it_was() {
    let text = "func @f(%X: memref<?x64xf16, #gmem> {align = 16}, %I: memref<?xi32, #gmem>, %A: memref<?x64xf64, #gmem>) {threads = 128} {
  %x = tiled_load %X[0, 0] : memref<?x64xf16, #gmem> -> tensor<32x64xf16>
  %j = iota {axis = 1} : tensor<32x64xi32>
  %v, %i = reduce %x, %j {axis = 1, kind = argmax} : tensor<32x64xf16>, tensor<32x64xi32> -> tensor<32xf16>, tensor<32xi32>
  tiled_store %i, %I[0] : tensor<32xi32> -> memref<?xi32, #gmem>
  %k = extract_slice %j[0, 0] : tensor<32x64xi32> -> tensor<32x64xi32>
  %s = scan %k {axis = 0, kind = add} : tensor<32x64xi32> -> tensor<32x64xi32>
  %p = reshape %s : tensor<32x64xi32> -> tensor<1024x2xi32>
  %a, %b = split %p : tensor<1024x2xi32> -> tensor<1024xi32>, tensor<1024xi32>
  tiled_store %a, %I[0] : tensor<1024xi32> -> memref<?xi32, #gmem>
  %d = tiled_load %A[0, 0] : memref<?x64xf64, #gmem> -> tensor<32x64xf64>
  %e = math.erf %d : tensor<32x64xf64> -> tensor<32x64xf64>
  tiled_store %e, %A[0, 0] : tensor<32x64xf64> -> memref<?x64xf64, #gmem>
}
";
    let mut pools = Box::new(LargeStorage::new());
    let mut program = parse(pools.pools(), &TABLES, text, Options::default()).expect("a program");
    verify(&mut program).expect("a program");
    let printed = |program: &lanebook::ir::Program<'_, '_>| {
        let mut out = String::new();
        print(program, &Plain, &mut out).expect("text");
        out
    };
    let before = printed(&program);
    for arch in ["sm_80", "gfx942"] {
        let arch = TABLES.arch_named(arch).expect("an architecture");
        let mut room = Box::new(KernelStorage::new());
        let refused = compile(&TABLES, arch, &mut program, room.scratch()).err();
        // The last step of an error function of f64 is a choice, which is steps itself.
        assert!(refused.is_some(), "a plan has no room for the steps of an error function of f64");
        assert_eq!(printed(&program), before);
    }
}

//! `lanebook infer`: the course of an inference that gives no layouts, and what products have in it.
#![allow(missing_docs)]

use crate::support::{Ran, root, run, run_in};
use serde_json::Value;

fn inferred(text: &str, more: &[&str]) -> Ran {
    let mut args = vec!["infer", "-", "--arch", "sm_80"];
    args.extend_from_slice(more);
    run_in(&root(), &args, text)
}

/// Threads would read what others hold.
const TURNED: &str = "func @f(%A: memref<64xf32>, %B: memref<64xf32>) {threads = 64} {
  %f = alloc_tensor : tensor<64xf32, #fragment, {thread = v0, index = 0}>
  copy %A, %f
  parallel (%i) in (64) attributes {layout = {thread = v0, index = 0}} {
    %k = index.sub 63, %i : index
    %x = memref.load %f[%k]
    memref.store %x, %B[%i]
  }
}
";

#[test]
fn a_refused_program_has_its_course() {
    let plain = inferred(TURNED, &[]);
    assert_eq!((plain.code, plain.out.as_str()), (1, ""), "{}", plain.err);
    let ran = inferred(TURNED, &["--explain"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert_eq!(ran.err, plain.err);
    for line in [
        "// No layouts for sm_80.",
        "//   layout_map = {f}",
        "//   loop 1 -> rejected: a thread of loop 1 does not own f[k]",
    ] {
        assert!(ran.out.contains(line), "{line} is not in\n{}", ran.out);
    }
    let ran = inferred(TURNED, &["--format", "json"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    let json: Value = serde_json::from_str(&ran.out).expect("JSON");
    let why = json["refused"].as_str().expect("a reason");
    assert!(why.contains("does not own f[k]") && plain.err.contains(why), "{why}");
    let rejected = |step: &Value| step["event"] == "rejected" && step["operator"] == "loop 1";
    assert!(json["timeline"].as_array().expect("steps").iter().any(rejected), "{json}");
}

#[test]
fn a_product_is_heard_in_its_turn() {
    let ran = run(&["infer", "gen/cli/examples/loops/gemm.tile", "--arch", "sm_80"]);
    let out = ran.fine();
    let at = |line: &str| out.find(line).unwrap_or_else(|| panic!("{line} is not in\n{out}"));
    let strict = at("// Strict:");
    assert!(at("//   layout_map = {}") < strict);
    assert!(at("gemm in line 11 -> its unit establishes c's layout") > strict);
    assert!(out.contains("no update, because c lies where gemm in line 11 leaves it"));
    let ran =
        run(&["infer", "gen/cli/examples/loops/gemm.tile", "--arch", "sm_80", "--format", "json"]);
    let json: Value = serde_json::from_str(&ran.fine()).expect("JSON");
    let by_unit = |step: &&Value| step["by"] == "unit" && step["level"] == "strict";
    let steps = json["timeline"].as_array().expect("steps");
    assert_eq!(steps.iter().filter(by_unit).count(), 1, "{json}");
}

/// What is refused says why.
#[test]
fn reasons_are_those_of_the_program() {
    let gemm = |threads: u32, depth: u32, n: u32, policy: &str| {
        format!(
            "func @f(%A: memref<32x{depth}xf16>) {{threads = {threads}}} {{
  %a = alloc_tensor : tensor<32x{depth}xf16, #smem>
  %b = alloc_tensor : tensor<{depth}x{n}xf16, #smem>
  %c = alloc_tensor : tensor<32x{n}xf32, #fragment>
  gemm %a, %b, %c {{policy = {policy}}}
}}
"
        )
    };
    let copied = |body: &str| {
        format!("func @f(%A: memref<?x?xf32>, %C: memref<?x?xf32>) {{threads = 64}} {{\n{body}}}\n")
    };
    let ranged = TURNED.replace("{layout = {thread = v0, index = 0}}", "{threads = [0, 64]}");
    let ranged = ranged.replace("threads = 64}", "threads = 128}").replace("[0, 64]", "[64, 128]");
    let width = TURNED.replace("{layout = ", "{coalesced_width = 0, layout = ");
    for (text, arch, why) in [
        (gemm(32, 32, 32, "Square"), "gfx942", "driven by whole warps of 64"),
        (gemm(64, 8, 32, "Square"), "gfx1100", "the matrix unit takes 16 at a time"),
        (gemm(128, 32, 48, "FullRow"), "gfx1100", "does not divide among the warps"),
        (copied("  copy %A, %C\n"), "sm_80", "the whole of %C is meant"),
        (copied("  fill 0.0, %A\n"), "sm_80", "the whole of %A is meant"),
        (ranged, "sm_80", "the threads of f are counted from another one than those that execute"),
        (width, "sm_80", "`coalesced_width`"),
    ] {
        let ran = run_in(&root(), &["infer", "-", "--arch", arch], &text);
        assert_eq!(ran.code, 1, "{text}{}{}", ran.out, ran.err);
        assert!(ran.err.contains(why), "{why} is not in\n{}", ran.err);
    }
}

/// The width that is written bounds what a thread takes together, beside a layout as well.
#[test]
fn a_written_width_bounds_accesses() {
    for (width, word, times) in
        [(1, "ld.global.b16 ", 8), (2, "ld.global.b32 ", 4), (4, ".v2.b32", 2), (8, ".v4.b32", 1)]
    {
        let text = format!(
            "func @f(%A: memref<256xf16> {{align = 16}}, %B: memref<256xf16>) {{threads = 32}} {{
  parallel (%i) in (256) attributes {{layout = {{thread = v0 // 8, index = v0 % 8}}, coalesced_width = {width}}} {{
    %x = memref.load %A[%i]
    memref.store %x, %B[%i]
  }}
}}
"
        );
        let args = ["compile", "-", "--arch", "sm_80", "--emit", "ptx"];
        let ptx = run_in(&root(), &args, &text).fine();
        let loads = ptx.lines().filter(|l| l.contains("ld.global") && l.contains(word)).count();
        assert_eq!(loads, times, "{width}: {ptx}");
    }
}

/// A layout that takes elements apart is refused, for views as well.
#[test]
fn elements_stay_whole() {
    for (ty, layout, view) in [
        ("8x64xf16", "<(8, 64), (64, 1), swizzle<1, 0, 3>>", ""),
        ("8x33xi8", "<(8, 33), (36, 1)>", ""),
        ("8x32xf32", "<(8, 32), (33, 1)>", "8x16xi64"),
        ("8x64xi8", "<(8, 64), (1, 8)>", "8x16xi32"),
        ("8x64xi8", "<(8, 64), (64, 1), swizzle<2, 0, 3>>", "8x16xi32"),
    ] {
        let view = match view {
            "" => String::new(),
            view => format!("  %v = view %s : tensor<{view}, #smem>\n"),
        };
        let text = format!(
            "func @f(%A: memref<{ty}>, %B: memref<{ty}>) {{threads = 64}} {{
  %s = alloc_tensor : tensor<{ty}, #smem, {layout}>
{view}  copy %A, %s
  copy %s, %B
}}
"
        );
        let ran = inferred(&text, &[]);
        let torn = ran.err.contains("takes elements apart, its own or those of a view of it");
        // Bytes are never taken apart.
        let whole = ty.ends_with("i8") && view.is_empty();
        assert_eq!((ran.code != 0, torn), (!whole, !whole), "{text}{}", ran.err);
    }
}

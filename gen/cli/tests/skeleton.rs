//! The skeleton of a machine with an instruction set of its own: it compiles as it is written, and the
//! audit says what it lacks.

use crate::support::{copy, folder, root, run_in};
use std::fs;

const COPY: &str =
    "func @copy(%a: memref<64xf32, #gmem>, %b: memref<64xf32, #gmem>) {threads = 32} {
  %z = constant 0 : index
  %x = tiled_load %a[%z] : memref<64xf32, #gmem> -> tensor<64xf32>
  tiled_store %x, %b[%z] : tensor<64xf32> -> memref<64xf32, #gmem>
}
";

const ROWS: &str =
    "func @rows(%a: memref<?x?xf32, #gmem>, %b: memref<?x?xf32, #gmem>, %i: index) {threads = 32} {
  %x = tiled_load %a[%i, %i] : memref<?x?xf32, #gmem> -> tensor<8x32xf32>
  tiled_store %x, %b[%i, %i] : tensor<8x32xf32> -> memref<?x?xf32, #gmem>
}
";

#[test]
fn a_machine_is_begun_from_nothing() {
    let at = folder("skeleton");
    for name in ["hw-tables", "rules"] {
        copy(&root().join(name), &at.join(name));
    }
    let printed = run_in(&at, &["new-arch", "xpu1", "-o", "-"], "");
    assert!(printed.code == 0 && !at.join("rules/isa/xpu1.ron").exists(), "{}", printed.err);
    let named = run_in(&at, &["new-arch", "xpu1", "-o", "one.ron"], "");
    assert!(named.code == 2 && named.err.contains("more than one file"), "{}", named.err);
    let said = run_in(&at, &["new-arch", "xpu1"], "");
    assert_eq!(said.code, 0, "{}", said.err);
    let files = ["hw-tables/xpu1/xpu1.ron", "hw-tables/xpu1/sources.ron", "rules/isa/xpu1.ron"];
    let mut all = String::new();
    for file in files {
        assert!(said.out.contains(file), "{}", said.out);
        let text = fs::read_to_string(at.join(file)).expect("a file");
        assert!(!text.contains("NAME"), "{file}");
        all += &format!("// file: {file}\n{text}");
    }
    assert_eq!(printed.out, all);
    // What is wrong with it: nothing; what is assumed and what is missing is said.
    let audit = ["check", "--draft", "--notes", "--assemblers", "off", files[0], files[2]];
    let found = run_in(&at, &audit, "");
    assert_eq!(found.code, 0, "{}", found.err);
    assert!(!found.err.contains("warning"), "{}", found.err);
    for missing in [
        "atom `xpu1.end` is assumed",
        "xpu1 cannot: ",
        "nothing answers `product",
        "`mul`: no instruction does it for any type",
    ] {
        assert!(found.err.contains(missing), "{missing}: {}", found.err);
    }
    // A release asks for proofs and numbers; both are made by commands.
    let release = ["check", "--assemblers", "off", files[0], files[2]];
    let early = run_in(&at, &release, "");
    assert!(early.code == 1 && early.err.contains("`xpu1_add` has no proof"), "{}", early.err);
    for made in [&["prove", "--write"][..], &["ids"]] {
        let ran = run_in(&at, made, "");
        assert_eq!(ran.code, 0, "{made:?}: {}", ran.err);
    }
    let released = run_in(&at, &release, "");
    assert_eq!(released.code, 0, "{}", released.err);
    // It moves what it can move.
    fs::write(at.join("copy.tile"), COPY).expect("a program");
    let compile = ["compile", "--tables", ".", "--arch", "xpu1", "--emit", "xpu1", "copy.tile"];
    let kernel = run_in(&at, &compile, "");
    assert_eq!(kernel.code, 0, "{}", kernel.err);
    let count = |word: &str| kernel.out.matches(word).count();
    assert_eq!((count("load_global_b32 "), count("store_global_b32 ")), (2, 2), "{}", kernel.out);
    // Rows a run-time stride apart as well.
    fs::write(at.join("copy.tile"), ROWS).expect("a program");
    let rows = run_in(&at, &compile, "");
    assert!(rows.code == 0 && rows.out.contains("mul_u64_u32"), "{}", rows.err);
    // v0 holds the thread's number at entry: nothing may be put there before it was used.
    assert!(
        kernel.out.contains("shl_b32 v") && !kernel.out.contains("v[0:1], 0"),
        "{}",
        kernel.out
    );
    let again = run_in(&at, &["new-arch", "xpu1"], "");
    assert!(again.code == 2 && again.err.contains("already"), "{}", again.err);
}

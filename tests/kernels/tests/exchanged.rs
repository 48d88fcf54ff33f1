//! Loops with `exchange = allow`: what no layout of theirs owns they read through shared memory, and the kernels do what the
//! programs say. Loops that do not say it, or cannot, are refused as ever.
#![allow(missing_docs)]

use lanebook::TABLES;
use lanebook_kernels::assembled;
use lanebook_kernels::interpret::inputs::Fill;
use lanebook_kernels::interpret::{Given, Interpreted};
use lanebook_kernels::judge::run_text;
use lanebook_report::compile::compiled;
use lanebook_report::plan::Parts;
use lanebook_report::program::Source;

const ARCHS: [&str; 7] = ["sm_80", "sm_90a", "sm_100a", "gfx942", "gfx950", "gfx1100", "gfx1200"];

/// A fragment by rows.
const ROWS: &str = "{thread = v0 * 2 + v1 // 16, index = v1 % 16}";

/// The command's own way from text to text; without optimisation its rooms pass the stack.
fn kernel(text: &str, arch: &str) -> Result<String, String> {
    let source = Source::new("test", text);
    let made = || compiled(&TABLES, arch, &source, Parts::Kernel, false);
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(1 << 26).spawn_scoped(scope, made);
        let made = thread.expect("a thread").join().expect("no panic");
        made.map_err(|problems| format!("{problems:?}"))
    })
}

/// All columns at once: a loop whose own layout is another than the fragment's.
fn columns(attribute: &str) -> String {
    format!(
        "func @p(%A: memref<64x32xf32> {{align = 16}}, %C: memref<64x32xf32> {{align = 16}}) {{threads = 128}} {{
  %f = alloc_tensor : tensor<64x32xf32, #fragment, {ROWS}>
  copy %A, %f
  parallel (%i, %j) in (64, 32) attributes {{layout = {{thread = v1 * 4 + v0 // 16, index = v0 % 16}}{attribute}}} {{
    %x = memref.load %f[%i, %j] : f32
    %y = add %x, %x : f32
    memref.store %y, %C[%i, %j]
  }}
}}
"
    )
}

/// A transposed reader in a loop, at two places of each row, beside one that owns what it reads.
fn turned(attribute: &str) -> String {
    format!(
        "func @p(%A: memref<64x32xf32> {{align = 16}}, %C: memref<32x64xf32> {{align = 16}}) {{threads = 128}} {{
  %f = alloc_tensor : tensor<64x32xf32, #fragment, {ROWS}>
  %g = alloc_tensor : tensor<32x64xf32, #fragment, {{thread = v0 * 4 + v1 // 16, index = v1 % 16}}>
  fill 0.0, %g
  copy %A, %f
  scf.for %k = 0 to 3 step 1 {{
    parallel (%i, %j) in (32, 64){attribute} {{
      %x = memref.load %f[%j, %i] : f32
      %r = index.add %j, 1 : index
      %q = index.rem %r, 64 : index
      %z = memref.load %f[%q, %i] : f32
      %o = memref.load %g[%i, %j] : f32
      %d = sub %x, %z : f32
      %y = add %o, %d : f32
      memref.store %y, %g[%i, %j]
    }}
    parallel (%i, %j) in (64, 32) {{
      %x = memref.load %f[%i, %j] : f32
      %y = add %x, %x : f32
      memref.store %y, %f[%i, %j]
    }}
  }}
  copy %g, %C
}}
"
    )
}

#[test]
fn readers_through_shared_memory() {
    // What it reads it writes as well: there and back.
    let written = columns(", exchange = allow").replace("%C[%i, %j]", "%f[%i, %j]");
    let written = written.replace("  }\n}\n", "  }\n  copy %f, %C\n}\n");
    assert!(written.contains("copy %f, %C"), "{written}");
    let texts = [columns(", exchange = allow"), turned(" attributes {exchange = allow}"), written];
    for text in &texts {
        let given = Given { turns: 2, salt: 3, fill: Some(Fill::Small) };
        let said = Interpreted::with(text, given).expect("a program");
        for arch in ARCHS {
            let made = kernel(text, arch).unwrap_or_else(|why| panic!("{arch}: {why}\n{text}"));
            let ran = assembled(arch, &made).and_then(|()| run_text(&said, &made, &[], arch));
            assert_eq!(ran, Ok(()), "{arch}\n{text}\n{made}");
        }
    }
}

#[test]
fn what_is_not_allowed_is_refused() {
    let written = columns("").replace("%C[%i, %j]", "%f[%i, %j]");
    for text in [columns(""), turned(""), written] {
        let why = kernel(&text, "sm_80").expect_err("nobody owns it");
        assert!(why.contains("does not own"), "{why}");
    }
    // Threads that are counted from another one hold other elements under the same numbers.
    let ranges = |first: &str, last: &str| {
        format!(
            "func @p(%A: memref<128xf32>, %C: memref<128xf32>) {{threads = 128}} {{
  %f = alloc_tensor : tensor<128xf32, #fragment>
  copy %A, %f
  parallel (%i) in (128) attributes {{threads = [64, 128]}} {{
    %x = memref.load %{first}[%i] : f32
    memref.store %x, %{last}[%i]
  }}
  copy %f, %C
}}
"
        )
    };
    for (first, last) in [("f", "C"), ("A", "f")] {
        let why = kernel(&ranges(first, last), "sm_80").expect_err("others hold it");
        assert!(why.contains("are counted from another one"), "{why}");
    }
    let text = columns(", exchange = always");
    let why = kernel(&text, "sm_80").expect_err("another word");
    assert!(why.contains("exchange"), "{why}");
}

/// Two elements of a fragment that no layout brings to one thread: it lies once among the threads, and not whole in each.
#[test]
fn little_is_read_of_what_all_would_hold() {
    let text = |attribute: &str| {
        format!(
            "func @p(%A: memref<128xf32> {{align = 16}}, %C: memref<128xf32> {{align = 16}}) {{threads = 128}} {{
  %f = alloc_tensor : tensor<128xf32, #fragment>
  copy %A, %f
  parallel (%i) in (128){attribute} {{
    %k = index.sub 127, %i : index
    %x = memref.load %f[%i]
    %y = memref.load %f[%k]
    %z = add %x, %y : f32
    memref.store %z, %C[%i]
  }}
}}
"
        )
    };
    let given = Given { turns: 1, salt: 3, fill: Some(Fill::Small) };
    let said = Interpreted::with(&text(""), given).expect("a program");
    let loads = |kernel: &str| kernel.matches("ld.global").count();
    for (attribute, shared, global) in [("", 0, 32), (" attributes {exchange = allow}", 2, 1)] {
        let kernel = kernel(&text(attribute), "sm_80").expect("a kernel");
        assembled("sm_80", &kernel).expect("an assembler");
        run_text(&said, &kernel, &[], "sm_80").expect("what the program says");
        assert_eq!(
            (kernel.matches("ld.shared").count(), loads(&kernel)),
            (shared, global),
            "{kernel}"
        );
    }
}

//! Warps that only copy for the others: what a launch is told of them, how far they run ahead, and
//! what is refused with which reason.
#![allow(missing_docs)]

use lanebook::TABLES;
use lanebook::compile::{CompileError, compile};
use lanebook::ir::{ErrorKind, Options, SmallStorage, isolate_kernel, parse, verify};
use lanebook::plan::{PlanError, Unstaged};
use lanebook_kernels::{room, try_kernel_text};

const COPIES: &str = "copy %A[0, %k], %s : memref<?x?xf16, #gmem> -> tensor<64x64xf16, #smem>\n";
const READS: &str = "%a = tiled_load %s : tensor<64x64xf16, #smem> -> tensor<64x64xf16>
      tiled_store %a, %B[0, %k] : tensor<64x64xf16> -> memref<?x?xf16, #gmem>\n";

/// A function around a loop with attributes and a body.
fn function(attributes: &str, body: &str) -> String {
    format!(
        "func @f(%A: memref<?x?xf16, #gmem> {{align = 16, stride_div = 8}}, %B: memref<?x?xf16, #gmem> {{align = 16, stride_div = 8}}, %K: index) {{threads = 128}} {{
    %s = alloc_tensor : tensor<64x64xf16, #smem>
    scf.for %k = 0 to %K step 64 {{{attributes}}} {{
      {body}
      scf.yield
    }}
  }}
"
    )
}

/// Why a program is not compiled.
#[derive(Debug, PartialEq)]
enum Why {
    Program(ErrorKind),
    Stages(Unstaged),
    Other(String),
}

fn refused(text: &str, arch: &str) -> Option<Why> {
    let mut pools = Box::new(SmallStorage::new());
    let mut program = match parse(pools.pools(), &TABLES, text, Options::default()) {
        Ok(program) => program,
        Err(e) => return Some(Why::Program(e.kind)),
    };
    if let Err(e) =
        verify(&mut program).and_then(|()| isolate_kernel(&mut program, None).map(|_| ()))
    {
        assert!(e.at.line > 0, "a place: {e:?}");
        return Some(Why::Program(e.kind));
    }
    let arch = TABLES.arch_named(arch).expect("an architecture");
    match compile(&TABLES, arch, &mut program, room().scratch()) {
        Ok(_) => None,
        Err(CompileError::Plan(PlanError::Stages { why, .. })) => Some(Why::Stages(why)),
        Err(other) => Some(Why::Other(format!("{other:?}"))),
    }
}

/// Both ways to write it are one kernel.
#[test]
fn stages_of_pipelines_are_loops_with_warps_of_their_own() {
    let written = function("num_stages = 3, warp_specialize", &format!("{COPIES}      {READS}"));
    let produced = function(
        "num_stages = 3",
        &format!("produce_one {{\n {COPIES} }}\n consume_one {{\n {READS} }}"),
    );
    let depth = function(
        "",
        &format!(
            "produce_one attributes {{depth = 3}} {{\n {COPIES} }}\n consume_one {{\n {READS} }}"
        ),
    )
    .replace(" {} {", " {");
    for arch in ["sm_90a", "sm_100a", "sm_120a"] {
        let text = |source: &str| try_kernel_text(source, arch).expect("it compiles");
        assert_eq!(text(&written), text(&produced), "{arch}");
        assert_eq!(text(&written), text(&depth), "{arch}");
        // 128 threads and as many that copy; registers go from these to the others.
        let text = text(&written);
        for word in [".reqntid 256, 1, 1\n.maxnreg ", "setmaxnreg.dec", "setmaxnreg.inc"] {
            assert!(text.contains(word), "{arch}: {word}");
        }
        // All threads meet while the barriers are made, and not again before the end.
        let (_, behind) = text.split_once("setmaxnreg.inc").expect("two parts");
        assert!(!behind.split("ret;").next().unwrap_or("").contains("bar.sync"), "{arch}\n{text}");
        let plain = function("num_stages = 3", &format!("{COPIES}      {READS}"));
        assert_ne!(try_kernel_text(&plain, arch).expect("it compiles"), text, "{arch}");
    }
}

#[test]
fn what_cannot_be_is_refused_with_its_reason() {
    let both = format!("{COPIES}      {READS}");
    let apart = "num_stages = 3, warp_specialize";
    let pair = |copies: &str, reads: &str| {
        function(
            "num_stages = 3",
            &format!("produce_one {{\n {copies} }}\n consume_one {{\n {reads} }}"),
        )
    };
    let form = || Why::Program(ErrorKind::StageForm);
    let stages = Why::Stages;
    let into_a = READS.replace("%B[0, %k]", "%A[0, %k]");
    let mut behind = function(apart, &both);
    let end = behind.rfind('}').expect("an end");
    behind.insert_str(
        end,
        "%z = constant 0.0 : tensor<64x64xf16>
  tiled_store %z, %A[0, 0] : tensor<64x64xf16> -> memref<?x?xf16, #gmem>\n",
    );
    let cases = [
        (function(apart, &both), "sm_80", stages(Unstaged::Apart)),
        (function(apart, &both), "sm_90", stages(Unstaged::Apart)),
        (function(apart, &both), "gfx942", stages(Unstaged::Apart)),
        (function("warp_specialize", &both), "sm_90a", stages(Unstaged::Single)),
        (
            function(apart, &both).replace("threads = 128", "threads = 1024"),
            "sm_90a",
            stages(Unstaged::Threads),
        ),
        (function(apart, &format!("{COPIES} {into_a}")), "sm_90a", stages(Unstaged::Written)),
        (behind, "sm_90a", stages(Unstaged::WrittenBeside)),
        (
            function(apart, &both).replace("align = 16, stride_div = 8", "align = 4"),
            "sm_90a",
            stages(Unstaged::Boxes),
        ),
        // Stages of pipelines.
        (pair(READS, COPIES), "sm_90a", form()),
        (pair(COPIES, &both), "sm_90a", form()),
        (
            function("num_stages = 3", &format!("{COPIES} consume_one {{\n {READS} }}")),
            "sm_90a",
            form(),
        ),
        (
            function("", &format!("produce_one {{\n {COPIES} }}\n {READS}")).replace(" {} {", " {"),
            "sm_90a",
            form(),
        ),
        (
            function(
                "num_stages = 3",
                &format!("produce_one attributes {{depth = 2}} {{\n {COPIES} }}\n {READS}"),
            ),
            "sm_90a",
            Why::Program(ErrorKind::IdleAttr),
        ),
        (
            function(
                "num_stages = 3",
                &format!(
                    "produce_one {{\n {COPIES} }}\n scf.if %K {{\n consume_one {{\n {READS} }}\n scf.yield\n }}"
                ),
            ),
            "sm_90a",
            form(),
        ),
    ];
    for (text, arch, why) in cases {
        assert_eq!(refused(&text, arch), Some(why), "{arch}\n{text}");
    }
    assert_eq!(refused(&pair(COPIES, READS), "sm_90a"), None);
    // What follows a producer may stand in no stage.
    let loose = function("num_stages = 3", &format!("produce_one {{\n {COPIES} }}\n {READS}"));
    assert_eq!(refused(&loose, "sm_90a"), None);
}

/// Each loop has two barriers for each of its stages, and a kernel sixteen.
#[test]
fn barriers_are_counted() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/programs/apart_twice.tile");
    let text = std::fs::read_to_string(file).expect("a program");
    let with = |n: u32| text.replace("num_stages = 4", &format!("num_stages = {n}"));
    assert_eq!(refused(&with(6), "sm_90a"), None);
    let why = refused(&with(7), "sm_90a");
    assert!(matches!(&why, Some(Why::Other(why)) if why.contains("Mbarriers")), "{why:?}");
}

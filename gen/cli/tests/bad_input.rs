//! Bad input: each says where, what and what to do; the exit status tells the kind; nothing is
//! written.

use crate::support::{Ran, copy, example, folder, root, run, run_in};
use std::fs;

const ARCHS: [&str; 2] = ["sm_80", "gfx950"];

/// Compiles a program from standard input for an architecture, with an output file that must not
/// come to be.
fn compile(test: &str, arch: &str, text: &str) -> Ran {
    let at = folder(test);
    let ran = run_in(&at, &["compile", "-", "--arch", arch, "-o", "out.txt"], text);
    assert_eq!(fs::read_dir(&at).expect("folder").count(), 0, "something was written");
    ran
}

#[test]
fn unknown_architecture_lists_the_known() {
    run(&["compile", "--arch", "sm_81"])
        .refused(2, &["unknown architecture `sm_81`", "did you mean `sm_80`?", "gfx950", "sm_80"]);
    run(&["atoms", "--arch", "z"]).refused(2, &["unknown architecture `z`", "known: "]);
}

#[test]
fn unknown_operation_names_the_nearest() {
    let text = example("gemm.tile").replace("tiled_load %sa", "tile_load %sa");
    for arch in ARCHS {
        compile("unknown_op", arch, &text).refused(
            1,
            &[
                "unknown operation `tile_load`",
                "standard input:17:10",
                "^^^^^^^^^",
                "did you mean `tiled_load`?",
            ],
        );
    }
}

#[test]
fn words_behind_operands_are_attributes() {
    for word in ["fastmath<fast>", "allow_reorder", "mode = fast"] {
        let text = format!(
            "func @f(%X: memref<64xf32, #gmem>) {{threads = 32}} {{\n  %x = tiled_load %X[0] : memref<64xf32, #gmem> -> tensor<64xf32>\n  %y = arith.addf %x, %x {word} : tensor<64xf32>\n  tiled_store %y, %X[0] : tensor<64xf32> -> memref<64xf32, #gmem>\n}}\n"
        );
        let name = word.split(['<', ' ']).next().expect("a name");
        let said = format!("obeys no attribute `{name}` of `add`");
        for arch in ARCHS {
            compile("words_behind", arch, &text).refused(1, &[&said, "standard input:3:26"]);
        }
    }
}

#[test]
fn values_that_are_so_anyhow_are_taken_and_no_others() {
    for (line, right, wrong) in [
        ("%y = tt.fp_to_fp %x, rounding = ~ : tensor<64xf32> -> tensor<64xf16>", "rtne", "rtz"),
        ("%y = tt.clampf %x, %x, %x, propagateNan = ~ : tensor<64xf32>", "none", "all"),
        (
            "%y = tiled_load %X[0] cacheModifier = ~ : memref<64xf32, #gmem> -> tensor<64xf32>",
            "none",
            "cg",
        ),
        (
            "%y = tiled_load %X[0] evictionPolicy = ~ : memref<64xf32, #gmem> -> tensor<64xf32>",
            "evict_normal",
            "evict_last",
        ),
        (
            "%y = tiled_load %X[0] {isVolatile = ~} : memref<64xf32, #gmem> -> tensor<64xf32>",
            "false",
            "true",
        ),
    ] {
        let ty = if line.contains("f16") { "f16" } else { "f32" };
        let text = |value| {
            format!(
                "func @f(%X: memref<64xf32, #gmem>, %Y: memref<64x{ty}, #gmem>) {{threads = 64}} {{\n  %x = tiled_load %X[0] : memref<64xf32, #gmem> -> tensor<64xf32>\n  {}\n  tiled_store %y, %Y[0] : tensor<64x{ty}> -> memref<64x{ty}, #gmem>\n}}\n",
                line.replace('~', value)
            )
        };
        for arch in ARCHS {
            let at = folder("said_anyhow");
            run_in(&at, &["compile", "-", "--arch", arch], &text(right)).fine();
            let takes = format!("it takes one of the words {right}");
            compile("said_otherwise", arch, &text(wrong))
                .refused(1, &[&takes, "cannot be", "standard input:3:"]);
        }
    }
}

#[test]
fn parts_that_go_from_lane_to_lane_say_which_extents_they_take() {
    let text = "func @s(%X: memref<100x16xf32, #gmem>, %Y: memref<50x16xf32, #gmem>) {threads = 64} {\n  %x = tiled_load %X[0, 0] : memref<100x16xf32, #gmem> -> tensor<100x16xf32>\n  %a = extract_slice %x[50, 0] : tensor<100x16xf32> -> tensor<50x16xf32>\n  tiled_store %a, %Y[0, 0] : tensor<50x16xf32> -> memref<50x16xf32, #gmem>\n}\n";
    for arch in ARCHS {
        compile("long_part", arch, text).refused(
            1,
            &["the part goes from lane to lane", "several smaller parts", "standard input:3:8"],
        );
    }
}

#[test]
fn loops_of_stages_have_copies_that_run_ahead() {
    let text = "func @f(%A: memref<64x64xf16>, %C: memref<64x64xf16>) {threads = 128} {\n  %c = alloc_tensor : tensor<64x64xf16, #fragment>\n  fill 0.0, %c\n  scf.for %k = 0 to 4 step 1 {\n    copy %A, %c\n    scf.yield\n  } {num_stages = 3}\n  copy %c, %C\n}\n";
    for arch in ARCHS {
        compile("loop_stages", arch, text)
            .refused(1, &["a loop of stages has copies that run ahead, and no copy", ":4:3"]);
        // Each thread turns a loop inside of a parallel one by itself.
        let inside = "func @f(%A: memref<64xf32>, %C: memref<64xf32>) {threads = 64} {\n  parallel %i in 64 {\n    scf.for %k = 0 to 4 step 1 {num_stages = 2} {\n      %x = memref.load %A[%i] : f32\n      memref.store %x, %C[%i]\n    }\n  }\n}\n";
        compile("loop_stages_inside", arch, inside).refused(
            1,
            &["`num_stages` of `scf.for`", "num_stages = 1 to 8, outside of parallel loops", ":3:"],
        );
    }
}

#[test]
fn regions_that_ask_for_numbers_are_no_kind() {
    let region = |relation: &str| {
        format!(
            "func @f(%X: memref<32x64xf32, #gmem>, %P: memref<32xi32, #gmem>) {{threads = 128}} {{\n  %x = tiled_load %X[0, 0] : memref<32x64xf32, #gmem> -> tensor<32x64xf32>\n  %i = tt.make_range {{axis = 1, start = 0, end = 64}} : tensor<32x64xi32>\n  %m:2 = \"tt.reduce\"(%x, %i) <{{axis = 1 : i32}}> ({{\n  ^bb0(%a: f32, %b: i32, %c: f32, %d: i32):\n    %e = arith.cmpf oeq, %a, %c : f32\n    %s = arith.cmpi slt, %b, %d : i32\n    %t = arith.andi %e, %s : i1\n    %g = arith.cmpf {relation}, %a, %c : f32\n    %o = arith.ori %g, %t : i1\n    %v = arith.select %o, %a, %c : f32\n    %w = arith.select %o, %b, %d : i32\n    tt.reduce.return %v, %w : f32, i32\n  }}) : (tensor<32x64xf32>, tensor<32x64xi32>) -> (tensor<32xf32>, tensor<32xi32>)\n  tiled_store %m#1, %P[0] : tensor<32xi32> -> memref<32xi32, #gmem>\n}}\n"
        )
    };
    for arch in ARCHS {
        let ran = run_in(&folder("regions"), &["compile", "-", "--arch", arch], &region("ogt"));
        assert_eq!(ran.code, 0, "{}", ran.err);
        // It holds also where one of the two is no number: no kind, so it is done as it is written.
        let other = run_in(&folder("regions"), &["compile", "-", "--arch", arch], &region("ugt"));
        assert!(other.code == 0 && other.out != ran.out, "{}", other.err);
        // By pairs of neighbours, of which there is a power of two.
        let odd = region("ugt").replace("32x64", "32x48").replace("end = 64", "end = 48");
        compile("regions", arch, &odd)
            .refused(1, &["none that is taken apart into operations on tiles", "power of two"]);
    }
}

#[test]
fn too_many_registers_are_told_of_at_an_operation() {
    let text = example("gemm_fp8.tile");
    compile("registers", "gfx1100", &text)
        .refused(1, &["vgpr registers at once", "standard input:", "%"]);
}

/// A kernel that calls, and what it calls.
fn calling(called: &str, call: &str) -> String {
    format!(
        "func private @g(%t: tensor<64x64xf32>) -> tensor<64x64xf32> {{\n  {called}\n  return %s : tensor<64x64xf32>\n}}\nfunc @f(%x: memref<?x64xf32, #gmem>) {{threads = 128}} {{\n  %a = tiled_load %x[0, 0] : memref<?x64xf32, #gmem> -> tensor<64x64xf32>\n  %b = {call}\n  tiled_store %b, %x[0, 0] : tensor<64x64xf32> -> memref<?x64xf32, #gmem>\n}}\n"
    )
}

#[test]
fn calls_are_of_functions_that_are_there_and_do_not_go_round() {
    let ty = "(tensor<64x64xf32>) -> tensor<64x64xf32>";
    let (add, call) = ("%s = add %t, %t : tensor<64x64xf32>", format!("call @g(%a) : {ty}"));
    compile("calls_none", "sm_80", &calling(add, &call.replace("@g", "@h")))
        .refused(1, &["there is no function of this name", "standard input:7:8", "^^^^"]);
    let own = format!("%s = call @g(%t) : {ty}");
    compile("calls_itself", "gfx950", &calling(&own, &call)).refused(
        1,
        &["the function calls itself", "standard input:2:8", "@g calls @g", "use a loop"],
    );
    // What stands in a called function is refused where it stands.
    compile(
        "calls_wrong",
        "sm_80",
        &calling("%s = add %t, %t {odd = 1} : tensor<64x64xf32>", &call),
    )
    .refused(1, &["obeys no attribute `odd`", "standard input:2:"]);
    let two = format!("{}{}", calling(add, &call), "func @k() {threads = 64} {\n}\n");
    compile("two_kernels", "sm_80", &two)
        .refused(1, &["has 2 functions that may be launched", "name one with --function: @f, @k"]);
    let at = folder("wrong_name");
    run_in(&at, &["compile", "-", "--arch", "sm_80", "--function", "ff"], &two)
        .refused(1, &["has no function @ff", "did you mean `f`?", "@f, @k"]);
    run_in(&at, &["compile", "-", "--arch", "sm_80", "--function", "@k"], &two).fine();
    run_in(&at, &["compile", "-", "--arch", "sm_80", "--function", "g"], &two)
        .refused(1, &["no function may be launched", "standard input:1:1"]);
}

#[test]
fn loops_that_do_not_count_are_refused() {
    let text = |test: &str, next: &str| {
        format!(
            "func @f(%x: memref<?x64xf32, #gmem>, %n: index) {{threads = 128}} {{\n  %r = scf.while (%i = 0) : (index) -> index {{\n    %c = index.cmp {test} : index\n    scf.condition(%c) %i : index\n  }} do {{\n  ^bb0(%j: index):\n    %k = {next} : index\n    scf.yield %k : index\n  }}\n}}\n"
        )
    };
    let sentence = "does not go on just while an index that grows by the same is below a bound";
    for (test, next) in [("ne, %i, %n", "index.add %j, 1"), ("slt, %i, %n", "index.mul %j, 2")] {
        compile("while_form", "sm_80", &text(test, next))
            .refused(1, &[sentence, "standard input:2:8", "^^^^^^^^^"]);
    }
}

#[test]
fn unknown_element_type_names_the_nearest() {
    compile("unknown_dtype", "sm_80", &example("gemm.tile").replace("xf16", "xf61"))
        .refused(1, &["unknown element type `f61`", "did you mean `f", "f16"]);
}

#[test]
fn wrong_shapes() {
    let text =
        example("gemm.tile").replace("tensor<64x128xf16, #smem>", "tensor<32x128xf16, #smem>");
    compile("wrong_shapes", "sm_80", &text)
        .refused(1, &["two tiles disagree in an extent", "^^^^", "32", "64"]);
}

#[test]
fn a_written_layout_of_another_size() {
    let text = example("gemm.tile")
        .replace("%sa = alloc_tensor", "%sa = alloc_tensor {layout = S[(64,64):(64,1)]}");
    compile("layout_size", "gfx950", &text)
        .refused(1, &["the layout does not cover the tile", "4096", "8192", "^^^^"]);
}

#[test]
fn a_written_layout_that_cannot_be_read() {
    let text = example("gemm.tile")
        .replace("%sa = alloc_tensor", "%sa = alloc_tensor {layout = S[(64,64:(64,1)]}");
    let ran = compile("layout_text", "sm_80", &text);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
    assert!(ran.err.contains(":11:") && ran.err.contains("= help: "), "{}", ran.err);
}

#[test]
fn a_written_layout_on_an_unknown_axis() {
    let text = example("gemm.tile")
        .replace("%sa = alloc_tensor", "%sa = alloc_tensor {layout = S[(128,64):(64,1@lanid)]}");
    compile("layout_axis", "sm_80", &text).refused(
        1,
        &["standard input:11:49", "unknown axis `lanid`", "^^^^^", "did you mean `laneid`?"],
    );
}

#[test]
fn a_movement_that_no_atom_can_do() {
    // A matrix operand has two halves in each register; memory that is aligned to one half cannot
    // fill it, and both operands, converted, are more than there are registers.
    let text = example("gemm.tile")
        .replace(
            "%a = tiled_load %sa : tensor<128x64xf16, #smem>",
            "%a = tiled_load %A[%m, %k] : memref<?x?xf16, #gmem>",
        )
        .replace(
            "%b = tiled_load %sb : tensor<64x128xf16, #smem>",
            "%b = tiled_load %B[%k, %n] : memref<?x?xf16, #gmem>",
        )
        .replace("align = 16, stride_div = 8", "align = 2");
    for arch in ["gfx1100", "gfx1250"] {
        compile("no_mover", arch, &text).refused(
            1,
            &[
                "no instruction of",
                arch,
                "can do this movement",
                "aligned to",
                "are certain",
                "^^^^",
                "align = BYTES",
            ],
        );
    }
}

/// A copy through a tensor map that the program asks for: rules are named, with their sources.
#[test]
fn a_box_that_no_tensor_map_describes() {
    let text = example("gemm_store.tile")
        .replace("copy %sc, %C[%m, %n] :", "copy %sc, %C[%m, %n] {mover = \"tma.2d.store.one\"} :");
    for arch in ["sm_90", "sm_90a", "sm_100a"] {
        // A tensor, and rows, that are less aligned than a map's.
        let odd = text.replace(
            "%C: memref<?x?xf32, #gmem> {align = 16, stride_div = 4}",
            "%C: memref<?x?xf32, #gmem> {align = 4, stride_div = 4}",
        );
        compile("map_base", arch, &odd).refused(
            1,
            &[
                "can do this movement",
                "aligned to 16 B, 4 B are certain",
                "rule Base",
                "source: ",
                "cuda_driver",
                "^^^",
            ],
        );
        let odd = text.replace("{align = 16, stride_div = 4}", "{align = 16, stride_div = 2}");
        compile("map_stride", arch, &odd).refused(
            1,
            &["multiple of 16 B, 8 B are certain", "rule StrideMultiple", "source: ", "ptx", "^^^"],
        );
        // A swizzle wider than the rows that it is for, rows with padding, boxes that begin inside
        // the pattern.
        for (layout, rule) in [
            ("S<3,4,3> o 0 o (128,128):(128,1)", "rule "),
            ("S[(128,128):(132,1)]", "rule "),
            ("S[(128,128):(1,128)]", "rule Contiguous"),
        ] {
            let odd = text.replace(
                "%sc = alloc_tensor :",
                &format!("%sc = alloc_tensor {{layout = {layout}}} :"),
            );
            compile("map_layout", arch, &odd).refused(
                1,
                &["can do this movement", rule, "source: ", "tensor map can describe", "^^^"],
            );
        }
    }
    // An architecture without such copies says so by another reason.
    compile("map_absent", "sm_80", &text)
        .refused(1, &["`mover`: sm_80 has no instruction `tma.2d.store.one`"]);
}

/// Accumulators that are alive together and need more columns than there are.
#[test]
fn tensor_memory_exceeded() {
    let products = |(m, n): (u32, u32), count: u32| {
        let mut text = format!(
            "func @f(%A: memref<?x?xf16, #gmem> {{align = 16, stride_div = 8}}, %B: memref<?x?xf16, #gmem> {{align = 16, stride_div = 8}}, \
             %C: memref<?x?xf32, #gmem> {{align = 16, stride_div = 4}}) {{threads = 128}} {{\n  %z = constant 0.0 : tensor<{m}x{n}xf32>\n  \
             %sa = alloc_tensor : tensor<{m}x64xf16, #smem>\n  %sb = alloc_tensor : tensor<64x{n}xf16, #smem>\n  \
             copy %A[0, 0], %sa : memref<?x?xf16, #gmem> -> tensor<{m}x64xf16, #smem>\n  copy %B[0, 0], %sb : memref<?x?xf16, #gmem> -> tensor<64x{n}xf16, #smem>\n",
        );
        for k in 0..count {
            text += &format!(
                "  %a{k} = tiled_load %sa : tensor<{m}x64xf16, #smem> -> tensor<{m}x64xf16>\n  %b{k} = tiled_load %sb : tensor<64x{n}xf16, #smem> -> tensor<64x{n}xf16>\n  \
                 %d{k} = mma %a{k}, %b{k}, %z : tensor<{m}x{n}xf32>\n  tiled_store %d{k}, %C[0, {}] : tensor<{m}x{n}xf32> -> memref<?x?xf32, #gmem>\n",
                n * k
            );
        }
        text + "}\n"
    };
    // Of three the last one's sums are left to registers; what neither holds is refused.
    for count in [2, 3] {
        run_in(
            &folder("columns_fit"),
            &["compile", "-", "--arch", "sm_100a"],
            &products((128, 224), count),
        )
        .fine();
    }
    compile("columns", "sm_100a", &products((256, 512), 1)).refused(
        1,
        &["tensor memory is exceeded", "1024 columns", "512 at most", "source: ", "ptx", "^^^"],
    );
}

/// Sums in tensor memory, and fewer warps than reach all its lanes.
#[test]
fn lanes_that_no_warp_reaches() {
    let text = example("gemm_mxfp8.tile");
    run_in(&folder("reached"), &["compile", "-", "--arch", "sm_100a"], &text).fine();
    for threads in ["32", "64"] {
        let text = text.replace("threads = 128", &format!("threads = {threads}"));
        let warps = if threads == "32" { "has 1" } else { "has 2" };
        compile("unreached", "sm_100a", &text).refused(
            1,
            &[
                "does not reach all lanes of tensor memory",
                "of 4 warps",
                "32 lanes",
                warps,
                "source: ",
                "ptx",
                "^^^",
            ],
        );
    }
}

#[test]
fn a_product_that_no_atom_takes() {
    let text = example("gemm.tile").replace("xf16", "xi16");
    for arch in ARCHS {
        compile("no_matrix", arch, &text)
            .refused(1, &["no matrix instruction of", arch, "i16", "^^^"]);
    }
}

#[test]
fn a_number_of_threads_that_does_not_suit() {
    compile("threads", "gfx950", &example("gemm.tile").replace("threads = 128", "threads = 96"))
        .refused(1, &["96 threads", "64 lanes", "from 64 to 1024"]);
    compile("no_threads", "sm_80", &example("gemm.tile").replace(" {threads = 128}", "")).refused(
        1,
        &["`func` does not say its attribute `threads`", "write {threads = ..}", "a power of two"],
    );
}

#[test]
fn shared_memory_exceeded() {
    // Tiles that fit one by one, and in the registers, but are all alive at the same time: 6 of 32
    // KiB.
    let text = |buffers: usize| {
        let (signature, _) = example("transpose.tile")
            .split_once("  %s = ")
            .map(|(a, b)| (a.to_string(), b.to_string()))
            .expect("the first operation");
        let each = |line: &str| {
            (0..buffers).map(|k| line.replace('$', &k.to_string())).collect::<String>()
        };
        signature
            + &each("  %s$ = alloc_tensor : tensor<64x128xf32, #smem>\n")
            + &each(
                "  copy %A[%m, %n], %s$ : memref<?x?xf32, #gmem> -> tensor<64x128xf32, #smem>\n",
            )
            + &each(
                "  %t$ = tiled_load %s$ : tensor<64x128xf32, #smem> -> tensor<64x128xf32>\n  tiled_store %t$, %B[%m, %n] : tensor<64x128xf32> -> memref<?x?xf32, #gmem>\n",
            )
            + "}\n"
    };
    for arch in ARCHS {
        run_in(&folder("shared_fits"), &["compile", "-", "--arch", arch], &text(4)).fine();
        compile("shared", arch, &text(6)).refused(
            1,
            &["shared memory is exceeded", "B are needed", arch, "^^^^^^^^^^^^", "smaller tiles"],
        );
    }
}

#[test]
fn a_program_larger_than_its_storage() {
    let mut text = String::from("func @big() {threads = 128} {\n");
    for k in 0..20_000 {
        text.push_str(&format!("  %z{k} = constant 0.0 : tensor<64x64xf32>\n"));
    }
    text.push_str("}\n");
    compile("large", "sm_80", &text)
        .refused(1, &["the program is too large", "more than", "split the program", "^"]);
}

#[test]
fn tiles_larger_than_the_registers() {
    // Deep inputs may come slice by slice (where registers are counted); sums are all there at
    // once.
    let wide = example("gemm.tile")
        .replace("128x64xf16", "256x64xf16")
        .replace("64x128xf16", "64x256xf16")
        .replace("128x128xf32", "256x256xf32");
    for arch in ARCHS {
        compile("registers", arch, &wide).refused(1, &["smaller tiles"]);
    }
    let deep = example("gemm.tile")
        .replace("128x64xf16", "128x256xf16")
        .replace("64x128xf16", "256x128xf16")
        .replace("step 64", "step 256");
    compile("registers_of_inputs", "sm_80", &deep).refused(1, &["smaller tiles"]);
}

/// What is advised where no instruction loads a tile as its reader wants it is right: done so, the
/// program compiles.
#[test]
fn a_load_that_no_instruction_does_goes_through_shared_memory() {
    let tile = |direct: bool, number: u32, place: &str, shape: &str| {
        let memref = "memref<?x?xbf16, #gmem>";
        if direct {
            return format!(
                "  %v{number} = tiled_load %B[{place}] : {memref} -> tensor<{shape}>\n"
            );
        }
        format!(
            "  %s{number} = alloc_tensor : tensor<{shape}, #smem>\n  copy %B[{place}], %s{number} : {memref} -> tensor<{shape}, #smem>\n  \
             %v{number} = tiled_load %s{number} : tensor<{shape}, #smem> -> tensor<{shape}>\n"
        )
    };
    let text = |direct: [bool; 2]| {
        format!(
            "func @f(%A: memref<?x192xbf16, #gmem> {{align = 16}}, %B: memref<?x?xbf16, #gmem> {{align = 16, stride_div = 8}}, \
             %C: memref<?x192xf32, #gmem> {{align = 16}}, %m: index {{div = 16}}, %n: index {{div = 32}}) {{threads = 512}} {{\n  \
             %v1 = tiled_load %A[%m, %n] : memref<?x192xbf16, #gmem> -> tensor<48x32xbf16>\n  \
             %z2 = constant 0.0 : tensor<48x96xf32>\n  %z3 = constant 0.0 : tensor<48x32xf32>\n{}  \
             %v5 = mma %v1, %v4, %z2 : tensor<48x96xf32>\n  %v6 = cast %v5 : tensor<48x96xf32> -> tensor<48x96xbf16>\n{}  \
             %v8 = mma %v6, %v7, %z3 : tensor<48x32xf32>\n  \
             tiled_store %v8, %C[%m, %n] : tensor<48x32xf32> -> memref<?x192xf32, #gmem>\n}}\n",
            tile(direct[0], 4, "64, %n", "32x96xbf16"),
            tile(direct[1], 7, "%m, %n", "96x32xbf16"),
        )
    };
    let at = folder("through");
    for direct in [[true, true], [false, true], [false, false]] {
        let args = ["compile", "-", "--arch", "gfx1200.w64", "--emit", "ir"];
        let ran = run_in(&at, &args, &text(direct)).fine();
        let converted = ran.contains("convert_layout %v7 {inserted}");
        assert_eq!(converted, direct[1], "{ran}");
    }
}

#[test]
fn text_that_ends_too_soon_or_is_no_text() {
    compile("end", "sm_80", "func @f() {threads = 128} {\n  copy")
        .refused(1, &["expected", "the end of the text"]);
    compile("empty", "sm_80", "").refused(1, &["no function to compile"]);
    let at = folder("bytes");
    fs::write(at.join("x.tile"), [0x66, 0xff, 0xfe]).expect("file");
    run_in(&at, &["compile", "x.tile", "--arch", "sm_80"], "").refused(1, &["not UTF-8", "byte 1"]);
}

#[test]
fn an_output_that_cannot_be_written() {
    let at = folder("unwritable");
    run_in(&at, &["compile", "--arch", "sm_80", "-o", "none/x.ptx"], "")
        .refused(3, &["cannot write none/x.ptx", "make the folder"]);
    fs::create_dir(at.join("dir")).expect("folder");
    run_in(&at, &["compile", "--arch", "sm_80", "-o", "dir"], "")
        .refused(3, &["cannot write dir", "folder"]);
    assert_eq!(fs::read_dir(&at).expect("folder").count(), 1);
}

#[test]
fn an_error_leaves_the_old_file() {
    let at = folder("old_file");
    fs::write(at.join("out.ptx"), "old").expect("file");
    run_in(&at, &["compile", "-", "--arch", "sm_80", "-o", "out.ptx"], "func").refused(1, &[]);
    assert_eq!(fs::read_to_string(at.join("out.ptx")).expect("file"), "old");
    run_in(&at, &["compile", "--arch", "sm_80", "--emit", "ptx", "-o", "out.ptx"], "").fine();
    assert!(fs::read_to_string(at.join("out.ptx")).expect("file").starts_with(".version"));
    assert_eq!(fs::read_dir(&at).expect("folder").count(), 1, "a temporary file was left");
}

#[test]
fn a_byte_order_mark_is_named() {
    for text in [format!("\u{feff}{}", example("gemm.tile")), "\u{feff}".to_string()] {
        let ran = run_in(&root(), &["compile", "-", "--arch", "sm_80"], &text);
        ran.refused(1, &["begins with a byte-order mark (line 1, column 1)", "UTF-8 without one"]);
    }
}

/// Lines are counted once, not again for each thing that is said of one.
#[test]
fn a_million_blank_lines() {
    let text = format!("{}{}", "\n".repeat(1 << 20), example("gemm.tile"));
    let scan = std::time::Instant::now();
    assert_eq!(
        (0..30).map(|_| text.lines().count()).max(),
        Some((1 << 20) + example("gemm.tile").lines().count())
    );
    let scan = scan.elapsed();
    let start = std::time::Instant::now();
    let report =
        run_in(&root(), &["compile", "-", "--arch", "sm_80", "--emit", "report"], &text).fine();
    assert!(report.contains(&format!("  {}: ", (1 << 20) + 12)), "{report}");
    let (spent, plain) = (start.elapsed(), std::time::Instant::now());
    run(&["compile", "gen/cli/examples/gemm.tile", "--arch", "sm_80", "--emit", "report"]).fine();
    let plain = plain.elapsed();
    assert!(
        spent < 2 * plain + scan,
        "{spent:?} for the text, {plain:?} without its blank lines, {scan:?} to count them thirty times"
    );
}

#[test]
fn a_file_that_is_not_there() {
    run(&["compile", "none.tile", "--arch", "sm_80"])
        .refused(3, &["cannot read none.tile", "check the name"]);
}

#[test]
fn the_sequence_of_another_instruction_set() {
    run(&["compile", "--arch", "gfx950", "--emit", "ptx"])
        .refused(2, &["gfx950 executes amdgcn, not ptx", "--emit amdgcn", "sm_80"]);
    run(&["compile", "--arch", "sm_80", "--emit", "amdgcn"])
        .refused(2, &["sm_80 executes ptx, not amdgcn"]);
    run(&["compile", "--arch", "sm_80", "--emit", "sass"]).refused(2, &["sass", "all, ir, report"]);
}

#[test]
fn malformed_layouts() {
    run(&["show", "S[(8,4:(1,2)]"])
        .refused(1, &["line 1, column 7", "expected `,` or `)`", "layout:1:7"]);
    run(&["show", "S[(8,4):(1@lanid,2)]"])
        .refused(1, &["unknown axis `lanid`", "^^^^^", "did you mean `laneid`?"]);
    run(&["show", "(8,4)"]).refused(1, &["expected `:`", "column 6"]);
    run(&["show", "(8,4):(4,1,2)"]).refused(1, &["column"]);
    run(&["show", "(8,0):(1,1)"]).refused(1, &["column"]);
    run(&["show", "S<3,3,1> o 0 o (8,8):(8,1)"]).refused(1, &["fields do not overlap", "|S| >= B"]);
    run(&["show", "(8,8):(8,1)", "--shape", "8x9"]).refused(1, &["64 elements", "--shape"]);
    run(&["show", "(8,8):(8,1)", "--shape", "eight"]).refused(2, &["8x16"]);
    run(&["show", "(8192,8192):(8192,1)"]).refused(1, &["too many"]);
    run(&["show", "(8,8):(8,1)", "-o", "x.png"]).refused(2, &["SVG", ".svg"]);
}

#[test]
fn atoms_that_are_not_there() {
    run(&["show", "ldmatrix.x5", "--arch", "sm_80"])
        .refused(2, &["sm_80 has no atom `ldmatrix.x5`", "did you mean `ldmatrix.x"]);
    run(&["show", "ldmatrix.x4"]).refused(2, &["needs its architecture", "--arch"]);
    run(&["show", "bar.sync", "--arch", "sm_80"]).refused(1, &["no operand with a layout"]);
    // Of a family every member counts, and one member must have all that is asked for.
    run(&["atoms", "--arch", "sm_80", "--filter", "mma.m16n8k16.s32", "--dtype", "f32"])
        .refused(2, &["no atom of sm_80 is left by the filters"]);
    run(&["atoms", "--arch", "sm_90a", "--filter", "n24k16", "--shape", "64x32x16"])
        .refused(2, &["no atom of sm_90a is left by the filters"]);
    run(&["atoms", "--arch", "sm_80", "--filter", "nothing like it"])
        .refused(2, &["no atom of sm_80 is left by the filters"]);
}

#[test]
fn filters_and_views_that_do_not_fit() {
    run(&["atoms", "--shape", "16x8"]).refused(2, &["--shape 16x8 is no matrix shape", "m16n8k16"]);
    run(&["atoms", "--dtype", "f17"]).refused(2, &["unknown element type `f17`", "f16"]);
    run(&["show", "(8,8):(8,1)", "--view", "lanes"])
        .refused(2, &["--view and --stride are for atoms"]);
    run(&["show", "ldmatrix.x4", "--arch", "sm_80", "--stride", "64"])
        .refused(2, &["--view banks"]);
    run(&["show", "ld.global.b32", "--arch", "sm_80", "--view", "banks"])
        .refused(1, &["no side of `ld.global.b32` has a bank model"]);
    run(&["show", "bar.sync", "--arch", "sm_80", "--view", "lanes"])
        .refused(1, &["no operand in registers"]);
    run(&["diff", "sm_80", "sm_81"]).refused(2, &["unknown architecture `sm_81`"]);
}

#[test]
fn flags_that_would_change_nothing() {
    let arch = ["--arch", "sm_80"];
    let compile = |more: &[&str]| run(&[&["compile"], &arch[..], more].concat());
    compile(&["--emit", "ptx", "--explain"]).refused(2, &["--emit ptx", "--emit report"]);
    compile(&["--emit", "ptx", "--set", "M=5"]).refused(2, &["--set", "--format json"]);
    compile(&["--set", "M=5"]).refused(2, &["--set", "--format json"]);
    compile(&["--format", "text", "--set", "M=5"]).refused(2, &["--set", "--format json"]);
    let tile = ["--shape", "64x64", "--type", "f16"];
    let moved = |more: &[&str]| run(&[&["movement"], more, &tile, &arch].concat());
    const ROWS: &str = "(64,64):(64,1)";
    moved(&["copy", "--shared", ROWS, "--registers", ROWS]).refused(2, &["--registers"]);
    moved(&["load", "--shared", ROWS, "--stride", "77"]).refused(2, &["--stride", "is shared"]);
    moved(&["load", "--shared", ROWS, "--align", "16"]).refused(2, &["--align", "is shared"]);
    moved(&["load"]).refused(2, &["--registers LAYOUT", "--shared LAYOUT"]);
    let drawn = run(&["infer", "-", "--picture", "--format", "json"]);
    assert!(drawn.code == 2 && drawn.err.contains("--format"), "{}", drawn.err);
}

#[test]
fn usage() {
    let ran = run(&["compile"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("--arch") && ran.err.contains("Usage"), "{}", ran.err);
    assert_eq!(run(&["nonsense"]).code, 2);
}

#[test]
fn tables_with_an_error() {
    let at = folder("tables");
    for part in ["hw-tables", "rules"] {
        copy(&root().join(part), &at.join(part));
    }
    let path = at.join("hw-tables/nvidia/sm_75.ron");
    let text = fs::read_to_string(&path).expect("table").replace("max_threads", "max_treads");
    fs::write(&path, text).expect("table");
    let at = at.to_str().expect("path");
    for args in [vec!["check", at], vec!["ids", at], vec!["arch", "--tables", at]] {
        let ran = run(&args);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
        assert!(
            ran.err.contains("hw-tables/nvidia/sm_75.ron:") && ran.err.contains("max_treads"),
            "{}",
            ran.err
        );
    }
    run(&["check", "/nowhere"]).refused(2, &["there is no /nowhere"]);
}

#[test]
fn tables_that_are_not_there() {
    let empty = folder("no.tables");
    let empty = empty.to_str().expect("path");
    let commands: [&[&str]; 10] = [
        &["atoms"],
        &["arch", "sm_80"],
        &["check"],
        &["compile", "gen/cli/examples/gemm.tile", "--arch", "sm_80"],
        &["diff", "sm_80", "sm_90"],
        &["ids"],
        &["new-arch", "x1", "--like", "sm_80"],
        &["opt", "--list"],
        &["rules"],
        &["show", "ldmatrix.x4", "--arch", "sm_80"],
    ];
    for command in commands {
        run(&[command, &["--tables", "/nonexistent"]].concat())
            .refused(2, &["there is no folder /nonexistent", "hw-tables/ and rules/"]);
        run(&[command, &["--tables", empty]].concat())
            .refused(2, &["has no folder hw-tables and no folder rules"]);
    }
    run(&["ids", ".", "--tables", "."]).refused_by_parser(&["cannot be used with"]);
}

/// A program that moves a tile in this way.
fn moving(body: &str) -> String {
    format!(
        "func @f(%X: memref<?x?xf32, #gmem>, %Y: memref<?x?xf32, #gmem>) {{threads = 128}} {{\n{body}\n}}\n"
    )
}

#[test]
fn instructions_that_a_program_names() {
    let text = |name: &str| {
        moving(&format!(
            "  %x = tiled_load %X[0, 0] {{mover = \"{name}\"}} : memref<?x?xf32, #gmem> -> tensor<32x32xf32>\n  \
             tiled_store %x, %Y[0, 0] : tensor<32x32xf32> -> memref<?x?xf32, #gmem>"
        ))
    };
    let list = "`lanebook atoms --arch sm_80 --class move` lists";
    compile("no_mover", "sm_80", &text("ld.globl.b32")).refused(
        1,
        &[
            "`mover`: sm_80 has no instruction `ld.globl.b32`",
            "did you mean `ld.global.b32`?",
            list,
        ],
    );
    compile("other_mover", "sm_80", &text("st.global.b32")).refused(
        1,
        &[
            "`st.global.b32` is no instruction for this movement: it moves from register to global",
            list,
        ],
    );
    let at = folder("its_mover");
    run_in(&at, &["compile", "-", "--arch", "sm_80"], &text("ld.global.b32")).fine();
}

#[test]
fn tiles_of_global_memory() {
    let both = "  copy %X[0, 0], %Y[0, 0] : memref<?x?xf32, #gmem> -> memref<?x?xf32, #gmem>";
    compile("both_global", "sm_80", &moving(both)).refused(
        1,
        &["has a tile on one side", "both sides are tensors in global memory", "alloc_tensor"],
    );
    let text = moving(
        "  %x = tiled_load %X[0, 0] : memref<?x?xf32, #gmem> -> tensor<32x32xf32>\n  \
         tiled_store %x, %Y[0, 0] : tensor<32x32xf32> -> memref<?x?xf32, #gmem>",
    );
    let wide = "memref<64x33554432xf32, #gmem>";
    let text = text
        .replace("%X: memref<?x?xf32, #gmem>", &format!("%X: {wide}"))
        .replace(": memref<?x?xf32, #gmem> -> tensor", &format!(": {wide} -> tensor"));
    compile("far_apart", "gfx950", &text).refused(
        1,
        &["stay below 2147483648 bytes", "here is one of 4160749696 bytes", "smaller ones"],
    );
}

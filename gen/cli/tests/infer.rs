//! `lanebook infer`: document 003's examples and failures, programs with layouts, the timeline.

use crate::support::{Ran, golden, root, run, run_in};
use serde_json::{Value, json};

/// The timeline of the document's last example, as it stands there.
const DOCUMENT: &str = "\
Initial:
  layout_map = {}

Strict:
  loop 1 -> no update, because fragment[row, col] is not a constant-index access
  loop 2 -> cannot derive a useful layout from fragment yet

Common:
  loop 1 -> no source fragment layout to propagate
  loop 2 -> still waits for fragment's layout

Free:
  loop 1 -> ComputePlanCandidate establishes fragment's layout
  use_list_[fragment] re-enqueues loop 2

Revisit:
  loop 2 -> ComputeLoopLayoutFromBuffer propagates fragment's layout through fragment[row, 0]
";

const ARCH: &str = "sm_80";

fn example(name: &str, arch: &str, more: &[&str]) -> String {
    let file = format!("gen/cli/examples/loops/{name}.tile");
    let mut args = vec!["infer", &file, "--arch", arch];
    args.extend_from_slice(more);
    run(&args).fine()
}

fn inferred(text: &str, more: &[&str]) -> Ran {
    let mut args = vec!["infer", "-", "--arch", ARCH];
    args.extend_from_slice(more);
    run_in(&root(), &args, text)
}

/// A function of 64 threads.
fn function(parameters: &str, body: &str) -> String {
    format!("func @f({parameters}) {{threads = 64}} {{\n{body}}}\n")
}

/// Names, with their layouts.
type NamedLayouts = Vec<(String, String)>;

/// The layouts of operators and of buffers.
fn layouts(text: &str, more: &[&str]) -> (NamedLayouts, NamedLayouts) {
    let mut args = vec!["--format", "json"];
    args.extend_from_slice(more);
    let answer: Value = serde_json::from_str(&inferred(text, &args).fine()).expect("JSON");
    let list = |key: &str| {
        let entries = answer[key].as_array().expect("a list").iter();
        entries
            .map(|e| {
                let layout = e["layout"]["text"].as_str().unwrap_or("none").to_string();
                (e["name"].as_str().expect("a name").to_string(), layout)
            })
            .collect()
    };
    (list("operators"), list("buffers"))
}

#[track_caller]
fn has(list: &[(String, String)], name: &str, layout: &str) {
    let found = list.iter().find(|(own, _)| own == name);
    assert_eq!(found.map(|(_, layout)| layout.as_str()), Some(layout), "{name} of {list:?}");
}

#[track_caller]
fn refused(text: &str, parts: &[&str]) {
    let ran = inferred(text, &[]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
    for part in parts {
        assert!(ran.err.contains(part), "{part} is not in\n{}", ran.err);
    }
}

// ---- the document

#[test]
fn the_timeline_of_the_document() {
    let out = example("plan_then_buffer", ARCH, &[]);
    let comments: String = out
        .lines()
        .filter_map(|line| line.strip_prefix("//"))
        .skip(2)
        .map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line)))
        .collect();
    assert_eq!(comments, DOCUMENT);
}

#[test]
fn programs_of_parallel_loops() {
    for name in ["plan_then_buffer", "gemm", "softmax", "attention"] {
        golden(&format!("infer.{name}.sm_80.txt"), &example(name, ARCH, &[]));
    }
    for name in ["gemm", "softmax"] {
        golden(&format!("infer.{name}.gfx942.txt"), &example(name, "gfx942", &[]));
    }
    let plan = |more: &[&str]| example("plan_then_buffer", ARCH, more);
    golden("infer.explain.txt", &plan(&["--explain"]));
    golden("infer.json", &plan(&["--format", "json"]));
    golden("infer.picture.txt", &plan(&["--picture"]));
}

/// Shared tiles are drawn, and listed with how they came to lie so.
#[test]
fn shared_tiles_are_shown_under_their_swizzles() {
    let drawn = example("gemm", ARCH, &["--picture"]);
    assert!(drawn.contains("sa: 64 x 32, in shared memory"), "{drawn}");
    assert!(drawn.contains("swizzle<2, 4, 3> of bytes"), "{drawn}");
    // Row 4 begins at element 128: its vectors of eight change places with their neighbours.
    let begins = |line: &str| line.split_whitespace().take(2).eq(["4", "@144"]);
    assert!(drawn.lines().any(begins), "{drawn}");
    let listed: Value =
        serde_json::from_str(&example("gemm", ARCH, &["--format", "json"])).expect("JSON");
    let buffers = listed["buffers"].as_array().expect("a list");
    let own = buffers.iter().find(|buffer| buffer["name"] == "sb").expect("a buffer");
    assert_eq!(own["swizzle"], "swizzle<3, 4, 3>");
    let steps = listed["timeline"].as_array().expect("a list");
    let own = steps.iter().find(|step| step["level"] == "shared").expect("a step");
    assert_eq!((&own["event"], &own["taken"]), (&json!("establishes"), &json!("swizzle<2, 4, 3>")));
    assert_eq!(own["passes"], json!({"wanted": 4, "taken": 4, "row_major": 16}));
}

/// A warp's product of 32 x 32 x 32 takes four matrices of each factor for half the depth: as many
/// loads as TileLang's, none of single elements.
#[test]
fn products_in_place_read_rows_of_tiles() {
    let file = root().join("gen/cli/examples/loops/gemm.tile").display().to_string();
    let count = |arch: &str, word: &str| {
        let isa = if arch == ARCH { "ptx" } else { "amdgcn" };
        let ran = run(&["compile", &file, "--arch", arch, "--emit", isa]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran.out.lines().filter(|line| line.trim_start().starts_with(word)).count()
    };
    assert_eq!(count(ARCH, "ldmatrix.sync.aligned.m8n8.x4.shared"), 4);
    assert_eq!(count(ARCH, "ldmatrix.sync.aligned.m8n8.x4.trans"), 4);
    assert_eq!(count(ARCH, "ld.shared"), 0);
    assert!(count("gfx950", "ds_read_b64_tr_b16") > 0);
    assert_eq!(count("gfx950", "ds_read_u16"), 0);
}

/// Sums of a product stay in the registers of their fragment where the unit takes them so, and copies
/// keep pairs of f16 where one side moves more at once than the other.
#[test]
fn products_in_place_move_nothing_but_their_factors() {
    let text = function(
        "%A: memref<64x32xf16> {align = 16}, %B: memref<64x32xf16> {align = 16}, %C: memref<64x64xf32> {align = 16}",
        "  %a = alloc_tensor : tensor<64x32xf16, #smem>
  %b = alloc_tensor : tensor<64x32xf16, #smem>
  %c = alloc_tensor : tensor<64x64xf32, #fragment>
  fill 0.0, %c
  copy %A, %a
  copy %B, %b
  gemm %a, %b, %c {transpose_b = true}
  copy %c, %C
",
    );
    for (arch, product) in
        [("gfx942", "v_mfma"), ("gfx950", "v_mfma"), ("gfx1100", "v_wmma"), ("gfx1201", "v_wmma")]
    {
        let printed =
            run_in(&root(), &["compile", "-", "--arch", arch, "--emit", "amdgcn"], &text).fine();
        let lines: Vec<&str> = printed.lines().map(str::trim_start).collect();
        let [first, last] = [
            lines.iter().position(|line| line.starts_with(product)),
            lines.iter().rposition(|line| line.starts_with(product)),
        ]
        .map(|at| at.expect("a product"));
        let moves = |line: &&&str| line.starts_with("v_mov") || line.starts_with("v_perm");
        assert_eq!(lines[first..].iter().find(moves), None, "{arch}");
        assert_eq!(lines[..last].iter().filter(|line| line.starts_with("v_perm")).count(), 0);
    }
}

/// What is printed is read back, and the layouts that it writes are taken.
#[test]
fn what_is_printed_is_taken() {
    for (name, arch) in ["plan_then_buffer", "gemm", "softmax", "attention"]
        .map(|name| (name, ARCH))
        .into_iter()
        .chain([("gemm", "gfx942"), ("softmax", "gfx942")])
    {
        let program = |text: &str| -> String {
            let lines = text.lines().filter(|line| !line.starts_with("//"));
            lines.map(|line| format!("{line}\n")).collect()
        };
        let first = example(name, arch, &[]);
        let again = run_in(&root(), &["infer", "-", "--arch", arch], &first).fine();
        assert_eq!(program(&again), program(&first), "{name}");
    }
}

/// Shared tiles of three dimensions, too.
#[test]
fn matrices_are_printed_as_they_lie() {
    let text = "func @f(%A: memref<5x64x48xf16> {align = 16}, %B: memref<5x48x64xf16> {align = 16}) {threads = 128} {
  %s = alloc_tensor : tensor<5x64x48xf16, #smem>
  copy %A, %s
  parallel (%h, %i, %j) in (5, 48, 64) {
    %x = memref.load %s[%h, %j, %i]
    memref.store %x, %B[%h, %i, %j]
  }
}
";
    let printed = run_in(&root(), &["infer", "-", "--arch", "sm_80"], text).fine();
    assert!(printed.contains("tensor<5x64x48xf16, #smem, <(5, 64, 48), (3072, 48, 1), swizzle<"));
    let [own, again] = [text, printed.as_str()].map(|text| {
        run_in(&root(), &["compile", "-", "--arch", "sm_80", "--emit", "ptx"], text).fine()
    });
    assert_eq!(own, again);
}

/// "For i, j in T.Parallel: A[i, j] = B[0]": B lies on every thread.
#[test]
fn strict_replicates_what_is_read_at_constant_indices() {
    let body = "  %A = alloc_tensor : tensor<4x16xf32, #fragment>
  %B = alloc_tensor : tensor<1xf32, #fragment>
  parallel (%i, %j) in (4, 16) {
    %b = memref.load %B[0]
    memref.store %b, %A[%i, %j]
  }
";
    let (_, buffers) = layouts(&function("", body), &["--level", "strict"]);
    has(&buffers, "B", "{thread = rep, index = 0, replicate = 64}");
    has(&buffers, "A", "none");
}

/// Propagation: the second loop follows the first one's fragment, the third one has nothing to
/// follow.
#[test]
fn common_propagates() {
    let body =
        "  %A = alloc_tensor : tensor<4x16xf32, #fragment, {thread = v1 * 4 + v0, index = 0}>
  %C = alloc_tensor : tensor<4x16xf32, #fragment>
  %F = alloc_tensor : tensor<4x16xf32, #fragment>
  parallel (%i, %j) in (4, 16) {
    %b = memref.load %B[%i, %j]
    memref.store %b, %A[%i, %j]
  }
  parallel (%i, %j) in (4, 16) {
    %a = memref.load %A[%i, %j]
    memref.store %a, %C[%i, %j]
  }
  parallel (%i, %j) in (4, 16) {
    %f = memref.load %F[0, 0]
    memref.store %f, %B[%i, %j]
  }
";
    let text = function("%B: memref<4x16xf32>", body);
    let (loops, buffers) = layouts(&text, &["--level", "common"]);
    let owner = "{thread = v0 + v1 * 4, index = 0}";
    has(&loops, "loop 1", owner);
    has(&loops, "loop 2", owner);
    has(&loops, "loop 3", "none");
    has(&buffers, "C", owner);
    has(&buffers, "F", "{thread = rep, index = v0 * 16 + v1, replicate = 64}");
    has(&layouts(&text, &[]).0, "loop 3", "{thread = v0 * 16 + v1, index = 0}");
}

/// A fragment that a condition outside of loops reads floats: it lies on all threads.
#[test]
fn floating_fragments_are_replicated() {
    let body = "  %A = alloc_tensor : tensor<4xf32, #fragment>
  fill 1.0, %A
  %a = memref.load %A[2]
  %t = index.cmp gt, %a, %c : f32
  scf.if %t {
    parallel %i in 64 {
      memref.store 0.0, %B[%i]
    }
  }
";
    let (_, buffers) = layouts(&function("%B: memref<64xf32>, %c: f32", body), &[]);
    has(&buffers, "A", "{thread = rep, index = v0, replicate = 64}");
}

/// PlanLoopPartition: vectors of neighbours; with fragments halved until no thread's is padded.
#[test]
fn plans_keep_vectors_whole() {
    let plain = "  %s = alloc_tensor : tensor<4x16xf32, #smem>
  parallel (%i, %j) in (4, 16) attributes {threads = [0, 16]} {
    %a = memref.load %A[%i, %j]
    memref.store %a, %s[%i, %j]
  }
";
    let (loops, _) = layouts(&function("%A: memref<4x16xf32>", plain), &[]);
    has(&loops, "loop 1", "{thread = v0 * 4 + v1 // 4, index = v1 % 4}");
    // 256 elements of 16 bits on 64 threads: a vector of 8 would be padded, one of 4 is not.
    let fragment = "  %f = alloc_tensor : tensor<256xf16, #fragment>
  parallel %i in 256 {
    %a = memref.load %A[%i]
    memref.store %a, %f[%i]
  }
";
    let (loops, _) = layouts(&function("%A: memref<256xf16>", fragment), &[]);
    has(&loops, "loop 1", "{thread = v0 // 4, index = v0 % 4}");
    // Neighbours that lie 16 apart are no vector.
    let apart = fragment
        .replace("%A[%i]", "%A[%k]")
        .replace("    %a = ", "    %k = index.mul %i, 16 : index\n    %a = ");
    let (loops, _) = layouts(&function("%A: memref<4096xf16>", &apart), &[]);
    has(&loops, "loop 1", "{thread = v0 % 64, index = v0 // 64}");
}

/// A fragment that would fill more than half of a lane's registers goes away, and that is said.
#[test]
fn loops_with_a_large_fragment_between_them_are_fused() {
    const PROGRAM: &str =
        "func @p(%A: memref<64x4096xf32>, %C: memref<64x4096xf32>) {threads = 256} {
  %f = alloc_tensor : tensor<64x4096xf32, #fragment>
  parallel (%i, %j) in (64, 4096) {
    %x = memref.load %A[%i, %j] : f32
    memref.store %x, %f[%i, %j]
  }
  parallel (%i, %j) in (64, 4096) {
    %x = memref.load %f[%i, %j] : f32
    memref.store %x, %C[%i, %j]
  }
}
";
    let text = inferred(PROGRAM, &[]).fine();
    assert!(text.contains("the loops around them fused: 1."), "{text}");
    assert_eq!(text.matches("parallel (").count(), 1, "{text}");
}

/// The layout that the document writes to make its example compile.
#[test]
fn written_layouts_are_followed() {
    let text = std::fs::read_to_string(root().join("gen/cli/examples/loops/plan_then_buffer.tile"))
        .expect("an example");
    let written = text.replace("#fragment>", "#fragment, {thread = v1, index = v0}>");
    assert_ne!(written, text);
    let (loops, buffers) = layouts(&written, &[]);
    has(&buffers, "fragment", "{thread = v1, index = v0}");
    has(&loops, "loop 1", "{thread = v1, index = v0}");
    has(&loops, "loop 2", "{thread = 0, index = v0 * 2 + v1}");
}

// ---- its three failures

/// The first: two elements in one place.
#[test]
fn layouts_that_are_not_injective() {
    let body = |layout: &str| {
        format!(
            "  %f = alloc_tensor : tensor<4x16xf32, #fragment, {layout}>
  parallel (%i, %j) in (4, 16) {{
    memref.store 0.0, %f[%i, %j]
  }}
"
        )
    };
    let text = function("", &body("{thread = v1, index = 0}"));
    refused(&text, &["f's layout is not injective", "f {thread = v1, index = 0}", "2 |   %f ="]);
    let fine = function("", &body("{thread = v1, index = v0}"));
    has(&layouts(&fine, &[]).0, "loop 1", "{thread = v1, index = v0}");
}

/// The second: threads that do not own what they ask for. The document's failing example, and its
/// example of a write that must agree both ways.
#[test]
fn threads_that_do_not_own() {
    let loops = |of: &str, own: &str, element: &str| {
        format!(
            "  %f = alloc_tensor : tensor<{of}xf32, #fragment, {own}>
  fill 0.0, %f
  parallel (%i, %j) in ({}) attributes {{layout = {{thread = v0, index = v1}}}} {{
    {element}
  }}
",
            of.replace('x', ", ")
        )
    };
    let read = "%x = memref.load %f[%i, %j]\n    memref.store %x, %O[%i, %j]";
    let text = loops("4x16", "{thread = v0 * 16 + v1, index = 0}", read);
    refused(
        &function("%O: memref<4x16xf32>", &text),
        &[
            "a thread of loop 1 does not own f[i, j]",
            "iteration (0, 1) is executed by thread 0, and f[0, 1] is held by thread 1",
            "loop 1, the reader",
            "loop 1 {thread = v0, index = v1}; f {thread = v0 * 16 + v1, index = 0}",
        ],
    );
    let write = "memref.store 1.0, %f[%i, %j]";
    let text = loops("2x2", "{thread = v0 * 2 + v1, index = 0}", write);
    refused(
        &function("", &text),
        &["does not own f[i, j]: iteration (0, 1) is executed by thread 0"],
    );
    // Whoever holds a copy has to write it.
    let text = loops("2x2", "{thread = v0 + rep * 2, index = v1, replicate = 2}", write);
    refused(
        &function("", &text),
        &["a thread that owns f[i, j] does not write it in loop 1", "is held by threads 0, 2"],
    );
    // To read one copy is enough.
    let text = loops("2x2", "{thread = v0 + rep * 2, index = v1, replicate = 2}", read);
    has(
        &layouts(&function("%O: memref<2x2xf32>", &text), &[]).0,
        "loop 1",
        "{thread = v0, index = v1}",
    );
}

/// The third is none here: sparse owners are inverted with guards.
#[test]
fn sparse_owners_are_owners() {
    let text = std::fs::read_to_string(root().join("gen/cli/examples/loops/plan_then_buffer.tile"))
        .expect("an example");
    has(&layouts(&text, &[]).0, "loop 2", "{thread = v0 * 32 + v1 * 16, index = 0}");
}

/// The owner would depend on a serial loop inside the parallel one, if the layout is written; else
/// another one is found.
#[test]
fn owners_that_a_serial_loop_changes() {
    let body = |layout: &str| {
        format!(
            "  %Q = alloc_tensor : tensor<4x16xf32, #fragment{layout}>
  parallel (%i, %j) in (4, 16) {{
    %a = memref.load %O[%i, %j]
    memref.store %a, %Q[%i, %j]
  }}
  parallel %i in 4 {{
    scf.for %j = 0 to 16 step 1 {{
      %q = memref.load %Q[%i, %j]
      memref.store %q, %O[%i, %j]
    }}
  }}
"
        )
    };
    let parameters = "%O: memref<4x16xf32>";
    refused(
        &function(parameters, &body(", {thread = v0 * 16 + v1, index = 0}")),
        &["the owner of Q[i, j] changes with a serial loop inside loop 2", "loop 2, the reader"],
    );
    let (_, buffers) = layouts(&function(parameters, &body("")), &[]);
    has(&buffers, "Q", "{thread = v0 + rep * 4, index = v1, replicate = 16}");
}

// ---- the language

/// An index may be spelt in many ways.
#[test]
fn spellings_of_an_index() {
    let body = |index: &str| {
        format!(
            "  %f = alloc_tensor : tensor<64xf32, #fragment, {{thread = v0, index = 0}}>
  fill 0.0, %f
  parallel (%i, %j) in (4, 16) {{
{index}    %x = memref.load %f[%k]
    memref.store %x, %O[%k]
  }}
"
        )
    };
    for index in [
        "    %a = index.mul %i, 16 : index\n    %k = index.add %a, %j : index\n",
        "    %a = arith.shli %i, 4 : index\n    %k = arith.ori %a, %j : index\n",
        "    %a = arith.shli %i, 4 : index\n    %k = arith.xori %a, %j : index\n",
        "    %a = arith.ori %i, 4 : index\n    %b = index.sub %a, 4 : index\n    %c = index.mul %b, 16 : index\n    %k = index.add %c, %j : index\n",
        "    %a = index.mul %i, 32 : index\n    %b = index.div %a, 2 : index\n    %c = index.rem %j, 16 : index\n    %k = index.add %b, %c : index\n",
        "    %a = index.mul %i, 16 : index\n    %b = arith.minsi %j, 15 : index\n    %k = index.add %a, %b : index\n",
        "    %a = index.mul %i, 16 : index\n    %b = index.minu %j, 15 : index\n    %k = index.add %a, %b : index\n",
        "    %a = index.mul %i, 32 : index\n    %b = index.cdiv %a, 2 : index\n    %k = index.add %b, %j : index\n",
        "    %a = index.mul %i, 16 : index\n    %b = index.sub %j, 20 : index\n    %c = index.max %b, %j : index\n    %k = index.add %a, %c : index\n",
        "    %a = index.mul %i, 16 : index\n    %c = index.cmp uge, %j, 16\n    %b = index.select %c, %i, %j : index\n    %k = index.add %a, %b : index\n",
    ] {
        let (loops, _) = layouts(&function("%O: memref<64xf32>", &body(index)), &[]);
        has(&loops, "loop 1", "{thread = v0 * 16 + v1, index = 0}");
    }
}

#[test]
fn written_layouts_are_read() {
    let loops = |layout: &str| {
        let body = format!(
            "  parallel (%i, %j) in (4, 16) attributes {{layout = {layout}}} {{
    memref.store 0.0, %O[%i, %j]
  }}
"
        );
        function("%O: memref<4x16xf32>", &body)
    };
    for (written, read) in [
        ("{thread = v1 + 16 * (3 - v0), index = 0}", "{thread = -v0 * 16 + v1 + 48, index = 0}"),
        (
            "{thread = v0 * 16 + v1 // 4 * 4, index = v1 % 4}",
            "{thread = v0 * 16 + v1 // 4 * 4, index = v1 % 4}",
        ),
        (
            "{index = v0, thread = v1 + rep * 32, replicate = 2}",
            "{thread = v1 + rep * 32, index = v0, replicate = 2}",
        ),
        ("{thread = v1}", "{thread = v1, index = v0}"),
        (
            "{thread = v0 * 16 + select(lt(v1, 20), v1, 0), index = 0}",
            "{thread = v0 * 16 + v1, index = 0}",
        ),
        (
            "{thread = v0 * 16 + min(v1, 99) + (v0 == 9), index = 0}",
            "{thread = v0 * 16 + v1, index = 0}",
        ),
    ] {
        has(&layouts(&loops(written), &[]).0, "loop 1", read);
    }
    for (wrong, why) in [
        ("{index = v0}", "thread = .. is missing"),
        ("{thread = v2}", "a name is none of v0, v1"),
        ("{thread = v0 v1}", "an operator, `,` or `)` is expected"),
        ("{thread = v0 * }", "a number, a variable or `(` is expected"),
        ("{thread = v0, thread = v1}", "a key is there twice"),
        ("{thread = v0, owner = v1}", "a key is none of thread, index, replicate"),
        ("{thread = v0, replicate = 0}", "replicate is no positive number"),
        ("{thread = min(v0)}", "another number of arguments"),
        ("(4,16):(16,1)", "thread = .. is missing"),
        ("{thread = v0 * 64 + v1, index = 0}", "names threads that do not execute loop 1"),
        ("{thread = v1 + rep, index = v0 + rep, replicate = 2}", "differs from copy to copy"),
    ] {
        refused(&loops(wrong), &[why]);
    }
}

/// Every word is told, or refused at its place.
#[test]
fn what_cannot_be_told() {
    let parameters = "%A: memref<4x16xf32>, %I: memref<16xi32>, %n: index";
    let fragment = "  %f = alloc_tensor : tensor<4x16xf32, #fragment>\n";
    for (body, why) in [
        ("  parallel %i in %n {\n  }\n", "bounds are no numbers"),
        ("  parallel %i = 4 to 4 step 1 {\n  }\n", "bounds are no numbers"),
        ("  parallel %i in 4 attributes {threads = [32, 96]} {\n  }\n", "none of the function's"),
        (
            "  parallel %i in 4 attributes {unroll = 2} {\n  }\n",
            "`unroll` of `scf.parallel` is not known",
        ),
        ("  parallel %i in 4 attributes {coalesced_width = wide} {\n  }\n", "`coalesced_width`"),
        (
            "  parallel %i in 4 {\n    memref.store 0.0, %A[%i, 0]\n    parallel %j in 16 {\n    }\n  }\n",
            "beside other operations",
        ),
        // Without signs, what is below zero is great: no map of i says that.
        (
            "  parallel %i in 4 {\n    %a = index.sub %i, 1 : index\n    %k = index.divu %a, 2 : index\n    memref.store 0.0, %f[%k, 0]\n  }\n",
            "index 0 of a fragment depends on data, or on a number below zero whose sign is left out",
        ),
        (
            "  parallel %i in 4 {\n    %a = index.sub %i, 1 : index\n    %k = arith.minui %a, 3 : index\n    memref.store 0.0, %f[%k, 0]\n  }\n",
            "index 0 of a fragment depends on data, or on a number below zero whose sign is left out",
        ),
        (
            "  parallel %i in 4 {\n    fill 0.0, %f\n  }\n",
            "a tile operation stands in a parallel loop",
        ),
        (
            "  parallel %i in 16 {\n    %k = memref.load %I[%i]\n    %x = memref.load %f[0, %k]\n    memref.store %x, %A[0, %i]\n  }\n",
            "index 1 of a fragment depends on data",
        ),
        (
            "  %t = tiled_load %A[0, 0] : memref<4x16xf32> -> tensor<4x16xf32>\n",
            "`tiled_load` has no place",
        ),
        ("  %t = alloc_tensor : tensor<4x16xf32, #tmem>\n", "%t is no buffer that a loop reaches"),
        (
            "  %s = alloc_tensor : tensor<16x16xf16, #smem>\n  %c = alloc_tensor : tensor<16x16xf32, #fragment>\n  gemm %s, %s, %c {policy = Diagonal}\n",
            "`policy` of `gemm`",
        ),
        (
            "  %s = alloc_tensor : tensor<16x16xf64, #smem>\n  %c = alloc_tensor : tensor<16x16xf32, #fragment>\n  gemm %s, %s, %c\n",
            "no matrix unit",
        ),
        (
            "  %r = alloc_tensor : tensor<4xf32, #fragment>\n  reduce_into %f, %r {axis = 1, kind = mean}\n",
            "`kind` of `reduce_into`",
        ),
    ] {
        refused(&function(parameters, &format!("{fragment}{body}")), &[why]);
    }
    for (body, why) in [
        (
            "  %g = view %f[0, 0] : tensor<4x16xf32, #fragment>\n",
            "storage is looked at from an offset on",
        ),
        (
            "  copy %A[0, 0], %B[0, 0] : memref<4x16xf32> -> memref<4x16xf32>\n",
            "the tiles do not have the extents",
        ),
        (
            "  %a = alloc_tensor : tensor<16x16xf16, #smem>\n  %b = alloc_tensor : tensor<16x8xf16, #smem>\n  %c = alloc_tensor : tensor<16x8xf32, #fragment>\n  gemm %a, %b, %c\n",
            "does not divide among the warps",
        ),
    ] {
        let parameters = format!("{parameters}, %B: memref<4x16xf32>");
        refused(&function(&parameters, &format!("{fragment}{body}")), &[why]);
    }
    let many = function(
        "%A: memref<64xf32>",
        "  parallel %i in 64 {\n    memref.store 0.0, %A[%i]\n  }\n",
    );
    refused(
        &many.replace("threads = 64", "threads = 65536"),
        &["there are more than", "use fewer threads"],
    );
    refused("func @f() {\n}\n", &["does not say its threads", "{threads = N}"]);
    refused("", &["has no function"]);
    let two = function("", "") + &function("", "").replace("@f", "@g");
    refused(&two, &["has 2 functions that may be launched", "name one with --function: @f, @g"]);
    let gemm =
        std::fs::read_to_string(root().join("gen/cli/examples/loops/gemm.tile")).expect("a file");
    let beside = gemm.clone() + &function("", "");
    assert_eq!(inferred(&beside, &["--function", "gemm"]).fine(), inferred(&gemm, &[]).fine());
    for (wrong, why) in [
        (["--arch", "sm_8"], "unknown architecture"),
        (["--cost", "cheap"], "unknown cost `cheap`"),
    ] {
        let mut args = vec!["infer", "gen/cli/examples/loops/gemm.tile"];
        args.extend(wrong);
        let ran = run(&args);
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.contains(why), "{}", ran.err);
    }
}

/// Two products want one fragment in two layouts.
#[test]
fn products_that_disagree() {
    let text = std::fs::read_to_string(root().join("gen/cli/examples/loops/attention.tile"))
        .expect("an example");
    let other = text.replacen("%o {policy = FullRow}", "%p {policy = FullRow}", 1);
    assert_ne!(other, text);
    let ran = inferred(
        &other.replace(
            "%p = alloc_tensor : tensor<64x64xf16",
            "%p = alloc_tensor : tensor<64x64xf32",
        ),
        &[],
    );
    assert_eq!(ran.code, 1, "{}", ran.out);
    let chain = "  %a = alloc_tensor : tensor<64x64xf16, #smem>
  %c = alloc_tensor : tensor<64x64xf32, #fragment>
  gemm %a, %a, %c {policy = FullRow}
  gemm %a, %a, %c {policy = FullCol}
";
    refused(&function("", chain), &["another product has this fragment in a layout"]);
}

/// Aliases of storage, and threads of a range of their own.
#[test]
fn aliases_and_ranges() {
    let body = "  %f = alloc_tensor : tensor<64xf32, #fragment, {thread = v0, index = 0}>
  %g = view %f : tensor<4x16xf32, #fragment>
  %h = view %f : tensor<128xf16, #fragment>
  fill 0.0, %f
  parallel (%i, %j) in (4, 16) {
    %x = memref.load %g[%i, %j]
    memref.store %x, %O[%i, %j]
  }
  parallel %i in 128 {
    %x = memref.load %h[%i]
    memref.store %x, %P[%i]
  }
  parallel %i in 16 attributes {threads = [32, 48]} {
    memref.store 0.0, %P[%i]
  }
";
    let text = function("%O: memref<4x16xf32>, %P: memref<128xf16>", body);
    let (loops, buffers) = layouts(&text, &[]);
    has(&buffers, "g", "{thread = v0 * 16 + v1, index = 0}");
    has(&buffers, "h", "{thread = v0 // 2, index = v0 % 2}");
    has(&loops, "loop 2", "{thread = v0 // 2, index = v0 % 2}");
    has(&loops, "loop 3", "{thread = v0, index = 0}");
}

#[test]
fn races_are_said() {
    let races = |body: &str| {
        let text = function("%A: memref<64x64xf32>, %B: memref<64xf32>, %m: index", body);
        let answer: Value =
            serde_json::from_str(&inferred(&text, &["--format", "json"]).fine()).expect("JSON");
        let said = inferred(&text, &[]).fine();
        let lines: Vec<String> = said
            .lines()
            .filter(|line| line.contains("has a race"))
            .map(|line| line.trim_start_matches("// ").to_string())
            .collect();
        assert_eq!(answer["races"].as_array().map(Vec::len), Some(lines.len()), "{answer}");
        // What is compiled says the same.
        let compile = |more: &[&str]| {
            run_in(&root(), &[&["compile", "-", "--arch", ARCH], more].concat(), &text).fine()
        };
        let kernel: Value = serde_json::from_str(&compile(&["--format", "json"])).expect("JSON");
        assert_eq!(kernel["races"], answer["races"]);
        let report = compile(&[]);
        let found = report.lines().filter(|line| line.contains("has a race"));
        let found: Vec<String> = found.map(|line| format!("{}.", line.trim_start())).collect();
        assert_eq!(found, lines, "{report}");
        lines
    };
    // All columns of a row write its one element.
    let twice = "  parallel (%i, %j) in (64, 64) {
    %a = memref.load %A[%i, %j]
    memref.store %a, %B[%i]
  }
";
    let [line] = &races(twice)[..] else { panic!("one race") };
    assert_eq!(
        line,
        "line 2: loop 1 has a race: iterations (i = 0, j = 0) and (i = 0, j = 1) both write B[0]; \
         iterations have no order."
    );
    // One column does: the condition is known.
    let one = "  parallel (%i, %j) in (64, 64) {
    %a = memref.load %A[%i, %j]
    %last = index.cmp eq, %j, 63 : index
    scf.if %last {
      memref.store %a, %B[%i]
    }
  }
";
    assert_eq!(races(one), Vec::<String>::new());
    // The neighbour that is read may be written already.
    let shifted = "  parallel (%i, %j) in (64, 63) {
    %next = index.add %j, 1 : index
    %a = memref.load %A[%i, %next]
    memref.store %a, %A[%i, %j]
  }
";
    let [line] = &races(shifted)[..] else { panic!("one race") };
    assert!(
        line.contains(
            "iteration (i = 0, j = 1) writes A[0, 1], which iteration (i = 0, j = 0) reads"
        ),
        "{line}"
    );
    // A corner that is an argument moves both alike; the element has the program's spelling.
    let moved = "  parallel (%i, %j) in (8, 2) {
    %r = index.add %m, %i : index
    %a = memref.load %A[%r, %j]
    memref.store %a, %B[%r]
  }
";
    let [line] = &races(moved)[..] else { panic!("one race") };
    assert!(line.contains("(i = 0, j = 0) and (i = 0, j = 1) both write B[r]"), "{line}");
    // Each iteration its own element.
    let apart = "  parallel (%i, %j) in (64, 64) {
    %a = memref.load %A[%i, %j]
    memref.store %a, %A[%i, %j]
  }
";
    assert_eq!(races(apart), Vec::<String>::new());
}

/// What is printed means what was inferred: read again it is inferred again. A sign in front binds
/// before a quotient does, so that half of a negative digit needs brackets.
#[test]
fn what_is_inferred_is_read_again() {
    let read = [
        ("arith.xori %i, 1 : index", "-(v0 % 2 * 4)"),
        ("arith.xori %i, 3 : index", "-(v0 % 4 * 4)"),
        ("index.sub 7, %i : index", "-v0 * 4"),
    ];
    for (index, held) in read {
        let text = format!(
            "func @k(%W: memref<8xf32>, %C: memref<8x4xf32>) {{threads = 32}} {{
  %f = alloc_tensor : tensor<8xf32, #fragment>
  copy %W, %f
  parallel (%i, %j) in (8, 4) {{
    %q = {index}
    %x = memref.load %f[%q]
    memref.store %x, %C[%i, %j]
  }}
}}
"
        );
        let first = inferred(&text, &[]).fine();
        let program = |text: &str| text.split("\n// Inferred").next().unwrap_or("").to_string();
        let first = program(&first);
        assert!(first.contains(held), "{first}");
        assert_eq!(program(&inferred(&first, &[]).fine()), first);
    }
}

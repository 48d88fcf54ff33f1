//! `lanebook opt` and `lanebook rules`.

use crate::support::{root, run, run_in};

const SEED: &str = "tests/passes/seed";

#[test]
fn passes_run_in_the_order_asked_for() {
    let file = format!("{SEED}/dead_arguments.before.tile");
    let ran = run(&[
        "opt",
        &file,
        "--loose",
        "--passes",
        "remove-dead-args,remove-aliases",
        "--print-after-all",
        "--trace",
    ]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let at =
        |text: &str| ran.out.find(text).unwrap_or_else(|| panic!("{text} is not in\n{}", ran.out));
    assert!(
        at("// ---- after remove-dead-args: 1 change\n")
            < at("// ---- after remove-aliases: 0 changes\n")
    );
    assert!(
        at(
            "// remove-dead-args    1 remove-dead-args: nothing reads it but what passes it back to its own place\n"
        ) < at("// ---- after remove-dead-args")
    );
    assert!(!ran.out.contains("pre_acc"), "{}", ran.out);
    // What the last pass left parses again, and is left as it is.
    let (_, last) =
        ran.out.split_once("// ---- after remove-aliases: 0 changes\n").expect("the last program");
    let again = run_in(&root(), &["opt", "-", "--loose", "--passes", "remove-dead-args"], last);
    assert_eq!((again.code, again.out.as_str()), (0, last), "{}", again.err);
}

#[test]
fn rules_are_traced_by_name() {
    let ran = run(&[
        "opt",
        "tests/passes/ttgir/gemm_fp8.sm_90.before2.mlir",
        "--loose",
        "--passes",
        "remove-conversions",
        "--trace",
    ]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.out.contains("convert_constant (rule, phase clean_conversions, priority 80): convert(constant) = constant: every element is the same number\n"),
        "{}",
        ran.out
    );
}

#[test]
fn findings_are_warnings_and_refusals_errors() {
    let ran = run(&[
        "opt",
        &format!("{SEED}/select_alias.before.tile"),
        "--loose",
        "--passes",
        "remove-aliases",
    ]);
    assert_eq!(ran.code, 0);
    assert!(ran.err.contains("the view reaches past its allocation"), "{}", ran.err);
    let loops = "scf.for %i = %x to 64 step 1 attributes {sliceCount = 2 : i32} {\n  fence\n}\n";
    let ran = run_in(&root(), &["opt", "-", "--loose", "--passes", "slice"], loops);
    ran.refused(
        1,
        &[
            "unsupported op to be a lower bound in slicing pass ",
            "standard input:1:1",
            "^^^^^^^",
            "unchanged",
        ],
    );
    let ran = run_in(
        &root(),
        &["opt", "-", "--loose", "--passes", "slice", "--fuel", "1"],
        &loops.replace("%x", "0"),
    );
    ran.refused(1, &["more than 1 changes", "--fuel"]);
}

#[test]
fn a_module_of_several_blocks_is_refused_in_words() {
    let text = "module attributes {\"ttg.num-ctas\" = 2 : i32, \"ttg.num-warps\" = 4 : i32, \"ttg.threads-per-warp\" = 32 : i32, ttg.target = \"cuda:90\"} {
  tt.func @f(%a: tensor<64x32xf16>, %b: tensor<32x64xf16>, %c: tensor<64x64xf32>) {
    %d = tt.dot %a, %b, %c : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
    tt.return
  }
}
";
    for pass in ["accelerate-matmul", "coalesce"] {
        let ran = run_in(&root(), &["opt", "-", "--loose", "--passes", pass], text);
        ran.refused(1, &["the blocks of a cluster share the module's tiles", "`ttg.num-ctas` = 1"]);
    }
}

#[test]
fn unknown_names_get_a_suggestion() {
    run(&["opt", "x", "--passes", "remove-alias"])
        .refused(2, &["unknown pass `remove-alias`", "did you mean `remove-aliases`?"]);
    run(&["rules", "--dispatch", "convert_layuot"]).refused(2, &["did you mean `convert_layout`?"]);
    run(&["opt", "--passes", "slice"]).refused(2, &["no program is named"]);
}

#[test]
fn passes_and_rules_are_listed() {
    let ran = run(&["opt", "--list"]);
    assert!(
        ran.out.contains(
            "[propagate-buffers], [propagate-registers], clean_conversions, [unify-regions]"
        ),
        "{}",
        ran.out
    );
    let ran = run(&["rules", "--filter", "push_"]);
    assert!(ran.out.contains("push_into_load") && !ran.out.contains("convert_same"), "{}", ran.out);
    let ran = run(&["rules", "--dispatch", "ttg.convert_layout"]);
    let at =
        |text: &str| ran.out.find(text).unwrap_or_else(|| panic!("{text} is not in\n{}", ran.out));
    assert!(
        at("convert_same") < at("convert_convert")
            && at("push_into_load") < at("push_elementwise1")
    );
    assert!(run(&["rules", "--dispatch", "xor"]).out.contains("the cheapest is taken"));
    // Architectures that have the same list share it.
    let shl = run(&["rules", "--dispatch", "shl"]).out;
    assert_eq!(shl.matches(" v_lshl ").count(), 1, "{shl}");
}

const BESIDE: &str = "tests/passes/beside/tidy.ron";
const NEGATED: &str = "func @f(%x: tensor<8x8xf32, #a>, %p: memref<8x8xf32, #gmem>) {
  %y = neg %x : tensor<8x8xf32, #a>
  %z = neg %y : tensor<8x8xf32, #a>
  %c = convert_layout %z : tensor<8x8xf32, #a> -> tensor<8x8xf32, #b>
  %d = convert_layout %c : tensor<8x8xf32, #b> -> tensor<8x8xf32, #a>
  %m = max %d, %d : tensor<8x8xf32, #a>
  tiled_store %m, %p[0, 0] : tensor<8x8xf32, #a> -> memref<8x8xf32, #gmem>
}
";

#[test]
fn a_rule_set_of_ones_own_runs_beside_the_built_in_one() {
    let ran = run_in(
        &root(),
        &[
            "opt",
            "-",
            "--rules",
            BESIDE,
            "--passes",
            "tidy,remove-conversions",
            "--print-after-all",
            "--trace",
        ],
        NEGATED,
    );
    assert_eq!(ran.code, 0, "{}", ran.err);
    for wanted in [
        "neg_neg (rule, phase tidy, priority 10)",
        "max_same (rule, phase tidy",
        "after tidy: 2 changes",
    ] {
        assert!(ran.out.contains(wanted), "{wanted}\n{}", ran.out);
    }
    let (_, last) = ran
        .out
        .split_once("// ---- after remove-conversions: ")
        .expect("the built-in pass ran, too");
    assert!(
        last.contains("tiled_store %x, %p")
            && !last.contains("neg")
            && !last.contains("convert_layout"),
        "{last}"
    );
    let ran = run(&["rules", "--rules", BESIDE, "--dispatch", "arith.negf"]);
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (
            0,
            "phase tidy: the first that fits is taken\n   1 neg_neg                            10\n"
        ),
        "{}",
        ran.err
    );
    assert!(
        run(&["opt", "--list", "--rules", BESIDE])
            .out
            .starts_with("tidy                 tidy x4\n")
    );
}

#[test]
fn the_static_of_a_rule_set_is_what_its_file_says() {
    let ran = run(&["rules", "--rules", BESIDE, "--compile"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let kept =
        std::fs::read_to_string(root().join("tests/passes/beside/tidy.rs")).expect("the static");
    assert_eq!(
        ran.out, kept,
        "lanebook rules --rules {BESIDE} --compile > tests/passes/beside/tidy.rs"
    );
}

#[test]
fn a_rule_set_is_checked_as_the_built_in_one_is() {
    let good = std::fs::read_to_string(root().join(BESIDE)).expect("the set");
    let write = |text: &str| {
        let file = std::env::temp_dir().join(format!(
            "lanebook-{}-{:x}.ron",
            std::process::id(),
            text.len()
        ));
        std::fs::write(&file, text).expect("it is written");
        file
    };
    for (from, to, wanted) in [
        (
            "\"neg\", (\"neg\", \"x\")",
            "\"nog\", (\"neg\", \"x\")",
            ":11:20: error: unknown operation `nog`",
        ),
        (
            "replacement: \"x\",\n         doc: \"-(-x) = x\"",
            "replacement: (\"neg\", (\"neg\", (\"neg\", \"x\"))),\n         doc: \"-(-x) = x\"",
            ":11:",
        ),
        (
            "phase: \"tidy\", sweeps: 4)]),",
            "phase: \"tudy\", sweeps: 4)]),",
            "unknown phase `tudy`",
        ),
        (
            "analysis(\"remove-dead-args\")",
            "analysis(\"remove-dead-arg\")",
            "unknown analysis `remove-dead-arg`",
        ),
        ("pattern: (\"max\", \"x\", \"x\")", "pattern: (\"neg\", (\"neg\", \"x\"))", "neg_neg"),
    ] {
        let text = good.replacen(from, to, 1);
        assert_ne!(text, good, "{from}");
        let file = write(&text);
        let ran = run_in(
            &root(),
            &["opt", "-", "--rules", &file.display().to_string(), "--passes", "tidy"],
            NEGATED,
        );
        assert_eq!(ran.code, 1, "{to}\n{}", ran.err);
        assert!(ran.err.contains(wanted) && ran.out.is_empty(), "{wanted} is not in\n{}", ran.err);
        let _ = std::fs::remove_file(file);
    }
    run(&["opt", "-", "--rules", "no-such.ron", "--passes", "tidy"])
        .refused(2, &["cannot read no-such.ron"]);
    let clash = write(&good.replace("name: \"tidy\"", "name: \"slice\""));
    run_in(
        &root(),
        &["opt", "-", "--rules", &clash.display().to_string(), "--passes", "slice"],
        NEGATED,
    )
    .refused(2, &["pass `slice` is built in, and also"]);
    let _ = std::fs::remove_file(clash);
}

#[test]
fn layouts_that_are_none_are_shown() {
    let text = "#a = #ttg.blocked<{sizePerThread = [4, 3], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>\nfunc @f(%x: tensor<64x64xf32, #a>) {\n  %y = exp %x : tensor<64x64xf32, #a>\n  use %y : tensor<64x64xf32, #a>\n}\n";
    let opt = |text: &str| run_in(&root(), &["opt", "-", "--passes", "remove-conversions"], text);
    opt(text).refused(
        1,
        &[
            "standard input:2:1",
            "no tile of this shape can have this layout",
            "sizePerThread has 3, which is no power of two",
            "^^^^",
        ],
    );
    opt(&text.replace("order", "odrer"))
        .refused(1, &["standard input:1:91", "the layout cannot be read", "^"]);
    opt(&text.replace("= #ttg.blocked<{sizePerThread = [4, 3], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>", "= #a"))
        .refused(1, &["standard input:1:6", "the layout stands for itself", "^^"]);
}

const PASSES: &str = "default-layouts,coalesce,accelerate-matmul,remove-conversions";

/// What passes leave of a product is compiled: units of both vendors, factors that a unit reads from
/// shared memory, sums in tensor memory.
#[test]
fn what_passes_leave_is_compiled() {
    let units = [
        ("sm_80", "mma.m16n8k16"),
        ("sm_90a", "wgmma."),
        ("sm_100a", "tcgen05.mma"),
        ("gfx942", "v_mfma_"),
    ];
    for (arch, unit) in units {
        let left = run(&["opt", "gen/cli/examples/gemm.tile", "--arch", arch, "--passes", PASSES]);
        assert_eq!(left.code, 0, "{arch}: {}", left.err);
        let made =
            run_in(&root(), &["compile", "-", "--arch", arch, "--emit", "report"], &left.out);
        assert_eq!(made.code, 0, "{arch}: {}\n{}", made.err, left.out);
        assert!(made.out.contains(unit), "{arch}: {}", made.out);
    }
}

/// Instructions of a text: lines that are no labels, directives, comments or brackets.
fn instructions(text: &str) -> usize {
    let code = |line: &&str| {
        !line.is_empty()
            && !line.ends_with(':')
            && !line.starts_with(['.', '{', '}', ')', '/', ';'])
    };
    text.lines().map(str::trim).filter(code).count()
}

/// What passes decide is what `compile` emits: of every other example that an architecture takes,
/// what passes leave is taken too, and takes at most a twentieth more; all together no more.
#[test]
fn what_passes_decide_costs_no_more() {
    const ARCHS: [(&str, &str); 4] =
        [("sm_80", "ptx"), ("sm_90a", "ptx"), ("gfx942", "amdgcn"), ("gfx1100", "amdgcn")];
    let all = examples();
    assert!(all.len() >= 35, "{}", all.len());
    // On one of them in turn; what once was refused, or took three times as many, on the first.
    let often = ["attention.tile", "gemm_fp8.tile", "gemm_functions.tile", "gemm_int4.tile"];
    let judged = |number: usize, name: &str, at: usize| {
        at == number / 2 % ARCHS.len() || at == 0 && often.iter().any(|it| name.ends_with(it))
    };
    let (mut before, mut after, mut seen) = (0, 0, 0);
    for (number, name) in all.iter().enumerate().step_by(2) {
        for (at, (arch, emit)) in ARCHS.into_iter().enumerate() {
            if !judged(number, name, at) {
                continue;
            }
            let plain = run(&["compile", name, "--arch", arch, "--emit", emit]);
            if plain.code != 0 {
                continue;
            }
            let left = run(&["opt", name, "--arch", arch, "--passes", PASSES]);
            assert_eq!(left.code, 0, "{name} {arch}: {}", left.err);
            let made =
                run_in(&root(), &["compile", "-", "--arch", arch, "--emit", emit], &left.out);
            assert_eq!(made.code, 0, "{name} {arch}: {}\n{}", made.err, left.out);
            let (own, theirs) = (instructions(&plain.out), instructions(&made.out));
            assert!(own > 20 && theirs <= own + own / 20, "{name} {arch}: {own}, {theirs}");
            (before, after, seen) = (before + own, after + theirs, seen + 1);
        }
    }
    assert!(seen >= 15, "{seen}");
    assert!(after <= before, "{after} instructions in all, {before} without passes");
}

/// Products of sixteen rows by four warps: instructions that all four would do are left to the planner.
const FEW_ROWS: &str = "func @b(%Q: memref<?x32xbf16, #gmem> {align = 16}, %K: memref<?x32xbf16, #gmem> {align = 16}, %V: memref<?x32xbf16, #gmem> {align = 16}, %E: memref<?x32xbf16, #gmem> {align = 16}, %O0: memref<?x32xf32, #gmem> {align = 16}, %O1: memref<?x32xf32, #gmem> {align = 16}, %G: memref<?xbf16, #gmem> {align = 16, bounds = (%NN)}, %I: memref<?x32xi32, #gmem>, %S: memref<?xf32, #gmem>, %W: memref<16x64xf32, #gmem> {align = 16}, %L: index {div = 64}, %NN: index) {threads = 128} {
  %zs = constant 0.0 : tensor<16x64xf32>
  %zd = constant 0.0 : tensor<64x32xf32>
  %zq = constant 0.0 : tensor<16x32xf32>
  %q = tiled_load %Q[0, 0] : memref<?x32xbf16, #gmem> -> tensor<16x32xbf16>
  %ie = tiled_load %I[0, 0] : memref<?x32xi32, #gmem> -> tensor<16x32xi32>
  %e = gather %G[0], %ie : memref<?xbf16, #gmem>, tensor<16x32xi32> -> tensor<16x32xbf16>
  %dl = tiled_load %S[0] : memref<?xf32, #gmem> -> tensor<16xf32>
  %db = broadcast %dl {axis = 1} : tensor<16xf32> -> tensor<16x64xf32>
  %k = tiled_load %K[0, 0] : memref<?x32xbf16, #gmem> -> tensor<64x32xbf16>
  %kt = trans %k : tensor<64x32xbf16> -> tensor<32x64xbf16>
  %v = tiled_load %V[0, 0] : memref<?x32xbf16, #gmem> -> tensor<64x32xbf16>
  %vt = trans %v : tensor<64x32xbf16> -> tensor<32x64xbf16>
  %s = mma %q, %kt, %zs : tensor<16x64xf32>
  %dp = mma %e, %vt, %db : tensor<16x64xf32>
  %p = add %s, %db : tensor<16x64xf32>
  %x = add %dp, %db : tensor<16x64xf32>
  %ds = sub %p, %x : tensor<16x64xf32>
  %dh = cast %ds : tensor<16x64xf32> -> tensor<16x64xbf16>
  %d1 = mma %dh, %k, %zq : tensor<16x32xf32>
  %ph = cast %p : tensor<16x64xf32> -> tensor<16x64xbf16>
  %pt = trans %ph : tensor<16x64xbf16> -> tensor<64x16xbf16>
  %dv = mma %pt, %e, %zd : tensor<64x32xf32>
  tiled_store %dv, %O1[0, 0] : tensor<64x32xf32> -> memref<?x32xf32, #gmem>
  tiled_store %d1, %O0[0, 0] : tensor<16x32xf32> -> memref<?x32xf32, #gmem>
}
";

/// What passes cannot say well is left to the planner: extents that no layout by bits cuts up, and
/// warps that would do what others do.
#[test]
fn what_passes_cannot_say_is_left() {
    let read = |name: &str| {
        let path = root().join("tests/kernels/programs").join(name);
        std::fs::read_to_string(path).expect("a program")
    };
    let compiled = |text: &str, arch: &str, emit: &str| {
        let made = run_in(&root(), &["compile", "-", "--arch", arch, "--emit", emit], text);
        assert_eq!(made.code, 0, "{arch}: {}\n{text}", made.err);
        instructions(&made.out)
    };
    for (text, arch, emit) in [
        (read("product_of_24_columns.tile"), "sm_80", "ptx"),
        (read("stages_from_a_block_on.tile"), "sm_90a", "ptx"),
        (read("product_tf32x3.tile"), "gfx942", "amdgcn"),
        (FEW_ROWS.to_string(), "sm_90a", "ptx"),
    ] {
        let left = run_in(&root(), &["opt", "-", "--arch", arch, "--passes", PASSES], &text);
        assert_eq!(left.code, 0, "{arch}: {}", left.err);
        let (own, theirs) = (compiled(&text, arch, emit), compiled(&left.out, arch, emit));
        assert!(own > 20 && theirs <= own + own / 16, "{arch}: {own}, {theirs}\n{}", left.out);
    }
}

fn examples() -> Vec<String> {
    let folder = "gen/cli/examples";
    let files = std::fs::read_dir(root().join(folder)).expect("the examples");
    let mut all: Vec<String> = files
        .map(|file| file.expect("a file").file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".tile"))
        .map(|name| format!("{folder}/{name}"))
        .collect();
    all.sort();
    all
}

/// A function of registers says of its results what it returns, with the layouts that it was given.
#[test]
fn results_are_said_as_they_are_returned() {
    let text = "func @f(%x: tensor<16x64xf32>, %y: tensor<16x64xf32>) -> (tensor<16x64xf32>, tensor<16x64xf32>) {threads = 128} {
  %s = add %x, %y : tensor<16x64xf32>
  return %s, %x : tensor<16x64xf32>, tensor<16x64xf32>
}
";
    let left =
        run_in(&root(), &["opt", "-", "--arch", "sm_80", "--passes", "default-layouts"], text);
    assert_eq!(left.code, 0, "{}", left.err);
    let (head, _) = left.out.split_once('\n').expect("a line");
    let (_, said) = head.split_once(" -> (").expect("results");
    assert_eq!(said.matches("#ttg.blocked<").count(), 2, "{}", left.out);
    let made = run_in(&root(), &["compile", "-", "--arch", "sm_80"], &left.out);
    assert_eq!(made.code, 0, "{}\n{}", made.err, left.out);
}

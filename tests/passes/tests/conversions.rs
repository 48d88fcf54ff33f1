//! Layout conversions: which go, which stay and why.
use lanebook_pass_tests::{expected, run, texts};

#[track_caller]
fn becomes(before: &str, after: &str) -> Vec<&'static str> {
    let outcome = run(before, "remove-conversions").expect("it runs");
    assert_eq!(outcome.text, expected(after));
    outcome.steps
}

#[track_caller]
fn stays(text: &str) {
    assert!(becomes(text, text).is_empty());
}

const X: &str = "tensor<64x64xf16, #x>";
const Y: &str = "tensor<64x64xf16, #y>";

#[test]
fn other_readers_of_a_buffer_see_a_view() {
    becomes(
        "%a = alloc_tensor : tensor<64x64xf16, #smem_x>
tiled_store %v, %a : tensor<64x64xf16> -> tensor<64x64xf16, #smem_x>
%c = convert_layout %a : tensor<64x64xf16, #smem_x> -> tensor<64x64xf16, #smem_y>
use %c : tensor<64x64xf16, #smem_y>
",
        "%a = alloc_tensor : tensor<64x64xf16, #smem_y>
%_1 = view %a : tensor<64x64xf16, #smem_x>
tiled_store %v, %_1 : tensor<64x64xf16> -> tensor<64x64xf16, #smem_x>
use %a : tensor<64x64xf16, #smem_y>
",
    );
}

#[test]
fn conversions_between_memory_kinds_stay() {
    stays(
        "%a = alloc_tensor : tensor<64x64xf16, #smem_x>\n%c = convert_layout %a : tensor<64x64xf16, #smem_x> -> tensor<64x64xf16, #tmem_x>\nuse %c : tensor<64x64xf16, #tmem_x>\n",
    );
    stays(
        "%a = tiled_load %p : memref<64x64xf16> -> tensor<64x64xf16, #x>\n%c = convert_layout %a : tensor<64x64xf16, #x> -> tensor<64x64xf16, #smem_x>\nuse %c : tensor<64x64xf16, #smem_x>\n",
    );
}

#[test]
fn what_orders_memory_pins_a_layout() {
    let text = |between: &str| {
        format!(
            "%a = tiled_load %p : memref<64x64xf16> -> {X}\n{between}%c = convert_layout %a : {X} -> {Y}\nuse %c : {Y}\n"
        )
    };
    for between in [
        "fence\n",
        "async_wait 0\n",
        "async.pipeline.produce_one %q : index attributes {depth = 2} {\n  use %q : index\n}\n",
        "scf.if %k {\n  fence\n}\n",
    ] {
        stays(&text(between));
    }
    for between in ["", "use %q : index\n"] {
        becomes(
            &text(between),
            &format!("{between}%c = tiled_load %p : memref<64x64xf16> -> {Y}\nuse %c : {Y}\n"),
        );
    }
    let buffer = |between: &str| {
        format!(
            "%a = tiled_load %p : memref<64x64xf16> -> tensor<64x64xf16, #smem_x>\n{between}%c = convert_layout %a : tensor<64x64xf16, #smem_x> -> tensor<64x64xf16, #smem_y>\nuse %c : tensor<64x64xf16, #smem_y>\n"
        )
    };
    stays(&buffer("fence\n"));
    // A stage of one buffer orders nothing, and this load stays where it is.
    let shallow =
        "async.pipeline.produce_one %q attributes {depth = 1} : index {\n  use %q : index\n}\n";
    assert_eq!(
        run(&buffer(shallow), "remove-conversions").expect("it runs").steps,
        ["propagate-buffers"]
    );
    // A load does not move behind a store, nor into a loop.
    stays(&text("tiled_store %v, %p : tensor<64x64xf16> -> memref<64x64xf16>\n"));
    // (But what the loop does not change is converted before it.)
    let inside = format!(
        "%a = tiled_load %p : memref<64x64xf16> -> {X}\nscf.for %i = 0 to %n step 1 {{\n  %c = convert_layout %a : {X} -> {Y}\n  use %c : {Y}\n  tiled_store %v, %p : tensor<64x64xf16> -> memref<64x64xf16>\n}}\n"
    );
    let outside = format!(
        "%a = tiled_load %p : memref<64x64xf16> -> {X}\n%_1 = convert_layout %a : {X} -> {Y}\nscf.for %i = 0 to %n step 1 {{\n  use %_1 : {Y}\n  tiled_store %v, %p : tensor<64x64xf16> -> memref<64x64xf16>\n}}\n"
    );
    assert_eq!(becomes(&inside, &outside), ["weigh-conversions"]);
}

#[test]
fn two_conversions_become_one_behind_the_sum() {
    let steps = becomes(
        &format!(
            "%a = convert_layout %p : {X} -> {Y}\n%b = convert_layout %q : {X} -> {Y}\n%s = add %a, %b : {Y}\nuse %s : {Y}\n"
        ),
        &format!(
            "%_2 = add %p, %q : ({X}, {X}) -> {X}\n%_1 = convert_layout %_2 : {X} -> {Y}\nuse %_1 : {Y}\n"
        ),
    );
    assert!(steps.contains(&"propagate-registers"), "{steps:?}");
}

#[test]
fn constants_take_any_layout() {
    becomes(
        &format!(
            "%z = constant 0.0 : {X}\n%a = convert_layout %z : {X} -> {Y}\nuse %a : {Y}\nuse %z : {X}\n"
        ),
        &format!("%z = constant 0.0 : {X}\n%a = constant 0.0 : {Y}\nuse %a : {Y}\nuse %z : {X}\n"),
    );
}

#[test]
fn arms_that_convert_alike_are_converted_once() {
    becomes(
        &format!(
            "%r = scf.if %k -> {Y} {{\n  %a = convert_layout %p : {X} -> {Y}\n  scf.yield %a : {Y}\n}} else {{\n  %b = convert_layout %q : {X} -> {Y}\n  scf.yield %b : {Y}\n}}\nuse %r : {Y}\n"
        ),
        &format!(
            "%r = scf.if %k -> {X} {{\n  scf.yield %p : {X}\n}} else {{\n  scf.yield %q : {X}\n}}\n%_1 = convert_layout %r : {X} -> {Y}\nuse %_1 : {Y}\n"
        ),
    );
}

#[test]
fn arms_take_on_what_every_reader_wants() {
    becomes(
        &format!(
            "%r = scf.if %k -> {Y} {{\n  %a = convert_layout %p : {X} -> {Y}\n  scf.yield %a : {Y}\n}} else {{\n  scf.yield %q : {Y}\n}}\n%c = convert_layout %r : {Y} -> {X}\nuse %c : {X}\n"
        ),
        &format!(
            "%r = scf.if %k -> {X} {{\n  scf.yield %p : {X}\n}} else {{\n  %_1 = convert_layout %q : {Y} -> {X}\n  scf.yield %_1 : {X}\n}}\nuse %r : {X}\n"
        ),
    );
}

#[test]
fn conversions_leave_a_loop() {
    becomes(
        &format!(
            "%z = constant 0.0 : {X}
%r = scf.for %i = 0 to %n step 1 iter_args(%c = %z) -> {X} {{
  %a = convert_layout %c : {X} -> {Y}
  %d = mma %p, %q, %a : {Y}
  %e = convert_layout %d : {Y} -> {X}
  scf.yield %e : {X}
}}
use %r : {X}
"
        ),
        &format!(
            "%z = constant 0.0 : {Y}
%r = scf.for %i = 0 to %n step 1 iter_args(%c = %z) -> {Y} {{
  %d = mma %p, %q, %c : {Y}
  scf.yield %d : {Y}
}}
%_1 = convert_layout %r : {Y} -> {X}
use %_1 : {X}
"
        )
        .replace("%z", "%_9"),
    );
}

/// What a loop of two regions takes, hands on and gives back is in the layout of the work.
#[test]
fn conversions_leave_a_loop_that_is_told_to_run() {
    becomes(
        &format!(
            "%p = use %q : index -> {X}
%r = scf.while (%c = %p) : ({X}) -> ({X}) {{
  %a = convert_layout %c : {X} -> {Y}
  %d = mma %s, %t, %a : {Y}
  %e = convert_layout %d : {Y} -> {X}
  scf.condition(%k) %e : {X}
}} do {{
^bb0(%f: {X}):
  %g = convert_layout %f : {X} -> {Y}
  %h = exp %g : {Y}
  %j = convert_layout %h : {Y} -> {X}
  scf.yield %j : {X}
}}
use %r : {X}
"
        ),
        &format!(
            "%p = use %q : index -> {X}
%_0 = convert_layout %p : {X} -> {Y}
%r = scf.while (%c = %_0) : ({Y}) -> ({Y}) {{
  %d = mma %s, %t, %c : {Y}
  scf.condition(%k) %d : {Y}
}} do {{
^bb0(%f: {Y}):
  %h = exp %f : {Y}
  scf.yield %h : {Y}
}}
%_1 = convert_layout %r : {Y} -> {X}
use %_1 : {X}
"
        ),
    );
}

/// Both ways of a `while` are looked at where conversions leave regions, whatever is weighed
/// afterwards: what comes round, and what is handed on and converted back.
#[test]
fn conversions_leave_a_while_before_anything_is_weighed() {
    let text = |decides: &str, works: &str, after: &str| {
        format!(
            "%p = use %q : index -> {X}
%r = scf.while (%c = %p) : ({X}) -> ({X}) {{
{decides}  scf.condition(%k) %e : {X}
}} do {{
^bb0(%f: {X}):
{works}  scf.yield %j : {X}
}}
{after}"
        )
    };
    let (to, from) = (format!("{X} -> {Y}"), format!("{Y} -> {X}"));
    // Given back converted, taken back first.
    let round = text(
        &format!("  %a = convert_layout %c : {to}\n  %e = use %a : {Y} -> {X}\n"),
        &format!("  %h = use %f : {X} -> {Y}\n  %j = convert_layout %h : {from}\n"),
        &format!("use %r : {X}\n"),
    );
    let outcome = run(&round, "remove-conversions").expect("it runs");
    assert!(outcome.steps.contains(&"unify-regions"), "{:?}", outcome.steps);
    assert_eq!(outcome.text.matches("convert_layout").count(), 1, "{}", outcome.text);
    assert!(
        outcome.text.contains(&format!("%_0 = convert_layout %p : {to}\n%r = scf.while (%c = %_0) : ({Y}) -> ({X}) {{\n  %e = use %c")),
        "{}",
        outcome.text
    );
    // Handed on converted, taken back by the work, by the reader behind the loop, or by both.
    let decides = format!("  %d = use %c : {X} -> {Y}\n  %e = convert_layout %d : {from}\n");
    let works = [
        format!("  %g = convert_layout %f : {to}\n  %j = use %g : {Y} -> {X}\n"),
        format!("  %j = use %f : {X} -> {X}\n"),
    ];
    let after =
        [format!("%t = convert_layout %r : {to}\nuse %t : {Y}\n"), format!("use %r : {X}\n")];
    for (work, reader, left) in [(0, 0, 0), (0, 1, 1), (1, 0, 1)] {
        let text = text(&decides, &works[work], &after[reader]);
        let outcome = run(&text, "remove-conversions").expect("it runs");
        assert!(
            outcome.steps.contains(&"unify-regions"),
            "{work} {reader} {:?}\n{}",
            outcome.steps,
            outcome.text
        );
        assert_eq!(
            outcome.text.matches("convert_layout").count(),
            left,
            "{work} {reader}\n{}",
            outcome.text
        );
    }
    // Nobody takes it back: nothing to do.
    let text = text(&decides, &works[1], &after[1]);
    assert_eq!(run(&text, "remove-conversions").expect("it runs").steps, [] as [&str; 0]);
}

const HALVES: &str = "#a = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#b = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#j = #ttg.blocked<{sizePerThread = [1, 4, 2], threadsPerWarp = [8, 4, 1], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
#k = #ttg.blocked<{sizePerThread = [4, 1, 2], threadsPerWarp = [8, 4, 1], warpsPerCTA = [1, 4, 1], order = [2, 0, 1]}>
module attributes {\"ttg.num-warps\" = 4 : i32, ttg.target = \"cuda:80\"} {
";

/// Tiles side by side, and their halves: layouts are carried through by the algebra, and those that
/// have a name get one.
#[test]
fn halves_take_on_the_layout_of_the_whole() {
    let text = |body: &str| {
        format!(
            "{HALVES}tt.func @f(%x: tensor<32x16xf32, #a>, %y: tensor<32x16xf32, #a>) {{\n{body}  tt.return\n}}\n}}\n"
        )
    };
    // Loaded in #a, joined, split and used in #b: the arguments are converted, nothing in between.
    let outcome = run(
        &text(
            "  %p = tt.join %x, %y : tensor<32x16xf32, #a> -> tensor<32x16x2xf32, #j>
  %q = math.exp %p : tensor<32x16x2xf32, #j>
  %r = ttg.convert_layout %q : tensor<32x16x2xf32, #j> -> tensor<32x16x2xf32, #k>
  %s, %t = tt.split %r : tensor<32x16x2xf32, #k> -> tensor<32x16xf32, #b>
  %u = arith.mulf %s, %t : tensor<32x16xf32, #b>
  %v = ttg.convert_layout %u : tensor<32x16xf32, #b> -> tensor<32x16xf32, #a>
  use %v : tensor<32x16xf32, #a>
",
        ),
        "remove-conversions",
    )
    .expect("it runs");
    assert_eq!(outcome.text.matches("convert_layout").count(), 0, "{}", outcome.text);
    assert!(
        outcome.text.contains(
            "split %r : tensor<32x16x2xf32, #j> -> (tensor<32x16xf32, #a>, tensor<32x16xf32, #a>)"
        ),
        "{}",
        outcome.text
    );
    // Halves that are wanted in different layouts are both split once, from one conversion.
    let outcome = run(
        &text(
            "  %p = tt.join %x, %y : tensor<32x16xf32, #a> -> tensor<32x16x2xf32, #j>
  use %p : tensor<32x16x2xf32, #j>
  %s, %t = tt.split %p : tensor<32x16x2xf32, #j> -> tensor<32x16xf32, #a>
  %u = ttg.convert_layout %s : tensor<32x16xf32, #a> -> tensor<32x16xf32, #b>
  %v = ttg.convert_layout %t : tensor<32x16xf32, #a> -> tensor<32x16xf32, #b>
  use %u, %v : tensor<32x16xf32, #b>, tensor<32x16xf32, #b>
",
        ),
        "remove-conversions",
    )
    .expect("it runs");
    assert!(
        outcome.text.matches("convert_layout").count() <= 2
            && outcome.text.matches(" = split ").count() <= 1,
        "{}",
        outcome.text
    );
}

#[test]
fn a_deep_stage_keeps_its_layout_and_a_shallow_one_does_not() {
    let text = |depth: u32| {
        format!(
            "%r = async.pipeline.consume_one %q : index attributes {{depth = {depth}}} -> {Y} {{\n  %a = convert_layout %p : {X} -> {Y}\n  async.pipeline.yield %a : {Y}\n}}\nuse %r : {Y}\n"
        )
        .replace(&format!(" : index attributes {{depth = {depth}}} -> {Y} {{"), &format!(" attributes {{depth = {depth}}} : index -> {Y} {{"))
    };
    stays(&text(2));
    let outcome = run(&text(1), "remove-conversions").expect("it runs");
    assert_eq!(outcome.steps, ["unify-regions"]);
    assert!(
        outcome
            .text
            .ends_with(&format!("}}\n%_0 = convert_layout %r : {X} -> {Y}\nuse %_0 : {Y}\n")),
        "{}",
        outcome.text
    );
}

/// Kernels as Triton has them before its own pass: no conversion more than there was, nearly all
/// that loops repeat are gone.
#[test]
fn kernels_of_triton() {
    for (name, text) in texts("ttgir") {
        let before = text.matches("ttg.convert_layout").count();
        let outcome =
            run(&text, "remove-conversions").unwrap_or_else(|error| panic!("{name}: {error:?}"));
        let after = outcome.text.matches(" = convert_layout ").count();
        println!("{name}: {before} -> {after}");
        assert!(after <= before, "{name}");
    }
}

/// A conversion is done where its elements are narrow: behind a cast that makes them so, before one
/// that makes them wide.
#[test]
fn a_conversion_stays_behind_a_narrowing_cast() {
    const WX: &str = "tensor<64x64xf32, #x>";
    const WY: &str = "tensor<64x64xf32, #y>";
    let source = "use %v : tensor<64x64xf32, #x>\n";
    becomes(
        &format!(
            "{source}%n = cast %v : {WX} -> {X}\n%c = convert_layout %n : {X} -> {Y}\nuse %c : {Y}\n"
        ),
        &format!(
            "{source}%_0 = cast %v : {WX} -> {X}\n%c = convert_layout %_0 : {X} -> {Y}\nuse %c : {Y}\n"
        ),
    );
    // Also with arithmetic between: the sum is as wide as what is added, the cast is not.
    let sum = |s: &str, n: &str| {
        format!(
            "use %v, %w : {WX}, {WX}\n{s} = add %v, %w : {WX}\n{n} = cast {s} : {WX} -> {X}\n%c = convert_layout {n} : {X} -> {Y}\nuse %c : {Y}\n"
        )
    };
    becomes(&sum("%s", "%n"), &sum("%_0", "%_1"));
    becomes(
        &format!(
            "use %h : {X}\n%s = cast %h : {X} -> {WX}\n%c = convert_layout %s : {WX} -> {WY}\nuse %c : {WY}\n"
        ),
        &format!(
            "use %h : {X}\n%_1 = convert_layout %h : {X} -> {Y}\n%c = cast %_1 : {Y} -> {WY}\nuse %c : {WY}\n"
        ),
    );
    // What is loaded comes in the wanted layout: then nothing is converted, also behind arithmetic
    // with constants.
    let arithmetic =
        format!("%h = constant 0.5 : {WX}\n%s = mul %l, %h : {WX}\n%n = cast %s : {WX} -> {X}\n");
    for between in [format!("%n = cast %l : {WX} -> {X}\n"), arithmetic] {
        let text = format!(
            "%l = tiled_load %p : memref<64x64xf32> -> {WX}\n{between}%c = convert_layout %n : {X} -> {Y}\nuse %c : {Y}\n"
        );
        let outcome = run(&text, "remove-conversions").expect("it runs");
        assert!(
            !outcome.text.contains("convert_layout") && !outcome.text.contains("#x"),
            "{}",
            outcome.text
        );
    }
    // Not so if it is read by others.
    let read = |n: &str| {
        format!(
            "%l = tiled_load %p : memref<64x64xf32> -> {WX}\nuse %l : {WX}\n{n} = cast %l : {WX} -> {X}\n%c = convert_layout {n} : {X} -> {Y}\nuse %c : {Y}\n"
        )
    };
    becomes(&read("%n"), &read("%_0"));
}

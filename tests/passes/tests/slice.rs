//! Slicing: the seed's pair as errata.md rules it, bounds of every kind, and all six diagnostics.
use lanebook::passes::Diagnostic;
use lanebook::pipeline::PassError;
use lanebook_pass_tests::{SNIPPET, alpha, folder, run, with};

fn seed(kind: &str) -> String {
    std::fs::read_to_string(folder("seed").join(format!("slicing.{kind}.tile")))
        .expect("the snippet is there")
}

#[test]
fn the_seeds_pair() {
    let outcome = run(&seed("before"), "slice").expect("it runs");
    // Errata, row 17: the second loop goes on with what the first one made.
    let after = seed("after")
        .replacen("scf.for %i", "%r0 = scf.for %i", 1)
        .replace("%acc1 = %init", "%acc1 = %r0")
        .replace("scf.for %j", "%r1 = scf.for %j");
    // A free name such as %c32 stands for that number.
    let after = after.replace("%c32", "32");
    // Both loops keep the names inside of them: they are never in sight together.
    let after = ["%a", "%x", "%acc"].iter().fold(after.replace("%j", "%i"), |text, name| {
        text.replace(&format!("{name}0"), name).replace(&format!("{name}1"), name)
    });
    assert_eq!(alpha(&outcome.text), alpha(&lanebook_pass_tests::expected(&after)));
    assert_eq!(outcome.steps.len(), 2);
}

fn bounds(text: &str) -> Vec<(i64, i64)> {
    with(text, SNIPPET, |program| {
        let ops: Vec<_> = program.all().collect();
        ops.into_iter()
            .filter_map(|op| program.counted_loop(op))
            .map(|at| {
                (program.int(at.lower).expect("a number"), program.int(at.upper).expect("a number"))
            })
            .collect()
    })
}

#[test]
fn parts_cover_every_iteration_once() {
    for (lower, upper, step, count) in
        [(0, 64, 1, 2), (0, 64, 1, 64), (3, 100, 7, 4), (0, 10, 3, 3), (-8, 8, 2, 5), (0, 10, 1, 1)]
    {
        let text = format!(
            "scf.for %i = {lower} to {upper} step {step} attributes {{sliceCount = {count} : i32}} {{\n  tiled_store %v, %p[%i, 0] : tensor<4x4xf16> -> memref<?x?xf16>\n}}\n"
        );
        let outcome = run(&text, "slice").expect("it runs");
        let found = bounds(&outcome.text);
        assert_eq!(found.len(), count as usize);
        let visited: Vec<i64> =
            found.iter().flat_map(|(a, b)| (*a..*b).step_by(step as usize)).collect();
        let wanted: Vec<i64> = (lower..upper).step_by(step as usize).collect();
        assert_eq!(visited, wanted, "{lower} {upper} {step} {count}: {found:?}");
        let sizes: Vec<i64> = found.iter().map(|(a, b)| (b - a + step - 1) / step).collect();
        assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1, "{sizes:?}");
        assert!(!outcome.text.contains("sliceCount"), "{}", outcome.text);
    }
}

#[test]
fn bounds_known_only_at_run_time_are_computed() {
    let outcome = run(
        "%r = scf.for %i = 0 to %n step 4 iter_args(%a = %z) -> f32 attributes {sliceCount = 3 : i32} {\n  %b = exp %a : f32\n  scf.yield %b : f32\n}\nuse %r : f32\n",
        "slice",
    )
    .expect("it runs");
    assert_eq!(outcome.text.matches("scf.for").count(), 3, "{}", outcome.text);
    assert_eq!(outcome.text.matches("index.div").count(), 3, "{}", outcome.text);
    assert!(outcome.text.ends_with("use %r : f32\n"), "{}", outcome.text);
}

#[test]
fn nested_loops_are_copied_whole() {
    let outcome = run(
        "scf.for %i = 0 to 8 step 1 attributes {sliceCount = 2 : i32} {
  %x = tiled_load %p[%i, 0] : memref<?x?xf16> -> tensor<4x4xf16>
  %s = scf.for %j = 0 to 4 step 1 iter_args(%a = %x) -> tensor<4x4xf16> {
    %t = scf.if %c -> tensor<4x4xf16> {
      %e = exp %a : tensor<4x4xf16>
      scf.yield %e : tensor<4x4xf16>
    } else {
      scf.yield %a : tensor<4x4xf16>
    }
    scf.yield %t : tensor<4x4xf16>
  }
  %v = view %q {offset = %i} : tensor<4x4xf16, #smem>
  tiled_store %s, %v : tensor<4x4xf16> -> tensor<4x4xf16, #smem>
}
",
        "slice",
    )
    .expect("it runs");
    let halves: Vec<&str> = outcome.text.split("\nscf.for ").collect();
    assert_eq!(halves.len(), 2, "{}", outcome.text);
    let body = |half: &str| half.split_once("step").map(|(_, body)| body.trim_end().to_string());
    assert_eq!(body(halves[0]), body(halves[1]), "{}", outcome.text);
}

#[track_caller]
fn refused(text: &str, wanted: &str) {
    match run(text, "slice") {
        Err(PassError::Refused { diagnostic, .. }) => {
            assert_eq!(diagnostic.text(), wanted, "{text}")
        }
        other => panic!("{other:?}\n{text}"),
    }
}

fn looped(head: &str, body: &str) -> String {
    format!("scf.for %i = {head} {{\n{body}\n}}\n")
}

#[test]
fn the_count_must_be_an_integer_that_fits() {
    for count in ["\"2\"", "[2, 2]", "2.5", "0 : i32", "-1 : i32", "65 : i32"] {
        refused(
            &looped(&format!("0 to 64 step 1 attributes {{sliceCount = {count}}}"), "  fence"),
            "The `sliceCount` need to be a `IntegerAttr`",
        );
    }
}

#[test]
fn unknown_operations_are_refused() {
    for body in [
        "  custom.thing %i : index",
        "  call @nowhere(%i) : (index) -> ()",
        "  agent_switch %i : index {\n  }",
        "  use %i : index",
    ] {
        refused(
            &looped("0 to 64 step 1 attributes {sliceCount = 2 : i32}", body),
            "unsupported op in Slicing pass",
        );
    }
}

#[test]
fn the_lower_bound_is_a_number_or_affine() {
    let head = "to 64 step 1 attributes {sliceCount = 2 : i32}";
    let wanted = "unsupported op to be a lower bound in slicing pass ";
    refused(&looped(&format!("%low {head}"), "  fence"), wanted);
    refused(
        &format!("%low = index.mul %a, %b : index\n{}", looped(&format!("%low {head}"), "  fence")),
        wanted,
    );
    refused(
        &format!("%low = call @f() : () -> index\n{}", looped(&format!("%low {head}"), "  fence")),
        wanted,
    );
    refused(
        &format!(
            "%low = affine.apply affine_map<(d0) -> (d0 * 4)>(%a) : index\n{}",
            looped(&format!("%low {head}"), "  fence")
        ),
        wanted,
    );
    let nested = format!(
        "scf.for %k = 0 to 4 step 1 {{\n%low = affine.apply affine_map<(d0) -> (d0 * 4)>(%k) : index\n{}}}\n",
        looped(&format!("%low {head}"), "  fence")
    );
    assert_eq!(run(&nested, "slice").expect("it runs").steps.len(), 2);
}

#[test]
fn initial_values_must_be_at_hand() {
    let inner = "%r = scf.for %i = 0 to 64 step 1 iter_args(%a = %x) -> f32 attributes {sliceCount = 2 : i32} {\n  %b = exp %a : f32\n  scf.yield %b : f32\n}\n";
    let wanted = "fail to get an initial forOperand in slicing pass";
    refused(
        &format!(
            "scf.for %k = 0 to 4 step 1 iter_args(%x = %z) -> f32 {{\n{inner}scf.yield %r : f32\n}}\n"
        ),
        wanted,
    );
    refused(
        &format!("func @f(%z: f32) {{\n%x = exp %z : f32\n{inner}return %x : f32\n}}\n"),
        wanted,
    );
}

#[test]
fn a_return_is_not_expected_in_a_slice() {
    refused(
        &looped(
            "0 to 64 step 1 attributes {sliceCount = 2 : i32}",
            "scf.while () : () -> () {\n  scf.condition %c : i1\n} do {\n  return\n}",
        ),
        "is not expected inside sliced part in SlicingPass",
    );
}

#[test]
fn copies_need_their_atom() {
    let copy = |attr: &str| {
        looped(
            "0 to 64 step 1 attributes {sliceCount = 2 : i32}",
            &format!("  copy %p[%i, 0], %q {attr}: memref<?x?xf16> -> tensor<4x4xf16, #smem>"),
        )
    };
    refused(&copy(""), "unsupported atom of copyOp in slicing pass");
    assert_eq!(
        run(&copy("{nv_tileas.layout = <(4,4),(4,1)>} "), "slice").expect("it runs").steps.len(),
        2
    );
}

#[test]
fn every_text_is_what_it_should_be() {
    let all = [
        Diagnostic::SliceCount,
        Diagnostic::SliceOp,
        Diagnostic::SliceLower,
        Diagnostic::SliceInitial,
        Diagnostic::SliceInside,
        Diagnostic::SliceCopyAtom,
    ];
    let texts: Vec<_> = all.iter().map(|diagnostic| diagnostic.text()).collect();
    assert_eq!(
        texts.iter().map(|text| text.len()).collect::<Vec<_>>(),
        [43, 30, 51, 49, 49, 42],
        "{texts:?}"
    );
}

#[test]
fn loops_in_loops_are_sliced_in_every_copy() {
    let outcome = run(
        "scf.for %i = 0 to 8 step 1 attributes {sliceCount = 2 : i32} {\n  scf.for %j = 0 to 6 step 1 attributes {sliceCount = 3 : i32} {\n    %x = index.add %i, %j : index\n    fence\n  }\n}\n",
        "slice",
    )
    .expect("it runs");
    assert_eq!(
        bounds(&outcome.text),
        [(0, 4), (0, 2), (2, 4), (4, 6), (4, 8), (0, 2), (2, 4), (4, 6)],
        "{}",
        outcome.text
    );
    assert!(!outcome.text.contains("sliceCount"), "{}", outcome.text);
}

#[test]
fn pipeline_regions_ask_for_their_loops() {
    let region = |count: &str, body: &str| {
        format!(
            "async.pipeline.produce_one %q attributes {{sliceCount = {count}}} : index {{\n{body}}}\n"
        )
    };
    let looped = "  scf.for %i = 0 to 8 step 1 {\n    fence\n  }\n";
    let outcome = run(&region("2 : i32", looped), "slice").expect("it runs");
    assert_eq!(bounds(&outcome.text), [(0, 4), (4, 8)], "{}", outcome.text);
    assert!(!outcome.text.contains("sliceCount"), "{}", outcome.text);
    refused(&region("\"2\"", looped), "The `sliceCount` need to be a `IntegerAttr`");
    refused(&region("0 : i32", looped), "The `sliceCount` need to be a `IntegerAttr`");
    refused(&region("9 : i32", looped), "The `sliceCount` need to be a `IntegerAttr`");
    refused(&region("2 : i32", "  fence\n"), "unsupported op in Slicing pass");
    // What counts nothing cannot be sliced.
    refused(
        "scf.while () : () -> () attributes {sliceCount = 2 : i32} {\n  scf.condition %c : i1\n} do {\n}\n",
        "unsupported op in Slicing pass",
    );
    refused("fence {sliceCount = 2 : i32}\n", "unsupported op in Slicing pass");
}

//! Dead region arguments of every kind of region, and those that only look dead.
use lanebook_pass_tests::{expected, run};

#[track_caller]
fn becomes(before: &str, after: &str, changes: usize) {
    let outcome = run(before, "remove-dead-args").expect("it runs");
    assert_eq!(outcome.text, expected(after));
    assert_eq!(outcome.steps.len(), changes);
}

#[track_caller]
fn stays(text: &str) {
    becomes(text, text, 0);
}

#[test]
fn a_loop_whose_every_value_is_dead_carries_none() {
    becomes(
        "scf.for %i = 0 to %n step 1 iter_args(%a = %x, %b = %y) -> (f32, f32) {\n  use %i : index\n  scf.yield %a, %b : f32, f32\n}\n",
        "scf.for %i = 0 to %n step 1 {\n  use %i : index\n}\n",
        2,
    );
}

#[test]
fn what_is_read_stays() {
    // By an operation, through another place, or after the loop.
    stays(
        "scf.for %i = 0 to %n step 1 iter_args(%a = %x) -> (f32) {\n  use %a : f32\n  scf.yield %a : f32\n}\n",
    );
    stays(
        "scf.for %i = 0 to %n step 1 iter_args(%a = %x, %b = %y) -> (f32, f32) {\n  scf.yield %b, %a : f32, f32\n}\n",
    );
    // An inner loop's initial value is a use, even if that loop only hands it through to the outer
    // yield.
    stays(
        "scf.for %i = 0 to %n step 1 iter_args(%a = %x) -> f32 {\n  %r = scf.for %j = 0 to %n step 1 iter_args(%b = %a) -> f32 {\n    scf.yield %b : f32\n  }\n  scf.yield %r : f32\n}\n",
    );
    stays(
        "%r = scf.for %i = 0 to %n step 1 iter_args(%a = %x) -> (f32) {\n  scf.yield %a : f32\n}\nuse %r : f32\n",
    );
}

#[test]
fn inner_loops_free_outer_ones_and_the_other_way_round() {
    becomes(
        "scf.for %i = 0 to %n step 1 iter_args(%a = %x) -> (f32) {
  %r = scf.for %j = 0 to %n step 1 iter_args(%b = %a) -> (f32) {
    scf.yield %b : f32
  }
  scf.yield %a : f32
}
",
        "scf.for %i = 0 to %n step 1 {\n  scf.for %j = 0 to %n step 1 {\n  }\n}\n",
        2,
    );
}

#[test]
fn conditions_lose_results() {
    becomes(
        "%r:2 = scf.if %c -> (f32, f32) {\n  scf.yield %x, %y : f32, f32\n} else {\n  scf.yield %y, %x : f32, f32\n}\nuse %r#1 : f32\n",
        "%r = scf.if %c -> f32 {\n  scf.yield %y : f32\n} else {\n  scf.yield %x : f32\n}\nuse %r : f32\n",
        1,
    );
}

#[test]
fn while_loops_lose_both_ways() {
    becomes(
        "%r:2 = scf.while (%a = %x, %b = %y) : (f32, f32) -> (f32, f32) {
  scf.condition %c, %a, %b : i1, f32, f32
} do {
^bb0(%d: f32, %e: f32):
  use %d : f32
  scf.yield %d, %e : f32, f32
}
use %r#0 : f32
",
        "%r = scf.while (%a = %x) : (f32) -> (f32) {
  scf.condition %c, %a : i1, f32
} do {
^bb0(%d: f32):
  use %d : f32
  scf.yield %d : f32
}
use %r : f32
",
        1,
    );
    // Looked at while deciding, but handed on to nobody.
    becomes(
        "%r = scf.while (%a = %x) : (f32) -> (f32) {
  use %a : f32
  scf.condition %c, %a : i1, f32
} do {
^bb0(%d: f32):
  scf.yield %y : f32
}
",
        "scf.while (%a = %x) : (f32) -> () {
  use %a : f32
  scf.condition %c : i1
} do {
  scf.yield %y : f32
}
",
        1,
    );
}

#[test]
fn pipeline_regions_lose_arguments_and_results() {
    becomes(
        "%r:2 = async.pipeline.consume_one %p, %q : f32, f32 -> (f32, f32) {
^bb0(%a: f32, %b: f32):
  %y = exp %b : f32
  async.pipeline.yield %y, %b : f32, f32
}
use %r#0 : f32
",
        "%r = async.pipeline.consume_one %q : f32 -> f32 {
^bb0(%b: f32):
  %y = exp %b : f32
  async.pipeline.yield %y : f32
}
use %r : f32
",
        2,
    );
}

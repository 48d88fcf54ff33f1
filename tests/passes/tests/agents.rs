//! Agent boundaries: what is handed over, what crosses directly, and that nothing else changes.
use lanebook_pass_tests::meaning::meaning;
use lanebook_pass_tests::{SNIPPET, expected, run, with};

#[track_caller]
fn becomes(before: &str, after: &str) {
    let outcome = run(before, "resolve-agent-boundaries").expect("it runs");
    assert_eq!(outcome.text, expected(after));
    let again = run(&outcome.text, "resolve-agent-boundaries").expect("it runs again");
    assert_eq!((again.text.as_str(), again.steps.len()), (outcome.text.as_str(), 0));
    let means = |text: &str| {
        with(text, SNIPPET, |program| (0..4).map(|seed| meaning(program, seed)).collect::<Vec<_>>())
    };
    assert_eq!(means(before), means(&outcome.text), "{}", outcome.text);
}

const T: &str = "tensor<4x4xf32, #x>";
const S: &str = "tensor<4x4xf32, #smem>";

#[test]
fn a_captured_tile_goes_through_shared_memory_once() {
    becomes(
        &format!(
            "%e = exp %p : {T} -> {T}\nagent_switch {{\n  use %e : {T}\n  %s = add %e, %e : {T}\n  use %s : {T}\n}}\nuse %e : {T}\n"
        ),
        &format!(
            "%e = exp %p : {T} -> {T}\n%_1 = alloc_tensor : {S}\ncopy %e, %_1 : {T} -> {S}\nagent_switch {{\n  %_2 = convert_layout %_1 : {S} -> {T}\n  use %_2 : {T}\n  %s = add %_2, %_2 : {T}\n  use %s : {T}\n}}\nuse %e : {T}\n"
        ),
    );
}

#[test]
fn arguments_and_results_are_handed_over() {
    becomes(
        &format!(
            "%e = exp %p : {T} -> {T}\n%r = agent_switch %e, %n : {T}, index -> {T} {{\n^bb0(%a: {T}, %i: index):\n  %s = neg %a : {T}\n  use %i : index\n  async.pipeline.yield %s : {T}\n}}\nuse %r : {T}\n"
        ),
        &format!(
            "%e = exp %p : {T} -> {T}
%_1 = alloc_tensor : {S}
copy %e, %_1 : {T} -> {S}
%_2 = alloc_tensor : {S}
agent_switch %n : index {{
^bb0(%i: index):
  %_3 = convert_layout %_1 : {S} -> {T}
  %s = neg %_3 : {T}
  use %i : index
  copy %s, %_2 : {T} -> {S}
}}
%_4 = convert_layout %_2 : {S} -> {T}
use %_4 : {T}
"
        ),
    );
}

#[test]
fn numbers_memory_and_constants_cross_directly() {
    let text = format!(
        "%b = alloc_tensor : {S}\n%z = constant 0.0 : {T}\n%k = index.add 1, 2 : index\nagent_switch {{\n  use %b : {S}\n  use %z : {T}\n  use %k : index\n}}\n"
    );
    becomes(&text, &text);
}

#[test]
fn a_tile_that_crosses_two_boundaries_is_handed_over_twice() {
    let outcome = run(&format!("%e = exp %p : {T} -> {T}\nagent_switch {{\n  agent_switch {{\n    use %e : {T}\n  }}\n}}\n"), "resolve-agent-boundaries")
        .expect("it runs");
    assert_eq!(outcome.text.matches("alloc_tensor").count(), 2, "{}", outcome.text);
    assert_eq!(outcome.text.matches("convert_layout").count(), 2, "{}", outcome.text);
}

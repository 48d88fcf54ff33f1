//! Hints that hand tiles on: each operand makes a pair with a result, of one layout; a hint stands
//! once whatever moves past it.
use lanebook_pass_tests::judge::judge;
use lanebook_pass_tests::{expected, run};

const X: &str = "tensor<64x64xf16, #x>";
const Y: &str = "tensor<64x64xf16, #y>";
const Z: &str = "tensor<64x64xf16, #z>";

#[track_caller]
fn becomes(before: &str, after: &str) -> Vec<&'static str> {
    judge("a hint", before, &["remove-conversions"]);
    let outcome = run(before, "remove-conversions").expect("it runs");
    assert_eq!(outcome.text, expected(after));
    assert_eq!(outcome.text.matches("pragma").count(), before.matches("pragma").count());
    outcome.steps
}

#[test]
fn a_pair_takes_on_what_its_readers_want() {
    // Alone, and as the second of three; the others stay as they are.
    becomes(
        &format!(
            "%p = use %q : index -> {X}\n%h = pragma \"a\" %p : {X} -> {X}\n%c = convert_layout %h : {X} -> {Y}\nuse %c : {Y}\n"
        ),
        &format!(
            "%p = use %q : index -> {X}\n%_0 = convert_layout %p : {X} -> {Y}\n%h = pragma \"a\" %_0 : {Y} -> {Y}\nuse %h : {Y}\n"
        ),
    );
    let steps = becomes(
        &format!(
            "%p = use %q : index -> {X}
%h, %i, %j = pragma \"a\" %p, %p, %p : {X}, {X}, {X} -> ({X}, {X}, {X})
%c = convert_layout %i : {X} -> {Y}
%d = convert_layout %i : {X} -> {Y}
use %h, %c, %d, %j : {X}, {Y}, {Y}, {X}
"
        ),
        &format!(
            "%p = use %q : index -> {X}
%_0 = convert_layout %p : {X} -> {Y}
%h, %i, %j = pragma \"a\" %p, %_0, %p : {X}, {Y}, {X} -> ({X}, {Y}, {X})
use %h, %i, %i, %j : {X}, {Y}, {Y}, {X}
"
        ),
    );
    assert_eq!(steps.first().copied(), Some("unify-regions"));
}

#[test]
fn conversions_around_hints_meet_and_go() {
    // Through two hints, an opening and a closing one, each pair by itself.
    let steps = becomes(
        &format!(
            "%p = use %q : index -> {X}
%r = use %q : index -> {Z}
%a = convert_layout %p : {X} -> {Y}
%b = convert_layout %r : {Z} -> {Y}
%s, %t = pragma \"open\" %a, %b : {Y}, {Y} -> ({Y}, {Y})
%u, %v = pragma \"close\" %t, %s : {Y}, {Y} -> ({Y}, {Y})
%c = convert_layout %v : {Y} -> {X}
%d = convert_layout %u : {Y} -> {Z}
use %c, %d : {X}, {Z}
"
        ),
        &format!(
            "%p = use %q : index -> {X}
%r = use %q : index -> {Z}
%s, %t = pragma \"open\" %p, %r : {X}, {Z} -> ({X}, {Z})
%u, %v = pragma \"close\" %t, %s : {Z}, {X} -> ({Z}, {X})
use %v, %u : {X}, {Z}
"
        ),
    );
    assert!(steps.contains(&"unify-regions"), "{steps:?}");
}

#[test]
fn readers_that_disagree_are_weighed_and_the_hint_stays_one() {
    // Two layouts are wanted: one of them is the hint's, the other is converted.
    let text = format!(
        "%p = use %q : index -> {X}
%a = convert_layout %p : {X} -> {Y}
%s, %t = pragma \"a\" %a, %a : {Y}, {Y} -> ({Y}, {Y})
%c = convert_layout %s : {Y} -> {X}
use %c, %s, %t : {X}, {Y}, {Y}
"
    );
    judge("readers that disagree", &text, &["remove-conversions"]);
    let outcome = run(&text, "remove-conversions").expect("it runs");
    assert_eq!(outcome.text.matches("pragma").count(), 1, "{}", outcome.text);
    assert!(outcome.text.matches("convert_layout").count() <= 2, "{}", outcome.text);
}

#[test]
fn memory_order_keeps_a_pair_as_it_is() {
    let text = format!(
        "%p = use %q : index -> {X}\n%h = pragma \"a\" %p : {X} -> {X}\nfence\n%c = convert_layout %h : {X} -> {Y}\nuse %c : {Y}\n"
    );
    assert_eq!(becomes(&text, &text), [] as [&str; 0]);
}

#[test]
fn a_hint_that_makes_something_else_of_its_operands_is_left_alone() {
    let text = format!(
        "%p, %r = pragma \"a\" %q : {X} -> ({X}, {X})\n%c = convert_layout %p : {X} -> {Y}\nuse %c, %r : {Y}, {X}\n"
    );
    assert_eq!(becomes(&text, &text), [] as [&str; 0]);
}

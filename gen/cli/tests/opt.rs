//! `lanebook opt` and `lanebook rules`.
mod support;

use support::{root, run, run_in};

const SEED: &str = "tests/passes/seed";

#[test]
fn passes_run_in_the_order_asked_for() {
    let file = format!("{SEED}/dead_arguments.before.tile");
    let ran = run(&["opt", &file, "--loose", "--passes", "remove-dead-args,remove-aliases", "--print-after-all", "--trace"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let at = |text: &str| ran.out.find(text).unwrap_or_else(|| panic!("{text} is not in\n{}", ran.out));
    assert!(at("// ---- after remove-dead-args: 1 change\n") < at("// ---- after remove-aliases: 0 changes\n"));
    assert!(at("// remove-dead-args    1 remove-dead-args\n") < at("// ---- after remove-dead-args"));
    assert!(!ran.out.contains("pre_acc"), "{}", ran.out);
    // What the last pass left parses again, and is left as it is.
    let (_, last) = ran.out.split_once("// ---- after remove-aliases: 0 changes\n").expect("the last program");
    let again = run_in(&root(), &["opt", "-", "--loose", "--passes", "remove-dead-args"], last);
    assert_eq!((again.code, again.out.as_str()), (0, last), "{}", again.err);
}

#[test]
fn rules_are_traced_by_name() {
    let ran = run(&["opt", "tests/passes/ttgir/gemm_fp8.sm_90.before2.mlir", "--loose", "--passes", "remove-conversions", "--trace"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("convert_constant (rule, phase clean_conversions, priority 80)"), "{}", ran.out);
}

#[test]
fn findings_are_warnings_and_refusals_errors() {
    let ran = run(&["opt", &format!("{SEED}/select_alias.before.tile"), "--loose", "--passes", "remove-aliases"]);
    assert_eq!(ran.code, 0);
    assert!(ran.err.contains("the view reaches past its allocation"), "{}", ran.err);
    let loops = "scf.for %i = %x to 64 step 1 attributes {sliceCount = 2 : i32} {\n  fence\n}\n";
    let ran = run_in(&root(), &["opt", "-", "--loose", "--passes", "slice"], loops);
    ran.refused(1, &["unsupported op to be a lower bound in slicing pass ", "standard input:1:1", "^^^^^^^", "unchanged"]);
    let ran = run_in(&root(), &["opt", "-", "--loose", "--passes", "slice", "--fuel", "1"], &loops.replace("%x", "0"));
    ran.refused(1, &["more than 1 changes", "--fuel"]);
}

#[test]
fn unknown_names_get_a_suggestion() {
    run(&["opt", "x", "--passes", "remove-alias"]).refused(2, &["unknown pass `remove-alias`", "did you mean `remove-aliases`?"]);
    run(&["rules", "--dispatch", "convert_layuot"]).refused(2, &["did you mean `convert_layout`?"]);
    run(&["opt", "--passes", "slice"]).refused(2, &["no program is named"]);
}

#[test]
fn passes_and_rules_are_listed() {
    let ran = run(&["opt", "--list"]);
    assert!(ran.out.contains("[propagate-buffers], [propagate-registers], clean_conversions, [unify-regions]"), "{}", ran.out);
    let ran = run(&["rules", "--filter", "push_"]);
    assert!(ran.out.contains("push_into_load") && !ran.out.contains("convert_same"), "{}", ran.out);
    let ran = run(&["rules", "--dispatch", "ttg.convert_layout"]);
    let at = |text: &str| ran.out.find(text).unwrap_or_else(|| panic!("{text} is not in\n{}", ran.out));
    assert!(at("convert_same") < at("convert_convert") && at("push_into_load") < at("push_elementwise1"));
    assert!(run(&["rules", "--dispatch", "xor"]).out.contains("the cheapest is taken"));
}

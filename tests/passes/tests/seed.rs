//! The before-and-after pairs of seed 001 through their passes, and what each pass refuses or
//! leaves alone.
use lanebook_pass_tests::{expected, folder, run, run_with};

fn seed(name: &str, kind: &str) -> String {
    std::fs::read_to_string(folder("seed").join(format!("{name}.{kind}.tile")))
        .expect("the snippet is there")
}

#[track_caller]
fn pair(name: &str, pass: &str) -> lanebook_pass_tests::Outcome {
    let outcome = run(&seed(name, "before"), pass).expect("it runs");
    assert_eq!(outcome.text, expected(&seed(name, "after")), "{name}");
    let again = run(&outcome.text, pass).expect("it runs again");
    assert_eq!(
        (again.text, again.steps.len()),
        (outcome.text.clone(), 0),
        "{name}: the pass goes on forever"
    );
    outcome
}

#[test]
fn dead_arguments() {
    let outcome = pair("dead_arguments", "remove-dead-args");
    assert_eq!(outcome.steps, ["remove-dead-args"]);
}

#[test]
fn select_alias() {
    let outcome = pair("select_alias", "remove-aliases");
    assert_eq!(outcome.steps.len(), 1);
    // The seed's second slot begins where the allocation ends (errata, row 15).
    assert_eq!(outcome.findings, [("the view reaches past its allocation", "view".to_string())]);
}

#[test]
fn loop_alias() {
    let outcome = pair("loop_alias", "remove-aliases");
    assert_eq!((outcome.steps.len(), outcome.findings.len()), (1, 0));
}

#[test]
fn without_fuel_nothing_changes() {
    for (name, pass) in [
        ("dead_arguments", "remove-dead-args"),
        ("select_alias", "remove-aliases"),
        ("loop_alias", "remove-aliases"),
    ] {
        let error = run_with(&seed(name, "before"), pass, 0).expect_err("one change is needed");
        assert!(format!("{error:?}").contains("Fuel"), "{error:?}");
    }
}

#[test]
fn remove_conversions() {
    let outcome = pair("remove_conversions", "remove-conversions");
    assert_eq!(outcome.steps, ["propagate-buffers"]);
}

//! Wrong rules are refused, with values that show it; right ones are proved by the method that
//! fits.
use lanebook_gen::diagnostics::Diagnostics;
use lanebook_gen::load;
use lanebook_gen::rules::Method;
use lanebook_proofs::formula::Formula;
use lanebook_proofs::project::{Project, root};
use lanebook_proofs::{Refusal, prove};

/// Proves one index rule given as text.
fn attempt(fields: &str) -> Result<Method, Box<(Refusal, Formula)>> {
    let mut diags = Diagnostics::new();
    let mut sources = load::find(&root(), &mut diags);
    let text = format!(
        "(phase: \"simplify\", rules: [(name: \"probe\", priority: 1, {fields}, doc: \"d\", examples: [(from: 1, to: 1)])])"
    );
    sources.add("rules/index/zz.ron", None, text);
    let project = Project::of(sources, diags).unwrap_or_else(|text| panic!("\n{text}"));
    let rule = project.rules.named("probe").expect("it compiles");
    prove(rule, &project.hw).map_err(|refusal| {
        Box::new((refusal, Formula::of(rule, &project.hw).expect("it has a formula")))
    })
}

/// The counter-example of a wrong rule, checked by evaluating both sides.
fn refuted(fields: &str) -> Vec<(String, u64)> {
    let (refusal, formula) = *attempt(fields).expect_err("the rule is wrong");
    let Refusal::Counterexample(values) = refusal else { panic!("{refusal}") };
    let slots: Vec<u64> = formula
        .slots
        .iter()
        .map(|slot| {
            values.iter().find(|(name, _)| *name == slot.name).expect("a value for each slot").1
        })
        .collect();
    let left = formula.left.eval(&slots);
    assert!(
        left.is_some() && left != formula.right.eval(&slots),
        "{values:?} is no counter-example"
    );
    values
}

#[test]
fn a_sum_is_not_an_or() {
    let values = refuted(
        r#"pattern: ("add", "x", ("add", "y", "z")), replacement: ("or", "x", ("or", "y", "z"))"#,
    );
    assert_eq!(values.len(), 3);
}

#[test]
fn a_condition_that_is_too_weak_is_found_out() {
    refuted(
        r#"pattern: ("and", ("add", "x", "c"), "m"), conditions: [("is_const", "c"), ("is_const", "m"), ("disjoint", "c", "m")], replacement: ("and", "x", "m")"#,
    );
    refuted(
        r#"pattern: ("shr", ("shl", "x", "a"), "b"), conditions: [("is_const", "a"), ("is_const", "b"), ("less", "b", "a")], lets: [("s", ("sub", "a", "b"))], replacement: ("shl", "x", "s")"#,
    );
}

#[test]
fn a_side_without_a_value_is_found_out() {
    // a + b may reach 32.
    refuted(
        r#"pattern: ("shl", ("shl", "x", "a"), "b"), conditions: [("is_const", "a"), ("is_const", "b")], lets: [("s", ("add", "a", "b"))], replacement: ("shl", "x", "s")"#,
    );
}

#[test]
fn methods_fit_their_rules() {
    let method = |fields: &str| attempt(fields).unwrap_or_else(|refused| panic!("{}", refused.0));
    assert_eq!(
        method(r#"pattern: ("and", ("or", "x", "y"), "x"), replacement: "x""#),
        Method::Bits
    );
    assert_eq!(
        method(
            r#"pattern: ("shr", ("xor", ("shl", "x", 4), ("shl", "y", 4)), 4), replacement: ("and", ("xor", "x", "y"), 0xfffffff)"#
        ),
        Method::Basis
    );
    assert_eq!(
        method(
            r#"pattern: ("add", ("mul", ("sub", "x", "y"), "c"), ("mul", "y", "c")), conditions: [("is_const", "c")], replacement: ("mul", "x", "c")"#
        ),
        Method::Polynomial
    );
    assert_eq!(
        method(
            r#"pattern: ("and", ("add", "x", "c"), "m"), conditions: [("is_const", "c"), ("is_const", "m"), ("low_mask", "m"), ("disjoint", "c", "m")], replacement: ("and", "x", "m")"#
        ),
        Method::Z3
    );
}

#[test]
fn wide_products_need_their_condition() {
    let fields = |condition: &str| {
        format!(
            r#"pattern: ("mul_wide64", ("add", "x", "c"), 12), conditions: [("is_const", "c"){condition}], lets: [("e", ("mul_wide64", "c", 12))], replacement: ("add64", ("mul_wide64", "x", 12), "e")"#
        )
    };
    assert_eq!(attempt(&fields(r#", ("no_carry", "x", "c")"#)).ok(), Some(Method::Polynomial));
    refuted(&fields(""));
}

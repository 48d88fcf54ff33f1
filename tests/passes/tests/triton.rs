//! Kernels of Triton: what our removal of conversions leaves, beside what Triton's own leaves on
//! the same text.
//!
//! `ttgir/` holds what stands before the pass, `triton/` what Triton 3.9.0's own pass makes of it
//! (`tests/passes/compare.py`). Both are billed by the model of `rules/cost.ron`, by the same code.
use lanebook::remat::{CostReport, bill};
use lanebook_pass_tests::{SNIPPET, run, texts, with};

fn billed(text: &str) -> CostReport {
    with(text, SNIPPET, |program| bill(program).expect("there is room"))
}

#[test]
fn never_worse_than_triton() {
    let theirs = texts("triton");
    let mut better = std::collections::BTreeSet::new();
    println!("{:<32} {:>22} {:>34} {:>34}", "kernel", "before", "triton", "ours");
    let mut worse = Vec::new();
    for ((name, text), (other, after)) in texts("ttgir").into_iter().zip(theirs) {
        assert_eq!(name, other);
        let outcome =
            run(&text, "remove-conversions").unwrap_or_else(|error| panic!("{name}: {error:?}"));
        let (before, triton, ours) = (billed(&text), billed(&after), billed(&outcome.text));
        let show = |bill: &CostReport| {
            format!(
                "{:>3} -{} {:>9} {:>10} {:>10}",
                bill.conversions, bill.renames, bill.written, bill.executed, bill.work
            )
        };
        println!("{name:<32} {} | {} | {}", show(&before), show(&triton), show(&ours));
        if ours.conversions > triton.conversions
            || ours.written > triton.written
            || ours.executed > triton.executed
        {
            worse.push(name.clone());
            println!("{}", outcome.text);
        }
        if (ours.conversions, ours.executed) != (triton.conversions, triton.executed) {
            better.insert(name.split('.').next().unwrap_or_default().to_string());
        }
    }
    assert!(worse.is_empty(), "worse: {worse:?}");
    assert!(better.len() >= 2, "better: {better:?}");
}

//! The audit catches what it caught before: sixty planted mistakes, with a floor for all kinds together.
use lanebook_gen::diagnostics::Diagnostics;
use lanebook_gen::load;
use lanebook_mutants::facts::{Facts, KINDS};
use lanebook_mutants::{change, judge::Judge, report};
use std::path::Path;

/// Planted here; by hand there are more.
const COUNT: usize = 60;
/// Caught of all that have an effect, in percent, without assemblers.
const ALL: usize = 80;

#[test]
fn the_audit_catches_planted_mistakes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut diags = Diagnostics::new();
    let sources = load::find(&root, &mut diags);
    let facts = Facts::of(&sources);
    for (kind, name) in KINDS {
        let of = facts.list.iter().filter(|fact| fact.kind == kind).count();
        assert!(of > 10, "{of} facts of {name}");
    }
    let mutants = change::plan(&sources, &facts, &[], COUNT, 7);
    assert_eq!(mutants.len(), COUNT);
    let judge = Judge::new(sources.clone(), false).unwrap_or_else(|why| panic!("{why}"));
    let outcomes = judge.all(&mutants);
    let told = format!(
        "{}{}",
        report::survivors(&sources, &mutants, &outcomes, false),
        report::table(&mutants, &outcomes)
    );
    let counts = report::counts(&mutants, &outcomes);
    let caught: usize = counts.values().map(|count| count.caught).sum();
    let planted: usize = counts.values().map(|count| count.planted - count.harmless).sum();
    assert!(caught * 100 >= ALL * planted, "{caught} of {planted} caught\n{told}");
}

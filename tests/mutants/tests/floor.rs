//! The audit catches what it caught before: sixty planted mistakes, with a floor for all kinds together.
use lanebook_gen::diagnostics::Diagnostics;
use lanebook_gen::load;
use lanebook_gen::source::{FileId, Span};
use lanebook_mutants::change::{self, Mutant};
use lanebook_mutants::facts::{Facts, KINDS, Kind};
use lanebook_mutants::judge::{Judge, Outcome};
use lanebook_mutants::report;
use std::path::Path;

/// Planted here; by hand there are more.
const COUNT: usize = 60;
/// Caught of all that have an effect, in percent, without assemblers.
const ALL: usize = 86;

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

/// A kind of which too many survive is named, and what has no effect is not counted.
#[test]
fn a_weak_kind_is_named() {
    let mutant = |kind| Mutant {
        kind,
        path: String::new(),
        span: Span::new(FileId(0), 0, 0),
        old: String::new(),
        new: String::new(),
    };
    let caught = || Outcome::Caught("check".into(), "what".into());
    let mutants = [Kind::Cost, Kind::Cost, Kind::Limits, Kind::Limits].map(mutant);
    let outcomes = [caught(), Outcome::Survived, caught(), Outcome::Harmless];
    assert_eq!(report::weak(&mutants, &outcomes, 75), ["cost"]);
    assert_eq!(report::weak(&mutants, &outcomes, 50), [""; 0]);
}

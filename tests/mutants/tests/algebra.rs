//! The bugs of the algebra apply to the code as it stands, so that a run by hand plants all of them.
use lanebook_mutants::algebra::{BUGS, planted};
use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn every_bug_has_its_place() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    assert!(BUGS.len() >= 40, "{}", BUGS.len());
    let mut told = BTreeSet::new();
    for bug in BUGS {
        assert!(told.insert((bug.file, bug.what)), "{}: {} twice", bug.file, bug.what);
        let text = planted(&root, bug).unwrap_or_else(|why| panic!("{why}"));
        assert!(text.contains(bug.to), "{}: {}", bug.file, bug.what);
    }
}

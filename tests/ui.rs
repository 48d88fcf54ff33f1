//! What the types of the Rust API must refuse, case by case (`tests/ui`), and that the README's example compiles.
//!
//! The expected messages are the compiler's; after a change of the compiler `TRYBUILD=overwrite cargo test --test ui` writes
//! them anew. Cases are chosen so that messages quote nothing but the case itself.

#[test]
fn what_the_types_refuse() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/readme_example.rs");
    for case in [
        "handles_mixed",
        "ids_mixed",
        "layout_borrowed",
        "linear_direction",
        "program_outlives_storage",
        "storage_lent_on",
        "text_gone",
        "two_builders",
        "two_scratches",
    ] {
        cases.compile_fail(format!("tests/ui/{case}.rs"));
    }
}

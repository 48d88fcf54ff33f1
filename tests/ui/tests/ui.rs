//! What the types of the Rust API must refuse, case by case.
//!
//! The expected messages are the compiler's; after a change of the compiler `TRYBUILD=overwrite
//! cargo test -p lanebook-ui` writes them anew. Cases are chosen so that messages quote nothing but
//! the case itself.

#[test]
fn what_the_types_refuse() {
    trybuild::TestCases::new().compile_fail("cases/*.rs");
}
